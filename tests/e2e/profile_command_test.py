#!/usr/bin/env python3
"""shardcc profile: its tables as they are kept in tests/cases, sums against the program's own text, drawings, the largest
size that fits against all sizes, and messages.

  profile_command_test.py --shardcc build/shardcc
"""
import csv
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from golden_test import compare
from harness import run, test_in_folder
from model import loss_text

ROOT = Path(__file__).parents[2]
CASES, TINY, DYNAMIC, DEMO = ROOT / "tests/cases", ROOT / "models/tiny", ROOT / "models/tiny_dynamic", ROOT / "models/demo_gpt.onnx"
LOSS = ["--loss", "cross_entropy(logits, labels)"]
ADAMW = [*LOSS, "--optimizer", "adamw", "--threads", "2"]
# By name of the file in tests/cases: the model and the options.
TABLES = {
    "mlp_block": ["mlp", *ADAMW, "--cluster", "h100x1", "--accumulate", "2"],
    "nanogpt_operator": ["nanogpt", *ADAMW, "--ranks", "2", "--mesh", "tp=2", "--plan-preset", "megatron", "--cluster", "h100x2", "--by", "operator"],
    "nanogpt_time": ["nanogpt", *ADAMW, "--clip-norm", "1", "--by", "time"],
    "lstm_time": ["lstm", "--threads", "2", "--by", "time"],
}
STEPS = {"eager": [], "clip": ["--clip-norm", "1"], "accumulate": ["--accumulate", "2"]}
RANKS = {1: [], 2: ["--ranks", "2", "--mesh", "2", "--plan-preset", "zero1", "--cluster", "h100x2"]}
KINDS = ["parameters", "half copies", "optimizer", "accumulators", "gradients", "saved", "activations", "copies", "constants", "workspace", "gaps"]
# Names that a table, a drawing and a terminal must not take for their own signs.
ODD = r"""graph "odd" training {
  input %x f32[4,6]
  parameter %"a,\"b\" <c>&\xc3\xa9" f32[6,5]
  %y f32[4,5] = dot(%x, %"a,\"b\" <c>&\xc3\xa9") eq="mk,kn->mn" from "q\"," "m,<&>"
  output model "y" %y
}
"""
# Arguments, message; exit status 2.
OPTIONS = [
    ([], "no model given; --help tells more"),
    (["a.onnx", "b.onnx"], "one model at a time: 'a.onnx' and 'b.onnx'"),
    (["a.onnx", "--by", "layer"], "--by: 'layer' is not one of block, operator, time"),
    (["a.onnx", "--csv", ""], "--csv: the name is empty"),
    (["a.onnx", "-o", "it"], "unknown option '-o'; --help lists them"),
    (["a.onnx", "--cvs", "it"], "unknown option '--cvs' (did you mean '--csv'?)"),
    (["a.onnx", "--optimizer", "adamw"], "--optimizer needs --loss"),
    (["a.onnx", "--bind", "batch=1..4"], "--bind batch=1..4 needs --memory"),
    *(
        (["a.onnx", "--memory", "1GiB", "--bind", text], f"--bind: '{text}' is not of the form DIM=N, or DIM=A..B with 1 <= A <= B")
        for text in ("batch=8..4", "batch=0..4", "batch=-1..4", "batch=1..1073741825", "batch=1..9223372036854775808", "batch=1..2..3",
                     "batch=1..", "batch=..4", "batch=1...4", "=1..4", "batch=a..b", "1..4", "batch=1,2")
    ),
    (["a.onnx", "--memory", "1GiB", "--bind", "a=1..4", "--bind", "b=1..4"], "--bind: one range at a time: 'a' and 'b'"),
    (["a.onnx", "--memory", "1GiB", "--bind", "a=1..4", "--svg", "it.svg"], "--svg doesn't go with a range of --bind"),
    (["a.onnx", "--memory", "1GiB", "--bind", "a=1..4", "--by", "time"], "--by doesn't go with a range of --bind"),
    (["a.ir", "--memory", "1GiB", "--bind", "a=1..4"], "--bind: a graph's text has its shapes and parameters already"),
    (["a.program", "--memory", "1GiB", "--bind", "a=1..4"], "--bind doesn't apply: a program's text has passed all passes"),
]  # fmt: skip
# Arguments, message; exit status 1.
WRONG = [
    (["none.onnx"], "none.onnx: error: cannot read 'none.onnx': No such file or directory"),
    (["mlp.onnx", "--csv", "none/a.csv"], "mlp.onnx: error: cannot write into 'none': No such file or directory"),
    (["mlp.onnx", "--csv", "."], "mlp.onnx: error: cannot write '.': it is a folder"),
    (["mlp.onnx", "--svg", "mlp.onnx"], "mlp.onnx: error: cannot write 'mlp.onnx': it is the model"),
    (["mlp.onnx", "--plan", "none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["mlp.onnx", "--cluster", "none"], "none: error: cannot read 'none': No such file or directory"),
    (
        ["mlp.onnx", "--memory", "1GiB", "--bind", "batch=1..4"],
        "mlp.onnx: error: --bind 'batch=1': the model has no dim of that name, only numbers\n  that is with batch=1",
    ),
]


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


class Slots:
    """How much of the buffers of a program's text is in use: turns of a loop take or free their slots one by one."""

    def __init__(self, text):
        self.length, self.end, self.slots = {}, {}, {}
        of_set, opened = "train", []
        for line in text.splitlines():
            buffer = re.match(r"buffer .* @(\d+) (\d+) (\w+) live (\d+) to (\d+)(?: x \d+)? slots (\d+)(?: taken (\d+))?(?: freed (\d+))?:", line)
            loop = re.match(r" +(\d+) loop .*?x (\d+)", line)
            if buffer:
                at, size, name, first, last, slot, taken, freed = buffer.groups()
                self.slots[at, size, first, last] = (name, int(slot), taken and int(taken), freed and int(freed))
            of_set = line.split()[0] if line.startswith(("train ", "predict ")) else of_set
            if loop:
                opened.append((of_set, int(loop[1])))
                self.length[opened[-1]] = int(loop[2])
            elif re.match(r" +\d+ end\b", line):
                self.end[opened.pop()] = int(line.split()[0])

    def of(self, b):
        return self.slots.get((b["offset"], b["bytes"], b["first"], b["last"]))

    def unused(self, b, item, turn):
        """How many of the buffer's slots are free at an item, in the first (0) or last (1) turn of the loop around it."""
        if not self.of(b):
            return 0
        name, _, taken, freed = self.of(b)
        for loop, is_taken in (taken, True), (freed, False):
            if loop is None:
                continue
            end, turns = self.end[name, loop], self.length[name, loop]
            after = item >= end or (item > loop and turn)
            if is_taken and item <= end:
                return 0 if after else turns - 1
            if not is_taken and item >= loop:
                return turns - 1 if after else 0
        return 0

    def held(self, b, item, turn):
        """The bytes in use by category."""
        unused, held = self.unused(b, item, turn), Counter()
        if not self.of(b):
            held[b["category"]] = int(b["bytes"])
            return held
        name, slot, taken, freed = self.of(b)
        turns = self.length[name, freed if taken is None else taken]
        of_slot = {k: int(b[k]) // turns for k in KINDS if k != b["category"]}
        of_slot[b["category"]] = slot - sum(of_slot.values())
        for k in KINDS:
            held[k] = int(b[k]) - unused * of_slot[k]
        return held


class Profiles:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks
        shutil.copy(TINY / "mlp.onnx", work)

    def profile(self, *args):
        return subprocess.run([self.shardcc, "profile", *map(str, args)], cwd=self.work, capture_output=True, text=True, timeout=120)

    def tables(self):
        for name, (model, *options) in TABLES.items():
            compare(self.checks, CASES / f"{name}.profile", run(self.shardcc, "profile", TINY / f"{model}.onnx", *options, cwd=self.work))
        sizes = [*ADAMW, "--accumulate", "3", "--memory", "20MiB", "--bind", "batch=1..64"]
        compare(self.checks, CASES / "demo_gpt_sizes.profile", run(self.shardcc, "profile", DEMO, *sizes, cwd=self.work))
        self.profile(TINY / "mlp.onnx", *ADAMW, "--accumulate", "2", "--svg", "mlp.svg")
        compare(self.checks, CASES / "mlp.svg", (self.work / "mlp.svg").read_text())

    # ---- sums ----

    def buffers(self, model, options):
        """The buffers of a program, from its text: offset, bytes and, unless it is persistent, set, first and last item; and
        their slots."""
        text = run(self.shardcc, model, *options, "--emit", "program", cwd=self.work)
        arena = int(re.search(r"^program .* arena (\d+) ", text, re.M)[1])
        line = r"^buffer \d+ (\w+) @(\d+) (\d+) (\w+)(?: live (\d+) to (\d+))?"
        found = re.findall(line, text, re.M)
        buffers = Counter((int(at), int(size), first, last) for kind, at, size, _, first, last in found if kind == "persistent" or first)
        return arena, buffers, Slots(text)

    def sums(self, what, model, options):
        """Do the rows of a profile agree with the program's text, and do the categories add up to its arena?"""
        done = self.profile(model, *options, "--csv", "a.csv")
        if done.returncode and "micro-batches need a model exported with a dynamic batch" in done.stderr:
            return False
        if not self.checks.check(f"{what}: profile", done.returncode == 0, done.stderr):
            return True
        rows = rows_of(self.work / "a.csv")
        buffers = [r for r in rows if r["row"] == "buffer"]
        statements = [r for r in rows if r["row"] == "statement"]
        (total,) = (r for r in rows if r["row"] == "arena")
        arena, expected, slots = self.buffers(model, options)
        found = Counter((int(b["offset"]), int(b["bytes"]), b["first"], b["last"]) for b in buffers)
        self.checks.check(f"{what}: buffers", found == expected, str((found - expected, expected - found)))

        def held_at(item, is_live):
            """The bytes in use by category, in the turn of the loop in which there are more."""
            turns = [sum((slots.held(b, item, turn) for b in buffers if is_live(b)), Counter()) for turn in (0, 1)]
            return max(turns, key=lambda held: sum(held.values()))

        held = held_at(int(total["number"]), lambda b: b["at_peak"] == "1")
        held["gaps"] = arena - sum(held.values())
        ok = int(total["bytes"]) == arena and {k: int(total[k]) for k in KINDS} == {k: held[k] for k in KINDS} and held["gaps"] >= 0
        self.checks.check(f"{what}: categories at the peak are the arena", ok, f"{arena} {held} {total}")

        def used(i):
            return sum(held_at(i, lambda b: not b["first"] or (b["phase"] == steps and int(b["first"]) <= i <= int(b["last"]))).values())

        steps = "training" if "--loss" in options else "prediction"
        wrong = [r["number"] for r in statements if sum(int(r[k]) for k in KINDS) != arena or int(r["bytes"]) != used(int(r["number"]))]
        self.checks.check(f"{what}: bytes at every statement", statements and not wrong, str(wrong))
        most = max(int(r["bytes"]) for r in statements)
        at_peak = [r for r in statements if r["at_peak"] == "1"]
        ok = [int(r["bytes"]) for r in at_peak] == [most] if total["phase"] == steps else not at_peak
        self.checks.check(f"{what}: the peak", ok and most <= arena, f"{most} {at_peak}")
        summed = any(b["category"] == "accumulators" for b in buffers)
        self.checks.check(f"{what}: accumulators", summed == ("--accumulate" in options))
        return True

    def models(self):
        summed = 0
        for model in sorted(TINY.glob("*.onnx")):
            info = json.loads(model.with_suffix(".json").read_text())
            for step, options in STEPS.items():
                for ranks, more in RANKS.items():
                    args = ["--loss", loss_text(info, {}), "--optimizer", "adamw", "--threads", "2", *options, *more]
                    summed += self.sums(f"{model.stem}, {step}, {ranks}", model, args) and step == "accumulate"
        self.checks.check("models with micro-batches", summed >= 4, str(summed))
        for model in sorted(DYNAMIC.glob("*.onnx")):
            for ranks, more in RANKS.items():
                self.sums(f"{model.stem} with batch 4, accumulate, {ranks}", model, [*ADAMW, "--accumulate", "2", "--bind", "batch=4", *more])
        self.sums("lstm predicts", TINY / "lstm.onnx", [])

    def times(self):
        """Rows add up to the simulated step, and by block as by operator."""
        args = [TINY / "gpt2.onnx", *ADAMW, "--cluster", "h100x1"]
        said = self.profile(*args, "--csv", "a.csv").stdout
        rows = [r for r in rows_of(self.work / "a.csv") if r["row"] == "statement"]
        total = re.search(r"^all .*", said, re.M)[0].split()
        seconds = sum(float(r["seconds"]) for r in rows)
        simulated = float(re.search(r"^simulated +(\d+) us", said, re.M)[1])
        self.checks.check("seconds are the simulated step", abs(1e6 * seconds - simulated) <= 1, f"{seconds} {simulated}")
        runs, statements = sum(int(r["runs"]) for r in rows), len(rows)
        self.checks.check("statements and runs", total[1:3] == [str(statements), str(runs)], f"{total} {statements} {runs}")
        other = re.search(r"^all .*", self.profile(*args, "--by", "operator").stdout, re.M)[0].split()
        self.checks.check("the same total by operator", other == total, f"{other} {total}")

    def overlap(self):
        """Seconds of statements are the computation and the communication of the simulated step, hidden or not."""
        _, *options = TABLES["nanogpt_operator"]
        said = self.profile(TINY / "nanogpt.onnx", *options, "--csv", "a.csv").stdout
        numbers = re.search(r"^simulated +(\S+ us) = compute (\S+ us) \+ exposed communication (\S+ us) \((\S+ us) hidden\)$", said, re.M)
        step, *parts = (float(x.split()[0]) for x in numbers.groups())
        seconds = sum(float(r["seconds"]) for r in rows_of(self.work / "a.csv") if r["row"] == "statement")
        ok = abs(1e6 * seconds - sum(parts)) <= 1 and abs(step - parts[0] - parts[1]) <= 1 and parts[2] > 0
        self.checks.check("seconds are computation and communication", ok, f"{seconds} {step} {parts}")

    def plans(self):
        """The profile of a plan's program has the arena and the holders that the plan's file has."""
        cluster = ["--cluster", "h100x2"]
        for name, *options in (("nanogpt", "--mesh", "2"), ("mlp", "--accumulate", "2", "--plan-preset", "fsdp")):
            run(self.shardcc, "plan", TINY / f"{name}.onnx", *ADAMW, *cluster, "--target", "cpu", *options, "-o", "plan.json", cwd=self.work)
            plan = json.loads((self.work / "plan.json").read_text())
            done = self.profile(TINY / f"{name}.onnx", "--plan", "plan.json", *cluster, "--csv", "a.csv")
            row = rows_of(self.work / "a.csv")[-1]
            ok = done.returncode == 0 and int(row["bytes"]) == plan["bytes"] and row["name"] == plan["fullest"]
            ok = ok and {h["kind"]: h["bytes"] for h in plan["holders"]} == {k: int(row[k]) for k in KINDS}
            self.checks.check(f"plan of {name}", ok, f"{done.stderr} {row} {plan['holders']}")
        done = self.profile(TINY / "mlp.onnx", "--plan", "plan.json", "--memory", "1GiB", "--bind", "batch=1..4")
        said = "shardcc: error: --bind: the plan was made without this option\n"
        self.checks.check("a plan and a range", (done.returncode, done.stderr) == (2, said), done.stderr)

    def texts(self):
        """A program's text has the same profile as the model, except for numbers of equal names and of buffers that became
        part of others and, on several ranks, for activations and copies: the text doesn't know storage specs."""
        for ranks, more in RANKS.items():
            (self.work / "gpt2.program").write_text(run(self.shardcc, TINY / "gpt2.onnx", *ADAMW, *more, "--emit", "program", cwd=self.work))
            done = self.profile("gpt2.program", "--csv", "text.csv", *more[-2:])
            self.profile(TINY / "gpt2.onnx", *ADAMW, *more, "--csv", "model.csv")
            without = ("name", "number", *(("category", "saved", "activations", "copies") if ranks > 1 else ()))
            rows = [[{k: x for k, x in r.items() if k not in without} for r in rows_of(self.work / f)] for f in ("text.csv", "model.csv")]
            self.checks.check(f"a text of {ranks}", rows[0] == rows[1], done.stderr)

    # ---- files ----

    def files(self):
        (self.work / "a<b&.ir").write_text(ODD)
        done = self.profile("a<b&.ir", "--csv", "odd.csv", "--svg", "odd.svg", "--by", "time")
        self.checks.check("odd names", done.returncode == 0 and done.stdout.isascii(), done.stderr)
        rows = rows_of(self.work / "odd.csv")
        names = [r["name"] for r in rows if r["category"] == "parameters"]
        self.checks.check("names in the table", names == [r'a,\"b\" <c>&\xc3\xa9'], str(names))
        self.checks.check("cells in the table", all(None not in r and None not in r.values() for r in rows))
        self.checks.check("modules in the table", [r["name"] for r in rows if r["row"] == "statement"] == ["m,<&>"])
        for name, *options in (("odd", "a<b&.ir"), ("gpt2", TINY / "gpt2.onnx", *ADAMW), ("lstm", TINY / "lstm.onnx")):
            drawings = []
            for _ in range(2):
                self.profile(*options, "--svg", "a.svg")
                drawings.append((self.work / "a.svg").read_text())
            root = ElementTree.fromstring(drawings[0])
            tags = Counter(x.tag.partition("}")[2] for x in root.iter())
            ok = root.tag == "{http://www.w3.org/2000/svg}svg" and tags["polygon"] >= 2 and tags["text"] > 10
            title = root.find("{http://www.w3.org/2000/svg}title").text
            ok = ok and title == f"{Path(options[0]).name}: bytes in use over {'a step' if name == 'gpt2' else 'a prediction'}"
            self.checks.check(f"drawing of {name}", ok and drawings[0] == drawings[1], f"{tags} {title}")
            points = [p for x in root.iter() for p in x.get("points", "").split()]
            inside = all(80 <= float(x) <= 800 and 50 <= float(y) <= 460 for x, y in (p.split(",") for p in points))
            self.checks.check(f"areas of {name} are in the chart", points and inside)
        before = sorted(p.name for p in self.work.iterdir())
        self.profile("mlp.onnx", "--csv", "none/a.csv", "--svg", "b.svg")
        self.checks.check("no file after a mistake", before == sorted(p.name for p in self.work.iterdir()))

    # ---- the largest size ----

    def largest(self):
        """The largest batch that fits, against all batches."""
        for options in ([*ADAMW], [*ADAMW, "--accumulate", "3"], ["--threads", "2"]):
            peaks = {}
            for batch in range(1, 25):
                args = [DEMO, *options, "--bind", f"batch={batch}", "--csv", "a.csv"]
                if self.profile(*args).returncode == 0:
                    peaks[batch] = int(rows_of(self.work / "a.csv")[-1]["bytes"])
            options += ["--recompute", "none"] * (options[0] == "--loss")
            for memory in [min(peaks.values()) - 1, *sorted({x + d for x in peaks.values() for d in (-1, 0)})[:: max(1, len(peaks) // 3)], 1 << 40]:
                what = f"demo_gpt {' '.join(options[4:])} in {memory}"
                done = self.profile(DEMO, *options, "--memory", memory, "--bind", "batch=1..24", "--csv", "sizes.csv")
                found = re.search(r"^largest +batch=(\d+): ", done.stdout, re.M)
                expected = max((b for b, x in peaks.items() if x <= memory), default=None)
                ok = (int(found[1]) if found else None) == expected and done.returncode == (0 if expected else 4)
                self.checks.check(what, ok, f"{found and found[1]}, not {expected} {done.stderr}")
                rows = {int(r["size"]): (int(r["bytes"] or 0), r["fits"] == "1") for r in rows_of(self.work / "sizes.csv")}
                self.checks.check(f"{what}: sizes", all(x == (peaks.get(b, 0), b in peaks and peaks[b] <= memory) for b, x in rows.items()), str(rows))
            least = min(peaks, key=peaks.get)
            said = f"demo_gpt.onnx: error: nothing from batch=1 to 24 fits in 1 bytes: batch={least} takes {peaks[least]} bytes\n"
            done = self.profile(DEMO, *options, "--memory", 1, "--bind", "batch=1..24")
            self.checks.check("nothing fits", done.returncode == 4 and done.stderr == said, done.stderr)
        done = self.profile(DEMO, *ADAMW, *RANKS[2], "--memory", "16MiB", "--bind", "batch=1..8")
        self.checks.check("on two ranks", done.returncode == 0 and "largest       batch=" in done.stdout, done.stdout + done.stderr)

    def messages(self):
        for status, cases in ((2, OPTIONS), (1, WRONG)):
            for args, message in cases:
                done = self.profile(*args)
                said = f"{'shardcc: error: ' if status == 2 else ''}{message}\n"
                ok = (done.returncode, done.stderr, done.stdout) == (status, said, "")
                self.checks.check(f"profile {' '.join(args)}", ok, done.stderr)
        self.checks.check("--help", self.profile("--help").stdout.startswith("shardcc profile MODEL.onnx [--by WHAT]"))


def test(profiles):
    profiles.tables()
    profiles.models()
    profiles.times()
    profiles.overlap()
    profiles.plans()
    profiles.texts()
    profiles.files()
    profiles.largest()
    profiles.messages()


if __name__ == "__main__":
    test_in_folder(Profiles, test)
