#!/usr/bin/env python3
"""Prints what PyTorch computes at kinks, ties, zeros and infinities, as rows of a C table.

  python tests/frontend/kinks.py     > tests/frontend/kinks.def
  python tests/frontend/kinks.py ends > tests/frontend/kinks_ends.def
  python tests/frontend/kinks.py old > tests/frontend/kinks_old.def

Each row is a function of a vector w, as PyTorch's newer or older exporter writes it, with the
elements of w, of y = f(w) and of the gradient of Σ (k + 1) y[k] by w, in f64. Functions that an
exporter can't write are missing, and so are those that the older one writes like the newer one.
Needs torch, onnx, onnxscript.
"""
import contextlib
import io
import logging
import math
import os
import re
import sys
import textwrap
import warnings

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
inf = math.inf
R = torch.reshape
norm = torch.linalg.vector_norm

CASES = {
    # activations
    "abs": (torch.abs, [-1, 0, 1]),
    "sign": (lambda x: x.sign() * x, [-1, 0, 1]),
    "relu": (F.relu, [-1, 0, 1]),
    "relu6": (F.relu6, [-1, 0, 3, 6, 7]),
    "hardtanh": (F.hardtanh, [-2, -1, 0, 1, 2]),
    "elu": (F.elu, [-100, -1, 0, 1, 100]),
    "selu": (F.selu, [-100, -1, 0, 1, 100]),
    "celu": (lambda x: F.celu(x, 2.0), [-100, -1, 0, 1, 100]),
    "softplus": (F.softplus, [-100, 0, 100]),
    "hardswish": (F.hardswish, [-4, -3, 0, 3, 4]),
    "hardsigmoid": (F.hardsigmoid, [-4, -3, 0, 3, 4]),
    "leaky_relu": (F.leaky_relu, [-1, 0, 1]),
    "prelu": (lambda x: F.prelu(x[:3], x[3:]), [-1, 0, 1, 0.25]),
    "threshold": (lambda x: F.threshold(x, 1.0, 0.0), [0, 1, 2]),
    "softshrink": (F.softshrink, [-1, -0.5, 0, 0.5, 1]),
    "hardshrink": (F.hardshrink, [-1, -0.5, 0, 0.5, 1]),
    "mish": (F.mish, [-100, -1, 0, 1, 100]),
    "silu": (F.silu, [-100, 0, 1]),
    "gelu": (F.gelu, [-100, -1, 0, 1]),
    "softsign": (F.softsign, [-1, 0, 1]),
    "tanhshrink": (F.tanhshrink, [-1, 0, 1]),
    "logsigmoid": (F.logsigmoid, [-100, 0, 10]),
    # bounds
    "clamp": (lambda x: x.clamp(-1, 1), [-2, -1, 0, 1, 2]),
    "clamp_min": (lambda x: x.clamp(min=0.5), [0, 0.5, 1]),
    "clamp_max": (lambda x: x.clamp(max=0.5), [0, 0.5, 1]),
    "clamp_tensors": (lambda x: torch.clamp(x[:3], x[3:6], x[6:]), [1, 2, 3, 1, 1, 1, 3, 3, 3]),
    "maximum": (lambda x: torch.maximum(x[:3], x[3:]), [1, 2, 3, 2, 2, 2]),
    "minimum": (lambda x: torch.minimum(x[:3], x[3:]), [1, 2, 3, 2, 2, 2]),
    "maximum_number": (lambda x: torch.maximum(x, torch.tensor(2.0)), [1, 2, 3]),
    # the largest and the smallest
    "amax": (lambda x: R(x, (2, 3)).amax(1), [1, 1, 0, 2, 3, 1]),
    "amin": (lambda x: R(x, (2, 3)).amin(1), [1, 1, 0, 2, 1, 1]),
    "max": (lambda x: x.max(), [1, 1, 0]),
    "min": (lambda x: x.min(), [1, 0, 0]),
    "max_dim": (lambda x: R(x, (2, 3)).max(1)[0], [1, 1, 0, 2, 3, 3]),
    "min_dim": (lambda x: R(x, (2, 3)).min(1)[0], [1, 1, 0, 2, 1, 1]),
    "max_dim_0": (lambda x: R(x, (3, 2)).max(0)[0], [1, 1, 0, 1, 1, 0]),
    "topk": (lambda x: x.topk(2)[0], [1, 3, 2, 0]),
    "sort": (lambda x: x.sort()[0], [1, 3, 1, 0]),
    "max_pool1d": (lambda x: F.max_pool1d(R(x, (1, 1, 4)), 2, 1), [1, 1, 1, 1]),
    "max_pool2d": (lambda x: F.max_pool2d(R(x, (1, 1, 2, 2)), 2), [1, 1, 1, 0]),
    # powers, products
    "pow_half": (lambda x: x ** 0.5, [0, 1]),
    "pow_0.3": (lambda x: x ** 0.3, [0, 1]),
    "pow_0": (lambda x: x ** 0.0 + x, [0, 1]),
    "pow_1": (lambda x: x ** 1.0, [0, 1]),
    "pow_1.5": (lambda x: x ** 1.5, [0, 1]),
    "pow_2": (lambda x: x ** 2, [0, 1]),
    "pow_3": (lambda x: x ** 3, [0, 1]),
    "pow_-1": (lambda x: x ** -1.0, [0, 1]),
    "pow_-half": (lambda x: x ** -0.5, [0, 1]),
    "pow": (lambda x: x[:6] ** x[6:], [0, 0, 0, 0, 2, -2, 0, 0.5, 1, 2, 0, 2]),
    "pow_negative": (lambda x: x[:2] ** x[2:], [0, 0, -1, -0.5]),
    "pow_of_0": (lambda x: 0.0 ** x, [0, 1, 2]),
    "prod": (lambda x: R(x, (3, 3)).prod(1), [0, 2, 3, 0, 0, 3, 1, 2, 3]),
    "cumsum": (lambda x: x.cumsum(0), [2, 0, 3]),
    # norms, deviations
    "norm": (lambda x: norm(R(x, (2, 2)), dim=1), [0, 0, 3, 4]),
    "norm_1": (lambda x: norm(R(x, (2, 2)), 1, dim=1), [0, 0, 3, -4]),
    "norm_3": (lambda x: norm(R(x, (2, 2)), 3, dim=1), [0, 0, 3, -4]),
    "norm_inf": (lambda x: norm(R(x, (2, 2)), inf, dim=1), [0, 0, 3, -3]),
    "norm_all": (lambda x: x.norm(), [0, 0, 0]),
    "matrix_norm": (lambda x: torch.linalg.matrix_norm(R(x, (1, 2, 2))), [0, 0, 0, 0]),
    "normalize": (lambda x: F.normalize(R(x, (2, 2))), [0, 0, 3, 4]),
    "normalize_1": (lambda x: F.normalize(R(x, (2, 2)), p=1), [0, 0, 3, 4]),
    "cosine_similarity": (lambda x: F.cosine_similarity(R(x[:2], (1, 2)), R(x[2:], (1, 2))),
                          [0, 0, 3, 4]),
    "pairwise_distance": (lambda x: F.pairwise_distance(R(x[:2], (1, 2)), R(x[2:], (1, 2)), eps=0),
                          [3, 4, 3, 4]),
    "std_of_one": (lambda x: R(x, (2, 1)).std(1), [1, 2]),
    "var_of_one": (lambda x: R(x, (2, 1)).var(1), [1, 2]),
    "std_of_one_biased": (lambda x: R(x, (2, 1)).std(1, unbiased=False), [1, 2]),
    "std_constant": (lambda x: R(x, (2, 3)).std(1), [1, 1, 1, 1, 2, 3]),
    "var_constant": (lambda x: R(x, (2, 3)).var(1), [1, 1, 1, 1, 2, 3]),
    "std_all": (lambda x: x.std(), [1, 1, 1]),
    "std_mean": (lambda x: sum(torch.std_mean(R(x, (2, 3)), 1)), [1, 1, 1, 1, 2, 3]),
    # infinite slopes, untaken sides
    "log": (torch.log, [0, 1]),
    "sqrt": (torch.sqrt, [0, 1]),
    "rsqrt": (torch.rsqrt, [0, 1]),
    "reciprocal": (torch.reciprocal, [0, 1]),
    "where_sqrt": (lambda x: torch.where(x > 0, x.sqrt(), x * 2), [0, 1]),
    "where_log": (lambda x: torch.where(x > 0, x.log(), torch.zeros_like(x)), [0, 1]),
    "huber": (lambda x: F.huber_loss(x, x * 0, reduction="none"), [-2, -1, 0, 1, 2]),
    "smooth_l1": (lambda x: F.smooth_l1_loss(x, x * 0, reduction="none"), [-2, -1, 0, 1, 2]),
    "hinge": (lambda x: F.relu(1 - x), [0, 1, 2]),
    # steps
    "fmod": (lambda x: torch.fmod(x[:3], x[3:]), [7.5, -7.5, 6, 2, 2, 2]),
    "remainder": (lambda x: torch.remainder(x[:3], x[3:]), [7.5, -7.5, 6, 2, 2, 2]),
    "floor": (lambda x: x.floor() * x, [1, 1.5]),
    "ceil": (lambda x: x.ceil() * x, [1, 1.5]),
    "round": (lambda x: x.round() * x, [1, 1.5, 2.5]),
    # logarithms and exponentials
    "log1p": (torch.log1p, [-1, 0, 1e-8]),
    "log_1_minus": (lambda x: torch.log1p(-x), [1e-8, 0, 1]),
    "expm1": (torch.expm1, [-100, 0, 1e-8]),
    "log_softmax": (lambda x: F.log_softmax(x, 0), [300, 0, -300]),
    "softmax": (lambda x: F.softmax(x, 0), [300, 0, -300]),
    "logsumexp": (lambda x: R(x, (3, 2)).logsumexp(1), [-inf, -inf, -inf, 1, 1000, 1000]),
    "logaddexp": (lambda x: torch.logaddexp(x[:3], x[3:]), [0, 1, 100, 0, -1, 200]),
    "bce_with_logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, x * 0 + 1, reduction="none"),
        [0, -100, 10]),
    "rms_norm": (lambda x: F.rms_norm(R(x, (2, 3)), (3,), eps=1e-5), [0, 0, 0, 1, 2, 3]),
}

ENDS = {
    # ends of domains, digits near 0, large arguments
    "asin": (torch.asin, [-1, -0.5, 0, 1e-8, 0.9999, 1]),
    "acos": (torch.acos, [-1, -0.9999, 0, 1e-8, 0.9999, 1]),
    "sinh": (torch.sinh, [89, -88, -1, 0, 1e-8]),
    "cosh": (torch.cosh, [89, -88, -1, 0, 1e-8]),
    "asinh": (torch.asinh, [-1e30, -3, 0, 1e-8, 1e8, 1e30]),
    "acosh": (torch.acosh, [1, 1.0001, 3, 1e8, 1e30]),
    "atanh": (torch.atanh, [-1, -0.9999, 0, 1e-8, 1]),
    # windows, padding, products
    "max_pool_indices": (lambda x: F.max_pool1d(R(x, (1, 1, 4)), 2, 1, return_indices=True)[0], [1, 1, 2, 2]),
    "avg_pool_ceil": (lambda x: F.avg_pool1d(R(x, (1, 1, 4)), 3, 2, 1, True), [1, 2, 3, 4]),
    "lp_pool": (lambda x: F.lp_pool1d(R(x, (1, 1, 4)), 2.0, 2), [0, 0, 3, 4]),
    "pad_reflect": (lambda x: F.pad(R(x, (1, 1, 4)), (3, 2), "reflect"), [1, 2, 3, 4]),
    "pad_replicate": (lambda x: F.pad(R(x, (1, 1, 4)), (2, 1), "replicate"), [1, 2, 3, 4]),
    "pad_circular": (lambda x: F.pad(R(x, (1, 1, 4)), (1, 3), "circular"), [1, 2, 3, 4]),
    "cumprod": (lambda x: x.cumprod(0), [2, 0, 3, 4]),
    "prod_of_5": (lambda x: x.prod(), [2, 0, 3, 4, 5]),
}

# Functions of which the older exporter's file doesn't say what PyTorch does: kinks_test.c has the
# meaning that is taken.
UNTOLD = {"max_dim", "min_dim", "max_dim_0", "cosine_similarity"}
# Functions that the older exporter writes with tensors as attributes, which these texts lack.
UNWRITTEN = {"pad_reflect", "pad_replicate", "pad_circular"}


class Net(torch.nn.Module):
    def __init__(self, f, w):
        super().__init__()
        self.f = f
        self.w = torch.nn.Parameter(torch.tensor(w, dtype=torch.float32))

    def forward(self, d):
        return self.f(self.w + d)


def export(f, w, is_old):
    """The model; None: the exporter can't write it."""
    data, file = (torch.zeros(len(w)),), io.BytesIO()
    quiet = io.StringIO()
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            if not is_old:
                return torch.onnx.export(Net(f, w), data, dynamo=True, verbose=False).model_proto
            torch.onnx.export(Net(f, w), data, file, dynamo=False, opset_version=17)
            return onnx.load_from_string(file.getvalue())
    except Exception:  # each exporter has exceptions of its own
        return None


# ---- a model as text, as tests/frontend/model_text.h reads it ----

def number(x):
    if isinstance(x, int):
        return str(x)
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return f"{x:.9g}"


def constant(name, t):
    a = numpy_helper.to_array(t)
    kind = {"float32": "f32", "int64": "i64", "int32": "i32", "bool": "bool"}[str(a.dtype)]
    dims = ",".join(str(d) for d in a.shape)
    far = 2 ** 31 - 1  # the ends of slices may be any number beyond
    v = [float(x) if kind == "f32" else min(int(x), far) for x in a.flatten()]
    return f"init {name} {kind}[{dims}] " + " ".join(map(number, v))


def attribute(a):
    v = onnx.helper.get_attribute_value(a)
    if isinstance(v, bytes):
        return f"{a.name}='{v.decode()}'"
    if isinstance(v, float):
        return f"{a.name}={v:.9g}f"
    return f"{a.name}={v}" if isinstance(v, int) else f"{a.name}=[{','.join(map(str, v))}]"


class Names(dict):
    """New names in the order of their first use: constants are val_0, …, other values a, b, …"""

    def __init__(self, *own):
        super().__init__({n: n for n in own})
        self.n = {"val_": 0, "v": 0}

    def add(self, name, prefix="v"):
        if name and name not in self:
            self[name] = f"{prefix}{self.n[prefix]}"
            self.n[prefix] += 1
        return self.get(name, "")


def text_of(model):
    g, names = model.graph, Names("w", "")
    names[g.input[0].name] = "d"
    opset = next(o.version for o in model.opset_import if o.domain == "")
    lines = [f"opset {opset}", f"input d f32[{g.input[0].type.tensor_type.shape.dim[0].dim_value}]"]
    for t in g.initializer:
        lines.append(constant(t.name if t.name == "w" else names.add(t.name, "val_"), t))
    for n in g.node:
        if n.op_type == "Constant":
            lines.append(constant(names.add(n.output[0], "val_"), n.attribute[0].t))
            continue
        inputs = ", ".join(names[i] for i in n.input)
        outputs = ", ".join(names.add(o) for o in n.output)
        attributes = [attribute(a) for a in n.attribute]
        target = re.search(r"target=torch\.ops\.([\w.]+)\]",
                           next((p.value for p in n.metadata_props
                                 if p.key == "pkg.torch.onnx.fx_node"), ""))
        if n.op_type in ("ReduceMax", "ReduceMin") and target:
            attributes.append(f"fx='{target[1]}'")
        lines.append(" ".join([f"{outputs} = {n.op_type}({inputs})"] + attributes))
    return "; ".join(lines + ["output " + names[g.output[0].name]])


def quoted(text):
    pieces = textwrap.wrap(text, 91, break_long_words=False)
    return "\n     ".join(['"' + p + ' "' for p in pieces[:-1]] + ['"' + pieces[-1] + '"'])


def c_number(x):
    if isinstance(x, int):
        return str(x)
    return "NAN" if math.isnan(x) else "-INFINITY" if x == -inf else "INFINITY" if x == inf \
        else f"{x:.9g}"


def row(name, model, y, gradient):
    numbers = ", ".join(map(c_number, [len(y)] + y + gradient))
    numbers = "\n     ".join(textwrap.wrap(numbers, 94))
    return f'KINK("{name}",\n     {quoted(model)},\n     {numbers})'


def is_alike(a, b):
    """Are two models equal but for the opset?"""
    return a.split(";", 1)[1] == b.split(";", 1)[1]


def main():
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the exporters' own prints
    is_old = sys.argv[1:] == ["old"]
    print("// Made by tests/frontend/kinks.py with PyTorch", torch.__version__.split("+")[0])
    cases = CASES | ENDS if is_old else ENDS if sys.argv[1:] == ["ends"] else CASES
    for name, (f, w) in cases.items():
        w = [float(x) for x in w]
        leaf = torch.tensor(w).double().requires_grad_()
        y = f(leaf).flatten()
        (y * torch.arange(1, len(y) + 1)).sum().backward()
        new, old = export(f, w, False), export(f, w, True) if is_old and name not in UNWRITTEN else None
        text = text_of(old if is_old else new) if (old if is_old else new) else None
        is_again = is_old and text and new and is_alike(text, text_of(new))
        if text and not is_again and not (is_old and name in UNTOLD):
            print(row(name, text, y.tolist(), leaf.grad.tolist()))


if __name__ == "__main__":
    main()
