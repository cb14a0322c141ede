// Checks that a plan fits its graph.
#include "analyzer/sharding/sharding.h"

static bool bad_value(const Graph *g, ValueId v, const char *what, Diag *d)
{
    const char *name = value_of(g, v)->name;

    diag_error(d, "value '%s' %s", name ? name : arena_string(g->arena, "v%d", (int)v), what);
    return false;
}

// May a value without a producer be partial? Zeros may be partial sums.
static bool may_be_partial(const Graph *g, const Plan *p, ValueId v)
{
    const Value *x = value_of(g, v);

    return x->kind == VALUE_ZERO && x->fill == 0 && spec_partial(&p->storage_spec[v]) == SPEC_SUM;
}

static bool check_value(const Graph *g, const Plan *p, ValueId v, Diag *d)
{
    const Value *x = value_of(g, v);
    const Spec *s = &p->storage_spec[v], whole = spec_replicated();

    if (!spec_is_valid(&p->mesh, x->rank, s))
        return bad_value(g, v, "has an invalid storage spec", d);
    if ((x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER) && !spec_equal(s, &whole))
        return bad_value(g, v, "must be replicated: it is a constant or a hyper-parameter", d);
    for (int phase = 0; phase < 3 && p->compute_spec; phase++)
        if (!spec_is_valid(&p->mesh, x->rank, &p->compute_spec[3 * v + phase]))
            return bad_value(g, v, "has an invalid compute spec", d);
    if (!x->producer && spec_partial(s) != SPEC_REPLICATED && !may_be_partial(g, p, v))
        return bad_value(g, v, "can't be partial: no node computes it", d);
    return true;
}

static bool check_node(const Graph *g, const Plan *p, NodeId n, Diag *d)
{
    const Node *x = &g->nodes[n];
    Arena *a = arena_new();
    Rule r;

    node_rule(a, g, x, &r);
    bool ok = strategy_is_legal(&r, &p->mesh, &p->strategy[n]);
    arena_free(a);
    return ok || node_error(g, x, d, "its strategy splits a factor that can't be split");
}

// Checks that outputs are complete, and that both ends of a carry have equal specs.
static void check_ends(const Graph *g, const Plan *p, Diag *d)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (spec_partial(&p->storage_spec[g->outputs[i].value]) != SPEC_REPLICATED)
            bad_value(g, g->outputs[i].value, "can't be partial: it is an output", d);
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        if (!spec_equal(&p->storage_spec[c->in], &p->storage_spec[c->out]))
            bad_value(g, c->in, "has another storage spec than its new value", d);
    }
}

static bool are_equal_specs(const Plan *p, ValueId a, ValueId b)
{
    bool same = spec_equal(&p->storage_spec[a], &p->storage_spec[b]);

    for (int phase = 0; phase < 3 && p->compute_spec; phase++)
        same &= spec_equal(&p->compute_spec[3 * a + phase], &p->compute_spec[3 * b + phase]);
    return same;
}

static void check_tied(const Graph *g, const Plan *p, Diag *d)
{
    Arena *a = arena_new();
    TiedValues k = tied_find(a, g);

    for (ValueId v = 1; v < g->n_values; v++)
        if (!storage_allows(k.storage_rule[k.value[v]], &p->storage_spec[v]))
            bad_value(g, v,
                      "can't be partial: it is compared, and readers of a partial sum may add it "
                      "in different orders",
                      d);
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (!spec_equal(&p->strategy[n], &p->strategy[k.node[n]]))
            node_error(g, &g->nodes[n], d,
                       "its strategy differs from that in the first iteration of its block");
    for (ValueId v = 1; v < g->n_values; v++)
        if (!are_equal_specs(p, v, k.value[v]))
            bad_value(g, v, "has other specs than in the first iteration of its block", d);
    arena_free(a);
}

bool plan_check(const Graph *g, const Plan *p, Diag *d)
{
    int errors = d->errors;

    for (ValueId v = 1; v < g->n_values; v++)
        check_value(g, p, v, d);
    for (NodeId n = 1; n < g->n_nodes; n++)
        check_node(g, p, n, d);
    if (d->errors == errors)
        check_ends(g, p, d);
    if (d->errors == errors)
        check_tied(g, p, d);
    return d->errors == errors;
}
