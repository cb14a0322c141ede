#!/usr/bin/env python3
"""Programs for a GPU: are they right, and how long do their steps take?

  gpu.py --shardcc build/shardcc --work DIR [--build DIR | --run DIR] [--steps 20] [--rounds 3] [NAME ...]
  gpu.py --precision bf16 --shardcc build/shardcc --work DIR [--build DIR | --run DIR] [--steps 20] [--rounds 3] [NAME ...]
  gpu.py --ranks --shardcc build/shardcc --work DIR [--build DIR | --run DIR] [--steps 20] [--seconds 90] [NAME ...]

Tiny models: first loss, gradients and curve against PyTorch's, and two runs bit by bit. Large ones: the median of the
steps compared with PyTorch's, eager and compiled, both in turn; f32 without TF32, AdamW, random weights, the same batch each
step; five steps to warm up. Of a large one's calls in a profile: the median rate of groups that move 64 MiB or more,
in percent of the rate of a copy; and how long the GPU is idle in a step, in percent.

--precision bf16: the same in halves, compared with PyTorch's autocast, of GPT-2, LLaMA, BERT, a vision transformer and ResNet-50, with
clipped gradients; the share of an H100's peak; attention compared with PyTorch's; memory; and, as `text`, 300 steps of GPT-2 on real
text in bf16 and f32 (bench/gpu_half.py).

--ranks: what one GPU shows of several ranks. NCCL's calls on a communicator of one rank, in graphs and without: bits. Tiny
models on 2 and 4 ranks that share the GPU: against PyTorch's. A rank that is killed, and a kernel that fails: seconds until
all have ended, and the message. The rates that shardcc detect finds, and what it then predicts of steps. Status 1: something is wrong.
"""
import argparse
import json
import re
import statistics
import sys
from pathlib import Path

import numpy as np

import gpu_half
import gpu_ranks
import gpu_tiny
from gpu_jobs import LARGE, MODELS, ROOT, WARM_UP, target, time_sides, train
from gpu_torch import copy_rate, has_torch
from measure import Failure, run

sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import write_data  # noqa: E402

TINY = gpu_tiny.NAMES
MOVED = 64 << 20
GROUP = re.compile(r": (?!.*\b(dot|conv|attention|gather|scatter)\w*\b)")


# ---- programs ----


def build_large(name, options, folder):
    case, work = LARGE[name], folder / name
    work.mkdir(exist_ok=True)
    run([sys.executable, ROOT / "models/export_plan.py", "--out", work, name])
    training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw(lr=1e-4)"]
    weights = ["--no-weights", "--init", "normal(0.02)", "--bind", f"batch={case.batch}"]
    run([options.shardcc, work / f"{name}.onnx", "-o", work / f"{name}_gpu", *training, *weights, *target(options)])
    write_data(work / "data", case.data(np.random.default_rng(0)))


# ---- runs ----


def profile(work):
    """The rates of groups that move much, in bytes a second, and the seconds of all calls of a step."""
    trace = work / "trace.json"
    train(work / f"{work.name}_gpu", work / "data", WARM_UP, "--trace", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    moved = [(e["args"]["read"] + e["args"]["written"], 1e-6 * e["dur"], e["name"]) for e in events]
    rates = [b / s for b, s, what in moved if b >= MOVED and s > 0 and GROUP.search(what)]
    return rates, sum(s for _, s, _ in moved)


def time_large(work, options):
    medians, faster = time_sides(options, work / f"{work.name}_gpu", work / "data", LARGE[work.name])
    rates, busy = profile(work)
    times = " ".join(f"{1e3 * medians[k]:9.1f}" if k in medians else f"{'-':>9s}" for k in ("ours", "eager", "compiled"))
    ratio = f"{medians['ours'] / faster:7.2f}" if faster else f"{'-':>7s}"
    rate = f"{100 * statistics.median(rates) / copy_rate():7.0f}" if rates and has_torch() else f"{'-':>7s}"
    return f"{LARGE[work.name].title:24s} {times} {ratio} {rate} {100 * max(0, 1 - busy / medians['ours']):7.1f}"


# ---- the whole ----


def attempt(name, work):
    try:
        return work()
    except (Failure, OSError, RuntimeError) as e:
        return f"{name:12s} {str(e).splitlines()[0]}"


def run_table(table, options, folder):
    """Ends the program."""
    if not options.run:
        table.build(options, folder)
    sys.exit(0 if options.build or table.check(options, folder) else 1)


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
    p.add_argument("--cc", default="cc")
    p.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    p.add_argument("--text-steps", type=int, default=300, help="with --precision bf16: steps on real text")
    p.add_argument("--ranks", action="store_true", help="what one GPU shows of several ranks")
    p.add_argument("--seconds", type=int, default=90, help="with --ranks: how long measuring the GPU may take")
    p.add_argument("--nccl-sizes", type=int, nargs=2, help="with --ranks: the least and the most bytes of NCCL's calls")
    options = p.parse_args()
    folder = options.build or options.run or options.work
    is_half = options.precision == "bf16"
    known = {*TINY, *(MODELS if options.ranks else LARGE)} if not is_half else {*gpu_half.CASES, gpu_half.TEXT}
    if unknown := set(options.names) - known:
        p.error(f"no model named {min(unknown)}: there are {' '.join(sorted(known))}")
    folder.mkdir(parents=True, exist_ok=True)
    if options.ranks or is_half:
        run_table(gpu_half if is_half else gpu_ranks, options, folder)
    names = options.names or [*TINY, *LARGE]
    if not options.run:
        for name in names:
            if name in TINY:
                gpu_tiny.build(name, options, folder, {"gpu": []})
            else:
                build_large(name, options, folder)
    if options.build:
        return
    if tiny := [n for n in names if n in TINY]:
        print(gpu_tiny.HEAD)
        for name in tiny:
            print(attempt(name, lambda: gpu_tiny.check(folder / name, "gpu", name)[0]), flush=True)
    if large := [n for n in names if n in LARGE]:
        print(f"\n{'median ms of a step':24s} {'ours':>9s} {'eager':>9s} {'compiled':>9s} {'ratio':>7s} {'copy %':>7s} {'idle %':>7s}")
        for name in large:
            print(attempt(name, lambda: time_large(folder / name, options)), flush=True)


if __name__ == "__main__":
    main()
