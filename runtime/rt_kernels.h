// The calls of a trainer's text: kernels with their parameters, collectives, the bytes of workspace
// that each needs, and the calls that tell the trainer how far a step has come. The compiler
// includes this header for the parameters and the formulas of workspaces. C, C++ and CUDA can
// include it.
//
// RtModel.init prepares kernels once under a small number (an enum of the generated text). Later
// calls pass pointers into the arena. Sizes and strides are in elements unless they say bytes. A
// kernel's result does not depend on the number of threads, unless the library that computes it
// lets it.
#ifndef SHARDCC_RT_KERNELS_H
#define SHARDCC_RT_KERNELS_H

#include "rt_model.h"
#include "rt_shard_extent.h"

#ifdef __cplusplus
extern "C" {
#endif

// How ranks of GPUs exchange: as --collectives says.
typedef enum RtGpuExchanges { RT_BY_ANY, RT_BY_NCCL, RT_BY_HOST } RtGpuExchanges;

// Options of programs for GPUs.
typedef struct RtGpuOptions {
    int number;  // of the GPU, where there are several; -1: the rank's number on its host
    RtGpuExchanges exchanges;
    bool has_graphs;        // functions are recorded and replayed
    bool has_tf32;          // products of f32 round their operands to TF32
    bool tunes;             // algorithms of products are timed and kept in NAME.tune
    const char *libraries;  // the folder of NVIDIA's libraries; NULL: not given
} RtGpuOptions;

struct Rt {
    const RtDevice *device;
    char *arena;    // of the device: RtModel.arena_bytes, aligned to 64
    void **kernel;  // prepared kernels by number
    int threads;
    RtGpuOptions gpu;
    void *state;                       // of the device; NULL: it needs none
    char *workspace;                   // in the arena: the current call's, see rt_with
    struct RtProfile *profile;         // NULL: no --profile and no --trace
    struct RtWatch *watch;             // NULL: no --check-arena
    struct RtGradients *gradients;     // NULL: no --save-gradients
    RtShard *shard;                    // this rank's shards, one for each of RtModel.cuts
    struct RtComm *comm;               // NULL: the program has one rank
    const RtCollectives *collectives;  // NULL: as `comm`
    int64_t layer;                     // replaces {} in RtCall.what; -1: nothing does
    struct RtMark *exchange;  // where a collective marks its begin and its end; NULL: nobody asks
};

// ---- calls that tell the trainer how far a step has come ----
// The program calls it once a step for each parameter's gradient, once the gradient is complete and
// before it is overwritten. `gradient` and `layer` select the RT_GRADIENT tensor. For
// --save-gradients.
void rt_gradient(Rt *rt, int gradient, int64_t layer, const void *data);

// Describes the call in the next statement. `what` is its module, its operators and its result's
// type: "h.{}.mlp.c_fc: dot f32[4,64,3072]", where {} is Rt.layer. Then follow, each with its name,
// the repeated block that it belongs to (RtModel.blocks, from 1; 0: none), its flops, the bytes it
// reads from and writes to memory, and the seconds that shardcc predicts (0 without a cluster). A
// collective has the axes of the mesh that it is along (the wait for one, too), the bytes that the
// rank hands to it, and the seconds that it is predicted to take, which are no part of those before
// if other calls run meanwhile. --profile, --trace and --check-arena use it, and messages about a
// rank that doesn't come. Otherwise it costs three tests of pointers.
typedef struct RtCall {
    const char *what;
    int block;
    double flops, reads, writes, seconds;
    const char *axis;  // "dp+tp"; NULL: it is no collective
    double sent, exchange;
} RtCall;
#define RT_AT(rt, ...)                                                                             \
    ((rt)->profile || (rt)->watch || (rt)->comm ? rt_call(rt, &(RtCall){.what = __VA_ARGS__})      \
                                                : (void)0)
void rt_call(Rt *rt, const RtCall *call);

// ---- kernels ----
enum { RT_MAX_BATCH = 4 };
void rt_kernels_free(Rt *rt, int n);  // frees the prepared kernels [0, n)

// y[batch, m, n] = Σ_k a[batch, m, k] · b[batch, k, n], any strides.
typedef struct RtDot {
    int64_t m, n, k;
    int n_batch;
    int64_t batch[RT_MAX_BATCH];
    int64_t a_m, a_k, a_batch[RT_MAX_BATCH];
    int64_t b_k, b_n, b_batch[RT_MAX_BATCH];
    int64_t y_m, y_n, y_batch[RT_MAX_BATCH];
    RtType type;    // of a and b: RT_F32, RT_F64, or a half, whose products are summed in f32
    RtType result;  // of y: RT_F32 where a and b are halves; RT_NONE: `type`
} RtDot;
void rt_dot_init(Rt *rt, int kernel, const RtDot *p);
void rt_dot(Rt *rt, int kernel, void *y, const void *a, const void *b);

typedef struct RtWindow {
    int n;  // spatial dims, 1 to 3
    int64_t size[3], stride[3], low[3], high[3], dilation[3];
} RtWindow;

// Convolution and its gradients. Dims: x [n, c, x_dim…], w [o, c / groups, window.size…],
// y [n, o, y_dim…]. x and y are dense in this order, or with channels last (n, spatial…, c).
typedef struct RtConv {
    RtWindow window;
    int64_t n, c, o, groups, x_dim[3], y_dim[3];
    bool x_last, y_last;  // channels last
    // A convolution and its gradients: the type of the two inputs, RT_F16 or RT_BF16 (RT_NONE:
    // RT_F32), and that of the result, RT_F32 where the inputs are halves (RT_NONE: theirs).
    RtType type, result;
} RtConv;
void rt_conv_init(Rt *rt, int kernel, const RtConv *p);
void rt_conv(Rt *rt, int kernel, void *y, const void *x, const void *w);
void rt_conv_input_grad_init(Rt *rt, int kernel, const RtConv *p);
void rt_conv_input_grad(Rt *rt, int kernel, void *dx, const void *dy, const void *w);
void rt_conv_weight_grad_init(Rt *rt, int kernel, const RtConv *p);
void rt_conv_weight_grad(Rt *rt, int kernel, void *dw, const void *x, const void *dy);

// Pooling over a window. The layout is RtConv's with x_last equal to y_last; w, o and groups are
// unused.
void rt_max_pool(Rt *rt, const RtConv *p, void *y, const void *x);
void rt_max_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *x, const void *dy);
void rt_sum_pool(Rt *rt, const RtConv *p, void *y, const void *x);
void rt_sum_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *dy);

// Reduces a strided tensor to a dense one. y lacks the dims that are `reduced` and keeps the order
// of the others. Without `op` it adds. The tree of the reduction depends on the sizes alone. How
// elements are combined. The last two are for rt_scatter alone; RT_LAST: the last one counts.
typedef enum RtReduceOp { RT_SUM, RT_MAX, RT_MIN, RT_MUL, RT_LAST } RtReduceOp;
typedef struct RtReduce {
    RtReduceOp op;
    RtType type;  // of x, and of y but for sums of halves, which are f32
    int rank;
    int64_t dim[RT_MAX_DIMS], stride[RT_MAX_DIMS];
    bool reduced[RT_MAX_DIMS];
} RtReduce;
void rt_reduce(Rt *rt, const RtReduce *p, void *y, const void *x);

// Strided copy: y[i] = x[i] over dim. Strides of x may be 0 or negative. `bytes`: size of an
// element.
typedef struct RtCopy {
    int bytes, rank;
    int64_t dim[RT_MAX_DIMS], x_stride[RT_MAX_DIMS], y_stride[RT_MAX_DIMS];
} RtCopy;
void rt_copy(Rt *rt, const RtCopy *p, void *y, const void *x);
void rt_fill(Rt *rt, RtType t, void *y, int64_t count, double value);

// Sums of columns in a fused group. Row r of `rows` at outer index o is row o * rows + r. There are
// n sums of `width` elements, each stored as [outer, width]. The tree of additions depends on these
// sizes alone. `work`: operations of an element. rt_cpu.h has the call.
typedef struct RtSums {
    int64_t outer, rows, width, n, work;
} RtSums;
// Gather and scatter on dense tensors: table [batch, outer, n, inner], index [batch, index] of type
// I32 or I64, rows [batch, outer, index, inner]. The table is rows [offset, offset + n) of `whole`
// rows. Gather gives zeros for an index outside of it; scatter skips it. Scatter combines elements
// of onto (NULL: zeros) and of the rows by `op`, in the order of the index; table may be
// onto. Scatter takes no halves.
typedef struct RtGather {
    RtType type, index_type;
    int64_t batch, outer, n, index, inner;
    int64_t offset, whole;
    RtReduceOp op;  // of rt_scatter
} RtGather;
void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index);
void rt_scatter(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index,
                const void *onto);

// Sampling at positions between elements: x [n, c, dim…], grid [n, points, spatial], y [n, c,
// points], all dense, f32 or f64. The last coordinate of a point is the one of the first dim.
// `mode` and `outside` are constants of rt_grid.h, which says what they mean.
typedef struct RtGrid {
    RtType type;
    int mode, outside;
    bool corners;
    int spatial;  // dims, 1 to 3
    int64_t n, c, dim[3], points;
} RtGrid;
void rt_grid_sample(Rt *rt, const RtGrid *p, void *y, const void *x, const void *grid);
void rt_grid_sample_input_grad(Rt *rt, const RtGrid *p, void *dx, const void *dy, const void *grid);
void rt_grid_sample_grid_grad(Rt *rt, const RtGrid *p, void *dgrid, const void *x, const void *grid,
                              const void *dy);

// ---- between ranks ----
// Collectives along mesh axis `axis`: all ranks that differ only in that coordinate (for
// rt_permute: in axis and other) call together, and of n such ranks, number i has coordinate i.
// Tensors are dense and hold chunks. Shards of a dim of `whole` elements begin at multiples of
// ceil(whole / n); the last ones are shorter. Padding is moved as it is. For all-reduce and
// keep_one y may be x.
typedef struct RtExchange {
    RtType type;
    RtReduceOp op;
    int axis, other;  // other: for rt_permute
    // The tensor is [outer, whole, inner]. For rt_all_to_all it is [outer, whole, middle, joined,
    // inner], or [outer, joined, middle, whole, inner] if joins_first; `whole` is split over the
    // ranks and the shards of `joined` are concatenated. For all-reduce, keep_one and permute it
    // has outer · whole · inner elements.
    int64_t outer, whole, middle, joined, inner;
    bool joins_first;
} RtExchange;
void rt_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x);  // y has the whole dim
void rt_all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x);  // y: op of all x
void rt_all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x);
void rt_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x);  // x has the whole dim
void rt_shard(Rt *rt, const RtExchange *p, void *y, const void *x);           // x has the whole dim
// Rank 0 along the axis keeps x; the others get op's identity.
void rt_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x);
// With p ranks along `axis` and q along `other`, rank (i, j) gets x of rank (k / q, k % q),
// where k = j · p + i.
void rt_permute(Rt *rt, const RtExchange *p, void *y, const void *x);

// Starts one of these calls, which overlaps with the statements that follow. It has ended when
// rt_wait returns for the same slot (below RtModel.slots). Until then only the call may use y, and
// x may only be read. Calls are carried out in the order of their starts, which is the same on all
// ranks.
typedef void RtCollective(Rt *rt, const RtExchange *p, void *y, const void *x);
void rt_start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x);
void rt_wait(Rt *rt, int slot);

// Sets the padding of dim `dim` of a strided tensor, from shard->extent on, to op's identity.
typedef struct RtPad {
    RtType type;
    RtReduceOp op;
    int rank, dim;
    int64_t size[RT_MAX_DIMS], stride[RT_MAX_DIMS];
} RtPad;
void rt_pad(Rt *rt, const RtPad *p, const RtShard *shard, void *x);

// These work along one dim of a dense tensor [outer, n, inner].
typedef struct RtAlong {
    RtType type;
    int64_t outer, n, inner;
    bool exclusive, reverse;  // rt_cumsum: without the element itself; from the last one on
    int64_t k;                // rt_top_k: how many
} RtAlong;
void rt_arg_max(Rt *rt, const RtAlong *p, void *y, const void *x);
void rt_cumsum(Rt *rt, const RtAlong *p, void *y, const void *x);
void rt_top_k(Rt *rt, const RtAlong *p, void *values, void *indices, const void *x);

// Resampling along one dim: x [outer, n, inner], y [outer, size, inner]. An element of y is a sum
// of neighbours in x around its coordinate, with weights that rt_resample.h defines. `transposed`:
// the adjoint, from y's dims to x's.
typedef enum RtResampleMode {
    RT_NEAREST_FLOOR,  // the element that the coordinate is rounded to
    RT_NEAREST_CEIL,
    RT_NEAREST_DOWN,  // the nearest, halves down
    RT_NEAREST_UP,
    RT_FILTER_LINEAR,
    RT_FILTER_CUBIC,
} RtResampleMode;
typedef struct RtResample {
    RtType type;  // RT_F32 or RT_F64
    int64_t outer, n, size, inner;
    RtResampleMode mode;
    double shift, mul, div,
        offset;      // the coordinate of position o: (o + shift) · mul / div + offset
    double cubic;    // Keys' a
    double stretch;  // widens the filter, at least 1; above 1, the weights of a position sum to 1
    bool exclude;    // taps outside of x don't count, and the others' weights sum to 1
    bool transposed;
} RtResample;
void rt_resample(Rt *rt, const RtResample *p, void *y, const void *x);

// Discrete Fourier transforms of n complex numbers, up to RT_DFT_MAX: x [rows, have, c], where
// numbers after the first `have` are zero, and imaginary parts if c is 1; y [rows, size, parts],
// the first `size` bins, Σ x[j] e^(-2πi · jk / n), with a plus if `inverse`; real ones if parts
// is 1.
enum { RT_DFT_MAX = 1024 };
typedef struct RtDft {
    RtType type;  // RT_F32 or RT_F64
    int64_t rows, n, have, size;
    int c, parts;
    bool inverse;
} RtDft;
void rt_dft(Rt *rt, const RtDft *p, void *y, const void *x);

// Attention: y = dropout(softmax(scale · q·k + bias)) · v. Dims: q [batch, group, s, e],
// k [batch, t, e], v [batch, t, f], y [batch, group, s, f], with any strides and up to RT_MAX_BATCH
// batch dims and as many group dims. Of each row of scores, max and sum are the maximum and
// Σ exp(score - max), f32 and dense in the order of their own strides. Strides of bias may be 0.
typedef struct RtStrides {
    int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], row, col;  // row: s or t; col: e, f or t
} RtStrides;
// Limits apply to scores with their bias, or before; or limits and a bool bias mask a score once.
typedef enum RtMaskOrder { RT_LIMITS_LAST, RT_LIMITS_FIRST, RT_MASKED_ONCE } RtMaskOrder;
typedef struct RtAttention {
    int n_batch, n_group;
    int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], s, t, e, f;
    RtStrides q, k, v, y, max, sum, bias, drop, dy, dq, dk, dv;  // gradients: for rt_attention_grad
    bool has_bias, bool_bias, causal, drops;
    // causal: s sees t ≤ s + offset and, where window > 0, t > s + offset - window
    int64_t offset, window;
    float scale;
    // The numbers of scores outside of the limits of `causal`, and of scores that a bool bias
    // hides: they replace the score, or are added to it. 0 means -inf.
    float outside, hidden;
    bool outside_added, hidden_added;
    int order;  // RtMaskOrder
    int guard;  // a row has weights 0: 1: if it has no softmax; 2: if all its scores are -inf
    // drops: a weight is kept, times 1 / (1 - rate), if rt_uniform(seed, step, site, layer, i) is
    // at least rate. i is drop_at + micro · micro_step for the first score, and moves by the
    // strides `drop`.
    float rate;
    int64_t site, layer, micro_step, drop_at;
    // The type of q, k, v, y and their gradients: RT_F16 or RT_BF16; RT_NONE: RT_F32. Bias, maxima
    // and sums are of f32.
    RtType type;
} RtAttention;
// seed, step, micro: i64 scalars; all NULL without dropout.
void rt_attention(Rt *rt, const RtAttention *p, void *y, void *max, void *sum, const void *q,
                  const void *k, const void *v, const void *bias, const void *seed,
                  const void *step, const void *micro);
void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *seed,
                       const void *step, const void *micro, const void *y, const void *max,
                       const void *sum, const void *dy);

// ---- workspace: bytes of Rt.workspace that a kernel may use, planned by the compiler ----
// Sets the workspace of the next call. A call that rt_start starts uses it until the call has
// ended.
static inline Rt *rt_with(Rt *rt, char *workspace)
{
    rt->workspace = workspace;
    return rt;
}

#ifdef __cplusplus
}
#endif

#endif
