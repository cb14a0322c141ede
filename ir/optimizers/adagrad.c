// adagrad: torch.optim.Adagrad (Duchi, Hazan and Singer 2011).
#include "ir/passes/train/optimizer.h"

enum { LR, LR_DECAY, WEIGHT_DECAY, INITIAL, EPS };  // options
enum { SUM };                                       // states
enum { STEP, SMALL, DECAY };                        // scalars

static int adagrad_states(const Optimizer *o, StateDef *s)
{
    s[SUM] = (StateDef){"sum", o->option[INITIAL]};
    return 1;
}

// The learning rate of step t is lr / (1 + (t - 1) lr_decay).
static void adagrad_prepare(Optimizer *o)
{
    Graph *g = o->g;
    ValueId one = graph_scalar(g, F32, 1);
    ValueId before = make_sub(g, optimizer_step(o, F32), one);
    ValueId slow = make_add(g, one, make_mul(g, before, optimizer_hyper(o, LR_DECAY)));

    o->scalar[STEP] = make_neg(g, make_div(g, optimizer_hyper(o, LR), slow));
    o->scalar[SMALL] = optimizer_hyper(o, EPS);
    o->scalar[DECAY] = optimizer_hyper(o, WEIGHT_DECAY);
}

// sum += g²; p -= step · g / (√sum + eps).
static ValueId adagrad_update(const Optimizer *o, Update *u)
{
    Graph *g = o->g;
    ValueId grad = u->grad;

    if (u->decays)
        grad = make_add(g, grad, scaled(g, u->p, o->scalar[DECAY]));
    u->next[SUM] = make_add(g, u->state[SUM], make_square(g, grad));
    ValueId root = shifted(g, make_sqrt(g, u->next[SUM]), o->scalar[SMALL]);
    return make_add(g, u->p, scaled(g, make_div(g, grad, root), o->scalar[STEP]));
}

const OptimizerDef optimizer_adagrad = {
    .name = "adagrad",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-2},
                [LR_DECAY] = {"lr_decay", OPTION_AMOUNT, 0},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0},
                [INITIAL] = {"initial_accumulator_value", OPTION_AMOUNT, 0},
                [EPS] = {"eps", OPTION_AMOUNT, 1e-10}},
    .states = adagrad_states,
    .prepare = adagrad_prepare,
    .update = adagrad_update,
};
