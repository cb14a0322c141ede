#!/bin/bash
# Exports models again and compares the trainers made from them with PyTorch: models/check.sh [BUILD]
#
# PyTorch comes from .venv-torch, made here from models/requirements.txt and kept while those are the same, or
# from TORCH_PYTHON=/path/to/python. The exports are kept in BUILD/models while the scripts and the versions
# are the same. Prints what failed and a closing "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
test_python=${PYTHON:-/usr/bin/python3}
passed=0 failed=0

# The Python that exports.
torch_python() {
    if [ -n "${TORCH_PYTHON:-}" ]; then
        echo "$TORCH_PYTHON"
        return
    fi
    local venv=.venv-torch
    if ! cmp -s models/requirements.txt $venv/requirements.txt; then
        rm -rf $venv
        ./setup.sh python3-venv >&2
        /usr/bin/python3 -m venv $venv >&2
        $venv/bin/pip install -q -r models/requirements.txt >&2
        cp models/requirements.txt $venv/
    fi
    echo $venv/bin/python
}

# Prints everything that the exports depend on.
stamp() {
    cat models/*.py
    "$torch" -c 'import onnx, timm, torch, transformers
print(*(m.__version__ for m in (onnx, timm, torch, transformers)))'
}

# name, folder, script and its options: makes the folder from a script unless it is there.
export_set() {
    local name=$1 folder=$2 log="$exports/$1.log"
    shift 2
    if [ -e "$exports/$name.done" ]; then return; fi
    echo "exporting: $name" >&2
    if "$torch" "$@" --out "$folder" >"$log" 2>&1; then
        touch "$exports/$name.done"
    else
        count "export of $name" "not ok - $(grep -v Warning "$log" | tail -n 1)"
    fi
}

# name, TAP output: adds to the counts, prints what failed.
count() {
    local ok bad
    ok=$(grep -c '^ok' <<<"$2" || true)
    bad=$(grep -c '^not ok' <<<"$2" || true)
    echo "== $1: $ok passed, $bad failed"
    grep '^not ok' <<<"$2" || true
    passed=$((passed + ok)) failed=$((failed + bad))
}

# name, test and its options: runs a test program.
run() {
    local name=$1 test=$2 out
    shift 2
    out=$("$test_python" "$test" --shardcc "$build/shardcc" "$@" 2>&1) || true
    grep -q '^[0-9]* passed, [0-9]* failed' <<<"$out" || out="not ok - $(tail -n 1 <<<"$out")"
    count "$name" "$out"
    grep -E '^(refused|[0-9]+ trained)' <<<"$out" || true
}

torch=$(torch_python)
exports=$build/models compared=$build/compared
mkdir -p "$exports" "$compared"
stamp >"$exports/stamp.new"
cmp -s "$exports/stamp.new" "$exports/stamp" || rm -rf "${exports:?}"/*/ "$exports"/*.done "${compared:?}"/*/
mv "$exports/stamp.new" "$exports/stamp"

for preset in dynamic legacy opsets recurrent dropout control; do
    export_set $preset "$exports" models/export.py --preset $preset
done
export_set plan "$exports" models/export_plan.py gpt2_small gpt2_48
export_set nets "$compared/nets" models/nets.py --count 200
export_set families "$compared/families" models/families.py
export_set near "$compared/near" models/near.py
export_set detached "$compared/detached" models/detached.py
export_set losses "$compared/losses" models/losses.py

for folder in "$exports"/*/; do
    name=$(basename "$folder")
    run "models, $name" tests/e2e/models_test.py --models "$folder"
done
for set in dynamic dropout_dynamic; do
    run "accumulate, $set" tests/e2e/accumulate_test.py --models "$exports/$set"
done
run "depth, plans" tests/e2e/depth_test.py --plan "$exports"
test_python=$torch run "masks" tests/e2e/masks_test.py --onnxruntime
test_python=$torch run "parts of computed sizes" tests/e2e/ragged_test.py --onnxruntime
TORCH_PYTHON=$torch run "torchrun" tests/e2e/start_test.py
run "near nets" tests/e2e/near_test.py --models "$compared/near" --all
run "detached nets" tests/e2e/stop_test.py --detached "$compared/detached"
run "losses" tests/e2e/losses_test.py --losses "$compared/losses"
test_python=$torch run "ONNX's cases" tests/onnx/cases.py --show equal,drawn,wrong,crashed
test_python=$torch run "gradients of ONNX's cases" tests/onnx/cases.py --gradients --show equal,wrong,crashed
run "random nets" models/compare.py --models "$compared/nets"
run "families" models/compare.py --models "$compared/families" --ranks 1 2
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
