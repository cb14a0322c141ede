#!/usr/bin/env python3
"""The same bits from two runs and under --check-arena; 1 and 2 threads differ by rounding only.

  determinism_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]
"""
import os
import subprocess

from harness import read_safetensors, relative, run
from model import QUICK_CC, Model, for_models, parser


class Run:
    """A run's losses and the bytes of what it saved."""

    def __init__(self, model, trainer, tag, *options):
        weights, gradients = (model.work / f"{what}_{tag}.safetensors" for what in ("weights", "gradients"))
        saves = ["--save", weights, "--save-gradients", gradients]
        self.losses = model.train(trainer, None, *saves, *options, watch=False)
        self.bytes = weights.read_bytes() + gradients.read_bytes()
        self.gradients = read_safetensors(gradients)

    def same(self, other):
        return self.losses == other.losses and self.bytes == other.bytes


def forward(model, trainer, *options):
    """The bytes of a trainer's evaluation and prediction."""
    out = model.work / "predicted.npz"
    said = run(trainer, "--eval-data", model.data(), "--predict", model.data(), "-o", out, *options)
    return said.replace(str(out), ""), out.read_bytes()


def test(checks, model):
    trainer = model.compile("adamw")
    first = Run(model, trainer, "first", "--threads", 2)
    checks.check(f"{model.name}: two runs", Run(model, trainer, "again", "--threads", 2).same(first))
    checks.check(f"{model.name}: --pin", Run(model, trainer, "pinned", "--threads", 2, "--pin").same(first))
    narrow = ["taskset", "-c", str(min(os.sched_getaffinity(0))), trainer, "--data", model.data(), "--threads", "2"]
    refused = subprocess.run([*narrow, "--pin"], capture_output=True, text=True)
    message = f"{trainer.name}: error: --pin: 2 threads, but CPUs for 1\n"
    checks.check(f"{model.name}: --pin on one CPU", (refused.returncode, refused.stderr) == (1, message), refused.stderr)
    checked = Run(model, trainer, "checked", "--threads", 2, "--check-arena")
    checks.check(f"{model.name}: --check-arena", checked.same(first))
    forwards = [forward(model, trainer, "--threads", 2, *more) for more in ((), ("--check-arena",))]
    checks.check(f"{model.name}: --check-arena, forward only", forwards[0] == forwards[1])
    alone = Run(model, trainer, "alone", "--threads", 1)
    worst = worst_difference(model, first.gradients, alone.gradients)
    checks.check(f"{model.name}: 1 thread", worst <= 1e-5, f"{worst:.1e}")


def worst_difference(model, found, expected):
    """The largest difference of gradients that are larger than rounding errors."""
    worst = 0.0
    for name, g in expected.items():
        if (g.astype(float) ** 2).sum() >= 1e-12:
            worst = max(worst, relative(found[name], g))
    return worst


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC)))


if __name__ == "__main__":
    main()
