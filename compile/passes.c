// Runs the passes over a graph, in their one order.
#include <string.h>

#include "compile/internal.h"
#include "lower/lower.h"
#include "lower/recompute/policies.h"

// ---- the passes ----
static bool run_import(Run *r);
static bool run_fold(Run *r) { return fold(r->g, r->d); }
static bool run_indices(Run *r) { return indices_check(r->g, r->d); }
static bool run_loss(Run *r) { return loss_add(r->g, r->q->loss, r->d); }
static bool run_micro(Run *r);
static bool run_patterns(Run *r) { return patterns(r->g, r->d); }
static bool run_guards(Run *r) { return guards(r->g, r->d); }
static bool run_means(Run *r) { return means(r->g, r->d); }
static bool run_refine(Run *r) { return refine(r->g, r->d); }
static bool run_simplify(Run *r) { return simplify(r->g, r->d); }

static bool run_precision(Run *r)
{
    DType type = r->q->precision ? r->q->precision : r->half;
    const PrecisionOptions o = {type, r->q->keep_f32.s, r->q->keep_f32.n,
                                r->g->training || !r->q->loss};

    return precision(r->g, &o, r->d);
}

static bool run_blocks(Run *r) { return blocks(r->g, r->d); }

// By default the loss is scaled where products read f16, in which small gradients would be lost.
static bool run_scale(Run *r)
{
    const char *text = r->optimizer.loss_scale;
    bool is_f16 = precision_of(r->g).half == F16;

    return loss_scale_add(r->g, text ? text : is_f16 ? "dynamic" : "none", r->d);
}

static bool run_autodiff(Run *r) { return autodiff(r->g, r->q->accumulate, r->d); }
static bool run_casts(Run *r) { return casts(r->g, r->d); }
static bool run_reduce(Run *r) { return reduce_add(r->g, r->q->reduce, r->d); }
static bool run_clip(Run *r) { return clip_add(r->g, r->d); }
static bool run_optimizer(Run *r) { return optimizer_add(r->g, &r->optimizer, r->d); }

static bool run_outputs(Run *r)
{
    outputs_drop(r->g);
    return true;
}

// The training step may read fewer inputs than the model: the other graph tells of those that
// nothing reads.
static bool run_inputs(Run *r)
{
    inputs_drop_unread(r->g, !r->g->training, r->d);
    return true;
}

// The policy that the plan's file or the options ask for.
static bool read_policy(Run *r, RecomputePolicy *to)
{
    const PlanFile *f = r->q->plan_keeps;
    Diag of_options = {.file = "shardcc", .to = r->d->to};

    if (!f) {
        int n = request_runs_chain(r->q) ? 0 : r->q->recompute.n;
        if (recompute_choose(r->a, r->g, r->q->rule, r->q->recompute.s, n, r->target, to,
                             &of_options))
            return true;
        r->status = COMPILE_WRONG_OPTION;
        return false;
    }
    of_options.file = base_name(r->q->plan);
    to->rule = r->q->rule;
    return plan_keep_read(r->a, f->keep, f->n_keep, "keep", r->g, to, &of_options);
}

static bool run_recompute(Run *r)
{
    RecomputePolicy policy = {0};

    if (!read_policy(r, &policy))
        return false;
    r->is_left = r->is_planned;
    if (r->is_left)
        r->left = policy;
    else
        r->g = recompute(r->a, r->g, &policy, r->target, r->d);
    return r->g;
}

// Nodes that write onto another value can't be sharded: the partial sums of several ranks must stay
// separate.
static bool run_onto(Run *r) { return scatter_onto(r->g, r->d); }

// By pass. NULL: it is run for each plan.
static bool (*const run_of[])(Run *r) = {
#define GRAPH_PASS(name, needs, text) run_##name,
#define PLAN_PASS(name, text) NULL,
#include "compile/passes.def"
};

static bool applies(const Run *r, unsigned needs)
{
    return (!(needs & LOSS) || r->q->loss || has_loss(r->g)) &&
           (!(needs & TRAINING) || r->g->training) && (!(needs & FUSING) || !r->q->no_fuse) &&
           (!(needs & ONE_RANK) || (r->q->ranks < 2 && !r->is_left)) &&
           (!(needs & SPLITS) || r->q->accumulate > 1) &&
           (!(needs & HALVES) || dtype_is_half(r->q->reduce));
}

// ---- the model ----

// Checks that no file of the model's weights is about to be overwritten.
static bool spares_weights(const Run *r, const Weights *w)
{
    const char *model = r->q->input;
    int folder = (int)(base_name(model) - model);

    for (int i = 0; w && r->q->written && i < w->n_files; i++)
        if (!out_spares(r->q->written, arena_string(r->a, "%.*s%s", folder, model, w->file[i]),
                        "a file of the model's weights", r->d))
            return false;
    return true;
}

static bool run_import(Run *r)
{
    const CompileRequest *q = r->q;
    ImportOptions i = {.half = &r->half,
                       .model = q->model,
                       .bind = q->bind.s,
                       .n_bind = q->bind.n,
                       .shape = q->shape.s,
                       .n_shape = q->shape.n,
                       .accumulate = q->accumulate,
                       .training = r->is_training,
                       .frozen_batch_norm = q->frozen_batch_norm,
                       .has_loss = q->loss,
                       .freeze = q->freeze.s,
                       .n_freeze = q->freeze.n,
                       .padding = q->padding.s,
                       .n_padding = q->padding.n,
                       .tie = q->tie.s,
                       .n_tie = q->tie.n,
                       .values = q->values,
                       .stop = q->stop.s,
                       .n_stop = q->stop.n,
                       .budget = r->budget};

    r->g = frontend_import(r->a, &i, r->weights, r->d);
    return r->g && spares_weights(r, r->weights);
}

static Run run_new(Arena *a, const CompileRequest *q, int last, Diag *d)
{
    return (Run){.a = a,
                 .q = q,
                 .target = request_target(a, q),
                 .budget = budget_new(a, q->ranks),
                 .last = last,
                 .verifies = q->verify,
                 .d = d,
                 .optimizer = {.text = q->optimizer,
                               .clip_norm = q->clip_norm,
                               .loss_scale = q->loss_scale,
                               .no_decay = q->no_decay.s,
                               .n_no_decay = q->no_decay.n}};
}

// The graph with the batch in one piece, as it is after `loss`. NULL if the model can't be compiled
// so, which may be as its file fits micro-batches alone.
static Graph *whole_batch(const Run *r)
{
    CompileRequest q = *r->q;
    Text said = {0};
    Diag d = {.file = r->d->file, .to = &said};
    Run whole = {
        .a = r->a, .q = &q, .target = r->target, .is_training = true, .budget = r->budget, .d = &d};

    q.accumulate = 1;
    bool ok = run_import(&whole) && fold(whole.g, &d) && loss_add(whole.g, q.loss, &d);
    text_free(&said);
    return ok ? whole.g : NULL;
}

bool passes_may_split(const CompileRequest *q, const char *file)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = file, .to = &said};
    Run r = run_new(a, q, PASS_loss, &d);
    Graph *whole = whole_batch(&r);
    bool may = whole && micro_batches(whole, NULL, 2, &d);

    text_free(&said);
    arena_free(a);
    return may;
}

static bool run_micro(Run *r)
{
    bool is_model = r->q->model;

    return micro_batches(r->g, is_model ? whole_batch(r) : NULL, r->q->accumulate, r->d);
}

// ---- running ----

// Is the graph as it has to be after pass `i`? Only with --verify are values compared.
static bool check_pass(Run *r, int i)
{
    if (r->verifies && !graph_verify(r->g, r->d))
        return false;
    if (r->values && i == PASS_micro) {  // it means another loss: the whole batch's
        value_check_end(r->values);
        r->values = value_check_new(r->a, r->q->accumulate, 0);
    }
    if (!r->values || value_check(r->values, r->g, pass_name(i), r->d))
        return true;
    diag_note(r->d,
              "the graph doesn't compute what the model says, so nothing was written; this is "
              "a bug in shardcc, not in the model");
    r->status = COMPILE_BUG;
    return false;
}

// The stages that an imported graph allows work.
static const BudgetStage of_graphs[] = {BUDGET_passes, BUDGET_problems, BUDGET_moves,
                                        BUDGET_programs, BUDGET_packing};

// A graph is there, made by pass `entry`: it is checked, and its work is bounded.
static bool enter(Run *r, int entry)
{
    r->g->diag = r->d;
    r->g->budget = r->budget;
    for (int i = 0; i < COUNT(of_graphs); i++)
        budget_allow(r->budget, of_graphs[i], r->g->n_nodes + r->g->n_values);
    if (r->is_early && !r->q->loss && !has_loss(r->g))
        r->last = entry > PASS_fold ? entry : PASS_fold;
    return check_pass(r, entry);
}

// Runs the passes up to r->last that apply, and counts the nodes that they leave. graph_verify runs
// at the end and, if r->verifies, after each of them.
static bool run_all(Run *r)
{
    bool is_text = !r->q->model;
    int entry = is_text ? enter_text(r) : PASS_import;

    if (entry < 0 || (!is_text && !run_import(r)) || !enter(r, entry))
        return false;
    for (int i = entry + 1; i <= r->last; i++)
        if (run_of[i] && applies(r, pass_needs(i)) &&
            (!run_of[i](r) || r->d->errors ||
             !budget_add(r->budget, BUDGET_passes, r->g->n_nodes) || !check_pass(r, i)))
            return false;
    return graph_verify(r->g, r->d);
}

// Makes the graph of training, or the forward-only one. `w` gets the model's weights, if it isn't
// NULL. Returns NULL after an error.
static Graph *run(Run *r, bool is_training, Weights *w)
{
    r->is_training = is_training;
    r->weights = w;
    r->values = r->q->verify ? value_check_new(r->a, r->q->accumulate, 0) : NULL;
    bool ok = run_all(r);
    if (r->values)
        value_check_end(r->values);
    if (budget_check(r->budget, r->d))
        return ok ? r->g : NULL;
    r->status = COMPILE_BUG;
    return NULL;
}

// --memory chooses what to recompute if nothing else does. Work that isn't fused with its readers
// would write what it makes again to memory.
static bool chooses_recompute(const CompileRequest *q)
{
    return q->memory && (!q->recompute.n || request_runs_chain(q)) && !q->plan && !q->no_fuse;
}

// Is the graph of a training step? A text that doesn't say its pass may have updates without a
// loss.
static bool is_step(const Graph *g) { return has_loss(g) || (!g->after && g->n_carries); }

static CompileStatus failed(const Run *r) { return r->status ? r->status : COMPILE_WRONG; }

CompileStatus compile_graphs(Arena *a, const CompileRequest *q, Compiled *to, Diag *d)
{
    Run r = run_new(a, q, N_PASSES - 1, d);

    r.is_planned = q->ranks > 1 || chooses_recompute(q);
    *to = (Compiled){.budget = r.budget};
    if (q->loss || !q->model) {
        to->train = run(&r, true, &to->weights);
        if (!to->train)
            return failed(&r);
        if (!q->loss && !is_step(to->train))
            to->train = NULL;
        else
            to->train->after = NULL;
        to->policy = r.left;
        to->chooses_recompute = r.is_left && chooses_recompute(q);
    }
    to->predict = run(&r, false, to->train ? NULL : &to->weights);
    if (!to->predict)
        return failed(&r);
    to->predict->after = NULL;
    if (to->train)
        classes_align(to->predict, to->train);
    return COMPILE_DONE;
}

// A graph's text after its first line, which says whether the graph is for training.
static const char *after_head(const Text *t) { return strchr(t->s, '\n'); }

// Appends the graphs' texts; only one if both are the same.
static void print_graphs(const Run *r, Graph *const graph[2], Text *to)
{
    Text text[2] = {0};

    for (int i = 0; i < 2; i++) {
        graph[i]->after = pass_name(r->last);
        graph[i]->accumulate = r->q->accumulate;
        graph_print(graph[i], &text[i]);
    }
    bool differs = strcmp(after_head(&text[0]), after_head(&text[1])) != 0;
    for (int i = 0; i <= differs; i++)
        text_put(to, text[i].s, text[i].n);
    text_free(&text[0]);
    text_free(&text[1]);
}

CompileStatus compile_text(Arena *a, const CompileRequest *q, const char *pass, Text *t, Diag *d)
{
    Run r = run_new(a, q, pass ? pass_find(pass) : PASS_optimizer, d);
    Graph *graph[2];
    Weights w = {0};

    r.dump = pass;
    r.verifies = true;
    r.is_early = !pass;
    graph[0] = run(&r, true, &w);
    graph[1] = graph[0] ? run(&r, false, NULL) : NULL;
    if (!graph[1])
        return failed(&r);
    if (graph[0]->training)
        classes_align(graph[1], graph[0]);
    print_graphs(&r, graph, t);
    return COMPILE_DONE;
}
