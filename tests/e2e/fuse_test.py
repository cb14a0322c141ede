#!/usr/bin/env python3
"""Fused against unfused (--no-fuse): the same losses and gradients, except for the order of sums.

  fuse_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]

Unfused, every operator that the exporter wrote is a call of its own, attention's too, nothing is recomputed for the
backward part, and gradients stay to the end of the step. Dropout drops the same elements.
"""
import re

import numpy as np

from harness import read_safetensors, relative, run
from model import QUICK_CC, Model, curves_of, for_models, parser

TOLERANCE = 1e-6
ATTENTION = 2e-6  # fused attention multiplies by the reciprocal of a sum that it has made part by part
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
    # Gradients that are 0 except for rounding (a key's bias) say nothing.
    largest = max(np.linalg.norm(g.astype(float)) for g in plain.values())
    kept = {n: g for n, g in plain.items() if np.linalg.norm(g.astype(float)) >= TOLERANCE * largest}
    worst, at = max((relative(gradients[n], g), n) for n, g in kept.items())
    has_attention = "Softmax" in model.info["operators"]
    bound = BATCH_NORM if model.info["batch_norm"] else ATTENTION if has_attention else TOLERANCE
    checks.check(f"{model.name}: gradients", worst <= bound, f"{worst:.1e} {at}")
    if has_attention and "input_ids" in model.info["inputs"]:
        matrices = [score_matrices(model, *more) for more in ((), ("--no-fuse",))]
        checks.check(f"{model.name}: no matrix of scores", matrices[0] == 0 < matrices[1], str(matrices))


def score_matrices(model, *more):
    """Counts how often the program names a tensor whose last two dims are the sequence's length."""
    length = model.batches("input_ids").shape[1]
    text = run(model.shardcc, model.onnx, "--emit", "program", *model.arguments(curves_of(model.info)["adamw"]), *more)
    return len(re.findall(rf",{length},{length}\]", text))


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC)))


if __name__ == "__main__":
    main()
