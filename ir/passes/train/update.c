// The parts of which optimizers make their updates.
#include "ir/passes/train/optimizer.h"

ValueId optimizer_hyper(const Optimizer *o, int option)
{
    return hyper_value(o->g, o->def->options[option].name, o->option[option]);
}

ValueId optimizer_step(Optimizer *o, DType t)
{
    Graph *g = o->g;

    if (!o->is_finite)
        return make_cast(g, hyper_value(g, "step", 1), t);
    if (!o->count) {
        ValueId before = state_scalar(g, "optimizer_step", F64, 0);
        o->count = make_add(g, before, graph_scalar(g, F64, 1));
        graph_carry(g, before, make_select(g, o->is_finite, o->count, before), SCOPE_STEP);
    }
    return make_cast(g, o->count, t);
}

ValueId optimizer_correction(Optimizer *o, int option)
{
    Graph *g = o->g;
    ValueId beta = make_cast(g, optimizer_hyper(o, option), F64);
    ValueId power = make_pow(g, beta, optimizer_step(o, F64));

    return make_sub(g, graph_scalar(g, F64, 1), power);
}

static ValueId spread(Graph *g, ValueId scalar, ValueId x)
{
    return broadcast_like(g, make_cast(g, scalar, value_of(g, x)->dtype), x);
}

ValueId scaled(Graph *g, ValueId x, ValueId scalar) { return make_mul(g, x, spread(g, scalar, x)); }

ValueId shifted(Graph *g, ValueId x, ValueId scalar)
{
    return make_add(g, x, spread(g, scalar, x));
}
