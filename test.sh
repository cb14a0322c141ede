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
./setup.sh git g++ libcmocka-dev tcc clang clang-format libclang-rt-14-dev python3 python3-numpy
status=0 passed=0 failed=0
# preset, folder, preset of the build, options of ctest: builds it and runs its tests; adds the lines "ok" and "not ok" of
# all to the counts.
check() {
    local log=$2/Testing/Temporary/LastTest.log bad=0 options=("${@:4}")
    cmake --preset "$1" >/dev/null
    cmake --build --preset "$3" -j"$(nproc)" >"$2/build.log" || { cat "$2/build.log"; exit 1; }
    # One test more than cores: some wait for disks and clocks.
    if ! ctest --preset "$1" -j$(($(nproc) + 1)) "${options[@]}"; then
        status=1 bad=$(grep -c '^not ok' "$log" || true)
        [ "$bad" != 0 ] || bad=1  # a test was killed
    fi
    passed=$((passed + $(grep -c '^ok' "$log" || true)))
    failed=$((failed + bad))
}
check asan build-san unit
check default build e2e -LE unit  # unit tests ran under sanitizers
if [ -n "$with_torch" ]; then
    models/check.sh build | tee build/torch.log || status=1
    passed=$((passed + $(awk '/ passed, .* failed$/ && !/^==/ {n = $1} END {print n + 0}' build/torch.log)))
    failed=$((failed + $(awk '/ passed, .* failed$/ && !/^==/ {n = $3} END {print n + 0}' build/torch.log)))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$status" = 0 ]
