#!/usr/bin/env python3
"""Half copies of parameters with --accumulate: a step makes each once, before its first micro-batch.

  halves_test.py --shardcc build/shardcc [--work DIR]

A GPT in bf16 of 1 and 2 ranks, with weights that are gathered for the copy or with the copy that is gathered, with layers
that run again, and on the tests' GPU. Its program's text says what runs when. Another program makes the copies in each micro-batch:
the same text, its first two functions joined. Both give the same bits, and --profile counts their calls.
"""
import json
import os
import re

import numpy as np

from harness import MPI_ENV, mpirun, read_safetensors, run
from model import QUICK_CC, REPOSITORY, Model, curves_of, for_models, parser

MICROS, STEPS = 2, 3
RANKS = ["--ranks", 2, "--mesh", "dp=2", "--cluster", "h100x2"]
SPLIT = ["--pin", "blocks.0.fc.weight=[dp,-]", "--pin", "head.weight=[dp,-]"]
# By name: options, and how many copies and gathers a step makes before its first micro-batch. The GPT has 3 layers of 4
# products, and a head.
CASES = {
    "1 rank": ([], 13, 0),
    "2 ranks": (RANKS, 13, 0),
    "weights are gathered": ([*RANKS, *SPLIT], 13, 4),
}
# Copies of this type are stored split: each product gathers its own.
COPY, COPIES = "bf16[192,48]", 3
GATHER = r" (start \S+( mod \d+)?|kernel) all_gather"


def functions_of(text):
    """The lines of the training functions of a program's text, by their names."""
    parts = re.split(r"^train (\w+)\n", text.partition("\npredict forward\n")[0], flags=re.M)
    return {name: body.splitlines() for name, body in zip(parts[1::2], parts[2::2])}


def runs_of(lines, pattern):
    """How often lines with the pattern run, with those in loops over 3 layers counted thrice."""
    n, times = 0, 1
    for line in lines:
        times = 3 if " loop class " in line else 1 if line.endswith(" end") else times
        n += times * (re.search(pattern, line) is not None)
    return n


def joined(text):
    """The text of a program whose micro-batches make the copies themselves."""
    return text.replace("\ntrain micro\n", "\n").replace("\ntrain prepare\n", "\ntrain micro\n")


class Case:
    def __init__(self, checks, name, path, options, work, *more, cuda=None):
        reference = REPOSITORY / "models/tiny" / f"{path.stem}.npz"
        self.checks, self.name = checks, name
        self.model = Model(path, options.shardcc, work / name.replace(" ", "_"), reference, QUICK_CC, cuda)
        self.model.info["steps"] = STEPS
        self.curve = curves_of(self.model.info)["adamw"]
        self.ranks = 2 if "--ranks" in more else 1
        target = ["--target", "cuda" if cuda else "cpu"]
        self.options = [*target, *self.model.arguments(self.curve), "--precision", "bf16", "--accumulate", MICROS, *more]

    def text(self, *more):
        """The text of the program."""
        file = self.model.work / "text.program"
        run(self.model.shardcc, self.model.onnx, *self.options, *more, "--emit", "program", "-o", file)
        return file.read_text()

    def plan(self):
        """The plan's file, and what is in it."""
        file = self.model.work / "model.plan"
        run(self.model.shardcc, "plan", self.model.onnx, *self.options, "-o", file)
        return file, json.loads(file.read_text())

    def check_plan(self, gathers):
        _, plan = self.plan()
        found = sum(x["times"] for x in plan["collectives"] if x["kind"] == "all_gather" and x["phase"] == "forward")
        self.checks.check(f"{self.name}: {gathers} gathers in the plan", found == gathers, f"{found}")

    def split_copies(self):
        """A plan's file in which copies are stored split."""
        file, plan = self.plan()
        copy = next(x for x in plan["values"] if x["type"] == COPY and x["kind"] == "activation")
        copy["spec"] = "[dp,-]"
        file.write_text(json.dumps(plan))
        return file

    def weights(self):
        """The model's weights, which texts of programs don't have."""
        trainer = self.model.work / "weights"
        if not trainer.exists():
            run(self.model.shardcc, self.model.onnx, "-o", trainer, "--cc", QUICK_CC, *self.model.arguments(self.curve))
        return trainer.with_suffix(".safetensors")

    def train(self, text, tag, *more):
        """The gradients and the weights of the program of a text."""
        path, trainer = self.model.work / f"{tag}.program", self.model.work / tag
        path.write_text(text)
        run(self.model.shardcc, path, "-o", trainer, "--cc", QUICK_CC)
        return self.run(trainer, "--load", self.weights(), *more)

    def run(self, trainer, *more, env=MPI_ENV):
        """The gradients and the weights of a trainer."""
        files = [trainer.with_suffix(x) for x in (".gradients", ".weights")]
        launch = mpirun(self.ranks) if self.ranks > 1 else []
        self.model.train(trainer, self.curve, "--save-gradients", files[0], "--save", files[1], *more, launch=launch, env=env)
        return [read_safetensors(x) for x in files]

    def calls(self, tag, part):
        """How often a step casts parameters in a part."""
        log = map(json.loads, (self.model.work / f"{tag}.jsonl").read_text().splitlines())
        return sum(x["calls"] for x in log if x.get("part") == part and ": cast bf16" in x["call"])

    def compare(self, what, found, expected):
        same = all(a.keys() == b.keys() and all((a[n] == b[n]).all() for n in a) for a, b in zip(found, expected))
        self.checks.check(f"{self.name}: the same bits as {what}", same)

    def test_gpu(self, cpu):
        """Steps with recorded graphs, and threads in another order without them, give the same bits."""
        trainer = self.model.work / "gpu"
        gpu = ["--cuda", self.model.cuda]
        run(self.model.shardcc, self.model.onnx, "-o", trainer, "--cc", QUICK_CC, *self.options, *gpu)
        found = self.run(trainer)
        self.compare("without graphs", self.run(trainer, "--no-graph", env={**os.environ, "CUDART_ORDER": "12345"}), found)
        a, b = (np.concatenate([x[0][n].ravel().astype(float) for n in sorted(x[0])]) for x in (found, cpu))
        cosine = a @ b / (a @ a * (b @ b)) ** 0.5
        self.checks.check(f"{self.name}: the CPU's gradients", cosine >= 0.9999, f"{cosine:.6f}")

    def test(self, text, casts, gathers):
        functions = functions_of(text)
        prepared = functions["prepare"]
        found = runs_of(prepared, r"group .*\{cast "), runs_of(prepared, GATHER)
        self.checks.check(f"{self.name}: {casts} copies and {gathers} gathers once", found == (casts, gathers), f"{found}")
        once = self.train(text, "once", "--profile")
        self.checks.check(f"{self.name}: their calls", self.calls("once", "prepare") == casts, f"{self.calls('once', 'prepare')}")
        each = self.train(joined(text), "each")
        self.compare("copies of each micro-batch", once, each)
        return functions["micro"], once


def test_all(checks, options, gpt, work):
    toolkit = options.shardcc.parent / "tests/cuda/toolkit"
    results = {}
    for name, (more, casts, gathers) in CASES.items():
        case = Case(checks, name, gpt, options, work, *more)
        _, results[name] = case.test(case.text(), casts, gathers)
        if case.ranks > 1:
            case.check_plan(gathers)
    case = Case(checks, "copies are gathered", gpt, options, work, *RANKS)
    micro, _ = case.test(case.text("--plan", case.split_copies()), 13, 0)
    gathers = runs_of(micro, GATHER + ".* -> .* " + re.escape(COPY))
    checks.check("copies are gathered: in each micro-batch", gathers == COPIES, f"{gathers}")
    if (toolkit / "bin/nvcc").exists():
        case = Case(checks, "1 GPU", gpt, options, work, cuda=toolkit)
        case.test_gpu(results["1 rank"])


def test_stages(checks, options, encoder, work):
    """Stages that run again read the copies, which lie outside of their slots."""
    case = Case(checks, "stages", encoder, options, work, "--threads", 2)
    whole = case.text()
    least = int(re.search(r" arena (\d+)", whole)[1]) - 64
    chain = case.text("--recompute", "chain", "--memory", least)
    checks.check("stages: some run again", "\ncalls stages " in chain and "\ntrain prepare\n" in chain)
    case.compare("those of a program without", case.train(chain, "chain"), case.train(whole, "whole"))


def main():
    p = parser(__doc__)
    p.set_defaults(models=REPOSITORY / "models/tiny_dynamic")
    options = p.parse_args()
    options.names = ["encoder", "nanogpt"]

    def one(checks, path, work):
        test = test_stages if path.stem == "encoder" else test_all
        test(checks, options, path, work)

    for_models(options, one)


if __name__ == "__main__":
    main()
