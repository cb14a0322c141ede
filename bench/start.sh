#!/bin/bash
# How soon a trainer is at its first step, and how much memory its weights take: bench/start.sh [memory bytes gpt2 restart]
#
#   WORK=DIR           where exports and trainers are kept (default: build/bench)
#   SHARDCC=FILE       the compiler (default: build/shardcc)
#   TORCH_PYTHON=FILE  a Python with the packages of models/requirements.txt (default: .venv-torch, which
#                      models/check.sh makes). `memory` and `bytes` need no PyTorch.
set -eu
cd "$(dirname "$0")/.."
exec "${TORCH_PYTHON:-.venv-torch/bin/python}" bench/start.py --shardcc "${SHARDCC:-build/shardcc}" \
    --work "${WORK:-build/bench}" "$@"
