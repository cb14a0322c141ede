// What a generated trainer sees of the runtime: its own description (RtModel), the kernels, and
// rt_main, which does the rest. The compiler includes this header too, for RtModel's layout and for
// the workspace formulas; it includes nothing of the compiler.
//
// Kernels are prepared once, in RtModel.init, under a small number (an enum of the generated text),
// and then called with pointers into the arena. Sizes and strides are in elements unless they say
// bytes. A kernel's result does not depend on the number of threads where the library's doesn't.
#ifndef SHARDCC_RT_H
#define SHARDCC_RT_H

#include <stdbool.h>
#include <stdint.h>

// Kernels and generated code are written for the widest vectors there are (a tile of a product
// fills 24 of AVX-512's registers); gcc's -march of most such CPUs prefers halves. clang has no
// pragma for it.
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
    char *workspace;            // in the arena: of the call, see rt_with
    struct RtProfile *profile;  // NULL: nobody asks how long calls take
    struct RtWatch *watch;      // NULL: nobody looks at the arena
    struct RtSaver *gradients;  // NULL: nobody saves gradients
    RtShard *shard;             // of this rank, one for each of RtModel.cuts
    struct RtComm *comm;        // to the other ranks; NULL: there is one rank
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
    RT_GRADIENT,  // name is the parameter's; without a place: see rt_gradient
    RT_LOSS_SUM,
    RT_LOSS_COUNT,
    RT_GRAD_NORM,
    RT_BAD_LABEL
} RtRole;

enum { RT_MAX_AXES = 4, RT_MAX_DIMS = 12 };

// The ranks as a grid, its axes from slow links to fast ones: rank r has coordinate
// r / (product of the sizes after axis a) % size[a] along axis a. No axes: one rank.
typedef struct RtMesh {
    int n_axes, size[RT_MAX_AXES];
    const char *name[RT_MAX_AXES];
} RtMesh;

// A dim of `whole` elements that mesh axes split, outermost first. Chunks nest: c = ceil(n / p),
// then ceil(c / q). A rank has room for a chunk, and in it what is left of the dim, its RtShard;
// the rest of the chunk is padding, which may hold anything.
typedef struct RtCut {
    int64_t whole;
    int n_axes, axis[RT_MAX_AXES];
} RtCut;

// How the ranks reach each other: libshardrt_mpi.a has rt_mpi, which needs MPI.
typedef struct RtTransport RtTransport;
extern const RtTransport rt_mpi;

typedef enum RtInit { RT_INIT_NONE, RT_INIT_NORMAL, RT_INIT_ONE, RT_INIT_ZERO } RtInit;

// One tensor in the arena, or `layers` alike ones `step` bytes apart.
typedef struct RtTensor {
    RtRole role;
    RtType type;
    const char *name;          // "h.{}.attn.weight": {} stands for first + layer * by (0: 1); UTF-8
    const char *const *names;  // or one name per layer, where they follow no pattern
    int layers, first, by;     // layers 0: a single tensor
    int rank;
    int64_t dim[8];        // towards the user
    int64_t offset, step;  // bytes in the arena
    // Where ranks have pieces of it: the dims that are cut or not, finer than dim[] perhaps, but of
    // the same bytes; and of each 1 + the number of its cut in RtModel.cuts, 0 for none. A rank's
    // piece lies row-major in room for chunks. n_parts 0: every rank has the whole.
    int n_parts;
    int64_t part[RT_MAX_DIMS];
    int cut[RT_MAX_DIMS];
    int gradient;  // RT_GRADIENT: its number in calls of rt_gradient
    double fill;
    int64_t least, bound;  // RT_INPUT: its elements index tables of rows [least, bound); 0: no
    RtInit init;
    const void *data;  // RT_CONSTANT: all layers, one after the other
} RtTensor;

typedef struct RtModel {
    const char *name, *options, *plan;  // base name; canonical options; the plan in one line
    int64_t arena_bytes;
    int slots;  // of rt_start
    int n_kernels;
    int accumulate;      // micro-batches per step
    double init_std;     // of RT_INIT_NORMAL; 0: the program needs a weights file
    double flops;        // of a whole step
    int64_t vocabulary;  // tokens that the model knows; 0: its inputs aren't tokens
    const char *labels;  // the input that only the loss reads; NULL: there is none
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
    int redzone;                  // so many bytes behind each of `tensors` (its end rounded up to
                                  // 64) and each life are nobody's
    void (*live_ranges)(Rt *rt);  // calls rt_live_ranges for each set; NULL: nothing is known
    void (*init)(Rt *rt);         // prepares kernels
    void (*micro)(Rt *rt, char *m);   // forward and backward of one micro-batch; NULL: cannot train
    void (*reduce)(Rt *rt, char *m);  // gradients' mean and norm, NULL: micro does that
    void (*update)(Rt *rt, char *m);  // optimizer, NULL: micro does that
    void (*forward)(Rt *rt, char *m);  // forward only
} RtModel;

// ---- lives: what --check-arena knows of a set's buffers ----
typedef enum RtSet { RT_TRAINING, RT_FORWARD } RtSet;

// `bytes` at `offset` hold something from statement `first` to `last`, both included. Statements
// are the calls of kernels in the order of the text, and the begin and end of each loop; the first
// is 0.
typedef struct RtLiveRange {
    const char *name;
    int64_t offset, bytes;
    int first, last;
} RtLiveRange;

// What begins at late[k], if that isn't 0, up to the next such or the end runs k + 1 turns later
// than what the loop begins with: not in the first turns, where that does, and until the last.
enum { RT_MAX_SKEW = 5 };

typedef struct RtLoop {
    int begin, end, iterations, skewed[RT_MAX_SKEW];
} RtLoop;

// Both lists end with {0}.
void rt_live_ranges(Rt *rt, RtSet set, const RtLiveRange *range, const RtLoop *loop);

// To be called first by a program of its own: starts it again with threads that don't spin for long
// while they wait, unless the environment says how they should. libgomp reads that before main
// only; by default it spins for milliseconds, which on a shared machine made steps ten times
// slower.
void rt_limit_spinning(char **argv);
// Keeps each thread on a CPU of its own, of those that the process may use, from the first on.
// Gives how many threads have one: all, or there are no more CPUs.
int rt_pin(int threads, int first);

// The trainer: options, data, step loop, logs, checkpoints. Returns the exit status.
int rt_main(const RtModel *model, int argc, char **argv);

// ---- loops ----
// Before a loop whose turns don't depend on each other, and one that adds to the named variables.
#ifdef _OPENMP
#define RT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define RT_SIMD RT_PRAGMA(omp simd)
#define RT_SIMD_SUM(...) RT_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#else
#define RT_SIMD
#define RT_SIMD_SUM(...)
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop that it leaves scalar is no mistake
#endif

// Calls for what a loop reads soon. Memory is slow to answer, and what the machine calls for on its
// own is too little where much is computed of each element.
static inline void rt_prefetch(const void *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)i));
}

// Sums in the lanes of a line, which are the same on all machines: adds some; gives that of all.
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

// A fused group over rows [first, last); p holds the places of its operands, so that groups alike
// share a function. Static partition over the threads; `work` (elements times operations) tells
// whether they are worth waking.
typedef void RtRows(char *const *p, int64_t first, int64_t last);
void rt_rows(Rt *rt, RtRows *f, char *const *p, int64_t rows, int64_t work);

// One that also adds up columns: row r of `rows` at each of `outer` places is row outer * rows + r,
// and its function adds to n sums of `width` elements. They go to y, each [outer, width]. The tree
// of additions is fixed by these sizes.
typedef void RtSumRows(char *const *p, int64_t first, int64_t last, float *s);
typedef struct RtSums {
    int64_t outer, rows, width, n, work;
} RtSums;
void rt_sums(Rt *rt, RtSumRows *f, char *const *p, const RtSums *q, char *const *y);

// To be called once a step for each parameter's gradient, when it is whole and before anything is
// written over it: layer `layer` of the RT_GRADIENT tensors of that number. --save-gradients
// listens.
void rt_gradient(Rt *rt, int gradient, int64_t layer, const void *data);

// ---- calls ----
// What the call in the next statement does: "h.{}.mlp.c_fc: dot f32[4,64,3072]" is its module, its
// operators and the type of what it makes; then its flops, the bytes that memory has to bring and
// to take, and the seconds that shardcc foresaw (absent: it was given no cluster). --profile,
// --trace and
// --check-arena listen, and of several ranks one that waits in vain for another tells it; else this
// is a look at three pointers.
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
void rt_kernels_free(Rt *rt, int n);  // all that were prepared, numbers [0, n)

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
// y [n, o, y_dim…]; x and y dense in this order or with channels last (n, spatial…, c).
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

// Pooling over a window; layout as RtConv's, x_last and y_last equal; w, o and groups unused.
void rt_max_pool(Rt *rt, const RtConv *p, void *y, const void *x);
void rt_max_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *x, const void *dy);
void rt_sum_pool(Rt *rt, const RtConv *p, void *y, const void *x);
void rt_sum_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *dy);

// Reduction of a strided tensor to a dense one. Dims where `reduced` are gone in y; the others keep
// their order. Fixed tree by index.
typedef enum RtReduceOp { RT_SUM, RT_MAX, RT_MIN } RtReduceOp;
typedef struct RtReduce {
    RtReduceOp op;
    RtType type;
    int rank;
    int64_t dim[RT_MAX_DIMS], stride[RT_MAX_DIMS];
    bool reduced[RT_MAX_DIMS];
} RtReduce;
void rt_reduce(Rt *rt, const RtReduce *p, void *y, const void *x);

// Strided copy: y[i] = x[i] over dim; strides may be 0 or negative for x. `bytes`: of one element.
typedef struct RtCopy {
    int bytes, rank;
    int64_t dim[RT_MAX_DIMS], x_stride[RT_MAX_DIMS], y_stride[RT_MAX_DIMS];
} RtCopy;
void rt_copy(Rt *rt, const RtCopy *p, void *y, const void *x);
void rt_fill(Rt *rt, RtType t, void *y, int64_t count, double value);

// What is larger than RT_STREAM_BYTES bytes no cache holds until it is read again. Written past
// them, memory takes it without first bringing what it is written over. `to` gets zeros where
// `from` is NULL; others see it after rt_stream_fence.
enum { RT_STREAM_BYTES = 64 << 20 };
void rt_stream_store(void *to, const void *from, int64_t bytes);
void rt_stream_fence(void);

// Gather and scatter-add on dense tensors seen as table [batch, outer, n, inner], index
// [batch, index], rows [batch, outer, index, inner]; index type I32 or I64. offset and whole: the
// table is rows [offset, offset + n) of whole; an index outside gives zero (is skipped).
typedef struct RtGather {
    RtType type, index_type;
    int64_t batch, outer, n, index, inner;
    int64_t offset, whole;
} RtGather;
void rt_gather(Rt *rt, const RtGather *p, void *y, const void *table, const void *index);
void rt_scatter_add(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index,
                    const void *onto);

// ---- between ranks ----
// All ranks that differ in their coordinate along mesh axis `axis` alone (of rt_permute: axis and
// other) call these together; of n such ranks, number i has coordinate i. Tensors are dense, of
// chunks; pieces of a dim of `whole` elements lie at multiples of piece = ceil(whole / n), the last
// ones cut short. Padding moves as it comes. Of all-reduce and keep_one y may be x.
typedef struct RtExchange {
    RtType type;
    RtReduceOp op;
    int axis, other;  // other: of rt_permute
    // The tensor is seen as [outer, whole, inner]; of rt_all_to_all as [outer, whole, middle,
    // joined, inner], or, where joins_first, as [outer, joined, middle, whole, inner]: `whole` is
    // split over the ranks, and the pieces of `joined` are put together. Of all-reduce, keep_one
    // and permute, outer · whole · inner are the elements.
    int64_t outer, whole, middle, joined, inner;
    bool joins_first;
} RtExchange;
void rt_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x);  // y has the whole dim
void rt_all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x);  // y: op of all x
void rt_all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x);
void rt_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x);  // x has the whole dim
void rt_shard(Rt *rt, const RtExchange *p, void *y, const void *x);           // x has the whole dim
// Rank 0 along the axis keeps x, the others get op's identity.
void rt_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x);
// With p ranks along `axis` and q along `other`, rank (i, j) gets what rank (k / q, k % q) has,
// where k = j · p + i.
void rt_permute(Rt *rt, const RtExchange *p, void *y, const void *x);

// One of these calls beside those that follow: it has ended when rt_wait for the same slot, a
// number below RtModel.slots, gives back. Until then y is its own, and x is only read. Such calls
// are carried out one after the other as they were started, which is in the same order on all
// ranks.
typedef void RtCollective(Rt *rt, const RtExchange *p, void *y, const void *x);
void rt_start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x);
void rt_wait(Rt *rt, int slot);

// Sets the padding of dim `dim` of a strided tensor, from `piece`'s extent on, to op's identity.
typedef struct RtPad {
    RtType type;
    RtReduceOp op;
    int rank, dim;
    int64_t size[RT_MAX_DIMS], stride[RT_MAX_DIMS];
} RtPad;
void rt_pad(Rt *rt, const RtPad *p, const RtShard *shard, void *x);

// Along one dim of a dense tensor seen as [outer, n, inner].
void rt_arg_max(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, void *y, const void *x);
void rt_cumsum(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, bool exclusive,
               bool reverse, void *y, const void *x);
void rt_top_k(Rt *rt, RtType t, int64_t outer, int64_t n, int64_t inner, int64_t k, void *values,
              void *indices, const void *x);

// Attention: dropout(softmax(scale · q·k + bias)) · v over dims [batch, group, s, e] for q, [batch,
// t, e] for k, [batch, t, f] for v, [batch, group, s, f] for y, any strides; up to RT_MAX_BATCH
// batch dims and group dims. lse f32, dense in the order of its own strides. bias strides may be 0.
typedef struct RtAttention {
    int n_batch, n_group;
    int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], s, t, e, f;
    struct {
        int64_t batch[RT_MAX_BATCH], group[RT_MAX_BATCH], row, col;  // row: s or t; col: e, f or t
    } q, k, v, y, lse, bias, drop, dy, dq, dk, dv;  // gradients: of rt_attention_grad only
    bool has_bias, bool_bias, causal, drops;
    // causal: s sees t ≤ s + offset and, where window > 0, t > s + offset - window
    int64_t offset, window;
    float scale;
    // drops: a weight stays, times 1 / (1 - rate), where rt_uniform(seed, step, site, layer, i) is
    // at least rate. i is drop_at + micro · micro_step at the first score and goes on by the
    // strides `drop`.
    float rate;
    int64_t site, layer, micro_step, drop_at;
} RtAttention;
// seed, step, micro: i64; all NULL where nothing is dropped.
void rt_attention(Rt *rt, const RtAttention *p, void *y, void *lse, const void *q, const void *k,
                  const void *v, const void *bias, const void *seed, const void *step,
                  const void *micro);
void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *seed,
                       const void *step, const void *micro, const void *y, const void *lse,
                       const void *dy);

// ---- workspace: bytes a kernel may use of Rt.workspace, planned by the compiler ----
// The rank, for a call that may write there meanwhile; of what rt_start starts, until it has ended.
static inline Rt *rt_with(Rt *rt, char *workspace)
{
    rt->workspace = workspace;
    return rt;
}

// Prepared kernels ask the library at start and refuse to run if it wants more.
enum { RT_MAX_THREADS = 64 };
int64_t rt_dot_workspace(const RtDot *p);
int64_t rt_conv_workspace(const RtConv *p);  // the largest of the three directions
int64_t rt_attention_workspace(const RtAttention *p);
int64_t rt_scatter_workspace(const RtGather *p);
int64_t rt_sums_workspace(const RtSums *q);
int64_t rt_reduce_workspace(const RtReduce *p);
// `ranks`: along p->axis.
int64_t rt_exchange_workspace(const RtExchange *p, int ranks);

#endif
