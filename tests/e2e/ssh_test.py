#!/usr/bin/env python3
"""shardcc run and shardcc check by ssh, which is a script here: hosts are this machine, or namespaces of it with a link between
them. The bits of --spawn; whatever is killed, no process stays; hosts out of reach; what check says of hosts.

  ssh_test.py --shardcc build/shardcc
"""
import os
import re
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from harness import Checks, run, side_by_side
from model import QUICK_CC, Model, parser
from namespace import missing_tool
from namespaces_test import ADDRESS, LINK, Hosts
from ssh import Ssh, processes_of

SECRET = "it's a secret of 24 letters"
HERE = ("localhost slots=2", "127.0.0.1 slots=2")
FOREVER = ["--steps", 1 << 30, "--epochs", 1 << 30]
SOON = 8  # seconds in which all end


class Job:
    """shardcc run, in a folder of its own."""

    def __init__(self, t, ssh, name, *options, hosts=HERE, own=(), program=None, env=()):
        self.t, self.folder, self.program = t, t.work / name, program or t.program
        self.folder.mkdir()
        words = [t.model.shardcc, "run", "--hosts", ssh.hosts(*hosts), *own, "--", self.program, "--data", t.data, "--no-shuffle", "--quiet", *options]
        self.process = subprocess.Popen([*map(str, words)], cwd=self.folder, env=ssh.env(**dict(env)), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)  # fmt: skip

    def wait_for_step(self):
        """Waits for the second line of the lock of its checkpoints."""
        lock = self.folder / "runs/LOCK"
        for _ in range(400):
            if self.process.poll() is not None or (lock.exists() and len(lock.read_text().split()) == 3):
                return
            time.sleep(0.05)

    def end(self):
        """Its status, its errors, its seconds, and the processes of the program that are left then."""
        begin = time.monotonic()
        err = self.process.communicate(timeout=60)[1]
        took = time.monotonic() - begin
        return self.process.returncode, err.splitlines(), took, self.left()

    def left(self):
        for _ in range(20):
            left = processes_of(self.program)
            if not left:
                break
            time.sleep(0.05)
        return left


class Test:
    def __init__(self, shardcc, models, work, checks):
        self.work, self.checks = work, checks
        self.model = Model(models / "mlp.onnx", shardcc, work, cc=QUICK_CC)
        self.program = self.model.compile("r4", None, "--ranks", "4,2,1", "--transport", "tcp")
        self.data = self.model.data()
        run(self.program, "--data", self.data, "--no-shuffle", "--quiet", "--steps", 3, "--save", work / "whole.st", "--spawn", 4)
        self.whole = (work / "whole.st").read_bytes()

    def is_whole(self, job):
        path = job.folder / "w.st"
        return path.exists() and path.read_bytes() == self.whole

    def own_program(self, name):
        """A copy for one test, by which its processes are known, with those for fewer ranks."""
        folder = self.work / name
        folder.mkdir()
        for path in self.program.parent.glob(f"{self.program.name}*"):
            os.link(path, folder / path.name)
        return folder / self.program.name

    # ---- runs ----

    def test_run(self):
        check, ssh = self.checks.check, Ssh(self.work / "ssh_run")
        job = Job(self, ssh, "a folder's name", "--steps", 3, "--save", "w.st", env={"SHARDCC_SECRET": SECRET})
        status, err, _, left = job.end()
        check("ranks on two hosts: the bits of --spawn", status == 0 and not err and self.is_whole(job), f"{status} {err}")
        said = ssh.said.read_text().splitlines()
        words = r"(localhost|127\.0\.0\.1) -T -x -o BatchMode=yes -o ServerAliveInterval=20 \1 exec /bin/sh -c 'eval \"\$\(head -c [0-9]+\)\"'"
        check("one ssh for each host, which shows no secret", len(said) == 2 and all(re.fullmatch(words, x) for x in said), str(said))
        status, err, took, _ = Job(self, ssh, "short", "--steps", 3, env={"SHARDCC_SECRET": "short"}).end()
        text = "SHARDCC_SECRET has 5 bytes; at least 16 are needed"
        check("the environment reaches the ranks", status == 1 and text in "".join(err) and took < SOON + 5, f"{took:.1f} s {err}")
        job = Job(self, ssh, "one host", "--steps", 3, "--save", "w.st", hosts=["localhost slots=9"])
        status, err, _, _ = job.end()
        check("all ranks on one host", status == 0 and self.is_whole(job), f"{status} {err}")

    def training(self, ssh, name, **more):
        job = Job(self, ssh, name, *FOREVER, "--checkpoint", "runs", "--checkpoint-every", "1h", own=["--max-restarts", 0], **more)
        job.wait_for_step()
        return job

    def test_signals(self):
        """Those of shardcc reach the ranks, which save."""
        ssh, program = Ssh(self.work / "ssh_signals"), self.own_program("signals")
        for sent, expected in (signal.SIGTERM, 143), (signal.SIGUSR1, 75):
            job = self.training(ssh, f"signal {sent}", program=program)
            job.process.send_signal(sent)
            status, err, took, left = job.end()
            saved = len(list(job.folder.glob("runs/step-*/MANIFEST")))
            self.checks.check(f"{sent.name}: the ranks save and end", (status, saved, left) == (expected, 1, []) and took < SOON, f"{status} {took:.1f} s {err} {left}")

        job = self.training(ssh, "twice", program=program)
        for _ in range(2):
            job.process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        status, err, took, left = job.end()
        self.checks.check("SIGINT, twice: all end", status == 130 and not left and took < SOON, f"{status} {took:.1f} s {err} {left}")

    def test_killed(self, who):
        """Whatever is killed, nothing stays on any host."""
        ssh, program = Ssh(self.work / f"ssh_{who}"), self.own_program(who)
        job = self.training(ssh, f"killed {who}", program=program)
        started = processes_of(program)
        children = subprocess.run(["pgrep", "-P", str(job.process.pid)], capture_output=True, text=True).stdout.split()
        parents = {x: int(Path(f"/proc/{x}/stat").read_text().rpartition(")")[2].split()[1]) for x in started}
        ranks = [x for x in started if parents[x] in started]
        victim = {"shardcc": job.process.pid, "ssh": int(children[1]), "rank": ranks[2], "parent": parents[ranks[0]]}[who]
        os.kill(victim, signal.SIGKILL)
        status, err, took, left = job.end()
        fine = len(ranks) == 4 and len(started) == 6 and took < SOON and not left and status in {"shardcc": (-9,), "ssh": (137, 143), "rank": (1, 137), "parent": (1, 255)}[who]
        self.checks.check(f"{who} is killed: nothing stays", fine, f"{started} {status} {took:.1f} s {left} {err}")

    def test_hosts(self):
        """A host that is out of reach twice is left out; the others don't wait for it."""
        ssh, program, name = Ssh(self.work / "ssh_gone", gone=["b"]), self.own_program("hosts"), self.program.name
        job = Job(self, ssh, "gone", "--steps", 3, "--checkpoint", "runs", hosts=["localhost slots=2", "b slots=2"], program=program)
        status, err, took, left = job.end()
        said = [x for x in err if x.startswith("shardcc")]
        texts = [f"shardcc: {name}: ended with status 255; restart 1 of 3 in 1 s", f"shardcc: {name}: ended with status 255; restart 2 of 3 in 2 s",
                 "shardcc: b has failed twice and is left out", f"shardcc: {name}.2 goes on, with 2 ranks"]  # fmt: skip
        self.checks.check("a host out of reach is left out", (status, said[:4], left) == (0, texts, []), f"{status} {took:.1f} s {err} {left}")
        job = Job(self, ssh, "one rank", "--steps", 2, hosts=["localhost"], own=["--launcher", "ssh"], program=f"{self.program}.1")
        self.checks.check("a program of one rank", job.end()[:2] == (0, []))

    def test_refused(self):
        check, ssh = self.checks.check, Ssh(self.work / "ssh_refused")
        mpi = self.model.compile("mpi", None, "--ranks", "2", "--transport", "mpi")
        for program, hosts, text in (
            (self.program, ["a", "b"], f"shardcc: error: '{self.program}' has 4 ranks, the hosts have slots for 2"),
            (mpi, HERE, f"shardcc: error: --launcher ssh: mpirun or srun start the ranks of '{mpi}'; --transport tcp compiles a program that needs neither"),
        ):
            found = Job(self, ssh, program.name + "refused", hosts=hosts, own=["--launcher", "ssh"], program=program).end()[:2]
            check(text, found == (1, [text]), str(found))
        done = subprocess.run([self.model.shardcc, "run", "--launcher", "ssh", "--", self.program], capture_output=True, text=True)
        check("no hosts", (done.returncode, done.stderr) == (1, "shardcc: error: --launcher ssh needs --hosts\n"), done.stderr)

    # ---- check ----

    def check(self, ssh, *words, env=()):
        done = subprocess.run([*map(str, (self.model.shardcc, "check", *words))], env=ssh.env(**dict(env)), cwd=self.work, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def test_check(self):
        check, ssh = self.checks.check, Ssh(self.work / "ssh_check", gone=["b"])
        hosts = ssh.hosts("localhost slots=2", "b slots=2", "127.0.0.1 slots=2")
        status, out, err = self.check(ssh, "--hosts", hosts, "--", self.program)
        text = "b: error: it is out of reach: ssh: connect to host b port 22: No route to host"
        check("check: a host out of reach", (status, err) == (1, [text]), f"{status} {err}")
        rows = [re.split("  +", x) for x in out[1:]]
        check("check: the interface of each host", rows[0][-1] == "interface" and rows[1][-1] == rows[3][-1] == "lo 127.0.0.1", str(rows))
        check("check: the others are measured", rows[2] == ["b", "no answer"] and re.fullmatch("[+-]0[.][0-9]{4} s", rows[3][-2]), str(rows))

    # ---- hosts with a link ----

    def test_link(self):
        reason = missing_tool()
        try:
            hosts = None if reason else Hosts(self.work)
        except (OSError, RuntimeError) as e:
            reason = str(e)
        if reason:
            self.checks.check("hosts with a link", True, f"left out: no network namespaces: {reason}")
            return
        try:
            self.on_hosts(hosts)
        finally:
            hosts.close()

    def on_hosts(self, hosts):
        check, names = self.checks.check, [ADDRESS.format(i) for i in (1, 2)]
        ssh = Ssh(self.work / "ssh_link", on={name: host.on() for name, host in zip(names, hosts.host)})
        job = Job(self, ssh, "linked", "--steps", 3, "--save", "w.st", hosts=[f"{x} slots=2" for x in names])
        status, err, _, _ = job.end()
        check("hosts with a link: the bits of --spawn", status == 0 and self.is_whole(job), f"{status} {err}")
        status, out, err = self.check(ssh, "--hosts", ssh.hosts(*names), "--launcher", "ssh")
        rows = [re.split("  +", x) for x in out[1:]]
        check("hosts with a link: check", (status, err) == (0, []) and [x[-1] for x in rows[1:]] == [f"{LINK} {x}" for x in names], f"{status} {err} {rows}")
        check("hosts with a link: their names", [x[:2] for x in rows[1:]] == [[x, f"host{i}"] for i, x in enumerate(names, 1)], str(rows))


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        t = Test(o.shardcc, o.models, work, checks)
        side_by_side(3, t.test_hosts, t.test_signals, *(partial(t.test_killed, who) for who in ("shardcc", "ssh", "rank", "parent")),
                     t.test_run, t.test_check, t.test_refused, t.test_link)  # fmt: skip
    checks.finish()


if __name__ == "__main__":
    main()
