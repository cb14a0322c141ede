// Measures how fast collectives of all ranks are, as trainers call them and as plain calls of NCCL,
// both recorded in graphs. Operands are whole numbers, so sums are exact in any order: the results
// of both, run directly and from a graph, must have the same bits.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/collectives.h"
#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

// Calls of a graph, whose median of some runs counts.
enum { SMALL_CALLS_EACH = 20, LARGE_CALLS_EACH = 5, RUNS = 5, SMALL = 1 << 24 };
// A rank's share of the elements is a multiple of this, so that no operand needs padding.
enum { SHARE = 16 };

typedef struct Row {
    const char *name;
    RtCollective *call;
    RtExchangeKind kind;
} Row;
static const Row rows[] = {{"all_gather", rt_all_gather, RT_ALL_GATHER},
                           {"all_reduce", rt_all_reduce, RT_ALL_REDUCE},
                           {"all_to_all", rt_all_to_all, RT_ALL_TO_ALL},
                           {"permute", rt_permute, RT_PERMUTE},
                           {"reduce_scatter", rt_reduce_scatter, RT_REDUCE_SCATTER}};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Measured {
    Probe *p;
    const Row *row;
    RtExchange e;
    Plain *plain;
    PlainCall call;
    int64_t bytes;        // of x and y: of the whole tensor
    char *first, *other;  // results on the host: of the first run, and of another one
    bool has_first, is_same;
} Measured;

static void put_ours(Rt *rt, const void *operand)
{
    const Measured *m = operand;

    for (int i = 0; i < m->call.times; i++)
        m->row->call(rt, &m->e, m->call.y, m->call.x);
}

static void put_plain(Rt *rt, const void *operand)
{
    const Measured *m = operand;

    plain_put(rt, m->plain, &m->call);
}

// ---- operands and results ----

static void upload(float *to, const void *from, int64_t bytes)
{
    rt_cuda_must(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice), "a copy");
}

static void draw(const Measured *m)
{
    float *x = (float *)m->other;
    uint32_t u = (uint32_t)m->p->ranks->rank + 1;

    for (int64_t i = 0; i < m->call.count; i++) {
        u = u * 1664525 + 1013904223;
        x[i] = (float)(u >> 22);
    }
    upload(m->call.x, x, m->bytes);
}

// Compares a run's result with the first one's, and leaves something else in y.
static void take_result(void *measured)
{
    Measured *m = measured;
    char *to = m->has_first ? m->other : m->first;

    rt_cuda_must(cudaMemcpy(to, m->call.y, (size_t)m->bytes, cudaMemcpyDeviceToHost), "a copy");
    m->is_same = m->is_same && (!m->has_first || memcmp(m->first, m->other, (size_t)m->bytes) == 0);
    m->has_first = true;
    memset(m->other, 0xff, (size_t)m->bytes);
    upload(m->call.y, m->other, m->bytes);
}

// ---- a row ----

static RtExchange exchange_of(const Measured *m, int64_t count)
{
    int64_t n = m->p->ranks->n;
    RtExchange e = {.type = RT_F32, .op = RT_SUM, .outer = 1, .inner = 1};

    e.whole = m->row->kind == RT_ALL_TO_ALL ? n : count;
    if (m->row->kind == RT_ALL_TO_ALL) {
        e.middle = 1;
        e.joined = n;
        e.inner = count / n;
    }
    e.other = m->row->kind == RT_PERMUTE;
    return e;
}

// Seconds of a call on the slowest rank.
static double seconds_of(Measured *m, ProbeCall *put)
{
    const Ranks *r = m->p->ranks;

    m->call.times = 1;
    ranks_wait(r);
    run_twice(m->p, put, m, take_result, m);
    take_result(m);
    m->call.times = m->bytes <= SMALL ? SMALL_CALLS_EACH : LARGE_CALLS_EACH;
    ranks_wait(r);
    return ranks_most(r, run_seconds_of(m->p, put, m, RUNS) / m->call.times);
}

static void print_seconds(const char *name, double seconds)
{
    if (seconds > 0)
        printf(", \"%s\": %.4g", name, seconds);
}

static void measure_row(Measured *m, int64_t count)
{
    const Ranks *r = m->p->ranks;
    double ours = 0, plain = 0;

    m->e = exchange_of(m, count);
    m->call.kind = m->row->kind;
    m->call.count = count;
    if (r->comm && m->call.kind == RT_PERMUTE)
        m->call.partners = rt_partners(r->comm, &m->e);
    m->has_first = false;
    m->is_same = true;
    draw(m);
    memset(m->other, 0xff, (size_t)m->bytes);
    upload(m->call.y, m->other, m->bytes);
    if (r->comm)
        ours = seconds_of(m, put_ours);
    if (m->plain)
        plain = seconds_of(m, put_plain);
    m->is_same = ranks_most(r, !m->is_same) == 0;
    if (r->rank)
        return;
    printf("{\"collective\": \"%s\", \"bytes\": %lld", m->row->name, (long long)m->bytes);
    print_seconds("seconds", ours);
    print_seconds("plain_seconds", plain);
    printf(", \"same_bits\": %s}\n", m->is_same ? "true" : "false");
    fflush(stdout);
}

// Allocates operands of so many bytes, which are the largest that rows of this size have.
static void measure_size(Measured *m, int64_t bytes)
{
    const Ranks *r = m->p->ranks;
    int64_t count = rt_round_up(rt_ceil_div(bytes, (int64_t)sizeof(float)), (int64_t)r->n * SHARE);
    bool has_pairs = r->model.mesh.n_axes == 2;

    m->bytes = count * (int64_t)sizeof(float);
    m->call.x = gpu_memory(m->bytes);
    m->call.y = gpu_memory(m->bytes);
    m->p->rt.workspace = gpu_memory(2 * m->bytes + 1);
    m->first = rt_alloc(1, (size_t)m->bytes);
    m->other = rt_alloc(1, (size_t)m->bytes);
    for (m->row = rows; m->row < rows + ROWS; m->row++)
        if (r->n == 1 || has_pairs == (m->row->kind == RT_PERMUTE))
            measure_row(m, count);
    free(m->first);
    free(m->other);
    rt_cuda_must(cudaFree(m->call.x), "memory");
    rt_cuda_must(cudaFree(m->call.y), "memory");
    rt_cuda_must(cudaFree(m->p->rt.workspace), "memory");
}

int64_t collectives_pinned(CollectiveSizes sizes)
{
    return 4 * sizes.most + (1 << 20);  // both operands and the workspace, rounded up
}

bool measure_collectives(Probe *p, CollectiveSizes sizes)
{
    RtDescription d = {.text = "one rank"};
    Measured m = {.p = p, .plain = plain_open(p)};

    if (!p->ranks->comm && !m.plain)
        return false;
    if (p->ranks->comm)
        rt_collectives_describe(&p->rt, &d);
    if (!p->ranks->rank)
        printf("{\"ranks\": %d, \"exchange\": \"%s\"}\n", p->ranks->n, d.text);
    for (int64_t bytes = sizes.least; bytes <= sizes.most; bytes *= 4)
        measure_size(&m, bytes);
    plain_close(m.plain);
    return true;
}
