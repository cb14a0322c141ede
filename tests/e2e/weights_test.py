#!/usr/bin/env python3
"""--weights: models whose weights come from files of safetensors.

  weights_test.py [NAME ...] --shardcc build/shardcc [--onnxruntime]

Models that were exported without their parameters, in each form that exporters have, compile to the program and the weights
of the whole model; files of halves train, and the exported model predicts what the trainer predicts (--onnxruntime: with ONNX
Runtime too). Files, maps and options that are wrong give one message, the right status and no file.
"""
import json
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from checkpoint_test import ENV
from harness import Checks, read_safetensors, relative, run, side_by_side, without_command, write_safetensors
from model import QUICK_CC, Model, parser
from onnx_bytes import TYPES, external, field, linear, model, node, value
from wire import GRAPH_INITIALIZER, GRAPH_INPUT, MODEL_GRAPH, change, fields, write_varint

# The names in the file of weights, as checkpoints have them.
NAMES = {
    "cnn": lambda name: name,
    "gpt2": lambda name: name.removeprefix("model."),
    "llama": lambda name: name.removeprefix("model."),
    "vit": lambda name: "model." + name,
}
TRAINING = ["--loss", "mse(logits, labels)", "--optimizer", "sgd(lr=0.1)"]
INDEX = "model.safetensors.index.json"


def halves(shape, seed):
    """Small random numbers that f16 holds."""
    return (np.random.default_rng(seed).standard_normal(shape) / 8).astype(np.float16)


def stored(a):
    kind = {"float16": "F16", "float32": "F32", "int64": "I64"}[a.dtype.name]
    return kind, list(a.shape), np.ascontiguousarray(a).tobytes()


def save(path, arrays):
    write_safetensors(path, {name: stored(a) for name, a in arrays.items()})


# ---- models without their weights ----


def tensor_name(data):
    return next(v for n, _, v in fields(data) if n == 8).decode()


def replace_graph(data, graph_of):
    """The model with the fields (number, kind, contents) that graph_of makes of those of its graph."""

    def put(graph):
        return b"".join(write_varint(n << 3 | kind) + (write_varint(len(v)) + v if kind == 2 else write_varint(v))
                        for n, kind, v in graph_of(list(fields(graph))))  # fmt: skip

    return change(data, {MODEL_GRAPH: put})


def strip(data, weights, form):
    """The model without the bytes of its weights. forms: `names` that nothing defines, `inputs`, `external` data that isn't
    there, and `empty` tensors."""

    def strip_graph(graph):
        gone, at = [], 0
        for number, kind, v in graph:
            name = tensor_name(v) if number == GRAPH_INITIALIZER else None
            if name not in weights or name.endswith("inv_freq"):  # a buffer, which no checkpoint has
                yield number, kind, v
                continue
            shape = list(weights[name].shape)
            gone.append((GRAPH_INPUT, 2, value(name, "f32", shape)))
            if form == "external":
                yield number, kind, external(name, shape, "gone.onnx.data", at)
            elif form == "empty":
                yield number, kind, field(1, shape) + field(2, 1) + field(8, name)
            at += weights[name].nbytes
        yield from gone if form == "inputs" else []

    return replace_graph(data, strip_graph)


def source(shardcc, path, to, *options):
    """The C text and the weights of a program."""
    run(shardcc, path, "-o", to, "--emit", "source", *options)
    return without_command((to / f"{to.name}.c").read_text()), read_safetensors(to / f"{to.name}.safetensors")


def test_forms(checks, options, name, work):
    m = Model(options.models / f"{name}.onnx", options.shardcc, work)
    arguments = m.arguments({"optimizer": "adamw", "lr": 0.01})
    text, weights = source(options.shardcc, m.onnx, m.work / "p", *arguments)
    given = {x: halves(a.shape, i) for i, (x, a) in enumerate(weights.items())}
    save(m.work / "given.safetensors", {NAMES[name](x): a for x, a in given.items() if not x.endswith("inv_freq")})
    given.update({x: a for x, a in weights.items() if x.endswith("inv_freq")})
    for form in ("none", "names", "inputs", "external", "empty"):
        folder = m.work / form
        folder.mkdir()
        path = folder / m.onnx.name
        data = m.onnx.read_bytes()
        path.write_bytes(data if form == "none" else strip(data, weights, form))
        found, filled = source(options.shardcc, path, folder / "p", *arguments, "--weights", m.work / "given.safetensors")
        same = filled.keys() == given.keys() and all((filled[x] == a.astype(np.float32)).all() for x, a in given.items())
        checks.check(f"{name}, {form}: all weights are filled", same)
        checks.check(f"{name}, {form}: the same program", found == text)
    profile = run(options.shardcc, "profile", m.work / "names" / m.onnx.name, "--weights", m.work / "given.safetensors")
    checks.check(f"{name}: profile", " parameters, " in profile)
    if name == "gpt2":
        two = ["--emit", "c", "--ranks", "2", *arguments]
        whole = run(options.shardcc, m.onnx, *two)
        found = run(options.shardcc, m.work / "names" / m.onnx.name, "--weights", m.work / "given.safetensors", *two)
        checks.check(f"{name}: the same program for two ranks", without_command(found) == without_command(whole))


def test_training(checks, options, work):
    """GPT-2 without weights, a file of random halves: it trains, and the model that is exported predicts the same."""
    m = Model(options.models / "gpt2.onnx", options.shardcc, work, cc=QUICK_CC)
    weights = source(options.shardcc, m.onnx, m.work / "p")[1]
    given = {x: halves(a.shape, i) + ("ln" in x and "weight" in x) for i, (x, a) in enumerate(weights.items())}
    tied = next(x for x, a in weights.items() if a.shape[0] == m.info.get("vocabulary", max(a.shape[0] for a in weights.values())))
    names = {x: "wte.weight" if x == tied else x.removeprefix("model.") for x in given}
    save(m.work / "given.safetensors", {names[x]: a for x, a in given.items()})
    (m.work / "names.map").write_text(f"{tied} = wte.weight\n")
    path = m.work / "stripped" / "gpt2.onnx"
    path.parent.mkdir()
    path.write_bytes(strip(m.onnx.read_bytes(), weights, "names"))
    m.onnx = path
    trainer = m.compile("t", None, "--weights", m.work / "given.safetensors", "--weight-map", m.work / "names.map")
    there, saved = m.work / "there", m.work / "saved.safetensors"
    run(trainer, "--data", m.data(), "--steps", 3, "--checkpoint", there, "--save", saved, "--quiet", env=ENV)
    copies = {"the folder": there, "a file": saved}
    run(trainer, "--predict", m.data(), "-o", m.work / "a.npz", "--load", saved, "--quiet", env=ENV)
    expected = np.load(m.work / "a.npz")
    trained = read_safetensors(saved)
    checks.check("training: the weights moved", any((trained[x] != a).any() for x, a in given.items()))
    for what, from_ in copies.items():
        copy = m.work / f"{what.split()[1]}.onnx"
        said = run(options.shardcc, "checkpoint", "export", from_, "--onnx", path, "-o", copy)
        checks.check(f"export of {what}", said.startswith(f"wrote {copy}, the model with the weights "), said.strip())
    checks.check("export: both copies are equal", (m.work / "file.onnx").read_bytes() == (m.work / "folder.onnx").read_bytes())
    again = Model(options.models / "gpt2.onnx", options.shardcc, work / "again", cc=QUICK_CC)
    again.onnx = m.work / "file.onnx"
    run(again.compile("p"), "--predict", m.data(), "-o", m.work / "b.npz", "--quiet", env=ENV)
    found = np.load(m.work / "b.npz")
    checks.check("export: the copy predicts the same bits", all(found[x].tobytes() == expected[x].tobytes() for x in expected.files))
    if options.onnxruntime:
        compare_runtime(checks, m, m.work / "file.onnx", expected)
    for form in ("inputs", "external", "empty"):
        other, copy = m.work / f"{form}.onnx", m.work / f"{form}_copy.onnx"
        other.write_bytes(strip((options.models / "gpt2.onnx").read_bytes(), weights, form))
        run(options.shardcc, "checkpoint", "export", saved, "--onnx", other, "-o", copy)
        filled = source(options.shardcc, copy, m.work / f"{form}_program")[1]
        same = filled.keys() == trained.keys() and all((filled[x] == trained[x]).all() for x in trained)
        checks.check(f"export: a model of {form}", same)
        # Tensors of other files stay in another file.
        checks.check(f"export: data beside a model of {form}", Path(f"{copy}.data").exists() == (form == "external"))


def compare_runtime(checks, m, copy, expected):
    import onnxruntime

    session = onnxruntime.InferenceSession(copy, providers=["CPUExecutionProvider"])
    names = [x.name for x in session.get_inputs()]
    n = m.ref["data/labels"].shape[1]
    batches = [{x: m.batches(x)[i : i + n] for x in names} for i in range(0, len(m.batches("labels")), n)]
    found = [session.run(None, b) for b in batches]
    for i, output in enumerate(session.get_outputs()):
        error = relative(np.concatenate([x[i] for x in found]), expected[output.name])
        checks.check(f"ONNX Runtime, {output.name}", error <= 1e-5, f"{error:.1e}")


def test_halves(checks, options, work):
    """The weights of a trainer in f32, in a model that has halves."""
    work.mkdir()
    weight = np.array([[1 + 2**-11, 1 + 3 * 2**-11, np.nan], [65519, 1e-8, -0.1]], np.float32)
    save(work / "w.safetensors", {"weight": weight})
    for kind, round_ in (("f16", lambda a: a.astype(np.float16).tobytes()), ("bf16", round_bfloat)):
        path = work / f"{kind}.onnx"
        empty = field(1, [2, 3]) + field(2, TYPES[kind]) + field(8, "weight") + field(9, bytes(12))
        ends = [value("x", kind, [2, 2])], [value("logits", kind, [2, 3])]
        path.write_bytes(model([node("MatMul", ["x", "weight"], ["logits"])], *ends, [empty]))
        done = run(options.shardcc, "checkpoint", "export", work / "w.safetensors", "--onnx", path, "-o", work / "copy.onnx")
        copy = (work / "copy.onnx").read_bytes()
        found = next(v for n, _, t in fields(next(v for n, _, v in fields(copy) if n == 7)) if n == 5 for k, _, v in fields(t) if k == 9)
        checks.check(f"{kind}: rounded to the nearest, ties to even; NaN stays", found == round_(weight), f"{found} {round_(weight)}")
        checks.check(f"{kind}: says what it wrote", done == f"wrote {work}/copy.onnx, the model with the weights of w.safetensors\n", done.strip())


def round_bfloat(a):
    bits = a.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(a), 0x7FC0, rounded).astype(np.uint16).tobytes()


# ---- experts and shards ----


def test_experts(checks, options, work):
    """A stack of experts, from shards that have a file's worth of names each, as mixtures of experts are stored."""
    work.mkdir()
    layers, experts = 2, 3
    nodes = [node("MatMul", ["x" if i == 0 else f"h{i}", f"m.layers.{i}.mlp.experts.up"], [f"h{i + 1}" if i + 1 < layers else "logits"])
             for i in range(layers)]  # fmt: skip
    empty = [external(f"m.layers.{i}.mlp.experts.up", [experts, 4, 4], "gone.data", 4096 * i) for i in range(layers)]
    (work / "moe.onnx").write_bytes(model(nodes, [value("x", "f32", [experts, 2, 4])], [value("logits", "f32", [experts, 2, 4])], empty))
    name = "model.layers.{}.mlp.experts.{}.{}.weight"
    arrays = {name.format(i, e, w): halves((2, 4), 10 * i + 3 * e + (w == "w3")) for i in range(layers) for e in range(experts) for w in ("w1", "w3")}
    folder = work / "shards"
    folder.mkdir()
    parts = [dict(list(arrays.items())[i::2]) for i in range(2)]
    for i, part in enumerate(parts):
        save(folder / f"model-{i}.safetensors", part)
    weight_map = {x: f"model-{i}.safetensors" for i, part in enumerate(parts) for x in part}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (work / "moe.map").write_text(
        "# w1 and w3 of each expert, one after the other\n"
        "m.layers.*.mlp.experts.up = stack(transpose(concat(model.layers.*.mlp.experts.{0..2}.w1.weight, "
        "model.layers.*.mlp.experts.{0..2}.w3.weight)))\n"
    )
    expected = {f"m.layers.{i}.mlp.experts.up": np.stack([np.concatenate([arrays[name.format(i, e, w)] for w in ("w1", "w3")]).T
                                                         for e in range(experts)]) for i in range(layers)}  # fmt: skip
    for where in (folder, f"{folder}/", folder / INDEX):
        shutil.rmtree(work / "p", ignore_errors=True)
        found = source(options.shardcc, work / "moe.onnx", work / "p", "--weights", where, "--weight-map", work / "moe.map")[1]
        same = found.keys() == expected.keys() and all((found[x] == a).all() for x, a in expected.items())
        checks.check(f"experts: {Path(where).name}", same)
    head = (work / "p" / "p.c").read_text().split("\n", 3)[:3]
    checks.check("experts: the C text says how", any(f"--weights {INDEX} --weight-map moe.map" in x for x in head), str(head))


# ---- mistakes ----


def write_mistakes(work):
    work.mkdir()
    w = np.arange(12, dtype=np.float32).reshape(4, 3)
    (work / "linear.onnx").write_bytes(linear())
    save(work / "w.safetensors", {"weight": w})
    save(work / "linear.safetensors", {"weight": w})
    whole = (work / "w.safetensors").read_bytes()
    (work / "cut.safetensors").write_bytes(whole[:-4])
    (work / "lies.safetensors").write_bytes((10**15).to_bytes(8, "little") + whole[8:])
    write_safetensors(work / "short.safetensors", {"weight": ("F32", [4, 4], bytes(48))})
    write_safetensors(work / "eight.safetensors", {"weight": ("F8_E4M3", [4, 3], bytes(12))})
    save(work / "turned.safetensors", {"m.weight": w.T})
    save(work / "kernel.safetensors", {"kernel": w})
    (work / "empty").mkdir()
    for folder, files in {"twice": {"a": "a.safetensors", "b": "b.safetensors"}, "out": {"weight": "../w.safetensors"},
                          "gone": {"weight": "none.safetensors"}}.items():  # fmt: skip
        (work / folder).mkdir()
        (work / folder / INDEX).write_text(json.dumps({"weight_map": files}))
    for x in "ab":
        save(work / "twice" / f"{x}.safetensors", {"weight": w})
    (work / "bad.map").write_text("# nothing\nweight = stack(weight\n")
    (work / "none.map").write_text("wight = weight\n")
    (work / "other.map").write_text("weight = wieght\n")
    (work / "two.map").write_text("weight = weight\nweigh* = weight\n")
    (work / "graph.ir").write_text("graph \"g\" {\n}\n")


NO_MODEL = "linear.onnx: error: "
SUITS = "tensors of '{}' don't fit the model\n  different   weight: "
MISTAKES = (
    (["--weights", "none.safetensors"], 1, NO_MODEL + "'none.safetensors': No such file or directory"),
    (["--weights", "empty"], 1, NO_MODEL + f"'empty': a folder that has neither model.safetensors nor {INDEX}"),
    (["--weights", "cut.safetensors"], 1, NO_MODEL + "'cut.safetensors': safetensors: tensor 'weight' lies at bytes 0 to 48 of 44: truncated?"),
    (["--weights", "lies.safetensors"], 1,
     NO_MODEL + "'lies.safetensors': safetensors: its header says 1000000000000000 bytes, the file has 126: truncated?"),
    (["--weights", "short.safetensors"], 1, NO_MODEL + "'short.safetensors': safetensors: tensor 'weight' is F32[4,4] but has 48 bytes"),
    (["--weights", "eight.safetensors"], 1, NO_MODEL + "'eight.safetensors': safetensors: type 'F8_E4M3' is not supported"),
    (["--weights", "twice"], 1, NO_MODEL + "'twice': tensor 'weight' is in two shards"),
    (["--weights", "out"], 1, NO_MODEL + "'out': its shard '../w.safetensors' isn't a name of a file in its folder"),
    (["--weights", "gone"], 1, NO_MODEL + "'gone': its shard 'none.safetensors': No such file or directory"),
    (["--weights", "turned.safetensors"], 1, NO_MODEL + SUITS.format("turned.safetensors") +
     "'m.weight' is F32[3,4], expected F32[4,3], which is transposed: --weight-map takes the line weight = transpose(m.weight)"),
    (["--weights", "kernel.safetensors"], 1, NO_MODEL + "no tensor of 'kernel.safetensors' has the name of a parameter of the model\n"
     "  the file has 'kernel' and 0 more\n  the model has 'weight' and 0 more; --weight-map pairs other names"),
    (["--weights", "w.safetensors", "--weight-map", "gone.map"], 1, "gone.map: error: cannot read 'gone.map': No such file or directory"),
    (["--weights", "w.safetensors", "--weight-map", "bad.map"], 1, "bad.map: error: line 2: expected ')'"),
    (["--weights", "w.safetensors", "--weight-map", "none.map"], 1,
     "none.map: error: line 1: the model has no parameter 'wight' (did you mean 'weight'?)"),
    (["--weights", "w.safetensors", "--weight-map", "other.map"], 1,
     "other.map: error: line 1: 'w.safetensors' has no tensor 'wieght' (did you mean 'weight'?)"),
    (["--weights", "w.safetensors", "--weight-map", "two.map"], 1, "two.map: error: line 2: 'weight' is in line 1 already"),
    (["--weights", "linear.safetensors"], 1, NO_MODEL + "cannot write 'linear.safetensors': it is a file of --weights"),
    (["--weights", "linear.onnx"], 1,
     NO_MODEL + "'linear.onnx': safetensors: its header says 729875616609470984 bytes, the file has 163: truncated?"),
    (["--weights", "w.safetensors", "--weights", "w.safetensors"], 2,
     "shardcc: error: --weights is given twice: 'w.safetensors' and 'w.safetensors'"),
    (["--weight-map", "bad.map"], 2, "shardcc: error: --weight-map needs --weights"),
    (["--weights", ""], 2, "shardcc: error: --weights: the name is empty"),
)  # fmt: skip
EXPORTS = (
    (["w.safetensors", "-o", "x.safetensors"], 2, "shardcc: error: 'w.safetensors' is no folder of checkpoints: export needs --onnx"),
    (["w.safetensors", "--onnx", "linear.onnx", "-o", "x.onnx", "--best"], 2,
     "shardcc: error: 'w.safetensors' is no folder of checkpoints: --step and --best don't apply"),
    (["cut.safetensors", "--onnx", "linear.onnx", "-o", "x.onnx"], 1,
     "cut.safetensors: error: 'cut.safetensors': safetensors: tensor 'weight' lies at bytes 0 to 48 of 44: truncated?"),
    (["kernel.safetensors", "--onnx", "linear.onnx", "-o", "x.onnx"], 1,
     "linear.onnx: error: the checkpoint's weights aren't those of the model\n"
     "  missing     weight F32[4,3]\n  unexpected  kernel F32[4,3]"),
    (["w.safetensors", "--onnx", "linear.onnx", "-o", "w.safetensors"], 1,
     "linear.onnx: error: cannot write 'w.safetensors': it is a file of the checkpoint"),
)  # fmt: skip


def test_mistakes(checks, options, work):
    write_mistakes(work)
    before = sorted(x.name for x in work.iterdir())

    def expect(command, status, message):
        done = subprocess.run([str(x) for x in command], cwd=work, capture_output=True, text=True)
        ok = (done.returncode, done.stderr) == (status, message + "\n") and sorted(x.name for x in work.iterdir()) == before
        checks.check(" ".join(map(str, command[1:])), ok, "" if ok else f"{done.returncode} {done.stderr!r} {sorted(work.iterdir())}")

    for args, status, message in MISTAKES:
        expect([options.shardcc, "linear.onnx", *TRAINING, *args], status, message)
    for args, status, message in EXPORTS:
        expect([options.shardcc, "checkpoint", "export", *args], status, message)
    text = "shardcc: error: --weights: a graph's text has its shapes and parameters already"
    expect([options.shardcc, "graph.ir", "--weights", "w.safetensors"], 2, text)
    text = "shardcc: error: --weights doesn't apply: a program's text has passed all passes"
    expect([options.shardcc, "x.program", "--weights", "w.safetensors"], 2, text)
    expect([options.shardcc, "plan", "linear.onnx", "--weights", "cut.safetensors", *TRAINING], 1, MISTAKES[2][2])


def main():
    p = parser(__doc__)
    p.add_argument("--onnxruntime", action="store_true", help="compare with ONNX Runtime, too")
    options = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        work = (options.work or Path(temp)).resolve()
        tests = [partial(test_forms, checks, options, x, work / "forms") for x in options.names or NAMES]
        if not options.names:
            tests += [partial(test, checks, options, work / test.__name__) for test in (test_training, test_halves, test_experts, test_mistakes)]
        side_by_side(options.jobs, *tests)
    checks.finish()


if __name__ == "__main__":
    main()
