// Made by shardcc. Changes here are lost when it is made again.
//   shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --target cuda
//      --march x86-64-v3
//   plan: 1 rank, arena 250752 bytes, bound 250752
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt_cuda.h"

static const int64_t B = 16, CLASSES = 10, MODEL_0_SIZE = 64, MODEL_2_SIZE = 64;
// Places in the arena, in bytes from its start `m`; of repeated layers, that of layer 0. OUT is the
// result of a module, D_ a gradient, D_ and IN that of its input. F_ is for forward alone.
static const int64_t MODEL_0_WEIGHT = 0, MODEL_0_BIAS = 8256,
    MODEL_2_WEIGHT = 8576, MODEL_2_BIAS = 25024, MODEL_4_WEIGHT = 25344,
    MODEL_4_BIAS = 27968, CONSTANT = 28096, CONSTANT_2 = 28288, CONSTANT_3 = 28480,
    CONSTANT_4 = 28672, CONSTANT_5 = 28864, LR = 29056, BETA1 = 29184,
    STEP = 29312, BETA2 = 29440, EPS = 29568, WEIGHT_DECAY = 29696,
    MODEL_0_WEIGHT_EXP_AVG = 29824, MODEL_0_WEIGHT_EXP_AVG_SQ = 38080,
    MODEL_0_BIAS_EXP_AVG = 46336, MODEL_0_BIAS_EXP_AVG_SQ = 46656,
    MODEL_2_WEIGHT_EXP_AVG = 46976, MODEL_2_WEIGHT_EXP_AVG_SQ = 63424,
    MODEL_2_BIAS_EXP_AVG = 79872, MODEL_2_BIAS_EXP_AVG_SQ = 80192,
    MODEL_4_WEIGHT_EXP_AVG = 80512, MODEL_4_WEIGHT_EXP_AVG_SQ = 83136,
    MODEL_4_BIAS_EXP_AVG = 85760, MODEL_4_BIAS_EXP_AVG_SQ = 85888, CONSTANT_6 = 86016,
    CONSTANT_7 = 86208, CONSTANT_8 = 86400, CONSTANT_9 = 86592, CONSTANT_10 = 86784;
static const int64_t X = 247232, D_1_IN = 234752, MODEL_1_OUT = 120000,
    MODEL_3_OUT = 124160, D_3_SUB = 120000, MODEL_4_OUT = 128320, LABELS = 129024,
    CROSS_ENTROPY_EQ = 87168, COUNT = 249344, CROSS_ENTROPY_SELECT = 86976,
    D_CROSS_ENTROPY_DIV = 87552, BAD_LABEL = 249472, CROSS_ENTROPY_MAX = 86976,
    CROSS_ENTROPY_SUM = 87296, CROSS_ENTROPY_SELECT_2 = 87424, LOSS = 249600,
    D_4_BIAS = 86976, GRAD_NORM_4_BIAS = 249984, ADAMW_NEG = 250112,
    ADAMW_SUB = 250240, ADAMW_SUB_2 = 250368, ADAMW_CAST = 250496, ADAMW_SUB_3 = 250624,
    D_4_IN = 238912, D_4_WEIGHT = 107712, GRAD_NORM_4_WEIGHT = 249856,
    D_2_BIAS = 86976, GRAD_NORM_2_BIAS = 249728, D_2_IN = 243072, D_2_WEIGHT = 218304,
    GRAD_NORM_2_WEIGHT = 86976, GRAD_NORM_2_WEIGHT_2 = 161152, D_0_BIAS = 86976,
    GRAD_NORM_0_BIAS = 161024, D_0_WEIGHT = 152768, GRAD_NORM_0_WEIGHT = 86976,
    GRAD_NORM = 87296, WORK = 86976, WORK_2 = 86976, WORK_3 = 86976,
    WORK_4 = 86976, WORK_5 = 86976, WORK_6 = 86976, WORK_7 = 86976,
    WORK_8 = 86976;
static const int64_t F_X = 124160, F_1_OUT = 120000, F_3_OUT = 124160,
    F_LOGITS = 92352, F_LABELS = 128320, F_CROSS_ENTROPY_EQ = 87168, F_COUNT = 87296,
    F_CROSS_ENTROPY_SELECT = 86976, F_BAD_LABEL = 87424, F_CROSS_ENTROPY_MAX = 86976,
    F_CROSS_ENTROPY_SELECT_2 = 87552, F_LOSS = 86976, F_WORK = 86976,
    F_WORK_2 = 86976, F_WORK_3 = 86976;
#define WITH(workspace) rt_with(rt, m + workspace)

#define ADAMW_DIV(param, x2, exp_avg, exp_avg_sq, n0) \
    param, m + ADAMW_SUB_3, x2, exp_avg, m + ADAMW_SUB_2, m + ADAMW_SUB, exp_avg_sq, m + BETA2, \
    m + ADAMW_CAST, m + EPS, m + ADAMW_NEG, n0

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.02e4, 4.1e3);
    rt_dot(WITH(WORK), 0, m + D_1_IN, m + X, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 4.35e3, 4.1e3);
    RT_LAUNCH(rt, module_1_forward, RT_BLOCKS(B * MODEL_0_SIZE, 1024), 256, m + D_1_IN,
        m + MODEL_0_BIAS, m + MODEL_1_OUT);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.05e4, 4.1e3);
    rt_dot(WITH(WORK_2), 1, m + MODEL_3_OUT, m + MODEL_1_OUT, m + MODEL_2_WEIGHT);
    RT_AT(rt, "3: add tanh mul sub f32[16,64]", 1.84e4, 4.35e3, 8.19e3);
    RT_LAUNCH(rt, module_3_backward, RT_BLOCKS(B * MODEL_2_SIZE, 1024), 256, m + MODEL_3_OUT,
        m + MODEL_2_BIAS, m + MODEL_3_OUT, m + D_3_SUB);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 6.66e3, 640);
    rt_dot(WITH(WORK_3), 2, m + MODEL_4_OUT, m + MODEL_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    RT_LAUNCH(rt, module_4_forward, RT_BLOCKS(B * CLASSES, 256), 256, m + MODEL_4_OUT,
        m + MODEL_4_BIAS, m + MODEL_4_OUT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]", 148, 768, 152);
    RT_LAUNCH(rt, cross_entropy_forward, 1, 256, m + LABELS, m + CONSTANT, m + CONSTANT_2,
        m + CONSTANT_3, m + CONSTANT_4, m + CONSTANT_5, m + CROSS_ENTROPY_EQ, m + COUNT,
        m + CROSS_ENTROPY_SELECT, m + D_CROSS_ENTROPY_DIV);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 128, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 640, 64);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {16, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + CROSS_ENTROPY_MAX, m + MODEL_4_OUT);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[16]", 2.59e3, 848, 768);
    RT_LAUNCH(rt, cross_entropy_log_forward, RT_BLOCKS(B, 8), 256, m + MODEL_4_OUT,
        m + CROSS_ENTROPY_MAX, m + LABELS, m + CROSS_ENTROPY_EQ, m + MODEL_4_OUT,
        m + CROSS_ENTROPY_SUM, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 64, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select ... f32[16,10]", 736, 852, 640);
    RT_LAUNCH(rt, cross_entropy_backward, RT_BLOCKS(B, 8), 256, m + CROSS_ENTROPY_EQ,
        m + D_CROSS_ENTROPY_DIV, m + CROSS_ENTROPY_SUM, m + MODEL_4_OUT, m + LABELS,
        m + MODEL_4_OUT);
    RT_AT(rt, "4: reduce_sum f32[10]", 160, 640, 40);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 10}, .stride = {10, 1},
        .reduced = {1, 0}}, m + D_4_BIAS, m + MODEL_4_OUT);
    rt_gradient(rt, 5, 0, m + D_4_BIAS);  // 4.bias
    RT_AT(rt, "grad_norm 4.bias: mul reduce_sum f32[]", 20, 40, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_4_BIAS, m + GRAD_NORM_4_BIAS);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 20, 20);
    RT_LAUNCH(rt, adamw_scalars, RT_BLOCKS(1, 256), 256, m + BETA1, m + STEP, m + LR, m + BETA2,
        m + WEIGHT_DECAY, m + ADAMW_NEG, m + ADAMW_SUB, m + ADAMW_SUB_2, m + ADAMW_CAST,
        m + ADAMW_SUB_3);
    RT_AT(rt, "adamw 4.bias: mul sub mul mul mul add mul add sqrt mul ... f32[10]", 200, 188, 120);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(CLASSES, 1024), 256, m + MODEL_4_BIAS, m + ADAMW_SUB_3,
        m + D_4_BIAS, m + MODEL_4_BIAS_EXP_AVG, m + ADAMW_SUB_2, m + ADAMW_SUB,
        m + MODEL_4_BIAS_EXP_AVG_SQ, m + BETA2, m + ADAMW_CAST, m + EPS, m + ADAMW_NEG);
    RT_AT(rt, "4: dot f32[16,64]", 2.05e4, 3.2e3, 4.1e3);
    rt_dot(WITH(WORK_4), 3, m + D_4_IN, m + MODEL_4_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: dot f32[10,64]", 2.05e4, 4.74e3, 2.56e3);
    rt_dot(WITH(WORK_5), 4, m + D_4_WEIGHT, m + MODEL_3_OUT, m + MODEL_4_OUT);
    rt_gradient(rt, 4, 0, m + D_4_WEIGHT);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[]", 1.28e3, 2.56e3, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum, 1, 96, m + D_4_WEIGHT, m + GRAD_NORM_4_WEIGHT);
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add ... f32[10,64]", 1.28e4, 1.03e4, 7.68e3);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(CLASSES * MODEL_2_SIZE, 1024), 256,
        ADAMW_DIV(m + MODEL_4_WEIGHT, m + D_4_WEIGHT, m + MODEL_4_WEIGHT_EXP_AVG,
        m + MODEL_4_WEIGHT_EXP_AVG_SQ, RT_NUMBER(640)));
    RT_AT(rt, "3: mul f32[16,64]", 1.02e3, 8.19e3, 4.1e3);
    RT_LAUNCH(rt, module_3_mul_backward, RT_BLOCKS(B * MODEL_2_SIZE, 1024), 256, m + D_4_IN,
        m + D_3_SUB, m + D_4_IN);
    RT_AT(rt, "2: reduce_sum f32[64]", 1.02e3, 4.1e3, 256);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 64}, .stride = {64, 1},
        .reduced = {1, 0}}, m + D_2_BIAS, m + D_4_IN);
    rt_gradient(rt, 3, 0, m + D_2_BIAS);  // 2.bias
    RT_AT(rt, "grad_norm 2.bias: mul reduce_sum f32[]", 128, 256, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 256, m + D_2_BIAS, m + GRAD_NORM_2_BIAS);
    RT_AT(rt, "adamw 2.bias: mul sub mul mul mul add mul add ... f32[64]", 1.28e3, 1.05e3, 768);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_2_SIZE, 1024), 256, ADAMW_DIV(m + MODEL_2_BIAS,
        m + D_2_BIAS, m + MODEL_2_BIAS_EXP_AVG, m + MODEL_2_BIAS_EXP_AVG_SQ, RT_NUMBER(64)));
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.05e4, 4.1e3);
    rt_dot(WITH(WORK_6), 5, m + D_2_IN, m + D_4_IN, m + MODEL_2_WEIGHT);
    RT_AT(rt, "1: add le select select f32[16,64]", 4.1e3, 8.45e3, 8.19e3);
    RT_LAUNCH(rt, module_1_backward, RT_BLOCKS(B * MODEL_0_SIZE, 1024), 256, m + D_1_IN,
        m + MODEL_0_BIAS, m + D_2_IN, m + D_1_IN, m + D_2_IN);
    RT_AT(rt, "2: dot f32[64,64]", 1.31e5, 8.19e3, 1.64e4);
    rt_dot(WITH(WORK_7), 6, m + D_2_WEIGHT, m + D_2_IN, m + D_4_IN);
    rt_gradient(rt, 2, 0, m + D_2_WEIGHT);  // 2.weight
    RT_AT(rt, "grad_norm 2.weight: mul reduce_sum f32[64]", 8.19e3, 1.64e4, 256);
    RT_LAUNCH(rt, grad_norm_reduce_sum_3, RT_BLOCKS(MODEL_2_SIZE, 8), 256, m + D_2_WEIGHT,
        m + GRAD_NORM_2_WEIGHT);
    RT_AT(rt, "grad_norm 2.weight: reduce_sum f32[]", 64, 256, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_2_WEIGHT_2, m + GRAD_NORM_2_WEIGHT);
    RT_AT(rt, "adamw 2.weight: mul sub mul mul mul add ... f32[64,64]", 8.19e4, 6.56e4, 4.92e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_2_SIZE * MODEL_0_SIZE, 1024), 256,
        ADAMW_DIV(m + MODEL_2_WEIGHT, m + D_2_WEIGHT, m + MODEL_2_WEIGHT_EXP_AVG,
        m + MODEL_2_WEIGHT_EXP_AVG_SQ, RT_NUMBER(4096)));
    RT_AT(rt, "0: reduce_sum f32[64]", 1.02e3, 4.1e3, 256);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 64}, .stride = {64, 1},
        .reduced = {1, 0}}, m + D_0_BIAS, m + D_1_IN);
    rt_gradient(rt, 1, 0, m + D_0_BIAS);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 128, 256, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 256, m + D_0_BIAS, m + GRAD_NORM_0_BIAS);
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add ... f32[64]", 1.28e3, 1.05e3, 768);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_0_SIZE, 1024), 256, ADAMW_DIV(m + MODEL_0_BIAS,
        m + D_0_BIAS, m + MODEL_0_BIAS_EXP_AVG, m + MODEL_0_BIAS_EXP_AVG_SQ, RT_NUMBER(64)));
    RT_AT(rt, "0: dot f32[64,32]", 6.55e4, 6.14e3, 8.19e3);
    rt_dot(WITH(WORK_8), 7, m + D_0_WEIGHT, m + X, m + D_1_IN);
    rt_gradient(rt, 0, 0, m + D_0_WEIGHT);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum f32[64]", 4.1e3, 8.19e3, 256);
    RT_LAUNCH(rt, grad_norm_reduce_sum_4, RT_BLOCKS(MODEL_0_SIZE, 8), 256, m + D_0_WEIGHT,
        m + GRAD_NORM_0_WEIGHT);
    RT_AT(rt, "grad_norm 0.weight: reduce_sum f32[]", 64, 256, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM, m + GRAD_NORM_0_WEIGHT);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4);
    RT_LAUNCH(rt, grad_norm_sqrt, RT_BLOCKS(1, 256), 256, m + GRAD_NORM, m + GRAD_NORM_0_BIAS,
        m + GRAD_NORM_2_WEIGHT_2, m + GRAD_NORM_2_BIAS, m + GRAD_NORM_4_WEIGHT,
        m + GRAD_NORM_4_BIAS, m + GRAD_NORM);
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul ... f32[64,32]", 4.1e4, 3.28e4, 2.46e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(32 * MODEL_0_SIZE, 1024), 256, ADAMW_DIV(m + MODEL_0_WEIGHT,
        m + D_0_WEIGHT, m + MODEL_0_WEIGHT_EXP_AVG, m + MODEL_0_WEIGHT_EXP_AVG_SQ,
        RT_NUMBER(2048)));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.02e4, 4.1e3);
    rt_dot(WITH(F_WORK), 0, m + F_1_OUT, m + F_X, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 4.35e3, 4.1e3);
    RT_LAUNCH(rt, module_1_forward, RT_BLOCKS(B * MODEL_0_SIZE, 1024), 256, m + F_1_OUT,
        m + MODEL_0_BIAS, m + F_1_OUT);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.05e4, 4.1e3);
    rt_dot(WITH(F_WORK_2), 1, m + F_3_OUT, m + F_1_OUT, m + MODEL_2_WEIGHT);
    RT_AT(rt, "3: add tanh f32[16,64]", 1.64e4, 4.35e3, 4.1e3);
    RT_LAUNCH(rt, module_3_predict, RT_BLOCKS(B * MODEL_2_SIZE, 1024), 256, m + F_3_OUT,
        m + MODEL_2_BIAS, m + F_3_OUT);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 6.66e3, 640);
    rt_dot(WITH(F_WORK_3), 2, m + F_LOGITS, m + F_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    RT_LAUNCH(rt, module_4_forward, RT_BLOCKS(B * CLASSES, 256), 256, m + F_LOGITS,
        m + MODEL_4_BIAS, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[16]", 144, 768, 148);
    RT_LAUNCH(rt, cross_entropy_predict, 1, 256, m + F_LABELS, m + CONSTANT_6, m + CONSTANT_7,
        m + CONSTANT_8, m + CONSTANT_9, m + CONSTANT_10, m + F_CROSS_ENTROPY_EQ, m + F_COUNT,
        m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 128, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + F_BAD_LABEL,
        m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 640, 64);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {16, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[16]", 2.59e3, 848, 64);
    RT_LAUNCH(rt, cross_entropy_log_predict, RT_BLOCKS(B, 8), 256, m + F_LOGITS,
        m + F_CROSS_ENTROPY_MAX, m + F_LABELS, m + F_CROSS_ENTROPY_EQ,
        m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 64, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
}

static void init(Rt *rt)
{
    rt_dot_init(rt, 0, &(RtDot){.m = 16, .n = 64, .k = 32, .a_m = 32, .a_k = 1, .b_k = 1,
        .b_n = 32, .y_m = 64, .y_n = 1, .type = RT_F32});  // 0
    rt_dot_init(rt, 1, &(RtDot){.m = 16, .n = 64, .k = 64, .a_m = 64, .a_k = 1, .b_k = 1,
        .b_n = 64, .y_m = 64, .y_n = 1, .type = RT_F32});  // 2
    rt_dot_init(rt, 2, &(RtDot){.m = 16, .n = 10, .k = 64, .a_m = 64, .a_k = 1, .b_k = 1,
        .b_n = 64, .y_m = 10, .y_n = 1, .type = RT_F32});  // 4
    rt_dot_init(rt, 3, &(RtDot){.m = 16, .n = 64, .k = 10, .a_m = 10, .a_k = 1, .b_k = 64,
        .b_n = 1, .y_m = 64, .y_n = 1, .type = RT_F32});  // 4
    rt_dot_init(rt, 4, &(RtDot){.m = 64, .n = 10, .k = 16, .a_m = 1, .a_k = 64, .b_k = 10,
        .b_n = 1, .y_m = 1, .y_n = 64, .type = RT_F32});  // 4
    rt_dot_init(rt, 5, &(RtDot){.m = 16, .n = 64, .k = 64, .a_m = 64, .a_k = 1, .b_k = 64,
        .b_n = 1, .y_m = 64, .y_n = 1, .type = RT_F32});  // 2
    rt_dot_init(rt, 6, &(RtDot){.m = 64, .n = 64, .k = 16, .a_m = 1, .a_k = 64, .b_k = 64,
        .b_n = 1, .y_m = 1, .y_n = 64, .type = RT_F32});  // 2
    rt_dot_init(rt, 7, &(RtDot){.m = 32, .n = 64, .k = 16, .a_m = 1, .a_k = 32, .b_k = 64,
        .b_n = 1, .y_m = 1, .y_n = 32, .type = RT_F32});  // 0
}

// Role, type, name, rank, shape and place; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "0.weight", 2, {64, 32}, .at = 0},
    {RT_PARAMETER, RT_F32, "0.bias", 1, {64}, .at = 8256},
    {RT_PARAMETER, RT_F32, "2.weight", 2, {64, 64}, .at = 8576},
    {RT_PARAMETER, RT_F32, "2.bias", 1, {64}, .at = 25024},
    {RT_PARAMETER, RT_F32, "4.weight", 2, {10, 64}, .at = 25344},
    {RT_PARAMETER, RT_F32, "4.bias", 1, {10}, .at = 27968},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 28096,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 28288,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 28480,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 28672,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\013\000\000\000\000\000\000\000\014\000\000\000\000\000\000\000\015\000\000\000"
    "\000\000\000\000\016\000\000\000\000\000\000\000\017\000\000\000\000\000\000\000"
    "\020\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 28864,
        .data = "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000"},
    {RT_HYPER, RT_F32, "lr", 0, {0}, .at = 29056, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", 0, {0}, .at = 29184, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", 0, {0}, .at = 29312, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", 0, {0}, .at = 29440, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", 0, {0}, .at = 29568, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 29696, .fill = 0.01},
    {RT_STATE, RT_F32, "0.weight.exp_avg", 2, {64, 32}, .at = 29824},
    {RT_STATE, RT_F32, "0.weight.exp_avg_sq", 2, {64, 32}, .at = 38080},
    {RT_STATE, RT_F32, "0.bias.exp_avg", 1, {64}, .at = 46336},
    {RT_STATE, RT_F32, "0.bias.exp_avg_sq", 1, {64}, .at = 46656},
    {RT_STATE, RT_F32, "2.weight.exp_avg", 2, {64, 64}, .at = 46976},
    {RT_STATE, RT_F32, "2.weight.exp_avg_sq", 2, {64, 64}, .at = 63424},
    {RT_STATE, RT_F32, "2.bias.exp_avg", 1, {64}, .at = 79872},
    {RT_STATE, RT_F32, "2.bias.exp_avg_sq", 1, {64}, .at = 80192},
    {RT_STATE, RT_F32, "4.weight.exp_avg", 2, {10, 64}, .at = 80512},
    {RT_STATE, RT_F32, "4.weight.exp_avg_sq", 2, {10, 64}, .at = 83136},
    {RT_STATE, RT_F32, "4.bias.exp_avg", 1, {10}, .at = 85760},
    {RT_STATE, RT_F32, "4.bias.exp_avg_sq", 1, {10}, .at = 85888},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 86016,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 86208,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 86400,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 86592,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\013\000\000\000\000\000\000\000\014\000\000\000\000\000\000\000\015\000\000\000"
    "\000\000\000\000\016\000\000\000\000\000\000\000\017\000\000\000\000\000\000\000"
    "\020\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 86784,
        .data = "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {16, 32}, .at = 247232},
    {RT_INPUT, RT_I64, "labels", 1, {16}, .at = 129024, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 249600},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 249344},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 249472},
    {RT_GRADIENT, RT_F32, "0.weight", 2, {64, 32}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "0.bias", 1, {64}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "2.weight", 2, {64, 64}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "2.bias", 1, {64}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "4.weight", 2, {10, 64}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "4.bias", 1, {10}, .gradient = 5},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 87296},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {16, 32}, .at = 124160},
    {RT_INPUT, RT_I64, "labels", 1, {16}, .at = 128320, .is_labels = true, .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 2, {16, 10}, .at = 92352},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 86976},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 87296},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 87424},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(X, 2048, 0, 34), LIVE(LABELS, 128, 0, 12), LIVE(D_1_IN, 4096, 0, 34),
        LIVE(MODEL_1_OUT, 4096, 1, 2), LIVE(MODEL_3_OUT, 4096, 2, 18),
        LIVE(MODEL_4_OUT, 640, 4, 18), LIVE(CROSS_ENTROPY_EQ, 64, 6, 12), LIVE(COUNT, 64, 6, 39),
        LIVE(CROSS_ENTROPY_SELECT, 128, 6, 7), LIVE(BAD_LABEL, 64, 7, 39),
        LIVE(CROSS_ENTROPY_MAX, 64, 9, 10), LIVE(CROSS_ENTROPY_SUM, 64, 10, 12),
        LIVE(CROSS_ENTROPY_SELECT_2, 64, 10, 11), LIVE(LOSS, 64, 11, 39),
        LIVE(D_CROSS_ENTROPY_DIV, 64, 6, 12), LIVE(D_4_BIAS, 64, 13, 16),
        LIVE(D_4_IN, 4096, 17, 27), LIVE(D_4_WEIGHT, 2560, 18, 20), LIVE(D_3_SUB, 4096, 3, 21),
        LIVE(D_2_BIAS, 256, 22, 24), LIVE(D_2_IN, 4096, 25, 27), LIVE(D_2_WEIGHT, 16384, 27, 30),
        LIVE(D_0_BIAS, 256, 31, 33), LIVE(D_0_WEIGHT, 8192, 34, 38),
        LIVE(GRAD_NORM_0_WEIGHT, 256, 35, 36), LIVE(GRAD_NORM, 64, 36, 39),
        LIVE(GRAD_NORM_0_BIAS, 64, 32, 37), LIVE(GRAD_NORM_2_WEIGHT, 256, 28, 29),
        LIVE(GRAD_NORM_2_WEIGHT_2, 64, 29, 37), LIVE(GRAD_NORM_2_BIAS, 64, 23, 37),
        LIVE(GRAD_NORM_4_WEIGHT, 64, 19, 37), LIVE(GRAD_NORM_4_BIAS, 64, 14, 37),
        LIVE(ADAMW_NEG, 64, 15, 38), LIVE(ADAMW_SUB, 64, 15, 38), LIVE(ADAMW_SUB_2, 64, 15, 38),
        LIVE(ADAMW_CAST, 64, 15, 38), LIVE(ADAMW_SUB_3, 64, 15, 38), LIVE(WORK, 32960, 0, 0),
        LIVE(WORK_2, 32960, 2, 2), LIVE(WORK_3, 5312, 4, 4), LIVE(WORK_4, 32960, 17, 17),
        LIVE(WORK_5, 20672, 18, 18), LIVE(WORK_6, 32960, 25, 25), LIVE(WORK_7, 131264, 27, 27),
        LIVE(WORK_8, 65728, 34, 34),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_X, 2048, 0, 0), LIVE(F_LABELS, 128, 0, 10), LIVE(F_1_OUT, 4096, 0, 2),
        LIVE(F_3_OUT, 4096, 2, 4), LIVE(F_LOGITS, 640, 4, 12),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 6, 10), LIVE(F_COUNT, 64, 6, 12),
        LIVE(F_CROSS_ENTROPY_SELECT, 128, 6, 7), LIVE(F_BAD_LABEL, 64, 7, 12),
        LIVE(F_CROSS_ENTROPY_MAX, 64, 9, 10), LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 10, 11),
        LIVE(F_LOSS, 64, 11, 12), LIVE(F_WORK, 32960, 0, 0), LIVE(F_WORK_2, 32960, 2, 2),
        LIVE(F_WORK_3, 5312, 4, 4),
        {0}}, (RtLoop[]){{0}});
}

RT_KERNELS("kernels.fatbin");

static const RtModel model = {
    .name = "mlp",
    .options = "shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer adamw --target cuda --march x86-64-v3",
    .plan = "1 rank, arena 250752 bytes, bound 250752",
    .arena_bytes = 250752,
    .n_kernels = 8,
    .threads = 1,
    .accumulate = 1,
    .init_std = 0,
    .flops = 585728,
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
    .identity = 0x17189d4ba9460be9,
};

int main(int argc, char **argv)
{
    return rt_main(&model, argc, argv);
}
