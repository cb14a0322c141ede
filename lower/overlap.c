// Communication beside computation: an exchange over a slow link is started as soon as it can be,
// and waited for where its result is first needed.
//
// Items change places only where neither writes what the other one touches. Times are foreseen
// ones: they decide what is worth its memory, never what is right.
#include <stdlib.h>
#include <string.h>

#include "lower/overlap.h"

// ---- what items touch ----

static ValueId place_of(const Lowering *l, ValueId base)
{
    ValueId in = l->carried_in[base];

    return twin_value(l, in && !l->is_copied[base] ? in : base, 0);
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
                u->touch[n++] = (Touch){place_of(o->l, it->operands[k].base),
                                        k >= it->n_in || it->kind == ITEM_PAD};
    }
    qsort(u->touch, (size_t)n, sizeof *u->touch, by_place);
    for (int i = 0; i < n; i++) {
        if (!u->n_touches || u->touch[u->n_touches - 1].place != u->touch[i].place)
            u->touch[u->n_touches++] = u->touch[i];
        else
            u->touch[u->n_touches - 1].writes |= u->touch[i].writes;
    }
}

bool units_conflict(const Unit *a, const Unit *b)
{
    for (int i = 0, k = 0; i < a->n_touches && k < b->n_touches;) {
        const Touch *x = &a->touch[i], *y = &b->touch[k];
        if (x->place == y->place && (x->writes || y->writes))
            return true;
        i += x->place <= y->place;
        k += y->place <= x->place;
    }
    return false;
}

// ---- how long they take ----

// Along an axis whose link takes an exchange's time, and not the rank's own memory.
static bool is_slow(const Mesh *m, int64_t axis) { return m->beta[axis] > 4 * m->copy; }

static double link_seconds(const Overlap *o, const Item *it)
{
    const Sharded *s = o->l->s->sharded;
    const Node *n = it->kind == ITEM_KERNEL ? &o->l->g->nodes[it->nodes[0]] : NULL;

    if (!n || !n->op->exchange || !s->node[it->nodes[0]].bytes)
        return 0;
    for (int i = 0; i < n->attr[0].n; i++)
        if (is_slow(&s->plan->mesh, n->attr[0].v[i]))
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
    for (int i = u.first; i <= u.last && !u.link; i++)
        u.seconds += turns * item_seconds(o->l->p, o->l->s, &o->from[i], o->l->o->cluster);
    u.can_wait = can_wait(o->l->g, it);
    return u;
}

// Where there is nothing to do meanwhile, an exchange is a call like others.
static void give_slots(Stretch *s)
{
    for (int i = 0; i < s->n_order; i++) {
        Unit *u = &s->unit[s->order[i]];
        double hidden = 0;
        if (!u->link)
            continue;
        for (u->need = i + 1; u->need < s->n_order; u->need++) {
            const Unit *next = &s->unit[s->order[u->need]];
            if (units_conflict(u, next))
                break;
            hidden += next->seconds;
        }
        if (hidden > 0) {
            u->slot = ++s->o->n_slots;
            s->started[s->n_started++] = s->order[i];
        }
    }
}

// ---- the new order ----

static void add(Overlap *o, const Item *it)
{
    *arena_push(o->l->p->arena, o->items, o->n_items, o->cap_items) = *it;
}

// For those that must have ended before what is at `need`.
static void add_waits(const Stretch *s, int need)
{
    for (int i = 0; i < s->n_started; i++) {
        const Unit *u = &s->unit[s->started[i]];
        if (u->need != need)
            continue;
        Item it = s->o->from[u->first];
        it.kind = ITEM_WAIT;
        it.slot = u->slot;
        it.kernel = (Kernel){0};
        add(s->o, &it);
    }
}

static void arrange(Overlap *o, int begin, int end);

static void add_unit(Overlap *o, const Unit *u)
{
    Item it = o->from[u->first];
    int begin = o->n_items;

    it.slot = u->slot;
    add(o, &it);
    if (it.kind != ITEM_LOOP)
        return;
    arrange(o, u->first + 1, u->last);
    it = o->from[u->last];
    it.match = begin;
    add(o, &it);
    o->items[begin].match = o->n_items - 1;
}

static void arrange(Overlap *o, int begin, int end)
{
    Arena *a = o->l->p->arena;
    Stretch s = {.o = o};

    s.unit = arena_array(a, Unit, end - begin);
    s.order = arena_array(a, int, end - begin);
    s.held = arena_array(a, int, end - begin);
    s.started = arena_array(a, int, end - begin);
    s.state = arena_array(a, State, o->l->cap_values);
    for (int i = begin; i < end; i = s.unit[s.n_units++].last + 1)
        s.unit[s.n_units] = unit_at(o, i);
    hold_order(&s);
    give_slots(&s);
    for (int i = 0; i < s.n_order; i++) {
        add_waits(&s, i);
        add_unit(o, &s.unit[s.order[i]]);
    }
    add_waits(&s, s.n_order);
}

void lower_overlap(Lowering *l)
{
    Set *s = l->s;
    Overlap o = {.l = l, .from = s->items};
    int part[N_PARTS + 1] = {0};

    if (!l->o->cluster || !s->sharded)
        return;
    for (int k = 0; k < N_PARTS; k++) {
        arrange(&o, s->part[k], s->part[k + 1]);
        part[k + 1] = o.n_items;
    }
    memcpy(s->part, part, sizeof part);
    s->items = o.items;
    s->n_items = o.n_items;
    s->cap_items = o.cap_items;
    l->p->n_slots = o.n_slots > l->p->n_slots ? o.n_slots : l->p->n_slots;
}
