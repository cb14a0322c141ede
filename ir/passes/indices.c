// Finds gathers and scatters whose indices may be out of range, as routers compute theirs. An
// output of the graph tells the trainer of the one that is farthest out: rows that aren't there are
// zeros, and nothing is put there, so that nothing else would show it.
#include "ir/operator/operator.h"
#include "ir/passes/span.h"

// `span` is NULL until the first node asks for it: many graphs have no such nodes.
static bool may_be_outside(Arena *a, const Graph *g, const Node *n, const Span **span)
{
    if (n->op != &op_gather && n->op != &op_scatter)
        return false;
    *span = *span ? *span : value_spans(a, g);
    Span s = (*span)[n->in[1]];
    return value_count(in(g, n, 1)) && (s.least < 0 || s.most >= (double)index_bound(g, n));
}

static const char *name_of(Arena *a, const Node *n)
{
    const char *name = n->source ? n->source->name : n->op->name;

    return n->source && *n->source->scope ? arena_string(a, "%s/%s", n->source->scope, name) : name;
}

// 2 x + 1 of the largest index x that is `bound` or more, or -2 x of the least that is below
// `least`; 0: there is none.
static ValueId worst_of(Graph *g, ValueId index, int64_t least, int64_t bound)
{
    const double limit = 0x1p60;
    int64_t axes[MAX_RANK];
    ValueId x = make_cast(g, index, I64);

    x = make_max(g, make_min(g, x, scalar_like(g, x, limit)), scalar_like(g, x, -limit));
    ValueId low = make_lt(g, x, scalar_like(g, x, (double)least));
    ValueId high = make_le(g, scalar_like(g, x, (double)bound), x);
    ValueId twice = make_add(g, x, x), one = scalar_like(g, x, 1);
    ValueId worst = make_select(g, high, make_add(g, twice, one), scalar_like(g, x, 0));
    worst = make_select(g, low, make_neg(g, twice), worst);
    int rank = value_of(g, worst)->rank;
    for (int i = 0; i < rank; i++)
        axes[i] = i;
    return rank ? make_reduce_max(g, worst, rank, axes) : worst;
}

// Adds the check of node n of the old graph, which has been copied.
static void add_check(Rewrite *r, const Node *n, Checks *to)
{
    Graph *g = r->to;
    int64_t least = 0, bound = index_bound(r->from, n);
    ValueId index = n->in[1], x;

    rewrite_at(r, (NodeId)(n - r->from->nodes));
    if (index_counts_from_end(r->from, index, bound, &x)) {
        index = x;
        least = -bound;
    }
    ValueId *worst = checks_worst(to, g, name_of(g->arena, n), OUTPUT_BAD_INDEX, bound);
    *worst = make_max(g, *worst, worst_of(g, r->map[index], least, bound));
}

bool indices_check(Graph *g, Diag *d)
{
    Arena *a = arena_new();
    const Span *span = NULL;
    bool *is_checked = arena_array(a, bool, g->n_nodes), any = false, ok = true;
    Checks c = {0};

    for (NodeId i = 1; i < g->n_nodes; i++)
        any |= is_checked[i] = may_be_outside(a, g, &g->nodes[i], &span);
    if (any) {
        Rewrite r = rewrite_begin(g);
        for (NodeId i = 1; i < g->n_nodes && ok; i++) {
            ok = rewrite_copy(&r, i, d) != 0;
            if (is_checked[i] && ok)
                add_check(&r, &g->nodes[i], &c);
        }
        checks_give(&c, r.to);
        ok = rewrite_end(&r, d) && ok;
    }
    arena_free(a);
    return ok;
}
