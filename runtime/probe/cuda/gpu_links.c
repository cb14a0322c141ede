// Measures messages between GPUs by the collectives of trainers: two ranks gather what each has, so
// each sends a message to the other one. The mesh has axes of two ranks, so an axis is a stride,
// and its groups are the pairs of ranks that are so far from each other. All pairs of a stride are
// taken for alike, those that lie between two strides too.
#include <math.h>

#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

enum { SMALL_CALLS_EACH = 20, LARGE_CALLS_EACH = 4, RUNS = 5, MAX_CHAINS = 1000 };

// Bytes of a message that is large enough to show the time per byte: it grows from the least to the
// most until a message takes a millisecond.
enum { MIN_BYTES = 1 << 18 };
static const double LONG = 1e-3;

typedef struct Pairs {
    Probe *p;
    float *x, *y;   // a message, and both ranks' messages
    int64_t large;  // bytes of a large message
    Chain chain;
    double chain_seconds;
} Pairs;

// Messages along an axis, and calls that compute meanwhile.
typedef struct Load {
    const Pairs *pairs;
    int axis, exchanges, chains;
    int64_t bytes;
} Load;

static void put_load(Rt *rt, const void *operand)
{
    const Load *l = operand;
    const Pairs *q = l->pairs;
    RtExchange e = {.type = RT_F32,
                    .axis = l->axis,
                    .outer = 1,
                    .whole = 2 * l->bytes / (int64_t)sizeof(float),
                    .inner = 1};

    for (int i = 0; i < l->exchanges; i++) {
        rt_start(rt, 0, rt_all_gather, &e, q->y, q->x);
        for (int k = l->chains * i / l->exchanges; k < l->chains * (i + 1) / l->exchanges; k++)
            gpu_chain(rt, &q->chain);
        rt_wait(rt, 0);
    }
    for (int k = l->exchanges ? l->chains : 0; k < l->chains; k++)
        gpu_chain(rt, &q->chain);
}

// Seconds of as many large messages, and calls that compute meanwhile.
static double seconds_of(const Pairs *q, int axis, int exchanges, int chains)
{
    Load l = {q, axis, exchanges, chains, q->large};

    return run_seconds_of(q->p, put_load, &l, 1);
}

static double message_of(const Pairs *q, int axis, int64_t bytes, int calls)
{
    Load l = {q, axis, calls, 0, bytes};

    return run_seconds_of(q->p, put_load, &l, RUNS) / calls;
}

// Each pair alone. Gives this rank's alpha and beta by axis.
static void measure_pairs(const Pairs *q, int axis, int stride, double *alpha, double *beta)
{
    const Ranks *r = q->p->ranks;

    for (int first = 0; first < r->n; first++) {
        if (first & stride)
            continue;
        ranks_wait(r);
        if (r->rank != first && r->rank != first + stride)
            continue;
        double small = message_of(q, axis, sizeof(float), SMALL_CALLS_EACH);
        double large = message_of(q, axis, q->large, LARGE_CALLS_EACH);
        *alpha = small;
        *beta = fmax(large - small, 1e-9) / (double)q->large;
    }
    ranks_wait(r);
}

// How many times longer messages of all pairs take than those of one.
static double measure_times(const Pairs *q, int axis, int stride)
{
    const Ranks *r = q->p->ranks;
    double alone = 0;

    ranks_wait(r);
    if (r->rank == 0 || r->rank == stride)
        alone = seconds_of(q, axis, LARGE_CALLS_EACH, 0);
    ranks_wait(r);
    double together = ranks_most(r, seconds_of(q, axis, LARGE_CALLS_EACH, 0));
    return together / ranks_most(r, alone);
}

// Seconds a byte that computation takes longer; it takes half as long again as the messages.
static double measure_overhead(const Pairs *q, int axis)
{
    const Ranks *r = q->p->ranks;
    double exchange = ranks_most(r, seconds_of(q, axis, LARGE_CALLS_EACH, 0));
    int chains = (int)fmin(MAX_CHAINS, ceil(1.5 * exchange / q->chain_seconds));

    ranks_wait(r);
    double alone = seconds_of(q, axis, 0, chains);
    ranks_wait(r);
    double during = seconds_of(q, axis, LARGE_CALLS_EACH, chains);
    return fmax(during - alone, 0) / (LARGE_CALLS_EACH * (double)q->large);
}

// The axis on which two ranks differ that is the farthest: the first one.
static int axis_between(const RtMesh *m, int a, int b)
{
    int axis = 0;

    while (rt_mesh_coordinate(m, axis, a) == rt_mesh_coordinate(m, axis, b))
        axis++;
    return axis;
}

static void measure_axes(const Pairs *q, MessageTimes *t)
{
    const Ranks *r = q->p->ranks;
    const RtMesh *m = &r->model.mesh;
    double alpha[RT_MAX_AXES], beta[RT_MAX_AXES];

    for (int axis = 0; axis < m->n_axes; axis++) {
        int stride = rt_mesh_stride(m, axis);
        measure_pairs(q, axis, stride, &alpha[axis], &beta[axis]);
        for (int i = 0; i < MESSAGE_TRIES; i++) {
            t->times[i * r->n + stride] = measure_times(q, axis, stride);
            t->overhead[i * r->n + stride] = measure_overhead(q, axis);
        }
    }
    for (int other = 0; other < r->n; other++)
        if (other != r->rank) {
            int axis = axis_between(m, r->rank, other);
            t->alpha[r->rank * r->n + other] = alpha[axis];
            t->beta[r->rank * r->n + other] = beta[axis];
        }
}

static void take(Pairs *q, int64_t bytes)
{
    q->large = bytes;
    q->x = gpu_memory(bytes);
    q->y = gpu_memory(2 * bytes);
}

static void give_back(Pairs *q)
{
    rt_cuda_must(cudaFree(q->x), "memory");
    rt_cuda_must(cudaFree(q->y), "memory");
}

static void choose_large(Pairs *q)
{
    take(q, MIN_BYTES);
    for (;;) {
        double seconds = ranks_most(q->p->ranks, seconds_of(q, 0, 1, 0));
        if (q->large >= GPU_LARGE || seconds >= LONG)
            return;
        give_back(q);
        take(q, 4 * q->large);
    }
}

void measure_gpu_links(Probe *p)
{
    MessageTimes t = times_new(p->ranks);
    Pairs q = {.p = p, .chain = {gpu_memory(chain_bytes(p->chains)), p->chains}};

    choose_large(&q);
    q.chain_seconds = ranks_most(p->ranks, call_seconds(p, gpu_chain, &q.chain));
    measure_axes(&q, &t);
    times_print(p->ranks, &t);
    give_back(&q);
    rt_cuda_must(cudaFree(q.chain.y), "memory");
}
