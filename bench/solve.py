#!/usr/bin/env python3
"""The assignment solver on instances of google/iopddl, one row each: cost, bound, time and memory.

  solve.py --shardcc build/shardcc --work DIR [--time-limit 300] [--threads 2] [--seed 1] [--engine cbc] FOLDER [NAME ...]

left: nodes after the presolve. certified: the bound that `shardcc solve --check` recomputes from the answer's
duals; it also checks the answer. gap: (cost - bound) / cost. MiB: the most resident memory that shardcc and its
engines had together, sampled every 20 ms. best: the contest's best cost (20 teams, 60 to 300 s per instance).
"""
import argparse
import json
import re
import subprocess
import threading
import time
from pathlib import Path

WATCH = 0.02  # seconds between two samples of memory
BEST = {
    "asplos-2025-iopddl-A": 6548641531,
    "asplos-2025-iopddl-B": 532843,
    "asplos-2025-iopddl-G": 217039,
    "asplos-2025-iopddl-K": 2.274e9,
    "asplos-2025-iopddl-L": 1.971e9,
    "asplos-2025-iopddl-P": 662197407330,
    "asplos-2025-iopddl-V": 1632051,
}


def resident(pid):
    """The KiB of a process and its descendants. Processes that have ended count as 0."""
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        children = [c for t in Path(f"/proc/{pid}/task").glob("*/children") for c in t.read_text().split()]
    except OSError:
        return 0
    return (int(found[1]) if found else 0) + sum(map(resident, children))


def run(command):
    """Runs a command. Returns its exit status, output, seconds and most MiB."""
    begin, most = time.monotonic(), 0
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    reader = threading.Thread(target=lambda: said.extend(p.stdout))
    reader.start()
    while p.poll() is None:
        most = max(most, resident(p.pid))
        time.sleep(WATCH)
    reader.join()
    return p.returncode, "".join(said), time.monotonic() - begin, most / 1024


def number(x):
    if x is None:
        return "-"
    return f"{x:.4g}" if isinstance(x, float) else str(x)


def row(path, options):
    """Returns one instance's row, or an error message."""
    answer_path = options.work / f"{path.name.split('.')[0]}.answer.json"
    answer_path.unlink(missing_ok=True)
    command = [options.shardcc, "solve", path, "-o", answer_path, "--time-limit", options.time_limit]
    command += ["--threads", options.threads, "--seed", options.seed, "--engine", options.engine]
    status, said, seconds, most = run(list(map(str, command)))
    (options.work / f"{path.name.split('.')[0]}.log").write_text(said)
    name = path.name.split(".")[0]
    found = re.search(r"^presolve +(\d+) of (\d+)", said, re.M)
    if status not in (0, 3, 4) or not found:
        return f"{name:10s} exit {status}: {said.strip().splitlines()[-1] if said.strip() else ''}"
    answer = json.loads(answer_path.read_text())
    check = subprocess.run([options.shardcc, "solve", "--check", answer_path, path], capture_output=True)
    best = BEST.get(answer["instance"])
    columns = [number(answer.get(k)) for k in ("cost", "bound", "certified")]
    gap = f"{100 * answer['gap']:8.4f}%" if "gap" in answer else f"{'-':>9s}"
    text = f"{name:10s} {found[2]:>7s} {found[1]:>7s} " + " ".join(f"{c:>15s}" for c in columns)
    outcome = answer["outcome"] + (" REFUSED by --check" if check.returncode else "")
    return f"{text} {gap} {seconds:7.1f} {most:6.0f} {number(best):>15s}  {outcome}, {answer['stop']}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--time-limit", type=float, default=300)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--engine", default="cbc")
    p.add_argument("folder", type=Path)
    p.add_argument("names", nargs="*", help="files without their endings (all of the folder)")
    options = p.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    paths = sorted(x for x in options.folder.iterdir() if x.name.endswith((".json", ".json.gz")))
    heads = " ".join(f"{h:>15s}" for h in ("cost", "bound", "certified"))
    print(f"{'':10s} {'nodes':>7s} {'left':>7s} {heads} {'gap':>9s} {'s':>7s} {'MiB':>6s} {'best':>15s}")
    for path in paths:
        if not options.names or path.name.split(".")[0] in options.names:
            print(row(path, options), flush=True)


if __name__ == "__main__":
    main()
