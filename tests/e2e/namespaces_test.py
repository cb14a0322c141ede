#!/usr/bin/env python3
"""Ranks on two hosts, which are network namespaces with a link between them: the bits of one host; a link that is cut for a
moment; one that stays cut, and ranks that are lost on the other host: the job ends in time, with their names.

  namespaces_test.py --shardcc build/shardcc [--all [--seed N] [--count N]]

--all: that many faults (24) at random moments. It takes two minutes. No packet leaves the machine.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from hang_test import GONE, KILLED, LATE, STUCK, TIMEOUT, Hang, Job, check_end, check_start, wait_a_little
from harness import Checks, side_by_side
from job_test import RANKS
from model import QUICK_CC, REPOSITORY, Model

LIFE = 600  # seconds after which a namespace ends by itself
STEPS = 150  # of whole runs
ADDRESS, LINK = "10.199.0.{}", "shardcc0"


def call(*words):
    done = subprocess.run([str(x) for x in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")


class Hosts:
    """Two namespaces of network and host name, each kept by a process, and a pair of links between them."""

    def __init__(self, folder):
        self.keeper = []
        try:
            for i in (1, 2):
                words = ["unshare", "--net", "--uts", "sh", "-c", f"hostname host{i}; echo ready; exec sleep {LIFE}"]
                self.keeper.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
                if self.keeper[-1].stdout.readline() != "ready\n":
                    raise RuntimeError(self.keeper[-1].communicate()[1])
            a, b = (x.pid for x in self.keeper)
            call("ip", "link", "add", LINK, "netns", a, "type", "veth", "peer", "name", LINK, "netns", b)
            for i in (1, 2):
                call(*self.on(i), "ip", "address", "add", f"{ADDRESS.format(i)}/24", "dev", LINK)
                for link in ("lo", LINK):
                    call(*self.on(i), "ip", "link", "set", link, "up")
        except (OSError, RuntimeError):
            self.close()
            raise
        self.agent = folder / "agent"  # what mpirun calls in place of ssh
        self.agent.write_text(f'#!/bin/sh\nshift\nexec {" ".join(self.on(2))} sh -c "$*"\n')
        self.agent.chmod(0o755)

    def on(self, i):
        return ["nsenter", "--target", str(self.keeper[i - 1].pid), "--net", "--uts"]

    def link(self, state):
        call(*self.on(1), "ip", "link", "set", LINK, state)

    def launch(self):
        options = {"plm": "rsh", "plm_rsh_agent": self.agent, "btl": "self,vader,tcp", "btl_vader_single_copy_mechanism": "none",
                   "btl_tcp_if_include": LINK, "oob_tcp_if_include": LINK}  # fmt: skip
        own = [x for key, value in options.items() for x in ("--mca", key, value)]
        hosts = ",".join(f"{ADDRESS.format(i)}:{RANKS // 2}" for i in (1, 2))
        return [*self.on(1), "mpirun", *own, "--host", hosts, "--map-by", "slot", "--bind-to", "none"]

    def processes(self):
        """Those that are on the hosts."""
        own = {os.readlink(f"/proc/{x.pid}/ns/net") for x in self.keeper if x.poll() is None}
        found = []
        for path in Path("/proc").glob("[0-9]*/ns/net"):
            try:
                if os.readlink(path) in own:
                    found.append(int(path.parts[2]))
            except OSError:
                pass
        return [x for x in found if x not in [k.pid for k in self.keeper]]

    def close(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for keeper in self.keeper:
            keeper.kill()
            keeper.communicate()


class FarJob(Job):
    """A job whose ranks 2 and 3 are on the other host."""

    def __init__(self, hang, name, **options):
        self.hosts, self.path = Hosts(hang.hosts / name.split()[0]), str(hang.program)
        super().__init__(hang, name, launch=self.hosts.launch(), **options)

    def ranks(self):
        found = {}
        for pid in self.hosts.processes():
            try:
                if os.readlink(f"/proc/{pid}/exe") == self.path:
                    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                    own = [x for x in words if x.startswith(b"OMPI_COMM_WORLD_RANK=")]
                    found.update({int(x.partition(b"=")[2]): pid for x in own})
            except OSError:
                pass
        return found


def whole(hang, name, draw):
    """The bits of a run on one host, though the link is cut for a moment."""
    here, far = Job(hang, f"{name} here", steps=STEPS), FarJob(hang, name, steps=STEPS)
    far.wait_for_steps()
    far.hosts.link("down")
    time.sleep(0.2 + draw.random() * 0.3)
    far.hosts.link("up")
    weights = [(x.folder / "w.st").read_bytes() if x.end(60)[0] == 0 else None for x in (here, far)]
    hang.checks.check(f"{name}: the bits of one host", weights[0] and weights[0] == weights[1], far.said[-500:].replace("\n", " | "))
    far.hosts.close()


def lost(hang, name, draw, act, limit, text, **options):
    """`act` gets the job and its ranks, and says which ranks it has lost."""
    job = FarJob(hang, name)
    ranks = job.wait_for_steps()
    wait_a_little(draw)
    check_end(hang, job, name, ranks, act(job, ranks), limit, text, **options)
    left = job.hosts.processes()
    for _ in range(50):
        time.sleep(0.1 * bool(left))
        left = job.hosts.processes()
    hang.checks.check(f"{name}: nor is a process of mpirun", not left, str(left))
    job.hosts.close()


def cut(hang, name, draw):
    """Each host misses the other one's ranks, and may not know their last collectives."""

    def act(job, ranks):
        job.hosts.link("down")
        return range(RANKS)

    lost(hang, name, draw, act, LATE, f"(rank {{0}} didn't arrive within {TIMEOUT} s|the link to rank {{0}} broke)", last="number [0-9]+|not known")


def killed(hang, name, draw):
    rank = draw.randrange(RANKS)

    def act(job, ranks):
        os.kill(ranks[rank], signal.SIGKILL)
        return [rank]

    lost(hang, name, draw, act, KILLED, f"({GONE}|the link to rank {{0}} broke)")


def stopped(hang, name, draw):
    rank = draw.randrange(RANKS)

    def act(job, ranks):
        os.kill(ranks[rank], signal.SIGSTOP)
        return [rank]

    lost(hang, name, draw, act, LATE, STUCK)


def cut_early(hang, name, draw):
    job = FarJob(hang, name)
    ranks = job.wait_for_ranks()
    time.sleep(draw.random() * 0.5)
    job.hosts.link("down")
    check_start(hang, job, name, 0, ranks, LATE, [f"didn't arrive within {TIMEOUT} s", "the link to rank", "MPI's (start|end) took more than"])
    job.hosts.close()


KINDS = {cut: 8, killed: 6, stopped: 4, cut_early: 3, whole: 3}  # of 24
FEW = (cut, killed, whole)


def why_not(work):
    """Why no namespaces can be made here; None if they can."""
    for tool in ("unshare", "nsenter", "ip", "mpirun"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    try:
        Hosts(work).close()
    except (OSError, RuntimeError) as e:
        return str(e).strip()
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--shardcc", type=lambda s: Path(s).resolve(), default=Path("build/shardcc"))
    options.add_argument("--all", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=24)
    o = options.parse_args()
    checks, draw = Checks(), random.Random(o.seed)
    kinds = [kind for kind, n in KINDS.items() for _ in range(n)] if o.all else list(FEW)
    if o.all:
        draw.shuffle(kinds)
        kinds = [kinds[i % len(kinds)] for i in range(o.count)]
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        reason = why_not(work)
        if reason:
            checks.check("ranks on two hosts", True, f"left out: no network namespaces: {reason}")
            checks.finish()
        hang = Hang(Model(REPOSITORY / "models/tiny/gpt2.onnx", o.shardcc, work, cc=QUICK_CC), checks)
        hang.hosts = work / "hosts"
        faults = []
        for i, kind in enumerate(kinds):
            (hang.hosts / str(i + 1)).mkdir(parents=True)
            faults.append(partial(kind, hang, f"{i + 1} {kind.__name__.replace('_', ' ')}", random.Random(draw.random())))
        side_by_side(3, *faults)
    checks.finish()


if __name__ == "__main__":
    main()
