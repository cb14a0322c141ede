// sign_sgd: steps of one length in the direction of the gradient's sign (Bernstein et al. 2018).
#include "ir/passes/train/optimizer.h"

enum { LR };  // options

static int sign_sgd_states(const Optimizer *o, StateDef *s) { return 0; }

static void sign_sgd_prepare(Optimizer *o) { o->scalar[LR] = optimizer_hyper(o, LR); }

static ValueId sign_sgd_update(const Optimizer *o, Update *u)
{
    return make_sub(o->g, u->p, scaled(o->g, make_sign(o->g, u->grad), o->scalar[LR]));
}

const OptimizerDef optimizer_sign_sgd = {
    .name = "sign_sgd",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-3}},
    .states = sign_sgd_states,
    .prepare = sign_sgd_prepare,
    .update = sign_sgd_update,
};
