// The patterns pass: puts attention, rotary embeddings and norms, which exporters write in many
// ways, in one form each. It comes before autodiff.
#include "ir/patterns/match.h"

static Pattern *const patterns_in_order[] = {match_attention, match_rotary, match_norm};

// By ValueId: the number of uses. Being overwritten by a carry counts as a use too.
static int *count_uses(const Graph *g, Arena *a)
{
    int *uses = graph_count_uses(g, a);

    for (int i = 0; i < g->n_carries; i++)
        uses[g->carries[i].in]++;
    return uses;
}

static bool *find_learned(const Graph *g, Arena *a)
{
    bool *is_learned = arena_array(a, bool, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        is_learned[v] = value_of(g, v)->kind == VALUE_PARAMETER;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool any = false;

        for (int k = 0; k < n->n_in; k++)
            any |= is_learned[n->in[k]];
        for (int k = 0; k < n->n_out; k++)
            is_learned[n->out[k]] = any;
    }
    return is_learned;
}

static bool apply(const Match *m, const Node *n)
{
    for (int i = 0; i < COUNT(patterns_in_order); i++)
        if (patterns_in_order[i](m, n))
            return true;
    return false;
}

bool patterns(Graph *g, Diag *d)
{
    Arena *a = arena_new();
    Rewrite r = rewrite_begin(g);
    Folder facts = {.g = g, .d = d, .scratch = a};
    Match m = {g, &r, count_uses(g, a), find_learned(g, a), &facts, a};
    bool ok = true;

    for (NodeId i = 1; ok && i < g->n_nodes; i++) {
        rewrite_at(&r, i);
        ok = apply(&m, &g->nodes[i]) || rewrite_copy(&r, i, d);
    }
    arena_free(a);
    return rewrite_end(&r, d) && ok;
}
