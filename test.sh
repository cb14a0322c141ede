#!/bin/bash
# Builds everything and runs all tests, from nothing but a bare Debian 12:
#   ./test.sh                 all tests that need no PyTorch
#   ./test.sh --with-torch    those too that export models anew and compare (makes a Python environment)
set -eu
cd "$(dirname "$0")"
with_torch=""
for arg; do
    case $arg in
    --with-torch) with_torch=1 ;;
    *) echo "test.sh: unknown option $arg: expected --with-torch" >&2; exit 2 ;;
    esac
done
./setup.sh libcmocka-dev clang libclang-rt-14-dev python3 python3-numpy
make -s -j"$(nproc)" all tests
make -s -j"$(nproc)" B=build-san SAN=1 tests
status=0
echo "sanitized:"
E2E=0 tests/run build-san | tee build-san/log || status=1
PYTHON=/usr/bin/python3 tests/run build | tee build/log || status=1
count() { awk -v k="$1" '/ passed, .* failed$/ && !/^==/ {p = $1; f = $3} END {print k == "p" ? p : f}' "$2"; }
p=$(($(count p build-san/log) + $(count p build/log)))
f=$(($(count f build-san/log) + $(count f build/log)))
if [ -n "$with_torch" ]; then
    models/check.sh build | tee build/torch.log || status=1
    p=$((p + $(count p build/torch.log))) f=$((f + $(count f build/torch.log)))
fi
echo "$p passed, $f failed"
[ "$f" = 0 ] && [ "$status" = 0 ]
