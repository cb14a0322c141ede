// Measures how long the calls of a step take, and prints tables by module and by call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/trainer/run_report.h"

// ---- collecting ----

static void end_call(RtProfile *p)
{
    if (p->is_running)
        p->rt->device->mark(p->rt, &p->event[p->at - 1].end);
    p->is_running = false;
}

// Ensures capacity for one more call; only the first step needs it.
static void grow(RtProfile *p)
{
    int cap = p->cap ? 2 * p->cap : 1024;
    RtEvent *event = rt_alloc((size_t)cap, sizeof *event);

    if (p->n)
        memcpy(event, p->event, sizeof *event * (size_t)p->n);
    free(p->event);
    p->event = event;
    p->cap = cap;
}

void rt_profile_call(RtProfile *p, const RtCall *call)
{
    if (!p->part)  // evaluation isn't part of a step
        return;
    if (p->at == p->cap)
        grow(p);
    end_call(p);
    RtEvent *e = &p->event[p->at++];
    p->n = p->at > p->n ? p->at : p->n;
    e->call = *call;
    e->part = p->part;
    e->layer = call->block ? p->rt->layer : -1;
    if (call->sent > 0 && !e->exchange)
        e->exchange = rt_alloc(2, sizeof *e->exchange);
    p->rt->exchange = e->exchange;
    p->rt->device->mark(p->rt, &e->begin);
    p->is_running = true;
}

void rt_profile_part(RtProfile *p, const char *part)
{
    if (!p)
        return;
    end_call(p);
    p->part = part;
    p->rt->exchange = NULL;
}

static void count(const RtProfile *p, RtEvent *e, bool is_fresh)
{
    const RtDevice *d = p->rt->device;

    e->start = d->seconds_between(&p->event[0].begin, &e->begin);
    e->seconds = d->seconds_between(&e->begin, &e->end);
    e->total = e->seconds + (is_fresh ? 0 : e->total);
    e->least = is_fresh || e->seconds < e->least ? e->seconds : e->least;
    if (e->exchange)
        e->exchange_total = (is_fresh ? 0 : e->exchange_total) +
                            d->seconds_between(&e->exchange[0], &e->exchange[1]);
}

// Records the bytes sent in the first step; nothing was sent before it.
static void note_sent(RtProfile *p)
{
    for (int k = 0; k < RT_N_EXCHANGES; k++)
        for (int a = 0; a < RT_MAX_AXES; a++)
            p->sent[k][a] = rt_comm_bytes(p->rt->comm, (RtExchangeKind)k, a);
}

void rt_profile_step(RtProfile *p, double seconds)
{
    if (!p)
        return;
    bool is_fresh = p->steps++ < 2;  // the second step replaces the first

    if (p->steps == 1)
        note_sent(p);
    for (int i = 0; i < p->n; i++)
        count(p, &p->event[i], is_fresh);
    p->seconds = (is_fresh ? 0 : p->seconds) + seconds;
    p->at = 0;
}

int64_t rt_profile_steps(const RtProfile *p) { return p->steps > 1 ? p->steps - 1 : p->steps; }

void rt_profile_close(RtProfile *p)
{
    for (int i = 0; i < p->n; i++) {
        p->rt->device->free_mark(&p->event[i].begin);
        p->rt->device->free_mark(&p->event[i].end);
        for (int k = 0; k < 2 && p->event[i].exchange; k++)
            p->rt->device->free_mark(&p->event[i].exchange[k]);
        free(p->event[i].exchange);
    }
    free(p->event);
    *p = (RtProfile){0};
}

// ---- tables ----

enum { NAME = 72 };

// All calls of one name; sums over a step.
typedef struct Row {
    char name[NAME];
    double work;  // work of each of these calls, which tells calls of one name apart; 0: any work
    int calls;
    double seconds, least, flops, read, written, predicted;
} Row;

// The module of a call: its scope, and for repeated layers only one name below the layer.
// "h.{}.mlp.c_fc: dot f32[4,64]" gives "h.{}.mlp". A call without a scope gets its part of the
// step: "(update)".
static void name_module(Row *r, const RtEvent *e)
{
    const char *what = e->call.what, *end = strstr(what, ": "), *layer = strstr(what, "{}.");

    if (!end) {
        snprintf(r->name, NAME, "(%s)", e->part);
        return;
    }
    if (layer && layer < end)
        end = layer + 3 + strcspn(layer + 3, ".:");
    snprintf(r->name, NAME, "%.*s", (int)(end - what), what);
}

// Names may omit operators, so calls of the same name but different work have separate rows.
static void name_call(Row *r, const RtEvent *e)
{
    snprintf(r->name, NAME, "%s", e->call.what);
    r->work = e->call.flops + e->call.reads + e->call.writes;
}

static int by_name(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->work > y->work) - (x->work < y->work);
}

static int by_time(const void *a, const void *b)
{
    const Row *x = a, *y = b;

    return x->seconds != y->seconds ? (x->seconds < y->seconds ? 1 : -1) : by_name(a, b);
}

// Sums the step's calls by name, the longest first; returns the number of rows.
static int add_up(const RtProfile *p, void (*name)(Row *r, const RtEvent *e), Row *row)
{
    double steps = (double)rt_profile_steps(p);
    int n = 0;

    for (int i = 0; i < p->n; i++) {
        const RtEvent *e = &p->event[i];
        name(&row[i], e);
        row[i].calls = 1;
        row[i].seconds = e->total / steps;
        row[i].least = e->least;
        row[i].flops = e->call.flops;
        row[i].read = e->call.reads;
        row[i].written = e->call.writes;
        row[i].predicted = e->call.seconds;
    }
    qsort(row, (size_t)p->n, sizeof *row, by_name);
    for (int i = 0; i < p->n; i++) {
        if (n == 0 || by_name(&row[n - 1], &row[i]) != 0) {
            row[n++] = row[i];
            continue;
        }
        Row *to = &row[n - 1];
        to->calls++;
        to->seconds += row[i].seconds;
        to->least += row[i].least;
        to->flops += row[i].flops;
        to->read += row[i].read;
        to->written += row[i].written;
        to->predicted += row[i].predicted;
    }
    qsort(row, (size_t)n, sizeof *row, by_time);
    return n;
}

static void print_row(const Row *r, double step)
{
    double seconds = r->seconds > 1e-9 ? r->seconds : 1e-9;

    printf("%-*s %5d %9.3f %9.3f %6.1f%% %8.1f %8.1f %8.1f", NAME - 1, r->name, r->calls,
           1e3 * r->seconds, 1e3 * r->least, 100 * r->seconds / step, 1e-9 * r->flops / seconds,
           1e-9 * r->read / seconds, 1e-9 * r->written / seconds);
    if (r->predicted > 0)
        printf(" %9.3f", 1e3 * r->predicted);
    printf("\n");
}

static void print_table(const RtProfile *p, const char *title,
                        void (*name)(Row *r, const RtEvent *e))
{
    double step = p->seconds / (double)rt_profile_steps(p);
    Row *row = rt_alloc((size_t)p->n, sizeof *row), all = {.name = "all calls"};
    int n = add_up(p, name, row);

    for (int i = 0; i < n; i++) {
        all.calls += row[i].calls;
        all.seconds += row[i].seconds;
        all.least += row[i].least;
        all.flops += row[i].flops;
        all.read += row[i].read;
        all.written += row[i].written;
        all.predicted += row[i].predicted;
    }
    printf("\n%-*s %5s %9s %9s %7s %8s %8s %8s%s\n", NAME - 1, title, "calls", "ms", "best",
           "share", "GFLOP/s", "GB/s in", "GB/s out", all.predicted > 0 ? " predicted" : "");
    for (int i = 0; i < n; i++)
        print_row(&row[i], step);
    print_row(&all, step);
    free(row);
}

// Prints the bytes sent by collective and axis; nothing if no bytes were sent.
static void print_sent(const RtProfile *p)
{
    bool has_title = false;

    for (int k = 0; k < RT_N_EXCHANGES; k++)
        for (int a = 0; a < RT_MAX_AXES; a++) {
            if (!p->sent[k][a])
                continue;
            if (!has_title)
                printf("\n%-16s %-8s %15s\n", "sent in a step", "axis", "bytes");
            has_title = true;
            printf("%-16s %-8s %15lld\n", rt_exchange_name((RtExchangeKind)k),
                   rt_comm_axis(p->rt->comm, a), (long long)p->sent[k][a]);
        }
}

void rt_profile_print(const RtProfile *p)
{
    long long steps = rt_profile_steps(p);

    if (steps == 0)
        return;
    printf("%.3f ms a step, mean of %lld\n", 1e3 * p->seconds / (double)steps, steps);
    print_table(p, "module", name_module);
    print_table(p, "call", name_call);
    print_sent(p);
}
