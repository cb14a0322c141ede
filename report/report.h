// Facts about plans and programs as texts and tables for people, and as a plan's file.
#ifndef SHARDCC_REPORT_H
#define SHARDCC_REPORT_H

#include "analyzer/plan_file.h"
#include "solver/plan/fit_memory.h"
#include "solver/plan/memory_parts.h"

// ---- what the user learns about a compilation: compilation.c ----

void report_model(const char *file, const Graph *g);  // parameters, layers, inputs
void report_program(Arena *a, const Program *p);      // flops, arena, and what the arena holds
char *plan_line(Arena *a, const Program *p);          // the plan in one line

// ---- a plan's file from the result of a search: make_plan_file.c, list_collectives.c ----

// Fills in all fields except the names of files and the request.
void plan_make(PlanFile *f, const Cluster *c, const PlanResult *s, Arena *a);

// Fills in the collectives of the plan's program, and their seconds for each value.
void plan_make_collectives(PlanFile *f, const Sharded *s, int accumulate, Arena *a);

// ---- a plan's file as tables: plan_text.c, explain.c ----

// Prints the head of a plan's file: mesh, step, memory, and the presets beside it. `name`: the
// file's name.
void plan_head(Arena *a, const char *name, const PlanFile *f);

// Returns the name of the n-th repeated block, counted from 1: "model.layers", or "block 3" if it
// has none.
const char *block_name(Arena *a, const PlanFile *f, int n);

// Prints why a value has its spec. Returns false after an error: the plan has no value of that
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
