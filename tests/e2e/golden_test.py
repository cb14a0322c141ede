#!/usr/bin/env python3
"""The texts of programs, as they are kept in tests/cases: nanogpt.c and nanogpt.program of one rank, nanogpt_tp.c of two,
mlp_gpus.c of two GPUs, mlp_bf16.c in half precision. What all texts must say is in generated_test.py. What is said where nothing fits: NAME.refused.

  golden_test.py --shardcc build/shardcc

UPDATE=1 rewrites them, so that a review shows what a change does to the generated code. The graphs of a program, which
other tests compare, are left out.
"""
import argparse
import difflib
import os
import re
import subprocess
from pathlib import Path

from harness import Checks, run

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/cases"
LOSS = ["--loss", "cross_entropy(logits, labels)"]
# By name: the forms that are kept, the model and its options. The CPU and the cluster are named, as a machine's own would differ.
PROGRAMS = {
    "nanogpt": (
        ["program", "c"],
        ["models/tiny/nanogpt.onnx", *LOSS, "--optimizer", "adamw", "--clip-norm", "1"],
    ),
    "nanogpt_tp": (
        ["c"],
        [
            *["models/tiny/nanogpt.onnx", *LOSS, "--optimizer", "adamw", "--ranks", "2", "--mesh", "tp=2"],
            *["--plan-preset", "megatron", "--cluster", "h100x2"],
        ],
    ),
    "mlp_gpus": (
        ["c"],
        [
            *["models/tiny/mlp.onnx", *LOSS, "--optimizer", "adamw", "--target", "cuda", "--ranks", "2", "--mesh", "dp=2"],
            *["--plan-preset", "fsdp", "--cluster", "h100x2"],
        ],
    ),
    "mlp_bf16": (["c"], ["models/tiny/mlp.onnx", *LOSS, "--optimizer", "adamw", "--accumulate", "2", "--precision", "bf16"]),
}
DEMO = ["models/demo_gpt.onnx", "--bind", "batch=64", *LOSS, "--optimizer", "adamw", "--threads", "2"]
REFUSED = {
    "demo_gpt": [*DEMO, "--memory", "40MiB"],
    "demo_gpt_dp": [*DEMO, "--memory", "24MiB", "--ranks", "2", "--mesh", "dp=2", "--cluster", "h100x8"],
}


def without_graphs(text):
    return re.sub(r"^(graph .*?^}|(strategy|shard|node|pack) .*?)\n", "", text, flags=re.M | re.S)


def compare(checks, path, text):
    """Compares a text with the one that is kept, or keeps it."""
    if os.environ.get("UPDATE"):
        path.write_text(text)
    kept = path.read_text() if path.exists() else ""
    diff = list(difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="", n=1))
    checks.check(path.name, not diff, f"{sum(x[0] in '+-' for x in diff[2:])} lines differ" if diff else "")
    for line in diff[:40]:
        print(f"#   {line}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, required=True)
    shardcc, checks = p.parse_args().shardcc.resolve(), Checks()
    for name, (forms, command) in PROGRAMS.items():
        for form in forms:
            march = [] if "cuda" in command else ["--march", "x86-64-v3"]
            text = run(shardcc, *command, *march, "--emit", form, cwd=ROOT)
            compare(checks, CASES / f"{name}.{form}", without_graphs(text) if form == "program" else text)
    for name, command in REFUSED.items():
        done = subprocess.run([shardcc, *command, "--march", "x86-64-v3"], cwd=ROOT, capture_output=True, text=True)
        checks.check(f"{name}: the status", done.returncode == 4 and not done.stdout, f"{done.returncode} {done.stdout}")
        compare(checks, CASES / f"{name}.refused", done.stderr)
    checks.finish()


if __name__ == "__main__":
    main()
