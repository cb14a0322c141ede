// The calls of fused groups' functions, for all targets: which function a group shares, and the
// places that it passes.
#ifndef SHARDCC_GENERATOR_GROUP_GROUP_H
#define SHARDCC_GENERATOR_GROUP_GROUP_H

#include "generator/group/arguments.h"

// How a group calls its function.
struct GroupCall {
    int function;                   // its number
    int *place, n_places;           // operands whose places are passed
    int shard[MAX_RANK], n_shards;  // indices into rt->shard
    bool uses_layer;
    int variant;  // of the function's sizes
    int64_t rows;
    // A kernel's: whether it is passed a shard's offset and its extent, the threads of a block, and
    // the elements (is_flat) or rows of each.
    bool uses_offset[MAX_RANK], uses_extent[MAX_RANK], is_flat;
    int threads, each;
};

// How a target makes functions.
typedef struct GroupText {
    const ElementText *names;
    // The function's text from its parameters on. It may set b->own, for the target's later use.
    char *(*function)(Body *b, GroupCall *call);
    // Integers of so much or more in that text may differ between groups that share it.
    int64_t (*least_size)(const Body *b);
    // The arguments of a call.
    Arguments (*arguments)(Gen *g, const Item *it, const GroupCall *c);
    // Names those after the places, from name[call->n_places] on. Returns the number of all.
    int (*name_arguments)(const Body *b, GroupCall *call, const char **name);
} GroupText;

// The node that makes the last values of the group.
const Node *last_node(const Body *b);

// Makes the calls and functions of the set's groups.
void make_calls(Gen *g, const GroupText *t);
GroupCall *call_of(const Gen *g, const Item *it);

// Names the functions of both sets, and makes macros of the arguments that their calls share.
// After this calls can be printed.
void finish_calls(Gen *g, const GroupText *t);

// Prints "B * T": the number of the group's rows.
void print_row_count(Gen *g, const Item *it, int64_t rows, Text *t);
// Prints the shape of column sums: "B, H * W, C".
void print_sums_shape(Gen *g, const Item *it, Text *t);
// Prints the places of column sums, in the function's order.
void print_sum_places(Gen *g, const Item *it, Text *t);

#endif
