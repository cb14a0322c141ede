#!/usr/bin/env python3
"""The log's numbers of a step fit each other, on one rank and on two.

  log_test.py --shardcc build/shardcc

No time is checked to be short, because the machine may be doing something else.
"""
import json
import re
import tempfile
from pathlib import Path

from checkpoint_test import Trainer
from harness import MPI_ENV, Checks, mpirun, read_log, run
from model import QUICK_CC, Model, parser
from tensorboard_test import of_log, read_events, same

PEAK = 0.7 * 67e12  # of h100xN: docs/cluster.md
KEYS = ["step", "loss", "lr", "grad_norm", "seconds", "tokens_per_second", "flops_per_second", "compute_seconds",
        "communication_seconds", "data_seconds", "saving_seconds", "arena_bytes", "resident_bytes"]  # fmt: skip


def near(a, b):
    return abs(a - b) <= 1e-6 * abs(b) + 1e-9


def test_steps(checks, trainer):
    name, log = f"{trainer.ranks} ranks", trainer.work / "steps.jsonl"
    ran = trainer.run("--steps", 5, "--checkpoint", trainer.folder("saved"), "--checkpoint-every", 2, "--log", log)
    steps = read_log(log)
    checks.check(f"{name}: fields", ran == (0, "") and all(list(x) == KEYS for x in steps), f"{ran} {list(steps[0])}")
    parts = ("compute_seconds", "communication_seconds", "data_seconds")
    checks.check(f"{name}: times add up", all(near(sum(x[p] for p in parts), x["seconds"]) for x in steps))
    checks.check(f"{name}: no time is less than 0", all(x[p] >= 0 for x in steps for p in (*parts, "saving_seconds")))
    spoke = [x["communication_seconds"] > 0 for x in steps]
    checks.check(f"{name}: communication", all(spoke) if trainer.ranks > 1 else not any(spoke), str(spoke))
    saved = [x["saving_seconds"] for x in steps]
    checks.check(f"{name}: saving", saved[0] == 0 and min(saved[2], saved[4]) > 1e-5, str(saved))
    info = run(trainer.program, "--info")
    arena = float(re.search(r"arena +([\d.]+) MiB", info)[1])
    checks.check(f"{name}: arena", all(abs(x["arena_bytes"] / 2**20 - arena) < 0.06 for x in steps))
    checks.check(f"{name}: memory", all(x["resident_bytes"] > 1 << 20 for x in steps))
    tokens = {round(x["tokens_per_second"] * x["seconds"], 3) for x in steps}
    batch, time = re.search(r"input_ids I64\[(\d+),(\d+)\]", info).groups()
    checks.check(f"{name}: tokens", tokens == {int(batch) * int(time)}, str(tokens))
    flops = float(re.search(r"step +([\d.e+-]+) GFLOP", info)[1]) * 1e9
    checks.check(f"{name}: flops", all(abs(x["flops_per_second"] * x["seconds"] / flops - 1) < 1e-3 for x in steps))


def test_peak(checks, model, ranks):
    """The share of the peak is in the log of a program that was compiled with --cluster."""
    trainer = Trainer(model, ranks)
    more = ["--ranks", ranks, "--plan-preset", "ddp"] if ranks > 1 else []
    trainer.program = model.compile(f"peak{ranks}", None, "--cluster", f"h100x{ranks}", *more)
    ran = trainer.run("--steps", 2, "--log", "peak.jsonl")
    steps = read_log(trainer.work / "peak.jsonl")
    fine = all(near(x["share_of_peak"] * PEAK * ranks, x["flops_per_second"]) for x in steps)
    checks.check(f"{ranks} ranks: share of the peak", ran == (0, "") and fine and len(steps) == 2, f"{ran} {steps[:1]}")


def test_evaluation(checks, trainer):
    """An evaluation without training writes the line that the evaluation after a step writes."""
    name, work = f"{trainer.ranks} ranks, evaluation", trainer.work
    launch = mpirun(trainer.ranks) if trainer.ranks > 1 else []
    trained = trainer.run("--steps", 1, "--lr", 0, "--weight-decay", 0, "--eval-data", trainer.data, "--log", "trained.jsonl")
    shown = run(*launch, trainer.program, "--eval-data", trainer.data, "--log", "alone.jsonl", "--tensorboard", trainer.folder("events"), cwd=work, env=MPI_ENV)
    after, alone = ([json.loads(x) for x in (work / f).read_text().splitlines()] for f in ("trained.jsonl", "alone.jsonl"))
    fine = trained == (0, "") and len(alone) == 1 and list(alone[0]) == list(after[-1])
    checks.check(f"{name}: a line", fine, f"{trained} {alone} {after[-1:]}")
    equal = all(alone[0][k] == after[-1][k] for k in ("eval_loss", "samples")) and alone[0]["step"] == 0
    checks.check(f"{name}: its numbers", equal and f"eval_loss {alone[0]['eval_loss']:.9g}" in shown, f"{alone} {after[-1:]} {shown}")
    (file,) = (work / "events").iterdir()
    events, _ = read_events(file)
    checks.check(f"{name}: an event", same(events, of_log(work / "alone.jsonl")), str(events))


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        model = Model(o.models / "nanogpt.onnx", o.shardcc, Path(o.work or work), cc=QUICK_CC)
        for ranks in 1, 2:
            trainer = Trainer(model, ranks)
            test_steps(checks, trainer)
            test_evaluation(checks, trainer)
            test_peak(checks, model, ranks)
    checks.finish()


if __name__ == "__main__":
    main()
