#!/usr/bin/env python3
"""Recomputation of chains, one row each: time and memory of the whole of `shardcc chain`, and what schedules take.

  chain.py --shardcc build/shardcc [--seed 1]

equal: stages of a group that repeats; 0: all differ. memory: of the peak without recomputation. slots: - if all times
are exact. MiB: the most resident memory. best, sqrt and full: time over that of a step without recomputation; - if the
rule needs more memory.
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time
from pathlib import Path

# Stages, equal, ways, slots (0: the default).
COLUMNS = ("stages", "equal", "ways", "memory", "slots", "seconds", "MiB", "best", "sqrt", "full")
CHAINS = [(96, 1, 1, 2000), (96, 1, 1, 0), (96, 2, 3, 0), (256, 1, 1, 0), (30, 0, 3, 0), (60, 0, 3, 0), (200, 0, 3, 2000)]
SHARES = (0.5, 0.2, 0.05)


def print_row(cells):
    print(" ".join(f"{c:>7}" for c in cells))


def draw_stage(r, i, ways):
    output, seconds = r.randint(10**6, 10**8), r.uniform(1e-3, 1)
    saved = sorted((output + r.randint(0, 3 * 10**8) for _ in range(ways)), reverse=True)
    keep = [{"saved": b, "forward_time": seconds, "backward_time": (2 + 0.3 * k) * seconds} for k, b in enumerate(saved)]
    return {"name": f"{i}", "output": output, "forward_scratch": r.randint(0, 10**7),
            "backward_scratch": 10**8 + r.randint(0, 10**7), "forward_time": seconds, "keep": keep}  # fmt: skip


def draw_chain(r, n, equal, ways):
    stages = [draw_stage(r, i, ways) for i in range(equal or n)]
    stages = [{**stages[i % len(stages)], "name": f"{i}"} for i in range(n)]
    return {"input": 10**6, "stages": stages}


def run(command):
    """The output, seconds and most MiB of a command."""
    begin = time.monotonic()
    p = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = p.stdout.read()
    usage = os.wait4(p.pid, 0)[2]
    return said, time.monotonic() - begin, usage.ru_maxrss / 1024


def schedules(said):
    """Time and peak of each schedule that is told."""
    return {m[1]: (float(m[2]), int(m[3])) for m in re.finditer(r"^(\w+) +time (\S+), .* peak (\d+)", said, re.M)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    print_row(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.json"
        for n, equal, ways, slots in CHAINS:
            path.write_text(json.dumps(draw_chain(random.Random(options.seed), n, equal, ways)))
            command = [options.shardcc, "chain", path, *(["--slots", slots] if slots else []), "--memory"]
            base, most = schedules(run([*command, "1000TiB", "--schedule", "none"])[0])["none"]
            for share in SHARES:
                memory = int(share * most)
                said, seconds, mib = run([*command, memory])
                found, used = schedules(said), re.search(r"^slots +(\d+)", said, re.M)
                fits = {name: f"{x[0] / base:.3f}" for name, x in found.items() if x[1] <= memory}
                times = [fits.get(name, "-") for name in COLUMNS[-3:]]
                print_row([n, equal, ways, share, used[1] if used else "-", f"{seconds:.2f}", f"{mib:.0f}", *times])


if __name__ == "__main__":
    main()
