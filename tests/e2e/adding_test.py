#!/usr/bin/env python3
"""docs/adding.md is true: one of each kind is added to a copy of the sources by its lists alone, built, and run.

  adding_test.py --shardcc build/shardcc

New files are those of tests/adding/KIND, laid out as in the tree; EDITS has the lines that go into files that are there. The copy is
compiled without optimization, by the compiler of shardcc's own build, without tests and engines.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from harness import read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC, REPOSITORY
from onnx_bytes import model, node, tensor, value

SAMPLES = REPOSITORY / "tests/adding"
# Section of the page, and the name of its sample.
KINDS = {
    "operator": ("An operator", "running_product"),
    "optimizer": ("An optimizer", "sign_sgd"),
    "option": ("An option of the compiler", "note"),
    "trainer_option": ("An option of the trainer", "greet"),
    "target": ("A target", "abacus"),
    "transport": ("A transport", "loop"),
}
# By kind: file, the text after which to add lines, the lines.
EDITS = {
    "operator": [
        ("ir/ops.def", "OP(cumsum)\n", "OP(running_product)\n"),
        (
            "ir/build.h",
            "ValueId make_cumsum(Graph *g, ValueId x, int axis, bool exclusive, bool reverse);\n",
            "ValueId make_running_product(Graph *g, ValueId x, int axis);\n",
        ),
        (
            "ir/operator/build.c",
            "    return graph_node(g, &op_cumsum, 1, &x, attr);\n}\n",
            """
ValueId make_running_product(Graph *g, ValueId x, int axis)
{
    return graph_node(g, &op_running_product, 1, &x, &(Attr){.i = axis});
}
""",
        ),
        (
            "frontend/import_reduce.c",
            "static void import_hardmax(Op *o) { along_axis(o, hardmax); }\n",
            """
static void import_running_product(Op *o)
{
    int64_t axis = attr_int(o, "axis", -1);

    if (op_axis(o, &axis, arg_value(o, 0)->rank))
        give(o, 0, make_running_product(o->g, arg(o, 0), (int)axis));
}
""",
        ),
        (
            "frontend/import_reduce.c",
            "const OpImporter import_reduce[] = {\n",
            '    {"RunningProduct", 1, 1, .import = import_running_product, .attrs = "axis"},\n',
        ),
        (
            "runtime/rt_kernels.h",
            "void rt_cumsum(Rt *rt, const RtAlong *p, void *y, const void *x);\n",
            "void rt_running_product(Rt *rt, const RtAlong *p, void *y, const void *x);\n",
        ),
        (
            "ir/kernels.def",
            "KERNEL(cumsum, RtAlong, cumsum_fields, false)\n",
            "KERNEL(running_product, RtAlong, along_fields, false)\n",
        ),
        *(
            (
                f"analyzer/target/target_{target}.c",
                '    {"cumsum", kernel_takes_no_halves, NO_HALVES},\n',
                '    {"running_product", kernel_takes_floats, "one type, f32 or f64"},\n',
            )
            for target in ("cpu", "cuda")
        ),
    ],
    "optimizer": [("ir/optimizers.def", "OPTIMIZER(sgd)\n", "OPTIMIZER(sign_sgd)\n")],
    "option": [
        ("driver/driver.h", "    const char *march, *cc;\n", "    const char *note;  // --note; NULL: none\n"),
        (
            "driver/options.c",
            '    {"This program"},\n',
            '    {"--note", "TEXT", &option_text, AT(note), "print a note with the program\'s sizes", .use = USE_PROGRAM,\n     .commands = COMPILE},\n',
        ),
        (
            "driver/check_options.c",
            "bool check_together(Arena *a, const Command *c, const Options *o, int *status)\n{\n",
            '    if (o->note && o->emit != EMIT_PROGRAM_FILE)\n        return complain(status, "--note doesn\'t go with --emit");\n',
        ),
        (
            "driver/command_compile.c",
            "    report_program(a, p);\n",
            '    if (o->note)\n        printf("%-13s %s\\n", "note", o->note);\n',
        ),
    ],
    "trainer_option": [
        ("runtime/trainer/trainer_options.h", "typedef struct RtOptions {\n", "    bool greet;\n"),
        (
            "runtime/trainer/option_table.c",
            "const RtOption rt_options[] = {\n",
            '    {"--greet", RT_FLAG, AT(greet), 0, 0, NULL, "begin with the program\'s name", 0, true},\n',
        ),
        (
            "runtime/trainer/trainer.c",
            "static bool run_all(RtRun *run, const RtInputs *x)\n{\n",
            '    if (run->o.greet && run->rank == 0)\n        printf("this is %s\\n", run->model->name);\n',
        ),
    ],
    "target": [("analyzer/target/targets.def", 'TARGET(cpu, "processors")\n', 'TARGET(abacus, "beads")\n')],
    "transport": [
        (
            "runtime/rt_transports.def",
            "             .numbers = {\"OMPI_COMM_WORLD_RANK\", \"PMI_RANK\", \"PMIX_RANK\"})\n",
            'RT_TRANSPORT(loop, .counts = {"LOOP_SIZE"}, .numbers = {"LOOP_RANK"})\n',
        )
    ],
}
LOSS = ["--loss", "mse(y, t)"]


def files_of(section):
    """The files that a section's list names."""
    page = (REPOSITORY / "docs/adding.md").read_text()
    text = page.split(f"\n## {section}\n")[1].split("\n## ")[0].split("\nTests and docs:")[0]
    return set(re.findall(r"`([\w/]+\.(?:c|h|cu|def|cmake))`", text))


def cache_of(build):
    """The settings of a build that another one of the same sources has, too."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))
    names = ("CMAKE_C_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "SHARDCC_MPI", "SHARDCC_MARCH")
    return [f"-D{name}={cache[name]}" for name in names if cache.get(name)]


class Copy:
    """The sources with one more of each, and a shardcc of them."""

    def __init__(self, shardcc, folder, checks):
        self.original, self.folder, self.checks, self.tree = shardcc.parent, folder, checks, folder / "tree"
        self.shardcc = folder / "build/shardcc"
        self.copy()
        for kind in KINDS:
            self.add(kind)
        self.build()

    def copy(self):
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=REPOSITORY)
        for name in listed.split("\0"):
            if name and not name.startswith(("models/", "tests/", "docs/", "bench/")) and (REPOSITORY / name).exists():
                to = self.tree / name
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(REPOSITORY / name, to)

    def add(self, kind):
        """Adds the sample of a kind. Its section must name each file that this touches."""
        section, name = KINDS[kind]
        named, touched = files_of(section), set()
        for new in sorted((SAMPLES / kind).rglob("*.*")):
            path = new.relative_to(SAMPLES / kind)
            touched.add(str(path))
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, self.tree / path)
        for path, after, lines in EDITS[kind]:
            touched.add(path)
            text = (self.tree / path).read_text()
            assert text.count(after) == 1, f"{path} has {text.count(after)} times: {after}"
            (self.tree / path).write_text(text.replace(after, after + lines))
        unnamed = sorted(path for path in touched if path.replace(name, "NAME") not in named)
        self.checks.check(f"docs/adding.md, {section.lower()}: it names all {len(touched)} files", not unnamed, " ".join(unnamed))
        missing = sorted(path for path in named if not (self.tree / path.replace("NAME", name)).exists())
        self.checks.check(f"docs/adding.md, {section.lower()}: no file that isn't there", not missing, " ".join(missing))

    def build(self):
        compiler = ["-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=OFF", *cache_of(self.original)]
        # Flags of kernels come after those of the build, and -O0 after both.
        compiler.append("-DCMAKE_C_COMPILE_OBJECT=<CMAKE_C_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -O0 -g0 -o <OBJECT> -c <SOURCE>")
        run("cmake", "-S", self.tree, "-B", self.shardcc.parent, *compiler)
        libraries = ["shardrt", "shardrt_cpu", "shardrt_abacus", "shardrt_loop"]
        done = subprocess.run(
            ["cmake", "--build", self.shardcc.parent, "-j", "2", "--target", "shardcc", *libraries], capture_output=True, text=True
        )
        if not self.checks.check("it builds", done.returncode == 0 and "warning:" not in done.stderr, done.stderr[:2000]):
            sys.exit(1)

    def model(self, name, *nodes):
        """y of x f32[4,3] by nodes, of parameters w f32[3] and m f32[3,3]."""
        path = self.folder / f"{name}.onnx"
        draw = np.random.default_rng(1)
        weights = {"w": draw.uniform(0.5, 1.5, 3).astype(np.float32), "m": draw.uniform(-1, 1, (3, 3)).astype(np.float32)}
        used = [tensor(key, a) for key, a in weights.items() if any(key in inputs for _, inputs in nodes)]
        made = [node(op, inputs, ["h"] if i < len(nodes) - 1 else ["y"], f"n{i}") for i, (op, inputs) in enumerate(nodes)]
        path.write_bytes(model(made, [value("x", "f32", [4, 3])], [value("y", "f32", [4, 3])], used))
        return path

    def compile(self, onnx, name, *options):
        trainer = self.folder / name
        return trainer, run(self.shardcc, onnx, "-o", trainer, *LOSS, "--cc", QUICK_CC, *options)

    def refused(self, name, words, *command, status=1, env=None):
        done = subprocess.run([str(x) for x in command], capture_output=True, text=True, env=env)
        self.checks.check(name, done.returncode == status and words in done.stderr, done.stderr[-300:].replace("\n", " | "))


def data_of(t):
    draw = np.random.default_rng(2)
    arrays = {key: draw.uniform(0.5, 1.5, (4, 3)).astype(np.float32) for key in ("x", "t")}
    write_data(t.folder / "data", arrays)
    return arrays


def product_gradient(w, x, target):
    """Of the mean of (Π(x w) - t)², by differences, in double."""
    def loss(w):
        return np.mean((np.cumprod(x.astype(float) * w, 1) - target) ** 2)

    return np.array([(loss(w + d) - loss(w - d)) / 2e-5 for d in np.eye(3) * 1e-5])


def operator(t, data):
    onnx = t.model("product", ("Mul", ["x", "w"]), ("RunningProduct", ["h"]))
    w = read_weights(t, onnx)
    want = product_gradient(w.astype(float), data["x"], data["t"])
    toolkit = t.original / "tests/cuda/toolkit"
    targets = {"cpu": [], "cuda": ["--target", "cuda", "--cuda", toolkit]}
    for target in ["cpu"] + ["cuda"] * (toolkit / "bin/nvcc").exists():
        trainer, _ = t.compile(onnx, f"product_{target}", "--optimizer", "sgd", *targets[target])
        gradients = t.folder / f"{target}.safetensors"
        run(trainer, "--data", t.folder / "data", "--save-gradients", gradients, "--quiet")
        t.checks.close(f"the operator's gradient, {target}", read_safetensors(gradients)["w"], want, 1e-4)
    _, said = t.compile(onnx, "verified", "--optimizer", "sgd", "--verify")
    t.checks.check("the operator under --verify", "error" not in said)


def read_weights(t, onnx):
    trainer, _ = t.compile(onnx, "weights", "--optimizer", "sgd")
    return read_safetensors(trainer.with_suffix(".safetensors"))["w"]


def optimizer(t, scaling):
    trainer, _ = t.compile(scaling, "signs", "--optimizer", "sign_sgd(lr=0.25)")
    before, after = read_safetensors(trainer.with_suffix(".safetensors"))["w"], t.folder / "after.safetensors"
    run(trainer, "--data", t.folder / "data", "--steps", 1, "--save", after, "--quiet")
    moved = np.abs(read_safetensors(after)["w"] - before)
    t.checks.check("the optimizer moves each weight by lr", np.allclose(moved, 0.25), str(moved))


def options(t, scaling):
    trainer, said = t.compile(scaling, "noted", "--optimizer", "sgd", "--note", "for Ada")
    t.checks.check("the option is used", re.search(r"^note +for Ada$", said, re.M))
    t.checks.check("the C text repeats it", "--note 'for Ada'" in trainer.with_suffix(".c").read_text())
    t.checks.check("--help has it", "  --note TEXT" in run(t.shardcc, "--help"))
    t.checks.check("its mistakes", "--note doesn't go with --emit" in run(t.shardcc, scaling, "--note", "x", "--emit", "c", status=2))
    t.checks.check("the trainer's --help has its own", "  --greet" in run(trainer, "--help"))
    said = run(trainer, "--greet", "--data", t.folder / "data", "--steps", 1)
    t.checks.check("the trainer's option is used", said.startswith("this is noted\n"))


def transport(t, scaling):
    said = run(t.shardcc, scaling, "--ranks", "2", "--transport", "boat", status=2)
    t.checks.check("transports are listed", "is not one of mpi, loop" in said, said.strip())
    trainer, _ = t.compile(scaling, "looped", "--optimizer", "sgd", "--ranks", 2, "--transport", "loop")
    t.refused("a start without ranks", "looprun -n 2", trainer, "--data", t.folder / "data")
    env = {"LOOP_SIZE": "2", "LOOP_RANK": "0", "PATH": "/usr/bin:/bin"}
    t.refused("the transport says that it can't", "the transport loop reaches no other rank", trainer, "--data", t.folder / "data", env=env)
    t.refused("without its library", "cannot find", *without_library(t, scaling))


def without_library(t, scaling):
    (t.shardcc.parent / "rt/libshardrt_loop.a").unlink()
    return [t.shardcc, scaling, "-o", t.folder / "none", *LOSS, "--optimizer", "sgd", "--ranks", 2, "--transport", "loop"]


def target(t, scaling):
    said = run(t.shardcc, scaling, "--target", "slide", status=2)
    t.checks.check("targets are listed", "is not one of cpu, abacus, cuda" in said, said.strip())
    dense = t.model("dense", ("MatMul", ["x", "m"]))
    t.refused(
        "a kernel that it lacks", "the target abacus has no kernel dot", t.shardcc, dense, "-o", t.folder / "none", *LOSS,
        "--optimizer", "sgd", "--target", "abacus",
    )  # fmt: skip
    trainer, _ = t.compile(scaling, "beads", "--optimizer", "sgd", "--target", "abacus")
    t.refused("the device says that it can't", "this machine has none", trainer, "--data", t.folder / "data")
    t.refused("other devices' options", "--threads: this program is for a abacus", trainer, "--threads", 1, status=2)
    run(t.shardcc, scaling, "-o", t.folder / "folder", *LOSS, "--optimizer", "sgd", "--target", "abacus", "--emit", "source")
    run("make", "-s", "-C", t.folder / "folder", "MARCH=native")
    t.refused("a folder of its sources", "this machine has none", t.folder / "folder/folder", "--data", t.folder / "data")


def test(t):
    data = data_of(t)
    scaling = t.model("scaling", ("Mul", ["x", "w"]))
    operator(t, data)
    optimizer(t, scaling)
    options(t, scaling)
    transport(t, scaling)
    target(t, scaling)


test_in_folder(Copy, test)
