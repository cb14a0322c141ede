#!/usr/bin/env python3
"""Trainers in half precision against PyTorch's references in f32.

  precision_test.py --shardcc build/shardcc [--models models/tiny] [--work DIR] [--jobs 2] [NAME ...]

For each model in bf16 and in f16: the curve of AdamW within 2 % of the f32 one, and the angle of each parameter's gradient to
the f32 one: its cosine at least 0.995.
"""
import numpy as np

from harness import read_safetensors
from model import Model, curves_of, for_models, parser


def cosine(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def test(checks, model, precision):
    trainer = model.compile(precision, None, "--precision", precision)
    gradients = model.work / f"{precision}.safetensors"
    losses = model.train(trainer, None, "--save-gradients", gradients)
    expected = model.ref["curve_adamw"]
    worst = max(abs(a - b) / abs(b) for a, b in zip(losses, expected))
    checks.check(f"{model.name}: curve in {precision}", len(losses) == len(expected) and worst <= 0.02, f"{worst:.1e}")
    least, at = 1, ""
    for name, g in read_safetensors(gradients).items():
        want = model.ref.get(f"grad/{name}")
        if want is not None and np.linalg.norm(want.astype(np.float64)) >= 1e-6:
            c = cosine(g, want)
            least, at = min((least, at), (c, name))
    checks.check(f"{model.name}: gradients in {precision}", least >= 0.995, f"{least:.6f} {at}")


def main():
    options = parser(__doc__).parse_args()

    def one(checks, path, work):
        model = Model(path, options.shardcc, work)
        if not model.info.get("dropout"):
            for precision in ("bf16", "f16"):
                test(checks, model, precision)

    for_models(options, one)


if __name__ == "__main__":
    main()
