#!/usr/bin/env python3
"""--spike: a run whose data has a few bad samples says so, or stops.

  spike_test.py --shardcc build/shardcc
"""
import re
import tempfile
from pathlib import Path

import numpy as np

from checkpoint_test import Trainer, step
from harness import Checks, read_log, write_data
from model import QUICK_CC, Model, parser

STEPS, BAD = 40, 30  # the samples of step 30 are bad
LR = ["--no-shuffle", "--lr", 0.01]
SPIKE = [*LR, "--spike", 3]
SAYS = r"step {}: the (loss|norm of the gradients) is [\d.]+, [\d.]+ times its median over the last \d+ steps"


def write_steps(folder, model, bad):
    """Data of 40 steps, of which all have the same samples, except those of the steps `bad`."""
    ref = model.batches("labels")
    batch = model.ref["data/labels"].shape[1]
    time = ref.shape[1]
    ids = np.zeros((STEPS * batch, time), np.int64)
    ids[:] = np.arange(time) % 8
    labels = (ids + 1) % 8
    dice = np.random.default_rng(1)
    for n in bad:
        labels[(n - 1) * batch : n * batch] = dice.integers(20, 40, (batch, time))
    write_data(folder, {"input_ids": ids, "labels": labels.astype(ref.dtype)})


class Case:
    def __init__(self, checks, trainer):
        self.checks, self.trainer = checks, trainer
        trainer.data = trainer.work / "spiked"
        write_steps(trainer.data, trainer.model, [BAD])

    def check(self, what, ok, detail=""):
        self.checks.check(f"{self.trainer.ranks} ranks: {what}", ok, detail)


def test_warn(case):
    t = case.trainer
    plain = t.run("--steps", STEPS, *LR, "--save", "plain.st")
    status, said = t.run("--steps", STEPS, *SPIKE, "--save", "warned.st")
    first = said.splitlines()[0] if said else ""
    fine = status == 0 and re.fullmatch("warning: " + SAYS.format(BAD), first)
    case.check("a warning", plain == (0, "") and fine, said)
    same = (t.work / "plain.st").read_bytes() == (t.work / "warned.st").read_bytes()
    case.check("which changes no bit", same)
    status, said = t.run("--steps", BAD - 1, *SPIKE)
    case.check("no warning before", (status, said) == (0, ""), said)


def test_stop(case):
    t, folder = case.trainer, case.trainer.folder("stopped")
    status, said = t.run("--steps", STEPS, *SPIKE, "--on-spike", "stop", "--checkpoint", folder, "--checkpoint-every", 8,
                         "--keep", 9, "--log", "stopped.jsonl", "--save", "never.st")  # fmt: skip
    fine = status == 1 and re.fullmatch("error: " + SAYS.format(BAD) + "; stopped, nothing is saved", said)
    case.check("it stops", fine and not (t.work / "never.st").exists(), said)
    steps = [x["step"] for x in read_log(t.work / "stopped.jsonl")]
    case.check("the log has the step, the checkpoints those before", steps == list(range(1, BAD + 1)) and
               (step(folder, 24) / "MANIFEST").exists() and not list(folder.glob("*30")))  # fmt: skip


def test_messages(case):
    for options, text in (
        (["--spike", 0.5], "error: --spike: 0.5 is not above 1"),
        (["--spike", -1], "error: --spike: '-1' is less than 0"),
        (["--on-spike", "warn"], "error: --on-spike needs --spike"),
        (["--spike", 2, "--on-spike", "stopp"], "error: --on-spike: 'stopp' is not one of warn|stop (did you mean 'stop'?)"),
    ):
        found = case.trainer.run(*options)
        case.check(text, found == (2, text), str(found))


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        model = Model(o.models / "nanogpt.onnx", o.shardcc, Path(o.work or work), cc=QUICK_CC)
        for ranks in 1, 2:
            case = Case(checks, Trainer(model, ranks))
            test_warn(case)
            test_stop(case)
            test_messages(case)
    checks.finish()


if __name__ == "__main__":
    main()
