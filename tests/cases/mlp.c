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

// `m` is the arena. A place in it is an offset with a name: W parameter, B buffer, S state,
// I input, H number set by the trainer, C constant, Z accumulator, A any other value,
// T workspace of one call. For repeated layers it is the place of layer 0.
static const int64_t T1 = 58496, A2 = 96064, I3 = 100224, A6 = 87488, T7 = 58496, A8 = 83136,
    A11 = 73728, T12 = 58496, A13 = 77888, I16 = 87296, A22 = 66752, A23 = 102336, A24 = 58496,
    A25 = 66880, A26 = 102464, T27 = 58496, A28 = 67008, A29 = 58496, A30 = 58624, T31 = 58752,
    A32 = 102592, T33 = 58496, A34 = 63680, A35 = 58496, A37 = 58624, T41 = 58752, A42 = 91904,
    T43 = 61376, A44 = 58752, A45 = 102720, T47 = 58752, A48 = 91584, A49 = 58752, T51 = 58880,
    A52 = 87680, T53 = 75328, A54 = 58880, A55 = 75904, T56 = 75328, A57 = 91712, T59 = 58880,
    A60 = 91840, A61 = 58880, T63 = 67264, A64 = 59008, A65 = 67840, T66 = 67264, A67 = 68160;
static const int64_t T69 = 58496, A70 = 83136, I71 = 70848, T72 = 58496, A73 = 87296, T74 = 58496,
    A75 = 70848, I76 = 91456, A82 = 66752, A83 = 66880, A84 = 58496, A85 = 67008, T86 = 58496,
    A87 = 67136, A88 = 59072, T89 = 58496, A90 = 59200;
static const int64_t W4 = 0, W5 = 8256, W9 = 8576, W10 = 25024, W14 = 25344, W15 = 27968,
    C17 = 28096, C18 = 28288, C19 = 28480, C20 = 28672, C21 = 28864, H36 = 29056, H38 = 29184,
    S39 = 57408, H40 = 29312, S46 = 54784, S50 = 54464, S58 = 38016, S62 = 37696, S68 = 29440,
    C77 = 57536, C78 = 57728, C79 = 57920, C80 = 58112, C81 = 58304;

static RtRows module_1_forward, module_3_backward, module_4_forward, cross_entropy_forward,
    cross_entropy_mod_forward, cross_entropy_log_forward, cross_entropy_backward, grad_norm,
    sgd_scalars, sgd, grad_norm_reduce_sum, module_3_mul_backward, grad_norm_reduce_sum_2,
    module_1_backward, grad_norm_reduce_sum_3, grad_norm_reduce_sum_4, grad_norm_sqrt,
    module_3_predict, cross_entropy_predict, cross_entropy_log_predict;

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.43e4, 4.1e3);
    rt_dot(rt_with(rt, m + T1), 0, m + A2, m + I3, m + W4);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 8.45e3, 4.1e3);
    rt_rows(rt, module_1_forward, (char *[]){m + A2, m + W5, m + A6}, 16, 3072);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(rt_with(rt, m + T7), 1, m + A8, m + A6, m + W9);
    RT_AT(rt, "3: add tanh mul sub f32[16,64]", 1.84e4, 8.45e3, 8.19e3);
    rt_rows(rt, module_3_backward, (char *[]){m + A8, m + W10, m + A8, m + A11}, 16, 4096);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 7.3e3, 640);
    rt_dot(rt_with(rt, m + T12), 2, m + A13, m + A8, m + W14);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    rt_rows(rt, module_4_forward, (char *[]){m + A13, m + W15, m + A13}, 16, 160);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]", 148, 920, 152);
    rt_rows(rt, cross_entropy_forward, (char *[]){m + I16, m + C17, m + C18, m + C19, m + C20,
        m + C21, m + A22, m + A23, m + A24, m + A25}, 1, 160);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 136, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + A26, m + A24);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A26, m + A26}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 704, 64);
    rt_reduce(rt_with(rt, m + T27), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {16, 10}, .stride = {10, 1}, .reduced = {0, 1}}, m + A28, m + A13);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log iota eq ... f32[16]", 2.61e3, 976, 768);
    rt_rows(rt, cross_entropy_log_forward, (char *[]){m + A28, m + A13, m + I16, m + A22, m + A13,
        m + A29, m + A30}, 16, 1760);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 68, 4);
    rt_reduce(rt_with(rt, m + T31), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {16}, .stride = {1}, .reduced = {1}}, m + A32, m + A30);
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select ... f32[16,10]", 736, 852, 640);
    rt_rows(rt, cross_entropy_backward, (char *[]){m + A22, m + A25, m + A29, m + A13, m + I16,
        m + A13}, 16, 1280);
    RT_AT(rt, "4: reduce_sum f32[10]", 160, 680, 40);
    rt_reduce(rt_with(rt, m + T33), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {16, 10}, .stride = {10, 1}, .reduced = {1, 0}}, m + A34, m + A13);
    rt_gradient(rt, 0, 0, m + A34);  // 4.bias
    RT_AT(rt, "grad_norm 4.bias: mul reduce_sum f32[]", 20, 44, 4);
    rt_rows(rt, grad_norm, (char *[]){m + A34, m + A35}, 1, 20);
    RT_AT(rt, "sgd: neg f32[]", 1, 8, 4);
    rt_rows(rt, sgd_scalars, (char *[]){m + H36, m + A37}, 1, 1);
    RT_AT(rt, "sgd 4.bias: mul add mul add mul add f32[10]", 60, 132, 80);
    rt_rows(rt, sgd, (char *[]){m + W15, m + H38, m + A34, m + S39, m + H40, m + A37}, 10, 60);
    RT_AT(rt, "4: dot f32[16,64]", 2.05e4, 7.3e3, 4.1e3);
    rt_dot(rt_with(rt, m + T41), 3, m + A42, m + A13, m + W14);
    RT_AT(rt, "4: dot f32[10,64]", 2.05e4, 7.3e3, 2.56e3);
    rt_dot(rt_with(rt, m + T43), 4, m + A44, m + A8, m + A13);
    rt_gradient(rt, 1, 0, m + A44);  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[]", 1.28e3, 2.56e3, 4);
    rt_rows(rt, grad_norm_reduce_sum, (char *[]){m + A44, m + A45}, 1, 1280);
    RT_AT(rt, "sgd 4.weight: mul add mul add mul add f32[10,64]", 3.84e3, 7.69e3, 5.12e3);
    rt_rows(rt, sgd, (char *[]){m + W14, m + H38, m + A44, m + S46, m + H40, m + A37}, 640, 3840);
    RT_AT(rt, "3: mul f32[16,64]", 1.02e3, 8.19e3, 4.1e3);
    rt_rows(rt, module_3_mul_backward, (char *[]){m + A42, m + A11, m + A42}, 1024, 1024);
    RT_AT(rt, "2: reduce_sum f32[64]", 1.02e3, 4.35e3, 256);
    rt_reduce(rt_with(rt, m + T47), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {16, 64}, .stride = {64, 1}, .reduced = {1, 0}}, m + A48, m + A42);
    rt_gradient(rt, 2, 0, m + A48);  // 2.bias
    RT_AT(rt, "grad_norm 2.bias: mul reduce_sum f32[]", 128, 260, 4);
    rt_rows(rt, grad_norm_reduce_sum_2, (char *[]){m + A48, m + A49}, 1, 128);
    RT_AT(rt, "sgd 2.bias: mul add mul add mul add f32[64]", 384, 780, 512);
    rt_rows(rt, sgd, (char *[]){m + W10, m + H38, m + A48, m + S50, m + H40, m + A37}, 64, 384);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(rt_with(rt, m + T51), 5, m + A52, m + A42, m + W9);
    RT_AT(rt, "1: add le select select f32[16,64]", 4.1e3, 8.45e3, 8.19e3);
    rt_rows(rt, module_1_backward, (char *[]){m + A2, m + W5, m + A52, m + A2, m + A52}, 16, 4096);
    RT_AT(rt, "2: dot f32[64,64]", 1.31e5, 2.46e4, 1.64e4);
    rt_dot(rt_with(rt, m + T53), 6, m + A54, m + A52, m + A42);
    rt_gradient(rt, 3, 0, m + A54);  // 2.weight
    RT_AT(rt, "grad_norm 2.weight: mul reduce_sum f32[64]", 8.19e3, 1.66e4, 256);
    rt_rows(rt, grad_norm_reduce_sum_3, (char *[]){m + A54, m + A55}, 64, 8192);
    RT_AT(rt, "grad_norm 2.weight: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(rt_with(rt, m + T56), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A57, m + A55);
    RT_AT(rt, "sgd 2.weight: mul add mul add mul add f32[64,64]", 2.46e4, 4.92e4, 3.28e4);
    rt_rows(rt, sgd, (char *[]){m + W9, m + H38, m + A54, m + S58, m + H40, m + A37}, 4096, 24576);
    RT_AT(rt, "0: reduce_sum f32[64]", 1.02e3, 4.35e3, 256);
    rt_reduce(rt_with(rt, m + T59), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 2,
        .dim = {16, 64}, .stride = {64, 1}, .reduced = {1, 0}}, m + A60, m + A2);
    rt_gradient(rt, 4, 0, m + A60);  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]", 128, 260, 4);
    rt_rows(rt, grad_norm_reduce_sum_2, (char *[]){m + A60, m + A61}, 1, 128);
    RT_AT(rt, "sgd 0.bias: mul add mul add mul add f32[64]", 384, 780, 512);
    rt_rows(rt, sgd, (char *[]){m + W5, m + H38, m + A60, m + S62, m + H40, m + A37}, 64, 384);
    RT_AT(rt, "0: dot f32[64,32]", 6.55e4, 1.43e4, 8.19e3);
    rt_dot(rt_with(rt, m + T63), 7, m + A64, m + I3, m + A2);
    rt_gradient(rt, 5, 0, m + A64);  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum f32[64]", 4.1e3, 8.45e3, 256);
    rt_rows(rt, grad_norm_reduce_sum_4, (char *[]){m + A64, m + A65}, 64, 4096);
    RT_AT(rt, "grad_norm 0.weight: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(rt_with(rt, m + T66), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {64}, .stride = {1}, .reduced = {1}}, m + A67, m + A65);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4);
    rt_rows(rt, grad_norm_sqrt, (char *[]){m + A67, m + A61, m + A57, m + A49, m + A45, m + A35,
        m + A67}, 1, 7);
    RT_AT(rt, "sgd 0.weight: mul add mul add mul add f32[64,32]", 1.23e4, 2.46e4, 1.64e4);
    rt_rows(rt, sgd, (char *[]){m + W4, m + H38, m + A64, m + S68, m + H40, m + A37}, 2048, 12288);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]", 6.55e4, 1.43e4, 4.1e3);
    rt_dot(rt_with(rt, m + T69), 0, m + A70, m + I71, m + W4);
    RT_AT(rt, "1: add le select f32[16,64]", 3.07e3, 4.35e3, 4.1e3);
    rt_rows(rt, module_1_forward, (char *[]){m + A70, m + W5, m + A70}, 16, 3072);
    RT_AT(rt, "2: dot f32[16,64]", 1.31e5, 2.46e4, 4.1e3);
    rt_dot(rt_with(rt, m + T72), 1, m + A73, m + A70, m + W9);
    RT_AT(rt, "3: add tanh f32[16,64]", 1.64e4, 4.35e3, 4.1e3);
    rt_rows(rt, module_3_predict, (char *[]){m + A73, m + W10, m + A73}, 16, 2048);
    RT_AT(rt, "4: dot f32[16,10]", 2.05e4, 7.3e3, 640);
    rt_dot(rt_with(rt, m + T74), 2, m + A75, m + A73, m + W14);
    RT_AT(rt, "4: add f32[16,10]", 160, 680, 640);
    rt_rows(rt, module_4_forward, (char *[]){m + A75, m + W15, m + A75}, 16, 160);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[16]", 144, 916, 148);
    rt_rows(rt, cross_entropy_predict, (char *[]){m + I76, m + C77, m + C78, m + C79, m + C80,
        m + C81, m + A82, m + A83, m + A84}, 1, 144);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 16, 136, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {16}, .stride = {1},
        .reduced = {1}}, m + A85, m + A84);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    rt_rows(rt, cross_entropy_mod_forward, (char *[]){m + A85, m + A85}, 1, 1);
    RT_AT(rt, "cross_entropy: reduce_max f32[16]", 160, 704, 64);
    rt_reduce(rt_with(rt, m + T86), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {16, 10}, .stride = {10, 1}, .reduced = {0, 1}}, m + A87, m + A75);
    RT_AT(rt, "cross_entropy: floor sub exp reduce_sum log iota eq ... f32[16]", 2.61e3, 912, 64);
    rt_rows(rt, cross_entropy_log_predict, (char *[]){m + A87, m + A75, m + I76, m + A82, m + A88},
        16, 1760);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 16, 68, 4);
    rt_reduce(rt_with(rt, m + T89), &(RtReduce){.op = RT_SUM, .type = RT_F32, .rank = 1,
        .dim = {16}, .stride = {1}, .reduced = {1}}, m + A90, m + A88);
}

// 1: add le select; 16 rows of 64
// x0 0 f32[16,64], bias 0.bias f32[64] -> y0 f32[16,64]
static void module_1_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 64;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64;
        RT_SIMD
        for (int64_t i = 0; i < 64; i++) {
            const float v1 = x0[i] + bias[i];
            y0[i] = v1 <= 0.0f ? 0.0f : v1;
        }
    }
}

// 3: add tanh mul sub; 16 rows of 64
// x0 2 f32[16,64], bias 2.bias f32[64] -> y0 f32[16,64], y1 f32[16,64]
static void module_3_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 64;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64;
        float *y1 = (float *)p[3] + i0 * 64;
        RT_SIMD
        for (int64_t i = 0; i < 64; i++) {
            const float v1 = rt_tanhf(x0[i] + bias[i]);
            y1[i] = 1.0f - v1 * v1;
            y0[i] = v1;
        }
    }
}

// 4: add; 16 rows of 10
// x0 f32[16,10], bias f32[10] -> y0 f32[16,10]
static void module_4_forward(char *const *p, int64_t first, int64_t last)
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

// cross_entropy: eq not cast reduce_sum lt le or and select div; 16 elements
// x0 labels i64[16], x1 constant i64[16], x2 constant i64[16], x3 constant i64[16],
//   x4 constant i64[16], x5 constant i64[16] -> y0 bool[16], y1 f32[], y2 i64[16], y3 f32[]
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
        for (int64_t i = 0; i < 16; i++) {
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
        y0[0] = (int64_t)rt_mod_int(x0, 17);
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 16 rows of 10
// x0 f32[16], x1 4 f32[16,10], x2 labels i64[16], x3 bool[16] -> y0 f32[16,10], y1 f32[16],
//   y2 f32[16]
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

// cross_entropy: select neg div mul iota eq add; 16 rows of 10
// x0 bool[16], x1 f32[], x2 f32[16], x3 f32[16,10], x4 labels i64[16] -> y0 f32[16,10]
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

// grad_norm 4.bias: mul reduce_sum; 10 elements
// x0 4 f32[10] -> y0 f32[]
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

// sgd: neg; one number
// lr f32[] -> y0 f32[]
static void sgd_scalars(char *const *p, int64_t first, int64_t last)
{
    const float lr = ((const float *)p[0])[0];
    float *y0 = (float *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[0] = -lr;
}

// sgd 4.bias, 4.weight, 2.bias and 3 more: mul add
// param, weight_decay f32[], x2, momentum_buffer, momentum f32[], x5 sgd f32[]
//   -> next_momentum_buffer, next_param
static void sgd(char *const *p, int64_t first, int64_t last)
{
    const float *param = (const float *)p[0];
    const float weight_decay = ((const float *)p[1])[0];
    const float *x2 = (const float *)p[2];
    const float *momentum_buffer = (const float *)p[3];
    const float momentum = ((const float *)p[4])[0];
    const float x5 = ((const float *)p[5])[0];
    float *next_momentum_buffer = (float *)p[3];
    float *next_param = (float *)p[0];

    RT_SIMD
    for (int64_t i = first; i < last; i++) {
        const float v1 = momentum_buffer[i] * momentum + (x2[i] + param[i] * weight_decay);
        next_param[i] = param[i] + v1 * x5;
        next_momentum_buffer[i] = v1;
    }
}

// grad_norm 4.weight: mul reduce_sum; 640 elements
// x0 4 f32[10,64] -> y0 f32[]
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 640; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// 3: mul; 1024 elements
// x0 4 f32[16,64], x1 f32[16,64] -> y0 f32[16,64]
static void module_3_mul_backward(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *x1 = (const float *)p[1];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] * x1[i];
}

// grad_norm 2.bias, 0.bias: mul reduce_sum; 64 elements
// x0 f32[64] -> y0 f32[]
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0];
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 64; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// 1: add le select; 16 rows of 64
// x0 0 f32[16,64], bias 0.bias f32[64], x2 2 f32[16,64] -> y0 f32[16,64], y1 f32[16,64]
static void module_1_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 64;
        const float *bias = (const float *)p[1];
        const float *x2 = (const float *)p[2] + i0 * 64;
        float *y0 = (float *)p[3] + i0 * 64;
        float *y1 = (float *)p[4] + i0 * 64;
        RT_SIMD
        for (int64_t i = 0; i < 64; i++) {
            const float v1 = x0[i] + bias[i];
            const uint8_t v2 = v1 <= 0.0f;
            const float v3 = v2 ? 0.0f : x2[i];
            y1[i] = v2 ? 0.0f : v1;
            y0[i] = v3;
        }
    }
}

// grad_norm 2.weight: mul reduce_sum; 64 rows of 64
// x0 2 f32[64,64] -> y0 f32[64]
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 64;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 64; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm 0.weight: mul reduce_sum; 64 rows of 32
// x0 0 f32[64,32] -> y0 f32[64]
static void grad_norm_reduce_sum_4(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (const float *)p[0] + i0 * 32;
        RT_SIMD_SUM(s0)
        for (int64_t i = 0; i < 32; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm: add sqrt; one number
// x0 grad_norm 0.weight f32[], x1 grad_norm 0.bias f32[], x2 grad_norm 2.weight f32[], x3 grad_norm
//   2.bias f32[], x4 grad_norm 4.weight f32[], x5 grad_norm 4.bias f32[] -> y0 f32[]
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

// 3: add tanh; 16 rows of 64
// x0 2 f32[16,64], bias 2.bias f32[64] -> y0 f32[16,64]
static void module_3_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 64;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 64;
        RT_SIMD
        for (int64_t i = 0; i < 64; i++)
            y0[i] = rt_tanhf(x0[i] + bias[i]);
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select; 16 elements
// x0 labels i64[16], x1 constant i64[16], x2 constant i64[16], x3 constant i64[16],
//   x4 constant i64[16], x5 constant i64[16] -> y0 bool[16], y1 f32[], y2 i64[16]
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
        for (int64_t i = 0; i < 16; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            y2[i] = v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i])) ? x4[i] : x5[i];
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// cross_entropy: floor sub exp reduce_sum log iota eq select; 16 rows of 10
// x0 f32[16], x1 4 f32[16,10], x2 labels i64[16], x3 bool[16] -> y0 f32[16]
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

static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "0.weight", .rank = 2, .dim = {64, 32}, .offset = 0,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "0.bias", .rank = 1, .dim = {64}, .offset = 8256, .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "2.weight", .rank = 2, .dim = {64, 64}, .offset = 8576,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "2.bias", .rank = 1, .dim = {64}, .offset = 25024,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "4.weight", .rank = 2, .dim = {10, 64}, .offset = 25344,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "4.bias", .rank = 1, .dim = {10}, .offset = 27968,
        .init = RT_INIT_ZERO},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 28096,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 28288,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 28480,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 28672,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\013\000\000\000\000\000\000\000\014\000\000\000\000\000\000\000\015\000\000\000"
    "\000\000\000\000\016\000\000\000\000\000\000\000\017\000\000\000\000\000\000\000"
    "\020\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 28864,
        .data = "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000"},
    {RT_HYPER, RT_F32, "lr", .offset = 29056, .fill = 0.001},
    {RT_HYPER, RT_F32, "weight_decay", .offset = 29184},
    {RT_HYPER, RT_F32, "momentum", .offset = 29312, .fill = 0.90000000000000002},
    {RT_STATE, RT_F32, "0.weight.momentum_buffer", .rank = 2, .dim = {64, 32}, .offset = 29440},
    {RT_STATE, RT_F32, "0.bias.momentum_buffer", .rank = 1, .dim = {64}, .offset = 37696},
    {RT_STATE, RT_F32, "2.weight.momentum_buffer", .rank = 2, .dim = {64, 64}, .offset = 38016},
    {RT_STATE, RT_F32, "2.bias.momentum_buffer", .rank = 1, .dim = {64}, .offset = 54464},
    {RT_STATE, RT_F32, "4.weight.momentum_buffer", .rank = 2, .dim = {10, 64}, .offset = 54784},
    {RT_STATE, RT_F32, "4.bias.momentum_buffer", .rank = 1, .dim = {10}, .offset = 57408},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 57536,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 57728,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 57920,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 58112,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\013\000\000\000\000\000\000\000\014\000\000\000\000\000\000\000\015\000\000\000"
    "\000\000\000\000\016\000\000\000\000\000\000\000\017\000\000\000\000\000\000\000"
    "\020\000\000\000\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", .rank = 1, .dim = {16}, .offset = 58304,
        .data = "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000"
    "\000\000\000\000\021\000\000\000\000\000\000\000\021\000\000\000\000\000\000\000"
    "\021\000\000\000\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "x", .rank = 2, .dim = {16, 32}, .offset = 100224},
    {RT_INPUT, RT_I64, "labels", .rank = 1, .dim = {16}, .offset = 87296},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 102592},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 102336},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 102464},
    {RT_GRADIENT, RT_F32, "0.weight", .rank = 2, .dim = {64, 32}, .gradient = 5},
    {RT_GRADIENT, RT_F32, "0.bias", .rank = 1, .dim = {64}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "2.weight", .rank = 2, .dim = {64, 64}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "2.bias", .rank = 1, .dim = {64}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "4.weight", .rank = 2, .dim = {10, 64}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "4.bias", .rank = 1, .dim = {10}, .gradient = 0},
    {RT_GRAD_NORM, RT_F32, "grad_norm", .offset = 68160},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "x", .rank = 2, .dim = {16, 32}, .offset = 70848},
    {RT_INPUT, RT_I64, "labels", .rank = 1, .dim = {16}, .offset = 91456},
    {RT_OUTPUT, RT_F32, "logits", .rank = 2, .dim = {16, 10}, .offset = 70848},
    {RT_LOSS_SUM, RT_F32, "loss", .offset = 59200},
    {RT_LOSS_COUNT, RT_F32, "count", .offset = 66880},
    {RT_BAD_LABEL, RT_I64, "bad_label", .offset = 67008},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(I3, 2048, 0, 34), LIVE(I16, 128, 0, 12), LIVE(A2, 4096, 0, 34), LIVE(A6, 4096, 1, 2),
        LIVE(A8, 4096, 2, 18), LIVE(A13, 640, 4, 18), LIVE(A22, 64, 6, 12), LIVE(A23, 64, 6, 39),
        LIVE(A24, 128, 6, 7), LIVE(A26, 64, 7, 39), LIVE(A28, 64, 9, 10), LIVE(A29, 64, 10, 12),
        LIVE(A30, 64, 10, 11), LIVE(A32, 64, 11, 39), LIVE(A25, 64, 6, 12), LIVE(A34, 64, 13, 16),
        LIVE(A42, 4096, 17, 27), LIVE(A44, 2560, 18, 20), LIVE(A11, 4096, 3, 21),
        LIVE(A48, 256, 22, 24), LIVE(A52, 4096, 25, 27), LIVE(A54, 16384, 27, 30),
        LIVE(A60, 256, 31, 33), LIVE(A64, 8192, 34, 38), LIVE(A65, 256, 35, 36),
        LIVE(A67, 64, 36, 39), LIVE(A61, 64, 32, 37), LIVE(A55, 256, 28, 29), LIVE(A57, 64, 29, 37),
        LIVE(A49, 64, 23, 37), LIVE(A45, 64, 19, 37), LIVE(A35, 64, 14, 37), LIVE(A37, 64, 15, 38),
        LIVE(T1, 12288, 0, 0), LIVE(T7, 24576, 2, 2), LIVE(T12, 12288, 4, 4), LIVE(T27, 8192, 9, 9),
        LIVE(T31, 512, 11, 11), LIVE(T33, 5120, 13, 13), LIVE(T41, 12288, 17, 17),
        LIVE(T43, 12288, 18, 18), LIVE(T47, 32768, 22, 22), LIVE(T51, 24576, 25, 25),
        LIVE(T53, 12288, 27, 27), LIVE(T56, 512, 29, 29), LIVE(T59, 32768, 31, 31),
        LIVE(T63, 6144, 34, 34), LIVE(T66, 512, 36, 36),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(I71, 2048, 0, 0), LIVE(I76, 128, 0, 10), LIVE(A70, 4096, 0, 2), LIVE(A73, 4096, 2, 4),
        LIVE(A75, 640, 4, 12), LIVE(A82, 64, 6, 10), LIVE(A83, 64, 6, 12), LIVE(A84, 128, 6, 7),
        LIVE(A85, 64, 7, 12), LIVE(A87, 64, 9, 10), LIVE(A88, 64, 10, 11), LIVE(A90, 64, 11, 12),
        LIVE(T69, 12288, 0, 0), LIVE(T72, 24576, 2, 2), LIVE(T74, 12288, 4, 4),
        LIVE(T86, 8192, 9, 9), LIVE(T89, 512, 11, 11),
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
