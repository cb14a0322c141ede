// Bounds plans for little memory, whatever they run again.
#include <math.h>
#include <string.h>

#include "compile/fit/bound_recompute.h"

#include "base/search.h"

// Presets were tried without a limit.
static void limit_presets(const AlongPath *s, Planned *p)
{
    for (int i = 0; i < p->n_presets; i++)
        if (p->preset[i].peak > s->r->memory)
            p->preset[i].outcome = OUTCOME_INFEASIBLE;
}

// Goes to the next vector of policies. False after the last one.
static bool next_choice(const KeepPath *x, int *policy)
{
    for (int32_t k = 0; k < x->g->n_classes; k++) {
        if (++policy[k] < x->classes[k].n_policies)
            return true;
        policy[k] = 0;
    }
    return false;
}

static int64_t count_vectors(const KeepPath *x)
{
    int64_t n = 1;

    for (int32_t k = 0; k < x->g->n_classes && n <= MAX_POLICY_VECTORS; k++)
        n *= x->classes[k].n_policies;
    return n;
}

// A bound of all plans that keep to the memory and shard equal layers equally, whatever runs again:
// bytes have a price instead of a limit (Lagrangian relaxation). With equal shards, a plan that
// mixes policies costs and holds as much as a mean of plans in which all layers of a class have one
// policy. So the least bound of the latter is a bound of all plans. 0: there are too many vectors,
// or the bound is no larger than `known`.
static Wide bound_with_price(const AlongPath *s, PricedPlans *l, BytePrice price, Wide known)
{
    Wide whole = (Wide)ceil(price.picoseconds * (double)s->r->memory);
    int *vector = arena_array(s->a, int, s->train->n_classes);
    Wide least = WIDE_MAX;

    if (count_vectors(s->path) > MAX_POLICY_VECTORS)
        return 0;
    do {
        RecomputePolicy policy = keep_path_pure(s->a, s->path, vector);
        PlanResult x;
        if (propose_with_price(s, l, &policy, price, &x) != COMPILE_DONE)
            return 0;
        least = x.planned.answer.bound < least ? x.planned.answer.bound : least;
    } while (least - whole > known && next_choice(s->path, vector));
    return least - whole;
}

// The largest bound of those with some prices, and of the known one.
static Wide bound_with_prices(const AlongPath *s, PricedPlans *l, Wide known)
{
    int index = s->soonest.index, n = index ? 1 : PRICE_HALVINGS;
    double price = picoseconds_of_byte(s, index) / (index ? 1 : 2);

    for (int i = 0; i < n; i++, price /= 2)
        for (PricedItem at = 0; at < N_PRICED_ITEMS; at++) {
            Wide bound = bound_with_price(s, l, (BytePrice){price, at}, known);
            known = bound > known ? bound : known;
        }
    return known;
}

static Wide least_of(Wide x, Wide y) { return x < y ? x : y; }

// Finds bounds of all plans that shard equal layers equally, whatever runs again and whatever the
// memory. To run more again mostly takes longer, but it may also take less: what isn't kept needn't
// be written. So each node costs here the least that it costs under any policy. A search that ends
// without a plan proves nothing: the bounds are 0.
static CompileStatus find_free_bounds(const AlongPath *s, Planned *to)
{
    int n = keep_path_policies(s->path);
    RecomputePolicy *policy = arena_array(s->a, RecomputePolicy, n);
    PlanRequest r = *s->r;
    PlanResult x;

    for (int i = 0; i < n; i++)
        policy[i] = keep_path_same(s->a, s->path, i);
    r.recompute = (RecomputePolicy){.rule = RECOMPUTE_NONE};
    r.memory = ENOUGH_BYTES;
    const Proposal p = {.other = policy, .n_others = n, .skips_presets = true};
    CompileStatus status = propose_plan(s->a, &r, &p, s->c, s->train, s->predict, &x, s->d);
    *to = status == COMPILE_DONE ? x.planned : (Planned){0};
    return status == COMPILE_NOT_FOUND ? COMPILE_DONE : status;
}

// If the memory is scarce, there may be a larger bound with a price of bytes. One that isn't larger
// than that of plans which run nothing again is little larger than the free one, and isn't looked
// for.
static CompileStatus find_bounds(const AlongPath *s, PricedPlans *l, bool is_scarce, Wide *bound,
                                 Wide *step_bound)
{
    Planned free;
    Wide none = *bound;
    CompileStatus status = find_free_bounds(s, &free);

    if (status != COMPILE_DONE)
        return status;
    *step_bound = least_of(*step_bound, free.step_bound);
    if (is_scarce)
        *bound = bound_with_prices(s, l, none);
    if (*bound == none)
        *bound = least_of(none, free.answer.bound);
    return COMPILE_DONE;
}

CompileStatus bound_recompute(const AlongPath *s, PricedPlans *l, bool is_scarce,
                              const Planned *none, PlanResult *to)
{
    Planned *p = &to->planned;
    Answer *x = &p->answer;
    CompileStatus status = COMPILE_DONE;

    memcpy(p->preset, none->preset, sizeof p->preset);
    p->n_presets = none->n_presets;
    limit_presets(s, p);
    p->n_searched = none->n_searched;
    p->n_excluded = none->n_excluded;
    p->n_left_out = none->n_left_out;
    p->step_bound = none->step_bound;
    x->bound = none->answer.bound;
    if (s->path->n_steps)
        status = find_bounds(s, l, is_scarce, &x->bound, &p->step_bound);
    x->bound = least_of(x->bound, x->cost);
    x->outcome =
        answer_gap(x->cost, x->bound) <= to->options.solve.gap ? OUTCOME_PROVED : OUTCOME_FOUND;
    return status;
}
