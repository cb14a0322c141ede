#!/usr/bin/env python3
"""Attention with rows that see no key: programs, fused and not, on one rank and on two, against plain loops in numpy.

  masks_test.py --shardcc build/shardcc [--onnxruntime]

A model has all ways to mask with all numbers side by side, each with weights of its own. Queries, keys and values are
multiples of 1/4, so that scores are exact. Outputs are compared, and the gradients of a step of those that are numbers.
--onnxruntime also compares outputs with ONNX Runtime, where it is installed.
"""
import argparse
import tempfile
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_safetensors, run, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

B, S, D = 4, 4, 4
LOWEST = float(np.finfo(np.float32).min)
NUMBERS = {"-inf": -np.inf, "min": LOWEST, "-1e9": -1e9, "-1e4": -1e4}
F32 = np.float32


class Builder:
    """Nodes of one way to mask, and what they compute: every value is a name and an array."""

    def __init__(self, way, inputs, nodes, initializers):
        self.way, self.inputs, self.nodes, self.initializers, self.n = way, inputs, nodes, initializers, 0

    def name(self):
        self.n += 1
        return f"{self.way}/{self.n}"

    def op(self, kind, args, array, **attributes):
        out = self.name()
        self.nodes.append(node(kind, [a[0] for a in args], [out], out, **attributes))
        return out, array

    def constant(self, array):
        return self.op("Constant", [], array, value=np.asarray(array))

    def where(self, c, a, b):
        return self.op("Where", [c, a, b], np.where(c[1], a[1], b[1]).astype(F32))

    def number(self, x):
        return self.constant(F32(x))

    def add(self, a, b):
        with np.errstate(over="ignore"):
            return self.op("Add", [a, b], a[1] + b[1])

    def mul(self, a, b):
        return self.op("Mul", [a, b], a[1] * b[1])

    def sub(self, a, b):
        return self.op("Sub", [a, b], a[1] - b[1])

    def negated(self, c):
        return self.op("Not", [c], ~c[1])

    def cast(self, c):
        return self.op("Cast", [c], c[1].astype(F32), to=1)

    def limit(self, low, high):
        d = np.arange(S)[None, :] - np.arange(S)[:, None]
        return self.constant((low <= d) & (d <= high))


# Each takes a builder, the scores and the number, and returns the masked scores. kmask: [B,1,T], qmask: [B,S,1].
def strict(b, s, n):
    return b.where(b.limit(-S, -1), s, b.number(n))


def window(b, s, n):
    return b.add(s, b.where(b.limit(-2, -1), b.number(0), b.number(n)))


def by_key(b, s, n):
    return b.where(b.inputs["kmask"], s, b.number(n))


def filled(b, s, n):
    return b.where(b.negated(b.inputs["kmask"]), b.number(n), s)


def added(b, s, n):
    return b.add(s, b.where(b.inputs["kmask"], b.number(0), b.number(n)))


def product(b, s, n):
    return b.add(s, b.mul(b.sub(b.number(1), b.cast(b.inputs["kmask"])), b.number(n)))


def multiplied(b, s, n):
    keep = b.cast(b.inputs["kmask"])
    return b.add(b.mul(s, keep), b.mul(b.sub(b.number(1), keep), b.number(n)))


def gpt2(b, s, n):
    return product(b, b.where(b.limit(-S, 0), s, b.number(n)), n)


def sums(b, s, n):
    return added(b, b.add(s, b.where(b.limit(-S, 0), b.number(0), b.number(n))), n)


def joint(b, s, n):
    causal = b.where(b.limit(-S, 0), b.number(0), b.number(n))
    return b.add(s, b.where(b.inputs["kmask"], causal, b.number(n)))


def nested(b, s, n):
    return b.where(b.inputs["kmask"], b.where(b.limit(-S, 0), s, b.number(-1e4)), b.number(n))


def by_query(b, s, n):
    return b.where(b.inputs["qmask"], b.where(b.limit(-S, 0), s, b.number(n)), b.number(n))


def guarded(b, s, n):
    return added(b, s, n)


WAYS = [strict, window, by_key, filled, added, product, multiplied, gpt2, sums, joint, nested, by_query, guarded]
PRODUCTS = [product, multiplied, gpt2]


def attention(b, x, n, wq, wk, wv):
    """Appends the nodes of one attention. Returns y, and what its gradient needs."""
    q, k, v = (b.op("MatMul", [x, w], x[1] @ w[1]) for w in (wq, wk, wv))
    kt = b.op("Transpose", [k], k[1].transpose(0, 2, 1), perm=[0, 2, 1])
    s = b.mul(b.op("MatMul", [q, kt], q[1] @ kt[1]), b.number(0.5))
    way = b.way.split("/")[0]
    masked = next(f for f in WAYS if f.__name__ == way)(b, s, n)
    with np.errstate(all="ignore"):
        m = masked[1].astype(float)
        e = np.exp(m - m.max(-1, keepdims=True))
        p = e / e.sum(-1, keepdims=True)
    if way == "guarded" and n <= LOWEST:  # exporters write the lowest number instead of -inf
        p = np.where((~b.inputs["kmask"][1]).all(-1, keepdims=True), 0, p)
    out = b.op("Softmax", [masked], p, axis=-1)
    if way == "guarded":
        out = b.where(b.op("IsNaN", [out], np.isnan(p)), b.number(0), out)
        out = (out[0], np.nan_to_num(p))
    y = b.way.replace("/", "_")
    b.nodes.append(node("MatMul", [out[0], v[0]], [y], y))
    return (y, out[1] @ v[1]), (q[1], k[1], v[1], out[1], s[1], masked[1])


def flows(way, inputs):
    """Where the gradient of a masked score is that of the score."""
    causal = np.tril(np.ones((S, S), bool))[None]
    k, q = inputs["kmask"][1], inputs["qmask"][1]
    ways = {
        strict: np.tril(np.ones((S, S), bool), -1)[None], by_key: k, filled: k, multiplied: k, gpt2: causal,
        nested: causal & k, by_query: causal & q,
    }
    return ways.get(way, np.ones((1, S, S), bool))


def gradients(x, weights, saved, dy, stays):
    q, k, v, p, _, _ = (a.astype(float) for a in saved)
    dp = dy @ v.transpose(0, 2, 1)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * stays * 0.5
    xt = x.astype(float).reshape(-1, D).T
    d = {"wq": ds @ k, "wk": ds.transpose(0, 2, 1) @ q, "wv": p.transpose(0, 2, 1) @ dy}
    return {name: xt @ g.reshape(-1, D) for name, g in d.items()}


def quarters(random, *shape):
    return (random.integers(-4, 5, shape) / 4).astype(F32)


def build():
    """The file, its inputs, its outputs, and the gradients of mse over those that are numbers."""
    random = np.random.default_rng(1)
    kmask = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]], bool)
    qmask = np.array([[0, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]], bool)
    x = quarters(random, B, S, D)
    inputs = {"x": ("x", x), "kmask": ("kmask", kmask[:, None]), "qmask": ("qmask", qmask[:, :, None])}
    nodes, initializers, outputs, whole, saved = [], [], {}, [], {}
    for way in WAYS:
        for name, n in NUMBERS.items():
            if n == -np.inf and way in PRODUCTS:
                continue
            b = Builder(f"{way.__name__}/{name}", inputs, nodes, initializers)
            weights = {k: (f"{b.way}/{k}", quarters(random, D, D)) for k in ("wq", "wk", "wv")}
            initializers += [tensor(*w) for w in weights.values()]
            y, kept = attention(b, inputs["x"], n, *weights.values())
            outputs[y[0]] = y[1]
            if np.isfinite(y[1]).all():
                whole.append(y)
                saved[b.way] = (way, weights, kept, len(whole) - 1)
    nodes.append(node("Concat", [y[0] for y in whole], ["all"], "all", axis=2))
    together = np.concatenate([y[1] for y in whole], 2)
    target = quarters(random, *together.shape)
    dy = 2 * (together - target) / together.size
    grads = {}
    for name, (way, weights, kept, at) in saved.items():
        g = gradients(x, weights, kept, dy[:, :, at * D : at * D + D], flows(way, inputs))
        grads |= {f"{name}/{k}": v for k, v in g.items()}
    ends = [value("all", "f32", ["batch", S, together.shape[2]])]
    ends += [value(y, "f32", ["batch", S, D]) for y in outputs]
    given = [value("x", "f32", ["batch", S, D]), value("kmask", "bool", ["batch", 1, S]), value("qmask", "bool", ["batch", S, 1])]
    data = {"x": x, "kmask": inputs["kmask"][1], "qmask": inputs["qmask"][1], "t": target}
    return model(nodes, given, ends, initializers), data, outputs, grads


def same(found, expected, limit):
    found = np.asarray(found, float).reshape(expected.shape)
    is_nan = np.isnan(expected)
    return np.array_equal(np.isnan(found), is_nan) and np.allclose(found[~is_nan], expected[~is_nan], 0, limit)


def check(checks, tag, found, expected, limit):
    wrong = [n for n, e in expected.items() if not same(found[n], e, limit)]
    checks.check(f"{tag}: {len(expected)} arrays", not wrong, " ".join(wrong[:8]))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--onnxruntime", action="store_true", help="compare with ONNX Runtime, too")
    o, checks = p.parse_args(), Checks()
    shardcc = o.shardcc.resolve()
    data, arrays, outputs, grads = build()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "m.onnx").write_bytes(data)
        write_data(work / "data", arrays)
        for ranks in (1, 2):
            for more in ((), ("--no-fuse",)):
                tag = f"{ranks} rank{'s' * (ranks > 1)}{', unfused' if more else ''}"
                train = ["m.onnx", "--bind", f"batch={B}", "--loss", "mse(all, t)", "--optimizer", "sgd", "--cc", QUICK_CC, "-o", "m"]
                run(shardcc, *train, *more, *(("--ranks", 2, "--plan-preset", "ddp") if ranks == 2 else ()), cwd=work)
                start = mpirun(2) if ranks == 2 else []
                run(*start, "./m", "--data", "data", "--steps", 1, "--save-gradients", "g.safetensors", "--quiet", cwd=work, env=MPI_ENV)
                check(checks, f"gradients, {tag}", read_safetensors(work / "g.safetensors"), grads, 2e-6)
                run(*start, "./m", "--predict", "data", "-o", "y.npz", "--quiet", cwd=work, env=MPI_ENV)
                check(checks, f"outputs, {tag}", np.load(work / "y.npz"), outputs, 3e-6)
    if o.onnxruntime:
        import onnxruntime

        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        found = dict(zip(outputs, session.run(list(outputs), {n: a for n, a in arrays.items() if n != "t"})))
        # The lowest number instead of -inf is a mean by the letter of the file.
        check(checks, "ONNX Runtime", found, {n: y for n, y in outputs.items() if not n.startswith("guarded_min")}, 3e-6)
    checks.finish()


if __name__ == "__main__":
    main()
