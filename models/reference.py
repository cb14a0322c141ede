"""PyTorch's results for a model: loss, gradients, training curves, weights."""
import copy
import hashlib
from functools import partial

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

ADAMW = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
SGD = dict(lr=1e-2, momentum=0.9, weight_decay=0.0)

# With few samples a channel, batch norm makes larger steps chaotic: float32 and float64 diverge.
SGD_LR = {"resnet": 1e-3}

# Further optimizers and losses for the two smallest models: curve_NAME.
EXTRA = {
    "mlp": dict(
        adam=dict(optimizer="adam", lr=1e-3),
        adagrad=dict(optimizer="adagrad", lr=1e-2),
        nesterov=dict(optimizer="sgd", lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-2),
        clip=dict(optimizer="adamw", clip_norm=0.5, **ADAMW),
        smooth=dict(optimizer="sgd", lr=1e-2, label_smoothing=0.1),
    ),
    "regress": dict(
        l1=dict(optimizer="sgd", lr=1e-2, loss="l1"),
        bce=dict(optimizer="sgd", lr=1e-2, loss="bce_with_logits, targets (labels > 0)"),
    ),
}

OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adagrad": torch.optim.Adagrad,
    "sgd": torch.optim.SGD,
}

GRADIENT_SAMPLES = 64  # elements of a real model's gradient


# ---- the starting point ----


def initial_value(name, p, generator):
    """Scaled noise: no two parameters are equal, none vanishes by symmetry."""
    noise = torch.randn(p.shape, generator=generator)
    if p.dim() < 2:
        return (1.0 if name.endswith("weight") else 0.0) + 0.1 * noise
    if p.dim() == 2:
        return noise * (0.8 / p.shape[-1] ** 0.5)
    return noise * (0.5 / max(1, p[0].numel()) ** 0.5)


def randomize(module):
    """Sets every parameter and running statistic from a fixed seed."""
    g = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, p in sorted(module.named_parameters()):
            p.copy_(initial_value(name, p, g))
        for name, b in sorted(module.named_buffers()):
            if name.endswith("running_mean"):
                b.copy_(0.1 * torch.randn(b.shape, generator=g))
            if name.endswith("running_var"):
                b.copy_(1 + 0.2 * torch.rand(b.shape, generator=g))


def draw_batches(case, seed=2):
    """Two batches of (inputs by name, labels), from a fixed seed."""
    g = torch.Generator().manual_seed(seed)
    batches = []
    for _ in range(2):
        inputs = case.inputs(g)
        batches.append((inputs, case.labels(g, inputs)))
    return batches


def set_mode(module, train, keep_dropout=False):
    """Training or evaluation mode, without dropout and stochastic depth unless they are kept."""
    module.train(train)
    for part in module.modules() if not keep_dropout else ():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            part.p = 0.0
        if isinstance(getattr(part, "drop_prob", None), float):
            part.drop_prob = 0.0
    return module


def has_batch_norm(module):
    return any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in module.modules())


# ---- initializers and parameters ----

# The layouts in which exporters write a parameter, apart from permutations and the parameter itself.
EXPANDED = {"expand0": lambda a: a[None], "expand12": lambda a: a[:, None, None]}


def in_layout(array, layout):
    """A parameter's array as its initializer holds it."""
    if layout is None:
        return array
    if isinstance(layout, str):
        return EXPANDED[layout](array)
    return np.ascontiguousarray(array.transpose(layout))


def layouts_of(array):
    """The layouts to look for, the plain one first."""
    if array.ndim == 1:
        return [None, *EXPANDED]
    if array.ndim >= 2:
        last = array.ndim - 1
        return [None, [*range(last - 1), last, last - 1]]
    return [None]


def digest(array):
    return array.shape, hashlib.sha1(np.ascontiguousarray(array).tobytes()).hexdigest()


class Matching:
    """Maps the float initializers of a model to parameters and buffers, by their values."""

    def __init__(self, model, module, folder):
        index, buffers = self.index(module)
        self.parameters, self.buffers, self.others = {}, {}, {}
        for i in model.graph.initializer:
            if i.data_type == onnx.TensorProto.FLOAT:
                array = onnx.numpy_helper.to_array(i, base_dir=str(folder))
                self.enter(i.name, array, index, buffers)
        seen = {parameter for parameter, _ in self.parameters.values()}
        names = {name for name, _ in module.named_parameters()}
        self.lost = sorted(names - seen)

    @staticmethod
    def index(module):
        index = {}
        for name, p in module.named_parameters():
            array = p.detach().numpy()
            for layout in layouts_of(array):
                index.setdefault(digest(in_layout(array, layout)), (name, layout))
        return index, {digest(b.numpy()): name for name, b in module.named_buffers() if b.dtype == torch.float32}

    def enter(self, name, array, index, buffers):
        key = digest(array)
        if key in index:
            self.parameters[name] = index[key]
        elif key in buffers:
            self.buffers[name] = buffers[key]
        elif array.size > 1:
            self.others[name] = list(array.shape)

    def tied(self):
        """Parameters that are several initializers, with the names of these."""
        holders = {}
        for name, (parameter, _) in self.parameters.items():
            holders.setdefault(parameter, []).append(name)
        return {parameter: names for parameter, names in holders.items() if len(names) > 1}

    def padding_rows(self, module):
        """The rows of embeddings' initializers that never train."""
        names = {id(p): name for name, p in module.named_parameters()}
        rows = {
            names[id(part.weight)]: part.padding_idx
            for part in module.modules()
            if isinstance(part, nn.Embedding) and part.padding_idx is not None
        }
        found = self.parameters.items()
        return {name: rows[parameter] for name, (parameter, _) in found if parameter in rows}

    def arrays(self, by_parameter):
        """(initializer, array) pairs, given a function from parameter names to arrays."""
        for name, (parameter, layout) in self.parameters.items():
            yield name, in_layout(by_parameter(parameter), layout)


# ---- losses and gradients ----


def loss_of(kind, output, labels):
    if kind == "mse":
        return F.mse_loss(output, labels)
    return F.cross_entropy(output.flatten(0, -2), labels.flatten(), ignore_index=-100)


def extra_loss(output, labels, loss, label_smoothing):
    """The losses of EXTRA."""
    if loss == "l1":
        return F.l1_loss(output, labels)
    if loss:
        return F.binary_cross_entropy_with_logits(output, (labels > 0).float())
    return F.cross_entropy(output, labels, label_smoothing=label_smoothing)


def gradient_entries(name, gradient, size):
    """The entries of a gradient in the .npz: all of it, or its norm and some elements."""
    if size == "tiny":
        return {f"grad/{name}": gradient}
    flat = gradient.reshape(-1)
    at = np.linspace(0, flat.size - 1, GRADIENT_SAMPLES).astype(np.int64)
    norm = np.float64(np.linalg.norm(flat.astype(np.float64)))
    return {f"gradnorm/{name}": norm, f"gradsample/{name}": flat[at]}


def first_step(module, batch, kind, matching, size):
    """Output, loss and gradients in the module's current mode."""
    inputs, labels = batch
    module.zero_grad(set_to_none=True)
    output = module(*inputs.values())
    loss = loss_of(kind, output, labels)
    loss.backward()
    parameters = dict(module.named_parameters())

    def gradient(name):
        p = parameters[name]
        return (torch.zeros_like(p) if p.grad is None else p.grad).numpy()

    result = {"loss": np.float32(loss.item())}
    for name, array in matching.arrays(gradient):
        result.update(gradient_entries(name, array, size))
    if size == "tiny":
        result["output"] = output.detach().numpy()
        lost = [name for name in matching.lost if parameters[name].grad is not None]
        result.update({f"lostgrad/{name}": gradient(name) for name in lost})
    return result


# ---- curves ----


def curve(module, optimizer, batches, loss, steps, clip_norm=0.0):
    """The losses before each update."""
    losses = []
    for step in range(steps):
        inputs, labels = batches[step % 2]
        optimizer.zero_grad(set_to_none=True)
        value = loss(module(*inputs.values()), labels)
        value.backward()
        losses.append(value.item())
        if clip_norm:
            nn.utils.clip_grad_norm_(module.parameters(), clip_norm)
        optimizer.step()
    return np.float32(losses)


def plain_curve(module, batches, kind, steps, optimizer, settings):
    """The curve of the case's own loss."""
    o = OPTIMIZERS[optimizer](module.parameters(), **settings)
    return curve(module, o, batches, lambda y, t: loss_of(kind, y, t), steps)


def extra_curve(module, batches, steps, settings):
    """A curve of EXTRA."""
    settings = dict(settings)
    optimizer = OPTIMIZERS[settings.pop("optimizer")]
    kind = settings.pop("loss", "")
    smoothing = settings.pop("label_smoothing", 0.0)
    clip_norm = settings.pop("clip_norm", 0.0)

    def loss(output, labels):
        return extra_loss(output, labels, kind, smoothing)

    o = optimizer(module.parameters(), **settings)
    return curve(module, o, batches, loss, steps, clip_norm)


def sgd_settings(name):
    return {**SGD, "lr": SGD_LR.get(name, SGD["lr"])}


def references(name, case, batches, matching, size, steps):
    """All arrays of NAME.npz. The module's weights are the same before and after."""
    module = case.module
    start = {key: value.clone() for key, value in module.state_dict().items()}

    def restart(train=True):
        module.load_state_dict(start)
        return set_mode(module, train)

    result = data_entries(batches)
    result.update(first_step(restart(), batches[0], case.loss, matching, size))
    if has_batch_norm(module):
        frozen = first_step(restart(train=False), batches[0], case.loss, matching, size)
        result.update({f"eval_{key}": value for key, value in frozen.items()})
    for optimizer, settings in (("adamw", ADAMW), ("sgd", sgd_settings(name))):
        losses = plain_curve(restart(), batches, case.loss, steps, optimizer, settings)
        check_repeats(name, losses[0], result["loss"])
        result[f"curve_{optimizer}"] = losses
        if optimizer == "adamw" and size == "tiny":
            result.update(final_weights(module, matching))
    if size == "tiny":
        for key, settings in EXTRA.get(name, {}).items():
            result[f"curve_{key}"] = extra_curve(restart(), batches, steps, settings)
    restart()
    return result


def data_entries(batches):
    """The batches, stacked."""
    result = {}
    for key in batches[0][0]:
        result[f"data/{key}"] = np.stack([inputs[key].numpy() for inputs, _ in batches])
    result["data/labels"] = np.stack([labels.numpy() for _, labels in batches])
    return result


def final_weights(module, matching):
    parameters = dict(module.named_parameters())
    arrays = matching.arrays(lambda parameter: parameters[parameter].detach().numpy())
    return {f"final_adamw/{name}": array.copy() for name, array in arrays}


def check_repeats(name, again, first):
    if abs(again - float(first)) > 1e-5 * max(1, abs(again)):
        raise RuntimeError(f"{name}: training is not deterministic: {again} against {first}")


# ---- live dropout ----

DROPOUT_SEEDS = 64


def dropout_references(case, batches, steps):
    """The output without dropout, and curves of many seeds, because other programs can't draw PyTorch's random bits."""
    module = case.module
    start = {key: value.clone() for key, value in module.state_dict().items()}
    result = data_entries(batches)
    with torch.no_grad():
        module.train(False)
        result["output"] = module(*batches[0][0].values()).numpy()
    curves = []
    for seed in range(DROPOUT_SEEDS):
        torch.manual_seed(seed)
        module.load_state_dict(start)
        set_mode(module, True, keep_dropout=True)
        curves.append(plain_curve(module, batches, case.loss, steps, "adamw", ADAMW))
    module.load_state_dict(start)
    result["curves_adamw"] = np.stack(curves)
    return result


# ---- in double ----


def doubled(value):
    """A copy with float64 for float32: of a module, or of a batch."""
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).double()
    inputs, labels = value
    wide = lambda t: t.double() if t.is_floating_point() else t
    return {name: wide(t) for name, t in inputs.items()}, wide(labels)


class Margin(TorchDispatchMode):
    """Measures how near the arguments of rectifiers come to the jumps of their derivatives, relative to their size."""

    KINKS = {"relu": [0], "leaky_relu": [0], "hardswish": [-3, 3], "hardsigmoid": [-3, 3]}

    def __init__(self):
        super().__init__()
        self.least = np.inf

    def __torch_dispatch__(self, f, types, args=(), kwargs=None):
        name = f._schema.name.removeprefix("aten::").rstrip("_")
        kinks = args[1:3] if name == "hardtanh" else self.KINKS.get(name, [])
        for kink in kinks:
            x = args[0].detach()
            away = (x - kink).abs()
            away[x == 0] = np.inf  # an exact 0 is 0 in every precision
            self.least = min(self.least, float(away.min() / x.abs().mean().clamp(min=1e-12)))
        return f(*args, **(kwargs or {}))


def draw_smooth_batches(case, tries=8):
    """Draws batches from several seeds and takes those farthest from kinks, where rounding alone changes gradients."""
    best = -1.0
    for seed in range(2, 2 + tries):
        batches = draw_batches(case, seed)
        module = set_mode(copy.deepcopy(case.module), True)
        with torch.no_grad(), Margin() as margin:
            module(*batches[0][0].values())
        if margin.least > best:
            best, chosen = margin.least, batches
        if margin.least == np.inf:
            break
    return chosen


def runs_in_double(case, batch):
    """Does the model run in double? Some hold numbers that only work with float32."""
    try:
        with torch.no_grad():
            doubled(case.module)(*doubled(batch)[0].values())
        return True
    except RuntimeError:
        return False


def results_of(case, batches, convert, steps=1, settings=None):
    """Loss, gradients by parameter and the curve of an optimizer's settings; `convert` copies module and batches."""
    module, data = set_mode(convert(case.module), True), [convert(b) for b in batches]
    inputs, labels = data[0]
    loss = loss_of(case.loss, module(*inputs.values()), labels)
    loss.backward()
    gradients = {n: p.grad.numpy() for n, p in module.named_parameters() if p.grad is not None}
    result = dict(loss=loss.item(), gradients=gradients)
    if settings:
        result["curve"] = curve_of(set_mode(convert(case.module), True), data, case.loss, steps, settings)
    return result


def both_precisions(case, batches, steps=1, settings=None):
    """The results in float32 and in float64."""
    exact = doubled if not case.single and runs_in_double(case, batches[0]) else copy.deepcopy
    return [results_of(case, batches, convert, steps, settings) for convert in (copy.deepcopy, exact)]


def moved(seed):
    """Copies of batches whose floats are one unit in the last place off, except whole numbers, which masks and ties are; of a
    module whose inputs are integers, the parameters are."""
    generator = torch.Generator().manual_seed(seed)

    def off(x):
        up = torch.rand(x.shape, generator=generator) < 0.5
        return torch.where(x == x.round(), x, torch.nextafter(x, torch.where(up, torch.inf, -torch.inf).to(x.dtype)))

    def convert(value, has_floats):
        value = copy.deepcopy(value)
        with torch.no_grad():
            if isinstance(value, nn.Module):
                for p in value.parameters() if not has_floats else ():
                    if p.is_floating_point():
                        p.copy_(off(p))
                return value
            inputs, labels = value
            return {name: off(x) if x.is_floating_point() else x for name, x in inputs.items()}, labels

    return convert


def exact_references(case, batches, matching, settings, steps, moves=0):
    """Loss, gradients and the curve of `settings`, made in float64, and how far PyTorch's float32 is from them.

    That is the largest error of 1 + `moves` runs, all but the first on inputs that are one unit in the last place off. One
    alone may be lucky, where another has an activation on the other side of a kink and is a thousand times as far off.
    """
    found, exact = both_precisions(case, batches, steps, settings)
    has_floats = any(x.is_floating_point() for x in batches[0][0].values())
    shifted = [partial(moved(seed), has_floats=has_floats) for seed in range(moves)]
    runs = [found, *(results_of(case, batches, convert, steps, settings) for convert in shifted)]
    zeros = {n: np.zeros(p.shape) for n, p in case.module.named_parameters()}
    arrays_of = lambda x: dict(matching.arrays(lambda n: {**zeros, **x["gradients"]}[n]))
    ours, theirs = [arrays_of(x) for x in runs], arrays_of(exact)
    result = data_entries(batches)
    result["loss"] = np.float64(exact["loss"])
    result["noise_loss"] = np.float64(max(abs(x["loss"] - exact["loss"]) for x in runs))
    for name, g in theirs.items():
        result[f"grad/{name}"] = g.astype(np.float64)
        result[f"noise/{name}"] = np.float64(max(np.linalg.norm(x[name] - g) for x in ours))
    result["curve_curve"] = exact["curve"]
    result["noise_curve"] = np.max([np.abs(x["curve"] - exact["curve"]) for x in runs], axis=0)
    return result


def curve_of(module, batches, kind, steps, settings):
    """The curve of an optimizer's settings and the model's own loss."""
    settings = dict(settings)
    optimizer, clip_norm = settings.pop("optimizer"), settings.pop("clip_norm", 0.0)
    o = OPTIMIZERS[optimizer](module.parameters(), **settings)
    return curve(module, o, batches, lambda y, t: loss_of(kind, y, t), steps, clip_norm)
