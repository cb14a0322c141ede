#!/usr/bin/env python3
"""Trainers in half precision beside PyTorch's, by torch.autocast.

  precision_test.py --shardcc build/shardcc [--all] [--models models/tiny] [--work DIR] [--jobs 2] [NAME ...]

For each model with its NAME.halves.json (made by models/export.py), in bf16 and in f16: the distance of its gradients, as one
vector, to those in f32 is at most 1.25 times that of autocast's (in f16, where a rectifier that rounding turns weighs more, 1.35
times), the cosine of their angle at least 0.995, and the curve of AdamW is within 2 % of f32's. Where autocast's own are further
from f32 (batch norms of few samples), ours may be as far, and curves twice. Programs for the tests' GPU are tried too;
their gradients are also those of the CPU's program but for rounding. A sample of all that, unless --all is given.
"""
import json
import tempfile
from pathlib import Path

import numpy as np

from harness import read_log, read_safetensors, run, write_data
from model import QUICK_CC, Model, for_models, options_with_all
from onnx_bytes import TYPES, node, tensor, value
from onnx_bytes import model as onnx_model

# Without --all: the models and their types, and the type of programs for the tests' GPU.
SAMPLE = {"mlp": ("bf16", "f16"), "cnn": ("bf16",), "gpt2": ("bf16", "f16"), "llama": ("bf16",), "mobilenet": ("bf16",)}
SAMPLE_GPU = {"gpt2": "bf16", "mlp": "f16"}
MOST = {"bf16": 1.25, "f16": 1.35}  # times the distance of autocast's gradients


class Difference:
    """Of all gradients of a model, as one vector, to those in f32."""

    def __init__(self):
        self.far = self.wide = self.ours = self.both = 0.0

    def add(self, far, ours, wide, both):
        """Squares of norms: of the difference, of both; and their product."""
        self.far, self.ours, self.wide, self.both = self.far + far, self.ours + ours, self.wide + wide, self.both + both

    def distance(self):
        return (self.far / self.wide) ** 0.5

    def cosine(self):
        return self.both / (self.ours * self.wide) ** 0.5


def ours_and_autocast(model, found, autocast):
    """How far both are from f32."""
    ours, theirs = Difference(), Difference()
    for name, gradient in found.items():
        if f"grad/{name}" not in model.ref or name not in autocast:
            continue
        a, b = gradient.astype(np.float64).ravel(), model.ref[f"grad/{name}"].astype(np.float64).ravel()
        ours.add((a - b) @ (a - b), a @ a, b @ b, a @ b)
        distance, cosine = autocast[name]
        # |a - b|^2 = |a|^2 + |b|^2 - 2 a·b, with a·b = cosine |a| |b|: the larger root is the norm of a.
        size = cosine + max(0.0, cosine**2 - 1 + distance**2) ** 0.5
        theirs.add(distance**2 * (b @ b), size**2 * (b @ b), b @ b, cosine * size * (b @ b))
    return ours, theirs


def off_curve(losses, wide):
    return max(abs(a - b) / abs(b) for a, b in zip(losses, wide))


def test(checks, model, precision, references):
    """Returns the gradients of the first step."""
    name = f"{model.name} in {precision}{' on a GPU' if model.cuda else ''}"
    gradients = model.work / f"{precision}.safetensors"
    trainer = model.compile(precision, None, "--precision", precision)
    losses = model.train(trainer, None, "--save-gradients", gradients)
    wide, autocast = references["f32"]["curve"], references[precision]
    far, theirs = off_curve(losses, wide), off_curve(autocast.get("curve", wide), wide)
    checks.check(f"{name}: curve", len(losses) == len(wide) and far <= max(0.02, 2 * theirs), f"{far:.1e}, autocast {theirs:.1e}")
    found = read_safetensors(gradients)
    if "gradients" in autocast:
        ours, theirs = ours_and_autocast(model, found, autocast["gradients"])
        text = f"{ours.distance():.1e}, autocast {theirs.distance():.1e}"
        checks.check(f"{name}: gradients", ours.distance() <= MOST[precision] * theirs.distance(), text)
        text = f"{ours.cosine():.6f}, autocast {theirs.cosine():.6f}"
        checks.check(f"{name}: angle of gradients", 1 - ours.cosine() <= max(0.005, 1.25 * (1 - theirs.cosine())), text)
    return found


def compare(checks, name, model, gpu, cpu):
    """Of both programs' gradients, as vectors: their angle, beside that to f32."""
    both, wide = Difference(), Difference()
    for tensor, a in gpu.items():
        a, b = a.astype(np.float64).ravel(), cpu[tensor].astype(np.float64).ravel()
        both.add(0, a @ a, b @ b, a @ b)
        if f"grad/{tensor}" in model.ref:
            c = model.ref[f"grad/{tensor}"].astype(np.float64).ravel()
            wide.add(0, b @ b, c @ c, b @ c)
    least = min(0.9999, 1 - (1 - wide.cosine()) / 4)
    checks.check(f"{name}: the CPU's gradients", gpu.keys() == cpu.keys() and both.cosine() >= least, f"{both.cosine():.7f}")


def in_halves(a, precision):
    """An array in f16, or the bits of bf16, and the same numbers in f32."""
    if precision == "f16":
        half = a.astype(np.float16)
        return half, half.astype(np.float32)
    bits = (a.view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


LOWEST = {"f16": np.float16(-65504), "bf16": np.uint16(0xFF7F), "f32": np.finfo(np.float32).min}


def mask_of(kind):
    """Row 0 hides all, row 1 a half."""
    mask = np.zeros((4, 8), LOWEST[kind].dtype)
    mask[0], mask[1, 4:] = LOWEST[kind], LOWEST[kind]
    return mask


def net(weights, kind, is_data):
    """logits = softmax(relu(x · w0) + mask) · w1, with weights, mask and products of a type. The mask is a constant, or data."""
    given = [value("x", "f32", [4, 6])] + [value("mask", kind, [4, 8])] * is_data
    nodes = [node("Constant", [], ["mask"], value=mask_of(kind))] * (not is_data) + [node("Cast", ["x"], ["h"], to=TYPES[kind]),
             node("MatMul", ["h", "w0"], ["a"]), node("Relu", ["a"], ["b"]),
             node("Add", ["b", "mask"], ["c"]), node("Softmax", ["c"], ["d"], axis=1), node("MatMul", ["d", "w1"], ["logits"])]  # fmt: skip
    initializers = [tensor(f"w{i}", w) for i, w in enumerate(weights)]
    return onnx_model(nodes, given, [value("logits", kind, [4, 3])], initializers)


def test_exported(checks, shardcc, work):
    """A model that was exported in halves trains as the same one in f32 does with --precision; its weights are f32."""
    work.mkdir(parents=True)
    draw = np.random.default_rng(1)
    weights = [draw.normal(size=s).astype(np.float32) for s in ((6, 8), (8, 3))]
    data = {"x": draw.normal(size=(8, 6)).astype(np.float32), "labels": draw.integers(0, 3, 8)}
    train = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw(lr=0.1)", "--cc", QUICK_CC]
    for precision, is_data in (("bf16", False), ("f16", False), ("f16", True)):
        what = f"{precision}{', the mask is data' * is_data}"
        halves = [in_halves(w, precision) for w in weights]
        losses = {}
        for name, content, more in (
            ("half", net([h for h, _ in halves], precision, is_data), []),
            ("wide", net([w for _, w in halves], "f32", is_data), ["--precision", precision]),
        ):
            kind = precision if name == "half" else "f32"
            write_data(work / f"{name}.data", data | ({"mask": np.concatenate([mask_of(kind)] * 2)} if is_data else {}))
            (work / f"{name}.onnx").write_bytes(content)
            said = run(shardcc, work / f"{name}.onnx", "-o", work / name, *train, *more)
            checks.check(f"{name} in {what}: it says so", f"precision     {precision}: all products;" in said, said)
            saved = read_safetensors(work / f"{name}.safetensors")
            same = all(saved[f"w{i}"].dtype == np.float32 and (saved[f"w{i}"] == w).all() for i, (_, w) in enumerate(halves))
            checks.check(f"{name} in {what}: weights are f32", same)
            run(work / name, "--data", work / f"{name}.data", "--steps", 6, "--no-shuffle", "--quiet", "--log", work / "log.jsonl")
            losses[name] = [x["loss"] for x in read_log(work / "log.jsonl")]
        checks.check(f"exported in {what}: the same losses", losses["half"] == losses["wide"], str(losses))


def in_folder(checks, options):
    with tempfile.TemporaryDirectory() as temp:
        test_exported(checks, options.shardcc, Path(temp) / "exported")


def main():
    options = options_with_all(__doc__, list(SAMPLE))
    toolkit = options.shardcc.parent / "tests/cuda/toolkit"
    gpu = SAMPLE_GPU if toolkit.exists() else {}

    def one(checks, path, work):
        model, halves = Model(path, options.shardcc, work), path.with_suffix(".halves.json")
        if not halves.exists():  # dropout: no two programs draw the same bits
            return
        references = json.loads(halves.read_text())
        model.info["steps"] = len(references["f32"]["curve"])
        for precision in ("bf16", "f16") if options.all else SAMPLE.get(model.name, ("bf16", "f16")):
            found = test(checks, model, precision, references)
            if gpu and (options.all or gpu.get(model.name) == precision):
                other = Model(path, options.shardcc, work / "gpu", cc=QUICK_CC, cuda=toolkit)
                other.info["steps"] = model.info["steps"]
                compare(checks, f"{model.name} in {precision}", model, test(checks, other, precision, references), found)

    for_models(options, one, lambda checks: in_folder(checks, options))


if __name__ == "__main__":
    main()
