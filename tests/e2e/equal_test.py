#!/usr/bin/env python3
"""Programs of several ranks against that of one: the same gradients and curves but for the order of sums, the same bits
in a second run. And what their ranks hand to collectives, counted at the runtime's calls, is what the plan's file says.

  equal_test.py --shardcc build/shardcc [--all] [NAME ...]

Every model is sharded over a mesh by the search and by a preset; with --all, in all of these ways. Models
with a dynamic batch take a step in two micro-batches. Plans are for a machine so slow that splitting pays even for tiny
models. With slow links too, communication overlaps computation, which changes no bit.
"""
import json
from collections import Counter
from pathlib import Path

import numpy as np

from harness import MPI_ENV, mpirun, read_safetensors, relative, run, sent_rows
from model import QUICK_CC, REPOSITORY, Model, curves_of, for_models, parser

DYNAMIC = REPOSITORY / "models/tiny_dynamic"
SLOW, SLOW_LINK = (Path(__file__).with_name(name) for name in ("slow.json", "slow_link.json"))
SEARCHED = [(mesh, None) for mesh in ("2", "3", "2x2", "4", "2x3", "6", "8", "2x4", "2x2x2")]
KNOWN = [("2", "megatron"), ("3", "fsdp"), ("2x2", "ulysses"), ("2x2", "zero2=2,megatron-sp=2")]
SOME = 3  # meshes of SEARCHED; without --all a model tries one of them
ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}


def ranks_of(mesh):
    return int(np.prod([int(n) for n in mesh.split("x")]))


def train(model, trainer, ranks, tag, *more, watch=True):
    """Trains; returns the losses, the gradients of the first step, and the weights at the end."""
    gradients, weights = model.work / f"gradients_{tag}", model.work / f"weights_{tag}"
    launch = mpirun(ranks) if ranks > 1 else []
    files = ["--save-gradients", gradients, "--save", weights, "--threads", 1, *more]
    losses = model.train(trainer, None, *files, launch=launch, env=ENV, watch=watch)
    return losses, gradients, weights


def compare(checks, name, found, expected, info):
    """Compares the losses of five steps, and the gradients that are larger than rounding errors. Gradients of batch norm are
    sums of numbers that nearly cancel: fused and unfused programs differ as much."""
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


def planned(path):
    """Bytes of a step by collective and axis. A collective along two axes counts for the first one."""
    total = Counter()
    for c in json.loads(path.read_text())["collectives"]:
        total[c["kind"], c["axis"].split("+")[0]] += c.get("bytes", 0) * c["times"]
    return total


def counted(text):
    """The last table of --profile."""
    return Counter({(kind, axis): n for kind, axis, n in sent_rows(text)})


def check_bytes(checks, name, printed, plan):
    sent, expected = counted(printed), planned(plan)
    said = ", ".join(f"{kind} {axis} {n}" for (kind, axis), n in sent.items())
    checks.check(f"{name}: bytes", sent == expected, said if sent == expected else f"{said}, not {dict(expected)}")


def is_same(a, b):
    return a[0] == b[0] and all(x.read_bytes() == y.read_bytes() for x, y in zip(a[1:], b[1:]))


def test(checks, model, ways, accumulate):
    micro = ["--accumulate", accumulate]
    alone = train(model, model.compile("alone", None, *micro), 1, "alone")
    for k, (mesh, preset) in enumerate(ways):
        ranks, tag, plan = ranks_of(mesh), f"way_{k}", model.work / f"way_{k}.plan.json"
        spread = ["--ranks", ranks, "--mesh", mesh, *(["--plan-preset", preset] if preset else [])]
        run(model.shardcc, "plan", model.onnx, *model.arguments(curves_of(model.info)["adamw"]), *micro, *spread,
            "--cluster", SLOW, "-o", plan)
        trainer = model.compile(tag, None, *micro, "--cluster", SLOW, "--plan", plan)
        name = f"{model.name} on {mesh}{' as ' + preset if preset else ''}"
        first = train(model, trainer, ranks, tag, "--profile")
        check_bytes(checks, name, model.printed, plan)
        compare(checks, name, first, alone, model.info)
    kept = model.work / "kept.plan.json"
    kept.write_text(plan.read_text().replace('"recompute": "min_cut"', '"recompute": "none"'))
    keeping = model.compile("keeping", None, *micro, "--cluster", SLOW, "--plan", kept)
    compare(checks, f"{name}, all kept", train(model, keeping, ranks, "keeping"), first, model.info)
    again = train(model, trainer, ranks, "again")
    checks.check(f"{name}: same bits again", is_same(first, again))
    beside = model.compile("beside", None, *micro, *spread, "--cluster", SLOW_LINK)
    first = train(model, beside, ranks, "beside", watch=False)
    compare(checks, f"{name} during computation", first, alone, model.info)
    for option in "--no-overlap", "--check-arena":
        checks.check(f"{name}: same bits with {option}", is_same(first, train(model, beside, ranks, "again", option, watch=False)))



def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.set_defaults(jobs=4)  # ranks wait for each other
    options = p.parse_args()
    names = sorted(x.stem for x in options.models.glob("*.onnx"))

    def one(checks, path, work):
        at, dynamic = names.index(path.stem), DYNAMIC / path.name
        ways = SEARCHED + KNOWN if options.all else [SEARCHED[at % SOME], KNOWN[at % len(KNOWN)]]
        model = Model(dynamic if dynamic.exists() else path, options.shardcc, work, path.with_suffix(".npz"), QUICK_CC)
        test(checks, model, ways, 2 if dynamic.exists() else 1)

    for_models(options, one)


if __name__ == "__main__":
    main()
