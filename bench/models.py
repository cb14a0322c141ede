"""The models of the tables, in two forms: as a trainer of ours, and as a training step of PyTorch.

float32, AdamW (PyTorch's with fused=True), random weights, the same batch each step. The first two steps of a run
don't count.
"""
import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from measure import run

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
TRAINING = ["--loss", "cross_entropy(logits, labels)", "--optimizer", f"adamw(lr={LEARNING_RATE})"]


def table_parser(doc, known):
    """The options that tables of steps share; `known` are the models by name."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(known))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve())
    p.add_argument("--work", type=lambda s: Path(s).resolve())
    p.add_argument("--steps", type=int, default=8, help="that count, of each run")
    p.add_argument("--rounds", type=int, default=3)
    return p


def check_table(parser, options, known):
    """Checks the options of a table. A side that runs in a separate process has other options."""
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no model named {unknown[0]}: there are {' '.join(known)}")
    if not (options.shardcc and options.work):
        parser.error("--shardcc and --work are needed")


# ---- our side ----


def export(name, work):
    """Exports NAME.onnx with its weights to `work`, once."""
    path = work / f"{name}.onnx"
    if not (work / f"{name}.json").exists():
        script = ROOT / "models/export.py"
        run([sys.executable, script, "--size", "real", "--steps", 1, "--out", work, name])
    return path


def write_batch(name, work):
    """Makes a folder with one batch for an exported model."""
    data = work / f"{name}_data"
    data.mkdir(exist_ok=True)
    with np.load(work / f"{name}.npz") as arrays:
        for key in arrays.files:
            if key.startswith("data/"):
                np.save(data / f"{key[5:]}.npy", arrays[key][0])
    return data


def build(name, shardcc, work, is_built=False, precision="f32"):
    """Builds the trainer of a model, with its weights next to it, and a folder with one batch."""
    half = [] if precision == "f32" else ["--precision", precision]
    trainer = work / "_".join([name, *half[1:], "trainer"])
    if not is_built:
        run([shardcc, export(name, work), "-o", trainer, *TRAINING, *half])
    return trainer, write_batch(name, work)


def our_steps(command, data, steps, threads, *more, **options):
    """Runs a command that ends with a trainer. Returns the seconds of each step that counts, and MiB."""
    log = command[-1].with_suffix(".jsonl")
    command = [*command, "--data", data, "--steps", WARM_UP + steps, "--no-shuffle", "--quiet", "--log", log]
    _, most = run([*command, "--threads", threads, *more], **options)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["seconds"] for line in lines if "loss" in line][WARM_UP:], most


# ---- PyTorch's ----


def torch_env(threads):
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(threads)}


def torch_model(name, threads):
    """Returns a module in training mode, its inputs and labels, and a function for the loss of its output."""
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
    return module, inputs, labels, lambda y, t: reference.loss_of(case.loss, y, t)


def torch_steps(module, inputs, labels, loss_of, steps, precision="f32"):
    """Returns the seconds of each step that counts. In bf16 by autocast, and images have their channels last."""
    import torch

    is_half = precision == "bf16"
    if is_half and any(x.dim() == 4 for x in inputs.values()):
        module = module.to(memory_format=torch.channels_last)
        inputs = {k: x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for k, x in inputs.items()}

    optimizer = torch.optim.AdamW(module.parameters(), lr=LEARNING_RATE, fused=True)
    seconds = []
    for _ in range(WARM_UP + steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            loss = loss_of(module(*inputs.values()), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    return seconds[WARM_UP:]
