"""The tiny models as programs for GPUs: gradients and curves against PyTorch's, and two runs bit by bit."""
import json
import sys
from pathlib import Path

import numpy as np

from gpu_jobs import ROOT, target, train

sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import read_safetensors, relative  # noqa: E402
from model import Model, curves_of  # noqa: E402

NAMES = sorted(p.stem for p in (ROOT / "models/tiny").glob("*.onnx"))
HEAD = f"{'':12s} {'curve':>9s} {'gradients':>9s}"


def build(name, options, folder, kinds):
    """Makes the programs NAME_KIND, whose options are those of `kinds`, their data, and what is expected of them."""
    model = Model(ROOT / f"models/tiny/{name}.onnx", options.shardcc, folder, cc=options.cc)
    for kind, more in kinds.items():
        model.compile(kind, curves_of(model.info)["adamw"], *target(options), *more)
    model.data()
    expected = {"steps": model.info["steps"], "dropout": bool(model.info.get("dropout"))}
    if not expected["dropout"]:
        expected["curve"] = [float(x) for x in model.ref["curve_adamw"]]
        gradients = {n: model.ref[f"grad/{n}"] for n in model.info["initializer_is"]}
        np.savez(model.work / "gradients.npz", **gradients)
    (model.work / "expected.json").write_text(json.dumps(expected))


def check(work, kind, title, *more):
    """Returns a row, and whether all is right."""
    trainer, expected = work / f"{work.name}_{kind}", json.loads((work / "expected.json").read_text())
    files, gradients = [work / f"{kind}_{k}.safetensors" for k in (1, 2)], work / f"{kind}_gradients.safetensors"
    saving = [*more, "--save-gradients", gradients, "--save"]
    losses = [[x["loss"] for x in train(trainer, work / "data", expected["steps"], *saving, file)[0]] for file in files]
    same = losses[0] == losses[1] and files[0].read_bytes() == files[1].read_bytes()
    bits = f"{'same' if same else 'DIFFERENT'} bits"
    if expected["dropout"]:
        return f"{title:12s} {'-':>9s} {'-':>9s}  {bits}", same
    curve = max(abs(a - b) / abs(b) for a, b in zip(losses[0], expected["curve"]))
    found = read_safetensors(gradients)
    with np.load(work / "gradients.npz") as reference:
        worst = max(relative(found[n], reference[n]) for n in found if np.linalg.norm(reference[n]) >= 1e-6)
    is_right = same and curve <= 1e-4 and worst <= 1e-4
    return f"{title:12s} {curve:9.1e} {worst:9.1e}  {bits}{'' if is_right else '  WRONG'}", is_right
