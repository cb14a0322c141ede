"""What one GPU can show of several ranks: NCCL with one rank, ranks that share the GPU, its rates, and how jobs end.

bench/gpu.py --ranks calls these. In 8 minutes on a GPU: 90 s of them measure its rates.
"""
import json
import os
import re
import signal
import statistics
import subprocess
import time

import gpu_tiny
from gpu_jobs import MODELS, WARM_UP, build_job, build_probe, print_row, train
from measure import Failure, run

PREDICTED = ("gpt2_small", "bert_large", "resnet50")
# Kinds of programs: their ranks, and how they are compiled.
SHARED = {"of_2": (2, ["--plan-preset", "fsdp"]), "of_4": (4, [])}
SLOW = gpu_tiny.ROOT / "tests/e2e/slow.json"
NCCL_SIZES = (1 << 12, 1 << 26)
TIMEOUT, LONGEST = 5, 60
SECONDS = {"s": 1, "ms": 1e-3, "us": 1e-6}


def names_of(options):
    """The models that ranks share the GPU for, which are tiny, and those whose steps are predicted."""
    names = options.names or [*gpu_tiny.NAMES, *PREDICTED]
    return [n for n in names if n in gpu_tiny.NAMES], [n for n in names if n in MODELS]


def build(options, folder):
    tiny, predicted = names_of(options)
    build_probe(options, folder)
    kinds = {kind: ["--ranks", ranks, "--cluster", SLOW, *more] for kind, (ranks, more) in SHARED.items()}
    for name in tiny:
        gpu_tiny.build(name, options, folder, kinds)
    for name in predicted:
        build_job(options, MODELS[name](name, folder), folder, 1, "h200x1", "--cc", options.cc)


# ---- NCCL with one rank ----


def check_nccl(folder, options):
    """Calls in graphs and without have the same bits."""
    said, _ = run([folder / "probe", "collectives", *(options.nccl_sizes or NCCL_SIZES), "nccl", 1, 1], timeout=LONGEST)
    rows = [json.loads(line) for line in said.splitlines()[1:]]
    same = sum(x["same_bits"] for x in rows)
    print(f"NCCL on one rank: {same} of {len(rows)} calls have the same bits in a graph and without", flush=True)
    return same == len(rows) > 0


# ---- ranks that share the GPU ----


def check_shared(folder, names):
    """Each model on 2 and 4 ranks against PyTorch."""
    right = True
    print(f"\n{gpu_tiny.HEAD}")
    for name in names:
        for kind, (ranks, _) in SHARED.items():
            title, where = f"{name} x{ranks}", ("--spawn", ranks, "--collectives", "host")
            right = print_row(title, lambda: gpu_tiny.check(folder / name, kind, title, *where)) and right
    return right


# ---- rates and predictions ----


def detect(folder, seconds):
    """Measures the GPU, as shardcc detect does; returns the cluster's file."""
    cluster = folder / "cluster.json"
    cluster.write_text(run([folder / "probe", seconds, 1], timeout=2 * seconds + LONGEST)[0])
    device = json.loads(cluster.read_text())["device"]
    best = max(p["flops"] for p in device["gemm"] if p["type"] == "f32")
    rates = f"{1e-9 * device['bandwidth']:.0f} GB/s of memory, {1e-12 * best:.1f} Tflop/s of f32 products"
    print(f"\ndetect: {rates}, {1e6 * device['launch']:.2f} us of a launch", flush=True)
    return cluster


def predicted_seconds(options, model, cluster):
    """Seconds of a step on one GPU, as shardcc profile simulates it."""
    batch = ["--bind", f"batch={model.batch}"]
    said, _ = run([options.shardcc, "profile", model.onnx, *model.training, *batch, "--target", "cuda", "--cluster", cluster])
    number, unit = re.search(r"^simulated +([\d.]+) (\w+) =", said, re.M).groups()
    return float(number) * SECONDS[unit]


def check_predictions(options, folder, cluster, names):
    right = True
    print(f"\n{'ms of a step':24s} {'measured':>9s} {'predicted':>9s} {'pred/meas':>9s}")
    for name in names:
        right = print_row(name, lambda: predict(options, folder, cluster, name)) and right
    return right


def predict(options, folder, cluster, name):
    model, trainer = MODELS[name](name, folder), folder / f"{name}_1"
    steps, _ = train(trainer, folder / f"{name}_1_data", WARM_UP + options.steps)
    measured, predicted = statistics.median(x["seconds"] for x in steps[WARM_UP:]), predicted_seconds(options, model, cluster)
    return f"{model.title:24s} {1e3 * measured:9.2f} {1e3 * predicted:9.2f} {predicted / measured:9.2f}", True


# ---- ends ----


def check_ends(folder, name):
    """A rank that is killed, and one whose kernel fails: how soon have all ended, and what is said?"""
    right = True
    print(f"\n{'':12s} {'seconds':>9s}  message")
    for title, test in (("killed", lambda: kill(folder / name)), ("failed kernel", lambda: fail(folder))):
        status, seconds, said = test()
        message = next((x for x in said.splitlines() if "error" in x), said[:200])
        is_right = status == 1 and seconds <= TIMEOUT + 3
        print(f"{title:14s} {seconds:7.2f}  {message}{'' if is_right else '  WRONG'}", flush=True)
        right = right and is_right
    return right


def kill(work):
    """Kills rank 1 of 2, which were started by hand, after some steps."""
    log = work / "killed.jsonl"
    log.unlink(missing_ok=True)
    where = ["--size", 2, "--master", f"127.0.0.1:{20000 + os.getpid() % 20000}", "--timeout", TIMEOUT, "--collectives", "host"]
    command = [work / f"{work.name}_of_2", "--data", work / "data", "--quiet", "--steps", 10**6, "--log", log, *where]
    other, first = (start([*command, "--rank", rank]) for rank in (1, 0))
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline and first.poll() is None and (not log.exists() or log.read_text().count('"loss"') < 3):
        time.sleep(0.05)
    begin = time.monotonic()
    other.send_signal(signal.SIGKILL)
    other.wait()
    said = end(first)
    return first.returncode, time.monotonic() - begin, said


def fail(folder):
    """A kernel of rank 1 of 2 writes to no address. The program says when."""
    job = start([folder / "probe", "failure", "host", 2, 2])
    said = end(job)
    ended, failed = time.monotonic(), re.search(r"a kernel fails at ([\d.]+)", said)
    return job.returncode, ended - float(failed[1]) if failed else float("inf"), said.replace(failed[0] if failed else "", "")


def start(command):
    return subprocess.Popen([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end(job):
    """What it says. It is killed if it doesn't end."""
    try:
        return job.communicate(timeout=LONGEST)[0]
    except subprocess.TimeoutExpired:
        job.kill()
        return job.communicate()[0]


# ---- the whole ----


def check(options, folder):
    """Prints the tables; returns whether all is right."""
    tiny, predicted = names_of(options)
    right = attempt_all("NCCL on one rank", lambda: check_nccl(folder, options))
    if tiny:
        right = check_shared(folder, tiny) and right
        right = check_ends(folder, tiny[0]) and right
    cluster = folder / "cluster.json"
    right = attempt_all("detect", lambda: detect(folder, options.seconds)) and right
    if predicted and cluster.exists():
        right = check_predictions(options, folder, cluster, predicted) and right
    return right


def attempt_all(title, work):
    try:
        return bool(work())
    except (Failure, OSError) as e:
        print(f"{title}: {e}", flush=True)
        return False
