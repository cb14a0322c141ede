#!/usr/bin/env python3
"""How much generated C texts leave unsaid, one row each; with --base, each count is beside that of the same file there.

  generated_text.py [--base FOLDER] TEXT.c ...

anonymous: names that say nothing, as W4 of a place, rows7 or block1_forward of a function. unlabelled: statements
without a module or parameter before their colon. literals: integers above 64 in the calls of the functions that a
trainer runs, fused functions and predicted work (RT_AT) apart.
"""
import argparse
import re
from pathlib import Path

ANONYMOUS = re.compile(r"\b(?:[A-Z]\d+|(?:rows|sums|group)\d+|block\d+_\w+)\b")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
FUNCTION = re.compile(r"^static void \w+\(Rt \*rt, char \*m[^{;]*\)\n\{\n(.*?)^\}", re.S | re.M)
SMALL = 64


def counts(path):
    text = path.read_text()
    code = re.sub(r"//.*", "", STRING.sub('""', text))
    at = [m[1] for m in re.finditer(r'RT_AT\(rt,\s+"((?:[^"\\]|\\.)*)"', text)]
    calls = re.sub(r"RT_AT\([^;]*;", "", "".join(m[1] for m in FUNCTION.finditer(code)))
    literals = [n for n in re.findall(r"(?<![\w.])\d+(?![\w.])", calls) if int(n) > SMALL]
    return {
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
        row = {name: str(n) for name, n in counts(path).items()}
        if options.base:
            row = {name: f"{n}/{row[name]}" for name, n in counts(options.base / path.name).items()}
        if not i:
            print(f"{'text':20s}" + "".join(f"{name:>14s}" for name in row))
        print(f"{path.stem:20s}" + "".join(f"{n:>14s}" for n in row.values()))


if __name__ == "__main__":
    main()
