// Boxes of elements, and elements that have the same bits because of views.
#include <string.h>

#include "lower/check/check.h"

// ---- boxes ----

int64_t footprint_count(const Footprint *f)
{
    int64_t n = 1;

    for (int i = 0; i < f->rank; i++)
        n *= f->dim[i];
    return n;
}

bool footprint_range(const Footprint *f, int64_t *low, int64_t *high)
{
    *low = *high = f->at;
    for (int i = 0; i < f->rank; i++) {
        int64_t *end = f->stride[i] < 0 ? low : high;
        if (!f->dim[i])
            return false;
        *end += (f->dim[i] - 1) * f->stride[i];
    }
    *high += f->size;
    return true;
}

// Searches whether two boxes share a byte, over the dims of both from the largest stride to the
// smallest. Each dim moves the second box's element away from the first one's by a multiple of its
// stride, from low to high.
typedef struct IntersectionSearch {
    int n, tries;
    int64_t stride[2 * MAX_RANK], low[2 * MAX_RANK], high[2 * MAX_RANK];
    int64_t reach_low[2 * MAX_RANK + 1], reach_high[2 * MAX_RANK + 1];  // of the dims from here on
} IntersectionSearch;

static void search_add(IntersectionSearch *x, int64_t stride, int64_t low, int64_t high)
{
    int i = x->n;

    if (stride < 0) {
        search_add(x, -stride, -high, -low);
        return;
    }
    if (!stride || low == high)
        return;
    while (i > 0 && x->stride[i - 1] < stride)
        i--;
    if (i > 0 && x->stride[i - 1] == stride) {
        x->low[i - 1] += low;
        x->high[i - 1] += high;
        return;
    }
    for (int k = x->n++; k > i; k--) {
        x->stride[k] = x->stride[k - 1];
        x->low[k] = x->low[k - 1];
        x->high[k] = x->high[k - 1];
    }
    x->stride[i] = stride;
    x->low[i] = low;
    x->high[i] = high;
}

static int64_t divide_up(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// Can dims i and later bring the distance `from` to 0? Gives false after too many tries.
static bool search_meets(IntersectionSearch *x, int i, int64_t from)
{
    if (from + x->reach_low[i] > 0 || from + x->reach_high[i] < 0 || x->tries-- <= 0)
        return false;
    if (i == x->n)
        return true;
    int64_t low = divide_up(-from - x->reach_high[i + 1], x->stride[i]);
    int64_t high = -divide_up(from + x->reach_low[i + 1], x->stride[i]);
    low = low > x->low[i] ? low : x->low[i];
    high = high < x->high[i] ? high : x->high[i];
    for (int64_t k = low; k <= high; k++)
        if (search_meets(x, i + 1, from + k * x->stride[i]))
            return true;
    return false;
}

bool footprints_intersect(const Footprint *a, const Footprint *b)
{
    int64_t low_a, high_a, low_b, high_b;
    IntersectionSearch x = {.tries = 1000};

    if (!footprint_range(a, &low_a, &high_a) || !footprint_range(b, &low_b, &high_b) ||
        low_a >= high_b || low_b >= high_a)
        return false;
    for (int i = 0; i < a->rank; i++)
        search_add(&x, a->stride[i], 1 - a->dim[i], 0);
    for (int i = 0; i < b->rank; i++)
        search_add(&x, b->stride[i], 0, b->dim[i] - 1);
    x.reach_low[x.n] = 1 - a->size;
    x.reach_high[x.n] = b->size - 1;
    for (int i = x.n - 1; i >= 0; i--) {
        x.reach_low[i] = x.reach_low[i + 1] + x.low[i] * x.stride[i];
        x.reach_high[i] = x.reach_high[i + 1] + x.high[i] * x.stride[i];
    }
    return search_meets(&x, 0, b->at - a->at);
}

int64_t footprint_address(const Footprint *f, const int64_t *index)
{
    int64_t at = f->at;

    for (int i = 0; i < f->rank; i++)
        at += index[i] * f->stride[i];
    return at;
}

// Finds the index dim by dim, from the largest stride to the smallest. No stride is negative.
static bool find_upwards(const Footprint *f, int64_t address, int64_t *index)
{
    int64_t remainder = address - f->at;
    bool done[MAX_RANK] = {false};

    for (int n = 0; n < f->rank; n++) {
        int next = -1;
        for (int i = 0; i < f->rank; i++)
            if (!done[i] && (next < 0 || f->stride[i] > f->stride[next]))
                next = i;
        done[next] = true;
        index[next] = 0;
        if (f->dim[next] == 1 || f->stride[next] <= 0)
            continue;
        index[next] = remainder / f->stride[next];
        if (remainder < 0 || index[next] >= f->dim[next])
            return false;
        remainder -= index[next] * f->stride[next];
    }
    return remainder == 0;
}

// Reverses dims with negative strides, and the index in them.
bool footprint_find(const Footprint *f, int64_t address, int64_t *index)
{
    Footprint up = *f;

    for (int i = 0; i < f->rank; i++)
        if (f->stride[i] < 0) {
            up.at += (f->dim[i] - 1) * f->stride[i];
            up.stride[i] = -f->stride[i];
        }
    if (!find_upwards(&up, address, index))
        return false;
    for (int i = 0; i < f->rank; i++)
        if (f->stride[i] < 0)
            index[i] = f->dim[i] - 1 - index[i];
    return true;
}

// The dims with more than one element, from the largest stride to the smallest.
static int sort_dims(const Footprint *f, int *dim)
{
    int n = 0;

    for (int i = 0; i < f->rank; i++) {
        int k = n;
        if (f->dim[i] < 2 || !f->stride[i])
            continue;
        for (n++; k > 0 && f->stride[dim[k - 1]] < f->stride[i]; k--)
            dim[k] = dim[k - 1];
        dim[k] = i;
    }
    return n;
}

bool footprint_after(const Footprint *f, int64_t address, int64_t *index)
{
    int dim[MAX_RANK], n = sort_dims(f, dim), i = 0;
    int64_t remainder = address - f->at;

    memset(index, 0, sizeof *index * (size_t)f->rank);
    if (!footprint_count(f))
        return false;
    for (; i < n && remainder > 0; i++) {
        int64_t k = remainder / f->stride[dim[i]], most = f->dim[dim[i]] - 1;
        index[dim[i]] = k < most ? k : most;
        remainder -= index[dim[i]] * f->stride[dim[i]];
    }
    if (remainder <= 0)
        return true;
    while (--i >= 0) {  // the next element
        if (++index[dim[i]] < f->dim[dim[i]])
            return true;
        index[dim[i]] = 0;
    }
    return false;
}

bool footprint_before(const Footprint *f, int64_t address, int64_t *index)
{
    Footprint reversed = *f;

    reversed.at = -f->at;
    for (int i = 0; i < f->rank; i++)
        reversed.at -= (f->dim[i] - 1) * f->stride[i];
    if (!footprint_after(&reversed, -address, index))
        return false;
    for (int i = 0; i < f->rank; i++)
        index[i] = f->dim[i] - 1 - index[i];
    return true;
}

bool sample_next(const Footprint *f, int *n, int64_t *index)
{
    enum { BETWEEN = 3 };
    int k = (*n)++;

    if (k >= 2 + 2 * f->rank + BETWEEN || !footprint_count(f))
        return false;
    bool is_low = k == 0 || (k >= 2 && k < 2 + f->rank);
    for (int i = 0; i < f->rank; i++)
        index[i] = is_low ? 0 : f->dim[i] - 1;
    int d = k >= 2 + f->rank ? k - 2 - f->rank : k - 2;
    if (k >= 2 && k < 2 + 2 * f->rank && f->dim[d] > 1)
        index[d] += is_low ? 1 : -1;
    for (int i = 0; k >= 2 + 2 * f->rank && i < f->rank; i++)
        index[i] = (7 * k + 5 * i + f->dim[i] / 2) % f->dim[i];
    return true;
}

// ---- elements ----

static int64_t linear_of(int rank, const int64_t *dim, const int64_t *index)
{
    int64_t at = 0;

    for (int i = 0; i < rank; i++)
        at = at * dim[i] + index[i];
    return at;
}

static void index_of(int rank, const int64_t *dim, int64_t at, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = at % dim[i];
        at /= dim[i];
    }
}

// Steps through a view: its strides over a dense input say which element it shows.
static bool step_view(const Graph *g, const Node *n, Element *e)
{
    const Value *y = out(g, n);
    int64_t dense[MAX_RANK], stride[MAX_RANK], index[MAX_RANK], offset = 0;

    if (!n->op->view)
        return false;
    const Value *x = in(g, n, 0);
    dense_strides(x->rank, x->dim, dense);
    if (!n->op->view(g, n, dense, stride, &offset))
        return false;
    index_of(y->rank, y->dim, e->index, index);
    for (int i = 0; i < y->rank; i++)
        offset += index[i] * stride[i];
    e->value = n->in[0];
    e->index = offset;
    return true;
}

// Steps into the input that covers the element; where none does, gives the fill number.
static bool step_subview(const Graph *g, const Node *n, Element *e)
{
    const Value *y = out(g, n);
    int64_t dense[MAX_RANK], index[MAX_RANK];

    if (!n->op->subview)
        return false;
    dense_strides(y->rank, y->dim, dense);
    for (int k = n->n_in - 1; k >= 0; k--) {
        const Value *x = in(g, n, k);
        Footprint f = {.rank = x->rank, .size = 1};
        memcpy(f.dim, x->dim, sizeof f.dim);
        n->op->subview(g, n, k, dense, f.stride, &f.at);
        if (!footprint_count(&f) || !footprint_find(&f, e->index, index))
            continue;
        e->value = n->in[k];
        e->index = linear_of(x->rank, x->dim, index);
        return true;
    }
    if (!n->op->fill)
        return false;
    *e = (Element){.kind = ELEMENT_FILL, .fill = n->op->fill(n)};
    return false;
}

// Steps from a rank's shard to the whole value, which has the same bits after the shard's
// beginning.
static bool step_slice(const Graph *g, const Sharded *s, int rank, const Node *n, Element *e)
{
    const ShardedNode *x = s ? &s->node[n - g->nodes] : NULL;

    if (!x || x->of || x->kind != RESHARD_SLICE)
        return false;
    const Value *from = in(g, n, 0), *to = out(g, n);
    const ShardedValue *a = &s->value[n->in[0]], *b = &s->value[n->out[0]];
    int64_t index[MAX_RANK];
    index_of(to->rank, to->dim, e->index, index);
    for (int i = 0; i < to->rank; i++) {
        int64_t whole = value_of(s->whole, b->of)->dim[i], at_a, at_b, extent;
        if (from->dim[i] == to->dim[i])
            continue;
        spec_shard(&s->plan->mesh, &a->spec, i, whole, rank, &at_a, &extent);
        spec_shard(&s->plan->mesh, &b->spec, i, whole, rank, &at_b, &extent);
        index[i] += at_b - at_a;
        if (index[i] >= from->dim[i])  // padding: no element of the value
            return false;
    }
    e->value = n->in[0];
    e->index = linear_of(from->rank, from->dim, index);
    return true;
}

Element element_origin(const Graph *g, const Sharded *s, int rank, Element e)
{
    while (e.kind == ELEMENT_VALUE && value_of(g, e.value)->producer) {
        const Node *n = producer(g, e.value);
        if (!step_view(g, n, &e) && !step_subview(g, n, &e) && !step_slice(g, s, rank, n, &e))
            break;
    }
    return e;
}

bool element_equal(const Element *a, const Element *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == ELEMENT_FILL)
        return !memcmp(&a->fill, &b->fill, sizeof a->fill);
    return a->value == b->value && a->index == b->index;
}

void value_describe(const Graph *g, ValueId v, Text *t)
{
    const Value *x = value_of(g, v);

    if (x->name)
        text_printf(t, "'%s' ", x->name);
    else
        text_printf(t, "value %d ", (int)v);
    value_print_type(x, t);
}

void element_print(const Graph *g, const Element *e, Text *t)
{
    static const char *const words[] = {[ELEMENT_NONE] = "nothing", [ELEMENT_POISON] = "workspace"};

    if (e->kind == ELEMENT_FILL) {
        text_printf(t, "%g", e->fill);
    } else if (e->kind == ELEMENT_VALUE) {
        text_printf(t, "element %" PRId64 " of ", e->index);
        value_describe(g, e->value, t);
    } else {
        text_printf(t, "%s", words[e->kind]);
    }
}
