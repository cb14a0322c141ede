// Compares what the arena holds with what an operand should be.
#include "lower/check/check.h"

static int64_t address_of(const Check *c, const Operand *o)
{
    Address a = operand_address(c->p, c->s, o);

    return address_at(&a, c->iteration, c->slots) + operand_rank_offset(c->s, o, c->rank);
}

Footprint check_box(const Check *c, const Operand *o, int rank, const int64_t *dim)
{
    int size = dtype_size(value_of(c->g, o->base)->dtype);
    Footprint f = {.rank = rank, .at = address_of(c, o), .size = size};

    for (int i = 0; i < rank; i++) {
        f.dim[i] = dim[i];
        f.stride[i] = o->stride[i] * size;
    }
    return f;
}

Footprint check_operand_box(const Check *c, const Operand *o)
{
    const Value *v = value_of(c->g, o->value);

    return check_box(c, o, v->rank, v->dim);
}

static Element expected(const Check *c, ValueId v, const int64_t *index)
{
    const Value *x = value_of(c->g, v);
    Element e = {.kind = ELEMENT_VALUE, .value = v};

    for (int i = 0; i < x->rank; i++)
        e.index = e.index * x->dim[i] + index[i];
    return element_origin(c->g, c->s->sharded, c->rank, e);
}

static bool is_element_held(const Check *c, const Footprint *f, ValueId v, const int64_t *index,
                            Element *want, Element *has)
{
    *want = expected(c, v, index);
    *has = shadow_get(c->shadow, footprint_address(f, index));
    *has = element_origin(c->g, c->s->sharded, c->rank, *has);
    return element_equal(want, has);
}

bool check_is_held(Check *c, const Footprint *f, ValueId v, Element *want, Element *has)
{
    Footprint own = check_unpadded(c, f, v);
    int64_t index[MAX_RANK];

    for (int at = 0; sample_next(&own, &at, index);)
        if (!is_element_held(c, &own, v, index, want, has))
            return false;
    shadow_boundaries(c->shadow, &own, &c->boundaries);
    for (int i = 0; i < c->boundaries.n; i++)
        if (footprint_find(&own, c->boundaries.address[i], index) &&
            !is_element_held(c, &own, v, index, want, has))
            return false;
    return true;
}

// Reports a write to bytes that a pending collective reads, and any access to bytes that it writes.
void check_pending(Check *c, const Node *n, const Footprint *f, bool is_write)
{
    for (int i = 0; i < c->n_pending; i++) {
        const PendingExchange *x = &c->pending[i];
        for (int k = is_write ? 0 : x->it->n_in; k < x->it->n_in + x->it->n_out; k++)
            if (x->it->operands[k].base && footprints_intersect(f, &x->f[k]))
                check_fail(c, n, "it touches what communication is still using");
    }
}

void check_holds(Check *c, const Node *n, const Footprint *f, ValueId v)
{
    Element want, has;
    Text t = {0};

    check_pending(c, n, f, false);
    if (check_is_held(c, f, v, &want, &has))
        return;
    text_printf(&t, "it reads ");
    element_print(c->g, &has, &t);
    text_printf(&t, " where ");
    element_print(c->g, &want, &t);
    text_printf(&t, " should be, at %" PRId64, f->at);
    check_fail(c, n, "%s", t.s);
    text_free(&t);
}
