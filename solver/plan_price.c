// What the decisions of a plan cost and hold: nodes what their pieces take, pairs of variables the
// layout manager's ways, values their bytes at rest while they live.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/plan_build.h"

// ---- ways ----

// Picoseconds from each of some specs to each of others; tables of equal shapes and specs are one.
static const int64_t *ways_table(Builder *b, ValueId v, const Spec *from, int n, const Spec *to,
                                 int m)
{
    const Value *x = value_of(b->g, v);
    const Way *way;
    uint64_t key = hash_bytes(x->dim, (size_t)x->rank * sizeof *x->dim, (uint64_t)x->dtype);

    key = hash_bytes(&b->joins[v], sizeof *b->joins, key);
    key = hash_bytes(from, (size_t)n * sizeof *from, key ^ (uint64_t)n);
    key = hash_bytes(to, (size_t)m * sizeof *to, key) | 1;
    size_t mask = (size_t)b->n_tables - 1, at = key & mask;
    for (; b->table_key[at]; at = (at + 1) & mask)
        if (b->table_key[at] == key)
            return b->table[at];
    b->table_key[at] = key;
    int64_t *t = b->table[at] = arena_array(b->scratch, int64_t, (size_t)n * (size_t)m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            layout_ways(b->layouts[b->joins[v]], x, from[i], to[j], &way);
            t[(size_t)i * (size_t)m + (size_t)j] = way->picoseconds;
        }
    return t;
}

// What the alternatives of a variable mean at a pairing: specs, each once, and which is whose.
typedef struct Meaning {
    Specs specs;
    int *of;  // by alternative
} Meaning;

static Meaning meaning_of(Builder *b, int variable, bool is_node, int operand)
{
    const Variable *v = &b->q->variable[variable];
    Meaning x = {.of = arena_array(b->scratch, int, v->n)};

    for (int k = 0; k < v->n; k++) {
        Spec s = is_node ? strategy_spec(&b->q->rule[v->id], &v->spec[k], operand) : v->spec[k];
        specs_add(b->scratch, &x.specs, s);
        for (x.of[k] = 0; !spec_equal(&x.specs.spec[x.of[k]], &s); x.of[k]++)
            ;
    }
    return x;
}

static void edge_write(Builder *b, const Pairing *p, Edge *e)
{
    const PlanProblem *q = b->q;
    Meaning x = meaning_of(b, p->a, p->bond == BOND_MADE, p->operand);
    Meaning y = meaning_of(b, p->b, p->bond == BOND_NEED, p->operand);
    int n = q->variable[p->a].n, m = q->variable[p->b].n;
    const int64_t *table =
        ways_table(b, p->value, x.specs.spec, x.specs.n, y.specs.spec, y.specs.n);
    int64_t *cost = arena_array(b->arena, int64_t, (size_t)n * (size_t)m);

    for (int k = 0; k < n; k++)
        for (int l = 0; l < m; l++)
            cost[(size_t)k * (size_t)m + (size_t)l] =
                p->count * table[(size_t)x.of[k] * (size_t)y.specs.n + (size_t)y.of[l]];
    *e = (Edge){p->a, p->b, cost};
}

void plan_edges(Builder *b)
{
    Problem *p = &b->q->problem;

    b->n_tables = 1024;
    while (b->n_tables < 2 * b->n_pairings)
        b->n_tables *= 2;
    b->table = arena_array(b->scratch, int64_t *, b->n_tables);
    b->table_key = arena_array(b->scratch, uint64_t, b->n_tables);
    p->edge = arena_array(b->arena, Edge, b->n_pairings);
    for (int i = 0; i < b->n_pairings; i++)
        edge_write(b, &b->pairing[i], &p->edge[p->n_edges++]);
}

// ---- bytes ----

// That the values like a first one take so many places more (or fewer) from an item on, in so many
// buffers more.
typedef struct Change {
    ValueId first;
    int item;
    int64_t slots;
    int buffers;
} Change;

static int compare_changes(const void *x, const void *y)
{
    const Change *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

// Those of first value v are from first[v] to before first[v + 1].
static Change *changes_find(Builder *b, int *first)
{
    const Lives *l = b->lives;
    Change *change = arena_array(b->scratch, Change, l ? 2 * l->n : 0);
    int n = 0;

    for (int i = 0; l && i < l->n; i++) {
        const Life *x = &l->life[i];
        ValueId v = b->q->alike.value[x->value];
        change[n++] = (Change){v, x->first, x->slots, 1};
        change[n++] = (Change){v, x->last, -x->slots, -1};
        first[v + 1] += 2;
    }
    for (ValueId v = 0; v < b->g->n_values; v++)
        first[v + 1] += first[v];
    if (n)
        qsort(change, (size_t)n, sizeof *change, compare_changes);
    return change;
}

static void uses_write(Builder *b, const Variable *v, const Change *change, int n, int *n_uses,
                       int *cap)
{
    Problem *p = &b->q->problem;

    for (int k = 0; k < v->n; k++) {
        int64_t bytes = n ? spec_bytes(b->mesh, &v->spec[k], value_of(b->g, v->id)) : 0;
        int64_t slots = 0, buffers = 0;
        *p->first_use++ = *n_uses;
        for (int i = 0; i + 1 < n; i++) {
            slots += change[i].slots;
            buffers += change[i].buffers;
            if (change[i + 1].item > change[i].item && buffers > 0)
                *arena_push(b->arena, p->use, *n_uses, *cap) =
                    (Use){change[i].item, change[i + 1].item,
                          slots * slot_bytes(bytes) + buffers * REDZONE};
        }
    }
}

// ---- nodes ----

static int64_t node_cost(Builder *b, NodeId n, const Work *whole, const Strategy *s, int64_t count)
{
    Work w = piece_work(b->g, &b->g->nodes[n], whole, &b->traffic, &b->q->rule[n], b->mesh, s);

    return count * llround(1e12 * piece_seconds(b->cluster, &w));
}

static void node_costs(Builder *b, const Variable *v, int64_t count, int64_t *cost)
{
    Work whole = node_work(b->g, &b->g->nodes[v->id]);

    for (int k = 0; k < v->n; k++)
        cost[k] = node_cost(b, v->id, &whole, &v->spec[k], count);
}

void plan_nodes(Builder *b)
{
    PlanProblem *q = b->q;
    Problem *p = &q->problem;
    int n_uses = 0, cap = 0, *first_use;
    int64_t *count = arena_array(b->scratch, int64_t, b->g->n_nodes);
    int *first_change = arena_array(b->scratch, int, b->g->n_values + 1);
    const Change *change = changes_find(b, first_change);

    for (NodeId n = 1; n < b->g->n_nodes; n++)
        count[q->alike.node[n]] += times_of(b, b->g->nodes[n].phase);
    p->n_nodes = q->n_variables;
    p->first = arena_array(b->arena, int, q->n_variables + 1);
    for (int i = 0; i < q->n_variables; i++)
        p->first[i + 1] = p->first[i] + q->variable[i].n;
    p->cost = arena_array(b->arena, int64_t, p->first[p->n_nodes]);
    p->first_use = first_use = arena_array(b->arena, int, p->first[p->n_nodes] + 1);
    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        int from = v->kind == VARIABLE_REST ? first_change[v->id] : 0;
        int n = v->kind == VARIABLE_REST ? first_change[v->id + 1] - from : 0;
        if (v->kind == VARIABLE_NODE)
            node_costs(b, v, count[v->id], p->cost + p->first[i]);
        uses_write(b, v, change + from, n, &n_uses, &cap);
    }
    *p->first_use = n_uses;
    p->first_use = first_use;
}
