// Evaluates values during the import that follow from constants alone, such as the arithmetic on
// shapes that exporters write. If all inputs of a new node are known, its operator's `eval`
// evaluates it.
//
// A known value is stored without the dims along which it repeats (they are 1), and is evaluated in
// that form: if all inputs repeat along a parallel factor, the factor is evaluated at one index
// only. So masks and positions of a large batch cost no more than those of one sample.
#include "frontend/internal.h"

enum {
    MAX_KNOWN = 1 << 14,      // most elements in the space of one evaluation
    MAX_EVALUATED = 1 << 24,  // most elements in all evaluations; their results are kept
};

double known_number(const Tensor *t, int64_t i)
{
    return dtype_is_float(t->dtype) ? t->f[i] : (double)t->i[i];
}

const Tensor *known_of(Import *x, ValueId v)
{
    known_update(x);
    return v < x->n_known ? x->known[v] : NULL;
}

bool known_is_splat(const Tensor *t) { return tensor_count(t) == 1; }

static void strides_of(const Tensor *t, int64_t *stride)
{
    int64_t s = 1;

    for (int d = t->rank; d-- > 0; s *= t->dim[d])
        stride[d] = s;
}

static void copy_element(Tensor *y, int64_t i, const Tensor *x, int64_t k)
{
    if (dtype_is_float(y->dtype))
        y->f[i] = x->f[k];
    else
        y->i[i] = x->i[k];
}

// Gives x the dims `dim`. Where a dim of x is 1, x is repeated; where `dim` is 1, its first element
// is taken.
static Tensor repeat(Arena *a, const Tensor *x, const int64_t *dim)
{
    int64_t stride[MAX_RANK], index[MAX_RANK] = {0};
    Tensor y = tensor_new(a, x->dtype, x->rank, dim);
    int64_t n = tensor_count(&y);

    strides_of(x, stride);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        for (int d = 0; d < x->rank; d++)
            k += x->dim[d] > 1 ? index[d] * stride[d] : 0;
        copy_element(&y, i, x, k);
        for (int d = x->rank; d-- > 0 && ++index[d] == dim[d];)
            index[d] = 0;
    }
    return y;
}

static bool same_element(const Tensor *t, int64_t a, int64_t b)
{
    return dtype_is_float(t->dtype) ? !memcmp(&t->f[a], &t->f[b], sizeof *t->f)
                                    : t->i[a] == t->i[b];
}

static bool repeats(const Tensor *t, int d)
{
    int64_t stride[MAX_RANK], n = tensor_count(t);

    strides_of(t, stride);
    for (int64_t i = 0; i < n; i++)
        if (i / stride[d] % t->dim[d] && !same_element(t, i, i - stride[d]))
            return false;
    return true;
}

// A copy of t in which each dim along which it repeats is 1.
static const Tensor *compact(Arena *a, const Tensor *t)
{
    Tensor *y = arena_array(a, Tensor, 1);
    int64_t dim[MAX_RANK];

    memcpy(dim, t->dim, sizeof dim);
    for (int d = 0; d < t->rank && tensor_count(t); d++)
        if (t->dim[d] > 1 && repeats(t, d))
            dim[d] = 1;
    *y = repeat(a, t, dim);
    return y;
}

// Finds the factors that need evaluation at only one index. Returns false if the rest is still too
// large.
static bool compact_factors(Import *x, const Node *n, const Rule *r, bool *is_one)
{
    int64_t volume = 1;

    for (int f = 0; f < r->n_factors; f++) {
        bool is_repeated = n->n_in > 0 && r->kind[f] == FACTOR_PARALLEL && r->size[f] > 1;
        for (int i = 0; i < n->n_in && is_repeated; i++)
            for (int d = 0; d < in(x->g, n, i)->rank; d++)
                is_repeated &= r->dim[i][d] != f || x->known[n->in[i]]->dim[d] == 1;
        is_one[f] = is_repeated;
        if (!mul_size(volume, is_repeated ? 1 : r->size[f], &volume) || volume > MAX_KNOWN)
            return false;
    }
    x->evaluated += volume;
    return x->evaluated <= MAX_EVALUATED;
}

// Gives the dims of an operand without the repeating factors. Returns false if it is too large.
static bool compact_dims(const Value *v, const int8_t *factor, const bool *is_one, int64_t *dim)
{
    int64_t count = 1;

    for (int d = 0; d < v->rank; d++) {
        dim[d] = is_one[factor[d]] ? 1 : v->dim[d];
        if (!mul_size(count, dim[d], &count) || count > MAX_KNOWN)
            return false;
    }
    return true;
}

static const Tensor *evaluate_in(Arena *a, Import *x, const Node *n)
{
    int64_t dim[MAX_RANK];
    bool is_one[MAX_FACTORS];
    Rule r = {0};
    NodeShard p = {0};

    for (int i = 0; i < n->n_in; i++)
        if (!n->in[i] || !x->known[n->in[i]])
            return NULL;
    const Value *y = out(x->g, n);
    if (n->n_out != 1)
        return NULL;
    node_rule(a, x->g, n, &r);
    if (!compact_factors(x, n, &r, is_one))
        return NULL;
    memcpy(p.whole, r.size, sizeof p.whole);
    Tensor *compact_in = arena_array(a, Tensor, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) {
        const Tensor *k = x->known[n->in[i]];
        if (!compact_dims(in(x->g, n, i), r.dim[i], is_one, dim))
            return NULL;
        compact_in[i] = memcmp(dim, k->dim, (size_t)k->rank * sizeof *dim) ? repeat(a, k, dim) : *k;
    }
    if (!compact_dims(y, r.dim[n->n_in], is_one, dim))
        return NULL;
    Tensor result = tensor_new(a, y->dtype, y->rank, dim);
    node_eval_shard(x->g, n, &p, compact_in, &result);
    return compact(x->scratch, &result);
}

static const Tensor *evaluate(Import *x, const Node *n)
{
    Arena *a = arena_new();
    const Tensor *t = evaluate_in(a, x, n);

    arena_free(a);
    return t;
}

static const Tensor *read_constant(Import *x, const Value *v)
{
    Arena *a = arena_new();
    Tensor whole = tensor_of(a, v);
    const Tensor *t = compact(x->scratch, &whole);

    arena_free(a);
    return t;
}

bool known_is_full(const Import *x) { return x->evaluated > MAX_EVALUATED; }

void known_update(Import *x)
{
    while (x->n_known < x->g->n_values) {
        ValueId v = x->n_known;
        const Value *value = value_of(x->g, v);
        const Tensor *t = NULL;
        if (v && value->kind == VALUE_CONSTANT && value_count(value) <= MAX_KNOWN)
            t = read_constant(x, value);
        else if (v && value->producer)
            t = evaluate(x, producer(x->g, v));
        const Tensor **to = arena_push(x->scratch, x->known, x->n_known, x->cap_known);
        *to = t;
    }
}

bool known_affine(const Tensor *t, int *axis, int64_t *first, int64_t *step)
{
    *axis = -1;
    *step = 0;
    if (dtype_is_float(t->dtype) || t->dtype == BOOL || !tensor_count(t))
        return false;
    *first = t->i[0];
    for (int d = 0; d < t->rank; d++) {
        if (t->dim[d] == 1)
            continue;
        if (*axis >= 0)
            return false;
        *axis = d;
    }
    if (*axis < 0)
        return true;
    *step = (int64_t)((uint64_t)t->i[1] - (uint64_t)t->i[0]);
    for (int64_t i = 1; i < t->dim[*axis]; i++)
        if ((int64_t)((uint64_t)t->i[i] - (uint64_t)t->i[i - 1]) != *step)
            return false;
    return true;
}

static bool is_exact(int64_t i) { return i > -((int64_t)1 << 53) && i < (int64_t)1 << 53; }

// Is the value a scalar constant already, or made without inputs, or a broadcast scalar?
static bool is_plain(const Graph *g, ValueId v)
{
    if (value_of(g, v)->kind == VALUE_CONSTANT)
        return value_of(g, v)->rank == 0;
    const Node *n = producer(g, v);
    return n->n_in == 0 || (n->n_in == 1 && value_of(g, n->in[0])->rank == 0 &&
                            value_of(g, n->in[0])->kind == VALUE_CONSTANT);
}

ValueId known_canonical(Import *x, ValueId v)
{
    enum { SHORT = 4 };  // a shorter vector isn't worth an iota
    const Tensor *t = known_of(x, v);
    int axis;
    int64_t first, step;

    if (!t || !tensor_count(t) || is_plain(x->g, v))
        return v;
    Dims d = dims_of(x->g, v);
    if (known_is_splat(t)) {
        if (!dtype_is_float(t->dtype) && !is_exact(t->i[0]))
            return v;
        return full(x->g, t->dtype, &d, known_number(t, 0));
    }
    if (!known_affine(t, &axis, &first, &step) || axis < 0 || t->dim[axis] < SHORT ||
        !is_exact(first) || !is_exact(step))
        return v;
    ValueId i = make_iota(x->g, t->dtype, 1, &t->dim[axis], 0);
    if (step != 1)
        i = make_mul(x->g, i, scalar_like(x->g, i, (double)step));
    if (first != 0)
        i = make_add(x->g, i, scalar_like(x->g, i, (double)first));
    return d.rank == 1 ? i : make_broadcast(x->g, i, d.rank, d.dim, &(int64_t){axis});
}

ValueId known_vector(Import *x, const Tensor *t)
{
    int64_t count = tensor_count(t);

    return known_canonical(x, graph_constant(x->g, t->dtype, 1, &count, tensor_pack(x->arena, t)));
}
