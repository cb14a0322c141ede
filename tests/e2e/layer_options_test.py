#!/usr/bin/env python3
"""Options by which the layers of one repeated block differ, against numpy: the block stays right, whatever is joined.

  layer_options_test.py --shardcc build/shardcc [--all]

Each layer is tanh(h w' + b + table[ids]). Options name parameters by their names, by globs and by numbers of layers. They
choose what is frozen, what doesn't decay, which row of a table is padding, how a parameter is stored and what runs again.
Each case trains three steps on one rank and on two; the weights are compared with those of a reference in f64. By
default a part of the cases runs on two ranks.
"""
import argparse
import itertools
import tempfile
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_safetensors, relative, run, side_by_side, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

LAYERS, BATCH, SIZE, ROWS, STEPS = 4, 4, 6, 5, 3
LR, DECAY, BETAS, EPS = 0.05, 0.5, (0.9, 0.999), 1e-4
BOUND = 2e-5

# What a case gives to --no-decay, --freeze and --padding-index, and its other options.
CASES = [
    ("one layer doesn't decay", {"no_decay": ["layers.2.w"]}),
    ("the first layer doesn't decay", {"no_decay": ["layers.0.*"]}),
    ("the last layer doesn't decay", {"no_decay": ["layers.3.*"]}),
    ("a part of two layers doesn't decay", {"no_decay": ["layers.1.w", "layers.3.b"]}),
    ("all biases don't decay", {"no_decay": ["*.b"]}),
    ("all don't decay", {"no_decay": ["*"]}),
    ("numbers of layers", {"no_decay": ["layers.[1.*", "layers.?.table", "layers.1.b"]}),
    ("one layer is frozen", {"freeze": ["layers.2.*"]}),
    ("a part of a layer is frozen", {"freeze": ["layers.2.b"]}),
    ("the first two layers are frozen", {"freeze": ["layers.0.*", "layers.1.*"]}),
    ("biases are frozen, weights don't decay", {"freeze": ["*.b"], "no_decay": ["layers.3.w"]}),
    ("one table has padding", {"padding": {"layers.2.table": 3}}),
    ("tables have other padding", {"padding": {"layers.1.table": 0, "layers.2.table": 4}}),
    ("all tables have padding", {"padding": {"layers.*.table": 1}}),
    ("all three", {"no_decay": ["layers.1.w"], "freeze": ["layers.3.b"], "padding": {"layers.2.table": 2}}),
    ("one layer doesn't decay, clipped", {"no_decay": ["layers.2.w"], "clip": 0.05}),
    ("one layer doesn't decay, micro-batches", {"no_decay": ["layers.2.*"], "more": ["--accumulate", "2"]}),
    ("one layer doesn't decay, unfused", {"no_decay": ["layers.2.w"], "more": ["--no-fuse"]}),
    ("one layer doesn't decay, all runs again", {"no_decay": ["layers.2.w"], "more": ["--recompute", "full"]}),
    ("a layer runs again", {"no_decay": ["layers.2.b"], "more": ["--recompute", "layers=1"]}),
    ("one layer doesn't decay, sgd", {"no_decay": ["layers.2.w"], "optimizer": "sgd"}),
    ("one layer is pinned", {"ranks": 2, "more": ["--mesh", "dp=2", "--pin", "layers.2.w=[dp,-]"]}),
    ("one layer is pinned and doesn't decay", {"ranks": 2, "no_decay": ["layers.1.*"], "more": ["--mesh", "dp=2", "--pin", "layers.2.w=[-,dp]"]}),
    ("a layer's update is split", {"ranks": 2, "no_decay": ["layers.2.w"], "more": ["--plan-preset", "zero1"]}),
    ("a layer's parameters are split", {"ranks": 2, "no_decay": ["layers.2.w"], "more": ["--plan-preset", "fsdp"]}),
]
ON_TWO_RANKS = {"one layer doesn't decay", "one layer is frozen", "one table has padding", "all three"}


def write_model(path, weights):
    """The model, with a module for each layer."""
    nodes, last = [], "x"
    for i in range(LAYERS):
        scope, p = ["layers", f"layers.{i}"], f"layers.{i}."
        nodes += [
            node("Transpose", [p + "w"], [f"wt{i}"], f"transpose{i}", scope, perm=[1, 0]),
            node("MatMul", [last, f"wt{i}"], [f"xw{i}"], f"product{i}", scope),
            node("Add", [f"xw{i}", p + "b"], [f"xb{i}"], f"bias{i}", scope),
            node("Gather", [p + "table", "ids"], [f"rows{i}"], f"rows{i}", scope),
            node("Add", [f"xb{i}", f"rows{i}"], [f"sum{i}"], f"sum{i}", scope),
            node("Tanh", [f"sum{i}"], ["y" if i == LAYERS - 1 else f"h{i}"], f"tanh{i}", scope),
        ]
        last = f"h{i}"
    inputs = [value("x", "f32", [BATCH, SIZE]), value("ids", "i64", [BATCH])]
    stored = [tensor(name, array) for name, array in weights.items()]
    path.write_bytes(model(nodes, inputs, [value("y", "f32", [BATCH, SIZE])], stored))


def is_named(globs, name):
    """[ is a letter like any other: globs have * and ? alone."""
    return any(fnmatchcase(name, g.replace("[", "[[]")) for g in globs)


def gradients(w, x, ids, t, case):
    h = [x]
    for i in range(LAYERS):
        h.append(np.tanh(h[-1] @ w[f"layers.{i}.w"].T + w[f"layers.{i}.b"] + w[f"layers.{i}.table"][ids]))
    d, g = 2 * (h[-1] - t) / t.size, {}
    for i in reversed(range(LAYERS)):
        d = d * (1 - h[i + 1] ** 2)
        rows = np.zeros((ROWS, SIZE))
        np.add.at(rows, ids, d)
        for glob, row in case.get("padding", {}).items():
            if is_named([glob], f"layers.{i}.table"):
                rows[row] = 0
        g |= {f"layers.{i}.w": d.T @ h[i], f"layers.{i}.b": d.sum(0), f"layers.{i}.table": rows}
        d = d @ w[f"layers.{i}.w"]
    return {name: x for name, x in g.items() if not is_named(case.get("freeze", []), name)}


def train(weights, data, case):
    """The weights after the steps, as torch.optim.AdamW and SGD make them."""
    w = {name: x.astype(np.float64) for name, x in weights.items()}
    m, v = ({name: 0 for name in w} for _ in range(2))
    for step in range(1, STEPS + 1):
        part = slice((step - 1) * BATCH, step * BATCH)
        g = gradients(w, data["x"][part].astype(np.float64), data["ids"][part], data["t"][part], case)
        scale = min(1, case.get("clip", np.inf) / (np.sqrt(sum((x**2).sum() for x in g.values())) + 1e-6))
        for name, d in g.items():
            d, decay = d * scale, 0 if is_named(case.get("no_decay", []), name) else DECAY
            if case.get("optimizer") == "sgd":
                w[name] = w[name] - LR * (d + decay * w[name])
                continue
            m[name] = BETAS[0] * m[name] + (1 - BETAS[0]) * d
            v[name] = BETAS[1] * v[name] + (1 - BETAS[1]) * d**2
            root = np.sqrt(v[name] / (1 - BETAS[1] ** step)) + EPS
            w[name] = w[name] * (1 - LR * decay) - LR * m[name] / (1 - BETAS[0] ** step) / root
    return w


def options_of(case, ranks):
    optimizer = case.get("optimizer", "adamw")
    eps = f", eps={EPS}" * (optimizer == "adamw")
    options = ["--loss", "mse(y, t)", "--optimizer", f"{optimizer}(lr={LR}, weight_decay={DECAY}{eps})"]
    for flag, key in (("--no-decay", "no_decay"), ("--freeze", "freeze")):
        for glob in case.get(key, []):
            options += [flag, glob]
    for glob, row in case.get("padding", {}).items():
        options += ["--padding-index", f"{glob}={row}"]
    if "clip" in case:
        options += ["--clip-norm", case["clip"]]
    if ranks > 1:
        options += ["--ranks", ranks]
    return options + case.get("more", [])


def test(checks, shardcc, work, weights, number, name, case, ranks):
    trainer = work / f"trainer{number}_{ranks}"
    name = f"{name}, {ranks} rank{'s' * (ranks > 1)}"
    try:
        run(shardcc, work / "layers.onnx", "-o", trainer, "--cc", QUICK_CC, "--verify", *options_of(case, ranks))
        launch = mpirun(ranks) if ranks > 1 else []
        batch = ["--data", work / "data", "--steps", STEPS, "--no-shuffle", "--quiet"]
        saved = work / f"saved{number}_{ranks}"
        run(*launch, trainer, *batch, "--save", saved, "--check-arena", env=MPI_ENV)
        found, expected = read_safetensors(saved), case["expected"]
        wrong = {n: f"{relative(found[n], x):.1e}" for n, x in expected.items() if relative(found[n], x) > BOUND}
        moved = [n for n in weights if is_named(case.get("freeze", []), n) and (found[n] != weights[n]).any()]
        checks.check(name, not wrong and not moved, str(wrong or moved or ""))
    except Exception as e:
        checks.check(name, False, str(e).replace("\n", " | ")[:1000])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--all", action="store_true", help="all cases on two ranks, too")
    options, checks, rng = p.parse_args(), Checks(), np.random.default_rng(0)
    shapes = {"w": (SIZE, SIZE), "b": (SIZE,), "table": (ROWS, SIZE)}
    weights = {f"layers.{i}.{n}": rng.standard_normal(s).astype(np.float32) for i, (n, s) in itertools.product(range(LAYERS), shapes.items())}
    x, t = (rng.standard_normal((STEPS * BATCH, SIZE)).astype(np.float32) for _ in range(2))
    data = {"x": x, "t": t, "ids": rng.integers(0, ROWS, STEPS * BATCH)}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_model(work / "layers.onnx", weights)
        write_data(work / "data", data)
        tests = []
        for number, (name, case) in enumerate(CASES):
            case["expected"] = train(weights, data, case)
            ranks = [case["ranks"]] if "ranks" in case else [1, 2] if options.all or name in ON_TWO_RANKS else [1]
            tests += [partial(test, checks, options.shardcc, work, weights, number, name, case, r) for r in ranks]
        side_by_side(2, *tests)
    checks.finish()


if __name__ == "__main__":
    main()
