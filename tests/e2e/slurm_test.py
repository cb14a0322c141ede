#!/usr/bin/env python3
"""Jobs of a real Slurm on this machine: a run that has to end early goes on when its job is requeued, and ends with the bits
of an undisturbed one, under srun, mpirun and shardcc run. Ranks that talk by TCP start under srun and shardcc run.

  slurm_test.py --shardcc build/shardcc [--all]

--all: launchers with both signals, twice; jobs that are requeued, suspended, and whose ranks are killed. It takes three
minutes. Slurm's daemons run in namespaces of the test, and end with it.
"""
import os
import re
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from checkpoint_test import Trainer
from harness import Checks, mpirun, side_by_side
from model import QUICK_CC, Model, parser
from namespace import Namespace, call, missing_tool
from run_test import ENV, is_program

RANKS, STEPS, CPUS, NODE = 2, 400, 8, "localhost"  # a name that is an address everywhere
TIMEOUT = 5  # of a wait for a rank
CONF = """
ClusterName=test
SlurmctldHost={node}
AuthType=auth/munge
AuthInfo=socket={work}/munge/socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool
TmpFS={work}/tmp
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MpiDefault=pmix
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=10
SlurmdParameters=config_overrides
NodeName={node} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
"""
# A job that puts itself into the queue again when it has ended.
SCRIPT = """#!/bin/bash
#SBATCH --ntasks={ranks} --requeue --open-mode=append --output={folder}/said
trap : USR1 TERM
cd {folder}
echo "start ${{SLURM_RESTART_COUNT:-0}}"
{launch} {options}
status=$?
echo "status $status"
case $status in 75|143) scontrol requeue $SLURM_JOB_ID; sleep 60;; esac
exit $status
"""


class Slurm:
    """A cluster of one node. Raises RuntimeError if it doesn't start."""

    def __init__(self, work):
        self.work, self.daemons, self.namespace = work, [], Namespace(NODE)
        for name in ("state", "munge", "spool", "tmp"):
            (work / name).mkdir(mode=0o700 if name in ("state", "munge") else 0o1777)
        (work / "slurm.conf").write_text(CONF.format(node=NODE, work=work, cpus=CPUS))
        (work / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")  # not used, and not to be looked for
        env = {"SLURM_CONF": work / "slurm.conf", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_oob_tcp_if_include": "lo", "PMIX_MCA_gds": "hash"}  # fmt: skip
        self.env = {**ENV, **{key: str(value) for key, value in env.items()}}
        try:
            self.start()
        except (OSError, RuntimeError):
            self.close()
            raise

    def start(self):
        # Slurm looks for an address besides that of loopback.
        on, link, munge = self.namespace.on(), "shardcc0", self.work / "munge"
        call(*on, "ip", "link", "add", link, "type", "veth", "peer", "name", "shardcc1")
        call(*on, "ip", "address", "add", "10.199.0.1/24", "dev", link)
        call(*on, "ip", "link", "set", link, "up")
        call("mungekey", "--create", "--keyfile", munge / "key")
        own = [f"--{key}={munge}/{name}" for key, name in (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
        for name, *words in (["munged", "--foreground", "--force", "--num-threads=2", *own], ["slurmctld", "-D"], ["slurmd", "-D"]):
            with open(self.work / f"{name}.said", "w") as said:
                self.daemons.append(subprocess.Popen([*on, name, *words], env=self.env, stdout=said, stderr=said, stdin=subprocess.DEVNULL))
            for _ in range(100 * (name == "munged")):
                time.sleep(0.05 * (not (munge / "socket").exists()))
        end = time.monotonic() + 20
        while time.monotonic() < end and all(x.poll() is None for x in self.daemons):
            if self.run("sinfo", "-h", "-t", "idle", "-o", "%D", check=False).strip() == "1":
                return
            time.sleep(0.1)
        raise RuntimeError(" | ".join((self.work / f"{name}.said").read_text()[-300:] for name in ("slurmctld", "slurmd")))

    def run(self, *words, check=True):
        done = subprocess.run([*self.namespace.on(), *map(str, words)], env=self.env, capture_output=True, text=True, timeout=60)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def close(self):
        self.namespace.close()
        for daemon in self.daemons:
            daemon.wait()


class Job:
    """A batch job, in a folder of its own."""

    def __init__(self, slurm, trainer, name, launcher):
        self.slurm, self.trainer, self.launcher = slurm, trainer, launcher
        self.folder = slurm.work / name.replace(" ", "_")
        self.folder.mkdir()
        launch = {"srun": ["srun"], "mpirun": mpirun(RANKS), "shardcc run": [trainer.model.shardcc, "run", "--"]}[launcher]
        options = ["--data", trainer.data, "--quiet", "--threads", 1, "--steps", STEPS, "--epochs", 1 << 30, "--timeout", TIMEOUT, "--checkpoint", "runs",
                   "--checkpoint-every", 20, "--resume", "--save", "w.st"]  # fmt: skip
        script = self.folder / "job"
        words = [" ".join(map(str, x)) for x in ([*launch, trainer.program], options)]
        script.write_text(SCRIPT.format(ranks=RANKS, folder=self.folder, launch=words[0], options=words[1]))
        self.number = slurm.run("sbatch", "--parsable", script).strip()

    def said(self):
        path = self.folder / "said"
        return path.read_text() if path.exists() else ""

    def check(self, checks, name, ok):
        """Shows what was said if it fails."""
        checks.check(name, ok, "" if ok else self.said()[-800:].replace("\n", " | "))

    def lock(self):
        path = self.folder / "runs/LOCK"
        return path.read_text().split() if path.exists() else []

    def wait_for_step(self, before=()):
        """Waits until a start other than the one before has done a step; returns its lock."""
        for _ in range(600):
            found = self.lock()
            if len(found) == 3 and found[:1] != list(before)[:1] or "status 0" in self.said():
                return found
            time.sleep(0.05)
        return []

    def make_room(self, sent):
        """Ranks of srun are a step of the job. Those of mpirun are only reached by a signal to all, which mpirun hands on to
        them, too: they get it twice."""
        more = ["--full"] if self.launcher == "mpirun" else []
        self.slurm.run("scancel", f"--signal={sent}", *more, self.number)

    def ranks(self):
        name = self.trainer.program.name
        return [x for x in self.slurm.namespace.processes() if is_program(x, name) and Path(f"/proc/{x}/cwd").resolve() == self.folder]

    def end(self):
        """Waits until it has ended; returns its weights, and what was said."""
        for _ in range(900):
            state = self.slurm.run("scontrol", "show", "job", self.number)
            if re.search("JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)", state):
                break
            time.sleep(0.1)
        weights = self.folder / "w.st"
        return weights.read_bytes() if weights.exists() else None, self.said()


def preempted(checks, slurm, trainer, whole, launcher, sent, times=1):
    name = f"{launcher}, {sent}" + ", twice" * (times > 1)
    job = Job(slurm, trainer, name, launcher)
    before = job.wait_for_step()
    for _ in range(times):
        job.make_room(sent)
        before = job.wait_for_step(before)
    weights, said = job.end()
    status = {"USR1": 75, "TERM": 143}[sent]
    words = [x for k in range(times) for x in (f"start {k}", f"status {status}")] + [f"start {times}", "status 0"]
    found = [x for x in said.splitlines() if x.startswith(("start", "status"))]
    job.check(checks, f"{name}: it ends and goes on", found == words)
    checks.check(f"{name}: the bits of an undisturbed run", weights == whole)


def requeued(checks, slurm, trainer, whole, launcher):
    """By an administrator: Slurm ends all that runs."""
    name = f"{launcher}, requeued"
    job = Job(slurm, trainer, name, launcher)
    before = job.wait_for_step()
    slurm.run("scontrol", "requeue", job.number)
    job.wait_for_step(before)
    weights, said = job.end()
    job.check(checks, f"{name}: it goes on", "start 1" in said and "status 0" in said)
    checks.check(f"{name}: the bits of an undisturbed run", weights == whole)


def suspended(checks, slurm, trainer, whole, launcher):
    """For longer than a rank waits for another one."""
    name = f"{launcher}, suspended"
    job = Job(slurm, trainer, name, launcher)
    job.wait_for_step()
    slurm.run("scontrol", "suspend", job.number)
    time.sleep(TIMEOUT + 2)
    is_still = not (job.folder / "w.st").exists()
    slurm.run("scontrol", "resume", job.number)
    weights, said = job.end()
    job.check(checks, f"{name}: it goes on", is_still and "status 0" in said)
    checks.check(f"{name}: the bits of an undisturbed run", weights == whole)


def killed(checks, slurm, trainer, whole):
    """shardcc run starts the ranks again within the job."""
    job = Job(slurm, trainer, "killed", "shardcc run")
    before = job.wait_for_step()
    os.kill(job.ranks()[0], signal.SIGKILL)
    job.wait_for_step(before)
    weights, said = job.end()
    job.check(checks, "shardcc run, a rank is killed: it starts again", "restart 1 of 3" in said and "status 0" in said)
    checks.check("shardcc run, a rank is killed: the bits of an undisturbed run", weights == whole)


def by_tcp(checks, slurm, models, shardcc):
    """Ranks that talk by TCP find each other by Slurm's variables."""
    model = Model(models / "mlp.onnx", shardcc, slurm.work, cc=QUICK_CC)
    program, out = model.compile("tcp", None, "--ranks", RANKS, "--transport", "tcp"), slurm.work / "tcp.st"
    options = ["--data", model.data(), "--quiet", "--threads", 1, "--steps", 3, "--save", out]
    weights = []
    for launch, more in ([], ["--spawn", RANKS]), (["srun", "-n", RANKS], []), (["salloc", "-Q", "-n", RANKS, shardcc, "run", "--"], []):
        out.unlink(missing_ok=True)
        slurm.run(*launch, program, *options, *more)
        weights.append(out.read_bytes())
    checks.check("ranks of TCP, by srun: the bits of --spawn", weights[1] == weights[0])
    checks.check("ranks of TCP, by shardcc run: the bits of --spawn", weights[2] == weights[0])


LAUNCHERS = ("srun", "mpirun", "shardcc run")


def tests_of(is_all, *own):
    if not is_all:
        return [partial(preempted, *own, launcher, sent) for launcher, sent in zip(LAUNCHERS, ("USR1", "USR1", "TERM"))]
    # mpirun that gets SIGTERM gives its ranks a second, and has a status of its own.
    kinds = [(launcher, sent) for launcher in LAUNCHERS for sent in ("USR1", "TERM") if (launcher, sent) != ("mpirun", "TERM")]
    tests = [partial(preempted, *own, launcher, sent, 2) for launcher, sent in kinds]
    return tests + [partial(test, *own, launcher) for test in (requeued, suspended) for launcher in LAUNCHERS] + [partial(killed, *own)]


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    o = p.parse_args()
    checks = Checks()
    reason = missing_tool("srun", "slurmctld", "slurmd", "munged", "mungekey") or (os.geteuid() != 0 and "Slurm's daemons run as root")
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        try:
            slurm = None if reason else Slurm(work)
        except (OSError, RuntimeError) as e:
            checks.check("Slurm starts", "unshare" in str(e), f"left out: {e}"[:900])
            checks.finish()
        if reason:
            checks.check("jobs of Slurm", True, f"left out: {reason}")
            checks.finish()
        try:
            trainer = Trainer(Model(o.models / "nanogpt.onnx", o.shardcc, work, cc=QUICK_CC), RANKS)
            status, said = trainer.run("--threads", 1, "--steps", STEPS, "--epochs", 1 << 30, "--save", "whole.st")
            checks.check("an undisturbed run", status == 0, said)
            whole = (trainer.work / "whole.st").read_bytes()
            by_tcp(checks, slurm, o.models, o.shardcc)
            side_by_side(3, *tests_of(o.all, checks, slurm, trainer, whole))
        finally:
            slurm.close()
    checks.finish()


if __name__ == "__main__":
    main()
