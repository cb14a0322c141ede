// Overlaps communication with computation: starts a collective over a slow link as soon as
// possible, and waits for it where its result is first needed.
//
// Two items are exchanged only if neither writes what the other one touches. Predicted times decide
// whether overlap is worth its memory, never whether it is correct.
#include <math.h>

#include "lower/schedule/overlap.h"

// ---- slots ----

// Finds the task in the order that must wait for task i: the first one that conflicts, else the end
// of the tasks of wait_skew. Gives the seconds of work until then; infinite if another iteration's
// work comes between.
static double find_wait_position(const Schedule *s, int i)
{
    Task *u = &s->task[s->order[i]];
    double hidden = 0;

    for (u->wait_position = i + 1; u->wait_position < s->end[u->wait_skew + 1];
         u->wait_position++) {
        const Task *next = &s->task[s->order[u->wait_position]];
        if (next->skew == u->wait_skew && tasks_conflict(u, next))
            break;
        hidden += next->seconds;
    }
    return u->wait_skew > u->skew ? INFINITY : hidden;
}

// Gives slots to collectives. One without work to hide it stays a blocking call.
static void assign_slots(Schedule *s)
{
    for (int i = 0; i < s->n_order; i++) {
        Task *u = &s->task[s->order[i]];
        if (!u->comm_seconds || u->is_in_flight || find_wait_position(s, i) <= 0)
            continue;
        u->slot = s->o->n_slots + 1;
        s->o->n_slots += 1 + u->wait_skew - u->skew;
        s->started[s->n_started++] = s->order[i];
    }
}

// ---- the new order ----

// Adds waits for the collectives that must have ended before position `wait_position` of that skew.
static void add_waits(const Schedule *s, int wait_position, int skew)
{
    for (int i = 0; i < s->n_started; i++) {
        const Task *u = &s->task[s->started[i]];
        if (u->wait_position != wait_position || u->wait_skew != skew)
            continue;
        Item it = make_wait(&s->o->from[u->first], u->slot, 1 + u->wait_skew - u->skew);
        it.skew = skew;
        overlap_add(s->o, &it);
    }
}

static int schedule_items(Overlap *o, int begin, int end, bool is_loop);

static void add_task(Overlap *o, const Task *u)
{
    Item it = o->from[u->first];
    int begin = o->n_items;

    it.skew = u->skew;
    if (u->slot) {
        it.call.slot = u->slot;
        it.call.n_slots = 1 + u->wait_skew - u->skew;
    }
    overlap_add(o, &it);
    if (it.kind != ITEM_LOOP)
        return;
    int skew = schedule_items(o, u->first + 1, u->last, true);
    it = o->from[u->last];
    overlap_add(o, &it);
    o->items[begin].loop.end = o->n_items - 1;
    o->items[begin].loop.skew = skew;
}

// Gives the largest skew.
static int schedule_items(Overlap *o, int begin, int end, bool is_loop)
{
    Schedule s = schedule_new(o, begin, end, is_loop);

    list_schedule(&s);
    assign_slots(&s);
    for (int skew = 0; skew <= s.max_skew; skew++) {
        for (int i = s.end[skew]; i < s.end[skew + 1]; i++) {
            add_waits(&s, i, skew);
            add_task(o, &s.task[s.order[i]]);
        }
        add_waits(&s, s.end[skew + 1], skew);
    }
    return s.max_skew;
}

// Rewrites the functions one by one. The items that `run` adds are the function's new ones.
static void rewrite(Overlap *o, void (*run)(Overlap *o, int begin, int end))
{
    Set *s = o->l->s;

    o->from = s->items;
    o->items = NULL;
    o->n_items = o->cap_items = 0;
    for (int k = 0; k < s->n_functions; k++) {
        Function *f = &s->functions[k];
        int begin = o->n_items;
        run(o, f->begin, f->end);
        f->begin = begin;
        f->end = o->n_items;
    }
    s->items = o->items;
    s->n_items = o->n_items;
    s->cap_items = o->cap_items;
}

static void schedule_function(Overlap *o, int begin, int end)
{
    schedule_items(o, begin, end, false);
}

bool lower_overlap(Lowering *l)
{
    Overlap o = {.l = l};

    if (!l->o->cluster || l->o->overlap_level == OVERLAP_NONE || !l->s->sharded)
        return true;
    o.state = arena_array(l->p->arena, LocationState, l->cap_values);
    if (l->o->overlap_level < OVERLAP_LOOP)
        rewrite(&o, fission_loops);
    rewrite(&o, schedule_function);
    l->p->n_slots = o.n_slots > l->p->n_slots ? o.n_slots : l->p->n_slots;
    return true;
}
