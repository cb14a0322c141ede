#!/usr/bin/env python3
"""The tables of bench/gpus.sh and of bench/gpu.sh --ranks and --precision on tests' GPUs (tests/cuda), where times mean nothing: all rows are there,
and nothing is wrong.

  gpus_test.py --shardcc build/shardcc
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import Checks, side_by_side
from model import QUICK_CC, REPOSITORY, gpu_toolkit, parser

RANKS = 4
COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "permute", "reduce_scatter")
NUMBER = r"\d+\.\d+"
# A compiler that compiles each text once.
ONCE = """#!/bin/bash
kept={folder}/$(cat "${{@: -1}}" | sha1sum | cut -c 1-40)
[ -f $kept ] || {compiler} "$@" || exit 1
out=$(echo "$*" | sed 's/.* -o \\([^ ]*\\).*/\\1/')
[ -f $kept ] && cp $kept "$out" || cp "$out" $kept
"""
SLOW_LINK = Path(__file__).with_name("slow_link.json")


class Tables:
    def __init__(self, checks, shardcc, toolkit, work):
        self.checks, self.shardcc, self.toolkit, self.work = checks, shardcc, work / "toolkit", work
        (self.toolkit / "bin").mkdir(parents=True)
        for name in ("include", "lib"):
            (self.toolkit / name).symlink_to(toolkit / name)
        nvcc = self.toolkit / "bin/nvcc"
        nvcc.write_text(ONCE.format(folder=work, compiler=toolkit / "bin/nvcc"))
        nvcc.chmod(0o755)

    def run(self, script, *more, devices=RANKS):
        env = {"TORCH_PYTHON": sys.executable, "SHARDCC": str(self.shardcc), "WORK": str(self.work), "RANKS": str(RANKS)}
        command = [REPOSITORY / "bench" / script, "--cuda", self.toolkit, "--cc", QUICK_CC, *more]
        env = {**os.environ, **env, "CUDART_DEVICES": str(devices)}
        return subprocess.run([str(x) for x in command], capture_output=True, text=True, env=env, timeout=600)

    def check(self, name, ok, detail):
        self.checks.check(name, ok, "" if ok else str(detail)[:2000])

    def rows(self, name, said, pattern, count):
        found = re.findall(pattern, said, re.M)
        self.check(name, len(found) == count, said)

    def test_gpus(self):
        folder, sizes = self.work / "gpus", ["--least", "4K", "--most", "4K", "--steps", "2"]
        built = self.run("gpus.sh", *sizes, "--cluster", SLOW_LINK, "--build", folder, "mlp")
        self.check("gpus.sh --build", built.returncode == 0 and not built.stdout, built.stdout + built.stderr)
        done = self.run("gpus.sh", *sizes, "--run", folder, "mlp")
        self.check("gpus.sh", done.returncode == 0 and not done.stderr, done.stdout + done.stderr)
        self.check("gpus.sh: what exchanges", done.stdout.startswith(f"{RANKS} GPUs, NCCL 2."), done.stdout)
        for kind in COLLECTIVES:
            cells = r" +".join([NUMBER] * 5)
            self.rows(f"gpus.sh: {kind}", done.stdout, rf"^{kind} +4 KiB +{cells} +same$", 1)
        for ranks, title in ((1, "mlp 16"), (RANKS, "")):
            self.rows(f"gpus.sh: a step of {ranks}", done.stdout, rf"^{title} +{ranks} +" + r" +".join([NUMBER] * 9) + "$", 1)
        self.test_host(folder, sizes)

    def test_host(self, folder, sizes):
        """Ranks that share a GPU have no NCCL to be compared with; without GPUs each row says so."""
        done = self.run("gpus.sh", *sizes, "--run", folder, "--collectives", "host", "mlp", devices=1)
        self.check("gpus.sh: one GPU", done.returncode == 0 and "memory of the host" in done.stdout, done.stdout + done.stderr)
        self.rows("gpus.sh: one GPU, collectives", done.stdout, rf"^\w+ +4 KiB +{NUMBER} +{NUMBER} +- +- +-  same$", 5)
        done = self.run("gpus.sh", *sizes, "--run", folder, "mlp", devices=0)
        self.check("gpus.sh: no GPU", done.returncode == 1 and done.stdout.count("error: there is no GPU") == 2, done.stdout)

    def test_ranks(self):
        few = ["--seconds", "1", "--steps", "2", "--nccl-sizes", "4096", "4096"]
        done = self.run("gpu.sh", "--ranks", *few, "mlp", devices=1)
        self.check("gpu.sh --ranks", done.returncode == 0 and not done.stderr and "WRONG" not in done.stdout, done.stdout + done.stderr)
        for name, pattern, count in (
            ("NCCL", r"^NCCL on one rank: 5 of 5 calls have the same bits", 1),
            ("gradients", r"^mlp x[24] +\S+e-0[5-9] +\S+e-0[5-9]  same bits$", 2),
            ("ends", rf"^(?:killed|failed kernel) +{NUMBER}  .*error: .*rank 1 is gone", 2),
            ("rates", r"^detect: .* us of a launch$", 1),
            ("prediction", rf"^mlp 16 +{NUMBER} +{NUMBER} +{NUMBER}$", 1),
        ):
            self.rows(f"gpu.sh --ranks: {name}", done.stdout, pattern, count)

    def test_half(self):
        few = ["--precision", "bf16", "--steps", "1", "--rounds", "1", "--text-steps", "2"]
        done = self.run("gpu.sh", *few, "demo_gpt", "text", devices=1)
        self.check("gpu.sh --precision", done.returncode == 0 and not done.stderr and "WRONG" not in done.stdout, done.stdout + done.stderr)
        self.rows("gpu.sh --precision: a step", done.stdout, rf"^demo GPT 1x64 +{NUMBER} +- +- +- +{NUMBER} +- +{NUMBER} +", 1)
        self.rows("gpu.sh --precision: text", done.stdout, rf"^2 steps on text: loss {NUMBER} in bf16, {NUMBER} in f32; same bits$", 1)

    def test_wrong(self):
        for script, words, message in (
            ("gpus.sh", ["nobody"], "no model named nobody"),
            ("gpus.sh", ["--ranks", "1"], "--ranks: 1; 2 GPUs at least"),
            ("gpus.sh", ["--least", "2M", "--most", "1M"], "--least and --most"),
            ("gpu.sh", ["--ranks", "nobody"], "no model named nobody"),
            ("gpu.sh", ["--precision", "bf16", "mlp"], "no model named mlp"),
        ):
            done = self.run(script, *words)
            self.check(f"{script} {' '.join(words)}", done.returncode == 2 and message in done.stderr, done.stderr)


def main():
    options = parser(__doc__).parse_args()
    toolkit, checks = gpu_toolkit(options), Checks()
    with tempfile.TemporaryDirectory() as work:
        tables = Tables(checks, options.shardcc, toolkit, Path(work))
        side_by_side(options.jobs, tables.test_gpus, tables.test_ranks, tables.test_half, tables.test_wrong)
    checks.finish()


if __name__ == "__main__":
    main()
