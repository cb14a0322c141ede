// Proposes plans that pay for bytes.
#include "compile/fit/bound_recompute.h"

double picoseconds_of_byte(const AlongPath *s, int index)
{
    return 1e12 * keep_path_step(s->path, index)->slope * s->r->accumulate;
}

static const PlanResult *find_priced(const PricedPlans *l, const RecomputePolicy *policy,
                                     BytePrice price)
{
    for (int i = 0; i < l->n; i++) {
        const PricedPlan *x = &l->plan[i];
        if (x->price.picoseconds == price.picoseconds && x->price.at == price.at &&
            recompute_policy_equal(&x->policy, policy))
            return &x->result;
    }
    return NULL;
}

CompileStatus propose_with_price(const AlongPath *s, PricedPlans *l, const RecomputePolicy *policy,
                                 BytePrice price, PlanResult *to)
{
    PlanRequest r = *s->r;
    const PlanResult *known = find_priced(l, policy, price);

    if (known) {
        *to = *known;
        return COMPILE_DONE;
    }
    r.recompute = *policy;
    r.memory = ENOUGH_BYTES;
    const Proposal p = {.copies = COPIES_SURE, .byte_price = price, .skips_presets = true};
    CompileStatus status = propose_plan(s->a, &r, &p, s->c, s->train, s->predict, to, s->d);
    if (status == COMPILE_DONE)
        *arena_push(s->a, l->plan, l->n, l->cap) = (PricedPlan){*policy, price, *to};
    return status;
}
