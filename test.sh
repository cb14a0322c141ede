#!/bin/bash
# Builds everything and tests it, from nothing but a bare Debian 12:
#   ./test.sh                    what is likely to break, in ten minutes: tests/levels says which tests, and which part of them
#   ./test.sh --all              all tests that need no PyTorch
#   ./test.sh --all --with-torch those too that export models anew and compare (makes a Python environment)
#   ./test.sh --exhaustive NAME ...   the long forms of these tests; a command that was stopped goes on where it was
#   ./test.sh --list             the tests, the level of each, its usual seconds and its long form
set -eu
cd "$(dirname "$0")"
level=quick with_torch="" long=()
while [ $# != 0 ]; do
    case $1 in
    --all) level=all ;;
    --with-torch) with_torch=1 ;;
    --list) exec tests/exhaustive --list ;;
    --exhaustive)
        shift
        [ $# != 0 ] || { echo "test.sh: --exhaustive needs names of tests: ./test.sh --list shows them" >&2; exit 2; }
        level=exhaustive long=("$@")
        break
        ;;
    *) echo "test.sh: unknown option $1: expected --all, --with-torch, --exhaustive or --list" >&2; exit 2 ;;
    esac
    shift
done
./setup.sh git g++ libcmocka-dev tcc clang clang-format libclang-rt-14-dev python3 python3-numpy
# preset, folder, target: builds it.
build() {
    cmake --preset "$1" >/dev/null
    cmake --build "$2" --target "$3" -j"$(nproc)" >"$2/build.log" || { cat "$2/build.log"; exit 1; }
}
export OMPI_MCA_mpi_yield_when_idle=1  # ranks that wait leave the core to other tests
status=0 passed=0 failed=0
# preset, folder, target, options of ctest: builds it and runs its tests; adds the lines "ok" and "not ok" of all to the
# counts.
check() {
    local log=$2/Testing/Temporary/LastTest.log bad=0 options=("${@:4}")
    build "$1" "$2" "$3"
    # One test more than cores: some wait for disks and clocks.
    if ! ctest --preset "$1" -j$(($(nproc) + 1)) "${options[@]}"; then
        status=1 bad=$(grep -c '^not ok' "$log" || true)
        [ "$bad" != 0 ] || bad=1  # a test was killed
    fi
    passed=$((passed + $(grep -c '^ok' "$log" || true)))
    failed=$((failed + bad))
}
# Tests of one program run under sanitizers, all others with the compiler that users get.
case $level in
quick)
    export TRANSPORT=tcp  # of programs of ranks; --all tests them with MPI
    check asan build-san unit-quick -L quick -LE 'e2e|source'
    check default build e2e-quick -L quick -LE unit
    ;;
all)
    check asan build-san unit -LE 'e2e|source|sample'
    check default build e2e -LE 'unit|sample'
    ;;
exhaustive)
    build default build all
    exec tests/exhaustive "${long[@]}"
    ;;
esac
if [ -n "$with_torch" ]; then
    models/check.sh build | tee build/torch.log || status=1
    passed=$((passed + $(awk '/ passed, .* failed$/ && !/^==/ {n = $1} END {print n + 0}' build/torch.log)))
    failed=$((failed + $(awk '/ passed, .* failed$/ && !/^==/ {n = $3} END {print n + 0}' build/torch.log)))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$status" = 0 ]
