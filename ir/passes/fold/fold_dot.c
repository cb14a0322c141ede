// Folds transposes around contractions into the order of letters in their equations.
#include "ir/operator/contract.h"
#include "ir/passes/fold/fold.h"

#include <stdio.h>
#include <string.h>

enum { EQ, TO = 1, BIAS_EQ = 1, QUERY };  // indices of attributes of dot and attention
enum { BIAS = 3, INPUTS = 7 };            // attention's input bias, and its number of inputs
enum { EQ_TEXT = 5 * (MAX_RANK + 2) };

// The letters of a transpose's input, given those of its result: out dim i is in dim perm[i].
static void letters_before(const Attr *perm, const char *after, char *before)
{
    memset(before, 0, MAX_RANK + 1);
    for (int i = 0; i < perm->n; i++)
        before[perm->v[i]] = after[i];
}

static const char *equation_text(Folder *f, const Equation *e)
{
    const char *last = e->dims[e->n - 1];

    if (e->n == 3)
        return arena_string(f->g->arena, "%s,%s->%s", e->dims[0], e->dims[1], last);
    return arena_string(f->g->arena, "%s,%s,%s->%s", e->dims[0], e->dims[1], e->dims[2], last);
}

// If `v` is a transpose, returns its input and reorders the letters; else returns 0.
static ValueId without_transpose(Folder *f, ValueId v, char *letters)
{
    const Node *n = producer(f->g, v);
    char before[MAX_RANK + 1];

    if (n->op != &op_transpose)
        return 0;
    letters_before(&n->attr[0], letters, before);
    memcpy(letters, before, sizeof before);
    return n->in[0];
}

// If operand i, `v`, is a broadcast along batch dims, returns its input and drops their letters,
// which are then free dims of the other operand; else returns 0.
static ValueId without_broadcast(Folder *f, ValueId v, Equation *e, int i)
{
    const Node *n = producer(f->g, v);
    char left[MAX_RANK + 1] = "";

    if (n->op != &op_broadcast)
        return 0;
    for (int k = 0, j = 0, m = 0; e->dims[i][k]; k++) {
        char c = e->dims[i][k];
        if (j < n->attr[1].n && n->attr[1].v[j] == k) {
            left[m++] = c;
            j++;
        } else if (!strchr(e->dims[1 - i], c) || !strchr(e->dims[2], c))
            return 0;
    }
    memcpy(e->dims[i], left, sizeof left);
    return n->in[0];
}

ValueId fold_dot(Folder *f, const Node *n)
{
    ValueId x[2] = {n->in[0], n->in[1]};
    bool any = false;
    Equation e;

    equation_read(n->attr[EQ].s, 2, &e);
    for (int i = 0; i < 2; i++) {
        ValueId v = without_transpose(f, x[i], e.dims[i]);
        if (!v)
            v = without_broadcast(f, x[i], &e, i);
        any |= v != 0;
        x[i] = v ? v : x[i];
    }
    return any ? fold_value(
                     f, make_dot_to(f->g, x[0], x[1], equation_text(f, &e), (DType)n->attr[TO].i))
               : 0;
}

static ValueId with_equations(Folder *f, const Node *n, const ValueId *x, const Equation *e,
                              const char *bias, char query)
{
    Attr attr[MAX_ATTRS];

    memcpy(attr, n->attr, sizeof attr);
    attr[EQ].s = equation_text(f, e);
    attr[BIAS_EQ].s = x[BIAS] ? bias : NULL;
    attr[QUERY].i = strchr(e->dims[0], query) - e->dims[0];
    return fold_share(f, graph_node(f->g, n->op, n->n_in, x, attr));
}

// The second output, the log-sum-exp, has its dims in the order of the first output's letters,
// which stay.
ValueId fold_attention(Folder *f, const Node *n)
{
    ValueId x[INPUTS];
    char *bias = arena_array(f->g->arena, char, MAX_RANK + 1);
    bool any = false;
    Equation e;

    memcpy(x, n->in, sizeof x);
    equation_read(n->attr[EQ].s, 3, &e);
    char query = e.dims[0][n->attr[QUERY].i];
    if (n->attr[BIAS_EQ].s)
        snprintf(bias, MAX_RANK + 1, "%s", n->attr[BIAS_EQ].s);
    for (int i = 0; i <= BIAS; i++) {
        ValueId v = x[i] ? without_transpose(f, x[i], i < BIAS ? e.dims[i] : bias) : 0;
        any |= v != 0;
        x[i] = v ? v : x[i];
    }
    return any ? with_equations(f, n, x, &e, bias, query) : 0;
}

ValueId fold_into_equation(Folder *f, const Node *transpose)
{
    Node n = *producer(f->g, transpose->in[0]);
    char before[MAX_RANK + 1] = "";
    Equation e;

    if (n.op != &op_dot && n.op != &op_attention)
        return 0;
    equation_read(n.attr[EQ].s, n.op == &op_dot ? 2 : 3, &e);
    char *y = e.dims[e.n - 1];
    for (int i = 0; i < transpose->attr[0].n; i++)
        before[i] = y[transpose->attr[0].v[i]];
    memcpy(y, before, sizeof before);
    if (n.op == &op_dot)
        return fold_value(
            f, make_dot_to(f->g, n.in[0], n.in[1], equation_text(f, &e), (DType)n.attr[TO].i));
    char query = e.dims[0][n.attr[QUERY].i];
    return with_equations(f, &n, n.in, &e, n.attr[BIAS_EQ].s, query);
}
