// The recurrences of the dynamic program: how the schedule of a subchain can begin.
#include "solver/chain/internal.h"

int fastest_policy(const ChainStage *s)
{
    int best = 0;

    for (int k = 1; k < s->n_policies; k++) {
        const StagePolicy *x = &s->policy[k], *y = &s->policy[best];
        if (x->forward_time + x->backward_time < y->forward_time + y->backward_time)
            best = k;
    }
    return best;
}

// The first stage is saved, all others run forward and backward, and its backward follows.
static Choice save_first(const ChainTable *t, int first, int last, int k)
{
    const ChainStage *s = &t->p->stage[first];
    const StagePolicy *w = &s->policy[k];
    int64_t forward = gradient_bytes(t->p, last + 1) + s->forward_scratch,
            backward = gradient_bytes(t->p, first + 1) + s->backward_scratch + w->more_scratch;

    return (Choice){.need = w->saved + larger(forward, backward),
                    .held = first < last ? w->saved : 0,
                    .time = w->forward_time + w->backward_time,
                    .rest = first < last ? subchain_row(t, first + 1, last) : 0,
                    .policy = k};
}

int list_choices(const ChainTable *t, int first, int last, Choice *to)
{
    const ChainProblem *p = t->p;
    int64_t gradient = gradient_bytes(p, last + 1), need = 0;
    double time = 0;
    int n = 0;

    for (int k = 0; k < p->stage[first].n_policies; k++)
        to[n++] = save_first(t, first, last, k);
    // The stages before `split` run forward, and the input of that stage becomes a checkpoint.
    for (int split = first + 1; split <= last; split++) {
        const ChainStage *s = &p->stage[split - 1];
        int64_t input = split - 1 > first ? value_bytes(p, split - 1) : 0;
        need = larger(need, gradient + input + s->output + s->forward_scratch);
        time += s->forward_time;
        to[n++] = (Choice){.need = need,
                           .held = s->output,
                           .time = time,
                           .rest = subchain_row(t, split, last),
                           .before = subchain_row(t, first, split - 1),
                           .split = split};
    }
    return n;
}
