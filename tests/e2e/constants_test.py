#!/usr/bin/env python3
"""A constant that is refined to more dims than files have reaches the arena whole.

  constants_test.py --shardcc build/shardcc

Each axis of x is split in three and transposed, so that the mask on all of x has ten dims.
"""
import numpy as np

from harness import run, test_in_folder, write_data
from onnx_bytes import model, node, tensor, value

SHAPE = (4, 8, 8, 8)


class Constants:
    def __init__(self, shardcc, folder, checks):
        self.shardcc, self.folder, self.checks = shardcc, folder, checks

    def write_model(self, path, mask):
        nodes, stored, last = [], [tensor("whole", np.int64(SHAPE)), tensor("mask", mask), tensor("zero", np.float32(0))], "x"
        for axis in (1, 2, 3):
            dims = [*SHAPE[:axis], 2, 2, 2, *SHAPE[axis + 1 :]]
            order = [*range(axis), axis + 2, axis + 1, axis, *range(axis + 3, 6)]
            stored.append(tensor(f"split{axis}", np.int64(dims)))
            nodes += [node("Reshape", [last, f"split{axis}"], [f"s{axis}"], f"split{axis}"), node("Transpose", [f"s{axis}"], [f"t{axis}"], f"turn{axis}", perm=order)]
            nodes.append(node("Reshape", [f"t{axis}", "whole"], [f"r{axis}"], f"join{axis}"))
            last = f"r{axis}"
        nodes.append(node("Where", ["mask", last, "zero"], ["y"], "where"))
        path.write_bytes(model(nodes, [value("x", "f32", SHAPE)], [value("y", "f32", SHAPE)], stored))

    @staticmethod
    def expected(x, mask):
        for axis in (1, 2, 3):
            split = x.reshape(*SHAPE[:axis], 2, 2, 2, *SHAPE[axis + 1 :])
            x = split.swapaxes(axis, axis + 2).reshape(SHAPE)
        return np.where(mask, x, 0)


def test(c):
    r = np.random.default_rng(0)
    x, mask = r.standard_normal(SHAPE).astype(np.float32), r.random(SHAPE) < 0.5
    c.write_model(c.folder / "mask.onnx", mask)
    said = run(c.shardcc, "mask.onnx", "-o", "mask", cwd=c.folder)
    c.checks.check("nothing is said of the text", "warning" not in said, said)
    write_data(c.folder / "data", {"x": x})
    run(c.folder / "mask", "--predict", "data", "-o", "out.npz", "--quiet", cwd=c.folder)
    found = np.load(c.folder / "out.npz")["y"]
    wrong = int((found != c.expected(x, mask)).sum())
    c.checks.check("all elements", wrong == 0, f"{wrong} are wrong")


if __name__ == "__main__":
    test_in_folder(Constants, test)
