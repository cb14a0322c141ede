// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --ranks 2
//      --mesh tp=2 --plan-preset megatron --march x86-64-v3 --cluster h100x2
//   plan: 2 ranks as tp=2, arena 7258304 bytes, bound 7258304
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
static const int64_t WTE_WEIGHT = 0, WPE_WEIGHT = 18496, LN_WEIGHT = 193856,
    LN_BIAS = 194112, HEAD_WEIGHT = 194368, LR = 203648, BETA1 = 203776,
    STEP = 203904, BETA2 = 204032, EPS = 204160, WEIGHT_DECAY = 204288,
    WTE_WEIGHT_EXP_AVG = 204416, WTE_WEIGHT_EXP_AVG_SQ = 222912,
    WPE_WEIGHT_EXP_AVG = 241408, WPE_WEIGHT_EXP_AVG_SQ = 244544,
    LN_WEIGHT_EXP_AVG = 247680, LN_WEIGHT_EXP_AVG_SQ = 247936, LN_BIAS_EXP_AVG = 248192,
    LN_BIAS_EXP_AVG_SQ = 248448, HEAD_WEIGHT_EXP_AVG = 248704,
    HEAD_WEIGHT_EXP_AVG_SQ = 257984;
static const RtStack LN1_WEIGHT = {21632, 192}, LN1_BIAS = {22272, 192},
    QKV_WEIGHT = {22912, 13824}, QKV_BIAS = {64448, 320}, PROJ_WEIGHT = {65472, 4608},
    PROJ_BIAS = {79360, 192}, LN2_WEIGHT = {80000, 192}, LN2_BIAS = {80640, 192},
    FC_WEIGHT = {81280, 18432}, FC_BIAS = {136640, 384}, OUT_WEIGHT = {137856, 18432},
    OUT_BIAS = {193216, 192}, LN1_WEIGHT_EXP_AVG = {267264, 192},
    LN1_WEIGHT_EXP_AVG_SQ = {267904, 192}, LN1_BIAS_EXP_AVG = {268544, 192},
    LN1_BIAS_EXP_AVG_SQ = {269184, 192}, QKV_WEIGHT_EXP_AVG = {269824, 13824},
    QKV_WEIGHT_EXP_AVG_SQ = {311360, 13824}, QKV_BIAS_EXP_AVG = {352896, 320},
    QKV_BIAS_EXP_AVG_SQ = {353920, 320}, PROJ_WEIGHT_EXP_AVG = {354944, 4608},
    PROJ_WEIGHT_EXP_AVG_SQ = {368832, 4608}, PROJ_BIAS_EXP_AVG = {382720, 192},
    PROJ_BIAS_EXP_AVG_SQ = {383360, 192}, LN2_WEIGHT_EXP_AVG = {384000, 192},
    LN2_WEIGHT_EXP_AVG_SQ = {384640, 192}, LN2_BIAS_EXP_AVG = {385280, 192},
    LN2_BIAS_EXP_AVG_SQ = {385920, 192}, FC_WEIGHT_EXP_AVG = {386560, 18432},
    FC_WEIGHT_EXP_AVG_SQ = {441920, 18432}, FC_BIAS_EXP_AVG = {497280, 768},
    FC_BIAS_EXP_AVG_SQ = {499648, 768}, OUT_WEIGHT_EXP_AVG = {502016, 18432},
    OUT_WEIGHT_EXP_AVG_SQ = {557376, 18432}, OUT_BIAS_EXP_AVG = {612736, 192},
    OUT_BIAS_EXP_AVG_SQ = {613376, 192};
static const int64_t INPUT_IDS = 4109888, WTE_SELECT = 626368, WTE_OUT = 614016,
    NODE_ADD_OUT = 3923072, LN1_OUT = 669440, QKV_DOT = 650944, PROJ_DOT = 650944,
    PROJ_ALL_REDUCE = 650944, LN2_OUT = 650944, GELU_OUT = 650944, OUT_DOT = 675584,
    OUT_ALL_REDUCE = 675584, LN_MEAN = 712832, LN_RSTD = 713152,
    RECOMPUTED_LN_STD = 713472, LN_MUL = 713792, LN_OUT = 638656, HEAD_DOT = 651008,
    HEAD_OUT = 663488, LABELS = 4009216, CROSS_ENTROPY_EQ = 647168, COUNT = 4110720,
    CROSS_ENTROPY_SELECT = 614016, D_CROSS_ENTROPY_DIV = 647296,
    CROSS_ENTROPY_MIN = 4110848, BAD_LABEL = 4110848, CROSS_ENTROPY_MAX = 646848,
    CROSS_ENTROPY_SUM = 614592, CROSS_ENTROPY_SELECT_2 = 614912, LOSS = 4110976,
    D_CROSS_ENTROPY_IN = 663488, D_HEAD_SHARD = 688128, D_HEAD_DOT = 638656,
    D_HEAD_IN = 638656, ADAMW_NEG = 4112384, ADAMW_SUB = 4112512, ADAMW_SUB_2 = 4112640,
    ADAMW_CAST = 4112768, ADAMW_SUB_3 = 4112896, D_LN_MUL = 675712, D_LN_MUL_2 = 714432,
    RECOMPUTED_LN_SUB = 651008, D_LN_MUL_3 = 663360, D_LN_MUL_4 = 714112,
    RECOMPUTED_LN_OUT = 700480, D_LN_BIAS = 712832, GRAD_NORM_LN_BIAS_SUM = 4111232,
    D_LN_WEIGHT = 647936, GRAD_NORM_LN_WEIGHT_SUM = 4111104, D_HEAD_WEIGHT = 638656,
    GRAD_NORM_HEAD_WEIGHT_ALL_GATHER = 614016, D_LN_IN = 4021504,
    GRAD_NORM_HEAD_WEIGHT_SUM = 632512, GRAD_NORM_HEAD_WEIGHT_SUM_2 = 4111360,
    D_OUT_BIAS = 638656, GRAD_NORM_OUT_BIAS_SUM = 4112256, D_OUT_IN = 650944,
    RECOMPUTED_GELU_OUT = 650944, D_BLOCKS_IN = 700160, D_OUT_WEIGHT = 724800,
    GRAD_NORM_OUT_WEIGHT_ALL_GATHER = 663232, D_FC_SUM = 755648, D_FC_BIAS = 650944,
    D_FC_DOT = 743296, GRAD_NORM_OUT_WEIGHT_SUM = 4112128, D_FC_IN = 743296,
    GRAD_NORM_FC_BIAS_SUM = 4112000, ADAMW_FC_BIAS_SHARD = 615872,
    ADAMW_FC_BIAS_SHARD_2 = 616320, D_LN2_MUL = 663680, RECOMPUTED_LN2_SUB = 4070848,
    D_LN2_MUL_2 = 638656, D_LN2_MUL_3 = 651008, D_LN2_MUL_4 = 663360,
    RECOMPUTED_LN2_OUT = 724800, D_LN2_BIAS = 664000, GRAD_NORM_LN2_BIAS_SUM = 4111744,
    D_LN2_WEIGHT = 664256, GRAD_NORM_LN2_WEIGHT_SUM = 4111616, D_FC_WEIGHT = 675584,
    GRAD_NORM_FC_WEIGHT_ALL_GATHER = 614016, D_LN2_IN = 4070848, D_PROJ_BIAS = 694080,
    GRAD_NORM_PROJ_BIAS_SUM = 4111488, GRAD_NORM_FC_WEIGHT_SUM = 650944,
    D_PROJ_WEIGHT = 4098688, GRAD_NORM_PROJ_WEIGHT_ALL_GATHER = 4083200,
    GRAD_NORM_FC_WEIGHT_SUM_2 = 4111872, D_PROJ_IN = 4092480, D_QKV_CONCAT = 4052352,
    D_QKV_BIAS = 663936, GRAD_NORM_QKV_BIAS_ALL_GATHER = 663296,
    GRAD_NORM_PROJ_WEIGHT_SUM = 614016, GRAD_NORM_PROJ_WEIGHT_SUM_2 = 713728,
    D_QKV_DOT = 650944, D_QKV_IN = 650944, GRAD_NORM_QKV_BIAS_SUM = 713600,
    D_LN1_MUL = 713024, RECOMPUTED_LN1_SUB = 663296, D_LN1_MUL_2 = 675648,
    D_LN1_MUL_3 = 688000, D_LN1_MUL_4 = 712704, RECOMPUTED_LN1_OUT = 700352,
    D_LN1_BIAS = 713344, GRAD_NORM_LN1_BIAS_SUM = 638656, D_LN1_WEIGHT = 655616,
    GRAD_NORM_LN1_BIAS_ADD = 655872, D_QKV_WEIGHT = 641728,
    GRAD_NORM_QKV_WEIGHT_ALL_GATHER = 614016, GRAD_NORM_QKV_WEIGHT_SUM = 641728,
    GRAD_NORM_QKV_WEIGHT_SUM_2 = 614592, GRAD_NORM_SUM = 1010432, D_WPE_WEIGHT = 1007296,
    GRAD_NORM_WPE_WEIGHT_SUM = 633856, RECOMPUTED_WTE_SELECT = 4109888,
    D_WTE_WEIGHT = 614016, GRAD_NORM_WTE_WEIGHT_SUM = 633088,
    GRAD_NORM_WTE_WEIGHT_SUM_2 = 633536, GRAD_NORM = 633536, WORK = 3719872,
    WORK_2 = 614016, WORK_3 = 650944, WORK_4 = 614848, WORK_5 = 632512;
static const RtStack BLOCKS_OUT = {3935360, 12288}, LN1_MEAN = {4106560, 256},
    LN1_SQUARES = {4107392, 256}, QKV_OUT = {3867712, 18432}, ATTENTION_OUT = {4033856, 6144},
    BLOCKS_ATTENTION_MAX = {4103360, 512}, BLOCKS_ATTENTION_SUM = {4104960, 512},
    BLOCKS_ADD = {3972288, 12288}, LN2_MEAN = {4108224, 256}, LN2_SQUARES = {4109056, 256},
    FC_DOT = {3793920, 24576}, D_LN1_IN = {4009216, 12288},
    GRAD_NORM_OUT_BIAS_ADD = {4110464, 64}, GRAD_NORM_CONCAT = {614592, 4};
static const int64_t F_INPUT_IDS = 626368, F_WTE_SELECT = 626368, F_WTE_OUT = 614016,
    F_NODE_ADD_OUT = 7192640, F_HEAD_ALL_GATHER = 7223488, F_LN1_OUT = 675520,
    F_QKV_DOT = 7143424, F_QKV_OUT = 7143424, F_ATTENTION_OUT = 7241984,
    F_BLOCKS_ATTENTION_MAX = 7255552, F_BLOCKS_ATTENTION_SUM = 7256640, F_PROJ_DOT = 773952,
    F_BLOCKS_ADD = 786304, F_LN2_OUT = 773952, F_FC_RESHAPE = 737024,
    F_FC_RESHAPE_2 = 798656, F_FC_DOT = 687808, F_GELU_OUT = 687808, F_OUT_DOT = 737024,
    F_LN_OUT = 675584, F_LOGITS = 650944, F_LABELS = 7257728,
    F_CROSS_ENTROPY_EQ = 647168, F_COUNT = 647296, F_CROSS_ENTROPY_SELECT = 614016,
    F_CROSS_ENTROPY_MIN = 647424, F_BAD_LABEL = 647424, F_CROSS_ENTROPY_MAX = 646848,
    F_CROSS_ENTROPY_SELECT_2 = 614592, F_LOSS = 614912, F_WORK = 6825664,
    F_WORK_2 = 614016;
static const RtStack F_QKV_ALL_GATHER = {7050368, 27648}, F_QKV_ALL_GATHER_2 = {7254336, 576},
    F_PROJ_ALL_GATHER = {7204992, 9216}, F_FC_CONCAT = {7105728, 18816},
    F_FC_ALL_GATHER = {6901248, 37632}, F_OUT_ALL_GATHER = {6976576, 36864},
    F_BLOCKS_OUT = {7180352, 12288};
#define WITH(workspace) rt_with(rt, m + workspace)
#define AT(offset) ((void *)(m + (offset)))
#define OF(stack, layer) ((stack).first + (layer) * (stack).step)
// Kernels that init prepares, each after the first result that it makes.
enum { QKV_DOT_KERNEL, PROJ_DOT_KERNEL, FC_DOT_KERNEL, OUT_DOT_KERNEL, HEAD_DOT_KERNEL,
    D_HEAD_DOT_KERNEL, D_HEAD_WEIGHT_KERNEL, D_OUT_IN_KERNEL, D_OUT_WEIGHT_KERNEL, D_FC_DOT_KERNEL,
    D_FC_WEIGHT_KERNEL, D_PROJ_WEIGHT_KERNEL, D_PROJ_IN_KERNEL, D_QKV_DOT_KERNEL,
    D_QKV_WEIGHT_KERNEL, F_QKV_DOT_KERNEL, F_FC_DOT_KERNEL, F_OUT_DOT_KERNEL };

static RtRows wte_forward, add_forward, ln1_forward, qkv_bias_forward, ln2_forward, gelu_forward,
    blocks_add_forward, ln_forward, cross_entropy_forward, cross_entropy_mod_forward,
    cross_entropy_log_forward, cross_entropy_backward, adamw_scalars, ln_backward, grad_norm,
    adamw, ln_add_backward, grad_norm_reduce_sum, gelu_backward, grad_norm_reduce_sum_2,
    grad_norm_reduce_sum_3, adamw_add, adamw_div, ln2_backward, ln2_add_backward,
    grad_norm_reduce_sum_4, grad_norm_add, grad_norm_add_2, grad_norm_sqrt, ln_predict,
    qkv_predict, ln2_predict, gelu_predict, cross_entropy_predict, cross_entropy_log_predict;
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
struct adamw_scalars {
    const float *beta1, *step, *lr, *beta2, *weight_decay;
    float *y0, *y1, *y2, *y3, *y4;
};
struct ln_backward {
    const float *x0, *weight, *x2, *x3, *x4, *x5, *x6, *bias;
    float *y0, *y1, *y2, *y3, *y4, *y5;
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
struct ln_add_backward { const float *x0, *x1, *x2, *x3; float *y0; };
struct grad_norm_reduce_sum { const float *x0; float *y0; };
struct gelu_backward { const float *x0, *bias, *x2; float *y0, *y1; };
struct grad_norm_reduce_sum_2 { const float *x0; float *y0; };
struct grad_norm_reduce_sum_3 { const float *x0; float *y0; int64_t n0; };
struct adamw_add {
    const float *x0;
    float *exp_avg;
    const float *x2, *x3;
    float *exp_avg_sq;
    const float *beta2;
};
struct adamw_div { float *param; const float *x1, *x2, *x3, *eps, *x5, *x6; };
struct ln2_backward {
    const float *x0, *weight, *x2, *x3, *x4, *bias;
    float *y0, *y1, *y2, *y3, *y4, *y5;
};
struct ln2_add_backward { const float *x0, *x1, *x2, *x3, *x4; float *y0; };
struct grad_norm_reduce_sum_4 { const float *x0; float *y0; };
struct grad_norm_add { const float *x0, *x1; float *y0; };
struct grad_norm_add_2 {
    const float *x0, *x1, *x2, *x3, *x4, *x5, *x6, *x7, *x8, *x9, *x10;
    float *y0;
};
struct grad_norm_sqrt { const float *x0, *x1, *x2, *x3, *x4, *x5; float *y0; };
struct ln_predict { const float *x0, *weight, *bias; float *y0; };
struct qkv_predict { const float *x0, *x1; float *y0; };
struct ln2_predict { const float *x0, *bias, *x2, *weight, *x4; float *y0, *y1; };
struct gelu_predict { const float *x0, *x1; float *y0; };
struct cross_entropy_predict { const int64_t *x0; uint8_t *y0; float *y1; int64_t *y2; };
struct cross_entropy_log_predict {
    const float *x0, *x1;
    const int64_t *x2;
    const uint8_t *x3;
    float *y0;
};
#define ADAMW_SHARED \
    .x1 = AT(ADAMW_SUB_3), .x4 = AT(ADAMW_SUB_2), .x5 = AT(ADAMW_SUB), .beta2 = AT(BETA2), \
    .x8 = AT(ADAMW_CAST), .eps = AT(EPS), .x10 = AT(ADAMW_NEG)

// blocks.{}, 3 times
static void blocks_forward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub reduce_sum ... f32[4,16,48]",
        .block = 1, .flops = 2.85e4, .reads = 2.55e4, .writes = 1.28e4, .seconds = 3.01e-6);
    RT_ROWS(rt, ln1_forward, B * T, 16 * C, .x0 = AT(OF(BLOCKS_OUT, layer - 1)),
        .weight = AT(OF(LN1_WEIGHT, layer)), .bias = AT(OF(LN1_BIAS, layer)),
        .y0 = AT(OF(LN1_MEAN, layer)), .y1 = AT(OF(LN1_SQUARES, layer)), .y2 = AT(LN1_OUT));
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,2,12]",
        .block = 1, .flops = 4.42e5, .reads = 4.45e4, .writes = 1.84e4, .seconds = 3.07e-6);
    rt_dot(WITH(WORK_2), QKV_DOT_KERNEL, AT(QKV_DOT), AT(LN1_OUT), AT(OF(QKV_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,2,12]",
        .block = 1, .flops = 4.61e3, .reads = 3.72e4, .writes = 1.84e4, .seconds = 3.02e-6);
    RT_ROWS(rt, qkv_bias_forward, B * T, 3 * HEADS / 2 * HEAD_SIZE, .x0 = AT(QKV_DOT),
        .bias = AT(OF(QKV_BIAS, layer)), .y0 = AT(OF(QKV_OUT, layer)));
    RT_AT(rt, "blocks.{}: attention f32[4,16,2,12]",
        .block = 1, .flops = 4.92e4, .reads = 2.56e4, .writes = 7.17e3, .seconds = 3.01e-6);
    rt_attention(WITH(WORK_2), &(RtAttention){.n_batch = 2, .batch = {B, HEADS / 2}, .s = T,
        .t = T, .e = HEAD_SIZE, .f = HEAD_SIZE, .q = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE},
        {0}, 3 * HEADS / 2 * HEAD_SIZE, 1}, .k = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS / 2 * HEAD_SIZE, 1}, .v = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS / 2 * HEAD_SIZE, 1}, .y = {{T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS / 2 * HEAD_SIZE, 1}, .max = {{T * HEADS / 2, 1}, {0}, HEADS / 2, 0},
        .sum = {{T * HEADS / 2, 1}, {0}, HEADS / 2, 0}, .causal = true, .scale = 0.288675129,
        .outside = -3.40282347e+38, .outside_added = true}, AT(OF(ATTENTION_OUT, layer)),
        AT(OF(BLOCKS_ATTENTION_MAX, layer)), AT(OF(BLOCKS_ATTENTION_SUM, layer)),
        AT(OF(QKV_OUT, layer)), AT(OF(QKV_OUT, layer) + HEADS / 2 * HEAD_SIZE * sizeof(float)),
        AT(OF(QKV_OUT, layer) + 2 * HEADS / 2 * HEAD_SIZE * sizeof(float)), NULL, NULL, NULL,
        NULL);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]",
        .block = 1, .flops = 1.47e5, .reads = 2.3e4, .writes = 1.23e4, .seconds = 3.02e-6);
    rt_dot(WITH(WORK_2), PROJ_DOT_KERNEL, AT(PROJ_DOT), AT(OF(ATTENTION_OUT, layer)),
        AT(OF(PROJ_WEIGHT, layer)));
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.proj: all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 2.46e4, .writes = 1.23e4, .seconds = 9.06e-6,
        .axis = "tp", .sent = 1.23e4, .exchange = 6.05e-6);
    rt_all_reduce(WITH(WORK_2), &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0, .outer = 1,
        .whole = B * T * C, .inner = 1}, AT(PROJ_ALL_REDUCE), AT(PROJ_DOT));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul sub ... f32[4,16,48]",
        .block = 1, .flops = 3.46e4, .reads = 3.8e4, .writes = 2.51e4, .seconds = 3.02e-6);
    RT_ROWS(rt, ln2_forward, B * T, 18 * C, .x0 = AT(PROJ_ALL_REDUCE),
        .bias = AT(OF(PROJ_BIAS, layer)), .x2 = AT(OF(BLOCKS_OUT, layer - 1)),
        .weight = AT(OF(LN2_WEIGHT, layer)), .x4 = AT(OF(LN2_BIAS, layer)),
        .y0 = AT(OF(BLOCKS_ADD, layer)), .y1 = AT(OF(LN2_MEAN, layer)),
        .y2 = AT(OF(LN2_SQUARES, layer)), .y3 = AT(LN2_OUT));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,96]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 2.46e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), FC_DOT_KERNEL, AT(OF(FC_DOT, layer)), AT(LN2_OUT),
        AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,96]",
        .block = 1, .flops = 1.41e5, .reads = 4.95e4, .writes = 2.46e4, .seconds = 3.03e-6);
    RT_ROWS(rt, gelu_forward, B * T, 6 * FC_SIZE / 2, .x0 = AT(OF(FC_DOT, layer)),
        .bias = AT(OF(FC_BIAS, layer)), .y0 = AT(GELU_OUT));
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 1.23e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), OUT_DOT_KERNEL, AT(OUT_DOT), AT(GELU_OUT), AT(OF(OUT_WEIGHT, layer)));
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.out: all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 2.46e4, .writes = 1.23e4, .seconds = 9.06e-6,
        .axis = "tp", .sent = 1.23e4, .exchange = 6.05e-6);
    rt_all_reduce(WITH(WORK_2), &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0, .outer = 1,
        .whole = B * T * C, .inner = 1}, AT(OUT_ALL_REDUCE), AT(OUT_DOT));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]",
        .block = 1, .flops = 6.14e3, .reads = 3.71e4, .writes = 1.23e4, .seconds = 3.02e-6);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, .x0 = AT(OUT_ALL_REDUCE),
        .bias = AT(OF(OUT_BIAS, layer)), .x2 = AT(OF(BLOCKS_ADD, layer)),
        .y0 = AT(OF(BLOCKS_OUT, layer)));
}

// blocks.{}, 3 times
static void blocks_backward_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.out: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_OUT_BIAS), AT(OF(D_LN1_IN, (layer + 1) % 2)));
    rt_gradient(rt, 16, layer, AT(D_OUT_BIAS));  // blocks.{}.out.bias
    RT_AT(rt, "grad_norm blocks.{}.out.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_OUT_BIAS), .y0 = AT(GRAD_NORM_OUT_BIAS_SUM));
    RT_AT(rt, "adamw blocks.{}.out.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(OUT_BIAS, layer)), .x2 = AT(D_OUT_BIAS),
        .exp_avg = AT(OF(OUT_BIAS_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(OUT_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,96]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 2.46e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), D_OUT_IN_KERNEL, AT(D_OUT_IN), AT(OF(D_LN1_IN, (layer + 1) % 2)),
        AT(OF(OUT_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}: add div erf add mul mul mul mul mul ... f32[4,16,96]",
        .block = 1, .flops = 2.76e5, .reads = 7.41e4, .writes = 4.92e4, .seconds = 3.04e-6);
    RT_ROWS(rt, gelu_backward, B * T, 16 * FC_SIZE / 2, .x0 = AT(OF(FC_DOT, layer)),
        .bias = AT(OF(FC_BIAS, layer)), .x2 = AT(D_OUT_IN), .y0 = AT(RECOMPUTED_GELU_OUT),
        .y1 = AT(D_BLOCKS_IN));
    RT_AT(rt, "blocks.{}.out: dot f32[48,96]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 1.84e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), D_OUT_WEIGHT_KERNEL, AT(D_OUT_WEIGHT), AT(RECOMPUTED_GELU_OUT),
        AT(OF(D_LN1_IN, (layer + 1) % 2)));
    // all_gather on tp: 0.0176 MiB, 6.12 us
    RT_AT(rt, "grad_norm blocks.{}.out.weight: start all_gather f32[48,192]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 1.84e4, .exchange = 6.12e-6);
    rt_start(WITH(WORK), 3, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = C,
        .whole = FC_SIZE, .inner = 1}, AT(GRAD_NORM_OUT_WEIGHT_ALL_GATHER), AT(D_OUT_WEIGHT));
    rt_gradient(rt, 15, layer, AT(D_OUT_WEIGHT));  // blocks.{}.out.weight
    RT_AT(rt, "blocks.{}.fc: reduce_sum f32[96]",
        .block = 1, .flops = 6.14e3, .reads = 2.5e4, .writes = 384, .seconds = 3.01e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, FC_SIZE / 2},
        .stride = {FC_SIZE / 2, 1}, .reduced = {1, 0}}, AT(D_FC_SUM), AT(D_BLOCKS_IN));
    // all_gather on tp: 0.000366 MiB, 6 us
    RT_AT(rt, "blocks.{}.fc: start all_gather f32[192]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 384, .exchange = 6e-6);
    rt_start(WITH(WORK), 4, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1,
        .whole = FC_SIZE, .inner = 1}, AT(D_FC_BIAS), AT(D_FC_SUM));
    RT_AT(rt, "adamw blocks.{}.out.weight: mul sub mul mul mul ... f32[48,96]",
        .block = 1, .flops = 9.22e4, .reads = 7.38e4, .writes = 5.53e4, .seconds = 3.05e-6);
    RT_ROWS(rt, adamw, C * FC_SIZE / 2, 14, .param = AT(OF(OUT_WEIGHT, layer)),
        .x2 = AT(D_OUT_WEIGHT), .exp_avg = AT(OF(OUT_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(OUT_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,48]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 1.23e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), D_FC_DOT_KERNEL, AT(D_FC_DOT), AT(D_BLOCKS_IN), AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "grad_norm blocks.{}.out.weight: wait for all_gather f32[48,192]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 3);
    RT_AT(rt, "grad_norm blocks.{}.out.weight: mul reduce_sum f32[]",
        .block = 1, .flops = 1.84e4, .reads = 3.69e4, .writes = 4, .seconds = 3.01e-6);
    RT_ROWS(rt, grad_norm_reduce_sum_2, 1, 2 * C * FC_SIZE,
        .x0 = AT(GRAD_NORM_OUT_WEIGHT_ALL_GATHER), .y0 = AT(GRAD_NORM_OUT_WEIGHT_SUM));
    RT_AT(rt, "blocks.{}.fc: wait for all_gather f32[192]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 4);
    rt_gradient(rt, 14, layer, AT(D_FC_BIAS));  // blocks.{}.fc.bias
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.fc: start all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 1.23e4, .exchange = 6.05e-6);
    rt_start(WITH(WORK), 5, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = B * T * C, .inner = 1}, AT(D_FC_IN), AT(D_FC_DOT));
    RT_AT(rt, "grad_norm blocks.{}.fc.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 384, .reads = 772, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 2 * FC_SIZE, .x0 = AT(D_FC_BIAS),
        .y0 = AT(GRAD_NORM_FC_BIAS_SUM), .n0 = FC_SIZE);
    RT_AT(rt, "adamw blocks.{}.fc.bias: sub mul mul mul add mul ... f32[192]",
        .block = 1, .flops = 1.34e3, .reads = 2.32e3, .writes = 1.54e3, .seconds = 3e-6);
    RT_ROWS(rt, adamw_add, FC_SIZE, 7, .x0 = AT(D_FC_BIAS),
        .exp_avg = AT(OF(FC_BIAS_EXP_AVG, layer)), .x2 = AT(ADAMW_SUB_2), .x3 = AT(ADAMW_SUB),
        .exp_avg_sq = AT(OF(FC_BIAS_EXP_AVG_SQ, layer)), .beta2 = AT(BETA2));
    // shard on tp
    RT_AT(rt, "adamw blocks.{}.fc.bias: shard f32[96]",
        .block = 1, .flops = 0, .reads = 1.15e3, .writes = 384, .seconds = 6e-6);
    rt_shard(WITH(WORK_2), &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1, .whole = FC_SIZE,
        .inner = 1}, AT(ADAMW_FC_BIAS_SHARD), AT(OF(FC_BIAS_EXP_AVG_SQ, layer)));
    // shard on tp
    RT_AT(rt, "adamw blocks.{}.fc.bias: shard f32[96]",
        .block = 1, .flops = 0, .reads = 1.15e3, .writes = 384, .seconds = 6e-6);
    rt_shard(WITH(WORK_2), &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1, .whole = FC_SIZE,
        .inner = 1}, AT(ADAMW_FC_BIAS_SHARD_2), AT(OF(FC_BIAS_EXP_AVG, layer)));
    RT_AT(rt, "adamw blocks.{}.fc.bias: mul sqrt mul add div mul ... f32[96]",
        .block = 1, .flops = 1.25e3, .reads = 1.17e3, .writes = 384, .seconds = 3e-6);
    RT_ROWS(rt, adamw_div, FC_SIZE / 2, 7, .param = AT(OF(FC_BIAS, layer)), .x1 = AT(ADAMW_SUB_3),
        .x2 = AT(ADAMW_FC_BIAS_SHARD), .x3 = AT(ADAMW_CAST), .eps = AT(EPS),
        .x5 = AT(ADAMW_FC_BIAS_SHARD_2), .x6 = AT(ADAMW_NEG));
    RT_AT(rt, "blocks.{}.fc: wait for all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 5);
    RT_AT(rt, "blocks.{}.ln2: mul reduce_sum mul add sqrt div ... f32[4,16,48]",
        .block = 1, .flops = 3.23e4, .reads = 7.51e4, .writes = 4.97e4, .seconds = 3.04e-6);
    RT_ROWS(rt, ln2_backward, B * T, 23 * C, .x0 = AT(D_FC_IN),
        .weight = AT(OF(LN2_WEIGHT, layer)), .x2 = AT(OF(LN2_SQUARES, layer)),
        .x3 = AT(OF(BLOCKS_ADD, layer)), .x4 = AT(OF(LN2_MEAN, layer)),
        .bias = AT(OF(LN2_BIAS, layer)), .y0 = AT(D_LN2_MUL), .y1 = AT(RECOMPUTED_LN2_SUB),
        .y2 = AT(D_LN2_MUL_2), .y3 = AT(D_LN2_MUL_3), .y4 = AT(D_LN2_MUL_4),
        .y5 = AT(RECOMPUTED_LN2_OUT));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN2_BIAS), AT(D_FC_IN));
    rt_gradient(rt, 12, layer, AT(D_LN2_BIAS));  // blocks.{}.ln2.bias
    RT_AT(rt, "grad_norm blocks.{}.ln2.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_LN2_BIAS), .y0 = AT(GRAD_NORM_LN2_BIAS_SUM));
    RT_AT(rt, "blocks.{}.ln2: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN2_WEIGHT), AT(D_LN2_MUL_2));
    rt_gradient(rt, 11, layer, AT(D_LN2_WEIGHT));  // blocks.{}.ln2.weight
    RT_AT(rt, "grad_norm blocks.{}.ln2.weight: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_LN2_WEIGHT), .y0 = AT(GRAD_NORM_LN2_WEIGHT_SUM));
    RT_AT(rt, "blocks.{}.fc: dot f32[96,48]",
        .block = 1, .flops = 5.9e5, .reads = 5.53e4, .writes = 1.84e4, .seconds = 3.09e-6);
    rt_dot(WITH(WORK_2), D_FC_WEIGHT_KERNEL, AT(D_FC_WEIGHT), AT(RECOMPUTED_LN2_OUT),
        AT(D_BLOCKS_IN));
    // all_gather on tp: 0.0176 MiB, 6.08 us
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: start all_gather f32[192,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 1.84e4, .exchange = 6.08e-6);
    rt_start(WITH(WORK), 6, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1,
        .whole = FC_SIZE, .inner = C}, AT(GRAD_NORM_FC_WEIGHT_ALL_GATHER), AT(D_FC_WEIGHT));
    RT_AT(rt, "adamw blocks.{}.ln2.weight: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(LN2_WEIGHT, layer)), .x2 = AT(D_LN2_WEIGHT),
        .exp_avg = AT(OF(LN2_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(LN2_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.ln2: mul mul add add add add f32[4,16,48]",
        .block = 1, .flops = 1.84e4, .reads = 3.74e4, .writes = 1.23e4, .seconds = 3.02e-6);
    RT_ROWS(rt, ln2_add_backward, B * T, 6 * C, .x0 = AT(D_LN2_MUL_4),
        .x1 = AT(RECOMPUTED_LN2_SUB), .x2 = AT(D_LN2_MUL_3),
        .x3 = AT(OF(D_LN1_IN, (layer + 1) % 2)), .x4 = AT(D_LN2_MUL), .y0 = AT(D_LN2_IN));
    RT_AT(rt, "adamw blocks.{}.ln2.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(LN2_BIAS, layer)), .x2 = AT(D_LN2_BIAS),
        .exp_avg = AT(OF(LN2_BIAS_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(LN2_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    rt_gradient(rt, 13, layer, AT(D_FC_WEIGHT));  // blocks.{}.fc.weight
    RT_AT(rt, "adamw blocks.{}.fc.weight: mul sub mul mul mul ... f32[96,48]",
        .block = 1, .flops = 9.22e4, .reads = 7.38e4, .writes = 5.53e4, .seconds = 3.05e-6);
    RT_ROWS(rt, adamw, FC_SIZE / 2 * C, 14, .param = AT(OF(FC_WEIGHT, layer)),
        .x2 = AT(D_FC_WEIGHT), .exp_avg = AT(OF(FC_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(FC_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.proj: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_3), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_PROJ_BIAS), AT(D_LN2_IN));
    rt_gradient(rt, 10, layer, AT(D_PROJ_BIAS));  // blocks.{}.proj.bias
    RT_AT(rt, "grad_norm blocks.{}.proj.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_PROJ_BIAS), .y0 = AT(GRAD_NORM_PROJ_BIAS_SUM));
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: wait for all_gather f32[192,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 6);
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: mul reduce_sum f32[192]",
        .block = 1, .flops = 1.84e4, .reads = 3.76e4, .writes = 768, .seconds = 3.01e-6);
    RT_ROWS(rt, grad_norm_reduce_sum, FC_SIZE, 2 * C, .x0 = AT(GRAD_NORM_FC_WEIGHT_ALL_GATHER),
        .y0 = AT(GRAD_NORM_FC_WEIGHT_SUM));
    RT_AT(rt, "blocks.{}.proj: dot f32[48,2,12]",
        .block = 1, .flops = 1.47e5, .reads = 2.3e4, .writes = 4.61e3, .seconds = 3.02e-6);
    rt_dot(WITH(WORK_2), D_PROJ_WEIGHT_KERNEL, AT(D_PROJ_WEIGHT), AT(OF(ATTENTION_OUT, layer)),
        AT(D_LN2_IN));
    // all_gather on tp: 0.00439 MiB, 6.03 us
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: start all_gather f32[48,4,12]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 4.61e3, .exchange = 6.03e-6);
    rt_start(WITH(WORK), 7, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = C,
        .whole = HEADS, .inner = HEAD_SIZE}, AT(GRAD_NORM_PROJ_WEIGHT_ALL_GATHER),
        AT(D_PROJ_WEIGHT));
    RT_AT(rt, "grad_norm blocks.{}.fc.weight: reduce_sum f32[]",
        .block = 1, .flops = 192, .reads = 772, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {FC_SIZE}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_FC_WEIGHT_SUM_2), AT(GRAD_NORM_FC_WEIGHT_SUM));
    RT_AT(rt, "adamw blocks.{}.proj.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(PROJ_BIAS, layer)), .x2 = AT(D_PROJ_BIAS),
        .exp_avg = AT(OF(PROJ_BIAS_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(PROJ_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,2,12]",
        .block = 1, .flops = 1.47e5, .reads = 2.3e4, .writes = 6.14e3, .seconds = 3.02e-6);
    rt_dot(WITH(WORK_2), D_PROJ_IN_KERNEL, AT(D_PROJ_IN), AT(D_LN2_IN),
        AT(OF(PROJ_WEIGHT, layer)));
    rt_gradient(rt, 9, layer, AT(D_PROJ_WEIGHT));  // blocks.{}.proj.weight
    RT_AT(rt, "adamw blocks.{}.proj.weight: mul sub mul mul ... f32[48,2,12]",
        .block = 1, .flops = 2.3e4, .reads = 1.85e4, .writes = 1.38e4, .seconds = 3.01e-6);
    RT_ROWS(rt, adamw, C * HEADS / 2 * HEAD_SIZE, 14, .param = AT(OF(PROJ_WEIGHT, layer)),
        .x2 = AT(D_PROJ_WEIGHT), .exp_avg = AT(OF(PROJ_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(PROJ_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}: attention_grad f32[4,16,2,12]",
        .block = 1, .flops = 9.83e4, .reads = 5.02e4, .writes = 1.84e4, .seconds = 3.02e-6);
    rt_attention_grad(WITH(WORK_2), &(RtAttention){.n_batch = 2, .batch = {B, HEADS / 2}, .s = T,
        .t = T, .e = HEAD_SIZE, .f = HEAD_SIZE, .q = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE},
        {0}, 3 * HEADS / 2 * HEAD_SIZE, 1}, .k = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS / 2 * HEAD_SIZE, 1}, .v = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        3 * HEADS / 2 * HEAD_SIZE, 1}, .y = {{T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0},
        HEADS / 2 * HEAD_SIZE, 1}, .max = {{T * HEADS / 2, 1}, {0}, HEADS / 2, 0},
        .sum = {{T * HEADS / 2, 1}, {0}, HEADS / 2, 0},
        .dy = {{T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0}, HEADS / 2 * HEAD_SIZE, 1},
        .dq = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0}, 3 * HEADS / 2 * HEAD_SIZE, 1},
        .dk = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0}, 3 * HEADS / 2 * HEAD_SIZE, 1},
        .dv = {{3 * T * HEADS / 2 * HEAD_SIZE, HEAD_SIZE}, {0}, 3 * HEADS / 2 * HEAD_SIZE, 1},
        .causal = true, .scale = 0.288675129, .outside = -3.40282347e+38, .outside_added = true},
        AT(D_QKV_CONCAT), AT(D_QKV_CONCAT + HEADS / 2 * HEAD_SIZE * sizeof(float)),
        AT(D_QKV_CONCAT + 2 * HEADS / 2 * HEAD_SIZE * sizeof(float)), AT(OF(QKV_OUT, layer)),
        AT(OF(QKV_OUT, layer) + HEADS / 2 * HEAD_SIZE * sizeof(float)),
        AT(OF(QKV_OUT, layer) + 2 * HEADS / 2 * HEAD_SIZE * sizeof(float)), NULL, NULL, NULL, NULL,
        AT(OF(ATTENTION_OUT, layer)), AT(OF(BLOCKS_ATTENTION_MAX, layer)),
        AT(OF(BLOCKS_ATTENTION_SUM, layer)), AT(D_PROJ_IN));
    RT_AT(rt, "blocks.{}.qkv: reduce_sum f32[3,2,12]",
        .block = 1, .flops = 4.61e3, .reads = 1.87e4, .writes = 288, .seconds = 3.01e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2,
        .dim = {B * T, 3 * HEADS / 2 * HEAD_SIZE}, .stride = {3 * HEADS / 2 * HEAD_SIZE, 1},
        .reduced = {1, 0}}, AT(D_QKV_BIAS), AT(D_QKV_CONCAT));
    // all_gather on tp: 0.000275 MiB, 6 us
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: start all_gather f32[3,4,12]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 288, .exchange = 6e-6);
    rt_start(WITH(WORK), 8, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 3,
        .whole = HEADS, .inner = HEAD_SIZE}, AT(GRAD_NORM_QKV_BIAS_ALL_GATHER), AT(D_QKV_BIAS));
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: wait for all_gather f32[48,4,12]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 7);
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: mul reduce_sum f32[48,4]",
        .block = 1, .flops = 4.61e3, .reads = 9.98e3, .writes = 768, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_reduce_sum_4, C * HEADS, 2 * HEAD_SIZE,
        .x0 = AT(GRAD_NORM_PROJ_WEIGHT_ALL_GATHER), .y0 = AT(GRAD_NORM_PROJ_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.proj.weight: reduce_sum f32[]",
        .block = 1, .flops = 192, .reads = 772, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_4), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {C * HEADS},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_PROJ_WEIGHT_SUM_2),
        AT(GRAD_NORM_PROJ_WEIGHT_SUM));
    rt_gradient(rt, 8, layer, AT(D_QKV_BIAS));  // blocks.{}.qkv.bias
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,48]",
        .block = 1, .flops = 4.42e5, .reads = 4.45e4, .writes = 1.23e4, .seconds = 3.07e-6);
    rt_dot(WITH(WORK_2), D_QKV_DOT_KERNEL, AT(D_QKV_DOT), AT(D_QKV_CONCAT),
        AT(OF(QKV_WEIGHT, layer)));
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "blocks.{}.qkv: start all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 1.23e4, .exchange = 6.05e-6);
    rt_start(WITH(WORK), 9, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = B * T * C, .inner = 1}, AT(D_QKV_IN), AT(D_QKV_DOT));
    RT_AT(rt, "adamw blocks.{}.qkv.bias: mul sub mul mul mul ... f32[3,2,12]",
        .block = 1, .flops = 1.44e3, .reads = 1.18e3, .writes = 864, .seconds = 3e-6);
    RT_ROWS(rt, adamw, 3 * HEADS / 2 * HEAD_SIZE, 14, .param = AT(OF(QKV_BIAS, layer)),
        .x2 = AT(D_QKV_BIAS), .exp_avg = AT(OF(QKV_BIAS_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(QKV_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: wait for all_gather f32[3,4,12]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 8);
    RT_AT(rt, "grad_norm blocks.{}.qkv.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 288, .reads = 580, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 6 * HEADS * HEAD_SIZE,
        .x0 = AT(GRAD_NORM_QKV_BIAS_ALL_GATHER), .y0 = AT(GRAD_NORM_QKV_BIAS_SUM),
        .n0 = 3 * HEADS * HEAD_SIZE);
    RT_AT(rt, "blocks.{}.qkv: wait for all_reduce f32[4,16,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 9);
    RT_AT(rt, "blocks.{}.ln1: mul reduce_sum mul add sqrt div ... f32[4,16,48]",
        .block = 1, .flops = 3.23e4, .reads = 7.51e4, .writes = 4.97e4, .seconds = 3.04e-6);
    RT_ROWS(rt, ln2_backward, B * T, 23 * C, .x0 = AT(D_QKV_IN),
        .weight = AT(OF(LN1_WEIGHT, layer)), .x2 = AT(OF(LN1_SQUARES, layer)),
        .x3 = AT(OF(BLOCKS_OUT, layer - 1)), .x4 = AT(OF(LN1_MEAN, layer)),
        .bias = AT(OF(LN1_BIAS, layer)), .y0 = AT(D_LN1_MUL), .y1 = AT(RECOMPUTED_LN1_SUB),
        .y2 = AT(D_LN1_MUL_2), .y3 = AT(D_LN1_MUL_3), .y4 = AT(D_LN1_MUL_4),
        .y5 = AT(RECOMPUTED_LN1_OUT));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN1_BIAS), AT(D_QKV_IN));
    rt_gradient(rt, 6, layer, AT(D_LN1_BIAS));  // blocks.{}.ln1.bias
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum f32[]",
        .block = 1, .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_LN1_BIAS), .y0 = AT(GRAD_NORM_LN1_BIAS_SUM));
    RT_AT(rt, "blocks.{}.ln1: reduce_sum f32[48]",
        .block = 1, .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN1_WEIGHT), AT(D_LN1_MUL_2));
    rt_gradient(rt, 5, layer, AT(D_LN1_WEIGHT));  // blocks.{}.ln1.weight
    RT_AT(rt, "grad_norm blocks.{}.ln1.bias: mul reduce_sum add f32[]",
        .block = 1, .flops = 97, .reads = 200, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_add, 1, 3 * C, .x0 = AT(D_LN1_WEIGHT), .x1 = AT(GRAD_NORM_LN1_BIAS_SUM),
        .y0 = AT(GRAD_NORM_LN1_BIAS_ADD));
    RT_AT(rt, "blocks.{}.qkv: dot f32[3,2,12,48]",
        .block = 1, .flops = 4.42e5, .reads = 4.45e4, .writes = 1.38e4, .seconds = 3.07e-6);
    rt_dot(WITH(WORK_2), D_QKV_WEIGHT_KERNEL, AT(D_QKV_WEIGHT), AT(RECOMPUTED_LN1_OUT),
        AT(D_QKV_CONCAT));
    // all_gather on tp: 0.0132 MiB, 6.09 us
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: start all_gather f32[3,4,12,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp", .sent = 1.38e4, .exchange = 6.09e-6);
    rt_start(WITH(WORK), 10, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 3,
        .whole = HEADS, .inner = HEAD_SIZE * C}, AT(GRAD_NORM_QKV_WEIGHT_ALL_GATHER),
        AT(D_QKV_WEIGHT));
    RT_AT(rt, "adamw blocks.{}.ln1.weight: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(LN1_WEIGHT, layer)), .x2 = AT(D_LN1_WEIGHT),
        .exp_avg = AT(OF(LN1_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(LN1_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "blocks.{}.ln1: mul mul add add add add f32[4,16,48]",
        .block = 1, .flops = 1.84e4, .reads = 4.97e4, .writes = 1.23e4, .seconds = 3.02e-6);
    RT_ROWS(rt, ln2_add_backward, B * T, 6 * C, .x0 = AT(D_LN1_MUL_4),
        .x1 = AT(RECOMPUTED_LN1_SUB), .x2 = AT(D_LN1_MUL_3), .x3 = AT(D_LN2_IN),
        .x4 = AT(D_LN1_MUL), .y0 = AT(OF(D_LN1_IN, layer % 2)));
    RT_AT(rt, "adamw blocks.{}.ln1.bias: mul sub mul mul mul add ... f32[48]",
        .block = 1, .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(OF(LN1_BIAS, layer)), .x2 = AT(D_LN1_BIAS),
        .exp_avg = AT(OF(LN1_BIAS_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(LN1_BIAS_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    rt_gradient(rt, 7, layer, AT(D_QKV_WEIGHT));  // blocks.{}.qkv.weight
    RT_AT(rt, "adamw blocks.{}.qkv.weight: mul sub mul mul ... f32[3,2,12,48]",
        .block = 1, .flops = 6.91e4, .reads = 5.53e4, .writes = 4.15e4, .seconds = 3.03e-6);
    RT_ROWS(rt, adamw, 3 * HEADS / 2 * HEAD_SIZE * C, 14, .param = AT(OF(QKV_WEIGHT, layer)),
        .x2 = AT(D_QKV_WEIGHT), .exp_avg = AT(OF(QKV_WEIGHT_EXP_AVG, layer)),
        .exp_avg_sq = AT(OF(QKV_WEIGHT_EXP_AVG_SQ, layer)), ADAMW_SHARED);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: wait for all_gather f32[3,4,12,48]",
        .block = 1, .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 10);
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: mul reduce_sum f32[3,4,12]",
        .block = 1, .flops = 1.38e4, .reads = 2.82e4, .writes = 576, .seconds = 3.01e-6);
    RT_ROWS(rt, grad_norm_reduce_sum, 3 * HEADS * HEAD_SIZE, 2 * C,
        .x0 = AT(GRAD_NORM_QKV_WEIGHT_ALL_GATHER), .y0 = AT(GRAD_NORM_QKV_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.qkv.weight: reduce_sum f32[]",
        .block = 1, .flops = 144, .reads = 580, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3 * HEADS * HEAD_SIZE},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_QKV_WEIGHT_SUM_2),
        AT(GRAD_NORM_QKV_WEIGHT_SUM));
    RT_AT(rt, "grad_norm blocks.{}.out.bias: add add add add add add ... f32[]",
        .block = 1, .flops = 10, .reads = 48, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_add_2, 1, 10, .x0 = AT(GRAD_NORM_LN1_BIAS_ADD),
        .x1 = AT(GRAD_NORM_QKV_WEIGHT_SUM_2), .x2 = AT(GRAD_NORM_QKV_BIAS_SUM),
        .x3 = AT(GRAD_NORM_PROJ_WEIGHT_SUM_2), .x4 = AT(GRAD_NORM_PROJ_BIAS_SUM),
        .x5 = AT(GRAD_NORM_LN2_WEIGHT_SUM), .x6 = AT(GRAD_NORM_LN2_BIAS_SUM),
        .x7 = AT(GRAD_NORM_FC_WEIGHT_SUM_2), .x8 = AT(GRAD_NORM_FC_BIAS_SUM),
        .x9 = AT(GRAD_NORM_OUT_WEIGHT_SUM), .x10 = AT(GRAD_NORM_OUT_BIAS_SUM),
        .y0 = AT(OF(GRAD_NORM_OUT_BIAS_ADD, layer)));
}

static void micro(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]",
        .flops = 192, .reads = 1.02e3, .writes = 512, .seconds = 3e-6);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(INPUT_IDS), .y0 = AT(WTE_SELECT));
    RT_AT(rt, "wte: gather f32[4,16,48]",
        .flops = 0, .reads = 2.51e4, .writes = 1.23e4, .seconds = 3.01e-6);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS}, AT(WTE_OUT), AT(WTE_WEIGHT),
        AT(WTE_SELECT));
    RT_AT(rt, "node_add: add f32[4,16,48]",
        .flops = 3.07e3, .reads = 2.76e4, .writes = 1.23e4, .seconds = 3.01e-6);
    RT_ROWS(rt, add_forward, B, T * C, .x0 = AT(WTE_OUT), .weight = AT(WPE_WEIGHT),
        .y0 = AT(NODE_ADD_OUT));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        blocks_forward_layer(rt, m, layer);
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]",
        .flops = 2.89e4, .reads = 2.6e4, .writes = 1.33e4, .seconds = 3.01e-6);
    RT_ROWS(rt, ln_forward, B * T, 20 * C, .x0 = AT(OF(BLOCKS_OUT, LAYERS - 1)),
        .weight = AT(LN_WEIGHT), .bias = AT(LN_BIAS), .y0 = AT(LN_MEAN), .y1 = AT(LN_RSTD),
        .y2 = AT(RECOMPUTED_LN_STD), .y3 = AT(LN_MUL), .y4 = AT(LN_OUT));
    RT_AT(rt, "head: dot f32[4,16,48]",
        .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4, .seconds = 3.04e-6);
    rt_dot(WITH(WORK_2), HEAD_DOT_KERNEL, AT(HEAD_DOT), AT(LN_OUT), AT(HEAD_WEIGHT));
    // all_gather on tp: 0.0117 MiB, 6.08 us
    RT_AT(rt, "head: start all_gather f32[4,16,96]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 1.23e4, .exchange = 6.08e-6);
    rt_start(WITH(WORK), 0, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = B * T,
        .whole = VOCAB, .inner = 1}, AT(HEAD_OUT), AT(HEAD_DOT));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or and ... f32[]",
        .flops = 772, .reads = 1.1e3, .writes = 584, .seconds = 3e-6);
    RT_ROWS(rt, cross_entropy_forward, 1, 15 * B * T, .x0 = AT(LABELS), .y0 = AT(CROSS_ENTROPY_EQ),
        .y1 = AT(COUNT), .y2 = AT(CROSS_ENTROPY_SELECT), .y3 = AT(D_CROSS_ENTROPY_DIV));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 64, .reads = 520, .writes = 8, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B * T},
        .stride = {1}, .reduced = {1}}, AT(CROSS_ENTROPY_MIN), AT(CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]",
        .flops = 10, .reads = 8, .writes = 8, .seconds = 3e-6);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, .x0 = AT(CROSS_ENTROPY_MIN), .y0 = AT(BAD_LABEL));
    RT_AT(rt, "head: wait for all_gather f32[4,16,96]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 0);
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]",
        .flops = 6.14e3, .reads = 2.48e4, .writes = 256, .seconds = 3.01e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {B * T, VOCAB}, .stride = {VOCAB, 1}, .reduced = {0, 1}}, AT(CROSS_ENTROPY_MAX),
        AT(HEAD_OUT));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]",
        .flops = 9.29e4, .reads = 2.59e4, .writes = 512, .seconds = 3.01e-6);
    RT_ROWS(rt, cross_entropy_log_forward, B * T, 10 * VOCAB, .x0 = AT(HEAD_OUT),
        .x1 = AT(CROSS_ENTROPY_MAX), .x2 = AT(LABELS), .x3 = AT(CROSS_ENTROPY_EQ),
        .y0 = AT(CROSS_ENTROPY_SUM), .y1 = AT(CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B * T}, .stride = {1},
        .reduced = {1}}, AT(LOSS), AT(CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: select neg div iota eq select ... f32[4,16,96]",
        .flops = 9.25e4, .reads = 2.57e4, .writes = 2.46e4, .seconds = 3.02e-6);
    RT_ROWS(rt, cross_entropy_backward, B * T, 10 * VOCAB, .x0 = AT(CROSS_ENTROPY_EQ),
        .x1 = AT(D_CROSS_ENTROPY_DIV), .x2 = AT(CROSS_ENTROPY_SUM), .x3 = AT(LABELS),
        .x4 = AT(HEAD_OUT), .x5 = AT(CROSS_ENTROPY_MAX), .y0 = AT(D_CROSS_ENTROPY_IN));
    // shard on tp
    RT_AT(rt, "head: shard f32[4,16,48]",
        .flops = 0, .reads = 3.69e4, .writes = 1.23e4, .seconds = 6.03e-6);
    rt_shard(WITH(WORK_2), &(RtExchange){.type = RT_F32, .axis = 0, .outer = B * T, .whole = VOCAB,
        .inner = 1}, AT(D_HEAD_SHARD), AT(D_CROSS_ENTROPY_IN));
    RT_AT(rt, "head: dot f32[4,16,48]",
        .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4, .seconds = 3.04e-6);
    rt_dot(WITH(WORK_2), D_HEAD_DOT_KERNEL, AT(D_HEAD_DOT), AT(D_HEAD_SHARD), AT(HEAD_WEIGHT));
    // all_reduce on tp: 0.0117 MiB, 6.05 us
    RT_AT(rt, "head: start all_reduce f32[4,16,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 1.23e4, .exchange = 6.05e-6);
    rt_start(WITH(WORK), 1, rt_all_reduce, &(RtExchange){.type = RT_F32, .op = RT_SUM, .axis = 0,
        .outer = 1, .whole = B * T * C, .inner = 1}, AT(D_HEAD_IN), AT(D_HEAD_DOT));
    RT_AT(rt, "adamw: cast cast pow sub cast div cast cast pow sub ... f32[]",
        .flops = 66, .reads = 40, .writes = 20, .seconds = 3e-6);
    RT_ROWS(rt, adamw_scalars, 1, 19, .beta1 = AT(BETA1), .step = AT(STEP), .lr = AT(LR),
        .beta2 = AT(BETA2), .weight_decay = AT(WEIGHT_DECAY), .y0 = AT(ADAMW_NEG),
        .y1 = AT(ADAMW_SUB), .y2 = AT(ADAMW_SUB_2), .y3 = AT(ADAMW_CAST), .y4 = AT(ADAMW_SUB_3));
    RT_AT(rt, "head: wait for all_reduce f32[4,16,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 1);
    RT_AT(rt, "ln: mul mul reduce_sum mul neg mul sub mul mul ... f32[4,16,48]",
        .flops = 3.16e4, .reads = 7.56e4, .writes = 4.97e4, .seconds = 3.04e-6);
    RT_ROWS(rt, ln_backward, B * T, 18 * C, .x0 = AT(D_HEAD_IN), .weight = AT(LN_WEIGHT),
        .x2 = AT(LN_RSTD), .x3 = AT(OF(BLOCKS_OUT, LAYERS - 1)), .x4 = AT(LN_MEAN),
        .x5 = AT(RECOMPUTED_LN_STD), .x6 = AT(LN_MUL), .bias = AT(LN_BIAS), .y0 = AT(D_LN_MUL),
        .y1 = AT(D_LN_MUL_2), .y2 = AT(RECOMPUTED_LN_SUB), .y3 = AT(D_LN_MUL_3),
        .y4 = AT(D_LN_MUL_4), .y5 = AT(RECOMPUTED_LN_OUT));
    RT_AT(rt, "ln: reduce_sum f32[48]",
        .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN_BIAS), AT(D_HEAD_IN));
    rt_gradient(rt, 3, 0, AT(D_LN_BIAS));  // ln.bias
    RT_AT(rt, "grad_norm ln.bias: mul reduce_sum f32[]",
        .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_LN_BIAS), .y0 = AT(GRAD_NORM_LN_BIAS_SUM));
    RT_AT(rt, "ln: reduce_sum f32[48]",
        .flops = 3.07e3, .reads = 1.25e4, .writes = 192, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B * T, C},
        .stride = {C, 1}, .reduced = {1, 0}}, AT(D_LN_WEIGHT), AT(D_LN_MUL_3));
    rt_gradient(rt, 2, 0, AT(D_LN_WEIGHT));  // ln.weight
    RT_AT(rt, "grad_norm ln.weight: mul reduce_sum f32[]",
        .flops = 96, .reads = 196, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm, 1, 2 * C, .x0 = AT(D_LN_WEIGHT), .y0 = AT(GRAD_NORM_LN_WEIGHT_SUM));
    RT_AT(rt, "head: dot f32[48,48]",
        .flops = 2.95e5, .reads = 3.38e4, .writes = 9.22e3, .seconds = 3.04e-6);
    rt_dot(WITH(WORK_2), D_HEAD_WEIGHT_KERNEL, AT(D_HEAD_WEIGHT), AT(RECOMPUTED_LN_OUT),
        AT(D_HEAD_SHARD));
    // all_gather on tp: 0.00879 MiB, 6.04 us
    RT_AT(rt, "grad_norm head.weight: start all_gather f32[96,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 9.22e3, .exchange = 6.04e-6);
    rt_start(WITH(WORK), 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1,
        .whole = VOCAB, .inner = C}, AT(GRAD_NORM_HEAD_WEIGHT_ALL_GATHER), AT(D_HEAD_WEIGHT));
    RT_AT(rt, "adamw ln.weight: mul sub mul mul mul add mul add ... f32[48]",
        .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(LN_WEIGHT), .x2 = AT(D_LN_WEIGHT),
        .exp_avg = AT(LN_WEIGHT_EXP_AVG), .exp_avg_sq = AT(LN_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "ln: mul mul add add add f32[4,16,48]",
        .flops = 1.54e4, .reads = 3.74e4, .writes = 1.23e4, .seconds = 3.02e-6);
    RT_ROWS(rt, ln_add_backward, B * T, 5 * C, .x0 = AT(D_LN_MUL_4), .x1 = AT(RECOMPUTED_LN_SUB),
        .x2 = AT(D_LN_MUL), .x3 = AT(D_LN_MUL_2), .y0 = AT(D_LN_IN));
    RT_AT(rt, "adamw ln.bias: mul sub mul mul mul add mul add sqrt ... f32[48]",
        .flops = 960, .reads = 796, .writes = 576, .seconds = 3e-6);
    RT_ROWS(rt, adamw, C, 14, .param = AT(LN_BIAS), .x2 = AT(D_LN_BIAS),
        .exp_avg = AT(LN_BIAS_EXP_AVG), .exp_avg_sq = AT(LN_BIAS_EXP_AVG_SQ), ADAMW_SHARED);
    rt_gradient(rt, 4, 0, AT(D_HEAD_WEIGHT));  // head.weight
    RT_AT(rt, "adamw head.weight: mul sub mul mul mul add mul ... f32[48,48]",
        .flops = 4.61e4, .reads = 3.69e4, .writes = 2.76e4, .seconds = 3.02e-6);
    RT_ROWS(rt, adamw, VOCAB / 2 * C, 14, .param = AT(HEAD_WEIGHT), .x2 = AT(D_HEAD_WEIGHT),
        .exp_avg = AT(HEAD_WEIGHT_EXP_AVG), .exp_avg_sq = AT(HEAD_WEIGHT_EXP_AVG_SQ),
        ADAMW_SHARED);
    RT_AT(rt, "grad_norm head.weight: wait for all_gather f32[96,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 2);
    RT_AT(rt, "grad_norm head.weight: mul reduce_sum f32[96]",
        .flops = 9.22e3, .reads = 1.88e4, .writes = 384, .seconds = 3.01e-6);
    RT_ROWS(rt, grad_norm_reduce_sum, VOCAB, 2 * C, .x0 = AT(GRAD_NORM_HEAD_WEIGHT_ALL_GATHER),
        .y0 = AT(GRAD_NORM_HEAD_WEIGHT_SUM));
    RT_AT(rt, "grad_norm head.weight: reduce_sum f32[]",
        .flops = 96, .reads = 388, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {VOCAB}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_HEAD_WEIGHT_SUM_2), AT(GRAD_NORM_HEAD_WEIGHT_SUM));
    for (int64_t layer = LAYERS - 1; layer >= 0; layer--)
        blocks_backward_layer(rt, m, layer);
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        RT_AT(rt, "grad_norm: copy f32[1]",
            .flops = 0, .reads = 8, .writes = 4, .seconds = 3e-6);
        rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 0}, AT(OF(GRAD_NORM_CONCAT, layer)),
            AT(OF(GRAD_NORM_OUT_BIAS_ADD, layer)));
    }
    RT_AT(rt, "grad_norm: reduce_sum f32[]",
        .flops = 3, .reads = 16, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {3}, .stride = {1},
        .reduced = {1}}, AT(GRAD_NORM_SUM), AT(OF(GRAD_NORM_CONCAT, 0)));
    RT_AT(rt, "node_add: reduce_sum f32[16,48]",
        .flops = 3.07e3, .reads = 1.54e4, .writes = 3.07e3, .seconds = 3.01e-6);
    rt_reduce(WITH(WORK_2), &(RtReduce){.type = RT_F32, .rank = 2, .dim = {B, T * C},
        .stride = {T * C, 1}, .reduced = {1, 0}}, AT(D_WPE_WEIGHT), AT(OF(D_LN1_IN, 0)));
    rt_gradient(rt, 1, 0, AT(D_WPE_WEIGHT));  // wpe.weight
    RT_AT(rt, "grad_norm wpe.weight: mul reduce_sum f32[]",
        .flops = 1.54e3, .reads = 3.08e3, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_reduce_sum_3, 1, 2 * T * C, .x0 = AT(D_WPE_WEIGHT),
        .y0 = AT(GRAD_NORM_WPE_WEIGHT_SUM), .n0 = T * C);
    RT_AT(rt, "adamw wpe.weight: mul sub mul mul mul add mul ... f32[16,48]",
        .flops = 1.54e4, .reads = 1.23e4, .writes = 9.22e3, .seconds = 3.01e-6);
    RT_ROWS(rt, adamw, T * C, 14, .param = AT(WPE_WEIGHT), .x2 = AT(D_WPE_WEIGHT),
        .exp_avg = AT(WPE_WEIGHT_EXP_AVG), .exp_avg_sq = AT(WPE_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
    RT_AT(rt, "wte: add lt select i64[4,16]",
        .flops = 192, .reads = 512, .writes = 512, .seconds = 3e-6);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(INPUT_IDS), .y0 = AT(RECOMPUTED_WTE_SELECT));
    RT_AT(rt, "wte: scatter f32[96,48]",
        .flops = 0, .reads = 3.12e4, .writes = 1.84e4, .seconds = 3.02e-6);
    rt_scatter(WITH(WORK_5), &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1,
        .outer = 1, .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS},
        AT(D_WTE_WEIGHT), AT(OF(D_LN1_IN, 0)), AT(RECOMPUTED_WTE_SELECT), NULL);
    rt_gradient(rt, 0, 0, AT(D_WTE_WEIGHT));  // wte.weight
    RT_AT(rt, "grad_norm wte.weight: mul reduce_sum f32[96]",
        .flops = 9.22e3, .reads = 1.88e4, .writes = 384, .seconds = 3.01e-6);
    RT_ROWS(rt, grad_norm_reduce_sum, WTE_ROWS, 2 * C, .x0 = AT(D_WTE_WEIGHT),
        .y0 = AT(GRAD_NORM_WTE_WEIGHT_SUM));
    RT_AT(rt, "grad_norm wte.weight: reduce_sum f32[]",
        .flops = 96, .reads = 388, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(WORK_5), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {WTE_ROWS},
        .stride = {1}, .reduced = {1}}, AT(GRAD_NORM_WTE_WEIGHT_SUM_2),
        AT(GRAD_NORM_WTE_WEIGHT_SUM));
    RT_AT(rt, "grad_norm: add add add add add add sqrt f32[]",
        .flops = 10, .reads = 24, .writes = 4, .seconds = 3e-6);
    RT_ROWS(rt, grad_norm_sqrt, 1, 7, .x0 = AT(GRAD_NORM_WTE_WEIGHT_SUM_2),
        .x1 = AT(GRAD_NORM_WPE_WEIGHT_SUM), .x2 = AT(GRAD_NORM_LN_WEIGHT_SUM),
        .x3 = AT(GRAD_NORM_LN_BIAS_SUM), .x4 = AT(GRAD_NORM_HEAD_WEIGHT_SUM_2),
        .x5 = AT(GRAD_NORM_SUM), .y0 = AT(GRAD_NORM));
    RT_AT(rt, "adamw wte.weight: mul sub mul mul mul add mul ... f32[96,48]",
        .flops = 9.22e4, .reads = 7.38e4, .writes = 5.53e4, .seconds = 3.05e-6);
    RT_ROWS(rt, adamw, WTE_ROWS * C, 14, .param = AT(WTE_WEIGHT), .x2 = AT(D_WTE_WEIGHT),
        .exp_avg = AT(WTE_WEIGHT_EXP_AVG), .exp_avg_sq = AT(WTE_WEIGHT_EXP_AVG_SQ), ADAMW_SHARED);
}

// blocks.{}, 3 times
static void blocks_predict_layer(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    // all_gather on tp: 0.0132 MiB, 6.09 us
    RT_AT(rt, "blocks.{}.qkv: start all_gather f32[3,4,12,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 1.38e4, .exchange = 6.09e-6);
    rt_start(WITH(F_WORK), 1 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 3, .whole = HEADS, .inner = HEAD_SIZE * C}, AT(OF(F_QKV_ALL_GATHER, layer % 2)),
        AT(OF(QKV_WEIGHT, layer)));
    // all_gather on tp: 0.000275 MiB, 6 us
    RT_AT(rt, "blocks.{}.qkv: start all_gather f32[3,4,12]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 288, .exchange = 6e-6);
    rt_start(WITH(F_WORK), 3 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 3, .whole = HEADS, .inner = HEAD_SIZE}, AT(OF(F_QKV_ALL_GATHER_2, layer % 2)),
        AT(OF(QKV_BIAS, layer)));
    // all_gather on tp: 0.00439 MiB, 6.03 us
    RT_AT(rt, "blocks.{}.proj: start all_gather f32[48,4,12]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 4.61e3, .exchange = 6.03e-6);
    rt_start(WITH(F_WORK), 5 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = C, .whole = HEADS, .inner = HEAD_SIZE}, AT(OF(F_PROJ_ALL_GATHER, layer % 2)),
        AT(OF(PROJ_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.fc: copy f32[1,4608]",
        .flops = 0, .reads = 3.69e4, .writes = 1.84e4, .seconds = 3.02e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {4608}, .x_stride = {1},
        .y_stride = {1}}, AT(OF(F_FC_CONCAT, layer % 2)), AT(OF(FC_WEIGHT, layer)));
    RT_AT(rt, "blocks.{}.fc: copy f32[1,96]",
        .flops = 0, .reads = 768, .writes = 384, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 1, .dim = {96}, .x_stride = {1},
        .y_stride = {1}}, AT(OF(F_FC_CONCAT, layer % 2) + 4608 * sizeof(float)),
        AT(OF(FC_BIAS, layer)));
    // all_gather of 2 on tp: 0.0179 MiB, 6.08 us
    RT_AT(rt, "blocks.{}.fc: start all_gather f32[2,4704]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 1.88e4, .exchange = 6.08e-6);
    rt_start(WITH(F_WORK), 7 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = 1, .whole = 2, .inner = 4704}, AT(OF(F_FC_ALL_GATHER, layer % 2)),
        AT(OF(F_FC_CONCAT, layer % 2)));
    // all_gather on tp: 0.0176 MiB, 6.12 us
    RT_AT(rt, "blocks.{}.out: start all_gather f32[48,192]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 1.84e4, .exchange = 6.12e-6);
    rt_start(WITH(F_WORK), 9 + layer % 2, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0,
        .outer = C, .whole = FC_SIZE, .inner = 1}, AT(OF(F_OUT_ALL_GATHER, layer % 2)),
        AT(OF(OUT_WEIGHT, layer)));
}

// blocks.{}, 3 times, 1 iteration later
static void blocks_predict_layer_skew1(Rt *rt, char *m, int64_t layer)
{
    rt->layer = layer;
    RT_AT(rt, "blocks.{}.ln1: reduce_sum mul sub reduce_sum ... f32[4,16,48]",
        .flops = 2.85e4, .reads = 2.5e4, .writes = 1.23e4, .seconds = 3.01e-6);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, .x0 = AT(OF(F_BLOCKS_OUT, (layer + 1) % 2)),
        .weight = AT(OF(LN1_WEIGHT, layer)), .bias = AT(OF(LN1_BIAS, layer)), .y0 = AT(F_LN1_OUT));
    RT_AT(rt, "blocks.{}.qkv: wait for all_gather f32[3,4,12,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 1 + layer % 2);
    RT_AT(rt, "blocks.{}.qkv: dot f32[4,16,3,4,12]",
        .flops = 8.85e5, .reads = 7.68e4, .writes = 3.69e4, .seconds = 3.13e-6);
    rt_dot(WITH(F_WORK_2), F_QKV_DOT_KERNEL, AT(F_QKV_DOT), AT(F_LN1_OUT),
        AT(OF(F_QKV_ALL_GATHER, layer % 2)));
    RT_AT(rt, "blocks.{}.qkv: wait for all_gather f32[3,4,12]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 3 + layer % 2);
    RT_AT(rt, "blocks.{}.qkv: add f32[4,16,3,4,12]",
        .flops = 9.22e3, .reads = 3.74e4, .writes = 3.69e4, .seconds = 3.03e-6);
    RT_ROWS(rt, qkv_predict, B * T, 3 * HEADS * HEAD_SIZE, .x0 = AT(F_QKV_DOT),
        .x1 = AT(OF(F_QKV_ALL_GATHER_2, layer % 2)), .y0 = AT(F_QKV_OUT));
    RT_AT(rt, "blocks.{}: attention f32[4,16,4,12]",
        .flops = 9.83e4, .reads = 5.12e4, .writes = 1.43e4, .seconds = 3.02e-6);
    rt_attention(WITH(F_WORK_2), &(RtAttention){.n_batch = 2, .batch = {B, HEADS}, .s = T, .t = T,
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
    RT_AT(rt, "blocks.{}.proj: wait for all_gather f32[48,4,12]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 5 + layer % 2);
    RT_AT(rt, "blocks.{}.proj: dot f32[4,16,48]",
        .flops = 2.95e5, .reads = 3.38e4, .writes = 1.23e4, .seconds = 3.04e-6);
    rt_dot(WITH(F_WORK_2), HEAD_DOT_KERNEL, AT(F_PROJ_DOT), AT(F_ATTENTION_OUT),
        AT(OF(F_PROJ_ALL_GATHER, layer % 2)));
    RT_AT(rt, "blocks.{}.ln2: add add reduce_sum mul sub ... f32[4,16,48]",
        .flops = 3.46e4, .reads = 3.74e4, .writes = 2.46e4, .seconds = 3.02e-6);
    RT_ROWS(rt, ln2_predict, B * T, 18 * C, .x0 = AT(F_PROJ_DOT), .bias = AT(OF(PROJ_BIAS, layer)),
        .x2 = AT(OF(F_BLOCKS_OUT, (layer + 1) % 2)), .weight = AT(OF(LN2_WEIGHT, layer)),
        .x4 = AT(OF(LN2_BIAS, layer)), .y0 = AT(F_BLOCKS_ADD), .y1 = AT(F_LN2_OUT));
    RT_AT(rt, "blocks.{}.fc: wait for all_gather f32[2,4704]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 7 + layer % 2);
    RT_AT(rt, "blocks.{}.fc: copy f32[2,4608]",
        .flops = 0, .reads = 7.37e4, .writes = 3.69e4, .seconds = 3.04e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 2, .dim = {2, 4608},
        .x_stride = {4704, 1}, .y_stride = {4608, 1}}, AT(F_FC_RESHAPE),
        AT(OF(F_FC_ALL_GATHER, layer % 2)));
    RT_AT(rt, "blocks.{}.fc: copy f32[2,96]",
        .flops = 0, .reads = 1.54e3, .writes = 768, .seconds = 3e-6);
    rt_copy(rt, &(RtCopy){.bytes = sizeof(float), .rank = 2, .dim = {2, 96}, .x_stride = {4704, 1},
        .y_stride = {96, 1}}, AT(F_FC_RESHAPE_2),
        AT(OF(F_FC_ALL_GATHER, layer % 2) + 4608 * sizeof(float)));
    RT_AT(rt, "blocks.{}.fc: dot f32[4,16,192]",
        .flops = 1.18e6, .reads = 9.83e4, .writes = 4.92e4, .seconds = 3.18e-6);
    rt_dot(WITH(F_WORK_2), F_FC_DOT_KERNEL, AT(F_FC_DOT), AT(F_LN2_OUT), AT(F_FC_RESHAPE));
    RT_AT(rt, "blocks.{}: add div erf add mul mul f32[4,16,192]",
        .flops = 2.83e5, .reads = 4.99e4, .writes = 4.92e4, .seconds = 3.03e-6);
    RT_ROWS(rt, gelu_predict, B * T, 6 * FC_SIZE, .x0 = AT(F_FC_DOT), .x1 = AT(F_FC_RESHAPE_2),
        .y0 = AT(F_GELU_OUT));
    RT_AT(rt, "blocks.{}.out: wait for all_gather f32[48,192]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 9 + layer % 2);
    RT_AT(rt, "blocks.{}.out: dot f32[4,16,48]",
        .flops = 1.18e6, .reads = 9.83e4, .writes = 1.23e4, .seconds = 3.18e-6);
    rt_dot(WITH(F_WORK_2), F_OUT_DOT_KERNEL, AT(F_OUT_DOT), AT(F_GELU_OUT),
        AT(OF(F_OUT_ALL_GATHER, layer % 2)));
    RT_AT(rt, "blocks.{}: add add f32[4,16,48]",
        .flops = 6.14e3, .reads = 3.71e4, .writes = 1.23e4, .seconds = 3.02e-6);
    RT_ROWS(rt, blocks_add_forward, B * T, 2 * C, .x0 = AT(F_OUT_DOT),
        .bias = AT(OF(OUT_BIAS, layer)), .x2 = AT(F_BLOCKS_ADD),
        .y0 = AT(OF(F_BLOCKS_OUT, layer % 2)));
}

static void forward(Rt *rt, char *m)
{
    RT_AT(rt, "wte: lt add select i64[4,16]",
        .flops = 192, .reads = 512, .writes = 512, .seconds = 3e-6);
    RT_ROWS(rt, wte_forward, B * T, 3, .x0 = AT(F_INPUT_IDS), .y0 = AT(F_WTE_SELECT));
    RT_AT(rt, "wte: gather f32[4,16,48]",
        .flops = 0, .reads = 2.51e4, .writes = 1.23e4, .seconds = 3.01e-6);
    rt_gather(rt, &(RtGather){.type = RT_F32, .index_type = RT_I64, .batch = 1, .outer = 1,
        .n = WTE_ROWS, .index = B * T, .inner = C, .whole = WTE_ROWS}, AT(F_WTE_OUT),
        AT(WTE_WEIGHT), AT(F_WTE_SELECT));
    RT_AT(rt, "node_add: add f32[4,16,48]",
        .flops = 3.07e3, .reads = 2.76e4, .writes = 1.23e4, .seconds = 3.01e-6);
    RT_ROWS(rt, add_forward, B, T * C, .x0 = AT(F_WTE_OUT), .weight = AT(WPE_WEIGHT),
        .y0 = AT(F_NODE_ADD_OUT));
    // all_gather on tp: 0.00879 MiB, 6.04 us
    RT_AT(rt, "head: start all_gather f32[96,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6, .axis = "tp",
        .sent = 9.22e3, .exchange = 6.04e-6);
    rt_start(WITH(F_WORK), 0, rt_all_gather, &(RtExchange){.type = RT_F32, .axis = 0, .outer = 1,
        .whole = VOCAB, .inner = C}, AT(F_HEAD_ALL_GATHER), AT(HEAD_WEIGHT));
    for (int64_t layer = 0; layer < LAYERS + 1; layer++) {
        if (layer < LAYERS)
            blocks_predict_layer(rt, m, layer);
        if (layer >= 1)
            blocks_predict_layer_skew1(rt, m, layer - 1);
    }
    RT_AT(rt, "ln: reduce_sum mul sub reduce_sum mul ... f32[4,16,48]",
        .flops = 2.85e4, .reads = 2.5e4, .writes = 1.23e4, .seconds = 3.01e-6);
    RT_ROWS(rt, ln_predict, B * T, 16 * C, .x0 = AT(OF(F_BLOCKS_OUT, 0)), .weight = AT(LN_WEIGHT),
        .bias = AT(LN_BIAS), .y0 = AT(F_LN_OUT));
    RT_AT(rt, "head: wait for all_gather f32[96,48]",
        .flops = 0, .reads = 0, .writes = 0, .seconds = 3e-6,
        .axis = "tp");
    rt_wait(rt, 0);
    RT_AT(rt, "head: dot f32[4,16,96]",
        .flops = 5.9e5, .reads = 5.53e4, .writes = 2.46e4, .seconds = 3.09e-6);
    rt_dot(WITH(F_WORK_2), FC_DOT_KERNEL, AT(F_LOGITS), AT(F_LN_OUT), AT(F_HEAD_ALL_GATHER));
    RT_AT(rt, "cross_entropy: eq not cast reduce_sum lt le or ... i64[4,16]",
        .flops = 768, .reads = 1.09e3, .writes = 580, .seconds = 3e-6);
    RT_ROWS(rt, cross_entropy_predict, 1, 14 * B * T, .x0 = AT(F_LABELS),
        .y0 = AT(F_CROSS_ENTROPY_EQ), .y1 = AT(F_COUNT), .y2 = AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: reduce_min i64[]",
        .flops = 64, .reads = 520, .writes = 8, .seconds = 3e-6);
    rt_reduce(rt, &(RtReduce){.op = RT_MIN, .type = RT_I64, .rank = 1, .dim = {B * T},
        .stride = {1}, .reduced = {1}}, AT(F_CROSS_ENTROPY_MIN), AT(F_CROSS_ENTROPY_SELECT));
    RT_AT(rt, "cross_entropy: mod i64[]",
        .flops = 10, .reads = 8, .writes = 8, .seconds = 3e-6);
    RT_ROWS(rt, cross_entropy_mod_forward, 1, 1, .x0 = AT(F_CROSS_ENTROPY_MIN),
        .y0 = AT(F_BAD_LABEL));
    RT_AT(rt, "cross_entropy: reduce_max f32[4,16]",
        .flops = 6.14e3, .reads = 2.48e4, .writes = 256, .seconds = 3.01e-6);
    rt_reduce(WITH(F_WORK_2), &(RtReduce){.op = RT_MAX, .type = RT_F32, .rank = 2,
        .dim = {B * T, VOCAB}, .stride = {VOCAB, 1}, .reduced = {0, 1}}, AT(F_CROSS_ENTROPY_MAX),
        AT(F_LOGITS));
    RT_AT(rt, "cross_entropy: sub exp reduce_sum log iota eq ... f32[4,16]",
        .flops = 9.29e4, .reads = 2.57e4, .writes = 256, .seconds = 3.01e-6);
    RT_ROWS(rt, cross_entropy_log_predict, B * T, 10 * VOCAB, .x0 = AT(F_LOGITS),
        .x1 = AT(F_CROSS_ENTROPY_MAX), .x2 = AT(F_LABELS), .x3 = AT(F_CROSS_ENTROPY_EQ),
        .y0 = AT(F_CROSS_ENTROPY_SELECT_2));
    RT_AT(rt, "cross_entropy: reduce_sum f32[]",
        .flops = 64, .reads = 260, .writes = 4, .seconds = 3e-6);
    rt_reduce(WITH(F_WORK_2), &(RtReduce){.type = RT_F32, .rank = 1, .dim = {B * T}, .stride = {1},
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

// blocks.{}.qkv: add; 64 rows of 72
static void qkv_bias_forward(const void *operands, int64_t first, int64_t last)
{
    const struct qkv_bias_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 72, *bias = p->bias;
        float *y0 = p->y0 + i0 * 72;
        RT_SIMD for (int64_t i = 0; i < 72; i++)
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

// blocks.{}: add div erf mul; 64 rows of 96; x0 fc
static void gelu_forward(const void *operands, int64_t first, int64_t last)
{
    const struct gelu_forward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 96, *bias = p->bias;
        float *y0 = p->y0 + i0 * 96;
        RT_SIMD for (int64_t i = 0; i < 96; i++) {
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

// grad_norm ln.bias, ln.weight and 5 more: mul reduce_sum; 48 elements
static void grad_norm(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw ln.weight, ln.bias and 14 more: mul sub add sqrt div
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

// grad_norm head.weight, blocks.{}.fc.weight and 2 more: mul reduce_sum
static void grad_norm_reduce_sum(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum *p = operands;
    float *y0 = p->y0;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 48;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// blocks.{}: add div erf mul neg exp; 64 rows of 96; x0 fc, x2 out
static void gelu_backward(const void *operands, int64_t first, int64_t last)
{
    const struct gelu_backward *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 96, *bias = p->bias, *x2 = p->x2 + i0 * 96;
        float *y0 = p->y0 + i0 * 96, *y1 = p->y1 + i0 * 96;
        RT_SIMD for (int64_t i = 0; i < 96; i++) {
            const float v1 = x0[i] + bias[i];
            const float v2 = v1 / 1.41421354f;
            const float v3 = 0.5f * (rt_erff(v2) + 1.0f);
            y1[i] = x2[i] * v3 + x2[i] * v1 * 0.5f * (rt_exp_lowf(-(v2 * v2)) * 1.12837923f) /
                1.41421354f;
            y0[i] = v1 * v3;
        }
    }
}

// grad_norm blocks.{}.out.weight: mul reduce_sum; 9216 elements; x0 grad_norm out.weight
static void grad_norm_reduce_sum_2(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_2 *p = operands;
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
        y0[0] = s0;
    }
}

// grad_norm blocks.{}.fc.bias, blocks.{}.qkv.bias and 1 more: mul reduce_sum
static void grad_norm_reduce_sum_3(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_3 *p = operands;
    const int64_t n0 = p->n0;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < n0; i++)
            s0 += x0[i] * x0[i];
        y0[0] = s0;
    }
}

// adamw blocks.{}.fc.bias: sub mul add; 192 elements; x0 blocks.{}.fc, x2 adamw, x3 adamw
static void adamw_add(const void *operands, int64_t first, int64_t last)
{
    const struct adamw_add *p = operands;
    const float *x0 = p->x0, *exp_avg = p->exp_avg, *exp_avg_sq = p->exp_avg_sq;
    const float x2 = p->x2[0], x3 = p->x3[0], beta2 = p->beta2[0];
    float *next_exp_avg = p->exp_avg, *next_exp_avg_sq = p->exp_avg_sq;
    RT_SIMD for (int64_t i = first; i < last; i++) {
        const float v1 = exp_avg[i] + (x0[i] - exp_avg[i]) * x3;
        next_exp_avg_sq[i] = exp_avg_sq[i] * beta2 + x0[i] * x0[i] * x2;
        next_exp_avg[i] = v1;
    }
}

// adamw blocks.{}.fc.bias: mul sqrt add div; 96 elements
static void adamw_div(const void *operands, int64_t first, int64_t last)
{
    const struct adamw_div *p = operands;
    const float *param = p->param, *x2 = p->x2, *x5 = p->x5;
    const float x1 = p->x1[0], x3 = p->x3[0], eps = p->eps[0], x6 = p->x6[0];
    float *next_param = p->param;
    RT_SIMD for (int64_t i = first; i < last; i++)
        next_param[i] = param[i] * x1 + x5[i] / (rt_sqrtf(x2[i]) * x3 + eps) * x6;
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

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12; x0 grad_norm weight
static void grad_norm_reduce_sum_4(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_reduce_sum_4 *p = operands;
    float *y0 = p->y0;
    for (int64_t i0 = first; i0 < last; i0++) {
        float s0 = 0;
        const float *x0 = p->x0 + i0 * 12;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 12; i++)
            s0 += x0[i] * x0[i];
        y0[i0] = s0;
    }
}

// grad_norm blocks.{}.ln1.bias: mul reduce_sum add; 48 elements
static void grad_norm_add(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add *p = operands;
    float *y0 = p->y0;
    for (int64_t r = first; r < last; r++) {
        float s0 = 0;
        const float *x0 = p->x0;
        RT_SIMD_SUM(s0) for (int64_t i = 0; i < 48; i++)
            s0 += x0[i] * x0[i];
        const float x1 = p->x1[0];
        y0[0] = s0 + x1;
    }
}

// grad_norm blocks.{}.out.bias: add; one number
static void grad_norm_add_2(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_add_2 *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0], x2 = p->x2[0], x3 = p->x3[0], x4 = p->x4[0],
        x5 = p->x5[0], x6 = p->x6[0], x7 = p->x7[0], x8 = p->x8[0], x9 = p->x9[0], x10 = p->x10[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10;
}

// grad_norm: add sqrt; one number
static void grad_norm_sqrt(const void *operands, int64_t first, int64_t last)
{
    const struct grad_norm_sqrt *p = operands;
    const float x0 = p->x0[0], x1 = p->x1[0], x2 = p->x2[0], x3 = p->x3[0], x4 = p->x4[0],
        x5 = p->x5[0];
    float *y0 = p->y0;
    RT_SIMD for (int64_t i = first; i < last; i++)
        y0[0] = rt_sqrtf(0.0f + x0 + x1 + x2 + x3 + x4 + x5);
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

// blocks.{}.qkv: add; 64 rows of 144
static void qkv_predict(const void *operands, int64_t first, int64_t last)
{
    const struct qkv_predict *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 144, *x1 = p->x1;
        float *y0 = p->y0 + i0 * 144;
        RT_SIMD for (int64_t i = 0; i < 144; i++)
            y0[i] = x0[i] + x1[i];
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

// blocks.{}: add div erf mul; 64 rows of 192; x0 fc, x1 fc
static void gelu_predict(const void *operands, int64_t first, int64_t last)
{
    const struct gelu_predict *p = operands;
    for (int64_t i0 = first; i0 < last; i0++) {
        const float *x0 = p->x0 + i0 * 192, *x1 = p->x1;
        float *y0 = p->y0 + i0 * 192;
        RT_SIMD for (int64_t i = 0; i < 192; i++) {
            const float v1 = x0[i] + x1[i];
            y0[i] = v1 * (0.5f * (rt_erff(v1 / 1.41421354f) + 1.0f));
        }
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
    rt_dot_init(rt, QKV_DOT_KERNEL, &(RtDot){.m = B * T, .n = 3 * HEADS / 2 * HEAD_SIZE, .k = C,
        .a_m = C, .a_k = 1, .b_k = 1, .b_n = C, .y_m = 3 * HEADS / 2 * HEAD_SIZE, .y_n = 1,
        .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, PROJ_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = HEADS / 2 * HEAD_SIZE,
        .a_m = HEADS / 2 * HEAD_SIZE, .a_k = 1, .b_k = 1, .b_n = HEADS / 2 * HEAD_SIZE, .y_m = C,
        .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    // blocks.{}.fc
    rt_dot_init(rt, FC_DOT_KERNEL, &(RtDot){.m = B * T, .n = FC_SIZE / 2, .k = C, .a_m = C,
        .a_k = 1, .b_k = 1, .b_n = C, .y_m = FC_SIZE / 2, .y_n = 1, .type = RT_F32});
    rt_dot_init(rt, OUT_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = FC_SIZE / 2,
        .a_m = FC_SIZE / 2, .a_k = 1, .b_k = 1, .b_n = FC_SIZE / 2, .y_m = C, .y_n = 1,
        .type = RT_F32});  // blocks.{}.out
    rt_dot_init(rt, HEAD_DOT_KERNEL, &(RtDot){.m = B * T, .n = VOCAB / 2, .k = C, .a_m = C,
        .a_k = 1, .b_k = 1, .b_n = C, .y_m = VOCAB / 2, .y_n = 1, .type = RT_F32});  // head
    // head
    rt_dot_init(rt, D_HEAD_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = VOCAB / 2,
        .a_m = VOCAB / 2, .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1, .type = RT_F32});
    rt_dot_init(rt, D_HEAD_WEIGHT_KERNEL, &(RtDot){.m = C, .n = VOCAB / 2, .k = B * T, .a_m = 1,
        .a_k = C, .b_k = VOCAB / 2, .b_n = 1, .y_m = 1, .y_n = C, .type = RT_F32});  // head
    // blocks.{}.out
    rt_dot_init(rt, D_OUT_IN_KERNEL, &(RtDot){.m = B * T, .n = FC_SIZE / 2, .k = C, .a_m = C,
        .a_k = 1, .b_k = FC_SIZE / 2, .b_n = 1, .y_m = FC_SIZE / 2, .y_n = 1, .type = RT_F32});
    // blocks.{}.out
    rt_dot_init(rt, D_OUT_WEIGHT_KERNEL, &(RtDot){.m = FC_SIZE / 2, .n = C, .k = B * T, .a_m = 1,
        .a_k = FC_SIZE / 2, .b_k = C, .b_n = 1, .y_m = 1, .y_n = FC_SIZE / 2, .type = RT_F32});
    // blocks.{}.fc
    rt_dot_init(rt, D_FC_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = FC_SIZE / 2,
        .a_m = FC_SIZE / 2, .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1, .type = RT_F32});
    // blocks.{}.fc
    rt_dot_init(rt, D_FC_WEIGHT_KERNEL, &(RtDot){.m = C, .n = FC_SIZE / 2, .k = B * T, .a_m = 1,
        .a_k = C, .b_k = FC_SIZE / 2, .b_n = 1, .y_m = 1, .y_n = C, .type = RT_F32});
    rt_dot_init(rt, D_PROJ_WEIGHT_KERNEL, &(RtDot){.m = HEADS / 2 * HEAD_SIZE, .n = C, .k = B * T,
        .a_m = 1, .a_k = HEADS / 2 * HEAD_SIZE, .b_k = C, .b_n = 1, .y_m = 1,
        .y_n = HEADS / 2 * HEAD_SIZE, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, D_PROJ_IN_KERNEL, &(RtDot){.m = B * T, .n = HEADS / 2 * HEAD_SIZE, .k = C,
        .a_m = C, .a_k = 1, .b_k = HEADS / 2 * HEAD_SIZE, .b_n = 1, .y_m = HEADS / 2 * HEAD_SIZE,
        .y_n = 1, .type = RT_F32});  // blocks.{}.proj
    rt_dot_init(rt, D_QKV_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = 3 * HEADS / 2 * HEAD_SIZE,
        .a_m = 3 * HEADS / 2 * HEAD_SIZE, .a_k = 1, .b_k = C, .b_n = 1, .y_m = C, .y_n = 1,
        .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, D_QKV_WEIGHT_KERNEL, &(RtDot){.m = C, .n = 3 * HEADS / 2 * HEAD_SIZE,
        .k = B * T, .a_m = 1, .a_k = C, .b_k = 3 * HEADS / 2 * HEAD_SIZE, .b_n = 1, .y_m = 1,
        .y_n = C, .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, F_QKV_DOT_KERNEL, &(RtDot){.m = B * T, .n = 3 * HEADS * HEAD_SIZE, .k = C,
        .a_m = C, .a_k = 1, .b_k = 1, .b_n = C, .y_m = 3 * HEADS * HEAD_SIZE, .y_n = 1,
        .type = RT_F32});  // blocks.{}.qkv
    rt_dot_init(rt, F_FC_DOT_KERNEL, &(RtDot){.m = B * T, .n = FC_SIZE, .k = C, .a_m = C, .a_k = 1,
        .b_k = 1, .b_n = C, .y_m = FC_SIZE, .y_n = 1, .type = RT_F32});  // blocks.{}.fc
    rt_dot_init(rt, F_OUT_DOT_KERNEL, &(RtDot){.m = B * T, .n = C, .k = FC_SIZE, .a_m = FC_SIZE,
        .a_k = 1, .b_k = 1, .b_n = FC_SIZE, .y_m = C, .y_n = 1, .type = RT_F32});  // blocks.{}.out
}

// Dims that are split over ranks; rt->shard[i] is this rank's shard of the i-th.
static const RtCut cuts[] = {
    {4, 1, {0}},  // 0: on tp
    {192, 1, {0}},  // 1: on tp
    {96, 1, {0}},  // 2: on tp
};

// Role, type, name, rank, shape and offset; of layers also how many, and the bytes between two.
static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "wte.weight", 2, {96, 48}, .at = 0},
    {RT_PARAMETER, RT_F32, "wpe.weight", 2, {16, 48}, .at = 18496},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.weight", 1, {48}, .at = 21632, 3, 192, .is_one = true},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln1.bias", 1, {48}, .at = 22272, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.weight", 2, {144, 48}, .at = 22912, 3, 13824,
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 1, 0, 0}},
    {RT_PARAMETER, RT_F32, "blocks.{}.qkv.bias", 1, {144}, .at = 64448, 3, 320, .n_parts = 3,
        .part = {3, 4, 12}, .cut = {0, 1, 0}},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.weight", 2, {48, 48}, .at = 65472, 3, 4608,
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 1, 0}},
    {RT_PARAMETER, RT_F32, "blocks.{}.proj.bias", 1, {48}, .at = 79360, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.weight", 1, {48}, .at = 80000, 3, 192, .is_one = true},
    {RT_PARAMETER, RT_F32, "blocks.{}.ln2.bias", 1, {48}, .at = 80640, 3, 192},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.weight", 2, {192, 48}, .at = 81280, 3, 18432,
        .n_parts = 2, .part = {192, 48}, .cut = {2, 0}},
    {RT_PARAMETER, RT_F32, "blocks.{}.fc.bias", 1, {192}, .at = 136640, 3, 384, .n_parts = 1,
        .part = {192}, .cut = {2}},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.weight", 2, {48, 192}, .at = 137856, 3, 18432,
        .n_parts = 2, .part = {48, 192}, .cut = {0, 2}},
    {RT_PARAMETER, RT_F32, "blocks.{}.out.bias", 1, {48}, .at = 193216, 3, 192},
    {RT_PARAMETER, RT_F32, "ln.weight", 1, {48}, .at = 193856, .is_one = true},
    {RT_PARAMETER, RT_F32, "ln.bias", 1, {48}, .at = 194112},
    {RT_PARAMETER, RT_F32, "head.weight", 2, {96, 48}, .at = 194368, .n_parts = 2,
        .part = {96, 48}, .cut = {3, 0}},
    {RT_HYPER, RT_F32, "lr", 0, {0}, .at = 203648, .fill = 0.001},
    {RT_HYPER, RT_F32, "beta1", 0, {0}, .at = 203776, .fill = 0.90000000000000002},
    {RT_HYPER, RT_F32, "step", 0, {0}, .at = 203904, .fill = 1.0},
    {RT_HYPER, RT_F32, "beta2", 0, {0}, .at = 204032, .fill = 0.999},
    {RT_HYPER, RT_F32, "eps", 0, {0}, .at = 204160, .fill = 1e-08},
    {RT_HYPER, RT_F32, "weight_decay", 0, {0}, .at = 204288, .fill = 0.01},
    {RT_STATE, RT_F32, "wte.weight.exp_avg", 2, {96, 48}, .at = 204416},
    {RT_STATE, RT_F32, "wte.weight.exp_avg_sq", 2, {96, 48}, .at = 222912},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg", 2, {16, 48}, .at = 241408},
    {RT_STATE, RT_F32, "wpe.weight.exp_avg_sq", 2, {16, 48}, .at = 244544},
    {RT_STATE, RT_F32, "ln.weight.exp_avg", 1, {48}, .at = 247680},
    {RT_STATE, RT_F32, "ln.weight.exp_avg_sq", 1, {48}, .at = 247936},
    {RT_STATE, RT_F32, "ln.bias.exp_avg", 1, {48}, .at = 248192},
    {RT_STATE, RT_F32, "ln.bias.exp_avg_sq", 1, {48}, .at = 248448},
    {RT_STATE, RT_F32, "head.weight.exp_avg", 2, {96, 48}, .at = 248704, .n_parts = 2,
        .part = {96, 48}, .cut = {3, 0}},
    {RT_STATE, RT_F32, "head.weight.exp_avg_sq", 2, {96, 48}, .at = 257984, .n_parts = 2,
        .part = {96, 48}, .cut = {3, 0}},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg", 1, {48}, .at = 267264, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.weight.exp_avg_sq", 1, {48}, .at = 267904, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg", 1, {48}, .at = 268544, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln1.bias.exp_avg_sq", 1, {48}, .at = 269184, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg", 2, {144, 48}, .at = 269824, 3, 13824,
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 1, 0, 0}},
    {RT_STATE, RT_F32, "blocks.{}.qkv.weight.exp_avg_sq", 2, {144, 48}, .at = 311360, 3, 13824,
        .n_parts = 4, .part = {3, 4, 12, 48}, .cut = {0, 1, 0, 0}},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg", 1, {144}, .at = 352896, 3, 320, .n_parts = 3,
        .part = {3, 4, 12}, .cut = {0, 1, 0}},
    {RT_STATE, RT_F32, "blocks.{}.qkv.bias.exp_avg_sq", 1, {144}, .at = 353920, 3, 320,
        .n_parts = 3, .part = {3, 4, 12}, .cut = {0, 1, 0}},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg", 2, {48, 48}, .at = 354944, 3, 4608,
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 1, 0}},
    {RT_STATE, RT_F32, "blocks.{}.proj.weight.exp_avg_sq", 2, {48, 48}, .at = 368832, 3, 4608,
        .n_parts = 3, .part = {48, 4, 12}, .cut = {0, 1, 0}},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg", 1, {48}, .at = 382720, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.proj.bias.exp_avg_sq", 1, {48}, .at = 383360, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg", 1, {48}, .at = 384000, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.weight.exp_avg_sq", 1, {48}, .at = 384640, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg", 1, {48}, .at = 385280, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.ln2.bias.exp_avg_sq", 1, {48}, .at = 385920, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg", 2, {192, 48}, .at = 386560, 3, 18432,
        .n_parts = 2, .part = {192, 48}, .cut = {2, 0}},
    {RT_STATE, RT_F32, "blocks.{}.fc.weight.exp_avg_sq", 2, {192, 48}, .at = 441920, 3, 18432,
        .n_parts = 2, .part = {192, 48}, .cut = {2, 0}},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg", 1, {192}, .at = 497280, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.fc.bias.exp_avg_sq", 1, {192}, .at = 499648, 3, 768},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg", 2, {48, 192}, .at = 502016, 3, 18432,
        .n_parts = 2, .part = {48, 192}, .cut = {0, 2}},
    {RT_STATE, RT_F32, "blocks.{}.out.weight.exp_avg_sq", 2, {48, 192}, .at = 557376, 3, 18432,
        .n_parts = 2, .part = {48, 192}, .cut = {0, 2}},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg", 1, {48}, .at = 612736, 3, 192},
    {RT_STATE, RT_F32, "blocks.{}.out.bias.exp_avg_sq", 1, {48}, .at = 613376, 3, 192},
};

static const RtTensor train_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 4109888, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 4009216, .is_labels = true},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 4110976},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 4110720},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 4110848},
    {RT_GRADIENT, RT_F32, "wte.weight", 2, {96, 48}, .gradient = 0},
    {RT_GRADIENT, RT_F32, "wpe.weight", 2, {16, 48}, .gradient = 1},
    {RT_GRADIENT, RT_F32, "ln.weight", 1, {48}, .gradient = 2},
    {RT_GRADIENT, RT_F32, "ln.bias", 1, {48}, .gradient = 3},
    {RT_GRADIENT, RT_F32, "head.weight", 2, {96, 48}, .n_parts = 2, .part = {96, 48},
        .cut = {3, 0}, .gradient = 4},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.weight", 1, {48}, .layers = 3, .gradient = 5},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln1.bias", 1, {48}, .layers = 3, .gradient = 6},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.weight", 2, {144, 48}, .layers = 3, .n_parts = 4,
        .part = {3, 4, 12, 48}, .cut = {0, 1, 0, 0}, .gradient = 7},
    {RT_GRADIENT, RT_F32, "blocks.{}.qkv.bias", 1, {144}, .layers = 3, .n_parts = 3,
        .part = {3, 4, 12}, .cut = {0, 1, 0}, .gradient = 8},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.weight", 2, {48, 48}, .layers = 3, .n_parts = 3,
        .part = {48, 4, 12}, .cut = {0, 1, 0}, .gradient = 9},
    {RT_GRADIENT, RT_F32, "blocks.{}.proj.bias", 1, {48}, .layers = 3, .gradient = 10},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.weight", 1, {48}, .layers = 3, .gradient = 11},
    {RT_GRADIENT, RT_F32, "blocks.{}.ln2.bias", 1, {48}, .layers = 3, .gradient = 12},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.weight", 2, {192, 48}, .layers = 3, .n_parts = 2,
        .part = {192, 48}, .cut = {2, 0}, .gradient = 13},
    {RT_GRADIENT, RT_F32, "blocks.{}.fc.bias", 1, {192}, .layers = 3, .gradient = 14},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.weight", 2, {48, 192}, .layers = 3, .n_parts = 2,
        .part = {48, 192}, .cut = {0, 2}, .gradient = 15},
    {RT_GRADIENT, RT_F32, "blocks.{}.out.bias", 1, {48}, .layers = 3, .gradient = 16},
    {RT_GRAD_NORM, RT_F32, "grad_norm", 0, {0}, .at = 633536},
};

static const RtTensor predict_tensors[] = {
    {RT_INPUT, RT_I64, "input_ids", 2, {4, 16}, .at = 626368, .least = -96, .bound = 96},
    {RT_INPUT, RT_I64, "labels", 2, {4, 16}, .at = 7257728, .is_labels = true,
        .is_for_loss = true},
    {RT_OUTPUT, RT_F32, "logits", 3, {4, 16, 96}, .at = 650944},
    {RT_LOSS_SUM, RT_F32, "loss", 0, {0}, .at = 614912},
    {RT_LOSS_COUNT, RT_F32, "count", 0, {0}, .at = 647296},
    {RT_BAD_LABEL, RT_I64, "bad_label", 0, {0}, .at = 647424},
};

// Buffers of a step and of forward: name, bytes, first and last statement of the live range. Begins
// and ends of loops count as statements. --check-arena uses the table.
#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}
#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}
static void live_ranges(Rt *rt)
{
    rt_live_ranges(rt, RT_TRAINING, (RtLiveRange[]){
        LIVE(INPUT_IDS, 512, 0, 126), LIVE(LABELS, 512, 0, 27), LIVE(WTE_SELECT, 512, 0, 1),
        LIVE(WTE_OUT, 12288, 1, 2), STACK(LN1_MEAN, 768, 3, 117),
        STACK(LN1_SQUARES, 768, 3, 117), LIVE(LN1_OUT, 12288, 4, 5), LIVE(QKV_DOT, 18432, 5, 6),
        STACK(QKV_OUT, 55296, 3, 117), STACK(ATTENTION_OUT, 18432, 3, 117),
        STACK(BLOCKS_ATTENTION_MAX, 1536, 3, 117), STACK(BLOCKS_ATTENTION_SUM, 1536, 3, 117),
        LIVE(LN2_OUT, 12288, 8, 11), STACK(BLOCKS_ADD, 36864, 3, 117),
        STACK(LN2_MEAN, 768, 3, 117), STACK(LN2_SQUARES, 768, 3, 117),
        STACK(FC_DOT, 73728, 3, 117), LIVE(GELU_OUT, 24576, 12, 13), LIVE(OUT_DOT, 12288, 13, 15),
        LIVE(NODE_ADD_OUT, 49152, 2, 117), LIVE(LN_MEAN, 256, 17, 33), LIVE(LN_RSTD, 256, 17, 33),
        LIVE(LN_OUT, 12288, 17, 18), LIVE(HEAD_DOT, 12288, 18, 23), LIVE(HEAD_OUT, 24576, 19, 28),
        LIVE(CROSS_ENTROPY_EQ, 64, 20, 27), LIVE(COUNT, 64, 20, 131),
        LIVE(CROSS_ENTROPY_SELECT, 512, 20, 21), LIVE(BAD_LABEL, 64, 21, 131),
        LIVE(CROSS_ENTROPY_MAX, 256, 24, 27), LIVE(CROSS_ENTROPY_SUM, 256, 25, 27),
        LIVE(CROSS_ENTROPY_SELECT_2, 256, 25, 26), LIVE(LOSS, 64, 26, 131),
        LIVE(D_CROSS_ENTROPY_DIV, 64, 20, 27), LIVE(D_HEAD_SHARD, 12288, 28, 38),
        LIVE(D_HEAD_IN, 12288, 29, 34), LIVE(D_LN_BIAS, 192, 34, 42),
        LIVE(RECOMPUTED_LN_SUB, 12288, 33, 41), LIVE(D_LN_MUL_3, 12288, 33, 36),
        LIVE(D_LN_WEIGHT, 192, 36, 40), LIVE(D_LN_MUL, 12288, 33, 41),
        LIVE(RECOMPUTED_LN_STD, 256, 17, 33), LIVE(LN_MUL, 256, 17, 33),
        LIVE(D_LN_MUL_4, 256, 33, 41), LIVE(RECOMPUTED_LN_OUT, 12288, 33, 38),
        LIVE(D_HEAD_WEIGHT, 9216, 38, 44), LIVE(D_LN_MUL_2, 256, 33, 41),
        LIVE(D_OUT_BIAS, 192, 48, 50), LIVE(D_OUT_IN, 24576, 51, 53),
        LIVE(D_OUT_WEIGHT, 18432, 53, 59), LIVE(D_BLOCKS_IN, 24576, 52, 74),
        LIVE(D_FC_SUM, 384, 55, 61), LIVE(D_FC_BIAS, 768, 56, 64), LIVE(D_FC_IN, 12288, 58, 70),
        LIVE(D_LN2_BIAS, 192, 70, 78), LIVE(D_LN2_IN, 12288, 69, 110),
        LIVE(D_LN2_MUL_2, 12288, 69, 72), LIVE(D_LN2_WEIGHT, 192, 72, 76),
        LIVE(D_LN2_MUL_3, 12288, 69, 77), LIVE(D_LN2_MUL_4, 256, 69, 77),
        LIVE(RECOMPUTED_LN2_OUT, 12288, 69, 74), LIVE(D_FC_WEIGHT, 18432, 74, 82),
        LIVE(D_LN2_MUL, 256, 69, 77), LIVE(D_PROJ_BIAS, 192, 80, 87),
        LIVE(D_PROJ_IN, 6144, 88, 90), LIVE(D_PROJ_WEIGHT, 4608, 84, 93),
        LIVE(D_QKV_CONCAT, 18432, 90, 107), LIVE(D_QKV_BIAS, 320, 91, 99),
        LIVE(D_QKV_IN, 12288, 96, 103), LIVE(D_LN1_BIAS, 192, 103, 111),
        LIVE(RECOMPUTED_LN1_SUB, 12288, 102, 110), LIVE(D_LN1_MUL_2, 12288, 102, 105),
        LIVE(D_LN1_WEIGHT, 192, 105, 109), LIVE(D_LN1_MUL_3, 12288, 102, 110),
        LIVE(D_LN1_MUL_4, 256, 102, 110), LIVE(RECOMPUTED_LN1_OUT, 12288, 102, 107),
        LIVE(D_QKV_WEIGHT, 13824, 107, 113), LIVE(D_LN1_MUL, 256, 102, 110),
        STACK(D_LN1_IN, 24576, 41, 126), LIVE(D_WPE_WEIGHT, 3072, 122, 124),
        LIVE(D_WTE_WEIGHT, 18432, 126, 130), LIVE(GRAD_NORM_WTE_WEIGHT_SUM, 384, 127, 128),
        LIVE(GRAD_NORM, 64, 128, 131), LIVE(GRAD_NORM_WPE_WEIGHT_SUM, 64, 123, 129),
        LIVE(GRAD_NORM_LN_WEIGHT_SUM, 64, 37, 129), LIVE(GRAD_NORM_LN_BIAS_SUM, 64, 35, 129),
        LIVE(GRAD_NORM_HEAD_WEIGHT_ALL_GATHER, 18432, 39, 45),
        LIVE(GRAD_NORM_HEAD_WEIGHT_SUM, 384, 45, 46),
        LIVE(GRAD_NORM_HEAD_WEIGHT_SUM_2, 64, 46, 129),
        LIVE(GRAD_NORM_LN1_BIAS_SUM, 64, 104, 106), LIVE(GRAD_NORM_LN1_BIAS_ADD, 64, 106, 116),
        LIVE(GRAD_NORM_QKV_WEIGHT_ALL_GATHER, 27648, 108, 114),
        LIVE(GRAD_NORM_QKV_WEIGHT_SUM, 576, 114, 115),
        LIVE(GRAD_NORM_QKV_WEIGHT_SUM_2, 64, 115, 116),
        LIVE(GRAD_NORM_QKV_BIAS_ALL_GATHER, 576, 92, 100),
        LIVE(GRAD_NORM_QKV_BIAS_SUM, 64, 100, 116),
        LIVE(GRAD_NORM_PROJ_WEIGHT_ALL_GATHER, 9216, 85, 94),
        LIVE(GRAD_NORM_PROJ_WEIGHT_SUM, 768, 94, 95),
        LIVE(GRAD_NORM_PROJ_WEIGHT_SUM_2, 64, 95, 116),
        LIVE(GRAD_NORM_PROJ_BIAS_SUM, 64, 81, 116), LIVE(GRAD_NORM_LN2_WEIGHT_SUM, 64, 73, 116),
        LIVE(GRAD_NORM_LN2_BIAS_SUM, 64, 71, 116),
        LIVE(GRAD_NORM_FC_WEIGHT_ALL_GATHER, 36864, 75, 83),
        LIVE(GRAD_NORM_FC_WEIGHT_SUM, 768, 83, 86), LIVE(GRAD_NORM_FC_WEIGHT_SUM_2, 64, 86, 116),
        LIVE(GRAD_NORM_FC_BIAS_SUM, 64, 63, 116),
        LIVE(GRAD_NORM_OUT_WEIGHT_ALL_GATHER, 36864, 54, 60),
        LIVE(GRAD_NORM_OUT_WEIGHT_SUM, 64, 60, 116), LIVE(GRAD_NORM_OUT_BIAS_SUM, 64, 49, 116),
        STACK(GRAD_NORM_OUT_BIAS_ADD, 192, 47, 120), STACK(GRAD_NORM_CONCAT, 64, 118, 121),
        LIVE(GRAD_NORM_SUM, 64, 121, 129), LIVE(ADAMW_NEG, 64, 31, 130),
        LIVE(ADAMW_SUB, 64, 31, 130), LIVE(ADAMW_SUB_2, 64, 31, 130),
        LIVE(ADAMW_CAST, 64, 31, 130), LIVE(ADAMW_SUB_3, 64, 31, 130),
        LIVE(ADAMW_FC_BIAS_SHARD, 384, 65, 67), LIVE(ADAMW_FC_BIAS_SHARD_2, 384, 66, 67),
        LIVE(WORK, 73984, 19, 117), LIVE(WORK_2, 36864, 5, 5), LIVE(WORK_2, 3105792, 7, 7),
        LIVE(WORK_2, 12288, 8, 8), LIVE(WORK_2, 24832, 9, 9), LIVE(WORK_2, 36864, 11, 11),
        LIVE(WORK_2, 36864, 13, 13), LIVE(WORK_2, 24832, 14, 14), LIVE(WORK_2, 24576, 18, 18),
        LIVE(WORK_2, 32768, 24, 24), LIVE(WORK_2, 512, 26, 26), LIVE(WORK_2, 49408, 28, 28),
        LIVE(WORK_2, 24576, 29, 29), LIVE(WORK_2, 24576, 34, 34), LIVE(WORK_2, 24576, 36, 36),
        LIVE(WORK_2, 24576, 38, 38), LIVE(WORK_2, 512, 46, 46), LIVE(WORK_2, 24576, 48, 48),
        LIVE(WORK_2, 36864, 51, 51), LIVE(WORK_2, 36864, 53, 53), LIVE(WORK_2, 49152, 55, 55),
        LIVE(WORK_2, 36864, 58, 58), LIVE(WORK_2, 1792, 65, 65), LIVE(WORK_2, 1792, 66, 66),
        LIVE(WORK_2, 24576, 70, 70), LIVE(WORK_2, 24576, 72, 72), LIVE(WORK_2, 24576, 74, 74),
        LIVE(WORK_3, 24576, 80, 80), LIVE(WORK_2, 12288, 84, 84), LIVE(WORK_2, 512, 86, 86),
        LIVE(WORK_2, 12288, 88, 88), LIVE(WORK_2, 3105792, 90, 90), LIVE(WORK_2, 36864, 91, 91),
        LIVE(WORK_4, 512, 95, 95), LIVE(WORK_2, 36864, 96, 96), LIVE(WORK_2, 24576, 103, 103),
        LIVE(WORK_2, 24576, 105, 105), LIVE(WORK_2, 24576, 107, 107), LIVE(WORK_2, 512, 115, 115),
        LIVE(WORK_2, 512, 121, 121), LIVE(WORK_2, 393216, 122, 122), LIVE(WORK_5, 1280, 126, 126),
        LIVE(WORK_5, 512, 128, 128),
        {0}}, (RtLoop[]){{3, 16, 3, {0}}, {47, 117, 3, {0}}, {118, 120, 3, {0}}, {0}});
    rt_live_ranges(rt, RT_FORWARD, (RtLiveRange[]){
        LIVE(F_INPUT_IDS, 512, 0, 1), LIVE(F_LABELS, 512, 0, 37), LIVE(F_WTE_OUT, 12288, 1, 2),
        LIVE(F_LN1_OUT, 12288, 12, 14), STACK(F_QKV_ALL_GATHER, 55296, 4, 29),
        LIVE(F_QKV_OUT, 36864, 14, 17), STACK(F_QKV_ALL_GATHER_2, 1152, 4, 29),
        LIVE(F_ATTENTION_OUT, 12288, 17, 19), LIVE(F_BLOCKS_ATTENTION_MAX, 1024, 17, 17),
        LIVE(F_BLOCKS_ATTENTION_SUM, 1024, 17, 17), STACK(F_PROJ_ALL_GATHER, 18432, 4, 29),
        LIVE(F_LN2_OUT, 12288, 19, 24), LIVE(F_BLOCKS_ADD, 12288, 20, 28),
        STACK(F_FC_CONCAT, 37632, 4, 29), STACK(F_FC_ALL_GATHER, 75264, 4, 29),
        LIVE(F_FC_RESHAPE, 36864, 22, 24), LIVE(F_FC_RESHAPE_2, 768, 23, 25),
        LIVE(F_GELU_OUT, 49152, 24, 27), STACK(F_OUT_ALL_GATHER, 73728, 4, 29),
        LIVE(F_OUT_DOT, 12288, 27, 28), STACK(F_BLOCKS_OUT, 24576, 2, 30),
        LIVE(F_LN_OUT, 12288, 30, 32), LIVE(F_HEAD_ALL_GATHER, 18432, 3, 32),
        LIVE(F_LOGITS, 24576, 32, 39), LIVE(F_CROSS_ENTROPY_EQ, 64, 33, 37),
        LIVE(F_COUNT, 64, 33, 39), LIVE(F_CROSS_ENTROPY_SELECT, 512, 33, 34),
        LIVE(F_BAD_LABEL, 64, 34, 39), LIVE(F_CROSS_ENTROPY_MAX, 256, 36, 37),
        LIVE(F_CROSS_ENTROPY_SELECT_2, 256, 37, 38), LIVE(F_LOSS, 64, 38, 39),
        LIVE(F_WORK, 75520, 3, 31), LIVE(F_WORK_2, 61440, 14, 14), LIVE(F_WORK_2, 6211584, 17, 17),
        LIVE(F_WORK_2, 24576, 19, 19), LIVE(F_WORK_2, 73728, 24, 24), LIVE(F_WORK_2, 73728, 27, 27),
        LIVE(F_WORK_2, 36864, 32, 32), LIVE(F_WORK_2, 32768, 36, 36), LIVE(F_WORK_2, 512, 38, 38),
        {0}}, (RtLoop[]){{4, 29, 4, {12}}, {0}});
}

static const RtModel model = {
    .name = "nanogpt",
    .options = "shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --op"
               "timizer adamw --ranks 2 --mesh tp=2 --plan-preset megatron --marc"
               "h x86-64-v3 --cluster h100x2",
    .plan = "2 ranks as tp=2, arena 7258304 bytes, bound 7258304",
    .plan_hash = 0x8c51157ff6cb850a,
    .arena_bytes = 7258304,
    .slots = 11,
    .n_kernels = 18,
    .threads = 64,
    .accumulate = 1,
    .init_std = 0,
    .flops = 34504704,
    .vocabulary = 96,
    .peak = 4.69e+13,
    .ignores = true,
    .ignored_label = -100,
    .mesh = {1, {2}, {"tp"}},
    .transport = &rt_mpi,
    .cuts = cuts,
    .n_cuts = sizeof cuts / sizeof *cuts,
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
    .forward = forward,
    .identity = 0xe6f8dff58f7ee843,
};

int main(int argc, char **argv)
{
    rt_limit_spinning(argv);
    return rt_main(&model, argc, argv);
}
