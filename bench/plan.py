#!/usr/bin/env python3
"""Planning of large models on h100xN, AdamW, f32: time and memory of the whole of `shardcc plan`, and what it found.

  plan.py --shardcc build/shardcc --work DIR FOLDER [NAME ...]

accumulate: the least power of two with which a plan fits. MiB: the most resident memory that shardcc and its
engines had at once. step: as predicted; gap: (step - bound) / step. against: the fastest of the presets.
"""
import argparse
import json
import re
from pathlib import Path

from solve import run

# Name, batch, ranks, mesh.
MODELS = [
    ("gpt2_small", 64, 8, "2x4"),
    ("resnet50", 64, 8, "2x4"),
    ("bert_large", 64, 8, "2x4"),
    ("vit_l", 64, 8, "2x4"),
    ("llama_8b", 64, 64, "8x8"),
    ("llama_70b", 256, 256, "32x8"),
    ("gpt3_175b", 1536, 1024, "16x8x8"),
]
INFEASIBLE = 4
MOST_ACCUMULATE = 64


class Planner:
    def __init__(self, options, name, batch, ranks):
        self.name, self.path = name, options.work / f"{name}.plan.json"
        loss = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]
        self.command = [options.shardcc, "plan", options.folder / f"{name}.onnx", "-o", self.path, *loss]
        self.command += ["--bind", f"batch={batch}", "--cluster", f"h100x{ranks}"]

    def plan(self, *more):
        """Status, what was said, seconds, MiB."""
        self.path.unlink(missing_ok=True)
        return run([str(x) for x in [*self.command, *more]])

    def row(self, what, *more):
        """Prints a row; False where nothing fits."""
        status, said, seconds, most = self.plan(*more)
        if status:
            print(f"{self.name:11s} {what:22s} {seconds:7.2f} {most:6.0f}  exit {status}: {said.strip()}", flush=True)
            return status != INFEASIBLE
        p = json.loads(self.path.read_text())
        mesh = "x".join(str(a["size"]) for a in p["mesh"])
        gap = 100 * (p["seconds"] - p["bound"]) / p["seconds"]
        best = min((r for r in p["presets"] if r["fits"]), key=lambda r: r["seconds"], default=None)
        against = f"{best['name']} {best['seconds']:.4g} s" if best else "-"
        text = f"{self.name:11s} {what:22s} {seconds:7.2f} {most:6.0f} {mesh:>9s} {p['bytes'] / 2**30:6.1f} of {p['memory'] / 2**30:6.1f}"
        print(f"{text} {p['seconds']:9.4g} {gap:7.3f}%  {against}", flush=True)
        return True


def model(options, name, batch, ranks, mesh):
    planner, k = Planner(options, name, batch, ranks), 1
    while planner.plan("--mesh", mesh, "--accumulate", k)[0] == INFEASIBLE and k < MOST_ACCUMULATE:
        k *= 2
    more = ["--accumulate", k]
    planner.row(f"accumulate {k}", "--mesh", mesh, *more)
    least = re.search(r"the least that was found takes (\d+) bytes", planner.plan("--mesh", mesh, *more, "--memory", "1")[1])
    if least:
        planner.row("1.05 x the least", "--mesh", mesh, *more, "--memory", int(1.05 * int(least[1])))
    if not options.one_mesh:
        planner.row("all grids", *more)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--one-mesh", action="store_true", help="not all grids too")
    p.add_argument("folder", type=Path)
    p.add_argument("names", nargs="*", help="models (all that are in the folder)")
    options = p.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print(f"{'':11s} {'':22s} {'s':>7s} {'MiB':>6s} {'mesh':>9s} {'GiB a rank':>16s} {'step s':>9s} {'gap':>8s}  against")
    for name, batch, ranks, mesh in MODELS:
        if (not options.names or name in options.names) and (options.folder / f"{name}.onnx").exists():
            model(options, name, batch, ranks, mesh)


if __name__ == "__main__":
    main()
