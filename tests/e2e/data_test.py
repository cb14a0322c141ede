#!/usr/bin/env python3
"""Data of trainers: files of tokens, with headers and in folders, with and without regard to documents, against the same
samples as npy files, bit by bit.

  data_test.py --shardcc build/shardcc
"""
import resource
import subprocess
from functools import partial

import numpy as np

from harness import MPI_ENV, mpirun, read_log, run, side_by_side, test_in_folder, write_data
from model import QUICK_CC
from onnx_bytes import model, node, tensor, value

ENV = {**MPI_ENV, "OMP_NUM_THREADS": "1"}
BATCH, TIME, WORDS = 2, 4, 300
LENGTHS = (9, 3, 40, 0, 4, 5, 122)  # tokens of files; some have no window
HEADERS = {np.uint16: (20240520, 1), np.uint32: (20240801, 7)}


def headed(tokens, kind):
    """The bytes of a file of tokens with a header."""
    return np.array([*HEADERS[kind], len(tokens), *[0] * 253], np.int32).tobytes() + tokens.astype(kind).tobytes()


def windows(files, more=1):
    """The samples of some files of tokens: their tokens, and with `more` one token also the labels."""
    cut = [[t[i : i + TIME + more] for i in range(0, len(t) - TIME - more + 1, TIME)] for t in files]
    return np.array([w for f in cut for w in f])


END = 7  # the token that ends a document
DOCUMENTS = [[5, 1, 13, 4, 9, 1, 1, 6], [30], [4, 4, 4, 4, 50], [2] * 3]  # lengths with their ends, by file


def documents(dice, lengths):
    """A file of documents; the last one of a file has no end if its length is at most 6."""
    made = [np.append(dice.integers(10, WORDS, n - 1), END) for n in lengths]
    if lengths[-1] <= 6:
        made[-1][-1] = WORDS - 1
    return np.concatenate(made)


def packed(files):
    """Windows as without documents; labels that follow an end are -100."""
    sample = windows(files)
    return sample[:, :TIME], np.where(sample[:, :TIME] == END, -100, sample[:, 1:])


def cut(files):
    """Windows that lie in one document each, and the number of tokens that are in none."""
    parts = [p for t in files for p in np.split(t, np.flatnonzero(t == END) + 1) if len(p)]
    found, fit = windows(parts), [(len(p) - 1) // TIME for p in parts]
    used = sum(n * TIME + (n > 0) for n in fit)
    return found[:, :TIME], found[:, 1:], len(parts), sum(map(len, parts)) - used


class Data:
    def __init__(self, shardcc, folder, checks):
        self.shardcc, self.work, self.checks = shardcc, folder, checks
        dice = np.random.default_rng(1)
        table = dice.standard_normal((WORDS, WORDS)).astype(np.float32)
        (folder / "words.onnx").write_bytes(model(
            [node("Gather", ["table", "ids"], ["logits"], "embed")],
            [value("ids", "i64", [BATCH, TIME])], [value("logits", "f32", [BATCH, TIME, WORDS])], [tensor("table", table)],
        ))  # fmt: skip
        side_by_side(2, *(partial(self.compile, n) for n in (1, 2)))
        self.files = [dice.integers(0, WORDS, n) for n in LENGTHS]
        for name, files in ("npy", self.files), ("last", self.files[-1:]):
            sample = windows(files)
            write_data(folder / name, {"ids": sample[:, :TIME], "labels": sample[:, 1:]})
        for name, kind in ("two", np.uint16), ("four", np.uint32):
            self.write(name, [headed(t, kind) for t in self.files])
        self.documents = [documents(dice, x) for x in DOCUMENTS]
        self.write("documents", [headed(t, np.uint16) for t in self.documents])
        for name, samples in ("packed", packed(self.documents)), ("cut", cut(self.documents)[:2]):
            write_data(folder / name, dict(zip(("ids", "labels"), samples)))
        self.write("flat", [t.astype(np.uint16).tobytes() for t in self.files])

    def compile(self, ranks):
        run(self.shardcc, "words.onnx", "-o", f"words{ranks}", "--cc", QUICK_CC, "--loss", "cross_entropy(logits, labels)",
            "--optimizer", "adamw(lr=0.01)", *(["--ranks", ranks] if ranks > 1 else []), cwd=self.work)  # fmt: skip

    def write(self, name, files):
        """A folder of files of tokens, in their order."""
        (self.work / name).mkdir()
        for i, data in enumerate(files):
            (self.work / name / f"train_{i:06d}.bin").write_bytes(data)

    def run(self, ranks, *options, limit=None):
        """The exit status, stdout, and what the trainer said."""
        launch = mpirun(ranks) if ranks > 1 else []
        args = [str(x) for x in (*launch, f"./words{ranks}", "--quiet", *options)]
        before = limit and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
        p = subprocess.run(args, cwd=self.work, env=ENV, text=True, capture_output=True, timeout=120, preexec_fn=before)
        said = [line for line in p.stderr.splitlines() if line.startswith((f"words{ranks}: ", "  on rank "))]
        return p.returncode, p.stdout, "\n".join(said)

    def losses(self, ranks, *options):
        """The losses of three epochs."""
        log = self.work / f"{ranks}.jsonl"
        ran = self.run(ranks, "--epochs", 3, "--log", log, *options)
        return [x["loss"] for x in read_log(log)] if ran == (0, "", "") else ran

    def same_losses(self, ranks, data, expected, *options):
        found = self.losses(ranks, "--data", data, *options)
        name = " ".join(map(str, ("--data", data, *options)))
        self.checks.check(f"{name} on {ranks} ranks", found == expected and len(found) > 30, str(found)[:200])

    def same_samples(self, ranks):
        for options in ([], ["--no-shuffle"]):
            expected = self.losses(ranks, "--data", "npy", *options)
            for name in ("two", "four", "flat"):
                self.same_losses(ranks, name, expected, *options)
            self.same_losses(ranks, "two/train_000006.bin", self.losses(ranks, "--data", "last", *options), *options)
        evals = [self.run(ranks, "--eval-data", name) for name in ("npy", "two", "flat")]
        self.checks.check(f"--eval-data on {ranks} ranks", evals[0][1:] == evals[1][1:] == evals[2][1:] and evals[0][1], str(evals))
        np.save(self.work / "ids.npy", windows(self.files, 0))
        outputs = []
        for data in ("ids.npy", "two"):
            ran = self.run(ranks, "--predict", data, "-o", f"{ranks}.npz")
            outputs.append(np.load(self.work / f"{ranks}.npz")["logits"] if ran[0] == 0 else np.zeros(0))
        self.checks.check(f"--predict on {ranks} ranks", outputs[0].size and np.array_equal(*outputs))

    def same_documents(self, ranks):
        """The loss ignores -100."""
        for how in "packed", "cut":
            mode = ["--documents", how, "--document-end", END]
            for options in ([], ["--no-shuffle"]):
                expected = self.losses(ranks, "--data", how, *options)
                found = self.losses(ranks, "--data", "documents", *mode, *options)
                self.checks.check(f"{' '.join(map(str, mode + options))} on {ranks} ranks", found == expected and len(found) > 30, str(found)[:200])  # fmt: skip
            evals = [self.run(ranks, "--eval-data", how), self.run(ranks, "--eval-data", "documents", *mode)]
            self.checks.check(f"{how}: --eval-data on {ranks} ranks", evals[0] == evals[1] and evals[0][0] == 0, str(evals))
            other = self.losses(ranks, "--data", "documents", "--no-shuffle")
            self.checks.check(f"{how}: other losses than without, on {ranks} ranks", other != found)
            self.resumes(ranks, how, mode)

    def resumes(self, ranks, how, mode):
        """A run goes on to the sample, and is refused if documents are taken otherwise."""
        there = f"run_{how}{ranks}"
        options = ["--data", "documents", "--checkpoint", there, "--resume"]
        runs = [self.run(ranks, "--steps", n, *options, *mode) for n in (7, 20)]
        self.run(ranks, "--steps", 20, "--data", "documents", *mode, "--save", "whole.st")
        found = next((self.work / there).glob("*20/model.safetensors")).read_bytes()
        same = found == (self.work / "whole.st").read_bytes()
        self.checks.check(f"{how}: goes on, on {ranks} ranks", runs == [(0, "", "")] * 2 and same, str(runs))
        other = self.run(ranks, "--steps", 21, *options, *mode[:-1], END + 1)
        self.checks.check(f"{how}: not with another end, on {ranks} ranks", other[0] == 1 and "--resume" in other[2], str(other))

    def counts(self):
        """The trainer says what is cut."""
        p = subprocess.run(["./words1", "--eval-data", "documents", "--documents", "cut", "--document-end", str(END)], cwd=self.work,
                           env=ENV, text=True, capture_output=True)  # fmt: skip
        ids, _, n, left = cut(self.documents)
        said = f"documents: {n} documents, {len(ids)} windows; {left} of {sum(map(len, self.documents))} tokens are left out\n"
        self.checks.check("tokens that are left out", said in p.stderr and left > 0, p.stderr)

    def document_messages(self):
        end = ["--document-end", "7"]
        cases = (
            (["--data", "documents", "--documents", "cut"], 2, "--documents needs --document-end"),
            (["--data", "documents", *end], 2, "--document-end needs --documents"),
            (["--predict", "two", "-o", "x.npz", "--documents", "cut", *end], 2, "--documents needs --data or --eval-data"),
            (["--data", "documents", "--documents", "cut", "--document-end", "300"], 2,
             "--document-end: 300 is no token of the model: 0 to 299"),
            (["--data", "documents", "--documents", "cut", "--document-end", "-1"], 2,
             "--document-end: '-1' is not a whole number from 0 to 4294967295"),
            (["--data", "documents", "--documents", "packs", *end], 2,
             "--documents: 'packs' is not one of packed|cut"),
            (["--data", "npy", "--documents", "cut", *end], 1, "--documents: npy: only files of tokens have documents"),
        )  # fmt: skip
        for options, status, text in cases:
            found = self.run(1, *options)
            self.checks.check(text[:80], found == (status, "", f"words1: error: {text}"), str(found))
        run(self.shardcc, "words.onnx", "-o", "other", "--cc", QUICK_CC, "--loss", "l1(logits, y)", "--optimizer", "sgd(lr=0.01)",
            cwd=self.work)  # fmt: skip
        done = subprocess.run(["./other", "--data", "documents", "--documents", "packed", *end], cwd=self.work, text=True, capture_output=True)
        text = "other: error: --documents packed: this program's loss ignores no label, as cross_entropy does; cut needs none\n"
        self.checks.check("a loss that ignores nothing", (done.returncode, done.stderr) == (2, text), done.stderr)

    def many_files(self):
        """More files than may be open at first, and than may ever be open."""
        self.write("many", [bytes(2 * (TIME + 1))] * 300)
        ran = self.run(1, "--data", "many", "--no-shuffle", limit=(64, 1024))
        self.checks.check("300 files where 64 may be open", ran == (0, "", ""), str(ran))
        ran = self.run(1, "--data", "many", limit=(64, 128))
        named = ran[2].startswith("words1: error: many/train_000")
        self.checks.check("300 files where 128 may ever be open", ran[0] == 1 and named and ran[2].endswith(".bin: Too many open files"), str(ran))

    def messages(self):
        self.write("mixed", [headed(self.files[0], np.uint16), headed(self.files[0], np.uint32)])
        self.write("both", [headed(self.files[0], np.uint16)])
        np.save(self.work / "both/ids.npy", np.zeros((2, TIME)))
        self.write("hidden", [headed(self.files[2], np.uint16)])
        (self.work / "hidden/.note").write_text("")
        self.write("short", [headed(self.files[2], np.uint16), headed(self.files[2], np.uint16)[:-1]])
        self.write("none", [headed(self.files[1], np.uint16)] * 2)
        self.write("deep", [])
        (self.work / "deep/a.bin").mkdir()
        cases = (
            (["mixed"], "mixed/train_000001.bin: tokens of 4 bytes, but mixed/train_000000.bin has tokens of 2"),
            (["both"], "both: it has files of tokens, 'train_000000.bin', and also 'ids.npy'; a folder of files of tokens (*.bin) has no others"),
            (["short"], "short/train_000001.bin: its header says 40 tokens, a file of 1104 bytes; it has 1103"),
            (["none"], "none: samples found: 0; a step takes 2"),
            (["deep"], "deep/a.bin: not a regular file"),
            (["two", "--token-bytes", "4"], "two/train_000000.bin: its header says tokens of 2 bytes, --token-bytes says 4"),
            (["two", "--log", "two/train_000005.bin"],
             "--log: 'two/train_000005.bin' can't be written: this run reads it, as --data"),
        )  # fmt: skip
        for options, text in cases:
            found = self.run(1, "--data", *options)
            self.checks.check(text[:80], found == (1, "", f"words1: error: {text}"), str(found))
        found = self.run(1, "--data", "hidden", "--token-bytes", "2")
        self.checks.check("hidden files don't count", found == (0, "", ""), str(found))


def test(t):
    for ranks in (1, 2):
        t.same_samples(ranks)
        t.same_documents(ranks)
    t.counts()
    t.document_messages()
    t.many_files()
    t.messages()


if __name__ == "__main__":
    test_in_folder(Data, test)
