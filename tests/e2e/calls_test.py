#!/usr/bin/env python3
"""The calls that --profile adds to the log, and `shardcc inspect --run`: on one rank, on two CPUs, and on two of the tests' GPUs.

  calls_test.py --shardcc build/shardcc

No time is checked to be short, because the machine may be doing something else.
"""
import json
import os
import re
import subprocess

from equal_test import SLOW, SLOW_LINK
from harness import run, sent_rows
from model import QUICK_CC, Model, for_models, gpu_toolkit, parser
from profile_test import read_profile

FEW = ["--steps", "3", "--epochs", "9", "--no-shuffle", "--quiet"]
HEAD = {"profile", "identity", "plan_hash", "plan", "device", "ranks", "steps", "seconds", "calls"}
CALL = {"call", "part", "calls", "seconds", "least_seconds", "flops", "read_bytes", "written_bytes"}
SENT = {"axis", "sent_bytes", "exchange_seconds", "predicted_exchange_seconds"}


def near(a, b, tolerance=0.01):
    return abs(a - b) <= tolerance * abs(b) + 1e-9


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Calls:
    def __init__(self, checks, model):
        self.checks, self.model, self.shardcc, self.work = checks, model, model.shardcc, model.work

    def check(self, name, ok, detail=""):
        self.checks.check(f"{self.model.name}: {name}", ok, "" if ok else str(detail)[:1500])

    def train(self, trainer, *more, env=None):
        """Trains with a profile; returns what is printed, the log's path, the head of the profile and its calls."""
        log = trainer.with_suffix(".jsonl")
        said = run(trainer, "--data", self.model.data(), *FEW, "--profile", "--log", log, *more, env={**os.environ, **(env or {})})
        lines = lines_of(log)
        at = next(i for i, line in enumerate(lines) if "profile" in line)
        return said, log, lines[at], lines[at + 1 :]

    def inspect(self, *args, status=0):
        done = subprocess.run([self.shardcc, "inspect", *map(str, args)], cwd=self.work, capture_output=True, text=True)
        self.check(f"inspect {' '.join(map(str, args[-2:]))[-60:]} ends with {status}", done.returncode == status, done.stderr)
        return done.stdout + done.stderr

    def refused(self, message, *args):
        said = self.inspect(*args, status=1)
        self.check(f"refused: {message[:60]}", re.search(message, said) and said.count("error: ") == 1, said)

    def plan(self, cluster, *more):
        path = self.work / "two.plan.json"
        run(self.shardcc, "plan", self.model.onnx, *self.model.arguments(self.curve), "--ranks", "2", "--cluster", cluster, *more, "-o", path)
        return path

    @property
    def curve(self):
        return {"optimizer": "adamw", **self.model.info["adamw"]}

    # ---- what lines say ----

    def check_calls(self, name, said, head, calls, ranks, text):
        """The lines of a run: names, sums, and times of a text of C."""
        self.check(f"{name}: head", HEAD - set(head) <= {"plan_hash"} and head["ranks"] == ranks and head["steps"] == 2, head)
        self.check(f"{name}: as many calls as it says", len(calls) == head["calls"] > 10, len(calls))
        self.check(f"{name}: fields", all(CALL <= set(c) for c in calls))
        known = set(re.findall(r'RT_AT\(rt, "(.*?)"', text))
        self.check(f"{name}: calls of the text", {c["call"] for c in calls} <= known)
        whole = read_profile(said.split("\n\nsent in a step")[0])["call"][-1]
        self.check(f"{name}: all calls", sum(c["calls"] for c in calls) == whole[1], whole)
        if ranks == 1:
            self.check(f"{name}: seconds add up", near(1e3 * sum(c["seconds"] for c in calls), whole[2], 0.02), whole)
        else:
            order = [c["least_seconds"] <= 1.001 * c["slowest_rank_seconds"] and
                     c["fastest_rank_seconds"] <= 1.001 * c["seconds"] <= 1.002 * c["slowest_rank_seconds"] for c in calls]  # fmt: skip
            self.check(f"{name}: ranks", all(order))

    def check_layers(self, name, calls):
        layers = {c.get("layer") for c in calls if c.get("block")}
        self.check(f"{name}: layers", layers == set(range(3)), layers)
        inside = [c for c in calls if "{}" in c["call"]]
        self.check(f"{name}: blocks", inside and all(c["block"] == "blocks" for c in inside))

    def check_sent(self, name, said, calls):
        """Collectives have axes, and the bytes of the table by kind and axis."""
        sent = [c for c in calls if "sent_bytes" in c]
        self.check(f"{name}: fields of collectives", sent and all(SENT <= set(c) for c in sent))
        self.check(f"{name}: collectives take time", all(c["exchange_seconds"] > 0 for c in sent))
        table = {kind: n for kind, axis, n in sent_rows(said)}
        found = {kind: sum(c["sent_bytes"] for c in sent if f"{kind} " in c["call"]) for kind in table}
        self.check(f"{name}: bytes", table and all(near(found[k], table[k]) for k in table), f"{found} {table}")

    # ---- runs ----

    def one(self):
        trainer = self.model.compile("one", self.curve, "--cluster", SLOW)
        said, log, head, calls = self.train(trainer)
        self.check_calls("one rank", said, head, calls, 1, trainer.with_suffix(".c").read_text())
        self.check_layers("one rank", calls)
        self.check("one rank: predictions", all(c["predicted_seconds"] > 0 for c in calls) and "plan_hash" not in head)
        shown = self.inspect("--run", log)
        self.check("one rank: tables", all(f"\n{x} " in shown for x in ("block", "blocks", "outside blocks", "operators", "dot", "all calls")), shown)
        self.check("one rank: predicted", re.search(r"calls .* measured, .* predicted, ratio", shown) and "collective" not in shown, shown)
        return log

    def two(self, alone):
        plan = self.plan(SLOW_LINK, "--plan-preset", "fsdp")
        trainer = self.model.compile("two", self.curve, "--cluster", SLOW_LINK, "--plan", plan, "--transport", "tcp")
        text = trainer.with_suffix(".c").read_text()
        said, log, head, calls = self.train(trainer, "--spawn", "2")
        self.check_calls("two ranks", said, head, calls, 2, text)
        self.check_layers("two ranks", calls)
        self.check_sent("two ranks", said, calls)
        self.check("two ranks: waits", any(": wait for " in c["call"] and c["axis"] for c in calls))
        self.check_tables(plan, log, calls)
        self.check_refused(plan, log, alone)
        self.check_hashes(plan, head)
        self.by_hand(trainer)

    def check_tables(self, plan, log, calls):
        shown = self.inspect(plan, "--run", log)
        step = re.search(r"step +\S+ \S+ measured, (\S+ \S+) predicted, ratio", shown)
        simulated = re.search(r"simulated (\S+ \S+) =", self.inspect(plan))
        self.check("the step that the plan predicts", step and simulated and step[1] == simulated[1], shown)
        tables = [t.splitlines() for t in shown.split("\n\n")[1:]]
        self.check("three tables", [t[0].split()[0] for t in tables] == ["block", "operators", "collective"], shown)
        kinds = {c["call"].split(": ")[-1].split()[-2] for c in calls if "axis" in c}
        self.check("a row for each collective", {t.split()[0] for t in tables[2][1:-1]} == kinds, shown)
        for t in tables:
            rows = [row for row in t[1:-1] if " others " not in row]
            misses = [self.seconds(m) for m in re.findall(r" ([+-][\d.]+ \w+) ", "\n".join(rows))]
            self.check(f"the largest misses first by {t[0].split()[0]}", misses == sorted(misses, reverse=True), "\n".join(t))

    @staticmethod
    def seconds(text):
        number, unit = text.split()
        return abs(float(number)) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]

    def check_refused(self, plan, log, alone):
        lines = log.read_text().splitlines(keepends=True)

        def changed(*kept):
            path = self.work / "changed.jsonl"
            path.write_text("".join(kept))
            return path

        self.refused(r"one.jsonl: error: it is of another program: '\w+' with no plan \(1 rank, .*\), expected plan \w{16} \(2 ranks\)", plan, "--run", alone)
        other = re.sub(r'"plan_hash": "\w*"', '"plan_hash": "00000000000000ff"', lines[3])
        self.refused(r"another program: '\w+' with plan 00000000000000ff \(2 ranks as .*\), expected plan", plan, "--run", changed(*lines[:3], other, *lines[4:]))
        cut = changed(*lines[:-1], lines[-1][:40])
        self.refused(rf"changed.jsonl: line {len(lines)}: error: not JSON: byte \d+", plan, "--run", cut)
        self.refused(r"changed.jsonl: error: it ends after 2 of \d+ calls: the log was cut short", plan, "--run", changed(*lines[:6]))
        self.refused("changed.jsonl: error: it has no calls: a run with --profile --log FILE writes them at its end", plan, "--run", changed(*lines[:3]))
        self.refused("none.jsonl: error: cannot read '.*none.jsonl': No such file or directory", plan, "--run", "none.jsonl")

    def plan_hash(self, *options):
        text = run(self.shardcc, self.model.onnx, *self.model.options(self.curve), "--cluster", SLOW_LINK, *options, "--emit", "c")
        return re.search(r"\.plan_hash = 0x(\w{16})", text)[1]

    def check_hashes(self, plan, head):
        """A program that is searched like the plan has its hash; one of an edited plan has that of the edited file."""
        searched = self.plan_hash("--ranks", "2", "--plan-preset", "fsdp")
        self.check("a program without --plan has the plan's hash", searched == head["plan_hash"], f"{searched} {head}")
        content = json.loads(plan.read_text())
        weight = next(v for v in content["values"] if v["name"] == "head.weight")
        weight["spec"] = "[x0,-]"
        edited = self.work / "edited.plan.json"
        edited.write_text(json.dumps(content))
        other = self.plan_hash("--plan", edited)
        self.check("a program of an edited plan has another hash", other != searched, other)
        log = self.work / "edited.jsonl"
        log.write_text(json.dumps({**head, "plan_hash": other, "calls": 0}))
        self.inspect(edited, "--run", log)
        self.refused("it is of another program", plan, "--run", log)

    def by_hand(self, trainer):
        """Rank 0 alone has --profile: both measure."""
        log = self.work / "by_hand.jsonl"
        where = ["--size", "2", "--master", f"127.0.0.1:{20000 + os.getpid() % 20000}", "--data", self.model.data(), "--log", log, *FEW]
        other = subprocess.Popen([trainer, *where, "--rank", "1"])
        run(trainer, *where, "--rank", "0", "--profile")
        self.check("rank 0 alone asks for a profile", other.wait() == 0 and "slowest_rank_seconds" in lines_of(log)[4])

    def gpus(self, toolkit):
        model = Model(self.model.onnx, self.shardcc, self.work / "gpu", cc=QUICK_CC, cuda=toolkit)
        plan = self.plan(SLOW_LINK, "--plan-preset", "fsdp", "--target", "cuda")
        trainer = model.compile("gpus", self.curve, "--cluster", SLOW_LINK, "--plan", plan)
        late = {"CUDART_DEVICES": "2", "CUDART_LAZY": "1"}
        for by in ("nccl", "host"):
            said, log, head, calls = self.train(trainer, "--spawn", "2", "--collectives", by, env=late)
            self.check_calls(f"GPUs, {by}", said, head, calls, 2, trainer.with_suffix(".c").read_text())
            self.check_sent(f"GPUs, {by}", said, calls)
            self.check(f"GPUs, {by}: tables", "\ncollective " in self.inspect(plan, "--run", log) and head["device"] == "cuda", head)


def test(checks, path, options, toolkit, work):
    t = Calls(checks, Model(path, options.shardcc, work, cc=QUICK_CC))
    t.two(t.one())
    t.gpus(toolkit)


def main():
    options = parser(__doc__).parse_args()
    toolkit = gpu_toolkit(options)
    options.names = options.names or ("nanogpt",)
    for_models(options, lambda checks, path, work: test(checks, path, options, toolkit, work))


if __name__ == "__main__":
    main()
