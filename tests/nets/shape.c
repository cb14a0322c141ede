// Layers that move, add up, select and look up elements. Each returns a value of the shape of x.
#include <string.h>

#include "tests/nets/net.h"

// ---- reductions ----

static ValueId reduced(Net *n, ValueId x, int which, int k, const int64_t *axes)
{
    Graph *g = n->g;

    switch (which % 6) {
    case 1:
        return make_mean(g, x, k, axes);
    case 2:
        return make_reduce_max(g, x, k, axes);
    case 3:
        return make_reduce_min(g, x, k, axes);
    case 4: {  // a variance
        ValueId mean = make_mean(g, x, k, axes);
        return make_mean(g, make_square(g, make_sub(g, x, broadcast_over(g, mean, x, k, axes))), k,
                         axes);
    }
    case 5:  // a norm
        x = make_reduce_sum(g, make_square(g, x), k, axes);
        return make_sqrt(g, make_add(g, x, scalar_like(g, x, 0.01)));
    default:
        x = make_reduce_sum(g, x, k, axes);
        return make_mul(g, x, scalar_like(g, x, 0.3));
    }
}

static ValueId joined(Net *n, ValueId x, ValueId y, int how)
{
    Graph *g = n->g;

    switch (how % 6) {
    case 1:
        return make_add(g, x, y);
    case 2:
        return make_sub(g, x, y);
    case 3:
        return make_mul(g, x, make_sigmoid(g, y));
    case 4:
        return make_max(g, x, y);
    case 5:
        return make_div(g, x, make_add(g, make_abs(g, y), scalar_like(g, y, 1)));
    default:
        return make_mul(g, x, y);
    }
}

// arg: operator; axes; how the result joins x; whether a product of it follows.
ValueId layer_reduce(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int rank = net_rank(n, x), k = 0;
    // Sets of axes by number: the last, the first after the batch, all except the batch, the last
    // two …
    unsigned masks[] = {1u << (rank - 1), 1u << 1, (1u << rank) - 2,
                        3u << (rank - 2), 1,       (1u << rank) - 1 - 2,
                        1u << (rank / 2), 5};
    unsigned mask = masks[arg[1] % 8] & ((1u << rank) - 1);
    int64_t axes[MAX_RANK];

    for (int i = 0; i < rank; i++)
        if (mask >> i & 1)
            axes[k++] = i;
    ValueId s = reduced(n, x, arg[0], k, axes);
    if (s && arg[3] % 3 == 1 && !(mask >> n->axis & 1)) {
        int axis = n->axis;
        for (int i = 0; i < k; i++)
            axis -= axes[i] < n->axis;
        s = net_linear(n, s, axis, net_size(n, s, axis), true, false);
    }
    return s ? joined(n, x, broadcast_over(g, s, x, k, axes), arg[2]) : 0;
}

// Joins x with (x[…, :-1] * x[…, 1:]) summed over an axis.
ValueId layer_neighbours(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int rank = net_rank(n, x), axis = 1 + arg[0] % (rank - 1);
    int64_t over[] = {1 + arg[1] % (rank - 1)}, size = net_size(n, x, axis);

    if (size < 2)
        return x;
    ValueId p = make_mul(g, net_part(n, x, axis, 0, size - 1), net_part(n, x, axis, 1, size - 1));
    ValueId s = make_reduce_sum(g, p, 1, over);
    s = make_mul(g, s, scalar_like(g, s, 0.3));
    if (axis == over[0])
        return joined(n, x, broadcast_over(g, s, x, 1, over), arg[2]);
    // The result is one element short, so its first element is repeated.
    int at = axis - (axis > over[0]);
    s = make_concat(g, 2, (ValueId[]){net_part(n, s, at, 0, 1), s}, at);
    return joined(n, x, broadcast_over(g, s, x, 1, over), arg[2]);
}

// ---- positions ----

static ValueId stepped(Net *n, ValueId x, int axis, int64_t from, int64_t size, int64_t step)
{
    Value v = *value_of(n->g, x);
    int64_t start[MAX_RANK] = {0}, stride[MAX_RANK];

    for (int i = 0; i < v.rank; i++)
        stride[i] = 1;
    start[axis] = from;
    v.dim[axis] = size;
    stride[axis] = step;
    return make_slice(n->g, x, start, v.dim, stride);
}

// arg: how; axis; distance; whether x is added.
ValueId layer_roll(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int axis = 1 + arg[1] % (net_rank(n, x) - 1);
    int64_t size = net_size(n, x, axis), by = size > 1 ? 1 + arg[2] % (size - 1) : 0;
    ValueId y = x;

    if (!by)
        return x;
    switch (arg[0] % 5) {
    case 0:
        y = make_concat(
            g, 2, (ValueId[]){net_part(n, x, axis, by, size - by), net_part(n, x, axis, 0, by)},
            axis);
        break;
    case 1:
        y = stepped(n, x, axis, size - 1, size, -1);
        break;
    case 2:  // the even elements, then the odd ones
        y = make_concat(g, 2,
                        (ValueId[]){stepped(n, x, axis, 0, (size + 1) / 2, 2),
                                    stepped(n, x, axis, 1, size / 2, 2)},
                        axis);
        break;
    case 3:  // as in rotary embeddings: rotated, with one part negated
        y = make_concat(g, 2,
                        (ValueId[]){make_neg(g, net_part(n, x, axis, by, size - by)),
                                    net_part(n, x, axis, 0, by)},
                        axis);
        break;
    default:  // an activation of a part
        y = make_concat(g, 2,
                        (ValueId[]){net_activation(n, net_part(n, x, axis, 0, by), arg[3], arg[2]),
                                    net_part(n, x, axis, by, size - by)},
                        axis);
    }
    return arg[3] % 2 ? make_add(g, x, y) : y;
}

// Pads x and takes a part of x's size, from another offset.
ValueId layer_pad(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int axis = 1 + arg[0] % (net_rank(n, x) - 1);
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, inner[MAX_RANK] = {0};
    int64_t size = net_size(n, x, axis);

    low[axis] = 1 + arg[1] % 2;
    high[axis] = arg[1] % 3;
    inner[axis] = arg[2] % 3 == 2;
    ValueId y = make_pad(g, x, low, high, inner, arg[3] % 3 * 0.5);
    y = net_part(n, y, axis, arg[2] % (low[axis] + 1), size);
    return arg[3] % 2 ? make_add(g, x, y) : y;
}

// ---- tables and indices ----

// Indices along one dim of x; with `by_sample` each sample has its own.
static ValueId draw_indices(Net *n, ValueId x, int axis, int which, bool by_sample)
{
    Graph *g = n->g;
    int64_t size = net_size(n, x, axis), dim[] = {net_size(n, x, 0), size}, dims[] = {1};
    ValueId index = net_indices(n, size, size, which);

    if (!by_sample)
        return index;
    index = make_add(g, make_broadcast(g, index, 2, dim, dims), make_iota(g, I64, 2, dim, 0));
    return make_mod(g, index, scalar_like(g, index, (double)size));
}

// arg: axis; which indices; whether x is added; whether each sample has indices of its own.
ValueId layer_gather(Net *n, ValueId x, const int *arg)
{
    int axis = 1 + arg[0] % (net_rank(n, x) - 1), batch = arg[3] % 2;
    ValueId y = make_gather(n->g, x, draw_indices(n, x, axis, arg[1], batch), axis, batch);

    return arg[2] % 2 ? make_add(n->g, x, y) : y;
}

// As layer_gather, and arg[3] / 2: how rows are put into the table.
ValueId layer_scatter(Net *n, ValueId x, const int *arg)
{
    static const char *const reductions[] = {"add", "add", "last", "max", "min", "mul"};
    int axis = 1 + arg[0] % (net_rank(n, x) - 1), batch = arg[3] % 2;
    const char *reduction = reductions[arg[3] / 2 % 6];
    ValueId index = draw_indices(n, x, axis, arg[1], batch), rows = x, onto = 0;

    if (reduction[0] != 'a' || arg[2] / 2 % 2)
        onto =
            make_add(n->g, make_mul(n->g, x, scalar_like(n->g, x, 0.7)), scalar_like(n->g, x, 0.1));
    if (!strcmp(reduction, "mul"))
        rows = make_cos(n->g, x);
    ValueId y = make_scatter(n->g, rows, index, onto, reduction, axis, batch, net_size(n, x, axis));

    return arg[2] % 2 ? make_add(n->g, x, y) : y;
}

ValueId layer_cumsum(Net *n, ValueId x, const int *arg)
{
    int axis = 1 + arg[0] % (net_rank(n, x) - 1);
    ValueId y = make_cumsum(n->g, x, axis, arg[1] % 2, arg[2] % 2);

    y = make_mul(n->g, y, scalar_like(n->g, y, 0.4));
    return arg[3] % 2 ? make_add(n->g, x, y) : y;
}

// Concatenates x with values made from x, and goes back to x's width.
ValueId layer_beside(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int64_t width = net_size(n, x, n->axis);
    ValueId part[] = {x, net_activation(n, x, arg[0], arg[1]), x};

    if (arg[2] % 3 == 2)
        part[2] = net_linear(n, x, n->axis, 1 + arg[1] % 3, true, false);
    ValueId all = make_concat(g, arg[2] % 3 ? 3 : 2, part, n->axis);
    if (!all)
        return 0;
    return arg[3] % 2 ? net_part(n, all, n->axis, net_size(n, all, n->axis) - width, width)
                      : net_linear(n, all, n->axis, width, false, false);
}

// Keeps x where an index, perhaps shifted, has no bit of a mask. arg: axis; shift; mask; other
// number.
ValueId layer_bits(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value v = *value_of(g, x);
    DType t = arg[2] % 2 ? I64 : U8;
    ValueId index = make_iota(g, t, v.rank, v.dim, 1 + arg[0] % (v.rank - 1));
    ValueId by = scalar_like(g, index, arg[1] % 3);

    if (arg[1] % 2)
        index = make_shift_left(g, index, by);
    else
        index = make_shift_right(g, index, by);
    ValueId bits = make_bit_and(g, index, scalar_like(g, index, 1 + arg[2] % 3));
    ValueId hit = make_eq(g, bits, scalar_like(g, bits, 0));
    return make_select(g, hit, x, scalar_like(g, x, 0.3 * (arg[3] % 3)));
}

// Keeps x where a condition on indices, a table or x itself holds; elsewhere another number.
ValueId layer_mask(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value v = *value_of(g, x);
    int axis = 1 + arg[1] % (v.rank - 1);
    ValueId index = make_iota(g, I64, v.rank, v.dim, axis), hit;

    switch (arg[0] % 5) {
    case 1:
        index = make_mod(g, index, scalar_like(g, index, 2));
        hit = make_eq(g, index, scalar_like(g, index, arg[2] % 2));
        break;
    case 2:
        hit = make_lt(g, make_iota(g, I64, v.rank, v.dim, 1),
                      make_iota(g, I64, v.rank, v.dim, v.rank - 1));
        break;
    case 3:
        hit = make_lt(g, x, scalar_like(g, x, 0.1 * (arg[2] % 5)));
        break;
    case 4: {
        int64_t dim[] = {v.dim[axis]};
        ValueId t = net_along(n, net_table(n, 1, dim, arg[2]), x, axis);
        hit = make_not(g, make_lt(g, t, scalar_like(g, t, 0.2)));
        break;
    }
    default:
        hit = make_lt(g, index, scalar_like(g, index, 1 + arg[2] % 3));
    }
    return make_select(g, hit, x, scalar_like(g, x, 0.3 * (arg[3] % 3)));
}

// Applies a table of one dim, or of all dims except the batch: constant, learned, or a buffer.
ValueId layer_table(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value v = *value_of(g, x);
    int axis = 1 + arg[1] % (v.rank - 1), k = 0;
    int64_t dim[MAX_RANK], dims[MAX_RANK];

    for (int i = 1; i < v.rank; i++)
        if (arg[0] % 2 || i == axis) {
            dim[k] = v.dim[i];
            dims[k++] = i;
        }
    ValueId t = arg[2] % 3 == 0   ? net_table(n, k, dim, arg[3])
                : arg[2] % 3 == 1 ? net_parameter(n, "table", k, dim)
                                  : net_buffer(n, "var", k, dim);
    t = make_broadcast(g, t, v.rank, v.dim, dims);
    return arg[3] % 2 ? make_mul(g, x, t) : make_add(g, x, t);
}

ValueId layer_softmax(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int axis = 1 + arg[0] % (net_rank(n, x) - 1);

    if (arg[1] % 3 == 2)
        return make_mul(g, x, make_softmax(g, x, axis));
    return arg[1] % 3 ? make_log_softmax(g, x, axis) : make_softmax(g, x, axis);
}

// ---- views ----

// Views x under another shape or order of dims, applies an operator, and views it back.
ValueId layer_turn(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value v = *value_of(g, x), flat = {.rank = 2, .dim = {v.dim[0], 1}};
    int64_t perm[MAX_RANK], c = v.dim[1];

    for (int i = 1; i < v.rank; i++)
        flat.dim[1] *= v.dim[i];
    if (arg[0] % 4 == 0) {  // flattened
        x = make_reshape(g, x, 2, flat.dim);
        if (arg[1] % 2 && flat.dim[1] <= 64) {
            int axis = n->axis;
            n->axis = 1;
            x = net_linear(n, x, 1, flat.dim[1], true, false);
            n->axis = axis;
        } else {
            x = make_cumsum(g, net_activation(n, x, arg[2], arg[3]), 1, true, false);
        }
        return make_reshape(g, x, v.rank, v.dim);
    }
    if (arg[0] % 4 == 1) {  // dims in reverse order
        for (int i = 0; i < v.rank; i++)
            perm[i] = v.rank - 1 - i;
        x = net_activation(n, make_transpose(g, x, perm), arg[2], arg[3]);
        return make_transpose(g, x, perm);
    }
    if (arg[0] % 4 == 2 && c % 2 == 0) {  // a shuffle of channels
        Value w = v;
        w.rank = v.rank + 1;
        w.dim[1] = 2;
        w.dim[2] = c / 2;
        for (int i = 2; i < v.rank; i++)
            w.dim[i + 1] = v.dim[i];
        for (int i = 0; i < w.rank; i++)
            perm[i] = i == 1 ? 2 : i == 2 ? 1 : i;
        x = make_transpose(g, make_reshape(g, x, w.rank, w.dim), perm);
        return make_reshape(g, x, v.rank, v.dim);
    }
    // Transposes the last two dims, and reshapes the result to x's shape.
    for (int i = 0; i < v.rank; i++)
        perm[i] = i;
    perm[v.rank - 1] = v.rank - 2;
    perm[v.rank - 2] = v.rank - 1;
    if (v.rank == 2)
        return net_activation(n, x, arg[2], arg[3]);
    return make_reshape(g, make_transpose(g, x, perm), v.rank, v.dim);
}

// Sorts the elements of an axis in descending order, or masks all except the largest.
ValueId layer_order(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int axis = 1 + arg[0] % (net_rank(n, x) - 1);
    int64_t axes[] = {axis};
    Value v = *value_of(g, x);

    if (arg[1] % 2 == 0)
        return make_top_k(g, x, axis, v.dim[axis]);
    ValueId most = broadcast_over(g, make_arg_max(g, x, axis), x, 1, axes);
    ValueId hit = make_eq(g, make_iota(g, I64, v.rank, v.dim, axis), most);
    return make_select(g, hit, x, make_mul(g, x, scalar_like(g, x, 0.25 * (1 + arg[2] % 3))));
}

// Does a part of the work in f64.
ValueId layer_wide(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    ValueId w = make_cast(g, x, F64);
    int64_t axes[] = {1 + arg[0] % (net_rank(n, x) - 1)};

    if (arg[1] % 2)
        w = make_sub(g, w, broadcast_over(g, make_mean(g, w, 1, axes), w, 1, axes));
    else
        w = make_tanh(g, w);
    return make_cast(g, w, F32);
}
