#!/usr/bin/env python3
"""How soon a trainer is at its first step, how much memory its weights take, and how soon a killed job goes on.

  start.py --shardcc build/shardcc --work DIR [--rounds 3] [--built] [memory] [bytes] [gpt2] [restart]

memory: 4 ranks load 2 GiB of weights; the memory without a file of each, when it is at its first step, beyond the bytes of its
pieces. bytes: 4 ranks load 6 GiB, products of LLaMA 8B's shapes; the seconds from exec to the first step over those in which 4
processes read a quarter of the file each into memory, from the page cache and from disk. gpt2: seconds from the exec of GPT-2
124M to its first step, with weights from its file and from a checkpoint. Of both the least of all rounds. restart: seconds
from the end of `shardcc run`'s job, of which a rank was killed, to its next step.

A trainer opens its log when all ranks have loaded their weights. Here the log is a pipe, so it waits there for its reader.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from measure import held, run
from models import ROOT, TRAINING, build, export

sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import MPI_ENV, mpirun, write_data  # noqa: E402
from onnx_bytes import external, model, node, value  # noqa: E402

MIB = 1 << 20
LAYERS, WIDTH = 32, 4096  # of float32: 2 GiB
BLOCKS, INNER = 14, 14336  # pairs of products as in LLaMA 8B's: 6.1 GiB
ENV = {**MPI_ENV, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
RANKS = 4  # of large models
STILL = 0.5  # seconds in which the memory of a trainer that waits doesn't change


class Waiting:
    """A trainer that has loaded its weights and waits to begin. A shell notes when each rank begins."""

    def __init__(self, work, ranks, trainer, *options):
        self.pipe, self.began = work / "start.log", work / "start.began"
        for path in (self.pipe, self.began):
            path.unlink(missing_ok=True)
        os.mkfifo(self.pipe)
        shell = ["sh", "-c", f'date +%s.%N >> {self.began}; exec "$@"', "sh"]
        command = [*(mpirun(ranks) if ranks > 1 else []), *shell, trainer, "--quiet", "--log", self.pipe, *options]
        self.process = subprocess.Popen([str(c) for c in command], env=ENV, stdout=subprocess.DEVNULL)

    def go_on(self):
        """Lets it begin; returns the seconds since the first rank's exec."""
        with open(self.pipe, "rb") as log:
            now = time.time()
            log.read()
        if self.process.wait():
            raise SystemExit(f"the trainer ended with status {self.process.returncode}")
        return now - min(map(float, self.began.read_text().split()))

    def most_memory(self, least):
        """MiB of the rank that has most, once that doesn't change any more and is above `least`."""
        last, since = 0, time.monotonic()
        while last < least or time.monotonic() - since < STILL:
            if self.process.poll() is not None:
                raise SystemExit(f"the trainer ended with status {self.process.returncode}")
            now = held(self.process.pid)
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.01)
        return last


def row(what, found, limit):
    print(f"{what:58s} {found:>12s}   {limit}", flush=True)


def large_model(work, name, shapes):
    """A chain of products."""
    weights = [f"w{i}" for i in range(len(shapes))]
    values = ["x", *(f"y{i}" for i in range(len(shapes) - 1)), "logits"]
    nodes = [node("MatMul", [values[i], w], [values[i + 1]], f"mm{i}") for i, w in enumerate(weights)]
    begins = np.cumsum([0, *(4 * m * n for m, n in shapes)]).tolist()
    stored = [external(w, list(shape), f"{name}.bin", at) for w, shape, at in zip(weights, shapes, begins, strict=False)]
    ends = [value(end, "f32", [4, WIDTH]) for end in ("x", "logits")]
    (work / f"{name}.onnx").write_bytes(model(nodes, ends[:1], ends[1:], stored))
    with open(work / f"{name}.bin", "wb") as f:
        for m, n in shapes:
            np.full((m, n), 1e-3, np.float32).tofile(f)
    data = np.zeros((4, WIDTH), np.float32)
    write_data(work / f"{name}_data", {"x": data, "labels": data})


def large_trainer(o, name, shapes, memory):
    """A trainer for RANKS ranks that have a piece of each weight; the bytes of the weights."""
    trainer = o.work / name
    weights = sum(4 * m * n for m, n in shapes)
    if not o.built:
        large_model(o.work, name, shapes)
        run([o.shardcc, o.work / f"{name}.onnx", "-o", trainer, "--loss", "mse(logits, labels)", "--optimizer", "sgd(lr=1e-3)",
             "--ranks", RANKS, "--memory", memory])  # fmt: skip
    return trainer, weights


def memory(o):
    trainer, weights = large_trainer(o, "large", [(WIDTH, WIDTH)] * LAYERS, "900MiB")
    pieces = weights / RANKS / MIB
    job = Waiting(o.work, RANKS, trainer, "--data", o.work / "large_data", "--steps", 0)
    most = job.most_memory(pieces)
    job.go_on()
    row(f"{weights / MIB:.0f} MiB of weights on {RANKS} ranks, beyond pieces of {pieces:.0f} MiB", f"{most - pieces:.1f} MiB", "64 MiB")


def forget(path):
    """Takes a file out of the page cache."""
    with open(path, "r+b") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


READER = """
import sys, numpy as np
path, at, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
to = np.empty(n, np.uint8)
with open(path, "rb", buffering=0) as f:
    f.seek(at)
    while n > 0:
        n -= f.readinto(to[len(to) - n:])
"""


def read_seconds(path):
    """Seconds in which as many processes as ranks read the file into memory, each its part."""
    part = path.stat().st_size // RANKS
    begin = time.monotonic()
    readers = [subprocess.Popen([sys.executable, "-c", READER, path, str(k * part), str(part)]) for k in range(RANKS)]
    if any([r.wait() for r in readers]):
        raise SystemExit(f"{path} can't be read")
    return time.monotonic() - begin


def bytes_read(o):
    trainer, weights = large_trainer(o, "shaped", [(WIDTH, INNER), (INNER, WIDTH)] * BLOCKS, "2600MiB")
    file = trainer.with_suffix(".safetensors")
    for place, prepare in (("page cache", lambda _: None), ("disk", forget)):
        starts, reads = [], []
        for _ in range(o.rounds):
            prepare(file)
            reads.append(read_seconds(file))
            prepare(file)
            starts.append(Waiting(o.work, RANKS, trainer, "--data", o.work / "shaped_data", "--steps", 0).go_on())
        what = f"{weights / MIB:.0f} MiB, {RANKS} ranks, {place}: {min(starts):.2f} s to the first step"
        row(what, f"{min(starts) / min(reads):.2f} x", "reading")


def two_ranks(o):
    """GPT-2 for two ranks."""
    trainer = o.work / "gpt2_two"
    if not o.built:
        run([o.shardcc, export("gpt2", o.work), "-o", trainer, *TRAINING, "--ranks", 2])
    return trainer


def gpt2(o):
    one, data = build("gpt2", o.shardcc, o.work, o.built)
    two, runs = two_ranks(o), o.work / "start_runs"
    shutil.rmtree(runs, ignore_errors=True)
    options = ["--data", data, "--no-shuffle", "--epochs", 1 << 30]
    run([one, *options, "--quiet", "--steps", 1, "--checkpoint", runs])
    for what, ranks, trainer, more in (
        ("1 rank", 1, one, ["--steps", 0]),
        ("2 ranks", 2, two, ["--steps", 0]),
        ("1 rank, --resume", 1, one, ["--steps", 1, "--checkpoint", runs, "--resume"]),
    ):
        seconds = [Waiting(o.work, ranks, trainer, *options, *more).go_on() for _ in range(o.rounds)]
        row(f"GPT-2 124M, from exec to the first step: {what}", f"{min(seconds):.3f} s", "1 s")
    shutil.rmtree(runs)


def ranks_of(pid, name):
    """The processes below `pid` that run the program of that name."""
    try:
        below = [int(c) for t in Path(f"/proc/{pid}/task").glob("*/children") for c in t.read_text().split()]
        words = [Path(f"/proc/{c}/cmdline").read_bytes().split(b"\0")[0].decode() for c in below]
    except OSError:  # one of them has ended
        return []
    own = [c for c, word in zip(below, words) if Path(word).name == name]
    return own + [c for b in below for c in ranks_of(b, name)]


def restart(o):
    _, data = build("gpt2", o.shardcc, o.work, o.built)
    trainer, runs, seconds = two_ranks(o), o.work / "start_runs", []
    for k in range(o.rounds):
        shutil.rmtree(runs, ignore_errors=True)
        job = subprocess.Popen(
            [str(x) for x in (o.shardcc, "run", "--", trainer, "--data", data, "--no-shuffle", "--quiet", "--epochs", 1 << 30, "--steps", 10,
             "--checkpoint", runs, "--checkpoint-every", 4, "--keep", 1)], env=ENV, text=True, stderr=subprocess.PIPE)  # fmt: skip
        while not list(runs.glob("step-*/MANIFEST")) and job.poll() is None:
            time.sleep(0.05)
        os.kill(ranks_of(job.pid, trainer.name)[k % 2], signal.SIGKILL)
        killed = time.monotonic()
        for line in job.stderr:
            if "is at its next step" in line:
                seconds.append(time.monotonic() - killed)
        if job.wait() or len(seconds) <= k:
            raise SystemExit(f"shardcc run ended with status {job.returncode}")
    shutil.rmtree(runs)
    row("GPT-2 124M on 2 ranks, from a killed rank to the next step", f"{max(seconds):.1f} s", "10 s")


PARTS = {"memory": memory, "bytes": bytes_read, "gpt2": gpt2, "restart": restart}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--built", action="store_true", help="use what an earlier run has built")
    o = p.parse_args()
    for part in o.parts:
        if part not in PARTS:
            p.error(f"no part named {part}: there are {' '.join(PARTS)}")
    o.work.mkdir(parents=True, exist_ok=True)
    print(f"{'':58s} {'measured':>12s}   limit")
    for part in o.parts or PARTS:
        PARTS[part](o)


if __name__ == "__main__":
    main()
