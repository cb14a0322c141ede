#!/usr/bin/env python3
"""Planning of large models on h100xN, AdamW, f32: time and memory of the whole of `shardcc plan`, and what it found.

  plan.py --shardcc build/shardcc --work DIR [--presets] FOLDER [NAME ...]

accumulate: the least power of two with which a plan fits. MiB: the most resident memory that shardcc and its
engines had together. step: the least sum of the times of nodes and collectives. gap: (step - bound) / step.
against: the fastest of the presets.

--presets: compares the search with every preset, on 8 to 64 ranks. Shows a preset's step over the searched
plan's, or - if no plan of the preset fits. No ratio may be below 1. If one is 1, the gap must be 1 % at most.
Otherwise the exit status is 1.
"""
import argparse
import json
import re
import sys
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
AGAINST = ["gpt2_small", "resnet50", "bert_large", "vit_l", "llama_8b"]
MESHES = {8: "2x4", 16: "2x8", 32: "4x8", 64: "8x8"}
BATCH = 64
EQUAL, MAX_GAP = 1e-6, 1  # relative difference of equal steps; percent
INFEASIBLE = 4
MAX_ACCUMULATE = 64


def cheapest(plan):
    return plan.get("cheapest", plan["seconds"])


def gap_of(plan):
    return 100 * (cheapest(plan) - plan["bound"]) / cheapest(plan)


class Planner:
    def __init__(self, options, name, batch, ranks):
        self.name, self.path = name, options.work / f"{name}.plan.json"
        loss = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]
        self.command = [options.shardcc, "plan", options.folder / f"{name}.onnx", "-o", self.path, *loss]
        self.command += ["--bind", f"batch={batch}", "--cluster", f"h100x{ranks}"]

    def plan(self, *more):
        """Returns the exit status, the output, seconds and MiB."""
        self.path.unlink(missing_ok=True)
        return run([str(x) for x in [*self.command, *more]])

    def least_accumulate(self, mesh):
        k = 1
        while self.plan("--mesh", mesh, "--accumulate", k)[0] == INFEASIBLE and k < MAX_ACCUMULATE:
            k *= 2
        return k

    def read(self):
        return json.loads(self.path.read_text())

    def row(self, what, *more):
        """Prints a row. Returns False if no plan fits."""
        status, said, seconds, most = self.plan(*more)
        if status:
            print(f"{self.name:11s} {what:22s} {seconds:7.2f} {most:6.0f}  exit {status}: {said.strip()}", flush=True)
            return status != INFEASIBLE
        p = self.read()
        mesh = "x".join(str(a["size"]) for a in p["mesh"])
        gap = gap_of(p)
        best = min((r for r in p["presets"] if r["fits"]), key=lambda r: r["seconds"], default=None)
        against = f"{best['name']} {best['seconds']:.4g} s" if best else "-"
        text = f"{self.name:11s} {what:22s} {seconds:7.2f} {most:6.0f} {mesh:>9s} {p['bytes'] / 2**30:6.1f} of {p['memory'] / 2**30:6.1f}"
        print(f"{text} {cheapest(p):9.4g} {gap:7.3f}%  {against}", flush=True)
        return True


def model(options, name, batch, ranks, mesh):
    planner = Planner(options, name, batch, ranks)
    k = planner.least_accumulate(mesh)
    more = ["--accumulate", k]
    planner.row(f"accumulate {k}", "--mesh", mesh, *more)
    least = re.search(r"the least that was found takes (\d+) bytes", planner.plan("--mesh", mesh, *more, "--memory", "1")[1])
    if least:
        planner.row("1.05 x the least", "--mesh", mesh, *more, "--memory", int(1.05 * int(least[1])))
    if not options.one_mesh:
        planner.row("all grids", *more)


# ---- against presets ----


def against(options, name, ranks, mesh):
    """Prints a row. Returns False if a preset is faster, or the gap is too large."""
    planner = Planner(options, name, BATCH, ranks)
    k = planner.least_accumulate(mesh)
    if not planner.path.exists():
        print(f"{name:11s} {mesh:>5s}  no plan", flush=True)
        return False
    plan = planner.read()
    over = {p["name"]: p["seconds"] / cheapest(plan) for p in plan["presets"] if p["fits"]}
    ratios = "  ".join(f"{p['name']} {over[p['name']]:.3f}" if p["fits"] else f"{p['name']} -" for p in plan["presets"])
    print(f"{name:11s} {mesh:>5s} {k:4d} {cheapest(plan):9.4g} {gap_of(plan):7.3f}%  {ratios}", flush=True)
    is_equal = any(x <= 1 + EQUAL for x in over.values())
    return all(x >= 1 - EQUAL for x in over.values()) and not (is_equal and gap_of(plan) > MAX_GAP)


def table_against(options):
    print(f"{'':11s} {'mesh':>5s} {'acc':>4s} {'step s':>9s} {'gap':>8s}  presets' steps over it")
    names = [n for n in options.names or AGAINST if (options.folder / f"{n}.onnx").exists()]
    good = [against(options, name, ranks, mesh) for name in names for ranks, mesh in MESHES.items()]
    print(f"{sum(good)} of {len(good)} as they should be")
    return all(good)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--one-mesh", action="store_true", help="not all grids too")
    p.add_argument("--presets", action="store_true", help="the search against each preset")
    p.add_argument("folder", type=Path)
    p.add_argument("names", nargs="*", help="models (all that are in the folder)")
    options = p.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.presets:
        sys.exit(not table_against(options))
    print(f"{'':11s} {'':22s} {'s':>7s} {'MiB':>6s} {'mesh':>9s} {'GiB a rank':>16s} {'step s':>9s} {'gap':>8s}  against")
    for name, batch, ranks, mesh in MODELS:
        if (not options.names or name in options.names) and (options.folder / f"{name}.onnx").exists():
            model(options, name, batch, ranks, mesh)


if __name__ == "__main__":
    main()
