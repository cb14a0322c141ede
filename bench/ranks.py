#!/usr/bin/env python3
"""Seconds of a training step of two ranks with a thread each: against one rank with two, and against PyTorch's DDP; by MPI, and by TCP.

  ranks.py --shardcc build/shardcc --work DIR [--steps 8] [--rounds 3] [--cluster FILE] [--built] [NAME ...]

The models, their batches and the steps that count are those of step.py. DDP is two processes with gloo; each has
a thread and half of the batch. All sides run alternately, several times. /1x2 and /ddp: the median of 2 ranks
over that of the other side; tcp/: that of 2 ranks by TCP over 2 ranks by MPI. A row is noisy if a side's median is well above its best.

MiB: the most memory without a file, of the rank that had most; the trainer's arena; the bytes of a rank in
the plan, which the arena must not exceed.
"""
import argparse
import json
import sys

from jobs import compile_plan, make_plan, read_job
from measure import Failure, Side, run
from models import MODELS, ROOT, build, check_table, our_steps, table_parser, torch_env, torch_model, torch_steps

sys.path.insert(0, str(ROOT / "tests/e2e"))
from harness import MPI_ENV, mpirun  # noqa: E402

RANKS = 2
ONE_SAMPLE = {"gpt2_long": "GPT-2 124M 1x256"}  # DDP can't split one sample
NAMES = {**MODELS, **ONE_SAMPLE}
MIB = 1 << 20


# ---- PyTorch's ----


def ddp_rank(name, steps):
    """Runs in each process that torchrun starts. The first one prints the seconds of each step."""
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    module, inputs, labels, loss_of = torch_model(name, 1)
    inputs = {k: x.chunk(RANKS)[rank] for k, x in inputs.items()}
    seconds = torch_steps(DistributedDataParallel(module), inputs, labels.chunk(RANKS)[rank], loss_of, steps)
    if rank == 0:
        print(json.dumps(seconds))
    dist.destroy_process_group()


def ddp(name, options):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", RANKS]
    said, most = run([*torchrun, __file__, "--ddp", "--steps", options.steps, name], True, env=torch_env(1))
    return json.loads(said.splitlines()[-1]), most


# ---- the table ----


class Row:
    """A model with its sides: 2 ranks, 1 rank with 2 threads, DDP, and 2 ranks by TCP."""

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.sides = [Side(), Side(), Side(), Side()]
        self.trainer, self.data = build(name, options.shardcc, options.work, options.built)
        model, trainer = options.work / f"{name}.onnx", options.work / f"{name}_ranks"
        plan = trainer.with_suffix(".plan.json")
        if not options.built:
            make_plan(options.shardcc, model, plan, options.cluster, "--ranks", RANKS)
            compile_plan(options.shardcc, model, plan, options.cluster, trainer)
            compile_plan(options.shardcc, model, plan, options.cluster, options.work / f"{name}_tcp", "--transport", "tcp")
        self.job, self.by_tcp = read_job(trainer, plan), options.work / f"{name}_tcp"

    def measure(self):
        many, one, torch, tcp = self.sides
        steps, more = self.options.steps, ["--load", self.trainer.with_suffix(".safetensors")]
        job = [*mpirun(RANKS), self.job.trainer]
        for _ in range(self.options.rounds):
            many.add(lambda: our_steps(job, self.data, steps, 1, *more, env=MPI_ENV, watch=True))
            tcp.add(lambda: our_steps([*mpirun(RANKS), self.by_tcp], self.data, steps, 1, *more, env=MPI_ENV))
            one.add(lambda: our_steps([self.trainer], self.data, steps, RANKS, watch=True))
            if self.name not in ONE_SAMPLE:
                torch.add(ddp, self.name, self.options)

    def text(self):
        many, one, torch, tcp = self.sides
        times = "  ".join(s.times() for s in self.sides)
        memory = [many.memory(), f"{self.job.arena / MIB:.0f}", f"{self.job.plan['bytes'] / MIB:.0f}"]
        rest = [many.over(one), many.over(torch), tcp.over(many), *memory, one.memory(), torch.memory()]
        text = f"{NAMES[self.name]:20s}  {times} " + "".join(f" {x:>6s}" for x in rest)
        text += "  noisy" if any(s.is_noisy for s in self.sides) else ""
        return text + "".join(f"\n    {s.problem}" for s in self.sides if s.problem)


def head():
    times = "  ".join(f"{k:>9s} {'best':>8s}" for k in ["2 ranks", "1x2", "ddp", "tcp"])
    rest = ["/1x2", "/ddp", "tcp/", "MiB", "arena", "plan", "1x2", "ddp"]
    return f"{'ms a step':20s}  {times} " + "".join(f" {x:>6s}" for x in rest)


def read_options():
    p = table_parser(__doc__, NAMES)
    p.add_argument("--cluster", default="local", help="what the machine can do, as for shardcc plan")
    p.add_argument("--built", action="store_true", help="use what an earlier run has built")
    p.add_argument("--ddp", action="store_true", help=argparse.SUPPRESS)
    options = p.parse_args()
    if not options.ddp:
        check_table(p, options, NAMES)
    return options


def main():
    options = read_options()
    if options.ddp:
        ddp_rank(options.names[0], options.steps)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    print(head(), flush=True)
    for name in options.names or NAMES:
        try:
            row = Row(name, options)
        except Failure as e:
            print(f"{NAMES[name]:20s}  {e}", flush=True)
            continue
        row.measure()
        print(row.text(), flush=True)


if __name__ == "__main__":
    main()
