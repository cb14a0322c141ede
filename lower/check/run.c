// Runs a set's items, with loops unrolled, on the model of the arena.
#include <string.h>

#include "lower/check/check.h"

enum { EDGE_ITERATIONS = 3 };  // iterations at each end of a loop whose reads are checked

// ---- iterations ----

// Finds the iteration whose nodes a loop's items have.
static int find_representative(const Check *c, int loop)
{
    const Item *it = &c->s->items[loop];

    for (int i = loop + 1; it->cls && i < it->loop.end; i++)
        for (int k = 0; k < c->s->items[i].n_nodes; k++) {
            Block b = c->g->nodes[c->s->items[i].nodes[k]].block;
            if (b.cls == it->cls)
                return b.iter;
        }
    return 0;
}

// Is the item in the first or last iterations of each loop around it? There its reads are checked.
// Where slots are taken and freed, and in calls, each iteration counts.
static bool is_at_edge(const Check *c, const ItemWalk *w)
{
    for (int k = 0; k < w->depth && !w->calls; k++) {
        const Item *loop = &w->s->items[w->loop[k].item];
        int skew = loop->loop.skew, iterations = loop_length(w->s->g, loop) + skew;
        if (!c->is_exchange[w->loop[k].item] && w->loop[k].at >= EDGE_ITERATIONS + skew &&
            w->loop[k].at < iterations - EDGE_ITERATIONS - skew)
            return false;
    }
    return true;
}

static bool is_first_run(const ItemWalk *w)
{
    for (int k = 0; k < w->depth; k++)
        if (w->loop[k].at != (k + 1 < w->depth ? 0 : w->s->items[w->item].skew))
            return false;
    return true;
}

static void run_function(Check *c, const Function *f)
{
    ItemWalk w = item_walk_function(c->s, f);
    int n_stages = f->calls ? f->calls->n_stages : 0, call = -1;

    for (Pool pool = POOL_NONE; pool < N_POOLS; pool++)
        c->slots[pool] = arena_array(c->arena, int64_t, n_stages + 1);
    while (item_walk_next(&w)) {
        for (; w.calls && call < w.call; call++)
            call_enter(w.calls, &w.calls->call[call + 1], c->slots);
        c->it = &c->s->items[w.item];
        memcpy(c->iteration, w.iteration, sizeof c->iteration);
        c->representative = w.depth ? c->representatives[w.loop[w.depth - 1].item] : 0;
        c->is_read = is_at_edge(c, &w);
        c->is_first = is_first_run(&w);
        check_item(c);
    }
    c->it = NULL;
}

// ---- values that live on ----

static bool is_live_in(const Check *c, ValueId v, Footprint *f)
{
    const Value *x = value_of(c->g, v);
    Address a;

    if (x->producer || x->kind == VALUE_ACTIVATION || !value_address(c->p, c->s, v, &a))
        return false;
    *f = (Footprint){.rank = x->rank, .at = a.at, .size = dtype_size(x->dtype)};
    dense_strides(x->rank, x->dim, f->stride);
    for (int i = 0; i < x->rank; i++) {
        f->dim[i] = x->dim[i];
        f->stride[i] *= f->size;
    }
    return true;
}

static void put_live_in(Check *c)
{
    Footprint f;

    for (ValueId v = 1; v < c->g->n_values; v++)
        if (is_live_in(c, v, &f))
            shadow_put(c->shadow, &f, v);
}

// Checks that the next step or micro-batch will find the right values: a carried one, else the one
// that was there before.
static void check_live_out(Check *c, Scope scope)
{
    ValueId *next = arena_array(c->arena, ValueId, c->g->n_values);
    ValueId *other = arena_array(c->arena, ValueId, c->g->n_values);
    Element want, has;
    Footprint f;

    for (int i = 0; i < c->g->n_carries; i++) {
        const Carry *x = &c->g->carries[i];
        *(x->scope == scope ? &next[x->in] : &other[x->in]) = x->out;
    }
    for (ValueId v = 1; v < c->g->n_values; v++) {
        ValueKind kind = value_of(c->g, v)->kind;
        bool is_filled = scope == SCOPE_STEP && kind == VALUE_ZERO;
        if (!is_live_in(c, v, &f) || kind == VALUE_INPUT || is_filled)
            continue;
        if (check_is_held(c, &f, next[v] ? next[v] : v, &want, &has) ||
            (other[v] && check_is_held(c, &f, other[v], &want, &has)))
            continue;
        Text t = {0};
        element_print(c->g, &want, &t);
        text_printf(&t, " must be kept, but its bytes hold ");
        element_print(c->g, &has, &t);
        check_fail(c, NULL, "%s", t.s);
        text_free(&t);
    }
}

static void check_ends(Check *c)
{
    for (int i = 0; i < c->g->n_outputs; i++) {
        const Output *o = &c->g->outputs[i];
        const Value *v = value_of(c->g, o->value);
        Operand whole = {.value = o->value, .base = o->value};
        Address a;
        if (o->role == OUTPUT_GRADIENT) {
            if (c->shown[o->value] != 1)
                check_fail(c, NULL, "the gradient of '%s' is shown %d times", o->name,
                           c->shown[o->value]);
            continue;
        }
        if (!value_address(c->p, c->s, o->value, &a)) {
            check_fail(c, NULL, "output '%s' has no address", o->name);
            continue;
        }
        dense_strides(v->rank, v->dim, whole.stride);
        memset(c->iteration, 0, sizeof c->iteration);
        Footprint f = check_box(c, &whole, v->rank, v->dim);
        check_holds(c, producer(c->g, o->value), &f, o->value);
    }
    if (c->n_pending)
        check_fail(c, NULL, "communication is never waited for");
}

// ---- micro-batches ----

// Items that run once for all micro-batches must depend on nothing that differs between them.
static void check_prepared(Check *c, const Function *f)
{
    const Graph *g = c->g;
    bool *is_same = arena_array(c->arena, bool, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        is_same[i] = n->n_in > 0;
        for (int k = 0; k < n->n_in; k++) {
            const Value *x = value_of(g, n->in[k]);
            is_same[i] &= x->producer ? is_same[x->producer] : x->kind == VALUE_PARAMETER;
        }
    }
    for (int i = f->begin; i < f->end; i++)
        for (int k = 0; k < c->s->items[i].n_nodes; k++)
            if (!is_same[c->s->items[i].nodes[k]])
                check_fail(
                    c, &g->nodes[c->s->items[i].nodes[k]],
                    "it runs once for all micro-batches, but depends on more than parameters");
}

// Runs the functions of a micro-batch, which are [begin, end).
static void run_micro(Check *c, int begin, int end)
{
    memset(c->shown, 0, sizeof *c->shown * (size_t)c->g->n_values);
    for (int k = begin; k < end; k++)
        run_function(c, &c->s->functions[k]);
    if (c->p->accumulate > 1)
        check_live_out(c, SCOPE_MICRO);
}

// Runs functions from the first one on that have one timing, and gives the next one. Micro-batches
// that share what was made before them run twice.
static int run_timing(Check *c, int begin)
{
    const Set *s = c->s;
    Timing timing = s->functions[begin].timing;
    int end = begin;

    while (end < s->n_functions && s->functions[end].timing == timing)
        end++;
    for (int k = begin; k < end && timing != TIMING_MICRO; k++) {
        if (timing == TIMING_PREPARE)
            check_prepared(c, &s->functions[k]);
        run_function(c, &s->functions[k]);
    }
    if (timing != TIMING_MICRO)
        return end;
    run_micro(c, begin, end);
    if (begin && !c->findings) {
        put_live_in(c);
        run_micro(c, begin, end);
    }
    return end;
}

static void find_exchanges(Check *c, int set)
{
    c->is_exchange = arena_array(c->arena, bool, c->s->n_items);
    for (int i = 1; i < c->p->n_buffers; i++) {
        const Buffer *b = &c->p->buffers[i];
        if (b->set == set && b->slots.taken)
            c->is_exchange[b->slots.taken - 1] = true;
        if (b->set == set && b->slots.freed)
            c->is_exchange[b->slots.freed - 1] = true;
    }
}

bool set_check(const Program *p, int set, int rank, Diag *d)
{
    const Set *s = &p->set[set];
    Check c = {.p = p, .s = s, .g = s->g, .d = d, .arena = arena_new(), .rank = rank};

    c.shadow = shadow_new(c.arena);
    c.boundaries.arena = c.arena;
    c.table = class_tables(c.arena, s->g);
    c.shown = arena_array(c.arena, int, s->g->n_values);
    c.representatives = arena_array(c.arena, int, s->n_items);
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_LOOP)
            c.representatives[i] = find_representative(&c, i);
    find_exchanges(&c, set);
    check_stored_set(&c);
    check_tensors(&c);
    put_live_in(&c);
    for (int k = 0; k < s->n_functions;)
        k = run_timing(&c, k);
    check_live_out(&c, SCOPE_STEP);
    check_ends(&c);
    arena_free(c.arena);
    return !c.findings;
}

// The rank in a corner of the mesh: along axis i the last one if bit i of `corner` is set, else the
// first. The first rank of an axis has the largest shard, the last one the smallest.
static int corner_rank(const Mesh *m, int corner)
{
    int rank = 0;

    for (int i = 0; i < m->n_axes; i++)
        rank = rank * m->size[i] + (corner >> i & 1 ? m->size[i] - 1 : 0);
    return rank;
}

bool program_check(const Program *p, Diag *d)
{
    bool ok = true;

    for (int i = 0; i < N_SETS; i++) {
        const Sharded *s = p->set[i].sharded;
        int corners = s ? 1 << s->plan->mesh.n_axes : 1;
        for (int k = 0; k < corners && ok && p->set[i].g; k++)
            ok = set_check(p, i, s ? corner_rank(&s->plan->mesh, k) : 0, d);
    }
    return ok;
}
