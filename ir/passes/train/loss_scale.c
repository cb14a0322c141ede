// Scales the loss, so that its gradients are numbers of f16, and skips the steps in which they
// aren't finite: as torch.amp.GradScaler does (Micikevicius et al. 2018, section 3.2).
#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/passes/train/training.h"

enum { INIT_SCALE, GROWTH_FACTOR, BACKOFF_FACTOR, GROWTH_INTERVAL };  // options

static const OptionDef options[MAX_OPTIONS] = {
    [INIT_SCALE] = {"init_scale", OPTION_AMOUNT, 65536},
    [GROWTH_FACTOR] = {"growth_factor", OPTION_AMOUNT, 2},
    [BACKOFF_FACTOR] = {"backoff_factor", OPTION_AMOUNT, 0.5},
    [GROWTH_INTERVAL] = {"growth_interval", OPTION_INTEGER, 2000},
};

typedef enum Scaling { NONE, FIXED, DYNAMIC } Scaling;

static bool is_scale(double x) { return x >= FLT_MIN && x <= FLT_MAX; }

static bool check_options(const double *o, Diag *d)
{
    if (!is_scale(o[INIT_SCALE]))
        diag_error(d, "--loss-scale: init_scale is not a positive number of f32");
    else if (!(o[GROWTH_FACTOR] >= 1))
        diag_error(d, "--loss-scale: growth_factor is below 1");
    else if (!(o[BACKOFF_FACTOR] > 0 && o[BACKOFF_FACTOR] <= 1))
        diag_error(d, "--loss-scale: backoff_factor is not above 0 and at most 1");
    else if (!(o[GROWTH_INTERVAL] >= 1))
        diag_error(d, "--loss-scale: growth_interval is below 1");
    else
        return true;
    return false;
}

// Sets the options; of a fixed scale INIT_SCALE alone. False after an error.
static bool read_text(Arena *a, const char *text, Scaling *kind, double *option, Diag *d)
{
    Call c;
    char *end;

    if (!call_parse(a, "--loss-scale", text, &c, d))
        return false;
    bool is_dynamic = !strcmp(c.name, "dynamic");
    *kind = is_dynamic ? DYNAMIC : c.is_plain && !strcmp(c.name, "none") ? NONE : FIXED;
    if (is_dynamic && c.n_args) {
        diag_error(d, "--loss-scale: '%s' is not of the form key=value", c.arg[0]);
        return false;
    }
    if (is_dynamic)
        return call_options(&c, options, option, d) && check_options(option, d);
    errno = 0;
    option[INIT_SCALE] = strtod(c.name, &end);
    if (*kind == NONE || (c.is_plain && !*end && !errno && is_scale(option[INIT_SCALE])))
        return true;
    diag_error(d,
               "--loss-scale: '%s' is not one of none, dynamic, dynamic(key=value, …), or a "
               "positive number of f32",
               text);
    return false;
}

bool loss_scale_check(const char *text, Diag *d)
{
    Arena *a = arena_new();
    double option[MAX_OPTIONS];
    Scaling kind;
    bool ok = read_text(a, text, &kind, option, d);

    arena_free(a);
    return ok;
}

bool loss_scale_add(Graph *g, const char *text, Diag *d)
{
    double option[MAX_OPTIONS];
    Scaling kind;

    if (!read_text(g->arena, text, &kind, option, d))
        return false;
    if (kind == NONE)
        return true;
    g->diag = d;
    g->phase = FORWARD;
    g->block = (Block){0};
    g->source = graph_source(g, "loss_scale", "");
    ValueId scale = kind == FIXED ? hyper_value(g, "loss_scale", option[INIT_SCALE])
                                  : state_scalar(g, "loss_scale", F32, option[INIT_SCALE]);
    if (kind == DYNAMIC)  // its reciprocal has to be a number
        scale = make_max(g, scale, graph_scalar(g, F32, FLT_MIN));
    graph_output(g, "loss_scale", scale, OUTPUT_LOSS_SCALE);
    return true;
}

ValueId all_finite(Graph *g)
{
    if (!output_of_role(g, OUTPUT_LOSS_SCALE))
        return 0;
    g->source = graph_source(g, "loss_scale", "");
    return make_le(g, output_of_role(g, OUTPUT_GRAD_NORM), graph_scalar(g, F32, FLT_MAX));
}

// The scale grows if that many steps in a row were good, and if the result is a number of f32.
bool loss_scale_update(Graph *g, const char *text, ValueId is_finite, Diag *d)
{
    ValueId scale = output_of_role(g, OUTPUT_LOSS_SCALE);
    double option[MAX_OPTIONS];
    Scaling kind;

    if (!scale || !value_of(g, scale)->producer)
        return true;
    ValueId state = producer(g, scale)->in[0];
    if (!read_text(g->arena, text ? text : "dynamic", &kind, option, d))
        return false;
    assert(kind == DYNAMIC);  // so it has a state
    g->source = graph_source(g, "loss_scale", "");
    ValueId factor[COUNT(options)], zero = graph_scalar(g, F32, 0);
    for (int i = GROWTH_FACTOR; i <= GROWTH_INTERVAL; i++)
        factor[i] = hyper_value(g, options[i].name, option[i]);
    ValueId good = state_scalar(g, "good_steps", F32, 0);
    ValueId run = make_add(g, good, graph_scalar(g, F32, 1));
    ValueId grown = make_mul(g, scale, factor[GROWTH_FACTOR]);
    ValueId may_grow = make_le(g, grown, graph_scalar(g, F32, FLT_MAX));
    ValueId is_due = make_le(g, factor[GROWTH_INTERVAL], run);
    ValueId next = make_select(g, make_and(g, is_due, may_grow), grown, scale);
    ValueId less = make_mul(g, scale, factor[BACKOFF_FACTOR]);
    run = make_select(g, is_due, zero, run);

    graph_carry(g, state, make_select(g, is_finite, next, less), SCOPE_STEP);
    graph_carry(g, good, make_select(g, is_finite, run, zero), SCOPE_STEP);
    return true;
}
