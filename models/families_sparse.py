"""Families of nets written here as their papers have them: graphs, sets and points, audio, sampling of images, heads of detectors."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from families_own import PixelAttention, regression
from family import SGD, SLOW, family
from zoo import Case

NODES, EDGES, CLASSES = 10, 24, 5


# ---- graphs ----


def graph(module, batch=4, whole=False):
    """A Case of a model of nodes x and edges from `source` to `target`, which differ by sample, that classifies each node."""

    def inputs(g):
        edge = lambda: torch.randint(0, NODES, (batch, EDGES), generator=g)
        return {"x": torch.randn((batch, NODES, 6), generator=g), "source": edge(), "target": edge()}

    return Case(module, inputs, lambda g, x: torch.randint(0, CLASSES, (batch,) if whole else (batch, NODES), generator=g))


def one_graph(module):
    """The same with one graph, whose edges are constants, and samples of its nodes' features."""
    g = torch.Generator().manual_seed(0)
    module.register_buffer("source", torch.randint(0, NODES, (EDGES,), generator=g))
    module.register_buffer("target", torch.randint(0, NODES, (EDGES,), generator=g))
    return Case(module, lambda g: {"x": torch.randn((4, NODES, 6), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (4, NODES), generator=g))


def rows(x, index):
    """The rows of x that an index [batch, edges] names."""
    return x.gather(1, index[..., None].expand(-1, -1, x.shape[-1]))


def gathered(messages, target, reduce="sum"):
    """The messages of each node's edges, combined."""
    index = target[..., None].expand_as(messages)
    zeros = messages.new_zeros(messages.shape[0], NODES, messages.shape[-1])
    if reduce == "sum":
        return zeros.scatter_add(1, index, messages)
    if reduce == "mean":  # the exporter writes scatter_reduce's mean as a scatter that replaces
        return gathered(messages, target) / gathered(torch.ones_like(messages[..., :1]), target).clamp(min=1)
    return zeros.scatter_reduce(1, index, messages, reduce, include_self=False)


class GraphNet(nn.Module):
    """Three layers, whose classes differ, and a head."""

    def __init__(self, layer, width=8, whole=False):
        super().__init__()
        self.stem, self.whole = nn.Linear(6, width), whole
        self.layers, self.head = nn.ModuleList(layer(width) for _ in range(3)), nn.Linear(width, CLASSES)

    def forward(self, x, source, target):
        x = self.stem(x)
        for layer in self.layers:
            x = x + F.silu(layer(x, source, target))
        return self.head(x.mean(1) if self.whole else x)


class Convolution(nn.Module):
    """GCN (Kipf and Welling 2017): messages are divided by the roots of both degrees."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, source, target):
        one = torch.ones(*source.shape, 1)
        root = (1 + gathered(one, target)).rsqrt()
        y = self.linear(x) * root
        return (gathered(rows(y, source), target) + y) * root


class GraphAttention(nn.Module):
    """GAT (Veličković et al. 2018): a softmax over each node's edges."""

    def __init__(self, width, heads=2):
        super().__init__()
        self.linear, self.heads = nn.Linear(width, width), heads
        self.a, self.b = nn.Linear(width, heads), nn.Linear(width, heads)

    def forward(self, x, source, target):
        y = self.linear(x)
        score = F.leaky_relu(rows(self.a(y), source) + rows(self.b(y), target), 0.2)
        top = gathered(score, target, "amax").detach()
        e = torch.exp(score - rows(top, target))
        share = e / (rows(gathered(e, target), target) + 1e-9)
        values = rows(y, source).unflatten(-1, (self.heads, -1)) * share[..., None]
        return gathered(values.flatten(2), target)


class Messages(nn.Module):
    """Message passing (Gilmer et al. 2017) with a reduction; `gate` updates as a GRU does."""

    def __init__(self, width, reduce="sum", gate=False):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Linear(width, width))
        self.reduce, self.update = reduce, nn.Linear(2 * width, 3 * width if gate else width)

    def forward(self, x, source, target):
        m = gathered(self.message(torch.cat([rows(x, source), rows(x, target)], -1)), target, self.reduce)
        y = self.update(torch.cat([x, m], -1))
        if self.reduce == "sum" and y.shape[-1] > x.shape[-1]:
            z, r, h = y.chunk(3, -1)
            return torch.sigmoid(z) * torch.tanh(h + torch.sigmoid(r) * x)
        return y


class Sage(nn.Module):
    """GraphSAGE (Hamilton et al. 2017): the mean of the neighbours joined to the node, normalized."""

    def __init__(self, width):
        super().__init__()
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, source, target):
        return F.normalize(self.own(x) + self.near(gathered(rows(x, source), target, "mean")), dim=-1)


class Isomorphism(nn.Module):
    """GIN (Xu et al. 2019)."""

    def __init__(self, width):
        super().__init__()
        self.eps, self.mlp = nn.Parameter(torch.zeros(1)), nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, source, target):
        return self.mlp((1 + self.eps) * x + gathered(rows(x, source), target))


class Fixed(nn.Module):
    """A net over constant edges, which combines messages by index_add, index_put or index_reduce's kin."""

    def __init__(self, add, width=8):
        super().__init__()
        self.add, self.stem, self.head = add, nn.Linear(6, width), nn.Linear(width, CLASSES)
        self.layers = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            m = torch.tanh(layer(torch.cat([x[:, self.source], x[:, self.target]], -1)))
            if self.add == "index_add":
                x = x + torch.zeros_like(x).index_add(1, self.target, m)
            else:
                y = torch.zeros_like(x).transpose(0, 1).index_put((self.target,), m.transpose(0, 1), accumulate=True)
                x = x + y.transpose(0, 1)
        return self.head(x)


class EdgeConvolution(nn.Module):
    """DGCNN (Wang et al. 2019): each point's nearest ones, which the features themselves tell."""

    def __init__(self, width=8, k=3):
        super().__init__()
        self.k, self.head = k, nn.Linear(width, CLASSES)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2 * a, width), nn.SiLU(), nn.Linear(width, width)) for a in (3, width))

    def forward(self, x):
        for layer in self.layers:
            far = 2 * x @ x.transpose(1, 2) - (x * x).sum(-1)[:, None]
            near = far.topk(self.k, -1).indices
            n, p, c = x.shape
            around = x.gather(1, near.flatten(1)[..., None].expand(-1, -1, c)).unflatten(1, (p, self.k))
            x = layer(torch.cat([around - x[:, :, None], x[:, :, None].expand_as(around)], -1)).mean(2)
        return self.head(x.mean(1))


class PointNet(nn.Module):
    """PointNet (Qi et al. 2017) without its transforms."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(3, 16), nn.GELU(), nn.Linear(16, 32), nn.GELU()), nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).amax(1))


def points(module):
    return Case(module, lambda g: {"x": torch.randn((8, 12, 3), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (8,), generator=g))


family("gcn", SGD, lambda: graph(GraphNet(Convolution)))
family("gat", SGD, lambda: graph(GraphNet(GraphAttention)))
family("mpnn", SGD, lambda: graph(GraphNet(Messages, whole=True), whole=True))
family("mpnn_gated", SGD, lambda: graph(GraphNet(lambda n: Messages(n, gate=True))))
for reduce in ("mean", "amax", "amin"):
    family(f"mpnn_{reduce}", SGD, lambda reduce=reduce: graph(GraphNet(lambda n: Messages(n, reduce))))
family("graphsage", SGD, lambda: graph(GraphNet(Sage)))
family("gin", SGD, lambda: graph(GraphNet(Isomorphism, whole=True), whole=True))
family("graph_index_add", SGD, lambda: one_graph(Fixed("index_add")))
family("graph_index_put", SGD, lambda: one_graph(Fixed("index_put")))
family("dgcnn", SGD, lambda: points(EdgeConvolution()))
family("pointnet", SGD, lambda: points(PointNet()))


# ---- audio ----


class Spectrum(nn.Module):
    """A log-mel spectrum made inside the model, and a convolution over it."""

    def __init__(self, window=32, hop=8, bands=8):
        super().__init__()
        self.window, self.hop = window, hop
        self.register_buffer("shape", torch.hann_window(window))
        self.register_buffer("bands", torch.rand(window // 2 + 1, bands, generator=torch.Generator().manual_seed(3)))
        self.gain, self.conv, self.head = nn.Parameter(torch.ones(window)), nn.Conv1d(bands, 8, 3, padding=1), nn.Linear(8, CLASSES)

    def forward(self, x):
        s = torch.stft(x, self.window, self.hop, window=self.shape * self.gain, center=False, return_complex=True)
        power = torch.view_as_real(s).pow(2).sum(-1)
        return self.head(F.gelu(self.conv(torch.log1p(power.transpose(1, 2) @ self.bands).transpose(1, 2))).mean(-1))


class Fourier(nn.Module):
    """Multiplies the spectrum of a sequence by a learned filter, as GFNet and FNO do (Rao et al. 2021, Li et al. 2021)."""

    def __init__(self, width=8, length=16):
        super().__init__()
        self.stem, self.head = nn.Linear(4, width), nn.Linear(width, CLASSES)
        self.filter = nn.Parameter(torch.zeros(length // 2 + 1, width, 2))

    def forward(self, x):
        x = self.stem(x)
        y = torch.fft.rfft(x, dim=1) * torch.view_as_complex(self.filter)
        return self.head(F.gelu(torch.fft.irfft(y, n=x.shape[1], dim=1)) + x)


class Waves(nn.Module):
    """Dilated gated convolutions (WaveNet, van den Oord et al. 2016)."""

    def __init__(self, width=8):
        super().__init__()
        self.stem, self.head = nn.Conv1d(1, width, 1), nn.Conv1d(width, 8, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=d) for d in (1, 2, 4))
        self.outs = nn.ModuleList(nn.Conv1d(width, 2 * width, 1) for _ in range(3))

    def forward(self, x):
        x, total = self.stem(x[:, None]), 0
        for gate, out in zip(self.gates, self.outs):
            a, b = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            skip, more = out(torch.tanh(a) * torch.sigmoid(b)).chunk(2, 1)
            x, total = x + more, total + skip
        return self.head(F.silu(total)).transpose(1, 2)


class Separator(nn.Module):
    """Conv-TasNet (Luo and Mesgarani 2019): an encoder, masks, a decoder of transposed convolutions."""

    def __init__(self, width=12):
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, width, 8, 4), nn.ConvTranspose1d(width, 1, 8, 4)
        self.norm, self.one = nn.GroupNorm(1, width), nn.Conv1d(width, width, 3, padding=1, groups=width)
        self.two = nn.Conv1d(width, 2 * width, 1)

    def forward(self, x):
        y = F.silu(self.encode(x[:, None]))
        masks = torch.sigmoid(self.two(F.silu(self.one(self.norm(y))))).unflatten(1, (2, -1))
        return self.decode((masks * y[:, None]).flatten(0, 1)).unflatten(0, (-1, 2)).squeeze(2)


class Overlap(nn.Module):
    """Patches taken by unfold, mixed, and put back by fold (soft split and composition, Liu et al. 2021)."""

    def __init__(self, channels=4, kernel=3, stride=2):
        super().__init__()
        self.shape = dict(kernel_size=kernel, stride=stride, padding=1)
        self.mix, self.head = nn.Linear(channels * kernel**2, channels * kernel**2), nn.Conv2d(channels, 3, 1)

    def forward(self, x):
        y = self.mix(F.unfold(x, **self.shape).transpose(1, 2)).transpose(1, 2)
        return self.head(F.silu(F.fold(y, x.shape[-2:], **self.shape)))


family("stft_classifier", SGD, lambda: Case(Spectrum(), lambda g: {"x": torch.randn((4, 96), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (4,), generator=g)))
family("fourier", SGD, lambda: Case(Fourier(), lambda g: {"x": torch.randn((4, 16, 4), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (4, 16), generator=g)))
family("wavenet", SGD, lambda: Case(Waves(), lambda g: {"x": torch.randn((4, 24), generator=g)}, lambda g, x: torch.randint(0, 8, (4, 24), generator=g)))
family("conv_tasnet", SGD, lambda: regression(Separator(), (4, 64), (4, 2, 64)))
family("soft_split", SGD, lambda: regression(Overlap(), (4, 4, 8, 8), (4, 3, 8, 8)))


# ---- sampling of images, detectors ----


class DeformableAttention(nn.Module):
    """Each query reads a few places of a map near its own (Zhu et al. 2021), through grid_sample."""

    def __init__(self, width=16, heads=2, points=3):
        super().__init__()
        self.heads, self.points = heads, points
        self.value, self.out, self.query = nn.Conv2d(width, width, 1), nn.Linear(width, width), nn.Linear(width, width)
        self.offset, self.weight = nn.Linear(width, heads * points * 2), nn.Linear(width, heads * points)

    def forward(self, query, place, x):
        n, q, c = query.shape
        value = self.value(x).unflatten(1, (self.heads, -1)).flatten(0, 1)
        offset = torch.tanh(self.offset(query)).view(n, q, self.heads, self.points, 2) * 0.3
        grid = (place[:, :, None, None] + offset).transpose(1, 2).flatten(0, 1)
        share = self.weight(query).view(n, q, self.heads, self.points).softmax(-1).transpose(1, 2).flatten(0, 1)
        y = F.grid_sample(value, grid, align_corners=False, padding_mode="zeros")
        y = (y * share[:, None]).sum(-1).unflatten(0, (n, self.heads)).flatten(1, 2).transpose(1, 2)
        return query + self.out(y)


class DeformableDetector(nn.Module):
    """Queries with places of their own read a map three times; each says a class."""

    def __init__(self, width=16, queries=5):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, width, 3, 2, 1), nn.Linear(width, CLASSES)
        self.query, self.place = nn.Parameter(torch.zeros(queries, width)), nn.Parameter(torch.zeros(queries, 2))
        self.layers = nn.ModuleList(DeformableAttention(width) for _ in range(3))

    def forward(self, x):
        x = F.silu(self.stem(x))
        query = self.query[None].expand(x.shape[0], -1, -1)
        place = torch.tanh(self.place)[None].expand(x.shape[0], -1, -1)
        for layer in self.layers:
            query = layer(query, place, x)
        return self.head(query)


class SpatialTransformer(nn.Module):
    """Turns and scales an image before it is classified (Jaderberg et al. 2015)."""

    def __init__(self):
        super().__init__()
        self.where, self.conv, self.head = nn.Linear(3 * 64, 6), nn.Conv2d(3, 8, 3), nn.Linear(8, CLASSES)
        self.register_buffer("still", torch.tensor([1.0, 0, 0, 0, 1, 0]))

    def forward(self, x):
        theta = (self.still + 0.1 * torch.tanh(self.where(x.flatten(1)))).view(-1, 2, 3)
        y = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False, padding_mode="border")
        return self.head(F.gelu(self.conv(y)).mean((2, 3)))


class Flow(nn.Module):
    """Warps one frame onto another by the flow that a net sees between them, as in video interpolation."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, 2, 3, padding=1))
        line = torch.linspace(-1, 1, 8)
        self.register_buffer("grid", torch.stack(torch.meshgrid(line, line, indexing="xy"), -1))

    def forward(self, x, other):
        flow = 0.2 * torch.tanh(self.net(torch.cat([x, other], 1))).permute(0, 2, 3, 1)
        return F.grid_sample(other, self.grid + flow, mode="bilinear", padding_mode="reflection", align_corners=True)


class DetrHead(nn.Module):
    """Learned queries read a map by attention, and say classes and boxes (Carion et al. 2020)."""

    def __init__(self, width=16, queries=5):
        super().__init__()
        self.stem, self.query = nn.Conv2d(3, width, 4, 4), nn.Parameter(torch.zeros(queries, width))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, 2, 32, 0.0, batch_first=True), 2)
        self.kinds, self.boxes = nn.Linear(width, CLASSES), nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 4), nn.Sigmoid())

    def forward(self, x):
        memory = self.stem(x).flatten(2).transpose(1, 2)
        y = self.decoder(self.query[None].expand(x.shape[0], -1, -1), memory)
        return torch.cat([self.kinds(y), self.boxes(y)], -1)


class YoloHead(nn.Module):
    """Two scales of a map, each with boxes decoded against anchors (Redmon and Farhadi 2018)."""

    def __init__(self, width=8, anchors=2):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, width, 3, 4, 1), nn.Conv2d(width, width, 3, 2, 1)
        self.up, self.anchors = nn.Conv2d(width, width, 1), anchors
        self.small, self.large = nn.Conv2d(2 * width, anchors * 6, 1), nn.Conv2d(width, anchors * 6, 1)
        self.register_buffer("sizes", torch.rand(2, anchors, 2, generator=torch.Generator().manual_seed(4)))

    def decode(self, x, sizes):
        n, _, h, w = x.shape
        x = x.view(n, self.anchors, 6, h, w).permute(0, 3, 4, 1, 2)
        at = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(h), indexing="xy"), -1)[None, :, :, None]
        box = [(torch.sigmoid(x[..., :2]) + at) / w, torch.exp(torch.tanh(x[..., 2:4])) * sizes, x[..., 4:]]
        return torch.cat(box, -1).flatten(1, 3)

    def forward(self, x):
        a = F.silu(self.a(x))
        b = F.silu(self.b(a))
        a = torch.cat([a, F.interpolate(self.up(b), scale_factor=2.0)], 1)
        return torch.cat([self.decode(self.small(a), self.sizes[0]), self.decode(self.large(b), self.sizes[1])], 1)


class MaskHead(nn.Module):
    """Masks as products of queries and pixels (Cheng et al. 2021)."""

    def __init__(self, width=16, queries=5):
        super().__init__()
        self.stem, self.mix, self.query = nn.Conv2d(3, width, 3, 2, 1), PixelAttention(width), nn.Parameter(torch.zeros(queries, width))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, 2, 32, 0.0, batch_first=True), 1)

    def forward(self, x):
        y = self.mix(self.stem(x))
        query = self.decoder(self.query[None].expand(x.shape[0], -1, -1), y.flatten(2).transpose(1, 2))
        masks = torch.einsum("bqc,bchw->bqhw", query, y)
        return F.interpolate(masks, scale_factor=2.0, mode="bilinear", align_corners=False)


family("deformable_attention", SGD, lambda: Case(DeformableDetector(), lambda g: {"x": torch.randn((4, 3, 16, 16), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (4, 5), generator=g)))
family("spatial_transformer", SLOW, lambda: Case(SpatialTransformer(), lambda g: {"x": torch.randn((4, 3, 8, 8), generator=g)}, lambda g, x: torch.randint(0, CLASSES, (4,), generator=g)))
family("flow_warp", SGD, lambda: regression(Flow(), (4, 3, 8, 8), (4, 3, 8, 8), other=lambda g: torch.randn((4, 3, 8, 8), generator=g)))
family("detr_head", SGD, lambda: regression(DetrHead(), (4, 3, 16, 16), (4, 5, 9)))
family("yolo_head", SGD, lambda: regression(YoloHead(), (4, 3, 32, 32), (4, 160, 6)))
family("mask_head", SGD, lambda: regression(MaskHead(), (4, 3, 16, 16), (4, 5, 16, 16)))
