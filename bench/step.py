#!/usr/bin/env python3
"""Seconds of a training step: our trainers against PyTorch on eight models of real size.

  step.py --shardcc build/shardcc --work DIR [--compile] [--memory] [--steps 8] [--rounds 3] [--threads 2] [NAME ...]

float32, AdamW (PyTorch's with fused=True), random weights, the same batch each step. Both sides run in turn,
several times, in processes of their own; the first two steps of a run don't count. The ratio is of the
medians over all rounds; best times stand beside it. A row is marked noisy where a side's median is well above
its best: the machine did something else, which slows PyTorch's spinning threads most, and the ratio says
little.

peak: a step's flops (dot, convolution and attention, nothing counted twice) over a side's median and the flop/s of
the fastest product among the model's own, in percent. The largest shapes of the trainer's text are measured on
their own, by our kernel and by PyTorch's, in each round; the fastest of all counts for both sides.

MiB (--memory): the most anonymous memory that the process had at once, looked at every 5 ms.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import products

ROOT = Path(__file__).resolve().parents[1]
MODELS = {
    "gpt2": "GPT-2 124M 4x64",
    "nanogpt": "GPT 6 layers 8x256",
    "llama": "LLaMA 55M 4x256",
    "bert": "BERT-base 4x128",
    "vit": "ViT-S/16 8",
    "mixer": "MLP-Mixer-S 8",
    "resnet": "ResNet-50 8",
    "mobilenet": "MobileNetV3-L 8",
}
WARM_UP = 2
LEARNING_RATE = 1e-4
NOISY = 1.25  # median over best
WATCH = 0.005  # seconds between two looks at a process's memory


class Failure(Exception):
    """Something that the table says in a model's row."""


@dataclass
class Side:
    """What was measured of one side: seconds of steps, the most MiB; or why there is nothing."""

    seconds: list = field(default_factory=list)
    mebibytes: float = 0
    problem: str = ""


def anonymous(pid):
    """MiB of anonymous memory of a process; 0 if it has ended."""
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def run(command, watch=False, **options):
    """A command's output, and the most MiB if it is watched; a Failure with its first line of error."""
    most = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, **options)
        while watch and process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(WATCH)
        status = process.wait()
        out.seek(0), err.seek(0)
        if status:
            said = err.read().splitlines()
            lines = [line for line in said if "error" in line.lower()]
            raise Failure((lines or said or [f"exit {status}"])[0][:200])
        return out.read(), most


# ---- our side ----


def export(name, work):
    """NAME.onnx with its weights in `work`, made once."""
    path = work / f"{name}.onnx"
    if not (work / f"{name}.json").exists():
        script = ROOT / "models/export.py"
        run([sys.executable, script, "--size", "real", "--steps", 1, "--out", work, name])
    return path


def build(name, options):
    """The trainer of a model, and a folder with one batch for it."""
    path = export(name, options.work)
    trainer = options.work / f"{name}_trainer"
    loss, optimizer = "cross_entropy(logits, labels)", f"adamw(lr={LEARNING_RATE})"
    run([options.shardcc, path, "-o", trainer, "--loss", loss, "--optimizer", optimizer])
    data = options.work / f"{name}_data"
    data.mkdir(exist_ok=True)
    with np.load(path.with_suffix(".npz")) as arrays:
        for key in arrays.files:
            if key.startswith("data/"):
                np.save(data / f"{key[5:]}.npy", arrays[key][0])
    return trainer, data


def flops_of(trainer):
    """Of a step, as the trainer knows them."""
    found = re.search(r"^step +(\S+) GFLOP", run([trainer, "--info"])[0], re.M)
    return 1e9 * float(found[1])


def time_ours(side, trainer, data, options):
    """Adds the seconds of each step that counts."""
    log = trainer.with_suffix(".jsonl")
    steps = WARM_UP + options.steps
    command = [trainer, "--data", data, "--steps", steps, "--no-shuffle", "--quiet", "--log", log]
    _, most = run([*command, "--threads", options.threads], watch=options.memory)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    side.seconds += [line["seconds"] for line in lines if "loss" in line][WARM_UP:]
    side.mebibytes = max(side.mebibytes, most)


# ---- PyTorch's ----


def torch_steps(name, is_compiled, steps, threads):
    """Runs in a process of its own: prints the seconds of each step."""
    sys.path.insert(0, str(ROOT / "models"))
    import torch

    import reference
    from zoo_real import REAL

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    case = REAL[name]()
    reference.randomize(case.module)
    inputs, labels = reference.draw_batches(case)[0]
    module = reference.set_mode(case.module, True)
    forward = torch.compile(module) if is_compiled else module
    optimizer = torch.optim.AdamW(module.parameters(), lr=LEARNING_RATE, fused=True)
    seconds = []
    for _ in range(WARM_UP + steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = reference.loss_of(case.loss, forward(*inputs.values()), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    print(json.dumps(seconds[WARM_UP:]))


def torch_products(shapes, threads):
    """Runs in a process of its own: prints the flop/s of the fastest."""
    import torch

    torch.set_num_threads(threads)
    print(json.dumps(products.torch_rate(shapes)))


def run_torch(kind, arguments, options, watch=False):
    command = [sys.executable, __file__, "--torch", kind, "--threads", options.threads, *arguments]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(options.threads)}
    said, most = run(command, watch, env=env)
    return json.loads(said.splitlines()[-1]), most


def time_torch(side, name, kind, options):
    seconds, most = run_torch(kind, ["--steps", options.steps, name], options, watch=options.memory)
    side.seconds += seconds
    side.mebibytes = max(side.mebibytes, most)


# ---- the table ----


@dataclass
class Model:
    """A row of the table: sides by name ("ours" and the kinds of PyTorch), a step's flops, the peak flop/s."""

    name: str
    sides: dict
    flops: float = 0
    peak: float = 0


def measure_peak(model, shapes, options):
    probe = options.shardcc.parent / "rt/probe"
    rates = [products.our_rate(probe, shapes, options.threads)]
    rates.append(run_torch("products", [json.dumps(shapes)], options)[0])
    model.peak = max(model.peak, *rates)


def measure(name, kinds, options):
    model = Model(name, {kind: Side() for kind in ["ours", *kinds]})
    ours, shapes = model.sides["ours"], []
    try:
        trainer, data = build(name, options)
        model.flops = flops_of(trainer)
        shapes = products.shapes_of(trainer.with_suffix(".c").read_text())
    except Failure as e:
        ours.problem = str(e)
    for _ in range(options.rounds):
        for kind, side in model.sides.items():
            if side.problem:
                continue
            try:
                if side is ours:
                    time_ours(side, trainer, data, options)
                else:
                    time_torch(side, name, kind, options)
            except Failure as e:
                side.problem = str(e)
        if shapes:
            measure_peak(model, shapes, options)
    return model


def cell(model, side, options):
    """Median and best in milliseconds, share of the peak, memory."""
    if side.problem:
        return f"{'-':>9s} {'-':>8s} {'-':>5s}" + (f" {'-':>6s}" if options.memory else "")
    median = statistics.median(side.seconds)
    share = f"{100 * model.flops / median / model.peak:4.0f}%" if model.peak else f"{'-':>5s}"
    text = f"{1e3 * median:9.1f} {1e3 * min(side.seconds):8.1f} {share}"
    return text + (f" {side.mebibytes:6.0f}" if options.memory else "")


def is_noisy(side):
    return not side.problem and statistics.median(side.seconds) > NOISY * min(side.seconds)


def row(model, options):
    """A model's line, and a line for each side that failed."""
    sides = list(model.sides.values())
    text = f"{MODELS[model.name]:20s}" + "".join(f"  {cell(model, side, options)}" for side in sides)
    for side in sides[1:]:
        if sides[0].problem or side.problem:
            text += f"  {'-':>8s}"
        else:
            text += f"  {statistics.median(sides[0].seconds) / statistics.median(side.seconds):8.2f}"
    text += f"  {1e-9 * model.peak:6.0f}"
    if any(map(is_noisy, sides)):
        text += "  noisy"
    return text + "".join(f"\n    {side.problem}" for side in sides if side.problem)


def head(kinds, options):
    memory = f" {'MiB':>6s}" if options.memory else ""
    text = f"{'ms a step':20s}" + "".join(f"  {k:>9s} {'best':>8s} {'peak':>5s}{memory}" for k in ["ours", *kinds])
    return text + "".join(f"  {'/' + kind:>8s}" for kind in kinds) + f"  {'GFLOP/s':>6s}"


def read_options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(MODELS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve())
    p.add_argument("--work", type=lambda s: Path(s).resolve())
    p.add_argument("--compile", action="store_true", help="torch.compile too")
    p.add_argument("--steps", type=int, default=8, help="that count, of each run")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--memory", action="store_true", help="the most anonymous memory too")
    p.add_argument("--torch", choices=["eager", "compile", "products"], help=argparse.SUPPRESS)
    options = p.parse_args()
    unknown = [name for name in options.names if name not in MODELS and options.torch != "products"]
    if unknown:
        p.error(f"no model named {unknown[0]}: there are {' '.join(MODELS)}")
    if not options.torch and not (options.shardcc and options.work):
        p.error("--shardcc and --work are needed")
    return options


def main():
    options = read_options()
    if options.torch == "products":
        torch_products(json.loads(options.names[0]), options.threads)
        return
    if options.torch:
        torch_steps(options.names[0], options.torch == "compile", options.steps, options.threads)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    kinds = ["eager", "compile"] if options.compile else ["eager"]
    print(head(kinds, options), flush=True)
    for name in options.names or MODELS:
        print(row(measure(name, kinds, options), options), flush=True)


if __name__ == "__main__":
    main()
