#!/usr/bin/env python3
"""Exports nets that stop gradients, with PyTorch's gradients, for tests/e2e/stop_test.py.

  detached.py --out models/detached

NAME.onnx: input x, output loss, as torch.onnx.export(optimize=False) writes it. detached.npz: of each net its input
NAME/x, its loss NAME/loss and the gradients NAME/grad/PARAMETER of the parameters that get one. Weights and inputs come
from fixed seeds.
"""
import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from onnx_file import strip

SAMPLES, WIDTH = 4, 6


class Rounded(nn.Module):
    """Rounding whose gradient is that of the value before it."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, 5), nn.Linear(5, 3)

    def forward(self, x):
        y = self.first(x) * 3
        return (self.last(y + (torch.round(y) - y).detach()) ** 2).mean()


class Quantized(nn.Module):
    """VQ-VAE: the nearest row of a table, with its two losses."""

    def __init__(self):
        super().__init__()
        self.encode, self.table, self.decode = nn.Linear(WIDTH, 4), nn.Embedding(7, 4), nn.Linear(4, WIDTH)

    def forward(self, x):
        z = self.encode(x)
        q = self.table(((z.unsqueeze(1) - self.table.weight.unsqueeze(0)) ** 2).sum(-1).argmin(-1))
        y = self.decode(z + (q - z).detach())
        return F.mse_loss(y, x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())


class Siamese(nn.Module):
    """SimSiam: each view predicts the other one, whose branch gets no gradient."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, 8))
        self.predict = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 8))

    def forward(self, x):
        a, b = self.encode(x), self.encode(x.flip(1))
        one = F.cosine_similarity(self.predict(a), b.detach(), dim=-1).mean()
        return -(one + F.cosine_similarity(self.predict(b), a.detach(), dim=-1).mean()) / 2


class Target(nn.Module):
    """BYOL: a branch with weights of its own that get no gradient, by detach() or by a block of no_grad."""

    def __init__(self, is_block):
        super().__init__()
        self.encode, self.predict = nn.Linear(WIDTH, 8), nn.Linear(8, 8)
        self.target = nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, 8))
        self.is_block = is_block

    def forward(self, x):
        y = self.predict(torch.tanh(self.encode(x)))
        if not self.is_block:
            return F.mse_loss(y, self.target(x).detach())
        with torch.no_grad():
            t = self.target(x)
        return F.mse_loss(y, t)


class Normalized(nn.Module):
    """A norm whose moments get no gradient."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, 8), nn.Linear(8, 2)

    def forward(self, x):
        y = self.first(x)
        y = (y - y.mean(-1, keepdim=True).detach()) / (y.var(-1, keepdim=True).detach() + 1e-5).sqrt()
        return (self.last(y) ** 2).mean()


class Attention(nn.Module):
    """Attention with a stop: "maximum" of the scores, "keys", "bias", "weights" or "sum" of the softmax."""

    def __init__(self, of):
        super().__init__()
        self.of, self.norm = of, nn.LayerNorm(8)
        self.q, self.k, self.v = (nn.Linear(8, 8, bias=False) for _ in range(3))
        self.bias = nn.Parameter(torch.randn(5, 5))

    def forward(self, x):
        x = self.norm(x)
        q, k, v = (f(x).view(-1, 5, 2, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        k = k.transpose(-1, -2)
        scores = q @ (k.detach() if self.of == "keys" else k) / 2
        scores = scores + (self.bias.detach() if self.of == "bias" else self.bias.round())
        largest = scores.amax(-1, keepdim=True)
        e = (scores - (largest.detach() if self.of == "maximum" else largest)).exp()
        total = e.sum(-1, keepdim=True)
        p = e / (total.detach() if self.of == "sum" else total)
        return (((p.detach() if self.of == "weights" else p) @ v) ** 2).mean()


class Layers(nn.Module):
    """Equal layers, each with a stop between it and the layer before."""

    def __init__(self, n=4):
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(n))

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            y = layer(x)
            x = x.detach() * 0.5 + torch.tanh(y) + (y.round() - y).detach()
        return (x**2).mean()


# Name: net, and the options that its file needs because it has no trace of the stops. In a block of no_grad, PyTorch 2.15
# names the values but no modules.
NETS = {
    "rounded": (Rounded(), []),
    "quantized": (Quantized(), []),
    "siamese": (Siamese(), []),
    "target": (Target(False), []),
    "target_block": (Target(True), ["--stop-gradient", "linear_3"]),
    "target_legacy": (Target(True), ["--stop-gradient", "target"]),
    "normalized": (Normalized(), []),
    **{f"attention_{of}": (Attention(of), []) for of in ("maximum", "keys", "bias", "weights", "sum")},
    "layers": (Layers(), []),
}


def draw(net, seed):
    """Draws the parameters anew, so that they don't depend on the order of the nets."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.randn(p.shape, generator=g) * (0.5 if p.dim() > 1 else 0.2))
    return torch.randn(SAMPLES, 5, 8, generator=g) if isinstance(net, Attention) else torch.randn(SAMPLES, WIDTH, generator=g)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", type=Path, required=True)
    out, arrays = p.parse_args().out, {}
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    for seed, (name, (net, options)) in enumerate(NETS.items()):
        x, path = draw(net, seed), out / f"{name}.onnx"
        names = dict(input_names=["x"], output_names=["loss"])
        if name.endswith("legacy"):
            torch.onnx.export(net, (x,), str(path), dynamo=False, **names)
        else:
            torch.onnx.export(net, (x,), str(path), dynamo=True, optimize=False, external_data=False, verbose=False, **names)
        strip(path)
        loss = net(x)
        loss.backward()
        arrays |= {f"{name}/x": x.numpy(), f"{name}/loss": loss.detach().numpy(), f"{name}/options": np.array(options)}
        arrays |= {f"{name}/grad/{n}": q.grad.numpy() for n, q in net.named_parameters() if q.grad is not None}
    np.savez(out / "detached.npz", **arrays)


if __name__ == "__main__":
    main()
