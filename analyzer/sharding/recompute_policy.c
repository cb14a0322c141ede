// Policies of recomputation: which nodes they may name, and when two are equal.
#include <string.h>

#include "analyzer/sharding/sharding.h"

const char *rerun_problem(const Graph *g, NodeId n)
{
    const Node *x = &g->nodes[n];

    if (x->phase != FORWARD)
        return "isn't of the forward part";
    if (x->op->is_sum)
        return "is a sum, whose bits depend on what is computed with it";
    if (x->op->exchange)
        return "exchanges values with other ranks";
    return x->op->expr || x->op->view || !x->op->kernel ? "is no kernel" : NULL;
}

static bool run_equal(const KeepRun *a, const KeepRun *b)
{
    return a->cls == b->cls && a->first == b->first && a->n_layers == b->n_layers &&
           a->n_again == b->n_again &&
           !memcmp(a->again, b->again, (size_t)a->n_again * sizeof *a->again);
}

bool recompute_policy_equal(const RecomputePolicy *a, const RecomputePolicy *b)
{
    bool is_equal = a->rule == b->rule && a->n_runs == b->n_runs;

    for (int i = 0; i < a->n_runs && is_equal; i++)
        is_equal = run_equal(&a->run[i], &b->run[i]);
    return is_equal;
}
