// Compiles a model into a program in memory: what shardcc, its tests and a library call. It knows
// no command line. It may be called more than once a process, also from several threads; nothing of
// it is shared but the target and what happens without memory (on_lack_of_memory, base/base.h): it
// ends no process by itself. All that it makes lies in the arena `a` of the call, and is freed with
// it; what the request and the results point to has to live as long.
#ifndef SHARDCC_COMPILE_H
#define SHARDCC_COMPILE_H

#include <string.h>

#include "compile/fit/fit_memory.h"
#include "frontend/frontend.h"

// A compilation as it is asked for. All that it points to belongs to the caller, and has to live as
// long as what was compiled. Texts come from a user's options, and aren't trusted.
typedef struct CompileRequest {
    const char *input;       // the path of the model, or of a graph's text
    const ModelFile *model;  // that model, opened; NULL: it is a text
    const Strings *written;  // files that the caller will write; no file of the model may be one

    // The model: see ImportOptions.
    Strings bind, shape, freeze, padding, tie, stop;
    bool frozen_batch_norm;
    const WeightFile *values;

    // Training; without a loss and an optimizer there is no training step.
    const char *loss, *optimizer;
    double clip_norm;        // 0: gradients aren't clipped
    const char *loss_scale;  // see loss_scale_add; NULL: dynamic if products read f16
    Strings no_decay;        // globs: parameters without weight decay
    int accumulate;          // micro-batches of a step, at least 1

    // Passes.
    DType precision;   // of products' operands: F16, BF16 or F32; DT_NONE: as the model's file
    Strings keep_f32;  // globs: modules and parameters whose products stay in f32
    DType reduce;      // of gradients where ranks add them up: F32, which DT_NONE is, or BF16
    bool no_fuse;
    bool verify;        // after each pass: does the graph compute what it did before?
    Strings recompute;  // none, full, CLASS=N; or chain alone
    RecomputeRule rule;

    // The plan.
    const Target *target;
    int threads;             // of a rank at most; 0: as many as the target's kernels can use
    const Cluster *cluster;  // NULL: a fixed machine; several ranks need one
    int ranks;               // 0 is 1
    int64_t memory;          // bytes per rank; 0: all that the cluster's devices have
    const char *mesh;        // "2x4", "dp=2,tp=4"; NULL: the best one
    const char *preset;      // the preset to keep to; NULL: none
    Strings pin;
    const char *plan;            // a plan's file to follow; NULL: search for a plan
    const PlanFile *plan_keeps;  // that file, which says what runs again; NULL: no file
} CompileRequest;

// A compilation, as far as it went.
typedef struct Compiled {
    // compile_graphs:
    Graph *train;     // one step; NULL: the program only predicts
    Graph *predict;   // the forward-only graph
    Weights weights;  // of `train`, or of `predict` if there is no other
    // The policy that the planner applies to `train`, or chooses. None if there is no planner, as
    // for one rank without memory, or if `train` recomputes already.
    RecomputePolicy policy;
    bool chooses_recompute;
    Budget *budget;  // of the whole compilation

    // compile_program:
    Program *program;           // if nothing fits: the smallest one found
    PlanResult plan;            // of several ranks
    RecomputePolicy recompute;  // what was applied to `train`
    int index;                  // of one rank's policy on the path of policies
} Compiled;

// Compiles a model: runs the stages in their order, and checks the program. Every status but
// COMPILE_DONE has been reported.
CompileStatus compile_model(Arena *a, const CompileRequest *r, Compiled *to, Diag *d);

// ---- its stages ----

// Reads the model and runs the passes.
CompileStatus compile_graphs(Arena *a, const CompileRequest *r, Compiled *to, Diag *d);
// Makes the program of the graphs; with several ranks, the one of the best plan. With
// COMPILE_INFEASIBLE the program is the smallest one found; with other mistakes there is none.
CompileStatus compile_program(Arena *a, const CompileRequest *r, Compiled *to, Diag *d);

// ---- for searches over compilations ----

// The same without the check. True if there is a program; *fits: it keeps to the memory.
bool compile_try(Arena *a, const CompileRequest *r, Compiled *to, bool *fits, Diag *d);
// The best number of micro-batches, whatever r->accumulate is.
int compile_accumulate(const CompileRequest *r, const char *file);
// Makes about the smallest program of the graphs, whatever the memory: with several ranks by a few
// searches, with one at an index on the path of policies. True if there is one.
bool compile_small(Arena *a, const CompileRequest *r, int index, Compiled *to, Diag *d);

// The request of a plan for the graphs.
PlanRequest compile_plan_request(Arena *a, const CompileRequest *r, const Compiled *c);

// Fills in what the file of the plan that was found says of its graph and of the request: what
// plan_file_hash reads, in particular. The names of files and the options are the caller's.
void compile_plan_file(Arena *a, const CompileRequest *r, const Compiled *c, PlanFile *f);

// The target with so many threads as the request says.
const Target *request_target(Arena *a, const CompileRequest *r);
bool request_is(const CompileRequest *r, const char *ending);  // does the input's name end so?
// Is --recompute chain given?
static inline bool request_runs_chain(const CompileRequest *r)
{
    return r->recompute.n && !strcmp(r->recompute.s[0], "chain");
}
// The option of the first field that does nothing without a loss; NULL if none is set. `pass`:
// after which the graphs are asked for, or NULL.
const char *request_of_training(const CompileRequest *r, const char *pass);

// ---- graphs ----

// Prints the training graph as it is after a pass, and the forward-only graph if it differs. Read
// back, the text gives the same program. `pass` NULL: after the optimizer, or without a loss before
// one could be added.
CompileStatus compile_text(Arena *a, const CompileRequest *r, const char *pass, Text *t, Diag *d);

const char *pass_name(int pass);  // by index from 0; NULL: there are no more
int pass_find(const char *name);  // -1: there is none
bool pass_needs_loss(const char *name);

// Does a step write running statistics? A batch's statistics differ from its parts'.
bool has_batch_statistics(const Graph *g);

#endif
