// Questions about one value: its size, its type as text, whether it is one number everywhere.
#include "ir/internal.h"

#include <string.h>

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

bool value_splat(const Graph *g, ValueId v, double *x)
{
    const Value *value = value_of(g, v);

    if (!v || (value->kind != VALUE_CONSTANT && !value->producer))
        return false;
    if (value->kind == VALUE_CONSTANT) {
        if (value_count(value) != 1 || !value->data)
            return false;
        Value scalar = *value;
        scalar.rank = 0;
        Tensor t = tensor_of(g->arena, &scalar);
        *x = t.f ? t.f[0] : float_of_int(t.dtype, t.i[0]);
        return true;
    }
    const Node *n = producer(g, v);
    if (n->op != &op_broadcast && n->op != &op_reshape && n->op != &op_cast)
        return false;
    if (!value_splat(g, n->in[0], x))
        return false;
    if (dtype_is_float(value->dtype))
        *x = round_float(value->dtype, *x);
    else
        *x = float_of_int(value->dtype, int_of_float(value->dtype, *x));
    return true;
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
