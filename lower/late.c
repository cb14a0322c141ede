// What waits in a loop, a turn later: the updates of a layer run while the layer before computes,
// when its gradients have come, and what they send comes in yet another turn. Each turn runs, one
// after the other, this iteration's units, those of the last one that are one turn late, and so on.
// Parameters are gathered a turn ahead: all that isn't early is late then. This is software
// pipelining; cf. Lam, "Software Pipelining: An Effective Scheduling Technique for VLIW
// Machines", 1988.
//
// What is late runs behind all of the next iteration that is less late. So it may touch only what
// each iteration has for itself, or what nobody in the loop writes; storage keeps bytes of as many
// iterations as are under way at once.
#include "lower/overlap.h"

enum { MOST_WAITS = MOST_LATE - 1 };  // what is gathered early makes all else a turn later

// Is a place of this unit written in the loop, and not by each iteration for itself?
static bool is_bound(const Stretch *s, const Unit *u)
{
    for (int i = 0; i < u->n_touches; i++) {
        const State *x = &s->state[u->touch[i].place];
        if (x->is_made && x->is_shared)
            return true;
    }
    return false;
}

static void find_shared(Stretch *s)
{
    for (int i = 0; i < s->n_units; i++)
        for (int k = 0; k < s->unit[i].n_touches; k++) {
            const Touch *t = &s->unit[i].touch[k];
            s->state[t->place].is_made |= t->writes;
            s->state[t->place].is_shared |= !t->is_own;
        }
}

// Does a later unit that is marked need what unit `at` does?
static bool is_needed(const Stretch *s, int at, const bool *mark)
{
    for (int i = at + 1; i < s->n_units; i++)
        if (mark[i] && units_conflict(&s->unit[at], &s->unit[i]))
            return true;
    return false;
}

// ---- a turn early ----

// Needs an exchange more time than there is in its iteration before its result is read?
static bool is_short_of_time(const Stretch *s, int at)
{
    double work = 0;

    for (int i = 0; i < s->n_units; i++) {
        if (i > at && units_conflict(&s->unit[at], &s->unit[i]))
            return work < s->unit[at].link;
        work += s->unit[i].seconds;
    }
    return false;
}

// Can it run before all of its iteration that isn't early, without waiting? An exchange, or what
// takes less time.
static bool can_be_early(const Stretch *s, int at, const bool *is_early)
{
    const Unit *u = &s->unit[at];

    if (is_bound(s, u) || (u->link ? !u->is_awaited : u->seconds > u->feeds))
        return false;
    for (int i = 0; i < at; i++)
        if ((!is_early[i] || s->unit[i].link) && units_conflict(&s->unit[i], u))
            return false;
    return true;
}

// Finds exchanges that need nothing of their iteration, what gathers parameters, with what feeds
// them. False: all of them have time enough.
static bool find_early(const Stretch *s, bool *is_early)
{
    bool pays = false;

    for (int i = 0; i < s->n_units; i++)
        is_early[i] = can_be_early(s, i, is_early);
    for (int i = s->n_units - 1; i >= 0; i--) {
        is_early[i] = is_early[i] && (s->unit[i].link || is_needed(s, i, is_early));
        pays |= is_early[i] && s->unit[i].link && is_short_of_time(s, i);
    }
    return pays;
}

// ---- turns late ----

// When it can run behind all that it needs. Exchanges that `crosses` says so need a turn.
static int earliest(const Stretch *s, int at, const bool *crosses)
{
    int late = 0;

    for (int i = 0; i < at; i++) {
        int after = s->unit[i].late + crosses[i];
        if (after > late && units_conflict(&s->unit[i], &s->unit[at]))
            late = after;
    }
    return late < MOST_WAITS ? late : MOST_WAITS;
}

// The turn in which an exchange is waited for: that of the first unit that needs it or, if none
// does, the next.
static int find_until(const Stretch *s, int at)
{
    const Unit *u = &s->unit[at];
    int until = u->late < MOST_WAITS ? u->late + 1 : MOST_WAITS;
    bool is_read = false;

    for (int i = at + 1; i < s->n_units; i++) {
        int late = s->unit[i].late;
        if ((!is_read || late < until) && units_conflict(u, &s->unit[i])) {
            until = late;
            is_read = true;
        }
    }
    return until;
}

// Of what can wait.
static void find_turns(Stretch *s)
{
    bool *is_prompt = arena_array(s->o->l->p->arena, bool, s->n_units);
    bool *crosses = arena_array(s->o->l->p->arena, bool, s->n_units);

    for (int i = s->n_units - 1; i >= 0; i--) {
        const Unit *u = &s->unit[i];
        bool stays = is_bound(s, u) || is_needed(s, i, is_prompt);
        is_prompt[i] = stays || !u->can_wait;
        crosses[i] = u->link && !stays && !u->is_sent;
    }
    for (int i = 0; i < s->n_units; i++)
        s->unit[i].late = is_prompt[i] ? 0 : earliest(s, i, crosses);
    for (int i = 0; i < s->n_units; i++)
        s->unit[i].until = crosses[i] ? find_until(s, i) : s->unit[i].late;
}

int find_late(Stretch *s, bool waits)
{
    bool *is_early = arena_array(s->o->l->p->arena, bool, s->n_units);
    int most = 0;

    find_shared(s);
    s->has_early = find_early(s, is_early);
    if (waits)
        find_turns(s);
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        u->late += s->has_early && !is_early[i];
        u->until += s->has_early && (!is_early[i] || u->link);
        most = u->until > most ? u->until : most;
    }
    return most;
}
