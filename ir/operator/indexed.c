// Finds the range of an input's elements: the row numbers of the tables that it indexes.
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

// Is v the number x everywhere?
static bool is_number(const Graph *g, ValueId v, int64_t x)
{
    double y;

    return value_splat(g, v, &y) && y == (double)x;
}

// Is v = select(x < 0, x + n, x), which counts negative numbers from the end? Then *x is x.
static bool counts_from_end(const Graph *g, ValueId v, int64_t n, ValueId *x)
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

// Is v a parameter, buffer or constant, seen through views and casts?
static bool is_table(const Graph *g, ValueId v)
{
    ValueKind kind = value_of(g, source_of(g, v))->kind;

    return kind == VALUE_PARAMETER || kind == VALUE_BUFFER || kind == VALUE_CONSTANT;
}

IndexRange input_range(const Graph *g, ValueId input)
{
    IndexRange r = {0};

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->op != &op_gather || !is_table(g, n->in[0]))
            continue;
        int64_t rows = in(g, n, 0)->dim[n->attr[GATHER_AXIS].i];
        ValueId index = source_of(g, n->in[1]), x;
        bool wraps = counts_from_end(g, index, rows, &x);
        if ((wraps ? source_of(g, x) : index) != input)
            continue;
        int64_t least = wraps ? -rows : 0;
        r.least = r.bound && r.least > least ? r.least : least;
        r.bound = r.bound && r.bound < rows ? r.bound : rows;
    }
    return r;
}
