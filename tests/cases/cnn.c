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

static const int64_t B = 8, H = 28, W = 28, CLASSES = 10, C = 8, H_2 = 14, W_2 = 14, C_2 = 16,
    H_3 = 7, W_3 = 7;
// Places in the arena, in bytes from its start `m`; of repeated layers, that of layer 0. OUT is the
// result of a module, D_ a gradient, D_ and IN that of its input. F_ is for forward alone.
static const int64_t MODEL_0_WEIGHT = 0, MODEL_0_BIAS = 384,
    MODEL_1_RUNNING_MEAN = 512, MODEL_1_RUNNING_VAR = 640, MODEL_1_WEIGHT = 768,
    MODEL_1_BIAS = 896, MODEL_4_WEIGHT = 1024, MODEL_5_RUNNING_MEAN = 5696,
    MODEL_5_RUNNING_VAR = 5824, MODEL_5_WEIGHT = 5952, MODEL_5_BIAS = 6080,
    MODEL_9_WEIGHT = 6208, MODEL_9_BIAS = 37632, CONSTANT = 37760,
    CONSTANT_2 = 37888, CONSTANT_3 = 38016, CONSTANT_4 = 38144, CONSTANT_5 = 38272,
    LR = 38400, BETA1 = 38528, STEP = 38656, BETA2 = 38784, EPS = 38912,
    WEIGHT_DECAY = 39040, MODEL_0_WEIGHT_EXP_AVG = 39168,
    MODEL_0_WEIGHT_EXP_AVG_SQ = 39552, MODEL_0_BIAS_EXP_AVG = 39936,
    MODEL_0_BIAS_EXP_AVG_SQ = 40064, MODEL_1_WEIGHT_EXP_AVG = 40192,
    MODEL_1_WEIGHT_EXP_AVG_SQ = 40320, MODEL_1_BIAS_EXP_AVG = 40448,
    MODEL_1_BIAS_EXP_AVG_SQ = 40576, MODEL_4_WEIGHT_EXP_AVG = 40704,
    MODEL_4_WEIGHT_EXP_AVG_SQ = 45376, MODEL_5_WEIGHT_EXP_AVG = 50048,
    MODEL_5_WEIGHT_EXP_AVG_SQ = 50176, MODEL_5_BIAS_EXP_AVG = 50304,
    MODEL_5_BIAS_EXP_AVG_SQ = 50432, MODEL_9_WEIGHT_EXP_AVG = 50560,
    MODEL_9_WEIGHT_EXP_AVG_SQ = 81984, MODEL_9_BIAS_EXP_AVG = 113408,
    MODEL_9_BIAS_EXP_AVG_SQ = 113536, CONSTANT_6 = 113664, CONSTANT_7 = 113792,
    CONSTANT_8 = 113920, CONSTANT_9 = 114048, CONSTANT_10 = 114176;
static const int64_t PIXEL_VALUES = 3052288, D_1_IN = 2851520, MODEL_0_OUT = 114304,
    MODEL_1_SUM = 1852864, MODEL_1_SUM_2 = 1852992, MODEL_1_MUL = 1853120,
    MODEL_3_OUT = 1747712, MODEL_4_OUT = 1647296, MODEL_5_SUM = 393088,
    MODEL_5_SUM_2 = 393216, MODEL_5_MUL = 393344, MODEL_6_OUT = 114304,
    MODEL_7_OUT = 342400, COPY = 299392, COPY_2 = 267968, MODEL_9_OUT = 392704,
    LABELS = 3077440, CROSS_ENTROPY_EQ = 118464, COUNT = 3077824,
    CROSS_ENTROPY_SELECT = 114304, D_CROSS_ENTROPY_DIV = 118720, BAD_LABEL = 3077952,
    CROSS_ENTROPY_MAX = 118592, CROSS_ENTROPY_SUM = 114880,
    CROSS_ENTROPY_SELECT_2 = 115008, LOSS = 3078080, D_9_BIAS = 119488,
    GRAD_NORM_9_BIAS = 3079104, ADAMW_NEG = 3079232, ADAMW_SUB = 3079360,
    ADAMW_SUB_2 = 3079488, ADAMW_CAST = 3079616, ADAMW_SUB_3 = 3079744, D_9_IN = 367552,
    D_9_WEIGHT = 310976, GRAD_NORM_9_WEIGHT = 114304, GRAD_NORM_9_WEIGHT_2 = 3078976,
    D_7_IN = 114304, D_5_BIAS = 215168, D_5_WEIGHT = 215296, GRAD_NORM_5_BIAS = 3078848,
    GRAD_NORM_5_WEIGHT = 3078720, D_4_IN = 1797952, D_4_WEIGHT = 1848192,
    GRAD_NORM_4_WEIGHT = 114304, GRAD_NORM_4_WEIGHT_2 = 3078592, D_2_LE = 515840,
    D_2_IN = 114304, D_3_IN = 315072, D_1_BIAS = 114560, D_1_WEIGHT = 114688,
    GRAD_NORM_1_BIAS = 3078464, GRAD_NORM_1_WEIGHT = 3078336, D_0_BIAS = 114688,
    GRAD_NORM_0_BIAS = 3078208, D_0_WEIGHT = 3077440, GRAD_NORM = 114304, WORK = 114304,
    WORK_2 = 315072, WORK_3 = 315072, WORK_4 = 114304, WORK_5 = 114304,
    WORK_6 = 114304, WORK_7 = 114304, WORK_8 = 114304, WORK_9 = 114304,
    WORK_10 = 114304, WORK_11 = 114304, WORK_12 = 114304, WORK_13 = 115008,
    WORK_14 = 214720, WORK_15 = 114304, WORK_16 = 114304, WORK_17 = 114880,
    WORK_18 = 114304, WORK_19 = 114304, WORK_20 = 114304;
static const int64_t F_1_MUL = 3077568, F_PIXEL_VALUES = 3052288, F_2_OUT = 2851520,
    F_3_OUT = 1747712, F_4_OUT = 1647296, F_5_MUL = 114304, F_7_OUT = 114304,
    F_COPY = 299392, F_COPY_2 = 267968, F_LOGITS = 324544, F_LABELS = 3077440,
    F_CROSS_ENTROPY_EQ = 118464, F_COUNT = 118592, F_CROSS_ENTROPY_SELECT = 114304,
    F_BAD_LABEL = 118720, F_CROSS_ENTROPY_MAX = 118848, F_CROSS_ENTROPY_SELECT_2 = 114880,
    F_LOSS = 115008, F_WORK = 114304, F_WORK_2 = 114304, F_WORK_3 = 114304,
    F_WORK_4 = 114304, F_WORK_5 = 114304;
#define WITH(workspace) rt_with(rt, m + workspace)

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
#define ADAMW(param, x2, exp_avg, exp_avg_sq) \
    param, m + ADAMW_SUB_3, x2, exp_avg, m + ADAMW_SUB_2, m + ADAMW_SUB, exp_avg_sq, m + BETA2, \
    m + ADAMW_CAST, m + EPS, m + ADAMW_NEG

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.26e5, 2.01e5);
    rt_conv(WITH(WORK), 0, m + D_1_IN, m + PIXEL_VALUES, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add reduce_sum f32[8]", 1e5, 4.01e5, 2.01e5);
    RT_SUMS(WITH(WORK_2), module_1_forward, 1, B * H * W, C, 2, (m + MODEL_1_SUM), m + D_1_IN,
        m + MODEL_0_BIAS, m + MODEL_0_OUT);
    RT_AT(rt, "1: mul mul mul add f32[8]", 32, 64, 64);
    RT_ROWS(rt, module_1_add_forward, C, 4, m + MODEL_1_SUM, m + MODEL_1_RUNNING_MEAN,
        m + MODEL_1_SUM);
    RT_AT(rt, "1: sub mul reduce_sum f32[8]", 1.51e5, 2.01e5, 2.01e5);
    RT_SUMS(WITH(WORK_3), module_1_reduce_sum_forward, 1, B * H * W, C, 3, (m + MODEL_1_SUM_2),
        m + MODEL_0_OUT, m + MODEL_1_SUM, m + MODEL_0_OUT);
    RT_AT(rt, "1: mul mul mul add sqrt div mul mul add f32[8]", 120, 128, 64);
    RT_ROWS(rt, module_1_div_forward, C, 9, m + MODEL_1_SUM_2, m + MODEL_1_WEIGHT,
        m + MODEL_1_RUNNING_VAR, m + MODEL_1_MUL);
    RT_AT(rt, "2: mul add le select f32[8,8,28,28]", 2.01e5, 2.01e5, 2.01e5);
    RT_ROWS(rt, module_2_forward, B * H * W, 4 * C, m + MODEL_0_OUT, m + MODEL_1_MUL,
        m + MODEL_1_BIAS, m + MODEL_0_OUT);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.51e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + MODEL_3_OUT, m + MODEL_0_OUT);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 1.55e5, 1e5);
    rt_conv(WITH(WORK_4), 1, m + MODEL_4_OUT, m + MODEL_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "5: reduce_sum f32[16]", 2.51e4, 1e5, 64);
    RT_SUMS(WITH(WORK_5), module_5_forward, 1, B * H_2 * W_2, C_2, 1, (m + MODEL_5_SUM),
        m + MODEL_4_OUT);
    RT_AT(rt, "5: mul mul mul add f32[16]", 64, 128, 128);
    RT_ROWS(rt, module_5_add_forward, C_2, 4, m + MODEL_5_SUM, m + MODEL_5_RUNNING_MEAN,
        m + MODEL_5_SUM);
    RT_AT(rt, "5: sub mul reduce_sum f32[16]", 7.53e4, 1e5, 64);
    RT_SUMS(WITH(WORK_6), module_5_reduce_sum_forward, 1, B * H_2 * W_2, C_2, 3,
        (m + MODEL_5_SUM_2), m + MODEL_4_OUT, m + MODEL_5_SUM);
    RT_AT(rt, "5: mul mul mul add sqrt div mul mul add f32[16]", 240, 256, 128);
    RT_ROWS(rt, module_5_div_forward, C_2, 9, m + MODEL_5_SUM_2, m + MODEL_5_WEIGHT,
        m + MODEL_5_RUNNING_VAR, m + MODEL_5_MUL);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 2.01e5, 1e5);
    RT_ROWS(rt, module_6_forward, B * H_2 * W_2, 5 * C_2, m + MODEL_4_OUT, m + MODEL_5_SUM,
        m + MODEL_5_MUL, m + MODEL_5_BIAS, m + MODEL_6_OUT);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1.25e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + MODEL_7_OUT, m + MODEL_6_OUT);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_ROWS(rt, module_7_forward, B * C_2 * H_3 * W_3, 1, m + MODEL_7_OUT, m + MODEL_7_OUT);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 5.02e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + COPY, m + MODEL_7_OUT);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 6.27e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + COPY_2, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.68e4, 320);
    rt_dot(WITH(WORK_7), 2, m + MODEL_9_OUT, m + COPY, m + COPY_2);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    RT_ROWS(rt, module_9_forward, B, CLASSES, m + MODEL_9_OUT, m + MODEL_9_BIAS, m + MODEL_9_OUT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select ... f32[]", 76, 464, 80);
    RT_ROWS(rt, cross_entropy_forward, 1, 10 * B, m + LABELS, m + CONSTANT, m + CONSTANT_2,
        m + CONSTANT_3, m + CONSTANT_4, m + CONSTANT_5, m + CROSS_ENTROPY_EQ, m + COUNT,
        m + CROSS_ENTROPY_SELECT, m + D_CROSS_ENTROPY_DIV);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 72, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 352, 32);
    rt_reduce(WITH(WORK_8), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {8, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + CROSS_ENTROPY_MAX, m + MODEL_9_OUT);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]", 1.3e3, 488, 384);
    RT_ROWS(rt, cross_entropy_log_forward, B, 10 * CLASSES, m + MODEL_9_OUT, m + CROSS_ENTROPY_MAX,
        m + LABELS, m + CROSS_ENTROPY_EQ, m + MODEL_9_OUT, m + CROSS_ENTROPY_SUM,
        m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 36, 4);
    rt_reduce(WITH(WORK_9), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select add f32[8,10]", 368, 428, 320);
    RT_ROWS(rt, cross_entropy_backward, B, 8 * CLASSES, m + CROSS_ENTROPY_EQ,
        m + D_CROSS_ENTROPY_DIV, m + CROSS_ENTROPY_SUM, m + MODEL_9_OUT, m + LABELS,
        m + MODEL_9_OUT);
    RT_AT(rt, "9: reduce_sum f32[10]", 80, 360, 40);
    rt_reduce(WITH(WORK_10), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {8, 10},
        .stride = {10, 1}, .reduced = {1, 0}}, m + D_9_BIAS, m + MODEL_9_OUT);
    rt_gradient(rt, 8, 0, m + D_9_BIAS);  // 9.bias
    RT_AT(rt, "grad_norm 9.bias: mul reduce_sum f32[]", 20, 44, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * CLASSES, m + D_9_BIAS, m + GRAD_NORM_9_BIAS);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 40, 20);
    RT_ROWS(rt, adamw_scalars, 1, 19, m + BETA1, m + STEP, m + LR, m + BETA2, m + WEIGHT_DECAY,
        m + ADAMW_NEG, m + ADAMW_SUB, m + ADAMW_SUB_2, m + ADAMW_CAST, m + ADAMW_SUB_3);
    RT_AT(rt, "adamw 9.bias: mul sub mul mul mul add mul add sqrt mul ... f32[10]", 200, 188, 120);
    RT_ROWS(rt, adamw, CLASSES, 14, ADAMW(m + MODEL_9_BIAS, m + D_9_BIAS, m + MODEL_9_BIAS_EXP_AVG,
        m + MODEL_9_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "9: dot f32[8,16,7,7]", 1.25e5, 5.68e4, 2.51e4);
    rt_dot(WITH(WORK_11), 3, m + D_9_IN, m + MODEL_9_OUT, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[10,16,7,7]", 1.25e5, 5.68e4, 3.14e4);
    rt_dot(WITH(WORK_12), 4, m + D_9_WEIGHT, m + MODEL_7_OUT, m + MODEL_9_OUT);
    rt_gradient(rt, 7, 0, m + D_9_WEIGHT);  // 9.weight
    RT_AT(rt, "grad_norm 9.weight: mul reduce_sum f32[10,16]", 1.57e4, 3.2e4, 640);
    RT_ROWS(rt, grad_norm_reduce_sum, CLASSES * C_2, 2 * H_3 * W_3, m + D_9_WEIGHT,
        m + GRAD_NORM_9_WEIGHT);
    RT_AT(rt, "grad_norm 9.weight: reduce_sum f32[]", 160, 644, 4);
    rt_reduce(WITH(WORK_13), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {160}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_9_WEIGHT_2, m + GRAD_NORM_9_WEIGHT);
    RT_AT(rt, "adamw 9.weight: mul sub mul mul mul ... f32[10,16,7,7]", 1.57e5, 1.25e5, 9.41e4);
    RT_ROWS(rt, adamw, CLASSES * C_2 * H_3 * W_3, 14, ADAMW(m + MODEL_9_WEIGHT, m + D_9_WEIGHT,
        m + MODEL_9_WEIGHT_EXP_AVG, m + MODEL_9_WEIGHT_EXP_AVG_SQ));
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_ROWS(rt, module_7_forward, B * C_2 * H_3 * W_3, 1, m + D_9_IN, m + D_9_IN);
    RT_AT(rt, "7: sum_pool_grad f32[8,16,14,14]", 2.51e4, 1.25e5, 1e5);
    rt_sum_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2},
        .low = {0, 0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14},
        .y_dim = {7, 7}, .x_last = true, .y_last = true}, m + D_7_IN, m + D_9_IN);
    RT_AT(rt, "5: sub mul add le select reduce_sum mul mul ... f32[16]", 2.26e5, 2.01e5, 1e5);
    RT_SUMS(WITH(WORK_14), module_5_backward, 1, B * H_2 * W_2, C_2, 9,
        (m + D_5_BIAS, m + D_5_WEIGHT), m + MODEL_4_OUT, m + MODEL_5_SUM, m + MODEL_5_MUL,
        m + MODEL_5_BIAS, m + D_7_IN, m + D_7_IN);
    rt_gradient(rt, 6, 0, m + D_5_BIAS);  // 5.bias
    RT_AT(rt, "grad_norm 5.bias: mul reduce_sum f32[]", 32, 68, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_2, 1, 2 * C_2, m + D_5_BIAS, m + GRAD_NORM_5_BIAS);
    RT_AT(rt, "adamw 5.bias: mul sub mul mul mul add mul add sqrt mul ... f32[16]", 320, 284, 192);
    RT_ROWS(rt, adamw, C_2, 14, ADAMW(m + MODEL_5_BIAS, m + D_5_BIAS, m + MODEL_5_BIAS_EXP_AVG,
        m + MODEL_5_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "adamw 5.weight: mul mul add sqrt div mul mul ... f32[16]", 736, 352, 324);
    RT_ROWS(rt, adamw_div, 1, 28 * C_2, m + D_5_WEIGHT, m + MODEL_5_WEIGHT, m + MODEL_5_SUM_2,
        m + MODEL_5_WEIGHT_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB, m + ADAMW_SUB_3,
        m + MODEL_5_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG,
        m + D_5_WEIGHT, m + GRAD_NORM_5_WEIGHT, m + MODEL_5_SUM_2);
    rt_gradient(rt, 5, 0, m + D_5_WEIGHT);  // 5.weight
    RT_AT(rt, "5: mul neg mul f32[16]", 48, 128, 64);
    RT_ROWS(rt, module_5_mul_backward, C_2, 3, m + D_5_BIAS, m + MODEL_5_MUL, m + D_5_BIAS);
    RT_AT(rt, "5: sub mul mul add add add f32[8,16,14,14]", 1.51e5, 2.01e5, 1e5);
    RT_ROWS(rt, module_5_add_backward, B * H_2 * W_2, 6 * C_2, m + MODEL_4_OUT, m + MODEL_5_SUM,
        m + MODEL_5_SUM_2, m + D_7_IN, m + D_5_BIAS, m + MODEL_4_OUT);
    RT_AT(rt, "4: conv_input_grad f32[8,8,14,14]", 3.61e6, 1.55e5, 5.02e4);
    rt_conv_input_grad(WITH(WORK_15), 5, m + D_4_IN, m + MODEL_4_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: conv_weight_grad f32[16,8,3,3]", 3.61e6, 1.55e5, 4.61e3);
    rt_conv_weight_grad(WITH(WORK_16), 6, m + D_4_WEIGHT, m + MODEL_3_OUT, m + MODEL_4_OUT);
    rt_gradient(rt, 4, 0, m + D_4_WEIGHT);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[16,8]", 2.3e3, 5.12e3, 512);
    RT_ROWS(rt, grad_norm_reduce_sum_3, C_2 * C, 18, m + D_4_WEIGHT, m + GRAD_NORM_4_WEIGHT);
    RT_AT(rt, "grad_norm 4.weight: reduce_sum f32[]", 128, 516, 4);
    rt_reduce(WITH(WORK_17), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {128}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_4_WEIGHT_2, m + GRAD_NORM_4_WEIGHT);
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add ... f32[16,8,3,3]", 2.3e4, 1.85e4, 1.38e4);
    RT_ROWS(rt, adamw, 9 * C_2 * C, 14, ADAMW(m + MODEL_4_WEIGHT, m + D_4_WEIGHT,
        m + MODEL_4_WEIGHT_EXP_AVG, m + MODEL_4_WEIGHT_EXP_AVG_SQ));
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 4.52e5, 4.52e5);
    RT_ROWS(rt, module_2_backward, B * H * W, 6 * C, m + D_1_IN, m + MODEL_0_BIAS, m + MODEL_1_SUM,
        m + MODEL_1_MUL, m + MODEL_1_BIAS, m + D_1_IN, m + D_2_LE, m + D_2_IN);
    RT_AT(rt, "3: max_pool_grad f32[8,8,28,28]", 5.02e4, 4.52e5, 2.01e5);
    rt_max_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2},
        .low = {0, 0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28},
        .y_dim = {14, 14}, .x_last = true, .y_last = true}, m + D_3_IN, m + D_2_IN, m + D_4_IN);
    RT_AT(rt, "1: select reduce_sum mul mul reduce_sum f32[8]", 2.51e5, 4.52e5, 2.01e5);
    RT_SUMS(WITH(WORK_18), module_1_backward, 1, B * H * W, C, 5, (m + D_1_BIAS, m + D_1_WEIGHT),
        m + D_2_LE, m + D_3_IN, m + MODEL_1_MUL, m + D_1_IN, m + D_3_IN);
    rt_gradient(rt, 3, 0, m + D_1_BIAS);  // 1.bias
    RT_AT(rt, "grad_norm 1.bias: mul reduce_sum f32[]", 16, 36, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_4, 1, 2 * C, m + D_1_BIAS, m + GRAD_NORM_1_BIAS);
    RT_AT(rt, "adamw 1.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    RT_ROWS(rt, adamw, C, 14, ADAMW(m + MODEL_1_BIAS, m + D_1_BIAS, m + MODEL_1_BIAS_EXP_AVG,
        m + MODEL_1_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "adamw 1.weight: mul mul add sqrt div mul mul reduce_sum ... f32[8]", 368, 192, 164);
    RT_ROWS(rt, adamw_div_2, 1, 28 * C, m + D_1_WEIGHT, m + MODEL_1_WEIGHT, m + MODEL_1_SUM_2,
        m + MODEL_1_WEIGHT_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB, m + ADAMW_SUB_3,
        m + MODEL_1_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG,
        m + D_1_WEIGHT, m + GRAD_NORM_1_WEIGHT, m + MODEL_1_SUM_2);
    rt_gradient(rt, 2, 0, m + D_1_WEIGHT);  // 1.weight
    RT_AT(rt, "1: mul neg mul f32[8]", 24, 64, 32);
    RT_ROWS(rt, module_1_mul_backward, C, 3, m + D_1_BIAS, m + MODEL_1_MUL, m + D_1_BIAS);
    RT_AT(rt, "0: mul mul add add add reduce_sum f32[8]", 3.01e5, 4.02e5, 2.01e5);
    RT_SUMS(WITH(WORK_19), module_0_backward, 1, B * H * W, C, 6, (m + D_0_BIAS),
        m + MODEL_1_SUM_2, m + D_1_IN, m + D_3_IN, m + D_1_BIAS, m + D_1_IN);
    rt_gradient(rt, 1, 0, m + D_0_BIAS);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 16, 36, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_4, 1, 2 * C, m + D_0_BIAS, m + GRAD_NORM_0_BIAS);
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    RT_ROWS(rt, adamw, C, 14, ADAMW(m + MODEL_0_BIAS, m + D_0_BIAS, m + MODEL_0_BIAS_EXP_AVG,
        m + MODEL_0_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "0: conv_weight_grad f32[8,1,3,3]", 9.03e5, 2.26e5, 288);
    rt_conv_weight_grad(WITH(WORK_20), 7, m + D_0_WEIGHT, m + PIXEL_VALUES, m + D_1_IN);
    rt_gradient(rt, 0, 0, m + D_0_WEIGHT);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum add add add add add add ... f32[]", 157, 324, 4);
    RT_ROWS(rt, grad_norm_sqrt, 1, 108 * C, m + D_0_WEIGHT, m + GRAD_NORM_0_BIAS,
        m + GRAD_NORM_1_WEIGHT, m + GRAD_NORM_1_BIAS, m + GRAD_NORM_4_WEIGHT_2,
        m + GRAD_NORM_5_WEIGHT, m + GRAD_NORM_5_BIAS, m + GRAD_NORM_9_WEIGHT_2,
        m + GRAD_NORM_9_BIAS, m + GRAD_NORM);
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul ... f32[8,1,3,3]", 1.44e3, 1.18e3, 864);
    RT_ROWS(rt, adamw, 9 * C, 14, ADAMW(m + MODEL_0_WEIGHT, m + D_0_WEIGHT,
        m + MODEL_0_WEIGHT_EXP_AVG, m + MODEL_0_WEIGHT_EXP_AVG_SQ));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "1: add sqrt div mul f32[8]", 80, 96, 32);
    RT_ROWS(rt, div_predict, C, 4, m + MODEL_1_RUNNING_VAR, m + MODEL_1_WEIGHT, m + F_1_MUL);
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.26e5, 2.01e5);
    rt_conv(WITH(F_WORK), 0, m + F_2_OUT, m + F_PIXEL_VALUES, m + MODEL_0_WEIGHT);
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 2.01e5, 2.01e5);
    RT_ROWS(rt, module_2_predict, B * H * W, 6 * C, m + F_2_OUT, m + MODEL_0_BIAS,
        m + MODEL_1_RUNNING_MEAN, m + F_1_MUL, m + MODEL_1_BIAS, m + F_2_OUT);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.51e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + F_3_OUT, m + F_2_OUT);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 1.55e5, 1e5);
    rt_conv(WITH(F_WORK_2), 1, m + F_4_OUT, m + F_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "5: add sqrt div mul f32[16]", 160, 192, 64);
    RT_ROWS(rt, div_predict, C_2, 4, m + MODEL_5_RUNNING_VAR, m + MODEL_5_WEIGHT, m + F_5_MUL);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 1.01e5, 1e5);
    RT_ROWS(rt, module_6_forward, B * H_2 * W_2, 5 * C_2, m + F_4_OUT, m + MODEL_5_RUNNING_MEAN,
        m + F_5_MUL, m + MODEL_5_BIAS, m + F_4_OUT);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1.25e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + F_7_OUT, m + F_4_OUT);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_ROWS(rt, module_7_forward, B * C_2 * H_3 * W_3, 1, m + F_7_OUT, m + F_7_OUT);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 5.02e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + F_COPY, m + F_7_OUT);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 6.27e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + F_COPY_2, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.68e4, 320);
    rt_dot(WITH(F_WORK_3), 2, m + F_LOGITS, m + F_COPY, m + F_COPY_2);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    RT_ROWS(rt, module_9_forward, B, CLASSES, m + F_LOGITS, m + MODEL_9_BIAS, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select i64[8]", 72, 460, 76);
    RT_ROWS(rt, cross_entropy_predict, 1, 9 * B, m + F_LABELS, m + CONSTANT_6, m + CONSTANT_7,
        m + CONSTANT_8, m + CONSTANT_9, m + CONSTANT_10, m + F_CROSS_ENTROPY_EQ, m + F_COUNT,
        m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 72, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + F_BAD_LABEL, m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 352, 32);
    rt_reduce(WITH(F_WORK_4), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {8, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]", 1.3e3, 456, 32);
    RT_ROWS(rt, cross_entropy_log_predict, B, 10 * CLASSES, m + F_LOGITS, m + F_CROSS_ENTROPY_MAX,
        m + F_LABELS, m + F_CROSS_ENTROPY_EQ, m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 36, 4);
    rt_reduce(WITH(F_WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
}

// 1: add reduce_sum; 6272 rows of 8, with sums of columns; x0 0
static void module_1_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 8, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] + bias[i];
            s[i] += v1;
            y0[i] = v1;
        }
    }
}

// 1: mul add; 8 elements
static void module_1_add_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *running_mean = (float *)p[1];
    float *y0 = (float *)p[2], *next_running_mean = (float *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000159438772f;
        next_running_mean[i] = running_mean[i] * 0.899999976f + v1 * 0.100000024f;
        y0[i] = v1;
    }
}

// 1: sub mul reduce_sum; 6272 rows of 8, with sums of columns; x0 0
static void module_1_reduce_sum_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 8, *x1 = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] - x1[i];
            s[i] += v1 * v1;
            y0[i] = v1;
        }
    }
}

// 1: mul add sqrt div; 8 elements
static void module_1_div_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *weight = (float *)p[1], *running_var = (float *)p[2];
    float *y0 = (float *)p[3], *next_running_var = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000159438772f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * weight[i];
        next_running_var[i] = running_var[i] * 0.899999976f + v1 * 1.0001595f * 0.100000024f;
        y0[i] = v2;
    }
}

// 2: mul add le select; 6272 rows of 8; x0 1, x1 1
static void module_2_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 8, *x1 = (float *)p[1], *bias = (float *)p[2];
        float *y0 = (float *)p[3] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] * x1[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 5: reduce_sum; 1568 rows of 16, with sums of columns; x0 4
static void module_5_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 16;
        RT_SIMD for (int64_t i = 0; i < 16; i++)
            s[i] += x0[i];
    }
}

// 5: mul add; 16 elements
static void module_5_add_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *running_mean = (float *)p[1];
    float *y0 = (float *)p[2], *next_running_mean = (float *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000637755089f;
        next_running_mean[i] = running_mean[i] * 0.899999976f + v1 * 0.100000024f;
        y0[i] = v1;
    }
}

// 5: sub mul reduce_sum; 1568 rows of 16, with sums of columns; x0 4
static void module_5_reduce_sum_forward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 16, *x1 = (float *)p[1];
        RT_SIMD for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            s[i] += v1 * v1;
        }
    }
}

// 5: mul add sqrt div; 16 elements
static void module_5_div_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *weight = (float *)p[1], *running_var = (float *)p[2];
    float *y0 = (float *)p[3], *next_running_var = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * 0.000637755089f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * weight[i];
        next_running_var[i] = running_var[i] * 0.899999976f + v1 * 1.00063813f * 0.100000024f;
        y0[i] = v2;
    }
}

// 6: sub mul add le select; 1568 rows of 16; x0 4, x2 5
static void module_6_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 16, *x1 = (float *)p[1], *x2 = (float *)p[2],
            *bias = (float *)p[3];
        float *y0 = (float *)p[4] + i0 * 16;
        RT_SIMD for (int64_t i = 0; i < 16; i++) {
            const float v1 = (x0[i] - x1[i]) * x2[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 7: mul; 6272 elements
static void module_7_forward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0];
    float *y0 = (float *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] * 0.25f;
}

// 9: add; 8 rows of 10
static void module_9_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 10, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 10;
        RT_SIMD for (int64_t i = 0; i < 10; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select div; 8 elements
static void cross_entropy_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7], *y3 = (float *)p[9];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (int64_t *)p[0], *x1 = (int64_t *)p[1], *x2 = (int64_t *)p[2],
            *x3 = (int64_t *)p[3], *x4 = (int64_t *)p[4], *x5 = (int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 8; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = (v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i]))) ? x4[i] : x5[i];
            y0[i] = v1;
        }
        y3[0] = 1.0f / s0;
        y1[0] = s0;
    }
}

// cross_entropy: mod; one number
static void cross_entropy_mod_forward(char *const *p, int64_t first, int64_t last)
{
    const int64_t x0 = ((int64_t *)p[0])[0];
    int64_t *y0 = (int64_t *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = (int64_t)rt_mod_int(x0, 9);
}

// cross_entropy: sub exp reduce_sum log iota eq select; 8 rows of 10; x0 9, x2 labels
static void cross_entropy_log_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[5], *y2 = (float *)p[6];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 10;
        const float x1 = ((float *)p[1])[i0];
        const int64_t x2 = ((int64_t *)p[2])[i0];
        float *y0 = (float *)p[4] + i0 * 10;
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 10; i++) {
            const float v1 = x0[i] - x1;
            const float v2 = rt_exp_lowf(v1);
            s0 += v2;
            s1 += i == x2 ? v1 : 0.0f;
            y0[i] = v2;
        }
        const uint8_t x3 = ((uint8_t *)p[3])[i0];
        y2[i0] = x3 ? 0.0f : rt_logf(s0) - s1;
        y1[i0] = s0;
    }
}

// cross_entropy: select neg div mul iota eq add; 8 rows of 10; x4 labels
static void cross_entropy_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const uint8_t x0 = ((uint8_t *)p[0])[i0];
        const float x1 = ((float *)p[1])[0], x2 = ((float *)p[2])[i0];
        const float v1 = x0 ? 0.0f : x1;
        const float v2 = -v1;
        const float v3 = v1 / x2;
        const float *x3 = (float *)p[3] + i0 * 10;
        const int64_t x4 = ((int64_t *)p[4])[i0];
        float *y0 = (float *)p[5] + i0 * 10;
        RT_SIMD for (int64_t i = 0; i < 10; i++)
            y0[i] = v3 * x3[i] + (i == x4 ? v2 : 0.0f);
    }
}

// grad_norm 9.bias: mul reduce_sum; 10 elements; x0 9
static void grad_norm(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 10; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw: cast pow sub div sqrt neg mul; one number
static void adamw_scalars(char *const *p, int64_t first, int64_t last)
{
    const float beta1 = ((float *)p[0])[0], step = ((float *)p[1])[0], lr = ((float *)p[2])[0],
        beta2 = ((float *)p[3])[0], weight_decay = ((float *)p[4])[0];
    float *y0 = (float *)p[5], *y1 = (float *)p[6], *y2 = (float *)p[7], *y3 = (float *)p[8],
        *y4 = (float *)p[9];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        y4[0] = 1.0f - lr * weight_decay;
        y0[0] = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        y1[0] = 1.0f - beta1;
        y2[0] = 1.0f - beta2;
        y3[0] = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
    }
}

// adamw 9.bias, 9.weight and 5 more: mul sub add sqrt div
static void adamw(char *const *p, int64_t first, int64_t last)
{
    const float *param = (float *)p[0], *x2 = (float *)p[2], *exp_avg = (float *)p[3],
        *exp_avg_sq = (float *)p[6];
    const float x1 = ((float *)p[1])[0], x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0],
        beta2 = ((float *)p[7])[0], x8 = ((float *)p[8])[0], eps = ((float *)p[9])[0],
        x10 = ((float *)p[10])[0];
    float *next_exp_avg = (float *)p[3], *next_exp_avg_sq = (float *)p[6],
        *next_param = (float *)p[0];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x2[i] - exp_avg[i]) * x5;
        const float v2 = exp_avg_sq[i] * beta2 + x2[i] * x2[i] * x4;
        next_param[i] = param[i] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        next_exp_avg[i] = v1;
        next_exp_avg_sq[i] = v2;
    }
}

// grad_norm 9.weight: mul reduce_sum; 160 rows of 49; x0 9
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 49;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 49; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// 5: sub mul add le select reduce_sum; 1568 rows of 16, with sums of columns; x0 4, x4 7
static void module_5_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 16, *x1 = (float *)p[1], *x2 = (float *)p[2],
            *bias = (float *)p[3], *x4 = (float *)p[4] + i0 * 16;
        float *y1 = (float *)p[5] + i0 * 16;
        RT_SIMD for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            const float v2 = v1 * x2[i] + bias[i] <= 0.0f ? 0.0f : x4[i];
            s[i] += v2;
            const float v3 = v2 * x2[i];
            s[16 + i] += v2 * v1;
            y1[i] = v3;
        }
    }
}

// grad_norm 5.bias: mul reduce_sum; 16 elements; x0 5
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw 5.weight: mul add sqrt div reduce_sum sub neg; 16 elements
static void adamw_div(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[13];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0], *param = (float *)p[1], *x2 = (float *)p[2],
            *exp_avg = (float *)p[3], *exp_avg_sq = (float *)p[7];
        const float x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0], x6 = ((float *)p[6])[0],
            beta2 = ((float *)p[8])[0], x9 = ((float *)p[9])[0], eps = ((float *)p[10])[0],
            x11 = ((float *)p[11])[0];
        float *y0 = (float *)p[12], *next_exp_avg = (float *)p[3], *y3 = (float *)p[14],
            *next_exp_avg_sq = (float *)p[7], *next_param = (float *)p[1];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++) {
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
static void module_5_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *x1 = (float *)p[1];
    float *y0 = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = -(x0[i] * x1[i]) * 0.000637755089f;
}

// 5: sub mul add; 1568 rows of 16; x0 4
static void module_5_add_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 16, *x1 = (float *)p[1], *x2 = (float *)p[2],
            *x3 = (float *)p[3] + i0 * 16, *x4 = (float *)p[4];
        float *y0 = (float *)p[5] + i0 * 16;
        RT_SIMD for (int64_t i = 0; i < 16; i++) {
            const float v1 = x0[i] - x1[i];
            y0[i] = x3[i] + x2[i] * v1 + x2[i] * v1 + x4[i];
        }
    }
}

// grad_norm 4.weight: mul reduce_sum; 128 rows of 9; x0 4
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 9;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 9; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// 2: add sub mul le select; 6272 rows of 8; x0 0, x2 1, x3 1, x4 1.bias
static void module_2_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 8, *bias = (float *)p[1], *x2 = (float *)p[2],
            *x3 = (float *)p[3], *x4 = (float *)p[4];
        float *y0 = (float *)p[5] + i0 * 8, *y2 = (float *)p[7] + i0 * 8;
        uint8_t *y1 = (uint8_t *)p[6] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] + bias[i] - x2[i];
            const float v2 = v1 * x3[i] + x4[i];
            const uint8_t v3 = v2 <= 0.0f;
            y2[i] = v3 ? 0.0f : v2;
            y0[i] = v1;
            y1[i] = v3;
        }
    }
}

// 1: select reduce_sum mul; 6272 rows of 8, with sums of columns; x0 2, x1 3
static void module_1_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const uint8_t *x0 = (uint8_t *)p[0] + i0 * 8;
        const float *x1 = (float *)p[1] + i0 * 8, *x2 = (float *)p[2],
            *x3 = (float *)p[3] + i0 * 8;
        float *y1 = (float *)p[4] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x0[i] ? 0.0f : x1[i];
            s[i] += v1;
            const float v2 = v1 * x2[i];
            s[8 + i] += v1 * x3[i];
            y1[i] = v2;
        }
    }
}

// grad_norm 1.bias, 0.bias: mul reduce_sum; 8 elements
static void grad_norm_reduce_sum_4(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 8; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw 1.weight: mul add sqrt div reduce_sum sub neg; 8 elements
static void adamw_div_2(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[13];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0], *param = (float *)p[1], *x2 = (float *)p[2],
            *exp_avg = (float *)p[3], *exp_avg_sq = (float *)p[7];
        const float x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0], x6 = ((float *)p[6])[0],
            beta2 = ((float *)p[8])[0], x9 = ((float *)p[9])[0], eps = ((float *)p[10])[0],
            x11 = ((float *)p[11])[0];
        float *y0 = (float *)p[12], *next_exp_avg = (float *)p[3], *y3 = (float *)p[14],
            *next_exp_avg_sq = (float *)p[7], *next_param = (float *)p[1];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 8; i++) {
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
static void module_1_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *x1 = (float *)p[1];
    float *y0 = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = -(x0[i] * x1[i]) * 0.000159438772f;
}

// 0: mul add reduce_sum; 6272 rows of 8, with sums of columns; x0 1, x1 1, x2 1, x3 1
static void module_0_backward(char *const *p, int64_t first, int64_t last, float *s)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0], *x1 = (float *)p[1] + i0 * 8,
            *x2 = (float *)p[2] + i0 * 8, *x3 = (float *)p[3];
        float *y0 = (float *)p[4] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = x2[i] + x0[i] * x1[i] + x0[i] * x1[i] + x3[i];
            s[i] += v1;
            y0[i] = v1;
        }
    }
}

// grad_norm 0.weight: mul reduce_sum add sqrt; 72 elements
static void grad_norm_sqrt(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[9];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 72; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((float *)p[1])[0], x2 = ((float *)p[2])[0], x3 = ((float *)p[3])[0],
            x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0], x6 = ((float *)p[6])[0],
            x7 = ((float *)p[7])[0], x8 = ((float *)p[8])[0];
        y0[0] = rt_sqrtf(0.0f + s0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8);
    }
}

// 1, 5: add sqrt div mul; x0 running_var
static void div_predict(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *weight = (float *)p[1];
    float *y0 = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = 1.0f / rt_sqrtf(x0[i] + 9.99999975e-06f) * weight[i];
}

// 2: add sub mul le select; 6272 rows of 8; x0 0, x2 1.running_mean, x3 1, x4 1.bias
static void module_2_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 8, *bias = (float *)p[1], *x2 = (float *)p[2],
            *x3 = (float *)p[3], *x4 = (float *)p[4];
        float *y0 = (float *)p[5] + i0 * 8;
        RT_SIMD for (int64_t i = 0; i < 8; i++) {
            const float v1 = (x0[i] + bias[i] - x2[i]) * x3[i] + x4[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select; 8 elements
static void cross_entropy_predict(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (int64_t *)p[0], *x1 = (int64_t *)p[1], *x2 = (int64_t *)p[2],
            *x3 = (int64_t *)p[3], *x4 = (int64_t *)p[4], *x5 = (int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 8; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = (v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i]))) ? x4[i] : x5[i];
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// cross_entropy: sub exp reduce_sum log iota eq select; 8 rows of 10; x0 9, x2 labels
static void cross_entropy_log_predict(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 10;
        const float x1 = ((float *)p[1])[i0];
        const int64_t x2 = ((int64_t *)p[2])[i0];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 10; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = ((uint8_t *)p[3])[i0];
        y0[i0] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
}

static void init(Rt *rt)
{
    rt_conv_init(rt, 0, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1},
        .low = {1, 1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 1, .o = 8, .groups = 1,
        .x_dim = {28, 28}, .y_dim = {28, 28}, .x_last = true, .y_last = true});  // 0
    rt_conv_init(rt, 1, &(RtConv){.window = {.n = 2, .size = {3, 3}, .stride = {1, 1},
        .low = {1, 1}, .high = {1, 1}, .dilation = {1, 1}}, .n = 8, .c = 8, .o = 16, .groups = 1,
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

// Role, type, name, rank, shape and place; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "0.weight", 4, {8, 1, 3, 3}, .at = 0},
    {RT_PARAMETER, RT_F32, "0.bias", 1, {8}, .at = 384},
    {RT_BUFFER, RT_F32, "1.running_mean", 1, {8}, .at = 512},
    {RT_BUFFER, RT_F32, "1.running_var", 1, {8}, .at = 640},
    {RT_PARAMETER, RT_F32, "1.weight", 1, {8}, .at = 768, .is_one = true},
    {RT_PARAMETER, RT_F32, "1.bias", 1, {8}, .at = 896},
    {RT_PARAMETER, RT_F32, "4.weight", 4, {16, 8, 3, 3}, .at = 1024},
    {RT_BUFFER, RT_F32, "5.running_mean", 1, {16}, .at = 5696},
    {RT_BUFFER, RT_F32, "5.running_var", 1, {16}, .at = 5824},
    {RT_PARAMETER, RT_F32, "5.weight", 1, {16}, .at = 5952, .is_one = true},
    {RT_PARAMETER, RT_F32, "5.bias", 1, {16}, .at = 6080},
    {RT_PARAMETER, RT_F32, "9.weight", 2, {10, 784}, .at = 6208},
    {RT_PARAMETER, RT_F32, "9.bias", 1, {10}, .at = 37632},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 37760,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 37888,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 38016,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 38144,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 38272,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
    {RT_HYPER, RT_F32, "lr", 0, {0}, .at = 38400, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", 0, {0}, .at = 38528, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", 0, {0}, .at = 38656, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", 0, {0}, .at = 38784, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", 0, {0}, .at = 38912, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 39040, .fill = 0.01},
    {RT_STATE, RT_F32, "0.weight.exp_avg", 4, {8, 1, 3, 3}, .at = 39168},
    {RT_STATE, RT_F32, "0.weight.exp_avg_sq", 4, {8, 1, 3, 3}, .at = 39552},
    {RT_STATE, RT_F32, "0.bias.exp_avg", 1, {8}, .at = 39936},
    {RT_STATE, RT_F32, "0.bias.exp_avg_sq", 1, {8}, .at = 40064},
    {RT_STATE, RT_F32, "1.weight.exp_avg", 1, {8}, .at = 40192},
    {RT_STATE, RT_F32, "1.weight.exp_avg_sq", 1, {8}, .at = 40320},
    {RT_STATE, RT_F32, "1.bias.exp_avg", 1, {8}, .at = 40448},
    {RT_STATE, RT_F32, "1.bias.exp_avg_sq", 1, {8}, .at = 40576},
    {RT_STATE, RT_F32, "4.weight.exp_avg", 4, {16, 8, 3, 3}, .at = 40704},
    {RT_STATE, RT_F32, "4.weight.exp_avg_sq", 4, {16, 8, 3, 3}, .at = 45376},
    {RT_STATE, RT_F32, "5.weight.exp_avg", 1, {16}, .at = 50048},
    {RT_STATE, RT_F32, "5.weight.exp_avg_sq", 1, {16}, .at = 50176},
    {RT_STATE, RT_F32, "5.bias.exp_avg", 1, {16}, .at = 50304},
    {RT_STATE, RT_F32, "5.bias.exp_avg_sq", 1, {16}, .at = 50432},
    {RT_STATE, RT_F32, "9.weight.exp_avg", 2, {10, 784}, .at = 50560},
    {RT_STATE, RT_F32, "9.weight.exp_avg_sq", 2, {10, 784}, .at = 81984},
    {RT_STATE, RT_F32, "9.bias.exp_avg", 1, {10}, .at = 113408},
    {RT_STATE, RT_F32, "9.bias.exp_avg_sq", 1, {10}, .at = 113536},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 113664,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 113792,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 113920,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114048,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114176,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "pixel_values", 4, {8, 1, 28, 28}, .at = 3052288},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 3077440, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 3078080},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 3077824},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 3077952},
    {RT_GRADIENT, RT_F32, "0.weight", 4, {8, 1, 3, 3}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "0.bias", 1, {8}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "1.weight", 1, {8}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "1.bias", 1, {8}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "4.weight", 4, {16, 8, 3, 3}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "5.weight", 1, {16}, .gradient = 5},
    {RT_GRADIENT, RT_F32, "5.bias", 1, {16}, .gradient = 6},
    {RT_GRADIENT, RT_F32, "9.weight", 2, {10, 784}, .gradient = 7},
    {RT_GRADIENT, RT_F32, "9.bias", 1, {10}, .gradient = 8},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 114304},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "pixel_values", 4, {8, 1, 28, 28}, .at = 3052288},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 3077440, .is_labels = true, .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 2, {8, 10}, .at = 324544},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 115008},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 118592},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 118720},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(PIXEL_VALUES, 25088, 0, 58), LIVE(LABELS, 64, 0, 25), LIVE(D_1_IN, 200704, 0, 58),
        LIVE(MODEL_0_OUT, 200704, 1, 6), LIVE(MODEL_1_SUM, 64, 1, 48),
        LIVE(MODEL_1_SUM_2, 64, 3, 55), LIVE(MODEL_1_MUL, 64, 4, 54),
        LIVE(MODEL_3_OUT, 50176, 6, 44), LIVE(MODEL_4_OUT, 100352, 7, 44),
        LIVE(MODEL_5_SUM, 64, 8, 42), LIVE(MODEL_5_SUM_2, 64, 10, 42),
        LIVE(MODEL_5_MUL, 64, 11, 41), LIVE(MODEL_6_OUT, 100352, 12, 13),
        LIVE(MODEL_7_OUT, 25088, 13, 31), LIVE(MODEL_9_OUT, 320, 17, 31),
        LIVE(CROSS_ENTROPY_EQ, 64, 19, 25), LIVE(COUNT, 64, 19, 61),
        LIVE(CROSS_ENTROPY_SELECT, 64, 19, 20), LIVE(BAD_LABEL, 64, 20, 61),
        LIVE(CROSS_ENTROPY_MAX, 64, 22, 23), LIVE(CROSS_ENTROPY_SUM, 64, 23, 25),
        LIVE(CROSS_ENTROPY_SELECT_2, 64, 23, 24), LIVE(LOSS, 64, 24, 61),
        LIVE(D_CROSS_ENTROPY_DIV, 64, 19, 25), LIVE(D_9_BIAS, 64, 26, 29),
        LIVE(D_9_IN, 25088, 30, 36), LIVE(D_9_WEIGHT, 31360, 31, 34), LIVE(D_7_IN, 100352, 36, 42),
        LIVE(D_5_BIAS, 64, 37, 42), LIVE(D_5_WEIGHT, 64, 37, 40), LIVE(D_4_IN, 50176, 43, 49),
        LIVE(D_4_WEIGHT, 4608, 44, 47), LIVE(D_2_LE, 50176, 48, 50), LIVE(D_2_IN, 200704, 48, 49),
        LIVE(D_3_IN, 200704, 49, 55), LIVE(D_1_BIAS, 64, 50, 55), LIVE(D_1_WEIGHT, 64, 50, 53),
        LIVE(D_0_BIAS, 64, 55, 57), LIVE(D_0_WEIGHT, 320, 58, 60),
        LIVE(GRAD_NORM_0_BIAS, 64, 56, 59), LIVE(GRAD_NORM_1_WEIGHT, 64, 53, 59),
        LIVE(GRAD_NORM_1_BIAS, 64, 51, 59), LIVE(GRAD_NORM_4_WEIGHT, 512, 45, 46),
        LIVE(GRAD_NORM_4_WEIGHT_2, 64, 46, 59), LIVE(GRAD_NORM_5_WEIGHT, 64, 40, 59),
        LIVE(GRAD_NORM_5_BIAS, 64, 38, 59), LIVE(GRAD_NORM_9_WEIGHT, 640, 32, 33),
        LIVE(GRAD_NORM_9_WEIGHT_2, 64, 33, 59), LIVE(GRAD_NORM_9_BIAS, 64, 27, 59),
        LIVE(GRAD_NORM, 64, 59, 61), LIVE(ADAMW_NEG, 64, 28, 60), LIVE(ADAMW_SUB, 64, 28, 60),
        LIVE(ADAMW_SUB_2, 64, 28, 60), LIVE(ADAMW_CAST, 64, 28, 60),
        LIVE(ADAMW_SUB_3, 64, 28, 60), LIVE(COPY, 25088, 15, 17), LIVE(COPY_2, 31360, 16, 17),
        LIVE(WORK, 2737152, 0, 0), LIVE(WORK_2, 128, 1, 1), LIVE(WORK_3, 128, 3, 3),
        LIVE(WORK_4, 1532928, 7, 7), LIVE(WORK_5, 192, 8, 8), LIVE(WORK_6, 192, 10, 10),
        LIVE(WORK_7, 153600, 17, 17), LIVE(WORK_8, 4096, 22, 22), LIVE(WORK_9, 512, 24, 24),
        LIVE(WORK_10, 5120, 26, 26), LIVE(WORK_11, 196608, 30, 30), LIVE(WORK_12, 196608, 31, 31),
        LIVE(WORK_13, 512, 33, 33), LIVE(WORK_14, 384, 37, 37), LIVE(WORK_15, 1532928, 43, 43),
        LIVE(WORK_16, 1532928, 44, 44), LIVE(WORK_17, 512, 46, 46), LIVE(WORK_18, 192, 50, 50),
        LIVE(WORK_19, 128, 55, 55), LIVE(WORK_20, 2737152, 58, 58),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_PIXEL_VALUES, 25088, 0, 1), LIVE(F_LABELS, 64, 0, 17), LIVE(F_1_MUL, 64, 0, 2),
        LIVE(F_2_OUT, 200704, 1, 3), LIVE(F_3_OUT, 50176, 3, 4), LIVE(F_4_OUT, 100352, 4, 7),
        LIVE(F_5_MUL, 64, 5, 6), LIVE(F_7_OUT, 25088, 7, 9), LIVE(F_LOGITS, 320, 11, 19),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 13, 17), LIVE(F_COUNT, 64, 13, 19),
        LIVE(F_CROSS_ENTROPY_SELECT, 64, 13, 14), LIVE(F_BAD_LABEL, 64, 14, 19),
        LIVE(F_CROSS_ENTROPY_MAX, 64, 16, 17), LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 17, 18),
        LIVE(F_LOSS, 64, 18, 19), LIVE(F_COPY, 25088, 9, 11), LIVE(F_COPY_2, 31360, 10, 11),
        LIVE(F_WORK, 2737152, 1, 1), LIVE(F_WORK_2, 1532928, 4, 4), LIVE(F_WORK_3, 153600, 11, 11),
        LIVE(F_WORK_4, 4096, 16, 16), LIVE(F_WORK_5, 512, 18, 18),
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
    .ignores = true,
    .ignored_label = -100,
    .device = &rt_cpu,
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
    .identity = 0x1d7b8762e44775c5,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
