// Finds the dims that a fused group walks.
#ifndef SHARDCC_GENERATOR_GROUP_WALK_H
#define SHARDCC_GENERATOR_GROUP_WALK_H

#include "generator/internal.h"

// The dims that the group walks. Adjacent dims that lie alike in all operands are merged.
typedef struct Walk {
    int rank;
    int rows;  // the leading dims, which make a row's number; a row walks the others
    int64_t dim[MAX_RANK];
    int64_t (*stride)[MAX_RANK];  // [operand]
    int axis[MAX_RANK];           // the item's dims from the outermost to the innermost
    bool has_index;               // expressions use indices: dims are not merged
} Walk;

// Does operand k receive a column sum?
bool is_column_output(const Gen *g, const Item *it, int k);

Walk make_walk(Gen *g, const Item *it);

#endif
