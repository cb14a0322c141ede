#!/usr/bin/env python3
"""What shardcc and trainers say when something is wrong: exit status and message, word by word.

  errors_test.py --shardcc build/shardcc

Status 2: an option is unknown or malformed; 1: everything else. No unfinished file is left.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from errors_cases import CLUSTERS, DATA, MODELS, OPTIONS, TOKENS, TRAIN, TRAINER_OPTIONS, write_folders, write_models, write_toolkits
from harness import Checks, read_log, read_safetensors, run, side_by_side, write_data
from onnx_bytes import external, graph, model, node, tensor, value

# A run goes on without the log, and ends with status 1.
FULL_LOG = "linear: warning: {0}; what can't be written is left out\nlinear: error: {0}"
INPUTS = ("good/x.npy", "even/x.npy", "again", "linear", "linear.safetensors", "kept.safetensors")
TINY = Path(__file__).parents[2] / "models/tiny"


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
        self.expect(["./linear", "--quiet", "--data", "good", "--log", "/dev/full"], 1, FULL_LOG.format("/dev/full: No space left on device"))
        for args, message in TOKENS:
            self.expect(["./other", "--quiet", "--data", *args], 1, f"other: error: {message}")
        for option in (["--eval-data"], ["-o", "out.npz", "--predict"]):
            message = "input 'ids': sample 3, position 2: 16 is out of range, -16 to 15"
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
            wrong = [x for x in side_by_side(2, *(partial(one, (path, n)) for n in lengths)) if x]
            self.check(f"{len(lengths)} prefixes of {path.name}", not wrong, "; ".join(wrong[:3]))

    def weights_unwanted(self):
        """The file of weights may be missing with --no-weights."""
        done = self.run([self.shardcc, "missing.onnx", "--no-weights", "--emit", "source", "-o", "unwanted"])
        self.check("--no-weights without external data", done.returncode == 0, done.stderr)

    def padding(self):
        """--padding-index: a row of a table gets no gradient; a glob without a match gives a warning."""
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

    # ---- large models ----

    def many_infos(self):
        """A file may describe 100,000 values."""
        infos = [value(f"v{i}", "f32", [2, 3, 4]) for i in range(100000)]
        data = model([node("Relu", ["x"], ["y"], "relu")], [value("x", "f32", [4])], [value("y", "f32", [4])], infos=infos)
        (self.work / "infos.onnx").write_bytes(data)
        done = self.run([self.shardcc, "infos.onnx", "--emit", "ir"])
        self.check("100,000 values described", done.returncode == 0, done.stderr)

    def loop(self, name, trips, adds, size, long, is_constant):
        """A loop that adds constants to its state. The state is a constant or the model's input."""
        names = [f"c{i}" + "n" * long for i in range(adds)]
        state = ["s", *[f"t{i}" + "m" * long for i in range(adds - 1)], "out"]
        nodes = [node("Add", [a, n], [b]) for a, n, b in zip(state, names, state[1:])] + [node("Identity", ["more"], ["again"])]
        tensors = [tensor(n, np.arange(size, dtype=np.float32) ** 2 + i) for i, n in enumerate(names)]
        inputs = [value("trip", "i64", []), value("more", "bool", []), value("s", "f32", [size])]
        body = graph(nodes, inputs, [value("again", "bool", []), value("out", "f32", [size])], tensors)
        start = tensor("start", np.ones(size, np.float32))
        outer = [node("Loop", ["n", "", "start" if is_constant else "x"], ["end"], "loop", body=body), node("Add", ["x", "end"], ["y"])]
        ends = [value("x", "f32", [size])], [value("y", "f32", [size])]
        (self.work / name).write_bytes(model(outer, *ends, [tensor("n", np.array(trips)), start]))

    def loops(self):
        """Unrolling loops takes at most 10 s and a second per MB, 256 MiB and 64 bytes per byte, or a message names a limit."""
        large = "the model is too large once its loops are unrolled: more than"
        for trips, adds, size, long, is_constant, message in (
            (16384, 1, 4, 0, True, ""),
            (16384, 2, 16000, 0, True, ""),
            (500, 100, 64, 0, False, ""),
            (1000, 20, 64, 60000, False, f"{large} 512 MiB of names"),
            (16384, 20, 4, 0, False, f"{large} 262227 values and nodes"),
        ):
            self.loop("loop.onnx", trips, adds, size, long, is_constant)
            length = (self.work / "loop.onnx").stat().st_size
            command = [self.shardcc, "loop.onnx", "--emit", "c", "-o", "loop.c"]
            p = subprocess.Popen(command, cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = p.stderr.read()
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            seconds, name = used.ru_utime + used.ru_stime, f"loop of {trips} x {adds} x {size}, names of {long}"
            expected = f"loop.onnx: error: {message}\n" if message else ""
            self.check(name, p.returncode == bool(message) and said == expected, said)
            self.check(f"{name}: time", seconds <= 10 + length / 1e6, f"{seconds:.1f} s")
            self.check(f"{name}: memory", used.ru_maxrss <= (256 << 10) + length * 64 / 1024, f"{used.ru_maxrss} KiB")

    # ---- what shardcc is started with ----

    def memory(self):
        """Without memory shardcc says so and writes nothing. How much it takes is the system's matter, hence all limits."""
        text = self.work / "without_memory.c"
        ended = set()
        for mib in 8, 12, 16, 20, 24, 28, 32, 40, 48, 64:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))  # noqa: E731
            done = self.run([self.shardcc, TINY / "gpt2.onnx", *TRAIN, "--emit", "c", "-o", text.name], preexec_fn=limit)
            says = done.stderr.splitlines()[-1:] == ["shardcc: error: out of memory"]
            if "error while loading shared libraries" in done.stderr:
                continue
            ended.add(done.returncode)
            ok = done.returncode == 0 or (done.returncode == 1 and says and not list(self.work.glob("without_memory*")))
            self.check(f"{mib} MiB of memory", ok, (done.returncode, done.stderr[-200:]))
            text.unlink(missing_ok=True)
        self.check("some limit is too low", 1 in ended, ended)

    def stack(self):
        """A stack limit that is too low is raised, for the C compiler too, or a message names it."""
        for kib in 64, 256:
            for hard in kib << 10, resource.RLIM_INFINITY:
                if hard == resource.RLIM_INFINITY != resource.getrlimit(resource.RLIMIT_STACK)[1]:
                    continue  # it can't be raised here either
                command = [self.shardcc, "linear.onnx", *TRAIN, "-o", "little_stack"]
                done = self.run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, hard)))
                message = f"shardcc: error: the limit of the stack is {kib} KiB, 1024 are needed: see ulimit -s\n"
                is_low = hard != resource.RLIM_INFINITY
                ok = done.returncode == is_low and done.stderr == message * is_low
                self.check(f"a stack of {kib} KiB{' at most' * is_low}", ok, (done.returncode, done.stderr))

    def closed(self):
        """Files that shardcc opens don't take the numbers of closed stdin, stdout and stderr."""
        command = [self.shardcc, "linear.onnx", "--emit", "c"]
        text = self.run(command).stdout
        for closed in (0,), (1,), (2,), (0, 1, 2):
            files = [subprocess.PIPE if i not in closed else None for i in range(3)]
            ends = dict(zip(("stdin", "stdout", "stderr"), files))
            for output in [], ["-o", "closed.c"]:
                p = subprocess.Popen([*command, *output], cwd=self.work, text=True, preexec_fn=lambda: [os.close(i) for i in closed], **ends)
                said = p.communicate(timeout=60)[1]
                lost = 1 in closed
                name = f"{closed} closed, {'to a file' if output else 'to stdout'}"
                self.check(name, p.returncode == lost, (p.returncode, said))
                if output:
                    self.check(f"{name}: the text", (self.work / "closed.c").read_text() == text)
                if closed == (1,):
                    self.check(f"{name}: a message", "error: cannot write to stdout: Bad file descriptor\n" in said, said)

    def streams(self):
        """Files that a trainer opens don't take the numbers of streams that are closed at the start."""
        command = "./linear --data good --steps 3 --no-shuffle --log streams.jsonl --eval-data good"
        for closed in ("<&- >&- 2>&-", ">&-", "2>&-"):
            done = self.run(["sh", "-c", f"{command} {closed}"])
            lines = (self.work / "streams.jsonl").read_text().splitlines()
            ok = done.returncode == 0 and len(lines) == 4 and all(json.loads(x) for x in lines)
            self.check(f"a log of steps alone, with {closed}", ok, (done.returncode, lines))
        done = self.run(["sh", "-c", "./linear --eval-data good >&-"])
        said = "linear: error: cannot write to stdout\n"
        self.check("results without stdout", (done.returncode, done.stderr) == (1, said), (done.returncode, done.stderr))

    def inputs_kept(self):
        """A file that was refused as an output is unchanged."""
        before = {p: (self.work / p).read_bytes() for p in INPUTS}
        for args, message in DATA:
            if "this run reads it" in message:
                self.run(["./linear", "--quiet", "--data", *args])
        changed = [p for p in INPUTS if (self.work / p).read_bytes() != before[p]]
        self.check("inputs stay as they are", not changed, changed)

    # ---- saving ----

    def disk_full(self):
        """On a full disk the old file stays whole, and no other file is left."""
        run("./linear", "--data", "good", "--save", "kept", "--quiet", cwd=self.work)
        old, files = (self.work / "kept").read_bytes(), sorted(os.listdir(self.work))

        def limit(size=64):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = self.run(["./linear", "--data", "good", "--save", "kept", "--quiet"], preexec_fn=limit)
        said = done.stderr == "linear: error: kept: not saved: File too large\n"
        self.check("a full disk", done.returncode == 1 and said, done.stderr)
        same = (self.work / "kept").read_bytes() == old and sorted(os.listdir(self.work)) == files
        self.check("a full disk: the old file is whole", same)
        done = self.run(["./linear", "--data", "not_finite", "--save", "kept"])
        same = (self.work / "kept").read_bytes() == old
        self.check("the loss becomes NaN: the old file is whole", done.returncode == 1 and same, done.stderr)
        compiler = "the C compiler 'cc' failed, so nothing was written\n  it needs OpenMP and oneDNN (Debian: libdnnl-dev); --emit c shows the text\n"
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
            self.check(f"a full disk: {what}", done.returncode == 1 and said and clean, done.stderr)

    def limits(self):
        """Limits of the system that are too low are named."""
        stack = "the limit for stacks is {} KiB, 1024 are needed: ulimit -s 1024"
        threads = "threads have stacks of 256 KiB, 1024 are needed: OMP_STACKSIZE is too small"
        for kind, size, args, message in (
            (resource.RLIMIT_STACK, 64 << 10, [], stack.format(64)),
            (resource.RLIMIT_STACK, 256 << 10, ["--save", "small"], stack.format(256)),
            (resource.RLIMIT_STACK, 1 << 20, [], None),
            ("OMP_STACKSIZE", "256k", [], threads),
            ("OMP_STACKSIZE", "1m", [], None),
            (resource.RLIMIT_FSIZE, 0, [], None),
            (resource.RLIMIT_FSIZE, 0, ["--log", "small"], "small: File too large"),
            (resource.RLIMIT_FSIZE, 0, ["--save", "small"], "small: not saved: File too large"),
            (resource.RLIMIT_FSIZE, 0, ["--save-gradients", "small"], "small: not saved: File too large"),
            (resource.RLIMIT_FSIZE, 0, ["--trace", "small"], "small: File too large"),
            (resource.RLIMIT_FSIZE, 0, ["--predict", "even", "-o", "small"], "small: not saved: File too large"),
        ):
            is_limit = isinstance(kind, int)
            more = {"preexec_fn": lambda: resource.setrlimit(kind, (size, size))} if is_limit else {"env": {**os.environ, kind: size}}
            done = self.run(["./linear", "--data", "good", "--quiet", "--threads", "2", *args], **more)
            said = (FULL_LOG.format(message) if "--log" in args else f"linear: error: {message}") + "\n" if message else ""
            self.check(f"limit {kind} of {size} with {' '.join(args)}", (done.returncode, done.stderr) == (int(bool(said)), said), (done.returncode, done.stderr))
            (self.work / "small").unlink(missing_ok=True)
        with open(self.work / "help", "w") as file:
            done = subprocess.run(["./linear", "--help"], cwd=self.work, stdout=file, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        said = "linear: error: cannot write to stdout\n"
        self.check("a full disk: --help", (done.returncode, done.stderr) == (1, said), (done.returncode, done.stderr))

    def killed(self):
        """After a kill in the middle of saving the old file is whole, and the next save works."""
        big = np.zeros((4096, 8192), np.float32)
        nodes = [node("MatMul", ["x", "weight"], ["logits"], "mm")]
        data = model(nodes, [value("x", "f32", [1, 4096])], [value("logits", "f32", [1, 8192])], [tensor("weight", big)])
        (self.work / "big.onnx").write_bytes(data)
        run(self.shardcc, "big.onnx", *TRAIN, cwd=self.work)
        write_data(self.work / "big_data", {"x": np.zeros((1, 4096), np.float32), "labels": np.zeros(1, np.int64)})
        command = ["./big", "--data", "big_data", "--steps", "0", "--quiet", "--save", "saved"]
        run(*command, cwd=self.work)
        old, caught = (self.work / "saved").read_bytes(), 0
        for _ in range(200):
            p = subprocess.Popen(command, cwd=self.work)
            while p.poll() is None and not list(self.work.glob("saved.*")):
                pass
            p.kill()
            p.wait()
            left = list(self.work.glob("saved.*"))
            caught += bool(left)
            if (self.work / "saved").read_bytes() != old or caught == 3:
                break
            for path in left:
                path.unlink()
        self.check("killed while saving: the old file is whole", (self.work / "saved").read_bytes() == old and caught > 0, f"{caught} times")
        run(*command, cwd=self.work)
        left = [p.name for p in self.work.glob("saved.*")]
        self.check("killed while saving: the next save works", (self.work / "saved").read_bytes() == old and not left, left)

    # ---- compiling ----

    def others_files(self):
        """The user's files in an output folder stay: folders named like temporary ones, a Makefile and sources of the same names."""
        for name in ".shardcc-notes", ".shardcc-secret":
            (self.work / name).mkdir()
            (self.work / name / "text").write_text("mine")
        run(self.shardcc, "linear.onnx", "-o", "stage_beside", cwd=self.work)
        kept = all((self.work / name / "text").exists() for name in (".shardcc-notes", ".shardcc-secret"))
        self.check("folders that are named like a stage stay", kept, os.listdir(self.work))
        for name in ".shardcc-notes", ".shardcc-secret":
            shutil.rmtree(self.work / name)
        for place in "Makefile", "runtime/rt.h":
            mine = self.work / f"mine{len(place)}" / place
            mine.parent.mkdir(parents=True)
            mine.write_text("mine")
            name = mine.relative_to(self.work)
            command = [self.shardcc, "linear.onnx", "--emit", "source", "-o", name.parts[0]]
            self.expect(command, 1, f"linear.onnx: error: cannot write '{name}': the file there wasn't made by shardcc")
            self.check(f"the user's {place} stays", mine.read_text() == "mine")
            self.check(f"nothing is added next to the user's {place}", [f for f in (self.work / name.parts[0]).rglob("*") if f.is_file()] == [mine])
        for _ in range(2):
            done = self.run([self.shardcc, "linear.onnx", "--emit", "source", "-o", "sources_again"])
            self.check("a folder of sources can be made again", done.returncode == 0, done.stderr)

    def plan_is_kept(self):
        """The plan that --plan reads isn't overwritten, whatever name the output has."""
        plan = [self.shardcc, "plan", "linear.onnx", *TRAIN, "--ranks", "2", "--cluster", "h100x2", "--target", "cpu", "-o", "p.plan"]
        run(*plan, cwd=self.work)
        os.symlink("p.plan", self.work / "link.c")
        old = (self.work / "p.plan").read_bytes()
        for args in (["-o", "p.plan"], ["--emit", "c", "-o", "p.plan"], ["-o", "link"], ["--emit", "ir", "-o", "link.c"]):
            written = "link.c" if args[-1].startswith("link") else "p.plan"
            self.expect([self.shardcc, "linear.onnx", "--plan", "p.plan", *args], 1, f"linear.onnx: error: cannot write '{written}': it is the plan")
        self.expect([*plan[:-1], "linear.onnx"], 1, "linear.onnx: error: cannot write 'linear.onnx': it is the model")
        self.check("the plan stays", (self.work / "p.plan").read_bytes() == old)

    def compiler_makes_none(self):
        """A C compiler that succeeds without writing a program gives a message."""
        (self.work / "folder_maker").write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nmkdir "$2"\n')
        (self.work / "folder_maker").chmod(0o755)
        for compiler in "./folder_maker", "true":
            message = f"linear.onnx: error: the C compiler '{compiler}' made no program, so nothing was written"
            self.expect([self.shardcc, "linear.onnx", "--cc", compiler, "-o", "made_none"], 1, message)

    def start(self, *args):
        """Starts shardcc in its own session and waits until it writes next to `never`; returns it and the files before."""
        files = set(os.listdir(self.work))
        command = [self.shardcc, *args, "-o", "never"]
        p = subprocess.Popen(command, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while p.poll() is None and not set(self.work.glob(".shardcc-*")) - {self.work / f for f in files}:
            time.sleep(0.001)
        return p, files

    def start_compiler(self):
        """Starts shardcc and waits until its C compiler runs, which takes a minute."""
        (self.work / "slow").write_text("#!/bin/sh\ntouch started\nexec sleep 60\n")
        (self.work / "slow").chmod(0o755)
        p, files = self.start("linear.onnx", "--cc", "./slow")
        while p.poll() is None and not (self.work / "started").exists():
            time.sleep(0.01)
        (self.work / "started").unlink()
        return p, files

    def compiler_interrupted(self):
        """A signal to stop while the C compiler runs ends both, and no file is left."""
        message = "linear.onnx: error: the C compiler './slow' was stopped: "
        for sig, what in (signal.SIGINT, "Interrupt"), (signal.SIGTERM, "Terminated"):
            p, files = self.start_compiler()
            (os.killpg if sig == signal.SIGINT else os.kill)(p.pid, sig)
            said = p.communicate(timeout=60)[1]
            self.check(f"{sig.name} in the C compiler", p.returncode == -sig and said == f"{message}{what}\n", (p.returncode, said))
            self.check(f"{sig.name} in the C compiler: nothing is left", set(os.listdir(self.work)) == files)

    def copy_interrupted(self):
        """A signal to stop while weights are copied leaves no file."""
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
            stopped = p.returncode == -sig and said == "sparse.onnx: error: stopped, so nothing was written\n"
            self.check(f"{sig.name} while copying weights", stopped, (p.returncode, said))
            self.check(f"{sig.name} while copying weights: nothing is left", set(os.listdir(self.work)) == files)

    def compiler_killed(self):
        """shardcc removes the temporary files of a killed one, but not those of a running one."""
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
        """After Ctrl-C the step is finished and the weights saved, as after that many steps without Ctrl-C."""
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
        write_toolkits(work)
        t = Errors(o.shardcc.resolve(), work, checks)
        run(t.shardcc, "linear.onnx", *TRAIN, cwd=work)
        run(t.shardcc, "other.onnx", *TRAIN, cwd=work)
        (work / "kept.safetensors").write_bytes((work / "linear.safetensors").read_bytes())
        run(t.shardcc, "linear.onnx", *TRAIN, "--emit", "ir", "-o", "updated.ir", cwd=work)
        t.tables()
        t.prefixes()
        t.weights_unwanted()
        t.many_infos()
        t.loops()
        t.stack()
        t.memory()
        t.closed()
        t.others_files()
        t.plan_is_kept()
        t.compiler_makes_none()
        t.padding()
        t.streams()
        t.inputs_kept()
        t.disk_full()
        t.limits()
        t.killed()
        t.interrupted()
        t.compiler_interrupted()
        t.compiler_killed()
        t.copy_interrupted()
    checks.finish()


if __name__ == "__main__":
    main()
