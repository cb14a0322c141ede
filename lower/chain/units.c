// Splits the items of a function into units, and notes which units write and read each buffer.
#include "lower/chain/chain.h"

// ---- classes ----

static bool has_inner_loop(const Set *s, int loop)
{
    for (int i = loop + 1; i < s->items[loop].loop.end; i++)
        if (s->items[i].kind == ITEM_LOOP)
            return true;
    return false;
}

// Can the loop's iterations be called one by one?
static bool is_callable(const Set *s, int loop)
{
    const Loop *l = &s->items[loop].loop;

    return !l->length && !l->skew && !l->fission_part && !l->again && !has_inner_loop(s, loop);
}

void chain_find_classes(Chain *x)
{
    const Set *s = x->s;
    int *n_loops = arena_array(x->arena, int, x->g->n_classes);

    x->cls = arena_array(x->arena, StagedClass, x->g->n_classes);
    for (int c = 0; c < x->g->n_classes; c++)
        x->cls[c] = (StagedClass){.forward = -1, .backward = -1};
    for (int i = x->f->begin; i < x->f->end; i++) {
        const Item *it = &s->items[i];
        if (it->kind != ITEM_LOOP || !it->cls || !it->region)
            continue;
        StagedClass *c = &x->cls[it->cls];
        int *loop = it->phase == FORWARD ? &c->forward : &c->backward;
        n_loops[it->cls] += is_callable(s, i) ? 1 : 3;
        *loop = i;
    }
    for (int c = 1; c < x->g->n_classes; c++) {
        StagedClass *k = &x->cls[c];
        bool is_staged =
            n_loops[c] == 2 && k->forward >= 0 && k->backward >= 0 &&
            s->items[k->forward].loop.is_reverse != s->items[k->backward].loop.is_reverse;
        if (!is_staged)
            k->forward = -1;
    }
}

// ---- units ----

static bool is_backward_item(const Graph *g, const Item *it)
{
    for (int k = 0; k < it->n_nodes; k++)
        if (g->nodes[it->nodes[k]].phase != FORWARD)
            return true;
    return it->kind == ITEM_GRADIENT || (it->kind == ITEM_LOOP && it->phase != FORWARD);
}

// Does the item belong to the unit before it?
static bool is_attached(const Item *it)
{
    return it->kind == ITEM_GRADIENT || it->kind == ITEM_PAD;
}

static void add_unit(Chain *x, Unit u, int *cap)
{
    if (x->n_forward < 0 && is_backward_item(x->g, &x->s->items[u.begin]))
        x->n_forward = x->n_units;
    *arena_push(x->arena, x->unit, x->n_units, *cap) = u;
}

// Adds the iterations of a staged loop, in the order in which they run.
static void add_iterations(Chain *x, int loop, int *cap)
{
    const Item *it = &x->s->items[loop];
    StagedClass *c = &x->cls[it->cls];
    int n = loop_length(x->g, it);

    *(loop == c->forward ? &c->first_forward : &c->first_backward) = x->n_units;
    for (int k = 0; k < n; k++)
        add_unit(x,
                 (Unit){.begin = loop,
                        .end = it->loop.end + 1,
                        .cls = it->cls,
                        .iteration = it->loop.is_reverse ? n - 1 - k : k},
                 cap);
}

// Finds the units of the last stage: those that are given or that follow the last iteration of a
// staged class, up to its first one backward.
static void find_turn(Chain *x)
{
    if (x->turn_item >= 0) {
        for (x->n_forward = 0; x->unit[x->n_forward].begin < x->turn_item;)
            x->n_forward++;
        for (x->turn = x->n_forward; x->turn < x->n_units && x->unit[x->turn].begin < x->turn_end;)
            x->turn++;
        return;
    }
    x->turn = x->n_forward;
    if (!x->n_forward || !x->unit[x->n_forward - 1].cls)
        return;
    while (x->turn < x->n_units && !x->unit[x->turn].cls)
        x->turn++;
}

void chain_find_units(Chain *x)
{
    int cap = 0;

    x->unit = NULL;
    x->n_units = 0;
    x->n_forward = -1;
    for (int i = x->f->begin; i < x->f->end; i++) {
        const Item *it = &x->s->items[i];
        bool is_loop = it->kind == ITEM_LOOP,
             is_staged = is_loop && it->region && x->cls[it->cls].forward >= 0;
        Unit *last = x->n_units ? &x->unit[x->n_units - 1] : NULL;
        if (it->kind == ITEM_NONE)
            continue;
        if (is_staged)
            add_iterations(x, i, &cap);
        else if (is_attached(it) && last && !last->cls)
            last->end = i + 1;
        else
            add_unit(x, (Unit){.begin = i, .end = is_loop ? it->loop.end + 1 : i + 1}, &cap);
        i = is_loop ? it->loop.end : i;
    }
    if (x->n_forward < 0)
        x->n_forward = x->n_units;
    find_turn(x);
}

// ---- uses ----

static bool is_in_micro(const Chain *x, int item)
{
    return item >= x->f->begin && item < x->f->end;
}

// The trainer knows the addresses of inputs and outputs. A buffer that other functions use lives
// on.
static void keep_known_buffers(Chain *x)
{
    const Set *s = x->s;

    for (int i = 1; i < x->p->n_buffers; i++) {
        const Buffer *b = &x->p->buffers[i];
        x->is_kept[i] |= b->kind != BUFFER_LOCAL || b->set != SET_TRAIN || b->first < 0;
    }
    for (ValueId v = 1; v < x->g->n_values; v++)
        if (value_of(x->g, v)->kind == VALUE_INPUT)
            x->is_kept[s->storage[v].buffer] = true;
    for (int i = 0; i < x->g->n_outputs; i++)
        if (x->g->outputs[i].role != OUTPUT_GRADIENT)
            x->is_kept[s->storage[x->g->outputs[i].value].buffer] = true;
    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; !is_in_micro(x, i) && k < s->items[i].n_in + s->items[i].n_out; k++)
            x->is_kept[s->storage[s->items[i].operands[k].base].buffer] = true;
}

// The instance whose bytes a value has that isn't of the buffer's class: it is the initial value of
// a loop.
static int initial_instance(const Chain *x, const Buffer *b, ValueId v)
{
    const Storage *st = &x->s->storage[v], *own = &x->s->storage[b->value];
    const StagedClass *c = &x->cls[staged_class_of(x, b)];
    NodeId from = value_of(x->g, b->value)->producer;

    if (own->step && !own->ring)
        return (int)((st->offset - own->offset) / own->step);
    bool is_forward = !from || x->g->nodes[from].phase == FORWARD;
    bool is_reverse = x->s->items[is_forward ? c->forward : c->backward].loop.is_reverse;
    return is_reverse ? x->g->classes[staged_class_of(x, b)].length : -1;
}

int chain_instance(const Chain *x, const Unit *u, const Operand *o)
{
    const Buffer *b = &x->p->buffers[x->s->storage[o->base].buffer];
    int32_t cls = staged_class_of(x, b);
    Block own = value_block(x->g, o->base);

    if (!cls)
        return -1;
    if (own.cls != cls)
        return initial_instance(x, b, o->base);
    if (!o->is_instance)
        return own.iter + o->delta;
    return u->cls == cls ? u->iteration + o->delta : ALL_INSTANCES;
}

static void note_write(const Chain *x, Use *use, int unit)
{
    if (use->first_write < 0) {
        use->first_write = unit;
        use->is_made_back = unit >= x->n_forward;
    }
    use->last_write = unit;
}

static void note_read(const Chain *x, Use *use, int unit)
{
    if (unit >= x->turn || use->is_made_back) {
        use->first_back = use->first_back < 0 ? unit : use->first_back;
        use->last_back = unit;
    } else if (unit > use->last_write) {
        use->first_read = use->first_read < 0 ? unit : use->first_read;
        use->last_read = unit;
    }
}

// Notes where the forward part reads what outlives a step, and where the backward part changes it.
static void note_persistent(Chain *x, int unit, const Operand *o, bool is_write)
{
    int32_t b = x->s->storage[o->base].buffer;
    int n = instances_of(x, &x->p->buffers[b]), at = chain_instance(x, &x->unit[unit], o) + 1;
    bool is_one = at >= 0 && at < n;

    for (int j = is_one ? at : 0; j < (is_one ? at + 1 : n); j++) {
        Use *use = &x->use[x->first_use[b] + j];
        if (!is_write && unit < x->n_forward && use->first_read < 0)
            use->first_read = unit;
        if (is_write && unit >= x->n_forward && use->first_back < 0)
            use->first_back = unit;
    }
}

static void note_operand(Chain *x, int unit, const Operand *o, bool is_write)
{
    int32_t b = x->s->storage[o->base].buffer;

    if (o->base && x->p->buffers[b].kind == BUFFER_PERSISTENT)
        note_persistent(x, unit, o, is_write);
    if (!o->base || x->is_kept[b])
        return;
    int instance = chain_instance(x, &x->unit[unit], o);
    if (instance < -1 || instance + 1 >= instances_of(x, &x->p->buffers[b])) {
        x->is_kept[b] = true;
        return;
    }
    Use *use = &x->use[x->first_use[b] + instance + 1];
    if (is_write)
        note_write(x, use, unit);
    else
        note_read(x, use, unit);
}

void chain_find_uses(Chain *x)
{
    keep_known_buffers(x);
    x->first_use = arena_array(x->arena, int, x->p->n_buffers);
    x->n_uses = 0;
    for (int i = 1; i < x->p->n_buffers; i++) {
        x->first_use[i] = x->n_uses;
        bool is_persistent = x->p->buffers[i].kind == BUFFER_PERSISTENT;
        x->n_uses += x->is_kept[i] && !is_persistent ? 0 : instances_of(x, &x->p->buffers[i]);
    }
    x->use = arena_array(x->arena, Use, x->n_uses);
    for (int i = 0; i < x->n_uses; i++)
        x->use[i] = (Use){-1, -1, -1, -1, -1, -1, false};
    for (int u = 0; u < x->n_units; u++)
        for (int i = x->unit[u].begin; i < x->unit[u].end; i++) {
            const Item *it = &x->s->items[i];
            for (int k = 0; k < it->n_in; k++)
                note_operand(x, u, &it->operands[k], false);
            for (int k = it->n_in; k < it->n_in + it->n_out; k++)
                note_operand(x, u, &it->operands[k], true);
        }
}
