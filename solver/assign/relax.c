// Solves a model: its linear program, and by branching, until no time exceeds the limit.
#include "solver/assign/relax.h"

#include <math.h>
#include <stdlib.h>

MipStatus model_relax(Arena *a, Model *m, const double **x, Dual *dual)
{
    enum { MAX_CUT_ROUNDS = 1000 };

    for (int round = 0; round < MAX_CUT_ROUNDS; round++) {
        Relaxed r = engine_relax(m->engine, INT64_MAX);
        if (r.status != MIP_OPTIMAL)
            return r.status;
        *x = r.x;
        if (model_cut(m, r.x))
            continue;
        *dual = model_dual(a, m, r.dual);
        return MIP_OPTIMAL;
    }
    return MIP_LIMIT;
}

void model_round(const Model *m, const double *x, int *choice)
{
    const Problem *p = m->p;

    for (int i = 0; i < p->n_nodes; i++) {
        choice[i] = 0;
        for (int k = 1; k < n_alternatives(p, i); k++)
            if (x[p->first[i] + k] > x[p->first[i] + choice[i]])
                choice[i] = k;
    }
}

// Receives the engine's points, and passes on the choices that keep to the limit.
typedef struct ChoiceForwarder {
    const Model *m;
    int *choice;
    Listener l;
} ChoiceForwarder;

static void on_choice(void *to, double objective, const double *x)
{
    ChoiceForwarder *h = to;

    model_round(h->m, x, h->choice);
    ChoicePrice price = problem_price(h->m->p, h->choice);
    if (!price.is_forbidden && price.peak <= h->m->p->limit)
        listener_tell(&h->l, h->choice, price.cost);
}

// The bound of the problem. An engine's bound is off by up to its tolerances, which this subtracts.
static Wide bound_of(const Model *m, double bound)
{
    double sure = (bound - 1e-6 - 1e-9 * fabs(bound)) * m->cost_unit + m->base;
    return (Wide)ceil(sure - 1e-15 * fabs(m->base));
}

MipStatus model_branch(Model *m, Wide cutoff, int64_t nodes, Listener l, Wide *bound)
{
    ChoiceForwarder h = {m, arena_array(m->arena, int, m->p->n_nodes), l};
    // The engine must also find a choice that is only just below the cutoff.
    double limit = ((double)cutoff - m->base) / m->cost_unit;
    limit = cutoff == NO_CUTOFF ? MIP_FREE : limit + 1e-5 + 1e-8 * fabs(limit);

    for (;;) {
        Branched b = engine_branch(m->engine, limit, 0, nodes, (MipListener){on_choice, NULL, &h});
        int added = b.x ? model_cut(m, b.x) : 0;
        double least = b.status == MIP_INFEASIBLE ? limit - 1e-5 - 1e-8 * fabs(limit) : b.bound;
        Wide said = least > -MIP_FREE ? bound_of(m, least) : *bound;
        if (said > *bound)
            *bound = said < cutoff ? said : cutoff;
        free(b.x);
        if (!added || b.status == MIP_STOPPED || b.status == MIP_FAILED)
            return b.status;
    }
}
