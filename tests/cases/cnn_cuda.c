// Made by shardcc. Changes here are lost when it is made again.
//   shardcc cnn.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --target cuda
//      --march x86-64-v3
//   plan: 1 rank, arena 844160 bytes, bound 844160
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt_cuda.h"

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
static const int64_t PIXEL_VALUES = 817088, D_1_IN = 114304, MODEL_0_OUT = 315072,
    MODEL_1_SUM = 616448, MODEL_1_SUM_2 = 842240, MODEL_1_MUL = 842368,
    MODEL_3_OUT = 515904, MODEL_4_OUT = 315072, MODEL_5_SUM = 616576,
    MODEL_5_SUM_2 = 616704, MODEL_5_MUL = 616832, MODEL_6_OUT = 415488,
    MODEL_7_OUT = 566144, COPY = 446912, COPY_2 = 415488, MODEL_9_OUT = 474880,
    LABELS = 591296, CROSS_ENTROPY_EQ = 415488, COUNT = 842496,
    CROSS_ENTROPY_SELECT = 415616, D_CROSS_ENTROPY_DIV = 416000, BAD_LABEL = 842624,
    CROSS_ENTROPY_MAX = 415616, CROSS_ENTROPY_SUM = 415744,
    CROSS_ENTROPY_SELECT_2 = 415872, LOSS = 842752, D_9_BIAS = 415488,
    GRAD_NORM_9_BIAS = 843392, ADAMW_NEG = 843520, ADAMW_SUB = 843648,
    ADAMW_SUB_2 = 843776, ADAMW_CAST = 843904, ADAMW_SUB_3 = 844032, D_9_IN = 591296,
    D_9_WEIGHT = 415488, GRAD_NORM_9_WEIGHT = 446912, GRAD_NORM_9_WEIGHT_2 = 843264,
    D_7_IN = 415488, D_5_BIAS = 572352, D_5_WEIGHT = 572480, GRAD_NORM_5_BIAS = 843136,
    GRAD_NORM_5_WEIGHT = 843008, D_4_IN = 716608, D_4_WEIGHT = 443200,
    GRAD_NORM_4_WEIGHT = 315072, GRAD_NORM_4_WEIGHT_2 = 842880, D_2_LE = 766848,
    D_2_IN = 315072, D_3_IN = 515840, D_1_BIAS = 327680, D_1_WEIGHT = 327808,
    GRAD_NORM_1_BIAS = 322688, GRAD_NORM_1_WEIGHT = 322560, D_0_BIAS = 321408,
    GRAD_NORM_0_BIAS = 322432, D_0_WEIGHT = 322048, GRAD_NORM = 114304, WORK = 315072,
    WORK_2 = 515840, WORK_3 = 515840, WORK_4 = 415488, WORK_5 = 415488,
    WORK_6 = 415488, WORK_7 = 472064, WORK_8 = 566144, WORK_9 = 415488,
    WORK_10 = 415488, WORK_11 = 315072, WORK_12 = 315072, WORK_13 = 315072;
static const int64_t F_1_MUL = 347200, F_PIXEL_VALUES = 315072, F_2_OUT = 114304,
    F_3_OUT = 315072, F_4_OUT = 114304, F_5_MUL = 214720, F_7_OUT = 214720,
    F_COPY = 145728, F_COPY_2 = 114304, F_LOGITS = 173696, F_LABELS = 365312,
    F_CROSS_ENTROPY_EQ = 114304, F_COUNT = 114432, F_CROSS_ENTROPY_SELECT = 114560,
    F_BAD_LABEL = 114688, F_CROSS_ENTROPY_MAX = 114560, F_CROSS_ENTROPY_SELECT_2 = 114816,
    F_LOSS = 114304, F_WORK = 340224, F_WORK_2 = 214720, F_WORK_3 = 170880;
#define WITH(workspace) rt_with(rt, m + workspace)


static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.54e4, 2.01e5);
    rt_conv(WITH(WORK), 0, m + D_1_IN, m + PIXEL_VALUES, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add reduce_sum f32[8]", 1e5, 2.01e5, 2.01e5);
    RT_LAUNCH_SUMS(WITH(WORK_2), module_1_forward, 1, B * H * W, C, (m + MODEL_1_SUM), m + D_1_IN,
        m + MODEL_0_BIAS, m + MODEL_0_OUT);
    RT_AT(rt, "1: mul mul mul add f32[8]", 32, 64, 64);
    RT_LAUNCH(rt, module_1_add_forward, RT_BLOCKS(C, 1024), 256, m + MODEL_1_SUM,
        m + MODEL_1_RUNNING_MEAN, m + MODEL_1_SUM);
    RT_AT(rt, "1: sub mul reduce_sum f32[8]", 1.51e5, 2.01e5, 2.01e5);
    RT_LAUNCH_SUMS(WITH(WORK_3), module_1_reduce_sum_forward, 1, B * H * W, C, (m + MODEL_1_SUM_2),
        m + MODEL_0_OUT, m + MODEL_1_SUM, m + MODEL_0_OUT);
    RT_AT(rt, "1: mul mul mul add sqrt div mul mul add f32[8]", 120, 96, 64);
    RT_LAUNCH(rt, module_1_div_forward, RT_BLOCKS(C, 1024), 256, m + MODEL_1_SUM_2,
        m + MODEL_1_WEIGHT, m + MODEL_1_RUNNING_VAR, m + MODEL_1_MUL);
    RT_AT(rt, "2: mul add le select f32[8,8,28,28]", 2.01e5, 2.01e5, 2.01e5);
    RT_LAUNCH(rt, module_2_forward, RT_BLOCKS(B * C * H * W, 1024), 256, m + MODEL_0_OUT,
        m + MODEL_1_MUL, m + MODEL_1_BIAS, m + MODEL_0_OUT);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.01e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + MODEL_3_OUT, m + MODEL_0_OUT);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 5.48e4, 1e5);
    rt_conv(WITH(WORK_4), 1, m + MODEL_4_OUT, m + MODEL_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "5: reduce_sum f32[16]", 2.51e4, 1e5, 64);
    RT_LAUNCH_SUMS(WITH(WORK_5), module_5_forward, 1, B * H_2 * W_2, C_2, (m + MODEL_5_SUM),
        m + MODEL_4_OUT);
    RT_AT(rt, "5: mul mul mul add f32[16]", 64, 128, 128);
    RT_LAUNCH(rt, module_5_add_forward, RT_BLOCKS(C_2, 1024), 256, m + MODEL_5_SUM,
        m + MODEL_5_RUNNING_MEAN, m + MODEL_5_SUM);
    RT_AT(rt, "5: sub mul reduce_sum f32[16]", 7.53e4, 1e5, 64);
    RT_LAUNCH_SUMS(WITH(WORK_6), module_5_reduce_sum_forward, 1, B * H_2 * W_2, C_2,
        (m + MODEL_5_SUM_2), m + MODEL_4_OUT, m + MODEL_5_SUM);
    RT_AT(rt, "5: mul mul mul add sqrt div mul mul add f32[16]", 240, 192, 128);
    RT_LAUNCH(rt, module_5_div_forward, RT_BLOCKS(C_2, 1024), 256, m + MODEL_5_SUM_2,
        m + MODEL_5_WEIGHT, m + MODEL_5_RUNNING_VAR, m + MODEL_5_MUL);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 1.01e5, 1e5);
    RT_LAUNCH(rt, module_6_forward, RT_BLOCKS(B * C_2 * H_2 * W_2, 1024), 256, m + MODEL_4_OUT,
        m + MODEL_5_SUM, m + MODEL_5_MUL, m + MODEL_5_BIAS, m + MODEL_6_OUT);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + MODEL_7_OUT, m + MODEL_6_OUT);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_LAUNCH(rt, module_7_forward, RT_BLOCKS(B * C_2 * H_3 * W_3, 1024), 256, m + MODEL_7_OUT,
        m + MODEL_7_OUT);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 2.51e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + COPY, m + MODEL_7_OUT);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 3.14e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + COPY_2, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.64e4, 320);
    rt_dot(WITH(WORK_7), 2, m + MODEL_9_OUT, m + COPY, m + COPY_2);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    RT_LAUNCH(rt, module_9_forward, RT_BLOCKS(B * CLASSES, 256), 256, m + MODEL_9_OUT,
        m + MODEL_9_BIAS, m + MODEL_9_OUT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select ... f32[]", 76, 384, 80);
    RT_LAUNCH(rt, cross_entropy_forward, 1, 256, m + LABELS, m + CONSTANT, m + CONSTANT_2,
        m + CONSTANT_3, m + CONSTANT_4, m + CONSTANT_5, m + CROSS_ENTROPY_EQ, m + COUNT,
        m + CROSS_ENTROPY_SELECT, m + D_CROSS_ENTROPY_DIV);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 64, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 320, 32);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {8, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + CROSS_ENTROPY_MAX, m + MODEL_9_OUT);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]", 1.3e3, 424, 384);
    RT_LAUNCH(rt, cross_entropy_log_forward, RT_BLOCKS(B, 8), 256, m + MODEL_9_OUT,
        m + CROSS_ENTROPY_MAX, m + LABELS, m + CROSS_ENTROPY_EQ, m + MODEL_9_OUT,
        m + CROSS_ENTROPY_SUM, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 32, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select add f32[8,10]", 368, 428, 320);
    RT_LAUNCH(rt, cross_entropy_backward, RT_BLOCKS(B, 8), 256, m + CROSS_ENTROPY_EQ,
        m + D_CROSS_ENTROPY_DIV, m + CROSS_ENTROPY_SUM, m + MODEL_9_OUT, m + LABELS,
        m + MODEL_9_OUT);
    RT_AT(rt, "9: reduce_sum f32[10]", 80, 320, 40);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {8, 10}, .stride = {10, 1},
        .reduced = {1, 0}}, m + D_9_BIAS, m + MODEL_9_OUT);
    rt_gradient(rt, 8, 0, m + D_9_BIAS);  // 9.bias
    RT_AT(rt, "grad_norm 9.bias: mul reduce_sum f32[]", 20, 40, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_9_BIAS, m + GRAD_NORM_9_BIAS);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 20, 20);
    RT_LAUNCH(rt, adamw_scalars, RT_BLOCKS(1, 256), 256, m + BETA1, m + STEP, m + LR, m + BETA2,
        m + WEIGHT_DECAY, m + ADAMW_NEG, m + ADAMW_SUB, m + ADAMW_SUB_2, m + ADAMW_CAST,
        m + ADAMW_SUB_3);
    RT_AT(rt, "adamw 9.bias: mul sub mul mul mul add mul add sqrt mul ... f32[10]", 200, 188, 120);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(CLASSES, 1024), 256, m + MODEL_9_BIAS, m + ADAMW_SUB_3,
        m + D_9_BIAS, m + MODEL_9_BIAS_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_9_BIAS_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG);
    RT_AT(rt, "9: dot f32[8,16,7,7]", 1.25e5, 3.17e4, 2.51e4);
    rt_dot(rt, 3, m + D_9_IN, m + MODEL_9_OUT, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[10,16,7,7]", 1.25e5, 2.54e4, 3.14e4);
    rt_dot(rt, 4, m + D_9_WEIGHT, m + MODEL_7_OUT, m + MODEL_9_OUT);
    rt_gradient(rt, 7, 0, m + D_9_WEIGHT);  // 9.weight
    RT_AT(rt, "grad_norm 9.weight: mul reduce_sum f32[10,16]", 1.57e4, 3.14e4, 640);
    RT_LAUNCH(rt, grad_norm_reduce_sum, RT_BLOCKS(CLASSES * C_2, 8), 256, m + D_9_WEIGHT,
        m + GRAD_NORM_9_WEIGHT);
    RT_AT(rt, "grad_norm 9.weight: reduce_sum f32[]", 160, 640, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {160}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_9_WEIGHT_2, m + GRAD_NORM_9_WEIGHT);
    RT_AT(rt, "adamw 9.weight: mul sub mul mul mul ... f32[10,16,7,7]", 1.57e5, 1.25e5, 9.41e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(CLASSES * C_2 * H_3 * W_3, 1024), 256, m + MODEL_9_WEIGHT,
        m + ADAMW_SUB_3, m + D_9_WEIGHT, m + MODEL_9_WEIGHT_EXP_AVG, m + ADAMW_SUB_2,
        m + ADAMW_SUB, m + MODEL_9_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS,
        m + ADAMW_NEG, RT_NUMBER(7840));
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_LAUNCH(rt, module_7_forward, RT_BLOCKS(B * C_2 * H_3 * W_3, 1024), 256, m + D_9_IN,
        m + D_9_IN);
    RT_AT(rt, "7: sum_pool_grad f32[8,16,14,14]", 2.51e4, 2.51e4, 1e5);
    rt_sum_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2},
        .low = {0, 0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14},
        .y_dim = {7, 7}, .x_last = true, .y_last = true}, m + D_7_IN, m + D_9_IN);
    RT_AT(rt, "5: sub mul add le select reduce_sum mul mul ... f32[16]", 2.26e5, 2.01e5, 1e5);
    RT_LAUNCH_SUMS(WITH(WORK_8), module_5_backward, 1, B * H_2 * W_2, C_2,
        (m + D_5_BIAS, m + D_5_WEIGHT), m + MODEL_4_OUT, m + MODEL_5_SUM, m + MODEL_5_MUL,
        m + MODEL_5_BIAS, m + D_7_IN, m + D_7_IN);
    rt_gradient(rt, 6, 0, m + D_5_BIAS);  // 5.bias
    RT_AT(rt, "grad_norm 5.bias: mul reduce_sum f32[]", 32, 64, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 256, m + D_5_BIAS, m + GRAD_NORM_5_BIAS);
    RT_AT(rt, "adamw 5.bias: mul sub mul mul mul add mul add sqrt mul ... f32[16]", 320, 284, 192);
    RT_LAUNCH(rt, adamw_div_2, RT_BLOCKS(C_2, 1024), 256, m + MODEL_5_BIAS, m + ADAMW_SUB_3,
        m + D_5_BIAS, m + MODEL_5_BIAS_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_5_BIAS_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG);
    RT_AT(rt, "adamw 5.weight: mul mul add sqrt div mul mul ... f32[16]", 736, 348, 324);
    RT_LAUNCH(rt, adamw_div_3, 1, 256, m + D_5_WEIGHT, m + MODEL_5_WEIGHT, m + MODEL_5_SUM_2,
        m + MODEL_5_WEIGHT_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB, m + ADAMW_SUB_3,
        m + MODEL_5_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG,
        m + D_5_WEIGHT, m + GRAD_NORM_5_WEIGHT, m + MODEL_5_SUM_2);
    rt_gradient(rt, 5, 0, m + D_5_WEIGHT);  // 5.weight
    RT_AT(rt, "5: mul neg mul f32[16]", 48, 128, 64);
    RT_LAUNCH(rt, module_5_mul_backward, RT_BLOCKS(C_2, 1024), 256, m + D_5_BIAS, m + MODEL_5_MUL,
        m + D_5_BIAS);
    RT_AT(rt, "5: sub mul mul add add add f32[8,16,14,14]", 1.51e5, 2.01e5, 1e5);
    RT_LAUNCH(rt, module_5_add_backward, RT_BLOCKS(B * C_2 * H_2 * W_2, 1024), 256,
        m + MODEL_4_OUT, m + MODEL_5_SUM, m + MODEL_5_SUM_2, m + D_7_IN, m + D_5_BIAS,
        m + MODEL_4_OUT);
    RT_AT(rt, "4: conv_input_grad f32[8,8,14,14]", 3.61e6, 1.05e5, 5.02e4);
    rt_conv_input_grad(WITH(WORK_9), 5, m + D_4_IN, m + MODEL_4_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: conv_weight_grad f32[16,8,3,3]", 3.61e6, 1.51e5, 4.61e3);
    rt_conv_weight_grad(WITH(WORK_10), 6, m + D_4_WEIGHT, m + MODEL_3_OUT, m + MODEL_4_OUT);
    rt_gradient(rt, 4, 0, m + D_4_WEIGHT);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[16,8]", 2.3e3, 4.61e3, 512);
    RT_LAUNCH(rt, grad_norm_reduce_sum_3, RT_BLOCKS(C_2 * C, 8), 256, m + D_4_WEIGHT,
        m + GRAD_NORM_4_WEIGHT);
    RT_AT(rt, "grad_norm 4.weight: reduce_sum f32[]", 128, 512, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {128}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_4_WEIGHT_2, m + GRAD_NORM_4_WEIGHT);
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add ... f32[16,8,3,3]", 2.3e4, 1.85e4, 1.38e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(9 * C_2 * C, 1024), 256, m + MODEL_4_WEIGHT,
        m + ADAMW_SUB_3, m + D_4_WEIGHT, m + MODEL_4_WEIGHT_EXP_AVG, m + ADAMW_SUB_2,
        m + ADAMW_SUB, m + MODEL_4_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS,
        m + ADAMW_NEG, RT_NUMBER(1152));
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 2.01e5, 4.52e5);
    RT_LAUNCH(rt, module_2_backward, RT_BLOCKS(B * C * H * W, 1024), 256, m + D_1_IN,
        m + MODEL_0_BIAS, m + MODEL_1_SUM, m + MODEL_1_MUL, m + MODEL_1_BIAS, m + D_1_IN,
        m + D_2_LE, m + D_2_IN);
    RT_AT(rt, "3: max_pool_grad f32[8,8,28,28]", 5.02e4, 2.51e5, 2.01e5);
    rt_max_pool_grad(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2},
        .low = {0, 0}, .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28},
        .y_dim = {14, 14}, .x_last = true, .y_last = true}, m + D_3_IN, m + D_2_IN, m + D_4_IN);
    RT_AT(rt, "1: select reduce_sum mul mul reduce_sum f32[8]", 2.51e5, 4.52e5, 2.01e5);
    RT_LAUNCH_SUMS(WITH(WORK_11), module_1_backward, 1, B * H * W, C,
        (m + D_1_BIAS, m + D_1_WEIGHT), m + D_2_LE, m + D_3_IN, m + MODEL_1_MUL, m + D_1_IN,
        m + D_3_IN);
    rt_gradient(rt, 3, 0, m + D_1_BIAS);  // 1.bias
    RT_AT(rt, "grad_norm 1.bias: mul reduce_sum f32[]", 16, 32, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_4, 1, 256, m + D_1_BIAS, m + GRAD_NORM_1_BIAS);
    RT_AT(rt, "adamw 1.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    RT_LAUNCH(rt, adamw_div_4, RT_BLOCKS(C, 1024), 256, m + MODEL_1_BIAS, m + ADAMW_SUB_3,
        m + D_1_BIAS, m + MODEL_1_BIAS_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_1_BIAS_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG);
    RT_AT(rt, "adamw 1.weight: mul mul add sqrt div mul mul reduce_sum ... f32[8]", 368, 188, 164);
    RT_LAUNCH(rt, adamw_div_5, 1, 256, m + D_1_WEIGHT, m + MODEL_1_WEIGHT, m + MODEL_1_SUM_2,
        m + MODEL_1_WEIGHT_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB, m + ADAMW_SUB_3,
        m + MODEL_1_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG,
        m + D_1_WEIGHT, m + GRAD_NORM_1_WEIGHT, m + MODEL_1_SUM_2);
    rt_gradient(rt, 2, 0, m + D_1_WEIGHT);  // 1.weight
    RT_AT(rt, "1: mul neg mul f32[8]", 24, 64, 32);
    RT_LAUNCH(rt, module_1_mul_backward, RT_BLOCKS(C, 1024), 256, m + D_1_BIAS, m + MODEL_1_MUL,
        m + D_1_BIAS);
    RT_AT(rt, "0: mul mul add add add reduce_sum f32[8]", 3.01e5, 4.01e5, 2.01e5);
    RT_LAUNCH_SUMS(WITH(WORK_12), module_0_backward, 1, B * H * W, C, (m + D_0_BIAS),
        m + MODEL_1_SUM_2, m + D_1_IN, m + D_3_IN, m + D_1_BIAS, m + D_1_IN);
    rt_gradient(rt, 1, 0, m + D_0_BIAS);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 16, 32, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_4, 1, 256, m + D_0_BIAS, m + GRAD_NORM_0_BIAS);
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add sqrt mul ... f32[8]", 160, 156, 96);
    RT_LAUNCH(rt, adamw_div_4, RT_BLOCKS(C, 1024), 256, m + MODEL_0_BIAS, m + ADAMW_SUB_3,
        m + D_0_BIAS, m + MODEL_0_BIAS_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_0_BIAS_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG);
    RT_AT(rt, "0: conv_weight_grad f32[8,1,3,3]", 9.03e5, 2.26e5, 288);
    rt_conv_weight_grad(WITH(WORK_13), 7, m + D_0_WEIGHT, m + PIXEL_VALUES, m + D_1_IN);
    rt_gradient(rt, 0, 0, m + D_0_WEIGHT);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum add add add add add add ... f32[]", 157, 320, 4);
    RT_LAUNCH(rt, grad_norm_sqrt, 1, 256, m + D_0_WEIGHT, m + GRAD_NORM_0_BIAS,
        m + GRAD_NORM_1_WEIGHT, m + GRAD_NORM_1_BIAS, m + GRAD_NORM_4_WEIGHT_2,
        m + GRAD_NORM_5_WEIGHT, m + GRAD_NORM_5_BIAS, m + GRAD_NORM_9_WEIGHT_2,
        m + GRAD_NORM_9_BIAS, m + GRAD_NORM);
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul ... f32[8,1,3,3]", 1.44e3, 1.18e3, 864);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(9 * C, 1024), 256, m + MODEL_0_WEIGHT, m + ADAMW_SUB_3,
        m + D_0_WEIGHT, m + MODEL_0_WEIGHT_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_0_WEIGHT_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG,
        RT_NUMBER(72));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "1: add sqrt div mul f32[8]", 80, 64, 32);
    RT_LAUNCH(rt, module_1_predict, RT_BLOCKS(C, 1024), 256, m + MODEL_1_RUNNING_VAR,
        m + MODEL_1_WEIGHT, m + F_1_MUL);
    RT_AT(rt, "0: conv f32[8,8,28,28]", 9.03e5, 2.54e4, 2.01e5);
    rt_conv(WITH(F_WORK), 0, m + F_2_OUT, m + F_PIXEL_VALUES, m + MODEL_0_WEIGHT);
    RT_AT(rt, "2: add sub mul add le select f32[8,8,28,28]", 3.01e5, 2.01e5, 2.01e5);
    RT_LAUNCH(rt, module_2_predict, RT_BLOCKS(B * C * H * W, 1024), 256, m + F_2_OUT,
        m + MODEL_0_BIAS, m + MODEL_1_RUNNING_MEAN, m + F_1_MUL, m + MODEL_1_BIAS, m + F_2_OUT);
    RT_AT(rt, "3: max_pool f32[8,8,14,14]", 5.02e4, 2.01e5, 5.02e4);
    rt_max_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 8, .x_dim = {28, 28}, .y_dim = {14, 14},
        .x_last = true, .y_last = true}, m + F_3_OUT, m + F_2_OUT);
    RT_AT(rt, "4: conv f32[8,16,14,14]", 3.61e6, 5.48e4, 1e5);
    rt_conv(WITH(F_WORK_2), 1, m + F_4_OUT, m + F_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "5: add sqrt div mul f32[16]", 160, 128, 64);
    RT_LAUNCH(rt, module_5_predict, RT_BLOCKS(C_2, 1024), 256, m + MODEL_5_RUNNING_VAR,
        m + MODEL_5_WEIGHT, m + F_5_MUL);
    RT_AT(rt, "6: sub mul add le select f32[8,16,14,14]", 1.25e5, 1.01e5, 1e5);
    RT_LAUNCH(rt, module_6_forward, RT_BLOCKS(B * C_2 * H_2 * W_2, 1024), 256, m + F_4_OUT,
        m + MODEL_5_RUNNING_MEAN, m + F_5_MUL, m + MODEL_5_BIAS, m + F_4_OUT);
    RT_AT(rt, "7: sum_pool f32[8,16,7,7]", 2.51e4, 1e5, 2.51e4);
    rt_sum_pool(rt, &(RtConv){.window = {.n = 2, .size = {2, 2}, .stride = {2, 2}, .low = {0, 0},
        .high = {0, 0}, .dilation = {1, 1}}, .n = 8, .c = 16, .x_dim = {14, 14}, .y_dim = {7, 7},
        .x_last = true, .y_last = true}, m + F_7_OUT, m + F_4_OUT);
    RT_AT(rt, "7: mul f32[8,16,7,7]", 6.27e3, 2.51e4, 2.51e4);
    RT_LAUNCH(rt, module_7_forward, RT_BLOCKS(B * C_2 * H_3 * W_3, 1024), 256, m + F_7_OUT,
        m + F_7_OUT);
    RT_AT(rt, "7: copy f32[8,16,7,7]", 0, 2.51e4, 2.51e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 3, .dim = {8, 16, 49}, .x_stride = {784, 1, 16},
        .y_stride = {784, 49, 1}}, m + F_COPY, m + F_7_OUT);
    RT_AT(rt, "9.weight: copy f32[10,16,7,7]", 0, 3.14e4, 3.14e4);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {7840}, .x_stride = {1}, .y_stride = {1}},
        m + F_COPY_2, m + MODEL_9_WEIGHT);
    RT_AT(rt, "9: dot f32[8,10]", 1.25e5, 5.64e4, 320);
    rt_dot(WITH(F_WORK_3), 2, m + F_LOGITS, m + F_COPY, m + F_COPY_2);
    RT_AT(rt, "9: add f32[8,10]", 80, 360, 320);
    RT_LAUNCH(rt, module_9_forward, RT_BLOCKS(B * CLASSES, 256), 256, m + F_LOGITS,
        m + MODEL_9_BIAS, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and select i64[8]", 72, 384, 76);
    RT_LAUNCH(rt, cross_entropy_predict, 1, 256, m + F_LABELS, m + CONSTANT_6, m + CONSTANT_7,
        m + CONSTANT_8, m + CONSTANT_9, m + CONSTANT_10, m + F_CROSS_ENTROPY_EQ, m + F_COUNT,
        m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 8, 64, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + F_BAD_LABEL,
        m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[8]", 80, 320, 32);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {8, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]", 1.3e3, 424, 32);
    RT_LAUNCH(rt, cross_entropy_log_predict, RT_BLOCKS(B, 8), 256, m + F_LOGITS,
        m + F_CROSS_ENTROPY_MAX, m + F_LABELS, m + F_CROSS_ENTROPY_EQ,
        m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 8, 32, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {8}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
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
    {RT_INPUT, RT_F32, "pixel_values", 4, {8, 1, 28, 28}, .at = 817088},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 591296, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 842752},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 842496},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 842624},
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
    {RT_INPUT, RT_F32, "pixel_values", 4, {8, 1, 28, 28}, .at = 315072},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 365312, .is_labels = true, .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 2, {8, 10}, .at = 173696},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 114304},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 114432},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 114688},
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
        LIVE(WORK, 6912, 0, 0), LIVE(WORK_2, 6272, 1, 1), LIVE(WORK_3, 6272, 3, 3),
        LIVE(WORK_4, 27648, 7, 7), LIVE(WORK_5, 3072, 8, 8), LIVE(WORK_6, 3072, 10, 10),
        LIVE(WORK_7, 2752, 17, 17), LIVE(WORK_8, 6144, 37, 37), LIVE(WORK_9, 27648, 43, 43),
        LIVE(WORK_10, 27648, 44, 44), LIVE(WORK_11, 12544, 50, 50), LIVE(WORK_12, 6272, 55, 55),
        LIVE(WORK_13, 6912, 58, 58),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_PIXEL_VALUES, 25088, 0, 1), LIVE(F_LABELS, 64, 0, 17), LIVE(F_1_MUL, 64, 0, 2),
        LIVE(F_2_OUT, 200704, 1, 3), LIVE(F_3_OUT, 50176, 3, 4), LIVE(F_4_OUT, 100352, 4, 7),
        LIVE(F_5_MUL, 64, 5, 6), LIVE(F_7_OUT, 25088, 7, 9), LIVE(F_LOGITS, 320, 11, 19),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 13, 17), LIVE(F_COUNT, 64, 13, 19),
        LIVE(F_CROSS_ENTROPY_SELECT, 64, 13, 14), LIVE(F_BAD_LABEL, 64, 14, 19),
        LIVE(F_CROSS_ENTROPY_MAX, 64, 16, 17), LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 17, 18),
        LIVE(F_LOSS, 64, 18, 19), LIVE(F_COPY, 25088, 9, 11), LIVE(F_COPY_2, 31360, 10, 11),
        LIVE(F_WORK, 6912, 1, 1), LIVE(F_WORK_2, 27648, 4, 4), LIVE(F_WORK_3, 2752, 11, 11),
        {0}}, (RtLoop[]){{0}});
}

RT_KERNELS("kernels.fatbin");

static const RtModel model = {
    .name = "cnn",
    .options = "shardcc cnn.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer adamw --target cuda --march x86-64-v3",
    .plan = "1 rank, arena 844160 bytes, bound 844160",
    .arena_bytes = 844160,
    .n_kernels = 8,
    .threads = 1,
    .accumulate = 1,
    .init_std = 0,
    .flops = 13020672,
    .vocabulary = 0,
    .ignores = true,
    .ignored_label = -100,
    .device = &rt_cuda,
    .kernels = rt_kernels,
    .kernels_for = "sm_80,sm_90",
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
    .identity = 0x412ac544dc599478,
};

int main(int argc, char **argv)
{
    return rt_main(&model, argc, argv);
}
