// Convolutions by oneDNN.
#include <dnnl.h>

#include "runtime/cpu/onednn.h"

enum { X, W, Y, N_OPERANDS };

// An operand in our layout and in oneDNN's, and the reorder between them (NULL: the layouts are
// equal).
typedef struct Operand {
    dnnl_memory_desc_t ours, theirs;
    dnnl_memory_t memory, reordered;
    dnnl_primitive_t reorder;
    int64_t offset;  // of `reordered` in the workspace
} Operand;

typedef struct Conv {
    RtKernel base;
    RtConvDirection direction;
    int number;
    int64_t empty_result;  // elements of the result if an operand is empty, so that the result is
                           // zeros; else -1
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t scratch;
    int64_t scratch_offset;
    Operand operand[N_OPERANDS];
} Conv;

static const char *const names[] = {"conv", "conv_input_grad", "conv_weight_grad"};
static const int results[] = {Y, X, W};

static void must(const Conv *c, dnnl_status_t status, const char *what)
{
    if (status != dnnl_success)
        rt_kernel_fail(c->number, names[c->direction], "the library cannot %s (status %d)", what,
                       (int)status);
}

static void release(RtKernel *kernel)
{
    Conv *c = (Conv *)kernel;

    for (int i = 0; i < N_OPERANDS; i++) {
        dnnl_memory_destroy(c->operand[i].memory);
        dnnl_memory_destroy(c->operand[i].reordered);
        dnnl_primitive_destroy(c->operand[i].reorder);
    }
    dnnl_memory_destroy(c->scratch);
    dnnl_primitive_destroy(c->primitive);
    dnnl_stream_destroy(c->stream);
    dnnl_engine_destroy(c->engine);
}

// Dims (n, c, spatial…) dense in this order, or with channels last.
static void describe_tensor(const Conv *c, dnnl_memory_desc_t *d, int64_t n, int64_t channels,
                            const int64_t *spatial, int n_spatial, bool is_last)
{
    dnnl_dims_t dim = {n, channels}, stride;
    int64_t step = is_last ? channels : 1;

    for (int i = n_spatial - 1; i >= 0; i--) {
        dim[2 + i] = spatial[i];
        stride[2 + i] = step;
        step *= spatial[i];
    }
    stride[1] = is_last ? 1 : step;
    stride[0] = is_last ? step : step * channels;
    must(c, dnnl_memory_desc_init_by_strides(d, 2 + n_spatial, dim, dnnl_f32, stride),
         "describe a tensor");
}

// Weights (groups, o / groups, c / groups, window…), without the first dim if it is 1.
static void describe_weights(const Conv *c, dnnl_memory_desc_t *d, const RtConv *p)
{
    int first = p->groups == 1, rank = 3 + p->window.n;
    dnnl_dims_t dim = {p->groups, p->o / p->groups, p->c / p->groups}, stride;
    int64_t step = 1;

    for (int i = 0; i < p->window.n; i++)
        dim[3 + i] = p->window.size[i];
    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= dim[i];
    }
    must(c,
         dnnl_memory_desc_init_by_strides(d, rank - first, dim + first, dnnl_f32, stride + first),
         "describe the weights");
}

static dnnl_memory_desc_t last_layout(const Conv *c, const dnnl_memory_desc_t *d)
{
    static const dnnl_format_tag_t tag[] = {dnnl_acb, dnnl_acdb, dnnl_acdeb};
    dnnl_memory_desc_t last;

    must(c, dnnl_memory_desc_init_by_tag(&last, d->ndims, d->dims, dnnl_f32, tag[d->ndims - 3]),
         "describe a tensor");
    return last;
}

static dnnl_memory_desc_t any_layout(const Conv *c, const dnnl_memory_desc_t *d)
{
    dnnl_memory_desc_t any;

    must(c, dnnl_memory_desc_init_by_tag(&any, d->ndims, d->dims, dnnl_f32, dnnl_format_tag_any),
         "describe a tensor");
    return any;
}

// The convolution's descriptor in one direction.
static dnnl_convolution_desc_t describe(const Conv *c, const RtConv *p, RtConvDirection direction)
{
    const RtWindow *w = &p->window;
    dnnl_convolution_desc_t d;
    dnnl_dims_t stride = {0}, gaps = {0}, low = {0}, high = {0};  // as the library declares them
    dnnl_memory_desc_t m[N_OPERANDS];

    for (int i = 0; i < w->n; i++) {
        stride[i] = w->stride[i];
        gaps[i] = w->dilation[i] - 1;
        low[i] = w->low[i];
        high[i] = w->high[i];
    }
    // oneDNN is fast with channels last. Channels first are reordered to a layout of its choice.
    // For mixed layouts it has only slow loops.
    bool is_last = p->x_last || p->y_last;
    m[X] = is_last ? last_layout(c, &c->operand[X].ours) : any_layout(c, &c->operand[X].ours);
    m[W] = any_layout(c, &c->operand[W].ours);
    m[Y] = is_last ? last_layout(c, &c->operand[Y].ours) : any_layout(c, &c->operand[Y].ours);
    dnnl_status_t status = dnnl_success;
    if (direction == RT_CONV)
        status = dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_training,
                                                            dnnl_convolution_direct, &m[X], &m[W],
                                                            NULL, &m[Y], stride, gaps, low, high);
    else if (direction == RT_CONV_INPUT_GRAD)
        status = dnnl_dilated_convolution_backward_data_desc_init(
            &d, dnnl_convolution_direct, &m[X], &m[W], &m[Y], stride, gaps, low, high);
    else
        status = dnnl_dilated_convolution_backward_weights_desc_init(
            &d, dnnl_convolution_direct, &m[X], &m[W], NULL, &m[Y], stride, gaps, low, high);
    must(c, status, "do this convolution");
    return d;
}

static int64_t bytes_of(const dnnl_memory_desc_t *d)
{
    return rt_round_up((int64_t)dnnl_memory_desc_get_size(d), 64);
}

// Sets the operands' layouts for an implementation; returns the bytes of workspace that it needs.
static int64_t set_layouts(Conv *c, const_dnnl_primitive_desc_t pd)
{
    static const dnnl_query_t query[][N_OPERANDS] = {
        {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
        {dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
        {dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md},
    };
    int64_t at = 0;

    for (int i = 0; i < N_OPERANDS; i++) {
        Operand *o = &c->operand[i];
        o->theirs = *dnnl_primitive_desc_query_md(pd, query[c->direction][i], 0);
        o->offset = at;
        if (!dnnl_memory_desc_equal(&o->ours, &o->theirs))
            at += bytes_of(&o->theirs);
    }
    c->scratch_offset = at;
    return at + bytes_of(dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0));
}

static dnnl_primitive_attr_t our_scratch(const Conv *c)
{
    dnnl_primitive_attr_t a;

    must(c, dnnl_primitive_attr_create(&a), "make attributes");
    must(c, dnnl_primitive_attr_set_scratchpad_mode(a, dnnl_scratchpad_mode_user),
         "take our scratch memory");
    return a;
}

// Chooses the first implementation that fits the workspace, with as many threads as possible.
static dnnl_primitive_desc_t choose(Conv *c, const RtConv *p, int threads)
{
    dnnl_convolution_desc_t forward = describe(c, p, RT_CONV), d = describe(c, p, c->direction);
    dnnl_primitive_attr_t a = our_scratch(c);
    dnnl_primitive_desc_t hint = NULL, pd = NULL;
    int64_t workspace = rt_conv_workspace(p), least = INT64_MAX;

    must(c, dnnl_primitive_desc_create(&hint, &forward, a, c->engine, NULL), "do this convolution");
    for (int t = threads; t > 0 && !pd; t /= 2) {
        dnnl_primitive_desc_iterator_t it = NULL;

        omp_set_num_threads(t);
        dnnl_status_t s = dnnl_primitive_desc_iterator_create(&it, &d, a, c->engine, hint);
        while (s == dnnl_success && !pd) {
            dnnl_primitive_desc_t next = dnnl_primitive_desc_iterator_fetch(it);
            int64_t bytes = set_layouts(c, next);
            least = rt_least(least, bytes);
            if (bytes <= workspace)
                pd = next;
            else
                dnnl_primitive_desc_destroy(next);
            if (!pd)
                s = dnnl_primitive_desc_iterator_next(it);
        }
        dnnl_primitive_desc_iterator_destroy(it);
    }
    if (!pd)
        rt_kernel_fail(c->number, names[c->direction],
                       "the library wants %lld bytes of workspace, planned were %lld",
                       (long long)least, (long long)workspace);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(a);
    return pd;
}

static void prepare_reorder(const Conv *c, Operand *o, bool is_result)
{
    dnnl_primitive_attr_t a = our_scratch(c);
    dnnl_primitive_desc_t pd;

    must(c,
         dnnl_reorder_primitive_desc_create(&pd, is_result ? &o->theirs : &o->ours, c->engine,
                                            is_result ? &o->ours : &o->theirs, c->engine, a),
         "change a layout");
    if (dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0)))
        rt_kernel_fail(c->number, names[c->direction], "a change of layout wants workspace");
    must(c, dnnl_primitive_create(&o->reorder, pd), "change a layout");
    must(c, dnnl_memory_create(&o->reordered, &o->theirs, c->engine, DNNL_MEMORY_NONE),
         "make a memory object");
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(a);
}

static void reorder(const Conv *c, const Operand *o, bool is_result)
{
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, is_result ? o->reordered : o->memory},
                              {DNNL_ARG_TO, is_result ? o->memory : o->reordered}};

    must(c, dnnl_primitive_execute(o->reorder, c->stream, 2, args), "change a layout");
}

// Implements RtKernel.run.
static void run(Rt *rt, RtKernel *kernel, void *to, const void *left, const void *right)
{
    static const int order[][2] = {{X, W}, {Y, W}, {X, Y}};
    static const int arg[][N_OPERANDS] = {
        {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
        {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    Conv *c = (Conv *)kernel;
    const void *data[N_OPERANDS];
    dnnl_exec_arg_t args[N_OPERANDS + 1];
    int result = results[c->direction];

    data[result] = to;
    data[order[c->direction][0]] = left;
    data[order[c->direction][1]] = right;
    if (c->empty_result >= 0) {
        rt_fill(rt, RT_F32, to, c->empty_result, 0);
        return;
    }
    for (int i = 0; i < N_OPERANDS; i++) {
        Operand *o = &c->operand[i];
        dnnl_memory_set_data_handle(o->memory, (void *)data[i]);
        if (o->reorder)
            dnnl_memory_set_data_handle(o->reordered, rt->workspace + o->offset);
        if (o->reorder && i != result)
            reorder(c, o, false);
        args[i].arg = arg[c->direction][i];
        args[i].memory = o->reorder ? o->reordered : o->memory;
    }
    dnnl_memory_set_data_handle(c->scratch, rt->workspace + c->scratch_offset);
    args[N_OPERANDS] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, c->scratch};
    must(c, dnnl_primitive_execute(c->primitive, c->stream, N_OPERANDS + 1, args), "run");
    if (c->operand[result].reorder)
        reorder(c, &c->operand[result], true);
    must(c, dnnl_stream_wait(c->stream), "run");
}

static int64_t count(const dnnl_memory_desc_t *d) { return rt_product(d->dims, d->ndims); }

void rt_conv_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction)
{
    Conv *c = rt_kernel_new(rt, kernel, sizeof *c);
    int threads = omp_get_max_threads();

    c->base.release = release;
    c->base.run = run;
    c->number = kernel;
    c->direction = direction;
    describe_tensor(c, &c->operand[X].ours, p->n, p->c, p->x_dim, p->window.n, p->x_last);
    describe_weights(c, &c->operand[W].ours, p);
    describe_tensor(c, &c->operand[Y].ours, p->n, p->o, p->y_dim, p->window.n, p->y_last);
    c->empty_result = -1;
    for (int i = 0; i < N_OPERANDS; i++)
        if (count(&c->operand[i].ours) == 0)
            c->empty_result = count(&c->operand[results[direction]].ours);
    if (c->empty_result >= 0)
        return;
    must(c, dnnl_engine_create(&c->engine, dnnl_cpu, 0), "start");
    must(c, dnnl_stream_create(&c->stream, c->engine, dnnl_stream_default_flags), "start");
    dnnl_primitive_desc_t pd = choose(c, p, rt->threads);
    must(c, dnnl_primitive_create(&c->primitive, pd), "do this convolution");
    must(c,
         dnnl_memory_create(&c->scratch,
                            dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0),
                            c->engine, DNNL_MEMORY_NONE),
         "make a memory object");
    for (int i = 0; i < N_OPERANDS; i++) {
        Operand *o = &c->operand[i];
        must(c, dnnl_memory_create(&o->memory, &o->ours, c->engine, DNNL_MEMORY_NONE),
             "make a memory object");
        if (!dnnl_memory_desc_equal(&o->ours, &o->theirs))
            prepare_reorder(c, o, i == results[direction]);
    }
    dnnl_primitive_desc_destroy(pd);
    omp_set_num_threads(threads);
}
