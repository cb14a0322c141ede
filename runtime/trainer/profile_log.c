// Writes the calls of a profile to the log, each with its seconds on all ranks.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/comm.h"
#include "runtime/core/core.h"
#include "runtime/rt_file.h"
#include "runtime/trainer/run_report.h"

// The seconds of a call in a step, on one rank: the mean and the least of the steps that count, and
// the mean of what a collective takes by itself.
typedef struct Seconds {
    double mean, least, exchange;
} Seconds;

// Equal calls of one layer, which micro-batches repeat.
typedef struct Row {
    const RtEvent *first;
    int calls;
    Seconds own, all;         // of this rank; the means over all ranks, and the least of all
    double fastest, slowest;  // the means of these ranks
} Row;

// ---- equal calls ----

static int order(double x, double y) { return (x > y) - (x < y); }

// By what is equal in equal calls.
static int by_call(const RtEvent *x, const RtEvent *y)
{
    const RtCall *a = &x->call, *b = &y->call;
    int by_text = strcmp(a->what, b->what), by_part = strcmp(x->part, y->part);

    return by_text                  ? by_text
           : by_part                ? by_part
           : x->layer != y->layer   ? order((double)x->layer, (double)y->layer)
           : a->block != b->block   ? a->block - b->block
           : a->flops != b->flops   ? order(a->flops, b->flops)
           : a->reads != b->reads   ? order(a->reads, b->reads)
           : a->writes != b->writes ? order(a->writes, b->writes)
                                    : order(a->sent, b->sent);
}

static int by_equal(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    int equal = by_call(x->first, y->first);

    return equal ? equal : (x->first > y->first) - (x->first < y->first);
}

static int by_start(const void *a, const void *b)
{
    const Row *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

// Adds up equal calls, in the order of their first ones. Returns the number of rows.
static int add_up(const RtProfile *p, Row *row)
{
    double steps = (double)rt_profile_steps(p);
    int n = 0;

    for (int i = 0; i < p->n; i++)
        row[i] = (Row){.first = &p->event[i]};
    qsort(row, (size_t)p->n, sizeof *row, by_equal);
    for (int i = 0; i < p->n; i++) {
        const RtEvent *e = row[i].first;
        if (!n || by_call(row[n - 1].first, e))
            row[n++] = row[i];
        Row *to = &row[n - 1];
        to->calls++;
        to->own.mean += e->total / steps;
        to->own.least += e->least;
        to->own.exchange += e->exchange_total / steps;
    }
    qsort(row, (size_t)n, sizeof *row, by_start);
    return n;
}

// ---- all ranks ----

static void add_rank(Row *row, int n, const Seconds *s, int rank, int ranks)
{
    for (int i = 0; i < n; i++) {
        Row *r = &row[i];
        r->all.mean += s[i].mean / ranks;
        r->all.exchange += s[i].exchange / ranks;
        r->all.least = !rank || s[i].least < r->all.least ? s[i].least : r->all.least;
        r->fastest = !rank || s[i].mean < r->fastest ? s[i].mean : r->fastest;
        r->slowest = !rank || s[i].mean > r->slowest ? s[i].mean : r->slowest;
    }
}

// Rank 0 adds the seconds of all. Programs are the same on all ranks, and so are the rows.
static void gather(const RtProfile *p, Row *row, int n)
{
    int ranks = rt_comm_ranks(p->rt->comm);
    Seconds *s = rt_alloc((size_t)n, sizeof *s);

    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < n; i++)
            s[i] = row[i].own;
        rt_comm_collect(p->rt->comm, r, s, (int64_t)sizeof *s * n);
        add_rank(row, n, s, r, ranks);
    }
    free(s);
}

// ---- lines ----

enum { MAX_LINE = 4096, MAX_NAME = 256 };

typedef struct Line {
    char text[MAX_LINE];
    size_t n;
} Line;

__attribute__((format(printf, 2, 3))) static void add(Line *l, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    l->n += (size_t)vsnprintf(l->text + l->n, sizeof l->text - l->n, fmt, args);
    va_end(args);
}

// Adds a member, with other bytes than printable ASCII as \xHH.
static void add_text(Line *l, const char *name, const char *s)
{
    char plain[MAX_NAME], quoted[2 * MAX_NAME];
    size_t n = 0;

    for (; *s && n + 5 < sizeof plain; s++)
        n += (size_t)snprintf(plain + n, 5, *s < ' ' || *s > '~' ? "\\x%02x" : "%c",
                              (unsigned char)*s);
    plain[n] = 0;
    rt_json_string(quoted, sizeof quoted, plain);
    add(l, "%s\"%s\": %s", l->n ? ", " : "{", name, quoted);
}

static void add_number(Line *l, const char *name, double x) { add(l, ", \"%s\": %.9g", name, x); }

static void end(Line *line, RtLog *l)
{
    add(line, "}\n");
    rt_log_write(l, line->text, line->n);
}

static void write_head(const RtProfile *p, const RtModel *m, int rows, RtLog *l)
{
    long long steps = rt_profile_steps(p);
    Line line = {.n = 0};

    add_text(&line, "profile", m->name);
    add(&line, ", \"identity\": \"%016llx\"", (unsigned long long)m->identity);
    if (m->plan_hash)
        add(&line, ", \"plan_hash\": \"%016llx\"", (unsigned long long)m->plan_hash);
    add_text(&line, "plan", m->plan);
    add_text(&line, "device", m->device->name);
    add(&line, ", \"ranks\": %d, \"steps\": %lld", rt_mesh_ranks(&m->mesh), steps);
    add_number(&line, "seconds", p->seconds / (double)steps);
    add(&line, ", \"calls\": %d", rows);
    end(&line, l);
}

static void add_collective(Line *line, const Row *r)
{
    const RtCall *c = &r->first->call;

    add_text(line, "axis", c->axis);
    if (c->sent <= 0)  // it is waited for
        return;
    add_number(line, "sent_bytes", r->calls * c->sent);
    add_number(line, "exchange_seconds", r->all.exchange);
    if (c->exchange > 0)
        add_number(line, "predicted_exchange_seconds", r->calls * c->exchange);
}

static void write_call(const RtModel *m, const Row *r, RtLog *l)
{
    const RtCall *c = &r->first->call;
    Line line = {.n = 0};

    add_text(&line, "call", c->what);
    add_text(&line, "part", r->first->part);
    if (c->block && m->blocks)
        add_text(&line, "block", m->blocks[c->block - 1]);
    if (r->first->layer >= 0)
        add(&line, ", \"layer\": %lld", (long long)r->first->layer);
    add(&line, ", \"calls\": %d", r->calls);
    add_number(&line, "seconds", r->all.mean);
    add_number(&line, "least_seconds", r->all.least);
    if (rt_mesh_ranks(&m->mesh) > 1) {
        add_number(&line, "fastest_rank_seconds", r->fastest);
        add_number(&line, "slowest_rank_seconds", r->slowest);
    }
    if (c->seconds > 0)
        add_number(&line, "predicted_seconds", r->calls * c->seconds);
    add_number(&line, "flops", r->calls * c->flops);
    add_number(&line, "read_bytes", r->calls * c->reads);
    add_number(&line, "written_bytes", r->calls * c->writes);
    if (c->axis)
        add_collective(&line, r);
    end(&line, l);
}

void rt_profile_log(const RtProfile *p, const RtModel *m, RtLog *l)
{
    if (!rt_profile_steps(p))
        return;
    Row *row = rt_alloc((size_t)p->n, sizeof *row);
    int n = add_up(p, row);

    gather(p, row, n);
    if (l->fd >= 0)
        write_head(p, m, n, l);
    for (int i = 0; i < n && l->fd >= 0; i++)
        write_call(m, &row[i], l);
    free(row);
}
