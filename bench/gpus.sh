#!/bin/bash
# Several GPUs of one machine: how fast their collectives are, and the steps of models: bench/gpus.sh [--build DIR | --run DIR] [NAME ...]
#
# --build makes the programs and their data, where shardcc and a toolkit of CUDA are; --run needs the GPUs and Python with
# NumPy, but no compiler. Without either it does both. bench/gpus.py says what the tables show and which options there are.
#
#   RANKS=N            how many GPUs (default: 8)
#   WORK=DIR           where programs are kept (default: build/bench/gpus)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   GPU=LIST           the GPUs to compile for (default: sm_90)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt, to export models (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-python3}" bench/gpus.py --ranks "${RANKS:-8}" --shardcc "${SHARDCC:-build/shardcc}" \
    --work "${WORK:-build/bench/gpus}" --gpu "${GPU:-sm_90}" "$@"
