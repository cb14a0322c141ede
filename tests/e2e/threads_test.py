#!/usr/bin/env python3
"""--threads N makes a smaller trainer that gives the same bits, and that refuses to run with more threads.

  threads_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]
"""
import re
import subprocess

from model import QUICK_CC, Model, for_models, parser

MODELS = ("mlp", "nanogpt", "cnn")
SMALLER = ("nanogpt",)  # the peak of its memory has workspace of several threads
MAX_THREADS = 64


def arena(trainer):
    return int(re.search(r"arena_bytes = (\d+)", trainer.with_suffix(".c").read_text())[1])


def refusal(model, trainer, asked):
    said = subprocess.run([trainer, "--data", model.data(), "--threads", str(asked)], capture_output=True, text=True)
    return said.returncode, said.stderr


def outcome(model, trainer, threads, weights):
    """The losses and the bytes of the weights, from the weights of another trainer."""
    saved = model.work / "saved.safetensors"
    losses = model.train(trainer, None, "--threads", threads, "--load", weights, "--save", saved)
    return losses, saved.read_bytes()


def test(checks, model):
    whole = model.compile("whole")
    weights = whole.with_suffix(".safetensors")
    for threads in (1, 2):
        trainer = model.compile(f"threads{threads}", None, "--threads", threads)
        for n in range(1, threads + 1):
            same = outcome(model, trainer, n, weights) == outcome(model, whole, n, weights)
            checks.check(f"{model.name}: compiled for {threads} threads, {n} threads: the same bits", same)
        sizes = arena(trainer), arena(whole)
        is_smaller = sizes[0] < sizes[1] if model.name in SMALLER else sizes[0] <= sizes[1]
        checks.check(f"{model.name}: memory for {threads} threads", is_smaller, "{} and {} bytes".format(*sizes))
        message = f"--threads {threads + 1}: at most {threads} are possible; shardcc --threads N sets that number, up to {MAX_THREADS}"
        refused = refusal(model, trainer, threads + 1)
        checks.check(f"{model.name}: {threads + 1} threads are refused", refused == (1, f"{trainer.name}: error: {message}\n"), str(refused))


def main():
    options = parser(__doc__).parse_args()
    options.names = options.names or MODELS
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC)))


if __name__ == "__main__":
    main()
