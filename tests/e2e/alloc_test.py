#!/usr/bin/env python3
"""After its first step a trainer allocates no memory, and the libraries allocate little.

  alloc_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]

alloc.c is preloaded: it sees all allocations of the trainer's own code, and those of 64 KiB and more by any code.
"""
import os
from pathlib import Path

from harness import run
from model import QUICK_CC, Model, curves_of, for_models, parser


def watched(preload, trainer, report, *args):
    """Runs a trainer; returns who allocated memory after the first step, and the number of all allocations."""
    run(trainer, *args, env={**os.environ, "LD_PRELOAD": preload, "ALLOC_REPORT": str(report)})
    first, *noted = report.read_text().splitlines()
    word, count = first.rsplit(" ", 1)
    if word != "counted":
        raise RuntimeError(first)
    return noted, int(count)


# Allocates memory before and after the log line of a first step, in its own code and in a library.
PROBE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    static char text[100000];
    void *volatile taken = malloc(100000);

    memset(text, 'x', sizeof text - 1);
    if (write(1, "{\"step\": 1, \"loss\": 0}\n", 24) < 0)
        return 1;
    taken = calloc(2, 3);
    taken = fopen("/dev/null", "r");
    taken = strdup(text);
    return !taken;
}
"""


def check_watching(checks, preload, folder):
    """The preloaded alloc.c sees the allocations that it should see."""
    (folder / "probe.c").write_text(PROBE)
    run("cc", "-D_GNU_SOURCE", "-o", folder / "probe", folder / "probe.c")
    noted, count = watched(preload, folder / "probe", folder / "report")
    own, large = (noted + ["", ""])[:2]
    seen = own.startswith("6 bytes") and own.endswith("probe") and large.startswith("100000 bytes")
    seen = seen and len(noted) == 2 and count > 2
    checks.check("memory taken is seen", seen, f"{noted}, {count} in all")


def test(checks, model, preload):
    data = model.data()
    files = [model.work / f"run.{x}" for x in ("jsonl", "safetensors", "gradients")]
    options = ["--data", data, "--epochs", "3", "--quiet", "--eval-data", data, "--eval-every", "2"]
    options += [x for pair in zip(("--log", "--save", "--save-gradients"), files) for x in pair]
    options += ["--tensorboard", model.work / "events"]
    for threads in 1, 2:
        trainer = model.work / f"{model.name}_alloc"
        if not trainer.exists():
            model.compile("alloc")
        noted, count = watched(preload, trainer, model.work / "report", "--threads", threads, *options)
        checks.check(f"{model.name}: {threads} threads", not noted, "; ".join(noted) or f"{count} small ones")


def main():
    options = parser(__doc__).parse_args()
    here = Path(__file__).parent
    preload = options.shardcc.parent / "tests/e2e/alloc.so"
    preload.parent.mkdir(parents=True, exist_ok=True)
    run("cc", "-D_GNU_SOURCE", "-std=c11", "-O1", "-shared", "-fPIC", "-o", preload, here / "alloc.c", "-ldl")

    def one(checks, path, work):
        if path.stem == "mlp":
            check_watching(checks, preload, work)
        test(checks, Model(path, options.shardcc, work, cc=QUICK_CC), preload)

    for_models(options, one)


if __name__ == "__main__":
    main()
