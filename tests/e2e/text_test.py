#!/usr/bin/env python3
"""The C text of trainers: no warning of gcc or clang, the same bytes wherever it is made, short lines.

  text_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]
"""
import re
import shutil
import subprocess
from collections import Counter

from harness import run
from model import Model, curves_of, for_models, parser

WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
WAYS = [("gcc", []), ("gcc", ["-O2", "-fopenmp"]), ("clang", ["-fsyntax-only"]), ("clang", ["-fsyntax-only", "-fopenmp"])]
WIDTH = 100


def text_of(model, folder):
    """Makes the C text of the training program from within `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(model.onnx, folder)
    name = model.onnx.name
    args = model.arguments(curves_of(model.info)["adamw"])
    run(model.shardcc, name, "-o", "trainer.c", "--emit", "c", *args, cwd=folder)
    return (folder / "trainer.c").read_bytes()


def check_text(checks, name, text):
    lines = text.decode("ascii", "replace").split("\n")
    longest = max(map(len, lines))
    checks.check(f"{name}: lines", longest <= WIDTH, f"at most {longest} columns")
    checks.check(f"{name}: ASCII", text.isascii())


def warnings_of(compiler, flags, file, shardcc):
    """Counts each warning: "2 unused-variable"; "" if there is none."""
    command = [compiler, *WARNINGS, *flags, "-I", shardcc.parent / "rt/runtime", "-c", "-o", "/dev/null", file]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    counts = Counter(re.findall(r"\[-W(?:error[=,])?(?:-W)?([^\]]*)\]", done.stderr))
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or done.stderr[:500].replace("\n", " | ")


def check_compilers(checks, name, file, shardcc):
    """Some warnings need gcc's optimizer, others that OpenMP is off. clang's need no code."""
    for compiler, flags in WAYS:
        if shutil.which(compiler):
            text = warnings_of(compiler, flags, file, shardcc)
            checks.check(f"{name}: {' '.join([compiler, *flags])}", not text, text)


def test(checks, model):
    first = text_of(model, model.work / "one")
    checks.check(f"{model.name}: two runs", text_of(model, model.work / "one") == first)
    checks.check(f"{model.name}: two folders", text_of(model, model.work / "other") == first)
    check_text(checks, model.name, first)
    check_compilers(checks, model.name, model.work / "one" / "trainer.c", model.shardcc)


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work)))


if __name__ == "__main__":
    main()
