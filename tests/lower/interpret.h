// Runs a lowered set on an arena of bytes. Items run through the operators' own eval, and values
// lie where the program puts them. The results must equal those of graph_eval.
#ifndef SHARDCC_TESTS_LOWER_INTERPRET_H
#define SHARDCC_TESTS_LOWER_INTERPRET_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/operator/operator.h"
#include "lower/internal.h"
#include "runtime/rt_element.h"

typedef struct Machine {
    const Program *p;
    const Set *s;
    char *bytes;
    Arena *scratch;
    int rank;
    // For programs that are wrong on purpose; NULL in the other tests.
    bool *is_lost;    // set by an access outside the arena; the access is skipped
    uint64_t *shown;  // sum of the hashes of all gradients that GRADIENT items show
} Machine;

// Where the slots of stages are now, in the walk that runs.
static StageSlots stage_slots;

static int64_t offset_at(const Machine *m, const Operand *o, const int *layer)
{
    static const int none[MAX_LOOPS];

    return address_at(&o->address, layer ? layer : none, stage_slots) +
           operand_rank_offset(m->s, o, m->rank);
}

static RtType half_of(DType t) { return t == BF16 ? RT_BF16 : RT_F16; }

static double load_one(DType t, const char *at)
{
    double x = 0;

    switch (t) {
    case BF16:
    case F16:
        rt_round_floats(RT_F64, &x, half_of(t), at, 1);
        return x;
    case F32:
        return (double)*(const float *)at;
    case F64:
        return *(const double *)at;
    default:
        return 0;
    }
}

static int64_t load_int(DType t, int64_t size, const char *at)
{
    int64_t x = 0;

    switch (size) {
    case 1:
        return t == I8 ? *(const int8_t *)at : *(const uint8_t *)at;
    case 4:
        return t == I32 ? (int64_t) * (const int32_t *)at : (int64_t) * (const uint32_t *)at;
    case 8:
        memcpy(&x, at, 8);
        return x;
    default:
        abort();
    }
}

static void store_one(const Tensor *t, int64_t i, int64_t size, char *at)
{
    if (t->dtype == F32)
        *(float *)at = (float)t->f[i];
    else if (t->dtype == F64)
        *(double *)at = t->f[i];
    else if (dtype_is_half(t->dtype))
        rt_round_floats(half_of(t->dtype), at, RT_F64, &t->f[i], 1);
    else if (size == 8)
        memcpy(at, &t->i[i], 8);
    else if (size == 4)
        memcpy(at, &t->i[i], 4);
    else
        memcpy(at, &t->i[i], 1);
}

// Is an element of `size` bytes inside the arena? If not, sets *is_lost, or aborts where is_lost
// is NULL.
static bool is_inside(const Machine *m, int64_t at, int64_t size)
{
    bool is_in = at >= 0 && at + size <= m->p->arena_bytes;

    if (!is_in && !m->is_lost)
        abort();
    if (!is_in)
        *m->is_lost = true;
    return is_in;
}

// Moves `index` to the next element in row-major order; returns how far that is in the tensor of
// these strides. At the end, `index` is back at the first element.
static int64_t advance(int64_t *index, const int64_t *stride, int rank, const int64_t *dim)
{
    int64_t by = 0;

    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dim[d])
            return by + stride[d];
        by -= (dim[d] - 1) * stride[d];
        index[d] = 0;
    }
    return by;
}

static Tensor load(const Machine *m, const Operand *o, const int *layer, int rank,
                   const int64_t *dim)
{
    DType type = value_of(m->s->g, o->base)->dtype;
    Tensor t = tensor_new(m->scratch, type, rank, dim);
    int64_t at = offset_at(m, o, layer), n = tensor_count(&t), size = dtype_size(type);
    int64_t index[MAX_RANK] = {0};

    for (int64_t i = 0; i < n; i++) {
        if (!is_inside(m, at, size))
            return t;
        if (t.f)
            t.f[i] = load_one(type, m->bytes + at);
        else
            t.i[i] = load_int(type, size, m->bytes + at);
        at += advance(index, o->stride, rank, dim) * size;
    }
    return t;
}

static void store(const Machine *m, const Operand *o, const int *layer, const Tensor *t)
{
    int64_t at = offset_at(m, o, layer), n = tensor_count(t), size = dtype_size(t->dtype);
    int64_t index[MAX_RANK] = {0};

    for (int64_t i = 0; i < n; i++) {
        if (!is_inside(m, at, size))
            return;
        store_one(t, i, size, m->bytes + at);
        at += advance(index, o->stride, t->rank, t->dim) * size;
    }
}

// The node as iteration `layer` has it: affine attributes are advanced to that iteration.
static Node node_at(const Node *n, const Item *it, const int *layer)
{
    Node at = *n;

    for (int k = 0; it->region && k < MAX_ATTRS; k++)
        if (n->op->attrs[k].is_affine && n->op->attrs[k].type == ATTR_INT)
            at.attr[k].i += layer[0] - n->block.iter;
    return at;
}

static Tensor splat(const Machine *m, const Value *v, double x)
{
    Tensor t = tensor_new(m->scratch, v->dtype, v->rank, v->dim);

    for (int64_t i = 0; i < tensor_count(&t); i++) {
        if (t.f)
            t.f[i] = x;
        else
            t.i[i] = (int64_t)x;
    }
    return t;
}

// The input `v` of a group's node, made by another node of the group and seen through views. `made`
// has the results of the group's nodes, in their order.
static Tensor seen(const Machine *m, const Item *it, const Tensor *made, ValueId v)
{
    const Graph *g = m->s->g;
    const Node *n = producer(g, v);
    Tensor x, y;

    int maker = group_maker(g, it, v);
    if (it->nodes[maker] == value_of(g, v)->producer)
        return made[maker];
    x = seen(m, it, made, n->in[0]);
    node_eval(m->scratch, g, n, &x, &y);
    return y;
}

// ---- shards of nodes ----

// Evaluates the node on whole chunks, as kernels do.
static void eval_on(const Machine *m, NodeId id, const Node *n, const Tensor *in, Tensor *out)
{
    const Graph *g = m->s->g;
    NodeShard p = {{0}, {0}};

    if (!m->s->sharded) {
        node_eval(m->scratch, g, n, in, out);
        return;
    }
    sharded_node(m->s->sharded, id, m->rank, &p);
    for (int k = 0; k < n->n_out; k++) {
        const Value *y = value_of(g, n->out[k]);
        out[k] = tensor_new(m->scratch, y->dtype, y->rank, y->dim);
    }
    node_eval_shard(g, n, &p, in, out);
}

// Where a rank's shard of a factor is smaller than the chunk, fills the padding with op's
// identity.
static void pad(const Machine *m, NodeId id, int factor, int axis, RtReduceOp op, Tensor *t)
{
    const Sharded *s = m->s->sharded;
    double x = op == RT_SUM ? 0 : op == RT_MAX ? -INFINITY : INFINITY;
    int64_t index[MAX_RANK] = {0}, offset, extent, i = 0;

    spec_shard(&s->plan->mesh, &s->plan->strategy[s->node[id].of], factor, s->node[id].size[factor],
               m->rank, &offset, &extent);
    do {
        if (index[axis] >= extent && i < tensor_count(t)) {
            if (t->f)
                t->f[i] = x;
            else
                t->i[i] = op == RT_SUM ? 0 : op == RT_MAX ? INT64_MIN : INT64_MAX;
        }
        i++;
    } while (index_next(index, t->rank, t->dim));
}

// The input of a group's sum, with zeros in its padding.
static Tensor summed(const Machine *m, NodeId id, const Tensor *x)
{
    const Node *n = &m->s->g->nodes[id];
    Tensor t = tensor_new(m->scratch, x->dtype, x->rank, x->dim);
    RtCut c;
    Rule r;

    for (int64_t i = 0; i < tensor_count(x); i++) {
        if (t.f)
            t.f[i] = x->f[i];
        else
            t.i[i] = x->i[i];
    }
    node_rule(m->scratch, m->s->g, n, &r);
    for (int i = 0; i < n->attr[0].n; i++) {
        int axis = (int)n->attr[0].v[i], f = r.dim[0][axis];
        if (node_split(m->s->sharded, id, f, &c))
            pad(m, id, f, axis, RT_SUM, &t);
    }
    return t;
}

static void run_pad(const Machine *m, const Item *it, const int *layer)
{
    Tensor t = load(m, &it->operands[0], layer, it->rank, it->dim);

    pad(m, it->nodes[0], it->pad.factor, it->pad.axis, it->pad.op, &t);
    store(m, &it->operands[0], layer, &t);
}

// ---- items ----

static void run_group(const Machine *m, const Item *it, const int *layer)
{
    const Graph *g = m->s->g;
    Tensor *made = arena_array(m->scratch, Tensor, it->n_nodes);
    const int *source = it->group.source;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &g->nodes[it->nodes[i]];
        Node n = node_at(x, it, layer);
        Tensor in_[8];
        for (int k = 0; k < n.n_in; k++, source++) {
            const Value *v = value_of(g, n.in[k]);
            double c = 0;
            if (*source >= 0)
                in_[k] = load(m, &it->operands[*source], layer, v->rank, v->dim);
            else if (*source == SOURCE_NODE)
                in_[k] = seen(m, it, made, n.in[k]);
            else if (value_splat(g, n.in[k], &c))
                in_[k] = splat(m, v, c);
        }
        if (n.op->is_sum && m->s->sharded)
            in_[0] = summed(m, it->nodes[i], &in_[0]);
        eval_on(m, it->nodes[i], &n, in_, &made[i]);
    }
    for (int k = it->n_in; k < it->n_in + it->n_out; k++)
        store(m, &it->operands[k], layer, &made[group_maker(g, it, it->operands[k].value)]);
}

static void run_kernel(const Machine *m, const Item *it, const int *layer)
{
    const Graph *g = m->s->g;
    Node at = node_at(&g->nodes[it->nodes[0]], it, layer), *n = &at;
    Tensor in_[16] = {0}, out_[MAX_OUTPUTS];

    for (int k = 0; k < it->n_in; k++)
        if (it->operands[k].base)
            in_[k] = load(m, &it->operands[k], layer, in(g, n, k)->rank, in(g, n, k)->dim);
    eval_on(m, it->nodes[0], n, in_, out_);
    for (int k = 0; k < it->n_out; k++)
        store(m, &it->operands[it->n_in + k], layer, &out_[k]);
}

// A hash of the rank's shard of a value.
static uint64_t hash_value(const Machine *m, const Operand *o, const int *layer, uint64_t seed)
{
    const Value *v = value_of(m->s->g, o->value);
    int64_t dim[MAX_RANK];

    memcpy(dim, v->dim, sizeof dim);
    if (m->s->sharded && o->value < m->s->sharded->n_values)
        sharded_dims(m->s->sharded, o->value, m->rank, dim);
    Tensor t = load(m, o, layer, v->rank, dim);
    return hash_bytes(t.f ? (void *)t.f : t.i, (size_t)tensor_count(&t) * 8, seed);
}

static void run_item(const Machine *m, const Item *it, const int *layer)
{
    if (it->kind == ITEM_GRADIENT && m->shown)
        *m->shown +=
            hash_value(m, &it->operands[0], layer, (uint64_t)(it->operands[0].value + layer[0]));
    if (it->kind == ITEM_GROUP)
        run_group(m, it, layer);
    if (it->kind == ITEM_KERNEL)
        run_kernel(m, it, layer);
    if (it->kind == ITEM_PAD)
        run_pad(m, it, layer);
    if (it->kind == ITEM_COPY) {
        Tensor t = load(m, &it->operands[0], layer, it->rank, it->dim);
        store(m, &it->operands[1], layer, &t);
    }
    if (it->kind == ITEM_FILL) {
        Value v = *value_of(m->s->g, it->operands[0].value);
        Tensor t = splat(m, &v, it->fill.value);
        store(m, &it->operands[0], layer, &t);
    }
}

// Calls `visit` for each item of [from, to) in the order of execution, with loops unrolled. Calls
// `between_items` after each item outside loops and after each loop.
typedef void Visit(void *of, const Item *it, const int *layer);

static inline void walk_calls(const Set *s, const Function *f, void *of, Visit *visit,
                              void (*between_items)(void *of))
{
    Arena *a = arena_new();
    ItemWalk w = item_walk_function(s, f);

    for (Pool pool = POOL_NONE; pool < N_POOLS; pool++)
        stage_slots[pool] = arena_array(a, int64_t, f->calls->n_stages);
    for (int call = -1; item_walk_next(&w);) {
        for (; call < w.call; call++) {
            call_enter(f->calls, &f->calls->call[call + 1], stage_slots);
            between_items(of);
        }
        visit(of, &s->items[w.item], w.iteration);
    }
    between_items(of);
    arena_free(a);
}

static inline const Function *function_of_calls(const Set *s, int item)
{
    for (int i = 0; i < s->n_functions; i++)
        if (s->functions[i].calls && s->functions[i].begin == item)
            return &s->functions[i];
    return NULL;
}

static inline void walk_items(const Set *s, int from, int to, void *of, Visit *visit,
                              void (*between_items)(void *of))
{
    for (int i = from; i < to; i++) {
        const Function *called = function_of_calls(s, i);
        if (called) {
            walk_calls(s, called, of, visit, between_items);
            i = called->end - 1;
            continue;
        }
        int end = s->items[i].kind == ITEM_LOOP ? s->items[i].loop.end : i;
        ItemWalk w = item_walk_new(s, i, end + 1);
        while (item_walk_next(&w))
            visit(of, &s->items[w.item], w.iteration);
        i = end;
        between_items(of);
    }
}

static inline void machine_visit(void *machine, const Item *it, const int *layer)
{
    run_item(machine, it, layer);
}

static inline void machine_free_scratch(void *machine)
{
    Machine *m = machine;

    arena_free(m->scratch);
    m->scratch = arena_new();
}

static inline void run_items(Machine *m, int from, int to)
{
    walk_items(m->s, from, to, m, machine_visit, machine_free_scratch);
}

// An operand for the whole value at its own address, to store a value without producer or to load
// an output.
static Operand whole(const Machine *m, ValueId v)
{
    const Value *x = value_of(m->s->g, v);
    Operand o = {.value = v, .base = v, .address = m->s->address[v]};

    dense_strides(x->rank, x->dim, o.stride);
    return o;
}

#endif
