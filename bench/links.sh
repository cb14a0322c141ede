#!/bin/bash
# Several ranks on two hosts with a slow link between them: bench/links.sh HOSTS.sh [--quick] [all_reduce] [plans] [overlap] [faults]
#
# HOSTS.sh makes hosts of network namespaces on this machine: `[-n HOSTS] [-s SLOTS] [-b RATE] [-l MICROSECONDS]
# [-p PREFIX] up`, then `run` with mpirun's arguments, `link HOST down`, `down`. It needs root.
#
#   WORK=DIR           where exports, plans and trainers are kept (default: build/bench)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt (default: .venv-torch, which
#                      models/check.sh makes): models are exported with it
set -eu
[ $# -ge 1 ] || { echo "links.sh: the script that makes hosts is missing" >&2; exit 2; }
hosts=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
shardcc=${SHARDCC:-build/shardcc}
cmake --build "$(dirname "$shardcc")" --target all_reduce_mpi all_reduce_tcp >/dev/null
exec "${TORCH_PYTHON:-.venv-torch/bin/python}" bench/links.py --shardcc "$shardcc" --work "${WORK:-build/bench}" \
    --hosts "$hosts" "$@"
