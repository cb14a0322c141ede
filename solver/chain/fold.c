// Finds equal subchains. A chain of equal stages, or of equal groups of stages, has few that
// differ: those of n equal stages differ in their length alone.
#include "solver/chain/internal.h"

static bool equal_stages(const ChainStage *x, const ChainStage *y)
{
    if (x->output != y->output || x->forward_scratch != y->forward_scratch ||
        x->backward_scratch != y->backward_scratch || x->forward_time != y->forward_time ||
        x->n_policies != y->n_policies)
        return false;
    for (int k = 0; k < x->n_policies; k++)
        if (x->policy[k].saved != y->policy[k].saved ||
            x->policy[k].forward_time != y->policy[k].forward_time ||
            x->policy[k].backward_time != y->policy[k].backward_time ||
            x->policy[k].more_scratch != y->policy[k].more_scratch)
            return false;
    return true;
}

// For each stage, the first one that is equal to it. The last stage equals no other, because its
// output has no gradient.
static int *find_equal_stages(Arena *a, const ChainProblem *p)
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

// Rows are in an order in which those that are read together lie together: blocks of last stages,
// in which the first stage falls. 200 stages of three policies and 2000 slots take 0.9 s instead of
// 1.3 s with blocks of one.
enum { BLOCK = 4 };

void fold_subchains(Arena *a, ChainTable *t)
{
    int n = t->p->n_stages;
    Arena *own = arena_new();
    int *equal = find_equal_stages(own, t->p), *common = arena_array(own, int, n + 1);
    int *original = arena_array(own, int, n *n);

    for (int first = n - 1; first >= 0; first--)
        find_originals(equal, n, first, common, original + first * n);
    t->row = arena_array(a, int, n *n);
    t->subchain = arena_array(a, Subchain, n * (n + 1) / 2 + 1);
    t->n_rows = 1;
    for (int block = 0; block < n; block += BLOCK)
        for (int first = n - 1; first >= 0; first--)
            for (int last = first > block ? first : block; last < n && last < block + BLOCK;
                 last++) {
                int earlier = original[first * n + last];
                int *row = &t->row[earlier * n + last - (first - earlier)];
                if (!*row) {
                    *row = t->n_rows++;
                    t->subchain[*row] = (Subchain){first, last};
                }
                t->row[first * n + last] = *row;
            }
    arena_free(own);
}
