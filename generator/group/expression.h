// C expressions as texts, with as few brackets as C's precedence and gcc's -Wparentheses allow.
#ifndef SHARDCC_GENERATOR_GROUP_EXPRESSION_H
#define SHARDCC_GENERATOR_GROUP_EXPRESSION_H

#include "base/base.h"

// Appends the expression `operand` where the text `pattern` has a hole, [from, to). It is put in
// brackets if its operators would otherwise bind differently among the pattern's. Both texts have
// blanks around binary operators and after commas, and nowhere else.
void print_operand_at(Text *t, const char *pattern, const char *from, const char *to,
                      const char *operand);

#endif
