"""The large models of the tables of GPUs as PyTorch's modules, with nothing but PyTorch. Without it they are left out."""
from dataclasses import dataclass

import numpy as np

try:
    import torch
    import torch.nn as nn
    from torch.nn import functional as F
except ImportError:
    torch = None


@dataclass
class Text:
    """A transformer over tokens: GPT-2's, BERT's, which sees all tokens, or LLaMA's, which has `groups` heads of keys."""

    title: str
    batch: int
    length: int
    vocabulary: int
    is_causal: bool
    width: int = 768
    heads: int = 12
    layers: int = 12
    groups: int = 0
    inner: int = 0

    def data(self, rng):
        shape = (self.batch, self.length)
        return {key: rng.integers(0, self.vocabulary, shape) for key in ("input_ids", "labels")}


@dataclass
class Images:
    """ResNet-50, or a vision transformer of `layers` blocks."""

    title: str
    batch: int
    layers: int = 0
    width: int = 1024
    heads: int = 16
    size: int = 224
    classes: int = 1000

    def data(self, rng):
        pixels = rng.standard_normal((self.batch, 3, self.size, self.size), np.float32)
        return {"pixel_values": pixels, "labels": rng.integers(0, self.classes, self.batch)}


def make_module(case):
    return make_text(case) if isinstance(case, Text) else make_images(case)


# ---- transformers ----


def attend(q, k, v, is_causal):
    """Heads of [batch, tokens, heads, width]; those of keys may be fewer."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=k.shape[1] < q.shape[1])
    return y.transpose(1, 2).flatten(2)


def make_block(width, heads, is_first, is_causal, gelu):
    """Norms before the block's parts (`is_first`), as GPT-2 and vision transformers have them, or after them, as BERT has."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def attend(self, x):
            heads_of = self.qkv(x).unflatten(2, (3, heads, -1)).unbind(2)
            return self.out(attend(*heads_of, is_causal))

        def feed(self, x):
            return self.down(F.gelu(self.up(x), approximate=gelu))

        def forward(self, x):
            for norm, part in zip(self.norms, (self.attend, self.feed)):
                x = x + part(norm(x)) if is_first else norm(x + part(x))
            return x

    return Block()


def make_text(case):
    return make_llama(case) if case.groups else make_gpt(case)


def make_gpt(case):
    """GPT-2 or BERT. Both use their embeddings for the output."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            gelu = "tanh" if case.is_causal else "none"
            self.tokens = nn.Embedding(case.vocabulary, case.width)
            self.places = nn.Embedding(case.length, case.width)
            self.norm = nn.LayerNorm(case.width)
            self.blocks = nn.ModuleList(make_block(case.width, case.heads, case.is_causal, case.is_causal, gelu) for _ in range(case.layers))
            self.head = None if case.is_causal else nn.Linear(case.width, case.width)

        def forward(self, ids):
            x = self.tokens(ids) + self.places.weight
            x = x if case.is_causal else self.norm(x)
            for block in self.blocks:
                x = block(x)
            x = self.norm(x) if case.is_causal else F.layer_norm(F.gelu(self.head(x)), (case.width,))
            return F.linear(x, self.tokens.weight)

    return Model()


def make_llama(case):
    head = case.width // case.heads

    def rotate(x, cosine, sine):
        a, b = x.chunk(2, -1)
        return x * cosine + torch.cat((-b, a), -1) * sine

    class Block(nn.Module):
        def __init__(self):
            super().__init__()

            def linear(a, b):
                return nn.Linear(a, b, bias=False)

            self.q, self.out = linear(case.width, case.width), linear(case.width, case.width)
            self.k, self.v = (linear(case.width, case.groups * head) for _ in range(2))
            self.gate, self.up = linear(case.width, case.inner), linear(case.width, case.inner)
            self.down = linear(case.inner, case.width)
            self.norms = nn.ModuleList(nn.RMSNorm(case.width, eps=1e-6) for _ in range(2))

        def forward(self, x, cosine, sine):
            y = self.norms[0](x)
            q, k, v = (part(y).unflatten(2, (-1, head)) for part in (self.q, self.k, self.v))
            x = x + self.out(attend(rotate(q, cosine, sine), rotate(k, cosine, sine), v, True))
            y = self.norms[1](x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(case.vocabulary, case.width)
            self.blocks = nn.ModuleList(Block() for _ in range(case.layers))
            self.norm, self.head = nn.RMSNorm(case.width, eps=1e-6), nn.Linear(case.width, case.vocabulary, bias=False)
            angle = torch.outer(torch.arange(case.length), 1e4 ** (-torch.arange(0, head, 2) / head)).repeat(1, 2)[:, None]
            self.register_buffer("cosine", angle.cos())
            self.register_buffer("sine", angle.sin())

        def forward(self, ids):
            x = self.tokens(ids)
            for block in self.blocks:
                x = block(x, self.cosine.to(x.dtype), self.sine.to(x.dtype))
            return self.head(self.norm(x))

    return Model()


# ---- images ----


def make_images(case):
    return make_vit(case) if case.layers else make_resnet(case)


def make_vit(case):
    """Patches of 16 x 16 pixels, and a token for the class, whose result is the model's."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, case.width, 16, 16)
            self.first = nn.Parameter(torch.zeros(1, 1, case.width))
            self.places = nn.Parameter(torch.zeros(1, 1 + (case.size // 16) ** 2, case.width))
            self.blocks = nn.Sequential(*(make_block(case.width, case.heads, True, False, "none") for _ in range(case.layers)))
            self.norm, self.head = nn.LayerNorm(case.width), nn.Linear(case.width, case.classes)

        def forward(self, pixels):
            x = self.patches(pixels).flatten(2).transpose(1, 2)
            x = torch.cat((self.first.expand(len(x), -1, -1), x), 1) + self.places
            return self.head(self.norm(self.blocks(x))[:, 0])

    return Model()


def make_resnet(case):
    def convolution(a, b, size, stride=1):
        return nn.Sequential(nn.Conv2d(a, b, size, stride, size // 2, bias=False), nn.BatchNorm2d(b))

    class Block(nn.Module):
        def __init__(self, a, b, stride):
            super().__init__()
            self.parts = nn.Sequential(convolution(a, b, 1), nn.ReLU(), convolution(b, b, 3, stride), nn.ReLU(), convolution(b, 4 * b, 1))
            self.skip = convolution(a, 4 * b, 1, stride) if a != 4 * b else nn.Identity()

        def forward(self, x):
            return F.relu(self.parts(x) + self.skip(x))

    blocks, a = [], 64
    for b, n in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(n):
            blocks.append(Block(a, b, 2 if i == 0 and b > 64 else 1))
            a = 4 * b
    stem = nn.Sequential(convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    return nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, case.classes))
