// Software pipelining (Lam, "Software Pipelining: An Effective Scheduling Technique for VLIW
// Machines", 1988). A task that waits for communication runs `skew` iterations after its own: a
// layer's updates run while the previous layer computes, once its gradients have arrived. Each loop
// iteration runs the tasks of its own iteration, then those of skew 1 for the iteration before, and
// so on. Parameters are gathered one iteration ahead; all other tasks then have a skew of at least
// 1.
//
// A skewed task runs after all tasks of the next iteration that have less skew. So it may touch
// only locations that are private to an iteration, or that nobody in the loop writes. Storage keeps
// as many instances as iterations are in flight.
#include "lower/schedule/overlap.h"

enum { MAX_WAIT_SKEW = MAX_SKEW - 1 };  // prefetched collectives add one to every other skew

// Does the task touch a location that the loop writes and that isn't private to each iteration?
static bool is_loop_carried(const Schedule *s, const Task *u)
{
    for (int i = 0; i < u->n_accesses; i++) {
        const LocationState *x = &s->state[u->access[i].location];
        if (x->is_written_in_loop && x->is_shared)
            return true;
    }
    return false;
}

static void find_loop_carried(Schedule *s)
{
    for (int i = 0; i < s->n_tasks; i++)
        for (int k = 0; k < s->task[i].n_accesses; k++) {
            const Access *t = &s->task[i].access[k];
            s->state[t->location].is_written_in_loop |= t->writes;
            s->state[t->location].is_shared |= !t->is_per_iteration;
        }
}

// Does a later marked task conflict with task `at`?
static bool is_needed(const Schedule *s, int at, const bool *mark)
{
    for (int i = at + 1; i < s->n_tasks; i++)
        if (mark[i] && tasks_conflict(&s->task[at], &s->task[i]))
            return true;
    return false;
}

// ---- prefetch: one iteration early ----

// Is the work between a collective and the first task that needs it shorter than the collective?
static bool is_short_of_time(const Schedule *s, int at)
{
    double work = 0;

    for (int i = 0; i < s->n_tasks; i++) {
        if (i > at && tasks_conflict(&s->task[at], &s->task[i]))
            return work < s->task[at].comm_seconds;
        work += s->task[i].seconds;
    }
    return false;
}

// Can the task run one iteration early without waiting? It must be a critical collective, or take
// less time than the collective that it feeds.
static bool can_be_prefetched(const Schedule *s, int at, const bool *is_prefetched)
{
    const Task *u = &s->task[at];

    if (is_loop_carried(s, u) ||
        (u->comm_seconds ? !u->is_critical : u->seconds > u->consumer_comm_seconds))
        return false;
    for (int i = 0; i < at; i++)
        if ((!is_prefetched[i] || s->task[i].comm_seconds) && tasks_conflict(&s->task[i], u))
            return false;
    return true;
}

// Finds collectives that need nothing of their iteration (they gather parameters) and the tasks
// that feed them. False if all of them have enough time in their own iteration.
static bool find_prefetched(const Schedule *s, bool *is_prefetched)
{
    bool pays = false;

    for (int i = 0; i < s->n_tasks; i++)
        is_prefetched[i] = can_be_prefetched(s, i, is_prefetched);
    for (int i = s->n_tasks - 1; i >= 0; i--) {
        is_prefetched[i] =
            is_prefetched[i] && (s->task[i].comm_seconds || is_needed(s, i, is_prefetched));
        pays |= is_prefetched[i] && s->task[i].comm_seconds && is_short_of_time(s, i);
    }
    return pays;
}

// ---- skews ----

// The least skew at which the task runs after all that it needs. A collective that crosses
// iterations needs one more.
static int find_min_skew(const Schedule *s, int at, const bool *crosses_iterations)
{
    int skew = 0;

    for (int i = 0; i < at; i++) {
        int min_skew = s->task[i].skew + crosses_iterations[i];
        if (min_skew > skew && tasks_conflict(&s->task[i], &s->task[at]))
            skew = min_skew;
    }
    return skew < MAX_WAIT_SKEW ? skew : MAX_WAIT_SKEW;
}

// The skew at which a collective is waited for: that of the first task that needs it or, if none
// does, one more than its own.
static int find_wait_skew(const Schedule *s, int at)
{
    const Task *u = &s->task[at];
    int wait_skew = u->skew < MAX_WAIT_SKEW ? u->skew + 1 : MAX_WAIT_SKEW;
    bool is_read = false;

    for (int i = at + 1; i < s->n_tasks; i++) {
        int skew = s->task[i].skew;
        if ((!is_read || skew < wait_skew) && tasks_conflict(u, &s->task[i])) {
            wait_skew = skew;
            is_read = true;
        }
    }
    return wait_skew;
}

// Assigns skews to deferrable tasks.
static void find_skews(Schedule *s)
{
    bool *is_unskewed = arena_array(s->o->l->p->arena, bool, s->n_tasks);
    bool *crosses_iterations = arena_array(s->o->l->p->arena, bool, s->n_tasks);

    for (int i = s->n_tasks - 1; i >= 0; i--) {
        const Task *u = &s->task[i];
        bool stays = is_loop_carried(s, u) || is_needed(s, i, is_unskewed);
        is_unskewed[i] = stays || !u->is_deferrable;
        crosses_iterations[i] = u->comm_seconds && !stays && !u->is_in_flight;
    }
    for (int i = 0; i < s->n_tasks; i++)
        s->task[i].skew = is_unskewed[i] ? 0 : find_min_skew(s, i, crosses_iterations);
    for (int i = 0; i < s->n_tasks; i++)
        s->task[i].wait_skew = crosses_iterations[i] ? find_wait_skew(s, i) : s->task[i].skew;
}

int assign_skews(Schedule *s, bool waits)
{
    bool *is_prefetched = arena_array(s->o->l->p->arena, bool, s->n_tasks);
    int max_skew = 0;

    find_loop_carried(s);
    s->has_prefetch = find_prefetched(s, is_prefetched);
    if (waits)
        find_skews(s);
    for (int i = 0; i < s->n_tasks; i++) {
        Task *u = &s->task[i];
        u->skew += s->has_prefetch && !is_prefetched[i];
        u->wait_skew += s->has_prefetch && (!is_prefetched[i] || u->comm_seconds);
        max_skew = u->wait_skew > max_skew ? u->wait_skew : max_skew;
    }
    return max_skew;
}
