#!/usr/bin/env python3
"""Exports models to ONNX with PyTorch's own training results, to test a training compiler against.

  export.py --list
  export.py --out DIR                                  every tiny model (each file at most 2 MB)
  export.py --out DIR --size real gpt2 resnet          real sizes (random weights, no downloads)
  export.py --out DIR --exporter legacy --opset 17 --dynamic-batch gpt2
  export.py --out DIR --preset opsets                  several sets, each in a folder of its own in DIR

Per model NAME.onnx (forward only: inputs -> logits; weights are initializers), NAME.npz, NAME.json; of tiny ones without
dropout NAME.halves.json too: what torch.autocast gives in bf16 and f16.

NAME.npz (float32, int64):
  data/INPUT, data/labels   [2, ...] two batches: step i of a curve uses batch i % 2, all else batch 0;
                            labels are class numbers (-100: ignored) or targets
  output, loss              of the forward pass in training mode (dropout 0, batch statistics)
  grad/INITIALIZER          d loss / d initializer, in the layout that the initializer has in the file
  curve_adamw, curve_sgd    [steps] losses before each update, from the exported weights
  curve_NAME                the same with further optimizers and losses (mlp, regress)
  final_adamw/INITIALIZER   weights after the last step of AdamW (tiny only)
  lostgrad/PARAMETER        gradients of parameters that the file holds in no initializer
  eval_...                  output, loss, grad with batch norm frozen (models with batch norm)
Real sizes have gradnorm/INITIALIZER and gradsample/INITIALIZER (64 evenly spaced elements) for grad/.
Models with live dropout have output (dropout off) and curves_adamw [seeds, steps].

NAME.json: loss, optimizer settings, inputs, which initializer is which parameter, operators, versions; for
the legacy exporter, whose files lack them, the rows of embeddings that never train (padding).

Weights, data and their order come from fixed seeds: the same versions give the same files.
"""
import argparse
import copy
import json
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import timm  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

import halves  # noqa: E402
import reference  # noqa: E402
from onnx_file import describe, strip, write_onnx  # noqa: E402
from zoo_more import CONTROL, DROPOUT, RECURRENT  # noqa: E402
from zoo_real import REAL  # noqa: E402
from zoo_tiny import TINY  # noqa: E402

ORT_TOLERANCE = 1e-3


def pick(*names):
    return {name: TINY[name] for name in names}


OLD = pick("mlp", "cnn", "resnet", "lstm")
NEW = pick("nanogpt", "llama", "bert")
LEGACY = {name: build for name, build in TINY.items() if name not in ("gpt2", "llama", "qwen3")}

# Sets of models: folder -> (models, options that differ from the defaults).
PRESETS = {
    "dynamic": {"dynamic": (TINY, dict(dynamic_batch=True))},
    "legacy": {"legacy": (LEGACY, dict(exporter="legacy"))},
    "opsets": {
        "opset9": (OLD, dict(exporter="legacy", opset=9)),
        "opset11": (OLD, dict(exporter="legacy", opset=11)),
        "opset13": (OLD, dict(exporter="legacy", opset=13)),
        "opset23": (NEW, dict(opset=23)),
    },
    "recurrent": {
        "recurrent": (RECURRENT, {}),
        "recurrent_legacy": (RECURRENT, dict(exporter="legacy")),
    },
    "dropout": {
        "dropout": (DROPOUT, dict(training_graph=True)),
        "dropout_legacy": (DROPOUT, dict(exporter="legacy", training_graph=True)),
        "dropout_dynamic": (DROPOUT, dict(dynamic_batch=True, training_graph=True)),
    },
    "control": {"control": (CONTROL, {})},
}


def write_model(case, inputs, path, options):
    """Writes NAME.onnx; the module's weights don't change."""
    module = case.module
    start = {key: value.clone() for key, value in module.state_dict().items()}
    reference.set_mode(module, options.training_graph, case.dropout)
    if case.write:
        onnx.save(case.write(module), str(path))
    else:
        write_onnx(module, inputs, path, options)
    module.load_state_dict(start)
    return strip(path)


def facts(name, case, model, matching, options):
    """The contents of NAME.json."""
    where = matching.parameters.items()
    padding = matching.padding_rows(case.module) if options.exporter == "legacy" else {}
    return dict(
        name=name,
        loss=case.loss,
        output="logits",
        ignore_index=-100,
        adamw={**reference.ADAMW, "betas": list(reference.ADAMW["betas"])},
        sgd=reference.sgd_settings(name),
        extra=reference.EXTRA.get(name, {}),
        steps=options.steps,
        parameters=sum(p.numel() for p in case.module.parameters()),
        batch_norm=reference.has_batch_norm(case.module),
        exporter=options.exporter,
        optimized=options.optimize,
        training_graph=options.training_graph,
        **(dict(dropout=True) if case.dropout else {}),
        **describe(model),
        initializer_is={i: dict(parameter=p, layout=layout) for i, (p, layout) in where},
        initializer_is_buffer=matching.buffers,
        other_float_initializers=matching.others,
        parameters_folded_away=matching.lost,
        tied=matching.tied(),
        **(dict(padding=padding) if padding else {}),
        versions=dict(
            torch=torch.__version__,
            onnx=onnx.__version__,
            timm=timm.__version__,
            transformers=transformers.__version__,
        ),
    )


def compare_with_ort(case, batch, path, options):
    """The largest difference between ONNX Runtime's output and PyTorch's, relative to the largest."""
    import onnxruntime

    inputs = batch[0]
    onnxruntime.set_default_logger_severity(3)  # errors
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {key: value.numpy() for key, value in inputs.items()})[0]
    reference.set_mode(case.module, options.training_graph)
    with torch.no_grad():
        expected = case.module(*inputs.values()).numpy()
    return float(np.abs(found - expected).max() / max(1e-6, np.abs(expected).max()))


def export(name, build, options):
    """Writes NAME.onnx, NAME.npz, NAME.json."""
    torch.manual_seed(0)
    case = build()
    reference.randomize(case.module)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    batches = reference.draw_batches(case)
    path = folder / f"{name}.onnx"
    model = write_model(case, batches[0][0], path, options)
    matching = reference.Matching(model, case.module, folder)
    if case.dropout:
        arrays = reference.dropout_references(case, batches, options.steps)
    else:
        arrays = reference.references(name, case, batches, matching, options.size, options.steps)
    if options.size == "tiny" and not case.dropout:
        found = halves.halves(case, batches, matching, arrays)
        path.with_suffix(".halves.json").write_text("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "}\n")
    np.savez_compressed(path.with_suffix(".npz"), **arrays)
    info = facts(name, case, model, matching, options)
    path.with_suffix(".json").write_text(json.dumps(info, indent=1) + "\n")
    line = summary(path, info, arrays)
    if options.check and not case.dropout:
        error = compare_with_ort(case, batches[0], path, options)
        line += f"  ort {error:.1e}"
        if not error < ORT_TOLERANCE:
            raise RuntimeError(f"ONNX Runtime and PyTorch differ by {error}")
    print(line, flush=True)


def summary(path, info, arrays):
    files = [path] + [path.parent / name for name in info["external_data"]]
    size = sum(file.stat().st_size for file in files) / 1e6
    npz = path.with_suffix(".npz").stat().st_size / 1e6
    curve = arrays["curves_adamw"].mean(0) if info.get("dropout") else arrays["curve_adamw"]
    return (
        f"{info['name']:12s} {info['parameters']:>10d} params  {info['nodes']:4d} nodes  "
        f"onnx {size:6.2f} MB  npz {npz:5.2f} MB  adamw {curve[0]:.3f}->{curve[-1]:.3f}  "
        f"folded {len(info['parameters_folded_away'])}"
    )


def export_all(models, options):
    """Exports several models; returns how many failed."""
    failed = 0
    for name, build in models.items():
        try:
            export(name, build, options)
        except Exception as e:
            if not options.keep_going:
                raise
            failed += 1
            text = (str(e).strip().splitlines() or [""])[0][:160]
            print(f"{name:12s} FAILED {type(e).__name__}: {text}", flush=True)
    return failed


def select(models, names):
    """The models of those names, all if there are none."""
    unknown = [name for name in names if name not in models]
    if unknown:
        raise SystemExit(f"export.py: no model named {unknown[0]}: there are {' '.join(models)}")
    return {name: models[name] for name in names} if names else models


def with_defaults(options, **changes):
    """A copy with `changes`, in which options that depend on others are filled in."""
    options = copy.copy(options)
    for key, value in changes.items():
        setattr(options, key, value)
    options.opset = options.opset or (18 if options.exporter == "dynamo" else 17)
    options.steps = options.steps or (10 if options.size == "tiny" else 3)
    return options


def read_options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*")
    p.add_argument("--out", default="out")
    p.add_argument("--list", action="store_true")
    p.add_argument("--preset", choices=PRESETS, help="several sets, each in a folder in --out")
    p.add_argument("--size", choices=["tiny", "real"], default="tiny")
    p.add_argument("--steps", type=int, default=0, help="of a curve (default: tiny 10, real 3)")
    p.add_argument("--exporter", choices=["dynamo", "legacy"], default="dynamo")
    p.add_argument("--opset", type=int, default=0, help="default: dynamo 18, legacy 17")
    p.add_argument("--optimize", action="store_true", help="fold constants, and parameters with them")
    p.add_argument("--training-graph", action="store_true", help="export in training mode")
    p.add_argument("--dynamic-batch", action="store_true")
    p.add_argument("--check", action="store_true", help="run the file in ONNX Runtime and compare")
    p.add_argument("--keep-going", action="store_true", help="go on with the next after a failure")
    p.add_argument("--threads", type=int, default=1, help="1 gives the same bits again")
    return p.parse_args()


def main():
    options = read_options()
    if options.list:
        print("tiny:", *TINY)
        print("real:", *REAL)
        for preset, sets in PRESETS.items():
            for folder, (models, _) in sets.items():
                print(f"preset {preset}: {folder}/:", *models)
        return
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    failed = 0
    if options.preset:
        for folder, (models, changes) in PRESETS[options.preset].items():
            print(f"{folder}/", flush=True)
            out = Path(options.out) / folder
            failed += export_all(models, with_defaults(options, out=out, **changes))
    else:
        models = TINY if options.size == "tiny" else REAL
        failed = export_all(select(models, options.names), with_defaults(options))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
