#!/usr/bin/env python3
"""Operators against ONNX's definition, and batch norms against PyTorch's training; both are written in numpy here.

  onnx_test.py --shardcc build/shardcc

Outputs have the shapes of the definition, whatever shapes the file gives. A program that only predicts follows
`training_mode`. In training, each use of a module updates its running statistics, in the order of the uses.
"""
import numpy as np

from harness import MPI_ENV, mpirun, read_log, read_safetensors, run, test_in_folder, write_data
from onnx_bytes import model, node, tensor, value

MOMENTUM, EPSILON, CHANNELS = 0.9, 1e-5, 3
BATCH, STEPS = 4, 3

# Shape of the input, opset, training_mode, outputs of the node.
PREDICTIONS = [
    ((4, 3), 18, 1, 3),
    ((4, 3, 5), 15, 1, 1),
    ((4, 3, 2, 3), 14, 1, 3),
    ((1, 3), 18, 1, 3),
    ((4, 3, 5), 18, 0, 1),
    ((4, 3, 5), 9, None, 3),
    ((4, 3, 5), 9, None, 1),
]

# Number of the module's uses in sequence, micro-batches, whether the node is in training mode, whether a linear layer
# comes before each use and a ReLU after it.
USES = [(1, 1, 0, False), (2, 1, 0, False), (2, 1, 1, False), (5, 1, 0, False), (2, 2, 0, False), (4, 1, 0, True), (3, 2, 0, True)]


def along(v, x):
    return v.reshape(1, -1, *[1] * (x.ndim - 2))


def moments(x):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    return x.mean(axes, dtype=np.float64), x.astype(np.float64).var(axes)


def normalize(x, w, mean, variance):
    return (x - along(mean, x)) / np.sqrt(along(variance, x) + EPSILON) * along(w["s"], x) + along(w["b"], x)


def moved(old, new):
    return old * MOMENTUM + new * (1 - MOMENTUM)


def statistics():
    """Scale, shift, running mean and running variance."""
    random = np.random.default_rng(3)
    w = {name: random.random(CHANNELS, dtype=np.float32) for name in "sbmv"}
    w["v"] += 0.5
    return w


def batch_norm(x, outputs, name, **attributes):
    return node("BatchNormalization", [x, "s", "b", "m", "v"], outputs, name, **attributes)


# Shape of the input, its shape in the file, the new shape, and the new shape with the 0 and the -1 filled in.
RESHAPES = [
    ((2, 3, 4), [2, 3, 4], [2, 3, 2, 2], (2, 3, 2, 2)),
    ((2, 3, 4), ["a", "b", "c"], [2, 3, 2, 2], (2, 3, 2, 2)),
    ((2, 3, 4), ["a", "b", "c"], [0, -1, 2, 2], (2, 3, 2, 2)),
    ((2, 3, 4), ["a", "b", 4], [-1, 0, 2], (4, 3, 2)),
    ((2, 3, 4), ["a", "b", "c"], [0, 0, 0, 1], (2, 3, 4, 1)),
    ((2, 3, 4), ["a", 3, "c"], [2, 12], (2, 12)),
]


# A model that draws, its output, the mean and the variance that its numbers have.
DRAWS = [
    ("RandomNormalLike", {}, 1 / 4, 1),  # added to x
    ("RandomUniformLike", {}, 3 / 4, 1 / 12),
    ("Bernoulli", {}, 1 / 4, 3 / 16),
    ("Multinomial", {"sample_size": 4, "dtype": 7}, 3 / 2, 5 / 4),
]


class Onnx:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks
        self.random = np.random.default_rng(5)

    def compile(self, name, data, *options):
        (self.work / f"{name}.onnx").write_bytes(data)
        return run(self.shardcc, f"{name}.onnx", *options, cwd=self.work)

    def predict(self, i, shape, opset, mode, n_out):
        """Checks the outputs of a program that only predicts against ONNX's definition."""
        w, x = statistics(), self.random.standard_normal(shape, np.float32)
        names, kept = ["y", "mean", "variance"][:n_out], {} if mode is None else {"training_mode": mode}
        outputs = [value("y", "f32", list(shape))] + [value(n, "f32", [CHANNELS]) for n in names[1:]]
        initializers = [tensor(n, a) for n, a in w.items()]
        data = model([batch_norm("x", names, "norm", **kept)], [value("x", "f32", list(shape))], outputs, initializers, opset)
        said = self.compile(f"predict{i}", data)
        write_data(self.work / f"in{i}", {"x": x})
        run(f"./predict{i}", "--predict", f"in{i}", "-o", f"out{i}.npz", "--quiet", cwd=self.work)
        found = np.load(self.work / f"out{i}.npz")
        of_batch = mode == 1 or (opset < 14 and n_out > 1)
        warned = "warning: batch norms in training mode" in said
        self.checks.check(f"opset {opset}, training_mode {mode}: {'a' if of_batch else 'no'} warning", warned == of_batch)
        mean, variance = moments(x) if of_batch else (w["m"], w["v"])
        expected = {"y": normalize(x, w, mean, variance)}
        if n_out > 1:
            expected |= {"mean": moved(w["m"], mean), "variance": moved(w["v"], variance)}
        for n in names:
            y = found[n].reshape(expected[n].shape)  # saved with a row for each batch; there is one batch
            self.checks.close(f"{shape}, opset {opset}, training_mode {mode}: {n}", y, expected[n], 1e-5)

    def reshape(self, i, given, said, shape, result):
        """Outputs are the reshaped input, and a node's result before and after a reshape."""
        rank = [f"d{k}" for k in range(len(result))]
        nodes = [
            node("Reshape", ["x", "shape"], ["y"], "first"),
            node("Neg", ["x"], ["n"], "negative"),
            node("Reshape", ["n", "shape"], ["z"], "second"),
        ]
        outputs = [value("y", "f32", rank), value("n", "f32", said), value("z", "f32", rank)]
        data = model(nodes, [value("x", "f32", said)], outputs, [tensor("shape", np.array(shape))])
        self.compile(f"reshape{i}", data, "--shape", "x=" + ",".join(map(str, given)))
        x = self.random.standard_normal(given, np.float32)
        write_data(self.work / f"shapes{i}", {"x": x})
        run(f"./reshape{i}", "--predict", f"shapes{i}", "-o", f"shapes{i}.npz", "--quiet", cwd=self.work)
        found = np.load(self.work / f"shapes{i}.npz")
        for n, expected in ("y", x.reshape(result)), ("n", -x), ("z", -x.reshape(result)):
            self.checks.check(f"{given} to {shape}: {n}", np.array_equal(found[n], expected), str(found[n].shape))

    def train(self, i, uses, parts, mode, has_layers):
        """Checks the running statistics after some steps that change no weight."""
        shape = [BATCH, CHANNELS] if has_layers else [BATCH, CHANNELS, 5]
        w, x = statistics(), self.random.standard_normal((STEPS * BATCH, *shape[1:]), np.float32)
        layers = self.random.standard_normal((uses, CHANNELS, CHANNELS), np.float32)
        names, nodes = ["x"] + [f"h{k}" for k in range(1, uses)] + ["y"], []
        for k, (a, b) in enumerate(zip(names, names[1:])):
            if not has_layers:
                nodes += [batch_norm(a, [b], f"norm{k}", training_mode=mode)]
                continue
            nodes += [node("MatMul", [a, f"w{k}"], [f"a{k}"]), batch_norm(f"a{k}", [f"b{k}"], f"norm{k}", training_mode=mode)]
            nodes += [node("Relu", [f"b{k}"], [b])]
        initializers = [tensor(n, a) for n, a in w.items()] + [tensor(f"w{k}", a) for k, a in enumerate(layers) if has_layers]
        data = model(nodes, [value("x", "f32", shape)], [value("y", "f32", shape)], initializers)
        said = self.compile(f"train{i}", data, "--loss", "mse(y, target)", "--optimizer", "sgd(lr=0)", "--accumulate", parts)
        n = BATCH // parts * (1 if has_layers else 5)
        warning = (
            f"train{i}.onnx: warning: batch norms exported in training mode ({uses}, the first is node 'norm0') have the "
            "running variance of a batch's values, as ONNX defines it, and not PyTorch's, which is "
            f"{n}/{n - 1} times as large there (export model.eval() to get that)"
        )
        self.checks.check(f"train{i}: {'a' if mode else 'no'} warning", ("warning" in said, warning in said) == (bool(mode), bool(mode)), said.replace("\n", " | "))
        write_data(self.work / f"data{i}", {"x": x, "target": x})
        run(f"./train{i}", "--data", f"data{i}", "--no-shuffle", "--quiet", "--save", f"saved{i}", "--check-arena", cwd=self.work)
        found = read_safetensors(self.work / f"saved{i}")
        mean, variance = w["m"], w["v"]
        for part in np.split(x, STEPS * parts):
            for k in range(uses):
                part = part @ layers[k] if has_layers else part
                m, v = moments(part)
                count = part.size / CHANNELS
                mean, variance = moved(mean, m), moved(variance, v if mode else v * count / (count - 1))
                part = normalize(part, w, m, v)
                part = np.maximum(part, 0) if has_layers else part
        what = f"{uses} uses{' of layers' * has_layers}, {parts} micro-batches, training_mode {mode}"
        self.checks.close(f"{what}: running mean", found["m"], mean, 1e-5)
        self.checks.close(f"{what}: running variance", found["v"], variance, 1e-5)

    def draw(self, name, attributes, mean, variance):
        """Two batches of drawn numbers have the right moments, and differ; a second run draws the same, another seed others."""
        shape = (2000, 4)
        x = np.full((2 * shape[0], shape[1]), 0.25, np.float32)
        kind = {"Multinomial": "i64"}.get(name, "f32")
        nodes = [node(name, ["x"], ["y"], **attributes)]
        if name.endswith("Like"):
            nodes = [node(name, ["x"], ["n"]), node("Add", ["x", "n"], ["y"])]
        data = model(nodes, [value("x", "f32", list(shape))], [value("y", kind, list(shape))], [], 22)
        self.compile(name, data)
        write_data(self.work / "draws", {"x": x})
        found = []
        for seed in 1, 1, 2:
            run(f"./{name}", "--predict", "draws", "-o", "draws.npz", "--seed", seed, "--quiet", cwd=self.work)
            found.append(np.load(self.work / "draws.npz")["y"])
        y, n = found[0].astype(np.float64), found[0].size
        off = abs(y.mean() - mean) / np.sqrt(variance / n), abs(y.var() / variance - 1) * np.sqrt(n)
        self.checks.check(f"{name}: mean and variance", off[0] < 4 and off[1] < 8, f"{off[0]:.1f} {off[1]:.1f}")
        pairs = np.corrcoef(np.concatenate([y[: shape[0]].T, y[shape[0] :].T]))
        self.checks.check(f"{name}: columns and batches are independent", abs(pairs - np.eye(8)).max() < 0.1, f"{abs(pairs - np.eye(8)).max():.2f}")
        self.checks.check(f"{name}: by the seed", (found[0] == found[1]).all() and (found[0] != found[2]).any())

    def noise(self):
        """A loss with noise of each sample is the same in one batch, in micro-batches and on two ranks."""
        w = np.arange(12, dtype=np.float32).reshape(4, 3) / 9
        nodes = [node("MatMul", ["x", "w"], ["h"]), node("RandomNormalLike", ["h"], ["n"]), node("Add", ["h", "n"], ["y"])]
        data = model(nodes, [value("x", "f32", ["b", 4])], [value("y", "f32", ["b", 3])], [tensor("w", w)], 22)
        x = self.random.standard_normal((8, 4), np.float32)
        write_data(self.work / "noise_data", {"x": x, "target": np.zeros((8, 3), np.float32)})
        losses = []
        for i, ways in enumerate(([], ["--accumulate", 4], ["--ranks", 2, "--mesh", "dp=2"], ["--ranks", 2, "--mesh", "tp=2"])):
            self.compile(f"noise{i}", data, "--bind", "b=8", "--loss", "mse(y, target)", "--optimizer", "sgd(lr=0.1)", *ways)
            command = [f"./noise{i}", "--data", "noise_data", "--steps", 3, "--no-shuffle", "--quiet", "--log", f"noise{i}.jsonl"]
            run(*(mpirun(2) if "--ranks" in ways else []), *command, cwd=self.work, env=MPI_ENV)
            losses.append([step["loss"] for step in read_log(self.work / f"noise{i}.jsonl")])
            self.checks.close(f"noise: {' '.join(map(str, ways))}", losses[i], losses[0], 1e-5)
        self.checks.check("noise of each step", len(set(losses[0])) == 3)

    def evaluate(self):
        """A trainer predicts with the running statistics, whatever the model's mode is."""
        w, x = statistics(), self.random.standard_normal((BATCH, CHANNELS), np.float32)
        write_data(self.work / "last", {"x": x})
        data = model(
            [batch_norm("x", ["y"], "norm", training_mode=1)],
            [value("x", "f32", list(x.shape))],
            [value("y", "f32", list(x.shape))],
            [tensor(n, a) for n, a in w.items()],
        )
        self.compile("trainer", data, "--loss", "mse(y, target)", "--optimizer", "sgd(lr=0)")
        run("./trainer", "--predict", "last", "-o", "last.npz", "--quiet", cwd=self.work)
        found = np.load(self.work / "last.npz")["y"]
        self.checks.close("a trainer's predictions", found, normalize(x, w, w["m"], w["v"]), 1e-5)


def test(t):
    for i, case in enumerate(PREDICTIONS):
        t.predict(i, *case)
    for i, case in enumerate(USES):
        t.train(i, *case)
    t.evaluate()
    for i, case in enumerate(RESHAPES):
        t.reshape(i, *case)
    for case in DRAWS:
        t.draw(*case)
    t.noise()


if __name__ == "__main__":
    test_in_folder(Onnx, test)
