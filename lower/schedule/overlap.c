// Overlaps communication with computation: starts a collective over a slow link as soon as
// possible, and waits for it where its result is first needed.
//
// Two items change places only if neither writes what the other one touches. Predicted times decide
// whether overlap is worth its memory, never whether it is correct.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lower/schedule/overlap.h"

// ---- accesses ----

static ValueId location_of(const Lowering *l, ValueId base)
{
    ValueId in = l->carried_in[base];

    return value_instance(l, in && !l->is_copied[base] ? in : base, 0);
}

static Access access_of(const Lowering *l, const Item *it, int k)
{
    const Operand *o = &it->operands[k];

    return (Access){.location = location_of(l, o->base),
                    .reads = k < it->n_in,
                    .writes = k >= it->n_in || it->kind == ITEM_PAD,
                    .is_per_iteration = o->is_instance && !o->delta,
                    .is_in_flight = it->kind == ITEM_KERNEL && it->call.slot};
}

static int by_location(const void *a, const void *b)
{
    const Access *x = a, *y = b;

    return (x->location > y->location) - (x->location < y->location);
}

static void find_accesses(const Overlap *o, Task *u)
{
    int n = 0;

    for (int i = u->first; i <= u->last; i++)
        n += o->from[i].n_in + o->from[i].n_out;
    u->access = arena_array(o->l->p->arena, Access, n + 1);
    n = 0;
    for (int i = u->first; i <= u->last; i++) {
        const Item *it = &o->from[i];
        for (int k = 0; k < it->n_in + it->n_out; k++)
            if (it->operands[k].base)
                u->access[n++] = access_of(o->l, it, k);
    }
    qsort(u->access, (size_t)n, sizeof *u->access, by_location);
    for (int i = 0; i < n; i++) {
        Access *last = u->access + u->n_accesses - 1;
        if (!u->n_accesses || last->location != u->access[i].location) {
            u->access[u->n_accesses++] = u->access[i];
            continue;
        }
        last->reads |= u->access[i].reads;
        last->writes |= u->access[i].writes;
        last->is_per_iteration &= u->access[i].is_per_iteration;
        last->is_in_flight |= u->access[i].is_in_flight;
    }
}

// Two collectives may write one location in any order: each brings its own part of joined
// gradients.
bool tasks_conflict(const Task *a, const Task *b)
{
    bool bring_parts = a->comm_seconds && b->comm_seconds;

    for (int i = 0, k = 0; i < a->n_accesses && k < b->n_accesses;) {
        const Access *x = &a->access[i], *y = &b->access[k];
        bool is_shared = x->reads || y->reads || !bring_parts;
        if (x->location == y->location && (x->writes || y->writes) && is_shared)
            return true;
        i += x->location <= y->location;
        k += y->location <= x->location;
    }
    return false;
}

// ---- predicted times ----

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

// Does the item only update parameters, or show a gradient?
static bool is_deferrable(const Graph *g, const Item *it)
{
    for (int i = 0; i < it->n_nodes; i++)
        if (g->nodes[it->nodes[i]].phase != UPDATE)
            return false;
    return it->n_nodes || it->kind == ITEM_GRADIENT;
}

static Task task_at(const Overlap *o, int first)
{
    const Item *it = &o->from[first];
    bool is_loop = it->kind == ITEM_LOOP;
    Task u = {.first = first, .last = is_loop ? it->loop.end : first};
    int iterations = is_loop ? o->l->g->classes[it->cls].length : 1;

    find_accesses(o, &u);
    u.comm_seconds = link_seconds(o, it);
    for (int i = u.first; i <= u.last && !u.comm_seconds; i++) {
        Work w = item_work(o->l->p, o->l->s, &o->from[i]);
        u.seconds += iterations * busy_seconds(&w, o->l->o->cluster);
        u.loop_comm_seconds += iterations * link_seconds(o, &o->from[i]);
    }
    for (int i = 0; i < u.n_accesses; i++)
        u.is_in_flight |= u.access[i].is_in_flight;
    u.is_deferrable = (is_loop && it->loop.fission_part) || is_deferrable(o->l->g, it);
    return u;
}

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

void overlap_add(Overlap *o, const Item *it)
{
    *arena_push(o->l->p->arena, o->items, o->n_items, o->cap_items) = *it;
}

Item make_wait(const Item *exchange, int slot, int n_slots)
{
    Item it = *exchange;

    it.kind = ITEM_WAIT;
    it.call.kernel = (Kernel){0};
    it.call.slot = slot;
    it.call.n_slots = n_slots;
    return it;
}

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

Schedule schedule_new(Overlap *o, int begin, int end, bool is_loop)
{
    Arena *a = o->l->p->arena;
    Schedule s = {.o = o, .is_loop = is_loop};

    s.task = arena_array(a, Task, end - begin);
    s.order = arena_array(a, int, end - begin);
    s.deferred = arena_array(a, int, end - begin);
    s.started = arena_array(a, int, end - begin);
    s.state = o->state;
    for (int i = begin; i < end; i = s.task[s.n_tasks++].last + 1)
        s.task[s.n_tasks] = task_at(o, i);
    for (int i = 0; i < s.n_tasks; i++)
        for (int k = 0; k < s.task[i].n_accesses; k++)
            s.state[s.task[i].access[k].location] = (LocationState){0};
    return s;
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
