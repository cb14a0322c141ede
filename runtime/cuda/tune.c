// Chooses the algorithms of products: those of the file NAME.tune, or with --tune the fastest of
// those that cuBLASLt offers. They are timed before anything is put into the arena, which gives
// operands and workspace their bytes, so that tuning takes no memory of its own.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/cuda/matmul.h"
#include "runtime/rt_half.h"
#include "runtime/rt_philox.h"
#include "runtime/rt_tune.h"

// The least time of so many runs counts. The first run loads the kernel and isn't timed.
enum { RUNS = 5 };

typedef struct Tuning {
    Rt *rt;
    int64_t arena_bytes;  // bytes of the arena
    RtTune tune;
    cudaEvent_t mark[RUNS + 1];
} Tuning;

// ---- names ----

static bool describe_gpu(const Rt *rt, const RtModel *m, RtTune *to)
{
    struct cudaDeviceProp gpu;
    char name[RT_TUNE_TEXT - 64];
    cudaError_t e = cudaGetDeviceProperties(&gpu, rt->gpu.number);

    if (e)
        return rt_error(m, "the GPU: %s", cudaGetErrorString(e));
    rt_printable(name, sizeof name, gpu.name);
    snprintf(to->gpu, sizeof to->gpu, "%s, sm_%d%d, %d multiprocessors", name, gpu.major, gpu.minor,
             gpu.multiProcessorCount);
    to->library = (int)rt_cuda_of(rt)->blas->cublasLtGetVersion();
    to->has_tf32 = rt->gpu.has_tf32;
    return true;
}

// "2304x768/2304'+0": rows, columns, leading dimension; transposed; the stride of the batch.
static void describe_matrix(const RtCudaMatrix *m, char *to, size_t capacity)
{
    snprintf(to, capacity, "%lldx%lld/%lld%s+%lld", (long long)m->rows, (long long)m->columns,
             (long long)m->leading, m->is_transposed ? "'" : "", (long long)m->stride);
}

// All that cuBLASLt is told of the product.
static void describe_product(const RtMatmul *q, char to[RT_TUNE_TEXT])
{
    static const char *const types[] = {
        [RT_F32] = "f32", [RT_F64] = "f64", [RT_F16] = "f16", [RT_BF16] = "bf16"};
    char a[64], b[64], y[64];

    describe_matrix(&q->plan.a, a, sizeof a);
    describe_matrix(&q->plan.b, b, sizeof b);
    describe_matrix(&q->plan.y, y, sizeof y);
    snprintf(to, RT_TUNE_TEXT, "%s%s %lld: %s %s = %s in %llu", types[q->type],
             q->result == q->type ? "" : " to f32", (long long)q->plan.batches, a, b, y,
             (unsigned long long)q->workspace);
}

// ---- bytes for operands ----

static int64_t up(int64_t bytes)
{
    return rt_ceil_div(bytes, RT_CUDA_MATMUL_ALIGNMENT) * RT_CUDA_MATMUL_ALIGNMENT;
}

static int64_t bytes_of(const RtMatmul *q, const RtCudaMatrix *m, RtType t)
{
    int64_t last = m->rows - 1 + (m->columns - 1) * m->leading + (q->plan.batches - 1) * m->stride;

    return (last + 1) * rt_type_bytes(t);
}

// Returns how many bytes of the arena the product takes, 0 if it is too small. That can happen in
// small programs, where one operand lies between the rows of another one.
static int64_t find_operands(const Tuning *u, const RtMatmul *q, RtMatmulOperands *to)
{
    char *arena = u->rt->arena;
    int64_t bytes_a = bytes_of(q, &q->plan.a, q->type), bytes_b = bytes_of(q, &q->plan.b, q->type);
    int64_t workspace = up(bytes_of(q, &q->plan.y, q->result)),
            a = workspace + up((int64_t)q->workspace);
    int64_t b = a + up(bytes_a);

    // Both factors may be one matrix of the program.
    if (b + bytes_b > u->arena_bytes)
        b = a;
    *to = (RtMatmulOperands){arena, arena + workspace, arena + a, arena + b};
    int64_t bytes = rt_most(a + bytes_a, b + bytes_b);
    return bytes <= u->arena_bytes ? bytes : 0;
}

static int64_t find_bytes(const Tuning *u)
{
    RtMatmulOperands at;
    int64_t bytes = 0;

    for (const RtMatmul *q = rt_cuda_of(u->rt)->matmul; q; q = q->next)
        bytes = rt_most(bytes, find_operands(u, q, &at));
    return bytes;
}

// Fills the arena's begin with random numbers: zeros take a GPU less power and thereby less time.
// Both halves of a word are numbers of bf16 in [-0.5, 0.5), which are small numbers of the other
// types too.
static void draw_operands(const Tuning *u, int64_t bytes)
{
    enum { COUNT = 1 << 20 };
    RtBf16 *x = rt_alloc(COUNT, sizeof *x);
    int64_t block = COUNT * (int64_t)sizeof *x;

    for (int i = 0; i < COUNT; i++)
        x[i] = rt_to_bf16(rt_uniform(0, 0, 0, 0, i) - 0.5f);
    for (int64_t at = 0; at < bytes; at += block)
        u->rt->device->copy_in(u->rt, at, x, rt_least(block, bytes - at));
    free(x);
}

// ---- times ----

static bool start(const RtCuda *c, const RtMatmul *q, const RtMatmulOperands *at,
                  const RtLtAlgorithm *algorithm)
{
    int status = rt_cuda_matmul_start(c, q, at, algorithm);

    if (status == RT_LT_NOT_SUPPORTED || status == RT_LT_INVALID_VALUE)
        return false;
    rt_cublaslt_must(c->blas, status, "a product");
    return true;
}

// Milliseconds; less than 0 if the algorithm can't compute the product after all.
static float time_of(const Tuning *u, const RtMatmul *q, const RtMatmulOperands *at,
                     const RtLtAlgorithm *algorithm)
{
    const RtCuda *c = rt_cuda_of(u->rt);
    float least = -1, ms = 0;

    if (!start(c, q, at, algorithm))
        return -1;
    for (int i = 0; i <= RUNS; i++) {
        rt_cuda_must(cudaEventRecord(u->mark[i], c->stream), "an event");
        if (i < RUNS && !start(c, q, at, algorithm))
            return -1;
    }
    rt_cuda_must(cudaStreamSynchronize(c->stream), "a product");
    for (int i = 0; i < RUNS; i++) {
        rt_cuda_must(cudaEventElapsedTime(&ms, u->mark[i], u->mark[i + 1]), "an event");
        least = i == 0 || ms < least ? ms : least;
    }
    return least;
}

static int find_fastest(const Tuning *u, const RtMatmul *q, const RtLtFound *found, int n)
{
    RtMatmulOperands at;
    float least = 0;
    int best = -1;

    if (!find_operands(u, q, &at))
        return 0;
    for (int i = 0; i < n; i++) {
        if (found[i].status != RT_LT_SUCCESS)
            continue;
        float ms = time_of(u, q, &at, &found[i].algorithm);
        if (ms >= 0 && (best < 0 || ms < least)) {
            best = i;
            least = ms;
        }
    }
    return best < 0 ? 0 : best;
}

// ---- all products ----

// Gives every product its algorithm. One that Tuning.tune lacks is timed if `times`. Returns how
// many have none; these keep the algorithm that cuBLASLt expects to be the fastest.
static int choose_all(Tuning *u, bool times)
{
    const RtCuda *c = rt_cuda_of(u->rt);
    RtLtFound found[RT_TUNE_ALGORITHMS] = {0};
    char product[RT_TUNE_TEXT];
    int lacking = 0;

    for (RtMatmul *q = c->matmul; q; q = q->next) {
        int n = rt_cuda_matmul_search(c, q, true, RT_TUNE_ALGORITHMS, found);
        if (n == 0)
            continue;
        describe_product(q, product);
        const RtTuned *t = rt_tune_find(&u->tune, product);
        if (!t && times && rt_tune_add(&u->tune, product, find_fastest(u, q, found, n)))
            t = &u->tune.product[u->tune.n - 1];
        if (t && t->algorithm < n && found[t->algorithm].status == RT_LT_SUCCESS)
            q->choice[RT_ALIGNED] = (RtMatmulChoice){true, true, found[t->algorithm].algorithm};
        else
            lacking++;
    }
    return lacking;
}

static bool time_all(Tuning *u, const RtModel *m, const char *path)
{
    int64_t bytes = find_bytes(u);
    RtFileError e;

    if (!rt_out_try(path, &e))
        return rt_error(m, "--tune: %s: %s", path, e.text);
    draw_operands(u, bytes);
    for (int i = 0; i <= RUNS; i++)
        rt_cuda_must(cudaEventCreate(&u->mark[i]), "an event");
    choose_all(u, true);
    for (int i = 0; i <= RUNS; i++)
        rt_cuda_must(cudaEventDestroy(u->mark[i]), "an event");
    rt_cuda_must(cudaMemsetAsync(u->rt->arena, 0, (size_t)bytes, rt_cuda_of(u->rt)->stream),
                 "the arena");
    return rt_tune_write(&u->tune, path, &e) || rt_error(m, "--tune: %s: %s", path, e.text);
}

static void use_file(Tuning *u, const RtModel *m, const char *path)
{
    RtTune machine = u->tune;
    RtFileError e;

    if (access(path, F_OK) != 0 && errno == ENOENT)
        return;
    if (!rt_tune_read(&u->tune, path, &e) || !rt_tune_match(&u->tune, &machine, &e)) {
        rt_warn(m, "%s is ignored: %s", path, e.text);
        return;
    }
    int lacking = choose_all(u, false);
    if (lacking)
        rt_warn(m, "%s lacks %d product%s of this program; --tune makes it anew", path, lacking,
                lacking == 1 ? "" : "s");
}

bool rt_cuda_tune(Rt *rt, const RtModel *m)
{
    Tuning u = {.rt = rt, .arena_bytes = m->arena_bytes};
    char path[PATH_MAX];

    if (!rt_cuda_of(rt)->matmul)
        return true;
    if (!rt_path_of(m, ".tune", path, sizeof path))
        return !rt->gpu.tunes || rt_error(m, "--tune: the program's own path isn't known");
    bool is_fine = describe_gpu(rt, m, &u.tune);
    if (is_fine && rt->gpu.tunes)
        is_fine = time_all(&u, m, path);
    else if (is_fine)
        use_file(&u, m, path);
    rt_tune_free(&u.tune);
    return is_fine;
}
