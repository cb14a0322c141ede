#!/usr/bin/env python3
"""Nets that are nearly a pattern that compilers recognise, with PyTorch's losses, gradients and curves.

  near.py --out DIR [NAME ...]     NAME.onnx, .npz, .json of each
  near.py --list

Attention, norms, GELU, softmax, log-sum-exp and rotary embeddings are here as their authors write them, and each once
more with a small difference that means other numbers: another mask, another constant, another axis, another reader. Masked
rows see no key, rows are constant, scores are equal or huge. The files have the form of those of nets.py, and
compare.py compares trainers with them, fused and not.
"""
import math
import warnings
from functools import partial

warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import nets  # noqa: E402
from near_parts import GELU, LOG_SUM, NORMS, ROTARY, SOFTMAX  # noqa: E402
from zoo import Case  # noqa: E402

BATCH, TIME, WIDTH, HEADS, CLASSES = 4, 6, 8, 2, 5
CURVE = dict(optimizer="sgd", lr=0.05, momentum=0.9)
MIN, INF = torch.finfo(torch.float32).min, -math.inf
NEAR = {}  # name -> (function that builds a Case)


# ---- data ----

# Which keys a sample may see: padding on the left, on the right, a whole sample of it, none.
KEEP = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]], dtype=torch.float32)
SOME = torch.cat([KEEP[:2], torch.tensor([[0, 0, 0, 0, 1, 0.0]]), KEEP[3:]])  # each sample has a key
SEGMENT = torch.tensor([[0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0], [3, 1, 1, 2, 2, 2], [0, 1, 2, 3, 4, 5]], dtype=torch.float32)


def normal(g):
    return torch.randn((BATCH, TIME, WIDTH), generator=g)


def constant_rows(g):
    """Some rows hold one number, others zeros."""
    x = normal(g)
    x[0] = 0
    x[1] = x[1, :, :1]
    return x


def tied(g):
    """Whole numbers, of which many are equal."""
    return torch.randint(-1, 2, (BATCH, TIME, WIDTH), generator=g).float()


def times(factor):
    return lambda g: normal(g) * factor


class Net(nn.Module):
    """A stem, `core` and a head. `bare`: without the stem, so that the data reach the core as they are."""

    def __init__(self, core, bare=False):
        super().__init__()
        self.stem = nn.Identity() if bare else nn.Linear(WIDTH, WIDTH)
        self.core, self.head = core, nn.Linear(WIDTH, CLASSES)

    def forward(self, x, *more):
        return self.head(self.core(self.stem(x), *more))


def near(name, core, data=normal, keep=None, bare=False, single=False):
    """Enters a net: `core` builds its middle; `keep`, if there is one, is its second input. `single`: see Case."""
    assert name not in NEAR, name

    def build():
        def inputs(g):
            x = {"x": data(g)}
            return x if keep is None else {**x, "keep": keep.clone()}

        labels = lambda g, x: torch.randint(0, CLASSES, (BATCH, TIME), generator=g)
        return Case(Net(core(), bare), inputs, labels, single=single)

    NEAR[name] = build


# ---- attention ----


class Attention(nn.Module):
    """Attention whose weights are weights(scores, keep), with scores of [batch, heads, queries, keys]."""

    def __init__(self, weights, change=None, scale=None, after=None):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.weights, self.change, self.after = weights, change, after
        self.scale = scale or (WIDTH // HEADS) ** -0.5
        self.extra = nn.Parameter(torch.zeros(HEADS))

    def forward(self, x, *keep):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, HEADS, -1).transpose(1, 2) for a in self.qkv(x).chunk(3, -1))
        if self.change:
            q, k, v = self.change(q, k, v)
        p = self.weights(self, q @ k.transpose(-1, -2) * self.scale, *keep)
        y = p @ v
        if self.after:
            y = self.after(y, p)
        return self.out(y.transpose(1, 2).reshape(b, t, -1))


class Fused(Attention):
    """The same by PyTorch's own function, whose mask is mask(keep)."""

    def forward(self, x, *keep):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, HEADS, -1).transpose(1, 2) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, **self.weights(self, *keep))
        return self.out(y.transpose(1, 2).reshape(b, t, -1))


def attention(name, weights, data=normal, keep=None, kind=Attention, single=False, **options):
    near(f"attention_{name}", lambda: kind(weights, **options), data, keep, single=single)


def soft(s):
    return torch.softmax(s, -1)


def key(keep):
    return keep[:, None, None, :] > 0


def query(keep):
    return keep[:, None, :, None] > 0


def below(diagonal=0):
    """True where a query sees a key at or before its own position + diagonal."""
    return torch.ones(TIME, TIME, dtype=torch.bool).tril(diagonal)


def band(low, high):
    return torch.ones(TIME, TIME, dtype=torch.bool).tril(high).triu(low)


def absent(keep, number):
    """What is added to the scores of keys that are padding."""
    return (1 - keep)[:, None, None, :] * number


def by_hand(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


NUMBERS = {"min": MIN, "1e9": -1e9, "1e4": -1e4}
for word, number in NUMBERS.items():
    # A score next to 1e9 loses its digits in float32, which makes the weights of a masked row equal.
    attention_single = partial(attention, single=word != "min")
    attention(f"filled_{word}", lambda m, s, keep, n=number: soft(s.masked_fill(~key(keep), n)), keep=KEEP)
    attention_single(f"added_{word}", lambda m, s, keep, n=number: soft(s + absent(keep, n)), keep=KEEP)
    attention_single(f"where_added_{word}", lambda m, s, keep, n=number: soft(s + torch.where(key(keep), 0.0, n)), keep=KEEP)
    attention(f"where_twice_{word}", lambda m, s, keep, n=number: soft(torch.where(key(keep), torch.where(below(), s, n), n)), keep=KEEP)
    attention(f"multiplied_{word}", lambda m, s, keep, n=number: soft(s * keep[:, None, None, :] + absent(keep, n)), keep=KEEP)
    attention_single(f"causal_and_added_{word}", lambda m, s, keep, n=number: soft(torch.where(below(), s, n) + absent(keep, n)), keep=KEEP)
    attention(f"strict_{word}", lambda m, s, n=number: soft(s.masked_fill(~below(-1), n)))
    attention(f"hand_{word}", lambda m, s, keep, n=number: by_hand(s.masked_fill(~key(keep), n)), keep=KEEP)
    attention(f"query_{word}", lambda m, s, keep, n=number: soft(s.masked_fill(~query(keep), n)), keep=KEEP)
    attention(f"large_{word}", lambda m, s, keep, n=number: soft(s.masked_fill(~key(keep), n)), times(30), KEEP)
for word, see in {"key": key, "both": lambda keep: key(keep) & query(keep), "causal": lambda keep: key(keep) & below()}.items():
    attention(f"sdpa_{word}", lambda m, keep, f=see: dict(attn_mask=f(keep)), keep=KEEP, kind=Fused)
    attention(f"guard_{word}", lambda m, s, keep, f=see: torch.nan_to_num(soft(s.masked_fill(~f(keep), INF)), nan=0.0), keep=KEEP)
attention("sdpa_min", lambda m, keep: dict(attn_mask=torch.where(key(keep), 0.0, MIN)), keep=KEEP, kind=Fused)
attention("sdpa_float", lambda m, keep: dict(attn_mask=absent(keep, -1e4)), keep=KEEP, kind=Fused, single=True)
attention("sdpa_is_causal", lambda m: dict(is_causal=True), kind=Fused)
attention("inf_some", lambda m, s, keep: soft(s.masked_fill(~key(keep), INF)), keep=SOME)
attention("inf_added", lambda m, s, keep: soft(s + torch.where(key(keep), 0.0, INF)), keep=SOME)
attention("two_numbers", lambda m, s, keep: soft(s.masked_fill(~below(), -1e4).masked_fill(~key(keep), -1e9)), keep=KEEP)
attention("two_added", lambda m, s, keep: soft(s + torch.where(below(), 0.0, -1e9) + absent(keep, -1e4)), keep=KEEP, single=True)
attention("both_1e9", lambda m, s, keep: soft(s.masked_fill(~(key(keep) & query(keep)), -1e9)), keep=KEEP)
attention("segments", lambda m, s, keep: soft(s.masked_fill(keep[:, None, None, :] != keep[:, None, :, None], MIN)), keep=SEGMENT)
attention("segments_strict", lambda m, s, keep: soft(torch.where((keep[:, None, None, :] == keep[:, None, :, None]) & below(-1), s, MIN)), keep=SEGMENT)
attention("window", lambda m, s: soft(s.masked_fill(~band(-2, 0), MIN)))
attention("window_ahead", lambda m, s: soft(s.masked_fill(~band(1, 2), -1e9)))
attention("window_by_key", lambda m, s, keep: soft(s.masked_fill(~band(-1, 1), MIN).masked_fill(~key(keep), MIN)), keep=KEEP)
attention("last_key_masked", lambda m, s: soft(torch.cat([s[..., :-1], torch.full_like(s[..., -1:], -1e9)], -1)))
attention("shallow_mask", lambda m, s, keep: soft(s + absent(keep, -3.0)), keep=KEEP)
attention("shallow_causal", lambda m, s: soft(s.masked_fill(~below(), -5.0)))
attention("masked_to_0", lambda m, s, keep: soft(s.masked_fill(~key(keep), 0.0)), keep=KEEP)
attention("after_softmax", lambda m, s, keep: soft(s) * keep[:, None, None, :], keep=KEEP)
attention("normalized_again", lambda m, s, keep: (soft(s) * (w := keep[:, None, None, :])) / ((soft(s) * w).sum(-1, keepdim=True) + 1e-6), keep=KEEP)
attention("masked_after", lambda m, s, keep: soft(s.masked_fill(~key(keep), MIN)).masked_fill(~key(keep), 0.0), keep=KEEP)
attention("scaled_after_mask", lambda m, s, keep: soft((s + absent(keep, -10.0)) * 0.5), keep=KEEP)
attention("negative_scale", lambda m, s: soft(s.masked_fill(~below(), -1e9)), scale=-0.5)
attention("plain", lambda m, s: soft(s))
attention("equal_scores", lambda m, s: soft(s), tied)
attention("large", lambda m, s: soft(s), times(40))
attention("queries_axis", lambda m, s: torch.softmax(s, -2))
attention("heads_axis", lambda m, s: torch.softmax(s, 1))
attention("one_more", lambda m, s: torch.exp(s - s.amax(-1, keepdim=True)) / (1 + torch.exp(s - s.amax(-1, keepdim=True)).sum(-1, keepdim=True)))
attention("sink", lambda m, s: soft(torch.cat([s, m.extra[None, :, None, None].expand(s.shape[0], HEADS, TIME, 1)], -1))[..., :-1])
attention("capped", lambda m, s: soft(torch.tanh(s / 2) * 2))
attention("capped_causal", lambda m, s: soft((torch.tanh(s / 2) * 2).masked_fill(~below(), MIN)))
attention("learned_scale", lambda m, s: soft(s * torch.exp(m.extra)[None, :, None, None]))
attention("learned_bias", lambda m, s: soft(s + m.extra[None, :, None, None] * torch.arange(TIME)))
attention("alibi", lambda m, s: soft((s - (torch.arange(TIME)[:, None] - torch.arange(TIME)).abs() * 0.5).masked_fill(~below(), MIN)))
attention("sigmoid", lambda m, s: torch.sigmoid(s - math.log(TIME)))
attention("relu", lambda m, s: torch.relu(s) / TIME)
attention("squared", lambda m, s: (w := soft(s)) * w)
attention("log", lambda m, s: torch.log_softmax(s, -1))
attention("twice", lambda m, s: soft(soft(s)))
attention("minus_mean", lambda m, s: soft(s) - 1 / TIME)
attention("powers_of_two", lambda m, s: (e := torch.exp2(s - s.amax(-1, keepdim=True))) / e.sum(-1, keepdim=True))
attention("no_maximum", lambda m, s: (e := torch.exp(s)) / e.sum(-1, keepdim=True))
attention("floor_sum", lambda m, s: (e := torch.exp(s - s.amax(-1, keepdim=True))) / (e.sum(-1, keepdim=True) + 0.1))
attention("other_maximum", lambda m, s: (e := torch.exp(s - s.mean(-1, keepdim=True))) / e.sum(-1, keepdim=True))
attention("detached_maximum", lambda m, s: (e := torch.exp(s - s.amax(-1, keepdim=True).detach())) / e.sum(-1, keepdim=True))
attention("read_twice", lambda m, s: soft(s), after=lambda y, p: y * p.sum(-2)[..., None])
attention("scores_read", lambda m, s: soft(s) * torch.sigmoid(s))
attention("talking_heads", lambda m, s: soft(s.flip(1)).flip(1) * 0.5 + soft(s) * 0.5)
attention("values_are_keys", lambda m, s: soft(s), change=lambda q, k, v: (q, k, k))
attention("queries_are_keys", lambda m, s: soft(s), change=lambda q, k, v: (q, q, v))
attention("unit_queries", lambda m, s: soft(s * 4), change=lambda q, k, v: (F.normalize(q, dim=-1), F.normalize(k, dim=-1), v))
attention("shared_keys", lambda m, s: soft(s), change=lambda q, k, v: (q, k[:, :1].expand_as(k), v[:, :1].expand_as(v)))
attention("reversed_keys", lambda m, s: soft(s.masked_fill(~below(), MIN)), change=lambda q, k, v: (q, k.flip(2), v))

# ---- the other patterns ----

for kind, table in dict(norm=NORMS, gelu=GELU, softmax=SOFTMAX, log_sum=LOG_SUM, rotary=ROTARY).items():
    for name, core in table.items():
        near(f"{kind}_{name}", core)
for name, data in dict(constant=constant_rows, tied=tied, large=times(300), small=times(1e-6)).items():
    near(f"norm_of_{name}", NORMS["layer"], data, bare=True)
    near(f"rms_of_{name}", NORMS["rms"], data, bare=True)
    near(f"softmax_of_{name}", SOFTMAX["plain"], data, bare=True)
    near(f"log_sum_of_{name}", LOG_SUM["cross_entropy"], data, bare=True)


def write(name, folder):
    torch.manual_seed(0)
    nets.write_case(name, NEAR[name](), folder, CURVE, "dynamo", moves=5)


if __name__ == "__main__":
    # PyTorch's fused kernel loses the gradient of a row whose scores are all near finfo.min: exp(s - logsumexp) has no digits left.
    torch.backends.cuda.enable_flash_sdp(False)
    nets.write_named(__doc__, NEAR, write)
