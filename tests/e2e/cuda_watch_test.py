#!/usr/bin/env python3
"""Collectives of GPUs that don't end, on the tests' GPU (tests/cuda): four ranks, of which one is killed, stopped, or never ends a
collective. All end in time, and one message names the collective and the rank. A rank that is only slow ends nothing.

  cuda_watch_test.py --shardcc build/shardcc [--all | --drawn N] [--seed N] [NAME ...]

Some collectives of the first two steps are drawn, of which the second step's are recorded in graphs. --all: every one of a step,
in one of the two.
"""
import os
import random
import re
import subprocess
import time
from functools import partial

from cuda_ranks_test import EXCHANGES, plan_of
from equal_test import SLOW
from harness import side_by_side
from model import QUICK_CC, Model, for_models, gpu_toolkit, parser

RANKS, STEPS = 4, 2
TIMEOUT = 2
SAMPLE = ("cnn", "gpt2", "mlp")
FAULTS = ("kill", "stop", "hang")
KINDS = {"ncclAllReduce": ["all_reduce"], "ncclReduceScatter": ["reduce_scatter"], "ncclAllGather": ["all_gather"], "ncclGroup": ["all_to_all", "permute"]}
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}


class Job:
    """Ranks that were started by hand, one of which has a fault."""

    ports = iter(range(20000 + os.getpid() % 20000, 65000))

    def __init__(self, model, by, fault, guilty, timeout=TIMEOUT, steps=STEPS, variable="CUDART_FAULT"):
        self.guilty, self.is_killed, self.stays = guilty, fault.startswith("kill"), fault.startswith(("stop", "hang", "error"))
        env = {**os.environ, "CUDART_DEVICES": str(RANKS)}
        where = ["--size", RANKS, "--master", f"127.0.0.1:{next(self.ports)}", "--timeout", timeout, "--collectives", by]
        command = [model.work / f"{model.name}_watched", "--data", model.work / "data", "--quiet", "--steps", steps, *where]
        self.ranks = [
            subprocess.Popen([str(x) for x in [*command, "--rank", r]], env={**env, **({variable: fault} if r == guilty else {})},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
            for r in range(RANKS)
        ]

    def end(self, seconds=300):
        """The statuses of the others, and what all say. A rank that has stopped doesn't end by itself, nor does one that hangs."""
        if self.is_killed:
            self.ranks[self.guilty].wait()  # as launchers do
        said = {r: p.communicate(timeout=seconds)[1] for r, p in enumerate(self.ranks) if r != self.guilty}
        ended = time.monotonic()
        if self.stays:
            self.ranks[self.guilty].kill()
        said[self.guilty] = self.ranks[self.guilty].communicate()[1]
        self.said = "".join(said.values())
        self.status = {p.returncode for r, p in enumerate(self.ranks) if r != self.guilty}
        self.own = said[self.guilty]
        fault = re.search("^fault at (.*)", self.own, re.M)
        self.seconds = ended - float(fault[1]) if fault else float("inf")
        return self


def exchanges_of(model, by, rank):
    """What a rank exchanges in all steps: the calls and their bytes."""
    job = Job(model, by, "list:0", rank, timeout=60).end()
    return [(m[1], int(m[2])) for m in re.finditer(r"^exchange \d+ (.+) (\d+)$", job.own, re.M)]


def collective_of(said):
    """The number, the name and the bytes of the collective that can't end: of NCCL's, or the latest one of those that say it."""
    found = re.search(r"error: (.*), ([0-9.]+) (bytes|KiB|MiB), number (\d+):", said)
    if found:
        return int(found[4]), found[1], float(found[2]) * UNITS[found[3]]
    name = re.search(r"error: (.*): rank \d", said)
    found = name and re.search(rf"number (\d+), {re.escape(name[1])}, ([0-9.]+) (bytes|KiB|MiB)", said)
    return found and (int(found[1]), name[1], float(found[2]) * UNITS[found[3]])


def is_right(job, fault, numbers, call, size):
    """Does the message have the right rank, number, name and bytes?"""
    errors, found = re.findall(r"error: (.*)", job.said), collective_of(job.said)
    who = f"rank {job.guilty} " + ("is gone" if fault == "kill" else "")
    if job.status != {1} or len(errors) != 1 or who not in errors[0] or not found:
        return False
    number, name, bytes = found
    same = call not in KINDS or (any(kind in name for kind in KINDS[call]) and abs(bytes - size) <= 0.06 * size)
    return number in numbers and same and job.seconds < TIMEOUT + 3


def test_fault(checks, model, exchanges, case):
    """NCCL's calls are those of collectives in which the rank has bytes to send to another one. In the others nobody waits for
    it: the collective that can't end is the next one."""
    by, fault, number, guilty = case
    call, size = exchanges[by, guilty][number - 1]
    numbers = range(number, number + len(exchanges["host", guilty]) - len(exchanges["nccl", guilty]) + 1)
    job = Job(model, by, f"{fault}:{number}", guilty).end()
    ok = is_right(job, fault, numbers, call, size)
    shown = f"{call} {size} {job.status} {job.seconds:.1f} s {job.said}"
    checks.check(f"{model.name}, {by}: rank {guilty}, {fault} in collective {number}", ok, shown[:2000] * (not ok))


def test_slow(checks, model, exchanges, by):
    job = Job(model, by, f"slow:{500 * TIMEOUT}", 1, steps=1).end(300 + TIMEOUT * len(exchanges[by, 1]))
    checks.check(f"{model.name}, {by}: a slow rank ends nothing", job.status == {0} and not job.said, job.said)


def test_failure(checks, model):
    """NCCL finds an error by itself."""
    job = Job(model, "nccl", "error:9", 3).end()
    errors = re.findall(r"error: (.*)", job.said)
    fine = job.status == {1} and len(errors) == 1 and re.search(r", number \d+: NCCL: .*a link is down$", errors[0])
    checks.check(f"{model.name}, nccl: an error of its own", fine, f"{job.status} {job.said}" * (not fine))


def test_error(checks, model, by):
    """An error of CUDA on one rank is the only message."""
    job = Job(model, by, "40", 2, variable="CUDART_LAUNCHES").end()
    errors = re.findall(r"error: (.*)", job.said)
    fine = job.status == {1} and len(errors) == 1 and "cudaErrorLaunchFailure" in errors[0] and "on rank 2 of 4: the job ends" in job.own
    checks.check(f"{model.name}, {by}: a launch fails on rank 2", fine, f"{job.status} {job.said}" * (not fine))


def cases_of(options, exchanges, name):
    """With --all each collective of a step once, in the first or the second one."""
    draw, cases = random.Random(f"{options.seed} {name}"), []
    for by in EXCHANGES:
        for fault in FAULTS:
            guilty = draw.randrange(RANKS)
            n = len(exchanges[by, guilty]) // STEPS
            cases += [(by, fault, number + draw.randrange(STEPS) * n, guilty) for number in range(1, n + 1)]
    return cases if options.all else draw.sample(cases, options.drawn)


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--drawn", type=int, default=4)
    p.add_argument("--seed", type=int, default=56)
    options = p.parse_args()
    toolkit = gpu_toolkit(options)
    options.names = options.names or SAMPLE

    def one(checks, path, work):
        model = Model(path, options.shardcc, work, path.with_suffix(".npz"), QUICK_CC, toolkit)
        plan = plan_of(model, "watched", "2x2", None, SLOW, [])
        model.compile("watched", None, "--cluster", SLOW, "--plan", plan)
        model.data()
        exchanges = {(by, rank): exchanges_of(model, by, rank) for by in EXCHANGES for rank in range(RANKS)}
        cases = cases_of(options, exchanges, model.name)
        if model.name == "mlp" or options.all:
            test_failure(checks, model)
            slow = [partial(test_slow, checks, model, exchanges, by) for by in EXCHANGES]
            side_by_side(2, *slow, *(partial(test_error, checks, model, by) for by in EXCHANGES))
        side_by_side(2, *(partial(test_fault, checks, model, exchanges, case) for case in cases))

    for_models(options, one)


if __name__ == "__main__":
    main()
