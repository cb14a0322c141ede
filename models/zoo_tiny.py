"""The tiny models: every kind of network, each file at most 2 MB."""
import timm
import torch
import torch.nn as nn
import torch.nn.functional as F
import transformers as tf
from timm.models.mobilenetv3 import decode_arch_def
from timm.models.resnet import Bottleneck

from zoo import Case, Named, causal_lm, classifier, image, next_token, register, tokens

TINY = {}
tiny = register(TINY)


@tiny
def mlp():
    layers = [nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10)]
    return classifier(nn.Sequential(*layers), 16, 32, name="x")


@tiny
def regress():
    module = nn.Sequential(
        nn.Linear(24, 48),
        nn.SiLU(),
        nn.LayerNorm(48),
        nn.Linear(48, 48),
        nn.Softplus(),
        nn.Linear(48, 3),
    )

    def targets(g, x):
        x = x["x"]
        return torch.stack([x[:, :8].sum(1), x[:, 8:16].sin().sum(1), x.abs().mean(1)], 1)

    return Case(module, image(16, 24, name="x"), targets, "mse")


@tiny
def cnn():
    module = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 7 * 7, 10),
    )
    return classifier(module, 8, 1, 28, 28)


class Recurrent(nn.Module):
    """Embedding, a recurrent network over the sequence, a linear head."""

    def __init__(self, kind, width, layers, **options):
        super().__init__()
        self.emb = nn.Embedding(50, 32)
        self.rnn = kind(32, width, layers, batch_first=True, **options)
        self.out = nn.Linear(width * (2 if self.rnn.bidirectional else 1), 50)

    def forward(self, input_ids):
        return self.out(self.rnn(self.emb(input_ids))[0])


@tiny
def lstm():
    return Case(Recurrent(nn.LSTM, 48, 2), tokens(50, 4, 12), next_token(50))


class MaskedEncoder(nn.Module):
    """A post-norm encoder with a padding mask as its second input."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(60, 32)
        self.pos = nn.Parameter(torch.zeros(1, 16, 32))
        layer = nn.TransformerEncoderLayer(
            32, 4, 64, dropout=0.0, activation="gelu", batch_first=True
        )
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(32, 60)

    def forward(self, input_ids, keep):
        x = self.emb(input_ids) + self.pos
        return self.out(self.enc(x, mask=None, src_key_padding_mask=(1.0 - keep) * -1e9))


@tiny
def encoder():
    def inputs(g):
        length = torch.randint(8, 17, (4, 1), generator=g)
        ids = torch.randint(0, 60, (4, 16), generator=g)
        return {"input_ids": ids, "keep": (torch.arange(16)[None] < length).float()}

    def labels(g, x):
        return torch.where(x["keep"] > 0, (x["input_ids"] * 3 + 1) % 60, -100)

    return Case(MaskedEncoder(), inputs, labels)


class Block(nn.Module):
    """A pre-norm transformer layer with causal attention."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln2 = nn.LayerNorm(width)
        self.fc = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        heads = self.heads
        qkv = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, heads, width // heads).transpose(1, 2) for t in qkv)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.out(F.gelu(self.fc(self.ln2(x))))


class GPT(nn.Module):
    """A GPT in the manner of nanoGPT."""

    def __init__(self, vocabulary, length, width, heads, layers):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids):
        x = self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


@tiny
def nanogpt():
    return Case(GPT(96, 16, 48, 4, 3), tokens(96, 4, 16), next_token(96))


@tiny
def gpt2():
    config = tf.GPT2Config(
        vocab_size=97,
        n_positions=16,
        n_embd=48,
        n_layer=2,
        n_head=3,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return causal_lm(tf.GPT2LMHeadModel, config, 4, 16)


@tiny
def opt():
    config = tf.OPTConfig(
        vocab_size=96,
        hidden_size=48,
        num_hidden_layers=2,
        ffn_dim=96,
        num_attention_heads=4,
        max_position_embeddings=16,
        word_embed_proj_dim=48,
        dropout=0.0,
        pad_token_id=1,
    )
    return causal_lm(tf.OPTForCausalLM, config, 4, 16)


@tiny
def llama():
    config = tf.LlamaConfig(
        vocab_size=96,
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=16,
    )
    return causal_lm(tf.LlamaForCausalLM, config, 4, 16)


@tiny
def qwen3():
    config = tf.Qwen3Config(
        vocab_size=96,
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=16,
        tie_word_embeddings=True,
    )
    return causal_lm(tf.Qwen3ForCausalLM, config, 4, 16)


@tiny
def bert():
    config = tf.BertConfig(
        vocab_size=96,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )

    def inputs(g):
        lengths = torch.tensor([[16], [12], [9], [16]])
        ids = torch.randint(0, 96, (4, 16), generator=g)
        return {"input_ids": ids, "attention_mask": (torch.arange(16)[None] < lengths).long()}

    def labels(g, x):  # a masked language model: few positions count
        masked = torch.rand(4, 16, generator=g) < 0.3
        return torch.where(masked, (x["input_ids"] * 3 + 1) % 96, -100)

    names = ["input_ids", "attention_mask"]
    return Case(Named(tf.BertForMaskedLM(config), names, "logits"), inputs, labels)


@tiny
def vit():
    module = timm.models.VisionTransformer(
        img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=4, num_classes=10
    )
    return classifier(module, 4, 3, 32, 32)


@tiny
def mixer():
    module = timm.models.MlpMixer(
        img_size=32, patch_size=8, embed_dim=48, num_blocks=2, num_classes=10
    )
    return classifier(module, 4, 3, 32, 32)


@tiny
def resnet():
    module = timm.models.ResNet(
        Bottleneck, [1, 1, 1, 1], channels=(8, 12, 16, 20), stem_width=8, num_classes=10
    )
    return classifier(module, 8, 3, 64, 64)


@tiny
def mobilenet():
    stages = [
        ["ds_r1_k3_s1_e1_c8_se0.25"],
        ["ir_r2_k5_s2_e3_c12_nre"],
        ["ir_r1_k3_s2_e4_c16_se0.25"],
        ["cn_r1_k1_s1_c32"],
    ]
    module = timm.models.MobileNetV3(
        decode_arch_def(stages),
        num_classes=10,
        stem_size=8,
        num_features=48,
        act_layer=nn.Hardswish,
        round_chs_fn=lambda channels, **options: int(channels),
    )
    return classifier(module, 4, 3, 32, 32)
