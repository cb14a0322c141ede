"""PyTorch's results in half precision, by torch.autocast on the CPU: how far they are from those in float32."""
import numpy as np
import torch

import reference

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
STEPS = 20


class Autocast(torch.nn.Module):
    """A module whose forward part runs under autocast; its results are float32 again."""

    def __init__(self, module, dtype):
        super().__init__()
        self.module, self.dtype = module, dtype

    def named_parameters(self, *args, **kwargs):
        """By the names that the module itself has."""
        return self.module.named_parameters(*args, **kwargs)

    def forward(self, *inputs):
        with torch.autocast("cpu", self.dtype):
            return self.module(*inputs).float()


def digits(x):
    return float(f"{x:.7g}")


def distance(gradient, wide):
    """Of a gradient to the one in float32: the norm of the difference over its norm, and the cosine of the angle."""
    a, b = gradient.astype(np.float64).ravel(), wide.astype(np.float64).ravel()
    size = np.linalg.norm(b)
    if size < 1e-6:
        return None
    return [digits(np.linalg.norm(a - b) / size), digits(a @ b / (size * (np.linalg.norm(a) or 1)))]


def halves(case, batches, matching, arrays):
    """The contents of NAME.halves.json: by type, the curve of AdamW, and by initializer its gradient's [distance, cosine]. A type that
    PyTorch can't train the model in has the reason instead."""
    start = {key: value.clone() for key, value in case.module.state_dict().items()}

    def restart():
        case.module.load_state_dict(start)
        return reference.set_mode(case.module, True)

    result = {"f32": {"curve": adamw_curve(case, restart(), batches)}}
    for name, dtype in TYPES.items():
        try:
            result[name] = of_type(case, restart, batches, matching, arrays, dtype)
        except RuntimeError as e:
            result[name] = {"refused": str(e).splitlines()[0]}
    restart()
    return result


def adamw_curve(case, module, batches):
    losses = reference.plain_curve(module, batches, case.loss, STEPS, "adamw", reference.ADAMW)
    return [digits(x) for x in losses]


def of_type(case, restart, batches, matching, arrays, dtype):
    first = reference.first_step(Autocast(restart(), dtype), batches[0], case.loss, matching, "tiny")
    found = {name: distance(first[f"grad/{name}"], arrays[f"grad/{name}"]) for name in matching.parameters}
    return {
        "loss": digits(first["loss"]),
        "gradients": {name: d for name, d in found.items() if d},
        "curve": adamw_curve(case, Autocast(restart(), dtype), batches),
    }

