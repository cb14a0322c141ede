// Moves of one node.
#include "solver/assign/search.h"

// The largest gain that may be a rounding error.
static double rounding_error(double cost) { return 1e-12 * (cost < 0 ? -cost : cost); }

bool search_improve_node(Search *s, int i)
{
    int first = s->f->p->first[i], n = n_alternatives(s->f->p, i), best = s->choice[i];
    double enough = rounding_error(s->cost);

    for (int k = 0; k < n; k++)
        if (s->given[first + k] < s->given[first + best] - enough && search_fits(s, i, k))
            best = k;
    s->work += n;
    bool is_better = best != s->choice[i];
    search_set(s, i, best);
    return is_better;
}

bool search_descend(Search *s)
{
    int n = s->f->p->n_nodes, since = 0;
    bool is_better = false;

    for (int i = 0; since < n && search_goes_on(s); i = i + 1 < n ? i + 1 : 0, since++)
        if (search_improve_node(s, i))
            is_better = true, since = 0;
    return is_better;
}

static int64_t bytes_at(const FloatProblem *f, int alternative, int slot)
{
    for (int u = f->first_live[alternative]; u < f->first_live[alternative + 1]; u++)
        if (f->live[u].first <= slot && slot < f->live[u].last)
            return f->live[u].bytes;
    return 0;
}

typedef struct Relief {
    int node, k;
    double rate;  // cost per byte freed
} Relief;

// Updates *best with the cheapest move of node i that frees bytes at the slot.
static void relieve(Search *s, int i, int slot, int64_t excess, Relief *best)
{
    const FloatProblem *f = s->f;
    int first = f->p->first[i], now = first + s->choice[i];
    int64_t live_bytes = bytes_at(f, now, slot);

    if (!live_bytes)
        return;
    for (int k = 0; k < n_alternatives(f->p, i); k++) {
        int64_t less = live_bytes - bytes_at(f, first + k, slot);
        if (less <= 0 || s->given[first + k] >= s->given[now] + f->forbidden / 2)
            continue;
        double rate =
            (s->given[first + k] - s->given[now]) / (double)(less < excess ? less : excess);
        if ((best->node < 0 || rate < best->rate) && search_fits(s, i, k))
            *best = (Relief){i, k, rate};
    }
    s->work += 2 * n_alternatives(f->p, i);
}

bool search_repair(Search *s)
{
    int n = s->f->p->n_nodes;

    // A step may free bytes at one time and add them at another that is as full, so the number of
    // steps is limited.
    for (int steps = 0; steps < 4 * n && search_goes_on(s); steps++) {
        int64_t excess = profile_peak(&s->profile) - s->limit;
        int slot = profile_fullest(&s->profile);
        Relief best = {.node = -1};
        if (excess <= 0)
            return true;
        for (int i = 0; i < n; i++)
            relieve(s, i, slot, excess, &best);
        if (best.node < 0)
            return false;
        search_set(s, best.node, best.k);
    }
    return profile_peak(&s->profile) <= s->limit;
}
