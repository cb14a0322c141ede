// The comm thread: a thread that carries out the collectives of rt_start in the order of their
// starts. The order is the same on all ranks, so no rank waits for a call that another has yet to
// start, and sums have the same order as without the thread.
//
// It is a thread with blocking calls instead of polling between kernels. Kernels take milliseconds,
// in which a link of 1 Gbit/s carries several rounds of messages, while socket buffers hold few.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

typedef struct Job {
    RtCollective *call;
    RtExchange p;
    void *y;
    const void *x;
    char *workspace;
    RtCallName at;
    struct RtMark *exchange;  // Rt.exchange
} Job;

typedef struct RtCommThread {
    Rt rt;  // passed to collectives: one thread, the workspace of rt_start
    RtSecondComm second;
    int slots;
    Job *job;         // job number n, from 0, is in job[n % slots]
    int64_t *number;  // by slot: 1 + the number of its latest job
    // Numbers of jobs: started; ended; and started up to and including the latest one that needs
    // the shared windows of this host.
    int64_t started, ended, window_jobs;
    bool is_closing;
    atomic_bool is_awaited;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} RtCommThread;

// ---- the comm thread ----

// From version 6.12 on, Linux lets a thread that wakes up wait for milliseconds while another one
// computes, unless it asks for short time slices.
void rt_request_short_slice(void)
{
    // struct sched_attr of sched_setattr(2), its first version.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof attr, .nice = getpriority(PRIO_PROCESS, 0), .runtime = 100000};

    syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *run_jobs(void *comm_thread)
{
    RtCommThread *k = comm_thread;

    rt_request_short_slice();
    pthread_mutex_lock(&k->lock);
    for (;;) {
        while (k->started == k->ended && !k->is_closing)
            pthread_cond_wait(&k->changed, &k->lock);
        if (k->started == k->ended)
            break;
        Job j = k->job[k->ended % k->slots];
        pthread_mutex_unlock(&k->lock);
        k->second.comm.at = j.at;
        k->rt.exchange = j.exchange;
        j.call(rt_with(&k->rt, j.workspace), &j.p, j.y, j.x);
        pthread_mutex_lock(&k->lock);
        k->ended++;
        pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

bool rt_comm_thread_open(Rt *rt, const RtModel *m, bool overlaps)
{
    RtComm *c = rt->comm;

    if (!overlaps || !m->slots)
        return true;
    RtCommThread *k = rt_alloc(1, sizeof *k);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->changed, NULL);
    rt_second_comm_open(&k->second, c, RT_LAST_CALLS);
    k->second.comm.is_awaited = &k->is_awaited;
    k->rt = (Rt){.device = rt->device,
                 .threads = 1,
                 .comm = &k->second.comm,
                 .collectives = rt->collectives};
    k->slots = m->slots;
    k->job = rt_alloc((size_t)k->slots, sizeof *k->job);
    k->number = rt_alloc((size_t)k->slots, sizeof *k->number);
    c->comm_thread = k;
    if (!pthread_create(&k->thread, NULL, run_jobs, k))
        return true;
    k->slots = 0;
    return rt_error(m, "cannot start the comm thread");
}

void rt_comm_thread_close(Rt *rt, bool is_clean)
{
    RtCommThread *k = rt->comm->comm_thread;

    if (!k)
        return;
    if (k->slots) {
        pthread_mutex_lock(&k->lock);
        k->is_closing = true;
        pthread_cond_broadcast(&k->changed);
        pthread_mutex_unlock(&k->lock);
        pthread_join(k->thread, NULL);
    }
    rt->comm->comm_thread = NULL;
    rt_second_comm_close(&k->second, rt->comm);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->changed);
    free(k->job);
    free(k->number);
    free(k);
}

// ---- the rank's own thread ----

// Waits until that many jobs have ended.
static void wait_for(RtCommThread *k, int64_t jobs)
{
    pthread_mutex_lock(&k->lock);
    atomic_store(&k->is_awaited, true);
    while (k->ended < jobs)
        pthread_cond_wait(&k->changed, &k->lock);
    atomic_store(&k->is_awaited, false);
    pthread_mutex_unlock(&k->lock);
}

void rt_comm_thread_sync(RtComm *c, int axis)
{
    RtCommThread *k = c->comm_thread;

    if (k && axis < 0)
        wait_for(k, k->started);
    else if (k && c->intra_host[axis].n > 1)
        wait_for(k, k->window_jobs);
}

void rt_comm_thread_start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y,
                          const void *x)
{
    RtComm *c = rt->comm;
    RtCommThread *k = c->comm_thread;

    if (!k) {
        f(rt, p, y, x);
        return;
    }
    pthread_mutex_lock(&k->lock);
    k->job[k->started % k->slots] = (Job){f, *p, y, x, rt->workspace, c->at, rt->exchange};
    k->number[slot] = ++k->started;
    if (c->intra_host[p->axis].n > 1)
        k->window_jobs = k->started;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

void rt_comm_thread_wait(Rt *rt, int slot)
{
    RtCommThread *k = rt->comm->comm_thread;

    if (k)
        wait_for(k, k->number[slot]);
}
