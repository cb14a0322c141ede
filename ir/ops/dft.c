// dft: the discrete Fourier transform of complex numbers, the last dim's real and imaginary parts,
// along the dim before. What x lacks of the n numbers is zero: a part for c = 1, numbers after its
// last one. The result is the first `size` bins, and the real parts alone if `parts` is 1.
#include <math.h>
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_dft.h"

enum { N, SIZE, PARTS, INVERSE };

static bool dft_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t length = n->attr[N].i, size = n->attr[SIZE].i, parts = n->attr[PARTS].i;
    int64_t dim[MAX_RANK];
    int last = x->rank - 1;

    if (!dtype_is_float(x->dtype))
        return node_error(g, n, d, "takes floats, not %s", dtype_name(x->dtype));
    if (x->rank < 2 || x->dim[last] < 1 || x->dim[last] > 2)
        return node_error(g, n, d, "takes numbers of 1 or 2 parts, not %s", type_text(g->arena, x));
    if (length < 1 || length > RT_DFT_MAX)
        return node_error(g, n, d, "n is %" PRId64 ", expected 1 to %d", length, RT_DFT_MAX);
    if (x->dim[last - 1] > length || size < 0 || size > length)
        return node_error(
            g, n, d, "transforms %" PRId64 " numbers to %" PRId64 ", expected at most %" PRId64,
            x->dim[last - 1], size, length);
    if (parts < 1 || parts > 2)
        return node_error(g, n, d, "parts is %" PRId64 ", expected 1 or 2", parts);
    for (int i = 0; i < last - 1; i++)
        dim[i] = x->dim[i];
    dim[last - 1] = size;
    dim[last] = parts;
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void dft_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank;

    rule_along(g, n, r, rank - 1);
    rule_kind(r, LETTERS[rank - 2], FACTOR_BLOCKED);
    r->joint = 1;
}

// The matrix of a transform is symmetric; its transpose rotates in the opposite direction.
static void dft_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    const Value *x = in(g, n, 0);

    dx[0] = make_dft(g, dy[0], n->attr[N].i, x->dim[x->rank - 2], x->dim[x->rank - 1],
                     !n->attr[INVERSE].i);
}

// y[k] = Σ x[j · step] e^(sign · 2πi · jk / n), by the transforms over each p-th number, where p is
// the smallest prime factor of n. Complex numbers are pairs; `buffer` has 4n numbers.
static void transform(double *y, const double *x, int64_t n, int64_t step, double sign,
                      double *buffer)
{
    int64_t p = rt_smallest_factor(n), m = n / p;

    if (n == 1) {
        y[0] = x[0];
        y[1] = x[1];
        return;
    }
    for (int64_t r = 0; r < p; r++)
        transform(buffer + 2 * r * m, x + 2 * r * step, m, step * p, sign, buffer + 2 * n);
    for (int64_t k = 0; k < n; k++) {
        y[2 * k] = y[2 * k + 1] = 0;
        for (int64_t r = 0; r < p; r++) {
            const double *z = buffer + 2 * (r * m + k % m);
            double c, s;
            rt_wave(r * k % n, n, &c, &s);
            y[2 * k] += z[0] * c - sign * z[1] * s;
            y[2 * k + 1] += sign * z[0] * s + z[1] * c;
        }
    }
}

static int64_t rows_of(const Value *x) { return along(x->rank, x->dim, x->rank - 2).outer; }

static void dft_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    int64_t length = n->attr[N].i, have = x->dim[x->rank - 2], c = x->dim[x->rank - 1];
    int64_t size = n->attr[SIZE].i, parts = n->attr[PARTS].i;
    double from[2 * RT_DFT_MAX], to[2 * RT_DFT_MAX], buffer[4 * RT_DFT_MAX];

    for (int64_t row = 0; row < along(x->rank, x->dim, x->rank - 2).outer; row++) {
        memset(from, 0, sizeof from);
        for (int64_t i = 0; i < have * c; i++)
            from[i / c * 2 + i % c] = x->f[row * have * c + i];
        transform(to, from, length, 1, n->attr[INVERSE].i ? 1 : -1, buffer);
        for (int64_t i = 0; i < size * parts; i++)
            y->f[row * size * parts + i] = to[i / parts * 2 + i % parts];
    }
}

static double dft_work(const Graph *g, const Node *n)
{
    double length = (double)n->attr[N].i;
    const Value *x = in(g, n, 0);

    return 2.5 * (double)rows_of(x) * length * (1 + log2(length)) *
           (double)(x->dim[x->rank - 1] + n->attr[PARTS].i);
}

static void dft_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Value *x = in(g, n, 0);

    kernel_dense(g, n, stride, k);
    k->def = kernel_find("dft");
    k->params.dft = (RtDft){.type = (RtType)x->dtype,
                            .rows = rows_of(x),
                            .n = n->attr[N].i,
                            .have = x->dim[x->rank - 2],
                            .size = n->attr[SIZE].i,
                            .c = (int)x->dim[x->rank - 1],
                            .parts = (int)n->attr[PARTS].i,
                            .inverse = n->attr[INVERSE].i != 0};
}

// Keeps the last two dims whole.
static ValueId dft_split(Graph *g, const Node *n, const Split *s)
{
    return make_dft(g, s->in[0], n->attr[N].i, n->attr[SIZE].i, n->attr[PARTS].i,
                    n->attr[INVERSE].i);
}

const OpDef op_dft = {
    .name = "dft",
    .n_in = 1,
    .attrs = {{"n", ATTR_INT}, {"size", ATTR_INT}, {"parts", ATTR_INT}, {"inverse", ATTR_INT}},
    .infer = dft_infer,
    .rule = dft_rule,
    .split = dft_split,
    .grad = dft_grad,
    .eval = dft_eval,
    .kernel = dft_kernel,
    .work = dft_work,
    .no_split = "each bin is a sum over all elements of the transformed dim",
};
