// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --ranks 2
//      --mesh tp=2 --plan-preset megatron --march x86-64-v3 --cluster h100x2
//   plan: 2 ranks as tp=2, arena 7209152 bytes, bound 7209152
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
static const int64_t I1 = 4107264, A2 = 625216, A3 = 612864, A6 = 3920384, A7 = 3932672,
    A10 = 4102272, A11 = 4103104, A12 = 4103936, A13 = 668288, T14 = 612864, A15 = 649792,
    A18 = 3865024, T19 = 612864, A20 = 4031168, A21 = 4100672, T22 = 612864, A23 = 637760,
    T25 = 612864, A26 = 650112, A30 = 3969600, A31 = 4104768, A32 = 4105600, A33 = 4106432,
    T34 = 612864, A35 = 3791232, A38 = 649792, T39 = 612864, A40 = 674432, T42 = 612864,
    A43 = 637760, A47 = 711680, A48 = 712000, A49 = 712320, A50 = 712640, A51 = 637504,
    T52 = 612864, A53 = 649856, T55 = 3715648, A56 = 662336, I57 = 4006528, A58 = 646016,
    A59 = 4108544, A60 = 612864, A61 = 646144, A62 = 4108672, T63 = 612864, A64 = 645696,
    A65 = 613440, A66 = 613760, A67 = 614080, T68 = 612864, A69 = 4108800, T70 = 612864,
    A71 = 686976, T72 = 612864, A73 = 637504, A74 = 649856, A80 = 4110208, A81 = 4110336,
    A82 = 4110464, A83 = 4110592, A84 = 4110720, A85 = 674560, A86 = 713280, A87 = 637504,
    A88 = 662208, A89 = 712960, A90 = 699328, T91 = 612864, A92 = 711680, A93 = 4109056,
    T94 = 612864, A95 = 659136, A96 = 4108928, T97 = 612864, A98 = 649856, A99 = 612864,
    A103 = 4018816, A108 = 631360, T109 = 612864, A110 = 4109184, T111 = 612864, A112 = 637504,
    A113 = 4006528, A114 = 4110080, T117 = 612864, A118 = 649792, A119 = 699008, T120 = 612864,
    A121 = 723648, A122 = 662080, T125 = 612864, A126 = 742144, A129 = 4107840, A130 = 4109952,
    T131 = 612864, A132 = 649792, T133 = 612864, A134 = 662144, A135 = 674496, A136 = 650176,
    A137 = 4068160, A138 = 637504, A139 = 649856, A140 = 723648, T141 = 612864, A142 = 650496,
    A143 = 4109568, T144 = 612864, A145 = 650752, A146 = 4109440, T151 = 612864, A152 = 650560,
    A153 = 675200, A154 = 612864, T157 = 650560, A158 = 694080, A159 = 4109312, A160 = 650560,
    A161 = 687488, A162 = 612864, T163 = 613696, A164 = 4109696, T165 = 612864, A166 = 4096000,
    A167 = 4080512, A168 = 4109824, T171 = 612864, A172 = 4089792, T175 = 612864, A176 = 4049664,
    T177 = 612864, A178 = 675136, A179 = 674496, A180 = 612864, T181 = 613696, A182 = 711680,
    T183 = 612864, A184 = 649792, A185 = 662144, A188 = 711552, A189 = 686848, A190 = 654784,
    A191 = 674496, A192 = 637504, A193 = 654464, A194 = 699200, T195 = 612864, A196 = 655104,
    A197 = 649856, T198 = 612864, A199 = 655360, A200 = 655616, T201 = 612864, A202 = 640576,
    A203 = 612864, A210 = 640576, T211 = 612864, A212 = 613440, A213 = 4108288, A214 = 613440,
    T215 = 612864, A216 = 1009280, T217 = 612864, A218 = 1006144, A219 = 632704, T222 = 631360,
    A223 = 612864, A224 = 631936, T225 = 631360, A226 = 632384;
static const int64_t I229 = 625216, A230 = 612864, A231 = 7144576, T232 = 6818368, A233 = 7175424,
    A234 = 7040000, A235 = 7206272, A236 = 7156928, A237 = 6892416, A238 = 6966208, A239 = 7132288,
    A240 = 674368, T241 = 612864, A242 = 7095360, T243 = 612864, A244 = 7193920, A245 = 7207488,
    T246 = 612864, A247 = 735872, A248 = 748224, T249 = 612864, A250 = 686656, T251 = 612864,
    A252 = 735872, A253 = 674432, T254 = 612864, A255 = 649792, I256 = 7208576, A257 = 646016,
    A258 = 646144, A259 = 612864, A260 = 646272, T261 = 612864, A262 = 645696, A263 = 613440,
    T264 = 612864, A265 = 613760;
static const int64_t W4 = 0, W5 = 18496, W8 = 21632, W9 = 22272, W16 = 22912, W17 = 64448,
    W24 = 65472, W27 = 79360, W28 = 80000, W29 = 80640, W36 = 81280, W37 = 136640, W41 = 139008,
    W44 = 194368, W45 = 195008, W46 = 195264, W54 = 195520, H75 = 204928, H76 = 205056,
    H77 = 204800, H78 = 205184, H79 = 205440, S100 = 248832, S101 = 249088, H102 = 205312,
    S104 = 249344, S105 = 249600, S106 = 249856, S107 = 259136, S115 = 611584, S116 = 612224,
    S123 = 500864, S124 = 556224, S127 = 498432, S128 = 499648, S147 = 385152, S148 = 385792,
    S149 = 386432, S150 = 387072, S155 = 387712, S156 = 443072, S169 = 383872, S170 = 384512,
    S173 = 356096, S174 = 369984, S186 = 354048, S187 = 355072, S204 = 268416, S205 = 269056,
    S206 = 269696, S207 = 270336, S208 = 270976, S209 = 312512, S220 = 242560, S221 = 245696,
    S227 = 205568, S228 = 224064;

static RtRows wte_forward, add_forward, ln1_forward, qkv_forward, ln2_forward, blocks_erf_forward,
    blocks_add_forward, ln_forward, cross_entropy_forward, cross_entropy_mod_forward,
    cross_entropy_log_forward, cross_entropy_backward, adamw_scalars, ln_backward, grad_norm,
    adamw, ln_add_backward, grad_norm_reduce_sum, blocks_erf_backward, adamw_div,
    grad_norm_reduce_sum_2, ln_add_backward_2, ln_div_backward, grad_norm_reduce_sum_3,
    grad_norm_reduce_sum_4, grad_norm_reduce_sum_5, grad_norm_add, grad_norm_add_2,
    grad_norm_reduce_sum_6, grad_norm_sqrt, ln_predict, qkv_predict, ln2_predict,
    blocks_erf_predict, cross_entropy_predict, cross_entropy_log_predict;

// blocks.{}, 3 times
static void block1_forward(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul ... f32[4,16,48]", 2.22e4, 2.57e4, 1.31e4, 3.01e-6);
    rt_rows(rt, ln1_forward, (char *[]){m + A7 - 12288 + layer * 12288, m + W8 + layer * 192,
        m + W9 + layer * 192, m + A10 + layer * 256, m + A11 + layer * 256, m + A12 + layer * 256,
        m + A13}, 64, 36864);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,2,12]", 4.42e5, 4.45e4, 1.84e4, 3.07e-6);
    rt_dot(rt_with(rt, m + T14), 0, m + A15, m + A13, m + W16 + layer * 13824);
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,2,12]", 4.61e3, 3.72e4, 1.84e4, 3.02e-6);
    rt_rows(rt, qkv_forward, (char *[]){m + A15, m + W17 + layer * 320, m + A18 + layer * 18432},
        64, 4608);
    RT_AT(rt, "blocks.{}: attention f32[4,16,2,12]", 4.92e4, 2.51e4, 6.66e3, 3.01e-6);
    rt_attention(rt_with(rt, m + T19), &(RtAttention){.n_batch = 2, .batch = {4, 2}, .n_group = 0,
        .s = 16, .t = 16, .e = 12, .f = 12, .q = {{1152, 12}, {0}, 72, 1}, .k = {{1152, 12}, {0},
        72, 1}, .v = {{1152, 12}, {0}, 72, 1}, .y = {{384, 12}, {0}, 24, 1}, .lse = {{32, 1}, {0},
        2, 0}, .offset = 0, .causal = true, .window = 0, .scale = 0.288675129},
        m + A20 + layer * 6144, m + A21 + layer * 512, m + A18 + layer * 18432,
        m + A18 + 96 + layer * 18432, m + A18 + 192 + layer * 18432, NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 1.47e5, 2.3e4, 1.23e4, 3.02e-6);
    rt_dot(rt_with(rt, m + T22), 1, m + A23, m + A20 + layer * 6144, m + W24 + layer * 4608);
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.proj: all_reduce f32[4,16,48]", 0, 2.46e4, 1.23e4, 9.06e-6);
    rt_all_reduce(rt_with(rt, m + T25), &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = 3072, .inner = 1}, m + A26, m + A23);
    RT_AT(rt, "blocks.{}.ln2: add add ... f32[4,16,48]", 2.84e4, 3.82e4, 2.53e4, 3.02e-6);
    rt_rows(rt, ln2_forward, (char *[]){m + A26, m + W27 + layer * 192,
        m + A7 - 12288 + layer * 12288, m + W28 + layer * 192, m + W29 + layer * 192,
        m + A30 + layer * 12288, m + A31 + layer * 256, m + A32 + layer * 256,
        m + A33 + layer * 256, m + A26}, 64, 43008);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T34), 2, m + A35 + layer * 24576, m + A26, m + W36 + layer * 18432);
    RT_AT(rt, "blocks.{}: add div erf add mul ... f32[4,16,96]", 1.41e5, 4.95e4, 2.46e4, 3.03e-6);
    rt_rows(rt, blocks_erf_forward, (char *[]){m + A35 + layer * 24576,
        m + W37 + rt->shard[0].offset * 4 + layer * 768, m + A38}, 64, 36864);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 5.9e5, 5.53e4, 1.23e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T39), 3, m + A40, m + A38, m + W41 + layer * 18432);
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.out: all_reduce f32[4,16,48]", 0, 2.46e4, 1.23e4, 9.06e-6);
    rt_all_reduce(rt_with(rt, m + T42), &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = 3072, .inner = 1}, m + A43, m + A40);
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4, 3.02e-6);
    rt_rows(rt, blocks_add_forward, (char *[]){m + A43, m + W44 + layer * 192,
        m + A30 + layer * 12288, m + A7 + layer * 12288}, 64, 6144);
}

// blocks.{}, 3 times
static void block1_backward(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T111), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A112,
        m + A113 + (layer + 1) % 2 * 12288);
    rt_gradient(rt, 3, layer, m + A112);  // blocks.{}.out.bias
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A112, m + A114}, 1, 96);
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W44 + layer * 192, m + A84, m + A112, m + S115 + layer * 192,
        m + A82, m + A81, m + S116 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T117), 7, m + A118, m + A113 + (layer + 1) % 2 * 12288,
        m + W41 + layer * 18432);
    RT_AT(rt, "blocks.{}: add div erf add mul ... f32[4,16,96]", 2.76e5, 7.41e4, 4.92e4, 3.04e-6);
    rt_rows(rt, blocks_erf_backward, (char *[]){m + A35 + layer * 24576,
        m + W37 + rt->shard[0].offset * 4 + layer * 768, m + A118, m + A118, m + A119}, 64, 98304);
    RT_AT(rt, "blocks.{}.out: dot f32[48,96]", 5.9e5, 5.53e4, 1.84e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T120), 8, m + A121, m + A118, m + A113 + (layer + 1) % 2 * 12288);
    // all_gather on tp: 0.0176 MiB, 6.12 us
    RT_AT(rt, "grad_norm blocks.{}.out.weight: start all_gather f32[48,192]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 3, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 48, .whole = 192, .inner = 1}, m + A122, m + A121);
    rt_gradient(rt, 4, layer, m + A121);  // blocks.{}.out.weight
    RT_AT(rt, "adamw blocks.{}.out.weight: mul ... f32[48,96]", 9.22e4, 7.38e4, 5.53e4, 3.05e-6);
    rt_rows(rt, adamw, (char *[]){m + W41 + layer * 18432, m + A84, m + A121,
        m + S123 + layer * 18432, m + A82, m + A81, m + S124 + layer * 18432, m + H78, m + A83,
        m + H102, m + A80}, 4608, 64512);
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[96]", 6.14e3, 2.5e4, 384, 3.01e-6);
    rt_reduce(rt_with(rt, m + T125), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {1, 0}}, m + A126, m + A119);
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sub mul ... f32[96]", 1.92e3, 1.95e3, 1.15e3, 3e-6);
    rt_rows(rt, adamw_div, (char *[]){m + W37 + rt->shard[0].offset * 4 + layer * 768, m + A84,
        m + A126, m + S127 + layer * 384, m + A82, m + A81, m + S128 + layer * 384, m + H78,
        m + A83, m + H102, m + A80, m + A129}, 96, 1344);
    // all_gather on tp: 0.000366 MiB, 6 us
    RT_AT(rt, "adamw blocks.{}.fc.bias: start all_gather f32[192]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 4, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 1, .whole = 192, .inner = 1}, m + W37 + layer * 768, m + A129);
    rt_gradient(rt, 5, layer, m + A126);  // blocks.{}.fc.bias
    RT_AT(rt, "grad_norm blocks.{}.out.weight: wait for all_gather f32[48,192]", 0, 0, 0, 3e-6);
    rt_wait(rt, 3);
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul ... f32[]", 1.84e4, 3.69e4, 4, 3.01e-6);
    rt_rows(rt, grad_norm_reduce_sum_2, (char *[]){m + A122, m + A130}, 1, 18432);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]", 5.9e5, 5.53e4, 1.23e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T131), 9, m + A132, m + A119, m + W36 + layer * 18432);
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.fc: all_reduce f32[4,16,48]", 0, 2.46e4, 1.23e4, 9.06e-6);
    rt_all_reduce(rt_with(rt, m + T133), &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = 3072, .inner = 1}, m + A134, m + A132);
    RT_AT(rt, "blocks.{}.ln2: mul mul ... f32[4,16,48]", 3.09e4, 7.51e4, 4.97e4, 3.04e-6);
    rt_rows(rt, ln_add_backward_2, (char *[]){m + A134, m + W28 + layer * 192,
        m + A33 + layer * 256, m + A30 + layer * 12288, m + A31 + layer * 256,
        m + W29 + layer * 192, m + A135, m + A136, m + A137, m + A138, m + A139, m + A140}, 64,
        39936);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T141), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A142, m + A134);
    rt_gradient(rt, 6, layer, m + A142);  // blocks.{}.ln2.bias
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A142, m + A143}, 1, 96);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T144), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A145, m + A138);
    rt_gradient(rt, 7, layer, m + A145);  // blocks.{}.ln2.weight
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A145, m + A146}, 1, 96);
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W28 + layer * 192, m + A84, m + A145, m + S147 + layer * 192,
        m + A82, m + A81, m + S148 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "blocks.{}.ln2: mul add sqrt div ... f32[4,16,48]", 1.96e4, 3.79e4, 1.23e4, 3.02e-6);
    rt_rows(rt, ln_div_backward, (char *[]){m + A32 + layer * 256, m + A139, m + A33 + layer * 256,
        m + A137, m + A135, m + A113 + (layer + 1) % 2 * 12288, m + A136, m + A137}, 64, 46080);
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W29 + layer * 192, m + A84, m + A142, m + S149 + layer * 192,
        m + A82, m + A81, m + S150 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "blocks.{}.fc: dot f32[96,48]", 5.9e5, 5.53e4, 1.84e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T151), 10, m + A152, m + A140, m + A119);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: copy f32[1,4608]", 0, 3.69e4, 1.84e4, 3.02e-6);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {4608}, .x_stride = {1}, .y_stride = {1}},
        m + A153, m + A152);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: copy f32[1,96]", 0, 768, 384, 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {96}, .x_stride = {1}, .y_stride = {1}},
        m + A153 + 18432, m + A126);
    // all_gather of 2 on tp: 0.0179 MiB, 6.08 us
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: start all_gather f32[2,4704]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 5, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 1, .whole = 2, .inner = 4704}, m + A154, m + A153);
    rt_gradient(rt, 8, layer, m + A152);  // blocks.{}.fc.weight
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4, 3.05e-6);
    rt_rows(rt, adamw, (char *[]){m + W36 + layer * 18432, m + A84, m + A152,
        m + S155 + layer * 18432, m + A82, m + A81, m + S156 + layer * 18432, m + H78, m + A83,
        m + H102, m + A80}, 4608, 64512);
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T157), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A158, m + A137);
    rt_gradient(rt, 9, layer, m + A158);  // blocks.{}.proj.bias
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A158, m + A159}, 1, 96);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: wait for all_gather f32[2,4704]", 0, 0, 0, 3e-6);
    rt_wait(rt, 5);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: copy f32[2,4608]", 0, 7.37e4, 3.69e4, 3.04e-6);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 2, .dim = {2, 4608}, .x_stride = {4704, 1},
        .y_stride = {4608, 1}}, m + A160, m + A154);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: copy f32[2,96]", 0, 1.54e3, 768, 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 2, .dim = {2, 96}, .x_stride = {4704, 1},
        .y_stride = {96, 1}}, m + A161, m + A154 + 18432);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul ... f32[192]", 1.84e4, 3.76e4, 768, 3.01e-6);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A160, m + A162}, 192, 18432);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]", 192, 772, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T163), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}}, m + A164, m + A162);
    RT_AT(rt, "blocks.{}.proj: dot f32[48,2,12]", 1.47e5, 2.3e4, 4.61e3, 3.02e-6);
    rt_dot(rt_with(rt, m + T165), 11, m + A166, m + A20 + layer * 6144, m + A137);
    // all_gather on tp: 0.00439 MiB, 6.03 us
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: start all_gather f32[48,4,12]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 6, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 48, .whole = 4, .inner = 12}, m + A167, m + A166);
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum f32[]", 384, 772, 4, 3e-6);
    rt_rows(rt, grad_norm_reduce_sum_3, (char *[]){m + A161, m + A168}, 1, 384);
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W27 + layer * 192, m + A84, m + A158, m + S169 + layer * 192,
        m + A82, m + A81, m + S170 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,2,12]", 1.47e5, 2.3e4, 6.14e3, 3.02e-6);
    rt_dot(rt_with(rt, m + T171), 12, m + A172, m + A137, m + W24 + layer * 4608);
    rt_gradient(rt, 10, layer, m + A166);  // blocks.{}.proj.weight
    RT_AT(rt, "adamw {}.proj.weight: mul sub ... f32[48,2,12]", 2.3e4, 1.85e4, 1.38e4, 3.01e-6);
    rt_rows(rt, adamw, (char *[]){m + W24 + layer * 4608, m + A84, m + A166,
        m + S173 + layer * 4608, m + A82, m + A81, m + S174 + layer * 4608, m + H78, m + A83,
        m + H102, m + A80}, 1152, 16128);
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,2,12]", 9.83e4, 4.97e4, 1.84e4, 3.02e-6);
    rt_attention_grad(rt_with(rt, m + T175), &(RtAttention){.n_batch = 2, .batch = {4, 2},
        .n_group = 0, .s = 16, .t = 16, .e = 12, .f = 12, .q = {{1152, 12}, {0}, 72, 1},
        .k = {{1152, 12}, {0}, 72, 1}, .v = {{1152, 12}, {0}, 72, 1}, .y = {{384, 12}, {0}, 24, 1},
        .lse = {{32, 1}, {0}, 2, 0}, .dy = {{384, 12}, {0}, 24, 1}, .dq = {{1152, 12}, {0}, 72, 1},
        .dk = {{1152, 12}, {0}, 72, 1}, .dv = {{1152, 12}, {0}, 72, 1}, .offset = 0,
        .causal = true, .window = 0, .scale = 0.288675129}, m + A176, m + A176 + 96,
        m + A176 + 192, m + A18 + layer * 18432, m + A18 + 96 + layer * 18432,
        m + A18 + 192 + layer * 18432, NULL, NULL, NULL, NULL, m + A20 + layer * 6144,
        m + A21 + layer * 512, m + A172);
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,2,12]", 4.61e3, 1.87e4, 288, 3.01e-6);
    rt_reduce(rt_with(rt, m + T177), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 72}, .stride = {72, 1}, .reduced = {1, 0}}, m + A178, m + A176);
    // all_gather on tp: 0.000275 MiB, 6 us
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: start all_gather f32[3,4,12]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 7, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 3, .whole = 4, .inner = 12}, m + A179, m + A178);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: wait for all_gather f32[48,4,12]", 0, 0, 0, 3e-6);
    rt_wait(rt, 6);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul ... f32[48,4]", 4.61e3, 9.98e3, 768, 3e-6);
    rt_rows(rt, grad_norm_reduce_sum_4, (char *[]){m + A167, m + A180}, 192, 4608);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]", 192, 772, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T181), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}}, m + A182, m + A180);
    rt_gradient(rt, 11, layer, m + A178);  // blocks.{}.qkv.bias
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]", 4.42e5, 4.45e4, 1.23e4, 3.07e-6);
    rt_dot(rt_with(rt, m + T183), 13, m + A184, m + A176, m + W16 + layer * 13824);
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.qkv: start all_reduce f32[4,16,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 8, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM,
        .axis = 0, .outer = 1, .whole = 3072, .inner = 1}, m + A185, m + A184);
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul ... f32[3,2,12]", 1.44e3, 1.18e3, 864, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W17 + layer * 320, m + A84, m + A178, m + S186 + layer * 320,
        m + A82, m + A81, m + S187 + layer * 320, m + H78, m + A83, m + H102, m + A80}, 72, 1008);
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: wait for all_gather f32[3,4,12]", 0, 0, 0, 3e-6);
    rt_wait(rt, 7);
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum f32[]", 288, 580, 4, 3e-6);
    rt_rows(rt, grad_norm_reduce_sum_5, (char *[]){m + A179, m + A188}, 1, 288);
    RT_AT(rt, "blocks.{}.qkv: wait for all_reduce f32[4,16,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 8);
    RT_AT(rt, "blocks.{}.ln1: mul mul ... f32[4,16,48]", 3.09e4, 7.51e4, 4.97e4, 3.04e-6);
    rt_rows(rt, ln_add_backward_2, (char *[]){m + A185, m + W8 + layer * 192,
        m + A12 + layer * 256, m + A7 - 12288 + layer * 12288, m + A10 + layer * 256,
        m + W9 + layer * 192, m + A189, m + A190, m + A191, m + A192, m + A193, m + A194}, 64,
        39936);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T195), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A196, m + A185);
    rt_gradient(rt, 12, layer, m + A196);  // blocks.{}.ln1.bias
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A196, m + A197}, 1, 96);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T198), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A199, m + A192);
    rt_gradient(rt, 13, layer, m + A199);  // blocks.{}.ln1.weight
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]", 97, 200, 4, 3e-6);
    rt_rows(rt, grad_norm_add, (char *[]){m + A199, m + A197, m + A200}, 1, 144);
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,2,12,48]", 4.42e5, 4.45e4, 1.38e4, 3.07e-6);
    rt_dot(rt_with(rt, m + T201), 14, m + A202, m + A194, m + A176);
    // all_gather on tp: 0.0132 MiB, 6.09 us
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: start all_gather f32[3,4,12,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 9, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 3, .whole = 4, .inner = 576}, m + A203, m + A202);
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W8 + layer * 192, m + A84, m + A199, m + S204 + layer * 192,
        m + A82, m + A81, m + S205 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "blocks.{}.ln1: mul add sqrt div ... f32[4,16,48]", 1.96e4, 5.02e4, 1.23e4, 3.02e-6);
    rt_rows(rt, ln_div_backward, (char *[]){m + A11 + layer * 256, m + A193, m + A12 + layer * 256,
        m + A191, m + A189, m + A137, m + A190, m + A113 + layer % 2 * 12288}, 64, 46080);
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W9 + layer * 192, m + A84, m + A196, m + S206 + layer * 192,
        m + A82, m + A81, m + S207 + layer * 192, m + H78, m + A83, m + H102, m + A80}, 48, 672);
    rt_gradient(rt, 14, layer, m + A202);  // blocks.{}.qkv.weight
    RT_AT(rt, "adamw {}.qkv.weight: mul sub ... f32[3,2,12,48]", 6.91e4, 5.53e4, 4.15e4, 3.03e-6);
    rt_rows(rt, adamw, (char *[]){m + W16 + layer * 13824, m + A84, m + A202,
        m + S208 + layer * 13824, m + A82, m + A81, m + S209 + layer * 13824, m + H78, m + A83,
        m + H102, m + A80}, 3456, 48384);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: wait for all_gather f32[3,4,12,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 9);
    RT_AT(rt, "grad_norm {}.qkv.weight: mul ... f32[3,4,12]", 1.38e4, 2.82e4, 576, 3.01e-6);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A203, m + A210}, 144, 13824);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]", 144, 580, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T211), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {144}, .stride = {1}, .reduced = {1}}, m + A212, m + A210);
    RT_AT(rt, "grad_norm blocks.{}.out.bias: add add add add add add ... f32[]", 10, 48, 4, 3e-6);
    rt_rows(rt, grad_norm_add_2, (char *[]){m + A200, m + A212, m + A188, m + A182, m + A159,
        m + A146, m + A143, m + A164, m + A168, m + A130, m + A114, m + A213 + layer * 64}, 1, 10);
    RT_AT(rt, "adamw blocks.{}.fc.bias: wait for all_gather f32[192]", 0, 0, 0, 3e-6);
    rt_wait(rt, 4);
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 1.02e3, 512, 3e-6);
    rt_rows(rt, wte_forward, (char *[]){m + I1, m + A2}, 64, 192);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4, 3.01e-6);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A3, m + W4, m + A2);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 2.76e4, 1.23e4, 3.01e-6);
    rt_rows(rt, add_forward, (char *[]){m + A3, m + W5, m + A6}, 4, 3072);
    for (int64_t layer = 0; layer < 3; layer++)
        block1_forward(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub mul ... f32[4,16,48]", 2.27e4, 2.6e4, 1.33e4, 3.01e-6);
    rt_rows(rt, ln_forward, (char *[]){m + A7 + 24576, m + W45, m + W46, m + A47, m + A48, m + A49,
        m + A50, m + A51}, 64, 49152);
    RT_AT(rt, "head: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4, 3.04e-6);
    rt_dot(rt_with(rt, m + T52), 4, m + A53, m + A51, m + W54);
    // all_gather on tp: 0.0117 MiB, 6.08 us
    RT_AT(rt, "head: start all_gather f32[4,16,96]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 0, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 64, .whole = 96, .inner = 1}, m + A56, m + A53);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... f32[]", 772, 1.1e3, 584, 3e-6);
    rt_rows(rt, cross_entropy_forward, (char *[]){m + I57, m + A58, m + A59, m + A60, m + A61}, 1,
        960);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8, 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + A62, m + A60);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8, 3e-6);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A62, m + A62}, 1, 1);
    RT_AT(rt, "head: wait for all_gather f32[4,16,96]", 0, 0, 0, 3e-6);
    rt_wait(rt, 0);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256, 3.01e-6);
    rt_reduce(rt_with(rt, m + T63), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {0, 1}}, m + A64, m + A56);
    RT_AT(rt, "cross_entropy: floor sub exp ... f32[4,16]", 9.3e4, 2.62e4, 768, 3.01e-6);
    rt_rows(rt, cross_entropy_log_forward, (char *[]){m + A64, m + A56, m + I57, m + A58, m + A65,
        m + A66, m + A67}, 64, 67584);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T68), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A69, m + A67);
    RT_AT(rt, "cross_entropy: select neg div ... f32[4,16,96]", 9.25e4, 2.57e4, 2.46e4, 3.02e-6);
    rt_rows(rt, cross_entropy_backward, (char *[]){m + A58, m + A61, m + A66, m + I57, m + A56,
        m + A65, m + A56}, 64, 61440);
    // shard on tp
    RT_AT(rt, "head: shard f32[4,16,48]", 0, 3.69e4, 1.23e4, 6.03e-6);
    rt_shard(rt_with(rt, m + T70), &(RtExchange){.type = RT_F32, .axis = 0, .outer = 64,
        .whole = 96, .inner = 1}, m + A71, m + A56);
    RT_AT(rt, "head: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4, 3.04e-6);
    rt_dot(rt_with(rt, m + T72), 5, m + A73, m + A71, m + W54);
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "head: start all_reduce f32[4,16,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 1, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM,
        .axis = 0, .outer = 1, .whole = 3072, .inner = 1}, m + A74, m + A73);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub ... f32[]", 66, 40, 20, 3e-6);
    rt_rows(rt, adamw_scalars, (char *[]){m + H75, m + H76, m + H77, m + H78, m + H79, m + A80,
        m + A81, m + A82, m + A83, m + A84}, 1, 19);
    RT_AT(rt, "head: wait for all_reduce f32[4,16,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 1);
    RT_AT(rt, "ln: mul mul reduce_sum mul neg ... f32[4,16,48]", 3.16e4, 7.56e4, 4.97e4, 3.04e-6);
    rt_rows(rt, ln_backward, (char *[]){m + A74, m + W45, m + A48, m + A7 + 24576, m + A47,
        m + A49, m + A50, m + W46, m + A85, m + A86, m + A87, m + A88, m + A89, m + A90}, 64,
        55296);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T91), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A92, m + A74);
    rt_gradient(rt, 0, 0, m + A92);  // ln.bias
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A92, m + A93}, 1, 96);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192, 3e-6);
    rt_reduce(rt_with(rt, m + T94), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + A95, m + A88);
    rt_gradient(rt, 1, 0, m + A95);  // ln.weight
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum f32[]", 96, 196, 4, 3e-6);
    rt_rows(rt, grad_norm, (char *[]){m + A95, m + A96}, 1, 96);
    RT_AT(rt, "head: dot f32[48,48]", 2.95e5, 3.38e4, 9.22e3, 3.04e-6);
    rt_dot(rt_with(rt, m + T97), 6, m + A98, m + A90, m + A71);
    // all_gather on tp: 0.00879 MiB, 6.04 us
    RT_AT(rt, "grad_norm head.weight: start all_gather f32[96,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T55), 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 1, .whole = 96, .inner = 48}, m + A99, m + A98);
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul add ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W45, m + A84, m + A95, m + S100, m + A82, m + A81, m + S101,
        m + H78, m + A83, m + H102, m + A80}, 48, 672);
    RT_AT(rt, "ln: mul mul add add add f32[4,16,48]", 1.54e4, 3.74e4, 1.23e4, 3.02e-6);
    rt_rows(rt, ln_add_backward, (char *[]){m + A89, m + A87, m + A85, m + A86, m + A103}, 64,
        15360);
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul add ... f32[48]", 960, 796, 576, 3e-6);
    rt_rows(rt, adamw, (char *[]){m + W46, m + A84, m + A92, m + S104, m + A82, m + A81, m + S105,
        m + H78, m + A83, m + H102, m + A80}, 48, 672);
    rt_gradient(rt, 2, 0, m + A98);  // head.weight
    RT_AT(rt, "adamw head.weight: mul sub mul ... f32[48,48]", 4.61e4, 3.69e4, 2.76e4, 3.02e-6);
    rt_rows(rt, adamw, (char *[]){m + W54, m + A84, m + A98, m + S106, m + A82, m + A81, m + S107,
        m + H78, m + A83, m + H102, m + A80}, 2304, 32256);
    RT_AT(rt, "grad_norm head.weight: wait for all_gather f32[96,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 2);
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384, 3.01e-6);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A99, m + A108}, 96, 9216);
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]", 96, 388, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T109), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {96}, .stride = {1}, .reduced = {1}}, m + A110, m + A108);
    for (int64_t layer = 2; layer >= 0; layer--)
        block1_backward(rt, m, layer);
    for (int64_t layer = 0; layer < 3; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]", 0, 8, 4, 3e-6);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 0}, m + A214 + layer * 4, m + A213 + layer * 64);
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]", 3, 16, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T215), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {3}, .stride = {1}, .reduced = {1}}, m + A216, m + A214);
    RT_AT(rt, "node_add: reduce_sum f32[16,48]", 3.07e3, 1.54e4, 3.07e3, 3.01e-6);
    rt_reduce(rt_with(rt, m + T217), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {4, 768}, .stride = {768, 1}, .reduced = {1, 0}}, m + A218, m + A113);
    rt_gradient(rt, 15, 0, m + A218);  // wpe.weight
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum f32[]", 1.54e3, 3.08e3, 4, 3e-6);
    rt_rows(rt, grad_norm_reduce_sum_6, (char *[]){m + A218, m + A219}, 1, 1536);
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul ... f32[16,48]", 1.54e4, 1.23e4, 9.22e3, 3.01e-6);
    rt_rows(rt, adamw, (char *[]){m + W5, m + A84, m + A218, m + S220, m + A82, m + A81, m + S221,
        m + H78, m + A83, m + H102, m + A80}, 768, 10752);
    RT_AT(rt, "wte: add lt select i64[4,16]", 192, 512, 512, 3e-6);
    rt_rows(rt, wte_forward, (char *[]){m + I1, m + I1}, 64, 192);
    RT_AT(rt, "wte: scatter_add f32[96,48]", 0, 3.12e4, 1.84e4, 3.02e-6);
    rt_scatter_add(rt_with(rt, m + T222), &(RtGather){.type = RT_F32, .index_type = RT_I64,
        .batch = 1, .outer = 1, .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A223,
        m + A113, m + I1, NULL);
    rt_gradient(rt, 16, 0, m + A223);  // wte.weight
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384, 3.01e-6);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A223, m + A224}, 96, 9216);
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]", 96, 388, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T225), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {96}, .stride = {1}, .reduced = {1}}, m + A226, m + A224);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4, 3e-6);
    rt_rows(rt, grad_norm_sqrt, (char *[]){m + A226, m + A219, m + A96, m + A93, m + A110,
        m + A216, m + A226}, 1, 7);
    RT_AT(rt, "adamw wte.weight: mul sub mul mul ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4, 3.05e-6);
    rt_rows(rt, adamw, (char *[]){m + W4, m + A84, m + A223, m + S227, m + A82, m + A81, m + S228,
        m + H78, m + A83, m + H102, m + A80}, 4608, 64512);
}

// blocks.{}, 3 times
static void block1_predict(Rt *rt, char *m, int64_t layer)
{
    // all_gather on tp: 0.0132 MiB, 6.09 us
    RT_AT(rt, "blocks.{}.qkv: start all_gather f32[3,4,12,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 1 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32,
        .axis = 0, .outer = 3, .whole = 4, .inner = 576}, m + A234 + layer % 2 * 27648,
        m + W16 + layer * 13824);
    // all_gather on tp: 0.000275 MiB, 6 us
    RT_AT(rt, "blocks.{}.qkv: start all_gather f32[3,4,12]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 3 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32,
        .axis = 0, .outer = 3, .whole = 4, .inner = 12}, m + A235 + layer % 2 * 576,
        m + W17 + layer * 320);
    // all_gather on tp: 0.00439 MiB, 6.03 us
    RT_AT(rt, "blocks.{}.proj: start all_gather f32[48,4,12]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 5 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32,
        .axis = 0, .outer = 48, .whole = 4, .inner = 12}, m + A236 + layer % 2 * 9216,
        m + W24 + layer * 4608);
    // all_gather on tp: 0.0176 MiB, 6.08 us
    RT_AT(rt, "blocks.{}.fc: start all_gather f32[192,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 7 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32,
        .axis = 0, .outer = 1, .whole = 192, .inner = 48}, m + A237 + layer % 2 * 36864,
        m + W36 + layer * 18432);
    // all_gather on tp: 0.0176 MiB, 6.12 us
    RT_AT(rt, "blocks.{}.out: start all_gather f32[48,192]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 9 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32,
        .axis = 0, .outer = 48, .whole = 192, .inner = 1}, m + A238 + layer % 2 * 36864,
        m + W41 + layer * 18432);
}

// blocks.{}, 3 times, 1 iteration later
static void block1_predict_skew1(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul ... f32[4,16,48]", 2.22e4, 2.5e4, 1.23e4, 3.01e-6);
    rt_rows(rt, ln_predict, (char *[]){m + A239 + (layer + 1) % 2 * 12288, m + W8 + layer * 192,
        m + W9 + layer * 192, m + A240}, 64, 36864);
    RT_AT(rt, "blocks.{}.qkv: wait for all_gather f32[3,4,12,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 1 + layer % 2);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 7.68e4, 3.69e4, 3.13e-6);
    rt_dot(rt_with(rt, m + T241), 15, m + A242, m + A240, m + A234 + layer % 2 * 27648);
    RT_AT(rt, "blocks.{}.qkv: wait for all_gather f32[3,4,12]", 0, 0, 0, 3e-6);
    rt_wait(rt, 3 + layer % 2);
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 3.74e4, 3.69e4, 3.03e-6);
    rt_rows(rt, qkv_predict, (char *[]){m + A242, m + A235 + layer % 2 * 576, m + A242}, 64, 9216);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 5.02e4, 1.33e4, 3.02e-6);
    rt_attention(rt_with(rt, m + T243), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .n_group = 0,
        .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0},
        144, 1}, .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .lse = {{64, 1},
        {0}, 4, 0}, .offset = 0, .causal = true, .window = 0, .scale = 0.288675129}, m + A244,
        m + A245, m + A242, m + A242 + 192, m + A242 + 384, NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: wait for all_gather f32[48,4,12]", 0, 0, 0, 3e-6);
    rt_wait(rt, 5 + layer % 2);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4, 3.04e-6);
    rt_dot(rt_with(rt, m + T246), 4, m + A247, m + A244, m + A236 + layer % 2 * 9216);
    RT_AT(rt, "blocks.{}.ln2: add add ... f32[4,16,48]", 2.84e4, 3.74e4, 2.46e4, 3.02e-6);
    rt_rows(rt, ln2_predict, (char *[]){m + A247, m + W27 + layer * 192,
        m + A239 + (layer + 1) % 2 * 12288, m + W28 + layer * 192, m + W29 + layer * 192, m + A248,
        m + A247}, 64, 43008);
    RT_AT(rt, "blocks.{}.fc: wait for all_gather f32[192,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 7 + layer % 2);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4, 3.18e-6);
    rt_dot(rt_with(rt, m + T249), 16, m + A250, m + A247, m + A237 + layer % 2 * 36864);
    RT_AT(rt, "blocks.{}: add div erf add mul ... f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4, 3.03e-6);
    rt_rows(rt, blocks_erf_predict, (char *[]){m + A250, m + W37 + layer * 768, m + A250}, 64,
        73728);
    RT_AT(rt, "blocks.{}.out: wait for all_gather f32[48,192]", 0, 0, 0, 3e-6);
    rt_wait(rt, 9 + layer % 2);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4, 3.18e-6);
    rt_dot(rt_with(rt, m + T251), 17, m + A252, m + A250, m + A238 + layer % 2 * 36864);
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4, 3.02e-6);
    rt_rows(rt, blocks_add_forward, (char *[]){m + A252, m + W44 + layer * 192, m + A248,
        m + A239 + layer % 2 * 12288}, 64, 6144);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 512, 512, 3e-6);
    rt_rows(rt, wte_forward, (char *[]){m + I229, m + I229}, 64, 192);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4, 3.01e-6);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + A230, m + W4, m + I229);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 2.76e4, 1.23e4, 3.01e-6);
    rt_rows(rt, add_forward, (char *[]){m + A230, m + W5, m + A231}, 4, 3072);
    // all_gather on tp: 0.00879 MiB, 6.04 us
    RT_AT(rt, "head: start all_gather f32[96,48]", 0, 0, 0, 3e-6);
    rt_start(rt_with(rt, m + T232), 0, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 1, .whole = 96, .inner = 48}, m + A233, m + W54);
    for (int64_t layer = 0; layer < 4; layer++) {
        if (layer < 3)
            block1_predict(rt, m, layer);
        if (layer >= 1)
            block1_predict_skew1(rt, m, layer - 1);
    }
    RT_AT(rt, "ln: reduce_sum mul sub mul ... f32[4,16,48]", 2.22e4, 2.5e4, 1.23e4, 3.01e-6);
    rt_rows(rt, ln_predict, (char *[]){m + A239, m + W45, m + W46, m + A253}, 64, 36864);
    RT_AT(rt, "head: wait for all_gather f32[96,48]", 0, 0, 0, 3e-6);
    rt_wait(rt, 0);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4, 3.09e-6);
    rt_dot(rt_with(rt, m + T254), 2, m + A255, m + A253, m + A233);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le ... i64[4,16]", 768, 1.09e3, 580, 3e-6);
    rt_rows(rt, cross_entropy_predict, (char *[]){m + I256, m + A257, m + A258, m + A259}, 1, 896);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8, 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + A260, m + A259);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8, 3e-6);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A260, m + A260}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256, 3.01e-6);
    rt_reduce(rt_with(rt, m + T261), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {0, 1}}, m + A262, m + A255);
    RT_AT(rt, "cross_entropy: floor sub exp ... f32[4,16]", 9.3e4, 2.57e4, 256, 3.01e-6);
    rt_rows(rt, cross_entropy_log_predict, (char *[]){m + A262, m + A255, m + I256, m + A257,
        m + A263}, 64, 67584);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4, 3e-6);
    rt_reduce(rt_with(rt, m + T264), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A265, m + A263);
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

// blocks.{}.qkv: add; 64 rows of 72
// x0 f32[4,16,3,2,12], bias f32[3,2,12] -> y0 f32[4,16,3,2,12]
static void qkv_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 72;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 72;
        RT_SIMD
        for (int64_t i = 0; i < 72; i++)
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

// blocks.{}: add div erf mul; 64 rows of 96
// x0 fc f32[4,16,96], bias fc.bias f32[192] -> y0 f32[4,16,96]
static void blocks_erf_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 96;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 96;
        RT_SIMD
        for (int64_t i = 0; i < 96; i++) {
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

// adamw: cast pow sub div sqrt neg mul; one number
// beta1 f32[], step f32[], lr f32[], beta2 f32[], weight_decay f32[] -> y0 f32[], y1 f32[],
//   y2 f32[], y3 f32[], y4 f32[]
static void adamw_scalars(char *const *p, int64_t first, int64_t last)
{
    const float beta1 = ((const float *)p[0])[0];
    const float step = ((const float *)p[1])[0];
    const float lr = ((const float *)p[2])[0];
    const float beta2 = ((const float *)p[3])[0];
    const float weight_decay = ((const float *)p[4])[0];
    float *y0 = (float *)p[5];
    float *y1 = (float *)p[6];
    float *y2 = (float *)p[7];
    float *y3 = (float *)p[8];
    float *y4 = (float *)p[9];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        const float v2 = 1.0f - beta1;
        const float v3 = 1.0f - beta2;
        const float v4 = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
        y4[0] = 1.0f - lr * weight_decay;
        y0[0] = v1;
        y1[0] = v2;
        y2[0] = v3;
        y3[0] = v4;
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

// grad_norm ln.bias, ln.weight, blocks.{}.out.bias and 4 more: mul reduce_sum; 48 elements
// x0 f32[48] -> y0 f32[]
static void grad_norm(char *const *p, int64_t first, int64_t last)
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

// adamw ln.weight, ln.bias, head.weight and 13 more: mul sub add sqrt div
// param, x1 adamw f32[], x2, exp_avg, x4 adamw f32[], x5 adamw f32[], exp_avg_sq, beta2 f32[],
//   x8 adamw f32[], eps f32[], x10 adamw f32[] -> next_exp_avg, next_exp_avg_sq, next_param
static void adamw(char *const *p, int64_t first, int64_t last)
{
    const float *param = (const float *)p[0];
    const float x1 = ((const float *)p[1])[0];
    const float *x2 = (const float *)p[2];
    const float *exp_avg = (const float *)p[3];
    const float x4 = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    const float *exp_avg_sq = (const float *)p[6];
    const float beta2 = ((const float *)p[7])[0];
    const float x8 = ((const float *)p[8])[0];
    const float eps = ((const float *)p[9])[0];
    const float x10 = ((const float *)p[10])[0];
    float *next_exp_avg = (float *)p[3];
    float *next_exp_avg_sq = (float *)p[6];
    float *next_param = (float *)p[0];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x2[i] - exp_avg[i]) * x5;
        const float v2 = exp_avg_sq[i] * beta2 + x2[i] * x2[i] * x4;
        next_param[i] = param[i] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        next_exp_avg[i] = v1;
        next_exp_avg_sq[i] = v2;
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

// grad_norm head.weight, blocks.{}.fc.weight, blocks.{}.qkv.weight and 1 more: mul reduce_sum
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
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

// blocks.{}: add div erf mul neg exp; 64 rows of 96
// x0 fc f32[4,16,96], bias fc.bias f32[192], x2 out f32[4,16,96] -> y0 f32[4,16,96],
//   y1 f32[4,16,96]
static void blocks_erf_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 96;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 96;
        float *y0 = (float *)p[3] + i0 * 96;
        float *y1 = (float *)p[4] + i0 * 96;
        RT_SIMD
        for (int64_t i = 0; i < 96; i++) {
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

// adamw blocks.{}.fc.bias: mul sub add sqrt div; 96 elements
// param blocks.{}.fc.bias f32[192], x1 adamw f32[], x2 blocks.{}.fc f32[96],
//   exp_avg blocks.{}.fc.bias.exp_avg f32[96], x4 adamw f32[], x5 adamw f32[],
//   exp_avg_sq blocks.{}.fc.bias.exp_avg_sq f32[96], beta2 f32[], x8 adamw f32[], eps f32[],
//   x10 adamw f32[] -> next_exp_avg f32[96], next_exp_avg_sq f32[96], y2 f32[96]
static void adamw_div(char *const *p, int64_t first, int64_t last)
{
    const float *param = (const float *)p[0];
    const float x1 = ((const float *)p[1])[0];
    const float *x2 = (const float *)p[2];
    const float *exp_avg = (const float *)p[3];
    const float x4 = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    const float *exp_avg_sq = (const float *)p[6];
    const float beta2 = ((const float *)p[7])[0];
    const float x8 = ((const float *)p[8])[0];
    const float eps = ((const float *)p[9])[0];
    const float x10 = ((const float *)p[10])[0];
    float *next_exp_avg = (float *)p[3];
    float *next_exp_avg_sq = (float *)p[6];
    float *y2 = (float *)p[11];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x2[i] - exp_avg[i]) * x5;
        const float v2 = exp_avg_sq[i] * beta2 + x2[i] * x2[i] * x4;
        y2[i] = param[i] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        next_exp_avg[i] = v1;
        next_exp_avg_sq[i] = v2;
    }
}

// grad_norm blocks.{}.out.weight: mul reduce_sum; 9216 elements
// x0 f32[48,192] -> y0 f32[]
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
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
        y0[0] = s0;
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

// grad_norm blocks.{}.fc.bias: mul reduce_sum; 192 elements
// x0 grad_norm blocks.{}.fc.weight f32[192] -> y0 f32[]
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 192; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12
// x0 f32[48,4,12] -> y0 f32[48,4]
static void grad_norm_reduce_sum_4(char *const *p, int64_t first, int64_t last)
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

// grad_norm blocks.{}.qkv.bias: mul reduce_sum; 144 elements
// x0 f32[3,4,12] -> y0 f32[]
static void grad_norm_reduce_sum_5(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 144; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.ln1.bias: mul reduce_sum add; 48 elements
// x0 blocks.{}.ln1 f32[48], x1 f32[] -> y0 f32[]
static void grad_norm_add(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float v1 = s0 + x1;
        y0[0] = v1;
    }
}

// grad_norm blocks.{}.out.bias: add; one number
// x0 grad_norm blocks.{}.ln1.bias f32[], x1 grad_norm blocks.{}.qkv.weight f32[], x2 grad_norm
//   blocks.{}.qkv.bias f32[], x3 grad_norm blocks.{}.proj.weight f32[], x4 grad_norm
//   blocks.{}.proj.bias f32[], x5 grad_norm blocks.{}.ln2.weight f32[], x6 grad_norm
//   blocks.{}.ln2.bias f32[], x7 grad_norm blocks.{}.fc.weight f32[], x8 grad_norm
//   blocks.{}.fc.bias f32[], x9 grad_norm blocks.{}.out.weight f32[], x10 f32[] -> y0 f32[]
static void grad_norm_add_2(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((const float *)p[0])[0];
    const float x1 = ((const float *)p[1])[0];
    const float x2 = ((const float *)p[2])[0];
    const float x3 = ((const float *)p[3])[0];
    const float x4 = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    const float x6 = ((const float *)p[6])[0];
    const float x7 = ((const float *)p[7])[0];
    const float x8 = ((const float *)p[8])[0];
    const float x9 = ((const float *)p[9])[0];
    const float x10 = ((const float *)p[10])[0];
    float *y0 = (float *)p[11];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10;
}

// grad_norm wpe.weight: mul reduce_sum; 768 elements
// x0 node_add f32[16,48] -> y0 f32[]
static void grad_norm_reduce_sum_6(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 768; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// grad_norm: add sqrt; one number
// x0 grad_norm wte.weight f32[], x1 grad_norm wpe.weight f32[], x2 grad_norm ln.weight f32[],
//   x3 grad_norm ln.bias f32[], x4 grad_norm head.weight f32[], x5 f32[] -> y0 f32[]
static void grad_norm_sqrt(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((const float *)p[0])[0];
    const float x1 = ((const float *)p[1])[0];
    const float x2 = ((const float *)p[2])[0];
    const float x3 = ((const float *)p[3])[0];
    const float x4 = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    float *y0 = (float *)p[6];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(0.0f + x0 + x1 + x2 + x3 + x4 + x5);
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

// blocks.{}.qkv: add; 64 rows of 144
// x0 f32[4,16,3,4,12], x1 f32[3,4,12] -> y0 f32[4,16,3,4,12]
static void qkv_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 144;
        const float *x1 = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 144;
        RT_SIMD
        for (int64_t i = 0; i < 144; i++)
            y0[i] = x0[i] + x1[i];
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

// blocks.{}: add div erf mul; 64 rows of 192
// x0 fc f32[4,16,192], bias fc.bias f32[192] -> y0 f32[4,16,192]
static void blocks_erf_predict(char *const *p, int64_t first, int64_t last)
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
    rt_dot_init(rt, 0, &(RtDot){.m = 64, .n = 72, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 72, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 1, &(RtDot){.m = 64, .n = 48, .k = 24, .a_m = 24, .a_k = 1, .b_k = 1,
        .b_n = 24, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 2, &(RtDot){.m = 64, .n = 96, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 96, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 3, &(RtDot){.m = 64, .n = 48, .k = 96, .a_m = 96, .a_k = 1, .b_k = 1,
        .b_n = 96, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 4, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 48, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 5, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 6, &(RtDot){.m = 48, .n = 48, .k = 64, .a_m = 1, .a_k = 48, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // head
    rt_dot_init(rt, 7, &(RtDot){.m = 64, .n = 96, .k = 48, .a_m = 48, .a_k = 1, .b_k = 96,
        .b_n = 1, .y_m = 96, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 8, &(RtDot){.m = 96, .n = 48, .k = 64, .a_m = 1, .a_k = 96, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 96, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 9, &(RtDot){.m = 64, .n = 48, .k = 96, .a_m = 96, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 10, &(RtDot){.m = 48, .n = 96, .k = 64, .a_m = 1, .a_k = 48, .b_k = 96,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 11, &(RtDot){.m = 24, .n = 48, .k = 64, .a_m = 1, .a_k = 24, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 24, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 12, &(RtDot){.m = 64, .n = 24, .k = 48, .a_m = 48, .a_k = 1, .b_k = 24,
        .b_n = 1, .y_m = 24, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 13, &(RtDot){.m = 64, .n = 48, .k = 72, .a_m = 72, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 14, &(RtDot){.m = 48, .n = 72, .k = 64, .a_m = 1, .a_k = 48, .b_k = 72,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 15, &(RtDot){.m = 64, .n = 144, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 144, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 16, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 17, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 1,
        .b_n = 192, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.out
}

// Dims that are split over ranks; rt->shard[i] is this rank's shard of the i-th.
static const RtCut cuts[] = {
    {192, 1, {0}},  // 0: on tp
    {4, 1, {0}},  // 1: on tp
    {96, 1, {0}},  // 2: on tp
};

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
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 2, 0, 0}, .offset = 22912, .step = 13824,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.bias", .layers = 3, .rank = 1, .dim = {144},
        .n_parts = 3, .part = {3, 4, 12}, .cut = {0, 2, 0}, .offset = 64448, .step = 320,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.weight", .layers = 3, .rank = 2, .dim = {48, 48},
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 2, 0}, .offset = 65472, .step = 4608,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 79360, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.weight", .layers = 3, .rank = 1, .dim = {48},
        .offset = 80000, .step = 192, .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 80640, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.weight", .layers = 3, .rank = 2, .dim = {192, 48},
        .n_parts = 2, .part = {192, 48}, .cut = {1, 0}, .offset = 81280, .step = 18432,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.bias", .layers = 3, .rank = 1, .dim = {192},
        .offset = 136640, .step = 768, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.weight", .layers = 3, .rank = 2, .dim = {48, 192},
        .n_parts = 2, .part = {48, 192}, .cut = {0, 1}, .offset = 139008, .step = 18432,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.bias", .layers = 3, .rank = 1, .dim = {48},
        .offset = 194368, .step = 192, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "ln.weight", .rank = 1, .dim = {48}, .offset = 195008,
        .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "ln.bias", .rank = 1, .dim = {48}, .offset = 195264,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "head.weight", .rank = 2, .dim = {96, 48}, .n_parts = 2, .part = {96,
        48}, .cut = {3, 0}, .offset = 195520, .init = RT_INIT_NORMAL},
    {RT_HYPER, RT_F32, "lr", .offset = 204800, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", .offset = 204928, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", .offset = 205056, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", .offset = 205184, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", .offset = 205312, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", .offset = 205440, .fill = 0.01},
    {RT_STATE, RT_F32, "wte.weight.exp_avg", .rank = 2, .dim = {96, 48}, .offset = 205568},
    {RT_STATE, RT_F32, "wte.weight.exp_avg_sq", .rank = 2, .dim = {96, 48}, .offset = 224064},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg", .rank = 2, .dim = {16, 48}, .offset = 242560},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg_sq", .rank = 2, .dim = {16, 48}, .offset = 245696},
    {RT_STATE, RT_F32, "ln.weight.exp_avg", .rank = 1, .dim = {48}, .offset = 248832},
    {RT_STATE, RT_F32, "ln.weight.exp_avg_sq", .rank = 1, .dim = {48}, .offset = 249088},
    {RT_STATE, RT_F32, "ln.bias.exp_avg", .rank = 1, .dim = {48}, .offset = 249344},
    {RT_STATE, RT_F32, "ln.bias.exp_avg_sq", .rank = 1, .dim = {48}, .offset = 249600},
    {RT_STATE, RT_F32, "head.weight.exp_avg", .rank = 2, .dim = {96, 48}, .n_parts = 2,
        .part = {96, 48}, .cut = {3, 0}, .offset = 249856},
    {RT_STATE, RT_F32, "head.weight.exp_avg_sq", .rank = 2, .dim = {96, 48}, .n_parts = 2,
        .part = {96, 48}, .cut = {3, 0}, .offset = 259136},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 268416, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 269056, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 269696, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 270336, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg", .layers = 3, .rank = 2, .dim = {144, 48},
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 2, 0, 0}, .offset = 270976,
        .step = 13824},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {144, 48},
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 2, 0, 0}, .offset = 312512,
        .step = 13824},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg", .layers = 3, .rank = 1, .dim = {144},
        .n_parts = 3, .part = {3, 4, 12}, .cut = {0, 2, 0}, .offset = 354048, .step = 320},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {144},
        .n_parts = 3, .part = {3, 4, 12}, .cut = {0, 2, 0}, .offset = 355072, .step = 320},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg", .layers = 3, .rank = 2, .dim = {48, 48},
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 2, 0}, .offset = 356096, .step = 4608},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {48, 48},
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 2, 0}, .offset = 369984, .step = 4608},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 383872, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 384512, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 385152, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 385792, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 386432, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 387072, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg", .layers = 3, .rank = 2, .dim = {192, 48},
        .n_parts = 2, .part = {192, 48}, .cut = {1, 0}, .offset = 387712, .step = 18432},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {192, 48},
        .n_parts = 2, .part = {192, 48}, .cut = {1, 0}, .offset = 443072, .step = 18432},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg", .layers = 3, .rank = 1, .dim = {192},
        .n_parts = 1, .part = {192}, .cut = {1}, .offset = 498432, .step = 384},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {192},
        .n_parts = 1, .part = {192}, .cut = {1}, .offset = 499648, .step = 384},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg", .layers = 3, .rank = 2, .dim = {48, 192},
        .n_parts = 2, .part = {48, 192}, .cut = {0, 1}, .offset = 500864, .step = 18432},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg_sq", .layers = 3, .rank = 2, .dim = {48, 192},
        .n_parts = 2, .part = {48, 192}, .cut = {0, 1}, .offset = 556224, .step = 18432},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg", .layers = 3, .rank = 1, .dim = {48},
        .offset = 611584, .step = 192},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg_sq", .layers = 3, .rank = 1, .dim = {48},
        .offset = 612224, .step = 192},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {4, 16}, .offset = 4107264, .least = -96,
        .bound = 96},
    {RT_INPUT, RT_I64, "labels", .rank = 2, .dim = {4, 16}, .offset = 4006528},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 4108800},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 4108544},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 4108672},
    {RT_GRADIENT, RT_F32, "wte.weight", .rank = 2, .dim = {96, 48}, .gradient = 16},
    {RT_GRADIENT, RT_F32, "wpe.weight", .rank = 2, .dim = {16, 48}, .gradient = 15},
    {RT_GRADIENT, RT_F32, "ln.weight", .rank = 1, .dim = {48}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "ln.bias", .rank = 1, .dim = {48}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "head.weight", .rank = 2, .dim = {96, 48}, .n_parts = 2, .part = {96,
        48}, .cut = {3, 0}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.weight", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 13},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 12},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.weight", .layers = 3, .rank = 2, .dim = {144, 48},
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 2, 0, 0}, .gradient = 14},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.bias", .layers = 3, .rank = 1, .dim = {144}, .n_parts = 3,
        .part = {3, 4, 12}, .cut = {0, 2, 0}, .gradient = 11},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.weight", .layers = 3, .rank = 2, .dim = {48, 48},
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 2, 0}, .gradient = 10},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 9},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.weight", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 7},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 6},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.weight", .layers = 3, .rank = 2, .dim = {192, 48},
        .n_parts = 2, .part = {192, 48}, .cut = {1, 0}, .gradient = 8},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.bias", .layers = 3, .rank = 1, .dim = {192}, .n_parts = 1,
        .part = {192}, .cut = {1}, .gradient = 5},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.weight", .layers = 3, .rank = 2, .dim = {48, 192},
        .n_parts = 2, .part = {48, 192}, .cut = {0, 1}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.bias", .layers = 3, .rank = 1, .dim = {48},
        .gradient = 3},
    {RT_GRAD_NORM, RT_F32, "grad_norm", .offset = 632384},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {4, 16}, .offset = 625216, .least = -96,
        .bound = 96},
    {RT_INPUT, RT_I64, "labels", .rank = 2, .dim = {4, 16}, .offset = 7208576},
    {RT_OUTPUT, RT_F32, "logits", .rank = 3, .dim = {4, 16, 96}, .offset = 649792},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 613760},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 646144},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 646272},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(I1, 512, 0, 126), LIVE(I57, 512, 0, 27), LIVE(A2, 512, 0, 1), LIVE(A3, 12288, 1, 2),
        LIVE(A10, 768, 3, 117), LIVE(A11, 768, 3, 117), LIVE(A12, 768, 3, 117),
        LIVE(A13, 12288, 4, 5), LIVE(A15, 18432, 5, 6), LIVE(A18, 55296, 3, 117),
        LIVE(A20, 18432, 3, 117), LIVE(A21, 1536, 3, 117), LIVE(A23, 12288, 8, 9),
        LIVE(A26, 12288, 9, 11), LIVE(A30, 36864, 3, 117), LIVE(A31, 768, 3, 117),
        LIVE(A32, 768, 3, 117), LIVE(A33, 768, 3, 117), LIVE(A35, 73728, 3, 117),
        LIVE(A38, 24576, 12, 13), LIVE(A40, 12288, 13, 14), LIVE(A43, 12288, 14, 15),
        LIVE(A6, 49152, 2, 117), LIVE(A47, 256, 17, 33), LIVE(A48, 256, 17, 33),
        LIVE(A51, 12288, 17, 18), LIVE(A53, 12288, 18, 23), LIVE(A56, 24576, 19, 28),
        LIVE(A58, 64, 20, 27), LIVE(A59, 64, 20, 131), LIVE(A60, 512, 20, 21),
        LIVE(A62, 64, 21, 131), LIVE(A64, 256, 24, 25), LIVE(A65, 256, 25, 27),
        LIVE(A66, 256, 25, 27), LIVE(A67, 256, 25, 26), LIVE(A69, 64, 26, 131),
        LIVE(A61, 64, 20, 27), LIVE(A71, 12288, 28, 38), LIVE(A73, 12288, 29, 32),
        LIVE(A74, 12288, 30, 34), LIVE(A92, 192, 34, 42), LIVE(A87, 12288, 33, 41),
        LIVE(A88, 12288, 33, 36), LIVE(A95, 192, 36, 40), LIVE(A85, 12288, 33, 41),
        LIVE(A49, 256, 17, 33), LIVE(A50, 256, 17, 33), LIVE(A89, 256, 33, 41),
        LIVE(A90, 12288, 33, 38), LIVE(A98, 9216, 38, 44), LIVE(A86, 256, 33, 41),
        LIVE(A112, 192, 48, 50), LIVE(A118, 24576, 51, 53), LIVE(A121, 18432, 53, 59),
        LIVE(A119, 24576, 52, 71), LIVE(A126, 384, 56, 73), LIVE(A132, 12288, 61, 62),
        LIVE(A134, 12288, 62, 64), LIVE(A142, 192, 64, 70), LIVE(A137, 12288, 63, 109),
        LIVE(A138, 12288, 63, 66), LIVE(A145, 192, 66, 68), LIVE(A135, 12288, 63, 69),
        LIVE(A139, 256, 63, 69), LIVE(A140, 12288, 63, 71), LIVE(A152, 18432, 71, 75),
        LIVE(A136, 256, 63, 69), LIVE(A158, 192, 76, 86), LIVE(A172, 6144, 87, 89),
        LIVE(A166, 4608, 83, 92), LIVE(A176, 18432, 89, 106), LIVE(A178, 320, 90, 98),
        LIVE(A184, 12288, 95, 100), LIVE(A185, 12288, 96, 102), LIVE(A196, 192, 102, 110),
        LIVE(A191, 12288, 101, 109), LIVE(A192, 12288, 101, 104), LIVE(A199, 192, 104, 108),
        LIVE(A189, 12288, 101, 109), LIVE(A193, 256, 101, 109), LIVE(A194, 12288, 101, 106),
        LIVE(A202, 13824, 106, 112), LIVE(A190, 256, 101, 109), LIVE(A113, 24576, 41, 126),
        LIVE(A218, 3072, 122, 124), LIVE(A223, 18432, 126, 130), LIVE(A224, 384, 127, 128),
        LIVE(A226, 64, 128, 131), LIVE(A219, 64, 123, 129), LIVE(A96, 64, 37, 129),
        LIVE(A93, 64, 35, 129), LIVE(A99, 18432, 39, 45), LIVE(A108, 384, 45, 46),
        LIVE(A110, 64, 46, 129), LIVE(A197, 64, 103, 105), LIVE(A200, 64, 105, 115),
        LIVE(A203, 27648, 107, 113), LIVE(A210, 576, 113, 114), LIVE(A212, 64, 114, 115),
        LIVE(A179, 576, 91, 99), LIVE(A188, 64, 99, 115), LIVE(A167, 9216, 84, 93),
        LIVE(A180, 768, 93, 94), LIVE(A182, 64, 94, 115), LIVE(A159, 64, 77, 115),
        LIVE(A146, 64, 67, 115), LIVE(A143, 64, 65, 115), LIVE(A153, 18816, 72, 78),
        LIVE(A154, 37632, 74, 80), LIVE(A160, 36864, 79, 81), LIVE(A161, 768, 80, 85),
        LIVE(A162, 768, 81, 82), LIVE(A164, 64, 82, 115), LIVE(A168, 64, 85, 115),
        LIVE(A122, 36864, 54, 60), LIVE(A130, 64, 60, 115), LIVE(A114, 64, 49, 115),
        LIVE(A213, 192, 47, 120), LIVE(A214, 64, 118, 121), LIVE(A216, 64, 121, 129),
        LIVE(A80, 64, 31, 130), LIVE(A81, 64, 31, 130), LIVE(A82, 64, 31, 130),
        LIVE(A83, 64, 31, 130), LIVE(A84, 64, 31, 130), LIVE(A129, 384, 57, 116),
        LIVE(T55, 75520, 19, 117), LIVE(T14, 36864, 5, 5), LIVE(T19, 3102720, 7, 7),
        LIVE(T22, 12288, 8, 8), LIVE(T25, 24832, 9, 9), LIVE(T34, 36864, 11, 11),
        LIVE(T39, 36864, 13, 13), LIVE(T42, 24832, 14, 14), LIVE(T52, 24576, 18, 18),
        LIVE(T63, 32768, 24, 24), LIVE(T68, 512, 26, 26), LIVE(T70, 49408, 28, 28),
        LIVE(T72, 24576, 29, 29), LIVE(T91, 24576, 34, 34), LIVE(T94, 24576, 36, 36),
        LIVE(T97, 24576, 38, 38), LIVE(T109, 512, 46, 46), LIVE(T111, 24576, 48, 48),
        LIVE(T117, 36864, 51, 51), LIVE(T120, 36864, 53, 53), LIVE(T125, 49152, 56, 56),
        LIVE(T131, 36864, 61, 61), LIVE(T133, 24832, 62, 62), LIVE(T141, 24576, 64, 64),
        LIVE(T144, 24576, 66, 66), LIVE(T151, 24576, 71, 71), LIVE(T157, 24576, 76, 76),
        LIVE(T163, 512, 82, 82), LIVE(T165, 12288, 83, 83), LIVE(T171, 12288, 87, 87),
        LIVE(T175, 3102720, 89, 89), LIVE(T177, 36864, 90, 90), LIVE(T181, 512, 94, 94),
        LIVE(T183, 36864, 95, 95), LIVE(T195, 24576, 102, 102), LIVE(T198, 24576, 104, 104),
        LIVE(T201, 24576, 106, 106), LIVE(T211, 512, 114, 114), LIVE(T215, 512, 121, 121),
        LIVE(T217, 393216, 122, 122), LIVE(T222, 1280, 126, 126), LIVE(T225, 512, 128, 128),
        {0}}, (RtLoop[]){{3, 16, 3, {0}}, {47, 117, 3, {0}}, {118, 120, 3, {0}}, {0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(I229, 512, 0, 1), LIVE(I256, 512, 0, 33), LIVE(A230, 12288, 1, 2),
        LIVE(A240, 12288, 10, 12), LIVE(A234, 55296, 4, 25), LIVE(A242, 36864, 12, 15),
        LIVE(A235, 1152, 4, 25), LIVE(A244, 12288, 15, 17), LIVE(A245, 1024, 15, 15),
        LIVE(A236, 18432, 4, 25), LIVE(A247, 12288, 17, 20), LIVE(A248, 12288, 18, 24),
        LIVE(A237, 73728, 4, 25), LIVE(A250, 49152, 20, 23), LIVE(A238, 73728, 4, 25),
        LIVE(A252, 12288, 23, 24), LIVE(A239, 24576, 2, 26), LIVE(A253, 12288, 26, 28),
        LIVE(A233, 18432, 3, 28), LIVE(A255, 24576, 28, 35), LIVE(A257, 64, 29, 33),
        LIVE(A258, 64, 29, 35), LIVE(A259, 512, 29, 30), LIVE(A260, 64, 30, 35),
        LIVE(A262, 256, 32, 33), LIVE(A263, 256, 33, 34), LIVE(A265, 64, 34, 35),
        LIVE(T232, 73984, 3, 27), LIVE(T241, 61440, 12, 12), LIVE(T243, 6205440, 15, 15),
        LIVE(T246, 24576, 17, 17), LIVE(T249, 73728, 20, 20), LIVE(T251, 73728, 23, 23),
        LIVE(T254, 36864, 28, 28), LIVE(T261, 32768, 32, 32), LIVE(T264, 512, 34, 34),
        {0}}, (RtLoop[]){{4, 25, 4, {10}}, {0}});
}

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --ranks 2 --mesh tp=2 --plan-preset megatron --marc"
               "h x86-64-v3 --cluster h100x2",
    .plan = "2 ranks as tp=2, arena 7209152 bytes, bound 7209152",
    .arena_bytes = 7209152,
    .slots = 11,
    .n_kernels = 18,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 34504704,
    .vocabulary = 96,
    .labels = "labels",
    .mesh = {1, {2}, {"tp"}},
    .transport = &rt_mpi,
    .cuts = cuts,
    .n_cuts = sizeof cuts / sizeof *cuts,
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
    .forward = forward,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
