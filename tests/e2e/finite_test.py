#!/usr/bin/env python3
"""Nothing that isn't finite is saved: gradients that are NaN or infinite while the loss is finite stop a run before anything is
written, or it goes back to the last checkpoint; states and weights that became so are refused by name; `checkpoint verify` and
`--resume` know files that hold them.

  finite_test.py --shardcc build/shardcc [--work DIR]

The model is y = sqrt(x · w) · v, whose gradient of w is NaN for a sample of zeros.
"""
import re
import tempfile
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_log, read_safetensors, run, write_data
from model import QUICK_CC, gpu_toolkit, parser
from onnx_bytes import model, node, tensor, value

BATCH, STEPS, BAD = 4, 8, 5  # a sample of step 5 is zeros
WIDE = 4


def write_model(path, mask=False):
    dice = np.random.default_rng(0)
    stored = [tensor("w", dice.uniform(0.1, 1, (WIDE, WIDE)).astype(np.float32)), tensor("v", dice.uniform(0.1, 1, (WIDE, 2)).astype(np.float32))]
    nodes = [node("MatMul", ["x", "w"], ["z"], "mm"), node("Sqrt", ["z"], ["s"], "root")]
    last = "s"
    if mask:
        stored.append(tensor("mask", np.float32([0, 0, -np.inf, 0])))
        nodes += [node("Add", ["s", "mask"], ["masked"], "add"), node("Softmax", ["masked"], ["p"], "softmax", axis=1)]
        last = "p"
    nodes.append(node("MatMul", [last, "v"], ["y"], "head"))
    path.write_bytes(model(nodes, [value("x", "f32", ["batch", WIDE])], [value("y", "f32", ["batch", 2])], stored))


def write_samples(folder, bad=(), without=()):
    """Samples of all steps and more; a sample of each step in `bad` is zeros. Those of the steps `without` are left out."""
    dice = np.random.default_rng(1)
    x = dice.uniform(0.5, 1, (3 * STEPS * BATCH, WIDE)).astype(np.float32)
    labels = dice.uniform(0, 1, (3 * STEPS * BATCH, 2)).astype(np.float32)
    for step in bad:
        x[(step - 1) * BATCH + 2] = 0
    left = [i for i in range(len(x)) if i // BATCH + 1 not in without]
    write_data(folder, {"x": x[left], "labels": labels[left]})
    return folder


class Case:
    def __init__(self, checks, shardcc, work, tag, *options, ranks=1, cuda=None, mask=False, optimizer="adamw"):
        self.checks, self.shardcc, self.ranks, self.tag = checks, shardcc, ranks, tag
        self.work = work / tag
        self.work.mkdir(parents=True)
        write_model(self.work / "net.onnx", mask)
        self.program = self.work / "net"
        target = ["--target", "cuda", "--cuda", cuda] if cuda else []
        split = ["--ranks", ranks] if ranks > 1 else []
        run(shardcc, self.work / "net.onnx", "-o", self.program, "--cc", QUICK_CC, "--bind", f"batch={BATCH}", "--loss", "mse(y, labels)",
            "--optimizer", optimizer, *target, *split, *options)  # fmt: skip
        self.bad = write_samples(self.work / "bad", [BAD])
        self.good = write_samples(self.work / "good")

    def run(self, data, *options, status):
        launch = mpirun(self.ranks) if self.ranks > 1 else []
        said = run(*launch, self.program, "--data", data, "--no-shuffle", "--quiet", *options, cwd=self.work, status=status, env=MPI_ENV)
        return [x.partition(": ")[2] for x in said.splitlines() if x.startswith("net: ")]

    def check(self, what, ok, detail=""):
        self.checks.check(f"{self.tag}: {what}", ok, str(detail))

    def verify(self, folder, status=0):
        return run(self.shardcc, "checkpoint", "verify", folder, status=status)


def step(folder, n):
    return folder / f"step-{n:012d}"


def is_finite(path):
    return all(np.isfinite(a).all() for a in read_safetensors(path).values())


FOUND = r"(the gradient of 'w'\[\d, \d\] is NaN|the norm of the gradients is NaN, and 'w'\[\d, \d\] is NaN after the update)"
SAYS = f"step {BAD}: {FOUND} \\(samples 16 to 19\\)"


def test_stops(c):
    """The run stops at the step, and leaves the checkpoints before and the old file of weights."""
    folder, saved = c.work / "stops", c.work / "saved.safetensors"
    c.run(c.good, "--steps", 1, "--save", saved, status=0)
    before = saved.read_bytes()
    said = c.run(c.bad, "--steps", STEPS, "--checkpoint", folder, "--checkpoint-every", 2, "--keep", 9, "--save", saved, "--log", "stops.jsonl", status=1)  # fmt: skip
    c.check("says step, parameter and samples", len(said) == 1 and re.fullmatch(f"error: {SAYS}; stopped, nothing is saved", said[0]), said)
    c.check("the old weights stay", saved.read_bytes() == before)
    there = sorted(int(x.name[5:]) for x in folder.glob("step-*"))
    c.check("checkpoints of the steps before", there == [2, 4] and all(is_finite(x) for n in there for x in step(folder, n).glob("*.safetensors")), there)  # fmt: skip
    losses = [x["loss"] for x in read_log(c.work / "stops.jsonl")]
    c.check("its loss is finite", len(losses) == BAD and losses[-1] is not None, losses)
    c.check("verify finds them whole", c.verify(folder).count("whole") == 2)


def test_goes_back(c):
    """With --on-spike rollback, the run has the bits of one that never saw the samples of the steps after the checkpoint."""
    folder, other = c.work / "back", write_samples(c.work / "without", [BAD], [BAD])
    spike = ["--spike", 1e9, "--on-spike", "rollback", "--checkpoint", folder, "--checkpoint-every", 2, "--keep", 1]
    said = c.run(c.bad, "--steps", STEPS, *spike, "--save", "back.safetensors", "--log", "back.jsonl", status=0)
    c.check("goes back", len(said) == 1 and re.fullmatch(f"warning: {SAYS}; goes back to the last checkpoint", said[0]), said)
    c.run(other, "--steps", STEPS, "--save", "without.safetensors", status=0)
    same = (c.work / "back.safetensors").read_bytes() == (c.work / "without.safetensors").read_bytes()
    c.check("the bits of a run without those samples", same)
    c.check("the log has each step once", [x["step"] for x in read_log(c.work / "back.jsonl")] == list(range(1, STEPS + 1)))


def test_weights(c):
    """A step so long that weights overflow: what was saved before stays, and nothing of the step is saved."""
    folder, saved = c.work / "overflow", c.work / "overflow.safetensors"
    c.run(c.good, "--steps", 2, "--checkpoint", folder, "--checkpoint-every", 1, "--keep", 1, "--save", saved, status=0)
    before = saved.read_bytes()
    bad = r"'[vw]'\[\d, \d\] is (-?inf|NaN)"
    long = ["--steps", 3, "--lr", 1e39]
    for options in ["--checkpoint-in-place"], []:
        said = c.run(c.good, *long, "--checkpoint", folder, "--checkpoint-every", 1, "--keep", 1, "--resume", "--save", saved, *options, status=1)
        fine = len(said) == 1 and re.fullmatch(f"error: step 3: model.safetensors: {bad}; stopped, nothing is saved", said[0])
        c.check(f"the checkpoint is refused {options}", fine, said)
        c.check("the one before stays", [x.name for x in folder.glob("step-*")] == [step(folder, 2).name] and c.verify(folder).count("whole") == 1)
        c.check("the old weights stay", saved.read_bytes() == before)
    said = c.run(c.good, "--steps", 1, "--lr", 1e39, "--save", saved, status=1)
    fine = len(said) == 1 and re.fullmatch(f"error: {saved}: not saved: {bad}", said[0])
    c.check("--save is refused", fine and saved.read_bytes() == before, said)
    c.check("no other file", not list(c.work.glob("*.tmp*")))


def test_weights_go_back(c):
    folder = c.work / "overflow_back"
    spike = ["--spike", 1e9, "--on-spike", "rollback", "--max-rollbacks", 1, "--checkpoint", folder, "--checkpoint-every", 1]
    c.run(c.good, "--steps", 2, *spike, status=0)
    said = c.run(c.good, "--steps", 3, *spike, "--resume", "--lr", 1e39, status=1)
    bad = r"step 3: model.safetensors: '[vw]'\[\d, \d\] is (-?inf|NaN)"
    fine = len(said) == 2 and re.fullmatch(f"warning: {bad}; goes back to the last checkpoint", said[0])
    ended = re.fullmatch(f"error: {bad}; stopped after 1 rollback, nothing is saved", said[-1])
    c.check("goes back, then stops", fine and ended, said)


def test_norm(c):
    """Gradients that are finite, but whose squares aren't."""
    data = c.work / "large"
    arrays = {n: np.load(c.good / f"{n}.npy") for n in ("x", "labels")}
    arrays["labels"][(BAD - 1) * BATCH] = 1e19
    write_data(data, {"x": arrays["x"] * np.float32(1e2), "labels": arrays["labels"]})
    said = c.run(data, "--steps", STEPS, "--lr", 1e-9, status=1)
    c.check("says so", len(said) == 1 and re.match(f"error: step {BAD}: (the loss is infinite|the norm of the gradients is infinite)", said[0]), said)


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ table[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


def spoil(folder, n, file, name, at, number):
    """Puts a number into a tensor of a checkpoint, and the checksums into its manifest."""
    path = step(folder, n) / file
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[:8], "little")
    begin = eval(data[8 : 8 + size].decode())[name]["data_offsets"][0]
    data[8 + size + begin + 4 * at : 8 + size + begin + 4 * at + 4] = np.float32(number).tobytes()
    path.write_bytes(data)
    manifest = step(folder, n) / "MANIFEST"
    lines = manifest.read_text().splitlines()
    lines = [re.sub(r"\S+$", f"{crc32c(data):08x}", x) if x.startswith(f"file {file} ") else x for x in lines[:-1]]
    text = "\n".join(lines) + "\n"
    manifest.write_text(text + f"end {sum(x.startswith('file ') for x in lines)} {crc32c(text.encode()):08x}\n")


def test_verify(c):
    """Checkpoints of older versions, which may hold NaN: verify names it, and --resume takes the one before."""
    for file, name, number, says in (
        ("model.safetensors", "v", np.nan, r"model.safetensors: 'v'\[1, 1\] is NaN"),
        ("optimizer.safetensors", "w.exp_avg_sq", np.inf, r"optimizer.safetensors: 'w.exp_avg_sq'\[0, 3\] is inf"),
        ("model.safetensors", "w", -np.inf, r"model.safetensors: 'w'\[0, 3\] is -inf"),
    ):
        folder = c.work / f"verify_{name}"
        c.run(c.good, "--steps", 4, "--checkpoint", folder, "--checkpoint-every", 2, status=0)
        spoil(folder, 4, file, name, 3, number)
        said = c.verify(folder, 1)
        c.check(f"verify tells {name}", re.search(rf"^4 .* {says}$", said, re.M) and re.search("^2 .* whole$", said, re.M), said)
        out = run(c.shardcc, "checkpoint", "export", folder, "-o", c.work / "no.safetensors", status=1)
        c.check("export refuses it", re.search(f"the checkpoint of step 4 isn't whole: {says}", out), out)
        said = c.run(c.good, "--steps", 6, "--checkpoint", folder, "--resume", "--log", "resumed.jsonl", status=0)
        fine = len(said) == 1 and re.fullmatch(rf"warning: .*: '.*'\[.*\] is .*; the checkpoint before is taken", said[0])
        c.check(f"--resume takes the one before ({name})", fine and [x["step"] for x in read_log(c.work / "resumed.jsonl")] == [3, 4, 5, 6], said)
        (c.work / "resumed.jsonl").unlink()


def test_mask(c):
    """A mask with -inf is as the model has it: it is saved, verified and loaded."""
    folder = c.work / "mask"
    c.run(c.good, "--steps", 2, "--checkpoint", folder, "--save", "mask.safetensors", status=0)
    mask = read_safetensors(c.work / "mask.safetensors")["mask"]
    c.check("saved", (mask == np.float32([0, 0, -np.inf, 0])).sum() >= 1 and np.isneginf(mask).sum() == 1, mask)
    c.check("verified", c.verify(folder).count("whole") == 1)
    c.run(c.good, "--steps", 4, "--checkpoint", folder, "--resume", status=0)
    c.check("loaded", c.verify(folder).count("whole") == 2)
    said = c.run(c.bad, "--steps", STEPS, status=1)
    c.check("a gradient stops it", len(said) == 1 and re.fullmatch(f"error: {SAYS}; stopped, nothing is saved", said[0]), said)


def main():
    o = parser(__doc__).parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        work, toolkit = Path(o.work or folder).resolve(), gpu_toolkit(o)
        make = lambda *a, **k: Case(checks, o.shardcc, work, *a, **k)
        early = make("early")
        every = [early, make("clip", "--clip-norm", 1), make("micro", "--accumulate", 2), make("micro_clip", "--accumulate", 2, "--clip-norm", 1),
                 make("ranks", ranks=2), make("ranks_clip", "--clip-norm", 1, ranks=2), make("gpu", cuda=toolkit),
                 make("gpu_clip", "--clip-norm", 1, cuda=toolkit)]  # fmt: skip
        for c in every:
            test_stops(c)
            test_goes_back(c)
        sgd = make("sgd", optimizer="sgd(lr=1e-3, momentum=0.9)")
        for c in sgd, make("sgd_ranks", ranks=2, optimizer="sgd(lr=1e-3, momentum=0.9)"):
            test_weights(c)
            test_weights_go_back(c)
        test_norm(sgd)
        test_verify(early)
        for c in make("masked", mask=True), make("masked_ranks", ranks=2, mask=True):
            test_mask(c)
    checks.finish()


if __name__ == "__main__":
    main()
