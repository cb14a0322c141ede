// Waiting for other ranks, and what is done when one doesn't come. Ranks poll, and give the core
// away meanwhile: there may be more ranks than cores.
//
// Who gives up tells all others whom it waited for; who hears of that gives up too, and says the
// same of itself. So within GRACE seconds all know who still works, and the rank that is missing is
// the one that nobody heard of at the end of a chain of waits. The first of those that were heard
// says so.
//
// A courier (courier.c) waits beside its rank's own thread, which needs the core: it naps between
// two looks until that thread has come to wait for it.
#include <sched.h>
#include <unistd.h>

#include "runtime/internal.h"
#include "runtime/transport.h"

#define GRACE 1.5                  // seconds
#define LISTEN 0.01                // between two looks whether anyone gave up
enum { SPINS = 100, POLLS = 64 };  // before the core is given away; between two looks at the clock

typedef struct Wait {
    int64_t polls;
    double start, heard;
} Wait;

static void enter(RtComm *c)
{
    if (c->lock)
        pthread_mutex_lock(c->lock);
}

static void leave(RtComm *c)
{
    if (c->lock)
        pthread_mutex_unlock(c->lock);
}

// ---- giving up ----

static void hear(RtComm *c)
{
    int peer, rank;

    while ((rank = c->transport->warned(c, &peer)) >= 0)
        c->waits[rank] = peer;
}

static void listen_to_all(RtComm *c)
{
    for (double end = rt_seconds() + GRACE; rt_seconds() < end; usleep(1000))
        hear(c);
}

static int missing(const RtComm *c)
{
    int rank = c->waits[c->rank];

    for (int i = 0; i < c->ranks && c->waits[rank] >= 0; i++)
        rank = c->waits[rank];
    return rank;
}

// "h.{}.mlp: all_reduce f32[4,64]: rank 2 …", "all_reduce along dp: rank 2 …"
static void say_who(const RtComm *c, bool is_broken)
{
    bool has_axis = c->axis && !c->at;
    const char *call = c->at ? c->at : c->kind, *along = has_axis ? " along " : "",
               *axis = has_axis ? c->axis : "";

    if (is_broken)
        rt_error(c->model, "%s%s%s: the link to rank %d broke", call, along, axis, missing(c));
    else
        rt_error(
            c->model,
            "%s%s%s: rank %d didn't come in %g s: it is dead, stuck or cut off, or slower than "
            "--timeout allows",
            call, along, axis, missing(c), c->timeout);
}

// Inside the lock, which nobody gets again.
static void give_up(RtComm *c, int peer, bool is_broken)
{
    int first = 0;

    c->waits[c->rank] = peer;
    rt_watchdog_lose(c->watchdog);
    c->transport->warn(c, peer);
    listen_to_all(c);
    while (c->waits[first] < 0)
        first++;
    if (first == c->rank)
        say_who(c, is_broken);
    else
        usleep((useconds_t)(1e6 * GRACE));  // for the one that speaks
    c->transport->end(c);
}

// ---- polling ----

static void rest(const RtComm *c, const Wait *w)
{
    if (c->is_awaited && !atomic_load_explicit(c->is_awaited, memory_order_relaxed))
        usleep(RT_NAP);
    else if (w->polls > SPINS)
        sched_yield();
}

static void pause_for(RtComm *c, Wait *w, int peer)
{
    w->polls++;
    rest(c, w);
    if (w->polls % POLLS)
        return;
    double now = rt_seconds();
    w->start = w->start > 0 ? w->start : now;
    if (now - w->heard < LISTEN)
        return;
    w->heard = now;
    enter(c);
    hear(c);
    bool is_over = now - w->start > c->timeout;
    for (int r = 0; r < c->ranks && !is_over; r++)
        is_over = c->waits[r] >= 0;
    if (is_over)
        give_up(c, peer, false);
    leave(c);
}

RtPending rt_send(RtComm *c, int peer, const void *data, int64_t bytes)
{
    enter(c);
    RtPending p = {c->transport->send(c, peer, data, bytes), peer};
    leave(c);
    return p;
}

RtPending rt_receive(RtComm *c, int peer, void *data, int64_t bytes)
{
    enter(c);
    RtPending p = {c->transport->receive(c, peer, data, bytes), peer};
    leave(c);
    return p;
}

void rt_await(RtComm *c, RtPending p)
{
    for (Wait w = {0};; pause_for(c, &w, p.peer)) {
        enter(c);
        int state = c->transport->test(c, p.message);
        if (state < 0)
            give_up(c, p.peer, true);
        leave(c);
        if (state)
            return;
    }
}

// ---- meetings ----

static uint64_t met(const RtBoard *b, int axis)
{
    return atomic_load_explicit(&b->axis[axis].met, memory_order_acquire);
}

void rt_meet_begin(RtComm *c, const RtGroup *g)
{
    atomic_fetch_add_explicit(&c->board[c->rank]->axis[g->axis].met, 1, memory_order_release);
}

void rt_meet_end(RtComm *c, const RtGroup *g)
{
    uint64_t own = met(c->board[c->rank], g->axis);

    for (int i = 0; i < g->n; i++) {
        int peer = rt_peer(c, g, i);
        for (Wait w = {0}; met(c->board[peer], g->axis) < own;)
            pause_for(c, &w, peer);
    }
}

void rt_meet(RtComm *c, const RtGroup *g)
{
    rt_meet_begin(c, g);
    rt_meet_end(c, g);
}

void rt_board_claim(RtComm *c, const RtGroup *g)
{
    if (c->turn->leaving.axis != g->axis)
        rt_meet_end(c, &c->turn->leaving);
    c->turn->leaving = *g;
}

void rt_board_leave(RtComm *c, const RtGroup *g) { rt_meet_begin(c, g); }
