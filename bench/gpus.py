#!/usr/bin/env python3
"""Several GPUs of one machine: how fast are their collectives, how long do the steps of models take, and what does each wait for?

  gpus.py --ranks 8 --shardcc build/shardcc --work DIR [--build DIR | --run DIR] [--least 1M] [--most 1G] [--steps 20]
          [--cluster FILE] [--collectives nccl|host] [--timeout 600] [NAME ...]

Collectives of all GPUs, as trainers call them (`ours`) and as plain calls of NCCL, both recorded in graphs: microseconds of
a call on the slowest GPU, and the bandwidth of the bus as NCCL's tests define it (doc/PERFORMANCE.md of NVIDIA/nccl-tests): size / time
times 2(n-1)/n for an all_reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all, 1 for a permute, which sends and
receives. The size is that of the whole tensor. `bits`: both, run directly and from a graph, give the same bytes. A permute goes between
two axes of the mesh, so that GPUs send in pairs, and the first and the last one don't; 2 GPUs, and prime numbers of them, have none.

Models: the median step with graphs; what is predicted of it; and, of a run with --profile, the means over the GPUs of computation,
of exchanges that a GPU waits for (exposed), and of those that go on while it computes (hidden), each with its prediction,
which is of the cluster's file (default: h100xN's data sheet). `speed`: samples a second over one GPU's, whose batch is the same on
each. `shardcc inspect --run` shows more of the logs, which stay in the folder.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

from gpu_jobs import MODELS, WARM_UP, build_job, build_probe, train
from measure import Failure, run

DEFAULT = ("gpt2_small", "bert_large", "resnet50")
PROFILED = 5
COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "permute", "reduce_scatter")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def byte_count(text):
    number, unit = (text[:-1], text[-1]) if text[-1:] in "KMG" else (text, "")
    return int(number) * UNITS[unit]


def size_text(bytes):
    unit = next(u for u in "GMK" if bytes >= UNITS[u] or u == "K")
    return f"{bytes / UNITS[unit]:g} {unit}iB"


# ---- collectives ----


def bus_bandwidth(kind, bytes, seconds, ranks):
    """Bytes a second, by the formulas of NCCL's tests."""
    share = (ranks - 1) / ranks
    return bytes / seconds * {"all_reduce": 2 * share, "permute": 1}.get(kind, share)


def axes_of(ranks):
    """Two axes of a permute; None: there are none of two ranks or more."""
    first = next((p for p in range(2, ranks) if ranks % p == 0), None)
    return first and f"{first}x{ranks // first}"


def measure_collectives(options, folder):
    """The lines that the probe prints of all collectives, and what exchanges."""
    lines = []
    for mesh in filter(None, (str(options.ranks), axes_of(options.ranks))):
        words = ["collectives", options.least, options.most, options.collectives, options.ranks, mesh]
        said, _ = run([folder / "probe", *words], timeout=options.timeout)
        head, *rows = map(json.loads, said.splitlines())
        lines += rows
        exchange = head["exchange"] if mesh == str(options.ranks) else exchange
    return exchange, sorted(lines, key=lambda x: (COLLECTIVES.index(x["collective"]), x["bytes"]))


def collective_row(x, ranks):
    cells = f"{x['collective']:15s} {size_text(x['bytes']):>10s}"
    for key in ("seconds", "plain_seconds"):
        rate = x.get(key) and bus_bandwidth(x["collective"], x["bytes"], x[key], ranks)
        cells += f" {1e6 * x[key]:10.1f} {1e-9 * rate:8.2f}" if rate else f" {'-':>10s} {'-':>8s}"
    ratio = f"{x['seconds'] / x['plain_seconds']:.2f}" if "plain_seconds" in x else "-"
    return f"{cells} {ratio:>7s}  {'same' if x['same_bits'] else 'DIFFERENT'}"


def print_collectives(options, folder):
    """Returns whether all results have the same bits."""
    exchange, lines = measure_collectives(options, folder)
    print(f"{options.ranks} GPUs, {exchange}\n")
    print(f"{'':15s} {'':>10s} {'ours us':>10s} {'GB/s':>8s} {'NCCL us':>10s} {'GB/s':>8s} {'ratio':>7s}  bits")
    for x in lines:
        print(collective_row(x, options.ranks))
    if not axes_of(options.ranks):
        print(f"{'permute':15s} {'-':>10s}")
    return all(x["same_bits"] for x in lines)


# ---- models ----


class Times:
    """Seconds of a step of one number of ranks: measured and predicted ones."""

    def __init__(self, options, trainer, ranks):
        data, plan = trainer.with_name(trainer.name + "_data"), trainer.with_name(trainer.name + ".plan.json")
        more = ["--spawn", ranks, *(["--collectives", options.collectives] if options.collectives != "any" else [])] if ranks > 1 else []
        steps, _ = train(trainer, data, WARM_UP + options.steps, *more)
        self.step = statistics.median(x["seconds"] for x in steps[WARM_UP:])
        _, calls = train(trainer, data, PROFILED, "--profile", *more)
        exchanges = [c for c in calls if "axis" in c]
        own = [c for c in calls if "axis" not in c]
        self.compute, self.predicted_compute = total(own, "seconds"), total(own, "predicted_seconds")
        self.exposed, exchange = total(exchanges, "seconds"), total(exchanges, "exchange_seconds")
        self.hidden = max(0, exchange - self.exposed)
        self.predicted = json.loads(plan.read_text())["simulated"] if ranks > 1 else self.predicted_compute
        self.predicted_exposed = max(0, self.predicted - self.predicted_compute)
        self.predicted_hidden = max(0, total(exchanges, "predicted_exchange_seconds") - self.predicted_exposed)

    def text(self):
        pairs = (self.step, self.predicted, self.compute, self.predicted_compute, self.exposed, self.predicted_exposed, self.hidden, self.predicted_hidden)
        return " ".join(f"{1e3 * x:9.3f}" for x in pairs)


def total(calls, key):
    return sum(c.get(key, 0) for c in calls)


def print_model(options, folder, name):
    model = MODELS[name](name, folder)
    one = Times(options, folder / f"{model.onnx.stem}_1", 1)
    all = Times(options, folder / f"{model.onnx.stem}_{options.ranks}", options.ranks)
    print(f"{model.title:22s} {1:4d} {one.text()} {1:7.2f}")
    print(f"{'':22s} {options.ranks:4d} {all.text()} {options.ranks * one.step / all.step:7.2f}", flush=True)


def print_models(options, folder):
    """Returns whether all have run."""
    heads = " ".join(f"{h:>9s} {'predicted':>9s}" for h in ("step", "compute", "exposed", "hidden"))
    print(f"\n{'ms of a step':22s} GPUs {heads} {'speed':>7s}", flush=True)
    failed = 0
    for name in options.names:
        try:
            print_model(options, folder, name)
        except (Failure, OSError) as e:
            print(f"{name:22s} {e}", flush=True)
            failed += 1
    return not failed


# ---- the whole ----


def read_options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(DEFAULT)}")
    p.add_argument("--ranks", type=int, default=8, help="how many GPUs")
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--build", type=lambda s: Path(s).resolve(), help="only build, into this folder")
    p.add_argument("--run", type=lambda s: Path(s).resolve(), help="only run what was built into this folder")
    p.add_argument("--gpu", default="sm_90")
    p.add_argument("--cuda", help="the toolkit's folder")
    p.add_argument("--cc", default="cc")
    p.add_argument("--cluster", help="what predicts: a file of shardcc detect (h100xN)")
    p.add_argument("--collectives", choices=("any", "nccl", "host"), default="any", help="how GPUs exchange")
    p.add_argument("--least", type=byte_count, default="1M", help="bytes of a collective: the first size, as 64K or 1M")
    p.add_argument("--most", type=byte_count, default="1G", help="the last one; each is 4 times the one before")
    p.add_argument("--steps", type=int, default=20, help="that count")
    p.add_argument("--timeout", type=float, default=600, help="seconds of all collectives")
    options = p.parse_args()
    options.names = options.names or DEFAULT
    if unknown := set(options.names) - set(MODELS):
        p.error(f"no model named {min(unknown)}: there are {' '.join(MODELS)}")
    if options.ranks < 2:
        p.error(f"--ranks: {options.ranks}; 2 GPUs at least")
    if not 0 < options.least <= options.most:
        p.error("--least and --most: no sizes between them")
    return options


def build(options, folder):
    cluster = options.cluster or f"h100x{options.ranks}"
    build_probe(options, folder)
    for name in options.names:
        model = MODELS[name](name, folder)
        for ranks in (1, options.ranks):
            build_job(options, model, folder, ranks, cluster, "--cc", options.cc)


def main():
    options = read_options()
    folder = options.build or options.run or options.work
    folder.mkdir(parents=True, exist_ok=True)
    if not options.run:
        build(options, folder)
    if options.build:
        return
    try:
        is_right = print_collectives(options, folder)
    except (Failure, OSError) as e:
        print(f"collectives: {e}", flush=True)
        is_right = False
    sys.exit(not (print_models(options, folder) and is_right))


if __name__ == "__main__":
    main()
