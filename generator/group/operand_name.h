// The names of operands in a fused group's function.
#ifndef SHARDCC_GENERATOR_GROUP_OPERAND_NAME_H
#define SHARDCC_GENERATOR_GROUP_OPERAND_NAME_H

#include "generator/group/element.h"

// Sets Body.name: "weight" or "exp_avg" where the value is known by such a name, else "x0" or "y0".
void name_operands(Body *b);

#endif
