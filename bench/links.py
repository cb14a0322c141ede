#!/usr/bin/env python3
"""Ranks on two hosts with a slow link between, all on this machine: four tables.

  links.py --shardcc build/shardcc --work DIR --hosts SCRIPT [--quick] [--steps 3] [--rounds 2] [PART ...]

all_reduce: a sum of f32 over all ranks, by MPI and by TCP alternately. Mbit/s: the bytes that must cross the link in
one direction, over the least of the median times; with two hosts, these are the bytes of the tensor. /mpi: TCP's time
over MPI's.

plans: a model's step on each link, with the searched plan and with presets. Each is the best plan of its kind
for the rates that `shardcc detect` measured there. Median ms, and in brackets the simulated step. Equal plans
run once. /best: the searched plan's median over the least of all.

overlap: the time that it hides, for the searched plan and two presets. Median ms of a step with --no-overlap
and without. For the former, the times that --profile shows for computation and for collectives. ahead: the part
of the collectives that the program starts ahead of their use; the very next call needs the rest. hidden: the
time gained over the time that could be gained, which is the lesser of computation and of collectives ahead.

faults: seconds until mpirun ends after a rank was killed, and after the link went down silently; and the
messages printed. A wait for a rank ends after TIMEOUT seconds.
"""
import argparse
import math
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from jobs import compile_plan, make_plan
from measure import Failure, Side, run, what_went_wrong
from models import WARM_UP, build, our_steps

PREFIX = "sl"
HOSTS = 2
PORT = 29500  # where ranks of TCP meet
SLOTS = [1, 2]
LINKS = [(100, 0), (200, 0), (500, 0), (1000, 0), (1000, 1000)]  # Mbit/s, microseconds one way
QUICK_LINKS = [(200, 0), (1000, 0)]
MEBIBYTES = [4, 16, 64]
MODELS = {"nanogpt": "GPT 6 layers 8x256", "resnet": "ResNet-50 8"}
WAYS = ["ddp", "zero1", "fsdp", "megatron"]
TIMEOUT = 10
EXCHANGE = re.compile(r"\b(all_gather|all_reduce|all_to_all|reduce_scatter|permute)\b")
START = re.compile(r"\bstart ")


# ---- hosts ----


@dataclass
class Hosts:
    """Two hosts with `slots` ranks each. They exist inside `with`."""

    script: Path
    slots: int
    rate: int
    latency: int

    def call(self, *words):
        run([self.script, "-p", PREFIX, *words])

    def __enter__(self):
        self.call("down")  # hosts that a killed run has left
        self.call("-n", HOSTS, "-s", self.slots, "-b", f"{self.rate}mbit", "-l", self.latency, "up")
        return self

    def __exit__(self, *_):
        self.call("down")

    @property
    def ranks(self):
        return HOSTS * self.slots

    def mpirun(self):
        return [self.script, "-p", PREFIX, "run", "-np", self.ranks]

    def __str__(self):
        return f"{HOSTS}x{self.slots} {self.rate:4d} Mbit/s" + (f" + {self.latency // 1000} ms" if self.latency else "")


def each_hosts(options):
    for slots in SLOTS[:1] if options.quick else SLOTS:
        for rate, latency in QUICK_LINKS if options.quick else LINKS:
            with Hosts(options.hosts, slots, rate, latency) as hosts:
                yield hosts


# ---- sums ----


def table_all_reduce(options):
    programs = options.shardcc.parent / "bench"
    heads = "".join(f"  {f'{m} MiB mpi':>11s} {'tcp':>6s} {'/mpi':>5s}" for m in MEBIBYTES)
    print(f"{'all-reduce, Mbit/s':24s}{heads}", flush=True)
    ratios = []
    for hosts in each_hosts(options):
        text = f"{hosts!s:24s}"
        master = {"mpi": [], "tcp": [f"{PREFIX}0", PORT]}
        for mebibytes in MEBIBYTES:
            best = dict.fromkeys(master, math.inf)
            for _ in range(options.rounds):
                for name, more in master.items():
                    program = [programs / f"all_reduce_{name}", hosts.ranks, mebibytes, *more]
                    best[name] = min(best[name], float(run([*hosts.mpirun(), *program])[0]))
            mpi, tcp = (8e-6 * (mebibytes << 20) * 2 * (HOSTS - 1) / HOSTS / best[name] for name in master)
            ratios.append(mpi / tcp)
            text += f"  {mpi:11.0f} {tcp:6.0f} {ratios[-1]:5.2f}"
        print(text, flush=True)
    print(f"TCP's time over MPI's, geometric mean: {statistics.geometric_mean(ratios):.2f}", flush=True)


# ---- plans ----


def key_of(plan):
    """A key that is equal for equal plans: specs and strategies count, predictions don't."""
    kept = ("spec", "forward", "backward", "update")
    entries = [[x.get(k) for k in kept] for x in plan["values"] + plan["nodes"]]
    return repr([[a["size"] for a in plan["mesh"]], entries])


class Planned:
    """A model's plans by preset (or searched), on any hosts, and a trainer for each different plan."""

    def __init__(self, name, options):
        self.name, self.options, self.trainers = name, options, {}
        trainer, self.data = build(name, options.shardcc, options.work)
        self.weights = trainer.with_suffix(".safetensors")

    def plan(self, way, hosts, cluster):
        """Returns a trainer, and its simulated seconds."""
        o = self.options
        model, path = o.work / f"{self.name}.onnx", o.work / f"{self.name}_{way}.plan.json"
        preset = ["--plan-preset", way] if way in WAYS else []
        plan = make_plan(o.shardcc, model, path, cluster, "--ranks", hosts.ranks, *preset)
        key = key_of(plan)
        if key not in self.trainers:
            trainer = o.work / f"{self.name}_links{len(self.trainers)}"
            compile_plan(o.shardcc, model, path, cluster, trainer)
            self.trainers[key] = trainer
        return self.trainers[key], plan["simulated"]

    def row(self, hosts, cluster):
        found, sides, problems, o = {}, {}, [], self.options
        for way in ["search", *WAYS]:
            try:
                found[way] = self.plan(way, hosts, cluster)
            except Failure as e:
                problems.append(f"{way}: {e}")
        for _ in range(o.rounds):
            for trainer in dict.fromkeys(trainer for trainer, _ in found.values()):
                side = sides.setdefault(trainer, Side())
                side.add(lambda: our_steps([*hosts.mpirun(), trainer], self.data, o.steps, 1, "--load", self.weights))
        return self.text(hosts, {way: (sides[t], s) for way, (t, s) in found.items()}, problems)

    def text(self, hosts, found, problems):
        cells = ""
        for way in ["search", *WAYS]:
            side, foreseen = found.get(way, (Side(), 0))
            cell = f"{1e3 * side.median:.0f} ({1e3 * foreseen:.0f})" if side.is_whole else "-"
            cells += f"  {cell:>13s}"
        best = min((s for s, _ in found.values() if s.is_whole), key=lambda s: s.median, default=None)
        ratio = found["search"][0].over(best) if best and "search" in found else "-"
        problems += [f"{way}: {s.problem}" for way, (s, _) in found.items() if s.problem]
        lines = "".join(f"\n    {p}" for p in problems)
        return f"{MODELS[self.name]:18s}  {hosts!s:24s}{cells}  {ratio:>5s}{lines}"


def detect(hosts, options):
    path = options.work / "links.cluster.json"
    path.unlink(missing_ok=True)
    run([*hosts.mpirun(), options.shardcc, "detect", "--threads", 1, "-o", path])
    return path


def table_plans(options):
    planned = [Planned(name, options) for name in (["nanogpt"] if options.quick else MODELS)]
    heads = "".join(f"  {way:>13s}" for way in ["search", *WAYS])
    print(f"{'ms a step':18s}  {'':24s}{heads}  {'/best':>5s}", flush=True)
    for hosts in each_hosts(options):
        cluster = detect(hosts, options)
        for p in planned:
            print(p.row(hosts, cluster), flush=True)


# ---- overlap ----


def exchanges(profile):
    """Milliseconds of a step in collectives, and in those that start ahead, from the table of calls."""
    rows = profile.partition("\ncall ")[2].partition("\n\n")[0].splitlines()[1:]
    calls = [(row[:72], float(row[72:].split()[1])) for row in rows if EXCHANGE.search(row[:72])]
    return sum(ms for _, ms in calls), sum(ms for call, ms in calls if START.search(call))


class Overlapped(Planned):
    def row(self, hosts, cluster, way):
        with_it, without, talk = Side(), Side(), []
        trainer, _ = self.plan(way, hosts, cluster)
        for _ in range(self.options.rounds):
            with_it.add(lambda: self.steps(hosts, trainer))
            without.add(lambda: self.steps(hosts, trainer, "--no-overlap"))
            talk.append(exchanges(run(self.command(hosts, trainer, "--no-overlap", "--profile"))[0]))
        if with_it.problem or without.problem:
            return f"{hosts!s:24s}  {way:10s}  {with_it.problem or without.problem}"
        gained = 1e3 * (without.median - with_it.median)
        talks, ahead = (statistics.median(ms) for ms in zip(*talk))
        computes = 1e3 * without.median - talks
        text = f"{MODELS[self.name]:18s}  {hosts!s:24s}  {way:10s}{1e3 * without.median:9.0f}{1e3 * with_it.median:9.0f}"
        hidden = f"{100 * gained / min(computes, ahead):5.0f}%" if ahead else "-"
        return f"{text}{computes:9.0f}{talks:9.0f}{ahead:9.0f}  {hidden:>6s}"

    def command(self, hosts, trainer, *more):
        steps = ["--steps", WARM_UP + self.options.steps, "--threads", 1, "--quiet"]
        return [*hosts.mpirun(), trainer, "--data", self.data, "--load", self.weights, *steps, *more]

    def steps(self, hosts, trainer, *more):
        more = "--load", self.weights, *more
        return our_steps([*hosts.mpirun(), trainer], self.data, self.options.steps, 1, *more)


def table_overlap(options):
    models = [Overlapped(name, options) for name in (["nanogpt"] if options.quick else MODELS)]
    heads = "".join(f"{head:>9s}" for head in ("without", "with", "compute", "exchange", "ahead"))
    print(f"{'ms a step':18s}  {'':24s}  {'':10s}{heads}  {'hidden':>7s}", flush=True)
    for hosts in each_hosts(options):
        cluster = detect(hosts, options)
        for model in models:
            for way in "search", "ddp", "fsdp":
                print(model.row(hosts, cluster, way), flush=True)


# ---- faults ----


def ranks_of(trainer):
    """The ids of the processes that run a program, in ascending order."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == str(trainer).encode():
            found.append(int(path.parent.name))
    return sorted(found)


def end_of(hosts, trainer, model, fault):
    """Causes a fault in the middle of a run. Returns the seconds until the run ends, and its messages."""
    log = model.options.work / "faults.jsonl"
    log.unlink(missing_ok=True)
    command = [*hosts.mpirun(), trainer, "--data", model.data, "--load", model.weights]
    command += ["--epochs", 1 << 40, "--quiet", "--log", log, "--timeout", TIMEOUT]
    with tempfile.TemporaryFile("w+") as said:
        job = subprocess.Popen([str(c) for c in command], stdout=said, stderr=said)
        while job.poll() is None and not (log.exists() and log.read_text().count("loss") > 2):
            time.sleep(0.1)
        if job.poll() is not None:
            said.seek(0)
            raise Failure(what_went_wrong(said.read().splitlines(), job.returncode))
        start = time.monotonic()
        fault()
        job.wait()
        seconds = time.monotonic() - start
        said.seek(0)
        lines = [x.strip() for x in said]
        own = [x for x in lines if x.startswith(f"{trainer.name}: ")]
        return seconds, own or [x for x in lines if "rank" in x][:1]


def table_faults(options):
    rate, latency = QUICK_LINKS[-1]
    with Hosts(options.hosts, 1, rate, latency) as hosts:
        model = Planned("nanogpt", options)
        trainer, _ = model.plan("ddp", hosts, detect(hosts, options))
        faults = {
            "a rank is killed": lambda: os.kill(ranks_of(trainer)[-1], signal.SIGKILL),
            f"the link is down, --timeout {TIMEOUT}": lambda: hosts.call("link", HOSTS - 1, "down"),
        }
        for what, fault in faults.items():
            seconds, said = end_of(hosts, trainer, model, fault)
            print(f"{what:36s} {seconds:6.1f} s" + "".join(f"\n    {line}" for line in said), flush=True)


PARTS = {"all_reduce": table_all_reduce, "plans": table_plans, "overlap": table_overlap, "faults": table_faults}


def read_options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--hosts", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--quick", action="store_true", help="one rank a host, two links, one model")
    p.add_argument("--steps", type=int, default=3, help="that count, of each run")
    p.add_argument("--rounds", type=int, default=2)
    options = p.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        p.error(f"no part named {unknown[0]}: there are {' '.join(PARTS)}")
    return options


def main():
    options = read_options()
    options.work.mkdir(parents=True, exist_ok=True)
    for part in options.parts or PARTS:
        PARTS[part](options)


if __name__ == "__main__":
    main()
