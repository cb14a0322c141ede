// resample: reads a dim at other positions. Each element of the result is a weighted sum of
// neighbours around its coordinate. Transposed: the adjoint of that.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_resample.h"

enum { AXIS, SIZE, MODE, SHIFT, MUL, DIV, OFFSET, CUBIC, STRETCH, EXCLUDE, TRANSPOSED };

static const char *const modes[] = {
    [RT_NEAREST_FLOOR] = "floor", [RT_NEAREST_CEIL] = "ceil",    [RT_NEAREST_DOWN] = "round_down",
    [RT_NEAREST_UP] = "round_up", [RT_FILTER_LINEAR] = "linear", [RT_FILTER_CUBIC] = "cubic"};

RtResample resampling_params(const Resampling *r, int64_t n, int64_t size)
{
    RtResample p = {.n = n,
                    .size = size,
                    .shift = r->shift,
                    .mul = r->mul,
                    .div = r->div,
                    .offset = r->offset,
                    .cubic = r->cubic,
                    .stretch = r->stretch,
                    .exclude = r->exclude};

    while (p.mode < COUNT(modes) && strcmp(r->mode ? r->mode : "", modes[p.mode]))
        p.mode++;
    return p;
}

static Resampling resampling_of(const Node *n)
{
    return (Resampling){.mode = n->attr[MODE].s,
                        .shift = n->attr[SHIFT].f,
                        .mul = n->attr[MUL].f,
                        .div = n->attr[DIV].f,
                        .offset = n->attr[OFFSET].f,
                        .cubic = n->attr[CUBIC].f,
                        .stretch = n->attr[STRETCH].f,
                        .exclude = n->attr[EXCLUDE].i};
}

// The kernel's parameters, for an input whose dim has `length` elements.
static RtResample params_of(const Node *n, int64_t length)
{
    Resampling r = resampling_of(n);
    bool is_transposed = n->attr[TRANSPOSED].i;
    int64_t size = n->attr[SIZE].i;
    RtResample p =
        resampling_params(&r, is_transposed ? size : length, is_transposed ? length : size);

    p.transposed = is_transposed;
    return p;
}

// Comparisons are false for NaN.
static bool is_within(double x, double most) { return fabs(x) <= most; }

// Coordinates are bounded so that they can be counted, and sums of weights so that they are finite.
static bool is_sane(const RtResample *p)
{
    const double most = 0x1p40;

    return is_within(p->shift, most) && is_within(p->mul, most) && is_within(p->div, most) &&
           is_within(p->offset, most) && fabs(p->div) >= 1 / most && is_within(p->cubic, 0x1p10) &&
           p->stretch >= 1 && p->stretch <= (double)RT_RESAMPLE_MAX &&
           is_within(rt_resample_coordinate(p, 0), most) &&
           is_within(rt_resample_coordinate(p, p->size ? p->size - 1 : 0), most);
}

static bool resample_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t axis = n->attr[AXIS].i, size = n->attr[SIZE].i, dim[MAX_RANK];

    if (!infer_axis(g, n, "axis", axis, x->rank, d))
        return false;
    if (!dtype_is_float(x->dtype))
        return node_error(g, n, d, "takes floats, not %s", dtype_name(x->dtype));
    RtResample p = params_of(n, x->dim[axis]);
    if (p.mode == COUNT(modes))
        return node_error(g, n, d,
                          "mode is none of floor, ceil, round_down, round_up, linear, cubic");
    if (p.n > RT_RESAMPLE_MAX || size > RT_RESAMPLE_MAX || size < 0 || p.size > RT_RESAMPLE_MAX)
        return node_error(g, n, d,
                          "resamples 0 to 2^24 elements of a dim to as many, not %" PRId64
                          " to %" PRId64,
                          x->dim[axis], size);
    if (p.n == 0 && p.size > 0)
        return node_error(g, n, d, "there are no elements to resample");
    if (!is_sane(&p))
        return node_error(g, n, d, "its coordinates, stretch or filter are out of range");
    if (p.size * rt_resample_width(&p) > RT_RESAMPLE_MAX)
        return node_error(g, n, d, "has %" PRId64 " taps, expected at most 2^24",
                          p.size * rt_resample_width(&p));
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = size;
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void resample_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_along(g, n, r, (int)n->attr[AXIS].i);
    r->joint = 1;
}

static void resample_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    Resampling r = resampling_of(n);
    int axis = (int)n->attr[AXIS].i;
    int64_t size = in(g, n, 0)->dim[axis];

    dx[0] = n->attr[TRANSPOSED].i ? make_resample(g, dy[0], axis, size, &r)
                                  : make_resample_transposed(g, dy[0], axis, size, &r);
}

static void resample_eval(const Graph *g, const Node *n, const NodeShard *shard, const Tensor *x,
                          Tensor *y)
{
    int axis = (int)n->attr[AXIS].i;
    RtResample p = params_of(n, x->dim[axis]);
    Along a = along(x->rank, x->dim, axis);

    for (int64_t o = 0; o < p.size; o++) {
        RtTapsAt taps = rt_resample_taps(&p, o);

        for (int64_t k = 0; k < taps.count; k++) {
            double weight = rt_resample_weight(&p, &taps, k);
            int64_t i = taps.first + k, to = p.transposed ? i : o, from = p.transposed ? o : i;

            for (int64_t row = 0; row < a.outer * a.inner; row++) {
                int64_t outer = row / a.inner, inner = row % a.inner;
                y->f[(outer * y->dim[axis] + to) * a.inner + inner] +=
                    weight * x->f[(outer * a.n + from) * a.inner + inner];
            }
        }
    }
}

static double resample_work(const Graph *g, const Node *n)
{
    const Value *x = in(g, n, 0);
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);
    RtResample p = params_of(n, a.n);

    return 2.0 * (double)(p.size * rt_resample_most(&p)) * (double)(a.outer * a.inner);
}

static void resample_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                            Kernel *k)
{
    const Value *x = in(g, n, 0);
    Along a = along(x->rank, x->dim, (int)n->attr[AXIS].i);

    kernel_dense(g, n, stride, k);
    k->def = kernel_find("resample");
    k->params.resample = params_of(n, a.n);
    k->params.resample.type = (RtType)x->dtype;
    k->params.resample.outer = a.outer;
    k->params.resample.inner = a.inner;
}

static ValueId resample_split(Graph *g, const Node *n, const Split *s)
{
    Resampling r = resampling_of(n);
    int axis = s->operand[0].first[n->attr[AXIS].i];

    return n->attr[TRANSPOSED].i ? make_resample_transposed(g, s->in[0], axis, n->attr[SIZE].i, &r)
                                 : make_resample(g, s->in[0], axis, n->attr[SIZE].i, &r);
}

const OpDef op_resample = {
    .name = "resample",
    .n_in = 1,
    .attrs = {{"axis", ATTR_INT},
              {"size", ATTR_INT},
              {"mode", ATTR_TEXT},
              {"shift", ATTR_FLOAT},
              {"mul", ATTR_FLOAT, .missing = 1},
              {"div", ATTR_FLOAT, .missing = 1},
              {"offset", ATTR_FLOAT},
              {"cubic", ATTR_FLOAT, .missing = -0.75},
              {"stretch", ATTR_FLOAT, .missing = 1},
              {"exclude", ATTR_INT},
              {"transposed", ATTR_INT}},
    .infer = resample_infer,
    .rule = resample_rule,
    .split = resample_split,
    .grad = resample_grad,
    .eval = resample_eval,
    .kernel = resample_kernel,
    .work = resample_work,
    .no_split = "a shard of the resampled dim would read elements of others",
};
