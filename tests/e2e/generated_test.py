#!/usr/bin/env python3
"""What the names of a trainer's C text say is true: D_ is of adjoints alone, one value at one offset has one name, the
numbers of statements are labelled, sizes have names, and fused functions take operands of their types. Adjoints are found
from the graph: all that the backward part makes of the reciprocal of the loss's count.

  generated_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]
"""
import json
import re
import sys
from pathlib import Path

from harness import Checks, run
from model import for_models, parser

sys.path.append(str(Path(__file__).parents[2] / "bench"))
from generated_text import constants, counts  # noqa: E402

NODE = re.compile(r"^  (%.*?) = \w+\((.*?)\)(.*)$", re.M)
OUTPUT = re.compile(r"^  output (\w+)(?: \"[^\"]*\")? (%\S+)", re.M)
STATEMENT = re.compile(r"^ *\d+ *(?:once )?(kernel|group|copy|fill)\b(.*)$|^ *\d+ *(loop|end)\b", re.M)
OPERAND = re.compile(r"(%[^\s(){}]+?)(?:\[[^\]\s]*\])?(?:\+(\d+)\S*)? ([a-z]+)(\d*)\[[\d,]*\](?:/[-\d,]+)?@(-?\d+)")
FUNCTION = re.compile(r"^static void (\w+)\(Rt \*rt, char \*m[^{;]*\)\n\{\n(.*?)^\}", re.S | re.M)
STEP = re.compile(r"RT_AT\(.*?\);\s+(.*?;)\n|^ *(\w+)\(rt, m, layer\);", re.S | re.M)


# By name: the options of the text, in addition to those of training.
FORMS = {
    "one rank": ["--clip-norm", "1"],
    "predictions": [],
    "two ranks": ["--ranks", "2", "--cluster", "h100x2"],
    "stages": ["--threads", "2", "--memory", "2060KiB", "--recompute", "chain"],
    "a GPU": ["--target", "cuda"],
}
# Forms that one model shows.
SHOWN_BY = {"stages": "nanogpt", "a GPU": "gpt_dropout"}
# Numbers above 64 that are no size: the 147 or 192 elements of a window; 3 operations for each of 24 inputs.
LITERALS = {"resnet": 3, "mixer": 2, "vit": 2, "regress": 1}


def adjoints(graph):
    """The names of the adjoints of a graph's text; None: no value is the reciprocal of the loss's count."""
    nodes = [(re.findall(r"%[^\s,]+", m[1]), re.findall(r"%[^\s,]+", m[2]), " backward" in m[3]) for m in NODE.finditer(graph)]
    outputs = [(m[1], m[2]) for m in OUTPUT.finditer(graph)]
    count = next((value for role, value in outputs if role == "loss_count"), None)
    found = {made[0] for made, reads, is_backward in nodes if is_backward and count in reads}
    if not found:
        return None
    for made, reads, is_backward in nodes:
        if is_backward and found.intersection(reads):
            found.update(made)
    return found | {value for role, value in outputs if role == "gradient"}


def begin(elements, kind, bits, at):
    """The first byte of the value whose view begins so many elements later."""
    return int(at) - int(elements or 0) * (int(bits) // 8 if bits else 1)


def operands(program):
    """The values and their offsets of each statement of training, in their order; loops are walked once."""
    training = program[program.index("\ntrain micro\n"):]
    end = re.search(r"^predict ", training, re.M)
    found = []
    for m in STATEMENT.finditer(training, 0, end.start() if end else len(training)):
        if m[1]:
            text = re.sub(r"\{.*?\}", "", m[2]) if m[1] == "group" else m[2]
            found.append([(o[1], begin(*o.groups()[1:])) for o in OPERAND.finditer(text)])
    return found


def statements(text, functions, name):
    """The calls of a function and of those that it calls, in the order of execution."""
    for m in STEP.finditer(functions[name]):
        if m[1]:
            yield m[1]
        elif m[2] in functions:
            yield from statements(text, functions, m[2])


def is_at(offset, at):
    """Is it the offset itself, or of an instance of it?"""
    first, step = offset
    return (at - first) % step == 0 if step else at == first


def wrong_names(text, program, is_adjoint):
    """The names with D_ of statements none of whose adjoints is there; and how many names with D_ there are."""
    functions = {m[1]: m[2] for m in FUNCTION.finditer(text)}
    calls = [c for name in ("micro", "reduce", "update") if name in functions for c in statements(text, functions, name)]
    items, offset = operands(program), constants(text)
    if len(calls) != len(items):
        return [f"{len(calls)} calls of {len(items)} statements"], 0
    wrong, n = set(), 0
    for call, item in zip(calls, items):
        for name in re.findall(r"\bD_\w+(?<!_KERNEL)\b", call):
            n += 1
            if not any(v in is_adjoint and is_at(offset[name], at) for v, at in item):
                wrong.add(name)
    return sorted(wrong), n


def check_counts(checks, name, text):
    n, longest = counts(text), max(map(len, text.splitlines()))
    checks.check(f"{name}: no constant is declared twice", not n["duplicates"], f"{n['duplicates']} are")
    checks.check(f"{name}: numbers of statements are labelled", not n["bare"], f"{n['bare']} aren't")
    checks.check(f"{name}: operands have types", not n["untyped"], f"{n['untyped']} haven't")
    checks.check(f"{name}: functions and offsets have names that say what they are", not n["anonymous"], f"{n['anonymous']} don't")
    checks.check(f"{name}: lines", longest <= 100, f"{longest} columns")
    return n


def test(checks, path, shardcc):
    name, info = path.stem, json.loads(path.with_suffix(".json").read_text())
    loss = info.get("loss_text") or f"{info['loss']}({info['output']}, labels)"
    options = ["--loss", loss, "--optimizer", "adamw"]
    for form, more in FORMS.items():
        if SHOWN_BY.get(form, name) == name:
            args = more if form == "predictions" else [*options, *more]
            n = check_counts(checks, f"{name}, {form}", run(shardcc, path, *args, "--emit", "c"))
            if form == "one rank":
                checks.check(f"{name}: sizes have names", n["literals"] == LITERALS.get(name, 0), f"{n['literals']} haven't")
    options += [*FORMS["one rank"], "--emit"]
    text, program = (run(shardcc, path, *options, form) for form in ("c", "program"))
    found = adjoints(program[: program.index("\n}\n")])
    if found is None:
        return
    wrong, n_names = wrong_names(text, program, found)
    checks.check(f"{name}: D_ is of adjoints", n_names and not wrong, f"{n_names} uses; {', '.join(wrong[:8])}")


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, path, options.shardcc))


if __name__ == "__main__":
    main()
