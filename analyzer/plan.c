// Whether a plan fits its graph.
#include "analyzer/analyzer.h"

static bool bad_value(const Graph *g, ValueId v, const char *what, Diag *d)
{
    const char *name = value_of(g, v)->name;

    diag_error(d, "value '%s' %s", name ? name : arena_string(g->arena, "v%d", (int)v), what);
    return false;
}

// May a value without producer be parts of a sum? Zeros may.
static bool may_be_parts(const Graph *g, const Plan *p, ValueId v)
{
    const Value *x = value_of(g, v);

    return x->kind == VALUE_ZERO && x->fill == 0 && spec_partial(&p->spec[v]) == SPEC_SUM;
}

static bool check_value(const Graph *g, const Plan *p, ValueId v, Diag *d)
{
    const Value *x = value_of(g, v);
    const Spec *s = &p->spec[v], whole = spec_whole();

    if (!spec_is_valid(&p->mesh, x->rank, s))
        return bad_value(g, v, "has a spec that it can't have", d);
    if ((x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER) && !spec_equal(s, &whole))
        return bad_value(g, v, "is a constant or a hyper-parameter, which every rank has", d);
    if (!x->producer && spec_partial(s) != SPEC_WHOLE && !may_be_parts(g, p, v))
        return bad_value(g, v, "would be parts of what no node makes", d);
    return true;
}

static bool check_node(const Graph *g, const Plan *p, NodeId n, Diag *d)
{
    const Node *x = &g->nodes[n];
    Arena *a = arena_new();
    Rule r;

    node_rule(g, x, a, &r);
    bool ok = strategy_is_legal(&r, &p->mesh, &p->strategy[n]);
    arena_free(a);
    return ok || node_error(g, x, d, "its strategy splits what can't be split");
}

static bool check_ends(const Graph *g, const Plan *p, Diag *d)
{
    int errors = d->errors;

    for (int i = 0; i < g->n_outputs; i++)
        if (spec_partial(&p->spec[g->outputs[i].value]) != SPEC_WHOLE)
            bad_value(g, g->outputs[i].value, "is an output, which can't be parts", d);
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        if (!spec_equal(&p->spec[c->in], &p->spec[c->out]))
            bad_value(g, c->in, "lives on as another spec", d);
    }
    return d->errors == errors;
}

// ---- repeated blocks ----

// By class and position, the node (the value without producer) of iteration 0.
typedef struct Firsts {
    NodeId **node;
    ValueId **value;
} Firsts;

static void reach(int *n, Block b) { n[b.cls] = b.pos >= n[b.cls] ? b.pos + 1 : n[b.cls]; }

static Firsts find_firsts(const Graph *g, Arena *a)
{
    Firsts f = {arena_array(a, NodeId *, g->n_classes), arena_array(a, ValueId *, g->n_classes)};
    int *nodes = arena_array(a, int, g->n_classes), *values = arena_array(a, int, g->n_classes);

    for (NodeId n = 1; n < g->n_nodes; n++)
        reach(nodes, g->nodes[n].block);
    for (ValueId v = 1; v < g->n_values; v++)
        reach(values, value_of(g, v)->block);
    for (int c = 1; c < g->n_classes; c++) {
        f.node[c] = arena_array(a, NodeId, nodes[c]);
        f.value[c] = arena_array(a, ValueId, values[c]);
    }
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (g->nodes[n].block.cls && !g->nodes[n].block.iter)
            f.node[g->nodes[n].block.cls][g->nodes[n].block.pos] = n;
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->block.cls && !value_of(g, v)->block.iter)
            f.value[value_of(g, v)->block.cls][value_of(g, v)->block.pos] = v;
    return f;
}

static bool check_blocks(const Graph *g, const Plan *p, Diag *d)
{
    Arena *a = arena_new();
    Firsts f = find_firsts(g, a);
    int errors = d->errors;

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        NodeId first = x->block.cls ? f.node[x->block.cls][x->block.pos] : n;
        if (!spec_equal(&p->strategy[n], &p->strategy[first]))
            node_error(g, x, d, "another strategy than in the first iteration of its block");
        for (int i = 0; i < x->n_out; i++)
            if (!spec_equal(&p->spec[x->out[i]], &p->spec[g->nodes[first].out[i]]))
                node_error(g, x, d, "another spec than in the first iteration of its block");
    }
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        ValueId first = x->block.cls ? f.value[x->block.cls][x->block.pos] : v;
        if (!spec_equal(&p->spec[v], &p->spec[first]))
            bad_value(g, v, "lies otherwise than in the first iteration of its block", d);
    }
    arena_free(a);
    return d->errors == errors;
}

bool plan_check(const Graph *g, const Plan *p, Diag *d)
{
    int errors = d->errors;

    for (ValueId v = 1; v < g->n_values; v++)
        check_value(g, p, v, d);
    for (NodeId n = 1; n < g->n_nodes; n++)
        check_node(g, p, n, d);
    return d->errors == errors && check_ends(g, p, d) & check_blocks(g, p, d);
}
