// adam and adamw: torch.optim.Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019),
// without amsgrad. They differ in what weight decay acts on: the gradient or the parameter.
#include "ir/passes/train/optimizer.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY };            // options
enum { EXP_AVG, EXP_AVG_SQ };                            // states
enum { STEP, REST1, KEEP2, REST2, ROOT, SMALL, DECAY };  // scalars

static int adam_states(const Optimizer *o, StateDef *s)
{
    s[EXP_AVG] = (StateDef){"exp_avg", 0};
    s[EXP_AVG_SQ] = (StateDef){"exp_avg_sq", 0};
    return 2;
}

static ValueId one_less(Graph *g, ValueId x) { return make_sub(g, graph_scalar(g, F32, 1), x); }

static void adam_prepare(Optimizer *o)
{
    Graph *g = o->g;
    ValueId lr = optimizer_hyper(o, LR);
    ValueId correction = optimizer_correction(o, BETA1);
    ValueId step = make_div(g, make_cast(g, lr, F64), correction);
    ValueId root = make_sqrt(g, optimizer_correction(o, BETA2));

    o->scalar[STEP] = make_neg(g, make_cast(g, step, F32));
    o->scalar[REST1] = one_less(g, optimizer_hyper(o, BETA1));
    o->scalar[KEEP2] = optimizer_hyper(o, BETA2);
    o->scalar[REST2] = one_less(g, optimizer_hyper(o, BETA2));
    o->scalar[ROOT] = make_cast(g, make_reciprocal(g, root), F32);
    o->scalar[SMALL] = optimizer_hyper(o, EPS);
    o->scalar[DECAY] = optimizer_hyper(o, WEIGHT_DECAY);
}

static void adamw_prepare(Optimizer *o)
{
    adam_prepare(o);
    o->scalar[DECAY] = one_less(o->g, make_mul(o->g, optimizer_hyper(o, LR), o->scalar[DECAY]));
}

// m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g²;
// p -= lr / (1 - beta1^t) · m / (√v / √(1 - beta2^t) + eps).
static ValueId move(const Optimizer *o, Update *u, ValueId p, ValueId grad)
{
    Graph *g = o->g;
    ValueId change = make_sub(g, grad, u->state[EXP_AVG]);
    ValueId square = scaled(g, make_square(g, grad), o->scalar[REST2]);

    u->next[EXP_AVG] = make_add(g, u->state[EXP_AVG], scaled(g, change, o->scalar[REST1]));
    u->next[EXP_AVG_SQ] = make_add(g, scaled(g, u->state[EXP_AVG_SQ], o->scalar[KEEP2]), square);
    ValueId root = scaled(g, make_sqrt(g, u->next[EXP_AVG_SQ]), o->scalar[ROOT]);
    ValueId ratio = make_div(g, u->next[EXP_AVG], shifted(g, root, o->scalar[SMALL]));
    return make_add(g, p, scaled(g, ratio, o->scalar[STEP]));
}

static ValueId adam_update(const Optimizer *o, Update *u)
{
    ValueId grad = u->grad;

    if (u->decays)
        grad = make_add(o->g, grad, scaled(o->g, u->p, o->scalar[DECAY]));
    return move(o, u, u->p, grad);
}

static ValueId adamw_update(const Optimizer *o, Update *u)
{
    return move(o, u, u->decays ? scaled(o->g, u->p, o->scalar[DECAY]) : u->p, u->grad);
}

const OptimizerDef optimizer_adam = {
    .name = "adam",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-3},
                [BETA1] = {"beta1", OPTION_DECAY, 0.9},
                [BETA2] = {"beta2", OPTION_DECAY, 0.999},
                [EPS] = {"eps", OPTION_AMOUNT, 1e-8},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0}},
    .states = adam_states,
    .prepare = adam_prepare,
    .update = adam_update,
};

const OptimizerDef optimizer_adamw = {
    .name = "adamw",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-3},
                [BETA1] = {"beta1", OPTION_DECAY, 0.9},
                [BETA2] = {"beta2", OPTION_DECAY, 0.999},
                [EPS] = {"eps", OPTION_AMOUNT, 1e-8},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0.01}},
    .states = adam_states,
    .prepare = adamw_prepare,
    .update = adamw_update,
};
