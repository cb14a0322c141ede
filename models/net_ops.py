"""The operations of random nets: each keeps the shape of its input.

An operation is a function from a sample's shape and its settings to a module. The decorator lists the
kinds of value that it takes, and the values of each setting: a list, or a range of numbers as a pair. Every setting may
differ by layer, because no setting changes a shape.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

OPS = {}  # name -> (function, kinds, settings)

# The axes of a batch by kind of value: vectors [N, C], sequences [N, T, C], images [N, C, H, W].
RANK = {"vec": 2, "seq": 3, "img": 4}


def op(kinds, **settings):
    def enter(make):
        OPS[make.__name__] = (make, kinds.split(), settings)
        return make

    return enter


class Fn(nn.Module):
    """A function of (this module, x), with the modules, parameters and buffers that it uses."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, x):
        return self.f(self, x)


def channels(shape):
    """The axis of channels in a batch, and how many there are."""
    return (1, shape[0]) if len(shape) == 3 else (-1, shape[-1])


def divisor(n, wanted):
    """The largest divisor of n that is at most `wanted`."""
    return max(d for d in range(1, n + 1) if n % d == 0 and d <= wanted)


def beside(shape, vector):
    """Reshapes a vector over channels so that it broadcasts over a batch."""
    return vector.reshape(-1, 1, 1) if len(shape) == 3 else vector


def pattern(shape, seed):
    """Fixed noise of a sample's shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


# ---- elementwise ----

BOOL = [True, False]
ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "selu": F.selu,
    "mish": F.mish,
    "softsign": F.softsign,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "logsigmoid": F.logsigmoid,
    "tanhshrink": F.tanhshrink,
    "erf": torch.erf,
    "sin": torch.sin,
    "atan": torch.atan,
    "squares": lambda x: x * x * 0.5,
    "root": lambda x: torch.sqrt(x * x + 0.1),
    "quotient": lambda x: x / (1 + x.abs()),
    "exp": lambda x: torch.exp(-x * x),
    "log": lambda x: torch.log(1 + x * x),
}


@op("vec seq img", name=list(ACTIVATIONS))
def activation(shape, name):
    return Fn(lambda m, x: ACTIVATIONS[name](x))


# Activations with a numeric setting, which may differ by layer.
WITH_NUMBER = {
    "leaky_relu": lambda x, a: F.leaky_relu(x, a),
    "elu": lambda x, a: F.elu(x, 0.5 + a),
    "celu": lambda x, a: F.celu(x, 0.5 + a),
    "softplus": lambda x, a: F.softplus(x, 0.5 + a),
    "hardtanh": lambda x, a: F.hardtanh(x, -a - 0.5, a + 0.7),
    "softshrink": lambda x, a: F.softshrink(x, a * 0.5),
    "hardshrink": lambda x, a: F.hardshrink(x, a * 0.5),
    "threshold": lambda x, a: F.threshold(x, a * 0.2, -a),
    "clamp_min": lambda x, a: x.clamp(min=-a),
    "power": lambda x, a: (x.abs() + 0.5) ** (1 + a),
    "swish": lambda x, a: x * torch.sigmoid((1 + a) * x),
}


@op("vec seq img", name=list(WITH_NUMBER), a=(0.05, 0.9))
def activation_with_number(shape, name, a):
    return Fn(lambda m, x: WITH_NUMBER[name](x, a))


SCALARS = {
    "mul": lambda x, a: x * a,
    "div": lambda x, a: x / (a + 0.3),
    "add": lambda x, a: x + a,
    "rsub": lambda x, a: a - x,
    "lerp": lambda x, a: x * (1 - a) + torch.tanh(x) * a,
}


@op("vec seq img", name=list(SCALARS), a=(0.3, 1.3))
def scalar(shape, name, a):
    return Fn(lambda m, x: SCALARS[name](x, a))


@op("vec seq img", inside=(-0.5, 0.5), value=(-1.0, 1.0))
def where(shape, inside, value):
    return Fn(lambda m, x: torch.where(x > inside, x, value * x))


@op("vec seq img", name=["scale", "shift", "affine", "prelu", "layer_scale"])
def learned(shape, name):
    axis, n = channels(shape)
    if name == "prelu":
        return nn.PReLU(n if axis == 1 or len(shape) == 1 else 1)
    a, b = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(n))
    if name == "scale":
        return Fn(lambda m, x: x * beside(shape, m.weight), weight=a)
    if name == "shift":
        return Fn(lambda m, x: x + beside(shape, m.bias), bias=b)
    if name == "affine":
        return Fn(lambda m, x: x * beside(shape, m.weight) + beside(shape, m.bias), weight=a, bias=b)
    return Fn(lambda m, x: x + beside(shape, m.gamma) * torch.tanh(x), gamma=a)


@op("vec seq img", seed=list(range(9)), value=(-2.0, 0.5))
def masked_fill(shape, seed, value):
    return Fn(lambda m, x: x.masked_fill(m.mask, value), mask=pattern(shape, seed) > 0.8)


@op("vec seq img", seed=list(range(9)), how=["add", "mul"])
def table(shape, seed, how):
    """A constant table, such as one of positions."""
    f = {"add": lambda m, x: x + m.table, "mul": lambda m, x: x * (1 + 0.3 * m.table)}
    return Fn(f[how], table=pattern(shape, seed))


# ---- norms ----


@op("vec seq img", name=["batch", "layer", "group", "instance", "rms", "rms_plain", "own", "l2"], affine=[True, True, False], eps=(1e-5, 1e-2))
def norm(shape, name, affine, eps):
    axis, n = channels(shape)
    image = len(shape) == 3
    turned = lambda m, x: m.norm(x.transpose(1, 2)).transpose(1, 2)  # channels to axis 1
    if name == "batch":
        if image:
            return nn.BatchNorm2d(n, eps=eps, affine=affine)
        part = nn.BatchNorm1d(n, eps=eps, affine=affine)
        return part if len(shape) == 1 else Fn(turned, norm=part)
    if name == "group" or (name == "instance" and len(shape) == 1):
        part = nn.GroupNorm(divisor(n, max(n // 2, 1)), n, eps=eps, affine=affine)
        return Fn(turned, norm=part) if len(shape) == 2 else part
    if name == "instance":
        if image:
            return nn.InstanceNorm2d(n, eps=eps, affine=affine)
        return Fn(turned, norm=nn.InstanceNorm1d(n, eps=eps, affine=affine))
    if name == "l2":
        return Fn(lambda m, x: x * (n**0.5 / (x.square().sum(axis, keepdim=True) + eps).sqrt()))
    if image:  # over the channels of every pixel
        parts = dict(weight=nn.Parameter(torch.zeros(n)), bias=nn.Parameter(torch.zeros(n)))
        if name == "own":
            return Fn(lambda m, x: F.layer_norm(x, shape, eps=eps))
        if name == "layer":
            f = lambda m, x: F.layer_norm(x.permute(0, 2, 3, 1), (n,), m.weight, m.bias, eps).permute(0, 3, 1, 2)
        else:
            f = lambda m, x: channel_norm(m, x, eps, name == "rms")
        return Fn(f, **parts)
    if name == "layer":
        return nn.LayerNorm(n, eps=eps, elementwise_affine=affine)
    if name == "rms":
        return nn.RMSNorm(n, eps=eps, elementwise_affine=affine)
    weight = nn.Parameter(torch.zeros(n))
    if name == "rms_plain":
        return Fn(lambda m, x: m.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)), weight=weight)
    return Fn(lambda m, x: m.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps), weight=weight)


def channel_norm(m, x, eps, is_rms):
    """A norm over axis 1, written out."""
    x = x if is_rms else x - x.mean(1, keepdim=True)
    x = x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + eps)
    return x * m.weight[:, None, None] + m.bias[:, None, None]


# ---- reductions ----

REDUCTIONS = {
    "sum": lambda x, d: x.sum(d, keepdim=True) * 0.3,
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "amax": lambda x, d: x.amax(d, keepdim=True),
    "amin": lambda x, d: x.amin(d, keepdim=True),
    "var": lambda x, d: x.var(d, keepdim=True, unbiased=False),
    "std": lambda x, d: (x.var(d, keepdim=True) + 0.1).sqrt(),
    "logsumexp": lambda x, d: torch.logsumexp(x, d, keepdim=True),
    "l1": lambda x, d: x.abs().sum(d, keepdim=True) * 0.2,
    "l2": lambda x, d: (x.square().sum(d, keepdim=True) + 0.1).sqrt(),
}
USES = {
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * torch.sigmoid(y),
    "div": lambda x, y: x / (1 + y.abs()),
    "add": lambda x, y: x + torch.tanh(y),
}


def axes_of(shape, axes):
    """The axes of a bit mask, at least one. Bit 0 is the last axis, and the batch is left out."""
    rank = len(shape)
    chosen = [rank - i for i in range(rank) if axes >> i & 1]
    return tuple(sorted(chosen or [rank]))


@op("vec seq img", name=list(REDUCTIONS), use=list(USES), axes=[1, 2, 3, 4, 5, 6, 7], batch=[False] * 5 + [True])
def reduction(shape, name, use, axes, batch):
    dims = ((0,) if batch else ()) + axes_of(shape, axes)
    return Fn(lambda m, x: USES[use](x, REDUCTIONS[name](x, dims)))


@op("seq img", name=["sum", "mean", "amax", "l2"], axis=[1, 2, 3], along=[1, 2, 3], act=BOOL)
def shifted_product(shape, name, axis, along, act):
    """Products of neighbours along an axis, reduced along one or two axes."""
    axis, along = (min(a, len(shape)) for a in (axis, along))
    n = shape[axis - 1]

    def f(m, x):
        y = x.narrow(axis, 0, n - 1) * x.narrow(axis, 1, n - 1)
        y = y.relu() + y if act else y
        y = REDUCTIONS[name](y, along).squeeze(along).unsqueeze(along)
        if along != axis:
            y = torch.cat([y, y.narrow(axis, 0, 1)], axis)
        return x + torch.tanh(y)

    return Fn(f)


@op("vec seq img", axis=[1, 2, 3], log=[False, False, True], a=(0.5, 2.0))
def softmax(shape, axis, log, a):
    axis = min(axis, len(shape))
    f = torch.log_softmax if log else torch.softmax
    return Fn(lambda m, x: x * 0.5 + f(x * a, axis))


@op("vec seq img", axis=[1, 2, 3], a=(0.1, 0.5))
def cumsum(shape, axis, a):
    axis = min(axis, len(shape))
    return Fn(lambda m, x: torch.cumsum(x, axis) * a)


# ---- views, gathering, concatenation ----


@op("vec seq img", axis=[1, 2, 3], by=[1, 2, 3], name=["roll", "flip", "shift", "halves", "index", "shuffle", "take"])
def moved(shape, axis, by, name):
    axis = min(axis, len(shape))
    n = shape[axis - 1]
    by %= n
    if name == "roll":
        return Fn(lambda m, x: torch.roll(x, by, axis))
    if name == "flip":
        return Fn(lambda m, x: x + 0.5 * torch.flip(x, (axis,)))
    if name == "shift":
        return Fn(lambda m, x: x + 0.5 * torch.cat([torch.zeros_like(x.narrow(axis, 0, by)), x.narrow(axis, 0, n - by)], axis))
    if name == "halves":
        cut = max(n // 2, 1)
        return Fn(lambda m, x: torch.cat([x.narrow(axis, cut, n - cut), torch.tanh(x.narrow(axis, 0, cut))], axis))
    g = torch.Generator().manual_seed(by)
    if name == "index":
        return Fn(lambda m, x: x.index_select(axis, m.index) * 0.7, index=torch.randint(0, n, (n,), generator=g))
    if name == "shuffle":
        groups = divisor(n, max(n // 2, 1))
        f = lambda m, x: x.unflatten(axis, (groups, n // groups)).transpose(axis, axis + 1).flatten(axis, axis + 1)
        return Fn(f)
    index = torch.randint(0, n, (1, *shape), generator=g)
    return Fn(lambda m, x: x + torch.gather(x, axis, m.index.expand(x.shape[0], *shape)), index=index)


@op("vec seq img", axis=[1, 2, 3], name=["relu", "tanh", "silu"], order=BOOL)
def concat(shape, axis, name, order):
    """Concatenates x and a function of it, and adds them up again in pairs."""
    axis = min(axis, len(shape))
    n = shape[axis - 1]

    def f(m, x):
        parts = [x, ACTIVATIONS[name](x)]
        y = torch.cat(parts if order else parts[::-1], axis)
        return y.unflatten(axis, (n, 2)).mean(axis + 1) if order else y.unflatten(axis, (2, n)).sum(axis) * 0.6

    return Fn(f)


# ---- products ----


@op("vec seq", bias=[True, True, False])
def linear(shape, bias):
    return nn.Linear(shape[-1], shape[-1], bias=bias)


@op("vec seq", name=["relu", "gelu", "silu", "tanh"], bias=BOOL, gated=BOOL)
def mlp(shape, name, bias, gated):
    c, act = shape[-1], ACTIVATIONS[name]
    wide, narrow = nn.Linear(c, 4 * c, bias=bias), nn.Linear(2 * c if gated else 4 * c, c, bias=bias)

    def f(m, x):
        h = m.wide(x)
        if gated:
            a, b = h.chunk(2, -1)
            return m.narrow(a * act(b))
        return m.narrow(act(h))

    return Fn(f, wide=wide, narrow=narrow)


@op("vec seq", groups=[2, 3, 4])
def block_linear(shape, groups):
    c = shape[-1]
    groups = divisor(c, groups)
    weight = nn.Parameter(torch.zeros(groups, c // groups, c // groups))
    equation = "bgi,gij->bgj" if len(shape) == 1 else "btgi,gij->btgj"
    f = lambda m, x: torch.einsum(equation, x.unflatten(-1, (groups, c // groups)), m.weight).flatten(-2)
    return Fn(f, weight=weight)


@op("vec", rank=[1, 2, 3])
def low_rank(shape, rank):
    c = shape[-1]
    return Fn(lambda m, x: x + (x @ m.a) @ m.b, a=nn.Parameter(torch.zeros(c, rank)), b=nn.Parameter(torch.zeros(rank, c)))


@op("seq", bias=BOOL, act=["relu", "gelu", "tanh"])
def mixing(shape, bias, act):
    """A product along the sequence."""
    part = nn.Linear(shape[0], shape[0], bias=bias)
    return Fn(lambda m, x: ACTIVATIONS[act](m.part(x.transpose(1, 2))).transpose(1, 2), part=part)


@op("seq", kernel=[1, 3, 5], dilation=[1, 2], groups=[1, 2, 99], causal=BOOL, bias=BOOL)
def conv1d(shape, kernel, dilation, groups, causal, bias):
    groups = divisor(shape[1], groups)
    conv = nn.Conv1d(shape[1], shape[1], kernel, dilation=dilation, groups=groups, bias=bias)
    room = dilation * (kernel - 1)
    pads = (room, 0) if causal else (room // 2, room - room // 2)
    return Fn(lambda m, x: m.conv(F.pad(x.transpose(1, 2), pads)).transpose(1, 2), conv=conv)


@op("seq", kernel=[2, 3], name=["avg", "max"])
def pool1d(shape, kernel, name):
    pool = F.avg_pool1d if name == "avg" else F.max_pool1d
    return Fn(lambda m, x: pool(F.pad(x.transpose(1, 2), (kernel - 1, 0)), kernel, 1).transpose(1, 2))


@op("seq", heads=[1, 2, 4], mask=["none", "causal", "table", "bias", "fill"], fused=BOOL, grouped=[False, False, True], scale=(0.2, 1.0), seed=list(range(5)))
def attention(shape, heads, mask, fused, grouped, scale, seed):
    t, c = shape
    heads = divisor(c, heads)
    few = divisor(heads, 2) if grouped else heads
    d = c // heads
    parts = dict(q=nn.Linear(c, c), k=nn.Linear(c, few * d), v=nn.Linear(c, few * d, bias=False), out=nn.Linear(c, c))
    if mask == "table":
        parts["mask"] = pattern((t, t), seed)
    if mask == "bias":
        parts["mask"] = nn.Parameter(torch.zeros(heads, t, t))
    if mask == "fill":
        parts["mask"] = (pattern((t, t), seed) > 0.5).logical_and(~torch.eye(t, dtype=torch.bool))
    causal = torch.ones(t, t).tril().bool()

    def f(m, x):
        q, k, v = (p(x).unflatten(-1, (-1, d)).transpose(1, 2) for p in (m.q, m.k, m.v))
        if few < heads:
            k, v = (a.repeat_interleave(heads // few, 1) for a in (k, v))
        bias = {"table": lambda: m.mask, "bias": lambda: m.mask, "fill": lambda: ~m.mask}.get(mask, lambda: None)()
        if fused:
            y = F.scaled_dot_product_attention(q, k, v, bias, is_causal=mask == "causal", scale=scale)
        else:
            scores = (q @ k.transpose(-1, -2)) * scale
            if mask == "causal":
                scores = scores.masked_fill(~causal, float("-inf"))
            elif mask == "fill":
                scores = scores.masked_fill(m.mask, -1e9)
            elif bias is not None:
                scores = scores + bias
            y = scores.softmax(-1) @ v
        return m.out(y.transpose(1, 2).flatten(2))

    return Fn(f, **parts)
