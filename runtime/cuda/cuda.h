// Host code of GPU kernels: how they are launched, and what their files share.
#ifndef SHARDCC_RT_CUDA_H
#define SHARDCC_RT_CUDA_H

#include <cuda_runtime_api.h>

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/params.h"
#include "runtime/device.h"
#include "runtime/rt_cuda_workspace.h"
#include "runtime/rt_sizes.h"
#include "runtime/rt_workspace.h"

// ---- the GPU's library and stream: library.c ----

// Is told of recorded functions, whose collectives it follows. It owns the records. {0}: there is
// one rank.
typedef struct RtCudaFollower {
    void *state;
    void *(*begin)(void *state);  // a record begins; returns it
    void (*end)(void *state);
    void (*replay)(void *state, const void *record);
} RtCudaFollower;

// A program's fat binary, loaded, and the stream that its calls go to.
typedef struct RtCuda {
    cudaStream_t stream;
    cudaLibrary_t library;
    struct RtCudaStaging *staging;  // of host memory; NULL: none
    struct RtCudaGraph *graph;      // of functions that have run, a list
    struct RtCudaKernel *kernel;    // those that have been launched, by a hash of their names
    int n, cap;
    struct RtCudaExchanges *exchanges;  // with other ranks; NULL: there is one rank
    RtCudaFollower follower;
    RtCublasLt *blas;         // NULL: no product has needed it
    struct RtMatmul *matmul;  // products by cuBLASLt, a list
} RtCuda;

typedef struct RtCudaStaging RtCudaStaging;
typedef struct RtCudaProgress RtCudaProgress;  // progress.h

static inline RtCuda *rt_cuda_of(const Rt *rt) { return rt->state; }

// ---- recorded functions: graphs.c ----

// Runs a function of the program: the first time directly, the second time it is recorded, and from
// then on the record is replayed. It isn't recorded while its calls are followed.
void rt_cuda_run(Rt *rt, RtPart part);
void rt_cuda_graphs_free(RtCuda *c);

// Loads the fat binary. Returns CUDA's error.
cudaError_t rt_cuda_load(RtCuda *c, const void *image);
void rt_cuda_unload(RtCuda *c);

typedef struct RtCudaGrid {
    int64_t x, y, z;  // blocks
} RtCudaGrid;

// Ends the program with a message if a call failed: the GPU can't go on.
void rt_cuda_must(cudaError_t e, const char *what);
// From now on it ends the job of this communicator too; NULL: no longer.
void rt_cuda_ends_job(struct RtComm *c);

// Launches a kernel of the library on the GPU's stream; nothing if the grid has no blocks. `args`
// point to its arguments. Prints what is wrong and exits if that fails.
void rt_cuda_launch(Rt *rt, const char *kernel, RtCudaGrid grid, int threads, void **args);
#define RT_CUDA_ARGS(...) ((void *[]){__VA_ARGS__})

// The same for the variant of `kernel` for a type: its name and the type's suffix.
void rt_cuda_launch_typed(Rt *rt, const char *kernel, RtType t, RtCudaGrid grid, int threads,
                          void **args);

enum { RT_CUDA_MAX_PARAMETERS = 512 };  // words in the 4 KiB of a kernel's parameters

// Points args[] to the words of a fused group's operands.
void rt_cuda_point_to(void **args, const void *operands, size_t bytes);

// ---- prepared kernels ----

// Allocates a zeroed struct and stores it as kernel number `kernel`; rt_kernels_free frees it.
void *rt_cuda_kernel_new(Rt *rt, int kernel, size_t size);
// A product by our own kernel, for any strides. It may use rt_cuda_dot_workspace.
void rt_cuda_product(Rt *rt, const RtDot *p, void *y, const void *a, const void *b);

// ---- products by cuBLASLt: matmul.c ----

typedef struct RtMatmul RtMatmul;

// Prepares a product, and opens cuBLASLt for the first one. Returns NULL if the product isn't for
// cuBLASLt. Rt.cuda owns it.
RtMatmul *rt_cuda_matmul_new(Rt *rt, const RtDot *p);
// Computes it, with the operands of rt_dot. Returns false, and does nothing, if cuBLASLt has no
// algorithm for it. All calls whose operands have the same alignment use the same algorithm.
bool rt_cuda_matmul(Rt *rt, RtMatmul *q, void *y, const void *left, const void *right);
// Chooses algorithms of all products, RtDevice.tune: tune.c. Others are chosen at a call.
bool rt_cuda_tune(Rt *rt, const RtModel *m);
// Frees all, and closes cuBLASLt.
void rt_cuda_matmuls_free(RtCuda *c);

// ---- attention ----

// The type of q, k, v and y.
static inline RtType rt_cuda_attention_type(const RtAttention *p)
{
    return p->type == RT_NONE ? RT_F32 : p->type;
}

// Tiles of `rows` rows (queries or keys) and blocks of columns.
RtCudaAttention rt_cuda_attention_plan(const RtAttention *p, int64_t rows, int64_t columns);
// Launches the kernel that finds, for each head, an upper bound of the scores outside of the
// limits, into `scratch`, and returns that. NULL: the bound is a number that kernels know.
float *rt_cuda_outside_most(Rt *rt, const RtAttention *p, float *scratch, const void *q,
                            const void *k, const void *bias);

// ---- dims ----

// Adds a dim after the present ones; one of size 1 is left out.
void rt_cuda_dims_add(RtCudaDims *d, int64_t dim, int64_t x, int64_t y);
// Sorts by falling strides of y, or of x, and merges neighbours where both strides allow it.
void rt_cuda_dims_sort_y(RtCudaDims *d);
void rt_cuda_dims_sort_x(RtCudaDims *d);

// Does a block work on each line along a dim? Else a thread does, which takes many lines, and
// neighbouring ones that are contiguous.
static inline bool rt_cuda_has_rows(const RtAlong *p) { return p->inner < 32 && p->n > 32; }

// Threads of a block that searches a line of n elements.
static inline int rt_cuda_line_threads(int64_t n) { return n <= 256 ? 32 : 256; }

// The bits of an element, repeated.
RtCudaPattern rt_cuda_pattern(RtType t, double value);
// Writes the element to all of y's strided elements; `c` has y's dims.
void rt_cuda_put(Rt *rt, const RtCopy *c, void *y, RtCudaPattern value);

#endif
