"""Helpers of the end-to-end tests: running programs, reading their files, counting checks."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

# A shell's background jobs start with Ctrl-C ignored, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

TYPES = {
    "F32": np.float32,
    "F64": np.float64,
    "I64": np.int64,
    "I32": np.int32,
    "BOOL": np.bool_,
    "U8": np.uint8,
    "F16": np.float16,
    "BF16": np.uint16,  # the bits
}


# Open MPI doesn't start as root, in a container say, unless told so twice.
# ob1 alone: not to look for fast networks makes each start 0.2 s shorter.
MPI_ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1"}


def mpirun(ranks, bind="none"):
    """The command before a program of that many ranks, of which there may be more than CPUs."""
    return ["mpirun", "--oversubscribe", "--bind-to", bind, "-n", str(ranks)]


class Checks:
    """Prints one TAP line per check and counts them."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, name, ok, detail=""):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        # One write a line: models are tested by several threads.
        sys.stdout.write(f"{'ok' if ok else 'not ok'} - {name}{'  # ' + detail if detail else ''}\n")
        sys.stdout.flush()
        return ok

    def close(self, name, found, expected, tolerance):
        """Checks that the relative error is at most `tolerance`."""
        error = relative(found, expected)
        return self.check(name, error <= tolerance, f"{error:.1e} of {tolerance:.0e}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0)


def side_by_side(n, *tests):
    """Calls all the functions, n at a time, and returns their results."""
    with ThreadPoolExecutor(n) as pool:
        return [f.result() for f in [pool.submit(test) for test in tests]]


def test_in_folder(kind, test, **paths):
    """Runs test(kind(shardcc, folder, checks, …)) with the compiler that --shardcc names, and ends with the count.

    `paths`: more options and their defaults, given to kind by name.
    """
    parser, checks = argparse.ArgumentParser(), Checks()
    parser.add_argument("--shardcc", type=Path, required=True)
    for name, default in paths.items():
        parser.add_argument(f"--{name}", type=Path, default=default)
    options = {name: path.resolve() for name, path in vars(parser.parse_args()).items()}
    with tempfile.TemporaryDirectory() as folder:
        test(kind(options.pop("shardcc"), Path(folder), checks, **options))
    checks.finish()


def without_command(text):
    """A C text without what its command says: names of files and options."""
    return re.sub(r"    \.name = .*\n    \.options = .*\n( {15}.*\n)*", "", text.partition("\n\n")[2])


def relative(found, expected):
    """‖found − expected‖ / ‖expected‖; infinite where shapes differ or something isn't finite."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    return float(np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30))


def on_transport(args):
    """A command that compiles a program of ranks, with the transport that the variable TRANSPORT names, if it does."""
    texts = {"plan", "profile", "--emit", "--dump-after", "--transport"}
    is_program = args[0].endswith("/shardcc") and "--ranks" in args and not texts & set(args)
    return [*args, "--transport", os.environ["TRANSPORT"]] if is_program and "TRANSPORT" in os.environ else args


def run(*args, cwd=None, status=0, timeout=600, env=None):
    """Runs a command; returns its output on success, else raises an exception that shows it."""
    args = on_transport([str(a) for a in args])
    done = subprocess.run(args, cwd=cwd, capture_output=True, text=True, timeout=timeout, env=env)
    if done.returncode != status:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise RuntimeError(f"exit {done.returncode}, not {status}: {' '.join(args)}\n{said}")
    return done.stdout + done.stderr


def read_safetensors(path):
    data = Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), memoryview(data)[8 + size :]
    return {
        name: np.frombuffer(body[slice(*t["data_offsets"])], TYPES[t["dtype"]]).reshape(t["shape"])
        for name, t in header.items()
        if name != "__metadata__"
    }


def write_safetensors(path, arrays):
    """Arrays by name, each as (type, shape, bytes)."""
    header, at = {}, 0
    for name, (kind, shape, data) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in arrays.values()))


def read_log(path):
    """The steps of a run's log, as a list of objects."""
    return [x for x in map(json.loads, Path(path).read_text().splitlines()) if "loss" in x]


def sent_rows(said):
    """What --profile says that a rank sent in a step: kind, axis and bytes."""
    rows = re.findall(r"^(\w+) +(\S+) +(\d+)$", said.partition("sent in a step")[2], re.M)  # MPI may have said more
    return [(kind, axis, int(n)) for kind, axis, n in rows]


def write_data(folder, arrays):
    """A data folder: one NAME.npy per array, first axis = samples."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, a in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(a))
