// What files of analyzer/ share.
#ifndef SHARDCC_ANALYZER_INTERNAL_H
#define SHARDCC_ANALYZER_INTERNAL_H

#include "analyzer/analyzer.h"

static inline int64_t divide_up(int64_t n, int64_t p) { return n / p + (n % p != 0); }

// Beyond all that is counted, and still safe to add up.
#define MAX_SUMMABLE_BYTES ((int64_t)1 << 58)

// At most: each axis splits off or onto any dim, or becomes parts of any kind; each pair is
// exchanged.
enum { MAX_RESHARD_STEPS = MAX_AXES * (MAX_RANK + 3) + MAX_AXES * (MAX_AXES - 1) / 2 };

// SPEC_SUM, SPEC_MAX and SPEC_MIN as a set.
#define PARTIAL_BIT(at) (1U << -(at))

// All steps from a valid spec that make no other parts than `partials`; returns how many.
int reshard_steps_from(const Mesh *m, const Value *v, const Spec *s, unsigned partials,
                       ReshardStep step[MAX_RESHARD_STEPS]);

// ---- bucket.c ----
void reshard_step_bucket(const Mesh *m,
                         ReshardStep *s);  // makes its time that of one that is joined to others

// ---- cost.c ----
// node_bytes, of a node with that rule.
double accessed_bytes(const Graph *g, const Node *n, const Rule *r, int i);
bool has_factor(const Rule *r, int operand, int f);  // is a dim of the operand it?

#endif
