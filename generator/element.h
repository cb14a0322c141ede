// The statements of a fused group's function: what is done for each element of a row in one turn
// through it, and with the row's numbers after that.
#ifndef SHARDCC_GENERATOR_ELEMENT_H
#define SHARDCC_GENERATOR_ELEMENT_H

#include "generator/walk.h"

enum {
    COSTLY_FLOPS = 10
};  // flops that take longer than to store a float and to read it from the cache

typedef struct Body {
    Gen *g;
    const Item *it;
    const Walk *w;
    int pass;           // the turn being printed …
    bool of_row;        // … or the row's numbers after it
    bool *is_selected;  // by node of the group: has a place in what is being printed
    bool *is_kept;      // by node of the group: its turn leaves the row's elements to later ones
    int *uses;          // by node of the group: readers there; 2 more if it needs a name
    const char **expr;  // by NodeId: the name or the expression of its element
    int *sum;           // by node of the group: number of its variable
    int n_variables;
    int *slot;            // operand → which place of those passed: equal ones are passed once
    bool *is_named;       // operand: has its pointer, or its number, in the row already
    bool *is_prefetched;  // input: memory has to bring it
    bool *is_streamed;    // result: goes into an array first, and past the caches from there
    bool is_run;          // the loop is over elements from c on, not over a whole row
    bool is_line;         // … over the lanes of a line, each with its own sums
    Text text;
    bool uses_layer;
    int shard[MAX_RANK], n_shards;  // of rt->shard, those that it is passed: o0, e0 …
} Body;

const char *operand_type(const Body *b, int k);

// " + i0 * 768 + i1": operand k's place along the dims [0, n).
char *index_text(const Body *b, int k, int n);

// An operand that has one number a row, without a pointer of its own.
void print_row_operand(const Body *b, int k, Text *t);

// Index of v's operand among the outputs, -1: it isn't one.
int output_of(const Item *it, ValueId v);

// Finds what is printed in turn `stage`, or of the row's numbers after it.
void select_pass(Body *b, int pass, bool of_row);

// Finds what is rather left to later turns than made again in them.
void find_kept(Body *b);

// Is `name` a word of the text?
bool has_word(const char *text, const char *name);

// Does operand k take part in what was asked for?
bool is_used(const Body *b, int k);

// Appends the statements of what was asked for.
void print_element(Body *b, int indent);

#endif
