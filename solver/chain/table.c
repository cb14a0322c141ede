// Reads the table of a solved chain: the least memory and times.
#include <math.h>

#include "solver/chain/internal.h"

int64_t chain_least(const ChainTable *t)
{
    return t->p->input + t->stair[subchain_row(t, 0, t->p->n_stages - 1)].point[0].memory;
}

int chain_slots(const ChainTable *t) { return t->n_slots; }

static double stair_time(const Stair *s, int64_t memory)
{
    int low = 0,
        high = s->n;  // the points before `low` are at most `memory`, those from `high` on more

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->point[middle].memory <= memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? s->point[low - 1].time : INFINITY;
}

// The stair of a table with slots has the schedule of the least memory, for which a slot may be too
// coarse.
double row_time(const ChainTable *t, int row, int64_t memory)
{
    double stair = stair_time(&t->stair[row], memory);
    double slot = t->slot_row ? slot_time(t, row, memory) : INFINITY;

    return slot < stair ? slot : stair;
}

double chain_time(const ChainTable *t, int64_t memory)
{
    return row_time(t, subchain_row(t, 0, t->p->n_stages - 1), memory - t->p->input);
}
