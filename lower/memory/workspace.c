// Finds the workspace of kernels before it is known where their operands lie.
#include <string.h>

#include "ir/build.h"
#include "lower/internal.h"

static ValueId shard_input(Graph *g, const Value *x, const Mesh *m, const Spec *s)
{
    int64_t dim[MAX_RANK];

    for (int i = 0; i < x->rank; i++)
        dim[i] = spec_chunk(m, s, i, x->dim[i]);
    return graph_value(g, VALUE_INPUT, x->name, x->dtype, x->rank, dim);
}

// A node's shard alone in a graph; NULL if there is no such node.
static const Node *shard_node(Graph *to, const Graph *g, const Node *n, const Rule *r,
                              const Mesh *m, const Strategy *s)
{
    ValueId *inputs = arena_array(to->arena, ValueId, n->n_in);
    Attr attr[MAX_ATTRS];

    for (int i = 0; i < n->n_in; i++) {
        Spec spec = strategy_spec(r, s, i);
        inputs[i] = n->in[i] ? shard_input(to, in(g, n, i), m, &spec) : 0;
    }
    localise_node(to->arena, n, r, m, s, attr);
    ValueId first = graph_node(to, n->op, n->n_in, inputs, attr);
    return first ? producer(to, first) : NULL;
}

int64_t shard_workspace(const Target *t, const Graph *g, const Node *n, const Rule *r,
                        const Mesh *m, const Strategy *s)
{
    if (n->op->expr || n->op->view || n->op->subview || !n->op->kernel)
        return 0;
    Arena *a = arena_new();
    Graph *to = graph_new(a, "shard");
    const Node *x = shard_node(to, g, n, r, m, s);
    int count = n->n_in + n->n_out;
    int64_t(*stride)[MAX_RANK] = arena_alloc(a, (size_t)count, sizeof *stride);
    Kernel k = {.want = arena_alloc(a, (size_t)count, sizeof *stride), .whole = r->size};

    for (int i = 0; x && i < count; i++) {
        ValueId v = i < x->n_in ? x->in[i] : x->out[i - x->n_in];
        if (v)
            dense_strides(value_of(to, v)->rank, value_of(to, v)->dim, stride[i]);
    }
    if (x)
        node_kernel(to, x, (const int64_t(*)[MAX_RANK])stride, &k);
    arena_free(a);
    return target_workspace(t, &k);
}
