// Storage: which buffer a value's bytes are in, for how long, and where in it each iteration's are.
#include <string.h>

#include "lower/internal.h"

// The twins of one value, known by the ValueId of iteration 0.
typedef struct Family {
    bool is_used;
    bool is_stack;               // some iteration is read after the next has run
    bool is_ring;                // … while the next runs
    unsigned late;               // bit k: its loop's items touch it k turns late
    bool has_before, has_after;  // the places of iterations -1 and `length` are in use
    int region;                  // the loop that writes it, 0: none
    int32_t buffer;
    ValueId same;  // shares that family's storage: all of it, or …
    bool is_slot;  // … the place of its iteration `slot`
    int slot;
} Family;

typedef struct Storing {
    Lowering *l;
    Family *family;  // by ValueId
} Storing;

static ValueId canon(const Lowering *l, ValueId v) { return twin_value(l, v, 0); }

static bool is_persistent(ValueKind k)
{
    return k == VALUE_PARAMETER || k == VALUE_BUFFER || k == VALUE_STATE || k == VALUE_ZERO ||
           k == VALUE_HYPER || k == VALUE_CONSTANT;
}

// ---- how long each iteration's bytes are needed ----

static int last_iteration(const Lowering *l, int region)
{
    const Region *r = &l->regions[region];
    return r->is_reverse ? 0 : l->g->classes[r->cls].length - 1;
}

// Of so many turns its items touch it, from the first to the last.
static int count_late(const Family *f)
{
    int n = 0;

    for (unsigned late = f->late; late; late >>= 1)
        n += n > 0 || (late & 1);
    return n;
}

static void note_use(Storing *st, const Item *it, const Operand *o)
{
    const Lowering *l = st->l;
    Family *f = &st->family[canon(l, o->base)];
    Block b = value_block(l->g, o->base);
    NodeId from = value_of(l->g, o->base)->producer;
    int made_in = from ? l->region[from] : 0;

    if (o->is_twin)
        f->late |= 1U << it->late;
    f->is_used = true;
    if (!b.cls)
        return;
    f->has_before |= o->delta < 0;
    f->has_after |= o->delta > 0;
    if (!from || (o->is_twin && made_in != it->region))
        f->is_stack = true;
    else if (o->is_twin)
        f->is_ring |= o->delta != 0 || count_late(f) > 1;
    else if (!o->delta && b.iter != last_iteration(l, made_in))
        f->is_stack = true;
}

static void find_families(Storing *st)
{
    Lowering *l = st->l;
    const Set *s = l->s;

    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; k < s->items[i].n_in + s->items[i].n_out; k++)
            if (s->items[i].operands[k].base) {
                note_use(st, &s->items[i], &s->items[i].operands[k]);
                if (k >= s->items[i].n_in)
                    st->family[canon(l, s->items[i].operands[k].base)].region = s->items[i].region;
            }
    for (ValueId v = 1; v < l->g->n_values; v++) {
        const Value *x = value_of(l->g, v);
        Family *f = &st->family[canon(l, v)];
        if (!x->producer && x->kind != VALUE_ACTIVATION && x->kind != VALUE_CONSTANT)
            f->is_used = true;
        if (x->block.cls && !x->producer)
            f->is_stack = true;
    }
    for (int i = 0; i < l->g->n_outputs; i++) {
        ValueId v = l->g->outputs[i].value;
        Block b = value_block(l->g, v);
        Family *f = &st->family[canon(l, v)];
        f->is_used = true;
        f->is_stack |= b.cls != 0 && l->g->outputs[i].role != OUTPUT_GRADIENT;
    }
    for (int i = 0; i < l->g->n_carries; i++) {
        const Carry *c = &l->g->carries[i];
        if (!l->is_copied[c->out])
            st->family[canon(l, c->out)].same = canon(l, c->in);
    }
}

static bool is_read_after(const Set *s, int item, ValueId v)
{
    for (int i = item + 1; i < s->n_items; i++)
        for (int k = 0; k < s->items[i].n_in; k++)
            if (s->items[i].operands[k].base == v)
                return true;
    return false;
}

// Does a copy of all of `v` leave the elements in their order?
static bool keeps_order(const Operand *from, const Operand *to, const Value *v)
{
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && from->stride[i] != to->stride[i])
            return false;
    return true;
}

// A loop's initial value is made right in its place, where nothing else binds it: no copy.
static void elide_copies(Storing *st)
{
    Lowering *l = st->l;
    Set *s = l->s;

    for (int i = 0; i < s->n_items; i++) {
        Item *it = &s->items[i];
        const Operand *from = &it->operands[0], *to = &it->operands[1];
        if (it->kind != ITEM_COPY || !to->delta || it->region || from->offset || to->offset)
            continue;
        const Value *v = value_of(l->g, from->base), *w = value_of(l->g, to->base);
        Family *f = &st->family[from->base];
        if (!v->producer || l->region[v->producer] || f->same || from->value != from->base ||
            value_bytes(v) != value_bytes(w) || !keeps_order(from, to, v))
            continue;
        const Family *loop = &st->family[canon(l, to->base)];
        if (!loop->is_stack && is_read_after(s, i, from->base))
            continue;
        f->same = canon(l, to->base);
        f->is_slot = true;
        f->slot = value_block(l->g, to->base).iter + to->delta;
        it->kind = ITEM_NONE;
    }
}

// ---- addresses in a ring ----

static int64_t in_ring(const Storage *s, int iter)
{
    return s->ring ? ((iter % s->ring) + s->ring) % s->ring : iter;
}

// ---- buffers ----

static int32_t add_buffer(Storing *st, ValueId v, int64_t slots)
{
    Program *p = st->l->p;
    const Value *x = value_of(st->l->g, v);
    Buffer *b = arena_push(p->arena, p->buffers, p->n_buffers, p->cap_buffers);

    *b = (Buffer){.kind = is_persistent(x->kind) ? BUFFER_PERSISTENT : BUFFER_LOCAL,
                  .set = (int)(st->l->s - p->set),
                  .bytes = buffer_bytes(value_bytes(x), slots),
                  .first = -1,
                  .value = v,
                  .slots = slots};
    return p->n_buffers - 1;
}

static void store(Storing *st, ValueId v)
{
    Lowering *l = st->l;
    Family *f = &st->family[v];
    const Value *x = value_of(l->g, v);
    int64_t bytes = slot_bytes(value_bytes(x));
    Storage *s = &l->s->storage[v];
    Block b = value_block(l->g, v);

    if (f->is_stack) {
        int64_t slots = l->g->classes[b.cls].length + f->has_before + f->has_after;
        f->buffer = add_buffer(st, v, slots);
        *s = (Storage){.step = bytes, .offset = f->has_before ? bytes : 0};
    } else if (f->is_ring) {
        int slots = count_late(f) > 2 ? count_late(f) : 2;
        f->buffer = add_buffer(st, v, slots);
        *s = (Storage){.ring = slots, .step = bytes};
    } else {
        f->buffer = add_buffer(st, v, 1);
        *s = (Storage){0};
    }
    s->buffer = f->buffer;
}

// Parameters and the like have one place for both sets, found by name. The first set that is
// lowered decides; false if the places of a block's iterations are not evenly apart for this set.
static bool store_named(Storing *st, ValueId v)
{
    Lowering *l = st->l;
    Program *p = l->p;
    const Value *x = value_of(l->g, v);
    Block b = value_block(l->g, v);
    int length = b.cls ? l->g->classes[b.cls].length : 1;
    int32_t at = map_get(&p->places, x->name);

    if (!at) {
        store(st, v);
        for (int i = 0; i < length; i++) {
            Storage *s = arena_push(p->arena, p->place, p->n_places, p->cap_places);
            *s = l->s->storage[v];
            s->offset += s->step * i;
            map_set(&p->places, value_of(l->g, twin_value(l, v, i))->name, p->n_places - 1);
        }
        return true;
    }
    Storage *s = &l->s->storage[v];
    *s = p->place[at];
    st->family[v].buffer = s->buffer;
    for (int i = 1; i < length; i++) {
        int32_t next = map_get(&p->places, value_of(l->g, twin_value(l, v, i))->name);
        if (i == 1)
            s->step = p->place[next].offset - s->offset;
        if (!next || p->place[next].buffer != s->buffer ||
            p->place[next].offset != s->offset + s->step * i)
            return false;
    }
    return true;
}

static bool store_all(Storing *st, int32_t *uneven)
{
    Lowering *l = st->l;
    int n = l->g->n_values;

    for (ValueId v = 1; v < n; v++) {
        const Family *f = &st->family[v];
        const Value *x = value_of(l->g, v);
        if (!f->is_used || f->same || canon(l, v) != v)
            continue;
        if (!is_persistent(x->kind) || x->kind == VALUE_CONSTANT)
            store(st, v);
        else if (!store_named(st, v)) {
            *uneven = value_block(l->g, v).cls;
            return false;
        }
    }
    for (ValueId v = 1; v < n; v++)
        if (st->family[v].same && canon(l, v) == v) {
            Storage *s = &l->s->storage[v];
            const Family *f = &st->family[v];
            *s = l->s->storage[f->same];
            st->family[v].buffer = s->buffer;
            if (f->is_slot)
                *s = (Storage){.buffer = s->buffer,
                               .offset = s->offset + s->step * in_ring(s, f->slot)};
        }
    for (ValueId v = 1; v < n; v++)
        l->s->storage[v] = l->s->storage[canon(l, v)];
    return true;
}

// ---- lifetimes ----

static void extend(Buffer *b, int item)
{
    if (b->first < 0 || item < b->first)
        b->first = item;
    if (item > b->last)
        b->last = item;
}

static void find_lifetimes(Storing *st)
{
    const Lowering *l = st->l;
    const Set *s = l->s;
    int loop = -1;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        loop = it->kind == ITEM_LOOP ? i : it->kind == ITEM_END ? -1 : loop;
        for (int k = 0; k < it->n_in + it->n_out; k++) {
            if (!it->operands[k].base)
                continue;
            const Family *f = &st->family[canon(l, it->operands[k].base)];
            Buffer *b = &l->p->buffers[f->buffer];
            extend(b, i);
            bool is_own = !f->is_stack && !f->is_ring && it->region && f->region == it->region;
            if (loop >= 0 && !is_own) {
                extend(b, loop);
                extend(b, s->items[loop].match);
            }
        }
    }
}

// What the trainer writes before the items run or reads after them. Gradients it sees in between.
static void find_outer_lifetimes(Storing *st)
{
    const Lowering *l = st->l;
    const Set *s = l->s;

    for (ValueId v = 1; v < l->g->n_values; v++)
        if (value_of(l->g, v)->kind == VALUE_INPUT)
            extend(&l->p->buffers[s->storage[v].buffer], 0);
    for (int i = 0; i < l->g->n_outputs; i++) {
        const Output *o = &l->g->outputs[i];
        if (o->role != OUTPUT_GRADIENT)
            extend(&l->p->buffers[s->storage[o->value].buffer], s->n_items);
    }
}

bool lower_storage(Lowering *l, bool *again)
{
    Storing st = {.l = l};
    int32_t uneven = 0;

    st.family = arena_array(l->p->arena, Family, l->cap_values);
    l->s->storage = arena_array(l->p->arena, Storage, l->cap_values);
    find_families(&st);
    elide_copies(&st);
    if (!store_all(&st, &uneven))
        return dissolve(l, uneven, again);
    find_lifetimes(&st);
    find_outer_lifetimes(&st);
    return true;
}

// ---- addresses ----

Address operand_address(const Program *p, const Set *s, const Operand *o)
{
    const Storage *st = &s->storage[o->base];
    const Value *v = value_of(s->g, o->base);
    int64_t size = dtype_size(v->dtype);
    Address a = {.at = p->buffers[st->buffer].offset + st->offset + o->offset * size,
                 .step = o->step * size};

    if (!o->is_twin) {
        a.at += st->step * in_ring(st, value_block(s->g, o->base).iter + o->delta);
        return a;
    }
    a.step += st->step;
    if (st->ring) {
        a.ring = st->ring;
        a.shift = (int)in_ring(st, o->delta);
    } else {
        a.at += st->step * o->delta;
    }
    return a;
}

static int64_t piece_begin(const Sharded *s, ValueId v, int dim, int rank)
{
    const ShardedValue *x = &s->value[v];
    int64_t offset, extent;

    spec_piece(&s->plan->mesh, &x->spec, dim, value_of(s->whole, x->of)->dim[dim], rank, &offset,
               &extent);
    return offset;
}

int64_t operand_own(const Set *s, const Operand *o, int rank)
{
    const OwnPiece *x = &o->own;

    if (!x->piece)
        return 0;
    int64_t begin = piece_begin(s->sharded, x->piece, x->dim, rank) -
                    piece_begin(s->sharded, x->whole, x->dim, rank);
    return begin * x->stride * dtype_size(value_of(s->g, o->value)->dtype);
}

bool value_address(const Program *p, const Set *s, ValueId v, Address *a)
{
    const Storage *st = &s->storage[v];

    if (!st->buffer)
        return false;
    *a = (Address){.at = p->buffers[st->buffer].offset + st->offset};
    a->at += st->step * in_ring(st, value_block(s->g, v).iter);
    return true;
}
