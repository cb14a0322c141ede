"""Wrong inputs of shardcc and of trainers, the messages that they must give, and the files that this takes."""
import os

import numpy as np

from harness import write_data
from onnx_bytes import external, linear, model, node, tensor, value

TRAIN = ["--loss", "cross_entropy(logits, labels)", "--optimizer", "sgd(lr=0.1)"]

# ---- the command line: arguments, message; exit status 2 ----
OPTIONS = [
    ([], "no model given; --help tells more"),
    (["a.onnx", "b.onnx"], "one model at a time: 'a.onnx' and 'b.onnx'"),
    (["--optimiser", "adam"], "unknown option '--optimiser' (did you mean '--optimizer'?)"),
    (["--zzz"], "unknown option '--zzz'; --help lists them"),
    (["linear.onnx", "--loss"], "--loss needs a value: TEXT"),
    (["linear.onnx", "--no-weights=1"], "--no-weights takes no value"),
    (["linear.onnx", "--loss", "logits"], "--loss needs --optimizer"),
    (["linear.onnx", "--optimizer", "adam"], "--optimizer needs --loss"),
    (["detect", "linear.onnx"], "expected no file, found 'linear.onnx'"),
    (["detect", "--thread", "2"], "unknown option '--thread' (did you mean '--threads'?)"),
    (["detect", "--threads", "65"], "--threads: '65' is not a whole number from 1 to 64"),
    (["detect", "-o"], "-o needs a value: FILE.json"),
    (["linear.onnx", "--clip-norm", "1"], "--clip-norm needs --loss and --optimizer"),
    (["linear.onnx", "--dump-after", "autodiff"], "that pass of --dump-after needs --loss and --optimizer"),
    (["--emit", "asm"], "--emit: 'asm' is not one of ir, program, c, cu, source"),
    (["--emit", "c", "--dump-after", "fold", "linear.onnx"], "--dump-after prints a graph: it doesn't go with --emit"),
    (["--dump-after", "fuse"], "--dump-after: 'fuse' is not one of import, fold, indices, loss, micro, patterns, guards, means, refine, simplify, precision, blocks, scale, autodiff, casts, reduce, clip, optimizer, outputs, inputs, recompute, onto, partition"),
    (["linear.onnx", "--dump-after", "partition"], "--dump-after partition needs --ranks"),
    (["--clip-norm", "-1"], "--clip-norm: '-1' is not a number of at least 0"),
    (["--clip-norm", "nan"], "--clip-norm: 'nan' is not a number of at least 0"),
    (["--accumulate", "0"], "--accumulate: '0' is not a whole number from 1 to 1048576, or auto"),
    (["--init", "normal(0)"], "--init: 'normal(0)' is not normal(STD) with STD > 0"),
    (["--march", "a b"], "--march: 'a b' is not the name of a CPU"),
    (["--target", "gpu"], "--target: 'gpu' is not one of cpu, cuda"),
    (["--gpu", "sm_5"], "--gpu: 'sm_5' is not a list of GPUs as sm_80,sm_90"),
    (["--gpu", "sm_80,"], "--gpu: 'sm_80,' is not a list of GPUs as sm_80,sm_90"),
    (["--gpu", ""], "--gpu: '' is not a list of GPUs as sm_80,sm_90"),
    (["linear.onnx", "--gpu", "sm_80"], "--gpu needs --target cuda"),
    (["linear.onnx", "--cuda", "folder"], "--cuda needs --target cuda"),
    (["linear.onnx", "--emit", "cu"], "--emit cu needs --target cuda"),
    (["linear.onnx", "--target", "cuda", "--threads", "2"], "--threads doesn't apply to --target cuda"),
    (["--transport", "x"], "--transport: 'x' is not one of mpi, tcp"),
    (["linear.onnx", "--transport", "mpi"], "--transport needs --ranks"),
    (["--bind", "batch"], "--bind: 'batch' is not of the form DIM=N"),
    (["--bind", "batch=four"], "--bind: 'batch=four' is not of the form DIM=N"),
    (["--shape", "x=4,"], "--shape: 'x=4,' is not of the form INPUT=N,N"),
    (["--precision", "half"], "--precision: 'half' is not one of f32, bf16, f16"),
    (["--loss-scale", "half"], "--loss-scale: 'half' is not one of none, dynamic, dynamic(key=value, …), or a positive number of f32"),
    (["--loss-scale", "0"], "--loss-scale: '0' is not one of none, dynamic, dynamic(key=value, …), or a positive number of f32"),
    (["--loss-scale", "1e39"], "--loss-scale: '1e39' is not one of none, dynamic, dynamic(key=value, …), or a positive number of f32"),
    (["--loss-scale", "dynamic(65536)"], "--loss-scale: '65536' is not of the form key=value"),
    (["--loss-scale", "dynamic(scale=2)"], "--loss-scale: dynamic has no option 'scale'\n  options  init_scale, growth_factor, backoff_factor, growth_interval"),
    (["--loss-scale", "dynamic(backoff_factor=2)"], "--loss-scale: backoff_factor is not above 0 and at most 1"),
    (["--loss-scale", "dynamic(growth_interval=0)"], "--loss-scale: growth_interval is below 1"),
    (["linear.onnx", "--loss-scale", "dynamic"], "--loss-scale needs --loss and --optimizer"),
    (["--padding-index", "table"], "--padding-index: 'table' is not of the form GLOB=K"),
    (["linear.onnx", "--mesh", ""], "mesh '': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"),
    (["linear.onnx", "--mesh", "x"], "mesh 'x': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"),
    (["linear.onnx", "--mesh", "2x"], "mesh '2x': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"),
    (["linear.onnx", "--mesh", "0x2"], "mesh '0x2': expected at least 2 ranks along each axis"),
    (["linear.onnx", "--mesh", "a=2,a=2"], "mesh 'a=2,a=2': two axes have the same name"),
    (["linear.onnx", "--mesh", "99999x99999"], "mesh '99999x99999': expected at most 65536 ranks"),
    (["linear.onnx", "--mesh", "2x2"], "--mesh needs --ranks"),
    (["linear.onnx", *TRAIN, "--accumulate", "auto"], "--accumulate auto needs --memory"),
    (["linear.onnx", *TRAIN, "--recompute", "chain"], "--recompute chain needs --memory"),
    (["linear.onnx", *TRAIN, "--memory", "1GiB", "--recompute", "chain", "--ranks", "2"], "--recompute chain is for one rank"),
    (["linear.onnx", *TRAIN, "--memory", "1GiB", "--recompute", "chain", "--recompute", "full"], "--recompute chain goes with no other one"),
    (["linear.onnx", *TRAIN, "--memory", "1GiB", "--recompute", "chain", "--no-fuse"], "--recompute chain doesn't go with --no-fuse"),
    (["--recompute", "chain,full"], "--recompute: 'chain' is not none, full, chain or BLOCK=N"),
    (["--accumulate", "some"], "--accumulate: 'some' is not a whole number from 1 to 1048576, or auto"),
    (["--threads", "0"], "--threads: '0' is not a whole number from 1 to 64"),
    (["--threads", "65"], "--threads: '65' is not a whole number from 1 to 64"),
    (["graph.ir", "--bind", "batch=4"], "--bind: a graph's text has its shapes and parameters already"),
    (["graph.ir", "--stop-gradient", "y"], "--stop-gradient: a graph's text has its shapes and parameters already"),
    (["linear.onnx", "-o", "my model"], "'my model' can't be a program's name, which has letters, digits, '-', '_', '.' and '+' only: give another with -o"),
    (["linear.onnx", "-o", "n" * 254], f"'{'n' * 40}...' is too long for a program's name: 254 bytes, 54 more than 200; give another with -o"),
    (["my model.onnx"], "'my model' can't be a program's name, which has letters, digits, '-', '_', '.' and '+' only: give one with -o"),
    (
        ["linear.onnx", "--loss", "cross_entropie(logits, labels)", "--optimizer", "sgd"],
        "--loss: unknown loss 'cross_entropie' (did you mean 'cross_entropy'?)\n  known  cross_entropy, mse, l1, bce_with_logits",
    ),
    (
        ["linear.onnx", "--loss", "mse(logits, y, smoothing=1)", "--optimizer", "sgd"],
        "--loss: mse has no option 'smoothing'",
    ),
    (["linear.onnx", "--loss", "mse(logits)", "--optimizer", "sgd"], "--loss: mse takes two tensors: mse(x, target)"),
    (["linear.onnx", "--loss", "mse(logits, y", "--optimizer", "sgd"], "--loss: 'mse(logits, y' is not of the form name(…)"),
    (
        ["linear.onnx", "--loss", "logits", "--optimizer", "adamx"],
        "--optimizer: unknown optimizer 'adamx' (did you mean 'adam'?)\n  known  sgd, adam, adamw, adagrad, lamb, rmsprop",
    ),
    (
        ["linear.onnx", "--loss", "logits", "--optimizer", "adamW"],
        "--optimizer: unknown optimizer 'adamW' (did you mean 'adamw'?)\n  known  sgd, adam, adamw, adagrad, lamb, rmsprop",
    ),
    (["--LOSS", "mse(logits, y)"], "unknown option '--LOSS' (did you mean '--loss'?)"),
    (
        ["linear.onnx", "--loss", "logits", "--optimizer", "adamw(rl=1e-3)"],
        "--optimizer: adamw has no option 'rl' (did you mean 'lr'?)\n  options  lr, beta1, beta2, eps, weight_decay",
    ),
    (["linear.onnx", "--loss", "logits", "--optimizer", "sgd(lr=fast)"], "--optimizer: lr=fast: must be a number of at least 0"),
]

# ---- models: file, further arguments, message; exit status 1 ----
MODELS = [
    ("none.onnx", [], "cannot read 'none.onnx': No such file or directory"),
    ("folder", [], "cannot read 'folder': not a regular file"),
    ("text.onnx", [], "not an ONNX model, or damaged: byte 1: a field has an unknown wire type"),
    ("empty.onnx", [], "the file is empty"),
    (
        "operators.onnx",
        [],
        "operator Frobnicate (opset 18) is not supported\n  node 'first'\n  node 'third'\n"
        "operators.onnx: error: operator my.domain::Widget (opset 18) is not supported\n  node 'second'",
    ),
    (
        "operators.onnx",
        ["--loss", "mse(y, t)", "--optimizer", "sgd"],
        "operator Frobnicate (opset 18) is not supported\n  node 'first'\n  node 'third'\n"
        "operators.onnx: error: operator my.domain::Widget (opset 18) is not supported\n  node 'second'",
    ),
    ("dynamic.onnx", [], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("dynamic.onnx", ["--bind", "time=4"], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("dynamic.onnx", ["--bind", "batch=4", "--bind", "time=4"], "--bind 'time=4': the model has no dim of that name, only 'batch'"),
    ("dynamic.onnx", ["--shape", "y=4,4"], "input 'x': dim 0 ('batch') is not bound\n  say --bind batch=N or --shape x=N,…"),
    ("linear.onnx", ["--shape", "x=2,5"], "input 'x': dim 1 is 4 in the model, --shape says 5"),
    ("linear.onnx", [*TRAIN, "--accumulate", "3"], "input 'x': batch of 2 can't be split into 3 micro-batches"),
    (
        "linear.onnx",
        ["--loss", "cross_entropy(logit, labels)", "--optimizer", "sgd"],
        "--loss: the model has no value 'logit' (did you mean 'logits'?)\n  output  logits f32[2,3]\n  value  logits f32[2,3]\n  value  x f32[2,4]",
    ),
    (
        "linear.onnx",
        ["--loss", "mse(logits, logits)", "--optimizer", "sgd"],
        "--loss: 'logits' and 'logits' are one value: mse compares two",
    ),
    (
        "linear.onnx",
        ["--loss", "mse(logits, x)", "--optimizer", "sgd"],
        "--loss: 'x' is f32[2,4], not f32[2,3]",
    ),
    (
        "shapes.onnx",
        [],
        "node 'add_3' (Add): shapes [2,3] and [4] can't be broadcast to each other\n  in 0  a f32[2,3]\n  in 1  b f32[4]\n  from  net.block.0",
    ),
    (
        "dtypes.onnx",
        [],
        "node 'add_3' (add): operands differ: f32[2,3] and i64[2,3]\n  in 0  a f32[2,3]\n  in 1  b i64[2,3]\n  from  net.block.0",
    ),
    ("outputs.onnx", [], "node 'wide' (Split): 1 inputs and 65536 outputs, at most 16384 each"),
    ("outside.onnx", [], "external data '../outside.bin': it is outside the model's folder"),
    ("absolute.onnx", [], "external data '/etc/passwd': it is outside the model's folder"),
    ("symlink.onnx", [], "external data 'symlink.bin': it is outside the model's folder"),
    ("hardlink.onnx", [], "external data 'hardlink.bin': it is not a regular file without hard links"),
    (
        "missing.onnx",
        [],
        "external data 'missing.bin': No such file or directory\n"
        "  --weights takes them from elsewhere; --no-weights needs none, with --init they are drawn",
    ),
    ("short.onnx", [], "weight 'weight' needs 48 bytes at 8 of 'short.bin', which has only 48"),
    ("same.onnx", [], "cannot write 'same.safetensors': it is a file of the model's weights"),
    ("same.onnx", ["--emit", "c", "-o", "same.safetensors"], "cannot write 'same.safetensors': it is a file of the model's weights"),
    ("same.onnx", ["--dump-after", "import", "-o", "same.safetensors"], "cannot write 'same.safetensors': it is a file of the model's weights"),
    ("linear.onnx", ["--cluster", "text.onnx", "--emit", "ir", "-o", "text.onnx"], "cannot write 'text.onnx': it is the cluster's file"),
    ("linear.onnx", ["--cc", "./linear", "-o", "linear"], "cannot write 'linear': it is the C compiler"),
    ("linear.onnx", ["-o", "none/it"], "cannot write into 'none': No such file or directory"),
    ("linear.onnx", ["-o", "folder"], "cannot write 'folder': it is a folder"),
    ("linear.onnx", ["-o", "linear.onnx"], "cannot write 'linear.onnx': it is the model"),
    ("linear.onnx", ["--emit", "ir", "-o", "/dev/null"], "cannot write '/dev/null': it is not a regular file"),
    ("linear.onnx", ["--emit", "source", "-o", "text.onnx"], "cannot write into 'text.onnx': it is not a folder"),
    ("linear.onnx", ["--cc", "no-such-cc"], "cannot run the C compiler 'no-such-cc': No such file or directory; --cc names another"),
    ("linear.onnx", ["--target", "cuda", "--cuda", "folder"], "--cuda: 'folder' has no bin/nvcc that can be run"),
    (
        "linear.onnx",
        ["--target", "cuda", "--cuda", "failing"],
        "the CUDA compiler 'failing/bin/nvcc' failed, so nothing was written\n  it needs g++ and CUDA 13",
    ),
    ("linear.onnx", ["--target", "cuda", "--cuda", "killed"], "the CUDA compiler 'killed/bin/nvcc' was stopped: Killed"),
    ("linear.onnx", ["--target", "cuda", "--cuda", "idle"], "the CUDA compiler 'idle/bin/nvcc' made no fat binary, so nothing was written"),
    (
        "linear.onnx",
        ["--cc", "false"],
        "the C compiler 'false' failed, so nothing was written\n  it needs OpenMP and oneDNN (Debian: libdnnl-dev); --emit c shows the text",
    ),
    ("updated.ir", TRAIN, "--loss doesn't apply: the graph is after optimizer already"),
    ("updated.ir", ["--optimizer", "sgd"], "--optimizer doesn't apply: the graph is after optimizer already"),
    ("updated.ir", ["--clip-norm", "1"], "--clip-norm doesn't apply: the graph is after optimizer already"),
    ("updated.ir", ["--dump-after", "fold"], "--dump-after fold: the graph is after optimizer already"),
    ("updated.ir", ["--emit", "ir", "--accumulate", "2"], "--accumulate is 2, but the graph is of 1 micro-batch a step"),
    ("stage.ir", [], "the graph is after 'fuse', which is no pass"),
    ("forward.ir", ["--loss", "mse(y, t)"], "the graph has a loss, which needs --optimizer"),
    ("forward.ir", ["--optimizer", "sgd"], "--optimizer needs --loss: the graph has none"),
    ("forward.ir", ["--no-decay", "*"], "--no-decay needs --loss: the graph has none"),
    ("forward.ir", ["--dump-after", "autodiff"], "that pass of --dump-after needs --loss: the graph has none"),
    ("two.ir", [], "the text's second graph is for training: only the first one may be"),
    ("micro.ir", [], "line 1: a step of 1 micro-batches"),
    ("bad.ir", [], "line 1: 'graph' expected, not 'grpah'"),
    ("carry.ir", [], "carry of 'x' to 'm' changes the type"),
    ("carry.ir", TRAIN, "carry of 'x' to 'm' changes the type"),
]

# ---- clusters: file, message; exit status 1 ----
CLUSTERS = [
    ("none.json", "cannot read 'none.json': No such file or directory"),
    ("text.onnx", "not JSON: byte 0: found 'once'"),
    ("list.json", "the top level must be an object"),
    ("version.json", "version must be 3, as shardcc detect writes it, or 2"),
    ("old.json", 'version 1 has no links: make the file again with shardcc detect, or add "links": [] and set version 2'),
    ("h100x9", "expected 1 to 7 devices, or a multiple of 8 up to 65536"),
    (
        "device.json",
        "devices_per_host is missing\ndevice.json: error: device.threads must be a whole number from 1 to 4096\n"
        "device.json: error: device.memory is missing\ndevice.json: error: device.bandwidth is missing\n"
        "device.json: error: device.reading is missing\ndevice.json: error: device.launch is missing\ndevice.json: error: device.vector is missing\n"
        "device.json: error: device.gemm is missing",
    ),
]

# ---- trainers: arguments, message; exit status 2 ----
TRAINER_OPTIONS = [
    ([], "nothing to do: give --data, --eval-data, --predict or --generate; --help lists all options"),
    (["--dat", "good"], "unknown option '--dat' (did you mean '--data'?)"),
    (["--beta1", "0.9"], "unknown option '--beta1'; --help lists them"),
    (["good"], "unexpected argument 'good'"),
    (["--data"], "--data needs a value"),
    (["--data", "good", "--steps", "-1"], "--steps: '-1' is not a whole number of at least 0"),
    (["--data", "good", "--lr", "fast"], "--lr: 'fast' is not a number"),
    (["--data", "good", "--schedule", "cosin"], "--schedule: 'cosin' is not one of constant|linear|cosine (did you mean 'cosine'?)"),
    (["--data", "good", "--quiet=1"], "--quiet takes no value"),
    (["--predict", "good"], "--predict needs -o"),
    (["--save", "it.safetensors", "--eval-data", "good"], "--save needs --data"),
    (["--profile", "--eval-data", "good"], "--profile needs --data"),
    (["--trace", "it.json", "--predict", "good", "-o", "it.npz"], "--trace needs --data"),
]

# ---- trainers: arguments after --data, message; exit status 1 ----
DATA = [
    (["none"], "none: No such file or directory"),
    (["wrong_shape"], "wrong_shape/x.npy: found F32[8,3], expected F32[samples,4]"),
    (["wrong_type"], "wrong_type/labels.npy: found F32[8], expected I64[samples]"),
    (["wrong_length"], "wrong_length/labels.npy: 5 samples, but x.npy has 8"),
    (["too_few"], "too_few: samples found: 1; a step takes 2"),
    (["no_labels"], "no_labels/labels.npy: No such file or directory"),
    (["cut"], "cut/x.npy: npy: its header says F32[8,4], 128 bytes; 127 are there"),
    (["no_npy"], "no_npy/x.npy: not an npy file"),
    (["bad_label", "--no-shuffle"], "step 3: sample 5: label 7 is out of range"),
    (["good", "--load", "none"], "none: No such file or directory"),
    (["good", "--load", "text.onnx"], "text.onnx: safetensors: its header says 8030046917602012783 bytes, the file has 24: truncated?"),
    (
        ["good", "--load", "other.safetensors"],
        "other.safetensors: these are not the weights of this model\n  unexpected  table F32[16,16]\n  missing     weight F32[4,3]",
    ),
    (["good", "--save", "none/it"], "none/it: No such file or directory"),
    (["good", "--save", "folder"], "folder: not a regular file"),
    (["good", "--save", "/dev/full"], "/dev/full: not a regular file"),
    (["good", "--trace", "none/it.json"], "none/it.json: No such file or directory"),
    (["good", "--log", "good/x.npy"], "--log: 'good/x.npy' can't be written: this run reads it, as --data"),
    (["good", "--save", "again"], "--save: 'again' can't be written: this run reads it, as --data"),
    (["good", "--eval-data", "even", "--save-gradients", "even/x.npy"], "--save-gradients: 'even/x.npy' can't be written: this run reads it, as --eval-data"),
    (["good", "--predict", "even/x.npy", "-o", "even/../even/x.npy"], "-o: 'even/../even/x.npy' can't be written: this run reads it, for --predict"),
    (["good", "--trace", "linear"], "--trace: 'linear' can't be written: this run reads it, as its program"),
    (["good", "--save", "linear.safetensors"], "--save: 'linear.safetensors' can't be written: this run reads it, as its weights"),
    (["good", "--load", "kept.safetensors", "--log", "kept.safetensors"], "--log: 'kept.safetensors' can't be written: this run reads it, as its weights"),
    (["good", "--log", "new", "--save", "folder/../new"], "--save and --log: 'new' is the same file"),
    (["good", "--save", "new", "--save-gradients", "dangling"], "--save and --save-gradients: 'dangling' is the same file"),
    (["good", "--predict", "good", "--log", "target.bin", "-o", "hardlink.bin"], "--log and -o: 'hardlink.bin' is the same file"),
    (["not_finite", "--no-shuffle", "--save", "it"], "step 3: the loss is NaN; stopped, nothing is saved"),
]

TOKENS = [
    (["few.bin"], "few.bin: samples found: 1; a step takes 2"),
    (["odd.bin", "--token-bytes", "2"], "odd.bin: 1001 bytes are not a whole number of tokens of 2 bytes (--token-bytes)"),
    (["headed.bin", "--token-bytes", "4"], "headed.bin: its header says tokens of 2 bytes, --token-bytes says 4"),
    (["short_headed.bin"], "short_headed.bin: its header says 40 tokens, a file of 1104 bytes; it has 1100"),
    (["high.bin", "--no-shuffle"], "input 'ids': sample 80, position 1: 200 is out of range, -16 to 15"),
    (["high_label", "--no-shuffle"], "step 2: sample 3, position 2: label 16 is out of range"),
    (["high", "--no-shuffle"], "input 'ids': sample 3, position 2: 16 is out of range, -16 to 15"),
    (["low", "--no-shuffle"], "input 'ids': sample 3, position 2: -17 is out of range, -16 to 15"),
]


FORWARD = b'graph "x" {\n  input %x f32[2]\n  parameter %w f32[2]\n  %y f32[2] = mul(%x, %w)\n  output model "y" %y\n}\n'


def write_models(work):
    """Writes the files that the tables name."""
    x = value("x", "f32", [2, 4])
    headed = np.array([20240520, 1, 40, *[0] * 253], np.int32).tobytes() + bytes(80)
    files = {
        "linear.onnx": linear(),
        "dynamic.onnx": linear(batch="batch"),
        "text.onnx": b"once upon a time, no end",
        "empty.onnx": b"",
        "operators.onnx": model(
            [
                node("Frobnicate", ["x"], ["a"], "first"),
                node("Widget", ["a"], ["b"], "second", domain="my.domain"),
                node("Frobnicate", ["b"], ["c"], "third"),
            ],
            [x],
            [value("c", "f32", [2, 4])],
        ),
        "bad.ir": b'grpah "x" {\n}\n',
        "stage.ir": FORWARD.replace(b"{", b"after fuse {", 1),
        "forward.ir": FORWARD,
        "two.ir": FORWARD + FORWARD.replace(b"{", b"training {", 1),
        "micro.ir": FORWARD.replace(b"{", b"after fold accumulate 1 {", 1),
        "carry.ir": b'graph "x" {\n  state %m f32[2] = 0\n  input %x f32[3]\n  carry step %m %x\n}\n',
        "list.json": b"[]",
        "version.json": b'{"version": 7}',
        "old.json": b'{"version": 1}',
        "device.json": b'{"version": 2, "device": {"threads": "many"}}',
        "few.bin": bytes(5),
        "odd.bin": bytes(1001),
        "headed.bin": headed,
        "short_headed.bin": headed[:-4],
        "high.bin": bytes(321) + bytes([200]) + bytes(700),
    }
    for name, b in ("shapes", value("b", "f32", [4])), ("dtypes", value("b", "i64", [2, 3])):
        add = node("Add", ["a", "b"], ["y"], "add_3", scope=["net", "net.block.0"])
        files[f"{name}.onnx"] = model([add], [value("a", "f32", [2, 3]), b], [value("y", "f32", [2, 3])])
    places = {name: f"{name}.bin" for name in ("missing", "symlink", "hardlink")}
    for name, place in {**places, "outside": "../outside.bin", "absolute": "/etc/passwd"}.items():
        files[f"{name}.onnx"] = linear(weight=external("weight", [4, 3], place))
    files["same.onnx"] = linear(weight=external("weight", [4, 3], "same.safetensors"))
    files["short.onnx"] = linear(weight=external("weight", [4, 3], "short.bin", 8))
    pieces = node("Split", ["x"], [f"y{i}" for i in range(1 << 16)], "wide", num_outputs=1 << 16)
    files["outputs.onnx"] = model([pieces], [value("x", "f32", [1 << 16])], [value("y0", "f32", [1])])
    table = np.eye(16, dtype=np.float32)
    files["other.onnx"] = model(
        [node("Gather", ["table", "ids"], ["logits"], "embed")],
        [value("ids", "i64", [2, 4])],
        [value("logits", "f32", [2, 4, 16])],
        [tensor("table", table)],
    )
    for name, data in files.items():
        (work / name).write_bytes(data)
    for name in ("short.bin", "target.bin", "same.safetensors", "../outside.bin"):
        (work / name).write_bytes(bytes(48))
    os.symlink("target.bin", work / "symlink.bin")
    os.link(work / "target.bin", work / "hardlink.bin")
    (work / "folder").mkdir()


def write_toolkits(work):
    """Toolkits of CUDA whose compiler makes no kernels."""
    for name, does in {"failing": "exit 1", "killed": "kill -9 $$", "idle": "exit 0"}.items():
        nvcc = work / name / "bin/nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text(f"#!/bin/sh\n{does}\n")
        nvcc.chmod(0o755)


def write_folders(work):
    """Writes the data folders that the tables name."""
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((8, 4)).astype(np.float32), rng.integers(0, 3, 8)
    bad, huge = labels.copy(), x.copy()
    bad[5] = 7
    huge[5] = 3e38
    folders = {
        "good": {},
        "wrong_shape": {"x": x[:, :3]},
        "wrong_type": {"labels": labels.astype(np.float32)},
        "wrong_length": {"labels": labels[:5]},
        "too_few": {"x": x[:1], "labels": labels[:1]},
        "bad_label": {"labels": bad},
        "not_finite": {"x": huge},
        "no_labels": {},
        "cut": {},
        "no_npy": {},
    }
    for name, arrays in folders.items():
        write_data(work / name, {"x": x, "labels": labels, **arrays})
    write_data(work / "even", {"x": x, "labels": labels})
    os.link(work / "good/x.npy", work / "again")
    os.symlink("new", work / "dangling")
    ids = rng.integers(-16, 16, (6, 4))
    for name, (column, x) in {"high": ("ids", 16), "low": ("ids", -17), "high_label": ("labels", 16)}.items():
        arrays = {"ids": ids.copy(), "labels": ids % 16}
        arrays[column][3, 2] = x
        write_data(work / name, arrays)
    (work / "no_labels/labels.npy").unlink()
    whole = (work / "cut/x.npy").read_bytes()
    (work / "cut/x.npy").write_bytes(whole[:-1])
    (work / "no_npy/x.npy").write_bytes(b"1, 2, 3\n")
