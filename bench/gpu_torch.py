"""The large models of gpu.py as training steps of PyTorch, with nothing but PyTorch. Without it they are left out."""
import sys
from dataclasses import dataclass

import numpy as np

try:
    import torch
    import torch.nn as nn
    from torch.nn import functional as F
except ImportError:
    torch = None


@dataclass
class Case:
    title: str
    batch: int
    length: int
    vocabulary: int
    is_causal: bool
    width: int = 768
    heads: int = 12
    layers: int = 12

    def data(self, rng):
        shape = (self.batch, self.length)
        return {key: rng.integers(0, self.vocabulary, shape) for key in ("input_ids", "labels")}


LARGE = {
    "gpt2_small": Case("GPT-2 124M 8x1024", 8, 1024, 50257, True),
    "bert_base": Case("BERT-base 32x128", 32, 128, 30522, False),
}


def has_torch():
    return torch is not None and torch.cuda.is_available()


def make_model(case):
    """GPT-2 has its norms before the blocks' parts, BERT after them; both use their embeddings for the output."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(case.width, 3 * case.width), nn.Linear(case.width, case.width)
            self.up, self.down = nn.Linear(case.width, 4 * case.width), nn.Linear(4 * case.width, case.width)
            self.norms = nn.ModuleList(nn.LayerNorm(case.width) for _ in range(2))

        def attend(self, x):
            b, t, _ = x.shape
            heads = self.qkv(x).view(b, t, 3, case.heads, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(*heads, is_causal=case.is_causal)
            return self.out(y.transpose(1, 2).reshape(b, t, -1))

        def feed(self, x):
            return self.down(F.gelu(self.up(x), approximate="tanh" if case.is_causal else "none"))

        def forward(self, x):
            for norm, part in zip(self.norms, (self.attend, self.feed)):
                x = x + part(norm(x)) if case.is_causal else norm(x + part(x))
            return x

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(case.vocabulary, case.width)
            self.places = nn.Embedding(case.length, case.width)
            self.norm = nn.LayerNorm(case.width)
            self.blocks = nn.ModuleList(Block() for _ in range(case.layers))
            self.head = nn.Linear(case.width, case.width)

        def forward(self, ids):
            x = self.tokens(ids) + self.places.weight
            x = x if case.is_causal else self.norm(x)
            for block in self.blocks:
                x = block(x)
            x = self.norm(x) if case.is_causal else F.layer_norm(F.gelu(self.head(x)), (case.width,))
            return x @ self.tokens.weight.T

    return Model()


def torch_steps(name, data, warm_up, steps, is_compiled, device="cuda"):
    """Returns the seconds of each step after those that warm up, by events."""
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)
    case = LARGE[name]
    module = make_model(case).to(device)
    model = torch.compile(module) if is_compiled else module
    ids, labels = (torch.from_numpy(np.load(data / f"{key}.npy")).to(device) for key in ("input_ids", "labels"))
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)
    seconds = []
    for _ in range(warm_up + steps):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(ids).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()
        end.record()
        end.synchronize()
        seconds.append(1e-3 * begin.elapsed_time(end))
    del optimizer, model, module
    torch.cuda.empty_cache()
    return seconds[warm_up:]


def copy_rate(mebibytes=1024, tries=10):
    """Bytes that a copy reads and writes in a second: the best of some."""
    x = torch.empty(mebibytes << 20, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    best = sys.float_info.max
    for _ in range(tries):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        y.copy_(x)
        end.record()
        end.synchronize()
        best = min(best, 1e-3 * begin.elapsed_time(end))
    return 2 * x.numel() / best
