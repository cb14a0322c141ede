// Finds equal subchains. A chain of equal stages, or of equal groups of stages, has few that
// differ: those of n equal stages differ in their length alone.
#include "solver/chain/internal.h"

static bool equal_stages(const ChainStage *x, const ChainStage *y)
{
    if (x->output != y->output || x->forward_scratch != y->forward_scratch ||
        x->backward_scratch != y->backward_scratch || x->forward_time != y->forward_time ||
        x->n_ways != y->n_ways)
        return false;
    for (int k = 0; k < x->n_ways; k++)
        if (x->way[k].saved != y->way[k].saved ||
            x->way[k].forward_time != y->way[k].forward_time ||
            x->way[k].backward_time != y->way[k].backward_time)
            return false;
    return true;
}

// For each stage, the first one that is equal to it. The last stage equals no other, because its
// output has no gradient.
static int *find_equal_stages(const ChainProblem *p, Arena *a)
{
    int *equal = arena_array(a, int, p->n_stages);

    for (int i = 0; i < p->n_stages; i++) {
        while (equal[i] < i &&
               (i == p->n_stages - 1 || !equal_stages(&p->stage[equal[i]], &p->stage[i])))
            equal[i]++;
    }
    return equal;
}

// For the subchains that begin with stage `first`: sets original[last] to the first stage of the
// earliest subchain that is equal. `common[j]` is how many stages from j on equal those from
// `first` on; it was that of the next stage.
static void find_originals(const int *equal, int n, int first, int *common, int *original)
{
    int length = 0;

    for (int j = 0; j < first; j++) {
        common[j] = equal[j] == equal[first] ? 1 + common[j + 1] : 0;
        for (; length < common[j]; length++)
            original[first + length] = j;
    }
    for (; first + length < n; length++)
        original[first + length] = first;
}

void fold_subchains(ChainTable *t, Arena *a)
{
    int n = t->p->n_stages;
    int *equal = find_equal_stages(t->p, a), *common = arena_array(a, int, n + 1);

    t->row = arena_array(a, int, (int64_t)n *n);
    for (int first = n - 1; first >= 0; first--)
        find_originals(equal, n, first, common, t->row + (int64_t)first * n);
    t->subchain = arena_array(a, Subchain, (int64_t)n * (n + 1) / 2 + 1);
    t->n_rows = 1;
    for (int last = 0; last < n; last++)
        for (int first = last; first >= 0; first--) {
            int *row = &t->row[first * n + last], original = *row;
            if (original < first) {
                *row = t->row[original * n + last - (first - original)];
                continue;
            }
            t->subchain[t->n_rows] = (Subchain){first, last};
            *row = t->n_rows++;
        }
}
