#!/usr/bin/env python3
"""--save-gradients against numpy, however the gradients are made and used: clipped, summed, unfused.

  gradients_test.py --shardcc build/shardcc

The two biases are added to each other first, so that one value is the gradient of both, also in each of three layers,
whose gradients are made in a loop. Four layers share their weights, so that the loop over them adds up one gradient.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_safetensors, relative, run, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, IN, OUT, LAYERS, ADDED = 4, 6, 5, 4, 3
CASES = [
    ("plain", []),
    ("clipped", ["--clip-norm", "0.1"]),
    ("summed over micro-batches", ["--accumulate", "2"]),
    ("unfused", ["--no-fuse"]),
    ("two ranks", ["--ranks", "2"]),
    ("two ranks that split parameters", ["--ranks", "2", "--plan-preset", "fsdp"]),
]


def write_model(path, weights):
    nodes = [
        node("MatMul", ["x", "w"], ["xw"], "product"),
        node("Add", ["b", "c"], ["bc"], "biases"),
        node("Add", ["xw", "bc"], ["y"], "sum"),
    ]
    stored = [tensor(name, array) for name, array in weights.items()]
    path.write_bytes(model(nodes, [value("x", "f32", [BATCH, IN])], [value("y", "f32", [BATCH, OUT])], stored))


def write_shared_model(path, weights):
    nodes, h = [node("MatMul", ["x", "u"], ["h"], "first")], "h"
    for i in range(LAYERS):
        nodes += [node("MatMul", [h, "w"], [f"p{i}"], f"product{i}"), node("Add", [f"p{i}", "b"], [f"s{i}"], f"sum{i}"), node("Tanh", [f"s{i}"], [f"h{i}"], f"tanh{i}")]
        h = f"h{i}"
    nodes += [node("MatMul", [h, "v"], ["y"], "head")]
    stored = [tensor(name, array) for name, array in weights.items()]
    path.write_bytes(model(nodes, [value("x", "f32", [BATCH, IN])], [value("y", "f32", [BATCH, OUT])], stored))


def write_added_model(path, weights):
    nodes, h = [], "x"
    for i in range(ADDED):
        nodes += [
            node("MatMul", [h, f"w{i}"], [f"p{i}"], f"product{i}"),
            node("Add", [f"b{i}", f"c{i}"], [f"bc{i}"], f"biases{i}"),
            node("Add", [f"p{i}", f"bc{i}"], [f"s{i}"], f"sum{i}"),
            node("Tanh", [f"s{i}"], ["y" if i == ADDED - 1 else f"h{i}"], f"tanh{i}"),
        ]
        h = f"h{i}"
    stored = [tensor(name, array) for name, array in weights.items()]
    path.write_bytes(model(nodes, [value("x", "f32", [BATCH, IN])], [value("y", "f32", [BATCH, IN])], stored))


def added_gradients(weights, x, t):
    h, g = [x.astype(np.float64)], {}
    for i in range(ADDED):
        h.append(np.tanh(h[-1] @ weights[f"w{i}"] + weights[f"b{i}"] + weights[f"c{i}"]))
    d = 2 * (h[-1] - t) / t.size
    for i in reversed(range(ADDED)):
        d = d * (1 - h[i + 1] ** 2)
        g |= {f"w{i}": h[i].T @ d, f"b{i}": d.sum(0), f"c{i}": d.sum(0)}
        d = d @ weights[f"w{i}"].T
    return g


def shared_gradients(weights, x, t):
    h = [x.astype(np.float64) @ weights["u"]]
    for _ in range(LAYERS):
        h.append(np.tanh(h[-1] @ weights["w"] + weights["b"]))
    d = 2 * (h[-1] @ weights["v"] - t) / t.size
    g = {"w": 0, "b": 0, "v": h[-1].T @ d}
    d = d @ weights["v"].T
    for before, after in zip(h[-2::-1], h[:0:-1]):
        d = d * (1 - after**2)
        g["w"], g["b"] = g["w"] + before.T @ d, g["b"] + d.sum(0)
        d = d @ weights["w"].T
    return {**g, "u": x.T @ d}


def test_gradients(shardcc, work, checks, model_name, data, expected, bound):
    """Checks the gradients that a step saves, for all cases."""
    write_data(work / "data", data)
    for name, more in CASES:
        name = f"{model_name}, {name}"
        launch = mpirun(2) if "--ranks" in more else []
        run(shardcc, f"{model_name}.onnx", "-o", model_name, "--cc", QUICK_CC, "--loss", "mse(y, t)", "--optimizer", "sgd", *more, cwd=work)
        step = ["--data", "data", "--steps", 1, "--no-shuffle", "--quiet", "--check-arena", "--save-gradients", "g"]
        run(*launch, work / model_name, *step, cwd=work, env=MPI_ENV)
        found = read_safetensors(work / "g")
        checks.check(f"{name}: names", sorted(found) == sorted(expected), str(sorted(found)))
        for key, g in expected.items():
            checks.check(f"{name}: {key}", relative(found[key], g) <= bound, f"{relative(found[key], g):.1e}")


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
        test_gradients(shardcc, work, checks, "line", {"x": x, "t": t}, expected, 1e-6)
        shared = {"u": rng.standard_normal((IN, IN)), "w": rng.standard_normal((IN, IN)), "b": rng.standard_normal(IN), "v": rng.standard_normal((IN, OUT))}
        shared = {name: array.astype(np.float32) for name, array in shared.items()}
        write_shared_model(work / "shared.onnx", shared)
        added = {f"{n}{i}": rng.standard_normal((IN, IN) if n == "w" else IN).astype(np.float32) for i in range(ADDED) for n in "wbc"}
        u = rng.standard_normal((BATCH, IN)).astype(np.float32)
        write_added_model(work / "added.onnx", added)
        test_gradients(shardcc, work, checks, "added", {"x": x, "t": u}, added_gradients(added, x, u), 1e-5)
        test_gradients(shardcc, work, checks, "shared", {"x": x, "t": t}, shared_gradients(shared, x, t), 1e-5)
    checks.finish()


if __name__ == "__main__":
    main()
