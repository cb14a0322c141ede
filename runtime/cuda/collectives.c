// The collectives of GPUs: the stream of exchanges, its events, and what needs no other rank.
#include "runtime/cuda/collectives.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/cuda/nccl.h"
#include "runtime/rt_element.h"

static RtCudaExchanges *exchanges_of(const Rt *rt) { return rt_cuda_of(rt)->exchanges; }

// ---- who carries them out ----

// A number of this rank's GPU, which no other one has.
static int64_t gpu_id(const Rt *rt)
{
    struct cudaDeviceProp gpu;

    rt_cuda_must(cudaGetDeviceProperties(&gpu, rt->gpu.number), "the GPU");
    return (int64_t)(rt_hash_bytes(rt_boot_number(), gpu.uuid.bytes, sizeof gpu.uuid.bytes) >> 1);
}

// Finds two ranks that have the same GPU. Returns the higher one; -1: there are none.
static int find_sharing(const Rt *rt, int *with)
{
    int n = rt_comm_ranks(rt->comm), found = -1;
    int64_t *id = rt_alloc((size_t)n, sizeof *id), own = gpu_id(rt);

    for (int r = 0; r < n; r++) {
        id[r] = rt_comm_max(rt->comm, r == rt_comm_rank(rt->comm) ? own : -1);
        for (int k = 0; k < r && found < 0; k++)
            if (id[k] == id[r]) {
                found = r;
                *with = k;
            }
    }
    free(id);
    return found;
}

// NCCL's sockets go by the interface of --interface, unless its own variable says another one: "="
// is for that name alone, and not for those that begin with it.
static void tell_interface(const RtComm *c)
{
    char name[128];

    if (!c->job.interface)
        return;
    snprintf(name, sizeof name, "=%s", c->job.interface);
    setenv("NCCL_SOCKET_IFNAME", name, 0);
}

// Opens NCCL. Do all ranks find it? The lowest one that doesn't says why.
static bool has_nccl(const Rt *rt, const RtModel *m)
{
    char why[256] = "";
    RtNccl *nccl = exchanges_of(rt)->nccl = rt_nccl_open(rt->gpu.libraries, why, sizeof why);
    int rank = rt_comm_rank(rt->comm);
    int64_t lowest = -rt_comm_max(rt->comm, nccl ? INT32_MIN : -rank);

    if (!nccl && rt->gpu.exchanges == RT_BY_NCCL)
        rt_error(m, "--collectives nccl: %s", why);
    else if (!nccl && lowest == rank)
        rt_warn(m, "without NCCL, ranks exchange through memory of the host: %s", why);
    return lowest > INT32_MAX;
}

static void find(const char *libraries, char *to, size_t capacity)
{
    char why[256];
    RtNccl *nccl = rt_nccl_open(libraries, why, sizeof why);

    if (nccl)
        snprintf(to, capacity, "NCCL %d.%d.%d", nccl->version / 10000, nccl->version % 10000 / 100,
                 nccl->version % 100);
    else
        snprintf(to, capacity, "no NCCL: %s", why);
    free(nccl);
}

// All ranks choose the same. NULL: a message says why it can't be what --collectives asks for.
static const RtCollectives *choose(const Rt *rt, const RtModel *m)
{
    bool must = rt->gpu.exchanges == RT_BY_NCCL;
    int with = 0, sharing = rt->gpu.exchanges == RT_BY_HOST ? -1 : find_sharing(rt, &with);

    if (sharing >= 0 && must)
        rt_error(m,
                 "--collectives nccl: ranks %d and %d have the same GPU, and NCCL needs one for "
                 "each; --collectives host shares them",
                 with, sharing);
    tell_interface(rt->comm);
    bool by_nccl = rt->gpu.exchanges != RT_BY_HOST && sharing < 0 && has_nccl(rt, m);
    return by_nccl ? &rt_cuda_nccl_collectives : must ? NULL : &rt_cuda_host_collectives;
}

// ---- open and close ----

static void new_event(cudaEvent_t *event)
{
    rt_cuda_must(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "an event");
}

static bool exchanges_open(Rt *rt, const RtModel *m, bool overlaps)
{
    RtCudaExchanges *x = rt_cuda_of(rt)->exchanges = rt_alloc(1, sizeof *x);

    rt_cuda_ends_job(rt->comm);
    x->by = choose(rt, m);
    if (!x->by)
        return false;
    rt_second_comm_open(&x->second, rt->comm, RT_CUDA_MAX_AHEAD);
    rt_cuda_must(cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking), "a stream");
    new_event(&x->ready);
    new_event(&x->ended);
    x->slots = overlaps ? m->slots : 0;
    x->slot = rt_alloc((size_t)x->slots + 1, sizeof *x->slot);
    for (int i = 0; i < x->slots; i++)
        new_event(&x->slot[i]);
    if (!x->by->open(rt, m, overlaps))
        return false;
    x->progress = rt_cuda_progress_open(rt, &x->second.comm, x->by->find_error);
    rt_cuda_of(rt)->follower = rt_cuda_progress_follower(x->progress);
    return true;
}

static void close_stream(Rt *rt, RtCudaExchanges *x, bool is_clean)
{
    cudaStreamSynchronize(x->stream);
    rt_cuda_of(rt)->follower = (RtCudaFollower){0};
    rt_cuda_progress_close(x->progress);
    x->by->close(rt, is_clean);
    rt_second_comm_close(&x->second, rt->comm);
    for (int i = 0; i < x->slots; i++)
        cudaEventDestroy(x->slot[i]);
    cudaEventDestroy(x->ready);
    cudaEventDestroy(x->ended);
    cudaStreamDestroy(x->stream);
    free(x->slot);
}

static void exchanges_close(Rt *rt, bool is_clean)
{
    RtCudaExchanges *x = exchanges_of(rt);

    if (x->by)
        close_stream(rt, x, is_clean);
    rt_cuda_ends_job(NULL);
    free(x->nccl);
    free(x);
    rt_cuda_of(rt)->exchanges = NULL;
}

static void describe(const Rt *rt, RtDescription *to) { exchanges_of(rt)->by->describe(rt, to); }

// ---- calls ----

static void follow(cudaStream_t stream, cudaEvent_t event, cudaStream_t before)
{
    rt_cuda_must(cudaEventRecord(event, before), "an event");
    rt_cuda_must(cudaStreamWaitEvent(stream, event, 0), "an event");
}

// Puts a call into the stream of exchanges, once all calls so far have ended, and records its end.
static void put(Rt *rt, RtCollective *f, const RtExchange *p, void *y, const void *x,
                cudaEvent_t end)
{
    RtCuda *c = rt_cuda_of(rt);
    RtCudaExchanges *e = c->exchanges;
    cudaStream_t calls = c->stream;
    Rt inner = *rt;

    follow(e->stream, e->ready, calls);
    inner.collectives = e->by;
    c->stream = e->stream;
    f(&inner, p, y, x);
    rt_cuda_progress_end(&inner, e->progress);
    c->stream = calls;
    rt_cuda_must(cudaEventRecord(end, e->stream), "an event");
}

static void wait_for(const Rt *rt, cudaEvent_t end)
{
    rt_cuda_must(cudaStreamWaitEvent(rt_cuda_of(rt)->stream, end, 0), "an event");
}

static void carry_out(Rt *rt, RtCollective *f, const RtExchange *p, void *y, const void *x)
{
    put(rt, f, p, y, x, exchanges_of(rt)->ended);
    wait_for(rt, exchanges_of(rt)->ended);
}

static void start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x)
{
    if (exchanges_of(rt)->slots)
        put(rt, f, p, y, x, exchanges_of(rt)->slot[slot]);
    else
        f(rt, p, y, x);
}

static void wait(Rt *rt, int slot)
{
    if (exchanges_of(rt)->slots)
        wait_for(rt, exchanges_of(rt)->slot[slot]);
}

static void all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    carry_out(rt, rt_all_gather, p, y, x);
}

static void all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    carry_out(rt, rt_all_reduce, p, y, x);
}

static void all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    carry_out(rt, rt_all_to_all, p, y, x);
}

static void permute(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    carry_out(rt, rt_permute, p, y, x);
}

static void reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    carry_out(rt, rt_reduce_scatter, p, y, x);
}

// ---- what needs no other rank ----

static int coordinate(const Rt *rt, int axis)
{
    return rt_mesh_coordinate(&rt->comm->model->mesh, axis, rt_comm_rank(rt->comm));
}

void rt_cuda_copy_row(Rt *rt, int bytes, int64_t count, void *y, const void *x)
{
    RtCopy c = {.bytes = bytes, .rank = 1, .dim = {count}, .x_stride = {1}, .y_stride = {1}};

    rt_copy(rt, &c, y, x);
}

void rt_cuda_shard(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    int64_t size = rt_ceil_div(p->whole, rt->comm->model->mesh.size[p->axis]);
    int64_t first = coordinate(rt, p->axis) * size;
    int bytes = rt_type_bytes(p->type);
    RtCopy c = {.bytes = bytes,
                .rank = 3,
                .dim = {p->outer, rt_most(0, rt_least(size, p->whole - first)), p->inner},
                .x_stride = {p->whole * p->inner, p->inner, 1},
                .y_stride = {size * p->inner, p->inner, 1}};

    rt_copy(rt, &c, y, (const char *)x + first * p->inner * bytes);
}

void rt_cuda_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    int64_t count = p->outer * p->whole * p->inner;

    if (coordinate(rt, p->axis))
        rt_fill(rt, rt_plain(p->type), y, count, rt_identity(p->type, p->op));
    else if (y != x)
        rt_cuda_copy_row(rt, rt_type_bytes(p->type), count, y, x);
}

const RtCollectives rt_cuda_collectives = {
    .name = "GPU",
    .find = find,
    .open = exchanges_open,
    .close = exchanges_close,
    .describe = describe,
    .all_gather = all_gather,
    .all_reduce = all_reduce,
    .all_to_all = all_to_all,
    .keep_one = rt_cuda_keep_one,
    .permute = permute,
    .reduce_scatter = reduce_scatter,
    .shard = rt_cuda_shard,
    .start = start,
    .wait = wait,
};

// ---- sizes ----

RtExchangeBytes rt_exchange_bytes(const RtExchange *p, RtExchangeKind kind, int ranks)
{
    int64_t rest = p->outer * p->inner * rt_type_bytes(p->type);
    int64_t whole = rest * p->whole, shard = rest * rt_ceil_div(p->whole, ranks);

    switch (kind) {
    case RT_ALL_GATHER:
        return (RtExchangeBytes){shard, whole};
    case RT_REDUCE_SCATTER:
        return (RtExchangeBytes){whole, shard};
    case RT_ALL_TO_ALL:
        return (RtExchangeBytes){whole * p->middle * rt_ceil_div(p->joined, ranks),
                                 shard * p->middle * p->joined};
    default:
        return (RtExchangeBytes){whole, whole};
    }
}
