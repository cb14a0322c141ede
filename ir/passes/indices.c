// Finds gathers and scatters whose indices may be out of range, as routers compute theirs. An
// output of the graph tells the trainer of the one that is farthest out: rows that aren't there are
// zeros, and nothing is put there, so that nothing else would show it.
#include <ctype.h>
#include <string.h>

#include "ir/operator/operator.h"
#include "ir/passes/span.h"

// Nodes that are told together: those of equal layers, whose names differ by numbers.
typedef struct Group {
    const char *name, *pattern;  // of the first one; with * for each number
    int64_t bound;
    int n;          // nodes
    ValueId worst;  // of the nodes so far, as OUTPUT_BAD_INDEX; 0: none yet
} Group;

typedef struct Checks {
    Group *group;
    int n, cap;
} Checks;

// `span` is NULL until the first node asks for it: many graphs have no such nodes.
static bool may_be_outside(const Graph *g, const Node *n, const Span **span, Arena *a)
{
    if (n->op != &op_gather && n->op != &op_scatter)
        return false;
    *span = *span ? *span : value_spans(g, a);
    Span s = (*span)[n->in[1]];
    return value_count(in(g, n, 1)) && (s.least < 0 || s.most >= (double)index_bound(g, n));
}

static const char *pattern_of(Arena *a, const char *name)
{
    char *s = arena_string(a, "%s", name), *to = s;

    for (const char *from = name; *from; from++)
        if (!isdigit((unsigned char)*from))
            *to++ = *from;
        else if (to == s || to[-1] != '*')
            *to++ = '*';
    *to = 0;
    return s;
}

static Group *group_of(Graph *g, Checks *c, const Node *n)
{
    const char *name = n->source ? n->source->name : n->op->name;
    int64_t bound = index_bound(g, n);

    if (n->source && *n->source->scope)
        name = arena_string(g->arena, "%s/%s", n->source->scope, name);
    const char *pattern = pattern_of(g->arena, name);
    for (int i = 0; i < c->n; i++)
        if (c->group[i].bound == bound && !strcmp(c->group[i].pattern, pattern))
            return &c->group[i];
    Group *new = arena_push(g->arena, c->group, c->n, c->cap);
    *new = (Group){.name = name, .pattern = pattern, .bound = bound};
    return new;
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
static void add_check(Rewrite *r, const Node *n, Group *to)
{
    Graph *g = r->to;
    int64_t least = 0;
    ValueId index = n->in[1], x;

    rewrite_at(r, (NodeId)(n - r->from->nodes));
    if (index_counts_from_end(r->from, index, to->bound, &x)) {
        index = x;
        least = -to->bound;
    }
    ValueId before = to->worst ? to->worst : graph_scalar(g, I64, 0);
    to->worst = make_max(g, before, worst_of(g, r->map[index], least, to->bound));
}

bool indices_check(Graph *g, Diag *d)
{
    Arena *a = arena_new();
    const Span *span = NULL;
    int *group = arena_array(a, int, g->n_nodes);  // 1 + its number; 0: none
    Checks c = {0};
    bool ok = true;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (!may_be_outside(g, &g->nodes[i], &span, a))
            continue;
        Group *x = group_of(g, &c, &g->nodes[i]);
        x->n++;
        group[i] = 1 + (int)(x - c.group);
    }
    if (c.n) {
        Rewrite r = rewrite_begin(g);
        for (NodeId i = 1; i < g->n_nodes && ok; i++) {
            ok = rewrite_copy(&r, i, d) != 0;
            if (group[i] && ok)
                add_check(&r, &g->nodes[i], &c.group[group[i] - 1]);
        }
        for (int i = 0; i < c.n; i++) {
            const Group *x = &c.group[i];
            graph_output(r.to, x->n > 1 ? x->pattern : x->name, x->worst, OUTPUT_BAD_INDEX);
            r.to->outputs[r.to->n_outputs - 1].bound = x->bound;
        }
        ok = rewrite_end(&r, d) && ok;
    }
    arena_free(a);
    return ok;
}
