// Mistakes that the tests make in a program: each mutation changes one thing.
#ifndef SHARDCC_TESTS_LOWER_MUTATIONS_H
#define SHARDCC_TESTS_LOWER_MUTATIONS_H

#include <string.h>

#include "lower/lower.h"
#include "tests/lower/plans.h"

// A mutation changes one thing of the set and returns true, or returns false if it finds nothing
// to change.
typedef bool (*Mutation)(Program *p, Set *s, Dice *d);

static Item *pick_item(Set *s, Dice *d, int kinds)
{
    for (int tries = 0; tries < 50; tries++) {
        Item *it = &s->items[roll(d, s->n_items)];
        if (kinds >> it->kind & 1)
            return it;
    }
    return NULL;
}

enum {
    WORKS = 1 << ITEM_GROUP | 1 << ITEM_KERNEL | 1 << ITEM_COPY,
    WITH_OPERANDS = WORKS | 1 << ITEM_FILL | 1 << ITEM_GRADIENT | 1 << ITEM_PAD,
};

static Operand *pick_operand(Set *s, Dice *d, Item **it)
{
    *it = pick_item(s, d, WITH_OPERANDS);
    if (!*it || !((*it)->n_in + (*it)->n_out))
        return NULL;
    Operand *o = &(*it)->operands[roll(d, (*it)->n_in + (*it)->n_out)];
    return o->base ? o : NULL;
}

static bool is_same_type(const Graph *g, ValueId a, ValueId b)
{
    const Value *x = value_of(g, a), *y = value_of(g, b);

    return x->dtype == y->dtype && x->rank == y->rank &&
           !memcmp(x->dim, y->dim, sizeof *x->dim * (size_t)x->rank);
}

static bool change_slot(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    Storage *x = o ? &s->storage[o->base] : NULL;

    (void)p;
    if (!x || (!x->step && !x->ring))
        return false;
    if (x->ring)
        x->ring += x->ring > 1 && roll(d, 2) ? -1 : 1;
    else
        x->offset += roll(d, 2) ? x->step : -x->step;
    return true;
}

static bool change_iteration(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);

    (void)p;
    if (!o || !it->region || !s->storage[o->base].step)
        return false;
    o->delta += roll(d, 2) ? 1 : -1;
    return true;
}

// Gives an operand the address of another value of the same type.
static bool change_value(Program *p, Set *s, Dice *d)
{
    Item *it, *other;
    Operand *o = pick_operand(s, d, &it), *x = pick_operand(s, d, &other);

    (void)p;
    if (!o || !x || o->base == x->base || !is_same_type(s->g, o->value, x->value) ||
        value_of(s->g, o->base)->dtype != value_of(s->g, x->base)->dtype)
        return false;
    Operand was = *o;
    *o = *x;
    o->value = was.value;
    return true;
}

// Reads an input from the program's text instead of from memory, or fills with another number.
static bool change_literal(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_GROUP | 1 << ITEM_FILL);
    int at = 0;
    double x;

    (void)p;
    if (it && it->kind == ITEM_FILL) {
        it->fill.value += 1;
        return true;
    }
    for (int i = 0; it && i < it->n_nodes; i++)
        for (int k = 0; k < s->g->nodes[it->nodes[i]].n_in; k++, at++)
            if (it->group.source[at] >= 0 &&
                value_splat(s->g, s->g->nodes[it->nodes[i]].in[k], &x)) {
                it->group.source[at] = SOURCE_SPLAT;
                return true;
            }
    return false;
}

// Replaces a kernel's node by that of the next iteration, whose numbers the text then contains.
static bool change_node(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_KERNEL);
    const Node *n = it ? &s->g->nodes[it->nodes[0]] : NULL;

    (void)p;
    if (!n || !it->region || n->block.cls != it->cls)
        return false;
    for (NodeId k = 1; k < s->g->n_nodes; k++) {
        Block b = s->g->nodes[k].block;
        if (b.cls == n->block.cls && b.pos == n->block.pos && b.iter == n->block.iter + 1) {
            it->nodes[0] = k;
            return true;
        }
    }
    return false;
}

static bool drop(Program *p, Set *s, Dice *d, int kinds)
{
    Item *it = pick_item(s, d, kinds);

    (void)p;
    if (it)
        it->kind = ITEM_NONE;
    return it;
}

static bool drop_copy(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_COPY); }
static bool drop_item(Program *p, Set *s, Dice *d)
{
    return drop(p, s, d, WITH_OPERANDS | 1 << ITEM_WAIT);
}
static bool drop_pad(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_PAD); }
static bool drop_wait(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_WAIT); }

static bool swap_operands(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, WORKS);

    (void)p;
    if (!it || it->n_in < 2)
        return false;
    Operand *a = &it->operands[roll(d, it->n_in)], *b = &it->operands[roll(d, it->n_in)], was = *a;
    if (a == b || !a->base || !b->base || !is_same_type(s->g, a->value, b->value) ||
        value_of(s->g, a->base)->dtype != value_of(s->g, b->base)->dtype)
        return false;
    *a = *b;
    *b = was;
    return true;
}

// Reads an input of a group's node from the address of another input.
static bool change_source(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_GROUP);
    int n = 0;

    (void)p;
    for (int i = 0; it && i < it->n_nodes; i++)
        n += s->g->nodes[it->nodes[i]].n_in;
    if (!n || it->n_in < 2)
        return false;
    int *source = &it->group.source[roll(d, n)], other = roll(d, it->n_in);
    if (*source < 0 || *source == other ||
        !is_same_type(s->g, it->operands[*source].value, it->operands[other].value))
        return false;
    *source = other;
    return true;
}

static bool change_stride(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    int rank = o ? value_of(s->g, o->value)->rank : 0;

    (void)p;
    if (!rank)
        return false;
    o->stride[roll(d, rank)] += roll(d, 2) ? 1 : -1;
    return true;
}

static bool change_order(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    int rank = o ? value_of(s->g, o->value)->rank : 0;

    (void)p;
    if (rank < 2)
        return false;
    int64_t *a = &o->stride[roll(d, rank)], *b = &o->stride[roll(d, rank)], was = *a;
    *a = *b;
    *b = was;
    return a != b;
}

static bool change_offset(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);

    (void)p;
    if (!o)
        return false;
    *(roll(d, 4) ? &o->offset : &o->step[0]) += roll(d, 2) ? 1 : -1;
    return true;
}

// Puts a buffer over another one.
static bool move_buffer(Program *p, Set *s, Dice *d)
{
    Buffer *a = &p->buffers[roll(d, p->n_buffers)], *b = &p->buffers[roll(d, p->n_buffers)];

    (void)s;
    if (!a->bytes || !b->bytes || a == b || a->offset == b->offset)
        return false;
    a->offset = b->offset;
    return true;
}

// Puts a buffer over a part of another one.
static bool shift_buffer(Program *p, Set *s, Dice *d)
{
    Buffer *a = &p->buffers[roll(d, p->n_buffers)], *b = &p->buffers[roll(d, p->n_buffers)];

    (void)s;
    if (!a->bytes || b->bytes < 128 || a == b)
        return false;
    int64_t to = b->offset + 64 * roll(d, (int)(b->bytes / 64));
    if (to + a->bytes > p->arena_bytes || to == a->offset)
        return false;
    a->offset = to;
    return true;
}

// Moves an item up before an earlier one of the same loop.
static bool move_item(Program *p, Set *s, Dice *d)
{
    int to = roll(d, s->n_items), from = to + 1 + roll(d, 3);

    (void)p;
    for (int i = to; i <= from; i++)
        if (i >= s->n_items || s->items[i].kind == ITEM_LOOP || s->items[i].kind == ITEM_END)
            return false;
    Item was = s->items[from];
    memmove(&s->items[to + 1], &s->items[to], sizeof was * (size_t)(from - to));
    s->items[to] = was;
    return true;
}

static bool turn_loop(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_LOOP);

    (void)p;
    if (it)
        it->loop.is_reverse = !it->loop.is_reverse;
    return it;
}

static bool delay_item(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, WITH_OPERANDS | 1 << ITEM_WAIT);

    (void)p;
    if (!it || !it->region)
        return false;
    const Item *loop = it;
    while (loop->kind != ITEM_LOOP)
        loop--;
    if (it->skew >= loop->loop.skew)
        return false;
    it->skew++;
    return true;
}

static bool change_address(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);

    (void)p;
    if (!o)
        return false;
    *(roll(d, 4) ? &o->address.at : &o->address.move[0].step) += roll(d, 2) ? 64 : -64;
    return true;
}

// ---- tables of tensors ----

// An entry with at least so many layers; NULL: none was found.
static TensorEntry *pick_entry(Program *p, Set *s, Dice *d, int layers)
{
    for (int tries = 0; tries < 50; tries++) {
        TensorTable *t = roll(d, 2) ? &p->tensors : &s->tensors;
        TensorEntry *e = t->n ? &t->entry[roll(d, t->n)] : NULL;
        if (e && e->n >= layers && &p->set[e->set] == s)
            return e;
    }
    return NULL;
}

static bool lose_layer(Program *p, Set *s, Dice *d)
{
    TensorEntry *e = pick_entry(p, s, d, 2);

    return e && e->n--;
}

// Changes the order of layers: with or without their names.
static bool swap_layers(Program *p, Set *s, Dice *d)
{
    TensorEntry *e = pick_entry(p, s, d, 2);

    if (!e)
        return false;
    int i = roll(d, e->n - 1), k = i + 1;
    ValueId v = e->value[i];
    const char *name = e->name[i];
    e->value[i] = e->value[k];
    e->value[k] = v;
    if (roll(d, 2)) {
        e->name[i] = e->name[k];
        e->name[k] = name;
    }
    return true;
}

static bool repeat_layer(Program *p, Set *s, Dice *d)
{
    TensorEntry *e = pick_entry(p, s, d, 2);

    if (!e)
        return false;
    int i = roll(d, e->n - 1);
    e->value[i] = e->value[i + 1];
    e->name[i] = e->name[i + 1];
    return true;
}

static bool drop_entry(Program *p, Set *s, Dice *d)
{
    TensorTable *t = roll(d, 2) ? &p->tensors : &s->tensors;

    if (!t->n)
        return false;
    t->entry[roll(d, t->n)] = t->entry[t->n - 1];
    t->n--;
    return true;
}

static bool repeat_entry(Program *p, Set *s, Dice *d)
{
    TensorTable *t = roll(d, 2) ? &p->tensors : &s->tensors;
    int i = t->n > 1 ? roll(d, t->n - 1) : -1;

    if (i >= 0)
        t->entry[i] = t->entry[i + 1];
    return i >= 0;
}

// Gives an entry the first layer's name or value of another.
static bool mix_entries(Program *p, Set *s, Dice *d)
{
    TensorEntry *e = pick_entry(p, s, d, 1), *from = pick_entry(p, s, d, 1);

    if (!e || !from || e->role != from->role || e->role == RT_CONSTANT ||
        e->value[0] == from->value[0] || !strcmp(e->name[0], from->name[0]))
        return false;
    if (roll(d, 2))
        e->value[0] = from->value[0];
    else
        e->name[0] = from->name[0];
    return true;
}

static bool change_role(Program *p, Set *s, Dice *d)
{
    TensorEntry *e = pick_entry(p, s, d, 1);

    if (!e)
        return false;
    if (e->role == RT_INPUT && roll(d, 2))
        e->is_for_loss = !e->is_for_loss;
    else
        e->role = e->role == RT_BAD_SIZES ? RT_PARAMETER : (RtRole)(e->role + 1);
    return true;
}

static const struct {
    const char *name;
    Mutation change;
    bool is_stored;  // it changes what program_finish has stored
    bool is_table;   // it changes tables, which items don't read: it is always wrong
} mutations[] = {{"slot", change_slot},
                 {"iteration", change_iteration},
                 {"another value's address", change_value},
                 {"literal", change_literal},
                 {"another iteration's node", change_node},
                 {"missing copy", drop_copy},
                 {"missing item", drop_item},
                 {"missing padding", drop_pad},
                 {"missing wait", drop_wait},
                 {"swapped operands", swap_operands},
                 {"another source", change_source},
                 {"stride", change_stride},
                 {"order of dims", change_order},
                 {"offset", change_offset},
                 {"overlapping buffers", move_buffer},
                 {"buffers that overlap in part", shift_buffer},
                 {"order of items", move_item},
                 {"direction of a loop", turn_loop},
                 {"late item", delay_item},
                 {"stored address", change_address, true},
                 {"missing layer", lose_layer, true, true},
                 {"order of layers", swap_layers, true, true},
                 {"layer twice", repeat_layer, true, true},
                 {"missing tensor", drop_entry, true, true},
                 {"tensor twice", repeat_entry, true, true},
                 {"another tensor's name or value", mix_entries, true, true},
                 {"role of a tensor", change_role, true, true}};

#endif
