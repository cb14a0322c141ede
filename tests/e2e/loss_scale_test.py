#!/usr/bin/env python3
"""The scale of the loss, for f16: steps whose gradients aren't finite are skipped, as torch.amp.GradScaler does it.

  loss_scale_test.py --shardcc build/shardcc [--work DIR]

The model is y = size · relu(x · w) · v. A sample of step 5 has a number that is finite in f32 alone.
"""
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_log, read_safetensors, run, side_by_side, write_data
from model import QUICK_CC, gpu_toolkit, parser
from onnx_bytes import model, node, tensor, value

BATCH, WIDE, STEPS, BAD = 8, 6, 9, 5
SMALL = [("scaled", "f16", []), ("plain", "f16", ["--loss-scale", "none"]), ("wide", "f32", [])]
OWN = {"loss_scale", "good_steps"}  # states that a skipped step may change


def write_model(path, size):
    dice = np.random.default_rng(0)
    stored = [tensor(n, (0.3 * dice.normal(size=s)).astype(np.float32)) for n, s in (("w", (WIDE, 16)), ("v", (16, 2)))]
    stored.append(tensor("size", np.float32(size)))
    nodes = [node("MatMul", ["x", "w"], ["z"]), node("Relu", ["z"], ["s"]), node("MatMul", ["s", "v"], ["o"]), node("Mul", ["o", "size"], ["y"])]
    path.write_bytes(model(nodes, [value("x", "f32", ["batch", WIDE])], [value("y", "f32", ["batch", 2])], stored))


def write_samples(folder, steps=STEPS, bad=(), without=(), sample=2):
    """The samples of so many steps; one of each step in `bad` has a number above 65504. Those of the steps `without` are left out."""
    dice = np.random.default_rng(1)
    x = dice.normal(size=(steps * BATCH, WIDE)).astype(np.float32)
    labels = dice.normal(size=(steps * BATCH, 2)).astype(np.float32)
    for step in bad:
        x[(step - 1) * BATCH + sample, 1] = 1e5
    left = [i for i in range(len(x)) if i // BATCH + 1 not in without]
    write_data(folder, {"x": x[left], "labels": labels[left]})
    return folder


class Program:
    def __init__(self, checks, shardcc, work, tag, *options, ranks=1, cuda=None, optimizer="adamw(lr=0.01)", precision="f16", loss="mse(y, labels)", size=1.0):
        self.checks, self.ranks, self.tag, self.shardcc = checks, ranks, tag, shardcc
        self.work = work / tag
        self.work.mkdir(parents=True)
        write_model(self.work / "net.onnx", size)
        self.program = self.work / "net"
        target = ["--target", "cuda", "--cuda", cuda] if cuda else []
        split = ["--ranks", ranks] if ranks > 1 else []
        run(shardcc, self.work / "net.onnx", "-o", self.program, "--cc", QUICK_CC, "--bind", f"batch={BATCH}", "--loss", loss,
            "--optimizer", optimizer, "--precision", precision, *target, *split, *options)  # fmt: skip

    def run(self, name, data, *options, status=0):
        """Trains, and leaves NAME.jsonl and a checkpoint of the last step in NAME; what the program says."""
        launch = mpirun(self.ranks) if self.ranks > 1 else []
        files = ["--log", f"{name}.jsonl", "--checkpoint", name, "--checkpoint-every", 1, "--keep", 1]
        said = run(*launch, self.program, "--data", data, "--no-shuffle", "--quiet", *files, *options, cwd=self.work, status=status, env=MPI_ENV)
        return [x.partition(": ")[2] for x in said.splitlines() if x.startswith("net: ")]

    def end(self, name):
        """All tensors of the checkpoint: parameters, and the optimizer's states."""
        found = {}
        for part in sorted((self.work / name).glob("step-*/*.safetensors")):
            found.update(read_safetensors(part))
        return found

    def log(self, name):
        return read_log(self.work / f"{name}.jsonl")

    def scales(self, name):
        return [x["scale"] for x in self.log(name)]

    def check(self, what, ok, detail=""):
        self.checks.check(f"{self.tag}: {what}", ok, str(detail))


def differing(a, b, but=OWN):
    return [n for n in sorted(a.keys() | b.keys()) if n not in but and (n not in a or n not in b or a[n].tobytes() != b[n].tobytes())]


def test_skips(p, bad_sample=2, at_first=65536):
    """Step 5 is skipped: all is as after step 4, but for the scale, and the run goes on as one without its samples."""
    bad = write_samples(p.work / "bad", bad=[BAD], sample=bad_sample)
    without = write_samples(p.work / "without", without=[BAD])
    p.run("before", bad, "--steps", BAD - 1)
    p.run("skipped", bad, "--steps", BAD)
    before, skipped = p.end("before"), p.end("skipped")
    p.check("has the states of the scale", OWN <= before.keys(), sorted(before))
    p.check("parameters, states and step number have their old bits", not differing(before, skipped), differing(before, skipped))
    p.check("the scale is halved", before["loss_scale"] == at_first and skipped["loss_scale"] == at_first / 2, skipped["loss_scale"])
    p.check("good steps are counted anew", before["good_steps"] == BAD - 1 and skipped["good_steps"] == 0)
    said = p.run("all", bad, "--steps", STEPS)
    p.run("other", without, "--steps", STEPS - 1)
    both = p.end("all"), p.end("other")
    p.check("later steps are those of a run without that batch", not said and not differing(*both), said or differing(*both))
    log = p.log("all")
    p.check("the log names the step", [x["step"] for x in log if x.get("skipped")] == [BAD] and len(log) == STEPS)
    p.check("the log has the scale", p.scales("all") == [at_first] * BAD + [at_first / 2] * (STEPS - BAD), p.scales("all"))
    p.check("losses are those of that run", [x["loss"] for x in log if x["step"] != BAD] == [x["loss"] for x in p.log("other")])


def test_resume(p):
    """A run that was stopped after the skipped step goes on with its scale and its count."""
    bad = write_samples(p.work / "bad", bad=[BAD])
    p.run("all", bad, "--steps", STEPS)
    p.run("parts", bad, "--steps", BAD + 1)
    p.run("parts", bad, "--steps", STEPS, "--resume")
    p.check("the same bits", not differing(p.end("all"), p.end("parts"), ()), differing(p.end("all"), p.end("parts"), ()))


def test_grows(p):
    """The scale doubles after the good steps that the interval says; options of the trainer change that."""
    good = write_samples(p.work / "good")
    p.run("three", good, "--steps", 7)
    p.check("doubles after three steps", p.scales("three") == [8, 8, 8, 16, 16, 16, 32], p.scales("three"))
    p.run("two", good, "--steps", 5, "--growth-interval", 2, "--growth-factor", 4)
    p.check("by the trainer's options", p.scales("two") == [8, 8, 32, 32, 128], p.scales("two"))


def test_large(p):
    """A scale that is too large falls until the gradients are finite; then steps are those of a run that began there."""
    good = write_samples(p.work / "good", steps=30)
    p.run("large", good, "--steps", 30)
    log = p.log("large")
    n = next(i for i, x in enumerate(log) if not x.get("skipped"))
    p.check("skips at first", 0 < n < 20 and [x["scale"] for x in log[: n + 1]] == [2.0 ** (24 - i) for i in range(n + 1)], n)
    p.check("counts updates alone", p.end("large")["optimizer_step"] == sum(not x.get("skipped") for x in log))
    later = Program(p.checks, p.shardcc, p.work, "later", "--loss-scale", f"dynamic(init_scale={2 ** (24 - n)})")
    later.run("later", write_samples(p.work / "rest", steps=30, without=range(1, n + 1)), "--steps", 30 - n)
    both = p.end("large"), later.end("later")
    p.check("steps are those of a run that began with that scale", not differing(*both, ()), differing(*both, ()))


def test_fixed(p):
    """A fixed scale stays; its steps are skipped too."""
    bad = write_samples(p.work / "bad", bad=[BAD])
    p.run("fixed", bad, "--steps", STEPS)
    p.check("stays", p.scales("fixed") == [1024] * STEPS and [x["step"] for x in p.log("fixed") if x.get("skipped")] == [BAD], p.scales("fixed"))
    p.run("other", bad, "--steps", STEPS, "--loss-scale", 256)
    p.check("is an option of the trainer", p.scales("other") == [256] * STEPS, p.scales("other"))
    p.check("powers of two change no bit", not differing(p.end("fixed"), p.end("other")), differing(p.end("fixed"), p.end("other")))


def test_stops(p):
    """Two hundred skipped steps in a row stop the run; one less does not."""
    bad = write_samples(p.work / "bad", steps=201, bad=range(2, 202))
    said = p.run("stops", bad, "--steps", 201, status=1)
    start, end = "error: step 201: 200 steps in a row were skipped, with a loss scale of ", "(samples 1600 to 1607); stopped, nothing is saved"
    p.check("says why", len(said) == 1 and said[0].startswith(start) and said[0].endswith(end), said)
    fine = write_samples(p.work / "fine", steps=201, bad=range(2, 201))
    p.check("199 go on", not p.run("fine", fine, "--steps", 201, "--checkpoint-every", 201) and len(p.log("fine")) == 201)


def test_none(p):
    bad = write_samples(p.work / "bad", bad=[BAD])
    said = p.run("none", bad, "--steps", STEPS, status=1)
    p.check("stops at the step", len(said) == 1 and said[0].startswith(f"error: step {BAD}: the loss is "), said)
    p.check("no scale in the log", all("scale" not in x for x in p.log("none")))


def test_small(scaled, plain, wide):
    """Gradients that f16 can't hold: with a scale they are those in f32."""
    found = []
    for p in scaled, plain, wide:
        data = write_samples(p.work / "good")
        p.run("first", data, "--steps", 1, "--save-gradients", "gradients.safetensors")
        found.append(read_safetensors(p.work / "gradients.safetensors"))
    far = [max(np.linalg.norm(g[n] - found[2][n]) / np.linalg.norm(found[2][n]) for n in g) for g in found]
    scaled.check("small gradients are there", far[0] < 0.01, far)
    plain.check("they are lost without a scale", far[1] > 0.05, far)


def main():
    options = parser(__doc__).parse_args()
    checks, toolkit = Checks(), gpu_toolkit(options)
    with tempfile.TemporaryDirectory() as folder:
        make = partial(Program, checks, options.shardcc, Path(options.work or folder).resolve())
        optimizers = ("adamw(lr=0.01)", "sgd(lr=1e-3, momentum=0.9)", "lamb(lr=1e-3)", "adagrad", "rmsprop(lr=1e-3)")
        side_by_side(
            2,
            *(lambda o=o: test_skips(make(o.partition("(")[0], optimizer=o)) for o in optimizers),
            lambda: test_skips(make("micro", "--accumulate", 2, "--clip-norm", 0.5)),
            lambda: test_skips(make("ranks", "--plan-preset", "zero1", ranks=4), bad_sample=7),
            lambda: test_skips(make("alone", "--no-fuse")),
            lambda: test_skips(make("gpu", cuda=toolkit)),
            lambda: test_skips(make("began", "--loss-scale", "dynamic(init_scale=512)"), at_first=512),
            lambda: test_resume(make("resume")),
            lambda: test_grows(make("grows", "--loss-scale", "dynamic(init_scale=8, growth_interval=3)")),
            lambda: test_grows(make("bf16", "--loss-scale", "dynamic(init_scale=8, growth_interval=3)", precision="bf16")),
            lambda: test_large(make("large", "--loss-scale", "dynamic(init_scale=16777216)")),
            lambda: test_fixed(make("fixed", "--loss-scale", 1024)),
            lambda: test_stops(make("stops")),
            lambda: test_none(make("none", "--loss-scale", "none")),
            lambda: test_small(*(make(tag, *o, size=1e-6, loss="l1(y, labels)", precision=t) for tag, t, o in SMALL)),
        )
    checks.finish()


if __name__ == "__main__":
    main()
