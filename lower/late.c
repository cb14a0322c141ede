// What waits in a loop, a turn later: the updates of a layer run while the layer before computes,
// when its gradients have come, and what they send comes in yet another turn. Each turn runs, one
// after the other, this iteration's units, those of the last one that are one turn late, and so on:
// software pipelining; cf. Lam, "Software Pipelining: An Effective Scheduling Technique for VLIW
// Machines", 1988.
//
// What is late runs behind all of the next iteration that is less late. So it may touch only what
// each iteration has for itself, or what nobody in the loop writes; storage keeps bytes of as many
// iterations as are under way at once.
#include "lower/overlap.h"

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

// Does something that can't be late need what unit `at` does?
static bool is_needed(const Stretch *s, int at, const bool *is_prompt)
{
    for (int i = at + 1; i < s->n_units; i++)
        if (is_prompt[i] && units_conflict(&s->unit[at], &s->unit[i]))
            return true;
    return false;
}

// When it can run behind all that it needs. Exchanges that `crosses` says so need a turn.
static int earliest(const Stretch *s, int at, const bool *crosses)
{
    int late = 0;

    for (int i = 0; i < at; i++) {
        int after = s->unit[i].late + crosses[i];
        if (after > late && units_conflict(&s->unit[i], &s->unit[at]))
            late = after;
    }
    return late < MOST_LATE ? late : MOST_LATE;
}

// The turn in which an exchange is waited for: that of the first unit that needs it or, if none
// does, the next.
static int find_until(const Stretch *s, int at)
{
    const Unit *u = &s->unit[at];
    int until = u->late < MOST_LATE ? u->late + 1 : MOST_LATE;
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

int find_late(Stretch *s)
{
    bool *is_prompt = arena_array(s->o->l->p->arena, bool, s->n_units);
    bool *crosses = arena_array(s->o->l->p->arena, bool, s->n_units);
    int most = 0;

    find_shared(s);
    for (int i = s->n_units - 1; i >= 0; i--) {
        const Unit *u = &s->unit[i];
        bool stays = is_bound(s, u) || is_needed(s, i, is_prompt);
        is_prompt[i] = stays || !u->can_wait;
        crosses[i] = u->link && !stays;
    }
    for (int i = 0; i < s->n_units; i++)
        s->unit[i].late = is_prompt[i] ? 0 : earliest(s, i, crosses);
    for (int i = 0; i < s->n_units; i++) {
        Unit *u = &s->unit[i];
        u->until = crosses[i] ? find_until(s, i) : u->late;
        most = u->until > most ? u->until : most;
    }
    return most;
}
