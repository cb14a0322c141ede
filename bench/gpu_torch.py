"""Steps, products, attention and copies of PyTorch on a GPU. Without PyTorch they are left out."""
import sys

import numpy as np

from gpu_modules import Text, make_module, torch

CLIP = 1.0  # of the norm of gradients, in halves


def has_torch():
    return torch is not None and torch.cuda.is_available()


def seconds_of(work):
    """The GPU's seconds of a piece of work, by events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return 1e-3 * begin.elapsed_time(end)


def torch_steps(case, data, warm_up, steps, is_compiled, is_half=False, device="cuda"):
    """Returns the seconds of each step after those that warm up. Halves: bf16 by autocast, images with channels last, and clipped
    gradients."""
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)
    module = make_module(case).to(device)
    inputs, labels = (torch.from_numpy(np.load(data / f"{key}.npy")).to(device) for key in case_keys(case))
    if is_half and inputs.dim() == 4:
        module, inputs = (x.to(memory_format=torch.channels_last) for x in (module, inputs))
    model = torch.compile(module) if is_compiled else module
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=is_half):
            y = model(inputs)
            loss = torch.nn.functional.cross_entropy(y.flatten(0, -2), labels.flatten())
        loss.backward()
        if is_half:
            torch.nn.utils.clip_grad_norm_(module.parameters(), CLIP, foreach=True)
        optimizer.step()

    seconds = [seconds_of(step) for _ in range(warm_up + steps)]
    del optimizer, model, module
    torch.cuda.empty_cache()
    return seconds[warm_up:]


def case_keys(case):
    return ("input_ids" if isinstance(case, Text) else "pixel_values"), "labels"


def attention_seconds(batch, heads, groups, length, width, is_causal, tries=20):
    """The median seconds of attention in bf16, forward and backward, by PyTorch's default kernel."""
    shapes = [(batch, n, length, width) for n in (heads, groups, groups)]
    q, k, v = (torch.randn(s, device="cuda", dtype=torch.bfloat16, requires_grad=True) for s in shapes)

    def both():
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=groups < heads)
        y.backward(y)

    return sorted(seconds_of(both) for _ in range(5 + tries))[(5 + tries) // 2]


def product_rate(n=8192, tries=20):
    """The flop/s of a product of matrices of n x n in bf16: the best of some."""
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return 2 * n**3 / min(seconds_of(lambda: a @ b) for _ in range(tries))


def copy_rate(mebibytes=1024, tries=10):
    """Bytes that a copy reads and writes in a second: the best of some."""
    x = torch.empty(mebibytes << 20, dtype=torch.uint8, device="cuda")
    y = torch.empty_like(x)
    best = min((seconds_of(lambda: y.copy_(x)) for _ in range(tries)), default=sys.float_info.max)
    return 2 * x.numel() / best
