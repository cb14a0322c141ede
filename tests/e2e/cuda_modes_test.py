#!/usr/bin/env python3
"""Programs for GPUs on the tests' GPU against those for CPUs: micro-batches, dropout, clipping, every optimizer, files, text.

  cuda_modes_test.py --shardcc build/shardcc [--work DIR] [--jobs 2]

Dropout draws the same numbers on both, so that curves and weights are equal but for the order of sums.
"""
import re
import tempfile
from functools import partial
from pathlib import Path

from harness import Checks, read_safetensors, relative, run, side_by_side
from model import QUICK_CC, REPOSITORY, Model, curves_of, gpu_toolkit, parser
from models_test import without_noise

OPTIMIZERS = re.findall(r"^OPTIMIZER\((\w+)\)", (REPOSITORY / "ir/optimizers.def").read_text(), re.M)
# Model, a tag, options of shardcc, options of the trainer.
CASES = [
    ("tiny_dynamic/gpt_dropout", "accumulate", ["--accumulate", 2], ["--seed", 3]),
    ("tiny_dynamic/gpt_dropout", "clip", ["--accumulate", 2, "--clip-norm", 0.1], ["--schedule", "cosine", "--warmup", 2]),
    ("tiny/mlp", "unfused", ["--no-fuse"], []),
    ("tiny/mlp", "full", ["--recompute", "full"], []),
    *[("tiny/mlp", name, ["--optimizer", name], []) for name in OPTIMIZERS],
]


def without(gradients):
    """Those that are larger than rounding errors."""
    return {n: g for n, g in gradients.items() if (g.astype(float) ** 2).sum() >= 1e-12}


def worst_gradient(found, expected):
    return max((relative(found[n], x) for n, x in without(expected).items()), default=1)


def worst_weight(found, expected, gradients):
    names = without(gradients)
    return max((relative(*without_noise(gradients[n], found[n], expected[n])) for n in names), default=1)


def train(shardcc, work, toolkit, name, tag, options, more):
    """A model's trainer for the GPU of a toolkit, or for a CPU: itself, its losses, gradients and weights."""
    path = REPOSITORY / f"models/{name}.onnx"
    reference = REPOSITORY / f"models/tiny/{path.stem}.npz"
    model = Model(path, shardcc, work / tag / ("gpu" if toolkit else "cpu"), reference, QUICK_CC, toolkit)
    trainer = model.compile(tag, curves_of(model.info)["adamw"], *options)
    files = [model.work / f for f in ("gradients.safetensors", "saved.safetensors")]
    losses = model.train(trainer, None, "--steps", 4, "--save-gradients", files[0], "--save", files[1], *more)
    return model, trainer, losses, *map(read_safetensors, files)


def compare(checks, shardcc, work, toolkit, name, tag, options, more):
    _, _, losses, gradients, weights = train(shardcc, work, None, name, tag, options, more)
    _, _, *found = train(shardcc, work, toolkit, name, tag, options, more)
    worst = max(abs(a - b) / abs(b) for a, b in zip(found[0], losses))
    what = f"{name} {tag}"
    checks.check(f"{what}: losses", len(found[0]) == len(losses) == 4 and worst <= 1e-5, f"{worst:.1e}")
    checks.check(f"{what}: names", set(found[1]) == set(gradients) and set(found[2]) == set(weights))
    checks.check(f"{what}: gradients", (e := worst_gradient(found[1], gradients)) <= 1e-5, f"{e:.1e}")
    checks.check(f"{what}: weights", (e := worst_weight(found[2], weights, gradients)) <= 1e-4, f"{e:.1e}")


def round_trips(checks, shardcc, work, toolkit):
    """What one target saves both load: the same evaluation and the same text."""
    name, tag = "tiny/nanogpt", "files"
    model, gpu, *_ = train(shardcc, work, toolkit, name, tag, [], [])
    _, cpu, *_ = train(shardcc, work, None, name, tag, [], [])
    saved, again = model.work / "saved.safetensors", model.work / "again.safetensors"
    said = [run(t, "--load", saved, "--eval-data", model.data(), "--quiet") for t in (gpu, cpu)]
    losses = [float(re.search(r"eval_loss (\S+)", s)[1]) for s in said]
    checks.close("evaluation of a loaded file", losses[0], losses[1], 1e-5)
    text = ["--load", saved, "--generate", 12, "--prompt", "1 2 3", "--temperature", 0]
    texts = [run(t, *text) for t in (gpu, cpu)]
    checks.check("the same text", texts[0] == texts[1] and texts[0].strip(), repr(texts))
    run(gpu, "--load", saved, "--data", model.data(), "--steps", 0, "--save", again, "--quiet")
    checks.check("a loaded file is saved as it was", saved.read_bytes() == again.read_bytes())


def main():
    options = parser(__doc__).parse_args()
    checks, toolkit = Checks(), gpu_toolkit(options)
    with tempfile.TemporaryDirectory() as temp:
        work = (options.work or Path(temp)).resolve()
        jobs = [partial(compare, checks, options.shardcc, work, toolkit, *case) for case in CASES]
        side_by_side(options.jobs, partial(round_trips, checks, options.shardcc, work, toolkit), *jobs)
    checks.finish()


if __name__ == "__main__":
    main()
