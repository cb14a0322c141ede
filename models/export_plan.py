#!/usr/bin/env python3
"""Exports graphs of large models without their weights: nothing of their size is allocated or written.

  export_plan.py --list
  export_plan.py --out DIR [NAME ...]

In NAME.onnx every parameter is external data in a file that isn't there (NAME.absent). Small buffers
(rotary frequencies, position ids) are inside. The batch is a dim named "batch", the sequence is fixed.
The same versions give the same file.
"""
import argparse
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import onnx_ir  # noqa: E402
import timm  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import transformers as tf  # noqa: E402

OPSET = 18
KEPT_OF_NODES = ("pkg.torch.onnx.name_scopes",)
KEPT_OF_VALUES = ("pkg.torch.export.graph_signature.InputSpec.kind",)
NO_DROPOUT = dict(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0)


@dataclass
class Plan:
    """How a model is built, and its one input with two samples."""

    build: object  # () -> module
    name: str
    shape: tuple
    dtype: torch.dtype


class LanguageModel(nn.Module):
    """A transformers model from token numbers to logits."""

    def __init__(self, model, **options):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, **self.options).logits


def text(model_class, config, length, **options):
    def build():
        return LanguageModel(model_class(config), **options)

    return Plan(build, "input_ids", (2, length), torch.long)


def gpt(length, **sizes):
    config = tf.GPT2Config(n_positions=length, **sizes, **NO_DROPOUT)
    return text(tf.GPT2LMHeadModel, config, length, use_cache=False)


def llama(length, hidden, inner, layers, heads):
    config = tf.LlamaConfig(
        vocab_size=128256,
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=8,
        max_position_embeddings=length,
        tie_word_embeddings=False,
    )
    return text(tf.LlamaForCausalLM, config, length, use_cache=False)


def bert(length, hidden, layers, heads):
    config = tf.BertConfig(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    return text(tf.BertForMaskedLM, config, length)


def image(name):
    def build():
        return timm.create_model(name, pretrained=False)

    return Plan(build, "pixel_values", (2, 3, 224, 224), torch.float32)


MODELS = {
    "demo_gpt": gpt(64, vocab_size=256, n_embd=128, n_layer=4, n_head=4),  # bytes in, 0.87 M
    "gpt2_48": gpt(1024, n_embd=768, n_layer=48, n_head=12),
    "gpt2_small": gpt(1024, n_embd=768, n_layer=12, n_head=12),
    "gpt2_2048": gpt(2048, n_embd=768, n_layer=12, n_head=12),  # twice as many positions
    "gpt_block": gpt(2048, vocab_size=256, n_embd=1024, n_layer=1, n_head=16),
    "gpt2_xl": gpt(1024, n_embd=1600, n_layer=48, n_head=25),
    "gpt3_175b": gpt(2048, n_embd=12288, n_layer=96, n_head=96),
    "llama_1b": llama(2048, 2048, 8192, 16, 32),
    "llama_8b": llama(4096, 4096, 14336, 32, 32),
    "llama_70b": llama(4096, 8192, 28672, 80, 64),
    "bert_base": bert(128, 768, 12, 12),
    "bert_large": bert(512, 1024, 24, 16),
    "vit_l": image("vit_large_patch16_224"),
    "resnet50": image("resnet50"),
}


class MetaParameters:
    """Inside `with`, modules put their parameters on the meta device; buffers stay real."""

    def __enter__(self):
        self.original = original = nn.Module.register_parameter

        def register(module, name, p):
            if p is not None and p.device.type != "meta":
                p = nn.Parameter(p.to("meta"), requires_grad=p.requires_grad)
            original(module, name, p)

        nn.Module.register_parameter = register

    def __exit__(self, *error):
        nn.Module.register_parameter = self.original


def real_buffers(plan):
    """The buffers' values. Parameters are drawn and dropped one at a time."""
    with torch.device("cpu"), MetaParameters():
        return dict(plan.build().named_buffers())


def trace(plan):
    """The module on the meta device, and the exporter's model of it."""
    with torch.device("meta"):
        module = plan.build().eval()
        example = torch.zeros(plan.shape, dtype=plan.dtype)
    batch = torch.export.Dim("batch", min=1, max=1 << 20)
    program = torch.onnx.export(
        module,
        (example,),
        dynamo=True,
        input_names=[plan.name],
        output_names=["logits"],
        opset_version=OPSET,
        optimize=False,
        verbose=False,
        dynamic_shapes=({0: batch},),
    )
    return module, program.model


def place_initializers(name, plan, module, model, folder):
    """Puts buffers into the file and parameters into one that isn't there, tied ones in one place."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    values = {
        key: value
        for key, value in model.graph.initializers.items()
        if value.const_value is not None and value.const_value.raw.device.type == "meta"
    }
    buffers = real_buffers(plan) if values.keys() - parameters.keys() else {}
    end, places = 0, {}
    for key, value in sorted(values.items()):
        if key not in parameters:
            value.const_value = onnx_ir.tensor(buffers[key].numpy(), name=key)
            continue
        tensor, size = value.const_value, value.const_value.nbytes
        if id(parameters[key]) not in places:
            places[id(parameters[key])] = end
            end += size
        value.const_value = onnx_ir.ExternalTensor(
            f"{name}.absent",
            places[id(parameters[key])],
            size,
            tensor.dtype,
            shape=value.const_value.shape,
            name=key,
            base_dir=str(folder),
        )


def keep(metadata, kept):
    """Drops other keys, except an embedding's call, because nothing else names its padding row."""
    for key, value in list(metadata.items()):
        is_embedding = key == "pkg.torch.onnx.fx_node" and "aten.embedding.default" in value
        if key not in kept and not is_embedding:
            del metadata[key]


def clean(model):
    """Keeps module scopes and the marks of buffers; the other metadata is large and useless."""
    for node in model.graph.all_nodes():
        keep(node.metadata_props, KEPT_OF_NODES)
        for value in node.outputs:
            keep(value.metadata_props, ())
    for value in (*model.graph.inputs, *model.graph.initializers.values()):
        keep(value.metadata_props, KEPT_OF_VALUES)
    keep(model.graph.metadata_props, ())
    keep(model.metadata_props, ())


def export(name, folder):
    """Writes NAME.onnx."""
    plan, start = MODELS[name], time.time()
    module, model = trace(plan)
    place_initializers(name, plan, module, model, folder)
    clean(model)
    path = folder / f"{name}.onnx"
    onnx_ir.save(model, str(path))
    size = sum(p.numel() for p in module.parameters()) / 1e9
    print(
        f"{name:12s} {size:8.3f} G parameters  {len(list(model.graph)):6d} nodes  "
        f"{path.stat().st_size / 1e6:6.2f} MB  {time.time() - start:5.0f} s",
        flush=True,
    )


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("names", nargs="*")
    p.add_argument("--out", type=Path, default=Path("."))
    p.add_argument("--list", action="store_true")
    options = p.parse_args()
    if options.list:
        print(*MODELS)
        return
    unknown = [name for name in options.names if name not in MODELS]
    if unknown:
        raise SystemExit(f"export_plan.py: no model named {unknown[0]}: there are {' '.join(MODELS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or MODELS:
        export(name, options.out)


if __name__ == "__main__":
    main()
