// The loops of a fused group's function.
#ifndef SHARDCC_GENERATOR_WALK_H
#define SHARDCC_GENERATOR_WALK_H

#include "generator/internal.h"

// The dims that the function walks: neighbouring ones that lie alike in all operands are merged.
typedef struct Walk {
    int rank;
    int rows;  // the first dims that make up a row's number; the others are walked in a row
    int64_t dim[MAX_RANK];
    int64_t (*stride)[MAX_RANK];  // [operand]
    // By operand: 0, or its stride along the row where it lies densely along the last dim of the
    // rows instead. It is turned around, some rows at a time, into a place of stride 1.
    int64_t *transposed;
    int axis[MAX_RANK];  // the item's dims from the outermost to the innermost
    bool has_index;      // expressions speak of places: dims are kept
} Walk;

// Does operand k take a sum of columns?
bool is_column_output(const Gen *g, const Item *it, int k);

Walk make_walk(Gen *g, const Item *it);

#endif
