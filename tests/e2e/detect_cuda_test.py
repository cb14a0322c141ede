#!/usr/bin/env python3
"""shardcc detect of GPUs, on the tests' GPU (tests/cuda): a file with all rates and links, which plans are made with; and what it says
when something is wrong.

  detect_cuda_test.py --shardcc build/shardcc
"""
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from harness import Checks
from model import gpu_toolkit, parser

RATES = ["memory", "bandwidth", "reading", "launch", "vector", "attention", "attention_grad", "half_attention", "half_attention_grad"]
# A compiler whose result is kept, so that each compiles once.
ONCE = """#!/bin/sh
out=$(echo "$*" | sed 's/.* -o \\([^ ]*\\).*/\\1/')
[ -f {kept} ] || {compiler} "$@" || exit 1
[ -f {kept} ] || cp "$out" {kept}
cp {kept} "$out"
"""

# Options, environment, exit status, message.
WRONG = [
    (["--spawn", "3"], {}, 2, "--spawn: 3; links of GPUs are measured among 2, 4, 8 or 16 ranks"),
    (["--build", "p", "--spawn", "2"], {}, 2, "--build and --spawn: one at a time"),
    (["--build", "p", "-o", "c.json"], {}, 2, "--build and -o: one at a time"),
    (["--build", "/nowhere/p"], {}, 1, "cannot write into '/nowhere': No such file or directory"),
    (["--build", "/tmp"], {}, 1, "cannot write '/tmp': it is a folder"),
    (["--spawn", "32"], {}, 2, "--spawn: 32; links of GPUs are measured among 2, 4, 8 or 16 ranks"),
    (["--threads", "2"], {}, 2, "--threads needs --target cpu"),
    (["--seconds", "0"], {}, 2, "--seconds: '0' is not a whole number from 1 to 3600"),
    (["--gpu", "h100"], {}, 2, "--gpu: 'h100' is not a list of GPUs as sm_80,sm_90"),
    (["--cuda", "/nowhere"], {}, 1, "--cuda: '/nowhere' has no bin/nvcc that can be run"),
    (["--cuda", "FAILS"], {}, 1, "the CUDA compiler 'FAILS/bin/nvcc' failed, so nothing was written"),
    (["--cc", "false"], {}, 1, "the C compiler 'false' failed, so nothing was written"),
    (["-o", "/nowhere/c.json"], {}, 1, "cannot write '/nowhere/c.json': No such file or directory"),
    ([], {"TMPDIR": "/nowhere"}, 1, "cannot write into '/nowhere': No such file or directory"),
    ([], {"CUDART_DEVICES": "0"}, 1, "there is no GPU"),
    ([], {"CUDART_DRIVER": "0"}, 1, "there is no CUDA driver; the program needs one for CUDA 13.0 or newer"),
    ([], {"CUDART_FOREIGN": "1"}, 1, "tests' GPU is sm_90, the program is for sm_80,sm_90"),
    ([], {"CUDART_LAUNCHES": "9"}, 1, "unspecified launch failure (cudaErrorLaunchFailure)"),
    (["--spawn", "2"], {"CUDART_DEVICES": "0"}, 1, "there is no GPU"),
]


class Detect:
    def __init__(self, shardcc, toolkit, work):
        self.shardcc, self.work, self.temp = shardcc, work, work / "temp"
        self.temp.mkdir()
        once = ONCE.format(kept=work / "kernels", compiler=toolkit / "bin/nvcc")
        self.kit = self.toolkit_with(work / "kit", toolkit, once)
        self.toolkit_with(work / "fails", toolkit, "#!/bin/sh\nexit 1\n")
        self.cc = work / "cc"
        self.cc.write_text(ONCE.format(kept=work / "program", compiler="cc"))
        self.cc.chmod(0o755)

    def toolkit_with(self, folder, toolkit, nvcc):
        """A toolkit with another nvcc."""
        (folder / "bin").mkdir(parents=True)
        for name in ("include", "lib"):
            (folder / name).symlink_to(toolkit / name)
        (folder / "bin/nvcc").write_text(nvcc)
        (folder / "bin/nvcc").chmod(0o755)
        return folder

    def command(self, *more):
        command = [self.shardcc, "detect", "--target", "cuda", "--cuda", self.kit, "--cc", self.cc, *more]
        return [str(a).replace("FAILS", str(self.work / "fails")) for a in command]

    def env(self, **more):
        return {**os.environ, "TMPDIR": str(self.temp), **more}

    def run(self, *more, env=()):
        return subprocess.run(self.command(*more), cwd=self.work, capture_output=True, text=True, env=self.env(**dict(env)))

    def is_clean(self):
        return not os.listdir(self.temp)


def check_rates(checks, name, cluster):
    device = cluster["device"]
    checks.check(f"{name}: a GPU's rates", device["is_gpu"] is True and all(0 < device[r] < 1e15 for r in RATES), str(device))
    products = device["gemm"]
    checks.check(f"{name}: products", products and all(0 < p["flops"] < 1e15 for p in products))
    kinds = {(p["type"], p["batch"] > 1) for p in products}
    wanted = {(t, b) for t in ("f32", "f64", "bf16") for b in (False, True)} | {("f16", False)}
    checks.check(f"{name}: of all types, batched too", kinds == wanted, str(kinds))
    one = [p for p in products if p["type"] == "f32" and p["batch"] == 1]
    shapes = {max("mnk", key=lambda d: p[d]) for p in one if len({p[d] for d in "mnk"}) > 1}
    checks.check(f"{name}: tall, flat and deep ones", shapes == set("mnk"), str(shapes))


def test_one(checks, detect):
    done = detect.run("--seconds", "2", "-o", "one.json")
    if not checks.check("one GPU", done.returncode == 0 and not done.stderr, done.stderr):
        return
    cluster = json.loads((detect.work / "one.json").read_text())
    check_rates(checks, "one GPU", cluster)
    checks.check("one GPU: no links", cluster["links"] == [] and cluster["devices_per_host"] == 1)
    checks.check("one GPU: nothing is left", detect.is_clean())


def test_two(checks, detect, model, by, devices):
    """On two GPUs NCCL is measured; ranks that share a GPU exchange through memory of the host."""
    path = detect.work / f"{by}.json"
    env = {"CUDART_DEVICES": devices, "CUDART_MEMORY": str(16 << 30)}
    done = detect.run("--seconds", "1", "--spawn", "2", "-o", path, env=env)
    if not checks.check(f"{by}", done.returncode == 0 and not done.stderr, done.stderr):
        return
    cluster = json.loads(path.read_text())
    check_rates(checks, by, cluster)
    links = cluster["links"]
    checks.check(f"{by}: a link", [x["devices"] for x in links] == [2] and cluster["devices_per_host"] == 2, str(links))
    checks.check(f"{by}: its times", all(0 < x["alpha"] < 1 and 0 < x["beta"] < 1e-3 for x in links), str(links))
    plan = subprocess.run(
        [detect.shardcc, "plan", model, "--cluster", path, "-o", detect.work / "plan.json", *OPTIONS], capture_output=True, text=True
    )
    checks.check(f"{by}: a plan is made", plan.returncode == 0, plan.stderr)
    plan = json.loads((detect.work / "plan.json").read_text())
    checks.check(f"{by}: for GPUs", "cuda" in json.dumps(plan), str(plan)[:200])


OPTIONS = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd(lr=0.1)"]


def test_wrong(checks, detect):
    for more, env, status, message in WRONG:
        output = [] if "--build" in more else ["-o", "wrong.json"]
        done = detect.run(*output, "--seconds", "1", *more, env=env)
        name = " ".join([*more, *(f"{k}={v}" for k, v in env.items())])
        message = message.replace("FAILS", str(detect.work / "fails"))
        checks.check(name, done.returncode == status and message in done.stderr, f"{done.returncode}: {done.stderr}")
        is_clean = detect.is_clean() and not any(detect.work.glob("wrong.json*"))
        checks.check(f"{name}: nothing is left", is_clean, str(os.listdir(detect.temp)))
    done = subprocess.run([detect.shardcc, "detect", "--cuda", "/usr"], capture_output=True, text=True)
    checks.check("--cuda of CPUs", done.returncode == 2 and "--cuda needs --target cuda" in done.stderr, done.stderr)


def children(process):
    """The processes that a process has started, and theirs."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return found + [c for child in found for c in children(child)]


def name_of(process):
    path = Path(f"/proc/{process}/comm")
    return path.read_text().strip() if path.exists() else ""


def test_stopped(checks, detect):
    """A signal ends the program that measures, and its folder goes."""
    run = subprocess.Popen(detect.command("--seconds", "600", "-o", "stopped.json"), cwd=detect.work, env=detect.env(), stderr=subprocess.PIPE)
    begin = time.monotonic()
    begun = []
    while time.monotonic() - begin < 60 and "probe" not in map(name_of, begun):
        time.sleep(0.1)
        begun = children(run.pid)
    run.send_signal(signal.SIGTERM)
    ended = run.wait(timeout=60)
    checks.check("stopped: by the signal", begun and ended == -signal.SIGTERM, f"{begun} {ended}")
    checks.check("stopped: no process is left", not any(Path(f"/proc/{p}").exists() for p in begun))
    is_clean = detect.is_clean() and not any(detect.work.glob("stopped.json*"))
    checks.check("stopped: nothing is left", is_clean, str(os.listdir(detect.temp)))


def main():
    options = parser(__doc__).parse_args()
    options.shardcc = options.shardcc.resolve()
    toolkit, checks = gpu_toolkit(options), Checks()
    with tempfile.TemporaryDirectory() as work:
        detect = Detect(options.shardcc, toolkit, Path(work))
        test_one(checks, detect)
        test_two(checks, detect, options.models / "mlp.onnx", "NCCL", "2")
        test_two(checks, detect, options.models / "mlp.onnx", "a GPU for both", "1")
        test_wrong(checks, detect)
        test_stopped(checks, detect)
    checks.finish()


if __name__ == "__main__":
    main()
