"""Makes plans for several ranks, and trainers from them."""
import json
import re
from dataclasses import dataclass
from pathlib import Path

from measure import run
from models import TRAINING


@dataclass
class Job:
    """A trainer for several ranks, its plan, and the bytes of its arena."""

    trainer: Path
    plan: dict
    arena: int


def make_plan(shardcc, model, path, cluster, *options):
    """Makes a plan with the given options. Returns the contents of its file."""
    path.unlink(missing_ok=True)
    run([shardcc, "plan", model, "-o", path, *TRAINING, "--cluster", cluster, *options])
    return json.loads(path.read_text())


def compile_plan(shardcc, model, path, cluster, trainer, *more):
    run([shardcc, model, "--plan", path, "-o", trainer, "--no-weights", "--cluster", cluster, *more])


def read_job(trainer, path):
    arena = re.search(r"arena (\d+) bytes", run([trainer, "--info"])[0])
    return Job(trainer, json.loads(path.read_text()), int(arena[1]))
