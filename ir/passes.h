// The passes over graphs; ir.h includes this.
#ifndef SHARDCC_IR_PASSES_H
#define SHARDCC_IR_PASSES_H

#include "base/base.h"

typedef struct Graph Graph;

// ---- in this order ----

bool fold(Graph *g, Diag *d);           // evaluates constants, merges equal nodes, drops no-ops
bool indices_check(Graph *g, Diag *d);  // adds OUTPUT_BAD_INDEX where an index may be out of range
// Puts the lowest number of f32 where masks have that of f16. is_f16, by ValueId: the value has
// numbers of f16 in f32.
bool half_masks_read(Graph *g, const bool *is_f16, Diag *d);
// Puts -inf where exporters mask the scores of guarded softmaxes by the lowest number.
bool guards_read(Graph *g, Diag *d);
bool patterns(Graph *g, Diag *d);  // puts attention, norms and rotary embeddings in one form each
bool guards(Graph *g, Diag *d);    // gives 0 for rows of a guarded softmax that aren't numbers
bool means(Graph *g, Diag *d);     // makes means exact where elements are equal
bool refine(Graph *g, Diag *d);    // gives values their atoms for dims, so that reshapes disappear
bool simplify(Graph *g, Diag *d);  // folds again, and drops reductions over one element

// Half precision, for --precision: products read halves, and every rounding is a cast.
typedef struct PrecisionOptions {
    int type;                 // DType; of no half: the pass does nothing
    const char *const *keep;  // globs of modules and parameters whose products stay in f32
    int n_keep;
    bool tells;  // warns of globs that name nothing
} PrecisionOptions;

bool precision(Graph *g, const PrecisionOptions *o, Diag *d);

// How many products there are, and how many of them are narrow: they read halves of that DType. It
// is DT_NONE if none does.
typedef struct Precision {
    int half, narrow, products;
} Precision;

Precision precision_of(const Graph *g);
bool blocks(Graph *g, Diag *d);  // labels repeated blocks

// Adds the loss as OUTPUT_LOSS_SUM and OUTPUT_LOSS_COUNT (and OUTPUT_BAD_LABEL). `text` is the
// user's: "cross_entropy(logits, labels)".
bool loss_add(Graph *g, const char *text, Diag *d);
// Is the text right for some model: are its name, options and values known?
bool loss_check(const char *text, Diag *d);
bool optimizer_check(const char *text, Diag *d);

// Checks that the loss may be summed over micro-batches, and scales it so that the sum is the loss
// of the batch. Where its divisor follows from a sum over samples, that becomes OUTPUT_LOSS_COUNT,
// and OUTPUT_LOSS_FACTOR is added. `whole` is the same graph with the batch in one piece; NULL:
// there is none. Reports a loss that reads several samples otherwise, and returns false.
bool micro_batches(Graph *g, const Graph *whole, int accumulate, Diag *d);

// Adds the loss's scale of a training step, OUTPUT_LOSS_SCALE, before the gradients. `text` is the
// user's: "dynamic(init_scale=65536)", "1024" or "none".
bool loss_scale_add(Graph *g, const char *text, Diag *d);
bool loss_scale_check(const char *text, Diag *d);

// Adds the gradients of OUTPUT_LOSS_SUM / OUTPUT_LOSS_COUNT (each summed over `accumulate`
// micro-batches) with respect to every parameter, as OUTPUT_GRADIENT.
bool autodiff(Graph *g, int accumulate, Diag *d);

// Drops casts of halves that round or cast a value twice, and that round parameters' gradients.
bool casts(Graph *g, Diag *d);

// Rounds parameters' gradients to halves of that DType where ranks add them up, for --reduce.
bool reduce_add(Graph *g, int type, Diag *d);

typedef struct OptimizerOptions {
    const char *text;             // "adamw(lr=3e-4, weight_decay=0.1)"
    double clip_norm;             // 0: no clipping
    const char *loss_scale;       // as loss_scale_add was given it; NULL: its defaults
    const char *const *no_decay;  // globs of parameters without weight decay
    int n_no_decay;
} OptimizerOptions;

bool clip_add(Graph *g, Diag *d);                                  // OUTPUT_GRAD_NORM
bool optimizer_add(Graph *g, const OptimizerOptions *o, Diag *d);  // update nodes and carries
// Drops the model's own outputs, because a training step returns only the loss, and the nodes that
// only they need.
void outputs_drop(Graph *g);
// Drops the inputs that no node reads and that are no output. Of a graph of the whole model, which
// `tells` says, names them in a warning.
void inputs_drop_unread(Graph *g, bool tells, Diag *d);
// Turns product + scatter into a scatter onto the product, so that the gradient of a tied table is
// not the sum of two tables. Only for one rank: it has fewer possible splits.
bool scatter_onto(Graph *g, Diag *d);

#endif
