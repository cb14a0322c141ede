#!/bin/bash
# The time of a training step against PyTorch: bench/step.sh [--precision bf16] [--compile] [--memory] [--steps N] [--rounds N]
#   [NAME ...]
#
#   WORK=DIR           where exports and trainers are kept (default: build/bench)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt (default: .venv-torch, which
#                      models/check.sh makes)
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-.venv-torch/bin/python}" bench/step.py --shardcc "${SHARDCC:-build/shardcc}" \
    --work "${WORK:-build/bench}" "$@"
