#!/usr/bin/env python3
"""The length of the C text doesn't depend on depth: layers and time steps are loops.

  depth_test.py --shardcc build/shardcc [--plan DIR]

The models are made here: recurrent networks over 12 and 48 steps, transformers of 12 and 48 layers. With --plan,
gpt2_small.onnx and gpt2_48.onnx in DIR (see models/export_plan.py) are compared too.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np

from harness import Checks, run
from onnx_bytes import model, node, tensor, value

SLACK = 5  # lines by which the texts of two depths may differ
BATCH, WIDTH, CLASSES = 8, 32, 5
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


class Builder:
    """The nodes and initializers of a model, as they are added."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, *shape):
        self.weights.append(tensor(name, np.full(shape, 0.1, np.float32)))
        return name

    def constant(self, name, values):
        self.weights.append(tensor(name, np.array(values)))
        return name

    def add(self, op, inputs, output, **options):
        self.nodes.append(node(op, inputs, [output], output, **options))
        return output

    def linear(self, x, name, n_in, n_out):
        y = self.add("MatMul", [x, self.weight(f"{name}.weight", n_in, n_out)], f"{name}/product")
        return self.add("Add", [y, self.weight(f"{name}.bias", n_out)], f"{name}/sum")

    def head(self, x, width):
        weight = self.weight("head.weight", width, CLASSES)
        return self.add("MatMul", [x, weight], "logits")

    def model(self, inputs, dims):
        return model(self.nodes, inputs, [value("logits", "f32", [*dims, CLASSES])], self.weights, opset=20)


def recurrent(kind, layers, both, steps):
    """Layers of a recurrent operator, in one direction or both, and a head on all steps."""
    b, x, width = Builder(), "x", WIDTH
    sides = 2 if both else 1
    rows = GATES[kind] * WIDTH
    shape = b.constant("shape", [steps, BATCH, sides * WIDTH])
    for i in range(layers):
        weights = [
            b.weight(f"{i}.weight_ih", sides, rows, width),
            b.weight(f"{i}.weight_hh", sides, rows, WIDTH),
            b.weight(f"{i}.bias", sides, 2 * rows),
        ]
        direction = "bidirectional" if both else "forward"
        more = {"linear_before_reset": 1} if kind == "GRU" else {}  # as PyTorch's
        y = b.add(kind, [x, *weights], f"{i}/y", hidden_size=WIDTH, direction=direction, **more)
        y = b.add("Transpose", [y], f"{i}/swapped", perm=[0, 2, 1, 3])
        x, width = b.add("Reshape", [y, shape], f"{i}/flat"), sides * WIDTH
    b.head(x, width)
    return b.model([value("x", "f32", [steps, BATCH, WIDTH])], [steps, BATCH])


def attention(b, x, name, heads, length):
    """Causal attention with the nodes that exporters write."""
    parts, qkv = [f"{name}/{part}" for part in "qkv"], b.linear(x, f"{name}.qkv", WIDTH, 3 * WIDTH)
    b.nodes.append(node("Split", [qkv], parts, name, axis=2, num_outputs=3))
    q, k, v = (
        b.add("Transpose", [b.add("Reshape", [part, "heads"], f"{part}/heads")], f"{part}/turned", perm=perm)
        for part, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    )
    scores = b.add("Mul", [b.add("MatMul", [q, k], f"{name}/scores"), "scale"], f"{name}/scaled")
    weights = b.add("Softmax", [b.add("Add", [scores, "mask"], f"{name}/masked")], f"{name}/weights", axis=3)
    y = b.add("Transpose", [b.add("MatMul", [weights, v], f"{name}/y")], f"{name}/back", perm=[0, 2, 1, 3])
    return b.linear(b.add("Reshape", [y, "whole"], f"{name}/whole"), f"{name}.proj", WIDTH, WIDTH)


def transformer(layers, heads=2, length=6):
    """A GPT: pre-norm layers of causal attention and a wide pair of products."""
    b = Builder()
    x = b.add("Gather", [b.weight("table", CLASSES, WIDTH), "input_ids"], "embedded")
    b.constant("heads", [BATCH, length, heads, WIDTH // heads])
    b.constant("whole", [BATCH, length, WIDTH])
    b.constant("scale", np.float32(0.5))
    b.constant("mask", np.triu(np.full((length, length), -np.inf, np.float32), 1))

    def norm(x, name):
        return b.add(
            "LayerNormalization",
            [x, b.weight(f"{name}.weight", WIDTH), b.weight(f"{name}.bias", WIDTH)],
            f"{name}/y",
        )

    for i in range(layers):
        y = attention(b, norm(x, f"{i}.ln1"), f"{i}.attention", heads, length)
        x = b.add("Add", [x, y], f"{i}/attended")
        y = b.add("Gelu", [b.linear(norm(x, f"{i}.ln2"), f"{i}.fc", WIDTH, 4 * WIDTH)], f"{i}/gelu")
        x = b.add("Add", [x, b.linear(y, f"{i}.out", 4 * WIDTH, WIDTH)], f"{i}/y")
    b.head(norm(x, "ln"), WIDTH)
    return b.model([value("input_ids", "i64", [BATCH, length])], [BATCH, length])


MODELS = {
    "LSTM": lambda n: recurrent("LSTM", 1, False, n),
    "LSTM of two layers": lambda n: recurrent("LSTM", 2, False, n),
    "LSTM in both directions": lambda n: recurrent("LSTM", 1, True, n),
    "LSTM of two layers in both directions": lambda n: recurrent("LSTM", 2, True, n),
    "GRU of two layers": lambda n: recurrent("GRU", 2, False, n),
    "GRU of two layers in both directions": lambda n: recurrent("GRU", 2, True, n),
    "RNN of two layers in both directions": lambda n: recurrent("RNN", 2, True, n),
    "transformer": transformer,
    "transformer, recomputed": transformer,
    "transformer, partly recomputed": transformer,
}
# Which kernels of recurrent networks run again depends on their steps, as some work of all steps is done together.
AGAIN = {
    "transformer, recomputed": ("--recompute", "full"),
    "transformer, partly recomputed": ("--recompute", "repeated block 1=5"),
}


def lines_of(shardcc, path, out, *more):
    """The number of lines of the training program's text."""
    args = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--no-weights"]
    run(shardcc, path, "-o", out, "--emit", "c", *args, *more)
    return len(out.read_text().splitlines())


def check(checks, name, few, many):
    checks.check(f"{name}: 12 and 48", abs(few - many) <= SLACK, f"{few} and {many} lines")


def check_made(checks, shardcc, work):
    """Checks the models of MODELS."""
    for name, make in MODELS.items():
        lines = []
        for depth in (12, 48):
            path = work / "model.onnx"
            path.write_bytes(make(depth))
            lines.append(lines_of(shardcc, path, work / "model.c", *AGAIN.get(name, ())))
        check(checks, name, *lines)


def check_plans(checks, shardcc, work, folder):
    """Checks exported models of GPT-2."""
    files = [folder / f"{name}.onnx" for name in ("gpt2_small", "gpt2_48")]
    for what, *more in ("GPT-2",), ("GPT-2, recomputed", "--recompute", "full"):
        small, deep = (lines_of(shardcc, path, work / "plan.c", "--bind", "batch=4", *more) for path in files)
        check(checks, what, small, deep)
    small = lines_of(shardcc, files[0], work / "plan.c", "--bind", "batch=4")
    checks.check("GPT-2: length", small <= 1500, f"{small} lines")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--plan", type=Path)
    options = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        check_made(checks, options.shardcc, Path(temp))
        if options.plan:
            check_plans(checks, options.shardcc, Path(temp), options.plan)
    checks.finish()


if __name__ == "__main__":
    main()
