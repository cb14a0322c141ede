// Runs the passes over a net's graph, as compile/passes.c does.
#include "lower/recompute/policies.h"
#include "tests/nets/judge.h"

// Makes the graph that recomputes as the subject says.
static Graph *run_again(const Graph *g, const Subject *s, Diag *d)
{
    const char **text = arena_array(g->arena, const char *, g->n_classes + 1);
    RecomputeRule rule = s->plain ? RECOMPUTE_NONE : RECOMPUTE_MIN_CUT;
    RecomputePolicy policy;
    int n = 0;

    if (s->again == 1)
        text[n++] = "full";
    for (int c = 1; c < g->n_classes && s->again > 1; c++) {
        int length = g->classes[c].length, layers = s->again - 1;
        text[n++] = arena_string(g->arena, "%s=%d", class_key(g->arena, g, c),
                                 layers < length ? layers : length);
    }
    return recompute_choose(g->arena, g, rule, text, n, nets_target.target, &policy, d)
               ? recompute(g->arena, g, &policy, nets_target.target, d)
               : NULL;
}

// Runs the passes, and checks after each that it changed no value.
typedef struct Passes {
    Graph *g;
    const Subject *s;
    OptimizerOptions optimizer;
    ValueCheck *check;
    Diag *d;
} Passes;

static bool add_loss(Graph *g, const Passes *p) { return loss_add(g, p->s->loss, p->d); }
static bool run_fold(Graph *g, const Passes *p) { return fold(g, p->d); }
static bool run_patterns(Graph *g, const Passes *p) { return p->s->plain || patterns(g, p->d); }
static bool run_guards(Graph *g, const Passes *p) { return guards(g, p->d); }
static bool run_means(Graph *g, const Passes *p) { return means(g, p->d); }
static bool run_refine(Graph *g, const Passes *p) { return refine(g, p->d); }
static bool run_simplify(Graph *g, const Passes *p) { return simplify(g, p->d); }

static bool run_precision(Graph *g, const Passes *p)
{
    return precision(g, &(PrecisionOptions){.type = p->s->precision}, p->d);
}

static bool run_blocks(Graph *g, const Passes *p) { return blocks(g, p->d); }

// As by default: in f16 the loss is scaled.
static const char *scale_of(const Subject *s) { return s->precision == F16 ? "dynamic" : "none"; }

static bool run_scale(Graph *g, const Passes *p) { return loss_scale_add(g, scale_of(p->s), p->d); }

static bool run_casts(Graph *g, const Passes *p) { return casts(g, p->d); }
static bool run_autodiff(Graph *g, const Passes *p) { return autodiff(g, p->s->accumulate, p->d); }

static bool run_reduce(Graph *g, const Passes *p)
{
    return !p->s->reduce || reduce_add(g, p->s->reduce, p->d);
}

static bool run_clip(Graph *g, const Passes *p) { return clip_add(g, p->d); }

static bool run_optimizer(Graph *g, const Passes *p)
{
    return optimizer_add(g, &p->optimizer, p->d);
}

static bool run_outputs(Graph *g, const Passes *p)
{
    outputs_drop(g);
    return true;
}

static bool run_inputs(Graph *g, const Passes *p)
{
    inputs_drop_unread(g, false, p->d);
    return true;
}

static bool run_recompute(Graph *g, const Passes *p)
{
    Graph *x = run_again(g, p->s, p->d);

    if (x)
        *g = *x;
    return x;
}

static bool run_onto(Graph *g, const Passes *p) { return p->s->plain || scatter_onto(g, p->d); }

enum { TRAINING = 1, ONE_RANK = 2, RANKS = 4 };

static const struct {
    const char *name;
    bool (*run)(Graph *g, const Passes *p);
    int needs;
} passes[] = {
    {"fold", run_fold, 0},
    {"loss", add_loss, TRAINING},
    {"patterns", run_patterns, 0},
    {"guards", run_guards, 0},
    {"means", run_means, 0},
    {"refine", run_refine, 0},
    {"simplify", run_simplify, 0},
    {"precision", run_precision, 0},
    {"blocks", run_blocks, 0},
    {"scale", run_scale, TRAINING},
    {"autodiff", run_autodiff, TRAINING},
    {"casts", run_casts, 0},
    {"reduce", run_reduce, TRAINING | RANKS},
    {"clip", run_clip, TRAINING},
    {"optimizer", run_optimizer, TRAINING},
    {"outputs", run_outputs, TRAINING},
    {"inputs", run_inputs, 0},
    {"recompute", run_recompute, TRAINING},
    {"onto", run_onto, TRAINING | ONE_RANK},
};

static bool check_values(const Passes *p, const char *pass)
{
    return !p->check || value_check(p->check, p->g, pass, p->d);
}

static bool run_all(const Passes *p, int with)
{
    if (!check_values(p, "import"))
        return false;
    for (int i = 0; i < COUNT(passes); i++)
        if (!(passes[i].needs & ~with) &&
            (!passes[i].run(p->g, p) || p->d->errors || !check_values(p, passes[i].name)))
            return false;
    return graph_verify(p->g, p->d);
}

bool run_passes(Graph *g, const Subject *s, bool is_split, bool checks, Diag *d)
{
    Passes p = {.g = g,
                .s = s,
                .optimizer = {.text = s->optimizer,
                              .clip_norm = s->clip,
                              .loss_scale = scale_of(s),
                              .no_decay = &s->no_decay,
                              .n_no_decay = s->no_decay != NULL},
                .check = checks ? value_check_new(g->arena, s->accumulate, s->numbers | 1) : NULL,
                .d = d};

    g->diag = d;
    if (!graph_verify(g, d))
        return false;
    if (!g->training)
        g->n_carries = 0;
    bool ok = run_all(&p, (g->training ? TRAINING : 0) | (is_split ? RANKS : ONE_RANK));
    if (p.check)
        value_check_end(p.check);
    return ok;
}
