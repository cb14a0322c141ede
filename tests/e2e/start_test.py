#!/usr/bin/env python3
"""Ranks that talk by TCP: every way to start them, and starts that fail: all ranks end soon, and one of them says why.

  start_test.py --shardcc build/shardcc

TORCH_PYTHON, if it is set, is a Python with PyTorch, whose torchrun starts ranks, too.
"""
import os
import random
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from harness import MPI_ENV, Checks, mpirun, run, test_in_folder
from model import Model

MODELS = Path(__file__).resolve().parents[2] / "models/tiny"
TIMEOUT = 3  # seconds of --timeout where a start fails
SECRET = "a secret of 24 characters"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def runs(process):
    """Does it still run? One that has ended may wait for its parent to look."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and ") Z" not in stat.read_text()


class Start:
    def __init__(self, shardcc, work, checks):
        self.work, self.checks, self.torch = work, checks, os.environ.get("TORCH_PYTHON")
        self.model = Model(MODELS / "mlp.onnx", shardcc, work)
        self.trainer = self.model.compile("r4", None, "--ranks", "4", "--transport", "tcp")
        self.data = self.model.data()
        self.options = ["--data", self.data, "--steps", "3", "--no-shuffle", "--quiet"]
        self.clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "SHARDCC_SECRET")}

    # ---- starting ranks ----

    def start(self, command, env=None):
        return subprocess.Popen([*map(str, command)], env={**self.clean, **(env or {})}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def by_hand(self, rank, port, *more, size=4, host="127.0.0.1", trainer=None, env=None, options=None):
        return self.start([trainer or self.trainer, "--rank", rank, "--size", size, "--master", f"{host}:{port}",
                           "--timeout", TIMEOUT, *(options or self.options), *more], env)

    def end(self, jobs, seconds=60):
        """Waits for all; returns their statuses and the lines of their errors. Kills what is still there after so long."""
        end, said, statuses = time.monotonic() + seconds, [], []
        for job in jobs:
            try:
                _, err = job.communicate(timeout=max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                job.kill()
                _, err = job.communicate()
                statuses.append("late")
            else:
                statuses.append(job.returncode)
            said += [line for line in err.splitlines() if "error: " in line]
        return statuses, said

    def curve(self, launch=(), more=(), env=None):
        """The weights after three steps."""
        out = self.work / "out.safetensors"
        out.unlink(missing_ok=True)
        run(*launch, self.trainer, *self.options, "--save", out, *more, env={**self.clean, **(env or {})})
        return out.read_bytes()

    # ---- ways to start ----

    def all_by_hand(self, host, env=None):
        out, port = self.work / "hand.safetensors", free_port()
        out.unlink(missing_ok=True)
        self.end([self.by_hand(r, port, "--save", out, host=host, env=env) for r in range(4)])
        return out.read_bytes() if out.exists() else b""

    def two_by_two(self):
        """As on two hosts."""
        out, master = self.work / "parts.safetensors", f"127.0.0.1:{free_port()}"
        jobs = [self.start([self.trainer, *self.options, "--save", out, "--spawn", 2, "--rank", r, "--size", 4, "--master", master]) for r in (0, 2)]
        statuses, said = self.end(jobs)
        return out.read_bytes() if statuses == [0, 0] else said

    def by_variables(self, out, **env):
        jobs = [self.start([self.trainer, *self.options, "--save", out],
                           {k: str(v(r) if callable(v) else v) for k, v in env.items()}) for r in range(4)]
        statuses, said = self.end(jobs)
        return out.read_bytes() if statuses == [0] * 4 else said

    def test_ways(self):
        check = self.checks.check
        expected = self.curve(more=["--spawn", "4"])
        check("--spawn", len(expected) > 0)
        check("shardcc run", self.curve([self.model.shardcc, "run", "--"]) == expected)
        check("--spawn, two by two", self.two_by_two() == expected)
        check("mpirun", self.curve(mpirun(4), env=MPI_ENV) == expected)
        for host in ("127.0.0.1", "localhost"):
            check(f"--rank at {host}", self.all_by_hand(host) == expected)
        check("with a secret", self.all_by_hand("127.0.0.1", {"SHARDCC_SECRET": SECRET}) == expected)
        torchrun = dict(RANK=lambda r: r, WORLD_SIZE=4, MASTER_ADDR="127.0.0.1")
        out = self.work / "torchrun.safetensors"
        check("torchrun's variables, one host",
              self.by_variables(out, **torchrun, MASTER_PORT=free_port(), LOCAL_WORLD_SIZE=4) == expected)
        check("torchrun's variables, several hosts",
              self.by_variables(out, **torchrun, MASTER_PORT=free_port(), LOCAL_WORLD_SIZE=2) == expected)
        with socket.create_server(("127.0.0.1", 0)) as store:
            port = store.getsockname()[1]
            check("torchrun's store has its port", self.by_variables(
                out, **torchrun, MASTER_PORT=port, LOCAL_WORLD_SIZE=2, TORCHELASTIC_USE_AGENT_STORE="True") == expected)
        check("Slurm's variables", self.by_variables(
            out, SLURM_PROCID=lambda r: r, SLURM_STEP_NUM_TASKS=4, SLURM_STEP_NODELIST="localhost",
            SLURM_JOB_ID=os.getpid(), SLURM_STEP_ID=0) == expected)
        check("MPICH's variables", self.by_variables(
            out, PMI_RANK=lambda r: r, PMI_SIZE=4, MPI_LOCALNRANKS=4) == expected)
        if self.torch:
            torchrun = [self.torch, "-m", "torch.distributed.run", "--nproc-per-node", 4, "--no-python"]
            static = ["--nnodes", 1, "--node-rank", 0, "--master-addr", "127.0.0.1", "--master-port", free_port()]
            check("torchrun", self.curve(torchrun) == expected)
            check("torchrun at an address", self.curve([*torchrun[:3], *static, *torchrun[3:]]) == expected)
        check("MPICH's, and --master", self.all_by_hand("127.0.0.1", {"PMI_RANK": "9", "PMI_SIZE": "1"}) == expected)

    def test_refused(self):
        """Words that don't go together, and a start of one rank of several."""
        for words, status, text in (
            ([], 1, "1 rank was started, but the program has 4 ranks (x0=4): --spawn 4"),
            (["--spawn", 3], 1, "3 ranks were started, but the program has 4 ranks (x0=4): --spawn 4"),
            (["--spawn", 0], 2, "--spawn: '0' is not a whole number from 1 to 4096"),
            (["--rank", 1], 2, "--rank needs --size"),
            (["--rank", 1, "--size", 4], 2, "--rank needs --master"),
            (["--size", 4], 2, "--size needs --rank"),
            (["--spawn", 3, "--rank", 2, "--size", 4, "--master", "a:1"], 2, "--spawn 3: from --rank 2 on there are 2 ranks of --size 4"),
        ):
            found, said = self.end([self.start([self.trainer, *self.options, *words])])
            self.checks.check(f"refused: {text}", (found, said) == ([status], [f"{self.trainer.name}: error: {text}"]), f"{found} {said}")

    # ---- starts that fail ----

    def fails(self, name, jobs, *expected, seconds=TIMEOUT + 3, statuses=None):
        begin = time.monotonic()
        found, said = self.end(jobs, seconds + 20)
        took = time.monotonic() - begin
        ok = len(said) == 1 and all(text in said[0] for text in expected)
        self.checks.check(f"{name}: one message", ok, str(said))
        self.checks.check(f"{name}: all end", found == (statuses or [1] * len(jobs)), str(found))
        self.checks.check(f"{name}: soon", took <= seconds, f"{took:.1f} s")

    def test_failures(self):
        def ranks(numbers, *more, **env):
            port = free_port()
            return [self.by_hand(r, port, *more, **env) for r in numbers]

        self.fails("a rank is missing", ranks([0, 1, 2]), "rank 3 of 4 didn't come")
        self.fails("two are missing", ranks([0, 2]), "ranks 1, 3 of 4 didn't come")
        self.fails("rank 0 is missing", ranks([1, 2, 3]), "rank 0 isn't there at 127.0.0.1")
        self.fails("two have one number", ranks([0, 1, 2, 2]), "two processes say that they are rank 2")
        self.fails("a number too high", ranks([0, 1, 2, 7]), "says that it is rank 7 of 4")
        other = self.model.compile("other", None, "--ranks", "4", "--transport", "tcp", "--clip-norm", "3")
        port = free_port()
        self.fails("another program", [self.by_hand(r, port, trainer=other if r == 2 else None) for r in range(4)],
                   "rank 2 (127.0.0.1:", "runs another program")
        port = free_port()
        self.fails("other options", [self.by_hand(r, port, *(["--lr", "1"] if r == 3 else [])) for r in range(4)],
                   "--lr: rank 0 has none, rank 3 1")
        for name, one, others, text in (("wrong secret", "another secret, as long", SECRET, "has another SHARDCC_SECRET"),
                                        ("a secret on one rank", SECRET, None, "has a SHARDCC_SECRET, rank 0 has none"),
                                        ("no secret on one rank", None, SECRET, "has no SHARDCC_SECRET, rank 0 has one")):
            port = free_port()
            secrets = [{"SHARDCC_SECRET": s} if s else {} for s in (others, one, others, others)]
            self.fails(name, [self.by_hand(r, port, env=secrets[r]) for r in range(4)], f"rank 1 (127.0.0.1:", text)
        self.fails("a short secret", ranks([0], env={"SHARDCC_SECRET": "short"}), "SHARDCC_SECRET has 5 bytes; at least 16")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.fails("the port is in use", [self.by_hand(0, port)], f"rank 0 can't listen at port {port}")
        self.fails("an address unknown", ranks(range(4), host="no.such.host.invalid"),
                   "the address of rank 0, 'no.such.host.invalid', isn't found")
        self.fails("an interface unknown", ranks([0], "--interface", "eth77"), "--interface: 'eth77' has no address of IPv4; there are lo")
        port = free_port()
        jobs = [self.by_hand(r, port) for r in range(3)]
        time.sleep(0.7)
        jobs[0].kill()
        self.fails("rank 0 is killed", jobs, "rank 0 has ended", statuses=[-9, 1, 1])

    # ---- strangers ----

    def test_strangers(self):
        """Whoever comes to the door while ranks start: the job goes on."""
        port, stop, talks = free_port(), threading.Event(), []

        def bother():
            draw = random.Random(1)
            while not stop.is_set():
                try:
                    s = socket.create_connection(("127.0.0.1", port), timeout=1)
                except OSError:
                    time.sleep(0.01)
                    continue
                kind = draw.randrange(3)
                if kind == 0:
                    s.close()
                elif kind == 1:
                    s.sendall(draw.randbytes(draw.randrange(1, 4000)))
                    s.close()
                else:
                    talks.append(s)

        thread = threading.Thread(target=bother)
        thread.start()
        out = self.work / "strangers.safetensors"
        jobs = [self.by_hand(r, port, "--save", out) for r in range(3)]
        time.sleep(1)
        jobs.append(self.by_hand(3, port, "--save", out))
        statuses, said = self.end(jobs)
        stop.set()
        thread.join()
        self.checks.check("strangers come: the job goes on", statuses == [0] * 4 and not said, f"{statuses} {said}")
        for s in talks:
            s.close()

    # ---- the end ----

    def test_spawn(self):
        """Whatever is killed, no process stays."""
        for name, who in (("the first process", 0), ("a rank", 2)):
            options = [o if o != "3" else "1000000" for o in map(str, self.options)]
            job = self.start([self.trainer, *options, "--spawn", "4", "--timeout", TIMEOUT])
            time.sleep(1)
            children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True).stdout.split()
            os.kill(job.pid if who == 0 else int(children[who]), signal.SIGKILL)
            _, err = job.communicate(timeout=20)
            time.sleep(0.5)
            left = [c for c in children if runs(c)]
            self.checks.check(f"--spawn, {name} is killed: nothing stays", len(children) == 4 and not left, f"{children} {left}")
            said = [line for line in err.splitlines() if "error: " in line]
            if who:
                self.checks.check("and one rank says it", len(said) == 1 and "rank 2 is gone" in said[0], str(said))
                self.checks.check("and the status is the signal's", job.returncode == 128 + 9, str(job.returncode))


def test(start):
    start.test_ways()
    start.test_refused()
    start.test_failures()
    start.test_strangers()
    start.test_spawn()


if __name__ == "__main__":
    test_in_folder(Start, test)
