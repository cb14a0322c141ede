// Made by shardcc. Changes here are lost when it is made again.
//   shardcc lstm.onnx --march x86-64-v3
//   plan: 1 rank, arena 370624 bytes, bound 370624
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
static const int64_t I1 = 155328, A2 = 364416, A5 = 339776, T6 = 155328, A7 = 302848, A9 = 155328,
    A11 = 156160, A13 = 229120, A15 = 266816, A16 = 279232, T17 = 155328, A18 = 276096,
    A19 = 302976, A21 = 229120, T22 = 155328, A23 = 266048, A25 = 155328, A27 = 156160,
    A29 = 229120, A30 = 303744, A31 = 316160, T32 = 155328, A33 = 313024, A34 = 263360,
    T35 = 155328, A36 = 253696, A39 = 266048, A40 = 302976;
static const int64_t W3 = 0, W4 = 6464, W8 = 31104, W10 = 31936, W12 = 32768, C14 = 69696,
    W20 = 69824, W24 = 106752, W26 = 107584, W28 = 108416, W37 = 145344, W38 = 155008;

static RtRows emb_predict, rnn_predict, rnn_add_predict, rnn_tanh_predict, out_predict;

// rnn.{}, 12 times
static void block1_predict(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "rnn: dot f32[4,4,48]", 7.37e4, 4.07e4, 3.07e3);
    rt_dot(rt_with(rt, m + T17), 1, m + A18, m + A15 - 768 + layer * 768, m + A13);
    RT_AT(rt, "rnn: add f32[4,4,48]", 768, 6.14e3, 3.07e3);
    rt_rows(rt, rnn_predict, (char *[]){m + A7 + layer * 3072, m + A18, m + A18}, 768, 768);
    RT_AT(rt, "rnn: mul tanh mul add mul mul tanh mul add ... f32[4,48]", 1.69e4, 5.38e3, 1.54e3);
    rt_rows(rt, rnn_tanh_predict, (char *[]){m + A18 + 384, m + A16 + (layer + 1) % 2 * 768,
        m + A18, m + A18 + 576, m + A18 + 192, m + A16 + layer % 2 * 768, m + A15 + layer * 768},
        4, 3456);
}

// rnn.{}, 12 times
static void block2_predict(Rt *rt, char *m, int64_t layer)
{
    RT_AT(rt, "rnn: dot f32[4,4,48]", 7.37e4, 4.07e4, 3.07e3);
    rt_dot(rt_with(rt, m + T32), 1, m + A33, m + A30 - 768 + layer * 768, m + A29);
    RT_AT(rt, "rnn: add f32[4,4,48]", 768, 6.14e3, 3.07e3);
    rt_rows(rt, rnn_predict, (char *[]){m + A23 + layer * 3072, m + A33, m + A33}, 768, 768);
    RT_AT(rt, "rnn: mul tanh mul add mul mul tanh mul add ... f32[4,48]", 1.69e4, 5.38e3, 1.54e3);
    rt_rows(rt, rnn_tanh_predict, (char *[]){m + A33 + 384, m + A31 + (layer + 1) % 2 * 768,
        m + A33, m + A33 + 576, m + A33 + 192, m + A31 + layer % 2 * 768, m + A30 + layer * 768},
        4, 3456);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "emb: lt add select i64[4,12]", 144, 384, 384);
    rt_rows(rt, emb_predict, (char *[]){m + I1, m + I1}, 48, 144);
    RT_AT(rt, "emb: gather f32[4,12,32]", 0, 1.27e4, 6.14e3);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 50, .index = 48, .inner = 32, .whole = 50}, m + A2, m + W3, m + I1);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + A5, m + W4);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + A5 + 6144, m + W4 + 18432);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + A5 + 12288, m + W4 + 6144);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + A5 + 18432, m + W4 + 12288);
    RT_AT(rt, "rnn: dot f32[12,4,4,48]", 5.9e5, 6.76e4, 3.69e4);
    rt_dot(rt_with(rt, m + T6), 0, m + A7, m + A2, m + A5);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A9, m + W8);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A9 + 192, m + W8 + 576);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A9 + 384, m + W8 + 192);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A9 + 576, m + W8 + 384);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A11, m + W10);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A11 + 192, m + W10 + 576);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A11 + 384, m + W10 + 192);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A11 + 576, m + W10 + 384);
    RT_AT(rt, "rnn: add f32[4,48]", 192, 1.54e3, 768);
    rt_rows(rt, rnn_predict, (char *[]){m + A9, m + A11, m + A9}, 192, 192);
    RT_AT(rt, "rnn: add f32[12,4,4,48]", 9.22e3, 3.76e4, 3.69e4);
    rt_rows(rt, rnn_add_predict, (char *[]){m + A7, m + A9, m + A7}, 48, 9216);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A13, m + W12);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A13 + 9216, m + W12 + 27648);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A13 + 18432, m + W12 + 9216);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A13 + 27648, m + W12 + 18432);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        m + A15 - 768, m + C14);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        m + A16 + 768, m + C14);
    for (int64_t layer = 0; layer < 12; layer++)
        block1_predict(rt, m, layer);
    for (int64_t layer = 0; layer < 12; layer++) {
        RT_AT(rt, "rnn: copy f32[1,4,48]", 0, 1.54e3, 768);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {1},
            .y_stride = {1}}, m + A19 + layer * 768, m + A15 + layer * 768);
    }
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A21, m + W20);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A21 + 9216, m + W20 + 27648);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A21 + 18432, m + W20 + 9216);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A21 + 27648, m + W20 + 18432);
    RT_AT(rt, "rnn: dot f32[12,4,4,48]", 8.85e5, 8.29e4, 3.69e4);
    rt_dot(rt_with(rt, m + T22), 2, m + A23, m + A19, m + A21);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A25, m + W24);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A25 + 192, m + W24 + 576);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A25 + 384, m + W24 + 192);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A25 + 576, m + W24 + 384);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A27, m + W26);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A27 + 192, m + W26 + 576);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A27 + 384, m + W26 + 192);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + A27 + 576, m + W26 + 384);
    RT_AT(rt, "rnn: add f32[4,48]", 192, 1.54e3, 768);
    rt_rows(rt, rnn_predict, (char *[]){m + A25, m + A27, m + A25}, 192, 192);
    RT_AT(rt, "rnn: add f32[12,4,4,48]", 9.22e3, 3.76e4, 3.69e4);
    rt_rows(rt, rnn_add_predict, (char *[]){m + A23, m + A25, m + A23}, 48, 9216);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A29, m + W28);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A29 + 9216, m + W28 + 27648);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A29 + 18432, m + W28 + 9216);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + A29 + 27648, m + W28 + 18432);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        m + A30 - 768, m + C14);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        m + A31 + 768, m + C14);
    for (int64_t layer = 0; layer < 12; layer++)
        block2_predict(rt, m, layer);
    for (int64_t layer = 0; layer < 12; layer++) {
        RT_AT(rt, "rnn: copy f32[1,4,48]", 0, 1.54e3, 768);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {1},
            .y_stride = {1}}, m + A34 + layer * 768, m + A30 + layer * 768);
    }
    RT_AT(rt, "out: dot f32[4,12,50]", 2.3e5, 2.84e4, 9.6e3);
    rt_dot(rt_with(rt, m + T35), 3, m + A36, m + A34, m + W37);
    RT_AT(rt, "out: add f32[4,12,50]", 2.4e3, 9.8e3, 9.6e3);
    rt_rows(rt, out_predict, (char *[]){m + A36, m + W38, m + A36}, 48, 2400);
}

// emb: lt add select; 48 elements
// x0 input_ids i64[4,12] -> y0 i64[4,12]
static void emb_predict(char *const *p, int64_t first, int64_t last)
{
    const int64_t *x0 = (const int64_t *)p[0];
    int64_t *y0 = (int64_t *)p[1];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] < 0 ? (int64_t)rt_add_int(x0[i], 50) : x0[i];
}

// rnn: add
static void rnn_predict(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (const float *)p[0];
    const float *x1 = (const float *)p[1];
    float *y0 = (float *)p[2];

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] + x1[i];
}

// rnn: add; 48 rows of 192
// x0 f32[12,4,4,48], x1 f32[4,48] -> y0 f32[12,4,4,48]
static void rnn_add_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 192;
        const float *x1 = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 192;
        RT_SIMD
        for (int64_t i = 0; i < 192; i++)
            y0[i] = x0[i] + x1[i];
    }
}

// rnn: mul tanh add; 4 rows of 48
// x0 f32[4,4,48], x1 f32[4,48], x2 f32[4,4,48], x3 f32[4,4,48], x4 f32[4,4,48] -> y0 f32[4,48],
//   y1 f32[4,48]
static void rnn_tanh_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 192;
        const float *x1 = (const float *)p[1] + i0 * 48;
        const float *x2 = (const float *)p[2] + i0 * 192;
        const float *x3 = (const float *)p[3] + i0 * 192;
        const float *x4 = (const float *)p[4] + i0 * 192;
        float *y0 = (float *)p[5] + i0 * 48;
        float *y1 = (float *)p[6] + i0 * 48;
        RT_SIMD
        for (int64_t i = 0; i < 48; i++) {
            const float v1 = (0.5f + 0.5f * rt_tanhf(0.5f * x0[i])) * x1[i] +
                (0.5f + 0.5f * rt_tanhf(0.5f * x2[i])) * rt_tanhf(x3[i]);
            y1[i] = (0.5f + 0.5f * rt_tanhf(0.5f * x4[i])) * rt_tanhf(v1);
            y0[i] = v1;
        }
    }
}

// out: add; 48 rows of 50
// x0 f32[4,12,50], bias f32[50] -> y0 f32[4,12,50]
static void out_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (const float *)p[0] + i0 * 50;
        const float *bias = (const float *)p[1];
        float *y0 = (float *)p[2] + i0 * 50;
        RT_SIMD
        for (int64_t i = 0; i < 50; i++)
            y0[i] = x0[i] + bias[i];
    }
}

static void init(Rt *rt)
{
    rt_dot_init(rt, 0, &(RtDot){.m = 12, .n = 192, .k = 32, .a_m = 32, .a_k = 1, .b_k = 1,
        .b_n = 32, .y_m = 768, .y_n = 1, .n_batch = 1, .batch = {4}, .a_batch = {384},
        .b_batch = {0}, .y_batch = {192}, .type = RT_F32});  // rnn
    rt_dot_init(rt, 1, &(RtDot){.m = 4, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 192, .y_n = 1, .type = RT_F32});  // rnn
    rt_dot_init(rt, 2, &(RtDot){.m = 48, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 192, .y_n = 1, .type = RT_F32});  // rnn
    rt_dot_init(rt, 3, &(RtDot){.m = 12, .n = 50, .k = 48, .a_m = 192, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 50, .y_n = 1, .n_batch = 1, .batch = {4}, .a_batch = {48},
        .b_batch = {0}, .y_batch = {600}, .type = RT_F32});  // out
}

static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "emb.weight", .rank = 2, .dim = {50, 32}, .offset = 0,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "rnn.weight_ih_l0", .rank = 2, .dim = {192, 32}, .offset = 6464,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "rnn.bias_ih_l0", .rank = 1, .dim = {192}, .offset = 31104,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "rnn.bias_hh_l0", .rank = 1, .dim = {192}, .offset = 31936,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "rnn.weight_hh_l0", .rank = 2, .dim = {192, 48}, .offset = 32768,
        .init = RT_INIT_NORMAL},
    {RT_CONSTANT, RT_F32, "", .offset = 69696, .data = "\000\000\000\000"},
    {RT_PARAMETER, RT_F32, "rnn.weight_ih_l1", .rank = 2, .dim = {192, 48}, .offset = 69824,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "rnn.bias_ih_l1", .rank = 1, .dim = {192}, .offset = 106752,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "rnn.bias_hh_l1", .rank = 1, .dim = {192}, .offset = 107584,
        .init = RT_INIT_ZERO},
    {RT_PARAMETER, RT_F32, "rnn.weight_hh_l1", .rank = 2, .dim = {192, 48}, .offset = 108416,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "out.weight", .rank = 2, .dim = {50, 48}, .offset = 145344,
        .init = RT_INIT_NORMAL},
    {RT_PARAMETER, RT_F32, "out.bias", .rank = 1, .dim = {50}, .offset = 155008,
        .init = RT_INIT_ZERO},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {4, 12}, .offset = 155328, .least = -50,
        .bound = 50},
    {RT_OUTPUT, RT_F32, "logits", .rank = 3, .dim = {4, 12, 50}, .offset = 253696},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(I1, 384, 0, 1), LIVE(A2, 6144, 1, 6), LIVE(A5, 24576, 2, 6), LIVE(A7, 36864, 6, 27),
        LIVE(A9, 768, 7, 16), LIVE(A11, 768, 11, 15), LIVE(A13, 36864, 17, 27),
        LIVE(A18, 3072, 24, 26), LIVE(A16, 1536, 22, 27), LIVE(A39, 9984, 21, 30),
        LIVE(A19, 9216, 28, 35), LIVE(A21, 36864, 31, 35), LIVE(A23, 36864, 35, 56),
        LIVE(A25, 768, 36, 45), LIVE(A27, 768, 40, 44), LIVE(A29, 36864, 46, 56),
        LIVE(A33, 3072, 53, 55), LIVE(A31, 1536, 51, 56), LIVE(A40, 9984, 50, 59),
        LIVE(A34, 9216, 57, 60), LIVE(A36, 9600, 60, 62), LIVE(T6, 147456, 6, 6),
        LIVE(T17, 73728, 24, 24), LIVE(T22, 73728, 35, 35), LIVE(T32, 73728, 53, 53),
        LIVE(T35, 98304, 60, 60),
        {0}}, (RtLoop[]){{23, 27, 12, {0}}, {28, 30, 12, {0}}, {52, 56, 12, {0}}, {57, 59, 12,
            {0}}, {0}});
}

static const RtModel model = {
    .name = "lstm",
    .options = "shardcc lstm.onnx --march x86-64-v3",
    .plan = "1 rank, arena 370624 bytes, bound 370624",
    .arena_bytes = 370624,
    .n_kernels = 4,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 3474432,
    .vocabulary = 50,
    .redzone = 64,
    .live_ranges = live_ranges,
    .tensors = tensors,
    .n_tensors = sizeof tensors / sizeof *tensors,
    .predict = predict_tensors,
    .n_predict = sizeof predict_tensors / sizeof *predict_tensors,
    .init = init,
    .forward = forward,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
