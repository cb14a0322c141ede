// What the files that make items share: the state of making them, and how items are added.
#ifndef SHARDCC_LOWER_EMIT_H
#define SHARDCC_LOWER_EMIT_H

#include "lower/internal.h"

typedef struct Emit {
    Lowering *l;
    int r;                         // region being emitted, 0: top level
    int loop;                      // item of its ITEM_LOOP, or the part's first item
    int *read_at;                  // by ValueId (bases): 1 + last item that reads it
    int *non_elementwise_read_at;  // … other than element by element
} Emit;
// Appends an item to the set, of the region being emitted. The pointer is good until the next.
Item *add_item(Emit *e, ItemKind kind);
void add_copy(Emit *e, const Operand *from, const Operand *to, int rank, const int64_t *dim);
void set_dims(Item *it, const Value *v);  // the dims walked over are v's

// Node n is in `item`: what it reads is read there, what it makes is made there.
void note_reads(Emit *e, NodeId n, int item);
void note_outputs(Emit *e, NodeId n, int item);

void group_append(Emit *e, int at, NodeId n);  // node n becomes the last of group `at`
void emit_elementwise(Emit *e, NodeId n);      // into a group, an old or a new one
int add_group(Emit *e, ValueId v);             // an empty one that walks v's dims
bool same_domain(const Lowering *l, const Item *it, ValueId v);       // … as the group does
bool shares_input(const Lowering *l, const Item *it, const Node *x);  // something that it reads
bool emit_column_sum(Emit *e, NodeId n);
bool emit_sum(Emit *e, NodeId n);    // into the group that makes what it adds, if it can
void emit_copy(Emit *e, NodeId n);   // a view that must have bytes of its own
void emit_place(Emit *e, NodeId n);  // a concat, a pad
bool emit_kernel(Emit *e, NodeId n);

#endif
