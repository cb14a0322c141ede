#!/usr/bin/env python3
"""Hosts of shardcc run and shardcc check: one that failed twice is left out, and what is wrong with hosts before a run.

  hosts_test.py --shardcc build/shardcc

All hosts are this machine, or are made up by a script instead of mpirun.
"""
import os
import re
import signal
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from checkpoint_test import Trainer
from harness import Checks, read_safetensors, relative, side_by_side
from model import QUICK_CC, Model, parser
from run_test import ENV, Job, is_program

TIME = "[0-9.]+ s after it failed"
# Lines of stderr that blame host b, which has rank 1 of two.
BLAMED = (
    "net: error: rank 1 is gone: it was killed, or has crashed",
    "net: error: h.0.mlp: all_reduce f32[4,64]: rank 1 didn't arrive within 60 s: it is dead, stuck or cut off",
    "net: error: all_reduce along dp: the link to rank 1 broke",
    "mpirun noticed that process rank 1 with PID 0 on node b exited on signal 9 (Killed).",
    "  Remote daemon: [[59031,0],1] on node b",
    "ssh: connect to host b port 22: Connection refused",
    "ssh: Could not resolve hostname b: Name or service not known",
    "root@b.cluster: Permission denied (publickey).",
    "Node: b",
)
BY_SLURM = ("srun: error: b: task 1: Killed", "slurmstepd: error: *** STEP 1.0 ON a CANCELLED DUE TO NODE FAILURE *** Node failure on b")
# Those that blame no host.
BLAMELESS = ("net: error: step 3: the loss is nan", "  on rank 1 of 2: the job ends", "ssh: connect to host c port 22: Connection refused")


class Pair(Trainer):
    """A trainer for two ranks, and one for one rank next to it."""

    def __init__(self, model):
        self.ranks, self.model, self.work = 2, model, model.work
        self.program = model.compile("pair", None, "--ranks", "2,1")
        self.data = model.data()


def write_script(folder, text, launcher="mpirun"):
    """A script instead of a launcher; gives the environment in which it is found."""
    folder.mkdir()
    text = f'#!/bin/sh\ncase $1 in --version) echo "mpirun (Open MPI) 4"; exit;; esac\n{text}\n'
    # Written by a process of its own: a file that another thread's child still has open for writing can't be started.
    subprocess.run(["install", "-m", "755", "/dev/stdin", folder / launcher], input=text, text=True, check=True)
    return {**ENV, "PATH": f"{folder}:{ENV['PATH']}"}


def rank_of(pid):
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return [x for x in words if x.startswith(b"OMPI_COMM_WORLD_RANK=")][0].partition(b"=")[2]


def kill_second(job):
    """Kills rank 1; gives the lock before."""
    before = job.lock()
    for pid in job.ranks():
        if rank_of(pid) == b"1" and is_program(pid, job.trainer.program.name):
            os.kill(pid, signal.SIGKILL)
    return before


def write_hosts(folder, *names):
    """A file of its own for each call: runs side by side read theirs."""
    with tempfile.NamedTemporaryFile("w", prefix="hosts", dir=folder, delete=False) as f:
        f.write("".join(f"{name}\n" for name in names))
    return Path(f.name)


def test_left_out(checks, pair, work):
    """Both hosts are this machine; the rank of the second one is killed twice."""
    name, whole = pair.program.name, Job(pair, "whole")
    checks.check("a whole run", whole.end() == (0, []))
    job = Job(pair, "left_out", own=["--hosts", write_hosts(work, "localhost", "127.0.0.1")])
    job.wait_for_step()
    job.wait_for_step(kill_second(job))
    kill_second(job)
    status, said = job.end()
    said = [x for x in said if x.startswith("shardcc")]
    texts = [f"shardcc: {name}: ended .*; restart 1 of 3 in 1 s", f"shardcc: {name} is at its next step, {TIME}",
             f"shardcc: {name}: ended .*; restart 2 of 3 in 2 s", "shardcc: 127.0.0.1 has failed twice and is left out",
             f"shardcc: {name}.1 goes on, with 1 rank", f"shardcc: {name}.1 is at its next step, {TIME}"]  # fmt: skip
    fine = len(said) == len(texts) and all(re.fullmatch(a, b) for a, b in zip(texts, said))
    checks.check("a host is left out", status == 0 and fine, f"{status} {said}")
    found, expected = (read_safetensors(x.folder / "w.st") for x in (job, whole))
    error = max(relative(found[x], expected[x]) for x in expected)
    checks.check("with the weights of a whole run, to rounding", error < 1e-3, f"{error:.1e}")


def test_blamed(checks, pair, work, number, line, is_blamed, launcher="mpirun"):
    env = write_script(work / f"line{number}", f'case "$*" in *a,b*) echo "{line}" >&2; exit 1;; esac', launcher)
    job = Job(pair, f"line{number}", own=["--hosts", write_hosts(work, "a", "b"), "--launcher", launcher], env=env)
    status, said = job.end()
    name, end = pair.program.name, f"shardcc: {pair.program.name}: ended with status 1"
    said = [x for x in said if x.startswith("shardcc")]
    expected = [f"{end}; it has done no step"]
    if is_blamed:
        expected = [f"{end}; restart 1 of 3 in 1 s", f"{end}; restart 2 of 3 in 2 s", "shardcc: b has failed twice and is left out",
                    f"shardcc: {name}.1 goes on, with 1 rank"]  # fmt: skip
    checks.check(f"{'blamed' if is_blamed else 'blameless'}: {line}", (status, said) == (1 - is_blamed, expected), f"{status} {said}")


def test_spare(checks, pair, work):
    """With a host to spare the same program goes on. The program that is given may be one of the list itself."""
    env = write_script(work / "spare", 'case "$4" in *b*) echo "ssh: connect to host b port 22: No route" >&2; exit 1;; esac; shift 4; echo "$1" > ran')
    for program, hosts, last in (pair.program, "abc", f"{pair.program.name} goes on, with 2 ranks"), (f"{pair.program}.1", "ba", f"{pair.program.name}.1 goes on, with 1 rank"):
        job = Job(pair, f"spare{hosts}", own=["--hosts", write_hosts(work, *hosts)], env=env, program=program)
        status, said = job.end()
        checks.check(last, (status, said[-1]) == (0, f"shardcc: {last}") and (job.folder / "ran").read_text() == f"{program}\n", f"{status} {said}")


def test_none_fits(checks, two, work):
    env = write_script(work / "none", 'echo "ssh: connect to host b port 22: No route to host" >&2; exit 1')
    status, said = Job(two, "none_fits", own=["--hosts", write_hosts(work, "a", "b")], env=env).end()
    text = f"shardcc: error: no program next to '{two.program}' fits the 1 slot left"
    checks.check("no program fits", (status, said[-1:]) == (1, [text]), f"{status} {said}")


# ---- shardcc check ----


def check(shardcc, *words, env=ENV, cwd=None):
    done = subprocess.run([str(x) for x in (shardcc, "check", *words)], capture_output=True, text=True, env=env, cwd=cwd, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def test_check(checks, shardcc, two, work):
    """Hosts that are this machine."""
    folder = work / "shared"
    folder.mkdir()
    status, out, err = check(shardcc, "--folder", folder)
    checks.check("this machine alone", (status, err, len(out)) == (0, [], 3), f"{status} {out} {err}")
    checks.check("it says the version", re.fullmatch(r"shardcc [0-9.]+, build [0-9a-f]{8}", out[0]), out[0])
    hosts = write_hosts(work, "localhost", "127.0.0.1")
    status, out, err = check(shardcc, "--hosts", hosts, "--folder", folder, "--", two.program, "--checkpoint", "runs", cwd=work)
    rows = [x.split()[0] for x in out[1:]]
    checks.check("two hosts", (status, err, rows) == (0, [], ["host", "localhost", "127.0.0.1"]), f"{status} {out} {err}")
    checks.check("the link is measured", re.search(r" [0-9.]+ [mun]?s +[0-9.]+ [KMGT]iB/s +[+-]0\.[0-9]{4} s$", out[-1]), out[-1])
    checks.check("no file is left", os.listdir(folder) == [])
    status, out, err = check(shardcc, "--folder", "/proc")
    checks.check("a folder that can't be written", status == 1 and err[0].endswith(": error: cannot write into '/proc'"), str(err))


def test_problems(checks, shardcc, two, work):
    """Hosts that a script makes up: the second one has one fault at a time."""
    fine = {"cores": 8, "memory": 64 << 30, "free": 60 << 30, "disk": 1 << 40, "files": 1024, "locked": (1 << 63) - 1, "shardcc": 7,
            "program": 9, "checkpoints": 1 << 40, "ahead": 0.5, "seen": 1, "sum": 1, "devices": "8, NVIDIA H200", "driver": "CUDA 13.0",
            "exchanges": "NCCL 2.28.9", "address": "eth0 10.0.0.1"}  # fmt: skip
    cases = (
        ({}, []),
        ({"shardcc": 8}, ["b: error: another shardcc is there: build 00000008, not 00000007"]),
        ({"shardcc": -1}, [f"b: error: '{shardcc}' can't be read there"]),
        ({"program": 8}, [f"b: error: another '{two.program}' is there than on a"]),
        ({"program": -1}, [f"b: error: '{two.program}' can't be read there"]),
        ({"seen": 0}, ["b: error: a file that a has made in '.' isn't there"]),
        ({"free": 20 << 30}, ["b: error: 20.0 GiB of memory are free, less than half of the median 60.0 GiB"]),
        ({"disk": 1 << 30}, ["b: error: 1.0 GiB of disk are free, less than half of the median 1.0 TiB"]),
        ({"ahead": 3}, ["b: error: its clock is 3.0 s later than that of a"]),
        ({"ahead": -2}, ["b: error: its clock is 2.0 s earlier than that of a"]),
        ({"ahead": None}, ["b: error: messages between a and it don't come through"]),
        ({"sum": None}, ["b: error: messages between a and it don't come through"]),
        ({"sum": 0}, ["b: error: a sum of its numbers and those of a comes out wrong"]),
        ({"devices": "1, NVIDIA A100", "driver": "CUDA 13.1"}, []),
        ({"devices": "0, no GPU"}, [f"b: error: '{two.program}' finds no device there: 0, no GPU, driver: CUDA 13.0"]),
        ({"exchanges": "NCCL 2.19.3"}, ["b: error: ranks exchange by NCCL 2.19.3 there, by NCCL 2.28.9 on a"]),
        ({"cores": None, "ahead": None}, ["b: error: it doesn't answer"]),
    )
    for number, (fault, expected) in enumerate(cases):
        lines = []
        for rank, host in enumerate([fine, {**fine, **fault}]):
            numbers = [host[x] for x in ("cores", "memory", "free", "disk", "files", "locked", "shardcc", "program", "checkpoints")]
            if host["cores"]:
                lines += [f"host {rank} own{rank} {' '.join(map(str, numbers))}", f"seen {rank} {host['seen']}"]
                lines += [f"{x} {rank} {host[x]}" for x in ("address", "devices", "driver", "exchanges")]
                lines += [f"sum {rank} {1 - rank} {host['sum']}"] * (host["sum"] is not None)
            if rank and host["ahead"] is not None:
                lines.append(f"link 1 0.01 {host['ahead']} 1e-5 1e-9")
        env = write_script(work / f"problem{number}", f"cat <<END\n{chr(10).join(lines)}\nEND")
        status, out, err = check(shardcc, "--hosts", write_hosts(work, "a", "b"), "--", two.program, "--checkpoint", "runs", env=env)
        checks.check(" ".join(expected) or "no problem", (status, err) == (len(expected) > 0, expected), f"{status} {err} {out}")
    small = f"host 0 own 8 {1 << 30} 1 {1 << 40} 64 64 7 9 1"
    env = write_script(work / "small", f"echo {small}; echo seen 0 1")
    status, out, err = check(shardcc, "--hosts", write_hosts(work, "a"), "--", two.program, "--checkpoint", "runs", env=env)
    texts = [rf"a: error: 1 rank of '{two.program}' would take [0-9.]+ MiB of memory, 1 B are free", r"a: error: two checkpoints in 'runs' would take [0-9.]+ [KM]iB, 1 B are free",
             rf"{two.program}: error: it has 2 ranks, the hosts have slots for 1"]  # fmt: skip
    checks.check("a full disk: the program", status == 1 and len(err) == 3 and all(map(re.fullmatch, texts, err)), f"{status} {err}")


def test_gone(checks, shardcc, two, work):
    """A host out of reach doesn't hide the others; without its launcher there is no table."""
    said = "ssh: Could not resolve hostname b: Name or service not known"
    own = "host 0 own 8 1 1 1 64 64 7 9 1; echo host 1 own 8 1 1 1 64 64 7 9 1; echo link 1 1e-5 0 1e-5 1e-9; echo seen 0 1; echo seen 1 1; echo sum 0 1 1; echo sum 1 0 1"
    env = write_script(work / "gone", f'case "$4" in *b*) echo "{said}" >&2; exit 1;; esac; echo {own}')
    status, out, err = check(shardcc, "--hosts", write_hosts(work, "a", "b", "c"), env=env)
    checks.check("a host out of reach", (status, err) == (1, [f"b: error: it is out of reach: {said}"]), f"{status} {err}")
    checks.check("the others are looked at", [x.split()[:2] for x in out[2:]] == [["a", "own"], ["b", "no"], ["c", "own"]], str(out))
    env = write_script(work / "broken", "echo It broke. >&2; exit 5")
    found = check(shardcc, "--hosts", write_hosts(work, "a"), env=env)
    checks.check("the launcher fails", found == (1, [], ["It broke.", "shardcc: error: the probe ended with status 5 on the hosts"]), str(found))


def test_messages(checks, shardcc, work):
    for words, status, text in (
        (["--host", "x"], 2, "unknown option '--host' (did you mean '--hosts'?)"),
        (["--launcher", "rsh"], 2, "--launcher: 'rsh' is not one of auto, mpirun, srun, ssh, none"),
        (["--hosts", "gone"], 1, "cannot read 'gone': No such file or directory"),
        (["x"], 2, "expected no file, found 'x'"),
        (["--", "./gone"], 1, "cannot run './gone': No such file or directory"),
    ):
        found = check(shardcc, *words, cwd=work)
        checks.check(text, found == (status, [], [f"shardcc: error: {text}"]), str(found))
    hosts = write_hosts(work, "a", "b", "a")
    found = check(shardcc, "--hosts", hosts)
    checks.check("a host twice", found == (1, [], [f"{hosts}: error: line 3: 'a' is there twice; slots=N says how many ranks it takes"]), str(found))


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        model = Model(o.models / "nanogpt.onnx", o.shardcc, work, cc=QUICK_CC)
        pair, two = Pair(model), Trainer(model, 2)
        test_messages(checks, o.shardcc, work)
        test_check(checks, o.shardcc, two, work)
        test_gone(checks, o.shardcc, two, work)
        test_problems(checks, o.shardcc, two, work)
        lines = [(x, True) for x in BLAMED] + [(x, False) for x in BLAMELESS] + [(x, True, "srun") for x in BY_SLURM]
        side_by_side(4, partial(test_left_out, checks, pair, work), partial(test_none_fits, checks, two, work), partial(test_spare, checks, pair, work),
                     *(partial(test_blamed, checks, pair, work, i, *x) for i, x in enumerate(lines)))  # fmt: skip
    checks.finish()


if __name__ == "__main__":
    main()
