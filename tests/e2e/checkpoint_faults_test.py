#!/usr/bin/env python3
"""Every operation on the files of checkpoints and the log goes wrong once, in four ways: it fails, it is done by half, and the run is
killed before or after it. The run goes on or ends, and the next one ends with the bits of a run without faults.

  checkpoint_faults_test.py --shardcc build/shardcc
"""
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from checkpoint_test import ENV, FILES, Trainer, lines, step
from harness import Checks, run, side_by_side
from model import QUICK_CC, Model, parser

STEPS = 4
OPTIONS = ("--steps", STEPS, "--checkpoint-every", 2, "--keep", 1)


def faulty(trainer, preload, folder, how=None, at=0):
    """Runs the trainer with a fault; its exit status and the number of operations."""
    report = trainer.work / f"{folder.name}.report"
    env = {**ENV, "LD_PRELOAD": preload, "FAULT_FOLDER": folder, "FAULT_REPORT": report, "FAULT_AT": at}
    env.update({"FAULT_HOW": how} if how else {})
    options = [*OPTIONS, "--checkpoint", folder, "--resume", "--log", folder.with_suffix(".jsonl")]
    p = trainer.start(*options, env={k: str(v) for k, v in env.items()})
    p.communicate(timeout=120)
    return p.returncode, int(report.read_text()) if report.exists() else 0


def test_fault(trainer, preload, how, at):
    """What is wrong after the fault; None: nothing."""
    folder = trainer.folder(f"{how}{at}")
    status, _ = faulty(trainer, preload, folder, how, at)
    if (how == "fail" and status not in (0, 1)) or (how != "fail" and status != -9):
        return f"{how} {at}: status {status}"
    failed = status == 1
    status, said = trainer.run(*OPTIONS, "--checkpoint", folder, "--resume", "--log", folder.with_suffix(".jsonl"))
    good = trainer.work / "good"
    if status or said:
        return f"{how} {at}: then status {status}, {said}"
    same = all((step(folder, STEPS) / f).read_bytes() == (step(good, STEPS) / f).read_bytes() for f in FILES)
    names = sorted(x.name for x in folder.rglob("*") if x.is_file())
    if not same or names != sorted(["LOCK", "MANIFEST", *FILES]):
        return f"{how} {at}: other bytes, or {names}"
    # A line that couldn't be written isn't in the log; the run ends with status 1.
    if not failed and lines(folder.with_suffix(".jsonl")) != lines(good.with_suffix(".jsonl")):
        return f"{how} {at}: another log"
    shutil.rmtree(folder)
    return None


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        preload = Path(work) / "file_faults.so"
        source = Path(__file__).with_name("file_faults.c")
        run("cc", "-D_GNU_SOURCE", "-std=c11", "-O1", "-shared", "-fPIC", "-o", preload, source, "-ldl")
        trainer = Trainer(Model(o.models / "mlp.onnx", o.shardcc, Path(work), cc=QUICK_CC), 1)
        status, n = faulty(trainer, preload, trainer.folder("good"))
        checks.check("bytes are on disk before a manifest has its name", status == 0, f"{n} operations")
        for how in ("fail", "tear", "kill", "killed"):
            tests = [partial(test_fault, trainer, preload, how, i + 1) for i in range(n)]
            wrong = [x for x in side_by_side(o.jobs, *tests) if x]
            checks.check(f"{how}: each of {n} operations", n > 0 and not wrong, "; ".join(wrong[:4]))
    checks.finish()


if __name__ == "__main__":
    main()
