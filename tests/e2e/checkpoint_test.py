#!/usr/bin/env python3
"""Runs that end and go on (--checkpoint, --resume) against runs that never stopped, bit by bit; checkpoints of one mesh on
another; damaged ones; runs that are killed.

  checkpoint_test.py [NAME ...] --shardcc build/shardcc [--all]

--all: every model on one, two and four ranks, and a GPT from each of 11 meshes and plans to each other one. It takes
15 minutes.
"""
import json
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_log, read_safetensors, side_by_side, write_safetensors
from model import QUICK_CC, Model, parser

ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}
FEW = ("gpt_dropout", "lstm", "mobilenet")  # dropout; loops; batch norm's buffers
MESHES = {1: [], 2: ["--ranks", "2"], 3: ["--ranks", "3"], 4: ["--ranks", "4", "--mesh", "2x2"]}
# With --all.
MORE_MESHES = {
    "4 in a row": ["--ranks", "4", "--mesh", "dp=4"],
    "fsdp": ["--ranks", "4", "--plan-preset", "fsdp"],
    "zero1": ["--ranks", "3", "--plan-preset", "zero1"],
    "megatron": ["--ranks", "2", "--plan-preset", "megatron"],
    "2d": ["--ranks", "4", "--plan-preset", "2d"],
    "two micro-batches": ["--accumulate", "2"],
    "two micro-batches on 2": ["--ranks", "2", "--accumulate", "2"],
}
FILES = ("model.safetensors", "optimizer.safetensors")


class Trainer:
    """A trainer of a model for a mesh, which runs in a folder of its own."""

    def __init__(self, model, mesh):
        options = {**MESHES, **MORE_MESHES}[mesh]
        self.mesh, self.model, self.work = mesh, model, model.work
        self.ranks = int(options[1]) if "--ranks" in options else 1
        self.program = model.compile(f"r{mesh}".replace(" ", "_"), None, *options)
        self.data = model.data()

    def start(self, *options, limit=None, env=ENV):
        launch = mpirun(self.ranks) if self.ranks > 1 else []
        args = [str(x) for x in (*launch, self.program, "--data", self.data, "--quiet", *options)]
        before = limit and (lambda: __import__("resource").setrlimit(*limit))
        return subprocess.Popen(args, cwd=self.work, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=before)  # fmt: skip

    def run(self, *options, limit=None, seconds=120):
        """The exit status, and what the program said. It may take so long."""
        p = self.start(*options, limit=limit)
        err = p.communicate(timeout=seconds)[1]
        if p.returncode == 127:
            raise RuntimeError(err)
        said = [x.partition(": ")[2] for x in err.splitlines() if x.startswith(f"{self.program.name}: ")]
        return p.returncode, "\n".join(said)

    def folder(self, name):
        """A folder that isn't there yet."""
        shutil.rmtree(self.work / name, ignore_errors=True)
        return self.work / name


def step(folder, n):
    return folder / f"step-{n:012d}"


# Times and memory: all else in a log is the same in a run that goes on.
VARIES = {"seconds", "tokens_per_second", "samples_per_second", "flops_per_second", "share_of_peak", "compute_seconds",
          "communication_seconds", "data_seconds", "saving_seconds", "resident_bytes"}  # fmt: skip


def lines(log):
    """The log without times and memory."""
    return [{k: v for k, v in json.loads(line).items() if k not in VARIES} for line in Path(log).read_text().splitlines()]


def test_same_bits(checks, trainer):
    """Ten steps, five and five more, and two that end by Ctrl-C."""
    name = f"{trainer.model.name} on {trainer.ranks} rank{'s' * (trainer.ranks > 1)}"
    whole, parts = trainer.folder("whole"), trainer.folder("parts")
    ran = [trainer.run("--steps", 10, "--checkpoint", whole, "--checkpoint-every", 5, "--keep", 9, "--log", "whole.jsonl")]
    for steps in (5, 10, 10):
        ran += [trainer.run("--steps", steps, "--checkpoint", parts, "--resume", "--log", "parts.jsonl")]
    checks.check(f"{name}: runs", all(x == (0, "") for x in ran), str(ran))
    for n in (5, 10):
        for file in FILES:
            same = (step(whole, n) / file).read_bytes() == (step(parts, n) / file).read_bytes()
            checks.check(f"{name}: {file} after step {n}", same)
    checks.check(f"{name}: log", lines(trainer.work / "whole.jsonl") == lines(trainer.work / "parts.jsonl"))


def test_evaluations(checks, trainer):
    """Runs that end where an evaluation is due, and one that a signal ends there: it is done by the run that goes on."""
    evaluates = ["--eval-data", trainer.data, "--eval-every"]
    whole, parts, log = trainer.folder("evaluated"), trainer.folder("in_parts"), trainer.work / "in_parts.jsonl"
    trainer.run("--steps", 7, "--checkpoint", whole, "--log", "evaluated.jsonl", *evaluates, 2)
    for steps in 3, 4, 4, 7, 7:
        trainer.run("--steps", steps, "--checkpoint", parts, "--resume", "--log", log, *evaluates, 2)
    expected = lines(trainer.work / "evaluated.jsonl")
    checks.check("evaluations of a run in parts", lines(log) == expected and sum("eval_loss" in x for x in expected) == 4)
    whole, parts = trainer.folder("evaluated"), trainer.folder("in_parts")
    for done in log, trainer.work / "evaluated.jsonl":
        done.unlink()
    trainer.run("--steps", 120, "--checkpoint", whole, "--log", "evaluated.jsonl", *evaluates, 1)
    last = ["--steps", 120, "--checkpoint", parts, "--resume", "--log", log, *evaluates, 1]
    due = 0
    for _ in range(4):
        before = log.stat().st_size if log.exists() else 0
        p = trainer.start(*last)
        while p.poll() is None and not (log.exists() and log.stat().st_size > before):
            time.sleep(0.001)
        p.send_signal(signal.SIGUSR1)
        p.communicate(timeout=60)
        due += any("\nevaluation due\n" in m.read_text() for m in parts.glob("step-*/MANIFEST"))
    ran = trainer.run(*last)
    same = lines(log) == lines(trainer.work / "evaluated.jsonl")
    checks.check("evaluations of a run that signals end", ran == (0, "") and same, f"{due} of 4 before an evaluation")


def test_meshes(checks, trainers):
    """A checkpoint of each mesh on each other one: its weights bit by bit, and the losses of the next steps."""
    for one in trainers:
        saved = one.folder("saved")
        one.run("--steps", 5, "--checkpoint", saved)
        one.run("--steps", 15, "--checkpoint", one.folder("all"), "--log", "all.jsonl")
        for other in trainers:
            if other is one:
                continue
            name = f"{one.model.name} from {one.mesh} to {other.mesh}"
            moved = other.folder("moved")
            shutil.copytree(saved, moved)
            ran = other.run("--steps", 5, "--checkpoint", moved, "--resume", "--save", "moved.st")
            a, b = read_safetensors(other.work / "moved.st"), read_safetensors(step(saved, 5) / FILES[0])
            same = a.keys() == b.keys() and all((a[k].tobytes() == b[k].tobytes()) for k in a)
            checks.check(f"{name}: the same weights", ran == (0, "") and same, str(ran))
            (other.work / "moved.jsonl").unlink(missing_ok=True)
            ran = other.run("--steps", 15, "--checkpoint", moved, "--resume", "--log", "moved.jsonl")
            losses = [[x["loss"] for x in read_log(w / n) if x["step"] > 5]
                      for w, n in ((other.work, "moved.jsonl"), (one.work, "all.jsonl"))]  # fmt: skip
            checks.check(f"{name}: runs", ran == (0, "") and len(losses[0]) == 10, str(ran))
            checks.close(f"{name}: losses", losses[0], losses[1], 1e-6)


def damage(path, at, how):
    data = bytearray(path.read_bytes())
    if how == "bit":
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
    elif how == "cut":
        path.write_bytes(data[:at])
    else:
        path.unlink()


def test_damage(checks, trainer):
    """Of two checkpoints the last one is damaged: the one before is taken, with one line that says why."""
    good = trainer.folder("good")
    trainer.run("--steps", 4, "--checkpoint", good, "--checkpoint-every", 2)
    expected = (step(good, 4) / FILES[0]).read_bytes()
    dice = random.Random(5)
    cases = [(f, how, i) for f in (*FILES, "MANIFEST") for how in ("bit", "cut") for i in range(6)]
    cases += [(f, "missing", 0) for f in (*FILES, "MANIFEST")]
    for file, how, i in cases:
        bad = trainer.folder("bad")
        shutil.copytree(good, bad)
        path = step(bad, 4) / file
        size = path.stat().st_size
        at = (0, size - 1)[i] if i < 2 else dice.randrange(size)
        damage(path, at, how)
        status, said = trainer.run("--steps", 4, "--checkpoint", bad, "--resume")
        gone = file == "MANIFEST" and how == "missing"  # as a killed run leaves it
        told = said.startswith(f"warning: {path}: ") and said.endswith("; the checkpoint before is taken")
        checks.check(f"{file}: {how} {at}", status == 0 and (not said if gone else told and "\n" not in said), said)
        checks.check(f"{file}: {how} {at}: made again", (step(bad, 4) / FILES[0]).read_bytes() == expected)
    early = trainer.folder("early")
    shutil.copytree(good, early)
    damage(step(early, 4) / FILES[0], 100, "bit")
    trainer.run("--steps", 3, "--checkpoint", early, "--resume", "--keep", 1)
    checks.check("the last whole one is kept, though a later one is damaged", (step(early, 3) / "MANIFEST").exists())
    damage(step(good, 2) / FILES[0], 100, "bit")
    damage(step(good, 4) / FILES[0], 100, "cut")
    status, said = trainer.run("--steps", 4, "--checkpoint", good, "--resume")
    last = said.splitlines()[-1]
    checks.check("none is whole", status == 1 and last == f"error: --resume: no checkpoint in '{good}' is whole", said)


def data_sum(folder, n):
    return re.search("^data (.*)$", (step(folder, n) / "MANIFEST").read_text(), re.M)[1]


def change_last_number(path):
    x = bytearray(path.read_bytes())
    x[-8] ^= 1
    path.write_bytes(x)


def test_messages(checks, trainer):
    there = trainer.folder("there")
    trainer.run("--steps", 2, "--checkpoint", there)
    file = trainer.work / "file"
    file.write_text("")
    (other := trainer.folder("other")).mkdir()
    shutil.copytree(trainer.data, other, dirs_exist_ok=True)
    change_last_number(next(other.glob("*.npy")))
    made = trainer.folder("made")
    trainer.run("--steps", 2, "--checkpoint", made, "--data", other)
    small = trainer.folder("small")
    shutil.copytree(there, small)
    manifest = (step(small, 2) / "MANIFEST").read_text()
    (step(small, 2) / "MANIFEST").write_text(manifest.replace("checkpoint 1", "checkpoint 2"))
    resume = ["--steps", 3, "--checkpoint", there, "--resume"]
    cases = (
        (["--checkpoint", there], 1,
         f"error: --checkpoint: '{there}' has checkpoints of another run; --resume goes on from the last one"),
        ([*resume, "--seed", 1], 1, f"error: --resume: {there}: --seed: then 0, now 1"),
        ([*resume, "--data", other], 1,
         f"error: --resume: {there}: other data: then of checksum {data_sum(there, 2)}, now {data_sum(made, 2)}; --load "
         "begins with a checkpoint's weights and other data"),
        ([*resume, "--no-shuffle"], 1, f"error: --resume: {there}: then without --no-shuffle"),
        (["--checkpoint", file], 1, f"error: --checkpoint: {file}/LOCK: Not a directory"),
        (["--checkpoint", "no/such"], 1, "error: --checkpoint: no/such: No such file or directory"),
        (["--steps", 3, "--checkpoint", small, "--resume"], 1,
         f"warning: {step(small, 2)}/MANIFEST: it is of version 2; this program reads version 1; the checkpoint before "
         f"is taken\nerror: --resume: no checkpoint in '{small}' is whole"),
        (["--resume"], 2, "error: --resume needs --checkpoint"),
        (["--keep", 3], 2, "error: --keep needs --checkpoint"),
        (["--max-time", 3], 2, "error: --max-time: '3' is not a time, as 90s, 10min or 2h"),
        (["--checkpoint-every", "3min"], 2, "error: --checkpoint-every needs --checkpoint"),
        (["--checkpoint", there, "--checkpoint-every", "3 days"], 2,
         "error: --checkpoint-every: '3 days' is neither a number of steps, as 500, nor a time, as 90s, 10min or 2h"),
        (["--checkpoint", there, "--checkpoint-every", 0], 2,
         "error: --checkpoint-every: '0' is neither a number of steps, as 500, nor a time, as 90s, 10min or 2h"),
        (["--checkpoint", there, "--keep", 0], 2, "error: --keep: '0' is not a whole number of at least 1"),
    )  # fmt: skip
    for options, status, text in cases:
        found = trainer.run(*options)
        checks.check(f"{text[:70]}…", found == (status, text), str(found))
    running = trainer.start("--epochs", 1000000, "--checkpoint", trainer.folder("used"))
    while not (trainer.work / "used/LOCK").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    pid = (trainer.work / "used/LOCK").read_text().split()[0]
    found = trainer.run("--checkpoint", trainer.work / "used", "--resume")
    text = f"error: --checkpoint: another run uses '{trainer.work}/used': process {pid}"
    checks.check("another run uses the folder", found == (1, text), str(found))
    running.send_signal(signal.SIGINT)
    running.communicate()
    found = trainer.run("--steps", 1, "--checkpoint", trainer.work / "used", "--resume")
    checks.check("after Ctrl-C there is a checkpoint, and the lock is free",
                 running.returncode == 130 and found == (0, "") and list((trainer.work / "used").glob("step-*/MANIFEST")))  # fmt: skip


def test_room(checks, trainer):
    """A run that is asked to end, by a signal or by its own time, goes on another time."""
    whole, parts = trainer.folder("whole"), trainer.folder("room")
    trainer.run("--steps", 200, "--checkpoint", whole)
    p = trainer.start("--steps", 200, "--checkpoint", parts, "--resume", "--log", "room.jsonl")
    while not (log := trainer.work / "room.jsonl").exists() or not log.stat().st_size:
        time.sleep(0.005)
    p.send_signal(signal.SIGUSR1)
    p.communicate()
    checks.check("SIGUSR1: status 75, and a checkpoint", p.returncode == 75 and any(parts.glob("step-*/MANIFEST")))
    ran = trainer.run("--epochs", 10**6, "--checkpoint", trainer.folder("timed"), "--max-time", "1s")
    checks.check("--max-time: status 75", ran == (75, ""), str(ran))
    ran = trainer.run("--steps", 200, "--checkpoint", parts, "--resume")
    same = all((step(whole, 200) / f).read_bytes() == (step(parts, 200) / f).read_bytes() for f in FILES)
    checks.check("the same bits", ran == (0, "") and same, str(ran))


def as_type(kind, x):
    """The bytes of a float array in that type, and the array that they represent. bf16 is cut, not rounded."""
    if kind == "F16":
        return x.astype(np.float16).tobytes(), x.astype(np.float16).astype(np.float32)
    if kind == "BF16":
        bits = x.view(np.uint32) >> 16
        return bits.astype(np.uint16).tobytes(), (bits << 16).astype(np.uint32).view(np.float32)
    return x.tobytes(), x


def test_load(checks, trainers):
    """--load takes a folder of checkpoints, and shards with an index, in which floats may have other types."""
    first = trainers[0]
    there = first.folder("there")
    first.run("--steps", 3, "--checkpoint", there)
    weights = read_safetensors(step(there, 3) / FILES[0])
    shards = first.folder("shards")
    shards.mkdir()
    kinds, expected, files, index = ("F32", "F16", "BF16"), {}, {}, {}
    for i, (name, x) in enumerate(weights.items()):
        data, expected[name] = as_type(kinds[i % 3] if x.dtype == np.float32 else "", np.ascontiguousarray(x))
        kind = kinds[i % 3] if x.dtype == np.float32 else {"int64": "I64"}[str(x.dtype)]
        index[name] = f"model-{i % 2 + 1:05d}-of-00002.safetensors"
        files.setdefault(index[name], {})[name] = (kind, list(x.shape), data)
    for file, arrays in files.items():
        write_safetensors(shards / file, arrays)
    text = json.dumps({"metadata": {"total_size": 1}, "weight_map": index})
    (shards / "model.safetensors.index.json").write_text(text)
    for trainer in trainers:
        for path, what in ((there, weights), (step(there, 3), weights), (shards, expected),
                           (shards / "model.safetensors.index.json", expected)):  # fmt: skip
            ran = trainer.run("--steps", 0, "--load", path, "--save", "loaded.st")
            found = read_safetensors(trainer.work / "loaded.st") if ran == (0, "") else {}
            same = found.keys() == what.keys() and all(found[n].tobytes() == what[n].tobytes() for n in found)
            checks.check(f"--load {path.name} on {trainer.ranks} ranks", same, str(ran))
    empty = first.folder("empty")
    empty.mkdir()
    found = first.run("--steps", 0, "--load", empty)
    text = f"error: {empty}: a folder that has neither model.safetensors nor model.safetensors.index.json"
    checks.check("a folder without weights", found == (1, text), str(found))


def test_command(checks, trainer):
    """shardcc checkpoint"""
    there = trainer.folder("looked")
    trainer.run("--steps", 4, "--checkpoint", there, "--checkpoint-every", 2)

    def shardcc(*args):
        done = subprocess.run([trainer.model.shardcc, "checkpoint", *map(str, args)], capture_output=True, text=True,
                              cwd=trainer.work)  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    status, out, err = shardcc("ls", there)
    steps = [row.split()[0] for row in out.splitlines()]
    checks.check("ls", status == 0 and steps == ["step", "4", "2"] and not err, out + err)
    status, out, err = shardcc("verify", there)
    checks.check("verify", status == 0 and out.count("whole") == 2 and not err, out + err)
    done = shardcc("export", there, "-o", "exported.st")
    same = (trainer.work / "exported.st").read_bytes() == (step(there, 4) / FILES[0]).read_bytes()
    checks.check("export", done == (0, "wrote exported.st, the weights after step 4\n", "") and same, str(done))
    damage(step(there, 4) / FILES[1], 1000, "bit")
    status, out, err = shardcc("verify", there)
    last = [row for row in out.splitlines() if row.startswith("4 ")][0]
    checks.check("verify finds a bit", status == 1 and out.count("whole") == 1 and last.endswith(
        f"{FILES[1]}: its bytes are others than were written (checksum)"), out + err)  # fmt: skip
    empty = trainer.folder("empty")
    empty.mkdir()
    cases = (
        (["verify", there, "--step", 4], 1, ""),
        (["export", there, "-o", "x.st"], 1, f"{there}: error: the checkpoint of step 4 isn't whole: {FILES[1]}: its "
         "bytes are others than were written (checksum)\n"),
        (["ls", empty], 1, f"{empty}: error: there is no checkpoint\n"),
        (["ls", there, "--step", 3], 1, f"{there}: error: there is no checkpoint of step 3\n"),
        (["ls"], 2, "shardcc: error: no folder of checkpoints given; --help tells more\n"),
        (["list", there], 2, "shardcc: error: 'list': say ls, verify or export; --help tells more\n"),
        (["export", there], 2, "shardcc: error: export needs -o FILE\n"),
        (["ls", there, "-o", "x.st"], 2, "shardcc: error: -o is for export alone\n"),
    )  # fmt: skip
    for args, status, text in cases:
        found = shardcc(*args)
        checks.check(f"checkpoint {args[0]}: {text[:60]}", (found[0], found[2]) == (status, text), str(found).strip())
    checks.check("nothing is written", not (trainer.work / "x.st").exists())


def test_other_model(checks, trainer, other):
    there = other.folder("there")
    other.run("--steps", 1, "--checkpoint", there)
    moved = trainer.folder("moved")
    shutil.copytree(there, moved)
    status, said = trainer.run("--steps", 3, "--checkpoint", moved, "--resume")
    checks.check("a checkpoint of another model", status == 1 and said.startswith("error: --resume:") or
                 "these are not the weights of this model" in said, said)  # fmt: skip


def test_full_disk(checks, trainer):
    """Files may not become larger than a checkpoint: the run goes on, and says so once for each try."""
    import resource
    full = trainer.folder("full")
    size = 600
    status, said = trainer.run("--steps", 4, "--checkpoint", full, "--checkpoint-every", 2,
                               limit=(resource.RLIMIT_FSIZE, (size, size)))  # fmt: skip
    warned = said.splitlines()
    checks.check("a full disk: the run goes on", status == 0 and len(warned) == 2 and all("not saved" in x for x in warned), said)
    checks.check("a full disk: nothing is left", not list(full.glob("step-*")))
    status, said = trainer.run("--steps", 4, "--checkpoint", full)
    checks.check("later the disk has space", status == 0 and not said and (step(full, 4) / "MANIFEST").exists(), said)


def test_kills(checks, trainer):
    """A run that is killed again and again ends with the bits of one that isn't."""
    steps, options = 60, ["--steps", 60, "--checkpoint-every", 2, "--keep", 2]
    whole, soak = trainer.folder("undisturbed"), trainer.folder("soak")
    begin = time.monotonic()
    trainer.run(*options, "--checkpoint", whole, "--log", "undisturbed.jsonl")
    length = time.monotonic() - begin
    dice, kills, tries, p = random.Random(3), 0, 0, None
    while not (p and p.returncode == 0) and tries < 60:  # also one that was killed while it removed the last files
        tries += 1
        p = trainer.start(*options, "--checkpoint", soak, "--resume", "--log", "soak.jsonl")
        try:
            p.communicate(timeout=dice.uniform(0.05, 0.25) * length)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            kills += 1
    same = all((step(whole, steps) / f).read_bytes() == (step(soak, steps) / f).read_bytes() for f in FILES)
    checks.check("killed again and again: the same bits", same, f"{kills} kills")
    checks.check("killed again and again: the same log",
                 lines(trainer.work / "undisturbed.jsonl") == lines(trainer.work / "soak.jsonl"))  # fmt: skip
    left = sorted(x.name for x in soak.rglob("*") if x.is_file())
    checks.check("nothing is left of killed runs", left == sorted(["LOCK", *2 * ["MANIFEST", *FILES]]), str(left))


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    o = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        names = o.names or ([x.stem for x in sorted(o.models.glob("*.onnx"))] if o.all else FEW)
        models = [Model(o.models / f"{n}.onnx", o.shardcc, Path(work), cc=QUICK_CC) for n in names]

        def of_model(model):
            trainers = [Trainer(model, n) for n in ((1, 2, 4) if o.all else (1, 4))]
            for trainer in trainers:
                test_same_bits(checks, trainer)
            return trainers

        made = side_by_side(o.jobs, *(partial(of_model, m) for m in models))
        first = next((trainers[0] for trainers in made if trainers[0].model.name in FEW), made[0][0])
        test_meshes(checks, [made[0][0], made[0][-1], Trainer(models[0], 3)])
        if o.all:
            path = o.models.parent / "tiny_dynamic/nanogpt.onnx"
            model = Model(path, o.shardcc, Path(work) / "dynamic", o.models / "nanogpt.npz", QUICK_CC)
            test_meshes(checks, [Trainer(model, mesh) for mesh in (*MESHES, *MORE_MESHES)])
        test_load(checks, made[-1])
        for test in (test_evaluations, test_damage, test_messages, test_full_disk, test_room, test_command, test_kills):
            test(checks, first)
        if len(made) > 1:
            test_other_model(checks, first, made[1][0])
    checks.finish()


if __name__ == "__main__":
    main()
