// Measures messages between the ranks that mpirun started: each pair alone, with 1 byte and with
// LARGE bytes; and all ranks together (probe_load.c). Medians count, because other traffic and the
// state of the peer disturb a time in both directions.
#include "runtime/probe/probe.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 5 };

// ---- ranks ----

static void refuse(const Ranks *r, const char *why)
{
    if (r->rank == 0)
        fprintf(stderr, "probe: %s\n", why);
    MPI_Finalize();
    exit(1);
}

// Number of ranks on this rank's machine, even if they have different host names (containers).
static int count_neighbours(const Ranks *r)
{
    char id[MAX_RANKS][64] = {{0}};
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    int n = 0;

    if (!f || !fgets(id[r->rank], sizeof id[0], f))
        gethostname(id[r->rank], sizeof id[0] - 1);
    if (f)
        fclose(f);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, id, sizeof id[0], MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < r->n; i++)
        n += !memcmp(id[i], id[r->rank], sizeof id[0]);
    return n;
}

Ranks ranks_start(void)
{
    Ranks r = {.n = 1, .per_host = 1, .per_machine = 1};
    int level;

    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE") && !getenv("PMIX_RANK"))
        return r;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &r.n);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    if (r.n > MAX_RANKS)
        refuse(&r, "links are measured among 128 ranks at most");
    return r;
}

Ranks ranks_begin(void)
{
    Ranks r = ranks_start();
    MPI_Comm host;
    int in_host, orderly, all, ready;

    MPI_Initialized(&ready);
    if (!ready)
        return r;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r.rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &r.per_host);
    MPI_Comm_rank(host, &in_host);
    MPI_Comm_free(&host);
    int first = r.per_host;
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    orderly = r.per_host == first && in_host == r.rank % first;
    MPI_Allreduce(&orderly, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all)
        refuse(&r, "the ranks of a host must be consecutive, equally many on each: mpirun --map-by "
                   "slot");
    r.per_machine = count_neighbours(&r);
    return r;
}

void ranks_end(const Ranks *r)
{
    int ready;

    ranks_wait(r);
    MPI_Initialized(&ready);
    if (ready)
        MPI_Finalize();
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
            double small = message_seconds(other, r->rank == a, p, 1, SMALL_CALLS);
            double large = message_seconds(other, r->rank == a, p, LARGE, LARGE_CALLS);
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

void ranks_measure(const Ranks *r, const Meanwhile *m)
{
    int n = r->n, pairs = n * n, loads = TRIES * n;
    double *alpha = calloc(2 * (size_t)(pairs + loads), sizeof *alpha), *beta = alpha + pairs,
           *times = beta + pairs, *overhead = times + loads;
    char *p = calloc(2, LARGE);

    if (!alpha || !p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_pairs(r, p, alpha, beta);
    measure_load(r, p, m, times, overhead);
    // Each rank has filled the row of its own messages.
    MPI_Reduce(r->rank ? alpha : MPI_IN_PLACE, alpha, 2 * pairs, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(r->rank ? overhead : MPI_IN_PLACE, overhead, loads, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
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
