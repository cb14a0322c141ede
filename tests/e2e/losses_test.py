#!/usr/bin/env python3
"""Models that have a loss of torch.nn inside, trained by `--loss loss`: loss and gradients against PyTorch's (models/losses.py).

  losses_test.py --shardcc build/shardcc [--losses DIR]

docs/losses.md has the table of what was tried; UPDATE=1 rewrites it.
"""
import json
import os

import numpy as np

from harness import MPI_ENV, mpirun, read_log, read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC, REPOSITORY
from onnx_bytes import model, node, tensor, value

TRAIN = ["--loss", "loss", "--optimizer", "sgd(lr=0.1)"]
ZERO = 1e-7  # of the largest gradient: a gradient that is 0 except for rounding
# Those that are also split over ranks and micro-batches.
SPLIT = ["cross_entropy_mean", "cross_entropy_weighted", "cross_entropy_ignored_class", "cross_entropy_smooth_weighted", "cross_entropy_image",
         "cross_entropy_shares", "cross_entropy_sum", "nll_weighted_sum", "nll_2d", "kl_div", "multi_margin", "triplet_margin"]  # fmt: skip
PAGE = REPOSITORY / "docs/losses.md"
BEGIN, END = "<!-- the table -->", "<!-- its end -->"
WAYS = {
    "two ranks": (2, ["--ranks", "2", "--mesh", "dp=2"]),
    "classes on two ranks": (2, ["--ranks", "2", "--mesh", "tp=2"]),
    "micro-batches": (1, ["--accumulate", "3"]),
    "both": (2, ["--ranks", "2", "--mesh", "dp=2", "--accumulate", "3"]),
}


class Losses:
    def __init__(self, shardcc, work, checks, losses):
        self.shardcc, self.work, self.checks, self.losses = shardcc, work, checks, losses
        self.arrays = np.load(losses / "losses.npz")

    def of(self, name, part):
        start = f"{name}/{part}/"
        return {k[len(start) :]: self.arrays[k] for k in self.arrays.files if k.startswith(start)}

    def train(self, what, name, ranks=1, options=()):
        run(self.shardcc, self.losses / f"{name}.onnx", "-o", "net", *TRAIN, *options, "--verify", "--cc", QUICK_CC, cwd=self.work)
        write_data(self.work / name, self.of(name, "in"))
        command = ["./net", "--data", name, "--steps", 1, "--no-shuffle", "--quiet", "--log", "log", "--save-gradients", "g"]
        run(*(mpirun(ranks) if ranks > 1 else []), *command, cwd=self.work, env=MPI_ENV)
        self.checks.close(f"{what}: loss", read_log(self.work / "log")[0]["loss"], self.arrays[f"{name}/loss"], 1e-5)
        found, expected = read_safetensors(self.work / "g"), self.of(name, "grad")
        self.checks.check(f"{what}: names of gradients", set(found) == set(expected), " ".join(set(found) ^ set(expected)))
        largest = max(map(np.linalg.norm, expected.values()))
        for n in set(found) & set(expected):
            off = np.linalg.norm(found[n] - expected[n]) if found[n].shape == expected[n].shape else np.inf
            size = np.linalg.norm(expected[n])
            self.checks.check(f"{what}: {n}", off <= max(1e-4 * size, ZERO * largest), f"{off:.1e} of {size:.1e}")

    def all(self):
        facts = json.loads((self.losses / "losses.json").read_text())
        for name in facts:
            if "error" not in facts[name]:
                self.train(name, name)
        self.page(facts)
        for name in SPLIT:
            for way, (ranks, options) in WAYS.items():
                self.train(f"{name}, {way}", name, ranks, options)

    def page(self, facts):
        """The table has a row for each class of losses, in the order of losses.json."""
        rows = {}
        for x in facts.values():
            row = rows.setdefault(x["loss"], ([], []))
            if "error" in x:
                row[1].append(x["error"])
            else:
                row[0].append(f"`{x['options']}`" if x["options"] else "as it is")
        lines = [f"| `{kind}` | {'; '.join(dict.fromkeys(forms)) or '—'} | {'; '.join(errors)} |" for kind, (forms, errors) in rows.items()]
        table, page = "\n".join(["| loss | trained | the exporter stops |", "|---|---|---|", *lines, ""]), PAGE.read_text()
        head, tail = page.partition(BEGIN)[0], page.partition(END)[2]
        new = f"{head}{BEGIN}\n{table}{END}{tail}"
        if os.environ.get("UPDATE"):
            PAGE.write_text(new)
        self.checks.check("docs/losses.md has the table (UPDATE=1 rewrites it)", PAGE.read_text() == new)

    def no_class(self):
        """A label that is no class stops the run; an ignored one doesn't."""
        weight = tensor("w", np.ones((2, 3), np.float32))
        nodes = [node("MatMul", ["x", "w"], ["y"]), node("SoftmaxCrossEntropyLoss", ["y", "t"], ["loss"], "ce", ignore_index=7)]
        data = model(nodes, [value("x", "f32", [4, 2]), value("t", "i64", [4])], [value("loss", "f32", [])], [weight], 18)
        (self.work / "labels.onnx").write_bytes(data)
        run(self.shardcc, "labels.onnx", *TRAIN, "--cc", QUICK_CC, cwd=self.work)
        for label, status in (2, 0), (7, 0), (3, 1), (-1, 1):
            write_data(self.work / "labels_data", {"x": np.ones((4, 2), np.float32), "t": np.array([0, label, 1, 2])})
            said = run("./labels", "--data", "labels_data", "--steps", 1, "--quiet", cwd=self.work, status=status)
            self.checks.check(f"label {label}: status {status}", status == 0 or "step 1: the loss is" in said, said.strip())


def test(t):
    t.all()
    t.no_class()


if __name__ == "__main__":
    test_in_folder(Losses, test, losses=REPOSITORY / "models/losses")
