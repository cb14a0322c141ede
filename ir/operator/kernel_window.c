// The kernel calls of convolution and pooling.
#include "ir/operator/contract.h"

static RtWindow rt_window(const Window *w)
{
    RtWindow r = {.n = w->n};

    for (int i = 0; i < w->n; i++) {
        r.size[i] = w->size[i];
        r.stride[i] = w->stride[i];
        r.low[i] = w->low[i];
        r.high[i] = w->high[i];
        r.dilation[i] = w->dilation[i];
    }
    return r;
}

// Dims of size 1 may have any stride; the others must be dense.
bool is_channels_last(const Value *v, const int64_t *stride)
{
    int64_t step = v->dim[1];

    for (int i = v->rank - 1; i >= 2; i--) {
        if (v->dim[i] > 1 && stride[i] != step)
            return false;
        step *= v->dim[i];
    }
    return (v->dim[1] == 1 || stride[1] == 1) && (v->dim[0] == 1 || stride[0] == step);
}

static void set_dims(RtConv *p, const Value *x, const Value *y)
{
    p->n = x->dim[0];
    p->c = x->dim[1];
    for (int i = 0; i < p->window.n; i++) {
        p->x_dim[i] = x->dim[2 + i];
        p->y_dim[i] = y->dim[2 + i];
    }
}

void kernel_conv(const Graph *g, const Node *n, const ConvPart *order,
                 const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Value *part[3];
    bool is_last[3] = {false};
    Window w;

    for (int i = 0; i < 3; i++) {
        part[order[i]] = i < 2 ? in(g, n, i) : out(g, n);
        is_last[order[i]] = order[i] != CONV_W && is_channels_last(part[order[i]], stride[i]);
        if (!is_last[order[i]])
            kernel_dense_operand(g, n, i, stride, k);
    }
    int first = order[2] == CONV_Y ? 0 : 1;
    window_read(n, first, part[CONV_X]->rank - 2, part[CONV_W]->dim + 2, &w);
    RtConv p = {.window = rt_window(&w),
                .o = part[CONV_W]->dim[0],
                .groups = n->attr[first + 4].i,
                .x_last = is_last[CONV_X],
                .y_last = is_last[CONV_Y],
                .type = half_type(in(g, n, 0)->dtype),
                .result = product_result(g, n)};
    set_dims(&p, part[CONV_X], part[CONV_Y]);
    k->def = kernel_find(n->op->name);
    k->params.conv = p;
}

void kernel_want_channels_last(const Graph *g, const Node *n, int i, Kernel *k)
{
    const Value *v = in(g, n, i);
    int64_t step = v->dim[1];

    if (!k->want)
        k->want = arena_alloc(g->arena, (size_t)(n->n_in + n->n_out), sizeof *k->want);
    for (int d = v->rank - 1; d >= 2; d--) {
        k->want[i][d] = step;
        step *= v->dim[d];
    }
    k->want[i][1] = 1;
    k->want[i][0] = step;
    k->copies |= (uint64_t)1 << i;
}

void kernel_pool(const Graph *g, const Node *n, int size, const Value *x, const Value *y,
                 const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    Window w;

    // The order of the output decides the order of all operands.
    bool is_last = is_channels_last(out(g, n), stride[n->n_in]);
    pool_window(n, size, &w);
    RtConv p = {.window = rt_window(&w), .x_last = is_last, .y_last = is_last};
    set_dims(&p, x, y);
    for (int i = 0; i < n->n_in; i++)
        if (!is_last)
            kernel_dense_operand(g, n, i, stride, k);
        else if (!is_channels_last(in(g, n, i), stride[i]))
            kernel_want_channels_last(g, n, i, k);
    if (!is_last)
        kernel_dense_operand(g, n, n->n_in, stride, k);
    k->def = kernel_find(n->op->name);
    k->params.conv = p;
}
