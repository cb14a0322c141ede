// rmsprop: torch.optim.RMSprop (Tieleman and Hinton 2012; centered: Graves 2013).
#include "ir/passes/train/optimizer.h"

enum { LR, ALPHA, EPS, WEIGHT_DECAY, MOMENTUM, CENTERED };  // options
enum { STEP, KEEP, ADD, SMALL, DECAY, FRICTION };           // scalars

// The indices of the states. A parameter has only the states that the options need.
enum { SQUARES };
static int momentum_state(const Optimizer *o) { return 1; }
static int mean_state(const Optimizer *o) { return o->option[MOMENTUM] > 0 ? 2 : 1; }

static int rmsprop_states(const Optimizer *o, StateDef *s)
{
    int n = 1;

    s[SQUARES] = (StateDef){"square_avg", 0};
    if (o->option[MOMENTUM] > 0)
        s[n++] = (StateDef){"momentum_buffer", 0};
    if (o->option[CENTERED])
        s[n++] = (StateDef){"grad_avg", 0};
    return n;
}

static void rmsprop_prepare(Optimizer *o)
{
    Graph *g = o->g;

    o->scalar[STEP] = make_neg(g, optimizer_hyper(o, LR));
    o->scalar[KEEP] = optimizer_hyper(o, ALPHA);
    o->scalar[ADD] = make_sub(g, graph_scalar(g, F32, 1), o->scalar[KEEP]);
    o->scalar[SMALL] = optimizer_hyper(o, EPS);
    o->scalar[DECAY] = optimizer_hyper(o, WEIGHT_DECAY);
    if (o->option[MOMENTUM] > 0)
        o->scalar[FRICTION] = optimizer_hyper(o, MOMENTUM);
}

// average = α average + (1 - α) x
static ValueId averaged(const Optimizer *o, ValueId average, ValueId x)
{
    Graph *g = o->g;

    return make_add(g, scaled(g, average, o->scalar[KEEP]), scaled(g, x, o->scalar[ADD]));
}

// s = average of g², centered: minus the square of the average of g; step = g / (√s + eps), or with
// momentum buffer = momentum buffer + step; p -= lr step.
static ValueId rmsprop_update(const Optimizer *o, Update *u)
{
    Graph *g = o->g;
    ValueId grad = u->grad, squares;

    if (u->decays)
        grad = make_add(g, grad, scaled(g, u->p, o->scalar[DECAY]));
    squares = u->next[SQUARES] = averaged(o, u->state[SQUARES], make_square(g, grad));
    if (o->option[CENTERED]) {
        int at = mean_state(o);
        u->next[at] = averaged(o, u->state[at], grad);
        squares = make_sub(g, squares, make_square(g, u->next[at]));
    }
    ValueId root = shifted(g, make_sqrt(g, squares), o->scalar[SMALL]);
    ValueId step = make_div(g, grad, root);
    if (o->option[MOMENTUM] > 0) {
        int at = momentum_state(o);
        step = make_add(g, scaled(g, u->state[at], o->scalar[FRICTION]), step);
        u->next[at] = step;
    }
    return make_add(g, u->p, scaled(g, step, o->scalar[STEP]));
}

const OptimizerDef optimizer_rmsprop = {
    .name = "rmsprop",
    .options = {[LR] = {"lr", OPTION_AMOUNT, 1e-2},
                [ALPHA] = {"alpha", OPTION_SHARE, 0.99},
                [EPS] = {"eps", OPTION_AMOUNT, 1e-8},
                [WEIGHT_DECAY] = {"weight_decay", OPTION_AMOUNT, 0},
                [MOMENTUM] = {"momentum", OPTION_AMOUNT, 0},
                [CENTERED] = {"centered", OPTION_FLAG, 0}},
    .states = rmsprop_states,
    .prepare = rmsprop_prepare,
    .update = rmsprop_update,
};
