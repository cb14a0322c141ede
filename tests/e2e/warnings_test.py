#!/usr/bin/env python3
"""Compilers say nothing of the kernels and of generated programs, whichever CPU they compile for.

  warnings_test.py --shardcc build/shardcc [--all]

gcc warns of a function that takes or returns vectors which the CPU lacks (-Wpsabi) when it makes the function's code. Without
the optimizer it does so for every function, as none is inlined, and takes half of the time. --all: all of the runtime, all
with -O1, about three minutes.
"""
import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import Checks, run

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ("gcc", "clang")
MARCHES = ("x86-64", "x86-64-v3", "znver3", "sapphirerapids")
FOLDERS = ("cpu", "core", "comm", "trainer", "shared")  # of the runtime, the kernels first
PROGRAMS = ("cnn", "nanogpt")  # of models/tiny


def flags():
    """The runtime's flags, as the build and the compiler read them, without those of a CPU and of the optimizer."""
    kernels = re.findall(r'RT_FLAG\("(.*)"\)', (ROOT / "runtime/rt_flags.def").read_text())
    warnings = re.search(r"add_compile_options\(([^)]*)\)", (ROOT / "cmake/flags.cmake").read_text())[1].split()
    return [*(f for f in kernels if not f.startswith("-O")), *warnings, "-D_GNU_SOURCE", f"-I{ROOT}", f"-I{ROOT}/runtime"]


def knows(compiler, march):
    command = [compiler, f"-march={march}", "-E", "-x", "c", "/dev/null"]
    return shutil.which(compiler) and subprocess.run(command, capture_output=True).returncode == 0


def said(compiler, march, level, files):
    """What the compiler says while it makes assembly of the files."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, *flags(), f"-march={march}", level, "-S", *files]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return done.stdout + done.stderr or ("" if done.returncode == 0 else f"exit {done.returncode}")


def make_programs(shardcc, folder):
    """The C texts of programs, whose kernels are compiled for whichever CPU."""
    training = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--march", "x86-64-v3"]
    for name in PROGRAMS:
        run(shardcc, ROOT / f"models/tiny/{name}.onnx", *training, "--emit", "c", "-o", folder / f"{name}.c")
        yield folder / f"{name}.c"


def test(checks, shardcc, folder, is_all):
    folders = FOLDERS if is_all else FOLDERS[:1]
    files = [f for x in folders for f in sorted((ROOT / "runtime" / x).glob("*.c"))]
    files += make_programs(shardcc, folder)
    for compiler in COMPILERS:
        for march in MARCHES:
            is_like_another = (compiler, march) == ("clang", "znver3")  # x86-64-v3 with other costs
            if not knows(compiler, march) or (is_like_another and not is_all):
                continue
            is_first = (compiler, march) == (COMPILERS[0], MARCHES[0])
            level = "-O1" if is_all or is_first else "-O0"
            text = said(compiler, march, level, files)
            lines = [x for x in text.splitlines() if re.search(r"warning:|error:|note:", x)]
            checks.check(f"{compiler} -march={march} {level}: {len(files)} files", not text, " | ".join(lines[:5]) or text[:500])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardcc", type=Path, required=True)
    parser.add_argument("--all", action="store_true")
    checks = Checks()
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        test(checks, o.shardcc.resolve(), Path(folder), o.all)
    checks.finish()


if __name__ == "__main__":
    main()
