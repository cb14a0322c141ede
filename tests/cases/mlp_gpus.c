// Made by shardcc. Changes here are lost when it is made again.
//   shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --ranks 2
//      --transport tcp --mesh dp=2 --plan-preset fsdp --target cuda --march native
//      --cluster h100x2
//   plan: 2 ranks as dp=2, arena 253888 bytes, bound 253888
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They come first, after the names of offsets in memory;
// the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt_cuda.h"

static const int64_t B = 16, CLASSES = 10, MODEL_0_SIZE = 64, MODEL_2_SIZE = 64;
// Offsets of values in the arena, in bytes from its start `m`; where layers repeat, of layer 0.
// OUT is the result of a module, D_ a gradient, D_ and IN the gradient of its input. RECOMPUTED_
// is made again in the backward part. F_ is for forward alone. Values that aren't needed together
// share bytes.
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
static const int64_t X = 252416, MODEL_0_DOT = 246080, MODEL_1_OUT = 103616,
    MODEL_2_DOT = 107712, MODEL_3_OUT = 107712, MODEL_3_SUB = 109824, LABELS = 105728,
    CROSS_ENTROPY_EQ = 89792, CROSS_ENTROPY_CONCAT = 89920,
    CROSS_ENTROPY_SELECT = 86976, CROSS_ENTROPY_MIN = 253504,
    CROSS_ENTROPY_ALL_REDUCE = 253504, MODEL_4_DOT = 111936, MODEL_4_OUT = 111936,
    BAD_LABEL = 253504, CROSS_ENTROPY_MAX = 86976, CROSS_ENTROPY_EXP = 111936,
    CROSS_ENTROPY_SUM = 87104, CROSS_ENTROPY_SELECT_2 = 87232,
    CROSS_ENTROPY_ALL_REDUCE_2 = 89920, COUNT = 253632, LOSS = 253760,
    D_CROSS_ENTROPY_DIV = 86976, D_CROSS_ENTROPY_IN = 111936, D_4_CONCAT = 218304,
    D_4_IN = 248192, D_3_IN = 248192, D_2_IN = 250304, D_1_IN = 246080,
    RECOMPUTED_1_OUT = 250304, D_4_ALL_REDUCE = 218304, ADAMW_NEG = 104256,
    ADAMW_SUB = 104384, ADAMW_SUB_2 = 104512, ADAMW_CAST = 104640, ADAMW_SUB_3 = 104768,
    D_4_BIAS = 86976, GRAD_NORM_4_BIAS_SUM = 104128, D_4_WEIGHT = 86976,
    GRAD_NORM_4_WEIGHT_SUM = 104000, D_2_BIAS = 86976, GRAD_NORM_2_BIAS_SUM = 103872,
    D_2_WEIGHT = 86976, GRAD_NORM_2_WEIGHT_SUM = 103424,
    GRAD_NORM_2_WEIGHT_SUM_2 = 103744, D_0_BIAS = 86976, GRAD_NORM_0_BIAS_SUM = 95680,
    D_0_WEIGHT = 86976, GRAD_NORM_0_WEIGHT_SUM = 95232,
    GRAD_NORM_0_WEIGHT_SUM_2 = 95552, GRAD_NORM = 95552, WORK = 86976;
static const int64_t F_X = 124160, F_0_DOT = 120000, F_1_OUT = 120000, F_2_DOT = 124160,
    F_3_OUT = 124160, F_4_DOT = 92352, F_LOGITS = 92352, F_LABELS = 128320,
    F_CROSS_ENTROPY_EQ = 87168, F_COUNT = 87296, F_CROSS_ENTROPY_SELECT = 86976,
    F_CROSS_ENTROPY_MIN = 87424, F_BAD_LABEL = 87424, F_CROSS_ENTROPY_MAX = 86976,
    F_CROSS_ENTROPY_SELECT_2 = 87552, F_LOSS = 86976, F_WORK = 86976;
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(offset) ((void *)(m + (offset)))
// Kernels that init prepares, each after the first result that it makes.
enum { MODEL_0_DOT_KERNEL, MODEL_2_DOT_KERNEL, MODEL_4_DOT_KERNEL, D_4_CONCAT_KERNEL, D_4_IN_KERNEL,
    D_2_IN_KERNEL, D_4_CONCAT_KERNEL_2, D_4_CONCAT_KERNEL_3, F_0_DOT_KERNEL, F_2_DOT_KERNEL,
    F_4_DOT_KERNEL };

// The operands of fused functions, by their names there.
struct module_1_forward { const float *x0, *bias; float *y0; };
struct module_3_backward { const float *x0, *bias; float *y0, *y1; };
struct cross_entropy_forward {
    const int64_t *x0, *x1, *x2, *x3, *x4, *x5;
    uint8_t *y0;
    float *y1;
    int64_t *y2;
};
struct module_4_bias_forward { const float *x0, *bias; float *y0; };
struct cross_entropy_mod_forward { const int64_t *x0; int64_t *y0; };
struct cross_entropy_log_forward {
    const float *x0, *x1;
    const int64_t *x2;
    const uint8_t *x3;
    float *y0, *y1, *y2;
};
struct cross_entropy_backward { const float *x0; float *y0; };
struct cross_entropy_div_backward {
    const uint8_t *x0;
    const float *x1, *x2, *x3;
    const int64_t *x4;
    float *y0;
};
struct module_3_mul_backward { const float *x0, *x1; float *y0; };
struct module_1_backward { const float *x0, *bias, *x2; float *y0, *y1; };
struct adamw_scalars {
    const float *beta1, *step, *lr, *beta2, *weight_decay;
    float *y0, *y1, *y2, *y3, *y4;
};
struct grad_norm { const float *x0; float *y0; };
struct adamw {
    float *param;
    const float *x1, *x2;
    float *exp_avg;
    const float *x4, *x5;
    float *exp_avg_sq;
    const float *beta2, *x8, *eps, *x10;
};
struct grad_norm_reduce_sum { const float *x0; float *y0; };
struct adamw_div {
    float *param;
    const float *x1, *x2;
    float *exp_avg;
    const float *x4, *x5;
    float *exp_avg_sq;
    const float *beta2, *x8, *eps, *x10;
    int64_t n0;
};
struct grad_norm_reduce_sum_2 { const float *x0; float *y0; };
struct grad_norm_reduce_sum_3 { const float *x0; float *y0; };
struct grad_norm_reduce_sum_4 { const float *x0; float *y0; };
struct grad_norm_sqrt { const float *x0, *x1, *x2, *x3, *x4, *x5; float *y0; };
struct module_1_predict { const float *x0, *bias; float *y0; };
struct module_3_predict { const float *x0, *bias; float *y0; };
struct module_4_bias_predict { const float *x0, *bias; float *y0; };
struct cross_entropy_predict {
    const int64_t *x0, *x1, *x2, *x3, *x4, *x5;
    uint8_t *y0;
    float *y1;
    int64_t *y2;
};
struct cross_entropy_log_predict {
    const float *x0, *x1;
    const int64_t *x2;
    const uint8_t *x3;
    float *y0;
};
#define ADAMW_DIV_SHARED \
    .x1 = AT(ADAMW_SUB_3), .x4 = AT(ADAMW_SUB_2), .x5 = AT(ADAMW_SUB), .beta2 = AT(BETA2), \
    .x8 = AT(ADAMW_CAST), .eps = AT(EPS), .x10 = AT(ADAMW_NEG)

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[8,64]",
        .flops = 3.28e4, .reads = 9.22e3, .writes = 2.05e3, .seconds = 3e-6);
    rt_dot(WITH(WORK), MODEL_0_DOT_KERNEL, AT(MODEL_0_DOT), AT(X), AT(MODEL_0_WEIGHT));
    RT_AT(rt, "1: add le select f32[8,64]",
        .flops = 1.54e3, .reads = 2.3e3, .writes = 2.05e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_1_forward, RT_BLOCKS(B / 2 * MODEL_0_SIZE, 1024), 256,
        .x0 = AT(MODEL_0_DOT), .bias = AT(MODEL_0_BIAS), .y0 = AT(MODEL_1_OUT));
    RT_AT(rt, "2: dot f32[8,64]",
        .flops = 6.55e4, .reads = 1.84e4, .writes = 2.05e3, .seconds = 3.01e-6);
    rt_dot(WITH(WORK), MODEL_2_DOT_KERNEL, AT(MODEL_2_DOT), AT(MODEL_1_OUT), AT(MODEL_2_WEIGHT));
    RT_AT(rt, "3: add tanh mul sub f32[8,64]",
        .flops = 9.22e3, .reads = 2.3e3, .writes = 4.1e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_3_backward, RT_BLOCKS(B / 2 * MODEL_2_SIZE, 1024), 256,
        .x0 = AT(MODEL_2_DOT), .bias = AT(MODEL_2_BIAS), .y0 = AT(MODEL_3_OUT),
        .y1 = AT(MODEL_3_SUB));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[8]",
        .flops = 72, .reads = 384, .writes = 76, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_forward, 1, 256, .x0 = AT(LABELS),
        .x1 = AT(CONSTANT + rt->shard[0].offset * sizeof(int64_t)),
        .x2 = AT(CONSTANT_2 + rt->shard[0].offset * sizeof(int64_t)),
        .x3 = AT(CONSTANT_3 + rt->shard[0].offset * sizeof(int64_t)),
        .x4 = AT(CONSTANT_4 + rt->shard[0].offset * sizeof(int64_t)),
        .x5 = AT(CONSTANT_5 + rt->shard[0].offset * sizeof(int64_t)), .y0 = AT(CROSS_ENTROPY_EQ),
        .y1 = AT(CROSS_ENTROPY_CONCAT), .y2 = AT(CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 8, .reads = 64, .writes = 8, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B / 2},
        .stride = {1}, .reduced = {1}}, AT(CROSS_ENTROPY_MIN), AT(CROSS_ENTROPY_SELECT));
    // all_reduce on dp: 7.63e-06 MiB, 6 us
    RT_AT(rt, "cross_entropy: start all_reduce i64[]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "dp",
        .sent = 8, .exchange = 6e-6);
    rt_start(rt, 0, rt_all_reduce, &(RtExchange){.type = RT_I64, .op = RT_MIN, .axis = 0,
        .outer = 1, .whole = 1, .inner = 1}, AT(CROSS_ENTROPY_ALL_REDUCE), AT(CROSS_ENTROPY_MIN));
    RT_AT(rt, "4: dot f32[8,10]",
        .flops = 1.02e4, .reads = 4.61e3, .writes = 320, .seconds = 3e-6);
    rt_dot(WITH(WORK), MODEL_4_DOT_KERNEL, AT(MODEL_4_DOT), AT(MODEL_3_OUT), AT(MODEL_4_WEIGHT));
    RT_AT(rt, "4: add f32[8,10]",
        .flops = 80, .reads = 360, .writes = 320, .seconds = 3e-6);
    RT_LAUNCH(rt, module_4_bias_forward, RT_BLOCKS(B / 2 * CLASSES, 256), 256,
        .x0 = AT(MODEL_4_DOT), .bias = AT(MODEL_4_BIAS), .y0 = AT(MODEL_4_OUT));
    RT_AT(rt, "cross_entropy: wait for all_reduce i64[]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "dp");
    rt_wait(rt, 0);
    RT_AT(rt, "cross_entropy: mod i64[]",
        .flops = 10, .reads = 8, .writes = 8, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256,
        .x0 = AT(CROSS_ENTROPY_ALL_REDUCE), .y0 = AT(BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[8]",
        .flops = 80, .reads = 320, .writes = 32, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {B / 2, CLASSES},
        .stride = {CLASSES, 1}, .reduced = {0, 1}}, AT(CROSS_ENTROPY_MAX), AT(MODEL_4_OUT));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]",
        .flops = 1.3e3, .reads = 424, .writes = 384, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_log_forward, RT_BLOCKS(B / 2, 8), 256, .x0 = AT(MODEL_4_OUT),
        .x1 = AT(CROSS_ENTROPY_MAX), .x2 = AT(LABELS), .x3 = AT(CROSS_ENTROPY_EQ),
        .y0 = AT(CROSS_ENTROPY_EXP), .y1 = AT(CROSS_ENTROPY_SUM),
        .y2 = AT(CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 8, .reads = 32, .writes = 4, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B / 2}, .stride = {1},
        .reduced = {1}}, AT(CROSS_ENTROPY_CONCAT + sizeof(float)), AT(CROSS_ENTROPY_SELECT_2));
    // all_reduce of 2 on dp: 7.63e-06 MiB, 6 us
    RT_AT(rt, "cross_entropy: all_reduce f32[1,2]",
        .flops = 0, .reads = 16, .writes = 8, .seconds = 9e-6, .axis = "dp",
        .sent = 8, .exchange = 6e-6);
    rt_all_reduce(rt, &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0, .outer = 1,
        .whole = 2, .inner = 1}, AT(CROSS_ENTROPY_ALL_REDUCE_2), AT(CROSS_ENTROPY_CONCAT));
    RT_AT(rt, "cross_entropy: copy f32[1,1]",
        .flops = 0, .reads = 4, .writes = 4, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 0}, AT(COUNT),
        AT(CROSS_ENTROPY_ALL_REDUCE_2));
    RT_AT(rt, "cross_entropy: copy f32[1,1]",
        .flops = 0, .reads = 4, .writes = 4, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 0}, AT(LOSS),
        AT(CROSS_ENTROPY_ALL_REDUCE_2 + sizeof(float)));
    RT_AT(rt, "cross_entropy: div f32[]",
        .flops = 4, .reads = 4, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_backward, RT_BLOCKS(1, 256), 256, .x0 = AT(COUNT),
        .y0 = AT(D_CROSS_ENTROPY_DIV));
    RT_AT(rt, "cross_entropy: select neg div mul iota eq select ... f32[8,10]",
        .flops = 368, .reads = 428, .writes = 320, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_div_backward, RT_BLOCKS(B / 2, 8), 256, .x0 = AT(CROSS_ENTROPY_EQ),
        .x1 = AT(D_CROSS_ENTROPY_DIV), .x2 = AT(CROSS_ENTROPY_SUM), .x3 = AT(CROSS_ENTROPY_EXP),
        .x4 = AT(LABELS), .y0 = AT(D_CROSS_ENTROPY_IN));
    RT_AT(rt, "4: reduce_sum f32[10]",
        .flops = 80, .reads = 320, .writes = 40, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B / 2, CLASSES},
        .stride = {CLASSES, 1}, .reduced = {1, 0}}, AT(D_4_CONCAT), AT(D_CROSS_ENTROPY_IN));
    RT_AT(rt, "4: dot f32[10,64]",
        .flops = 1.02e4, .reads = 2.37e3, .writes = 2.56e3, .seconds = 3e-6);
    rt_dot(WITH(WORK), D_4_CONCAT_KERNEL, AT(D_4_CONCAT + 10 * sizeof(float)), AT(MODEL_3_OUT),
        AT(D_CROSS_ENTROPY_IN));
    RT_AT(rt, "4: dot f32[8,64]",
        .flops = 1.02e4, .reads = 2.88e3, .writes = 2.05e3, .seconds = 3e-6);
    rt_dot(WITH(WORK), D_4_IN_KERNEL, AT(D_4_IN), AT(D_CROSS_ENTROPY_IN), AT(MODEL_4_WEIGHT));
    RT_AT(rt, "3: mul f32[8,64]",
        .flops = 512, .reads = 4.1e3, .writes = 2.05e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_3_mul_backward, RT_BLOCKS(B / 2 * MODEL_2_SIZE, 1024), 256,
        .x0 = AT(D_4_IN), .x1 = AT(MODEL_3_SUB), .y0 = AT(D_3_IN));
    RT_AT(rt, "2: reduce_sum f32[64]",
        .flops = 512, .reads = 2.05e3, .writes = 256, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B / 2, MODEL_2_SIZE},
        .stride = {MODEL_2_SIZE, 1}, .reduced = {1, 0}}, AT(D_4_CONCAT + 650 * sizeof(float)),
        AT(D_3_IN));
    RT_AT(rt, "2: dot f32[8,64]",
        .flops = 6.55e4, .reads = 1.84e4, .writes = 2.05e3, .seconds = 3.01e-6);
    rt_dot(WITH(WORK), D_2_IN_KERNEL, AT(D_2_IN), AT(D_3_IN), AT(MODEL_2_WEIGHT));
    RT_AT(rt, "1: add le select select f32[8,64]",
        .flops = 2.05e3, .reads = 4.35e3, .writes = 4.1e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_1_backward, RT_BLOCKS(B / 2 * MODEL_0_SIZE, 1024), 256,
        .x0 = AT(MODEL_0_DOT), .bias = AT(MODEL_0_BIAS), .x2 = AT(D_2_IN), .y0 = AT(D_1_IN),
        .y1 = AT(RECOMPUTED_1_OUT));
    RT_AT(rt, "2: dot f32[64,64]",
        .flops = 6.55e4, .reads = 4.1e3, .writes = 1.64e4, .seconds = 3.01e-6);
    rt_dot(WITH(WORK), D_4_CONCAT_KERNEL_2, AT(D_4_CONCAT + 714 * sizeof(float)),
        AT(RECOMPUTED_1_OUT), AT(D_3_IN));
    RT_AT(rt, "0: reduce_sum f32[64]",
        .flops = 512, .reads = 2.05e3, .writes = 256, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B / 2, MODEL_0_SIZE},
        .stride = {MODEL_0_SIZE, 1}, .reduced = {1, 0}}, AT(D_4_CONCAT + 4810 * sizeof(float)),
        AT(D_1_IN));
    RT_AT(rt, "0: dot f32[64,32]",
        .flops = 3.28e4, .reads = 3.07e3, .writes = 8.19e3, .seconds = 3e-6);
    rt_dot(WITH(WORK), D_4_CONCAT_KERNEL_3, AT(D_4_CONCAT + 4874 * sizeof(float)), AT(X),
        AT(D_1_IN));
    // all_reduce of 6 on dp: 0.0264 MiB, 6.1 us
    RT_AT(rt, "4: start all_reduce f32[1,6922]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "dp",
        .sent = 2.77e4, .exchange = 6.1e-6);
    rt_start(rt, 1, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = 6922, .inner = 1}, AT(D_4_ALL_REDUCE), AT(D_4_CONCAT));
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub ... f32[]",
        .flops = 66, .reads = 20, .writes = 20, .seconds = 3e-6);
    RT_LAUNCH(rt, adamw_scalars, RT_BLOCKS(1, 256), 256, .beta1 = AT(BETA1), .step = AT(STEP),
        .lr = AT(LR), .beta2 = AT(BETA2), .weight_decay = AT(WEIGHT_DECAY), .y0 = AT(ADAMW_NEG),
        .y1 = AT(ADAMW_SUB), .y2 = AT(ADAMW_SUB_2), .y3 = AT(ADAMW_CAST), .y4 = AT(ADAMW_SUB_3));
    RT_AT(rt, "4: wait for all_reduce f32[1,6922]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "dp");
    rt_wait(rt, 1);
    RT_AT(rt, "4: copy f32[1,10]",
        .flops = 0, .reads = 40, .writes = 40, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {CLASSES}, .x_stride = {1},
        .y_stride = {1}}, AT(D_4_BIAS), AT(D_4_ALL_REDUCE));
    rt_gradient(rt, 5, 0, AT(D_4_BIAS));  // 4.bias
    RT_AT(rt, "grad_norm 4.bias: mul reduce_sum f32[]",
        .flops = 20, .reads = 40, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm, 1, 256, .x0 = AT(D_4_BIAS), .y0 = AT(GRAD_NORM_4_BIAS_SUM));
    RT_AT(rt, "adamw 4.bias: mul sub mul mul mul add mul add sqrt ... f32[10]",
        .flops = 200, .reads = 188, .writes = 120, .seconds = 3e-6);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(CLASSES, 1024), 256, .param = AT(MODEL_4_BIAS),
        .x1 = AT(ADAMW_SUB_3), .x2 = AT(D_4_BIAS), .exp_avg = AT(MODEL_4_BIAS_EXP_AVG),
        .x4 = AT(ADAMW_SUB_2), .x5 = AT(ADAMW_SUB), .exp_avg_sq = AT(MODEL_4_BIAS_EXP_AVG_SQ),
        .beta2 = AT(BETA2), .x8 = AT(ADAMW_CAST), .eps = AT(EPS), .x10 = AT(ADAMW_NEG));
    RT_AT(rt, "4: copy f32[1,640]",
        .flops = 0, .reads = 2.56e3, .writes = 2.56e3, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {CLASSES * MODEL_2_SIZE},
        .x_stride = {1}, .y_stride = {1}}, AT(D_4_WEIGHT),
        AT(D_4_ALL_REDUCE + 10 * sizeof(float)));
    rt_gradient(rt, 4, 0, AT(D_4_WEIGHT));  // 4.weight
    RT_AT(rt, "grad_norm 4.weight: mul reduce_sum f32[]",
        .flops = 1.28e3, .reads = 2.56e3, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm_reduce_sum, 1, 96, .x0 = AT(D_4_WEIGHT),
        .y0 = AT(GRAD_NORM_4_WEIGHT_SUM));
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add mul add ... f32[10,64]",
        .flops = 1.28e4, .reads = 1.03e4, .writes = 7.68e3, .seconds = 3.01e-6);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(CLASSES * MODEL_2_SIZE, 1024), 256,
        .param = AT(MODEL_4_WEIGHT), .x2 = AT(D_4_WEIGHT), .exp_avg = AT(MODEL_4_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_4_WEIGHT_EXP_AVG_SQ), .n0 = CLASSES * MODEL_2_SIZE,
        ADAMW_DIV_SHARED);
    RT_AT(rt, "4: copy f32[1,64]",
        .flops = 0, .reads = 256, .writes = 256, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {MODEL_2_SIZE},
        .x_stride = {1}, .y_stride = {1}}, AT(D_2_BIAS), AT(D_4_ALL_REDUCE + 650 * sizeof(float)));
    rt_gradient(rt, 3, 0, AT(D_2_BIAS));  // 2.bias
    RT_AT(rt, "grad_norm 2.bias: mul reduce_sum f32[]",
        .flops = 128, .reads = 256, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 256, .x0 = AT(D_2_BIAS),
        .y0 = AT(GRAD_NORM_2_BIAS_SUM));
    RT_AT(rt, "adamw 2.bias: mul sub mul mul mul add mul add sqrt ... f32[64]",
        .flops = 1.28e3, .reads = 1.05e3, .writes = 768, .seconds = 3e-6);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_2_SIZE, 1024), 256, .param = AT(MODEL_2_BIAS),
        .x2 = AT(D_2_BIAS), .exp_avg = AT(MODEL_2_BIAS_EXP_AVG),
        .exp_avg_sq = AT(MODEL_2_BIAS_EXP_AVG_SQ), .n0 = MODEL_2_SIZE, ADAMW_DIV_SHARED);
    RT_AT(rt, "4: copy f32[1,4096]",
        .flops = 0, .reads = 1.64e4, .writes = 1.64e4, .seconds = 3.01e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {MODEL_2_SIZE * MODEL_0_SIZE},
        .x_stride = {1}, .y_stride = {1}}, AT(D_2_WEIGHT),
        AT(D_4_ALL_REDUCE + 714 * sizeof(float)));
    rt_gradient(rt, 2, 0, AT(D_2_WEIGHT));  // 2.weight
    RT_AT(rt, "grad_norm 2.weight: mul reduce_sum f32[64]",
        .flops = 8.19e3, .reads = 1.64e4, .writes = 256, .seconds = 3.01e-6);
    RT_LAUNCH(rt, grad_norm_reduce_sum_3, RT_BLOCKS(MODEL_2_SIZE, 8), 256, .x0 = AT(D_2_WEIGHT),
        .y0 = AT(GRAD_NORM_2_WEIGHT_SUM));
    RT_AT(rt, "grad_norm 2.weight: reduce_sum f32[]",
        .flops = 64, .reads = 256, .writes = 4, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {MODEL_2_SIZE}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_2_WEIGHT_SUM_2), AT(GRAD_NORM_2_WEIGHT_SUM));
    RT_AT(rt, "adamw 2.weight: mul sub mul mul mul add mul add ... f32[64,64]",
        .flops = 8.19e4, .reads = 6.56e4, .writes = 4.92e4, .seconds = 3.04e-6);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_2_SIZE * MODEL_0_SIZE, 1024), 256,
        .param = AT(MODEL_2_WEIGHT), .x2 = AT(D_2_WEIGHT), .exp_avg = AT(MODEL_2_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_2_WEIGHT_EXP_AVG_SQ), .n0 = MODEL_2_SIZE * MODEL_0_SIZE,
        ADAMW_DIV_SHARED);
    RT_AT(rt, "4: copy f32[1,64]",
        .flops = 0, .reads = 256, .writes = 256, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {MODEL_0_SIZE},
        .x_stride = {1}, .y_stride = {1}}, AT(D_0_BIAS),
        AT(D_4_ALL_REDUCE + 4810 * sizeof(float)));
    rt_gradient(rt, 1, 0, AT(D_0_BIAS));  // 0.bias
    RT_AT(rt, "grad_norm 0.bias: mul reduce_sum f32[]",
        .flops = 128, .reads = 256, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 256, .x0 = AT(D_0_BIAS),
        .y0 = AT(GRAD_NORM_0_BIAS_SUM));
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add sqrt ... f32[64]",
        .flops = 1.28e3, .reads = 1.05e3, .writes = 768, .seconds = 3e-6);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(MODEL_0_SIZE, 1024), 256, .param = AT(MODEL_0_BIAS),
        .x2 = AT(D_0_BIAS), .exp_avg = AT(MODEL_0_BIAS_EXP_AVG),
        .exp_avg_sq = AT(MODEL_0_BIAS_EXP_AVG_SQ), .n0 = MODEL_0_SIZE, ADAMW_DIV_SHARED);
    RT_AT(rt, "4: copy f32[1,2048]",
        .flops = 0, .reads = 8.19e3, .writes = 8.19e3, .seconds = 3.01e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {32 * MODEL_0_SIZE},
        .x_stride = {1}, .y_stride = {1}}, AT(D_0_WEIGHT),
        AT(D_4_ALL_REDUCE + 4874 * sizeof(float)));
    rt_gradient(rt, 0, 0, AT(D_0_WEIGHT));  // 0.weight
    RT_AT(rt, "grad_norm 0.weight: mul reduce_sum f32[64]",
        .flops = 4.1e3, .reads = 8.19e3, .writes = 256, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm_reduce_sum_4, RT_BLOCKS(MODEL_0_SIZE, 8), 256, .x0 = AT(D_0_WEIGHT),
        .y0 = AT(GRAD_NORM_0_WEIGHT_SUM));
    RT_AT(rt, "grad_norm 0.weight: reduce_sum f32[]",
        .flops = 64, .reads = 256, .writes = 4, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {MODEL_0_SIZE}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_0_WEIGHT_SUM_2), AT(GRAD_NORM_0_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]",
        .flops = 10, .reads = 24, .writes = 4, .seconds = 3e-6);
    RT_LAUNCH(rt, grad_norm_sqrt, RT_BLOCKS(1, 256), 256, .x0 = AT(GRAD_NORM_0_WEIGHT_SUM_2),
        .x1 = AT(GRAD_NORM_0_BIAS_SUM), .x2 = AT(GRAD_NORM_2_WEIGHT_SUM_2),
        .x3 = AT(GRAD_NORM_2_BIAS_SUM), .x4 = AT(GRAD_NORM_4_WEIGHT_SUM),
        .x5 = AT(GRAD_NORM_4_BIAS_SUM), .y0 = AT(GRAD_NORM));
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul add ... f32[64,32]",
        .flops = 4.1e4, .reads = 3.28e4, .writes = 2.46e4, .seconds = 3.02e-6);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(32 * MODEL_0_SIZE, 1024), 256, .param = AT(MODEL_0_WEIGHT),
        .x2 = AT(D_0_WEIGHT), .exp_avg = AT(MODEL_0_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_0_WEIGHT_EXP_AVG_SQ), .n0 = 32 * MODEL_0_SIZE, ADAMW_DIV_SHARED);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "0: dot f32[16,64]",
        .flops = 6.55e4, .reads = 1.02e4, .writes = 4.1e3, .seconds = 3.01e-6);
    rt_dot(WITH(F_WORK), F_0_DOT_KERNEL, AT(F_0_DOT), AT(F_X), AT(MODEL_0_WEIGHT));
    RT_AT(rt, "1: add le select f32[16,64]",
        .flops = 3.07e3, .reads = 4.35e3, .writes = 4.1e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_1_predict, RT_BLOCKS(B * MODEL_0_SIZE, 1024), 256, .x0 = AT(F_0_DOT),
        .bias = AT(MODEL_0_BIAS), .y0 = AT(F_1_OUT));
    RT_AT(rt, "2: dot f32[16,64]",
        .flops = 1.31e5, .reads = 2.05e4, .writes = 4.1e3, .seconds = 3.02e-6);
    rt_dot(WITH(F_WORK), F_2_DOT_KERNEL, AT(F_2_DOT), AT(F_1_OUT), AT(MODEL_2_WEIGHT));
    RT_AT(rt, "3: add tanh f32[16,64]",
        .flops = 1.64e4, .reads = 4.35e3, .writes = 4.1e3, .seconds = 3e-6);
    RT_LAUNCH(rt, module_3_predict, RT_BLOCKS(B * MODEL_2_SIZE, 1024), 256, .x0 = AT(F_2_DOT),
        .bias = AT(MODEL_2_BIAS), .y0 = AT(F_3_OUT));
    RT_AT(rt, "4: dot f32[16,10]",
        .flops = 2.05e4, .reads = 6.66e3, .writes = 640, .seconds = 3e-6);
    rt_dot(WITH(F_WORK), F_4_DOT_KERNEL, AT(F_4_DOT), AT(F_3_OUT), AT(MODEL_4_WEIGHT));
    RT_AT(rt, "4: add f32[16,10]",
        .flops = 160, .reads = 680, .writes = 640, .seconds = 3e-6);
    RT_LAUNCH(rt, module_4_bias_predict, RT_BLOCKS(B * CLASSES, 256), 256, .x0 = AT(F_4_DOT),
        .bias = AT(MODEL_4_BIAS), .y0 = AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[16]",
        .flops = 144, .reads = 768, .writes = 148, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_predict, 1, 256, .x0 = AT(F_LABELS), .x1 = AT(CONSTANT_6),
        .x2 = AT(CONSTANT_7), .x3 = AT(CONSTANT_8), .x4 = AT(CONSTANT_9), .x5 = AT(CONSTANT_10),
        .y0 = AT(F_CROSS_ENTROPY_EQ), .y1 = AT(F_COUNT), .y2 = AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 16, .reads = 128, .writes = 8, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(F_CROSS_ENTROPY_MIN), AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]",
        .flops = 10, .reads = 8, .writes = 8, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, .x0 = AT(F_CROSS_ENTROPY_MIN),
        .y0 = AT(F_BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[16]",
        .flops = 160, .reads = 640, .writes = 64, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {B, CLASSES},
        .stride = {CLASSES, 1}, .reduced = {0, 1}}, AT(F_CROSS_ENTROPY_MAX), AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[16]",
        .flops = 2.59e3, .reads = 848, .writes = 64, .seconds = 3e-6);
    RT_LAUNCH(rt, cross_entropy_log_predict, RT_BLOCKS(B, 8), 256, .x0 = AT(F_LOGITS),
        .x1 = AT(F_CROSS_ENTROPY_MAX), .x2 = AT(F_LABELS), .x3 = AT(F_CROSS_ENTROPY_EQ),
        .y0 = AT(F_CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 16, .reads = 64, .writes = 4, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(F_LOSS), AT(F_CROSS_ENTROPY_SELECT_2));
}

static void init(Rt *rt)
{
    rt_dot_init(rt, MODEL_0_DOT_KERNEL, &(RtDot){.m = B / 2, .n = MODEL_0_SIZE, .k = 32, .a_m = 32,
        .a_k = 1, .b_k = 1, .b_n = 32, .y_m = MODEL_0_SIZE, .y_n = 1, .type = RT_F32});  // 0
    rt_dot_init(rt, MODEL_2_DOT_KERNEL, &(RtDot){.m = B / 2, .n = MODEL_2_SIZE, .k = MODEL_0_SIZE,
        .a_m = MODEL_0_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_0_SIZE, .y_m = MODEL_2_SIZE,
        .y_n = 1, .type = RT_F32});  // 2
    rt_dot_init(rt, MODEL_4_DOT_KERNEL, &(RtDot){.m = B / 2, .n = CLASSES, .k = MODEL_2_SIZE,
        .a_m = MODEL_2_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_2_SIZE, .y_m = CLASSES, .y_n = 1,
        .type = RT_F32});  // 4
    rt_dot_init(rt, D_4_CONCAT_KERNEL, &(RtDot){.m = MODEL_2_SIZE, .n = CLASSES, .k = B / 2,
        .a_m = 1, .a_k = MODEL_2_SIZE, .b_k = CLASSES, .b_n = 1, .y_m = 1, .y_n = MODEL_2_SIZE,
        .type = RT_F32});  // 4
    rt_dot_init(rt, D_4_IN_KERNEL, &(RtDot){.m = B / 2, .n = MODEL_2_SIZE, .k = CLASSES,
        .a_m = CLASSES, .a_k = 1, .b_k = MODEL_2_SIZE, .b_n = 1, .y_m = MODEL_2_SIZE, .y_n = 1,
        .type = RT_F32});  // 4
    rt_dot_init(rt, D_2_IN_KERNEL, &(RtDot){.m = B / 2, .n = MODEL_0_SIZE, .k = MODEL_2_SIZE,
        .a_m = MODEL_2_SIZE, .a_k = 1, .b_k = MODEL_0_SIZE, .b_n = 1, .y_m = MODEL_0_SIZE,
        .y_n = 1, .type = RT_F32});  // 2
    rt_dot_init(rt, D_4_CONCAT_KERNEL_2, &(RtDot){.m = MODEL_0_SIZE, .n = MODEL_2_SIZE, .k = B / 2,
        .a_m = 1, .a_k = MODEL_0_SIZE, .b_k = MODEL_2_SIZE, .b_n = 1, .y_m = 1,
        .y_n = MODEL_0_SIZE, .type = RT_F32});  // 2
    rt_dot_init(rt, D_4_CONCAT_KERNEL_3, &(RtDot){.m = 32, .n = MODEL_0_SIZE, .k = B / 2, .a_m = 1,
        .a_k = 32, .b_k = MODEL_0_SIZE, .b_n = 1, .y_m = 1, .y_n = 32, .type = RT_F32});  // 0
    rt_dot_init(rt, F_0_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_0_SIZE, .k = 32, .a_m = 32,
        .a_k = 1, .b_k = 1, .b_n = 32, .y_m = MODEL_0_SIZE, .y_n = 1, .type = RT_F32});  // 0
    rt_dot_init(rt, F_2_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_2_SIZE, .k = MODEL_0_SIZE,
        .a_m = MODEL_0_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_0_SIZE, .y_m = MODEL_2_SIZE,
        .y_n = 1, .type = RT_F32});  // 2
    rt_dot_init(rt, F_4_DOT_KERNEL, &(RtDot){.m = B, .n = CLASSES, .k = MODEL_2_SIZE,
        .a_m = MODEL_2_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_2_SIZE, .y_m = CLASSES, .y_n = 1,
        .type = RT_F32});  // 4
}

// Dims that are split over ranks; rt->shard[i] is this rank's shard of the i-th.
static const RtCut cuts[] = {
    {16, 1, {0}},  // 0: on dp
};

// Role, type, name, rank, shape and offset; of layers also how many, and the bytes between two.
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
    {RT_INPUT, RT_F32, "x", 2, {16, 32}, .at = 252416, .n_parts = 2, .part = {16, 32},
        .cut = {1, 0}},
    {RT_INPUT, RT_I64, "labels", 1, {16}, .at = 105728, .n_parts = 1, .part = {16}, .cut = {1},
        .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 253760},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 253632},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 253504},
    {RT_GRADIENT, RT_F32, "0.weight", 2, {64, 32}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "0.bias", 1, {64}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "2.weight", 2, {64, 64}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "2.bias", 1, {64}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "4.weight", 2, {10, 64}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "4.bias", 1, {10}, .gradient = 5},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 95552},
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
        LIVE(X, 1024, 0, 28), LIVE(LABELS, 64, 0, 18), LIVE(D_1_IN, 2048, 0, 28),
        LIVE(MODEL_1_OUT, 2048, 1, 2), LIVE(MODEL_3_OUT, 2048, 2, 20),
        LIVE(MODEL_4_OUT, 320, 7, 21), LIVE(CROSS_ENTROPY_EQ, 64, 4, 18),
        LIVE(CROSS_ENTROPY_SELECT, 64, 4, 5), LIVE(BAD_LABEL, 64, 5, 53),
        LIVE(CROSS_ENTROPY_MAX, 64, 11, 12), LIVE(CROSS_ENTROPY_SUM, 64, 12, 18),
        LIVE(CROSS_ENTROPY_SELECT_2, 64, 12, 13), LIVE(CROSS_ENTROPY_CONCAT, 64, 4, 16),
        LIVE(COUNT, 64, 15, 53), LIVE(LOSS, 64, 16, 53), LIVE(D_CROSS_ENTROPY_DIV, 64, 17, 18),
        LIVE(D_4_IN, 2048, 21, 26), LIVE(MODEL_3_SUB, 2048, 3, 22), LIVE(D_2_IN, 2048, 24, 26),
        LIVE(D_4_CONCAT, 27712, 19, 48), LIVE(D_4_BIAS, 64, 32, 34),
        LIVE(D_4_WEIGHT, 2560, 35, 37), LIVE(D_2_BIAS, 256, 38, 40),
        LIVE(D_2_WEIGHT, 16384, 41, 44), LIVE(D_0_BIAS, 256, 45, 47),
        LIVE(D_0_WEIGHT, 8192, 48, 52), LIVE(GRAD_NORM_0_WEIGHT_SUM, 256, 49, 50),
        LIVE(GRAD_NORM, 64, 50, 53), LIVE(GRAD_NORM_0_BIAS_SUM, 64, 46, 51),
        LIVE(GRAD_NORM_2_WEIGHT_SUM, 256, 42, 43), LIVE(GRAD_NORM_2_WEIGHT_SUM_2, 64, 43, 51),
        LIVE(GRAD_NORM_2_BIAS_SUM, 64, 39, 51), LIVE(GRAD_NORM_4_WEIGHT_SUM, 64, 36, 51),
        LIVE(GRAD_NORM_4_BIAS_SUM, 64, 33, 51), LIVE(ADAMW_NEG, 64, 30, 52),
        LIVE(ADAMW_SUB, 64, 30, 52), LIVE(ADAMW_SUB_2, 64, 30, 52), LIVE(ADAMW_CAST, 64, 30, 52),
        LIVE(ADAMW_SUB_3, 64, 30, 52), LIVE(WORK, 16576, 0, 0), LIVE(WORK, 16576, 2, 2),
        LIVE(WORK, 2752, 7, 7), LIVE(WORK, 20672, 20, 20), LIVE(WORK, 16576, 21, 21),
        LIVE(WORK, 16576, 24, 24), LIVE(WORK, 131264, 26, 26), LIVE(WORK, 65728, 28, 28),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_X, 2048, 0, 0), LIVE(F_LABELS, 128, 0, 10), LIVE(F_1_OUT, 4096, 0, 2),
        LIVE(F_3_OUT, 4096, 2, 4), LIVE(F_LOGITS, 640, 4, 12),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 6, 10), LIVE(F_COUNT, 64, 6, 12),
        LIVE(F_CROSS_ENTROPY_SELECT, 128, 6, 7), LIVE(F_BAD_LABEL, 64, 7, 12),
        LIVE(F_CROSS_ENTROPY_MAX, 64, 9, 10), LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 10, 11),
        LIVE(F_LOSS, 64, 11, 12), LIVE(F_WORK, 32960, 0, 0), LIVE(F_WORK, 32960, 2, 2),
        LIVE(F_WORK, 5312, 4, 4),
        {0}}, (RtLoop[]){{0}});
}

RT_KERNELS("kernels.fatbin");

static const RtModel model = {
    .name = "mlp",
    .options = "shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer adamw --ranks 2 --transport tcp --mesh dp=2 --plan-preset fsd"
               "p --target cuda --march native --cluster h100x2",
    .plan = "2 ranks as dp=2, arena 253888 bytes, bound 253888",
    .plan_hash = 0xcbd304a8fe377230,
    .arena_bytes = 253888,
    .slots = 2,
    .exchange_bytes = 111232,
    .n_kernels = 11,
    .threads = 1,
    .accumulate = 1,
    .init_std = 0,
    .flops = 585728,
    .vocabulary = 0,
    .peak = 4.69e+13,
    .ignores = true,
    .ignored_label = -100,
    .mesh = {1, {2}, {"dp"}},
    .transport = &rt_tcp,
    .collectives = &rt_cuda_collectives,
    .cuts = cuts,
    .n_cuts = sizeof cuts / sizeof *cuts,
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
    .identity = 0x03440431e8bbb59f,
};

int main(int argc, char **argv)
{
    return rt_main(&model, argc, argv);
}
