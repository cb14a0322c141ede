// The tasks of a schedule: what they touch, how long they take, and what overlaps.
#include <stdlib.h>

#include "lower/schedule/overlap.h"

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
