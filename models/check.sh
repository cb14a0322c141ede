#!/bin/bash
# Exports models anew and holds the trainers made of them against PyTorch: models/check.sh [BUILD]
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

# What the exports depend on.
stamp() {
    cat models/*.py
    "$torch" -c 'import onnx, timm, torch, transformers
print(*(m.__version__ for m in (onnx, timm, torch, transformers)))'
}

# name, script and its options: makes BUILD/models from a script unless it is there.
export_set() {
    local name=$1 log="$exports/$1.log"
    shift
    if [ -e "$exports/$name.done" ]; then return; fi
    echo "exporting: $name" >&2
    if "$torch" "$@" --out "$exports" >"$log" 2>&1; then
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

# name, test and its options: runs a test program of tests/e2e.
run() {
    local name=$1 test=$2 out
    shift 2
    out=$("$test_python" "tests/e2e/$test.py" --shardcc "$build/shardcc" "$@" 2>&1) || true
    grep -q '^[0-9]* passed, [0-9]* failed' <<<"$out" || out="not ok - $(tail -n 1 <<<"$out")"
    count "$name" "$out"
}

torch=$(torch_python)
exports=$build/models
mkdir -p "$exports"
stamp >"$exports/stamp.new"
cmp -s "$exports/stamp.new" "$exports/stamp" || rm -rf "${exports:?}"/*/ "$exports"/*.done
mv "$exports/stamp.new" "$exports/stamp"

for preset in dynamic legacy opsets recurrent dropout control; do
    export_set $preset models/export.py --preset $preset
done
export_set plan models/export_plan.py gpt2_small gpt2_48

for folder in "$exports"/*/; do
    name=$(basename "$folder")
    run "models, $name" models_test --models "$folder"
done
for set in dynamic dropout_dynamic; do
    run "accumulate, $set" accumulate_test --models "$exports/$set"
done
run "depth, plans" depth_test --plan "$exports"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
