#!/usr/bin/env python3
"""Ranks on two hosts, which are network namespaces with a link between them: the bits of one host; a link that is cut for a
moment; one that stays cut, and ranks that are lost on the other host: the job ends in time, with their names.

  namespaces_test.py --shardcc build/shardcc [--all [--seed N] [--count N]]

--all: that many faults (24) at random moments. It takes two minutes. No packet leaves the machine.
"""
import os
import random
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

from hang_test import GONE, KILLED, LATE, STUCK, TIMEOUT, Hang, Job, check_end, check_start, choose_faults, wait_a_little
from harness import Checks, side_by_side
from job_test import RANKS
from model import QUICK_CC, REPOSITORY, Model
from namespace import Namespace, call, missing_tool

STEPS = 100  # of whole runs
ADDRESS, LINK = "10.199.0.{}", "shardcc0"


class Hosts:
    """Two hosts, and a link between them."""

    def __init__(self, folder):
        self.host = []
        try:
            for i in (1, 2):
                self.host.append(Namespace(f"host{i}"))
            a, b = (x.keeper.pid for x in self.host)
            call("ip", "link", "add", LINK, "netns", a, "type", "veth", "peer", "name", LINK, "netns", b)
            for i, host in enumerate(self.host):
                call(*host.on(), "ip", "address", "add", f"{ADDRESS.format(i + 1)}/24", "dev", LINK)
                call(*host.on(), "ip", "link", "set", LINK, "up")
        except (OSError, RuntimeError):
            self.close()
            raise
        self.agent = folder / "agent"  # what mpirun calls instead of ssh
        self.agent.write_text(f'#!/bin/sh\nshift\nexec {" ".join(self.host[1].on())} sh -c "$*"\n')
        self.agent.chmod(0o755)

    def link(self, state):
        call(*self.host[0].on(), "ip", "link", "set", LINK, state)

    def launch(self):
        options = {"plm": "rsh", "plm_rsh_agent": self.agent, "btl": "self,vader,tcp", "btl_vader_single_copy_mechanism": "none",
                   "btl_tcp_if_include": LINK, "oob_tcp_if_include": LINK}  # fmt: skip
        own = [x for key, value in options.items() for x in ("--mca", key, value)]
        hosts = ",".join(f"{ADDRESS.format(i)}:{RANKS // 2}" for i in (1, 2))
        return [*self.host[0].on(), "mpirun", *own, "--host", hosts, "--map-by", "slot", "--bind-to", "none"]

    def processes(self):
        return [x for host in self.host for x in host.processes()]

    def close(self):
        for host in self.host:
            host.close()


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
FEW = (whole, cut, stopped, killed)


def why_not(work):
    """Why no namespaces can be made here; None if they can."""
    try:
        Hosts(work).close()
    except (OSError, RuntimeError) as e:
        return str(e)
    return None


def main():
    o, draw, kinds = choose_faults(KINDS, FEW)
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        reason = missing_tool() or why_not(work)
        if reason:
            checks.check("ranks on two hosts", True, f"left out: no network namespaces: {reason}")
            checks.finish()
        hang = Hang(Model(REPOSITORY / "models/tiny/gpt2.onnx", o.shardcc, work, cc=QUICK_CC), checks)
        hang.hosts = work / "hosts"
        faults = []
        for i, kind in enumerate(kinds):
            (hang.hosts / str(i + 1)).mkdir(parents=True)
            faults.append(partial(kind, hang, f"{i + 1} {kind.__name__.replace('_', ' ')}", random.Random(draw.random())))
        side_by_side(3 if o.all else 4, *faults)
    checks.finish()


if __name__ == "__main__":
    main()
