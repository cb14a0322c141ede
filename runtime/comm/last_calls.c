// The collectives that ranks began last, for messages about a rank that doesn't come. A rank's
// window has how many it has begun, so that ranks of its host can read it after its end. Names of
// the last ones stay with the rank: all ranks run the same program, so equal numbers have equal
// names.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

enum { NAMES = 64 };  // of the last collectives

struct RtLastCalls {
    // Call number n is at n % NAMES.
    const char *_Atomic what[NAMES];
    atomic_int_least64_t layer[NAMES];
};

void rt_last_calls_open(RtComm *c) { c->last_calls = rt_alloc(1, sizeof *c->last_calls); }

void rt_last_calls_close(RtComm *c)
{
    free(c->last_calls);
    c->last_calls = NULL;
}

void rt_last_calls_add(RtComm *c)
{
    atomic_int_least64_t *calls = &c->window[c->rank]->calls[c->tag];
    int64_t n = atomic_load_explicit(calls, memory_order_relaxed) + 1;

    atomic_store_explicit(&c->last_calls->what[n % NAMES], c->at.what ? c->at.what : c->kind,
                          memory_order_relaxed);
    atomic_store_explicit(&c->last_calls->layer[n % NAMES], c->at.layer, memory_order_relaxed);
    atomic_store_explicit(calls, n, memory_order_release);
}

void rt_call_name_print(RtCallName name, char *to, size_t capacity)
{
    const char *what = name.what ? name.what : "", *hole = strstr(what, "{}");

    if (!hole || name.layer < 0)
        snprintf(to, capacity, "%s", what);
    else
        snprintf(to, capacity, "%.*s%lld%s", (int)(hole - what), what, (long long)name.layer,
                 hole + 2);
}

// Prints the name of a collective that this rank knows.
static void print_own(const RtComm *c, int64_t call, char *to, size_t capacity)
{
    RtCallName name = {atomic_load(&c->last_calls->what[call % NAMES]),
                       atomic_load(&c->last_calls->layer[call % NAMES])};

    rt_call_name_print(name, to, capacity);
}

RtWarning rt_warning(const RtComm *c, int peer)
{
    RtWarning w = {.peer = peer, .calls = atomic_load(&c->window[c->rank]->calls[c->tag])};

    print_own(c, w.calls, w.name, sizeof w.name);
    for (int i = 0, r = c->rank - RT_NEAR; i <= 2 * RT_NEAR; i++, r++)
        w.near[i] =
            r >= 0 && r < c->ranks && c->window[r] ? atomic_load(&c->window[r]->calls[c->tag]) : -1;
    return w;
}

// How many collectives a rank has begun; -1: unknown.
static int64_t calls_of(const RtComm *c, int rank)
{
    if (c->window[rank])
        return atomic_load(&c->window[rank]->calls[c->tag]);
    if (c->warning[rank].peer >= 0)
        return c->warning[rank].calls;
    for (int r = rank - RT_NEAR; r <= rank + RT_NEAR; r++)
        if (r >= 0 && r < c->ranks && c->warning[r].peer >= 0 &&
            c->warning[r].near[rank - r + RT_NEAR] >= 0)
            return c->warning[r].near[rank - r + RT_NEAR];
    return -1;
}

// Prints the name of that collective, if this rank or another one that has warned knows it.
static void print_call(const RtComm *c, int64_t call, char *to, size_t capacity)
{
    int64_t own = calls_of(c, c->rank);

    *to = 0;
    if (call <= 0)
        return;
    if (call > own - NAMES && call <= own) {
        print_own(c, call, to, capacity);
        return;
    }
    for (int r = 0; r < c->ranks && !*to; r++)
        if (c->warning[r].peer >= 0 && c->warning[r].calls == call)
            snprintf(to, capacity, "%s", c->warning[r].name);
}

// "s 0-3, 5": the ranks that have begun as many as `first`, which is their lowest.
static void print_ranks(const RtComm *c, int first, char *to, size_t capacity)
{
    int64_t calls = calls_of(c, first);
    size_t n = 0;
    int many = 0;

    for (int r = first, end; r < c->ranks && n < capacity; r = end + 1) {
        for (end = r; end < c->ranks && calls_of(c, end) == calls; end++)
            ;
        if (end == r)
            continue;
        n += (size_t)snprintf(to + n, capacity - n, "%s%d", n ? ", " : " ", r);
        if (end > r + 1 && n < capacity)
            n += (size_t)snprintf(to + n, capacity - n, "-%d", end - 1);
        many += end - r;
    }
    if (many > 1 && n + 1 < capacity) {
        memmove(to + 1, to, n + 1);
        *to = 's';
    }
}

void rt_last_calls_say(const RtComm *c)
{
    enum { MAX_LINES = 8 };  // lines
    int lines = 0;

    for (int r = 0; r < c->ranks && lines < MAX_LINES; r++) {
        int64_t calls = calls_of(c, r);
        bool is_said = false;
        char ranks[100], name[sizeof c->warning->name];

        for (int k = 0; k < r && !is_said; k++)
            is_said = calls_of(c, k) == calls;
        if (is_said)
            continue;
        print_ranks(c, r, ranks, sizeof ranks);
        print_call(c, calls, name, sizeof name);
        if (calls < 0)
            rt_note("last collective of rank%s: not known", ranks);
        else
            rt_note("last collective of rank%s: number %lld%s%s", ranks, (long long)calls,
                    *name ? ", " : "", name);
        lines++;
    }
}
