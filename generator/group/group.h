// The calls of fused groups' functions, for all targets: which function a group shares, and the
// pointers that it passes.
#ifndef SHARDCC_GENERATOR_GROUP_GROUP_H
#define SHARDCC_GENERATOR_GROUP_GROUP_H

#include "generator/group/arguments.h"

// How a group calls its function.
struct GroupCall {
    int function;                   // its number
    int *pointer, n_pointers;       // operands whose addresses are passed
    int shard[MAX_RANK], n_shards;  // indices into rt->shard
    bool uses_layer;
    int variant;  // of the function's sizes
    int64_t rows;
    bool uses_offset[MAX_RANK], uses_extent[MAX_RANK];  // of the shards
    // A kernel's: the threads of a block, and the elements (is_flat) or rows of each.
    bool is_flat;
    int threads, each;
};

// How a target makes functions.
typedef struct GroupText {
    const ElementText *names;
    // The function's text: its body, of a kernel also its parameters. It may set b->own, for the
    // target's later use.
    char *(*function)(Body *b, GroupCall *call);
    // Integers of so much or more in that text may differ between groups that share it.
    int64_t (*least_size)(const Body *b);
} GroupText;

// The node that makes the last values of the group.
const Node *last_node(const Body *b);

// Is the pointer that is passed as number `slot` one of a result?
bool is_written(const Body *b, int slot);

// "o2", "e2": the offset or the extent of shard k in the text.
const char *shard_name(const Body *b, char letter, int k);
// Notes which offsets and extents of shards the function's body uses.
void find_used_shards(const Body *b, GroupCall *call, const char *body);

// Makes the calls and functions of the set's groups.
void make_calls(Gen *g, const GroupText *t);
GroupCall *call_of(const Gen *g, const Item *it);

// Names the functions of both sets, prints the structs of their operands, and makes macros of the
// arguments that their calls share. After this calls can be printed.
void finish_calls(Gen *g);

// Prints the arguments of a group's call.
void print_call_arguments(Gen *g, const Item *it, Text *t);

// Prints "B * T": the number of the group's rows.
void print_row_count(Gen *g, const Item *it, int64_t rows, Text *t);
// Prints the shape of column sums: "B, H * W, C".
void print_sums_shape(Gen *g, const Item *it, Text *t);
// Prints the addresses of column sums, in the function's order.
void print_sum_addresses(Gen *g, const Item *it, Text *t);

#endif
