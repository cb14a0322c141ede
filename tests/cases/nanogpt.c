// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --clip-norm 1
//      --march x86-64-v3
//   plan: 1 rank, arena 7964160 bytes, bound 7964160
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They come first, after the names of offsets in memory;
// fused functions, the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt.h"

static const int64_t LAYERS = 3, B = 4, T = 16, VOCAB = 96, C = 48, HEADS = 4, HEAD_SIZE = 12,
    WTE_ROWS = 96, FC_SIZE = 192;
// Offsets of values in the arena, in bytes from its start `m`; where layers repeat, of layer 0.
// OUT is the result of a module, D_ a gradient, D_ and IN the gradient of its input. RECOMPUTED_
// is made again in the backward part. F_ is for forward alone. Values that aren't needed together
// share bytes.
static const int64_t WTE_WEIGHT = 0, WPE_WEIGHT = 18496, LN_WEIGHT = 361664,
    LN_BIAS = 361920, HEAD_WEIGHT = 362176, LR = 380672, BETA1 = 380800,
    STEP = 380928, BETA2 = 381056, EPS = 381184, WEIGHT_DECAY = 381312,
    CLIP_NORM = 381440, WTE_WEIGHT_EXP_AVG = 381568, WTE_WEIGHT_EXP_AVG_SQ = 400064,
    WPE_WEIGHT_EXP_AVG = 418560, WPE_WEIGHT_EXP_AVG_SQ = 421696,
    LN_WEIGHT_EXP_AVG = 424832, LN_WEIGHT_EXP_AVG_SQ = 425088, LN_BIAS_EXP_AVG = 425344,
    LN_BIAS_EXP_AVG_SQ = 425600, HEAD_WEIGHT_EXP_AVG = 425856,
    HEAD_WEIGHT_EXP_AVG_SQ = 444352;
static const RtStack LN1_WEIGHT = {21632, 192}, LN1_BIAS = {22272, 192},
    QKV_WEIGHT = {22912, 27648}, QKV_BIAS = {105920, 576}, PROJ_WEIGHT = {107712, 9216},
    PROJ_BIAS = {135424, 192}, LN2_WEIGHT = {136064, 192}, LN2_BIAS = {136704, 192},
    FC_WEIGHT = {137344, 36864}, FC_BIAS = {248000, 768}, OUT_WEIGHT = {250368, 36864},
    OUT_BIAS = {361024, 192}, LN1_WEIGHT_EXP_AVG = {462848, 192},
    LN1_WEIGHT_EXP_AVG_SQ = {463488, 192}, LN1_BIAS_EXP_AVG = {464128, 192},
    LN1_BIAS_EXP_AVG_SQ = {464768, 192}, QKV_WEIGHT_EXP_AVG = {465408, 27648},
    QKV_WEIGHT_EXP_AVG_SQ = {548416, 27648}, QKV_BIAS_EXP_AVG = {631424, 576},
    QKV_BIAS_EXP_AVG_SQ = {633216, 576}, PROJ_WEIGHT_EXP_AVG = {635008, 9216},
    PROJ_WEIGHT_EXP_AVG_SQ = {662720, 9216}, PROJ_BIAS_EXP_AVG = {690432, 192},
    PROJ_BIAS_EXP_AVG_SQ = {691072, 192}, LN2_WEIGHT_EXP_AVG = {691712, 192},
    LN2_WEIGHT_EXP_AVG_SQ = {692352, 192}, LN2_BIAS_EXP_AVG = {692992, 192},
    LN2_BIAS_EXP_AVG_SQ = {693632, 192}, FC_WEIGHT_EXP_AVG = {694272, 36864},
    FC_WEIGHT_EXP_AVG_SQ = {804928, 36864}, FC_BIAS_EXP_AVG = {915584, 768},
    FC_BIAS_EXP_AVG_SQ = {917952, 768}, OUT_WEIGHT_EXP_AVG = {920320, 36864},
    OUT_WEIGHT_EXP_AVG_SQ = {1030976, 36864}, OUT_BIAS_EXP_AVG = {1141632, 192},
    OUT_BIAS_EXP_AVG_SQ = {1142272, 192};
static const int64_t INPUT_IDS = 7962688, WTE_SELECT = 1142912, WTE_OUT = 1533120,
    NODE_ADD_OUT = 1142912, LN1_OUT = 1631552, QKV_DOT = 1594624, PROJ_DOT = 1606912,
    LN2_OUT = 1606912, GELU_OUT = 1606912, OUT_DOT = 1656128, LN_MEAN = 1644096,
    LN_RSTD = 1644416, RECOMPUTED_LN_STD = 1644736, LN_MUL = 1645056, LN_OUT = 1594688,
    HEAD_OUT = 1570048, LABELS = 7744768, CROSS_ENTROPY_EQ = 1566272, COUNT = 7963776,
    CROSS_ENTROPY_SELECT = 1533120, D_CROSS_ENTROPY_DIV = 1566400,
    CROSS_ENTROPY_MIN = 7963904, BAD_LABEL = 7963904, CROSS_ENTROPY_MAX = 1565952,
    CROSS_ENTROPY_SUM = 1533696, CROSS_ENTROPY_SELECT_2 = 1534016, LOSS = 7964032,
    D_CROSS_ENTROPY_IN = 1570048, D_HEAD_IN = 1594688, D_LN_BIAS = 7963264,
    D_LN_MUL = 1594688, D_LN_MUL_2 = 1558080, RECOMPUTED_LN_SUB = 1607040,
    D_LN_MUL_3 = 1619392, D_LN_MUL_4 = 1557760, RECOMPUTED_LN_OUT = 1631744,
    D_LN_WEIGHT = 7963520, D_LN_IN = 7907136, D_HEAD_WEIGHT = 7919488, D_OUT_IN = 1720064,
    RECOMPUTED_GELU_OUT = 1720064, D_BLOCKS_IN = 1769280, D_FC_IN = 7937984,
    D_LN2_MUL = 1708288, RECOMPUTED_LN2_SUB = 7937984, D_LN2_MUL_2 = 1670912,
    D_LN2_MUL_3 = 1683264, D_LN2_MUL_4 = 1707968, RECOMPUTED_LN2_OUT = 1695616,
    D_LN2_IN = 7937984, D_PROJ_IN = 7950336, D_QKV_CONCAT = 7857920, D_QKV_IN = 1707776,
    D_LN1_MUL = 1695936, RECOMPUTED_LN1_SUB = 1707776, D_LN1_MUL_2 = 1670912,
    D_LN1_MUL_3 = 1683264, D_LN1_MUL_4 = 1695616, RECOMPUTED_LN1_OUT = 1720128,
    D_WPE_WEIGHT = 1161408, RECOMPUTED_WTE_SELECT = 7962688, D_WTE_WEIGHT = 1142912,
    GRAD_NORM_WTE_WEIGHT_SUM = 1165120, GRAD_NORM_WTE_WEIGHT_SUM_2 = 1165568,
    GRAD_NORM_ADD = 1165568, GRAD_NORM_ADD_2 = 1164544, GRAD_NORM_ADD_3 = 1164672,
    GRAD_NORM_ADD_4 = 1166208, GRAD_NORM_HEAD_WEIGHT_SUM = 1165120,
    GRAD_NORM_HEAD_WEIGHT_SUM_2 = 1165568, GRAD_NORM_LN1_WEIGHT_SUM = 1164544,
    GRAD_NORM_LN1_BIAS_ADD = 1165760, GRAD_NORM_QKV_WEIGHT_SUM = 1164544,
    GRAD_NORM_QKV_WEIGHT_SUM_2 = 1166336, GRAD_NORM_QKV_WEIGHT_ADD = 1165760,
    GRAD_NORM_QKV_BIAS_ADD = 1166336, GRAD_NORM_PROJ_WEIGHT_SUM = 1164544,
    GRAD_NORM_PROJ_WEIGHT_SUM_2 = 1166464, GRAD_NORM_PROJ_WEIGHT_ADD = 1166336,
    GRAD_NORM_PROJ_BIAS_ADD = 1164544, GRAD_NORM_LN2_WEIGHT_ADD = 1164672,
    GRAD_NORM_LN2_BIAS_ADD = 1166336, GRAD_NORM_FC_WEIGHT_SUM = 1164544,
    GRAD_NORM_FC_WEIGHT_SUM_2 = 1166464, GRAD_NORM_FC_WEIGHT_ADD = 1166336,
    GRAD_NORM_FC_BIAS_ADD = 1164544, GRAD_NORM_OUT_WEIGHT_ADD = 1164672,
    GRAD_NORM_SUM = 1165248, GRAD_NORM = 1166208, ADAMW_NEG = 1164544, ADAMW_SUB = 1164672,
    ADAMW_SUB_2 = 1164800, ADAMW_CAST = 1164928, ADAMW_SUB_3 = 1165056,
    CLIP_NORM_MIN = 1165184, WORK = 1533120, WORK_2 = 1646272, WORK_3 = 1164544,
    WORK_4 = 1165184, WORK_5 = 1165376;
static const RtStack BLOCKS_OUT = {1268864, 125952}, LN1_MEAN = {1155200, 125952},
    LN1_SQUARES = {1155456, 125952}, QKV_OUT = {1155712, 125952},
    ATTENTION_OUT = {1192576, 125952}, BLOCKS_ATTENTION_MAX = {1204864, 125952},
    BLOCKS_ATTENTION_SUM = {1205888, 125952}, BLOCKS_ADD = {1206912, 125952},
    LN2_MEAN = {1219200, 125952}, LN2_SQUARES = {1219456, 125952}, FC_DOT = {1219712, 125952},
    D_LN1_IN = {7894848, 12288}, D_OUT_BIAS = {1306944, 113088},
    D_OUT_WEIGHT = {1307136, 113088}, D_FC_BIAS = {1344000, 113088},
    D_LN2_BIAS = {1344768, 113088}, D_LN2_WEIGHT = {1344960, 113088},
    D_FC_WEIGHT = {1345152, 113088}, D_PROJ_BIAS = {1382016, 113088},
    D_PROJ_WEIGHT = {1382208, 113088}, D_QKV_BIAS = {1391424, 113088},
    D_LN1_BIAS = {1392000, 113088}, D_LN1_WEIGHT = {1392192, 113088},
    D_QKV_WEIGHT = {1392384, 113088}, GRAD_NORM_OUT_BIAS_ADD = {1165952, 64},
    GRAD_NORM_CONCAT = {1165120, 4};
static const int64_t F_INPUT_IDS = 1155264, F_WTE_SELECT = 1155264, F_WTE_OUT = 1142912,
    F_NODE_ADD_OUT = 7403776, F_LN1_OUT = 1204416, F_QKV_DOT = 7354560, F_QKV_OUT = 7354560,
    F_ATTENTION_OUT = 7416128, F_BLOCKS_ATTENTION_MAX = 7428480,
    F_BLOCKS_ATTENTION_SUM = 7429568, F_PROJ_DOT = 1265920, F_BLOCKS_ADD = 1278272,
    F_LN2_OUT = 1265920, F_FC_DOT = 1216704, F_GELU_OUT = 1216704, F_OUT_DOT = 1265920,
    F_LN_OUT = 1204480, F_LOGITS = 1179840, F_LABELS = 7430656,
    F_CROSS_ENTROPY_EQ = 1176064, F_COUNT = 1176192, F_CROSS_ENTROPY_SELECT = 1142912,
    F_CROSS_ENTROPY_MIN = 1176320, F_BAD_LABEL = 1176320, F_CROSS_ENTROPY_MAX = 1175744,
    F_CROSS_ENTROPY_SELECT_2 = 1143488, F_LOSS = 1143808, F_WORK = 1142912;
static const RtStack F_BLOCKS_OUT = {7391488, 12288};
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(offset) ((void *)(m + (offset)))
#define OF(stack, layer) ((stack).first + (layer) * (stack).step)
// Kernels that init prepares, each after the first result that it makes.
enum { QKV_DOT_KERNEL, PROJ_DOT_KERNEL, FC_DOT_KERNEL, OUT_DOT_KERNEL, HEAD_OUT_KERNEL,
    D_HEAD_IN_KERNEL, D_HEAD_WEIGHT_KERNEL, D_OUT_IN_KERNEL, D_OUT_WEIGHT_KERNEL, D_FC_IN_KERNEL,
    D_FC_WEIGHT_KERNEL, D_PROJ_IN_KERNEL, D_PROJ_WEIGHT_KERNEL, D_QKV_IN_KERNEL,
    D_QKV_WEIGHT_KERNEL };

static RtRows wte_forward, add_forward, ln1_forward, qkv_bias_forward, ln2_forward, gelu_forward,
    blocks_add_forward, ln_forward, cross_entropy_forward, cross_entropy_mod_forward,
    cross_entropy_log_forward, cross_entropy_backward, ln_backward, ln_add_backward, gelu_backward,
    ln2_backward, ln2_add_backward, grad_norm, grad_norm_add, grad_norm_add_2, grad_norm_add_3,
    grad_norm_add_4, grad_norm_reduce_sum, grad_norm_reduce_sum_2, grad_norm_add_5, grad_norm_sqrt,
    clip_norm, adamw, ln_predict, ln2_predict, cross_entropy_predict, cross_entropy_log_predict;
// The operands of fused functions, by their names there.
struct wte_forward { const int64_t *x0; int64_t *y0; };
struct add_forward { const float *x0, *weight; float *y0; };
struct ln1_forward { const float *x0, *weight, *bias; float *y0, *y1, *y2; };
struct qkv_bias_forward { const float *x0, *bias; float *y0; };
struct ln2_forward { const float *x0, *bias, *x2, *weight, *x4; float *y0, *y1, *y2, *y3; };
struct gelu_forward { const float *x0, *bias; float *y0; };
struct blocks_add_forward { const float *x0, *bias, *x2; float *y0; };
struct ln_forward { const float *x0, *weight, *bias; float *y0, *y1, *y2, *y3, *y4; };
struct cross_entropy_forward { const int64_t *x0; uint8_t *y0; float *y1; int64_t *y2; float *y3; };
struct cross_entropy_mod_forward { const int64_t *x0; int64_t *y0; };
struct cross_entropy_log_forward {
    const float *x0, *x1;
    const int64_t *x2;
    const uint8_t *x3;
    float *y0, *y1;
};
struct cross_entropy_backward {
    const uint8_t *x0;
    const float *x1, *x2;
    const int64_t *x3;
    const float *x4, *x5;
    float *y0;
};
struct ln_backward {
    const float *x0, *weight, *x2, *x3, *x4, *x5, *x6, *bias;
    float *y0, *y1, *y2, *y3, *y4, *y5;
};
struct ln_add_backward { const float *x0, *x1, *x2, *x3; float *y0; };
struct gelu_backward { const float *x0, *bias, *x2; float *y0, *y1; };
struct ln2_backward {
    const float *x0, *weight, *x2, *x3, *x4, *bias;
    float *y0, *y1, *y2, *y3, *y4, *y5;
};
struct ln2_add_backward { const float *x0, *x1, *x2, *x3, *x4; float *y0; };
struct grad_norm { const float *x0; float *y0; };
struct grad_norm_add { const float *x0; float *y0; };
struct grad_norm_add_2 { const float *x0, *x1; float *y0; int64_t n0; };
struct grad_norm_add_3 { const float *x0, *x1; float *y0; };
struct grad_norm_add_4 { const float *x0, *x1; float *y0; };
struct grad_norm_reduce_sum { const float *x0; float *y0; };
struct grad_norm_reduce_sum_2 { const float *x0; float *y0; };
struct grad_norm_add_5 { const float *x0, *x1; float *y0; };
struct grad_norm_sqrt { const float *x0, *x1; float *y0; };
struct clip_norm {
    const float *beta1, *step, *lr, *beta2, *weight_decay, *x5, *clip_norm;
    float *y0, *y1, *y2, *y3, *y4, *y5;
};
struct adamw {
    const float *x0, *x1;
    float *exp_avg;
    const float *x3, *x4;
    float *param;
    const float *x6;
    float *exp_avg_sq;
    const float *beta2, *x9, *eps, *x11;
};
struct ln_predict { const float *x0, *weight, *bias; float *y0; };
struct ln2_predict { const float *x0, *bias, *x2, *weight, *x4; float *y0, *y1; };
struct cross_entropy_predict { const int64_t *x0; uint8_t *y0; float *y1; int64_t *y2; };
struct cross_entropy_log_predict {
    const float *x0, *x1;
    const int64_t *x2;
    const uint8_t *x3;
    float *y0;
};
#define ADAMW_SHARED \
    .x1 = AT(CLIP_NORM_MIN), .x3 = AT(ADAMW_SUB_2), .x4 = AT(ADAMW_SUB), .x6 = AT(ADAMW_SUB_3), \
    .beta2 = AT(BETA2), .x9 = AT(ADAMW_CAST), .eps = AT(EPS), .x11 = AT(ADAMW_NEG)

// blocks.{}, 3 times
static void blocks_forward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub reduce_sum ... f32[4,16,48]",
        .block = 1, .flops = 2.85e4, .reads = 2.55e4, .writes = 1.28e4);
    RT_ROWS(rt, ln1_forward, B * T, 16 * C, .x0 = AT(OF(BLOCKS_OUT, layer - 1)),
        .weight = AT(OF(LN1_WEIGHT, layer)), .bias = AT(OF(LN1_BIAS, layer)),
        .y0 = AT(OF(LN1_MEAN, layer)), .y1 = AT(OF(LN1_SQUARES, layer)), .y2 = AT(LN1_OUT));
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]",
        .block = 1, .flops = 8.85e5, .reads = 7.68e4, .writes = 3.69e4);
    rt_dot(WITH(WORK), QKV_DOT_KERNEL, AT(QKV_DOT), AT(LN1_OUT), AT(OF(QKV_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]",
        .block = 1, .flops = 9.22e3, .reads = 7.43e4, .writes = 3.69e4);
    RT_ROWS(rt, qkv_bias_forward, B * T, 3 * HEADS * HEAD_SIZE, .x0 = AT(QKV_DOT),
        .bias = AT(OF(QKV_BIAS, layer)), .y0 = AT(OF(QKV_OUT, layer)));
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]",
        .block = 1, .flops = 9.83e4, .reads = 5.12e4, .writes = 1.43e4);
    rt_attention(WITH(WORK), &(RtAttention){.n_batch = 2, .batch = {B, HEADS}, .s = T, .t = T,
        .e = HEAD_SIZE, .f = HEAD_SIZE, .q = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .k = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .v = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .y = {{T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS * HEAD_SIZE, 1}, .max = {{T * HEADS, 1}, {0}, HEADS, 0},
        .sum = {{T * HEADS, 1}, {0}, HEADS, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, AT(OF(ATTENTION_OUT, layer)),
        AT(OF(BLOCKS_ATTENTION_MAX, layer)), AT(OF(BLOCKS_ATTENTION_SUM, layer)),
        AT(OF(QKV_OUT, layer)), AT(OF(QKV_OUT, layer) + HEADS * HEAD_SIZE * sizeof(float)),
        AT(OF(QKV_OUT, layer) + 2 * HEADS * HEAD_SIZE * sizeof(float)), NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]",
        .block = 1, .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4);
    rt_dot(WITH(WORK), PROJ_DOT_KERNEL, AT(PROJ_DOT), AT(OF(ATTENTION_OUT, layer)),
        AT(OF(PROJ_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul sub ... f32[4,16,48]",
        .block = 1, .flops = 3.46e4, .reads = 3.8e4, .writes = 2.51e4);
    RT_ROWS(rt, ln2_forward, B * T, 18 * C, .x0 = AT(PROJ_DOT), .bias = AT(OF(PROJ_BIAS, layer)),
        .x2 = AT(OF(BLOCKS_OUT, layer - 1)), .weight = AT(OF(LN2_WEIGHT, layer)),
        .x4 = AT(OF(LN2_BIAS, layer)), .y0 = AT(OF(BLOCKS_ADD, layer)),
        .y1 = AT(OF(LN2_MEAN, layer)), .y2 = AT(OF(LN2_SQUARES, layer)), .y3 = AT(LN2_OUT));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 4.92e4);
    rt_dot(WITH(WORK), FC_DOT_KERNEL, AT(OF(FC_DOT, layer)), AT(LN2_OUT),
        AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]",
        .block = 1, .flops = 2.83e5, .reads = 9.91e4, .writes = 4.92e4);
    RT_ROWS(rt, gelu_forward, B * T, 6 * FC_SIZE, .x0 = AT(OF(FC_DOT, layer)),
        .bias = AT(OF(FC_BIAS, layer)), .y0 = AT(GELU_OUT));
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 1.23e4);
    rt_dot(WITH(WORK), OUT_DOT_KERNEL, AT(OUT_DOT), AT(GELU_OUT), AT(OF(OUT_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]",
        .block = 1, .flops = 6.14e3, .reads = 3.71e4, .writes = 1.23e4);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, .x0 = AT(OUT_DOT),
        .bias = AT(OF(OUT_BIAS, layer)), .x2 = AT(OF(BLOCKS_ADD, layer)),
        .y0 = AT(OF(BLOCKS_OUT, layer)));
}

// blocks.{}, 3 times
static void blocks_backward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_OUT_BIAS, layer)),
        AT(OF(D_LN1_IN, (layer + 1) % 2)));
    rt_gradient(rt, 16, layer, AT(OF(D_OUT_BIAS, layer)));  // blocks.{}.out.bias
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,192]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 4.92e4);
    rt_dot(WITH(WORK_2), D_OUT_IN_KERNEL, AT(D_OUT_IN), AT(OF(D_LN1_IN, (layer + 1) % 2)),
        AT(OF(OUT_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add div erf add mul mul mul mul ... f32[4,16,192]",
        .block = 1, .flops = 5.53e5, .reads = 1.48e5, .writes = 9.83e4);
    RT_ROWS(rt, gelu_backward, B * T, 16 * FC_SIZE, .x0 = AT(OF(FC_DOT, layer)),
        .bias = AT(OF(FC_BIAS, layer)), .x2 = AT(D_OUT_IN), .y0 = AT(RECOMPUTED_GELU_OUT),
        .y1 = AT(D_BLOCKS_IN));
    RT_AT(rt, "blocks.{}.out: dot f32[48,192]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 3.69e4);
    rt_dot(WITH(WORK_2), D_OUT_WEIGHT_KERNEL, AT(OF(D_OUT_WEIGHT, layer)), AT(RECOMPUTED_GELU_OUT),
        AT(OF(D_LN1_IN, (layer + 1) % 2)));
    rt_gradient(rt, 15, layer, AT(OF(D_OUT_WEIGHT, layer)));  // blocks.{}.out.weight
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[192]",
        .block = 1, .flops = 1.23e4, .reads = 4.99e4, .writes = 768);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, FC_SIZE},
        .stride = {FC_SIZE, 1}, .reduced = {1, 0}}, AT(OF(D_FC_BIAS, layer)), AT(D_BLOCKS_IN));
    rt_gradient(rt, 14, layer, AT(OF(D_FC_BIAS, layer)));  // blocks.{}.fc.bias
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 1.23e4);
    rt_dot(WITH(WORK_2), D_FC_IN_KERNEL, AT(D_FC_IN), AT(D_BLOCKS_IN), AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_LN2_BIAS, layer)), AT(D_FC_IN));
    rt_gradient(rt, 12, layer, AT(OF(D_LN2_BIAS, layer)));  // blocks.{}.ln2.bias
    RT_AT(rt, "blocks.{}.ln2: mul reduce_sum mul add sqrt div ... f32[4,16,48]",
        .block = 1, .flops = 3.23e4, .reads = 6.28e4, .writes = 4.97e4);
    RT_ROWS(rt, ln2_backward, B * T, 23 * C, .x0 = AT(D_FC_IN),
        .weight = AT(OF(LN2_WEIGHT, layer)), .x2 = AT(OF(LN2_SQUARES, layer)),
        .x3 = AT(OF(BLOCKS_ADD, layer)), .x4 = AT(OF(LN2_MEAN, layer)),
        .bias = AT(OF(LN2_BIAS, layer)), .y0 = AT(D_LN2_MUL), .y1 = AT(RECOMPUTED_LN2_SUB),
        .y2 = AT(D_LN2_MUL_2), .y3 = AT(D_LN2_MUL_3), .y4 = AT(D_LN2_MUL_4),
        .y5 = AT(RECOMPUTED_LN2_OUT));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_LN2_WEIGHT, layer)), AT(D_LN2_MUL_2));
    rt_gradient(rt, 11, layer, AT(OF(D_LN2_WEIGHT, layer)));  // blocks.{}.ln2.weight
    RT_AT(rt, "blocks.{}.ln2: mul mul add add add add f32[4,16,48]",
        .block = 1, .flops = 1.84e4, .reads = 3.74e4, .writes = 1.23e4);
    RT_ROWS(rt, ln2_add_backward, B * T, 6 * C, .x0 = AT(D_LN2_MUL_4),
        .x1 = AT(RECOMPUTED_LN2_SUB), .x2 = AT(D_LN2_MUL_3),
        .x3 = AT(OF(D_LN1_IN, (layer + 1) % 2)), .x4 = AT(D_LN2_MUL), .y0 = AT(D_LN2_IN));
    RT_AT(rt, "blocks.{}.fc: dot f32[192,48]",
        .block = 1, .flops = 1.18e6, .reads = 9.83e4, .writes = 3.69e4);
    rt_dot(WITH(WORK_2), D_FC_WEIGHT_KERNEL, AT(OF(D_FC_WEIGHT, layer)), AT(RECOMPUTED_LN2_OUT),
        AT(D_BLOCKS_IN));
    rt_gradient(rt, 13, layer, AT(OF(D_FC_WEIGHT, layer)));  // blocks.{}.fc.weight
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_PROJ_BIAS, layer)), AT(D_LN2_IN));
    rt_gradient(rt, 10, layer, AT(OF(D_PROJ_BIAS, layer)));  // blocks.{}.proj.bias
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,4,12]",
        .block = 1, .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4);
    rt_dot(WITH(WORK_2), D_PROJ_IN_KERNEL, AT(D_PROJ_IN), AT(D_LN2_IN),
        AT(OF(PROJ_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.proj: dot f32[48,4,12]",
        .block = 1, .flops = 2.95e5, .reads = 3.38e4, .writes = 9.22e3);
    rt_dot(WITH(WORK_2), D_PROJ_WEIGHT_KERNEL, AT(OF(D_PROJ_WEIGHT, layer)),
        AT(OF(ATTENTION_OUT, layer)), AT(D_LN2_IN));
    rt_gradient(rt, 9, layer, AT(OF(D_PROJ_WEIGHT, layer)));  // blocks.{}.proj.weight
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,4,12]",
        .block = 1, .flops = 1.97e5, .reads = 1e5, .writes = 3.69e4);
    rt_attention_grad(WITH(WORK_2), &(RtAttention){.n_batch = 2, .batch = {B, HEADS}, .s = T,
        .t = T, .e = HEAD_SIZE, .f = HEAD_SIZE, .q = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .k = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .v = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .y = {{T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS * HEAD_SIZE, 1}, .max = {{T * HEADS, 1}, {0}, HEADS, 0},
        .sum = {{T * HEADS, 1}, {0}, HEADS, 0}, .dy = {{T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS * HEAD_SIZE, 1}, .dq = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .dk = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .dv = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, AT(D_QKV_CONCAT),
        AT(D_QKV_CONCAT + HEADS * HEAD_SIZE * sizeof(float)),
        AT(D_QKV_CONCAT + 2 * HEADS * HEAD_SIZE * sizeof(float)), AT(OF(QKV_OUT, layer)),
        AT(OF(QKV_OUT, layer) + HEADS * HEAD_SIZE * sizeof(float)),
        AT(OF(QKV_OUT, layer) + 2 * HEADS * HEAD_SIZE * sizeof(float)), NULL, NULL, NULL, NULL,
        AT(OF(ATTENTION_OUT, layer)), AT(OF(BLOCKS_ATTENTION_MAX, layer)),
        AT(OF(BLOCKS_ATTENTION_SUM, layer)), AT(D_PROJ_IN));
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,4,12]",
        .block = 1, .flops = 9.22e3, .reads = 3.74e4, .writes = 576);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {B * T, 3 * HEADS * HEAD_SIZE}, .stride = {3 * HEADS * HEAD_SIZE, 1},
        .reduced = {1, 0}}, AT(OF(D_QKV_BIAS, layer)), AT(D_QKV_CONCAT));
    rt_gradient(rt, 8, layer, AT(OF(D_QKV_BIAS, layer)));  // blocks.{}.qkv.bias
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]",
        .block = 1, .flops = 8.85e5, .reads = 7.68e4, .writes = 1.23e4);
    rt_dot(WITH(WORK_2), D_QKV_IN_KERNEL, AT(D_QKV_IN), AT(D_QKV_CONCAT),
        AT(OF(QKV_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_LN1_BIAS, layer)), AT(D_QKV_IN));
    rt_gradient(rt, 6, layer, AT(OF(D_LN1_BIAS, layer)));  // blocks.{}.ln1.bias
    RT_AT(rt, "blocks.{}.ln1: mul reduce_sum mul add sqrt div ... f32[4,16,48]",
        .block = 1, .flops = 3.23e4, .reads = 6.28e4, .writes = 4.97e4);
    RT_ROWS(rt, ln2_backward, B * T, 23 * C, .x0 = AT(D_QKV_IN),
        .weight = AT(OF(LN1_WEIGHT, layer)), .x2 = AT(OF(LN1_SQUARES, layer)),
        .x3 = AT(OF(BLOCKS_OUT, layer - 1)), .x4 = AT(OF(LN1_MEAN, layer)),
        .bias = AT(OF(LN1_BIAS, layer)), .y0 = AT(D_LN1_MUL), .y1 = AT(RECOMPUTED_LN1_SUB),
        .y2 = AT(D_LN1_MUL_2), .y3 = AT(D_LN1_MUL_3), .y4 = AT(D_LN1_MUL_4),
        .y5 = AT(RECOMPUTED_LN1_OUT));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(OF(D_LN1_WEIGHT, layer)), AT(D_LN1_MUL_2));
    rt_gradient(rt, 5, layer, AT(OF(D_LN1_WEIGHT, layer)));  // blocks.{}.ln1.weight
    RT_AT(rt, "blocks.{}.ln1: mul mul add add add add f32[4,16,48]",
        .block = 1, .flops = 1.84e4, .reads = 4.97e4, .writes = 1.23e4);
    RT_ROWS(rt, ln2_add_backward, B * T, 6 * C, .x0 = AT(D_LN1_MUL_4),
        .x1 = AT(RECOMPUTED_LN1_SUB), .x2 = AT(D_LN1_MUL_3), .x3 = AT(D_LN2_IN),
        .x4 = AT(D_LN1_MUL), .y0 = AT(OF(D_LN1_IN, layer % 2)));
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,4,12,48]",
        .block = 1, .flops = 8.85e5, .reads = 7.68e4, .writes = 2.76e4);
    rt_dot(WITH(WORK_2), D_QKV_WEIGHT_KERNEL, AT(OF(D_QKV_WEIGHT, layer)), AT(RECOMPUTED_LN1_OUT),
        AT(D_QKV_CONCAT));
    rt_gradient(rt, 7, layer, AT(OF(D_QKV_WEIGHT, layer)));  // blocks.{}.qkv.weight
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]",
        .flops = 192, .reads = 1.02e3, .writes = 512);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(INPUT_IDS), .y0 = AT(WTE_SELECT));
    RT_AT(rt, "wte: gather f32[4,16,48]", .flops = 0, .reads = 2.51e4, .writes = 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS}, AT(WTE_OUT), AT(WTE_WEIGHT),
        AT(WTE_SELECT));
    RT_AT(rt, "node_add: add f32[4,16,48]",
        .flops = 3.07e3, .reads = 2.76e4, .writes = 1.23e4);
    RT_ROWS(rt, add_forward, B, T * C, .x0 = AT(WTE_OUT), .weight = AT(WPE_WEIGHT),
        .y0 = AT(NODE_ADD_OUT));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_forward_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]",
        .flops = 2.89e4, .reads = 2.6e4, .writes = 1.33e4);
    RT_ROWS(rt, ln_forward, B * T, 20 * C, .x0 = AT(OF(BLOCKS_OUT, LAYERS - 1)),
        .weight = AT(LN_WEIGHT), .bias = AT(LN_BIAS), .y0 = AT(LN_MEAN), .y1 = AT(LN_RSTD),
        .y2 = AT(RECOMPUTED_LN_STD), .y3 = AT(LN_MUL), .y4 = AT(LN_OUT));
    RT_AT(rt, "head: dot f32[4,16,96]", .flops = 5.9e5, .reads = 5.53e4, .writes = 2.46e4);
    rt_dot(WITH(WORK), HEAD_OUT_KERNEL, AT(HEAD_OUT), AT(LN_OUT), AT(HEAD_WEIGHT));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]",
        .flops = 772, .reads = 1.1e3, .writes = 584);
    RT_ROWS(rt, cross_entropy_forward, 1, 15 * B * T, .x0 = AT(LABELS), .y0 = AT(CROSS_ENTROPY_EQ),
        .y1 = AT(COUNT), .y2 = AT(CROSS_ENTROPY_SELECT), .y3 = AT(D_CROSS_ENTROPY_DIV));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 64, .reads = 520, .writes = 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B * T},
        .stride = {1}, .reduced = {1}}, AT(CROSS_ENTROPY_MIN), AT(CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]", .flops = 10, .reads = 8, .writes = 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, .x0 = AT(CROSS_ENTROPY_MIN), .y0 = AT(BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]",
        .flops = 6.14e3, .reads = 2.48e4, .writes = 256);
    rt_reduce(WITH(WORK), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {B * T, VOCAB}, .stride = {VOCAB, 1}, .reduced = {0, 1}}, AT(CROSS_ENTROPY_MAX),
        AT(HEAD_OUT));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]",
        .flops = 9.29e4, .reads = 2.59e4, .writes = 512);
    RT_ROWS(rt, cross_entropy_log_forward, B * T, 10 * VOCAB, .x0 = AT(HEAD_OUT),
        .x1 = AT(CROSS_ENTROPY_MAX), .x2 = AT(LABELS), .x3 = AT(CROSS_ENTROPY_EQ),
        .y0 = AT(CROSS_ENTROPY_SUM), .y1 = AT(CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B * T}, .stride = {1},
        .reduced = {1}}, AT(LOSS), AT(CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: select neg div iota eq select ... f32[4,16,96]",
        .flops = 9.25e4, .reads = 2.57e4, .writes = 2.46e4);
    RT_ROWS(rt, cross_entropy_backward, B * T, 10 * VOCAB, .x0 = AT(CROSS_ENTROPY_EQ),
        .x1 = AT(D_CROSS_ENTROPY_DIV), .x2 = AT(CROSS_ENTROPY_SUM), .x3 = AT(LABELS),
        .x4 = AT(HEAD_OUT), .x5 = AT(CROSS_ENTROPY_MAX), .y0 = AT(D_CROSS_ENTROPY_IN));
    RT_AT(rt, "head: dot f32[4,16,48]", .flops = 5.9e5, .reads = 5.53e4, .writes = 1.23e4);
    rt_dot(WITH(WORK), D_HEAD_IN_KERNEL, AT(D_HEAD_IN), AT(D_CROSS_ENTROPY_IN), AT(HEAD_WEIGHT));
    RT_AT(rt, "ln: reduce_sum f32[48]", .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN_BIAS), AT(D_HEAD_IN));
    rt_gradient(rt, 3, 0, AT(D_LN_BIAS));  // ln.bias
    RT_AT(rt, "ln: mul mul reduce_sum mul neg mul sub mul mul ... f32[4,16,48]",
        .flops = 3.16e4, .reads = 6.34e4, .writes = 4.97e4);
    RT_ROWS(rt, ln_backward, B * T, 18 * C, .x0 = AT(D_HEAD_IN), .weight = AT(LN_WEIGHT),
        .x2 = AT(LN_RSTD), .x3 = AT(OF(BLOCKS_OUT, LAYERS - 1)), .x4 = AT(LN_MEAN),
        .x5 = AT(RECOMPUTED_LN_STD), .x6 = AT(LN_MUL), .bias = AT(LN_BIAS), .y0 = AT(D_LN_MUL),
        .y1 = AT(D_LN_MUL_2), .y2 = AT(RECOMPUTED_LN_SUB), .y3 = AT(D_LN_MUL_3),
        .y4 = AT(D_LN_MUL_4), .y5 = AT(RECOMPUTED_LN_OUT));
    RT_AT(rt, "ln: reduce_sum f32[48]", .flops = 3.07e3, .reads = 1.25e4, .writes = 192);
    rt_reduce(WITH(WORK), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN_WEIGHT), AT(D_LN_MUL_3));
    rt_gradient(rt, 2, 0, AT(D_LN_WEIGHT));  // ln.weight
    RT_AT(rt, "ln: mul mul add add add f32[4,16,48]",
        .flops = 1.54e4, .reads = 3.74e4, .writes = 1.23e4);
    RT_ROWS(rt, ln_add_backward, B * T, 5 * C, .x0 = AT(D_LN_MUL_4), .x1 = AT(RECOMPUTED_LN_SUB),
        .x2 = AT(D_LN_MUL), .x3 = AT(D_LN_MUL_2), .y0 = AT(D_LN_IN));
    RT_AT(rt, "head: dot f32[96,48]", .flops = 5.9e5, .reads = 5.53e4, .writes = 1.84e4);
    rt_dot(WITH(WORK), D_HEAD_WEIGHT_KERNEL, AT(D_HEAD_WEIGHT), AT(RECOMPUTED_LN_OUT),
        AT(D_CROSS_ENTROPY_IN));
    rt_gradient(rt, 4, 0, AT(D_HEAD_WEIGHT));  // head.weight
    for (int64_t layer = LAYERS - 1; layer >= 0; layer--)
        blocks_backward_layer(rt, m, layer);
    RT_AT(rt, "node_add: reduce_sum f32[16,48]",
        .flops = 3.07e3, .reads = 1.54e4, .writes = 3.07e3);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B, T * C},
        .stride = {T * C, 1}, .reduced = {1, 0}}, AT(D_WPE_WEIGHT), AT(OF(D_LN1_IN, 0)));
    rt_gradient(rt, 1, 0, AT(D_WPE_WEIGHT));  // wpe.weight
    RT_AT(rt, "wte: add lt select i64[4,16]",
        .flops = 192, .reads = 512, .writes = 512);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(INPUT_IDS), .y0 = AT(RECOMPUTED_WTE_SELECT));
    RT_AT(rt, "wte: scatter f32[96,48]", .flops = 0, .reads = 3.12e4, .writes = 1.84e4);
    rt_scatter(WITH(WORK_3), &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1,
        .outer = 1, .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS},
        AT(D_WTE_WEIGHT), AT(OF(D_LN1_IN, 0)), AT(RECOMPUTED_WTE_SELECT), NULL);
    rt_gradient(rt, 0, 0, AT(D_WTE_WEIGHT));  // wte.weight
}

// blocks.{}, 3 times
static void blocks_reduce_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "grad_norm blocks.{}.ln1.weight: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4);
    RT_ROWS(rt, grad_norm_reduce_sum, 1, 2 * C, .x0 = AT(OF(D_LN1_WEIGHT, layer)),
        .y0 = AT(GRAD_NORM_LN1_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(OF(D_LN1_BIAS, layer)),
        .x1 = AT(GRAD_NORM_LN1_WEIGHT_SUM), .y0 = AT(GRAD_NORM_LN1_BIAS_ADD));
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: mul reduce_sum f32[3,4,12]",
        .block = 1, .flops = 1.38e4, .reads = 2.82e4, .writes = 576);
    RT_ROWS(rt, grad_norm, 3 * HEADS * HEAD_SIZE, 2 * C, .x0 = AT(OF(D_QKV_WEIGHT, layer)),
        .y0 = AT(GRAD_NORM_QKV_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]",
        .block = 1, .flops = 144, .reads = 580, .writes = 4);
    rt_reduce(WITH(WORK_4), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3 * HEADS * HEAD_SIZE},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_QKV_WEIGHT_SUM_2),
        AT(GRAD_NORM_QKV_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: add f32[]",
        .block = 1, .flops = 1, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_add_4, 1, 1, .x0 = AT(GRAD_NORM_LN1_BIAS_ADD),
        .x1 = AT(GRAD_NORM_QKV_WEIGHT_SUM_2), .y0 = AT(GRAD_NORM_QKV_WEIGHT_ADD));
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 289, .reads = 584, .writes = 4);
    RT_ROWS(rt, grad_norm_add_2, 1, 9 * HEADS * HEAD_SIZE, .x0 = AT(OF(D_QKV_BIAS, layer)),
        .x1 = AT(GRAD_NORM_QKV_WEIGHT_ADD), .y0 = AT(GRAD_NORM_QKV_BIAS_ADD),
        .n0 = 3 * HEADS * HEAD_SIZE);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul reduce_sum f32[48,4]",
        .block = 1, .flops = 4.61e3, .reads = 9.98e3, .writes = 768);
    RT_ROWS(rt, grad_norm_reduce_sum_2, C * HEADS, 2 * HEAD_SIZE,
        .x0 = AT(OF(D_PROJ_WEIGHT, layer)), .y0 = AT(GRAD_NORM_PROJ_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]",
        .block = 1, .flops = 192, .reads = 772, .writes = 4);
    rt_reduce(WITH(WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {C * HEADS},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_PROJ_WEIGHT_SUM_2),
        AT(GRAD_NORM_PROJ_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: add f32[]",
        .block = 1, .flops = 1, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_add_4, 1, 1, .x0 = AT(GRAD_NORM_QKV_BIAS_ADD),
        .x1 = AT(GRAD_NORM_PROJ_WEIGHT_SUM_2), .y0 = AT(GRAD_NORM_PROJ_WEIGHT_ADD));
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(OF(D_PROJ_BIAS, layer)),
        .x1 = AT(GRAD_NORM_PROJ_WEIGHT_ADD), .y0 = AT(GRAD_NORM_PROJ_BIAS_ADD));
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(OF(D_LN2_WEIGHT, layer)),
        .x1 = AT(GRAD_NORM_PROJ_BIAS_ADD), .y0 = AT(GRAD_NORM_LN2_WEIGHT_ADD));
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(OF(D_LN2_BIAS, layer)),
        .x1 = AT(GRAD_NORM_LN2_WEIGHT_ADD), .y0 = AT(GRAD_NORM_LN2_BIAS_ADD));
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul reduce_sum f32[192]",
        .block = 1, .flops = 1.84e4, .reads = 3.76e4, .writes = 768);
    RT_ROWS(rt, grad_norm, FC_SIZE, 2 * C, .x0 = AT(OF(D_FC_WEIGHT, layer)),
        .y0 = AT(GRAD_NORM_FC_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]",
        .block = 1, .flops = 192, .reads = 772, .writes = 4);
    rt_reduce(WITH(WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {FC_SIZE}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_FC_WEIGHT_SUM_2), AT(GRAD_NORM_FC_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: add f32[]",
        .block = 1, .flops = 1, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_add_4, 1, 1, .x0 = AT(GRAD_NORM_LN2_BIAS_ADD),
        .x1 = AT(GRAD_NORM_FC_WEIGHT_SUM_2), .y0 = AT(GRAD_NORM_FC_WEIGHT_ADD));
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 385, .reads = 776, .writes = 4);
    RT_ROWS(rt, grad_norm_add_2, 1, 3 * FC_SIZE, .x0 = AT(OF(D_FC_BIAS, layer)),
        .x1 = AT(GRAD_NORM_FC_WEIGHT_ADD), .y0 = AT(GRAD_NORM_FC_BIAS_ADD), .n0 = FC_SIZE);
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul reduce_sum add f32[]",
        .block = 1, .flops = 1.84e4, .reads = 3.69e4, .writes = 4);
    RT_ROWS(rt, grad_norm_add_5, 1, 3 * C * FC_SIZE, .x0 = AT(OF(D_OUT_WEIGHT, layer)),
        .x1 = AT(GRAD_NORM_FC_BIAS_ADD), .y0 = AT(GRAD_NORM_OUT_WEIGHT_ADD));
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(OF(D_OUT_BIAS, layer)),
        .x1 = AT(GRAD_NORM_OUT_WEIGHT_ADD), .y0 = AT(OF(GRAD_NORM_OUT_BIAS_ADD, layer)));
}

static void reduce(Rt *rt, char *m)
{
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]",
        .flops = 9.22e3, .reads = 1.88e4, .writes = 384);
    RT_ROWS(rt, grad_norm, WTE_ROWS, 2 * C, .x0 = AT(D_WTE_WEIGHT),
        .y0 = AT(GRAD_NORM_WTE_WEIGHT_SUM));
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]",
        .flops = 96, .reads = 388, .writes = 4);
    rt_reduce(WITH(WORK_3), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {WTE_ROWS},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_WTE_WEIGHT_SUM_2),
        AT(GRAD_NORM_WTE_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add f32[]", .flops = 1, .reads = 4, .writes = 4);
    RT_ROWS(rt, grad_norm_add, 1, 1, .x0 = AT(GRAD_NORM_WTE_WEIGHT_SUM_2),
        .y0 = AT(GRAD_NORM_ADD));
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum add f32[]",
        .flops = 1.54e3, .reads = 3.08e3, .writes = 4);
    RT_ROWS(rt, grad_norm_add_2, 1, 3 * T * C, .x0 = AT(D_WPE_WEIGHT), .x1 = AT(GRAD_NORM_ADD),
        .y0 = AT(GRAD_NORM_ADD_2), .n0 = T * C);
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum add f32[]",
        .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(D_LN_WEIGHT), .x1 = AT(GRAD_NORM_ADD_2),
        .y0 = AT(GRAD_NORM_ADD_3));
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum add f32[]",
        .flops = 97, .reads = 200, .writes = 4);
    RT_ROWS(rt, grad_norm_add_3, 1, 3 * C, .x0 = AT(D_LN_BIAS), .x1 = AT(GRAD_NORM_ADD_3),
        .y0 = AT(GRAD_NORM_ADD_4));
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]",
        .flops = 9.22e3, .reads = 1.88e4, .writes = 384);
    RT_ROWS(rt, grad_norm, VOCAB, 2 * C, .x0 = AT(D_HEAD_WEIGHT),
        .y0 = AT(GRAD_NORM_HEAD_WEIGHT_SUM));
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]",
        .flops = 96, .reads = 388, .writes = 4);
    rt_reduce(WITH(WORK_3), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {VOCAB}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_HEAD_WEIGHT_SUM_2), AT(GRAD_NORM_HEAD_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add f32[]", .flops = 1, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_add_4, 1, 1, .x0 = AT(GRAD_NORM_ADD_4),
        .x1 = AT(GRAD_NORM_HEAD_WEIGHT_SUM_2), .y0 = AT(GRAD_NORM_ADD_4));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_reduce_layer(rt, m, layer);
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]",
            .flops = 0, .reads = 8, .writes = 4);
        rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 0}, AT(OF(GRAD_NORM_CONCAT, layer)),
            AT(OF(GRAD_NORM_OUT_BIAS_ADD, layer)));
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]",
        .flops = 3, .reads = 16, .writes = 4);
    rt_reduce(WITH(WORK_3), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_SUM), AT(OF(GRAD_NORM_CONCAT, 0)));
    RT_AT(rt, "grad_norm: add sqrt f32[]", .flops = 5, .reads = 8, .writes = 4);
    RT_ROWS(rt, grad_norm_sqrt, 1, 2, .x0 = AT(GRAD_NORM_ADD_4), .x1 = AT(GRAD_NORM_SUM),
        .y0 = AT(GRAD_NORM));
}

// blocks.{}, 3 times
static void blocks_update_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_LN1_WEIGHT, layer)),
        .exp_avg = AT(OF(LN1_WEIGHT_EXP_AVG, layer)), .param = AT(OF(LN1_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(LN1_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_LN1_BIAS, layer)),
        .exp_avg = AT(OF(LN1_BIAS_EXP_AVG, layer)), .param = AT(OF(LN1_BIAS, layer)),
        .exp_avg_sq = AT(OF(LN1_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.qkv.weight: mul sub mul mul ... f32[3,4,12,48]",
        .block = 1, .flops = 1.45e5, .reads = 1.11e5, .writes = 8.29e4);
    RT_ROWS(rt, adamw, 3 * HEADS * HEAD_SIZE * C, 15, .x0 = AT(OF(D_QKV_WEIGHT, layer)),
        .exp_avg = AT(OF(QKV_WEIGHT_EXP_AVG, layer)), .param = AT(OF(QKV_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(QKV_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul mul mul ... f32[3,4,12]",
        .block = 1, .flops = 3.02e3, .reads = 2.34e3, .writes = 1.73e3);
    RT_ROWS(rt, adamw, 3 * HEADS * HEAD_SIZE, 15, .x0 = AT(OF(D_QKV_BIAS, layer)),
        .exp_avg = AT(OF(QKV_BIAS_EXP_AVG, layer)), .param = AT(OF(QKV_BIAS, layer)),
        .exp_avg_sq = AT(OF(QKV_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.proj.weight: mul sub mul mul ... f32[48,4,12]",
        .block = 1, .flops = 4.84e4, .reads = 3.69e4, .writes = 2.76e4);
    RT_ROWS(rt, adamw, C * HEADS * HEAD_SIZE, 15, .x0 = AT(OF(D_PROJ_WEIGHT, layer)),
        .exp_avg = AT(OF(PROJ_WEIGHT_EXP_AVG, layer)), .param = AT(OF(PROJ_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(PROJ_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_PROJ_BIAS, layer)),
        .exp_avg = AT(OF(PROJ_BIAS_EXP_AVG, layer)), .param = AT(OF(PROJ_BIAS, layer)),
        .exp_avg_sq = AT(OF(PROJ_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_LN2_WEIGHT, layer)),
        .exp_avg = AT(OF(LN2_WEIGHT_EXP_AVG, layer)), .param = AT(OF(LN2_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(LN2_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_LN2_BIAS, layer)),
        .exp_avg = AT(OF(LN2_BIAS_EXP_AVG, layer)), .param = AT(OF(LN2_BIAS, layer)),
        .exp_avg_sq = AT(OF(LN2_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul sub mul mul mul ... f32[192,48]",
        .block = 1, .flops = 1.94e5, .reads = 1.47e5, .writes = 1.11e5);
    RT_ROWS(rt, adamw, FC_SIZE * C, 15, .x0 = AT(OF(D_FC_WEIGHT, layer)),
        .exp_avg = AT(OF(FC_WEIGHT_EXP_AVG, layer)), .param = AT(OF(FC_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(FC_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sub mul mul mul add ... f32[192]",
        .block = 1, .flops = 4.03e3, .reads = 3.1e3, .writes = 2.3e3);
    RT_ROWS(rt, adamw, FC_SIZE, 15, .x0 = AT(OF(D_FC_BIAS, layer)),
        .exp_avg = AT(OF(FC_BIAS_EXP_AVG, layer)), .param = AT(OF(FC_BIAS, layer)),
        .exp_avg_sq = AT(OF(FC_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.out.weight: mul sub mul mul mul ... f32[48,192]",
        .block = 1, .flops = 1.94e5, .reads = 1.47e5, .writes = 1.11e5);
    RT_ROWS(rt, adamw, C * FC_SIZE, 15, .x0 = AT(OF(D_OUT_WEIGHT, layer)),
        .exp_avg = AT(OF(OUT_WEIGHT_EXP_AVG, layer)), .param = AT(OF(OUT_WEIGHT, layer)),
        .exp_avg_sq = AT(OF(OUT_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(OF(D_OUT_BIAS, layer)),
        .exp_avg = AT(OF(OUT_BIAS_EXP_AVG, layer)), .param = AT(OF(OUT_BIAS, layer)),
        .exp_avg_sq = AT(OF(OUT_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
}

static void update(Rt *rt, char *m)
{
    RT_AT(rt, "clip_norm: cast cast pow sub cast div cast cast pow ... f32[]",
        .flops = 72, .reads = 52, .writes = 24);
    RT_ROWS(rt, clip_norm, 1, 22, .beta1 = AT(BETA1), .step = AT(STEP), .lr = AT(LR),
        .beta2 = AT(BETA2), .weight_decay = AT(WEIGHT_DECAY), .x5 = AT(GRAD_NORM),
        .clip_norm = AT(CLIP_NORM), .y0 = AT(ADAMW_NEG), .y1 = AT(ADAMW_SUB),
        .y2 = AT(ADAMW_SUB_2), .y3 = AT(ADAMW_CAST), .y4 = AT(ADAMW_SUB_3),
        .y5 = AT(CLIP_NORM_MIN));
    RT_AT(rt, "adamw wte.weight: mul sub mul mul mul add mul ... f32[96,48]",
        .flops = 9.68e4, .reads = 7.38e4, .writes = 5.53e4);
    RT_ROWS(rt, adamw, WTE_ROWS * C, 15, .x0 = AT(D_WTE_WEIGHT), .exp_avg = AT(WTE_WEIGHT_EXP_AVG),
        .param = AT(WTE_WEIGHT), .exp_avg_sq = AT(WTE_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul mul add mul ... f32[16,48]",
        .flops = 1.61e4, .reads = 1.23e4, .writes = 9.22e3);
    RT_ROWS(rt, adamw, T * C, 15, .x0 = AT(D_WPE_WEIGHT), .exp_avg = AT(WPE_WEIGHT_EXP_AVG),
        .param = AT(WPE_WEIGHT), .exp_avg_sq = AT(WPE_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul mul ... f32[48]",
        .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(D_LN_WEIGHT), .exp_avg = AT(LN_WEIGHT_EXP_AVG),
        .param = AT(LN_WEIGHT), .exp_avg_sq = AT(LN_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul mul add ... f32[48]",
        .flops = 1.01e3, .reads = 800, .writes = 576);
    RT_ROWS(rt, adamw, C, 15, .x0 = AT(D_LN_BIAS), .exp_avg = AT(LN_BIAS_EXP_AVG),
        .param = AT(LN_BIAS), .exp_avg_sq = AT(LN_BIAS_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "adamw head.weight: mul sub mul mul mul add mul ... f32[96,48]",
        .flops = 9.68e4, .reads = 7.38e4, .writes = 5.53e4);
    RT_ROWS(rt, adamw, VOCAB * C, 15, .x0 = AT(D_HEAD_WEIGHT), .exp_avg = AT(HEAD_WEIGHT_EXP_AVG),
        .param = AT(HEAD_WEIGHT), .exp_avg_sq = AT(HEAD_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_update_layer(rt, m, layer);
}

// blocks.{}, 3 times
static void blocks_predict_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub reduce_sum ... f32[4,16,48]",
        .flops = 2.85e4, .reads = 2.5e4, .writes = 1.23e4);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, .x0 = AT(OF(F_BLOCKS_OUT, (layer + 1) % 2)),
        .weight = AT(OF(LN1_WEIGHT, layer)), .bias = AT(OF(LN1_BIAS, layer)), .y0 = AT(F_LN1_OUT));
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]",
        .flops = 8.85e5, .reads = 7.68e4, .writes = 3.69e4);
    rt_dot(WITH(F_WORK), QKV_DOT_KERNEL, AT(F_QKV_DOT), AT(F_LN1_OUT), AT(OF(QKV_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]",
        .flops = 9.22e3, .reads = 3.74e4, .writes = 3.69e4);
    RT_ROWS(rt, qkv_bias_forward, B * T, 3 * HEADS * HEAD_SIZE, .x0 = AT(F_QKV_DOT),
        .bias = AT(OF(QKV_BIAS, layer)), .y0 = AT(F_QKV_OUT));
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]",
        .flops = 9.83e4, .reads = 5.12e4, .writes = 1.43e4);
    rt_attention(WITH(F_WORK), &(RtAttention){.n_batch = 2, .batch = {B, HEADS}, .s = T, .t = T,
        .e = HEAD_SIZE, .f = HEAD_SIZE, .q = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .k = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .v = {{3 * T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS * HEAD_SIZE, 1}, .y = {{T * HEADS * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS * HEAD_SIZE, 1}, .max = {{T * HEADS, 1}, {0}, HEADS, 0},
        .sum = {{T * HEADS, 1}, {0}, HEADS, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, AT(F_ATTENTION_OUT),
        AT(F_BLOCKS_ATTENTION_MAX), AT(F_BLOCKS_ATTENTION_SUM), AT(F_QKV_OUT),
        AT(F_QKV_OUT + HEADS * HEAD_SIZE * sizeof(float)),
        AT(F_QKV_OUT + 2 * HEADS * HEAD_SIZE * sizeof(float)), NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]",
        .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4);
    rt_dot(WITH(F_WORK), PROJ_DOT_KERNEL, AT(F_PROJ_DOT), AT(F_ATTENTION_OUT),
        AT(OF(PROJ_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul sub ... f32[4,16,48]",
        .flops = 3.46e4, .reads = 3.74e4, .writes = 2.46e4);
    RT_ROWS(rt, ln2_predict, B * T, 18 * C, .x0 = AT(F_PROJ_DOT), .bias = AT(OF(PROJ_BIAS, layer)),
        .x2 = AT(OF(F_BLOCKS_OUT, (layer + 1) % 2)), .weight = AT(OF(LN2_WEIGHT, layer)),
        .x4 = AT(OF(LN2_BIAS, layer)), .y0 = AT(F_BLOCKS_ADD), .y1 = AT(F_LN2_OUT));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]",
        .flops = 1.18e6, .reads = 9.83e4, .writes = 4.92e4);
    rt_dot(WITH(F_WORK), FC_DOT_KERNEL, AT(F_FC_DOT), AT(F_LN2_OUT), AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]",
        .flops = 2.83e5, .reads = 4.99e4, .writes = 4.92e4);
    RT_ROWS(rt, gelu_forward, B * T, 6 * FC_SIZE, .x0 = AT(F_FC_DOT),
        .bias = AT(OF(FC_BIAS, layer)), .y0 = AT(F_GELU_OUT));
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]",
        .flops = 1.18e6, .reads = 9.83e4, .writes = 1.23e4);
    rt_dot(WITH(F_WORK), OUT_DOT_KERNEL, AT(F_OUT_DOT), AT(F_GELU_OUT), AT(OF(OUT_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]",
        .flops = 6.14e3, .reads = 3.71e4, .writes = 1.23e4);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, .x0 = AT(F_OUT_DOT),
        .bias = AT(OF(OUT_BIAS, layer)), .x2 = AT(F_BLOCKS_ADD),
        .y0 = AT(OF(F_BLOCKS_OUT, layer % 2)));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]",
        .flops = 192, .reads = 512, .writes = 512);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(F_INPUT_IDS), .y0 = AT(F_WTE_SELECT));
    RT_AT(rt, "wte: gather f32[4,16,48]", .flops = 0, .reads = 2.51e4, .writes = 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS}, AT(F_WTE_OUT),
        AT(WTE_WEIGHT), AT(F_WTE_SELECT));
    RT_AT(rt, "node_add: add f32[4,16,48]",
        .flops = 3.07e3, .reads = 2.76e4, .writes = 1.23e4);
    RT_ROWS(rt, add_forward, B, T * C, .x0 = AT(F_WTE_OUT), .weight = AT(WPE_WEIGHT),
        .y0 = AT(F_NODE_ADD_OUT));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_predict_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]",
        .flops = 2.85e4, .reads = 2.5e4, .writes = 1.23e4);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, .x0 = AT(OF(F_BLOCKS_OUT, 0)), .weight = AT(LN_WEIGHT),
        .bias = AT(LN_BIAS), .y0 = AT(F_LN_OUT));
    RT_AT(rt, "head: dot f32[4,16,96]", .flops = 5.9e5, .reads = 5.53e4, .writes = 2.46e4);
    rt_dot(WITH(F_WORK), HEAD_OUT_KERNEL, AT(F_LOGITS), AT(F_LN_OUT), AT(HEAD_WEIGHT));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... i64[4,16]",
        .flops = 768, .reads = 1.09e3, .writes = 580);
    RT_ROWS(rt, cross_entropy_predict, 1, 14 * B * T, .x0 = AT(F_LABELS),
        .y0 = AT(F_CROSS_ENTROPY_EQ), .y1 = AT(F_COUNT), .y2 = AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 64, .reads = 520, .writes = 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B * T},
        .stride = {1}, .reduced = {1}}, AT(F_CROSS_ENTROPY_MIN), AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]", .flops = 10, .reads = 8, .writes = 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, .x0 = AT(F_CROSS_ENTROPY_MIN),
        .y0 = AT(F_BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]",
        .flops = 6.14e3, .reads = 2.48e4, .writes = 256);
    rt_reduce(WITH(F_WORK), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {B * T, VOCAB}, .stride = {VOCAB, 1}, .reduced = {0, 1}}, AT(F_CROSS_ENTROPY_MAX),
        AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]",
        .flops = 9.29e4, .reads = 2.57e4, .writes = 256);
    RT_ROWS(rt, cross_entropy_log_predict, B * T, 10 * VOCAB, .x0 = AT(F_LOGITS),
        .x1 = AT(F_CROSS_ENTROPY_MAX), .x2 = AT(F_LABELS), .x3 = AT(F_CROSS_ENTROPY_EQ),
        .y0 = AT(F_CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4);
    rt_reduce(WITH(F_WORK), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B * T}, .stride = {1},
        .reduced = {1}}, AT(F_LOSS), AT(F_CROSS_ENTROPY_SELECT_2));
}

// wte: lt add select; 64 elements; x0 input_ids
static void wte_forward(const void *operands, int64_t first, int64_t last)
{
    const struct wte_forward *p = operands;
    const int64_t *x0 = p->x0;
    int64_t *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] < 0 ? (int64_t)rt_add_int(x0[i], 96) : x0[i];
}

// node_add: add; 4 rows of 768; x0 wte
static void add_forward(const void *operands, int64_t first, int64_t last)
{
    const struct add_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 768, *weight = p->weight;
        float *y0 = p->y0 + i0 * 768;
        RT_SIMD for (int64_t i = 0; i < 768; i++)
            y0[i] = x0[i] + weight[i];
    }
}

// blocks.{}.ln1: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln1_forward(const void *operands, int64_t first, int64_t last)
{
    const struct ln1_forward *p = operands;
    float *y0 = p->y0, *y1 = p->y1;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = p->x0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1) for (int64_t i = 0; i < 48; i++)
            s1 += v1 - x0[i];
        const float v2 = v1 - s1 * 0.020833334f;
        y0[i0] = v2;
        RT_SIMD_SUM(s2) for (int64_t i = 0; i < 48; i++) {
            const float v3 = x0[i] - v2;
            s2 += v3 * v3;
        }
        const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        const float *weight = p->weight, *bias = p->bias;
        float *y2 = p->y2 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y2[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
        y1[i0] = s2;
    }
}

// blocks.{}.qkv: add; 64 rows of 144
static void qkv_bias_forward(const void *operands, int64_t first, int64_t last)
{
    const struct qkv_bias_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 144, *bias = p->bias;
        float *y0 = p->y0 + i0 * 144;
        RT_SIMD for (int64_t i = 0; i < 144; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub compensate sqrt div; 64 rows of 48
static void ln2_forward(const void *operands, int64_t first, int64_t last)
{
    const struct ln2_forward *p = operands;
    float *y1 = p->y1, *y2 = p->y2;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = p->x0 + i0 * 48, *bias = p->bias, *x2 = p->x2 + i0 * 48;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++) {
            const float v1 = x2[i] + (x0[i] + bias[i]);
            s0 += v1;
            y0[i] = v1;
        }
        const float v2 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1) for (int64_t i = 0; i < 48; i++)
            s1 += v2 - y0[i];
        const float v3 = v2 - s1 * 0.020833334f;
        y1[i0] = v3;
        RT_SIMD_SUM(s2) for (int64_t i = 0; i < 48; i++) {
            const float v4 = y0[i] - v3;
            s2 += v4 * v4;
        }
        const float v5 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        const float *weight = p->weight, *x4 = p->x4;
        float *y3 = p->y3 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y3[i] = (y0[i] - v3) * v5 * weight[i] + x4[i];
        y2[i0] = s2;
    }
}

// blocks.{}: add div erf mul; 64 rows of 192; x0 fc
static void gelu_forward(const void *operands, int64_t first, int64_t last)
{
    const struct gelu_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 192, *bias = p->bias;
        float *y0 = p->y0 + i0 * 192;
        RT_SIMD for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + bias[i];
            y0[i] = v1 * (0.5f * (rt_erff(v1 / 1.41421354f) + 1.0f));
        }
    }
}

// blocks.{}: add; 64 rows of 48; x0 out
static void blocks_add_forward(const void *operands, int64_t first, int64_t last)
{
    const struct blocks_add_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 48, *bias = p->bias, *x2 = p->x2 + i0 * 48;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x2[i] + (x0[i] + bias[i]);
    }
}

// ln: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln_forward(const void *operands, int64_t first, int64_t last)
{
    const struct ln_forward *p = operands;
    float *y0 = p->y0, *y1 = p->y1, *y2 = p->y2, *y3 = p->y3;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = p->x0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1) for (int64_t i = 0; i < 48; i++)
            s1 += v1 - x0[i];
        const float v2 = v1 - s1 * 0.020833334f;
        y0[i0] = v2;
        RT_SIMD_SUM(s2) for (int64_t i = 0; i < 48; i++) {
            const float v3 = x0[i] - v2;
            s2 += v3 * v3;
        }
        const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        const float v5 = rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        y1[i0] = v4;
        y2[i0] = v5;
        y3[i0] = v5 * 2.0f;
        const float *weight = p->weight, *bias = p->bias;
        float *y4 = p->y4 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y4[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select div; 64 elements
static void cross_entropy_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_forward *p = operands;
    float *y1 = p->y1, *y3 = p->y3;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        for (int64_t i0 = 0; i0 < 4; i0++) {
            const int64_t *x0 = p->x0 + i0 * 16;
            uint8_t *y0 = p->y0 + i0 * 16;
            int64_t *y2 = p->y2 + i0 * 16;
            RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++) {
                const uint8_t v1 = x0[i] == -100;
                const uint8_t v2 = !v1;
                s0 += (float)v2;
                y2[i] = (v2 & ((x0[i] < 0) | (96 <= x0[i]))) ?
                    (int64_t)rt_add_int((int64_t)rt_add_int(i, 1),
                    (int64_t)rt_mul_int(i0, 16)) : 65;
                y0[i] = v1;
            }
        }
        y3[0] = 1.0f / s0;
        y1[0] = s0;
    }
}

// cross_entropy: mod; one number
static void cross_entropy_mod_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_mod_forward *p = operands;
    const int64_t x0 = p->x0[0];
    int64_t *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = (int64_t)rt_mod_int(x0, 65);
}

// cross_entropy: sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
static void cross_entropy_log_forward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_log_forward *p = operands;
    float *y0 = p->y0, *y1 = p->y1;
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float *x0 = p->x0 + i0 * 1536 + i1 * 96;
        const float x1 = p->x1[i0 * 16 + i1];
        const int64_t x2 = p->x2[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 96; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = p->x3[i0 * 16 + i1];
        y1[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
        y0[i0 * 16 + i1] = s0;
    }
}

// cross_entropy: select neg div iota eq sub exp mul add; 64 rows of 96; x3 labels, x4 head
static void cross_entropy_backward(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_backward *p = operands;
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        const uint8_t x0 = p->x0[i0 * 16 + i1];
        const float x1 = p->x1[0], x2 = p->x2[i0 * 16 + i1];
        const float v1 = x0 ? 0.0f : x1;
        const float v2 = -v1;
        const float v3 = v1 / x2;
        const int64_t x3 = p->x3[i0 * 16 + i1];
        const float *x4 = p->x4 + i0 * 1536 + i1 * 96;
        const float x5 = p->x5[i0 * 16 + i1];
        float *y0 = p->y0 + i0 * 1536 + i1 * 96;
        RT_SIMD for (int64_t i = 0; i < 96; i++)
            y0[i] = (i == x3 ? v2 : 0.0f) + v3 * rt_exp_lowf(x4[i] - x5);
    }
}

// ln: mul reduce_sum neg sub div add; 64 rows of 48; x0 head, x3 blocks.{}
static void ln_backward(const void *operands, int64_t first, int64_t last)
{
    const struct ln_backward *p = operands;
    float *y1 = p->y1, *y4 = p->y4;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = p->x0 + i0 * 48, *weight = p->weight, *x3 = p->x3 + i0 * 48,
            *bias = p->bias;
        const float x2 = p->x2[i0], x4 = p->x4[i0];
        float *y0 = p->y0 + i0 * 48, *y2 = p->y2 + i0 * 48, *y3 = p->y3 + i0 * 48,
            *y5 = p->y5 + i0 * 48;
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 48; i++) {
            const float v1 = x0[i] * weight[i];
            s0 += v1;
            const float v2 = x3[i] - x4;
            const float v3 = v2 * x2;
            const float v4 = x0[i] * v3;
            s1 += v1 * v2;
            y5[i] = v3 * weight[i] + bias[i];
            y0[i] = v1 * x2;
            y2[i] = v2;
            y3[i] = v4;
        }
        const float x5 = p->x5[i0], x6 = p->x6[i0];
        y1[i0] = -(s0 * x2) * 0.020833334f;
        y4[i0] = -(s1 / x5 * x2) / x6 * 0.020833334f;
    }
}

// ln: mul add; 64 rows of 48
static void ln_add_backward(const void *operands, int64_t first, int64_t last)
{
    const struct ln_add_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = p->x0[i0], x3 = p->x3[i0];
        const float *x1 = p->x1 + i0 * 48, *x2 = p->x2 + i0 * 48;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x2[i] + x0 * x1[i] + x0 * x1[i] + x3;
    }
}

// blocks.{}: add div erf mul neg exp; 64 rows of 192; x0 fc, x2 out
static void gelu_backward(const void *operands, int64_t first, int64_t last)
{
    const struct gelu_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 192, *bias = p->bias, *x2 = p->x2 + i0 * 192;
        float *y0 = p->y0 + i0 * 192, *y1 = p->y1 + i0 * 192;
        RT_SIMD for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + bias[i];
            const float v2 = v1 / 1.41421354f;
            const float v3 = 0.5f * (rt_erff(v2) + 1.0f);
            y1[i] = x2[i] * v3 + x2[i] * v1 * 0.5f * (rt_exp_lowf(-(v2 * v2)) * 1.12837923f) /
                1.41421354f;
            y0[i] = v1 * v3;
        }
    }
}

// blocks.{}.ln2, blocks.{}.ln1: mul reduce_sum add sqrt div neg sub; 64 rows of 48; x3 blocks.{}
static void ln2_backward(const void *operands, int64_t first, int64_t last)
{
    const struct ln2_backward *p = operands;
    float *y0 = p->y0, *y4 = p->y4;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float x2 = p->x2[i0];
        const float v1 = rt_sqrtf(x2 * 0.020833334f + 9.99999975e-06f);
        const float v2 = 1.0f / v1;
        const float v3 = v1 * 2.0f;
        const float *x0 = p->x0 + i0 * 48, *weight = p->weight, *x3 = p->x3 + i0 * 48,
            *bias = p->bias;
        const float x4 = p->x4[i0];
        float *y1 = p->y1 + i0 * 48, *y2 = p->y2 + i0 * 48, *y3 = p->y3 + i0 * 48,
            *y5 = p->y5 + i0 * 48;
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 48; i++) {
            const float v4 = x0[i] * weight[i];
            s0 += v4;
            const float v5 = x3[i] - x4;
            const float v6 = v5 * v2;
            const float v7 = x0[i] * v6;
            s1 += v4 * v5;
            y5[i] = v6 * weight[i] + bias[i];
            y1[i] = v5;
            y2[i] = v7;
            y3[i] = v4 * v2;
        }
        y0[i0] = -(s0 * v2) * 0.020833334f;
        y4[i0] = -(s1 / v1 * v2) / v3 * 0.020833334f;
    }
}

// blocks.{}.ln2, blocks.{}.ln1: mul add; 64 rows of 48
static void ln2_add_backward(const void *operands, int64_t first, int64_t last)
{
    const struct ln2_add_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = p->x0[i0], x4 = p->x4[i0];
        const float *x1 = p->x1 + i0 * 48, *x2 = p->x2 + i0 * 48, *x3 = p->x3 + i0 * 48;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x3[i] + (x2[i] + x0 * x1[i] + x0 * x1[i]) + x4;
    }
}

// grad_norm wte.weight, head.weight and 2 more: mul reduce_sum
static void grad_norm(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm *p = operands;
    float *y0 = p->y0;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm: add; one number; x0 grad_norm wte.weight
static void grad_norm_add(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add *p = operands;
    const float x0 = p->x0[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = 0.0f + x0;
}

// grad_norm wpe.weight, blocks.{}.qkv.bias and 1 more: mul reduce_sum add
static void grad_norm_add_2(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add_2 *p = operands;
    const int64_t n0 = p->n0;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < n0; i++)
            s0 += x0[i] * x0[i];
        const float x1 = p->x1[0];
        y0[0] = x1 + s0;
    }
}

// grad_norm ln.weight, ln.bias and 5 more: mul reduce_sum add; 48 elements
static void grad_norm_add_3(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add_3 *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        const float x1 = p->x1[0];
        y0[0] = x1 + s0;
    }
}

// grad_norm, blocks.{}.qkv.weight and 2 more: add; one number
static void grad_norm_add_4(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add_4 *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = x0 + x1;
}

// grad_norm blocks.{}.ln1.weight: mul reduce_sum; 48 elements; x0 blocks.{}.ln1
static void grad_norm_reduce_sum(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12; x0 blocks.{}.proj
static void grad_norm_reduce_sum_2(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_2 *p = operands;
    float *y0 = p->y0;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 12;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 12; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm blocks.{}.out.weight: mul reduce_sum add; 9216 elements
static void grad_norm_add_5(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add_5 *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        double w0 = (double)s0;
        RT_RUNS(c, end, 0, 9216) {
            s0 = 0;
            RT_SIMD_SUM(s0) for (int64_t i = c; i < end; i++)
                s0 += x0[i] * x0[i];
            w0 += (double)s0;
        }
        s0 = (float)w0;
        const float x1 = p->x1[0];
        y0[0] = x1 + s0;
    }
}

// grad_norm: add sqrt; one number
static void grad_norm_sqrt(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_sqrt *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(x0 + x1);
}

// clip_norm: cast pow sub div sqrt neg mul add min; one number; x5 grad_norm
static void clip_norm(const void *operands, int64_t first, int64_t last)
{
    const struct clip_norm *p = operands;
    const float beta1 = p->beta1[0], step = p->step[0], lr = p->lr[0], beta2 = p->beta2[0],
        weight_decay = p->weight_decay[0], x5 = p->x5[0], clip_norm = p->clip_norm[0];
    float *y0 = p->y0, *y1 = p->y1, *y2 = p->y2, *y3 = p->y3, *y4 = p->y4, *y5 = p->y5;
    RT_SIMD for (int64_t i = first; i < last; i++) {
        y5[0] = rt_minf(clip_norm / (x5 + 9.99999997e-07f), 1.0f);
        y0[0] = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        y1[0] = 1.0f - beta1;
        y2[0] = 1.0f - beta2;
        y3[0] = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
        y4[0] = 1.0f - lr * weight_decay;
    }
}

// adamw wte.weight, wpe.weight and 15 more: mul sub add sqrt div
static void adamw(const void *operands, int64_t first, int64_t last)
{
    const struct adamw *p = operands;
    const float *x0 = p->x0, *exp_avg = p->exp_avg, *param = p->param, *exp_avg_sq = p->exp_avg_sq;
    const float x1 = p->x1[0], x3 = p->x3[0], x4 = p->x4[0], x6 = p->x6[0], beta2 = p->beta2[0],
        x9 = p->x9[0], eps = p->eps[0], x11 = p->x11[0];
    float *next_exp_avg = p->exp_avg, *next_exp_avg_sq = p->exp_avg_sq, *next_param = p->param;
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = x0[i] * x1;
        const float v2 = exp_avg[i] + (v1 - exp_avg[i]) * x4;
        const float v3 = exp_avg_sq[i] * beta2 + v1 * v1 * x3;
        next_param[i] = param[i] * x6 + v2 / (rt_sqrtf(v3) * x9 + eps) * x11;
        next_exp_avg[i] = v2;
        next_exp_avg_sq[i] = v3;
    }
}

// blocks.{}.ln1, ln: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln_predict(const void *operands, int64_t first, int64_t last)
{
    const struct ln_predict *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = p->x0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i];
        const float v1 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1) for (int64_t i = 0; i < 48; i++)
            s1 += v1 - x0[i];
        const float v2 = v1 - s1 * 0.020833334f;
        RT_SIMD_SUM(s2) for (int64_t i = 0; i < 48; i++) {
            const float v3 = x0[i] - v2;
            s2 += v3 * v3;
        }
        const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        const float *weight = p->weight, *bias = p->bias;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub compensate sqrt div; 64 rows of 48
static void ln2_predict(const void *operands, int64_t first, int64_t last)
{
    const struct ln2_predict *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = p->x0 + i0 * 48, *bias = p->bias, *x2 = p->x2 + i0 * 48;
        float *y0 = p->y0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++) {
            const float v1 = x2[i] + (x0[i] + bias[i]);
            s0 += v1;
            y0[i] = v1;
        }
        const float v2 = s0 * 0.020833334f;
        RT_SIMD_SUM(s1) for (int64_t i = 0; i < 48; i++)
            s1 += v2 - y0[i];
        const float v3 = v2 - s1 * 0.020833334f;
        RT_SIMD_SUM(s2) for (int64_t i = 0; i < 48; i++) {
            const float v4 = y0[i] - v3;
            s2 += v4 * v4;
        }
        const float v5 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
        const float *weight = p->weight, *x4 = p->x4;
        float *y1 = p->y1 + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y1[i] = (y0[i] - v3) * v5 * weight[i] + x4[i];
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select; 64 elements; x0 labels
static void cross_entropy_predict(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_predict *p = operands;
    float *y1 = p->y1;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        for (int64_t i0 = 0; i0 < 4; i0++) {
            const int64_t *x0 = p->x0 + i0 * 16;
            uint8_t *y0 = p->y0 + i0 * 16;
            int64_t *y2 = p->y2 + i0 * 16;
            RT_SIMD_SUM(s0) for (int64_t i = 0; i < 16; i++) {
                const uint8_t v1 = x0[i] == -100;
                const uint8_t v2 = !v1;
                s0 += (float)v2;
                y2[i] = (v2 & ((x0[i] < 0) | (96 <= x0[i]))) ?
                    (int64_t)rt_add_int((int64_t)rt_add_int(i, 1),
                    (int64_t)rt_mul_int(i0, 16)) : 65;
                y0[i] = v1;
            }
        }
        y1[0] = s0;
    }
}

// cross_entropy: sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
static void cross_entropy_log_predict(const void *operands, int64_t first, int64_t last)
{
    const struct cross_entropy_log_predict *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float *x0 = p->x0 + i0 * 1536 + i1 * 96;
        const float x1 = p->x1[i0 * 16 + i1];
        const int64_t x2 = p->x2[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 96; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = p->x3[i0 * 16 + i1];
        y0[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
}

static void init(Rt *rt)
{
    rt_dot_init(rt, QKV_DOT_KERNEL, &(RtDot){.m = B * T, .n = 3 * HEADS * HEAD_SIZE, .k = C,
        .a_m = C, .a_k = 1, .b_k = 1, .b_n = C, .y_m = 3 * HEADS * HEAD_SIZE, .y_n = 1,
        .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, PROJ_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = HEADS * HEAD_SIZE,
        .a_m = HEADS * HEAD_SIZE, .a_k = 1, .b_k = 1, .b_n = HEADS * HEAD_SIZE, .y_m = C, .y_n = 1,
        .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, FC_DOT_KERNEL, &(RtDot){.m = B * T, .n = FC_SIZE, .k = C, .a_m = C, .a_k = 1,
        .b_k = 1, .b_n = C, .y_m = FC_SIZE, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, OUT_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = FC_SIZE, .a_m = FC_SIZE,
        .a_k = 1, .b_k = 1, .b_n = FC_SIZE, .y_m = C, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, HEAD_OUT_KERNEL, &(RtDot){.m = B * T, .n = VOCAB, .k = C, .a_m = C, .a_k = 1,
        .b_k = 1, .b_n = C, .y_m = VOCAB, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, D_HEAD_IN_KERNEL, &(RtDot){.m = B * T, .n = C, .k = VOCAB, .a_m = VOCAB,
        .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, D_HEAD_WEIGHT_KERNEL, &(RtDot){.m = C, .n = VOCAB, .k = B * T, .a_m = 1,
        .a_k = C, .b_k = VOCAB, .b_n = 1, .y_m = 1, .y_n = C, .type = RT_F32});  // head
    rt_dot_init(rt, D_OUT_IN_KERNEL, &(RtDot){.m = B * T, .n = FC_SIZE, .k = C, .a_m = C, .a_k = 1,
        .b_k = FC_SIZE, .b_n = 1, .y_m = FC_SIZE, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    // blocks.{}.out
    rt_dot_init(rt, D_OUT_WEIGHT_KERNEL, &(RtDot){.m = FC_SIZE, .n = C, .k = B * T, .a_m = 1,
        .a_k = FC_SIZE, .b_k = C, .b_n = 1, .y_m = 1, .y_n = FC_SIZE, .type = RT_F32});
    rt_dot_init(rt, D_FC_IN_KERNEL, &(RtDot){.m = B * T, .n = C, .k = FC_SIZE, .a_m = FC_SIZE,
        .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, D_FC_WEIGHT_KERNEL, &(RtDot){.m = C, .n = FC_SIZE, .k = B * T, .a_m = 1,
        .a_k = C, .b_k = FC_SIZE, .b_n = 1, .y_m = 1, .y_n = C, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, D_PROJ_IN_KERNEL, &(RtDot){.m = B * T, .n = HEADS * HEAD_SIZE, .k = C,
        .a_m = C, .a_k = 1, .b_k = HEADS * HEAD_SIZE, .b_n = 1, .y_m = HEADS * HEAD_SIZE, .y_n = 1,
        .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, D_PROJ_WEIGHT_KERNEL, &(RtDot){.m = HEADS * HEAD_SIZE, .n = C, .k = B * T,
        .a_m = 1, .a_k = HEADS * HEAD_SIZE, .b_k = C, .b_n = 1, .y_m = 1, .y_n = HEADS * HEAD_SIZE,
        .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, D_QKV_IN_KERNEL, &(RtDot){.m = B * T, .n = C, .k = 3 * HEADS * HEAD_SIZE,
        .a_m = 3 * HEADS * HEAD_SIZE, .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1,
        .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, D_QKV_WEIGHT_KERNEL, &(RtDot){.m = C, .n = 3 * HEADS * HEAD_SIZE, .k = B * T,
        .a_m = 1, .a_k = C, .b_k = 3 * HEADS * HEAD_SIZE, .b_n = 1, .y_m = 1, .y_n = C,
        .type = RT_F32});  // blocks.{}.qkv
}

// Role, type, name, rank, shape and offset; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "wte.weight", 2, {96, 48}, .at = 0},
    {RT_PARAMETER, RT_F32, "wpe.weight", 2, {16, 48}, .at = 18496},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.weight", 1, {48}, .at = 21632, 3, 192, .is_one = true},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.bias", 1, {48}, .at = 22272, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.weight", 2, {144, 48}, .at = 22912, 3, 27648},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.bias", 1, {144}, .at = 105920, 3, 576},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.weight", 2, {48, 48}, .at = 107712, 3, 9216},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.bias", 1, {48}, .at = 135424, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.weight", 1, {48}, .at = 136064, 3, 192, .is_one = true},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.bias", 1, {48}, .at = 136704, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.weight", 2, {192, 48}, .at = 137344, 3, 36864},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.bias", 1, {192}, .at = 248000, 3, 768},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.weight", 2, {48, 192}, .at = 250368, 3, 36864},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.bias", 1, {48}, .at = 361024, 3, 192},
    {RT_PARAMETER, RT_F32, "ln.weight", 1, {48}, .at = 361664, .is_one = true},
    {RT_PARAMETER, RT_F32, "ln.bias", 1, {48}, .at = 361920},
    {RT_PARAMETER, RT_F32, "head.weight", 2, {96, 48}, .at = 362176},
    {RT_HYPER, RT_F32, "lr", 0, {0}, .at = 380672, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", 0, {0}, .at = 380800, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", 0, {0}, .at = 380928, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", 0, {0}, .at = 381056, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", 0, {0}, .at = 381184, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 381312, .fill = 0.01},
    {RT_HYPER, RT_F32, "clip_norm", 0, {0}, .at = 381440, .fill = 1.0},
    {RT_STATE, RT_F32, "wte.weight.exp_avg", 2, {96, 48}, .at = 381568},
    {RT_STATE, RT_F32, "wte.weight.exp_avg_sq", 2, {96, 48}, .at = 400064},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg", 2, {16, 48}, .at = 418560},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg_sq", 2, {16, 48}, .at = 421696},
    {RT_STATE, RT_F32, "ln.weight.exp_avg", 1, {48}, .at = 424832},
    {RT_STATE, RT_F32, "ln.weight.exp_avg_sq", 1, {48}, .at = 425088},
    {RT_STATE, RT_F32, "ln.bias.exp_avg", 1, {48}, .at = 425344},
    {RT_STATE, RT_F32, "ln.bias.exp_avg_sq", 1, {48}, .at = 425600},
    {RT_STATE, RT_F32, "head.weight.exp_avg", 2, {96, 48}, .at = 425856},
    {RT_STATE, RT_F32, "head.weight.exp_avg_sq", 2, {96, 48}, .at = 444352},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg", 1, {48}, .at = 462848, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg_sq", 1, {48}, .at = 463488, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg", 1, {48}, .at = 464128, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg_sq", 1, {48}, .at = 464768, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg", 2, {144, 48}, .at = 465408, 3, 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg_sq", 2, {144, 48}, .at = 548416, 3, 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg", 1, {144}, .at = 631424, 3, 576},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg_sq", 1, {144}, .at = 633216, 3, 576},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg", 2, {48, 48}, .at = 635008, 3, 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg_sq", 2, {48, 48}, .at = 662720, 3, 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg", 1, {48}, .at = 690432, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg_sq", 1, {48}, .at = 691072, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg", 1, {48}, .at = 691712, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg_sq", 1, {48}, .at = 692352, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg", 1, {48}, .at = 692992, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg_sq", 1, {48}, .at = 693632, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg", 2, {192, 48}, .at = 694272, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg_sq", 2, {192, 48}, .at = 804928, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg", 1, {192}, .at = 915584, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg_sq", 1, {192}, .at = 917952, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg", 2, {48, 192}, .at = 920320, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg_sq", 2, {48, 192}, .at = 1030976, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg", 1, {48}, .at = 1141632, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg_sq", 1, {48}, .at = 1142272, 3, 192},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 7962688, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 7744768, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 7964032},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 7963776},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 7963904},
    {RT_GRADIENT, RT_F32, "wte.weight", 2, {96, 48}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "wpe.weight", 2, {16, 48}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "ln.weight", 1, {48}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "ln.bias", 1, {48}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "head.weight", 2, {96, 48}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.weight", 1, {48}, .layers = 3, .gradient = 5},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.bias", 1, {48}, .layers = 3, .gradient = 6},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.weight", 2, {144, 48}, .layers = 3, .gradient = 7},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.bias", 1, {144}, .layers = 3, .gradient = 8},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.weight", 2, {48, 48}, .layers = 3, .gradient = 9},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.bias", 1, {48}, .layers = 3, .gradient = 10},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.weight", 1, {48}, .layers = 3, .gradient = 11},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.bias", 1, {48}, .layers = 3, .gradient = 12},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.weight", 2, {192, 48}, .layers = 3, .gradient = 13},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.bias", 1, {192}, .layers = 3, .gradient = 14},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.weight", 2, {48, 192}, .layers = 3, .gradient = 15},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.bias", 1, {48}, .layers = 3, .gradient = 16},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 1166208},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 1155264, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 7430656, .is_labels = true,
        .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 3, {4, 16, 96}, .at = 1179840},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 1143808},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 1176192},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 1176320},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(INPUT_IDS, 512, 0, 56), LIVE(LABELS, 512, 0, 23), LIVE(WTE_SELECT, 512, 0, 1),
        LIVE(WTE_OUT, 12288, 1, 2), LIVE(LN1_OUT, 12288, 4, 5), LIVE(QKV_DOT, 36864, 5, 6),
        LIVE(LN2_OUT, 12288, 8, 10), LIVE(GELU_OUT, 49152, 11, 12), LIVE(OUT_DOT, 12288, 12, 13),
        LIVE(LN_MEAN, 256, 15, 26), LIVE(LN_RSTD, 256, 15, 26), LIVE(LN_OUT, 12288, 15, 16),
        LIVE(HEAD_OUT, 24576, 16, 29), LIVE(CROSS_ENTROPY_EQ, 64, 17, 23),
        LIVE(COUNT, 64, 17, 111), LIVE(CROSS_ENTROPY_SELECT, 512, 17, 18),
        LIVE(BAD_LABEL, 64, 18, 111), LIVE(CROSS_ENTROPY_MAX, 256, 20, 23),
        LIVE(CROSS_ENTROPY_SUM, 256, 21, 23), LIVE(CROSS_ENTROPY_SELECT_2, 256, 21, 22),
        LIVE(LOSS, 64, 22, 111), LIVE(D_CROSS_ENTROPY_DIV, 64, 17, 23),
        LIVE(D_HEAD_IN, 12288, 24, 28), LIVE(D_LN_BIAS, 192, 25, 95),
        LIVE(RECOMPUTED_LN_SUB, 12288, 26, 28), LIVE(D_LN_MUL_3, 12288, 26, 27),
        LIVE(D_LN_WEIGHT, 192, 27, 94), LIVE(RECOMPUTED_LN_STD, 256, 15, 26),
        LIVE(LN_MUL, 256, 15, 26), LIVE(D_LN_MUL_4, 256, 26, 28),
        LIVE(RECOMPUTED_LN_OUT, 12288, 26, 29), LIVE(D_HEAD_WEIGHT, 18432, 29, 96),
        LIVE(D_LN_MUL_2, 256, 26, 28), LIVE(D_OUT_IN, 49152, 32, 34),
        LIVE(D_BLOCKS_IN, 49152, 33, 41), LIVE(D_FC_IN, 12288, 36, 51),
        LIVE(D_LN2_MUL_2, 12288, 38, 39), LIVE(D_LN2_MUL_3, 12288, 38, 40),
        LIVE(D_LN2_MUL_4, 256, 38, 40), LIVE(RECOMPUTED_LN2_OUT, 12288, 38, 41),
        LIVE(D_LN2_MUL, 256, 38, 40), LIVE(D_PROJ_IN, 12288, 43, 45),
        LIVE(D_QKV_CONCAT, 36864, 45, 52), LIVE(D_QKV_IN, 12288, 47, 51),
        LIVE(D_LN1_MUL_2, 12288, 49, 50), LIVE(D_LN1_MUL_3, 12288, 49, 51),
        LIVE(D_LN1_MUL_4, 256, 49, 51), LIVE(RECOMPUTED_LN1_OUT, 12288, 49, 52),
        LIVE(D_LN1_MUL, 256, 49, 51), STACK(D_LN1_IN, 24576, 28, 56),
        LIVE(D_WPE_WEIGHT, 3072, 54, 93), LIVE(D_WTE_WEIGHT, 18432, 56, 92),
        LIVE(GRAD_NORM_WTE_WEIGHT_SUM, 384, 57, 58), LIVE(GRAD_NORM_WTE_WEIGHT_SUM_2, 64, 58, 60),
        LIVE(GRAD_NORM_ADD_2, 64, 60, 61), LIVE(GRAD_NORM_ADD_3, 64, 61, 62),
        LIVE(GRAD_NORM, 64, 62, 111), LIVE(GRAD_NORM_HEAD_WEIGHT_SUM, 384, 63, 64),
        LIVE(GRAD_NORM_HEAD_WEIGHT_SUM_2, 64, 64, 65), LIVE(GRAD_NORM_LN1_WEIGHT_SUM, 64, 67, 68),
        LIVE(GRAD_NORM_LN1_BIAS_ADD, 64, 68, 72), LIVE(GRAD_NORM_QKV_WEIGHT_SUM, 576, 69, 70),
        LIVE(GRAD_NORM_QKV_WEIGHT_SUM_2, 64, 70, 71), LIVE(GRAD_NORM_QKV_BIAS_ADD, 64, 72, 76),
        LIVE(GRAD_NORM_PROJ_WEIGHT_SUM, 768, 73, 74),
        LIVE(GRAD_NORM_PROJ_WEIGHT_SUM_2, 64, 74, 75), LIVE(GRAD_NORM_PROJ_BIAS_ADD, 64, 76, 77),
        LIVE(GRAD_NORM_LN2_WEIGHT_ADD, 64, 77, 78), LIVE(GRAD_NORM_LN2_BIAS_ADD, 64, 78, 82),
        LIVE(GRAD_NORM_FC_WEIGHT_SUM, 768, 79, 80), LIVE(GRAD_NORM_FC_WEIGHT_SUM_2, 64, 80, 81),
        LIVE(GRAD_NORM_FC_BIAS_ADD, 64, 82, 83), LIVE(GRAD_NORM_OUT_WEIGHT_ADD, 64, 83, 84),
        STACK(GRAD_NORM_OUT_BIAS_ADD, 192, 66, 88), STACK(GRAD_NORM_CONCAT, 64, 86, 89),
        LIVE(GRAD_NORM_SUM, 64, 89, 90), LIVE(ADAMW_NEG, 64, 91, 110),
        LIVE(ADAMW_SUB, 64, 91, 110), LIVE(ADAMW_SUB_2, 64, 91, 110),
        LIVE(ADAMW_CAST, 64, 91, 110), LIVE(ADAMW_SUB_3, 64, 91, 110),
        LIVE(CLIP_NORM_MIN, 64, 91, 110), LIVE(WORK, 61440, 5, 5), LIVE(WORK, 6211584, 7, 7),
        LIVE(WORK, 24576, 8, 8), LIVE(WORK, 73728, 10, 10), LIVE(WORK, 73728, 12, 12),
        LIVE(WORK, 36864, 16, 16), LIVE(WORK, 32768, 20, 20), LIVE(WORK, 512, 22, 22),
        LIVE(WORK, 36864, 24, 24), LIVE(WORK, 24576, 25, 25), LIVE(WORK, 24576, 27, 27),
        LIVE(WORK, 24576, 29, 29), LIVE(WORK_2, 24576, 31, 31), LIVE(WORK_2, 73728, 32, 32),
        LIVE(WORK_2, 73728, 34, 34), LIVE(WORK_2, 98304, 35, 35), LIVE(WORK_2, 73728, 36, 36),
        LIVE(WORK_2, 24576, 37, 37), LIVE(WORK_2, 24576, 39, 39), LIVE(WORK_2, 24576, 41, 41),
        LIVE(WORK_2, 24576, 42, 42), LIVE(WORK_2, 24576, 43, 43), LIVE(WORK_2, 24576, 44, 44),
        LIVE(WORK_2, 6211584, 45, 45), LIVE(WORK_2, 73728, 46, 46), LIVE(WORK_2, 61440, 47, 47),
        LIVE(WORK_2, 24576, 48, 48), LIVE(WORK_2, 24576, 50, 50), LIVE(WORK_2, 24576, 52, 52),
        LIVE(WORK_2, 393216, 54, 54), LIVE(WORK_3, 1280, 56, 56), LIVE(WORK_3, 512, 58, 58),
        LIVE(WORK_3, 512, 64, 64), LIVE(WORK_4, 512, 70, 70), LIVE(WORK_5, 512, 74, 74),
        LIVE(WORK_5, 512, 80, 80), LIVE(WORK_3, 512, 89, 89),
        {"NODE_ADD_OUT", NODE_ADD_OUT, 390144, 2, 53, .slot = 125952, .freed = 53,
            .frees_down = true}, {"D_OUT_BIAS", D_OUT_BIAS.first, 339264, 30, 110, .slot = 113088,
            .taken = 53, .takes_down = true}, {0}}, (RtLoop[]){{3, 14, 3, {0}}, {30, 53, 3, {0}},
            {66, 85, 3, {0}}, {86, 88, 3, {0}}, {97, 110, 3, {0}}, {0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_INPUT_IDS, 512, 0, 1), LIVE(F_LABELS, 512, 0, 21), LIVE(F_WTE_OUT, 12288, 1, 2),
        LIVE(F_LN1_OUT, 12288, 4, 5), LIVE(F_QKV_OUT, 36864, 5, 7),
        LIVE(F_ATTENTION_OUT, 12288, 7, 8), LIVE(F_BLOCKS_ATTENTION_MAX, 1024, 7, 7),
        LIVE(F_BLOCKS_ATTENTION_SUM, 1024, 7, 7), LIVE(F_LN2_OUT, 12288, 8, 10),
        LIVE(F_BLOCKS_ADD, 12288, 9, 13), LIVE(F_GELU_OUT, 49152, 10, 12),
        LIVE(F_OUT_DOT, 12288, 12, 13), STACK(F_BLOCKS_OUT, 24576, 2, 15),
        LIVE(F_LN_OUT, 12288, 15, 16), LIVE(F_LOGITS, 24576, 16, 23),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 17, 21), LIVE(F_COUNT, 64, 17, 23),
        LIVE(F_CROSS_ENTROPY_SELECT, 512, 17, 18), LIVE(F_BAD_LABEL, 64, 18, 23),
        LIVE(F_CROSS_ENTROPY_MAX, 256, 20, 21), LIVE(F_CROSS_ENTROPY_SELECT_2, 256, 21, 22),
        LIVE(F_LOSS, 64, 22, 23), LIVE(F_WORK, 61440, 5, 5), LIVE(F_WORK, 6211584, 7, 7),
        LIVE(F_WORK, 24576, 8, 8), LIVE(F_WORK, 73728, 10, 10), LIVE(F_WORK, 73728, 12, 12),
        LIVE(F_WORK, 36864, 16, 16), LIVE(F_WORK, 32768, 20, 20), LIVE(F_WORK, 512, 22, 22),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {0}});
}

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --clip-norm 1 --march x86-64-v3",
    .plan = "1 rank, arena 7964160 bytes, bound 7964160",
    .arena_bytes = 7964160,
    .n_kernels = 15,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 34504704,
    .vocabulary = 96,
    .ignores = true,
    .ignored_label = -100,
    .blocks = (const char *const[]){"blocks"},
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
    .reduce = reduce,
    .update = update,
    .forward = forward,
    .identity = 0xd8dad5f118aa94cd,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
