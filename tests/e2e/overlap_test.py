#!/usr/bin/env python3
"""Tests that plans predict the overlap of communication and computation.

  overlap_test.py --shardcc build/shardcc
"""
import json

from harness import test_in_folder
from plan_test import SLOW_LINK, Plans, cheapest


class Overlaps(Plans):
    def hidden(self):
        """Where communication can overlap computation, the plan is the one whose program takes the shortest step."""
        slow = json.loads(SLOW_LINK.read_text())
        for name, beta in ("gpt2", 1e-6), ("llama", 2e-6):
            slow["links"][0]["beta"] = beta
            (self.work / "link.json").write_text(json.dumps(slow))
            args = [name, "--cluster", "link.json", "--ranks", "2"]
            free = self.planned(*args)
            steps = {way: self.planned(*args, "--plan-preset", way)["simulated"] for way in ("ddp", "zero1", "fsdp", "megatron")}
            said = {r["name"]: r.get("simulated", free["simulated"]) for r in free["presets"]}
            self.checks.check(f"{name}: no way is faster", min([*steps.values(), *said.values()]) >= free["simulated"] * (1 - 1e-6), f"{free['simulated']} {steps} {said}")
            self.checks.check(f"{name}: another plan is cheaper", cheapest(free) < free["seconds"], f"{cheapest(free)} {free['seconds']}")
            self.checks.check(f"{name}: no less than the bound", 0 < free["least"] <= max(free["compute"], free["communication"]))

    def chains(self):
        """A sum along two slow axes is a sequence of collectives, which overlap computation too."""
        slow = json.loads(SLOW_LINK.read_text())
        [link] = slow["links"]
        for name, of_two in ("gpt2", 4.1e-7), ("gpt2", 1e-6), ("llama", 4.1e-7), ("llama", 1e-6), ("bert", 4.1e-7):
            slow["links"] = [{**link, "devices": 2, "beta": of_two}, {**link, "devices": 4}]
            (self.work / "link.json").write_text(json.dumps({**slow, "devices_per_host": 2}))
            plan = self.planned(name, "--cluster", "link.json", "--ranks", "4", "--mesh", "2x2", "--plan-preset", "ddp")
            shown = plan["simulated"] - plan["compute"]
            self.checks.check(f"{name}: gradients of two slow axes are hidden", shown < 0.25 * plan["communication"], f"{shown} {plan['communication']}")


def test(overlaps):
    overlaps.hidden()
    overlaps.chains()


if __name__ == "__main__":
    test_in_folder(Overlaps, test)
