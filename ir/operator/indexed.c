// Finds the range of an input's elements: the numbers of the rows that it takes or puts. Labels
// have another check: some may be ignored.
#include "ir/operator/operator.h"

// The value that v has all elements of, seen through views and casts.
static ValueId source_of(const Graph *g, ValueId v)
{
    while (value_of(g, v)->producer) {
        const Node *n = producer(g, v);
        bool moves = n->op->view && value_count(in(g, n, 0)) <= value_count(value_of(g, v));
        bool casts = n->op == &op_cast &&
                     dtype_is_float(value_of(g, v)->dtype) == dtype_is_float(in(g, n, 0)->dtype);
        if (!moves && !casts)
            break;
        v = n->in[0];
    }
    return v;
}

// Is v the number x everywhere? Folding makes short broadcasts constants.
static bool is_number(const Graph *g, ValueId v, int64_t x)
{
    double y;

    if (value_splat(g, v, &y))
        return y == (double)x;
    if (value_of(g, v)->kind != VALUE_CONSTANT || dtype_is_float(value_of(g, v)->dtype))
        return false;
    Arena *a = arena_new();
    Tensor t = tensor_of(a, value_of(g, v));
    int64_t i = 0, n = tensor_count(&t);
    while (i < n && t.i[i] == x)
        i++;
    arena_free(a);
    return i == n;
}

bool index_counts_from_end(const Graph *g, ValueId v, int64_t n, ValueId *x)
{
    const Node *select = producer(g, v), *less, *add;

    if (select->op != &op_select)
        return false;
    less = producer(g, select->in[0]);
    add = producer(g, select->in[1]);
    *x = select->in[2];
    return less->op == &op_lt && less->in[0] == *x && is_number(g, less->in[1], 0) &&
           add->op == &op_add && add->in[0] == *x && is_number(g, add->in[1], n);
}

int64_t index_bound(const Graph *g, const Node *n)
{
    const Value *table = n->op == &op_gather ? in(g, n, 0) : out(g, n);

    return table->dim[n->attr[GATHER_AXIS].i];
}

IndexRange input_range(const Graph *g, ValueId input)
{
    IndexRange r = {0};

    for (NodeId i = value_of(g, input)->is_labels ? g->n_nodes : 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if ((n->op != &op_gather && n->op != &op_scatter) || n->phase != FORWARD)
            continue;
        int64_t rows = index_bound(g, n);
        ValueId index = source_of(g, n->in[1]), x;
        bool wraps = index_counts_from_end(g, index, rows, &x);
        if ((wraps ? source_of(g, x) : index) != input)
            continue;
        int64_t least = wraps ? -rows : 0;
        r.least = r.bound && r.least > least ? r.least : least;
        r.bound = r.bound && r.bound < rows ? r.bound : rows;
    }
    return r;
}
