#!/usr/bin/env python3
"""Time for memory: how much longer a step takes that keeps less for the backward part, measured and predicted.

  recompute.py --shardcc build/shardcc --work DIR [--steps 8] [--rounds 5] [--threads 2] [NAME ...]

Each model has a trainer that keeps all, trainers within memories that leave a part of what all keep (`saved` of
shardcc profile; MiB, as the arena), and one of --recompute full. They run alternately, in separate processes; the first
two steps of a run don't count. measured: the median over all rounds, over that of the trainer that keeps all.
predicted: the same of simulated steps, with the speeds that shardcc detect found here. A row is marked noisy if its
median is well above its best.
"""
import csv

from measure import Failure, Side, run
from models import MODELS, TRAINING, check_table, export, our_steps, table_parser, write_batch

SHARES = {"resnet": (0.7, 0.5)}  # of what is saved; the others: a half


class Kept:
    """A trainer that keeps a part: its arena's bytes, those that wait when the backward part begins, and the seconds of
    its step, predicted and measured."""

    def __init__(self, name, part, options, how):
        self.part, self.side = part, Side()
        self.trainer = options.work / f"{name}_{part.strip('%')}"
        rows, arguments = options.work / f"{name}.csv", [*TRAINING, "--threads", options.threads, *how]
        model = export(name, options.work)
        run([options.shardcc, "profile", model, *arguments, "--cluster", options.cluster, "--csv", rows])
        run([options.shardcc, model, *arguments, "-o", self.trainer, *["--no-weights"] * bool(how)])
        with rows.open() as file:
            table = list(csv.DictReader(file))
        statements = [row for row in table if row["row"] == "statement"]
        self.predicted = sum(float(row["seconds"]) for row in statements)
        self.saved = next(int(row["saved"]) for row in statements if row["phase"].startswith("backward"))
        self.arena = next(int(row["bytes"]) for row in table if row["row"] == "arena")

    def slower(self, whole):
        """How much longer its step is than the other's, predicted and measured, in percent."""
        return (100 * (self.predicted / whole.predicted - 1), 100 * (self.side.median / whole.side.median - 1))


def build(name, options):
    """The trainers of a model, the first of which keeps all."""
    whole = Kept(name, "all", options, [])
    limits = [(f"{x:.0%}", int(whole.arena - (1 - x) * whole.saved)) for x in SHARES.get(name, (0.5,))]
    return [whole, *(Kept(name, part, options, ["--memory", n]) for part, n in limits),
            Kept(name, "least", options, ["--recompute", "full"])]


def measure(name, options):
    """Prints the rows of a model."""
    kept, data = build(name, options), write_batch(name, options.work)
    weights = kept[0].trainer.with_suffix(".safetensors")
    for _ in range(options.rounds):
        for x in kept:
            x.side.add(lambda: our_steps([x.trainer], data, options.steps, options.threads, "--load", weights))
    for x in kept:
        if x.side.problem:
            raise Failure(x.side.problem)
        predicted, measured = x.slower(kept[0])
        print(f"{MODELS[name]:20s}  {x.part:>5s} {x.saved / 2**20:8.1f} {x.arena / 2**20:8.1f}  {x.side.times()}"
              f"  {measured:+8.1f}% {predicted:+9.1f}%{'  noisy' if x.side.is_noisy else ''}", flush=True)


def main():
    p = table_parser(__doc__, MODELS)
    p.add_argument("--threads", type=int, default=2)
    p.set_defaults(rounds=5)
    options = p.parse_args()
    check_table(p, options, MODELS)
    options.work.mkdir(parents=True, exist_ok=True)
    options.cluster = options.work / f"local_{options.threads}.json"
    if not options.cluster.exists():
        run([options.shardcc, "detect", "--threads", options.threads, "-o", options.cluster])
    print(f"{'a step':20s}  {'kept':>5s} {'saved':>8s} {'arena':>8s}  {'ms':>9s} {'best':>8s}"
          f"  {'measured':>9s} {'predicted':>10s}")
    for name in options.names or MODELS:
        try:
            measure(name, options)
        except Failure as e:
            print(f"{MODELS[name]:20s}  {e}", flush=True)


if __name__ == "__main__":
    main()
