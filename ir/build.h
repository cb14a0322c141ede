// Builders: one per operator, which appends a node by graph_node (returns 0 if an input is 0), and
// short compositions that several stages need. The comments here define the operators.
#ifndef SHARDCC_IR_BUILD_H
#define SHARDCC_IR_BUILD_H

#include "ir/ir.h"

// ---- elementwise: all operands and the result have one shape ----
// One operand. Floats: exp expm1 (e^x - 1) log log1p (log(1 + x)) sqrt sin cos tanh atan erf floor
// round stop_gradient is_nan (→ BOOL); floats and ints: neg abs sign; BOOL: not. round is to
// nearest, ties to even. stop_gradient is x itself, but no gradient flows through it.
#define OP(name)
#define UNARY(name) ValueId make_##name(Graph *g, ValueId x);
#define BINARY(name)
#include "ir/ops.def"
// Attribute `to`, a dtype. Float to int truncates; anything to BOOL is x != 0.
ValueId make_cast(Graph *g, ValueId x, DType to);        // x itself if it has that dtype
ValueId make_cast_parts(Graph *g, ValueId x, DType to);  // to a half; parts of a sum may be rounded

// Two operands of one dtype. add sub mul div max min: floats and ints (int div truncates towards
// zero; int overflow wraps, int x / 0 is 0, nothing traps); pow: floats; mod: C's % and fmod;
// eq lt le → BOOL, on any dtype; and or: BOOL; bit_and shift_left shift_right: ints, shifts by less
// than 0 or more than 63 give 0 (-1 for negative numbers to the right). compensate: a - b of
// floats, where b is the rounding error of a; ranks don't add parts of either.
#define OP(name)
#define UNARY(name)
#define BINARY(name) ValueId make_##name(Graph *g, ValueId a, ValueId b);
#include "ir/ops.def"
// c BOOL; a and b of one dtype: c ? a : b.
ValueId make_select(Graph *g, ValueId c, ValueId a, ValueId b);

// ---- sources ----
// Each element is its index along `axis`, as dtype `t`. Attributes shape, axis, dtype.
ValueId make_iota(Graph *g, DType t, int rank, const int64_t *dim, int axis);
// Uniform f32 in [0, 1): Philox4x32-10 (Salmon et al. 2011). The key is (seed, step, site, layer),
// the counter is the element's index in the whole batch. Inputs: i64 scalars seed, step, micro (the
// micro-batch's number). Attributes shape, site, layer, micro_axis (the dim that micro-batches
// split, -1: none), micro (number of micro-batches). layer is the iteration of a repeated block, so
// that it may differ between instances.
ValueId make_random(Graph *g, ValueId seed, ValueId step, ValueId micro, int rank,
                    const int64_t *dim, int64_t site, int64_t layer, int micro_axis,
                    int64_t micro_batches);

// ---- shape ----
// Attributes shape, dims (ascending). Input dim i becomes output dim dims[i], of equal size. All
// other output dims repeat the input.
ValueId make_broadcast(Graph *g, ValueId x, int rank, const int64_t *dim, const int64_t *dims);
ValueId make_reshape(Graph *g, ValueId x, int rank, const int64_t *dim);  // attribute shape
ValueId make_transpose(Graph *g, ValueId x, const int64_t *perm);  // out dim i is in dim perm[i]
// Attributes start, size, stride per dim: element i of the output is start + i * stride of the
// input; stride may be negative, not 0.
ValueId make_slice(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                   const int64_t *stride);
// make_slice without the dims `drop` (attribute drop; ascending, of size 1 after slicing).
ValueId make_slice_drop(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                        const int64_t *stride, int n_drop, const int64_t *drop);
// Attributes low, high, inner (≥ 0) per dim, and value. Adds `low` elements before, `high` after
// and `inner` between neighbours, all equal to `value`.
ValueId make_pad(Graph *g, ValueId x, const int64_t *low, const int64_t *high, const int64_t *inner,
                 double value);
ValueId make_concat(Graph *g, int n, const ValueId *x, int axis);

// ---- reductions and orders ----
// Attribute axes (ascending). The result lacks the reduced dims. Over no elements: 0, -inf, +inf.
ValueId make_reduce_sum(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_reduce_max(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_reduce_min(Graph *g, ValueId x, int n_axes, const int64_t *axes);
// The same, except for the gradient: the first of equal extremes has it all, and not each its share
// (attribute first).
ValueId make_reduce_max_first(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_reduce_min_first(Graph *g, ValueId x, int n_axes, const int64_t *axes);
ValueId make_arg_max(Graph *g, ValueId x, int axis);  // i64, without the dim; the first of equals
ValueId make_cumsum(Graph *g, ValueId x, int axis, bool exclusive, bool reverse);
// The k largest along `axis`, descending; equal ones keep their order. Output 1: indices, i64.
ValueId make_top_k(Graph *g, ValueId x, int axis, int64_t k);

// ---- resampling ----
// Which elements along a dim a position of the result reads, and with which weights. Position o
// reads around the coordinate (o + shift) · mul / div + offset. Nearest: one element, the
// coordinate rounded. Linear and cubic: neighbours, as the filter weighs their distance / stretch;
// those outside of the dim count as its ends, or not at all (exclude). Where stretch > 1 or taps
// are excluded, the weights of a position are scaled to sum to 1.
typedef struct Resampling {
    const char *mode;  // "floor", "ceil", "round_down", "round_up" (of halves), "linear", "cubic"
    double shift, mul, div, offset;
    double cubic;  // a of Keys' cubic convolution
    double stretch;
    bool exclude;
} Resampling;
// Makes dim `axis` of x, floats, `size` long. Attributes axis, size, and those of a Resampling.
ValueId make_resample(Graph *g, ValueId x, int axis, int64_t size, const Resampling *r);
// Its adjoint (attribute transposed): makes the dim, which resampling made, `size` long again.
ValueId make_resample_transposed(Graph *g, ValueId x, int axis, int64_t size, const Resampling *r);

// The first `size` bins, Σ x[j] e^(∓2πi · jk / n), of x [rows…, n', c], whose last dim holds real
// (and imaginary) parts and which is zero after its n' ≤ n numbers; `inverse` has the plus, and
// divides by nothing. The result is [rows…, size, parts]. Attributes n, size, parts, inverse.
ValueId make_dft(Graph *g, ValueId x, int64_t n, int64_t size, int64_t parts, bool inverse);

// ---- indexing ----
// table [B…, N…, n, R…], where `axis` is the position of n; index (i32, i64) [B…, I…]; the result
// is [B…, N…, I…, R…]. B are the first `batch` (≤ axis) dims. An index outside [0, n) gives zero.
// Attributes axis, batch.
ValueId make_gather(Graph *g, ValueId table, ValueId index, int axis, int batch);
// make_gather, except that row `skip` gets no gradient (attribute skip, -1: none): padding_idx of
// PyTorch.
ValueId make_gather_but(Graph *g, ValueId table, ValueId index, int axis, int batch, int64_t skip);
// The adjoint of gather. x has the shape of gather's result; the result has the table's, `n` at
// `axis`. It is zero plus the rows of x, added at their indices; a row whose index is outside
// [0, n) is skipped.
ValueId make_scatter_add(Graph *g, ValueId x, ValueId index, int axis, int batch, int64_t n);
// The same onto the elements of `onto`, which has the result's type. `reduction` says how they and
// the rows are combined, in the order of the index: "add" (onto may be 0: zeros), "mul", "max",
// "min", or "last", which keeps the last one. Attributes axis, batch, n, reduction.
ValueId make_scatter(Graph *g, ValueId x, ValueId index, ValueId onto, const char *reduction,
                     int axis, int batch, int64_t n);

// ---- sampling ----
// x [n, c, spatial…] at the points of grid [n, points…, spatial dims] → [n, c, points…]. A point
// says a position of each spatial dim, the last dim first, in elements: 1.5 is in the middle
// between elements 1 and 2. Attributes mode: "nearest" (ties to even), "linear" or "cubic";
// padding, what positions outside of x give: "zeros", the "border" or the "reflection" of x; for
// that one, corners: mirrors are at the centres of the outermost elements, and not at their edges.
// runtime/rt_grid.h has the formulas, and says which gradients are 0.
typedef struct Sampling {
    const char *mode, *padding;
    bool corners;
} Sampling;
ValueId make_grid_sample(Graph *g, ValueId x, ValueId grid, const Sampling *s);
// The gradients of x, whose dims they are, and of the grid.
ValueId make_grid_sample_input_grad(Graph *g, ValueId dy, ValueId grid, int rank,
                                    const int64_t *dim, const Sampling *s);
ValueId make_grid_sample_grid_grad(Graph *g, ValueId x, ValueId grid, ValueId dy,
                                   const Sampling *s);

// ---- contractions ----
// Attribute eq, "bmk,bkn->bmn": one letter per dim of a, b and the result y. A letter in all three
// is a batch dim, in a and b only a contracted dim, in y and one of a and b a free dim. Every
// letter is in two or three operands, once in each; the order in y is any. Floats; sums are in f32
// or wider.
ValueId make_dot(Graph *g, ValueId a, ValueId b, const char *eq);
// The same with a result of type `to`, for operands that are halves; DT_NONE: of theirs.
ValueId make_dot_to(Graph *g, ValueId a, ValueId b, const char *eq, DType to);
// A sliding window, one entry per spatial dim; low and high are the padding before and after.
typedef struct Window {
    int n;  // spatial dims
    int64_t size[3], stride[3], low[3], high[3], dilation[3];
} Window;  // `size` is for pooling; convolution takes it from the weight
// x [n, c, spatial…], w [o, c / groups, window…] → [n, o, spatial'…], 1 to 3 spatial dims.
// Attributes stride, low, high, dilation, groups.
ValueId make_conv(Graph *g, ValueId x, ValueId w, const Window *win, int64_t groups);
// The gradients of conv with respect to x and w. Attribute shape is the shape of the result.
ValueId make_conv_input_grad(Graph *g, ValueId dy, ValueId w, const int64_t *x_dim,
                             const Window *win, int64_t groups);
ValueId make_conv_weight_grad(Graph *g, ValueId x, ValueId dy, const int64_t *w_dim,
                              const Window *win, int64_t groups);
// y = dropout(softmax(scale · q·k + bias, over t)) · v. Attribute eq, "bhgse,bhte,bhtf->bhgsf",
// gives the roles of the dims; their order in each operand is any:
//   b, h  batch: in q, k, v and y             e  contracted: in q and k only
//   g, s  queries: in q and y only            t  keys: in k and v only; f: in v and y only
// Attribute query is the index in q's text of the query letter that has positions, here s. bias
// (optional) has letters of batch, queries and t, in attribute bias_eq: f32 is added, BOOL false
// hides. Attributes scale; causal (s sees t ≤ s + offset); offset (usually T - S); window (> 0, for
// causal only: s sees t > s + offset - window). These are the positional limits.
//
// A score outside of the limits becomes the number `outside`, or gets it added (outside_added); one
// that a BOOL bias hides, the number `hidden` (hidden_added). 0 means -inf. Attribute order says
// what comes first, an AttentionOrder. So the keys that a row doesn't see count where it sees none,
// or where all that it sees have scores as low. A row that has no softmax, because all its scores
// are -inf or one is NaN or inf, gives NaN. Attribute guard 1 gives 0, and 2 gives 0 where all
// scores are -inf.
//
// Outputs: y, and of each row of scores the maximum and the sum of exp(score - maximum), f32, with
// y's dims except f. The sum of a row of weights 0 is inf.
//
// Dropout keeps a weight, times 1 / (1 - drop), if its random number is at least `drop`. The number
// is an element of make_random's result, whose dims are the letters of drop_eq: all of batch,
// queries and t. In the whole batch, the micro-batch is one more dim before letter micro_axis of
// drop_eq (-1: none). Inputs seed, step and micro are absent if nothing is dropped.
typedef struct Dropout {
    ValueId seed, step, micro;
    const char *eq;
    double rate;
    int64_t site, layer, micro_axis, micro_batches;
} Dropout;
typedef enum AttentionOrder {
    LIMITS_LAST,   // limits apply to scores with their bias
    LIMITS_FIRST,  // the bias applies to scores within and outside of the limits
    MASKED_ONCE,   // a score outside of the limits that the BOOL bias hides counts as one of them
} AttentionOrder;
typedef struct Attention {
    const char *eq, *bias_eq;
    int query;
    double scale;
    bool causal;
    int64_t offset, window;
    double outside, hidden;
    bool outside_added, hidden_added;
    AttentionOrder order;
    int guard;
    Dropout drop;
} Attention;
ValueId make_attention(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias, const Attention *a);
// Inputs q k v bias seed step micro y max sum dy; outputs dq dk dv; attributes of attention. There
// is no gradient of bias: the pattern matches no bias that needs one.
ValueId make_attention_grad(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias, ValueId y,
                            ValueId max, ValueId sum, ValueId dy, const Attention *a);

// ---- windows ---- x [n, c, spatial…]; attributes size, stride, low, high, dilation
ValueId make_max_pool(Graph *g, ValueId x, const Window *win);  // padding counts as -inf
ValueId make_max_pool_grad(Graph *g, ValueId x, ValueId dy, const Window *win);  // to the first max
ValueId make_sum_pool(Graph *g, ValueId x, const Window *win);  // padding counts as 0
ValueId make_sum_pool_grad(Graph *g, ValueId dy, const int64_t *x_dim, const Window *win);

// ---- communication ----
// Collectives between the ranks along some mesh axes. Each rank has a shard of the value: axis
// after axis splits n elements of a dim into shards of ceil(n / ranks); the last ones are smaller.
// Attributes axes and ranks; of some, dim and size (of all shards together); op ("sum", "max",
// "min"); join, cut and size. See their files.
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

// ---- checks that stop a run ----
// A check of a node, or of several nodes that have one message: nodes of equal layers, whose names
// differ by numbers. `worst` is i64[]: 0 where all is well.
typedef struct RunCheck {
    const char *name, *pattern;  // of the first one; with * for each number
    OutputRole role;
    int64_t bound;
    int n;  // nodes
    ValueId worst;
} RunCheck;

typedef struct Checks {
    RunCheck *check;
    int n, cap;
} Checks;

// The index of the worst value of the checks with such a name, 0 at first. The caller puts there
// the maximum of it and another one. Valid up to the next call.
ValueId *checks_worst(Checks *c, Graph *g, const char *name, OutputRole role, int64_t bound);
void checks_give(const Checks *c, Graph *g);  // appends their outputs

// ---- compositions ----
ValueId scalar_like(Graph *g, ValueId x, double c);      // c in x's dtype, broadcast to x's shape
ValueId broadcast_like(Graph *g, ValueId s, ValueId x);  // a rank-0 s to x's shape
// Broadcasts s to x's shape; s lacks the dims `axes` of x, as a reduction's result.
ValueId broadcast_over(Graph *g, ValueId s, ValueId x, int n_axes, const int64_t *axes);
// Broadcasts x to a shape as numpy does: aligns dims at the end, repeats dims of size 1. Reports
// shapes that don't fit and returns 0.
ValueId broadcast_to(Graph *g, ValueId x, int rank, const int64_t *dim);
// x - max(x) along the axes, so that exp does not overflow and is 1 at the maximum: where all
// others are 0, gradients are 0 too. The maximum has no gradient, which would be a sum that is
// zero.
ValueId make_less_max(Graph *g, ValueId x, int n_axes, const int64_t *axes);
// The larger (smaller) of x and the bound; at the bound itself, x gets no gradient.
ValueId make_clip_low(Graph *g, ValueId x, ValueId low);
ValueId make_clip_high(Graph *g, ValueId x, ValueId high);
ValueId make_sigmoid(Graph *g, ValueId x);
ValueId make_softplus(Graph *g, ValueId x);  // log(1 + exp(x))
ValueId make_square(Graph *g, ValueId x);
ValueId make_reciprocal(Graph *g, ValueId x);
ValueId make_softmax(Graph *g, ValueId x, int axis);
ValueId make_log_softmax(Graph *g, ValueId x, int axis);
// log Σ exp(x), without the dims `axes`.
ValueId make_log_sum_exp(Graph *g, ValueId x, int n_axes, const int64_t *axes);
// The element of x at each label along `axis`, which the labels lack; 0 where there is none. It is
// a sum of a row in which all other elements are 0: a gather would need a scatter for its gradient,
// while the sum fuses with other passes over the row.
ValueId make_pick(Graph *g, ValueId x, ValueId label, int axis);
ValueId make_mean(Graph *g, ValueId x, int n_axes, const int64_t *axes);  // without the dims `axes`

#endif
