// Exchanges between GPUs by NCCL. Every rank has a GPU of its own, one communicator for all ranks,
// and one for each axis of the mesh. What each rank has for another one lies in one row of bytes,
// or is packed into the call's workspace by copies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/cuda/collectives.h"
#include "runtime/cuda/nccl.h"
#include "runtime/exchange/exchange.h"

enum { ABORT_S = 1 };  // seconds that NCCL may take to abort

typedef struct NcclExchanges {
    RtNccl *nccl;
    RtNcclComm *all, *axis[RT_MAX_AXES];  // axis: NULL: it has one rank
    RtNcclComm *open[RT_MAX_AXES + 1];    // all that there are, the last one to be made first
    int n_open;
    size_t bytes;  // that the communicators take of the GPU's memory
} NcclExchanges;

static NcclExchanges *nccl_of(const Rt *rt) { return rt_cuda_of(rt)->exchanges->state; }

// ---- errors ----

// Ends the job with a message if a call failed. NCCL is asked not to block: a call that hasn't
// ended is waited for, as long as a wait for another rank may take.
static void settle(const Rt *rt, RtNcclComm *c, int status, const char *what)
{
    const RtNccl *nccl = nccl_of(rt)->nccl;
    double start = rt_seconds(), timeout = rt->comm->timeout;

    while (status == RT_NCCL_IN_PROGRESS && c && rt_seconds() - start < timeout) {
        usleep(100);
        int result = nccl->ncclCommGetAsyncError(c, &status);
        status = result ? result : status;
    }
    if (status == RT_NCCL_SUCCESS)
        return;
    if (status == RT_NCCL_IN_PROGRESS)
        rt_error(rt->comm->model, "NCCL: %s took more than %g s: a rank is dead, stuck or cut off",
                 what, timeout);
    else
        rt_error(rt->comm->model, "NCCL: %s: %s: %s", what, nccl->ncclGetErrorString(status),
                 nccl->ncclGetLastError(c));
    rt_comm_fail(rt->comm);
}

// The same in a group, whose end alone can be waited for.
static void accept(const Rt *rt, int status, const char *what)
{
    settle(rt, NULL, status == RT_NCCL_IN_PROGRESS ? RT_NCCL_SUCCESS : status, what);
}

// ---- open and close ----

// Gives all ranks the words of rank 0.
static void share_words(RtComm *c, int64_t *word, int n)
{
    for (int i = 0; i < n; i++)
        word[i] = rt_comm_max(c, rt_comm_rank(c) ? INT64_MIN : word[i]);
}

static void open_axes(Rt *rt, NcclExchanges *n, RtNcclConfig *config)
{
    const RtMesh *m = &rt->comm->model->mesh;
    int rank = rt_comm_rank(rt->comm);

    for (int a = 0; a < m->n_axes; a++) {
        int me = rt_mesh_coordinate(m, a, rank);
        if (m->size[a] == rt_comm_ranks(rt->comm))
            n->axis[a] = n->all;
        else if (m->size[a] > 1) {
            int first = rank - me * rt_mesh_stride(m, a);
            int status = n->nccl->ncclCommSplit(n->all, first, me, &n->axis[a], config);
            settle(rt, n->all, status, "splitting a communicator");
            settle(rt, n->axis[a], RT_NCCL_IN_PROGRESS, "splitting a communicator");
        }
    }
}

static void open_all(Rt *rt, NcclExchanges *n)
{
    RtNcclConfig config = RT_NCCL_CONFIG;
    int64_t word[sizeof(RtNcclId) / sizeof(int64_t)];
    RtNcclId id = {{0}};

    if (rt_comm_rank(rt->comm) == 0)
        settle(rt, NULL, n->nccl->ncclGetUniqueId(&id), "its start");
    memcpy(word, &id, sizeof id);
    share_words(rt->comm, word, sizeof word / sizeof *word);
    memcpy(&id, word, sizeof id);
    int status = n->nccl->ncclCommInitRankConfig(&n->all, rt_comm_ranks(rt->comm), id,
                                                 rt_comm_rank(rt->comm), &config);
    settle(rt, n->all, status, "its start");
    settle(rt, n->all, RT_NCCL_IN_PROGRESS, "its start");
    open_axes(rt, n, &config);
    for (int a = 0; a < RT_MAX_AXES; a++)
        if (n->axis[a] && n->axis[a] != n->all)
            n->open[n->n_open++] = n->axis[a];
    n->open[n->n_open++] = n->all;
}

// A first sum of each communicator, which makes it allocate what it needs.
static void warm(Rt *rt, NcclExchanges *n)
{
    cudaStream_t stream = rt_cuda_of(rt)->exchanges->stream;
    void *x = NULL;

    rt_cuda_must(cudaMalloc(&x, sizeof(float)), "NCCL's start");
    for (int i = 0; i < n->n_open; i++) {
        RtNcclComm *c = n->open[i];
        int status = n->nccl->ncclAllReduce(x, x, 1, RT_NCCL_FLOAT32, RT_NCCL_MAX, c, stream);
        settle(rt, c, status, "its first sum");
        rt_cuda_must(cudaStreamSynchronize(stream), "NCCL's first sum");
    }
    rt_cuda_must(cudaFree(x), "NCCL's start");
}

// ---- errors and ends that its own thread finds ----

static bool find_error(const Rt *rt, char *why, size_t capacity)
{
    NcclExchanges *n = nccl_of(rt);

    for (int i = 0; i < n->n_open; i++) {
        int status = RT_NCCL_SUCCESS, result = n->nccl->ncclCommGetAsyncError(n->open[i], &status);
        status = result ? result : status;
        if (status != RT_NCCL_SUCCESS && status != RT_NCCL_IN_PROGRESS) {
            snprintf(why, capacity, "NCCL: %s: %s", n->nccl->ncclGetErrorString(status),
                     n->nccl->ncclGetLastError(n->open[i]));
            return true;
        }
    }
    return false;
}

static void *abort_all(void *exchanges)
{
    NcclExchanges *n = exchanges;

    for (int i = 0; i < n->n_open; i++)
        n->nccl->ncclCommAbort(n->open[i]);
    return NULL;
}

// In a thread of its own, since an end of the job doesn't wait for NCCL.
static void abandon(void *exchanges)
{
    pthread_t thread;
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += ABORT_S;
    if (!pthread_create(&thread, NULL, abort_all, exchanges))
        pthread_timedjoin_np(thread, NULL, &end);
}

static bool nccl_open(Rt *rt, const RtModel *m, bool overlaps)
{
    NcclExchanges *n = rt_alloc(1, sizeof *n);
    RtComm *second = &rt_cuda_of(rt)->exchanges->second.comm;
    size_t before = 0, after = 0, all;

    rt_cuda_of(rt)->exchanges->state = n;
    n->nccl = rt_cuda_of(rt)->exchanges->nccl;
    rt_cuda_must(cudaMemGetInfo(&before, &all), "the GPU's memory");
    open_all(rt, n);
    warm(rt, n);
    rt_cuda_must(cudaMemGetInfo(&after, &all), "the GPU's memory");
    n->bytes = before > after ? before - after : 0;
    second->exchanges = n;
    second->abandon = abandon;
    return true;
}

static void end(const Rt *rt, RtNcclComm *c, bool is_clean)
{
    const RtNccl *nccl = nccl_of(rt)->nccl;

    if (!is_clean) {
        nccl->ncclCommAbort(c);
        return;
    }
    settle(rt, c, nccl->ncclCommFinalize(c), "its end");
    nccl->ncclCommDestroy(c);
}

static void nccl_close(Rt *rt, bool is_clean)
{
    NcclExchanges *n = nccl_of(rt);

    if (!n)
        return;
    for (int i = 0; i < n->n_open; i++)
        end(rt, n->open[i], is_clean);
    free(n);
}

static void describe(const Rt *rt, RtDescription *to)
{
    const NcclExchanges *n = nccl_of(rt);
    int version = n->nccl->version;

    to->device_bytes = (int64_t)n->bytes;
    to->variables = "NCCL_";
    snprintf(to->text, sizeof to->text, "NCCL %d.%d.%d, which takes %.1f MiB of each GPU",
             version / 10000, version % 10000 / 100, version % 100, (double)n->bytes / (1 << 20));
}

// ---- a call ----

// A call: its ranks, the bytes of an element, elements of a shard, bytes of a piece (what a rank
// has for another one) and from one packed piece to the next.
typedef struct Call {
    const RtExchange *p;
    RtNcclComm *comm;
    int n, me, size;
    int64_t shard, piece, step;
    char *sent, *received;  // in the workspace: n pieces each
} Call;

static Call begin(Rt *rt, const RtExchange *p, RtExchangeKind kind)
{
    const RtMesh *m = &rt->comm->model->mesh;
    int n = m->size[p->axis];
    int64_t piece = rt_exchange_piece(p, n), step = rt_round_up(piece, RT_CUDA_PIECE);
    bool has_pieces = kind == RT_REDUCE_SCATTER || kind == RT_ALL_TO_ALL;
    int64_t whole = p->outer * p->whole * p->inner * rt_type_bytes(p->type);
    int64_t sent = has_pieces ? n * piece : kind == RT_ALL_GATHER ? piece : whole;

    RtCudaExchanges *e = rt_cuda_of(rt)->exchanges;
    Rt counted = *rt;
    counted.comm = &e->second.comm;
    counted.comm->at = rt->comm->at;
    rt_exchange_begin(&counted, p, kind, sent);
    rt_cuda_progress_begin(rt, e->progress);
    return (Call){.p = p,
                  .comm = nccl_of(rt)->axis[p->axis],
                  .n = n,
                  .me = rt_mesh_coordinate(m, p->axis, rt_comm_rank(rt->comm)),
                  .size = rt_type_bytes(p->type),
                  .shard = rt_ceil_div(p->whole, n),
                  .piece = piece,
                  .step = step,
                  .sent = rt->workspace,
                  .received = rt->workspace + n * step};
}

static int op_of(RtReduceOp op)
{
    return op == RT_SUM ? RT_NCCL_SUM : op == RT_MAX ? RT_NCCL_MAX : RT_NCCL_MIN;
}

// The pieces of all ranks in a tensor, `between` elements apart, and the same pieces packed, with
// strides in elements. Of the dim at index `ragged`, which is cut out of `whole`, each rank has
// `most` but the last ones.
typedef struct Pieces {
    int64_t dim[4], stride[4], piece_stride[4], between;
    int ragged;
    int64_t most, whole;
} Pieces;

// Copies all pieces from the tensor to the packed ones, or back: those of full size by one copy,
// then the shorter one.
static void copy_pieces(Rt *rt, const Call *k, const Pieces *q, char *tensor, char *packed,
                        bool packs)
{
    int64_t full = q->whole / q->most, rest = q->whole - full * q->most;

    for (int is_rest = 0; is_rest < 2; is_rest++) {
        RtCopy c = {.bytes = k->size, .rank = 5, .dim = {is_rest ? 1 : full}};
        int64_t first = is_rest ? full : 0;
        if (is_rest && !rest)
            break;
        int64_t *at = packs ? c.x_stride : c.y_stride, *to = packs ? c.y_stride : c.x_stride;
        at[0] = q->between;
        to[0] = k->step / k->size;
        for (int i = 0; i < 4; i++) {
            c.dim[i + 1] = q->dim[i];
            if (i == q->ragged)
                c.dim[i + 1] = q->dim[i] / q->most * (is_rest ? rest : q->most);
            at[i + 1] = q->stride[i];
            to[i + 1] = q->piece_stride[i];
        }
        char *in_tensor = tensor + first * q->between * k->size, *piece = packed + first * k->step;
        rt_copy(rt, &c, packs ? piece : in_tensor, packs ? in_tensor : piece);
    }
}

// The shards of [outer, whole, inner].
static Pieces shards_of(const Call *k)
{
    const RtExchange *p = k->p;

    return (Pieces){.dim = {p->outer, k->shard, p->inner, 1},
                    .stride = {p->whole * p->inner, p->inner, 1, 1},
                    .piece_stride = {k->shard * p->inner, p->inner, 1, 1},
                    .between = k->shard * p->inner,
                    .ragged = 1,
                    .most = k->shard,
                    .whole = p->whole};
}

static bool is_dense(const Call *k) { return k->p->outer == 1 && k->p->whole % k->n == 0; }

// Elements of this rank's own shard of a dim.
static int64_t own_of(const Call *k, int64_t whole, int64_t shard)
{
    return rt_most(0, rt_least(shard, whole - k->me * shard));
}

// ---- the collectives ----

static void all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    Call k = begin(rt, p, RT_ALL_GATHER);
    const RtNccl *nccl = nccl_of(rt)->nccl;
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    bool is_packed = !is_dense(&k);

    if (!k.piece)
        return;
    if (is_packed && k.step != k.piece) {
        rt_cuda_copy_row(rt, k.size, k.piece / k.size, k.sent, x);
        x = k.sent;
    }
    settle(rt, k.comm,
           nccl->ncclAllGather(x, is_packed ? k.received : y,
                               (size_t)(is_packed ? k.step : k.piece), RT_NCCL_INT8, k.comm,
                               stream),
           "all_gather");
    Pieces q = shards_of(&k);
    if (is_packed)
        copy_pieces(rt, &k, &q, y, k.received, false);
}

static void all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    Call k = begin(rt, p, RT_ALL_REDUCE);
    int64_t count = p->outer * p->whole * p->inner;

    if (count)
        settle(rt, k.comm,
               nccl_of(rt)->nccl->ncclAllReduce(x, y, (size_t)count, rt_nccl_type(p->type),
                                                op_of(p->op), k.comm, rt_cuda_of(rt)->stream),
               "all_reduce");
}

static void reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    Call k = begin(rt, p, RT_REDUCE_SCATTER);
    bool is_packed = !is_dense(&k);
    int64_t own = own_of(&k, p->whole, k.shard);
    Pieces q = shards_of(&k);

    if (!k.piece)
        return;
    if (is_packed)
        copy_pieces(rt, &k, &q, (char *)x, k.sent, true);
    settle(rt, k.comm,
           nccl_of(rt)->nccl->ncclReduceScatter(is_packed ? k.sent : x, is_packed ? k.received : y,
                                                (size_t)((is_packed ? k.step : k.piece) / k.size),
                                                rt_nccl_type(p->type), op_of(p->op), k.comm,
                                                rt_cuda_of(rt)->stream),
           "reduce_scatter");
    RtCopy c = {.bytes = k.size,
                .rank = 3,
                .dim = {p->outer, own, p->inner},
                .x_stride = {k.shard * p->inner, p->inner, 1},
                .y_stride = {k.shard * p->inner, p->inner, 1}};
    if (is_packed)
        rt_copy(rt, &c, y, k.received);
}

// x has the whole of `whole` and a shard of `joined`; y has a shard of `whole` and the whole of
// `joined`. A piece is [outer, joined, middle, whole, inner], or [outer, whole, middle, joined,
// inner], with both dims those of a shard; middle and the dims after it are rows in this order.
static Pieces sent_pieces(const Call *k, int64_t joined)
{
    const RtExchange *p = k->p;
    int64_t mine = own_of(k, p->joined, joined);

    if (p->joins_first)
        return (Pieces){.dim = {p->outer, mine, p->middle, k->shard * p->inner},
                        .stride = {joined * p->middle * p->whole * p->inner,
                                   p->middle * p->whole * p->inner, p->whole * p->inner, 1},
                        .piece_stride = {joined * p->middle * k->shard * p->inner,
                                         p->middle * k->shard * p->inner, k->shard * p->inner, 1},
                        .between = k->shard * p->inner,
                        .ragged = 3,
                        .most = k->shard,
                        .whole = p->whole};
    return (Pieces){.dim = {p->outer, k->shard, p->middle, mine * p->inner},
                    .stride = {p->whole * p->middle * joined * p->inner,
                               p->middle * joined * p->inner, joined * p->inner, 1},
                    .piece_stride = {k->shard * p->middle * joined * p->inner,
                                     p->middle * joined * p->inner, joined * p->inner, 1},
                    .between = k->shard * p->middle * joined * p->inner,
                    .ragged = 1,
                    .most = k->shard,
                    .whole = p->whole};
}

static Pieces received_pieces(const Call *k, int64_t joined)
{
    const RtExchange *p = k->p;
    int64_t own = own_of(k, p->whole, k->shard);

    if (p->joins_first)
        return (Pieces){.dim = {p->outer, joined, p->middle, own * p->inner},
                        .stride = {p->joined * p->middle * k->shard * p->inner,
                                   p->middle * k->shard * p->inner, k->shard * p->inner, 1},
                        .piece_stride = {joined * p->middle * k->shard * p->inner,
                                         p->middle * k->shard * p->inner, k->shard * p->inner, 1},
                        .between = joined * p->middle * k->shard * p->inner,
                        .ragged = 1,
                        .most = joined,
                        .whole = p->joined};
    return (Pieces){.dim = {p->outer, own, p->middle, joined * p->inner},
                    .stride = {k->shard * p->middle * p->joined * p->inner,
                               p->middle * p->joined * p->inner, p->joined * p->inner, 1},
                    .piece_stride = {k->shard * p->middle * joined * p->inner,
                                     p->middle * joined * p->inner, joined * p->inner, 1},
                    .between = joined * p->inner,
                    .ragged = 3,
                    .most = joined,
                    .whole = p->joined};
}

static void all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    Call k = begin(rt, p, RT_ALL_TO_ALL);
    int64_t joined = rt_ceil_div(p->joined, k.n);
    const RtNccl *nccl = nccl_of(rt)->nccl;
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    static const char what[] = "all_to_all";

    if (!k.piece || !p->joined)
        return;
    Pieces sent = sent_pieces(&k, joined), received = received_pieces(&k, joined);
    copy_pieces(rt, &k, &sent, (char *)x, k.sent, true);
    accept(rt, nccl->ncclGroupStart(), what);
    for (int i = 0; i < k.n; i++) {
        size_t bytes = (size_t)k.step;
        char *from = k.sent + i * k.step, *to = k.received + i * k.step;
        accept(rt, nccl->ncclSend(from, bytes, RT_NCCL_INT8, i, k.comm, stream), what);
        accept(rt, nccl->ncclRecv(to, bytes, RT_NCCL_INT8, i, k.comm, stream), what);
    }
    settle(rt, k.comm, nccl->ncclGroupEnd(), what);
    copy_pieces(rt, &k, &received, y, k.received, false);
}

static void permute(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    Call k = begin(rt, p, RT_PERMUTE);
    int64_t bytes = p->outer * p->whole * p->inner * k.size;
    RtPartners with = rt_partners(rt->comm, p);
    const RtNccl *nccl = nccl_of(rt)->nccl;
    RtNcclComm *all = nccl_of(rt)->all;
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    static const char what[] = "permute";

    if (!bytes)
        return;
    if (with.from == rt_comm_rank(rt->comm)) {
        rt_cuda_copy_row(rt, k.size, bytes / k.size, y, x);
        return;
    }
    accept(rt, nccl->ncclGroupStart(), what);
    accept(rt, nccl->ncclSend(x, (size_t)bytes, RT_NCCL_INT8, with.to, all, stream), what);
    accept(rt, nccl->ncclRecv(y, (size_t)bytes, RT_NCCL_INT8, with.from, all, stream), what);
    settle(rt, all, nccl->ncclGroupEnd(), what);
}

const RtCollectives rt_cuda_nccl_collectives = {
    .name = "NCCL",
    .open = nccl_open,
    .close = nccl_close,
    .find_error = find_error,
    .describe = describe,
    .all_gather = all_gather,
    .all_reduce = all_reduce,
    .all_to_all = all_to_all,
    .keep_one = rt_cuda_keep_one,
    .permute = permute,
    .reduce_scatter = reduce_scatter,
    .shard = rt_cuda_shard,
};
