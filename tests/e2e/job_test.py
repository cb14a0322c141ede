#!/usr/bin/env python3
"""A trainer of four ranks under mpirun writes the files of one rank, and one rank prints for all.

  job_test.py --shardcc build/shardcc
"""
import argparse
import copy
import os
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_log, read_safetensors, side_by_side, write_data
from model import QUICK_CC, REPOSITORY, Model

ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}
MESH, RANKS = "2x2", 4


class Runs:
    """Runs a program for one rank, and one for several."""

    def __init__(self, model):
        self.model, self.work = model, model.work
        init = ["--init", "normal(0.05)", "--no-weights"]
        self.one = model.compile("one", None, *init)
        self.all = model.compile("all", None, *init, "--ranks", RANKS, "--mesh", MESH)
        self.folder = model.data()

    def beside(self, name):
        """The same programs, which run in a folder of their own."""
        runs = copy.copy(self)
        runs.work = self.work / name
        runs.work.mkdir()
        (runs.work / "data").symlink_to(self.folder)
        return runs

    def start(self, options, ranks=RANKS, program=None):
        launch = mpirun(ranks) if ranks else []
        args = [str(a) for a in [*launch, program or self.all, *options]]
        return subprocess.Popen(args, cwd=self.work, env=ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *options, ranks=RANKS, program=None):
        """Runs a program; returns its exit status, stdout, and its own messages."""
        p = self.start(options, ranks, program)
        out, err = p.communicate(timeout=300)
        name = (program or self.all).name
        said = [line for line in err.splitlines() if line.startswith((f"{name}: ", "  on rank "))]
        return p.returncode, out, "\n".join(said)

    def both(self, *options):
        """The outputs of one rank and of all; {} in an option becomes the name of each run."""
        results = [self.run(*(str(o).format("one") for o in options), ranks=0, program=self.one)]
        return results + [self.run(*(str(o).format("all") for o in options))]


def is_clean(runs):
    return not list(runs.work.glob("*.tmp"))


def test_files(checks, runs):
    """Weights and predictions are those of one rank."""
    data = ["--data", "data", "--no-shuffle", "--quiet"]
    one, many = runs.both(*data, "--steps", 0, "--seed", 7, "--save", "start_{}")
    same = (runs.work / "start_one").read_bytes() == (runs.work / "start_all").read_bytes()
    checks.check("the same weights are drawn", one[0] == many[0] == 0 and same, many[2])
    runs.both(*data, "--steps", 6, "--save", "{}.st", "--log", "{}.jsonl", "--check-arena")
    a, b = (read_safetensors(runs.work / f"{n}.st") for n in ("one", "all"))
    checks.check("one file, as one rank's", {n: x.shape for n, x in a.items()} == {n: x.shape for n, x in b.items()})
    losses = [[x["loss"] for x in read_log(runs.work / f"{n}.jsonl")] for n in ("one", "all")]
    checks.close("the losses", losses[1], losses[0], 1e-5)
    one, many = runs.both("--load", "one.st", "--predict", "data", "-o", "{}.npz", "--eval-data", "data", "--quiet")
    checks.check("the loss of evaluation, once", len(many[1].splitlines()) == 1, many[1].strip())
    checks.close("its number", float(many[1].split()[1]), float(one[1].split()[1]), 1e-5)
    a, b = (np.load(runs.work / f"{n}.npz") for n in ("one", "all"))
    checks.close("predictions", b["logits"], a["logits"], 1e-5)
    one, many = runs.both("--load", "one.st", "--generate", 12, "--prompt", "!?", "--temperature", 0)
    checks.check("text", one == many and one[0] == 0, f"{one} {many}")


def test_messages(checks, runs):
    name = runs.all.name
    bad = runs.work / "bad"
    inputs = {n: np.load(runs.folder / f"{n}.npy") for n in ("input_ids", "labels")}
    ids, labels = inputs["input_ids"].copy(), inputs["labels"].copy()
    ids[2, 5], labels[3, 7] = 1000, 1001
    write_data(bad, {"input_ids": ids, "labels": inputs["labels"]})
    write_data(runs.work / "bad_labels", {"input_ids": inputs["input_ids"], "labels": labels})
    train = ["--no-shuffle", "--quiet", "--save", "never", "--data"]
    one = f"{name}: error: 1 rank was started, but the program has 4 ranks (x0=2, x1=2): mpirun -n 4"
    cases = [
        ("without mpirun", 0, 1, [*train, "data"], one),
        ("too many ranks", 5, 1, [*train, "data"], one.replace("1 rank was", "5 ranks were")),
        ("an option", 4, 2, ["--datum", "data"], f"{name}: error: unknown option '--datum' (did you mean '--data'?)"),
        ("no data", 4, 1, [*train, "gone"], f"{name}: error: gone: No such file or directory"),
        ("a label", 4, 1, [*train, "bad_labels"], f"{name}: error: step 1: sample 3, position 7: label 1001 is out of range"),
    ]
    for what, ranks, status, options, said in cases:
        found = runs.run(*options, ranks=ranks)
        checks.check(f"{what}: one message", (found[0], found[2]) == (status, said), str(found))
    status, _, said = runs.run(*train, "bad")
    text = f"{name}: error: input 'input_ids': sample 2, position 5: 1000 is out of range, -97 to 96"
    checks.check("an index: one message", status == 1 and said.count("error") == 1 and said.startswith(text), said)
    checks.check("nothing is written", is_clean(runs) and not (runs.work / "never").exists())


def children(p):
    return [int(x) for x in Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()]


def start_endless(runs, saved):
    """Starts a long run and waits for some steps; returns its ranks."""
    log = runs.work / "endless.jsonl"
    log.unlink(missing_ok=True)
    options = ["--data", "data", "--epochs", 1 << 40, "--log", log.name, "--save", saved, "--quiet"]
    p = runs.start(options)
    for _ in range(600):
        if log.exists() and log.stat().st_size > 1000:
            break
        time.sleep(0.05)
    return p, children(p), log


def test_signals(checks, runs):
    p, ranks, log = start_endless(runs, "stopped")
    os.kill(ranks[2], signal.SIGINT)
    p.communicate(timeout=60)
    steps = read_log(log)[-1]["step"]
    checks.check("Ctrl-C to one rank ends all", p.returncode == 130, str(p.returncode))
    runs.run("--data", "data", "--steps", steps, "--save", "again", "--quiet")
    same = (runs.work / "stopped").read_bytes() == (runs.work / "again").read_bytes()
    checks.check("after the same step, saved", same, f"{steps} steps")
    p, ranks, log = start_endless(runs, "killed")
    start = time.monotonic()
    os.kill(ranks[1], signal.SIGKILL)
    p.communicate(timeout=60)
    seconds = time.monotonic() - start
    checks.check("a rank that is killed ends all", p.returncode != 0 and seconds < 10, f"{seconds:.1f} s")
    checks.check("nothing is left", is_clean(runs) and not (runs.work / "killed").exists())


def are_gone(ranks, seconds):
    """Do all these processes end within that many seconds?"""
    end = time.monotonic() + seconds
    while any(Path(f"/proc/{r}").exists() for r in ranks):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_interrupts(checks, runs):
    """The second Ctrl-C ends mpirun immediately, without a signal to its ranks; they end too."""
    for wait in 0, 0.3:
        p, ranks, _ = start_endless(runs, "twice")
        p.send_signal(signal.SIGINT)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        gone = are_gone(ranks, 5)
        checks.check(f"Ctrl-C twice, {wait} s apart, leaves no process", len(ranks) == RANKS and gone, str(ranks))
        for rank in [] if gone else ranks:
            os.kill(rank, signal.SIGKILL)
    p, ranks, _ = start_endless(runs, "twice")
    p.kill()
    p.communicate(timeout=60)
    checks.check("nor does mpirun's death", are_gone(ranks, 5), str(ranks))


def test_lost_while_saving(checks, runs):
    """If a rank is killed while all save, the others remove the files that they wrote."""
    left, caught = [], 0
    for number in (0, 1, 3):
        p, ranks, _ = start_endless(runs, "lost")
        os.kill(ranks[1], signal.SIGINT)
        while p.poll() is None and not (left := list(runs.work.glob("lost.*"))):
            pass
        try:
            os.kill(ranks[number], signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.communicate(timeout=60)
        caught += bool(left) and p.returncode != 130
        left = list(runs.work.glob("lost.*"))
        checks.check(f"rank {number} is killed while saving: nothing is left", not left and are_gone(ranks, 5), str(left))
    checks.check("they were", caught, f"{caught} of 3 times")


def test_start(checks, runs):
    """A job ends with one message if one rank doesn't start MPI."""
    timeout = 1
    options = ["--data", "data", "--steps", 1, "--quiet", "--save", "never", "--timeout", timeout]
    message = f"{runs.all.name}: error: MPI's start took more than {timeout} s: a rank is missing, stuck or cut off, or runs another program"
    stopped = ["sh", "-c", f"kill -STOP $$; exec {runs.all} --data data"]
    slow_launcher = "kill -STOP $PPID; (sleep 2.6; kill -CONT $PPID) & kill -STOP $$"
    for what, program, place, are_said in (
        ("sleeps", ["sleep", "100"], 1, [[message]]),
        ("is stopped", stopped, 0, [[message]]),
        ("is stopped", stopped, 1, [[message]]),
        ("stops mpirun", ["sh", "-c", slow_launcher], 1, [[message], []]),  # mpirun may be killed before it goes on
        ("has --help", [runs.all, "--help"], 1, [[message], []]),
        ("ends", ["true"], 0, [[message], []]),  # which Open MPI may see first
    ):
        apps = [["-n", str(RANKS - 1), str(runs.all), *map(str, options)]]
        apps.insert(place, ["-n", "1", *map(str, program)])
        begin = time.monotonic()
        done = subprocess.run([*mpirun(1)[:-2], *apps[0], ":", *apps[1]], cwd=runs.work, env=ENV, text=True, capture_output=True, timeout=100)
        seconds = time.monotonic() - begin
        said = [x for x in done.stderr.splitlines() if x.startswith(f"{runs.all.name}: ")]
        which = "the last" if place else "the first"
        checks.check(f"{which} rank {what}: the job ends", done.returncode != 0 and seconds < timeout + 5, f"{done.returncode}, {seconds:.1f} s")
        checks.check(f"{which} rank {what}: one message", said in are_said, str(said))


def test_differences(checks, runs):
    """Ranks that run another program, or have other options, are refused."""
    options = ["--data", "data", "--steps", "2", "--quiet"]
    other = runs.model.compile("other", None, "--init", "normal(0.06)", "--no-weights", "--ranks", RANKS, "--mesh", MESH)
    name = runs.all.name
    inputs = {n: np.load(runs.folder / f"{n}.npy") for n in ("input_ids", "labels")}
    samples = len(inputs["labels"])
    write_data(runs.work / "short", {n: x[:-1] for n, x in inputs.items()})
    inputs["labels"].flat[-1] ^= 1
    write_data(runs.work / "changed", inputs)
    for what, program, more, said in (
        ("another --lr", runs.all, ["--lr", "0.25"], "--lr: rank 0 has none, rank 3 0.25"),
        ("another number of steps", runs.all, ["--steps", "3"], "--steps: rank 0 has 2, rank 3 3"),
        ("another schedule", runs.all, ["--schedule", "cosine"], "--schedule: rank 0 has constant, rank 3 cosine"),
        ("a flag", runs.all, ["--no-shuffle"], "--no-shuffle: rank 0 has none, rank 3 it"),
        ("evaluation", runs.all, ["--eval-data", "data"], "--eval-data: rank 0 has none, rank 3 one"),
        ("other data", runs.all, ["--data", "changed"], "--data: rank 0 has samples of checksum "),
        ("less data", runs.all, ["--data", "short"], f"--data: rank 0 has {samples} samples, rank 3 {samples - 1} samples"),
        ("another program", other, [], "options of the program: rank 0 has "),
    ):
        apps = [["-n", str(RANKS - 1), str(runs.all), *options], ["-n", "1", str(program), *options, *more]]
        command = [*mpirun(1)[:-2], *apps[0], ":", *apps[1]]
        done = subprocess.run(command, cwd=runs.work, env=ENV, text=True, capture_output=True, timeout=100)
        found = [x for x in done.stderr.splitlines() if x.startswith((f"{name}: ", "other: "))]
        is_said = len(found) == 1 and found[0].startswith(f"{name}: error: {said}")
        checks.check(f"one rank has {what}", done.returncode == 1 and is_said, f"{done.returncode} {found}")


def test_shared_memory(checks, runs):
    """/dev/shm is full, which is a small file system where mounting is allowed."""
    mount = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], capture_output=True).returncode:
        checks.check("a full /dev/shm: can't be tried here", True)
        return
    command = [str(x) for x in [*mount, *mpirun(RANKS), runs.all, "--data", "data", "--steps", 1, "--quiet"]]
    done = subprocess.run(command, cwd=runs.work, env=ENV, text=True, capture_output=True, timeout=100)
    said = [x for x in done.stderr.splitlines() if x.startswith(f"{runs.all.name}: ")]
    message = f"{runs.all.name}: error: no space for 1024 KiB of shared memory for each rank of a host: df /dev/shm, ulimit -f"
    checks.check("a full /dev/shm", done.returncode == 1 and said == [message], f"{done.returncode} {said}")


def test_cut(checks, runs):
    """Data that is cut short while the ranks read it gives one message."""
    inputs = {n: np.load(runs.folder / f"{n}.npy") for n in ("input_ids", "labels")}
    write_data(runs.work / "cut", {n: np.concatenate([x] * 400) for n, x in inputs.items()})
    log = runs.work / "cut.jsonl"
    p = runs.start(["--data", "cut", "--epochs", 1 << 30, "--quiet", "--log", log, "--save", "never"])
    while p.poll() is None and not (log.exists() and log.stat().st_size > 500):
        time.sleep(0.01)
    os.truncate(runs.work / "cut/labels.npy", 5000)
    said = [x for x in p.communicate(timeout=60)[1].splitlines() if x.startswith(runs.all.name)]
    size = 128 + 8 * inputs["labels"].size * 400
    message = f"{runs.all.name}: error: cut/labels.npy: it was cut short while it was read: 5000 of {size} bytes are left"
    checks.check("data cut short: one message", p.returncode == 1 and said == [message], f"{p.returncode} {said}")
    checks.check("data cut short: nothing is written", is_clean(runs) and not (runs.work / "never").exists())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--shardcc", type=lambda s: Path(s).resolve(), default=Path("build/shardcc"))
    options.add_argument("--model", type=Path, default=REPOSITORY / "models/tiny/gpt2.onnx")
    o = options.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        runs = Runs(Model(o.model, o.shardcc, Path(work), cc=QUICK_CC))
        tests = (test_lost_while_saving, test_start, test_interrupts, test_signals, test_messages, test_files, test_cut,
                 test_shared_memory, test_differences)
        # They mostly wait: for limits of time, and for the end of mpirun.
        side_by_side(3, *(partial(test, checks, runs.beside(test.__name__)) for test in tests))
    checks.finish()


if __name__ == "__main__":
    main()
