#!/usr/bin/env python3
"""Sharding and recomputation chosen together against each of them alone: two ranks with a thread each, one memory.

  joint.py --shardcc build/shardcc --work DIR [--steps 4] [--rounds 5] [NAME ...]

joint: the plan within the memory. sharding: the same with --recompute none. recompute: with --plan-preset ddp. The
trainers run alternately, with the same batch and the same weights. predicted: the simulated step, with the speeds that
shardcc detect found on two ranks here. /joint: the median over that of the joint plan. A row is marked noisy if its
median is well above its best.
"""
import sys

from jobs import compile_plan, make_plan, read_job
from measure import Failure, Side, run
from models import MODELS, ROOT, TRAINING, check_table, export, our_steps, table_parser, write_batch

sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import MPI_ENV, mpirun  # noqa: E402

RANKS = 2
# MiB of a rank: about the least at which recomputation alone still fits.
MEMORY = {"nanogpt": 205, "resnet": 505}
HOW = {"joint": [], "sharding": ["--recompute", "none"], "recompute": ["--plan-preset", "ddp"]}


class Kind:
    """The trainer of one way to keep to the memory, its predicted step and its measured ones."""

    def __init__(self, name, kind, options):
        self.kind, self.side = kind, Side()
        self.trainer = options.work / f"{name}_{kind}"
        model, path = export(name, options.work), self.trainer.with_suffix(".plan.json")
        within = ["--ranks", RANKS, "--memory", f"{MEMORY[name]}MiB", *HOW[kind]]
        self.predicted = make_plan(options.shardcc, model, path, options.cluster, *within)["simulated"]
        compile_plan(options.shardcc, model, path, options.cluster, self.trainer)
        self.arena = read_job(self.trainer, path).arena


def measure(name, options):
    """Prints the rows of a model."""
    kinds, data = [Kind(name, kind, options) for kind in HOW], write_batch(name, options.work)
    weights = options.work / f"{name}_base.safetensors"
    if not weights.exists():
        run([options.shardcc, export(name, options.work), *TRAINING, "-o", weights.with_suffix("")])
    for _ in range(options.rounds):
        for x in kinds:
            x.side.add(lambda: our_steps([*mpirun(RANKS), x.trainer], data, options.steps, 1, "--load", weights,
                                         env=MPI_ENV))
    for x in kinds:
        if x.side.problem:
            raise Failure(x.side.problem)
        print(f"{MODELS[name]:20s}  {x.kind:>9s} {x.arena / 2**20:8.1f}  {x.side.times()}  "
              f"{x.side.over(kinds[0].side):>6s} {1e3 * x.predicted:10.1f}{'  noisy' if x.side.is_noisy else ''}",
              flush=True)


def main():
    p = table_parser(__doc__, MEMORY)
    p.set_defaults(rounds=5, steps=4)
    options = p.parse_args()
    check_table(p, options, MEMORY)
    options.work.mkdir(parents=True, exist_ok=True)
    options.cluster = options.work / "local_ranks.json"
    if not options.cluster.exists():
        run([*mpirun(RANKS), options.shardcc, "detect", "--threads", 1, "-o", options.cluster], env=MPI_ENV)
    print(f"{'a step':20s}  {'plan':>9s} {'arena':>8s}  {'ms':>9s} {'best':>8s}  {'/joint':>6s} {'predicted':>10s}")
    for name in options.names or MEMORY:
        try:
            measure(name, options)
        except Failure as e:
            print(f"{MODELS[name]:20s}  {e}", flush=True)


if __name__ == "__main__":
    main()
