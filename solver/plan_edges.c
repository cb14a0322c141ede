// What pairs of a plan's decisions cost: the layout manager's ways, each with its table.
#include "solver/plan_build.h"

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

// Does an input of the node before it need the same value alike? Both get it in one go.
static bool comes_along(const Builder *b, const Pairing *p, const Strategy *s)
{
    NodeId n = b->q->variable[p->b].id;
    const Rule *r = &b->q->rule[n];
    Spec spec = strategy_spec(r, s, p->operand);
    Fellows x = alike_fellows(b->g, &b->q->alike, n, p->operand);

    for (int i = 0; i < p->operand; i++) {
        Fellows y = alike_fellows(b->g, &b->q->alike, n, i);
        Spec other = strategy_spec(r, s, i);
        if (x.first == y.first && x.second == y.second && x.last == y.last &&
            spec_equal(&spec, &other))
            return true;
    }
    return false;
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

    for (int l = 0; l < m; l++) {
        bool is_free = p->bond == BOND_NEED && comes_along(b, p, &q->variable[p->b].spec[l]);
        for (int k = 0; k < n && !is_free; k++)
            cost[(size_t)k * (size_t)m + (size_t)l] =
                p->count * table[(size_t)x.of[k] * (size_t)y.specs.n + (size_t)y.of[l]];
    }
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
