#!/usr/bin/env python3
"""Every operation on the files of checkpoints and the log goes wrong once, in six ways: it fails, it is done by half, the disk is
full for a while, and the run is killed in its middle, before or after it. The run goes on or ends, and the next one ends with the
bits of a run without faults.

  checkpoint_faults_test.py --shardcc build/shardcc [--all | --part NAME ...]

--all: also checkpoints that are written in place and with --keep-best, and those of two ranks, of which either one has the fault.
It takes some minutes; --part takes a part of it.
"""
import shutil
import tempfile
from functools import partial
from pathlib import Path

from checkpoint_test import ENV, FILES, Trainer, lines, step
from harness import Checks, run, side_by_side
from model import QUICK_CC, Model, parser

STEPS = 4
OPTIONS = ("--steps", STEPS, "--checkpoint-every", 2, "--keep", 1)
WAYS = ("fail", "short", "full", "tear", "kill", "killed")
PARTS = ("beside", "place", "best", "rank0", "rank1")
KILLED = {1: -9, 2: 137}  # by ranks: that of the program; that of mpirun


class Faults:
    """Runs of a trainer with those options, of which a rank has the fault."""

    def __init__(self, trainer, preload, name, *options, rank=None):
        self.trainer, self.preload, self.name, self.options, self.rank = trainer, preload, name, (*OPTIONS, *options), rank
        self.good = trainer.folder(f"{name}_good")
        self.status, self.operations = self.run(self.good)

    def arguments(self, folder):
        return [*self.options, "--checkpoint", folder, "--resume", "--log", folder.with_suffix(".jsonl")]

    def run(self, folder, how=None, at=0):
        """The exit status and the number of operations."""
        report = folder.with_suffix(".report")
        env = {**ENV, "LD_PRELOAD": self.preload, "FAULT_FOLDER": folder, "FAULT_REPORT": report, "FAULT_AT": at}
        env.update({"FAULT_HOW": how} if how else {})
        env.update({"FAULT_RANK": self.rank} if self.rank is not None else {})
        p = self.trainer.start(*self.arguments(folder), env={k: str(v) for k, v in env.items()})
        p.communicate(timeout=120)
        return p.returncode, int(report.read_text()) if report.exists() else 0

    def test(self, how, at):
        """What is wrong after the fault; None: nothing."""
        what = f"{self.name}: {how} {at}"
        folder = self.trainer.folder(f"{self.name}_{how}{at}")
        status, _ = self.run(folder, how, at)
        fine = {"fail": (0, 1), "short": (0,), "full": (0, 1)}.get(how, (KILLED[self.trainer.ranks],))
        if status not in fine:
            return f"{what}: status {status}"
        again, said = self.trainer.run(*self.arguments(folder))
        if again or said:
            return f"{what}: then status {again}, {said}"
        same = all((step(folder, STEPS) / f).read_bytes() == (step(self.good, STEPS) / f).read_bytes() for f in FILES)
        names = sorted(x.name for x in folder.rglob("*") if x.is_file())
        if not same or names != sorted(x.name for x in self.good.rglob("*") if x.is_file()):
            return f"{what}: other bytes, or {names}"
        # A line that couldn't be written isn't in the log; the run ends with status 1.
        log, whole = lines(folder.with_suffix(".jsonl")), lines(self.good.with_suffix(".jsonl"))
        if log != whole and (status != 1 or log != [x for x in whole if x in log]):
            return f"{what}: another log"
        shutil.rmtree(folder)
        return None


def test_faults(checks, faults, jobs):
    n = faults.operations
    checks.check(f"{faults.name}: bytes are on disk before a manifest has its name", faults.status == 0, f"{n} operations")
    for how in WAYS:
        wrong = [x for x in side_by_side(jobs, *(partial(faults.test, how, i + 1) for i in range(n))) if x]
        checks.check(f"{faults.name}: {how}: each of {n} operations", n > 0 and not wrong, "; ".join(wrong[:4]))


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--part", nargs="+", choices=PARTS, default=PARTS[:1])
    o = p.parse_args()
    parts = PARTS if o.all else o.part
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        preload = Path(work) / "file_faults.so"
        source = Path(__file__).with_name("file_faults.c")
        run("cc", "-D_GNU_SOURCE", "-std=c11", "-O1", "-shared", "-fPIC", "-o", preload, source, "-ldl")
        model = Model(o.models / "mlp.onnx", o.shardcc, Path(work), cc=QUICK_CC)
        one, two = Trainer(model, 1), Trainer(model, 2)
        best = ("--eval-data", one.data, "--eval-every", 1, "--keep-best")
        for name, trainer, options, rank in (
            ("beside", one, (), None), ("place", one, ("--checkpoint-in-place",), None), ("best", one, best, None),
            ("rank0", two, (), 0), ("rank1", two, (), 1),
        ):  # fmt: skip
            if name in parts:
                test_faults(checks, Faults(trainer, preload, name, *options, rank=rank), o.jobs)
    checks.finish()


if __name__ == "__main__":
    main()
