#!/usr/bin/env python3
"""The packer on a folder of instances of google/minimalloc, NAME.CAPACITY.csv, one row each.

  pack.py --shardcc build/shardcc [--time-limit 60] FOLDER [NAME ...]

bytes: where the last buffer ends; over: how many percent that is above the bound, the most bytes that are live at
once. A packing is checked here: every two buffers that are live at the same time, and the capacity.
"""
import argparse
import csv
import re
import subprocess
import tempfile
import time
from pathlib import Path


def read(path):
    with open(path, newline="") as f:
        return [{k: v if k == "id" else int(v) for k, v in row.items()} for row in csv.DictReader(f)]


def bound(buffers):
    events = sorted([(b["lower"], b["size"]) for b in buffers] + [(b["upper"], -b["size"]) for b in buffers])
    live = most = 0
    for _, size in events:
        live += size
        most = max(most, live)
    return most


def problem(buffers, packed, capacity):
    """What is wrong with a packing; "" if nothing is."""
    for b, p in zip(buffers, packed):
        if {**b, "offset": p["offset"]} != p:
            return f"buffer {b['id']} is another one"
        if p["offset"] < 0 or p["offset"] + p["size"] > capacity:
            return f"buffer {b['id']} lies outside"
    for i, a in enumerate(packed):
        for b in packed[:i]:
            is_live = a["lower"] < b["upper"] and b["lower"] < a["upper"]
            if is_live and a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"]:
                return f"buffers {a['id']} and {b['id']} overlap"
    return "" if len(buffers) == len(packed) else "buffers are missing"


def row(path, options):
    buffers, capacity = read(path), int(path.name.split(".")[-2])
    name, least = path.name.split(".")[0], bound(buffers)
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "packed.csv"
        command = [options.shardcc, "pack", path, "--capacity", capacity, "-o", to, "--time-limit", options.time_limit]
        begin = time.monotonic()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        seconds = time.monotonic() - begin
        if done.returncode:
            found = re.search(r"(?:found: |one needs )(\d+)", done.stderr)
            size, said = int(found[1]) if found else 0, f"exit {done.returncode}"
        else:
            packed = read(to)
            size = max((p["offset"] + p["size"] for p in packed), default=0)
            said = problem(buffers, packed, capacity) or "checked"
    over = f"{100 * (size / least - 1):7.2f}%" if size and least else f"{'-':>8s}"
    return f"{name:24s} {len(buffers):7d} {capacity:12d} {least:12d} {size:12d} {over} {seconds:7.2f}  {said}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--time-limit", type=float, default=60)
    p.add_argument("folder", type=Path)
    p.add_argument("names", nargs="*", help="files up to their first dot (all of the folder)")
    options = p.parse_args()
    print(f"{'':24s} {'buffers':>7s} {'capacity':>12s} {'bound':>12s} {'bytes':>12s} {'over':>8s} {'s':>7s}")
    for path in sorted(options.folder.glob("*.*.csv")):
        if not options.names or path.name.split(".")[0] in options.names:
            print(row(path, options), flush=True)


if __name__ == "__main__":
    main()
