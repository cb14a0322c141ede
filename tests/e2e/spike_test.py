#!/usr/bin/env python3
"""--spike: a run whose data has a few bad samples says so, stops, or goes back.

  spike_test.py --shardcc build/shardcc
"""
import re
import tempfile
from pathlib import Path

import numpy as np

from checkpoint_test import Trainer, lines, step
from harness import Checks, read_log, write_data
from model import QUICK_CC, Model, parser

STEPS, BAD = 40, 30  # the samples of step 30 are bad
LR = ["--no-shuffle", "--lr", 0.01]
SPIKE = [*LR, "--spike", 3]
SAYS = r"step {}: the (loss|norm of the gradients) is [\d.]+, [\d.]+ times its median over the last \d+ steps"


def write_steps(folder, model, bad, without=()):
    """Data of 40 steps, of which all have the same samples, except those of the steps `bad`; without those of some steps."""
    ref = model.batches("labels")
    batch = model.ref["data/labels"].shape[1]
    time = ref.shape[1]
    ids = np.zeros((STEPS * batch, time), np.int64)
    ids[:] = np.arange(time) % 8
    labels = (ids + 1) % 8
    dice = np.random.default_rng(1)
    for n in bad:
        labels[(n - 1) * batch : n * batch] = dice.integers(20, 40, (batch, time))
    left = [n for n in range(STEPS * batch) if n // batch + 1 not in without]
    ids, labels = ids[left], labels[left]
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


def medians(folder, n):
    """{loss: numbers, grad_norm: numbers} of a manifest."""
    words = [x.split() for x in (step(folder, n) / "MANIFEST").read_text().splitlines()]
    return {x[0]: [float(v) for v in x[1:]] for x in words if x[0] in ("loss", "grad_norm")}


def test_goes_on(case):
    """A run that goes on knows the steps before, so it warns of the same steps in the same words."""
    t, folder, plain = case.trainer, case.trainer.folder("known"), case.trainer.folder("unwatched")
    whole = t.run("--steps", STEPS, *SPIKE)
    parts = [t.run("--steps", n, *SPIKE, "--checkpoint", folder, "--resume", "--log", "known.jsonl") for n in (20, BAD - 1, STEPS)]
    said = [x[1] for x in parts if x[1]]
    case.check("it goes on with its medians", [x[0] for x in parts] == [0, 0, 0] and said == [whole[1]] and whole[1], str(parts))
    losses = [x["loss"] for x in read_log(t.work / "known.jsonl")]
    found = medians(folder, STEPS).get("loss", [])
    case.check("the manifest has them", len(found) == STEPS and np.allclose(found, losses, rtol=1e-6), str(found))
    t.run("--steps", BAD - 1, *LR, "--checkpoint", plain)
    case.check("it has none without --spike", not medians(plain, BAD - 1))
    ran = t.run("--steps", STEPS, *SPIKE, "--checkpoint", plain, "--resume")
    case.check("a run that goes on from such a one begins to count", ran == (0, "") and len(medians(plain, STEPS)["loss"]) == STEPS - BAD + 1, str(ran))  # fmt: skip
    ran = t.run("--steps", STEPS + 1, *LR, "--epochs", 2, "--checkpoint", folder, "--resume")
    case.check("without --spike they are left out", ran == (0, "") and not medians(folder, STEPS + 1), str(ran))


def test_stop(case):
    t, folder = case.trainer, case.trainer.folder("stopped")
    status, said = t.run("--steps", STEPS, *SPIKE, "--on-spike", "stop", "--checkpoint", folder, "--checkpoint-every", 8,
                         "--keep", 9, "--log", "stopped.jsonl", "--save", "never.st")  # fmt: skip
    fine = status == 1 and re.fullmatch("error: " + SAYS.format(BAD) + "; stopped, nothing is saved", said)
    case.check("it stops", fine and not (t.work / "never.st").exists(), said)
    steps = [x["step"] for x in read_log(t.work / "stopped.jsonl")]
    case.check("the log has the step, the checkpoints those before", steps == list(range(1, BAD + 1)) and
               (step(folder, 24) / "MANIFEST").exists() and not list(folder.glob("*30")))  # fmt: skip


def manifest(folder, n):
    return [x for x in (step(folder, n) / "MANIFEST").read_text().splitlines() if x.startswith("rollbacks")]


def test_rollback(case):
    """Steps 25 to 30 are undone; the bits are those of a run on data without the samples of those steps."""
    t, folder, other = case.trainer, case.trainer.folder("back"), case.trainer.work / "without"
    write_steps(other, t.model, [BAD], range(25, BAD + 1))
    back = [*SPIKE, "--on-spike", "rollback", "--checkpoint", folder, "--checkpoint-every", 8, "--resume"]
    status, said = t.run("--steps", 36, *back, "--log", "back.jsonl", "--check-arena")
    fine = re.fullmatch("warning: " + SAYS.format(BAD) + "; goes back to the last checkpoint", said)
    case.check("it goes back", status == 0 and fine and manifest(folder, 36) == ["rollbacks 1 6"], said)
    case.check("another run goes on", t.run("--steps", STEPS, *back, "--log", "back.jsonl", "--save", "back.st") == (0, ""))
    data, t.data = t.data, other
    ran = t.run("--steps", STEPS, *LR, "--log", "without.jsonl", "--save", "without.st")
    t.data = data
    same = (t.work / "back.st").read_bytes() == (t.work / "without.st").read_bytes()
    case.check("the bits of a run without those steps' data", ran == (0, "") and same, str(ran))
    case.check("and its log", lines(t.work / "back.jsonl") == lines(t.work / "without.jsonl"))


def test_limit(case):
    """Labels stay bad from some step on: the run ends after two rollbacks. So it does if there is no checkpoint."""
    t, folder, data = case.trainer, case.trainer.folder("limit"), case.trainer.data
    t.data = t.work / "limited"
    write_steps(t.data, t.model, range(BAD, STEPS + 1))
    back = [*SPIKE, "--steps", STEPS, "--on-spike", "rollback", "--checkpoint"]
    status, said = t.run(*back, folder, "--checkpoint-every", 8, "--max-rollbacks", 2)
    last = said.splitlines()[-1]
    fine = re.fullmatch("error: " + SAYS.format("(29|25)") + "; stopped after 2 rollbacks, nothing is saved", last)
    case.check("so many rollbacks", status == 1 and said.count("goes back") == 2 and fine, said)
    folder = t.folder("none")
    status, said = t.run(*back, folder)
    last = said.splitlines()[-1]
    case.check("no checkpoint", (status, last) == (1, f"error: --on-spike: there is no checkpoint in '{folder}' to go back to"), said)
    t.data = data


def test_not_finite(case):
    """A loss that is NaN, as the weights are after a step that is far too long, is a spike, too."""
    t, folder = case.trainer, case.trainer.folder("finite")
    back = [*LR, "--spike", 3, "--on-spike", "rollback", "--checkpoint", folder, "--checkpoint-every", 4]
    t.run("--steps", 4, *back)
    status, said = t.run("--steps", 8, *back, "--resume", "--lr", 1e30, "--max-rollbacks", 1)
    warned, failed = said.splitlines()[0], said.splitlines()[-1]
    fine = re.fullmatch(r"warning: step 6: the loss is (NaN|infinite); goes back to the last checkpoint", warned)
    ended = re.fullmatch(r"error: step 6: the loss is (NaN|infinite); stopped after 1 rollback, nothing is saved", failed)
    case.check("NaN", status == 1 and fine and ended, said)


def test_messages(case):
    for options, text in (
        (["--spike", 0.5], "error: --spike: 0.5 is not above 1"),
        (["--spike", -1], "error: --spike: '-1' is less than 0"),
        (["--on-spike", "warn"], "error: --on-spike needs --spike"),
        (["--spike", 2, "--on-spike", "stopp"], "error: --on-spike: 'stopp' is not one of warn|stop|rollback (did you mean 'stop'?)"),
        (["--spike", 2, "--on-spike", "rollback"], "error: --on-spike rollback needs --checkpoint"),
        (["--spike", 2, "--max-rollbacks", 2], "error: --max-rollbacks needs --on-spike rollback"),
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
            test_goes_on(case)
            test_stop(case)
            test_rollback(case)
            test_limit(case)
            test_not_finite(case)
            test_messages(case)
    checks.finish()


if __name__ == "__main__":
    main()
