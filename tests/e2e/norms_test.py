#!/usr/bin/env python3
"""Norms of rows whose elements are equal: 0 exactly, whatever the row's length and its element, and gradients as in f64.

  norms_test.py --shardcc build/shardcc

One net has all norms of all lengths side by side, each with parameters of its own. It is compiled fused and not, on one
rank, and on two that share each row. A batch norm keeps the rounding error of its mean: its bound is that of
docs/numbers.md.
"""
import re
from pathlib import Path

import numpy as np

from harness import MPI_ENV, mpirun, read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

F32 = np.float32
EQUAL = np.array([300, 300.1, 1e-6, 1e4, 0.1, 1 / 3], F32)  # the elements of rows; the last row has normal numbers
ROWS = len(EQUAL) + 1
LENGTHS = [1, 2, 3, 7, 64, 1000]
EPSILON = F32(1e-5)
ROUNDING = 2.0**-20  # of a batch norm's mean, in relation to it
# Links so slow that sums of a row's parts are exchanged, not its elements.
RANKS = ["--ranks", "2", "--mesh", "tp=2", "--cluster", Path(__file__).parent / "slow_link.json"]
PROGRAMS = [("fused", 1, []), ("unfused", 1, ["--no-fuse"]), ("two", 2, RANKS), ("two_unfused", 2, [*RANKS, "--no-fuse"])]
# The shapes of scales. Unfused, "squares" is what the file says, the mean of the squares less the square of the mean, which
# may be below 0.
FORMS = {"layer": "n", "written": "n", "squares": "n", "group": "n", "instance": 1, "batch": ROWS}


class Net:
    """The nodes of all norms; `want` has outputs and gradients in f64."""

    def __init__(self, forms):
        self.nodes, self.stored, self.outputs, self.want, self.pins = [], [], [], {}, []
        self.random = np.random.default_rng(1)
        shapes = {"last": [1], "wide": [0, 1, -1], "tall": [0, -1, 1], "rows": [ROWS, -1]}
        self.stored += [tensor(f"/{name}", np.array(shape)) for name, shape in shapes.items()]
        self.stored += [tensor("/epsilon", EPSILON), tensor("/two", F32(2))]
        terms = [self.norm(form, n) for form in forms for n in LENGTHS]
        self.op("Sum", terms, "loss")
        self.outputs.append(value("loss", "f32", []))

    def op(self, kind, inputs, out, **attributes):
        self.nodes.append(node(kind, inputs, [out], out, **attributes))
        return out

    def weight(self, name, array):
        self.stored.append(tensor(name, array.astype(F32)))
        return array.astype(F32).astype(float)

    def norm(self, form, n):
        """Appends a norm of rows of n elements. Returns the name of its term of the loss, Σ y · k."""
        at, shape = f"{form}_{n}", FORMS[form]
        w = np.repeat(EQUAL[:, None], n, 1)
        w = self.weight(f"{at}.w", np.concatenate([w, self.random.standard_normal((1, n))]))
        a, b = (self.weight(f"{at}.{s}", self.random.standard_normal(n if shape == "n" else shape)) for s in ("scale", "shift"))
        k = self.random.uniform(-1, 1, (ROWS, n)).astype(F32)
        self.stored.append(tensor(f"{at}/k", k))
        if n > 1:
            self.pins += ["--pin", f"{at}.w=[-,tp]"]
        self.op("Add", ["x", f"{at}.w"], f"{at}/x")
        getattr(self, form)(at)
        self.outputs.append(value(at, "f32", [ROWS, n]))
        self.op("Mul", [at, f"{at}/k"], f"{at}/p")
        if form == "batch":
            a, b = a[:, None], b[:, None]
        self.differentiate(at, w, a, b, k.astype(float))
        return self.op("ReduceSum", [f"{at}/p"], f"{at}/sum", keepdims=0)

    def differentiate(self, at, w, a, b, k):
        c = w - w.mean(1, keepdims=True)
        c[np.ptp(w, axis=1) == 0] = 0
        inverse = 1 / np.sqrt((c * c).mean(1, keepdims=True) + float(EPSILON))
        y = c * inverse
        g = k * a
        dw = inverse * (g - g.mean(1, keepdims=True) - y * (g * y).mean(1, keepdims=True))
        size = inverse * np.abs(g).max(1, keepdims=True)
        axes = 1 if at.startswith("batch") else (0, 1) if at.startswith("instance") else 0
        self.want[at] = y * a + b, dw, size, np.sum(k * y, axes), np.sum(np.abs(k * y), axes)

    def layer(self, at):
        self.op("LayerNormalization", [f"{at}/x", f"{at}.scale", f"{at}.shift"], at, axis=-1)

    def scaled(self, at, c, variance):
        v = self.op("Add", [variance, "/epsilon"], f"{at}/ve")
        y = self.op("Div", [c, self.op("Sqrt", [v], f"{at}/root")], f"{at}/y")
        self.op("Add", [self.op("Mul", [y, f"{at}.scale"], f"{at}/ya"), f"{at}.shift"], at)

    def written(self, at):
        mean = self.op("ReduceMean", [f"{at}/x", "/last"], f"{at}/mean", keepdims=1)
        c = self.op("Sub", [f"{at}/x", mean], f"{at}/c")
        square = self.op("Pow", [c, "/two"], f"{at}/c2")
        self.scaled(at, c, self.op("ReduceMean", [square, "/last"], f"{at}/v", keepdims=1))

    def squares(self, at):
        x = f"{at}/x"
        mean = self.op("ReduceMean", [x, "/last"], f"{at}/mean", keepdims=0)
        c = self.op("Sub", [x, self.op("Unsqueeze", [mean, "/last"], f"{at}/kept")], f"{at}/c")
        square = self.op("ReduceMean", [self.op("Mul", [x, x], f"{at}/x2"), "/last"], f"{at}/m2", keepdims=0)
        v = self.op("Sub", [square, self.op("Mul", [mean, mean], f"{at}/2m")], f"{at}/v")
        self.scaled(at, c, self.op("Unsqueeze", [v, "/last"], f"{at}/kept_v"))

    def reshaped(self, at, shape, kind, **attributes):
        x = self.op("Reshape", [f"{at}/x", shape], f"{at}/3")
        y = self.op(kind, [x, f"{at}.scale", f"{at}.shift"], f"{at}/y", **attributes)
        self.op("Reshape", [y, "/rows"], at)

    def group(self, at):
        self.reshaped(at, "/tall", "GroupNormalization", num_groups=1)

    def instance(self, at):
        self.reshaped(at, "/wide", "InstanceNormalization")

    def batch(self, at):
        x = self.op("Transpose", [f"{at}/x"], f"{at}/t", perm=[1, 0])
        self.stored += [tensor(f"{at}/{s}", np.ones(ROWS, F32)) for s in ("running_mean", "running_var")]
        inputs = [x, f"{at}.scale", f"{at}.shift", f"{at}/running_mean", f"{at}/running_var"]
        self.op("Transpose", [self.op("BatchNormalization", inputs, f"{at}/y", training_mode=1)], at, perm=[1, 0])


class Norms:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks
        write_data(work / "data", {"x": np.zeros((ROWS, 1), F32)})

    def program(self, name, ranks, options):
        forms = [form for form in FORMS if form != "squares" or "--no-fuse" not in options]
        self.net = Net(forms)
        data = model(self.net.nodes, [value("x", "f32", [ROWS, 1])], self.net.outputs, self.net.stored, opset=21)
        (self.work / f"{name}.onnx").write_bytes(data)
        start, options = mpirun(ranks) if ranks > 1 else [], [*options, *(self.net.pins if ranks > 1 else [])]
        train = ["--loss", "loss", "--optimizer", "sgd", "--cc", QUICK_CC]
        run(self.shardcc, f"{name}.onnx", *train, *options, cwd=self.work)
        if ranks > 1:
            text = run(self.shardcc, f"{name}.onnx", *train, *options, "--dump-after", "partition", cwd=self.work)
            shared = set(re.findall(rf'f32\[{ROWS}\] = all_reduce.* from "(\w+_1000)[/"]', text))
            self.checks.check(f"{name}: ranks share rows", len(shared) == len(forms), str(shared))
        command = [*start, f"./{name}", "--quiet"]
        run(*command, "--data", "data", "--save-gradients", f"{name}.g", cwd=self.work, env=MPI_ENV)
        run(*command, "--predict", "data", "-o", f"{name}.npz", cwd=self.work, env=MPI_ENV)
        found, gradients = np.load(self.work / f"{name}.npz"), read_safetensors(self.work / f"{name}.g")
        for form in forms:
            for at in [f"{form}_{n}" for n in LENGTHS]:
                rounding = 0
                if form == "batch":
                    rounding = ROUNDING * np.append(EQUAL, 1) / np.sqrt(EPSILON)
                else:
                    self.output(f"{name}: {at}", found[at], *self.net.want[at][:1])
                self.gradient(f"{name}: {at}", gradients[f"{at}.w"], gradients[f"{at}.scale"], self.net.want[at], rounding)

    def output(self, name, found, want):
        error = np.abs(found - want)
        self.checks.check(f"{name}: equal elements", (found[:-1] == want[:-1].astype(F32)).all(), str(error.max(1)))
        self.checks.check(f"{name}: other elements", (error[-1] <= 1e-5 * np.abs(want[-1]).max()).all(), str(error[-1].max()))

    def gradient(self, name, dw, scale, want, rounding):
        """Compares what is relative to the terms of sums; `rounding` is allowed in the normalized values of each row."""
        _, of_w, size, of_scale, terms = want
        error = np.abs(dw - of_w).max(1) / size[:, 0]
        self.checks.check(f"{name}: gradient", (error <= 1e-5 + 2 * rounding).all(), str(error))
        error = np.abs(scale - of_scale)
        self.checks.check(f"{name}: gradient of the scale", (error <= 1e-5 * terms + 1e-6 + rounding * dw.shape[1]).all(), str(error))


def test(norms):
    for program in PROGRAMS:
        norms.program(*program)


if __name__ == "__main__":
    test_in_folder(Norms, test)
