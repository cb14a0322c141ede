// Which of several plans takes the shortest step. Prices add up, and know nothing of what goes on
// side by side; the program that a plan gives does (program_simulate).
#include <string.h>

#include "solver/plan_build.h"

// What a program that doesn't fit counts more, as a plan that does will take longer.
enum { UNFIT_PERCENT = 10 };

typedef struct Chooser {
    const PlanProblem *q;
    const Graph *g;
    const Mesh *mesh;
    const LowerOptions *o;
    double fused;  // of the time that nodes are priced at, as much as a program takes
} Chooser;

// Splits the graph as a choice says, and makes a program of it. False where that isn't possible.
static bool try_choice(const Chooser *x, PlanChoice *c, Simulated *to)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = x->g->name, .to = &said};
    Plan plan = {.mesh = *x->mesh};
    LowerOptions o = *x->o;

    plan_of_choice(x->q, x->g, c->choice, &plan, a);
    Sharded *s = partition(a, x->g, &plan, &d);
    o.sharded[SET_TRAIN] = s = s ? bucket(a, s) : NULL;
    const Program *p = s ? lower(a, s->g, NULL, &o, &d) : NULL;
    if (p) {
        *to = program_simulate(p, SET_TRAIN, o.cluster);
        c->fits = p->arena_bytes <= o.memory;
        c->step = (int64_t)(1e12 * to->seconds);
    }
    arena_free(a);
    text_free(&said);
    return p;
}

// What its step takes at least, as far as prices tell: the longer of the two, all else hidden.
static double least_step(const Chooser *x, const PlanChoice *c)
{
    double compute = x->fused * (double)c->compute, communication = (double)c->communication;

    return compute > communication ? compute : communication;
}

static double weight(const PlanChoice *c)
{
    return (c->fits ? 1 : 1 + UNFIT_PERCENT / 100.0) * (double)c->step;
}

// Is it one of those before?
static bool is_known(const PlanProblem *q, PlanChoice *c, int i)
{
    for (int k = 0; k < i; k++)
        if (!memcmp(c[i].choice, c[k].choice, (size_t)q->n_variables * sizeof *c[i].choice)) {
            c[i].step = c[k].step;
            return true;
        }
    return false;
}

int plan_choose(const PlanProblem *q, const Graph *g, const Mesh *m, const LowerOptions *o,
                PlanChoice *c, int n)
{
    Chooser x = {q, g, m, o, 1};
    int best = 0;
    Simulated s;

    for (int i = 0; i < n; i++)
        choice_price(q, c[i].choice, &c[i].compute, &c[i].communication);
    if (!try_choice(&x, &c[0], &s))
        return 0;
    if (c[0].compute > 0)
        x.fused = 1e12 * s.compute / (double)c[0].compute;
    for (int i = 1; i < n; i++) {
        bool is_hopeless = least_step(&x, &c[i]) >= weight(&c[best]);
        if (!is_known(q, c, i) && !is_hopeless && try_choice(&x, &c[i], &s) &&
            weight(&c[i]) < weight(&c[best]))
            best = i;
    }
    return best;
}
