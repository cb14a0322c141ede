#!/usr/bin/env python3
"""Programs of several GPUs on the tests' GPU (tests/cuda): one rank's gradients and curves but for the order of sums, the same
bits in a second run, and with and without graphs.

  cuda_ranks_test.py --shardcc build/shardcc [--all] [NAME ...]

Models are sharded over 2, 4 and 8 ranks by the search and by presets; with --all, all models in all of these ways. With slow
links exchanges overlap computation. Ranks exchange by NCCL (its double), each with a GPU of its own, and through memory of the host, sharing one. And every collective
on several meshes, in both ways, if no model is named or `collectives` is.
"""
import os
import re
import signal
import subprocess
import time
from functools import partial


from equal_test import DYNAMIC, SLOW, SLOW_LINK, check_bytes, compare, is_same, ranks_of
from harness import run
from model import QUICK_CC, Model, curves_of, for_models, gpu_toolkit, options_with_all

SEARCHED = [(mesh, None) for mesh in ("2", "2x2", "4", "8")]
KNOWN = [(mesh, preset) for mesh in ("2", "4") for preset in ("ddp", "zero1", "fsdp", "megatron")] + [("2x2", "2d")]
SOME = [("2", None), ("2", "fsdp"), ("2", "megatron")]
SAMPLE = {"cnn": SOME, "gpt2": SOME, "mlp": SOME[:1]}
TIMEOUT = 3
MESHES, ALL_MESHES = ("3",), ("2", "3", "2x2", "4", "2x3")
LATE = {"CUDART_ORDER": "1", "CUDART_LAZY": "1"}
FREEZES = {"CUDART_FREEZES": "1"}  # nothing is allocated once a step is repeated
EXCHANGES = {"nccl": {"CUDART_DEVICES": "16", **FREEZES}, "host": {"CUDART_DEVICES": "1", **FREEZES}}


def train(model, trainer, ranks, tag, *more, env=None):
    """Trains; returns the losses, the gradients of the first step, and the weights at the end."""
    gradients, weights = model.work / f"gradients_{tag}", model.work / f"weights_{tag}"
    spawn = ["--spawn", ranks] if ranks > 1 else []
    losses = model.train(trainer, None, "--save-gradients", gradients, "--save", weights, *spawn, *more, env=env)
    return losses, gradients, weights


def plan_of(model, tag, mesh, preset, cluster, micro):
    """The file of a plan; None: the preset doesn't apply."""
    path = model.work / f"{tag}.plan.json"
    spread = ["--ranks", ranks_of(mesh), "--mesh", mesh, *(["--plan-preset", preset] if preset else [])]
    try:
        run(model.shardcc, "plan", model.onnx, *model.arguments(curves_of(model.info)["adamw"]), *micro, *spread, "--cluster", cluster,
            "--target", "cuda", "-o", path)
    except RuntimeError as e:
        if f"preset '{preset}'" not in str(e):
            raise
        return None
    return path


def test(checks, model, ways, accumulate, everything):
    """Profiles the host's exchanges only if `everything` is asked for."""
    micro = ["--accumulate", accumulate]
    alone = train(model, model.compile("alone", None, *micro), 1, "alone")
    for k, (mesh, preset) in enumerate([*ways, ("2", "slow link")]):
        tag, ranks, name = f"way_{k}", ranks_of(mesh), f"{model.name} on {mesh}{' as ' + preset if preset else ''}"
        is_slow = preset == "slow link"
        cluster = SLOW_LINK if is_slow else SLOW
        plan = plan_of(model, tag, mesh, None if is_slow else preset, cluster, micro)
        if not plan:
            continue
        trainer = model.compile(tag, None, *micro, "--cluster", cluster, "--plan", plan)
        for by, env in EXCHANGES.items():
            first = train(model, trainer, ranks, tag, "--collectives", by, env=env)
            compare(checks, f"{name}, {by}", first, alone, model.info)
            checks.check(f"{name}, {by}: says nothing", not model.printed, model.printed)
            late = train(model, trainer, ranks, "again", "--collectives", by, env={**env, **LATE})
            checks.check(f"{name}, {by}: same bits late, in another order", is_same(first, late))
            if by == "host" and not everything:
                continue
            again = train(model, trainer, ranks, "again", "--collectives", by, "--profile", env=env)
            checks.check(f"{name}, {by}: same bits without graphs", is_same(first, again))
            check_bytes(checks, f"{name}, {by}", model.printed, plan)
    if model.name == "mlp":
        test_faults(checks, model)
        test_check(checks, model)


def pair(trainer, data, *options, of_second=None, meanwhile=lambda second: None):
    """Runs two ranks that were started by hand; returns the status of the first one, what both print, and its seconds."""
    env, begin = {**os.environ, "CUDART_DEVICES": "2"}, time.monotonic()
    where = ["--size", "2", "--master", f"127.0.0.1:{20000 + os.getpid() % 20000}", "--timeout", str(TIMEOUT)]
    command = [trainer, "--data", data, "--quiet", *where, *options]
    start = partial(subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    second = start([*map(str, command), "--rank", "1"], env={**env, **(of_second or {})})
    first = start([*map(str, command), "--rank", "0"], env=env)
    meanwhile(second)
    said = first.communicate(timeout=60)[0]
    seconds = time.monotonic() - begin
    second.kill()
    return first.returncode, said + second.communicate()[0], seconds


def test_faults(checks, model):
    """A rank without a GPU, one that is killed, one that stops: one message with its name, soon."""
    trainer, data, forever = model.work / f"{model.name}_way_0", model.work / "data", ["--steps", "1000000"]

    def after_start(number):
        def send(process):
            time.sleep(2)
            process.send_signal(number)
            if number == signal.SIGKILL:
                process.wait()  # as launchers do

        return send

    status, said, _ = pair(trainer, data, "--steps", "2", of_second={"CUDART_DEVICES": "0"})
    checks.check(f"{model.name}: a rank without a GPU", status == 1 and "error: there is no GPU\n  on rank 1 of 2" in said, said)
    for by in EXCHANGES:
        status, said, seconds = pair(trainer, data, *forever, "--collectives", by, meanwhile=after_start(signal.SIGKILL))
        fine = status == 1 and said.count("error: ") == 1 and "rank 1 is gone" in said and seconds < 2 + TIMEOUT + 5
        checks.check(f"{model.name}, {by}: a rank is killed", fine, f"{seconds:.1f} s {said}")
        status, said, seconds = pair(trainer, data, *forever, "--collectives", by, meanwhile=after_start(signal.SIGSTOP))
        fine = status == 1 and said.count("error: ") == 1 and ": rank 1 " in said and seconds < 2 + TIMEOUT + 5
        checks.check(f"{model.name}, {by}: a rank stops", fine, f"{seconds:.1f} s {said}")
    for own, wanted in ({}, "=lo"), ({"NCCL_SOCKET_IFNAME": "eth7"}, "eth7"):
        env = {"CUDART_DEVICES": "2", "NCCL_DOUBLE_SOCKET_IFNAME": wanted, **own}
        run(trainer, "--data", data, "--steps", "1", "--spawn", "2", "--interface", "lo", "--collectives", "nccl", env={**os.environ, **env})
        checks.check(f"{model.name}: NCCL gets the interface {wanted}", True)
    status, said, _ = pair(trainer, data, "--steps", "2", "--collectives", "nccl", "--device", "1")
    checks.check(f"{model.name}: two ranks with one GPU", status == 1 and "error: --collectives nccl: ranks 0 and 1 have the same GPU" in said, said)


def test_check(checks, model):
    """shardcc check says which GPUs, driver and NCCL the program finds, and what is wrong with them."""
    trainer = model.work / f"{model.name}_way_0"
    for devices, options, text in (
        ("2", [], None),
        ("1", [], f"2 ranks of '{trainer}' need a device each, and find 1; --collectives host lets them share"),
        ("1", ["--collectives", "host"], None),
        ("0", [], f"'{trainer}' finds no device there: 0, no GPU, driver: CUDA 13.0"),
    ):
        words = [*map(str, (model.shardcc, "check", "--", trainer, *options))]
        done = subprocess.run(words, env={**os.environ, "CUDART_DEVICES": devices}, capture_output=True, text=True)
        said = done.stderr.partition(": error: ")[2].rstrip() or None
        head, row = (re.split("  +", x) for x in done.stdout.splitlines()[1:])
        found = [row[-3:-1], head[-3:]]
        expected = [["0, no GPU" if devices == "0" else f"{devices}, tests' GPU", "CUDA 13.0"], ["devices", "driver", "exchanges"]]
        fine = found == expected and re.fullmatch(r"NCCL 2\.[0-9]+\.[0-9]+", row[-1])
        checks.check(f"check: {devices} GPUs {' '.join(options)}", fine and (done.returncode, said) == (text is not None, text), done.stdout + done.stderr)


def test_collectives(checks, program, mesh, by, *more):
    """Calls are carried out late, in another order."""
    env = {**os.environ, **LATE, **EXCHANGES[by]}
    done = subprocess.run([program, mesh, by, *more], env=env, capture_output=True, text=True, timeout=1200)
    for line in done.stdout.splitlines():
        if "ok - " in line:
            checks.check(f"{line.split('ok - ')[1]}, {by}", line.startswith("ok"), done.stdout[:600] * line.startswith("not"))
    fine = done.returncode == 0 and "bits " in done.stdout
    checks.check(f"collectives on {mesh}, {by}: they end well", fine, (done.stdout + done.stderr)[:1000] * (not fine))


def main():
    options = options_with_all(__doc__, [*SAMPLE, "collectives"])
    toolkit = gpu_toolkit(options)

    def one(checks, path, work):
        dynamic = DYNAMIC / path.name
        ways = SEARCHED + KNOWN if options.all else SAMPLE.get(path.stem, SOME)
        model = Model(dynamic if dynamic.exists() else path, options.shardcc, work, path.with_suffix(".npz"), QUICK_CC, toolkit)
        test(checks, model, ways, 2 if dynamic.exists() else 1, options.all)

    def collectives(checks):
        if options.names and "collectives" not in options.names:
            return
        for mesh in ALL_MESHES if options.all else MESHES:
            for by in EXCHANGES:
                test_collectives(checks, toolkit.parent / "exchange", mesh, by, *(["large"] if options.all else []))

    for_models(options, one, collectives)


if __name__ == "__main__":
    main()
