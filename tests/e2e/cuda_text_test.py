#!/usr/bin/env python3
"""The texts of programs for GPUs: two as they are kept in tests/cases, and all compiled by a C compiler, a C++ compiler and nvcc.

  cuda_text_test.py --shardcc build/shardcc

The programs of all tiny models and the demo GPT, with training: no line is too long, and no compiler warns. nvcc makes
code for two architectures, and no kernel spills a register. UPDATE=1 rewrites the kept texts. Without nvcc, or without a
C++ compiler, what needs it is left out.
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from golden_test import compare
from harness import Checks, run, side_by_side
from model import Model, curves_of

ROOT = Path(__file__).parents[2]
LOSS = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]
BF16 = ["--precision", "bf16"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
CXX = shutil.which(os.environ.get("CXX", "c++"))


def texts(shardcc, *args):
    """The C text and the kernels."""
    args = [*args, "--march", "x86-64-v3", "--target", "cuda", "--emit"]
    return [run(shardcc, *args, what, cwd=ROOT) for what in ("c", "cu")]


def check_texts(checks, name, c, kernels, folder):
    for end, text in ("c", c), ("cu", kernels):
        longest = max(map(len, text.splitlines()))
        checks.check(f"{name}.{end}: lines", longest <= 100, f"{longest}")
        (folder / f"{name}.{end}").write_text(text)
    (folder / "kernels.fatbin").write_text("")
    include = ["-I.", f"-I{folder}"]
    run("cc", "-std=c11", *WARNINGS, *include, "-Iruntime", "-c", "-o", os.devnull, folder / f"{name}.c", cwd=ROOT)
    checks.check(f"{name}.c compiles", True)
    if CXX:
        emulated = ["-std=c++20", "-xc++", "-include", "tests/cuda/gpu_mma.h"]
        off = ["-Wno-unknown-pragmas", "-Wno-unused-parameter"]
        run(CXX, *emulated, *WARNINGS, *off, *include, "-fsyntax-only", folder / f"{name}.cu", cwd=ROOT)
    checks.check(f"{name}.cu compiles for the CPU", True, "" if CXX else "left out: no C++ compiler")


def check_nvcc(checks, name, folder):
    """Compiles the kernels of groups for GPUs. The runtime's have a test of their own."""
    if not NVCC:
        checks.check(f"{name}.cu compiles for GPUs", True, "left out: no nvcc")
        return
    text = (folder / f"{name}.cu").read_text()
    (folder / f"{name}_groups.cu").write_text(text[: text.index("// The runtime's kernels.")])
    targets = [f"-gencode=arch=compute_{x},code=sm_{x}" for x in (80, 90)]
    flags = ["-std=c++17", "-O3", "--fmad=false", "-Werror", "all-warnings", "-Xptxas", "-v", *targets, "-I."]
    said = run(NVCC, *flags, "-fatbin", "-o", folder / f"{name}.fatbin", folder / f"{name}_groups.cu", cwd=ROOT)
    kernels = said.count("Compiling entry")
    spilled = len(re.findall(r"[1-9]\d* bytes (?:stack|spill)", said))
    checks.check(f"{name}.cu compiles for GPUs", kernels and not spilled, f"{kernels} kernels, {spilled} spill")


def check_vectors(checks, folder):
    """The groups of mlp move 16 bytes together."""
    run(NVCC, "-std=c++17", "-arch=compute_80", "-ptx", "-I.", "-o", folder / "mlp.ptx", folder / "mlp_groups.cu", cwd=ROOT)
    kernels = (folder / "mlp.ptx").read_text().split(".entry ")[1:]
    flat = next(k for k in kernels if k.startswith("module_1_forward"))
    checks.check("a flat group reads and writes vectors", "ld.global.v4" in flat and "st.global.v4" in flat)


def check_program(checks, shardcc, folder):
    """A program links with the toolkit, and says that there is no driver."""
    model = Model(ROOT / "models/tiny/mlp.onnx", shardcc, folder)
    trainer = model.compile("linked", None, "--target", "cuda", "--gpu", "sm_90")
    done = subprocess.run([trainer, "--data", model.data()], capture_output=True, text=True)
    ok = done.returncode == 1 and "there is no CUDA driver" in done.stderr
    has_driver = Path("/dev/nvidiactl").exists()
    checks.check("a program links, and asks for a driver", ok or has_driver, "left out: there is one" if has_driver else done.stderr)


def check_old_gpus(checks, shardcc, folder):
    """Attention of halves is refused for GPUs without tensor cores for them, by shardcc and by nvcc; what else there is, isn't."""
    args = [shardcc, "models/tiny/nanogpt.onnx", *LOSS, "--target", "cuda", "--gpu", "sm_90,sm_75", "--emit", "cu"]
    for precision in "bf16", "f16":
        said = run(*args, "--precision", precision, status=1, cwd=ROOT)
        message = f"--gpu: attention of {precision} is for GPUs from sm_80 on, not for sm_75 (--precision f32 is for all)"
        checks.check(f"{precision} for sm_75", message in said and "global" not in said, said)
    run(*args, cwd=ROOT)
    run(shardcc, "models/tiny/mlp.onnx", *args[2:], *BF16, cwd=ROOT)
    checks.check("f32, and products of bf16, for sm_75", True)
    for name, types in ("wide", "#define RT_CUDA_EACH_TYPE(X) X(float, f32)"), ("half", ""):
        (folder / f"{name}_attention.cu").write_text(f'{types}\n#include "runtime/cuda/attention.cu"\n')
        flags = ["-std=c++17", "-Werror", "all-warnings", "-gencode=arch=compute_75,code=sm_75", "-I."]
        if NVCC:
            done = subprocess.run([NVCC, *flags, "-fatbin", "-o", folder / "old.fatbin", folder / f"{name}_attention.cu"], cwd=ROOT, capture_output=True, text=True)
            said = done.stdout + done.stderr
            ok = (done.returncode != 0, "attention of f16 and bf16 is for GPUs from sm_80 on" in said) == (name == "half",) * 2
            checks.check(f"nvcc for sm_75, {name}", ok, said[:300])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, required=True)
    shardcc, checks = p.parse_args().shardcc.resolve(), Checks()
    for name, more in ("nanogpt_cuda", []), ("nanogpt_cuda_bf16", BF16):
        compare(checks, ROOT / f"tests/cases/{name}.cu", texts(shardcc, "models/tiny/nanogpt.onnx", *LOSS, *more)[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        programs = {}
        for path in sorted((ROOT / "models/tiny").glob("*.onnx")):
            model = Model(path, shardcc, folder)
            programs[model.name] = [path, *model.arguments(curves_of(model.info)["adamw"])]
        programs["demo_gpt"] = ["models/demo_gpt.onnx", "--bind", "batch=64", *LOSS]
        programs["demo_gpt_bf16"] = [*programs["demo_gpt"], *BF16]

        def check(name):
            c, kernels = texts(shardcc, *programs[name])
            check_texts(checks, name, c, kernels, folder)
            check_nvcc(checks, name, folder)

        side_by_side(len(os.sched_getaffinity(0)), *[lambda name=name: check(name) for name in programs])
        check_old_gpus(checks, shardcc, folder)
        if NVCC:
            check_vectors(checks, folder)
            check_program(checks, shardcc, folder)
    checks.finish()


if __name__ == "__main__":
    main()
