// Runs a program on all ranks of a sharded graph side by side. Each rank has its own arena, which
// starts full of NaN, and works on chunks with their padding. A collective that overlaps
// computation is done where it starts or, if asked, where it is waited for.
#ifndef SHARDCC_TESTS_LOWER_MACHINES_H
#define SHARDCC_TESTS_LOWER_MACHINES_H

#include <stdlib.h>

#include "tests/lower/interpret.h"
#include "tests/lower/ranks.h"

typedef struct Machines {
    Machine *m;
    RankTensors all_ranks;   // the values that were asked for
    bool exchanges_at_wait;  // collectives that overlap run at their wait
} Machines;

// ---- memory ----

// Loads the rank's shard of `v`, or of a copy of it, from the chunk that holds it.
static inline Tensor load_shard(const Machine *m, ValueId v, const Operand *o, const int *layer)
{
    int64_t dim[MAX_RANK];

    sharded_dims(m->s->sharded, v, m->rank, dim);
    return load(m, o, layer, value_of(m->s->g, v)->rank, dim);
}

static inline void machine_start(Machine *m, const RankTensors *c, const Tensor *whole_value)
{
    const Graph *g = m->s->g;

    m->bytes = malloc((size_t)m->p->arena_bytes + 1);
    memset(m->bytes, 0xff, (size_t)m->p->arena_bytes);
    m->scratch = arena_new();
    for (ValueId v = 1; v < c->s->n_values; v++) {
        if (value_of(g, v)->producer || !m->s->address[v].buffer)
            continue;
        Tensor t = shard_of_whole(c, v, m->rank, &whole_value[c->s->value[v].of]);
        Operand o = whole(m, v);
        store(m, &o, 0, &t);
    }
}

// ---- running ----

static inline void run_exchange(const Machines *x, const Item *it, const int *layer)
{
    const Node *n = &x->all_ranks.s->g->nodes[it->nodes[0]];
    int *rank = arena_array(x->all_ranks.arena, int, x->all_ranks.n);

    for (int first = 0; first < x->all_ranks.n; first++) {
        int count = find_group(&x->all_ranks, n, first, rank);
        Tensor *in_ = arena_array(x->m[0].scratch, Tensor, count + 1);
        Tensor *out_ = arena_array(x->m[0].scratch, Tensor, count + 1);
        for (int k = 0; k < count; k++) {
            in_[k] = load_shard(&x->m[rank[k]], n->in[0], &it->operands[0], layer);
            out_[k] = shard_new(&x->all_ranks, n->out[0], rank[k]);
        }
        if (count)
            n->op->exchange(n, count, in_, out_);
        for (int k = 0; k < count; k++) {
            tensor_round(&out_[k]);
            store(&x->m[rank[k]], &it->operands[1], layer, &out_[k]);
        }
    }
}

// Fills the collective's result with NaN: between its start and its wait nobody may read it. A
// result that overwrites the input stays: whoever reads it gets this rank's term alone.
static inline void poison(const Machines *x, const Item *it, const int *layer)
{
    const Value *y = value_of(x->all_ranks.s->g, it->operands[1].value);

    for (int r = 0; r < x->all_ranks.n; r++) {
        int64_t at = offset_at(&x->m[r], &it->operands[1], layer);
        if (at != offset_at(&x->m[r], &it->operands[0], layer))
            memset(x->m[r].bytes + at, 0xff, (size_t)value_bytes(y));
    }
}

static inline void run_on_all(void *machines, const Item *it, const int *layer)
{
    const Machines *x = machines;
    const Graph *g = x->all_ranks.s->g;
    bool is_exchange = it->kind == ITEM_KERNEL && g->nodes[it->nodes[0]].op->exchange;

    if (item_slot(it) && x->exchanges_at_wait && is_exchange) {
        poison(x, it, layer);
        return;
    }
    if (is_exchange || (it->kind == ITEM_WAIT && x->exchanges_at_wait)) {
        run_exchange(x, it, layer);
        return;
    }
    for (int r = 0; r < x->all_ranks.n; r++)
        run_item(&x->m[r], it, layer);
}

static inline void machines_free_scratch(void *machines)
{
    const Machines *x = machines;

    for (int r = 0; r < x->all_ranks.n; r++)
        machine_free_scratch(&x->m[r]);
}

static inline void run_program(Machines *x)
{
    const Set *s = x->m[0].s;

    walk_items(s, 0, s->n_items, x, run_on_all, machines_free_scratch);
}

// Allocates the ranks of a sharded graph.
static inline Machines machines_new(Arena *a, const Sharded *s)
{
    Machines x = {.all_ranks = {.s = s, .mesh = &s->plan->mesh, .arena = a}};

    x.all_ranks.n = mesh_ranks(x.all_ranks.mesh);
    x.m = arena_array(a, Machine, x.all_ranks.n);
    x.all_ranks.value = arena_array(a, Tensor *, x.all_ranks.n);
    for (int r = 0; r < x.all_ranks.n; r++)
        x.all_ranks.value[r] = arena_array(a, Tensor, s->g->n_values);
    return x;
}

// Gives each rank its arena. `value` holds the values without producer, by ValueId of the whole
// graph.
static inline void machines_start(Machines *x, const Program *p, const Tensor *value)
{
    for (int r = 0; r < x->all_ranks.n; r++) {
        x->m[r] = (Machine){.p = p, .s = &p->set[SET_TRAIN], .rank = r};
        machine_start(&x->m[r], &x->all_ranks, value);
    }
}

static inline void machines_end(Machines *x)
{
    for (int r = 0; r < x->all_ranks.n; r++) {
        arena_free(x->m[r].scratch);
        free(x->m[r].bytes);
    }
}

#endif
