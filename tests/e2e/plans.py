"""Makes plans of the tiny models and reads them, for the tests of plans."""
import json
import subprocess
from pathlib import Path

TINY = Path(__file__).parents[2] / "models/tiny"
MLP = str(TINY / "mlp.onnx")
TRAIN = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw"]


def cheapest(plan):
    """The least price of the plans that were found."""
    return plan.get("cheapest", plan["seconds"])


class Planner:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def run(self, *args):
        return subprocess.run([self.shardcc, *map(str, args)], cwd=self.work, capture_output=True, text=True, timeout=300)

    def expect(self, args, status, said, printed=""):
        done = self.run(*args)
        ok = (done.returncode, done.stderr, done.stdout) == (status, said, printed)
        if not self.checks.check(" ".join([*args]), ok):
            print(f"# exit {done.returncode}\n# {done.stderr!r}\n# expected {said!r}\n{done.stdout}")

    def planned(self, name, *options):
        """Makes a tiny model's plan; None, after printing why, if there is none."""
        done = self.run("plan", TINY / f"{name}.onnx", *TRAIN, *options, "-o", "planned.json")
        print(done.stderr, end="")
        return json.loads((self.work / "planned.json").read_text()) if done.returncode == 0 else None
