// The gradients of a scatter that doesn't add: which of a table's elements and of the rows that are
// put there has the result's gradient, or how they share it.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

// A scatter and its parts, from which nodes of its gradient are made.
typedef struct Scatter {
    Graph *g;
    const Node *n;
    ValueId rows, index, onto, dy;
    int axis, batch;
    int64_t size;  // rows of the table
} Scatter;

static ValueId put(const Scatter *s, ValueId rows, ValueId onto, const char *reduction)
{
    return make_scatter(s->g, rows, s->index, onto, reduction, s->axis, s->batch, s->size);
}

static ValueId at_rows(const Scatter *s, ValueId table)
{
    return make_gather(s->g, table, s->index, s->axis, s->batch);
}

static ValueId is_equal_to(const Scatter *s, ValueId x, double c)
{
    return make_eq(s->g, x, scalar_like(s->g, x, c));
}

// x where c holds, else 0.
static ValueId only_where(const Scatter *s, ValueId c, ValueId x)
{
    return make_select(s->g, c, x, scalar_like(s->g, x, 0));
}

// ---- last ----

// Is each row the last one at its index? A truth value for each row's element; 0: all rows are, as
// there is one for each batch entry.
static ValueId is_last(const Scatter *s)
{
    Graph *g = s->g;
    Value index = *value_of(g, s->index), rows = *value_of(g, s->rows);
    int64_t axes[MAX_RANK], dim[MAX_RANK], dims[MAX_RANK];

    if (index.rank == s->batch)
        return 0;
    for (int i = 0; i < index.rank; i++) {
        axes[i] = i + s->batch;
        dims[i] = i < s->batch ? i : s->axis + i - s->batch;
    }
    ValueId position = positions_along(g, s->index, index.rank - s->batch, axes);
    memcpy(dim, index.dim, sizeof dim);
    dim[s->batch] = s->size;
    ValueId none = broadcast_to(g, graph_scalar(g, I64, 0), s->batch + 1, dim);
    ValueId last = make_scatter(g, position, s->index, none, "last", s->batch, s->batch, s->size);
    ValueId is = make_eq(g, make_gather(g, last, s->index, s->batch, s->batch), position);
    return make_broadcast(g, is, rows.rank, rows.dim, dims);
}

// The last row at an index has the gradient there, the table's elements have it elsewhere.
static void grad_last(const Scatter *s, const bool *want, ValueId *dx)
{
    ValueId is = want[0] ? is_last(s) : 0;

    if (want[0])
        dx[0] = is ? only_where(s, is, at_rows(s, s->dy)) : at_rows(s, s->dy);
    if (want[SCATTER_ONTO])
        dx[SCATTER_ONTO] = put(s, scalar_like(s->g, s->rows, 0), s->dy, "last");
}

// ---- mul ----

static ValueId without_zeros(const Scatter *s, ValueId x)
{
    return make_select(s->g, is_equal_to(s, x, 0), scalar_like(s->g, x, 1), x);
}

// dy times the product of all other factors of x's element: `product` is that of all that aren't 0,
// `zeros` is how many are.
static ValueId product_of_others(const Scatter *s, ValueId x, ValueId dy, ValueId product,
                                 ValueId zeros)
{
    Graph *g = s->g;
    ValueId is_zero = is_equal_to(s, x, 0);
    ValueId only = only_where(s, is_equal_to(s, zeros, 1), product);
    ValueId quotient =
        only_where(s, is_equal_to(s, zeros, 0), make_div(g, product, without_zeros(s, x)));

    return make_mul(g, dy, make_select(g, is_zero, only, quotient));
}

static ValueId zeros_of(const Scatter *s, ValueId x)
{
    return make_cast(s->g, is_equal_to(s, x, 0), value_of(s->g, x)->dtype);
}

static void grad_product(const Scatter *s, const bool *want, ValueId *dx)
{
    ValueId product = put(s, without_zeros(s, s->rows), without_zeros(s, s->onto), "mul");
    ValueId zeros = put(s, zeros_of(s, s->rows), zeros_of(s, s->onto), "add");

    if (want[0])
        dx[0] = product_of_others(s, s->rows, at_rows(s, s->dy), at_rows(s, product),
                                  at_rows(s, zeros));
    if (want[SCATTER_ONTO])
        dx[SCATTER_ONTO] = product_of_others(s, s->onto, s->dy, product, zeros);
}

// ---- max, min ----

// All that equal the extreme one share its gradient evenly.
static void grad_extreme(const Scatter *s, const bool *want, ValueId *dx)
{
    Graph *g = s->g;
    ValueId y = s->n->out[0], is_table = make_eq(g, s->onto, y);
    ValueId is_row = make_eq(g, s->rows, at_rows(s, y));
    DType t = value_of(g, y)->dtype;
    ValueId count = put(s, make_cast(g, is_row, t), make_cast(g, is_table, t), "add");
    ValueId share = make_div(g, s->dy, count);

    if (want[0])
        dx[0] = only_where(s, is_row, at_rows(s, share));
    if (want[SCATTER_ONTO])
        dx[SCATTER_ONTO] = only_where(s, is_table, share);
}

void grad_scatter(Graph *g, const Node *n, ValueId dy, const bool *want, ValueId *dx)
{
    Scatter s = {.g = g,
                 .n = n,
                 .rows = n->in[0],
                 .index = n->in[1],
                 .onto = n->in[SCATTER_ONTO],
                 .dy = dy,
                 .axis = (int)n->attr[GATHER_AXIS].i,
                 .batch = (int)n->attr[GATHER_BATCH].i,
                 .size = n->attr[SCATTER_N].i};
    const char *reduction = n->attr[SCATTER_REDUCTION].s;

    if (!strcmp(reduction, "last"))
        grad_last(&s, want, dx);
    else if (!strcmp(reduction, "mul"))
        grad_product(&s, want, dx);
    else
        grad_extreme(&s, want, dx);
}
