#!/usr/bin/env python3
"""Deep models of which little is kept: their stages run as the dynamic program says, in the bytes that it says.

  deep_stages_test.py --shardcc build/shardcc [--all]

A transformer, an LSTM and a residual network, made here, train in half, 20, 10 and 5 percent of what their chain saves and
in the least memory. Losses, gradients and weights are those without recomputation, bit by bit; the arena is at most 2 %
larger than the replay of the chain's schedule. With --all they are deep (96 layers, 256 steps, 50 blocks of three
convolutions), and the table of their steps is printed: what the best schedule, the policies of keeping alone and the square
root rule take.
"""
import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import depth_test as depth
import numpy as np
from harness import Checks, read_log, read_safetensors, run, write_data
from model import QUICK_CC
from onnx_bytes import value

SHARES = (0.5, 0.2, 0.1, 0.05)
ARGUMENTS = ("--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--threads", 2, "--init", "normal(0.1)")
SLACK = 1.02  # of the arena, compared with the replay


def residual(b, x, name, width, inner, step):
    """A block of three convolutions, with batch norms; the first one of a group changes the width."""

    def norm(x, name, n):
        b.weights.append(depth.tensor(f"{name}.running_var", np.ones(n, np.float32)))
        more = [b.weight(f"{name}.{part}", n) for part in ("weight", "bias", "running_mean")]
        return b.add("BatchNormalization", [x, *more, f"{name}.running_var"], f"{name}/y")

    def conv(x, name, n_in, n_out, size, stride=1):
        pads, weight = [size // 2] * 4, b.weight(f"{name}.weight", n_out, n_in, size, size)
        return b.add("Conv", [x, weight], f"{name}/y", kernel_shape=[size, size], pads=pads, strides=[stride, stride])

    before, stride = step or (width, 1)
    y = b.add("Relu", [norm(conv(x, f"{name}.conv1", before, inner, 1), f"{name}.bn1", inner)], f"{name}/relu1")
    y = b.add("Relu", [norm(conv(y, f"{name}.conv2", inner, inner, 3, stride), f"{name}.bn2", inner)], f"{name}/relu2")
    y = norm(conv(y, f"{name}.conv3", inner, width, 1), f"{name}.bn3", width)
    if step:
        x = norm(conv(x, f"{name}.down", before, width, 1, stride), f"{name}.bn4", width)
    return b.add("Relu", [b.add("Add", [y, x], f"{name}/sum")], f"{name}/y")


def resnet(blocks, size=16):
    b, x, width = depth.Builder(), "x", 3
    for i, n in enumerate(blocks):
        for k in range(n):
            to = 16 << i
            x = residual(b, x, f"{i}.{k}", to, 4 << i, (width, 2 if i else 1) if not k else None)
            width = to
    x = b.add("GlobalAveragePool", [x], "pooled")
    x = b.add("Flatten", [x], "flat")
    b.head(x, width)
    return b.model([value("x", "f32", [depth.BATCH, 3, size, size])], [depth.BATCH])


MODELS = {  # small and deep ones
    "transformer": (lambda n: depth.transformer(n), 24, 96),
    "LSTM": (lambda n: depth.recurrent("LSTM", 1, False, n), 48, 256),
    "residual network": (resnet, (2, 3, 6, 2), (3, 8, 36, 3)),
}


def data_of(name, size):
    dice = np.random.default_rng(5)
    floats = lambda *shape: dice.standard_normal(shape).astype(np.float32)  # noqa: E731
    labels = lambda *shape: dice.integers(0, depth.CLASSES, shape)  # noqa: E731
    if name == "transformer":
        return {"input_ids": labels(2 * depth.BATCH, 6), "labels": labels(2 * depth.BATCH, 6)}
    if name == "LSTM":  # its first axis is time, so a sample is a step
        return {"x": floats(2 * size, depth.BATCH, depth.WIDTH), "labels": labels(2 * size, depth.BATCH)}
    return {"x": floats(2 * depth.BATCH, 3, 16, 16), "labels": labels(2 * depth.BATCH)}


class Deep:
    def __init__(self, checks, shardcc, work, name, make, size):
        self.checks, self.shardcc, self.work, self.name = checks, shardcc, work, name
        self.onnx = work / "model.onnx"
        self.onnx.write_bytes(make(size))
        write_data(work / "data", data_of(name, size))

    def said(self, *more):
        done = subprocess.run([str(x) for x in (self.shardcc, *more)], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def train(self, tag, *more):
        """The losses, and all gradients and weights by name."""
        trainer = self.work / tag
        run(self.shardcc, self.onnx, "-o", trainer, "--cc", QUICK_CC, "--cluster", "local", *ARGUMENTS, *more)
        files = [trainer.with_suffix(f".{kind}") for kind in ("gradients", "weights")]
        log = trainer.with_suffix(".jsonl")
        options = ["--steps", 2, "--no-shuffle", "--quiet", "--log", log, "--check-arena"]
        run(trainer, "--data", self.work / "data", *options, "--save-gradients", files[0], "--save", files[1])
        return [x["loss"] for x in read_log(log)], *({k: v.tobytes() for k, v in read_safetensors(f).items()} for f in files)

    def chain(self, *more):
        """The stages of one rank's program that have one policy, and the bytes outside of them."""
        path = self.work / "chain.json"
        status, out, err = self.said("plan", self.onnx, *ARGUMENTS[:-2], "--ranks", 1, "--chain", path, *more)
        assert status == 0, err
        return json.loads(path.read_text()), int(re.search(r"others hold (\d+) bytes", out)[1])

    def replay(self, chain, memory, *more):
        """Time and peak of the schedule in that memory, None if there is none; and the least memory."""
        path = self.work / "one_policy.json"
        path.write_text(json.dumps(chain))
        _, out, err = self.said("chain", path, "--memory", memory, *more)
        least = int(re.search(r"least memory (?:is )?(\d+)", out + err)[1])
        found = {k: (float(t), int(p)) for k, t, p in re.findall(r"^(\w+) +time (\S+), .* peak (\d+)", out, re.M)}
        return found, least

    def profile(self, *more):
        """Bytes of the arena and seconds of the simulated step; None if it doesn't fit."""
        status, out, err = self.said("profile", self.onnx, *ARGUMENTS[:-2], "--cluster", "local", "--by", "time", *more)
        if status:
            return None
        unit = {"s": 1, "ms": 1e-3, "us": 1e-6}
        time, of = re.search(r"simulated +(\S+) (\w+)", out).groups()
        return int(re.search(r"arena +(\d+) .* 100.0 %", out)[1]), float(time) * unit[of], out

    def one_policy(self, chain, policy):
        """The chain whose stages all have that policy."""
        stages = []
        for s in chain["stages"]:
            w = s["keep"][min(policy, len(s["keep"]) - 1)]
            more = w.pop("more_scratch", 0)
            stages.append({**s, "forward_time": w["forward_time"], "backward_scratch": s["backward_scratch"] + more, "keep": [w]})
        return {**chain, "stages": stages}

    def check(self, prints):
        whole, other_bytes = self.chain("--recompute", "none")
        policies = max(len(s["keep"]) for s in whole["stages"])
        text = json.dumps(whole)
        chains = [self.one_policy(json.loads(text), w) for w in range(policies)]
        saved = sum(s["keep"][0]["saved"] for s in chains[0]["stages"])
        expected = self.train("none", "--recompute", "none")
        least = min(self.replay(c, 1)[1] for c in chains)
        for share in (*SHARES, 0):
            memory = other_bytes + max(int(share * saved), least)
            tag = f"{self.name}, {share:.0%}" if share else f"{self.name}, the least"
            for _ in range(20):  # values that are kept outside of the stages may need more
                found = self.profile("--memory", memory, "--recompute", "chain")
                if found:
                    break
                memory = int(memory * 1.01)
            self.checks.check(f"{tag}: fits", found, f"{memory} bytes")
            if not found:
                continue
            replays = [(self.replay(c, memory - other_bytes)[0], c) for c in chains]
            best = min((r["best"][0], r["best"][1]) for r, _ in replays if "best" in r) if any("best" in r for r, _ in replays) else (0, 0)
            self.checks.check(f"{tag}: bytes", found[0] <= SLACK * memory, f"{found[0]} of {memory}")
            same = self.train(f"chain{share}", "--memory", memory, "--recompute", "chain") == expected
            self.checks.check(f"{tag}: bits", same)
            if prints:
                policies_alone = self.profile("--memory", memory, "--recompute", "full")
                fits = policies_alone and policies_alone[0] <= memory
                roots = [r["sqrt"][0] for r, _ in replays if "sqrt" in r and r["sqrt"][1] <= memory - other_bytes]
                print(f"# {tag}: arena {found[0]}, replay {other_bytes + best[1]}, step {found[1]:.4g} s, schedule {best[0]:.4g} s, "
                      f"full {'%.4g s' % policies_alone[1] if fits else 'too large'}, sqrt {'%.4g s' % min(roots) if roots else 'too large'}")  # fmt: skip


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--shardcc", type=lambda s: Path(s).resolve(), required=True)
    p.add_argument("--all", action="store_true")
    options = p.parse_args()
    checks = Checks()
    for name, (make, small, deep) in MODELS.items():
        with tempfile.TemporaryDirectory() as temp:
            Deep(checks, options.shardcc, Path(temp), name, make, deep if options.all else small).check(options.all)
    checks.finish()


if __name__ == "__main__":
    main()
