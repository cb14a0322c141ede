#!/usr/bin/env python3
"""Prints the numbers of PyTorch that the tests of ir/ compare with, as rows of C tables.

  python tests/ir/reference.py contract  > tests/ir/contract.def
  python tests/ir/reference.py loss      > tests/ir/loss.def
  python tests/ir/reference.py optimizer > tests/ir/optimizer.def

Element k of tensor number i is ((7 k + 5 i) mod 13 - 6) / 4: exact in every format, with ties.
"""
import math
import sys
import textwrap

import torch
import torch.nn.functional as F


def fill(i, *shape):
    k = torch.arange(math.prod(shape))
    return (((7 * k + 5 * i) % 13 - 6) / 4).reshape(shape).float()


def numbers(tensors):
    v = [x for t in tensors for x in t.detach().double().flatten().tolist()]
    text = [{-math.inf: "-INFINITY", math.inf: "INFINITY"}.get(x) or f"{x:.9g}" for x in v]
    lines, line = [], "    "
    for t in text:
        if len(line) + len(t) + 2 > 96:
            lines.append(line.rstrip())
            line = "    "
        line += t + ", "
    return "\n".join(lines + [line.rstrip().rstrip(",")])


def quoted(text):
    """A C string, in pieces that fit on a line."""
    pieces = textwrap.wrap(text.replace('"', '\\"'), 84, break_long_words=False)
    return '\n          '.join(['"' + p + ' "' for p in pieces[:-1]] + ['"' + pieces[-1] + '"'])


def row(texts, tensors):
    first = ",\n          ".join(map(quoted, texts))
    print(f'REFERENCE({first},\n{numbers(tensors)})')


def shape(t):
    return "f32[" + ",".join(str(d) for d in t.shape) + "]"


def node(call, inputs, outputs):
    """A row of contract.def: a node with types for operands, and all its outputs' elements."""
    name, attributes = call
    while inputs[-1] is None:
        inputs = inputs[:-1]
    text = f"{name}({', '.join('_' if t is None else shape(t) for t in inputs)}) {attributes}"
    row([text.strip(), ", ".join(map(shape, outputs))], outputs)


def with_grads(f, inputs, dy):
    inputs = [t.clone().requires_grad_() for t in inputs]
    y = f(*inputs)
    y.backward(dy)
    return y, [t.grad for t in inputs]


def contract_convolution(attributes, x, w, **kw):
    convolution = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.dim()]
    y = convolution(x, w, **kw)
    dy = fill(1, *y.shape)
    node(("conv", attributes), [x, w], [y])
    dims = lambda t: "shape=[" + ",".join(str(d) for d in t.shape) + "] "
    dx = with_grads(lambda x: convolution(x, w, **kw), [x], fill(0, *y.shape))[1]
    node(("conv_input_grad", dims(x) + attributes), [y, w], dx)
    dw = with_grads(lambda w: convolution(x, w, **kw), [w], dy)[1]
    node(("conv_weight_grad", dims(w) + attributes), [x, y], dw)


def attend(q, k, v, bias, mask, scale, outside):
    s = torch.einsum("bhgse,bhte->bhgst", q, k) * scale
    s = s if bias is None else s + bias
    s = s.masked_fill(~mask, outside)
    most = s.amax(-1)
    e = torch.exp(s - most[..., None])
    total = e.sum(-1)
    total = total.masked_fill(total.isnan(), math.inf)
    p = torch.where(e.isnan(), torch.zeros(()), e / total[..., None])
    return torch.einsum("bhgst,bhtf->bhgsf", p, v), most, total


def contract_attention(attributes, sizes, has_bias, scale, offset=None, window=0,
                       outside=-math.inf):
    b, h, g, s, t, e, f = sizes
    q, k, v = fill(0, b, h, g, s, e), fill(1, b, h, t, e), fill(2, b, h, t, f)
    bias = fill(3, h, s, t) if has_bias else None
    mask = torch.ones(s, t, dtype=torch.bool)
    if offset is not None:
        last = torch.arange(s)[:, None] + offset
        mask = torch.arange(t)[None] <= last
        if window:
            mask &= torch.arange(t)[None] > last - window
    bias5 = None if bias is None else bias[None, :, None]
    q, k, v = (t.requires_grad_() for t in (q, k, v))
    y, most, total = attend(q, k, v, bias5, mask, scale, outside)
    attributes = (f'eq="bhgse,bhte,bhtf->bhgsf" query=3 scale={scale} ' + attributes
                  + (' bias_eq="hst"' if has_bias else ""))
    node(("attention", attributes), [q, k, v, bias], [y, most, total])


def contract():
    a, b = fill(0, 2, 3, 4), fill(1, 4, 3, 2, 5)
    node(("dot", 'eq="bsc,csbe->ebs"'), [a, b], [torch.einsum("bsc,csbe->ebs", a, b)])
    node(("dot", 'eq="bsc,csqe->eqb"'), [a, b], [torch.einsum("bsc,csqe->eqb", a, b)])
    contract_convolution("stride=[2] low=[1] high=[1] dilation=[2]", fill(0, 2, 2, 7),
                         fill(1, 3, 2, 3), stride=2, padding=1, dilation=2)
    contract_convolution("stride=[1,2] low=[1,0] high=[1,0] groups=2", fill(0, 1, 4, 3, 4),
                         fill(1, 2, 2, 3, 2), stride=(1, 2), padding=(1, 0), groups=2)
    contract_convolution("groups=3", fill(0, 1, 3, 2, 2, 3), fill(1, 3, 1, 2, 1, 2), groups=3)
    x = fill(0, 1, 2, 4, 5)
    window = "size=[3,2] stride=[2,1] low=[1,1] high=[1,1] dilation=[1,2]"
    kw = dict(kernel_size=(3, 2), stride=(2, 1), padding=(1, 1), dilation=(1, 2))
    y = F.max_pool2d(x, **kw)
    node(("max_pool", window), [x], [y])
    node(("max_pool_grad", window), [x, y],
         with_grads(lambda x: F.max_pool2d(x, **kw), [x], fill(1, *y.shape))[1])
    window = "size=[3,2] stride=[2,1] low=[1,1] high=[1,1]"
    pool = lambda x: F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), divisor_override=1)
    y = pool(x)
    node(("sum_pool", window), [x], [y])
    node(("sum_pool_grad", "shape=[1,2,4,5] " + window), [y],
         with_grads(pool, [x], fill(0, *y.shape))[1])
    contract_attention("", (1, 2, 1, 2, 3, 2, 2), False, 0.5)
    contract_attention("causal=1", (1, 1, 2, 3, 3, 2, 1), True, 0.7, 0)
    contract_attention("causal=1 offset=1 window=2", (1, 1, 1, 3, 4, 1, 2), False, 1.0, 1, 2)
    contract_attention("causal=1 offset=-1 guard=1", (1, 1, 1, 3, 2, 1, 1), False, 1.0, -1)
    contract_attention("causal=1 offset=-1 outside=-10000", (1, 1, 1, 3, 2, 1, 1), False, 1.0, -1,
                       outside=-1e4)


# ---- losses: sum, count and the gradient of sum / count with respect to x ----

def loss_row(text, x, f, count):
    x = x.clone().requires_grad_()
    total = f(x)
    (total / count).backward()
    row([text], [total, torch.tensor(float(count)), x.grad])


def labels(*shape, ignored=()):
    """Label k is 5 k mod 6; those in `ignored` are -100."""
    t = (torch.arange(math.prod(shape)) * 5 % 6).reshape(shape)
    for k in ignored:
        t.view(-1)[k] = -100
    return t


def entropy(x, t, **kw):
    return F.cross_entropy(x.reshape(-1, x.shape[-1]), t.reshape(-1), reduction="sum", **kw)


def loss():
    x, y = fill(0, 4, 6), fill(0, 2, 3, 6)
    loss_row("4,6: cross_entropy(x, t)", x, lambda x: entropy(x, labels(4)), 4)
    loss_row("2,3,6: cross_entropy(x, t, ignore_index=5)", y,
             lambda x: entropy(x, labels(2, 3), ignore_index=5), 5)
    loss_row("2,3,6: cross_entropy(x, t, ignore_index=4, label_smoothing=0.1)", y,
             lambda x: entropy(x, labels(2, 3), ignore_index=4, label_smoothing=0.1), 5)
    t = fill(1, 4, 6)
    loss_row("4,6: mse(x, t)", x, lambda x: F.mse_loss(x, t, reduction="sum"), 24)
    loss_row("4,6: l1(x, t)", x, lambda x: F.l1_loss(x, t, reduction="sum"), 24)
    loss_row("4,6: bce_with_logits(x, t)", x,
             lambda x: F.binary_cross_entropy_with_logits(x, t, reduction="sum"), 24)


# ---- optimizers: the parameter [2,3] after each of 4 steps; step t's gradient is tensor t ----

def optimizer_row(text, make, clip=0.0):
    p = torch.nn.Parameter(fill(0, 2, 3))
    o, after = make([p]), []
    for t in range(1, 5):
        p.grad = fill(t, 2, 3)
        if clip:
            torch.nn.utils.clip_grad_norm_([p], clip)
        o.step()
        after.append(p.detach().clone())
    row([f"clip={clip:g} {text}"], after)


def optimizer():
    o = torch.optim
    optimizer_row("sgd", lambda p: o.SGD(p))
    optimizer_row("sgd(lr=0.1, weight_decay=0.2)", lambda p: o.SGD(p, lr=0.1, weight_decay=0.2))
    optimizer_row("sgd(lr=0.1, momentum=0.9, weight_decay=0.2)",
                  lambda p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.2))
    optimizer_row("sgd(lr=0.1, momentum=0.9, nesterov=true, weight_decay=0.2)",
                  lambda p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.2))
    optimizer_row("adam", lambda p: o.Adam(p))
    optimizer_row("adam(lr=0.1, beta1=0.8, beta2=0.9, eps=0.01, weight_decay=0.2)",
                  lambda p: o.Adam(p, lr=0.1, betas=(0.8, 0.9), eps=0.01, weight_decay=0.2))
    optimizer_row("adamw", lambda p: o.AdamW(p))
    optimizer_row("adamw(lr=0.1, beta1=0.8, beta2=0.9, eps=0.01, weight_decay=0.2)",
                  lambda p: o.AdamW(p, lr=0.1, betas=(0.8, 0.9), eps=0.01, weight_decay=0.2))
    optimizer_row("adamw(lr=0.1)", lambda p: o.AdamW(p, lr=0.1), clip=0.5)
    optimizer_row("adamw(lr=0.1)", lambda p: o.AdamW(p, lr=0.1), clip=100.0)
    optimizer_row("adagrad", lambda p: o.Adagrad(p))
    optimizer_row("adagrad(lr=0.1, lr_decay=0.5, weight_decay=0.2, initial_accumulator_value=0.3, "
                  "eps=0.01)",
                  lambda p: o.Adagrad(p, lr=0.1, lr_decay=0.5, weight_decay=0.2,
                                      initial_accumulator_value=0.3, eps=0.01))
    optimizer_row("rmsprop", lambda p: o.RMSprop(p))
    optimizer_row("rmsprop(lr=0.1, alpha=0.8, eps=0.01, weight_decay=0.2)",
                  lambda p: o.RMSprop(p, lr=0.1, alpha=0.8, eps=0.01, weight_decay=0.2))
    optimizer_row("rmsprop(lr=0.1, momentum=0.9, centered=true)",
                  lambda p: o.RMSprop(p, lr=0.1, momentum=0.9, centered=True))


print("// Made by tests/ir/reference.py", sys.argv[1])
{"contract": contract, "loss": loss, "optimizer": optimizer}[sys.argv[1]]()
