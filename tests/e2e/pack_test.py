#!/usr/bin/env python3
"""shardcc pack as a user meets it: exit statuses, messages, files, Ctrl-C.

  pack_test.py --shardcc build/shardcc
"""
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

from harness import test_in_folder

# google/minimalloc's example (Apache License 2.0), which packs in 12.
EXAMPLE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"

# Eight buffers of which 6 bytes are live at any time, but no packing needs less than 7.
GAP = "id,lower,upper,size\n" + "\n".join(
    f"{i},{l},{u},{s}"
    for i, (l, u, s) in enumerate(
        [(1, 4, 2), (2, 5, 1), (2, 3, 1), (0, 3, 2), (0, 1, 4), (1, 2, 2), (3, 4, 3), (4, 5, 5)]
    )
)

# Arguments, message; exit status 2.
OPTIONS = [
    ([], "no file of buffers given; --help tells more"),
    (["a.csv", "b.csv"], "one file of buffers at a time: 'a.csv' and 'b.csv'"),
    (["a.csv", "--capacity", "much"], "--capacity: 'much' is not a size such as 70GiB"),
    (["a.csv", "--time-limit", "-1"], "--time-limit: '-1' is not a number of at least 0"),
    (["a.csv", "--capazity", "1"], "unknown option '--capazity' (did you mean '--capacity'?)"),
]

# Arguments, message; exit status 1. tests/packer/table_test.c has all messages about a file's lines.
FILES = [
    (["none.csv"], "none.csv: error: cannot read 'none.csv': No such file or directory"),
    (["."], ".: error: cannot read '.': not a regular file"),
    (["empty.csv"], "empty.csv: error: line 1: there is no column 'id'"),
    (["twice.csv"], "twice.csv: error: line 3: id 'a' is also in line 2"),
    (["turned.csv", "-o", "p.csv"], "turned.csv: error: line 2: upper is 3, expected more than lower, 5"),
    (["example.csv", "-o", "none/p.csv"], "shardcc: error: cannot write into 'none': No such file or directory"),
    (["example.csv", "-o", "example.csv"], "shardcc: error: cannot write 'example.csv': it is the file of buffers"),
    (["example.csv", "-o", "."], "shardcc: error: cannot write '.': it is a folder"),
]

# Arguments, message; exit status 4.
TOO_SMALL = [
    (["example.csv", "--capacity", "11"], "no packing fits in 11 bytes: every one needs at least 12 (found: 12)"),
    (["gap.csv", "--capacity", "6"], "no packing fits in 6 bytes: every one needs at least 7 (found: 8)"),
]


def hard(n=300, seed=1):
    """Buffers that fill a rectangle of time and bytes without a gap, cut again and again."""
    r, tiles = random.Random(seed), [(0, 10**6, 0, 10**6)]
    while len(tiles) < n:
        begin, end, low, high = tiles.pop(max(range(len(tiles)), key=lambda i: r.random() * (tiles[i][1] - tiles[i][0])))
        if r.random() < 0.5:
            at = r.randrange(begin + 1, end)
            tiles += [(begin, at, low, high), (at, end, low, high)]
        elif high - low > 1:
            at = r.randrange(low + 1, high)
            tiles += [(begin, end, low, at), (begin, end, at, high)]
        else:
            tiles.append((begin, end, low, high))
    r.shuffle(tiles)
    return "id,lower,upper,size\n" + "".join(f"{i},{t[0]},{t[1]},{t[3] - t[2]}\n" for i, t in enumerate(tiles))


def is_packed(text, given, capacity):
    """Is the text the given file with offsets, at which no two buffers overlap?"""
    lines = [line.split(",") for line in text.splitlines()]
    if [line[:4] for line in lines] != [line.split(",") for line in given.splitlines()]:
        return False
    buffers = [list(map(int, line[1:])) for line in lines[1:]]
    for i, (lower, upper, size, offset) in enumerate(buffers):
        if offset < 0 or offset + size > capacity:
            return False
        for l, u, s, o in buffers[:i]:
            if l < upper and lower < u and o < offset + size and offset < o + s:
                return False
    return True


class Pack:
    def __init__(self, shardcc, work, checks):
        self.shardcc, self.work, self.checks = shardcc, work, checks

    def run(self, *args):
        command = [str(self.shardcc), "pack", *map(str, args)]
        return subprocess.run(command, cwd=self.work, capture_output=True, text=True, timeout=300)

    def check(self, name, ok, detail=""):
        return self.checks.check(name, ok, "" if ok else str(detail).replace("\n", " | "))

    def messages(self):
        files = {"example": EXAMPLE, "gap": GAP, "empty": "", "twice": "id,lower,upper,size\na,0,1,1\na,0,1,1\n",
                 "turned": "id,lower,upper,size\na,5,3,1\n"}  # fmt: skip
        for name, text in files.items():
            (self.work / f"{name}.csv").write_text(text)
        before = sorted(os.listdir(self.work))
        for status, table in ((2, OPTIONS), (1, FILES)):
            for args, message in table:
                done = self.run(*args)
                said = f"shardcc: error: {message}\n" if status == 2 else f"{message}\n"
                self.check(f"pack {' '.join(args)}", done.returncode == status and done.stderr == said, done)
        for args, message in TOO_SMALL:
            done = self.run(*args, "-o", "p.csv")
            ok = done.returncode == 4 and done.stderr == f"{args[0]}: error: {message}\n"
            self.check(f"pack {' '.join(args)}: 4", ok, done)
        self.check("no file is written", sorted(os.listdir(self.work)) == before)

    def files(self):
        for name, text, least in (("example", EXAMPLE, 12), ("gap", GAP, 7)):
            for more in ([], ["--capacity", least], ["--time-limit", 5]):
                done = self.run(f"{name}.csv", "-o", "p.csv", *more)
                ok = done.returncode == 0 and is_packed((self.work / "p.csv").read_text(), text, least)
                self.check(f"{name} in {least} bytes {more}", ok, done)
        ok = "packed        7 bytes, bound 7: no packing is smaller" in done.stdout
        self.check("the search proves what it found", ok, done)
        text = hard(100)
        (self.work / "hard.csv").write_text(text)
        for to in ("one.csv", "two.csv"):
            done = self.run("hard.csv", "--capacity", 10**6, "-o", to)
        one, two = ((self.work / to).read_text() for to in ("one.csv", "two.csv"))
        self.check("no gap is left", done.returncode == 0 and is_packed(one, text, 10**6), done)
        self.check("twice the same offsets", one == two)

    def limits(self):
        text = hard(2000)
        (self.work / "large.csv").write_text(text)
        begin = time.monotonic()
        done = self.run("large.csv", "--capacity", 10**6, "--time-limit", 0.01)
        seconds = time.monotonic() - begin
        ok = done.returncode == 4 and "no packing in 1000000 bytes was found: the smallest one needs " in done.stderr
        self.check("the time limit: 4", ok and seconds < 10, (done, seconds))
        command = [str(self.shardcc), "pack", "large.csv", "-o", "p.csv", "--time-limit", "100"]
        p = subprocess.Popen(command, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while p.poll() is None and not re.search(r"^SigBlk:\t.*[1-9a-f]", Path(f"/proc/{p.pid}/status").read_text(), re.M):
            time.sleep(0.01)  # from there on it searches
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=60)[0]
        ok = p.returncode == 0 and is_packed((self.work / "p.csv").read_text(), text, 10**9)
        self.check("Ctrl-C: the best packing so far", ok, (p.returncode, said))


def test(pack):
    pack.messages()
    pack.files()
    pack.limits()


if __name__ == "__main__":
    test_in_folder(Pack, test)
