// Buffers whose slots a loop's iterations take or free one by one: which bytes of them are in use.
#include "lower/internal.h"

int buffer_slots(const Set *s, const Buffer *b)
{
    int loop = b->slots.taken ? b->slots.taken : b->slots.freed;

    return loop ? loop_length(s->g, &s->items[loop - 1]) : 0;
}

// The loop in which the item is or which decides what is in use after or before it; NULL: all is in
// use at the item.
static const Item *deciding_loop(const Set *s, const Buffer *b, int item, bool *takes)
{
    const Slots *x = &b->slots;
    const Item *taken = x->taken ? &s->items[x->taken - 1] : NULL;

    *takes = taken && item <= taken->loop.end;
    if (*takes)
        return taken;
    return x->freed && item >= x->freed - 1 ? &s->items[x->freed - 1] : NULL;
}

// Slots are in the order of iterations. The first iteration that a loop in reverse runs takes the
// last slot, the last one frees the first slot.
Extent buffer_extent(const Set *s, const Buffer *b, int item, LoopEdge edge)
{
    bool takes;
    const Item *loop = deciding_loop(s, b, item, &takes);
    Extent x = {0, b->bytes};

    if (!loop)
        return x;
    int begin = (int)(loop - s->items);
    bool is_last = item >= loop->loop.end || (item > begin && edge == LAST_ITERATION);
    int64_t unused = (loop_length(s->g, loop) - 1) * b->slots.bytes;
    if (is_last == takes)
        return x;
    if (loop->loop.is_reverse == takes)
        x.low += unused;
    else
        x.high -= unused;
    return x;
}

int64_t buffer_bytes_at(const Program *p, const Buffer *b, int set, int item, LoopEdge edge)
{
    if (!buffer_is_live(b, set, item))
        return 0;
    Extent x = buffer_extent(&p->set[set], b, item, edge);
    return x.high - x.low;
}

// Adds what changes from item to item in the bytes that are in use.
static void add_changes(const Program *p, int set, const Buffer *b, LoopEdge edge, int64_t *change)
{
    int64_t before = 0;

    if (!b->slots.bytes) {
        change[b->first] += b->bytes;
        change[b->last + 1] -= b->bytes;
        return;
    }
    for (int i = b->first; i <= b->last + 1; i++) {
        int64_t now = buffer_bytes_at(p, b, set, i, edge);
        change[i] += now - before;
        before = now;
    }
}

int64_t program_peak_bytes(const Program *p, int set)
{
    int n_items = p->set[set].n_items;
    int64_t most = 0;

    for (LoopEdge edge = FIRST_ITERATION; edge < N_LOOP_EDGES; edge++) {
        int64_t *change = arena_array(p->arena, int64_t, n_items + 2), live = 0;
        for (int i = 1; i < p->n_buffers; i++) {
            const Buffer *b = &p->buffers[i];
            if (b->kind != BUFFER_PERSISTENT && b->set == set && b->first >= 0)
                add_changes(p, set, b, edge, change);
        }
        for (int i = 0; i <= n_items; i++) {
            live += change[i];
            most = live > most ? live : most;
        }
    }
    return most;
}

// ---- uses ----

// Can the iterations of a loop take or free the buffer's slots? `loop` is 1 + its item; 0: there is
// none.
static bool is_loop_of(const Set *s, const Buffer *b, int loop)
{
    int64_t slots;

    if (!loop || loop > s->n_items)
        return !loop;
    const Item *it = &s->items[loop - 1];
    return it->kind == ITEM_LOOP && it->cls && !it->loop.length && !it->loop.skew &&
           mul_size(b->slots.bytes, loop_length(s->g, it), &slots) && slots <= b->bytes - REDZONE;
}

// Does the buffer begin in the loop that takes its slots, or before, and end in the one that frees
// them, or after?
static bool has_right_loops(const Set *s, const Buffer *b)
{
    int taken = b->slots.taken, freed = b->slots.freed;

    if (!taken && !freed)
        return !b->slots.bytes;
    if (b->kind != BUFFER_LOCAL || !is_loop_of(s, b, taken) || !is_loop_of(s, b, freed))
        return false;
    int shared = timing_end(s, TIMING_PREPARE);
    if (freed > shared && b->first < shared)  // the next micro-batch reads it too
        return false;
    if (taken && freed &&
        (s->items[taken - 1].cls != s->items[freed - 1].cls ||
         s->items[taken - 1].loop.end >= freed - 1))
        return false;
    return (!taken || (b->first < taken && s->items[taken - 1].loop.end < b->last)) &&
           (!freed || (b->first < freed - 1 && s->items[freed - 1].loop.end <= b->last));
}

// Are the bytes of the operand in use in that iteration of the loop around the item? `loop` may be
// NULL.
static bool is_in_use(const Program *p, const Set *s, int item, const Operand *o, const Item *loop,
                      LoopEdge edge)
{
    const Storage *st = &s->storage[o->base];
    Extent x = buffer_extent(s, &p->buffers[st->buffer], item, edge);
    int iteration = value_block(s->g, o->base).iter;

    if (st->ring)
        return false;
    if (o->is_instance)
        iteration =
            loop->loop.is_reverse == (edge == FIRST_ITERATION) ? loop_length(s->g, loop) - 1 : 0;
    int64_t at = st->offset + st->step * (iteration + o->delta);
    return x.low <= at && at + stored_bytes(s, o->base) <= x.high - REDZONE;
}

// Notes the buffers with slots of which the item uses bytes that aren't in use. Loops around it
// must not be nested. `loop` is the one; NULL: there is none.
static void check_item(const Program *p, const Set *s, int item, const Item *loop, int depth,
                       bool *is_misused)
{
    const Item *it = &s->items[item];

    for (int k = 0; k < it->n_in + it->n_out; k++) {
        const Operand *o = &it->operands[k];
        int32_t b = o->base ? s->storage[o->base].buffer : 0;
        if (!p->buffers[b].slots.bytes)
            continue;
        bool ok = depth <= 1;
        for (LoopEdge edge = FIRST_ITERATION; ok && edge < N_LOOP_EDGES; edge++)
            ok = is_in_use(p, s, item, o, loop, edge);
        is_misused[b] |= !ok;
    }
}

// The trainer reads and writes whole buffers.
static void check_trainer(const Set *s, bool *is_misused)
{
    for (ValueId v = 1; v < s->g->n_values; v++)
        if (value_of(s->g, v)->kind == VALUE_INPUT)
            is_misused[s->storage[v].buffer] = true;
    for (int i = 0; i < s->g->n_outputs; i++)
        if (s->g->outputs[i].role != OUTPUT_GRADIENT)
            is_misused[s->storage[s->g->outputs[i].value].buffer] = true;
}

bool *slots_misused(Arena *a, const Program *p, int set)
{
    const Set *s = &p->set[set];
    const Item *loop = NULL;
    bool *is_misused = arena_array(a, bool, p->n_buffers);
    int depth = 0;

    check_trainer(s, is_misused);
    for (int i = 1; i < p->n_buffers; i++)
        is_misused[i] = p->buffers[i].set == set && p->buffers[i].slots.bytes &&
                        (is_misused[i] || !has_right_loops(s, &p->buffers[i]));
    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        depth += it->kind == ITEM_LOOP;
        if (it->kind == ITEM_LOOP)
            loop = it;
        depth -= it->kind == ITEM_END;
        if (!depth)
            loop = NULL;
        check_item(p, s, i, loop, depth, is_misused);
    }
    return is_misused;
}
