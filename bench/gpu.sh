#!/bin/bash
# Programs for a GPU: checks the tiny models', and times GPT-2 and BERT, compared with PyTorch: bench/gpu.sh [--build DIR | --run DIR] [NAME ...]
#
# With --ranks: what one GPU shows of several ranks, in 8 minutes. With --precision bf16: steps in halves, compared with PyTorch's autocast.
# bench/gpu.py says what each shows.
#
# --build makes the programs and their data, where shardcc and a toolkit of CUDA are; --run needs a GPU, Python with NumPy
# and, for the comparison, PyTorch, but no compiler. Without either it does both.
#
#   WORK=DIR           where programs are kept (default: build/bench/gpu)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   GPU=LIST           the GPUs to compile for (default: sm_90)
#   TORCH_PYTHON=FILE  a Python with PyTorch (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-python3}" bench/gpu.py --shardcc "${SHARDCC:-build/shardcc}" --work "${WORK:-build/bench/gpu}" \
    --gpu "${GPU:-sm_90}" "$@"
