#!/usr/bin/env python3
"""The cost of checkpoints: the mean step of a run that saves every few steps, over its steps without a save.

  checkpoint.py --shardcc build/shardcc --work DIR [--every 20] [--saves 2] [--rounds 2] [--threads 2] [NAME ...]

Ours: during the steps, and in place. PyTorch's: torch.save in the loop, and torch.distributed.checkpoint's async_save,
whose first step waits for the save before. All save weights and AdamW's states every 20 steps. The sides run one after the
other, in separate processes. The speed of a machine drifts by more than a save costs, so each run is its own measure: the
mean of the steps from one save to the next, over the median of the later half of them, when no save is written any more.
`cost` is the mean of this over all saves; the sides without saves show how far that is from 1 by chance. The last rows: how
long ours, during the steps, holds up the step that begins a save (the median of all), over a copy of as many bytes by as many threads:
again and again (the least), and each after some seconds of other work as between two saves (the median).
"""
import argparse
import json
import shutil
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import models
import numpy as np
from measure import Failure, Side, run
from models import MODELS, WARM_UP, build, check_table, table_parser, torch_env, torch_model

SIDES = {
    "ours": ["--keep", "1"],
    "ours, beside": ["--keep", "1", "--checkpoint-every"],
    "ours, in place": ["--keep", "1", "--checkpoint-in-place", "--checkpoint-every"],
    "PyTorch": "none",
    "torch.save": "save",
    "async_save": "async",
}
WORK_SECONDS = 10  # between two copies in memory


def steps_of(options):
    """The last save has a few steps during which it is written."""
    return options.every * (options.saves + 1)


def copy_seconds(n_bytes, threads, work):
    """Seconds of each of some copies in memory, after `work` seconds of other work each."""
    parts = np.array_split(np.ones((2, n_bytes // 4), np.float32), threads, axis=1)
    matrix, other, seconds = np.ones((2048, 2048), np.float32), np.ones(n_bytes // 4, np.float32), []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(5):
            end = time.perf_counter() + work
            while time.perf_counter() < end:
                matrix = matrix @ matrix / len(matrix)
                other *= 1.0001
            begin = time.perf_counter()
            list(pool.map(lambda x: np.copyto(x[1], x[0]), parts))
            seconds.append(time.perf_counter() - begin)
    return seconds


def cost_of(steps, every):
    """The mean of each save's steps over the median of the later half of them, the mean over all saves."""
    parts = [steps[i : i + every] for i in range(every, len(steps) - every + 1, every)]
    return statistics.mean(statistics.mean(p) / statistics.median(p[every // 2 :]) for p in parts)


def ours(name, how, options):
    """Seconds of each step, with what a save held it up."""
    trainer, data = options.made[name]
    folder, log = options.work / "checkpoints", options.work / "checkpoints.log"
    shutil.rmtree(folder, ignore_errors=True)
    log.unlink(missing_ok=True)
    extra = [*how, options.every] if how[-1].endswith("every") else how
    run([trainer, "--data", data, "--steps", WARM_UP + steps_of(options), "--no-shuffle", "--quiet", "--threads", options.threads,
         "--checkpoint", folder, "--log", log, *extra])  # fmt: skip
    lines = [x for x in map(json.loads, log.read_text().splitlines()) if "step" in x]
    if how == SIDES["ours, beside"]:
        options.stalls += [x["saving_seconds"] for x in lines if x["step"] > 1 and (x["step"] - 1) % options.every == 0]
        options.bytes = sum(f.stat().st_size for f in folder.rglob("*.safetensors"))
    return [x["seconds"] + x["saving_seconds"] for x in lines][: steps_of(options)]


def torchs(name, how, options):
    command = [sys.executable, __file__, name, "--torch", how, "--every", options.every, "--saves", options.saves,
               "--threads", options.threads, "--work", options.work]  # fmt: skip
    return json.loads(run(command, env=torch_env(options.threads))[0].splitlines()[-1])


def torch_side(options):
    """Prints the seconds of each step, in a process of its own."""
    import torch
    import torch.distributed.checkpoint as dcp

    module, inputs, labels, loss_of = torch_model(options.names[0], options.threads)
    optimizer = torch.optim.AdamW(module.parameters(), lr=models.LEARNING_RATE, fused=True)
    folder = options.work / "torch_checkpoints"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pending, ends = None, [time.perf_counter()]
    for step in range(1, WARM_UP + steps_of(options) + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(module(*inputs.values()), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        ends.append(time.perf_counter())
        if step % options.every:
            continue
        state = {"model": module.state_dict(), "optimizer": optimizer.state_dict()}
        if options.torch == "save":
            torch.save(state, folder / "new.pt")
            (folder / "new.pt").rename(folder / "last.pt")
        if options.torch == "async":
            if pending:
                pending.result()
                shutil.rmtree(folder / f"{step - 2 * options.every}", ignore_errors=True)
            pending = dcp.async_save(state, checkpoint_id=folder / f"{step}")
    if pending:
        pending.result()
    print(json.dumps([y - x for x, y in zip(ends, ends[1:])][: steps_of(options)]))
    shutil.rmtree(folder)


def main():
    p = table_parser(__doc__, MODELS)
    p.add_argument("--every", type=int, default=20)
    p.add_argument("--saves", type=int, default=2)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--torch", choices=("none", "save", "async"), help=argparse.SUPPRESS)
    p.set_defaults(rounds=2)
    options = p.parse_args()
    if options.torch:
        return torch_side(options)
    check_table(p, options, MODELS)
    options.work.mkdir(parents=True, exist_ok=True)
    print(f"{'a step':20s}  {'':15s} {'ms':>8s}  {'cost':>9s}")
    for name in options.names or ["gpt2"]:
        options.made, options.stalls = {name: build(name, options.shardcc, options.work)}, []
        sides = {side: Side() for side in SIDES}
        for _ in range(options.rounds):
            for side, how in SIDES.items():
                measure = torchs if isinstance(how, str) else ours
                try:
                    sides[side].seconds.append(measure(name, how, options))
                except Failure as e:
                    sides[side].problem = str(e)
        for side, x in sides.items():
            if x.problem:
                print(f"{MODELS[name]:20s}  {side:15s} {x.problem}", flush=True)
                continue
            step = min(statistics.mean(steps[options.every :]) for steps in x.seconds)
            cost = statistics.mean(cost_of(steps, options.every) for steps in x.seconds)
            print(f"{MODELS[name]:20s}  {side:15s} {1e3 * step:8.1f}  {cost:9.3f}", flush=True)
        if not options.stalls:
            continue
        stall = statistics.median(options.stalls)
        again = min(copy_seconds(options.bytes, options.threads, 0))
        later = statistics.median(copy_seconds(options.bytes, options.threads, WORK_SECONDS))
        for what, copy in ("a copy again", again), ("a copy after other work", later):
            print(f"{MODELS[name]:20s}  {'begin of a save':15s} {1e3 * stall:8.1f}  {stall / copy:9.3f}  (over {what})", flush=True)
    return None


if __name__ == "__main__":
    main()
