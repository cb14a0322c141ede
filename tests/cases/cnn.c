// Made by shardcc. Changes here are lost when it is made again.
//   shardcc cnn.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --march x86-64-v3
//   plan: 1 rank, arena 3079872 bytes, bound 3079872
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
static const int64_t T1 = 114304, A2 = 2851520, I3 = 3052288, T5 = 315072, A7 = 114304,
    A8 = 1852864, T10 = 315072, A11 = 1852992, A14 = 1853120, A16 = 1747712, T17 = 114304,
    A18 = 1647296, T20 = 114304, A21 = 393088, T23 = 114304, A24 = 393216, A27 = 393344,
    A29 = 114304, A30 = 342400, A31 = 299392, A33 = 267968, T34 = 114304, A35 = 392704,
    I37 = 3077440, A43 = 118464, A44 = 3077824, A45 = 114304, A46 = 118720, A47 = 3077952,
    T48 = 114304, A49 = 118592, A50 = 114880, A51 = 115008, T52 = 114304, A53 = 3078080,
    T54 = 114304, A55 = 119488, A56 = 3079104, A62 = 3079232, A63 = 3079360, A64 = 3079488,
    A65 = 3079616, A66 = 3079744, T70 = 114304, A71 = 367552, T72 = 114304, A73 = 310976,
    A74 = 114304, T75 = 115008, A76 = 3078976, A79 = 114304, T80 = 214720, A81 = 215168,
    A82 = 215296, A83 = 3078848, A88 = 3078720, T89 = 114304, A90 = 1797952, T91 = 114304,
    A92 = 1848192, A93 = 114304, T94 = 114880, A95 = 3078592, A98 = 515840, A99 = 114304,
    A100 = 315072, T101 = 114304, A102 = 114560, A103 = 114688, A104 = 3078464, A109 = 3078336,
    T110 = 114304, A111 = 114688, A112 = 3078208, T115 = 114304, A116 = 3077440, A117 = 114304;
static const int64_t A120 = 3077568, T121 = 114304, A122 = 2851520, I123 = 3052288, A124 = 1747712,
    T125 = 114304, A126 = 1647296, A127 = 114304, A128 = 114304, A129 = 299392, A130 = 267968,
    T131 = 114304, A132 = 324544, I133 = 3077440, A139 = 118464, A140 = 118592, A141 = 114304,
    A142 = 118720, T143 = 114304, A144 = 118848, A145 = 114880, T146 = 114304, A147 = 115008;
static const int64_t W4 = 0, W6 = 384, B9 = 512, W12 = 768, B13 = 640, W15 = 896, W19 = 1024,
    B22 = 5696, W25 = 5952, B26 = 5824, W28 = 6080, W32 = 6208, W36 = 37632, C38 = 37760,
    C39 = 37888, C40 = 38016, C41 = 38144, C42 = 38272, H57 = 38528, H58 = 38656, H59 = 38400,
    H60 = 38784, H61 = 39040, S67 = 113408, S68 = 113536, H69 = 38912, S77 = 50560, S78 = 81984,
    S84 = 50304, S85 = 50432, S86 = 50048, S87 = 50176, S96 = 40704, S97 = 45376, S105 = 40448,
    S106 = 40576, S107 = 40192, S108 = 40320, S113 = 39936, S114 = 40064, S118 = 39168,
    S119 = 39552, C134 = 113664, C135 = 113792, C136 = 113920, C137 = 114048, C138 = 114176;

static RtRows module_1_add_forward, module_1_div_forward, module_2_forward, module_5_add_forward,
    module_5_div_forward, module_6_forward, module_7_forward, module_9_forward,
    cross_entropy_forward, cross_entropy_mod_forward, cross_entropy_log_forward,
    cross_entropy_backward, grad_norm, adamw_scalars, adamw, grad_norm_reduce_sum,
    grad_norm_reduce_sum_2, adamw_div, module_5_mul_backward, module_5_add_backward,
    grad_norm_reduce_sum_3, module_2_backward, grad_norm_reduce_sum_4, adamw_div_2,
    module_1_mul_backward, grad_norm_sqrt, div_predict, module_2_predict, cross_entropy_predict,
    cross_entropy_log_predict;
static RtSumRows module_1_forward, module_1_reduce_sum_forward, module_5_forward,
    module_5_reduce_sum_forward, module_5_backward, module_1_backward, module_0_backward;

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.26e5, 2.01e5);
    rt_conv(rt_with(rt, m + T1), 0, m + A2, m + I3, m + W4);
    RT_AT(rt, "1: add reduce_sum f32[8]", 1e5, 4.01e5, 2.01e5);
    rt_sums(rt_with(rt, m + T5), module_1_forward, (char *[]){m + A2, m + W6, m + A7},
        &(RtSums){.outer = 1, .rows = 6272, .width = 8, .n = 1, .work = 100352},
        (char *[]){m + A8});
    RT_AT(rt, "1: mul mul mul add f32[8]", 32, 64, 64);
    rt_rows(rt, module_1_add_forward, (char *[]){m + A8, m + B9, m + A8}, 8, 32);
    RT_AT(rt, "1: sub mul reduce_sum f32[8]", 1.51e5, 2.01e5, 2.01e5);
    rt_sums(rt_with(rt, m + T10), module_1_reduce_sum_forward, (char *[]){m + A7, m + A8, m + A7},
        &(RtSums){.outer = 1, .rows = 6272, .width = 8, .n = 1, .work = 150528},
        (char *[]){m + A11});
    RT_AT(rt, "1: mul mul mul add sqrt div mul mul add f32[8]", 120, 128, 64);
    rt_rows(rt, module_1_div_forward, (char *[]){m + A11, m + W12, m + B13, m + A14}, 8, 72);
    RT_AT(rt, "2: mul add le select f32[8,8,28,28]", 2.01e5, 2.01e5, 2.01e5);
    rt_rows(rt, module_2_forward, (char *[]){m + A7, m + A14, m + W15, m + A7}, 6272, 200704);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.51e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + A16, m + A7);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 1.55e5, 1e5);
    rt_conv(rt_with(rt, m + T17), 1, m + A18, m + A16, m + W19);
    RT_AT(rt, "5: reduce_sum f32[16]", 2.51e4, 1e5, 64);
    rt_sums(rt_with(rt, m + T20), module_5_forward, (char *[]){m + A18}, &(RtSums){.outer = 1,
        .rows = 1568, .width = 16, .n = 1, .work = 25088}, (char *[]){m + A21});
    RT_AT(rt, "5: mul mul mul add f32[16]", 64, 128, 128);
    rt_rows(rt, module_5_add_forward, (char *[]){m + A21, m + B22, m + A21}, 16, 64);
    RT_AT(rt, "5: sub mul reduce_sum f32[16]", 7.53e4, 1e5, 64);
    rt_sums(rt_with(rt, m + T23), module_5_reduce_sum_forward, (char *[]){m + A18, m + A21},
        &(RtSums){.outer = 1, .rows = 1568, .width = 16, .n = 1, .work = 75264},
        (char *[]){m + A24});
    RT_AT(rt, "5: mul mul mul add sqrt div mul mul add f32[16]", 240, 256, 128);
    rt_rows(rt, module_5_div_forward, (char *[]){m + A24, m + W25, m + B26, m + A27}, 16, 144);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 2.01e5, 1e5);
    rt_rows(rt, module_6_forward, (char *[]){m + A18, m + A21, m + A27, m + W28, m + A29}, 1568,
        125440);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1.25e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + A30, m + A29);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    rt_rows(rt, module_7_forward, (char *[]){m + A30, m + A30}, 6272, 6272);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 5.02e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + A31, m + A30);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 6.27e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + A33, m + W32);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.68e4, 320);
    rt_dot(rt_with(rt, m + T34), 2, m + A35, m + A31, m + A33);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    rt_rows(rt, module_9_forward, (char *[]){m + A35, m + W36, m + A35}, 8, 80);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select ... f32[]", 76, 464, 80);
    rt_rows(rt, cross_entropy_forward, (char *[]){m + I37, m + C38, m + C39, m + C40, m + C41,
        m + C42, m + A43, m + A44, m + A45, m + A46}, 1, 80);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 72, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + A47, m + A45);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A47, m + A47}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 352, 32);
    rt_reduce(rt_with(rt, m + T48), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {8,
        10}, .stride = {10, 1}, .reduced = {0, 1}}, m + A49, m + A35);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log iota eq ... f32[8]", 1.3e3, 488, 384);
    rt_rows(rt, cross_entropy_log_forward, (char *[]){m + A49, m + A35, m + I37, m + A43, m + A35,
        m + A50, m + A51}, 8, 880);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 36, 4);
    rt_reduce(rt_with(rt, m + T52), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {8}, .stride = {1}, .reduced = {1}}, m + A53, m + A51);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select add f32[8,10]", 368, 428, 320);
    rt_rows(rt, cross_entropy_backward, (char *[]){m + A43, m + A46, m + A50, m + A35, m + I37,
        m + A35}, 8, 640);
    RT_AT(rt, "9: reduce_sum f32[10]", 80, 360, 40);
    rt_reduce(rt_with(rt, m + T54), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2, .dim = {8,
        10}, .stride = {10, 1}, .reduced = {1, 0}}, m + A55, m + A35);
    rt_gradient(rt, 0, 0, m + A55);  // 9.bias
    RT_AT(rt, "grad_norm 9.bias: mul reduce_sum f32[]", 20, 44, 4);
    rt_rows(rt, grad_norm, (char *[]){m + A55, m + A56}, 1, 20);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 40, 20);
    rt_rows(rt, adamw_scalars, (char *[]){m + H57, m + H58, m + H59, m + H60, m + H61, m + A62,
        m + A63, m + A64, m + A65, m + A66}, 1, 19);
    RT_AT(rt, "adamw 9.bias: mul sub mul mul mul add mul add sqrt mul ... f32[10]", 200, 188, 120);
    rt_rows(rt, adamw, (char *[]){m + W36, m + A66, m + A55, m + S67, m + A64, m + A63, m + S68,
        m + H60, m + A65, m + H69, m + A62}, 10, 140);
    RT_AT(rt, "9: dot f32[8,16,7,7]", 1.25e5, 5.68e4, 2.51e4);
    rt_dot(rt_with(rt, m + T70), 3, m + A71, m + A35, m + W32);
    RT_AT(rt, "9: dot f32[10,16,7,7]", 1.25e5, 5.68e4, 3.14e4);
    rt_dot(rt_with(rt, m + T72), 4, m + A73, m + A30, m + A35);
    rt_gradient(rt, 1, 0, m + A73);  // 9.weight
    RT_AT(rt, "grad_norm 9.weight: mul reduce_sum f32[10,16]", 1.57e4, 3.2e4, 640);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A73, m + A74}, 160, 15680);
    RT_AT(rt, "grad_norm 9.weight: reduce_sum f32[]", 160, 644, 4);
    rt_reduce(rt_with(rt, m + T75), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {160}, .stride = {1}, .reduced = {1}}, m + A76, m + A74);
    RT_AT(rt, "adamw 9.weight: mul sub mul mul mul ... f32[10,16,7,7]", 1.57e5, 1.25e5, 9.41e4);
    rt_rows(rt, adamw, (char *[]){m + W32, m + A66, m + A73, m + S77, m + A64, m + A63, m + S78,
        m + H60, m + A65, m + H69, m + A62}, 7840, 109760);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    rt_rows(rt, module_7_forward, (char *[]){m + A71, m + A71}, 6272, 6272);
    RT_AT(rt, "7: sum_pool_grad f32[8,16,14,14]", 2.51e4, 1.25e5, 1e5);
    rt_sum_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0,
        0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7,
        7}, .x_last = true, .y_last = true}, m + A79, m + A71);
    RT_AT(rt, "5: sub mul add le select reduce_sum mul mul ... f32[16]", 2.26e5, 2.01e5, 1e5);
    rt_sums(rt_with(rt, m + T80), module_5_backward, (char *[]){m + A18, m + A21, m + A27, m + W28,
        m + A79, m + A79}, &(RtSums){.outer = 1, .rows = 1568, .width = 16, .n = 2,
        .work = 225792}, (char *[]){m + A81, m + A82});
    rt_gradient(rt, 2, 0, m + A81);  // 5.bias
    RT_AT(rt, "grad_norm 5.bias: mul reduce_sum f32[]", 32, 68, 4);
    rt_rows(rt, grad_norm_reduce_sum_2, (char *[]){m + A81, m + A83}, 1, 32);
    RT_AT(rt, "adamw 5.bias: mul sub mul mul mul add mul add sqrt mul ... f32[16]", 320, 284, 192);
    rt_rows(rt, adamw, (char *[]){m + W28, m + A66, m + A81, m + S84, m + A64, m + A63, m + S85,
        m + H60, m + A65, m + H69, m + A62}, 16, 224);
    RT_AT(rt, "adamw 5.weight: mul mul add sqrt div mul mul ... f32[16]", 736, 352, 324);
    rt_rows(rt, adamw_div, (char *[]){m + A82, m + W25, m + A24, m + S86, m + A64, m + A63,
        m + A66, m + S87, m + H60, m + A65, m + H69, m + A62, m + A82, m + A88, m + A24}, 1, 448);
    rt_gradient(rt, 3, 0, m + A82);  // 5.weight
    RT_AT(rt, "5: mul neg mul f32[16]", 48, 128, 64);
    rt_rows(rt, module_5_mul_backward, (char *[]){m + A81, m + A27, m + A81}, 16, 48);
    RT_AT(rt, "5: sub mul mul add add add f32[8,16,14,14]", 1.51e5, 2.01e5, 1e5);
    rt_rows(rt, module_5_add_backward, (char *[]){m + A18, m + A21, m + A24, m + A79, m + A81,
        m + A18}, 1568, 150528);
    RT_AT(rt, "4: conv_input_grad f32[8,8,14,14]", 3.61e6, 1.55e5, 5.02e4);
    rt_conv_input_grad(rt_with(rt, m + T89), 5, m + A90, m + A18, m + W19);
    RT_AT(rt, "4: conv_weight_grad f32[16,8,3,3]", 3.61e6, 1.55e5, 4.61e3);
    rt_conv_weight_grad(rt_with(rt, m + T91), 6, m + A92, m + A16, m + A18);
    rt_gradient(rt, 4, 0, m + A92);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[16,8]", 2.3e3, 5.12e3, 512);
    rt_rows(rt, grad_norm_reduce_sum_3, (char *[]){m + A92, m + A93}, 128, 2304);
    RT_AT(rt, "grad_norm 4.weight: reduce_sum f32[]", 128, 516, 4);
    rt_reduce(rt_with(rt, m + T94), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {128}, .stride = {1}, .reduced = {1}}, m + A95, m + A93);
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add ... f32[16,8,3,3]", 2.3e4, 1.85e4, 1.38e4);
    rt_rows(rt, adamw, (char *[]){m + W19, m + A66, m + A92, m + S96, m + A64, m + A63, m + S97,
        m + H60, m + A65, m + H69, m + A62}, 1152, 16128);
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 4.52e5, 4.52e5);
    rt_rows(rt, module_2_backward, (char *[]){m + A2, m + W6, m + A8, m + A14, m + W15, m + A2,
        m + A98, m + A99}, 6272, 301056);
    RT_AT(rt, "3: max_pool_grad f32[8,8,28,28]", 5.02e4, 4.52e5, 2.01e5);
    rt_max_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0,
        0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14,
        14}, .x_last = true, .y_last = true}, m + A100, m + A99, m + A90);
    RT_AT(rt, "1: select reduce_sum mul mul reduce_sum f32[8]", 2.51e5, 4.52e5, 2.01e5);
    rt_sums(rt_with(rt, m + T101), module_1_backward, (char *[]){m + A98, m + A100, m + A14,
        m + A2, m + A100}, &(RtSums){.outer = 1, .rows = 6272, .width = 8, .n = 2, .work = 250880},
        (char *[]){m + A102, m + A103});
    rt_gradient(rt, 5, 0, m + A102);  // 1.bias
    RT_AT(rt, "grad_norm 1.bias: mul reduce_sum f32[]", 16, 36, 4);
    rt_rows(rt, grad_norm_reduce_sum_4, (char *[]){m + A102, m + A104}, 1, 16);
    RT_AT(rt, "adamw 1.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    rt_rows(rt, adamw, (char *[]){m + W15, m + A66, m + A102, m + S105, m + A64, m + A63, m + S106,
        m + H60, m + A65, m + H69, m + A62}, 8, 112);
    RT_AT(rt, "adamw 1.weight: mul mul add sqrt div mul mul reduce_sum ... f32[8]", 368, 192, 164);
    rt_rows(rt, adamw_div_2, (char *[]){m + A103, m + W12, m + A11, m + S107, m + A64, m + A63,
        m + A66, m + S108, m + H60, m + A65, m + H69, m + A62, m + A103, m + A109, m + A11}, 1,
        224);
    rt_gradient(rt, 6, 0, m + A103);  // 1.weight
    RT_AT(rt, "1: mul neg mul f32[8]", 24, 64, 32);
    rt_rows(rt, module_1_mul_backward, (char *[]){m + A102, m + A14, m + A102}, 8, 24);
    RT_AT(rt, "0: mul mul add add add reduce_sum f32[8]", 3.01e5, 4.02e5, 2.01e5);
    rt_sums(rt_with(rt, m + T110), module_0_backward, (char *[]){m + A11, m + A2, m + A100,
        m + A102, m + A2}, &(RtSums){.outer = 1, .rows = 6272, .width = 8, .n = 1, .work = 301056},
        (char *[]){m + A111});
    rt_gradient(rt, 7, 0, m + A111);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 16, 36, 4);
    rt_rows(rt, grad_norm_reduce_sum_4, (char *[]){m + A111, m + A112}, 1, 16);
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    rt_rows(rt, adamw, (char *[]){m + W6, m + A66, m + A111, m + S113, m + A64, m + A63, m + S114,
        m + H60, m + A65, m + H69, m + A62}, 8, 112);
    RT_AT(rt, "0: conv_weight_grad f32[8,1,3,3]", 9.03e5, 2.26e5, 288);
    rt_conv_weight_grad(rt_with(rt, m + T115), 7, m + A116, m + I3, m + A2);
    rt_gradient(rt, 8, 0, m + A116);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum add add add add add add ... f32[]", 157, 324, 4);
    rt_rows(rt, grad_norm_sqrt, (char *[]){m + A116, m + A112, m + A109, m + A104, m + A95,
        m + A88, m + A83, m + A76, m + A56, m + A117}, 1, 864);
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul ... f32[8,1,3,3]", 1.44e3, 1.18e3, 864);
    rt_rows(rt, adamw, (char *[]){m + W4, m + A66, m + A116, m + S118, m + A64, m + A63, m + S119,
        m + H60, m + A65, m + H69, m + A62}, 72, 1008);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "1: add sqrt div mul f32[8]", 80, 96, 32);
    rt_rows(rt, div_predict, (char *[]){m + B13, m + W12, m + A120}, 8, 32);
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.26e5, 2.01e5);
    rt_conv(rt_with(rt, m + T121), 0, m + A122, m + I123, m + W4);
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 2.01e5, 2.01e5);
    rt_rows(rt, module_2_predict, (char *[]){m + A122, m + W6, m + B9, m + A120, m + W15,
        m + A122}, 6272, 301056);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.51e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + A124, m + A122);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 1.55e5, 1e5);
    rt_conv(rt_with(rt, m + T125), 1, m + A126, m + A124, m + W19);
    RT_AT(rt, "5: add sqrt div mul f32[16]", 160, 192, 64);
    rt_rows(rt, div_predict, (char *[]){m + B26, m + W25, m + A127}, 16, 64);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 1.01e5, 1e5);
    rt_rows(rt, module_6_forward, (char *[]){m + A126, m + B22, m + A127, m + W28, m + A126}, 1568,
        125440);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1.25e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + A128, m + A126);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    rt_rows(rt, module_7_forward, (char *[]){m + A128, m + A128}, 6272, 6272);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 5.02e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + A129, m + A128);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 6.27e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + A130, m + W32);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.68e4, 320);
    rt_dot(rt_with(rt, m + T131), 2, m + A132, m + A129, m + A130);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    rt_rows(rt, module_9_forward, (char *[]){m + A132, m + W36, m + A132}, 8, 80);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select i64[8]", 72, 460, 76);
    rt_rows(rt, cross_entropy_predict, (char *[]){m + I133, m + C134, m + C135, m + C136, m + C137,
        m + C138, m + A139, m + A140, m + A141}, 1, 72);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 72, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + A142, m + A141);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A142, m + A142}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 352, 32);
    rt_reduce(rt_with(rt, m + T143), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {8, 10}, .stride = {10, 1}, .reduced = {0, 1}}, m + A144, m + A132);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log iota eq ... f32[8]", 1.3e3, 456, 32);
    rt_rows(rt, cross_entropy_log_predict, (char *[]){m + A144, m + A132, m + I133, m + A139,
        m + A145}, 8, 880);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 36, 4);
    rt_reduce(rt_with(rt, m + T146), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {8}, .stride = {1}, .reduced = {1}}, m + A147, m + A145);
}

// 1: add reduce_sum; 6272 rows of 8
// x0 0 f32[8,8,28,28], bias 0.bias f32[8] -> y0 0 f32[8,8,28,28], s[i] f32[8]
static void module_1_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 8;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] + bias[i];
            s[i] += v1;
            y0[i] = v1;
        }
    }
}

// 1: mul add; 8 elements
// x0 f32[8], running_mean f32[8] -> y0 f32[8], next_running_mean f32[8]
static void module_1_add_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *running_mean = (const float *)p[1];
    float *y0 = (float *)p[2];
    float *next_running_mean = (float *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000159438772f;
        next_running_mean[i] = running_mean[i] * 0.899999976f + v1 * 0.100000024f;
        y0[i] = v1;
    }
}

// 1: sub mul reduce_sum; 6272 rows of 8
// x0 0 f32[8,8,28,28], x1 f32[8] -> y0 f32[8,8,28,28], s[i] f32[8]
static void module_1_reduce_sum_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 8;
        const float *x1 = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] - x1[i];
            s[i] += v1 * v1;
            y0[i] = v1;
        }
    }
}

// 1: mul add sqrt div; 8 elements
// x0 f32[8], weight f32[8], running_var f32[8] -> y0 f32[8], next_running_var f32[8]
static void module_1_div_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *weight = (const float *)p[1];
    const float *running_var = (const float *)p[2];
    float *y0 = (float *)p[3];
    float *next_running_var = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000159438772f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * weight[i];
        next_running_var[i] = running_var[i] * 0.899999976f + v1 * 1.0001595f * 0.100000024f;
        y0[i] = v2;
    }
}

// 2: mul add le select; 6272 rows of 8
// x0 1 f32[8,8,28,28], x1 1 f32[8], bias 1.bias f32[8] -> y0 f32[8,8,28,28]
static void module_2_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 8;
        const float *x1 = (const float *)p[1];
        const float *bias = (const float *)p[2];
        float *y0 = (float *)p[3] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] * x1[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 5: reduce_sum; 1568 rows of 16
// x0 4 f32[8,16,14,14] -> s[i] f32[16]
static void module_5_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 16;
        RT_SIMD
        for (int64_t i = 0; i < 16; i++)
            s[i] += x0[i];
    }
}

// 5: mul add; 16 elements
// x0 f32[16], running_mean f32[16] -> y0 f32[16], next_running_mean f32[16]
static void module_5_add_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *running_mean = (const float *)p[1];
    float *y0 = (float *)p[2];
    float *next_running_mean = (float *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000637755089f;
        next_running_mean[i] = running_mean[i] * 0.899999976f + v1 * 0.100000024f;
        y0[i] = v1;
    }
}

// 5: sub mul reduce_sum; 1568 rows of 16
// x0 4 f32[8,16,14,14], x1 f32[16] -> s[i] f32[16]
static void module_5_reduce_sum_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 16;
        const float *x1 = (const float *)p[1];
        RT_SIMD
        for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            s[i] += v1 * v1;
        }
    }
}

// 5: mul add sqrt div; 16 elements
// x0 f32[16], weight f32[16], running_var f32[16] -> y0 f32[16], next_running_var f32[16]
static void module_5_div_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *weight = (const float *)p[1];
    const float *running_var = (const float *)p[2];
    float *y0 = (float *)p[3];
    float *next_running_var = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000637755089f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * weight[i];
        next_running_var[i] = running_var[i] * 0.899999976f + v1 * 1.00063813f * 0.100000024f;
        y0[i] = v2;
    }
}

// 6: sub mul add le select; 1568 rows of 16
// x0 4 f32[8,16,14,14], x1 f32[16], x2 5 f32[16], bias 5.bias f32[16] -> y0 f32[8,16,14,14]
static void module_6_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 16;
        const float *x1 = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *bias = (const float *)p[3];
        float *y0 = (float *)p[4] + i0 * 16;
        RT_SIMD
        for (int64_t i = 0; i < 16; i++) {
            const float v1 = (x0[i] - x1[i]) * x2[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 7: mul; 6272 elements
// x0 f32[8,16,7,7] -> y0 f32[8,16,7,7]
static void module_7_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    float *y0 = (float *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] * 0.25f;
}

// 9: add; 8 rows of 10
// x0 f32[8,10], bias f32[10] -> y0 f32[8,10]
static void module_9_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 10;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 10;
        RT_SIMD
        for (int64_t i = 0; i < 10; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select div; 8 elements
// x0 labels i64[8], x1 constant i64[8], x2 constant i64[8], x3 constant i64[8], x4 constant i64[8],
//   x5 constant i64[8] -> y0 bool[8], y1 f32[], y2 i64[8], y3 f32[]
static void cross_entropy_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7];
    float *y3 = (float *)p[9];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (const int64_t *)p[0];
        const int64_t *x1 = (const int64_t *)p[1];
        const int64_t *x2 = (const int64_t *)p[2];
        const int64_t *x3 = (const int64_t *)p[3];
        const int64_t *x4 = (const int64_t *)p[4];
        const int64_t *x5 = (const int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 8; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i])) ? x4[i] : x5[i];
            y0[i] = v1;
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
        y0[0] = (int64_t)rt_mod_int(x0, 9);
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 8 rows of 10
// x0 f32[8], x1 9 f32[8,10], x2 labels i64[8], x3 bool[8] -> y0 f32[8,10], y1 f32[8], y2 f32[8]
static void cross_entropy_log_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[5];
    float *y2 = (float *)p[6];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float x0 = ((const float *)p[0])[i0];
        const float v1 = rt_floorf(x0);
        const float *x1 = (const float *)p[1] + i0 * 10;
        const int64_t x2 = ((const int64_t *)p[2])[i0];
        float *y0 = (float *)p[4] + i0 * 10;
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 10; i++) {
            const float v2 = x1[i] - v1;
            const float v3 = rt_exp_lowf(v2);
            s0 += v3;
            s1 += i == x2 ? v2 : 0.0f;
            y0[i] = v3;
        }
        const uint8_t x3 = ((const uint8_t *)p[3])[i0];
        const float v4 = x3 ? 0.0f : rt_logf(s0) - s1;
        y2[i0] = v4;
        y1[i0] = s0;
    }
}

// cross_entropy: select neg div mul iota eq add; 8 rows of 10
// x0 bool[8], x1 f32[], x2 f32[8], x3 f32[8,10], x4 labels i64[8] -> y0 f32[8,10]
static void cross_entropy_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const uint8_t x0 = ((const uint8_t *)p[0])[i0];
        const float x1 = ((const float *)p[1])[0];
        const float x2 = ((const float *)p[2])[i0];
        const float v1 = x0 ? 0.0f : x1;
        const float v2 = -v1;
        const float v3 = v1 / x2;
        const float *x3 = (const float *)p[3] + i0 * 10;
        const int64_t x4 = ((const int64_t *)p[4])[i0];
        float *y0 = (float *)p[5] + i0 * 10;
        RT_SIMD
        for (int64_t i = 0; i < 10; i++)
            y0[i] = v3 * x3[i] + (i == x4 ? v2 : 0.0f);
    }
}

// grad_norm 9.bias: mul reduce_sum; 10 elements
// x0 9 f32[10] -> y0 f32[]
static void grad_norm(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 10; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
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

// adamw 9.bias, 9.weight, 5.bias and 4 more: mul sub add sqrt div
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

// grad_norm 9.weight: mul reduce_sum; 160 rows of 49
// x0 9 f32[10,16,7,7] -> y0 f32[10,16]
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 49;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 49; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// 5: sub mul add le select reduce_sum; 1568 rows of 16
// x0 4 f32[8,16,14,14], x1 f32[16], x2 f32[16], bias f32[16], x4 7 f32[8,16,14,14] -> s[i] f32[16],
//   y1 f32[8,16,14,14], s[16 + i] f32[16]
static void module_5_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 16;
        const float *x1 = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *bias = (const float *)p[3];
        const float *x4 = (const float *)p[4] + i0 * 16;
        float *y1 = (float *)p[5] + i0 * 16;
        RT_SIMD
        for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            const float v2 = v1 * x2[i] + bias[i] <= 0.0f ? 0.0f : x4[i];
            s[i] += v2;
            const float v3 = v2 * x2[i];
            s[16 + i] += v2 * v1;
            y1[i] = v3;
        }
    }
}

// grad_norm 5.bias: mul reduce_sum; 16 elements
// x0 5 f32[16] -> y0 f32[]
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 16; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw 5.weight: mul add sqrt div reduce_sum sub neg; 16 elements
// x0 5 f32[16], param 5.weight f32[16], x2 5 f32[16], exp_avg 5.weight.exp_avg f32[16],
//   x4 adamw f32[], x5 adamw f32[], x6 adamw f32[], exp_avg_sq 5.weight.exp_avg_sq f32[16],
//   beta2 f32[], x9 adamw f32[], eps f32[], x11 adamw f32[] -> y0 5 f32[16], y1 grad_norm
//   5.weight f32[], next_exp_avg f32[16], y3 5 f32[16], next_exp_avg_sq f32[16], next_param f32[16]
static void adamw_div(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[13];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        const float *param = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *exp_avg = (const float *)p[3];
        const float x4 = ((const float *)p[4])[0];
        const float x5 = ((const float *)p[5])[0];
        const float x6 = ((const float *)p[6])[0];
        const float *exp_avg_sq = (const float *)p[7];
        const float beta2 = ((const float *)p[8])[0];
        const float x9 = ((const float *)p[9])[0];
        const float eps = ((const float *)p[10])[0];
        const float x11 = ((const float *)p[11])[0];
        float *y0 = (float *)p[12];
        float *next_exp_avg = (float *)p[3];
        float *y3 = (float *)p[14];
        float *next_exp_avg_sq = (float *)p[7];
        float *next_param = (float *)p[1];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 16; i++) {
            const float v1 = rt_sqrtf(x2[i] * 0.000637755089f + 9.99999975e-06f);
            const float v2 = 1.0f / v1;
            const float v3 = x0[i] * v2;
            s0 += v3 * v3;
            const float v4 = exp_avg[i] + (v3 - exp_avg[i]) * x5;
            const float v5 = -(x0[i] * param[i] / v1 * v2) / (v1 * 2.0f) * 0.000637755089f;
            const float v6 = exp_avg_sq[i] * beta2 + v3 * v3 * x4;
            next_param[i] = param[i] * x6 + v4 / (rt_sqrtf(v6) * x9 + eps) * x11;
            y0[i] = v3;
            next_exp_avg[i] = v4;
            y3[i] = v5;
            next_exp_avg_sq[i] = v6;
        }
        y1[0] = s0;
    }
}

// 5: mul neg; 16 elements
// x0 f32[16], x1 f32[16] -> y0 f32[16]
static void module_5_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *x1 = (const float *)p[1];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = -(x0[i] * x1[i]) * 0.000637755089f;
}

// 5: sub mul add; 1568 rows of 16
// x0 4 f32[8,16,14,14], x1 f32[16], x2 f32[16], x3 f32[8,16,14,14], x4 f32[16]
//   -> y0 f32[8,16,14,14]
static void module_5_add_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 16;
        const float *x1 = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *x3 = (const float *)p[3] + i0 * 16;
        const float *x4 = (const float *)p[4];
        float *y0 = (float *)p[5] + i0 * 16;
        RT_SIMD
        for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            y0[i] = x3[i] + x2[i] * v1 + x2[i] * v1 + x4[i];
        }
    }
}

// grad_norm 4.weight: mul reduce_sum; 128 rows of 9
// x0 4 f32[16,8,3,3] -> y0 f32[16,8]
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 9;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 9; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// 2: add sub mul le select; 6272 rows of 8
// x0 0 f32[8,8,28,28], bias 0.bias f32[8], x2 1 f32[8], x3 1 f32[8], x4 1.bias f32[8]
//   -> y0 1 f32[8,8,28,28], y1 bool[8,8,28,28], y2 f32[8,8,28,28]
static void module_2_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 8;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *x3 = (const float *)p[3];
        const float *x4 = (const float *)p[4];
        float *y0 = (float *)p[5] + i0 * 8;
        uint8_t *y1 = (uint8_t *)p[6] + i0 * 8;
        float *y2 = (float *)p[7] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] + bias[i] - x2[i];
            const float v2 = v1 * x3[i] + x4[i];
            const uint8_t v3 = v2 <= 0.0f;
            y2[i] = v3 ? 0.0f : v2;
            y0[i] = v1;
            y1[i] = v3;
        }
    }
}

// 1: select reduce_sum mul; 6272 rows of 8
// x0 2 bool[8,8,28,28], x1 3 f32[8,8,28,28], x2 f32[8], x3 f32[8,8,28,28] -> s[i] f32[8],
//   y1 f32[8,8,28,28], s[8 + i] f32[8]
static void module_1_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const uint8_t *x0 = (const uint8_t *)p[0] + i0 * 8;
        const float *x1 = (const float *)p[1] + i0 * 8;
        const float *x2 = (const float *)p[2];
        const float *x3 = (const float *)p[3] + i0 * 8;
        float *y1 = (float *)p[4] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] ? 0.0f : x1[i];
            s[i] += v1;
            const float v2 = v1 * x2[i];
            s[8 + i] += v1 * x3[i];
            y1[i] = v2;
        }
    }
}

// grad_norm 1.bias, 0.bias: mul reduce_sum; 8 elements
// x0 f32[8] -> y0 f32[]
static void grad_norm_reduce_sum_4(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 8; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw 1.weight: mul add sqrt div reduce_sum sub neg; 8 elements
// x0 1 f32[8], param 1.weight f32[8], x2 1 f32[8], exp_avg 1.weight.exp_avg f32[8], x4 adamw f32[],
//   x5 adamw f32[], x6 adamw f32[], exp_avg_sq 1.weight.exp_avg_sq f32[8], beta2 f32[],
//   x9 adamw f32[], eps f32[], x11 adamw f32[] -> y0 1 f32[8], y1 grad_norm 1.weight f32[],
//   next_exp_avg f32[8], y3 1 f32[8], next_exp_avg_sq f32[8], next_param f32[8]
static void adamw_div_2(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[13];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        const float *param = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *exp_avg = (const float *)p[3];
        const float x4 = ((const float *)p[4])[0];
        const float x5 = ((const float *)p[5])[0];
        const float x6 = ((const float *)p[6])[0];
        const float *exp_avg_sq = (const float *)p[7];
        const float beta2 = ((const float *)p[8])[0];
        const float x9 = ((const float *)p[9])[0];
        const float eps = ((const float *)p[10])[0];
        const float x11 = ((const float *)p[11])[0];
        float *y0 = (float *)p[12];
        float *next_exp_avg = (float *)p[3];
        float *y3 = (float *)p[14];
        float *next_exp_avg_sq = (float *)p[7];
        float *next_param = (float *)p[1];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = rt_sqrtf(x2[i] * 0.000159438772f + 9.99999975e-06f);
            const float v2 = 1.0f / v1;
            const float v3 = x0[i] * v2;
            s0 += v3 * v3;
            const float v4 = exp_avg[i] + (v3 - exp_avg[i]) * x5;
            const float v5 = -(x0[i] * param[i] / v1 * v2) / (v1 * 2.0f) * 0.000159438772f;
            const float v6 = exp_avg_sq[i] * beta2 + v3 * v3 * x4;
            next_param[i] = param[i] * x6 + v4 / (rt_sqrtf(v6) * x9 + eps) * x11;
            y0[i] = v3;
            next_exp_avg[i] = v4;
            y3[i] = v5;
            next_exp_avg_sq[i] = v6;
        }
        y1[0] = s0;
    }
}

// 1: mul neg; 8 elements
// x0 f32[8], x1 f32[8] -> y0 f32[8]
static void module_1_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *x1 = (const float *)p[1];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = -(x0[i] * x1[i]) * 0.000159438772f;
}

// 0: mul add reduce_sum; 6272 rows of 8
// x0 1 f32[8], x1 1 f32[8,8,28,28], x2 1 f32[8,8,28,28], x3 1 f32[8] -> y0 1 f32[8,8,28,28],
//   s[i] f32[8]
static void module_0_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0];
        const float *x1 = (const float *)p[1] + i0 * 8;
        const float *x2 = (const float *)p[2] + i0 * 8;
        const float *x3 = (const float *)p[3];
        float *y0 = (float *)p[4] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = x2[i] + x0[i] * x1[i] + x0[i] * x1[i] + x3[i];
            s[i] += v1;
            y0[i] = v1;
        }
    }
}

// grad_norm 0.weight: mul reduce_sum add sqrt; 72 elements
// x0 0 f32[8,1,3,3], x1 grad_norm 0.bias f32[], x2 grad_norm 1.weight f32[], x3 grad_norm
//   1.bias f32[], x4 grad_norm 4.weight f32[], x5 grad_norm 5.weight f32[], x6 grad_norm
//   5.bias f32[], x7 grad_norm 9.weight f32[], x8 grad_norm 9.bias f32[] -> y0 grad_norm f32[]
static void grad_norm_sqrt(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[9];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 72; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((const float *)p[1])[0];
        const float x2 = ((const float *)p[2])[0];
        const float x3 = ((const float *)p[3])[0];
        const float x4 = ((const float *)p[4])[0];
        const float x5 = ((const float *)p[5])[0];
        const float x6 = ((const float *)p[6])[0];
        const float x7 = ((const float *)p[7])[0];
        const float x8 = ((const float *)p[8])[0];
        const float v1 = rt_sqrtf(0.0f + s0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8);
        y0[0] = v1;
    }
}

// 1, 5: add sqrt div mul
// x0 running_var, weight -> y0
static void div_predict(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *weight = (const float *)p[1];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = 1.0f / rt_sqrtf(x0[i] + 9.99999975e-06f) * weight[i];
}

// 2: add sub mul le select; 6272 rows of 8
// x0 0 f32[8,8,28,28], bias 0.bias f32[8], x2 1.running_mean f32[8], x3 1 f32[8], x4 1.bias f32[8]
//   -> y0 f32[8,8,28,28]
static void module_2_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 8;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2];
        const float *x3 = (const float *)p[3];
        const float *x4 = (const float *)p[4];
        float *y0 = (float *)p[5] + i0 * 8;
        RT_SIMD
        for (int64_t i = 0; i < 8; i++) {
            const float v1 = (x0[i] + bias[i] - x2[i]) * x3[i] + x4[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select; 8 elements
// x0 labels i64[8], x1 constant i64[8], x2 constant i64[8], x3 constant i64[8], x4 constant i64[8],
//   x5 constant i64[8] -> y0 bool[8], y1 f32[], y2 i64[8]
static void cross_entropy_predict(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (const int64_t *)p[0];
        const int64_t *x1 = (const int64_t *)p[1];
        const int64_t *x2 = (const int64_t *)p[2];
        const int64_t *x3 = (const int64_t *)p[3];
        const int64_t *x4 = (const int64_t *)p[4];
        const int64_t *x5 = (const int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 8; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i])) ? x4[i] : x5[i];
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 8 rows of 10
// x0 f32[8], x1 9 f32[8,10], x2 labels i64[8], x3 bool[8] -> y0 f32[8]
static void cross_entropy_log_predict(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float x0 = ((const float *)p[0])[i0];
        const float v1 = rt_floorf(x0);
        const float *x1 = (const float *)p[1] + i0 * 10;
        const int64_t x2 = ((const int64_t *)p[2])[i0];
        RT_SIMD_SUM(s0, s1)
        for (int64_t i = 0; i < 10; i++) {
            const float v2 = x1[i] - v1;
            s0 += rt_exp_lowf(v2);
            s1 += i == x2 ? v2 : 0.0f;
        }
        const uint8_t x3 = ((const uint8_t *)p[3])[i0];
        const float v3 = x3 ? 0.0f : rt_logf(s0) - s1;
        y0[i0] = v3;
    }
}

static void init(Rt *rt)
{
    rt_conv_init(rt, 0, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1}, .low = {1,
        1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 1, .o = 8, .groups = 1, .x_dim = {28,
        28}, .y_dim = {28, 28}, .x_last = true, .y_last = true});  // 0
    rt_conv_init(rt, 1, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1}, .low = {1,
        1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 8, .o = 16, .groups = 1,
        .x_dim = {14, 14}, .y_dim = {14, 14}, .x_last = true, .y_last = true});  // 4
    rt_dot_init(rt, 2, &(RtDot){.m = 8, .n = 10, .k = 784, .a_m = 784, .a_k = 1, .b_k = 1,
        .b_n = 784, .y_m = 10, .y_n = 1, .type = RT_F32});  // 9
    rt_dot_init(rt, 3, &(RtDot){.m = 8, .n = 49, .k = 10, .a_m = 10, .a_k = 1, .b_k = 784,
        .b_n = 1, .y_m = 784, .y_n = 16, .n_batch = 1, .batch = {16}, .a_batch = {0},
        .b_batch = {49}, .y_batch = {1}, .type = RT_F32});  // 9
    rt_dot_init(rt, 4, &(RtDot){.m = 49, .n = 10, .k = 8, .a_m = 16, .a_k = 784, .b_k = 10,
        .b_n = 1, .y_m = 1, .y_n = 784, .n_batch = 1, .batch = {16}, .a_batch = {1},
        .b_batch = {0}, .y_batch = {49}, .type = RT_F32});  // 9
    rt_conv_input_grad_init(rt, 5, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1},
        .low = {1, 1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 8, .o = 16, .groups = 1,
        .x_dim = {14, 14}, .y_dim = {14, 14}, .x_last = true, .y_last = true});  // 4
    rt_conv_weight_grad_init(rt, 6, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1},
        .low = {1, 1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 8, .o = 16, .groups = 1,
        .x_dim = {14, 14}, .y_dim = {14, 14}, .x_last = true, .y_last = true});  // 4
    rt_conv_weight_grad_init(rt, 7, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1},
        .low = {1, 1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 1, .o = 8, .groups = 1,
        .x_dim = {28, 28}, .y_dim = {28, 28}, .x_last = true, .y_last = true});  // 0
}

static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "0.weight", .rank = 4, .dim = {8, 1, 3, 3}, .offset = 0,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "0.bias", .rank = 1, .dim = {8}, .offset = 384, .init = RT_INIT_ZERO},
    {RT_BUFFER, RT_F32, "1.running_mean", .rank = 1, .dim = {8}, .offset = 512},
    {RT_BUFFER, RT_F32, "1.running_var", .rank = 1, .dim = {8}, .offset = 640},
    {RT_PARAMETER, RT_F32, "1.weight", .rank = 1, .dim = {8}, .offset = 768, .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "1.bias", .rank = 1, .dim = {8}, .offset = 896, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "4.weight", .rank = 4, .dim = {16, 8, 3, 3}, .offset = 1024,
        .init = RT_INIT_NORMAL},
    {RT_BUFFER, RT_F32, "5.running_mean", .rank = 1, .dim = {16}, .offset = 5696},
    {RT_BUFFER, RT_F32, "5.running_var", .rank = 1, .dim = {16}, .offset = 5824},
    {RT_PARAMETER, RT_F32, "5.weight", .rank = 1, .dim = {16}, .offset = 5952,
        .init = RT_INIT_ONE},
    {RT_PARAMETER, RT_F32, "5.bias", .rank = 1, .dim = {16}, .offset = 6080, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "9.weight", .rank = 2, .dim = {10, 784}, .offset = 6208,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "9.bias", .rank = 1, .dim = {10}, .offset = 37632,
        .init = RT_INIT_ZERO},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 37760,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 37888,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 38016,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 38144,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 38272,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
    {RT_HYPER, RT_F32, "lr", .offset = 38400, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", .offset = 38528, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", .offset = 38656, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", .offset = 38784, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", .offset = 38912, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", .offset = 39040, .fill = 0.01},
    {RT_STATE, RT_F32, "0.weight.exp_avg", .rank = 4, .dim = {8, 1, 3, 3}, .offset = 39168},
    {RT_STATE, RT_F32, "0.weight.exp_avg_sq", .rank = 4, .dim = {8, 1, 3, 3}, .offset = 39552},
    {RT_STATE, RT_F32, "0.bias.exp_avg", .rank = 1, .dim = {8}, .offset = 39936},
    {RT_STATE, RT_F32, "0.bias.exp_avg_sq", .rank = 1, .dim = {8}, .offset = 40064},
    {RT_STATE, RT_F32, "1.weight.exp_avg", .rank = 1, .dim = {8}, .offset = 40192},
    {RT_STATE, RT_F32, "1.weight.exp_avg_sq", .rank = 1, .dim = {8}, .offset = 40320},
    {RT_STATE, RT_F32, "1.bias.exp_avg", .rank = 1, .dim = {8}, .offset = 40448},
    {RT_STATE, RT_F32, "1.bias.exp_avg_sq", .rank = 1, .dim = {8}, .offset = 40576},
    {RT_STATE, RT_F32, "4.weight.exp_avg", .rank = 4, .dim = {16, 8, 3, 3}, .offset = 40704},
    {RT_STATE, RT_F32, "4.weight.exp_avg_sq", .rank = 4, .dim = {16, 8, 3, 3}, .offset = 45376},
    {RT_STATE, RT_F32, "5.weight.exp_avg", .rank = 1, .dim = {16}, .offset = 50048},
    {RT_STATE, RT_F32, "5.weight.exp_avg_sq", .rank = 1, .dim = {16}, .offset = 50176},
    {RT_STATE, RT_F32, "5.bias.exp_avg", .rank = 1, .dim = {16}, .offset = 50304},
    {RT_STATE, RT_F32, "5.bias.exp_avg_sq", .rank = 1, .dim = {16}, .offset = 50432},
    {RT_STATE, RT_F32, "9.weight.exp_avg", .rank = 2, .dim = {10, 784}, .offset = 50560},
    {RT_STATE, RT_F32, "9.weight.exp_avg_sq", .rank = 2, .dim = {10, 784}, .offset = 81984},
    {RT_STATE, RT_F32, "9.bias.exp_avg", .rank = 1, .dim = {10}, .offset = 113408},
    {RT_STATE, RT_F32, "9.bias.exp_avg_sq", .rank = 1, .dim = {10}, .offset = 113536},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 113664,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 113792,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 113920,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 114048,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {8}, .offset = 114176,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "pixel_values", .rank = 4, .dim = {8, 1, 28, 28}, .offset = 3052288},
    {RT_INPUT, RT_I64, "labels", .rank = 1, .dim = {8}, .offset = 3077440},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 3078080},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 3077824},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 3077952},
    {RT_GRADIENT, RT_F32, "0.weight", .rank = 4, .dim = {8, 1, 3, 3}, .gradient = 8},
    {RT_GRADIENT, RT_F32, "0.bias", .rank = 1, .dim = {8}, .gradient = 7},
    {RT_GRADIENT, RT_F32, "1.weight", .rank = 1, .dim = {8}, .gradient = 6},
    {RT_GRADIENT, RT_F32, "1.bias", .rank = 1, .dim = {8}, .gradient = 5},
    {RT_GRADIENT, RT_F32, "4.weight", .rank = 4, .dim = {16, 8, 3, 3}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "5.weight", .rank = 1, .dim = {16}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "5.bias", .rank = 1, .dim = {16}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "9.weight", .rank = 2, .dim = {10, 784}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "9.bias", .rank = 1, .dim = {10}, .gradient = 0},
    {RT_GRAD_NORM, RT_F32, "grad_norm", .offset = 114304},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "pixel_values", .rank = 4, .dim = {8, 1, 28, 28}, .offset = 3052288},
    {RT_INPUT, RT_I64, "labels", .rank = 1, .dim = {8}, .offset = 3077440},
    {RT_OUTPUT, RT_F32, "logits", .rank = 2, .dim = {8, 10}, .offset = 324544},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 115008},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 118592},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 118720},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(I3, 25088, 0, 58), LIVE(I37, 64, 0, 25), LIVE(A2, 200704, 0, 58),
        LIVE(A7, 200704, 1, 6), LIVE(A8, 64, 1, 48), LIVE(A11, 64, 3, 55), LIVE(A14, 64, 4, 54),
        LIVE(A16, 50176, 6, 44), LIVE(A18, 100352, 7, 44), LIVE(A21, 64, 8, 42),
        LIVE(A24, 64, 10, 42), LIVE(A27, 64, 11, 41), LIVE(A29, 100352, 12, 13),
        LIVE(A30, 25088, 13, 31), LIVE(A35, 320, 17, 31), LIVE(A43, 64, 19, 25),
        LIVE(A44, 64, 19, 61), LIVE(A45, 64, 19, 20), LIVE(A47, 64, 20, 61), LIVE(A49, 64, 22, 23),
        LIVE(A50, 64, 23, 25), LIVE(A51, 64, 23, 24), LIVE(A53, 64, 24, 61), LIVE(A46, 64, 19, 25),
        LIVE(A55, 64, 26, 29), LIVE(A71, 25088, 30, 36), LIVE(A73, 31360, 31, 34),
        LIVE(A79, 100352, 36, 42), LIVE(A81, 64, 37, 42), LIVE(A82, 64, 37, 40),
        LIVE(A90, 50176, 43, 49), LIVE(A92, 4608, 44, 47), LIVE(A98, 50176, 48, 50),
        LIVE(A99, 200704, 48, 49), LIVE(A100, 200704, 49, 55), LIVE(A102, 64, 50, 55),
        LIVE(A103, 64, 50, 53), LIVE(A111, 64, 55, 57), LIVE(A116, 320, 58, 60),
        LIVE(A112, 64, 56, 59), LIVE(A109, 64, 53, 59), LIVE(A104, 64, 51, 59),
        LIVE(A93, 512, 45, 46), LIVE(A95, 64, 46, 59), LIVE(A88, 64, 40, 59), LIVE(A83, 64, 38, 59),
        LIVE(A74, 640, 32, 33), LIVE(A76, 64, 33, 59), LIVE(A56, 64, 27, 59),
        LIVE(A117, 64, 59, 61), LIVE(A62, 64, 28, 60), LIVE(A63, 64, 28, 60), LIVE(A64, 64, 28, 60),
        LIVE(A65, 64, 28, 60), LIVE(A66, 64, 28, 60), LIVE(A31, 25088, 15, 17),
        LIVE(A33, 31360, 16, 17), LIVE(T1, 2737152, 0, 0), LIVE(T5, 128, 1, 1),
        LIVE(T10, 128, 3, 3), LIVE(T17, 1532928, 7, 7), LIVE(T20, 192, 8, 8),
        LIVE(T23, 192, 10, 10), LIVE(T34, 153600, 17, 17), LIVE(T48, 4096, 22, 22),
        LIVE(T52, 512, 24, 24), LIVE(T54, 5120, 26, 26), LIVE(T70, 196608, 30, 30),
        LIVE(T72, 196608, 31, 31), LIVE(T75, 512, 33, 33), LIVE(T80, 384, 37, 37),
        LIVE(T89, 1532928, 43, 43), LIVE(T91, 1532928, 44, 44), LIVE(T94, 512, 46, 46),
        LIVE(T101, 192, 50, 50), LIVE(T110, 128, 55, 55), LIVE(T115, 2737152, 58, 58),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(I123, 25088, 0, 1), LIVE(I133, 64, 0, 17), LIVE(A120, 64, 0, 2),
        LIVE(A122, 200704, 1, 3), LIVE(A124, 50176, 3, 4), LIVE(A126, 100352, 4, 7),
        LIVE(A127, 64, 5, 6), LIVE(A128, 25088, 7, 9), LIVE(A132, 320, 11, 19),
        LIVE(A139, 64, 13, 17), LIVE(A140, 64, 13, 19), LIVE(A141, 64, 13, 14),
        LIVE(A142, 64, 14, 19), LIVE(A144, 64, 16, 17), LIVE(A145, 64, 17, 18),
        LIVE(A147, 64, 18, 19), LIVE(A129, 25088, 9, 11), LIVE(A130, 31360, 10, 11),
        LIVE(T121, 2737152, 1, 1), LIVE(T125, 1532928, 4, 4), LIVE(T131, 153600, 11, 11),
        LIVE(T143, 4096, 16, 16), LIVE(T146, 512, 18, 18),
        {0}}, (RtLoop[]){{0}});
}

static const RtModel model = {
    .name = "cnn",
    .options = "shardcc cnn.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer adamw --march x86-64-v3",
    .plan = "1 rank, arena 3079872 bytes, bound 3079872",
    .arena_bytes = 3079872,
    .n_kernels = 8,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 13020672,
    .vocabulary = 0,
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
    .forward = forward,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
