#!/usr/bin/env python3
"""Operators compared with PyTorch, forward and backward.

  operators.py --shardcc build/shardcc --work DIR [--rounds 6] [--threads 2] [NAME ...]

Each NAME is a small module, which PyTorch exports. Its first input is multiplied by a parameter, so that the gradient
is needed. A trainer of it runs with --trace: of the calls of the module, those before the loss are the forward part.
PyTorch computes the module and its gradient in a process of its own. Both sides run alternately, several times; the
best time of each call counts. The last line has the geometric mean of the ratios.
"""
import argparse
import json
import math
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from measure import Failure, run
from models import torch_env

DIRECTIONS = ("forward", "backward")
SAMPLES = 8  # of each side in a round


@dataclass
class Input:
    """An input's shape. Indices are below a number; floats are in [-1, 1)."""

    shape: tuple
    below: int = 0

    def draw(self, random):
        if self.below:
            return random.integers(0, self.below, self.shape)
        return random.uniform(-1, 1, self.shape).astype(np.float32)


def resize(mode):
    import torch

    return torch.nn.Upsample(scale_factor=2, mode=mode)


def grid_sample():
    import torch

    class GridSample(torch.nn.Module):
        def forward(self, x, grid):
            return torch.nn.functional.grid_sample(x, grid, align_corners=False)

    return GridSample()


def dft():
    import torch

    class Dft(torch.nn.Module):
        def forward(self, x):
            return torch.view_as_real(torch.fft.rfft(x))

    return Dft()


def scatter_add():
    import torch

    class ScatterAdd(torch.nn.Module):
        def forward(self, x, index):
            return torch.zeros(4096, x.shape[1]).scatter_add(0, index[:, None].expand_as(x), x)

    return ScatterAdd()


def scatter_elements():
    import torch

    class ScatterElements(torch.nn.Module):
        def forward(self, x, index):
            return torch.zeros(x.shape[0], 512).scatter_add(1, index, x)

    return ScatterElements()


def gather():
    import torch

    class Gather(torch.nn.Module):
        def forward(self, x, index):
            return x[index]

    return Gather()


# The name of a row: what makes its module, and the inputs, of which the first gets a gradient.
ROWS = {
    "resize_nearest": (lambda: resize("nearest"), [Input((8, 64, 64, 64))]),
    "resize_linear": (lambda: resize("bilinear"), [Input((8, 64, 64, 64))]),
    "resize_nearest_small": (lambda: resize("nearest"), [Input((8, 128, 16, 16))]),
    "resize_linear_small": (lambda: resize("bilinear"), [Input((8, 128, 16, 16))]),
    "grid_sample": (grid_sample, [Input((8, 32, 64, 64)), Input((8, 64, 64, 2))]),
    "grid_sample_rgb": (grid_sample, [Input((8, 3, 128, 128)), Input((8, 128, 128, 2))]),
    "scatter_add": (scatter_add, [Input((32768, 64)), Input((32768,), 4096)]),
    "scatter_elements": (scatter_elements, [Input((4096, 256)), Input((4096, 256), 512)]),
    "gather": (gather, [Input((4096, 64)), Input((32768,), 4096)]),
    "dft_short": (dft, [Input((4096, 32))]),
    "dft": (dft, [Input((512, 256))]),
}


def operands(name):
    import torch

    random = np.random.default_rng(0)
    return [torch.from_numpy(i.draw(random)) for i in ROWS[name][1]]


# ---- our side ----


def build(name, options):
    """Exports the module and compiles a trainer of it. Returns the folder of both."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))
            self.op = ROWS[name][0]()

        def forward(self, x, *others):
            return self.op(x * self.scale, *others)

    work = options.work / name
    (work / "data").mkdir(parents=True, exist_ok=True)
    net, inputs = Net(), operands(name)
    names = [f"x{i}" for i in range(len(inputs))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        newer = {"dynamo": True, "verbose": False} if name.startswith(("dft", "scatter", "gather")) else {"dynamo": False}  # the older one has no FFT
        torch.onnx.export(net, tuple(inputs), str(work / "op.onnx"), input_names=names, output_names=["y"], **newer)
    for n, x in [*zip(names, inputs), ("t", torch.zeros_like(net(*inputs)))]:
        np.save(work / "data" / f"{n}.npy", x.detach().numpy())
    run([options.shardcc, work / "op.onnx", "-o", work / "trainer", "--loss", "mse(y, t)", "--optimizer", "sgd"])
    return work


def our_seconds(work, options):
    """The seconds of the module's calls in a step, forward and backward: the best of each call. A trace has one step."""
    trace = work / "trace.json"
    steps = ["--steps", 2, "--epochs", 2, "--quiet"]
    best = {}
    for _ in range(SAMPLES):
        run([work / "trainer", "--data", work / "data", *steps, "--threads", options.threads, "--trace", trace])
        is_after = False
        for i, event in enumerate(json.loads(trace.read_text())["traceEvents"]):
            is_after |= event["name"].startswith("mse")
            if event["name"].startswith("op"):
                key = i, DIRECTIONS[is_after]
                best[key] = min(best.get(key, math.inf), 1e-6 * event["dur"])
    return {d: sum(t for (_, of), t in best.items() if of == d) for d in DIRECTIONS}


# ---- PyTorch's ----


def time_torch(name, threads):
    """Runs in a separate process. Prints the best seconds, forward and backward."""
    import time

    import torch

    torch.set_num_threads(threads)
    module, (x, *others) = ROWS[name][0](), operands(name)
    x = x.requires_grad_()
    gradient = torch.ones_like(module(x, *others))
    best = dict.fromkeys(DIRECTIONS, math.inf)
    for _ in range(SAMPLES):
        times = [time.perf_counter()]
        y = module(x, *others)
        times.append(time.perf_counter())
        torch.autograd.grad(y, x, gradient)
        times.append(time.perf_counter())
        best = {d: min(best[d], times[i + 1] - times[i]) for i, d in enumerate(DIRECTIONS)}
    print(json.dumps(best))


def torch_seconds(name, options):
    command = [sys.executable, __file__, "--torch", name, "--threads", options.threads]
    return json.loads(run(command, env=torch_env(options.threads))[0].splitlines()[-1])


# ---- the table ----


def measure(name, options):
    """The best seconds of both sides by direction."""
    work = build(name, options)
    ours, theirs = (dict.fromkeys(DIRECTIONS, math.inf) for _ in range(2))
    for _ in range(options.rounds):
        for best, found in (ours, our_seconds(work, options)), (theirs, torch_seconds(name, options)):
            best.update({d: min(best[d], found[d]) for d in DIRECTIONS})
    return ours, theirs


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(ROWS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve())
    p.add_argument("--work", type=lambda s: Path(s).resolve())
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--torch", choices=ROWS, help=argparse.SUPPRESS)
    options = p.parse_args()
    if options.torch:
        time_torch(options.torch, options.threads)
        return
    unknown = [name for name in options.names if name not in ROWS]
    if unknown:
        p.error(f"no operator named {unknown[0]}: there are {' '.join(ROWS)}")
    if not (options.shardcc and options.work):
        p.error("--shardcc and --work are needed")
    ratios = []
    print(f"{'best ms':24s} {'':8s} {'ours':>8s} {'PyTorch':>8s} {'ratio':>6s}")
    for name in options.names or ROWS:
        try:
            ours, theirs = measure(name, options)
        except Failure as e:
            print(f"{name:24s} {e}")
            continue
        for d in DIRECTIONS:
            ratios.append(ours[d] / theirs[d])
            print(f"{name:24s} {d:8s} {1e3 * ours[d]:8.2f} {1e3 * theirs[d]:8.2f} {ratios[-1]:6.2f}", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{'geometric mean':24s} {'':8s} {'':8s} {'':8s} {mean:6.2f}   worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()
