// The functions of fused groups: shared by groups of the same text, named and headed by comments.
#ifndef SHARDCC_GENERATOR_GROUP_FUNCTION_H
#define SHARDCC_GENERATOR_GROUP_FUNCTION_H

#include "generator/group/element.h"
#include "generator/group/sized_text.h"

// An input in the function's comment.
typedef struct OperandNote {
    const char *name;    // in the function
    const char *origin;  // the module or the parameter that it is from; "" if it is the group's
} OperandNote;

// Where groups that share a function differ, a text is NULL.
struct GroupFunction {
    SizedText text;          // its parameters and its body
    const char *base;        // the module as part of a name
    const char *first_base;  // that of the first group that uses it
    const char *ending;      // the phase as the end of a name
    bool has_columns;
    const char *main_operator;
    const char *operators;  // each once
    const char *walk;       // "64 rows of 48"
    const char **module;    // each once
    int n_modules, cap_modules;
    OperandNote *note;  // by input
    int n_notes;
    const char *name;  // set by name_functions
    // Its calls: the names of their arguments in the function, and those that are the same in all.
    const char **argument_name, **shared;
    int n_calls, n_arguments;
    int sizes_at;       // the number of the argument that passes sizes, if they differ
    const char *macro;  // of the shared ones; NULL: it has none
};

// The number of the function with this text. It is new, or known from a group before, if with other
// sizes: integers of `least` or more. *variant gets the number of these.
int add_function(const Body *b, const char *text, int64_t least, int *variant);

// Gives all functions names, which no two share.
void name_functions(Gen *g);

// Prints the comment before a function.
void print_function_head(const Gen *g, const GroupFunction *f, Text *t);

#endif
