#!/usr/bin/env python3
"""Kernels that run again change no bit of losses, gradients and weights.

  recompute_test.py --shardcc build/shardcc [--all] [NAME ...]

Each model trains as it is, with all layers that keep the least, and with half of them: on one rank, and on several by one
plan. There, random sets of kernels and runs of layers are written into the plan's file, too. Clipping and micro-batches
change what is live together. With --all every model does all of this, on two ranks and on four, else each does a part.
Wrong options and wrong files are refused.
"""
import json
import random
import re
import subprocess
from pathlib import Path

from harness import MPI_ENV, mpirun, read_safetensors, run
from model import QUICK_CC, REPOSITORY, Model, curves_of, for_models, parser

DYNAMIC = REPOSITORY / "models/tiny_dynamic"
SLOW_LINK = Path(__file__).with_name("slow_link.json")
ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}
KERNELS = ("dot", "conv", "attention", "gather", "max_pool", "sum_pool", "reduce_max", "cumsum", "arg_max")
SETS = 3  # random ones; one of them without --all


# Texts of --recompute that are refused, with exit status 2.
REFUSED = [
    ("", "'' is not none, full, chain or BLOCK=N"),
    ("ful", "'ful' is not none, full, chain or BLOCK=N"),
    ("blocks=", "'blocks=' is not none, full, chain or BLOCK=N"),
    ("blocks=-1", "'blocks=-1' is not none, full, chain or BLOCK=N"),
    ("none,full", "'none,full': only one of none and full can be given"),
    ("layers=1", "there is no repeated block 'layers'; there are 'blocks' (3 layers)"),
    ("blocks=4", "'blocks=4': the block has 3 layers"),
    ("blocks=99999999999999999999", "'blocks=99999999999999999999': the block has 3 layers"),
    ("blocks=1,blocks=2", "'blocks' is given twice"),
]

# Entries of a plan's file that are refused.
WRONG = [
    ([{"class": "layers", "again": []}], "keep[0].class: 'layers' is no repeated block of the model"),
    ([{"class": "blocks", "first": 2, "layers": 2, "again": []}], "keep[0]: 2 layers from 2 on, but 'blocks' has 3"),
    ([{"class": "blocks", "again": []}], "keep[0]: 0 layers from 0 on, but 'blocks' has 3"),
    ([{"class": "blocks", "layers": 1, "again": ["none"]}], "keep[0].again: 'none' is no node of the block's first layer"),
    ([{"class": "", "again": ["none"]}], "keep[0].again: 'none' is no node outside of blocks"),
    ([{"class": "blocks", "layers": 2, "again": []}] * 2, "keep[1].class: 'blocks' has layers that are in two entries"),
    ([{"class": "blocks", "layers": -1, "again": []}], "keep[0].layers"),
    ([{"class": "blocks", "layers": 1}], "again"),
]


class Case:
    """A model with the options of its steps, and where its trainers' results are compared."""

    def __init__(self, checks, model, tag, *options):
        self.checks, self.model, self.tag, self.options = checks, model, tag, options
        self.name = f"{model.name}, {tag}"

    def compile(self, tag, *more):
        return self.model.compile(f"{self.tag}_{tag}", None, *self.options, *more)

    def train(self, trainer, ranks):
        """The losses, and the bytes of all gradients and weights by name. Their order in a file follows the loops."""
        files = [trainer.with_suffix(f".{kind}") for kind in ("gradients", "weights")]
        options = ["--save-gradients", files[0], "--save", files[1], "--threads", 1]
        launch = mpirun(ranks) if ranks > 1 else []
        return self.model.train(trainer, None, *options, launch=launch, env=ENV), *({name: t.tobytes() for name, t in read_safetensors(f).items()} for f in files)

    def compare(self, what, found, expected):
        kinds = zip(("losses", "gradients", "weights"), found, expected)
        differ = [kind for kind, a, b in kinds if a != b]
        self.checks.check(f"{self.name}: {what}", not differ, ", ".join(differ))

    def arguments(self):
        return [self.model.onnx, *self.model.arguments(curves_of(self.model.info)["adamw"]), *self.options]

    def blocks(self):
        """The repeated blocks that may be named, with their layers."""
        command = [self.model.shardcc, *self.arguments(), "--recompute", "no such block=1"]
        said = subprocess.run([str(x) for x in command], capture_output=True, text=True).stderr
        return [(name, int(n)) for name, n in re.findall(r"'([^']*)' \((\d+) layers\)", said)]

    def one_rank(self):
        expected = self.train(self.compile("none"), 1)
        half = ",".join(f"{name}={n // 2}" for name, n in self.blocks())
        for what, text in ("full", "full"), ("half", half):
            if text:
                self.compare(what, self.train(self.compile(what, "--recompute", text), 1), expected)

    def plan(self, tag, ranks, *more):
        path = self.model.work / f"{self.tag}_{ranks}_{tag}.plan.json"
        run(self.model.shardcc, "plan", *self.arguments(), "--ranks", ranks, "--cluster", SLOW_LINK, "-o", path, *more)
        return json.loads(path.read_text())

    def kernels(self):
        """The names of the forward part's kernels: outside of blocks, and of the first layer of each block."""
        text = self.model.work / f"{self.tag}.ir"
        run(self.model.shardcc, *self.arguments(), "--dump-after", "outputs", "-o", text)
        found = {}
        for line in text.read_text().partition("\n}\n")[0].splitlines():
            node = re.match(r"  %(\S+) .*? = (\w+)\(", line)
            block = re.search(r" block (\d+)\.(\d+)\.\d+$", line)
            if node and node[2] in KERNELS and not re.search(r" (backward|update)\b", line):
                if not block or block[2] == "0":
                    found.setdefault(int(block[1]) if block else 0, []).append(node[1])
        return found

    def random_keep(self, dice):
        """Entries of a plan's file: runs of some of the layers, and some of their kernels."""
        kernels, keep = self.kernels(), []
        for k, (name, layers) in enumerate([("", 0), *self.blocks()]):
            ends = sorted(dice.sample(range(layers + 1), 2 * dice.randint(0, (layers + 1) // 2)))
            for first, end in zip(ends[::2], ends[1::2]) if name else [(0, 0)]:
                again = [x for x in kernels.get(k, []) if dice.random() < 0.5]
                keep.append({"class": name, "first": first, "layers": end - first, "again": again})
        return keep

    def several_ranks(self, ranks, seed, n_sets):
        plan = self.plan("none", ranks)

        def follow(tag, keep):
            path = self.model.work / f"{self.tag}_{ranks}_{tag}.kept.json"
            path.write_text(json.dumps({**plan, "memory": 2 * plan["memory"], "keep": keep}))
            return self.train(self.compile(f"{ranks}_{tag}", "--cluster", SLOW_LINK, "--plan", path), ranks)

        full, dice = self.plan("full", ranks, "--recompute", "full").get("keep", []), random.Random(seed)
        expected = follow("none", [])
        half = [{**k, "layers": k["layers"] // 2} for k in full if k.get("layers", 0) > 1]
        sets = {"full": full, "half": half, **{f"set {i}": self.random_keep(dice) for i in range(n_sets)}}
        for what, keep in sets.items():
            if keep:
                self.compare(f"{ranks} ranks, {what}", follow(what.replace(" ", "_"), keep), expected)


def refused(case):
    """Wrong options and wrong entries of files."""
    command = [str(x) for x in (case.model.shardcc, *case.arguments())]

    def said(*more):
        done = subprocess.run([*command, "--emit", "c", "-o", case.model.work / "no.c", *map(str, more)], capture_output=True, text=True)
        return done.returncode, done.stderr

    for text, message in REFUSED:
        found = said("--recompute", text)
        case.checks.check(f"--recompute '{text}' is refused", found == (2, f"shardcc: error: --recompute: {message}\n"), str(found))
    plan, path = case.plan("none", 2), case.model.work / "wrong.json"
    # The first kernel is there twice, and a node that is no kernel.
    name = case.kernels()[1][0]
    twice = [({"class": "blocks", "layers": 1, "again": [name, name]}, f"keep[0].again: '{name}' is there twice")]
    for keep, message in WRONG + [([x], m) for x, m in twice]:
        path.write_text(json.dumps({**plan, "keep": keep}))
        status, text = said("--cluster", SLOW_LINK, "--plan", path)
        case.checks.check(f"keep {json.dumps(keep)[:60]} is refused", status == 1 and message in text and text.count("error") == 1, f"{status}: {text.strip()}")
    path.write_text(json.dumps(plan))
    status, text = said("--cluster", SLOW_LINK, "--plan", path, "--recompute", "full")
    case.checks.check("--recompute with --plan is refused", status == 2 and "a plan's file says itself what runs again" in text, text.strip())


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.set_defaults(jobs=4)  # ranks wait for each other
    options = p.parse_args()
    names = sorted(x.stem for x in options.models.glob("*.onnx"))

    def one(checks, path, work):
        at, dynamic = names.index(path.stem), DYNAMIC / path.name
        has_batch = dynamic.exists()
        model = Model(dynamic if has_batch else path, options.shardcc, work, path.with_suffix(".npz"), QUICK_CC)
        kinds = [("eager",), ("clip", "--clip-norm", 0.5), *[("micro", "--accumulate", 2)] * has_batch]
        if model.name == "nanogpt":
            refused(Case(checks, model, "wrong"))
        for k, kind in enumerate(kinds):
            case = Case(checks, model, *kind)
            is_chosen = at // 2 % len(kinds) == k
            if options.all or (at % 2 and is_chosen):
                case.one_rank()
            if options.all or (not at % 2 and is_chosen):
                case.several_ranks(2, at, SETS if options.all else 1)
            if options.all:
                case.several_ranks(4, at, SETS)

    for_models(options, one)


if __name__ == "__main__":
    main()
