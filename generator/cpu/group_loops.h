// Chooses the loops of a fused group's function.
#ifndef SHARDCC_GENERATOR_CPU_GROUP_LOOPS_H
#define SHARDCC_GENERATOR_CPU_GROUP_LOOPS_H

#include "generator/internal.h"

// The dims that the function walks. Adjacent dims that lie alike in all operands are merged.
typedef struct Walk {
    int rank;
    int rows;  // the leading dims, which make a row's number; a row walks the others
    int64_t dim[MAX_RANK];
    int64_t (*stride)[MAX_RANK];  // [operand]
    // By operand: 0, or the stride along the row of an operand that lies densely along the last dim
    // of the rows instead. It is transposed, some rows at a time, into an array of stride 1.
    int64_t *transposed;
    int axis[MAX_RANK];  // the item's dims from the outermost to the innermost
    bool has_index;      // expressions use indices: dims are not merged
} Walk;

// Does operand k receive a column sum?
bool is_column_output(const Gen *g, const Item *it, int k);

Walk make_walk(Gen *g, const Item *it);

#endif
