#!/usr/bin/env python3
"""Fused against unfused (--no-fuse): the same losses and gradients but for the order of sums.

  fuse_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]

Unfused, every operator is a call of its own, nothing is made again for the backward part, and gradients live to
the end of the step.
"""
import numpy as np

from harness import read_safetensors, relative
from model import Model, for_models, parser

TOLERANCE = 1e-6
BATCH_NORM = 5e-5  # its gradients are small differences of large sums


def first_step(model, tag, *more):
    """The loss and the gradients of the first step."""
    trainer = model.compile(tag, None, *more)
    saved = model.work / f"gradients_{tag}.safetensors"
    losses = model.train(trainer, None, "--save-gradients", saved)
    return losses[0], read_safetensors(saved)


def test(checks, model):
    loss, gradients = first_step(model, "fused")
    plain_loss, plain = first_step(model, "plain", "--no-fuse")
    checks.check(f"{model.name}: loss", abs(loss - plain_loss) <= TOLERANCE * abs(plain_loss), f"{loss} {plain_loss}")
    # Gradients that are 0 but for rounding (a key's bias) say nothing.
    largest = max(np.linalg.norm(g.astype(float)) for g in plain.values())
    kept = {n: g for n, g in plain.items() if np.linalg.norm(g.astype(float)) >= TOLERANCE * largest}
    worst, at = max((relative(gradients[n], g), n) for n, g in kept.items())
    bound = BATCH_NORM if model.info["batch_norm"] else TOLERANCE
    checks.check(f"{model.name}: gradients", worst <= bound, f"{worst:.1e} {at}")


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work)))


if __name__ == "__main__":
    main()
