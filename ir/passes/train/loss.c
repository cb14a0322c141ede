// Adds the loss: reads the user's text, finds or makes the tensors that it names, and adds the sum
// of losses and its divisor as outputs. The formulas are those of torch.nn.functional.
#include <string.h>

#include "ir/passes/train/training.h"

static ValueId value_by_name(const Graph *g, const char *name)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_MODEL && strcmp(g->outputs[i].name, name) == 0)
            return g->outputs[i].value;
    return value_named(g, name);
}

// Adds a note with the names of values: outputs first, then the last nodes' values.
static void list_values(const Graph *g, Diag *d)
{
    int left = 12;

    for (int i = 0; i < g->n_outputs && left; i++)
        if (g->outputs[i].role == OUTPUT_MODEL) {
            diag_note(d, "output  %s %s", g->outputs[i].name,
                      type_text(g->arena, &g->values[g->outputs[i].value]));
            left--;
        }
    for (ValueId v = g->n_values - 1; v > 0 && left; v--) {
        const Value *x = &g->values[v];

        if (x->name && (x->kind == VALUE_ACTIVATION || x->kind == VALUE_INPUT)) {
            diag_note(d, "value  %s %s", x->name, type_text(g->arena, x));
            left--;
        }
    }
}

static ValueId no_such_value(const Graph *g, const char *name, Diag *d)
{
    const char **names = arena_array(g->arena, const char *, g->n_outputs + g->n_values);
    int n = 0;

    for (int i = 0; i < g->n_outputs; i++)
        names[n++] = g->outputs[i].name;
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name)
            names[n++] = g->values[v].name;
    const char *suggestion = nearest_name(name, names, n);
    if (suggestion)
        diag_error(d, "--loss: the model has no value '%s' (did you mean '%s'?)", name, suggestion);
    else
        diag_error(d, "--loss: the model has no value '%s'", name);
    list_values(g, d);
    return 0;
}

// ---- formulas: each gives the loss of every label or element ----

typedef struct Loss {
    Graph *g;
    const double *option;
    ValueId x, target;  // floats of one dtype; cross_entropy: target of integers
    ValueId each;       // the loss of every label or element
    ValueId counted;    // BOOL of the same shape: does the label or element count? 0: all do
} Loss;

enum { IGNORE_INDEX, LABEL_SMOOTHING };

static void cross_entropy(Loss *l)
{
    Graph *g = l->g;
    int64_t axis[] = {value_of(g, l->x)->rank - 1};
    int last = (int)axis[0];
    double smooth = l->option[LABEL_SMOOTHING];

    ValueId z = make_less_max(g, l->x, 1, axis);
    ValueId total = make_log(g, make_reduce_sum(g, make_exp(g, z), 1, axis));
    ValueId each = make_sub(g, total, make_pick(g, z, l->target, last));
    if (smooth > 0) {
        ValueId even = make_sub(g, total, make_mean(g, z, 1, axis));

        even = make_mul(g, even, scalar_like(g, even, smooth));
        each = make_add(g, make_mul(g, each, scalar_like(g, each, 1 - smooth)), even);
    }
    ValueId ignored = scalar_like(g, l->target, l->option[IGNORE_INDEX]);
    l->counted = make_not(g, make_eq(g, l->target, ignored));
    l->each = make_select(g, l->counted, each, scalar_like(g, each, 0));
}

static void mse(Loss *l) { l->each = make_square(l->g, make_sub(l->g, l->x, l->target)); }

static void l1(Loss *l) { l->each = make_abs(l->g, make_sub(l->g, l->x, l->target)); }

// max(x, 0) - x t + log(1 + exp(-|x|)). The maximum is written (x + |x|) / 2, whose gradient at 0,
// where untrained models start, is 1/2, as it must be.
static void bce_with_logits(Loss *l)
{
    Graph *g = l->g;
    ValueId x = l->x, size = make_abs(g, x);
    ValueId above = make_mul(g, make_add(g, x, size), scalar_like(g, x, 0.5));
    ValueId log_term = make_log1p(g, make_exp(g, make_neg(g, size)));

    l->each = make_add(g, make_sub(g, above, make_mul(g, x, l->target)), log_term);
}

typedef struct LossDef {
    const char *name, *form;
    bool takes_labels;  // the target has class numbers; else floats of x's dtype
    OptionDef options[MAX_OPTIONS];
    void (*add)(Loss *l);
} LossDef;

static const LossDef losses[] = {
    {"cross_entropy",
     "cross_entropy(x, labels)",
     true,
     {{"ignore_index", OPTION_INTEGER, -100}, {"label_smoothing", OPTION_SHARE, 0}},
     cross_entropy},
    {"mse", "mse(x, target)", false, {{NULL}}, mse},
    {"l1", "l1(x, target)", false, {{NULL}}, l1},
    {"bce_with_logits", "bce_with_logits(x, target)", false, {{NULL}}, bce_with_logits},
};

static const LossDef *loss_find(const char *name)
{
    for (int i = 0; i < COUNT(losses); i++)
        if (strcmp(losses[i].name, name) == 0)
            return &losses[i];
    return NULL;
}

static ValueId as_text_says(Graph *g, const char *name, Diag *d)
{
    ValueId v = value_by_name(g, name);

    return v ? v : no_such_value(g, name, d);
}

// The second argument: a value of the model, whose dims are checked, or a new input of that name.
static ValueId find_target(Graph *g, const LossDef *def, const char *name, const Value *x, Diag *d)
{
    ValueId v = value_by_name(g, name);
    int rank = x->rank - def->takes_labels;
    Value wanted = {.dtype = def->takes_labels ? I64 : F32, .rank = rank};

    memcpy(wanted.dim, x->dim, sizeof wanted.dim);
    if (!v)
        return graph_value(g, VALUE_INPUT, arena_copy(g->arena, name, strlen(name)), wanted.dtype,
                           rank, wanted.dim);
    const Value *t = value_of(g, v);
    bool right_type = def->takes_labels ? dtype_is_int(t->dtype) : dtype_is_float(t->dtype);
    if (right_type && same_shape(t, &wanted))
        return v;
    diag_error(d, "--loss: '%s' is %s, not %s", name, type_text(g->arena, t),
               type_text(g->arena, &wanted));
    return 0;
}

// 0, or 1 + the row-major index of the first label that is neither a class number nor ignored.
static ValueId bad_label(const Loss *l, int64_t classes)
{
    Graph *g = l->g;
    Value labels = *value_of(g, l->target);
    int64_t step = 1, end = value_count(&labels) + 1, all_axes[MAX_RANK];
    ValueId position = scalar_like(g, l->target, 1);

    for (int i = labels.rank - 1; i >= 0; i--) {
        ValueId index = make_iota(g, labels.dtype, labels.rank, labels.dim, i);

        position = make_add(g, position, make_mul(g, index, scalar_like(g, index, (double)step)));
        step *= labels.dim[i];
        all_axes[i] = i;
    }
    ValueId low = make_lt(g, l->target, scalar_like(g, l->target, 0));
    ValueId high = make_le(g, scalar_like(g, l->target, (double)classes), l->target);
    ValueId bad = make_and(g, l->counted, make_or(g, low, high));
    // A good label has position `end`, larger than all others; the remainder makes it 0.
    ValueId none = scalar_like(g, l->target, (double)end);
    ValueId first = make_reduce_min(g, make_select(g, bad, position, none), labels.rank, all_axes);
    return make_mod(g, first, graph_scalar(g, labels.dtype, (double)end));
}

static bool add_outputs(Graph *g, ValueId sum, ValueId count)
{
    sum = make_cast(g, sum, F32);
    count = make_cast(g, count, F32);
    if (!sum || !count)
        return false;
    graph_output(g, "loss", sum, OUTPUT_LOSS_SUM);
    graph_output(g, "count", count, OUTPUT_LOSS_COUNT);
    return true;
}

static bool add_scalar_loss(Graph *g, const char *name, Diag *d)
{
    ValueId v = as_text_says(g, name, d);

    if (!v)
        return false;
    const Value *x = value_of(g, v);
    if (!dtype_is_float(x->dtype) || value_count(x) != 1) {
        diag_error(d, "--loss: '%s' is %s, not one number", name, type_text(g->arena, x));
        return false;
    }
    g->source = graph_source(g, "loss", "");
    if (x->rank)
        v = make_reshape(g, v, 0, NULL);
    return add_outputs(g, v, graph_scalar(g, F32, 1));
}

static bool add_loss(Graph *g, const LossDef *def, const Call *c, const double *option, Diag *d)
{
    ValueId v = as_text_says(g, c->arg[0], d);

    if (!v)
        return false;
    Value x = *value_of(g, v);
    if (!dtype_is_float(x.dtype) || x.rank < (def->takes_labels ? 2 : 0)) {
        diag_error(d, "--loss: '%s' is %s, not floats%s", c->arg[0], type_text(g->arena, &x),
                   def->takes_labels ? " of rank 2 or more" : "");
        return false;
    }
    if (!value_count(&x)) {
        diag_error(d, "--loss: '%s' is %s, which has no elements", c->arg[0],
                   type_text(g->arena, &x));
        return false;
    }
    ValueId target = find_target(g, def, c->arg[1], &x, d);
    if (target == v)
        diag_error(d, "--loss: '%s' and '%s' are one value: %s compares two", c->arg[0], c->arg[1],
                   def->name);
    if (!target || target == v)
        return false;
    DType t = x.dtype == F64 ? F64 : F32;
    g->source = graph_source(g, def->name, "");
    Loss l = {.g = g, .option = option, .x = make_cast(g, v, t)};
    value_edit(g, target)->is_labels = value_of(g, target)->kind == VALUE_INPUT;
    l.target = make_cast(g, target, def->takes_labels ? I64 : t);
    def->add(&l);
    ValueId sum = reduce_all(g, l.each);
    ValueId count = l.counted ? reduce_all(g, make_cast(g, l.counted, F32))
                              : graph_scalar(g, F32, (double)value_count(&x));
    if (!add_outputs(g, sum, count))
        return false;
    if (l.counted) {
        graph_output(g, "bad_label", bad_label(&l, x.dim[x.rank - 1]), OUTPUT_BAD_LABEL);
        g->outputs[g->n_outputs - 1].ignored = (int64_t)option[IGNORE_INDEX];
    }
    return true;
}

static bool read_text(Arena *a, const char *text, Call *c, const LossDef **def, double *option,
                      Diag *d)
{
    const char *names[COUNT(losses)];

    if (!call_parse(a, "--loss", text, c, d))
        return false;
    *def = loss_find(c->name);
    if (c->is_plain && !*def)
        return true;
    for (int i = 0; i < COUNT(losses); i++)
        names[i] = losses[i].name;
    if (!*def)
        return call_unknown(c, "loss", names, COUNT(losses), d);
    if (!call_options(c, (*def)->options, option, d))
        return false;
    if (c->n_args != 2) {
        diag_error(d, "--loss: %s takes two tensors: %s", c->name, (*def)->form);
        return false;
    }
    return true;
}

bool loss_check(const char *text, Diag *d)
{
    Arena *a = arena_new();
    double option[MAX_OPTIONS];
    const LossDef *def;
    Call c;
    bool ok = read_text(a, text, &c, &def, option, d);

    arena_free(a);
    return ok;
}

bool loss_add(Graph *g, const char *text, Diag *d)
{
    double option[MAX_OPTIONS];
    const LossDef *def;
    Call c;

    g->diag = d;
    g->phase = FORWARD;
    g->block = (Block){0};
    g->source = NULL;
    if (value_by_name(g, text))  // the text may be a value's name that has parentheses
        return add_scalar_loss(g, text, d);
    if (!read_text(g->arena, text, &c, &def, option, d))
        return false;
    return def ? add_loss(g, def, &c, option, d) : add_scalar_loss(g, c.name, d);
}
