#!/usr/bin/env python3
"""What shardcc writes in addition to a trainer: texts, and folders that build elsewhere.

  emit_test.py --shardcc build/shardcc
"""
import argparse
import json
import os
import platform
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import numpy as np

from harness import Checks, read_log, read_safetensors, run, without_command, write_data

TINY = Path(__file__).parents[2] / "models/tiny"
ADAMW = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]
PASSES = ["import", "fold", "loss", "patterns", "refine", "simplify", "blocks", "autodiff", "clip", "optimizer"]
PASSES += ["outputs", "recompute", "onto"]
EVERY_PASS = re.findall(r"^GRAPH_PASS\((\w+)", (TINY.parents[1] / "compile/passes.def").read_text(), re.M)
RANKS = ["--ranks", "2", "--mesh", "2"]



# Every option that the head of a text repeats, in its order, except the sizes of a dynamic model.
HEAD = [
    *["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw(lr=1e-3)", "--clip-norm", "0.5"],
    *["--freeze", "0.*", "--no-decay", "*.bias", "--padding-index", "none=0", "--stop-gradient", "none", "--frozen-batch-norm", "--no-fuse"],
    *["--init", "normal(0.25)", "--ranks", "2", "--mesh", "dp=2", "--pin", "9.weight=[-,-]"],
    *["--plan-preset", "ddp", "--memory", "1073741824", "--threads", "1", "--march", "x86-64-v3", "--cluster", "local"],
]


class Emit:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def compile(self, *args):
        return run(self.shardcc, *args, cwd=self.work)

    def text(self, name):
        return (self.work / name).read_text()

    def stages(self, model):
        """The text after any pass, read back, prints as the same text and compiles to the same C."""
        info = json.loads(model.with_suffix(".json").read_text())
        options = {
            "loss": ["--loss", f"{info['loss']}({info['output']}, labels)"],
            "optimizer": ["--optimizer", "adamw", "--clip-norm", "1"],
        }
        given = [word for words in options.values() for word in words]
        self.compile(model, *given, "--emit", "c", "-o", "whole.c")
        seen = set()
        for i, name in enumerate(PASSES):
            self.compile(model, *given, "--dump-after", name, "-o", "after.ir")
            left = [word for at, words in options.items() if i < PASSES.index(at) for word in words]
            self.compile("after.ir", *left, "--dump-after", name, "-o", "again.ir")
            self.checks.check(f"{model.stem} after {name}: printed again", self.text("after.ir") == self.text("again.ir"))
            said = self.compile("after.ir", *left, "--emit", "c", "-o", "part.c")
            same = without_command(self.text("whole.c")) == without_command(self.text("part.c"))
            self.checks.check(f"{model.stem} after {name}: the same C", same and "warning" not in said, said)
            seen.add(self.text("after.ir").partition("\n")[2])
            if name == "optimizer":
                self.compile(model, *given, "--emit", "ir", "-o", "last.ir")
                self.checks.check(f"{model.stem}: --emit ir", self.text("last.ir") == self.text("after.ir"))
        self.checks.check(f"{model.stem}: passes change the graph", len(seen) >= 6, f"{len(seen)} texts")

    def targets(self, model):
        """No pass asks for which kind of processor it makes a graph."""
        info = json.loads(model.with_suffix(".json").read_text())
        given = ["--loss", f"{info['loss']}({info['output']}, labels)", "--optimizer", "adamw", "--clip-norm", "1"]
        for name in EVERY_PASS:
            for target in ("cpu", "cuda"):
                self.compile(model, *given, "--target", target, "--dump-after", name, "-o", f"{target}.ir")
            self.checks.check(f"{model.stem} after {name}: one text for all targets", self.text("cpu.ir") == self.text("cuda.ir"))

    def micro_batches(self):
        """A text says how many micro-batches a step has."""
        args = ["--dump-after", "autodiff", "-o", "micro.ir"]
        self.compile(TINY / "mlp.onnx", *ADAMW, "--accumulate", "2", *args)
        self.checks.check("a text of micro-batches", " after autodiff accumulate 2 {" in self.text("micro.ir"))
        said = run(self.shardcc, "micro.ir", *ADAMW[2:], cwd=self.work, status=1)
        asked = "--accumulate is 1, but the graph is of 2 micro-batches a step"
        self.checks.check("a text of other micro-batches", asked in said, said)

    def one_graph(self):
        """A text without the forward-only graph of a model that predicts differently than it trains."""
        self.compile(TINY / "resnet.onnx", *ADAMW, "--emit", "ir", "-o", "two.ir")
        first, second = self.text("two.ir").split("\ngraph ")
        self.checks.check("the graphs of a text", first.count("carry step") > 10 and "carry" not in second)
        (self.work / "one.ir").write_text(first + "\n")
        said = self.compile("one.ir", "--emit", "c", "-o", "one.c")
        self.checks.check("a warning of predictions", "warning: predictions are made as in training" in said, said)

    def head(self):
        """The head of a text is the command that made it."""
        self.compile(TINY / "cnn.onnx", *HEAD, "--emit", "c", "-o", "head.c")
        head = " ".join(re.findall(r"^// (.*)", self.text("head.c").partition("\n\n")[0], re.M))
        found = shlex.split(head[head.index("shardcc ") :])
        self.checks.check("the options in a text's head", found[: len(HEAD) + 2] == ["shardcc", "cnn.onnx", *HEAD], head)

    def split(self):
        """The graph that is split over ranks can be read, but not compiled."""
        self.compile(TINY / "nanogpt.onnx", *ADAMW, "--ranks", "2", "--mesh", "2", "--dump-after", "partition", "-o", "split.ir")
        said = run(self.shardcc, "split.ir", cwd=self.work, status=1)
        self.checks.check("a split graph", "a graph that is split over ranks is only to be read" in said, said)

    def texts(self):
        """The text on stdout and in a file is the same."""
        for what in "ir", "program", "c":
            self.compile(TINY / "mlp.onnx", *ADAMW, "--emit", what, "-o", "text")
            said = self.compile(TINY / "mlp.onnx", *ADAMW, "--emit", what)
            self.checks.check(f"--emit {what}", said == self.text("text") and len(said) > 1000)
        self.compile(TINY / "mlp.onnx", *ADAMW)
        self.checks.check("--emit c is what is compiled", self.text("mlp.c") == self.compile(TINY / "mlp.onnx", *ADAMW, "--emit", "c"))

    def train(self, program, *more, steps=3):
        log = self.work / "run.jsonl"
        run(program, "--data", "data", "--no-shuffle", "--quiet", "--steps", steps, "--log", log, "--check-arena", *more, cwd=self.work)
        return [x["loss"] for x in read_log(log)]

    def forward_text(self):
        """A forward graph's text is trained like the model that it comes from."""
        self.compile(TINY / "mlp.onnx", "--emit", "ir", "-o", "forward.ir")
        self.compile("forward.ir", *ADAMW, "-o", "from_text")
        self.compile(TINY / "mlp.onnx", *ADAMW, "-o", "from_model")
        weights = ["--load", "from_model.safetensors"]
        self.checks.check("no weights next to a text's trainer", not (self.work / "from_text.safetensors").exists())
        losses = self.train("./from_text", *weights), self.train("./from_model")
        self.checks.check("trained from a text", losses[0] == losses[1], str(losses))

    def weights(self):
        """--no-weights and --init."""
        self.compile(TINY / "mlp.onnx", *ADAMW, "--no-weights", "-o", "bare")
        self.checks.check("--no-weights", not (self.work / "bare.safetensors").exists())
        said = run("./bare", "--data", "data", cwd=self.work, status=1)
        self.checks.check("--no-weights: the trainer says so", "bare.safetensors: No such file or directory; give --load" in said, said.strip())
        self.compile(TINY / "mlp.onnx", *ADAMW, "--no-weights", "--init", "normal(0.02)", "-o", "drawn")
        for name, seed in ("a", 1), ("b", 1), ("c", 2):
            self.train("./drawn", "--seed", seed, "--save", name, steps=0)
        a, b, c = ((self.work / x).read_bytes() for x in "abc")
        self.checks.check("--init: by the seed", a == b and a != c)
        w = read_safetensors(self.work / "a")
        matrices = np.concatenate([x.ravel() for x in w.values() if x.ndim >= 2])
        good = abs(matrices.std() / 0.02 - 1) < 0.05 and abs(matrices.mean()) < 0.001
        self.checks.check("--init: matrices", good, f"{matrices.mean():.4f} ± {matrices.std():.4f}")
        self.checks.check("--init: biases", all((x == 0).all() for x in w.values() if x.ndim < 2))

    def source(self):
        """--emit source: the folder builds without shardcc, also when written over an old one, and trains alike."""
        folder = self.work / "there"
        for _ in range(2):
            self.compile(TINY / "mlp.onnx", *ADAMW, "--emit", "source", "-o", "there/")
        files = sorted(os.listdir(folder))
        self.checks.check("--emit source: files", files == ["Makefile", "runtime", "there.c", "there.safetensors"], str(files))
        elsewhere = self.work.parent / "elsewhere"
        shutil.move(folder, elsewhere)
        said = run("make", "-j2", cwd=elsewhere)
        self.checks.check("--emit source: no warnings", "warning" not in said)
        self.compile(TINY / "mlp.onnx", *ADAMW, "-o", "here")
        losses = self.train(elsewhere / "there", steps=1), self.train("./here", steps=1)
        self.checks.check("--emit source: trains alike", losses[0] == losses[1], str(losses))
        self.checks.check("nothing else is left", not list(self.work.glob(".shardcc*")) and not list(self.work.glob("*.part")))
        if platform.machine() == "x86_64":
            self.vectors(elsewhere)

    def vectors(self, folder):
        """The flags ask for the widest vectors, also on CPUs for which compilers prefer half the width."""
        flags = re.search(r"^CFLAGS = (.*?[^\\])$", (folder / "Makefile").read_text(), re.S | re.M)[1].replace("\\\n", "")
        for march, register in ("x86-64-v4", "zmm"), ("sapphirerapids", "zmm"), ("x86-64-v3", "ymm"):
            words = flags.replace("$(MARCH)", march).split()
            text = run("cc", *words, "-I.", "-Iruntime", "-S", "-o", "-", "runtime/cpu/tile.c", cwd=folder)
            products = sum("vfmadd" in x and f"%{register}" in x for x in text.splitlines())
            self.checks.check(f"products for {march} in {register}", products >= 12, f"{products} of them")

    def ranks(self):
        """Sources of several ranks, whose shards are uneven."""
        said = self.compile(TINY / "nanogpt.onnx", *ADAMW, "--ranks", "3", "--emit", "source", "-o", "three")
        lines = self.text("three/three.c").count("\n")
        self.checks.check("the lines of the text", f"three.c ({lines} lines)" in said, said)
        said = run("make", "three.o", cwd=self.work / "three")
        self.checks.check("--emit source --ranks: builds without warnings", "warning" not in said)
        said = re.findall(r"// (.* MiB, .* us)$", self.text("three/three.c"), re.M)
        form = r"\w+ (of \d+ )?on x0: [\d.e+-]+ MiB, [\d.e+-]+ us"
        self.checks.check("comments of exchanges", said and all(re.fullmatch(form, x) for x in said), str(said))
        self.compile(TINY / "mlp.onnx", *ADAMW, *RANKS, "--cluster", "h100x2", "--plan-preset", "ddp", "--emit", "c", "-o", "two.c")
        said = re.findall(r', ([\d.e+-]+) us\n *RT_AT\(rt, "(?![^;]*start )[^;]*\.seconds = ([\d.e+-]+)[,)]', self.text("two.c"))
        times = [(1e-6 * float(x), float(y)) for x, y in said]
        good = times and all(0.99 * x <= y <= 1.01 * x + 1e-5 for x, y in times)
        self.checks.check("seconds of exchanges", good, str(times))
        for name in "once.txt", "again.txt":
            self.compile(TINY / "mlp.onnx", *ADAMW, "--ranks", "3", "--mesh", "3", "--plan-preset", "fsdp", "--emit", "program", "-o", name)
        self.checks.check("the same program text twice", self.text("once.txt") == self.text("again.txt"))

    def kernels(self):
        """--emit source copies the kernels that the program calls and the files that they need, and no others."""
        objects = {f.name.split(".")[0]: symbols(f) for f in (self.shardcc.parent / "runtime/CMakeFiles").rglob("*.c.o")}
        for model in sorted(TINY.glob("*.onnx")):
            name, folder = model.stem, self.work / f"{model.stem}_source"
            info = json.loads(model.with_suffix(".json").read_text())
            loss = f"{info['loss']}({info['output']}, labels)"
            self.compile(model, "--loss", loss, "--optimizer", "sgd", "--no-weights", "--emit", "source", "-o", folder)
            sources = [f.stem for f in (folder / "runtime").rglob("*.c")]
            called = set(map(str.lower, re.findall(r"\b(?:rt|RT)_\w+(?=\()|(?<=&)rt_\w+", self.text(folder / f"{folder.name}.c"))))
            has = set().union(*(objects[f][0] for f in sources))
            needs = called.union(*(objects[f][1] for f in sources)) & set().union(*(o[0] for o in objects.values()))
            self.checks.check(f"{name}: nothing is missing", needs <= has, str(needs - has))
            kernels = [f.stem for f in (folder / "runtime/cpu").glob("*.c") if f.stem != "kernel"]
            # What other CPUs need is included at least.
            texts = {f: self.text(folder / f"runtime/cpu/{f}.c") for f in kernels}
            included = {f for f in kernels if any(f'/{f}.h"' in texts[k] for k in kernels if k != f)}
            idle = [f for f in kernels if not needs & objects[f][0] and f not in included]
            self.checks.check(f"{name}: {len(kernels)} files of kernels, none without use", not idle, str(idle))
            made = (folder / "Makefile").read_text()
            self.checks.check(f"{name}: oneDNN is asked for if needed", ("dnnl" in made) == ("onednn" in kernels))


def symbols(path):
    """Functions and tables that an object file defines, and those that it uses."""
    lines = run("nm", path).splitlines()
    return {x.split()[-1] for x in lines if x.split()[-2] in "TDR"}, {x.split()[-1] for x in lines if x.split()[-2] == "U"}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=Path, required=True)
    o = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as temp:
        work = Path(temp) / "work"
        work.mkdir()
        ref, info = np.load(TINY / "mlp.npz"), json.loads((TINY / "mlp.json").read_text())
        arrays = {n: ref[f"data/{n}"] for n in [*info["inputs"], "labels"]}
        write_data(work / "data", {n: np.concatenate([x.reshape(-1, *x.shape[2:])] * 3) for n, x in arrays.items()})
        t = Emit(o.shardcc.resolve(), work, checks)
        for model in sorted(TINY.glob("*.onnx")):
            t.stages(model)
        for name in ("nanogpt", "cnn"):
            t.targets(TINY / f"{name}.onnx")
        t.micro_batches()
        t.one_graph()
        t.split()
        t.head()
        t.texts()
        t.forward_text()
        t.weights()
        t.source()
        t.ranks()
        t.kernels()
    checks.finish()


if __name__ == "__main__":
    main()
