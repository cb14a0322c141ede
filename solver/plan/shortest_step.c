// Finds which of several plans takes the shortest step. Prices add up and ignore overlap. The
// program of a plan doesn't: program_simulate gives the time of its step.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/search.h"
#include "solver/plan/build_problem.h"

typedef struct Chooser {
    const PlanProblem *q;
    const Graph *g;
    const Mesh *mesh;
    const PlanTrials *trials;
    double fused;  // part of the nodes' priced time that a program takes, as it fuses nodes
} Chooser;

// Has the program of a choice made and simulated.
static void try_choice(const Chooser *x, PlanChoice *c)
{
    Arena *a = arena_new();
    Plan plan = {.mesh = *x->mesh};

    plan_of_choice(a, x->q, x->g, c->choice, &plan);
    PlanTrial t = x->trials->make(x->trials->context, x->g, &plan);
    c->is_tried = true;
    c->is_made = t.is_made;
    c->fits = t.fits;
    c->step = (int64_t)(1e12 * t.seconds);
    c->seconds = t.compute_seconds;
    arena_free(a);
}

// The least that the step can take, by its prices: the longer of computation and communication,
// with the other hidden.
static double least_step(const Chooser *x, const PlanChoice *c)
{
    double compute = x->fused * (double)c->compute, communication = (double)c->communication;

    return compute > communication ? compute : communication;
}

// The step. A program that doesn't fit counts more, since a plan that fits will take longer.
static double weight(const PlanChoice *c)
{
    return (c->fits ? 1 : 1 + OVERFULL_PERCENT / 100.0) * (double)c->step;
}

// The index of an earlier equal choice, or -1.
static int same_before(const PlanProblem *q, const PlanChoice *c, int i)
{
    for (int k = 0; k < i; k++)
        if (!memcmp(c[i].choice, c[k].choice, (size_t)q->n_variables * sizeof *c[i].choice))
            return k;
    return -1;
}

static bool is_hopeless(const Chooser *x, const PlanChoice *c, const PlanChoice *best)
{
    return least_step(x, c) >= weight(best);
}

// A choice to try, for a thread.
typedef struct Attempt {
    const Chooser *x;
    PlanChoice c;
} Attempt;

static void *attempt(void *to)
{
    Attempt *t = to;

    try_choice(t->x, &t->c);
    return NULL;
}

// Tries c[i] and, in a second thread, c[j]. If j == n, tries only c[i].
static void attempt_both(const Chooser *x, const PlanChoice *c, int n, int i, int j, Attempt to[2])
{
    pthread_t other;

    to[0] = (Attempt){.x = x, .c = c[i]};
    to[1] = (Attempt){.x = x, .c = c[j < n ? j : i]};
    bool is_threaded = j < n && !pthread_create(&other, NULL, attempt, &to[1]);
    attempt(&to[0]);
    if (is_threaded)
        pthread_join(other, NULL);
    else if (j < n)
        attempt(&to[1]);
}

// The first choice from `from` on that is worth a try, given the best so far (NULL: none is known).
static int next_choice(const Chooser *x, const PlanChoice *c, int n, int from,
                       const PlanChoice *best)
{
    int i = from;

    while (i < n && (same_before(x->q, c, i) >= 0 || (best && is_hopeless(x, &c[i], best))))
        i++;
    return i;
}

static int better(const PlanChoice *c, int i, int best)
{
    return c[i].is_made && weight(&c[i]) < weight(&c[best]) ? i : best;
}

// Takes the result of a try, unless an earlier result makes the choice hopeless: the outcome is as
// if the tries had run in order.
static int take_attempt(const Chooser *x, PlanChoice *c, int i, const Attempt *t, int best)
{
    if (is_hopeless(x, &c[i], &c[best]))
        return best;
    c[i] = t->c;
    return better(c, i, best);
}

// Measures which part of the nodes' priced time the first choice's program takes.
static void measure_fusion(Chooser *x, const PlanChoice *first)
{
    if (first->compute > 0)
        x->fused = 1e12 * first->seconds / (double)first->compute;
}

// The index of the best choice that was tried ahead. *next: the first choice to try that wasn't.
static int best_ahead(const Chooser *x, const PlanChoice *c, int n, int *next)
{
    int best = 0, i = 1;

    while ((i = next_choice(x, c, n, i, &c[best])) < n && c[i].is_tried)
        best = better(c, i++, best);
    *next = i;
    return best;
}

// Tries the first choice, and by twos the others that are worth it. Returns the index of the best.
static int try_all(Chooser *x, int threads, PlanChoice *c, int n)
{
    int i, j = 0;
    Attempt t[2];

    if (!c[0].is_tried) {
        j = threads > 1 ? next_choice(x, c, n, 1, NULL) : n;
        attempt_both(x, c, n, 0, j, t);
        c[0] = t[0].c;
    }
    if (!c[0].is_made)
        return 0;
    measure_fusion(x, &c[0]);
    if (j > 0 && j < n)
        take_attempt(x, c, j, &t[1], 0);
    int best = best_ahead(x, c, n, &i);
    for (; (i = next_choice(x, c, n, i, &c[best])) < n; i = j + 1) {
        j = threads > 1 ? next_choice(x, c, n, i + 1, &c[best]) : n;
        attempt_both(x, c, n, i, j, t);
        best = take_attempt(x, c, i, &t[0], best);
        best = j < n ? take_attempt(x, c, j, &t[1], best) : best;
        j = j < n ? j : i;
    }
    return best;
}

void plan_try(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanTrials *trials,
              PlanChoice *c, int n, atomic_bool *is_enough)
{
    Chooser x = {q, g, m, trials, 1};
    int best = 0;

    for (int i = 0; i < n; i++)
        choice_price(q, c[i].choice, &c[i].compute, &c[i].communication);
    try_choice(&x, &c[0]);
    if (!c[0].is_made)
        return;
    measure_fusion(&x, &c[0]);
    for (int i = 1; !atomic_load(is_enough); i++) {
        i = next_choice(&x, c, n, i, &c[best]);
        if (i == n)
            return;
        try_choice(&x, &c[i]);
        best = better(c, i, best);
    }
}

int plan_choose(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanTrials *trials,
                int threads, PlanChoice *c, int n)
{
    Chooser x = {q, g, m, trials, 1};

    for (int i = 0; i < n; i++)
        choice_price(q, c[i].choice, &c[i].compute, &c[i].communication);
    int best = try_all(&x, threads, c, n);
    for (int i = 1; i < n && c[0].is_made; i++)
        if (same_before(q, c, i) >= 0)
            c[i].step = c[same_before(q, c, i)].step;
    return best;
}
