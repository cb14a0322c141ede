// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --target cuda
//      --march x86-64-v3
//   plan: 1 rank, arena 2003328 bytes, bound 2003328
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt_cuda.h"

static const int64_t LAYERS = 3, B = 4, T = 16, VOCAB = 96, C = 48, HEADS = 4, HEAD_SIZE = 12,
    FC_SIZE = 192;
// Places in the arena, in bytes from its start `m`; of repeated layers, that of layer 0. OUT is the
// result of a module, D_ a gradient, D_ and IN that of its input. F_ is for forward alone.
static const int64_t WTE_WEIGHT = 0, WPE_WEIGHT = 18496, LN_WEIGHT = 361664,
    LN_BIAS = 361920, HEAD_WEIGHT = 362176, LR = 380672, BETA1 = 380800,
    STEP = 380928, BETA2 = 381056, EPS = 381184, WEIGHT_DECAY = 381312,
    WTE_WEIGHT_EXP_AVG = 381440, WTE_WEIGHT_EXP_AVG_SQ = 399936,
    WPE_WEIGHT_EXP_AVG = 418432, WPE_WEIGHT_EXP_AVG_SQ = 421568,
    LN_WEIGHT_EXP_AVG = 424704, LN_WEIGHT_EXP_AVG_SQ = 424960, LN_BIAS_EXP_AVG = 425216,
    LN_BIAS_EXP_AVG_SQ = 425472, HEAD_WEIGHT_EXP_AVG = 425728,
    HEAD_WEIGHT_EXP_AVG_SQ = 444224;
static const RtStack LN1_WEIGHT = {21632, 192}, LN1_BIAS = {22272, 192},
    QKV_WEIGHT = {22912, 27648}, QKV_BIAS = {105920, 576}, PROJ_WEIGHT = {107712, 9216},
    PROJ_BIAS = {135424, 192}, LN2_WEIGHT = {136064, 192}, LN2_BIAS = {136704, 192},
    FC_WEIGHT = {137344, 36864}, FC_BIAS = {248000, 768}, OUT_WEIGHT = {250368, 36864},
    OUT_BIAS = {361024, 192}, LN1_WEIGHT_EXP_AVG = {462720, 192},
    LN1_WEIGHT_EXP_AVG_SQ = {463360, 192}, LN1_BIAS_EXP_AVG = {464000, 192},
    LN1_BIAS_EXP_AVG_SQ = {464640, 192}, QKV_WEIGHT_EXP_AVG = {465280, 27648},
    QKV_WEIGHT_EXP_AVG_SQ = {548288, 27648}, QKV_BIAS_EXP_AVG = {631296, 576},
    QKV_BIAS_EXP_AVG_SQ = {633088, 576}, PROJ_WEIGHT_EXP_AVG = {634880, 9216},
    PROJ_WEIGHT_EXP_AVG_SQ = {662592, 9216}, PROJ_BIAS_EXP_AVG = {690304, 192},
    PROJ_BIAS_EXP_AVG_SQ = {690944, 192}, LN2_WEIGHT_EXP_AVG = {691584, 192},
    LN2_WEIGHT_EXP_AVG_SQ = {692224, 192}, LN2_BIAS_EXP_AVG = {692864, 192},
    LN2_BIAS_EXP_AVG_SQ = {693504, 192}, FC_WEIGHT_EXP_AVG = {694144, 36864},
    FC_WEIGHT_EXP_AVG_SQ = {804800, 36864}, FC_BIAS_EXP_AVG = {915456, 768},
    FC_BIAS_EXP_AVG_SQ = {917824, 768}, OUT_WEIGHT_EXP_AVG = {920192, 36864},
    OUT_WEIGHT_EXP_AVG_SQ = {1030848, 36864}, OUT_BIAS_EXP_AVG = {1141504, 192},
    OUT_BIAS_EXP_AVG_SQ = {1142144, 192};
static const int64_t INPUT_IDS = 2000960, WTE_SELECT = 1155136, WTE_OUT = 1142784,
    NODE_ADD_OUT = 1794432, LN1_OUT = 1474880, QKV_DOT = 1437952, LN2_OUT = 1843648,
    BLOCKS_OUT_4 = 1241344, OUT_DOT = 1290560, LN_COMPENSATE = 1376640, LN_DIV = 1376960,
    D_LN_SQRT = 1377280, D_LN_MUL = 1377600, LN_OUT = 1364288, HEAD_OUT = 1339648,
    LABELS = 1856000, CROSS_ENTROPY_EQ = 1143744, COUNT = 2001792,
    CROSS_ENTROPY_SELECT = 1142784, D_CROSS_ENTROPY_DIV = 1143872, BAD_LABEL = 2001920,
    CROSS_ENTROPY_MAX = 1142784, CROSS_ENTROPY_SUM = 1143104,
    CROSS_ENTROPY_SELECT_2 = 1143424, LOSS = 2002048, D_HEAD_IN = 1241344,
    D_LN_BIAS = 1168128, GRAD_NORM_LN_BIAS = 2002304, ADAMW_NEG = 2002688,
    ADAMW_SUB = 2002816, ADAMW_SUB_2 = 2002944, ADAMW_CAST = 2003072, ADAMW_SUB_3 = 2003200,
    D_LN_MUL_2 = 1167808, D_LN_SUB = 1142784, D_LN_MUL_3 = 1155136, D_LN_MUL_4 = 1167488,
    D_LN_IN = 1308992, D_LN_WEIGHT = 1168384, GRAD_NORM_LN_WEIGHT = 2002176,
    D_LN_IN_2 = 1979008, D_HEAD_WEIGHT = 1290496, GRAD_NORM_HEAD_WEIGHT = 1142784,
    GRAD_NORM_HEAD_WEIGHT_2 = 2002432, D_OUT_BIAS = 1142784, GRAD_NORM_OUT_BIAS = 2002560,
    D_OUT_IN = 1843648, D_BLOCKS_IN = 1437952, D_OUT_WEIGHT = 1487168,
    GRAD_NORM_OUT_WEIGHT = 1524480, D_FC_BIAS = 1142784, GRAD_NORM_FC_BIAS = 1524352,
    D_FC_IN = 1843648, D_LN2_BIAS = 1168128, GRAD_NORM_LN2_BIAS = 1524224,
    D_LN2_MUL = 1167808, D_LN2_MUL_2 = 1142784, D_LN2_MUL_3 = 1155136,
    D_LN2_MUL_4 = 1167488, D_LN2_IN = 1856000, D_LN2_WEIGHT = 1168384,
    GRAD_NORM_LN2_WEIGHT = 1524096, D_FC_WEIGHT = 1487168, GRAD_NORM_FC_WEIGHT = 1142784,
    GRAD_NORM_FC_WEIGHT_2 = 1441728, D_PROJ_BIAS = 1142784, GRAD_NORM_PROJ_BIAS = 1441600,
    D_PROJ_IN = 1241344, D_PROJ_WEIGHT = 1216768, GRAD_NORM_PROJ_WEIGHT = 1142784,
    GRAD_NORM_PROJ_WEIGHT_2 = 1441472, D_QKV_CONCAT = 1364224, D_QKV_BIAS = 1142784,
    GRAD_NORM_QKV_BIAS = 1441344, D_QKV_IN = 1241344, D_LN1_BIAS = 1168128,
    GRAD_NORM_LN1_BIAS = 1168640, D_LN1_MUL = 1167808, D_LN1_MUL_2 = 1142784,
    D_LN1_MUL_3 = 1155136, D_LN1_MUL_4 = 1167488, D_LN1_IN_2 = 1428864,
    D_LN1_WEIGHT = 1168384, GRAD_NORM_LN1_BIAS_2 = 1441216, D_QKV_WEIGHT = 1401152,
    GRAD_NORM_QKV_WEIGHT = 1142784, GRAD_NORM_QKV_WEIGHT_2 = 1143424, GRAD_NORM_SUM = 1161984,
    D_WPE_WEIGHT = 1142784, GRAD_NORM_WPE_WEIGHT = 1161856, D_WTE_WEIGHT = 1142784,
    GRAD_NORM_WTE_WEIGHT = 1161280, GRAD_NORM = 1161728, WORK = 1142784, WORK_2 = 1142784,
    WORK_3 = 1142784, WORK_4 = 1142784, WORK_5 = 1142784, WORK_6 = 1142784,
    WORK_7 = 1142784, WORK_8 = 1142784, WORK_9 = 1142784, WORK_10 = 1142784,
    WORK_11 = 1142784, WORK_12 = 1142784, WORK_13 = 1142784, WORK_14 = 1142784,
    WORK_15 = 1142784, WORK_16 = 1142784, WORK_17 = 1142784, WORK_18 = 1161280;
static const RtStack BLOCKS_OUT = {1806720, 12288}, LN1_COMPENSATE = {1997632, 256},
    LN1_SUM = {1998464, 256}, QKV_OUT = {1683776, 36864}, BLOCKS_OUT_2 = {1892864, 12288},
    BLOCKS_ATTENTION = {1991360, 1024}, BLOCKS_ATTENTION_2 = {1994496, 1024},
    BLOCKS_OUT_3 = {1929792, 12288}, LN2_COMPENSATE = {1999296, 256},
    LN2_SUM = {2000128, 256}, FC_DOT = {1536256, 49152}, D_LN1_IN = {1966720, 12288},
    GRAD_NORM_OUT_BIAS_2 = {2001536, 64}, GRAD_NORM_CONCAT = {1142784, 4};
static const int64_t F_INPUT_IDS = 1155136, F_WTE_OUT = 1142784, F_NODE_ADD_OUT = 1597760,
    F_LN1_OUT = 1474880, F_QKV_OUT = 1437952, F_BLOCKS_OUT_2 = 1241344,
    F_BLOCKS_ATTENTION = 1147008, F_BLOCKS_ATTENTION_2 = 1148096, F_LN2_OUT = 1610112,
    F_BLOCKS_OUT_3 = 1622464, F_BLOCKS_OUT_4 = 1536256, F_OUT_DOT = 1241344,
    F_LN_OUT = 1364288, F_LOGITS = 1339648, F_LABELS = 1634816,
    F_CROSS_ENTROPY_EQ = 1143424, F_COUNT = 1143552, F_CROSS_ENTROPY_SELECT = 1142784,
    F_BAD_LABEL = 1143680, F_CROSS_ENTROPY_MAX = 1142784, F_CROSS_ENTROPY_SELECT_2 = 1143104,
    F_LOSS = 1142784, F_WORK = 1142784, F_WORK_2 = 1142784, F_WORK_3 = 1142784,
    F_WORK_4 = 1142784, F_WORK_5 = 1142784, F_WORK_6 = 1142784;
static const RtStack F_BLOCKS_OUT = {1585472, 12288};
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(stack, layer) (m + (stack).first + (layer) * (stack).step)

#define ADAMW(param, x2, exp_avg, exp_avg_sq) \
    param, m + ADAMW_SUB_3, x2, exp_avg, m + ADAMW_SUB_2, m + ADAMW_SUB, exp_avg_sq, m + BETA2, \
    m + ADAMW_CAST, m + EPS, m + ADAMW_NEG
#define ADAMW_DIV(param, x2, exp_avg, exp_avg_sq, n0) \
    param, m + ADAMW_SUB_3, x2, exp_avg, m + ADAMW_SUB_2, m + ADAMW_SUB, exp_avg_sq, m + BETA2, \
    m + ADAMW_CAST, m + EPS, m + ADAMW_NEG, n0

// blocks.{}, 3 times
static void blocks_forward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub ... f32[4,16,48]", 2.85e4, 1.27e4, 1.28e4);
    RT_LAUNCH(rt, ln1_forward, RT_BLOCKS(B * T, 8), 256, AT(BLOCKS_OUT, layer - 1),
        AT(LN1_WEIGHT, layer), AT(LN1_BIAS, layer), AT(LN1_COMPENSATE, layer), AT(LN1_SUM, layer),
        m + LN1_OUT);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 3.99e4, 3.69e4);
    rt_dot(WITH(WORK), 0, m + QKV_DOT, m + LN1_OUT, AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 3.74e4, 3.69e4);
    RT_LAUNCH(rt, qkv_forward, RT_BLOCKS(3 * B * T * HEADS * HEAD_SIZE, 1024), 256, m + QKV_DOT,
        AT(QKV_BIAS, layer), AT(QKV_OUT, layer));
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 3.69e4, 1.43e4);
    rt_attention(WITH(WORK_2), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .s = 16, .t = 16,
        .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0}, 144, 1},
        .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0},
        .sum = {{64, 1}, {0}, 4, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, AT(BLOCKS_OUT_2, layer),
        AT(BLOCKS_ATTENTION, layer), AT(BLOCKS_ATTENTION_2, layer), AT(QKV_OUT, layer),
        AT(QKV_OUT, layer) + 4 * HEADS * HEAD_SIZE, AT(QKV_OUT, layer) + 8 * HEADS * HEAD_SIZE,
        NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 2.15e4, 1.23e4);
    rt_dot(WITH(WORK_3), 1, m + LN2_OUT, AT(BLOCKS_OUT_2, layer), AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul ... f32[4,16,48]", 3.46e4, 2.52e4, 2.51e4);
    RT_LAUNCH(rt, ln2_forward, RT_BLOCKS(B * T, 8), 256, m + LN2_OUT, AT(PROJ_BIAS, layer),
        AT(BLOCKS_OUT, layer - 1), AT(LN2_WEIGHT, layer), AT(LN2_BIAS, layer),
        AT(BLOCKS_OUT_3, layer), AT(LN2_COMPENSATE, layer), AT(LN2_SUM, layer), m + LN2_OUT);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 4.92e4, 4.92e4);
    rt_dot(WITH(WORK_4), 2, AT(FC_DOT, layer), m + LN2_OUT, AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4);
    RT_LAUNCH(rt, blocks_erf_forward, RT_BLOCKS(B * T * FC_SIZE, 1024), 256, AT(FC_DOT, layer),
        AT(FC_BIAS, layer), m + BLOCKS_OUT_4);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 8.6e4, 1.23e4);
    rt_dot(WITH(WORK_5), 3, m + OUT_DOT, m + BLOCKS_OUT_4, AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 2.48e4, 1.23e4);
    RT_LAUNCH(rt, blocks_add_forward, RT_BLOCKS(B * T * C, 1024), 256, m + OUT_DOT,
        AT(OUT_BIAS, layer), AT(BLOCKS_OUT_3, layer), AT(BLOCKS_OUT, layer));
}

// blocks.{}, 3 times
static void blocks_backward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_OUT_BIAS, AT(D_LN1_IN, (layer + 1) % 2));
    rt_gradient(rt, 16, layer, m + D_OUT_BIAS);  // blocks.{}.out.bias
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_OUT_BIAS, m + GRAD_NORM_OUT_BIAS);
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(OUT_BIAS, layer), m + D_OUT_BIAS,
        AT(OUT_BIAS_EXP_AVG, layer), AT(OUT_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,192]", 1.18e6, 4.92e4, 4.92e4);
    rt_dot(WITH(WORK_9), 7, m + D_OUT_IN, AT(D_LN1_IN, (layer + 1) % 2), AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul mul ... f32[4,16,192]", 5.53e5, 9.91e4, 9.83e4);
    RT_LAUNCH(rt, blocks_erf_backward, RT_BLOCKS(B * T * FC_SIZE, 1024), 256, AT(FC_DOT, layer),
        AT(FC_BIAS, layer), m + D_OUT_IN, m + D_OUT_IN, m + D_BLOCKS_IN);
    RT_AT(rt, "blocks.{}.out: dot f32[48,192]", 1.18e6, 6.14e4, 3.69e4);
    rt_dot(WITH(WORK_10), 8, m + D_OUT_WEIGHT, m + D_OUT_IN, AT(D_LN1_IN, (layer + 1) % 2));
    rt_gradient(rt, 15, layer, m + D_OUT_WEIGHT);  // blocks.{}.out.weight
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul reduce_sum f32[]", 1.84e4, 3.69e4, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_2, 1, 1024, m + D_OUT_WEIGHT, m + GRAD_NORM_OUT_WEIGHT);
    RT_AT(rt, "adamw blocks.{}.out.weight: mul sub mul ... f32[48,192]", 1.84e5, 1.47e5, 1.11e5);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(C * FC_SIZE, 1024), 256, ADAMW_DIV(AT(OUT_WEIGHT, layer),
        m + D_OUT_WEIGHT, AT(OUT_WEIGHT_EXP_AVG, layer), AT(OUT_WEIGHT_EXP_AVG_SQ, layer),
        RT_NUMBER(9216)));
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[192]", 1.23e4, 4.92e4, 768);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 192}, .stride = {192, 1},
        .reduced = {1, 0}}, m + D_FC_BIAS, m + D_BLOCKS_IN);
    rt_gradient(rt, 14, layer, m + D_FC_BIAS);  // blocks.{}.fc.bias
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum f32[]", 384, 768, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_3, 1, 256, m + D_FC_BIAS, m + GRAD_NORM_FC_BIAS);
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sub mul mul mul ... f32[192]", 3.84e3, 3.1e3, 2.3e3);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(FC_SIZE, 1024), 256, ADAMW_DIV(AT(FC_BIAS, layer),
        m + D_FC_BIAS, AT(FC_BIAS_EXP_AVG, layer), AT(FC_BIAS_EXP_AVG_SQ, layer), RT_NUMBER(192)));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]", 1.18e6, 8.6e4, 1.23e4);
    rt_dot(WITH(WORK_11), 9, m + D_FC_IN, m + D_BLOCKS_IN, AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN2_BIAS, m + D_FC_IN);
    rt_gradient(rt, 12, layer, m + D_LN2_BIAS);  // blocks.{}.ln2.bias
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_LN2_BIAS, m + GRAD_NORM_LN2_BIAS);
    RT_AT(rt, "blocks.{}.ln2: mul reduce_sum mul add ... f32[4,16,48]", 3.23e4, 2.55e4, 4.97e4);
    RT_LAUNCH(rt, ln_div_backward, RT_BLOCKS(B * T, 8), 256, m + D_FC_IN, AT(LN2_WEIGHT, layer),
        AT(LN2_SUM, layer), AT(BLOCKS_OUT_3, layer), AT(LN2_COMPENSATE, layer),
        AT(LN2_BIAS, layer), m + D_LN2_MUL, m + D_FC_IN, m + D_LN2_MUL_2, m + D_LN2_MUL_3,
        m + D_LN2_MUL_4, m + D_LN2_IN);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN2_WEIGHT, m + D_LN2_MUL_2);
    rt_gradient(rt, 11, layer, m + D_LN2_WEIGHT);  // blocks.{}.ln2.weight
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_LN2_WEIGHT, m + GRAD_NORM_LN2_WEIGHT);
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul add ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(LN2_WEIGHT, layer), m + D_LN2_WEIGHT,
        AT(LN2_WEIGHT_EXP_AVG, layer), AT(LN2_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.ln2: mul mul add add add add f32[4,16,48]", 1.84e4, 3.74e4, 1.23e4);
    RT_LAUNCH(rt, ln_add_backward_2, RT_BLOCKS(B * T * C, 1024), 256, m + D_LN2_MUL_4, m + D_FC_IN,
        m + D_LN2_MUL_3, AT(D_LN1_IN, (layer + 1) % 2), m + D_LN2_MUL, m + D_FC_IN);
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(LN2_BIAS, layer), m + D_LN2_BIAS,
        AT(LN2_BIAS_EXP_AVG, layer), AT(LN2_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.fc: dot f32[192,48]", 1.18e6, 6.14e4, 3.69e4);
    rt_dot(WITH(WORK_12), 10, m + D_FC_WEIGHT, m + D_LN2_IN, m + D_BLOCKS_IN);
    rt_gradient(rt, 13, layer, m + D_FC_WEIGHT);  // blocks.{}.fc.weight
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul reduce_sum f32[192]", 1.84e4, 3.69e4, 768);
    RT_LAUNCH(rt, grad_norm_reduce_sum_4, RT_BLOCKS(FC_SIZE, 8), 256, m + D_FC_WEIGHT,
        m + GRAD_NORM_FC_WEIGHT);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]", 192, 768, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {192}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_FC_WEIGHT_2, m + GRAD_NORM_FC_WEIGHT);
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul sub mul ... f32[192,48]", 1.84e5, 1.47e5, 1.11e5);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(FC_SIZE * C, 1024), 256, ADAMW_DIV(AT(FC_WEIGHT, layer),
        m + D_FC_WEIGHT, AT(FC_WEIGHT_EXP_AVG, layer), AT(FC_WEIGHT_EXP_AVG_SQ, layer),
        RT_NUMBER(9216)));
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_PROJ_BIAS, m + D_FC_IN);
    rt_gradient(rt, 10, layer, m + D_PROJ_BIAS);  // blocks.{}.proj.bias
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_PROJ_BIAS, m + GRAD_NORM_PROJ_BIAS);
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(PROJ_BIAS, layer), m + D_PROJ_BIAS,
        AT(PROJ_BIAS_EXP_AVG, layer), AT(PROJ_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,4,12]", 2.95e5, 2.15e4, 1.23e4);
    rt_dot(WITH(WORK_13), 11, m + D_PROJ_IN, m + D_FC_IN, AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.proj: dot f32[48,4,12]", 2.95e5, 2.46e4, 9.22e3);
    rt_dot(WITH(WORK_14), 12, m + D_PROJ_WEIGHT, AT(BLOCKS_OUT_2, layer), m + D_FC_IN);
    rt_gradient(rt, 9, layer, m + D_PROJ_WEIGHT);  // blocks.{}.proj.weight
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul ... f32[48,4]", 4.61e3, 9.22e3, 768);
    RT_LAUNCH(rt, grad_norm_reduce_sum_5, RT_BLOCKS(C * HEADS, 8), 256, m + D_PROJ_WEIGHT,
        m + GRAD_NORM_PROJ_WEIGHT);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]", 192, 768, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {192}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_PROJ_WEIGHT_2, m + GRAD_NORM_PROJ_WEIGHT);
    RT_AT(rt, "adamw blocks.{}.proj.weight: mul sub mul ... f32[48,4,12]", 4.61e4, 3.69e4, 2.76e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(C * HEADS * HEAD_SIZE, 1024), 256,
        ADAMW_DIV(AT(PROJ_WEIGHT, layer), m + D_PROJ_WEIGHT, AT(PROJ_WEIGHT_EXP_AVG, layer),
        AT(PROJ_WEIGHT_EXP_AVG_SQ, layer), RT_NUMBER(2304)));
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,4,12]", 1.97e5, 6.35e4, 3.69e4);
    rt_attention_grad(WITH(WORK_15), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .s = 16,
        .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0}, 144, 1},
        .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0},
        .sum = {{64, 1}, {0}, 4, 0}, .dy = {{768, 12}, {0}, 48, 1},
        .dq = {{2304, 12}, {0}, 144, 1}, .dk = {{2304, 12}, {0}, 144, 1},
        .dv = {{2304, 12}, {0}, 144, 1}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, m + D_QKV_CONCAT,
        m + D_QKV_CONCAT + 4 * HEADS * HEAD_SIZE, m + D_QKV_CONCAT + 8 * HEADS * HEAD_SIZE,
        AT(QKV_OUT, layer), AT(QKV_OUT, layer) + 4 * HEADS * HEAD_SIZE,
        AT(QKV_OUT, layer) + 8 * HEADS * HEAD_SIZE, NULL, NULL, NULL, NULL,
        AT(BLOCKS_OUT_2, layer), AT(BLOCKS_ATTENTION, layer), AT(BLOCKS_ATTENTION_2, layer),
        m + D_PROJ_IN);
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,4,12]", 9.22e3, 3.69e4, 576);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 144}, .stride = {144, 1},
        .reduced = {1, 0}}, m + D_QKV_BIAS, m + D_QKV_CONCAT);
    rt_gradient(rt, 8, layer, m + D_QKV_BIAS);  // blocks.{}.qkv.bias
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum f32[]", 288, 576, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_6, 1, 256, m + D_QKV_BIAS, m + GRAD_NORM_QKV_BIAS);
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul mul ... f32[3,4,12]", 2.88e3, 2.33e3, 1.73e3);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(3 * HEADS * HEAD_SIZE, 1024), 256,
        ADAMW_DIV(AT(QKV_BIAS, layer), m + D_QKV_BIAS, AT(QKV_BIAS_EXP_AVG, layer),
        AT(QKV_BIAS_EXP_AVG_SQ, layer), RT_NUMBER(144)));
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]", 8.85e5, 6.45e4, 1.23e4);
    rt_dot(WITH(WORK_16), 13, m + D_QKV_IN, m + D_QKV_CONCAT, AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN1_BIAS, m + D_QKV_IN);
    rt_gradient(rt, 6, layer, m + D_LN1_BIAS);  // blocks.{}.ln1.bias
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_LN1_BIAS, m + GRAD_NORM_LN1_BIAS);
    RT_AT(rt, "blocks.{}.ln1: mul reduce_sum mul add ... f32[4,16,48]", 3.23e4, 2.55e4, 4.97e4);
    RT_LAUNCH(rt, ln_div_backward, RT_BLOCKS(B * T, 8), 256, m + D_QKV_IN, AT(LN1_WEIGHT, layer),
        AT(LN1_SUM, layer), AT(BLOCKS_OUT, layer - 1), AT(LN1_COMPENSATE, layer),
        AT(LN1_BIAS, layer), m + D_LN1_MUL, m + D_QKV_IN, m + D_LN1_MUL_2, m + D_LN1_MUL_3,
        m + D_LN1_MUL_4, m + D_LN1_IN_2);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN1_WEIGHT, m + D_LN1_MUL_2);
    rt_gradient(rt, 5, layer, m + D_LN1_WEIGHT);  // blocks.{}.ln1.weight
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]", 97, 196, 4);
    RT_LAUNCH(rt, grad_norm_add, 1, 256, m + D_LN1_WEIGHT, m + GRAD_NORM_LN1_BIAS,
        m + GRAD_NORM_LN1_BIAS_2);
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul add ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(LN1_WEIGHT, layer), m + D_LN1_WEIGHT,
        AT(LN1_WEIGHT_EXP_AVG, layer), AT(LN1_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.ln1: mul mul add add add add f32[4,16,48]", 1.84e4, 3.74e4, 1.23e4);
    RT_LAUNCH(rt, ln_add_backward_2, RT_BLOCKS(B * T * C, 1024), 256, m + D_LN1_MUL_4,
        m + D_QKV_IN, m + D_LN1_MUL_3, m + D_FC_IN, m + D_LN1_MUL, AT(D_LN1_IN, layer % 2));
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(AT(LN1_BIAS, layer), m + D_LN1_BIAS,
        AT(LN1_BIAS_EXP_AVG, layer), AT(LN1_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,4,12,48]", 8.85e5, 4.92e4, 2.76e4);
    rt_dot(WITH(WORK_17), 14, m + D_QKV_WEIGHT, m + D_LN1_IN_2, m + D_QKV_CONCAT);
    rt_gradient(rt, 7, layer, m + D_QKV_WEIGHT);  // blocks.{}.qkv.weight
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: mul ... f32[3,4,12]", 1.38e4, 2.76e4, 576);
    RT_LAUNCH(rt, grad_norm_reduce_sum_7, RT_BLOCKS(3 * HEADS * HEAD_SIZE, 8), 256,
        m + D_QKV_WEIGHT, m + GRAD_NORM_QKV_WEIGHT);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]", 144, 576, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {144}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_QKV_WEIGHT_2, m + GRAD_NORM_QKV_WEIGHT);
    RT_AT(rt, "grad_norm blocks.{}.out.bias: add add add add add add add ... f32[]", 10, 44, 4);
    RT_LAUNCH(rt, grad_norm_add_2, RT_BLOCKS(1, 256), 256, m + GRAD_NORM_LN1_BIAS_2,
        m + GRAD_NORM_QKV_WEIGHT_2, m + GRAD_NORM_QKV_BIAS, m + GRAD_NORM_PROJ_WEIGHT_2,
        m + GRAD_NORM_PROJ_BIAS, m + GRAD_NORM_LN2_WEIGHT, m + GRAD_NORM_LN2_BIAS,
        m + GRAD_NORM_FC_WEIGHT_2, m + GRAD_NORM_FC_BIAS, m + GRAD_NORM_OUT_WEIGHT,
        m + GRAD_NORM_OUT_BIAS, AT(GRAD_NORM_OUT_BIAS_2, layer));
    RT_AT(rt, "adamw blocks.{}.qkv.weight: mul sub ... f32[3,4,12,48]", 1.38e5, 1.11e5, 8.29e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(3 * HEADS * HEAD_SIZE * C, 1024), 256,
        ADAMW_DIV(AT(QKV_WEIGHT, layer), m + D_QKV_WEIGHT, AT(QKV_WEIGHT_EXP_AVG, layer),
        AT(QKV_WEIGHT_EXP_AVG_SQ, layer), RT_NUMBER(6912)));
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 512, 512);
    RT_LAUNCH(rt, wte_forward, RT_BLOCKS(B * T, 1024), 256, m + INPUT_IDS, m + WTE_SELECT);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 1.28e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + WTE_OUT, m + WTE_WEIGHT,
        m + WTE_SELECT);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 1.54e4, 1.23e4);
    RT_LAUNCH(rt, add_forward, RT_BLOCKS(B * T * C, 1024), 256, m + WTE_OUT, m + WPE_WEIGHT,
        m + NODE_ADD_OUT);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_forward_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]", 2.89e4, 1.27e4, 1.33e4);
    RT_LAUNCH(rt, ln_forward, RT_BLOCKS(B * T, 8), 256, AT(BLOCKS_OUT, LAYERS - 1), m + LN_WEIGHT,
        m + LN_BIAS, m + LN_COMPENSATE, m + LN_DIV, m + D_LN_SQRT, m + D_LN_MUL, m + LN_OUT);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 3.07e4, 2.46e4);
    rt_dot(WITH(WORK_6), 4, m + HEAD_OUT, m + LN_OUT, m + HEAD_WEIGHT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and iota ... f32[]", 772, 512, 584);
    RT_LAUNCH(rt, cross_entropy_forward, 1, 256, m + LABELS, m + CROSS_ENTROPY_EQ, m + COUNT,
        m + CROSS_ENTROPY_SELECT, m + D_CROSS_ENTROPY_DIV);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 512, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.46e4, 256);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {64, 96},
        .stride = {96, 1}, .reduced = {0, 1}}, m + CROSS_ENTROPY_MAX, m + HEAD_OUT);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]", 9.29e4, 2.54e4, 512);
    RT_LAUNCH(rt, cross_entropy_log_forward, RT_BLOCKS(B * T, 8), 256, m + HEAD_OUT,
        m + CROSS_ENTROPY_MAX, m + LABELS, m + CROSS_ENTROPY_EQ, m + CROSS_ENTROPY_SUM,
        m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 256, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: select neg div iota eq ... f32[4,16,96]", 9.25e4, 2.57e4, 2.46e4);
    RT_LAUNCH(rt, cross_entropy_backward, RT_BLOCKS(64, 8), 256, m + CROSS_ENTROPY_EQ,
        m + D_CROSS_ENTROPY_DIV, m + CROSS_ENTROPY_SUM, m + LABELS, m + HEAD_OUT,
        m + CROSS_ENTROPY_MAX, m + HEAD_OUT);
    RT_AT(rt, "head: dot f32[4,16,48]", 5.9e5, 4.3e4, 1.23e4);
    rt_dot(WITH(WORK_7), 5, m + D_HEAD_IN, m + HEAD_OUT, m + HEAD_WEIGHT);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN_BIAS, m + D_HEAD_IN);
    rt_gradient(rt, 3, 0, m + D_LN_BIAS);  // ln.bias
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_LN_BIAS, m + GRAD_NORM_LN_BIAS);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 20, 20);
    RT_LAUNCH(rt, adamw_scalars, RT_BLOCKS(1, 256), 256, m + BETA1, m + STEP, m + LR, m + BETA2,
        m + WEIGHT_DECAY, m + ADAMW_NEG, m + ADAMW_SUB, m + ADAMW_SUB_2, m + ADAMW_CAST,
        m + ADAMW_SUB_3);
    RT_AT(rt, "ln: mul mul reduce_sum mul neg mul sub ... f32[4,16,48]", 3.16e4, 2.6e4, 4.97e4);
    RT_LAUNCH(rt, ln_backward, RT_BLOCKS(B * T, 8), 256, m + D_HEAD_IN, m + LN_WEIGHT, m + LN_DIV,
        AT(BLOCKS_OUT, LAYERS - 1), m + LN_COMPENSATE, m + D_LN_SQRT, m + D_LN_MUL, m + LN_BIAS,
        m + D_HEAD_IN, m + D_LN_MUL_2, m + D_LN_SUB, m + D_LN_MUL_3, m + D_LN_MUL_4, m + D_LN_IN);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.23e4, 192);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {64, 48}, .stride = {48, 1},
        .reduced = {1, 0}}, m + D_LN_WEIGHT, m + D_LN_MUL_3);
    rt_gradient(rt, 2, 0, m + D_LN_WEIGHT);  // ln.weight
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum f32[]", 96, 192, 4);
    RT_LAUNCH(rt, grad_norm, 1, 256, m + D_LN_WEIGHT, m + GRAD_NORM_LN_WEIGHT);
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul add sqrt ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(m + LN_WEIGHT, m + D_LN_WEIGHT,
        m + LN_WEIGHT_EXP_AVG, m + LN_WEIGHT_EXP_AVG_SQ));
    RT_AT(rt, "ln: mul mul add add add f32[4,16,48]", 1.54e4, 2.51e4, 1.23e4);
    RT_LAUNCH(rt, ln_add_backward, RT_BLOCKS(B * T * C, 1024), 256, m + D_LN_MUL_4, m + D_LN_SUB,
        m + D_HEAD_IN, m + D_LN_MUL_2, m + D_LN_IN_2);
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul add sqrt ... f32[48]", 960, 796, 576);
    RT_LAUNCH(rt, adamw, RT_BLOCKS(C, 1024), 256, ADAMW(m + LN_BIAS, m + D_LN_BIAS,
        m + LN_BIAS_EXP_AVG, m + LN_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "head: dot f32[96,48]", 5.9e5, 3.69e4, 1.84e4);
    rt_dot(WITH(WORK_8), 6, m + D_HEAD_WEIGHT, m + D_LN_IN, m + HEAD_OUT);
    rt_gradient(rt, 4, 0, m + D_HEAD_WEIGHT);  // head.weight
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]", 9.22e3, 1.84e4, 384);
    RT_LAUNCH(rt, grad_norm_reduce_sum, RT_BLOCKS(VOCAB, 8), 256, m + D_HEAD_WEIGHT,
        m + GRAD_NORM_HEAD_WEIGHT);
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]", 96, 384, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {96}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_HEAD_WEIGHT_2, m + GRAD_NORM_HEAD_WEIGHT);
    RT_AT(rt, "adamw head.weight: mul sub mul mul mul add ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(VOCAB * C, 1024), 256, ADAMW_DIV(m + HEAD_WEIGHT,
        m + D_HEAD_WEIGHT, m + HEAD_WEIGHT_EXP_AVG, m + HEAD_WEIGHT_EXP_AVG_SQ, RT_NUMBER(4608)));
    for (int64_t layer = LAYERS - 1; layer >= 0; layer--)
        blocks_backward_layer(rt, m, layer);
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]", 0, 4, 4);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 0}, AT(GRAD_NORM_CONCAT, layer),
            AT(GRAD_NORM_OUT_BIAS_2, layer));
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]", 3, 12, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM_SUM, AT(GRAD_NORM_CONCAT, 0));
    RT_AT(rt, "node_add: reduce_sum f32[16,48]", 3.07e3, 1.23e4, 3.07e3);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 2, .dim = {4, 768}, .stride = {768, 1},
        .reduced = {1, 0}}, m + D_WPE_WEIGHT, AT(D_LN1_IN, 0));
    rt_gradient(rt, 1, 0, m + D_WPE_WEIGHT);  // wpe.weight
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum f32[]", 1.54e3, 3.07e3, 4);
    RT_LAUNCH(rt, grad_norm_reduce_sum_8, 1, 96, m + D_WPE_WEIGHT, m + GRAD_NORM_WPE_WEIGHT);
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul mul add ... f32[16,48]", 1.54e4, 1.23e4, 9.22e3);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(T * C, 1024), 256, ADAMW_DIV(m + WPE_WEIGHT,
        m + D_WPE_WEIGHT, m + WPE_WEIGHT_EXP_AVG, m + WPE_WEIGHT_EXP_AVG_SQ, RT_NUMBER(768)));
    RT_AT(rt, "wte: add lt select i64[4,16]", 192, 512, 512);
    RT_LAUNCH(rt, wte_forward, RT_BLOCKS(B * T, 1024), 256, m + INPUT_IDS, m + INPUT_IDS);
    RT_AT(rt, "wte: scatter f32[96,48]", 0, 1.28e4, 1.84e4);
    rt_scatter(WITH(WORK_18), &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1,
        .outer = 1, .n = 96, .index = 64, .inner = 48, .whole = 96}, m + D_WTE_WEIGHT,
        AT(D_LN1_IN, 0), m + INPUT_IDS, NULL);
    rt_gradient(rt, 0, 0, m + D_WTE_WEIGHT);  // wte.weight
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]", 9.22e3, 1.84e4, 384);
    RT_LAUNCH(rt, grad_norm_reduce_sum, RT_BLOCKS(96, 8), 256, m + D_WTE_WEIGHT,
        m + GRAD_NORM_WTE_WEIGHT);
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]", 96, 384, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {96}, .stride = {1},
        .reduced = {1}}, m + GRAD_NORM, m + GRAD_NORM_WTE_WEIGHT);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4);
    RT_LAUNCH(rt, grad_norm_sqrt, RT_BLOCKS(1, 256), 256, m + GRAD_NORM, m + GRAD_NORM_WPE_WEIGHT,
        m + GRAD_NORM_LN_WEIGHT, m + GRAD_NORM_LN_BIAS, m + GRAD_NORM_HEAD_WEIGHT_2,
        m + GRAD_NORM_SUM, m + GRAD_NORM);
    RT_AT(rt, "adamw wte.weight: mul sub mul mul mul add ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4);
    RT_LAUNCH(rt, adamw_div, RT_BLOCKS(96 * C, 1024), 256, ADAMW_DIV(m + WTE_WEIGHT,
        m + D_WTE_WEIGHT, m + WTE_WEIGHT_EXP_AVG, m + WTE_WEIGHT_EXP_AVG_SQ, RT_NUMBER(4608)));
}

// blocks.{}, 3 times
static void blocks_predict_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub ... f32[4,16,48]", 2.85e4, 1.27e4, 1.23e4);
    RT_LAUNCH(rt, ln_predict, RT_BLOCKS(B * T, 8), 256, AT(F_BLOCKS_OUT, (layer + 1) % 2),
        AT(LN1_WEIGHT, layer), AT(LN1_BIAS, layer), m + F_LN1_OUT);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 3.99e4, 3.69e4);
    rt_dot(WITH(F_WORK), 0, m + F_QKV_OUT, m + F_LN1_OUT, AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 3.74e4, 3.69e4);
    RT_LAUNCH(rt, qkv_forward, RT_BLOCKS(3 * B * T * HEADS * HEAD_SIZE, 1024), 256, m + F_QKV_OUT,
        AT(QKV_BIAS, layer), m + F_QKV_OUT);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 3.69e4, 1.43e4);
    rt_attention(WITH(F_WORK_2), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .s = 16, .t = 16,
        .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0}, 144, 1},
        .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0},
        .sum = {{64, 1}, {0}, 4, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, m + F_BLOCKS_OUT_2,
        m + F_BLOCKS_ATTENTION, m + F_BLOCKS_ATTENTION_2, m + F_QKV_OUT,
        m + F_QKV_OUT + 4 * HEADS * HEAD_SIZE, m + F_QKV_OUT + 8 * HEADS * HEAD_SIZE, NULL, NULL,
        NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 2.15e4, 1.23e4);
    rt_dot(WITH(F_WORK_3), 1, m + F_LN2_OUT, m + F_BLOCKS_OUT_2, AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul ... f32[4,16,48]", 3.46e4, 2.52e4, 2.46e4);
    RT_LAUNCH(rt, ln2_predict, RT_BLOCKS(B * T, 8), 256, m + F_LN2_OUT, AT(PROJ_BIAS, layer),
        AT(F_BLOCKS_OUT, (layer + 1) % 2), AT(LN2_WEIGHT, layer), AT(LN2_BIAS, layer),
        m + F_BLOCKS_OUT_3, m + F_LN2_OUT);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 4.92e4, 4.92e4);
    rt_dot(WITH(F_WORK_4), 2, m + F_BLOCKS_OUT_4, m + F_LN2_OUT, AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4);
    RT_LAUNCH(rt, blocks_erf_forward, RT_BLOCKS(B * T * FC_SIZE, 1024), 256, m + F_BLOCKS_OUT_4,
        AT(FC_BIAS, layer), m + F_BLOCKS_OUT_4);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 8.6e4, 1.23e4);
    rt_dot(WITH(F_WORK_5), 3, m + F_OUT_DOT, m + F_BLOCKS_OUT_4, AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 2.48e4, 1.23e4);
    RT_LAUNCH(rt, blocks_add_forward, RT_BLOCKS(B * T * C, 1024), 256, m + F_OUT_DOT,
        AT(OUT_BIAS, layer), m + F_BLOCKS_OUT_3, AT(F_BLOCKS_OUT, layer % 2));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 512, 512);
    RT_LAUNCH(rt, wte_forward, RT_BLOCKS(B * T, 1024), 256, m + F_INPUT_IDS, m + F_INPUT_IDS);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 1.28e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + F_WTE_OUT, m + WTE_WEIGHT,
        m + F_INPUT_IDS);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 1.54e4, 1.23e4);
    RT_LAUNCH(rt, add_forward, RT_BLOCKS(B * T * C, 1024), 256, m + F_WTE_OUT, m + WPE_WEIGHT,
        m + F_NODE_ADD_OUT);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_predict_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]", 2.85e4, 1.27e4, 1.23e4);
    RT_LAUNCH(rt, ln_predict, RT_BLOCKS(B * T, 8), 256, AT(F_BLOCKS_OUT, 0), m + LN_WEIGHT,
        m + LN_BIAS, m + F_LN_OUT);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 3.07e4, 2.46e4);
    rt_dot(WITH(F_WORK_6), 4, m + F_LOGITS, m + F_LN_OUT, m + HEAD_WEIGHT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... i64[4,16]", 768, 512, 580);
    RT_LAUNCH(rt, cross_entropy_predict, 1, 256, m + F_LABELS, m + F_CROSS_ENTROPY_EQ, m + F_COUNT,
        m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 512, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_LAUNCH(rt, cross_entropy_mod_forward, RT_BLOCKS(1, 256), 256, m + F_BAD_LABEL,
        m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.46e4, 256);
    rt_reduce(rt, &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {64, 96},
        .stride = {96, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]", 9.29e4, 2.54e4, 256);
    RT_LAUNCH(rt, cross_entropy_log_predict, RT_BLOCKS(B * T, 8), 256, m + F_LOGITS,
        m + F_CROSS_ENTROPY_MAX, m + F_LABELS, m + F_CROSS_ENTROPY_EQ,
        m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 256, 4);
    rt_reduce(rt, &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
}

static void init(Rt *rt)
{
    rt_dot_init(rt, 0, &(RtDot){.m = 64, .n = 144, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 144, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 1, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 2, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 3, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 1,
        .b_n = 192, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 4, &(RtDot){.m = 64, .n = 96, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 96, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 5, &(RtDot){.m = 64, .n = 48, .k = 96, .a_m = 96, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 6, &(RtDot){.m = 48, .n = 96, .k = 64, .a_m = 1, .a_k = 48, .b_k = 96,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // head
    rt_dot_init(rt, 7, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 192,
        .b_n = 1, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 8, &(RtDot){.m = 192, .n = 48, .k = 64, .a_m = 1, .a_k = 192, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 192, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 9, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 10, &(RtDot){.m = 48, .n = 192, .k = 64, .a_m = 1, .a_k = 48, .b_k = 192,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 11, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 12, &(RtDot){.m = 48, .n = 48, .k = 64, .a_m = 1, .a_k = 48, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 13, &(RtDot){.m = 64, .n = 48, .k = 144, .a_m = 144, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 14, &(RtDot){.m = 48, .n = 144, .k = 64, .a_m = 1, .a_k = 48, .b_k = 144,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.qkv
}

// Role, type, name, rank, shape and place; of layers also how many, and the bytes between two.
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
    {RT_STATE, RT_F32, "wte.weight.exp_avg", 2, {96, 48}, .at = 381440},
    {RT_STATE, RT_F32, "wte.weight.exp_avg_sq", 2, {96, 48}, .at = 399936},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg", 2, {16, 48}, .at = 418432},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg_sq", 2, {16, 48}, .at = 421568},
    {RT_STATE, RT_F32, "ln.weight.exp_avg", 1, {48}, .at = 424704},
    {RT_STATE, RT_F32, "ln.weight.exp_avg_sq", 1, {48}, .at = 424960},
    {RT_STATE, RT_F32, "ln.bias.exp_avg", 1, {48}, .at = 425216},
    {RT_STATE, RT_F32, "ln.bias.exp_avg_sq", 1, {48}, .at = 425472},
    {RT_STATE, RT_F32, "head.weight.exp_avg", 2, {96, 48}, .at = 425728},
    {RT_STATE, RT_F32, "head.weight.exp_avg_sq", 2, {96, 48}, .at = 444224},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg", 1, {48}, .at = 462720, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg_sq", 1, {48}, .at = 463360, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg", 1, {48}, .at = 464000, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg_sq", 1, {48}, .at = 464640, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg", 2, {144, 48}, .at = 465280, 3, 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg_sq", 2, {144, 48}, .at = 548288, 3, 27648},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg", 1, {144}, .at = 631296, 3, 576},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg_sq", 1, {144}, .at = 633088, 3, 576},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg", 2, {48, 48}, .at = 634880, 3, 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg_sq", 2, {48, 48}, .at = 662592, 3, 9216},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg", 1, {48}, .at = 690304, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg_sq", 1, {48}, .at = 690944, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg", 1, {48}, .at = 691584, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg_sq", 1, {48}, .at = 692224, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg", 1, {48}, .at = 692864, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg_sq", 1, {48}, .at = 693504, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg", 2, {192, 48}, .at = 694144, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg_sq", 2, {192, 48}, .at = 804800, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg", 1, {192}, .at = 915456, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg_sq", 1, {192}, .at = 917824, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg", 2, {48, 192}, .at = 920192, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg_sq", 2, {48, 192}, .at = 1030848, 3, 36864},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg", 1, {48}, .at = 1141504, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg_sq", 1, {48}, .at = 1142144, 3, 192},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 2000960, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 1856000, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 2002048},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 2001792},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 2001920},
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
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 1161728},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 1155136, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 1634816, .is_labels = true,
        .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 3, {4, 16, 96}, .at = 1339648},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 1142784},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 1143552},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 1143680},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(INPUT_IDS, 512, 0, 98), LIVE(LABELS, 512, 0, 23), LIVE(WTE_SELECT, 512, 0, 1),
        LIVE(WTE_OUT, 12288, 1, 2), STACK(LN1_COMPENSATE, 768, 3, 89),
        STACK(LN1_SUM, 768, 3, 89), LIVE(LN1_OUT, 12288, 4, 5), LIVE(QKV_DOT, 36864, 5, 6),
        STACK(QKV_OUT, 110592, 3, 89), STACK(BLOCKS_OUT_2, 36864, 3, 89),
        STACK(BLOCKS_ATTENTION, 3072, 3, 89), STACK(BLOCKS_ATTENTION_2, 3072, 3, 89),
        LIVE(LN2_OUT, 12288, 8, 10), STACK(BLOCKS_OUT_3, 36864, 3, 89),
        STACK(LN2_COMPENSATE, 768, 3, 89), STACK(LN2_SUM, 768, 3, 89),
        STACK(FC_DOT, 147456, 3, 89), LIVE(BLOCKS_OUT_4, 49152, 11, 12),
        LIVE(OUT_DOT, 12288, 12, 13), LIVE(NODE_ADD_OUT, 49152, 2, 89),
        LIVE(LN_COMPENSATE, 256, 15, 28), LIVE(LN_DIV, 256, 15, 28), LIVE(LN_OUT, 12288, 15, 16),
        LIVE(HEAD_OUT, 24576, 16, 34), LIVE(CROSS_ENTROPY_EQ, 64, 17, 23),
        LIVE(COUNT, 64, 17, 103), LIVE(CROSS_ENTROPY_SELECT, 512, 17, 18),
        LIVE(BAD_LABEL, 64, 18, 103), LIVE(CROSS_ENTROPY_MAX, 256, 20, 23),
        LIVE(CROSS_ENTROPY_SUM, 256, 21, 23), LIVE(CROSS_ENTROPY_SELECT_2, 256, 21, 22),
        LIVE(LOSS, 64, 22, 103), LIVE(D_CROSS_ENTROPY_DIV, 64, 17, 23),
        LIVE(D_HEAD_IN, 12288, 24, 32), LIVE(D_LN_BIAS, 192, 25, 33),
        LIVE(D_LN_SUB, 12288, 28, 32), LIVE(D_LN_MUL_3, 12288, 28, 29),
        LIVE(D_LN_WEIGHT, 192, 29, 31), LIVE(D_LN_SQRT, 256, 15, 28),
        LIVE(D_LN_MUL, 256, 15, 28), LIVE(D_LN_MUL_4, 256, 28, 32), LIVE(D_LN_IN, 12288, 28, 34),
        LIVE(D_HEAD_WEIGHT, 18432, 34, 37), LIVE(D_LN_MUL_2, 256, 28, 32),
        LIVE(D_OUT_BIAS, 192, 39, 41), LIVE(D_OUT_IN, 49152, 42, 44),
        LIVE(D_OUT_WEIGHT, 36864, 44, 46), LIVE(D_BLOCKS_IN, 49152, 43, 59),
        LIVE(D_FC_BIAS, 768, 47, 49), LIVE(D_FC_IN, 12288, 50, 82), LIVE(D_LN2_BIAS, 192, 51, 58),
        LIVE(D_LN2_MUL_2, 12288, 53, 54), LIVE(D_LN2_WEIGHT, 192, 54, 56),
        LIVE(D_LN2_MUL_3, 12288, 53, 57), LIVE(D_LN2_MUL_4, 256, 53, 57),
        LIVE(D_LN2_IN, 12288, 53, 59), LIVE(D_FC_WEIGHT, 36864, 59, 62),
        LIVE(D_LN2_MUL, 256, 53, 57), LIVE(D_PROJ_BIAS, 192, 63, 65),
        LIVE(D_PROJ_IN, 12288, 66, 71), LIVE(D_PROJ_WEIGHT, 9216, 67, 70),
        LIVE(D_QKV_CONCAT, 36864, 71, 84), LIVE(D_QKV_BIAS, 576, 72, 74),
        LIVE(D_QKV_IN, 12288, 75, 82), LIVE(D_LN1_BIAS, 192, 76, 83),
        LIVE(D_LN1_MUL_2, 12288, 78, 79), LIVE(D_LN1_WEIGHT, 192, 79, 81),
        LIVE(D_LN1_MUL_3, 12288, 78, 82), LIVE(D_LN1_MUL_4, 256, 78, 82),
        LIVE(D_LN1_IN_2, 12288, 78, 84), LIVE(D_QKV_WEIGHT, 27648, 84, 88),
        LIVE(D_LN1_MUL, 256, 78, 82), STACK(D_LN1_IN, 24576, 32, 98),
        LIVE(D_WPE_WEIGHT, 3072, 94, 96), LIVE(D_WTE_WEIGHT, 18432, 98, 102),
        LIVE(GRAD_NORM_WTE_WEIGHT, 384, 99, 100), LIVE(GRAD_NORM, 64, 100, 103),
        LIVE(GRAD_NORM_WPE_WEIGHT, 64, 95, 101), LIVE(GRAD_NORM_LN_WEIGHT, 64, 30, 101),
        LIVE(GRAD_NORM_LN_BIAS, 64, 26, 101), LIVE(GRAD_NORM_HEAD_WEIGHT, 384, 35, 36),
        LIVE(GRAD_NORM_HEAD_WEIGHT_2, 64, 36, 101), LIVE(GRAD_NORM_LN1_BIAS, 64, 77, 80),
        LIVE(GRAD_NORM_LN1_BIAS_2, 64, 80, 87), LIVE(GRAD_NORM_QKV_WEIGHT, 576, 85, 86),
        LIVE(GRAD_NORM_QKV_WEIGHT_2, 64, 86, 87), LIVE(GRAD_NORM_QKV_BIAS, 64, 73, 87),
        LIVE(GRAD_NORM_PROJ_WEIGHT, 768, 68, 69), LIVE(GRAD_NORM_PROJ_WEIGHT_2, 64, 69, 87),
        LIVE(GRAD_NORM_PROJ_BIAS, 64, 64, 87), LIVE(GRAD_NORM_LN2_WEIGHT, 64, 55, 87),
        LIVE(GRAD_NORM_LN2_BIAS, 64, 52, 87), LIVE(GRAD_NORM_FC_WEIGHT, 768, 60, 61),
        LIVE(GRAD_NORM_FC_WEIGHT_2, 64, 61, 87), LIVE(GRAD_NORM_FC_BIAS, 64, 48, 87),
        LIVE(GRAD_NORM_OUT_WEIGHT, 64, 45, 87), LIVE(GRAD_NORM_OUT_BIAS, 64, 40, 87),
        STACK(GRAD_NORM_OUT_BIAS_2, 192, 38, 92), STACK(GRAD_NORM_CONCAT, 64, 90, 93),
        LIVE(GRAD_NORM_SUM, 64, 93, 101), LIVE(ADAMW_NEG, 64, 27, 102),
        LIVE(ADAMW_SUB, 64, 27, 102), LIVE(ADAMW_SUB_2, 64, 27, 102),
        LIVE(ADAMW_CAST, 64, 27, 102), LIVE(ADAMW_SUB_3, 64, 27, 102), LIVE(WORK, 295104, 5, 5),
        LIVE(WORK_2, 4160, 7, 7), LIVE(WORK_3, 98496, 8, 8), LIVE(WORK_4, 393408, 10, 10),
        LIVE(WORK_5, 98496, 12, 12), LIVE(WORK_6, 196800, 16, 16), LIVE(WORK_7, 98496, 24, 24),
        LIVE(WORK_8, 147648, 34, 34), LIVE(WORK_9, 393408, 42, 42), LIVE(WORK_10, 295104, 44, 44),
        LIVE(WORK_11, 98496, 50, 50), LIVE(WORK_12, 295104, 59, 59), LIVE(WORK_13, 98496, 66, 66),
        LIVE(WORK_14, 73920, 67, 67), LIVE(WORK_15, 4160, 71, 71), LIVE(WORK_16, 98496, 75, 75),
        LIVE(WORK_17, 221376, 84, 84), LIVE(WORK_18, 512, 98, 98),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {38, 89, 3, {0}}, {90, 92, 3, {0}}, {0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_INPUT_IDS, 512, 0, 1), LIVE(F_LABELS, 512, 0, 21), LIVE(F_WTE_OUT, 12288, 1, 2),
        LIVE(F_LN1_OUT, 12288, 4, 5), LIVE(F_QKV_OUT, 36864, 5, 7),
        LIVE(F_BLOCKS_OUT_2, 12288, 7, 8), LIVE(F_BLOCKS_ATTENTION, 1024, 7, 7),
        LIVE(F_BLOCKS_ATTENTION_2, 1024, 7, 7), LIVE(F_LN2_OUT, 12288, 8, 10),
        LIVE(F_BLOCKS_OUT_3, 12288, 9, 13), LIVE(F_BLOCKS_OUT_4, 49152, 10, 12),
        LIVE(F_OUT_DOT, 12288, 12, 13), STACK(F_BLOCKS_OUT, 24576, 2, 15),
        LIVE(F_LN_OUT, 12288, 15, 16), LIVE(F_LOGITS, 24576, 16, 23),
        LIVE(F_CROSS_ENTROPY_EQ, 64, 17, 21), LIVE(F_COUNT, 64, 17, 23),
        LIVE(F_CROSS_ENTROPY_SELECT, 512, 17, 18), LIVE(F_BAD_LABEL, 64, 18, 23),
        LIVE(F_CROSS_ENTROPY_MAX, 256, 20, 21), LIVE(F_CROSS_ENTROPY_SELECT_2, 256, 21, 22),
        LIVE(F_LOSS, 64, 22, 23), LIVE(F_WORK, 295104, 5, 5), LIVE(F_WORK_2, 4160, 7, 7),
        LIVE(F_WORK_3, 98496, 8, 8), LIVE(F_WORK_4, 393408, 10, 10), LIVE(F_WORK_5, 98496, 12, 12),
        LIVE(F_WORK_6, 196800, 16, 16),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {0}});
}

RT_KERNELS("kernels.fatbin");

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --target cuda --march x86-64-v3",
    .plan = "1 rank, arena 2003328 bytes, bound 2003328",
    .arena_bytes = 2003328,
    .n_kernels = 15,
    .threads = 1,
    .accumulate = 1,
    .init_std = 0,
    .flops = 34504704,
    .vocabulary = 96,
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
    .identity = 0x1340ac7f40ef61b4,
};

int main(int argc, char **argv)
{
    return rt_main(&model, argc, argv);
}
