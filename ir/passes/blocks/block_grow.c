// Extends classes beyond their runs: by iterations before the first one and by side nodes.
//
// The iteration before the first one is often in another order, because it starts from other
// values. Side nodes read every iteration's values equally.
#include <string.h>

#include "ir/passes/blocks/blocks.h"

void block_find_readers(Finder *f)
{
    memset(f->readers, 0, (size_t)f->g->n_values * sizeof *f->readers);
    for (int i = 0; i < f->n; i++) {
        const Node *n = &f->g->nodes[f->order[i]];
        for (int k = 0; k < n->n_in; k++) {
            Readers *r = &f->readers[n->in[k]];
            if (!r->first) {
                r->first = i + 1;
                r->slot = k;
            }
            r->last = i + 1;
        }
    }
}

// ---- an iteration before the first one ----

// The first iteration reads `from` where the second one reads `later`. Notes from's producer as the
// counterpart of the producer of `later`, which is in the first iteration. False if that has
// another counterpart already.
static bool pair(const Finder *f, const Found *c, NodeId *counterpart, ValueId from, ValueId later)
{
    const Graph *g = f->g;
    NodeId a = value_of(g, from)->producer, b = value_of(g, later)->producer;
    int pos = f->position[b] - c->begin;

    if (!a || f->hash[a] != f->hash[b] || f->position[a] >= c->begin ||
        f->block[f->position[a]].cls)
        return false;
    for (int i = 0; i < g->nodes[a].n_out; i++)
        if ((g->nodes[a].out[i] == from) != (g->nodes[b].out[i] == later))
            return false;
    if (counterpart[pos] && counterpart[pos] != a)
        return false;
    counterpart[pos] = a;
    return true;
}

static bool is_within(const Finder *f, const Found *c, ValueId v)
{
    NodeId n = value_of(f->g, v)->producer;

    return n && f->position[n] >= c->begin && f->position[n] < c->begin + c->period;
}

// Finds the nodes of the iteration before the first one: first the producers of values that the
// first iteration reads where the second one reads the first, then producers of inputs, backwards.
// False if a node is missing.
static bool find_before(const Finder *f, const Found *c, NodeId *counterpart)
{
    const Graph *g = f->g;

    memset(counterpart, 0, (size_t)c->period * sizeof *counterpart);
    for (int pos = 0; pos < c->period; pos++) {
        const Node *first = &g->nodes[f->order[c->begin + pos]];
        const Node *second = &g->nodes[f->order[c->begin + c->period + pos]];
        for (int k = 0; k < first->n_in; k++)
            if (is_within(f, c, second->in[k]) &&
                !pair(f, c, counterpart, first->in[k], second->in[k]))
                return false;
    }
    for (int pos = c->period - 1; pos >= 0; pos--) {
        const Node *n = &g->nodes[f->order[c->begin + pos]], *m = &g->nodes[counterpart[pos]];
        if (!counterpart[pos])
            return false;
        for (int k = 0; k < n->n_in; k++)
            if (is_within(f, c, n->in[k]) && !pair(f, c, counterpart, m->in[k], n->in[k]))
                return false;
    }
    return true;
}

bool block_has_before(const Finder *f, const Found *c)
{
    return find_before(f, c, arena_array(f->arena, NodeId, c->period));
}

static void put_order(Finder *f, int at, NodeId n)
{
    f->order[at] = n;
    f->position[n] = at;
}

// Moves the nodes of `counterpart` right before the class and the nodes among them to before these.
// False, and nothing is changed, if one of the others reads one of them or is in a class.
static bool move_before(Finder *f, const Found *c, const NodeId *counterpart)
{
    int lowest = c->begin, n = 0;
    bool *moves = arena_array(f->arena, bool, f->g->n_nodes);
    NodeId *others = arena_array(f->arena, NodeId, c->begin);

    for (int pos = 0; pos < c->period; pos++) {
        if (moves[counterpart[pos]])
            return false;
        moves[counterpart[pos]] = true;
        if (f->position[counterpart[pos]] < lowest)
            lowest = f->position[counterpart[pos]];
    }
    for (int i = lowest; i < c->begin; i++) {
        const Node *x = &f->g->nodes[f->order[i]];
        if (f->block[i].cls)
            return false;
        for (int k = 0; k < x->n_in && !moves[f->order[i]]; k++)
            if (moves[value_of(f->g, x->in[k])->producer])
                return false;
        if (!moves[f->order[i]])
            others[n++] = f->order[i];
    }
    for (int i = 0; i < n; i++)
        put_order(f, lowest + i, others[i]);
    for (int pos = 0; pos < c->period; pos++)
        put_order(f, lowest + n + pos, counterpart[pos]);
    return true;
}

void block_grow_back(Finder *f, int32_t cls)
{
    Found *c = &f->found[cls];
    NodeId *counterpart = arena_array(f->arena, NodeId, c->period), *order;

    while (c->begin >= c->period && find_before(f, c, counterpart)) {
        order = arena_array(f->arena, NodeId, c->begin);
        memcpy(order, f->order, (size_t)c->begin * sizeof *order);
        if (!move_before(f, c, counterpart))
            return;
        block_find_readers(f);
        Series s = {.begin = c->begin - c->period, .period = c->period};
        if (!block_matches(f, &s, 0) || (c->n_iter > 2 && !block_matches(f, &s, 1))) {
            for (int i = 0; i < c->begin; i++)
                put_order(f, i, order[i]);
            block_find_readers(f);
            return;
        }
        c->begin -= c->period;
        c->n_iter++;
        for (int i = 0; i < c->n_iter * c->period; i++)
            f->block[c->begin + i] = (Block){cls, i / c->period, i % c->period};
    }
}

// ---- side nodes ----

// The readers of each value, as linked lists.
typedef struct Users {
    int *head, *next;  // by ValueId; by entry
    NodeId *node;      // by entry
} Users;

static Users list_users(const Finder *f)
{
    const Graph *g = f->g;
    int total = 1;

    for (NodeId i = 1; i < g->n_nodes; i++)
        total += g->nodes[i].n_in;
    Users u = {arena_array(f->arena, int, g->n_values), arena_array(f->arena, int, total),
               arena_array(f->arena, NodeId, total)};
    total = 1;
    for (int i = f->n - 1; i >= 0; i--)
        for (int k = g->nodes[f->order[i]].n_in - 1; k >= 0; k--) {
            ValueId v = g->nodes[f->order[i]].in[k];
            u.node[total] = f->order[i];
            u.next[total] = u.head[v];
            u.head[v] = total++;
        }
    return u;
}

// A class and the side nodes of its iterations.
typedef struct Growth {
    Finder *f;
    const Found *c;
    Users *users;
    NodeId *node;  // [iter * cap + pos]
    int n, cap;    // positions
    Block *at;     // by NodeId: its class, iteration and pos + 1 in `node` of that class
    int32_t cls;
} Growth;

static NodeId node_at(const Growth *w, int iter, int pos)
{
    return w->node[(int64_t)iter * w->cap + pos];
}

// Does `m`, of iteration `iter`, read the instances there of the values that `n` reads of the first
// iteration?
static bool reads_alike(const Growth *w, const Node *n, const Node *m, int iter)
{
    const Graph *g = w->f->g;

    for (int k = 0; k < n->n_in; k++) {
        ValueId a = n->in[k], b = m->in[k];
        NodeId p = value_of(g, a)->producer, q = value_of(g, b)->producer;
        bool inside = p && w->at[p].cls == w->cls, inside_b = q && w->at[q].cls == w->cls;
        if (inside != inside_b)
            return false;
        if (!inside && (a != b || (p && w->f->position[p] >= w->c->begin)))
            return false;
        if (!inside)
            continue;
        int out = 0;
        while (g->nodes[p].out[out] != a)
            out++;
        if (w->at[p].iter != 0 || w->at[q].iter != iter || w->at[p].pos != w->at[q].pos ||
            g->nodes[q].out[out] != b)
            return false;
    }
    return true;
}

// Adds `n`, a reader of value v of the first iteration, if each iteration has such a reader.
static void take_reader(Growth *w, NodeId n, ValueId v)
{
    const Graph *g = w->f->g;
    int n_iter = w->c->n_iter, out = 0;
    NodeId *counterpart = arena_array(w->f->arena, NodeId, n_iter);
    Block from = w->at[value_of(g, v)->producer];

    if (w->at[n].cls || !reads_alike(w, &g->nodes[n], &g->nodes[n], 0) || w->n == w->cap)
        return;
    while (producer(g, v)->out[out] != v)
        out++;
    counterpart[0] = n;
    for (int iter = 1; iter < n_iter; iter++) {
        ValueId instance = g->nodes[node_at(w, iter, from.pos - 1)].out[out];
        for (int u = w->users->head[instance]; u && !counterpart[iter]; u = w->users->next[u]) {
            NodeId m = w->users->node[u];
            if (!w->at[m].cls && w->f->hash[m] == w->f->hash[n] && m != n &&
                reads_alike(w, &g->nodes[n], &g->nodes[m], iter) &&
                block_same_attrs(&g->nodes[n], &g->nodes[m]))
                counterpart[iter] = m;
        }
        if (!counterpart[iter])
            return;
    }
    for (int iter = 0; iter < n_iter; iter++) {
        w->node[(int64_t)iter * w->cap + w->n] = counterpart[iter];
        w->at[counterpart[iter]] = (Block){w->cls, iter, w->n + 1};
    }
    w->n++;
}

static void grow_out(Growth *w)
{
    const Finder *f = w->f;

    for (int pos = 0; pos < w->c->period; pos++)
        for (int iter = 0; iter < w->c->n_iter; iter++) {
            NodeId i = f->order[w->c->begin + iter * w->c->period + pos];
            w->node[(int64_t)iter * w->cap + pos] = i;
            w->at[i] = (Block){w->cls, iter, pos + 1};
        }
    w->n = w->c->period;
    for (int pos = 0; pos < w->n; pos++) {
        const Node *n = &f->g->nodes[node_at(w, 0, pos)];
        for (int k = 0; k < n->n_out; k++)
            for (int u = w->users->head[n->out[k]]; u; u = w->users->next[u])
                take_reader(w, w->users->node[u], n->out[k]);
    }
}

// Rebuilds the order with the side nodes of an iteration after its last node.
static void rebuild(Finder *f, const Growth *growth)
{
    NodeId *old = arena_array(f->arena, NodeId, f->n + 1);
    bool *done = arena_array(f->arena, bool, f->g->n_nodes);
    int n = 0;

    memcpy(old, f->order, (size_t)f->n * sizeof *old);
    for (int i = 0; i < f->n; i++) {
        Block b = growth->at[old[i]];
        const Growth *w = &growth[b.cls];
        if (done[old[i]] || (b.cls && b.pos > w->c->period))
            continue;
        if (b.cls && b.iter == 0 && b.pos == 1)
            f->found[b.cls].begin = n;
        f->block[n] = b.cls ? (Block){b.cls, b.iter, b.pos - 1} : b;
        put_order(f, n++, old[i]);
        for (int pos = w->c ? w->c->period : 0; b.cls && b.pos == w->c->period && pos < w->n;
             pos++) {
            f->block[n] = (Block){b.cls, b.iter, pos};
            put_order(f, n++, node_at(w, b.iter, pos));
        }
    }
    for (int c = 1; c < f->n_found; c++)
        f->found[c].period = growth[c].n;
}

void block_grow_out(Finder *f)
{
    enum { MAX_MORE = 64 };  // nodes by which an iteration may grow
    Growth *growth = arena_array(f->arena, Growth, f->n_found + 1);
    Found *before = arena_array(f->arena, Found, f->n_found + 1);
    Block *at = arena_array(f->arena, Block, f->g->n_nodes);
    Users users = list_users(f);

    memcpy(before, f->found, (size_t)f->n_found * sizeof *before);
    growth[0].at = at;
    for (int i = 0; i < f->n; i++)
        at[f->order[i]] = (Block){f->block[i].cls, f->block[i].iter, f->block[i].pos + 1};
    for (int c = 1; c < f->n_found; c++) {
        int cap = before[c].period + MAX_MORE;
        growth[c] = (Growth){f, &before[c], &users, NULL, 0, cap, at, c};
        growth[c].node = arena_array(f->arena, NodeId, (int64_t)cap * before[c].n_iter);
        grow_out(&growth[c]);
    }
    rebuild(f, growth);
    block_find_readers(f);
}
