// Plain calls of NCCL, as NCCL's own tests make them: a communicator of all ranks, dense operands,
// no packing. What the runtime's collectives take more is their price.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/cuda/collectives.h"
#include "runtime/cuda/nccl.h"
#include "runtime/probe/cuda/gpu_probe.h"

struct Plain {
    const RtNccl *nccl;
    RtNccl *own;  // opened here; NULL: `nccl` is the collectives'
    RtNcclComm *comm;
    struct RtComm *job;
    int n;
    cudaStream_t stream;  // of NCCL's calls; NULL: they go to the stream of all calls
    cudaEvent_t begin, end;
};

// Ends the job with a message if a call failed. One that hasn't ended yet is waited for.
static void must(const Plain *q, int status, const char *what)
{
    while (status == RT_NCCL_IN_PROGRESS && q->comm) {
        usleep(100);
        int result = q->nccl->ncclCommGetAsyncError(q->comm, &status);
        status = result ? result : status;
    }
    if (status == RT_NCCL_SUCCESS)
        return;
    fprintf(stderr, "probe: error: NCCL: %s: %s: %s\n", what, q->nccl->ncclGetErrorString(status),
            q->nccl->ncclGetLastError(q->comm));
    rt_comm_fail(q->job);
    exit(1);
}

// The same in a group, whose end alone can be waited for.
static void accept(const Plain *q, int status, const char *what)
{
    must(q, status == RT_NCCL_IN_PROGRESS ? RT_NCCL_SUCCESS : status, what);
}

// Gives all ranks the words of rank 0.
static void share_id(const Ranks *r, RtNcclId *id)
{
    int64_t word[sizeof *id / sizeof(int64_t)];

    memcpy(word, id, sizeof *id);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        word[i] = r->comm ? rt_comm_max(r->comm, r->rank ? INT64_MIN : word[i]) : word[i];
    memcpy(id, word, sizeof *id);
}

// One rank has no collectives, so it opens NCCL itself.
static bool find_nccl(Plain *q, const Probe *p)
{
    const RtCudaExchanges *e = rt_cuda_of(&p->rt)->exchanges;
    char why[256];

    if (e) {
        q->nccl = e->by == &rt_cuda_nccl_collectives ? e->nccl : NULL;
        q->stream = e->stream;
        return q->nccl;
    }
    q->nccl = q->own = rt_nccl_open(p->rt.gpu.libraries, why, sizeof why);
    if (!q->own)
        fprintf(stderr, "probe: error: NCCL: %s\n", why);
    return q->own;
}

static void new_event(cudaEvent_t *event)
{
    rt_cuda_must(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "an event");
}

Plain *plain_open(Probe *p)
{
    const Ranks *r = p->ranks;
    RtNcclConfig config = RT_NCCL_CONFIG;
    RtNcclId id = {{0}};
    Plain *q = rt_alloc(1, sizeof *q);

    q->job = r->comm;
    q->n = r->n;
    if (!find_nccl(q, p)) {
        free(q);
        return NULL;
    }
    new_event(&q->begin);
    new_event(&q->end);
    if (!r->rank)
        must(q, q->nccl->ncclGetUniqueId(&id), "its start");
    share_id(r, &id);
    int status = q->nccl->ncclCommInitRankConfig(&q->comm, r->n, id, r->rank, &config);
    must(q, status, "its start");
    must(q, RT_NCCL_IN_PROGRESS, "its start");
    return q;
}

void plain_close(Plain *q)
{
    if (!q)
        return;
    must(q, q->nccl->ncclCommFinalize(q->comm), "its end");
    q->nccl->ncclCommDestroy(q->comm);
    cudaEventDestroy(q->begin);
    cudaEventDestroy(q->end);
    free(q->own);
    free(q);
}

// ---- calls ----

static void send_and_receive(const Plain *q, const PlainCall *c, int to, int from, int64_t at,
                             int64_t count, cudaStream_t stream)
{
    const RtNccl *nccl = q->nccl;

    accept(q, nccl->ncclSend(c->x + at, (size_t)count, RT_NCCL_FLOAT32, to, q->comm, stream),
           "a send");
    accept(q, nccl->ncclRecv(c->y + at, (size_t)count, RT_NCCL_FLOAT32, from, q->comm, stream),
           "a receive");
}

static void put_sends(const Plain *q, const PlainCall *c, cudaStream_t stream)
{
    int64_t piece = c->count / q->n;

    accept(q, q->nccl->ncclGroupStart(), "a group");
    if (c->kind == RT_PERMUTE)
        send_and_receive(q, c, c->partners.to, c->partners.from, 0, c->count, stream);
    for (int i = 0; i < q->n && c->kind == RT_ALL_TO_ALL; i++)
        send_and_receive(q, c, i, i, i * piece, piece, stream);
    must(q, q->nccl->ncclGroupEnd(), "a group");
}

static void put_one(const Plain *q, const PlainCall *c, cudaStream_t stream)
{
    const RtNccl *nccl = q->nccl;
    size_t count = (size_t)c->count, piece = count / (size_t)q->n;
    int f32 = RT_NCCL_FLOAT32;

    switch (c->kind) {
    case RT_ALL_GATHER:
        must(q, nccl->ncclAllGather(c->x, c->y, piece, f32, q->comm, stream), "all_gather");
        break;
    case RT_ALL_REDUCE:
        must(q, nccl->ncclAllReduce(c->x, c->y, count, f32, RT_NCCL_SUM, q->comm, stream),
             "all_reduce");
        break;
    case RT_REDUCE_SCATTER:
        must(q, nccl->ncclReduceScatter(c->x, c->y, piece, f32, RT_NCCL_SUM, q->comm, stream),
             "reduce_scatter");
        break;
    default:
        put_sends(q, c, stream);
    }
}

static void follow(cudaStream_t stream, cudaEvent_t event, cudaStream_t before)
{
    rt_cuda_must(cudaEventRecord(event, before), "an event");
    rt_cuda_must(cudaStreamWaitEvent(stream, event, 0), "an event");
}

void plain_put(Rt *rt, const Plain *q, const PlainCall *c)
{
    cudaStream_t calls = rt_cuda_of(rt)->stream, stream = q->stream ? q->stream : calls;

    if (q->stream)
        follow(stream, q->begin, calls);
    for (int i = 0; i < c->times; i++)
        put_one(q, c, stream);
    if (q->stream)
        follow(calls, q->end, stream);
}
