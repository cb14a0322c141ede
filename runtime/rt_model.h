// The description of a trainer, which its generated text makes and the runtime and the compiler
// read: types, tensors and their roles, the mesh, how dims are cut, live ranges, and the functions
// of a step. The header has no code, and includes nothing of the compiler. C, C++ and CUDA can
// include it.
//
// Sizes and strides are in elements unless they say bytes.
#ifndef SHARDCC_RT_MODEL_H
#define SHARDCC_RT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

// A running trainer, as its text and the kernels see it: rt_kernels.h.
typedef struct Rt Rt;

typedef enum RtRole {
    RT_PARAMETER,
    RT_BUFFER,    // loaded and saved
    RT_STATE,     // optimizer state: set to `fill` at start
    RT_ZERO,      // set to `fill` before each step
    RT_HYPER,     // scalars set before each step; `fill` is the default
    RT_CONSTANT,  // RtTensor.data copied in at start
    RT_INPUT,
    RT_OUTPUT,
    RT_GRADIENT,  // named as its parameter; has no bytes in the arena: see rt_gradient
    RT_LOSS_SUM,
    RT_LOSS_COUNT,
    RT_GRAD_NORM,
    RT_LOSS_SCALE,  // steps whose RT_GRAD_NORM isn't finite are skipped
    RT_BAD_LABEL,
    RT_BAD_INDEX,  // RtTensor.name is the node's, bound its table's
    RT_BAD_SIZES   // RtTensor.name is the node's, bound the size of the dim that it splits
} RtRole;

enum { RT_MAX_AXES = 4, RT_MAX_DIMS = 12 };

// The ranks as a grid, with axes from slow links to fast ones. Rank r has coordinate r / (product
// of the sizes after axis a) % size[a] along axis a. No axes: one rank.
typedef struct RtMesh {
    int n_axes, size[RT_MAX_AXES];
    const char *name[RT_MAX_AXES];
} RtMesh;

// A dim of `whole` elements that mesh axes split, outermost first. Chunks nest: c = ceil(n / p),
// then ceil(c / q). Each rank has memory for a chunk, which contains its RtShard. The rest of the
// chunk is padding, whose contents are undefined.
typedef struct RtCut {
    int64_t whole;
    int n_axes, axis[RT_MAX_AXES];
} RtCut;

// The transport between ranks. libshardrt_mpi.a has rt_mpi, which needs MPI.
typedef struct RtTransport RtTransport;
typedef struct RtCollectives RtCollectives;  // how they are carried out: collectives.h
#define RT_TRANSPORT(name, ...) extern const RtTransport rt_##name;
#include "rt_transports.def"
#undef RT_TRANSPORT

// The device that a program runs on: device.h. The header of its text declares it.
typedef struct RtDevice RtDevice;

// One tensor in the arena, or `layers` tensors of the same shape, `step` bytes apart.
typedef struct RtTensor {
    RtRole role;
    RtType type;
    const char *name;  // {} in "h.{}.attn.weight" means first + layer * by (by 0: 1); UTF-8
    int rank;
    int64_t dim[8];  // the shape that the user sees
    int64_t at;      // offset in the arena, in bytes
    int layers;      // 0: a single tensor
    int64_t step;    // from one layer's to the next, in bytes
    // RT_PARAMETER: without a file it begins at 1. Others are drawn if they have two dims or more,
    // and begin at 0 else.
    bool is_one;
    int first, by;
    const char *const *names;  // or one name per layer, if the names follow no pattern
    // For sharded tensors: the dims of the same bytes as dim[], maybe refined; and for each of them
    // 1 + the number of its cut in RtModel.cuts, or 0 if it isn't cut. A rank's shard lies
    // row-major in a chunk. n_parts 0: every rank has the whole tensor.
    int n_parts;
    int64_t part[RT_MAX_DIMS];
    int cut[RT_MAX_DIMS];
    int gradient;  // RT_GRADIENT: the number that rt_gradient is called with
    double fill;
    int64_t least, bound;  // RT_INPUT: its elements index tables of rows [least, bound); 0: no
    bool is_labels;        // RT_INPUT: the loss compares an output of the model with it
    bool is_for_loss;      // RT_INPUT of `predict`: no output of the model depends on it
    const void *data;      // RT_CONSTANT: all layers, contiguous
} RtTensor;

enum { RT_MAX_THREADS = 64 };  // most of RtModel.threads

typedef struct RtModel {
    const char *name, *options, *plan;  // base name; canonical options; the plan in one line
    uint64_t identity;                  // a hash of the text, without these three
    uint64_t plan_hash;                 // of what is in the plan's file; 0: there is no plan
    int64_t arena_bytes;
    int slots;  // number of slots of rt_start
    // Devices that exchange through memory of the host: of both operands of a call and of its
    // messages, at most.
    int64_t exchange_bytes;
    int n_kernels;
    int threads;      // the most that it may compute with
    int accumulate;   // micro-batches per step
    double init_std;  // standard deviation of drawn parameters; 0: the program needs a weights file
    double flops;     // of a whole step
    const char *precision;  // of products' operands: "bf16", "f16"; NULL: f32
    double peak;  // flop/s of a rank's products in f32 at best, by the cluster's file; 0: unknown
    int64_t vocabulary;  // number of tokens that the model knows; 0: its inputs aren't tokens
    bool ignores;        // labels of this number count for nothing in the loss
    int64_t ignored_label;
    RtMesh mesh;
    const char *const *blocks;     // the names of repeated blocks, which RtCall.block counts from 1
    const RtTransport *transport;  // &rt_mpi …; NULL: there is one rank
    const RtCollectives *collectives;  // of several ranks; NULL: those of the transport
    const RtDevice *device;
    const void *kernels;      // of a GPU: the fat binary with the program's kernels
    const char *kernels_for;  // "sm_80, sm_90": the GPUs that they are for
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
    void (*live_ranges)(Rt *rt);       // calls rt_live_ranges for each set; NULL: it has none
    void (*init)(Rt *rt);              // prepares kernels
    void (*prepare)(Rt *rt, char *m);  // what all micro-batches of a step share; NULL: nothing
    void (*micro)(Rt *rt, char *m);   // forward and backward of one micro-batch; NULL: cannot train
    void (*reduce)(Rt *rt, char *m);  // mean and norm of gradients; NULL: micro does that
    void (*update)(Rt *rt, char *m);  // optimizer, NULL: micro does that
    void (*forward)(Rt *rt, char *m);  // forward only
} RtModel;

// Instances of a value of repeated layers, one after the other: the offset of the first, in bytes
// from the arena's start, and the bytes from each to the next.
typedef struct RtStack {
    int64_t first, step;
} RtStack;

// ---- live ranges: the buffers of a set, for --check-arena ----
typedef enum RtSet { RT_TRAINING, RT_FORWARD } RtSet;

// `bytes` at `offset` are in use from statement `first` to `last`, both included. Statements are
// the kernel calls in the order of the text, and the start and end of each loop. The first is 0.
//
// A buffer may have slots, one for each iteration of a loop: each iteration of the loop that ends
// at statement `taken` takes one, and each iteration of the loop that ends at `freed` frees one (0:
// there is no such loop). takes_down: the last slot is taken first; frees_down: it is freed first.
typedef struct RtLiveRange {
    const char *name;
    int64_t offset, bytes;
    int first, last;
    int64_t slot;  // bytes; 0: all of the buffer is in use
    int taken, freed;
    bool takes_down, frees_down;
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

// One run of a part of a function that runs stages again: `part` says which code; `layer` is its
// iteration in a loop. The stage's slots are at `at`, in bytes from the arena's start: handed,
// saved and scratch of a forward part, gradient and scratch of a backward part. is_last: it is the
// last run of the stage's forward part.
typedef struct RtStageRun {
    int part, stage, layer;
    bool is_last;
    int64_t at[3];
} RtStageRun;

// Called before and after the runs of a function. They count as one statement.
void rt_runs_begin(Rt *rt);
void rt_runs_end(Rt *rt);

// The trainer: options, data, step loop, logs, checkpoints. Returns the exit status.
int rt_main(const RtModel *model, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
