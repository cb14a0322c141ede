#!/usr/bin/env python3
"""Two micro-batches against one batch: the same gradients and curves, except for the order of sums.

  accumulate_test.py --shardcc build/shardcc [--models models/tiny_dynamic] [NAME ...]

The models' batch is a named dim. Models with batch norm are left out, because it sees the micro-batch. Some of the
encoder's labels are ignored, so that its micro-batches have different weights. gpt_dropout drops the same elements
in either form. The gradients of two micro-batches take no bytes in addition to their accumulators.
"""
import re

from harness import read_safetensors, relative, run
from model import QUICK_CC, REPOSITORY, Model, curves_of, for_models, parser


def check_offsets(checks, model, *more):
    """Each accumulator's buffer holds three values: the accumulator, the sum after a micro-batch and the gradient."""
    text = model.work / "text.program"
    options = [*model.arguments(curves_of(model.info)["adamw"]), "--accumulate", 2, *more]
    run(model.shardcc, model.onnx, *options, "--emit", "program", "-o", text)
    values = [x.split(": ")[1] for x in re.findall(r"^buffer .*\.grad .*", text.read_text(), re.M)]
    left = [x for x in values if len(re.findall(r"%\S+", x)) != 3]
    checks.check(f"{model.name} {' '.join(map(str, more))}: {len(values)} gradients in accumulators", values and not left, str(left))


def test(checks, model):
    check_offsets(checks, model)
    check_offsets(checks, model, "--clip-norm", 1)
    gradients, curves = {}, {}
    for k in (1, 2):
        trainer = model.compile(f"by_{k}", None, "--accumulate", k)
        file = model.work / f"gradients_{k}.safetensors"
        curves[k] = model.train(trainer, None, "--save-gradients", file)
        gradients[k] = read_safetensors(file)
    checks.check(f"{model.name}: names", set(gradients[1]) == set(gradients[2]))
    worst = max(relative(gradients[2][n], g) for n, g in gradients[1].items() if has_size(g))
    checks.check(f"{model.name}: gradients", worst <= 1e-5, f"{worst:.1e}")
    worst = max(abs(a - b) / abs(a) for a, b in zip(curves[1], curves[2]))
    same_length = len(curves[1]) == len(curves[2]) == model.info["steps"]
    checks.check(f"{model.name}: curves", same_length and worst <= 1e-5, f"{worst:.1e}")


def has_size(gradient):
    """Is the gradient larger than rounding errors?"""
    return (gradient.astype(float) ** 2).sum() >= 1e-12


def main():
    p = parser(__doc__)
    p.set_defaults(models=REPOSITORY / "models/tiny_dynamic")
    options = p.parse_args()

    def one(checks, path, work):
        npz = path.with_suffix(".npz")
        reference = npz if npz.exists() else REPOSITORY / "models/tiny" / npz.name
        model = Model(path, options.shardcc, work, reference, QUICK_CC)
        if not model.info["batch_norm"]:
            test(checks, model)

    for_models(options, one)


if __name__ == "__main__":
    main()
