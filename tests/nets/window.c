// Layers of windows: convolutions and pools. Where x has no spatial dims, products replace them.
#include <math.h>
#include <string.h>

#include "ir/kernel.h"
#include "tests/nets/net.h"

// A window over all spatial dims that keeps their sizes.
static Window same_window(int n, const int *size, int64_t dilation)
{
    Window w = {.n = n};

    for (int i = 0; i < n; i++) {
        int64_t reach = (size[i] - 1) * dilation;
        w.size[i] = size[i];
        w.stride[i] = 1;
        w.dilation[i] = dilation;
        w.low[i] = reach / 2;
        w.high[i] = reach - reach / 2;
    }
    return w;
}

static bool is_image(const Net *n, ValueId x) { return n->axis == 1 && net_rank(n, x) > 2; }

static void window_sizes(int arg, int n, int *size)
{
    static const int sizes[][3] = {{1, 1, 1}, {3, 3, 3}, {2, 3, 1}, {3, 1, 2}, {2, 2, 2}};

    for (int i = 0; i < n; i++)
        size[i] = sizes[arg % 5][i];
}

static ValueId with_bias(Net *n, ValueId x, bool has_bias)
{
    int64_t c = net_size(n, x, 1);

    return has_bias ? make_add(n->g, x, net_along(n, net_parameter(n, "bias", 1, &c), x, 1)) : x;
}

static ValueId convolve(Net *n, ValueId x, int64_t to, int64_t groups, const Window *w)
{
    int64_t dim[5] = {to, net_size(n, x, 1) / groups};

    for (int i = 0; i < w->n; i++)
        dim[2 + i] = w->size[i];
    return make_conv(n->g, x, net_parameter(n, "weight", 2 + w->n, dim), w, groups);
}

// Convolves with stride 2 and repeats each position twice. Odd dims keep stride 1.
static ValueId coarse(Net *n, ValueId x, int64_t to, Window *w)
{
    Graph *g = n->g;
    Value like = *value_of(g, x);

    for (int i = 0; i < w->n; i++)
        if (like.dim[2 + i] % 2 == 0 && w->size[i] <= 3) {
            w->stride[i] = 2;
            w->low[i] = w->size[i] > 1;
            w->high[i] = w->size[i] == 3;
        }
    x = convolve(n, x, to, 1, w);
    if (!x)
        return 0;
    for (int i = 0; i < w->n; i++) {
        Value v = *value_of(g, x), wide = v, flat = v;
        if (v.dim[2 + i] * 2 != like.dim[2 + i])
            continue;
        int64_t dims[MAX_RANK];
        for (int k = 0, at = 0; k < v.rank; k++) {
            dims[k] = at;
            wide.dim[at++] = v.dim[k];
            if (k == 2 + i)
                wide.dim[at++] = 2;
        }
        flat.dim[2 + i] *= 2;
        x = make_reshape(g, make_broadcast(g, x, v.rank + 1, wide.dim, dims), v.rank, flat.dim);
    }
    return x;
}

// arg: window; groups; dilation or stride; bias.
ValueId layer_conv(Net *n, ValueId x, const int *arg)
{
    int rank = net_rank(n, x), size[3];
    int64_t c = net_size(n, x, 1), groups = 1;

    if (!is_image(n, x))
        return layer_linear(n, x, arg);
    window_sizes(arg[0], rank - 2, size);
    if (arg[1] % 4 == 1 && c % 2 == 0)
        groups = 2;
    if (arg[1] % 4 == 2)
        groups = c;
    Window w = same_window(rank - 2, size, 1 + (arg[2] % 4 == 1) + 2 * (arg[2] % 4 == 3));
    ValueId y = arg[2] % 4 == 2 ? coarse(n, x, c, &w) : convolve(n, x, c, groups, &w);
    return y ? with_bias(n, y, arg[3] % 2) : 0;
}

// A depthwise convolution, then one of 1 x 1.
ValueId layer_separable(Net *n, ValueId x, const int *arg)
{
    int64_t c = net_size(n, x, 1);
    int rank = net_rank(n, x), size[3], one[3] = {1, 1, 1};

    if (!is_image(n, x))
        return layer_mlp(n, x, arg);
    window_sizes(arg[0], rank - 2, size);
    Window w = same_window(rank - 2, size, 1), point = same_window(rank - 2, one, 1);
    ValueId y = convolve(n, x, c * (1 + arg[1] % 2), c, &w);
    if (arg[2] % 3)
        y = net_activation(n, with_bias(n, y, arg[3] % 2), arg[2], arg[2]);
    return y ? convolve(n, y, c, 1, &point) : 0;
}

// A transposed convolution. Its weight is [from, to, window…].
ValueId layer_transposed_conv(Net *n, ValueId x, const int *arg)
{
    Value like = *value_of(n->g, x);
    int size[3];
    int64_t dim[5] = {like.dim[1], like.dim[1]},
            groups = arg[1] % 3 == 1 && dim[0] % 2 == 0 ? 2 : 1;

    if (!is_image(n, x))
        return layer_gate(n, x, arg);
    window_sizes(arg[0], like.rank - 2, size);
    Window w = same_window(like.rank - 2, size, 1);
    dim[1] /= groups;
    for (int i = 0; i < w.n; i++)
        dim[2 + i] = w.size[i];
    ValueId weight = net_parameter(n, "weight", like.rank, dim);
    ValueId y = make_conv_input_grad(n->g, x, weight, like.dim, &w, groups);
    return y ? with_bias(n, y, arg[3] % 2) : 0;
}

// arg: kind; window; dilation; how the result joins x.
ValueId layer_pool(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int rank = net_rank(n, x), size[3];

    if (!is_image(n, x))
        return layer_reduce(n, x, arg);
    window_sizes(arg[1] % 5 ? arg[1] : 1, rank - 2, size);
    // A dilated window needs a middle element, or else it may see only padding.
    bool is_odd = size[0] % 2 && (rank < 4 || size[1] % 2) && (rank < 5 || size[2] % 2);
    Window w = same_window(rank - 2, size, 1 + (arg[2] % 4 == 1 && is_odd));
    ValueId y = arg[0] % 2 ? make_max_pool(g, x, &w) : make_sum_pool(g, x, &w);
    if (arg[0] % 2 == 0)
        y = make_mul(g, y, scalar_like(g, y, 0.25));
    return arg[3] % 3 == 1 ? make_sub(g, y, x) : arg[3] % 3 == 2 ? make_mul(g, y, x) : y;
}

// Resamples a dim to another size, and back by the same mode or by the adjoint.
// arg: axis; size; mode; how it goes back, and whether x is added.
ValueId layer_resample(Net *n, ValueId x, const int *arg)
{
    static const char *const modes[] = {"floor", "linear", "cubic", "round_up", "linear", "cubic"};
    int axis = 1 + arg[0] % (net_rank(n, x) - 1), kind = arg[2] % 6;
    int64_t size = net_size(n, x, axis);
    int64_t to = (int64_t[]){2 * size, size + 1, (size + 1) / 2, 3 * size}[arg[1] % 4];
    Resampling r = {.mode = modes[kind],
                    .shift = kind % 2 ? 0.5 : 0,
                    .mul = (double)size,
                    .div = (double)to,
                    .offset = kind % 2 ? -0.5 : 0,
                    .cubic = -0.75,
                    .stretch = kind == 4 && to < size ? (double)size / (double)to : 1,
                    .exclude = kind == 5};

    ValueId y = make_resample(n->g, x, axis, to, &r);
    r.mul = (double)to;
    r.div = (double)size;
    y = arg[3] % 3 == 1 ? make_resample_transposed(n->g, y, axis, size,
                                                   &(Resampling){.mode = r.mode,
                                                                 .mul = (double)size,
                                                                 .div = (double)to,
                                                                 .cubic = r.cubic,
                                                                 .stretch = 1})
                        : make_resample(n->g, y, axis, size, &r);
    return arg[3] % 2 ? make_add(n->g, x, make_mul(n->g, y, scalar_like(n->g, y, 0.5))) : y;
}

// Transforms rows of real numbers, and perhaps scales their bins and goes back. arg: how many
// numbers are added to a row; back; in both directions.
ValueId layer_transform(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value v = *value_of(g, x);
    int rank = v.rank;
    int64_t size = v.dim[rank - 1], length = size + arg[0] % 3, dim[MAX_RANK];

    if (length > RT_DFT_MAX || rank == MAX_RANK)
        return x;
    memcpy(dim, v.dim, sizeof dim);
    dim[rank] = 1;
    ValueId y = make_dft(g, make_reshape(g, x, rank + 1, dim), length, length, 2, arg[1] % 2);
    y = make_mul(g, y, scalar_like(g, y, 1 / sqrt((double)length)));
    if (arg[2] % 2)
        y = net_activation(n, y, arg[2], arg[3]);
    y = make_dft(g, y, length, size, 1, arg[1] % 2 == 0);
    y = make_mul(g, y, scalar_like(g, y, 1 / sqrt((double)length)));
    return make_reshape(g, y, rank, v.dim);
}

// Samples x around each position, further away by arg[3]. arg: mode; padding; corners; distance.
// Positions differ from whole numbers by 0.05 to 0.45, so that nothing is sampled at a kink.
ValueId layer_warp(Net *n, ValueId x, const int *arg)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    Graph *g = n->g;
    Value like = *value_of(g, x);
    int spatial = like.rank - 2, size[3] = {1, 1, 1};
    int64_t perm[5] = {0};

    if (!is_image(n, x))
        return layer_scale(n, x, arg);
    Window point = same_window(spatial, size, 1);
    ValueId y = convolve(n, x, spatial, 1, &point);
    for (int i = 1; i <= spatial; i++)
        perm[i] = i + 1;
    perm[spatial + 1] = 1;
    ValueId grid = y ? make_tanh(g, make_transpose(g, y, perm)) : 0;
    if (!grid)
        return 0;
    Value v = *value_of(g, grid);
    double far = 0.25 + arg[3] % 3 * (arg[3] % 2 ? 1 : -1);
    grid = make_add(g, make_mul(g, grid, scalar_like(g, grid, 0.2)), scalar_like(g, grid, far));
    ValueId position[3];
    int64_t one[5];
    for (int i = 0; i < v.rank; i++)
        one[i] = i == v.rank - 1 ? 1 : v.dim[i];
    for (int i = 0; i < spatial; i++)
        position[i] = make_iota(g, F32, v.rank, one, spatial - i);
    ValueId base = spatial == 1 ? position[0] : make_concat(g, spatial, position, v.rank - 1);
    Sampling s = {modes[arg[0] % 3], paddings[arg[1] % 3], arg[2] % 2};
    return make_grid_sample(g, x, make_add(g, grid, base), &s);
}
