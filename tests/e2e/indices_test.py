#!/usr/bin/env python3
"""Indices out of range: computed ones stop the run with the node's name, those of inputs with the place in the file.

  indices_test.py --shardcc build/shardcc

Row `code` of a table is added to a row. A router would compute `code`, here it is read from the data as a float; `row`
is an index that is data itself. Two layers have a table each.
"""
import subprocess
from functools import partial

import numpy as np

from harness import MPI_ENV, mpirun, side_by_side, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, SAMPLES, ROWS, WIDTH = 8, 16, 5, 3
TRAINING = ["--loss", "mse(y, target)", "--optimizer", "sgd"]
# Options in addition to the options of training, and how many ranks run.
FORMS = {"one": ([], 1), "micro": (["--accumulate", 2], 1), "ranks": (["--ranks", 2], 2)}
# A number instead of a good code, of sample 11 in the second batch, and what the run says.
BAD = {"above": (5, "index 5 is out of range for a dim of 5"), "below": (-6, "index -6 is out of range for a dim of 5"),
       "far": (3e18, "index 1152921504606846976 is out of range for a dim of 5")}  # fmt: skip


def layered():
    nodes, x = [node("Cast", ["code"], ["at"], "cast", to=7), node("Gather", ["rows", "row"], ["x0"], "rows")], "x0"
    for i in range(2):
        nodes += [node("Gather", [f"table{i}", "at"], [f"e{i}"], f"look_{i}"), node("Add", [x, f"e{i}"], [f"s{i}"], f"add_{i}"),
                  node("Tanh", [f"s{i}"], [f"x{i + 1}"], f"tanh_{i}")]  # fmt: skip
        x = f"x{i + 1}"
    nodes.append(node("Identity", [x], ["y"], "y"))
    dice = np.random.default_rng(1)
    tables = [tensor(n, dice.standard_normal((ROWS, WIDTH)).astype(np.float32)) for n in ("rows", "table0", "table1")]
    return model(nodes, [value("code", "f32", ["b"]), value("row", "i64", ["b"])], [value("y", "f32", ["b", WIDTH])], tables)


class Indices:
    def __init__(self, shardcc, folder, checks):
        self.shardcc, self.work, self.checks = shardcc, folder, checks
        (folder / "m.onnx").write_bytes(layered())
        dice = np.random.default_rng(2)
        good = dice.integers(-ROWS, ROWS, SAMPLES)
        for name, (code, _) in {"good": (0, ""), **BAD}.items():
            codes = good.astype(np.float32)
            codes[11] = code
            self.write(name, codes, good)
        self.write("input", good.astype(np.float32), np.where(np.arange(SAMPLES) == 11, ROWS, good))
        side_by_side(2, *(partial(self.compile, name, *form) for name, form in FORMS.items()))

    def write(self, name, codes, rows):
        target = np.zeros((SAMPLES, WIDTH), np.float32)
        write_data(self.work / name, {"code": codes, "row": rows.astype(np.int64), "target": target})

    def compile(self, name, options, ranks):
        done = subprocess.run([str(x) for x in (self.shardcc, "m.onnx", "-o", name, "--cc", QUICK_CC, "--bind", f"b={BATCH}", *TRAINING, *options)],
                              cwd=self.work, capture_output=True, text=True)  # fmt: skip
        self.checks.check(f"{name}: compiled", done.returncode == 0, done.stderr)

    def run(self, name, *options):
        launch = mpirun(FORMS[name][1]) if FORMS[name][1] > 1 else []
        done = subprocess.run([str(x) for x in (*launch, f"./{name}", "--quiet", *options)],
                              cwd=self.work, env=MPI_ENV, capture_output=True, text=True, timeout=120)  # fmt: skip
        said = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: error: ")]
        return done.returncode, "\n".join(said)

    def says(self, form, what, message, *options):
        found = self.run(form, *options)
        self.checks.check(f"{form}: {what}", found == ((1, f"{form}: error: {message}") if message else (0, "")), str(found))


def test(t):
    for form in FORMS:
        train = ["--steps", 2, "--no-shuffle", "--data"]
        t.says(form, "good indices", "", *train, "good")
        for name, (_, message) in BAD.items():
            t.says(form, f"training, {name}", f"step 2: node 'look_*': {message}", *train, name)
        t.says(form, "an input", "input 'row': sample 11: 5 is out of range, -5 to 4", *train, "input")
        t.says(form, "prediction", f"node 'look_*': {BAD['above'][1]}", "--predict", "above", "-o", "p.npz")
        t.checks.check(f"{form}: nothing is written", not (t.work / "p.npz").exists(), "")
    t.says("one", "evaluation", f"node 'look_*': {BAD['above'][1]}", "--steps", 1, "--data", "good", "--eval-data", "above")


test_in_folder(Indices, test)
