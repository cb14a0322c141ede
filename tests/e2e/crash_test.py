#!/usr/bin/env python3
"""Runs that are killed at random moments, checkpoints that are spoiled at random offsets, and full disks: each run goes on
with the bits of one that was never disturbed, or refuses what is spoiled by name.

  crash_test.py --shardcc build/shardcc [--all] [--part NAME ...] [--seed N]

--all: 300 kills, 1,000 bits, 200 cuts, soaks of 2,000 steps on one and two ranks. It takes ten minutes; --part takes one part of it.
"""
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from checkpoint_test import ENV, FILES, Trainer, lines, step
from harness import Checks, side_by_side
from model import QUICK_CC, Model, parser
from run_test import children, is_program

SECONDS = 600  # that a run may take at most, on a machine that does other things too

# Parts, and how much of each: in the suite, with --all.
PARTS = {"kills1": (3, 200), "kills2": (2, 100), "bits": (10, 1000), "cuts": (4, 200), "longer": (2, 40), "soak1": (60, 2000),
         "soak2": (40, 2000), "disk": (3, 80), "moments": (1, 12)}  # fmt: skip


def files_of(folder):
    return {str(x.relative_to(folder)): x.read_bytes() for x in sorted(folder.rglob("*")) if x.is_file() and x.name != "LOCK"}


class Run:
    """A command line of a trainer in a folder of checkpoints, with a log next to it."""

    def __init__(self, trainer, name, steps, *options):
        self.trainer, self.folder, self.given = trainer, trainer.folder(name), (steps, *options)
        self.log = self.folder.with_suffix(".jsonl")
        self.log.unlink(missing_ok=True)
        self.options = ["--steps", steps, "--epochs", 1 << 30, "--checkpoint", self.folder, "--log", self.log, *options]

    def start(self):
        return self.trainer.start(*self.options, "--resume", env=quiet_mpi(self.trainer.work))

    def end(self):
        """Runs it to its end: the exit status, and what it said."""
        return self.trainer.run(*self.options, "--resume", seconds=SECONDS)

    def last_step(self):
        """The step of the last whole line of the log."""
        try:
            with self.log.open("rb") as f:
                f.seek(max(0, f.seek(0, os.SEEK_END) - 4096))
                whole = f.read().split(b"\n")[:-1]
            return int(whole[-1].split()[1].strip(b",")) if whole else 0
        except (OSError, ValueError, IndexError):
            return 0

    def difference(self, good):
        """What differs from an undisturbed run; None: nothing."""
        if lines(self.log) != lines(good.log):
            return "another log"
        own, others = files_of(self.folder), files_of(good.folder)
        differ = [x for x in own.keys() | others.keys() if x not in own or own.get(x) != others.get(x)]
        # A manifest has the length of the log, whose times have more or fewer digits.
        differ = [x for x in differ if not x.endswith("MANIFEST") or own.keys() != others.keys()]
        return f"other files: {sorted(differ)}" if differ else None


def quiet_mpi(work):
    """Open MPI's files, which killed ranks leave, are in the test's folder."""
    work = str(work)
    return {**ENV, "TMPDIR": work, "OMPI_MCA_btl_vader_backing_directory": work, "OMPI_MCA_osc_sm_backing_directory": work,
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip


def wait_until(is_true, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.001)


def is_free(folder):
    """Does no rank of a killed run still use the folder?"""
    if not (folder / "LOCK").exists():
        return True
    with (folder / "LOCK").open() as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False


def ranks_of(run, process):
    return [x for x in [process.pid, *children(process.pid)] if is_program(x, run.trainer.program.name)]


def end_of(run, process):
    """Waits for the end. mpirun may wait for itself then, without a rank (in PMIx_server_finalize): it is killed."""
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        if not ranks_of(run, process):
            process.kill()
        process.communicate(timeout=SECONDS)


def kill_any(run, process, dice):
    """Kills a rank, or what has started the ranks. False: it had ended."""
    if process.poll() is not None:
        return False
    ranks = ranks_of(run, process)
    victim = dice.choice([process.pid, *ranks])
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        pass
    end_of(run, process)
    wait_until(lambda: not any(is_program(x, run.trainer.program.name) for x in ranks) and is_free(run.folder))
    return True


# ---- kills ----


def ways(trainer, count):
    """Ways to write checkpoints, by name; of few kills all have one."""
    best = {"best": ["--eval-data", trainer.data, "--eval-every", 5, "--keep-best"]}
    return best if count < 10 else {"beside": [], "place": ["--checkpoint-in-place"], **best}


def test_kill(trainer, goods, seed):
    """Kills a run once or twice and lets it go on. Returns the kills, and what is wrong then; None: nothing."""
    dice, kills = random.Random(seed), 0
    name = dice.choice(list(goods))
    good, seconds = goods[name]
    run = Run(trainer, f"{name}{seed}", *good.given)
    for _ in range(dice.choice((1, 1, 2))):
        process = run.start()
        time.sleep(dice.uniform(0, 1.1 * seconds))
        kills += kill_any(run, process, dice)
        process.communicate()
    ended = run.end()
    wrong = f"ended: {ended}" if ended != (0, "") else run.difference(good)
    shutil.rmtree(run.folder)
    return kills, wrong and f"{name} {seed}: {wrong}"


def test_kills(checks, trainer, count, seed, jobs):
    steps, goods, kills, wrong = 60, {}, 0, []
    for name, options in ways(trainer, count).items():
        good = Run(trainer, f"{name}_good", steps, "--checkpoint-every", 3, *options)
        begin = time.monotonic()
        ended = good.end()
        goods[name] = good, time.monotonic() - begin
        checks.check(f"{trainer.ranks} ranks: an undisturbed run, {name}", ended == (0, ""), str(ended))
    while kills < count and not wrong:
        some = range(seed, seed + min(40, count - kills))
        seed += len(some)
        for n, x in side_by_side(jobs, *(partial(test_kill, trainer, goods, i) for i in some)):
            kills += n
            wrong += [x] if x else []
    checks.check(f"{trainer.ranks} ranks: kills at random moments", kills >= count and not wrong, f"{kills} kills; {wrong[:4]}")


# ---- spoiled files ----


def spoil(path, how, dice):
    """Changes the file; returns what was done."""
    data = bytearray(path.read_bytes())
    if how == "bits":
        at = dice.randrange(8 * len(data))
        data[at // 8] ^= 1 << at % 8
    elif how == "cuts":
        at = dice.choice((0, len(data) - 1, *(dice.randrange(len(data)) for _ in range(8))))
        del data[at:]
    else:
        at = dice.choice((1, 8, 4096, dice.randrange(1, 10000)))
        data += bytes(at) if dice.random() < 0.5 else dice.randbytes(at)
    path.write_bytes(data)
    return f"{path.parent.name}/{path.name}: {how} {at}"


def test_spoiled(trainer, good, how, seed):
    """Spoils a file of the last checkpoint, and now and then one of that before; what is wrong then, None: nothing."""
    dice = random.Random(seed)
    folder = trainer.folder(f"{how}{seed}")
    shutil.copytree(good.folder, folder)
    last = step(folder, 4) / dice.choice((*FILES, "MANIFEST"))
    what = spoil(last, how, dice)
    before = step(folder, 2) / dice.choice((*FILES, "MANIFEST")) if dice.random() < 0.1 else None
    what += "; " + spoil(before, how, dice) if before else ""
    status, said = trainer.run("--steps", 4, "--checkpoint", folder, "--resume")
    told = said.splitlines()
    warned = [f"warning: {x}: " for x in (last, before) if x]
    named = all(x.startswith(y) and x.endswith("; the checkpoint before is taken") for x, y in zip(told, warned))
    if before:
        end = [f"error: --resume: no checkpoint in '{folder}' is whole"]
        fine = status == 1 and told[2:] == end
    else:
        made = all((step(folder, 4) / x).read_bytes() == (step(good.folder, 4) / x).read_bytes() for x in FILES)
        fine = status == 0 and len(told) == 1 and made
    shutil.rmtree(folder)
    return None if fine and named else f"{what}: {status} {said}"


def test_damage(checks, trainers, how, count, seed, jobs):
    """Mostly on one rank; each tenth on two."""
    goods = [Run(t, "spoiled_good", 4, "--checkpoint-every", 2) for t in trainers]
    ran = [x.end() for x in goods]
    tests = [partial(test_spoiled, trainers[i % 10 == 9], goods[i % 10 == 9], how, seed + i) for i in range(count)]
    wrong = [x for x in side_by_side(jobs, *tests) if x]
    checks.check(f"{how}: {count} files", all(x == (0, "") for x in ran) and not wrong, f"{ran} {wrong[:4]}")


# ---- soak ----


def soak_alone(run, until, dice):
    """Kills it every 20 to 60 steps and starts it again, until that step. Returns the kills."""
    kills, at = 0, 0
    while at < until:
        process = run.start()
        target = min(at + dice.randint(20, 60), until)
        wait_until(lambda: run.last_step() >= target or process.poll() is not None)
        at = run.last_step()
        if not kill_any(run, process, dice):
            return kills  # it should not end by itself
        kills += 1
    return kills


def soak_under_run(run, most_kills, dice):
    """shardcc run starts it again by itself. Returns the kills and the exit status."""
    kills, at = 0, 0
    args = [run.trainer.model.shardcc, "run", "--max-restarts", 20, "--", run.trainer.program, "--data", run.trainer.data, "--quiet"]
    process = subprocess.Popen([str(x) for x in (*args, *run.options)], cwd=run.trainer.work, env=quiet_mpi(run.trainer.work),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    while kills < most_kills and process.poll() is None:
        lock = (run.folder / "LOCK").read_bytes()
        target = run.last_step() + dice.randint(20, 60)
        wait_until(lambda: run.last_step() >= target or process.poll() is not None)
        ranks = ranks_of(run, process)
        if not ranks:
            continue
        os.kill(dice.choice(ranks), signal.SIGKILL)
        kills += 1
        # The next start has written its process into the lock file.
        wait_until(lambda: (run.folder / "LOCK").read_bytes() != lock or process.poll() is not None)
    return kills, process.wait(timeout=SECONDS)


def test_soak(checks, trainer, steps, kills_under_run, seed):
    dice = random.Random(seed)
    options = [steps, "--checkpoint-every", 10, "--eval-data", trainer.data, "--eval-every", 50]
    good, run = Run(trainer, "undisturbed", *options), Run(trainer, "soak", *options)
    ended = good.end()
    alone = steps - 150 * kills_under_run
    kills = soak_alone(run, alone, dice)
    more, status = soak_under_run(run, kills_under_run, dice) if kills_under_run else (0, run.end()[0])
    found = run.difference(good)
    least = alone // 60 + kills_under_run
    checks.check(f"soak: {steps} steps on {trainer.ranks} ranks: the bits and the log of an undisturbed run",
                 ended == (0, "") and status == 0 and kills + more >= least and not found,
                 f"{kills} kills, and {more} under shardcc run; {ended} {status} {found or ''}")  # fmt: skip


# ---- a full disk ----

PAGE = 4096
DISK_PAGES = 512
FEW_PAGES = (0, 1, 23)  # too few bytes for the lock; the log; a manifest


def fill(disk, pages_left):
    """Leaves at most so many pages on the disk."""
    free = os.statvfs(disk)
    with (disk / "filler").open("ab", buffering=0) as f:
        try:
            f.write(bytes(max(0, free.f_bavail * free.f_frsize - PAGE * pages_left)))
        except OSError:
            pass  # the run was faster


def test_pages(checks, trainer, good, disk, pages):
    """A run has those bytes for checkpoints and the log; then there are more."""
    run = Run(trainer, disk / f"pages{pages}", *good.given)
    fill(disk, pages)
    status, said = run.end()
    (disk / "filler").unlink()
    fine = status in (0, 1) and (not said or "No space left on device" in said)
    again = run.end()
    log, whole = lines(run.log), lines(good.log)
    fine_log = log == whole or (status == 1 and log == [x for x in whole if x in log])
    same = all((step(run.folder, 6) / x).read_bytes() == (step(good.folder, 6) / x).read_bytes() for x in FILES)
    checks.check(f"a disk of {pages} pages", fine and again == (0, "") and same and fine_log, f"{status} {said.splitlines()[:2]} {again}")
    shutil.rmtree(run.folder)
    run.log.unlink()
    return said


def test_moment(checks, trainer, good, disk, seed):
    """The disk is full for a while, beginning at a random step: the run goes on with warnings, and saves when it can."""
    dice = random.Random(seed)
    run = Run(trainer, disk / f"moment{seed}", *good.given)
    run.log = trainer.work / f"moment{seed}.jsonl"  # on another disk
    run.options[run.options.index("--log") + 1] = run.log
    process, begin = run.start(), dice.randrange(0, 200)
    wait_until(lambda: run.last_step() >= begin or process.poll() is not None)
    left = dice.randrange(6)

    def is_over():
        fill(disk, left)  # also what old checkpoints have left
        return run.last_step() >= begin + 40 or process.poll() is not None

    wait_until(is_over)
    (disk / "filler").unlink()
    said = process.communicate(timeout=SECONDS)[1].splitlines()
    warned = [x for x in said if "not saved: " in x and x.endswith("No space left on device")]
    if begin == 0 and process.returncode:  # it hadn't begun
        process.returncode, warned = run.end()[0], said
    found = run.difference(good)
    checks.check(f"full from step {begin} on", process.returncode == 0 and warned and warned == said and not found,
                 f"{process.returncode} {len(said)} {said[:2]} {found or ''}")  # fmt: skip
    shutil.rmtree(run.folder)


def test_on_disk(checks, trainer, disk, o):
    """Inside a namespace that has the disk."""
    few, long = [6, "--checkpoint-every", 2], [300, "--checkpoint-every", 3]
    goods = [Run(trainer, f"disk_good{x[0]}", *x) for x in (few, long)]
    checks.check("a disk with space", all(x.end() == (0, "") for x in goods))
    pages = [] if "disk" not in o.part else range(amount(o, "disk")) if o.all else FEW_PAGES
    said = [test_pages(checks, trainer, goods[0], disk, n) for n in pages]
    checks.check("a small disk is noticed, a larger one suffices", not said or (said[0] and (not o.all or not said[-1])))
    for i in range(amount(o, "moments") if "moments" in o.part else 0):
        test_moment(checks, trainer, goods[1], disk, o.seed + i)


def test_disk(checks, o, work):
    """Runs this program again, in a namespace with a small file system, where that may be mounted."""
    disk = work / "disk"
    disk.mkdir()
    mount = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size={PAGE * DISK_PAGES} tmpfs {disk} && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], capture_output=True).returncode:
        checks.check("a full disk", True, "left out: file systems can't be mounted here")
        return
    args = [sys.executable, __file__, "--shardcc", o.shardcc, "--models", o.models, "--seed", o.seed, "--disk", disk]
    args += ["--all"] * o.all + ["--part", *(x for x in o.part if x in ("disk", "moments"))]
    done = subprocess.run([*mount, *map(str, args)], capture_output=True, text=True)
    print(done.stdout, end="")
    checks.check("a full disk", done.returncode == 0, done.stderr[-1000:])


# ---- half a line ----


def test_half_line(checks, trainer):
    """A run that goes on cuts off half a line of the log, also where its checkpoint knows of no log."""
    run = Run(trainer, "half", 4)
    ran = [trainer.run("--steps", 2, "--checkpoint", run.folder)]
    run.log.write_text('{"step": 1}\n{"step": 2}\n{"step": 3, "loss"' + 5000 * " ")
    ran.append(run.end())
    found = [x["step"] for x in lines(run.log)]
    checks.check("half a line is cut off", all(x == (0, "") for x in ran) and found == [1, 2, 3, 4], f"{ran} {found}")


def amount(o, part):
    return PARTS[part][o.all]


def main():
    p = parser(__doc__)
    p.add_argument("--all", action="store_true")
    p.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--disk", type=Path, help="a small disk that is there already")
    o = p.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        model = Model(o.models / "mlp.onnx", o.shardcc, work, cc=QUICK_CC)
        one = Trainer(model, 1)
        if o.disk:
            test_on_disk(checks, one, o.disk, o)
            checks.finish()
        two = Trainer(model, 2)
        test_half_line(checks, one)
        for trainer in one, two:
            if (part := f"kills{trainer.ranks}") in o.part:
                test_kills(checks, trainer, amount(o, part), o.seed, o.jobs)
        for how in "bits", "cuts", "longer":
            if how in o.part:
                test_damage(checks, (one, two), how, amount(o, how), o.seed, o.jobs)
        dropout = Model(o.models / "gpt_dropout.onnx", o.shardcc, work, cc=QUICK_CC)
        for ranks in 1, 2:
            if (part := f"soak{ranks}") in o.part:
                test_soak(checks, Trainer(dropout, ranks), amount(o, part), 3 * o.all, o.seed)
        if "disk" in o.part or "moments" in o.part:
            test_disk(checks, o, work)
    checks.finish()


if __name__ == "__main__":
    main()
