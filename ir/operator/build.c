// The builders: each sets its operator's attributes in their order and calls graph_node.
#include "ir/build.h"

static Attr ints(int n, const int64_t *v) { return (Attr){.n = n, .v = v}; }

// ---- elementwise ----

#define OP(name)
#define UNARY(name)                                                                                \
    ValueId make_##name(Graph *g, ValueId x) { return graph_node(g, &op_##name, 1, &x, NULL); }
#define BINARY(name)                                                                               \
    ValueId make_##name(Graph *g, ValueId a, ValueId b)                                            \
    {                                                                                              \
        return graph_node(g, &op_##name, 2, (ValueId[]){a, b}, NULL);                              \
    }
#include "ir/ops.def"

ValueId make_cast(Graph *g, ValueId x, DType to)
{
    if (value_of(g, x)->dtype == to)
        return x;
    return graph_node(g, &op_cast, 1, &x, (Attr[]){{.i = to}, {.i = 0}});
}

ValueId make_cast_parts(Graph *g, ValueId x, DType to)
{
    return graph_node(g, &op_cast, 1, &x, (Attr[]){{.i = to}, {.i = 1}});
}

ValueId make_select(Graph *g, ValueId c, ValueId a, ValueId b)
{
    return graph_node(g, &op_select, 3, (ValueId[]){c, a, b}, NULL);
}

// ---- sources ----

ValueId make_iota(Graph *g, DType t, int rank, const int64_t *dim, int axis)
{
    Attr attr[] = {ints(rank, dim), {.i = axis}, {.i = t}};

    return graph_node(g, &op_iota, 0, NULL, attr);
}

ValueId make_random(Graph *g, ValueId seed, ValueId step, ValueId micro, int rank,
                    const int64_t *dim, int64_t site, int64_t layer, int micro_axis,
                    int64_t micro_batches)
{
    Attr attr[] = {
        ints(rank, dim), {.i = site}, {.i = layer}, {.i = micro_axis}, {.i = micro_batches}};

    return graph_node(g, &op_random, 3, (ValueId[]){seed, step, micro}, attr);
}

// ---- shape ----

ValueId make_broadcast(Graph *g, ValueId x, int rank, const int64_t *dim, const int64_t *dims)
{
    Attr attr[] = {ints(rank, dim), ints(value_of(g, x)->rank, dims)};

    return graph_node(g, &op_broadcast, 1, &x, attr);
}

ValueId make_reshape(Graph *g, ValueId x, int rank, const int64_t *dim)
{
    return graph_node(g, &op_reshape, 1, &x, &(Attr){.n = rank, .v = dim});
}

ValueId make_transpose(Graph *g, ValueId x, const int64_t *perm)
{
    return graph_node(g, &op_transpose, 1, &x, &(Attr){.n = value_of(g, x)->rank, .v = perm});
}

ValueId make_slice(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                   const int64_t *stride)
{
    return make_slice_drop(g, x, start, size, stride, 0, NULL);
}

ValueId make_slice_drop(Graph *g, ValueId x, const int64_t *start, const int64_t *size,
                        const int64_t *stride, int n_drop, const int64_t *drop)
{
    int rank = value_of(g, x)->rank;
    Attr attr[] = {ints(rank, start), ints(rank, size), ints(rank, stride), ints(n_drop, drop)};

    return graph_node(g, &op_slice, 1, &x, attr);
}

ValueId make_pad(Graph *g, ValueId x, const int64_t *low, const int64_t *high, const int64_t *inner,
                 double value)
{
    int rank = value_of(g, x)->rank;
    Attr attr[] = {ints(rank, low), ints(rank, high), ints(rank, inner), {.f = value}};

    return graph_node(g, &op_pad, 1, &x, attr);
}

ValueId make_concat(Graph *g, int n, const ValueId *x, int axis)
{
    return graph_node(g, &op_concat, n, x, &(Attr){.i = axis});
}

// ---- reductions and orders ----

ValueId make_reduce_sum(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    return graph_node(g, &op_reduce_sum, 1, &x, &(Attr){.n = n_axes, .v = axes});
}

ValueId make_reduce_max(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    return graph_node(g, &op_reduce_max, 1, &x, (Attr[]){ints(n_axes, axes), {.i = 0}});
}

ValueId make_reduce_max_first(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    return graph_node(g, &op_reduce_max, 1, &x, (Attr[]){ints(n_axes, axes), {.i = 1}});
}

ValueId make_reduce_min(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    return graph_node(g, &op_reduce_min, 1, &x, (Attr[]){ints(n_axes, axes), {.i = 0}});
}

ValueId make_reduce_min_first(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    return graph_node(g, &op_reduce_min, 1, &x, (Attr[]){ints(n_axes, axes), {.i = 1}});
}

ValueId make_arg_max(Graph *g, ValueId x, int axis)
{
    return graph_node(g, &op_arg_max, 1, &x, &(Attr){.i = axis});
}

ValueId make_cumsum(Graph *g, ValueId x, int axis, bool exclusive, bool reverse)
{
    Attr attr[] = {{.i = axis}, {.i = exclusive}, {.i = reverse}};

    return graph_node(g, &op_cumsum, 1, &x, attr);
}

ValueId make_top_k(Graph *g, ValueId x, int axis, int64_t k)
{
    return graph_node(g, &op_top_k, 1, &x, (Attr[]){{.i = axis}, {.i = k}});
}

// ---- resampling ----

static ValueId resample(Graph *g, ValueId x, int axis, int64_t size, const Resampling *r,
                        bool is_transposed)
{
    Attr attr[] = {{.i = axis},       {.i = size},       {.s = r->mode},      {.f = r->shift},
                   {.f = r->mul},     {.f = r->div},     {.f = r->offset},    {.f = r->cubic},
                   {.f = r->stretch}, {.i = r->exclude}, {.i = is_transposed}};

    return graph_node(g, &op_resample, 1, &x, attr);
}

ValueId make_resample(Graph *g, ValueId x, int axis, int64_t size, const Resampling *r)
{
    return resample(g, x, axis, size, r, false);
}

ValueId make_resample_transposed(Graph *g, ValueId x, int axis, int64_t size, const Resampling *r)
{
    return resample(g, x, axis, size, r, true);
}

ValueId make_dft(Graph *g, ValueId x, int64_t n, int64_t size, int64_t parts, bool inverse)
{
    Attr attr[] = {{.i = n}, {.i = size}, {.i = parts}, {.i = inverse}};

    return graph_node(g, &op_dft, 1, &x, attr);
}

// ---- indexing ----

ValueId make_gather(Graph *g, ValueId table, ValueId index, int axis, int batch)
{
    return make_gather_but(g, table, index, axis, batch, -1);
}

ValueId make_gather_but(Graph *g, ValueId table, ValueId index, int axis, int batch, int64_t skip)
{
    Attr attr[] = {{.i = axis}, {.i = batch}, {.i = skip}};

    return graph_node(g, &op_gather, 2, (ValueId[]){table, index}, attr);
}

ValueId make_scatter_add(Graph *g, ValueId x, ValueId index, int axis, int batch, int64_t n)
{
    return make_scatter(g, x, index, 0, "add", axis, batch, n);
}

ValueId make_scatter(Graph *g, ValueId x, ValueId index, ValueId onto, const char *reduction,
                     int axis, int batch, int64_t n)
{
    Attr attr[] = {{.i = axis}, {.i = batch}, {.i = n}, {.s = reduction}};

    return graph_node(g, &op_scatter, 3, (ValueId[]){x, index, onto}, attr);
}

// ---- sampling ----

static void put_sampling(Attr *attr, const Sampling *s)
{
    attr[0].s = s->mode;
    attr[1].s = s->padding;
    attr[2].i = s->corners;
}

ValueId make_grid_sample(Graph *g, ValueId x, ValueId grid, const Sampling *s)
{
    Attr attr[3] = {0};

    put_sampling(attr, s);
    return graph_node(g, &op_grid_sample, 2, (ValueId[]){x, grid}, attr);
}

ValueId make_grid_sample_input_grad(Graph *g, ValueId dy, ValueId grid, int rank,
                                    const int64_t *dim, const Sampling *s)
{
    Attr attr[4] = {ints(rank, dim)};

    put_sampling(attr + 1, s);
    return graph_node(g, &op_grid_sample_input_grad, 2, (ValueId[]){dy, grid}, attr);
}

ValueId make_grid_sample_grid_grad(Graph *g, ValueId x, ValueId grid, ValueId dy, const Sampling *s)
{
    Attr attr[3] = {0};

    put_sampling(attr, s);
    return graph_node(g, &op_grid_sample_grid_grad, 3, (ValueId[]){x, grid, dy}, attr);
}

// ---- contractions ----

ValueId make_dot_to(Graph *g, ValueId a, ValueId b, const char *eq, DType to)
{
    return graph_node(g, &op_dot, 2, (ValueId[]){a, b}, (Attr[]){{.s = eq}, {.i = to}});
}

ValueId make_dot(Graph *g, ValueId a, ValueId b, const char *eq)
{
    return make_dot_to(g, a, b, eq, DT_NONE);
}

// stride, low, high, dilation
static void put_window(Attr *attr, const Window *win)
{
    attr[0] = ints(win->n, win->stride);
    attr[1] = ints(win->n, win->low);
    attr[2] = ints(win->n, win->high);
    attr[3] = ints(win->n, win->dilation);
}

ValueId make_conv(Graph *g, ValueId x, ValueId w, const Window *win, int64_t groups)
{
    Attr attr[6] = {[4] = {.i = groups}};

    put_window(attr, win);
    return graph_node(g, &op_conv, 2, (ValueId[]){x, w}, attr);
}

ValueId make_conv_input_grad(Graph *g, ValueId dy, ValueId w, const int64_t *x_dim,
                             const Window *win, int64_t groups)
{
    Attr attr[7] = {[0] = ints(win->n + 2, x_dim), [5] = {.i = groups}};

    put_window(attr + 1, win);
    return graph_node(g, &op_conv_input_grad, 2, (ValueId[]){dy, w}, attr);
}

ValueId make_conv_weight_grad(Graph *g, ValueId x, ValueId dy, const int64_t *w_dim,
                              const Window *win, int64_t groups)
{
    Attr attr[7] = {[0] = ints(win->n + 2, w_dim), [5] = {.i = groups}};

    put_window(attr + 1, win);
    return graph_node(g, &op_conv_weight_grad, 2, (ValueId[]){x, dy}, attr);
}

static void put_attention(Attr *attr, const Attention *a)
{
    attr[0] = (Attr){.s = a->eq};
    attr[1] = (Attr){.s = a->bias_eq};
    attr[2] = (Attr){.i = a->query};
    attr[3] = (Attr){.f = a->scale};
    attr[4] = (Attr){.i = a->causal};
    attr[5] = (Attr){.i = a->offset};
    attr[6] = (Attr){.i = a->window};
    attr[7] = (Attr){.f = a->drop.rate};
    attr[8] = (Attr){.s = a->drop.eq};
    attr[9] = (Attr){.i = a->drop.site};
    attr[10] = (Attr){.i = a->drop.layer};
    attr[11] = (Attr){.i = a->drop.seed ? a->drop.micro_axis : -1};
    attr[12] = (Attr){.i = a->drop.seed ? a->drop.micro_batches : 1};
    attr[13] = (Attr){.f = a->outside};
    attr[14] = (Attr){.i = a->outside_added};
    attr[15] = (Attr){.f = a->hidden};
    attr[16] = (Attr){.i = a->hidden_added};
    attr[17] = (Attr){.i = a->order};
    attr[18] = (Attr){.i = a->guard};
}

ValueId make_attention(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias, const Attention *a)
{
    const Dropout *d = &a->drop;
    Attr attr[MAX_ATTRS];

    put_attention(attr, a);
    return graph_node(g, &op_attention, 7, (ValueId[]){q, k, v, bias, d->seed, d->step, d->micro},
                      attr);
}

ValueId make_attention_grad(Graph *g, ValueId q, ValueId k, ValueId v, ValueId bias, ValueId y,
                            ValueId max, ValueId sum, ValueId dy, const Attention *a)
{
    const Dropout *d = &a->drop;
    Attr attr[MAX_ATTRS];

    put_attention(attr, a);
    return graph_node(g, &op_attention_grad, 11,
                      (ValueId[]){q, k, v, bias, d->seed, d->step, d->micro, y, max, sum, dy},
                      attr);
}

// ---- windows ----

enum { POOL_ATTRS = 5 };

static void put_pool(Attr *attr, const Window *win)
{
    attr[0] = ints(win->n, win->size);
    put_window(attr + 1, win);
}

ValueId make_max_pool(Graph *g, ValueId x, const Window *win)
{
    Attr attr[POOL_ATTRS];

    put_pool(attr, win);
    return graph_node(g, &op_max_pool, 1, &x, attr);
}

ValueId make_max_pool_grad(Graph *g, ValueId x, ValueId dy, const Window *win)
{
    Attr attr[POOL_ATTRS];

    put_pool(attr, win);
    return graph_node(g, &op_max_pool_grad, 2, (ValueId[]){x, dy}, attr);
}

ValueId make_sum_pool(Graph *g, ValueId x, const Window *win)
{
    Attr attr[POOL_ATTRS];

    put_pool(attr, win);
    return graph_node(g, &op_sum_pool, 1, &x, attr);
}

ValueId make_sum_pool_grad(Graph *g, ValueId dy, const int64_t *x_dim, const Window *win)
{
    Attr attr[1 + POOL_ATTRS] = {ints(win->n + 2, x_dim)};

    put_pool(attr + 1, win);
    return graph_node(g, &op_sum_pool_grad, 1, &dy, attr);
}

// ---- communication ----

ValueId make_all_gather(Graph *g, ValueId x, const Ranks *r, int dim, int64_t size)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.i = dim}, {.i = size}};

    return graph_node(g, &op_all_gather, 1, &x, attr);
}

ValueId make_all_reduce(Graph *g, ValueId x, const Ranks *r, const char *op)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.s = op}};

    return graph_node(g, &op_all_reduce, 1, &x, attr);
}

ValueId make_all_to_all(Graph *g, ValueId x, const Ranks *r, int join, int cut, int64_t size)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.i = join}, {.i = cut}, {.i = size}};

    return graph_node(g, &op_all_to_all, 1, &x, attr);
}

ValueId make_keep_one(Graph *g, ValueId x, const Ranks *r, const char *op)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.s = op}};

    return graph_node(g, &op_keep_one, 1, &x, attr);
}

ValueId make_permute(Graph *g, ValueId x, const Ranks *r)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size)};

    return graph_node(g, &op_permute, 1, &x, attr);
}

ValueId make_reduce_scatter(Graph *g, ValueId x, const Ranks *r, int dim, const char *op)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.i = dim}, {.s = op}};

    return graph_node(g, &op_reduce_scatter, 1, &x, attr);
}

ValueId make_shard(Graph *g, ValueId x, const Ranks *r, int dim)
{
    Attr attr[] = {ints(r->n, r->axis), ints(r->n, r->size), {.i = dim}};

    return graph_node(g, &op_shard, 1, &x, attr);
}
