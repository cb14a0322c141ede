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

static const int64_t RNN_LAYERS = 12, B = 4, T = 12, VOCAB = 50, C = 48, EMB_SIZE = 32,
    RNN_SIZE = 48;
// Places in the arena, in bytes from its start `m`; of repeated layers, that of layer 0. OUT is the
// result of a module, D_ a gradient, D_ and IN that of its input. F_ is for forward alone.
static const int64_t EMB_WEIGHT = 0, RNN_WEIGHT_IH_L0 = 6464,
    RNN_BIAS_IH_L0 = 31104, RNN_BIAS_HH_L0 = 31936, RNN_WEIGHT_HH_L0 = 32768,
    CONSTANT = 69696, RNN_WEIGHT_IH_L1 = 69824, RNN_BIAS_IH_L1 = 106752,
    RNN_BIAS_HH_L1 = 107584, RNN_WEIGHT_HH_L1 = 108416, OUT_WEIGHT = 145344,
    OUT_BIAS = 155008;
static const int64_t INPUT_IDS = 155328, EMB_OUT = 364416, RNN_CONCAT = 339776,
    RNN_CONCAT_2 = 155328, RNN_CONCAT_3 = 156160, RNN_CONCAT_4 = 229120,
    RNN_DOT_2 = 276096, RNN_CONCAT_6 = 229120, RNN_CONCAT_7 = 155328,
    RNN_CONCAT_8 = 156160, RNN_CONCAT_9 = 229120, RNN_DOT_4 = 313024, LOGITS = 253696,
    RNN_MUL_3 = 266048, RNN_MUL_4 = 302976, WORK = 155328, WORK_2 = 155328,
    WORK_3 = 155328, WORK_4 = 155328, WORK_5 = 155328;
static const RtStack RNN_DOT = {302848, 3072}, RNN_MUL = {266816, 768},
    RNN_ADD = {279232, 768}, RNN_CONCAT_5 = {302976, 768}, RNN_DOT_3 = {266048, 3072},
    RNN_MUL_2 = {303744, 768}, RNN_ADD_2 = {316160, 768}, RNN_OUT = {263360, 768};
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(stack, layer) (m + (stack).first + (layer) * (stack).step)

static RtRows emb_predict, rnn_predict, rnn_add_predict, rnn_tanh_predict, out_predict;

// rnn.{}, 12 times
static void rnn_predict_layer1(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "rnn: dot f32[4,4,48]", 7.37e4, 4.07e4, 3.07e3);
    rt_dot(WITH(WORK_2), 1, m + RNN_DOT_2, AT(RNN_MUL, layer - 1), m + RNN_CONCAT_4);
    RT_AT(rt, "rnn: add f32[4,4,48]", 768, 6.14e3, 3.07e3);
    RT_ROWS(rt, rnn_predict, 4 * B * C, 1, AT(RNN_DOT, layer), m + RNN_DOT_2, m + RNN_DOT_2);
    RT_AT(rt, "rnn: mul tanh mul add mul mul tanh mul add ... f32[4,48]", 1.69e4, 5.38e3, 1.54e3);
    RT_ROWS(rt, rnn_tanh_predict, 4, 864, m + RNN_DOT_2 + 8 * C, AT(RNN_ADD, (layer + 1) % 2),
        m + RNN_DOT_2, m + RNN_DOT_2 + 12 * C, m + RNN_DOT_2 + 4 * C, AT(RNN_ADD, layer % 2),
        AT(RNN_MUL, layer));
}

// rnn.{}, 12 times
static void rnn_predict_layer2(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "rnn: dot f32[4,4,48]", 7.37e4, 4.07e4, 3.07e3);
    rt_dot(WITH(WORK_4), 1, m + RNN_DOT_4, AT(RNN_MUL_2, layer - 1), m + RNN_CONCAT_9);
    RT_AT(rt, "rnn: add f32[4,4,48]", 768, 6.14e3, 3.07e3);
    RT_ROWS(rt, rnn_predict, 4 * B * RNN_SIZE, 1, AT(RNN_DOT_3, layer), m + RNN_DOT_4,
        m + RNN_DOT_4);
    RT_AT(rt, "rnn: mul tanh mul add mul mul tanh mul add ... f32[4,48]", 1.69e4, 5.38e3, 1.54e3);
    RT_ROWS(rt, rnn_tanh_predict, 4, 864, m + RNN_DOT_4 + 8 * RNN_SIZE,
        AT(RNN_ADD_2, (layer + 1) % 2), m + RNN_DOT_4, m + RNN_DOT_4 + 12 * RNN_SIZE,
        m + RNN_DOT_4 + 4 * RNN_SIZE, AT(RNN_ADD_2, layer % 2), AT(RNN_MUL_2, layer));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "emb: lt add select i64[4,12]", 144, 384, 384);
    RT_ROWS(rt, emb_predict, B * T, 3, m + INPUT_IDS, m + INPUT_IDS);
    RT_AT(rt, "emb: gather f32[4,12,32]", 0, 1.27e4, 6.14e3);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 50, .index = 48, .inner = 32, .whole = 50}, m + EMB_OUT, m + EMB_WEIGHT,
        m + INPUT_IDS);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT, m + RNN_WEIGHT_IH_L0);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT + 4 * C * EMB_SIZE, m + RNN_WEIGHT_IH_L0 + 12 * C * EMB_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT + 8 * C * EMB_SIZE, m + RNN_WEIGHT_IH_L0 + 4 * C * EMB_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48,32]", 0, 1.23e4, 6.14e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {1536}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT + 12 * C * EMB_SIZE, m + RNN_WEIGHT_IH_L0 + 8 * C * EMB_SIZE);
    RT_AT(rt, "rnn: dot f32[12,4,4,48]", 5.9e5, 6.76e4, 3.69e4);
    rt_dot(WITH(WORK), 0, AT(RNN_DOT, 0), m + EMB_OUT, m + RNN_CONCAT);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_2, m + RNN_BIAS_IH_L0);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_2 + 4 * C, m + RNN_BIAS_IH_L0 + 12 * C);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_2 + 8 * C, m + RNN_BIAS_IH_L0 + 4 * C);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_2 + 12 * C, m + RNN_BIAS_IH_L0 + 8 * C);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_3, m + RNN_BIAS_HH_L0);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_3 + 4 * C, m + RNN_BIAS_HH_L0 + 12 * C);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_3 + 8 * C, m + RNN_BIAS_HH_L0 + 4 * C);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_3 + 12 * C, m + RNN_BIAS_HH_L0 + 8 * C);
    RT_AT(rt, "rnn: add f32[4,48]", 192, 1.54e3, 768);
    RT_ROWS(rt, rnn_predict, 4 * C, 1, m + RNN_CONCAT_2, m + RNN_CONCAT_3, m + RNN_CONCAT_2);
    RT_AT(rt, "rnn: add f32[12,4,4,48]", 9.22e3, 3.76e4, 3.69e4);
    RT_ROWS(rt, rnn_add_predict, T * B, 4 * C, AT(RNN_DOT, 0), m + RNN_CONCAT_2, AT(RNN_DOT, 0));
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_4, m + RNN_WEIGHT_HH_L0);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_4 + 4 * C * C, m + RNN_WEIGHT_HH_L0 + 12 * C * C);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_4 + 8 * C * C, m + RNN_WEIGHT_HH_L0 + 4 * C * C);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_4 + 12 * C * C, m + RNN_WEIGHT_HH_L0 + 8 * C * C);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        AT(RNN_MUL, -1), m + CONSTANT);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        AT(RNN_ADD, 1), m + CONSTANT);
    for (int64_t layer = 0; layer < RNN_LAYERS; layer++)
        rnn_predict_layer1(rt, m, layer);
    for (int64_t layer = 0; layer < RNN_LAYERS; layer++) {
        RT_AT(rt, "rnn: copy f32[1,4,48]", 0, 1.54e3, 768);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {1},
            .y_stride = {1}}, AT(RNN_CONCAT_5, layer), AT(RNN_MUL, layer));
    }
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_6, m + RNN_WEIGHT_IH_L1);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_6 + 4 * RNN_SIZE * C, m + RNN_WEIGHT_IH_L1 + 12 * RNN_SIZE * C);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_6 + 8 * RNN_SIZE * C, m + RNN_WEIGHT_IH_L1 + 4 * RNN_SIZE * C);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_6 + 12 * RNN_SIZE * C, m + RNN_WEIGHT_IH_L1 + 8 * RNN_SIZE * C);
    RT_AT(rt, "rnn: dot f32[12,4,4,48]", 8.85e5, 8.29e4, 3.69e4);
    rt_dot(WITH(WORK_3), 2, AT(RNN_DOT_3, 0), AT(RNN_CONCAT_5, 0), m + RNN_CONCAT_6);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_7, m + RNN_BIAS_IH_L1);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_7 + 4 * RNN_SIZE, m + RNN_BIAS_IH_L1 + 12 * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_7 + 8 * RNN_SIZE, m + RNN_BIAS_IH_L1 + 4 * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_7 + 12 * RNN_SIZE, m + RNN_BIAS_IH_L1 + 8 * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_8, m + RNN_BIAS_HH_L1);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_8 + 4 * RNN_SIZE, m + RNN_BIAS_HH_L1 + 12 * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_8 + 8 * RNN_SIZE, m + RNN_BIAS_HH_L1 + 4 * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48]", 0, 384, 192);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {48}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_8 + 12 * RNN_SIZE, m + RNN_BIAS_HH_L1 + 8 * RNN_SIZE);
    RT_AT(rt, "rnn: add f32[4,48]", 192, 1.54e3, 768);
    RT_ROWS(rt, rnn_predict, 4 * RNN_SIZE, 1, m + RNN_CONCAT_7, m + RNN_CONCAT_8,
        m + RNN_CONCAT_7);
    RT_AT(rt, "rnn: add f32[12,4,4,48]", 9.22e3, 3.76e4, 3.69e4);
    RT_ROWS(rt, rnn_add_predict, 12 * B, 4 * RNN_SIZE, AT(RNN_DOT_3, 0), m + RNN_CONCAT_7,
        AT(RNN_DOT_3, 0));
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_9, m + RNN_WEIGHT_HH_L1);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_9 + 4 * RNN_SIZE * RNN_SIZE,
        m + RNN_WEIGHT_HH_L1 + 12 * RNN_SIZE * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_9 + 8 * RNN_SIZE * RNN_SIZE,
        m + RNN_WEIGHT_HH_L1 + 4 * RNN_SIZE * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[1,48,48]", 0, 1.84e4, 9.22e3);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {2304}, .x_stride = {1}, .y_stride = {1}},
        m + RNN_CONCAT_9 + 12 * RNN_SIZE * RNN_SIZE,
        m + RNN_WEIGHT_HH_L1 + 8 * RNN_SIZE * RNN_SIZE);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        AT(RNN_MUL_2, -1), m + CONSTANT);
    RT_AT(rt, "rnn: copy f32[4,48]", 0, 772, 768);
    rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {0}, .y_stride = {1}},
        AT(RNN_ADD_2, 1), m + CONSTANT);
    for (int64_t layer = 0; layer < RNN_LAYERS; layer++)
        rnn_predict_layer2(rt, m, layer);
    for (int64_t layer = 0; layer < RNN_LAYERS; layer++) {
        RT_AT(rt, "rnn: copy f32[1,4,48]", 0, 1.54e3, 768);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 1, .dim = {192}, .x_stride = {1},
            .y_stride = {1}}, AT(RNN_OUT, layer), AT(RNN_MUL_2, layer));
    }
    RT_AT(rt, "out: dot f32[4,12,50]", 2.3e5, 2.84e4, 9.6e3);
    rt_dot(WITH(WORK_5), 3, m + LOGITS, AT(RNN_OUT, 0), m + OUT_WEIGHT);
    RT_AT(rt, "out: add f32[4,12,50]", 2.4e3, 9.8e3, 9.6e3);
    RT_ROWS(rt, out_predict, 12 * B, VOCAB, m + LOGITS, m + OUT_BIAS, m + LOGITS);
}

// emb: lt add select; 48 elements; x0 input_ids
static void emb_predict(char *const *p, int64_t first, int64_t last)
{
    const int64_t *x0 = (int64_t *)p[0];
    int64_t *y0 = (int64_t *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] < 0 ? (int64_t)rt_add_int(x0[i], 50) : x0[i];
}

// rnn: add
static void rnn_predict(char *const *p, int64_t first, int64_t last)
{
    const float *x0 = (float *)p[0], *x1 = (float *)p[1];
    float *y0 = (float *)p[2];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] + x1[i];
}

// rnn: add; 48 rows of 192
static void rnn_add_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 192, *x1 = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 192;
        RT_SIMD for (int64_t i = 0; i < 192; i++)
            y0[i] = x0[i] + x1[i];
    }
}

// rnn: mul tanh add; 4 rows of 48
static void rnn_tanh_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 192, *x1 = (float *)p[1] + i0 * 48,
            *x2 = (float *)p[2] + i0 * 192, *x3 = (float *)p[3] + i0 * 192,
            *x4 = (float *)p[4] + i0 * 192;
        float *y0 = (float *)p[5] + i0 * 48, *y1 = (float *)p[6] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++) {
            const float v1 = (0.5f + 0.5f * rt_tanhf(0.5f * x0[i])) * x1[i] +
                (0.5f + 0.5f * rt_tanhf(0.5f * x2[i])) * rt_tanhf(x3[i]);
            y1[i] = (0.5f + 0.5f * rt_tanhf(0.5f * x4[i])) * rt_tanhf(v1);
            y0[i] = v1;
        }
    }
}

// out: add; 48 rows of 50
static void out_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 50, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 50;
        RT_SIMD for (int64_t i = 0; i < 50; i++)
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

// Role, type, name, rank, shape and place; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "emb.weight", 2, {50, 32}, .at = 0},
    {RT_PARAMETER, RT_F32, "rnn.weight_ih_l0", 2, {192, 32}, .at = 6464},
    {RT_PARAMETER, RT_F32, "rnn.bias_ih_l0", 1, {192}, .at = 31104},
    {RT_PARAMETER, RT_F32, "rnn.bias_hh_l0", 1, {192}, .at = 31936},
    {RT_PARAMETER, RT_F32, "rnn.weight_hh_l0", 2, {192, 48}, .at = 32768},
    {RT_CONSTANT, RT_F32, "", 0, {0}, .at = 69696, .data = "\000\000\000\000"},
    {RT_PARAMETER, RT_F32, "rnn.weight_ih_l1", 2, {192, 48}, .at = 69824},
    {RT_PARAMETER, RT_F32, "rnn.bias_ih_l1", 1, {192}, .at = 106752},
    {RT_PARAMETER, RT_F32, "rnn.bias_hh_l1", 1, {192}, .at = 107584},
    {RT_PARAMETER, RT_F32, "rnn.weight_hh_l1", 2, {192, 48}, .at = 108416},
    {RT_PARAMETER, RT_F32, "out.weight", 2, {50, 48}, .at = 145344},
    {RT_PARAMETER, RT_F32, "out.bias", 1, {50}, .at = 155008},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 12}, .at = 155328, .least = -50, .bound = 50},
    {RT_OUTPUT, RT_F32, "logits", 3, {4, 12, 50}, .at = 253696},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(INPUT_IDS, 384, 0, 1), LIVE(EMB_OUT, 6144, 1, 6), LIVE(RNN_CONCAT, 24576, 2, 6),
        STACK(RNN_DOT, 36864, 6, 27), LIVE(RNN_CONCAT_2, 768, 7, 16),
        LIVE(RNN_CONCAT_3, 768, 11, 15), LIVE(RNN_CONCAT_4, 36864, 17, 27),
        LIVE(RNN_DOT_2, 3072, 24, 26), STACK(RNN_ADD, 1536, 22, 27), LIVE(RNN_MUL_3, 9984, 21, 30),
        STACK(RNN_CONCAT_5, 9216, 28, 35), LIVE(RNN_CONCAT_6, 36864, 31, 35),
        STACK(RNN_DOT_3, 36864, 35, 56), LIVE(RNN_CONCAT_7, 768, 36, 45),
        LIVE(RNN_CONCAT_8, 768, 40, 44), LIVE(RNN_CONCAT_9, 36864, 46, 56),
        LIVE(RNN_DOT_4, 3072, 53, 55), STACK(RNN_ADD_2, 1536, 51, 56),
        LIVE(RNN_MUL_4, 9984, 50, 59), STACK(RNN_OUT, 9216, 57, 60), LIVE(LOGITS, 9600, 60, 62),
        LIVE(WORK, 147456, 6, 6), LIVE(WORK_2, 73728, 24, 24), LIVE(WORK_3, 73728, 35, 35),
        LIVE(WORK_4, 73728, 53, 53), LIVE(WORK_5, 98304, 60, 60),
        {0}}, (RtLoop[]){{23, 27, 12, {0}}, {28, 30, 12, {0}}, {52, 56, 12, {0}},
            {57, 59, 12, {0}}, {0}});
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
    .device = &rt_cpu,
    .redzone = 64,
    .live_ranges = live_ranges,
    .tensors = tensors,
    .n_tensors = sizeof tensors / sizeof *tensors,
    .predict = predict_tensors,
    .n_predict = sizeof predict_tensors / sizeof *predict_tensors,
    .init = init,
    .forward = forward,
    .identity = 0xfc100934f347da1f,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
