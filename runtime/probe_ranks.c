// How long messages take between the ranks that mpirun started: of every pair alone, of 1 byte and
// of LARGE, and of all ranks at once, each with the one a stride away. Medians count: a link's time
// is disturbed both ways, by what else is on it and by where it finds the other side.
#include "runtime/probe.h"

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL_CALLS = 201, LARGE_CALLS = 5, LARGE = 1 << 22, WAIT_MICROSECONDS = 200 };

// ---- ranks ----

static void refuse(const Ranks *r, const char *why)
{
    if (r->rank == 0)
        fprintf(stderr, "probe: %s\n", why);
    MPI_Finalize();
    exit(1);
}

Ranks ranks_begin(void)
{
    Ranks r = {.n = 1, .per_host = 1};
    MPI_Comm host;
    int place, orderly, all;

    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE"))
        return r;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &r.n);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    if (r.n > MOST_RANKS)
        refuse(&r, "links are measured among 128 ranks at most");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r.rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &r.per_host);
    MPI_Comm_rank(host, &place);
    MPI_Comm_free(&host);
    int first = r.per_host;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    orderly = r.per_host == first && place == r.rank % first;
    MPI_Allreduce(&orderly, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
        refuse(&r, "the ranks of a host must stand in a row, equally many on each: mpirun --map-by "
                   "slot");
    return r;
}

void ranks_wait(const Ranks *r)
{
    MPI_Request request;
    int done = 0;

    if (r->n == 1)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        usleep(WAIT_MICROSECONDS);
}

void ranks_end(const Ranks *r)
{
    ranks_wait(r);
    if (r->n > 1)
        MPI_Finalize();
}

// ---- messages ----

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[n / 2];
}

// Seconds of a message one way; the first call warms up.
static double one_way(int other, bool begins, char *p, int bytes, int calls)
{
    double seconds[SMALL_CALLS];

    for (int i = -1; i < calls; i++) {
        double start = MPI_Wtime();
        if (begins)
            MPI_Send(p, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(p, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!begins)
            MPI_Send(p, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        if (i >= 0)
            seconds[i] = (MPI_Wtime() - start) / 2;
    }
    return median(seconds, calls);
}

// Every rank with the one that a stride is between: the slowest one's seconds.
static double all_at_once(const Ranks *r, int stride, char *p)
{
    int other = r->rank / stride % 2 ? r->rank - stride : r->rank + stride;
    double seconds[LARGE_CALLS] = {0}, own = 0, most;

    ranks_wait(r);
    for (int i = -1; i < LARGE_CALLS && other < r->n; i++) {
        double start = MPI_Wtime();
        MPI_Sendrecv(p, LARGE, MPI_BYTE, other, 0, p + LARGE, LARGE, MPI_BYTE, other, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i >= 0)
            seconds[i] = MPI_Wtime() - start;
    }
    own = median(seconds, LARGE_CALLS);
    ranks_wait(r);
    MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void measure_pairs(const Ranks *r, char *p, double *alpha, double *beta)
{
    for (int a = 0; a < r->n; a++)
        for (int b = a + 1; b < r->n; b++) {
            ranks_wait(r);
            if (r->rank != a && r->rank != b)
                continue;
            int other = a + b - r->rank;
            double small = one_way(other, r->rank == a, p, 1, SMALL_CALLS);
            double large = one_way(other, r->rank == a, p, LARGE, LARGE_CALLS);
            alpha[r->rank * r->n + other] = small;
            beta[r->rank * r->n + other] = fmax(large - small, 1e-12) / LARGE;
        }
    ranks_wait(r);
}

static void print_list(const char *name, const double *x, int n)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < n; i++)
        printf("%s%.4g", i ? ", " : "", x[i]);
    printf("]");
}

void ranks_measure(const Ranks *r)
{
    int n = r->n, pairs = n * n;
    double *alpha = calloc((size_t)pairs * 2 + (size_t)n, sizeof *alpha), *beta = alpha + pairs,
           *busy = beta + pairs;
    char *p = calloc(2, LARGE);

    if (!alpha || !p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_pairs(r, p, alpha, beta);
    for (int stride = 1; stride < n; stride++)
        if (n % stride == 0)
            busy[stride] = all_at_once(r, stride, p) / LARGE;
    // Each rank has the row of its own messages.
    MPI_Reduce(r->rank ? alpha : MPI_IN_PLACE, alpha, 2 * pairs, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (!r->rank) {
        printf("\"messages\": {\"ranks\": %d,\n", n);
        print_list("alpha", alpha, pairs);
        printf(",\n");
        print_list("beta", beta, pairs);
        printf(",\n");
        print_list("busy", busy, n);
        printf("},\n");
    }
    free(alpha);
    free(p);
}
