#!/usr/bin/env python3
"""Kernels and fused groups against the machine: share of its flop/s or of its memory's bandwidth.

  kernels.py --shardcc build/shardcc --work DIR [--rounds 3] [--steps 6] [--threads 2] [NAME ...]

Each NAME is a small graph in IR text whose operands don't fit into a cache. It is compiled and trained
with --profile, so the calls measured are those of a trainer. The fastest time of a call in all steps of
all rounds counts. Its share is

  roof time / time,    roof time = max(read / reading rate, (read + written) / rate of an update)

of the bytes that memory must deliver and accept. Each operand counts once. Bytes that are written without
having been read are fetched first, so they count as both. Streaming stores fetch nothing, so their share may be
more than 100 %. Both rates are measured before and after each run, on an array that no cache holds: a sum, and
y = y / 2 + 1 in place, which moves the most bytes. The faster measurement counts. The table also shows the
rate of c = a + b, which fetches c, as most groups do. A share is the median over the rounds, because memory
that other programs use changes its speed. For matrix products, convolutions and attention, the share is that
of the fastest product that `shardcc detect` measures, at the beginning and at the end.
"""
import argparse
import json
import math
import re
import subprocess
from pathlib import Path

import numpy as np

ROW = re.compile(r"(.+?)\s+\d+\s+([\d.]+)\s+([\d.]+)\s+[\d.]+%\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$")
PRODUCT = re.compile(r": (dot|conv|conv_\w+_grad|attention|attention_grad) ")
MIN_BYTES = 150e6  # bytes; smaller calls stay in a cache in part


class Graph:
    """The lines of a graph's text. Values are named by their line."""

    def __init__(self, name):
        self.name, self.lines, self.dims, self.inputs = name, [], {}, {}

    def leaf(self, kind, name, *dims, below=None):
        """Adds an input, parameter or the like: of indices less than `below`, or of floats if it is None."""
        self.lines.append(f"  {kind} %{name} {self.type(dims, 'i64' if below else 'f32')}")
        self.dims[name] = dims
        if kind == "input":
            self.inputs[name] = (dims, below)
        return name

    def number(self, x):
        name = f"c{len(self.lines)}"
        self.lines.append(f"  constant %{name} f32[] = {x}")
        self.dims[name] = ()
        return name

    @staticmethod
    def type(dims, type="f32"):
        return f"{type}[{','.join(map(str, dims))}]"

    def add(self, op, *operands, dims=None, attrs="", type="f32", module=None):
        """Adds a node."""
        dims = dims or self.dims[operands[0]]
        name = f"v{len(self.lines)}"
        source = f'from "{name}" "{module or self.name}"'
        self.lines.append(
            f"  %{name} {self.type(dims, type)} = {op}({', '.join('%' + x for x in operands)}) {attrs} {source}"
        )
        self.dims[name] = dims
        return name

    def spread(self, x, dims, at):
        """Broadcasts x to `dims`. Its dims are those at the positions `at`."""
        places = f" dims=[{','.join(map(str, at))}]" if at else ""
        return self.add("broadcast", x, dims=dims, attrs=f"shape=[{','.join(map(str, dims))}]{places}")

    def mean(self, x):
        """The mean over the last dim."""
        dims = self.dims[x][:-1]
        total = self.add("reduce_sum", x, dims=dims, attrs=f"axes=[{len(dims)}]")
        return self.add("mul", total, self.spread(self.number(1 / self.dims[x][-1]), dims, []))

    def text(self, output):
        return f'graph "{self.name}" {{\n' + "\n".join(self.lines) + f'\n  output model "y" %{output}\n}}\n'


# ---- graphs: each function returns the last value of the graph, and the loss ----


def gemm(g, m, n, k):
    x, w = g.leaf("input", "x", m, k), g.leaf("parameter", "w", k, n)
    u = g.leaf("parameter", "u", n, k)
    y = g.add("dot", x, w, dims=(m, n), attrs='eq="mk,kn->mn"', module=f"{m}x{n}x{k}")
    z = g.add("dot", y, u, dims=(m, k), attrs='eq="mn,nk->mk"', module=f"{m}x{k}x{n}")
    return z, "mse(y, t)"


def conv(g, batch, c, o, size, taps, groups=1):
    low = taps // 2
    module = f"{taps}x{taps} {c}-{o}@{size}" + (f" / {groups}" if groups > 1 else "")
    x, scale = g.leaf("input", "x", batch, c, size, size), g.leaf("parameter", "s", c)
    w = g.leaf("parameter", "w", o, c // groups, taps, taps)
    # Scaled by a parameter, so that the input's gradient is needed.
    scaled = g.add("mul", x, g.spread(scale, g.dims[x], [1]))
    attrs = f"stride=[1,1] low=[{low},{low}] high=[{low},{low}] dilation=[1,1]"
    attrs += f" groups={groups}" if groups > 1 else ""
    return g.add("conv", scaled, w, dims=(batch, o, size, size), attrs=attrs, module=module), "mse(y, t)"


def layer_norm(g, rows, width):
    x = g.leaf("parameter", "x", rows, width)
    w, b = g.leaf("parameter", "w", width), g.leaf("parameter", "b", width)
    dims = (rows, width)
    d = g.add("sub", x, g.spread(g.mean(x), dims, [0]))
    variance = g.mean(g.add("mul", d, d))
    deviation = g.add("sqrt", g.add("add", variance, g.spread(g.number(1e-5), (rows,), [])))
    y = g.add("div", d, g.spread(deviation, dims, [0]))
    return g.add("add", g.add("mul", y, g.spread(w, dims, [1])), g.spread(b, dims, [1])), "mse(y, t)"


def rms_norm(g, rows, width):
    x, w = g.leaf("parameter", "x", rows, width), g.leaf("parameter", "w", width)
    square = g.add("add", g.mean(g.add("mul", x, x)), g.spread(g.number(1e-6), (rows,), []))
    scale = g.add("div", g.spread(g.number(1), (rows,), []), g.add("sqrt", square))
    y = g.add("mul", x, g.spread(scale, (rows, width), [0]))
    return g.add("mul", y, g.spread(w, (rows, width), [1])), "mse(y, t)"


def softmax(g, rows, width):
    x = g.leaf("parameter", "x", rows, width)
    most = g.add("floor", g.add("reduce_max", x, dims=(rows,), attrs="axes=[1]"))  # floor, as make_softmax does
    e = g.add("exp", g.add("sub", x, g.spread(most, (rows, width), [0])))
    total = g.add("reduce_sum", e, dims=(rows,), attrs="axes=[1]")
    part = g.add("div", g.spread(g.number(1), (rows,), []), total)
    return g.add("mul", e, g.spread(part, (rows, width), [0])), "mse(y, t)"


def cross_entropy(g, rows, width):
    x, shift = g.leaf("parameter", "x", rows, width), g.leaf("parameter", "b", width)
    return g.add("add", x, g.spread(shift, (rows, width), [1])), "cross_entropy(y, labels)"


def embedding(g, rows, width, tokens):
    ids, table = g.leaf("input", "ids", tokens, below=rows), g.leaf("parameter", "table", rows, width)
    return g.add("gather", table, ids, dims=(tokens, width)), "mse(y, t)"


def gelu(g, rows, width):
    x, b = g.leaf("parameter", "x", rows, width), g.leaf("parameter", "b", width)
    dims = (rows, width)
    x = g.add("add", x, g.spread(b, dims, [1]))
    e = g.add("erf", g.add("mul", x, g.spread(g.number(0.70710678), dims, [])))
    half = g.add("mul", x, g.spread(g.number(0.5), dims, []))
    return g.add("mul", half, g.add("add", e, g.spread(g.number(1), dims, []))), "mse(y, t)"


GRAPHS = {
    "gemm": (gemm, 4096, 3072, 768),
    "gemm_few_rows": (gemm, 256, 3072, 768),
    "gemm_head": (gemm, 512, 50257, 768),
    "conv_3x3": (conv, 32, 64, 64, 56, 3),
    "conv_1x1": (conv, 32, 256, 64, 56, 1),
    "conv_deep": (conv, 32, 256, 256, 14, 3),
    "conv_depthwise": (conv, 8, 120, 120, 56, 5, 120),
    "layer_norm": (layer_norm, 65536, 768),
    "rms_norm": (rms_norm, 65536, 768),
    "softmax": (softmax, 8192, 8192),
    "cross_entropy": (cross_entropy, 2048, 32000),
    "gelu": (gelu, 16384, 3072),
    "embedding": (embedding, 50257, 768, 65536),
}

# ---- running ----


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def peak_rate(options):
    """The flop/s of the fastest f32 product."""
    device = json.loads(run(options.shardcc, "detect", "--threads", options.threads))["device"]
    return max(g["flops"] for g in device["gemm"] if g["type"] == "f32")


def memory_rates(options):
    """bytes/s of memory: updating in place, only reading, and c = a + b."""
    return np.array(run(next((options.shardcc.parent / "rt").glob("probe-*")), options.threads, "memory").split(), float)


def write_data(folder, g, loss, output):
    """Writes one batch for the graph's inputs and labels: some random numbers, repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    inputs = dict(g.inputs)
    if "labels" in loss:
        *dims, classes = g.dims[output]
        inputs["labels"] = (dims, classes)
    else:
        inputs["t"] = (g.dims[output], None)
    for name, (dims, below) in inputs.items():
        some = rng.integers(0, below, 65536) if below else rng.standard_normal(65536, np.float32)
        np.save(folder / f"{name}.npy", np.resize(some, dims))


def build(name, options):
    maker, *sizes = GRAPHS[name]
    g = Graph(name)
    output, loss = maker(g, *sizes)
    work = options.work / name
    write_data(work / "data", g, loss, output)
    (work / "graph.ir").write_text(g.text(output))
    args = ["--loss", loss, "--optimizer", "adamw", "--clip-norm", 1, "--init", "normal(0.02)"]
    run(options.shardcc, work / "graph.ir", "-o", work / "trainer", *args)
    return work


def measure(work, options):
    """Returns the calls and the median memory rates of the rounds.

    A call has its best seconds, flops, bytes read, bytes written, and its share in each round."""
    calls, rates, before = {}, [], memory_rates(options)
    for _ in range(options.rounds):
        steps = ["--steps", options.steps, "--epochs", options.steps, "--quiet"]
        said = run(work / "trainer", "--data", work / "data", *steps, "--threads", options.threads, "--profile")
        after = memory_rates(options)
        rates.append(np.maximum(before, after))
        before = after
        for line in said.split("\n\n")[2].splitlines()[1:]:
            name, *numbers = ROW.match(line).groups()
            mean, best, *giga = (float(x) for x in numbers)
            if name == "all calls" or best == 0:
                continue
            flops, read, written = done = [g * 1e6 * mean for g in giga]
            # Calls with the same name differ by their work, which is printed with three digits.
            known = (a for n, a in calls if n == name and math.isclose(a, sum(done), rel_tol=0.1))
            key = name, next(known, sum(done))
            least, *_, shares = calls.get(key, (math.inf, []))
            moving, reading, _ = rates[-1]
            share = max(read / reading, (read + written) / moving) / (best / 1e3)
            calls[key] = (min(best / 1e3, least), flops, read, written, shares + [share])
    return calls, np.median(rates, axis=0)


def rows(name, calls, peak):
    """Yields a line for each call that is large enough, slowest first."""
    for (call, _), (seconds, flops, read, written, shares) in sorted(calls.items(), key=lambda x: -x[1][0]):
        is_product = bool(PRODUCT.search(call))
        if read + written < MIN_BYTES and not is_product:
            continue
        share = flops / peak / seconds if is_product else np.median(shares)
        done = " ".join(f"{1e-9 * x / seconds:8.1f}" for x in (flops, read, written))
        yield f"{name:14s} {call[:64]:64s} {1e3 * seconds:9.2f} {done} {100 * share:6.0f}%"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help=" ".join(GRAPHS))
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--work", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=6, help="of each round")
    p.add_argument("--threads", type=int, default=2)
    options = p.parse_args()
    unknown = [name for name in options.names if name not in GRAPHS]
    if unknown:
        p.error(f"no graph named {unknown[0]}: there are {' '.join(GRAPHS)}")
    peak = peak_rate(options)
    found = {name: measure(build(name, options), options) for name in options.names or GRAPHS}
    peak = max(peak, peak_rate(options))
    print(f"{'graph':14s} {'call':64s} {'ms':>9s} {'GFLOP/s':>8s} {'GB/s in':>8s} {'GB/s out':>8s}   share")
    for name, (calls, rates) in found.items():
        print("\n".join(rows(name, calls, peak)))
        moving, reading, adding = 1e-9 * rates
        said = f"moves {moving:.1f} GB/s, reads {reading:.1f}, adds {adding:.1f}"
        print(f"{name:14s} memory {said}; products {1e-9 * peak:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
