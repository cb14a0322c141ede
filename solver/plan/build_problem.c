// Builds the assignment problem of a graph on a mesh. Variables are the strategy of each node, the
// storage spec of each value and, where several readers of one phase share a value, its compute
// spec. Iterations of a block share their variables. A node costs the time of its shard of work, an
// edge the cheapest reshard path. A value holds its bytes in its storage spec while it lives.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/plan/build_problem.h"

// ---- variables ----

static int variable_new(Builder *b, VariableKind kind, int32_t id, int capacity)
{
    PlanProblem *q = b->q;
    int at = q->n_variables;

    *arena_push(b->arena, q->variable, q->n_variables, q->cap_variables) =
        (Variable){.kind = kind, .id = id, .spec = arena_array(b->arena, Spec, capacity)};
    return at;
}

// Does the strategy split a factor of size 1?
static bool splits_one(const Rule *r, const Strategy *s)
{
    for (int a = 0; a < MAX_AXES; a++)
        if (s->at[a] >= 0 && s->at[a] < r->n_factors && r->size[s->at[a]] == 1)
            return true;
    return false;
}

static void node_variable(Builder *b, NodeId n)
{
    Arena *own = arena_new();
    Strategy *all;
    Rule *r = &b->q->rule[n];

    node_rule(b->arena, b->g, &b->g->nodes[n], r);
    int count = strategies_of(own, r, b->mesh, &all), at = variable_new(b, VARIABLE_NODE, n, count);
    Variable *v = &b->q->variable[at];
    for (int i = 0; i < count; i++)
        if (!splits_one(r, &all[i]))
            v->spec[v->n++] = all[i];
    b->q->of_node[n] = at;
    b->operand[n] = arena_array(b->scratch, Specs, b->g->nodes[n].n_in + b->g->nodes[n].n_out);
    arena_free(own);
}

// The specs in which a node's strategies make or read an operand.
static const Specs *operand_specs(Builder *b, NodeId n, int operand)
{
    const Variable *v = &b->q->variable[b->q->of_node[n]];
    Specs *l = &b->operand[n][operand];
    bool is_listed = l->n;

    for (int k = 0; k < v->n && !is_listed; k++)
        specs_add(b->scratch, l, strategy_spec(&b->q->rule[n], &v->spec[k], operand));
    return l;
}

static void join_specs(Builder *b, Specs *to, const Specs *from, StorageRule storage_rule)
{
    for (int i = 0; i < from->n; i++)
        if (storage_allows(storage_rule, &from->spec[i]))
            specs_add(b->scratch, to, from->spec[i]);
}

static int specs_variable(Builder *b, VariableKind kind, ValueId id, const Specs *l)
{
    int at = variable_new(b, kind, id, l->n);
    Variable *v = &b->q->variable[at];

    v->n = l->n;
    memcpy(v->spec, l->spec, (size_t)l->n * sizeof *l->spec);
    return at;
}

static void add_pinned_specs(Builder *b, Specs *of)
{
    for (int i = 0; i < b->o->n_pins; i++)
        if (b->o->pin[i].kind == PIN_STORAGE && b->o->pin[i].is_given)
            specs_add(b->scratch, &of[b->q->tied.value[b->o->pin[i].id]], b->o->pin[i].spec);
}

// Makes the variables of storage specs. A value may be stored in each spec in which a node makes or
// reads it, or replicated.
static void storage_variables(Builder *b)
{
    const Graph *g = b->g;
    const TiedValues *k = &b->q->tied;
    Specs *of = arena_array(b->scratch, Specs, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        if (k->value[v] == v)
            specs_add(b->scratch, &of[v], spec_replicated());
    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        if (k->node[n] != n)
            continue;
        for (int i = 0; i < x->n_in + x->n_out; i++) {
            ValueId v = k->value[i < x->n_in ? x->in[i] : x->out[i - x->n_in]];
            ValueId source = i < x->n_in ? k->value[tied_input_value(g, k, n, i)] : v;
            if (!v)
                continue;
            const Specs *l = operand_specs(b, n, i);
            join_specs(b, &of[v], l, k->storage_rule[v]);
            join_specs(b, &of[source], l, k->storage_rule[source]);
        }
    }
    add_pinned_specs(b, of);
    for (ValueId v = 1; v < g->n_values; v++)
        if (k->value[v] == v)
            b->q->of_value[v] = specs_variable(b, VARIABLE_STORAGE, v, &of[v]);
}

int compute_spec_of_input(const PlanProblem *q, const Graph *g, NodeId n, int i)
{
    return 3 * q->tied.value[tied_input_value(g, &q->tied, n, i)] + (int)g->nodes[n].phase;
}

// Makes the variables of compute specs, for values that two or more nodes read in one phase, and
// for pinned ones.
static void compute_variables(Builder *b)
{
    const Graph *g = b->g;
    const TiedValues *k = &b->q->tied;
    Specs *of = arena_array(b->scratch, Specs, 3 * (size_t)g->n_values);
    int *readers = tied_readers(b->scratch, g, k);

    b->q->of_compute_spec = arena_array(b->arena, int, 3 * (size_t)g->n_values);
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && k->node[n] == n; i++) {
            if (!g->nodes[n].in[i])
                continue;
            int at = compute_spec_of_input(b->q, g, n, i);
            join_specs(b, &of[at], operand_specs(b, n, i), STORAGE_ANY);
        }
    for (int i = 0; i < b->o->n_pins; i++) {
        const Pin *pin = &b->o->pin[i];
        if (pin->kind != PIN_COMPUTE)
            continue;
        int at = 3 * k->value[pin->id] + (int)pin->phase;
        readers[at]++;
        if (pin->is_given)
            specs_add(b->scratch, &of[at], pin->spec);
    }
    for (int at = 0; at < 3 * g->n_values; at++) {
        b->q->of_compute_spec[at] = -1;
        if (readers[at] < 2 || !of[at].n)
            continue;
        b->q->of_compute_spec[at] = specs_variable(b, VARIABLE_COMPUTE, at / 3, &of[at]);
        b->q->variable[b->q->of_compute_spec[at]].phase = (Phase)(at % 3);
    }
}

// ---- the order of variables ----

// The sort key of a variable: the node that makes the value, or else its first reader.
typedef struct VariableKey {
    int node, kind, variable;
} VariableKey;

static int compare_variable_keys(const void *x, const void *y)
{
    const VariableKey *a = x, *b = y;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->variable < b->variable ? -1 : a->variable > b->variable;
}

// By 3 · first tied value + phase: the first node that reads the value in the phase.
static NodeId *first_readers(const Builder *b)
{
    NodeId *first = arena_array(b->scratch, NodeId, 3 * (size_t)b->g->n_values);

    for (NodeId n = b->g->n_nodes - 1; n > 0; n--)
        for (int i = 0; i < b->g->nodes[n].n_in && b->q->tied.node[n] == n; i++)
            if (b->g->nodes[n].in[i])
                first[compute_spec_of_input(b->q, b->g, n, i)] = n;
    return first;
}

static VariableKey variable_key_of(const Builder *b, int variable, const NodeId *reader)
{
    const Variable *v = &b->q->variable[variable];
    NodeId made = v->kind == VARIABLE_STORAGE ? value_of(b->g, v->id)->producer : 0, first = 0;

    if (v->kind == VARIABLE_NODE)
        return (VariableKey){v->id, 1, variable};
    if (made)
        return (VariableKey){made, 2, variable};
    for (int phase = 2; phase >= 0; phase--)
        if (reader[3 * v->id + phase] && (v->kind == VARIABLE_STORAGE || phase == (int)v->phase))
            first = reader[3 * v->id + phase];
    return (VariableKey){first, 0, variable};
}

static void renumber(int *of, int n, const int *to)
{
    for (int i = 0; i < n; i++)
        of[i] = of[i] < 0 ? -1 : to[of[i]];
}

// Orders the variables along the graph. A sweep carries bounds from node to node, and carries them
// further if more of the problem's paths follow its order.
static void order_variables(Builder *b)
{
    PlanProblem *q = b->q;
    const NodeId *reader = first_readers(b);
    VariableKey *key = arena_array(b->scratch, VariableKey, q->n_variables);
    Variable *variable = arena_array(b->arena, Variable, q->n_variables);
    int *to = arena_array(b->scratch, int, q->n_variables);

    for (int i = 0; i < q->n_variables; i++)
        key[i] = variable_key_of(b, i, reader);
    qsort(key, (size_t)q->n_variables, sizeof *key, compare_variable_keys);
    for (int i = 0; i < q->n_variables; i++) {
        variable[i] = q->variable[key[i].variable];
        to[key[i].variable] = i;
    }
    q->variable = variable;
    q->cap_variables = q->n_variables;
    renumber(q->of_node, b->g->n_nodes, to);
    renumber(q->of_value, b->g->n_values, to);
    renumber(q->of_compute_spec, 3 * b->g->n_values, to);
}

// ---- pairings ----

static size_t slot_of(const Builder *b, const Pairing *p)
{
    int key[4] = {(int)p->pairing_kind, p->a, p->b, p->operand};
    size_t mask = (size_t)b->n_slots - 1, i = hash_bytes(key, sizeof key, 0) & mask;

    for (; b->slot[i]; i = (i + 1) & mask) {
        const Pairing *q = &b->pairing[b->slot[i] - 1];
        if (q->pairing_kind == p->pairing_kind && q->a == p->a && q->b == p->b &&
            q->operand == p->operand)
            break;
    }
    return i;
}

static void slots_grow(Builder *b)
{
    b->n_slots = b->n_slots ? 2 * b->n_slots : 1024;
    b->slot = arena_array(b->scratch, int, b->n_slots);
    for (int i = 0; i < b->n_pairings; i++)
        b->slot[slot_of(b, &b->pairing[i])] = i + 1;
}

static void pair_add(Builder *b, Pairing p)
{
    if (2 * b->n_pairings >= b->n_slots)
        slots_grow(b);
    size_t at = slot_of(b, &p);
    if (!b->slot[at]) {
        int64_t count = p.count;
        p.count = 0;
        *arena_push(b->scratch, b->pairing, b->n_pairings, b->cap_pairings) = p;
        b->slot[at] = b->n_pairings;
        p.count = count;
    }
    b->pairing[b->slot[at] - 1].count += p.count;
}

// ---- pairs of variables that have a cost ----

static void produce_pairings(Builder *b, NodeId n)
{
    const PlanProblem *q = b->q;
    const Node *x = &b->g->nodes[n];

    for (int i = 0; i < x->n_out; i++) {
        ValueId v = x->out[i];
        pair_add(b, (Pairing){PAIRING_PRODUCE, q->of_node[q->tied.node[n]],
                              q->of_value[q->tied.value[v]], b->q->rule[q->tied.node[n]].n_in + i,
                              v, b->times[n]});
    }
}

// Is the input one of a later iteration that all iterations read alike? They share the first one's
// copy.
static bool is_shared_copy(const Builder *b, NodeId n, int i)
{
    return b->g->nodes[n].block.cls && b->g->nodes[n].block.iter &&
           sources_are_equal(tied_input_sources(b->g, &b->q->tied, n, i));
}

// Is this the first input of all nodes that reads the value in the phase? Other readers share its
// copy.
static bool is_first_reader(const Builder *b, int64_t *reader, NodeId n, int i, int at)
{
    int64_t key = ((int64_t)b->q->tied.node[n] << 32) + i + 1;

    if (!reader[at])
        reader[at] = key;
    return reader[at] == key;
}

// By NodeId, for the first of tied ones: another graph runs the node in another phase alone. There
// it shares the copies of that phase, so what it reads may cost less than here.
static bool *find_moved(const Builder *b)
{
    bool *is_moved = arena_array(b->scratch, bool, b->g->n_nodes);

    for (int i = 0; i < b->o->n_others; i++) {
        const OtherGraph *x = &b->o->other[i];
        bool *is_there = arena_array(b->scratch, bool, b->g->n_nodes);
        for (NodeId n = 1; n < x->g->n_nodes; n++)
            is_there[x->node[n]] |= x->g->nodes[n].phase == b->g->nodes[x->node[n]].phase;
        for (NodeId n = 1; n < b->g->n_nodes; n++)
            is_moved[b->q->tied.node[n]] |= !is_there[n];
    }
    return is_moved;
}

static void consume_pairings(Builder *b, NodeId n, int64_t *reader)
{
    PlanProblem *q = b->q;
    const Node *x = &b->g->nodes[n];
    int64_t shared = x->phase == UPDATE ? 1 : b->o->accumulate;  // of a copy for several readers

    for (int i = 0; i < x->n_in; i++) {
        if (!x->in[i] || is_shared_copy(b, n, i))
            continue;
        int at = compute_spec_of_input(q, b->g, n, i), compute_variable = q->of_compute_spec[at];
        ValueId v = q->tied.value[x->in[i]], inner = at / 3;
        int from = q->of_value[inner];
        if (inner != v)
            pair_add(b, (Pairing){PAIRING_COPY, q->of_value[v], from, 0, v, b->times[n]});
        if (compute_variable >= 0 && is_first_reader(b, reader, n, i, at))
            pair_add(b, (Pairing){PAIRING_COPY, from, compute_variable, 0, inner, shared});
        pair_add(b, (Pairing){PAIRING_CONSUME, compute_variable >= 0 ? compute_variable : from,
                              q->of_node[q->tied.node[n]], i, inner, b->times[n]});
    }
}

// ---- units ----

// Presolve sums costs. The sum of the largest costs of all variables and pairs must stay below
// this; then it stays below twice this where find_hiding doubles the nodes' costs.
#define MAX_COST_SUM (INT64_C(1) << 54)

static double largest(const int64_t *cost, int64_t n)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = cost[i] > most ? cost[i] : most;
    return (double)most;
}

static void scale(int64_t *cost, int64_t n, int64_t unit)
{
    for (int64_t i = 0; i < n; i++)
        cost[i] = (cost[i] + unit / 2) / unit;
}

// Divides all costs by a power of ten so that their sum stays below MAX_COST_SUM. No two edges
// share a matrix here.
static void costs_scale(PlanProblem *q)
{
    Problem *p = &q->problem;
    double sum = 0;

    for (int i = 0; i < p->n_nodes; i++)
        sum += largest(p->cost + p->first[i], n_alternatives(p, i));
    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++)
        sum += largest(e->cost, (int64_t)n_alternatives(p, e->a) * n_alternatives(p, e->b));
    for (q->unit = 1; sum / (double)q->unit > (double)MAX_COST_SUM;)
        q->unit *= 10;
    if (q->unit == 1)
        return;
    scale(p->cost, p->first[p->n_nodes], q->unit);
    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++)
        scale((int64_t *)e->cost, (int64_t)n_alternatives(p, e->a) * n_alternatives(p, e->b),
              q->unit);
}

// ---- building ----

static Builder builder_new(Arena *a, Arena *scratch, PlanProblem *q, const Graph *g,
                           const Cluster *c, const Mesh *m, const PlanOptions *o,
                           const LiveRanges *live_ranges)
{
    Builder b = {.q = q,
                 .g = g,
                 .cluster = c,
                 .mesh = m,
                 .live_ranges = live_ranges,
                 .o = o,
                 .times = node_times(scratch, g, o->accumulate),
                 .traffic = traffic_find(scratch, g),
                 .arena = a,
                 .scratch = scratch};

    *q = (PlanProblem){.tied = tied_find(a, g)};
    b.is_bucketed = values_bucketed(scratch, g, &q->tied);
    b.operand = arena_array(scratch, Specs *, g->n_nodes);
    q->problem =
        (Problem){.name = g->name, .limit = mesh_memory_left(m, &o->exchange_memory, o->memory)};
    q->of_node = arena_array(a, int, g->n_nodes);
    q->of_value = arena_array(a, int, g->n_values);
    q->rule = arena_array(a, Rule, g->n_nodes);
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (q->tied.node[n] == n)
            node_variable(&b, n);
    return b;
}

bool plan_build(Arena *a, PlanProblem *q, const Graph *g, const Cluster *c, const Mesh *m,
                const PlanOptions *o, const LiveRanges *live_ranges, Diag *d)
{
    Arena *scratch = arena_new();
    Builder b = builder_new(a, scratch, q, g, c, m, o, live_ranges);

    storage_variables(&b);
    compute_variables(&b);
    order_variables(&b);
    int64_t *reader = arena_array(scratch, int64_t, 3 * (size_t)g->n_values);
    const bool *is_moved = find_moved(&b);
    for (NodeId n = 1; n < g->n_nodes; n++) {
        produce_pairings(&b, n);
        if (!is_moved[q->tied.node[n]])
            consume_pairings(&b, n, reader);
    }
    plan_nodes(&b);
    plan_edges(&b);
    if (o->byte_price.picoseconds > 0 && live_ranges)
        plan_price_bytes(&b);
    bool ok =
        !budget_is_passed(o->solve.budget, BUDGET_pricing) && problem_join_edges(a, &q->problem, d);
    if (ok)
        costs_scale(q);
    arena_free(scratch);
    return ok;
}

MeshBound plan_mesh_bound(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o)
{
    Arena *scratch = arena_new();
    PlanProblem q;
    Builder b = builder_new(scratch, scratch, &q, g, c, m, o, NULL);
    MeshBound f = {0};

    plan_nodes(&b);
    for (int i = 0; i < q.problem.n_nodes; i++) {
        const int64_t *cost = q.problem.cost + q.problem.first[i];
        int n = n_alternatives(&q.problem, i);
        int64_t least = cost[0];
        for (int k = 1; k < n; k++)
            least = cost[k] < least ? cost[k] : least;
        f.cost += least;
        f.pairs += (int64_t)n * n * (q.rule[q.variable[i].id].n_in + 1);
    }
    arena_free(scratch);
    return f;
}
