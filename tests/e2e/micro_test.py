#!/usr/bin/env python3
"""Losses that the model itself makes, with --accumulate: those that are sums over samples train as without it; others are refused,
with the node and its module, and --accumulate auto then chooses 1.

  micro_test.py --shardcc build/shardcc [--work DIR]

tests/ir/micro_test.c has the forms. Here are whole programs, also on two ranks and for the tests' GPU.
"""
import re
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_log, read_safetensors, relative, run, side_by_side, write_data
from model import QUICK_CC, gpu_toolkit, parser
from onnx_bytes import model, node, tensor, value

BATCH, STEPS, WIDE = 4, 4, 5
SCOPE = ["net", "net.loss"]


def f32(x):
    return np.float32(x)


# The nodes that make the loss `l` of e [batch, WIDE], the errors of each sample, and m [batch, WIDE], a mask.
SUM = [node("ReduceSum", ["e"], ["l"], "sum", keepdims=0)]
MEAN = [node("ReduceMean", ["e"], ["l"], "mean", keepdims=0)]
MASKED = [node("Mul", ["e", "m"], ["em"], "mask"), node("ReduceSum", ["em"], ["s"], "sum", keepdims=0), node("ReduceSum", ["m"], ["c"], "count", keepdims=0)]
RATIO = [*MASKED, node("Div", ["s", "c"], ["l"], "ratio")]
CLAMPED = [*MASKED, node("Max", ["c", "forty"], ["c2"], "clamp"), node("Div", ["s", "c2"], ["l"], "ratio")]
LITTLE = [*MASKED, node("Add", ["c", "tenth"], ["c2"], "little"), node("Div", ["s", "c2"], ["r"], "ratio"), node("Mul", ["r", "tenth"], ["l"], "scale")]
MEANS = [node("Mul", ["e", "m"], ["em"], "mask"), node("ReduceMean", ["em"], ["s"], "sum", keepdims=0), node("ReduceMean", ["m"], ["c"], "count", keepdims=0),
         node("Div", ["s", "c"], ["l"], "ratio")]  # fmt: skip
DECAY = [node("ReduceMean", ["e"], ["a"], "mean", keepdims=0), node("Mul", ["w", "w"], ["w2"], "squares"), node("ReduceSum", ["w2"], ["ws"], "norm", keepdims=0),
         node("Mul", ["ws", "tenth"], ["d"], "decay"), node("Add", ["a", "d"], ["l"], "total")]  # fmt: skip
ACCEPTED = {"sum": SUM, "mean": MEAN, "masked": RATIO, "clamped": CLAMPED, "scaled": LITTLE, "means": MEANS, "decay": DECAY}
# The node that is named.
REFUSED = {
    "contrast": ("dot", [node("MatMul", ["e", "et"], ["dots"], "dot", SCOPE), node("ReduceMean", ["dots"], ["l"], "mean", keepdims=0)]),
    "root": ("root", [node("ReduceMean", ["e"], ["a"], "mean", keepdims=0), node("Sqrt", ["a"], ["l"], "root", SCOPE)]),
    "balance": ("product", [node("ReduceMean", ["e", "first"], ["f"], "share", keepdims=0), node("Mul", ["f", "f"], ["ff"], "product", SCOPE),
                            node("ReduceSum", ["ff"], ["l"], "sum", keepdims=0)]),
    "mixed": ("ratio", [*MASKED, node("Div", ["s", "c"], ["r"], "ratio", SCOPE), node("ReduceMean", ["e"], ["a"], "mean", keepdims=0),
                        node("Add", ["a", "r"], ["l"], "total")]),
    "sums": ("total", [node("ReduceSum", ["e"], ["s"], "sum", keepdims=0), node("ReduceMean", ["em"], ["a"], "mean", keepdims=0),
                       node("Add", ["s", "a"], ["l"], "total", SCOPE)]),
}  # fmt: skip


def write_model(path, loss):
    dice = np.random.default_rng(0)
    stored = [tensor("w", f32(dice.normal(size=(3, WIDE)))), tensor("b", f32(dice.normal(size=WIDE))), tensor("val_tenth", f32(0.1)), tensor("val_forty", f32(40)),
              tensor("first", np.int64([0]))]  # fmt: skip
    nodes = [node("Identity", ["val_tenth"], ["tenth"], "tenth"), node("Identity", ["val_forty"], ["forty"], "forty"), node("MatMul", ["x", "w"], ["z"], "mm"),
             node("Add", ["z", "b"], ["zb"], "bias"), node("Tanh", ["zb"], ["y"], "tanh"), node("Mul", ["y", "y"], ["e"], "square"),
             node("Mul", ["e", "m"], ["em"], "masked") if "sums" in path.stem else node("Identity", ["e"], ["unused"], "unused"),
             node("Transpose", ["e"], ["et"], "transpose", perm=[1, 0]), *loss]  # fmt: skip
    path.write_bytes(model(nodes, [value("x", "f32", ["batch", 3]), value("m", "f32", ["batch", WIDE])], [value("l", "f32", [])], stored))


def compile_args(shardcc, path, out, *options):
    return [shardcc, path, "-o", out, "--cc", QUICK_CC, "--bind", f"batch={BATCH}", "--loss", "l", "--optimizer", "sgd(lr=0.1)", *options]


class Case:
    def __init__(self, checks, shardcc, work, toolkit):
        self.checks, self.shardcc, self.work, self.toolkit = checks, shardcc, work, toolkit
        dice = np.random.default_rng(1)
        mask = dice.integers(0, 2, (STEPS * BATCH, WIDE))
        mask[2:4] = 0  # a micro-batch without any
        self.data = work / "data"
        write_data(self.data, {"x": f32(dice.normal(size=(STEPS * BATCH, 3))), "m": f32(mask)})

    def train(self, name, loss, tag, *options, ranks=1):
        path = self.work / f"{name}.onnx"
        program = self.work / f"{name}_{tag}"
        run(*compile_args(self.shardcc, path, program, *options))
        launch = mpirun(ranks) if ranks > 1 else []
        files = [program.with_suffix(x) for x in (".jsonl", ".gradients", ".weights")]
        run(*launch, program, "--data", self.data, "--no-shuffle", "--quiet", "--steps", STEPS, "--log", files[0], "--save-gradients", files[1], "--save", files[2],
            env=MPI_ENV)  # fmt: skip
        return [x["loss"] for x in read_log(files[0])], read_safetensors(files[1]), read_safetensors(files[2])

    def accept(self, name, loss):
        write_model(self.work / f"{name}.onnx", loss)
        want = self.train(name, loss, "1")
        ways = {"2": ["--accumulate", 2], "4": ["--accumulate", 4], "clip": ["--accumulate", 2, "--clip-norm", 1e9]}
        if name in ("clamped", "sum"):
            ways |= {"ranks": ["--accumulate", 2, "--ranks", 2], "gpu": ["--accumulate", 2, "--target", "cuda", "--cuda", self.toolkit]}
        for tag, options in ways.items():
            found = self.train(name, loss, tag, *options, ranks=2 if tag == "ranks" else 1)
            worst = max(relative(found[0], want[0]), *(relative(f[n], w[n]) for f, w in zip(found[1:], want[1:]) for n in w))
            self.checks.check(f"{name} {tag}: as without micro-batches", worst <= 2e-5, f"{worst:.1e}")

    def refuse(self, name, at, loss):
        path, program = self.work / f"{name}.onnx", self.work / f"{name}_2"
        write_model(path, loss)
        said = run(*compile_args(self.shardcc, path, program, "--accumulate", 2), status=1)
        fine = re.match(rf"{name}.onnx: error: node '{at}' \(\w+\): --accumulate: ", said) and "\n  from  net.loss\n" in said
        self.checks.check(f"{name}: refused with node and module", fine and not program.exists(), said)
        said = run(*compile_args(self.shardcc, path, program, "--accumulate", "auto", "--memory", "1KiB"), status=4)
        self.checks.check(f"{name}: --accumulate auto", "micro-batch" not in said and "--accumulate" not in said, said)
        run(*compile_args(self.shardcc, path, program))
        self.checks.check(f"{name}: compiles without", program.exists())


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(o.work or folder).resolve()
        work.mkdir(exist_ok=True)
        c = Case(checks, o.shardcc, work, gpu_toolkit(o))
        side_by_side(o.jobs, *(partial(c.accept, *x) for x in ACCEPTED.items()), *(partial(c.refuse, n, *x) for n, x in REFUSED.items()))
    checks.finish()


if __name__ == "__main__":
    main()
