"""A host of a test's own: a namespace of network and host name, which a process keeps. No packet leaves the machine."""
import os
import shutil
import signal
import subprocess
from pathlib import Path

LIFE = 600  # seconds after which a namespace ends by itself


def call(*words):
    """Runs a command; raises RuntimeError with what it said if it fails."""
    done = subprocess.run([str(x) for x in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def missing_tool(*tools):
    """What is said of the first of these programs that isn't there; None if all are."""
    for tool in ("unshare", "nsenter", "ip", *tools):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return None


class Namespace:
    """A host of that name. Raises RuntimeError if none can be made."""

    def __init__(self, name):
        words = ["unshare", "--net", "--uts", "sh", "-c", f"hostname {name}; echo ready; exec sleep {LIFE}"]
        self.keeper = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            raise RuntimeError(self.keeper.communicate()[1].strip())
        call(*self.on(), "ip", "link", "set", "lo", "up")

    def on(self):
        """The words before a command that runs there."""
        return ["nsenter", "--target", str(self.keeper.pid), "--net", "--uts"]

    def processes(self):
        """Those that run there."""
        own, found = os.readlink(f"/proc/{self.keeper.pid}/ns/net"), []
        for path in Path("/proc").glob("[0-9]*/ns/net"):
            try:
                if os.readlink(path) == own:
                    found.append(int(path.parts[2]))
            except OSError:  # it has ended
                pass
        return [x for x in found if x != self.keeper.pid]

    def close(self):
        """Ends all that runs there."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.keeper.kill()
        self.keeper.communicate()
