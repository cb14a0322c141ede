#!/usr/bin/env python3
"""Programs that only predict: their output, and that they run under --check-arena.

  predict_test.py --shardcc build/shardcc
"""
import numpy as np

from harness import run, test_in_folder
from onnx_bytes import linear, model, node, value


class Predicts:
    def __init__(self, shardcc, folder, checks):
        self.shardcc, self.work, self.checks = shardcc, folder, checks

    def predict(self, name, data, x, watch=("--check-arena",)):
        """The outputs of the model's program for these inputs."""
        (self.work / f"{name}.onnx").write_bytes(data)
        np.save(self.work / "x.npy", x)
        run(self.shardcc, f"{name}.onnx", cwd=self.work)
        run(f"./{name}", "--predict", "x.npy", "-o", "out.npz", "--quiet", *watch, cwd=self.work)
        return np.load(self.work / "out.npz")

    def weights(self):
        x = np.arange(20, dtype=np.float32).reshape(5, 4)
        y = self.predict("linear", linear(), x)["logits"]
        weight = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
        self.checks.close("with weights", y, x @ weight, 1e-6)

    def no_weights(self):
        """The model has no weights to load and no state."""
        x = np.linspace(-2, 2, 20, dtype=np.float32).reshape(5, 4)
        relu = model([node("Relu", ["x"], ["y"])], [value("x", "f32", [2, 4])], [value("y", "f32", [2, 4])])
        y = self.predict("bare", relu, x)["y"]
        self.checks.check("without weights", y.dtype == np.float32 and (y == np.maximum(x, 0)).all())

    def bf16(self):
        """NumPy has no bf16: the trainer reads it as two untyped bytes, and writes it as f32, which holds all its numbers."""
        x = np.arange(1 << 16, dtype=np.uint16).reshape(-1, 4)
        same = model([node("Identity", ["x"], ["y"])], [value("x", "bf16", [2, 4])], [value("y", "bf16", [2, 4])])
        y = self.predict("same", same, x.view("V2"), watch=())["y"]  # some of these NaNs are --check-arena's marks
        wide = (x.astype(np.uint32) << 16).view(np.float32)
        self.checks.check("bf16 as f32", y.dtype == np.float32 and y.tobytes() == wide.tobytes(), f"{y.dtype} {y.shape}")


def test(t):
    t.weights()
    t.no_weights()
    t.bf16()


if __name__ == "__main__":
    test_in_folder(Predicts, test)
