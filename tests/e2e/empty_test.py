#!/usr/bin/env python3
"""Tensors without elements, against numpy: past keys of length 0, slices, parts and tables that are empty, sums over nothing.

  empty_test.py --shardcc build/shardcc

One net on one and two ranks, unfused, with micro-batches and on the tests' GPU; ONNX's reductions of an empty set.
"""
import subprocess

import numpy as np

from harness import MPI_ENV, mpirun, read_log, read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, IN, OUT = 4, 6, 3
TRAIN = ["--loss", "mse(y, t)", "--optimizer", "sgd"]
SUM, LOG, MAX, MIN, PRODUCT = 0, -np.inf, -np.inf, np.inf, 1

# ONNX's reductions, and what each is over nothing.
REDUCTIONS = [
    ("ReduceSum", SUM), ("ReduceL1", SUM), ("ReduceL2", SUM), ("ReduceSumSquare", SUM), ("ReduceLogSum", LOG),
    ("ReduceLogSumExp", LOG), ("ReduceMax", MAX), ("ReduceMin", MIN), ("ReduceProd", PRODUCT),
]  # fmt: skip
PROGRAMS = [
    ("one", 1, ["--cc", QUICK_CC]),
    ("unfused", 1, ["--no-fuse", "--cc", QUICK_CC]),
    ("micro", 1, ["--accumulate", "2", "--cc", QUICK_CC]),
    ("two", 2, ["--ranks", "2", "--mesh", "dp=2", "--cc", QUICK_CC]),
    ("gpu", 1, ["--target", "cuda"]),
]


def net():
    """y = x · w, with empty tensors before x, joined to y, and multiplied by a table of no rows."""
    ints = {"0": [0], "1": [1], "2": [2], "2s": [0, 3, 0]}
    nodes = [
        node("Unsqueeze", ["x", "1"], ["x1"], "step"),
        node("Concat", ["past", "x1"], ["keys"], "keys", axis=1),
        node("Squeeze", ["keys", "1"], ["xs"], "squeeze"),
        node("MatMul", ["xs", "w"], ["a"], "product"),
        node("Slice", ["a", "2", "2", "1"], ["none"], "slice"),
        node("Split", ["a", "2s"], ["first", "all", "last"], "split", axis=1),
        node("Tanh", ["first"], ["tanh"], "tanh"),
        node("Mul", ["tanh", "last"], ["tl"], "mul"),
        node("MatMul", ["tl", "table"], ["zeros"], "table"),
        node("ReduceMax", ["none", "1"], ["low"], "low"),
        node("Exp", ["low"], ["e"], "exp"),
        node("ReduceProd", ["none", "1"], ["one"], "one"),
        node("Mul", ["all", "one"], ["b"], "scaled"),
        node("Add", ["b", "zeros"], ["c"], "sum"),
        node("Add", ["c", "e"], ["y"], "y"),
    ]
    stored = [tensor(n, np.array(v)) for n, v in ints.items()]
    random = np.random.default_rng(0)
    stored += [tensor("w", random.standard_normal((IN, OUT)).astype(np.float32)), tensor("table", np.zeros((0, OUT), np.float32))]
    ends = [value("x", "f32", ["batch", IN]), value("past", "f32", ["batch", 0, IN])], [value("y", "f32", ["batch", OUT]), value("none", "f32", ["batch", 0])]
    return model(nodes, *ends, stored)


class Empty:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def programs(self):
        random = np.random.default_rng(1)
        x, t = (random.standard_normal((BATCH, n)).astype(np.float32) for n in (IN, OUT))
        write_data(self.work / "data", {"x": x, "past": np.zeros((BATCH, 0, IN), np.float32), "t": t})
        (self.work / "net.onnx").write_bytes(net())
        for name, ranks, options in PROGRAMS:
            if name == "gpu":
                options = [*options, "--cuda", self.shardcc.parent / "tests/cuda/toolkit"]
            run(self.shardcc, "net.onnx", "-o", name, *TRAIN, "--bind", f"batch={BATCH}", "--verify", *options, cwd=self.work)
            start, checked = mpirun(ranks) if ranks > 1 else [], [] if name == "gpu" else ["--check-arena"]
            command = [f"./{name}", "--data", "data", "--steps", 1, "--quiet", "--no-shuffle", *checked, "--log", "log"]
            run(*start, *command, "--save-gradients", "g", cwd=self.work, env=MPI_ENV)
            w = read_safetensors(self.work / f"{name}.safetensors")["w"]
            self.checks.close(f"{name}: loss", read_log(self.work / "log")[0]["loss"], ((x @ w - t) ** 2).mean(), 1e-5)
            self.checks.close(f"{name}: gradient", read_safetensors(self.work / "g")["w"], x.T @ (2 * (x @ w - t) / t.size), 1e-5)
            run(*start, f"./{name}", "--predict", "data", "-o", "out.npz", "--quiet", *checked, cwd=self.work, env=MPI_ENV)
            found = np.load(self.work / "out.npz")
            self.checks.close(f"{name}: prediction", found["y"], x @ w, 1e-5)
            self.checks.check(f"{name}: an empty output", found["none"].shape == (BATCH, 0), str(found["none"].shape))

    def reductions(self):
        nodes = [node(op, ["x", "axis"], [op], op, keepdims=i % 2) for i, (op, _) in enumerate(REDUCTIONS)]
        outputs = [value(op, "f32", [2, 1, 4] if i % 2 else [2, 4]) for i, (op, _) in enumerate(REDUCTIONS)]
        data = model(nodes, [value("x", "f32", [2, 0, 4])], outputs, [tensor("axis", np.array([1]))], opset=18)
        (self.work / "reduce.onnx").write_bytes(data)
        write_data(self.work / "reduce_data", {"x": np.zeros((2, 0, 4), np.float32)})
        run(self.shardcc, "reduce.onnx", "--cc", QUICK_CC, cwd=self.work)
        run("./reduce", "--predict", "reduce_data", "-o", "reduce.npz", "--quiet", "--check-arena", cwd=self.work)
        found = np.load(self.work / "reduce.npz")
        for i, (op, x) in enumerate(REDUCTIONS):
            y = found[op]
            self.checks.check(f"{op} of nothing", y.shape == ((2, 1, 4) if i % 2 else (2, 4)) and (y == x).all(), str(y.tolist()))

    def messages(self):
        nodes = [node("Slice", ["x", "0", "0"], ["y"], "slice")]
        data = model(nodes, [value("x", "f32", [2, 3])], [value("y", "f32", [0, 3])], [tensor("0", np.array([0]))])
        (self.work / "nothing.onnx").write_bytes(data)
        done = subprocess.run([self.shardcc, "nothing.onnx", *TRAIN], cwd=self.work, capture_output=True, text=True)
        message = "nothing.onnx: error: --loss: 'y' is f32[0,3], which has no elements\n"
        self.checks.check("a loss of nothing", (done.returncode, done.stderr) == (1, message), done.stderr)
        data = model([node("ArgMax", ["x"], ["y"], "arg", axis=1)], [value("x", "f32", [2, 0])], [value("y", "i64", [2, 1])])
        (self.work / "arg.onnx").write_bytes(data)
        done = subprocess.run([self.shardcc, "arg.onnx"], cwd=self.work, capture_output=True, text=True)
        self.checks.check("the place of the largest of nothing", done.returncode == 1 and "node 'arg' (arg_max): 0 elements have no largest one" in done.stderr, done.stderr.replace("\n", " | "))


def test(empty):
    empty.programs()
    empty.reductions()
    empty.messages()


if __name__ == "__main__":
    test_in_folder(Empty, test)
