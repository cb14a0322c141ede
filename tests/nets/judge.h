// Is the program of a net right? Judged in stages, each by one that knows nothing of it:
//
//   oracle      the net's graph as it was built, evaluated in f64; the loss by its formula;
//               gradients by differences along a random direction for each parameter
//   reference   the graph that the passes make of it, evaluated in f64: held against the oracle
//   program     the lowered items on an arena of bytes, or the compiled C text: held against the
//               reference, as near as f32 lets it
//
// How near that is follows from the reference evaluated in f32, and with every result off by a
// little.
#ifndef SHARDCC_TESTS_NETS_JUDGE_H
#define SHARDCC_TESTS_NETS_JUDGE_H

#include "ir/ir.h"
#include "lower/lower.h"

// A net and what is asked for.
typedef struct Subject {
    Graph *train, *predict;  // as they were built; passes change them
    const char *loss, *optimizer;
    double clip;
    int accumulate;
    bool plain;
    uint64_t numbers;
    int64_t classes;  // of the labels, if the loss takes some
} Subject;

typedef enum Ruling {
    RIGHT,
    NO_NET,         // the recipe makes no sense, or has nothing to train
    REFUSED,        // with a message
    WRONG_PASSES,   // the graph after the passes isn't the net
    WRONG_CHECK,    // program_check found something
    WRONG_PROGRAM,  // the items compute something else
    WRONG_C,        // the compiled text does
    CRASHED,
    N_OUTCOMES
} Ruling;

extern const char *const outcome_names[N_OUTCOMES];

typedef struct Verdict {
    Ruling outcome;
    int compared, skipped;  // gradients held against differences, and such as kinks forbid
    int classes;            // loops that the program has
    char what[400];
} Verdict;

// False: the verdict is given already.
bool verdict_wrong(Verdict *v, Ruling o, const char *fmt, ...) PRINTF(3, 4);

void verdict_add(Verdict *v, const char *text);
void verdict_refused(Verdict *v, Ruling o, const Text *said);  // the first error of it
void verdict_check(Verdict *v, const Program *p);              // by program_check

// ---- numbers ----

// The numbers of a value without producer follow from its name, the micro-batch and the element;
// bound > 0: integers below it.
Tensor numbers_of(Arena *a, const Value *v, uint64_t seed, int micro, int64_t bound);
// The same for all values without producer, except constants and zeros; by ValueId.
Tensor *numbers_all(const Graph *g, const Subject *s, int micro, Arena *a);
// The same graph in f64: `map` gives its values by those of `g`.
Graph *graph_widen(const Graph *g, Arena *a, ValueId **map, Diag *d);

// Evaluates a graph in f64 whose results are all off by as much as f32 would round them.
void graph_shake(const Graph *g, Arena *a, Tensor *value, uint64_t seed);
Tensor tensor_rough(Arena *a, const Tensor *wide, const Tensor *x, const Tensor *y);

// ---- oracle ----

typedef struct Oracle {
    const Subject *s;
    Arena *arena;
    Graph *g;        // in f64
    Tensor **value;  // [micro-batch][ValueId of g]
    Tensor *target;  // [micro-batch]; of the loss
    Graph *predict;
    Tensor *predicted;  // by ValueId of predict
    Tensor roughly;     // its output, off by what f32 rounds
    double sum, count;
} Oracle;

// Keeps the net as it is before the passes.
bool oracle_new(Oracle *o, const Subject *s, Arena *a, Diag *d);
// Evaluates it. The passes number the nodes that draw random numbers anew, in an order of their
// own: the oracle takes over the numbers of `made`, the graph that they made, by the nodes'
// sources. False if the loss is no number, or a huge one, or if f32 doesn't hold the output.
bool oracle_eval(Oracle *o, const Graph *made);
ValueId oracle_find(const Graph *g, const char *name);  // 0: no value has it
// The slope of the loss along `direction` (of parameter v's elements); false where it has a kink.
bool oracle_slope(const Oracle *o, ValueId v, const double *direction, double *slope);
// The parameter after the update, given its gradient (clipped) and its states by name.
bool oracle_update(const Subject *s, const Tensor *p, const Tensor *grad, const Tensor *state[2],
                   double *to);

// ---- reference ----

typedef struct Reference {
    const Graph *g;         // after the passes
    int n_values;           // of it; lowering adds some
    Tensor *start;          // [ValueId of g]: before the step
    Tensor *wide, *narrow;  // [ValueId of g]: after it, in f64, and off by what f32 rounds
    double most;            // the norm of the largest gradient
} Reference;

bool reference_new(Reference *r, const Graph *g, const Subject *s, Arena *a, Diag *d);
// Does f32 hold all values and tell losses apart? Where numbers are huge, it proves nothing.
bool reference_fits_f32(const Reference *r);
void judge_reference(const Reference *r, const Oracle *o, Verdict *v);

// ---- programs ----

// The numbers that a program left behind, by index of the reference's outputs and carries. An empty
// tensor isn't known.
typedef struct Result {
    Tensor *output, *carried;
} Result;

void judge_result(const Reference *r, const Result *x, Ruling o, Verdict *v);
// Runs the items of the training set; gradients where they are shown.
Result run_items_of(const Program *p, const Reference *r, const Subject *s, Arena *a);
// Runs the items of the forward-only set; gives output "y".
Tensor predict_items(const Program *p, const Subject *s, Arena *a);
void judge_prediction(const Oracle *o, const Tensor *y, Ruling outcome, Verdict *v);

struct RtModel;
Result run_model(const struct RtModel *m, const Program *p, const Reference *r, const Subject *s,
                 Arena *a);
Tensor predict_model(const struct RtModel *m, const Program *p, const Subject *s, Arena *a);

// ---- all of it ----

bool run_passes(Graph *g, const Subject *s, bool is_split, Diag *d);

// Judges a net in this process. `c` (may be NULL) gets its program's C text; `model` (may be NULL)
// is that text compiled.
typedef struct Task {
    const char *name;  // of the model in C
    Text *c;
    const struct RtModel *model;
    bool is_fast;  // without the oracle, as it was asked before
    int ranks;     // 0: one; else its programs of 2 to so many ranks, by plans of all kinds
} Task;

void judge(const Subject *s, const Task *t, Verdict *v);
// By a random plan, and by plans of the search and of presets.
void judge_ranks(const Subject *s, int most, Arena *a, Verdict *v);

#endif
