"""Families of nets written here as their papers have them: U-Nets, diffusion, super-resolution, graphs, audio, detection."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from family import SGD, family
from zoo import Case


def maps(module, batch, channels, size, classes=5):
    """A Case of a model that classifies every pixel."""
    labels = lambda g, x: torch.randint(0, classes, (batch, size * size), generator=g)
    return Case(Pixels(module), lambda g: {"x": torch.randn((batch, channels, size, size), generator=g)}, labels)


def regression(module, shape, target, **more):
    """A Case of a model whose output is compared with noise by squares; `more` are other inputs, as functions of a generator."""
    inputs = lambda g: {"x": torch.randn(shape, generator=g), **{name: draw(g) for name, draw in more.items()}}
    return Case(module, inputs, lambda g, x: torch.randn(target, generator=g), "mse")


class Pixels(nn.Module):
    """Puts the classes of a map last, as the loss reads them."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).flatten(2).transpose(1, 2)


# ---- U-Nets and pyramids ----


def conv_block(a, b):
    """Two convolutions with group norms."""
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(2, b), nn.SiLU(), nn.Conv2d(b, b, 3, padding=1), nn.GroupNorm(2, b), nn.SiLU())


class UNet(nn.Module):
    """U-Net (Ronneberger et al. 2015); `up` is how its decoder enlarges."""

    def __init__(self, up, channels=3, classes=5, widths=(8, 12, 16)):
        super().__init__()
        self.up, ins = up, (channels, *widths)
        self.down = nn.ModuleList(conv_block(a, b) for a, b in zip(ins, widths))
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.enlarge = nn.ModuleList(nn.ConvTranspose2d(a, a, 2, 2) if up == "transposed" else nn.Identity() for a, _ in pairs)
        self.decode = nn.ModuleList(conv_block(a + b, b) for a, b in pairs)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        seen = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            seen.append(x)
        for enlarge, block, skip in zip(self.enlarge, self.decode, seen[-2::-1]):
            x = enlarge(x)
            if self.up != "transposed":
                flags = {} if self.up == "nearest" else dict(align_corners=self.up == "corners")
                x = F.interpolate(x, size=skip.shape[-2:], mode="nearest" if self.up == "nearest" else "bilinear", **flags)
            x = block(torch.cat([x, skip], 1))
        return self.head(x)


for up in ("transposed", "nearest", "bilinear", "corners"):
    family(f"unet_{up}", SGD, lambda up=up: maps(UNet(up), 4, 3, 16))
# Its maps of 18, 9 and 4 pixels are enlarged by no whole factor.
family("unet_odd", SGD, lambda: maps(UNet("bilinear"), 4, 3, 18))


class Pyramid(nn.Module):
    """A feature pyramid (Lin et al. 2017) over three strides, and a head that all its maps share."""

    def __init__(self, widths=(8, 12, 16), width=8, classes=5):
        super().__init__()
        ins = (3, *widths)
        self.stages = nn.ModuleList(nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.GroupNorm(2, b), nn.ReLU()) for a, b in zip(ins, widths))
        self.lateral = nn.ModuleList(nn.Conv2d(b, width, 1) for b in widths)
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in widths)
        self.head = nn.Conv2d(width, classes, 3, padding=1)

    def maps(self, x):
        seen = []
        for stage in self.stages:
            x = stage(x)
            seen.append(x)
        top, result = 0, []
        for i in range(len(seen) - 1, -1, -1):
            top = self.lateral[i](seen[i]) + (F.interpolate(top, scale_factor=2.0, mode="nearest") if result else 0)
            result.append(self.smooth[i](top))
        return result

    def forward(self, x):
        return torch.cat([self.head(y).flatten(2).transpose(1, 2) for y in self.maps(x)], 1)


class PanopticHead(Pyramid):
    """Sums the maps of a pyramid in the size of the largest one (Kirillov et al. 2019)."""

    def forward(self, x):
        maps = self.maps(x)
        return self.head(sum(F.interpolate(y, size=maps[-1].shape[-2:], mode="bilinear", align_corners=False) for y in maps)).flatten(2).transpose(1, 2)


class HighResolution(nn.Module):
    """Two branches that exchange their maps twice, as in HRNet (Sun et al. 2019)."""

    def __init__(self, a=8, b=12, classes=5):
        super().__init__()
        self.stem, self.second = nn.Conv2d(3, a, 3, padding=1), nn.Conv2d(a, b, 3, 2, 1)
        self.fine, self.coarse = [nn.ModuleList(conv_block(n, n) for _ in "ab") for n in (a, b)]
        self.lower = nn.ModuleList(nn.Conv2d(a, b, 3, 2, 1) for _ in "ab")
        self.raise_ = nn.ModuleList(nn.Conv2d(b, a, 1) for _ in "ab")
        self.head = nn.Conv2d(a + b, classes, 1)

    def forward(self, x):
        x = self.stem(x)
        y = self.second(x)
        for i in range(2):
            x, y = self.fine[i](x), self.coarse[i](y)
            up = F.interpolate(self.raise_[i](y), scale_factor=2.0, mode="bilinear", align_corners=True)
            x, y = F.relu(x + up), F.relu(y + self.lower[i](x))
        return self.head(torch.cat([x, F.interpolate(y, size=x.shape[-2:], mode="nearest")], 1))


class DeepLab(nn.Module):
    """Atrous pyramid pooling (Chen et al. 2017) over a convolution, with a branch of the global mean."""

    def __init__(self, width=8, classes=5):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.branches = nn.ModuleList([nn.Conv2d(width, width, 1), *(nn.Conv2d(width, width, 3, padding=d, dilation=d) for d in (2, 3))])
        self.pooled, self.head = nn.Conv2d(width, width, 1), nn.Conv2d(4 * width, classes, 1)

    def forward(self, x):
        y = F.relu(self.stem(x))
        mean = F.interpolate(self.pooled(F.adaptive_avg_pool2d(y, 1)), size=y.shape[-2:], mode="bilinear", align_corners=False)
        y = self.head(torch.cat([*(F.silu(b(y)) for b in self.branches), mean], 1))
        return F.interpolate(y, size=x.shape[-2:], mode="bicubic", align_corners=False)


class PoolPyramid(nn.Module):
    """Pyramid pooling of PSPNet (Zhao et al. 2017)."""

    def __init__(self, width=8, classes=5):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.parts = nn.ModuleList(nn.Conv2d(width, 4, 1) for _ in "abc")
        self.head = nn.Conv2d(width + 12, classes, 3, padding=1)

    def forward(self, x):
        y = F.silu(self.stem(x))
        pools = [F.interpolate(p(F.avg_pool2d(y, n)), size=y.shape[-2:], mode="bilinear", align_corners=True) for p, n in zip(self.parts, (8, 4, 2))]
        return F.interpolate(self.head(torch.cat([y, *pools], 1)), size=x.shape[-2:], mode="bilinear", align_corners=False)


class SegNet(nn.Module):
    """An encoder whose places of maxima the decoder fills (Badrinarayanan et al. 2015)."""

    def __init__(self, width=8, classes=5):
        super().__init__()
        self.a, self.b = conv_block(3, width), conv_block(width, width)
        self.c, self.d = conv_block(width, width), nn.Conv2d(width, classes, 3, padding=1)

    def forward(self, x):
        x, one = F.max_pool2d(self.a(x), 2, return_indices=True)
        x, two = F.max_pool2d(self.b(x), 2, return_indices=True)
        x = self.c(F.max_unpool2d(x, two, 2))
        return self.d(F.max_unpool2d(x, one, 2))


family("fpn", SGD, lambda: Case(Pyramid(), lambda g: {"x": torch.randn((4, 3, 32, 32), generator=g)}, lambda g, x: torch.randint(0, 5, (4, 336), generator=g)))
family("fpn_panoptic", SGD, lambda: Case(PanopticHead(), lambda g: {"x": torch.randn((4, 3, 32, 32), generator=g)}, lambda g, x: torch.randint(0, 5, (4, 256), generator=g)))
family("hrnet", SGD, lambda: maps(HighResolution(), 4, 3, 16))
family("deeplab", SGD, lambda: maps(DeepLab(), 4, 3, 16))
family("pspnet", SGD, lambda: maps(PoolPyramid(), 4, 3, 16))
family("segnet", SGD, lambda: maps(SegNet(), 4, 3, 16))


# ---- diffusion ----


def wave(t, width):
    """Sinusoids of a time step."""
    rates = torch.exp(torch.arange(width // 2) * (-math.log(1000.0) / (width // 2)))
    angles = t[:, None] * rates
    return torch.cat([torch.sin(angles), torch.cos(angles)], -1)


class Residual(nn.Module):
    """A residual block whose scale and shift come from the time step (Dhariwal and Nichol 2021)."""

    def __init__(self, a, b, times):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(2, a), nn.Conv2d(a, b, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(2, b), nn.Conv2d(b, b, 3, padding=1)
        self.time, self.skip = nn.Linear(times, 2 * b), nn.Conv2d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.time(t)[:, :, None, None].chunk(2, 1)
        h = self.conv2(F.silu(self.norm2(h) * (1 + scale) + shift))
        return self.skip(x) + h


class PixelAttention(nn.Module):
    """Attention among the pixels of a map, and to a context if there is one."""

    def __init__(self, width, context=0, heads=2):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(2, width), heads
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(context or width, 2 * width), nn.Linear(width, width)

    def forward(self, x, context=None):
        n, c, h, w = x.shape
        y = self.norm(x).flatten(2).transpose(1, 2)
        k, v = self.kv(y if context is None else context).chunk(2, -1)
        split = lambda z: z.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = F.scaled_dot_product_attention(split(self.q(y)), split(k), split(v)).transpose(1, 2).flatten(2)
        return x + self.out(y).transpose(1, 2).unflatten(-1, (h, w))


class Denoiser(nn.Module):
    """The U-Net of DDPM (Ho et al. 2020); with a context, that of latent diffusion (Rombach et al. 2022)."""

    def __init__(self, context=0, a=8, b=16, times=16):
        super().__init__()
        self.times = times
        self.time = nn.Sequential(nn.Linear(times, times), nn.SiLU(), nn.Linear(times, times))
        self.stem, self.one, self.small = nn.Conv2d(3, a, 3, padding=1), Residual(a, a, times), nn.Conv2d(a, a, 3, 2, 1)
        self.two, self.mix, self.three = Residual(a, b, times), PixelAttention(b), Residual(b, b, times)
        self.cross = PixelAttention(b, context) if context else None
        self.large, self.four = nn.Conv2d(b, b, 3, padding=1), Residual(a + b, a, times)
        self.head = nn.Sequential(nn.GroupNorm(2, a), nn.SiLU(), nn.Conv2d(a, 3, 3, padding=1))

    def forward(self, x, t, context=None):
        t = self.time(wave(t, self.times))
        skip = self.one(self.stem(x), t)
        y = self.mix(self.two(self.small(skip), t))
        y = self.three(y if context is None else self.cross(y, context), t)
        y = self.large(F.interpolate(y, scale_factor=2.0, mode="nearest"))
        return self.head(self.four(torch.cat([y, skip], 1), t))


class DiffusionBlock(nn.Module):
    """A block of DiT with adaptive layer norms (Peebles and Xie 2023)."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width, elementwise_affine=False)
        self.qkv, self.out, self.condition = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 6 * width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))

    def forward(self, x, c):
        s1, b1, g1, s2, b2, g2 = self.condition(F.silu(c))[:, None].chunk(6, -1)
        split = lambda z: z.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = map(split, self.qkv(self.norm(x) * (1 + s1) + b1).chunk(3, -1))
        x = x + g1 * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + g2 * self.mlp(self.norm(x) * (1 + s2) + b2)


class DiffusionTransformer(nn.Module):
    """DiT on patches of 2 × 2, with classes."""

    def __init__(self, width=32, layers=3, size=8):
        super().__init__()
        self.patch, self.classes = nn.Conv2d(3, width, 2, 2), nn.Embedding(10, width)
        self.place = nn.Parameter(torch.zeros(1, (size // 2) ** 2, width))
        self.blocks, self.head = nn.ModuleList(DiffusionBlock(width) for _ in range(layers)), nn.Linear(width, 12)

    def forward(self, x, t, label):
        c = wave(t, 32) + self.classes(label)
        y = self.patch(x).flatten(2).transpose(1, 2) + self.place
        for block in self.blocks:
            y = block(y, c)
        n, _, h, w = x.shape
        return F.pixel_shuffle(self.head(y).transpose(1, 2).unflatten(-1, (h // 2, w // 2)), 2)


class LatentDecoder(nn.Module):
    """The decoder of latent diffusion's autoencoder: from 4 channels to an image four times as large."""

    def __init__(self, width=8):
        super().__init__()
        self.stem, self.mix = nn.Conv2d(4, width, 3, padding=1), PixelAttention(width)
        self.up = nn.ModuleList(nn.ModuleList([conv_block(width, width), nn.Conv2d(width, width, 3, padding=1)]) for _ in "ab")
        self.head = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        x = self.mix(self.stem(x))
        for block, conv in self.up:
            x = conv(F.interpolate(x + block(x), scale_factor=2.0, mode="nearest"))
        return self.head(x)


TIME = lambda g: torch.randint(0, 1000, (4,), generator=g).float()
family("ddpm", SGD, lambda: regression(Denoiser(), (4, 3, 8, 8), (4, 3, 8, 8), t=TIME))
family("latent_diffusion", SGD, lambda: regression(Denoiser(context=12), (4, 3, 8, 8), (4, 3, 8, 8), t=TIME, context=lambda g: torch.randn((4, 6, 12), generator=g)))
family("dit", SGD, lambda: regression(DiffusionTransformer(), (4, 3, 8, 8), (4, 3, 8, 8), t=TIME, label=lambda g: torch.randint(0, 10, (4,), generator=g)))
family("latent_decoder", SGD, lambda: regression(LatentDecoder(), (4, 4, 4, 4), (4, 3, 16, 16)))


# ---- super-resolution ----


class SubPixel(nn.Module):
    """ESPCN (Shi et al. 2016)."""

    def __init__(self, factor=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 5, padding=2), nn.Tanh(), nn.Conv2d(16, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, 3 * factor**2, 3, padding=1), nn.PixelShuffle(factor))

    def forward(self, x):
        return self.body(x)


class Upscaler(nn.Module):
    """EDSR (Lim et al. 2017) added to an interpolation of the input."""

    def __init__(self, mode, width=8, blocks=3, antialias=False):
        super().__init__()
        self.mode, self.antialias = mode, antialias
        self.stem, self.head = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1, padding_mode="reflect")
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)) for _ in range(blocks))

    def forward(self, x):
        y = self.stem(x)
        for block in self.blocks:
            y = y + 0.1 * block(y)
        flags = {} if self.mode == "nearest" else dict(align_corners=False, antialias=self.antialias)
        large = lambda z: F.interpolate(z, scale_factor=2.0, mode=self.mode, **flags)
        return self.head(large(y)) + large(x)


class DenseUpscaler(nn.Module):
    """A residual dense block of ESRGAN (Wang et al. 2018)."""

    def __init__(self, width=8, growth=4):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.dense = nn.ModuleList(nn.Conv2d(width + i * growth, growth if i < 3 else width, 3, padding=1) for i in range(4))
        self.up, self.head = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        seen = [self.stem(x)]
        for conv in self.dense[:-1]:
            seen.append(F.leaky_relu(conv(torch.cat(seen, 1)), 0.2))
        y = seen[0] + 0.2 * self.dense[-1](torch.cat(seen, 1))
        return self.head(F.leaky_relu(self.up(F.interpolate(y, scale_factor=2.0, mode="nearest")), 0.2))


family("espcn", SGD, lambda: regression(SubPixel(), (4, 3, 8, 8), (4, 3, 24, 24)))
family("edsr_bicubic", SGD, lambda: regression(Upscaler("bicubic"), (4, 3, 8, 8), (4, 3, 16, 16)))
family("edsr_bilinear", SGD, lambda: regression(Upscaler("bilinear"), (4, 3, 8, 8), (4, 3, 16, 16)))
family("esrgan", SGD, lambda: regression(DenseUpscaler(), (4, 3, 8, 8), (4, 3, 16, 16)))
