#!/usr/bin/env python3
"""What shardcc and trainers say when something is wrong: exit status and message, word by word.

  errors_test.py --shardcc build/shardcc

2: an option that is unknown or malformed; 1: everything else. Nothing half-written stays behind.
"""
import argparse
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from harness import Checks, read_log, read_safetensors, run, write_data
from onnx_bytes import external, linear, model, node, tensor, value

TRAIN = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd(lr=0.1)"]
TINY = Path(__file__).parents[2] / "models/tiny"

# ---- the command line: arguments, message; exit status 2 ----
OPTIONS = [
    ([], "no model given; --help tells more"),
    (["a.onnx", "b.onnx"], "one model at a time: 'a.onnx' and 'b.onnx'"),
    (["--optimiser", "adam"], "unknown option '--optimiser' (did you mean '--optimizer'?)"),
    (["--zzz"], "unknown option '--zzz'; --help lists them"),
    (["linear.onnx", "--loss"], "--loss needs a value: TEXT"),
    (["linear.onnx", "--no-weights=1"], "--no-weights takes no value"),
    (["linear.onnx", "--loss", "logits"], "--loss needs --optimizer"),
    (["linear.onnx", "--optimizer", "adam"], "--optimizer needs --loss"),
    (["detect", "linear.onnx"], "detect takes no file: 'linear.onnx'"),
    (["detect", "--thread", "2"], "unknown option '--thread' (did you mean '--threads'?)"),
    (["detect", "--threads", "65"], "--threads: '65' is not a whole number from 1 to 64"),
    (["detect", "-o"], "-o needs a value: FILE.json"),
    (["linear.onnx", "--clip-norm", "1"], "--clip-norm needs --loss and --optimizer"),
    (["linear.onnx", "--dump-after", "autodiff"], "that pass of --dump-after needs --loss and --optimizer"),
    (["--emit", "asm"], "--emit: 'asm' is not one of ir, program, c, source"),
    (["--emit", "c", "--dump-after", "fold", "linear.onnx"], "--dump-after prints a graph: it doesn't go with --emit"),
    (["--dump-after", "fuse"], "--dump-after: 'fuse' is not one of import, fold, loss, patterns, refine, simplify, blocks, autodiff, clip, optimizer, outputs, recompute"),
    (["--clip-norm", "-1"], "--clip-norm: '-1' is not a number of at least 0"),
    (["--clip-norm", "nan"], "--clip-norm: 'nan' is not a number of at least 0"),
    (["--accumulate", "0"], "--accumulate: '0' is not a whole number from 1 to 1048576"),
    (["--init", "normal(0)"], "--init: 'normal(0)' is not normal(STD) with STD > 0"),
    (["--march", "a b"], "--march: 'a b' is not the name of a CPU"),
    (["--bind", "batch"], "--bind: 'batch' is not of the form DIM=N"),
    (["--bind", "batch=four"], "--bind: 'batch=four' is not of the form DIM=N"),
    (["--shape", "x=4,"], "--shape: 'x=4,' is not of the form INPUT=N,N"),
    (["--padding-index", "table"], "--padding-index: 'table' is not of the form GLOB=K"),
    (["graph.ir", "--bind", "batch=4"], "--bind: a graph's text has its shapes and parameters already"),
    (["linear.onnx", "-o", "my model"], "'my model' can't be a program's name, which has letters, digits, '-', '_', '.' and '+' only: give another with -o"),
    (["my model.onnx"], "'my model' can't be a program's name, which has letters, digits, '-', '_', '.' and '+' only: give one with -o"),
    (
        ["linear.onnx", "--loss", "cross_entropie(logits, labels)", "--optimizer", "sgd"],
        "--loss: unknown loss 'cross_entropie' (did you mean 'cross_entropy'?)\n  known  cross_entropy, mse, l1, bce_with_logits",
    ),
    (
        ["linear.onnx", "--loss", "mse(logits, y, smoothing=1)", "--optimizer", "sgd"],
        "--loss: mse has no option 'smoothing'",
    ),
    (["linear.onnx", "--loss", "mse(logits)", "--optimizer", "sgd"], "--loss: mse takes two tensors: mse(x, target)"),
    (["linear.onnx", "--loss", "mse(logits, y", "--optimizer", "sgd"], "--loss: 'mse(logits, y' is not of the form name(…)"),
    (
        ["linear.onnx", "--loss", "logits", "--optimizer", "adamx"],
        "--optimizer: unknown optimizer 'adamx' (did you mean 'adam'?)\n  known  sgd, adam, adamw, adagrad, lamb",
    ),
    (
        ["linear.onnx", "--loss", "logits", "--optimizer", "adamw(rl=1e-3)"],
        "--optimizer: adamw has no option 'rl' (did you mean 'lr'?)\n  options  lr, beta1, beta2, eps, weight_decay",
    ),
    (["linear.onnx", "--loss", "logits", "--optimizer", "sgd(lr=fast)"], "--optimizer: lr=fast: must be a number of at least 0"),
]

# ---- models: file, further arguments, message; exit status 1 ----
MODELS = [
    ("none.onnx", [], "cannot read 'none.onnx': No such file or directory"),
    ("folder", [], "cannot read 'folder': not a regular file"),
    ("text.onnx", [], "not an ONNX model, or damaged: byte 1: a field has an unknown wire type"),
    ("empty.onnx", [], "the file is empty"),
    (
        "operators.onnx",
        [],
        "operator Frobnicate (opset 18) is not supported\n  node 'first'\n  node 'third'\n"
        "operators.onnx: error: operator my.domain::Widget (opset 18) is not supported\n  node 'second'",
    ),
    ("dynamic.onnx", [], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("dynamic.onnx", ["--bind", "time=4"], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("dynamic.onnx", ["--bind", "batch=4", "--bind", "time=4"], "--bind 'time=4': the model has no dim of that name, only 'batch'"),
    ("dynamic.onnx", ["--shape", "y=4,4"], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("linear.onnx", ["--shape", "x=2,5"], "input 'x': dim 1 is 4 in the model, --shape says 5"),
    ("linear.onnx", [*TRAIN, "--accumulate", "3"], "input 'x': batch of 2 can't be split into 3 micro-batches"),
    (
        "linear.onnx",
        ["--loss", "cross_entropy(logit, labels)", "--optimizer", "sgd"],
        "--loss: the model has no value 'logit' (did you mean 'logits'?)\n  output  logits f32[2,3]\n  value  logits f32[2,3]\n  value  x f32[2,4]",
    ),
    (
        "linear.onnx",
        ["--loss", "mse(logits, x)", "--optimizer", "sgd"],
        "--loss: 'x' is f32[2,4], not f32[2,3]",
    ),
    (
        "shapes.onnx",
        [],
        "node 'add_3' (Add): shapes [2,3] and [4] can't be broadcast to each other\n  in 0  a f32[2,3]\n  in 1  b f32[4]\n  from  net.block.0",
    ),
    (
        "dtypes.onnx",
        [],
        "node 'add_3' (add): operands differ: f32[2,3] and i64[2,3]\n  in 0  a f32[2,3]\n  in 1  b i64[2,3]\n  from  net.block.0",
    ),
    ("outside.onnx", [], "external data '../outside.bin': is not beneath the model's folder"),
    ("absolute.onnx", [], "external data '/etc/passwd': is not beneath the model's folder"),
    ("symlink.onnx", [], "external data 'symlink.bin': is not beneath the model's folder"),
    ("hardlink.onnx", [], "external data 'hardlink.bin': is no regular file of one name"),
    (
        "missing.onnx",
        [],
        "external data 'missing.bin': No such file or directory\n"
        "  --no-weights does without; with --init the trainer draws them",
    ),
    ("short.onnx", [], "weight 'weight': 48 bytes at 8 of 'short.bin', which has 48"),
    ("same.onnx", [], "cannot write 'same.safetensors': the model's weights are in it; give another -o"),
    ("linear.onnx", ["-o", "none/it"], "cannot write into 'none': No such file or directory"),
    ("linear.onnx", ["-o", "folder"], "cannot write 'folder': it is a folder"),
    ("linear.onnx", ["-o", "linear.onnx"], "cannot write 'linear.onnx': it is the model"),
    ("linear.onnx", ["--emit", "ir", "-o", "/dev/null"], "cannot write '/dev/null': it is no regular file"),
    ("linear.onnx", ["--emit", "source", "-o", "text.onnx"], "cannot write into 'text.onnx': it is no folder"),
    ("linear.onnx", ["--cc", "no-such-cc"], "cannot run the C compiler 'no-such-cc': No such file or directory; --cc names another"),
    (
        "linear.onnx",
        ["--cc", "false"],
        "the C compiler 'false' failed, nothing is written\n  it needs OpenMP and oneDNN (Debian: gcc, libdnnl-dev); --emit c shows the text",
    ),
    ("updated.ir", TRAIN, "the graph has its updates already: --loss and --optimizer don't apply"),
    ("updated.ir", ["--dump-after", "fold"], "--dump-after: the graph has its updates already, no pass follows"),
    ("bad.ir", [], "line 1: 'graph' expected, not 'grpah'"),
    ("carry.ir", [], "carry of 'x' to 'm' changes the type"),
    ("carry.ir", TRAIN, "carry of 'x' to 'm' changes the type"),
]

# ---- clusters: file, message; exit status 1 ----
CLUSTERS = [
    ("none.json", "cannot read 'none.json': No such file or directory"),
    ("text.onnx", "not JSON: byte 0"),
    ("list.json", "the whole must be an object"),
    ("version.json", "version must be 1: shardcc detect makes such files"),
    (
        "device.json",
        "devices_per_host is missing\ndevice.json: error: device.threads must be a whole number from 1 to 4096\n"
        "device.json: error: device.memory is missing\ndevice.json: error: device.bandwidth is missing\n"
        "device.json: error: device.launch is missing\ndevice.json: error: device.vector is missing\n"
        "device.json: error: device.gemm is missing",
    ),
]

# ---- trainers: arguments, message; exit status 2 ----
TRAINER_OPTIONS = [
    ([], "nothing to do: give --data, --eval-data, --predict or --generate; --help lists all options"),
    (["--dat", "good"], "unknown option '--dat' (did you mean '--data'?)"),
    (["--beta1", "0.9"], "unknown option '--beta1'; --help lists them"),
    (["good"], "unexpected argument 'good'"),
    (["--data"], "--data needs a value"),
    (["--data", "good", "--steps", "-1"], "--steps: '-1' is not a whole number of at least 0"),
    (["--data", "good", "--lr", "fast"], "--lr: 'fast' is not a number"),
    (["--data", "good", "--schedule", "cosin"], "--schedule: 'cosin' is not one of constant|linear|cosine (did you mean 'cosine'?)"),
    (["--data", "good", "--quiet=1"], "--quiet takes no value"),
    (["--predict", "good"], "--predict needs -o FILE.npz"),
    (["--save", "it.safetensors", "--eval-data", "good"], "--save needs --data"),
    (["--profile", "--eval-data", "good"], "--profile needs --data"),
    (["--trace", "it.json", "--predict", "good", "-o", "it.npz"], "--trace needs --data"),
]

# ---- trainers: arguments after --data, message; exit status 1 ----
DATA = [
    (["none"], "none: No such file or directory"),
    (["wrong_shape"], "wrong_shape/x.npy: found F32[8,3], expected F32[samples,4]"),
    (["wrong_type"], "wrong_type/labels.npy: found F32[8], expected I64[samples]"),
    (["wrong_length"], "wrong_length/labels.npy: 5 samples, but x.npy has 8"),
    (["too_few"], "too_few: samples found: 1; a step takes 2"),
    (["no_labels"], "no_labels/labels.npy: No such file or directory"),
    (["cut"], "cut/x.npy: npy: its header says F32[8,4], 128 bytes; 127 are there"),
    (["no_npy"], "no_npy/x.npy: not an npy file"),
    (["bad_label", "--no-shuffle"], "step 3: sample 5: label 7 is out of range"),
    (["good", "--load", "none"], "none: No such file or directory"),
    (["good", "--load", "text.onnx"], "text.onnx: safetensors: its header says 8030046917602012783 bytes, the file has 24: truncated?"),
    (
        ["good", "--load", "other.safetensors"],
        "other.safetensors: these are not the weights of this model\n  unexpected  table F32[16,16]\n  missing     weight F32[4,3]",
    ),
    (["good", "--save", "none/it"], "none/it: No such file or directory"),
    (["good", "--save", "folder"], "folder: not a regular file"),
    (["good", "--save", "/dev/full"], "/dev/full: not a regular file"),
    (["good", "--trace", "none/it.json"], "none/it.json: No such file or directory"),
    (["good", "--log", "/dev/full"], "/dev/full: No space left on device"),
    (["not_finite", "--no-shuffle", "--save", "it"], "step 3: the loss is NaN; stopped, nothing is saved"),
]

TOKENS = [
    (["few.bin"], "few.bin: samples found: 1; a step takes 2"),
    (["odd.bin", "--token-bytes", "2"], "odd.bin: 1001 bytes are no whole number of tokens of 2 bytes (--token-bytes)"),
    (["high.bin", "--no-shuffle"], "input 'ids': sample 80, place 1: 200 is out of range, -16 to 15"),
    (["high_label", "--no-shuffle"], "step 2: sample 3, place 2: label 16 is out of range"),
    (["high", "--no-shuffle"], "input 'ids': sample 3, place 2: 16 is out of range, -16 to 15"),
    (["low", "--no-shuffle"], "input 'ids': sample 3, place 2: -17 is out of range, -16 to 15"),
]


def write_models(work):
    """The files that the tables name."""
    x = value("x", "f32", [2, 4])
    files = {
        "linear.onnx": linear(),
        "dynamic.onnx": linear(batch="batch"),
        "text.onnx": b"once upon a time, no end",
        "empty.onnx": b"",
        "operators.onnx": model(
            [
                node("Frobnicate", ["x"], ["a"], "first"),
                node("Widget", ["a"], ["b"], "second", domain="my.domain"),
                node("Frobnicate", ["b"], ["c"], "third"),
            ],
            [x],
            [value("c", "f32", [2, 4])],
        ),
        "bad.ir": b'grpah "x" {\n}\n',
        "carry.ir": b'graph "x" {\n  state %m f32[2] = 0\n  input %x f32[3]\n  carry step %m %x\n}\n',
        "list.json": b"[]",
        "version.json": b'{"version": 7}',
        "device.json": b'{"version": 1, "device": {"threads": "many"}}',
        "few.bin": bytes(5),
        "odd.bin": bytes(1001),
        "high.bin": bytes(321) + bytes([200]) + bytes(700),
    }
    for name, b in ("shapes", value("b", "f32", [4])), ("dtypes", value("b", "i64", [2, 3])):
        add = node("Add", ["a", "b"], ["y"], "add_3", scope=["net", "net.block.0"])
        files[f"{name}.onnx"] = model([add], [value("a", "f32", [2, 3]), b], [value("y", "f32", [2, 3])])
    places = {name: f"{name}.bin" for name in ("missing", "symlink", "hardlink")}
    for name, place in {**places, "outside": "../outside.bin", "absolute": "/etc/passwd"}.items():
        files[f"{name}.onnx"] = linear(weight=external("weight", [4, 3], place))
    files["same.onnx"] = linear(weight=external("weight", [4, 3], "same.safetensors"))
    files["short.onnx"] = linear(weight=external("weight", [4, 3], "short.bin", 8))
    table = np.eye(16, dtype=np.float32)
    files["other.onnx"] = model(
        [node("Gather", ["table", "ids"], ["logits"], "embed")],
        [value("ids", "i64", [2, 4])],
        [value("logits", "f32", [2, 4, 16])],
        [tensor("table", table)],
    )
    for name, data in files.items():
        (work / name).write_bytes(data)
    for name in ("short.bin", "target.bin", "same.safetensors", "../outside.bin"):
        (work / name).write_bytes(bytes(48))
    os.symlink("target.bin", work / "symlink.bin")
    os.link(work / "target.bin", work / "hardlink.bin")
    (work / "folder").mkdir()


def write_folders(work):
    """The data folders that the tables name."""
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((8, 4)).astype(np.float32), rng.integers(0, 3, 8)
    bad, huge = labels.copy(), x.copy()
    bad[5] = 7
    huge[5] = 3e38
    folders = {
        "good": {},
        "wrong_shape": {"x": x[:, :3]},
        "wrong_type": {"labels": labels.astype(np.float32)},
        "wrong_length": {"labels": labels[:5]},
        "too_few": {"x": x[:1], "labels": labels[:1]},
        "bad_label": {"labels": bad},
        "not_finite": {"x": huge},
        "no_labels": {},
        "cut": {},
        "no_npy": {},
    }
    for name, arrays in folders.items():
        write_data(work / name, {"x": x, "labels": labels, **arrays})
    ids = rng.integers(-16, 16, (6, 4))
    for name, (column, x) in {"high": ("ids", 16), "low": ("ids", -17), "high_label": ("labels", 16)}.items():
        arrays = {"ids": ids.copy(), "labels": ids % 16}
        arrays[column][3, 2] = x
        write_data(work / name, arrays)
    (work / "no_labels/labels.npy").unlink()
    whole = (work / "cut/x.npy").read_bytes()
    (work / "cut/x.npy").write_bytes(whole[:-1])
    (work / "no_npy/x.npy").write_bytes(b"1, 2, 3\n")


class Errors:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def run(self, command, **more):
        return subprocess.run([str(c) for c in command], cwd=self.work, capture_output=True, text=True, timeout=120, **more)

    def check(self, name, ok, detail=""):
        return self.checks.check(name, ok, "" if ok else str(detail).replace("\n", " | "))

    def expect(self, command, status, message):
        """Checks the exit status, the whole of stderr, and that no file came or went."""
        before = sorted(os.listdir(self.work))
        done = self.run(command)
        said = done.stderr
        ok = done.returncode == status and said == message + "\n" and sorted(os.listdir(self.work)) == before
        name = " ".join(map(str, [Path(command[0]).name, *command[1:]]))
        if not self.check(name, ok, f"exit {done.returncode}"):
            found = sorted(set(os.listdir(self.work)) - set(before))
            print(f"# expected {message!r}\n# found    {said!r}\n# files    {found}")

    def tables(self):
        for args, message in OPTIONS:
            self.expect([self.shardcc, *args], 2, f"shardcc: error: {message}")
        for name, args, message in MODELS:
            self.expect([self.shardcc, name, *args], 1, f"{name}: error: {message}")
        for name, message in CLUSTERS:
            self.expect([self.shardcc, "linear.onnx", "--cluster", name], 1, f"{name}: error: {message}")
        self.expect([self.shardcc, "detect", "-o", "none/it"], 1, "shardcc: error: cannot write 'none/it': No such file or directory")
        for args, message in TRAINER_OPTIONS:
            self.expect(["./linear", *args], 2, f"linear: error: {message}")
        for args, message in DATA:
            self.expect(["./linear", "--quiet", "--data", *args], 1, f"linear: error: {message}")
        for args, message in TOKENS:
            self.expect(["./other", "--quiet", "--data", *args], 1, f"other: error: {message}")
        for option in (["--eval-data"], ["-o", "out.npz", "--predict"]):
            message = "input 'ids': sample 3, place 2: 16 is out of range, -16 to 15"
            self.expect(["./other", "--quiet", *option, "high"], 1, f"other: error: {message}")

    def prefixes(self):
        """Every prefix of a small model, and some of a real one: one message each, no crash."""
        jobs = [(self.work / "linear.onnx", 1), (TINY / "mlp.onnx", 211)]

        def one(job):
            path, length = job
            part = self.work / f"part{length}-{path.name}"
            part.write_bytes(path.read_bytes()[:length])
            done = self.run([self.shardcc, part.name, "--emit", "ir"])
            part.unlink()
            said = re.fullmatch(rf"{part.name}: error: .+\n(  .+\n)*", done.stderr)
            return None if done.returncode == 1 and said else f"{part.name}: exit {done.returncode}: {done.stderr!r}"

        for path, step in jobs:
            lengths = range(0, path.stat().st_size, step)
            with ThreadPoolExecutor(2) as pool:
                wrong = [x for x in pool.map(one, [(path, n) for n in lengths]) if x]
            self.check(f"{len(lengths)} prefixes of {path.name}", not wrong, "; ".join(wrong[:3]))

    def weights_unwanted(self):
        """Weights that nobody wants may be missing."""
        done = self.run([self.shardcc, "missing.onnx", "--no-weights", "--emit", "source", "-o", "unwanted"])
        self.check("--no-weights without external data", done.returncode == 0, done.stderr)

    def padding(self):
        """--padding-index: a table's row without gradient; a glob that matches none is warned of."""
        done = self.run([self.shardcc, "other.onnx", *TRAIN, "--padding-index", "tabel=3", "--emit", "ir", "-o", "p.ir"])
        warning = "other.onnx: warning: --padding-index 'tabel=3': no embedding table has such a name\n"
        self.check("--padding-index of no table", done.returncode == 0 and done.stderr == warning, done.stderr)
        command = [self.shardcc, "other.onnx", *TRAIN, "-o", "padded", "--padding-index", "tab*=3"]
        done = self.run([*command[:-1], "tab*=16"])
        self.check("--padding-index beyond the table", done.returncode == 1 and "the table has 16 rows" in done.stderr, done.stderr)
        run(*command, cwd=self.work)
        ids = np.arange(8).reshape(2, 4)
        write_data(self.work / "ids", {"ids": ids, "labels": (ids + 1) % 16})
        run("./padded", "--data", "ids", "--save-gradients", "g.safetensors", cwd=self.work)
        rows = np.abs(read_safetensors(self.work / "g.safetensors")["table"]).sum(1)
        self.check("--padding-index: no gradient", rows[3] == 0 and (rows[[0, 1, 2, 4, 5, 6, 7]] > 0).all())

    # ---- saving ----

    def disk_full(self):
        """No room for the file: the old one stays whole, nothing is left beside it."""
        run("./linear", "--data", "good", "--save", "kept", "--quiet", cwd=self.work)
        old, files = (self.work / "kept").read_bytes(), sorted(os.listdir(self.work))

        def limit(size=64):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = self.run(["./linear", "--data", "good", "--save", "kept", "--quiet"], preexec_fn=limit)
        said = done.stderr == "linear: error: kept: not saved: File too large\n"
        self.check("no room to save", done.returncode == 1 and said, done.stderr)
        same = (self.work / "kept").read_bytes() == old and sorted(os.listdir(self.work)) == files
        self.check("no room to save: the old file is whole", same)
        done = self.run(["./linear", "--data", "not_finite", "--save", "kept"])
        same = (self.work / "kept").read_bytes() == old
        self.check("the loss becomes NaN: the old file is whole", done.returncode == 1 and same, done.stderr)
        compiler = "the C compiler 'cc' failed, nothing is written\n  it needs OpenMP and oneDNN (Debian: gcc, libdnnl-dev); --emit c shows the text\n"
        for what, size, more, message in (
            ("the weights", 64, [], r"'\./\.shardcc-.{6}/large\.safetensors': File too large\n"),
            ("the text", 64, ["--no-weights"], r"cannot write '\./\.shardcc-.{6}/large\.c': File too large\n"),
            ("the program", 32768, [], re.escape(compiler)),
            ("sources", 4096, ["--emit", "source"], r"cannot write 'large/\.shardcc-.{6}/.+': File too large\n"),
            ("a graph's text", 64, ["--emit", "ir"], r"cannot write 'large': File too large\n"),
        ):
            done = self.run([self.shardcc, "linear.onnx", "-o", "large", *more], preexec_fn=lambda: limit(size))
            said = re.search(rf"^linear\.onnx: error: {message}\Z", done.stderr, re.M)
            clean = sorted(os.listdir(self.work)) == files
            self.check(f"no room for {what}", done.returncode == 1 and said and clean, done.stderr)

    def killed(self):
        """Killed in the middle of saving: the old file is whole, and the next save works."""
        big = np.zeros((2048, 2048), np.float32)
        nodes = [node("MatMul", ["x", "weight"], ["logits"], "mm")]
        data = model(nodes, [value("x", "f32", [1, 2048])], [value("logits", "f32", [1, 2048])], [tensor("weight", big)])
        (self.work / "big.onnx").write_bytes(data)
        run(self.shardcc, "big.onnx", *TRAIN, cwd=self.work)
        write_data(self.work / "big_data", {"x": np.zeros((1, 2048), np.float32), "labels": np.zeros(1, np.int64)})
        command = ["./big", "--data", "big_data", "--steps", "0", "--quiet", "--save", "saved"]
        run(*command, cwd=self.work)
        old, caught = (self.work / "saved").read_bytes(), 0
        for _ in range(20):
            p = subprocess.Popen(command, cwd=self.work)
            while p.poll() is None and not list(self.work.glob("saved.*")):
                pass
            p.kill()
            p.wait()
            caught += bool(list(self.work.glob("saved.*")))
            if (self.work / "saved").read_bytes() != old:
                break
            if caught == 3:
                break
        self.check("killed while saving: the old file is whole", (self.work / "saved").read_bytes() == old and caught > 0, f"{caught} times")
        run(*command, cwd=self.work)
        self.check("killed while saving: the next save works", (self.work / "saved").read_bytes() == old)

    # ---- compiling ----

    def start(self, *args):
        """shardcc in a session of its own, once it has begun to write beside `never`; and what was there before."""
        files = set(os.listdir(self.work))
        command = [self.shardcc, *args, "-o", "never"]
        p = subprocess.Popen(command, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while p.poll() is None and not set(self.work.glob(".shardcc-*")) - {self.work / f for f in files}:
            time.sleep(0.001)
        return p, files

    def start_compiler(self):
        """… once the C compiler runs, which takes a minute."""
        (self.work / "slow").write_text("#!/bin/sh\ntouch started\nexec sleep 60\n")
        (self.work / "slow").chmod(0o755)
        p, files = self.start("linear.onnx", "--cc", "./slow")
        while p.poll() is None and not (self.work / "started").exists():
            time.sleep(0.01)
        (self.work / "started").unlink()
        return p, files

    def compiler_interrupted(self):
        """Asked to end while the C compiler runs: both do, nothing is left."""
        message = "linear.onnx: error: the C compiler './slow' was stopped: "
        for sig, what in (signal.SIGINT, "Interrupt"), (signal.SIGTERM, "Terminated"):
            p, files = self.start_compiler()
            (os.killpg if sig == signal.SIGINT else os.kill)(p.pid, sig)
            said = p.communicate(timeout=60)[1]
            self.check(f"{sig.name} in the C compiler", p.returncode == -sig and said == f"{message}{what}\n", (p.returncode, said))
            self.check(f"{sig.name} in the C compiler: nothing is left", set(os.listdir(self.work)) == files)

    def copy_interrupted(self):
        """Asked to end while weights are copied: nothing is left."""
        size, n = 4096, 8
        nodes = [node("Add", [f"x{i}", f"w{i}"], [f"x{i + 1}"], "add") for i in range(n)]
        weights = [external(f"w{i}", [size, size], "sparse.bin", 4 * size * size * i) for i in range(n)]
        data = model(nodes, [value("x0", "f32", [size, size])], [value(f"x{n}", "f32", [size, size])], weights)
        (self.work / "sparse.onnx").write_bytes(data)
        with open(self.work / "sparse.bin", "wb") as f:
            f.truncate(4 * size * size * n)
        for sig in signal.SIGINT, signal.SIGTERM:
            p, files = self.start("sparse.onnx")
            p.send_signal(sig)
            said = p.communicate(timeout=60)[1]
            stopped = p.returncode == -sig and said == "sparse.onnx: error: stopped, nothing is written\n"
            self.check(f"{sig.name} while copying weights", stopped, (p.returncode, said))
            self.check(f"{sig.name} while copying weights: nothing is left", set(os.listdir(self.work)) == files)

    def compiler_killed(self):
        """What a killed shardcc leaves the next one clears away, but not what a running one works in."""
        p, files = self.start_compiler()
        other, _ = self.start_compiler()
        stages = set(self.work.glob(".shardcc-*"))
        p.kill()
        p.wait()
        run(self.shardcc, "linear.onnx", cwd=self.work)
        left = set(self.work.glob(".shardcc-*"))
        self.check("a killed shardcc's folder is cleared away", len(stages) == 2 and len(left) == 1, (stages, left))
        os.killpg(p.pid, signal.SIGKILL)  # its C compiler
        os.killpg(other.pid, signal.SIGINT)
        said = p.communicate(timeout=60), other.communicate(timeout=60)
        self.check("a running one's is not", "was stopped: Interrupt" in said[1][1], said)
        self.check("nothing is left", set(os.listdir(self.work)) == files, set(os.listdir(self.work)) - files)

    def interrupted(self):
        """Ctrl-C: the step is finished and saved, as after so many steps without it."""
        more = ["--no-shuffle", "--data", "good", "--quiet"]
        for sig, status in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            log = self.work / "run.jsonl"
            log.unlink(missing_ok=True)
            p = subprocess.Popen(["./linear", *more, "--steps", "100000000", "--log", "run.jsonl", "--save", "stopped"], cwd=self.work)
            while p.poll() is None and not (log.exists() and log.stat().st_size > 200):
                time.sleep(0.01)
            p.send_signal(sig)
            p.wait(60)
            steps = len(read_log(log))
            run("./linear", *more, "--steps", steps, "--save", "whole", cwd=self.work)
            same = (self.work / "stopped").read_bytes() == (self.work / "whole").read_bytes()
            self.check(f"{sig.name}: exit {status}", p.returncode == status, f"exit {p.returncode}")
            self.check(f"{sig.name}: saved as after {steps} steps", same)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, required=True)
    o = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        work = Path(temp) / "work"
        work.mkdir()
        write_models(work)
        write_folders(work)
        t = Errors(o.shardcc.resolve(), work, checks)
        run(t.shardcc, "linear.onnx", *TRAIN, cwd=work)
        run(t.shardcc, "other.onnx", *TRAIN, cwd=work)
        run(t.shardcc, "linear.onnx", *TRAIN, "--emit", "ir", "-o", "updated.ir", cwd=work)
        t.tables()
        t.prefixes()
        t.weights_unwanted()
        t.padding()
        t.disk_full()
        t.killed()
        t.interrupted()
        t.compiler_interrupted()
        t.compiler_killed()
        t.copy_interrupted()
    checks.finish()


if __name__ == "__main__":
    main()
