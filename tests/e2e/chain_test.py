#!/usr/bin/env python3
"""shardcc chain as a user meets it: exit statuses, messages, files, and schedules, which are replayed here.

  chain_test.py --shardcc build/shardcc
"""
import json
import os
import subprocess

import numpy as np

from harness import test_in_folder

# Arguments, message; exit status 2.
OPTIONS = [
    ([], "no chain given; --help tells more"),
    (["a.json"], "no memory given: --memory N"),
    (["a.json", "b.json"], "one chain at a time: 'a.json' and 'b.json'"),
    (["a.json", "--memory", "0"], "--memory: '0' is not a size such as 70GiB"),
    (["a.json", "--memory", "nan"], "--memory: 'nan' is not a size such as 70GiB"),
    (["a.json", "--memory", "9223372036854775808"], "--memory: '9223372036854775808' is not a size such as 70GiB"),
    (["a.json", "--memory", "1GiB", "--slots", "0"], "--slots: '0' is not a whole number from 1 to 1048576"),
    (["a.json", "--memory", "1GiB", "--slots", "2e3"], "--slots: '2e3' is not a whole number from 1 to 1048576"),
    (["a.json", "--memory", "1GiB", "--schedule", "half"], "--schedule: 'half' is not one of best, none, sqrt, full"),
    (["a.json", "--memroy", "1GiB"], "unknown option '--memroy' (did you mean '--memory'?)"),
]

# Arguments, message; exit status 1.
FILES = [
    (["none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["."], ".: error: cannot read '.': not a regular file"),
    (["empty.json"], "empty.json: error: not JSON: byte 0"),
    (["nan.json"], "nan.json: error: not JSON: byte 10: found 'NaN,'"),
    (["unkept.json"], "unkept.json: error: stages[1].keep must have 1 to 256 policies for 'b', found 0"),
    (["five.json", "-o", "none/a.json"], "shardcc: error: cannot write into 'none': No such file or directory"),
    (["five.json", "-o", "five.json"], "shardcc: error: cannot write 'five.json': it is the chain"),
    (["five.json", "-o", "."], "shardcc: error: cannot write '.': it is a folder"),
]


def stage(name, output, scratch, time, *policies):
    """Policies: bytes that are saved, forward time, backward time and, of some, scratch of the backward in addition to the stage's."""
    keep = [dict(zip(("saved", "forward_time", "backward_time", "more_scratch"), policy)) for policy in policies]
    return {"name": name, "output": output, "forward_scratch": scratch[0], "backward_scratch": scratch[1],
            "forward_time": time, "keep": keep}  # fmt: skip


FIVE = {
    "input": 100,
    "stages": [
        stage("a", 100, (10, 110), 1, (300, 1, 2), (120, 1.25, 3)),
        *(stage(name, 100, (10, 120), 1, (200, 1, 2)) for name in "bcd"),
        stage("loss", 4, (0, 100), 0.5, (4, 0.5, 0.5)),
    ],
}


def drawn_chain(r):
    n, chain = int(r.integers(1, 30)), {"input": int(r.integers(0, 10**6)), "stages": []}
    before = chain["input"]
    for i in range(n):
        if i and r.random() < 0.5:
            chain["stages"].append({**chain["stages"][-1], "name": f"s{i}"})
            continue
        output, time = int(r.integers(0, 10**6)), float(r.random())
        policies = [(output + int(r.integers(0, 10**7)), time, float(r.random())) for _ in range(r.integers(1, 4))]
        policies[-1] += (int(r.integers(0, 10**6)),)
        scratch = int(r.integers(0, 10**6)), before + int(r.integers(0, 10**6))
        chain["stages"].append(stage(f"s{i}", output, scratch, time, *policies))
        before = output
    return chain


def replayed(chain, operations):
    """Time and peak of the operations, as docs/chain.md says what they do."""
    stages, n = chain["stages"], len(chain["stages"])
    number = {s["name"]: i for i, s in enumerate(stages)}
    size = [chain["input"], *(s["output"] for s in stages)]
    alone, saved, gradient, time, peak = {0}, {}, n, 0.0, chain["input"]

    def live():
        return sum(size[i] for i in alone) + sum(w["saved"] for w in saved.values()) + (size[gradient] if gradient < n else 0)

    for o in operations:
        i = number[o["stage"]]
        s = stages[i]
        assert i in alone or i - 1 in saved, o
        if o["op"] == "backward":
            assert gradient == i + 1 and i in saved, o
            scratch = s["backward_scratch"] + saved[i].get("more_scratch", 0)
            peak, time = max(peak, live() + scratch), time + saved[i]["backward_time"]
            del saved[i]
            alone.discard(i)
            gradient = i
        else:
            assert i + 1 not in alone and i not in saved, o
            policy = s["keep"][o["keep"]] if o["op"] == "save" else {"saved": s["output"], "forward_time": s["forward_time"]}
            peak = max(peak, live() + policy["saved"] + s["forward_scratch"])
            time += policy["forward_time"]
            if o["op"] == "save":
                saved[i] = policy
            else:
                alone.add(i + 1)
            if o["op"] == "forward":
                alone.remove(i)
        peak = max(peak, live())
    assert gradient == 0 and not alone and not saved, "not all is done"
    return time, peak


class Chain:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def run(self, *args):
        command = [str(self.shardcc), "chain", *map(str, args)]
        return subprocess.run(command, cwd=self.work, capture_output=True, text=True, timeout=300)

    def check(self, name, ok, detail=""):
        return self.checks.check(name, ok, "" if ok else str(detail).replace("\n", " | "))

    def write(self, name, chain):
        (self.work / name).write_text(json.dumps(chain))

    def expect(self, args, status, message):
        before = sorted(os.listdir(self.work))
        done = self.run(*args)
        ok = done.returncode == status and done.stderr == f"{message}\n" and before == sorted(os.listdir(self.work))
        self.check(f"chain {' '.join(map(str, args))}", ok, done)

    def messages(self):
        (self.work / "empty.json").write_text("")
        (self.work / "nan.json").write_text('{"input": NaN, "stages": []}')
        self.write("five.json", FIVE)
        self.write("unkept.json", {**FIVE, "stages": [FIVE["stages"][0], {**FIVE["stages"][1], "keep": []}]})
        for args, message in OPTIONS:
            self.expect(args, 2, f"shardcc: error: {message}")
        for args, message in FILES:
            self.expect([*args, "--memory", "1GiB"], 1, message)
        told = "the least memory is 620 bytes"
        self.expect(["five.json", "--memory", 619, "-o", "s.json"], 4, f"five.json: error: no schedule stays within 619 bytes: {told}")
        told = "more than 700: the least memory of any schedule is 620 bytes"
        self.expect(["five.json", "--memory", 700, "--schedule", "none", "-o", "s.json"], 4,
                    f"five.json: error: the schedule 'none' needs 1220 bytes, {told}")  # fmt: skip

    def schedule(self, chain, *args):
        """The file that is written; checks its time and peak."""
        done = self.run(chain, "-o", "s.json", *args)
        assert done.returncode == 0, done
        found = json.loads((self.work / "s.json").read_text())
        time, peak = replayed(json.loads((self.work / chain).read_text()), found["operations"])
        assert time == found["total_time"] and peak == found["peak"], (time, peak, found)
        return found

    def statuses(self):
        for name, memory, time, peak in (("none", 1220, 13, 1220), ("sqrt", 820, 15, 820), ("full", 820, 17, 820)):
            s = self.schedule("five.json", "--memory", memory, "--schedule", name)
            self.check(f"the schedule {name}", (s["total_time"], s["peak"]) == (time, peak), s)
        times = [self.schedule("five.json", "--memory", m)["total_time"] for m in range(620, 1230, 10)]
        self.check("more memory, less time", times == sorted(times, reverse=True) and times[-1] == 13, times)
        done = self.run("five.json", "--memory", 620)
        self.check("without a file", done.returncode == 0 and "wrote" not in done.stdout, done)

    def drawn(self):
        r = np.random.default_rng(3)
        for i in range(20):
            chain = drawn_chain(r)
            self.write("drawn.json", chain)
            most = self.schedule("drawn.json", "--memory", "1TiB", "--schedule", "none")["peak"]
            least = int(self.run("drawn.json", "--memory", 1).stderr.split()[-2])
            memories = np.linspace(least, most, 6).astype(int)
            slots = [[], ["--slots", int(r.integers(1, 3000))]]
            found = [[self.schedule("drawn.json", "--memory", m, *s) for m in memories] for s in slots]
            ok = all(s["peak"] <= m for ss in found for s, m in zip(ss, memories))
            ok = ok and all(x["total_time"] <= 1.001 * y["total_time"] for x, y in zip(*found))
            self.check(f"random chain {i}, {len(chain['stages'])} stages", ok, [(s["total_time"], s["peak"]) for s in found[0]])


def test(c):
    for part in (c.messages, c.statuses, c.drawn):
        part()


if __name__ == "__main__":
    test_in_folder(Chain, test)
