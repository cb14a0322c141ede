// Solves a chain.
#include <limits.h>

#include "solver/chain/internal.h"

ChainTable *chain_solve(Arena *a, const ChainProblem *p, int64_t most, int slots)
{
    ChainTable *t = arena_array(a, ChainTable, 1);
    ChainSchedule fastest = {0};

    // More memory than the fastest schedule takes is of no use.
    chain_by_rule(a, p, CHAIN_NONE, &fastest);
    most = most < fastest.peak ? most : fastest.peak;
    *t = (ChainTable){.p = p, .most = most > p->input ? most - p->input : 0};
    fold_subchains(a, t);
    if (!slots && fill_stairs(a, t, INT_MAX))
        return t;
    fill_stairs(a, t, 1);
    if (chain_least(t) <= most)
        fill_slots(a, t, slots);
    return t;
}
