// Follows the samples of a batch through the nodes, by the operators' rules.
#include "ir/passes/train/samples.h"

#include <stdio.h>
#include <string.h>

// Where samples lie along a dim: index = (outer · batch + sample) · inner + rest.
typedef struct Along {
    int dim;  // -1: several dims together
    int64_t inner;
} Along;

static Along find_along(const Value *v, int64_t stride, int64_t batch)
{
    int64_t step = 1;

    for (int d = v->rank - 1; d >= 0; step *= v->dim[d--])
        if (step <= stride && stride % step == 0 && v->dim[d] % (stride / step * batch) == 0 &&
            v->dim[d] > 1)
            return (Along){d, stride / step};
    return (Along){-1, 0};
}

static int64_t stride_of(const Value *v, int dim)
{
    int64_t step = 1;

    for (int d = v->rank - 1; d > dim; d--)
        step *= v->dim[d];
    return step;
}

// The dim of an operand that a factor is; -1: none.
static int dim_of_factor(const Rule *r, int operand, const Value *v, int factor)
{
    for (int d = 0; d < v->rank; d++)
        if (r->dim[operand][d] == factor)
            return d;
    return -1;
}

// Has the node's output the elements of its only input, in the same order?
static bool keeps_order(const Graph *g, const Node *n)
{
    return n->op->view && n->n_in == 1 && value_count(in(g, n, 0)) == value_count(out(g, n));
}

static const Reads *reads_of(const Samples *s, const Node *n, int i)
{
    static const Reads none = {0};

    return n->in[i] ? &s->of[n->in[i]] : &none;
}

// ---- values that depend on no sample ----

// Does a source's element depend on its index along a dim? Random numbers do, but they are those of
// the whole batch.
static bool source_varies(const Graph *g, const Node *n, int dim)
{
    char index[16];
    const char *expr = n->op->expr ? n->op->expr(g, n) : NULL;

    snprintf(index, sizeof index, "$i%d", dim);
    const char *at = expr && !node_site(n) ? strstr(expr, index) : NULL;
    return at && !(at[strlen(index)] >= '0' && at[strlen(index)] <= '9');
}

static bool constant_varies(const Value *v, Along at, int64_t batch)
{
    const char *data = v->data;
    int64_t bytes = dtype_size(v->dtype), inner = at.inner * stride_of(v, at.dim);

    for (int64_t i = 0; i < value_count(v); i++)
        if (i / inner % batch &&
            memcmp(data + i * bytes, data + (i - inner) * bytes, (size_t)bytes))
            return true;
    return false;
}

// Differ the elements of a value that depends on no sample where samples differ?
static bool varies(const Samples *s, ValueId id, int64_t stride)
{
    const Graph *g = s->g;
    const Value *v = value_of(g, id);
    Along at = find_along(v, stride, s->batch);

    if (!v->producer)
        return v->kind != VALUE_CONSTANT || at.dim < 0 || constant_varies(v, at, s->batch);
    const Node *n = producer(g, id);
    if (!n->n_in || node_site(n))
        return at.dim < 0 || source_varies(g, n, at.dim);
    if (n->op->is_elementwise || (at.dim < 0 && keeps_order(g, n))) {
        bool any = false;
        for (int i = 0; i < n->n_in; i++)
            any |= n->in[i] && varies(s, n->in[i], stride);
        return any;
    }
    if (at.dim < 0)
        return true;
    Rule r;
    node_rule(s->arena, g, n, &r);
    int factor = r.dim[n->n_in][at.dim];
    if (r.kind[factor] != FACTOR_PARALLEL)
        return !keeps_order(g, n) || varies(s, n->in[0], stride);
    for (int i = 0; i < n->n_in; i++) {
        int d = n->in[i] ? dim_of_factor(&r, i, in(g, n, i), factor) : -1;
        if (d >= 0 && varies(s, n->in[i], at.inner * stride_of(in(g, n, i), d)))
            return true;
    }
    return false;
}

// ---- sums ----

static bool is_zero(const Graph *g, ValueId v)
{
    double x;

    return value_splat(g, v, &x) && x == 0;
}

// May sums go through the node? It must be linear in them, with everything else fixed.
static bool is_linear(const Samples *s, const Node *n, const Rule *r)
{
    uint64_t sums = 0, others = 0;

    for (int i = 0; i < n->n_in; i++) {
        const Reads *x = reads_of(s, n, i);
        uint64_t bit = i < 64 ? (uint64_t)1 << i : 0;
        if (x->sums && !bit)
            return false;
        sums |= x->sums ? bit : 0;
        others |= x->stride ? bit : 0;
    }
    if ((sums | others) == ((sums | others) & r->joint))
        return true;
    return sums && !(sums & (sums - 1)) && !(others & ~sums) && (sums & r->single);
}

// Joins what the inputs read, where nothing is read of several samples other than in a sum.
static void join_sums(const Samples *s, const Node *n, const Rule *r, Reads *y)
{
    for (int i = 0; i < n->n_in; i++) {
        const Reads *x = reads_of(s, n, i);
        bool is_joint = i < 64 && r->joint >> i & 1;
        if (!y->summed)
            y->summed = x->summed;
        y->sums |= x->sums;
        y->has_free |= x->has_free;
        y->has_free |= is_joint && n->in[i] && reads_nothing(x) && !is_zero(s->g, n->in[i]);
    }
    y->has_free &= y->sums;
}

// ---- samples along dims ----

// The factor of the node that samples are along, which must be the same one for all inputs. Returns
// -1 if there is none, and -2 if there are several.
static int find_factor(const Samples *s, const Node *n, const Rule *r, int64_t *inner)
{
    int factor = -1;

    for (int i = 0; i < n->n_in; i++) {
        const Reads *x = reads_of(s, n, i);
        if (!x->stride)
            continue;
        Along at = find_along(in(s->g, n, i), x->stride, s->batch);
        if (at.dim < 0 || (factor >= 0 && (factor != r->dim[i][at.dim] || *inner != at.inner)))
            return -2;
        factor = r->dim[i][at.dim];
        *inner = at.inner;
    }
    return factor;
}

// Is an input that depends on no sample different for each of them?
static bool reads_position(const Samples *s, const Node *n, const Rule *r, int factor,
                           int64_t inner)
{
    for (int i = 0; i < n->n_in; i++) {
        int d = n->in[i] ? dim_of_factor(r, i, in(s->g, n, i), factor) : -1;
        if (d >= 0 && !reads_of(s, n, i)->stride &&
            varies(s, n->in[i], inner * stride_of(in(s->g, n, i), d)))
            return true;
    }
    return false;
}

// Sets the stride of output k, or that it is a sum over samples. Returns false if it reads several.
static bool read_along(const Samples *s, const Node *n, const Rule *r, int factor, int64_t inner,
                       int k, Reads *y)
{
    const Value *v = value_of(s->g, n->out[k]);
    int d = dim_of_factor(r, n->n_in + k, v, factor);

    if (!y->by_position && reads_position(s, n, r, factor, inner))
        y->by_position = (NodeId)(n - s->g->nodes);
    if (r->kind[factor] == FACTOR_PARALLEL && d >= 0) {
        y->stride = inner * stride_of(v, d);
        return true;
    }
    y->sums |= r->kind[factor] == FACTOR_SUM;
    return r->kind[factor] == FACTOR_SUM;
}

// The stride that all inputs have that have samples; 0: they differ.
static int64_t common_stride(const Samples *s, const Node *n)
{
    int64_t stride = 0;

    for (int i = 0; i < n->n_in; i++) {
        int64_t x = reads_of(s, n, i)->stride;
        if (x && stride && x != stride)
            return 0;
        stride = x ? x : stride;
    }
    return stride;
}

static bool position_varies(const Samples *s, const Node *n, int64_t stride)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !reads_of(s, n, i)->stride && varies(s, n->in[i], stride))
            return true;
    return false;
}

// ---- rows of one's own ----

// Exporters write x[arange(batch), i] as a gather from rows that all samples' parts make together,
// at sample · n + i.

// The elements of a value that follows from constants; NULL: it is too large, or it doesn't.
static const Tensor *evaluate(const Samples *s, ValueId id)
{
    enum { MAX_ELEMENTS = 1 << 16 };
    const Graph *g = s->g;
    const Value *v = value_of(g, id);
    Tensor *y = arena_array(s->arena, Tensor, MAX_OUTPUTS);

    if (value_count(v) > MAX_ELEMENTS || (!v->producer && v->kind != VALUE_CONSTANT))
        return NULL;
    if (!v->producer) {
        y[0] = tensor_of(s->arena, v);
        return y;
    }
    const Node *n = producer(g, id);
    Tensor *x = arena_array(s->arena, Tensor, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) {
        const Tensor *t = n->in[i] ? evaluate(s, n->in[i]) : NULL;
        if (!t)
            return NULL;
        x[i] = *t;
    }
    if (n->n_out != 1)
        return NULL;
    node_eval(s->arena, g, n, x, y);
    return y;
}

// Is it sample · n, where samples are so far from each other?
static bool is_first_row(const Samples *s, ValueId id, int64_t stride, int64_t n)
{
    const Tensor *t = reads_nothing(&s->of[id]) ? evaluate(s, id) : NULL;

    for (int64_t i = 0; t && i < tensor_count(t); i++)
        if (dtype_is_float(t->dtype) || t->i[i] != i / stride % s->batch * n)
            return false;
    return t;
}

// Is the index a sum of that and something else?
static bool is_own_row(const Samples *s, ValueId index, int64_t stride, int64_t n)
{
    static const int64_t one[2][2] = {{1, 0}, {0, 1}};
    const Graph *g = s->g;

    while (value_of(g, index)->producer && keeps_order(g, producer(g, index)))
        index = producer(g, index)->in[0];
    const Node *sum = producer(g, index);
    if (!value_of(g, index)->producer || sum->n_in != 2 || !sum->op->scalar_int ||
        sum->op->scalar_int(sum, one[0]) != 1 || sum->op->scalar_int(sum, one[1]) != 1)
        return false;
    return is_first_row(s, sum->in[0], stride, n) || is_first_row(s, sum->in[1], stride, n);
}

// Does a gather take from the rows of each sample those of this one? Then samples are along the
// index in its output.
static bool reads_own_rows(const Samples *s, const Node *n, const Rule *r, int k, Reads *y)
{
    if (n->n_in < 2 || !reads_of(s, n, 0)->stride || !reads_of(s, n, 1)->stride)
        return false;
    const Value *x = in(s->g, n, 0), *index = in(s->g, n, 1), *v = value_of(s->g, n->out[k]);
    int64_t stride = reads_of(s, n, 1)->stride;
    Along from = find_along(x, reads_of(s, n, 0)->stride, s->batch);
    Along at = find_along(index, stride, s->batch);
    if (from.dim < 0 || at.dim < 0 || r->kind[(int)r->dim[0][from.dim]] != FACTOR_MASKED ||
        x->dim[from.dim] != s->batch * from.inner || !is_own_row(s, n->in[1], stride, from.inner))
        return false;
    int d = dim_of_factor(r, n->n_in + k, v, r->dim[1][at.dim]);
    y->stride = d < 0 ? 0 : at.inner * stride_of(v, d);
    y->by_position = reads_of(s, n, 0)->by_position;
    return d >= 0;
}

// ---- one node ----

static bool read_output(const Samples *s, const Node *n, const Rule *r, int k, Reads *y)
{
    bool has_samples = false, has_sums = false;
    int64_t inner = 0;

    for (int i = 0; i < n->n_in; i++) {
        has_samples |= reads_of(s, n, i)->stride != 0;
        has_sums |= reads_of(s, n, i)->sums;
    }
    if (has_sums && !is_linear(s, n, r))
        return false;
    if (has_sums)
        join_sums(s, n, r, y);
    if (!has_samples)
        return true;
    if (n->op->is_elementwise) {
        y->stride = common_stride(s, n);
        if (y->stride && !y->by_position && position_varies(s, n, y->stride))
            y->by_position = (NodeId)(n - s->g->nodes);
        return y->stride;
    }
    if (reads_own_rows(s, n, r, k, y))
        return true;
    int factor = find_factor(s, n, r, &inner);
    bool is_blocked = factor < 0 || r->kind[factor] == FACTOR_BLOCKED;
    if (is_blocked && keeps_order(s->g, n) && dim_of_factor(r, 1, out(s->g, n), factor) < 0) {
        y->stride = reads_of(s, n, 0)->stride;
        return true;
    }
    return factor >= 0 && read_along(s, n, r, factor, inner, k, y);
}

static void read_node(Samples *s, NodeId id, bool is_batch_norm)
{
    const Graph *g = s->g;
    const Node *n = &g->nodes[id];
    Reads all = {0};
    Rule r = {0};

    for (int i = 0; i < n->n_in; i++) {
        const Reads *x = reads_of(s, n, i);
        all.has_weight |= x->has_weight;
        all.sums |= !reads_nothing(x);
        all.mixed = all.mixed ? all.mixed : x->mixed;
        all.by_position = all.by_position ? all.by_position : x->by_position;
    }
    if (all.sums && !all.mixed)
        node_rule(s->arena, g, n, &r);
    for (int k = 0; k < n->n_out; k++) {
        Reads y = {
            .has_weight = all.has_weight, .mixed = all.mixed, .by_position = all.by_position};
        if (all.sums && !all.mixed && !read_output(s, n, &r, k, &y))
            y.mixed = id;
        if (y.sums && !y.summed)
            y.summed = id;
        if (is_batch_norm)
            y.sums = y.has_free = false;
        s->of[n->out[k]] = y;
    }
}

// ---- the graph ----

static const char *source_key(Arena *a, const Node *n)
{
    const Source *s = n->source;

    return s ? arena_string(a, "%s\n%s", s->name ? s->name : "", s->scope ? s->scope : "") : "";
}

static bool any_of(const ValueId *v, int n, const bool *is)
{
    for (int k = 0; k < n; k++)
        if (v[k] && is[v[k]])
            return true;
    return false;
}

// By ValueId: is it made of running statistics? A batch norm that is used several times updates
// them once for each use, one after the other.
static bool *find_statistics(Arena *a, const Graph *g)
{
    bool *is = arena_array(a, bool, g->n_values);

    for (int c = 0; c < g->n_carries; c++)
        is[g->carries[c].in] = true;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_out && any_of(n->in, n->n_in, is); k++)
            is[n->out[k]] = true;
    }
    return is;
}

// By node: is it of a batch norm whose running statistics the step updates? Its nodes have one
// source.
static bool *find_batch_norms(Arena *a, const Graph *g)
{
    bool *is = arena_array(a, bool, g->n_nodes), *is_made = find_statistics(a, g);
    bool *is_written = arena_array(a, bool, g->n_values);  // what is carried depends on it
    Map sources = {.arena = a};

    for (int c = 0; c < g->n_carries; c++)
        is_written[g->carries[c].out] = true;
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        if (!any_of(n->out, n->n_out, is_written) || !any_of(n->out, n->n_out, is_made))
            continue;
        map_set(&sources, source_key(a, n), 1);
        for (int k = 0; k < n->n_in; k++)
            is_written[n->in[k]] = true;
    }
    for (NodeId i = 1; i < g->n_nodes && sources.n; i++)
        is[i] = map_get(&sources, source_key(a, &g->nodes[i]));
    return is;
}

Samples samples_read(Arena *a, const Graph *g)
{
    Samples s = {.g = g, .arena = a, .of = arena_array(a, Reads, g->n_values)};
    bool *is_batch_norm = find_batch_norms(a, g);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        s.of[v].has_weight = x->kind == VALUE_PARAMETER && dtype_is_float(x->dtype);
        if (x->kind != VALUE_INPUT || !x->rank || x->dim[0] < 2)
            continue;
        s.batch = s.batch ? s.batch : x->dim[0];
        if (x->dim[0] == s.batch)
            s.of[v].stride = stride_of(x, 0);
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        read_node(&s, i, is_batch_norm[i]);
    return s;
}
