#!/usr/bin/env python3
"""How plans for GPUs differ from plans for CPUs on the same cluster: bytes a rank, workspace, the step, what is split otherwise.

  targets.py [--shardcc build/shardcc] [--ranks 4] [--cluster h100x8] [--models models/tiny] [NAME ...]

The table has a row for each model of the folder, with AdamW. "specs": how many values are stored with another layout on
the mesh.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from model import Model, curves_of  # noqa: E402

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def amount(said, name):
    """Bytes of "NAME 1.5 MiB" in the text; 0 if it isn't there."""
    m = re.search(rf"{name} +([\d.]+) (B|KiB|MiB|GiB)", said)
    return float(m[1]) * UNITS[m[2]] if m else 0


def plan(model, o, target, path):
    """The plan's file, and what shardcc says about it."""
    command = [o.shardcc, "plan", model.onnx, *model.arguments(curves_of(model.info)["adamw"]), "--ranks", o.ranks]
    command += ["--cluster", o.cluster, "--target", target, "-o", path]
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(path.read_text()), done.stdout + done.stderr


def specs(p):
    return {v["name"]: v.get("spec") for v in p.get("values", []) if "name" in v}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, default=ROOT / "build/shardcc")
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--cluster", default="h100x8")
    p.add_argument("--models", type=Path, default=ROOT / "models/tiny")
    p.add_argument("names", nargs="*")
    o = p.parse_args()
    print(f"{'model':14}{'MiB cpu':>10}{'MiB cuda':>10}{'workspace':>11}{'cuda':>8}{'step cuda/cpu':>15}{'mesh':>12}{'specs':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(o.models.glob("*.onnx")):
            if o.names and path.stem not in o.names:
                continue
            model = Model(path, o.shardcc, Path(folder))
            (a, said_a), (b, said_b) = (plan(model, o, t, Path(folder) / f"{t}.json") for t in ("cpu", "cuda"))
            step = [float(m[1]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[m[2]] for m in (re.search(r"step +([\d.]+) (s|ms|us) predicted", s) for s in (said_a, said_b))]
            meshes = [re.search(r"ranks as (.*?),", s)[1] for s in (said_a, said_b)]
            mib = [amount(s, "memory") / (1 << 20) for s in (said_a, said_b)]
            work = [amount(s, "workspace") / (1 << 20) for s in (said_a, said_b)]
            x, y = specs(a), specs(b)
            differ = sum(x.get(k) != y.get(k) for k in x.keys() | y.keys())
            mesh = "same" if meshes[0] == meshes[1] else "other"
            print(f"{path.stem:14}{mib[0]:10.2f}{mib[1]:10.2f}{work[0]:11.2f}{work[1]:8.2f}{step[1] / step[0]:15.2f}{mesh:>12}{differ:7}", flush=True)


if __name__ == "__main__":
    main()
