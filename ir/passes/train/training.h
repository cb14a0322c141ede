// The texts of --loss and --optimizer, and the parameters with their gradients, for the passes that
// make a training graph.
#ifndef SHARDCC_IR_TRAINING_H
#define SHARDCC_IR_TRAINING_H

#include "ir/internal.h"

// ---- option texts ----
enum { MAX_OPTIONS = 8, MAX_ARGUMENTS = 4 };

typedef enum OptionKind {
    OPTION_INTEGER,
    OPTION_FLAG,
    OPTION_AMOUNT,  // at least 0
    OPTION_SHARE,   // 0 to 1
    OPTION_DECAY,   // 0 to below 1
} OptionKind;

typedef struct OptionDef {
    const char *name;  // NULL ends a list of fewer than MAX_OPTIONS
    OptionKind kind;
    double missing;  // the default
} OptionDef;

// name(argument, …, key=value, …); arguments may be in double quotes.
typedef struct Call {
    const char *flag;  // "--loss"
    const char *name;
    bool is_plain;  // without parentheses
    int n_args, n_options;
    const char *arg[MAX_ARGUMENTS], *key[MAX_OPTIONS], *text[MAX_OPTIONS];
} Call;

// False after an error if `text` isn't of that form.
bool call_parse(Arena *a, const char *flag, const char *text, Call *c, Diag *d);
// Sets one value per option of `def`. False after an error: a key is unknown or given twice, or a
// value is not of the option's kind.
bool call_options(const Call *c, const OptionDef *def, double *value, Diag *d);
// Reports that the call's name is none of `names`; false.
bool call_unknown(const Call *c, const char *what, const char *const *names, int n, Diag *d);

// ---- parameters that are trained ----
typedef struct Trained {
    ValueId parameter, gradient;
    bool decays;  // --no-decay doesn't name it
    int order;    // index of the gradient in the graph's outputs
    // The label of nodes made for it: its block if all iterations of the class get such nodes.
    Block block;
} Trained;

// Sets *list to all parameters that have a gradient, sorted by class, iteration and position, and
// returns their number. The labels are for nodes that are the same for all parameters.
// trained_by_decay sets `decays`, and labels for nodes that differ with it.
int trained_list(Graph *g, Trained **list);
void trained_by_decay(Graph *g, const OptimizerOptions *o, Trained *list, int n, Diag *d);

// The factor of every gradient, f32[]; 0 if there is no clipping.
ValueId clip_scale(Graph *g, const OptimizerOptions *o);

// ---- the loss's scale ----
// Are all gradients finite, bool[]? 0: the loss isn't scaled, and no step is skipped.
ValueId all_finite(Graph *g);
// Adds the scale of the next step. `text`: OptimizerOptions.loss_scale. False after an error.
bool loss_scale_update(Graph *g, const char *text, ValueId is_finite, Diag *d);

ValueId reduce_all(Graph *g, ValueId x);  // the sum over all dims
// The hyper value of that name, appended if there is none; the trainer sets it before each step.
ValueId hyper_value(Graph *g, const char *name, double fill);
ValueId value_named(const Graph *g, const char *name);  // the first one; 0: there is none
// A new state of one element, which belongs to no parameter. Its name ends with _ if a value has
// the name.
ValueId state_scalar(Graph *g, const char *name, DType t, double fill);

#endif
