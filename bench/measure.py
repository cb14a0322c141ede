"""Runs programs, and holds what was measured of them."""
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

NOISY = 1.25  # median over best
# Seconds between two looks at memory. A look at two ranks takes 0.2 ms of a core, which both then lack.
WATCH = 0.1


class Failure(Exception):
    """Something that the table says in a row."""


@dataclass
class Side:
    """One side of a comparison: seconds of steps, the most MiB; or why there is nothing."""

    seconds: list = field(default_factory=list)
    mebibytes: float = 0
    problem: str = ""

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def is_whole(self):
        return bool(self.seconds) and not self.problem

    @property
    def is_noisy(self):
        return self.is_whole and self.median > NOISY * min(self.seconds)

    def times(self):
        """Median and best in milliseconds."""
        if not self.is_whole:
            return f"{'-':>9s} {'-':>8s}"
        return f"{1e3 * self.median:9.1f} {1e3 * min(self.seconds):8.1f}"

    def over(self, other):
        """Its median over the other's."""
        return f"{self.median / other.median:.2f}" if self.is_whole and other.is_whole else "-"

    def memory(self):
        return f"{self.mebibytes:.0f}" if self.is_whole else "-"

    def add(self, measured, *arguments):
        """Adds what `measured` gives, seconds and MiB, unless something is wrong with this side."""
        if self.problem:
            return
        try:
            seconds, most = measured(*arguments)
        except Failure as e:
            self.problem = str(e)
            return
        self.seconds += seconds
        self.mebibytes = max(self.mebibytes, most)


def held(pid):
    """MiB of memory that no file is behind, of a process or of one that it started: the most of them."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = [c for t in Path(f"/proc/{pid}/task").glob("*/children") for c in t.read_text().split()]
    except OSError:  # it has ended
        return 0
    own = sum(map(int, re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", status))) / 1024
    return max([own, *map(held, children)])


def what_went_wrong(said, status):
    """The first line that speaks of an error."""
    lines = [line for line in said if "error" in line.lower()]
    return (lines or said or [f"exit {status}"])[0][:200]


def run(command, watch=False, **options):
    """A command's output, and the most MiB that one process of it had if it is watched; or a Failure."""
    most = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, **options)
        while watch and process.poll() is None:
            most = max(most, held(process.pid))
            time.sleep(WATCH)
        status = process.wait()
        out.seek(0), err.seek(0)
        if status:
            raise Failure(what_went_wrong(err.read().splitlines(), status))
        return out.read(), most
