// The kernels, and the fields of their parameters in the order of their texts.
#include <string.h>

#include "ir/kernel.h"

#define FIELD(T, f, kind)                                                                          \
    {                                                                                              \
        .name = #f, .type = PARAM_##kind, .at = offsetof(T, f)                                     \
    }
#define OPTIONAL(T, f, kind)                                                                       \
    {                                                                                              \
        .name = #f, .type = PARAM_##kind, .at = offsetof(T, f), .is_optional = true                \
    }
// A list whose length is the int `count` of the struct W. T is W, or a struct in it.
#define LIST_IN(T, f, kind, W, count)                                                              \
    {                                                                                              \
        .name = #f, .type = PARAM_##kind, .at = offsetof(T, f), .capacity = COUNT(((T *)NULL)->f), \
        .n_at = offsetof(W, count)                                                                 \
    }
#define LIST(T, f, kind, count) LIST_IN(T, f, kind, T, count)

static const ParamField dot_fields[] = {
    FIELD(RtDot, m, SIZE),
    FIELD(RtDot, n, SIZE),
    FIELD(RtDot, k, SIZE),
    FIELD(RtDot, a_m, SIZE),
    FIELD(RtDot, a_k, SIZE),
    FIELD(RtDot, b_k, SIZE),
    FIELD(RtDot, b_n, SIZE),
    FIELD(RtDot, y_m, SIZE),
    FIELD(RtDot, y_n, SIZE),
    OPTIONAL(RtDot, n_batch, INT),
    LIST(RtDot, batch, SIZE, n_batch),
    LIST(RtDot, a_batch, SIZE, n_batch),
    LIST(RtDot, b_batch, SIZE, n_batch),
    LIST(RtDot, y_batch, SIZE, n_batch),
    FIELD(RtDot, type, TYPE),
    OPTIONAL(RtDot, result, TYPE),
};

static const ParamField window_fields[] = {
    FIELD(RtWindow, n, INT),
    LIST_IN(RtWindow, size, SIZE, RtConv, window.n),
    LIST_IN(RtWindow, stride, SIZE, RtConv, window.n),
    LIST_IN(RtWindow, low, SIZE, RtConv, window.n),
    LIST_IN(RtWindow, high, SIZE, RtConv, window.n),
    LIST_IN(RtWindow, dilation, SIZE, RtConv, window.n),
};
static const ParamTable window_table = {window_fields, COUNT(window_fields), sizeof(RtWindow),
                                        true};

static const ParamField conv_fields[] = {
    {.name = "window", .type = PARAM_STRUCT, .at = offsetof(RtConv, window), .of = &window_table},
    FIELD(RtConv, n, SIZE),
    FIELD(RtConv, c, SIZE),
    OPTIONAL(RtConv, o, SIZE),
    OPTIONAL(RtConv, groups, SIZE),
    LIST(RtConv, x_dim, SIZE, window.n),
    LIST(RtConv, y_dim, SIZE, window.n),
    OPTIONAL(RtConv, x_last, FLAG),
    OPTIONAL(RtConv, y_last, FLAG),
    OPTIONAL(RtConv, type, TYPE),
    OPTIONAL(RtConv, result, TYPE),
};

static const ParamField strides_fields[] = {
    LIST_IN(RtStrides, batch, SIZE, RtAttention, n_batch),
    LIST_IN(RtStrides, group, SIZE, RtAttention, n_group),
    FIELD(RtStrides, row, SIZE),
    FIELD(RtStrides, col, SIZE),
};
static const ParamTable strides_table = {strides_fields, COUNT(strides_fields), sizeof(RtStrides),
                                         false};

#define STRIDES(f)                                                                                 \
    {                                                                                              \
        .name = #f, .type = PARAM_STRUCT, .at = offsetof(RtAttention, f), .is_optional = true,     \
        .of = &strides_table                                                                       \
    }

static const ParamField attention_fields[] = {
    FIELD(RtAttention, n_batch, INT),
    LIST(RtAttention, batch, SIZE, n_batch),
    OPTIONAL(RtAttention, n_group, INT),
    LIST(RtAttention, group, SIZE, n_group),
    FIELD(RtAttention, s, SIZE),
    FIELD(RtAttention, t, SIZE),
    FIELD(RtAttention, e, SIZE),
    FIELD(RtAttention, f, SIZE),
    STRIDES(q),
    STRIDES(k),
    STRIDES(v),
    STRIDES(bias),
    STRIDES(drop),
    STRIDES(y),
    STRIDES(max),
    STRIDES(sum),
    STRIDES(dy),
    STRIDES(dq),
    STRIDES(dk),
    STRIDES(dv),
    OPTIONAL(RtAttention, offset, SIZE),
    OPTIONAL(RtAttention, drop_at, SIZE),
    OPTIONAL(RtAttention, has_bias, FLAG),
    OPTIONAL(RtAttention, bool_bias, FLAG),
    OPTIONAL(RtAttention, causal, FLAG),
    OPTIONAL(RtAttention, window, SIZE),
    FIELD(RtAttention, scale, REAL),
    OPTIONAL(RtAttention, outside, REAL),
    OPTIONAL(RtAttention, hidden, REAL),
    OPTIONAL(RtAttention, outside_added, FLAG),
    OPTIONAL(RtAttention, hidden_added, FLAG),
    OPTIONAL(RtAttention, order, INT),
    OPTIONAL(RtAttention, guard, INT),
    OPTIONAL(RtAttention, drops, FLAG),
    OPTIONAL(RtAttention, rate, REAL),
    OPTIONAL(RtAttention, site, SIZE),
    OPTIONAL(RtAttention, layer, SIZE),
    OPTIONAL(RtAttention, micro_step, SIZE),
    OPTIONAL(RtAttention, type, TYPE),
};

static const ParamField reduce_fields[] = {
    OPTIONAL(RtReduce, op, OP),         FIELD(RtReduce, type, TYPE),
    FIELD(RtReduce, rank, INT),         LIST(RtReduce, dim, SIZE, rank),
    LIST(RtReduce, stride, SIZE, rank), LIST(RtReduce, reduced, FLAG, rank),
};

#define GATHERED                                                                                   \
    FIELD(RtGather, type, TYPE), FIELD(RtGather, index_type, TYPE), FIELD(RtGather, batch, SIZE),  \
        FIELD(RtGather, outer, SIZE), FIELD(RtGather, n, SIZE), FIELD(RtGather, index, SIZE),      \
        FIELD(RtGather, inner, SIZE), OPTIONAL(RtGather, offset, SIZE),                            \
        FIELD(RtGather, whole, SIZE)
static const ParamField gather_fields[] = {GATHERED};
static const ParamField scatter_fields[] = {GATHERED, OPTIONAL(RtGather, op, OP)};

static const ParamField grid_fields[] = {
    FIELD(RtGrid, type, TYPE),      OPTIONAL(RtGrid, mode, INT),
    OPTIONAL(RtGrid, outside, INT), OPTIONAL(RtGrid, corners, FLAG),
    FIELD(RtGrid, spatial, INT),    FIELD(RtGrid, n, SIZE),
    FIELD(RtGrid, c, SIZE),         LIST(RtGrid, dim, SIZE, spatial),
    FIELD(RtGrid, points, SIZE),
};

#define ALONG                                                                                      \
    FIELD(RtAlong, type, TYPE), FIELD(RtAlong, outer, SIZE), FIELD(RtAlong, n, SIZE),              \
        FIELD(RtAlong, inner, SIZE)
static const ParamField along_fields[] = {ALONG};
static const ParamField cumsum_fields[] = {
    ALONG,
    OPTIONAL(RtAlong, exclusive, FLAG),
    OPTIONAL(RtAlong, reverse, FLAG),
};
static const ParamField top_k_fields[] = {ALONG, FIELD(RtAlong, k, SIZE)};

static const ParamField resample_fields[] = {
    FIELD(RtResample, type, TYPE),       FIELD(RtResample, outer, SIZE),
    FIELD(RtResample, n, SIZE),          FIELD(RtResample, size, SIZE),
    FIELD(RtResample, inner, SIZE),      FIELD(RtResample, mode, MODE),
    OPTIONAL(RtResample, shift, DOUBLE), FIELD(RtResample, mul, DOUBLE),
    FIELD(RtResample, div, DOUBLE),      OPTIONAL(RtResample, offset, DOUBLE),
    OPTIONAL(RtResample, cubic, DOUBLE), FIELD(RtResample, stretch, DOUBLE),
    OPTIONAL(RtResample, exclude, FLAG), OPTIONAL(RtResample, transposed, FLAG),
};

static const ParamField dft_fields[] = {
    FIELD(RtDft, type, TYPE), FIELD(RtDft, rows, SIZE),       FIELD(RtDft, n, SIZE),
    FIELD(RtDft, have, SIZE), FIELD(RtDft, size, SIZE),       FIELD(RtDft, c, INT),
    FIELD(RtDft, parts, INT), OPTIONAL(RtDft, inverse, FLAG),
};

#define AXIS FIELD(RtExchange, axis, INT)
#define EXCHANGED                                                                                  \
    FIELD(RtExchange, outer, SIZE), FIELD(RtExchange, whole, SIZE), FIELD(RtExchange, inner, SIZE)
static const ParamField exchange_fields[] = {FIELD(RtExchange, type, TYPE), AXIS, EXCHANGED};
static const ParamField reduction_fields[] = {
    FIELD(RtExchange, type, TYPE),
    FIELD(RtExchange, op, OP),
    AXIS,
    EXCHANGED,
};
static const ParamField permute_fields[] = {
    FIELD(RtExchange, type, TYPE),
    AXIS,
    FIELD(RtExchange, other, INT),
    EXCHANGED,
};
static const ParamField all_to_all_fields[] = {
    FIELD(RtExchange, type, TYPE),   AXIS,
    FIELD(RtExchange, outer, SIZE),  FIELD(RtExchange, whole, SIZE),
    FIELD(RtExchange, middle, SIZE), FIELD(RtExchange, joined, SIZE),
    FIELD(RtExchange, inner, SIZE),  OPTIONAL(RtExchange, joins_first, FLAG),
};

static const ParamField copy_fields[] = {
    FIELD(RtCopy, bytes, INT),          FIELD(RtCopy, rank, INT),
    LIST(RtCopy, dim, SIZE, rank),      LIST(RtCopy, x_stride, SIZE, rank),
    LIST(RtCopy, y_stride, SIZE, rank),
};

static const ParamField pad_fields[] = {
    FIELD(RtPad, type, TYPE), FIELD(RtPad, op, OP),          FIELD(RtPad, rank, INT),
    FIELD(RtPad, dim, INT),   LIST(RtPad, size, SIZE, rank), LIST(RtPad, stride, SIZE, rank),
};

static const ParamField sums_fields[] = {
    FIELD(RtSums, outer, SIZE), FIELD(RtSums, rows, SIZE), FIELD(RtSums, width, SIZE),
    FIELD(RtSums, n, SIZE),     FIELD(RtSums, work, SIZE),
};

static const KernelDef kernels[] = {
#define KERNEL(name, type, fields, is_prepared)                                                    \
    {#name, #type, is_prepared, {fields, COUNT(fields), sizeof(type), true}},
#include "ir/kernels.def"
};

const KernelDef *kernel_find(const char *name)
{
    for (int i = 0; i < COUNT(kernels); i++)
        if (!strcmp(kernels[i].name, name))
            return &kernels[i];
    return NULL;
}
