#!/usr/bin/env python3
"""Work that the loss doesn't need leaves the training step, and the C text compiles without a warning.

  dead_work_test.py --shardcc build/shardcc

Each model has outputs that the loss doesn't use. A step of its trainer has the same items as that of the model without
these outputs, whatever options make it, and its C text compiles with -Wall -Wextra -Werror.
"""
import argparse
import re
import tempfile
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

from harness import Checks, run, side_by_side
from model import REPOSITORY

SHAPE, LAYERS = "f32[4,6]", 5
OPTIONS = [
    [],
    ["--no-fuse"],
    ["--recompute", "full"],
    ["--no-fuse", "--accumulate", "2"],
    ["--no-fuse", "--clip-norm", "1"],
    ["--memory", "1GiB"],
    ["--no-fuse", "--ranks", "2"],
    ["--ranks", "2", "--plan-preset", "zero1"],
]


def dot(to, x, w):
    return f'%{to} {SHAPE} = dot(%{x}, %{w}) eq="mk,nk->mn"'


def text(parameters, nodes, outputs):
    lines = [f"input %x {SHAPE}"] + [f"parameter %{w} f32[6,6]" for w in parameters] + nodes
    return 'graph "g" {\n  ' + "\n  ".join(lines + [f'output model "{y}" %{y}' for y in outputs]) + "\n}\n"


def layers(i, last):
    """Nodes of layers i to `last`; layer i makes h(i + 1) of h(i)."""
    return [n for k in range(i, last) for n in (dot(f"a{k}", f"h{k}", f"w{k}"), f"%h{k + 1} {SHAPE} = tanh(%a{k})")]


def chain(n):
    """Layers that each read a value of the layer before that has no gradient, and end in both."""
    nodes, h, c = [], "x", "x"
    for i in range(n):
        nodes += [dot(f"a{i}", h, f"w{i}"), f"%s{i} {SHAPE} = add(%a{i}, %{c})", f"%h{i} {SHAPE} = tanh(%s{i})", f"%c{i} {SHAPE} = sin(%{c})"]
        h, c = f"h{i}", f"c{i}"
    return nodes


W = [f"w{i}" for i in range(LAYERS)]
FIRST = [f"%h0 {SHAPE} = abs(%x)"]
# Name; the model; the model without the work that the loss doesn't need; the loss.
MODELS = [
    (
        "another head",
        text(["w", "v"], [dot("y", "x", "w"), dot("z", "y", "v"), f"%tz {SHAPE} = tanh(%z)"], ["y", "tz"]),
        text(["w", "v"], [dot("y", "x", "w")], ["y"]),
        "mse(y, t)",
    ),
    ("an output of the loss's own work", text(["w"], [dot("y", "x", "w"), f"%z {SHAPE} = exp(%y)"], ["y", "z"]), text(["w"], [dot("y", "x", "w")], ["y"]), "mse(y, t)"),
    ("layers after the loss", text(W, FIRST + layers(0, LAYERS), ["h3", f"h{LAYERS}"]), text(W, FIRST + layers(0, 3), ["h3"]), "mse(h3, t)"),
    ("outputs of all layers", text(W, FIRST + layers(0, LAYERS), [f"h{i + 1}" for i in range(LAYERS)]), text(W, FIRST + layers(0, LAYERS), [f"h{LAYERS}"]), f"mse(h{LAYERS}, t)"),
    (
        "what the next layer would read",
        text(W, chain(LAYERS) + [f"%z {SHAPE} = add(%h{LAYERS - 1}, %c{LAYERS - 1})"], ["z"]),
        text(W, chain(LAYERS), [f"h{LAYERS - 1}"]),
        f"mse(h{LAYERS - 1}, t)",
    ),
]


def train_items(program):
    """The kinds of the training functions' items, and the operators of kernels, sorted."""
    train = "\n".join(part for part in re.split(r"^(?=train |predict |calls)", program, flags=re.M) if re.match("train (micro|reduce|update)", part))
    return sorted(re.findall(r"^ +\d+ +((?:kernel )?\w+)", train, re.M))


def test(checks, shardcc, work, number, case, options):
    name, whole, lean, loss = case
    label = f"{name}{', ' if options else ''}{' '.join(options)}"
    try:
        arguments = ["--loss", loss, "--optimizer", "adamw", "--verify", *options]
        items = []
        for tag, model in (("whole", whole), ("lean", lean)):
            path = work / f"{number}_{tag}.ir"
            path.write_text(model)
            run(shardcc, path, *arguments, "--emit", "program", "-o", work / f"{number}_{tag}.program")
            items.append(train_items((work / f"{number}_{tag}.program").read_text()))
        checks.check(f"{label}: items", items[0] and items[0] == items[1], str(Counter(items[0]) - Counter(items[1])))
        c = work / f"{number}.c"
        run(shardcc, work / f"{number}_whole.ir", *arguments, "--emit", "c", "-o", c)
        run("cc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", REPOSITORY, "-I", REPOSITORY / "runtime", c)
        checks.check(f"{label}: no warning", True)
    except Exception as e:
        checks.check(label, False, str(e).replace("\n", " | ")[:1000])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    shardcc, checks = p.parse_args().shardcc, Checks()
    with tempfile.TemporaryDirectory() as folder:
        cases = enumerate(product(MODELS, OPTIONS))
        side_by_side(2, *(partial(test, checks, shardcc, Path(folder), i, m, o) for i, (m, o) in cases))
    checks.finish()


if __name__ == "__main__":
    main()
