#!/bin/bash
# Trains a small GPT on real text, from nothing but a bare Debian 12: packages, build, training, its
# loss curve, a comparison with counted pairs of bytes, and text sampled from it.
set -eu
cd "$(dirname "$0")"
for arg; do
    echo "demo.sh: unknown option $arg: there are none" >&2
    exit 2
done
./setup.sh fortunes fortunes-min
make -s -j"$(nproc)" all
demo=build/demo
mkdir -p $demo
cc -O2 -o $demo/demo_text models/demo_text.c -lm
mapfile -t files < <(find /usr/share/games/fortunes -type f ! -name '*.dat' | sort)
read -r train held bigram < <($demo/demo_text $demo/train.txt $demo/held.txt "${files[@]}")
echo "text: $train bytes of Debian's fortunes to train on, $held held out"
echo

build/shardcc models/demo_gpt.onnx -o $demo/gpt --bind batch=32 --no-weights --init 'normal(0.02)' \
    --loss 'cross_entropy(logits, labels)' --optimizer 'adamw(lr=3e-3, weight_decay=0.1)' --clip-norm 1
echo
rm -f $demo/run.jsonl
$demo/gpt --data $demo/train.txt --token-bytes 1 --eval-data $demo/held.txt --eval-every "${STEPS:-1200}" \
    --steps "${STEPS:-1200}" --schedule cosine --warmup 60 --log $demo/run.jsonl --save $demo/trained.safetensors

# The curve: mean loss of 64 equal parts of the run, 16 rows high.
echo
awk -F'"loss": ' '/"loss":/ {split($2, x, ","); y[n++] = x[1]}
END {
    w = 64; h = 16
    for (c = 0; c < w; c++) {
        s = k = 0
        for (i = int(n * c / w); i < int(n * (c + 1) / w); i++) {s += y[i]; k++}
        m[c] = k ? s / k : m[c - 1]
        if (!c || m[c] > top) top = m[c]
        if (!c || m[c] < low) low = m[c]
    }
    for (r = 0; r < h; r++) {
        line = ""
        for (c = 0; c < w; c++) line = line (int((top - m[c]) / (top - low + 1e-9) * (h - 1) + 0.5) == r ? "*" : " ")
        printf "%6.2f |%s\n", top - (top - low) * r / (h - 1), line
    }
    bar = ""
    for (c = 0; c < w; c++) bar = bar "-"
    printf "loss   +%s\n        step 1%*s%d\n", bar, w - 6, "", n
}' $demo/run.jsonl
echo
eval_loss=$(sed -n 's/.*"eval_loss": *\([0-9.]*\).*/\1/p' $demo/run.jsonl | tail -n 1)
awk -v m="$eval_loss" -v b="$bigram" 'BEGIN {
    printf "on held-out text: %.4f nats a byte; pairs of bytes counted on the same text: %.4f; better by %.2f\n", m, b, b - m
}'
echo
echo "sampled:"
$demo/gpt --load $demo/trained.safetensors --generate 600 --prompt 'The ' --temperature 0.8 --quiet
echo
