// Communication beside computation: an exchange over a slow link is started as soon as it can be,
// and waited for where its result is first needed.
//
// Items change places only where neither writes what the other one touches. Times are foreseen
// ones: they decide what is worth its memory, never what is right.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/overlap.h"

// ---- what items touch ----

static ValueId place_of(const Lowering *l, ValueId base)
{
    ValueId in = l->carried_in[base];

    return twin_value(l, in && !l->is_copied[base] ? in : base, 0);
}

static Touch touch_of(const Lowering *l, const Item *it, int k)
{
    const Operand *o = &it->operands[k];

    return (Touch){.place = place_of(l, o->base),
                   .reads = k < it->n_in,
                   .writes = k >= it->n_in || it->kind == ITEM_PAD,
                   .is_own = o->is_twin && !o->delta,
                   .is_sent = it->kind == ITEM_KERNEL && it->slot};
}

static int by_place(const void *a, const void *b)
{
    const Touch *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

static void find_touches(const Overlap *o, Unit *u)
{
    int n = 0;

    for (int i = u->first; i <= u->last; i++)
        n += o->from[i].n_in + o->from[i].n_out;
    u->touch = arena_array(o->l->p->arena, Touch, n + 1);
    n = 0;
    for (int i = u->first; i <= u->last; i++) {
        const Item *it = &o->from[i];
        for (int k = 0; k < it->n_in + it->n_out; k++)
            if (it->operands[k].base)
                u->touch[n++] = touch_of(o->l, it, k);
    }
    qsort(u->touch, (size_t)n, sizeof *u->touch, by_place);
    for (int i = 0; i < n; i++) {
        Touch *last = u->touch + u->n_touches - 1;
        if (!u->n_touches || last->place != u->touch[i].place) {
            u->touch[u->n_touches++] = u->touch[i];
            continue;
        }
        last->reads |= u->touch[i].reads;
        last->writes |= u->touch[i].writes;
        last->is_own &= u->touch[i].is_own;
        last->is_sent |= u->touch[i].is_sent;
    }
}

// Exchanges bring parts of joined gradients, each its own.
bool units_conflict(const Unit *a, const Unit *b)
{
    bool bring_parts = a->link && b->link;

    for (int i = 0, k = 0; i < a->n_touches && k < b->n_touches;) {
        const Touch *x = &a->touch[i], *y = &b->touch[k];
        bool is_shared = x->reads || y->reads || !bring_parts;
        if (x->place == y->place && (x->writes || y->writes) && is_shared)
            return true;
        i += x->place <= y->place;
        k += y->place <= x->place;
    }
    return false;
}

// ---- how long they take ----

static double link_seconds(const Overlap *o, const Item *it)
{
    const Sharded *s = o->l->s->sharded;
    const Node *n = it->kind == ITEM_KERNEL ? &o->l->g->nodes[it->nodes[0]] : NULL;

    if (!n || !n->op->exchange || !s->node[it->nodes[0]].bytes)
        return 0;
    for (int i = 0; i < n->attr[0].n; i++)
        if (axis_is_slow(&s->plan->mesh, (int)n->attr[0].v[i]))
            return 1e-12 * (double)s->node[it->nodes[0]].picoseconds;
    return 0;
}

// Is it an update, or a look at a gradient?
static bool can_wait(const Graph *g, const Item *it)
{
    for (int i = 0; i < it->n_nodes; i++)
        if (g->nodes[it->nodes[i]].phase != UPDATE)
            return false;
    return it->n_nodes || it->kind == ITEM_GRADIENT;
}

static Unit unit_at(const Overlap *o, int first)
{
    const Item *it = &o->from[first];
    bool is_loop = it->kind == ITEM_LOOP;
    Unit u = {.first = first, .last = is_loop ? it->match : first};
    int turns = is_loop ? o->l->g->classes[it->cls].length : 1;

    find_touches(o, &u);
    u.link = link_seconds(o, it);
    for (int i = u.first; i <= u.last && !u.link; i++) {
        u.seconds += turns * item_seconds(o->l->p, o->l->s, &o->from[i], o->l->o->cluster);
        u.sends += turns * link_seconds(o, &o->from[i]);
    }
    for (int i = 0; i < u.n_touches; i++)
        u.is_sent |= u.touch[i].is_sent;
    u.can_wait = it->apart || can_wait(o->l->g, it);
    return u;
}

// Finds what in the order has to wait for the one at `i`: the first that conflicts, else the end of
// what is as late as that would be. Gives the work that it can hide behind: in other turns, enough.
static double find_need(const Stretch *s, int i)
{
    Unit *u = &s->unit[s->order[i]];
    double hidden = 0;

    for (u->need = i + 1; u->need < s->end[u->until + 1]; u->need++) {
        const Unit *next = &s->unit[s->order[u->need]];
        if (next->late == u->until && units_conflict(u, next))
            break;
        hidden += next->seconds;
    }
    return u->until > u->late ? INFINITY : hidden;
}

// Where there is nothing to do meanwhile, an exchange is a call like others.
static void give_slots(Stretch *s)
{
    for (int i = 0; i < s->n_order; i++) {
        Unit *u = &s->unit[s->order[i]];
        if (!u->link || u->is_sent || find_need(s, i) <= 0)
            continue;
        u->slot = s->o->n_slots + 1;
        s->o->n_slots += 1 + u->until - u->late;
        s->started[s->n_started++] = s->order[i];
    }
}

// ---- the new order ----

void overlap_add(Overlap *o, const Item *it)
{
    *arena_push(o->l->p->arena, o->items, o->n_items, o->cap_items) = *it;
}

Item wait_for(const Item *exchange, int slot, int n_slots)
{
    Item it = *exchange;

    it.kind = ITEM_WAIT;
    it.kernel = (Kernel){0};
    it.slot = slot;
    it.n_slots = n_slots;
    return it;
}

// For those that must have ended before what is at `need` and so late.
static void add_waits(const Stretch *s, int need, int late)
{
    for (int i = 0; i < s->n_started; i++) {
        const Unit *u = &s->unit[s->started[i]];
        if (u->need != need || u->until != late)
            continue;
        Item it = wait_for(&s->o->from[u->first], u->slot, 1 + u->until - u->late);
        it.late = late;
        overlap_add(s->o, &it);
    }
}

static int arrange(Overlap *o, int begin, int end, bool is_loop);

static void add_unit(Overlap *o, const Unit *u)
{
    Item it = o->from[u->first];
    int begin = o->n_items;

    it.late = u->late;
    if (u->slot) {
        it.slot = u->slot;
        it.n_slots = 1 + u->until - u->late;
    }
    overlap_add(o, &it);
    if (it.kind != ITEM_LOOP)
        return;
    int late = arrange(o, u->first + 1, u->last, true);
    it = o->from[u->last];
    it.match = begin;
    overlap_add(o, &it);
    o->items[begin].match = o->n_items - 1;
    o->items[begin].late = late;
}

Stretch stretch_new(Overlap *o, int begin, int end, bool is_loop)
{
    Arena *a = o->l->p->arena;
    Stretch s = {.o = o, .is_loop = is_loop};

    s.unit = arena_array(a, Unit, end - begin);
    s.order = arena_array(a, int, end - begin);
    s.held = arena_array(a, int, end - begin);
    s.started = arena_array(a, int, end - begin);
    s.state = o->state;
    for (int i = begin; i < end; i = s.unit[s.n_units++].last + 1)
        s.unit[s.n_units] = unit_at(o, i);
    for (int i = 0; i < s.n_units; i++)
        for (int k = 0; k < s.unit[i].n_touches; k++)
            s.state[s.unit[i].touch[k].place] = (State){0};
    return s;
}

// Gives how late the last of it is.
static int arrange(Overlap *o, int begin, int end, bool is_loop)
{
    Stretch s = stretch_new(o, begin, end, is_loop);

    hold_order(&s);
    give_slots(&s);
    for (int late = 0; late <= s.most_late; late++) {
        for (int i = s.end[late]; i < s.end[late + 1]; i++) {
            add_waits(&s, i, late);
            add_unit(o, &s.unit[s.order[i]]);
        }
        add_waits(&s, s.end[late + 1], late);
    }
    return s.most_late;
}

// Goes over the parts one by one; what it adds are their items then.
static void rewrite(Overlap *o, void (*part)(Overlap *o, int begin, int end))
{
    Set *s = o->l->s;
    int begin[N_PARTS + 1] = {0};

    o->from = s->items;
    o->items = NULL;
    o->n_items = o->cap_items = 0;
    for (int k = 0; k < N_PARTS; k++) {
        part(o, s->part[k], s->part[k + 1]);
        begin[k + 1] = o->n_items;
    }
    memcpy(s->part, begin, sizeof begin);
    s->items = o->items;
    s->n_items = o->n_items;
    s->cap_items = o->cap_items;
}

static void arrange_part(Overlap *o, int begin, int end) { arrange(o, begin, end, false); }

void lower_overlap(Lowering *l)
{
    Overlap o = {.l = l};

    if (!l->o->cluster || l->o->reach == REACH_NONE || !l->s->sharded)
        return;
    o.state = arena_array(l->p->arena, State, l->cap_values);
    if (l->o->reach < REACH_LOOP)
        rewrite(&o, cut_loops);
    rewrite(&o, arrange_part);
    l->p->n_slots = o.n_slots > l->p->n_slots ? o.n_slots : l->p->n_slots;
}
