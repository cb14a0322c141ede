#!/usr/bin/env python3
"""--tensorboard: event files have the numbers of the log, bit by bit as floats; a run that goes on has a file of its own.

  tensorboard_test.py --shardcc build/shardcc [--package]

The reader here knows the formats of TensorFlow's record_writer.h, event.proto and summary.proto, and is strict. --package
also reads them by TensorBoard itself, where it is installed.
"""
import json
import struct
import tempfile
import time
from pathlib import Path

import numpy as np

from checkpoint_test import Trainer
from harness import Checks
from model import QUICK_CC, Model, parser
from wire import read_varint


def crc32c(data):
    """CRC-32C, bit by bit, rotated and added to a constant as TFRecords have it."""
    sum = 0xFFFFFFFF
    for byte in data:
        sum ^= byte
        for _ in range(8):
            sum = sum >> 1 ^ (0x82F63B78 if sum & 1 else 0)
    sum ^= 0xFFFFFFFF
    return ((sum >> 15 | sum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        (n, head), body = struct.unpack_from("<QI", data, at), data[at + 12 : at + 12 + struct.unpack_from("<Q", data, at)[0]]
        if head != crc32c(data[at : at + 8]) or struct.unpack_from("<I", data, at + 12 + n)[0] != crc32c(body):
            raise ValueError(f"checksum of the record at {at}")
        yield body
        at += 12 + n + 4


def fields(message):
    """(number, value) of each field: bytes, or a number of its wire type."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(message, at)
        elif kind == 2:
            n, at = read_varint(message, at)
            value, at = message[at : at + n], at + n
            if len(value) != n:
                raise ValueError("a field that is cut short")
        else:
            form = {1: "<d", 5: "<f"}[kind]
            value, at = struct.unpack_from(form, message, at)[0], at + struct.calcsize(form)
        yield key >> 3, value


def read_events(path):
    """[(step, {tag: value})], and the step that the session starts with."""
    first, session, *rest = (dict(fields(x)) for x in records(path.read_bytes()))
    if first.keys() != {1, 2, 3} or first[3] != b"brain.Event:2" or session.keys() != {1, 2, 7} or session[7] != b"\x08\x01":
        raise ValueError(f"it begins with {first} {session}")
    if any(not abs(x[1] - time.time()) < 3600 or x.keys() != {1, 2, 5} for x in rest):
        raise ValueError("an event has other fields")
    values = [(x[2], [dict(fields(v)) for _, v in fields(x[5])]) for x in rest]
    return [(step, {v[1].decode(): v[2] for v in of}) for step, of in values], session[2]


def of_log(path):
    """What event files should have, from the log."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [("eval_loss",) if "eval_loss" in x else [k for k in x if k != "step"] for x in lines]
    return [(x["step"], {k: float(np.float32(x[k])) for k in keys if x[k] is not None}) for x, keys in zip(lines, kept)]


def same(found, expected):
    """The log has nine digits, so seconds may differ in the last bit of a float."""
    near = lambda a, b: a.keys() == b.keys() and all(abs(a[k] - b[k]) <= 1e-6 * abs(b[k]) for k in a)
    return len(found) == len(expected) and all(s == t and near(a, b) for (s, a), (t, b) in zip(found, expected))


def by_tensorboard(folder):
    """What TensorBoard finds in a folder, as a list of (step, {tag: value})."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events, steps = EventAccumulator(str(folder)), {}
    events.Reload()
    for tag in events.Tags()["scalars"]:
        for x in events.Scalars(tag):
            steps.setdefault((x.step, tag == "eval_loss"), {})[tag] = x.value
    return [(step, values) for (step, _), values in sorted(steps.items())]


def test_run(checks, trainer, package):
    """A run, and one that goes on with it, whose files together have the log."""
    name, folder = f"{trainer.ranks} ranks", trainer.folder("events")
    log = trainer.work / "events.jsonl"
    options = ["--checkpoint", trainer.folder("saved"), "--resume", "--eval-data", trainer.data, "--log", log,
               "--tensorboard", folder]  # fmt: skip
    ran = trainer.run("--steps", 4, "--eval-every", 2, *options)
    files = list(folder.iterdir())
    named = len(files) == 1 and files[0].name.split(".")[:3] == ["events", "out", "tfevents"]
    checks.check(f"{name}: a file", ran == (0, "") and named, f"{ran} {files}")
    events, start = read_events(files[0])
    checks.check(f"{name}: it has the log", same(events, of_log(log)) and start == 1)
    kinds = {"eval_loss" in x for _, x in events}
    checks.check(f"{name}: steps and evaluations", kinds == {False, True} and len(events) == 6)
    ran = trainer.run("--steps", 6, *options)
    (other,) = set(folder.iterdir()) - set(files)
    events, start = read_events(other)
    expected = [x for x in of_log(log) if x[0] > 4]
    checks.check(f"{name}: it goes on in another file", ran == (0, "") and start == 5 and same(events, expected), f"{ran} {events}")
    if package:
        found = by_tensorboard(folder)
        checks.check(f"{name}: TensorBoard finds the log", same(found, of_log(log)), f"{len(found)} events, {len(found[0][1])} scalars in the first")


def test_messages(checks, trainer):
    file = trainer.work / "file"
    file.write_text("")
    cases = (
        (["--data", trainer.data, "--tensorboard", file], 1, f"error: --tensorboard: {file}: Not a directory"),
        (["--data", trainer.data, "--tensorboard", "no/such"], 1, "error: --tensorboard: no/such: No such file or directory"),
    )  # fmt: skip
    for options, status, text in cases:
        found = trainer.run("--steps", 1, *options)
        checks.check(text, found == (status, text), str(found))


def main():
    p = parser(__doc__)
    p.add_argument("--package", action="store_true", help="read the files by TensorBoard, too")
    o = p.parse_args()
    checks = Checks()
    checks.check("the checksum is RFC 3720's", crc32c(bytes(32)) == ((0x8A9136AA >> 15 | 0x8A9136AA << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    with tempfile.TemporaryDirectory() as work:
        model = Model(o.models / "nanogpt.onnx", o.shardcc, Path(o.work or work), cc=QUICK_CC)
        for ranks in 1, 2:
            trainer = Trainer(model, ranks)
            test_run(checks, trainer, o.package)
            test_messages(checks, trainer)
    checks.finish()


if __name__ == "__main__":
    main()
