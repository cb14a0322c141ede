#!/bin/bash
# Operators compared with PyTorch, forward and backward: bench/operators.sh [--rounds N] [--threads N] [NAME ...]
#
#   WORK=DIR           where exports and trainers are kept (default: build/operators)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt (default: .venv-torch, which
#                      models/check.sh makes)
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-.venv-torch/bin/python}" bench/operators.py --shardcc "${SHARDCC:-build/shardcc}" \
    --work "${WORK:-build/operators}" "$@"
