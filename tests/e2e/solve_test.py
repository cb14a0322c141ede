#!/usr/bin/env python3
"""shardcc solve as a user meets it: exit statuses, messages, Ctrl-C, engines that die or aren't installed.

  solve_test.py --shardcc build/shardcc
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from harness import test_in_folder

# Five nodes, the contest's example (google/iopddl, Apache License 2.0).
EXAMPLE = {
    "name": "example",
    "nodes": {
        "intervals": [[30, 70], [40, 70], [50, 120], [110, 140], [110, 150]],
        "costs": [[15], [55, 65], [25, 45, 35], [85, 75], [95]],
        "usages": [[10], [25, 25], [15, 20, 15], [10, 10], [15]],
    },
    "edges": {
        "nodes": [[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]],
        "costs": [[30, 40], [50, 10, 40], [90, 10, 20, 80], [60, 20, 30], [70, 60]],
    },
    "usage_limit": 50,
}

# Arguments, message; exit status 2.
OPTIONS = [
    ([], "no instance given; --help tells more"),
    (["a.json", "b.json"], "one instance at a time: 'a.json' and 'b.json'"),
    (["a.json", "--engine", "clp"], "--engine: 'clp' is not one of cbc, glpk"),
    (["a.json", "--gap", "-1"], "--gap: '-1' is not a number of at least 0"),
    (["a.json", "--time-limit", "soon"], "--time-limit: 'soon' is not a number of at least 0"),
    (["a.json", "--threads", "3"], "--threads: '3' is not a whole number from 1 to 2"),
    (["a.json", "--seed", "0"], "--seed: '0' is not a whole number from 1 to 2147483647"),
    (["a.json", "--check", "b.json", "-o", "c.json"], "--check writes no file: it takes no -o"),
    (["a.json", "--chek", "b.json"], "unknown option '--chek' (did you mean '--check'?)"),
]

# Arguments, message; exit status 1.
FILES = [
    (["none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["."], ".: error: cannot read '.': not a regular file"),
    (["empty.json"], "empty.json: error: byte 0: expected '{', found the end of the file"),
    (["cut.json.gz"], "cut.json.gz: error: byte 0: the gzip data end too early"),
    (["turned.json"], "turned.json: error: byte 64: the interval of node 0 ends before it begins"),
    (["example.json", "-o", "none/a.json"], "shardcc: error: cannot write into 'none': No such file or directory"),
    (["example.json", "-o", "example.json"], "shardcc: error: cannot write 'example.json': it is the instance"),
    (["example.json", "-o", "."], "shardcc: error: cannot write '.': it is a folder"),
    (["--check", "none.json", "example.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["--check", "empty.json", "example.json"], "empty.json: error: byte 0: expected '{', found the end of the file"),
]


def hard(n=300, most=12, seed=1):
    """A problem that takes a while: sparse, with random costs, and a limit of half of the most bytes."""
    r = np.random.default_rng(seed)
    sizes = r.integers(4, most, n)
    costs = [r.integers(0, 100, s) for s in sizes]
    usages = [np.sort(r.integers(1, 100, s))[::-1] for s in sizes]
    first = r.integers(0, n, n)
    intervals = np.stack([first, first + r.integers(1, n // 3, n)], 1)
    ends = {tuple(sorted((i, int(j)))) for i in range(n) for j in r.integers(max(0, i - 20), i + 1, 3) if i != j}
    ends = sorted(ends)
    held = np.zeros(2 * n, np.int64)
    for (a, b), u in zip(intervals, usages):
        held[a:b] += u.max()
    return {
        "name": "hard",
        "nodes": {
            "intervals": intervals.tolist(),
            "costs": [c.tolist() for c in costs],
            "usages": [u.tolist() for u in usages],
        },
        "edges": {
            "nodes": [list(e) for e in ends],
            "costs": [r.integers(0, 100, sizes[a] * sizes[b]).tolist() for a, b in ends],
        },
        "usage_limit": int(held.max()) // 2,
    }


class Solve:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def run(self, *args, **more):
        command = [str(self.shardcc), "solve", *map(str, args)]
        return subprocess.run(command, cwd=self.work, capture_output=True, text=True, timeout=300, **more)

    def start(self, *args):
        command = [str(self.shardcc), "solve", *map(str, args)]
        return subprocess.Popen(command, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def check(self, name, ok, detail=""):
        return self.checks.check(name, ok, "" if ok else str(detail).replace("\n", " | "))

    def write(self, name, problem):
        (self.work / name).write_text(json.dumps({"problem": problem}))

    def is_checked(self, answer, instance):
        return self.run("--check", answer, instance).returncode == 0

    def messages(self):
        (self.work / "empty.json").write_text("")
        (self.work / "cut.json.gz").write_bytes(bytes([0x1F, 0x8B, 8]))
        turned = {**EXAMPLE, "nodes": {**EXAMPLE["nodes"], "intervals": [[70, 30]]}}
        self.write("turned.json", turned)
        for args, message in OPTIONS:
            done = self.run(*args)
            ok = done.returncode == 2 and done.stderr == f"shardcc: error: {message}\n"
            self.check(f"solve {' '.join(args)}", ok, done.stderr)
        for args, message in FILES:
            done = self.run(*args)
            ok = done.returncode == 1 and done.stderr == f"{message}\n"
            self.check(f"solve {' '.join(args)}", ok, done.stderr)

    def statuses(self):
        for engine in ("cbc", "glpk"):
            done = self.run("example.json", "-o", "a.json", "--engine", engine)
            ok = done.returncode == 0 and json.loads((self.work / "a.json").read_text())["cost"] == 445
            self.check(f"the example by {engine}: 0", ok and self.is_checked("a.json", "example.json"), done)
        steps = re.findall(r"^ +[\d.]+ s  (.*)$", done.stdout, re.M)
        self.check("each step a line", steps == ["cost -  bound 445", "cost 445  bound 445  gap 0.0000%"], done.stdout)
        self.write("tight.json", {**EXAMPLE, "usage_limit": 49})
        done = self.run("tight.json", "-o", "b.json")
        answer = json.loads((self.work / "b.json").read_text())
        ok = done.returncode == 4 and answer["least_bound"] == answer["least"] == 50
        self.check("no choice within the limit: 4", ok and self.is_checked("b.json", "tight.json"), done)
        ok = not self.is_checked("a.json", "tight.json")
        self.check("an answer of another instance", ok)
        text = (self.work / "a.json").read_text().replace('"cost": 445', '"cost": 444')
        (self.work / "c.json").write_text(text)
        done = self.run("--check", "c.json", "example.json")
        self.check("an altered answer: 1", done.returncode == 1 and "checksum" in done.stderr, done)

    def repeated(self):
        """The same seed gives the same bytes."""
        self.write("small.json", hard(30, 5))
        for name in ("one.json", "two.json"):
            self.run("small.json", "-o", name, "--time-limit", 0, "--gap", 0.02)
        one, two = ((self.work / n).read_bytes() for n in ("one.json", "two.json"))
        self.check("twice the same answer", one == two)

    def asked(self):
        """Ctrl-C at any second gives a checked answer within two seconds, or a message that there is none."""
        self.write("hard.json", hard())
        for delay in (0.01, 0.02, 0.03, 0.05, 0.1, 0.5, 1, 2, 4):
            p = self.start("hard.json", "-o", "asked.json", "--time-limit", 60)
            time.sleep(delay)
            p.send_signal(signal.SIGINT)
            begin = time.monotonic()
            said, _ = p.communicate(timeout=60)
            took = time.monotonic() - begin
            # A process that has hardly begun doesn't block signals yet, and just ends.
            early = p.returncode == -signal.SIGINT and delay < 0.1
            ok = early or p.returncode == 5 and "no choice was found" in said
            ok = ok or p.returncode in (0, 3) and self.is_checked("asked.json", "hard.json")
            self.check(f"Ctrl-C after {delay} s", ok and took < 2, f"exit {p.returncode}, {took:.1f} s: {said[-300:]}")
        left = [f for f in os.listdir(self.work) if f.endswith(".part")]
        self.check("nothing is left behind", not left, left)

    def clocked(self):
        begin = time.monotonic()
        done = self.run("hard.json", "-o", "clocked.json", "--time-limit", 5)
        took = time.monotonic() - begin
        # The certificate is made after Ctrl-C, from the bounds found before it.
        after = re.search(r"certificate ([\d.]+)$", done.stdout, re.M)
        took -= float(after[1]) if after else 0
        ok = done.returncode in (0, 3) and took < 7 and self.is_checked("clocked.json", "hard.json")
        ok = ok and (done.returncode == 0 or json.loads((self.work / "clocked.json").read_text())["stop"] == "time")
        self.check("the time limit", ok, f"{took:.1f} s: {done}")

    def engines(self):
        """Engines are killed again and again; the search continues without them."""
        p = self.start("hard.json", "-o", "killed.json", "--time-limit", 8)
        killed = 0
        while p.poll() is None:
            for task in Path(f"/proc/{p.pid}/task").glob("*/children"):
                try:
                    for child in task.read_text().split():
                        os.kill(int(child), signal.SIGKILL)
                        killed += 1
                except OSError:
                    pass
            time.sleep(0.2)
        said = p.stdout.read()
        ok = killed and p.returncode in (0, 3) and self.is_checked("killed.json", "hard.json")
        self.check(f"{killed} engines killed", ok, f"exit {p.returncode}: {said[-500:]}")
        self.check("it says so", "engine" in said, said[-500:])
        alone = self.work / "alone"
        alone.mkdir()
        shutil.copy(self.shardcc, alone / "shardcc")
        done = subprocess.run([alone / "shardcc", "solve", "hard.json", "--time-limit", "3"], cwd=self.work, capture_output=True, text=True)
        ok = done.returncode in (0, 3) and re.search("cannot run '.*shardcc-cbc'", done.stderr)
        self.check("an engine that isn't there", ok, done)


def test(s):
    s.write("example.json", EXAMPLE)
    for part in (s.messages, s.statuses, s.repeated, s.asked, s.clocked, s.engines):
        part()


if __name__ == "__main__":
    test_in_folder(Solve, test)
