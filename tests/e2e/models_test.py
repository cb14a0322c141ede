#!/usr/bin/env python3
"""Trainers of exported models against PyTorch's losses, gradients, curves and weights.

  models_test.py --shardcc build/shardcc [--models models/tiny] [--work DIR] [--jobs 2] [NAME ...]

For each NAME.onnx with its NAME.npz and NAME.json (made by models/export.py): first loss, every parameter's
gradient, training curves of every optimizer in the file, weights after the AdamW curve, the output. Of models
with live dropout: the mean curve over many seeds.
"""
import numpy as np

from harness import read_safetensors, relative, run, write_data
from model import QUICK_CC, Model, curves_of, for_models, parser

DROPOUT_RUNS = 24


def test(checks, model, quick, curves):
    """Checks everything that the model's files have references for, of these curves. `quick` is the same model with a quick
    compiler: the texts of other optimizers differ from AdamW's in few loops."""
    for tag, curve in curves.items():
        trainer = (model if tag == "adamw" else quick).compile(tag, curve)
        more = []
        if tag == "adamw":
            more = ["--save", model.work / "final.safetensors"]
            more += ["--save-gradients", model.work / "gradients.safetensors"]
        losses = model.train(trainer, curve, *more)
        expected = model.ref[f"curve_{tag}"]
        worst = max((abs(a - b) / max(abs(b), 1e-30) for a, b in zip(losses, expected)), default=1)
        same_length = len(losses) == len(expected)
        checks.check(f"{model.name}: curve {tag}", same_length and worst <= 1e-4, f"{worst:.1e}")
        if tag == "adamw":
            checks.close(f"{model.name}: loss", losses[0], model.ref["loss"], 1e-5)
            test_gradients(checks, model)
            test_weights(checks, model)
            test_output(checks, model, trainer)


def test_gradients(checks, model):
    found = read_safetensors(model.work / "gradients.safetensors")
    names = set(model.info["initializer_is"])
    tied = {n: t for t in model.info["tied"].values() for n in t}
    missing = {n for n in names - set(found) if not set(tied.get(n, ())) & set(found)}
    text = f"missing {sorted(missing)}, more {sorted(set(found) - names)}"
    checks.check(f"{model.name}: trained names", not missing and set(found) <= names, text)
    worst, at = 0.0, ""
    for n in sorted(names & set(found)):
        g = model.ref[f"grad/{n}"]
        if np.linalg.norm(g.astype(np.float64)) >= 1e-6:
            e = relative(found[n], g)
            if e > worst:
                worst, at = e, n
    checks.check(f"{model.name}: gradients", worst <= 1e-4, f"{worst:.1e} {at}")


def without_noise(gradient, *weights):
    """The weights less the elements of vectors whose gradient is rounding.

    Adam divides gradients by their size, so that noise moves a weight as much as a gradient does. Where
    the exact gradient is 0 (biases of attention's keys, a part of qkv.bias), PyTorch's own float32 and
    float64 weights differ by up to 6e-3 after ten steps.
    """
    if np.squeeze(gradient).ndim > 1:
        return weights
    kept = np.abs(gradient) >= 1e-6
    return [w[kept] if w.shape == kept.shape else w for w in weights]


def test_weights(checks, model):
    found, worst, at = read_safetensors(model.work / "final.safetensors"), 0.0, ""
    for n in model.info["initializer_is"]:
        g = model.ref[f"grad/{n}"]
        if n in found and np.linalg.norm(g.astype(np.float64)) >= 1e-6:
            e = relative(*without_noise(g, found[n], model.ref[f"final_adamw/{n}"]))
            if e > worst:
                worst, at = e, n
    checks.check(f"{model.name}: weights after adamw", worst <= 1e-3, f"{worst:.1e} {at}")


def test_output(checks, model, trainer):
    first = model.work / "first"
    write_data(first, {n: model.ref[f"data/{n}"][0] for n in model.info["inputs"]})
    out = model.work / "out.npz"
    run(trainer, "--predict", first, "-o", out, "--quiet", *["--check-arena"] * (not model.cuda))
    expected = model.ref["eval_output" if model.info["batch_norm"] else "output"]
    checks.close(f"{model.name}: output", np.load(out)[model.info["output"]], expected, 1e-4)


def test_dropout(checks, model):
    """No two programs draw the same bits: means over seeds agree within five standard errors."""
    trainer = model.compile("adamw")
    test_output(checks, model, trainer)
    found = np.array([model.train(trainer, None, "--seed", seed) for seed in range(DROPOUT_RUNS)])
    expected = model.ref["curves_adamw"].astype(np.float64)
    error = np.sqrt(expected.var(0, ddof=1) * (1 / len(found) + 1 / len(expected)))
    worst = float(np.abs((found.mean(0) - expected.mean(0)) / error).max())
    checks.check(f"{model.name}: mean curve", worst <= 5, f"{worst:.1f} standard errors")
    ratio = float((found.std(0) / expected.std(0)).mean())
    checks.check(f"{model.name}: spread of curves", 0.5 <= ratio <= 2, f"{ratio:.2f} of PyTorch's")
    again = model.train(trainer, None, "--seed", 0)
    checks.check(f"{model.name}: same seed, same curve", again == list(found[0]))


def main():
    options = parser(__doc__).parse_args()

    def one(checks, path, work):
        model = Model(path, options.shardcc, work)
        if model.info.get("dropout"):
            test_dropout(checks, model)
        else:
            test(checks, model, Model(path, options.shardcc, work, cc=QUICK_CC), curves_of(model.info))

    for_models(options, one)


if __name__ == "__main__":
    main()
