#!/usr/bin/env python3
"""Trainers of exported models against PyTorch's losses, gradients, curves and weights.

  models_test.py --shardcc build/shardcc [--models models/tiny] [--work DIR] [--jobs 2] [NAME ...]

For each NAME.onnx with its NAME.npz and NAME.json (made by models/export.py): first loss, every parameter's
gradient, training curves of every optimizer in the file, weights after the AdamW curve, the output.
"""
import argparse
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from harness import Checks, read_log, read_safetensors, relative, run, write_data

LOSS = {"cross_entropy": "cross_entropy({0}, labels)", "mse": "mse({0}, labels)"}


def optimizer_text(o):
    """The settings of a curve, as export.py writes them, as shardcc's --optimizer."""
    o = dict(o)
    kind = o.pop("optimizer")
    betas = o.pop("betas", None)
    if betas:
        o["beta1"], o["beta2"] = betas
    for key in ("loss", "label_smoothing", "clip_norm"):
        o.pop(key, None)
    return f"{kind}({', '.join(f'{k}={str(v).lower()}' for k, v in o.items())})"


def curves_of(info):
    curves = {"adamw": dict(optimizer="adamw", **info["adamw"]), "sgd": dict(optimizer="sgd", **info["sgd"])}
    curves.update(info["extra"])
    return curves


def loss_text(info, curve):
    if "bce" in curve.get("loss", ""):
        return f"bce_with_logits({info['output']}, labels)"
    if curve.get("loss") == "l1":
        return f"l1({info['output']}, labels)"
    if "label_smoothing" in curve:
        return f"cross_entropy({info['output']}, labels, label_smoothing={curve['label_smoothing']})"
    return LOSS[info["loss"]].format(info["output"])


def without_noise(gradient, *weights):
    """The weights less the elements of vectors whose gradient is rounding.

    Adam divides gradients by their size, so that noise moves a weight as much as a gradient does. Where
    the exact gradient is 0 (biases of attention's keys, a part of qkv.bias), PyTorch's own float32 and
    float64 weights part by up to 6e-3 in ten steps.
    """
    if np.squeeze(gradient).ndim > 1:
        return weights
    kept = np.abs(gradient) >= 1e-6
    return [w[kept] if w.shape == kept.shape else w for w in weights]


class Model:
    def __init__(self, path, options):
        self.onnx, self.o = path, options
        self.name = path.stem
        self.info = json.loads(path.with_suffix(".json").read_text())
        self.ref = np.load(path.with_suffix(".npz"))
        self.work = options.work / self.name
        self.lines = []

    def batches(self, name):
        a = self.ref[f"data/{name}"]
        return a.reshape(-1, *a.shape[2:])

    def compile(self, tag, curve, *more):
        trainer = self.work / f"{self.name}_{tag}"
        args = ["--loss", loss_text(self.info, curve), "--optimizer", optimizer_text(curve)]
        if curve.get("clip_norm"):
            args += ["--clip-norm", curve["clip_norm"]]
        if self.o.bind:
            args += ["--bind", f"batch={self.ref['data/labels'].shape[1]}"]
        run(self.o.shardcc, self.onnx, "-o", trainer, *args, *more)
        return trainer

    def data(self, curve):
        labels = self.batches("labels")
        if "bce" in curve.get("loss", ""):
            labels = (labels > 0).astype(np.float32)
        folder = self.work / f"data{'_bce' if 'bce' in curve.get('loss', '') else ''}"
        inputs = {n: self.batches(n) for n in self.info["inputs"]}
        write_data(folder, {**inputs, "labels": labels})
        return folder

    def train(self, trainer, curve, *more):
        log = trainer.with_suffix(".jsonl")
        run(trainer, "--data", self.data(curve), "--steps", self.info["steps"], "--no-shuffle", "--quiet", "--log", log, *more)
        return [x["loss"] for x in read_log(log)]

    def test(self, checks):
        for tag, curve in curves_of(self.info).items():
            trainer = self.compile(tag, curve)
            more = []
            if tag == "adamw":
                more = ["--save", self.work / "final.safetensors", "--save-gradients", self.work / "gradients.safetensors"]
            losses = self.train(trainer, curve, *more)
            expected = self.ref[f"curve_{tag}"]
            worst = max((abs(a - b) / max(abs(b), 1e-30) for a, b in zip(losses, expected)), default=1)
            checks.check(f"{self.name}: curve {tag}", len(losses) == len(expected) and worst <= 1e-4, f"{worst:.1e}")
            if tag == "adamw":
                checks.close(f"{self.name}: loss", losses[0], self.ref["loss"], 1e-5)
                self.test_gradients(checks)
                self.test_weights(checks)
                self.test_output(checks, trainer)

    def test_gradients(self, checks):
        found = read_safetensors(self.work / "gradients.safetensors")
        names = set(self.info["initializer_is"])
        tied = {n: t for t in self.info["tied"].values() for n in t}
        missing = {n for n in names - set(found) if not set(tied.get(n, ())) & set(found)}
        checks.check(f"{self.name}: trained names", not missing and set(found) <= names, f"missing {sorted(missing)}, more {sorted(set(found) - names)}")
        worst, at = 0.0, ""
        for n in sorted(names & set(found)):
            g = self.ref[f"grad/{n}"]
            if np.linalg.norm(g.astype(np.float64)) >= 1e-6:
                e = relative(found[n], g)
                if e > worst:
                    worst, at = e, n
        checks.check(f"{self.name}: gradients", worst <= 1e-4, f"{worst:.1e} {at}")

    def test_weights(self, checks):
        found, worst, at = read_safetensors(self.work / "final.safetensors"), 0.0, ""
        for n in self.info["initializer_is"]:
            g = self.ref[f"grad/{n}"]
            if n in found and np.linalg.norm(g.astype(np.float64)) >= 1e-6:
                e = relative(*without_noise(g, found[n], self.ref[f"final_adamw/{n}"]))
                if e > worst:
                    worst, at = e, n
        checks.check(f"{self.name}: weights after adamw", worst <= 1e-3, f"{worst:.1e} {at}")

    def test_output(self, checks, trainer):
        first = self.work / "first"
        write_data(first, {n: self.ref[f"data/{n}"][0] for n in self.info["inputs"]})
        out = self.work / "out.npz"
        run(trainer, "--predict", first, "-o", out, "--quiet")
        expected = self.ref["eval_output" if self.info["batch_norm"] else "output"]
        checks.close(f"{self.name}: output", np.load(out)[self.info["output"]], expected, 1e-4)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*")
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--models", type=Path, default=Path(__file__).parents[2] / "models/tiny")
    p.add_argument("--work", type=Path)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--bind", action="store_true", help="the models' batch is a named dim")
    o = p.parse_args()
    o.shardcc = o.shardcc.resolve()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        o.work = o.work or Path(temp)

        def one(path):
            model = Model(path, o)
            model.work.mkdir(parents=True, exist_ok=True)
            try:
                model.test(checks)
            except Exception as e:
                checks.check(f"{model.name}: runs", False, str(e).replace("\n", " | ")[:1500])

        paths = sorted(x for x in o.models.glob("*.onnx") if not o.names or x.stem in o.names)
        with ThreadPoolExecutor(o.jobs) as pool:
            list(pool.map(one, paths))
    checks.finish()


if __name__ == "__main__":
    main()
