#!/usr/bin/env python3
"""PyTorch's numbers for the demo GPT: its losses in three steps of AdamW, and parts of its first gradients.

  demo_reference.py --out models/demo_gpt.json

models/demo_gpt.onnx has no weights: tests/e2e/demo_test.py draws them, and the data.
"""
import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F

import export_plan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/e2e"))

from demo_test import ADAMW, MODEL, STEPS, VOCABULARY, draw_tokens, draw_weights, samples_of  # noqa: E402


def initializers(module):
    """The module's parameters by the names in the model. Buffers, such as masks, are no parameters."""
    named = module.state_dict(keep_vars=True)
    graph = onnx.load(MODEL, load_external_data=False).graph
    found = {i.name: named[i.name] for i in graph.initializer if i.name in named}
    return {name: p for name, p in found.items() if isinstance(p, torch.nn.Parameter)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", required=True)
    options = p.parse_args()
    torch.set_num_threads(1)
    module = export_plan.MODELS["demo_gpt"].build().train()
    parameters = initializers(module)
    shapes = {name: list(p.shape) for name, p in parameters.items()}
    with torch.no_grad():
        for name, array in draw_weights(shapes).items():
            parameters[name].copy_(torch.from_numpy(array))
    ids, labels = map(torch.from_numpy, draw_tokens())
    optimizer = torch.optim.AdamW(module.parameters(), **ADAMW)
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(module(ids[step]).reshape(-1, VOCABULARY), labels[step].reshape(-1))
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            for name, p in parameters.items():
                g = p.grad.numpy()
                norm = float(np.linalg.norm(g.astype(np.float64)))
                gradients[name] = {"norm": norm, "samples": [float(f"{x:.9g}") for x in samples_of(g)]}
        optimizer.step()
    head = {"made_by": f"torch {torch.__version__}", "losses": losses}
    text = json.dumps({**head, "shapes": shapes, "gradients": gradients}, indent=1)
    text = re.sub(r"\[[^][]*\]", lambda m: " ".join(m[0].split()).replace("[ ", "[").replace(" ]", "]"), text)  # a list a line
    Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
