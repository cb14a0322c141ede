// The state of the attention pattern, which its files fill in part by part.
#ifndef SHARDCC_IR_PATTERNS_ATTENTION_H
#define SHARDCC_IR_PATTERNS_ATTENTION_H

#include "ir/patterns/match.h"

// The effect of a mask on scores: `number` replaces them, or is added to them. Steps count from the
// softmax on, so the mask of step 0 is applied last.
typedef struct Masking {
    double number;
    bool is_added;
    int step;
} Masking;

typedef struct Found {
    const Match *m;
    Relation r;
    View q, k, v;
    ValueId inside;         // the scores; moves from the softmax back to the first product
    int32_t dim[MAX_RANK];  // the terms of its dims
    int32_t key;            // the term of the dim that the softmax sums over
    double scale;
    // Masks known by indices: query s sees key t if low ≤ t - s ≤ high.
    int64_t low, high;
    int32_t query;  // the term of s; 0: there is no such mask
    Masking limits;
    int inner_limits;  // the last step at which they were met
    // At most one other mask: added to the scores, or (`keeps`) true where scores stay; false there
    // if `is_inverted`.
    View bias;
    bool has_bias, keeps, is_inverted;
    Masking bias_masking;
    int n_parts;                 // how many parts of masks were looked at
    int n_steps;                 // how many masks were met, one applied before the other
    bool guard;                  // is a weight that isn't a number replaced by 0?
    Dropout drop;                // on the weights; micro_axis is a dim of the random numbers
    int drop_rank;               // the rank of the random numbers
    int32_t drop_dim[MAX_RANK];  // the terms of their dims
} Found;

enum { MASK_UNBOUNDED = 1 << 30 };  // no limit: low = -MASK_UNBOUNDED or high = MASK_UNBOUNDED

// The root of t if t is one atom; 0 if it is several or has size 1.
int32_t leaf_of(Relation *r, int32_t t);

// ---- attention_mask.c ----
// Is v everywhere one number that exporters mask with, *x?
bool masks(const Match *m, ValueId v, double *x);
// Adds a mask of f->inside: v, which is added to the scores; or `number`, which replaces them
// unless the condition is true (false, if is_inverted). False if the mask can't be an operand or
// attributes of attention.
bool add_mask(Found *f, ValueId v);
bool add_selected(Found *f, ValueId condition, double number, bool is_inverted);
AttentionOrder order_of(const Found *f);

// ---- attention_build.c ----
// Builds the attention node instead of the second product n, whose dims have the terms `dim`. False
// if the operands have dims in roles that attention doesn't know.
bool attention_build(Found *f, const Node *n, const int32_t *dim);

#endif
