#!/usr/bin/env python3
"""--ranks 2,1: programs for several numbers of ranks, with the same weights.

  rank_list_test.py --shardcc build/shardcc
"""
import json
import os
import subprocess
from pathlib import Path

from harness import MPI_ENV, mpirun, run, test_in_folder
from model import QUICK_CC, Model

TINY = Path(__file__).parents[2] / "models/tiny"
NUMBERS = "is not a whole number from 1 to 65536, or up to 16 of them that fall, as 8,6,4"


class Lists:
    def __init__(self, shardcc, folder, checks):
        self.model = Model(TINY / "mlp.onnx", shardcc, folder)
        self.shardcc, self.folder, self.checks = shardcc, folder, checks
        self.training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd", "--cc", QUICK_CC]

    def check(self, name, ok, detail=""):
        self.checks.check(name, ok, "" if ok else detail.replace("\n", " | "))

    def compile(self, folder, *options, env=None, **more):
        (self.folder / folder).mkdir(exist_ok=True)
        args = [self.shardcc, self.model.onnx, *self.training, "-o", self.folder / folder / "net", *options]
        return subprocess.run([str(x) for x in args], capture_output=True, text=True, env=env, **more)

    def test_programs(self):
        check, data = self.check, self.model.data()
        done = self.compile("list", "--ranks", "3,2,1")
        files = sorted(os.listdir(self.folder / "list"))
        expected = ["net", "net.1", "net.1.c", "net.2", "net.2.c", "net.c", "net.safetensors"]
        check("three programs, one file of weights", done.returncode == 0 and files == expected, f"{files} {done.stderr}")
        wrote = [x.split()[1] for x in done.stdout.splitlines() if x.startswith("wrote")]
        check("it says so", wrote == ["net", "net.2", "net.1"] and done.stdout.count("parameters,") == 1, done.stdout)
        for ranks, name in (3, "net"), (2, "net.2"), (1, "net.1"):
            self.compile(f"alone{ranks}", "--ranks", ranks)
            texts = [(self.folder / x).read_bytes() for x in (f"list/{name}.c", f"alone{ranks}/net.c")]
            check(f"{ranks} ranks: the text of a program compiled alone", texts[0] == texts[1])
            log = self.folder / f"{name}.jsonl"
            launch = mpirun(ranks) if ranks > 1 else []
            run(*launch, self.folder / "list" / name, "--data", data, "--steps", 3, "--no-shuffle", "--quiet", "--log", log, env=MPI_ENV)
            losses = [round(json.loads(x)["loss"], 4) for x in log.read_text().splitlines()]
            self.losses = getattr(self, "losses", losses)
            check(f"{ranks} ranks: the same weights", losses == self.losses, str(losses))

    def test_refused(self):
        cases = [(x, 2, f"shardcc: error: --ranks: '{x}' {NUMBERS}") for x in ("", "0", "2,", "2,2", "2,4", "4,x", "4,0", "70000", ",".join(map(str, range(17, 0, -1))))]
        cases += [(("2,1", *more), 2, f"shardcc: error: {name} doesn't go with several numbers of --ranks") for more, name in (
            (("--mesh", "2"), "--mesh"), (("--plan", "gone.json"), "--plan"), (("--emit", "c"), "--emit"), (("--dump-after", "fold"), "--dump-after"),
            (("--plan-preset", "ddp=2"), "--plan-preset with ranks"), (("--plan-preset", "ddp"), "--plan-preset"))]  # fmt: skip
        for words, status, text in cases:
            words = [words] if isinstance(words, str) else words
            done = self.compile("refused", "--ranks", *words)
            self.check(text, (done.returncode, done.stderr) == (status, text + "\n"), f"{done.returncode} {done.stderr}")
        for command in "plan", "profile":
            done = subprocess.run([self.shardcc, command, self.model.onnx, "--ranks", "2,1"], capture_output=True, text=True)
            text = "shardcc: error: --ranks: '2,1' is not a whole number from 1 to 65536\n"
            self.check(f"{command} refuses a list", (done.returncode, done.stderr) == (2, text), done.stderr)
        self.check("nothing is written", os.listdir(self.folder / "refused") == [])

    def test_no_room(self):
        """The second program fails: no file of the first is left."""
        cc = self.folder / "cc"
        cc.write_text(f'#!/bin/sh\ncase "$*" in *net.1.c*) exit 1;; esac\nexec {QUICK_CC} "$@"\n')
        cc.chmod(0o755)
        done = self.compile("failed", "--ranks", "2,1", "--cc", cc)
        self.check("the second one fails", done.returncode == 1 and os.listdir(self.folder / "failed") == [], done.stderr)
        (self.folder / "taken/net.1").mkdir(parents=True)
        done = self.compile("taken", "--ranks", "2,1")
        text = f"mlp.onnx: error: cannot write '{self.folder}/taken/net.1': it is a folder\n"
        self.check("a folder in its place", (done.returncode, done.stderr, os.listdir(self.folder / "taken")) == (1, text, ["net.1"]), done.stderr)
        done = self.compile("memory", "--ranks", "2,1", "--memory", "1KiB")
        said = done.returncode == 4 and done.stderr.endswith("  this is the program for 2 ranks; none was written\n")
        self.check("a full disk: it says for which ranks", said and os.listdir(self.folder / "memory") == [], done.stderr)


def test(lists):
    lists.test_refused()
    lists.test_programs()
    lists.test_no_room()


test_in_folder(Lists, test)
