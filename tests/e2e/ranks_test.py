#!/usr/bin/env python3
"""Ranks that mpirun starts: every collective on several meshes, and jobs in which a rank fails.

  ranks_test.py --shardcc build/shardcc [--transport mpi|tcp]

Without --transport both are tested: MPI on all meshes, TCP on two, with the same bits.
"""
import argparse
import os
import re
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from harness import MPI_ENV, Checks, mpirun, side_by_side

MESHES = {"1": 1, "2": 2, "3": 3, "4": 4, "2x2": 4, "2x3": 6}
FEW_MESHES = ["3", "2x2"]
TIMEOUT = 2
STARTS = {"mpi": "mpirun -n", "tcp": "--spawn"}  # what starts ranks, as messages say it


def start(ranks, *args, bind="none", cwd=None):
    """Runs a program on that many ranks; returns exit status, stdout, stderr and seconds."""
    begin = time.monotonic()
    done = subprocess.run([*mpirun(ranks, bind), *map(str, args)], capture_output=True, text=True, timeout=300, env=MPI_ENV, cwd=cwd)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def test_exchange(checks, program, meshes):
    """Returns what the ranks got, as a hash for each mesh: it is the same for all transports."""
    bits = {}
    for mesh in meshes:
        ranks = MESHES[mesh]
        status, out, err, _ = start(ranks, program, mesh)
        for line in out.splitlines():
            if "ok - " in line:
                checks.check(line.split("ok - ")[1], line.startswith("ok"))
        checks.check(f"{mesh}: it ends well", status == 0 and out.count("ok - ") == 6, err[-300:])
        bits[mesh] = out.split("bits ")[-1]
        if mesh == "3":
            checks.check("the same bits again", start(ranks, program, mesh)[1] == out)
    return bits


def errors(err):
    """The program's own messages."""
    return [line for line in err.splitlines() if line.startswith(("trouble: ", "  on rank"))]


def last_calls(err):
    return [line for line in err.splitlines() if line.startswith("  last collective of rank")]


def test_stops(checks, program, work):
    """One rank stops while the others wait for it."""
    cases = (
        ([0], "all_reduce along dp: rank 2", "rank 2: number 8, h.7.mlp: all_reduce f32[300000], 1.1 MiB"),
        ([1], r"h\.7\.mlp: all_reduce f32\[300000\]: rank 1", "rank 1: number 9, all_reduce, 1.1 MiB"),
        ([0, "beside"], ".*: rank 2", None),  # two threads are in collectives: either can be the first to give up
    )
    folders = [work / str(i) for i in range(len(cases))]
    for folder in folders:
        folder.mkdir()
    jobs = [partial(start, 4, program, "stop", TIMEOUT, *args, cwd=folder) for (args, *_), folder in zip(cases, folders)]
    for (args, late, last), folder, job in zip(cases, folders, side_by_side(len(jobs), *jobs)):
        status, _, err, seconds = job
        said, name = errors(err), " ".join(map(str, ["stop", *args]))
        is_named = len(said) == 1 and re.match(f"trouble: error: {late} didn't arrive within {TIMEOUT} s", said[0])
        checks.check(f"{name}: the stopped rank is named, once", is_named, str(said))
        found = last_calls(err)
        checks.check(f"{name}: last collectives", len(found) > 1 and (not last or f"  last collective of {last}" in found), str(found))
        checks.check(f"{name}: soon", status != 0 and seconds < TIMEOUT + 5, f"{seconds:.1f} s")
        checks.check(f"{name}: nothing is left", not (folder / "trouble.tmp").exists())


def test_trouble(checks, program, work):
    temp = work / "trouble.tmp"
    status, out, err, _ = start(4, program, "slow", 60, cwd=work)
    checks.check("what is being written stays", temp.exists())
    temp.unlink()
    checks.check("a slow rank is waited for", (status, out) == (0, "done, 6000000 bytes along tp\n"), err)
    test_stops(checks, program, work)
    status, _, err, seconds = start(4, program, "kill", 60, cwd=work)
    checks.check("nor of one that is killed", not temp.exists())
    checks.check("a killed rank is named, once", errors(err) == ["trouble: error: rank 1 is gone: it was killed, or has crashed"], err)
    checks.check("and its last collective", "  last collective of rank 1: number 9, all_reduce, 1.1 MiB" in last_calls(err), err)
    checks.check("a killed rank ends the job", status != 0 and seconds < 10, f"{seconds:.1f} s")
    status, _, err, seconds = start(4, program, "fail", 60, cwd=work)
    checks.check("nor of one that fails", not temp.exists())
    checks.check("one that fails says why", errors(err) == [
        "trouble: error: data.bin: it is gone", "  on rank 1 of 4: the job ends"], err)
    checks.check("and ends the job", status == 1 and seconds < 10, f"{status}, {seconds:.1f} s")


def test_counts(checks, program, command):
    status, _, err, _ = start(3, program, "slow", 60)
    checks.check("too few ranks", (status, errors(err)) == (1, [
        f"trouble: error: 3 ranks were started, but the program has 4 ranks (dp=2, tp=2): {command} 4"]), err)
    done = subprocess.run([str(program), "slow", "60"], capture_output=True, text=True)
    checks.check("no mpirun", (done.returncode, done.stderr) == (
        1, f"trouble: error: 1 rank was started, but the program has 4 ranks (dp=2, tp=2): {command} 4\n"), done.stderr)


def test_binding(checks, program):
    cpus = len(os.sched_getaffinity(0))
    advice = f"binds each rank to 1 of {cpus} CPUs"
    found = advice in start(1, program, "1", bind="core")[2]
    checks.check("bound to a core", found == (cpus > 1), str(cpus))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--shardcc", type=Path, default=Path("build/shardcc"))
    options.add_argument("--transport", choices=STARTS)
    options = options.parse_args()
    checks, bits = Checks(), []
    for transport in [options.transport] if options.transport else STARTS:
        meshes = FEW_MESHES if bits else MESHES
        programs = options.shardcc.resolve().parent / "tests/ranks" / transport
        bits.append(test_exchange(checks, programs / "exchange", meshes))
        with tempfile.TemporaryDirectory() as work:
            test_trouble(checks, programs / "trouble", Path(work))
        test_counts(checks, programs / "trouble", STARTS[transport])
    if options.transport != "tcp":
        test_binding(checks, options.shardcc.resolve().parent / "tests/ranks/mpi/exchange")
    same = all(found == bits[0][mesh] for b in bits for mesh, found in b.items())
    checks.check("the same bits on all transports", same, str(bits))
    checks.finish()


if __name__ == "__main__":
    main()
