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
    SizedText text;          // of a kernel from its parameters on, else the body
    const char *pointers;    // "const float *x0, *weight; float *y0;": its operands
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
    // Its operands: the names of pointers, then of numbers; and arguments that are the same in all
    // calls.
    const char **operand_name, **shared;
    int n_calls, n_pointers, n_operands;
    const char *macro;  // of the shared ones; NULL: it has none
};

// The number of the function with these pointers and this text. It is new, or known from a group
// before, if with other sizes: integers of `least` or more. *variant gets the number of these.
int add_function(const Body *b, const char *pointers, const char *text, int64_t least,
                 int *variant);

// Gives all functions names, which no two share.
void name_functions(Gen *g);

// Prints the structs of the functions' operands.
void print_structs(const Gen *g);

// Prints the comment before a function.
void print_function_head(const Gen *g, const GroupFunction *f, Text *t);

#endif
