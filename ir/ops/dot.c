// dot: the contraction of two tensors with any batch, free and contracted dims, by an einsum text.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/contract.h"

enum { EQ, TO };

static void equation_of(const Node *n, Equation *e) { equation_read(n->attr[EQ].s, 2, e); }

static bool dot_infer(Graph *g, Node *n, Diag *d)
{
    int64_t size[N_LETTERS], dim[MAX_RANK];
    DType result;
    Equation e;

    if (!infer_product(g, n, TO, &result, d) ||
        !equation_infer(g, n, n->attr[EQ].s, 2, &e, size, d))
        return false;
    for (int i = 0; i < 2; i++)
        for (const char *s = e.dims[i]; *s; s++)
            if (!strchr(e.dims[1 - i], *s) && !strchr(e.dims[2], *s))
                return node_error(g, n, d, "dim '%c' is in one operand only: reduce it first", *s);
    letters_dims(e.dims[2], size, dim);
    return infer_set(g, n, 0, result, (int)strlen(e.dims[2]), dim, d);
}

// rule_set makes the letters that only a and b have sum factors.
static void dot_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_set(g, n, r, n->attr[EQ].s);
    r->single = 1 << 0 | 1 << 1;
}

// Every letter of a is in b or y, and every letter of b in a or y: so each gradient is a dot.
static void dot_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    ValueId a = n->in[0], b = n->in[1];
    Equation e;

    equation_of(n, &e);
    ValueId d = product_gradient(g, n, dy[0]);
    const char *ea = e.dims[0], *eb = e.dims[1], *ey = e.dims[2];
    if (want[0])
        dx[0] = make_dot(g, d, b, arena_string(g->arena, "%s,%s->%s", ey, eb, ea));
    if (want[1])
        dx[1] = make_dot(g, a, d, arena_string(g->arena, "%s,%s->%s", ea, ey, eb));
}

static void dot_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    int64_t size[N_LETTERS], at[N_LETTERS] = {0};
    char contracted[MAX_RANK + 1] = "";
    Equation e;

    equation_of(n, &e);
    letters_sizes(e.dims[0], &x[0], size);
    letters_sizes(e.dims[1], &x[1], size);
    for (const char *s = e.dims[0]; *s; s++)
        if (!strchr(e.dims[2], *s))
            contracted[strlen(contracted)] = *s;
    for (bool row = letters_begin(at, e.dims[2], size); row;
         row = letters_next(at, e.dims[2], size))
        y->f[letters_at(at, e.dims[2], y)] =
            letters_dot(at, contracted, size, e.dims[0], &x[0], e.dims[1], &x[1]);
}

static ValueId dot_split(Graph *g, const Node *n, const Split *s)
{
    char to[3][MAX_RANK + 1];
    Equation e;

    equation_of(n, &e);
    if (!split_letters(s, 3, (const char *[]){e.dims[0], e.dims[1], e.dims[2]}, (int[]){0, 1, 2},
                       to))
        return 0;
    return make_dot_to(g, s->in[0], s->in[1],
                       arena_string(g->arena, "%s,%s->%s", to[0], to[1], to[2]),
                       (DType)n->attr[TO].i);
}

const OpDef op_dot = {
    .name = "dot",
    .n_in = 2,
    .attrs = {{"eq", ATTR_TEXT}, {"to", ATTR_INT, .is_dtype = true}},
    .infer = dot_infer,
    .rule = dot_rule,
    .split = dot_split,
    .grad = dot_grad,
    .eval = dot_eval,
    .kernel = kernel_dot,
    .is_product = true,
    .narrow_in = 1 << 0 | 1 << 1,
    .flops = 2,
};
