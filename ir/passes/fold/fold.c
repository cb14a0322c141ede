// The fold pass: evaluates constants, merges equal nodes and applies identities. One run goes over
// the nodes in order and maps each value to the simplest value that is known to equal it. Runs
// repeat until nothing changes.
#include "ir/passes/fold/fold.h"

#include <string.h>

#include "ir/classes.h"

enum { MAX_RUNS = 16 };  // ends the pass if two rules, by mistake, undo each other

// ---- equal nodes ----

static uint64_t hash_node(const Node *n)
{
    uint64_t h = hash_bytes(n->op->name, strlen(n->op->name), (uint64_t)n->phase);

    h = hash_bytes(n->in, (size_t)n->n_in * sizeof *n->in, h);
    for (int i = 0; i < MAX_ATTRS && n->op->attrs[i].name; i++)
        h = hash_attr(&n->op->attrs[i], &n->attr[i], h);
    return h;
}

// Are two nodes equal, and can they be merged? Nodes that draw random numbers can't: the blocks
// pass gives them different sites later.
static bool same_node(const Node *a, const Node *b)
{
    if (a->op != b->op || a->n_in != b->n_in || a->phase != b->phase || node_site(a))
        return false;
    if (a->n_in && memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in))
        return false;
    for (int i = 0; i < MAX_ATTRS && a->op->attrs[i].name; i++)
        if (!attr_equal(&a->op->attrs[i], &a->attr[i], &b->attr[i]))
            return false;
    return true;
}

static uint64_t hash_constant(const Value *v)
{
    uint64_t h = hash_bytes(v->dim, (size_t)v->rank * sizeof *v->dim, (uint64_t)v->dtype);

    return hash_bytes(v->data, (size_t)value_bytes(v), h);
}

static bool same_constant(const Value *a, const Value *b)
{
    return same_type(a, b) && !memcmp(a->data, b->data, (size_t)value_bytes(a));
}

static uint64_t hash_entry(const Graph *g, int32_t e)
{
    return e > 0 ? hash_node(&g->nodes[e]) : hash_constant(value_of(g, -e));
}

static bool same_entry(const Graph *g, int32_t a, int32_t b)
{
    if ((a > 0) != (b > 0))
        return false;
    return a > 0 ? same_node(&g->nodes[a], &g->nodes[b])
                 : same_constant(value_of(g, -a), value_of(g, -b));
}

static void table_put(Folder *f, int32_t e)
{
    uint64_t i = hash_entry(f->g, e);

    while (f->table[i & (uint64_t)(f->cap_table - 1)])
        i++;
    f->table[i & (uint64_t)(f->cap_table - 1)] = e;
}

static void table_grow(Folder *f)
{
    int32_t *old = f->table;
    int n = f->cap_table;

    f->cap_table = n ? 2 * n : 1024;
    f->table = arena_array(f->scratch, int32_t, f->cap_table);
    for (int i = 0; i < n; i++)
        if (old[i])
            table_put(f, old[i]);
}

// The first entry that equals `e`; adds `e` and returns it if there is none.
static int32_t table_share(Folder *f, int32_t e)
{
    if (2 * (f->n_table + 1) > f->cap_table)
        table_grow(f);
    uint64_t i = hash_entry(f->g, e);
    for (int32_t at; (at = f->table[i & (uint64_t)(f->cap_table - 1)]); i++)
        if (at == e || same_entry(f->g, at, e))
            return at;
    f->table[i & (uint64_t)(f->cap_table - 1)] = e;
    f->n_table++;
    return e;
}

ValueId fold_share(Folder *f, ValueId v)
{
    const Value *x = value_of(f->g, v);

    if (!v)
        return 0;
    if (x->kind == VALUE_CONSTANT)
        return -table_share(f, -v);
    if (!x->producer)
        return v;
    const Node *n = producer(f->g, v), *first = &f->g->nodes[table_share(f, x->producer)];
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] == v)
            return first->out[i];
    return v;
}

// The readers of such a value must keep their positions in the order.
bool is_carried(const Folder *f, ValueId v) { return v && v < f->n_carried && f->carried[v]; }

// Does the node that makes an operand read a carried value? A rule that looks through that node
// would make n read the value instead, maybe after it is overwritten.
static bool is_fixed(const Folder *f, const Node *n)
{
    for (int i = 0; i < n->n_in && f->n_carried; i++) {
        const Node *x = producer(f->g, n->in[i]);
        for (int k = 0; k < x->n_in; k++)
            if (is_carried(f, x->in[k]))
                return true;
    }
    return false;
}

ValueId fold_value(Folder *f, ValueId v)
{
    v = fold_share(f, v);
    if (!v || !value_of(f->g, v)->producer || !budget_add(f->g->budget, BUDGET_folding, 1))
        return v;
    ValueId simpler = fold_empty(f, v);
    if (!simpler && is_constant(f, v)) {
        ValueId constant = fold_constant(f, v);
        if (constant != v)
            return constant;
    }
    Node n = *producer(f->g, v);
    if (!simpler && n.n_out == 1 && !is_fixed(f, &n))
        simpler = fold_identity(f, &n);
    return simpler && !is_carried(f, simpler) ? simpler : v;
}

// ---- one run ----

static void keep_name(const Graph *from, ValueId old, Graph *to, ValueId v)
{
    const Value *x = value_of(from, old);
    Value *y = value_edit(to, v);

    if (!y->producer)
        return;
    if (!y->name)
        y->name = x->name;
    if (y->own_rank < 0 && x->own_rank >= 0) {
        y->own_rank = x->own_rank;
        memcpy(y->own_dim, x->own_dim, sizeof y->own_dim);
    }
}

// Is n, of one input, the only reader of the node that makes it?
static bool is_only_reader(const Graph *g, const Node *n, const int *uses)
{
    const Node *x = producer(g, n->in[0]);
    int readers = 0;

    for (int i = 0; i < x->n_out; i++)
        readers += uses[x->out[i]];
    return readers == 1;
}

// Moves a stop of gradients before a view that nothing else reads, so that the rules and patterns
// that look through views see the view. Returns 0 if n isn't such a stop.
static ValueId stop_earlier(Folder *f, const Node *n)
{
    Node x = *producer(f->g, n->in[0]);

    if (!x.op || !x.op->view)
        return 0;
    ValueId stopped = fold_value(f, make_stop_gradient(f->g, x.in[0]));
    return fold_value(f, graph_node(f->g, x.op, x.n_in, &stopped, x.attr));
}

// A node that is the only reader of its input, as a part of the node before; 0: it can't be one.
static ValueId fold_into_input(Folder *f, const Node *n)
{
    if (n->op == &op_transpose)
        return fold_into_equation(f, n);
    return n->op == &op_stop_gradient ? stop_earlier(f, n) : 0;
}

// Where no gradient flows anyway, a stop is its input.
static bool is_idle_stop(const Folder *f, const Node *n)
{
    return n->op == &op_stop_gradient && !(f->g->training && f->learned[n->in[0]]);
}

static bool fold_node(Folder *f, Rewrite *r, NodeId i, const int *uses)
{
    Node old = r->from->nodes[i];
    Graph *g = r->to;
    ValueId *inputs = arena_array(f->scratch, ValueId, old.n_in);

    if (is_idle_stop(f, &old)) {
        r->map[old.out[0]] = r->map[old.in[0]];
        keep_name(r->from, old.out[0], g, r->map[old.in[0]]);
        return true;
    }
    for (int k = 0; k < old.n_in; k++)
        inputs[k] = r->map[old.in[k]];
    rewrite_at(r, i);
    ValueId first = graph_node(g, old.op, old.n_in, inputs, old.attr);
    if (!first)
        return false;
    Node made = *producer(g, first);
    bool fixed = is_fixed(f, &made);
    ValueId whole = 0;
    if (!fixed && old.n_in == 1 && is_only_reader(r->from, &old, uses))
        whole = fold_into_input(f, &made);
    if (!fixed && !whole && old.op == &op_attention)
        whole = fold_attention(f, &made);
    if (whole)
        made = *producer(g, whole);
    for (int k = 0; k < old.n_out; k++) {
        ValueId v = whole && old.n_out == 1 ? whole : fold_value(f, made.out[k]);
        r->map[old.out[k]] = v;
        keep_name(r->from, old.out[k], g, v);
    }
    return true;
}

// Gives an output a reshape of its own if its new value has another own shape than the old one.
static void keep_own_shapes(Rewrite *r)
{
    for (int i = 0; i < r->from->n_outputs; i++) {
        ValueId old = r->from->outputs[i].value, v = r->map[old];
        const Value *x = value_of(r->from, old);

        if (!x->producer || same_own(x, value_of(r->to, v)))
            continue;
        rewrite_at(r, x->producer);
        rewrite_put(r, old, make_reshape(r->to, v, x->rank, x->dim));
    }
}

static bool fold_run(Graph *g, bool is_simplify, Diag *d)
{
    Rewrite r = rewrite_begin(g);
    Folder f = {.g = r.to, .d = d, .scratch = arena_new(), .is_simplify = is_simplify};
    int *uses = graph_count_uses(f.scratch, g);
    bool ok = true;

    r.to->diag = d;
    f.learned = graph_learned(f.scratch, g);
    f.n_carried = g->n_carries ? r.to->n_values : 0;
    f.carried = arena_array(f.scratch, bool, f.n_carried);
    for (int i = 0; i < g->n_carries; i++)
        f.carried[r.map[g->carries[i].in]] = true;
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->kind == VALUE_CONSTANT)
            r.map[v] = fold_constant(&f, fold_share(&f, r.map[v]));
        else if (value_of(g, v)->kind == VALUE_INPUT && !value_count(value_of(g, v)))
            r.map[v] = fold_empty(&f, r.map[v]);
    for (NodeId i = 1; i < g->n_nodes && ok; i++)
        ok = fold_node(&f, &r, i, uses) && !budget_is_passed(g->budget, BUDGET_folding);
    if (ok)
        keep_own_shapes(&r);
    arena_free(f.scratch);
    return ok && rewrite_end(&r, d);
}

// ---- until nothing changes ----

static uint64_t hash_graph(const Graph *g)
{
    uint64_t h = (uint64_t)g->n_values;

    for (NodeId i = 1; i < g->n_nodes; i++)
        h = h * 31 + hash_node(&g->nodes[i]);
    for (int i = 0; i < g->n_outputs; i++)
        h = h * 31 + (uint64_t)g->outputs[i].value;
    return h;
}

static bool fold_all(Graph *g, bool is_simplify, Diag *d)
{
    for (int32_t c = 1; c < g->n_classes; c++)
        class_drop(g, c);  // merged nodes can't belong to several iterations
    class_compact(g);
    graph_prune(g);
    budget_allow(g->budget, BUDGET_folding, g->n_nodes + g->n_values);
    uint64_t before = hash_graph(g);
    for (int run = 0; run < MAX_RUNS; run++) {
        if (!fold_run(g, is_simplify, d))
            return false;
        uint64_t after = hash_graph(g);
        if (after == before)
            break;
        before = after;
    }
    return true;
}

bool fold(Graph *g, Diag *d) { return fold_all(g, false, d); }

bool simplify(Graph *g, Diag *d) { return fold_all(g, true, d); }
