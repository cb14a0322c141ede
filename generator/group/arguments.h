// Arguments of a fused group's function, ".x0 = AT(LN1_OUT)". Those that all its calls share, such
// as an optimizer's scalars, are written once, in a macro of the function's name.
#ifndef SHARDCC_GENERATOR_GROUP_ARGUMENTS_H
#define SHARDCC_GENERATOR_GROUP_ARGUMENTS_H

#include "generator/group/element.h"

// The arguments of a call, in the order of the operands.
typedef struct Arguments {
    const char **text;
    int n;
} Arguments;

// Notes a call of the function with that number.
void note_arguments(Gen *g, int function, const Arguments *x);

// Makes the macros, after all calls are noted and functions have names.
void print_argument_macros(Gen *g);

// Appends the arguments of a call, by the function's macro if it has one.
void print_arguments(Gen *g, int function, const Arguments *x, Text *t);

#endif
