// Facts about plans and programs as texts and tables for people, and as a plan's file.
#ifndef SHARDCC_REPORT_H
#define SHARDCC_REPORT_H

#include "analyzer/sharding/plan_file.h"
#include "compile/fit/fit_memory.h"
#include "compile/fit/memory_parts.h"

// ---- what the user learns about a compilation: compilation.c ----

void report_model(const char *file, const Graph *g);  // parameters, layers, inputs
void report_program(Arena *a, const Program *p);      // flops, arena, and what the arena holds
// The layers and kernels that run again, if any: of a policy of the training graph `g`.
void report_again(Arena *a, const Graph *g, const RecomputePolicy *p);
// The stages of a program in which some run again, if it is one.
void report_stages(const Program *p);
void report_accumulate(int micro_batches);    // the number that was chosen
char *plan_line(Arena *a, const Program *p);  // the plan in one line

// ---- the profile of a program: profile.c, profile_labels.c, profile_*.c ----

// The work of a program's step, and what the arena holds meanwhile. Each item that isn't the start
// or the end of a loop is a statement.
typedef struct Profile {
    Arena *arena;
    const Program *p;
    const Set *s;            // of the step: the training set, or the other if there is none
    const Cluster *cluster;  // NULL: there are no times
    int64_t *times;          // by item: how often a step runs it; 0: it is no statement
    MemoryKinds kinds;       // of its buffers
    MemoryMoment *moment;    // by item, and one more
    MemoryMoment peak;       // of the program: predictions may need more than the step
} Profile;

Profile profile_make(Arena *a, const Program *p, const Cluster *c);

typedef enum ProfileBy { PROFILE_BY_BLOCK, PROFILE_BY_OPERATOR, PROFILE_BY_TIME } ProfileBy;

// Prints the tables.
void profile_print(const Profile *f, ProfileBy by);
// All statements and buffers, as a table of RFC 4180.
void profile_csv(const Profile *f, Text *t);
// The bytes over the step by category, as a drawing. `name`: the model's file.
void profile_svg(const Profile *f, const char *name, Text *t);

// ---- a plan's file from the result of a search: make_plan_file.c, list_collectives.c ----

// Adds what the search found to the file that compile_plan_file made.
void plan_make(Arena *a, PlanFile *f, const PlanResult *s);

// Fills in the collectives of the plan's program, and their seconds for each value.
void plan_make_collectives(Arena *a, PlanFile *f, const Sharded *s, int accumulate);

// ---- a plan's file as tables: plan_text.c, explain.c ----

// Prints the head of a plan's file: mesh, step, memory, and the presets to compare. `name`: the
// file's name.
void plan_head(Arena *a, const char *name, const PlanFile *f);

// Returns the name of the n-th repeated block, counted from 1: "model.layers", or "block 3" if it
// has none.
const char *block_name(Arena *a, const PlanFile *f, int n);

// Prints why a value has its spec. Returns false after an error: the plan has no value of that
// name.
bool explain(Arena *a, const PlanFile *f, const char *name, Diag *d);

// ---- what a run measured: run_file.c, run_text.c ----

// Prints tables of what the log of a run with --profile has measured, next to what was predicted.
// `p`: the plan of its program; NULL: any program's. Returns false after an error: the log can't be
// read, or is of another program.
bool run_show(Arena *a, const char *log, const PlanFile *p);

// ---- tables ----

// A table of texts. Each column is as wide as its widest text, except the last, which may be long.
typedef struct Columns {
    Arena *arena;
    const char **text;  // row by row
    int n_columns, n_texts, cap_texts;
} Columns;

void columns_add(Columns *c, const char *text);  // NULL: an empty text
void columns_add_row(Columns *c, const char *const *cell);
void columns_print(const Columns *c);

#endif
