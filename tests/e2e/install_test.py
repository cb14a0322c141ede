#!/usr/bin/env python3
"""An installed shardcc needs neither the sources nor the build: it works from any folder, and where its prefix is moved.

  install_test.py --shardcc build/shardcc
"""
import json
from pathlib import Path

from harness import run, test_in_folder
from model import Model

TINY = Path(__file__).parents[2] / "models/tiny"
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PLAN = ["--ranks", "4", "--cluster", "h100x4"]


class Installed:
    def __init__(self, shardcc, folder, checks):
        self.built, self.folder, self.checks = shardcc, folder, checks
        run("cmake", "--install", shardcc.parent, "--prefix", folder / "first")
        (folder / "first").rename(folder / "moved")
        self.shardcc = folder / "moved/bin/shardcc"

    def run(self, program, *args):
        """Runs a command as somebody elsewhere would."""
        return run(program, *args, cwd="/", env=CLEAN)

    def same(self, name, *args):
        """The installed compiler writes the file that the built one writes."""
        files = [self.folder / f"{who}_{name}" for who in ("built", "installed")]
        for shardcc, file in zip((self.built, self.shardcc), files):
            self.run(shardcc, *args, "-o", file)
        self.checks.check(f"the same {name}", files[0].read_bytes() == files[1].read_bytes())


def test(installed):
    model = Model(TINY / "mlp.onnx", installed.shardcc, installed.folder)
    training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd"]
    installed.same("program.c", model.onnx, *training, "--emit", "c")
    installed.same("plan.json", "plan", model.onnx, *training, *PLAN)
    trainer, data = installed.folder / "trainer", model.data()
    installed.run(installed.shardcc, model.onnx, *training, "-o", trainer)
    log = installed.folder / "run.jsonl"
    installed.run(trainer, "--data", data, "--steps", 2, "--log", log)
    installed.checks.check("a trainer", '"loss"' in log.read_text())
    ranks = installed.folder / "ranks"
    installed.run(installed.shardcc, model.onnx, *training, "--ranks", 2, "-o", ranks)
    installed.run("mpirun", "--oversubscribe", "--bind-to", "none", "-n", 2, ranks, "--data", data, "--steps", 2, "--log", log)
    installed.checks.check("a trainer of 2 ranks", '"loss"' in log.read_text())
    found = json.loads(installed.run(installed.shardcc, "detect", "--threads", 1))
    installed.checks.check("detect", found["device"]["threads"] == 1)


test_in_folder(Installed, test)
