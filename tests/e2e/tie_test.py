#!/usr/bin/env python3
"""Tensors that a file has twice: which are told of, and --tie, which makes them one parameter. Parameters that the exporter has
made one as their values were equal, which are refused. Batch norms that it has folded, of which a warning tells.

  tie_test.py --shardcc build/shardcc
"""
import subprocess

import numpy as np

from harness import read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import external, field, graph, model, node, tensor, value

N = 16
TRAIN = ["--loss", "mse(y, t)", "--optimizer", "sgd(lr=0.5)"]
EQUAL = (
    "warning: 'a' and 'b' have equal bytes, and each is trained on its own: if the file has one tensor twice, "
    "--tie 'a=b' makes it one\n"
)
SHAPES = (
    "warning: 'a' and 'b' have equal bytes and other shapes, and each is trained on its own: if the exporter made one of the "
    "other, torch.onnx.export with optimize=False doesn't\n"
)
RANDOM = np.random.default_rng(0).standard_normal((N, N)).astype(np.float32) / 4
OTHER = np.where(np.eye(N, dtype=bool), RANDOM, -RANDOM).astype(np.float32)
SMALL = RANDOM[:15, :15]

# What, the tensors a and b, options, the warning.
TOLD = [
    ("equal", RANDOM, RANDOM, [], EQUAL),
    ("different", RANDOM, OTHER, [], ""),
    ("small", SMALL, SMALL, [], ""),
    ("zeros", np.zeros_like(RANDOM), np.zeros_like(RANDOM), [], ""),
    ("ones", np.ones_like(RANDOM), np.ones_like(RANDOM), [], ""),
    ("one frozen", RANDOM, RANDOM, ["--freeze", "b"], ""),
    ("tied", RANDOM, RANDOM, ["--tie", "a=b"], ""),
    ("other shapes", RANDOM, RANDOM.reshape(N, N, 1), [], SHAPES),
]

# Options, the message.
REFUSED = [
    (["--tie", "a=c"], 1, "--tie 'a=c': no initializer is named 'c'"),
    (["--tie", "c=a"], 1, "--tie 'c=a': no initializer is named 'c'"),
    (["--tie", "a=a"], 1, "--tie 'a=a': it names one tensor twice"),
    (["--tie", "a=wide"], 1, "--tie 'a=wide': 'a' is f32[16,16] and 'wide' is f32[16,4]: only equal shapes can be one"),
    (["--tie", "a=other"], 1, "--tie 'a=other': their bytes differ from element 1 on"),
    (["--tie", "a"], 2, "--tie: 'a' is not of the form A=B"),
    (["--tie", "a="], 2, "--tie: 'a=' is not of the form A=B"),
    (["--tie", "=a"], 2, "--tie: '=a' is not of the form A=B"),
]

ONE = "had equal values when the file was written, so the exporter has made them one, which would be trained as one: "
IDENTITIES = (
    "'l.W' and 1 more parameters, the first is 'l.v', " + ONE + "torch.onnx.export with training=TrainingMode.TRAINING and "
    "do_constant_folding=False, or with dynamo=True and optimize=False, keeps them apart"
)
CALLS = "'l.W' and other parameters " + ONE + "node 'second' has 'p_l_v' there (torch.onnx.export: optimize=False keeps them apart)"
CALL = "%m : [num_users=1] = call_function[target=torch.ops.aten.matmul.default](args = (%x, {}), kwargs = {{}})"

# What, the producer, the name that an Identity gives to l.W (empty: there is none), what PyTorch's calls of two products name
# (empty: no metadata), options, the message.
MERGED = [
    ("Identity", "pytorch", "l.v", ("", ""), [], IDENTITIES),
    ("Identity of another producer", "me", "l.v", ("", ""), [], ""),
    ("Identity of the exporter's own", "pytorch", "/l/v", ("", ""), [], ""),
    ("Identity of a constant", "pytorch", "l.v", ("", ""), ["--freeze", "l.*"], ""),
    ("calls", "pytorch", "", ("%p_l_w", "%p_l_v"), [], CALLS),
    ("calls by their numbers", "pytorch", "", ("%p_l_w", "%m_1, %p_l_v, %b_l_u"), [], CALLS),
    ("calls, tied", "pytorch", "", ("%p_l_w", "%p_l_w"), [], ""),
    ("calls of values", "pytorch", "", ("%p_l_w", "%m"), [], ""),
    ("calls that name others alone", "pytorch", "", ("%p_l_w_1", "%p_l_v"), [], ""),
    ("calls, constant", "pytorch", "", ("%p_l_w", "%p_l_v"), ["--freeze", "l.*"], ""),
]

LOST = (
    "{} batch norms of the module, the first is '{}', aren't in the file: the exporter has folded them into the layers before them, "
    "so they aren't trained (torch.onnx.export: optimize=False keeps them)"
)
COMPUTED = (
    "the weights of 1 convolutions, the first is node 'conv', aren't parameters of the module: the exporter computed them, as it "
    "folds batch norms into them, which aren't trained then (torch.onnx.export: dynamo=True and optimize=False, or "
    "training=TrainingMode.TRAINING and do_constant_folding=False, keep them)"
)
SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"
BUFFER = "b_{0}: BUFFER target='{0}' persistent=True\n"

# What, the name of a convolution's weights, the buffers of the graph's signature (None: it has none), the warning.
FOLDED = [
    ("lost", "w", ["a.b.running_mean", "a.b.running_var", "c.running_mean"], LOST.format(2, "a.b")),
    ("lost, at the top", "w", ["running_mean"], LOST.format(1, "")),
    ("kept", "c.running_mean", ["c.running_mean", "running_means"], ""),
    ("cut", "w", ["a.running_mean'"], LOST.format(1, "a")),
    ("none", "w", [], ""),
    ("computed", "onnx::Conv_20", None, COMPUTED),
    ("computed, of the newer exporter", "onnx::Conv_20", [], ""),
    ("plain", "w", None, ""),
]


def chain(*weights):
    """y = tanh(tanh(x · w0) · w1) …, of tensors by their names."""
    nodes, h = [], "x"
    for i, w in enumerate(weights):
        nodes += [node("MatMul", [h, w], [f"p{i}"], f"product{i}"), node("Tanh", [f"p{i}"], [f"h{i}"], f"tanh{i}")]
        h = f"h{i}"
    return [*nodes, node("Identity", [h], ["y"], "end")]


def gradients(x, t, w):
    """Of mse(y, t) for each of the equal weights in a chain."""
    h = [x.astype(np.float64)]
    for _ in range(3):
        h.append(np.tanh(h[-1] @ w))
    d, out = 2 * (h[-1] - t) / t.size, []
    for before, after in zip(h[-2::-1], h[:0:-1]):
        d = d * (1 - after**2)
        out.insert(0, before.T @ d)
        d = d @ w.T
    return out


class Ties:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def check(self, name, ok, said):
        self.checks.check(name, ok, "" if ok else str(said).replace("\n", " | "))

    def write(self, name, nodes, tensors, n_out=N):
        data = model(nodes, [value("x", "f32", [2, N])], [value("y", "f32", [2, n_out])], tensors)
        (self.work / f"{name}.onnx").write_bytes(data)

    def told(self):
        for what, a, b, options, warning in TOLD:
            n = len(a)
            nodes = [node("Slice", ["x", "0", "n", "1"], ["part"], "slice"), node("MatMul", ["part", "a"], ["p"], "p")]
            nodes += [node("Reshape", ["b", "shape"], ["bb"], "r"), node("MatMul", ["p", "bb"], ["y"], "q")]
            numbers = [tensor("0", np.array([0])), tensor("n", np.array([n])), tensor("1", np.array([1])), tensor("shape", np.array([n, n]))]
            self.write("told", nodes, [tensor("a", a), tensor("b", b), *numbers], n)
            done = subprocess.run([self.shardcc, "told.onnx", *TRAIN, *options, "--emit", "ir", "-o", "told.ir"], cwd=self.work, capture_output=True, text=True)
            expected = f"told.onnx: {warning}" if warning else ""
            self.check(f"{what}: warning", done.returncode == 0 and done.stderr == expected, done.stderr)

    def refused(self):
        tensors = [tensor("a", RANDOM), tensor("other", OTHER), tensor("wide", RANDOM[:, :4])]
        self.write("refused", [*chain("a", "other")[:-1], node("MatMul", ["h1", "wide"], ["y"], "end")], tensors, 4)
        for options, status, message in REFUSED:
            done = subprocess.run([self.shardcc, "refused.onnx", *TRAIN, *options], cwd=self.work, capture_output=True, text=True)
            file = "shardcc" if status == 2 else "refused.onnx"
            self.check(" ".join(options), (done.returncode, done.stderr) == (status, f"{file}: error: {message}\n"), done.stderr)

    def merged(self):
        for what, producer, copy, calls, options, message in MERGED:
            nodes = [node("Identity", ["l.W"], [copy], "copy")] if copy else []
            for name, x, w, y, call in ("first", "x", "l.W", "p", calls[0]), ("second", "p", copy or "l.W", "y", calls[1]):
                metadata = {"pkg.torch.onnx.fx_node": CALL.format(call)} if call else {}
                nodes.append(node("MatMul", [x, w], [y], name, metadata=metadata))
            tensors = [tensor("l.W", np.ones((N, N), np.float32)), tensor("a", RANDOM)]
            data = model(nodes, [value("x", "f32", [2, N])], [value("y", "f32", [2, N])], tensors)
            (self.work / "merged.onnx").write_bytes(data + field(2, producer))
            for train, expected in (TRAIN, message), ([], ""):
                command = [self.shardcc, "merged.onnx", *train, *options, "--emit", "ir", "-o", "merged.ir"]
                done = subprocess.run(command, cwd=self.work, capture_output=True, text=True)
                said = f"merged.onnx: error: {expected}\n" if expected else ""
                ok = done.stderr == said if expected or not train else "error: " not in done.stderr or "no parameter" in done.stderr
                self.check(f"{what}: {'trained' if train else 'predicts'}", ok and (done.returncode == 1) == bool(said or done.stderr.count("error: ")), done.stderr)

    def folded(self):
        for what, name, buffers, warning in FOLDED:
            weights = tensor(name, np.ones((2, 2, 1), np.float32))
            ends = [value("x", "f32", [1, 2, 4])], [value("y", "f32", [1, 2, 4])]
            text = "# inputs\n" + "".join(map(BUFFER.format, buffers or []))
            more = field(16, field(1, SIGNATURE) + field(2, text)) if buffers is not None else b""
            inner = graph([node("Conv", ["x", name], ["y"], "conv")], *ends, [weights], ()) + more
            (self.work / "folded.onnx").write_bytes(field(1, 10) + field(7, inner) + field(8, field(2, 18)))
            for train, said in (TRAIN, warning), ([], ""):
                command = [self.shardcc, "folded.onnx", *train, "--emit", "c", "-o", "folded.c"]
                done = subprocess.run(command, cwd=self.work, capture_output=True, text=True)
                ok = done.returncode == 0 and done.stderr == (f"folded.onnx: warning: {said}\n" if said else "")
                self.check(f"{what}: {'trained' if train else 'predicts'}", ok, done.stderr)

    def copies(self, name, tensors, first, names, *options):
        """Trains with copies tied, from the model's file or from others, and exports: `names` are the copy's weights."""
        rng = np.random.default_rng(1)
        x, t = (rng.standard_normal((2, N)).astype(np.float32) for _ in range(2))
        write_data(self.work / "data", {"x": x, "t": t})
        self.write(name, chain("a", "b", "c=d"), tensors)
        said = run(self.shardcc, f"{name}.onnx", *TRAIN, *options, "--cc", QUICK_CC, cwd=self.work)
        self.check(f"{name}: no warning", "warning" not in said, said)
        weights = read_safetensors(self.work / f"{name}.safetensors")
        self.check(f"{name}: one weight", sorted(weights) == [first], str(sorted(weights)))
        command = [f"./{name}", "--data", "data", "--steps", 1, "--quiet", "--save-gradients", "g", "--checkpoint", f"{name}_runs"]
        run(*command, cwd=self.work)
        g = sum(gradients(x, t, RANDOM.astype(np.float64)))
        self.checks.close(f"{name}: gradient", read_safetensors(self.work / "g")[first], g, 1e-5)
        export = [self.shardcc, "checkpoint", "export", f"{name}_runs", "--onnx", f"{name}.onnx", "-o", f"{name}_copy.onnx"]
        refused = subprocess.run(export, cwd=self.work, capture_output=True, text=True)
        self.check(f"{name}: a copy without --tie", refused.returncode == 1 and "missing" in refused.stderr, refused.stderr)
        said = run(*export, *options, cwd=self.work)
        self.check(f"{name}: exported", "warning" not in said, said)
        files = [p for p in (self.work / f"{name}_copy.onnx", self.work / f"{name}_copy.onnx.data") if p.exists()]
        trained = (RANDOM - 0.5 * g).astype(np.float32)
        run(self.shardcc, files[0].name, "-o", "copy", "--cc", QUICK_CC, cwd=self.work)
        copy = read_safetensors(self.work / "copy.safetensors")
        self.check(f"{name}: weights of the copy", sorted(copy) == names, str(sorted(copy)))
        for n, w in copy.items():
            self.checks.close(f"{name}: {n} in the copy", w, trained, 1e-6)


def test(ties):
    ties.told()
    ties.refused()
    ties.merged()
    ties.folded()
    inside = [tensor(n, RANDOM) for n in ("a", "b", "c=d")]
    (ties.work / "w.bin").write_bytes(RANDOM.tobytes() + RANDOM.tobytes())
    (ties.work / "v.bin").write_bytes(b"\0" * 64 + RANDOM.tobytes())
    outside = [external("a", [N, N], "w.bin"), external("b", [N, N], "w.bin", RANDOM.nbytes), external("c=d", [N, N], "v.bin", 64)]
    ties.copies("inside", inside, "a", ["a", "b", "c=d"], "--tie", "a=b", "--tie", "b=c=d")
    # In one file beside the copy they lie at one place, which ties them.
    ties.copies("outside", outside, "c=d", ["a"], "--tie", "c=d=b", "--tie", "b=a")


if __name__ == "__main__":
    test_in_folder(Ties, test)
