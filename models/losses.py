#!/usr/bin/env python3
"""Exports nets that have a loss of torch.nn inside, with PyTorch's loss and gradients, for tests/e2e/losses_test.py.

  losses.py --out models/losses

NAME.onnx: inputs x and perhaps target, weight, …, output loss, as torch.onnx.export(optimize=False) writes it. losses.npz: of
each net its inputs NAME/in/INPUT, its loss NAME/loss and the gradients NAME/grad/PARAMETER. Weights and inputs come from
fixed seeds. losses.json: of each net its loss's class and options, and what the exporter says if it can't write it.
"""
import argparse
import json
import warnings
from functools import partial
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from onnx_file import strip  # noqa: E402

SAMPLES, WIDTH, CLASSES, TIME = 6, 5, 4, 3


def normal(*shape):
    return lambda g: torch.randn(shape, generator=g)


def share(*shape):
    return lambda g: torch.rand(shape, generator=g) * 0.8 + 0.1


def labels(*shape, least=0, end=CLASSES, ignored=None):
    def draw(g):
        t = torch.randint(least, end, shape, generator=g)
        if ignored is not None:
            t.view(-1)[1] = ignored
        return t

    return draw


def signs(*shape):
    return lambda g: torch.randint(0, 2, shape, generator=g).float() * 2 - 1


def lists(g):
    """Classes of each sample, ended by -1."""
    t = torch.full((SAMPLES, CLASSES), -1)
    for i in range(SAMPLES):
        t[i, : i % CLASSES] = torch.randperm(CLASSES, generator=g)[: i % CLASSES]
    return t


def counts(g):
    return torch.randint(0, 5, (SAMPLES, CLASSES), generator=g).float()


class Net(nn.Module):
    """A linear layer before the loss. `shape`: of its output. `after`: applied to it. A loss that isn't reduced is averaged."""

    def __init__(self, loss, shape, after):
        super().__init__()
        size = int(np.prod(shape[1:]))
        self.layer, self.loss, self.shape, self.after = nn.Linear(WIDTH, size), loss, shape, after

    def forward(self, x, *more):
        y = self.layer(x).reshape(-1, *self.shape[1:])
        return self.loss(self.after(y) if self.after else y, *more).mean()


class Pair(nn.Module):
    """The loss of several outputs of one layer, each for an input of its own."""

    def __init__(self, loss, n):
        super().__init__()
        self.layer, self.loss, self.n = nn.Linear(WIDTH, CLASSES), loss, n

    def forward(self, *inputs):
        return self.loss(*(self.layer(x) for x in inputs[: self.n]), *inputs[self.n :])


class Ranking(Pair):
    def forward(self, a, b, target):
        return self.loss(self.layer(a)[:, 0], self.layer(b)[:, 0], target)


class Adaptive(nn.Module):
    def __init__(self, loss):
        super().__init__()
        self.layer, self.loss = nn.Linear(WIDTH, 8), loss

    def forward(self, x, target):
        return self.loss(self.layer(x), target).loss


class Ctc(nn.Module):
    def __init__(self, loss):
        super().__init__()
        self.layer, self.loss = nn.Linear(WIDTH, CLASSES), loss

    def forward(self, x, target):
        n = x.shape[1]
        return self.loss(F.log_softmax(self.layer(x), -1), target, torch.full((n,), TIME * 2), torch.full((n,), 2))


LOSSES = {}  # name -> (class of the loss, function that builds a net, functions that draw its inputs, options of the loss)
FLAT, SEQUENCE, IMAGE = (SAMPLES, CLASSES), (SAMPLES, CLASSES, TIME), (SAMPLES, CLASSES, 2, TIME)


def enter(name, kind, inputs, build=Net, more=(), **options):
    assert name not in LOSSES, name
    LOSSES[name] = kind, lambda: build(kind(**options), *more), inputs, options


def flat(name, kind, target, shape=FLAT, after=None, extra=(), **options):
    """A loss of the output of one layer and a target."""
    enter(name, kind, {"x": normal(SAMPLES, WIDTH), "target": target, **dict(extra)}, more=(shape, after), **options)


WEIGHT = torch.tensor([0.5, 1.0, 2.0, 0.25])
LOG = partial(F.log_softmax, dim=1)
SHARES = lambda g: torch.softmax(normal(*FLAT)(g), 1)
flat("cross_entropy_mean", nn.CrossEntropyLoss, labels(SAMPLES))
flat("cross_entropy_sum", nn.CrossEntropyLoss, labels(SAMPLES), reduction="sum")
flat("cross_entropy_none", nn.CrossEntropyLoss, labels(SAMPLES), reduction="none")
flat("cross_entropy_weighted", nn.CrossEntropyLoss, labels(SAMPLES), weight=WEIGHT)
flat("cross_entropy_ignored", nn.CrossEntropyLoss, labels(SAMPLES, ignored=-100), ignore_index=-100)
flat("cross_entropy_ignored_class", nn.CrossEntropyLoss, labels(SAMPLES, ignored=2), weight=WEIGHT, ignore_index=2)
flat("cross_entropy_smooth", nn.CrossEntropyLoss, labels(SAMPLES), label_smoothing=0.1)
flat("cross_entropy_smooth_weighted", nn.CrossEntropyLoss, labels(SAMPLES, ignored=-100), weight=WEIGHT, label_smoothing=0.1)
flat("cross_entropy_sequence", nn.CrossEntropyLoss, labels(SAMPLES, TIME, ignored=-100), SEQUENCE)
flat("cross_entropy_image", nn.CrossEntropyLoss, labels(SAMPLES, 2, TIME, ignored=-100), IMAGE, weight=WEIGHT)
flat("cross_entropy_shares", nn.CrossEntropyLoss, SHARES)
flat("cross_entropy_shares_smooth", nn.CrossEntropyLoss, SHARES, weight=WEIGHT, label_smoothing=0.2)
flat("nll", nn.NLLLoss, labels(SAMPLES), after=LOG)
flat("nll_weighted_sum", nn.NLLLoss, labels(SAMPLES, ignored=-100), after=LOG, weight=WEIGHT, reduction="sum")
flat("nll_image", nn.NLLLoss, labels(SAMPLES, 2, TIME), IMAGE, LOG, weight=WEIGHT)
flat("nll_2d", nn.NLLLoss2d, labels(SAMPLES, 2, TIME), IMAGE, LOG)
flat("mse_mean", nn.MSELoss, normal(*FLAT))
flat("mse_sum", nn.MSELoss, normal(*FLAT), reduction="sum")
flat("l1", nn.L1Loss, normal(*FLAT))
flat("smooth_l1", nn.SmoothL1Loss, normal(*FLAT), beta=0.5)
flat("huber", nn.HuberLoss, normal(*FLAT), delta=0.7)
flat("bce", nn.BCELoss, share(*FLAT), after=torch.sigmoid)
flat("bce_weighted", nn.BCELoss, share(*FLAT), after=torch.sigmoid, weight=WEIGHT)
flat("bce_with_logits", nn.BCEWithLogitsLoss, share(*FLAT))
flat("bce_with_logits_weighted", nn.BCEWithLogitsLoss, share(*FLAT), weight=WEIGHT, pos_weight=WEIGHT * 2)
flat("kl_div", nn.KLDivLoss, SHARES, after=LOG, reduction="batchmean")
flat("kl_div_log", nn.KLDivLoss, lambda g: LOG(normal(*FLAT)(g)), after=LOG, reduction="sum", log_target=True)
flat("poisson_nll", nn.PoissonNLLLoss, counts)
flat("poisson_nll_full", nn.PoissonNLLLoss, counts, after=F.softplus, log_input=False, full=True)
flat("gaussian_nll", nn.GaussianNLLLoss, normal(*FLAT), extra={"var": share(*FLAT)})
flat("soft_margin", nn.SoftMarginLoss, signs(*FLAT))
flat("hinge_embedding", nn.HingeEmbeddingLoss, signs(*FLAT), margin=0.6)
flat("multi_margin", nn.MultiMarginLoss, labels(SAMPLES))
flat("multi_margin_weighted", nn.MultiMarginLoss, labels(SAMPLES), p=2, margin=0.7, weight=WEIGHT)
flat("multi_label_margin", nn.MultiLabelMarginLoss, lists)
flat("multi_label_soft_margin", nn.MultiLabelSoftMarginLoss, lambda g: labels(*FLAT, end=2)(g).float(), weight=WEIGHT)
VIEWS = {name: normal(SAMPLES, WIDTH) for name in ("x", "y", "z")}
TWO = {"x": VIEWS["x"], "y": VIEWS["y"], "target": signs(SAMPLES)}
enter("cosine_embedding", nn.CosineEmbeddingLoss, TWO, Pair, (2,), margin=0.2)
enter("margin_ranking", nn.MarginRankingLoss, TWO, Ranking, (2,), margin=0.3)
enter("triplet_margin", nn.TripletMarginLoss, VIEWS, Pair, (3,))
enter("triplet_margin_swap", nn.TripletMarginLoss, VIEWS, Pair, (3,), swap=True, p=1)
DISTANCE = lambda a, b: 1 - F.cosine_similarity(a, b)
enter("triplet_margin_with_distance", nn.TripletMarginWithDistanceLoss, VIEWS, Pair, (3,), distance_function=DISTANCE)
OUT = {"x": normal(SAMPLES, WIDTH), "target": labels(SAMPLES, end=12)}
enter("adaptive_log_softmax", nn.AdaptiveLogSoftmaxWithLoss, OUT, Adaptive, in_features=8, n_classes=12, cutoffs=[4, 8])
enter("ctc", nn.CTCLoss, {"x": normal(TIME * 2, SAMPLES, WIDTH), "target": labels(SAMPLES, 2, least=1)}, Ctc)


def options_text(options):
    """The options as a page shows them."""
    return ", ".join(f"{k}={'…' if isinstance(v, torch.Tensor) or callable(v) else repr(v)}" for k, v in options.items())


def export(name, seed, out):
    """Writes NAME.onnx; returns its arrays."""
    kind, build, draws, _ = LOSSES[name]
    torch.manual_seed(seed)
    net, g = build(), torch.Generator().manual_seed(seed)
    inputs = {n: draw(g) for n, draw in draws.items()}
    path = out / f"{name}.onnx"
    loss = net(*inputs.values())
    loss.backward()
    names = dict(input_names=list(inputs), output_names=["loss"])
    torch.onnx.export(net, tuple(inputs.values()), str(path), dynamo=True, optimize=False, external_data=False, verbose=False, **names)
    strip(path)
    arrays = {f"{name}/in/{n}": a.numpy() for n, a in inputs.items()} | {f"{name}/loss": loss.detach().numpy()}
    return arrays | {f"{name}/grad/{n}": p.grad.numpy() for n, p in net.named_parameters() if p.grad is not None}


def first_cause(e):
    while e.__cause__:
        e = e.__cause__
    return f"{type(e).__name__}: {str(e).splitlines()[0]}"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", type=Path, required=True)
    out, arrays, facts = p.parse_args().out, {}, {}
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    for seed, (name, (kind, _, _, options)) in enumerate(LOSSES.items()):
        facts[name] = dict(loss=kind.__name__, options=options_text(options))
        try:
            arrays |= export(name, seed, out)
        except Exception as e:  # the exporter has many kinds of them
            facts[name]["error"] = first_cause(e)
    np.savez(out / "losses.npz", **arrays)
    (out / "losses.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
