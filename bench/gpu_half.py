"""Training in bf16 on one GPU, compared with PyTorch's autocast. bench/gpu.py --precision bf16 calls this."""
import json
import re
import subprocess
import time

import numpy as np

from gpu_jobs import ROOT, WARM_UP, Big, build_job, print_row, target, time_sides, train
from gpu_modules import Images, Text
from gpu_torch import CLIP, attention_seconds, has_torch, product_rate
from harness import write_data
from measure import Failure, flops_of, run

PEAK = 989.4e12  # flop/s of an H100's or H200's bf16 products: NVIDIA's data sheet, without sparsity
CASES = {
    "gpt2_small": Text("GPT-2 124M 32x1024", 32, 1024, 50257, True),
    "gpt2_xl": Text("GPT-2 1.5B 8x1024", 8, 1024, 50257, True, 1600, 25, 48),
    "llama_1b": Text("LLaMA 1.5B 8x2048", 8, 2048, 128256, True, 2048, 32, 16, 8, 8192),
    "bert_large": Text("BERT-large 32x512", 32, 512, 30522, False, 1024, 16, 24),
    "vit_l": Images("ViT-L/16 64", 64, 24),
    "resnet50": Images("ResNet-50 256", 256),
    "gpt_block": Text("16 heads of 64, 8x2048", 8, 2048, 256, True, 1024, 16, 1),
    "demo_gpt": Text("demo GPT 1x64", 1, 64, 256, True, 128, 4, 4),  # for tests
}
TEXT = "text"
TEXT_MODEL, TEXT_BATCH = "gpt2_small", 8
HALF = ["--precision", "bf16"]
LAST = 10  # steps whose mean loss counts as the final one


def names_of(options):
    return options.names or [*(n for n in CASES if n != "demo_gpt"), TEXT]


def text_model(options):
    """The model that learns text: the demo GPT if it is named, too."""
    return "demo_gpt" if "demo_gpt" in options.names else TEXT_MODEL


# ---- programs ----


def find_model(name, folder):
    """Of the demo GPT the file is there."""
    model = Big(name, folder, CASES[name])
    model.onnx = ROOT / f"models/{name}.onnx" if name == "demo_gpt" else model.onnx
    return model


def build(options, folder):
    for name in names_of(options):
        if name == TEXT:
            build_text(options, folder)
        else:
            build_job(options, find_model(name, folder), folder, 1, "h200x1", *HALF, "--clip-norm", CLIP, "--cc", options.cc)
    if "gpt2_xl" in names_of(options):
        (folder / "memory.json").write_text(json.dumps(try_memory(options, folder)))


def arena_of(trainer):
    return int(re.search(r"\.arena_bytes = (\d+)", trainer.with_suffix(".c").read_text())[1])


def try_memory(options, folder):
    """What shardcc says if the memory is the arena of the 1.5B, and one byte less. An empty text: it compiles."""
    model, arena = find_model("gpt2_xl", folder), arena_of(folder / "gpt2_xl_1")
    said = []
    for memory in (arena, arena - 1):
        words = [*model.training, *model.weights, "--bind", f"batch={model.batch}", *HALF, "--clip-norm", CLIP, "--recompute", "none"]
        try:
            run([options.shardcc, model.onnx, "--emit", "program", *words, *target(options), "--memory", f"{memory}B"])
            said.append("")
        except Failure as e:
            said.append(str(e))
    return said


def samples_of_text(case, count):
    """The bytes of the project's documents, as tokens: so many samples that follow each other."""
    text = b"".join(p.read_bytes() for p in sorted((ROOT / "docs").glob("*.md")))
    tokens = np.resize(np.frombuffer(text, np.uint8), count * case.length + 1).astype(np.int64)
    return {"input_ids": tokens[:-1].reshape(count, -1), "labels": tokens[1:].reshape(count, -1)}


def build_text(options, folder):
    name = text_model(options)
    model, batch = find_model(name, folder), min(TEXT_BATCH, CASES[name].batch)
    model.export()
    for kind, more in (("bf16", HALF), ("f32", [])):
        words = [*model.training, *model.weights, "--bind", f"batch={batch}", "--clip-norm", CLIP, "--cc", options.cc, *more]
        run([options.shardcc, model.onnx, "-o", folder / f"text_{kind}", *words, *target(options)])
    write_data(folder / "text_data", samples_of_text(CASES[name], batch * min(options.text_steps, 64)))


# ---- steps ----


def our_attention(trainer, data):
    """Seconds of attention in a step, forward and backward, of one layer."""
    trace = trainer.with_suffix(".trace.json")
    train(trainer, data, WARM_UP, "--trace", trace)
    found = [e for e in json.loads(trace.read_text())["traceEvents"] if re.search(r"\battention(_grad)?\b", e["name"])]
    layers = sum("attention_grad" in e["name"] for e in found)
    return 1e-6 * sum(e["dur"] for e in found) / layers if layers else None


def compare_attention(case, trainer, data):
    """PyTorch's time of attention over ours; images' transformers have a token for the class. None: there is none."""
    ours = our_attention(trainer, data)
    if not ours or not has_torch():
        return None
    length = case.length if isinstance(case, Text) else 1 + (case.size // 16) ** 2
    groups = getattr(case, "groups", 0) or case.heads
    is_causal = isinstance(case, Text) and case.is_causal
    return attention_seconds(case.batch, case.heads, groups, length, case.width // case.heads, is_causal) / ours


def used_memory():
    """Bytes of the GPU's memory in use; None: nothing tells."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
    except OSError:
        return None
    return int(said.stdout.split()[0]) << 20 if said.returncode == 0 and said.stdout.split() else None


def taken_memory(trainer, data):
    """Bytes that a run takes of the GPU, with CUDA's own; None: nothing tells."""
    before = used_memory()
    if before is None:
        return None
    job = subprocess.Popen([str(x) for x in (trainer, "--data", data, "--steps", 10**6, "--no-shuffle", "--quiet")])
    most, deadline = 0, time.monotonic() + 10
    while time.monotonic() < deadline and job.poll() is None:
        most = max(most, used_memory() or 0)
        time.sleep(0.5)
    job.kill()
    job.wait()
    return most - before


def number(x, form, width):
    return f"{x:{width}{form}}" if x is not None else f"{'-':>{width}s}"


def compare(options, folder, name):
    """A model's row."""
    case, trainer, data = CASES[name], folder / f"{name}_1", folder / f"{name}_1_data"
    median, faster = time_sides(options, trainer, data, case, is_half=True)
    share = flops_of(trainer) / median["ours"] / PEAK
    taken = taken_memory(trainer, data)
    cells = [number(1e3 * median[k] if k in median else None, ".1f", 9) for k in ("ours", "eager", "compiled")]
    cells += [number(median["ours"] / faster if faster else None, ".2f", 7), number(100 * share, ".1f", 7)]
    cells += [number(compare_attention(case, trainer, data), ".2f", 9)]
    cells += [number(arena_of(trainer) / 2**30, ".3f", 9), number(taken / 2**30 if taken else None, ".3f", 9)]
    return f"{case.title:24s} " + " ".join(cells), True


# ---- text ----


def learn(folder, kind, steps, *more):
    return [x["loss"] for x in train(folder / f"text_{kind}", folder / "text_data", steps, *more)[0]]


def check_text(options, folder):
    """The final losses of bf16 and of f32, and the bits of two runs."""
    files = [folder / f"text_{k}.safetensors" for k in (1, 2)]
    first, again = (learn(folder, "bf16", options.text_steps, "--save", file) for file in files)
    wide = learn(folder, "f32", options.text_steps)
    same = first == again and files[0].read_bytes() == files[1].read_bytes()
    last = [float(np.mean(x[-LAST:])) for x in (first, wide)]
    is_right = same and abs(last[0] - last[1]) <= 0.01 * last[1]
    row = f"{options.text_steps} steps on text: loss {last[0]:.4f} in bf16, {last[1]:.4f} in f32; {'same' if same else 'DIFFERENT'} bits"
    return row + ("" if is_right else "  WRONG"), is_right


# ---- the whole ----


def check_memory(folder):
    """What shardcc said when the programs were built."""
    enough, less = json.loads((folder / "memory.json").read_text())
    is_right = not enough and bool(less)
    return f"--memory of the 1.5B's arena: {enough or 'compiles'}; one byte less: {less or 'compiles'}" + ("" if is_right else "  WRONG"), is_right


def check(options, folder):
    """Prints the tables; returns whether all is right."""
    names, right = names_of(options), True
    if has_torch():
        print(f"a product of 8192 x 8192 matrices in bf16: {1e-12 * product_rate():.0f} Tflop/s, {100 * product_rate() / PEAK:.0f} % of {1e-12 * PEAK:.0f}")
    heads = ("ours", "eager", "compiled"), ("ratio", "peak %"), ("attention", "arena", "taken GiB")
    print(f"{'median ms of a step':24s} " + " ".join(f"{h:>{w}s}" for w, row in zip((9, 7, 9), heads) for h in row))
    for name in names:
        if name != TEXT:
            right = print_row(name, lambda: compare(options, folder, name)) and right
    if "gpt2_xl" in names:
        right = print_row("--memory", lambda: check_memory(folder)) and right
    if TEXT in names:
        right = print_row(TEXT, lambda: check_text(options, folder)) and right
    return right
