#!/usr/bin/env python3
"""Names of nodes, and the order in which a file lists them, change comments and names of the C text only.

Labels of --profile are comments too: they are printed, and do nothing else.

  canonical_test.py --shardcc build/shardcc [--models models/tiny] [NAME ...]
"""
import random
import re

from harness import run
from model import Model, curves_of, for_models, parser
from wire import rename, reorder

SEEDS = (1, 2)


def without_comments(text):
    """The lines of C text that are not empty, without comments, the spaces before them, and labels. Functions of fused
    groups, which are named after modules, get numbers."""
    text = re.sub(r'RT_AT\(rt, "(?:[^"\\]|\\.)*"([^;]*)', lambda at: " ".join(at[1].split()), text)
    text = re.sub(r"[ \t]*(//[^\n]*|/\*.*?\*/)", "", text, flags=re.S)
    functions = re.findall(r"^static void (\w+)\(char \*const \*p", text, re.M)
    number = {name: f"group{i}" for i, name in enumerate(functions)}
    text = re.sub(r"\w+", lambda word: number.get(word[0], word[0]), text)
    # a call is broken where its names end, and not by their length
    text = re.sub(r",\n +", ", ", text)
    return [line for line in text.split("\n") if line]


def meaningless(model, data):
    """Removes the names and modules of nodes; values between nodes get numbers in no order.

    The call of an embedding stays: it says which row is padding.
    """
    kept = ("initializer_is", "initializer_is_buffer", "inputs")
    keep = {name for key in kept for name in model.info[key]} | {model.info["output"]}
    numbers = {}

    def value(name):
        return name if name in keep else f"q{numbers.setdefault(name, len(numbers)) * 7919 % 10007}"

    return rename(data, value, lambda s: "", lambda s: s * ("aten.embedding" in s))


def shuffled(data, seed):
    """Shuffles the nodes' names."""
    names = []
    rename(data, str, lambda s: names.append(s) or s)
    random.Random(seed).shuffle(names)
    return rename(data, str, lambda s: names.pop())


def text_of(model, tag, data):
    folder = model.work / tag
    folder.mkdir()
    (folder / "model.onnx").write_bytes(data)
    args = model.arguments(curves_of(model.info)["adamw"])
    run(model.shardcc, folder / "model.onnx", "-o", folder / "t.c", "--emit", "c", "--no-weights", *args)
    return (folder / "t.c").read_text()


def test(checks, model):
    data = model.onnx.read_bytes()
    variants = {"meaningless names": meaningless(model, data)}
    for seed in SEEDS:
        variants[f"shuffled names, {seed}"] = shuffled(data, seed)
        variants[f"another order, {seed}"] = reorder(data, random.Random(seed).randrange)
    plain = without_comments(text_of(model, "plain", data))
    for name, variant in variants.items():
        text = text_of(model, name.replace(" ", "_"), variant)
        checks.check(f"{model.name}: {name}", without_comments(text) == plain)


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work)))


if __name__ == "__main__":
    main()
