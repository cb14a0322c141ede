"""Helpers of the collections of models: the Case, and how inputs and labels are drawn."""
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Case:
    """A model, how its inputs and labels are drawn, and its loss."""

    module: nn.Module
    inputs: Callable  # generator -> {name: tensor}, in the order of the module's arguments
    labels: Callable  # generator, inputs -> tensor
    loss: str = "cross_entropy"  # or "mse"
    write: Callable | None = None  # module -> onnx.ModelProto, for graphs that no exporter writes
    dropout: bool = False  # dropout stays live: references are statistics over seeds
    single: bool = False  # float32's rounding is part of what it computes: references are made in float32


class Named(nn.Module):
    """Calls a model with named inputs and returns one tensor."""

    def __init__(self, model, names, pick=None, **options):
        super().__init__()
        self.model, self.names, self.pick, self.options = model, names, pick, options

    def forward(self, *values):
        result = self.model(**dict(zip(self.names, values)), **self.options)
        return getattr(result, self.pick) if self.pick else result


def tokens(vocabulary, *shape):
    """Token numbers, uniformly drawn."""
    return lambda g: {"input_ids": torch.randint(0, vocabulary, shape, generator=g)}


def next_token(vocabulary):
    """Labels by a rule that can be learned."""
    return lambda g, x: (x["input_ids"] * 3 + 1) % vocabulary


def image(*shape, name="pixel_values"):
    """Normal noise."""
    return lambda g: {name: torch.randn(shape, generator=g)}


def image_class(classes):
    """The class of a sample is the band of its mean."""

    def labels(g, x):
        first = next(iter(x.values()))
        return (first.flatten(1).mean(1) * 7919).long().abs() % classes

    return labels


def classifier(module, *shape, classes=10, **options):
    """A Case of a model from noise to classes."""
    return Case(module, image(*shape, **options), image_class(classes))


def causal_lm(model_class, config, batch, length):
    """A Case of a transformers model that predicts tokens."""
    module = Named(model_class(config), ["input_ids"], "logits", use_cache=False)
    return Case(module, tokens(config.vocab_size, batch, length), next_token(config.vocab_size))


def register(models, suffix=""):
    """A decorator that enters builders in the dict `models`, by name less a trailing `suffix`."""

    def enter(build):
        models[build.__name__.rstrip("_").removesuffix(suffix)] = build
        return build

    return enter
