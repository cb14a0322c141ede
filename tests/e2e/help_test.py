#!/usr/bin/env python3
"""The options in docs/commands.md and docs/trainer.md are what --help prints.

  help_test.py --shardcc build/shardcc

Below a line <!-- COMMAND --help --> is the help of that command as a block; UPDATE=1 rewrites the blocks.
"""
import os
import re

from harness import run, test_in_folder
from model import QUICK_CC, REPOSITORY

PAGES = ["docs/commands.md", "docs/trainer.md"]
BLOCK = re.compile(r"(<!-- (.+) --help -->\n\n)((?:    .*\n|\n(?=    ))*)")


def indented(text):
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


class Help:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks, self.seen = shardcc, work, checks, set()

    def help_of(self, command):
        """What a command prints; `./gpt` is the trainer of a model with tokens."""
        name, *words = command.split()
        if name == "shardcc":
            return run(self.shardcc, *words, "--help")
        train = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--bind", "batch=2"]
        run(self.shardcc, REPOSITORY / "models/demo_gpt.onnx", "-o", self.work / "gpt", "--no-weights", "--init", "normal(0.02)", "--cc", QUICK_CC, *train)
        return run(self.work / "gpt", *words, "--help").replace(str(self.work / "gpt"), "./gpt")

    def page(self, path):
        text = path.read_text()

        def block(m):
            self.seen.add(m[2])
            return m[1] + indented(self.help_of(m[2]))

        want = BLOCK.sub(block, text)
        if os.environ.get("UPDATE") == "1":
            path.write_text(want)
        self.checks.check(path.name, os.environ.get("UPDATE") == "1" or want == text, "UPDATE=1 rewrites it")


def test(t):
    for page in PAGES:
        t.page(REPOSITORY / page)
    first = run(t.shardcc, "--help").split("the commands: ")[1].split("\n\n")[0].split()
    for name in first:
        t.checks.check(f"{name} is on a page", f"shardcc {name}" in t.seen)
    t.checks.check("shardcc is on a page", "shardcc" in t.seen and "./gpt" in t.seen)


test_in_folder(Help, test)
