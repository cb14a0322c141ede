// Declarations that the files of analyzer/sharding/ share.
#ifndef SHARDCC_SHARDING_INTERNAL_H
#define SHARDCC_SHARDING_INTERNAL_H

#include "analyzer/sharding/sharding.h"

static inline int64_t divide_up(int64_t n, int64_t p) { return n / p + (n % p != 0); }

// More than any count of bytes; sums of a few don't overflow.
#define MAX_SUMMABLE_BYTES ((int64_t)1 << 58)

// Most steps from a spec: each axis moves to or from any dim, or becomes partial of any kind; each
// pair of axes is permuted.
enum { MAX_RESHARD_STEPS = MAX_AXES * (MAX_RANK + 3) + MAX_AXES * (MAX_AXES - 1) / 2 };

// A set of SPEC_SUM, SPEC_MAX and SPEC_MIN has these bits.
#define PARTIAL_BIT(at) (1U << -(at))

// Lists all steps from a valid spec; new partial axes are only of the kinds in `partials`. Returns
// how many.
int reshard_steps_from(const Mesh *m, const Value *v, const Spec *s, unsigned partials,
                       ReshardStep step[MAX_RESHARD_STEPS]);

// ---- bucket_saving.c ----
// Takes the saving of a bucket off the step's time, and sets bucket_saving.
void reshard_step_bucket(const Mesh *m, ReshardStep *s);

#endif
