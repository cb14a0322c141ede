#!/usr/bin/env python3
"""What a GPU's trainer says when something is wrong: exit status and message, word by word.

  cuda_errors_test.py --shardcc build/shardcc

The tests' GPU (tests/cuda) takes from its environment what is wrong with it.
"""
import os
import subprocess
import tempfile
from pathlib import Path

from harness import Checks, read_safetensors
from model import REPOSITORY, Model, gpu_toolkit, parser

# Environment, options, exit status, message.
CASES = [
    ({}, ["--device", "1"], 1, "--device 1: this machine has 1 GPU, from 0 on"),
    ({"CUDART_DEVICES": "2"}, ["--device", "7"], 1, "--device 7: this machine has 2 GPUs, from 0 on"),
    ({}, ["--device", "-1"], 2, "--device: '-1' is not a whole number from 0 to 4095"),
    ({}, ["--check-arena"], 2, "--check-arena: this program is for a GPU, which doesn't have it"),
    ({}, ["--threads", "2"], 2, "--threads: this program is for a GPU, which doesn't have it"),
    ({"CUDART_DRIVER": "0"}, [], 1, "there is no CUDA driver; the program needs one for CUDA 13.0 or newer"),
    ({"CUDART_DRIVER": "12040"}, [], 1, "the driver is for CUDA 12.4, the program needs 13.0"),
    ({"CUDART_DEVICES": "0"}, [], 1, "there is no GPU"),
    ({"CUDART_FOREIGN": "1"}, [], 1, "tests' GPU is sm_90, the program is for sm_80,sm_90"),
    ({"CUDART_MEMORY": "65536"}, [], 1, "the arena takes 0.2 MiB, but the GPU has 0.1 MiB free of 0.1"),
    ({"CUBLASLT_VERSION": "120300"}, [], 1, "cuBLASLt is 12.3, the program needs 13"),
    (
        {},
        ["--libraries", "/nowhere"],
        1,
        "cuBLASLt: /nowhere/libcublasLt.so.13: cannot open shared object file: No such file or directory; "
        "--libraries names its folder",
    ),
    ({"CUDART_LAUNCHES": "29"}, [], 1, "a product: the GPU failed (13)"),
    ({"CUDART_LAUNCHES": "60"}, [], 1, "rt_cuda_reduce_column_f32: unspecified launch failure (cudaErrorLaunchFailure)"),
]

# Environment and options with which the program trains.
FINE = [({}, []), ({"CUBLASLT_NONE": "1"}, []), ({}, ["--libraries", "TOOLKIT/lib"]), ({}, ["--tf32"])]


def run(trainer, model, saved, env, more):
    command = [trainer, "--data", model.data(), "--quiet", "--save", saved, *more]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})


def weights(path):
    return {name: array.tobytes() for name, array in read_safetensors(path).items()}


def test_fine(checks, trainer, model, toolkit):
    """The ways in which products are computed: other weights by our own kernel and by TF32 than by cuBLASLt."""
    saved = []
    for i, (env, more) in enumerate(FINE):
        path = model.work / f"saved{i}"
        done = run(trainer, model, path, env, [x.replace("TOOLKIT", str(toolkit)) for x in more])
        checks.check(f"{' '.join([*map('='.join, env.items()), *more])}: trains", done.returncode == 0, done.stderr)
        saved.append(weights(path))
    same = [x == saved[0] for x in saved]
    checks.check("weights after products of all kinds", same == [True, False, True, False], f"{same}")


def main():
    options = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        toolkit = gpu_toolkit(options)
        model = Model(REPOSITORY / "models/tiny/mlp.onnx", options.shardcc, Path(work), cuda=toolkit)
        trainer, saved = model.compile("adamw"), model.work / "saved"
        for env, more, status, message in CASES:
            done = run(trainer, model, saved, env, more)
            said = done.stderr.partition("error: ")[2]
            ok = done.returncode == status and said == message + "\n" and not saved.exists()
            name = " ".join([*map("=".join, env.items()), *more])
            checks.check(f"{name}: {message}", ok, "" if ok else f"exit {done.returncode}: {done.stderr!r}")
        test_fine(checks, trainer, model, toolkit)
    checks.finish()


if __name__ == "__main__":
    main()
