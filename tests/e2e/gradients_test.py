#!/usr/bin/env python3
"""--save-gradients against numpy, however the gradients are made and used: clipped, summed, unfused.

  gradients_test.py --shardcc build/shardcc

The two biases are added to each other first: one value is the gradient of both.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np

from harness import Checks, read_safetensors, relative, run, write_data
from onnx_bytes import model, node, tensor, value

BATCH, IN, OUT = 4, 6, 5
CASES = [
    ("plain", []),
    ("clipped", ["--clip-norm", "0.1"]),
    ("summed over micro-batches", ["--accumulate", "2"]),
    ("unfused", ["--no-fuse"]),
]


def write_model(path, weights):
    nodes = [
        node("MatMul", ["x", "w"], ["xw"], "product"),
        node("Add", ["b", "c"], ["bc"], "biases"),
        node("Add", ["xw", "bc"], ["y"], "sum"),
    ]
    stored = [tensor(name, array) for name, array in weights.items()]
    path.write_bytes(model(nodes, [value("x", "f32", [BATCH, IN])], [value("y", "f32", [BATCH, OUT])], stored))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    shardcc, checks, rng = p.parse_args().shardcc, Checks(), np.random.default_rng(0)
    weights = {"w": rng.standard_normal((IN, OUT)), "b": rng.standard_normal(OUT), "c": rng.standard_normal(OUT)}
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    x, t = (rng.standard_normal((BATCH, n)).astype(np.float32) for n in (IN, OUT))
    error = 2 * (x @ weights["w"] + weights["b"] + weights["c"] - t) / t.size
    expected = {"w": x.T @ error, "b": error.sum(0), "c": error.sum(0)}
    with tempfile.TemporaryDirectory() as temp:
        work = Path(temp)
        write_model(work / "line.onnx", weights)
        write_data(work / "data", {"x": x, "t": t})
        for name, more in CASES:
            run(shardcc, "line.onnx", "-o", "line", "--loss", "mse(y, t)", "--optimizer", "sgd", *more, cwd=work)
            run(work / "line", "--data", "data", "--steps", 1, "--no-shuffle", "--quiet", "--save-gradients", "g", cwd=work)
            found = read_safetensors(work / "g")
            checks.check(f"{name}: names", sorted(found) == sorted(expected), str(sorted(found)))
            for key, g in expected.items():
                checks.check(f"{name}: {key}", relative(found[key], g) <= 1e-6, f"{relative(found[key], g):.1e}")
    checks.finish()


if __name__ == "__main__":
    main()
