// lamb: You et al. 2020, algorithm 2, with the identity for its φ. A parameter is one of its
// layers.
#include "ir/passes/train/optimizer.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY };                                          // options
enum { EXP_AVG, EXP_AVG_SQ };                                                          // states
enum { STEP, KEEP1, REST1, KEEP2, REST2, UNBIAS1, UNBIAS2, SMALL, DECAY, ZERO, ONE };  // scalars

static int lamb_states(const Optimizer *o, StateDef *s)
{
    s[EXP_AVG] = (StateDef){"exp_avg", 0};
    s[EXP_AVG_SQ] = (StateDef){"exp_avg_sq", 0};
    return 2;
}

static ValueId one_less(Graph *g, ValueId x) { return make_sub(g, graph_scalar(g, F32, 1), x); }

static void lamb_prepare(Optimizer *o)
{
    Graph *g = o->g;

    o->scalar[STEP] = make_neg(g, optimizer_hyper(o, LR));
    o->scalar[KEEP1] = optimizer_hyper(o, BETA1);
    o->scalar[REST1] = one_less(g, o->scalar[KEEP1]);
    o->scalar[KEEP2] = optimizer_hyper(o, BETA2);
    o->scalar[REST2] = one_less(g, o->scalar[KEEP2]);
    o->scalar[UNBIAS1] = make_cast(g, make_reciprocal(g, optimizer_correction(o, BETA1)), F32);
    o->scalar[UNBIAS2] = make_cast(g, make_reciprocal(g, optimizer_correction(o, BETA2)), F32);
    o->scalar[SMALL] = optimizer_hyper(o, EPS);
    o->scalar[DECAY] = optimizer_hyper(o, WEIGHT_DECAY);
    o->scalar[ZERO] = graph_scalar(g, F32, 0);
    o->scalar[ONE] = graph_scalar(g, F32, 1);
}

static ValueId average(Graph *g, ValueId old, ValueId x, ValueId keep, ValueId complement)
{
    ValueId new = scaled(g, x, complement);

    return make_add(g, scaled(g, old, keep), new);
}

static ValueId norm(Graph *g, ValueId x) { return make_sqrt(g, reduce_all(g, make_square(g, x))); }

// The trust ratio ‖p‖ / ‖r‖; 1 if either norm is 0, so that parameters of zeros can change.
static ValueId trust(const Optimizer *o, ValueId p, ValueId r)
{
    Graph *g = o->g;
    ValueId a = norm(g, p), b = norm(g, r);
    DType t = value_of(g, p)->dtype;
    ValueId zero = make_cast(g, o->scalar[ZERO], t), one = make_cast(g, o->scalar[ONE], t);
    ValueId has_b = make_lt(g, zero, b), has_both = make_and(g, make_lt(g, zero, a), has_b);

    return make_select(g, has_both, make_div(g, a, b), one);
}

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g²; r = m̂ / (√v̂ + eps) + weight_decay p;
// p -= lr ‖p‖ / ‖r‖ · r.
static ValueId lamb_update(const Optimizer *o, Update *u)
{
    Graph *g = o->g;
    const ValueId *s = o->scalar;

    u->next[EXP_AVG] = average(g, u->state[EXP_AVG], u->grad, s[KEEP1], s[REST1]);
    u->next[EXP_AVG_SQ] =
        average(g, u->state[EXP_AVG_SQ], make_square(g, u->grad), s[KEEP2], s[REST2]);
    ValueId m = scaled(g, u->next[EXP_AVG], s[UNBIAS1]);
    ValueId v = scaled(g, u->next[EXP_AVG_SQ], s[UNBIAS2]);
    ValueId r = make_div(g, m, shifted(g, make_sqrt(g, v), s[SMALL]));
    if (u->decays)
        r = make_add(g, r, scaled(g, u->p, s[DECAY]));
    ValueId step = make_cast(g, s[STEP], value_of(g, u->p)->dtype);
    step = make_mul(g, trust(o, u->p, r), step);
    return make_add(g, u->p, scaled(g, r, step));
}

const OptimizerDef optimizer_lamb = {
    .name = "lamb",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-3},
                [BETA1] = {"beta1", OPTION_DECAY, 0.9},
                [BETA2] = {"beta2", OPTION_DECAY, 0.999},
                [EPS] = {"eps", OPTION_AMOUNT, 1e-6},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0.01}},
    .states = lamb_states,
    .prepare = lamb_prepare,
    .update = lamb_update,
};
