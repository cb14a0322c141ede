#!/usr/bin/env python3
"""shardcc plan, inspect and diff as a user meets them: files, tables, messages.

  plan_test.py --shardcc build/shardcc

The sums in plans of the tiny models must be right. The tables are those of a plan that is written here.
"""
import json
import re
from pathlib import Path

from harness import test_in_folder
from plans import MLP, TINY, TRAIN, Planner, cheapest

SLOW = Path(__file__).with_name("slow.json")  # a cluster on which splitting pays even for tiny models
SLOW_LINK = Path(__file__).with_name("slow_link.json")  # such a cluster on which overlap pays too

# ---- tables ----

PLAN = {
    "version": 1,
    "model": "two.onnx",
    "model_hash": "0123456789abcdef",
    "cluster": "h100x16",
    "cluster_hash": "00000000000000ff",
    "options": ["--loss", "mse(y, t)", "--optimizer", "adamw"],
    "ranks": 16,
    "memory": 80 << 30,
    "recompute": "min_cut",
    "recompute_solved": "min_cut",
    "mesh": [{"name": "dp", "size": 2, "link": "400 Gbit/s InfiniBand"}, {"name": "tp", "size": 8, "link": "NVLink"}],
    "seconds": 2.31,
    "compute": 2.12,
    "communication": 0.19,
    "bound": 2.26,
    "meshes": 5,
    "excluded": 3,
    "bytes": 61 << 30,
    "fullest": "backward of h.3",
    "holders": [{"kind": "parameters", "bytes": 4 << 30}, {"kind": "activations", "bytes": 57 << 30}, {"kind": "copies", "bytes": 0}],
    "presets": [
        {"name": "ddp", "fits": False, "bytes": 124 << 30},
        {"name": "fsdp", "fits": True, "seconds": 2.96, "bytes": 1 << 30},
        {"name": "megatron", "fits": False, "bytes": 90 << 30},
        {"name": "zero2", "fits": True, "seconds": 2.5, "bytes": 1 << 30},
        {"name": "ddp=2,megatron=8", "fits": True, "seconds": 10, "bytes": 1 << 30},
    ],
    "blocks": [{"name": "h", "layers": 4}],
    "values": [
        {"name": "x", "kind": "input", "type": "f32[64,32]", "spec": "[dp,-]", "solved": "[dp,-]", "bytes": 4096},
        {
            "name": "h.0.w", "kind": "parameter", "type": "f32[32,32]", "block": 1, "spec": "[-,tp]", "solved": "[-,tp]",
            "read": "upd [dp,tp]", "next": "[tp,-]", "next_seconds": 0.0112, "seconds": 0.0005, "bytes": 512,
        },
        {"name": "h.0.b", "kind": "parameter", "type": "f32[32]", "block": 1, "spec": "[tp]", "solved": "[-]", "bytes": 16},
        {"name": "h.0.w.exp_avg", "kind": "state", "type": "f32[32,32]", "block": 1, "spec": "[dp,tp]", "solved": "[dp,tp]", "bytes": 256},
        {"name": "u", "kind": "parameter", "type": "f32[32,8]", "spec": "[-,-]", "solved": "[-,-]", "pin": True, "next": "[tp,-]", "next_seconds": 2e-6, "bytes": 1024},
        {"name": "y", "kind": "activation", "type": "f32[64,32]", "block": 1, "spec": "[dp,tp]", "solved": "[dp,tp]", "next": "[dp,-]", "next_seconds": 0},
        {"name": "v9", "kind": "activation", "type": "f32[32,32]", "block": 1, "spec": "[dp,tp]", "solved": "[dp,tp]", "gradient": "h.0.w"},
        {"name": "v10", "kind": "activation", "type": "f32[32,32]", "block": 1, "spec": "[-,tp]", "solved": "[-,tp]", "over": "h.0.w"},
    ],
    "nodes": [
        {
            "name": "y", "kind": "dot", "type": "mk,kn->mn sum:k linear:0|1", "phase": "forward", "reads": ["x", "h.0.w"], "module": "h.0", "block": 1,
            "spec": "m:dp n:tp", "solved": "m:dp n:tp", "next": "m:dp k:tp", "next_seconds": 0.25, "seconds": 1.5,
        },
    ],
    "collectives": [
        {"kind": "reduce_scatter", "value": "v9", "axis": "dp", "phase": "backward", "before": "v10", "block": 1, "times": 4, "bytes": 512, "seconds": 0.125},
        {"kind": "all_gather", "value": "v10", "axis": "dp", "phase": "update", "block": 1, "times": 4, "bytes": 256, "seconds": 0.0649},
        {"kind": "all_gather", "value": "u", "axis": "tp", "phase": "forward", "before": "y", "times": 1, "bytes": 128, "seconds": 0.0001},
    ],
}

HEAD = """\
two.plan.json   16 ranks as dp=2 (400 Gbit/s InfiniBand) x tp=8 (NVLink), x f32[64,32]
step      2.31 s predicted = compute 2.12 s + communication 190 ms     bound 2.26 s, gap 2.2 %, best of 5 meshes (3 excluded by their bounds)
memory    61.0 GiB of 80.0 GiB a rank
peak      backward of h.3: parameters 4.0 GiB, activations 57.0 GiB
recompute min_cut
presets   zero2 2.50 s, fsdp 2.96 s, ddp=2,megatron=8 10.0 s, megatron does not fit (90.0 GiB),
          ddp does not fit (124 GiB)
"""

# Arguments of inspect, what it prints.
TABLES = [
    (
        [],
        HEAD
        + """
h (x4)  shape       storage spec  states   compute spec  next best
w       f32[32,32]  [-,tp]        [dp,tp]  upd [dp,tp]   [tp,-] +11.2 ms
b       f32[32]     [tp]                                 none, pinned: [-] was best

outside blocks  shape      storage spec  states  compute spec  next best
u               f32[32,8]  [-,-]                               [tp,-] +2.00 us, pinned

collective      axis  phase     calls  input of a rank  time
reduce_scatter  dp    backward  4      2.0 KiB          125 ms
all_gather      dp    update    4      1.0 KiB          64.9 ms
all_gather      tp    forward   1      128 B            100 us
""",
    ),
    (
        ["--values", "h.*"],
        """\
value          kind       shape       storage spec  compute spec  bytes  collectives  next best
h.0.w          parameter  f32[32,32]  [-,tp]        upd [dp,tp]   512 B  500 us       [tp,-] +11.2 ms
h.0.b          parameter  f32[32]     [tp]                        16 B                none, pinned: [-] was best
h.0.w.exp_avg  state      f32[32,32]  [dp,tp]                     256 B               none
""",
    ),
    (
        ["--block", "1"],
        """\
h (x4)  operator  rule                        phase    strategy   time    next best
y       dot       mk,kn->mn sum:k linear:0|1  forward  m:dp n:tp  1.50 s  m:dp k:tp +250 ms
""",
    ),
    (
        ["--explain", "h.0.w"],
        """\
h.0.w: parameter f32[32,32], the same in all 4 layers of h
  storage spec  [-,tp], 512 B a rank and layer
  compute spec  upd [dp,tp]
  read by       y: dot mk,kn->mn sum:k linear:0|1, forward, strategy m:dp n:tp, 1.50 s a step
  gradient      v9: [dp,tp]
                reduce_scatter along dp in backward, before v10: 4 x 512 B, 125 ms a step
  update        v10: [-,tp]
                all_gather along dp in update: 4 x 256 B, 64.9 ms a step
  storage spec  [-,tp]: with all else fixed, the next best is [tp,-], at most 11.2 ms a step slower
""",
    ),
    (
        ["--explain", "y"],
        """\
y: activation f32[64,32], the same in all 4 layers of h
  storage spec  [dp,tp]
  compute spec  the storage spec
  made by       y: dot mk,kn->mn sum:k linear:0|1, forward, strategy m:dp n:tp, 1.50 s a step
  storage spec  [dp,tp]: with all else fixed, [dp,-] takes no longer
  strategy      m:dp n:tp: with all else fixed, the next best is m:dp k:tp, at most 250 ms a step slower
""",
    ),
    (
        ["--explain", "h.0.b"],
        """\
h.0.b: parameter f32[32], the same in all 4 layers of h
  storage spec  [tp], 16 B a rank and layer
  compute spec  the storage spec
  storage spec  [tp] is pinned; the search chose [-]
  storage spec  [tp]: with all else fixed, no other choice fits
""",
    ),
]

DIFF = """\
               two.plan.json  other.plan.json
mesh           dp=2,tp=8      dp=2,tp=8
recompute      min_cut        min_cut
step           2.31 s         2.50 s
compute        2.12 s         2.12 s
communication  190 ms         190 ms
bound          2.26 s         2.26 s
memory         61.0 GiB       61.0 GiB
parameters     4.0 GiB        4.0 GiB
activations    57.0 GiB       57.0 GiB
copies         0 B            0 B

values
h.0.w          [-,tp]         [-,tp], update [dp,tp]
u              [-,-]          -- missing --
new            -- missing --  [-,-]

nodes
y              m:dp n:tp      m:dp

4 of 9 values and nodes differ
"""

# ---- refusals: arguments, message ----

PRESETS = "expected ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, 2d, 2.5d, 3d, or several with sizes such as ddp=2,megatron=4"
OPTIONS = [
    (["plan"], "no model given; --help tells more"),
    (["plan", "a.onnx", "b.onnx"], "one model at a time: 'a.onnx' and 'b.onnx'"),
    (["plan", "a.onnx", "--loss", "logits"], "--loss needs --optimizer"),
    (["plan", "a.onnx", "--emit", "c"], "unknown option '--emit' (did you mean '--tie'?)"),
    (["plan", "a.onnx", "--ranks", "0"], "--ranks: '0' is not a whole number from 1 to 65536"),
    (["plan", "a.onnx", "--pin", "w"], "--pin: 'w' is not of the form GLOB=SPEC"),
    (["plan", "a.onnx", "--pin", "w=[x0,-]"], "--pin needs --mesh"),
    (["plan", "a.onnx", "--plan-preset", "dpp"], f"preset 'dpp': {PRESETS}"),
    (["plan", "a.onnx", "--memory", "lots"], "--memory: 'lots' is not a size such as 70GiB"),
    (["a.onnx", "--mesh", "2", "--pin", "w=[x0]"], "--mesh needs --ranks"),
    (["a.onnx", "--plan-preset", "ddp"], "--plan-preset needs --ranks"),
    (["inspect"], "no plan given; --help tells more"),
    (["inspect", "a.json", "b.json"], "one plan at a time: 'a.json' and 'b.json'"),
    (["inspect", "a.json", "--run", "a.jsonl", "--values", "*"], "--values and --run: one at a time"),
    (["inspect", "--run", "a.jsonl", "--block", "1"], "--block and --run: one at a time"),
    (["inspect", "a.json", "--block", "0"], "--block: '0' is not a whole number from 1 to 1048576"),
    (["inspect", "a.json", "--explian", "x"], "unknown option '--explian' (did you mean '--explain'?)"),
    (["diff"], "expected two plans, found none; --help tells more"),
    (["diff", "a.json"], "expected two plans, found one; --help tells more"),
    (["diff", "a.json", "b.json", "c.json"], "expected 2 plans, found one more: 'c.json'"),
]

DYNAMIC = str(TINY.with_name("tiny_dynamic") / "gpt_dropout.onnx")
PINNED = ["plan", MLP, *TRAIN, "--ranks", "4", "--mesh", "dp=2,tp=2", "--pin"]
FILES = [
    (["plan", MLP, "--ranks", "4"], "mlp.onnx: error: a plan needs a training step: give --loss and --optimizer"),
    (["plan", MLP, *TRAIN, "--ranks", "1"], "local: error: a plan needs at least 2 ranks, found 1"),
    (["plan", MLP, *TRAIN, "--cluster", "a100x1"], "a100x1: error: a plan needs at least 2 ranks, found 1"),
    (["plan", MLP, *TRAIN, "--cluster", "h100x9"], "h100x9: error: expected 1 to 7 devices, or a multiple of 8 up to 65536"),
    (["plan", MLP, *TRAIN, "--cluster", "none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["plan", MLP, *TRAIN, "--cluster", "h100x8", "--ranks", "16"], "shardcc: error: 16 ranks, but the cluster has 8 devices"),
    (["plan", MLP, *TRAIN, "--cluster", "h100x8", "--mesh", "3x2"], "shardcc: error: mesh '3x2' has 6 ranks, expected 8"),
    ([*PINNED, "*.weihgt=[-,-]"], "mlp.onnx: error: --pin: no value is named '*.weihgt' (did you mean '0.weight'?)"),
    ([*PINNED, "2.weihgt=[-,-]"], "mlp.onnx: error: --pin: no value is named '2.weihgt' (did you mean '2.weight'?)"),
    ([*PINNED, "2.weight=[-,ep]"], "mlp.onnx: error: spec '[-,ep]': the mesh has no axis 'ep'\n  in  --pin '2.weight=[-,ep]'"),
    (
        [*PINNED, "2.weight=[-,-] sum:tp"],
        "mlp.onnx: error: value '2.weight': no strategy allows the storage spec [-,-] sum:tp; the nearest are [-,-], [-,tp], [tp,-]",
    ),
    (["plan", MLP, *TRAIN, "--ranks", "4", "--mesh", "4", "--plan-preset", "2d"], "mlp.onnx: error: preset '2d' doesn't fit the mesh 4"),
    (
        ["plan", DYNAMIC, "--bind", "batch=1", *TRAIN, "--ranks", "2", "--mesh", "2", "--plan-preset", "ddp"],
        "gpt_dropout.onnx: error: preset 'ddp': no product has a dim to split along axis x0",
    ),
    (["plan", MLP, *TRAIN, "--ranks", "4", "-o", "none/p.json"], "mlp.onnx: error: cannot write into 'none': No such file or directory"),
    (["inspect", "none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
    (["inspect", "empty.json"], "empty.json: error: not JSON: byte 0"),
    (["inspect", "two.plan.json", "--block", "2"], "two.plan.json: error: --block 2: the plan has 1 repeated block"),
    (["inspect", "two.plan.json", "--explain", "h.0.v"], "two.plan.json: error: no value is named 'h.0.v' (did you mean 'h.0.w'?)"),
    (["diff", "two.plan.json", "none.json"], "none.json: error: cannot read 'none.json': No such file or directory"),
]


class Plans(Planner):
    def targets(self):
        """A plan for GPUs is one for their target, unless --target says another one; the file holds it."""
        base = ["plan", MLP, *TRAIN, "--ranks", "2", "--mesh", "2", "-o", "p.json"]
        compiles = [MLP, "--plan", "p.json", "--emit", "program", "-o", "p.program"]
        for cluster, options, target in (("local", [], None), ("h100x2", [], "cuda"), ("h100x2", ["--target", "cpu"], None), ("local", ["--target", "cuda"], "cuda")):
            done = self.run(*base, "--cluster", cluster, *options)
            found = json.loads((self.work / "p.json").read_text()).get("target") if done.returncode == 0 else done.stderr
            self.checks.check(f"plan on {cluster} {' '.join(options)}: the target", found == target, str(found))
            said = self.run("inspect", "p.json").stdout
            self.checks.check("inspect shows it", ("for the target cuda" in said) == (target == "cuda"), said[:600])
            done = self.run(*compiles)
            made = (self.work / "p.program").read_text() if done.returncode == 0 else ""
            self.checks.check("a program of it, for its target", made.startswith(f"program {target or 'cpu'} "), made[:60] + done.stderr)
        self.expect([*compiles, "--target", "cpu"], 2, "shardcc: error: --target: the plan was made for 'cuda', not 'cpu'\n")
        self.expect([*base, "--target", "cuda", "--threads", "2"], 2, "shardcc: error: --threads doesn't apply to --target cuda\n")
        profile = self.run("profile", MLP, "--plan", "p.json", "--by", "block")
        self.checks.check("profile takes the plan", profile.returncode == 0, profile.stderr)
        plan = json.loads((self.work / "p.json").read_text())
        (self.work / "p.json").write_text(json.dumps({**plan, "target": "gpu"}))
        self.expect(compiles, 2, "shardcc: error: --plan: 'gpu' is not a target\n")
        for name in ("p.json", "p.program"):
            (self.work / name).unlink()

    def tables(self):
        (self.work / "two.plan.json").write_text(json.dumps(PLAN))
        (self.work / "empty.json").write_text("")
        for args, text in TABLES:
            self.expect(["inspect", "two.plan.json", *args], 0, "", text)
        other = json.loads(json.dumps(PLAN))
        other["seconds"] = 2.5
        other["values"][1]["update"] = "[dp,tp]"
        other["values"][4]["name"] = "new"
        other["nodes"][0]["spec"] = "m:dp"
        (self.work / "other.plan.json").write_text(json.dumps(other))
        self.expect(["diff", "two.plan.json", "other.plan.json"], 3, "", DIFF)
        for args, message in OPTIONS:
            self.expect(args, 2, f"shardcc: error: {message}\n")
        for args, message in FILES:
            self.expect(args, 1, f"{message}\n")
        self.checks.check("nothing is left", sorted(p.name for p in self.work.iterdir()) == ["empty.json", "other.plan.json", "two.plan.json"])

    def model(self, name, *options):
        """Checks the sums, names and tables of a tiny model's plan."""
        check, path = self.checks.check, f"{name}.plan.json"
        loss = ["--loss", "mse(logits, labels)", "--optimizer", "adamw"] if name == "regress" else TRAIN
        folder = TINY if "--accumulate" not in options else TINY.with_name("tiny_dynamic")
        args = ["plan", folder / f"{name}.onnx", *loss, "--cluster", "h100x8", *options]
        done = self.run(*args)
        if not check(f"{name}: plan {' '.join(options)}", done.returncode == 0, done.stderr):
            return
        first = (self.work / path).read_bytes()
        p = json.loads(first)
        near = lambda x, y: abs(x - y) <= 1e-6 * p["seconds"]
        check(f"{name}: work and communication are the step", near(p["compute"] + p["communication"], p["seconds"]))
        check(f"{name}: nodes are the work", near(sum(n.get("seconds", 0) for n in p["nodes"]), p["compute"]))
        check(f"{name}: collectives are the communication", near(sum(c.get("seconds", 0) for c in p["collectives"]), p["communication"]))
        check(f"{name}: holders are the memory", sum(h["bytes"] for h in p["holders"]) == p["bytes"] <= p["memory"])
        names = [v["name"] for v in p["values"]]
        check(f"{name}: each name is there once", len(set(names)) == len(names))
        check(f"{name}: all that is read is there", all(set(n.get("reads", [])) <= set(names) for n in p["nodes"]))
        check(f"{name}: nothing is pinned", all(e["spec"] == e["solved"] for e in p["values"] + p["nodes"]))
        said = self.run("inspect", path).stdout
        check(f"{name}: plan prints what inspect does", said.startswith(done.stdout))
        asked = [self.run("inspect", path, "--explain", v["name"]).returncode for v in p["values"] if v["kind"] == "parameter"]
        check(f"{name}: {len(asked)} parameters are explained", asked and not any(asked))
        self.run(*args, "-o", "again.json")
        check(f"{name}: the same options, the same bytes", (self.work / "again.json").read_bytes() == first)
        check(f"{name}: diff with itself", self.run("diff", path, path).returncode == 0)

    def pins(self):
        """The next best alternative, pinned and solved again, costs at most what the plan says, and no less than the bound."""
        args = ["gpt2", "--cluster", "h100x8", "--ranks", "4", "--mesh", "dp=2,tp=2"]
        free = self.planned(*args)
        chosen = [e for e in free["values"] if e["kind"] == "parameter" and "next" in e] + [e for e in free["nodes"] if e["kind"] == "dot"]
        for e in chosen[::3]:
            p = self.planned(*args, "--pin", f"{e['name']}={e['next']}")
            if not self.checks.check(f"pin {e['name']}={e['next']}", p):
                continue
            most, found = free["seconds"] + e.get("next_seconds", 0), cheapest(p)
            self.checks.check("between bound and what was said", free["bound"] * (1 - 1e-8) <= found <= most * (1 + 1e-8), f"{found} of {most}")
            held = [x for x in p["values"] + p["nodes"] if x["name"] == e["name"] and x.get("pin")]
            self.checks.check("it is a pin", held and held[0]["spec"] == e["next"], str(held))

    def presets(self):
        """A preset planned alone takes the time that the best plan's file says, and the best plan is never slower."""
        args = ["llama", "--cluster", "h100x8", "--ranks", "4", "--mesh", "2x2"]
        free = self.planned(*args)
        names = [r["name"] for r in free["presets"]]
        self.checks.check(f"presets: {', '.join(names)}", {"ddp", "zero1", "fsdp", "megatron", "2d"} <= set(names))
        for r in free["presets"]:
            self.checks.check(f"{r['name']} is no faster", r["fits"] and r["seconds"] >= cheapest(free) * (1 - 1e-9))
        for name in ("zero1", "megatron", "ddp=2,megatron=2"):
            kept = self.planned(*args, "--plan-preset", name) or {"seconds": 0, "bound": 0, "preset": None}
            beside = [r["seconds"] for r in free["presets"] if r["name"] == name][0]
            self.checks.check(f"--plan-preset {name}", kept["bound"] * (1 - 1e-9) <= beside <= cheapest(kept) * 1.011 and kept["preset"] == name, f"{beside} {cheapest(kept)}")

    def meshes(self):
        """The cheapest mesh wins, though presets on other meshes cost more."""
        for name in ("cnn", "mixer"):
            args = [name, "--cluster", SLOW_LINK, "--ranks", "6"]
            found, *each = [cheapest(self.planned(*args, *mesh)) for mesh in ([], ["--mesh", "6"], ["--mesh", "2x3"], ["--mesh", "3x2"])]
            self.checks.check(f"{name}: the cheapest of three meshes", found <= min(each) * 1.001, f"{found} {each}")

    def followed(self):
        """--plan gives the program that compiling without it gives; edited entries are followed; a plan of something else is refused."""
        options = [*TRAIN, "--ranks", "2", "--mesh", "2", "--cluster", "local"]
        gpt2 = TINY / "gpt2.onnx"
        self.run("plan", gpt2, *options, "-o", "p.json")
        self.run(gpt2, "--plan", "p.json", "--emit", "program", "-o", "by_plan.txt")
        self.run(gpt2, *options, "--emit", "program", "-o", "searched.txt")
        texts = [(self.work / f"{x}.txt").read_text() for x in ("by_plan", "searched")]
        self.checks.check("the same program by plan and by search", texts[0] == texts[1] and "all_reduce" in texts[0])
        plan = json.loads((self.work / "p.json").read_text())
        w = next(v for v in plan["values"] if v["name"].endswith("h.0.mlp.c_fc.weight"))
        storage = w["spec"]
        edited = "[x0,-]" if storage != "[x0,-]" else "[-,x0]"
        for spec, name in ((edited, "edited"), ("[-,-] sum:x0", "parts")):
            w["spec"] = spec
            (self.work / f"{name}.json").write_text(json.dumps(plan))
        done = self.run(gpt2, "--plan", "edited.json", "--emit", "program", "-o", "edited.txt")
        other = (self.work / "edited.txt").read_text() if done.returncode == 0 else texts[0]
        self.checks.check("another program where an entry is edited", other != texts[0], done.stderr)
        pinned = self.run(gpt2, *options, "--pin", f"*.h.*.mlp.c_fc.weight={edited}", "--emit", "program", "-o", "pinned.txt")
        hash_of_file = re.compile(r' plan "\w{16}"')  # the edited file has another one
        same = pinned.returncode == 0 and hash_of_file.sub("", (self.work / "pinned.txt").read_text()) == hash_of_file.sub("", other)
        self.checks.check("--pin gives the same as the edited entry", same, pinned.stderr)
        self.expect([str(gpt2), "--plan", "p.json", "--plan-preset", "ddp"], 2, "shardcc: error: --plan-preset: a plan's file has its own pins\n")
        w["spec"] = storage
        plan["options"].append("--help")
        (self.work / "options.json").write_text(json.dumps(plan))
        for args, message in (
            (["--ranks", "3"], "--ranks: the plan was made for 2, not 3"),
            (["--memory", "1GiB"], f"--memory: the plan was made for {plan['memory']}, not 1073741824"),
            (["--threads", "2"], "--threads: the plan was made without this option"),
            (["--mesh", "dp=2"], "--mesh: the plan was made for '2', not 'dp=2'"),
            (["--optimizer", "sgd"], "--optimizer: the plan was made for 'adamw', not 'sgd'"),
            (["--clip-norm", "1"], "--clip-norm: the plan was made without this option"),
        ):
            self.expect([str(gpt2), "--plan", "p.json", *args], 2, f"shardcc: error: {message}\n")
        for threads, more, message in (
            (2, ["--threads", "3"], "--threads: the plan was made for 2, not 3"),
            (65, [], "--plan: it is for 65 threads, but at most 64 are possible"),
        ):
            (self.work / "threads.json").write_text(json.dumps({**plan, "options": plan["options"][:-1], "threads": threads}))
            self.expect([str(gpt2), "--plan", "threads.json", *more], 2, f"shardcc: error: {message}\n")
        said = self.run("inspect", "threads.json").stdout
        self.checks.check("inspect shows threads", " a rank, for 65 threads\n" in said, said)
        said = self.run("diff", "p.json", "threads.json").stdout
        self.checks.check("diff shows threads", re.search(r"^threads +all +65$", said, re.M), said)
        self.expect([str(gpt2), "--plan", "options.json"], 2, "shardcc: error: --plan: '--help' is not an option of a plan\n")
        self.expect([str(gpt2), "--plan", "none.json"], 1, "none.json: error: cannot read 'none.json': No such file or directory\n")
        done = self.run(gpt2, "--plan", "parts.json")
        said = "value 'model.transformer.h.0.mlp.c_fc.weight': no strategy allows the storage spec [-,-] sum:x0; the nearest are [-,-], "
        self.checks.check("an edited entry that can't be", done.returncode == 1 and f"parts.json: error: {said}" in done.stderr, done.stderr)
        for what, args in (("model", [TINY / "nanogpt.onnx"]), ("cluster", [gpt2, "--cluster", "h100x8"])):
            done = self.run(*args, "--plan", "p.json")
            said = f"p.json: error: {what}_hash is {plan[what + '_hash']}, expected "
            self.checks.check(f"the plan of another {what}", done.returncode == 1 and done.stderr.startswith(said), done.stderr)

    def idle(self):
        """A batch of 4 is too small for 6 ranks if the preset splits nothing else."""
        args = [str(TINY / "nanogpt.onnx"), *TRAIN, "--ranks", "6", "--mesh", "6", "--cluster", str(SLOW), "--plan-preset", "ddp"]
        said = "nanogpt.onnx: warning: 2 of 6 ranks have nothing to compute: the dims that the plan splits are smaller than the number of ranks\n"
        done = self.run("plan", *args, "-o", "idle.json")
        self.checks.check("ranks without work", (done.returncode, done.stderr) == (0, said), done.stderr)


def test(plans):
    plans.tables()
    plans.targets()
    plans.model("gpt2", "--mesh", "dp=2,tp=4")
    plans.model("llama", "--ranks", "6", "--mesh", "2x3")
    plans.model("gpt_dropout", "--ranks", "2", "--accumulate", "2", "--bind", "batch=4")
    plans.model("resnet", "--ranks", "4", "--mesh", "4")
    plans.model("bert", "--ranks", "4")
    plans.model("regress", "--ranks", "3", "--memory", "1GiB")
    plans.model("mlp", "--mesh", "2x2x2", "--clip-norm", "1")
    plans.pins()
    plans.presets()
    plans.meshes()
    plans.followed()
    plans.idle()


if __name__ == "__main__":
    test_in_folder(Plans, test)
