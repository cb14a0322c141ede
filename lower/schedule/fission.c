// Loop fission: tasks that wait for collectives leave their loop for one of their own, which may
// come after the loops that follow. A short loop has too few iterations to hide what it sends; the
// loops after it have time. The price is memory: gradients of all iterations are kept.
//
// The skews of software pipelining (pipeline.c) say which loop a task goes to, and by the same rule
// the move is safe: a skewed task touches only locations that are private to an iteration, or that
// nobody in the loop writes.
#include "base/search.h"
#include "lower/schedule/overlap.h"

// The number of the new loop for tasks of `skew` or `wait_skew`. Prefetched tasks stay in the first
// loop.
static int loop_of(const Schedule *s, int skew)
{
    return skew > s->has_prefetch ? skew - s->has_prefetch : 0;
}

static bool crosses_loops(const Schedule *s, const Task *u)
{
    return u->comm_seconds && loop_of(s, u->wait_skew) > loop_of(s, u->skew);
}

// ---- the new loops ----

// The region of loop number `at`. Each new loop is a region of its own, so that storage knows which
// values the other loops read in all iterations.
static int region_of(const Schedule *s, int region, int at)
{
    Lowering *l = s->o->l;
    Region copy = l->regions[region];
    int length = l->g->classes[copy.cls].length;

    if (!at)
        return region;
    *arena_push(l->p->arena, l->regions, l->n_regions, l->cap_regions) = copy;
    for (int i = 0; i < s->n_tasks; i++) {
        const Item *it = &s->o->from[s->task[i].first];
        for (int k = 0; loop_of(s, s->task[i].skew) == at && k < it->n_nodes * length; k++)
            l->region[node_instance(l, it->nodes[k / length], k % length)] = l->n_regions - 1;
    }
    return l->n_regions - 1;
}

// Adds waits for the collectives that end in loop `at` and were not yet waited for: those that
// `before` needs, or all (NULL).
static void add_waits(Schedule *s, int at, const Task *before, int region, int iterations)
{
    for (int i = 0; i < s->n_tasks; i++) {
        Task *u = &s->task[i];
        if (!u->slot || loop_of(s, u->wait_skew) != at || (before && !tasks_conflict(u, before)))
            continue;
        Item it = make_wait(&s->o->from[u->first], u->slot, iterations);
        it.region = region;
        overlap_add(s->o, &it);
        u->slot = 0;
    }
}

static void add_loop(Schedule *s, const Item *loop, int at)
{
    Overlap *o = s->o;
    int begin = o->n_items, region = region_of(s, loop->region, at);
    int iterations = o->l->g->classes[loop->cls].length;
    Item it = *loop;

    it.loop.fission_part = at;
    it.region = region;
    overlap_add(o, &it);
    for (int i = 0; i < s->n_tasks; i++) {
        Task *u = &s->task[i];
        if (loop_of(s, u->skew) != at)
            continue;
        add_waits(s, at, u, region, iterations);
        it = o->from[u->first];
        it.region = region;
        if (crosses_loops(s, u)) {
            it.call.slot = u->slot = o->n_slots + 1;
            it.call.n_slots = iterations;
            o->n_slots += iterations;
        }
        overlap_add(o, &it);
    }
    add_waits(s, at, NULL, region, iterations);
    it = o->from[loop->loop.end];
    it.region = region;
    overlap_add(o, &it);
    o->items[begin].loop.end = o->n_items - 1;
}

// ---- functions ----

static void add_whole(Overlap *o, const Task *u)
{
    int shift = o->n_items - u->first;

    for (int i = u->first; i <= u->last; i++) {
        Item it = o->from[i];
        if (it.kind == ITEM_LOOP)
            it.loop.end += shift;
        overlap_add(o, &it);
    }
}

static void fission_loop(Overlap *o, const Task *u)
{
    const Item *loop = &o->from[u->first];
    Schedule s = schedule_new(o, u->first + 1, u->last, true);

    find_critical(&s);
    int last = loop_of(&s, assign_skews(&s, true));
    for (int at = 0; at <= last; at++)
        add_loop(&s, loop, at);
}

// In long loops only few of the collectives, the last ones, have nothing to hide them.
void fission_loops(Overlap *o, int begin, int end)
{
    Schedule s = schedule_new(o, begin, end, false);

    for (int i = 0; i < s.n_tasks; i++) {
        const Task *u = &s.task[i];
        if (u->loop_comm_seconds > 0 &&
            o->l->g->classes[o->from[u->first].cls].length <= MAX_FISSION_ITERATIONS)
            fission_loop(o, u);
        else
            add_whole(o, u);
    }
}
