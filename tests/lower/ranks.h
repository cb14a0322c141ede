// Runs all ranks of a sharded graph in one process. Nodes run through the operators' own eval, on
// each rank's shard without padding, and collectives are plain loops. The ranks' results together
// must equal those of graph_eval on the whole graph.
#ifndef SHARDCC_TESTS_LOWER_RANKS_H
#define SHARDCC_TESTS_LOWER_RANKS_H

#include <math.h>
#include <string.h>

#include "ir/operator/operator.h"
#include "lower/lower.h"

typedef struct RankTensors {
    const Sharded *s;
    const Mesh *mesh;
    int n;           // ranks
    Tensor **value;  // [rank][ValueId of s->g]
    Arena *arena;
} RankTensors;

// ---- shards of values ----

static inline Tensor shard_new(const RankTensors *c, ValueId v, int rank)
{
    const Value *x = value_of(c->s->g, v);
    int64_t dim[MAX_RANK] = {0};

    sharded_dims(c->s, v, rank, dim);
    return tensor_new(c->arena, x->dtype, x->rank, dim);
}

static inline void shard_offset(const RankTensors *c, ValueId v, int rank, int64_t *offset)
{
    const Value *of = value_of(c->s->whole, c->s->value[v].of);
    int64_t extent;

    for (int i = 0; i < of->rank; i++)
        spec_shard(c->mesh, &c->s->value[v].spec, i, of->dim[i], rank, &offset[i], &extent);
}

static inline Tensor shard_of_whole(const RankTensors *c, ValueId v, int rank, const Tensor *whole)
{
    Tensor t = shard_new(c, v, rank);
    int64_t offset[MAX_RANK] = {0}, zero[MAX_RANK] = {0};

    shard_offset(c, v, rank, offset);
    tensor_box(whole, offset, &t, zero, t.dim, NULL);
    return t;
}

static inline double plus(double a, double b) { return a + b; }
static inline int64_t plus_int(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t more_int(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t less_int(int64_t a, int64_t b) { return a < b ? a : b; }
static inline double more(double a, double b) { return a > b || a != a ? a : b; }
static inline double less(double a, double b) { return a < b || a != a ? a : b; }

// Joins the ranks' shards of a value. Partial ones are reduced. Of replicas the first one counts,
// and *same becomes false if another replica's bits differ.
static inline Tensor join_shards(const RankTensors *c, ValueId v, bool *same)
{
    const Spec *s = &c->s->value[v].spec;
    const Value *of = value_of(c->s->whole, c->s->value[v].of);
    Tensor t = tensor_new(c->arena, of->dtype, of->rank, of->dim);
    const Fold sum = {0, plus, 0, plus_int}, max = {0, more, 0, more_int},
               min = {0, less, 0, less_int};
    int partial = spec_partial(s);
    const Fold *fold = partial == SPEC_MAX ? &max : partial == SPEC_MIN ? &min : &sum;

    for (int rank = 0; rank < c->n; rank++) {
        int64_t offset[MAX_RANK] = {0}, zero[MAX_RANK] = {0};
        const Tensor *shard = &c->value[rank][v];
        bool is_first = true;
        int replica = rank;  // the first rank with the same shard
        for (int a = 0; a < c->mesh->n_axes; a++) {
            int at = mesh_coordinate(c->mesh, a, rank);
            if (s->at[a] == SPEC_REPLICATED)
                replica -= at * mesh_stride(c->mesh, a);
            is_first &= s->at[a] >= SPEC_REPLICATED || at == 0;
        }
        size_t bytes = (size_t)tensor_count(shard) * 8;
        const Tensor *like = &c->value[replica][v];
        if (bytes && memcmp(shard->f ? (void *)shard->f : shard->i,
                            shard->f ? (void *)like->f : like->i, bytes))
            *same = false;
        shard_offset(c, v, rank, offset);
        if (replica == rank)
            tensor_box(shard, zero, &t, offset, shard->dim, is_first ? NULL : fold);
    }
    tensor_round(&t);
    return t;
}

// ---- nodes ----

static inline void eval_shards(RankTensors *c, NodeId id)
{
    const Node *n = &c->s->g->nodes[id];

    for (int rank = 0; rank < c->n; rank++) {
        Tensor *x = arena_array(c->arena, Tensor, n->n_in), y[MAX_OUTPUTS];
        NodeShard p = {{0}, {0}};
        sharded_node(c->s, id, rank, &p);
        for (int i = 0; i < n->n_in; i++)
            x[i] = n->in[i] ? c->value[rank][n->in[i]] : (Tensor){0};
        for (int i = 0; i < n->n_out; i++)
            y[i] = shard_new(c, n->out[i], rank);
        node_eval_shard(c->s->g, n, &p, x, y);
        for (int i = 0; i < n->n_out; i++)
            c->value[rank][n->out[i]] = y[i];
    }
}

// Lists the ranks that differ from `first` only along the node's axes, row-major. Returns 0 if
// `first` isn't the first of them.
static inline int find_group(const RankTensors *c, const Node *n, int first, int *rank)
{
    const Attr *axes = &n->attr[EXCHANGE_AXES], *ranks = &n->attr[EXCHANGE_RANKS];
    int count = 1;

    rank[0] = first;
    for (int i = 0; i < axes->n; i++) {
        int axis = (int)axes->v[i], stride = mesh_stride(c->mesh, axis);
        if (mesh_coordinate(c->mesh, axis, first))
            return 0;
        for (int k = count * (int)ranks->v[i] - 1; k >= 0; k--)
            rank[k] = rank[k / ranks->v[i]] + k % (int)ranks->v[i] * stride;
        count *= (int)ranks->v[i];
    }
    return count;
}

static inline void eval_exchange(RankTensors *c, const Node *n)
{
    int *rank = arena_array(c->arena, int, c->n);

    for (int first = 0; first < c->n; first++) {
        int count = find_group(c, n, first, rank);
        Tensor *x = arena_array(c->arena, Tensor, count), *y = arena_array(c->arena, Tensor, count);
        for (int k = 0; k < count; k++) {
            x[k] = c->value[rank[k]][n->in[0]];
            y[k] = shard_new(c, n->out[0], rank[k]);
        }
        if (count)
            n->op->exchange(n, count, x, y);
        for (int k = 0; k < count; k++) {
            tensor_round(&y[k]);
            c->value[rank[k]][n->out[0]] = y[k];
        }
    }
}

// Runs all ranks. `whole` holds the values without producer, by ValueId of s->whole.
static inline RankTensors all_ranks_eval(Arena *a, const Sharded *s, const Tensor *whole)
{
    RankTensors c = {.s = s, .mesh = &s->plan->mesh, .n = mesh_ranks(&s->plan->mesh), .arena = a};
    const Graph *g = s->g;

    c.value = arena_array(a, Tensor *, c.n);
    for (int rank = 0; rank < c.n; rank++)
        c.value[rank] = arena_array(a, Tensor, g->n_values);
    for (int rank = 0; rank < c.n; rank++)
        for (ValueId v = 1; v < g->n_values; v++)
            if (!value_of(g, v)->producer)
                c.value[rank][v] = shard_of_whole(&c, v, rank, &whole[s->value[v].of]);
    for (NodeId n = 1; n < g->n_nodes; n++) {
        if (g->nodes[n].op->exchange)
            eval_exchange(&c, &g->nodes[n]);
        else
            eval_shards(&c, n);
    }
    return c;
}

#endif
