// Prints the loops of a fused group's function.
#ifndef SHARDCC_GENERATOR_CPU_GROUP_BODY_H
#define SHARDCC_GENERATOR_CPU_GROUP_BODY_H

#include "generator/group/element.h"

extern const ElementText cpu_elements;

// Appends the loops over rows [first, last), and over their elements. Groups without rows are one
// loop over elements.
void print_body(Body *b);

#endif
