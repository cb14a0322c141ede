#!/usr/bin/env python3
"""Families of transformers and timm, and of nets written here, in tiny sizes with random weights, with PyTorch's results.

  families.py --out DIR [NAME ...]     NAME.onnx, .npz, .json of each; nothing is downloaded
  families.py --list

The files have the form of those of nets.py, and compare.py compares trainers with them.
"""
import contextlib
import math
from functools import partial

from family import ENDS, FAMILIES, GROUPED, LAYERS, PLAIN, SGD, SHORT, SLOW, VOCABULARY, family, language, vision

import timm
import torch
import torch.nn as nn
from timm.models import efficientnet, mlp_mixer, regnet

import families_own  # noqa: F401 (enters its families, as the next three do)
import families_sparse  # noqa: F401
import families_text  # noqa: F401
import families_vision  # noqa: F401
import nets
from zoo import Case, classifier

# ---- language models of transformers ----

language("ForCausalLM", {
    "GPTNeo": dict(vocab_size=VOCABULARY, hidden_size=32, num_layers=4, num_heads=4, attention_types=[[["global", "local"], 2]], window_size=4, max_position_embeddings=16, **ENDS),
    "GPTNeoX": PLAIN,
    "GPTJ": dict(**SHORT, rotary_dim=4, n_positions=16),
    "GPTBigCode": dict(**SHORT, n_positions=16),
    "CodeGen": dict(**SHORT, rotary_dim=4, n_positions=16),
    "OPT": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=LAYERS, ffn_dim=64, num_attention_heads=4, max_position_embeddings=16, word_embed_proj_dim=32),
    "Bloom": dict(vocab_size=VOCABULARY, hidden_size=32, n_layer=LAYERS, n_head=4),
    "Falcon": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4),
    "Mpt": dict(d_model=32, n_heads=4, n_layers=LAYERS, max_seq_len=16, vocab_size=VOCABULARY),
    "Mistral": GROUPED,
    "Qwen2": GROUPED,
    "Gemma": dict(**GROUPED, head_dim=8),
    "Gemma2": dict(**GROUPED, head_dim=8, sliding_window=4),
    "Phi": PLAIN,
    "Phi3": dict(**GROUPED, **ENDS),
    "StableLm": GROUPED,
    "Starcoder2": GROUPED,
    "Cohere": GROUPED,
    "Olmo2": GROUPED,
    "Granite": GROUPED,
    "Glm": dict(**GROUPED, head_dim=8, pad_token_id=0),
    "Nemotron": GROUPED,
    "DiffLlama": GROUPED,
    "Persimmon": PLAIN,
    "XGLM": dict(vocab_size=VOCABULARY, d_model=32, ffn_dim=64, num_layers=LAYERS, attention_heads=4, max_position_embeddings=16),
    "BioGpt": PLAIN,
    "Lfm2": dict(**GROUPED, **ENDS, layer_types=["conv", "full_attention", "conv"]),
    "Lfm2Moe": dict(**GROUPED, **ENDS, layer_types=["conv", "full_attention", "conv"], moe_intermediate_size=16, num_dense_layers=1, num_experts=4, num_experts_per_tok=2),
}, use_cache=False)

language("ForCausalLM", {"Mamba": dict(vocab_size=VOCABULARY, hidden_size=16, state_size=4, num_hidden_layers=LAYERS)})

language("ForMaskedLM", {
    "Roberta": {**PLAIN, "max_position_embeddings": 20},
    "Albert": dict(**PLAIN, embedding_size=16),
    "DistilBert": dict(vocab_size=VOCABULARY, dim=32, n_layers=LAYERS, n_heads=4, hidden_dim=64, max_position_embeddings=16),
    "Electra": dict(**PLAIN, embedding_size=16),
    "MPNet": {**PLAIN, "max_position_embeddings": 20},
    "Deberta": dict(**PLAIN, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "DebertaV2": dict(**PLAIN, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8),
    "SqueezeBert": dict(**PLAIN, embedding_size=32),
    "ConvBert": dict(**PLAIN, embedding_size=32),
    "RoFormer": dict(**PLAIN, embedding_size=32),
    "FNet": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=LAYERS, intermediate_size=64, max_position_embeddings=16),
    "ModernBert": dict(**PLAIN, local_attention=4, **ENDS, cls_token_id=0, sep_token_id=0),
    "MobileBert": dict(**PLAIN, embedding_size=16, intra_bottleneck_size=16),
    "Nystromformer": dict(**PLAIN, segment_means_seq_len=12, num_landmarks=12),
})


# ---- vision models of transformers ----

PATCHES = dict(hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)
vision("ViT", **PATCHES)
vision("DeiT", **PATCHES)
vision("Beit", attention="eager", **PATCHES, use_relative_position_bias=True)
vision("Dinov2", **{k: v for k, v in PATCHES.items() if k != "intermediate_size"})
vision("Swin", attention="eager", image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
vision("Swinv2", attention="eager", image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
vision("ConvNext", hidden_sizes=[8, 12, 16, 24], depths=[3, 2, 3, 1], image_size=32)
vision("ConvNextV2", hidden_sizes=[8, 12, 16, 24], depths=[3, 2, 3, 1], image_size=32)
vision("MobileNetV1", 64, SLOW, 8, depth_multiplier=0.25, min_depth=8, image_size=64)
vision("MobileNetV2", 64, SLOW, 8, depth_multiplier=0.25, min_depth=8, image_size=64)
vision("MobileViT", 64, SLOW, 8, image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 12, 16, 16, 24, 32], num_attention_heads=4, expand_ratio=2.0)
vision("MobileViTV2", 64, SLOW, 8, image_size=64, width_multiplier=0.25, base_attn_unit_dims=[64, 96, 128], n_attn_blocks=[2, 3, 3])
vision("ResNet", 64, SLOW, 8, embedding_size=8, hidden_sizes=[8, 12, 16, 24], depths=[3, 1, 1, 1], layer_type="basic")
vision("RegNet", 64, SLOW, 8, embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[2, 3, 1, 1], groups_width=4)
vision("PoolFormer", 64, SGD, 4, hidden_sizes=[8, 12, 16, 24], depths=[3, 2, 2, 2])
vision("Segformer", 64, SGD, 4, hidden_sizes=[8, 16, 24, 32], depths=[2, 2, 2, 2], num_attention_heads=[1, 2, 3, 4])
vision("Pvt", 64, SGD, 4, image_size=64, hidden_sizes=[8, 16, 24, 32], depths=[2, 2, 2, 2], num_attention_heads=[1, 2, 3, 4])
vision("Cvt", 64, SLOW, 8, embed_dim=[8, 16, 24], num_heads=[1, 2, 3], depth=[1, 2, 3])
vision("Hiera", 64, SGD, 4, image_size=[64, 64], embed_dim=16, num_heads=[1, 2, 4, 8], depths=[1, 1, 2, 1], masked_unit_size=[8, 8])
vision("FocalNet", 32, SGD, 4, image_size=32, embed_dim=16, depths=[2, 2], hidden_sizes=[16, 32], focal_levels=[2, 2], focal_windows=[3, 3])


# ---- timm ----


@contextlib.contextmanager
def slim(factor):
    """Inside `with`, models with fixed widths are built with `factor` times fewer channels."""
    conv, linear, norm = nn.Conv2d.__init__, nn.Linear.__init__, nn.BatchNorm2d.__init__
    less = lambda n: n // factor if n >= 32 else n

    def new_conv(self, a, b, *args, **options):
        if "groups" in options and options["groups"] > 1:
            options["groups"] = less(options["groups"]) if options["groups"] == a else options["groups"]
        conv(self, less(a), less(b), *args, **options)

    nn.Conv2d.__init__ = new_conv
    nn.Linear.__init__ = lambda self, a, b, *args, **options: linear(self, less(a), less(b), *args, **options)
    nn.BatchNorm2d.__init__ = lambda self, n, *args, **options: norm(self, less(n), *args, **options)
    try:
        yield
    finally:
        nn.Conv2d.__init__, nn.Linear.__init__, nn.BatchNorm2d.__init__ = conv, linear, norm


def own(build, name, size=32, curve=SGD, batch=4, **settings):
    """A family whose sizes timm's names fix: from its class."""
    family(f"timm_{name}", curve, lambda: classifier(build(num_classes=10, **settings), batch, 3, size, size))


def image(name, size=64, curve=SLOW, batch=8, factor=1, **settings):
    def build():
        with slim(factor) if factor > 1 else contextlib.nullcontext():
            module = timm.create_model(name, pretrained=False, num_classes=10, **settings)
        return classifier(module, batch, 3, size, size)

    family(f"timm_{name}", curve, build)


NARROW = dict(channels=(8, 12, 16, 20), stem_width=8)
TINY_VIT = dict(img_size=32, patch_size=8, embed_dim=32, depth=LAYERS, num_heads=4)
image("resnet18", layers=[3, 1, 1, 1], **NARROW)
image("res2net50_26w_4s", layers=[2, 2, 1, 1], channels=(16, 24, 32, 40), stem_width=8)
image("seresnet50", layers=[2, 1, 1, 1], **NARROW)
image("resnetv2_50", layers=[2, 1, 1, 1], channels=(16, 24, 32, 40), stem_chs=8)
image("inception_v3", 128, SLOW, 16, 8)
image("densenet121", growth_rate=4, block_config=(3, 2, 2, 2))
image("mobilenetv2_035")
image("mobilenetv3_small_050")
own(partial(efficientnet._gen_efficientnet, "efficientnet_b0"), "efficientnet", 64, SLOW, 8, channel_multiplier=0.25)
own(partial(efficientnet._gen_mixnet_s, "mixnet_s"), "mixnet", 64, SLOW, 8, channel_multiplier=0.25)
image("ghostnet_050")
image("mobilevitv2_050", 64, SLOW, 8)
own(regnet.RegNet, "regnet", 64, SLOW, 8, cfg=regnet.RegNetCfg(depth=7, w0=8, wa=8, wm=2.0, group_size=4, se_ratio=0.25))
image("rexnet_100", width_mult=0.25)
image("vgg11_bn", 32, SLOW, 8, 16)
own(timm.models.ConvMixer, "convmixer", 32, SLOW, 8, dim=16, depth=3, kernel_size=3, patch_size=4)
image("convnext_atto", 32, SGD, 4, depths=(2, 2, 3, 1), dims=(8, 12, 16, 24))
image("vit_tiny_patch16_224", 32, SGD, 4, **TINY_VIT)
image("deit3_small_patch16_224", 32, SGD, 4, **TINY_VIT)
image("cait_xxs24_224", 32, SGD, 4, **TINY_VIT)
MIXER = dict(img_size=32, patch_size=8, embed_dim=32, num_blocks=3)
own(mlp_mixer.MlpMixer, "mixer", **MIXER)
own(mlp_mixer.MlpMixer, "gmlp", **MIXER, mlp_ratio=4, block_layer=mlp_mixer.SpatialGatingBlock, mlp_layer=mlp_mixer.GatedMlp)
own(mlp_mixer.MlpMixer, "resmlp", **MIXER, mlp_ratio=4, block_layer=mlp_mixer.ResBlock, norm_layer=mlp_mixer.Affine)
image("swin_tiny_patch4_window7_224", 32, SGD, 4, img_size=32, patch_size=2, window_size=4, embed_dim=16, depths=(2, 2), num_heads=(2, 4))
image("xcit_nano_12_p16_224", 64, SLOW, 8, img_size=64, embed_dim=32, depth=3, num_heads=4)
image("sequencer2d_s", 32, SGD, 4, img_size=32, layers=(1, 1, 2, 1), embed_dims=(8, 16, 16, 16), hidden_sizes=(4, 8, 8, 8), patch_sizes=(4, 2, 1, 1))
own(timm.models.MetaFormer, "poolformer", 64, dims=(8, 12, 16, 24), depths=(2, 2, 3, 1))
image("repvit_m0_9", 64, SLOW, 8, embed_dim=(8, 16, 24, 32), depth=(1, 1, 2, 1))
image("starnet_s1", 64, SLOW, 8, base_dim=8, depths=[2, 2, 2, 1])
own(timm.models.Levit, "levit", 64, SLOW, 8, img_size=64, embed_dim=(16, 24, 32), key_dim=8, num_heads=(2, 3, 4), depth=(2, 1, 1))
# Its table of biases is for 7 × 7 patches.
own(timm.models.EfficientFormer, "efficientformer", 224, SLOW, 4, embed_dims=(8, 12, 16, 24), depths=(2, 1, 1, 2), num_vit=1)
own(timm.models.EfficientViM, "efficientvim", 64, SLOW, 8, embed_dim=(16, 24, 32), depths=(1, 2, 1), state_dim=(9, 4, 1))


# ---- flows ----


class Coupling(nn.Module):
    """An affine coupling layer of RealNVP (Dinh et al. 2017), and the logarithm of its determinant."""

    def __init__(self, width, hidden, turns):
        super().__init__()
        self.turns, half = turns, width // 2
        net = lambda *last: nn.Sequential(nn.Linear(half, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, half), *last)
        self.scale, self.shift = net(nn.Tanh()), net()

    def forward(self, x):
        still, moved = x.chunk(2, -1)[:: -1 if self.turns else 1]
        s = self.scale(still)
        moved = moved * torch.exp(s) + self.shift(still)
        return torch.cat([moved, still] if self.turns else [still, moved], -1), s.sum(-1)


class RealNvp(nn.Module):
    """The negative logarithm of the likelihood of each sample, for which a loss with labels 0 is a distance."""

    def __init__(self, width=8, hidden=16, layers=4):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(width, hidden, i % 2 == 1) for i in range(layers))

    def forward(self, x):
        volume = 0
        for layer in self.layers:
            x, more = layer(x)
            volume = volume + more
        return (0.5 * (x * x + math.log(2 * math.pi)).sum(-1) - volume)[:, None]


def real_nvp():
    return Case(RealNvp(), lambda g: {"x": torch.randn((16, 8), generator=g)}, lambda g, x: torch.zeros((16, 1)), "mse")


family("realnvp", SLOW, real_nvp)


# PyTorch's exporter can't write these: a complex tensor, loops over the experts that have tokens.
UNEXPORTED = {"deepseekv2", "llama4", "longcatflash"}


def write(name, folder):
    build, curve = FAMILIES[name]
    torch.manual_seed(0)
    try:
        # Nets are drawn anew if rounding leads them far; families are what they are.
        nets.write_case(name, build(), folder, curve, "dynamo", moves=5)
    except torch.onnx.errors.OnnxExporterError as e:
        if name not in UNEXPORTED:
            raise
        (folder / f"{name}.onnx").unlink(missing_ok=True)
        return f"not exported: {nets.reason(e)}"


if __name__ == "__main__":
    nets.write_named(__doc__, FAMILIES, write)
