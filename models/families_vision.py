"""Families of transformers and timm that give more than one class: maps, depths, boxes, waves, pairs of texts, words with images."""
import timm
import torch
import torch.nn as nn
import transformers as tf

from family import ENDS, LAYERS, PLAIN, SGD, SLOW, VOCABULARY, family, without_dropout
from zoo import Case, Named


class Picked(nn.Module):
    """Calls a model with named inputs and returns a tensor that `pick` makes of its result."""

    def __init__(self, model, names, pick):
        super().__init__()
        self.model, self.names, self.pick = model, names, pick

    def forward(self, *values):
        return self.pick(self.model(**dict(zip(self.names, values))))


def scored(name, build, pick, curve=SGD, **draws):
    """A family whose output is compared with noise of its shape, by squares; `draws` give its inputs from a generator."""

    def case():
        module = Picked(build(), list(draws), pick)

        def labels(g, x):
            with torch.no_grad():
                return torch.randn(module(*x.values()).shape, generator=g)

        return Case(module, lambda g: {key: draw(g) for key, draw in draws.items()}, labels, "mse")

    family(name, curve, case)


def built(prefix, suffix, attention=None, **settings):
    """A function that builds the model PREFIX + suffix of transformers from a config."""

    def build():
        c = without_dropout(getattr(tf, f"{prefix}Config")(**settings))
        if attention:
            c._attn_implementation = attention
        return getattr(tf, prefix + suffix)(c)

    return build


def normal(*shape):
    return lambda g: torch.randn(shape, generator=g)


def ids(*shape):
    return lambda g: torch.randint(3, VOCABULARY, shape, generator=g)


PATCHES = dict(hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)

# ---- maps and depths ----


def pixels(result):
    return result.logits.flatten(2).transpose(1, 2)


def segments(prefix, size=64, curve=SGD, batch=4, attention=None, **settings):
    """A family of models that say a class for each pixel."""

    def case():
        module = Picked(built(prefix, "ForSemanticSegmentation", attention, num_labels=5, **settings)(), ["pixel_values"], pixels)

        def labels(g, x):
            with torch.no_grad():
                return torch.randint(0, 5, module(*x.values()).shape[:2], generator=g)

        return Case(module, lambda g: {"pixel_values": torch.randn((batch, 3, size, size), generator=g)}, labels)

    family(f"hf_{prefix.lower()}_segments", curve, case)


HEADS_OF_4 = dict(hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)
segments("Segformer", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16)
segments("Beit", 32, SLOW, 4, "eager", **HEADS_OF_4, out_indices=[1, 2, 3, 4], use_auxiliary_head=False, pool_scales=[1, 2], use_relative_position_bias=True, out_features=None)
segments("DPT", 32, SLOW, 4, **HEADS_OF_4, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=8, use_auxiliary_head=False, is_hybrid=False)
scored("hf_glpn_depth", built("GLPN", "ForDepthEstimation", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=8), lambda y: y.predicted_depth, SLOW, pixel_values=normal(4, 3, 64, 64))

# ---- boxes and masks ----


def boxes(result):
    return torch.cat([result.logits, result.pred_boxes], -1)


def small_resnet(*stages):
    return tf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1], layer_type="basic", out_features=list(stages))


DETR = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_queries=5, num_labels=4, auxiliary_loss=False)


def detr():
    config = without_dropout(tf.DetrConfig(backbone_config=small_resnet("stage4"), use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, **DETR))
    return tf.DetrForObjectDetection(config)


def deformable_detr():
    backbone = small_resnet("stage2", "stage3", "stage4")
    config = without_dropout(tf.DeformableDetrConfig(backbone_config=backbone, use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, num_feature_levels=3, **{**DETR, "d_model": 32}))
    config.disable_custom_kernels = True
    return tf.DeformableDetrForObjectDetection(config)


scored("hf_detr", detr, boxes, SLOW, pixel_values=normal(2, 3, 64, 64))
scored("hf_deformabledetr", deformable_detr, boxes, SLOW, pixel_values=normal(2, 3, 64, 64))
scored("hf_yolos", built("Yolos", "ForObjectDetection", **{**PATCHES, "image_size": [32, 32]}, num_detection_tokens=5, num_labels=4), boxes, pixel_values=normal(4, 3, 32, 32))
# Its images are not those that its table of positions is for.
scored("hf_yolos_resized", built("Yolos", "ForObjectDetection", **{**PATCHES, "image_size": [32, 32]}, num_detection_tokens=5, num_labels=4), boxes, pixel_values=normal(4, 3, 48, 32))

# ---- waves ----

WAVES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=(8, 8), conv_kernel=(10, 3), conv_stride=(5, 2), num_feat_extract_layers=2, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, vocab_size=16, apply_spec_augment=False, mask_time_prob=0.0, layerdrop=0.0)


def logits(result):
    return result.logits


for prefix in ("Wav2Vec2", "Hubert", "WavLM"):
    scored(f"hf_{prefix.lower()}", built(prefix, "ForCTC", **WAVES), logits, SLOW, input_values=normal(2, 200))
scored("hf_ast", built("AST", "ForAudioClassification", hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4, intermediate_size=64, patch_size=4, frequency_stride=4, time_stride=4, max_length=16, num_mel_bins=16, num_labels=5), logits, input_values=normal(4, 16, 16))
WHISPER = dict(vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=12, max_target_positions=12, encoder_layerdrop=0.0, decoder_layerdrop=0.0, use_cache=False, **ENDS, decoder_start_token_id=0, apply_spec_augment=False)
scored("hf_whisper", built("Whisper", "ForConditionalGeneration", **WHISPER), logits, input_features=normal(2, 8, 24), decoder_input_ids=ids(2, 6))

# ---- encoders with decoders ----

PAIR = dict(vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=24, use_cache=False, encoder_layerdrop=0.0, decoder_layerdrop=0.0, **ENDS, decoder_start_token_id=0)


def pair(prefix, settings, attention=None):
    """A family that reads tokens and predicts others."""

    def case():
        module = Named(built(prefix, "ForConditionalGeneration" if prefix != "Marian" else "MTModel", attention, **settings)(), ["input_ids", "decoder_input_ids"], "logits")
        inputs = lambda g: {"input_ids": ids(4, 10)(g), "decoder_input_ids": ids(4, 8)(g)}
        return Case(module, inputs, lambda g, x: (x["decoder_input_ids"] * 3 + 1) % VOCABULARY)

    family(f"hf_{prefix.lower()}", SGD, case)


for prefix in ("Bart", "Marian", "Pegasus"):
    pair(prefix, PAIR)
FIVE = dict(vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, relative_attention_num_buckets=8, use_cache=False, eos_token_id=0, pad_token_id=0, decoder_start_token_id=0)
for prefix in ("T5", "MT5", "UMT5"):
    pair(prefix, FIVE, "eager")

# ---- words with images ----

CLIP = dict(text_config=dict(**PLAIN, **ENDS), vision_config=PATCHES, projection_dim=16)
scored("hf_clip", built("CLIP", "Model", **CLIP), lambda y: y.logits_per_image, input_ids=ids(4, 8), pixel_values=normal(4, 3, 32, 32))
scored("hf_siglip", built("Siglip", "Model", **{k: v for k, v in CLIP.items() if k != "projection_dim"}), lambda y: y.logits_per_image, input_ids=ids(4, 16), pixel_values=normal(4, 3, 32, 32))

# ---- series ----

SERIES = dict(num_input_channels=2, context_length=16, prediction_length=4, patch_length=4, patch_stride=4, loss="mse", scaling="std")
scored("hf_patchtst", built("PatchTST", "ForPrediction", **SERIES, num_hidden_layers=2, d_model=16, num_attention_heads=2, ffn_dim=32, num_parallel_samples=1), lambda y: y.prediction_outputs, past_values=normal(4, 16, 2))
scored("hf_patchtsmixer", built("PatchTSMixer", "ForPrediction", **SERIES, d_model=8, num_layers=2), lambda y: y.prediction_outputs, past_values=normal(4, 16, 2))

# ---- timm ----


def crossvit():
    # Its two scales are 60 and 56 pixels.
    return timm.create_model("crossvit_tiny_240", pretrained=False, num_classes=10, img_size=60, patch_size=(12, 14), embed_dim=(16, 32), depth=((1, 1, 0), (1, 1, 0)), num_heads=(2, 4))


scored("timm_crossvit", crossvit, lambda y: y, x=normal(4, 3, 60, 60))


def beit():
    model = timm.create_model("beit_base_patch16_224", pretrained=False, num_classes=10, img_size=32, patch_size=8, embed_dim=32, depth=LAYERS, num_heads=4)
    for part in model.modules():
        part.fused_attn = False  # the exporter can't write the fused form with a bias
    return model


scored("timm_beit_base_patch16_224", beit, lambda y: y, x=normal(4, 3, 32, 32))
