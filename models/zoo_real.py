"""The models in the sizes that people train, with random weights: nothing is downloaded."""
import timm
import transformers as tf

from zoo import Case, Named, causal_lm, classifier, next_token, register, tokens

REAL = {}
real = register(REAL, "_real")


def gpt2_config(**options):
    """GPT-2 small without dropout, changed by `options`."""
    off = dict(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0)
    return tf.GPT2Config(**off, **options)


@real
def gpt2_real():  # 124 M
    return causal_lm(tf.GPT2LMHeadModel, gpt2_config(), 4, 64)


@real
def gpt2_long():  # one sample, which plans that only split the batch can't shard
    return causal_lm(tf.GPT2LMHeadModel, gpt2_config(), 1, 256)


@real
def gpt2_medium():  # 355 M
    config = gpt2_config(n_embd=1024, n_layer=24, n_head=16)
    return causal_lm(tf.GPT2LMHeadModel, config, 4, 64)


@real
def nanogpt_real():  # 10.7 M
    config = gpt2_config(vocab_size=65, n_positions=256, n_embd=384, n_layer=6, n_head=6)
    return causal_lm(tf.GPT2LMHeadModel, config, 8, 256)


@real
def llama_real():  # 55 M
    config = tf.LlamaConfig(
        vocab_size=32000,
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    return causal_lm(tf.LlamaForCausalLM, config, 4, 256)


@real
def opt_real():  # 125 M
    return causal_lm(tf.OPTForCausalLM, tf.OPTConfig(dropout=0.0), 2, 128)


@real
def bert_real():  # 110 M
    config = tf.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    module = Named(tf.BertForMaskedLM(config), ["input_ids"], "logits")
    return Case(module, tokens(30522, 4, 128), next_token(30522))


def image_net(name):
    """A model of timm on eight images of 224 × 224."""
    return classifier(timm.create_model(name, pretrained=False), 8, 3, 224, 224, classes=1000)


@real
def vit_real():  # 22 M
    return image_net("vit_small_patch16_224")


@real
def mixer_real():  # 19 M
    return image_net("mixer_s16_224")


@real
def resnet_real():  # 26 M
    return image_net("resnet50")


@real
def mobilenet_real():  # 5.5 M
    return image_net("mobilenetv3_large_100")
