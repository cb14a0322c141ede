// The parts of which optimizers make their updates.
#include "ir/passes/train/optimizer.h"

ValueId optimizer_hyper(const Optimizer *o, int option)
{
    return hyper_value(o->g, o->def->options[option].name, o->option[option]);
}

ValueId optimizer_correction(const Optimizer *o, int option)
{
    Graph *g = o->g;
    ValueId beta = make_cast(g, optimizer_hyper(o, option), F64);
    ValueId step = make_cast(g, hyper_value(g, "step", 1), F64);

    ValueId power = make_pow(g, beta, step);

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
