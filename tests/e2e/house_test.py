"""Does `tests/house` see what it is to see? Faults are planted in copies of sources, one by one, 20 of each kind."""
import argparse
import copy
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# In a file of C, the fault is at the end.
PARAMETERS = [
    "void f(int n, Arena *a);", "int *f(const Graph *g, Arena *);", "bool f(Text *t, Arena *a, Diag *d);",
    "static int f(const Graph *g,\n             Arena *a)\n{\n}", "void f(Foo *self, Arena *a, int n);",
    "typedef void (*Visit)(void *context, Arena *a);", "struct S {\n    int (*draw)(const void *context, Arena *a);\n};",
    "void f(Arena *a, int n, Arena *scratch);", "void f(int n, const Arena *a);", "void f(int (*get)(int), Arena *a);",
    "static inline int64_t f(int64_t n, Arena *scratch)\n{\n}", "Text *f(char *s, size_t n, Arena *arena);",
    "void f(int x[static 4], Arena *a);", "void f(Arena **to, Arena *a);", "void f(\n    int n,\n    Arena *a);",
    "extern int f(Diag *d, Arena *a);", "bool f(unsigned, Arena *);", "void f(struct Plan p, Arena *a, struct Plan *to);",
    "void f(void (*done)(Arena *a, int n), Arena *a);", "void f(int n, int m, Arena *a, Arena *scratch);",
]  # fmt: skip
BOUNDS = [
    f"{text}" for name in ("MOST_THINGS", "LEAST_THINGS", "RT_MOST_THINGS", "RT_THINGS_LEAST", "MOST")
    for text in (f"enum {{ {name} = 4 }};", f"#define {name} 4", f"int f(int n) {{ return n < {name}; }}", f"static int of[{name}];")
]  # fmt: skip
# Names that exist, misspelt: written here as they are not, they would exist.
NAMES = [f"// It is what `{name}` gives." for name in (
    f"node_rul{'l'}e", f"graph_print{'t'}", f"G{'h'}raph", f"RtMode{'l'}e", f"MAX_RANK{'K'}", f"value_of{'f'}(g, v)", f"in(g, n, inde{'k'}s)",
    f"are{'r'}na", f"->rank{'k'}s", f"x.n_{'m'}nodes",
)] + [f"docs: It is what `{name}` gives." for name in (
    f"node_rul{'l'}e", f"graph_print{'t'}", f"RtMode{'l'}e", f"MAX_RANK{'K'}", f"value_of{'f'}(g, v)", f"--mem{'r'}ory", f"--emit{'-c'}",
    f"rt_do{'o'}t", f"lowerO{'u'}nce", f"plan_of_mode{'l'}l",
)]  # fmt: skip
FILES = [f"// See {name} for it." for name in (
    "no_file.c", "ir/no_file.c", "no_file.h", "lower/lower_once.c", "solver/plan_build.c", "docs/none.md", "none.md", "passes2.def",
    "ir/ops/dots.c", "runtime/cuda/none.cu", "none.cuh", "gpu2.cc", "tests/none_test.py", "none.py", "driver/ir.h", "base/ir.h",
    "analyzer/analyzer.h", "driver/passes.c", "plan_edges.c", "plan_step.c",
)]  # fmt: skip
JOINS = [
    f"{indent}{before}// {head}\n{indent}{' ' * len(before)}// {tail}"
    for indent, before in (("", ""), ("    ", ""), ("", "int x;  "), ("    ", "int64_t value;  "), ("        ", "{  "))
    for head, tail in (("A sentence that is broken", "here, far too early."), ("It is of stage", "+ step * i."),
                       ("It calls", "`graph_print`, which prints."), ("It is as long as this one, of", "8 bytes."))
]  # fmt: skip


def retired(house_module, house):
    """Each retired word in a name, a comment, a message or a page, where it may not be."""
    faults = []
    for word, where in house_module.retired_words(house):
        name = word.replace(" ", "_")
        if where in ("all", "names"):
            faults += [f"int {name}_of_it;", f"void f(int n_{name});", f"typedef struct The{name.title().replace('_', '')} T;"]
        if where in ("all", "text"):
            faults += [f"// It has a {word}, too.", f'static const char *s = "it has a {word}";', f"docs: It has a {word}, too."]
    return faults


def load():
    path = ROOT / "tests" / "house"
    loader = importlib.machinery.SourceFileLoader("house", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("house", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def plant(house, fault):
    """A house of one file that has the fault at its end, and no other pages."""
    one = copy.copy(house)
    if fault.startswith("docs: "):
        one.text, one.docs = {}, {"docs/ir.md": "# A page\n\n" + fault.removeprefix("docs: ") + "\n"}
    else:
        one.text, one.docs = {"ir/graph.c": house.text["ir/graph.c"] + "\n" + fault + "\n"}, {}
    one.docs["docs/glossary.md"] = house.docs["docs/glossary.md"]
    return one


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--shardcc", help="not used")
    p.parse_args()
    module = load()
    house = module.House(ROOT / "build")
    assert house.names  # they are found once, and copied with the house
    kinds = [
        ("parameters", PARAMETERS), ("bounds", BOUNDS), ("names", NAMES), ("files", FILES), ("joins", JOINS), ("words", retired(module, house)),
    ]  # fmt: skip
    failed = 0
    for kind, faults in kinds:
        rule = getattr(module, kind)
        missed = [fault for fault in faults if not list(rule(plant(house, fault)))]
        sound = list(rule(plant(house, "// It is nothing but this, in place.")))
        ok = not missed and not sound and len(faults) >= 20
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} - {kind}: {len(faults) - len(missed)} of {len(faults)} faults are seen, without one {len(sound)}")
        for fault in missed:
            print(f"    missed: {fault}")
    print(f"{len(kinds) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
