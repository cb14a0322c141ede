"""Families of language models of transformers: experts, state spaces, linear attention, and those of 2024 to 2026."""
from family import ENDS, GROUPED, LAYERS, PLAIN, VOCABULARY, language

HEADS = dict(**GROUPED, head_dim=8)
EXPERTS = dict(num_experts_per_tok=2, moe_intermediate_size=16)
LOCAL = dict(num_local_experts=4, num_experts_per_tok=2)
FEW = dict(num_experts=4, num_experts_per_tok=2)
ROUTED = dict(**EXPERTS, n_routed_experts=8, n_shared_experts=1, n_group=2, topk_group=1, first_k_dense_replace=1)
LATENT = dict(q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8)
MIX = ["sliding_attention", "full_attention", "sliding_attention"]
DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8, layer_types=["linear_attention", "linear_attention", "full_attention"])
SCAN = dict(mamba_n_heads=4, mamba_d_head=16, mamba_d_state=4, mamba_n_groups=1, mamba_chunk_size=4)
STATE = dict(vocab_size=VOCABULARY, hidden_size=16, state_size=4, num_hidden_layers=LAYERS)

# Experts.
language("ForCausalLM", {
    "Mixtral": dict(**GROUPED, **LOCAL),
    "DeepseekV2": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT, topk_method="group_limited_greedy"),
    "DeepseekV3": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT),
    "DeepseekV32": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT, index_n_heads=8, index_head_dim=8, index_topk=4),
    "Glm4Moe": dict(**HEADS, **ROUTED),
    "Glm4MoeLite": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT),
    "GlmMoeDsa": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT, index_n_heads=8, index_head_dim=8, index_topk=4),
    "Dots1": dict(**HEADS, **ROUTED),
    "SolarOpen": dict(**HEADS, **ROUTED),
    "Youtu": dict(**PLAIN, num_key_value_heads=4, **LATENT),
    "Qwen2Moe": dict(**GROUPED, **EXPERTS, num_experts=4, shared_expert_intermediate_size=16),
    "Qwen3Moe": dict(**HEADS, **EXPERTS, num_experts=4),
    "Olmoe": dict(**GROUPED, **FEW),
    "FlexOlmo": dict(**GROUPED, **FEW, **ENDS),
    "GraniteMoe": dict(**GROUPED, **LOCAL),
    "GraniteMoeShared": dict(**GROUPED, **LOCAL, shared_intermediate_size=16),
    "GraniteMoeHybrid": dict(**GROUPED, **LOCAL, shared_intermediate_size=16, layer_types=["mamba", "attention", "mamba"], **SCAN),
    "Phimoe": dict(**GROUPED, **LOCAL),
    "GptOss": dict(**HEADS, **LOCAL, sliding_window=4, layer_types=MIX),
    "JetMoe": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=LAYERS, num_key_value_heads=2, kv_channels=8, intermediate_size=16, max_position_embeddings=16, **LOCAL),
    "ExaoneMoe": dict(**GROUPED, **EXPERTS, num_experts=4, num_shared_experts=1, n_group=1, topk_group=1, first_k_dense_replace=1, sliding_window=4, layer_types=MIX),
    "Ernie4_5_Moe": dict(**GROUPED, **ENDS, moe_num_experts=4, moe_k=2, moe_intermediate_size=16, moe_num_shared_experts=1, moe_layer_start_index=1, moe_layer_end_index=2),
    "HunYuanMoEV1": dict(**HEADS, **ENDS, num_experts=4, moe_topk=2, moe_intermediate_size=16),
    "MiniMaxM2": dict(**HEADS, **LOCAL, **ENDS),
    "MiMoV2Flash": dict(**HEADS, **EXPERTS, n_routed_experts=4, v_head_dim=8, sliding_window=4),
    "Afmoe": dict(**HEADS, **EXPERTS, num_experts=4, num_shared_experts=1, num_dense_layers=1, sliding_window=4),
    "LongcatFlash": dict(vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_attention_heads=4, ffn_hidden_size=64, expert_ffn_hidden_size=16, max_position_embeddings=16, **LATENT, head_dim=4, moe_topk=2, n_routed_experts=4, zero_expert_num=2),
    "Mistral4": dict(**PLAIN, num_key_value_heads=4, **ROUTED, **LATENT),
    "DeepseekV4": dict(**HEADS, **EXPERTS, n_routed_experts=4, n_shared_experts=1, q_lora_rank=16),
    "Laguna": dict(**HEADS, **EXPERTS, num_experts=4),
    "Cohere2Moe": dict(**HEADS, **EXPERTS, num_experts=4),
    "MiniMax": dict(**HEADS, **LOCAL, block_size=4, layer_types=["linear_attention", "full_attention", "linear_attention"]),
}, use_cache=False)

# Dense ones of 2024 to 2026.
language("ForCausalLM", {
    "Qwen3": HEADS,
    "Olmo3": dict(**GROUPED, sliding_window=4, layer_types=MIX),
    "Glm4": dict(**HEADS, pad_token_id=0),
    "Exaone4": dict(**GROUPED, sliding_window=4, layer_types=MIX),
    "Cohere2": dict(**GROUPED, sliding_window=4, layer_types=MIX),
    "HunYuanDenseV1": dict(**HEADS, **ENDS),
    "Ernie4_5": dict(**HEADS, **ENDS),
    "SmolLM3": dict(**GROUPED, **ENDS),
    "Arcee": GROUPED,
    "Helium": HEADS,
    "Doge": dict(**GROUPED, attn_implementation="eager"),  # the exporter can't write the fused form with a bias
    "Apertus": dict(**GROUPED, **ENDS),
}, use_cache=False)
language("ForCausalLM", {
    "Gemma3": dict(**HEADS, sliding_window=4, layer_types=MIX),
    "Gemma3n": dict(**HEADS, sliding_window=4, layer_types=MIX, vocab_size_per_layer_input=VOCABULARY, hidden_size_per_layer_input=8, num_kv_shared_layers=0, laurel_rank=4, activation_sparsity_pattern=[0.0, 0.0, 0.0], altup_num_inputs=2),
    "Llama4": dict(**HEADS, intermediate_size_mlp=64, num_local_experts=4, num_experts_per_tok=1, attention_chunk_size=4, moe_layers=[1], no_rope_layers=[1, 1, 0]),
}, "TextConfig", use_cache=False)
language("LMHeadModel", {
    "GPT2": dict(vocab_size=VOCABULARY, n_positions=16, n_embd=32, n_layer=LAYERS, n_head=4),
    "XLNet": dict(vocab_size=VOCABULARY, d_model=32, n_layer=LAYERS, n_head=4, d_inner=64),
})

# State spaces, recurrences and linear attention.
language("ForCausalLM", {
    "Mamba2": dict(vocab_size=VOCABULARY, hidden_size=16, state_size=4, num_hidden_layers=LAYERS, num_heads=4, head_dim=8, n_groups=1, chunk_size=4),
    "FalconMamba": STATE,
    "Bamba": dict(**GROUPED, attn_layer_indices=[1], **SCAN),
    "Jamba": dict(**GROUPED, **FEW, attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1, mamba_d_state=4, mamba_dt_rank=4, use_mamba_kernels=False),
    "FalconH1": dict(**HEADS, mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8, mamba_d_state=4, mamba_n_groups=1, mamba_chunk_size=4),
    "Zamba2": dict(**GROUPED, mamba_d_state=4, n_mamba_heads=4, mamba_ngroups=1, chunk_size=4, layers_block_type=["mamba", "hybrid", "mamba"], hybrid_layer_ids=[1], num_mem_blocks=1, use_mem_rope=True),
    "NemotronH": dict(vocab_size=VOCABULARY, hidden_size=32, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=64, hybrid_override_pattern="M*-", num_hidden_layers=3, mamba_num_heads=4, mamba_head_dim=8, ssm_state_size=4, n_groups=2, chunk_size=4),
    "xLSTM": dict(vocab_size=VOCABULARY, hidden_size=32, num_blocks=2, num_heads=4, chunk_size=4),
    "RecurrentGemma": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=1, head_dim=8, intermediate_size=64, lru_width=32, attention_window_size=8),
    "OlmoHybrid": dict(**GROUPED, **DELTA, **ENDS),
    "Qwen3Next": dict(**HEADS, **EXPERTS, num_experts=4, shared_expert_intermediate_size=16, **DELTA),
    "KimiLinear": dict(**PLAIN, **ENDS, num_key_value_heads=4, **EXPERTS, num_local_experts=4, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8, linear_head_dim=8, linear_num_heads=4, layer_types=["linear_attention", "full_attention", "linear_attention"], mlp_layer_types=["dense", "sparse", "sparse"]),
}, use_cache=False)
language("ForCausalLM", {
    "Rwkv": dict(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, attention_hidden_size=32, intermediate_size=64, context_length=12),
})
language("ForCausalLM", {
    "Qwen3_5": dict(**HEADS, **DELTA),
}, "TextConfig", use_cache=False)

# Encoders.
language("ForMaskedLM", {
    "Bert": PLAIN,
    "Esm": {**PLAIN, "max_position_embeddings": 20, "pad_token_id": 1, "mask_token_id": 2},
    "Funnel": dict(vocab_size=VOCABULARY, block_sizes=[1, 1], num_decoder_layers=1, d_model=32, n_head=4, d_head=8, d_inner=64, max_position_embeddings=16),
})
