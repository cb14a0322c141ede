// Identifiers of C from names of the model: in capitals, unique in a text, bounded in length, and
// no macros of its headers.
#ifndef SHARDCC_GENERATOR_IDENTIFIERS_H
#define SHARDCC_GENERATOR_IDENTIFIERS_H

#include "base/base.h"

typedef struct Identifiers {
    Map known;  // paths
    Map ends;   // the number of paths that end so
    Map taken;  // the number of times that an identifier was asked for
} Identifiers;

// Adds a path of modules, "h.{}.attn.c_attn". All must be known before the first is named.
void identifiers_add(Identifiers *x, const char *path);

// The shortest end of a path that no other one has, of `least` parts or more: "C_ATTN_WEIGHT".
char *identifier_of(Identifiers *x, const char *path, int least);

// The name if it is free, else with a number after it.
const char *identifier_take(Identifiers *x, const char *name);

#endif
