// The plans of presets: to compare with, and where the search begins.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "solver/plan_find.h"

// A preset that fits the mesh.
typedef struct Trial {
    Preset preset;
    bool *keep;  // the alternatives that it leaves
    int n_kept;
    int within;  // a trial that leaves these too, and is of no other; -1: none
    bool is_done;
    Answer answer;
} Trial;

// What tries presets: several threads, each on a copy with arenas of its own.
typedef struct Trials {
    const Finder *f;
    int n;
    Trial *trial;
    int order[MOST_PRESETS];
    atomic_int *next;  // in that order, that nobody has begun with
    Arena *arena;
} Trials;

static int trials_of(const Finder *f, Trial to[MOST_PRESETS])
{
    Preset preset[MOST_PRESETS];
    int all = presets_of(f->m, !f->enough, preset), n = 0, idle;

    for (int i = 0; i < all; i++) {
        bool *keep = arena_array(f->own, bool, f->n);
        if (!keep_preset(f, &preset[i], keep, &idle))
            continue;
        to[n] = (Trial){.preset = preset[i], .keep = keep, .within = -1};
        for (int k = 0; k < f->n; k++)
            to[n].n_kept += keep[k];
        n++;
    }
    return n;
}

static bool is_within(const bool *some, const bool *all, int n)
{
    for (int k = 0; k < n; k++)
        if (some[k] && !all[k])
            return false;
    return true;
}

// Presets are parts of others: of equal ones the first stands for all.
static void find_within(Trial *t, int n, int n_alternatives)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (k != i && is_within(t[i].keep, t[k].keep, n_alternatives) &&
                (k < i || !is_within(t[k].keep, t[i].keep, n_alternatives)))
                t[i].within = k;
    for (int i = 0; i < n; i++)
        while (t[i].within >= 0 && t[t[i].within].within >= 0)
            t[i].within = t[t[i].within].within;
}

static void *try_some(void *trials)
{
    Trials *t = trials;
    Finder f = *t->f;

    f.arena = f.own = t->arena;
    for (int i; (i = atomic_fetch_add(t->next, 1)) < t->n;) {
        Trial *x = &t->trial[t->order[i]];
        bool is_ready = x->within < 0 || t->trial[x->within].is_done;
        if (!x->is_done && is_ready)
            x->answer = solve_kept(&f, &f.q.problem, x->keep, &(Answer){0}, true);
    }
    return NULL;
}

// The longest first, so that threads end together.
static void order_trials(const Trial *t, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k && t[order[k - 1]].n_kept < t[i].n_kept; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void try_all(Finder *f, Trial *t, int n)
{
    atomic_int next = 0;
    pthread_t other;
    Trials all = {.f = f, .n = n, .trial = t, .next = &next, .arena = f->own}, apart;

    order_trials(t, n, all.order);
    apart = all;
    apart.arena = f->beside;
    bool is_apart = f->o->solve.threads > 1 && !pthread_create(&other, NULL, try_some, &apart);
    try_some(&all);
    if (is_apart)
        pthread_join(other, NULL);
}

static bool keeps_choice(const Problem *p, const bool *keep, const int *choice)
{
    for (int i = 0; i < p->n_nodes; i++)
        if (!keep[p->first[i] + choice[i]])
            return false;
    return true;
}

// A plan of what is part of a preset is one of the preset.
static void take_from_parts(Trial *t, int n)
{
    for (int i = 0; i < n; i++) {
        const Answer *part = &t[i].answer;
        Answer *whole = t[i].within < 0 ? NULL : &t[t[i].within].answer;
        if (whole && is_found(part->outcome) &&
            (!is_found(whole->outcome) || part->cost < whole->cost)) {
            Wide bound = whole->bound;
            *whole = *part;
            whole->bound = bound;
            whole->outcome = OUTCOME_FOUND;
        }
    }
}

Answer try_presets(Finder *f)
{
    Trial trial[MOST_PRESETS] = {0};
    Answer best = {0};
    int n = trials_of(f, trial);

    find_within(trial, n, f->n);
    try_all(f, trial, n);
    for (int i = 0; i < n; i++)
        trial[i].is_done = trial[i].within < 0;
    for (int i = 0; i < n; i++) {
        const Answer *x = trial[i].is_done ? NULL : &trial[trial[i].within].answer;
        if (x && is_found(x->outcome) && keeps_choice(&f->q.problem, trial[i].keep, x->choice)) {
            trial[i].is_done = true;
            trial[i].answer = *x;
        }
    }
    try_all(f, trial, n);
    take_from_parts(trial, n);
    for (int i = 0; i < n; i++) {
        const Answer *x = &trial[i].answer;
        add_choice(f, x, f->to->n_presets);
        f->to->preset[f->to->n_presets++] = (PresetPlan){.preset = trial[i].preset,
                                                         .outcome = x->outcome,
                                                         .cost = (int64_t)x->cost,
                                                         .peak = x->peak};
        if (is_found(x->outcome) && (!best.choice || x->cost < best.cost))
            best = *x;
    }
    return best;
}
