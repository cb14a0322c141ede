// Runs patterns over a graph: each node becomes what the first pattern that matches it makes.
#include "ir/patterns/match.h"

// By ValueId: the number of uses. Being overwritten by a carry counts as a use too.
static int *count_uses(Arena *a, const Graph *g)
{
    int *uses = graph_count_uses(a, g);

    for (int i = 0; i < g->n_carries; i++)
        uses[g->carries[i].in]++;
    return uses;
}

static bool apply(const Match *m, const Node *node, Pattern *const *patterns, int n)
{
    for (int i = 0; i < n; i++)
        if (patterns[i](m, node))
            return true;
    return false;
}

bool patterns_apply(Graph *g, Pattern *const *patterns, int n, Diag *d)
{
    Arena *a = arena_new();
    Rewrite r = rewrite_begin(g);
    Folder facts = {.g = g, .d = d, .scratch = a};
    Match m = {g, &r, count_uses(a, g), graph_learned(a, g), &facts, a};
    bool ok = true;

    for (NodeId i = 1; ok && i < g->n_nodes; i++) {
        rewrite_at(&r, i);
        ok = apply(&m, &g->nodes[i], patterns, n) || rewrite_copy(&r, i, d);
    }
    arena_free(a);
    return rewrite_end(&r, d) && ok;
}
