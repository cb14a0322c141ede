"""An exported model with PyTorch's references, as the end-to-end tests use it."""
import argparse
import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from harness import Checks, read_log, run, side_by_side, write_data

REPOSITORY = Path(__file__).parents[2]
QUICK_CC = REPOSITORY / "tests/quick_cc"
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


def loss_text(info, curve):
    """The loss of a curve as shardcc's --loss."""
    if "bce" in curve.get("loss", ""):
        return f"bce_with_logits({info['output']}, labels)"
    if curve.get("loss") == "l1":
        return f"l1({info['output']}, labels)"
    if "label_smoothing" in curve:
        return f"cross_entropy({info['output']}, labels, label_smoothing={curve['label_smoothing']})"
    return LOSS[info["loss"]].format(info["output"])


def curves_of(info):
    """The settings of every curve in the file, by its name."""
    curves = {kind: dict(optimizer=kind, **info[kind]) for kind in ("adamw", "sgd") if kind in info}
    curves.update(info["extra"])
    return curves


class Model:
    """NAME.onnx, NAME.json and NAME.npz. The files made from them are in a folder of the model's own below `work`. Trainers
    are compiled by `cc`, for the GPU of a toolkit `cuda` if there is one."""

    def __init__(self, path, shardcc, work, reference=None, cc="cc", cuda=None):
        self.onnx, self.shardcc, self.cc, self.cuda = path, shardcc, cc, cuda
        self.name = path.stem
        self.info = json.loads(path.with_suffix(".json").read_text())
        self.ref = np.load(reference or path.with_suffix(".npz"))
        self.work = work / self.name
        self.work.mkdir(parents=True, exist_ok=True)

    def batches(self, name):
        """Both batches of an input, one after the other."""
        a = self.ref[f"data/{name}"]
        return a.reshape(-1, *a.shape[2:])

    def has_named_batch(self):
        return any(isinstance(d, str) for dims in self.info["inputs"].values() for d in dims)

    def arguments(self, curve):
        """shardcc's options for the loss, the optimizer and the batch."""
        args = ["--loss", loss_text(self.info, curve), "--optimizer", optimizer_text(curve)]
        if curve.get("clip_norm"):
            args += ["--clip-norm", curve["clip_norm"]]
        for table, row in self.info.get("padding", {}).items():
            args += ["--padding-index", f"{table}={row}"]
        if self.has_named_batch():
            args += ["--bind", f"batch={self.ref['data/labels'].shape[1]}"]
        return args

    def options(self, curve):
        """These, and the options for the compilers."""
        target = ["--target", "cuda", "--cuda", self.cuda] if self.cuda else []
        return ["--cc", self.cc, *target, *self.arguments(curve)]

    def compile(self, tag, curve=None, *more):
        """Compiles the trainer NAME_TAG; by default with AdamW."""
        trainer = self.work / f"{self.name}_{tag}"
        run(self.shardcc, self.onnx, "-o", trainer, *self.options(curve or curves_of(self.info)["adamw"]), *more)
        return trainer

    def data(self, curve=None):
        """A data folder of both batches."""
        is_bce = "bce" in (curve or {}).get("loss", "")
        labels = self.batches("labels")
        folder = self.work / ("data_bce" if is_bce else "data")
        inputs = {n: self.batches(n) for n in self.info["inputs"]}
        write_data(folder, {**inputs, "labels": (labels > 0).astype(np.float32) if is_bce else labels})
        return folder

    def train(self, trainer, curve=None, *more, launch=(), env=None, watch=True):
        """Runs as many steps as the curves have, under the command `launch`; returns their losses, and leaves what was
        printed in `printed`. --check-arena changes no bit, and finds reads of bytes that hold no value."""
        log = trainer.with_suffix(".jsonl")
        watches = ["--check-arena"] * (watch and not self.cuda)
        options = ["--steps", self.info["steps"], "--no-shuffle", "--quiet", "--log", log, *watches]
        self.printed = run(*launch, trainer, "--data", self.data(curve), *options, *more, env=env)
        return [x["loss"] for x in read_log(log)]


def parser(doc):
    """The options that every test has."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("names", nargs="*", help="of models; default: all")
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--models", type=Path, default=REPOSITORY / "models/tiny")
    p.add_argument("--work", type=Path, help="keep what is made in this folder")
    p.add_argument("--jobs", type=int, default=2)
    return p


def options_with_all(doc, sample):
    """The options of a test that, without --all, is of the models in `sample` unless others are named."""
    p = parser(doc)
    p.add_argument("--all", action="store_true")
    options = p.parse_args()
    if not options.all and not options.names:
        options.names = sample
    return options


def gpu_toolkit(options):
    """The folder that tests/cuda makes instead of CUDA's toolkit. Ends the program if it isn't there."""
    toolkit = options.shardcc.parent / "tests/cuda/toolkit"
    if not (toolkit / "bin/nvcc").exists():
        checks = Checks()
        checks.check("programs for GPUs", True, "left out: no C++ compiler for x86-64")
        checks.finish()
    return toolkit


def for_models(options, test, more=lambda checks: None):
    """Calls test(checks, model path, work folder) for each model, and more(checks), and ends the program."""
    checks = Checks()
    paths = sorted(x for x in options.models.glob("*.onnx") if not options.names or x.stem in options.names)
    checks.check(f"models in {options.models.name}/", paths)
    with tempfile.TemporaryDirectory() as temp:
        work = (options.work or Path(temp)).resolve()

        def one(path):
            try:
                test(checks, path, work)
            except Exception as e:
                checks.check(f"{path.stem}: runs", False, str(e).replace("\n", " | ")[:1500])

        side_by_side(options.jobs, partial(more, checks), *(partial(one, path) for path in paths))
    checks.finish()
