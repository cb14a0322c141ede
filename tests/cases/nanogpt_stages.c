// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --recompute chain
//      --memory 2109440 --threads 2 --march x86-64-v3
//   plan: 1 rank, arena 2099456 bytes, bound 2099456
//
// micro is forward and backward of one micro-batch, reduce completes the gradients, update is the
// optimizer, forward only predicts. They stand first, after the names of their places in memory;
// fused functions, the tables of tensors and the live ranges of buffers follow.
#include <math.h>
#include <stddef.h>

#include "rt.h"

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
static const int64_t INPUT_IDS = 2097792, WTE_SELECT = 12352, WTE_OUT = 0,
    NODE_ADD_OUT = 0, LN1_COMPENSATE = 0, LN1_SUM = 320, LN1_OUT = 98432,
    QKV_DOT = 61504, QKV_OUT = 640, BLOCKS_OUT = 37568, BLOCKS_ATTENTION = 49920,
    BLOCKS_ATTENTION_2 = 51008, LN2_OUT = 123008, BLOCKS_OUT_2 = 52096,
    LN2_COMPENSATE = 64448, LN2_SUM = 64768, BLOCKS_OUT_3 = 73792, OUT_DOT = 123008,
    LN_COMPENSATE = 74048, LN_SUM = 98688, LN_DIV = 99008, LN_OUT = 61568,
    HEAD_OUT = 0, LABELS = 2098368, CROSS_ENTROPY_EQ = 57792, COUNT = 2098944,
    CROSS_ENTROPY_SELECT = 24640, BAD_LABEL = 2099072, CROSS_ENTROPY_MAX = 57472,
    CROSS_ENTROPY_SUM = 24640, CROSS_ENTROPY_SELECT_2 = 24960, LOSS = 2099200,
    D_CROSS_ENTROPY_DIV = 24960, D_HEAD_IN = 24640, D_LN_BIAS = 99328,
    GRAD_NORM_LN_BIAS = 2096704, ADAMW_NEG = 2096832, ADAMW_SUB = 2096960,
    ADAMW_SUB_2 = 2097088, ADAMW_CAST = 2097216, ADAMW_SUB_3 = 2097344, D_LN_MUL = 99904,
    D_LN_SUB = 49344, D_LN_MUL_2 = 61696, D_LN_SUM = 99584, D_LN_IN = 36992,
    D_LN_WEIGHT = 100224, GRAD_NORM_LN_WEIGHT = 2097472, D_LN_IN_2 = 0,
    D_HEAD_WEIGHT = 49344, GRAD_NORM_HEAD_WEIGHT = 0,
    GRAD_NORM_HEAD_WEIGHT_2 = 2097600, D_OUT_BIAS = 24640, GRAD_NORM_OUT_BIAS = 839040,
    D_OUT_IN = 98368, D_LN2_SQRT = 258432, D_LN2_DIV = 258752, D_LN2_MUL = 259072,
    D_LN2_IN = 813440, D_LN2_MUL_2 = 233728, D_LN2_IN_2 = 246080, D_BLOCKS_IN = 147584,
    D_OUT_WEIGHT = 196800, GRAD_NORM_OUT_WEIGHT = 838912, D_FC_BIAS = 147584,
    GRAD_NORM_FC_BIAS = 838784, D_FC_IN = 73792, D_LN2_BIAS = 24640,
    GRAD_NORM_LN2_BIAS = 838528, D_LN2_MUL_3 = 24640, D_LN2_MUL_4 = 24960,
    D_LN2_WEIGHT = 25280, GRAD_NORM_LN2_WEIGHT = 838400, D_FC_WEIGHT = 0,
    GRAD_NORM_FC_WEIGHT = 36928, GRAD_NORM_FC_WEIGHT_2 = 838656, D_PROJ_BIAS = 24640,
    GRAD_NORM_PROJ_BIAS = 838272, D_PROJ_IN = 825792, D_PROJ_WEIGHT = 24640,
    GRAD_NORM_PROJ_WEIGHT = 0, GRAD_NORM_PROJ_WEIGHT_2 = 838144,
    D_QKV_CONCAT = 776512, D_QKV_BIAS = 73792, GRAD_NORM_QKV_BIAS = 86208,
    D_QKV_IN = 61504, D_LN1_BIAS = 49984, GRAD_NORM_LN1_BIAS = 50496,
    D_LN1_MUL = 49664, D_LN1_MUL_2 = 24640, D_LN1_MUL_3 = 36992,
    D_LN1_MUL_4 = 49344, D_LN1_IN = 73856, D_LN1_WEIGHT = 50240,
    GRAD_NORM_LN1_BIAS_2 = 52352, D_QKV_WEIGHT = 0, GRAD_NORM_QKV_WEIGHT = 27712,
    GRAD_NORM_QKV_WEIGHT_2 = 28928, GRAD_NORM_SUM = 396416, D_WPE_WEIGHT = 393280,
    GRAD_NORM_WPE_WEIGHT = 20416, D_WTE_SELECT = 19840, D_WTE_WEIGHT = 0,
    GRAD_NORM_WTE_WEIGHT = 19072, GRAD_NORM = 2099328, WORK = 0, WORK_2 = 0,
    WORK_3 = 0, WORK_4 = 0, WORK_5 = 0, WORK_6 = 24640,
    WORK_7 = 24640, WORK_8 = 25280, WORK_9 = 36992, WORK_10 = 36992,
    WORK_11 = 74048, WORK_12 = 67840, WORK_13 = 448, WORK_14 = 0,
    WORK_15 = 0, WORK_16 = 0, WORK_17 = 0, WORK_18 = 0,
    WORK_19 = 0, WORK_20 = 0, WORK_21 = 0, WORK_22 = 36928,
    WORK_23 = 37760, WORK_24 = 0, WORK_25 = 0, WORK_26 = 0,
    WORK_27 = 832, WORK_28 = 0, WORK_29 = 0, WORK_30 = 0,
    WORK_31 = 0, WORK_32 = 0, WORK_33 = 27712, WORK_34 = 28352,
    WORK_35 = 0, WORK_36 = 0, WORK_37 = 18496, WORK_38 = 18496,
    SLOTS = 1142784;
static const RtStack GRAD_NORM_OUT_BIAS_2 = {2096448, 64}, GRAD_NORM_CONCAT = {576, 4};
static const int64_t F_INPUT_IDS = 1155136, F_WTE_OUT = 1142784, F_NODE_ADD_OUT = 1968512,
    F_LN1_OUT = 1204288, F_QKV_OUT = 1919296, F_BLOCKS_OUT_2 = 1980864,
    F_BLOCKS_ATTENTION = 1993216, F_BLOCKS_ATTENTION_2 = 1994304, F_LN2_OUT = 1265792,
    F_BLOCKS_OUT_3 = 1278144, F_BLOCKS_OUT_4 = 1216576, F_OUT_DOT = 1265792,
    F_LN_OUT = 1204352, F_LOGITS = 1179712, F_LABELS = 1995392,
    F_CROSS_ENTROPY_EQ = 1175936, F_COUNT = 1176064, F_CROSS_ENTROPY_SELECT = 1142784,
    F_BAD_LABEL = 1176192, F_CROSS_ENTROPY_MAX = 1175616, F_CROSS_ENTROPY_SELECT_2 = 1143360,
    F_LOSS = 1143680, F_WORK = 1142784, F_WORK_2 = 1142784, F_WORK_3 = 1142784,
    F_WORK_4 = 1142784, F_WORK_5 = 1142784, F_WORK_6 = 1142784, F_WORK_7 = 1142784,
    F_WORK_8 = 1142784;
static const RtStack F_BLOCKS_OUT = {1956224, 12288};
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(stack, layer) (m + (stack).first + (layer) * (stack).step)

static RtRows wte_forward, add_forward, ln1_forward, qkv_forward, ln2_forward, blocks_erf_forward,
    blocks_add_forward, ln_forward, cross_entropy_forward, cross_entropy_mod_forward,
    cross_entropy_log_forward, cross_entropy_backward, cross_entropy_exp_backward, grad_norm,
    adamw_scalars, ln_backward, adamw, ln_div_backward, grad_norm_reduce_sum, ln2_backward,
    blocks_erf_backward, grad_norm_reduce_sum_2, grad_norm_reduce_sum_3, ln2_div_backward,
    ln_add_backward, grad_norm_reduce_sum_4, ln1_backward, grad_norm_add, grad_norm_add_2,
    grad_norm_sqrt, ln_predict, ln2_predict, cross_entropy_predict;
#define ADAMW(param, x2, exp_avg, exp_avg_sq) \
    param, m + ADAMW_SUB_3, x2, exp_avg, m + ADAMW_SUB_2, m + ADAMW_SUB, exp_avg_sq, m + BETA2, \
    m + ADAMW_CAST, m + EPS, m + ADAMW_NEG

// Where the slots of each stage lie: what its forward part hands to the next one and saves for its
// backward part, the gradient that the backward part hands to the stage before, and scratch.
static int64_t handed[5], saved[5], scratch[5], gradient[5], back_scratch[5];

static void stage0_forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 1.02e3, 512);
    RT_ROWS(rt, wte_forward, B * T, 3, m + INPUT_IDS, m + WTE_SELECT + scratch[0]);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + WTE_OUT + scratch[0], m + WTE_WEIGHT,
        m + WTE_SELECT + scratch[0]);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 1.54e4, 1.23e4);
    RT_ROWS(rt, add_forward, B, T * C, m + WTE_OUT + scratch[0], m + WPE_WEIGHT,
        m + NODE_ADD_OUT + handed[0]);
}

// blocks.{}, 3 times
static void blocks_forward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub ... f32[4,16,48]", 2.85e4, 2.52e4, 1.28e4);
    RT_ROWS(rt, ln1_forward, B * T, 16 * C, m + NODE_ADD_OUT + handed[layer],
        AT(LN1_WEIGHT, layer), AT(LN1_BIAS, layer), m + LN1_COMPENSATE + saved[layer + 1],
        m + LN1_SUM + saved[layer + 1], m + LN1_OUT + scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 7.68e4, 3.69e4);
    rt_dot(WITH(WORK + scratch[layer + 1]), 0, m + QKV_DOT + scratch[layer + 1],
        m + LN1_OUT + scratch[layer + 1], AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 7.43e4, 3.69e4);
    RT_ROWS(rt, qkv_forward, B * T, 3 * HEADS * HEAD_SIZE, m + QKV_DOT + scratch[layer + 1],
        AT(QKV_BIAS, layer), m + QKV_OUT + saved[layer + 1]);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 5.12e4, 1.43e4);
    rt_attention(WITH(WORK_2 + scratch[layer + 1]), &(RtAttention){.n_batch = 2, .batch = {4, 4},
        .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1},
        .k = {{2304, 12}, {0}, 144, 1}, .v = {{2304, 12}, {0}, 144, 1},
        .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0}, .sum = {{64, 1}, {0}, 4, 0},
        .causal = true, .scale = 0.288675129, .outside = -3.40282347e+38, .outside_added = true},
        m + BLOCKS_OUT + saved[layer + 1], m + BLOCKS_ATTENTION + saved[layer + 1],
        m + BLOCKS_ATTENTION_2 + saved[layer + 1], m + QKV_OUT + saved[layer + 1],
        m + QKV_OUT + saved[layer + 1] + 4 * HEADS * HEAD_SIZE,
        m + QKV_OUT + saved[layer + 1] + 8 * HEADS * HEAD_SIZE, NULL, NULL, NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(WITH(WORK_3 + scratch[layer + 1]), 1, m + LN2_OUT + scratch[layer + 1],
        m + BLOCKS_OUT + saved[layer + 1], AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul sub ... f32[4,16,48]", 3.46e4, 3.8e4, 2.51e4);
    RT_ROWS(rt, ln2_forward, B * T, 18 * C, m + LN2_OUT + scratch[layer + 1], AT(PROJ_BIAS, layer),
        m + NODE_ADD_OUT + handed[layer], AT(LN2_WEIGHT, layer), AT(LN2_BIAS, layer),
        m + BLOCKS_OUT_2 + saved[layer + 1], m + LN2_COMPENSATE + saved[layer + 1],
        m + LN2_SUM + saved[layer + 1], m + LN2_OUT + scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(WITH(WORK_4 + scratch[layer + 1]), 2, m + BLOCKS_OUT_3 + scratch[layer + 1],
        m + LN2_OUT + scratch[layer + 1], AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4);
    RT_ROWS(rt, blocks_erf_forward, B * T, 6 * FC_SIZE, m + BLOCKS_OUT_3 + scratch[layer + 1],
        AT(FC_BIAS, layer), m + BLOCKS_OUT_3 + scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(WITH(WORK_5 + scratch[layer + 1]), 3, m + OUT_DOT + scratch[layer + 1],
        m + BLOCKS_OUT_3 + scratch[layer + 1], AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, m + OUT_DOT + scratch[layer + 1],
        AT(OUT_BIAS, layer), m + BLOCKS_OUT_2 + saved[layer + 1],
        m + NODE_ADD_OUT + handed[layer + 1]);
}

static void stage0_backward(Rt *rt, char *m)
{
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]", 0, 8, 4);
        rt_copy(rt, &(RtCopy){.bytes = 4, .rank = 0},
            m + GRAD_NORM_CONCAT.first + back_scratch[0] + layer * 4,
            AT(GRAD_NORM_OUT_BIAS_2, layer));
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]", 3, 16, 4);
    rt_reduce(WITH(WORK_35 + back_scratch[0]), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3},
        .stride = {1}, .reduced = {1}}, m + GRAD_NORM_SUM + back_scratch[0],
        m + GRAD_NORM_CONCAT.first + back_scratch[0]);
    RT_AT(rt, "node_add: reduce_sum f32[16,48]", 3.07e3, 1.54e4, 3.07e3);
    rt_reduce(WITH(WORK_36 + back_scratch[0]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {4, 768}, .stride = {768, 1}, .reduced = {1, 0}},
        m + D_WPE_WEIGHT + back_scratch[0], m + D_LN_IN_2 + gradient[1]);
    rt_gradient(rt, 1, 0, m + D_WPE_WEIGHT + back_scratch[0]);  // wpe.weight
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum f32[]", 1.54e3, 3.08e3, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 2 * T * C, m + D_WPE_WEIGHT + back_scratch[0],
        m + GRAD_NORM_WPE_WEIGHT + back_scratch[0], (char *)(int64_t[]){768});
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul mul add ... f32[16,48]", 1.54e4, 1.23e4, 9.22e3);
    RT_ROWS(rt, adamw, T * C, 14, ADAMW(m + WPE_WEIGHT, m + D_WPE_WEIGHT + back_scratch[0],
        m + WPE_WEIGHT_EXP_AVG, m + WPE_WEIGHT_EXP_AVG_SQ));
    RT_AT(rt, "wte: add lt select i64[4,16]", 192, 1.02e3, 512);
    RT_ROWS(rt, wte_forward, B * T, 3, m + INPUT_IDS, m + D_WTE_SELECT + back_scratch[0]);
    RT_AT(rt, "wte: scatter f32[96,48]", 0, 3.12e4, 1.84e4);
    rt_scatter(WITH(WORK_37 + back_scratch[0]), &(RtGather){.type = RT_F32, .index_type = RT_I64,
        .batch = 1, .outer = 1, .n = 96, .index = 64, .inner = 48, .whole = 96},
        m + D_WTE_WEIGHT + back_scratch[0], m + D_LN_IN_2 + gradient[1],
        m + D_WTE_SELECT + back_scratch[0], NULL);
    rt_gradient(rt, 0, 0, m + D_WTE_WEIGHT + back_scratch[0]);  // wte.weight
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384);
    RT_ROWS(rt, grad_norm_reduce_sum, 96, 2 * C, m + D_WTE_WEIGHT + back_scratch[0],
        m + GRAD_NORM_WTE_WEIGHT + back_scratch[0]);
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]", 96, 388, 4);
    rt_reduce(WITH(WORK_38 + back_scratch[0]), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {96},
        .stride = {1}, .reduced = {1}}, m + GRAD_NORM, m + GRAD_NORM_WTE_WEIGHT + back_scratch[0]);
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]", 10, 24, 4);
    RT_ROWS(rt, grad_norm_sqrt, 1, 7, m + GRAD_NORM, m + GRAD_NORM_WPE_WEIGHT + back_scratch[0],
        m + GRAD_NORM_LN_WEIGHT, m + GRAD_NORM_LN_BIAS, m + GRAD_NORM_HEAD_WEIGHT_2,
        m + GRAD_NORM_SUM + back_scratch[0], m + GRAD_NORM);
    RT_AT(rt, "adamw wte.weight: mul sub mul mul mul add ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4);
    RT_ROWS(rt, adamw, 96 * C, 14, ADAMW(m + WTE_WEIGHT, m + D_WTE_WEIGHT + back_scratch[0],
        m + WTE_WEIGHT_EXP_AVG, m + WTE_WEIGHT_EXP_AVG_SQ));
}

// blocks.{}, 3 times
static void blocks_backward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_14 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_OUT_BIAS + back_scratch[layer + 1], m + D_LN_IN_2 + gradient[layer + 2]);
    rt_gradient(rt, 16, layer, m + D_OUT_BIAS + back_scratch[layer + 1]);  // blocks.{}.out.bias
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_OUT_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_OUT_BIAS + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(OUT_BIAS, layer), m + D_OUT_BIAS + back_scratch[layer + 1],
        AT(OUT_BIAS_EXP_AVG, layer), AT(OUT_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(WITH(WORK_15 + back_scratch[layer + 1]), 4, m + D_OUT_IN + back_scratch[layer + 1],
        m + D_LN_IN_2 + gradient[layer + 2], AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: mul add sqrt div mul sub ... f32[4,16,48]", 1.3e4, 5.08e4, 3.76e4);
    RT_ROWS(rt, ln2_backward, B * T, 9 * C, m + LN2_SUM + saved[layer + 1],
        m + BLOCKS_OUT_2 + saved[layer + 1], m + LN2_COMPENSATE + saved[layer + 1],
        AT(LN2_WEIGHT, layer), AT(LN2_BIAS, layer), m + D_LN2_SQRT + back_scratch[layer + 1],
        m + D_LN2_DIV + back_scratch[layer + 1], m + D_LN2_MUL + back_scratch[layer + 1],
        m + D_LN2_IN + back_scratch[layer + 1], m + D_LN2_MUL_2 + back_scratch[layer + 1],
        m + D_LN2_IN_2 + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(WITH(WORK_16 + back_scratch[layer + 1]), 2, m + D_BLOCKS_IN + back_scratch[layer + 1],
        m + D_LN2_IN_2 + back_scratch[layer + 1], AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul mul ... f32[4,16,192]", 5.53e5, 9.91e4, 9.83e4);
    RT_ROWS(rt, blocks_erf_backward, B * T, 16 * FC_SIZE,
        m + D_BLOCKS_IN + back_scratch[layer + 1], AT(FC_BIAS, layer),
        m + D_OUT_IN + back_scratch[layer + 1], m + D_BLOCKS_IN + back_scratch[layer + 1],
        m + D_OUT_IN + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.out: dot f32[48,192]", 1.18e6, 9.83e4, 3.69e4);
    rt_dot(WITH(WORK_17 + back_scratch[layer + 1]), 5, m + D_OUT_WEIGHT + back_scratch[layer + 1],
        m + D_BLOCKS_IN + back_scratch[layer + 1], m + D_LN_IN_2 + gradient[layer + 2]);
    rt_gradient(rt, 15, layer, m + D_OUT_WEIGHT + back_scratch[layer + 1]);  // blocks.{}.out.weight
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul reduce_sum f32[]", 1.84e4, 3.69e4, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_2, 1, 2 * C * FC_SIZE,
        m + D_OUT_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_OUT_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.out.weight: mul sub mul ... f32[48,192]", 1.84e5, 1.47e5, 1.11e5);
    RT_ROWS(rt, adamw, C * FC_SIZE, 14, ADAMW(AT(OUT_WEIGHT, layer),
        m + D_OUT_WEIGHT + back_scratch[layer + 1], AT(OUT_WEIGHT_EXP_AVG, layer),
        AT(OUT_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[192]", 1.23e4, 4.99e4, 768);
    rt_reduce(WITH(WORK_18 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 192}, .stride = {192, 1}, .reduced = {1, 0}},
        m + D_FC_BIAS + back_scratch[layer + 1], m + D_OUT_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 14, layer, m + D_FC_BIAS + back_scratch[layer + 1]);  // blocks.{}.fc.bias
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum f32[]", 384, 772, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 2 * FC_SIZE, m + D_FC_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_FC_BIAS + back_scratch[layer + 1], (char *)(int64_t[]){192});
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sub mul mul mul ... f32[192]", 3.84e3, 3.1e3, 2.3e3);
    RT_ROWS(rt, adamw, FC_SIZE, 14, ADAMW(AT(FC_BIAS, layer),
        m + D_FC_BIAS + back_scratch[layer + 1], AT(FC_BIAS_EXP_AVG, layer),
        AT(FC_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(WITH(WORK_19 + back_scratch[layer + 1]), 6, m + D_FC_IN + back_scratch[layer + 1],
        m + D_OUT_IN + back_scratch[layer + 1], AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_20 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_LN2_BIAS + back_scratch[layer + 1], m + D_FC_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 12, layer, m + D_LN2_BIAS + back_scratch[layer + 1]);  // blocks.{}.ln2.bias
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_LN2_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_LN2_BIAS + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(LN2_BIAS, layer), m + D_LN2_BIAS + back_scratch[layer + 1],
        AT(LN2_BIAS_EXP_AVG, layer), AT(LN2_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.ln2: mul mul mul mul reduce_sum ... f32[4,16]", 1.93e4, 3.83e4, 2.51e4);
    RT_ROWS(rt, ln2_div_backward, B * T, 14 * C, m + D_FC_IN + back_scratch[layer + 1],
        AT(LN2_WEIGHT, layer), m + D_LN2_MUL_2 + back_scratch[layer + 1],
        m + D_LN2_DIV + back_scratch[layer + 1], m + D_LN2_IN + back_scratch[layer + 1],
        m + D_LN2_SQRT + back_scratch[layer + 1], m + D_LN2_MUL + back_scratch[layer + 1],
        m + D_FC_IN + back_scratch[layer + 1], m + D_LN2_MUL_2 + back_scratch[layer + 1],
        m + D_LN2_MUL_3 + back_scratch[layer + 1], m + D_LN2_MUL_4 + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_21 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_LN2_WEIGHT + back_scratch[layer + 1], m + D_FC_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 11, layer, m + D_LN2_WEIGHT + back_scratch[layer + 1]);  // blocks.{}.ln2.weight
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_LN2_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_LN2_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul add ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(LN2_WEIGHT, layer),
        m + D_LN2_WEIGHT + back_scratch[layer + 1], AT(LN2_WEIGHT_EXP_AVG, layer),
        AT(LN2_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.ln2: mul mul add add add add f32[4,16,48]", 1.84e4, 3.74e4, 1.23e4);
    RT_ROWS(rt, ln_add_backward, B * T, 6 * C, m + D_LN2_MUL_3 + back_scratch[layer + 1],
        m + D_LN2_IN + back_scratch[layer + 1], m + D_LN2_MUL_2 + back_scratch[layer + 1],
        m + D_LN_IN_2 + gradient[layer + 2], m + D_LN2_MUL_4 + back_scratch[layer + 1],
        m + D_LN2_IN + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.fc: dot f32[192,48]", 1.18e6, 9.83e4, 3.69e4);
    rt_dot(WITH(WORK_22 + back_scratch[layer + 1]), 7, m + D_FC_WEIGHT + back_scratch[layer + 1],
        m + D_LN2_IN_2 + back_scratch[layer + 1], m + D_OUT_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 13, layer, m + D_FC_WEIGHT + back_scratch[layer + 1]);  // blocks.{}.fc.weight
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul reduce_sum f32[192]", 1.84e4, 3.76e4, 768);
    RT_ROWS(rt, grad_norm_reduce_sum, FC_SIZE, 2 * C, m + D_FC_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_FC_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]", 192, 772, 4);
    rt_reduce(WITH(WORK_23 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}},
        m + GRAD_NORM_FC_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_FC_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul sub mul ... f32[192,48]", 1.84e5, 1.47e5, 1.11e5);
    RT_ROWS(rt, adamw, FC_SIZE * C, 14, ADAMW(AT(FC_WEIGHT, layer),
        m + D_FC_WEIGHT + back_scratch[layer + 1], AT(FC_WEIGHT_EXP_AVG, layer),
        AT(FC_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_24 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_PROJ_BIAS + back_scratch[layer + 1], m + D_LN2_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 10, layer, m + D_PROJ_BIAS + back_scratch[layer + 1]);  // blocks.{}.proj.bias
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_PROJ_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_PROJ_BIAS + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(PROJ_BIAS, layer),
        m + D_PROJ_BIAS + back_scratch[layer + 1], AT(PROJ_BIAS_EXP_AVG, layer),
        AT(PROJ_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,4,12]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(WITH(WORK_25 + back_scratch[layer + 1]), 8, m + D_PROJ_IN + back_scratch[layer + 1],
        m + D_LN2_IN + back_scratch[layer + 1], AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.proj: dot f32[48,4,12]", 2.95e5, 3.38e4, 9.22e3);
    rt_dot(WITH(WORK_26 + back_scratch[layer + 1]), 9, m + D_PROJ_WEIGHT + back_scratch[layer + 1],
        m + BLOCKS_OUT + saved[layer + 1], m + D_LN2_IN + back_scratch[layer + 1]);
    // blocks.{}.proj.weight
    rt_gradient(rt, 9, layer, m + D_PROJ_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul ... f32[48,4]", 4.61e3, 9.98e3, 768);
    RT_ROWS(rt, grad_norm_reduce_sum_4, C * HEADS, 2 * HEAD_SIZE,
        m + D_PROJ_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_PROJ_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]", 192, 772, 4);
    rt_reduce(WITH(WORK_27 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 1,
        .dim = {192}, .stride = {1}, .reduced = {1}},
        m + GRAD_NORM_PROJ_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_PROJ_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.proj.weight: mul sub mul ... f32[48,4,12]", 4.61e4, 3.69e4, 2.76e4);
    RT_ROWS(rt, adamw, C * HEADS * HEAD_SIZE, 14, ADAMW(AT(PROJ_WEIGHT, layer),
        m + D_PROJ_WEIGHT + back_scratch[layer + 1], AT(PROJ_WEIGHT_EXP_AVG, layer),
        AT(PROJ_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,4,12]", 1.97e5, 1e5, 3.69e4);
    rt_attention_grad(WITH(WORK_28 + back_scratch[layer + 1]), &(RtAttention){.n_batch = 2,
        .batch = {4, 4}, .s = 16, .t = 16, .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1},
        .k = {{2304, 12}, {0}, 144, 1}, .v = {{2304, 12}, {0}, 144, 1},
        .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0}, .sum = {{64, 1}, {0}, 4, 0},
        .dy = {{768, 12}, {0}, 48, 1}, .dq = {{2304, 12}, {0}, 144, 1},
        .dk = {{2304, 12}, {0}, 144, 1}, .dv = {{2304, 12}, {0}, 144, 1}, .causal = true,
        .scale = 0.288675129, .outside = -3.40282347e+38, .outside_added = true},
        m + D_QKV_CONCAT + back_scratch[layer + 1],
        m + D_QKV_CONCAT + back_scratch[layer + 1] + 4 * HEADS * HEAD_SIZE,
        m + D_QKV_CONCAT + back_scratch[layer + 1] + 8 * HEADS * HEAD_SIZE,
        m + QKV_OUT + saved[layer + 1], m + QKV_OUT + saved[layer + 1] + 4 * HEADS * HEAD_SIZE,
        m + QKV_OUT + saved[layer + 1] + 8 * HEADS * HEAD_SIZE, NULL, NULL, NULL, NULL,
        m + BLOCKS_OUT + saved[layer + 1], m + BLOCKS_ATTENTION + saved[layer + 1],
        m + BLOCKS_ATTENTION_2 + saved[layer + 1], m + D_PROJ_IN + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,4,12]", 9.22e3, 3.74e4, 576);
    rt_reduce(WITH(WORK_29 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 144}, .stride = {144, 1}, .reduced = {1, 0}},
        m + D_QKV_BIAS + back_scratch[layer + 1], m + D_QKV_CONCAT + back_scratch[layer + 1]);
    rt_gradient(rt, 8, layer, m + D_QKV_BIAS + back_scratch[layer + 1]);  // blocks.{}.qkv.bias
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum f32[]", 288, 580, 4);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 6 * HEADS * HEAD_SIZE,
        m + D_QKV_BIAS + back_scratch[layer + 1], m + GRAD_NORM_QKV_BIAS + back_scratch[layer + 1],
        (char *)(int64_t[]){144});
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul mul ... f32[3,4,12]", 2.88e3, 2.33e3, 1.73e3);
    RT_ROWS(rt, adamw, 3 * HEADS * HEAD_SIZE, 14, ADAMW(AT(QKV_BIAS, layer),
        m + D_QKV_BIAS + back_scratch[layer + 1], AT(QKV_BIAS_EXP_AVG, layer),
        AT(QKV_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]", 8.85e5, 7.68e4, 1.23e4);
    rt_dot(WITH(WORK_30 + back_scratch[layer + 1]), 10, m + D_QKV_IN + back_scratch[layer + 1],
        m + D_QKV_CONCAT + back_scratch[layer + 1], AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_31 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_LN1_BIAS + back_scratch[layer + 1], m + D_QKV_IN + back_scratch[layer + 1]);
    rt_gradient(rt, 6, layer, m + D_LN1_BIAS + back_scratch[layer + 1]);  // blocks.{}.ln1.bias
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_LN1_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_LN1_BIAS + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.ln1: mul reduce_sum mul add ... f32[4,16,48]", 3.23e4, 6.28e4, 4.97e4);
    RT_ROWS(rt, ln1_backward, B * T, 23 * C, m + D_QKV_IN + back_scratch[layer + 1],
        AT(LN1_WEIGHT, layer), m + LN1_SUM + saved[layer + 1], m + NODE_ADD_OUT + handed[layer],
        m + LN1_COMPENSATE + saved[layer + 1], AT(LN1_BIAS, layer),
        m + D_LN1_MUL + back_scratch[layer + 1], m + D_QKV_IN + back_scratch[layer + 1],
        m + D_LN1_MUL_2 + back_scratch[layer + 1], m + D_LN1_MUL_3 + back_scratch[layer + 1],
        m + D_LN1_MUL_4 + back_scratch[layer + 1], m + D_LN1_IN + back_scratch[layer + 1]);
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_32 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}},
        m + D_LN1_WEIGHT + back_scratch[layer + 1], m + D_LN1_MUL_2 + back_scratch[layer + 1]);
    rt_gradient(rt, 5, layer, m + D_LN1_WEIGHT + back_scratch[layer + 1]);  // blocks.{}.ln1.weight
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]", 97, 200, 4);
    RT_ROWS(rt, grad_norm_add, 1, 3 * C, m + D_LN1_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_LN1_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_LN1_BIAS_2 + back_scratch[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul add ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(LN1_WEIGHT, layer),
        m + D_LN1_WEIGHT + back_scratch[layer + 1], AT(LN1_WEIGHT_EXP_AVG, layer),
        AT(LN1_WEIGHT_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.ln1: mul mul add add add add f32[4,16,48]", 1.84e4, 4.97e4, 1.23e4);
    RT_ROWS(rt, ln_add_backward, B * T, 6 * C, m + D_LN1_MUL_4 + back_scratch[layer + 1],
        m + D_QKV_IN + back_scratch[layer + 1], m + D_LN1_MUL_3 + back_scratch[layer + 1],
        m + D_LN2_IN + back_scratch[layer + 1], m + D_LN1_MUL + back_scratch[layer + 1],
        m + D_LN_IN_2 + gradient[layer + 1]);
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul add mul ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(AT(LN1_BIAS, layer), m + D_LN1_BIAS + back_scratch[layer + 1],
        AT(LN1_BIAS_EXP_AVG, layer), AT(LN1_BIAS_EXP_AVG_SQ, layer)));
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,4,12,48]", 8.85e5, 7.68e4, 2.76e4);
    rt_dot(WITH(WORK_33 + back_scratch[layer + 1]), 11, m + D_QKV_WEIGHT + back_scratch[layer + 1],
        m + D_LN1_IN + back_scratch[layer + 1], m + D_QKV_CONCAT + back_scratch[layer + 1]);
    rt_gradient(rt, 7, layer, m + D_QKV_WEIGHT + back_scratch[layer + 1]);  // blocks.{}.qkv.weight
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: mul ... f32[3,4,12]", 1.38e4, 2.82e4, 576);
    RT_ROWS(rt, grad_norm_reduce_sum, 3 * HEADS * HEAD_SIZE, 2 * C,
        m + D_QKV_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_QKV_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]", 144, 580, 4);
    rt_reduce(WITH(WORK_34 + back_scratch[layer + 1]), &(RtReduce){.type = RT_F32, .rank = 1,
        .dim = {144}, .stride = {1}, .reduced = {1}},
        m + GRAD_NORM_QKV_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_QKV_WEIGHT + back_scratch[layer + 1]);
    RT_AT(rt, "grad_norm blocks.{}.out.bias: add add add add add add add ... f32[]", 10, 48, 4);
    RT_ROWS(rt, grad_norm_add_2, 1, 10, m + GRAD_NORM_LN1_BIAS_2 + back_scratch[layer + 1],
        m + GRAD_NORM_QKV_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_QKV_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_PROJ_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_PROJ_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_LN2_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_LN2_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_FC_WEIGHT_2 + back_scratch[layer + 1],
        m + GRAD_NORM_FC_BIAS + back_scratch[layer + 1],
        m + GRAD_NORM_OUT_WEIGHT + back_scratch[layer + 1],
        m + GRAD_NORM_OUT_BIAS + back_scratch[layer + 1], AT(GRAD_NORM_OUT_BIAS_2, layer));
    RT_AT(rt, "adamw blocks.{}.qkv.weight: mul sub ... f32[3,4,12,48]", 1.38e5, 1.11e5, 8.29e4);
    RT_ROWS(rt, adamw, 3 * HEADS * HEAD_SIZE * C, 14, ADAMW(AT(QKV_WEIGHT, layer),
        m + D_QKV_WEIGHT + back_scratch[layer + 1], AT(QKV_WEIGHT_EXP_AVG, layer),
        AT(QKV_WEIGHT_EXP_AVG_SQ, layer)));
}

static void stage4_backward(Rt *rt, char *m)
{
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]", 2.85e4, 2.57e4, 1.31e4);
    RT_ROWS(rt, ln_forward, B * T, 16 * C, m + NODE_ADD_OUT + handed[3], m + LN_WEIGHT,
        m + LN_BIAS, m + LN_COMPENSATE + back_scratch[4], m + LN_SUM + back_scratch[4],
        m + LN_DIV + back_scratch[4], m + LN_OUT + back_scratch[4]);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4);
    rt_dot(WITH(WORK_6 + back_scratch[4]), 12, m + HEAD_OUT + back_scratch[4],
        m + LN_OUT + back_scratch[4], m + HEAD_WEIGHT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... i64[4,16]", 768, 1.09e3, 580);
    RT_ROWS(rt, cross_entropy_forward, 1, 14 * B * T, m + LABELS,
        m + CROSS_ENTROPY_EQ + back_scratch[4], m + COUNT,
        m + CROSS_ENTROPY_SELECT + back_scratch[4]);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + BAD_LABEL, m + CROSS_ENTROPY_SELECT + back_scratch[4]);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + BAD_LABEL, m + BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256);
    rt_reduce(WITH(WORK_7 + back_scratch[4]), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {64, 96}, .stride = {96, 1}, .reduced = {0, 1}},
        m + CROSS_ENTROPY_MAX + back_scratch[4], m + HEAD_OUT + back_scratch[4]);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]", 9.29e4, 2.59e4, 512);
    RT_ROWS(rt, cross_entropy_log_forward, B * T, 10 * VOCAB, m + HEAD_OUT + back_scratch[4],
        m + CROSS_ENTROPY_MAX + back_scratch[4], m + LABELS,
        m + CROSS_ENTROPY_EQ + back_scratch[4], m + CROSS_ENTROPY_SUM + back_scratch[4],
        m + CROSS_ENTROPY_SELECT_2 + back_scratch[4]);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(WITH(WORK_8 + back_scratch[4]), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64},
        .stride = {1}, .reduced = {1}}, m + LOSS, m + CROSS_ENTROPY_SELECT_2 + back_scratch[4]);
    RT_AT(rt, "cross_entropy: div f32[]", 4, 8, 4);
    RT_ROWS(rt, cross_entropy_backward, 1, 1, m + COUNT,
        m + D_CROSS_ENTROPY_DIV + back_scratch[4]);
    RT_AT(rt, "cross_entropy: select neg div iota eq ... f32[4,16,96]", 9.25e4, 2.57e4, 2.46e4);
    RT_ROWS(rt, cross_entropy_exp_backward, 64, 960, m + CROSS_ENTROPY_EQ + back_scratch[4],
        m + D_CROSS_ENTROPY_DIV + back_scratch[4], m + CROSS_ENTROPY_SUM + back_scratch[4],
        m + LABELS, m + HEAD_OUT + back_scratch[4], m + CROSS_ENTROPY_MAX + back_scratch[4],
        m + HEAD_OUT + back_scratch[4]);
    RT_AT(rt, "head: dot f32[4,16,48]", 5.9e5, 5.53e4, 1.23e4);
    rt_dot(WITH(WORK_9 + back_scratch[4]), 13, m + D_HEAD_IN + back_scratch[4],
        m + HEAD_OUT + back_scratch[4], m + HEAD_WEIGHT);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_10 + back_scratch[4]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + D_LN_BIAS + back_scratch[4],
        m + D_HEAD_IN + back_scratch[4]);
    rt_gradient(rt, 3, 0, m + D_LN_BIAS + back_scratch[4]);  // ln.bias
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_LN_BIAS + back_scratch[4], m + GRAD_NORM_LN_BIAS);
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub sqrt ... f32[]", 66, 40, 20);
    RT_ROWS(rt, adamw_scalars, 1, 19, m + BETA1, m + STEP, m + LR, m + BETA2, m + WEIGHT_DECAY,
        m + ADAMW_NEG, m + ADAMW_SUB, m + ADAMW_SUB_2, m + ADAMW_CAST, m + ADAMW_SUB_3);
    RT_AT(rt, "ln: mul mul reduce_sum mul neg mul sub ... f32[4,16,48]", 3.09e4, 6.28e4, 4.97e4);
    RT_ROWS(rt, ln_backward, B * T, 13 * C, m + D_HEAD_IN + back_scratch[4], m + LN_WEIGHT,
        m + LN_DIV + back_scratch[4], m + NODE_ADD_OUT + handed[3],
        m + LN_COMPENSATE + back_scratch[4], m + LN_BIAS, m + D_HEAD_IN + back_scratch[4],
        m + D_LN_MUL + back_scratch[4], m + D_LN_SUB + back_scratch[4],
        m + D_LN_MUL_2 + back_scratch[4], m + D_LN_SUM + back_scratch[4],
        m + D_LN_IN + back_scratch[4]);
    RT_AT(rt, "ln: reduce_sum f32[48]", 3.07e3, 1.25e4, 192);
    rt_reduce(WITH(WORK_11 + back_scratch[4]), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {64, 48}, .stride = {48, 1}, .reduced = {1, 0}}, m + D_LN_WEIGHT + back_scratch[4],
        m + D_LN_MUL_2 + back_scratch[4]);
    rt_gradient(rt, 2, 0, m + D_LN_WEIGHT + back_scratch[4]);  // ln.weight
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum f32[]", 96, 196, 4);
    RT_ROWS(rt, grad_norm, 1, 2 * C, m + D_LN_WEIGHT + back_scratch[4], m + GRAD_NORM_LN_WEIGHT);
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul add sqrt ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(m + LN_WEIGHT, m + D_LN_WEIGHT + back_scratch[4],
        m + LN_WEIGHT_EXP_AVG, m + LN_WEIGHT_EXP_AVG_SQ));
    RT_AT(rt, "ln: mul add sqrt div mul neg mul div mul ... f32[4,16,48]", 1.65e4, 3.79e4, 1.23e4);
    RT_ROWS(rt, ln_div_backward, B * T, 14 * C, m + LN_SUM + back_scratch[4],
        m + D_LN_SUM + back_scratch[4], m + LN_DIV + back_scratch[4],
        m + D_LN_SUB + back_scratch[4], m + D_HEAD_IN + back_scratch[4],
        m + D_LN_MUL + back_scratch[4], m + D_LN_IN_2 + gradient[4]);
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul add sqrt ... f32[48]", 960, 796, 576);
    RT_ROWS(rt, adamw, C, 14, ADAMW(m + LN_BIAS, m + D_LN_BIAS + back_scratch[4],
        m + LN_BIAS_EXP_AVG, m + LN_BIAS_EXP_AVG_SQ));
    RT_AT(rt, "head: dot f32[96,48]", 5.9e5, 5.53e4, 1.84e4);
    rt_dot(WITH(WORK_12 + back_scratch[4]), 14, m + D_HEAD_WEIGHT + back_scratch[4],
        m + D_LN_IN + back_scratch[4], m + HEAD_OUT + back_scratch[4]);
    rt_gradient(rt, 4, 0, m + D_HEAD_WEIGHT + back_scratch[4]);  // head.weight
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]", 9.22e3, 1.88e4, 384);
    RT_ROWS(rt, grad_norm_reduce_sum, VOCAB, 2 * C, m + D_HEAD_WEIGHT + back_scratch[4],
        m + GRAD_NORM_HEAD_WEIGHT + back_scratch[4]);
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]", 96, 388, 4);
    rt_reduce(WITH(WORK_13 + back_scratch[4]), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {96},
        .stride = {1}, .reduced = {1}}, m + GRAD_NORM_HEAD_WEIGHT_2,
        m + GRAD_NORM_HEAD_WEIGHT + back_scratch[4]);
    RT_AT(rt, "adamw head.weight: mul sub mul mul mul add ... f32[96,48]", 9.22e4, 7.38e4, 5.53e4);
    RT_ROWS(rt, adamw, VOCAB * C, 14, ADAMW(m + HEAD_WEIGHT, m + D_HEAD_WEIGHT + back_scratch[4],
        m + HEAD_WEIGHT_EXP_AVG, m + HEAD_WEIGHT_EXP_AVG_SQ));
}

// What micro runs: part, stage, layer, whether it is the stage's last run forward, and the places of
// its slots: handed, saved and scratch, or gradient and back_scratch.
static const RtStageRun micro_runs[] = {
    {0, 0, 0, 0, {1984384, 1142784, 1142784}}, {1, 1, 0, 0, {1996736, 1919296, 1142784}},
    {1, 2, 1, 0, {2047040, 1919296, 1142784}}, {1, 3, 2, 1, {2059392, 1981952, 1142784}},
    {4, 4, 0, 0, {2071744, 1142784}}, {3, 3, 2, 0, {2084096, 1142784}},
    {0, 0, 0, 0, {1984384, 1142784, 1142784}}, {1, 1, 0, 0, {2047040, 1919296, 1142784}},
    {1, 2, 1, 1, {2059392, 1981952, 1142784}}, {3, 2, 1, 0, {2071744, 1142784}},
    {0, 0, 0, 1, {2047040, 1142784, 1142784}}, {1, 1, 0, 1, {2059392, 1981952, 1142784}},
    {3, 1, 0, 0, {2084096, 1142784}}, {2, 0, 0, 0, {1142784, 1142784}}};

static void micro(Rt *rt, char *m)
{
    rt_runs_begin(rt);
    for (size_t i = 0; i < sizeof micro_runs / sizeof *micro_runs; i++) {
        const RtStageRun *run = &micro_runs[i];
        switch (run->part) {
        case 0:
            handed[run->stage] = run->at[0];
            saved[run->stage] = run->at[1];
            scratch[run->stage] = run->at[2];
            stage0_forward(rt, m);
            break;
        case 1:
            handed[run->stage] = run->at[0];
            saved[run->stage] = run->at[1];
            scratch[run->stage] = run->at[2];
            blocks_forward_layer(rt, m, run->layer);
            break;
        case 2:
            gradient[run->stage] = run->at[0];
            back_scratch[run->stage] = run->at[1];
            stage0_backward(rt, m);
            break;
        case 3:
            gradient[run->stage] = run->at[0];
            back_scratch[run->stage] = run->at[1];
            blocks_backward_layer(rt, m, run->layer);
            break;
        case 4:
            gradient[run->stage] = run->at[0];
            back_scratch[run->stage] = run->at[1];
            stage4_backward(rt, m);
            break;
        }
    }
    rt_runs_end(rt);
}

// blocks.{}, 3 times
static void blocks_predict_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub ... f32[4,16,48]", 2.85e4, 2.5e4, 1.23e4);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, AT(F_BLOCKS_OUT, (layer + 1) % 2),
        AT(LN1_WEIGHT, layer), AT(LN1_BIAS, layer), m + F_LN1_OUT);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]", 8.85e5, 7.68e4, 3.69e4);
    rt_dot(WITH(F_WORK), 0, m + F_QKV_OUT, m + F_LN1_OUT, AT(QKV_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]", 9.22e3, 3.74e4, 3.69e4);
    RT_ROWS(rt, qkv_forward, B * T, 3 * HEADS * HEAD_SIZE, m + F_QKV_OUT, AT(QKV_BIAS, layer),
        m + F_QKV_OUT);
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]", 9.83e4, 5.12e4, 1.43e4);
    rt_attention(WITH(F_WORK_2), &(RtAttention){.n_batch = 2, .batch = {4, 4}, .s = 16, .t = 16,
        .e = 12, .f = 12, .q = {{2304, 12}, {0}, 144, 1}, .k = {{2304, 12}, {0}, 144, 1},
        .v = {{2304, 12}, {0}, 144, 1}, .y = {{768, 12}, {0}, 48, 1}, .max = {{64, 1}, {0}, 4, 0},
        .sum = {{64, 1}, {0}, 4, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, m + F_BLOCKS_OUT_2,
        m + F_BLOCKS_ATTENTION, m + F_BLOCKS_ATTENTION_2, m + F_QKV_OUT,
        m + F_QKV_OUT + 4 * HEADS * HEAD_SIZE, m + F_QKV_OUT + 8 * HEADS * HEAD_SIZE, NULL, NULL,
        NULL, NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]", 2.95e5, 3.38e4, 1.23e4);
    rt_dot(WITH(F_WORK_3), 1, m + F_LN2_OUT, m + F_BLOCKS_OUT_2, AT(PROJ_WEIGHT, layer));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul ... f32[4,16,48]", 3.46e4, 3.74e4, 2.46e4);
    RT_ROWS(rt, ln2_predict, B * T, 18 * C, m + F_LN2_OUT, AT(PROJ_BIAS, layer),
        AT(F_BLOCKS_OUT, (layer + 1) % 2), AT(LN2_WEIGHT, layer), AT(LN2_BIAS, layer),
        m + F_BLOCKS_OUT_3, m + F_LN2_OUT);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]", 1.18e6, 9.83e4, 4.92e4);
    rt_dot(WITH(F_WORK_4), 2, m + F_BLOCKS_OUT_4, m + F_LN2_OUT, AT(FC_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]", 2.83e5, 4.99e4, 4.92e4);
    RT_ROWS(rt, blocks_erf_forward, B * T, 6 * FC_SIZE, m + F_BLOCKS_OUT_4, AT(FC_BIAS, layer),
        m + F_BLOCKS_OUT_4);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]", 1.18e6, 9.83e4, 1.23e4);
    rt_dot(WITH(F_WORK_5), 3, m + F_OUT_DOT, m + F_BLOCKS_OUT_4, AT(OUT_WEIGHT, layer));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]", 6.14e3, 3.71e4, 1.23e4);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, m + F_OUT_DOT, AT(OUT_BIAS, layer),
        m + F_BLOCKS_OUT_3, AT(F_BLOCKS_OUT, layer % 2));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]", 192, 512, 512);
    RT_ROWS(rt, wte_forward, B * T, 3, m + F_INPUT_IDS, m + F_INPUT_IDS);
    RT_AT(rt, "wte: gather f32[4,16,48]", 0, 2.51e4, 1.23e4);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = 96, .index = 64, .inner = 48, .whole = 96}, m + F_WTE_OUT, m + WTE_WEIGHT,
        m + F_INPUT_IDS);
    RT_AT(rt, "node_add: add f32[4,16,48]", 3.07e3, 2.76e4, 1.23e4);
    RT_ROWS(rt, add_forward, B, T * C, m + F_WTE_OUT, m + WPE_WEIGHT, m + F_NODE_ADD_OUT);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_predict_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]", 2.85e4, 2.5e4, 1.23e4);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, AT(F_BLOCKS_OUT, 0), m + LN_WEIGHT, m + LN_BIAS,
        m + F_LN_OUT);
    RT_AT(rt, "head: dot f32[4,16,96]", 5.9e5, 5.53e4, 2.46e4);
    rt_dot(WITH(F_WORK_6), 12, m + F_LOGITS, m + F_LN_OUT, m + HEAD_WEIGHT);
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... i64[4,16]", 768, 1.09e3, 580);
    RT_ROWS(rt, cross_entropy_forward, 1, 14 * B * T, m + F_LABELS, m + F_CROSS_ENTROPY_EQ,
        m + F_COUNT, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: reduce_min i64[]", 64, 520, 8);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + F_BAD_LABEL, m + F_CROSS_ENTROPY_SELECT);
    RT_AT(rt, "cross_entropy: mod i64[]", 10, 8, 8);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, m + F_BAD_LABEL, m + F_BAD_LABEL);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]", 6.14e3, 2.48e4, 256);
    rt_reduce(WITH(F_WORK_7), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2, .dim = {64, 96},
        .stride = {96, 1}, .reduced = {0, 1}}, m + F_CROSS_ENTROPY_MAX, m + F_LOGITS);
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]", 9.29e4, 2.57e4, 256);
    RT_ROWS(rt, cross_entropy_predict, B * T, 10 * VOCAB, m + F_LOGITS, m + F_CROSS_ENTROPY_MAX,
        m + F_LABELS, m + F_CROSS_ENTROPY_EQ, m + F_CROSS_ENTROPY_SELECT_2);
    RT_AT(rt, "cross_entropy: reduce_sum f32[]", 64, 260, 4);
    rt_reduce(WITH(F_WORK_8), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {64}, .stride = {1},
        .reduced = {1}}, m + F_LOSS, m + F_CROSS_ENTROPY_SELECT_2);
}

// wte: lt add select; 64 elements; x0 input_ids
static void wte_forward(char *const *p, int64_t first, int64_t last)
{
    const int64_t *x0 = (int64_t *)p[0];
    int64_t *y0 = (int64_t *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[i] = x0[i] < 0 ? (int64_t)rt_add_int(x0[i], 96) : x0[i];
}

// node_add: add; 4 rows of 768; x0 wte
static void add_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 768, *weight = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 768;
        RT_SIMD for (int64_t i = 0; i < 768; i++)
            y0[i] = x0[i] + weight[i];
    }
}

// blocks.{}.ln1: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln1_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[3], *y1 = (float *)p[4];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = (float *)p[0] + i0 * 48;
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
        const float *weight = (float *)p[1], *bias = (float *)p[2];
        float *y2 = (float *)p[5] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y2[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
        y1[i0] = s2;
    }
}

// blocks.{}.qkv: add; 64 rows of 144
static void qkv_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 144, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 144;
        RT_SIMD for (int64_t i = 0; i < 144; i++)
            y0[i] = x0[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub compensate sqrt div; 64 rows of 48
static void ln2_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[6], *y2 = (float *)p[7];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = (float *)p[0] + i0 * 48, *bias = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 48;
        float *y0 = (float *)p[5] + i0 * 48;
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
        const float *weight = (float *)p[3], *x4 = (float *)p[4];
        float *y3 = (float *)p[8] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y3[i] = (y0[i] - v3) * v5 * weight[i] + x4[i];
        y2[i0] = s2;
    }
}

// blocks.{}: add div erf mul; 64 rows of 192; x0 fc
static void blocks_erf_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 192, *bias = (float *)p[1];
        float *y0 = (float *)p[2] + i0 * 192;
        RT_SIMD for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + bias[i];
            y0[i] = v1 * (0.5f * (rt_erff(v1 / 1.41421354f) + 1.0f));
        }
    }
}

// blocks.{}: add; 64 rows of 48; x0 out
static void blocks_add_forward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 48, *bias = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 48;
        float *y0 = (float *)p[3] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x2[i] + (x0[i] + bias[i]);
    }
}

// ln: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[3], *y1 = (float *)p[4], *y2 = (float *)p[5];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = (float *)p[0] + i0 * 48;
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
        y2[i0] = v4;
        const float *weight = (float *)p[1], *bias = (float *)p[2];
        float *y3 = (float *)p[6] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y3[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
        y1[i0] = s2;
    }
}

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select; 64 elements; x0 labels
static void cross_entropy_forward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        for (int64_t i0 = 0; i0 < 4; i0++) {
            const int64_t *x0 = (int64_t *)p[0] + i0 * 16;
            uint8_t *y0 = (uint8_t *)p[1] + i0 * 16;
            int64_t *y2 = (int64_t *)p[3] + i0 * 16;
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

// cross_entropy: mod; one number
static void cross_entropy_mod_forward(char *const *p, int64_t first, int64_t last)
{
    const int64_t x0 = ((int64_t *)p[0])[0];
    int64_t *y0 = (int64_t *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = (int64_t)rt_mod_int(x0, 65);
}

// cross_entropy: sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
static void cross_entropy_log_forward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4], *y1 = (float *)p[5];
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 1536 + i1 * 96;
        const float x1 = ((float *)p[1])[i0 * 16 + i1];
        const int64_t x2 = ((int64_t *)p[2])[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 96; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = ((uint8_t *)p[3])[i0 * 16 + i1];
        y1[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
        y0[i0 * 16 + i1] = s0;
    }
}

// cross_entropy: div; one number
static void cross_entropy_backward(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((float *)p[0])[0];
    float *y0 = (float *)p[1];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = 1.0f / x0;
}

// cross_entropy: select neg div iota eq sub exp mul add; 64 rows of 96; x3 labels, x4 head
static void cross_entropy_exp_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        const uint8_t x0 = ((uint8_t *)p[0])[i0 * 16 + i1];
        const float x1 = ((float *)p[1])[0], x2 = ((float *)p[2])[i0 * 16 + i1];
        const float v1 = x0 ? 0.0f : x1;
        const float v2 = -v1;
        const float v3 = v1 / x2;
        const int64_t x3 = ((int64_t *)p[3])[i0 * 16 + i1];
        const float *x4 = (float *)p[4] + i0 * 1536 + i1 * 96;
        const float x5 = ((float *)p[5])[i0 * 16 + i1];
        float *y0 = (float *)p[6] + i0 * 1536 + i1 * 96;
        RT_SIMD for (int64_t i = 0; i < 96; i++)
            y0[i] = (i == x3 ? v2 : 0.0f) + v3 * rt_exp_lowf(x4[i] - x5);
    }
}

// grad_norm ln.bias, ln.weight and 5 more: mul reduce_sum; 48 elements
static void grad_norm(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw: cast pow sub div sqrt neg mul; one number
static void adamw_scalars(char *const *p, int64_t first, int64_t last)
{
    const float beta1 = ((float *)p[0])[0], step = ((float *)p[1])[0], lr = ((float *)p[2])[0],
        beta2 = ((float *)p[3])[0], weight_decay = ((float *)p[4])[0];
    float *y0 = (float *)p[5], *y1 = (float *)p[6], *y2 = (float *)p[7], *y3 = (float *)p[8],
        *y4 = (float *)p[9];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        y4[0] = 1.0f - lr * weight_decay;
        y0[0] = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
        y1[0] = 1.0f - beta1;
        y2[0] = 1.0f - beta2;
        y3[0] = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
    }
}

// ln: mul reduce_sum neg sub add; 64 rows of 48; x0 head, x3 blocks.{}
static void ln_backward(char *const *p, int64_t first, int64_t last)
{
    float *y1 = (float *)p[7], *y4 = (float *)p[10];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 48, *weight = (float *)p[1],
            *x3 = (float *)p[3] + i0 * 48, *bias = (float *)p[5];
        const float x2 = ((float *)p[2])[i0], x4 = ((float *)p[4])[i0];
        float *y0 = (float *)p[6] + i0 * 48, *y2 = (float *)p[8] + i0 * 48,
            *y3 = (float *)p[9] + i0 * 48, *y5 = (float *)p[11] + i0 * 48;
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
        y1[i0] = -(s0 * x2) * 0.020833334f;
        y4[i0] = s1;
    }
}

// adamw ln.weight, ln.bias and 15 more: mul sub add sqrt div
static void adamw(char *const *p, int64_t first, int64_t last)
{
    const float *param = (float *)p[0], *x2 = (float *)p[2], *exp_avg = (float *)p[3],
        *exp_avg_sq = (float *)p[6];
    const float x1 = ((float *)p[1])[0], x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0],
        beta2 = ((float *)p[7])[0], x8 = ((float *)p[8])[0], eps = ((float *)p[9])[0],
        x10 = ((float *)p[10])[0];
    float *next_exp_avg = (float *)p[3], *next_exp_avg_sq = (float *)p[6],
        *next_param = (float *)p[0];
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x2[i] - exp_avg[i]) * x5;
        const float v2 = exp_avg_sq[i] * beta2 + x2[i] * x2[i] * x4;
        next_param[i] = param[i] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        next_exp_avg[i] = v1;
        next_exp_avg_sq[i] = v2;
    }
}

// ln: mul add sqrt div neg; 64 rows of 48
static void ln_div_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = ((float *)p[0])[i0], x1 = ((float *)p[1])[i0], x2 = ((float *)p[2])[i0];
        const float v1 = rt_sqrtf(x0 * 0.020833334f + 9.99999975e-06f);
        const float v2 = -(x1 / v1 * x2) / (v1 * 2.0f) * 0.020833334f;
        const float *x3 = (float *)p[3] + i0 * 48, *x4 = (float *)p[4] + i0 * 48;
        const float x5 = ((float *)p[5])[i0];
        float *y0 = (float *)p[6] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x4[i] + v2 * x3[i] + v2 * x3[i] + x5;
    }
}

// grad_norm head.weight, blocks.{}.fc.weight and 2 more: mul reduce_sum
static void grad_norm_reduce_sum(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// blocks.{}.ln2: mul add sqrt div sub; 64 rows of 48; x1 blocks.{}
static void ln2_backward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[5], *y1 = (float *)p[6], *y2 = (float *)p[7];
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = ((float *)p[0])[i0];
        const float v1 = rt_sqrtf(x0 * 0.020833334f + 9.99999975e-06f);
        const float v2 = 1.0f / v1;
        y0[i0] = v1;
        y1[i0] = v2;
        y2[i0] = v1 * 2.0f;
        const float *x1 = (float *)p[1] + i0 * 48, *weight = (float *)p[3], *bias = (float *)p[4];
        const float x2 = ((float *)p[2])[i0];
        float *y3 = (float *)p[8] + i0 * 48, *y4 = (float *)p[9] + i0 * 48,
            *y5 = (float *)p[10] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++) {
            const float v3 = x1[i] - x2;
            const float v4 = v3 * v2;
            y5[i] = v4 * weight[i] + bias[i];
            y3[i] = v3;
            y4[i] = v4;
        }
    }
}

// blocks.{}: add div erf mul neg exp; 64 rows of 192; x0 fc, x2 out
static void blocks_erf_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = (float *)p[0] + i0 * 192, *bias = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 192;
        float *y0 = (float *)p[3] + i0 * 192, *y1 = (float *)p[4] + i0 * 192;
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

// grad_norm blocks.{}.out.weight: mul reduce_sum; 9216 elements; x0 blocks.{}.out
static void grad_norm_reduce_sum_2(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        double w0 = (double)s0;
        RT_RUNS(c, end, 0, 9216) {
            s0 = 0;
            RT_SIMD_SUM(s0) for (int64_t i = c; i < end; i++)
                s0 += x0[i] * x0[i];
            w0 += (double)s0;
        }
        s0 = (float)w0;
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.fc.bias, blocks.{}.qkv.bias and 1 more: mul reduce_sum
static void grad_norm_reduce_sum_3(char *const *p, int64_t first, int64_t last)
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

// blocks.{}.ln2: mul reduce_sum div neg; 64 rows of 48; x0 blocks.{}.fc
static void ln2_div_backward(char *const *p, int64_t first, int64_t last)
{
    float *y2 = (float *)p[9], *y3 = (float *)p[10];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 48, *weight = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 48, *x4 = (float *)p[4] + i0 * 48;
        const float x3 = ((float *)p[3])[i0];
        float *y0 = (float *)p[7] + i0 * 48, *y1 = (float *)p[8] + i0 * 48;
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 48; i++) {
            const float v1 = x0[i] * weight[i];
            const float v2 = x0[i] * x2[i];
            s0 += v1 * x4[i];
            s1 += v1;
            y0[i] = v2;
            y1[i] = v1 * x3;
        }
        const float x5 = ((float *)p[5])[i0], x6 = ((float *)p[6])[i0];
        y2[i0] = -(s0 / x5 * x3) / x6 * 0.020833334f;
        y3[i0] = -(s1 * x3) * 0.020833334f;
    }
}

// blocks.{}.ln2, blocks.{}.ln1: mul add; 64 rows of 48
static void ln_add_backward(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        const float x0 = ((float *)p[0])[i0], x4 = ((float *)p[4])[i0];
        const float *x1 = (float *)p[1] + i0 * 48, *x2 = (float *)p[2] + i0 * 48,
            *x3 = (float *)p[3] + i0 * 48;
        float *y0 = (float *)p[5] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = x3[i] + (x2[i] + x0 * x1[i] + x0 * x1[i]) + x4;
    }
}

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12; x0 blocks.{}.proj
static void grad_norm_reduce_sum_4(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[1];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = (float *)p[0] + i0 * 12;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 12; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// blocks.{}.ln1: mul reduce_sum add sqrt div neg sub; 64 rows of 48; x0 blocks.{}.qkv, x3 blocks.{}
static void ln1_backward(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[6], *y4 = (float *)p[10];
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0;
        const float x2 = ((float *)p[2])[i0];
        const float v1 = rt_sqrtf(x2 * 0.020833334f + 9.99999975e-06f);
        const float v2 = 1.0f / v1;
        const float v3 = v1 * 2.0f;
        const float *x0 = (float *)p[0] + i0 * 48, *weight = (float *)p[1],
            *x3 = (float *)p[3] + i0 * 48, *bias = (float *)p[5];
        const float x4 = ((float *)p[4])[i0];
        float *y1 = (float *)p[7] + i0 * 48, *y2 = (float *)p[8] + i0 * 48,
            *y3 = (float *)p[9] + i0 * 48, *y5 = (float *)p[11] + i0 * 48;
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

// grad_norm blocks.{}.ln1.bias: mul reduce_sum add; 48 elements
static void grad_norm_add(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[2];
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = (float *)p[0];
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        const float x1 = ((float *)p[1])[0];
        y0[0] = s0 + x1;
    }
}

// grad_norm blocks.{}.out.bias: add; one number
static void grad_norm_add_2(char *const *p, int64_t first, int64_t last)
{
    const float x0 = ((float *)p[0])[0], x1 = ((float *)p[1])[0], x2 = ((float *)p[2])[0],
        x3 = ((float *)p[3])[0], x4 = ((float *)p[4])[0], x5 = ((float *)p[5])[0],
        x6 = ((float *)p[6])[0], x7 = ((float *)p[7])[0], x8 = ((float *)p[8])[0],
        x9 = ((float *)p[9])[0], x10 = ((float *)p[10])[0];
    float *y0 = (float *)p[11];
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10;
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

// blocks.{}.ln1, ln: reduce_sum mul sub compensate add sqrt div; 64 rows of 48; x0 blocks.{}
static void ln_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = (float *)p[0] + i0 * 48;
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
        const float *weight = (float *)p[1], *bias = (float *)p[2];
        float *y0 = (float *)p[3] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y0[i] = (x0[i] - v2) * v4 * weight[i] + bias[i];
    }
}

// blocks.{}.ln2: add reduce_sum mul sub compensate sqrt div; 64 rows of 48
static void ln2_predict(char *const *p, int64_t first, int64_t last)
{
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0, s1 = 0, s2 = 0;
        const float *x0 = (float *)p[0] + i0 * 48, *bias = (float *)p[1],
            *x2 = (float *)p[2] + i0 * 48;
        float *y0 = (float *)p[5] + i0 * 48;
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
        const float *weight = (float *)p[3], *x4 = (float *)p[4];
        float *y1 = (float *)p[6] + i0 * 48;
        RT_SIMD for (int64_t i = 0; i < 48; i++)
            y1[i] = (y0[i] - v3) * v5 * weight[i] + x4[i];
    }
}

// cross_entropy: sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
static void cross_entropy_predict(char *const *p, int64_t first, int64_t last)
{
    float *y0 = (float *)p[4];
    for (int64_t r = first; r < last; r++) {
        const int64_t i1 = r % 16, i0 = r / 16;
        float s0 = 0, s1 = 0;
        const float *x0 = (float *)p[0] + i0 * 1536 + i1 * 96;
        const float x1 = ((float *)p[1])[i0 * 16 + i1];
        const int64_t x2 = ((int64_t *)p[2])[i0 * 16 + i1];
        RT_SIMD_SUM(s0, s1) for (int64_t i = 0; i < 96; i++) {
            const float v1 = x0[i] - x1;
            s0 += rt_exp_lowf(v1);
            s1 += i == x2 ? v1 : 0.0f;
        }
        const uint8_t x3 = ((uint8_t *)p[3])[i0 * 16 + i1];
        y0[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
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
    rt_dot_init(rt, 4, &(RtDot){.m = 64, .n = 192, .k = 48, .a_m = 48, .a_k = 1, .b_k = 192,
        .b_n = 1, .y_m = 192, .y_n = 1, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 5, &(RtDot){.m = 192, .n = 48, .k = 64, .a_m = 1, .a_k = 192, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 192, .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, 6, &(RtDot){.m = 64, .n = 48, .k = 192, .a_m = 192, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 7, &(RtDot){.m = 48, .n = 192, .k = 64, .a_m = 1, .a_k = 48, .b_k = 192,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, 8, &(RtDot){.m = 64, .n = 48, .k = 48, .a_m = 48, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 9, &(RtDot){.m = 48, .n = 48, .k = 64, .a_m = 1, .a_k = 48, .b_k = 48,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, 10, &(RtDot){.m = 64, .n = 48, .k = 144, .a_m = 144, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 11, &(RtDot){.m = 48, .n = 144, .k = 64, .a_m = 1, .a_k = 48, .b_k = 144,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, 12, &(RtDot){.m = 64, .n = 96, .k = 48, .a_m = 48, .a_k = 1, .b_k = 1,
        .b_n = 48, .y_m = 96, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 13, &(RtDot){.m = 64, .n = 48, .k = 96, .a_m = 96, .a_k = 1, .b_k = 48,
        .b_n = 1, .y_m = 48, .y_n = 1, .type = RT_F32});  // head
    rt_dot_init(rt, 14, &(RtDot){.m = 48, .n = 96, .k = 64, .a_m = 1, .a_k = 48, .b_k = 96,
        .b_n = 1, .y_m = 1, .y_n = 48, .type = RT_F32});  // head
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
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 2097792, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 2098368, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 2099200},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 2098944},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 2099072},
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
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 2099328},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 1155136, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 1995392, .is_labels = true,
        .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 3, {4, 16, 96}, .at = 1179712},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 1143680},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 1176064},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 1176192},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(INPUT_IDS, 512, 0, 0), LIVE(LABELS, 512, 0, 0), LIVE(COUNT, 64, 0, 1),
        LIVE(BAD_LABEL, 64, 0, 1), LIVE(LOSS, 64, 0, 1), LIVE(GRAD_NORM, 64, 0, 1),
        LIVE(SLOTS, 954944, 0, 0),
        {0}}, (RtLoop[]){{0}});
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
        LIVE(F_LOSS, 64, 22, 23), LIVE(F_WORK, 61440, 5, 5), LIVE(F_WORK_2, 776448, 7, 7),
        LIVE(F_WORK_3, 24576, 8, 8), LIVE(F_WORK_4, 73728, 10, 10), LIVE(F_WORK_5, 73728, 12, 12),
        LIVE(F_WORK_6, 36864, 16, 16), LIVE(F_WORK_7, 32768, 20, 20), LIVE(F_WORK_8, 512, 22, 22),
        {0}}, (RtLoop[]){{3, 14, 3, {0}}, {0}});
}

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --recompute chain --memory 2109440 --threads 2 --ma"
               "rch x86-64-v3",
    .plan = "1 rank, arena 2099456 bytes, bound 2099456",
    .arena_bytes = 2099456,
    .n_kernels = 15,
    .threads = 2,
    .accumulate = 1,
    .init_std = 0,
    .flops = 48955392,
    .vocabulary = 96,
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
    .identity = 0x8be463da0a66e3c6,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
