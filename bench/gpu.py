#!/usr/bin/env python3
"""Programs for a GPU: are they right, and how long do their steps take?

  gpu.py --shardcc build/shardcc --work DIR [--build DIR | --run DIR] [--steps 20] [--rounds 3] [NAME ...]

Tiny models: first loss, gradients and curve against PyTorch's, and two runs bit by bit. Large ones: the median of the
steps compared with PyTorch's, eager and compiled, both in turn; f32 without TF32, AdamW, random weights, the same batch each
step; five steps to warm up. Of a large one's calls in a profile: the median rate of groups that move 64 MiB or more,
in percent of the rate of a copy; and how long the GPU is idle in a step, in percent.
"""
import argparse
import json
import re
import statistics
import sys
from pathlib import Path

import numpy as np

from gpu_torch import LARGE, copy_rate, has_torch, torch_steps
from measure import Failure, run

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import read_safetensors, relative, write_data  # noqa: E402
from model import Model, curves_of  # noqa: E402

TINY = sorted(p.stem for p in (ROOT / "models/tiny").glob("*.onnx"))
WARM_UP, MOVED = 5, 64 << 20
GROUP = re.compile(r": (?!.*\b(dot|conv|attention|gather|scatter)\w*\b)")


# ---- programs ----


def target(options):
    return ["--target", "cuda", "--gpu", options.gpu, *(["--cuda", options.cuda] if options.cuda else [])]


def build_tiny(name, options, folder):
    model = Model(ROOT / f"models/tiny/{name}.onnx", options.shardcc, folder)
    model.compile("gpu", curves_of(model.info)["adamw"], *target(options))
    model.data()
    expected = {"steps": model.info["steps"], "dropout": bool(model.info.get("dropout"))}
    if not expected["dropout"]:
        expected["curve"] = [float(x) for x in model.ref["curve_adamw"]]
        gradients = {n: model.ref[f"grad/{n}"] for n in model.info["initializer_is"]}
        np.savez(model.work / "gradients.npz", **gradients)
    (model.work / "expected.json").write_text(json.dumps(expected))


def build_large(name, options, folder):
    case, work = LARGE[name], folder / name
    work.mkdir(exist_ok=True)
    run([sys.executable, ROOT / "models/export_plan.py", "--out", work, name])
    training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw(lr=1e-4)"]
    weights = ["--no-weights", "--init", "normal(0.02)", "--bind", f"batch={case.batch}"]
    run([options.shardcc, work / f"{name}.onnx", "-o", work / f"{name}_gpu", *training, *weights, *target(options)])
    write_data(work / "data", case.data(np.random.default_rng(0)))


# ---- runs ----


def train(work, steps, *more):
    """Returns the lines of a run's log."""
    log = work / "log.jsonl"
    command = [work / f"{work.name}_gpu", "--data", work / "data", "--steps", steps, "--no-shuffle", "--quiet"]
    run([*command, "--log", log, *more])
    return [json.loads(line) for line in log.read_text().splitlines()]


def check_tiny(work):
    expected = json.loads((work / "expected.json").read_text())
    files, gradients = [work / f"saved_{k}.safetensors" for k in (1, 2)], work / "gradients.safetensors"
    more = ["--save-gradients", gradients, "--save"]
    losses = [[x["loss"] for x in train(work, expected["steps"], *more, file)] for file in files]
    same = losses[0] == losses[1] and files[0].read_bytes() == files[1].read_bytes()
    bits = f"{'same' if same else 'DIFFERENT'} bits"
    if expected["dropout"]:
        return f"{work.name:12s} {'-':>9s} {'-':>9s}  {bits}"
    curve = max(abs(a - b) / abs(b) for a, b in zip(losses[0], expected["curve"]))
    found = read_safetensors(gradients)
    with np.load(work / "gradients.npz") as reference:
        worst = max(relative(found[n], reference[n]) for n in found if np.linalg.norm(reference[n]) >= 1e-6)
    verdict = "" if same and curve <= 1e-4 and worst <= 1e-4 else "  WRONG"
    return f"{work.name:12s} {curve:9.1e} {worst:9.1e}  {bits}{verdict}"


def profile(work):
    """The rates of groups that move much, in bytes a second, and the seconds of all calls of a step."""
    trace = work / "trace.json"
    train(work, WARM_UP, "--trace", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    moved = [(e["args"]["read"] + e["args"]["written"], 1e-6 * e["dur"], e["name"]) for e in events]
    rates = [b / s for b, s, what in moved if b >= MOVED and s > 0 and GROUP.search(what)]
    return rates, sum(s for _, s, _ in moved)


def time_large(work, options):
    kinds = ["eager", "compiled"] if has_torch() else []
    sides = {kind: [] for kind in ("ours", *kinds)}
    for _ in range(options.rounds):
        sides["ours"] += [x["seconds"] for x in train(work, WARM_UP + options.steps)][WARM_UP:]
        for kind in kinds:
            sides[kind] += torch_steps(work.name, work / "data", WARM_UP, options.steps, kind == "compiled")
    medians = {kind: statistics.median(s) for kind, s in sides.items()}
    rates, busy = profile(work)
    faster = min((medians[k] for k in kinds), default=None)
    times = " ".join(f"{1e3 * medians[k]:9.1f}" if k in medians else f"{'-':>9s}" for k in ("ours", "eager", "compiled"))
    ratio = f"{medians['ours'] / faster:7.2f}" if faster else f"{'-':>7s}"
    rate = f"{100 * statistics.median(rates) / copy_rate():7.0f}" if rates and kinds else f"{'-':>7s}"
    return f"{LARGE[work.name].title:24s} {times} {ratio} {rate} {100 * max(0, 1 - busy / medians['ours']):7.1f}"


# ---- the whole ----


def attempt(name, work):
    try:
        return work()
    except (Failure, RuntimeError) as e:
        return f"{name:12s} {str(e).splitlines()[0]}"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--gpu", default="sm_90")
    p.add_argument("--cuda", help="the toolkit's folder")
    p.add_argument("--build", type=lambda s: Path(s).resolve(), help="only build, into this folder")
    p.add_argument("--run", type=lambda s: Path(s).resolve(), help="only run what was built into this folder")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--rounds", type=int, default=3)
    options = p.parse_args()
    folder = options.build or options.run or options.work
    names = options.names or [*TINY, *LARGE]
    if unknown := set(names) - {*TINY, *LARGE}:
        p.error(f"no model named {min(unknown)}: there are {' '.join([*TINY, *LARGE])}")
    folder.mkdir(parents=True, exist_ok=True)
    if not options.run:
        for name in names:
            (build_tiny if name in TINY else build_large)(name, options, folder)
    if options.build:
        return
    if tiny := [n for n in names if n in TINY]:
        print(f"{'':12s} {'curve':>9s} {'gradients':>9s}")
        for name in tiny:
            print(attempt(name, lambda: check_tiny(folder / name)), flush=True)
    if large := [n for n in names if n in LARGE]:
        print(f"\n{'median ms of a step':24s} {'ours':>9s} {'eager':>9s} {'compiled':>9s} {'ratio':>7s} {'copy %':>7s} {'idle %':>7s}")
        for name in large:
            print(attempt(name, lambda: time_large(folder / name, options)), flush=True)


if __name__ == "__main__":
    main()
