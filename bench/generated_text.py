#!/usr/bin/env python3
"""How much generated C texts leave unsaid, one row each; with --base, each count is next to the same file's there.

  generated_text.py [--base FOLDER] TEXT.c ...

duplicates: names of offsets that differ from another one of the same offset in their number alone. bare: numbers of
predicted work (RT_AT) without a label. untyped: functions that are passed addresses without a type, and numbers or
addresses of numbers that become addresses by a cast. anonymous: names that say nothing, as W4 of an offset, rows7 or
block1_forward of a function. unlabelled: statements without a module or parameter before their colon. literals: integers
above 64 in the calls of the functions that a trainer runs, fused functions and predicted work (RT_AT) apart.
"""
import argparse
import re
from pathlib import Path

ANONYMOUS = re.compile(r"\b(?:[A-Z]\d+|(?:rows|sums|group)\d+|block\d+_\w+)\b")
UNTYPED = re.compile(r"\bchar \*const \*|\bRT_NUMBER\b|\((?:const )?\w+ \*+\) ?(?:\((?!m \+)|&|-?\d)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
FUNCTION = re.compile(r"^static void \w+\(Rt \*rt, char \*m[^{;]*\)\n\{\n(.*?)^\}", re.S | re.M)
SMALL = 64


def constants(text):
    """The offsets that a text declares, by their names: first byte, and the bytes to the next instance or 0."""
    declared = " ".join(re.findall(r"^static const (?:int64_t|RtStack) .*?;", text, re.M | re.S)[1:])
    found = re.findall(r"(\w+) = (?:(\d+)|\{(\d+), (-?\d+)\})", declared)
    return {name: (int(number or first), int(step or 0)) for name, number, first, step in found}


def duplicates(text):
    offsets = [(re.sub(r"_\d+$", "", name), *offset) for name, offset in constants(text).items()]
    return len(offsets) - len(set(offsets))


def counts(text):
    code = re.sub(r"//.*", "", STRING.sub('""', text))
    at = [m[1] for m in re.finditer(r'RT_AT\(rt,\s+"((?:[^"\\]|\\.)*)"', text)]
    calls = re.sub(r"RT_AT\([^;]*;", "", "".join(m[1] for m in FUNCTION.finditer(code)))
    literals = [n for n in re.findall(r"(?<![\w.])\d+(?![\w.])", calls) if int(n) > SMALL]
    work = re.findall(r'RT_AT\(rt,\s+"(?:[^"\\]|\\.)*",\s*(.*?)\);', text, re.S)
    return {
        "duplicates": duplicates(text),
        "bare": sum(not re.fullmatch(r"\.\w+ = \S+", x.strip()) for numbers in work for x in numbers.split(",")),
        "untyped": len(UNTYPED.findall(code)),
        "anonymous": len(set(ANONYMOUS.findall(code))),
        "unlabelled": sum(":" not in label for label in at),
        "statements": len(at),
        "literals": len(literals),
        "lines": text.count("\n"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, metavar="FOLDER", help="texts of the same names to compare with")
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT.c")
    options = parser.parse_args()
    for i, path in enumerate(options.texts):
        row = {name: str(n) for name, n in counts(path.read_text()).items()}
        if options.base:
            row = {name: f"{n}/{row[name]}" for name, n in counts((options.base / path.name).read_text()).items()}
        if not i:
            print(f"{'text':20s}" + "".join(f"{name:>14s}" for name in row))
        print(f"{path.stem:20s}" + "".join(f"{n:>14s}" for n in row.values()))


if __name__ == "__main__":
    main()
