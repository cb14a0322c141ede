#!/bin/bash
# Trains a small GPT on real text, from nothing but a bare Debian 12: packages, build, training, its
# loss curve, a comparison with counted pairs of bytes, and text sampled from it.
set -eu
cd "$(dirname "$0")"
for arg; do
    echo "demo.sh: unknown option $arg: there are none" >&2
    exit 2
done
# The whole takes about LIMIT seconds: what packages and the build leave of them is for training.
LIMIT=240
part() { echo "== ${SECONDS} s: $1"; }

part "packages, and the build: a minute or two the first time"
./setup.sh fortunes fortunes-min
cmake --preset default >/dev/null
cmake --build --preset product -j"$(nproc)" >/dev/null
demo=build/demo
mkdir -p $demo
cc -O2 -o $demo/demo_text models/demo_text.c -lm
mapfile -t files < <(find /usr/share/games/fortunes -type f ! -name '*.dat' | sort)
read -r train held bigram < <($demo/demo_text $demo/train.txt $demo/held.txt "${files[@]}")
echo "text: $train bytes of Debian's fortunes to train on, $held held out"
echo

model=(models/demo_gpt.onnx --bind batch=32 --loss 'cross_entropy(logits, labels)'
    --optimizer 'adamw(lr=3e-3, weight_decay=0.1)' --clip-norm 1)
build/shardcc "${model[@]}" -o $demo/gpt --no-weights --init 'normal(0.02)'

# As many steps as there is time for: on two ranks, which share the cores, a step may take half as long again.
data=(--data $demo/train.txt --token-bytes 1)
before=${EPOCHREALTIME/./}
$demo/gpt "${data[@]}" --steps 20 --quiet
steps=$(awk -v us=$((${EPOCHREALTIME/./} - before)) -v left=$((LIMIT - SECONDS - 20)) 'BEGIN {
    n = int(left * 20e6 / us / 2.5)
    print (n < 200 ? 200 : n > 1200 ? 1200 : n)
}')
steps=${STEPS:-$steps}
train=("${data[@]}" --eval-data $demo/held.txt --eval-every "$steps" --steps "$steps" --schedule cosine --warmup 60)
echo
part "training, $steps steps: a third of what is left"
rm -f $demo/run.jsonl $demo/ranks.jsonl
$demo/gpt "${train[@]}" --log $demo/run.jsonl --save $demo/trained.safetensors

echo
part "a plan for 2 ranks, and the same training with it: the rest"
build/shardcc plan "${model[@]}" --cluster local --ranks 2 -o $demo/gpt.plan.json >/dev/null
build/shardcc inspect $demo/gpt.plan.json
build/shardcc models/demo_gpt.onnx --plan $demo/gpt.plan.json -o $demo/gpt2ranks --no-weights --init 'normal(0.02)'
echo
if [ "$(id -u)" = 0 ]; then  # Open MPI doesn't start as root unless told so twice
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
mpirun --oversubscribe --bind-to none -n 2 $demo/gpt2ranks "${train[@]}" --log $demo/ranks.jsonl

# The curves: mean losses of 64 equal parts of the runs, 16 rows high.
echo
awk -F'"loss": ' 'FNR == 1 {run++}
/"loss":/ {split($2, x, ","); y[run, n[run]++] = x[1]}
END {
    w = 64; h = 16
    for (r = 1; r <= run; r++)
        for (c = 0; c < w; c++) {
            s = k = 0
            i = int(n[r] * c / w); end = int(n[r] * (c + 1) / w)
            do {s += y[r, i++]; k++} while (i < end)
            m[r, c] = s / k
            if (r + c == 1 || m[r, c] > top) top = m[r, c]
            if (r + c == 1 || m[r, c] < low) low = m[r, c]
        }
    for (row = 0; row < h; row++) {
        line = ""
        for (c = 0; c < w; c++) {
            for (r = 1; r <= run; r++) at[r] = int((top - m[r, c]) / (top - low + 1e-9) * (h - 1) + 0.5) == row
            line = line (at[1] && at[2] ? "#" : at[1] ? "1" : at[2] ? "2" : " ")
        }
        printf "%6.2f |%s\n", top - (top - low) * row / (h - 1), line
    }
    bar = ""
    for (c = 0; c < w; c++) bar = bar "-"
    printf "loss   +%s\n        step 1%*d      1: one rank, 2: two, #: both\n", bar, w - 2, n[1]
}' $demo/run.jsonl $demo/ranks.jsonl
echo
eval_loss=$(sed -n 's/.*"eval_loss": *\([0-9.]*\).*/\1/p' $demo/run.jsonl | tail -n 1)
awk -v m="$eval_loss" -v b="$bigram" 'BEGIN {
    printf "on held-out text: %.4f nats a byte; pairs of bytes counted on the same text: %.4f; better by %.2f\n", m, b, b - m
}'
echo
echo "sampled:"
$demo/gpt --load $demo/trained.safetensors --generate 600 --prompt 'The ' --temperature 0.8 --quiet
echo
