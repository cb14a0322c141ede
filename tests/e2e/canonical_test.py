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


DECLARATION = re.compile(r"^static Rt(?:Sum)?Rows .*?;|^#define \w+|^static void \w+|^enum \{ .*?;", re.M | re.S)
NUMBERS = re.compile(r"^static const (?:int64_t|RtStack) .*?;", re.M | re.S)


def declared(text):
    """The names that a text declares: of kernels, functions and macros."""
    names = []
    for line in DECLARATION.findall(text):
        names += re.findall(r"(?:\bstatic void |#define |[ ,])([A-Za-z_]\w*)(?=\s\}|,|;|$)", line)
    return set(names)


def numbers(text):
    """The sizes and places that a text names."""
    found = re.findall(r"(\w+) = (\d+|\{\d+, \d+\})", " ".join(NUMBERS.findall(text)))
    return {name: number.replace(" ", "") for name, number in found}


def without_names(text):
    """The words of C text without comments and labels. Sizes and places are numbers, as values of one name may share one;
    other names that it declares are numbered in their order."""
    text = re.sub(r"    \.identity = [^\n]*\n", "", text)  # a hash of the text, names included
    text = re.sub(r"    \.blocks = [^}]*\},\n", "", text)  # labels, too
    text = re.sub(r'RT_AT\(rt, "(?:[^"\\]|\\.)*"', "RT_AT(rt", text)
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\\\n", " ", text, flags=re.S)
    value, known, number = numbers(text), declared(text), {}
    text = NUMBERS.sub("", text)
    text = re.sub(r"\w+", lambda word: value.get(word[0], word[0]), text)
    while (fewer := re.sub(r"\b(\d+) ([*/]) (\d+)\b", product, text)) != text:
        text = fewer
    text = re.sub(r"\w+", lambda word: f"name{number.setdefault(word[0], len(number))}" if word[0] in known else word[0], text)
    return text.split()


def product(x):
    return str(int(x[1]) * int(x[3]) if x[2] == "*" else int(x[1]) // int(x[3]))


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
    plain = without_names(text_of(model, "plain", data))
    for name, variant in variants.items():
        text = text_of(model, name.replace(" ", "_"), variant)
        checks.check(f"{model.name}: {name}", without_names(text) == plain)


def main():
    options = parser(__doc__).parse_args()
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work)))


if __name__ == "__main__":
    main()
