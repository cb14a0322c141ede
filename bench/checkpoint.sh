#!/bin/bash
# How much longer a step is on average if a checkpoint is saved every 20 steps, and PyTorch's: bench/checkpoint.sh [NAME ...]
#
#   WORK=DIR           where exports and trainers are kept (default: build/bench)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt (default: .venv-torch, which
#                      models/check.sh makes)
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-.venv-torch/bin/python}" bench/checkpoint.py --shardcc "${SHARDCC:-build/shardcc}" \
    --work "${WORK:-build/bench}" "$@"
