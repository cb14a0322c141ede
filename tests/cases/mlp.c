// Made by shardcc. Changes here are lost when it is made again.
//   shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimizer 'sgd(momentum=0.9)'
//      --march x86-64-v3
//   plan: 1 rank, arena 102848 bytes, bound 102848
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// fused functions, the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt.h"

static const int64_t B = 16, CLASSES = 10, MODEL_0_SIZE = 64, MODEL_2_SIZE = 64;
// Places in the arena, in bytes from its start `m`; of repeated layers, that of layer 0. OUT is the
// result of a module, D_ a gradient, D_ and IN that of its input. F_ is for forward alone.
static const int64_t MODEL_0_WEIGHT = 0, MODEL_0_BIAS = 8256,
    MODEL_2_WEIGHT = 8576, MODEL_2_BIAS = 25024, MODEL_4_WEIGHT = 25344,
    MODEL_4_BIAS = 27968, CONSTANT = 28096, CONSTANT_2 = 28288, CONSTANT_3 = 28480,
    CONSTANT_4 = 28672, CONSTANT_5 = 28864, LR = 29056, WEIGHT_DECAY = 29184,
    MOMENTUM = 29312, MODEL_0_WEIGHT_MOMENTUM_BUFFER = 29440,
    MODEL_0_BIAS_MOMENTUM_BUFFER = 37696, MODEL_2_WEIGHT_MOMENTUM_BUFFER = 38016,
    MODEL_2_BIAS_MOMENTUM_BUFFER = 54464, MODEL_4_WEIGHT_MOMENTUM_BUFFER = 54784,
    MODEL_4_BIAS_MOMENTUM_BUFFER = 57408, CONSTANT_6 = 57536, CONSTANT_7 = 57728,
    CONSTANT_8 = 57920, CONSTANT_9 = 58112, CONSTANT_10 = 58304;
static const int64_t X = 100224, D_1_IN = 96064, MODEL_1_OUT = 87488,
    MODEL_3_OUT = 83136, D_3_SUB = 73728, MODEL_4_OUT = 77888, LABELS = 87296,
    CROSS_ENTROPY_EQ = 66752, COUNT = 102336, CROSS_ENTROPY_SELECT = 58496,
    D_CROSS_ENTROPY_DIV = 66880, BAD_LABEL = 102464, CROSS_ENTROPY_MAX = 67008,
    CROSS_ENTROPY_SUM = 58496, CROSS_ENTROPY_SELECT_2 = 58624, LOSS = 102592,
    D_4_BIAS = 63680, GRAD_NORM_4_BIAS = 58496, SGD_NEG = 58624, D_4_IN = 91904,
    D_4_WEIGHT = 58752, GRAD_NORM_4_WEIGHT = 102720, D_2_BIAS = 91584,
    GRAD_NORM_2_BIAS = 58752, D_2_IN = 87680, D_2_WEIGHT = 58880,
    GRAD_NORM_2_WEIGHT = 75904, GRAD_NORM_2_WEIGHT_2 = 91712, D_0_BIAS = 91840,
    GRAD_NORM_0_BIAS = 58880, D_0_WEIGHT = 59008, GRAD_NORM_0_WEIGHT = 67840,
    GRAD_NORM = 68160, WORK = 58496, WORK_2 = 58496, WORK_3 = 58496,
    WORK_4 = 58496, WORK_5 = 58752, WORK_6 = 58496, WORK_7 = 58752,
    WORK_8 = 61376, WORK_9 = 58752, WORK_10 = 58880, WORK_11 = 75328,
    WORK_12 = 75328, WORK_13 = 58880, WORK_14 = 67264, WORK_15 = 67264;
static const int64_t F_X = 70848, F_1_OUT = 83136, F_3_OUT = 87296,
    F_LOGITS = 70848, F_LABELS = 91456, F_CROSS_ENTROPY_EQ = 66752, F_COUNT = 66880,
    F_CROSS_ENTROPY_SELECT = 58496, F_BAD_LABEL = 67008, F_CROSS_ENTROPY_MAX = 67136,
    F_CROSS_ENTROPY_SELECT_2 = 59072, F_LOSS = 59200, F_WORK = 58496,
    F_WORK_2 = 58496, F_WORK_3 = 58496, F_WORK_4 = 58496, F_WORK_5 = 58496;
#define WITH(workspace) rt_with(rt, m + workspace)

static RtRows module_1_forward, module_3_backward, module_4_forward, cross_entropy_forward,
    cross_entropy_mod_forward, cross_entropy_log_forward, cross_entropy_backward, grad_norm,
    sgd_scalars, sgd, grad_norm_reduce_sum, module_3_mul_backward, module_1_backward,
    grad_norm_reduce_sum_2, grad_norm_reduce_sum_3, grad_norm_sqrt, module_3_predict,
    cross_entropy_predict, cross_entropy_log_predict;
#define SGD(param, x2, momentum_buffer) \
    param, m + WEIGHT_DECAY, x2, momentum_buffer, m + MOMENTUM, m + SGD_NEG

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.43e4, 4.1e3);
    rt_dot(WITH(WORK), 0, m + D_1_IN, m + X, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 8.45e3, 4.1e3);
    RT_ROWS(rt, module_1_forward, B, 3 * MODEL_0_SIZE, m + D_1_IN, m + MODEL_0_BIAS,
        m + MODEL_1_OUT);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(WITH(WORK_2), 1, m + MODEL_3_OUT, m + MODEL_1_OUT, m + MODEL_2_WEIGHT);
    RT_AT(rt, "3: add tanh mul sub f32[16,64]", 1.84e4, 8.45e3, 8.19e3);
    RT_ROWS(rt, module_3_backward, B, 4 * MODEL_2_SIZE, m + MODEL_3_OUT, m + MODEL_2_BIAS,
        m + MODEL_3_OUT, m + D_3_SUB);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 7.3e3, 640);
    rt_dot(WITH(WORK_3), 2, m + MODEL_4_OUT, m + MODEL_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    RT_ROWS(rt, module_4_forward, B, CLASSES, m + MODEL_4_OUT, m + MODEL_4_BIAS, m + MODEL_4_OUT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]", 148, 920, 152);
    RT_ROWS(rt, cross_entropy_forward, 1, 10 * B, m + LABELS, m + CONSTANT, m + CONSTANT_2,
        m + CONSTANT_3, m + CONSTANT_4, m + CONSTANT_5, m + CROSS_ENTROPY_EQ, m + COUNT,
        m + CROSS_ENTROPY_SELECT, m + D_CROSS_ENTROPY_DIV);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 136, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 704, 64);
    rt_reduce(WITH(WORK_4), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {16, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + CROSS_ENTROPY_MAX, m + MODEL_4_OUT);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[16]", 2.59e3, 976, 768);
    RT_ROWS(rt, cross_entropy_log_forward, B, 10 * CLASSES, m + MODEL_4_OUT, m + CROSS_ENTROPY_MAX,
        m + LABELS, m + CROSS_ENTROPY_EQ, m + MODEL_4_OUT, m + CROSS_ENTROPY_SUM,
        m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 68, 4);
    rt_reduce(WITH(WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select ... f32[16,10]", 736, 852, 640);
    RT_ROWS(rt, cross_entropy_backward, B, 8 * CLASSES, m + CROSS_ENTROPY_EQ,
        m + D_CROSS_ENTROPY_DIV, m + CROSS_ENTROPY_SUM, m + MODEL_4_OUT, m + LABELS,
        m + MODEL_4_OUT);
    RT_AT(rt, "4: reduce_sum f32[10]", 160, 680, 40);
    rt_reduce(WITH(WORK_6), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 10},
        .stride = {10, 1}, .reduced = {1, 0}}, m + D_4_BIAS, m + MODEL_4_OUT);
    rt_gradient(rt, 5, 0, m + D_4_BIAS);  // 4.bias
    RT_AT(rt, "grad_norm 4.bias: mul reduce_sum f32[]", 20, 44, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * CLASSES, m + D_4_BIAS, m + GRAD_NORM_4_BIAS);
    RT_AT(rt, "sgd: neg f32[]", 1, 8, 4);
    RT_ROWS(rt, sgd_scalars, 1, 1, m + LR, m + SGD_NEG);
    RT_AT(rt, "sgd 4.bias: mul add mul add mul add f32[10]", 60, 132, 80);
    RT_ROWS(rt, sgd, CLASSES, 6, SGD(m + MODEL_4_BIAS, m + D_4_BIAS,
        m + MODEL_4_BIAS_MOMENTUM_BUFFER));
    RT_AT(rt, "4: dot f32[16,64]", 2.05e4, 7.3e3, 4.1e3);
    rt_dot(WITH(WORK_7), 3, m + D_4_IN, m + MODEL_4_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: dot f32[10,64]", 2.05e4, 7.3e3, 2.56e3);
    rt_dot(WITH(WORK_8), 4, m + D_4_WEIGHT, m + MODEL_3_OUT, m + MODEL_4_OUT);
    rt_gradient(rt, 4, 0, m + D_4_WEIGHT);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[]", 1.28e3, 2.56e3, 4);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 2 * CLASSES * MODEL_2_SIZE, m + D_4_WEIGHT,
        m + GRAD_NORM_4_WEIGHT, (char *)(int64_t[]){640});
    RT_AT(rt, "sgd 4.weight: mul add mul add mul add f32[10,64]", 3.84e3, 7.69e3, 5.12e3);
    RT_ROWS(rt, sgd, CLASSES * MODEL_2_SIZE, 6, SGD(m + MODEL_4_WEIGHT, m + D_4_WEIGHT,
        m + MODEL_4_WEIGHT_MOMENTUM_BUFFER));
    RT_AT(rt, "3: mul f32[16,64]", 1.02e3, 8.19e3, 4.1e3);
    RT_ROWS(rt, module_3_mul_backward, B * MODEL_2_SIZE, 1, m + D_4_IN, m + D_3_SUB, m + D_4_IN);
    RT_AT(rt, "2: reduce_sum f32[64]", 1.02e3, 4.35e3, 256);
    rt_reduce(WITH(WORK_9), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 64},
        .stride = {64, 1}, .reduced = {1, 0}}, m + D_2_BIAS, m + D_4_IN);
    rt_gradient(rt, 3, 0, m + D_2_BIAS);  // 2.bias
    RT_AT(rt, "grad_norm 2.bias: mul reduce_sum f32[]", 128, 260, 4);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 2 * MODEL_2_SIZE, m + D_2_BIAS, m + GRAD_NORM_2_BIAS,
        (char *)(int64_t[]){64});
    RT_AT(rt, "sgd 2.bias: mul add mul add mul add f32[64]", 384, 780, 512);
    RT_ROWS(rt, sgd, MODEL_2_SIZE, 6, SGD(m + MODEL_2_BIAS, m + D_2_BIAS,
        m + MODEL_2_BIAS_MOMENTUM_BUFFER));
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(WITH(WORK_10), 5, m + D_2_IN, m + D_4_IN, m + MODEL_2_WEIGHT);
    RT_AT(rt, "1: add le select select f32[16,64]", 4.1e3, 8.45e3, 8.19e3);
    RT_ROWS(rt, module_1_backward, B, 4 * MODEL_0_SIZE, m + D_1_IN, m + MODEL_0_BIAS, m + D_2_IN,
        m + D_1_IN, m + D_2_IN);
    RT_AT(rt, "2: dot f32[64,64]", 1.31e5, 2.46e4, 1.64e4);
    rt_dot(WITH(WORK_11), 6, m + D_2_WEIGHT, m + D_2_IN, m + D_4_IN);
    rt_gradient(rt, 2, 0, m + D_2_WEIGHT);  // 2.weight
    RT_AT(rt, "grad_norm 2.weight: mul reduce_sum f32[64]", 8.19e3, 1.66e4, 256);
    RT_ROWS(rt, grad_norm_reduce_sum_2, MODEL_2_SIZE, 2 * MODEL_0_SIZE, m + D_2_WEIGHT,
        m + GRAD_NORM_2_WEIGHT);
    RT_AT(rt, "grad_norm 2.weight: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(WITH(WORK_12), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_2_WEIGHT_2, m + GRAD_NORM_2_WEIGHT);
    RT_AT(rt, "sgd 2.weight: mul add mul add mul add f32[64,64]", 2.46e4, 4.92e4, 3.28e4);
    RT_ROWS(rt, sgd, MODEL_2_SIZE * MODEL_0_SIZE, 6, SGD(m + MODEL_2_WEIGHT, m + D_2_WEIGHT,
        m + MODEL_2_WEIGHT_MOMENTUM_BUFFER));
    RT_AT(rt, "0: reduce_sum f32[64]", 1.02e3, 4.35e3, 256);
    rt_reduce(WITH(WORK_13), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {16, 64},
        .stride = {64, 1}, .reduced = {1, 0}}, m + D_0_BIAS, m + D_1_IN);
    rt_gradient(rt, 1, 0, m + D_0_BIAS);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 128, 260, 4);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 2 * MODEL_0_SIZE, m + D_0_BIAS, m + GRAD_NORM_0_BIAS,
        (char *)(int64_t[]){64});
    RT_AT(rt, "sgd 0.bias: mul add mul add mul add f32[64]", 384, 780, 512);
    RT_ROWS(rt, sgd, MODEL_0_SIZE, 6, SGD(m + MODEL_0_BIAS, m + D_0_BIAS,
        m + MODEL_0_BIAS_MOMENTUM_BUFFER));
    RT_AT(rt, "0: dot f32[64,32]", 6.55e4, 1.43e4, 8.19e3);
    rt_dot(WITH(WORK_14), 7, m + D_0_WEIGHT, m + X, m + D_1_IN);
    rt_gradient(rt, 0, 0, m + D_0_WEIGHT);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum f32[64]", 4.1e3, 8.45e3, 256);
    RT_ROWS(rt, grad_norm_reduce_sum_3, MODEL_0_SIZE, 64, m + D_0_WEIGHT, m + GRAD_NORM_0_WEIGHT);
    RT_AT(rt, "grad_norm 0.weight: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(WITH(WORK_15), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM, m + GRAD_NORM_0_WEIGHT);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4);
    RT_ROWS(rt, grad_norm_sqrt, 1, 7, m + GRAD_NORM, m + GRAD_NORM_0_BIAS,
        m + GRAD_NORM_2_WEIGHT_2, m + GRAD_NORM_2_BIAS, m + GRAD_NORM_4_WEIGHT,
        m + GRAD_NORM_4_BIAS, m + GRAD_NORM);
    RT_AT(rt, "sgd 0.weight: mul add mul add mul add f32[64,32]", 1.23e4, 2.46e4, 1.64e4);
    RT_ROWS(rt, sgd, 32 * MODEL_0_SIZE, 6, SGD(m + MODEL_0_WEIGHT, m + D_0_WEIGHT,
        m + MODEL_0_WEIGHT_MOMENTUM_BUFFER));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.43e4, 4.1e3);
    rt_dot(WITH(F_WORK), 0, m + F_1_OUT, m + F_X, m + MODEL_0_WEIGHT);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 4.35e3, 4.1e3);
    RT_ROWS(rt, module_1_forward, B, 3 * MODEL_0_SIZE, m + F_1_OUT, m + MODEL_0_BIAS, m + F_1_OUT);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(WITH(F_WORK_2), 1, m + F_3_OUT, m + F_1_OUT, m + MODEL_2_WEIGHT);
    RT_AT(rt, "3: add tanh f32[16,64]", 1.64e4, 4.35e3, 4.1e3);
    RT_ROWS(rt, module_3_predict, B, 2 * MODEL_2_SIZE, m + F_3_OUT, m + MODEL_2_BIAS, m + F_3_OUT);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 7.3e3, 640);
    rt_dot(WITH(F_WORK_3), 2, m + F_LOGITS, m + F_3_OUT, m + MODEL_4_WEIGHT);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    RT_ROWS(rt, module_4_forward, B, CLASSES, m + F_LOGITS, m + MODEL_4_BIAS, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[16]", 144, 916, 148);
    RT_ROWS(rt, cross_entropy_predict, 1, 9 * B, m + F_LABELS, m + CONSTANT_6, m + CONSTANT_7,
        m + CONSTANT_8, m + CONSTANT_9, m + CONSTANT_10, m + F_CROSS_ENTROPY_EQ, m + F_COUNT,
        m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 136, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + F_BAD_LABEL, m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 704, 64);
    rt_reduce(WITH(F_WORK_4), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {16, 10},
        .stride = {10, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[16]", 2.59e3, 912, 64);
    RT_ROWS(rt, cross_entropy_log_predict, B, 10 * CLASSES, m + F_LOGITS, m + F_CROSS_ENTROPY_MAX,
        m + F_LABELS, m + F_CROSS_ENTROPY_EQ, m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 68, 4);
    rt_reduce(WITH(F_WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
}

// 1: add le select; 16 rows of 64; x0 0
static void module_1_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 64, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = x0[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 3: add tanh mul sub; 16 rows of 64; x0 2
static void module_3_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 64, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64, *y1 = (float *)p[3] + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = rt_tanhf(x0[i] + bias[i]);
            y1[i] = 1.0f - v1 * v1;
            y0[i] = v1;
        }
    }
}

// 4: add; 16 rows of 10
static void module_4_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 10, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 10;
        RT_SIMD for (int64_t i = 0; i < 10; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select div; 16 elements
static void cross_entropy_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7], *y3 = (float *)p[9];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (int64_t *)p[0], *x1 = (int64_t *)p[1], *x2 = (int64_t *)p[2],
            *x3 = (int64_t *)p[3], *x4 = (int64_t *)p[4], *x5 = (int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++) {
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
        y0[0] = (int64_t)rt_mod_int(x0, 17);
}

// cross_entropy: sub exp reduce_sum log iota eq select; 16 rows of 10; x0 4, x2 labels
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

// cross_entropy: select neg div mul iota eq add; 16 rows of 10; x4 labels
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

// grad_norm 4.bias: mul reduce_sum; 10 elements; x0 4
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

// sgd: neg; one number
static void sgd_scalars(char *const *p, int64_t first, int64_t last)
{
    const float lr = ((float *)p[0])[0];
    float *y0 = (float *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = -lr;
}

// sgd 4.bias, 4.weight and 4 more: mul add; x5 sgd
static void sgd(char *const *p, int64_t first, int64_t last)
{
    const float *param = (float *)p[0], *x2 = (float *)p[2], *momentum_buffer = (float *)p[3];
    const float weight_decay = ((float *)p[1])[0], momentum = ((float *)p[4])[0],
        x5 = ((float *)p[5])[0];
    float *next_momentum_buffer = (float *)p[3], *next_param = (float *)p[0];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = momentum_buffer[i] * momentum + (x2[i] + param[i] * weight_decay);
        next_param[i] = param[i] + v1 * x5;
        next_momentum_buffer[i] = v1;
    }
}

// grad_norm 4.weight, 2.bias and 1 more: mul reduce_sum
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    const int64_t n0 = ((int64_t *)p[2])[0];
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < n0; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// 3: mul; 1024 elements; x0 4
static void module_3_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *x1 = (float *)p[1];
    float *y0 = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] * x1[i];
}

// 1: add le select; 16 rows of 64; x0 0, x2 2
static void module_1_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 64, *bias = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 64;
        float *y0 = (float *)p[3] + i0 * 64, *y1 = (float *)p[4] + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = x0[i] + bias[i];
            const uint8_t v2 = v1 <= 0.0f;
            const float v3 = v2 ? 0.0f : x2[i];
            y1[i] = v2 ? 0.0f : v1;
            y0[i] = v3;
        }
    }
}

// grad_norm 2.weight: mul reduce_sum; 64 rows of 64; x0 2
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 64;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 64; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm 0.weight: mul reduce_sum; 64 rows of 32; x0 0
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 32;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 32; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm: add sqrt; one number
static void grad_norm_sqrt(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((float *)p[0])[0], x1 = ((float *)p[1])[0], x2 = ((float *)p[2])[0],
        x3 = ((float *)p[3])[0], x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0];
    float *y0 = (float *)p[6];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(0.0f + x0 + x1 + x2 + x3 + x4 + x5);
}

// 3: add tanh; 16 rows of 64; x0 2
static void module_3_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 64, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++)
            y0[i] = rt_tanhf(x0[i] + bias[i]);
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select; 16 elements
static void cross_entropy_predict(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = (int64_t *)p[0], *x1 = (int64_t *)p[1], *x2 = (int64_t *)p[2],
            *x3 = (int64_t *)p[3], *x4 = (int64_t *)p[4], *x5 = (int64_t *)p[5];
        uint8_t *y0 = (uint8_t *)p[6];
        int64_t *y2 = (int64_t *)p[8];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = (v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i]))) ? x4[i] : x5[i];
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// cross_entropy: sub exp reduce_sum log iota eq select; 16 rows of 10; x0 4, x2 labels
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
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 29184},
    {RT_HYPER, RT_F32, "momentum", 0, {0}, .at = 29312, .fill = 0.90000000000000002},
    {RT_STATE, RT_F32, "0.weight.momentum_buffer", 2, {64, 32}, .at = 29440},
    {RT_STATE, RT_F32, "0.bias.momentum_buffer", 1, {64}, .at = 37696},
    {RT_STATE, RT_F32, "2.weight.momentum_buffer", 2, {64, 64}, .at = 38016},
    {RT_STATE, RT_F32, "2.bias.momentum_buffer", 1, {64}, .at = 54464},
    {RT_STATE, RT_F32, "4.weight.momentum_buffer", 2, {10, 64}, .at = 54784},
    {RT_STATE, RT_F32, "4.bias.momentum_buffer", 1, {10}, .at = 57408},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 57536,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 57728,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 57920,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 58112,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\013\000\000\000\000\000\000\000\014\000\000\000\000\000\000\000\015\000\000\000"
    "\000\000\000\000\016\000\000\000\000\000\000\000\017\000\000\000\000\000\000\000"
    "\020\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {16}, .at = 58304,
        .data = "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {16, 32}, .at = 100224},
    {RT_INPUT, RT_I64, "labels", 1, {16}, .at = 87296, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 102592},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 102336},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 102464},
    {RT_GRADIENT, RT_F32, "0.weight", 2, {64, 32}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "0.bias", 1, {64}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "2.weight", 2, {64, 64}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "2.bias", 1, {64}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "4.weight", 2, {10, 64}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "4.bias", 1, {10}, .gradient = 5},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 68160},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {16, 32}, .at = 70848},
    {RT_INPUT, RT_I64, "labels", 1, {16}, .at = 91456, .is_labels = true, .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 2, {16, 10}, .at = 70848},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 59200},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 66880},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 67008},
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
        LIVE(SGD_NEG, 64, 15, 38), LIVE(WORK, 12288, 0, 0), LIVE(WORK_2, 24576, 2, 2),
        LIVE(WORK_3, 12288, 4, 4), LIVE(WORK_4, 8192, 9, 9), LIVE(WORK_5, 512, 11, 11),
        LIVE(WORK_6, 5120, 13, 13), LIVE(WORK_7, 12288, 17, 17), LIVE(WORK_8, 12288, 18, 18),
        LIVE(WORK_9, 32768, 22, 22), LIVE(WORK_10, 24576, 25, 25), LIVE(WORK_11, 12288, 27, 27),
        LIVE(WORK_12, 512, 29, 29), LIVE(WORK_13, 32768, 31, 31), LIVE(WORK_14, 6144, 34, 34),
        LIVE(WORK_15, 512, 36, 36),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_X, 2048, 0, 0), LIVE(F_LABELS, 128, 0, 10), LIVE(F_1_OUT, 4096, 0, 2),
        LIVE(F_3_OUT, 4096, 2, 4), LIVE(F_LOGITS, 640, 4, 12),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 6, 10), LIVE(F_COUNT, 64, 6, 12),
        LIVE(F_CROSS_ENTROPY_SELECT, 128, 6, 7), LIVE(F_BAD_LABEL, 64, 7, 12),
        LIVE(F_CROSS_ENTROPY_MAX, 64, 9, 10), LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 10, 11),
        LIVE(F_LOSS, 64, 11, 12), LIVE(F_WORK, 12288, 0, 0), LIVE(F_WORK_2, 24576, 2, 2),
        LIVE(F_WORK_3, 12288, 4, 4), LIVE(F_WORK_4, 8192, 9, 9), LIVE(F_WORK_5, 512, 11, 11),
        {0}}, (RtLoop[]){{0}});
}

static const RtModel model = {
    .name = "mlp",
    .options = "shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer 'sgd(momentum=0.9)' --march x86-64-v3",
    .plan = "1 rank, arena 102848 bytes, bound 102848",
    .arena_bytes = 102848,
    .n_kernels = 8,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 585728,
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
    .identity = 0xe43b73eea2046be6,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
