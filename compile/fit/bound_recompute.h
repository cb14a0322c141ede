// Plans that pay for bytes instead of keeping to the memory, and bounds of all plans, whatever they
// run again. What fit_recompute consists of.
#ifndef SHARDCC_BOUND_RECOMPUTE_H
#define SHARDCC_BOUND_RECOMPUTE_H

#include "compile/fit/along_path.h"

// A plan that was proposed with a price.
typedef struct PricedPlan {
    RecomputePolicy policy;
    BytePrice price;
    PlanResult result;
} PricedPlan;

// In the order of their proposals.
typedef struct PricedPlans {
    PricedPlan *plan;
    int n, cap;
} PricedPlans;

// ---- priced_plans.c ----

// The price of a byte in picoseconds: about the time to save a byte by running more again at the
// index.
double picoseconds_of_byte(const AlongPath *s, int index);

// Proposes a plan that pays for bytes. One that was proposed before is taken again: bounds have
// some prices of plans.
CompileStatus propose_with_price(const AlongPath *s, PricedPlans *l, const RecomputePolicy *policy,
                                 BytePrice price, PlanResult *to);

// ---- bound_recompute.c ----

// Sets bounds, outcome and presets of a plan. `none`: the best one that runs nothing again and
// need not keep to the memory. is_scarce: its program doesn't fit.
CompileStatus bound_recompute(const AlongPath *s, PricedPlans *l, bool is_scarce,
                              const Planned *none, PlanResult *to);

#endif
