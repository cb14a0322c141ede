#!/usr/bin/env python3
"""Runs ONNX's own cases of its operators (onnx.backend.test), which needs a Python that has the package `onnx`.

  cases.py --shardcc build/shardcc [--operators Resize,Pad|all] [--cases GLOB] [--state FILE] [--compile|--gradients] [--show WHAT,…]

Each case is a small model with inputs and the outputs that ONNX expects. By default the reference evaluator computes the
outputs, after all passes (evaluate.c beside this file). --compile makes a program of each model, which predicts them. Types
and shapes must be ONNX's, numbers within ONNX's tolerances. --gradients makes inputs of f32 and f64 parameters and the sum of
the outputs' squares a loss: `shardcc --verify` must find gradients to be differences of the loss, on numbers of its own. A case is

  equal     all outputs are;
  refused   the compiler stopped with a message;
  drawn     the outputs are random numbers of ONNX's own generator: types and shapes alone are compared;
  wrong     the model was accepted and gives something else;
  crashed   a program ended by a signal, or with an internal error.

An input that the compiler must know becomes a constant of the model: operators take shapes, axes and the like from it.
Prints a line for each of --show's cases (default: wrong,crashed) and each operator. A case belongs to the operator that it
was written for, also if a function's body is in its place (_expanded). With --state, a run that was stopped goes on where
it was, if the programs are the same. Exits with 1 if a case is wrong or crashed.
"""
import argparse
import contextlib
import fnmatch
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test.loader as loader
from onnx import helper, numpy_helper

RESULTS = ["equal", "refused", "drawn", "wrong", "crashed"]
TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "bool": "bool"}
TYPES |= {f"{c}{n}": f"{name}{n}" for c, name in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)}
KNOWN = re.compile(r"must be known when compiling, '([^']*)' is not")
# Cases whose numbers are drawn. Without training_mode, Dropout draws nothing.
DRAWN = ["test_bernoulli*", "test_training_dropout*"]
# Cases in which numbers that are 0 by definition are expected to be rounding errors of NumPy's, up to this size.
NOISE = {"test_dft_inverse*": 1e-6}
INTERNAL, SECONDS = 3, 300
LOSS, LEARNED = "the_sum_of_all_squares", (np.float32, np.float64)


def load_cases():
    """ONNX's cases, and the operator of each by its name."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = loader.load_model_tests(kind="node")
    operator = {}
    for case in cases:
        if "_expanded" not in case.name:
            operator[case.name] = case.model.graph.node[-1].op_type
    for case in cases:
        if case.name not in operator:
            operator[case.name] = operator.get(case.name.partition("_expanded")[0], case.model.graph.node[-1].op_type)
    return cases, operator


def array_of(x):
    """A tensor of a case's data; None: a sequence, an optional, or strings."""
    if isinstance(x, onnx.TensorProto):
        x = numpy_helper.to_array(x)
    x = None if isinstance(x, (list, tuple, dict)) or x is None else np.asarray(x)
    return None if x is not None and x.dtype == object else x


def make_constants(model, arrays, names):
    """Makes these inputs of the model constants."""
    graph = model.graph
    kept = [v for v in graph.input if v.name not in names]
    nodes = [helper.make_node("Constant", [], [n], value=numpy_helper.from_array(arrays[n], n)) for n in sorted(names)]
    nodes += list(graph.node)
    del graph.input[:], graph.node[:]
    graph.input.extend(kept)
    graph.node.extend(nodes)


def add_loss(model, arrays, expected):
    """Makes inputs of floats parameters, and the sum of the squares of such outputs LOSS; False if there are none of either."""
    graph = model.graph
    learned = [v for v in graph.input if arrays[v.name] is not None and arrays[v.name].dtype in LEARNED]
    squared = [n for n, e in expected.items() if e is not None and e.dtype in LEARNED]
    if not learned or not squared:
        return False
    for v in learned:
        graph.initializer.append(numpy_helper.from_array(np.array(arrays[v.name], order="C"), v.name))
        graph.input.remove(v)
    for n in squared:
        graph.node.append(helper.make_node("ReduceSumSquare", [n], [f"{LOSS} {n} wide"], keepdims=0))
        graph.node.append(helper.make_node("Cast", [f"{LOSS} {n} wide"], [f"{LOSS} {n}"], to=onnx.TensorProto.FLOAT))
    graph.node.append(helper.make_node("Sum", [f"{LOSS} {n}" for n in squared], [LOSS]))
    graph.output.append(helper.make_tensor_value_info(LOSS, onnx.TensorProto.FLOAT, []))
    return True


def with_shapes(model, arrays):
    """A copy of the model whose inputs have the shapes of the data."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for v in copy.graph.input:
        if arrays[v.name] is not None and v.type.HasField("tensor_type"):
            del v.type.tensor_type.shape.dim[:]
            for n in arrays[v.name].shape:
                v.type.tensor_type.shape.dim.add().dim_value = n
    return copy


def words(text):
    """A message in one line, without what differs between runs."""
    return " ".join(text.split())[:300]


def compare(found, expected, case):
    """What differs; an empty text: nothing. The rule is that of onnx.backend.test.runner."""
    if found.shape != expected.shape:
        return f"shape {list(found.shape)}, expected {list(expected.shape)}"
    if found.dtype != expected.dtype:
        return f"type {found.dtype}, expected {expected.dtype}"
    if any(fnmatch.fnmatch(case.name, glob) for glob in DRAWN):
        return ""
    # Two units of the last place: the body of a function rounds the result of each of its nodes.
    rtol = max(case.rtol, 2**-9) if found.dtype == np.float16 and "_expanded" in case.name else case.rtol
    if found.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    atol = max([case.atol, *(size for glob, size in NOISE.items() if fnmatch.fnmatch(case.name, glob))])
    try:
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
    except AssertionError as e:
        return words(str(e))
    return ""


class Runner:
    def __init__(self, options):
        self.shardcc, self.compiles, self.trains = options.shardcc.resolve(), options.compile, options.gradients
        self.evaluate = self.shardcc.parent / "tests/onnx/evaluate"
        self.cc = Path(__file__).resolve().parents[1] / "quick_cc"

    def stamp(self):
        """Names the programs that a state was made with."""
        program = self.shardcc if self.compiles or self.trains else self.evaluate
        return hashlib.sha256(program.read_bytes() + Path(__file__).read_bytes()).hexdigest()

    def evaluator(self, folder, arrays):
        """Evaluates the model. Gives the process, and the outputs in their order."""
        lines = []
        for i, (name, a) in enumerate(arrays.items()):
            if a is not None:
                (folder / f"in{i}").write_bytes(np.ascontiguousarray(a).tobytes())
                lines.append(f"in{i} {name}\n")
        (folder / "in.txt").write_text("".join(lines))
        done = self.call(folder, self.evaluate, "model.onnx", ".")
        if done.returncode:
            return done, []
        outputs = []
        for i, line in enumerate(done.stdout.splitlines()):
            kind, *dims = line.split()
            a = np.frombuffer((folder / f"out{i}").read_bytes(), helper_dtype(TYPES[kind]))
            outputs.append(a.reshape([int(n) for n in dims]))
        return done, outputs

    def trainer(self, folder, arrays, expected):
        """The same with a program that predicts. It gives rows for samples, so shapes are those expected if they can be."""
        done = self.call(folder, self.shardcc, "model.onnx", "-o", "program", "--cc", self.cc)
        if done.returncode:
            return done, []
        info = self.call(folder, "./program", "--info").stdout
        (folder / "data").mkdir(exist_ok=True)
        for name, a in arrays.items():
            if a is not None and name in info:
                np.save(folder / "data" / f"{file_name(name)}.npy", as_stored(a))
        done = self.call(folder, "./program", "--predict", "data", "-o", "out.npz", "--quiet")
        if done.returncode:
            return done, []
        found = np.load(folder / "out.npz")
        outputs = []
        for name, e in expected.items():
            a = found[name]
            if e is not None and e.dtype.name == "bfloat16" and a.dtype == np.float32:
                a = a.astype(e.dtype)
            outputs.append(a.reshape(e.shape) if e is not None and a.size == e.size else a)
        return done, outputs

    def gradients(self, folder):
        """Compares gradients with differences."""
        train = ["--loss", LOSS, "--optimizer", "sgd(lr=0.1)", "--verify", "--emit", "program", "-o", "model.program"]
        return self.call(folder, self.shardcc, "model.onnx", *train)

    def call(self, folder, *command):
        return subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=SECONDS, errors="replace")

    def data_set(self, case, inputs, expected, folder):
        """(result, reason) of one set of a case's data."""
        names = [v.name for v in case.model.graph.input]
        arrays = dict(zip(names, map(array_of, inputs)))
        expected = dict(zip([v.name for v in case.model.graph.output], map(array_of, expected)))
        constants = set()
        while True:
            left = {n: a for n, a in arrays.items() if n not in constants}
            model = with_shapes(case.model, arrays)
            make_constants(model, arrays, constants)
            if self.trains and not add_loss(model, arrays, expected):
                return "refused", "no inputs of f32 or f64, or no outputs"
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            if self.trains:
                done, outputs = self.gradients(folder), []
            else:
                done, outputs = self.trainer(folder, left, expected) if self.compiles else self.evaluator(folder, left)
            unknown = set(KNOWN.findall(done.stderr))
            more = {n for n in unknown if left.get(n) is not None}
            if unknown and not more:  # it is computed from inputs: those of integers
                more = {n for n, a in left.items() if a is not None and a.dtype.kind not in "fV"}
            if not unknown or not more:
                break
            constants |= more
        if done.returncode < 0 or done.returncode == INTERNAL:
            return "crashed", words(f"status {done.returncode}: {done.stderr}")
        if done.returncode:
            return "refused", words(done.stderr)
        if self.trains:
            return "equal", words("".join(line for line in done.stderr.splitlines() if "warning" in line))
        if len(outputs) != len(expected):
            return "wrong", f"{len(outputs)} outputs, expected {len(expected)}"
        for (name, e), a in zip(expected.items(), outputs):
            why = compare(a, e, case) if e is not None else "no tensor is expected"
            if why:
                return "wrong", f"{name}: {why}"
        is_drawn = any(fnmatch.fnmatch(case.name, glob) for glob in DRAWN)
        return "drawn" if is_drawn else "equal", f"known: {' '.join(sorted(constants))}" if constants else ""

    def case(self, case):
        with tempfile.TemporaryDirectory() as folder:
            for inputs, expected in case.data_sets:
                try:
                    result, why = self.data_set(case, inputs, expected, Path(folder))
                except subprocess.TimeoutExpired:
                    result, why = "crashed", f"takes more than {SECONDS} s"
                if result != "equal":
                    return result, why
        return result, why


def helper_dtype(name):
    return helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16) if name == "bfloat16" else np.dtype(name)


def as_stored(a):
    """NumPy's files have no bf16."""
    return a.view("V2") if a.dtype.name == "bfloat16" else a


def file_name(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def read_state(path, stamp):
    """The results so far, by case."""
    if not path or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    if not lines or lines[0].get("stamp") != stamp:
        return {}
    return {x["case"]: (x["result"], x["why"]) for x in lines[1:]}


def run_all(options, cases, runner):
    stamp = runner.stamp()
    results = read_state(options.state, stamp)
    log = open(options.state, "a" if results else "w") if options.state else open(os.devnull, "w")
    with log, ThreadPoolExecutor(os.cpu_count()) as pool:
        if not results:
            print(json.dumps({"stamp": stamp}), file=log, flush=True)
        left = [c for c in cases if c.name not in results]
        for c, (result, why) in zip(left, pool.map(runner.case, left)):
            results[c.name] = result, why
            print(json.dumps({"case": c.name, "result": result, "why": why}), file=log, flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardcc", type=Path, required=True)
    parser.add_argument("--operators", default="all", help="Resize,Pad,…")
    parser.add_argument("--cases", default="*", help="names of cases, as a glob")
    parser.add_argument("--state", type=Path)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--compile", action="store_true")
    way.add_argument("--gradients", action="store_true")
    parser.add_argument("--show", default="wrong,crashed", help="results whose reasons are printed")
    options = parser.parse_args()
    cases, operator = load_cases()
    asked = set(options.operators.split(","))
    for name in asked - {"all"} - set(operator.values()):
        parser.error(f"ONNX has no case of an operator {name}")
    cases = [c for c in cases if asked & {"all", operator[c.name]} and fnmatch.fnmatch(c.name, options.cases)]
    results = run_all(options, cases, Runner(options))
    counts = defaultdict(Counter)
    for c in sorted(cases, key=lambda c: (operator[c.name], c.name)):
        result, why = results[c.name]
        counts[operator[c.name]][result] += 1
        if result in options.show.split(","):
            sign = {"refused": "", "wrong": "not ok - ", "crashed": "not ok - "}.get(result, "ok - ")
            print(f"{sign}{result}: {c.name} ({operator[c.name]}){': ' * bool(why)}{why}")
    print(f"{'operator':28}" + "".join(f"{r:>9}" for r in RESULTS))
    total = Counter()
    for name, count in sorted(counts.items()):
        total += count
        print(f"{name:28}" + "".join(f"{count[r] or '':>9}" for r in RESULTS))
    print(f"{'all':28}" + "".join(f"{total[r]:>9}" for r in RESULTS))
    failed = total["wrong"] + total["crashed"]
    print(f"{total['equal'] + total['drawn']} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
