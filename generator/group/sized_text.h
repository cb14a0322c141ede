// Functions that differ in sizes alone are one function, which is passed them.
#ifndef SHARDCC_GENERATOR_GROUP_SIZED_TEXT_H
#define SHARDCC_GENERATOR_GROUP_SIZED_TEXT_H

#include "base/base.h"

// The text of a function with holes for its sizes, and the sizes of each text that it represents.
typedef struct SizedText {
    const char *text;  // each hole is a '#'
    int n_holes;
    int64_t **variant;
    int n_variants, cap_variants;
} SizedText;

// Takes the sizes out of a text: integers of `least` or more. Short loops of known lengths are
// faster.
SizedText sized_text(Arena *a, const char *text, int64_t least);

// Adds the sizes of another text with these holes. Returns the variant's number.
int sized_text_add(Arena *a, SizedText *s, const int64_t *size);

// The text with sizes in its holes; sizes that differ between variants are n0, n1 …
char *sized_text_fill(Arena *a, const SizedText *s);

// A variant's sizes n0, n1 … Returns their number, which is at most n_holes.
int sized_text_parameters(const SizedText *s, int variant, int64_t *size);

#endif
