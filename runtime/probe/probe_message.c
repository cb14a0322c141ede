// Waits for all ranks, and measures messages between two of them.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/probe/probe.h"

enum { WAIT_MICROSECONDS = 200 };

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

// The first call warms up and isn't counted.
double message_seconds(int other, bool begins, char *p, int bytes, int calls)
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
