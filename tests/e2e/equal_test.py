#!/usr/bin/env python3
"""Programs of several ranks against that of one: the same gradients and curves but for the order of sums, the same bits
in a second run.

  equal_test.py --shardcc build/shardcc [--all] [NAME ...]

Every model is spread over a mesh by the search; with --all, over all of them.
"""
import numpy as np

from harness import MPI_ENV, mpirun, read_safetensors, relative
from model import Model, for_models, parser

MESHES = ["2", "3", "2x2", "4", "2x3", "6", "8", "2x4", "2x2x2"]
SOME = 3  # from the front
ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}


def ranks_of(mesh):
    return int(np.prod([int(n) for n in mesh.split("x")]))


def train(model, trainer, ranks, tag):
    """Losses, gradients of the first step, weights at the end."""
    gradients, weights = model.work / f"gradients_{tag}", model.work / f"weights_{tag}"
    launch = mpirun(ranks) if ranks > 1 else []
    files = ["--save-gradients", gradients, "--save", weights, "--threads", 1]
    losses = model.train(trainer, None, *files, launch=launch, env=ENV)
    return losses, gradients, weights


def compare(checks, name, found, expected, info):
    """The losses of five steps, and gradients that are more than rounding. Those of batch norm are sums of what nearly
    cancels: fused against unfused they differ as much."""
    worst = max(abs(a - b) / abs(b) for a, b in zip(found[0][:5], expected[0]))
    same_length = len(found[0]) == len(expected[0]) == info["steps"]
    checks.check(f"{name}: curve", same_length and worst <= 1e-4, f"{worst:.1e}")
    ours, theirs = read_safetensors(found[1]), read_safetensors(expected[1])
    norm = {n: np.linalg.norm(g.astype(float)) for n, g in theirs.items()}
    least = 1e-6 * max(norm.values())
    errors = {n: relative(ours[n], g) for n, g in theirs.items() if norm[n] >= least} if ours.keys() == norm.keys() else {}
    at = max(errors, key=errors.get, default="names differ")
    bound = 5e-5 if info["batch_norm"] else 1e-5
    checks.check(f"{name}: gradients", errors and errors[at] <= bound, f"{at} {errors.get(at, np.inf):.1e}")


def test(checks, model, meshes):
    alone = train(model, model.compile("alone"), 1, "alone")
    for mesh in meshes:
        ranks, tag = ranks_of(mesh), f"on_{mesh}"
        trainer = model.compile(tag, None, "--ranks", ranks, "--mesh", mesh)
        first = train(model, trainer, ranks, tag)
        compare(checks, f"{model.name} on {mesh}", first, alone, model.info)
    again = train(model, trainer, ranks, "again")
    same = again[0] == first[0] and all(a.read_bytes() == b.read_bytes() for a, b in zip(again[1:], first[1:]))
    checks.check(f"{model.name} on {meshes[-1]}: same bits again", same)


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    options = p.parse_args()
    names = sorted(x.stem for x in options.models.glob("*.onnx"))

    def one(checks, path, work):
        at = names.index(path.stem)
        test(checks, Model(path, options.shardcc, work), MESHES if options.all else [MESHES[at % SOME]])

    for_models(options, one)


if __name__ == "__main__":
    main()
