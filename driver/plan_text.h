// What is said of plans.
#ifndef SHARDCC_PLAN_TEXT_H
#define SHARDCC_PLAN_TEXT_H

#include "analyzer/plan_file.h"

char *time_text(Arena *a, double seconds);  // "2.31 s", "11.2 ms", "3 us"
char *bytes_text(Arena *a, double bytes);   // "61.2 GiB", "8 MiB"

// When most is held, and by what: "backward of h.31: activations 38.1 GiB, …".
void print_memory_parts(Arena *a, const PlanFile *f, Text *t);

// Of a file of that name: mesh, step, memory, and what else was tried.
void plan_head(Arena *a, const char *name, const PlanFile *f);

// Says of a value why it lies as it does; false after an error: there is none of that name.
bool explain(Arena *a, const PlanFile *f, const char *name, Diag *d);

// A table of texts, its columns as wide as their widest text; the last one may be long.
typedef struct Columns {
    Arena *arena;
    const char **text;  // row by row
    int n_columns, n_texts, cap_texts;
} Columns;

void columns_add(Columns *c, const char *text);  // NULL: nothing
void columns_print(const Columns *c);

#endif
