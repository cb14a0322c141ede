#!/usr/bin/env python3
"""Parts whose sizes are computed: experts that read the rows that the model counts for them, against plain loops in numpy.

  ragged_test.py --shardcc build/shardcc [--onnxruntime]

Each row says its expert, and rows are in the order of their experts, some of which get none. An expert is a layer with
a bias and tanh, another layer, and a skip connection. Outputs and gradients are compared, fused and not, on one rank and on
two. --onnxruntime also compares outputs with ONNX Runtime, where it is installed. Sizes that aren't those of the rows stop
a run.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from harness import MPI_ENV, Checks, mpirun, read_safetensors, run, write_data
from masks_test import check
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

BATCH, SAMPLES, WIDTH, HIDDEN, EXPERTS = 8, 16, 4, 6, 3
# Of the two batches; an expert may get no row.
OF_ROW = np.array([0, 0, 0, 1, 2, 2, 2, 2, 0, 0, 2, 2, 2, 2, 2, 2])
# Sizes of two parts of a batch, and what the run says.
SIZES = [((3, 5), ""), ((0, 8), ""), ((3, 4), "its parts add up to 7, in a dim of 8"), ((8, 1), "its parts add up to 9, in a dim of 8"),
         ((9, -1), "a part has the size -1"), ((3e18, 3e18), "its parts add up to 2199023255552, in a dim of 8")]  # fmt: skip


def experts(weights):
    """The file: counts the rows of each expert, splits by these counts, and joins what the experts make."""
    nodes = [
        node("Equal", ["expert", "numbers"], ["is"], "is"),
        node("Cast", ["is"], ["ones"], "ones", to=7),
        node("ReduceSum", ["ones", "axis"], ["sizes"], "sizes", keepdims=0),
        node("SplitToSequence", ["x", "sizes"], ["parts"], "split", axis=0),
    ]
    for i in range(EXPERTS):
        nodes += [
            node("SequenceAt", ["parts", f"at{i}"], [f"x{i}"], f"at{i}"),
            node("Gemm", [f"x{i}", f"w{i}", f"b{i}"], [f"h{i}"], f"in{i}"),
            node("Tanh", [f"h{i}"], [f"t{i}"], f"tanh{i}"),
            node("MatMul", [f"t{i}", f"v{i}"], [f"o{i}"], f"out{i}"),
            node("Add", [f"o{i}", f"x{i}"], [f"y{i}"], f"skip{i}"),
        ]
    nodes.append(node("Concat", [f"y{i}" for i in range(EXPERTS)], ["y"], "join", axis=0))
    fixed = [tensor(f"at{i}", np.array(i)) for i in range(EXPERTS)] + [tensor("numbers", np.arange(EXPERTS)[None]), tensor("axis", np.array([0]))]
    given = [value("x", "f32", ["batch", WIDTH]), value("expert", "i64", ["batch", 1])]
    made = [value("y", "f32", ["batch", WIDTH])]
    return model(nodes, given, made, fixed + [tensor(*w) for w in weights.items()])


def build():
    random = np.random.default_rng(1)
    draw = lambda *shape: random.standard_normal(shape).astype(np.float32)
    weights = {}
    for i in range(EXPERTS):
        weights |= {f"w{i}": draw(WIDTH, HIDDEN), f"b{i}": draw(HIDDEN), f"v{i}": draw(HIDDEN, WIDTH)}
    return weights, {"x": draw(SAMPLES, WIDTH), "expert": OF_ROW[:, None], "t": draw(SAMPLES, WIDTH)}


def row_of(weights, x, i):
    t = np.tanh(x @ weights[f"w{i}"] + weights[f"b{i}"])
    return t, t @ weights[f"v{i}"] + x


def expected(weights, data):
    """The outputs of all rows, and the gradients of the mean square of the first batch."""
    weights = {n: w.astype(float) for n, w in weights.items()}
    grads = {n: np.zeros_like(w) for n, w in weights.items()}
    y = np.zeros((SAMPLES, WIDTH))
    for row, (x, i, target) in enumerate(zip(data["x"].astype(float), OF_ROW, data["t"])):
        t, y[row] = row_of(weights, x, i)
        if row < BATCH:
            dy = 2 * (y[row] - target) / (BATCH * WIDTH)
            dh = (weights[f"v{i}"] @ dy) * (1 - t * t)
            grads[f"v{i}"] += np.outer(t, dy)
            grads[f"w{i}"] += np.outer(x, dh)
            grads[f"b{i}"] += dh
    return {"y": y}, grads


def given_sizes():
    """The file of a split by sizes that are data, as floats."""
    nodes = [
        node("ReduceMax", ["n"], ["most"], "most", axes=[0], keepdims=0),
        node("Cast", ["most"], ["sizes"], "sizes", to=7),
        node("Split", ["x", "sizes"], ["a", "b"], "split", axis=0),
        node("MatMul", ["a", "w"], ["c"], "mm"),
        node("Concat", ["c", "b"], ["y"], "join", axis=0),
    ]
    given = [value("x", "f32", ["batch", WIDTH]), value("n", "f32", ["batch", 2])]
    return model(nodes, given, [value("y", "f32", ["batch", WIDTH])], [tensor("w", np.eye(WIDTH, dtype=np.float32))], opset=13)


def check_sizes(checks, shardcc, work):
    (work / "n.onnx").write_bytes(given_sizes())
    for ranks in (1, 2):
        more = ("--ranks", 2, "--plan-preset", "ddp") if ranks == 2 else ()
        run(shardcc, "n.onnx", "--bind", f"batch={BATCH}", "--loss", "mse(y, t)", "--optimizer", "sgd", "--cc", QUICK_CC, "-o", "n", *more, cwd=work)
        for sizes, message in SIZES:
            rows = {name: np.zeros((BATCH, WIDTH), np.float32) for name in ("x", "t")}
            write_data(work / "sizes", {**rows, "n": np.tile(np.float32(sizes), (BATCH, 1))})
            start = mpirun(2) if ranks == 2 else []
            command = [*start, "./n", "--data", "sizes", "--steps", "1", "--quiet"]
            done = subprocess.run(command, cwd=work, env=MPI_ENV, capture_output=True, text=True, timeout=120)
            said = [line for line in done.stderr.splitlines() if line.startswith("n: error: ")]
            right = (done.returncode, said) == ((1, [f"n: error: step 1: node 'split': {message}"]) if message else (0, []))
            checks.check(f"sizes {sizes} on {ranks}", right, done.stderr)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--shardcc", type=Path, required=True)
    p.add_argument("--onnxruntime", action="store_true", help="compare with ONNX Runtime, too")
    o, checks = p.parse_args(), Checks()
    shardcc = o.shardcc.resolve()
    weights, data = build()
    outputs, grads = expected(weights, data)
    file = experts(weights)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "m.onnx").write_bytes(file)
        write_data(work / "data", data)
        for ranks, more in ((1, ()), (1, ("--no-fuse",)), (2, ("--plan-preset", "ddp")), (2, ("--plan-preset", "megatron"))):
            tag = " ".join([f"{ranks} rank{'s' * (ranks > 1)}", *more])
            train = ["m.onnx", "--bind", f"batch={BATCH}", "--loss", "mse(y, t)", "--optimizer", "sgd", "--verify", "--cc", QUICK_CC, "-o", "m"]
            run(shardcc, *train, *more, *(("--ranks", ranks) if ranks > 1 else ()), cwd=work)
            start = mpirun(ranks) if ranks > 1 else []
            run(*start, "./m", "--data", "data", "--steps", 1, "--no-shuffle", "--save-gradients", "g.safetensors", "--quiet", cwd=work, env=MPI_ENV)
            check(checks, f"gradients, {tag}", read_safetensors(work / "g.safetensors"), grads, 2e-6)
            run(*start, "./m", "--predict", "data", "-o", "y.npz", "--quiet", cwd=work, env=MPI_ENV)
            check(checks, f"outputs, {tag}", np.load(work / "y.npz"), outputs, 3e-6)
        check_sizes(checks, shardcc, work)
    if o.onnxruntime:
        import onnxruntime

        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        for rows in (slice(0, BATCH), slice(BATCH, SAMPLES)):
            found = session.run(["y"], {n: data[n][rows] for n in ("x", "expert")})
            check(checks, "ONNX Runtime", {"y": found[0]}, {"y": outputs["y"][rows]}, 3e-6)
    checks.finish()


if __name__ == "__main__":
    main()
