// How long collectives take: α per round of messages, β per byte that a rank sends.
//
// With p ranks, n bytes and lg = ⌈log2 p⌉, after Thakur, Rabenseifner and Gropp, "Optimization of
// Collective Communication Operations in MPICH", 2005. Of two algorithms, the faster counts:
//   all-gather      lg·α + (p−1)/p·n·β         Bruck; n: of all ranks together
//   reduce-scatter  lg·α + (p−1)/p·n·β         the same rounds backwards
//   all-reduce      r·(α + n·β)                recursive doubling in r rounds: log2 p, or
//                                              ⌊log2 p⌋ + 2 where p is no power of two
//                   2·lg·α + 2·(p−1)/p·n·β     reduce-scatter, then all-gather
//   all-to-all      lg·α + n/p·b·β             Bruck; b: the ones in 0 … p−1 as binary numbers
//                   (p−1)·α + (p−1)/p·n·β      each rank with each other
//   permute         α + n·β
// The arithmetic of reductions isn't counted. Along several axes, the slowest link counts.
//
// A rank can't compute for O seconds per byte that it sends, as in LogGOPS: Hoefler, Schneider and
// Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", 2010.
#include <math.h>

#include "analyzer/sharding/sharding.h"

static int log2_down(int p) { return 31 - __builtin_clz((unsigned)p); }

static int log2_up(int p) { return log2_down(p) + ((p & (p - 1)) != 0); }

static int ones(int p)
{
    int n = 0;

    for (int i = 0; i < p; i++)
        n += __builtin_popcount((unsigned)i);
    return n;
}

static double all_reduce(int p, double alpha, double n_beta)
{
    int rounds = log2_down(p) + 2 * ((p & (p - 1)) != 0);

    return fmin(rounds * (alpha + n_beta), 2 * (log2_up(p) * alpha + (p - 1.0) / p * n_beta));
}

static double all_to_all(int p, double alpha, double n_beta)
{
    return fmin(log2_up(p) * alpha + n_beta / p * ones(p),
                (p - 1) * alpha + (p - 1.0) / p * n_beta);
}

// Seconds of a collective among p ranks.
static double seconds_among(int p, ReshardKind kind, double bytes, double alpha, double beta)
{
    double lg = log2_up(p), n_beta = bytes * beta;

    switch (kind) {
    case RESHARD_ALL_GATHER:
        return lg * alpha + (p - 1) * n_beta;
    case RESHARD_REDUCE_SCATTER:
        return lg * alpha + (p - 1.0) / p * n_beta;
    case RESHARD_ALL_REDUCE:
        return all_reduce(p, alpha, n_beta);
    case RESHARD_ALL_TO_ALL:
        return all_to_all(p, alpha, n_beta);
    case RESHARD_PERMUTE:
        return alpha + n_beta;
    default:
        return 0;
    }
}

static int ranks_along(const Mesh *m, unsigned axes)
{
    int p = 1;

    for (int a = 0; a < m->n_axes; a++)
        p *= axes & 1U << a ? m->size[a] : 1;
    return p;
}

static double most_along(const Mesh *m, unsigned axes, const double *of)
{
    double most = 0;

    for (int a = 0; a < m->n_axes; a++)
        most = axes & 1U << a ? fmax(most, of[a]) : most;
    return most;
}

double collective_seconds(const Mesh *m, ReshardKind kind, unsigned axes, double bytes)
{
    return seconds_among(ranks_along(m, axes), kind, bytes, most_along(m, axes, m->alpha),
                         most_along(m, axes, m->beta));
}

double collective_overhead(const Mesh *m, ReshardKind kind, unsigned axes, double bytes)
{
    return seconds_among(ranks_along(m, axes), kind, bytes, 0, most_along(m, axes, m->overhead));
}
