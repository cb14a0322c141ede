// Texts and tables about plans, for people.
#ifndef SHARDCC_PLAN_TEXT_H
#define SHARDCC_PLAN_TEXT_H

#include "analyzer/plan_file.h"

// Prints the head of a plan's file: mesh, step, memory, and the presets beside it. `name`: the
// file's name.
void plan_head(Arena *a, const char *name, const PlanFile *f);

// Prints why a value lies as it does. Returns false after an error: the plan has no value of that
// name.
bool explain(Arena *a, const PlanFile *f, const char *name, Diag *d);

// A table of texts. Each column is as wide as its widest text, except the last, which may be long.
typedef struct Columns {
    Arena *arena;
    const char **text;  // row by row
    int n_columns, n_texts, cap_texts;
} Columns;

void columns_add(Columns *c, const char *text);  // NULL: an empty text
void columns_print(const Columns *c);

#endif
