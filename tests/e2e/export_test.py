#!/usr/bin/env python3
"""shardcc checkpoint export --onnx: copies of models with the weights of a checkpoint.

  export_test.py [NAME ...] --shardcc build/shardcc [--onnxruntime]

A few steps are trained and exported. Each tensor of the copy has the checkpoint's bytes, or those of the model if it isn't in
the checkpoint; all else in the file stays as it is; and a program that is compiled from the copy predicts what the trainer
predicts with the checkpoint, bit by bit. --onnxruntime also compares with ONNX Runtime, where it is installed.
"""
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from checkpoint_test import ENV, MESHES, Trainer, step
from harness import Checks, read_safetensors, relative, run, side_by_side, write_safetensors
from model import QUICK_CC, Model, parser
from onnx_bytes import external, field, linear, model, node, pairs, tensor, value, varint
from wire import fields

MANY = ("bert", "cnn", "encoder", "gpt2", "gpt_dropout", "llama", "lstm", "mixer", "mobilenet", "nanogpt", "resnet", "vit")
RANKS = {"gpt2": 2, "llama": 4, "mobilenet": 3}  # 1 otherwise


# ---- ONNX files, byte by byte ----


def numbered(data):
    """The number and the contents of each field of a message: bytes or a number."""
    return [(number, value) for number, _, value in fields(data)]


class Tensor:
    """A TensorProto: its name, its bytes (None: in typed fields), and whether they are in another file."""

    def __init__(self, data, folder):
        parts = numbered(data)
        entries = [dict(numbered(v)) for n, v in parts if n == 13]
        place = {e[1].decode(): e[2].decode() for e in entries}
        self.name = b"".join(v for n, v in parts if n == 8).decode()
        self.kind = [v for n, v in parts if n == 2][-1]
        self.location = place.get("location")
        self.bytes = next((v for n, v in parts if n == 9), None)
        if self.location:
            at, n = int(place["offset"]), int(place["length"])
            self.bytes = (folder / self.location).read_bytes()[at : at + n]
            self.offset = at


def read_model(path):
    """The initializers by name, and all other fields of the model and its graph."""
    parts = numbered(path.read_bytes())
    graph = numbered(next(v for n, v in parts if n == 7))
    tensors = [Tensor(v, path.parent) for n, v in graph if n == 5]
    return {t.name: t for t in tensors}, [x for x in parts if x[0] != 7] + [x for x in graph if x[0] != 5]


# ---- exported copies ----


def export(shardcc, *args, cwd=None):
    done = subprocess.run([str(x) for x in (shardcc, "checkpoint", "export", *args)], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def check_bytes(checks, name, original, copy, weights, is_all=True):
    """The copy has the checkpoint's weights and else what the original has: is_all, all weights are initializers."""
    old, kept = read_model(original)
    new, kept_too = read_model(copy)
    checks.check(f"{name}: all else stays", (kept == kept_too) == is_all and list(old) == list(new))
    wrong = [x for x, t in new.items() if x in weights and t.bytes != weights[x].tobytes()]
    other = [x for x, t in new.items() if x not in weights and t.bytes != old[x].bytes]
    found = len(set(new) & set(weights))
    checks.check(f"{name}: {found} tensors have the checkpoint's bytes", found and not wrong and not other, f"{wrong} {other}")
    return found


def predict(program, inputs, to, *options, launch=()):
    run(*launch, program, "--predict", inputs, "-o", to, "--quiet", *options, env=ENV)
    return np.load(to)


def test_model(checks, options, path, work):
    m = Model(path, options.shardcc, work, cc=QUICK_CC)
    t = Trainer(m, RANKS.get(m.name, 1))
    there = t.folder("there")
    ran = t.run("--steps", 3, "--checkpoint", there, "--checkpoint-every", 2, "--keep", 9)
    checks.check(f"{m.name}: trains", ran == (0, ""), str(ran))
    copy = m.work / "copy.onnx"
    done = export(options.shardcc, there, "--onnx", path, "-o", copy)
    said = f"wrote {copy}, the model with the weights after step 3\n"
    checks.check(f"{m.name}: exports", done == (0, said, ""), str(done))
    weights = read_safetensors(step(there, 3) / "model.safetensors")
    found = check_bytes(checks, m.name, path, copy, weights)
    checks.check(f"{m.name}: no weight is missing", found == len(weights), str(set(weights) - set(read_model(copy)[0])))
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(t.ranks)] if t.ranks > 1 else []
    expected = predict(t.program, m.data(), m.work / "a.npz", "--load", there, launch=launch)
    again = Model(path, options.shardcc, work / "again", cc=QUICK_CC)
    again.onnx = copy
    program = again.compile(f"r{t.ranks}", None, *MESHES[t.ranks])
    found = predict(program, m.data(), m.work / "b.npz", launch=launch)
    same = all(expected[x].tobytes() == found[x].tobytes() for x in expected.files)
    checks.check(f"{m.name}: the copy's program has the same bits", same and expected.files == found.files)
    plain = predict(program, m.data(), m.work / "c.npz", "--load", t.program.with_suffix(".safetensors"), launch=launch)
    moved = any(expected[x].tobytes() != plain[x].tobytes() for x in expected.files)
    checks.check(f"{m.name}: other ones than of the model", moved)
    if options.onnxruntime:
        compare_runtime(checks, m, copy, expected)


def compare_runtime(checks, m, copy, expected):
    import onnxruntime

    session = onnxruntime.InferenceSession(copy, providers=["CPUExecutionProvider"])
    names = [x.name for x in session.get_inputs()]
    whole, n = {x: m.batches(x) for x in names}, m.ref["data/labels"].shape[1]
    batches = [{x: a[i : i + n] for x, a in whole.items()} for i in range(0, len(m.batches("labels")), n)]
    found = [session.run(None, b) for b in batches]
    for i, output in enumerate(session.get_outputs()):
        error = relative(np.concatenate([x[i] for x in found]), expected[output.name])
        checks.check(f"{m.name}: ONNX Runtime, {output.name}", error <= 1e-4, f"{error:.1e}")


# ---- where the bytes are ----


class Places:
    """A small model whose trainer is run for a step; variants of it have their tensors elsewhere."""

    def __init__(self, checks, shardcc, work):
        self.checks, self.shardcc, self.work = checks, shardcc, work
        work.mkdir(parents=True)

    def train(self, name, data, *more):
        """Makes the model NAME and a checkpoint of it; returns both paths."""
        path, there = self.work / f"{name}.onnx", self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        program = self.work / f"{name}_program"
        run(self.shardcc, path, "-o", program, "--cc", QUICK_CC, "--loss", "mse(logits, labels)", "--optimizer", "sgd(lr=0.1)", *more)
        folder = self.work / f"{name}_data"
        folder.mkdir()
        x = np.arange(16, dtype=np.float32).reshape(4, 4) / 7
        np.save(folder / "x.npy", x)
        np.save(folder / "labels.npy", np.ones((4, 3), np.float32))
        run(program, "--data", folder, "--steps", 1, "--checkpoint", there, "--quiet", env=ENV)
        return path, there, program

    def export(self, what, path, there, to, files, *more, tied=None, is_all=True):
        """Exports, and checks what is said and which tensors are in the file next to the copy. `tied`: {tensor: its weight}."""
        done = export(self.shardcc, there, "--onnx", path, "-o", to, *more)
        names = f"{to} and {to}.data" if files else f"{to}"
        self.checks.check(f"{what}: exports", done == (0, f"wrote {names}, the model with the weights after step 1\n", ""), str(done))
        weights = read_safetensors(step(there, 1) / "model.safetensors")
        weights.update({x: weights[y] for x, y in (tied or {}).items()})
        check_bytes(self.checks, what, path, to, weights, is_all)
        new = read_model(to)[0]
        found = {x: t.location for x, t in new.items() if t.location}
        ok = found == {x: f"{to.name}.data" for x in files} and all(t.offset % 4096 == 0 for t in new.values() if t.location)
        self.checks.check(f"{what}: files", ok and Path(f"{to}.data").exists() == bool(files), str(found))
        left = [x.name for x in to.parent.glob(f"{to.name}*.shardcc-*")]
        self.checks.check(f"{what}: nothing is left", not left, str(left))
        return new

    def same_bits(self, what, copy, there, program):
        """Programs of model and copy predict the same."""
        again = self.work / f"{program.name}_again"
        run(self.shardcc, copy, "-o", again, "--cc", QUICK_CC, "--loss", "mse(logits, labels)", "--optimizer", "sgd(lr=0.1)")
        x = self.work / f"{program.name.removesuffix('_program')}_data" / "x.npy"
        a = predict(program, x, self.work / "a.npz", "--load", there)["logits"]
        b = predict(again, x, self.work / "b.npz")["logits"]
        self.checks.check(f"{what}: same bits", a.tobytes() == b.tobytes())

    def inline(self):
        """Its floats are in typed fields; a documentation and fields that nobody knows stay."""
        w = np.arange(12, dtype=np.float32)
        typed = field(1, [4, 3]) + field(2, 1) + field(4, w.tobytes()) + field(8, "weight") + field(12, "a note")
        data = linear(weight=typed) + field(6, "documentation") + field(90, b"unknown") + varint(91 << 3 | 5) + b"four"
        path, there, program = self.train("typed", data)
        to = self.work / "typed_copy.onnx"
        new = self.export("typed fields", path, there, to, [])
        kept = b"documentation" in to.read_bytes() and b"unknown" in to.read_bytes() and b"a note" in to.read_bytes()
        self.checks.check("typed fields: nothing else is lost", kept and new["weight"].kind == 1)
        self.same_bits("typed fields", to, there, program)

    def others(self):
        """Weights in two files, two of them tied; a constant and a tensor that no node reads are there, too."""
        folder = self.work / "deep"
        (folder / "sub").mkdir(parents=True)
        rng = np.random.default_rng(1)
        (folder / "w.bin").write_bytes(rng.random(60, np.float32).tobytes())
        (folder / "sub" / "c.bin").write_bytes(np.asarray([3, 1, 2, 9], np.float32).tobytes())
        tied = [external("w1", [4, 4], "w.bin", 16), external("w2", [4, 4], "w.bin", 16)]
        rest = [external("w3", [4, 3], "w.bin", 80), external("val_7", [], "sub/c.bin", 4), external("unread", [2], "sub/c.bin", 8)]
        nodes = [node("MatMul", ["x", "w1"], ["a"]), node("MatMul", ["a", "w2"], ["b"]), node("Mul", ["b", "val_7"], ["c"]),
                 node("MatMul", ["c", "w3"], ["logits"])]  # fmt: skip
        data = model(nodes, [value("x", "f32", ["batch", 4])], [value("logits", "f32", ["batch", 3])], [*tied, *rest])
        path, there, program = self.train("deep/model", data, "--bind", "batch=2")
        names = ["w1", "w2", "w3", "val_7", "unread"]
        to = self.work / "else.onnx"
        weights = read_safetensors(step(there, 1) / "model.safetensors")
        self.checks.check("other files: w1 and w2 are one weight", sorted(weights) == ["w1", "w3"], str(list(weights)))
        new = self.export("other files", path, there, to, names, tied={"w2": "w1"})
        self.checks.check("other files: tied tensors stay tied", new["w1"].offset == new["w2"].offset and new["w2"].bytes == weights["w1"].tobytes())  # fmt: skip
        again = self.work / "again.onnx"
        self.export("a copy of a copy", to, there, again, names, "--bind", "batch=3", tied={"w2": "w1"})
        done = export(self.shardcc, there, "--onnx", to, "-o", self.work / "else.onnx.data", cwd=self.work)
        text = f"else.onnx: error: cannot write '{self.work}/else.onnx.data': it is a file of the model's weights\n"
        self.checks.check("a file of the model isn't overwritten", done == (1, "", text), str(done))

    def constant(self):
        """A large constant of a node is a buffer, to which --load may have given other values."""
        big = np.ones((1 << 18) + 1, np.float32)
        nodes = [node("Constant", [], ["c"], value=b""), node("ReduceMean", ["c"], ["m"], keepdims=0),
                 node("MatMul", ["x", "weight"], ["y"]), node("Mul", ["y", "m"], ["logits"])]  # fmt: skip
        nodes[0] = field(2, "c") + field(4, "Constant") + field(5, field(1, "value") + field(5, tensor("", big)) + field(20, 4))
        weight = tensor("weight", np.arange(12, dtype=np.float32).reshape(4, 3) / 10)
        data = model(nodes, [value("x", "f32", [2, 4])], [value("logits", "f32", [2, 3])], [weight])
        path, there, program = self.train("constant", data)
        self.checks.check("constants: it is a buffer", "c" in read_safetensors(step(there, 1) / "model.safetensors"))
        given = {"weight": ("F32", [4, 3], np.ones((4, 3), np.float32).tobytes()), "c": ("F32", [len(big)], (3 * big).tobytes())}
        write_safetensors(self.work / "given.safetensors", given)
        shutil.rmtree(there)
        run(program, "--data", self.work / "constant_data", "--steps", 1, "--checkpoint", there, "--quiet", "--load",
            self.work / "given.safetensors", env=ENV)  # fmt: skip
        to = self.work / "constant_copy.onnx"
        self.export("constants", path, there, to, [], is_all=False)
        self.checks.check("constants: the node has the buffer's values", (3 * big).tobytes() in to.read_bytes())
        self.same_bits("constants", to, there, program)

    def messages(self):
        path, there, _ = self.train("plain", linear())
        wide = self.work / "wide.onnx"
        extra = [tensor("weight", np.ones((4, 5), np.float32)), tensor("more", np.ones(5, np.float32))]
        nodes = [node("MatMul", ["x", "weight"], ["y"]), node("Add", ["y", "more"], ["logits"])]
        wide.write_bytes(model(nodes, [value("x", "f32", [2, 4])], [value("logits", "f32", [2, 5])], extra))
        other = self.work / "other.onnx"
        other.write_bytes(linear().replace(b"weight", b"kernel"))
        (self.work / "bad.onnx").write_bytes(b"no model")
        loose = self.work / "loose.onnx"
        entries = field(1, [2]) + field(2, 1) + field(8, "unread") + pairs(13, {"location": "w.bin"}) + field(14, 1)
        weight = tensor("weight", np.ones((4, 3), np.float32))
        loose.write_bytes(model([node("MatMul", ["x", "weight"], ["logits"])], [value("x", "f32", [2, 4])], [value("logits", "f32", [2, 3])],
                                [weight, entries]))  # fmt: skip
        (self.work / "folder.onnx").mkdir()
        weights = step(there, 1) / "model.safetensors"
        cases = (
            (["--onnx", wide], 1, "wide.onnx: error: the checkpoint's weights aren't those of the model\n"
             "  different   weight: found F32[4,3], expected F32[4,5]\n  missing     more F32[5]\n"),
            (["--onnx", other], 1, "other.onnx: error: the checkpoint's weights aren't those of the model\n"
             "  missing     kernel F32[4,3]\n  unexpected  weight F32[4,3]\n"),
            (["--onnx", "bad.onnx"], 1, "bad.onnx: error: not an ONNX model, or damaged: byte 1: a field has an unknown wire type\n"),
            (["--onnx", "gone.onnx"], 1, "gone.onnx: error: cannot read 'gone.onnx': No such file or directory\n"),
            (["--onnx", loose], 1, "loose.onnx: error: tensor 'unread': its external data needs a file, an offset and a length, "
             "else it can't be copied\n"),
            (["--onnx", path, "--bind", "batch=2"], 1, "plain.onnx: error: --bind 'batch=2': the model has no dim of that name, only numbers\n"),
            (["--onnx", path, "-o", path], 1, f"plain.onnx: error: cannot write '{path}': it is the model\n"),
            (["--onnx", path, "-o", weights], 1, f"plain.onnx: error: cannot write '{weights}': it is a file of the checkpoint\n"),
            (["--onnx", path, "-o", "folder.onnx"], 1, "plain.onnx: error: cannot write 'folder.onnx': it is a folder\n"),
            (["--onnx", path, "-o", "none/x.onnx"], 1, "plain.onnx: error: cannot write into 'none': No such file or directory\n"),
            (["--onnx", path, "--step", 2], 1, f"{there}: error: there is no checkpoint of step 2\n"),
            (["--bind", "batch=2"], 2, "shardcc: error: --bind needs --onnx\n"),
            (["--shape", "x=2,4"], 2, "shardcc: error: --shape needs --onnx\n"),
        )  # fmt: skip
        for args, status, text in cases:
            to = [] if "-o" in args else ["-o", "x.onnx"]
            done = export(self.shardcc, there, *args, *to, cwd=self.work)
            self.checks.check(f"message: {text.splitlines()[-1][:90]}", done == (status, "", text), str(done))
        self.checks.check("nothing is written", not list(self.work.glob("x.onnx*")))


def main():
    p = parser(__doc__)
    p.add_argument("--onnxruntime", action="store_true", help="compare with ONNX Runtime, too")
    options = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        work = (options.work or Path(temp)).resolve()
        tests = [partial(test_model, checks, options, options.models / f"{x}.onnx", work) for x in options.names or MANY]
        if not options.names:
            places = Places(checks, options.shardcc, work / "places")
            tests += [places.inline, places.others, places.constant, places.messages]
        side_by_side(options.jobs, *tests)
    checks.finish()


if __name__ == "__main__":
    main()
