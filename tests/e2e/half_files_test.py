#!/usr/bin/env python3
"""Files of programs in half precision: a checkpoint goes on with another --precision, --save writes halves, and a plan is of one precision.

  half_files_test.py --shardcc build/shardcc
"""
from pathlib import Path

import numpy as np

from harness import MPI_ENV, mpirun, read_log, read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, WIDE, STEPS = 8, 6, 6
SCALE = {"loss_scale", "good_steps", "optimizer_step"}  # the states of a scaled loss


class Files:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks
        dice = np.random.default_rng(0)
        stored = [tensor(n, (0.3 * dice.normal(size=s)).astype(np.float32)) for n, s in (("w", (WIDE, 15)), ("v", (15, 2)))]
        nodes = [node("MatMul", ["x", "w"], ["z"]), node("Relu", ["z"], ["s"]), node("MatMul", ["s", "v"], ["y"])]
        self.net = work / "net.onnx"
        self.net.write_bytes(model(nodes, [value("x", "f32", ["batch", WIDE])], [value("y", "f32", ["batch", 2])], stored))
        x, labels = dice.normal(size=(STEPS * BATCH, WIDE)), dice.normal(size=(STEPS * BATCH, 2))
        write_data(work / "data", {"x": x.astype(np.float32), "labels": labels.astype(np.float32)})

    def compile(self, name, precision, optimizer="adamw(lr=0.01)", *options):
        run(self.shardcc, self.net, "-o", self.work / name, "--cc", QUICK_CC, "--bind", f"batch={BATCH}", "--loss", "mse(y, labels)",
            "--optimizer", optimizer, "--precision", precision, *options)  # fmt: skip

    def train(self, program, *options, status=0, ranks=1):
        launch = mpirun(ranks) if ranks > 1 else []
        said = run(*launch, self.work / program, "--data", "data", "--no-shuffle", *options, cwd=self.work, status=status, env=MPI_ENV)
        return [x.partition(": ")[2] for x in said.splitlines() if x.startswith(f"{program}: ")]

    def states(self, folder):
        found = {}
        for part in sorted((self.work / folder).glob("step-*/optimizer*.safetensors")):
            found.update(read_safetensors(part))
        return found


def test_resume(f):
    """A checkpoint of one precision goes on in another one, and says so; states of the scale begin, or are dropped."""
    check = f.checks.check
    for optimizer in ("adamw(lr=0.01)", "sgd(lr=0.01)"):
        kind = optimizer.partition("(")[0]
        for p in ("f32", "bf16", "f16"):
            f.compile(f"{kind}_{p}", p, optimizer)
        for then, now in (("f32", "f16"), ("f16", "bf16"), ("bf16", "f32"), ("f16", "f16")):
            folder, log = f"{kind}_{then}_{now}", f.work / f"{kind}_{then}_{now}.jsonl"
            f.train(f"{kind}_{then}", "--steps", 3, "--checkpoint", folder, "--keep", 1)
            before = f.states(folder)
            said = f.train(f"{kind}_{now}", "--steps", STEPS, "--checkpoint", folder, "--keep", 1, "--resume", "--log", log)
            says = [] if then == now else [f"warning: {folder}: step 3 was made by products in {then}; they are in {now} from here on"]
            check(f"{folder}: says so", said == says, str(said))
            after, steps = f.states(folder), [x["step"] for x in read_log(log)]
            check(f"{folder}: goes on", steps == [4, 5, 6] and SCALE.isdisjoint(before) == (then != "f16"), str(sorted(before)))
            check(f"{folder}: has the states of its precision", SCALE.isdisjoint(after) == (now != "f16"), str(sorted(after)))
            if now == "f16" and kind == "adamw":
                check(f"{folder}: counts the steps before", after["optimizer_step"] == STEPS, str(after["optimizer_step"]))


def rounded(a, precision):
    """An array of f32, rounded to the nearest half; ties to even."""
    if precision == "f16":
        return a.astype(np.float16)
    bits = a.view(np.uint32).astype(np.uint64)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def test_save(f):
    """--save-dtype rounds what --save writes, on one rank and on two; a program loads it."""
    check = f.checks.check
    f.compile("two", "f32", "adamw(lr=0.01)", "--ranks", 2, "--plan-preset", "fsdp")
    f.train("adamw_f32", "--steps", 3, "--save", "wide.safetensors")
    wide = read_safetensors(f.work / "wide.safetensors")
    for precision in ("bf16", "f16"):
        for program, ranks in (("adamw_f32", 1), ("two", 2)):
            path = f.work / f"{program}_{precision}.safetensors"
            f.train(program, "--steps", 3, "--save", "wide.safetensors", ranks=ranks)
            f.train(program, "--steps", 3, "--save", path, "--save-dtype", precision, ranks=ranks)
            wide, found = read_safetensors(f.work / "wide.safetensors"), read_safetensors(path)
            same = all(found[n].view(np.uint16).tobytes() == rounded(a, precision).view(np.uint16).tobytes() for n, a in wide.items())
            check(f"{program}, {precision}: rounded to the nearest", found.keys() == wide.keys() and same)
            check(f"{program}, {precision}: half of the bytes", path.stat().st_size < 0.75 * (f.work / "wide.safetensors").stat().st_size)
        check(f"{precision}: is loaded", not f.train("adamw_f32", "--steps", 1, "--load", path))
    said = f.train("adamw_f32", "--steps", 1, "--lr", 1e6, "--save", "no.safetensors", "--save-dtype", "f16", status=1)
    check("numbers above f16's are refused", len(said) == 1 and said[0].startswith("error: no.safetensors: not saved: 'w'[0, "), str(said))
    check("no file is left", not (f.work / "no.safetensors").exists())
    said = f.train("adamw_f32", "--steps", 1, "--save-dtype", "f16", status=2)
    check("needs --save", said == ["error: --save-dtype needs --save"], str(said))
    said = f.train("adamw_f32", "--steps", 1, "--save", "no.safetensors", "--save-dtype", "half", status=2)
    check("another word", said == ["error: --save-dtype: 'half' is not one of bf16|f16"], str(said))


def test_plan(f):
    """A plan of another precision is refused, and the message says which."""
    train = ["--bind", f"batch={BATCH}", "--loss", "mse(y, labels)", "--optimizer", "adamw"]
    for then, now in (("bf16", "f32"), ("f32", "f16"), ("f16", "bf16")):
        plan = f.work / f"{then}.plan.json"
        run(f.shardcc, "plan", f.net, *train, "--ranks", 2, "--precision", then, "-o", plan)
        said = run(f.shardcc, f.net, *train, "--plan", plan, "--precision", now, "-o", f.work / "no", status=2)
        says = f"--precision: the plan was made for '{then}', not '{now}'"
        run(f.shardcc, f.net, *train, "--plan", plan, "--precision", then, "-o", f.work / f"as_{then}")
        f.checks.check(f"a plan in {then} for {now}", says in said and not (f.work / "no").exists(), said)


def test_all(f):
    test_plan(f)
    test_resume(f)
    test_save(f)


if __name__ == "__main__":
    test_in_folder(Files, test_all)
