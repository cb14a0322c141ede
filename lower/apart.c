// Loops in two: what waits for exchanges leaves its loop for one of its own, which may stand behind
// the loops that follow. A short loop has too few turns to hide what it sends; those behind it have
// time. So gradients are kept of all its iterations.
//
// What is late runs behind all that is less late of all iterations, as it may where it runs turns
// late (late.c): it touches only what each iteration has for itself, or what nobody in the loop
// writes.
#include "lower/overlap.h"

// In which of the loops it would be, if what is early stays with the first. Of `late` or `until`.
static int loop_of(const Stretch *s, int late)
{
    return late > s->has_early ? late - s->has_early : 0;
}

static bool crosses(const Stretch *s, const Unit *u)
{
    return u->link && loop_of(s, u->until) > loop_of(s, u->late);
}

// ---- the new loops ----

// The loop of those items that go to the one numbered `at`: a region of its own, so that storage
// knows what the others read of it in all iterations.
static int region_of(const Stretch *s, int region, int at)
{
    Lowering *l = s->o->l;
    Region copy = l->regions[region];
    int length = l->g->classes[copy.cls].length;

    if (!at)
        return region;
    *arena_push(l->p->arena, l->regions, l->n_regions, l->cap_regions) = copy;
    for (int i = 0; i < s->n_units; i++) {
        const Item *it = &s->o->from[s->unit[i].first];
        for (int k = 0; loop_of(s, s->unit[i].late) == at && k < it->n_nodes * length; k++)
            l->region[twin_node(l, it->nodes[k / length], k % length)] = l->n_regions - 1;
    }
    return l->n_regions - 1;
}

// Of what ends in this loop and has not yet been waited for: what `before` needs, or all (NULL).
static void add_waits(Stretch *s, int at, const Unit *before, int region, int turns)
{
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        if (!u->slot || loop_of(s, u->until) != at || (before && !units_conflict(u, before)))
            continue;
        Item it = wait_for(&s->o->from[u->first], u->slot, turns);
        it.region = region;
        overlap_add(s->o, &it);
        u->slot = 0;
    }
}

static void add_loop(Stretch *s, const Item *loop, int at)
{
    Overlap *o = s->o;
    int begin = o->n_items, region = region_of(s, loop->region, at);
    int turns = o->l->g->classes[loop->cls].length;
    Item it = *loop;

    it.apart = at;
    it.region = region;
    overlap_add(o, &it);
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        if (loop_of(s, u->late) != at)
            continue;
        add_waits(s, at, u, region, turns);
        it = o->from[u->first];
        it.region = region;
        if (crosses(s, u)) {
            it.slot = u->slot = o->n_slots + 1;
            it.n_slots = turns;
            o->n_slots += turns;
        }
        overlap_add(o, &it);
    }
    add_waits(s, at, NULL, region, turns);
    it = o->from[loop->match];
    it.match = begin;
    it.region = region;
    overlap_add(o, &it);
    o->items[begin].match = o->n_items - 1;
}

// ---- a part ----

static void add_whole(Overlap *o, const Unit *u)
{
    int shift = o->n_items - u->first;

    for (int i = u->first; i <= u->last; i++) {
        Item it = o->from[i];
        it.match += shift;
        overlap_add(o, &it);
    }
}

static void cut_loop(Overlap *o, const Unit *u)
{
    const Item *loop = &o->from[u->first];
    Stretch s = stretch_new(o, u->first + 1, u->last, true);

    find_urgent(&s);
    int last = loop_of(&s, find_late(&s, true));
    for (int at = 0; at <= last; at++)
        add_loop(&s, loop, at);
}

void cut_loops(Overlap *o, int begin, int end)
{
    enum { SHORT = 8 };  // of more turns the last ones' exchanges are few
    Stretch s = stretch_new(o, begin, end, false);

    for (int i = 0; i < s.n_units; i++) {
        const Unit *u = &s.unit[i];
        if (u->sends > 0 && o->l->g->classes[o->from[u->first].cls].length <= SHORT)
            cut_loop(o, u);
        else
            add_whole(o, u);
    }
}
