// Convolution and pooling as parameters of their kernels.
#include "ir/contract.h"
#include "runtime/rt.h"

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

static void print_list(Text *t, const char *name, const int64_t *v, int n)
{
    text_printf(t, ", .%s = {", name);
    for (int i = 0; i < n; i++)
        text_printf(t, "%s%" PRId64, i ? ", " : "", v[i]);
    text_printf(t, "}");
}

static void print_conv(const RtConv *p, Text *t)
{
    const RtWindow *w = &p->window;

    text_printf(t, "{.window = {.n = %d", w->n);
    print_list(t, "size", w->size, w->n);
    print_list(t, "stride", w->stride, w->n);
    print_list(t, "low", w->low, w->n);
    print_list(t, "high", w->high, w->n);
    print_list(t, "dilation", w->dilation, w->n);
    text_printf(t, "}, .n = %" PRId64 ", .c = %" PRId64, p->n, p->c);
    if (p->o)
        text_printf(t, ", .o = %" PRId64 ", .groups = %" PRId64, p->o, p->groups);
    print_list(t, "x_dim", p->x_dim, w->n);
    print_list(t, "y_dim", p->y_dim, w->n);
    text_printf(t, "}");
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
    Window w;

    for (int i = 0; i < 3; i++)
        part[order[i]] = i < 2 ? in(g, n, i) : out(g, n);
    int first = order[2] == CONV_Y ? 0 : 1;
    window_read(n, first, part[CONV_X]->rank - 2, part[CONV_W]->dim + 2, &w);
    RtConv p = {.window = rt_window(&w), .o = part[CONV_W]->dim[0], .groups = n->attr[first + 4].i};
    set_dims(&p, part[CONV_X], part[CONV_Y]);
    kernel_dense(g, n, stride, k);
    k->name = n->op->name;
    k->type = "RtConv";
    k->workspace = rt_conv_workspace(&p);
    print_conv(&p, &k->args);
}

void kernel_pool(const Graph *g, const Node *n, int size, const Value *x, const Value *y,
                 const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    Window w;

    pool_window(n, size, &w);
    RtConv p = {.window = rt_window(&w)};
    set_dims(&p, x, y);
    kernel_dense(g, n, stride, k);
    k->name = n->op->name;
    text_printf(&k->args, "&(RtConv)");
    print_conv(&p, &k->args);
}
