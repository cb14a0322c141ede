// Names operands by what they are in any model, so that groups of different modules still have the
// same text.
#include <string.h>

#include "generator/group/operand_name.h"

// The ends of values' names that are kept. Other names of models are not trusted to be no words of
// C and no names of its library.
static const char *const known[] = {
    "weight",     "bias",         "running_mean", "running_var", "lr",
    "lr_decay",   "weight_decay", "beta1",        "beta2",       "exp_avg",
    "exp_avg_sq", "eps",          "step",         "momentum",    "alpha",
    "sum",        "grad_avg",     "square_avg",   "clip_norm",   "momentum_buffer",
};

static const char *known_name(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    const char *end = dot ? dot + 1 : name;

    for (int i = 0; end && i < COUNT(known); i++)
        if (!strcmp(end, known[i]))
            return known[i];
    return NULL;
}

static bool is_update(const Body *b)
{
    return b->g->s->g->nodes[b->it->nodes[b->it->n_nodes - 1]].phase == UPDATE;
}

// An optimizer's functions serve parameters of all names. A prediction reads a running mean where
// training reads that of the batch: they share functions.
static const char *input_name(const Body *b, ValueId v)
{
    const Value *x = value_of(b->g->s->g, v);

    if (x->producer || (x->kind == VALUE_BUFFER && b->g->set == SET_PREDICT))
        return NULL;
    return x->kind == VALUE_PARAMETER && is_update(b) ? "param" : known_name(x->name);
}

// A result that is carried to the next step is the next value of the one that it replaces.
static const char *output_name(const Body *b, ValueId v)
{
    const Graph *g = b->g->s->g;

    for (int i = 0; i < g->n_carries; i++) {
        const char *name = g->carries[i].out == v ? input_name(b, g->carries[i].in) : NULL;
        if (name)
            return arena_string(b->g->arena, "next_%s", name);
    }
    return NULL;
}

void name_operands(Body *b)
{
    const Item *it = b->it;

    b->name = arena_array(b->g->arena, const char *, it->n_in + it->n_out);
    for (int k = 0; k < it->n_in + it->n_out; k++) {
        bool is_in = k < it->n_in;
        ValueId v = it->operands[k].base;
        const char *name = is_in ? input_name(b, v) : output_name(b, it->operands[k].value);
        for (int i = 0; name && i < k; i++)
            if (!strcmp(b->name[i], name))
                name = NULL;
        b->name[k] =
            name ? name
                 : arena_string(b->g->arena, is_in ? "x%d" : "y%d", is_in ? k : k - it->n_in);
    }
}
