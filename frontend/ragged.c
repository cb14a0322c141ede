// Follows the parts of a tensor whose sizes are computed, as routers count the tokens of each
// expert. Their sizes aren't known when compiling, so each part keeps all rows of the tensor.
// Between the split and the Concat of its parts, operators must treat each row alone, which their
// rules tell: the rows' factor is parallel. The Concat takes each row from the part that it belongs
// to.
#include "frontend/internal.h"

// A split into n parts.
typedef struct RaggedSplit {
    const char *name, *sizes;  // the node's; the name of its second input
    ValueId size;
    int n;
    int64_t rows;     // of all parts
    ValueId *before;  // n - 1 of BOOL[rows]: does the row come before the end of this part?
} RaggedSplit;

// The part that a value is, if it is one.
typedef struct Ragged {
    int32_t split, part;  // NOT_RAGGED: it is no part
    int8_t dim;           // that has the rows
    uint16_t repeats;     // mask of dims along which all elements are equal
} Ragged;

enum { NOT_RAGGED = -1 };

// Mistakes of an operator that reads a part; %d is the part's number, %s the split's name.
static const char
    mixes[] = "mixes the rows of part %d of '%.200s', whose size is computed",
    meets_part[] = "reads part %d of '%.200s', whose size is computed, together with another part",
    meets_rows[] = "reads part %d of '%.200s', whose size is computed, together with rows of "
                   "another tensor",
    counts[] = "needs the size of part %d of '%.200s', which is computed",
    splits[] = "splits part %d of '%.200s', whose size is computed",
    joins[] = "joins part %d of '%.200s', whose size is computed, and not all parts in "
              "their order along their axis";

static bool is_ragged(const Ragged *r) { return r->split != NOT_RAGGED; }

// Does the value repeat along the dim, so that all of its rows are equal?
static bool repeats(const Import *x, ValueId v, int dim)
{
    const Tensor *known = v < x->n_known ? x->known[v] : NULL;

    return value_of(x->g, v)->dim[dim] <= 1 || x->ragged[v].repeats >> dim & 1 ||
           (known && known->dim[dim] == 1);
}

// The dim of operand `i` that has the factor; -1: none has it.
static int dim_with(const Graph *g, const Node *n, const Rule *r, int i, int factor)
{
    ValueId v = nth_operand(n, i);

    for (int d = 0; v && d < value_of(g, v)->rank; d++)
        if (r->dim[i][d] == factor)
            return d;
    return -1;
}

// A dim of an output repeats if it does in all inputs that have it. Random numbers count as
// repeated: each row's are drawn alike.
static uint16_t repeats_of(const Import *x, const Node *n, const Rule *r, int output)
{
    const Value *y = value_of(x->g, n->out[output]);
    uint16_t mask = 0;

    for (int d = 0; d < y->rank; d++) {
        bool all = n->n_in > 0;
        for (int i = 0; i < n->n_in && all; i++) {
            int k = dim_with(x->g, n, r, i, r->dim[n->n_in + output][d]);
            all = k < 0 || repeats(x, n->in[i], k);
        }
        mask |= (uint16_t)(all << d);
    }
    return mask;
}

// Finds the part whose rows a node reads, and their factor. Returns what is wrong; NULL: nothing.
static const char *find_rows(const Import *x, const Node *n, const Rule *r, Ragged *part,
                             int *factor)
{
    *part = (Ragged){.split = NOT_RAGGED};
    for (int i = 0; i < n->n_in; i++) {
        const Ragged *in = &x->ragged[n->in[i]];
        if (!n->in[i] || !is_ragged(in))
            continue;
        int f = r->dim[i][in->dim];
        bool is_second = is_ragged(part);
        if (is_second && (in->split != part->split || in->part != part->part))
            return meets_part;
        *part = *in;
        if (r->kind[f] != FACTOR_PARALLEL || (is_second && f != *factor))
            return mixes;
        *factor = f;
    }
    for (int i = 0; is_ragged(part) && i < n->n_in; i++) {
        int d = dim_with(x->g, n, r, i, *factor);
        if (d >= 0 && !is_ragged(&x->ragged[n->in[i]]) && !repeats(x, n->in[i], d))
            return meets_rows;
    }
    return NULL;
}

// Says what a value without a mark is. Returns what is wrong; NULL: nothing.
static const char *follow(Import *x, ValueId v, Ragged *to)
{
    const Node *n = value_of(x->g, v)->producer ? producer(x->g, v) : NULL;
    int factor, output = 0;
    Rule r = {0};

    *to = (Ragged){.split = NOT_RAGGED};
    if (!n)
        return NULL;
    while (n->out[output] != v)
        output++;
    node_rule(x->scratch, x->g, n, &r);
    const char *wrong = find_rows(x, n, &r, to, &factor);
    if (!wrong && is_ragged(to)) {
        int d = dim_with(x->g, n, &r, n->n_in + output, factor);
        to->dim = (int8_t)d;
        wrong = d < 0 ? mixes : NULL;
    }
    to->repeats = repeats_of(x, n, &r, output);
    return wrong;
}

static bool refuse(Op *o, const char *wrong, const Ragged *part)
{
    op_error(o, wrong, part->part, o->x->splits[part->split].name);
    diag_note(o->x->diag, "up to the Concat of all its parts, operators must treat each row alone");
    diag_note(o->x->diag, "or export a form in which each expert reads all rows (transformers: "
                          "experts_implementation=\"batched_mm\")");
    return false;
}

// Marks the values that were made since the last call. False after an error.
static bool mark_new(Op *o)
{
    Import *x = o->x;
    bool ok = true;

    known_update(x);
    while (x->n_ragged < x->g->n_values) {
        ValueId v = x->n_ragged;
        Ragged r = {.split = NOT_RAGGED};
        const char *wrong = v ? follow(x, v, &r) : NULL;
        if (wrong && ok)
            ok = refuse(o, wrong, &r);
        if (wrong)
            r.split = NOT_RAGGED;
        *arena_push(x->scratch, x->ragged, x->n_ragged, x->cap_ragged) = r;
    }
    return ok;
}

// Marks the values that were made since the last call as no parts.
static void mark_plain(Import *x)
{
    while (x->n_ragged < x->g->n_values)
        *arena_push(x->scratch, x->ragged, x->n_ragged, x->cap_ragged) =
            (Ragged){.split = NOT_RAGGED};
}

// Element i of a vector.
static ValueId element(Graph *g, ValueId v, int i)
{
    return drop_dim(g, slice_axis(g, v, 0, i, 1, 1), 0);
}

// Sizes as i64. They are bounded, so that their sums don't overflow.
static ValueId sizes_of(Graph *g, ValueId size)
{
    const double most = 0x1p40;
    ValueId x = make_cast(g, size, I64);

    return make_max(g, make_min(g, x, scalar_like(g, x, most)), scalar_like(g, x, -most));
}

// Stops the run if a size is negative or their sum isn't the number of rows.
static void check_sizes(Import *x, const RaggedSplit *s, ValueId sizes, ValueId sum)
{
    Graph *g = x->g;
    const char *scope = g->source->scope;
    const char *name = *scope ? arena_string(g->arena, "%s/%s", scope, s->name) : s->name;
    ValueId *worst = checks_worst(&x->checks, g, name, OUTPUT_BAD_SIZES, s->rows);

    const int64_t axes[] = {0};
    ValueId none = graph_scalar(g, I64, 0), twice = make_add(g, sum, sum);
    ValueId least = make_reduce_min(g, sizes, 1, axes);
    ValueId is_right = make_eq(g, sum, graph_scalar(g, I64, (double)s->rows));
    ValueId bad = make_select(g, is_right, none, make_add(g, twice, graph_scalar(g, I64, 1)));
    ValueId is_low = make_lt(g, least, none), low = make_neg(g, make_add(g, least, least));
    *worst = make_max(g, *worst, make_select(g, is_low, low, bad));
}

// The number of the split into parts of these sizes.
static int find_split(Op *o, ValueId size, int n, int64_t rows)
{
    Import *x = o->x;

    for (int i = 0; i < x->n_splits; i++)
        if (x->splits[i].size == size && x->splits[i].rows == rows)
            return i;
    RaggedSplit *s = arena_push(x->scratch, x->splits, x->n_splits, x->cap_splits);
    *s = (RaggedSplit){.name = o->g->source->name,
                       .sizes = arena_string(o->x->arena, "%s", arg_name(o, 1)),
                       .size = size,
                       .n = n,
                       .rows = rows};
    s->before = arena_array(x->scratch, ValueId, n);
    ValueId sizes = sizes_of(o->g, size), row = make_iota(o->g, I64, 1, &rows, 0);
    ValueId ends = make_cumsum(o->g, sizes, 0, false, false);
    for (int i = 0; i < n - 1; i++)
        s->before[i] = make_lt(o->g, row, broadcast_like(o->g, element(o->g, ends, i), row));
    check_sizes(x, s, sizes, element(o->g, ends, n - 1));
    return x->n_splits - 1;
}

bool ragged_split(Op *o, int axis, int n, ValueId *part)
{
    Import *x = o->x;
    ValueId whole = arg(o, 0), size = arg(o, 1);

    const Value *v = value_of(o->g, size);

    if (v->rank != 1 || v->dim[0] != n || (v->dtype != I32 && v->dtype != I64))
        return op_error(o, "split must be a vector of %d integers", n);
    if (!mark_new(o))
        return false;
    if (is_ragged(&x->ragged[whole]) || is_ragged(&x->ragged[size]))
        return refuse(o, splits, &x->ragged[is_ragged(&x->ragged[whole]) ? whole : size]);
    int split = find_split(o, size, n, value_of(o->g, whole)->dim[axis]);
    Dims d = dims_of(o->g, whole);
    mark_plain(x);
    for (int i = 0; i < n; i++) {
        part[i] = make_reshape(o->g, whole, d.rank, d.dim);
        if (!part[i])
            return false;
        *arena_push(x->scratch, x->ragged, x->n_ragged, x->cap_ragged) =
            (Ragged){.split = split, .part = i, .dim = (int8_t)axis};
    }
    return true;
}

static bool is_part(const Import *x, ValueId v)
{
    return v && v < x->n_ragged && is_ragged(&x->ragged[v]);
}

bool ragged_is_any(const Import *x, int n, const ValueId *v)
{
    bool any = false;

    for (int i = 0; i < n; i++)
        any |= is_part(x, v[i]);
    return any;
}

// Are all of them one part, which has its rows along another axis?
static bool is_one_part(const Import *x, int n, const ValueId *v, int axis)
{
    const Ragged *first = &x->ragged[v[0]];

    for (int i = 0; i < n; i++)
        if (x->ragged[v[i]].split != first->split || x->ragged[v[i]].part != first->part ||
            x->ragged[v[i]].dim == axis)
            return false;
    return true;
}

ValueId ragged_concat(Op *o, int n, const ValueId *v, int axis)
{
    Import *x = o->x;
    Graph *g = o->g;
    int any = 0;

    if (!mark_new(o))
        return 0;
    if (is_one_part(x, n, v, axis))
        return make_concat(g, n, v, axis);
    while (!is_ragged(&x->ragged[v[any]]))
        any++;
    const Ragged *part = &x->ragged[v[any]];
    const RaggedSplit *s = &x->splits[part->split];
    for (int i = 0; i < n; i++) {
        const Ragged *r = &x->ragged[v[i]];
        if (n != s->n || r->split != part->split || r->part != i || r->dim != axis) {
            refuse(o, joins, part);
            return 0;
        }
    }
    ValueId y = make_reshape(g, v[n - 1], value_of(g, v[n - 1])->rank, value_of(g, v[n - 1])->dim);
    for (int i = n - 1; i-- > 0;)
        y = make_select(g, vector_at(g, s->before[i], v[i], axis), v[i], y);
    mark_plain(x);
    o->ends_parts = true;
    return y;
}

void ragged_check(Op *o)
{
    Import *x = o->x;
    const Ragged *part = NULL;

    if (!x->n_splits)
        return;
    bool ok = mark_new(o);
    for (int i = 0; i < o->n_in && !part; i++)
        part = is_part(x, arg(o, i)) ? &x->ragged[arg(o, i)] : NULL;
    for (int i = 0; i < o->n_out && ok && part && !o->ends_parts; i++)
        if (o->out[i].value && !is_part(x, o->out[i].value))
            ok = refuse(o, counts, part);
    for (int i = 0; i < o->n_out && !ok; i++)
        o->out[i] = (Symbol){0};
}

bool ragged_check_output(Import *x, const char *name, ValueId v)
{
    if (!is_part(x, v))
        return true;
    const RaggedSplit *s = &x->splits[x->ragged[v].split];
    diag_error(
        x->diag,
        "the model's output '%.200s' is part %d of '%.200s': for that the sizes must be known "
        "when compiling, '%.200s' is not",
        name, x->ragged[v].part, s->name, s->sizes);
    return false;
}
