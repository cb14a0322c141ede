"""The table of families, which scripts of families enter, and how families of transformers are built from settings."""
import os
import sys
import warnings
from functools import partial

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import transformers as tf  # noqa: E402

from zoo import Case, Named, classifier, next_token  # noqa: E402

SGD = dict(optimizer="sgd", lr=0.01, momentum=0.9)
SLOW = dict(optimizer="sgd", lr=1e-4, momentum=0.9)  # batch norm over few samples makes larger steps chaotic
VOCABULARY, LENGTH, LAYERS = 64, 12, 3
FAMILIES = {}  # name -> (function that builds a Case, curve)

WIDE = dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4, max_position_embeddings=16)
PLAIN = dict(**WIDE, intermediate_size=64)
GROUPED = dict(**PLAIN, num_key_value_heads=2)
ENDS = dict(bos_token_id=0, eos_token_id=0, pad_token_id=0)
SHORT = dict(n_embd=32, n_layer=LAYERS, n_head=4, vocab_size=VOCABULARY, **ENDS)


def family(name, curve, build):
    assert name not in FAMILIES, name
    FAMILIES[name] = (build, curve)


def without_dropout(config):
    """Sets every rate of a config to 0."""
    for key, value in vars(config).items():
        if ("drop" in key or "pdrop" in key) and isinstance(value, float):
            setattr(config, key, 0.0)
    return config


def with_short_chunks(model_class):
    """Exporters unroll the loops over a chunk of linear attention, so that chunks get 4 positions instead of 64."""
    scope = vars(sys.modules[model_class.__module__])
    for name in ("torch_chunk_gated_delta_rule", "chunk_kimi_delta_attention"):
        if name in scope:
            scope[name] = partial(scope[name], chunk_size=4)
    return model_class


def without_draws(module):
    """A router that draws experts while it trains takes the likeliest ones, as in the exported file."""
    for part in module.modules():
        if type(part).__name__ == "PhimoeTopKRouter":
            part.training, part.train = False, lambda mode=True: None
    return module


def language(suffix, classes, config_suffix="Config", length=LENGTH, **options):
    """Families of models whose class is PREFIX + suffix, from their configs' settings; `options` are arguments of their call."""
    for prefix, settings in classes.items():
        def build(prefix=prefix, settings=settings):
            config = without_dropout(getattr(tf, prefix + config_suffix)(**settings))
            if any("experts" in key for key in settings):
                config._experts_implementation = "batched_mm"  # the exporter can't write the others
            model = with_short_chunks(getattr(tf, prefix + suffix))(config)
            module = Named(without_draws(model), ["input_ids"], "logits", **options)
            # Row 1 of a position table may be padding, so tokens start at 3, after the special ones.
            return Case(module, lambda g: {"input_ids": torch.randint(3, VOCABULARY, (4, length), generator=g)}, next_token(VOCABULARY))

        family(prefix.lower(), SGD, build)


def vision(prefix, size=32, curve=SGD, batch=4, attention=None, **settings):
    """A family of models that classify images of `size` × `size`, in batches of `batch`."""
    def build():
        config = without_dropout(getattr(tf, f"{prefix}Config")(num_labels=10, **settings))
        if attention:
            config._attn_implementation = attention
        module = getattr(tf, f"{prefix}ForImageClassification")(config)
        return classifier(Named(module, ["pixel_values"], "logits"), batch, 3, size, size)

    family(f"hf_{prefix.lower()}", curve, build)
