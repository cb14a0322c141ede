// Prints the statements of a fused group's function: those for each element of a row in one row
// pass, and those for the row scalars after it.
#ifndef SHARDCC_GENERATOR_GROUP_ELEMENT_H
#define SHARDCC_GENERATOR_GROUP_ELEMENT_H

#include "generator/group/walk.h"

enum {
    COSTLY_FLOPS = 10
};  // flops that take longer than to store a float and to read it from the cache

typedef struct Body Body;

// How the text of a target names elements, for the row pass that is being printed.
typedef struct ElementText {
    void (*operand)(const Body *b, int k, Text *t);  // of operand k
    void (*kept)(const Body *b, int i, Text *t);     // of node i, which is kept for later passes
    void (*sum)(const Body *b, int i, Text *t);      // the variable that node i, a sum, adds to
    const char *(*last_index)(const Body *b);        // along the last dim
} ElementText;

struct Body {
    Gen *g;
    const Item *it;
    Walk *w;
    const ElementText *names;
    void *own;          // the target's own
    int pass;           // the row pass being printed
    bool of_row;        // the row scalars after the pass are printed, not its elements
    bool *is_selected;  // by node of the group: it is evaluated in what is being printed
    bool *is_kept;      // by node of the group: its pass stores the row's elements for later passes
    int *uses;          // by node of the group: its readers there; 2 more if it needs a name
    const char **expr;  // by NodeId: the name or the expression of its element
    int *sum;           // by node of the group: the number of its sum's variable
    int n_variables;
    const char **name;  // of operands in the text
    int *slot;       // operand → index among the pointers passed; equal addresses are passed once
    bool *is_named;  // operand: its pointer or its number is already declared in the row
    bool *is_row_result;  // operand: a row scalar is stored in it, so the function declares it
    Text text;
    Text *row_stores;  // where stores of row scalars go; NULL: to the text
    bool uses_layer;
    // Indices into rt->shard of the shards that the function is passed; in the text o0, e0 …
    int shard[MAX_RANK], n_shards;
};

const char *operand_type(const Body *b, int k);

// The first operand whose pointer is passed as number `slot`: the pointer is called after it.
int first_at_slot(const Body *b, int slot);

// " + i0 * 768 + i1": operand k's element along the dims [0, n).
char *index_text(const Body *b, int k, int n);

// Prints the element of a row scalar that is stored: "y0[i0]".
void print_row_result(Body *b, int k, Text *t);

// Index of v's operand among the outputs; -1: it isn't one.
int output_of(const Item *it, ValueId v);

// Selects what is printed in row pass `pass` or, with of_row, the row scalars after it.
void select_pass(Body *b, int pass, bool of_row);

// Finds the nodes whose elements are better kept for later passes than computed again there, if a
// row has at most `most` elements.
void find_kept(Body *b, int64_t most);

// Is node i a sum over the rows of row pass `pass`?
bool is_sum_of(const Body *b, int i, int pass);

// Is `name` a whole word of the text?
bool has_word(const char *text, const char *name);

// Does what is selected use operand k?
bool is_used(const Body *b, int k);

// Appends the statements of what is selected.
void print_element(Body *b, int indent);

#endif
