#!/usr/bin/env python3
"""What half and double of each search constant (base/search.def) do to plans of the tiny models.

  search.py --work DIR [--jobs 2] [NAME ...]

A copy of the sources in DIR/src is built in which shardcc reads the constants from its environment. Its cases are the
tiny models of MODELS: on one rank, and on four with a slow link, where what runs again is chosen and where nothing does,
within memories between the least and what the step likes to have, and with the least memory that is found. The table has a row for each constant
and value: in how many cases the simulated step changed, how much longer steps are on average and at worst, the same of
the least bytes, in how many cases more (+) or fewer (-) a plan was found, and the processor's time over that of the
constants as they are. Times have an error of 5 %.
"""
import argparse
import csv
import json
import math
import os
import re
import resource
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("nanogpt", "mlp")
# Ranks, their cluster, parts of the way from the least memory to what there is, and more options.
RANKS = (
    (1, "slow", (0.3, 0), ()),
    (4, "slow_link", (0.2, None), ()),
    (4, "slow_link", (0.5, 0), ("--recompute", "none")),
)
ROW = re.compile(r'^(NUMBER|SHARE)\((\w+), (.*?), "', re.M)
READ = """static inline double search_{0}(void) {{ const char *s = getenv("SEARCH_{0}"); return s ? atof(s) : ({1}); }}
#define {0} (({2})search_{0}())
"""


def constants():
    """Kind and value of each constant, by its name."""
    return {name: (kind, eval(value)) for kind, name, value in ROW.findall((ROOT / "base/search.def").read_text())}


def build(work):
    """Builds the shardcc that reads its constants from the environment."""
    source = work / "src"
    if not source.exists():
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in files.split("\0")[:-1]:
            if (ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, source / name)
    text = "".join(READ.format(name, value, "double" if kind == "SHARE" else "int") for name, (kind, value) in constants().items())
    (source / "base/search.h").write_text(f"#pragma once\n#include <stdlib.h>\n{text}")
    subprocess.run(["cmake", "--preset", "default", *os.environ.get("CMAKE_OPTIONS", "").split()], cwd=source, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "build", "--target", "shardcc", "-j2"], cwd=source, check=True, stdout=subprocess.DEVNULL)
    return source / "build/shardcc"


class Case:
    """A model on some ranks within a memory: None is all that there is, 1 the least."""

    def __init__(self, model, ranks, cluster, more, memory=None):
        self.model, self.ranks, self.cluster, self.more, self.memory = model, ranks, cluster, more, memory

    def command(self, shardcc, out):
        about = json.loads((ROOT / f"models/tiny/{self.model}.json").read_text())
        target = "labels" if about["loss"] == "cross_entropy" else "target"
        about = ["--loss", f"{about['loss']}({about['output']}, {target})", "--optimizer", "adamw"]
        more = [*self.more, *(["--memory", str(self.memory)] if self.memory else [])]
        model = ROOT / f"models/tiny/{self.model}.onnx"
        more += ["--cluster", ROOT / f"tests/e2e/{self.cluster}.json"]
        if self.ranks == 1:
            return [shardcc, "profile", model, *about, *more, "--csv", out]
        return [shardcc, "plan", model, *about, *more, "--ranks", str(self.ranks), "-o", out]

    def run(self, shardcc, work, env):
        """Seconds of the step, or None without a plan; the arena's bytes."""
        out = work / f"{id(self)}.out"
        out.unlink(missing_ok=True)
        made = subprocess.run(self.command(shardcc, out), capture_output=True, text=True, env={**os.environ, **env})
        if made.returncode:
            found = re.search(r"takes (\d+) bytes", made.stderr)
            return None, int(found[1]) if found else 0
        if self.ranks > 1:
            plan = json.loads(out.read_text())
            return plan["simulated"], plan["bytes"]
        rows = list(csv.DictReader(out.open()))
        seconds = sum(float(row["seconds"]) for row in rows if row["row"] == "statement")
        return seconds, next(int(row["bytes"]) for row in rows if row["row"] == "arena")


def find_cases(shardcc, work, pool):
    """Cases of all models within memories between the least and what there is."""
    def of_model(model):
        cases = []
        for ranks, cluster, parts, more in RANKS:
            low, high = (Case(model, ranks, cluster, more, n).run(shardcc, work, {})[1] for n in (1, None))
            memories = [1 if part == 0 else part and int(low + part * (high - low)) for part in parts]
            cases += [Case(model, ranks, cluster, more, n) for n in memories]
        return cases
    return sum(pool.map(of_model, MODELS), [])


def run_all(cases, shardcc, work, env, pool):
    """The results of all cases, and the processor's seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    results = list(pool.map(lambda x: x.run(shardcc, work, env), cases))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return results, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def percent(ratios):
    """Their mean and their largest, as percents above 1."""
    logs = [math.log(x) for x in ratios] or [0]
    return f"{100 * math.expm1(sum(logs) / len(logs)):+7.2f} {100 * math.expm1(max(logs)):+7.2f}"


def compare(base, other):
    pairs = list(zip(base, other))
    both = [(x[0], y[0]) for x, y in pairs if x[0] and y[0]]
    least = [y[1] / x[1] for x, y in pairs if not x[0] and not y[0] and x[1] and y[1]]
    changed = sum(abs(x / y - 1) > 1e-9 for x, y in both) + sum(x != 1 for x in least)
    gained, lost = (sum(bool(x[i][0]) > bool(x[1 - i][0]) for x in pairs) for i in (1, 0))
    return f"{changed:7d}  {percent([y / x for x, y in both])}  {percent(least)}  {f'+{gained} -{lost}':>6s}"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--jobs", type=int, default=2)
    options = p.parse_args()
    shardcc = build(options.work)
    with ThreadPoolExecutor(options.jobs) as pool:
        cases = find_cases(shardcc, options.work, pool)
        base, seconds = run_all(cases, shardcc, options.work, {}, pool)
        print(f"{len(cases)} cases, {sum(1 for x in base if x[0])} with a plan, {seconds:.0f} s\n"
              f"{'constant':26s} {'value':>9s} changed  step: mean, worst  least: mean, worst   found   time", flush=True)
        for name, (kind, value) in constants().items():
            if options.names and name not in options.names:
                continue
            for other in (value / 2, 2 * value) if kind == "SHARE" else (max(1, value // 2), 2 * value):
                results, took = run_all(cases, shardcc, options.work, {f"SEARCH_{name}": repr(other)}, pool)
                print(f"{name:26s} {other:9.9g} {compare(base, results)}  {took / seconds:5.2f}", flush=True)


if __name__ == "__main__":
    main()
