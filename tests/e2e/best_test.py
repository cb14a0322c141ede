#!/usr/bin/env python3
"""--keep-best: the checkpoint of the least loss of an evaluation stays, also over runs that go on, and shardcc checkpoint knows it.

  best_test.py --shardcc build/shardcc
"""
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from checkpoint_test import FILES, Trainer, step
from harness import Checks, write_data
from model import QUICK_CC, Model, parser


def evaluations(log):
    """{step: loss}"""
    return {x["step"]: x["eval_loss"] for x in map(json.loads, log.read_text().splitlines()) if "eval_loss" in x}


def steps_of(folder):
    return sorted(int(x.parent.name.partition("-")[2]) for x in folder.glob("step-*/MANIFEST"))


def best_of(folder, n):
    """The step and the loss in the manifest of step n."""
    lines = [x.split() for x in (step(folder, n) / "MANIFEST").read_text().splitlines()]
    return [(int(x[1]), float(x[2])) for x in lines if x[0] == "best"]


class Case:
    def __init__(self, checks, trainer):
        self.checks, self.trainer = checks, trainer
        other = trainer.work / "other"
        inputs = {x.stem: np.load(x) for x in trainer.data.iterdir()}
        write_data(other, {**inputs, "labels": np.roll(inputs["labels"], 1, axis=0)})
        self.learnt = ["--eval-data", trainer.data, "--keep-best", "--no-shuffle"]
        self.others = ["--eval-data", other, "--keep-best", "--no-shuffle"]

    def check(self, what, ok, detail=""):
        self.checks.check(f"{self.trainer.ranks} ranks: {what}", ok, detail)

    def shardcc(self, *args):
        done = subprocess.run([self.trainer.model.shardcc, "checkpoint", *map(str, args)], capture_output=True, text=True,
                              cwd=self.trainer.work)  # fmt: skip
        return done.returncode, done.stdout, done.stderr


def test_keeps(case):
    """The loss on other labels falls first, and then rises."""
    t, log = case.trainer, case.trainer.work / "best.jsonl"
    whole, parts = t.folder("whole"), t.folder("parts")
    options = [*case.others, "--eval-every", 1, "--lr", 0.03, "--keep", 2, "--checkpoint-every", 3]
    ran = t.run("--steps", 12, "--checkpoint", whole, "--log", log, *options)
    losses = evaluations(log)
    best = min(losses, key=losses.get)
    case.check("the best is in the middle", ran == (0, "") and 1 < best < 9 and len(losses) == 12, f"{ran} {losses}")
    case.check("the last two and the best are there", steps_of(whole) == sorted({best, 9, 12}), str(steps_of(whole)))
    known = best_of(whole, 12)
    case.check("the manifest knows it", len(known) == 1 and known[0][0] == best and abs(known[0][1] - losses[best]) < 1e-6, str(known))
    for n in (best + 1, best + 2, 12):
        t.run("--steps", n, "--checkpoint", parts, "--resume", *options)
    same = steps_of(parts) == steps_of(whole) and best_of(parts, 12) == known
    bits = all((step(whole, n) / f).read_bytes() == (step(parts, n) / f).read_bytes() for n in (best, 12) for f in FILES)
    case.check("runs that go on know it, too", same and bits, f"{steps_of(parts)} {best_of(parts, 12)}")
    status, out, err = case.shardcc("ls", whole)
    marked = [row.split()[0] for row in out.splitlines()[1:] if f"eval loss {known[0][1]:.6g}" in row]
    case.check("ls marks it", status == 0 and marked == [str(best)], out + err)
    done = case.shardcc("export", whole, "--best", "-o", "best.st")
    t.run("--steps", best, "--no-shuffle", "--lr", 0.03, "--save", "plain.st")
    same = (t.work / "best.st").read_bytes() == (t.work / "plain.st").read_bytes()
    case.check("export --best", done == (0, f"wrote best.st, the weights after step {best}\n", "") and same, str(done))


def test_last(case):
    """The evaluation at the end is the best one; another run goes on with that knowledge."""
    t, there = case.trainer, case.trainer.folder("last")
    for steps in 3, 4:
        log = t.work / f"last{steps}.jsonl"
        ran = t.run("--steps", steps, "--checkpoint", there, "--resume", "--keep", 1, "--log", log, *case.learnt)
        known, losses = best_of(there, steps), evaluations(log)
        fine = ran == (0, "") and [x[0] for x in known] == [steps] and list(losses) == [steps]
        case.check(f"the last of {steps} steps is the best", fine and steps_of(there) == [steps], f"{ran} {known} {losses}")


def test_other_samples(case):
    """Losses on other samples don't compare: the run says so, and chooses the best one anew."""
    t, there = case.trainer, case.trainer.folder("moved")
    t.run("--steps", 2, "--checkpoint", there, *case.learnt)
    log, first = t.work / "moved.jsonl", best_of(there, 2)
    for options, name in ((case.others, "other labels"), ([*case.others, "--eval-samples", 4], "fewer samples")):
        ran = t.run("--steps", 3, "--checkpoint", there, "--resume", "--keep", 1, "--log", log, *options)
        text = (f"warning: --keep-best: step {first[0][0]} was the best on other samples of --eval-data: the first evaluation of"
                " this run counts as better")  # fmt: skip
        last = evaluations(log)[3]
        found = best_of(there, 3)
        case.check(f"{name}: chosen anew", ran == (0, text) and found[0][0] == 3 and abs(found[0][1] - last) < 1e-6, f"{ran} {found} {last}")
        first = found


def test_messages(case):
    t, plain, gone = case.trainer, case.trainer.folder("plain"), case.trainer.folder("gone")
    t.run("--steps", 1, "--checkpoint", plain)
    t.run("--steps", 1, "--checkpoint", gone, *case.learnt)
    manifest = (step(gone, 1) / "MANIFEST").rename(t.work / "MANIFEST")
    cases = (
        (["export", plain, "--best", "-o", "x.st"], 1,
         f"{plain}: error: no checkpoint is known as the best: trainers mark it with --keep-best\n"),
        (["export", gone, "--best", "-o", "x.st"], 1,
         f"{gone}: error: no checkpoint is known as the best: trainers mark it with --keep-best\n"),
        (["ls", plain, "--best"], 2, "shardcc: error: --best is for export alone\n"),
        (["export", plain, "--best", "--step", 1, "-o", "x.st"], 2, "shardcc: error: --best and --step: say one of them\n"),
    )  # fmt: skip
    for args, status, text in cases:
        found = case.shardcc(*args)
        case.check(f"{args[0]}: {text[:60]}", (found[0], found[2]) == (status, text), str(found).strip())
    manifest.rename(step(gone, 1) / "MANIFEST")
    t.run("--steps", 2, "--checkpoint", gone, "--resume", "--no-shuffle")
    (step(gone, 1) / "MANIFEST").unlink()
    found = case.shardcc("export", gone, "--best", "-o", "x.st")
    text = f"{gone}: error: there is no checkpoint of step 1, which was the best\n"
    case.check("the best is gone", (found[0], found[2]) == (1, text), str(found))
    for options, text in (
        (["--keep-best", "--eval-data", t.data], "error: --keep-best needs --checkpoint"),
        (["--keep-best", "--checkpoint", plain], "error: --keep-best needs --eval-data"),
    ):
        found = t.run(*options)
        case.check(text, found == (2, text), str(found))


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        model = Model(o.models / "nanogpt.onnx", o.shardcc, Path(o.work or work), cc=QUICK_CC)
        for ranks in 1, 2:
            case = Case(checks, Trainer(model, ranks))
            test_keeps(case)
            test_other_samples(case)
            test_last(case)
            test_messages(case)
    checks.finish()


if __name__ == "__main__":
    main()
