#!/usr/bin/env python3
"""shardcc run: ranks that are killed start again and end with the bits of a run without; signals, launchers, messages.

  run_test.py --shardcc build/shardcc
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from checkpoint_test import Trainer
from harness import MPI_ENV, Checks, mpirun, side_by_side
from model import QUICK_CC, Model, parser

STEPS = 400
ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def children(pid):
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(x) for x in found] + [y for x in found for y in children(x)]


def is_program(pid, name):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(name.encode())
    except OSError:
        return False


class Job:
    """A run, in a folder of its own."""

    def __init__(self, trainer, name, *options, own=(), env=ENV, program=None):
        self.trainer, self.folder = trainer, trainer.folder(name)
        self.folder.mkdir()
        options = ["--data", trainer.data, "--quiet", "--threads", 1, *(options or self.training())]
        args = [trainer.model.shardcc, "run", *own, "--", program or trainer.program, *options]
        self.process = subprocess.Popen([str(x) for x in args], cwd=self.folder, env=env, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)  # fmt: skip

    @staticmethod
    def training():
        return ["--steps", STEPS, "--epochs", 1 << 30, "--checkpoint", "runs", "--checkpoint-every", 20, "--save", "w.st"]

    def ranks(self):
        return [x for x in children(self.process.pid) if is_program(x, self.trainer.program.name)]

    def lock(self):
        path = self.folder / "runs/LOCK"
        return path.read_text().split() if path.exists() else []

    def wait_for_step(self, before=()):
        """Waits until a start other than the one before has done a step."""
        for _ in range(1200):
            found = self.lock()
            if len(found) == 3 and found[:1] != list(before)[:1] or self.process.poll() is not None:
                return found
            time.sleep(0.05)
        return []

    def kill_rank(self, number):
        before = self.lock()
        os.kill(self.ranks()[number], signal.SIGKILL)
        return before

    def end(self):
        """The exit status, and what shardcc said."""
        err = self.process.communicate(timeout=120)[1]
        return self.process.returncode, [x for x in err.splitlines() if x.startswith(("shardcc: ", self.trainer.program.name))]


def test_restarts(checks, trainer, whole):
    what, name = f"{trainer.ranks} ranks", trainer.program.name
    job = Job(trainer, f"killed{trainer.ranks}")
    job.wait_for_step()
    before = job.kill_rank(-1)
    before = job.wait_for_step(before)
    time.sleep(0.5)
    job.kill_rank(0)
    status, said = job.end()
    said = [x for x in said if x.startswith("shardcc")]
    texts = [f"shardcc: {name}: ended by signal 9; restart 1 of 3 in 1 s", f"shardcc: {name} is at its next step, [0-9.]+ s after it failed",
             f"shardcc: {name}: ended by signal 9; restart 2 of 3 in 2 s", f"shardcc: {name} is at its next step, [0-9.]+ s after it failed"]  # fmt: skip
    fine = len(said) == 4 and all(re.fullmatch(a, b) for a, b in zip(texts, said))
    checks.check(f"{what}: starts again, twice", status == 0 and fine, f"{status} {said}")
    checks.check(f"{what}: with the bits of a run without", (job.folder / "w.st").read_bytes() == whole)


def test_stuck_launcher(checks, trainer, work):
    """An mpirun that doesn't end when its ranks have: it is killed, and the run starts again."""
    folder, started = work / "stuck", work / "stuck_once"
    folder.mkdir()
    mpi = shutil.which("mpirun")
    lines = ["#!/bin/sh", f'[ "$1" != --version ] && [ ! -e {started} ] || exec {mpi} "$@"', f"touch {started}", f'{mpi} "$@"', "exec sleep 100"]
    (folder / "mpirun").write_text("\n".join(lines))
    (folder / "mpirun").chmod(0o755)
    job = Job(trainer, "stuck_run", env={**ENV, "PATH": f"{folder}:{ENV['PATH']}"})
    job.wait_for_step()
    job.kill_rank(0)
    status, said = job.end()
    said = [x for x in said if x.startswith("shardcc")]
    killed = said[:1] == ["shardcc: mpirun is killed: its ranks have ended, but it hasn't"]
    checks.check("an mpirun that is stuck", status == 0 and killed and len(said) == 3, f"{status} {said}")


def test_gives_up(checks, trainer):
    job = Job(trainer, "given_up", own=["--max-restarts", 1])
    job.wait_for_step()
    job.wait_for_step(job.kill_rank(0))
    job.kill_rank(0)
    status, said = job.end()
    checks.check("it gives up", status == 137 and said[-1].endswith("ended by signal 9; it isn't started again after 1 restart"), f"{status} {said}")


def test_requeued(checks, trainer, work):
    """A job that goes on with checkpoints of an earlier one starts again, though its first start fails before a step."""
    program, started = work / "flaky", work / "started"
    program.write_text(f'#!/bin/sh\n[ "$1" = --info ] || [ -e {started} ] || {{ touch {started}; exit 1; }}\nexec {trainer.program} "$@"\n')
    program.chmod(0o755)
    first = Job(trainer, "queued", "--steps", 10, "--checkpoint", "runs")
    checks.check("requeued: the first job", first.end() == (0, []))
    job = Job(trainer, "requeued", "--steps", 20, "--epochs", 1 << 30, "--checkpoint", first.folder / "runs", program=program)
    status, said = job.end()
    texts = ["shardcc: flaky: ended with status 1; restart 1 of 3 in 1 s", "shardcc: flaky is at its next step, [0-9.]+ s after it failed"]
    fine = len(said) == 2 and all(re.fullmatch(a, b) for a, b in zip(texts, said))
    checks.check("requeued: it starts again, as there are checkpoints", status == 0 and fine, f"{status} {said}")


def test_signals(checks, trainer, whole):
    for sent, status in (signal.SIGUSR1, 75), (signal.SIGTERM, 143), (signal.SIGINT, 130):
        job = Job(trainer, f"signal{trainer.ranks}_{sent}")
        job.wait_for_step()
        job.process.send_signal(sent)
        found = job.end()
        checks.check(f"{trainer.ranks} ranks: {sent.name}", found == (status, []), str(found))
        checks.check("a checkpoint is written", len(list(job.folder.glob("runs/step-*/MANIFEST"))) > 0)
    again = Job(trainer, "again", *[x if x != "runs" else job.folder / "runs" for x in Job.training()])
    checks.check("it goes on", again.end() == (0, []) and (again.folder / "w.st").read_bytes() == whole)


def test_lost(checks, trainer):
    job = Job(trainer, "lost")
    job.wait_for_step()
    ranks = job.ranks()
    job.process.kill()
    job.process.communicate()
    for _ in range(200):
        if not any(is_program(x, trainer.program.name) for x in ranks):
            break
        time.sleep(0.05)
    left = [x for x in ranks if is_program(x, trainer.program.name)]
    checks.check("shardcc is killed: its ranks end", ranks and not left, f"{ranks} {left}")


def test_slurm(checks, trainer, work):
    """srun starts the ranks in a job of Slurm; here it is a script that writes down its words."""
    tools = work / "tools"
    tools.mkdir()
    launch = " ".join(map(str, mpirun(trainer.ranks)))
    (tools / "srun").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" > {work}/words\nshift 3\nexec {launch} "$@"\n')
    (tools / "srun").chmod(0o755)
    (work / "hosts").write_text("# two\nnode1 slots=2\n\nnode-2.x  # of them\n")
    env = {**ENV, "SLURM_JOB_ID": "1", "PATH": f"{tools}:{ENV['PATH']}"}
    found = Job(trainer, "slurm", "--steps", 1, own=["--hosts", work / "hosts"], env=env).end()
    words = (work / "words").read_text()
    expected = f"--kill-on-bad-exit=1 --ntasks={trainer.ranks} --nodelist=node1,node-2.x {trainer.program} --data"
    checks.check("srun", found == (0, []) and words.startswith(expected), f"{found} {words}")
    (tools / "mpirun").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" > {work}/words\ncase $1 in --version) echo "mpirun (Open MPI) 4";; esac\n')
    (tools / "mpirun").chmod(0o755)
    found = Job(trainer, "mpirun", "--steps", 1, own=["--hosts", work / "hosts", "--launcher", "mpirun"], env=env).end()
    words = (work / "words").read_text()
    checks.check("mpirun", found == (0, []) and words.startswith(f"-n {trainer.ranks} --host node1:2,node-2.x {trainer.program}"), f"{found} {words}")


def test_messages(checks, one, two, work):
    hosts = work / "bad_hosts"
    (work / "nothing").mkdir()
    alone = {**ENV, "PATH": str(work / "nothing")}
    name = two.program.name
    cases = (
        (one, ["--stepz", 1], [], ENV, None, 2, f"{one.program.name}: error: unknown option '--stepz' (did you mean '--steps'?)"),
        (one, ["--steps", 1], ["--max-restarts", 2], ENV, None, 2, f"shardcc: error: --max-restarts: '{one.program}' needs --checkpoint FOLDER for that"),
        (one, ["--steps", 1], ["--ranks", 2], ENV, None, 1, f"shardcc: error: --ranks 2: '{one.program}' is for 1"),
        (one, ["--steps", 1], ["--launcher", "rsh"], ENV, None, 2, "shardcc: error: --launcher: 'rsh' is not one of auto, mpirun, srun, ssh, none"),
        (one, ["--steps", 1], [], ENV, "/bin/true", 1, "shardcc: error: '/bin/true' is no trainer: it doesn't know --info"),
        (one, ["--steps", 1], [], ENV, "./gone", 1, "shardcc: error: cannot run './gone': No such file or directory"),
        (two, ["--steps", 1], [], alone, None, 1, "shardcc: error: cannot run 'mpirun': No such file or directory"),
        (two, ["--steps", 1], ["--hosts", "gone"], ENV, None, 1, "shardcc: error: cannot read 'gone': No such file or directory"),
    )
    for i, (trainer, options, own, env, program, status, text) in enumerate(cases):
        found = Job(trainer, f"message{i}", *options, own=own, env=env, program=program).end()
        checks.check(text, found == (status, [text]), str(found))
    for text, says in (
        ("", "no host is in it"),
        ("a\n-b\n", "line 2: '-b' is not the name of a host"),
        ("a,b\n", "line 1: 'a,b' is not the name of a host"),
        ("a slots=0\n", "line 1: expected a host and slots=N, N from 1 to 4096"),
        ("a cpus=1\n", "line 1: expected a host and slots=N, N from 1 to 4096"),
        ("a slots=1 b\n", "line 1: expected a host and slots=N, N from 1 to 4096"),
    ):
        hosts.write_text(text)
        job = Job(two, "hosts", "--steps", 1, own=["--hosts", hosts])
        err = job.process.communicate()[1]
        checks.check(f"hosts: {says}", (job.process.returncode, err) == (1, f"{hosts}: error: {says}\n"), err)
    job = Job(two, "no_step", *[x if x != STEPS else -1 for x in Job.training()], "--load", "gone")
    checks.check("wrong options of ranks aren't tried again", job.end()[0] == 2)
    job = Job(two, "no_data", *Job.training(), "--load", "gone")
    status, said = job.end()
    checks.check("no step: it isn't started again", status == 1 and said[-1] == f"shardcc: {name}: ended with status 1; it has done no step", str(said))


def test_start(checks, shardcc):
    done = subprocess.run([shardcc, "run", "--ranks", "2", "./gpt2"], capture_output=True, text=True)
    checks.check("a program without --", (done.returncode, done.stderr) == (2, "shardcc: error: expected no file, found './gpt2'\n"), done.stderr)
    done = subprocess.run([shardcc, "run", "--"], capture_output=True, text=True)
    text = "shardcc: error: no program given: shardcc run [OPTIONS] -- PROGRAM [ITS OPTIONS]\n"
    checks.check("no program", (done.returncode, done.stderr) == (2, text), done.stderr)


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    test_start(checks, o.shardcc)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        model = Model(o.models / "nanogpt.onnx", o.shardcc, work, cc=QUICK_CC)
        one, two = Trainer(model, 1), Trainer(model, 2)
        whole = {}
        for t in one, two:
            job = Job(t, f"whole{t.ranks}")
            checks.check(f"{t.ranks} ranks: a whole run", job.end() == (0, []))
            whole[t.ranks] = (job.folder / "w.st").read_bytes()
        side_by_side(2, *(partial(test_restarts, checks, t, whole[t.ranks]) for t in (one, two)),
                     partial(test_gives_up, checks, one), partial(test_signals, checks, two, whole[2]), partial(test_lost, checks, two),
                     partial(test_stuck_launcher, checks, two, work))  # fmt: skip
        test_requeued(checks, one, work)
        test_slurm(checks, two, work)
        test_messages(checks, one, two, work)
    checks.finish()


if __name__ == "__main__":
    main()
