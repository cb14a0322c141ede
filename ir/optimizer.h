// An optimizer: one file of ir/optimizers/ each, that exports one const OptimizerDef;
// optimizers.def lists them. Its update is a composition of primitive operators.
#ifndef SHARDCC_IR_OPTIMIZER_H
#define SHARDCC_IR_OPTIMIZER_H

#include "ir/training.h"

enum { MAX_STATES = 2, MAX_SCALARS = 12 };

typedef struct StateDef {
    const char *name;  // PARAMETER.name
    double fill;
} StateDef;

typedef struct OptimizerDef OptimizerDef;

typedef struct Optimizer {
    Graph *g;
    const OptimizerDef *def;
    double option[MAX_OPTIONS];
    ValueId scalar[MAX_SCALARS];  // f32[], made by prepare once for all parameters
} Optimizer;

// One parameter's update, in f32 (f64 for parameters of f64).
typedef struct Update {
    ValueId p, grad, state[MAX_STATES];
    ValueId next[MAX_STATES];  // set by update: the states' new values
    bool decays;
} Update;

struct OptimizerDef {
    const char *name;
    OptionDef options[MAX_OPTIONS];
    // Do the options go together? Reports it if not. NULL: they always do.
    bool (*check)(const double *option, Diag *d);
    // Sets `s` (MAX_STATES of them) and returns how many states a parameter has.
    int (*states)(const Optimizer *o, StateDef *s);
    void (*prepare)(Optimizer *o);
    ValueId (*update)(const Optimizer *o, Update *u);  // the parameter's new value
};

#define OPTIMIZER(name) extern const OptimizerDef optimizer_##name;
#include "ir/optimizers.def"
#undef OPTIMIZER

// An option as a scalar that the trainer sets, f32[].
ValueId optimizer_hyper(const Optimizer *o, int option);
// 1 - beta^step for an option beta, f64[]: beta^step is so near to 1 at first that f32 would leave
// few digits.
ValueId optimizer_correction(const Optimizer *o, int option);
// A scalar times / over all elements of x.
ValueId scaled(Graph *g, ValueId x, ValueId scalar);
ValueId shifted(Graph *g, ValueId x, ValueId scalar);

#endif
