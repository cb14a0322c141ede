// Lets the iterations of a loop free slots of the stacks that end in it, and take slots of the
// stacks that begin there. So the gradients of a model's layers lie where activations were before.
//
// Stacks of the same loops become one buffer with a slot for each iteration, in which the instances
// of that iteration lie side by side: an array of structs. Then all that an iteration frees is one
// piece, which others can take. With l iterations, of which each frees a bytes and takes g bytes,
// the peak is max(a l + g, a + g l) instead of (a + g) l.
#include <assert.h>
#include <string.h>

#include "base/search.h"
#include "lower/internal.h"

// The loops that use a stack, as in Slots: the first and the last of them.
typedef struct StackLoops {
    int first, last;
} StackLoops;

typedef struct Interleaving {
    Program *p;
    Set *s;
    int set;
    Arena *a;
    StackLoops *loops;  // by buffer
} Interleaving;

// ---- which stacks ----

static void find_loops(Interleaving *x)
{
    const Set *s = x->s;
    int loop = 0;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        loop = it->kind == ITEM_LOOP ? i + 1 : it->kind == ITEM_END ? 0 : loop;
        for (int k = 0; k < it->n_in + it->n_out; k++) {
            const Operand *o = &it->operands[k];
            if (!o->base || !o->is_instance)
                continue;
            StackLoops *to = &x->loops[s->storage[o->base].buffer];
            to->first = to->first ? to->first : loop;
            to->last = loop;
        }
    }
}

// How many slots a stack has before that of the first iteration and after that of the last.
static int64_t slots_before(const Interleaving *x, const Buffer *b)
{
    return x->s->storage[b->value].offset / x->s->storage[b->value].step;
}

static int64_t slots_after(const Interleaving *x, const Buffer *b)
{
    int32_t cls = value_block(x->s->g, b->value).cls;

    return b->n_instances - slots_before(x, b) - x->s->g->classes[cls].length;
}

// Is the buffer a stack with at most one of these two slots?
static bool is_stack(const Interleaving *x, const Buffer *b)
{
    const Storage *st = &x->s->storage[b->value];

    return b->kind == BUFFER_LOCAL && b->set == x->set && b->first >= 0 && st->step && !st->ring &&
           value_block(x->s->g, b->value).cls && slots_before(x, b) + slots_after(x, b) <= 1;
}

// Forgets the slots of the buffers that aren't used as they say.
static void drop_misused(Interleaving *x)
{
    const bool *is_misused = slots_misused(x->a, x->p, x->set);

    for (int i = 1; i < x->p->n_buffers; i++)
        if (is_misused[i])
            x->p->buffers[i].slots = (Slots){0};
}

// Finds the stacks whose slots the last of their loops can free (or the first one take): by buffer.
static bool *find_stacks(Interleaving *x, bool frees)
{
    bool *is_found = arena_array(x->a, bool, x->p->n_buffers);

    for (int i = 1; i < x->p->n_buffers; i++) {
        Buffer *b = &x->p->buffers[i];
        const StackLoops *l = &x->loops[i];
        if (is_stack(x, b) && l->first != l->last)
            b->slots = (Slots){.bytes = x->s->storage[b->value].step,
                               .freed = frees ? l->last : 0,
                               .taken = frees ? 0 : l->first};
    }
    drop_misused(x);
    for (int i = 1; i < x->p->n_buffers; i++) {
        is_found[i] = x->p->buffers[i].slots.bytes && x->p->buffers[i].set == x->set;
        if (x->p->buffers[i].set == x->set)
            x->p->buffers[i].slots = (Slots){0};
    }
    return is_found;
}

// Gives slots to the stacks that end or begin in a loop in which others begin or end.
static void find_slots(Interleaving *x)
{
    const bool *frees = find_stacks(x, true), *takes = find_stacks(x, false);
    bool *has_begin = arena_array(x->a, bool, x->s->n_items + 1);
    bool *has_end = arena_array(x->a, bool, x->s->n_items + 1);

    for (int i = 1; i < x->p->n_buffers; i++) {
        has_end[x->loops[i].last] |= frees[i];
        has_begin[x->loops[i].first] |= takes[i];
    }
    for (int i = 1; i < x->p->n_buffers; i++) {
        const StackLoops *l = &x->loops[i];
        bool is_freed = frees[i] && has_begin[l->last], is_taken = takes[i] && has_end[l->first];
        if (is_freed || is_taken)
            x->p->buffers[i].slots = (Slots){.bytes = x->s->storage[x->p->buffers[i].value].step,
                                             .taken = is_taken ? l->first : 0,
                                             .freed = is_freed ? l->last : 0};
    }
}

// ---- one buffer of several stacks ----

// The stacks that become one buffer, and how they lie in its slots: those with a slot after the
// last one first, those with a slot before the first one last. So no byte is wasted at the ends.
typedef struct Joined {
    int32_t *stack;  // [n]
    int n;
    int64_t *offset;        // by stack: in a slot
    int64_t bytes;          // of a slot
    int64_t before, after;  // bytes before the first slot and after the last one
} Joined;

static bool is_joined(const Interleaving *x, int32_t i, int32_t k)
{
    const Slots *a = &x->p->buffers[i].slots, *b = &x->p->buffers[k].slots;

    return b->bytes && x->p->buffers[k].set == x->set && a->taken == b->taken &&
           a->freed == b->freed && x->loops[i].first == x->loops[k].first &&
           x->loops[i].last == x->loops[k].last;
}

// Lists the stacks that are joined with stack i, which is the first of them.
static Joined joined_with(const Interleaving *x, int32_t i)
{
    Joined j = {.stack = arena_array(x->a, int32_t, x->p->n_buffers),
                .offset = arena_array(x->a, int64_t, x->p->n_buffers)};

    for (int side = 1; side >= -1; side--)
        for (int32_t k = i; k < x->p->n_buffers; k++) {
            const Buffer *b = &x->p->buffers[k];
            if (!is_joined(x, i, k) || slots_after(x, b) - slots_before(x, b) != side)
                continue;
            j.offset[j.n] = j.bytes;
            j.stack[j.n++] = k;
            j.bytes += b->slots.bytes;
            j.after += side > 0 ? b->slots.bytes : 0;
            j.before += side < 0 ? b->slots.bytes : 0;
        }
    return j;
}

// Moves the values of the stacks to their offsets in buffer `to`.
static void move_values(Interleaving *x, const Joined *j, int32_t to)
{
    int *number = arena_array(x->a, int, x->p->n_buffers);  // by buffer: 1 + its index in j->stack
    int64_t *before = arena_array(x->a, int64_t, j->n);

    for (int k = 0; k < j->n; k++) {
        number[j->stack[k]] = k + 1;
        before[k] = slots_before(x, &x->p->buffers[j->stack[k]]);
    }
    for (ValueId v = 1; v < x->s->g->n_values; v++) {
        Storage *st = &x->s->storage[v];
        int k = number[st->buffer] - 1;
        if (k < 0)
            continue;
        int64_t bytes = x->p->buffers[j->stack[k]].slots.bytes;
        assert(st->offset % bytes == 0 && (!st->step || st->step == bytes));
        st->offset = j->before + j->offset[k] + (st->offset / bytes - before[k]) * j->bytes;
        st->step = st->step ? j->bytes : 0;
        st->buffer = to;
    }
}

// Makes one buffer of the stacks, that of the first of them.
static void join(Interleaving *x, const Joined *j, int32_t to)
{
    Buffer all = x->p->buffers[to];
    int length = x->s->g->classes[value_block(x->s->g, all.value).cls].length;

    move_values(x, j, to);
    all.slots.bytes = j->bytes;
    all.bytes = j->before + j->bytes * length + j->after + REDZONE;
    for (int k = 0; k < j->n; k++) {
        Buffer *b = &x->p->buffers[j->stack[k]];
        all.first = b->first < all.first ? b->first : all.first;
        all.last = b->last > all.last ? b->last : all.last;
        b->bytes = 0;
        b->first = -1;
        b->slots = (Slots){0};
    }
    x->p->buffers[to] = all;
}

// ---- the pass ----

SetLayout set_layout_copy(Arena *a, const Program *p, int set)
{
    int n_values = p->set[set].g->n_values;
    SetLayout x = {arena_array(a, Buffer, p->n_buffers), arena_array(a, Storage, n_values)};

    memcpy(x.buffers, p->buffers, (size_t)p->n_buffers * sizeof *x.buffers);
    memcpy(x.storage, p->set[set].storage, (size_t)n_values * sizeof *x.storage);
    return x;
}

void set_layout_swap(Program *p, int set, SetLayout *x)
{
    for (int i = 1; i < p->n_buffers; i++) {
        Buffer b = p->buffers[i];
        if (b.set != set || b.kind == BUFFER_PERSISTENT)
            continue;
        p->buffers[i] = x->buffers[i];
        x->buffers[i] = b;
    }
    for (ValueId v = 1; v < p->set[set].g->n_values; v++) {
        Storage st = p->set[set].storage[v];
        p->set[set].storage[v] = x->storage[v];
        x->storage[v] = st;
    }
}

static Interleaving interleaving_new(Program *p, int set)
{
    Interleaving x = {.p = p, .s = &p->set[set], .set = set, .a = arena_new()};

    x.loops = arena_array(x.a, StackLoops, p->n_buffers);
    find_loops(&x);
    return x;
}

void lower_find_slots(Program *p, int set)
{
    Interleaving x = interleaving_new(p, set);

    find_slots(&x);
    arena_free(x.a);
}

bool lower_interleave(Program *p, int set)
{
    Interleaving x = interleaving_new(p, set);
    SetLayout whole = set_layout_copy(x.a, p, set);
    int64_t before = program_peak_bytes(p, set);

    find_slots(&x);
    for (int32_t i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].set == set && p->buffers[i].slots.bytes) {
            Joined j = joined_with(&x, i);
            join(&x, &j, i);
        }
    int64_t saved = before - program_peak_bytes(p, set);
    bool is_better = saved > before / LIVE_PER_INTERLEAVING;
    if (!is_better)
        set_layout_swap(p, set, &whole);
    arena_free(x.a);
    return is_better;
}
