// State and helpers of the files that turn nodes into items.
#ifndef SHARDCC_LOWER_EMIT_H
#define SHARDCC_LOWER_EMIT_H

#include "lower/internal.h"

typedef struct Emit {
    Lowering *l;
    int r;         // region being emitted, 0: top level
    int loop;      // item of its ITEM_LOOP, or the function's first item
    int *read_at;  // by ValueId (bases): 1 + last item that reads it
    // By ValueId (bases): the same for reads that aren't element by element.
    int *non_elementwise_read_at;
} Emit;
// Appends an item to the set, in the region being emitted. The pointer is valid until the next
// call.
Item *add_item(Emit *e, ItemKind kind);
void add_copy(Emit *e, const Operand *from, const Operand *to, int rank, const int64_t *dim);
void set_dims(Item *it, const Value *v);  // item `it` walks v's dims

// Note that node n is in `item`: it reads its inputs and makes its outputs there.
void note_reads(Emit *e, NodeId n, int item);
void note_outputs(Emit *e, NodeId n, int item);

void group_append(Emit *e, int at, NodeId n);  // node n becomes the last of group `at`
void emit_elementwise(Emit *e, NodeId n);      // adds the node to a group, an old or a new one
int add_group(Emit *e, ValueId v);             // an empty group that walks v's dims
bool same_domain(const Lowering *l, const Item *it, ValueId v);  // does the group walk v's dims?
bool shares_input(const Lowering *l, const Item *it, const Node *x);  // do both read one value?
bool emit_column_sum(Emit *e, NodeId n);
bool emit_sum(Emit *e, NodeId n);       // adds the sum to the group that makes its input, if it can
void emit_copy(Emit *e, NodeId n);      // for a view that must have bytes of its own
void emit_subviews(Emit *e, NodeId n);  // for a concat or a pad
bool emit_kernel(Emit *e, NodeId n);

#endif
