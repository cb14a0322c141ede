#!/usr/bin/env python3
"""Seconds of a training step: our trainers against PyTorch on eight models of real size.

  step.py --shardcc build/shardcc --work DIR [--compile] [--steps 8] [--rounds 3] [--threads 2] [NAME ...]

float32, AdamW (PyTorch's with fused=True), random weights, the same batch each step. Both sides run in turn,
several times, in processes of their own; the first two steps of a run don't count. The ratio is of the
medians over all rounds; best times stand beside it. A row is marked noisy where a side's median is well above
its best: the machine did something else, which slows PyTorch's spinning threads most, and the ratio says
little.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

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


class Failure(Exception):
    """Something that the table says in a model's row."""


def run(command, **options):
    """A command's output; a Failure with its first line of error."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise Failure((lines or done.stderr.splitlines() or [f"exit {done.returncode}"])[0][:200])
    return done.stdout


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


def time_ours(trainer, data, options):
    """Seconds of each step that counts."""
    log = trainer.with_suffix(".jsonl")
    steps = WARM_UP + options.steps
    command = [trainer, "--data", data, "--steps", steps, "--no-shuffle", "--quiet", "--log", log]
    run([*command, "--threads", options.threads])
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["seconds"] for line in lines if "loss" in line][WARM_UP:]


# ---- PyTorch's ----


def torch_steps(name, is_compiled, steps, threads):
    """Runs in a process of its own: prints the seconds of each step."""
    import time

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


def time_torch(name, kind, options):
    command = [sys.executable, __file__, "--torch", kind, "--steps", options.steps]
    command += ["--threads", options.threads, name]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(options.threads)}
    return json.loads(run(command, env=env).splitlines()[-1])


# ---- the table ----


def measure(name, kinds, options):
    """Seconds by side: "ours" and the kinds of PyTorch. Sides that fail hold a text."""
    times = {kind: [] for kind in ["ours", *kinds]}
    try:
        trainer, data = build(name, options)
    except Failure as e:
        times["ours"] = str(e)
    for _ in range(options.rounds):
        for kind in times:
            if isinstance(times[kind], str):
                continue
            try:
                ours = kind == "ours"
                times[kind] += time_ours(trainer, data, options) if ours else time_torch(name, kind, options)
            except Failure as e:
                times[kind] = str(e)
    return times


def cell(seconds):
    """Median and best, in milliseconds."""
    if isinstance(seconds, str):
        return f"{'-':>9s} {'-':>8s}"
    return f"{1e3 * statistics.median(seconds):9.1f} {1e3 * min(seconds):8.1f}"


def is_noisy(seconds):
    return not isinstance(seconds, str) and statistics.median(seconds) > NOISY * min(seconds)


def row(name, times):
    """A model's line, and a line for each side that failed."""
    text = f"{MODELS[name]:20s}" + "".join(f"  {cell(t)}" for t in times.values())
    ours = times.pop("ours")
    for seconds in times.values():
        if isinstance(ours, str) or isinstance(seconds, str):
            text += f"  {'-':>8s}"
        else:
            text += f"  {statistics.median(ours) / statistics.median(seconds):8.2f}"
    if any(is_noisy(seconds) for seconds in (ours, *times.values())):
        text += "  noisy"
    for problem in (ours, *times.values()):
        if isinstance(problem, str):
            text += f"\n    {problem}"
    return text


def head(kinds):
    text = f"{'ms a step':20s}" + "".join(f"  {kind:>9s} {'best':>8s}" for kind in ["ours", *kinds])
    return text + "".join(f"  {'/' + kind:>8s}" for kind in kinds)


def read_options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(MODELS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve())
    p.add_argument("--work", type=lambda s: Path(s).resolve())
    p.add_argument("--compile", action="store_true", help="torch.compile too")
    p.add_argument("--steps", type=int, default=8, help="that count, of each run")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--torch", choices=["eager", "compile"], help=argparse.SUPPRESS)
    options = p.parse_args()
    unknown = [name for name in options.names if name not in MODELS]
    if unknown:
        p.error(f"no model named {unknown[0]}: there are {' '.join(MODELS)}")
    if not options.torch and not (options.shardcc and options.work):
        p.error("--shardcc and --work are needed")
    return options


def main():
    options = read_options()
    if options.torch:
        torch_steps(options.names[0], options.torch == "compile", options.steps, options.threads)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    kinds = ["eager", "compile"] if options.compile else ["eager"]
    print(head(kinds), flush=True)
    for name in options.names or MODELS:
        print(row(name, measure(name, kinds, options)), flush=True)


if __name__ == "__main__":
    main()
