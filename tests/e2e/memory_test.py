#!/usr/bin/env python3
"""--memory chooses what runs again: every budget down to the least is met, by no more work than needed.

  memory_test.py --shardcc build/shardcc [--models models/tiny] [--all] [NAME ...]

On one rank a model's least is found by asking for one byte; it is granted, and one byte less is refused. Budgets between
the least and all that runs nothing again are met, and the work of a step never falls with the budget. Bits don't depend on
it. On two ranks the same is true of plans. The options that a refusal names give the programs that it says.
"""
import json
import re
import subprocess

from model import QUICK_CC, REPOSITORY, Model, curves_of, for_models, options_with_all

SHARES = 0.9, 0.6, 0.3, 0.1  # of what lies between the least and all
RANKS = ["--ranks", "2", "--mesh", "2", "--cluster", "h100x2"]
DEMO = REPOSITORY / "models/demo_gpt.onnx"
DEMO_STEP = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--threads", "2", "--bind", "batch=64"]
SAMPLE = ("cnn", "gpt2", "llama", "mlp", "nanogpt", "resnet")  # without --all
HELP = ["--accumulate", "--ranks"]  # options that may help
NOTHING = 4  # the exit status if nothing fits


class Budgets:
    """The programs or plans of a model within budgets."""

    def __init__(self, checks, model, *options):
        self.checks, self.model = checks, model
        self.options = [*map(str, [model.onnx, *model.arguments(curves_of(model.info)["adamw"]), "--threads", 2, *options])]
        self.name = f"{model.name}{' ' * bool(options)}{' '.join(options[:2])}"

    def call(self, *args):
        command = [self.model.shardcc, *map(str, args)]
        return subprocess.run(command, cwd=self.model.work, capture_output=True, text=True, timeout=600)

    def program(self, *more):
        """The bytes and the flops of the program; None if nothing fits, and what was said."""
        done = self.call(*self.options, *more, "--emit", "program", "-o", "of_budget.program")
        if done.returncode:
            return None, done
        text = (self.model.work / "of_budget.program").read_text()
        return int(re.search(r"^program .* arena (\d+) ", text)[1]), done

    def least(self):
        (self.model.work / "of_budget.program").unlink(missing_ok=True)
        bytes_of, done = self.program("--memory", "1")
        said = re.search(r"nothing fits in 1 B, whatever runs again: the least takes (\d+) bytes", done.stderr)
        refused = bytes_of is None and done.returncode == NOTHING and said
        clean = refused and not (self.model.work / "of_budget.program").exists()
        self.checks.check(f"{self.name}: one byte is refused", clean and "\n  its peak is in " in done.stderr, done.stderr * (not clean))
        return int(said[1]) if said else 0


def helps(checks, b, memory, kinds, *options):
    """The options that a refusal names need what it says, and no less is said to fit."""
    _, done = b.program(*options, "--memory", memory)
    least = int(re.search(r" takes (\d+) bytes", done.stderr)[1])
    said = re.findall(r"^  with (--.*) it would take (\d+) bytes \(.*\), (which fits|still too much)$", done.stderr, re.M)
    named = [words.split()[0] for words, _, _ in said]
    right = all(int(n) < least and (int(n) <= memory) == (fits == "which fits") for _, n, fits in said)
    ok = done.returncode == NOTHING and right and named == [k for k in HELP if k in named] and set(kinds) <= set(named)
    checks.check(f"{b.name}: what helps, {memory} bytes", ok, done.stderr * (not ok))
    for words, n, _ in said:
        found, done = b.program(*options, *words.split(), "--memory", n)
        checks.check(f"{b.name}: {words}", found and found <= int(n), f"{found} of {n} {done.stderr}")


def flops_of(done):
    """The work of a step, as it is printed."""
    found = re.search(r"^step +([\d.]+) (\w?)FLOP", done.stdout, re.M)
    return float(found[1]) * 1000 ** " kMGT".index(found[2] or " ")


def one_rank(checks, model):
    b = Budgets(checks, model)
    most, done = b.program()
    least = b.least()
    if not least:
        return
    found, granted = b.program("--memory", least)
    checks.check(f"{b.name}: the least", found == least, f"{found} of {least}")
    found, refused = b.program("--memory", least - 1)
    checks.check(f"{b.name}: one byte less", refused.returncode == NOTHING and f"takes {least} bytes" in refused.stderr)
    helps(checks, b, least - 1, ["--ranks"])
    found, whole = b.program("--memory", most)
    checks.check(f"{b.name}: all", found == most and flops_of(whole) == flops_of(done))
    work = flops_of(done)
    for share in SHARES:
        budget = int(least + share * (most - least))
        found, done = b.program("--memory", budget)
        ok = found and found <= budget and flops_of(done) >= work
        checks.check(f"{b.name}: {share:.0%}", ok, f"{found} of {budget}, {done.stdout} {done.stderr}" * (not ok))
        work = flops_of(done) if found else work


def bits(checks, model):
    """The losses within the least memory are those without a limit."""
    b = Budgets(checks, model)
    losses = [model.train(model.compile(tag, None, *more)) for tag, more in (("free", []), ("tight", ["--threads", 2, "--memory", b.least()]))]
    checks.check(f"{model.name}: bits", losses[0] == losses[1] and losses[0], str(losses))


def two_ranks(checks, model):
    b = Budgets(checks, model, *RANKS)

    def plan(*more):
        done = b.call("plan", "--target", "cpu", *b.options, *more, "-o", "of_budget.json")
        return (json.loads((model.work / "of_budget.json").read_text()) if done.returncode == 0 else None), done

    free, _ = plan()
    _, done = plan("--memory", "1")
    said = re.search(r"the smallest one found takes (\d+) bytes", done.stderr)
    checks.check(f"{b.name}: one byte is refused", done.returncode == NOTHING and said, done.stderr * (not said))
    least = int(said[1]) if said else free["bytes"]
    for share in SHARES:
        budget = int(least + share * (free["bytes"] - least))
        found, done = plan("--memory", str(budget))
        ok = found and found["bytes"] <= budget and found["bound"] <= found["seconds"] * (1 + 1e-9)
        checks.check(f"{b.name}: {share:.0%}", ok, f"{found and found['bytes']} of {budget}: {done.stderr}" * (not ok))
        if ok and found.get("keep"):
            bytes_of, done = b.program("--plan", "of_budget.json")
            checks.check(f"{b.name}: {share:.0%}, the plan's program", bytes_of == found["bytes"], done.stderr)


def chosen(done):
    """How many micro-batches --accumulate auto chose."""
    said = re.search(r"^accumulate +(\d+) micro-batch", done.stdout, re.M)
    return int(said[1]) if said else None


def one_batch(checks, model):
    """A model with batch statistics has one micro-batch, however little memory there is."""
    b = Budgets(checks, model)
    most, _ = b.program()
    found, done = b.program("--accumulate", "auto", "--memory", most)
    checks.check(f"{b.name}: one micro-batch", found == most and chosen(done) == 1, done.stderr)
    found, done = b.program("--accumulate", "auto", "--memory", 1)
    checks.check(f"{b.name}: no more of them", found is None and f"takes {b.least()} bytes" in done.stderr, done.stderr)


def micro_batches(checks, model):
    """As few micro-batches as fit, where that is faster than running kernels again."""
    b = Budgets(checks, model)
    b.options = [DEMO, *DEMO_STEP]
    helps(checks, b, b.least() * 3 // 4, HELP)
    helps(checks, b, 1, HELP, "--ranks", "2", "--cluster", "h100x8")
    helps(checks, b, 1, HELP, "--ranks", "2", "--cluster", "h100x8", "--mesh", "dp=2")
    helps(checks, b, 1, ["--ranks"], "--recompute", "none", "--accumulate", "64")  # a sample a micro-batch
    helps(checks, b, 1, ["--accumulate"], *RANKS)  # the cluster has no other rank
    arenas = [b.program("--accumulate", n)[0] for n in (1, 2, 4)]
    for n, budget in zip((1, 2, 4), arenas):
        found, done = b.program("--accumulate", "auto", "--memory", budget)
        ok = found == budget and chosen(done) == n and "\nagain " not in done.stdout
        checks.check(f"demo_gpt: {n} micro-batches", ok, f"{found} of {budget}: {done.stdout} {done.stderr}" * (not ok))
    found, done = b.program("--accumulate", "auto", "--memory", arenas[2] // 2)
    ok = found and found <= arenas[2] // 2
    checks.check("demo_gpt: half of that", ok, f"{found} of {arenas[2] // 2}: {done.stderr}" * (not ok))


def test(checks, model):
    one_rank(checks, model)
    if model.name in ("gpt2", "resnet"):
        bits(checks, model)
    if model.name in ("gpt2", "llama", "cnn"):
        two_ranks(checks, model)
    if model.name == "resnet":
        one_batch(checks, model)
    if model.name == "nanogpt":
        micro_batches(checks, model)


def main():
    options = options_with_all(__doc__, SAMPLE)
    for_models(options, lambda checks, path, work: test(checks, Model(path, options.shardcc, work, cc=QUICK_CC)))


if __name__ == "__main__":
    main()
