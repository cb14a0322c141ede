// Addresses of operands in the arena.
#include "lower/internal.h"

// The iteration whose stage has the operand; of an instance, its distance from the loop's own. A
// value outside of the class has the bytes of the iteration before the first or after the last.
static int stage_iteration(const Set *s, const Buffer *b, const Operand *o)
{
    if (o->is_instance)
        return o->delta;
    Block own = value_block(s->g, o->base), of = value_block(s->g, b->value);
    if (own.cls != of.cls)
        return s->storage[o->base].instance;
    return own.iter + o->delta;
}

Address operand_address(const Program *p, const Set *s, const Operand *o)
{
    const Storage *st = &s->storage[o->base];
    const Value *v = value_of(s->g, o->base);
    int64_t size = dtype_size(v->dtype);
    const Buffer *b = &p->buffers[st->buffer];
    int64_t first = b->offset + st->offset;
    Address a = {.buffer = st->buffer,
                 .first = first,
                 .at = first + o->offset * size,
                 .pool = b->pool == POOL_KEPT ? POOL_NONE : b->pool,
                 .stage = b->stage};

    for (int k = 0; k < MAX_LOOPS; k++)
        a.move[k].step = o->step[k] * size;
    if (b->stage_step) {
        a.stage_step = o->is_instance ? b->stage_step : 0;
        a.stage += b->stage_step * stage_iteration(s, b, o);
        return a;
    }
    if (!o->is_instance) {
        a.at += st->step * ring_index(st, value_block(s->g, o->base).iter + o->delta);
        return a;
    }
    Movement *m = &a.move[o->loop];
    m->step += st->step;
    if (st->ring) {
        m->ring = st->ring;
        m->shift = (int)ring_index(st, o->delta);
    } else {
        a.at += st->step * o->delta;
    }
    return a;
}

static int64_t shard_begin(const Sharded *s, ValueId v, int dim, int rank)
{
    const ShardedValue *x = &s->value[v];
    int64_t offset, extent;

    spec_shard(&s->plan->mesh, &x->spec, dim, value_of(s->whole, x->of)->dim[dim], rank, &offset,
               &extent);
    return offset;
}

int64_t operand_rank_offset(const Set *s, const Operand *o, int rank)
{
    const RankSlice *x = &o->rank_slice;

    if (!x->slice)
        return 0;
    int64_t begin = shard_begin(s->sharded, x->slice, x->dim, rank) -
                    shard_begin(s->sharded, x->whole, x->dim, rank);
    return begin * x->stride * dtype_size(value_of(s->g, o->value)->dtype);
}

bool value_address(const Program *p, const Set *s, ValueId v, Address *a)
{
    const Storage *st = &s->storage[v];

    if (!st->buffer)
        return false;
    const Operand whole = {.value = v, .base = v};
    *a = operand_address(p, s, &whole);
    return true;
}
