#!/usr/bin/env python3
"""The memory of plans: arenas, budgets, recomputation.

  plan_memory_test.py --shardcc build/shardcc
"""
import json
import math
import re

from harness import test_in_folder
from plans import TINY, TRAIN, Planner, cheapest


def layers(n, rows, width):
    """The text of a net of n layers, each with a scale, a product to four times the width, and one back."""
    small, large = f"f32[{rows},{width}]", f"f32[{rows},{4 * width}]"
    parameters, nodes, x = [], [], "%x"
    for i in range(n):
        parameters += [
            f"parameter %layer.{i}.scale f32[{width}]",
            f"parameter %layer.{i}.up f32[{width},{4 * width}]",
            f"parameter %layer.{i}.down f32[{4 * width},{width}]",
        ]
        nodes += [
            f'%g{i} {small} = broadcast(%layer.{i}.scale) shape=[{rows},{width}] dims=[1] from "layer.{i}"',
            f'%s{i} {small} = mul({x}, %g{i}) from "layer.{i}"',
            f'%u{i} {large} = dot(%s{i}, %layer.{i}.up) eq="mk,kn->mn" from "layer.{i}"',
            f'%t{i} {large} = tanh(%u{i}) from "layer.{i}"',
            f'%d{i} {small} = dot(%t{i}, %layer.{i}.down) eq="mk,kn->mn" from "layer.{i}"',
            f'%r{i} {small} = add({x}, %d{i}) from "layer.{i}"',
        ]
        x = f"%r{i}"
    parameters += [f"parameter %head f32[{width},{8 * width}]"]
    nodes += [f'%logits f32[{rows},{8 * width}] = dot({x}, %head) eq="mk,kn->mn" from "head"']
    lines = [f"input %x {small}", *parameters, *nodes, 'output model "logits" %logits']
    return "\n  ".join(['graph "layers" training {', *lines]) + "\n}\n"


class Memory(Planner):
    def arena(self, *args):
        """Bytes of the arena of a program, 0 if there is none, and the messages."""
        done = self.run(*args, "--emit", "program", "-o", "p.txt")
        if done.returncode:
            return 0, done.stderr
        return int(re.search(r"^program .* arena (\d+) ", (self.work / "p.txt").read_text())[1]), done.stderr

    def recomputed(self):
        """A plan's recomputation policy can be edited, and the model's hash doesn't depend on it."""
        gpt2, spread = TINY / "gpt2.onnx", ["--ranks", "2", "--mesh", "2", "--cluster", "local"]
        plan = self.planned("gpt2", *spread)
        self.checks.check("the default policy", plan["recompute"] == plan["recompute_solved"] == "min_cut")

        def edit(name, **changes):
            (self.work / f"{name}.json").write_text(json.dumps({**plan, **changes}))

        edit("none", recompute="none")
        kept, said = self.arena(gpt2, "--plan", "none.json")
        self.checks.check("keeping all takes more memory", kept > plan["bytes"], f"{kept} {plan['bytes']} {said}")
        found = self.run("inspect", "none.json").stdout
        self.checks.check("inspect shows it", "\nrecompute none (edited: all else is of min_cut)\n" in found, found)
        found = self.run("diff", "planned.json", "none.json")
        self.checks.check("diff shows it", found.returncode == 3 and re.search(r"^recompute +min_cut +none$", found.stdout, re.M))
        for policy in "none", "planned":
            self.run(gpt2, "--plan", f"{policy}.json", "--dump-after", "recompute", "-o", f"{policy}.ir")
            self.run(f"{policy}.ir", *spread, "--dump-after", "recompute", "-o", "again.ir")
            same = (self.work / f"{policy}.ir").read_text() == (self.work / "again.ir").read_text()
            self.checks.check(f"{policy}: a graph isn't recomputed twice", same)
        nodes = [(self.work / f"{policy}.ir").read_text().count("\n") for policy in ("none", "planned")]
        self.checks.check("--dump-after recompute follows the plan", nodes[0] < nodes[1], str(nodes))
        self.run(gpt2, *TRAIN, "--dump-after", "outputs", "-o", "outputs.ir")
        for text, policy in ("outputs", "min_cut"), ("planned", "none"):
            self.run("plan", f"{text}.ir", *spread, "-o", "of_text.json")
            of_text = json.loads((self.work / "of_text.json").read_text())
            same = [of_text[x] == plan[x] for x in ("model_hash", "bytes", "seconds")]
            self.checks.check(f"the plan of {text}.ir", of_text["recompute"] == policy and same == [text == "outputs", True, True], str(same))
        found, said = self.arena("planned.ir", "--plan", "of_text.json")
        self.checks.check("the program of a text's plan", found == plan["bytes"], f"{found} {said}")
        (self.work / "twice.json").write_text(json.dumps({**of_text, "recompute": "min_cut"}))
        edit("unknown", recompute="mincut")
        edit("tight", recompute="none", memory=plan["bytes"])
        for args, message in (
            (["planned.ir", "--plan", "twice.json"], "twice.json: error: recompute is 'min_cut', but the graph has no loss or is after recompute already"),
            ([str(gpt2), "--plan", "unknown.json"], "unknown.json: error: recompute is 'mincut', expected 'none' or 'min_cut'"),
            (["inspect", "unknown.json"], "unknown.json: error: recompute is 'mincut', expected 'none' or 'min_cut'"),
        ):
            self.expect(args, 1, f"{message}\n")
        done = self.run(gpt2, "--plan", "tight.json")
        said = f"tight.json: error: the plan takes {kept} bytes of each rank, but memory is {plan['bytes']}\n"
        self.checks.check("an edited plan that doesn't fit", done.returncode == 4 and done.stderr.startswith(said), done.stderr)

    def arenas(self):
        """The memory that a plan names is the arena of its program."""
        for name, *options in (
            ("gpt2", "--ranks", "2"),
            ("gpt2", "--ranks", "2", "--threads", "1"),
            ("gpt2", "--mesh", "2x2", "--ranks", "4", "--clip-norm", "1"),
            ("llama", "--mesh", "2x3", "--ranks", "6"),
            ("resnet", "--mesh", "3", "--ranks", "3"),
            ("mixer", "--mesh", "2x2", "--ranks", "4", "--plan-preset", "fsdp"),
            ("vit", "--mesh", "4", "--ranks", "4", "--plan-preset", "megatron"),
            ("bert", "--mesh", "8", "--ranks", "8", "--plan-preset", "zero1"),
            ("mobilenet", "--mesh", "2", "--ranks", "2", "--no-fuse"),
        ):
            what = f"{name} {' '.join(options)}"
            plan = self.planned(name, "--target", "cpu", "--cluster", "h100x8", *options)
            if self.checks.check(f"plan {what}", plan):
                found, said = self.arena(TINY / f"{name}.onnx", "--plan", "planned.json", "--cluster", "h100x8")
                self.checks.check(f"arena of {what}", found == plan["bytes"], f"{found}, not {plan['bytes']} {said}")

    def budget(self, name, mesh, memory):
        """Bytes and seconds of the plan within `memory`; if none fits, None, None and the least bytes that the message names."""
        ranks = str(math.prod(map(int, mesh.split("x"))))
        args = ["plan", TINY / f"{name}.onnx", *TRAIN, "--cluster", "h100x8", "--ranks", ranks, "--mesh", mesh, "--recompute", "none"]
        done = self.run(*args, "-o", "b.json", "--memory", memory)
        if done.returncode == 0:
            p = json.loads((self.work / "b.json").read_text())
            return p["bytes"], cheapest(p), p["bound"]
        said = re.search(r"smallest one found takes (\d+) bytes", done.stderr)
        return None, None, int(said[1]) if said else done.stderr

    def budgets(self):
        """Every budget from the least on is kept, and more memory costs no more time. Where nothing fits, the message
        names the least, whatever budget was asked for."""
        for name, mesh, rungs in (("gpt2", "2", 3), ("llama", "2", 1), ("mixer", "4", 1)):
            what = f"{name} on {mesh}"
            most, last, _ = self.budget(name, mesh, 1 << 40)
            least = self.budget(name, mesh, 1)[2]
            self.checks.check(f"{what}: nothing fits one byte", 1 < least <= most, f"{least} {most}")
            for memory in (least - 1, least * 9 // 10, least // 2):
                found = self.budget(name, mesh, memory)
                self.checks.check(f"{what}: {memory} bytes are {least - memory} too few", found == (None, None, least), str(found))
            steps = [least + (most - least) * k // rungs for k in range(rungs + 1)]
            found = [self.budget(name, mesh, b) for b in steps]
            self.checks.check(f"{what}: budgets are kept to", all(s and used <= b for b, (used, s, _) in zip(steps, found)), f"{steps} {found}")
            times = [s for _, s, _ in found] + [last]
            self.checks.check(f"{what}: more memory costs no more", all(b <= a for a, b in zip(times, times[1:])), str(times))

    def more_memory(self):
        """With what runs again chosen too, a step of 12 layers is at most a hundredth longer than within less memory."""
        (self.work / "layers.ir").write_text(layers(12, 4096, 1024))
        args = ["plan", "layers.ir", *TRAIN, "--cluster", "h100x8", "--ranks", "8", "--mesh", "dp=2,tp=4", "-o", "b.json"]
        steps = []
        for memory in range(325, 626, 20):
            done = self.run(*args, "--memory", f"{memory}MiB")
            plan = json.loads((self.work / "b.json").read_text()) if done.returncode == 0 else None
            if self.checks.check(f"12 layers within {memory} MiB", plan and plan["bytes"] <= memory << 20, done.stderr):
                steps.append(plan["simulated"])
        longer = [(a, b) for i, b in enumerate(steps) for a in steps[:i] if b > 1.01 * a]
        self.checks.check("more memory takes no longer", not longer, f"{longer} of {steps}")

    def a_little_less(self):
        """Where the fastest plan just doesn't fit, the one found is at most 1.5 times slower."""
        args = ["lstm", "--cluster", "h100x16", "--ranks", "16", "--mesh", "16"]
        free = self.planned(*args)
        less = self.planned(*args, "--memory", free["bytes"] - 1, "--recompute", "none")
        steps = [p["simulated"] for p in (free, less)]
        self.checks.check("one byte less costs little", less["bytes"] < free["bytes"] and steps[1] < 1.5 * steps[0], str(steps))

    def too_small(self):
        """With too little memory, the message names the smallest arena found, and what holds its peak."""
        args = [TINY / "mlp.onnx", *TRAIN, "--ranks", "4", "--mesh", "4", "--cluster", "h100x4", "--recompute", "none"]
        args += ["--target", "cpu", "--memory", "1KiB", "-o", "small.json"]
        said = """mlp.onnx: error: no plan for 4 ranks fits in 1.0 KiB a rank: the smallest one found takes 72832 bytes (71.1 KiB)
  its peak is in backward of 2: parameters 7.4 KiB, optimizer 14.8 KiB, gradients 320 B, saved 1.1 KiB, activations 7.4 KiB, constants 2.6 KiB, workspace 37.6 KiB
"""
        done = self.run("plan", *args)
        ok = (done.returncode, done.stderr) == (4, said) and not (self.work / "small.json").exists()
        self.checks.check("too little memory", ok, done.stderr)


def test(plans):
    plans.recomputed()
    plans.arenas()
    plans.budgets()
    plans.more_memory()
    plans.a_little_less()
    plans.too_small()


if __name__ == "__main__":
    test_in_folder(Memory, test)
