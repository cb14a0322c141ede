"""The cores of nets that are nearly a norm, a GELU, a softmax, a log-sum-exp or a rotary embedding: see near.py.

Each table gives functions that build modules from [batch, time, WIDTH] to the same shape. The first of each table is the
pattern itself.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, TIME, EPS = 8, 6, 1e-5


class Core(nn.Module):
    """f(self, x), with a weight and a bias of the width."""

    def __init__(self, f):
        super().__init__()
        self.f, self.weight, self.bias = f, nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(WIDTH))

    def forward(self, x):
        return self.f(self, x)


def table(**functions):
    return {name: lambda f=f: f() if isinstance(f, type) else Core(f) for name, f in functions.items()}


def mean(x, dim=-1):
    return x.mean(dim, keepdim=True)


def variance(x, dim=-1, correction=0):
    return x.var(dim, keepdim=True, correction=correction)


def centered(x, dim=-1):
    return x - mean(x, dim)


NORMS = table(
    layer=lambda m, x: F.layer_norm(x, (WIDTH,), m.weight, m.bias, EPS),
    by_hand=lambda m, x: centered(x) / torch.sqrt(mean(centered(x) ** 2) + EPS) * m.weight + m.bias,
    unbiased=lambda m, x: centered(x) / torch.sqrt(variance(x, correction=1) + EPS) * m.weight + m.bias,
    of_squares=lambda m, x: centered(x) * torch.rsqrt(mean(x * x) - mean(x) ** 2 + EPS) * m.weight + m.bias,
    eps_outside=lambda m, x: centered(x) / (variance(x).sqrt() + EPS) * m.weight + m.bias,
    std=lambda m, x: centered(x) / (x.std(-1, keepdim=True) + 1e-3) * m.weight + m.bias,
    large_eps=lambda m, x: centered(x) / torch.sqrt(variance(x) + 0.5) * m.weight + m.bias,
    no_eps=lambda m, x: centered(x) / torch.sqrt(variance(x)) * m.weight + m.bias,
    not_centered=lambda m, x: x / torch.sqrt(variance(x) + EPS) * m.weight + m.bias,
    power_of_mean=lambda m, x: centered(x) / torch.sqrt(mean(x) ** 2 + EPS) * m.weight + m.bias,
    two_axes=lambda m, x: F.layer_norm(x, (TIME, WIDTH)) * m.weight + m.bias,
    time_axis=lambda m, x: centered(x, 1) / torch.sqrt(variance(x, 1) + EPS) * m.weight + m.bias,
    other_axes=lambda m, x: centered(x) / torch.sqrt(variance(x, 1) + EPS) * m.weight + m.bias,
    bias_first=lambda m, x: (centered(x) / torch.sqrt(variance(x) + EPS) + m.bias) * m.weight,
    weight_plus_one=lambda m, x: F.layer_norm(x, (WIDTH,)) * (1 + m.weight) + m.bias,
    twice=lambda m, x: F.layer_norm(F.layer_norm(x, (WIDTH,)), (WIDTH,), m.weight, m.bias),
    of_sum=lambda m, x: F.layer_norm(x + m.bias, (WIDTH,), m.weight) + x,
    variance_read=lambda m, x: centered(x) / torch.sqrt(variance(x) + EPS) * m.weight + variance(x) * m.bias,
    mean_added=lambda m, x: centered(x) / torch.sqrt(variance(x) + EPS) * m.weight + mean(x),
    detached=lambda m, x: centered(x) / torch.sqrt(variance(x).detach() + EPS) * m.weight + m.bias,
    absolute=lambda m, x: centered(x) / (mean(centered(x).abs()) + EPS) * m.weight + m.bias,
    maximum=lambda m, x: x / (x.abs().amax(-1, keepdim=True) + EPS) * m.weight + m.bias,
    clamped=lambda m, x: centered(x) / torch.sqrt(variance(x).clamp(min=0.3)) * m.weight + m.bias,
    group=lambda m, x: F.group_norm(x.transpose(1, 2), 2, m.weight, m.bias).transpose(1, 2),
    instance=lambda m, x: F.instance_norm(x.transpose(1, 2)).transpose(1, 2) * m.weight + m.bias,
    unit=lambda m, x: F.normalize(x, dim=-1) * m.weight + m.bias,
    rms=lambda m, x: F.rms_norm(x, (WIDTH,), m.weight, EPS),
    rms_by_hand=lambda m, x: m.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS)),
    rms_eps_outside=lambda m, x: x / (x.pow(2).mean(-1, keepdim=True).sqrt() + EPS) * m.weight,
    rms_of_sum=lambda m, x: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + EPS) * m.weight,
    rms_cube=lambda m, x: x * torch.rsqrt(x.abs().pow(3).mean(-1, keepdim=True) + EPS) * m.weight,
    rms_power=lambda m, x: x * (x.pow(2).mean(-1, keepdim=True) + EPS) ** -0.4 * m.weight,
    rms_of_other=lambda m, x: (x + m.bias) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * m.weight,
)  # fmt: skip

GELU = table(
    erf=lambda m, x: F.gelu(x),
    tanh=lambda m, x: F.gelu(x, approximate="tanh"),
    by_hand=lambda m, x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    rounded=lambda m, x: 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x**3))),
    square=lambda m, x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**2))),
    quick=lambda m, x: x * torch.sigmoid(1.702 * x),
    silu=lambda m, x: F.silu(x),
    other_root=lambda m, x: 0.5 * x * (1 + torch.erf(x / 1.5)),
    no_half=lambda m, x: x * (1 + torch.erf(x / math.sqrt(2))),
    minus=lambda m, x: 0.5 * x * (1 - torch.erf(x / math.sqrt(2))),
    of_other=lambda m, x: 0.5 * x.flip(-1) * (1 + torch.erf(x / math.sqrt(2))),
    mish=lambda m, x: F.mish(x),
    logsigmoid=lambda m, x: F.logsigmoid(x),
    glu=lambda m, x: (lambda a, b: torch.cat([a * F.gelu(b), b], -1))(*x.chunk(2, -1)),
)  # fmt: skip

SOFTMAX = table(
    plain=lambda m, x: torch.softmax(x, -1) * m.weight,
    log=lambda m, x: torch.log_softmax(x, -1) * m.weight,
    log_of=lambda m, x: torch.log(torch.softmax(x, -1)) * m.weight,
    log_of_more=lambda m, x: torch.log(torch.softmax(x, -1) + 1e-3) * m.weight,
    time=lambda m, x: torch.softmax(x, 1) * m.weight,
    batch=lambda m, x: torch.softmax(x, 0) * m.weight,
    minimum=lambda m, x: torch.softmax(-x, -1) * m.weight,
    temperature=lambda m, x: torch.softmax(x / 0.1, -1) * m.weight,
    two_axes=lambda m, x: torch.softmax(x.flatten(1), -1).view_as(x) * m.weight,
    exp_of_log=lambda m, x: torch.exp(torch.log_softmax(x, -1)) * m.weight,
    entropy=lambda m, x: x * -(torch.softmax(x, -1) * torch.log_softmax(x, -1)).sum(-1, keepdim=True),
    maximum_of_all=lambda m, x: (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(x - x.amax((0, 1, 2), keepdim=True))) * m.weight,
    sum_of_all=lambda m, x: (lambda e: e / e.sum())(torch.exp(x - x.amax(-1, keepdim=True))) * m.weight,
    straight_through=lambda m, x: (lambda p: (p - p.detach() + F.one_hot(p.argmax(-1), WIDTH)) * m.weight)(torch.softmax(x, -1)),
)  # fmt: skip

LOG_SUM = table(
    cross_entropy=lambda m, x: x - torch.logsumexp(x, -1, keepdim=True) * m.weight,
    no_maximum=lambda m, x: x - torch.log(torch.exp(x).sum(-1, keepdim=True)) * m.weight,
    mean=lambda m, x: x - torch.log(torch.exp(x).mean(-1, keepdim=True)) * m.weight,
    one_more=lambda m, x: x - torch.log(1 + torch.exp(x).sum(-1, keepdim=True)) * m.weight,
    time=lambda m, x: x - torch.logsumexp(x, 1, keepdim=True) * m.weight,
    softplus=lambda m, x: torch.log(1 + torch.exp(x)) * m.weight,
    log1p=lambda m, x: torch.log1p(torch.exp(-x.abs())) * m.weight,
    logaddexp=lambda m, x: torch.logaddexp(x, x.flip(-1)) * m.weight,
    expm1=lambda m, x: torch.expm1(x * 0.01) * m.weight,
)  # fmt: skip


def angles(base=10000.0, width=WIDTH):
    return torch.outer(torch.arange(TIME, dtype=torch.float32), base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width))


def halves(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def pairs(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


def rotated(x, turn=halves, repeat=lambda a: torch.cat([a, a], -1), sign=1.0):
    a = repeat(angles(width=x.shape[-1])).to(x.dtype)
    return x * a.cos() + sign * turn(x) * a.sin()


ROTARY = table(
    halves=lambda m, x: rotated(x) * m.weight,
    pairs=lambda m, x: rotated(x, pairs, lambda a: a.repeat_interleave(2, -1)) * m.weight,
    mixed=lambda m, x: rotated(x, halves, lambda a: a.repeat_interleave(2, -1)) * m.weight,
    back=lambda m, x: rotated(x, sign=-1.0) * m.weight,
    not_negated=lambda m, x: rotated(x, lambda x: torch.cat(x.chunk(2, -1)[::-1], -1)) * m.weight,
    other_half=lambda m, x: rotated(x, lambda x: torch.cat([(c := x.chunk(2, -1))[1], -c[0]], -1)) * m.weight,
    part=lambda m, x: torch.cat([rotated(x[..., :4]), x[..., 4:]], -1) * m.weight,
    one_angle=lambda m, x: rotated(x, repeat=lambda a: torch.cat([a, a * 2], -1)) * m.weight,
    sum_of_both=lambda m, x: (rotated(x) + rotated(x, sign=-1.0)) * m.weight,
    complex=lambda m, x: (lambda a, b, t: torch.cat([a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()], -1))(*x.chunk(2, -1), angles().to(x.dtype)) * m.weight,
    scaled=lambda m, x: rotated(x) * 1.5 * m.weight + x,
)  # fmt: skip
