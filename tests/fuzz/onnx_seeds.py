#!/usr/bin/env python3
"""Seeds for onnx_fuzz: small models of every operator that frontend/import_*.c lists, on inputs of several shapes and types.

  tests/fuzz/onnx_seeds.py DIR

Some are refused: they are a byte or two from what isn't.
"""
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from onnx_bytes import model, node, tensor, value  # noqa: E402

LINE = re.compile(r'^    \{"([A-Z]\w*)", (\d+), (\w+)', re.M)
FLOATS = [[4], [2, 4], [1, 2, 4], [1, 2, 4, 4]]
# Kinds of inputs by place; the last one goes on. f: floats, i: integers, b: booleans, c: a constant of integers.
KINDS = ["f", "i", "b", "fc", "fi", "bf", "ffc", "fcf"]


def seed(op, n, kinds, dims):
    inputs, weights, names = [], [], []
    for k in range(n):
        kind, name = kinds[min(k, len(kinds) - 1)], f"x{k}"
        if kind == "c":
            weights.append(tensor(name, np.arange(len(dims), dtype=np.int64)))
        else:
            inputs.append(value(name, {"f": "f32", "i": "i64", "b": "bool"}[kind], dims))
        names.append(name)
    return model([node(op, names, ["y"], "n")], inputs, [value("y", "f32", dims)], weights)


def main():
    to, n = Path(sys.argv[1]), 0
    to.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "frontend").glob("import_*.c")):
        for op, least, most in LINE.findall(path.read_text()):
            counts = sorted({max(int(least), 1), min(int(most), 4) if most.isdigit() else 3})
            for count in counts:
                for kinds in KINDS[: 3 if count < 2 else None]:
                    for dims in FLOATS[1::2] if count > 1 else FLOATS:
                        (to / f"{op}-{count}{kinds}{len(dims)}").write_bytes(seed(op, count, kinds, dims))
                        n += 1
    print(f"{n} models")


if __name__ == "__main__":
    main()
