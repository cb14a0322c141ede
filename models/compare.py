#!/usr/bin/env python3
"""Trainers of nets and families against PyTorch in double: loss, gradients, a curve of three steps.

  compare.py --shardcc build/shardcc --models DIR [--ranks 1] [--work DIR] [--jobs 2] [--remove] [NAME ...]

For each NAME.onnx in DIR with its NAME.npz and NAME.json (made by nets.py or families.py). A trainer runs with
--check-arena. A model that shardcc refuses with a reason of the model's own counts as refused, not as failed; the
closing lines say which reasons there were, and the largest errors.

A gradient may be 1e-4 off, relative to its norm, the loss 1e-5, the curve 1e-4 behind its first step; or ten times as
far as PyTorch's own float32 is: of batch norms over few samples even that is more. A gradient that is 0 but for
rounding may be 1e-7 of the largest one.
"""
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/e2e"))

from harness import MPI_ENV, mpirun, read_log, read_safetensors  # noqa: E402
from model import Model, curves_of, for_models, parser  # noqa: E402

LOSS, GRADIENT, CURVE, ZERO = 1e-5, 1e-4, 1e-4, 1e-7
NEARLY_0 = 1e-3  # of the first loss: smaller ones are what is left of numbers as large as that
OF_NOISE = 10
# Reasons of the model: what a message of shardcc says with names and numbers left out.
REASONS = [r"operator \S+ is not supported", r"is not supported", r"float16|bfloat16|f16", r"no trained"]


class Refused(Exception):
    pass


class Failed(Exception):
    pass


def call(*args, env=None):
    args = [str(a) for a in args]
    done = subprocess.run(args, capture_output=True, text=True, timeout=600, env=env)
    return done.returncode, done.stdout + done.stderr


def compile_model(model, ranks):
    """The trainer; an exception if there is none."""
    tag, curve = next(iter(curves_of(model.info).items()))
    trainer = model.work / f"{model.name}_{ranks}"
    more = ["--ranks", ranks] if ranks > 1 else []
    if model.info["exporter"] == "legacy":  # its files don't say what is a buffer
        tables = [n for n in model.info["initializer_is_buffer"] if not n.split(".")[-1].startswith("running_")]
        more += [word for table in tables for word in ("--freeze", table)]
    status, said = call(model.shardcc, model.onnx, "-o", trainer, *model.arguments(curve), *more)
    if status == 1 and any(re.search(reason, said) for reason in REASONS):
        raise Refused(next(line for line in said.splitlines() if "error" in line))
    if status:
        raise Failed(f"compiling: exit {status}: {said}")
    return trainer, tag, curve


def train(model, trainer, curve, ranks):
    """Losses, gradients of the first step."""
    log, gradients = trainer.with_suffix(".jsonl"), trainer.with_suffix(".gradients")
    options = ["--steps", model.info["steps"], "--no-shuffle", "--quiet", "--log", log, "--threads", 1]
    launch = mpirun(ranks) if ranks > 1 else []
    status, said = call(*launch, trainer, "--data", model.data(curve), *options, "--save-gradients", gradients, "--check-arena", env={**MPI_ENV, "OMP_NUM_THREADS": "1"})
    if status:
        raise Failed(f"training: exit {status}: {said}")
    return [x["loss"] for x in read_log(log)], read_safetensors(gradients)


class Worst:
    """The error that is the largest part of what it may be, and the largest of all."""

    def __init__(self):
        self.part, self.error, self.name = 0.0, 0.0, ""

    def add(self, name, error, bound):
        error = error if np.isfinite(error) else np.inf
        if error / bound > self.part:
            self.part, self.name = error / bound, name
        if error <= bound or not self.error:
            self.error = max(self.error, error)

    def text(self, error):
        return f"{self.part:.2f} of the bound at {self.name} ({error:.1e})"


def norm(a):
    return float(np.linalg.norm(np.asarray(a, np.float64)))


def compare_gradients(model, found, errors):
    """Adds (name, relative error, part of what it may be) of all gradients."""
    expected = {n: model.ref[f"grad/{n}"] for n in model.info["initializer_is"]}
    tied = {n: t for t in model.info["tied"].values() for n in t}
    largest = max(map(norm, expected.values()), default=0.0)
    for name, g in expected.items():
        if name not in found:
            if not set(tied.get(name, ())) & set(found) and norm(g) > ZERO * largest:
                errors.append((f"{name} (missing)", np.inf, np.inf))
            continue
        off = norm(found[name] - g) if found[name].shape == g.shape else np.inf
        bound = max(GRADIENT * norm(g), OF_NOISE * float(model.ref[f"noise/{name}"]), ZERO * largest)
        off = off if np.isfinite(off) else np.inf
        small = bound > GRADIENT * norm(g)
        errors.append((name, 0.0 if small and off <= bound else off / max(norm(g), 1e-300), off / max(bound, 1e-300)))


def compare(model, losses, found):
    """Lists of (name, relative error, part of what it may be): of loss, gradients, curve."""
    loss, noise = float(model.ref["loss"]), float(model.ref["noise_loss"])
    off = abs(losses[0] - loss) if losses else np.inf
    result = dict(loss=[("loss", off / abs(loss), off / max(LOSS * abs(loss), OF_NOISE * noise))], gradients=[], curve=[])
    compare_gradients(model, found, result["gradients"])
    expected, noise = model.ref["curve_curve"], model.ref["noise_curve"]
    if len(losses) != len(expected):
        result["curve"].append(("length", np.inf, np.inf))
    for step, (a, b, n) in enumerate(zip(losses, expected, noise)):
        off, scale = abs(a - b) if np.isfinite(a) else np.inf, max(abs(b), NEARLY_0 * loss)
        result["curve"].append((f"step {step}", off / scale, off / max(CURVE * scale, OF_NOISE * n)))
    return result


class Summary:
    def __init__(self):
        self.ran, self.refused, self.worst = Counter(), defaultdict(list), defaultdict(lambda: (0.0, ""))

    def add(self, ranks, name, errors):
        self.ran[ranks] += 1
        for kind, of_kind in errors.items():
            for what, error, _ in of_kind:
                self.worst[kind, ranks] = max(self.worst[kind, ranks], (error, f"{name} {what}"))

    def print(self):
        for ranks, n in sorted(self.ran.items()):
            worst = ", ".join(f"{kind} {e:.1e} ({at})" for (kind, r), (e, at) in sorted(self.worst.items()) if r == ranks)
            print(f"{n} trained on {ranks} rank{'s' * (ranks > 1)}; largest errors: {worst}")
        for reason, names in sorted(self.refused.items()):
            print(f"refused {len(names)}: {reason}: {' '.join(sorted(set(names)))}")


def test(checks, summary, model, ranks):
    name = f"{model.name} on {ranks}"
    try:
        trainer, tag, curve = compile_model(model, ranks)
        errors = compare(model, *train(model, trainer, curve, ranks))
    except Refused as e:
        reason = re.sub(r"'[^']*'|^[^:]*: error: ", "", str(e)).strip()
        summary.refused[reason].append(model.name)
        return True
    except (Failed, subprocess.TimeoutExpired) as e:
        return checks.check(name, False, str(e).replace("\n", " | ")[:1500])
    summary.add(ranks, model.name, errors)
    worst = {kind: max(of_kind, key=lambda e: e[2]) for kind, of_kind in errors.items() if of_kind}
    bad = {kind: e for kind, e in worst.items() if not e[2] <= 1}
    text = ", ".join(f"{kind} {e[1]:.1e} at {e[0]}" for kind, e in (bad or worst).items())
    return checks.check(name, not bad, text)


def main():
    p = parser(__doc__)
    p.add_argument("--ranks", type=int, nargs="+", default=[1])
    p.add_argument("--remove", action="store_true", help="remove the files of models that are right")
    options, summary = p.parse_args(), Summary()

    def one(checks, path, work):
        model = Model(path, options.shardcc, work)
        right = [test(checks, summary, model, ranks) for ranks in options.ranks]
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
