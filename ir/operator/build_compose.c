// Compositions of operators that several stages need, such as softmax and mean.
#include <float.h>

#include "ir/build.h"
#include "ir/internal.h"

// A copy of x's value. The value itself moves when nodes are appended.
static Value copy_of(const Graph *g, ValueId x) { return *value_of(g, x); }

ValueId broadcast_like(Graph *g, ValueId s, ValueId x)
{
    Value like = copy_of(g, x);

    if (!s || !x || !like.rank)
        return x ? s : 0;
    return make_broadcast(g, s, like.rank, like.dim, NULL);
}

ValueId scalar_like(Graph *g, ValueId x, double c)
{
    return x ? broadcast_like(g, graph_scalar(g, value_of(g, x)->dtype, c), x) : 0;
}

ValueId broadcast_over(Graph *g, ValueId s, ValueId x, int n_axes, const int64_t *axes)
{
    Value like = copy_of(g, x);
    int64_t dims[MAX_RANK];
    int n = 0, next = 0;

    if (!s || !x || !n_axes)
        return x ? s : 0;
    for (int i = 0; i < like.rank; i++) {
        if (next < n_axes && axes[next] == i)
            next++;
        else
            dims[n++] = i;
    }
    return make_broadcast(g, s, like.rank, like.dim, dims);
}

static ValueId broadcast_clash(Graph *g, ValueId x, int rank, const int64_t *dim)
{
    Value wanted = {.dtype = value_of(g, x)->dtype, .rank = rank};

    for (int i = 0; i < rank; i++)
        wanted.dim[i] = dim[i];
    diag_error(g->diag, "node '%s': '%s' does not broadcast from %s to %s",
               g->source && g->source->name ? g->source->name : "", value_label(g->arena, g, x),
               type_text(g->arena, value_of(g, x)), type_text(g->arena, &wanted));
    if (g->source && g->source->scope && g->source->scope[0])
        diag_note(g->diag, "from  %s", g->source->scope);
    return 0;
}

ValueId broadcast_to(Graph *g, ValueId x, int rank, const int64_t *dim)
{
    Value from = copy_of(g, x);
    int64_t kept[MAX_RANK], dims[MAX_RANK];
    int n = 0, shift = rank - from.rank;

    if (!x)
        return 0;
    if (shift < 0 || rank > MAX_RANK)
        return broadcast_clash(g, x, rank < MAX_RANK ? rank : MAX_RANK, dim);
    for (int i = 0; i < from.rank; i++) {
        if (from.dim[i] != dim[shift + i] && from.dim[i] != 1)
            return broadcast_clash(g, x, rank, dim);
        if (from.dim[i] != dim[shift + i])
            continue;
        kept[n] = from.dim[i];
        dims[n++] = shift + i;
    }
    if (n == rank)
        return x;
    if (n < from.rank)  // drops dims of size 1 that repeat: broadcast keeps the sizes of its dims
        x = make_reshape(g, x, n, kept);
    return make_broadcast(g, x, rank, dim, dims);
}

ValueId make_clip_low(Graph *g, ValueId x, ValueId low)
{
    return make_select(g, make_le(g, x, low), low, x);
}

ValueId make_clip_high(Graph *g, ValueId x, ValueId high)
{
    return make_select(g, make_le(g, high, x), high, x);
}

// 1 / (1 + exp(-x)) as a tanh: neither it nor its gradient overflows.
ValueId make_sigmoid(Graph *g, ValueId x)
{
    ValueId half = scalar_like(g, x, 0.5);

    return make_add(g, half, make_mul(g, half, make_tanh(g, make_mul(g, half, x))));
}

// max(x, 0) + log(1 + exp(-|x|)) can't overflow. The maximum gives half of the gradient at 0, as it
// must be, and the exponential the other half of it elsewhere.
ValueId make_softplus(Graph *g, ValueId x)
{
    ValueId above = make_max(g, x, scalar_like(g, x, 0));

    return make_add(g, above, make_log1p(g, make_exp(g, make_neg(g, make_abs(g, x)))));
}

ValueId make_square(Graph *g, ValueId x) { return make_mul(g, x, x); }

ValueId make_reciprocal(Graph *g, ValueId x) { return make_div(g, scalar_like(g, x, 1), x); }

ValueId make_less_max(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    ValueId most = make_stop_gradient(g, make_reduce_max(g, x, n_axes, axes));

    return make_sub(g, x, broadcast_over(g, most, x, n_axes, axes));
}

ValueId make_softmax(Graph *g, ValueId x, int axis)
{
    int64_t axes[] = {axis};
    ValueId e = make_exp(g, make_less_max(g, x, 1, axes));
    ValueId part = make_reciprocal(g, make_reduce_sum(g, e, 1, axes));  // the sum is at least 1

    return make_mul(g, e, broadcast_over(g, part, x, 1, axes));
}

ValueId make_log_softmax(Graph *g, ValueId x, int axis)
{
    int64_t axes[] = {axis};
    ValueId low = make_less_max(g, x, 1, axes);
    ValueId sum = make_reduce_sum(g, make_exp(g, low), 1, axes);

    return make_sub(g, low, broadcast_over(g, make_log(g, sum), x, 1, axes));
}

// Bounds the maximum by the largest finite numbers, so that rows of -inf give -inf and rows with
// inf give inf.
ValueId make_log_sum_exp(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    ValueId most = make_stop_gradient(g, make_reduce_max(g, x, n_axes, axes));
    double largest = value_of(g, x)->dtype == F64 ? DBL_MAX : (double)FLT_MAX;
    ValueId high = scalar_like(g, most, largest);

    most = make_min(g, make_max(g, most, scalar_like(g, most, -largest)), high);
    ValueId e = make_exp(g, make_sub(g, x, broadcast_over(g, most, x, n_axes, axes)));
    return make_add(g, most, make_log(g, make_reduce_sum(g, e, n_axes, axes)));
}

ValueId make_pick(Graph *g, ValueId x, ValueId label, int axis)
{
    int64_t axes[] = {axis};

    if (!x || !label)
        return 0;
    Value like = copy_of(g, x);
    ValueId index = make_iota(g, value_of(g, label)->dtype, like.rank, like.dim, axis);
    ValueId hit = make_eq(g, index, broadcast_over(g, label, x, 1, axes));
    return make_reduce_sum(g, make_select(g, hit, x, scalar_like(g, x, 0)), 1, axes);
}

ValueId make_mean(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    ValueId sum = make_reduce_sum(g, x, n_axes, axes);
    double count = 1;

    for (int i = 0; i < n_axes; i++)
        count *= (double)value_of(g, x)->dim[axes[i]];
    return make_mul(g, sum, scalar_like(g, sum, 1 / count));
}
