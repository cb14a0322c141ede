// Questions about one value: its size and shape, and its type as text; and about attributes.
#include "ir/internal.h"

#include <string.h>

static const int64_t most_elements = (int64_t)1 << 48;

int64_t value_count(const Value *v)
{
    int64_t count = 1;

    for (int i = 0; i < v->rank; i++)
        count *= v->dim[i];
    return count;
}

int64_t value_bytes(const Value *v) { return value_count(v) * dtype_size(v->dtype); }

Block value_block(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);

    return x->producer ? g->nodes[x->producer].block : x->block;
}

const char *value_label(Arena *a, const Graph *g, ValueId v)
{
    const char *name = value_of(g, v)->name;

    return name ? name : arena_string(a, "v%d", (int)v);
}

const char *type_text(Arena *a, const Value *v)
{
    Text t = {0};

    value_print_type(v, &t);
    const char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

void value_print_type(const Value *v, Text *t)
{
    text_printf(t, "%s[", dtype_name(v->dtype));
    for (int i = 0; i < v->rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", v->dim[i]);
    text_put(t, "]", 1);
}

bool same_shape(const Value *a, const Value *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

bool same_own(const Value *a, const Value *b)
{
    int rank = a->own_rank < 0 ? a->rank : a->own_rank;
    const int64_t *x = a->own_rank < 0 ? a->dim : a->own_dim;
    const int64_t *y = b->own_rank < 0 ? b->dim : b->own_dim;

    return rank == (b->own_rank < 0 ? b->rank : b->own_rank) &&
           !memcmp(x, y, sizeof *x * (size_t)rank);
}

bool same_type(const Value *a, const Value *b) { return a->dtype == b->dtype && same_shape(a, b); }

const char *shape_problem(int rank, const int64_t *dim)
{
    int64_t count = 1;

    if (rank < 0 || rank > MAX_RANK)
        return "has more than 12 dims";
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return "has a negative dim";
        // A dim of size 0 counts as 1, so that the product of every subset of dims is in bounds.
        if (dim[i] && (!mul_size(count, dim[i], &count) || count > most_elements))
            return "has more than 2^48 elements";
    }
    return NULL;
}

bool attr_equal(const AttrDef *def, const Attr *a, const Attr *b)
{
    switch (def->type) {
    case ATTR_INTS:
        return a->n == b->n && (!a->n || !memcmp(a->v, b->v, (size_t)a->n * sizeof *a->v));
    case ATTR_TEXT:
        return a->s == b->s || (a->s && b->s && !strcmp(a->s, b->s));
    default:
        return a->i == b->i;
    }
}

uint64_t hash_attr(const AttrDef *def, const Attr *a, uint64_t h)
{
    switch (def->type) {
    case ATTR_INTS:
        return hash_bytes(a->v, (size_t)a->n * sizeof *a->v, h + (uint64_t)a->n);
    case ATTR_TEXT:
        return a->s ? hash_bytes(a->s, strlen(a->s), h) : h + 1;
    default:
        return hash_bytes(&a->i, sizeof a->i, h);
    }
}
