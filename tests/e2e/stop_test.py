#!/usr/bin/env python3
"""Gradients that the model stops: against PyTorch's (models/detached.py), and in every form that a file may have.

  stop_test.py --shardcc build/shardcc
"""
import numpy as np

from harness import MPI_ENV, mpirun, read_log, read_safetensors, run, test_in_folder, write_data
from model import QUICK_CC, REPOSITORY
from onnx_bytes import function, graph, model, node, tensor, value

TRAIN = ["--loss", "loss", "--optimizer", "sgd(lr=0.1)"]
UNTRAINED = (
    "{0}.onnx: warning: node '{1}' ({2}) stops the gradient of parameters that the loss depends on by no other path, so they "
    "are not trained (--freeze says so): {3}\n"
)

# Which parameters of a net get no gradient, and by which node.
WARNINGS = {
    "target": [("node_detach", "stop_gradient", "'target.0.weight', 'target.0.bias', 'target.2.weight', 'target.2.bias'")],
    "attention_maximum": [("node_round_1", "round", "'bias'")],
    "attention_keys": [("node_detach", "stop_gradient", "'k.weight'"), ("node_round_1", "round", "'bias'")],
    "attention_bias": [("node_detach", "stop_gradient", "'bias'")],
    "attention_weights": [("node_detach", "stop_gradient", "'q.weight', 'k.weight'"), ("node_round_1", "round", "'bias'")],
    "attention_sum": [("node_round_1", "round", "'bias'")],
}
FUSED = {"attention_maximum", "attention_keys", "attention_bias"}


def detach(name="detach", namespace=": M/{0}: aten.{0}.default"):
    return node("Identity", ["y"], ["z"], "node_" + name, metadata={"namespace": namespace.format(name)})


def body(op, **metadata):
    """A subgraph that gives the outer value y, perhaps detached."""
    return graph([node(op, ["y"], ["inner"], "inside", metadata=metadata)], [], [value("inner", "f32", [2, 3])])


def loop(**metadata):
    ends = [value("i", "i64", []), value("c", "bool", []), value("s", "f32", [2, 3])]
    nodes = [node("Identity", ["c"], ["go"], "go"), node("Identity", ["s"], ["t"], "state", metadata=metadata)]
    return graph(nodes, ends, [value("go", "bool", []), value("t", "f32", [2, 3])])


DETACHED = {"namespace": ": M/detach: aten.detach.default"}
FX = "%mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%y, {}), kwargs = {{}})"
CALL = function("f", ["a"], ["b"], [node("Identity", ["a"], ["b"], "inside", metadata=DETACHED)])
PLAIN = function("aten_detach", ["a"], ["b"], [node("Identity", ["a"], ["b"], "inside")])

# Name, the node that makes z of y, functions, options, metadata of y · z; does the gradient stop in z, and the warning.
FORMS = [
    ("identity", node("Identity", ["y"], ["z"], "node_detach"), (), [], {}, False, ""),
    ("namespace", detach(), (), [], {}, True, ""),
    ("copy", detach("detach_copy"), (), [], {}, True, ""),
    ("in_place", detach("detach_"), (), [], {}, True, ""),
    ("body_name", detach(namespace="detach: aten.detach.default"), (), [], {}, True, ""),
    ("alias", detach(namespace=": M/alias: aten.alias.default"), (), [], {}, False, ""),
    ("inside", detach(namespace=": M/aten.detach.default: M/x: aten.alias.default"), (), [], {}, False, ""),
    ("hierarchy", node("Identity", ["y"], ["z"], metadata={"pkg.torch.onnx.class_hierarchy": "['M', 'aten.detach.default']"}), (), [], {}, True, ""),
    ("in_function", node("f", ["y"], ["z"], domain="local"), (CALL,), [], {}, True, ""),
    ("a_function", node("aten_detach", ["y"], ["z"], domain="local", metadata=DETACHED), (PLAIN,), [], {}, True, ""),
    ("branch", node("If", ["true"], ["z"], "if", then_branch=body("Identity", **DETACHED), else_branch=body("Neg")), (), [], {}, True, ""),
    ("other_branch", node("If", ["true"], ["z"], "if", then_branch=body("Identity"), else_branch=body("Neg", **DETACHED)), (), [], {}, False, ""),
    ("loop", node("Loop", ["three", "", "y"], ["z"], "loop", body=loop(**DETACHED)), (), [], {}, True, ""),
    ("plain_loop", node("Loop", ["three", "", "y"], ["z"], "loop", body=loop()), (), [], {}, False, ""),
    ("by_value", node("Identity", ["y"], ["z"], "id"), (), ["--stop-gradient", "z"], {}, True, ""),
    ("by_module", node("Identity", ["y"], ["z"], "id", scope=["a", "a.b", "a.b.c"]), (), ["--stop-gradient", "no*", "--stop-gradient", "a.b"], {}, True,
     "--stop-gradient 'no*': no node's output and no module has such a name"),
    ("by_part", node("Identity", ["y"], ["z"], "id", scope=["a", "a.bc"]), (), ["--stop-gradient", "a.b"], {}, False,
     "--stop-gradient 'a.b': no node's output and no module has such a name"),
    ("lost", node("Identity", ["y"], ["z"], "id"), (), [], {"pkg.torch.onnx.fx_node": FX.format("%detach_1")}, False,
     "the exporter has dropped a detach() before node 'square': gradients flow there (torch.onnx.export: optimize=False "
     "keeps it; or use --stop-gradient)"),
    ("kept", detach(), (), [], {"pkg.torch.onnx.fx_node": FX.format("%detach")}, True, ""),
    ("not_lost", node("Identity", ["y"], ["z"], "id"), (), [], {"pkg.torch.onnx.fx_node": FX.format("%detached")}, False, ""),
]


class Stops:
    def __init__(self, shardcc, work, checks, detached):
        self.shardcc, self.work, self.checks, self.detached = shardcc, work, checks, detached

    def check(self, name, ok, said=""):
        self.checks.check(name, ok, "" if ok else str(said).replace("\n", " | "))

    def compile(self, path, name, *options):
        """Returns the warnings."""
        said = run(self.shardcc, path, "-o", name, *TRAIN, *options, "--verify", "--cc", QUICK_CC, cwd=self.work)
        return "".join(line + "\n" for line in said.splitlines() if "warning: " in line)

    def step(self, name, data, ranks=1):
        """The loss of a step, and its gradients."""
        start = mpirun(ranks) if ranks > 1 else []
        command = [f"./{name}", "--data", data, "--steps", 1, "--no-shuffle", "--quiet", "--log", "log", "--save-gradients", "g"]
        run(*start, *command, cwd=self.work, env=MPI_ENV)
        return read_log(self.work / "log")[0]["loss"], read_safetensors(self.work / "g")

    def compare(self, what, found, loss, gradients):
        self.checks.close(f"{what}: loss", found[0], loss, 1e-5)
        missing = sorted(set(found[1]) ^ set(gradients))
        self.check(f"{what}: names of gradients", not missing, " ".join(missing))
        for n in sorted(set(gradients) & set(found[1])):
            self.checks.close(f"{what}: {n}", found[1][n], gradients[n], 2e-4)

    def nets(self):
        arrays = np.load(self.detached / "detached.npz")
        for path in sorted(self.detached.glob("*.onnx")):
            net = path.stem
            gradients = {k.split("/")[2]: arrays[k] for k in arrays.files if k.startswith(f"{net}/grad/") and arrays[k].any()}
            options = map(str, arrays[f"{net}/options"])
            write_data(self.work / net, {"x": arrays[f"{net}/x"]})
            said = self.compile(path, "net", *options)
            self.check(f"{net}: warnings", said == "".join(UNTRAINED.format(net, *w) for w in WARNINGS.get(net, [])) or "target_" in net, said)
            self.compare(net, self.step("net", net), arrays[f"{net}/loss"], gradients)
            if net.startswith("attention"):
                text = run(self.shardcc, path, *TRAIN, "--dump-after", "patterns").partition("\n}\n")[0]
                self.check(f"{net}: fused", ("= attention(" in text) == (net in FUSED))

    def ranks(self):
        """The layers on two ranks, unfused, with micro-batches, and from texts of the passes before gradients."""
        arrays, path = np.load(self.detached / "detached.npz"), self.detached / "layers.onnx"
        gradients = {k.split("/")[2]: arrays[k] for k in arrays.files if k.startswith("layers/grad/")}
        texts = []
        for name in "import", "fold", "blocks":
            texts.append(self.work / f"{name}.ir")
            run(self.shardcc, path, *TRAIN, "--dump-after", name, "-o", texts[-1])
            self.check(f"{name}: stops in the text", "stop_gradient(" in texts[-1].read_text())
        run(self.shardcc, path, *TRAIN, "--dump-after", "autodiff", "-o", self.work / "after.ir")
        after = (self.work / "after.ir").read_text()
        self.check("no stops behind autodiff, and one loop", "stop_gradient" not in after and 'class 1 "layers" 4' in after)
        for name, source, ranks, *options in [("two ranks", path, 2, "--ranks", "2", "--mesh", "dp=2"), ("unfused", path, 1, "--no-fuse")]:
            self.compile(source, "net", *options)
            self.compare(name, self.step("net", "layers", ranks), arrays["layers/loss"], gradients)
        for source in texts:
            options = TRAIN[2:] if source.stem == "blocks" else TRAIN
            run(self.shardcc, source, "-o", "text", *options, "--cc", QUICK_CC, cwd=self.work)
            (self.work / "text.safetensors").write_bytes((self.work / "net.safetensors").read_bytes())
            self.compare(f"text after {source.stem}", self.step("text", "layers"), arrays["layers/loss"], gradients)

    def forms(self):
        """mean(y · z) with y = x · w, where z is y in some form: the gradient is half as large if it stops in z."""
        x, w = np.arange(8, dtype=np.float32).reshape(2, 4) / 4 - 1, np.arange(12, dtype=np.float32).reshape(4, 3) / 9 - 0.5
        write_data(self.work / "x", {"x": x})
        stored = [tensor("w", w), tensor("true", np.array(True)), tensor("three", np.array(3))]
        for name, made, functions, options, metadata, stops, warning in FORMS:
            nodes = [
                node("MatMul", ["x", "w"], ["y"], "product"),
                made,
                node("Mul", ["y", "z"], ["yz"], "square", metadata=metadata),
                node("ReduceMean", ["yz"], ["loss"], "mean", keepdims=0),
            ]
            path = self.work / f"{name}.onnx"
            path.write_bytes(model(nodes, [value("x", "f32", [2, 4])], [value("loss", "f32", [])], stored, functions=functions))
            said = self.compile(path, name, *options)
            self.check(f"{name}: warning", said == (f"{name}.onnx: warning: {warning}\n" if warning else ""), said)
            gradient = (1 if stops else 2) * x.T @ (x @ w) / 6
            self.compare(name, self.step(name, "x"), ((x @ w) ** 2).mean(), {"w": gradient})
            text = run(self.shardcc, path, "--emit", "ir", *options, cwd=self.work).partition("\n}\n")
            self.check(f"{name}: a stop in the graph of training", ("stop_gradient" in text[0]) == stops)
            self.check(f"{name}: no stop in the graph of predictions", "stop_gradient" not in text[2])

    def masks(self):
        """ONNX's Attention is one kernel if its mask needs no gradient."""
        nodes = [
            node("MatMul", ["x", "w"], ["q"], "q"),
            node("Exp", ["mask"], ["m"], "m"),
            node("Attention", ["q", "q", "q", "m"], ["y"], "attention"),
            node("ReduceMean", ["y"], ["loss"], "mean", keepdims=0),
        ]
        stored = [tensor("w", np.eye(4, dtype=np.float32)), tensor("mask", np.ones((2, 2), np.float32))]
        ends = [value("x", "f32", [3, 1, 2, 4])], [value("loss", "f32", [])]
        (self.work / "mask.onnx").write_bytes(model(nodes, *ends, stored, opset=23))
        for options, is_kernel in ([], False), (["--stop-gradient", "m"], True):
            text = run(self.shardcc, "mask.onnx", *TRAIN, *options, "--dump-after", "import", cwd=self.work).partition("\n}\n")[0]
            self.check(f"a mask with {options}", ("= attention(" in text) == is_kernel)

    def predictions(self):
        """A text with a stop that only predicts."""
        text = 'graph "p" after simplify {\n  input %x f32[2,3]\n  parameter %w f32[2,3]\n  %a f32[2,3] = exp(%w)\n'
        text += '  %b f32[2,3] = stop_gradient(%a)\n  %y f32[2,3] = mul(%x, %b)\n  output model "y" %y\n}\n'
        (self.work / "p.ir").write_text(text)
        said = run(self.shardcc, "p.ir", "-o", "p", "--cc", QUICK_CC, "--init", "normal(1)", cwd=self.work)
        self.check("a text with a stop that predicts", "1 rank" in said, said)


def test(stops):
    stops.nets()
    stops.ranks()
    stops.forms()
    stops.masks()
    stops.predictions()


if __name__ == "__main__":
    test_in_folder(Stops, test, detached=REPOSITORY / "models/detached")
