"""Runs programs, and keeps their measurements."""
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

NOISY = 1.25  # a side is noisy if its median is more than this times its best
# Seconds between two samples of memory. A sample of two ranks takes 0.2 ms of a core, which the ranks then lack.
WATCH = 0.1


class Failure(Exception):
    """An error that the table shows in a row."""


@dataclass
class Side:
    """One side of a comparison: the seconds of its steps and its most MiB, or the problem it had."""

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
        """The ratio of its median to the other side's."""
        return f"{self.median / other.median:.2f}" if self.is_whole and other.is_whole else "-"

    def memory(self):
        return f"{self.mebibytes:.0f}" if self.is_whole else "-"

    def add(self, measured, *arguments):
        """Adds the seconds and MiB that `measured` returns, unless this side has a problem."""
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
    """The MiB of memory without a file, of a process or its descendants: of the one that has most."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = [c for t in Path(f"/proc/{pid}/task").glob("*/children") for c in t.read_text().split()]
    except OSError:  # the process has ended
        return 0
    own = sum(map(int, re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", status))) / 1024
    return max([own, *map(held, children)])


def what_went_wrong(said, status):
    """The first line that contains "error", else the first line."""
    lines = [line for line in said if "error" in line.lower()]
    return (lines or said or [f"exit {status}"])[0][:200]


def flops_of(trainer):
    """The flops of a step, as the trainer counts them."""
    found = re.search(r"^step +(\S+) GFLOP", run([trainer, "--info"])[0], re.M)
    return 1e9 * float(found[1])


def run(command, watch=False, timeout=None, **options):
    """Returns a command's output and, if watched, the most MiB of one of its processes. May raise Failure, also after
    `timeout` seconds."""
    most = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, **options)
        while watch and process.poll() is None:
            most = max(most, held(process.pid))
            time.sleep(WATCH)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Failure(f"not done within {timeout:g} s") from None
        out.seek(0), err.seek(0)
        if status:
            raise Failure(what_went_wrong(err.read().splitlines(), status))
        return out.read(), most
