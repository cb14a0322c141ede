#!/bin/bash
# Planning of large models, one table: bench/plan.sh DIR [NAME ...]
#
# DIR has graphs that models/export_plan.py wrote. For each: the grid given and the device's memory,
# then 1.05 times the least that a plan was found to take, then all grids. With --presets: the search
# against each preset instead, on 8 to 64 ranks.
#
#   WORK=DIR       where plans are kept (default: build/plan)
#   SHARDCC=FILE   the compiler (default: build/shardcc)
#   PYTHON=FILE    (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" bench/plan.py --shardcc "${SHARDCC:-build/shardcc}" --work "${WORK:-build/plan}" "$@"
