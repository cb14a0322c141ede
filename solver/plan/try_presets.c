// Finds the plans of presets, to compare with and to begin the search from.
#include <pthread.h>
#include <string.h>

#include "solver/plan/find_plan.h"

// A preset that fits the mesh.
typedef struct Trial {
    Preset preset;
    bool *keep;  // the alternatives that it allows
    int n_kept;
    int within;  // the outermost trial that allows all of these too; -1: none
    bool is_begun, is_done;
    Answer answer;
} Trial;

// The trials of all presets. Each thread has a copy with an arena of its own.
typedef struct Trials {
    const Finder *f;
    int n;
    Trial *trial;
    int order[MAX_PRESETS];
    pthread_mutex_t *lock;  // guards is_begun and is_done of all trials
    pthread_cond_t *done;   // signals that a trial is done
    Arena *arena;
} Trials;

static int trials_of(const Finder *f, Trial to[MAX_PRESETS])
{
    Preset preset[MAX_PRESETS];
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

// Finds for each trial the outermost one that allows all its alternatives. Of equal ones the first
// counts as the outer.
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

static bool keeps_choice(const Problem *p, const bool *keep, const int *choice)
{
    for (int i = 0; i < p->n_nodes; i++)
        if (!keep[p->first[i] + choice[i]])
            return false;
    return true;
}

// The next trial to begin: one that isn't within another, or whose outer trial is done. Waits while
// trials are left but none can begin. NULL: none is left.
static Trial *next_trial(const Trials *t)
{
    Trial *next = NULL;

    pthread_mutex_lock(t->lock);
    for (bool is_left = true; is_left && !next;) {
        is_left = false;
        for (int i = 0; i < t->n && !next; i++) {
            Trial *x = &t->trial[t->order[i]];
            is_left |= !x->is_begun;
            if (!x->is_begun && (x->within < 0 || t->trial[x->within].is_done))
                next = x;
        }
        if (is_left && !next)
            pthread_cond_wait(t->done, t->lock);
    }
    if (next)
        next->is_begun = true;
    pthread_mutex_unlock(t->lock);
    return next;
}

// Solves a trial, or takes the plan of its outer trial if that follows this preset too: none is
// cheaper.
static Answer try_preset(const Finder *f, const Trials *t, const Trial *x)
{
    const Answer *whole = x->within < 0 ? NULL : &t->trial[x->within].answer;

    if (whole && is_found(whole->outcome) && keeps_choice(&f->q.problem, x->keep, whole->choice))
        return *whole;
    return solve_kept(f, &f->q.problem, x->keep, &(Answer){0}, true);
}

static void *try_some(void *trials)
{
    Trials *t = trials;
    PlanOptions o = *t->f->o;
    Finder f = *t->f;

    o.solve.is_peak_rough = true;
    f.o = &o;
    f.arena = f.own = t->arena;
    for (Trial *x; (x = next_trial(t));) {
        x->answer = try_preset(&f, t, x);
        pthread_mutex_lock(t->lock);
        x->is_done = true;
        pthread_cond_broadcast(t->done);
        pthread_mutex_unlock(t->lock);
    }
    return NULL;
}

static bool comes_before(const Trial *a, const Trial *b)
{
    if ((a->within < 0) != (b->within < 0))
        return a->within < 0;
    return a->n_kept > b->n_kept;
}

// Orders the trials: outer ones first, and among these the largest first, so that threads end
// together.
static void order_trials(const Trial *t, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k && comes_before(&t[i], &t[order[k - 1]]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void try_all(Finder *f, Trial *t, int n)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    pthread_t other;
    Trials all = {.f = f, .n = n, .trial = t, .lock = &lock, .done = &done, .arena = f->own};
    Trials other_trials;

    order_trials(t, n, all.order);
    other_trials = all;
    other_trials.arena = f->thread_arena;
    bool is_threaded =
        f->o->solve.threads > 1 && !pthread_create(&other, NULL, try_some, &other_trials);
    try_some(&all);
    if (is_threaded)
        pthread_join(other, NULL);
}

// Takes over a cheaper plan of an inner trial for its outer trial, whose preset it follows too.
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
    Trial trial[MAX_PRESETS] = {0};
    Answer best = {0};
    int n = trials_of(f, trial);

    find_within(trial, n, f->n);
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
