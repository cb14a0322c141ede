#!/usr/bin/env python3
"""Trainers of nets that are nearly a pattern against PyTorch: loss, gradients and three steps, fused and not.

  near_test.py --shardcc build/shardcc [--all] [--ranks N ...] [NAME ...]

The nets are those of models/near.py. Without --all a third of them is tried, of each kind some.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "models"))

import compare  # noqa: E402
from model import QUICK_CC, REPOSITORY, Model, for_models, parser  # noqa: E402

EVERY = 3  # one of so many nets is in the suite


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--ranks", type=int, nargs="+", default=[1])
    p.set_defaults(models=REPOSITORY / "models/near")
    options, summary = p.parse_args(), compare.Summary()
    nets = sorted(path.stem for path in options.models.glob("*.onnx"))
    options.names = options.names or (nets if options.all else nets[::EVERY])

    def one(checks, path, work):
        for way in ([], ["--no-fuse"]):
            model = Model(path, options.shardcc, work / "".join(["fused", *way]), cc=QUICK_CC)
            for ranks in options.ranks:
                compare.test(checks, summary, model, ranks, way)

    try:
        for_models(options, one)
    finally:
        summary.print()


if __name__ == "__main__":
    main()
