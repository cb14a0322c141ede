// Judges whether the program of a net is right, in stages. Each stage is compared with a judge that
// shares no code with it:
//
//   oracle      the net's graph as it was built, evaluated in f64; the loss by its formula;
//               gradients by differences along a random direction for each parameter
//   reference   the graph that the passes make of it, evaluated in f64: compared with the oracle
//   program     the lowered items on an arena of bytes, or the compiled C text: compared with the
//               reference, within the rounding errors of f32, and of the half that products read
//
// The bound of these errors follows from evaluating the reference in f32, and from evaluating it
// with a small error in every result. In f64 nothing is rounded to a half.
#ifndef SHARDCC_TESTS_NETS_JUDGE_H
#define SHARDCC_TESTS_NETS_JUDGE_H

#include "generator/generator.h"
#include "ir/ir.h"
#include "ir/values/values.h"
#include "lower/lower.h"
#include "tests/nets/net.h"

// The target of the nets' programs is chosen when the test is linked: target_cpu.c or
// target_cuda.c.
typedef struct NetsTarget {
    const Target *target;
    // The command of a shell that compiles the program FILE.c, FILE a path without spaces, into the
    // shared library FILE.c.so. Its C compiler is $NETS_CC. The C flags are those of
    // generator/compile_c.c, without the level.
    const char *compile;
    // How a program of `seed` is carried out, if the device leaves that open; else NULL.
    void (*begin)(uint64_t seed);
} NetsTarget;
extern const NetsTarget nets_target;

// A net, and the options it is compiled with.
typedef struct Subject {
    Graph *train, *predict;  // the graphs before the passes, which change them
    const char *loss, *optimizer;
    const char *no_decay;  // a glob; NULL: none
    double clip;
    int accumulate;
    bool plain;
    bool on_ranks;
    int again;  // as in Recipe
    uint64_t numbers;
    DataKind data;    // as in Recipe
    DType precision;  // of products
    DType reduce;     // of gradients where ranks add them up; DT_NONE: f32
    int64_t classes;  // of the labels, for losses with class labels
} Subject;

typedef enum Ruling {
    RIGHT,
    NO_NET,         // the recipe makes no sense, or has nothing to train
    REFUSED,        // with an error message
    WRONG_PASSES,   // the graph after the passes isn't the net
    WRONG_CHECK,    // program_check found something
    WRONG_PROGRAM,  // the items compute something else
    WRONG_C,        // the compiled text computes something else
    CRASHED,
    N_OUTCOMES
} Ruling;

extern const char *const outcome_names[N_OUTCOMES];

typedef struct Verdict {
    Ruling outcome;
    int compared, skipped;  // gradients compared with differences; skipped because of kinks
    int classes;            // the program's loops
    bool stages;            // it is a chain of stages, which was judged too
    double seconds;         // processor time of the passes, of planning and of lowering
    char what[400];
} Verdict;

// Records the first failure. Returns false if the verdict was given already.
bool verdict_wrong(Verdict *v, Ruling o, const char *fmt, ...) PRINTF(3, 4);

// The processor time of this process, in seconds.
double processor_seconds(void);
void verdict_add(Verdict *v, const char *text);
void verdict_refused(Verdict *v, Ruling o, const Text *said);  // gives the first error of `said`
void verdict_check(Verdict *v, const Program *p);              // gives what program_check finds

// ---- numbers ----

// Draws the numbers of a value without producer from its name, the micro-batch and the element's
// index. If bound > 0, they are integers below it.
Tensor numbers_of(Arena *a, const Value *v, const Subject *s, int micro, int64_t bound);
// Changes the numbers of an input or a parameter as the kind says; `key` is the value's own.
void data_apply(DataKind kind, const Value *v, uint64_t key, Tensor *t);
// Does so for all values without producer, except constants and zeros; by ValueId.
Tensor *numbers_all(Arena *a, const Graph *g, const Subject *s, int micro);
Feed numbers_feed(const Subject *s);  // the same for each micro-batch

// ---- oracle ----

typedef struct Oracle {
    const Subject *s;
    Arena *arena;
    Graph *g;        // in f64
    Tensor **value;  // [micro-batch][ValueId of g]
    Tensor *target;  // [micro-batch]; the loss's targets
    Graph *predict;
    Tensor *predicted;  // by ValueId of predict
    Tensor roughly;     // the output plus its error in f32
    double sum, count;
} Oracle;

// Copies the net's graphs before the passes change them.
bool oracle_new(Arena *a, Oracle *o, const Subject *s, Diag *d);
// Evaluates the net. The passes renumber the nodes that draw random numbers, so the oracle takes
// over the numbers of `made`, the graph after the passes, matching nodes by their sources. Returns
// false if the loss is NaN or huge, or if f32 doesn't hold the output.
bool oracle_eval(Oracle *o, const Graph *made);
ValueId oracle_find(const Graph *g, const char *name);  // 0: no value has it
// The output "y" of a forward-only graph.
static inline ValueId prediction_of(const Graph *g)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (!strcmp(g->outputs[i].name, "y"))
            return g->outputs[i].value;
    return 0;
}
// The slope of the loss along `direction`, given for parameter v's elements. False at a kink.
bool oracle_slope(const Oracle *o, ValueId v, const double *direction, double *slope);
// Updates the parameter `name`, which is `p`, given its clipped gradient and its states by name.
bool oracle_update(const Subject *s, const char *name, const Tensor *p, const Tensor *grad,
                   const Tensor *state[2], double *to);

// ---- reference ----

typedef struct Reference {
    const Graph *g;         // after the passes
    int n_values;           // values of g before lowering adds some
    Tensor *start;          // [ValueId of g]: before the step
    Tensor *wide, *narrow;  // [ValueId of g]: after it, in f64; plus the error in f32
    double most;            // the norm of the largest gradient
    bool overflows;         // a half can't hold what leads to the gradients
} Reference;

bool reference_new(Arena *a, Reference *r, const Graph *g, const Subject *s, Diag *d);
// Does f32 hold the results of all products, so that none overflows, and f16, if that is the
// precision, what products read and make? `value` is by ValueId.
bool products_fit(const Graph *g, const Tensor *value, DType precision);
// The errors of a program of that precision.
Shake precision_shake(uint64_t seed, DType precision);
// Does f32 hold all values and tell losses apart? Where numbers are huge, it proves nothing.
bool reference_fits(const Reference *r, DType precision);
void judge_reference(const Reference *r, const Oracle *o, Verdict *v);

// ---- programs ----

// The numbers that a program left in its arena, by index of the reference's outputs and carries. A
// tensor is empty where the numbers are not known.
typedef struct Result {
    Tensor *output, *carried;
} Result;

void judge_result(const Reference *r, const Result *x, Ruling o, Verdict *v);
// Runs the items of the training set. Gradients are read where GRADIENT items show them.
Result run_items_of(Arena *a, const Program *p, const Reference *r, const Subject *s);
// Runs the items of the forward-only set; returns output "y".
Tensor predict_items(Arena *a, const Program *p, const Subject *s);
void judge_prediction(const Oracle *o, const Tensor *y, Ruling outcome, Verdict *v);

struct RtModel;
Result run_model(Arena *a, const struct RtModel *m, const Program *p, const Reference *r,
                 const Subject *s);
Tensor predict_model(Arena *a, const struct RtModel *m, const Program *p, const Subject *s);

// ---- stages that run again ----

// As ChainChoice.choose; `seed` is a uint64_t.
int choose_random_runs(Arena *a, void *seed, const ProgramChain *chain, StageRun **run);

// ---- all of it ----

// Runs the passes; `checks`: checks after each that it changed no value.
bool run_passes(Graph *g, const Subject *s, bool is_split, bool checks, Diag *d);

// Judges a net in this process. `texts` (may be NULL) receives the texts of its program, with a
// function the_model that returns its RtModel. `model` (may be NULL) is that of the compiled
// program.
typedef struct Task {
    ProgramTexts *texts;
    const struct RtModel *model;
    bool is_fast;  // skips the oracle, which has judged the net before
    int ranks;     // 0: one rank; else judges programs of 2 to `ranks` ranks
} Task;

void judge(const Subject *s, const Task *t, Verdict *v);
// Judges the net on 2 to `t->ranks` ranks: by a random plan, by the search's plan, and by presets.
// If it is compiled, by one of them.
void judge_ranks(Arena *a, const Subject *s, const Task *t, Verdict *v);
// Writes a program's texts. `transport`: between its ranks; NULL: it has one.
void net_texts(const Program *p, const char *transport, ProgramTexts *to);

#endif
