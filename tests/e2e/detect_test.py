#!/usr/bin/env python3
"""shardcc detect on the ranks that mpirun starts, or with --spawn on those that it starts itself: one file, with the link between
them.

  detect_test.py --shardcc build/shardcc [--spawn]
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import MPI_ENV, Checks, mpirun, run


def test(checks, shardcc, work, spawns):
    path = work / "cluster.json"
    command = [shardcc, "detect", "--threads", "1", "-o", path]
    run(*([*command, "--spawn", 2] if spawns else [*mpirun(2), *command]), env=MPI_ENV)
    checks.check("one file", os.listdir(work) == [path.name], str(os.listdir(work)))
    cluster = json.loads(path.read_text())
    checks.check("one host", cluster["devices_per_host"] == 2)
    checks.check("one level of links", [link["devices"] for link in cluster["links"]] == [2], str(cluster["links"]))
    checks.check("it takes time", all(link["alpha"] > 0 and link["beta"] > 0 for link in cluster["links"]))
    device = cluster["device"]
    checks.check("one device's rates", device["threads"] == 1 and len(device["gemm"]) > 50)
    types = {p["type"] for p in device["gemm"] if p["flops"] > 0}
    checks.check("halves too", types == {"f32", "f64", "bf16", "f16"} and device["half_attention"] > 0 < device["half_attention_grad"], str(types))


def test_full(checks, shardcc, work):
    """On a full disk there is a message, and no file is left. A file of numbers replaces the measurement."""
    (work / "rt").mkdir()
    (work / "rt/probe-mpi").write_text(f"#!/bin/sh\ncat {work}/cluster.json\n")
    (work / "rt/probe-mpi").chmod(0o755)
    shutil.copy(shardcc, work)
    files = os.listdir(work)
    command = [work / shardcc.name, "detect", "-o", "full.json"]
    limit = resource.RLIMIT_FSIZE, (0, 0)
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(*limit))
    said = done.stderr == "shardcc: error: cannot write 'full.json': File too large\n"
    checks.check("a full disk: a message", done.returncode == 1 and said, done.stderr)
    checks.check("a full disk: nothing is left", os.listdir(work) == files, str(os.listdir(work)))


def test_words(checks, shardcc, work):
    """What the program that measures is told; and options that go with no CPU."""
    for name in "probe-mpi", "probe-tcp":
        (work / "rt" / name).write_text(f"#!/bin/sh\necho $* >{work}/words\ncat {work}/cluster.json\n")
        (work / "rt" / name).chmod(0o755)
    for more, words in [([], ""), (["--threads", "3"], "3"), (["--spawn", "4"], "spawn 4 0"), (["--spawn", "4", "--threads", "3"], "spawn 4 3")]:
        run(work / shardcc.name, "detect", *more)
        said = (work / "words").read_text().strip()
        checks.check(f"{more}: is told", said == words, said)
    for more in ["--spawn", "0"], ["--spawn", "129"], ["--spawn", "two"], ["--target", "tpu"], ["--seconds", "9"], ["--cuda", "/usr"]:
        done = subprocess.run([shardcc, "detect", *more], capture_output=True, text=True)
        checks.check(f"{more}: refused", done.returncode == 2 and done.stderr.startswith(f"shardcc: error: {more[0]}"), done.stderr)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--shardcc", type=Path, default=Path("build/shardcc"))
    options.add_argument("--spawn", action="store_true")
    options, checks = options.parse_args(), Checks()
    with tempfile.TemporaryDirectory() as work:
        shardcc = options.shardcc.resolve()
        test(checks, shardcc, Path(work), options.spawn)
        test_full(checks, shardcc, Path(work))
        test_words(checks, shardcc, Path(work))
    checks.finish()


if __name__ == "__main__":
    main()
