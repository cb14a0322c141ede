// Counts the collectives of a stream, and watches them: see progress.h.
#include "runtime/cuda/progress.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/cuda/collectives.h"

#define LOOK_SECONDS 0.1  // between two looks at the numbers

// The numbers of collectives that have begun and ended.
typedef struct Counts {
    int64_t begun, ended;
} Counts;

// The collectives of a recorded function, in their order.
typedef struct Record {
    RtCallLabel *call;
    int n, cap;
    struct Record *next;
} Record;

struct RtCudaProgress {
    const Rt *rt;
    RtComm *comm;
    RtCudaFindError *find_error;
    int64_t put;        // collectives that have been put into the stream
    Record *record;     // of all functions, the latest first
    bool is_recording;  // collectives go to the latest record
    // The GPU's own counts, and those in memory of the host: the pages of the window that have
    // them, and their address on the GPU. NULL: the host counts.
    Counts *own, *shown;
    void *pages;
    int64_t progress;      // of this host, at the last look
    double since, looked;  // when that changed; the time of the last look
    RtTicker ticker;
};

// ---- the thread ----

// Has a collective taken too long, while no rank of this host went on?
static bool is_over(RtCudaProgress *p)
{
    RtCallCounts own = rt_call_counts(p->comm, p->comm->rank);
    int64_t progress = rt_progress_here(p->comm);
    double now = rt_seconds(), timeout = p->comm->timeout;

    p->since += rt_stopped_seconds(timeout, p->looked, now);
    p->looked = now;
    if (own.begun == own.ended || progress != p->progress)
        p->since = now;
    p->progress = progress;
    return now - p->since > timeout;
}

static void look(void *progress)
{
    RtCudaProgress *p = progress;
    char why[sizeof p->comm->warning->why] = "";

    bool is_wrong = p->find_error && (p->find_error(p->rt, why, sizeof why) || is_over(p));

    if (is_wrong || rt_is_warned(p->comm))
        rt_give_up(p->comm, why);
}

// ---- open and close ----

// The GPU writes to the window itself, so that other ranks of the host read how far it has come
// even when this process has ended.
static void share_counts(RtCudaProgress *p)
{
    RtSharedWindow *w = p->comm->window[p->comm->rank];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *counts = (char *)&w->calls[p->comm->tag], *end = counts + sizeof(Counts);
    cudaStream_t stream = rt_cuda_of(p->rt)->exchanges->stream;
    void *on_gpu = NULL, *own = NULL;

    p->pages = counts - (uintptr_t)counts % page;
    size_t bytes = (size_t)rt_round_up(end - (char *)p->pages, (int64_t)page);
    rt_cuda_must(cudaHostRegister(p->pages, bytes, cudaHostRegisterMapped), "the shared window");
    rt_cuda_must(cudaHostGetDevicePointer(&on_gpu, p->pages, 0), "the shared window");
    p->shown = (Counts *)((char *)on_gpu + (counts - (char *)p->pages));
    rt_cuda_must(cudaMalloc(&own, sizeof *p->own), "the counts of collectives");
    rt_cuda_must(cudaMemsetAsync(own, 0, sizeof *p->own, stream), "the counts of collectives");
    p->own = own;
}

RtCudaProgress *rt_cuda_progress_open(const Rt *rt, RtComm *c, RtCudaFindError *find_error)
{
    RtCudaProgress *p = rt_alloc(1, sizeof *p);

    *p = (RtCudaProgress){.rt = rt, .comm = c, .find_error = find_error};
    c->counts_ends = true;
    c->is_counted_already = find_error;
    if (find_error)
        share_counts(p);
    if (rt_ticker_open(&p->ticker, LOOK_SECONDS, look, p))
        return p;
    rt_error(c->model, "cannot start the thread that watches collectives");
    rt_comm_fail(c);
    return NULL;
}

void rt_cuda_progress_close(RtCudaProgress *p)
{
    if (!p)
        return;
    rt_ticker_close(&p->ticker);
    for (Record *r = p->record, *next; r; r = next) {
        next = r->next;
        free(r->call);
        free(r);
    }
    if (p->pages) {
        cudaFree(p->own);
        cudaHostUnregister(p->pages);
    }
    free(p);
}

// ---- calls ----

static void launch_count(Rt *rt, int64_t *number, int64_t *shown)
{
    rt_cuda_launch(rt, "rt_cuda_count", (RtCudaGrid){1, 1, 1}, 1, RT_CUDA_ARGS(&number, &shown));
}

static void keep(Record *to, RtCallLabel call)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 64;
        RtCallLabel *calls = rt_alloc((size_t)to->cap, sizeof *calls);
        for (int i = 0; i < to->n; i++)
            calls[i] = to->call[i];
        free(to->call);
        to->call = calls;
    }
    to->call[to->n++] = call;
}

void rt_cuda_progress_begin(Rt *rt, RtCudaProgress *p)
{
    RtCallLabel call = rt_current_call(p->comm);

    if (p->is_recording)
        keep(p->record, call);
    else
        rt_last_calls_name(p->comm, ++p->put, call);
    launch_count(rt, &p->own->begun, &p->shown->begun);
}

void rt_cuda_progress_end(Rt *rt, RtCudaProgress *p)
{
    if (p->shown)
        launch_count(rt, &p->own->ended, &p->shown->ended);
}

// ---- recorded functions ----

static void *begin_record(void *progress)
{
    RtCudaProgress *p = progress;
    Record *r = rt_alloc(1, sizeof *r);

    r->next = p->record;
    p->record = r;
    p->is_recording = true;
    return r;
}

static void end_record(void *progress)
{
    RtCudaProgress *p = progress;

    p->is_recording = false;
}

static void replay(void *progress, const void *record)
{
    RtCudaProgress *p = progress;
    const Record *r = record;

    for (int i = 0; i < r->n; i++)
        rt_last_calls_name(p->comm, ++p->put, r->call[i]);
}

RtCudaFollower rt_cuda_progress_follower(RtCudaProgress *p)
{
    return (RtCudaFollower){p, begin_record, end_record, replay};
}
