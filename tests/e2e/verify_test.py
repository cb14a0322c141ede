#!/usr/bin/env python3
"""--verify: no pass changes what the tiny models and the demo GPT compute; a shardcc of which a pass does says so.

  verify_test.py --shardcc build/shardcc
"""
import json
import subprocess
from pathlib import Path

from harness import side_by_side, test_in_folder

MODELS = Path("models/tiny").resolve()
DEMO = Path("models/demo_gpt.onnx").resolve()
# Its evaluation takes too long.
LARGE = "resnet"
FORM_ALONE = "resnet.onnx: warning: --verify checks the graph's form alone: to evaluate it takes "
RELU = """graph "g" {
  input %x f32[4,6]
  parameter %w f32[6,6]
  constant %zero f32[] = 0
  %h f32[4,6] = dot(%x, %w) eq="mk,kn->mn" from "/fc/MatMul" "fc"
  %zeros f32[4,6] = broadcast(%zero) shape=[4,6]
  %act f32[4,6] = max(%h, %zeros) from "/act/Relu" "act"
  %y f32[4,6] = tanh(%act)
  output model "y" %y
}
"""
TRAINING = ["--loss", "mse(y, t)", "--optimizer", "sgd"]
SAYS = """relu.ir: error: after the pass 'patterns', with ordinary data, output 'y' is another one: element 0 was 1, is 0
  the first value that differs is 'act', of node '/act/Relu' (min): element 0 was 1, is 0
  the graph doesn't compute what the model says, so nothing was written; this is a bug in shardcc, not in the model
"""


class Verify:
    def __init__(self, shardcc, folder, checks):
        self.shardcc, self.folder, self.checks = shardcc, folder, checks

    def compile(self, name, model, options, shardcc=None):
        work = self.folder / name
        work.mkdir()
        command = [shardcc or self.shardcc, model, "--verify", "--emit", "c", "-o", "model.c", *options]
        return work, subprocess.run(command, cwd=work, capture_output=True, text=True)

    def test_model(self, name, model, loss, options=()):
        _, done = self.compile(name, model, ["--loss", loss, "--optimizer", "adamw(lr=1e-3)", "--clip-norm", "1", *options])
        is_silent = all(name == LARGE and line.startswith(FORM_ALONE) for line in done.stderr.splitlines())
        self.checks.check(f"{name}: no pass changes a value", done.returncode == 0 and is_silent, done.stderr)

    def test_broken(self, name, options):
        (self.folder / "relu.ir").write_text(RELU)
        work, done = self.compile(name.replace(" ", "_"), self.folder / "relu.ir", options, self.shardcc.parent / "tests/broken/shardcc")
        self.checks.check(f"{name}: status 3", done.returncode == 3, f"{done.returncode}")
        self.checks.check(f"{name}: the pass and the node are named", without_numbers(done.stderr) == without_numbers(SAYS), done.stderr)
        self.checks.check(f"{name}: nothing is written", not list(work.iterdir()) and not done.stdout, done.stdout)


def without_numbers(text):
    """The lines up to the numbers of an element."""
    return [line.partition(" was ")[0] for line in text.splitlines()]


def loss_of(name):
    about = json.loads((MODELS / f"{name}.json").read_text())
    return f"{about['loss']}({about['output']}, labels)"


def test(verify):
    models = sorted(f.stem for f in MODELS.glob("*.onnx"))
    demo = [DEMO, "cross_entropy(logits, labels)", ["--bind", "batch=1"]]
    side_by_side(2, *[lambda name=name: verify.test_model(name, MODELS / f"{name}.onnx", loss_of(name))
                      for name in models], lambda: verify.test_model("demo", *demo))  # fmt: skip
    verify.test_broken("a program", [])
    verify.test_broken("a training program", TRAINING)
    verify.test_broken("two ranks", [*TRAINING, "--ranks", "2"])


test_in_folder(Verify, test)
