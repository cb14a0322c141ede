// Optimizers: a file of ir/optimizers/ exports a const OptimizerDef; optimizers.def lists them. An
// optimizer's update is a composition of primitive operators.
#ifndef SHARDCC_IR_OPTIMIZER_H
#define SHARDCC_IR_OPTIMIZER_H

#include "ir/passes/train/training.h"

enum { MAX_STATES = 3, MAX_SCALARS = 12 };

typedef struct StateDef {
    const char *name;  // the state's value is called PARAMETER.name
    double fill;
} StateDef;

typedef struct OptimizerDef OptimizerDef;

typedef struct Optimizer {
    Graph *g;
    const OptimizerDef *def;
    double option[MAX_OPTIONS];
    ValueId scalar[MAX_SCALARS];  // f32[]; made once by OptimizerDef.prepare, for all parameters
    ValueId is_finite;            // all_finite; 0: no step is skipped
    ValueId count;                // f64[]: optimizer_step's, where steps may be skipped; or 0
} Optimizer;

// The update of one parameter, in f32 (f64 for parameters of f64).
typedef struct Update {
    ValueId p, grad, state[MAX_STATES];
    ValueId next[MAX_STATES];  // the states' new values; set by OptimizerDef.update
    bool decays;
} Update;

struct OptimizerDef {
    const char *name;
    OptionDef options[MAX_OPTIONS];
    // Do the options fit together? Reports it if not. NULL: they always do.
    bool (*check)(const double *option, Diag *d);
    // Sets `s`, at most MAX_STATES of them, and returns how many states a parameter has.
    int (*states)(const Optimizer *o, StateDef *s);
    void (*prepare)(Optimizer *o);
    ValueId (*update)(const Optimizer *o, Update *u);  // returns the parameter's new value
};

#define OPTIMIZER(name) extern const OptimizerDef optimizer_##name;
#include "ir/optimizers.def"
#undef OPTIMIZER

// The hyper value of an option, f32[], which the trainer sets.
ValueId optimizer_hyper(const Optimizer *o, int option);
// The number of this update, t[], from 1: the step's, or where steps may be skipped, a state's.
ValueId optimizer_step(Optimizer *o, DType t);
// 1 - beta^step for an option beta, f64[]. In the first steps beta^step is so close to 1 that f32
// would leave few digits.
ValueId optimizer_correction(Optimizer *o, int option);
// x · scalar and x + scalar, for all elements of x.
ValueId scaled(Graph *g, ValueId x, ValueId scalar);
ValueId shifted(Graph *g, ValueId x, ValueId scalar);

#endif
