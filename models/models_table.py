#!/usr/bin/env python3
"""Writes the tables of docs/models.md: what families.py exports, and how near trainers come to PyTorch.

  models_table.py --models DIR --results FILE --log FILE [--page docs/models.md]

DIR is families.py's --out, the log is what it printed, and the results are of compare.py --results. The last line of a
family, its ranks and its way counts.
"""
import argparse
import json
import re
from pathlib import Path

KINDS = ("loss", "gradients", "curve")
ROW = "<!-- {} -->"


def read_results(file):
    """By family: {(ranks, way): the last comparison}."""
    result = {}
    for line in file.read_text().splitlines():
        found = json.loads(line)
        result.setdefault(found["name"], {})[found["ranks"], " ".join(found["way"])] = found
    return result


def number(found):
    """An error, and how far PyTorch moves where that is farther than the bound."""
    moves = f" (PyTorch {found['moves']:.0e})" if found["moves"] else ""
    return ("0" if found["zero"] else f"{found['error']:.0e}") + moves


def is_equal(found):
    return all(found[kind]["part"] <= 1 for kind in KINDS if kind in found)


def plain(text):
    return text.replace("|", "\\|").replace("\n", " ")


def family_rows(folder, results):
    """A row for each family that was exported and compared on one rank."""
    for name, by in sorted(results.items()):
        found = by.get((1, ""))
        file = folder / f"{name}.json"
        if not found or not file.exists():
            continue
        info = json.loads(file.read_text())
        sizes = ", ".join(f"{key} {'×'.join(map(str, dims))}" for key, dims in info["inputs"].items())
        if "refused" in found or "failed" in found:
            errors = plain(found.get("refused") or found["failed"].splitlines()[0]) + " | | "
        else:
            errors = " | ".join(number(found[kind]) for kind in KINDS) + ("" if is_equal(found) else " **wrong**")
        yield f"| `{name}` | {sizes}; {info['parameters']} | {info['exporter']} {info['opset_imports']['ai.onnx']} | {errors} |"


def rank_rows(results):
    """A row for each family that was compared on several ranks: the largest part of an allowed error, by plan."""
    ways = sorted({key for by in results.values() for key in by if key[0] > 1})
    if not ways:
        return
    titles = [f"{ranks} ranks, {way.removeprefix('--plan-preset ') or 'search'}" for ranks, way in ways]
    yield "| family | " + " | ".join(titles) + " |"
    yield "|---" * (len(ways) + 1) + "|"
    for name, by in sorted(results.items()):
        if any(key in by for key in ways):
            yield f"| `{name}` | " + " | ".join(cell(by.get(key)) for key in ways) + " |"


def cell(found):
    if not found:
        return ""
    if "refused" in found or "failed" in found:
        return plain(found.get("refused") or found["failed"].splitlines()[0])
    return " ".join(number(found[kind]) for kind in KINDS) + ("" if is_equal(found) else " **wrong**")


def unexported_rows(log):
    for line in log.read_text().splitlines():
        match = re.fullmatch(r"(\w+): not exported: (.*)", line)
        if match:
            yield f"| `{match[1]}` | {plain(match[2])} |"


def replace(text, name, rows):
    """The page with new rows between the marks of a table."""
    begin, end = ROW.format(name), ROW.format(f"end of {name}")
    before, rest = text.split(begin + "\n")
    return before + begin + "\n" + "".join(row + "\n" for row in rows) + end + rest.split(end)[1]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--models", type=Path, required=True)
    p.add_argument("--results", type=Path, required=True)
    p.add_argument("--log", type=Path, required=True)
    p.add_argument("--page", type=Path, default=Path(__file__).parents[1] / "docs/models.md")
    options = p.parse_args()
    results = read_results(options.results)
    head = ["| family | inputs; parameters | exporter, opset | loss | gradients | curve |", "|---|---|---|---|---|---|"]
    rows = list(family_rows(options.models, results))
    ranked = list(rank_rows(results))
    lost = list(unexported_rows(options.log))
    text = options.page.read_text()
    text = replace(text, "families", [*head, *rows])
    text = replace(text, "ranks", ranked)
    text = replace(text, "not exported", ["| family | what the exporter says |", "|---|---|", *lost])
    options.page.write_text(text)
    print(f"{len(rows)} families, {max(0, len(ranked) - 2)} of them on several ranks; {len(lost)} not exported")


if __name__ == "__main__":
    main()
