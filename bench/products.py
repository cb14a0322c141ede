"""Finds the matrix products of a trainer, and how fast this machine computes them alone.

A convolution counts as the equivalent product: (batch · positions) by channels by taps.
"""
import math
import re
import subprocess
import time

MAX_SHAPES = 6  # how many of the largest shapes are measured
CALLS = 3


def _numbers(text, name):
    """The numbers of a field: ".n = 2" or ".size = {3, 3}"."""
    found = re.search(rf"\.{name} = (\{{[^}}]*\}}|\d+)", text)
    return [int(x) for x in re.findall(r"\d+", found[1])] if found else [1]


def _dot(text):
    (m,), (n,), (k,) = (_numbers(text, name) for name in "mnk")
    return m, n, k


def _conv(text):
    window, rest = text.split("}},", 1)
    (batch,), (c,), (o,), (groups,) = (_numbers(rest, name) for name in ("n", "c", "o", "groups"))
    taps = c // groups * math.prod(_numbers(window, "size"))
    return batch * math.prod(_numbers(rest, "y_dim")), o // groups, taps


def shapes_of(text):
    """The largest different (m, n, k) for which the C text of a trainer prepares kernels."""
    calls = re.findall(r"rt_(dot|conv)\w*_init\(rt, \d+, &\(Rt\w+\)\{(.*?)\}\);", " ".join(text.split()))
    shapes = {(_dot if kind == "dot" else _conv)(fields + "}") for kind, fields in calls}
    return sorted(shapes, key=lambda s: (-math.prod(s), s))[:MAX_SHAPES]


def our_rate(probe, shapes, threads):
    """The most flop/s that our own kernel reaches with these shapes."""
    numbers = [str(x) for shape in shapes for x in shape]
    said = subprocess.run([str(probe), str(threads), *numbers], capture_output=True, text=True, check=True)
    return max(map(float, said.stdout.split()))


def torch_rate(shapes):
    """The most flop/s that PyTorch's kernel reaches with these shapes."""
    import torch

    best = 0
    for m, n, k in shapes:
        a, b = torch.randn(m, k), torch.randn(k, n)
        for i in range(1 + CALLS):  # the first call warms up
            start = time.perf_counter()
            torch.mm(a, b)
            rate = 2 * m * n * k / (time.perf_counter() - start)
            best = max(best, rate if i else 0)
    return best
