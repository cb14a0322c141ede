// Made by shardcc. Changes here are lost when it is made again.
//   shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --accumulate 2
//      --precision bf16 --march x86-64-v3
//   plan: 1 rank, arena 183552 bytes, bound 183552
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They come first, after the names of offsets in memory;
// fused functions, the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt.h"

static const int64_t B = 8, CLASSES = 10, MODEL_0_SIZE = 64, MODEL_0_SIZE_2 = 32,
    MODEL_2_SIZE = 64;
// Offsets of values in the arena, in bytes from its start `m`; where layers repeat, of layer 0.
// OUT is the result of a module, D_ a gradient, D_ and IN the gradient of its input. RECOMPUTED_
// is made again in the backward part. F_ is for forward alone. Values that aren't needed together
// share bytes.
static const int64_t MODEL_0_WEIGHT = 0, MODEL_0_BIAS = 8256,
    MODEL_2_WEIGHT = 8576, MODEL_2_BIAS = 25024, MODEL_4_WEIGHT = 25344,
    MODEL_4_BIAS = 27968, CONSTANT = 28096, CONSTANT_2 = 28224, CONSTANT_3 = 28352,
    CONSTANT_4 = 28480, CONSTANT_5 = 28608, LOSS_SUM = 28736, LOSS_COUNT = 28864,
    MODEL_0_WEIGHT_GRAD = 28992, MODEL_0_BIAS_GRAD = 37248, MODEL_2_WEIGHT_GRAD = 37568,
    MODEL_2_BIAS_GRAD = 54016, MODEL_4_WEIGHT_GRAD = 54336, MODEL_4_BIAS_GRAD = 56960,
    LR = 57088, BETA1 = 57216, STEP = 57344, BETA2 = 57472, EPS = 57600,
    WEIGHT_DECAY = 57728, MODEL_0_WEIGHT_EXP_AVG = 57856,
    MODEL_0_WEIGHT_EXP_AVG_SQ = 66112, MODEL_0_BIAS_EXP_AVG = 74368,
    MODEL_0_BIAS_EXP_AVG_SQ = 74688, MODEL_2_WEIGHT_EXP_AVG = 75008,
    MODEL_2_WEIGHT_EXP_AVG_SQ = 91456, MODEL_2_BIAS_EXP_AVG = 107904,
    MODEL_2_BIAS_EXP_AVG_SQ = 108224, MODEL_4_WEIGHT_EXP_AVG = 108544,
    MODEL_4_WEIGHT_EXP_AVG_SQ = 111168, MODEL_4_BIAS_EXP_AVG = 113792,
    MODEL_4_BIAS_EXP_AVG_SQ = 113920, CONSTANT_6 = 114048, CONSTANT_7 = 114176,
    CONSTANT_8 = 114304, CONSTANT_9 = 114432, CONSTANT_10 = 114560;
static const int64_t MODEL_0_CAST = 122944, MODEL_2_CAST = 114688, MODEL_4_CAST = 176384,
    X = 178816, MODEL_0_CAST_2 = 145600, MODEL_0_DOT = 177728, MODEL_2_CAST_2 = 153920,
    MODEL_2_DOT = 159936, MODEL_4_CAST_2 = 140480, MODEL_4_DOT = 141568,
    MODEL_4_OUT = 131264, LABELS = 153792, CROSS_ENTROPY_EQ = 131776,
    CROSS_ENTROPY_SELECT = 127104, CROSS_ENTROPY_SELECT_2 = 131904,
    CROSS_ENTROPY_NEG = 131648, CROSS_ENTROPY_MIN = 182528, BAD_LABEL = 182528,
    CROSS_ENTROPY_MAX = 132032, CROSS_ENTROPY_EXP = 131264, CROSS_ENTROPY_DIV = 127680,
    CROSS_ENTROPY_SELECT_3 = 127808, CROSS_ENTROPY_SUM = 182976, D_4_CAST = 146688,
    D_4_IN = 183104, D_4_DOT = 145600, RECOMPUTED_4_CAST = 145600, D_2_CAST = 159936,
    D_4_IN_2 = 179904, D_2_IN = 182656, D_2_DOT = 153792, RECOMPUTED_2_CAST = 153792,
    D_0_CAST = 177728, D_2_IN_2 = 127104, D_0_IN = 183232, RECOMPUTED_0_CAST = 155968,
    D_0_IN_2 = 143552, CROSS_ENTROPY_DIV_2 = 127104, GRAD_NORM_0_WEIGHT_SUM = 115008,
    GRAD_NORM_0_BIAS_SUM = 116416, GRAD_NORM_2_WEIGHT_SUM = 114688,
    GRAD_NORM_2_BIAS_SUM = 115904, GRAD_NORM_4_WEIGHT_SUM = 116032,
    GRAD_NORM_4_BIAS_SUM = 116160, GRAD_NORM_0_WEIGHT_SUM_2 = 116288,
    GRAD_NORM_ADD = 116288, GRAD_NORM_2_WEIGHT_SUM_2 = 115584, GRAD_NORM = 116288,
    ADAMW_NEG = 114688, ADAMW_SUB = 114816, ADAMW_SUB_2 = 114944, ADAMW_CAST = 115072,
    ADAMW_SUB_3 = 115200, WORK = 127104, WORK_2 = 143552, WORK_3 = 151808,
    WORK_4 = 115328, WORK_5 = 115008;
static const int64_t F_X = 114688, F_0_CAST = 137344, F_0_CAST_2 = 133184,
    F_0_DOT = 149632, F_2_CAST = 149632, F_2_CAST_2 = 141376, F_2_DOT = 150720,
    F_4_CAST = 150720, F_4_CAST_2 = 128064, F_4_DOT = 129408, F_LOGITS = 118848,
    F_LABELS = 151808, F_CROSS_ENTROPY_EQ = 119232, F_COUNT = 119360,
    F_CROSS_ENTROPY_SELECT = 114688, F_CROSS_ENTROPY_MIN = 119488, F_BAD_LABEL = 119488,
    F_CROSS_ENTROPY_MAX = 119616, F_CROSS_ENTROPY_SELECT_2 = 115264, F_LOSS = 115392,
    F_WORK = 114688;
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(offset) ((void *)(m + (offset)))
// Kernels that init prepares, each after the first result that it makes.
enum { MODEL_0_DOT_KERNEL, MODEL_2_DOT_KERNEL, MODEL_4_DOT_KERNEL, D_4_DOT_KERNEL, D_4_IN_2_KERNEL,
    D_2_DOT_KERNEL, D_2_IN_2_KERNEL, D_0_IN_2_KERNEL };

static RtRows cast_forward, module_0_forward, module_2_forward, module_4_forward,
    module_4_add_forward, count_forward, cross_entropy_forward, cross_entropy_log_forward,
    module_4_backward, module_2_backward, module_0_backward, sum_backward, grad_backward,
    cross_entropy_update, grad_norm, grad_norm_reduce_sum, grad_norm_reduce_sum_2,
    grad_norm_reduce_sum_3, grad_norm_add, grad_norm_sqrt, adamw_scalars, adamw,
    cross_entropy_predict, cross_entropy_log_predict;
// The operands of fused functions, by their names there.
struct cast_forward { const float *weight; RtBf16 *y0; };
struct module_0_forward { const float *x0; RtBf16 *y0; };
struct module_2_forward { const RtBf16 *x0; const float *bias; RtBf16 *y0; };
struct module_4_forward { const RtBf16 *x0; const float *bias; RtBf16 *y0; };
struct module_4_add_forward { const RtBf16 *x0; const float *bias; float *y0; };
struct count_forward {
    const int64_t *x0, *x1, *x2, *x3, *x4, *x5;
    float *x6;
    uint8_t *y0;
    int64_t *y1;
    float *y2, *y3;
};
struct cross_entropy_forward { const int64_t *x0; int64_t *y0; };
struct cross_entropy_log_forward {
    const float *x0, *x1, *x2;
    const int64_t *x3;
    const uint8_t *x4;
    float *y0, *y1, *y2;
};
struct module_4_backward { const float *x0, *x1; const int64_t *x2; const float *x3; RtBf16 *y0; };
struct module_2_backward { const RtBf16 *x0, *x1; const float *bias; RtBf16 *y0, *y1; };
struct module_0_backward { const RtBf16 *x0, *x1; const float *bias; RtBf16 *y0, *y1; };
struct sum_backward { float *sum; const float *x1; };
struct grad_backward { float *x0; const float *x1; };
struct cross_entropy_update { const float *x0; float *y0; };
struct grad_norm { float *x0; const float *x1; float *y1; };
struct grad_norm_reduce_sum { float *x0; const float *x1; float *y1; int64_t n0; };
struct grad_norm_reduce_sum_2 { float *x0; const float *x1; float *y1; };
struct grad_norm_reduce_sum_3 { float *x0; const float *x1; float *y1; };
struct grad_norm_add { const float *x0, *x1; float *y0; };
struct grad_norm_sqrt { const float *x0, *x1, *x2, *x3, *x4; float *y0; };
struct adamw_scalars {
    const float *beta1, *step, *lr, *beta2, *weight_decay;
    float *y0, *y1, *y2, *y3, *y4;
};
struct adamw {
    float *param;
    const float *x1, *x2;
    float *exp_avg;
    const float *x4, *x5;
    float *exp_avg_sq;
    const float *beta2, *x8, *eps, *x10;
};
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
#define ADAMW_SHARED \
    .x1 = AT(ADAMW_SUB_3), .x4 = AT(ADAMW_SUB_2), .x5 = AT(ADAMW_SUB), .beta2 = AT(BETA2), \
    .x8 = AT(ADAMW_CAST), .eps = AT(EPS), .x10 = AT(ADAMW_NEG)

static void prepare(Rt *rt, char *m)
{
    RT_AT(rt, "0: cast bf16[64,32]", .flops = 2.05e3, .reads = 1.23e4, .writes = 4.1e3);
    RT_ROWS(rt, cast_forward, MODEL_0_SIZE * MODEL_0_SIZE_2, 1, .weight = AT(MODEL_0_WEIGHT),
        .y0 = AT(MODEL_0_CAST));
    RT_AT(rt, "2: cast bf16[64,64]", .flops = 4.1e3, .reads = 2.46e4, .writes = 8.19e3);
    RT_ROWS(rt, cast_forward, MODEL_2_SIZE * MODEL_0_SIZE, 1, .weight = AT(MODEL_2_WEIGHT),
        .y0 = AT(MODEL_2_CAST));
    RT_AT(rt, "4: cast bf16[10,64]", .flops = 640, .reads = 3.84e3, .writes = 1.28e3);
    RT_ROWS(rt, cast_forward, CLASSES * MODEL_2_SIZE, 1, .weight = AT(MODEL_4_WEIGHT),
        .y0 = AT(MODEL_4_CAST));
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "0: cast bf16[8,32]", .flops = 256, .reads = 1.54e3, .writes = 512);
    RT_ROWS(rt, module_0_forward, B * MODEL_0_SIZE_2, 1, .x0 = AT(X), .y0 = AT(MODEL_0_CAST_2));
    RT_AT(rt, "0: dot bf16[8,64]", .flops = 3.28e4, .reads = 5.63e3, .writes = 1.02e3);
    rt_dot(WITH(WORK), MODEL_0_DOT_KERNEL, AT(MODEL_0_DOT), AT(MODEL_0_CAST_2), AT(MODEL_0_CAST));
    RT_AT(rt, "2: cast add le select cast bf16[8,64]",
        .flops = 2.56e3, .reads = 2.3e3, .writes = 1.02e3);
    RT_ROWS(rt, module_2_forward, B, 5 * MODEL_0_SIZE, .x0 = AT(MODEL_0_DOT),
        .bias = AT(MODEL_0_BIAS), .y0 = AT(MODEL_2_CAST_2));
    RT_AT(rt, "2: dot bf16[8,64]", .flops = 6.55e4, .reads = 1.02e4, .writes = 1.02e3);
    rt_dot(WITH(WORK), MODEL_2_DOT_KERNEL, AT(MODEL_2_DOT), AT(MODEL_2_CAST_2), AT(MODEL_2_CAST));
    RT_AT(rt, "4: cast add tanh cast bf16[8,64]",
        .flops = 9.22e3, .reads = 2.3e3, .writes = 1.02e3);
    RT_ROWS(rt, module_4_forward, B, 4 * MODEL_2_SIZE, .x0 = AT(MODEL_2_DOT),
        .bias = AT(MODEL_2_BIAS), .y0 = AT(MODEL_4_CAST_2));
    RT_AT(rt, "4: dot bf16[8,10]", .flops = 1.02e4, .reads = 2.46e3, .writes = 160);
    rt_dot(WITH(WORK), MODEL_4_DOT_KERNEL, AT(MODEL_4_DOT), AT(MODEL_4_CAST_2), AT(MODEL_4_CAST));
    RT_AT(rt, "4: cast add f32[8,10]", .flops = 160, .reads = 520, .writes = 320);
    RT_ROWS(rt, module_4_add_forward, B, 2 * CLASSES, .x0 = AT(MODEL_4_DOT),
        .bias = AT(MODEL_4_BIAS), .y0 = AT(MODEL_4_OUT));
    RT_AT(rt, "loss.count: eq not cast reduce_sum lt le or and ... f32[]",
        .flops = 89, .reads = 524, .writes = 140);
    RT_ROWS(rt, count_forward, 1, 12 * B, .x0 = AT(LABELS), .x1 = AT(CONSTANT),
        .x2 = AT(CONSTANT_2), .x3 = AT(CONSTANT_3), .x4 = AT(CONSTANT_4), .x5 = AT(CONSTANT_5),
        .x6 = AT(LOSS_COUNT), .y0 = AT(CROSS_ENTROPY_EQ), .y1 = AT(CROSS_ENTROPY_SELECT),
        .y2 = AT(CROSS_ENTROPY_SELECT_2), .y3 = AT(CROSS_ENTROPY_NEG));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 8, .reads = 72, .writes = 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(CROSS_ENTROPY_MIN), AT(CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]", .flops = 10, .reads = 8, .writes = 8);
    RT_ROWS(rt, cross_entropy_forward, 1, 1, .x0 = AT(CROSS_ENTROPY_MIN), .y0 = AT(BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[8]",
        .flops = 80, .reads = 352, .writes = 32);
    rt_reduce(WITH(WORK), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {B, CLASSES},
        .stride = {CLASSES, 1}, .reduced = {0, 1}}, AT(CROSS_ENTROPY_MAX), AT(MODEL_4_OUT));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log div iota eq ... f32[8]",
        .flops = 1.33e3, .reads = 520, .writes = 384);
    RT_ROWS(rt, cross_entropy_log_forward, B, 11 * CLASSES, .x0 = AT(MODEL_4_OUT),
        .x1 = AT(CROSS_ENTROPY_MAX), .x2 = AT(CROSS_ENTROPY_SELECT_2), .x3 = AT(LABELS),
        .x4 = AT(CROSS_ENTROPY_EQ), .y0 = AT(CROSS_ENTROPY_EXP), .y1 = AT(CROSS_ENTROPY_DIV),
        .y2 = AT(CROSS_ENTROPY_SELECT_3));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 8, .reads = 36, .writes = 4);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(CROSS_ENTROPY_SUM), AT(CROSS_ENTROPY_SELECT_3));
    RT_AT(rt, "4: mul iota eq select add cast bf16[8,10]",
        .flops = 400, .reads = 608, .writes = 160);
    RT_ROWS(rt, module_4_backward, B, 6 * CLASSES, .x0 = AT(CROSS_ENTROPY_DIV),
        .x1 = AT(CROSS_ENTROPY_EXP), .x2 = AT(LABELS), .x3 = AT(CROSS_ENTROPY_NEG),
        .y0 = AT(D_4_CAST));
    RT_AT(rt, "4: reduce_sum f32[10]", .flops = 80, .reads = 200, .writes = 40);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_BF16, .rank = 2, .dim = {B, CLASSES},
        .stride = {CLASSES, 1}, .reduced = {1, 0}}, AT(D_4_IN), AT(D_4_CAST));
    RT_AT(rt, "4: dot bf16[8,64]", .flops = 1.02e4, .reads = 2.46e3, .writes = 1.02e3);
    rt_dot(WITH(WORK), D_4_DOT_KERNEL, AT(D_4_DOT), AT(D_4_CAST), AT(MODEL_4_CAST));
    RT_AT(rt, "2: cast cast add tanh mul cast sub mul cast bf16[8,64]",
        .flops = 1.18e4, .reads = 2.3e3, .writes = 2.05e3);
    RT_ROWS(rt, module_2_backward, B, 9 * MODEL_2_SIZE, .x0 = AT(D_4_DOT), .x1 = AT(MODEL_2_DOT),
        .bias = AT(MODEL_2_BIAS), .y0 = AT(RECOMPUTED_4_CAST), .y1 = AT(D_2_CAST));
    RT_AT(rt, "4: dot f32[10,64]", .flops = 1.02e4, .reads = 3.74e3, .writes = 2.56e3);
    rt_dot(WITH(WORK), D_4_IN_2_KERNEL, AT(D_4_IN_2), AT(RECOMPUTED_4_CAST), AT(D_4_CAST));
    RT_AT(rt, "2: reduce_sum f32[64]", .flops = 512, .reads = 1.28e3, .writes = 256);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_BF16, .rank = 2, .dim = {B, MODEL_2_SIZE},
        .stride = {MODEL_2_SIZE, 1}, .reduced = {1, 0}}, AT(D_2_IN), AT(D_2_CAST));
    RT_AT(rt, "2: dot bf16[8,64]", .flops = 6.55e4, .reads = 1.02e4, .writes = 1.02e3);
    rt_dot(WITH(WORK), D_2_DOT_KERNEL, AT(D_2_DOT), AT(D_2_CAST), AT(MODEL_2_CAST));
    RT_AT(rt, "0: cast cast add le select select cast cast bf16[8,64]",
        .flops = 4.1e3, .reads = 2.3e3, .writes = 2.05e3);
    RT_ROWS(rt, module_0_backward, B, 8 * MODEL_0_SIZE, .x0 = AT(D_2_DOT), .x1 = AT(MODEL_0_DOT),
        .bias = AT(MODEL_0_BIAS), .y0 = AT(RECOMPUTED_2_CAST), .y1 = AT(D_0_CAST));
    RT_AT(rt, "2: dot f32[64,64]", .flops = 6.55e4, .reads = 1.84e4, .writes = 1.64e4);
    rt_dot(WITH(WORK_2), D_2_IN_2_KERNEL, AT(D_2_IN_2), AT(RECOMPUTED_2_CAST), AT(D_2_CAST));
    RT_AT(rt, "0: reduce_sum f32[64]", .flops = 512, .reads = 1.28e3, .writes = 256);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_BF16, .rank = 2, .dim = {B, MODEL_0_SIZE},
        .stride = {MODEL_0_SIZE, 1}, .reduced = {1, 0}}, AT(D_0_IN), AT(D_0_CAST));
    RT_AT(rt, "0: cast bf16[8,32]", .flops = 256, .reads = 1.54e3, .writes = 512);
    RT_ROWS(rt, module_0_forward, B * MODEL_0_SIZE_2, 1, .x0 = AT(X), .y0 = AT(RECOMPUTED_0_CAST));
    RT_AT(rt, "0: dot f32[64,32]", .flops = 3.28e4, .reads = 9.73e3, .writes = 8.19e3);
    rt_dot(WITH(WORK_3), D_0_IN_2_KERNEL, AT(D_0_IN_2), AT(RECOMPUTED_0_CAST), AT(D_0_CAST));
    RT_AT(rt, "loss.sum: add f32[]", .flops = 1, .reads = 8, .writes = 4);
    RT_ROWS(rt, sum_backward, 1, 1, .sum = AT(LOSS_SUM), .x1 = AT(CROSS_ENTROPY_SUM));
    RT_AT(rt, "0.weight.grad: add f32[64,32]",
        .flops = 2.05e3, .reads = 1.64e4, .writes = 8.19e3);
    RT_ROWS(rt, grad_backward, MODEL_0_SIZE * MODEL_0_SIZE_2, 1, .x0 = AT(MODEL_0_WEIGHT_GRAD),
        .x1 = AT(D_0_IN_2));
    RT_AT(rt, "0.bias.grad: add f32[64]", .flops = 64, .reads = 512, .writes = 256);
    RT_ROWS(rt, grad_backward, MODEL_0_SIZE, 1, .x0 = AT(MODEL_0_BIAS_GRAD), .x1 = AT(D_0_IN));
    RT_AT(rt, "2.weight.grad: add f32[64,64]",
        .flops = 4.1e3, .reads = 3.28e4, .writes = 1.64e4);
    RT_ROWS(rt, grad_backward, MODEL_2_SIZE * MODEL_0_SIZE, 1, .x0 = AT(MODEL_2_WEIGHT_GRAD),
        .x1 = AT(D_2_IN_2));
    RT_AT(rt, "2.bias.grad: add f32[64]", .flops = 64, .reads = 512, .writes = 256);
    RT_ROWS(rt, grad_backward, MODEL_2_SIZE, 1, .x0 = AT(MODEL_2_BIAS_GRAD), .x1 = AT(D_2_IN));
    RT_AT(rt, "4.weight.grad: add f32[10,64]",
        .flops = 640, .reads = 5.12e3, .writes = 2.56e3);
    RT_ROWS(rt, grad_backward, CLASSES * MODEL_2_SIZE, 1, .x0 = AT(MODEL_4_WEIGHT_GRAD),
        .x1 = AT(D_4_IN_2));
    RT_AT(rt, "4.bias.grad: add f32[10]", .flops = 10, .reads = 80, .writes = 40);
    RT_ROWS(rt, grad_backward, CLASSES, 1, .x0 = AT(MODEL_4_BIAS_GRAD), .x1 = AT(D_4_IN));
}

static void reduce(Rt *rt, char *m)
{
    RT_AT(rt, "cross_entropy: div f32[]", .flops = 4, .reads = 8, .writes = 4);
    RT_ROWS(rt, cross_entropy_update, 1, 1, .x0 = AT(LOSS_COUNT), .y0 = AT(CROSS_ENTROPY_DIV_2));
    RT_AT(rt, "grad_norm 0.weight: mul mul reduce_sum f32[64]",
        .flops = 6.14e3, .reads = 8.45e3, .writes = 8.45e3);
    RT_ROWS(rt, grad_norm, MODEL_0_SIZE, 3 * MODEL_0_SIZE_2, .x0 = AT(MODEL_0_WEIGHT_GRAD),
        .x1 = AT(CROSS_ENTROPY_DIV_2), .y1 = AT(GRAD_NORM_0_WEIGHT_SUM));
    rt_gradient(rt, 0, 0, AT(MODEL_0_WEIGHT_GRAD));  // 0.weight
    RT_AT(rt, "grad_norm 0.bias: mul mul reduce_sum f32[]",
        .flops = 192, .reads = 264, .writes = 260);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 3 * MODEL_0_SIZE, .x0 = AT(MODEL_0_BIAS_GRAD),
        .x1 = AT(CROSS_ENTROPY_DIV_2), .y1 = AT(GRAD_NORM_0_BIAS_SUM), .n0 = MODEL_0_SIZE);
    rt_gradient(rt, 1, 0, AT(MODEL_0_BIAS_GRAD));  // 0.bias
    RT_AT(rt, "grad_norm 2.weight: mul mul reduce_sum f32[64]",
        .flops = 1.23e4, .reads = 1.66e4, .writes = 1.66e4);
    RT_ROWS(rt, grad_norm_reduce_sum_2, MODEL_2_SIZE, 3 * MODEL_0_SIZE,
        .x0 = AT(MODEL_2_WEIGHT_GRAD), .x1 = AT(CROSS_ENTROPY_DIV_2),
        .y1 = AT(GRAD_NORM_2_WEIGHT_SUM));
    rt_gradient(rt, 2, 0, AT(MODEL_2_WEIGHT_GRAD));  // 2.weight
    RT_AT(rt, "grad_norm 2.bias: mul mul reduce_sum f32[]",
        .flops = 192, .reads = 264, .writes = 260);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 3 * MODEL_2_SIZE, .x0 = AT(MODEL_2_BIAS_GRAD),
        .x1 = AT(CROSS_ENTROPY_DIV_2), .y1 = AT(GRAD_NORM_2_BIAS_SUM), .n0 = MODEL_2_SIZE);
    rt_gradient(rt, 3, 0, AT(MODEL_2_BIAS_GRAD));  // 2.bias
    RT_AT(rt, "grad_norm 4.weight: mul mul reduce_sum f32[]",
        .flops = 1.92e3, .reads = 2.57e3, .writes = 2.56e3);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 3 * CLASSES * MODEL_2_SIZE, .x0 = AT(MODEL_4_WEIGHT_GRAD),
        .x1 = AT(CROSS_ENTROPY_DIV_2), .y1 = AT(GRAD_NORM_4_WEIGHT_SUM),
        .n0 = CLASSES * MODEL_2_SIZE);
    rt_gradient(rt, 4, 0, AT(MODEL_4_WEIGHT_GRAD));  // 4.weight
    RT_AT(rt, "grad_norm 4.bias: mul mul reduce_sum f32[]",
        .flops = 30, .reads = 48, .writes = 44);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 3 * CLASSES, .x0 = AT(MODEL_4_BIAS_GRAD),
        .x1 = AT(CROSS_ENTROPY_DIV_2), .y1 = AT(GRAD_NORM_4_BIAS_SUM));
    rt_gradient(rt, 5, 0, AT(MODEL_4_BIAS_GRAD));  // 4.bias
    RT_AT(rt, "grad_norm 0.weight: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4);
    rt_reduce(WITH(WORK_4), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {MODEL_0_SIZE},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_0_WEIGHT_SUM_2), AT(GRAD_NORM_0_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add add f32[]", .flops = 2, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_add, 1, 2, .x0 = AT(GRAD_NORM_0_WEIGHT_SUM_2),
        .x1 = AT(GRAD_NORM_0_BIAS_SUM), .y0 = AT(GRAD_NORM_ADD));
    RT_AT(rt, "grad_norm 2.weight: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4);
    rt_reduce(WITH(WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {MODEL_2_SIZE},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_2_WEIGHT_SUM_2), AT(GRAD_NORM_2_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add add add add sqrt f32[]",
        .flops = 8, .reads = 20, .writes = 4);
    RT_ROWS(rt, grad_norm_sqrt, 1, 5, .x0 = AT(GRAD_NORM_ADD), .x1 = AT(GRAD_NORM_2_WEIGHT_SUM_2),
        .x2 = AT(GRAD_NORM_2_BIAS_SUM), .x3 = AT(GRAD_NORM_4_WEIGHT_SUM),
        .x4 = AT(GRAD_NORM_4_BIAS_SUM), .y0 = AT(GRAD_NORM));
}

static void update(Rt *rt, char *m)
{
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub ... f32[]",
        .flops = 66, .reads = 40, .writes = 20);
    RT_ROWS(rt, adamw_scalars, 1, 19, .beta1 = AT(BETA1), .step = AT(STEP), .lr = AT(LR),
        .beta2 = AT(BETA2), .weight_decay = AT(WEIGHT_DECAY), .y0 = AT(ADAMW_NEG),
        .y1 = AT(ADAMW_SUB), .y2 = AT(ADAMW_SUB_2), .y3 = AT(ADAMW_CAST), .y4 = AT(ADAMW_SUB_3));
    RT_AT(rt, "adamw 0.weight: mul sub mul mul mul add mul add ... f32[64,32]",
        .flops = 4.1e4, .reads = 3.28e4, .writes = 2.46e4);
    RT_ROWS(rt, adamw, MODEL_0_SIZE * MODEL_0_SIZE_2, 14, .param = AT(MODEL_0_WEIGHT),
        .x2 = AT(MODEL_0_WEIGHT_GRAD), .exp_avg = AT(MODEL_0_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_0_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw 0.bias: mul sub mul mul mul add mul add sqrt ... f32[64]",
        .flops = 1.28e3, .reads = 1.05e3, .writes = 768);
    RT_ROWS(rt, adamw, MODEL_0_SIZE, 14, .param = AT(MODEL_0_BIAS), .x2 = AT(MODEL_0_BIAS_GRAD),
        .exp_avg = AT(MODEL_0_BIAS_EXP_AVG), .exp_avg_sq = AT(MODEL_0_BIAS_EXP_AVG_SQ),
        ADAMW_SHARED);
    RT_AT(rt, "adamw 2.weight: mul sub mul mul mul add mul add ... f32[64,64]",
        .flops = 8.19e4, .reads = 6.56e4, .writes = 4.92e4);
    RT_ROWS(rt, adamw, MODEL_2_SIZE * MODEL_0_SIZE, 14, .param = AT(MODEL_2_WEIGHT),
        .x2 = AT(MODEL_2_WEIGHT_GRAD), .exp_avg = AT(MODEL_2_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_2_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw 2.bias: mul sub mul mul mul add mul add sqrt ... f32[64]",
        .flops = 1.28e3, .reads = 1.05e3, .writes = 768);
    RT_ROWS(rt, adamw, MODEL_2_SIZE, 14, .param = AT(MODEL_2_BIAS), .x2 = AT(MODEL_2_BIAS_GRAD),
        .exp_avg = AT(MODEL_2_BIAS_EXP_AVG), .exp_avg_sq = AT(MODEL_2_BIAS_EXP_AVG_SQ),
        ADAMW_SHARED);
    RT_AT(rt, "adamw 4.weight: mul sub mul mul mul add mul add ... f32[10,64]",
        .flops = 1.28e4, .reads = 1.03e4, .writes = 7.68e3);
    RT_ROWS(rt, adamw, CLASSES * MODEL_2_SIZE, 14, .param = AT(MODEL_4_WEIGHT),
        .x2 = AT(MODEL_4_WEIGHT_GRAD), .exp_avg = AT(MODEL_4_WEIGHT_EXP_AVG),
        .exp_avg_sq = AT(MODEL_4_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw 4.bias: mul sub mul mul mul add mul add sqrt ... f32[10]",
        .flops = 200, .reads = 188, .writes = 120);
    RT_ROWS(rt, adamw, CLASSES, 14, .param = AT(MODEL_4_BIAS), .x2 = AT(MODEL_4_BIAS_GRAD),
        .exp_avg = AT(MODEL_4_BIAS_EXP_AVG), .exp_avg_sq = AT(MODEL_4_BIAS_EXP_AVG_SQ),
        ADAMW_SHARED);
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "0: cast bf16[8,32]", .flops = 256, .reads = 1.54e3, .writes = 512);
    RT_ROWS(rt, module_0_forward, B * MODEL_0_SIZE_2, 1, .x0 = AT(F_X), .y0 = AT(F_0_CAST));
    RT_AT(rt, "0: cast bf16[64,32]", .flops = 2.05e3, .reads = 1.23e4, .writes = 4.1e3);
    RT_ROWS(rt, cast_forward, MODEL_0_SIZE * MODEL_0_SIZE_2, 1, .weight = AT(MODEL_0_WEIGHT),
        .y0 = AT(F_0_CAST_2));
    RT_AT(rt, "0: dot bf16[8,64]", .flops = 3.28e4, .reads = 5.63e3, .writes = 1.02e3);
    rt_dot(WITH(F_WORK), MODEL_0_DOT_KERNEL, AT(F_0_DOT), AT(F_0_CAST), AT(F_0_CAST_2));
    RT_AT(rt, "2: cast add le select cast bf16[8,64]",
        .flops = 2.56e3, .reads = 1.28e3, .writes = 1.02e3);
    RT_ROWS(rt, module_2_forward, B, 5 * MODEL_0_SIZE, .x0 = AT(F_0_DOT), .bias = AT(MODEL_0_BIAS),
        .y0 = AT(F_2_CAST));
    RT_AT(rt, "2: cast bf16[64,64]", .flops = 4.1e3, .reads = 2.46e4, .writes = 8.19e3);
    RT_ROWS(rt, cast_forward, MODEL_2_SIZE * MODEL_0_SIZE, 1, .weight = AT(MODEL_2_WEIGHT),
        .y0 = AT(F_2_CAST_2));
    RT_AT(rt, "2: dot bf16[8,64]", .flops = 6.55e4, .reads = 1.02e4, .writes = 1.02e3);
    rt_dot(WITH(F_WORK), MODEL_2_DOT_KERNEL, AT(F_2_DOT), AT(F_2_CAST), AT(F_2_CAST_2));
    RT_AT(rt, "4: cast add tanh cast bf16[8,64]",
        .flops = 9.22e3, .reads = 1.28e3, .writes = 1.02e3);
    RT_ROWS(rt, module_4_forward, B, 4 * MODEL_2_SIZE, .x0 = AT(F_2_DOT), .bias = AT(MODEL_2_BIAS),
        .y0 = AT(F_4_CAST));
    RT_AT(rt, "4: cast bf16[10,64]", .flops = 640, .reads = 3.84e3, .writes = 1.28e3);
    RT_ROWS(rt, cast_forward, CLASSES * MODEL_2_SIZE, 1, .weight = AT(MODEL_4_WEIGHT),
        .y0 = AT(F_4_CAST_2));
    RT_AT(rt, "4: dot bf16[8,10]", .flops = 1.02e4, .reads = 2.46e3, .writes = 160);
    rt_dot(WITH(F_WORK), MODEL_4_DOT_KERNEL, AT(F_4_DOT), AT(F_4_CAST), AT(F_4_CAST_2));
    RT_AT(rt, "4: cast add f32[8,10]", .flops = 160, .reads = 520, .writes = 320);
    RT_ROWS(rt, module_4_add_forward, B, 2 * CLASSES, .x0 = AT(F_4_DOT), .bias = AT(MODEL_4_BIAS),
        .y0 = AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[8]",
        .flops = 72, .reads = 460, .writes = 76);
    RT_ROWS(rt, cross_entropy_predict, 1, 9 * B, .x0 = AT(F_LABELS), .x1 = AT(CONSTANT_6),
        .x2 = AT(CONSTANT_7), .x3 = AT(CONSTANT_8), .x4 = AT(CONSTANT_9), .x5 = AT(CONSTANT_10),
        .y0 = AT(F_CROSS_ENTROPY_EQ), .y1 = AT(F_COUNT), .y2 = AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 8, .reads = 72, .writes = 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(F_CROSS_ENTROPY_MIN), AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]", .flops = 10, .reads = 8, .writes = 8);
    RT_ROWS(rt, cross_entropy_forward, 1, 1, .x0 = AT(F_CROSS_ENTROPY_MIN), .y0 = AT(F_BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[8]",
        .flops = 80, .reads = 352, .writes = 32);
    rt_reduce(WITH(F_WORK), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {B, CLASSES}, .stride = {CLASSES, 1}, .reduced = {0, 1}}, AT(F_CROSS_ENTROPY_MAX),
        AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq select ... f32[8]",
        .flops = 1.3e3, .reads = 456, .writes = 32);
    RT_ROWS(rt, cross_entropy_log_predict, B, 10 * CLASSES, .x0 = AT(F_LOGITS),
        .x1 = AT(F_CROSS_ENTROPY_MAX), .x2 = AT(F_LABELS), .x3 = AT(F_CROSS_ENTROPY_EQ),
        .y0 = AT(F_CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 8, .reads = 36, .writes = 4);
    rt_reduce(WITH(F_WORK), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B}, .stride = {1},
        .reduced = {1}}, AT(F_LOSS), AT(F_CROSS_ENTROPY_SELECT_2));
}

// 0, 2 and 1 more: cast
static void cast_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cast_forward *p = operands;
    const float *weight = p->weight;
    RtBf16 *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = rt_to_bf16(weight[i]);
}

// 0: cast; 256 elements; x0 x
static void module_0_forward(const void *operands, int64_t first, int64_t last)
{
    const struct module_0_forward *p = operands;
    const float *x0 = p->x0;
    RtBf16 *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = rt_to_bf16(x0[i]);
}

// 2: cast add le select; 8 rows of 64; x0 0
static void module_2_forward(const void *operands, int64_t first, int64_t last)
{
    const struct module_2_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const RtBf16 *x0 = p->x0 + i0 * 64;
        const float *bias = p->bias;
        RtBf16 *y0 = p->y0 + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = rt_from_bf16(x0[i]) + bias[i];
            y0[i] = rt_to_bf16(v1 <= 0.0f ? 0.0f : v1);
        }
    }
}

// 4: cast add tanh; 8 rows of 64; x0 2
static void module_4_forward(const void *operands, int64_t first, int64_t last)
{
    const struct module_4_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const RtBf16 *x0 = p->x0 + i0 * 64;
        const float *bias = p->bias;
        RtBf16 *y0 = p->y0 + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++)
            y0[i] = rt_to_bf16(rt_tanhf(rt_from_bf16(x0[i]) + bias[i]));
    }
}

// 4: cast add; 8 rows of 10
static void module_4_add_forward(const void *operands, int64_t first, int64_t last)
{
    const struct module_4_add_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const RtBf16 *x0 = p->x0 + i0 * 10;
        const float *bias = p->bias;
        float *y0 = p->y0 + i0 * 10;
        RT_SIMD for (int64_t i = 0; i < 10; i++)
            y0[i] = rt_from_bf16(x0[i]) + bias[i];
    }
}

// loss.count: eq not cast reduce_sum lt le or and select neg add; 8 elements
static void count_forward(const void *operands, int64_t first, int64_t last)
{
    const struct count_forward *p = operands;
    float *y4 = p->x6;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = p->x0, *x1 = p->x1, *x2 = p->x2, *x3 = p->x3, *x4 = p->x4, *x5 = p->x5;
        uint8_t *y0 = p->y0;
        int64_t *y1 = p->y1;
        float *y2 = p->y2, *y3 = p->y3;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 8; i++) {
            const uint8_t v1 = x0[i] == x1[i];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            const int64_t v3 = (v2 & ((x0[i] < x2[i]) | (x3[i] <= x0[i]))) ? x4[i] : x5[i];
            const float v4 = v1 ? 0.0f : 1.0f;
            y3[i] = -v4;
            y0[i] = v1;
            y1[i] = v3;
            y2[i] = v4;
        }
        const float x6 = p->x6[0];
        y4[0] = x6 + s0;
    }
}

// cross_entropy: mod; one number
static void cross_entropy_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_forward *p = operands;
    const int64_t x0 = p->x0[0];
    int64_t *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = (int64_t)rt_mod_int(x0, 9);
}

// cross_entropy: sub exp reduce_sum log div iota eq select; 8 rows of 10; x0 4, x3 labels
static void cross_entropy_log_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_log_forward *p = operands;
    float *y1 = p->y1, *y2 = p->y2;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = p->x0 + i0 * 10;
        const float x1 = p->x1[i0];
        const int64_t x3 = p->x3[i0];
        float *y0 = p->y0 + i0 * 10;
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 10; i++) {
            const float v1 = x0[i] - x1;
            const float v2 = rt_exp_lowf(v1);
            s0 += v2;
            s1 += i == x3 ? v1 : 0.0f;
            y0[i] = v2;
        }
        const float x2 = p->x2[i0];
        const uint8_t x4 = p->x4[i0];
        y1[i0] = x2 / s0;
        y2[i0] = x4 ? 0.0f : rt_logf(s0) - s1;
    }
}

// 4: mul iota eq select add cast; 8 rows of 10
static void module_4_backward(const void *operands, int64_t first, int64_t last)
{
    const struct module_4_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = p->x0[i0], x3 = p->x3[i0];
        const float *x1 = p->x1 + i0 * 10;
        const int64_t x2 = p->x2[i0];
        RtBf16 *y0 = p->y0 + i0 * 10;
        RT_SIMD for (int64_t i = 0; i < 10; i++)
            y0[i] = rt_to_bf16(x0 * x1[i] + (i == x2 ? x3 : 0.0f));
    }
}

// 2: cast add tanh mul sub; 8 rows of 64; x0 4
static void module_2_backward(const void *operands, int64_t first, int64_t last)
{
    const struct module_2_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const RtBf16 *x0 = p->x0 + i0 * 64, *x1 = p->x1 + i0 * 64;
        const float *bias = p->bias;
        RtBf16 *y0 = p->y0 + i0 * 64, *y1 = p->y1 + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = rt_tanhf(rt_from_bf16(x1[i]) + bias[i]);
            y1[i] = rt_to_bf16(rt_from_bf16(x0[i]) * (1.0f - v1 * v1));
            y0[i] = rt_to_bf16(v1);
        }
    }
}

// 0: cast add le select; 8 rows of 64; x0 2
static void module_0_backward(const void *operands, int64_t first, int64_t last)
{
    const struct module_0_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const RtBf16 *x0 = p->x0 + i0 * 64, *x1 = p->x1 + i0 * 64;
        const float *bias = p->bias;
        RtBf16 *y0 = p->y0 + i0 * 64, *y1 = p->y1 + i0 * 64;
        RT_SIMD for (int64_t i = 0; i < 64; i++) {
            const float v1 = rt_from_bf16(x0[i]);
            const float v2 = rt_from_bf16(x1[i]) + bias[i];
            const uint8_t v3 = v2 <= 0.0f;
            y1[i] = rt_to_bf16(v3 ? 0.0f : v1);
            y0[i] = rt_to_bf16(v3 ? 0.0f : v2);
        }
    }
}

// loss.sum: add; one number; x1 cross_entropy
static void sum_backward(const void *operands, int64_t first, int64_t last)
{
    const struct sum_backward *p = operands;
    const float sum = p->sum[0], x1 = p->x1[0];
    float *next_sum = p->sum;
    RT_SIMD for (int64_t i = first; i < last; i++)
        next_sum[0] = sum + x1;
}

// 0.weight.grad, 0.bias.grad and 4 more: add
static void grad_backward(const void *operands, int64_t first, int64_t last)
{
    const struct grad_backward *p = operands;
    const float *x0 = p->x0, *x1 = p->x1;
    float *y0 = p->x0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] + x1[i];
}

// cross_entropy: div; one number; x0 loss.count
static void cross_entropy_update(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_update *p = operands;
    const float x0 = p->x0[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = 1.0f / x0;
}

// grad_norm 0.weight: mul reduce_sum; 64 rows of 32; x0 0.weight.grad, x1 cross_entropy
static void grad_norm(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm *p = operands;
    float *y1 = p->y1;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 32;
        const float x1 = p->x1[0];
        float *y0 = p->x0 + i0 * 32;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 32; i++) {
            const float v1 = x0[i] * x1;
            s0 += v1 * v1;
            y0[i] = v1;
        }
        y1[i0] = s0;
    }
}

// grad_norm 0.bias, 2.bias and 1 more: mul reduce_sum; x1 cross_entropy
static void grad_norm_reduce_sum(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum *p = operands;
    const int64_t n0 = p->n0;
    float *y1 = p->y1;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        const float x1 = p->x1[0];
        float *y0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < n0; i++) {
            const float v1 = x0[i] * x1;
            s0 += v1 * v1;
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// grad_norm 2.weight: mul reduce_sum; 64 rows of 64; x0 2.weight.grad, x1 cross_entropy
static void grad_norm_reduce_sum_2(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_2 *p = operands;
    float *y1 = p->y1;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 64;
        const float x1 = p->x1[0];
        float *y0 = p->x0 + i0 * 64;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 64; i++) {
            const float v1 = x0[i] * x1;
            s0 += v1 * v1;
            y0[i] = v1;
        }
        y1[i0] = s0;
    }
}

// grad_norm 4.bias: mul reduce_sum; 10 elements; x0 4.bias.grad, x1 cross_entropy
static void grad_norm_reduce_sum_3(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_3 *p = operands;
    float *y1 = p->y1;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        const float x1 = p->x1[0];
        float *y0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 10; i++) {
            const float v1 = x0[i] * x1;
            s0 += v1 * v1;
            y0[i] = v1;
        }
        y1[0] = s0;
    }
}

// grad_norm: add; one number; x0 grad_norm 0.weight, x1 grad_norm 0.bias
static void grad_norm_add(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = 0.0f + x0 + x1;
}

// grad_norm: add sqrt; one number
static void grad_norm_sqrt(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_sqrt *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0], x2 = p->x2[0], x3 = p->x3[0], x4 = p->x4[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(x0 + x1 + x2 + x3 + x4);
}

// adamw: cast pow sub div sqrt neg mul; one number
static void adamw_scalars(const void *operands, int64_t first, int64_t last)
{
    const struct adamw_scalars *p = operands;
    const float beta1 = p->beta1[0], step = p->step[0], lr = p->lr[0], beta2 = p->beta2[0],
        weight_decay = p->weight_decay[0];
    float *y0 = p->y0, *y1 = p->y1, *y2 = p->y2, *y3 = p->y3, *y4 = p->y4;
    RT_SIMD for (int64_t i = first; i < last; i++) {
        y4[0] = 1.0f - lr * weight_decay;
        y0[0] = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        y1[0] = 1.0f - beta1;
        y2[0] = 1.0f - beta2;
        y3[0] = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
    }
}

// adamw 0.weight, 0.bias and 4 more: mul sub add sqrt div
static void adamw(const void *operands, int64_t first, int64_t last)
{
    const struct adamw *p = operands;
    const float *param = p->param, *x2 = p->x2, *exp_avg = p->exp_avg, *exp_avg_sq = p->exp_avg_sq;
    const float x1 = p->x1[0], x4 = p->x4[0], x5 = p->x5[0], beta2 = p->beta2[0], x8 = p->x8[0],
        eps = p->eps[0], x10 = p->x10[0];
    float *next_exp_avg = p->exp_avg, *next_exp_avg_sq = p->exp_avg_sq, *next_param = p->param;
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x2[i] - exp_avg[i]) * x5;
        const float v2 = exp_avg_sq[i] * beta2 + x2[i] * x2[i] * x4;
        next_param[i] = param[i] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        next_exp_avg[i] = v1;
        next_exp_avg_sq[i] = v2;
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and select; 8 elements
static void cross_entropy_predict(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_predict *p = operands;
    float *y1 = p->y1;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const int64_t *x0 = p->x0, *x1 = p->x1, *x2 = p->x2, *x3 = p->x3, *x4 = p->x4, *x5 = p->x5;
        uint8_t *y0 = p->y0;
        int64_t *y2 = p->y2;
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

// cross_entropy: sub exp reduce_sum log iota eq select; 8 rows of 10; x0 4, x2 labels
static void cross_entropy_log_predict(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_log_predict *p = operands;
    float *y0 = p->y0;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = p->x0 + i0 * 10;
        const float x1 = p->x1[i0];
        const int64_t x2 = p->x2[i0];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 10; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = p->x3[i0];
        y0[i0] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
}

static void init(Rt *rt)
{
    rt_dot_init(rt, MODEL_0_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_0_SIZE, .k = MODEL_0_SIZE_2,
        .a_m = MODEL_0_SIZE_2, .a_k = 1, .b_k = 1, .b_n = MODEL_0_SIZE_2, .y_m = MODEL_0_SIZE,
        .y_n = 1, .type = RT_BF16});  // 0
    rt_dot_init(rt, MODEL_2_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_2_SIZE, .k = MODEL_0_SIZE,
        .a_m = MODEL_0_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_0_SIZE, .y_m = MODEL_2_SIZE,
        .y_n = 1, .type = RT_BF16});  // 2
    rt_dot_init(rt, MODEL_4_DOT_KERNEL, &(RtDot){.m = B, .n = CLASSES, .k = MODEL_2_SIZE,
        .a_m = MODEL_2_SIZE, .a_k = 1, .b_k = 1, .b_n = MODEL_2_SIZE, .y_m = CLASSES, .y_n = 1,
        .type = RT_BF16});  // 4
    rt_dot_init(rt, D_4_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_2_SIZE, .k = CLASSES,
        .a_m = CLASSES, .a_k = 1, .b_k = MODEL_2_SIZE, .b_n = 1, .y_m = MODEL_2_SIZE, .y_n = 1,
        .type = RT_BF16});  // 4
    rt_dot_init(rt, D_4_IN_2_KERNEL, &(RtDot){.m = MODEL_2_SIZE, .n = CLASSES, .k = B, .a_m = 1,
        .a_k = MODEL_2_SIZE, .b_k = CLASSES, .b_n = 1, .y_m = 1, .y_n = MODEL_2_SIZE,
        .type = RT_BF16, .result = RT_F32});  // 4
    rt_dot_init(rt, D_2_DOT_KERNEL, &(RtDot){.m = B, .n = MODEL_0_SIZE, .k = MODEL_2_SIZE,
        .a_m = MODEL_2_SIZE, .a_k = 1, .b_k = MODEL_0_SIZE, .b_n = 1, .y_m = MODEL_0_SIZE,
        .y_n = 1, .type = RT_BF16});  // 2
    rt_dot_init(rt, D_2_IN_2_KERNEL, &(RtDot){.m = MODEL_0_SIZE, .n = MODEL_2_SIZE, .k = B,
        .a_m = 1, .a_k = MODEL_0_SIZE, .b_k = MODEL_2_SIZE, .b_n = 1, .y_m = 1,
        .y_n = MODEL_0_SIZE, .type = RT_BF16, .result = RT_F32});  // 2
    rt_dot_init(rt, D_0_IN_2_KERNEL, &(RtDot){.m = MODEL_0_SIZE_2, .n = MODEL_0_SIZE, .k = B,
        .a_m = 1, .a_k = MODEL_0_SIZE_2, .b_k = MODEL_0_SIZE, .b_n = 1, .y_m = 1,
        .y_n = MODEL_0_SIZE_2, .type = RT_BF16, .result = RT_F32});  // 0
}

// Role, type, name, rank, shape and offset; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "0.weight", 2, {64, 32}, .at = 0},
    {RT_PARAMETER, RT_F32, "0.bias", 1, {64}, .at = 8256},
    {RT_PARAMETER, RT_F32, "2.weight", 2, {64, 64}, .at = 8576},
    {RT_PARAMETER, RT_F32, "2.bias", 1, {64}, .at = 25024},
    {RT_PARAMETER, RT_F32, "4.weight", 2, {10, 64}, .at = 25344},
    {RT_PARAMETER, RT_F32, "4.bias", 1, {10}, .at = 27968},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 28096,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 28224,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 28352,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 28480,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 28608,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
    {RT_ZERO, RT_F32, "loss.sum", 0, {0}, .at = 28736},
    {RT_ZERO, RT_F32, "loss.count", 0, {0}, .at = 28864},
    {RT_ZERO, RT_F32, "0.weight.grad", 2, {64, 32}, .at = 28992},
    {RT_ZERO, RT_F32, "0.bias.grad", 1, {64}, .at = 37248},
    {RT_ZERO, RT_F32, "2.weight.grad", 2, {64, 64}, .at = 37568},
    {RT_ZERO, RT_F32, "2.bias.grad", 1, {64}, .at = 54016},
    {RT_ZERO, RT_F32, "4.weight.grad", 2, {10, 64}, .at = 54336},
    {RT_ZERO, RT_F32, "4.bias.grad", 1, {10}, .at = 56960},
    {RT_HYPER, RT_F32, "lr", 0, {0}, .at = 57088, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", 0, {0}, .at = 57216, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", 0, {0}, .at = 57344, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", 0, {0}, .at = 57472, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", 0, {0}, .at = 57600, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 57728, .fill = 0.01},
    {RT_STATE, RT_F32, "0.weight.exp_avg", 2, {64, 32}, .at = 57856},
    {RT_STATE, RT_F32, "0.weight.exp_avg_sq", 2, {64, 32}, .at = 66112},
    {RT_STATE, RT_F32, "0.bias.exp_avg", 1, {64}, .at = 74368},
    {RT_STATE, RT_F32, "0.bias.exp_avg_sq", 1, {64}, .at = 74688},
    {RT_STATE, RT_F32, "2.weight.exp_avg", 2, {64, 64}, .at = 75008},
    {RT_STATE, RT_F32, "2.weight.exp_avg_sq", 2, {64, 64}, .at = 91456},
    {RT_STATE, RT_F32, "2.bias.exp_avg", 1, {64}, .at = 107904},
    {RT_STATE, RT_F32, "2.bias.exp_avg_sq", 1, {64}, .at = 108224},
    {RT_STATE, RT_F32, "4.weight.exp_avg", 2, {10, 64}, .at = 108544},
    {RT_STATE, RT_F32, "4.weight.exp_avg_sq", 2, {10, 64}, .at = 111168},
    {RT_STATE, RT_F32, "4.bias.exp_avg", 1, {10}, .at = 113792},
    {RT_STATE, RT_F32, "4.bias.exp_avg_sq", 1, {10}, .at = 113920},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114048,
        .data = "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377"
    "\234\377\377\377\377\377\377\377\234\377\377\377\377\377\377\377\234\377\377\377"
    "\377\377\377\377"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114176,
        .data = "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114304,
        .data = "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000"
    "\012\000\000\000\000\000\000\000\012\000\000\000\000\000\000\000\012\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114432,
        .data = "\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\003\000\000\000"
    "\000\000\000\000\004\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000"
    "\006\000\000\000\000\000\000\000\007\000\000\000\000\000\000\000\010\000\000\000"
    "\000\000\000\000"},
    {RT_CONSTANT, RT_I64, "", 1, {8}, .at = 114560,
        .data = "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000"
    "\011\000\000\000\000\000\000\000\011\000\000\000\000\000\000\000\011\000\000\000"
    "\000\000\000\000"},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {8, 32}, .at = 178816},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 153792, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 28736},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 28864},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 182528},
    {RT_GRADIENT, RT_F32, "0.weight", 2, {64, 32}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "0.bias", 1, {64}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "2.weight", 2, {64, 64}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "2.bias", 1, {64}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "4.weight", 2, {10, 64}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "4.bias", 1, {10}, .gradient = 5},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 116288},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_F32, "x", 2, {8, 32}, .at = 114688},
    {RT_INPUT, RT_I64, "labels", 1, {8}, .at = 151808, .is_labels = true, .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 2, {8, 10}, .at = 118848},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 115392},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 119360},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 119488},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(X, 1024, 0, 26), LIVE(LABELS, 64, 0, 16), LIVE(MODEL_0_CAST_2, 512, 3, 4),
        LIVE(MODEL_0_CAST, 4096, 0, 35), LIVE(MODEL_0_DOT, 1024, 4, 27),
        LIVE(MODEL_2_CAST_2, 1024, 5, 6), LIVE(MODEL_2_CAST, 8192, 1, 35),
        LIVE(MODEL_2_DOT, 1024, 6, 24), LIVE(MODEL_4_CAST_2, 1024, 7, 8),
        LIVE(MODEL_4_CAST, 1280, 2, 35), LIVE(MODEL_4_DOT, 192, 8, 9),
        LIVE(MODEL_4_OUT, 320, 9, 16), LIVE(CROSS_ENTROPY_EQ, 64, 10, 14),
        LIVE(CROSS_ENTROPY_SELECT, 64, 10, 11), LIVE(BAD_LABEL, 64, 11, 53),
        LIVE(CROSS_ENTROPY_MAX, 64, 13, 14), LIVE(CROSS_ENTROPY_SELECT_3, 64, 14, 15),
        LIVE(CROSS_ENTROPY_SUM, 64, 15, 28), LIVE(CROSS_ENTROPY_SELECT_2, 64, 10, 14),
        LIVE(CROSS_ENTROPY_NEG, 64, 10, 16), LIVE(CROSS_ENTROPY_DIV, 64, 14, 16),
        LIVE(D_4_CAST, 192, 16, 20), LIVE(D_4_IN, 64, 17, 34), LIVE(D_4_DOT, 1024, 18, 20),
        LIVE(D_4_IN_2, 2560, 20, 33), LIVE(D_2_IN, 256, 21, 32), LIVE(D_2_DOT, 1024, 22, 24),
        LIVE(D_2_IN_2, 16384, 24, 31), LIVE(D_0_IN, 256, 25, 30),
        LIVE(RECOMPUTED_0_CAST, 512, 26, 27), LIVE(D_0_IN_2, 8192, 27, 29),
        LIVE(CROSS_ENTROPY_DIV_2, 64, 35, 41), LIVE(GRAD_NORM_0_WEIGHT_SUM, 256, 36, 42),
        LIVE(GRAD_NORM, 64, 42, 53), LIVE(GRAD_NORM_0_BIAS_SUM, 64, 37, 43),
        LIVE(GRAD_NORM_2_WEIGHT_SUM, 256, 38, 44), LIVE(GRAD_NORM_2_WEIGHT_SUM_2, 64, 44, 45),
        LIVE(GRAD_NORM_2_BIAS_SUM, 64, 39, 45), LIVE(GRAD_NORM_4_WEIGHT_SUM, 64, 40, 45),
        LIVE(GRAD_NORM_4_BIAS_SUM, 64, 41, 45), LIVE(ADAMW_NEG, 64, 46, 52),
        LIVE(ADAMW_SUB, 64, 46, 52), LIVE(ADAMW_SUB_2, 64, 46, 52), LIVE(ADAMW_CAST, 64, 46, 52),
        LIVE(ADAMW_SUB_3, 64, 46, 52), LIVE(WORK, 18432, 4, 4), LIVE(WORK, 26624, 6, 6),
        LIVE(WORK, 13312, 8, 8), LIVE(WORK, 4096, 13, 13), LIVE(WORK, 512, 15, 15),
        LIVE(WORK, 5120, 17, 17), LIVE(WORK, 18432, 18, 18), LIVE(WORK, 8192, 20, 20),
        LIVE(WORK, 32768, 21, 21), LIVE(WORK, 26624, 22, 22), LIVE(WORK_2, 8192, 24, 24),
        LIVE(WORK_2, 32768, 25, 25), LIVE(WORK_3, 4096, 27, 27), LIVE(WORK_4, 512, 42, 42),
        LIVE(WORK_5, 512, 44, 44),
        {0}}, (RtLoop[]){{0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_X, 1024, 0, 0), LIVE(F_LABELS, 64, 0, 14), LIVE(F_0_CAST, 512, 0, 2),
        LIVE(F_0_CAST_2, 4096, 1, 2), LIVE(F_0_DOT, 1024, 2, 5), LIVE(F_2_CAST_2, 8192, 4, 5),
        LIVE(F_2_DOT, 1024, 5, 8), LIVE(F_4_CAST_2, 1280, 7, 8), LIVE(F_4_DOT, 192, 8, 9),
        LIVE(F_LOGITS, 320, 9, 16), LIVE(F_CROSS_ENTROPY_EQ, 64, 10, 14),
        LIVE(F_COUNT, 64, 10, 16), LIVE(F_CROSS_ENTROPY_SELECT, 64, 10, 11),
        LIVE(F_BAD_LABEL, 64, 11, 16), LIVE(F_CROSS_ENTROPY_MAX, 64, 13, 14),
        LIVE(F_CROSS_ENTROPY_SELECT_2, 64, 14, 15), LIVE(F_LOSS, 64, 15, 16),
        LIVE(F_WORK, 18432, 2, 2), LIVE(F_WORK, 26624, 5, 5), LIVE(F_WORK, 13312, 8, 8),
        LIVE(F_WORK, 4096, 13, 13), LIVE(F_WORK, 512, 15, 15),
        {0}}, (RtLoop[]){{0}});
}

static const RtModel model = {
    .name = "mlp",
    .options = "shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimi"
               "zer adamw --accumulate 2 --precision bf16 --march x86-64-v3",
    .plan = "1 rank, arena 183552 bytes, bound 183552",
    .arena_bytes = 183552,
    .n_kernels = 8,
    .threads = 64,
    .accumulate = 2,
    .init_std = 0,
    .flops = 585728,
    .vocabulary = 0,
    .precision = "bf16",
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
    .prepare = prepare,
    .micro = micro,
    .reduce = reduce,
    .update = update,
    .forward = forward,
    .identity = 0xc5fff6fcc587e97f,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
