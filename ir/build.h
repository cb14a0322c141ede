// Builders: one per operator, appending one node by graph_node (0 in, 0 out: see there), and the
// short compositions that several stages need. The comments here are the operators' definition.
#ifndef SHARDCC_IR_BUILD_H
#define SHARDCC_IR_BUILD_H

#include "ir/ir.h"

// ---- elementwise: all operands and the result have one shape ----
// One operand. Floats only: exp log sqrt sin cos tanh erf floor round is_nan (→ BOOL);
// floats and ints: neg abs sign; BOOL: not. round is to nearest, ties to even.
ValueId make_neg(Graph *g, ValueId x);
ValueId make_abs(Graph *g, ValueId x);
ValueId make_sign(Graph *g, ValueId x);
ValueId make_exp(Graph *g, ValueId x);
ValueId make_log(Graph *g, ValueId x);
ValueId make_sqrt(Graph *g, ValueId x);
ValueId make_sin(Graph *g, ValueId x);
ValueId make_cos(Graph *g, ValueId x);
ValueId make_tanh(Graph *g, ValueId x);
ValueId make_erf(Graph *g, ValueId x);
ValueId make_floor(Graph *g, ValueId x);
ValueId make_round(Graph *g, ValueId x);
ValueId make_not(Graph *g, ValueId x);
ValueId make_is_nan(Graph *g, ValueId x);
// Attribute `to`, a dtype. Float to int truncates; anything to BOOL is x != 0.
ValueId make_cast(Graph *g, ValueId x, DType to);  // x itself if it has that dtype

// Two operands of one dtype. add sub mul div max min: floats and ints (int div truncates towards
// zero; x / 0 and overflow wrap or give 0, never trap); pow: floats; mod: C's % and fmod;
// eq lt le → BOOL, on any dtype; and or: BOOL.
ValueId make_add(Graph *g, ValueId a, ValueId b);
ValueId make_sub(Graph *g, ValueId a, ValueId b);
ValueId make_mul(Graph *g, ValueId a, ValueId b);
ValueId make_div(Graph *g, ValueId a, ValueId b);
ValueId make_pow(Graph *g, ValueId a, ValueId b);
ValueId make_mod(Graph *g, ValueId a, ValueId b);
ValueId make_max(Graph *g, ValueId a, ValueId b);
ValueId make_min(Graph *g, ValueId a, ValueId b);
ValueId make_eq(Graph *g, ValueId a, ValueId b);
ValueId make_lt(Graph *g, ValueId a, ValueId b);
ValueId make_le(Graph *g, ValueId a, ValueId b);
ValueId make_and(Graph *g, ValueId a, ValueId b);
ValueId make_or(Graph *g, ValueId a, ValueId b);
// c BOOL; a and b of one dtype: c ? a : b.
ValueId make_select(Graph *g, ValueId c, ValueId a, ValueId b);

// ---- sources ----
// Attributes shape, axis, dtype: the index along `axis`, as F32 … or I64.
ValueId make_iota(Graph *g, DType t, int rank, const int64_t *dim, int axis);
// Uniform f32 in [0, 1): Philox4x32-10 (Salmon et al. 2011) keyed by (seed, step, site, layer) and
// counted by the element's index in the whole batch. Inputs: i64 scalars seed, step, micro.
// Attributes shape, site, layer, micro_axis (the dim that micro-batches split, -1: none), micro
// (number of micro-batches). layer is the iteration of a repeated block: it may differ between
// isomorphic nodes.
ValueId make_random(Graph *g, ValueId seed, ValueId step, ValueId micro, int rank,
                    const int64_t *dim, int64_t site, int64_t layer, int micro_axis,
                    int64_t micro_batches);

// ---- shape ----
// Attributes shape, dims (ascending): input dim i becomes output dim dims[i], equal in size; all
// other output dims repeat it.
ValueId make_broadcast(Graph *g, ValueId x, int rank, const int64_t *dim, const int64_t *dims);
ValueId make_reshape(Graph *g, ValueId x, int rank, const int64_t *dim);  // attribute shape
ValueId make_transpose(Graph *g, ValueId x, const int64_t *perm);  // out dim i is in dim perm[i]
// Attributes start, size, stride per dim: element i of the output is start + i * stride of the
// input; stride may be negative, not 0.
ValueId make_slice(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                   const int64_t *stride);
// … without the dims `drop` (ascending, of size 1 after slicing), which are attribute drop.
ValueId make_slice_drop(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                        const int64_t *stride, int n_drop, const int64_t *drop);
// Attributes low, high, inner (≥ 0) per dim, and value: `inner` elements go between neighbours.
ValueId make_pad(Graph *g, ValueId x, const int64_t *low, const int64_t *high,
                 const int64_t *inner, double value);
ValueId make_concat(Graph *g, int n, const ValueId *x, int axis);

// ---- reductions and orders ----
// Attribute axes (ascending); the reduced dims are gone. Empty: 0, -inf, +inf.
ValueId make_reduce_sum(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_reduce_max(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_reduce_min(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_arg_max(Graph *g, ValueId x, int axis);  // i64, first of equals; the dim is gone
ValueId make_cumsum(Graph *g, ValueId x, int axis, bool exclusive, bool reverse);
// The k largest along `axis`, descending, first of equals first; second output: indices, i64.
ValueId make_top_k(Graph *g, ValueId x, int axis, int64_t k);

// ---- indexing ----
// Attributes axis, batch: table [B…, N…, n, R…] with `axis` the position of n, index (i32, i64)
// [B…, I…], the first `batch` (≤ axis) dims in common; result [B…, N…, I…, R…]. An index outside
// [0, n) gives zero.
ValueId make_gather(Graph *g, ValueId table, ValueId index, int axis, int batch);
// … where row `skip` gets no gradient (attribute skip, -1: none), as PyTorch's padding_idx.
ValueId make_gather_but(Graph *g, ValueId table, ValueId index, int axis, int batch, int64_t skip);
// Gather's transpose: x has gather's result shape; result has the table's, `n` at axis: zero, plus
// x's rows added where index says; indices outside [0, n) are skipped. Attributes axis, batch, n.
ValueId make_scatter_add(Graph *g, ValueId x, ValueId index, int axis, int batch, int64_t n);
// … onto's elements, of the result's type, plus x's rows.
ValueId make_scatter_onto(Graph *g, ValueId x, ValueId index, ValueId onto, int axis, int batch,
                          int64_t n);

// ---- contractions ----
// Attribute eq, "bmk,bkn->bmn": one letter per dim. Letters in a, b and y are batch; in a and b
// only, contracted; in a and y or b and y, free. Every letter is in exactly two or three operands,
// once in each; y's order is any. Floats; sums in f32 or wider.
ValueId make_dot(Graph *g, ValueId a, ValueId b, const char *eq);
// x [n, c, spatial…], w [o, c / groups, window…] → [n, o, spatial'…]. Attributes stride, low, high
// (padding), dilation, one entry per spatial dim (1 to 3 of them), and groups.
typedef struct Window {
    int n;  // spatial dims
    int64_t size[3], stride[3], low[3], high[3], dilation[3];
} Window;  // `size` is pooling's; convolution takes it from the weight
ValueId make_conv(Graph *g, ValueId x, ValueId w, const Window *win, int64_t groups);
// Gradients of conv; attribute shape is that of x (of w).
ValueId make_conv_input_grad(Graph *g, ValueId dy, ValueId w, const int64_t *x_dim,
                             const Window *win, int64_t groups);
ValueId make_conv_weight_grad(Graph *g, ValueId x, ValueId dy, const int64_t *w_dim,
                              const Window *win, int64_t groups);
// dropout(softmax(scale · q·k + bias, over t)) · v. Attribute eq, "bhgse,bhte,bhtf->bhgsf": letters
// in q, k, v and y are batch; in q and y only (g, s): queries, of which `query` is the one with positions;
// in q and k only: e, contracted; t is in k and v only; f in v and y only. Any order of dims in each
// operand. bias (optional, may be 0): letters of batch, queries and t, in attribute bias_eq, f32 added or BOOL
// (false: masked out). Attributes eq, bias_eq, query (the letter's place in q's text), scale,
// causal (s sees t ≤ s + offset), offset (usually T - S, 0 when equal), window (> 0: t > s + offset - window).
// Outputs: y, and the rows' log-sum-exp, f32, dims of y without f. A row with all masked gives 0 and -inf.
//
// Dropout: a weight stays, times 1 / (1 - drop), where its random number is at least `drop`. It is
// that of an element of make_random's result whose dims are the letters of drop_eq, all of batch, queries
// and t; micro-batches split what is made of the letters behind the first micro_axis (-1: they split
// nothing). Optional inputs seed, step, micro: absent where nothing is dropped.
typedef struct Dropout {
    ValueId seed, step, micro;
    const char *eq;
    double rate;
    int64_t site, layer, micro_axis, micro_batches;
} Dropout;
typedef struct Attention {
    const char *eq, *bias_eq;
    int query;
    double scale;
    bool causal;
    int64_t offset, window;
    Dropout drop;
} Attention;
ValueId make_attention(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias,
                       const Attention *a);
// Inputs q k v bias seed step micro y lse dy; outputs dq dk dv (and dbias is not given: a bias that
// needs a gradient isn't matched by the pattern). Same attributes.
ValueId make_attention_grad(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias, ValueId y,
                            ValueId lse, ValueId dy, const Attention *a);

// ---- windows ---- x [n, c, spatial…]; attributes size, stride, low, high, dilation
ValueId make_max_pool(Graph *g, ValueId x, const Window *win);  // padding counts as -inf
ValueId make_max_pool_grad(Graph *g, ValueId x, ValueId dy, const Window *win);  // to the first max
ValueId make_sum_pool(Graph *g, ValueId x, const Window *win);  // padding counts as 0
ValueId make_sum_pool_grad(Graph *g, ValueId dy, const int64_t *x_dim, const Window *win);

// ---- communication ----
// Between the ranks along some axes of a mesh, each of which has its piece of the value: of n elements
// of the split dim ceil(n / ranks), and so on for the next axis, the last ones what is left.
// Attributes axes, ranks and: dim and size (of all pieces together); op ("sum", "max", "min"); join,
// cut and size. See their files.
typedef struct Ranks {
    int n;
    int64_t axis[4], size[4];  // outermost first
} Ranks;
ValueId make_all_gather(Graph *g, ValueId x, const Ranks *r, int dim, int64_t size);
ValueId make_all_reduce(Graph *g, ValueId x, const Ranks *r, const char *op);
ValueId make_all_to_all(Graph *g, ValueId x, const Ranks *r, int join, int cut, int64_t size);
ValueId make_keep_one(Graph *g, ValueId x, const Ranks *r, const char *op);
ValueId make_permute(Graph *g, ValueId x, const Ranks *r);
ValueId make_reduce_scatter(Graph *g, ValueId x, const Ranks *r, int dim, const char *op);
ValueId make_shard(Graph *g, ValueId x, const Ranks *r, int dim);

// ---- compositions ----
ValueId scalar_like(Graph *g, ValueId x, double c);  // c in x's dtype, broadcast to x's shape
ValueId broadcast_like(Graph *g, ValueId s, ValueId x);  // a rank-0 s to x's shape
// s lacks the dims `axes` of x (as reductions leave it): broadcast back to x's shape.
ValueId broadcast_over(Graph *g, ValueId s, ValueId x, int n_axes, const int64_t *axes);
// numpy's broadcasting of x to a shape: dims aligned at the end, 1 repeats. Reports a clash.
ValueId broadcast_to(Graph *g, ValueId x, int rank, const int64_t *dim);
// x less its largest along the axes, so that exp does not overflow. The largest is rounded down: any
// number near it does, and floor has no gradient, which for the largest would be a sum of zeros.
ValueId make_less_max(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_sigmoid(Graph *g, ValueId x);
ValueId make_square(Graph *g, ValueId x);
ValueId make_reciprocal(Graph *g, ValueId x);
ValueId make_softmax(Graph *g, ValueId x, int axis);
ValueId make_log_softmax(Graph *g, ValueId x, int axis);
ValueId make_mean(Graph *g, ValueId x, int n_axes, const int64_t *axes);  // reduced dims gone

#endif
