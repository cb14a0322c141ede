// Measures messages between the ranks that a launcher started: each pair alone, with 1 byte and
// with LARGE bytes; and all ranks together (probe_load.c). Medians count, because other traffic and
// the state of the peer disturb a time in both directions.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

enum { TRIES = 5 };
#define START_SECONDS 60.0    // in which all ranks must have come
#define WAIT_SECONDS 86400.0  // for the ranks that measure meanwhile

// ---- ranks ----

static void refuse(const Ranks *r, const char *why)
{
    if (r->rank == 0)
        fprintf(stderr, "probe: %s\n", why);
    rt_comm_close(r->comm);
    exit(1);
}

// A number of this rank's machine, even if ranks have different host names (containers).
static int64_t machine_number(void)
{
    uint64_t boot = rt_boot_number();
    char name[64] = {0};

    if (!boot)
        gethostname(name, sizeof name - 1);
    return (int64_t)((boot ? boot : rt_hash(0, name)) >> 1);
}

// The number of ranks on this rank's machine.
static int count_neighbours(const Ranks *r)
{
    int64_t own = machine_number();
    int n = 0;

    for (int i = 0; i < r->n; i++)
        n += rt_comm_max(r->comm, i == r->rank ? own : 0) == own;
    return n;
}

void ranks_start(Ranks *r, RtJob job)
{
    job.timeout = START_SECONDS;
    *r = (Ranks){.n = 1,
                 .per_host = 1,
                 .per_machine = 1,
                 .model = {.name = "probe", .transport = &TRANSPORT, .mesh = {1, {1}, {"x"}}}};
    if (!rt_launched(&r->model, &job, &r->n, &r->rank))
        exit(1);
    if (r->n > MAX_RANKS)
        refuse(r, "links are measured among 128 ranks at most");
    r->model.mesh.size[0] = r->n;
    if (r->n < 2)
        return;
    if (!rt_comm_open(&r->comm, &r->model, &job))
        exit(1);
    r->comm->timeout = WAIT_SECONDS;
    r->rank = rt_comm_rank(r->comm);
}

void ranks_begin(Ranks *r)
{
    int in_host = 0;

    ranks_start(r, (RtJob){0});
    if (!r->comm)
        return;
    r->per_host = 0;
    for (int i = 0; i < r->n; i++) {
        r->per_host += r->comm->window[i] != NULL;
        in_host += r->comm->window[i] && i < r->rank;
    }
    int first = (int)rt_comm_max(r->comm, r->rank ? 0 : r->per_host);
    if (rt_comm_max(r->comm, r->per_host != first || in_host != r->rank % first))
        refuse(r, "the ranks of a host must be consecutive, equally many on each: mpirun --map-by "
                  "slot");
    r->per_machine = count_neighbours(r);
}

void ranks_end(const Ranks *r)
{
    ranks_wait(r);
    rt_comm_close(r->comm);
}

// ---- messages ----

static void measure_pairs(const Ranks *r, char *p, double *alpha, double *beta)
{
    for (int a = 0; a < r->n; a++)
        for (int b = a + 1; b < r->n; b++) {
            ranks_wait(r);
            if (r->rank != a && r->rank != b)
                continue;
            int other = a + b - r->rank;
            double small = message_seconds(r, other, r->rank == a, p, 1, SMALL_CALLS);
            double large = message_seconds(r, other, r->rank == a, p, LARGE, LARGE_CALLS);
            alpha[r->rank * r->n + other] = small;
            beta[r->rank * r->n + other] = fmax(large - small, 1e-12) / LARGE;
        }
    ranks_wait(r);
}

static void print_list(const char *name, const double *x, int n)
{
    printf(",\n\"%s\": [", name);
    for (int i = 0; i < n; i++)
        printf("%s%.4g", i ? ", " : "", x[i]);
    printf("]");
}

// Fills the tables by try and stride. Only strides that divide the number of ranks can be a level.
static void measure_load(const Ranks *r, char *p, const Meanwhile *m, double *times,
                         double *overhead)
{
    for (int stride = 1; stride < r->n; stride++)
        for (int i = 0; i < TRIES && r->n % stride == 0; i++) {
            times[i * r->n + stride] = load_times(r, stride, p);
            overhead[i * r->n + stride] = load_overhead(r, stride, p, m);
        }
}

// Brings the numbers to rank 0: each rank has filled the row of its own messages, and the largest
// overhead counts.
static void collect(const Ranks *r, double *alpha, double *beta, double *overhead, int loads)
{
    double *other = rt_alloc((size_t)loads, sizeof *other);
    int64_t row = r->n * (int64_t)sizeof *alpha;

    for (int from = 1; from < r->n; from++) {
        rt_comm_collect(r->comm, from, alpha + from * r->n, row);
        rt_comm_collect(r->comm, from, beta + from * r->n, row);
        memcpy(other, overhead, (size_t)loads * sizeof *other);
        rt_comm_collect(r->comm, from, other, loads * (int64_t)sizeof *other);
        for (int i = 0; i < loads && !r->rank; i++)
            overhead[i] = fmax(overhead[i], other[i]);
    }
    free(other);
}

void ranks_measure(const Ranks *r, const Meanwhile *m)
{
    int n = r->n, pairs = n * n, loads = TRIES * n;
    double *alpha = rt_alloc(2 * (size_t)(pairs + loads), sizeof *alpha), *beta = alpha + pairs,
           *times = beta + pairs, *overhead = times + loads;
    char *p = rt_alloc(2, LARGE);

    measure_pairs(r, p, alpha, beta);
    measure_load(r, p, m, times, overhead);
    collect(r, alpha, beta, overhead, loads);
    if (!r->rank) {
        printf("\"messages\": {\"ranks\": %d, \"tries\": %d", n, TRIES);
        print_list("alpha", alpha, pairs);
        print_list("beta", beta, pairs);
        print_list("times", times, loads);
        print_list("overhead", overhead, loads);
        printf("},\n");
    }
    free(alpha);
    free(p);
}
