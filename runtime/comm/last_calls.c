// The collectives that ranks began last, for messages about a rank that doesn't come. A rank's
// window has how many it has begun, so that ranks of its host can read it after its end. Names of
// the last ones stay with the rank: all ranks run the same program, so equal numbers have equal
// names.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

typedef struct Entry {
    atomic_int_least64_t number, layer, bytes;  // number 0: none
    const char *_Atomic what;
} Entry;

struct RtLastCalls {
    int64_t n;
    Entry entry[];  // that of call number k is k % n
};

void rt_last_calls_open(RtComm *c, int64_t names)
{
    c->last_calls = rt_alloc(1, sizeof *c->last_calls + (size_t)names * sizeof(Entry));
    c->last_calls->n = names;
}

void rt_last_calls_close(RtComm *c)
{
    free(c->last_calls);
    c->last_calls = NULL;
}

RtCallLabel rt_current_call(const RtComm *c)
{
    return (RtCallLabel){{c->at.what ? c->at.what : c->kind, c->at.layer}, c->call_bytes};
}

void rt_last_calls_name(RtComm *c, int64_t number, RtCallLabel call)
{
    Entry *e = &c->last_calls->entry[number % c->last_calls->n];

    atomic_store(&e->number, 0);
    atomic_store_explicit(&e->what, call.name.what, memory_order_relaxed);
    atomic_store_explicit(&e->layer, call.name.layer, memory_order_relaxed);
    atomic_store_explicit(&e->bytes, call.bytes, memory_order_relaxed);
    atomic_store_explicit(&e->number, number, memory_order_release);
}

void rt_last_calls_add(RtComm *c)
{
    atomic_int_least64_t *begun = &c->window[c->rank]->calls[c->tag].begun;

    if (c->is_counted_already)
        return;
    int64_t n = atomic_load_explicit(begun, memory_order_relaxed) + 1;

    rt_last_calls_name(c, n, rt_current_call(c));
    atomic_store_explicit(begun, n, memory_order_release);
}

void rt_last_calls_end(RtComm *c)
{
    RtSharedWindow *w = c->window[c->rank];

    atomic_store(&w->calls[c->tag].ended, atomic_load(&w->calls[c->tag].begun));
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

// The collective of that number, if this rank knows its name.
static bool find_own(const RtComm *c, int64_t number, RtCallLabel *call)
{
    const Entry *e = &c->last_calls->entry[number % c->last_calls->n];

    if (number <= 0 || atomic_load_explicit(&e->number, memory_order_acquire) != number)
        return false;
    *call = (RtCallLabel){{atomic_load(&e->what), atomic_load(&e->layer)}, atomic_load(&e->bytes)};
    return atomic_load(&e->number) == number;
}

// The counts in the window of a rank of this host.
static RtCallCounts counted(const RtComm *c, int rank)
{
    const RtSharedWindow *w = c->window[rank];

    return (RtCallCounts){atomic_load(&w->calls[c->tag].begun),
                          c->counts_ends ? atomic_load(&w->calls[c->tag].ended) : -1};
}

RtWarning rt_warning(const RtComm *c, int peer)
{
    RtWarning w = {.peer = peer, .counts = counted(c, c->rank)};
    RtCallLabel call;

    if (find_own(c, w.counts.begun, &call)) {
        rt_call_name_print(call.name, w.name, sizeof w.name);
        w.bytes = call.bytes;
    }
    for (int i = 0, r = c->rank - RT_NEAR; i <= 2 * RT_NEAR; i++, r++)
        w.near[i] = r >= 0 && r < c->ranks && c->window[r] ? counted(c, r) : (RtCallCounts){-1, -1};
    return w;
}

RtCallCounts rt_call_counts(const RtComm *c, int rank)
{
    if (c->window[rank])
        return counted(c, rank);
    if (c->warning[rank].peer >= 0)
        return c->warning[rank].counts;
    for (int r = rank - RT_NEAR; r <= rank + RT_NEAR; r++)
        if (r >= 0 && r < c->ranks && c->warning[r].peer >= 0 &&
            c->warning[r].near[rank - r + RT_NEAR].begun >= 0)
            return c->warning[r].near[rank - r + RT_NEAR];
    return (RtCallCounts){-1, -1};
}

static void print_bytes(int64_t bytes, char *to, size_t capacity)
{
    if (bytes >= 1 << 20)
        snprintf(to, capacity, ", %.1f MiB", (double)bytes / (1 << 20));
    else if (bytes >= 1 << 10)
        snprintf(to, capacity, ", %.1f KiB", (double)bytes / (1 << 10));
    else if (bytes > 0)
        snprintf(to, capacity, ", %d bytes", (int)bytes);
}

void rt_call_print(const RtComm *c, int64_t number, char *to, size_t capacity)
{
    RtCallLabel call = {{NULL, -1}, 0};
    size_t n;

    *to = 0;
    if (find_own(c, number, &call))
        rt_call_name_print(call.name, to, capacity);
    for (int r = 0; r < c->ranks && !*to && number > 0; r++)
        if (c->warning[r].peer >= 0 && c->warning[r].counts.begun == number) {
            snprintf(to, capacity, "%s", c->warning[r].name);
            call.bytes = c->warning[r].bytes;
        }
    n = strlen(to);
    print_bytes(call.bytes, to + n, capacity - n);
}

static bool are_alike(RtCallCounts a, RtCallCounts b)
{
    return a.begun == b.begun && a.ended == b.ended;
}

static bool is_like(const RtComm *c, const void *first, int rank)
{
    return are_alike(rt_call_counts(c, rank), rt_call_counts(c, *(const int *)first));
}

void rt_ranks_print(const RtComm *c, RtIsOne *is_one, const void *data, char *to, size_t capacity)
{
    const char *before = " ";
    size_t n = 1;
    int many = 0;

    *to = 0;
    for (int r = 0, end; r < c->ranks && n < capacity; r = end + 1) {
        for (end = r; end < c->ranks && is_one(c, data, end); end++)
            ;
        if (end == r)
            continue;
        n += (size_t)snprintf(to + n, capacity - n, "%s%d", before, r);
        if (end > r + 1 && n < capacity)
            n += (size_t)snprintf(to + n, capacity - n, "-%d", end - 1);
        before = ", ";
        many += end - r;
    }
    if (many > 1)
        *to = 's';
    else
        memmove(to, to + 1, n < capacity ? n : capacity - 1);
}

void rt_last_calls_say(const RtComm *c)
{
    enum { MAX_LINES = 8 };
    int lines = 0;

    for (int r = 0; r < c->ranks && lines < MAX_LINES; r++) {
        RtCallCounts counts = rt_call_counts(c, r);
        bool is_said = false;
        char ranks[100], name[sizeof c->warning->name];

        for (int k = 0; k < r && !is_said; k++)
            is_said = are_alike(rt_call_counts(c, k), counts);
        if (is_said)
            continue;
        rt_ranks_print(c, is_like, &r, ranks, sizeof ranks);
        rt_call_print(c, counts.begun, name, sizeof name);
        if (counts.begun < 0)
            rt_note("last collective of rank%s: not known", ranks);
        else
            rt_note("last collective of rank%s: number %lld%s%s%s", ranks, (long long)counts.begun,
                    *name ? ", " : "", name,
                    counts.ended >= counts.begun && counts.begun > 0 ? ", ended" : "");
        lines++;
    }
}
