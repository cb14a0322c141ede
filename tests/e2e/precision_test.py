#!/usr/bin/env python3
"""Trainers in half precision beside PyTorch's, by torch.autocast.

  precision_test.py --shardcc build/shardcc [--models models/tiny] [--work DIR] [--jobs 2] [NAME ...]

For each model with its NAME.halves.json (made by models/export.py), in bf16 and in f16: the distance of each parameter's gradient
to the one in f32 is at most 1.25 times that of autocast's, the cosine of their angle at least 0.995, and the curve of AdamW is
within 2 % of f32's.
"""
import json

import numpy as np

from harness import read_safetensors
from model import Model, for_models, parser

LEAST_DISTANCE = 1e-3  # below it the rounding of single elements decides
LEAST_NORM = 1e-6      # of a gradient that isn't rounding alone


def distance(gradient, wide):
    a, b = gradient.astype(np.float64).ravel(), wide.astype(np.float64).ravel()
    size = np.linalg.norm(b)
    return np.linalg.norm(a - b) / size, float(a @ b / (size * (np.linalg.norm(a) or 1)))


def test_gradients(checks, model, name, found, autocast):
    """All gradients together, and each one."""
    far, least = (0, ""), (1, "")
    for parameter, gradient in found.items():
        wide = model.ref.get(f"grad/{parameter}")
        if wide is None or np.linalg.norm(wide.astype(np.float64)) < LEAST_NORM:
            continue
        ours, cosine = distance(gradient, wide)
        theirs = max(autocast[parameter][0], LEAST_DISTANCE) if parameter in autocast else 1
        far, least = max(far, (ours / theirs, parameter)), min(least, (cosine, parameter))
    checks.check(f"{name}: gradients beside autocast's", far[0] <= 1.25, f"{far[0]:.2f} {far[1]}")
    checks.check(f"{name}: angles of gradients", least[0] >= 0.995, f"{least[0]:.6f} {least[1]}")


def test(checks, model, precision, references):
    name = f"{model.name} in {precision}"
    gradients = model.work / f"{precision}.safetensors"
    trainer = model.compile(precision, None, "--precision", precision)
    losses = model.train(trainer, None, "--save-gradients", gradients)
    wide = references["f32"]["curve"]
    worst = max(abs(a - b) / abs(b) for a, b in zip(losses, wide))
    checks.check(f"{name}: curve", len(losses) == len(wide) and worst <= 0.02, f"{worst:.1e}")
    test_gradients(checks, model, name, read_safetensors(gradients), references[precision].get("gradients", {}))


def main():
    options = parser(__doc__).parse_args()

    def one(checks, path, work):
        model, halves = Model(path, options.shardcc, work), path.with_suffix(".halves.json")
        if not halves.exists():  # dropout: no two programs draw the same bits
            return
        references = json.loads(halves.read_text())
        model.info["steps"] = len(references["f32"]["curve"])
        for precision in ("bf16", "f16"):
            test(checks, model, precision, references)

    for_models(options, one)


if __name__ == "__main__":
    main()
