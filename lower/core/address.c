// Places of operands in the arena.
#include "lower/internal.h"

Address operand_address(const Program *p, const Set *s, const Operand *o)
{
    const Storage *st = &s->storage[o->base];
    const Value *v = value_of(s->g, o->base);
    int64_t size = dtype_size(v->dtype);
    int64_t first = p->buffers[st->buffer].offset + st->offset;
    Address a = {.buffer = st->buffer, .first = first, .at = first + o->offset * size};

    for (int k = 0; k < MAX_LOOPS; k++)
        a.move[k].step = o->step[k] * size;
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
    int64_t first = p->buffers[st->buffer].offset + st->offset;
    *a = (Address){.buffer = st->buffer, .first = first, .at = first};
    a->at += st->step * ring_index(st, value_block(s->g, v).iter);
    return true;
}
