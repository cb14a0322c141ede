#!/usr/bin/env python3
"""Random nets of equal or nearly equal blocks, exported with PyTorch's losses, gradients and curves.

  nets.py --out DIR [--count 200] [--seed 0]     nets SEED to SEED + COUNT - 1: net_SEED.onnx, .npz, .json
  nets.py --out DIR --spec FILE ...              the nets of such files (net_SEED.json has its own under "net")

A net is drawn as a spec, a table of plain values (see draw), and a module is built from it. A failing net can thus be
made smaller by hand or by shrink.py. Its blocks have the same operations (net_ops.py, net_images.py); the settings may differ by layer.

The references are made in double. If a net's float32 differs from that by more than CONDITION, another net is drawn
from the same seed, because no float32 program can be compared with it. "noise/NAME" is the difference of PyTorch's
gradient.
"""
import argparse
import json
import random
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import export  # noqa: E402
import reference  # noqa: E402
import net_images  # noqa: E402, F401 (enters its operations in OPS)
from net_ops import OPS  # noqa: E402
from zoo import Case  # noqa: E402

CONDITION = 1e-5  # relative, of the loss and of every gradient
STEPS = 3
CLASSES = 5
SIZES = {
    "vec": lambda r: [r.choice([4, 6, 8, 12, 16])],
    "seq": lambda r: [r.choice([3, 5, 6, 8]), r.choice([4, 8, 12])],
    "img": lambda r: [r.choice([4, 6, 8, 16]), r.choice([4, 5, 6, 8]), r.choice([4, 6, 7])],
}
CURVES = [
    dict(optimizer="sgd", lr=0.01, momentum=0.9),
    dict(optimizer="sgd", lr=0.02),
    dict(optimizer="sgd", lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.01),
    dict(optimizer="adamw", lr=1e-3, weight_decay=0.01),
    dict(optimizer="adam", lr=1e-3),
    dict(optimizer="adagrad", lr=0.01),
    dict(optimizer="sgd", lr=0.05, clip_norm=0.3),
    dict(optimizer="adamw", lr=1e-3, weight_decay=0.01, clip_norm=0.5),
]
WIRES = ["chain", "chain", "skip", "skip", "scaled", "gate", "dense", "u", "streams", "reversible", "post", "wide"]


# ---- drawing ----


def draw_setting(r, choices):
    return float(f"{r.uniform(*choices):.3g}") if isinstance(choices, tuple) else r.choice(choices)


def draw_op(r, kind):
    name = r.choice([n for n, (_, kinds, _) in OPS.items() if kind in kinds])
    return {"op": name, **{key: draw_setting(r, choices) for key, choices in OPS[name][2].items()}}


def varied(r, block, chance):
    """A block like `block`, with some settings drawn again."""
    again = lambda o, key: r.random() < chance and key != "name"
    return [{k: draw_setting(r, OPS[o["op"]][2][k]) if k != "op" and again(o, k) else v for k, v in o.items()} for o in block]


def draw(seed, attempt=0):
    """The spec of a net."""
    r = random.Random(seed * 1000 + attempt)
    kind = r.choice(["vec", "seq", "seq", "img", "img"])
    layers = r.choice([1, 2, 3, 3, 3, 4, 4, 5, 6])
    block = [draw_op(r, kind) for _ in range(r.randint(1, 5))]
    chance = r.choice([0, 0, 0.3, 1])
    blocks = [block] + [varied(r, block, chance) for _ in range(layers - 1)]
    twice = r.random() < 0.15 and not has_batch_norm(blocks)
    return dict(
        kind=kind,
        shape=SIZES[kind](r),
        batch=r.choice([3, 4, 6, 8, 16]),
        tokens=kind == "seq" and r.random() < 0.5,
        stem=r.random() < 0.8,
        blocks=blocks,
        module=[r.randrange(i + 1) for i in range(layers)] if twice else list(range(layers)),
        wire=r.choice(WIRES),
        numbers=[[round(r.uniform(0.4, 1.2), 2) for _ in "ab"] for _ in range(layers)] if r.random() < 0.5 else [[0.8, 0.6]] * layers,
        head=r.choice(["flatten", "mean", "all", "amax"]),
        mse=r.random() < 0.5,
        curve=r.choice(CURVES),
        exporter="dynamo" if r.random() < 0.3 else "legacy",
    )


def has_batch_norm(blocks):
    """shardcc makes no program with a batch norm that is used twice."""
    return any(o.get("batch") or o.get("name") == "batch" for block in blocks for o in block)


# ---- the module ----


def contraction(kind, n):
    """Maps two values, concatenated by channels, to one."""
    return nn.Conv2d(2 * n, n, 1) if kind == "img" else nn.Linear(2 * n, n)


class Net(nn.Module):
    """The module of a spec."""

    def __init__(self, spec):
        super().__init__()
        self.spec, shape, kind = spec, tuple(spec["shape"]), spec["kind"]
        n = shape[0] if kind == "img" else shape[-1]
        if spec["tokens"]:
            self.stem = nn.Embedding(11, n)
        else:
            first = nn.Conv2d(3, n, 3, padding=1) if kind == "img" else nn.Linear(5, n)
            self.stem = first if spec["stem"] else nn.Identity()
        build = lambda o: OPS[o["op"]][0](shape, **{k: v for k, v in o.items() if k != "op"})
        self.blocks = nn.ModuleList(nn.Sequential(*map(build, block)) for block in spec["blocks"])
        if spec["wire"] == "wide":
            self.contract = nn.ModuleList(contraction(kind, n) for _ in self.blocks)
        self.head = nn.Linear(int(np.prod(shape)) if spec["head"] == "flatten" else n, CLASSES)

    def forward(self, x):
        x = self.wired(self.stem(x))
        if self.spec["kind"] == "img":
            x = x.permute(0, 2, 3, 1)
        if self.spec["head"] == "flatten":
            x = x.flatten(1)
        elif self.spec["head"] != "all" and x.dim() > 2:
            x = x.flatten(1, -2)
            x = x.mean(1) if self.spec["head"] == "mean" else x.amax(1)
        return self.head(x)

    def wired(self, x):
        wire, seen, other = self.spec["wire"], [x], x
        layers = [(i, self.blocks[i], *self.spec["numbers"][at]) for at, i in enumerate(self.spec["module"])]
        half = len(layers) // 2
        for at, (i, f, a, b) in enumerate(layers):
            if wire == "chain":
                x = f(x)
            elif wire == "skip":
                x = x + f(x)
            elif wire == "scaled":
                x = x * a + f(x) * b
            elif wire == "gate":
                x = x + torch.sigmoid(x * a) * f(x)
            elif wire == "dense":
                x = f(sum(seen) * (1 / len(seen)))
            elif wire == "u":
                x = f(x + b * seen[len(layers) - at] if at > half else x)
            elif wire == "streams":
                x, other = other + a * x, f(x)
            elif wire == "reversible":
                x, other = other, x + f(other)
            elif wire == "post":
                x = torch.tanh(x + f(x))
            elif wire == "wide":
                x = self.contract[i](torch.cat([x, f(x)], 1 if self.spec["kind"] == "img" else -1))
            seen.append(x)
        return x + other if wire in ("streams", "reversible") else x


def case_of(spec):
    kind, shape, batch = spec["kind"], spec["shape"], spec["batch"]

    def inputs(g):
        if spec["tokens"]:
            return {"x": torch.randint(0, 11, (batch, shape[0]), generator=g)}
        own = [3, *shape[1:]] if kind == "img" else [*shape[:-1], 5]
        return {"x": torch.randn([batch, *(own if spec["stem"] else shape)], generator=g)}

    def labels(g, x):
        outer = {"vec": [], "seq": shape[:1], "img": shape[1:]}[kind] if spec["head"] == "all" else []
        if spec["mse"]:
            return torch.randn([batch, *outer, CLASSES], generator=g)
        return torch.randint(0, CLASSES, [batch, *outer], generator=g)

    return Case(Net(spec), inputs, labels, "mse" if spec["mse"] else "cross_entropy")


# ---- references ----


class IllConditioned(Exception):
    pass


def write_case(name, case, folder, curve, exporter, more=None, moves=0):
    """Writes a case's files, with random weights."""
    reference.randomize(case.module)
    batches = reference.draw_smooth_batches(case)
    if more:
        check(case, batches)
    # The legacy exporter merges batch norms into convolutions, unless it is told that this is training.
    changes = dict(exporter=exporter, training_graph=exporter == "legacy", out=folder)
    options = export.with_defaults(argparse.Namespace(opset=0, steps=STEPS, size="tiny", optimize=False, dynamic_batch=False), **changes)
    path = folder / f"{name}.onnx"
    model = export.write_model(case, batches[0][0], path, options)
    matching = reference.Matching(model, case.module, folder)
    arrays = reference.exact_references(case, batches, matching, curve, STEPS, moves)
    facts = export.facts(name, case, model, matching, options)
    for key in ("adamw", "sgd"):
        facts.pop(key)
    still = [n for n, p in case.module.named_parameters() if not p.requires_grad]
    frozen = [i for i, (p, _) in matching.parameters.items() if p in still]  # the legacy exporter's file doesn't say that they are frozen
    facts.update(extra=dict(curve=curve), frozen=frozen, **(more or {}))
    np.savez_compressed(path.with_suffix(".npz"), **arrays)
    path.with_suffix(".json").write_text(json.dumps(facts) + "\n")


def write_net(name, spec, folder):
    """Writes a net's files, or raises IllConditioned."""
    torch.manual_seed(0)
    try:
        write_case(name, case_of(spec), Path(folder), spec["curve"], spec["exporter"], dict(net=spec))
    except torch.onnx.errors.OnnxExporterError:
        if spec["exporter"] == "dynamo":
            raise
        write_net(name, {**spec, "exporter": "dynamo"}, folder)


def check(case, batches):
    """Raises IllConditioned if float32 is too imprecise for a comparison."""
    found, exact = reference.both_precisions(case, batches[:1])
    if not np.isfinite(exact["loss"]) or exact["loss"] > 1e3:
        raise IllConditioned("loss")
    least = 1e-5 * max(np.linalg.norm(g) for g in exact["gradients"].values())
    if not np.isfinite(least) or least > 1 or least < 1e-9:
        raise IllConditioned("size of gradients")
    for name, g in exact["gradients"].items():
        if np.linalg.norm(g) > least and np.linalg.norm(found["gradients"][name] - g) > CONDITION * np.linalg.norm(g):
            raise IllConditioned(name)


def reason(error):
    """A line of an error. The exporter puts advice after the reason."""
    while isinstance(error, torch.onnx.errors.OnnxExporterError) and error.__cause__:
        error = error.__cause__
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:200]}"


def print_failed(name, error):
    """One line for a case that could not be written."""
    print(f"{name} FAILED {reason(error)}", flush=True)


def write_named(doc, cases, write):
    """The main of a script of named cases: lists them, or calls write(name, folder) for some or all, and prints its words. Exit status 1: some failed."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("names", nargs="*")
    p.add_argument("--out", default="out")
    p.add_argument("--list", action="store_true")
    options = p.parse_args()
    if options.list:
        print(len(cases), *cases)
        return
    torch.set_num_threads(1)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in options.names or cases:
        try:
            said = write(name, Path(options.out)) or "written"
            print(f"{name}: {said}", flush=True)
        except Exception as e:
            failed += 1
            print_failed(name, e)
    print(f"{failed} failed", flush=True)
    sys.exit(failed > 0)


def write_drawn(seed, folder):
    """Writes net `seed`; returns how often it was drawn."""
    for attempt in range(50):
        try:
            write_net(f"net_{seed}", draw(seed, attempt), folder)
            return attempt + 1
        except IllConditioned:
            pass
    raise RuntimeError(f"net {seed} is ill-conditioned whichever way it is drawn")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", required=True)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--spec", nargs="*", help="files of specs")
    options = p.parse_args()
    torch.set_num_threads(1)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    drawn, failed = 0, 0
    if options.spec:
        for file in map(Path, options.spec):
            spec = json.loads(file.read_text())
            write_net(file.stem, spec.get("net", spec), folder)
        return
    for seed in range(options.seed, options.seed + options.count):
        try:
            drawn += write_drawn(seed, folder)
        except Exception as e:
            failed += 1
            print_failed(f"net_{seed}", e)
    print(f"{options.count - failed} nets, drawn {drawn} times; {failed} failed", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
