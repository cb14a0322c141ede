// The kernel calls of dot and attention: turns their dims into loops with a stride per operand,
// which become the kernels' parameters.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "ir/operator/contract.h"

// One loop: its number of iterations, and the stride of each operand in elements.
typedef struct Loop {
    int64_t size, stride[MAX_KERNEL_OPERANDS];
} Loop;

typedef struct Loops {
    Loop loop[N_LETTERS];
    int n;
} Loops;

// The operands of a kernel call: the letters of their dims (NULL: absent), their strides, and sizes
// by letter.
typedef struct Operands {
    const char *dims[MAX_KERNEL_OPERANDS];
    const int64_t *stride[MAX_KERNEL_OPERANDS];
    int n;
    int64_t size[N_LETTERS];
} Operands;

static bool has(const char *dims, char c) { return dims && strchr(dims, c); }

// Appends the loop over letter c if it has more than one iteration.
static void add_loop(Loops *l, const Operands *o, char c)
{
    Loop *x = &l->loop[l->n];

    if (o->size[(int)c] == 1)
        return;
    *x = (Loop){.size = o->size[(int)c]};
    for (int i = 0; i < o->n; i++)
        if (has(o->dims[i], c))
            x->stride[i] = o->stride[i][strchr(o->dims[i], c) - o->dims[i]];
    l->n++;
}

static bool is_nested(const Loop *outer, const Loop *inner, int n)
{
    for (int i = 0; i < n; i++)
        if (outer->stride[i] != inner->stride[i] * inner->size)
            return false;
    return true;
}

// Sorts the loops from outer to inner by the strides of operand `by` and joins loops that are one
// loop in all operands. If a loop has no iterations, it alone stays.
static void join_loops(Loops *l, int n_operands, int by)
{
    int n = 0;

    for (int i = 0; i < l->n; i++)
        if (l->loop[i].size == 0) {
            l->loop[0] = l->loop[i];
            l->n = 1;
            return;
        }
    for (int i = 1; i < l->n; i++)
        for (int k = i; k > 0 && l->loop[k].stride[by] > l->loop[k - 1].stride[by]; k--) {
            Loop t = l->loop[k];
            l->loop[k] = l->loop[k - 1];
            l->loop[k - 1] = t;
        }
    for (int i = 0; i < l->n; i++) {
        if (n && is_nested(&l->loop[n - 1], &l->loop[i], n_operands)) {
            int64_t size = l->loop[n - 1].size * l->loop[i].size;
            l->loop[n - 1] = l->loop[i];
            l->loop[n - 1].size = size;
        } else {
            l->loop[n++] = l->loop[i];
        }
    }
    l->n = n;
}

// Removes the longest loop and returns it; returns a loop of one iteration if there is none.
static Loop take_longest(Loops *l)
{
    Loop longest = {.size = 1};
    int at = -1;

    for (int i = 0; i < l->n; i++)
        if (at < 0 || l->loop[i].size > l->loop[at].size)
            at = i;
    if (at < 0)
        return longest;
    longest = l->loop[at];
    l->n--;
    memmove(&l->loop[at], &l->loop[at + 1], sizeof(Loop) * (size_t)(l->n - at));
    return longest;
}

// Asks for a copy of operand i that is dense in the order of letters `dims`.
static void want_order(const Graph *g, const Node *n, int i, const Operands *o, const char *dims,
                       Kernel *k)
{
    int64_t step = 1;

    if (!k->want)
        k->want = arena_alloc(g->arena, (size_t)(n->n_in + n->n_out), sizeof *k->want);
    for (int c = (int)strlen(dims) - 1; c >= 0; c--) {
        k->want[i][strchr(o->dims[i], dims[c]) - o->dims[i]] = step;
        step *= o->size[(int)dims[c]];
    }
    k->copies |= (uint64_t)1 << i;
}

// ---- dot ----

enum { A, B, Y };

typedef struct DotLoops {
    Loops m, n, k, batch;
    char contracted[MAX_RANK + 1];  // letters
} DotLoops;

static void sort_letters(const Operands *o, DotLoops *d)
{
    int at = 0;

    for (int c = 1; c < N_LETTERS; c++) {
        bool a = has(o->dims[A], (char)c), b = has(o->dims[B], (char)c);
        bool y = has(o->dims[Y], (char)c);
        if (!a && !b)
            continue;
        add_loop(a && b && y ? &d->batch : a && y ? &d->m : b && y ? &d->n : &d->k, o, (char)c);
        if (!y)
            d->contracted[at++] = (char)c;
    }
    join_loops(&d->m, 3, A);
    join_loops(&d->n, 3, B);
    join_loops(&d->k, 3, B);
    join_loops(&d->batch, 3, Y);
}

// Sets `order` to the letters of operand i with the contracted ones last, in the order of b.
static void contracted_last(const Operands *o, const DotLoops *d, int i, char *order)
{
    int at = 0;

    for (const char *s = o->dims[i]; *s; s++)
        if (!strchr(d->contracted, *s))
            order[at++] = *s;
    for (const char *s = o->dims[B]; *s; s++)
        if (strchr(d->contracted, *s))
            order[at++] = *s;
    order[at] = 0;
}

// For contracted dims that aren't one loop: asks for copies of both operands in which they are.
static void want_contracted(const Graph *g, const Node *n, const Operands *o, const DotLoops *d,
                            Kernel *k)
{
    char order[MAX_RANK + 1];

    for (int i = A; i <= B; i++) {
        contracted_last(o, d, i, order);
        want_order(g, n, i, o, order, k);
    }
}

// Appends to `order` the letters of `dims` that are in `in` (is_in), or aren't (!is_in).
static void put_letters(const char *dims, const char *in, bool is_in, char *order)
{
    size_t at = strlen(order);

    for (const char *s = dims; *s; s++)
        if (has(in, *s) == is_in)
            order[at++] = *s;
    order[at] = 0;
}

// For more loops than the kernel has: asks for copies of all operands in which batch, free and
// contracted dims are one loop each.
static void want_joined(const Graph *g, const Node *n, const Operands *o, Kernel *k)
{
    char batch[MAX_RANK + 1] = "", free[2][MAX_RANK + 1] = {"", ""}, order[3][3 * MAX_RANK + 1];

    for (const char *s = o->dims[Y]; *s; s++) {
        bool a = has(o->dims[A], *s), b = has(o->dims[B], *s);
        char *to = a && b ? batch : free[b];
        to[strlen(to)] = *s;
    }
    for (int i = A; i <= B; i++) {
        snprintf(order[i], sizeof order[i], "%s%s", batch, free[i]);
        put_letters(o->dims[B], o->dims[Y], false, order[i]);
        want_order(g, n, i, o, order[i], k);
    }
    snprintf(order[Y], sizeof order[Y], "%s%s%s", batch, free[A], free[B]);
    want_order(g, n, Y, o, order[Y], k);
}

static bool has_too_many_loops(const DotLoops *d)
{
    return d->batch.n + (d->m.n ? d->m.n - 1 : 0) + (d->n.n ? d->n.n - 1 : 0) > RT_MAX_BATCH;
}

static void add_batch(RtDot *p, const Loops *l)
{
    for (int i = 0; i < l->n; i++) {
        p->batch[p->n_batch] = l->loop[i].size;
        p->a_batch[p->n_batch] = l->loop[i].stride[A];
        p->b_batch[p->n_batch] = l->loop[i].stride[B];
        p->y_batch[p->n_batch++] = l->loop[i].stride[Y];
    }
}

void kernel_dot(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    Operands o = {.n = 3};
    DotLoops d = {0};
    Equation e;

    equation_read(n->attr[0].s, 2, &e);
    for (int i = 0; i < 3; i++) {
        const Value *v = i < Y ? in(g, n, i) : out(g, n);
        o.dims[i] = e.dims[i];
        o.stride[i] = stride[i];
        for (int c = 0; c < v->rank; c++)
            o.size[(int)e.dims[i][c]] = v->dim[c];
    }
    sort_letters(&o, &d);
    if (has_too_many_loops(&d)) {
        want_joined(g, n, &o, k);
        return;
    }
    if (d.k.n > 1) {
        want_contracted(g, n, &o, &d, k);
        return;
    }
    Loop m = take_longest(&d.m), cols = take_longest(&d.n), sum = take_longest(&d.k);
    RtDot p = {.m = m.size,
               .n = cols.size,
               .k = sum.size,
               .a_m = m.stride[A],
               .a_k = sum.stride[A],
               .b_k = sum.stride[B],
               .b_n = cols.stride[B],
               .y_m = m.stride[Y],
               .y_n = cols.stride[Y],
               .type = (RtType)in(g, n, 0)->dtype,
               .result = product_result(g, n)};
    add_batch(&p, &d.batch);
    add_batch(&p, &d.m);
    add_batch(&p, &d.n);
    k->def = kernel_find("dot");
    k->params.dot = p;
}

// ---- attention ----

// The operands of attention and of its gradient. The scalar seed is replaced by the random numbers,
// as if they were a tensor in memory: a kernel computes the index of one like the offset of an
// element.
enum { Q, K, V, BIAS, DROP, STEP, MICRO, OUT, MAX, SUM, D_OUT, D_Q, D_K, D_V };

// The strides of an operand in the kernel's parameters; NULL: it is a scalar.
static RtStrides *strides_of(RtAttention *p, int operand)
{
    RtStrides *const of[] = {&p->q, &p->k,   &p->v,   &p->bias, &p->drop, NULL,   NULL,
                             &p->y, &p->max, &p->sum, &p->dy,   &p->dq,   &p->dk, &p->dv};

    return of[operand];
}

// Sets the strides of the random numbers, which cover all micro-batches. Returns the stride from
// one micro-batch to the next.
static int64_t drop_strides(const AttentionDims *a, const Dropout *d, const int64_t *size,
                            Operands *o, int64_t *stride)
{
    int64_t step = 1, micro = 0;

    for (int i = (int)strlen(a->drop); i >= 0; i--) {
        if (a->drop[i]) {
            stride[i] = step;
            step *= size[(int)a->drop[i]];
        }
        if (i == d->micro_axis) {
            micro = step;
            step *= d->micro_batches;
        }
    }
    o->dims[DROP] = a->drop;
    o->stride[DROP] = stride;
    return micro;
}

static Operands attention_operands(const Graph *g, const Node *n, const AttentionDims *a,
                                   const int64_t (*stride)[MAX_RANK])
{
    const char *dims[] = {a->eq.dims[0], a->eq.dims[1], a->eq.dims[2], a->bias,      NULL,
                          NULL,          NULL,          a->eq.dims[3], a->rows,      a->rows,
                          a->eq.dims[3], a->eq.dims[0], a->eq.dims[1], a->eq.dims[2]};
    Operands o = {.n = n->n_in + n->n_out};

    for (int i = 0; i < o.n; i++) {
        const Value *v = i < n->n_in ? in(g, n, i) : value_of(g, n->out[i - n->n_in]);
        if (!dims[i] || (i < n->n_in && !n->in[i]))
            continue;
        o.dims[i] = dims[i];
        o.stride[i] = stride[i];
        for (int c = 0; c < v->rank; c++)
            o.size[(int)dims[i][c]] = v->dim[c];
    }
    return o;
}

static Loops loops_of(const Operands *o, const char *letters, int by)
{
    Loops l = {0};

    for (const char *s = letters; *s; s++)
        add_loop(&l, o, *s);
    join_loops(&l, o->n, by);
    return l;
}

static void set_strides(RtStrides *p, const Loops *batch, const Loops *group, int i, int64_t row,
                        int64_t col)
{
    for (int k = 0; k < batch->n; k++)
        p->batch[k] = batch->loop[k].stride[i];
    for (int k = 0; k < group->n; k++)
        p->group[k] = group->loop[k].stride[i];
    p->row = row;
    p->col = col;
}

static int factor_of(const Rule *r, char letter)
{
    int f = 0;

    while (r->letter[f] != letter)
        f++;
    return f;
}

// Sets the sizes of the whole by letter; the node may be a shard of it.
static void whole_sizes(const Rule *r, const Kernel *k, int64_t *size)
{
    for (int f = 0; f < r->n_factors; f++)
        size[(int)r->letter[f]] = k->whole ? k->whole[f] : r->size[f];
}

// Sets where a shard begins: its first query position, on which masks depend, and its first random
// number.
static void set_begin(const Rule *r, const AttentionDims *a, const Attention *o,
                      const int64_t *drop, Kernel *k)
{
    k->params.attention.offset = o->offset;
    kernel_add_shard(k, offsetof(RtAttention, offset), factor_of(r, a->query), 1);
    for (int i = 0; o->drop.seed && a->drop[i]; i++)
        kernel_add_shard(k, offsetof(RtAttention, drop_at), factor_of(r, a->drop[i]), drop[i]);
}

// A mask's number in f32; 0 means -inf.
static float mask_number(double x)
{
    float number = (float)x;

    return number < -FLT_MAX ? 0 : number;
}

static void set_options(const Graph *g, const Node *n, const Attention *a, int64_t micro, Kernel *k)
{
    RtAttention *p = &k->params.attention;

    p->has_bias = n->in[BIAS] != 0;
    p->bool_bias = n->in[BIAS] && in(g, n, BIAS)->dtype == BOOL;
    p->causal = a->causal;
    p->window = a->window;
    p->scale = (float)a->scale;
    p->outside = mask_number(a->outside);
    p->hidden = mask_number(a->hidden);
    p->outside_added = a->outside_added && p->outside != 0;
    p->hidden_added = a->hidden_added && p->hidden != 0;
    p->order = (int)a->order;
    p->guard = a->guard;
    if (!a->drop.seed)
        return;
    p->drops = true;
    p->rate = (float)a->drop.rate;
    p->site = a->drop.site;
    p->layer = a->drop.layer;
    p->micro_step = micro;
    k->term[k->n_terms++] =
        (KernelTerm){.at = offsetof(RtAttention, layer), .factor = TERM_LAYER, .by = 1};
}

// Joins the dims `letters` to one loop. False if they aren't one loop in all operands.
static bool single_loop(const Operands *o, const char *letters, int by, Loop *l)
{
    Loops loops = loops_of(o, letters, by);

    if (loops.n > 1)
        return false;
    *l = take_longest(&loops);
    return true;
}

static const Loop *row_of(int i, const Loop *s, const Loop *t)
{
    return i == K || i == V || i == D_K || i == D_V ? t : s;
}

static const Loop *column_of(int i, const Loop *t, const Loop *e, const Loop *f)
{
    bool is_inner = i == Q || i == K || i == D_Q || i == D_K;
    return is_inner ? e : i == BIAS || i == DROP ? t : f;
}

void kernel_attention(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    char batch_letters[MAX_RANK + 1] = "", group_letters[MAX_RANK + 1] = "";
    Attention options = attention_options(n);
    int64_t drop[MAX_RANK], size[N_LETTERS], micro = 0;
    Loop s, t, e, f;
    AttentionDims a;
    Rule rule;

    attention_read(n, &a);
    node_rule(g->arena, g, n, &rule);
    whole_sizes(&rule, k, size);
    Operands o = attention_operands(g, n, &a, stride);
    if (options.drop.seed)
        micro = drop_strides(&a, &options.drop, size, &o, drop);
    for (const char *c = a.rows; *c; c++) {
        if (!strchr(a.queries, *c))
            batch_letters[strlen(batch_letters)] = *c;
        else if (*c != a.query)
            group_letters[strlen(group_letters)] = *c;
    }
    Loops batch = loops_of(&o, batch_letters, OUT), group = loops_of(&o, group_letters, OUT);
    if (batch.n > RT_MAX_BATCH || group.n > RT_MAX_BATCH ||
        !single_loop(&o, (char[]){a.query, 0}, Q, &s) || !single_loop(&o, a.keys, K, &t))
        return;
    if (!single_loop(&o, a.inner, K, &e) || !single_loop(&o, a.values, V, &f)) {
        for (int i = Q; i <= V; i++)
            kernel_dense_operand(g, n, i, stride, k);
        return;
    }
    RtAttention *p = &k->params.attention;
    *p = (RtAttention){
        .n_batch = batch.n, .n_group = group.n, .s = s.size, .t = t.size, .e = e.size, .f = f.size};
    for (int i = 0; i < batch.n; i++)
        p->batch[i] = batch.loop[i].size;
    for (int i = 0; i < group.n; i++)
        p->group[i] = group.loop[i].size;
    for (int i = 0; i < o.n; i++)
        if (o.dims[i])
            set_strides(strides_of(p, i), &batch, &group, i, row_of(i, &s, &t)->stride[i],
                        column_of(i, &t, &e, &f)->stride[i]);
    p->type = half_type(in(g, n, Q)->dtype);
    set_begin(&rule, &a, &options, drop, k);
    set_options(g, n, &options, micro, k);
    k->def = kernel_find(n->op->name);
}
