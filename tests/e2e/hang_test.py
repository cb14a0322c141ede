#!/usr/bin/env python3
"""Ranks that hang, are lost or differ: each job ends in time and says which rank it was, and the last collectives.

  hang_test.py --shardcc build/shardcc [--all [--seed N] [--count N]]

--all: that many faults (52) at random moments in random ranks. It takes three minutes.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from harness import Checks, mpirun, side_by_side, write_data
from job_test import ENV, MESH, RANKS, are_gone
from model import QUICK_CC, REPOSITORY, Model

TIMEOUT = 3  # of a wait for a rank: a start of three jobs on two CPUs takes less
KILLED, LATE = 10, TIMEOUT + 5  # seconds in which a job has to end
HOUR = 3600


class Job:
    """A long run in a folder of its own, whose rank `other` may have words before its program, or another command."""

    def __init__(self, hang, name, other=None, before=(), instead=None, steps=1 << 40, more=(), launch=(), saves=True):
        self.program, self.folder = hang.program.name, hang.work / name
        self.folder.mkdir()
        options = ["--data", hang.data, "--quiet", "--timeout", TIMEOUT, "--log", "log", "--epochs", 1 << 40, "--steps", steps, "--save", "w.st"]
        options += ["--checkpoint", "runs", "--checkpoint-every", 10] * saves
        own = [hang.program, *options]
        one = instead or [*before, *own, *more]
        apps = [(other, own), (1, one), (RANKS - 1 - other, own)] if other is not None else [(RANKS, own)]
        command = list(launch or mpirun(1)[:-2])
        for n, words in apps:
            command += ["-n", n, *words, ":"] if n else []
        self.process = subprocess.Popen([str(x) for x in command[:-1]], cwd=self.folder, env=ENV, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)  # fmt: skip

    def ranks(self):
        """The processes by their ranks, as far as they have begun."""
        found = {}
        try:
            below = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            for pid in map(int, below):
                words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                own = [x for x in words if x.startswith(b"OMPI_COMM_WORLD_RANK=")]
                if own:
                    found[int(own[0].partition(b"=")[2])] = pid
        except OSError:
            pass
        return found

    def wait_for_steps(self):
        log = self.folder / "log"
        while self.process.poll() is None and not (log.exists() and log.stat().st_size > 1000):
            time.sleep(0.02)
        return self.ranks()

    def wait_for_ranks(self):
        while self.process.poll() is None and len(self.ranks()) < RANKS:
            time.sleep(0.005)
        return self.ranks()

    def end(self, limit):
        """The exit status, seconds since the fault, and what was said."""
        begin = time.monotonic()
        try:
            self.said = self.process.communicate(timeout=limit + 30)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.said = self.process.communicate()[1] + "it didn't end"
        return self.process.returncode, time.monotonic() - begin

    def errors(self):
        """The program's own messages."""
        return [x for x in self.said.splitlines() if x.startswith(f"{self.program}: error")]


class Hang:
    """The program of all jobs, and another one."""

    def __init__(self, model, checks):
        self.checks, self.work = checks, model.work / "jobs"
        self.work.mkdir()
        init = ["--init", "normal(0.05)", "--no-weights", "--ranks", RANKS, "--mesh", MESH]
        self.program = model.compile("hang", None, *init)
        self.other = model.compile("other", None, *init, "--clip-norm", 1)
        self.data, self.short = model.data(), model.work / "short"
        write_data(self.short, {x.stem: np.load(x)[:-1] for x in self.data.glob("*.npy")})
        self.samples = len(np.load(self.data / "labels.npy"))
        self.skew = model.work / "clock_skew.so"
        source = Path(__file__).with_name("clock_skew.c")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", self.skew, source, "-ldl"], check=True)

    def skewed(self, name, rank, seconds=HOUR, **options):
        words = ["env", f"LD_PRELOAD={self.skew}", f"CLOCK_SKEW={seconds}", f"CLOCK_STEP={self.work / name / 'step'}"]
        return Job(self, name, rank, words, **options)


def covers(line, rank, what):
    """Does a line say "last collective of ranks 0-2, 5: …" of that rank?"""
    found = re.match(rf"  last collective of ranks? ([0-9, -]+): ({what})", line)
    parts = [x.split("-") for x in found[1].split(", ")] if found else []
    return any(int(x[0]) <= rank <= int(x[-1]) for x in parts)


def shown(job, status, seconds, ok):
    """What a check that fails shows."""
    return f"{seconds:.1f} s" if ok else f"{status} {seconds:.1f} s {job.said[-600:]!r}"


def check_end(hang, job, what, ranks, lost, limit, text, last="number [0-9]+"):
    """The job ends in time, with one error, which names a rank of `lost`, and says the last collective of that rank."""
    status, seconds = job.end(limit)
    errors, names = job.errors(), [r for r in lost if any(re.search(text.format(r), x) for x in job.errors())]
    hang.checks.check(f"{what}: the job ends in time", status != 0 and seconds <= limit, f"{seconds:.1f} s of {limit} s, status {status}")
    is_named = len(errors) == 1 and names
    hang.checks.check(f"{what}: one error names it", is_named, shown(job, status, seconds, is_named))
    is_said = any(covers(x, r, last) for x in job.said.splitlines() for r in names)
    hang.checks.check(f"{what}: and its last collective", is_said, shown(job, status, seconds, is_said))
    hang.checks.check(f"{what}: nothing is left", are_gone(ranks.values(), 5) and not list(job.folder.glob("*.tmp")), str(ranks))


def wait_a_little(draw):
    time.sleep(draw.random() * 0.3)


GONE, STUCK = "rank {0} is gone: it was killed, or has crashed", f"rank {{0}} didn't arrive within {TIMEOUT} s"


def killed(hang, name, rank, draw, skew=None):
    job = Job(hang, name) if skew is None else hang.skewed(name, skew)
    ranks = job.wait_for_steps()
    wait_a_little(draw)
    os.kill(ranks[rank], signal.SIGKILL)
    check_end(hang, job, name, ranks, [rank], KILLED, GONE)


def stopped(hang, name, rank, draw, skew=None, also=None):
    job = Job(hang, name) if skew is None else hang.skewed(name, skew)
    ranks, lost = job.wait_for_steps(), [rank] if also is None else [rank, also]
    wait_a_little(draw)
    for r in lost:
        os.kill(ranks[r], signal.SIGSTOP)
    check_end(hang, job, name, ranks, lost, LATE, STUCK)


def skewed_killed(hang, name, rank, draw):
    """The clock that is off is that of the rank that has to say it, the lowest one that is left."""
    killed(hang, name, rank, draw, skew=0 if rank else 1)


def skewed_stopped(hang, name, rank, draw):
    stopped(hang, name, rank, draw, skew=(rank + draw.randrange(1, RANKS)) % RANKS)


def both_stopped(hang, name, rank, draw):
    stopped(hang, name, rank, draw, also=(rank + draw.randrange(1, RANKS)) % RANKS)


def stepped(hang, name, rank, draw):
    """The clock of a rank is an hour off, then is set. A run goes on, and a rank that is lost later is seen."""
    job = hang.skewed(name, rank, draw.choice([-HOUR, HOUR]))
    ranks = job.wait_for_steps()
    (job.folder / "step").touch()
    size = (job.folder / "log").stat().st_size
    time.sleep(0.5)
    hang.checks.check(f"{name}: it goes on", job.process.poll() is None and (job.folder / "log").stat().st_size > size)
    lost = (rank + draw.randrange(1, RANKS)) % RANKS
    os.kill(ranks[lost], signal.SIGKILL)
    check_end(hang, job, name, ranks, [lost], KILLED, GONE)


def skewed(hang, name, rank, draw):
    """A run with a rank whose clock is off has the bits of one without."""
    weights = []
    for i, job in enumerate((Job(hang, f"{name}_whole", steps=40), hang.skewed(name, rank, draw.choice([-HOUR, HOUR]), steps=40))):
        status, _ = job.end(60)
        weights.append((job.folder / "w.st").read_bytes() if status == 0 else i)
    hang.checks.check(f"{name}: the bits of a run without", weights[0] == weights[1], job.said[:900].replace("\n", " | "))


def suspended(hang, name, rank, draw):
    """All ranks are stopped for longer than a wait may take, as by a scheduler, and go on one by one. A busy disk may take
    as long, too: nothing is saved meanwhile."""
    job, whole = Job(hang, name, steps=100, saves=False), Job(hang, f"{name} whole", steps=100, saves=False)
    ranks = job.wait_for_steps()
    for sent in (signal.SIGSTOP, signal.SIGCONT):
        for pid in draw.sample(list(ranks.values()), RANKS):
            os.kill(pid, sent)
            time.sleep(0.05)
        time.sleep(TIMEOUT + 1 if sent == signal.SIGSTOP else 0)
    weights = [(x.folder / "w.st").read_bytes() if x.end(60)[0] == 0 else i for i, x in enumerate((job, whole))]
    hang.checks.check(f"{name}: it goes on, with the bits of a run without", weights[0] == weights[1], job.said[:900].replace("\n", " | "))


def asked_twice(hang, name, rank, draw):
    """A scheduler and a launcher both ask all ranks to end. The run saves and ends."""
    job = Job(hang, name)
    ranks = job.wait_for_steps()
    for _ in range(2):
        for pid in ranks.values():
            os.kill(pid, signal.SIGUSR1)
        time.sleep(0.002)
    status, seconds = job.end(KILLED)
    is_fine = status == 75 and (job.folder / "w.st").exists() and not job.errors()
    hang.checks.check(f"{name}: it ends when asked", is_fine, shown(job, status, seconds, is_fine))


def check_start(hang, job, name, rank, ranks, limit, texts):
    """A job that hasn't begun ends in time; the trainer's message or that of mpirun says why."""
    status, seconds = job.end(limit)
    hang.checks.check(f"{name}: the job ends in time", status != 0 and seconds <= limit, f"{seconds:.1f} s of {limit} s, status {status}")
    said = any(re.search(text.format(rank), job.said) for text in texts) and len(job.errors()) <= 1
    hang.checks.check(f"{name}: it says so", said, shown(job, status, seconds, said))
    hang.checks.check(f"{name}: nothing is left", are_gone(ranks.values(), 5) and not list(job.folder.glob("*.tmp")), str(ranks))


START = f"error: MPI's (start|end) took more than {TIMEOUT} s"
BY_MPIRUN = "process rank {0} with PID"


def killed_early(hang, name, rank, draw):
    job = Job(hang, name)
    ranks = job.wait_for_ranks()
    time.sleep(draw.random() * 0.5)
    os.kill(ranks[rank], signal.SIGKILL)
    check_start(hang, job, name, rank, ranks, KILLED, [GONE, BY_MPIRUN])


def stopped_early(hang, name, rank, draw):
    job = Job(hang, name)
    ranks = job.wait_for_ranks()
    time.sleep(draw.random() * 0.5)
    os.kill(ranks[rank], signal.SIGSTOP)
    check_start(hang, job, name, rank, ranks, LATE, [STUCK, START])


def never_starts(hang, name, rank, draw):
    job = Job(hang, name, rank, instead=["sleep", 100])
    check_start(hang, job, name, rank, job.wait_for_ranks(), LATE, [START])


def refused(hang, name, rank, text, **options):
    """A rank that differs is refused before the first step."""
    job = Job(hang, name, rank, **options)
    status, seconds = job.end(LATE)
    is_said = len(job.errors()) == 1 and re.fullmatch(f"{job.program}: error: {text}", job.errors()[0])
    is_fine = status == 1 and is_said and seconds <= LATE
    hang.checks.check(f"{name}: it is refused", is_fine, shown(job, status, seconds, is_fine))
    hang.checks.check(f"{name}: nothing is written", not (job.folder / "w.st").exists() and not list(job.folder.glob("runs/step*")))


def short_data(hang, name, rank, draw):
    """Rank 0 says what it and another rank have: if it is the odd one, that is rank 1."""
    n = hang.samples
    mine, other, theirs = (n, rank, n - 1) if rank else (n - 1, 1, n)
    text = f"--data: rank 0 has {mine} samples, rank {other} {theirs} samples"
    refused(hang, name, rank, text, more=["--data", hang.short])


def wrong_program(hang, name, rank, draw):
    instead = [hang.other, "--data", hang.data, "--quiet", "--timeout", TIMEOUT, "--steps", 9]
    job = Job(hang, name, rank, instead=instead)
    status, seconds = job.end(LATE)
    said = [x for x in job.said.splitlines() if ": error: " in x]
    text = f"options of the program: rank 0 has .*, rank {rank or 1} .*"
    is_fine = status == 1 and len(said) == 1 and re.search(text, said[0]) and seconds <= LATE
    hang.checks.check(f"{name}: it is refused", is_fine, shown(job, status, seconds, is_fine))


# How often of 52.
KINDS = {killed: 10, stopped: 10, both_stopped: 2, killed_early: 4, stopped_early: 4, never_starts: 3, short_data: 3, wrong_program: 3,
         skewed: 2, skewed_killed: 3, skewed_stopped: 2, stepped: 2, suspended: 2,
         asked_twice: 2}  # fmt: skip
FEW = (stopped, suspended, killed, stopped_early, stepped, skewed_killed, killed_early, never_starts, short_data, wrong_program, asked_twice)


def choose_faults(how_often, few):
    """The options of the command line, the dice, and the faults to try: a few, or with --all so many at random."""
    options = argparse.ArgumentParser()
    options.add_argument("--shardcc", type=lambda s: Path(s).resolve(), default=Path("build/shardcc"))
    options.add_argument("--all", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=sum(how_often.values()))
    o, kinds = options.parse_args(), list(few)
    draw = random.Random(o.seed)
    if o.all:
        kinds = [kind for kind, n in how_often.items() for _ in range(n)]
        draw.shuffle(kinds)
        kinds = [kinds[i % len(kinds)] for i in range(o.count)]
    return o, draw, kinds


def main():
    o, draw, kinds = choose_faults(KINDS, FEW)
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        hang = Hang(Model(REPOSITORY / "models/tiny/gpt2.onnx", o.shardcc, Path(work), cc=QUICK_CC), checks)
        faults = []
        for i, kind in enumerate(kinds):
            rank = draw.randrange(RANKS)
            own = random.Random(draw.random())
            faults.append(partial(kind, hang, f"{i + 1} {kind.__name__.replace('_', ' ')} rank {rank}", rank, own))
        side_by_side(3 if o.all else 4, *faults)
    checks.finish()


if __name__ == "__main__":
    main()
