#!/usr/bin/env python3
"""Seconds of a training step: our trainers against PyTorch on eight models of real size.

  step.py --shardcc build/shardcc --work DIR [--precision bf16] [--compile] [--memory] [--steps 8] [--rounds 3] [--threads 2] [NAME ...]

AdamW (PyTorch's with fused=True), random weights, the same batch each step. Both sides run alternately,
several times, in separate processes. The first two steps of a run don't count. The ratio is that of the
medians over all rounds; the table also shows the best times. A row is marked noisy if a side's median is well
above its best: then the machine did other work, which slows PyTorch's spinning threads most, and the ratio
means little.

peak: a step's flops (dot, convolution and attention, nothing counted twice) over a side's median and the flop/s of
the fastest product among the model's own, in percent. The largest shapes of the trainer's text are measured
alone, with our kernel and with PyTorch's, in each round. The fastest of all counts for both sides. GFLOP/s: the
fastest with our kernel, and the fastest with PyTorch's.

With --precision bf16, our trainers are of that precision, PyTorch's steps run under autocast, those of images with their channels
last, and one more side is our trainer in f32. The last line has the geometric mean of each ratio.

MiB (--memory): the most memory without a file that a process of the side had, sampled every 0.1 s.
"""
import argparse
import json
import statistics
import sys
from dataclasses import dataclass

import products
from measure import Failure, Side, flops_of, run
from models import MODELS, build, check_table, our_steps, table_parser, torch_env, torch_model, torch_steps


# ---- PyTorch's ----


def time_module(name, is_compiled, options):
    """Runs in a separate process. Prints the seconds of each step."""
    import torch

    module, *rest = torch_model(name, options.threads)
    print(json.dumps(torch_steps(torch.compile(module) if is_compiled else module, *rest, options.steps, options.precision)))


def torch_products(shapes, threads):
    """Runs in a separate process. Prints the flop/s of the fastest product."""
    import torch

    torch.set_num_threads(threads)
    print(json.dumps(products.torch_rate(shapes)))


def run_torch(kind, arguments, options, watch=False):
    command = [sys.executable, __file__, "--torch", kind, "--threads", options.threads, "--precision", options.precision, *arguments]
    said, most = run(command, watch, env=torch_env(options.threads))
    return json.loads(said.splitlines()[-1]), most


# ---- the table ----


@dataclass
class Model:
    """A row of the table: the sides by name ("ours" and the kinds of PyTorch), a step's flops, and the flop/s of the
    fastest products, with our kernel and with PyTorch's."""

    name: str
    sides: dict
    flops: float = 0
    our_rate: float = 0
    torch_rate: float = 0

    @property
    def peak(self):
        return max(self.our_rate, self.torch_rate)


def measure_peak(model, shapes, options):
    probe = next((options.shardcc.parent / "rt").glob("probe-*"))
    model.our_rate = max(model.our_rate, products.our_rate(probe, shapes, options.threads))
    model.torch_rate = max(model.torch_rate, run_torch("products", [json.dumps(shapes)], options)[0])


def measure(name, kinds, options):
    model = Model(name, {kind: Side() for kind in ["ours", *kinds]})
    ours, shapes = model.sides["ours"], []
    try:
        trainer, data = build(name, options.shardcc, options.work, precision=options.precision)
        wide = build(name, options.shardcc, options.work)[0] if "f32" in kinds else None
        model.flops = flops_of(trainer)
        shapes = products.shapes_of((wide or trainer).with_suffix(".c").read_text())
    except Failure as e:
        ours.problem = str(e)
    for _ in range(options.rounds):
        for kind, side in model.sides.items():
            if kind in ("ours", "f32"):
                program = trainer if side is ours else wide
                side.add(lambda: our_steps([program], data, options.steps, options.threads, watch=options.memory))
            else:
                side.add(run_torch, kind, ["--steps", options.steps, name], options, options.memory)
        if shapes:
            measure_peak(model, shapes, options)
    return model


def cell(model, side, options):
    """The median and best time, the share of the peak, and the memory."""
    share = f"{'-':>5s}"
    if model.peak and side.is_whole:
        share = f"{100 * model.flops / side.median / model.peak:4.0f}%"
    return f"{side.times()} {share}" + (f" {side.memory():>6s}" if options.memory else "")


def row(model, options):
    """A model's line, followed by a line for each side that failed."""
    sides = list(model.sides.values())
    text = f"{MODELS[model.name]:20s}" + "".join(f"  {cell(model, side, options)}" for side in sides)
    text += "".join(f"  {sides[0].over(side):>8s}" for side in sides[1:])
    text += f"  {1e-9 * model.our_rate:4.0f} {1e-9 * model.torch_rate:4.0f}"
    if any(side.is_noisy for side in sides):
        text += "  noisy"
    return text + "".join(f"\n    {side.problem}" for side in sides if side.problem)


def head(kinds, options):
    memory = f" {'MiB':>6s}" if options.memory else ""
    text = f"{'ms a step':20s}" + "".join(f"  {k:>9s} {'best':>8s} {'peak':>5s}{memory}" for k in ["ours", *kinds])
    return text + "".join(f"  {'/' + kind:>8s}" for kind in kinds) + "    GFLOP/s"


def read_options():
    p = table_parser(__doc__, MODELS)
    p.add_argument("--compile", action="store_true", help="torch.compile too")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    p.add_argument("--memory", action="store_true", help="the most memory too")
    p.add_argument("--torch", choices=["eager", "compile", "products"], help=argparse.SUPPRESS)
    options = p.parse_args()
    if not options.torch:
        check_table(p, options, MODELS)
    return options


def main():
    options = read_options()
    if options.torch == "products":
        torch_products(json.loads(options.names[0]), options.threads)
        return
    if options.torch:
        time_module(options.names[0], options.torch == "compile", options)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    kinds = ["eager"] + ["compile"] * options.compile + ["f32"] * (options.precision != "f32")
    ratios = {kind: [] for kind in kinds}
    print(head(kinds, options), flush=True)
    for name in options.names or MODELS:
        model = measure(name, kinds, options)
        print(row(model, options), flush=True)
        for kind, found in ratios.items():
            if model.sides["ours"].is_whole and model.sides[kind].is_whole:
                found.append(model.sides["ours"].median / model.sides[kind].median)
    means = [f"/{kind} {statistics.geometric_mean(found):.2f}" for kind, found in ratios.items() if found]
    print(f"geometric means: {', '.join(means)}")


if __name__ == "__main__":
    main()
