// The order of units around exchanges that go on beside them. What can wait, the update of a
// parameter whose gradient is on its way, makes room for what can't.
#include <string.h>

#include "lower/overlap.h"

static double max_of(double a, double b) { return a > b ? a : b; }

// ---- holding back ----

// When all that the unit needs will have come.
static double ready_at(const Stretch *s, const Unit *u)
{
    double ready = 0;

    for (int i = 0; i < u->n_touches; i++) {
        const State *x = &s->state[u->touch[i].place];
        ready = max_of(x->written, ready);
        ready = u->touch[i].writes ? max_of(x->read, ready) : ready;
    }
    return ready;
}

// Must it come after one that is held back?
static bool needs_held(const Stretch *s, const Unit *u)
{
    for (int i = 0; i < u->n_touches; i++) {
        const State *x = &s->state[u->touch[i].place];
        if (x->writers || (u->touch[i].writes && x->holders))
            return true;
    }
    return false;
}

// Is it a loop of more than copies?
static bool is_block(const Stretch *s, const Unit *u)
{
    return u->first < u->last && s->o->from[u->first].region;
}

// What only those read that can wait can wait too: what is taken out of joined gradients, or what
// puts the sums of all iterations side by side. Exchanges begin at once, but those that others feed
// wait for them. Which can wait is noted.
static void find_patient(Stretch *s)
{
    for (int i = s->n_units - 1; i >= 0; i--) {
        Unit *u = &s->unit[i];
        bool is_urgent = false, is_wanted = false;
        for (int k = 0; k < u->n_touches; k++) {
            const State *x = &s->state[u->touch[k].place];
            is_urgent |= x->is_written || (u->touch[k].writes && x->is_read);
            is_wanted |= u->touch[k].writes && x->is_wanted;
        }
        u->is_awaited = is_urgent;
        u->can_wait |= is_wanted && !is_urgent && !is_block(s, u) && (!u->link || u->is_fed);
        for (int k = 0; k < u->n_touches; k++) {
            State *x = &s->state[u->touch[k].place];
            *(u->can_wait          ? &x->is_wanted
              : u->touch[k].writes ? &x->is_written
                                   : &x->is_read) = true;
        }
    }
}

static void put(Stretch *s, int at)
{
    const Unit *u = &s->unit[at];
    double ready = ready_at(s, u);

    s->order[s->n_order++] = at;
    s->now = max_of(ready, s->now);
    if (u->link + u->sends > 0)
        s->link_free = max_of(s->now, s->link_free) + u->link + u->sends;
    s->now += u->seconds;
    for (int i = 0; i < u->n_touches; i++) {
        State *x = &s->state[u->touch[i].place];
        if (u->link > 0 || u->touch[i].is_sent)
            *(u->touch[i].writes ? &x->written : &x->read) = s->link_free;
    }
    if (u->is_sent)
        return;
    s->now = u->sends > 0 ? max_of(s->now, s->link_free) : s->now;  // a loop waits for its own
    s->due = u->link > 0 ? s->link_free : s->due;
}

static void count_held(Stretch *s, const Unit *u, int by)
{
    for (int i = 0; i < u->n_touches; i++) {
        s->state[u->touch[i].place].holders += by;
        s->state[u->touch[i].place].writers += u->touch[i].writes ? by : 0;
    }
}

static void hold(Stretch *s, int at)
{
    s->held[s->n_held++] = at;
    count_held(s, &s->unit[at], 1);
}

static void release(Stretch *s)
{
    int at = s->held[s->n_released++];

    count_held(s, &s->unit[at], -1);
    put(s, at);
}

static void forget_times(Stretch *s)
{
    for (int i = 0; i < s->n_units; i++)
        for (int k = 0; k < s->unit[i].n_touches; k++) {
            State *x = &s->state[s->unit[i].touch[k].place];
            x->written = x->read = 0;
        }
    s->now = s->link_free = s->due = 0;
    s->n_held = s->n_released = 0;
}

// What can wait for an exchange does, until that will have ended; of the units that are so late.
static void hold_back(Stretch *s, int late)
{
    forget_times(s);
    for (int i = 0; i < s->n_units; i++) {
        const Unit *u = &s->unit[i];
        if (u->late != late)
            continue;
        while (s->n_released < s->n_held && ready_at(s, &s->unit[s->held[s->n_released]]) <= s->now)
            release(s);
        if (u->can_wait && (needs_held(s, u) || ready_at(s, u) > s->now)) {
            hold(s, i);
            continue;
        }
        while (needs_held(s, u))
            release(s);
        put(s, i);
    }
    s->idle = -s->now;
    for (; s->n_released < s->n_held; release(s))
        s->idle -= s->unit[s->held[s->n_released]].seconds;
    s->idle += max_of(s->now, s->due);
}

enum { MUCH = 8 };  // times longer

static void make_call(Unit *u)
{
    u->seconds += u->link;
    u->link = 0;
}

// A sum along several axes is exchanges one after the other, those of fast links around those of
// slow ones. Of them, what takes much less time than the one before or behind is a call.
static void find_chains(Stretch *s)
{
    for (int i = 0; i < s->n_units; i++)
        for (int k = 0; k < s->unit[i].n_touches; k++) {
            State *x = &s->state[s->unit[i].touch[k].place];
            x->longest = max_of(x->longest, s->unit[i].link);
        }
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        double longest = 0;
        for (int k = 0; k < u->n_touches; k++)
            longest = max_of(longest, s->state[u->touch[k].place].longest);
        if (u->link && MUCH * u->link <= longest)
            make_call(u);
        for (int k = 0; k < u->n_touches && u->link; k++) {
            State *x = &s->state[u->touch[k].place];
            u->is_fed |= x->is_fetched && !u->touch[k].writes;
            x->is_fetched |= u->touch[k].writes;
        }
    }
}

// What can't wait must not do so behind much longer exchanges that can, as these would then hide
// behind nothing: it is a call, which shares the link with them.
static void find_calls(Stretch *s)
{
    double longest = 0;

    for (int i = 0; i < s->n_units; i++)
        if (!s->unit[i].is_awaited && s->unit[i].link > longest)
            longest = s->unit[i].link;
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        if (u->is_awaited && MUCH * u->link <= longest)
            make_call(u);
    }
}

void find_urgent(Stretch *s)
{
    find_chains(s);
    find_patient(s);
    find_calls(s);
}

// ---- making early ----

static void find_feeders(Stretch *s)
{
    for (int i = 0; i < s->n_units; i++)
        for (int k = 0; k < s->unit[i].n_touches; k++)
            if (s->unit[i].link && !s->unit[i].touch[k].writes)
                s->state[s->unit[i].touch[k].place].feeds = s->unit[i].link;
    for (int i = 0; i < s->n_units; i++)
        for (int k = 0; k < s->unit[i].n_touches; k++)
            if (s->unit[i].first == s->unit[i].last && s->unit[i].touch[k].writes)
                s->unit[i].feeds += s->state[s->unit[i].touch[k].place].feeds;
}

static void move_up(Stretch *s, int from, int to)
{
    int at = s->order[from];

    memmove(s->order + to + 1, s->order + to, sizeof *s->order * (size_t)(from - to));
    s->order[to] = at;
}

// What is to be exchanged is made before what else could be made, a weight's gradient before what
// the layer before needs.
static void make_early(Stretch *s, int begin)
{
    for (int i = begin; i < s->n_order; i++) {
        const Unit *u = &s->unit[s->order[i]];
        double passed = 0;
        int to = i;
        for (; to > begin && passed < u->feeds && !u->link; to--) {
            const Unit *before = &s->unit[s->order[to - 1]];
            if (before->link || before->feeds || units_conflict(before, u))
                break;
            passed += before->seconds;
        }
        move_up(s, i, to);
    }
}

// An exchange goes before the work that it is to hide behind, twice as much as should do, and what
// else goes over the link meanwhile. They keep their order, but those that what can't wait needs
// overtake others.
static void start_ahead(Stretch *s, int begin)
{
    for (int i = begin; i < s->n_order; i++) {
        const Unit *u = &s->unit[s->order[i]];
        double passed = 0, needed = u->link;
        int to = i;
        for (; to > begin && passed < 2 * needed; to--) {
            const Unit *before = &s->unit[s->order[to - 1]];
            bool is_due_first = before->link && (before->is_awaited || !u->is_awaited);
            if (is_due_first || units_conflict(before, u))
                break;
            passed += before->seconds;
            needed += before->link;
        }
        move_up(s, i, to);
    }
}

static void order_late(Stretch *s, int late)
{
    int begin = s->n_order;

    hold_back(s, late);
    make_early(s, begin);
    start_ahead(s, begin);
    s->end[late + 1] = s->n_order;
}

void hold_order(Stretch *s)
{
    const double worth = 0.02;  // of an iteration's time, for memory of another one

    find_urgent(s);
    find_feeders(s);
    order_late(s, 0);
    if (!s->is_loop || s->o->l->o->reach >= REACH_TURN)
        return;
    s->most_late = find_late(s, s->idle > worth * s->now);
    s->n_order = s->most_late ? 0 : s->n_order;
    for (int late = 0; late <= s->most_late && s->most_late; late++)
        order_late(s, late);
}
