// Draws random plans: any legal strategy for each node, any spec for each value.
#ifndef SHARDCC_TESTS_LOWER_PLANS_H
#define SHARDCC_TESTS_LOWER_PLANS_H

#include "analyzer/sharding/sharding.h"

typedef struct Dice {
    uint64_t state;
} Dice;

// Draws a number in [0, n); xorshift64* (Vigna 2016).
static inline int roll(Dice *d, int n)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (int)((d->state * UINT64_C(2685821657736338717) >> 33) % (uint64_t)n);
}

// A machine so slow that sharding pays even for tiny models.
static inline Cluster slow_machine(void)
{
    return (Cluster){.devices_per_host = 8,
                     .threads = 1,
                     .memory = 1e9,
                     .bandwidth = 1e7,
                     .read_bandwidth = 1e7,
                     .vector = 1e7};
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

// Draws a spec. `partial` is the kind of its partial axes; SPEC_REPLICATED: it has none.
static inline Spec roll_spec(Dice *d, const Mesh *m, int rank, int partial)
{
    Spec s = spec_replicated();

    for (int a = 0; a < m->n_axes; a++) {
        int at = roll(d, rank + 1) - 1, axis[MAX_AXES];
        if (partial != SPEC_REPLICATED && roll(d, 3) == 0) {
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

// ---- values ----

// Draws storage specs. A value keeps the spec that its node makes with probability 3/4, if its
// storage rule allows that.
static inline void roll_rest(const Graph *g, Dice *d, Plan *p, const TiedValues *k)
{
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        StorageRule storage_rule = k->storage_rule[k->value[v]];
        int part = SPEC_SUM - roll(d, 3);
        part = storage_rule == STORAGE_ANY   ? part
               : storage_rule == STORAGE_SUM ? SPEC_SUM
                                             : SPEC_REPLICATED;
        if (k->value[v] != v)
            p->storage_spec[v] = p->storage_spec[k->value[v]];
        else if (storage_rule == STORAGE_REPLICATED)
            p->storage_spec[v] = spec_replicated();
        else if (!x->producer || !storage_allows(storage_rule, &p->storage_spec[v]) ||
                 roll(d, 4) == 0)
            p->storage_spec[v] = roll_spec(d, &p->mesh, x->rank, part);
    }
}

// Draws compute specs. Three of four uses read the value in its storage spec.
static inline void roll_use(Arena *a, const Graph *g, Dice *d, Plan *p, const TiedValues *k)
{
    p->compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values);
    for (int at = 3; at < 3 * g->n_values; at++) {
        ValueId first = k->value[at / 3];
        if (first != at / 3)
            p->compute_spec[at] = p->compute_spec[3 * first + at % 3];
        else if (roll(d, 4) == 0)
            p->compute_spec[at] =
                roll_spec(d, &p->mesh, value_of(g, first)->rank, SPEC_SUM - roll(d, 3));
        else
            p->compute_spec[at] = p->storage_spec[first];
    }
}

// ---- strategies ----

// For one node, by factor: the axes (as bits) that split the factor in some plan.
typedef struct Seen {
    uint32_t axis[MAX_FACTORS];
} Seen;

// Counts the pairs of factor and axis that are not yet in `seen`. The bits of the mesh's axes
// begin at `bit`.
static inline int count_new(const Mesh *m, const Strategy *s, const Seen *seen, int bit)
{
    int n = 0;

    for (int a = 0; a < m->n_axes; a++)
        n += s->at[a] >= 0 && s->at[a] < MAX_FACTORS && !(seen->axis[s->at[a]] >> (bit + a) & 1);
    return n;
}

// Draws some strategies, returns the one with the most new splits, and adds its splits to `seen`.
static inline Strategy roll_strategy(const Rule *r, const Mesh *m, Dice *d, Seen *seen, int bit)
{
    enum { DRAWS = 16 };
    Arena *a = arena_new();
    Strategy *all, best;
    int count = strategies_of(a, r, m, &all), most = -1;

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

// Draws any plan; `seen` is indexed by NodeId. If `only` isn't NULL, all nodes have that strategy.
static inline Plan roll_plan(Arena *a, const Graph *g, const Mesh *m, Dice *d, Seen *seen, int bit,
                             const Strategy *only)
{
    Plan p = {*m, arena_array(a, Spec, g->n_values), arena_array(a, Strategy, g->n_nodes), NULL};
    TiedValues tied = tied_find(a, g);
    Rule *rule = arena_array(a, Rule, g->n_nodes);

    for (NodeId n = 1; n < g->n_nodes; n++) {
        node_rule(a, g, &g->nodes[n], &rule[n]);
        if (tied.node[n] == n)
            p.strategy[n] = only ? *only : roll_strategy(&rule[n], m, d, &seen[n], bit);
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        p.strategy[n] = p.strategy[tied.node[n]];
        for (int i = 0; i < x->n_out; i++)
            p.storage_spec[x->out[i]] = strategy_spec(&rule[n], &p.strategy[n], x->n_in + i);
    }
    roll_rest(g, d, &p, &tied);
    if (roll(d, 2))
        roll_use(a, g, d, &p, &tied);
    return p;
}

#endif
