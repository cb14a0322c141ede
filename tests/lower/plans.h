// Random plans: any legal strategy for each node, any spec for each value.
#ifndef SHARDCC_TESTS_LOWER_PLANS_H
#define SHARDCC_TESTS_LOWER_PLANS_H

#include "analyzer/analyzer.h"

typedef struct Dice {
    uint64_t state;
} Dice;

// Below n; xorshift64* (Vigna 2016).
static inline int roll(Dice *d, int n)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (int)((d->state * UINT64_C(2685821657736338717) >> 33) % (uint64_t)n);
}

static inline Mesh mesh_of(int n_axes, const int *size)
{
    static const char *const names[] = {"x0", "x1", "x2", "x3"};
    Mesh m = {.n_axes = n_axes};

    for (int a = 0; a < n_axes; a++) {
        m.size[a] = size[a];
        m.name[a] = names[a];
        m.alpha[a] = 1e-5 / (1 + a);
        m.beta[a] = 1e-9 / (1 + a);
    }
    return m;
}

// Parts of a kind of its own where `partial` is a SPEC_…, none where it is SPEC_WHOLE.
static inline Spec roll_spec(Dice *d, const Mesh *m, int rank, int partial)
{
    Spec s = spec_whole();

    for (int a = 0; a < m->n_axes; a++) {
        int at = roll(d, rank + 1) - 1, axis[MAX_AXES];
        if (partial != SPEC_WHOLE && roll(d, 3) == 0) {
            s.at[a] = (int8_t)partial;
            continue;
        }
        if (at < 0)
            continue;
        int sharing = spec_axes(&s, at, axis), level = roll(d, sharing + 1);
        for (int i = level; i < sharing; i++)
            s.level[axis[i]]++;
        s.at[a] = (int8_t)at;
        s.level[a] = (int8_t)level;
    }
    return s;
}

// ---- values that lie alike: both ends of a carried pair, iterations of a block ----

static inline ValueId root_of(ValueId *root, ValueId v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

static inline void unite(ValueId *root, ValueId a, ValueId b)
{
    a = root_of(root, a);
    b = root_of(root, b);
    root[a > b ? a : b] = a > b ? b : a;
}

static inline bool same_label(Block a, Block b) { return a.cls == b.cls && a.pos == b.pos; }

// By NodeId the first node of its place in its block; unites their outputs and their own values.
static inline NodeId *find_alike(const Graph *g, Arena *a, ValueId *root)
{
    NodeId *first = arena_array(a, NodeId, g->n_nodes);

    for (ValueId v = 1; v < g->n_values; v++)
        root[v] = v;
    for (NodeId n = 1; n < g->n_nodes; n++) {
        first[n] = n;
        for (NodeId k = 1; k < n && g->nodes[n].block.cls; k++)
            if (same_label(g->nodes[k].block, g->nodes[n].block)) {
                first[n] = k;
                break;
            }
        for (int i = 0; i < g->nodes[n].n_out; i++)
            unite(root, g->nodes[n].out[i], g->nodes[first[n]].out[i]);
    }
    for (ValueId v = 1; v < g->n_values; v++)
        for (ValueId k = 1; k < v && !value_of(g, v)->producer && value_of(g, v)->block.cls; k++)
            if (!value_of(g, k)->producer &&
                same_label(value_of(g, k)->block, value_of(g, v)->block))
                unite(root, v, k);
    for (int i = 0; i < g->n_carries; i++)
        unite(root, g->carries[i].in, g->carries[i].out);
    return first;
}

// How a value may lie; of values that lie alike the strictest counts.
typedef enum Limit { LIMIT_NONE, LIMIT_SUM, LIMIT_COMPLETE, LIMIT_WHOLE } Limit;

static inline void tighten(Limit *limit, Limit to) { *limit = *limit > to ? *limit : to; }

// By root.
static inline Limit *find_limits(const Graph *g, ValueId *root, Arena *a)
{
    Limit *limit = arena_array(a, Limit, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        bool is_zero = x->kind == VALUE_ZERO && x->fill == 0;
        Limit own = x->kind == VALUE_CONSTANT || x->kind == VALUE_HYPER ? LIMIT_WHOLE
                    : is_zero                                           ? LIMIT_SUM
                                                                        : LIMIT_COMPLETE;
        tighten(&limit[root_of(root, v)], x->producer ? LIMIT_NONE : own);
    }
    for (int i = 0; i < g->n_outputs; i++)
        tighten(&limit[root_of(root, g->outputs[i].value)], LIMIT_COMPLETE);
    return limit;
}

// Of four values that could rest as they are made, three do.
static inline void roll_rest(const Graph *g, Dice *d, Plan *p, ValueId *root, Arena *a)
{
    Limit *limit = find_limits(g, root, a);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        ValueId r = root_of(root, v);
        int made = spec_partial(&p->spec[v]), part = SPEC_SUM - roll(d, 3);
        bool fits =
            made == SPEC_WHOLE || limit[r] < (made == SPEC_SUM ? LIMIT_COMPLETE : LIMIT_SUM);
        part = limit[r] == LIMIT_NONE ? part : limit[r] == LIMIT_SUM ? SPEC_SUM : SPEC_WHOLE;
        if (r != v)
            p->spec[v] = p->spec[r];
        else if (limit[r] == LIMIT_WHOLE)
            p->spec[v] = spec_whole();
        else if (!x->producer || !fits || roll(d, 4) == 0)
            p->spec[v] = roll_spec(d, &p->mesh, x->rank, part);
    }
}

// ---- strategies ----

// By node and factor: along which axes (bits) it was split in some plan.
typedef struct Seen {
    uint32_t axis[MAX_FACTORS];
} Seen;

// The bits of a mesh's axes begin at `bit`. How many pairs of factor and axis would be new?
static inline int count_new(const Mesh *m, const Strategy *s, const Seen *seen, int bit)
{
    int n = 0;

    for (int a = 0; a < m->n_axes; a++)
        n += s->at[a] >= 0 && s->at[a] < MAX_FACTORS && !(seen->axis[s->at[a]] >> (bit + a) & 1);
    return n;
}

// Of a few drawn ones that with the most new splits, which are noted.
static inline Strategy roll_strategy(const Rule *r, const Mesh *m, Dice *d, Seen *seen, int bit)
{
    enum { DRAWS = 16 };
    Arena *a = arena_new();
    Strategy *all, best;
    int count = strategies_of(r, m, a, &all), most = -1;

    for (int i = 0; i < DRAWS; i++) {
        const Strategy *s = &all[roll(d, count)];
        int n = count_new(m, s, seen, bit);
        best = n > most ? *s : best;
        most = n > most ? n : most;
    }
    for (int k = 0; k < m->n_axes; k++)
        if (best.at[k] >= 0 && best.at[k] < MAX_FACTORS)
            seen->axis[best.at[k]] |= 1u << (bit + k);
    arena_free(a);
    return best;
}

// Any plan; `seen` is by NodeId. `only` (may be NULL) is what all nodes do.
static inline Plan roll_plan(const Graph *g, const Mesh *m, Dice *d, Arena *a, Seen *seen, int bit,
                             const Strategy *only)
{
    Plan p = {*m, arena_array(a, Spec, g->n_values), arena_array(a, Strategy, g->n_nodes)};
    ValueId *root = arena_array(a, ValueId, g->n_values);
    NodeId *first = find_alike(g, a, root);

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        Arena *scratch = arena_new();
        Rule r;
        node_rule(g, x, scratch, &r);
        p.strategy[n] = only            ? *only
                        : first[n] != n ? p.strategy[first[n]]
                                        : roll_strategy(&r, m, d, &seen[n], bit);
        for (int i = 0; i < x->n_out; i++)
            p.spec[x->out[i]] = strategy_spec(&r, &p.strategy[n], x->n_in + i);
        arena_free(scratch);
    }
    roll_rest(g, d, &p, root, a);
    return p;
}

#endif
