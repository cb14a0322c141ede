#!/usr/bin/env python3
"""Trainers of nets and families against PyTorch in double: loss, gradients, a curve of three steps.

  compare.py --shardcc build/shardcc --models DIR [--ranks 1 2] [--preset fsdp] [--precision bf16] [--no-fuse] [--cuda] [--work DIR] [--remove] [--results FILE] [NAME ...]

For each NAME.onnx in DIR with its NAME.npz and NAME.json (made by nets.py or families.py). A trainer runs with
--check-arena; several ranks are planned for machines so slow that splitting pays. With --cuda it runs on the tests' GPU
(tests/cuda), which checks what kernels access. A model that shardcc refuses for a reason of the model's own counts as
refused, not as failed; the closing lines say which reasons there were. --results adds a line of JSON to a file for each
comparison, of which models_table.py makes docs/models.md.

A gradient may be 1e-4 off, relative to its norm, the loss 1e-5, a later loss 1e-4. A model is ill-conditioned where PyTorch's own
float32 is farther than that from its double, as after batch norms over few samples: then three times as much is allowed as
PyTorch moves when its inputs are one unit in the last place off, five times over; the closing lines say where, and by how
much. A gradient that is 0 except for rounding may be 1e-7 of the largest one.

With --precision losses may be 2 % off, and the cosine of all gradients together, a vector, is at least 0.95: models that choose
experts or keys by scores may choose others. f16 has a loss scale of 1024, with which no step of these models is skipped.
"""
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/e2e"))

from harness import MPI_ENV, mpirun, read_log, read_safetensors  # noqa: E402
from model import QUICK_CC, Model, curves_of, for_models, gpu_toolkit, parser  # noqa: E402

LOSS, GRADIENT, CURVE, ZERO = 1e-5, 1e-4, 1e-4, 1e-7
HALF_LOSS, HALF_ANGLE = 2e-2, 5e-2  # the angle: 1 - cosine
HALVES = {"bf16": ["--precision", "bf16"], "f16": ["--precision", "f16", "--loss-scale", "1024"]}
NEARLY_0 = 1e-3  # of the first loss: smaller losses are differences of numbers of its size
OF_NOISE = 3
SLOW = Path(__file__).parents[1] / "tests/e2e/slow.json"
# Reasons of the model: shardcc's messages without names and numbers.
REASONS = [r"is not supported", r"must be known when compiling", r"trainers don.t compute in (f16|bf16)"]


class Refused(Exception):
    pass


class Failed(Exception):
    pass


def call(*args, env=None):
    args = [str(a) for a in args]
    done = subprocess.run(args, capture_output=True, text=True, timeout=600, env=env)
    return done.returncode, done.stdout + done.stderr


def compile_model(model, ranks, way):
    """The trainer; an exception if there is none."""
    curve = next(iter(curves_of(model.info).values()))
    trainer = model.work / f"{model.name}_{ranks}"
    more = [*way, *(["--ranks", ranks, "--cluster", SLOW] if ranks > 1 else [])]
    if model.info["exporter"] == "legacy":  # its files don't mark buffers
        tables = [n for n in model.info["initializer_is_buffer"] if not n.split(".")[-1].startswith("running_")]
        more += [word for table in tables for word in ("--freeze", table)]
    more += [word for name in model.info["frozen"] for word in ("--freeze", name)]
    status, said = call(model.shardcc, model.onnx, "-o", trainer, *model.options(curve), *more)
    if status == 1 and any(re.search(reason, said) for reason in REASONS):
        raise Refused(next(line for line in said.splitlines() if "error" in line))
    if status:
        raise Failed(f"compiling: exit {status}: {said}")
    return trainer, curve


def train(model, trainer, curve, ranks):
    """Trains; returns the losses and the gradients of the first step."""
    log, gradients = trainer.with_suffix(".jsonl"), trainer.with_suffix(".gradients")
    options = ["--steps", model.info["steps"], "--no-shuffle", "--quiet", "--log", log]
    options += [] if model.cuda else ["--threads", 1, "--check-arena"]
    launch = mpirun(ranks) if ranks > 1 else []
    status, said = call(*launch, trainer, "--data", model.data(curve), *options, "--save-gradients", gradients, env={**MPI_ENV, "OMP_NUM_THREADS": "1"})
    if status:
        raise Failed(f"training: exit {status}: {said}")
    losses, steps = [x["loss"] for x in read_log(log)], len(model.ref["curve_curve"])
    if len(losses) != steps:
        raise Failed(f"{len(losses)} losses, not {steps}")
    return losses, read_safetensors(gradients)


def norm(a):
    return float(np.linalg.norm(np.asarray(a, np.float64)))


class Error:
    """The error of a number or a tensor, relative to its norm, and as a part of the allowed error."""

    def __init__(self, name, off, size, bound, noise=0.0, zero=0.0):
        off = off if np.isfinite(off) else np.inf
        allowed = max(bound * size, OF_NOISE * noise, zero)
        self.noise = float(noise / max(size, 1e-300))
        self.name, self.relative, self.part = name, float(off / max(size, 1e-300)), float(off / max(allowed, 1e-300))
        self.is_zero = bool(size <= zero)
        self.is_noisy = bool(not self.is_zero and OF_NOISE * noise > bound * size)

    def text(self):
        kind = " (0 but for rounding)" if self.is_zero else f" (ill-conditioned, PyTorch moves by {self.noise:.1e})" if self.is_noisy else ""
        return f"{self.relative:.1e} at {self.name}{kind}"


def trained(model, found):
    """The names of the gradients that a run should give; of tied parameters it may give one."""
    tied = {n: t for t in model.info["tied"].values() for n in t}
    return [n for n in model.info["initializer_is"]
            if n not in model.info["frozen"] and (n in found or not set(tied.get(n, ())) & set(found))]  # fmt: skip


def gradient_errors(model, found):
    expected = {n: model.ref[f"grad/{n}"] for n in model.info["initializer_is"]}
    zero = ZERO * max(map(norm, expected.values()), default=0.0)
    for name in trained(model, found):
        g = expected[name]
        if name in found:
            off = norm(found[name] - g) if found[name].shape == g.shape else np.inf
            yield Error(name, off, norm(g), GRADIENT, float(model.ref[f"noise/{name}"]), zero)
        elif norm(g) > zero:
            yield Error(f"{name} (missing)", np.inf, norm(g), GRADIENT)


def compare(model, losses, found):
    """Lists of errors: of the loss, the gradients, the curve."""
    loss, expected, noise = float(model.ref["loss"]), model.ref["curve_curve"], model.ref["noise_curve"]
    return dict(
        loss=[Error("loss", abs(losses[0] - loss), abs(loss), LOSS, float(model.ref["noise_loss"]))],
        gradients=list(gradient_errors(model, found)),
        curve=[
            Error(f"step {step}", abs(a - b), max(abs(b), NEARLY_0 * loss), CURVE, n)
            for step, (a, b, n) in enumerate(zip(losses, expected, noise))
        ],
    )


def angle(model, found):
    """1 - the cosine of the angle of the trained gradients, as one vector, to PyTorch's. A missing one is 0."""
    expected = {n: model.ref[f"grad/{n}"] for n in trained(model, found)}
    given = {n: found[n] for n in expected if n in found}
    ours, theirs = (norm([norm(g) for g in x.values()]) for x in (given, expected))
    product = sum(np.vdot(g.astype(np.float64), expected[n]) for n, g in given.items())
    return 1 - product / (ours * theirs) if ours * theirs else float(ours != theirs)


def compare_halves(model, losses, found):
    """Lists of errors, as compare() gives them, of a program whose products are in halves."""
    loss, expected = float(model.ref["loss"]), model.ref["curve_curve"]
    return dict(
        loss=[Error("loss", abs(losses[0] - loss), abs(loss), HALF_LOSS)],
        gradients=[Error("all gradients' angle", angle(model, found), 1, HALF_ANGLE)],
        curve=[Error(f"step {step}", abs(a - b), max(abs(b), NEARLY_0 * loss), HALF_LOSS) for step, (a, b) in enumerate(zip(losses, expected))],
    )


class Summary:
    def __init__(self):
        self.ran, self.refused, self.worst = Counter(), defaultdict(set), {}
        self.moves = defaultdict(lambda: defaultdict(float))  # by ranks and name of an ill-conditioned model: PyTorch's worst move

    def add(self, ranks, name, errors):
        self.ran[ranks] += 1
        for kind, of_kind in errors.items():
            for e in of_kind:
                if e.is_noisy:
                    self.moves[ranks][name] = max(self.moves[ranks][name], e.noise)
                elif not e.is_zero and e.relative > self.worst.get((kind, ranks), (0.0, ""))[0]:
                    self.worst[kind, ranks] = e.relative, f"{name} {e.name}"

    def print(self):
        for ranks, n in sorted(self.ran.items()):
            worst = ", ".join(f"{kind} {e:.1e} ({at})" for (kind, r), (e, at) in sorted(self.worst.items()) if r == ranks)
            print(f"{n} trained on {ranks} rank{'s' * (ranks > 1)}; largest errors: {worst}")
            for name, move in sorted(self.moves[ranks].items()):
                print(f"ill-conditioned: {name} on {ranks}: PyTorch moves by up to {move:.1e}")
        for reason, names in sorted(self.refused.items()):
            print(f"refused {len(names)}: {reason}: {' '.join(sorted(names))}")


def record(file, model, ranks, way, **found):
    """Adds a line to the file of --results."""
    if file:
        with file.open("a") as f:
            f.write(json.dumps(dict(name=model.name, ranks=ranks, way=way, **found)) + "\n")


def test(checks, summary, model, ranks, way, results=None):
    name = " ".join([f"{model.name} on {ranks}", *way])
    try:
        trainer, curve = compile_model(model, ranks, way)
        errors = (compare_halves if "--precision" in way else compare)(model, *train(model, trainer, curve, ranks))
    except Refused as e:
        record(results, model, ranks, way, refused=str(e))
        summary.refused[re.sub(r"'[^']*'|^[^:]*: error: ", "", str(e)).strip()].add(model.name)
        return True
    except (Failed, subprocess.TimeoutExpired) as e:
        record(results, model, ranks, way, failed=str(e)[:1500])
        return checks.check(name, False, str(e).replace("\n", " | ")[:1500])
    summary.add(ranks, model.name, errors)
    worst = {kind: max(of_kind, key=lambda e: e.part) for kind, of_kind in errors.items() if of_kind}
    bad = {kind: e for kind, e in worst.items() if not e.part <= 1}
    said = (bad or worst).items()
    numbers = {kind: dict(error=e.relative, part=e.part, moves=e.noise * e.is_noisy, zero=e.is_zero) for kind, e in worst.items()}
    record(results, model, ranks, way, **numbers)
    text = ", ".join(f"{kind} {e.text()}" for kind, e in said)
    return checks.check(name, not bad, text)


def main():
    p = parser(__doc__)
    p.add_argument("--ranks", type=int, nargs="+", default=[1])
    p.add_argument("--cuda", action="store_true", help="as programs for GPUs")
    p.add_argument("--remove", action="store_true", help="remove the files of models that are right")
    p.add_argument("--no-fuse", action="store_true", help="as shardcc's option")
    p.add_argument("--precision", choices=HALVES, help="of products")
    p.add_argument("--preset", help="how several ranks share the work, instead of a search")
    p.add_argument("--results", type=Path, help="a file that gets a line of JSON for each comparison")
    options, summary = p.parse_args(), Summary()
    way = ["--plan-preset", options.preset] if options.preset else []
    always = [*(["--no-fuse"] if options.no_fuse else []), *HALVES.get(options.precision, [])]
    toolkit = gpu_toolkit(options) if options.cuda else None

    def one(checks, path, work):
        model = Model(path, options.shardcc, work, cc=QUICK_CC if toolkit else "cc", cuda=toolkit)
        right = [test(checks, summary, model, ranks, [*always, *(way if ranks > 1 else [])], options.results) for ranks in options.ranks]
        if options.remove and all(right):
            for file in path.parent.glob(f"{path.stem}.*"):
                file.unlink()
        for file in model.work.rglob("*") if all(right) else ():
            if file.is_file():
                file.unlink()

    try:
        for_models(options, one)
    finally:
        summary.print()


if __name__ == "__main__":
    main()
