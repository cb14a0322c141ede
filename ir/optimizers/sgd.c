// sgd: torch.optim.SGD without dampening.
#include "ir/passes/train/optimizer.h"

enum { LR, MOMENTUM, NESTEROV, WEIGHT_DECAY };  // options
enum { BUFFER };                                // states

static bool sgd_check(const double *option, Diag *d)
{
    if (option[NESTEROV] == 0 || option[MOMENTUM] > 0)
        return true;
    diag_error(d, "--optimizer: sgd with nesterov=true needs a momentum above 0");
    return false;
}

static int sgd_states(const Optimizer *o, StateDef *s)
{
    s[BUFFER] = (StateDef){"momentum_buffer", 0};
    return o->option[MOMENTUM] > 0;
}

static void sgd_prepare(Optimizer *o)
{
    o->scalar[LR] = make_neg(o->g, optimizer_hyper(o, LR));
    o->scalar[WEIGHT_DECAY] = optimizer_hyper(o, WEIGHT_DECAY);
    if (o->option[MOMENTUM] > 0)
        o->scalar[MOMENTUM] = optimizer_hyper(o, MOMENTUM);
}

// buffer = momentum buffer + g; p -= lr buffer, or lr (g + momentum buffer) where nesterov.
static ValueId sgd_update(const Optimizer *o, Update *u)
{
    Graph *g = o->g;
    ValueId step = u->grad, momentum = o->scalar[MOMENTUM];

    if (u->decays)
        step = make_add(g, step, scaled(g, u->p, o->scalar[WEIGHT_DECAY]));
    if (momentum) {
        u->next[BUFFER] = make_add(g, scaled(g, u->state[BUFFER], momentum), step);
        step = o->option[NESTEROV] ? make_add(g, step, scaled(g, u->next[BUFFER], momentum))
                                   : u->next[BUFFER];
    }
    return make_add(g, u->p, scaled(g, step, o->scalar[LR]));
}

const OptimizerDef optimizer_sgd = {
    .name = "sgd",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-3},
                [MOMENTUM] = {"momentum", OPTION_AMOUNT, 0},
                [NESTEROV] = {"nesterov", OPTION_FLAG, 0},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0}},
    .check = sgd_check,
    .states = sgd_states,
    .prepare = sgd_prepare,
    .update = sgd_update,
};
