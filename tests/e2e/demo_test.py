#!/usr/bin/env python3
"""The demo GPT against PyTorch's numbers (models/demo_gpt.json), on the CPU and on the tests' GPU (tests/cuda).

  demo_test.py --shardcc build/shardcc
"""
import json
import tempfile
from pathlib import Path

import numpy as np

from harness import Checks, read_log, read_safetensors, relative, run, side_by_side, write_data, write_safetensors
from model import QUICK_CC, REPOSITORY, gpu_toolkit, optimizer_text, parser

MODEL = REPOSITORY / "models/demo_gpt.onnx"
BATCH, LENGTH, VOCABULARY, STEPS = 2, 64, 256, 3
ADAMW = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
SAMPLES = 16  # elements of a gradient that are compared


def draw_weights(shapes):
    """Weights by name, of which no two are equal. The numbers of RandomState are the same in all versions of NumPy."""
    drawn = {}
    for i, (name, shape) in enumerate(sorted(shapes.items())):
        noise = np.random.RandomState(i).standard_normal(shape)
        scaled = 0.08 * noise if len(shape) > 1 else 0.1 * noise + name.endswith("weight")
        drawn[name] = scaled.astype(np.float32)
    return drawn


def draw_tokens():
    """Inputs and labels of each step."""
    tokens = np.random.RandomState(1000).randint(0, VOCABULARY, (STEPS, BATCH, LENGTH + 1))
    return tokens[..., :-1].copy(), tokens[..., 1:].copy()


def samples_of(gradient):
    flat = gradient.reshape(-1)
    return flat[np.linspace(0, flat.size - 1, SAMPLES).astype(np.int64)]


def train(o, work, target, options):
    """The losses, and the gradients of the first step."""
    work = work / target
    work.mkdir()
    expected = json.loads(MODEL.with_suffix(".json").read_text())
    weights, log, gradients = work / "weights.safetensors", work / "log.jsonl", work / "gradients.safetensors"
    drawn = draw_weights(expected["shapes"]).items()
    write_safetensors(weights, {name: ("F32", x.shape, x.tobytes()) for name, x in drawn})
    ids, labels = (x.reshape(-1, LENGTH) for x in draw_tokens())
    write_data(work / "data", {"input_ids": ids, "labels": labels})
    optimizer = optimizer_text({"optimizer": "adamw", **ADAMW})
    run(o.shardcc, MODEL, "--bind", f"batch={BATCH}", "--loss", "cross_entropy(logits, labels)", "--optimizer", optimizer,
        "--no-weights", "--init", "normal(0.02)", "-o", work / "demo", "--cc", QUICK_CC, *options)  # fmt: skip
    run(work / "demo", "--data", work / "data", "--no-shuffle", "--steps", STEPS, "--load", weights, "--quiet",
        "--log", log, "--save-gradients", gradients)  # fmt: skip
    return expected, [x["loss"] for x in read_log(log)], read_safetensors(gradients)


def test(checks, o, work, target, options):
    expected, losses, gradients = train(o, work, target, options)
    worst = max(abs(a - b) / b for a, b in zip(losses, expected["losses"]))
    checks.check(f"{target}: losses", len(losses) == STEPS and worst <= 1e-5, f"{worst:.1e}")
    names = expected["gradients"].keys()
    both = names == gradients.keys()
    checks.check(f"{target}: names of gradients", both, str(sorted(names ^ gradients.keys())))
    off = {}
    for name, g in gradients.items():
        e = expected["gradients"][name]
        norm = relative(np.linalg.norm(g.astype(np.float64)), e["norm"])
        off[name] = max(norm, relative(samples_of(g), e["samples"]))
    worst = max(off, key=off.get)
    checks.check(f"{target}: gradients", off[worst] <= 1e-4, f"{off[worst]:.1e} {worst}")


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    targets = {"cpu": [], "cuda": ["--target", "cuda", "--cuda", gpu_toolkit(o)]}
    with tempfile.TemporaryDirectory() as work:
        side_by_side(2, *(lambda t=t, x=x: test(checks, o, Path(work), t, x) for t, x in targets.items()))
    checks.finish()


if __name__ == "__main__":
    main()
