// What the passes that make a training graph share: the texts of --loss and --optimizer, and the
// parameters with their gradients.
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
    double missing;  // what it is if it isn't given
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
// Sets one value per option of `def`. False after an error: unknown, twice, not of its kind.
bool call_options(const Call *c, const OptionDef *def, double *value, Diag *d);
// Reports that the call's name is none of `names`; false.
bool call_unknown(const Call *c, const char *what, const char *const *names, int n, Diag *d);

// ---- parameters that are trained ----
typedef struct Trained {
    ValueId parameter, gradient;
    bool decays;  // --no-decay doesn't name it
    int order;    // among the graph's outputs
    // The label of nodes made for it: its block, if the same is made for all iterations of it.
    Block block;
} Trained;

// All parameters that have a gradient, by class, iteration and position. Labels are those of nodes
// that treat all of them alike; trained_by_decay: of nodes that tell those that decay from others.
int trained_list(Graph *g, Trained **list);
void trained_by_decay(Graph *g, const OptimizerOptions *o, Trained *list, int n, Diag *d);

// What every gradient is to be multiplied by, f32[]; 0 if there is no clipping.
ValueId clip_scale(Graph *g, const OptimizerOptions *o);

// Reduces all dims.
ValueId reduce_all(Graph *g, ValueId x);
// A scalar that the trainer sets before each step; the one of that name if there is one.
ValueId hyper_value(Graph *g, const char *name, double fill);

#endif
