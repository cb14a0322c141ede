// Prices the edges of a plan's problem: each pair of specs costs the cheapest reshard path between
// them.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "solver/plan/build_problem.h"

void specs_add(Arena *a, Specs *l, Spec s)
{
    for (int i = 0; i < l->n; i++)
        if (spec_equal(&l->spec[i], &s))
            return;
    *arena_push(a, l->spec, l->n, l->cap) = s;
}

typedef struct ShapedPairing {
    uint64_t shape;
    int pairing;
} ShapedPairing;

// Pairings sorted by the shapes of their values. A thread takes all of a shape, since reshard paths
// are found by shape.
typedef struct EdgePricing {
    const Builder *b;
    ShapedPairing *order;
    int n_shapes, *first;  // [n_shapes + 1]: where each shape begins in `order`
    atomic_int *next;      // the next shape for a thread to take
} EdgePricing;

// The state of one thread.
typedef struct EdgePricer {
    const EdgePricing *of;
    Resharder *reshard[2];  // reshard[1] is for values in buckets
    int64_t **table;        // tables of path costs, by hash of shape and specs
    uint64_t *table_key;
    int n_tables;  // slots of the hash table, a power of two
    Arena *scratch;
} EdgePricer;

// ---- reshard paths ----

static uint64_t shape_key(const Builder *b, ValueId v)
{
    const Value *x = value_of(b->g, v);
    uint64_t key = hash_bytes(x->dim, (size_t)x->rank * sizeof *x->dim, dtype_size(x->dtype));
    bool is[] = {b->is_bucketed[v], is_sliced_in_place(x)};

    return hash_bytes(is, sizeof is, key);
}

// The picoseconds of the cheapest path from each of n specs to each of m. Equal shapes and specs
// share a table.
static const int64_t *path_cost_table(EdgePricer *w, ValueId v, const Spec *from, int n,
                                      const Spec *to, int m)
{
    const Builder *b = w->of->b;
    const Value *x = value_of(b->g, v);
    uint64_t key = shape_key(b, v);

    key = hash_bytes(from, (size_t)n * sizeof *from, key ^ (uint64_t)n);
    key = hash_bytes(to, (size_t)m * sizeof *to, key) | 1;
    size_t mask = (size_t)w->n_tables - 1, at = key & mask;
    for (; w->table_key[at]; at = (at + 1) & mask)
        if (w->table_key[at] == key)
            return w->table[at];
    w->table_key[at] = key;
    int64_t *t = w->table[at] = arena_array(w->scratch, int64_t, (size_t)n * (size_t)m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[(size_t)i * (size_t)m + (size_t)j] =
                reshard_fastest(w->reshard[b->is_bucketed[v]], x, from[i], to[j]);
    return t;
}

// The specs that the alternatives of a variable mean at a pairing: the distinct specs, and the
// index of each alternative's.
typedef struct OperandSpecs {
    Specs specs;
    int *of;  // by alternative
} OperandSpecs;

static OperandSpecs operand_specs_of(EdgePricer *w, int variable, bool is_node, int operand)
{
    const PlanProblem *q = w->of->b->q;
    const Variable *v = &q->variable[variable];
    OperandSpecs x = {.of = arena_array(w->scratch, int, v->n)};

    for (int k = 0; k < v->n; k++) {
        Spec s = is_node ? strategy_spec(&q->rule[v->id], &v->spec[k], operand) : v->spec[k];
        specs_add(w->scratch, &x.specs, s);
        for (x.of[k] = 0; !spec_equal(&x.specs.spec[x.of[k]], &s); x.of[k]++)
            ;
    }
    return x;
}

// Does an earlier input of the node read the same value in the same spec? Both then share one copy.
static bool shares_copy(const Builder *b, const Pairing *p, const Strategy *s)
{
    NodeId n = b->q->variable[p->b].id;
    const Rule *r = &b->q->rule[n];
    Spec spec = strategy_spec(r, s, p->operand);
    InputSources x = tied_input_sources(b->g, &b->q->tied, n, p->operand);

    for (int i = 0; i < p->operand; i++) {
        InputSources y = tied_input_sources(b->g, &b->q->tied, n, i);
        Spec other = strategy_spec(r, s, i);
        if (x.first == y.first && x.second == y.second && x.last == y.last &&
            spec_equal(&spec, &other))
            return true;
    }
    return false;
}

// Returns false if the pricing of pairs has passed its bound.
static bool edge_write(EdgePricer *w, const Pairing *p, const Edge *e)
{
    const PlanProblem *q = w->of->b->q;
    OperandSpecs x = operand_specs_of(w, p->a, p->pairing_kind == PAIRING_PRODUCE, p->operand);
    OperandSpecs y = operand_specs_of(w, p->b, p->pairing_kind == PAIRING_CONSUME, p->operand);
    int n = q->variable[p->a].n, m = q->variable[p->b].n;
    const int64_t *table =
        path_cost_table(w, p->value, x.specs.spec, x.specs.n, y.specs.spec, y.specs.n);
    int64_t *cost = (int64_t *)(uintptr_t)e->cost;

    for (int l = 0; l < m; l++) {
        bool is_free = p->pairing_kind == PAIRING_CONSUME &&
                       shares_copy(w->of->b, p, &q->variable[p->b].spec[l]);
        for (int k = 0; k < n && !is_free; k++)
            cost[(size_t)k * (size_t)m + (size_t)l] =
                p->count * table[(size_t)x.of[k] * (size_t)y.specs.n + (size_t)y.of[l]];
    }
    return budget_add(w->of->b->o->solve.budget, BUDGET_pricing, (int64_t)n * m);
}

// ---- threads ----

static void *price_edges(void *edge_pricer)
{
    EdgePricer *w = edge_pricer;
    const EdgePricing *all = w->of;

    for (int i; (i = atomic_fetch_add(all->next, 1)) < all->n_shapes;)
        for (int k = all->first[i]; k < all->first[i + 1]; k++)
            if (!edge_write(w, &all->b->pairing[all->order[k].pairing],
                            &all->b->q->problem.edge[all->order[k].pairing]))
                return NULL;
    return NULL;
}

static int compare_shapes(const void *x, const void *y)
{
    const ShapedPairing *a = x, *b = y;

    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    return a->pairing - b->pairing;
}

// Sorts the pairings by their values' shapes.
static EdgePricing edge_pricing_of(const Builder *b, atomic_int *next)
{
    EdgePricing x = {.b = b, .next = next};

    x.order = arena_array(b->scratch, ShapedPairing, b->n_pairings);
    x.first = arena_array(b->scratch, int, b->n_pairings + 1);
    for (int i = 0; i < b->n_pairings; i++)
        x.order[i] = (ShapedPairing){shape_key(b, b->pairing[i].value), i};
    if (b->n_pairings)
        qsort(x.order, (size_t)b->n_pairings, sizeof *x.order, compare_shapes);
    for (int i = 0; i < b->n_pairings; i++)
        if (!i || x.order[i].shape != x.order[i - 1].shape)
            x.first[x.n_shapes++] = i;
    x.first[x.n_shapes] = b->n_pairings;
    return x;
}

static EdgePricer edge_pricer_new(const EdgePricing *of)
{
    EdgePricer w = {.of = of, .n_tables = 1024, .scratch = arena_new()};

    while (w.n_tables < 2 * of->b->n_pairings)
        w.n_tables *= 2;
    w.table = arena_array(w.scratch, int64_t *, w.n_tables);
    w.table_key = arena_array(w.scratch, uint64_t, w.n_tables);
    w.reshard[0] = resharder_new(w.scratch, of->b->mesh);
    w.reshard[1] = resharder_new_bucketed(w.scratch, of->b->mesh);
    for (int i = 0; i < COUNT(w.reshard); i++)
        resharder_count(w.reshard[i], of->b->o->solve.budget);
    return w;
}

static size_t pairs_of(const Builder *b, const Pairing *x)
{
    return (size_t)b->q->variable[x->a].n * (size_t)b->q->variable[x->b].n;
}

static size_t edges_capacity(const Builder *b)
{
    size_t n = 0;

    for (int i = 0; i < b->n_pairings; i++)
        n += pairs_of(b, &b->pairing[i]);
    return n;
}

// Makes the edges with capacity for their costs, which threads then fill. All costs are one
// allocation: its pages are zeroed by the thread that first touches them.
static void edges_new(Builder *b)
{
    Problem *p = &b->q->problem;

    size_t n_pairs = edges_capacity(b);
    int64_t *cost = arena_array(b->arena, int64_t, n_pairs);

    budget_allow(b->o->solve.budget, BUDGET_pricing, (int64_t)n_pairs);
    p->edge = arena_array(b->arena, Edge, b->n_pairings);
    for (int i = 0; i < b->n_pairings; i++) {
        const Pairing *x = &b->pairing[i];
        p->edge[p->n_edges++] = (Edge){x->a, x->b, cost};
        cost += pairs_of(b, x);
    }
}

void plan_edges(Builder *b)
{
    atomic_int next = 0;
    EdgePricing all = edge_pricing_of(b, &next);
    EdgePricer here = edge_pricer_new(&all), there = edge_pricer_new(&all);
    pthread_t other;

    edges_new(b);
    bool is_threaded =
        b->o->solve.threads > 1 && !pthread_create(&other, NULL, price_edges, &there);
    price_edges(&here);
    if (is_threaded)
        pthread_join(other, NULL);
    arena_free(here.scratch);
    arena_free(there.scratch);
}
