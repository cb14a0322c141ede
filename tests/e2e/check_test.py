#!/usr/bin/env python3
"""A program that isn't what its model says is found, and nothing is written: a shardcc whose lowering makes a mistake.

  check_test.py --shardcc build/shardcc
"""
import subprocess

from harness import test_in_folder

MODEL = """graph "g" {
  input %x f32[4,6]
  parameter %w f32[6,6]
  %h f32[4,6] = dot(%x, %w) eq="mk,kn->mn"
  %y f32[4,6] = tanh(%h)
  output model "y" %y
}
"""
CASES = [
    ("a program", []),
    ("a training program", ["--loss", "mse(y, t)", "--optimizer", "sgd"]),
    ("C text", ["--emit", "c"]),
    ("source", ["--emit", "source"]),
    ("two ranks", ["--ranks", "2"]),
]


class Broken:
    def __init__(self, shardcc, folder, checks):
        self.broken, self.folder, self.checks = shardcc.parent / "tests/broken/shardcc", folder, checks

    def test(self, name, options):
        work = self.folder / name.replace(" ", "_")
        work.mkdir()
        (work / "line.ir").write_text(MODEL)
        done = subprocess.run([self.broken, "line.ir", "-o", "line", *options], cwd=work, capture_output=True, text=True)
        said = done.stderr.splitlines()
        self.checks.check(f"{name}: status 3", done.returncode == 3, f"{done.returncode} {done.stderr}")
        is_said = said and said[0].startswith("line.ir: error: ") and "element 0 of 'h' f32[4," in said[0]
        self.checks.check(f"{name}: the place is named", is_said, done.stderr)
        left = sorted(x.name for x in work.iterdir())
        self.checks.check(f"{name}: nothing is written", left == ["line.ir"] and not done.stdout, f"{left} {done.stdout}")


def test(broken):
    for name, options in CASES:
        broken.test(name, options)


test_in_folder(Broken, test)
