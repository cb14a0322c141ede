// Operators on shards: the attributes of a shard, and checks, kernels and evaluation of
// collectives.
#include <math.h>
#include <string.h>

#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

// ---- attributes of shards ----

// A factor that can't be split keeps the operand's size, which may differ from the factor's.
void localise_dims(Arena *a, const Rule *r, int operand, const int64_t *size, Attr *attr)
{
    int64_t *v = arena_array(a, int64_t, attr->n);

    for (int i = 0; i < attr->n; i++) {
        int f = r->dim[operand][i];
        v[i] = r->kind[f] < FACTOR_WINDOW ? size[f] : attr->v[i];
    }
    attr->v = v;
}

void localise_shape(Arena *a, const Node *n, const Rule *r, const int64_t *size, Attr *attr)
{
    localise_dims(a, r, n->n_in, size, &attr[0]);
}

// ---- types and rules of collectives ----

bool infer_exchange(const Graph *g, const Node *n, Diag *d)
{
    enum { MAX_AXES = 16, MAX_RANKS = 1 << 20 };
    const Attr *axes = &n->attr[EXCHANGE_AXES], *ranks = &n->attr[EXCHANGE_RANKS];
    int64_t all = 1;
    unsigned seen = 0;

    if (!axes->n || axes->n != ranks->n)
        return node_error(g, n, d, "axes and ranks must be lists of one length");
    for (int i = 0; i < axes->n; i++) {
        if (axes->v[i] < 0 || axes->v[i] >= MAX_AXES || seen >> axes->v[i] & 1)
            return node_error(g, n, d, "axis %" PRId64 " is out of range or named twice",
                              axes->v[i]);
        if (ranks->v[i] < 1 || !mul_size(all, ranks->v[i], &all) || all > MAX_RANKS)
            return node_error(g, n, d, "%" PRId64 " ranks are out of range", ranks->v[i]);
        seen |= 1u << axes->v[i];
    }
    return true;
}

bool infer_exchange_dim(const Graph *g, const Node *n, int attr, Diag *d)
{
    return infer_axis(g, n, n->op->attrs[attr].name, n->attr[attr].i, in(g, n, 0)->rank, d);
}

int64_t exchange_shard(const Node *n, int64_t size)
{
    const Attr *ranks = &n->attr[EXCHANGE_RANKS];

    for (int i = 0; i < ranks->n; i++)
        size = size / ranks->v[i] + (size % ranks->v[i] != 0);
    return size;
}

bool infer_exchange_size(const Graph *g, const Node *n, int attr, int64_t size, Diag *d)
{
    int64_t shard = in(g, n, 0)->dim[n->attr[attr].i];

    if (size < 0 || exchange_shard(n, size) != shard)
        return node_error(g, n, d, "%" PRId64 " elements have no shard of %" PRId64, size, shard);
    return true;
}

bool infer_reduction(const Graph *g, const Node *n, int attr, Diag *d)
{
    const char *op = n->attr[attr].s ? n->attr[attr].s : "";

    if (strcmp(op, "sum") && strcmp(op, "max") && strcmp(op, "min"))
        return node_error(g, n, d, "op is none of sum, max and min");
    return true;
}

void rule_exchange(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    for (int i = 0; i < r->n_factors; i++)
        r->kind[i] = FACTOR_BLOCKED;
}

// ---- kernels ----

RtExchange exchange_flat(const Value *v)
{
    return (RtExchange){.outer = 1, .whole = value_count(v), .inner = 1};
}

bool exchange_is_last(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK])
{
    return out(g, n)->rank > 2 && is_channels_last(out(g, n), stride[n->n_in]);
}

int exchange_position(const Value *v, int dim, bool is_last)
{
    if (!is_last || dim == 0)
        return dim;
    return dim == 1 ? v->rank - 1 : dim - 1;
}

int64_t exchange_count(const Value *v, int first, int last, bool is_last)
{
    int64_t n = 1;

    for (int i = 0; i < v->rank; i++) {
        int position = exchange_position(v, i, is_last);
        n *= position >= first && position < last ? v->dim[i] : 1;
    }
    return n;
}

RtExchange exchange_around(const Value *v, int dim, bool is_last)
{
    int position = exchange_position(v, dim, is_last);

    return (RtExchange){.outer = exchange_count(v, 0, position, is_last),
                        .whole = v->dim[dim],
                        .inner = exchange_count(v, position + 1, v->rank, is_last)};
}

static RtReduceOp reduction_rt(const char *op)
{
    return !strcmp(op, "max") ? RT_MAX : !strcmp(op, "min") ? RT_MIN : RT_SUM;
}

void kernel_exchange(const Graph *g, const Node *n, int axes, RtExchange p, int op,
                     const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Attr *along = &n->attr[EXCHANGE_AXES];

    for (int i = 0; i < along->n; i++)
        if (along->n != axes || along->v[i] >= RT_MAX_AXES)
            return;
    if (!exchange_is_last(g, n, stride))
        kernel_dense(g, n, stride, k);
    else if (!is_channels_last(in(g, n, 0), stride[0]))
        kernel_want_channels_last(g, n, 0, k);
    p.type = (RtType)in(g, n, 0)->dtype;
    p.op = op ? reduction_rt(n->attr[op].s) : RT_SUM;
    p.axis = (int)along->v[0];
    p.other = axes > 1 ? (int)along->v[1] : 0;
    k->def = kernel_find(n->op->name);
    k->params.exchange = p;
    k->ranks = (int)n->attr[EXCHANGE_RANKS].v[0];
}

// ---- evaluation ----

static double add(double a, double b) { return a + b; }

Fold exchange_fold(const Node *n, int attr, DType t)
{
    if (!strcmp(n->attr[attr].s, "max"))
        return (Fold){-INFINITY, rt_max, dtype_least(t), rt_max_int};
    if (!strcmp(n->attr[attr].s, "min"))
        return (Fold){INFINITY, rt_min, dtype_most(t), rt_min_int};
    return (Fold){.join = add, .join_int = rt_add_int};
}

int64_t exchange_offset(const Tensor *shard, int rank, int dim)
{
    int64_t offset = 0;

    for (int i = 0; i < rank; i++)
        offset += shard[i].dim[dim];
    return offset;
}

static void element_fold(Tensor *y, int64_t k, const Tensor *x, int64_t j, const Fold *fold)
{
    if (!fold)
        element_copy(y, k, x, j);
    else if (y->f)
        y->f[k] = fold->join(y->f[k], x->f[j]);
    else
        y->i[k] = fold->join_int(y->i[k], x->i[j]);
}

// Copies one row of the last dim after the other.
void tensor_box(const Tensor *x, const int64_t *x_at, Tensor *y, const int64_t *y_at,
                const int64_t *size, const Fold *fold)
{
    int rows = y->rank ? y->rank - 1 : 0;
    int64_t index[MAX_RANK] = {0}, from[MAX_RANK], to[MAX_RANK];
    int64_t length = y->rank ? size[rows] : 1;

    for (int i = 0; i < y->rank; i++)
        if (size[i] == 0)
            return;
    do {
        for (int i = 0; i < y->rank; i++) {
            from[i] = x_at[i] + index[i];
            to[i] = y_at[i] + index[i];
        }
        int64_t k = index_at(to, y->rank, y->dim), j = index_at(from, x->rank, x->dim);
        for (int64_t i = 0; i < length; i++)
            element_fold(y, k + i, x, j + i, fold);
    } while (index_next(index, rows, size));
}
