#!/bin/bash
# Kernels against the machine's own rates, one table: bench/kernels.sh [--rounds N] [--steps N] [NAME ...]
#
#   WORK=DIR      where graphs, data and trainers are kept (default: build/kernels)
#   SHARDCC=FILE  the compiler (default: build/shardcc)
#   PYTHON=FILE   a Python with numpy (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" bench/kernels.py --shardcc "${SHARDCC:-build/shardcc}" --work "${WORK:-build/kernels}" "$@"
