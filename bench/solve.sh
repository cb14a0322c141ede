#!/bin/bash
# The solver on a folder of instances, one table: bench/solve.sh DIR [NAME ...]
#
#   TIME=SECONDS   the limit of each (default: 300)
#   WORK=DIR       where answers are kept (default: build/solve)
#   SHARDCC=FILE   the compiler (default: build/shardcc)
#   PYTHON=FILE    (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" bench/solve.py --shardcc "${SHARDCC:-build/shardcc}" --work "${WORK:-build/solve}" \
    --time-limit "${TIME:-300}" "$@"
