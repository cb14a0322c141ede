// The times of messages, as a cluster's file has them: brought to rank 0, and printed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[n / 2];
}

// The bits of numbers that aren't negative have their order.
double ranks_most(const Ranks *r, double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits = rt_comm_max(r->comm, bits);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

MessageTimes times_new(const Ranks *r)
{
    int pairs = r->n * r->n, loads = MESSAGE_TRIES * r->n;
    double *all = rt_alloc(2 * (size_t)(pairs + loads), sizeof *all);

    return (MessageTimes){all, all + pairs, all + 2 * pairs, all + 2 * pairs + loads};
}

static void print_list(const char *name, const double *x, int n)
{
    printf(",\n\"%s\": [", name);
    for (int i = 0; i < n; i++)
        printf("%s%.4g", i ? ", " : "", x[i]);
    printf("]");
}

// Brings the numbers to rank 0: each rank has filled the row of its own messages, and the largest
// overhead counts.
static void collect(const Ranks *r, const MessageTimes *t)
{
    int loads = MESSAGE_TRIES * r->n;
    double *other = rt_alloc((size_t)loads, sizeof *other);
    int64_t row = r->n * (int64_t)sizeof *t->alpha;

    for (int from = 1; from < r->n; from++) {
        rt_comm_collect(r->comm, from, t->alpha + from * r->n, row);
        rt_comm_collect(r->comm, from, t->beta + from * r->n, row);
        memcpy(other, t->overhead, (size_t)loads * sizeof *other);
        rt_comm_collect(r->comm, from, other, loads * (int64_t)sizeof *other);
        for (int i = 0; i < loads && !r->rank; i++)
            t->overhead[i] = fmax(t->overhead[i], other[i]);
    }
    free(other);
}

void times_print(const Ranks *r, MessageTimes *t)
{
    int pairs = r->n * r->n, loads = MESSAGE_TRIES * r->n;

    collect(r, t);
    if (!r->rank) {
        printf("\"messages\": {\"ranks\": %d, \"tries\": %d", r->n, MESSAGE_TRIES);
        print_list("alpha", t->alpha, pairs);
        print_list("beta", t->beta, pairs);
        print_list("times", t->times, loads);
        print_list("overhead", t->overhead, loads);
        printf("},\n");
    }
    free(t->alpha);
    *t = (MessageTimes){0};
}
