// The state of a local search and its elementary move.
#include <string.h>

#include "solver/assign/search.h"

// splitmix64 (Steele, Lea, Flood 2014)
uint64_t search_random(Search *s, uint64_t below)
{
    uint64_t x = s->random += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

int search_node(Search *s) { return (int)search_random(s, (uint64_t)s->f->p->n_nodes); }

bool search_goes_on(const Search *s)
{
    return s->work < s->work_limit && deadline_check(s->deadline) == STOP_DONE;
}

static void add_live_bytes(Search *s, int alternative, int64_t sign)
{
    const FloatProblem *f = s->f;

    for (int u = f->first_live[alternative]; u < f->first_live[alternative + 1]; u++)
        profile_add(&s->profile, f->live[u].first, f->live[u].last, sign * f->live[u].bytes);
    s->work += 16 * (f->first_live[alternative + 1] - f->first_live[alternative]);
}

void search_swap_bytes(Search *s, int node, int k)
{
    int first = s->f->p->first[node];

    add_live_bytes(s, first + s->choice[node], -1);
    add_live_bytes(s, first + k, 1);
}

// Does alternative k never hold more than alternative `than`, over the same spans?
static bool is_lighter(const FloatProblem *f, int k, int than)
{
    const LiveBytes *x = f->live + f->first_live[k], *y = f->live + f->first_live[than];
    int n = f->first_live[k + 1] - f->first_live[k];

    if (f->first_live[than + 1] - f->first_live[than] != n)
        return n == 0;
    for (int u = 0; u < n; u++)
        if (x[u].first != y[u].first || x[u].last != y[u].last || x[u].bytes > y[u].bytes)
            return false;
    return true;
}

bool search_fits(Search *s, int node, int k)
{
    int first = s->f->p->first[node], now = first + s->choice[node];
    int64_t peak = profile_peak(&s->profile), most = peak > s->limit ? peak : s->limit;

    if (is_lighter(s->f, first + k, now))
        return true;
    add_live_bytes(s, now, -1);
    add_live_bytes(s, first + k, 1);
    bool fits = profile_peak(&s->profile) <= most;
    add_live_bytes(s, first + k, -1);
    add_live_bytes(s, now, 1);
    return fits;
}

void search_set(Search *s, int node, int k)
{
    const FloatProblem *f = s->f;
    int first = f->p->first[node], before = s->choice[node];

    if (k == before)
        return;
    if (s->is_marked)
        *arena_push(s->arena, s->undo, s->n_undo, s->cap_undo) = (struct Change){node, before};
    search_swap_bytes(s, node, k);
    s->cost += s->given[first + k] - s->given[first + before];
    s->choice[node] = k;
    for (int j = f->first_half_edge[node]; j < f->first_half_edge[node + 1]; j++) {
        HalfEdge l = f->half_edge[j], back = {.edge = l.edge, .other = node, .is_a = !l.is_a};
        double *to = s->given + f->p->first[l.other];
        float_problem_add_row(f, l.other, back, before, -1, to);
        float_problem_add_row(f, l.other, back, k, 1, to);
        s->work += 2 * n_alternatives(f->p, l.other);
    }
}

void search_mark(Search *s)
{
    s->is_marked = true;
    s->n_undo = 0;
}

void search_undo(Search *s)
{
    s->is_marked = false;
    while (s->n_undo > 0) {
        struct Change c = s->undo[--s->n_undo];
        search_set(s, c.node, c.before);
    }
}

void search_start(Search *s, const int *choice)
{
    const FloatProblem *f = s->f;
    int n = f->p->n_nodes;

    s->cost = 0;
    memcpy(s->choice, choice, (size_t)n * sizeof *choice);
    memcpy(s->given, f->cost, (size_t)f->p->first[n] * sizeof *s->given);
    memset(s->profile.most, 0, 2 * (size_t)s->profile.n * sizeof *s->profile.most);
    memset(s->profile.added, 0, (size_t)s->profile.n * sizeof *s->profile.added);
    for (int i = 0; i < n; i++) {
        int k = f->p->first[i] + choice[i];
        add_live_bytes(s, k, 1);
        for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++)
            float_problem_add_row(f, i, f->half_edge[j], choice[f->half_edge[j].other], 1,
                                  s->given + f->p->first[i]);
        s->cost += (s->given[k] + f->cost[k]) / 2;
    }
}

void search_price(Search *s, const double *price)
{
    memmove(s->price, price, (size_t)s->f->n_slots * sizeof *price);
    float_problem_byte_costs(s->f, s->price, s->sum, s->byte_cost);
}
