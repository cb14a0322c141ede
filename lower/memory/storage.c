// Assigns storage: which buffer a value's bytes are in, for how long, and where in it each
// iteration's are.
#include <string.h>

#include "lower/internal.h"

// The instances of one block value, known by the ValueId of iteration 0.
typedef struct Instances {
    bool is_used;
    bool is_stack;               // some iteration is read after the next has run
    bool is_ring;                // some iteration is read while the next runs
    unsigned skew;               // bit k: items of skew k touch it
    bool has_before, has_after;  // the slots of iterations -1 and `length` are in use
    int region;                  // the loop that writes it; 0: none
    int32_t buffer;
    ValueId shared_with;  // its bytes are in the storage of these instances; 0: it has its own
    bool shares_one;      // it shares only the slot of their iteration `shared_iteration`
    int shared_iteration;
} Instances;

typedef struct StorageState {
    Lowering *l;
    Instances *instances;  // by ValueId
} StorageState;

static ValueId first_instance(const Lowering *l, ValueId v) { return value_instance(l, v, 0); }

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

// How many iterations' instances its items touch in one iteration, from the smallest skew to the
// largest.
static int count_skews(const Instances *f)
{
    int n = 0;

    for (unsigned skew = f->skew; skew; skew >>= 1)
        n += n > 0 || (skew & 1);
    return n;
}

static void note_use(StorageState *st, const Item *it, const Operand *o)
{
    const Lowering *l = st->l;
    Instances *f = &st->instances[first_instance(l, o->base)];
    Block b = value_block(l->g, o->base);
    NodeId from = value_of(l->g, o->base)->producer;
    int made_in = from ? l->region[from] : 0;

    if (o->is_instance)
        f->skew |= 1U << it->skew;
    f->is_used = true;
    if (!b.cls)
        return;
    f->has_before |= o->delta < 0;
    f->has_after |= o->delta > 0;
    if (!from || (o->is_instance && made_in != it->region))
        f->is_stack = true;
    else if (o->is_instance)
        f->is_ring |= o->delta != 0 || count_skews(f) > 1;
    else if (!o->delta && b.iter != last_iteration(l, made_in))
        f->is_stack = true;
}

// Gives a carried value the storage of the one that it overwrites. A value outside of loops may
// overwrite that of one iteration: an update that only some layers get.
static void share_carried(StorageState *st, const Carry *c)
{
    const Lowering *l = st->l;
    Instances *f = &st->instances[first_instance(l, c->out)];
    Block from = value_block(l->g, c->out), to = value_block(l->g, c->in);

    f->shared_with = first_instance(l, c->in);
    f->shares_one = to.cls && !from.cls;
    f->shared_iteration = to.iter;
}

static void find_instances(StorageState *st)
{
    Lowering *l = st->l;
    const Set *s = l->s;

    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; k < s->items[i].n_in + s->items[i].n_out; k++)
            if (s->items[i].operands[k].base) {
                note_use(st, &s->items[i], &s->items[i].operands[k]);
                if (k >= s->items[i].n_in)
                    st->instances[first_instance(l, s->items[i].operands[k].base)].region =
                        s->items[i].region;
            }
    for (ValueId v = 1; v < l->g->n_values; v++) {
        const Value *x = value_of(l->g, v);
        Instances *f = &st->instances[first_instance(l, v)];
        if (!x->producer && x->kind != VALUE_ACTIVATION && x->kind != VALUE_CONSTANT)
            f->is_used = true;
        if (x->block.cls && !x->producer)
            f->is_stack = true;
    }
    for (int i = 0; i < l->g->n_outputs; i++) {
        ValueId v = l->g->outputs[i].value;
        Block b = value_block(l->g, v);
        Instances *f = &st->instances[first_instance(l, v)];
        f->is_used = true;
        f->is_stack |= b.cls != 0 && l->g->outputs[i].role != OUTPUT_GRADIENT;
    }
    for (int i = 0; i < l->g->n_carries; i++)
        if (!l->is_copied[l->g->carries[i].out])
            share_carried(st, &l->g->carries[i]);
}

static bool is_read_after(const Set *s, int item, ValueId v)
{
    for (int i = item + 1; i < s->n_items; i++)
        for (int k = 0; k < s->items[i].n_in; k++)
            if (s->items[i].operands[k].base == v)
                return true;
    return false;
}

// Does a copy of all of `v` keep the order of the elements?
static bool keeps_order(const Operand *from, const Operand *to, const Value *v)
{
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && from->stride[i] != to->stride[i])
            return false;
    return true;
}

// Would a loop pad the initial value that is copied from `from` to `to` while an overlapped
// collective uses `from`?
static bool is_padded_in_flight(const Lowering *l, const Operand *from, const Operand *to)
{
    const Set *s = l->s;
    bool is_padded = false, is_in_flight = false;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        is_padded |= it->kind == ITEM_PAD && it->operands[0].delta &&
                     first_instance(l, it->operands[0].base) == first_instance(l, to->base);
        for (int k = 0; item_slot(it) && k < it->n_in + it->n_out; k++)
            is_in_flight |= it->operands[k].base == from->base;
    }
    return is_padded && is_in_flight;
}

// Does an item copy a loop's initial value, from its start to the start of a slot?
static bool copies_initial(const Item *it)
{
    const Operand *from = &it->operands[0], *to = &it->operands[1];

    return it->kind == ITEM_COPY && to->delta && !it->region && !from->offset && !to->offset;
}

// The iteration in whose slot an initial value is.
static int initial_iteration(const Lowering *l, const Operand *to)
{
    return value_block(l->g, to->base).iter + to->delta;
}

// Drops copies of values, such as reshapes, whose base was made in the slot that they go to.
static void drop_made_there(StorageState *st)
{
    Lowering *l = st->l;

    for (int i = 0; i < l->s->n_items; i++) {
        Item *it = &l->s->items[i];
        if (!copies_initial(it))
            continue;
        const Operand *from = &it->operands[0], *to = &it->operands[1];
        const Instances *f = &st->instances[from->base];
        if (f->shares_one && f->shared_with == first_instance(l, to->base) &&
            f->shared_iteration == initial_iteration(l, to) &&
            keeps_order(from, to, value_of(l->g, from->value)))
            it->kind = ITEM_NONE;
    }
}

// Makes a loop's initial value in the missing iteration's slot, instead of copying it there, unless
// the value is bound elsewhere.
static void elide_copies(StorageState *st)
{
    Lowering *l = st->l;
    Set *s = l->s;

    for (int i = 0; i < s->n_items; i++) {
        Item *it = &s->items[i];
        const Operand *from = &it->operands[0], *to = &it->operands[1];
        if (!copies_initial(it))
            continue;
        const Value *v = value_of(l->g, from->base), *w = value_of(l->g, to->base);
        Instances *f = &st->instances[from->base];
        if (!v->producer || l->region[v->producer] || f->shared_with || from->value != from->base ||
            padded_bytes(v, l->row[from->base]) != padded_bytes(w, l->row[to->base]) ||
            !keeps_order(from, to, v))
            continue;
        const Instances *loop = &st->instances[first_instance(l, to->base)];
        if ((!loop->is_stack && is_read_after(s, i, from->base)) ||
            is_padded_in_flight(l, from, to))
            continue;
        f->shared_with = first_instance(l, to->base);
        f->shares_one = true;
        f->shared_iteration = initial_iteration(l, to);
        it->kind = ITEM_NONE;
    }
    drop_made_there(st);
}

// ---- buffers ----

static int32_t add_buffer(StorageState *st, ValueId v, int64_t n_instances)
{
    Program *p = st->l->p;
    const Value *x = value_of(st->l->g, v);
    Buffer *b = arena_push(p->arena, p->buffers, p->n_buffers, p->cap_buffers);

    *b = (Buffer){.kind = is_persistent(x->kind) ? BUFFER_PERSISTENT : BUFFER_LOCAL,
                  .set = (int)(st->l->s - p->set),
                  .bytes = buffer_bytes(padded_bytes(x, st->l->row[v]), n_instances),
                  .first = -1,
                  .value = v,
                  .n_instances = n_instances};
    return p->n_buffers - 1;
}

static void add_storage(StorageState *st, ValueId v)
{
    Lowering *l = st->l;
    Instances *f = &st->instances[v];
    const Value *x = value_of(l->g, v);
    int64_t bytes = instance_bytes(padded_bytes(x, l->row[v]));
    Storage *s = &l->s->storage[v];
    Block b = value_block(l->g, v);

    if (f->is_stack) {
        int64_t n_instances = l->g->classes[b.cls].length + f->has_before + f->has_after;
        f->buffer = add_buffer(st, v, n_instances);
        *s = (Storage){.step = bytes, .offset = f->has_before ? bytes : 0};
    } else if (f->is_ring) {
        int n_instances = count_skews(f) > 2 ? count_skews(f) : 2;
        f->buffer = add_buffer(st, v, n_instances);
        *s = (Storage){.ring = n_instances, .step = bytes};
    } else {
        f->buffer = add_buffer(st, v, 1);
        *s = (Storage){0};
    }
    s->buffer = f->buffer;
    s->row = l->row[v];
}

// Parameters and the like have one address in both sets, found by name. The set that is lowered
// first decides. False if the addresses of a block's instances don't have equal distances.
static bool add_named_storage(StorageState *st, ValueId v)
{
    Lowering *l = st->l;
    Program *p = l->p;
    const Value *x = value_of(l->g, v);
    Block b = value_block(l->g, v);
    int length = b.cls ? l->g->classes[b.cls].length : 1;
    int32_t at = map_get(&p->name_index, x->name);

    if (!at) {
        add_storage(st, v);
        for (int i = 0; i < length; i++) {
            Storage *s = arena_push(p->arena, p->named_storage, p->n_named, p->cap_named);
            *s = l->s->storage[v];
            s->offset += s->step * i;
            map_set(&p->name_index, value_of(l->g, value_instance(l, v, i))->name, p->n_named - 1);
        }
        return true;
    }
    Storage *s = &l->s->storage[v];
    *s = p->named_storage[at];
    st->instances[v].buffer = s->buffer;
    for (int i = 1; i < length; i++) {
        int32_t next = map_get(&p->name_index, value_of(l->g, value_instance(l, v, i))->name);
        if (i == 1)
            s->step = p->named_storage[next].offset - s->offset;
        if (!next || p->named_storage[next].buffer != s->buffer ||
            p->named_storage[next].offset != s->offset + s->step * i)
            return false;
    }
    return true;
}

static bool add_all_storage(StorageState *st, int32_t *uneven)
{
    Lowering *l = st->l;
    int n = l->g->n_values;

    for (ValueId v = 1; v < n; v++) {
        const Instances *f = &st->instances[v];
        const Value *x = value_of(l->g, v);
        if (!f->is_used || f->shared_with || first_instance(l, v) != v)
            continue;
        if (!is_persistent(x->kind) || x->kind == VALUE_CONSTANT)
            add_storage(st, v);
        else if (!add_named_storage(st, v)) {
            *uneven = value_block(l->g, v).cls;
            return false;
        }
    }
    for (ValueId v = 1; v < n; v++)
        if (st->instances[v].shared_with && first_instance(l, v) == v) {
            Storage *s = &l->s->storage[v];
            const Instances *f = &st->instances[v];
            *s = l->s->storage[f->shared_with];
            st->instances[v].buffer = s->buffer;
            if (f->shares_one)
                *s = (Storage){.buffer = s->buffer,
                               .row = s->row,
                               .offset = s->offset + s->step * ring_index(s, f->shared_iteration)};
        }
    for (ValueId v = 1; v < n; v++)
        l->s->storage[v] = l->s->storage[first_instance(l, v)];
    return true;
}

// ---- live ranges ----

static void extend(Buffer *b, int item)
{
    if (b->first < 0 || item < b->first)
        b->first = item;
    if (item > b->last)
        b->last = item;
}

static void find_live_ranges(StorageState *st)
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
            const Instances *f = &st->instances[first_instance(l, it->operands[k].base)];
            Buffer *b = &l->p->buffers[f->buffer];
            extend(b, i);
            bool is_private = !f->is_stack && !f->is_ring && it->region && f->region == it->region;
            if (loop >= 0 && !is_private) {
                extend(b, loop);
                extend(b, s->items[loop].loop.end);
            }
        }
    }
}

// Extends live ranges to the trainer's accesses: it writes inputs before the items run and reads
// outputs after them. It reads gradients at their ITEM_GRADIENT.
static void find_outer_live_ranges(StorageState *st)
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

// All micro-batches read what was made before the first of them, so it is in use until the last has
// ended.
static void find_shared_live_ranges(const StorageState *st)
{
    const Set *s = st->l->s;
    int begin = timing_end(s, TIMING_PREPARE), end = timing_end(s, TIMING_MICRO);

    for (int i = 0; i < begin; i++)
        for (int k = s->items[i].n_in; k < s->items[i].n_in + s->items[i].n_out; k++) {
            Buffer *b = &st->l->p->buffers[s->storage[s->items[i].operands[k].base].buffer];
            if (b->last >= begin && b->last < end)
                extend(b, end);
        }
}

bool lower_storage(Lowering *l)
{
    StorageState st = {.l = l};
    int32_t uneven = 0;

    st.instances = arena_array(l->p->arena, Instances, l->cap_values);
    l->s->storage = arena_array(l->p->arena, Storage, l->cap_values);
    find_instances(&st);
    elide_copies(&st);
    if (!add_all_storage(&st, &uneven))
        return unroll_class(l, uneven);
    find_live_ranges(&st);
    find_outer_live_ranges(&st);
    find_shared_live_ranges(&st);
    return true;
}
