#!/usr/bin/env python3
"""What a GPU's trainer says when something is wrong: exit status and message, word by word.

  cuda_errors_test.py --shardcc build/shardcc

The tests' GPU (tests/cuda) takes from its environment what is wrong with it.
"""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from equal_test import SLOW
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
    ({"CUDART_LAUNCHES": "17"}, [], 1, "a product: the GPU failed (13)"),
    ({"CUDART_LAUNCHES": "48"}, [], 1, "rt_cuda_reduce_column_f32: unspecified launch failure (cudaErrorLaunchFailure)"),
]

# Environment and options with which the program trains.
FINE = [({}, []), ({"CUBLASLT_NONE": "1"}, []), ({}, ["--libraries", "TOOLKIT/lib"]), ({}, ["--tf32"])]


# How a file of --tune is spoiled, options, and the warning about it; None: what --tune writes is left as it is.
TUNED = [
    (None, [], ""),
    (("gpu tests'", "gpu other"), [], "it is for another GPU, other GPU, sm_90, 132 multiprocessors; this is tests' GPU, sm_90"),
    (("130000", "130100"), [], "it is for cuBLASLt 130100; this is 130000"),
    (None, ["--tf32"], "it was made without --tf32"),
    (("tune 1", "tune 2"), [], "it begins with 'shardcc tune 2', not with 'shardcc tune 1'"),
    (("end 8\n", ""), [], "it is cut short in line 13"),
    (("end 8\n", "end 8"), [], "it is cut short in line 13"),
    (("algorithm 4", "algorithm 16"), [], "line 5 isn't as --tune writes it: 'algorithm 16"),
]


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


def same_bits(checks, what, found, expected, is_same=True):
    checks.check(f"{what}: {'the same' if is_same else 'other'} bits", (weights(found) == weights(expected)) == is_same)


def test_tune(checks, trainer, model):
    """The file of --tune gives later runs the same algorithms, or is ignored with one line."""
    file, tuned, plain = trainer.with_suffix(".tune"), model.work / "tuned", model.work / "saved0"
    done = run(trainer, model, tuned, {"CUBLASLT_FASTEST": "4"}, ["--tune"])
    text = file.read_text() if file.exists() else ""
    lines = re.findall(r"^algorithm (\d+) of (f32 1: .*) in \d+$", text, re.M)
    checks.check("--tune: trains", done.returncode == 0 and not done.stderr, done.stderr)
    checks.check("--tune: the fastest of each product", {k for k, _ in lines} == {"4"})
    checks.check("--tune: a line for each product", len({p for _, p in lines}) == len(lines) == 8)
    same_bits(checks, "--tune", tuned, plain, False)
    pairs = [(x.astype(float), y) for x, y in zip(*(read_safetensors(f).values() for f in (tuned, plain)))]
    checks.check("--tune: weights", all(abs(x - y).max() <= 1e-5 for x, y in pairs))
    for change, more, warning in TUNED:
        file.write_text(text.replace(*change) if change else text)
        done = run(trainer, model, path := model.work / "again", {}, more)
        said = f"{trainer.name}: warning: {file} is ignored: {warning}" if warning else ""
        ok = done.returncode == 0 and done.stderr.startswith(said) and done.stderr.count("\n") == bool(warning)
        checks.check(f"a file of --tune: {warning or 'used'}", ok, "" if ok else done.stderr)
        if not more:
            same_bits(checks, f"after {warning or 'tuning'}", path, plain if warning else tuned)
    lines = text.splitlines(keepends=True)
    file.write_text("".join([*lines[:4], *lines[5:-1], f"end {len(lines) - 6}\n"]))
    said = run(trainer, model, model.work / "again", {}, []).stderr
    checks.check("a file without a product", " lacks 1 product of this program; --tune makes it anew\n" in said, said)
    done = run(trainer, model, model.work / "again", {"CUBLASLT_FASTEST": "1"}, ["--tune"])
    checks.check("--tune again", set(re.findall(r"^algorithm (\d+)", file.read_text(), re.M)) == {"1"}, done.stderr)
    test_no_tune_file(checks, trainer, model, file)


def test_no_tune_file(checks, trainer, model, file):
    """Nothing is trained where the file can't be written."""
    path = model.work / "untuned"
    done = run(trainer, model, file, {}, ["--tune"])
    said = f"{trainer.name}: error: --save and --tune: '{file}' is the same file\n"
    checks.check("--tune: its file is no other output", (done.returncode, done.stderr) == (1, said), done.stderr)
    file.unlink()
    file.mkdir()
    done = run(trainer, model, path, {}, ["--tune"])
    said = f"{trainer.name}: error: --tune: {file}: not a regular file\n"
    ok = (done.returncode, done.stderr) == (1, said) and not path.exists()
    checks.check("--tune: a file that can't be written", ok, done.stderr)
    file.rmdir()


def test_ranks(checks, model):
    """Ranks by NCCL: what it takes of the GPU is in the message about an arena that doesn't fit, and in the log's first line."""
    trainer = model.compile("ranks", None, "--ranks", "2", "--mesh", "2", "--plan-preset", "ddp", "--cluster", SLOW)
    saved, log, by = model.work / "of_ranks", model.work / "ranks.jsonl", "NCCL 2.28.9, which takes 1.0 MiB of each GPU"
    env = {"CUDART_DEVICES": "2", "NCCL_DEBUG": 'a "b\\', "NCCL_ALGO": "", "NCCLX": "1"}
    done = run(trainer, model, saved, {**env, "CUDART_MEMORY": str((1 << 20) + 65536)}, ["--spawn", "2"])
    said = re.search(r"error: the arena takes 0\.\d MiB, but the GPU has 0\.1 MiB free of 1\.1; exchanges are by (.*)\n", done.stderr)
    checks.check("no memory for the arena next to NCCL", done.returncode == 1 and said and said[1] == by and not saved.exists(), done.stderr)
    for steps, exchange, bytes_taken, more in (2, by, 1 << 20, []), (1, "memory of the host", 0, ["--collectives", "host"]):
        done = run(trainer, model, saved, env, ["--spawn", "2", "--steps", str(steps), "--log", log, *more])
        first, *lines = map(json.loads, log.read_text().splitlines())
        fine = first.pop("exchange").startswith(exchange) and [x["step"] for x in lines] == [*range(1, steps + 1)]
        variables = {k: v for k, v in env.items() if k.startswith("NCCL_")} if bytes_taken else {}
        checks.check(f"the log's first line: {exchange}", done.returncode == 0 and fine and first == {"ranks": 2, "exchange_bytes": bytes_taken, "environment": variables}, f"{done.stderr} {first}")
    test_resumed(checks, trainer, model, env)


def test_resumed(checks, trainer, model, env):
    """A run that goes on adds its line after the steps that are done."""
    log, folder = model.work / "resumed.jsonl", model.work / "checkpoints"
    for steps in "2", "3":
        done = run(trainer, model, model.work / "of_ranks", env, ["--spawn", "2", "--steps", steps, "--log", log, "--checkpoint", folder, "--resume"])
    found = [x.get("step", "first") for x in map(json.loads, log.read_text().splitlines())]
    checks.check("the log of a run that goes on", found == ["first", 1, 2, "first", 3], f"{found} {done.stderr}")


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
        test_tune(checks, trainer, model)
        test_ranks(checks, model)
    checks.finish()


if __name__ == "__main__":
    main()
