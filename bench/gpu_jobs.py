"""What the tables of GPUs share: models with their data, how their programs are built, and what a run of one says."""
import json
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpu_modules import Images, Text
from gpu_torch import has_torch, torch_steps
from measure import Failure, run

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import write_data  # noqa: E402
from model import curves_of, loss_text, optimizer_text  # noqa: E402

WARM_UP = 5


LARGE = {
    "gpt2_small": Text("GPT-2 124M 8x1024", 8, 1024, 50257, True),
    "bert_base": Text("BERT-base 32x128", 32, 128, 30522, False),
}
BIG = {
    **LARGE,
    "bert_large": Text("BERT-large 8x512", 8, 512, 30522, False, 1024, 16, 24),
    "resnet50": Images("ResNet-50 64", 64),
}
TINY = sorted(p.stem for p in (ROOT / "models/tiny_dynamic").glob("*.onnx"))


class Big:
    """A model without its weights, with random data. Its batch is a named dim."""

    def __init__(self, name, folder, case=None):
        self.case, self.onnx = case or BIG[name], folder / f"{name}.onnx"
        self.batch, self.title = self.case.batch, self.case.title
        self.training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw(lr=1e-4)"]
        self.weights = ["--no-weights", "--init", "normal(0.02)"]

    def export(self):
        if not self.onnx.exists():
            run([sys.executable, ROOT / "models/export_plan.py", "--out", self.onnx.parent, self.onnx.stem])

    def data(self, batch):
        return replace(self.case, batch=batch).data(np.random.default_rng(0))


class Tiny:
    """An exported model with weights, and its own data as often as it takes."""

    weights = []

    def __init__(self, name, folder):
        self.onnx = ROOT / f"models/tiny_dynamic/{name}.onnx"
        self.info = json.loads(self.onnx.with_suffix(".json").read_text())
        self.arrays = np.load(ROOT / f"models/tiny/{name}.npz")
        self.batch = self.arrays["data/labels"].shape[1]
        self.title = f"{name} {self.batch}"
        curve = curves_of(self.info)["adamw"]
        self.training = ["--loss", loss_text(self.info, curve), "--optimizer", optimizer_text(curve)]

    def export(self):
        pass

    def data(self, batch):
        names = [*self.info["inputs"], "labels"]
        both = {n: self.arrays[f"data/{n}"].reshape(-1, *self.arrays[f"data/{n}"].shape[2:]) for n in names}
        return {n: np.concatenate([a] * (batch // len(a) + 1))[:batch] for n, a in both.items()}


MODELS = {**{name: Big for name in BIG}, **{name: Tiny for name in TINY}}


def target(options):
    """The options of shardcc for programs of GPUs."""
    return ["--target", "cuda", "--gpu", options.gpu, *(["--cuda", options.cuda] if options.cuda else [])]


def build_probe(options, folder):
    """Makes the program that measures GPUs and their links."""
    run([options.shardcc, "detect", *target(options), "--build", folder / "probe"])


def build_job(options, model, folder, ranks, cluster, *more):
    """Makes the trainer of a model for so many ranks, with its usual batch on each, its plan, and one batch of data."""
    trainer, plan = folder / f"{model.onnx.stem}_{ranks}", folder / f"{model.onnx.stem}_{ranks}.plan.json"
    batch = ["--bind", f"batch={ranks * model.batch}"]
    model.export()
    of_plan = []
    if ranks > 1:
        run([options.shardcc, "plan", model.onnx, *model.training, *batch, "--target", "cuda", "--ranks", ranks, "--cluster", cluster, "-o", plan])
        of_plan = ["--plan", plan]
    run([options.shardcc, model.onnx, "-o", trainer, *model.training, *model.weights, *batch, *target(options), "--cluster", cluster, *of_plan, *more])
    write_data(trainer.with_name(trainer.name + "_data"), model.data(ranks * model.batch))


def lines_of(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def train(trainer, data, steps, *more):
    """Runs a trainer on the same batch each step. Returns the lines of its log's steps, and those of a profile."""
    log = trainer.with_suffix(".jsonl")
    run([trainer, "--data", data, "--steps", steps, "--no-shuffle", "--quiet", "--log", log, *more])
    lines = lines_of(log)
    return [x for x in lines if "loss" in x], [x for x in lines if "call" in x]


def time_sides(options, trainer, data, case, is_half=False):
    """The median seconds of a step: of ours and, where there is PyTorch, of its eager and compiled ones, all in turn; and the
    faster one of these two, or None."""
    kinds = ["eager", "compiled"] if has_torch() else []
    sides = {kind: [] for kind in ("ours", *kinds)}
    for _ in range(options.rounds):
        sides["ours"] += [x["seconds"] for x in train(trainer, data, WARM_UP + options.steps)[0]][WARM_UP:]
        for kind in kinds:
            sides[kind] += torch_steps(case, data, WARM_UP, options.steps, kind == "compiled", is_half)
    medians = {kind: statistics.median(s) for kind, s in sides.items()}
    return medians, min((medians[k] for k in kinds), default=None)


def print_row(title, work):
    """Prints a table's row, which `work` gives with whether it is right, or what went wrong. Returns whether it is right."""
    try:
        row, is_right = work()
    except (Failure, OSError, RuntimeError) as e:
        row, is_right = f"{title:12s} {str(e).splitlines()[0]}", False
    print(row, flush=True)
    return is_right
