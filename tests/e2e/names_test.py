#!/usr/bin/env python3
"""Names from a model reach neither the C text unescaped nor the file system.

  names_test.py --shardcc build/shardcc

The committed mlp.onnx with other names in it: quotes, ends of comments, formats, newlines, right-to-left
marks, words of C, paths. Then names that are no text.
"""
import re
import shutil
from pathlib import Path

import numpy as np

from harness import read_safetensors, run, write_data
from model import REPOSITORY, Model, for_models, parser
from onnx_bytes import model as onnx_model
from onnx_bytes import node, tensor, value
from text_test import warnings_of
from wire import rename

HOSTILE = {
    "0.weight": 'quote " and \\',
    "0.bias": "*/ int i; /*",
    "2.weight": "two\nlines\r\t",
    "2.bias": "%s%n%999999d ??/",
    "4.weight": "\u202eright to left\u2028",
    "4.bias": "int",
    "logits": "return",
    "x": "while",
    "node": '*/ #include "/etc/passwd"\n#error %s \u202e ??/',
    "other": "../../escape/",
}
# Inputs are files of a data folder, so that these names are paths.
PATHS = ["../outside", "/tmp/outside", "a/b", "", ".", "nul\u0001", "x" * 300]


def hostile_model(work, **more):
    """mlp.onnx with hostile names in `work`, with `more` changed."""
    names = {**HOSTILE, **more}
    data = (REPOSITORY / "models/tiny/mlp.onnx").read_bytes()

    def value(name):
        return names.get(name, names["other"] + name + names["node"])

    work.mkdir(parents=True, exist_ok=True)
    path = work / "hostile.onnx"
    path.write_bytes(rename(data, value, lambda s: names["node"] + s, lambda s: names["node"]))
    return path


def arguments(loss):
    return ["--loss", loss, "--optimizer", "adamw(lr=0.001)"]


def test_hostile(checks, model):
    """With hostile names the trainer is the same as with plain names."""
    folder = model.work / "hostile"
    path = hostile_model(folder)
    run(model.shardcc, path, "-o", folder / "trainer", *arguments("cross_entropy(return, labels)"))
    made = {f.name for f in folder.iterdir()}
    expected = {"hostile.onnx", "trainer", "trainer.c", "trainer.safetensors"}
    checks.check("hostile names: files", made == expected, str(sorted(made - expected)))
    text = (folder / "trainer.c").read_bytes()
    checks.check("hostile names: ASCII", text.isascii() and not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", text))
    checks.check("hostile names: lines", max(map(len, text.split(b"\n"))) <= 100)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        found = warnings_of(compiler, ["-fopenmp"], folder / "trainer.c", model.shardcc)
        checks.check(f"hostile names: {compiler}", not found, found)
    names = {HOSTILE[n] for n in model.info["initializer_is"]}
    found = set(read_safetensors(folder / "trainer.safetensors"))
    checks.check("hostile names: weights", found == names, f"{sorted(found)}")
    write_data(folder / "data", {"while": model.batches("x"), "labels": model.batches("labels")})
    log = folder / "log.jsonl"
    options = ["--steps", model.info["steps"], "--no-shuffle", "--quiet", "--log", log, "--check-arena"]
    run(folder / "trainer", "--data", folder / "data", *options)
    plain = model.compile("plain")
    model.train(plain)
    same = losses(log) == losses(plain.with_suffix(".jsonl"))
    checks.check("hostile names: losses", same)
    write_data(folder / "in", {"while": model.ref["data/x"][0]})
    run(folder / "trainer", "--predict", folder / "in", "-o", folder / "out.npz", "--quiet", "--check-arena")
    out = np.load(folder / "out.npz")
    checks.check("hostile names: output", list(out) == ["return"], str(list(out)))


def test_macros(checks, model):
    """Parameters with the names of macros, of each other, and of nothing compile without a word."""
    names = ["fp.nan", "int64.c", "int8/max", "null", "rt.at", "uint64_max", "m.pi", "a.b", "a/b", "a_b", "A.B", "1.2", "_", "%"]
    path = model.work / "macros.onnx"
    path.write_bytes(sum_of(names, "x"))
    text = model.work / "macros.c"
    run(model.shardcc, path, "--loss", "mse(logits, y)", "--optimizer", "adamw", "--emit", "c", "-o", text)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        found = warnings_of(compiler, ["-fopenmp"], text, model.shardcc)
        checks.check(f"names of macros: {compiler}", not found, found)


def losses(log):
    return re.findall(r'"loss": ?[^,}]*', log.read_text())


def test_paths(checks, model):
    """An input whose name is no plain file name is refused, or read under another name."""
    for i, name in enumerate(PATHS):
        folder = model.work / f"path_{i}" / "inner"
        path = hostile_model(folder, x=name)
        before = listing(model.work)
        try:
            run(model.shardcc, path, "-o", folder / "trainer", *arguments("cross_entropy(return, labels)"))
            write_data(folder / "data", {"labels": model.batches("labels")})
            write_data(folder, {"outside": model.batches("x")})  # the file that "../outside" would name
            run(folder / "trainer", "--data", folder / "data", "--steps", 1, "--quiet", status=1)
        except RuntimeError as e:
            refused = str(e).startswith("exit 1,") and "error: " in str(e)
            checks.check(f"input {name[:20]!r}: refused", refused, str(e).replace("\n", " | ")[:300])
        else:
            checks.check(f"input {name[:20]!r}: no such file", True)
        more = {f for f in listing(model.work) - before if folder not in f.parents}
        checks.check(f"input {name[:20]!r}: files", not more, str(more))


# Names of weights, and their form in files and messages.
WEIGHTS = {
    b"a\xff": "a\\xff",
    b"b\xc3(": "b\\xc3(",
    b"\xc3\xa9\xed\xa0\x80": "é\\xed\\xa0\\x80",
    b"__metadata__": "__metadata__.2",
    b"tab\tand\x7f": "tab\tand\x7f",
    b"v" * 65536: "v" * 65536,
}


def sum_of(names, x):
    """logits = x + the weights of those names."""
    values = [x, *[f"t{i}" for i in range(1, len(names))], "logits"]
    nodes = [node("Add", [a, n], [b]) for a, n, b in zip(values, names, values[1:])]
    tensors = [tensor(n, np.full(4, i, np.float32)) for i, n in enumerate(names)]
    return onnx_model(nodes, [value(x, "f32", [2, 4])], [value("logits", "f32", [2, 4])], tensors)


def test_bytes(checks, shardcc, work):
    """Names that aren't UTF-8, or that safetensors reserves, are the same in all files. Long names of inputs name files too."""
    args, x = ["--loss", "mse(logits, y)", "--optimizer", "sgd"], "x" * 255
    (work / "bytes.onnx").write_bytes(sum_of(list(WEIGHTS), x))
    run(shardcc, "bytes.onnx", *args, cwd=work)
    zeros = np.zeros((2, 4), np.float32)
    write_data(work / "bytes_data", {x[:251]: zeros, "y": zeros})
    run("./bytes", "--data", "bytes_data", "--save", "saved", "--quiet", cwd=work)
    for name in "bytes.safetensors", "saved":
        found = set(read_safetensors(work / name))
        checks.check(f"names in {name}", found == set(WEIGHTS.values()), str([n[:20] for n in found]))
    run("./bytes", "--data", "bytes_data", "--load", "saved", "--quiet", cwd=work)
    (work / "bytes_data" / f"{x[:251]}.npy").unlink()
    said = run("./bytes", "--data", "bytes_data", "--quiet", cwd=work, status=1)
    checks.check("an input of 255 letters: its file is named", f"bytes_data/{x[:251]}.npy: No such file" in said, said)
    (work / "header.onnx").write_bytes(sum_of([b"\1" * 65530 + b"%d" % i for i in range(280)], "x"))
    said = run(shardcc, "header.onnx", "--cc", "true", cwd=work, status=1)
    expected = "header.onnx: error: the weights' names and shapes take 110107272 bytes, a file holds only 100000000"
    checks.check("more names than a file takes", said.endswith(expected + "\n"), said)


def test_functions(checks, shardcc, work):
    """Functions named after modules that are words of C, names of its library or of other functions compile."""
    modules = ["int", "main", "rt", "every", "block1", "exit", "1", "{}", "*/ #error", "LayerNorm", "layer_norm", "x" * 300]
    lines = ["input %v0 f32[4,6]", "parameter %w f32[6,6]"]
    for i, module in enumerate(modules):
        lines += [f'%d{i} f32[4,6] = dot(%v{i}, %w) eq="mk,kn->mn" from "n" "{module}"']
        steps = [f"%d{i}", *[f"%t{i}_{k}" for k in range(i)], f"%v{i + 1}"]  # each group is another one
        lines += [f'{y} f32[4,6] = tanh({x}) from "n" "{module}"' for x, y in zip(steps, steps[1:])]
    lines += [f'output model "logits" %v{len(modules)}']
    (work / "functions.ir").write_text('graph "functions" {\n' + "\n".join(lines) + "\n}\n")
    options = ["--loss", "mse(logits, y)", "--optimizer", "adamw", "--clip-norm", 1]
    run(shardcc, work / "functions.ir", *options, "--dump-after", "optimizer", "-o", work / "updates.ir")
    updates = (work / "updates.ir").read_text().replace('from "adamw"', 'from "exit"').replace('from "grad_norm"', 'from "sqrt"')
    (work / "updates.ir").write_text(updates)
    for name, more in ("functions", options), ("updates", []):
        text = work / f"{name}.c"
        run(shardcc, work / f"{name}.ir", *more, "--emit", "c", "-o", text)
        for compiler in filter(shutil.which, ("gcc", "clang")):
            found = warnings_of(compiler, ["-fopenmp"], text, shardcc)
            checks.check(f"{name} named after modules: {compiler}", not found, found)
        found = re.findall(r"^static void (\w+)\(const void", text.read_text(), re.M)
        checks.check(f"{name}: one each", len(set(found)) == len(found) > len(modules), str(found))


def listing(folder):
    return set(Path(folder).rglob("*"))


def main():
    options = parser(__doc__).parse_args()
    options.names = ["mlp"]

    def one(checks, path, work):
        model = Model(path, options.shardcc, work)
        test_hostile(checks, model)
        test_macros(checks, model)
        test_paths(checks, model)
        test_bytes(checks, options.shardcc, work)
        test_functions(checks, options.shardcc, work)

    for_models(options, one)


if __name__ == "__main__":
    main()
