#!/usr/bin/env python3
"""--profile and --trace of trainers, predictions of --cluster, and shardcc detect: their outputs are complete.

  profile_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]

No time is checked, because the machine may be doing something else.
"""
import json
import re
import tempfile
from pathlib import Path

from harness import run
from model import QUICK_CC, Model, for_models, parser

MODELS = ("cnn", "nanogpt")
STEPS = ["--steps", "3", "--epochs", "9", "--no-shuffle", "--quiet"]
NUMBER = r"\s+([\d.]+)"
ROW = re.compile(rf"(.+?)\s+(\d+){NUMBER}{NUMBER}{NUMBER}%{NUMBER}{NUMBER}{NUMBER}(?:{NUMBER})?$")


def read_profile(text):
    """The tables, by title: rows of name, calls, milliseconds, best, share, GFLOP/s, GB/s in and out, prediction or None."""
    tables = {}
    for block in text.split("\n\n")[1:]:
        title, *rows = block.strip().splitlines()
        matches = [ROW.match(row) for row in rows]
        if None in matches:
            raise ValueError(f"no row of a profile: {rows[matches.index(None)]!r}")
        tables[title.split()[0]] = [[m[1], *(x and float(x) for x in m.groups()[1:])] for m in matches]
    return tables


def check_profile(checks, name, text, is_predicted):
    tables = read_profile(text)
    checks.check(f"{name}: tables", set(tables) == {"module", "call"}, str(set(tables)))
    for title, rows in tables.items():
        whole = rows.pop()
        for column, what in enumerate([None, "calls", "milliseconds", "best", "share", None, None, None, "prediction"]):
            if not what or whole[column] is None:
                continue
            found = sum(row[column] for row in rows)
            slack = 0.01 * whole[column] + 0.1 * len(rows) * (column > 1)
            checks.check(f"{name}: {what} by {title} add up", abs(found - whole[column]) <= slack)
        checks.check(f"{name}: at most all of the step by {title}", whole[4] <= 100.1 and whole[3] <= whole[2], str(whole))
        predicted = sum(row[8] is not None for row in rows)
        checks.check(f"{name}: predictions by {title}", predicted == (len(rows) if is_predicted else 0))
    checks.check(f"{name}: calls", len(tables["call"]) > len(tables["module"]) > 3)
    return whole[1]


def check_trace(checks, name, path, calls):
    events = json.loads(path.read_text())["traceEvents"]
    checks.check(f"{name}: an event for each call", len(events) == calls, f"{len(events)} of {calls:.0f}")
    checks.check(f"{name}: complete events", all(e["ph"] == "X" and e["name"] and e["dur"] >= 0 for e in events))
    parts = list(dict.fromkeys(e["cat"] for e in events))
    checks.check(f"{name}: parts", parts == ["micro"], str(parts))
    ends = [e["ts"] + e["dur"] for e in events]
    checks.check(f"{name}: one after the other", all(b["ts"] >= a - 0.01 for a, b in zip(ends, events[1:])))


def detect(shardcc, work):
    """Measures a cluster file, for one thread, which is the quickest."""
    path = work / "cluster.json"
    run(shardcc, "detect", "--threads", "1", "-o", path)
    return path


def test(checks, model, cluster):
    device = json.loads(cluster.read_text())["device"]
    checks.check(f"{model.name}: detect", device["threads"] == 1 and len(device["gemm"]) > 50)
    losses = {}
    for tag, more in (("plain", []), ("predicted", ["--cluster", cluster])):
        trainer = model.compile(tag, None, *more)
        trace = model.work / f"{tag}.json"
        said = run(trainer, "--data", model.data(), *STEPS, "--profile", "--trace", trace)
        calls = check_profile(checks, f"{model.name}, {tag}", said, tag == "predicted")
        check_trace(checks, f"{model.name}, {tag}", trace, calls)
        losses[tag] = model.train(trainer, None, "--profile", watch=False)
    losses["unwatched"] = model.train(trainer, watch=False)
    checks.check(f"{model.name}: the same losses", len(set(map(tuple, losses.values()))) == 1)


def main():
    options = parser(__doc__).parse_args()
    options.names = options.names or MODELS
    with tempfile.TemporaryDirectory() as folder:
        cluster = detect(options.shardcc, Path(folder))
        for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC), cluster))


if __name__ == "__main__":
    main()
