"""The operations of random nets for images only (see net_ops.py)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from net_ops import ACTIVATIONS, BOOL, USES, Fn, divisor, op, pattern


@op("img", kernel=[1, 3, 5], dilation=[1, 2], groups=[1, 1, 2, 99], bias=BOOL)
def conv(shape, kernel, dilation, groups, bias):
    groups = divisor(shape[0], groups)
    return nn.Conv2d(shape[0], shape[0], kernel, padding=dilation * (kernel // 2), dilation=dilation, groups=groups, bias=bias)


@op("img", tall=[1, 3], wide=[1, 3], bias=BOOL)
def conv_oblong(shape, tall, wide, bias):
    return nn.Conv2d(shape[0], shape[0], (tall, wide), padding=(tall // 2, wide // 2), bias=bias)


@op("img", name=["relu", "silu", "relu6"], batch=BOOL, kernel=[3, 5], mean=BOOL)
def inverted(shape, name, batch, kernel, mean):
    """An expansion, a depthwise convolution, perhaps a gate by means, and a contraction."""
    c, act = shape[0], ACTIVATIONS[name]
    wide = 2 * c
    parts = dict(expand=nn.Conv2d(c, wide, 1, bias=not batch), depth=nn.Conv2d(wide, wide, kernel, padding=kernel // 2, groups=wide, bias=not batch), contract=nn.Conv2d(wide, c, 1))
    if batch:
        parts.update(norm1=nn.BatchNorm2d(wide), norm2=nn.BatchNorm2d(wide))
    if mean:
        parts.update(down=nn.Conv2d(wide, 3, 1), up=nn.Conv2d(3, wide, 1))

    def f(m, x):
        h = m.expand(x)
        h = act(m.norm1(h) if batch else h)
        h = m.depth(h)
        h = act(m.norm2(h) if batch else h)
        if mean:
            h = h * torch.sigmoid(m.up(F.relu(m.down(h.mean((2, 3), keepdim=True)))))
        return m.contract(h)

    return Fn(f, **parts)


@op("img", stride=[2, 3], how=["transposed", "nearest", "bilinear", "repeat"], kernel=[2, 3], groups=[1, 2])
def down_up(shape, stride, how, kernel, groups):
    """A strided convolution, and an upsampling back to the size."""
    c, h, w = shape
    groups = divisor(c, groups)
    down = nn.Conv2d(c, c, kernel, stride=stride, padding=1, groups=groups)
    parts = dict(down=down)
    if how == "transposed":
        parts["up"] = nn.ConvTranspose2d(c, c, stride, stride=stride, groups=groups)

    def f(m, x):
        y = m.down(x)
        if how == "transposed":
            y = m.up(y)
        elif how == "repeat":
            y = y.repeat_interleave(stride, 2).repeat_interleave(stride, 3)
        else:
            options = {} if how == "nearest" else dict(align_corners=False)
            y = F.interpolate(y, scale_factor=stride, mode=how, **options)
        y = y[:, :, :h, :w]
        return x + F.pad(y, (0, w - y.shape[3], 0, h - y.shape[2]))

    return Fn(f, **parts)


@op("img", kernel=[2, 3], name=["avg", "max", "avg_counted"])
def pool(shape, kernel, name):
    pads = (kernel - 1, 0, kernel - 1, 0)
    if kernel == 3 and name != "avg":
        if name == "max":
            return nn.MaxPool2d(3, 1, 1)
        return nn.AvgPool2d(3, 1, 1, count_include_pad=False)
    f = F.max_pool2d if name == "max" else F.avg_pool2d
    return Fn(lambda m, x: f(F.pad(x, pads), kernel, 1))


@op("img", name=["avg", "max"], use=list(USES))
def global_pool(shape, name, use):
    f = F.adaptive_avg_pool2d if name == "avg" else F.adaptive_max_pool2d
    return Fn(lambda m, x: USES[use](x, f(x, 1)))


@op("img", hidden=[2, 3], bias=BOOL)
def squeeze(shape, hidden, bias):
    """A gate by means over the image, of two products."""
    a, b = nn.Linear(shape[0], hidden, bias=bias), nn.Linear(hidden, shape[0], bias=bias)
    f = lambda m, x: x * torch.sigmoid(m.b(F.relu(m.a(x.mean((2, 3))))))[:, :, None, None]
    return Fn(f, a=a, b=b)


@op("img", kernel=[3, 5])
def spatial_gate(shape, kernel):
    conv = nn.Conv2d(2, 1, kernel, padding=kernel // 2)
    f = lambda m, x: x * torch.sigmoid(m.conv(torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)))
    return Fn(f, conv=conv)


@op("img", name=["branches", "chain", "half"], kernel=[1, 3], batch=BOOL)
def split_conv(shape, name, kernel, batch):
    """Convolutions of parts of the channels: in parallel, in sequence (as Res2Net), or of one half."""
    c = shape[0]
    n = divisor(c, 3 if name == "chain" else 2)
    size = c // n
    convs = nn.ModuleList(nn.Conv2d(size, size, kernel, padding=kernel // 2) for _ in range(n))
    norms = nn.ModuleList(nn.BatchNorm2d(size) if batch else nn.Identity() for _ in range(n))

    def f(m, x):
        parts, done, last = x.chunk(n, 1), [], None
        for i, part in enumerate(parts):
            if name == "half" and i:
                done.append(part)
                continue
            part = part + last if name == "chain" and i else part
            last = F.relu(m.norms[i](m.convs[i](part)))
            done.append(last)
        return torch.cat(done, 1)

    return Fn(f, convs=convs, norms=norms)


@op("img", axis=["rows", "columns", "pixels", "channels"], bias=BOOL)
def image_linear(shape, axis, bias):
    """A product along one axis or over all pixels."""
    c, h, w = shape
    n = {"rows": h, "columns": w, "pixels": h * w, "channels": c}[axis]
    f = {
        "rows": lambda m, x: m.part(x.transpose(2, 3)).transpose(2, 3),
        "columns": lambda m, x: m.part(x),
        "pixels": lambda m, x: m.part(x.flatten(2)).unflatten(2, (h, w)),
        "channels": lambda m, x: m.part(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2),
    }
    return Fn(f[axis], part=nn.Linear(n, n, bias=bias))


@op("img", heads=[1, 2], roll=[0, 1], masked=BOOL, seed=list(range(5)))
def window_attention(shape, heads, roll, masked, seed):
    """Attention within windows of the image, perhaps rolled and masked, as in Swin."""
    c, h, w = shape
    heads, size = divisor(c, heads), (divisor(h, max(h // 2, 1)), divisor(w, max(w // 2, 1)))
    parts = dict(qkv=nn.Linear(c, 3 * c), out=nn.Linear(c, c))
    if masked:
        pixels = size[0] * size[1]
        parts["mask"] = -100.0 * (pattern((h // size[0], w // size[1], 1, pixels, pixels), seed) > 0.8)

    def f(m, x):
        y = torch.roll(x, (roll, roll), (2, 3)) if roll else x
        y = y.reshape(-1, c, h // size[0], size[0], w // size[1], size[1]).permute(0, 2, 4, 3, 5, 1).flatten(3, 4)
        q, k, v = m.qkv(y).unflatten(-1, (3, heads, c // heads)).permute(4, 0, 1, 2, 5, 3, 6)
        scores = (q @ k.transpose(-1, -2)) * 0.3
        y = (scores + m.mask if masked else scores).softmax(-1) @ v
        y = m.out(y.transpose(-2, -3).flatten(-2)).unflatten(3, size)
        y = y.permute(0, 5, 1, 3, 2, 4).reshape(x.shape)
        return torch.roll(y, (-roll, -roll), (2, 3)) if roll else y

    return Fn(f, **parts)
