#!/bin/bash
# Planning of large models, one table: bench/plan.sh DIR [NAME ...]
#
# DIR has graphs that models/export_plan.py wrote. Each graph is planned on the given mesh with the
# device's memory, then with 1.05 times the least memory of any plan found, then on all meshes. With
# --presets, the search is compared with each preset instead, on 8 to 64 ranks.
#
#   WORK=DIR       where plans are kept (default: build/plan)
#   SHARDCC=FILE   the compiler (default: build/shardcc)
#   PYTHON=FILE    (default: python3)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" bench/plan.py --shardcc "${SHARDCC:-build/shardcc}" --work "${WORK:-build/plan}" "$@"
