// Packs buffers into the arena: buffers that are not live at the same time share bytes.
#include "base/search.h"
#include "lower/internal.h"
#include "packer/packer.h"

// ---- in place ----

static const Operand *output_at(const Item *it, int k) { return &it->operands[it->n_in + k]; }

// Is the operand all of a buffer or, in a loop, all of a slot of a stack, in the order in which the
// item walks?
static bool is_whole(const Set *s, const Item *it, const Operand *o)
{
    const Storage *st = &s->storage[o->base];
    const Value *base = value_of(s->g, o->base);
    int axis[MAX_RANK];
    int64_t step = 1;

    if ((st->step && !o->is_instance) || o->delta || st->ring || o->offset || o->step[0])
        return false;
    if (it->kind == ITEM_KERNEL) {
        const Value *v = value_of(s->g, o->value);
        return operand_is_dense(o, v->rank, v->dim);
    }
    layout_axes(it->rank, it->group.is_channels_last, axis);
    for (int i = it->rank - 1; i >= 0; i--) {  // densely, as the group walks?
        int k = axis[i];
        if (it->dim[k] > 1 && o->stride[k] != step)
            return false;
        bool is_row = st->row && i + 1 == it->rank;
        if (is_row && it->dim[k] != base->dim[base->rank - 1])
            return false;
        step = is_row ? st->row : step * it->dim[k];
    }
    return true;
}

// Is output `to` of the group written in the last pass over a row?
static bool is_written_in_last_pass(const Set *s, const Item *it, const Operand *to)
{
    for (int i = 0; i < it->n_nodes; i++)
        if (s->g->nodes[it->nodes[i]].out[0] == to->value)
            return it->group.pass[i] == it->group.n_passes - 1;
    return false;
}

// Does a row scalar of the group read the operand after the last pass over a row?
static bool is_read_after_last_pass(const Set *s, const Item *it, int operand)
{
    const int *source = it->group.source;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &s->g->nodes[it->nodes[i]];
        bool is_after_last_pass =
            node_is_row_scalar(s->g, it, n) && it->group.pass[i] == it->group.n_passes - 1;
        for (int k = 0; k < n->n_in; k++, source++)
            if (is_after_last_pass && *source == operand)
                return true;
    }
    return false;
}

// Does an item of [begin, end) use the buffer?
static bool is_used_between(const Set *s, int begin, int end, int32_t buffer)
{
    for (int i = begin; i < end; i++)
        for (int k = 0; k < s->items[i].n_in + s->items[i].n_out; k++)
            if (s->storage[s->items[i].operands[k].base].buffer == buffer)
                return true;
    return false;
}

static bool is_in_loop(const Set *s, int item)
{
    int depth = 0;

    for (int i = 0; i < item; i++)
        depth += (s->items[i].kind == ITEM_LOOP) - (s->items[i].kind == ITEM_END);
    return depth > 0;
}

// Is `from` an accumulator that the item uses last, and is `to` first used there? In a loop they
// are stacks: the item uses the slots of its own iteration, and no other item uses them. What has
// no slots is used again by the next iteration.
static bool ends_accumulator(const Program *p, const Set *s, int item, const Operand *from,
                             const Operand *to)
{
    const Storage *x = &s->storage[from->base], *y = &s->storage[to->base];
    const Buffer *a = &p->buffers[x->buffer];
    bool is_output = a->last == s->n_items;

    return value_of(s->g, a->value)->kind == VALUE_ZERO && !is_output && x->step == y->step &&
           x->offset == y->offset && (!is_in_loop(s, item) || (x->step && from->is_instance)) &&
           !is_used_between(s, item + 1, s->n_items, x->buffer) &&
           !is_used_between(s, 0, item, y->buffer);
}

// The item that ends the work of `item`: of an overlapped collective its wait, which is in the same
// iteration of a loop if it comes later; else the item itself.
static int end_of_item(const Set *s, int item)
{
    const Item *it = &s->items[item];

    if (it->kind != ITEM_KERNEL || !it->call.slot)
        return item;
    for (int i = item + 1; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_WAIT && s->items[i].call.slot == it->call.slot)
            return s->items[i].skew == it->skew ? i : item;
    return item;
}

// Is `from` read last and `to` written first by the item?
static bool ends_and_begins(const Program *p, const Set *s, int item, const Operand *from,
                            const Operand *to)
{
    const Storage *x = &s->storage[from->base], *y = &s->storage[to->base];
    const Buffer *a = &p->buffers[x->buffer], *b = &p->buffers[y->buffer];

    if (a->kind == BUFFER_PERSISTENT)
        return ends_accumulator(p, s, item, from, to);
    int end = end_of_item(s, item);
    return a->kind == BUFFER_LOCAL && !x->step && !y->step && a->last == end && b->first == item &&
           !is_used_between(s, item + 1, end, x->buffer);
}

// Can the item write output `to` over input `from`, which it reads last?
static bool can_overwrite(const Program *p, const Set *s, int item, const Operand *from,
                          const Operand *to, const Chain *chain)
{
    const Item *it = &s->items[item];
    int32_t old = s->storage[from->base].buffer, new = s->storage[to->base].buffer;
    const Buffer *a = &p->buffers[old], *b = &p->buffers[new];

    if (old == new || b->kind != BUFFER_LOCAL || a->bytes != b->bytes ||
        s->storage[from->base].row != s->storage[to->base].row ||
        (chain && !chain_may_overwrite(chain, old)) || !ends_and_begins(p, s, item, from, to) ||
        !is_whole(s, it, from) || !is_whole(s, it, to))
        return false;
    // If rows have one element, a row scalar has as many bytes as the whole value.
    bool is_like = value_of(s->g, from->value)->rank == value_of(s->g, to->value)->rank;
    if (it->kind == ITEM_GROUP && (!is_like || !is_written_in_last_pass(s, it, to) ||
                                   is_read_after_last_pass(s, it, (int)(from - it->operands))))
        return false;
    if (dtype_size(value_of(s->g, from->base)->dtype) !=
        dtype_size(value_of(s->g, to->base)->dtype))
        return false;
    for (int k = 0; k < it->n_in + it->n_out; k++) {
        const Operand *o = &it->operands[k];
        if (o != from && s->storage[o->base].buffer == old)
            return false;
    }
    return true;
}

static void share_buffer(Program *p, Set *s, int32_t from, int32_t to)
{
    for (ValueId v = 1; v < s->g->n_values; v++)
        if (s->storage[v].buffer == to)
            s->storage[v].buffer = from;
    p->buffers[from].last = p->buffers[to].last;
    p->buffers[to].bytes = 0;
    p->buffers[to].first = -1;
}

void lower_in_place(Program *p, Set *s, Chain *chain)
{
    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        bool is_kernel = it->kind == ITEM_KERNEL && it->call.kernel.over;
        for (int k = 0; (is_kernel || it->kind == ITEM_GROUP) && k < it->n_out; k++)
            for (int j = 0; j < it->n_in; j++) {
                const Operand *from = &it->operands[j], *to = output_at(it, k);
                if ((!is_kernel || j + 1 == it->call.kernel.over) &&
                    can_overwrite(p, s, i, from, to, chain)) {
                    int32_t old = s->storage[from->base].buffer, new = s->storage[to->base].buffer;
                    if (chain)
                        chain_overwrite(chain, old, new);
                    share_buffer(p, s, old, new);
                    break;
                }
            }
    }
}

// ---- packing ----

static bool is_packed(const Buffer *b, int set)
{
    return b->kind != BUFFER_PERSISTENT && b->set == set && b->first >= 0;
}

// Packs the buffers of a set above `base`, buffers with slots first. A packing of `enough` bytes is
// as good as any. Returns the bytes above `base`.
static int64_t pack_set(Program *p, int set, int64_t base, const PackOptions *o)
{
    LiveBuffer *live, *pinned;
    int n = pack_slots(p->arena, p, set, base, &pinned), n_pinned = n;

    live = arena_array(p->arena, LiveBuffer, n + p->n_buffers);
    for (int i = 0; i < n; i++)
        live[i] = pinned[i];

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        if (is_packed(b, set) && !b->slots.bytes)
            live[n++] = (LiveBuffer){.lower = b->first, .upper = b->last + 1, .bytes = b->bytes};
    }
    const Packing x = pack(p->arena, live, n, o);
    const int64_t *offset = x.offset + n_pinned;
    for (int i = 1; i < p->n_buffers; i++)
        if (is_packed(&p->buffers[i], set) && !p->buffers[i].slots.bytes)
            p->buffers[i].offset = base + *offset++;
    return x.bytes;
}

// The same, but with whole stacks as in `whole` where those with slots were packed worse.
static void pack_better(Program *p, int set, int64_t base, const PackOptions *o, SetLayout *whole)
{
    int64_t bytes = pack_set(p, set, base, o);

    set_layout_swap(p, set, whole);
    if (bytes > program_peak_bytes(p, set) && pack_set(p, set, base, o) < bytes)
        return;
    set_layout_swap(p, set, whole);
}

static int64_t pack_persistent(Program *p)
{
    int64_t at = 0;

    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].kind == BUFFER_PERSISTENT) {
            p->buffers[i].offset = at;
            at += p->buffers[i].bytes;
        }
    return at;
}

void measure_arena(Program *p)
{
    int64_t end[N_SETS] = {0}, base = 0;

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        int64_t *to = b->kind == BUFFER_PERSISTENT ? &base : &end[b->set];
        bool has_offset = b->kind == BUFFER_PERSISTENT || is_packed(b, b->set);
        if (has_offset && b->offset + b->bytes > *to)
            *to = b->offset + b->bytes;
    }
    p->arena_bytes = p->bound = base;
    for (int i = 0; i < N_SETS; i++) {
        if (!p->set[i].g)
            continue;
        int64_t live = base + program_peak_bytes(p, i);
        p->set[i].end = end[i] > base ? end[i] : base;
        p->arena_bytes = p->set[i].end > p->arena_bytes ? p->set[i].end : p->arena_bytes;
        p->bound = live > p->bound ? live : p->bound;
    }
}

static int32_t add_workspace(Program *p, int set, int64_t bytes, int first, int last)
{
    Buffer *b = arena_push(p->arena, p->buffers, p->n_buffers, p->cap_buffers);

    *b = (Buffer){.kind = BUFFER_WORKSPACE,
                  .set = set,
                  .bytes = buffer_bytes(bytes, 1),
                  .first = first,
                  .last = last};
    return p->n_buffers - 1;
}

// Adds one workspace for all kernels that run concurrently with other items, as the comm thread
// runs them one after the other. It is live from the first of them to the last, including the loops
// that they are in.
static int32_t add_shared_workspace(Program *p, int set)
{
    const Set *s = &p->set[set];
    int first = s->n_items, last = -1, loop = -1;
    int64_t bytes = 0;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        loop = it->kind == ITEM_LOOP ? i : it->kind == ITEM_END ? -1 : loop;
        if (!item_slot(it))
            continue;
        int begin = loop >= 0 ? loop : i, end = loop >= 0 ? s->items[loop].loop.end : i;
        first = begin < first ? begin : first;
        last = end;
        bytes = item_workspace(it) > bytes ? item_workspace(it) : bytes;
    }
    return bytes ? add_workspace(p, set, bytes, first, last) : 0;
}

static void add_workspaces(Program *p, int set)
{
    const Set *s = &p->set[set];
    int32_t shared = add_shared_workspace(p, set);

    for (int i = 0; i < s->n_items; i++) {
        Item *it = &s->items[i];
        int64_t bytes = item_workspace(it);
        if (bytes)
            it->workspace_buffer = item_slot(it) ? shared : add_workspace(p, set, bytes, i, i);
    }
}

// Packs a training set whose stages run again, and the other set around it. The last of the rounds
// is given no memory.
static bool pack_chain(Program *p, Chain *chain, int64_t base, const LowerOptions *o)
{
    const PackOptions pack = {.effort = PACKING_EFFORT, .budget = o->budget};
    int64_t more = 0, before = 0;

    pack_set(p, SET_TRAIN, base, &pack);
    if (p->set[SET_PREDICT].g)
        pack_set(p, SET_PREDICT, base, &pack);
    measure_arena(p);
    chain_set_rest(chain, p->set[SET_TRAIN].end);
    for (int round = 0; round < CHAIN_ROUNDS; round++) {
        bool is_last = round == CHAIN_ROUNDS - 1;
        if (!chain_choose_runs(chain, o->chain, is_last ? o->memory : more))
            return false;
        pack_set(p, SET_TRAIN, base, &pack);
        measure_arena(p);
        more = p->set[SET_TRAIN].end - o->memory;
        if (!o->memory || more <= 0)
            break;
        if (more == before && !is_last)  // the same schedule again
            round = CHAIN_ROUNDS - 2;
        before = more;
    }
    chain_finish(chain);
    return true;
}

bool lower_arena(Program *p, const LowerOptions *o, Diag *d)
{
    Chain *chain = o->chain && p->set[SET_TRAIN].g ? chain_find(p, o->budget, d) : NULL;
    if (d->errors)
        return false;
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].g) {
            Chain *own = i == SET_TRAIN ? chain : NULL;
            lower_in_place(p, &p->set[i], own);
            add_workspaces(p, i);
            if (own && !chain_enter_slots(own, o->chain->cluster))
                return false;
        }
    PackOptions pack = {.effort = o->packs_briefly ? PACKING_EFFORT / BRIEF_PACKING_DIVISOR
                                                   : PACKING_EFFORT,
                        .budget = o->budget};
    int64_t base = pack_persistent(p);
    if (chain)
        return pack_chain(p, chain, base, o);
    SetLayout whole[N_SETS];
    bool has_slots[N_SETS] = {false};
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].g) {
            whole[i] = set_layout_copy(p->arena, p, i);
            has_slots[i] = lower_interleave(p, i);
            int64_t live = program_peak_bytes(p, i);
            pack.enough = live > pack.enough ? live : pack.enough;
        }
    if (o->is_trial && o->memory - base > pack.enough)
        pack.enough = o->memory - base;
    for (int i = 0; i < N_SETS; i++)
        if (has_slots[i])
            pack_better(p, i, base, &pack, &whole[i]);
        else if (p->set[i].g)
            pack_set(p, i, base, &pack);
    measure_arena(p);
    if (p->arena_bytes < MAX_ARENA_BYTES)
        return true;
    diag_error(d, "the program needs %" PRId64 " GiB of memory, expected less than 1048576",
               p->arena_bytes >> 30);
    return false;
}
