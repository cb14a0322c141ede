#!/usr/bin/env python3
"""--reduce bf16: ranks add gradients up in half of the bytes, in the plan and at the calls, within the rounding of bf16.

  reduce_test.py --shardcc build/shardcc
"""
import json
from pathlib import Path

import numpy as np

from harness import read_safetensors, run, sent_rows, test_in_folder, write_data
from model import QUICK_CC
from plans import MLP, TRAIN

SLOW_LINK = Path(__file__).with_name("slow_link.json")
SPLIT = ("x=[-,-]", "labels=[-]", "0.weight=[tp,-]", "0.bias=[tp]", "2.weight=[-,tp]", "2.bias=[-]", "4.weight=[-,tp]", "4.bias=[-]")
SUMS = ("all_reduce", "reduce_scatter")


class Reduce:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks
        dice = np.random.default_rng(0)
        write_data(work / "data", {"x": dice.normal(size=(32, 32)).astype(np.float32), "labels": dice.integers(0, 10, 32)})

    def train(self, tag, *options):
        """The bytes of sums by the plan and by the calls of a step, and its gradients."""
        plan, program = self.work / f"{tag}.plan.json", self.work / tag
        run(self.shardcc, "plan", MLP, *TRAIN, "--ranks", 2, "-o", plan, *options, cwd=self.work)
        reduce = options[options.index("--reduce") :][:2] if "--reduce" in options else []
        more = ["--accumulate", 2, "--cluster", SLOW_LINK] if "--accumulate" in options else []
        run(self.shardcc, MLP, *TRAIN, "--plan", plan, "-o", program, "--cc", QUICK_CC, "--transport", "tcp", *reduce, *more, cwd=self.work)
        gradients = self.work / f"{tag}.gradients.safetensors"
        said = run(program, "--data", "data", "--no-shuffle", "--quiet", "--spawn", 2, "--save-gradients", gradients, "--profile", cwd=self.work)
        planned = [c for c in json.loads(plan.read_text())["collectives"] if c["kind"] in SUMS]
        return sum(c["bytes"] * c.get("times", 1) for c in planned), sum(n for kind, _, n in sent_rows(said) if kind in SUMS), read_safetensors(gradients)


def test_reduce(f):
    for name, options in (
        ("ddp", ["--plan-preset", "ddp"]),
        ("zero1", ["--plan-preset", "zero1"]),
        ("fsdp", ["--plan-preset", "fsdp"]),
        ("micro", ["--plan-preset", "ddp", "--accumulate", 2, "--cluster", SLOW_LINK]),
        ("halves", ["--plan-preset", "fsdp", "--precision", "bf16"]),
    ):
        wide = f.train(f"{name}_f32", *options)
        half = f.train(f"{name}_bf16", *options, "--reduce", "bf16")
        for what, i in (("plan", 0), ("calls", 1)):
            f.checks.check(f"{name}: half of the bytes in the {what}", 0.5 <= half[i] / wide[i] < 0.51, f"{half[i]} of {wide[i]}")
        far = max(np.abs(half[2][n] - a).max() / np.abs(a).max() for n, a in wide[2].items())
        f.checks.check(f"{name}: within the rounding", 0 < far < 2**-7, str(far))
    # Each rank has all data and a part of the matrices, so nobody adds gradients up.
    pins = [x for pin in SPLIT for x in ("--pin", pin)]
    wide, half = (f.train(f"split_{kind}", "--mesh", "tp=2", *pins, "--reduce", kind) for kind in ("f32", "bf16"))
    rounded = [n for n, a in wide[2].items() if not np.array_equal(half[2][n], a)]
    f.checks.check("split: gradients keep their bits", not rounded and half[1] == wide[1], f"{rounded}, {half[1]} bytes of {wide[1]}")
    said = run(f.shardcc, MLP, *TRAIN, "--reduce", "f16", "--ranks", 2, status=2)
    f.checks.check("another type", "--reduce: 'f16' is not one of f32, bf16" in said, said)
    said = run(f.shardcc, MLP, *TRAIN, "--reduce", "bf16", status=2)
    f.checks.check("one rank", "--reduce needs --ranks" in said, said)


if __name__ == "__main__":
    test_in_folder(Reduce, test_reduce)
