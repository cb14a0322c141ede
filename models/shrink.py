#!/usr/bin/env python3
"""Makes a random net smaller as long as compare.py finds fault with it.

  shrink.py --shardcc build/shardcc [--ranks 1] [--out DIR] NET.json

NET.json is one of nets.py's, or a spec alone. The smallest net's files are left in DIR; its spec is printed.
"""
import argparse
import copy
import json
import tempfile
from pathlib import Path

import torch

import compare
import nets
from harness import Checks
from model import Model


def smaller(spec):
    """Specs with one part less; those that save most come first."""

    def changed(**fields):
        result = {**copy.deepcopy(spec), **fields}
        return [result] if result != spec else []

    blocks, n = spec["blocks"], len(spec["blocks"])
    own = list(range(n))
    for i in range(n if n > 1 else 0):
        rest = lambda key: spec[key][:i] + spec[key][i + 1 :]
        yield from changed(blocks=rest("blocks"), numbers=rest("numbers"), module=own[:-1])
    for k in range(len(blocks[0])):
        yield from changed(blocks=[b[:k] + b[k + 1 :] for b in blocks])
    yield from changed(module=own)
    yield from changed(wire="chain")
    yield from changed(wire="skip") if spec["wire"] != "chain" else ()
    yield from changed(blocks=[blocks[0]] * n)
    yield from changed(numbers=[spec["numbers"][0]] * n)
    yield from changed(curve=dict(optimizer="sgd", lr=0.01))
    yield from changed(mse=True)
    yield from changed(head="mean")
    yield from changed(tokens=False)
    yield from changed(stem=False)
    yield from changed(exporter="legacy")
    yield from changed(batch=2)
    for i, size in enumerate(spec["shape"]):
        for less in (2, 4, size - 1):
            if less < size:
                yield from changed(shape=spec["shape"][:i] + [less] + spec["shape"][i + 1 :])


def fault(spec, options, folder):
    """compare.py's complaint about a net; None if there is none."""
    try:
        nets.write_net("net", spec, folder)
    except Exception:  # ill-conditioned, or PyTorch fails: not a fault of shardcc
        return None
    model = Model(folder / "net.onnx", options.shardcc, folder / "work")
    checks, said = Checks(), []
    checks.check = lambda name, ok, detail="": said.append(detail) or ok
    right = compare.test(checks, compare.Summary(), model, options.ranks, [])
    return None if right else said[-1]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("net", type=Path)
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--ranks", type=int, default=1)
    p.add_argument("--out", type=Path, help="keep the smallest net's files here")
    options = p.parse_args()
    torch.set_num_threads(1)
    spec = json.loads(options.net.read_text())
    spec = spec.get("net", spec)
    with tempfile.TemporaryDirectory() as temp:
        folder = options.out or Path(temp)
        folder.mkdir(parents=True, exist_ok=True)
        said = fault(spec, options, folder)
        if not said:
            raise SystemExit("shrink.py: nothing is wrong with this net")
        found = True
        while found:
            found = False
            for less in smaller(spec):
                now = fault(less, options, folder)
                if now:
                    spec, said, found = less, now, True
                    break
        fault(spec, options, folder)
    print(json.dumps(spec))
    print(said)


if __name__ == "__main__":
    main()
