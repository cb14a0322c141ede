#!/usr/bin/env python3
"""Folders of --emit source have all that they need: they are built and run outside of the repository.

  sources_test.py --shardcc build/shardcc [--all] [NAME ...]

For CPUs, one rank and two, and for GPUs. All that the files of a folder include is in the folder, for all tiny
models. Some folders are built by make, with no path into the repository but the tests' compilers for CPUs and GPUs, and
train as the program that shardcc builds; with --all every folder is. nvcc compiles the kernels of one, where it is.
"""
import os
import re
import shutil
from functools import partial
from pathlib import Path

from harness import MPI_ENV, mpirun, run
from model import QUICK_CC, Model, curves_of, for_models, parser

NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
BUILT = {("cnn", "cpu", 1), ("mlp", "cpu", 2), ("mlp", "cuda", 1)}  # without --all
FOR_GPUS = ("mlp", "cuda", 1)  # the folder of which nvcc compiles the kernels
# Searched by compilers, which must find nothing by them.
PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CFLAGS", "CPPFLAGS")


def missing(folder):
    """What files of the folder include and it doesn't have."""
    found = set()
    for path in [p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".cu", ".cuh", ".def")]:
        for name in re.findall(r'^#\s*include "(.*)"', path.read_text(), re.M):
            if not any((base / name).exists() for base in (folder, folder / "runtime", path.parent)):
                found.add(f"{path.relative_to(folder)} includes {name}")
    return sorted(found)


def make(folder, toolkit, ranks):
    env = {k: v for k, v in MPI_ENV.items() if k not in PATHS}
    cc = {"CC": "mpicc" if ranks > 1 else "cc" if toolkit else str(QUICK_CC)}
    return run("make", "-j2", *[f"{k}={v}" for k, v in cc.items()], *([f"CUDA={toolkit}"] if toolkit else []), cwd=folder, env=env if toolkit else {**env, "OMPI_CC": str(QUICK_CC)})


def check_nvcc(checks, name, folder):
    toolkit = Path(NVCC).resolve().parents[1] if NVCC else None
    if toolkit:
        run("make", "kernels.fatbin", f"CUDA={toolkit}", cwd=folder)
    made = (folder / "kernels.fatbin").stat().st_size > 0 if toolkit else True
    checks.check(f"{name}: nvcc compiles its kernels", made, "" if toolkit else "left out: no nvcc")


def test_folder(checks, model, target, ranks, toolkit, is_built):
    name = f"{model.name}, {target}, {ranks} rank{'s' * (ranks > 1)}"
    curve = curves_of(model.info)["adamw"]
    options = [*model.arguments(curve), *(["--ranks", ranks, "--plan-preset", "ddp"] if ranks > 1 else [])]
    if target == "cuda":
        options += ["--target", "cuda", "--gpu", "sm_80"]
    folder = model.work / f"{target}{ranks}"
    run(model.shardcc, model.onnx, *options, "--emit", "source", "-o", folder)
    gone = missing(folder)
    checks.check(f"{name}: the folder is whole", not gone, "; ".join(gone[:3]))
    if (model.name, target, ranks) == FOR_GPUS:
        check_nvcc(checks, name, folder)
        (folder / "kernels.fatbin").unlink(missing_ok=True)
    if not is_built:
        return
    make(folder, toolkit, ranks)
    program = model.work / f"program_{target}{ranks}"
    compilers = ["--cc", QUICK_CC, *(["--cuda", toolkit] if target == "cuda" else [])]
    run(model.shardcc, model.onnx, "-o", program, *compilers, *options)
    launch, steps = mpirun(ranks) if ranks > 1 else (), ("--steps", 2)
    losses = [model.train(p, None, *steps, launch=launch, env=MPI_ENV, watch=False) for p in (folder / folder.name, program)]
    checks.check(f"{name}: it trains alike", len(losses[0]) == 2 and losses[0] == losses[1], str(losses))


def test(options, toolkit, checks, path, work):
    model = Model(path, options.shardcc, work, cc=QUICK_CC)
    for target, ranks in [("cpu", 1), ("cpu", 2)] + [("cuda", 1)] * (toolkit is not None):
        is_built = options.all or (model.name, target, ranks) in BUILT
        test_folder(checks, model, target, ranks, toolkit if target == "cuda" else None, is_built)


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true", help="build and run every folder")
    options = p.parse_args()
    toolkit = options.shardcc.parent / "tests/cuda/toolkit"
    for_models(options, partial(test, options, toolkit if (toolkit / "bin/nvcc").exists() else None))


if __name__ == "__main__":
    main()
