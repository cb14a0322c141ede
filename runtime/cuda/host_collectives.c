// Exchanges between GPUs through memory of the host: a call copies its operand to pinned memory,
// exchanges it there as ranks of CPUs do, and copies the result back. CUDA calls the exchange, on a
// thread of its own, when the stream has come so far, also when a recorded function is replayed; so
// the rank's own thread waits for none. Several ranks can share a GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/cuda/collectives.h"
#include "runtime/exchange/message_collectives.h"

// A message for CUDA's thread. It is kept, since a recorded function calls it again and again.
typedef struct HostCall {
    struct HostExchanges *host;
    RtCollective *f;
    RtExchange p;
    char *y, *x, *workspace;  // in memory of the host
    RtCallName at;
} HostCall;

typedef struct HostExchanges {
    RtComm *comm;  // of CUDA's thread
    Rt rt;         // passed to the collectives of messages
    char *memory;  // pinned: RtModel.exchange_bytes
    int64_t bytes;
    HostCall **call;  // those that there were, by a hash of them
    int n, cap;       // half of which are used at most
} HostExchanges;

static HostExchanges *host_of(const Rt *rt) { return rt_cuda_of(rt)->exchanges->state; }

static bool host_open(Rt *rt, const RtModel *m, bool overlaps)
{
    HostExchanges *h = rt_alloc(1, sizeof *h);
    void *memory = NULL;

    rt_cuda_of(rt)->exchanges->state = h;
    h->comm = &rt_cuda_of(rt)->exchanges->second.comm;
    h->rt = (Rt){.device = rt->device, .threads = 1, .comm = h->comm};
    h->bytes = m->exchange_bytes;
    cudaError_t e = cudaMallocHost(&memory, (size_t)rt_most(h->bytes, 1));
    if (e)
        return rt_error(m, "pinned memory of %.1f MiB for exchanges: %s",
                        (double)h->bytes / (1 << 20), cudaGetErrorString(e));
    h->memory = memory;
    return true;
}

static void host_close(Rt *rt, bool is_clean)
{
    HostExchanges *h = host_of(rt);

    if (!h)
        return;
    if (h->memory)
        cudaFreeHost(h->memory);
    for (int i = 0; i < h->cap; i++)
        free(h->call[i]);
    free(h->call);
    free(h);
}

static void describe(const Rt *rt, RtDescription *to)
{
    snprintf(to->text, sizeof to->text, "memory of the host, of which each pins %.2f MiB",
             (double)host_of(rt)->bytes / (1 << 20));
}

// ---- calls that are kept ----

static uint64_t hash_of(const HostCall *c)
{
    const RtExchange *p = &c->p;
    const int64_t word[] = {(intptr_t)c->y, (intptr_t)c->x, (intptr_t)c->at.what,
                            c->at.layer,    (intptr_t)c->f, p->type,
                            p->op,          p->axis,        p->other,
                            p->outer,       p->whole,       p->middle,
                            p->joined,      p->inner,       p->joins_first};
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        hash = (hash ^ (uint64_t)word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> 20;
}

static bool is_same(const HostCall *a, const HostCall *b)
{
    const RtExchange *p = &a->p, *q = &b->p;

    return a->y == b->y && a->x == b->x && a->f == b->f && a->at.what == b->at.what &&
           a->at.layer == b->at.layer && p->type == q->type && p->op == q->op &&
           p->axis == q->axis && p->other == q->other && p->outer == q->outer &&
           p->whole == q->whole && p->middle == q->middle && p->joined == q->joined &&
           p->inner == q->inner && p->joins_first == q->joins_first;
}

// The call's entry in the table, or the free one where it belongs.
static HostCall **entry_of(const HostExchanges *h, const HostCall *c)
{
    for (uint64_t i = hash_of(c);; i++) {
        HostCall **entry = &h->call[i % (uint64_t)h->cap];
        if (!*entry || is_same(*entry, c))
            return entry;
    }
}

static void grow(HostExchanges *h)
{
    HostExchanges old = *h;

    h->cap = old.cap ? 2 * old.cap : 64;
    h->call = rt_alloc((size_t)h->cap, sizeof *h->call);
    for (int i = 0; i < old.cap; i++)
        if (old.call[i])
            *entry_of(h, old.call[i]) = old.call[i];
    free(old.call);
}

static HostCall *keep(HostExchanges *h, const HostCall *c)
{
    if (2 * h->n >= h->cap)
        grow(h);
    HostCall **entry = entry_of(h, c);
    if (!*entry) {
        *entry = rt_alloc(1, sizeof **entry);
        **entry = *c;
        h->n++;
    }
    return *entry;
}

// ---- an exchange ----

// On CUDA's thread, where nothing of CUDA may be called.
static void exchange(void *call)
{
    const HostCall *c = call;
    HostExchanges *h = c->host;

    h->comm->at = c->at;
    c->f(rt_with(&h->rt, c->workspace), &c->p, c->y, c->x);
    rt_last_calls_end(h->comm);
}

// Has the result of some rank padding, which no exchange writes?
static bool has_padding(const RtExchange *p, RtExchangeKind kind, int ranks)
{
    return (kind == RT_REDUCE_SCATTER || kind == RT_ALL_TO_ALL) && p->whole % ranks;
}

static void put(Rt *rt, RtCollective *f, RtExchangeKind kind, const RtExchange *p, void *y,
                const void *x)
{
    HostExchanges *h = host_of(rt);
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    int ranks = rt->comm->model->mesh.size[p->axis];
    RtExchangeBytes b = rt_exchange_bytes(p, kind, ranks);
    HostCall c = {h, f, *p, h->memory + rt_round_up(b.x, 64), h->memory, NULL, rt->comm->at};

    c.workspace = c.y + rt_round_up(b.y, 64);
    if (c.workspace + rt_exchange_workspace(p, ranks) > h->memory + h->bytes) {
        rt_error(rt->comm->model, "an exchange needs more memory of the host than was planned");
        rt_comm_fail(rt->comm);
    }
    if (b.x)
        rt_cuda_must(cudaMemcpyAsync(c.x, x, (size_t)b.x, cudaMemcpyDeviceToHost, stream),
                     "an exchange");
    if (b.y && has_padding(p, kind, ranks))
        rt_cuda_must(cudaMemcpyAsync(c.y, y, (size_t)b.y, cudaMemcpyDeviceToHost, stream),
                     "an exchange");
    rt_cuda_must(cudaLaunchHostFunc(stream, exchange, keep(h, &c)), "an exchange");
    if (b.y)
        rt_cuda_must(cudaMemcpyAsync(y, c.y, (size_t)b.y, cudaMemcpyHostToDevice, stream),
                     "an exchange");
}

static void all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    put(rt, rt_message_all_gather, RT_ALL_GATHER, p, y, x);
}

static void all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    put(rt, rt_message_all_reduce, RT_ALL_REDUCE, p, y, x);
}

static void all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    put(rt, rt_message_all_to_all, RT_ALL_TO_ALL, p, y, x);
}

static void permute(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    put(rt, rt_message_permute, RT_PERMUTE, p, y, x);
}

static void reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    put(rt, rt_message_reduce_scatter, RT_REDUCE_SCATTER, p, y, x);
}

const RtCollectives rt_cuda_host_collectives = {
    .name = "memory of the host",
    .open = host_open,
    .close = host_close,
    .describe = describe,
    .all_gather = all_gather,
    .all_reduce = all_reduce,
    .all_to_all = all_to_all,
    .keep_one = rt_cuda_keep_one,
    .permute = permute,
    .reduce_scatter = reduce_scatter,
    .shard = rt_cuda_shard,
};
