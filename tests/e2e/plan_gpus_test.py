#!/usr/bin/env python3
"""Plans for several GPUs: the memory that they leave for exchanges, and sums that NCCL doesn't have.

  plan_gpus_test.py --shardcc build/shardcc
"""
import json
import re
from pathlib import Path

from harness import test_in_folder
from plans import MLP, TRAIN, Planner

SLOW = Path(__file__).with_name("slow.json")  # a cluster on which splitting pays even for tiny models

# A sum of integers of 16 bits.
SUM = """graph "sum" {
  input %x i16[4,6]
  %y i16[6] = reduce_sum(%x) axes=[0]
  output model "y" %y
}
"""
SUM_REFUSED = (
    "sum.ir: error: node 'y' (reduce_scatter): the target cuda computes it with operands of floats, bool, and integers of 8, 32 and 64 bits only\n"
    "  in 0  v2 i16[6]\n"
)


class GpuPlans(Planner):
    def sixteen_bits(self):
        """GPUs don't add parts of integers that NCCL doesn't have."""
        (self.work / "sum.ir").write_text(SUM)
        spread = ["--ranks", "2", "--mesh", "2", "--cluster", "h100x2", "--pin", "x=[x0,-]", "--emit", "program", "-o", "sum.program"]
        self.expect(["sum.ir", "--target", "cuda", *spread], 1, SUM_REFUSED)
        self.checks.check("CPUs do", self.run("sum.ir", *spread).returncode == 0)
        for path in self.work.iterdir():
            path.unlink()

    def exchanges(self):
        """A plan for GPUs leaves memory for communicators, as many as its mesh needs, unless --memory says what the program may take."""
        check, base, each, whole = self.checks.check, 2_000_000, 100_000, 10_000_000

        def cluster(memory, version=3):
            """The file of 8 GPUs."""
            c = json.loads(SLOW.read_text())
            c["version"] = version
            c["device"]["memory"] = memory
            if version > 2:
                c["device"]["exchange_memory"] = {"base": base, "communicator": each}
            path = self.work / f"v{version}.json"
            path.write_text(json.dumps(c))
            return path

        def plan(file, mesh, *options):
            """A plan's memory, what it leaves, its bytes; the messages of one that isn't there."""
            mesh = ["--ranks", "4", *(["--mesh", mesh] if mesh else [])]
            done = self.run("plan", MLP, *TRAIN, *mesh, "--cluster", file, "-o", "p.json", *options)
            p = json.loads((self.work / "p.json").read_text()) if done.returncode == 0 else {}
            return [p[x] for x in ("memory", "bytes")] + [p.get("exchange_memory")] if p else done

        gpus = ["--target", "cuda"]
        left = {"4": base + each, "2x2": base + 3 * each}
        for mesh, bytes_left in left.items():
            memory, _, found = plan(cluster(whole), mesh, *gpus)
            check(f"{mesh}: what is left", (memory, found) == (whole - bytes_left, bytes_left), f"{memory} {found}")
        said = self.run("inspect", "p.json").stdout
        check("inspect shows it", " a rank, which leaves 2.2 MiB for exchanges, for the target cuda\n" in said, said[:600])
        memory, _, found = plan(cluster(whole), None, *gpus)
        axes = json.loads((self.work / "p.json").read_text())["mesh"]
        mesh = "x".join(str(x["size"]) for x in axes)
        check("the best mesh: what is left", (memory, found) == (whole - left[mesh], left[mesh]), f"{mesh} {memory} {found}")
        made = self.run(MLP, "--plan", "p.json", "--emit", "program", "-o", "p.program")
        check("a program of it", made.returncode == 0, made.stderr)
        for file, options in ((cluster(whole), ["--target", "cpu"]), (cluster(whole, 2), gpus), (cluster(whole), [*gpus, "--memory", str(whole)])):
            memory, _, found = plan(file, "2x2", *options)
            check(f"{file.name} {' '.join(options)}: nothing is left", (memory, found) == (whole, None), f"{memory} {found}")
        self.refused(plan, cluster, left["2x2"], gpus)
        for path in self.work.iterdir():
            path.unlink()

    def refused(self, plan, cluster, left, gpus):
        """The least memory with which a plan fits has what is left in it; with a byte less nothing fits, as with a bit more of --memory."""
        said = plan(cluster(left + 1), "2x2", *gpus).stderr
        found = re.search(r"no plan for 4 ranks fits in 1 B a rank: the smallest one found takes (\d+) bytes", said)
        if not self.checks.check("too little memory", found and "\n  2.2 MiB of the device's memory are left for exchanges\n" in said, said):
            return
        least = int(found[1])
        fits = plan(cluster(left + least), "2x2", *gpus)
        self.checks.check("the least memory", fits == [least, least, left], str(fits))
        less = plan(cluster(left + least - 1), "2x2", *gpus)
        self.checks.check("a byte less", not isinstance(less, list) and less.returncode == 4, str(less))
        fits = plan(cluster(left + least - 1), "2x2", *gpus, "--memory", str(least))
        self.checks.check("--memory", fits == [least, least, None], str(fits))


def test(plans):
    plans.sixteen_bits()
    plans.exchanges()


if __name__ == "__main__":
    test_in_folder(GpuPlans, test)
