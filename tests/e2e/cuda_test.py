#!/usr/bin/env python3
"""Programs for GPUs on the tests' GPU (tests/cuda): the checks of models_test with AdamW, and the same bits in all orders.

  cuda_test.py --shardcc build/shardcc [--models models/tiny] [--work DIR] [--jobs 2] [--all] [NAME ...]

Their kernels run in a toolkit's place that tests/cuda makes: threads, blocks and streams in an order that the
environment asks for. The host cannot reach the memory of this GPU.
"""
from harness import read_safetensors
from model import QUICK_CC, Model, curves_of, for_models, gpu_toolkit, options_with_all
from models_test import test

SAMPLE = ("cnn", "gpt2", "gpt_dropout", "llama", "lstm", "mlp", "mobilenet", "regress", "resnet")  # without --all

# How a step may be carried out: the environment of the tests' GPU, and options.
WAYS = [({}, []), ({"CUDART_ORDER": "1", "CUDART_LAZY": "1"}, []), ({"CUDART_ORDER": "12345"}, ["--no-graph"])]


def bits(path):
    return {name: array.tobytes() for name, array in read_safetensors(path).items()}


def test_bits(checks, model, tag):
    """Threads, blocks and streams in other orders, and late, with graphs and without: the same losses and weights."""
    saved = model.work / "again.safetensors"
    trainer = model.work / f"{model.name}_{tag}"
    results = []
    for env, more in WAYS:
        losses = model.train(trainer, None, "--save", saved, "--steps", 3, *more, env=env)
        results.append((losses, bits(saved)))
    checks.check(f"{trainer.name}: the same bits in all orders", all(r == results[0] for r in results))


def main():
    options = options_with_all(__doc__, SAMPLE)
    toolkit = gpu_toolkit(options)

    def one(checks, path, work):
        model = Model(path, options.shardcc, work, cc=QUICK_CC, cuda=toolkit)
        if model.info.get("dropout"):
            model.compile("adamw")
        else:
            test(checks, model, model, {"adamw": curves_of(model.info)["adamw"]})
        test_bits(checks, model, "adamw")

    for_models(options, one)


if __name__ == "__main__":
    main()
