// The interface between a generated trainer and the runtime: the trainer's description (RtModel),
// the kernels, and rt_main, which runs everything else. The compiler includes this header too, for
// RtModel's layout and the workspace formulas. The header includes nothing of the compiler.
//
// RtModel.init prepares kernels once under a small number (an enum of the generated text). Later
// calls pass pointers into the arena. Sizes and strides are in elements unless they say bytes. A
// kernel's result does not depend on the number of threads, unless the library that computes it
// lets it.
#ifndef SHARDCC_RT_H
#define SHARDCC_RT_H

#include <stdbool.h>
#include <stdint.h>

// Kernels and generated code are written for the widest vectors of the CPU: a tile of a product
// fills 24 of AVX-512's registers. gcc's -march of most such CPUs prefers vectors of half the
// width. clang has no pragma for it.
#if defined __AVX512F__ && !defined __clang__
#pragma GCC target("prefer-vector-width=512")
#endif

#include "rt_math.h"
#include "rt_shard_extent.h"
#include "rt_transpose.h"

typedef enum RtType {
    RT_NONE,
    RT_F32,
    RT_F64,
    RT_F16,
    RT_BF16,
    RT_I8,
    RT_I16,
    RT_I32,
    RT_I64,
    RT_U8,
    RT_U16,
    RT_U32,
    RT_U64,
    RT_BOOL
} RtType;

typedef struct Rt Rt;
struct Rt {
    char *arena;    // RtModel.arena_bytes, aligned to 64
    void **kernel;  // prepared kernels by number
    int threads;
    char *workspace;            // in the arena: the current call's, see rt_with
    struct RtProfile *profile;  // NULL: no --profile and no --trace
    struct RtWatch *watch;      // NULL: no --check-arena
    struct RtSaver *gradients;  // NULL: no --save-gradients
    RtShard *shard;             // this rank's shards, one for each of RtModel.cuts
    struct RtComm *comm;        // NULL: the program has one rank
};

// ---- the model ----

typedef enum RtRole {
    RT_PARAMETER,
    RT_BUFFER,    // loaded and saved
    RT_STATE,     // optimizer state: set to `fill` at start
    RT_ZERO,      // set to `fill` before each step
    RT_HYPER,     // scalars set before each step; `fill` is the default
    RT_CONSTANT,  // RtTensor.data copied in at start
    RT_INPUT,
    RT_OUTPUT,
    RT_GRADIENT,  // named as its parameter; has no place in the arena: see rt_gradient
    RT_LOSS_SUM,
    RT_LOSS_COUNT,
    RT_GRAD_NORM,
    RT_BAD_LABEL
} RtRole;

enum { RT_MAX_AXES = 4, RT_MAX_DIMS = 12 };

// The ranks as a grid, with axes from slow links to fast ones. Rank r has coordinate r / (product
// of the sizes after axis a) % size[a] along axis a. No axes: one rank.
typedef struct RtMesh {
    int n_axes, size[RT_MAX_AXES];
    const char *name[RT_MAX_AXES];
} RtMesh;

// A dim of `whole` elements that mesh axes split, outermost first. Chunks nest: c = ceil(n / p),
// then ceil(c / q). Each rank has room for a chunk, which contains its RtShard. The rest of the
// chunk is padding, whose contents are undefined.
typedef struct RtCut {
    int64_t whole;
    int n_axes, axis[RT_MAX_AXES];
} RtCut;

// The transport between ranks. libshardrt_mpi.a has rt_mpi, which needs MPI.
typedef struct RtTransport RtTransport;
extern const RtTransport rt_mpi;

typedef enum RtInit { RT_INIT_NONE, RT_INIT_NORMAL, RT_INIT_ONE, RT_INIT_ZERO } RtInit;

// One tensor in the arena, or `layers` tensors of the same shape, `step` bytes apart.
typedef struct RtTensor {
    RtRole role;
    RtType type;
    const char *name;  // {} in "h.{}.attn.weight" stands for first + layer * by (by 0: 1); UTF-8
    const char *const *names;  // or one name per layer, if the names follow no pattern
    int layers, first, by;     // layers 0: a single tensor
    int rank;
    int64_t dim[8];        // the shape that the user sees
    int64_t offset, step;  // bytes in the arena
    // For sharded tensors: the dims of the same bytes as dim[], maybe refined; and for each of them
    // 1 + the number of its cut in RtModel.cuts, or 0 if it isn't cut. A rank's shard lies
    // row-major in a chunk. n_parts 0: every rank has the whole tensor.
    int n_parts;
    int64_t part[RT_MAX_DIMS];
    int cut[RT_MAX_DIMS];
    int gradient;  // RT_GRADIENT: the number that rt_gradient is called with
    double fill;
    int64_t least, bound;  // RT_INPUT: its elements index tables of rows [least, bound); 0: no
    RtInit init;
    const void *data;  // RT_CONSTANT: all layers, contiguous
} RtTensor;

typedef struct RtModel {
    const char *name, *options, *plan;  // base name; canonical options; the plan in one line
    int64_t arena_bytes;
    int slots;  // number of slots of rt_start
    int n_kernels;
    int accumulate;   // micro-batches per step
    double init_std;  // standard deviation of RT_INIT_NORMAL; 0: the program needs a weights file
    double flops;     // of a whole step
    int64_t vocabulary;  // number of tokens that the model knows; 0: its inputs aren't tokens
    const char *labels;  // name of the input that only the loss reads; NULL: there is none
    RtMesh mesh;
    const RtTransport *transport;  // &rt_mpi; NULL: there is one rank
    const RtCut *cuts;
    int n_cuts;
    const RtTensor *tensors;  // parameters, buffers, states, zeros, hypers, constants: both sets
    int n_tensors;
    const RtTensor *train;  // inputs, outputs, gradients, losses of the training set
    int n_train;
    const RtTensor *predict;  // inputs and outputs of the forward-only set
    int n_predict;
    int redzone;  // unused bytes after each of `tensors` (whose end is rounded up to 64) and after
                  // each buffer
    void (*live_ranges)(Rt *rt);      // calls rt_live_ranges for each set; NULL: it has none
    void (*init)(Rt *rt);             // prepares kernels
    void (*micro)(Rt *rt, char *m);   // forward and backward of one micro-batch; NULL: cannot train
    void (*reduce)(Rt *rt, char *m);  // mean and norm of gradients; NULL: micro does that
    void (*update)(Rt *rt, char *m);  // optimizer, NULL: micro does that
    void (*forward)(Rt *rt, char *m);  // forward only
} RtModel;

// ---- live ranges: the buffers of a set, for --check-arena ----
typedef enum RtSet { RT_TRAINING, RT_FORWARD } RtSet;

// `bytes` at `offset` are in use from statement `first` to `last`, both included. Statements are
// the kernel calls in the order of the text, and the begin and end of each loop. The first is 0.
typedef struct RtLiveRange {
    const char *name;
    int64_t offset, bytes;
    int first, last;
} RtLiveRange;

// Software pipelining: the statements from skewed[k] (0: unused) up to the next such number, or to
// the loop's end, run k + 1 iterations after the loop's first statements. They are skipped in the
// loop's first iterations, and run alone in its last ones.
enum { RT_MAX_SKEW = 5 };

typedef struct RtLoop {
    int begin, end, iterations, skewed[RT_MAX_SKEW];
} RtLoop;

// Both lists end with {0}. The runtime copies them, except the names.
void rt_live_ranges(Rt *rt, RtSet set, const RtLiveRange *range, const RtLoop *loop);

// For a program of its own to call first: executes the program again with threads that spin only
// briefly while they wait, unless the environment sets how long. libgomp reads this setting before
// main only. By default it spins for milliseconds, which made steps ten times slower on a shared
// machine.
void rt_limit_spinning(char **argv);
// Binds each thread to a CPU of its own, of the CPUs that the process may use, from number `first`
// on. Returns how many threads were bound: fewer than all if there are too few CPUs.
int rt_pin(int threads, int first);

// The trainer: options, data, step loop, logs, checkpoints. Returns the exit status.
int rt_main(const RtModel *model, int argc, char **argv);

// ---- loops ----
// RT_SIMD stands before a loop with independent iterations, RT_SIMD_SUM before one that adds to the
// named variables.
#ifdef _OPENMP
#define RT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define RT_SIMD RT_PRAGMA(omp simd)
#define RT_SIMD_SUM(...) RT_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#else
#define RT_SIMD
#define RT_SIMD_SUM(...)
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that clang doesn't vectorize are fine
#endif

// Prefetches `bytes` that a loop reads soon. Hardware prefetchers don't look far enough ahead if
// each element takes much computation.
static inline void rt_prefetch(const void *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)i));
}

// Sums in RT_LINE lanes, a number that is the same on all machines. rt_add_lanes adds a line of x;
// rt_total returns the sum of all lanes.
enum { RT_LINE = 16 };
static inline void rt_add_lanes(double *lane, const float *x)
{
    for (int l = 0; l < RT_LINE; l++)
        lane[l] += (double)x[l];
}
static inline double rt_total(double *lane)
{
    for (int n = RT_LINE / 2; n; n /= 2)
        for (int l = 0; l < n; l++)
            lane[l] += lane[l + n];
    return lane[0];
}

// A fused group over rows [first, last). p has the addresses of its operands, so that equal groups
// share a function. rt_rows partitions the rows statically over the threads. `work` (elements times
// operations) decides whether it wakes them.
typedef void RtRows(char *const *p, int64_t first, int64_t last);
void rt_rows(Rt *rt, RtRows *f, char *const *p, int64_t rows, int64_t work);

// A fused group that also sums columns. Row r of `rows` at outer index o is row o * rows + r. The
// function adds to n sums of `width` elements; rt_sums stores them in y, each as [outer, width].
// The tree of additions depends on these sizes alone.
typedef void RtSumRows(char *const *p, int64_t first, int64_t last, float *s);
typedef struct RtSums {
    int64_t outer, rows, width, n, work;
} RtSums;
void rt_sums(Rt *rt, RtSumRows *f, char *const *p, const RtSums *q, char *const *y);

// The program calls it once a step for each parameter's gradient, once the gradient is complete and
// before it is overwritten. `gradient` and `layer` select the RT_GRADIENT tensor. For
// --save-gradients.
void rt_gradient(Rt *rt, int gradient, int64_t layer, const void *data);

// ---- calls ----
// Describes the call in the next statement. `what` is its module, its operators and its result's
// type: "h.{}.mlp.c_fc: dot f32[4,64,3072]". Then follow its flops, the bytes it reads from and
// writes to memory, and the seconds that shardcc predicts (omitted without a cluster). --profile,
// --trace and --check-arena use it, and messages about a rank that doesn't come. Otherwise it costs
// three tests of pointers.
typedef struct RtCall {
    const char *what;
    double flops, read, written, seconds;
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
    RtType type;  // RT_F32 (or RT_NONE) or RT_F64
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
// of the others. The tree of the reduction depends on the sizes alone.
typedef enum RtReduceOp { RT_SUM, RT_MAX, RT_MIN } RtReduceOp;
typedef struct RtReduce {
    RtReduceOp op;
    RtType type;
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

// Streaming stores. A result larger than RT_STREAM_BYTES has left the caches by the time it is read
// again. A streaming store doesn't read the old bytes from memory first. Writes zeros if `from` is
// NULL. Other threads see the bytes after rt_stream_fence.
enum { RT_STREAM_BYTES = 64 << 20 };
void rt_stream_store(void *to, const void *from, int64_t bytes);
void rt_stream_fence(void);

// Gather and scatter-add on dense tensors: table [batch, outer, n, inner], index [batch, index] of
// type I32 or I64, rows [batch, outer, index, inner]. The table is rows [offset, offset + n) of
// `whole` rows. Gather gives zeros for an index outside of it; scatter-add skips it. Scatter-add
// writes onto (NULL: zeros) plus the rows; table may be onto.
typedef struct RtGather {
    RtType type, index_type;
    int64_t batch, outer, n, index, inner;
    int64_t offset, whole;
} RtGather;
void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index);
void rt_scatter_add(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index,
                    const void *onto);

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

// Starts one of these calls beside the statements that follow. It has ended when rt_wait returns
// for the same slot (below RtModel.slots). Until then only the call may use y, and x may only be
// read. Calls are carried out in the order of their starts, which is the same on all ranks.
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
void rt_arg_max(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, void *y, const void *x);
void rt_cumsum(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, bool exclusive,
               bool reverse, void *y, const void *x);
void rt_top_k(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, int64_t k, void *values,
              void *indices, const void *x);

// Attention: y = dropout(softmax(scale · q·k + bias)) · v. Dims: q [batch, group, s, e],
// k [batch, t, e], v [batch, t, f], y [batch, group, s, f], with any strides and up to RT_MAX_BATCH
// batch dims and as many group dims. lse is f32 and dense in the order of its own strides. Strides
// of bias may be 0.
typedef struct RtAttention {
    int n_batch, n_group;
    int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], s, t, e, f;
    struct {
        int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], row, col;  // row: s or t; col: e, f or t
    } q, k, v, y, lse, bias, drop, dy, dq, dk, dv;  // gradients: for rt_attention_grad only
    bool has_bias, bool_bias, causal, drops;
    // causal: s sees t ≤ s + offset and, where window > 0, t > s + offset - window
    int64_t offset, window;
    float scale;
    // drops: a weight is kept, times 1 / (1 - rate), if rt_uniform(seed, step, site, layer, i) is
    // at least rate. i is drop_at + micro · micro_step for the first score, and moves by the
    // strides `drop`.
    float rate;
    int64_t site, layer, micro_step, drop_at;
} RtAttention;
// seed, step, micro: i64 scalars; all NULL without dropout.
void rt_attention(Rt *rt, const RtAttention *p, void *y, void *lse, const void *q, const void *k,
                  const void *v, const void *bias, const void *seed, const void *step,
                  const void *micro);
void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *seed,
                       const void *step, const void *micro, const void *y, const void *lse,
                       const void *dy);

// ---- workspace: bytes of Rt.workspace that a kernel may use, planned by the compiler ----
// Sets the workspace of the next call. A call that rt_start starts uses it until the call has
// ended.
static inline Rt *rt_with(Rt *rt, char *workspace)
{
    rt->workspace = workspace;
    return rt;
}

// At start, prepared kernels ask the library how much it needs, and refuse to run if that is more.
enum { RT_MAX_THREADS = 64 };
int64_t rt_dot_workspace(const RtDot *p);
int64_t rt_conv_workspace(const RtConv *p);  // the largest of the three directions
int64_t rt_attention_workspace(const RtAttention *p);
int64_t rt_scatter_workspace(const RtGather *p);
int64_t rt_sums_workspace(const RtSums *q);
int64_t rt_reduce_workspace(const RtReduce *p);
// `ranks`: number of ranks along p->axis.
int64_t rt_exchange_workspace(const RtExchange *p, int ranks);

#endif
