#!/usr/bin/env python3
"""The mutants that tests/mutate draws from: all mutants of a line, and texts that have none."""
import sys
from pathlib import Path

from harness import Checks

sys.path.insert(0, str(Path(__file__).parents[1]))
from mutants import applied, mutants_of  # noqa: E402

# A line of a function with the names i, k, p and n, and all its mutants.
LINES = [
    ("n += i < k;", ["n -= i < k;", "n += i <= k;", "n += i > k;", "n += k < k;", "n += i < i;", "k += i < k;",
                     "n += i < n;", "(void)0;"]),
    ("*p = -2;", ["*p = -3;", "*p = -1;", "(void)0;"]),
    ("f(p, 1.5);", ["f(p, 2.5);", "f(p, 0.5);", "f(1.5, p);", "(void)0;"]),
    ("if (!p || *p)", ["if (p || *p)", "if (!p && *p)", "if (!(!p || *p))"]),
    ("n = p ? g(1) : 0;", ["n = p ? g(2) : 0;", "n = p ? g(0) : 0;", "n = p ? g(1) : 1;", "n = p ? 0 : g(1);",
                           "k = p ? g(1) : 0;", "(void)0;"]),
    ("return true;", ["return false;", "(void)0;"]),
    ("for (;;) p++;", ["for (;;) p--;"]),
    ("// i < k", []),
    ('p = "i < k";', ["(void)0;"]),
    ("assert(i < k);", []),
    ("char text[16];", []),
    ("enum { A = 1 };", []),
    ("int *q;", []),
]  # fmt: skip

# These texts have no mutants.
NONE = ["#define F(x) (x + 1)", "enum { A = 1, B };", "struct S { int a[2]; };", "int f(int a, int b);"]


def changed(line):
    text = "int f(int i, int k, int *p, int n)\n{\n    i = k + n;\n    " + line + "\n}\n"
    return sorted(applied(text, m).splitlines()[3].strip() for m in mutants_of(text).get(4, []))


def main():
    checks = Checks()
    for line, expected in LINES:
        found = changed(line)
        checks.check(line, found == sorted(expected), str(found))
    for text in NONE:
        checks.check(text, not mutants_of(text))
    table = "const OpDef op = {\n    .n_in = 1,\n};\n"
    found = [applied(table, m) for ms in mutants_of(table).values() for m in ms]
    checks.check("a table", sorted(found) == [table.replace("1", "0"), table.replace("1", "2")], str(found))
    checks.finish()


if __name__ == "__main__":
    main()
