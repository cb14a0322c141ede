// Orders tasks around collectives that run concurrently (list scheduling). Tasks that can wait,
// such as the update of a parameter whose gradient is in flight, run after tasks that can't.
#include <string.h>

#include "base/search.h"
#include "lower/schedule/overlap.h"

static double max_of(double a, double b) { return a > b ? a : b; }

// ---- deferral ----

// When the collectives in flight will have brought all that the task needs.
static double ready_at(const Schedule *s, const Task *u)
{
    double ready = 0;

    for (int i = 0; i < u->n_accesses; i++) {
        const LocationState *x = &s->state[u->access[i].location];
        ready = max_of(x->write_end, ready);
        ready = u->access[i].writes ? max_of(x->read_end, ready) : ready;
    }
    return ready;
}

// Must the task come after a deferred one?
static bool needs_deferred(const Schedule *s, const Task *u)
{
    for (int i = 0; i < u->n_accesses; i++) {
        const LocationState *x = &s->state[u->access[i].location];
        if (x->deferred_writes || (u->access[i].writes && x->deferred_accesses))
            return true;
    }
    return false;
}

// Is the task a loop over a block, which does more than copy?
static bool is_block_loop(const Schedule *s, const Task *u)
{
    return u->first < u->last && s->o->from[u->first].region;
}

// A task may be deferred too if all its readers are deferred: it unpacks joined gradients, say, or
// puts the sums of all iterations side by side. A collective starts immediately unless another
// collective feeds it. Sets is_deferrable and is_critical.
static void find_deferrable(Schedule *s)
{
    for (int i = s->n_tasks - 1; i >= 0; i--) {
        Task *u = &s->task[i];
        bool is_needed_undeferred = false, is_accessed_deferred = false;
        for (int k = 0; k < u->n_accesses; k++) {
            const LocationState *x = &s->state[u->access[k].location];
            is_needed_undeferred |=
                x->is_written_undeferred || (u->access[k].writes && x->is_read_undeferred);
            is_accessed_deferred |= u->access[k].writes && x->is_accessed_deferred;
        }
        u->is_critical = is_needed_undeferred;
        u->is_deferrable |= is_accessed_deferred && !is_needed_undeferred && !is_block_loop(s, u) &&
                            (!u->comm_seconds || u->is_chained);
        for (int k = 0; k < u->n_accesses; k++) {
            LocationState *x = &s->state[u->access[k].location];
            *(u->is_deferrable      ? &x->is_accessed_deferred
              : u->access[k].writes ? &x->is_written_undeferred
                                    : &x->is_read_undeferred) = true;
        }
    }
}

static void issue(Schedule *s, int at)
{
    const Task *u = &s->task[at];
    double ready = ready_at(s, u);

    s->order[s->n_order++] = at;
    s->now = max_of(ready, s->now);
    if (u->comm_seconds + u->loop_comm_seconds > 0)
        s->link_free = max_of(s->now, s->link_free) + u->comm_seconds + u->loop_comm_seconds;
    s->now += u->seconds;
    for (int i = 0; i < u->n_accesses; i++) {
        LocationState *x = &s->state[u->access[i].location];
        if (u->comm_seconds > 0 || u->access[i].is_in_flight)
            *(u->access[i].writes ? &x->write_end : &x->read_end) = s->link_free;
    }
    if (u->is_in_flight)
        return;
    s->now = u->loop_comm_seconds > 0 ? max_of(s->now, s->link_free)
                                      : s->now;  // a loop waits for its own collectives
    s->comm_end = u->comm_seconds > 0 ? s->link_free : s->comm_end;
}

static void count_deferred(Schedule *s, const Task *u, int by)
{
    for (int i = 0; i < u->n_accesses; i++) {
        s->state[u->access[i].location].deferred_accesses += by;
        s->state[u->access[i].location].deferred_writes += u->access[i].writes ? by : 0;
    }
}

static void defer(Schedule *s, int at)
{
    s->deferred[s->n_deferred++] = at;
    count_deferred(s, &s->task[at], 1);
}

static void issue_deferred(Schedule *s)
{
    int at = s->deferred[s->n_issued++];

    count_deferred(s, &s->task[at], -1);
    issue(s, at);
}

static void reset_times(Schedule *s)
{
    for (int i = 0; i < s->n_tasks; i++)
        for (int k = 0; k < s->task[i].n_accesses; k++) {
            LocationState *x = &s->state[s->task[i].access[k].location];
            x->write_end = x->read_end = 0;
        }
    s->now = s->link_free = s->comm_end = 0;
    s->n_deferred = s->n_issued = 0;
}

// Issues the tasks of one skew. A deferrable task waits until the collectives that it needs have
// ended.
static void issue_tasks(Schedule *s, int skew)
{
    reset_times(s);
    for (int i = 0; i < s->n_tasks; i++) {
        const Task *u = &s->task[i];
        if (u->skew != skew)
            continue;
        while (s->n_issued < s->n_deferred &&
               ready_at(s, &s->task[s->deferred[s->n_issued]]) <= s->now)
            issue_deferred(s);
        if (u->is_deferrable && (needs_deferred(s, u) || ready_at(s, u) > s->now)) {
            defer(s, i);
            continue;
        }
        while (needs_deferred(s, u))
            issue_deferred(s);
        issue(s, i);
    }
    s->idle = -s->now;
    for (; s->n_issued < s->n_deferred; issue_deferred(s))
        s->idle -= s->task[s->deferred[s->n_issued]].seconds;
    s->idle += max_of(s->now, s->comm_end);
}

static void make_blocking(Task *u)
{
    u->seconds += u->comm_seconds;
    u->comm_seconds = 0;
}

// A sum along several axes is a chain of collectives, with the fast links' before and after the
// slow links'. A member much shorter than its neighbour in the chain becomes a blocking call.
static void find_comm_chains(Schedule *s)
{
    for (int i = 0; i < s->n_tasks; i++)
        for (int k = 0; k < s->task[i].n_accesses; k++) {
            LocationState *x = &s->state[s->task[i].access[k].location];
            x->longest_comm_seconds = max_of(x->longest_comm_seconds, s->task[i].comm_seconds);
        }
    for (int i = 0; i < s->n_tasks; i++) {
        Task *u = &s->task[i];
        double longest_comm_seconds = 0;
        for (int k = 0; k < u->n_accesses; k++)
            longest_comm_seconds =
                max_of(longest_comm_seconds, s->state[u->access[k].location].longest_comm_seconds);
        if (u->comm_seconds && BLOCKING_RATIO * u->comm_seconds <= longest_comm_seconds)
            make_blocking(u);
        for (int k = 0; k < u->n_accesses && u->comm_seconds; k++) {
            LocationState *x = &s->state[u->access[k].location];
            u->is_chained |= x->is_received && !u->access[k].writes;
            x->is_received |= u->access[k].writes;
        }
    }
}

// Collectives share the link in order. A critical one must not queue after much longer ones that
// can wait, and these would then overlap with nothing. So it becomes a blocking call, which shares
// the link with them.
static void find_blocking(Schedule *s)
{
    double longest_comm_seconds = 0;

    for (int i = 0; i < s->n_tasks; i++)
        if (!s->task[i].is_critical && s->task[i].comm_seconds > longest_comm_seconds)
            longest_comm_seconds = s->task[i].comm_seconds;
    for (int i = 0; i < s->n_tasks; i++) {
        Task *u = &s->task[i];
        if (u->is_critical && BLOCKING_RATIO * u->comm_seconds <= longest_comm_seconds)
            make_blocking(u);
    }
}

void find_critical(Schedule *s)
{
    find_comm_chains(s);
    find_deferrable(s);
    find_blocking(s);
}

// ---- hoisting ----

static void find_comm_producers(Schedule *s)
{
    for (int i = 0; i < s->n_tasks; i++)
        for (int k = 0; k < s->task[i].n_accesses; k++)
            if (s->task[i].comm_seconds && !s->task[i].access[k].writes)
                s->state[s->task[i].access[k].location].consumer_comm_seconds =
                    s->task[i].comm_seconds;
    for (int i = 0; i < s->n_tasks; i++)
        for (int k = 0; k < s->task[i].n_accesses; k++)
            if (s->task[i].first == s->task[i].last && s->task[i].access[k].writes)
                s->task[i].consumer_comm_seconds +=
                    s->state[s->task[i].access[k].location].consumer_comm_seconds;
}

static void move_up(Schedule *s, int from, int to)
{
    int at = s->order[from];

    memmove(s->order + to + 1, s->order + to, sizeof *s->order * (size_t)(from - to));
    s->order[to] = at;
}

// A task that makes a collective's input moves before tasks that it doesn't depend on: a weight's
// gradient, say, before the input's gradient, which the previous layer needs.
static void hoist_comm_producers(Schedule *s, int begin)
{
    for (int i = begin; i < s->n_order; i++) {
        const Task *u = &s->task[s->order[i]];
        double passed = 0;
        int to = i;
        for (; to > begin && passed < u->consumer_comm_seconds && !u->comm_seconds; to--) {
            const Task *before = &s->task[s->order[to - 1]];
            if (before->comm_seconds || before->consumer_comm_seconds || tasks_conflict(before, u))
                break;
            passed += before->seconds;
        }
        move_up(s, i, to);
    }
}

// A collective moves before enough work to hide it: twice its own time, plus that of other
// collectives on the link meanwhile. Collectives keep their order, except that critical ones
// overtake others.
static void hoist_comm(Schedule *s, int begin)
{
    for (int i = begin; i < s->n_order; i++) {
        const Task *u = &s->task[s->order[i]];
        double passed = 0, needed = u->comm_seconds;
        int to = i;
        for (; to > begin && passed < 2 * needed; to--) {
            const Task *before = &s->task[s->order[to - 1]];
            bool is_due_first = before->comm_seconds && (before->is_critical || !u->is_critical);
            if (is_due_first || tasks_conflict(before, u))
                break;
            passed += before->seconds;
            needed += before->comm_seconds;
        }
        move_up(s, i, to);
    }
}

static void schedule_skew(Schedule *s, int skew)
{
    int begin = s->n_order;

    issue_tasks(s, skew);
    hoist_comm_producers(s, begin);
    hoist_comm(s, begin);
    s->end[skew + 1] = s->n_order;
}

void list_schedule(Schedule *s)
{
    find_critical(s);
    find_comm_producers(s);
    schedule_skew(s, 0);
    if (!s->is_loop || s->o->l->o->overlap_level >= OVERLAP_ITERATION)
        return;
    s->max_skew = assign_skews(s, s->idle > MIN_SKEW_IDLE * s->now);
    s->n_order = s->max_skew ? 0 : s->n_order;
    for (int skew = 0; skew <= s->max_skew && s->max_skew; skew++)
        schedule_skew(s, skew);
}
