// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --clip-norm 1
//      --march x86-64-v3
//   plan: 1 rank, arena 8184064 bytes, bound 8184064
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// fused functions, the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt.h"

// `m` is the arena. A place in it is an offset with a name: W parameter, B buffer, S state,
// I input, H number set by the trainer, C constant, Z accumulator, A any other value,
// T workspace of one call. For repeated layers it is the place of layer 0.
static const int64_t I1 = 8182592, A2 = 1155264, A3 = 1142912, A6 = 7910912, A7 = 7923200,
    A10 = 8173760, A11 = 8174592, A12 = 8175424, A13 = 1241344, T14 = 1142912, A15 = 1204416,
    A18 = 7495936, T19 = 1142912, A20 = 7960128, A21 = 8166464, T22 = 1142912, A23 = 1216704,
    A28 = 7997056, A29 = 8176256, A30 = 8177088, A31 = 8177920, T32 = 1142912, A33 = 7348416,
    A36 = 1216704, T37 = 1142912, A38 = 1265920, A43 = 1253888, A44 = 1254208, A45 = 1254528,
    A46 = 1254848, A47 = 1204480, T48 = 1142912, A49 = 1179840, I51 = 7606592, A52 = 1176064,
    A53 = 8183680, A54 = 1142912, A55 = 1176192, A56 = 8183808, T57 = 1142912, A58 = 1175744,
    A59 = 1143488, A60 = 1143808, A61 = 1144128, T62 = 1142912, A63 = 8183936, T64 = 1142912,
    A65 = 1204480, T66 = 1142912, A67 = 8183168, A68 = 1167872, A69 = 1216832, A70 = 1229184,
    A71 = 1167552, A72 = 1241536, T73 = 1142912, A74 = 8183424, A75 = 8110912, T76 = 1142912,
    A77 = 8123264, T78 = 1142912, A79 = 8178752, A80 = 8098624, T81 = 1142912, A82 = 1216704,
    A83 = 1265920, T84 = 1142912, A85 = 7606592, T86 = 1142912, A87 = 8169600, T88 = 1142912,
    A89 = 1216704, T90 = 1142912, A91 = 8179392, A92 = 1192576, A93 = 8141760, A94 = 1167552,
    A95 = 1192256, A96 = 1179904, T97 = 1142912, A98 = 8180032, T99 = 1142912, A100 = 7717248,
    T101 = 1142912, A102 = 8180672, T103 = 1142912, A104 = 8154112, T105 = 1142912, A106 = 8070912,
    T107 = 1142912, A108 = 8033984, T109 = 1142912, A110 = 8171968, T111 = 1142912, A112 = 1204416,
    T113 = 1142912, A114 = 8181312, A115 = 1192576, A116 = 1167552, A117 = 1179904, A118 = 1192256,
    A119 = 1216768, T120 = 1142912, A121 = 8181952, T122 = 1142912, A123 = 7827904, T124 = 1142912,
    A125 = 1536192, T126 = 1161408, A127 = 1142912, A128 = 1161984, T129 = 1161408, A130 = 1162432,
    A131 = 1161408, A132 = 1161536, A133 = 1163072, A134 = 1161984, T135 = 1161408, A136 = 1162432,
    A137 = 1161408, A138 = 1162624, A139 = 1161408, T140 = 1162048, A141 = 1163200, A142 = 1163200,
    A143 = 1161408, T144 = 1162240, A145 = 1163328, A146 = 1161408, A147 = 1161536, A148 = 1163200,
    A149 = 1161408, T150 = 1162240, A151 = 1163328, A152 = 1161408, A153 = 1161536, A154 = 1162816,
    A155 = 1161984, T156 = 1161408, A157 = 1162112, A164 = 1161408, A165 = 1161536, A166 = 1161664,
    A167 = 1161792, A168 = 1161920, A169 = 1162048;
static const int64_t I205 = 1155264, A206 = 1142912, A207 = 7397632, A208 = 7385344,
    A209 = 1204416, T210 = 1142912, A211 = 7348416, T212 = 1142912, A213 = 7409984, A214 = 7422336,
    T215 = 1142912, A216 = 1265920, A217 = 1278272, T218 = 1142912, A219 = 1216704, T220 = 1142912,
    A221 = 1265920, A222 = 1204480, T223 = 1142912, A224 = 1179840, I225 = 7423424, A226 = 1176064,
    A227 = 1176192, A228 = 1142912, A229 = 1176320, T230 = 1142912, A231 = 1175744, A232 = 1143488,
    T233 = 1142912, A234 = 1143808;
static const int64_t W4 = 0, W5 = 18496, W8 = 21632, W9 = 22272, W16 = 22912, W17 = 105920,
    W24 = 107712, W25 = 135424, W26 = 136064, W27 = 136704, W34 = 137344, W35 = 248000,
    W39 = 250368, W40 = 361024, W41 = 361664, W42 = 361920, W50 = 362176, H158 = 380800,
    H159 = 380928, H160 = 380672, H161 = 381056, H162 = 381312, H163 = 381440, S170 = 381568,
    S171 = 400064, H172 = 381184, S173 = 418560, S174 = 421696, S175 = 424832, S176 = 425088,
    S177 = 425344, S178 = 425600, S179 = 425856, S180 = 444352, S181 = 462848, S182 = 463488,
    S183 = 464128, S184 = 464768, S185 = 465408, S186 = 548416, S187 = 631424, S188 = 633216,
    S189 = 635008, S190 = 662720, S191 = 690432, S192 = 691072, S193 = 691712, S194 = 692352,
    S195 = 692992, S196 = 693632, S197 = 694272, S198 = 804928, S199 = 915584, S200 = 917952,
    S201 = 920320, S202 = 1030976, S203 = 1141632, S204 = 1142272;

static RtRows wte_forward, add_forward, ln1_forward, qkv_forward, ln2_forward, blocks_erf_forward,
    blocks_add_forward, ln_forward, cross_entropy_forward, cross_entropy_mod_forward,
    cross_entropy_log_forward, cross_entropy_backward, ln_backward, ln_add_backward,
    blocks_erf_backward, ln_add_backward_2, ln_div_backward, grad_norm, grad_norm_add,
    grad_norm_add_2, grad_norm_add_3, grad_norm_add_4, grad_norm_reduce_sum, grad_norm_add_5,
    grad_norm_reduce_sum_2, grad_norm_add_6, grad_norm_add_7, grad_norm_sqrt, clip_norm, adamw,
    ln_predict, ln2_predict, cross_entropy_predict, cross_entropy_log_predict;

// blocks.{}, 3 times
static void block1_forward(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub mul ... f32[4,16,48]", 2.22e4, 2.57e4, 1.31e4);
    rt_rows(rt, ln1_forward, (char *[]){m + A7 - 12288 + layer * 12288, m + W8 + layer * 192,
        m + W9 + layer * 192, m + A10 + layer * 256, m + A11 + layer * 256, m + A12 + layer * 256,
        m + A13}, 64, 36864);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 7.68e4, 3.69e4);
    rt_dot(rt_with(rt, m + T14), 0, m + A15, m + A13, m + W16 + layer * 27648);
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 7.43e4, 3.69e4);
    rt_rows(rt, qkv_forward, (char *[]){m + A15, m + W17 + layer * 576, m + A18 + layer * 36864},
        64, 9216);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 5.02e4, 1.33e4);
    rt_attention(rt_with(rt, m + T19), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .n_group = 0,
        .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0},
        144, 1}, .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .lse = {{64, 1},
        {0}, 4, 0}, .offset = 0, .causal = true, .window = 0, .scale = 0.288675129},
        m + A20 + layer * 12288, m + A21 + layer * 1024, m + A18 + layer * 36864,
        m + A18 + 192 + layer * 36864, m + A18 + 384 + layer * 36864, NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(rt_with(rt, m + T22), 1, m + A23, m + A20 + layer * 12288, m + W24 + layer * 9216);
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul ... f32[4,16,48]", 2.84e4, 3.82e4, 2.53e4);
    rt_rows(rt, ln2_forward, (char *[]){m + A23, m + W25 + layer * 192,
        m + A7 - 12288 + layer * 12288, m + W26 + layer * 192, m + W27 + layer * 192,
        m + A28 + layer * 12288, m + A29 + layer * 256, m + A30 + layer * 256,
        m + A31 + layer * 256, m + A23}, 64, 43008);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(rt_with(rt, m + T32), 2, m + A33 + layer * 49152, m + A23, m + W34 + layer * 36864);
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 9.91e4, 4.92e4);
    rt_rows(rt, blocks_erf_forward, (char *[]){m + A33 + layer * 49152, m + W35 + layer * 768,
        m + A36}, 64, 73728);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(rt_with(rt, m + T37), 3, m + A38, m + A36, m + W39 + layer * 36864);
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4);
    rt_rows(rt, blocks_add_forward, (char *[]){m + A38, m + W40 + layer * 192,
        m + A28 + layer * 12288, m + A7 + layer * 12288}, 64, 6144);
}

// blocks.{}, 3 times
static void block1_backward(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T78), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A79 + layer * 192,
        m + A80 + (layer + 1) % 2 * 12288);
    rt_gradient(rt, 3, layer, m + A79 + layer * 192);  // blocks.{}.out.bias
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(rt_with(rt, m + T81), 7, m + A82, m + A80 + (layer + 1) % 2 * 12288,
        m + W39 + layer * 36864);
    RT_AT(rt, "blocks.{}: add div erf add mul mul mul ... f32[4,16,192]", 5.53e5, 1.48e5, 9.83e4);
    rt_rows(rt, blocks_erf_backward, (char *[]){m + A33 + layer * 49152, m + W35 + layer * 768,
        m + A82, m + A82, m + A83}, 64, 196608);
    RT_AT(rt, "blocks.{}.out: dot f32[48,192]", 1.18e6, 9.83e4, 3.69e4);
    rt_dot(rt_with(rt, m + T84), 8, m + A85 + layer * 36864, m + A82,
        m + A80 + (layer + 1) % 2 * 12288);
    rt_gradient(rt, 4, layer, m + A85 + layer * 36864);  // blocks.{}.out.weight
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[192]", 1.23e4, 4.99e4, 768);
    rt_reduce(rt_with(rt, m + T86), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 192}, .stride = {192, 1}, .reduced = {1, 0}}, m + A87 + layer * 768, m + A83);
    rt_gradient(rt, 5, layer, m + A87 + layer * 768);  // blocks.{}.fc.bias
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(rt_with(rt, m + T88), 9, m + A89, m + A83, m + W34 + layer * 36864);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T90), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A91 + layer * 192, m + A89);
    rt_gradient(rt, 6, layer, m + A91 + layer * 192);  // blocks.{}.ln2.bias
    RT_AT(rt, "blocks.{}.ln2: mul mul reduce_sum mul ... f32[4,16,48]", 3.09e4, 6.28e4, 4.97e4);
    rt_rows(rt, ln_add_backward_2, (char *[]){m + A89, m + W26 + layer * 192,
        m + A31 + layer * 256, m + A28 + layer * 12288, m + A29 + layer * 256,
        m + W27 + layer * 192, m + A89, m + A92, m + A93, m + A94, m + A95, m + A96}, 64, 39936);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T97), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A98 + layer * 192, m + A94);
    rt_gradient(rt, 7, layer, m + A98 + layer * 192);  // blocks.{}.ln2.weight
    RT_AT(rt, "blocks.{}.ln2: mul add sqrt div mul neg ... f32[4,16,48]", 1.96e4, 3.79e4, 1.23e4);
    rt_rows(rt, ln_div_backward, (char *[]){m + A30 + layer * 256, m + A95, m + A31 + layer * 256,
        m + A93, m + A89, m + A80 + (layer + 1) % 2 * 12288, m + A92, m + A93}, 64, 46080);
    RT_AT(rt, "blocks.{}.fc: dot f32[192,48]", 1.18e6, 9.83e4, 3.69e4);
    rt_dot(rt_with(rt, m + T99), 10, m + A100 + layer * 36864, m + A96, m + A83);
    rt_gradient(rt, 8, layer, m + A100 + layer * 36864);  // blocks.{}.fc.weight
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T101), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A102 + layer * 192, m + A93);
    rt_gradient(rt, 9, layer, m + A102 + layer * 192);  // blocks.{}.proj.bias
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,4,12]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(rt_with(rt, m + T103), 11, m + A104, m + A93, m + W24 + layer * 9216);
    RT_AT(rt, "blocks.{}.proj: dot f32[48,4,12]", 2.95e5, 3.38e4, 9.22e3);
    rt_dot(rt_with(rt, m + T105), 12, m + A106 + layer * 9216, m + A20 + layer * 12288, m + A93);
    rt_gradient(rt, 10, layer, m + A106 + layer * 9216);  // blocks.{}.proj.weight
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,4,12]", 1.97e5, 9.93e4, 3.69e4);
    rt_attention_grad(rt_with(rt, m + T107), &(RtAttention){.n_batch = 2, .batch = {4, 4},
        .n_group = 0, .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1},
        .k = {{2304, 12}, {0}, 144, 1}, .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48,
        1}, .lse = {{64, 1}, {0}, 4, 0}, .dy = {{768, 12}, {0}, 48, 1}, .dq = {{2304, 12}, {0},
        144, 1}, .dk = {{2304, 12}, {0}, 144, 1}, .dv = {{2304, 12}, {0}, 144, 1}, .offset = 0,
        .causal = true, .window = 0, .scale = 0.288675129}, m + A108, m + A108 + 192,
        m + A108 + 384, m + A18 + layer * 36864, m + A18 + 192 + layer * 36864,
        m + A18 + 384 + layer * 36864, NULL, NULL, NULL, NULL, m + A20 + layer * 12288,
        m + A21 + layer * 1024, m + A104);
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,4,12]", 9.22e3, 3.74e4, 576);
    rt_reduce(rt_with(rt, m + T109), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 144}, .stride = {144, 1}, .reduced = {1, 0}}, m + A110 + layer * 576,
        m + A108);
    rt_gradient(rt, 11, layer, m + A110 + layer * 576);  // blocks.{}.qkv.bias
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]", 8.85e5, 7.68e4, 1.23e4);
    rt_dot(rt_with(rt, m + T111), 13, m + A112, m + A108, m + W16 + layer * 27648);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T113), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A114 + layer * 192, m + A112);
    rt_gradient(rt, 12, layer, m + A114 + layer * 192);  // blocks.{}.ln1.bias
    RT_AT(rt, "blocks.{}.ln1: mul mul reduce_sum mul ... f32[4,16,48]", 3.09e4, 6.28e4, 4.97e4);
    rt_rows(rt, ln_add_backward_2, (char *[]){m + A112, m + W8 + layer * 192,
        m + A12 + layer * 256, m + A7 - 12288 + layer * 12288, m + A10 + layer * 256,
        m + W9 + layer * 192, m + A112, m + A115, m + A116, m + A117, m + A118, m + A119}, 64,
        39936);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T120), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A121 + layer * 192, m + A117);
    rt_gradient(rt, 13, layer, m + A121 + layer * 192);  // blocks.{}.ln1.weight
    RT_AT(rt, "blocks.{}.ln1: mul add sqrt div mul neg ... f32[4,16,48]", 1.96e4, 5.02e4, 1.23e4);
    rt_rows(rt, ln_div_backward, (char *[]){m + A11 + layer * 256, m + A118, m + A12 + layer * 256,
        m + A116, m + A112, m + A93, m + A115, m + A80 + layer % 2 * 12288}, 64, 46080);
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,4,12,48]", 8.85e5, 7.68e4, 2.76e4);
    rt_dot(rt_with(rt, m + T122), 14, m + A123 + layer * 27648, m + A119, m + A108);
    rt_gradient(rt, 14, layer, m + A123 + layer * 27648);  // blocks.{}.qkv.weight
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 1.02e3, 512);
    rt_rows(rt, wte_forward, (char *[]){m + I1, m + A2}, 64, 192);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A3, m + W4, m + A2);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 2.76e4, 1.23e4);
    rt_rows(rt, add_forward, (char *[]){m + A3, m + W5, m + A6}, 4, 3072);
    for (int64_t layer = 0; layer < 3; layer++)
        block1_forward(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub mul reduce_sum mul ... f32[4,16,48]", 2.27e4, 2.6e4, 1.33e4);
    rt_rows(rt, ln_forward, (char *[]){m + A7 + 24576, m + W41, m + W42, m + A43, m + A44, m + A45,
        m + A46, m + A47}, 64, 49152);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4);
    rt_dot(rt_with(rt, m + T48), 4, m + A49, m + A47, m + W50);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]", 772, 1.1e3, 584);
    rt_rows(rt, cross_entropy_forward, (char *[]){m + I51, m + A52, m + A53, m + A54, m + A55}, 1,
        960);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + A56, m + A54);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A56, m + A56}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256);
    rt_reduce(rt_with(rt, m + T57), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {0, 1}}, m + A58, m + A49);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log ... f32[4,16]", 9.3e4, 2.62e4, 768);
    rt_rows(rt, cross_entropy_log_forward, (char *[]){m + A58, m + A49, m + I51, m + A52, m + A59,
        m + A60, m + A61}, 64, 67584);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(rt_with(rt, m + T62), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A63, m + A61);
    RT_AT(rt, "cross_entropy: select neg div iota eq ... f32[4,16,96]", 9.25e4, 2.57e4, 2.46e4);
    rt_rows(rt, cross_entropy_backward, (char *[]){m + A52, m + A55, m + A60, m + I51, m + A49,
        m + A59, m + A49}, 64, 61440);
    RT_AT(rt, "head: dot f32[4,16,48]", 5.9e5, 5.53e4, 1.23e4);
    rt_dot(rt_with(rt, m + T64), 5, m + A65, m + A49, m + W50);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T66), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A67, m + A65);
    rt_gradient(rt, 0, 0, m + A67);  // ln.bias
    RT_AT(rt, "ln: mul mul reduce_sum mul neg mul sub ... f32[4,16,48]", 3.16e4, 6.34e4, 4.97e4);
    rt_rows(rt, ln_backward, (char *[]){m + A65, m + W41, m + A44, m + A7 + 24576, m + A43,
        m + A45, m + A46, m + W42, m + A65, m + A68, m + A69, m + A70, m + A71, m + A72}, 64,
        55296);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(rt_with(rt, m + T73), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A74, m + A70);
    rt_gradient(rt, 1, 0, m + A74);  // ln.weight
    RT_AT(rt, "ln: mul mul add add add f32[4,16,48]", 1.54e4, 3.74e4, 1.23e4);
    rt_rows(rt, ln_add_backward, (char *[]){m + A71, m + A69, m + A65, m + A68, m + A75}, 64,
        15360);
    RT_AT(rt, "head: dot f32[96,48]", 5.9e5, 5.53e4, 1.84e4);
    rt_dot(rt_with(rt, m + T76), 6, m + A77, m + A72, m + A49);
    rt_gradient(rt, 2, 0, m + A77);  // head.weight
    for (int64_t layer = 2; layer >= 0; layer--)
        block1_backward(rt, m, layer);
    RT_AT(rt, "node_add: reduce_sum f32[16,48]", 3.07e3, 1.54e4, 3.07e3);
    rt_reduce(rt_with(rt, m + T124), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {4, 768}, .stride = {768, 1}, .reduced = {1, 0}}, m + A125, m + A80);
    rt_gradient(rt, 15, 0, m + A125);  // wpe.weight
    RT_AT(rt, "wte: add lt select i64[4,16]", 192, 512, 512);
    rt_rows(rt, wte_forward, (char *[]){m + I1, m + I1}, 64, 192);
    RT_AT(rt, "wte: scatter_add f32[96,48]", 0, 3.12e4, 1.84e4);
    rt_scatter_add(rt_with(rt, m + T126), &(RtGather){.type = RT_F32, .index_type = RT_I64,
        .batch = 1, .outer = 1, .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A127, m + A80,
        m + I1, NULL);
    rt_gradient(rt, 16, 0, m + A127);  // wte.weight
}

// blocks.{}, 3 times
static void block1_reduce(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "grad_norm blocks.{}.ln1.weight: mul reduce_sum f32[]", 96, 196, 4);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A121 + layer * 192, m + A137}, 1, 96);
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A114 + layer * 192, m + A137, m + A138}, 1, 144);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: mul ... f32[3,4,12]", 1.38e4, 2.82e4, 576);
    rt_rows(rt, grad_norm, (char *[]){m + A123 + layer * 27648, m + A139}, 144, 13824);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]", 144, 580, 4);
    rt_reduce(rt_with(rt, m + T140), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {144}, .stride = {1}, .reduced = {1}}, m + A141, m + A139);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: add f32[]", 1, 8, 4);
    rt_rows(rt, grad_norm_add_4, (char *[]){m + A138, m + A141, m + A138}, 1, 1);
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum add f32[]", 289, 584, 4);
    rt_rows(rt, grad_norm_add_5, (char *[]){m + A110 + layer * 576, m + A138, m + A142}, 1, 432);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul ... f32[48,4]", 4.61e3, 9.98e3, 768);
    rt_rows(rt, grad_norm_reduce_sum_2, (char *[]){m + A106 + layer * 9216, m + A143}, 192, 4608);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]", 192, 772, 4);
    rt_reduce(rt_with(rt, m + T144), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}}, m + A145, m + A143);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: add f32[]", 1, 8, 4);
    rt_rows(rt, grad_norm_add_4, (char *[]){m + A142, m + A145, m + A142}, 1, 1);
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A102 + layer * 192, m + A142, m + A146}, 1, 144);
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A98 + layer * 192, m + A146, m + A147}, 1, 144);
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A91 + layer * 192, m + A147, m + A148}, 1, 144);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul reduce_sum f32[192]", 1.84e4, 3.76e4, 768);
    rt_rows(rt, grad_norm, (char *[]){m + A100 + layer * 36864, m + A149}, 192, 18432);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]", 192, 772, 4);
    rt_reduce(rt_with(rt, m + T150), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}}, m + A151, m + A149);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: add f32[]", 1, 8, 4);
    rt_rows(rt, grad_norm_add_4, (char *[]){m + A148, m + A151, m + A148}, 1, 1);
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum add f32[]", 385, 776, 4);
    rt_rows(rt, grad_norm_add_6, (char *[]){m + A87 + layer * 768, m + A148, m + A152}, 1, 576);
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul reduce_sum add f32[]", 1.84e4, 3.69e4, 4);
    rt_rows(rt, grad_norm_add_7, (char *[]){m + A85 + layer * 36864, m + A152, m + A153}, 1,
        27648);
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A79 + layer * 192, m + A153,
        m + A154 + layer * 64}, 1, 144);
}

static void reduce(Rt *rt, char *m)
{
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384);
    rt_rows(rt, grad_norm, (char *[]){m + A127, m + A128}, 96, 9216);
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]", 96, 388, 4);
    rt_reduce(rt_with(rt, m + T129), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {96}, .stride = {1}, .reduced = {1}}, m + A130, m + A128);
    RT_AT(rt, "grad_norm: add f32[]", 1, 4, 4);
    rt_rows(rt, grad_norm_add, (char *[]){m + A130, m + A130}, 1, 1);
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum add f32[]", 1.54e3, 3.08e3, 4);
    rt_rows(rt, grad_norm_add_2, (char *[]){m + A125, m + A130, m + A131}, 1, 2304);
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A74, m + A131, m + A132}, 1, 144);
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum add f32[]", 97, 200, 4);
    rt_rows(rt, grad_norm_add_3, (char *[]){m + A67, m + A132, m + A133}, 1, 144);
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384);
    rt_rows(rt, grad_norm, (char *[]){m + A77, m + A134}, 96, 9216);
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]", 96, 388, 4);
    rt_reduce(rt_with(rt, m + T135), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {96}, .stride = {1}, .reduced = {1}}, m + A136, m + A134);
    RT_AT(rt, "grad_norm: add f32[]", 1, 8, 4);
    rt_rows(rt, grad_norm_add_4, (char *[]){m + A133, m + A136, m + A133}, 1, 1);
    for (int64_t layer = 0; layer < 3; layer++)
        block1_reduce(rt, m, layer);
    for (int64_t layer = 0; layer < 3; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]", 0, 8, 4);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 0}, m + A155 + layer * 4, m + A154 + layer * 64);
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]", 3, 16, 4);
    rt_reduce(rt_with(rt, m + T156), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {3}, .stride = {1}, .reduced = {1}}, m + A157, m + A155);
    RT_AT(rt, "grad_norm: add sqrt f32[]", 5, 8, 4);
    rt_rows(rt, grad_norm_sqrt, (char *[]){m + A133, m + A157, m + A133}, 1, 2);
}

// blocks.{}, 3 times
static void block1_update(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A121 + layer * 192, m + A169, m + S181 + layer * 192,
        m + A166, m + A165, m + W8 + layer * 192, m + A168, m + S182 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A114 + layer * 192, m + A169, m + S183 + layer * 192,
        m + A166, m + A165, m + W9 + layer * 192, m + A168, m + S184 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw blocks.{}.qkv.weight: mul sub ... f32[3,4,12,48]", 1.45e5, 1.11e5, 8.29e4);
    rt_rows(rt, adamw, (char *[]){m + A123 + layer * 27648, m + A169, m + S185 + layer * 27648,
        m + A166, m + A165, m + W16 + layer * 27648, m + A168, m + S186 + layer * 27648, m + H161,
        m + A167, m + H172, m + A164}, 6912, 103680);
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul mul ... f32[3,4,12]", 3.02e3, 2.34e3, 1.73e3);
    rt_rows(rt, adamw, (char *[]){m + A110 + layer * 576, m + A169, m + S187 + layer * 576,
        m + A166, m + A165, m + W17 + layer * 576, m + A168, m + S188 + layer * 576, m + H161,
        m + A167, m + H172, m + A164}, 144, 2160);
    RT_AT(rt, "adamw blocks.{}.proj.weight: mul sub mul ... f32[48,4,12]", 4.84e4, 3.69e4, 2.76e4);
    rt_rows(rt, adamw, (char *[]){m + A106 + layer * 9216, m + A169, m + S189 + layer * 9216,
        m + A166, m + A165, m + W24 + layer * 9216, m + A168, m + S190 + layer * 9216, m + H161,
        m + A167, m + H172, m + A164}, 2304, 34560);
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A102 + layer * 192, m + A169, m + S191 + layer * 192,
        m + A166, m + A165, m + W25 + layer * 192, m + A168, m + S192 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A98 + layer * 192, m + A169, m + S193 + layer * 192,
        m + A166, m + A165, m + W26 + layer * 192, m + A168, m + S194 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A91 + layer * 192, m + A169, m + S195 + layer * 192,
        m + A166, m + A165, m + W27 + layer * 192, m + A168, m + S196 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul sub mul ... f32[192,48]", 1.94e5, 1.47e5, 1.11e5);
    rt_rows(rt, adamw, (char *[]){m + A100 + layer * 36864, m + A169, m + S197 + layer * 36864,
        m + A166, m + A165, m + W34 + layer * 36864, m + A168, m + S198 + layer * 36864, m + H161,
        m + A167, m + H172, m + A164}, 9216, 138240);
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sub mul mul mul ... f32[192]", 4.03e3, 3.1e3, 2.3e3);
    rt_rows(rt, adamw, (char *[]){m + A87 + layer * 768, m + A169, m + S199 + layer * 768,
        m + A166, m + A165, m + W35 + layer * 768, m + A168, m + S200 + layer * 768, m + H161,
        m + A167, m + H172, m + A164}, 192, 2880);
    RT_AT(rt, "adamw blocks.{}.out.weight: mul sub mul ... f32[48,192]", 1.94e5, 1.47e5, 1.11e5);
    rt_rows(rt, adamw, (char *[]){m + A85 + layer * 36864, m + A169, m + S201 + layer * 36864,
        m + A166, m + A165, m + W39 + layer * 36864, m + A168, m + S202 + layer * 36864, m + H161,
        m + A167, m + H172, m + A164}, 9216, 138240);
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A79 + layer * 192, m + A169, m + S203 + layer * 192,
        m + A166, m + A165, m + W40 + layer * 192, m + A168, m + S204 + layer * 192, m + H161,
        m + A167, m + H172, m + A164}, 48, 720);
}

static void update(Rt *rt, char *m)
{
    RT_AT(rt, "clip_norm: cast cast pow sub cast div cast cast pow sub ... f32[]", 72, 52, 24);
    rt_rows(rt, clip_norm, (char *[]){m + H158, m + H159, m + H160, m + H161, m + H162, m + A133,
        m + H163, m + A164, m + A165, m + A166, m + A167, m + A168, m + A169}, 1, 22);
    RT_AT(rt, "adamw wte.weight: mul sub mul mul mul add ... f32[96,48]", 9.68e4, 7.38e4, 5.53e4);
    rt_rows(rt, adamw, (char *[]){m + A127, m + A169, m + S170, m + A166, m + A165, m + W4,
        m + A168, m + S171, m + H161, m + A167, m + H172, m + A164}, 4608, 69120);
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul mul add ... f32[16,48]", 1.61e4, 1.23e4, 9.22e3);
    rt_rows(rt, adamw, (char *[]){m + A125, m + A169, m + S173, m + A166, m + A165, m + W5,
        m + A168, m + S174, m + H161, m + A167, m + H172, m + A164}, 768, 11520);
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul mul ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A74, m + A169, m + S175, m + A166, m + A165, m + W41,
        m + A168, m + S176, m + H161, m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul mul add ... f32[48]", 1.01e3, 800, 576);
    rt_rows(rt, adamw, (char *[]){m + A67, m + A169, m + S177, m + A166, m + A165, m + W42,
        m + A168, m + S178, m + H161, m + A167, m + H172, m + A164}, 48, 720);
    RT_AT(rt, "adamw head.weight: mul sub mul mul mul add ... f32[96,48]", 9.68e4, 7.38e4, 5.53e4);
    rt_rows(rt, adamw, (char *[]){m + A77, m + A169, m + S179, m + A166, m + A165, m + W50,
        m + A168, m + S180, m + H161, m + A167, m + H172, m + A164}, 4608, 69120);
    for (int64_t layer = 0; layer < 3; layer++)
        block1_update(rt, m, layer);
}

// blocks.{}, 3 times
static void block1_predict(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub mul ... f32[4,16,48]", 2.22e4, 2.5e4, 1.23e4);
    rt_rows(rt, ln_predict, (char *[]){m + A208 + (layer + 1) % 2 * 12288, m + W8 + layer * 192,
        m + W9 + layer * 192, m + A209}, 64, 36864);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 7.68e4, 3.69e4);
    rt_dot(rt_with(rt, m + T210), 0, m + A211, m + A209, m + W16 + layer * 27648);
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 3.74e4, 3.69e4);
    rt_rows(rt, qkv_forward, (char *[]){m + A211, m + W17 + layer * 576, m + A211}, 64, 9216);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 5.02e4, 1.33e4);
    rt_attention(rt_with(rt, m + T212), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .n_group = 0,
        .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0},
        144, 1}, .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .lse = {{64, 1},
        {0}, 4, 0}, .offset = 0, .causal = true, .window = 0, .scale = 0.288675129}, m + A213,
        m + A214, m + A211, m + A211 + 192, m + A211 + 384, NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(rt_with(rt, m + T215), 1, m + A216, m + A213, m + W24 + layer * 9216);
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul ... f32[4,16,48]", 2.84e4, 3.74e4, 2.46e4);
    rt_rows(rt, ln2_predict, (char *[]){m + A216, m + W25 + layer * 192,
        m + A208 + (layer + 1) % 2 * 12288, m + W26 + layer * 192, m + W27 + layer * 192, m + A217,
        m + A216}, 64, 43008);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(rt_with(rt, m + T218), 2, m + A219, m + A216, m + W34 + layer * 36864);
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4);
    rt_rows(rt, blocks_erf_forward, (char *[]){m + A219, m + W35 + layer * 768, m + A219}, 64,
        73728);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(rt_with(rt, m + T220), 3, m + A221, m + A219, m + W39 + layer * 36864);
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4);
    rt_rows(rt, blocks_add_forward, (char *[]){m + A221, m + W40 + layer * 192, m + A217,
        m + A208 + layer % 2 * 12288}, 64, 6144);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 512, 512);
    rt_rows(rt, wte_forward, (char *[]){m + I205, m + I205}, 64, 192);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A206, m + W4, m + I205);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 2.76e4, 1.23e4);
    rt_rows(rt, add_forward, (char *[]){m + A206, m + W5, m + A207}, 4, 3072);
    for (int64_t layer = 0; layer < 3; layer++)
        block1_predict(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub mul reduce_sum mul ... f32[4,16,48]", 2.22e4, 2.5e4, 1.23e4);
    rt_rows(rt, ln_predict, (char *[]){m + A208, m + W41, m + W42, m + A222}, 64, 36864);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4);
    rt_dot(rt_with(rt, m + T223), 4, m + A224, m + A222, m + W50);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... i64[4,16]", 768, 1.09e3, 580);
    rt_rows(rt, cross_entropy_predict, (char *[]){m + I225, m + A226, m + A227, m + A228}, 1, 896);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + A229, m + A228);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A229, m + A229}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256);
    rt_reduce(rt_with(rt, m + T230), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {0, 1}}, m + A231, m + A224);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log ... f32[4,16]", 9.3e4, 2.57e4, 256);
    rt_rows(rt, cross_entropy_log_predict, (char *[]){m + A231, m + A224, m + I225, m + A226,
        m + A232}, 64, 67584);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(rt_with(rt, m + T233), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A234, m + A232);
}

// wte: lt add select; 64 elements
// x0 input_ids i64[4,16] -> y0 i64[4,16]
static void wte_forward(char *const *p, int64_t first, int64_t last)
{
    const int64_t *x0 = (const int64_t *)p[0];
    int64_t *y0 = (int64_t *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] < 0 ? (int64_t)rt_add_int(x0[i], 96) : x0[i];
}

// node_add: add; 4 rows of 768
// x0 wte f32[4,16,48], weight wpe.weight f32[16,48] -> y0 f32[4,16,48]
static void add_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 768;
        const float *weight = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 768;
        RT_SIMD
        for (int64_t i = 0; i < 768; i++)
            y0[i] = x0[i] + weight[i];
    }
}

// blocks.{}.ln1: reduce_sum mul sub add sqrt div; 64 rows of 48
// x0 blocks.{} f32[4,16,48], weight f32[48], bias f32[48] -> y0 f32[4,16], y1 f32[4,16],
//   y2 f32[4,16], y3 f32[4,16,48]
static void ln1_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[3];
    float *y1 = (float *)p[4];
    float *y2 = (float *)p[5];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        y0[i0] = v1;
        RT_SIMD_SUM(s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v2 = x0[i] - v1;
            s1 += v2 * v2;
        }
        const float v3 = 1.0f / rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        y2[i0] = v3;
        const float *weight = (const float *)p[1];
        const float *bias = (const float *)p[2];
        float *y3 = (float *)p[6] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y3[i] = (x0[i] - v1) * v3 * weight[i] + bias[i];
        y1[i0] = s1;
    }
}

// blocks.{}.qkv: add; 64 rows of 144
// x0 f32[4,16,3,4,12], bias f32[3,4,12] -> y0 f32[4,16,3,4,12]
static void qkv_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 144;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 144;
        RT_SIMD
        for (int64_t i = 0; i < 144; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub sqrt div; 64 rows of 48
// x0 blocks.{}.proj f32[4,16,48], bias blocks.{}.proj.bias f32[48], x2 blocks.{} f32[4,16,48],
//   weight f32[48], x4 bias f32[48] -> y0 blocks.{} f32[4,16,48], y1 f32[4,16], y2 f32[4,16],
//   y3 f32[4,16], y4 f32[4,16,48]
static void ln2_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[6];
    float *y2 = (float *)p[7];
    float *y3 = (float *)p[8];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 48;
        float *y0 = (float *)p[5] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++) {
            const float v1 = x2[i] + (x0[i] + bias[i]);
            s0 += v1;
            y0[i] = v1;
        }
        const float v2 = s0 * 0.020833334f;
        y1[i0] = v2;
        RT_SIMD_SUM(s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v3 = y0[i] - v2;
            s1 += v3 * v3;
        }
        const float v4 = 1.0f / rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        y3[i0] = v4;
        const float *weight = (const float *)p[3];
        const float *x4 = (const float *)p[4];
        float *y4 = (float *)p[9] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y4[i] = (y0[i] - v2) * v4 * weight[i] + x4[i];
        y2[i0] = s1;
    }
}

// blocks.{}: add div erf mul; 64 rows of 192
// x0 fc f32[4,16,192], bias fc.bias f32[192] -> y0 f32[4,16,192]
static void blocks_erf_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 192;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 192;
        RT_SIMD
        for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + bias[i];
            y0[i] = v1 * (0.5f * (rt_erff(v1 / 1.41421354f) + 1.0f));
        }
    }
}

// blocks.{}: add; 64 rows of 48
// x0 out f32[4,16,48], bias out.bias f32[48], x2 f32[4,16,48] -> y0 f32[4,16,48]
static void blocks_add_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 48;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 48;
        float *y0 = (float *)p[3] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y0[i] = x2[i] + (x0[i] + bias[i]);
    }
}

// ln: reduce_sum mul sub add sqrt div; 64 rows of 48
// x0 blocks.{} f32[4,16,48], weight f32[48], bias f32[48] -> y0 f32[4,16], y1 f32[4,16],
//   y2 f32[4,16], y3 f32[4,16], y4 f32[4,16,48]
static void ln_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[3];
    float *y1 = (float *)p[4];
    float *y2 = (float *)p[5];
    float *y3 = (float *)p[6];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        y0[i0] = v1;
        RT_SIMD_SUM(s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v2 = x0[i] - v1;
            s1 += v2 * v2;
        }
        const float v3 = 1.0f / rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        const float v4 = rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        const float v5 = v4 * 2.0f;
        y1[i0] = v3;
        y2[i0] = v4;
        y3[i0] = v5;
        const float *weight = (const float *)p[1];
        const float *bias = (const float *)p[2];
        float *y4 = (float *)p[7] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y4[i] = (x0[i] - v1) * v3 * weight[i] + bias[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select div; 64 elements
// x0 labels i64[4,16] -> y0 bool[4,16], y1 f32[], y2 i64[4,16], y3 f32[]
static void cross_entropy_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[2];
    float *y3 = (float *)p[4];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        for (int64_t i0 = 0; i0 < 4; i0++) {
            const int64_t *x0 = (const int64_t *)p[0] + i0 * 16;
            uint8_t *y0 = (uint8_t *)p[1] + i0 * 16;
            int64_t *y2 = (int64_t *)p[3] + i0 * 16;
            RT_SIMD_SUM(s0)
            for (int64_t i = 0; i < 16; i++) {
                const uint8_t v1 = x0[i] == -100;
                const uint8_t v2 = !v1;
                s0 += (float)v2;
                y2[i] = v2 & ((x0[i] < 0) | (96 <= x0[i])) ?
                    (int64_t)rt_add_int((int64_t)rt_add_int(i, 1), (int64_t)rt_mul_int(i0,
                    16)) : 65;
                y0[i] = v1;
            }
        }
        const float v3 = 1.0f / s0;
        y3[0] = v3;
        y1[0] = s0;
    }
}

// cross_entropy: mod; one number
// x0 i64[] -> y0 i64[]
static void cross_entropy_mod_forward(char *const *p, int64_t first, int64_t last)
{
    const int64_t x0 = ((const int64_t *)p[0])[0];
    int64_t *y0 = (int64_t *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = (int64_t)rt_mod_int(x0, 65);
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 64 rows of 96
// x0 f32[4,16], x1 head f32[4,16,96], x2 labels i64[4,16], x3 bool[4,16] -> y0 f32[4,16],
//   y1 f32[4,16], y2 f32[4,16]
static void cross_entropy_log_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4];
    float *y1 = (float *)p[5];
    float *y2 = (float *)p[6];
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16;
        const int64_t i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float x0 = ((const float *)p[0])[i0 * 16 + i1];
        const float v1 = rt_floorf(x0);
        y0[i0 * 16 + i1] = v1;
        const float *x1 = (const float *)p[1] + i0 * 1536 + i1 * 96;
        const int64_t x2 = ((const int64_t *)p[2])[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 96; i++) {
            const float v2 = x1[i] - v1;
            s0 += rt_exp_lowf(v2);
            s1 += i == x2 ? v2 : 0.0f;
        }
        const uint8_t x3 = ((const uint8_t *)p[3])[i0 * 16 + i1];
        const float v3 = x3 ? 0.0f : rt_logf(s0) - s1;
        y2[i0 * 16 + i1] = v3;
        y1[i0 * 16 + i1] = s0;
    }
}

// cross_entropy: select neg div iota eq sub exp mul add; 64 rows of 96
// x0 bool[4,16], x1 f32[], x2 f32[4,16], x3 labels i64[4,16], x4 head f32[4,16,96], x5 f32[4,16]
//   -> y0 f32[4,16,96]
static void cross_entropy_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16;
        const int64_t i0 = r / 16;
        const uint8_t x0 = ((const uint8_t *)p[0])[i0 * 16 + i1];
        const float x1 = ((const float *)p[1])[0];
        const float x2 = ((const float *)p[2])[i0 * 16 + i1];
        const float v1 = x0 ? 0.0f : x1;
        const float v2 = -v1;
        const float v3 = v1 / x2;
        const int64_t x3 = ((const int64_t *)p[3])[i0 * 16 + i1];
        const float *x4 = (const float *)p[4] + i0 * 1536 + i1 * 96;
        const float x5 = ((const float *)p[5])[i0 * 16 + i1];
        float *y0 = (float *)p[6] + i0 * 1536 + i1 * 96;
        RT_SIMD
        for (int64_t i = 0; i < 96; i++)
            y0[i] = (i == x3 ? v2 : 0.0f) + v3 * rt_exp_lowf(x4[i] - x5);
    }
}

// ln: mul reduce_sum neg sub div add; 64 rows of 48
// x0 head f32[4,16,48], weight f32[48], x2 f32[4,16], x3 blocks.{} f32[4,16,48], x4 f32[4,16],
//   x5 f32[4,16], x6 f32[4,16], bias f32[48] -> y0 f32[4,16,48], y1 f32[4,16], y2 f32[4,16,48],
//   y3 f32[4,16,48], y4 f32[4,16], y5 f32[4,16,48]
static void ln_backward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[9];
    float *y4 = (float *)p[12];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        const float *weight = (const float *)p[1];
        const float x2 = ((const float *)p[2])[i0];
        const float *x3 = (const float *)p[3] + i0 * 48;
        const float x4 = ((const float *)p[4])[i0];
        const float *bias = (const float *)p[7];
        float *y0 = (float *)p[8] + i0 * 48;
        float *y2 = (float *)p[10] + i0 * 48;
        float *y3 = (float *)p[11] + i0 * 48;
        float *y5 = (float *)p[13] + i0 * 48;
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v1 = x0[i] * weight[i];
            const float v2 = v1 * x2;
            s0 += v1;
            const float v3 = x3[i] - x4;
            const float v4 = v3 * x2;
            const float v5 = x0[i] * v4;
            s1 += v1 * v3;
            y5[i] = v4 * weight[i] + bias[i];
            y0[i] = v2;
            y2[i] = v3;
            y3[i] = v5;
        }
        const float x5 = ((const float *)p[5])[i0];
        const float x6 = ((const float *)p[6])[i0];
        const float v6 = -(s0 * x2) * 0.020833334f;
        const float v7 = -(s1 / x5 * x2) / x6 * 0.020833334f;
        y1[i0] = v6;
        y4[i0] = v7;
    }
}

// ln: mul add; 64 rows of 48
// x0 f32[4,16], x1 f32[4,16,48], x2 f32[4,16,48], x3 f32[4,16] -> y0 f32[4,16,48]
static void ln_add_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = ((const float *)p[0])[i0];
        const float *x1 = (const float *)p[1] + i0 * 48;
        const float *x2 = (const float *)p[2] + i0 * 48;
        const float x3 = ((const float *)p[3])[i0];
        float *y0 = (float *)p[4] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y0[i] = x2[i] + x0 * x1[i] + x0 * x1[i] + x3;
    }
}

// blocks.{}: add div erf mul neg exp; 64 rows of 192
// x0 fc f32[4,16,192], bias fc.bias f32[192], x2 out f32[4,16,192] -> y0 f32[4,16,192],
//   y1 f32[4,16,192]
static void blocks_erf_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 192;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 192;
        float *y0 = (float *)p[3] + i0 * 192;
        float *y1 = (float *)p[4] + i0 * 192;
        RT_SIMD
        for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + bias[i];
            const float v2 = v1 / 1.41421354f;
            const float v3 = 0.5f * (rt_erff(v2) + 1.0f);
            const float v4 = v1 * v3;
            y1[i] = x2[i] * v3 + x2[i] * v1 * 0.5f * (rt_exp_lowf(-(v2 * v2)) * 1.12837923f) /
                1.41421354f;
            y0[i] = v4;
        }
    }
}

// blocks.{}.ln2, blocks.{}.ln1: mul reduce_sum neg sub add; 64 rows of 48
// x0 f32[4,16,48], weight f32[48], x2 f32[4,16], x3 blocks.{} f32[4,16,48], x4 f32[4,16],
//   bias f32[48] -> y0 f32[4,16,48], y1 f32[4,16], y2 f32[4,16,48], y3 f32[4,16,48], y4 f32[4,16],
//   y5 f32[4,16,48]
static void ln_add_backward_2(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7];
    float *y4 = (float *)p[10];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        const float *weight = (const float *)p[1];
        const float x2 = ((const float *)p[2])[i0];
        const float *x3 = (const float *)p[3] + i0 * 48;
        const float x4 = ((const float *)p[4])[i0];
        const float *bias = (const float *)p[5];
        float *y0 = (float *)p[6] + i0 * 48;
        float *y2 = (float *)p[8] + i0 * 48;
        float *y3 = (float *)p[9] + i0 * 48;
        float *y5 = (float *)p[11] + i0 * 48;
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v1 = x0[i] * weight[i];
            const float v2 = v1 * x2;
            s0 += v1;
            const float v3 = x3[i] - x4;
            const float v4 = v3 * x2;
            const float v5 = x0[i] * v4;
            s1 += v1 * v3;
            y5[i] = v4 * weight[i] + bias[i];
            y0[i] = v2;
            y2[i] = v3;
            y3[i] = v5;
        }
        const float v6 = -(s0 * x2) * 0.020833334f;
        y1[i0] = v6;
        y4[i0] = s1;
    }
}

// blocks.{}.ln2, blocks.{}.ln1: mul add sqrt div neg; 64 rows of 48
// x0 f32[4,16], x1 f32[4,16], x2 f32[4,16], x3 f32[4,16,48], x4 f32[4,16,48], x5 f32[4,16,48],
//   x6 f32[4,16] -> y0 f32[4,16,48]
static void ln_div_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = ((const float *)p[0])[i0];
        const float x1 = ((const float *)p[1])[i0];
        const float x2 = ((const float *)p[2])[i0];
        const float v1 = rt_sqrtf(x0 * 0.020833334f + 9.99999975e-06f);
        const float v2 = -(x1 / v1 * x2) / (v1 * 2.0f) * 0.020833334f;
        const float *x3 = (const float *)p[3] + i0 * 48;
        const float *x4 = (const float *)p[4] + i0 * 48;
        const float *x5 = (const float *)p[5] + i0 * 48;
        const float x6 = ((const float *)p[6])[i0];
        float *y0 = (float *)p[7] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y0[i] = x5[i] + (x4[i] + v2 * x3[i] + v2 * x3[i]) + x6;
    }
}

// grad_norm wte.weight, head.weight, blocks.{}.qkv.weight and 1 more: mul reduce_sum
static void grad_norm(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm: add; one number
// x0 grad_norm wte.weight f32[] -> y0 f32[]
static void grad_norm_add(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((const float *)p[0])[0];
    float *y0 = (float *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = 0.0f + x0;
}

// grad_norm wpe.weight: mul reduce_sum add; 768 elements
// x0 node_add f32[16,48], x1 grad_norm f32[] -> y0 grad_norm f32[]
static void grad_norm_add_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 768; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float v1 = x1 + s0;
        y0[0] = v1;
    }
}

// grad_norm ln.weight, ln.bias, blocks.{}.ln1.bias and 4 more: mul reduce_sum add; 48 elements
// x0 f32[48], x1 f32[] -> y0 f32[]
static void grad_norm_add_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float v1 = x1 + s0;
        y0[0] = v1;
    }
}

// grad_norm, blocks.{}.qkv.weight, blocks.{}.proj.weight and 1 more: add; one number
// x0 f32[], x1 f32[] -> y0 f32[]
static void grad_norm_add_4(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((const float *)p[0])[0];
    const float x1 = ((const float *)p[1])[0];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = x0 + x1;
}

// grad_norm blocks.{}.ln1.weight: mul reduce_sum; 48 elements
// x0 blocks.{}.ln1 f32[48] -> y0 f32[]
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.qkv.bias: mul reduce_sum add; 144 elements
// x0 blocks.{}.qkv f32[3,4,12], x1 grad_norm blocks.{}.qkv.weight f32[] -> y0 f32[]
static void grad_norm_add_5(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 144; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float v1 = x1 + s0;
        y0[0] = v1;
    }
}

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12
// x0 blocks.{}.proj f32[48,4,12] -> y0 f32[48,4]
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 12;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 12; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm blocks.{}.fc.bias: mul reduce_sum add; 192 elements
// x0 blocks.{}.fc f32[192], x1 grad_norm blocks.{}.fc.weight f32[] -> y0 f32[]
static void grad_norm_add_6(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 192; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float v1 = x1 + s0;
        y0[0] = v1;
    }
}

// grad_norm blocks.{}.out.weight: mul reduce_sum add; 9216 elements
// x0 blocks.{}.out f32[48,192], x1 grad_norm blocks.{}.fc.bias f32[] -> y0 f32[]
static void grad_norm_add_7(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        double w0 = (double)s0;
        for (int64_t c = 0; c < 9216; c += 256) {
            const int64_t end = c + 256 < 9216 ? c + 256 : 9216;
            s0 = 0;
            RT_SIMD_SUM(s0)
            for (int64_t i = c; i < end; i++)
                s0 += x0[i] * x0[i];
            w0 += (double)s0;
        }
        s0 = (float)w0;
        const float x1 = ((const float *)p[1])[0];
        const float v1 = x1 + s0;
        y0[0] = v1;
    }
}

// grad_norm: add sqrt; one number
// x0 f32[], x1 f32[] -> y0 f32[]
static void grad_norm_sqrt(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((const float *)p[0])[0];
    const float x1 = ((const float *)p[1])[0];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(x0 + x1);
}

// clip_norm: cast pow sub div sqrt neg mul add min; one number
// beta1 f32[], step f32[], lr f32[], beta2 f32[], weight_decay f32[], x5 grad_norm f32[],
//   clip_norm f32[] -> y0 adamw f32[], y1 adamw f32[], y2 adamw f32[], y3 adamw f32[],
//   y4 adamw f32[], y5 f32[]
static void clip_norm(char *const *p, int64_t first, int64_t last)
{
    const float beta1 = ((const float *)p[0])[0];
    const float step = ((const float *)p[1])[0];
    const float lr = ((const float *)p[2])[0];
    const float beta2 = ((const float *)p[3])[0];
    const float weight_decay = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    const float clip_norm = ((const float *)p[6])[0];
    float *y0 = (float *)p[7];
    float *y1 = (float *)p[8];
    float *y2 = (float *)p[9];
    float *y3 = (float *)p[10];
    float *y4 = (float *)p[11];
    float *y5 = (float *)p[12];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        const float v2 = 1.0f - beta1;
        const float v3 = 1.0f - beta2;
        const float v4 = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
        const float v5 = 1.0f - lr * weight_decay;
        y5[0] = rt_minf(clip_norm / (x5 + 9.99999997e-07f), 1.0f);
        y0[0] = v1;
        y1[0] = v2;
        y2[0] = v3;
        y3[0] = v4;
        y4[0] = v5;
    }
}

// adamw wte.weight, wpe.weight, ln.weight and 14 more: mul sub add sqrt div
// x0, x1 clip_norm f32[], exp_avg, x3 adamw f32[], x4 adamw f32[], param, x6 adamw f32[],
//   exp_avg_sq, beta2 f32[], x9 adamw f32[], eps f32[], x11 adamw f32[] -> next_exp_avg,
//   next_exp_avg_sq, next_param
static void adamw(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float x1 = ((const float *)p[1])[0];
    const float *exp_avg = (const float *)p[2];
    const float x3 = ((const float *)p[3])[0];
    const float x4 = ((const float *)p[4])[0];
    const float *param = (const float *)p[5];
    const float x6 = ((const float *)p[6])[0];
    const float *exp_avg_sq = (const float *)p[7];
    const float beta2 = ((const float *)p[8])[0];
    const float x9 = ((const float *)p[9])[0];
    const float eps = ((const float *)p[10])[0];
    const float x11 = ((const float *)p[11])[0];
    float *next_exp_avg = (float *)p[2];
    float *next_exp_avg_sq = (float *)p[7];
    float *next_param = (float *)p[5];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * x1;
        const float v2 = exp_avg[i] + (v1 - exp_avg[i]) * x4;
        const float v3 = exp_avg_sq[i] * beta2 + v1 * v1 * x3;
        next_param[i] = param[i] * x6 + v2 / (rt_sqrtf(v3) * x9 + eps) * x11;
        next_exp_avg[i] = v2;
        next_exp_avg_sq[i] = v3;
    }
}

// blocks.{}.ln1, ln: reduce_sum mul sub add sqrt div; 64 rows of 48
// x0 blocks.{} f32[4,16,48], weight f32[48], bias f32[48] -> y0 f32[4,16,48]
static void ln_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v2 = x0[i] - v1;
            s1 += v2 * v2;
        }
        const float v3 = 1.0f / rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        const float *weight = (const float *)p[1];
        const float *bias = (const float *)p[2];
        float *y0 = (float *)p[3] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y0[i] = (x0[i] - v1) * v3 * weight[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub sqrt div; 64 rows of 48
// x0 blocks.{}.proj f32[4,16,48], bias blocks.{}.proj.bias f32[48], x2 blocks.{} f32[4,16,48],
//   weight f32[48], x4 bias f32[48] -> y0 blocks.{} f32[4,16,48], y1 f32[4,16,48]
static void ln2_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (const float *)p[0] + i0 * 48;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 48;
        float *y0 = (float *)p[5] + i0 * 48;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++) {
            const float v1 = x2[i] + (x0[i] + bias[i]);
            s0 += v1;
            y0[i] = v1;
        }
        const float v2 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1)
        for (int64_t i = 0; i < 48; i++) {
            const float v3 = y0[i] - v2;
            s1 += v3 * v3;
        }
        const float v4 = 1.0f / rt_sqrtf(s1 * 0.020833334f + 9.99999975e-06f);
        const float *weight = (const float *)p[3];
        const float *x4 = (const float *)p[4];
        float *y1 = (float *)p[6] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++)
            y1[i] = (y0[i] - v2) * v4 * weight[i] + x4[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select; 64 elements
// x0 labels i64[4,16] -> y0 bool[4,16], y1 f32[], y2 i64[4,16]
static void cross_entropy_predict(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        for (int64_t i0 = 0; i0 < 4; i0++) {
            const int64_t *x0 = (const int64_t *)p[0] + i0 * 16;
            uint8_t *y0 = (uint8_t *)p[1] + i0 * 16;
            int64_t *y2 = (int64_t *)p[3] + i0 * 16;
            RT_SIMD_SUM(s0)
            for (int64_t i = 0; i < 16; i++) {
                const uint8_t v1 = x0[i] == -100;
                const uint8_t v2 = !v1;
                s0 += (float)v2;
                y2[i] = v2 & ((x0[i] < 0) | (96 <= x0[i])) ?
                    (int64_t)rt_add_int((int64_t)rt_add_int(i, 1), (int64_t)rt_mul_int(i0,
                    16)) : 65;
                y0[i] = v1;
            }
        }
        y1[0] = s0;
    }
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 64 rows of 96
// x0 f32[4,16], x1 head f32[4,16,96], x2 labels i64[4,16], x3 bool[4,16] -> y0 f32[4,16]
static void cross_entropy_log_predict(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4];
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16;
        const int64_t i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float x0 = ((const float *)p[0])[i0 * 16 + i1];
        const float v1 = rt_floorf(x0);
        const float *x1 = (const float *)p[1] + i0 * 1536 + i1 * 96;
        const int64_t x2 = ((const int64_t *)p[2])[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 96; i++) {
            const float v2 = x1[i] - v1;
            s0 += rt_exp_lowf(v2);
            s1 += i == x2 ? v2 : 0.0f;
        }
        const uint8_t x3 = ((const uint8_t *)p[3])[i0 * 16 + i1];
        const float v3 = x3 ? 0.0f : rt_logf(s0) - s1;
        y0[i0 * 16 + i1] = v3;
    }
}

static void init(Rt *rt)
{
    rt_dot_init(rt, 0, &(RtDot){.m = 64, .n = 144, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 144, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 1, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 2, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 3, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 1,
        .b_n = 192, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 4, &(RtDot){.m = 64, .n = 96, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 96, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 5, &(RtDot){.m = 64, .n = 48, .k = 96, .a_m = 96, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 6, &(RtDot){.m = 48, .n = 96, .k = 64, .a_m = 1, .a_k = 48, .b_k = 96,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // head
    rt_dot_init(rt, 7, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 192,
        .b_n = 1, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 8, &(RtDot){.m = 192, .n = 48, .k = 64, .a_m = 1, .a_k = 192, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 192, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 9, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 10, &(RtDot){.m = 48, .n = 192, .k = 64, .a_m = 1, .a_k = 48, .b_k = 192,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 11, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 12, &(RtDot){.m = 48, .n = 48, .k = 64, .a_m = 1, .a_k = 48, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 13, &(RtDot){.m = 64, .n = 48, .k = 144, .a_m = 144, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 14, &(RtDot){.m = 48, .n = 144, .k = 64, .a_m = 1, .a_k = 48, .b_k = 144,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.qkv
}

static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "wte.weight", .rank = 2, .dim = {96, 48}, .offset = 0,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "wpe.weight", .rank = 2, .dim = {16, 48}, .offset = 18496,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.weight", .layers = 3, .rank = 1, .dim = {48},
        .offset = 21632, .step = 192, .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 22272, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.weight", .layers = 3, .rank = 2, .dim = {144, 48},
        .offset = 22912, .step = 27648, .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.bias", .layers = 3, .rank = 1, .dim = {144},
        .offset = 105920, .step = 576, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.weight", .layers = 3, .rank = 2, .dim = {48, 48},
        .offset = 107712, .step = 9216, .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 135424, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.weight", .layers = 3, .rank = 1, .dim = {48},
        .offset = 136064, .step = 192, .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 136704, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.weight", .layers = 3, .rank = 2, .dim = {192, 48},
        .offset = 137344, .step = 36864, .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.bias", .layers = 3, .rank = 1, .dim = {192},
        .offset = 248000, .step = 768, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.weight", .layers = 3, .rank = 2, .dim = {48, 192},
        .offset = 250368, .step = 36864, .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 361024, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "ln.weight", .rank = 1, .dim = {48}, .offset = 361664,
        .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "ln.bias", .rank = 1, .dim = {48}, .offset = 361920,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "head.weight", .rank = 2, .dim = {96, 48}, .offset = 362176,
        .init = RT_INIT_NORMAL},
    {RT_HYPER, RT_F32, "lr", .offset = 380672, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", .offset = 380800, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", .offset = 380928, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", .offset = 381056, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", .offset = 381184, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", .offset = 381312, .fill = 0.01},
    {RT_HYPER, RT_F32, "clip_norm", .offset = 381440, .fill = 1.0},
    {RT_STATE, RT_F32, "wte.weight.exp_avg", .rank = 2, .dim = {96, 48}, .offset = 381568},
    {RT_STATE, RT_F32, "wte.weight.exp_avg_sq", .rank = 2, .dim = {96, 48}, .offset = 400064},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg", .rank = 2, .dim = {16, 48}, .offset = 418560},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg_sq", .rank = 2, .dim = {16, 48}, .offset = 421696},
    {RT_STATE, RT_F32, "ln.weight.exp_avg", .rank = 1, .dim = {48}, .offset = 424832},
    {RT_STATE, RT_F32, "ln.weight.exp_avg_sq", .rank = 1, .dim = {48}, .offset = 425088},
    {RT_STATE, RT_F32, "ln.bias.exp_avg", .rank = 1, .dim = {48}, .offset = 425344},
    {RT_STATE, RT_F32, "ln.bias.exp_avg_sq", .rank = 1, .dim = {48}, .offset = 425600},
    {RT_STATE, RT_F32, "head.weight.exp_avg", .rank = 2, .dim = {96, 48}, .offset = 425856},
    {RT_STATE, RT_F32, "head.weight.exp_avg_sq", .rank = 2, .dim = {96, 48}, .offset = 444352},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 462848, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 463488, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 464128, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 464768, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg", .layers = 3, .rank = 2, .dim = {144, 48},
        .offset = 465408, .step = 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {144, 48},
        .offset = 548416, .step = 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg", .layers = 3, .rank = 1, .dim = {144},
        .offset = 631424, .step = 576},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {144},
        .offset = 633216, .step = 576},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg", .layers = 3, .rank = 2, .dim = {48, 48},
        .offset = 635008, .step = 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {48, 48},
        .offset = 662720, .step = 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 690432, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 691072, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 691712, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 692352, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 692992, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 693632, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg", .layers = 3, .rank = 2, .dim = {192, 48},
        .offset = 694272, .step = 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {192, 48},
        .offset = 804928, .step = 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg", .layers = 3, .rank = 1, .dim = {192},
        .offset = 915584, .step = 768},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {192},
        .offset = 917952, .step = 768},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg", .layers = 3, .rank = 2, .dim = {48, 192},
        .offset = 920320, .step = 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {48, 192},
        .offset = 1030976, .step = 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 1141632, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 1142272, .step = 192},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {4, 16}, .offset = 8182592, .least = -96,
        .bound = 96},
    {RT_INPUT, RT_I64, "labels", .rank = 2, .dim = {4, 16}, .offset = 7606592},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 8183936},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 8183680},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 8183808},
    {RT_GRADIENT, RT_F32, "wte.weight", .rank = 2, .dim = {96, 48}, .gradient = 16},
    {RT_GRADIENT, RT_F32, "wpe.weight", .rank = 2, .dim = {16, 48}, .gradient = 15},
    {RT_GRADIENT, RT_F32, "ln.weight", .rank = 1, .dim = {48}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "ln.bias", .rank = 1, .dim = {48}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "head.weight", .rank = 2, .dim = {96, 48}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.weight", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 13},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 12},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.weight", .layers = 3, .rank = 2, .dim = {144, 48},
        .gradient = 14},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.bias", .layers = 3, .rank = 1, .dim = {144},
        .gradient = 11},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.weight", .layers = 3, .rank = 2, .dim = {48, 48},
        .gradient = 10},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 9},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.weight", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 7},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 6},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.weight", .layers = 3, .rank = 2, .dim = {192, 48},
        .gradient = 8},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.bias", .layers = 3, .rank = 1, .dim = {192},
        .gradient = 5},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.weight", .layers = 3, .rank = 2, .dim = {48, 192},
        .gradient = 4},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 3},
    {RT_GRAD_NORM, RT_F32, "grad_norm", .offset = 1163072},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {4, 16}, .offset = 1155264, .least = -96,
        .bound = 96},
    {RT_INPUT, RT_I64, "labels", .rank = 2, .dim = {4, 16}, .offset = 7423424},
    {RT_OUTPUT, RT_F32, "logits", .rank = 3, .dim = {4, 16, 96}, .offset = 1179840},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 1143808},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 1176192},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 1176320},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(I1, 512, 0, 56), LIVE(I51, 512, 0, 23), LIVE(A2, 512, 0, 1), LIVE(A3, 12288, 1, 2),
        LIVE(A10, 768, 3, 53), LIVE(A11, 768, 3, 53), LIVE(A12, 768, 3, 53), LIVE(A13, 12288, 4, 5),
        LIVE(A15, 36864, 5, 6), LIVE(A18, 110592, 3, 53), LIVE(A20, 36864, 3, 53),
        LIVE(A21, 3072, 3, 53), LIVE(A23, 12288, 8, 10), LIVE(A28, 36864, 3, 53),
        LIVE(A29, 768, 3, 53), LIVE(A30, 768, 3, 53), LIVE(A31, 768, 3, 53),
        LIVE(A33, 147456, 3, 53), LIVE(A36, 49152, 11, 12), LIVE(A38, 12288, 12, 13),
        LIVE(A6, 49152, 2, 53), LIVE(A43, 256, 15, 26), LIVE(A44, 256, 15, 26),
        LIVE(A47, 12288, 15, 16), LIVE(A49, 24576, 16, 29), LIVE(A52, 64, 17, 23),
        LIVE(A53, 64, 17, 111), LIVE(A54, 512, 17, 18), LIVE(A56, 64, 18, 111),
        LIVE(A58, 256, 20, 21), LIVE(A59, 256, 21, 23), LIVE(A60, 256, 21, 23),
        LIVE(A61, 256, 21, 22), LIVE(A63, 64, 22, 111), LIVE(A55, 64, 17, 23),
        LIVE(A65, 12288, 24, 28), LIVE(A67, 192, 25, 95), LIVE(A69, 12288, 26, 28),
        LIVE(A70, 12288, 26, 27), LIVE(A74, 192, 27, 94), LIVE(A45, 256, 15, 26),
        LIVE(A46, 256, 15, 26), LIVE(A71, 256, 26, 28), LIVE(A72, 12288, 26, 29),
        LIVE(A77, 18432, 29, 96), LIVE(A68, 256, 26, 28), LIVE(A79, 576, 30, 110),
        LIVE(A82, 49152, 32, 34), LIVE(A85, 110592, 30, 110), LIVE(A83, 49152, 33, 41),
        LIVE(A87, 2304, 30, 110), LIVE(A89, 12288, 36, 40), LIVE(A91, 576, 30, 110),
        LIVE(A93, 12288, 38, 51), LIVE(A94, 12288, 38, 39), LIVE(A98, 576, 30, 110),
        LIVE(A95, 256, 38, 40), LIVE(A96, 12288, 38, 41), LIVE(A100, 110592, 30, 110),
        LIVE(A92, 256, 38, 40), LIVE(A102, 576, 30, 110), LIVE(A104, 12288, 43, 45),
        LIVE(A106, 27648, 30, 110), LIVE(A108, 36864, 45, 52), LIVE(A110, 1728, 30, 110),
        LIVE(A112, 12288, 47, 51), LIVE(A114, 576, 30, 110), LIVE(A116, 12288, 49, 51),
        LIVE(A117, 12288, 49, 50), LIVE(A121, 576, 30, 110), LIVE(A118, 256, 49, 51),
        LIVE(A119, 12288, 49, 52), LIVE(A123, 82944, 30, 110), LIVE(A115, 256, 49, 51),
        LIVE(A80, 24576, 28, 56), LIVE(A125, 3072, 54, 93), LIVE(A127, 18432, 56, 92),
        LIVE(A128, 384, 57, 58), LIVE(A130, 64, 58, 60), LIVE(A131, 64, 60, 61),
        LIVE(A132, 64, 61, 62), LIVE(A133, 64, 62, 111), LIVE(A134, 384, 63, 64),
        LIVE(A136, 64, 64, 65), LIVE(A137, 64, 67, 68), LIVE(A138, 64, 68, 72),
        LIVE(A139, 576, 69, 70), LIVE(A141, 64, 70, 71), LIVE(A142, 64, 72, 76),
        LIVE(A143, 768, 73, 74), LIVE(A145, 64, 74, 75), LIVE(A146, 64, 76, 77),
        LIVE(A147, 64, 77, 78), LIVE(A148, 64, 78, 82), LIVE(A149, 768, 79, 80),
        LIVE(A151, 64, 80, 81), LIVE(A152, 64, 82, 83), LIVE(A153, 64, 83, 84),
        LIVE(A154, 192, 66, 88), LIVE(A155, 64, 86, 89), LIVE(A157, 64, 89, 90),
        LIVE(A164, 64, 91, 110), LIVE(A165, 64, 91, 110), LIVE(A166, 64, 91, 110),
        LIVE(A167, 64, 91, 110), LIVE(A168, 64, 91, 110), LIVE(A169, 64, 91, 110),
        LIVE(T14, 61440, 5, 5), LIVE(T19, 6205440, 7, 7), LIVE(T22, 24576, 8, 8),
        LIVE(T32, 73728, 10, 10), LIVE(T37, 73728, 12, 12), LIVE(T48, 36864, 16, 16),
        LIVE(T57, 32768, 20, 20), LIVE(T62, 512, 22, 22), LIVE(T64, 36864, 24, 24),
        LIVE(T66, 24576, 25, 25), LIVE(T73, 24576, 27, 27), LIVE(T76, 24576, 29, 29),
        LIVE(T78, 24576, 31, 31), LIVE(T81, 73728, 32, 32), LIVE(T84, 73728, 34, 34),
        LIVE(T86, 98304, 35, 35), LIVE(T88, 73728, 36, 36), LIVE(T90, 24576, 37, 37),
        LIVE(T97, 24576, 39, 39), LIVE(T99, 24576, 41, 41), LIVE(T101, 24576, 42, 42),
        LIVE(T103, 24576, 43, 43), LIVE(T105, 24576, 44, 44), LIVE(T107, 6205440, 45, 45),
        LIVE(T109, 73728, 46, 46), LIVE(T111, 61440, 47, 47), LIVE(T113, 24576, 48, 48),
        LIVE(T120, 24576, 50, 50), LIVE(T122, 24576, 52, 52), LIVE(T124, 393216, 54, 54),
        LIVE(T126, 1280, 56, 56), LIVE(T129, 512, 58, 58), LIVE(T135, 512, 64, 64),
        LIVE(T140, 512, 70, 70), LIVE(T144, 512, 74, 74), LIVE(T150, 512, 80, 80),
        LIVE(T156, 512, 89, 89),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {30, 53, 3, {0}}, {66, 85, 3, {0}}, {86, 88, 3, {0}},
            {97, 110, 3, {0}}, {0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(I205, 512, 0, 1), LIVE(I225, 512, 0, 21), LIVE(A206, 12288, 1, 2),
        LIVE(A209, 12288, 4, 5), LIVE(A211, 36864, 5, 7), LIVE(A213, 12288, 7, 8),
        LIVE(A214, 1024, 7, 7), LIVE(A216, 12288, 8, 10), LIVE(A217, 12288, 9, 13),
        LIVE(A219, 49152, 10, 12), LIVE(A221, 12288, 12, 13), LIVE(A208, 24576, 2, 15),
        LIVE(A222, 12288, 15, 16), LIVE(A224, 24576, 16, 23), LIVE(A226, 64, 17, 21),
        LIVE(A227, 64, 17, 23), LIVE(A228, 512, 17, 18), LIVE(A229, 64, 18, 23),
        LIVE(A231, 256, 20, 21), LIVE(A232, 256, 21, 22), LIVE(A234, 64, 22, 23),
        LIVE(T210, 61440, 5, 5), LIVE(T212, 6205440, 7, 7), LIVE(T215, 24576, 8, 8),
        LIVE(T218, 73728, 10, 10), LIVE(T220, 73728, 12, 12), LIVE(T223, 36864, 16, 16),
        LIVE(T230, 32768, 20, 20), LIVE(T233, 512, 22, 22),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {0}});
}

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --clip-norm 1 --march x86-64-v3",
    .plan = "1 rank, arena 8184064 bytes, bound 8184064",
    .arena_bytes = 8184064,
    .n_kernels = 15,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 34504704,
    .vocabulary = 96,
    .labels = "labels",
    .redzone = 64,
    .live_ranges = live_ranges,
    .tensors = tensors,
    .n_tensors = sizeof tensors / sizeof *tensors,
    .train = train_tensors,
    .n_train = sizeof train_tensors / sizeof *train_tensors,
    .predict = predict_tensors,
    .n_predict = sizeof predict_tensors / sizeof *predict_tensors,
    .init = init,
    .micro = micro,
    .reduce = reduce,
    .update = update,
    .forward = forward,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
