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
    const char *_Atomic name[NAMES];  // of number n: n % NAMES
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

    atomic_store_explicit(&c->last_calls->name[n % NAMES], c->at ? c->at : c->kind,
                          memory_order_relaxed);
    atomic_store_explicit(calls, n, memory_order_release);
}

RtWarning rt_warning(const RtComm *c, int peer)
{
    RtWarning w = {.peer = peer, .calls = atomic_load(&c->window[c->rank]->calls[c->tag])};
    const char *name = atomic_load(&c->last_calls->name[w.calls % NAMES]);

    snprintf(w.name, sizeof w.name, "%s", name ? name : "");
    return w;
}

// How many collectives a rank has begun; -1: unknown.
static int64_t calls_of(const RtComm *c, int rank)
{
    if (c->window[rank])
        return atomic_load(&c->window[rank]->calls[c->tag]);
    return c->warning[rank].peer >= 0 ? c->warning[rank].calls : -1;
}

// The name of that collective, which this rank or another one that has warned knows; else NULL.
static const char *name_of(const RtComm *c, int64_t call)
{
    int64_t own = calls_of(c, c->rank);

    if (call > own - NAMES && call <= own)
        return atomic_load(&c->last_calls->name[call % NAMES]);
    for (int r = 0; r < c->ranks; r++)
        if (c->warning[r].peer >= 0 && c->warning[r].calls == call)
            return c->warning[r].name;
    return NULL;
}

// "s 0-3, 5": the ranks that have begun as many as `first`, which is their lowest.
static void print_ranks(const RtComm *c, int first, char *to, size_t room)
{
    int64_t calls = calls_of(c, first);
    size_t n = 0;
    int many = 0;

    for (int r = first, end; r < c->ranks && n < room; r = end + 1) {
        for (end = r; end < c->ranks && calls_of(c, end) == calls; end++)
            ;
        if (end == r)
            continue;
        n += (size_t)snprintf(to + n, room - n, "%s%d", n ? ", " : " ", r);
        if (end > r + 1 && n < room)
            n += (size_t)snprintf(to + n, room - n, "-%d", end - 1);
        many += end - r;
    }
    if (many > 1 && n + 1 < room) {
        memmove(to + 1, to, n + 1);
        *to = 's';
    }
}

void rt_last_calls_say(const RtComm *c)
{
    enum { MOST = 8 };  // lines
    int lines = 0;

    for (int r = 0; r < c->ranks && lines < MOST; r++) {
        int64_t calls = calls_of(c, r);
        bool is_said = false;
        char ranks[100];

        for (int k = 0; k < r && !is_said; k++)
            is_said = calls_of(c, k) == calls;
        if (is_said)
            continue;
        print_ranks(c, r, ranks, sizeof ranks);
        const char *name = calls > 0 ? name_of(c, calls) : NULL;
        if (calls < 0)
            rt_note("last collective of rank%s: not known", ranks);
        else
            rt_note("last collective of rank%s: number %lld%s%s", ranks, (long long)calls,
                    name ? ", " : "", name ? name : "");
        lines++;
    }
}
