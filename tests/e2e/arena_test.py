#!/usr/bin/env python3
"""--check-arena finds what is wrong in a trainer's memory: its text gets wrong live ranges.

  arena_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]

If a buffer's end is moved 64 bytes down, the program writes after its end. If its live range ends a statement
early, the program reads it afterwards. If its slots are taken or freed in the other direction, a loop reads those that
are freed. All show in floats; only the places of bad labels are integers throughout.
"""
import os
import re
import subprocess

from harness import run
from model import QUICK_CC, Model, curves_of, for_models, parser

MODELS = ("mlp", "nanogpt", "lstm", "cnn")
WITH_SLOTS = {"nanogpt": {"clip_norm": 1.0}, "lstm": {}}  # more settings of the curve

# The text calls this instead of rt_live_ranges.
CHANGED_RANGES = r"""
#include <stdlib.h>

static void changed_ranges(Rt *rt, RtSet set, RtLiveRange *range, const RtLoop *loop)
{
    int number = atoi(getenv("RANGE"));

    if (set == atoi(getenv("SET"))) {
        range[number].bytes -= atoi(getenv("BYTES"));
        range[number].last -= atoi(getenv("LAST"));
        range[number].takes_down ^= atoi(getenv("DOWN"));
        range[number].frees_down ^= atoi(getenv("DOWN"));
    }
    (rt_live_ranges)(rt, set, range, loop);
}
#define rt_live_ranges changed_ranges
"""


class Changed:
    """A trainer whose live ranges can be changed from outside."""

    def __init__(self, model, curve):
        folder = model.work
        text = folder / "changed.c"
        args = model.arguments(curve)
        run(model.shardcc, model.onnx, "--emit", "c", "-o", text, *args)
        source = text.read_text()
        self.live_ranges = [self.read(source, name) for name in ("TRAINING", "FORWARD")]
        text.write_text(source.replace('#include "rt.h"\n', '#include "rt.h"\n' + CHANGED_RANGES))
        runtime = model.shardcc.parent / "rt"
        self.program = folder / "changed"
        libraries = [runtime / "libshardrt_cpu.a", runtime / "libshardrt.a", "-ldnnl", "-lpthread", "-lm"]
        run("cc", "-std=c11", "-O1", "-fopenmp", "-I", runtime / "runtime", "-o", self.program, text, *libraries)
        model.compile("whole")
        weights = ["--load", model.work / f"{model.name}_whole.safetensors", "--quiet", "--threads", "1"]
        out = folder / "changed.safetensors"
        self.does = [
            ["--data", model.data(), "--steps", "2", "--no-shuffle", "--save", out, *weights],
            ["--eval-data", model.data(), *weights],
        ]
        self.out = out

    @staticmethod
    def read(source, name):
        """The live ranges of a set: name, bytes, first and last statement, and whether it has slots."""
        body = re.search(rf"rt_live_ranges\(rt, RT_{name},(.*?);\n", source, re.S).group(1)
        found = re.findall(r"\b(?:LIVE|STACK)\((\w+), (\d+), (\d+), (\d+)\)()", body)
        found += re.findall(r'\{"(\w+)",\s+\w+(?:\.first)?,\s+(\d+),\s+(\d+),\s+(\d+),\s+\.slot = (\d+)', body)
        return [(place, *map(int, numbers), bool(slots)) for place, *numbers, slots in found]

    def run(self, kind, number=0, size=0, last=0, down=0):
        """Runs the trainer; returns its status, its output and the saved bytes."""
        env = {**os.environ, "SET": str(kind), "RANGE": str(number), "BYTES": str(size), "LAST": str(last), "DOWN": str(down)}
        self.out.unlink(missing_ok=True)
        args = [str(x) for x in [self.program, *self.does[kind], "--check-arena"]]
        done = subprocess.run(args, env=env, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr, self.out.exists() and self.out.read_bytes()


def test_slots(checks, model):
    trainer = Changed(model, {**curves_of(model.info)["adamw"], **WITH_SLOTS[model.name]})
    ranges = trainer.live_ranges[0]
    right = trainer.run(0)
    slots = [i for i, live in enumerate(ranges) if live[-1]]
    said = {i: (trainer.run(0, i, size=64), trainer.run(0, i, last=1), trainer.run(0, i, down=1)) for i in slots}
    checks.check(f"{model.name}, slots: as it is", right[0] == 0, right[1].strip())
    missed = [(ranges[i], [x[0] for x in said[i]]) for i in slots if not all(x[0] for x in said[i])]
    checks.check(f"{model.name}, slots: {len(slots)} buffers, each wrong in three ways", len(slots) >= 2 and not missed, str(missed))


def test(checks, model):
    if model.name in WITH_SLOTS:
        test_slots(checks, model)
    trainer = Changed(model, curves_of(model.info)["adamw"])
    for kind, set_name in enumerate(("training", "forward")):
        what = f"{model.name}, {set_name}"
        ranges = trainer.live_ranges[kind]
        end = max(last for _, _, _, last, _ in ranges)
        right = trainer.run(kind)
        checks.check(f"{what}: as it is", right[0] == 0, right[1].strip())
        # Not the workspace of kernels, which suffices for the most threads; a call may need less.
        large = [i for i, live in enumerate(ranges) if live[1] > 64 and not re.match(r"(F_)?WORK(_\d+)?$", live[0])]
        said = {i: trainer.run(kind, i, size=64) for i in large}
        missed = [ranges[i][0] for i in large if f"wrote past the end of {ranges[i][0]}\n" not in said[i][1]]
        checks.check(f"{what}: {len(large)} ends too low", large and not missed, str(missed))
        early = [i for i, (_, _, first, last, _) in enumerate(ranges) if first < last < end]
        said = {i: trainer.run(kind, i, last=1) for i in early}
        missed = [ranges[i] for i in early if said[i] == right]
        checks.check(f"{what}: {len(early)} ends too early", len(missed) <= 1, str(missed))
        named = sum(f" of {ranges[i][0]}\n" in said[i][1] for i in early)
        checks.check(f"{what}: they are named", 3 * named > len(early), f"{named} of {len(early)}")


def main():
    options = parser(__doc__).parse_args()
    options.names = options.names or MODELS
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC)))


if __name__ == "__main__":
    main()
