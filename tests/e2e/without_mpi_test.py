#!/usr/bin/env python3
"""A machine without MPI: -DSHARDCC_MPI=OFF compiles all but the transport of MPI, with the same commands; shardcc and programs of
two ranks work without MPI's library, its probe and mpirun.

  without_mpi_test.py --shardcc build/shardcc [--build]

--build: that build is really made, and its shardcc is the one that is tried. It takes minutes.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import Checks, run
from model import QUICK_CC, REPOSITORY, Model, parser

SAID = "shardcc: without MPI (Debian: libopenmpi-dev), ranks talk by tcp (--transport tcp)"
OF_MPI = re.compile("mpi|orte|oshmem|opal", re.I)


def settings_of(build):
    """How it was configured."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))
    names = ("CMAKE_C_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_C_FLAGS", "CMAKE_BUILD_TYPE", "SHARDCC_MARCH")
    return [f"-D{name}={cache[name]}" for name in names if cache.get(name)]


def commands_of(build):
    """The compiler's command for each object of the product, without the build's folder."""
    found = {}
    for x in json.loads((build / "compile_commands.json").read_text()):
        if Path(x["directory"]).relative_to(build).parts[0] not in ("tests", "bench"):
            text = x["command"].replace(str(build), "BUILD")
            found[re.search(r" -o (\S+)", text)[1], x["file"].replace(str(build), "BUILD")] = text
    return found


def tools_without_mpi(folder):
    """A PATH of what the system has, but MPI."""
    folder.mkdir()
    for path in ("/usr/local/bin", "/usr/bin", "/bin"):
        for tool in Path(path).iterdir() if Path(path).is_dir() else ():
            if not OF_MPI.search(tool.name) and not (folder / tool.name).exists():
                (folder / tool.name).symlink_to(tool)
    return str(folder)


def copy_without_mpi(build, folder):
    """The product of a build as one without MPI has it."""
    folder.mkdir()
    for path in build.glob("shardcc*"):
        shutil.copy2(path, folder)
    shutil.copytree(build / "rt", folder / "rt", ignore=lambda _, names: [x for x in names if OF_MPI.search(Path(x).stem.replace("libshardrt_", "").replace("probe-", ""))])
    return folder / "shardcc"


def test_commands(checks, build, own):
    """The same objects: so what the suite says of this build holds for the other one."""
    own_commands, commands = commands_of(own), commands_of(build)
    changed = sorted(str(x) for x, command in own_commands.items() if commands.get(x) != command)
    checks.check("each object is compiled as with MPI", len(own_commands) > 200 and not changed, " ".join(changed[:5]))
    more = [x for x, _ in commands if x not in {y for y, _ in own_commands}]
    checks.check("only MPI's transport and probe are left out", more and all("mpi" in x for x in more), " ".join(more))
    named = [x for x, command in own_commands.items() if re.search(r"-I\S*mpi|-isystem \S*mpi", command)]
    checks.check("no command has MPI's headers", not named, str(named[:3]))


def test_ranks(checks, shardcc, models, work):
    env = {**os.environ, "PATH": tools_without_mpi(work / "tools")}
    checks.check("mpirun isn't there", not shutil.which("mpirun", path=env["PATH"]))
    model = Model(models / "mlp.onnx", shardcc, work, cc=QUICK_CC)
    words = [shardcc, model.onnx, "--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd", "--ranks", 2, "--cc", QUICK_CC]
    trainer, data = work / "two", model.data()
    said = run(*words, "-o", trainer, env=env).splitlines()
    checks.check("ranks talk by TCP, which is said", SAID in said, str(said))
    weights = []
    for name, launch, more in (("spawn", [], ["--spawn", 2]), ("run", [shardcc, "run", "--"], [])):
        run(*launch, trainer, "--data", data, "--steps", 2, "--quiet", "--save", work / name, *more, env=env)
        weights.append((work / name).read_bytes())
    checks.check("shardcc run starts them", weights[0] == weights[1])
    said = run(shardcc, "check", "--", trainer, env=env, cwd=work)
    checks.check("shardcc check looks at this host", said.startswith("shardcc "), said)
    done = subprocess.run([*map(str, words), "--transport", "mpi", "-o", str(work / "mpi")], capture_output=True, text=True, env=env)
    checks.check("a program of MPI is refused", done.returncode == 1 and "libshardrt_mpi" in done.stderr, done.stderr)


def main():
    p = parser(__doc__)
    p.add_argument("--build", action="store_true")
    o = p.parse_args()
    checks, own = Checks(), o.shardcc.parent
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        build = work / "build"
        run("cmake", "-S", REPOSITORY, "-B", build, "-DSHARDCC_MPI=OFF", "-DBUILD_TESTING=OFF", *settings_of(own))
        test_commands(checks, own, build)
        if o.build:
            run("cmake", "--build", build, "-j", os.cpu_count(), timeout=3600)
        test_ranks(checks, build / "shardcc" if o.build else copy_without_mpi(own, work / "copy"), o.models, work)
    checks.finish()


if __name__ == "__main__":
    main()
