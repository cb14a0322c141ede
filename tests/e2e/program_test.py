#!/usr/bin/env python3
"""Programs' texts, read back: they print as themselves and compile to the same C, and trainers made of them train alike.

  program_test.py --shardcc build/shardcc
"""
import json
import re
from pathlib import Path

import numpy as np

from harness import read_log, run, test_in_folder, without_command, write_data
from model import loss_text

TINY = Path(__file__).parents[2] / "models/tiny"
SEEDS = Path(__file__).parents[2] / "tests/fuzz/program"
RANKS = {1: [], 3: ["--ranks", "3", "--plan-preset", "fsdp"], 4: ["--ranks", "4", "--plan-preset", "fsdp"]}
ADAMW = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]
# Other programs: collectives that run during computation in loops, updates after the norm, micro-batches, one set alone.
OTHERS = {
    "overlap": ["nanogpt", *ADAMW, "--ranks", "2", "--mesh", "tp=2", "--plan-preset", "megatron", "--cluster", "h100x2"],
    "norm": ["nanogpt", *ADAMW, "--clip-norm", "1", "--threads", "2"],
    "micro": ["mlp", *ADAMW, "--accumulate", "2"],
    "unfused": ["cnn", *ADAMW, "--no-fuse"],
    "predicts": ["lstm"],
    "stages": ["resnet", *ADAMW, "--threads", "2", "--memory", "17MiB", "--recompute", "chain"],
    "stages of layers": ["nanogpt", *ADAMW, "--threads", "2", "--memory", "2060KiB", "--recompute", "chain"],
}
REFUSED = {
    "--loss": ADAMW[:2], "--ranks": ["--ranks", "2"], "--bind": ["--bind", "n=2"], "--threads": ["--threads", "2"],
    "--dump-after": ["--dump-after", "fold"], "--emit ir": ["--emit", "ir"], "--mesh": ["--mesh", "2"],
    "--no-fuse": ["--no-fuse"],
}  # fmt: skip


# What is wrong in the text of stages that run again, what is there, what replaces it, and what is said.
WRONG_CALLS = [
    ("a slot over another", r"^(call 1 layer 1) @(\d+) (.*\n)(call 1 layer 2 last @\d+ \d+) \d+", r"\1 @\2 \3\4 \2", "over an"),
    ("a slot outside", r"^call 0 @\d+", "call 0 @64", "isn't between"),
    ("a slot at an odd byte", r"^(call 0 @\d+)\d", r"\g<1>1", "doesn't fit|isn't between"),
    ("no such part", r"^call 0", "call 99", "99 isn't between 0 and"),
    ("no such layer", r"^(call \d+ layer) \d+", r"\1 9", "9 isn't between"),
    ("half a loop", r"^part (\d+) to \d+ (\w+ stage \d+ \w+)", r"part \1 to \1 \2", "a part holds whole loops"),
    ("no pools", r"^calls stages (\d+) pools \d+", r"calls stages \1 pools 1", "buffer 1 has no pools"),
    ("too few stages", r"^calls stages \d+", "calls stages 1", "isn't between 0 and 0"),
    ("a call too few", r"^call .*\n(?!call)", "", "must be kept|is shown 0 times|where"),
    ("a pool of no kind", r"pool handed", "pool hand", "a pool"),
]  # fmt: skip


class Programs:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def compile(self, *args, **more):
        return run(self.shardcc, *args, cwd=self.work, **more)

    def text(self, name):
        return (self.work / name).read_text()

    def read_back(self, name, model, options, cluster=()):
        self.compile(model, *options, "--emit", "program", "-o", "first.program")
        self.compile(model, *options, "--emit", "c", "-o", "first.c")
        self.compile("first.program", "--emit", "program", "-o", "again.program")
        self.compile("first.program", *cluster, "--emit", "c", "-o", "again.c")
        self.checks.check(f"{name}: the same text", self.text("first.program") == self.text("again.program"))
        same = without_command(self.text("first.c")) == without_command(self.text("again.c"))
        self.checks.check(f"{name}: the same C", same)

    def models(self):
        for model in sorted(TINY.glob("*.onnx")):
            info = json.loads(model.with_suffix(".json").read_text())
            options = ["--loss", loss_text(info, {}), "--optimizer", "adamw"]
            for ranks, more in RANKS.items():
                self.read_back(f"{model.stem} of {ranks}", model, [*options, *more])
        for name, (model, *options) in OTHERS.items():
            at = options.index("--cluster") if "--cluster" in options else len(options)
            self.read_back(name, TINY / f"{model}.onnx", options, options[at : at + 2])

    def train(self, program):
        run(program, "--data", "data", "--load", "model.safetensors", "--quiet", "--steps", 3, "--log", "log", "--check-arena", cwd=self.work)
        return [x["loss"] for x in read_log(self.work / "log")]

    def trainers(self):
        """A trainer and a folder of sources from a text; it brings no weights."""
        ref, info = np.load(TINY / "mlp.npz"), json.loads((TINY / "mlp.json").read_text())
        arrays = {n: ref[f"data/{n}"] for n in [*info["inputs"], "labels"]}
        write_data(self.work / "data", {n: np.concatenate([x.reshape(-1, *x.shape[2:])] * 3) for n, x in arrays.items()})
        self.compile(TINY / "mlp.onnx", *ADAMW, "--emit", "program", "-o", "text.program")
        self.compile(TINY / "mlp.onnx", *ADAMW, "-o", "model")
        said = self.compile("text.program")
        self.checks.check("a trainer of a text", "wrote         text (1 rank), text.c" in said, said)
        self.checks.check("it has no weights", not (self.work / "text.safetensors").exists())
        self.compile("text.program", "--emit", "source", "-o", "source")
        run("make", "-j2", cwd=self.work / "source")
        losses = [self.train(program) for program in ("./model", "./text", "source/source")]
        self.checks.check("they train alike", losses[0] and losses == [losses[0]] * 3, str(losses))

    def nested(self):
        """A program whose layers run again and then backward, segment by segment, computes what it does without segments."""
        rng = np.random.default_rng(1)
        write_data(self.work / "rows", {n: rng.standard_normal((8, 6)).astype(np.float32) for n in "xt"})
        for name in "again", "nested":
            self.compile(SEEDS / f"{name}.program", "--init", "normal(0.5)", "-o", name)
            words = ["--data", "rows", "--seed", 1, "--no-shuffle", "--quiet", "--steps", 3, "--log", f"{name}.jsonl"]
            run(f"./{name}", *words, "--save", f"{name}.safetensors", "--check-arena", cwd=self.work)
        losses = [[x["loss"] for x in read_log(self.work / f"{name}.jsonl")] for name in ("again", "nested")]
        self.checks.check("nested loops: the same losses", losses[0] == losses[1] and len(losses[0]) == 3, str(losses))
        saved = [(self.work / f"{name}.safetensors").read_bytes() for name in ("again", "nested")]
        self.checks.check("nested loops: the same parameters", saved[0] == saved[1])
        said = self.text("nested.c")
        self.checks.check("nested loops in C", "for (int64_t layer2 = layer * 2 + 1; layer2 >= layer * 2; layer2--)" in said)

    def wrong_calls(self):
        """Texts of stages that run again, each wrong in one place."""
        text = (SEEDS / "stages.program").read_text()
        for what, old, new, message in WRONG_CALLS:
            (self.work / "calls.program").write_text(re.sub(old, new, text, count=1, flags=re.M))
            said = self.compile("calls.program", "--emit", "c", status=1)
            self.checks.check(f"a text with {what}", re.search(message, said), said)

    def refused(self):
        for name, options in REFUSED.items():
            said = self.compile("text.program", *options, status=2)
            self.checks.check(f"{name} is refused", f"{name} doesn't apply: a program's text has passed all passes" in said, said)
        said = run(self.shardcc, "plan", "text.program", *ADAMW, cwd=self.work, status=2)
        self.checks.check("a plan is refused", "a program has its plan already" in said, said)
        # The first group reads its operands in another order.
        wrong = re.sub(r"\{add (%\w+)\(0, 1\)", r"{add \1(1, 0)", self.text("text.program"), count=1)
        (self.work / "wrong.program").write_text(wrong)
        said = self.compile("wrong.program", "--emit", "c", status=1)
        self.checks.check("a wrong program", "the program doesn't compute what its graph says" in said and "it reads" in said, said)
        self.wrong_calls()
        (self.work / "cut.program").write_text(wrong[:-100])
        said = self.compile("cut.program", "--emit", "c", status=1)
        line = wrong[:-100].count("\n") + 1
        self.checks.check("a text that is cut", f"cut.program: error: line {line}: " in said, said)


def test(t):
    t.models()
    t.trainers()
    t.nested()
    t.refused()


test_in_folder(Programs, test)
