// The model of an arena: disjoint spans of bytes, each with the writes that touched it.
//
// The spans are in a treap, ordered by address. A span's writes are a list, the latest first. A
// write over all bytes of a span drops the older ones. Lists never change, so a copy keeps the ones
// that it read, whatever is written later.
#include "lower/check/check.h"

typedef struct Span Span;

typedef struct Write {
    Footprint f;
    Element what;  // of element 0 of the box; an ELEMENT_VALUE's index grows from there
    // A copy: its source, and the spans that were there.
    bool is_copy;
    Footprint from;
    const Span *span;
    int n_spans;
} Write;

typedef struct WriteNode {
    const Write *write;
    const struct WriteNode *below;
} WriteNode;

// The bytes [low, high) and their writes, the latest on top.
struct Span {
    int64_t low, high;
    const WriteNode *top;
};

typedef struct Interval {
    Span span;
    uint32_t priority;
    struct Interval *left, *right;
} Interval;

struct ShadowMemory {
    Arena *arena;
    Interval *root, *free;
    uint32_t random;
};

// ---- the treap ----

static uint32_t draw(ShadowMemory *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return m->random;
}

static Interval *interval_new(ShadowMemory *m, Span s)
{
    Interval *x = m->free;

    if (x)
        m->free = x->left;
    else
        x = arena_array(m->arena, Interval, 1);
    *x = (Interval){.span = s, .priority = draw(m)};
    return x;
}

static void interval_free(ShadowMemory *m, Interval *x)
{
    if (!x)
        return;
    interval_free(m, x->left);
    interval_free(m, x->right);
    x->left = m->free;
    m->free = x;
}

static Interval *join(Interval *a, Interval *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->priority > b->priority) {
        a->right = join(a->right, b);
        return a;
    }
    b->left = join(a, b->left);
    return b;
}

// Splits the intervals into those before `address` and those after it. One that contains it becomes
// two.
static void split(ShadowMemory *m, Interval *x, int64_t address, Interval **before,
                  Interval **after)
{
    if (!x) {
        *before = *after = NULL;
    } else if (x->span.high <= address) {
        split(m, x->right, address, &x->right, after);
        *before = x;
    } else if (x->span.low >= address) {
        split(m, x->left, address, before, &x->left);
        *after = x;
    } else {
        Span remainder = x->span;
        remainder.low = x->span.high = address;
        *after = join(interval_new(m, remainder), x->right);
        x->right = NULL;
        *before = x;
    }
}

static const Interval *find(const ShadowMemory *m, int64_t address)
{
    const Interval *x = m->root;

    while (x && (address < x->span.low || address >= x->span.high))
        x = address < x->span.low ? x->left : x->right;
    return x;
}

// ---- writes ----

static const WriteNode *write_node_new(ShadowMemory *m, const Write *w, const WriteNode *below)
{
    WriteNode *l = arena_array(m->arena, WriteNode, 1);

    *l = (WriteNode){w, below};
    return l;
}

static bool is_same_box(const Footprint *a, const Footprint *b)
{
    if (a->rank != b->rank || a->at != b->at || a->size != b->size)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i] || a->stride[i] != b->stride[i])
            return false;
    return true;
}

// The writes without one into the same box, which a new write there hides.
static const WriteNode *without(ShadowMemory *m, const WriteNode *top, const Footprint *f)
{
    if (!top)
        return NULL;
    if (is_same_box(&top->write->f, f))
        return top->below;
    const WriteNode *below = without(m, top->below, f);
    return below == top->below ? top : write_node_new(m, top->write, below);
}

// Puts a write with holes over the spans and into the gaps between them. Returns the intervals of
// [*low, high).
static Interval *put_over(ShadowMemory *m, Interval *x, int64_t *low, const Write *w)
{
    if (!x)
        return NULL;
    Interval *left = put_over(m, x->left, low, w), *right = x->right;
    if (*low < x->span.low) {
        Span gap = {*low, x->span.low, write_node_new(m, w, NULL)};
        left = join(left, interval_new(m, gap));
    }
    *low = x->span.high;
    x->left = x->right = NULL;
    x->span.top = write_node_new(m, w, without(m, x->span.top, &w->f));
    return join(join(left, x), put_over(m, right, low, w));
}

static void put(ShadowMemory *m, const Write *w)
{
    int64_t low, high, at;
    Interval *before, *here, *after;

    if (!footprint_range(&w->f, &low, &high))
        return;
    split(m, m->root, low, &before, &here);
    split(m, here, high, &here, &after);
    at = low;
    if (footprint_count(&w->f) * w->f.size == high - low) {
        interval_free(m, here);
        here = NULL;
    } else {
        here = put_over(m, here, &at, w);
    }
    if (at < high)
        here = join(here, interval_new(m, (Span){at, high, write_node_new(m, w, NULL)}));
    m->root = join(join(before, here), after);
}

static Write *write_new(ShadowMemory *m, const Footprint *f)
{
    Write *w = arena_array(m->arena, Write, 1);

    w->f = *f;
    return w;
}

ShadowMemory *shadow_new(Arena *a)
{
    ShadowMemory *m = arena_array(a, ShadowMemory, 1);

    m->arena = a;
    m->random = 1;
    return m;
}

void shadow_put(ShadowMemory *m, const Footprint *f, ValueId v)
{
    Write *w = write_new(m, f);

    w->what = (Element){.kind = ELEMENT_VALUE, .value = v};
    put(m, w);
}

void shadow_fill(ShadowMemory *m, const Footprint *f, double x)
{
    Write *w = write_new(m, f);

    w->what = (Element){.kind = ELEMENT_FILL, .fill = x};
    put(m, w);
}

void shadow_poison(ShadowMemory *m, int64_t low, int64_t high)
{
    const Footprint f = {.rank = 1, .dim = {high - low}, .stride = {1}, .at = low, .size = 1};
    Write *w = write_new(m, &f);

    w->what = (Element){.kind = ELEMENT_POISON};
    put(m, w);
}

// ---- copies ----

static void collect(ShadowMemory *m, const Interval *x, int64_t low, int64_t high, Span **span,
                    int *n, int *cap)
{
    if (!x)
        return;
    if (low < x->span.low)
        collect(m, x->left, low, high, span, n, cap);
    if (x->span.low < high && low < x->span.high)
        *arena_push(m->arena, *span, *n, *cap) = x->span;
    if (x->span.high < high)
        collect(m, x->right, low, high, span, n, cap);
}

void shadow_copy(ShadowMemory *m, const Footprint *from, const Footprint *to)
{
    Write *w = write_new(m, to);
    Span *span = NULL;
    int cap = 0;
    int64_t low, high;

    if (!footprint_range(from, &low, &high))
        return;
    collect(m, m->root, low, high, &span, &w->n_spans, &cap);
    const Write *all = w->n_spans == 1 ? span[0].top->write : NULL;
    if (all && !all->is_copy && is_same_box(&all->f, from)) {
        w->what = all->what;
    } else {
        w->is_copy = true;
        w->from = *from;
        w->span = span;
    }
    put(m, w);
}

// ---- reading ----

static Element get_from(const Span *span, int n, int64_t address);

static Element get_through(const WriteNode *top, int64_t address)
{
    int64_t index[MAX_RANK], at = 0;

    for (; top; top = top->below) {
        const Write *w = top->write;
        if (!footprint_find(&w->f, address, index))
            continue;
        if (w->is_copy)
            return get_from(w->span, w->n_spans, footprint_address(&w->from, index));
        Element e = w->what;
        for (int i = 0; i < w->f.rank; i++)
            at = at * w->f.dim[i] + index[i];
        e.index = e.kind == ELEMENT_VALUE ? at : 0;
        return e;
    }
    return (Element){0};
}

static Element get_from(const Span *span, int n, int64_t address)
{
    int low = 0;

    while (n > 1) {  // the last span that begins at or before the address
        int half = n / 2;
        if (span[low + half].low <= address)
            low += half;
        n -= half;
    }
    bool is_in = n && span[low].low <= address && address < span[low].high;
    return is_in ? get_through(span[low].top, address) : (Element){0};
}

Element shadow_get(const ShadowMemory *m, int64_t address)
{
    const Interval *x = find(m, address);

    return x ? get_through(x->span.top, address) : (Element){0};
}

// ---- boundaries ----

typedef struct BoundarySearch {
    const Footprint *f;
    Addresses *to;
} BoundarySearch;

static void add_index(BoundarySearch *x, bool is_there, const int64_t *index)
{
    if (is_there)
        *arena_push(x->to->arena, x->to->address, x->to->n, x->to->cap) =
            footprint_address(x->f, index);
}

// Adds the ends of a span: the elements of the box that are nearest to them.
static void add_interval(BoundarySearch *x, int64_t low, int64_t high)
{
    int64_t index[MAX_RANK];

    add_index(x, footprint_after(x->f, low, index), index);
    add_index(x, footprint_before(x->f, high - x->f->size, index), index);
}

// Adds an element of a write, if the box has it too.
static void add_element(BoundarySearch *x, int64_t address)
{
    int64_t index[MAX_RANK];

    add_index(x, footprint_find(x->f, address, index), index);
}

static void add_write(BoundarySearch *x, const Write *w)
{
    int64_t index[MAX_RANK], low, high;

    if (!footprint_range(&w->f, &low, &high))
        return;
    add_element(x, low);
    add_element(x, high - w->f.size);
    for (int i = 0; w->is_copy && i < w->n_spans; i++) {
        if (footprint_after(&w->from, w->span[i].low, index))
            add_element(x, footprint_address(&w->f, index));
        if (footprint_before(&w->from, w->span[i].high - w->from.size, index))
            add_element(x, footprint_address(&w->f, index));
    }
}

static void find_boundaries(BoundarySearch *x, const Interval *s, int64_t low, int64_t high)
{
    enum { MAX_WRITES = 8 };
    int n = 0;

    if (!s)
        return;
    if (low < s->span.low)
        find_boundaries(x, s->left, low, high);
    if (s->span.low < high && low < s->span.high) {
        add_interval(x, s->span.low > low ? s->span.low : low,
                     s->span.high < high ? s->span.high : high);
        for (const WriteNode *l = s->span.top; l && n < MAX_WRITES; l = l->below, n++)
            if (l->below || l->write->is_copy)
                add_write(x, l->write);
    }
    if (s->span.high < high)
        find_boundaries(x, s->right, low, high);
}

void shadow_boundaries(const ShadowMemory *m, const Footprint *f, Addresses *to)
{
    BoundarySearch x = {.f = f, .to = to};
    int64_t low, high;

    to->n = 0;
    if (footprint_range(f, &low, &high))
        find_boundaries(&x, m->root, low, high);
}
