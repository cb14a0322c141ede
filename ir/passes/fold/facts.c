// Facts: values known by their indices alone, as affine forms and comparisons of them. Facts pass
// through views and arithmetic of any size, for which evaluation would be too slow.
#include "ir/passes/fold/fold.h"

#include <math.h>
#include <string.h>

static const double EXACT = 9007199254740992.0;  // 2^53: doubles below it hold integers exactly

static struct Known *known_of(Folder *f, ValueId v)
{
    while (f->n_known <= v)
        *arena_push(f->scratch, f->known, f->n_known, f->cap_known) = (struct Known){0};
    return &f->known[v];
}

static bool is_splat(const Fact *x, int rank)
{
    if (!x || x->n_predicates)
        return false;
    for (int i = 0; i < rank; i++)
        if (x->value.a[i] != 0)
            return false;
    return true;
}

bool affine_range(const Affine *x, const Value *v, double *least, double *most)
{
    *least = *most = x->c;
    for (int i = 0; i < v->rank; i++) {
        double last = x->a[i] * (double)(v->dim[i] - 1);
        *(last < 0 ? least : most) += last;
    }
    return fabs(*least) < EXACT && fabs(*most) < EXACT;
}

// Are all elements of x, over the indices of `v`, whole numbers that dtype `t` holds exactly?
static bool is_exact(const Affine *x, const Value *v, DType t)
{
    double least, most, limit = t == F32 ? 0x1p24 : t == F16 ? 0x1p11 : t == BF16 ? 0x1p8 : EXACT;

    if (!affine_range(x, v, &least, &most) || x->c != floor(x->c))
        return false;
    for (int i = 0; i < v->rank; i++)
        if (x->a[i] != floor(x->a[i]))
            return false;
    if (dtype_is_float(t))
        return fabs(least) <= limit && fabs(most) <= limit;
    double zero = least < 0 ? least : 0;
    return wrap_int(t, (int64_t)most) == (int64_t)most &&
           wrap_int(t, (int64_t)zero) == (int64_t)zero;
}

// ---- elementwise ----

// Evaluates an elementwise operator on one element `x` of each operand.
static double eval_one(Folder *f, const Node *n, const double *x)
{
    Tensor in_[3], y;

    for (int i = 0; i < n->n_in; i++) {
        in_[i] = tensor_new(f->scratch, in(f->g, n, i)->dtype, 0, NULL);
        if (in_[i].f)
            in_[i].f[0] = x[i];
        else
            in_[i].i[0] = (int64_t)x[i];
    }
    y = tensor_new(f->scratch, out(f->g, n)->dtype, 0, NULL);
    node_eval_shard(f->g, n, NULL, in_, &y);
    return y.f ? y.f[0] : (double)y.i[0];
}

static bool same_predicates(const Fact *x, const Fact *y)
{
    return x->n_predicates == y->n_predicates &&
           !memcmp(x->predicate, y->predicate, sizeof x->predicate);
}

// If each operand is one number, or one of two by the same predicates, so is the result.
static bool eval_two(Folder *f, const Node *n, const Fact *const *x, Fact *y)
{
    double yes[3], no[3];
    const Fact *with = NULL;

    for (int i = 0; i < n->n_in; i++) {
        if (x[i]->n_predicates && with && !same_predicates(with, x[i]))
            return false;
        if (x[i]->n_predicates)
            with = x[i];
        else if (!is_splat(x[i], out(f->g, n)->rank))
            return false;
        yes[i] = x[i]->value.c;
        no[i] = x[i]->n_predicates ? x[i]->other : yes[i];
    }
    *y = with ? *with : (Fact){0};
    memset(&y->value, 0, sizeof y->value);
    y->value.c = eval_one(f, n, yes);
    y->other = with ? eval_one(f, n, no) + 0.0 : 0;  // + 0.0 makes a mask's -0 a 0
    if (with)
        y->value.c += 0.0;
    if (with && y->value.c == y->other)
        *y = (Fact){.value = y->value};
    bool fits = dtype_is_float(out(f->g, n)->dtype) || fabs(y->value.c) < EXACT;
    return fits && (dtype_is_float(out(f->g, n)->dtype) || fabs(y->other) < EXACT);
}

static Affine affine_sum(const Affine *x, double k, const Affine *y)
{
    Affine z;

    z.c = x->c + k * y->c;
    for (int i = 0; i < MAX_RANK; i++)
        z.a[i] = x->a[i] + k * y->a[i];
    return z;
}

static bool arithmetic(Folder *f, const Node *n, const Fact *const *x, Fact *y)
{
    int rank = out(f->g, n)->rank;
    const Affine *p = &x[0]->value, *q = n->n_in > 1 ? &x[1]->value : NULL;

    if (n->op == &op_add)
        y->value = affine_sum(p, 1, q);
    else if (n->op == &op_sub)
        y->value = affine_sum(p, -1, q);
    else if (n->op == &op_neg)
        y->value = affine_sum(&(Affine){0}, -1, p);
    else if (n->op == &op_mul && is_splat(x[1], rank))
        y->value = affine_sum(&(Affine){0}, q->c, p);
    else if (n->op == &op_mul && is_splat(x[0], rank))
        y->value = affine_sum(&(Affine){0}, p->c, q);
    else if (n->op == &op_cast && out(f->g, n)->dtype != BOOL)
        y->value = *p;
    else
        return false;
    return is_exact(&y->value, out(f->g, n), out(f->g, n)->dtype);
}

// Sets y to the fact "p ≥ 0"; to 1 or 0 if that is true or false everywhere.
static bool predicate(const Value *v, Affine p, Fact *y)
{
    double least, most;

    if (!affine_range(&p, v, &least, &most))
        return false;
    *y = (Fact){.value.c = 1, .n_predicates = 1, .predicate = {p}};
    if (least >= 0 || most < 0)
        *y = (Fact){.value.c = least >= 0};
    return true;
}

// x ≤ y is y - x ≥ 0, and x < y is y - x - 1 ≥ 0, because all numbers are whole.
static bool comparison(Folder *f, const Node *n, const Fact *const *x, Fact *y)
{
    const Value *v = out(f->g, n);
    Affine difference = affine_sum(&x[1]->value, -1, &x[0]->value);
    double least, most;

    for (int i = 0; i < 2; i++)
        if (!is_exact(&x[i]->value, v, F64))
            return false;
    if (n->op == &op_lt)
        difference.c--;
    if (n->op == &op_le || n->op == &op_lt)
        return predicate(v, difference, y);
    if (!affine_range(&difference, v, &least, &most) || (least <= 0 && most >= 0))
        return false;
    *y = (Fact){.value.c = n->op == &op_max ? 0 : n->op == &op_min};
    if (n->op == &op_eq)
        return true;
    if (n->op != &op_max && n->op != &op_min)
        return false;
    y->value = x[(n->op == &op_max) == (least > 0)]->value;
    return true;
}

static bool is_mask(const Fact *x) { return x->value.c == 1 && x->other == 0; }

static bool logic(Folder *f, const Node *n, const Fact *const *x, Fact *y)
{
    const Fact *p = x[0], *q = n->n_in > 1 ? x[1] : NULL;

    if (n->op == &op_not && p->n_predicates == 1 && is_mask(p)) {
        Affine minus_one = {.c = -1};
        *y = (Fact){.value.c = 1, .n_predicates = 1};
        y->predicate[0] = affine_sum(&minus_one, -1, &p->predicate[0]);
        return true;
    }
    if (n->op != &op_and || !p->n_predicates || !q->n_predicates || !is_mask(p) || !is_mask(q) ||
        p->n_predicates + q->n_predicates > MAX_PREDICATES)
        return false;
    *y = *p;
    y->predicate[y->n_predicates++] = q->predicate[0];
    if (!memcmp(&y->predicate[0], &y->predicate[1], sizeof y->predicate[0]))
        y->n_predicates = 1;
    return true;
}

// ---- views ----

// Do the dims of x and y differ in dims of size 1 alone? Then to[i] is the dim of y that dim i of x
// becomes; -1: none.
static bool reshape_dims(const Value *x, const Value *y, int *to)
{
    int j = 0;

    for (int i = 0; i < x->rank; i++) {
        to[i] = -1;
        if (x->dim[i] == 1)
            continue;
        while (j < y->rank && y->dim[j] == 1)
            j++;
        if (j == y->rank || y->dim[j] != x->dim[i])
            return false;
        to[i] = j++;
    }
    while (j < y->rank && y->dim[j] == 1)
        j++;
    return j == y->rank;
}

// How a view maps indices: the index along input dim i is start[i] + stride[i] · (the index along
// output dim to[i]); to[i] is -1 if the dim is gone.
typedef struct Moves {
    int to[MAX_RANK];
    int64_t start[MAX_RANK], stride[MAX_RANK];
} Moves;

static bool read_moves(const Graph *g, const Node *n, Moves *m)
{
    const Value *x = in(g, n, 0);

    for (int i = 0; i < x->rank; i++) {
        m->to[i] = i;
        m->start[i] = 0;
        m->stride[i] = 1;
    }
    if (n->op == &op_slice && n->attr[3].n)  // drops dims
        return false;
    if (n->op == &op_reshape)
        return reshape_dims(x, out(g, n), m->to);
    for (int i = 0; i < x->rank; i++) {
        if (n->op == &op_broadcast)
            m->to[i] = (int)n->attr[1].v[i];
        else if (n->op == &op_transpose)
            m->to[n->attr[0].v[i]] = i;
        else if (n->op == &op_slice) {
            m->start[i] = n->attr[0].v[i];
            m->stride[i] = n->attr[2].v[i];
        } else
            return false;
    }
    return n->op == &op_broadcast || n->op == &op_transpose || n->op == &op_slice;
}

static Affine move(const Affine *x, const Moves *m, int rank)
{
    Affine y = {.c = x->c};

    for (int i = 0; i < rank; i++) {
        if (x->a[i] == 0)
            continue;
        y.c += x->a[i] * (double)m->start[i];
        if (m->to[i] >= 0)
            y.a[m->to[i]] = x->a[i] * (double)m->stride[i];
    }
    return y;
}

static bool view(Folder *f, const Node *n, const Fact *x, Fact *y)
{
    int rank = in(f->g, n, 0)->rank;
    Moves m;

    if (is_splat(x, rank)) {
        *y = (Fact){.value.c = x->value.c};
        return n->op == &op_reshape || read_moves(f->g, n, &m);
    }
    if (!read_moves(f->g, n, &m))
        return false;
    *y = *x;
    y->value = move(&x->value, &m, rank);
    if (!x->n_predicates)
        return true;
    *y = (Fact){.value.c = x->value.c, .other = x->other};
    for (int i = 0; i < x->n_predicates; i++) {
        Affine p = move(&x->predicate[i], &m, rank);
        Fact part;
        if (!predicate(out(f->g, n), p, &part))
            return false;
        if (part.n_predicates)
            y->predicate[y->n_predicates++] = p;
        else if (part.value.c == 0) {  // no element of the view fulfils the predicate
            *y = (Fact){.value.c = x->other};
            return true;
        }
    }
    return true;
}

// The running sum of equal numbers is affine.
static bool cumulative(Folder *f, const Node *n, const Fact *x, Fact *y)
{
    const Value *v = out(f->g, n);
    int axis = (int)n->attr[0].i;
    bool exclusive = n->attr[1].i, reverse = n->attr[2].i;
    double c = x->value.c;

    if (n->op != &op_cumsum || !is_splat(x, v->rank))
        return false;
    double first = exclusive ? 0 : c;
    *y = (Fact){.value.c = reverse ? first + c * (double)(v->dim[axis] - 1) : first};
    y->value.a[axis] = reverse ? -c : c;
    return is_exact(&y->value, v, v->dtype);
}

// ---- facts of nodes ----

static bool iota_fact(const Graph *g, const Node *n, Fact *y)
{
    if (n->op != &op_iota)
        return false;
    y->value.a[n->attr[1].i] = 1;
    return is_exact(&y->value, out(g, n), out(g, n)->dtype);
}

static bool node_fact(Folder *f, const Node *n, Fact *y)
{
    const Fact *x[3];

    if (n->n_out != 1 || n->n_in > 3)
        return false;
    if (n->n_in == 0)
        return iota_fact(f->g, n, y);
    for (int i = 0; i < n->n_in; i++)
        if (!n->in[i] || !(x[i] = fact_of(f, n->in[i])))
            return false;
    if (!n->op->is_elementwise)
        return n->n_in == 1 && (view(f, n, x[0], y) || cumulative(f, n, x[0], y));
    if (eval_two(f, n, x, y))
        return true;
    *y = (Fact){0};
    bool plain = true;
    for (int i = 0; i < n->n_in; i++)
        plain &= x[i]->n_predicates == 0;
    if (!plain)
        return logic(f, n, x, y);
    return arithmetic(f, n, x, y) || (n->n_in == 2 && comparison(f, n, x, y));
}

static const Fact *compute_fact(Folder *f, ValueId v)
{
    const Value *x = value_of(f->g, v);
    Fact y = {0};

    if (value_count(x) == 0)
        return NULL;
    if (x->kind == VALUE_CONSTANT) {
        const Tensor *t = tensor_value(f, v);
        return t ? fact_fit(f->scratch, t) : NULL;
    }
    if (!x->producer || !node_fact(f, producer(f->g, v), &y))
        return NULL;
    Fact *fact = arena_array(f->scratch, Fact, 1);
    *fact = y;
    return fact;
}

static bool compute_constant(Folder *f, ValueId v)
{
    const Value *x = value_of(f->g, v);

    if (!x->producer)
        return x->kind == VALUE_CONSTANT;
    const Node *n = producer(f->g, v);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_constant(f, n->in[i]))
            return false;
    return !node_site(n) && !n->op->exchange;
}

static struct Known *ask(Folder *f, ValueId v)
{
    if (!known_of(f, v)->is_asked) {
        bool constant = compute_constant(f, v);
        const Fact *fact = constant ? compute_fact(f, v) : NULL;
        struct Known *k = known_of(f, v);  // compute_fact may have moved the array
        k->is_asked = true;
        k->is_constant = constant;
        k->fact = fact;
    }
    return known_of(f, v);
}

const Fact *fact_of(Folder *f, ValueId v) { return ask(f, v)->fact; }

bool is_constant(Folder *f, ValueId v) { return ask(f, v)->is_constant; }

bool fact_splat(Folder *f, ValueId v, double *x)
{
    const Fact *fact = v ? fact_of(f, v) : NULL;

    if (!is_splat(fact, value_of(f->g, v)->rank))
        return false;
    *x = fact->value.c;
    return true;
}

// Is a node small enough for evaluation, which is slow? Counts the work of it.
static bool is_affordable(Folder *f, const Node *n)
{
    // Elements of the node's iteration space; as many as take the time of one simplified value.
    enum { MAX_WORK = 1 << 23, WORK_OF_VALUE = 256 };
    int64_t work = 1;
    Rule r;

    for (int i = 0; i < n->n_out; i++)
        if (value_bytes(value_of(f->g, n->out[i])) > MAX_BYTES)
            return false;
    node_rule(f->scratch, f->g, n, &r);
    for (int i = 0; i < r.n_factors; i++)
        if (!mul_size(work, r.size[i] > 1 ? r.size[i] : 1, &work) || work > MAX_WORK)
            return false;
    return budget_add(f->g->budget, BUDGET_folding, work / WORK_OF_VALUE);
}

const Tensor *tensor_value(Folder *f, ValueId v)
{
    const Value *x = value_of(f->g, v);

    if (known_of(f, v)->tensor)
        return known_of(f, v)->tensor;
    if (value_bytes(x) > MAX_BYTES)
        return NULL;
    Tensor *t = arena_array(f->scratch, Tensor, MAX_OUTPUTS);
    if (x->kind == VALUE_CONSTANT) {
        *t = tensor_of(f->scratch, x);
        known_of(f, v)->tensor = t;
        return t;
    }
    const Node *n = producer(f->g, v);
    if (!is_affordable(f, n))
        return NULL;
    Tensor *operand = arena_array(f->scratch, Tensor, n->n_in);
    for (int i = 0; i < n->n_in; i++) {
        const Tensor *o = n->in[i] ? tensor_value(f, n->in[i]) : &(Tensor){0};
        if (!o)
            return NULL;
        operand[i] = *o;
    }
    node_eval(f->scratch, f->g, n, operand, t);
    for (int i = 0; i < n->n_out; i++)
        known_of(f, n->out[i])->tensor = &t[i];
    return known_of(f, v)->tensor;
}
