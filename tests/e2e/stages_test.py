#!/usr/bin/env python3
"""Stages that run forward again, by the schedule of the dynamic program, change no bit of losses, gradients and weights.

  stages_test.py --shardcc build/shardcc [--all] [NAME ...]

Each model trains as it is, then with --recompute chain in the least memory that there is a schedule for, and between that
and what it takes as it is. One byte less than the least is refused. Clipping and micro-batches change what lives on. With
--all every model does all of this, else each does a part.
"""
import re
import subprocess

from harness import read_safetensors
from model import QUICK_CC, Model, for_models, parser
from recompute_test import DYNAMIC, Case

BUDGETS = (0, 0.3, 0.7)  # between the least and all


class Stages(Case):
    """A model whose stages run again."""

    def command(self, memory):
        options = ["--threads", 2, "--emit", "program", "--memory", memory, "--recompute", "chain"]
        return [str(x) for x in (*self.arguments(), *options)]

    def arena(self, *more):
        """The bytes of the program's arena, the exit status and what was said."""
        command = [str(x) for x in (self.model.shardcc, *self.arguments(), "--threads", 2, "--emit", "program", *more)]
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.search(r" arena (\d+)", done.stdout.partition("\n")[0])
        return int(found[1]) if found else 0, done.returncode, done.stderr

    def least(self):
        """The least memory, or None if the model is no chain."""
        least = 1 << 16
        while True:
            bytes_, status, said = self.arena("--memory", least, "--recompute", "chain")
            if status == 0:
                return least
            found = re.search(r"the least takes (\d+) bytes", said)
            if not found:
                self.checks.check(f"{self.name}: no chain is refused", status == 1 and "is no chain" in said, said)
                return None
            least = max(int(found[1]), least + 1)

    def stages(self, budgets):
        whole, least = self.arena()[0], self.least()
        if least is None:
            return
        expected = self.train(self.compile("none", "--threads", 2), 1)
        for part in budgets:
            memory = int(least + part * max(whole - least, 0))
            found, status, said = self.arena("--memory", memory, "--recompute", "chain")
            self.checks.check(f"{self.name}: {part} fits", status == 0 and 0 < found <= memory, f"{found} of {memory}: {said}")
            if status == 0:
                trainer = self.compile(f"chain{part}", "--threads", 2, "--memory", memory, "--recompute", "chain")
                self.compare(f"chain, {part}", self.train(trainer, 1), expected)


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    options = p.parse_args()
    names = sorted(x.stem for x in options.models.glob("*.onnx"))

    def one(checks, path, work):
        at, dynamic = names.index(path.stem), DYNAMIC / path.name
        has_batch = dynamic.exists()
        model = Model(dynamic if has_batch else path, options.shardcc, work, path.with_suffix(".npz"), QUICK_CC)
        kinds = [("eager",), ("clip", "--clip-norm", 0.5), *[("micro", "--accumulate", 2)] * has_batch]
        for k, kind in enumerate(kinds):
            if options.all or at % len(kinds) == k:
                Stages(checks, model, *kind).stages(BUDGETS if options.all else BUDGETS[:2])

    for_models(options, one)


if __name__ == "__main__":
    main()
