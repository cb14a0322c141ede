#!/usr/bin/env python3
"""Which data a trainer asks for: the loss says which input has its labels, and what nothing reads is not asked for.

  labels_test.py --shardcc build/shardcc [--all]

Each loss, trained, evaluated and used for prediction, with data in a folder of .npy files, in one .npy file and in a file
of tokens, for models with no, one and two inputs that nothing reads, on one rank and on two. Predictions never need
labels; labels out of range are found wherever there are any. A vocabulary of 257 on four ranks is uneven. By default
cross-entropy alone has all of these cases.
"""
import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, run, side_by_side, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, TIME, SIZE, SAMPLES = 4, 6, 8, 8
UNREAD = ["mask", "positions"]
# The loss; the name of its target; is the model one of tokens? `own`: the target is an input that the model reads, too.
LOSSES = {
    "cross_entropy": ("cross_entropy(y, labels)", True),
    "mse": ("mse(y, labels)", False),
    "l1": ("l1(y, target)", False),
    "bce_with_logits": ("bce_with_logits(y, labels)", False),
    "the model's input": ("mse(y, x)", False),
    "the model's loss": ("total", False),
}


def write_model(path, loss, unread, vocabulary):
    """Unread inputs come before the others, where a guess would find them first."""
    rng = np.random.default_rng(0)
    is_text = LOSSES[loss][1]
    extra = [value(n, "i64", [BATCH, TIME]) for n in UNREAD[:unread]]
    outputs = [value("y", "f32", [BATCH, TIME, vocabulary] if is_text else [BATCH, SIZE])]
    if is_text:
        weights = {"table": rng.standard_normal((vocabulary, SIZE)), "w": rng.standard_normal((SIZE, vocabulary))}
        nodes, inputs = [node("Gather", ["table", "x"], ["e"], "e"), node("MatMul", ["e", "w"], ["y"], "y")], [value("x", "i64", [BATCH, TIME])]
    else:
        weights = {"w": rng.standard_normal((SIZE, SIZE))}
        nodes, inputs = [node("MatMul", ["x", "w"], ["y"], "y")], [value("x", "f32", [BATCH, SIZE])]
    if loss == "the model's loss":
        nodes += [node("Sub", ["y", "wanted"], ["d"], "d"), node("Mul", ["d", "d"], ["dd"], "dd"), node("ReduceMean", ["dd"], ["total"], "total", keepdims=0)]
        inputs += [value("wanted", "f32", [BATCH, SIZE])]
        outputs += [value("total", "f32", [])]
    stored = [tensor(n, a.astype(np.float32)) for n, a in weights.items()]
    path.write_bytes(model(nodes, extra + inputs, outputs, stored))


def arrays(loss, vocabulary):
    rng = np.random.default_rng(1)
    if LOSSES[loss][1]:
        return {n: rng.integers(0, vocabulary, (SAMPLES, TIME)) for n in ("x", "labels")}
    x, t = (rng.standard_normal((SAMPLES, SIZE)).astype(np.float32) for _ in range(2))
    return {"x": x} if "input" in loss else {"x": x, "wanted": t} if "loss" in loss else {"x": x, "target" if loss == "l1" else "labels": t}


class Case:
    def __init__(self, checks, shardcc, folder, loss, unread, ranks, vocabulary):
        self.checks, self.ranks, self.loss = checks, ranks, loss
        self.name = f"{loss}, {unread} unread, {ranks} rank{'s' * (ranks > 1)}" + f", {vocabulary} tokens" * (vocabulary > 16)
        self.work = folder / f"{loss}_{unread}_{ranks}".replace(" ", "_").replace("'", "")
        self.work.mkdir()
        write_model(self.work / "m.onnx", loss, unread, vocabulary)
        more = ["--ranks", ranks] if ranks > 1 else []
        said = run(shardcc, "m.onnx", "-o", "m", "--cc", QUICK_CC, "--loss", LOSSES[loss][0], "--optimizer", "sgd", *more, cwd=self.work)
        named = [f"'{n}'" for n in UNREAD[:unread]]
        warning = f"nothing reads the input{'s' * (unread > 1)} {', '.join(named)}: no data is asked for {'them' if unread > 1 else 'it'}"
        self.check("warning", said.count("warning") == (unread > 0) and (not unread or warning in said), said)
        self.data, self.vocabulary = arrays(loss, vocabulary), vocabulary
        write_data(self.work / "all", self.data)
        # What no output depends on is not needed.
        self.for_outputs = {n: a for n, a in self.data.items() if n in ("x", "wanted")}
        write_data(self.work / "some", self.for_outputs)
        np.save(self.work / "x.npy", self.data["x"])

    def check(self, what, ok, detail=""):
        self.checks.check(f"{self.name}: {what}", ok, "" if ok else str(detail).replace("\n", " | ")[:600])

    def run(self, what, *args, status=0):
        launch = mpirun(self.ranks) if self.ranks > 1 else []
        try:
            said = run(*launch, "./m", *args, "--quiet", "--check-arena", cwd=self.work, env=MPI_ENV, status=status)
            self.check(what, True)
            return said
        except Exception as e:
            self.check(what, False, e)
            return ""

    def folders(self):
        self.run("train on a folder", "--data", "all", "--steps", 2)
        self.run("evaluate a folder", "--eval-data", "all")
        self.run("predict from a folder", "--predict", "some", "-o", "out.npz")
        x, w = self.data["x"], None
        if (self.work / "out.npz").exists():
            y = np.load(self.work / "out.npz")["y"]
            self.check("predictions", len(y) == len(x) and np.isfinite(y).all() and np.abs(y).max() > 0)

    def single(self):
        """One .npy file serves the only input."""
        needs_all = 1 if len(self.data) > 1 else 0
        said = self.run("train on one file", "--data", "x.npy", "--steps", 1, status=needs_all)
        self.check("train on one file: message", not needs_all or "the model has 2 inputs" in said, said)
        self.run("evaluate one file", "--eval-data", "x.npy", status=needs_all)
        self.run("predict from one file", "--predict", "x.npy", "-o", "one.npz", status=len(self.for_outputs) > 1)

    def tokens(self):
        if not LOSSES[self.loss][1]:
            return
        wide = np.uint16 if self.vocabulary > 256 else np.uint8
        (self.work / "t.bin").write_bytes(np.arange(TIME * SAMPLES + 1).astype(wide).tobytes())
        (self.work / "t.bin").write_bytes((np.arange(TIME * SAMPLES + 1) % 16).astype(wide).tobytes())
        self.run("train on tokens", "--data", "t.bin", "--steps", 1)
        self.run("evaluate tokens", "--eval-data", "t.bin")
        self.run("predict from tokens", "--predict", "t.bin", "-o", "t.npz")
        bad = self.data["labels"].copy()
        bad[1, 2] = self.vocabulary
        write_data(self.work / "bad", {**self.data, "labels": bad})
        for use in "--data", "--eval-data":
            said = self.run(f"a bad label in {use}", use, "bad", "--no-shuffle" if use == "--data" else "--seed=1", status=1)
            self.check(f"a bad label in {use}: message", f"label {self.vocabulary} is out of range" in said and "labels.npy" in said or "sample 1" in said, said)


def test(checks, shardcc, folder, loss, unread, ranks, vocabulary=16):
    try:
        case = Case(checks, shardcc, folder, loss, unread, ranks, vocabulary)
        case.folders()
        case.single()
        case.tokens()
    except Exception as e:
        checks.check(f"{loss}, {unread} unread, {ranks} ranks", False, str(e).replace("\n", " | ")[:600])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--all", action="store_true", help="all cases of every loss")
    options, checks = p.parse_args(), Checks()
    shardcc = options.shardcc
    with tempfile.TemporaryDirectory() as folder:
        every = [(loss, unread, ranks) for loss in LOSSES for unread in range(3) for ranks in (1, 2)]
        cases = [c for c in every if options.all or c[0] == "cross_entropy" or c[1:] == (1, 1)]
        cases.append(("cross_entropy", 1, 4, 257))
        side_by_side(2, *(partial(test, checks, shardcc, Path(folder), *case) for case in cases))
    checks.finish()


if __name__ == "__main__":
    main()
