// Waits for other ranks, and ends the job if one doesn't come. Ranks poll and yield the core
// meanwhile, since there may be more ranks than cores.
//
// A rank that gives up tells all others which rank it waited for. A rank that receives such a
// warning gives up too and sends its own. So within GRACE_SECONDS every rank knows which ranks
// still run. The chain of waits ends at the missing rank, which sent no warning. The lowest rank
// that gave up prints the error.
//
// The comm thread (comm_thread.c) waits while its rank's own thread needs the core. It sleeps
// between polls until the rank's own thread waits for it.
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

#define GRACE_SECONDS 1.5           // time to collect the warnings of other ranks
#define WARNING_CHECK_SECONDS 0.01  // between two checks for warnings
enum {
    SPINS = 100,
    POLLS_PER_CLOCK = 64
};  // polls before the core is yielded; polls between two looks at the clock

typedef struct Wait {
    int64_t polls;
    double start, looked, warnings_read;  // looked: when it last looked at the clock
    int64_t progress;                     // of the device's collectives, at `start`
} Wait;

static void lock_transport(RtComm *c)
{
    if (c->lock)
        pthread_mutex_lock(c->lock);
}

static void unlock_transport(RtComm *c)
{
    if (c->lock)
        pthread_mutex_unlock(c->lock);
}

// ---- giving up ----

void rt_end_job(RtComm *c)
{
    const RtComm *second = c->second ? c->second : c;

    if (second->abandon)
        second->abandon(second->exchanges);
    c->transport->end(c);
}

static void read_warnings(RtComm *c)
{
    RtWarning w;
    int rank;

    while ((rank = c->transport->warned(c, &w)) >= 0)
        c->warning[rank] = w;
}

static bool has_warning(RtComm *c)
{
    read_warnings(c);
    for (int r = 0; r < c->ranks; r++)
        if (c->warning[r].peer >= 0)
            return true;
    return false;
}

static void collect_warnings(RtComm *c)
{
    for (double end = rt_seconds() + GRACE_SECONDS; rt_seconds() < end; usleep(1000))
        read_warnings(c);
}

static int missing_rank(const RtComm *c)
{
    int rank = c->warning[c->rank].peer;

    for (int i = 0; i < c->ranks && c->warning[rank].peer >= 0; i++)
        rank = c->warning[rank].peer;
    return rank;
}

// Prints which rank is missing in which call: "h.3.mlp: all_reduce f32[4,64]: rank 2 …", or
// "all_reduce along dp: rank 2 …" if the call is unknown.
static void say_who(const RtComm *c, bool is_broken)
{
    bool has_axis = c->axis && !c->at.what;
    const char *along = has_axis ? " along " : "", *axis = has_axis ? c->axis : "";
    char call[sizeof c->warning->name];

    rt_call_name_print((RtCallName){c->at.what ? c->at.what : c->kind, c->at.layer}, call,
                       sizeof call);

    if (is_broken)
        rt_error(c->model, "%s%s%s: the link to rank %d broke", call, along, axis, missing_rank(c));
    else
        rt_error(
            c->model,
            "%s%s%s: rank %d didn't arrive within %g s: it is dead, stuck or cut off, or slower "
            "than --timeout allows",
            call, along, axis, missing_rank(c), c->timeout);
}

// Does a rank's device wait, which doesn't know for whom?
static bool has_device_wait(const RtComm *c)
{
    for (int r = 0; r < c->ranks; r++)
        if (c->warning[r].peer == r)
            return true;
    return false;
}

static void say(const RtComm *c, const RtComm *counting, bool is_broken)
{
    if (counting && !is_broken && rt_stuck_say(counting, has_device_wait(c)))
        return;
    say_who(c, is_broken);
    rt_last_calls_say(counting ? counting : c);
}

// Doesn't return. The caller holds the lock and never releases it. `why`: what the device says.
static void give_up(RtComm *c, int peer, bool is_broken, const char *why)
{
    const RtComm *counting = rt_counting_comm(c);
    int first = 0;

    c->warning[c->rank] = rt_warning(counting ? counting : c, peer);
    snprintf(c->warning[c->rank].why, sizeof c->warning->why, "%s", why);
    rt_watchdog_lose(c->watchdog);
    c->transport->warn(c, &c->warning[c->rank]);
    collect_warnings(c);
    while (c->warning[first].peer < 0)
        first++;
    if (first == c->rank)
        say(c, counting, is_broken);
    else
        usleep((useconds_t)(1e6 * GRACE_SECONDS));  // until the other rank has printed the error
    rt_end_job(c);
}

// ---- polling ----

static void back_off(const RtComm *c, const Wait *w)
{
    if (c->is_awaited && !atomic_load_explicit(c->is_awaited, memory_order_relaxed))
        usleep(RT_POLL_MICROSECONDS);
    else if (w->polls > SPINS)
        sched_yield();
}

static void between_polls(RtComm *c, Wait *w, int peer)
{
    w->polls++;
    back_off(c, w);
    if (w->polls % POLLS_PER_CLOCK)
        return;
    double now = rt_seconds();
    w->start = w->start > 0 ? w->start : now;
    w->start += rt_stopped_seconds(c->timeout, w->looked, now);
    w->looked = now;
    int64_t progress = c->counts_ends ? rt_progress_here(c) : 0;
    w->start = progress != w->progress ? now : w->start;
    w->progress = progress;
    if (now - w->warnings_read < WARNING_CHECK_SECONDS)
        return;
    w->warnings_read = now;
    lock_transport(c);
    if (has_warning(c) || now - w->start > c->timeout)
        give_up(c, peer, false, "");
    unlock_transport(c);
}

bool rt_is_warned(RtComm *c)
{
    lock_transport(c);
    bool is_warned = has_warning(c);
    unlock_transport(c);
    return is_warned;
}

void rt_give_up(RtComm *c, const char *why)
{
    lock_transport(c);
    give_up(c, c->rank, false, why);
}

RtPending rt_send(RtComm *c, int peer, const void *data, int64_t bytes)
{
    lock_transport(c);
    RtPending p = {c->transport->send(c, peer, data, bytes), peer};
    unlock_transport(c);
    return p;
}

RtPending rt_receive(RtComm *c, int peer, void *data, int64_t bytes)
{
    lock_transport(c);
    RtPending p = {c->transport->receive(c, peer, data, bytes), peer};
    unlock_transport(c);
    return p;
}

void rt_await(RtComm *c, RtPending p)
{
    for (Wait w = {0};; between_polls(c, &w, p.peer)) {
        lock_transport(c);
        int state = c->transport->test(c, p.message);
        if (state < 0)
            give_up(c, p.peer, true, "");
        unlock_transport(c);
        if (state)
            return;
    }
}

// ---- barriers ----

static uint64_t arrivals(const RtSharedWindow *b, int axis)
{
    return atomic_load_explicit(&b->axis[axis].arrivals, memory_order_acquire);
}

void rt_barrier_arrive(RtComm *c, const RtGroup *g)
{
    atomic_fetch_add_explicit(&c->window[c->rank]->axis[g->axis].arrivals, 1, memory_order_release);
}

void rt_barrier_wait(RtComm *c, const RtGroup *g)
{
    uint64_t own = arrivals(c->window[c->rank], g->axis);

    for (int i = 0; i < g->n; i++) {
        int peer = rt_peer(c, g, i);
        for (Wait w = {0}; arrivals(c->window[peer], g->axis) < own;)
            between_polls(c, &w, peer);
    }
}

void rt_barrier(RtComm *c, const RtGroup *g)
{
    rt_barrier_arrive(c, g);
    rt_barrier_wait(c, g);
}

void rt_window_acquire(RtComm *c, const RtGroup *g)
{
    if (c->window_state->readers.axis != g->axis)
        rt_barrier_wait(c, &c->window_state->readers);
    c->window_state->readers = *g;
}

void rt_window_release(RtComm *c, const RtGroup *g) { rt_barrier_arrive(c, g); }
