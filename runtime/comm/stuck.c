// Collectives of a device that don't end. All ranks begin the same collectives in the same order,
// so of all that have begun and not ended, the one with the lowest number is what the others wait
// for. A rank that hasn't begun it is in none: it is gone, stuck elsewhere, or late.
#include <stdio.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

const RtComm *rt_counting_comm(const RtComm *c)
{
    const RtComm *counting = c->second ? c->second : c;

    return counting->counts_ends ? counting : NULL;
}

int64_t rt_progress_here(const RtComm *c)
{
    int64_t sum = 0;

    for (int r = 0; r < c->ranks; r++)
        if (c->window[r]) {
            RtCallCounts n = rt_call_counts(c, r);
            sum += n.begun + n.ended;
        }
    return sum;
}

// The number of the collective that others wait for: the first one that a rank has begun and not
// ended. 0: there is none.
static int64_t stuck_call(const RtComm *c)
{
    int64_t lowest = 0;

    for (int r = 0; r < c->ranks; r++) {
        RtCallCounts n = rt_call_counts(c, r);
        if (n.begun > n.ended && n.ended >= 0 && (!lowest || n.begun < lowest))
            lowest = n.begun;
    }
    return lowest;
}

// The faults of a rank, in the order in which they are looked for.
typedef enum Fault {
    NOT_ALIVE,   // it hasn't begun, and says nothing
    NOT_BEGUN,   // it hasn't begun
    IS_SILENT,   // it has begun, and says nothing
    NOT_ENDED,   // it has begun, as others ended
    NONE_ENDED,  // all have begun
    N_FAULTS
} Fault;

// For the words of a message: what the ranks do, and why that may be.
static const char *const said[N_FAULTS][2] = {
    {"didn't begin it within", "dead, stopped or cut off"},
    {"didn't begin it within", "stuck before it, or slower than --timeout allows"},
    {"began it, and didn't end it within", "dead, stopped or cut off"},
    {"began it, and didn't end it within", "the others did"},
    {"began it, and didn't end it within", "a GPU or a link is stuck"},
};

// A fault in a collective.
typedef struct Guilt {
    Fault fault;
    int64_t number;
} Guilt;

static bool is_guilty(const RtComm *c, const void *guilt, int rank)
{
    const Guilt *g = guilt;
    RtCallCounts n = rt_call_counts(c, rank);
    bool is_silent = c->warning[rank].peer < 0;

    switch (g->fault) {
    case NOT_ALIVE:
        return n.begun < g->number && is_silent;
    case NOT_BEGUN:
        return n.begun < g->number;
    case IS_SILENT:
        return is_silent;
    default:
        return n.ended < g->number;
    }
}

static int count(const RtComm *c, const Guilt *g)
{
    int n = 0;

    for (int r = 0; r < c->ranks; r++)
        n += is_guilty(c, g, r);
    return n;
}

static Guilt find_guilt(const RtComm *c, int64_t number)
{
    for (Fault f = 0; f < NONE_ENDED; f++) {
        Guilt g = {f, number};
        int n = count(c, &g);
        if (n && n < c->ranks)
            return g;
    }
    return (Guilt){NONE_ENDED, number};
}

// The words of the device, on the first rank where it has any.
static const char *why(const RtComm *c)
{
    for (int r = 0; r < c->ranks; r++)
        if (c->warning[r].peer >= 0 && *c->warning[r].why)
            return c->warning[r].why;
    return "";
}

static void say_guilt(const RtComm *c, Guilt g, const char *call)
{
    char ranks[100];

    rt_ranks_print(c, is_guilty, &g, ranks, sizeof ranks);
    rt_error(c->model, "%s: rank%s %s %g s: %s", call, ranks, said[g.fault][0], c->timeout,
             said[g.fault][1]);
}

// "h.3.mlp: all_reduce f32[4,64], 16.0 KiB, number 57".
static void print_call(const RtComm *c, int64_t number, char *to, size_t capacity)
{
    rt_call_print(c, number, to, capacity);
    size_t n = strlen(to);
    snprintf(to + n, capacity - n, "%snumber %lld", n ? ", " : "", (long long)number);
}

bool rt_stuck_say(const RtComm *c, bool must)
{
    int64_t number = stuck_call(c);
    Guilt g = find_guilt(c, number);
    char call[300];

    if (!number || (g.fault == NONE_ENDED && !must))
        return false;
    print_call(c, number, call, sizeof call);
    if (*why(c))
        rt_error(c->model, "%s: %s", call, why(c));
    else
        say_guilt(c, g, call);
    rt_last_calls_say(c);
    return true;
}

void rt_gone_say(const RtComm *c, int rank)
{
    int64_t number = stuck_call(c);
    char call[300] = "";

    if (number)
        print_call(c, number, call, sizeof call);
    rt_error(c->model, "%s%srank %d is gone: it was killed, or has crashed", call,
             number ? ": " : "", rank);
    rt_last_calls_say(c);
}
