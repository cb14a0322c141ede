// Runs the passes over a graph, in their one order.
#include "driver/passes.h"

#include <string.h>

#include "ir/values/values.h"
#include "lower/lower.h"
#include "lower/recompute/ways.h"

typedef struct Run {
    Arena *a;
    const Options *o;
    const Target *target;
    OptimizerOptions optimizer;
    int last;              // index of the last pass to run
    bool is_early;         // without a loss, stop before `loss`, so that the text can still get one
    bool verifies;         // the graph's form, after each pass: a tenth of a compilation's time
    bool is_planned;       // a planner gets the training graph: it recomputes, as its plan says
    RecomputePolicy left;  // if is_planned: the policy that it applies
    bool is_left;          // recomputation is left to the planner, with what comes after it
    int exit_status;       // after an error, if it isn't EXIT_USER
    ValueCheck *values;    // compares values before and after passes; NULL: it isn't asked for
    Graph *text[2];        // of a file .ir: its first graph, and its second one, if there is one
    Graph *g;
    Budget *budget;  // of the whole compilation
    Diag *d;
} Run;

// ---- the passes ----
static bool run_import(Run *r) { return true; }  // done: see enter
static bool run_fold(Run *r) { return fold(r->g, r->d); }
static bool run_indices(Run *r) { return indices_check(r->g, r->d); }
static bool run_loss(Run *r) { return loss_add(r->g, r->o->loss, r->d); }
static bool run_micro(Run *r);
static bool run_patterns(Run *r) { return patterns(r->g, r->d); }
static bool run_guards(Run *r) { return guards(r->g, r->d); }
static bool run_means(Run *r) { return means(r->g, r->d); }
static bool run_refine(Run *r) { return refine(r->g, r->d); }
static bool run_simplify(Run *r) { return simplify(r->g, r->d); }
static bool run_blocks(Run *r) { return blocks(r->g, r->d); }
static bool run_autodiff(Run *r) { return autodiff(r->g, r->o->accumulate, r->d); }
static bool run_clip(Run *r) { return clip_add(r->g, &r->optimizer, r->d); }
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
    const PlanFile *f = r->o->plan_keeps;
    Diag of_options = {.file = "shardcc", .to = r->d->to};

    if (!f) {
        int n = runs_chain(r->o) ? 0 : r->o->recompute.n;
        if (recompute_choose(r->a, r->g, r->o->rule, r->o->recompute.s, n, r->target, to,
                             &of_options))
            return true;
        r->exit_status = EXIT_OPTION;
        return false;
    }
    of_options.file = base_name(r->o->plan);
    to->rule = r->o->rule;
    return plan_keep_read(f->keep, f->n_keep, "keep", r->g, to, r->a, &of_options);
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

static bool run_partition(Run *r) { return true; }  // run once there is a plan

// When a pass runs.
enum {
    LOSS = 1,      // if the graph has a loss, or is to get one
    TRAINING = 2,  // on the graph of training alone
    FUSING = 4,    // without --no-fuse
    ONE_RANK = 8,  // if one rank does it all
    RANKS = 16,    // if there are several
    SPLITS = 32,   // with micro-batches
};

static const struct {
    const char *name;
    bool (*run)(Run *r);
    unsigned needs;
} passes[] = {
#define GRAPH_PASS(name, needs, text) {#name, run_##name, needs},
#include "lower/passes.def"
};

// The places of passes in the table.
enum {
#define GRAPH_PASS(name, needs, text) PASS_##name,
#include "lower/passes.def"
};

const char *const *pass_names(int *n)
{
    static const char *const names[] = {
#define GRAPH_PASS(name, needs, text) #name,
#include "lower/passes.def"
    };
    *n = COUNT(names);
    return names;
}

static int find_pass(const char *name)
{
    int i = COUNT(passes) - 1;

    while (i >= 0 && strcmp(name, passes[i].name))
        i--;
    return i;
}

bool pass_needs_loss(const char *name) { return passes[find_pass(name)].needs & LOSS; }

bool dumps_split(const Options *o) { return o->dump_after && !strcmp(o->dump_after, "partition"); }

static bool has_loss(const Graph *g)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_LOSS_SUM)
            return true;
    return false;
}

static bool applies(const Run *r, unsigned needs)
{
    return (!(needs & LOSS) || r->o->loss || has_loss(r->g)) &&
           (!(needs & TRAINING) || r->g->training) && (!(needs & FUSING) || !r->o->no_fuse) &&
           (!(needs & ONE_RANK) || (r->o->ranks < 2 && !r->is_left)) &&
           (!(needs & RANKS) || r->o->ranks > 1) && (!(needs & SPLITS) || r->o->accumulate > 1);
}

// ---- a graph's text ----

bool input_is(const Options *o, const char *ending)
{
    size_t n = strlen(o->input), k = strlen(ending);
    return n > k && !strcmp(o->input + n - k, ending);
}

// Makes the forward-only graph of a text that has none.
static void make_forward_only(const Run *r, int entry)
{
    if ((r->g->training || r->o->loss) && has_training_mode(r->g))
        diag_warn(r->d, "predictions are made as in training, with dropout and batch statistics: "
                        "the graph's text holds no other form of the model");
    if (entry >= PASS_autodiff || r->g->n_carries)
        drop_training_only(r->g);
}

// Finds the pass after which a text's graph stands. -1 after an error.
static int find_entry(const Graph *g, Diag *d)
{
    int entry = g->after ? find_pass(g->after) : g->n_carries ? PASS_optimizer : PASS_import;

    if (entry < 0)
        diag_error(d, "the graph is after '%s', which is no pass", g->after);
    if (entry != PASS_partition)
        return entry;
    diag_error(d, "a graph that is split over ranks is only to be read: the text of an earlier "
                  "pass can be compiled");
    return -1;
}

// Returns an option that belongs to a pass that the graph is behind; NULL if none is given.
static const char *find_past_option(const Options *o, int entry)
{
    bool is_trained = entry >= PASS_optimizer;

    return o->loss && entry >= PASS_loss               ? "--loss"
           : o->optimizer && is_trained                ? "--optimizer"
           : o->clip_norm > 0 && is_trained            ? "--clip-norm"
           : o->no_decay.n && is_trained               ? "--no-decay"
           : o->recompute.n && entry >= PASS_recompute ? "--recompute"
                                                       : NULL;
}

// Do the options fit a text's graph that stands after pass `entry`?
static bool check_entry(const Run *r, const Graph *g, int entry)
{
    const Options *o = r->o;
    const char *past = find_past_option(o, entry);
    int accumulate = g->accumulate ? g->accumulate : 1;
    bool trains = o->loss || has_loss(g) || entry >= PASS_optimizer;

    if (entry > r->last)
        diag_error(r->d, "%s: the graph is after %s already",
                   o->dump_after ? arena_string(r->a, "--dump-after %s", o->dump_after)
                                 : "--emit ir",
                   passes[entry].name);
    else if (past)
        diag_error(r->d, "%s doesn't apply: the graph is after %s already", past,
                   passes[entry].name);
    else if (!trains && option_of_training(o))
        diag_error(r->d, "%s needs --loss: the graph has none", option_of_training(o));
    else if (trains && entry < PASS_optimizer && r->last >= PASS_optimizer && !o->optimizer)
        diag_error(r->d, "the graph has a loss, which needs --optimizer");
    else if (accumulate != o->accumulate && (g->accumulate || entry >= PASS_autodiff))
        diag_error(r->d, "--accumulate is %d, but the graph is of %d micro-batch%s a step",
                   o->accumulate, accumulate, accumulate > 1 ? "es" : "");
    else
        return true;
    return false;
}

static bool read_text(Run *r)
{
    File f;

    if (!file_map(r->o->input, &f, r->d))
        return false;
    r->text[0] = graph_parse_two(r->a, (const char *)f.data, f.size, &r->text[1], r->d);
    file_unmap(&f);
    return r->text[0] && graph_verify(r->text[0], r->d) &&
           (!r->text[1] || graph_verify(r->text[1], r->d));
}

// Takes the text's graph of training, or the forward-only one, which may have to be made of the
// former. Returns the pass after which it stands; -1 after an error.
static int enter_text(Run *r, bool training)
{
    if (!r->text[0] && !read_text(r))
        return -1;
    bool is_second = !training && r->text[1];
    int entry = find_entry(r->text[0], r->d);
    if (entry < 0 || !check_entry(r, r->text[0], entry))
        return -1;
    r->g = graph_clone(r->text[is_second], r->a);
    if (is_second)
        entry = find_entry(r->g, r->d);
    else if (!training)
        make_forward_only(r, entry);
    r->g->training = training;
    return entry;
}

// ---- the model ----

// Checks that no file of the model's weights is about to be overwritten.
static bool spares_weights(const Run *r, const Weights *w)
{
    const char *model = r->o->input;
    int folder = (int)(base_name(model) - model);

    for (int i = 0; w && i < w->n_files; i++)
        if (!output_spares(&r->o->written, arena_string(r->a, "%.*s%s", folder, model, w->file[i]),
                           "a file of the model's weights", r->d))
            return false;
    return true;
}

static int enter_model(Run *r, bool training, Weights *w)
{
    const Options *o = r->o;
    ImportOptions i = {.path = o->input,
                       .bind = o->bind.s,
                       .n_bind = o->bind.n,
                       .shape = o->shape.s,
                       .n_shape = o->shape.n,
                       .accumulate = o->accumulate,
                       .training = training,
                       .frozen_batch_norm = o->frozen_batch_norm,
                       .has_loss = o->loss,
                       .freeze = o->freeze.s,
                       .n_freeze = o->freeze.n,
                       .padding = o->padding.s,
                       .n_padding = o->padding.n,
                       .tie = o->tie.s,
                       .n_tie = o->tie.n,
                       .values = o->values,
                       .stop = o->stop.s,
                       .n_stop = o->stop.n,
                       .budget = r->budget};

    r->g = frontend_import(r->a, &i, w, r->d);
    return r->g && spares_weights(r, w) ? PASS_import : -1;
}

static Run run_new(Arena *a, const Options *o, int last, Diag *d)
{
    const Target *target = options_target(a, o);

    return (Run){.a = a,
                 .o = o,
                 .target = target,
                 .budget = budget_new(a, o->ranks),
                 .last = last,
                 .verifies = o->verify,
                 .d = d,
                 .optimizer = {.text = o->optimizer,
                               .clip_norm = o->clip_norm,
                               .no_decay = o->no_decay.s,
                               .n_no_decay = o->no_decay.n,
                               .parallel_rows = target->parallel_rows}};
}

// The graph with the batch in one piece, as it is after `loss`. NULL if the model can't be compiled
// so, which may be as its file fits micro-batches alone.
static Graph *whole_batch(const Run *r)
{
    Options o = *r->o;
    Text said = {0};
    Diag d = {.file = r->d->file, .to = &said};
    Run whole = {.a = r->a, .o = &o, .target = r->target, .budget = r->budget, .d = &d};

    o.accumulate = 1;
    bool ok = enter_model(&whole, true, NULL) == PASS_import && fold(whole.g, &d) &&
              loss_add(whole.g, o.loss, &d);
    text_free(&said);
    return ok ? whole.g : NULL;
}

bool passes_may_split(const Options *o, const char *file)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = file, .to = &said};
    Run r = run_new(a, o, PASS_loss, &d);
    Graph *whole = whole_batch(&r);
    bool may = whole && micro_batches(whole, NULL, 2, &d);

    text_free(&said);
    arena_free(a);
    return may;
}

static bool run_micro(Run *r)
{
    bool is_model = !input_is(r->o, ".ir");

    return micro_batches(r->g, is_model ? whole_batch(r) : NULL, r->o->accumulate, r->d);
}

// ---- running ----

// Is the graph as it has to be after pass `i`? Only with --verify are values compared.
static bool check_pass(Run *r, int i)
{
    if (r->verifies && !graph_verify(r->g, r->d))
        return false;
    if (r->values && i == PASS_micro) {  // it means another loss: the whole batch's
        value_check_end(r->values);
        r->values = value_check_new(r->a, r->o->accumulate, 0);
    }
    if (!r->values || value_check(r->values, r->g, passes[i].name, r->d))
        return true;
    diag_note(r->d,
              "the graph doesn't compute what the model says, so nothing was written; this is "
              "a bug in shardcc, not in the model");
    r->exit_status = EXIT_INTERNAL;
    return false;
}

// Runs the passes up to r->last that the graph isn't past, and counts the nodes that they leave.
static bool run_all(Run *r, int entry)
{
    if (!check_pass(r, entry))
        return false;
    for (int i = entry + 1; i <= r->last; i++)
        if (applies(r, passes[i].needs) &&
            (!passes[i].run(r) || r->d->errors ||
             !budget_add(r->budget, BUDGET_passes, r->g->n_nodes) || !check_pass(r, i)))
            return false;
    return graph_verify(r->g, r->d);
}

// The stages that an imported graph allows work.
static const BudgetStage of_graphs[] = {BUDGET_passes, BUDGET_problems, BUDGET_moves,
                                        BUDGET_programs, BUDGET_packing};

// Reads the model and runs the passes. graph_verify runs at the end and, if r->verifies, after each
// of them.
static Graph *run_counted(Run *r, bool training, Weights *w)
{
    int entry = input_is(r->o, ".ir") ? enter_text(r, training) : enter_model(r, training, w);

    if (entry < 0)
        return NULL;
    r->g->diag = r->d;
    r->g->budget = r->budget;
    for (int i = 0; i < COUNT(of_graphs); i++)
        budget_allow(r->budget, of_graphs[i], r->g->n_nodes + r->g->n_values);
    if (r->is_early && !r->o->loss && !has_loss(r->g))
        r->last = entry > PASS_fold ? entry : PASS_fold;
    r->values = r->o->verify ? value_check_new(r->a, r->o->accumulate, 0) : NULL;
    bool ok = run_all(r, entry);
    if (r->values)
        value_check_end(r->values);
    return ok ? r->g : NULL;
}

static Graph *run(Run *r, bool training, Weights *w)
{
    Graph *g = run_counted(r, training, w);

    if (budget_check(r->budget, r->d))
        return g;
    r->exit_status = EXIT_INTERNAL;
    return NULL;
}

// --memory chooses what to recompute if nothing else does. Work that isn't fused with its readers
// would write what it makes again to memory.
static bool chooses_recompute(const Options *o)
{
    return o->memory && (!o->recompute.n || runs_chain(o)) && !o->plan && !o->no_fuse;
}

// Is the graph of a training step? A text that doesn't say its pass may have updates without a
// loss.
static bool is_step(const Graph *g) { return has_loss(g) || (!g->after && g->n_carries); }

bool passes_run(Arena *a, const Options *o, Graphs *to, Diag *d)
{
    Run r = run_new(a, o, COUNT(passes) - 1, d);

    r.is_planned = o->ranks > 1 || chooses_recompute(o);
    *to = (Graphs){0};
    if (o->loss || input_is(o, ".ir")) {
        to->train = run(&r, true, &to->weights);
        to->exit_status = r.exit_status;
        if (!to->train)
            return false;
        if (!o->loss && !is_step(to->train))
            to->train = NULL;
        else
            to->train->after = NULL;
        to->recompute = r.left;
        to->chooses_recompute = r.is_left && chooses_recompute(o);
    }
    to->predict = run(&r, false, to->train ? NULL : &to->weights);
    to->exit_status = r.exit_status;
    to->budget = r.budget;
    if (to->predict)
        to->predict->after = NULL;
    if (to->predict && to->train)
        classes_align(to->predict, to->train);
    return to->predict;
}

// A graph's text after its first line, which says whether the graph is for training.
static const char *after_head(const Text *t) { return strchr(t->s, '\n'); }

bool passes_print(Arena *a, const Options *o, const char *pass, Text *t, int *exit_status, Diag *d)
{
    Run r = run_new(a, o, pass ? find_pass(pass) : PASS_optimizer, d);
    Graph *graph[2];
    Text text[2] = {0};
    Weights w = {0};

    r.verifies = true;
    r.is_early = !pass;
    graph[0] = run(&r, true, &w);
    graph[1] = graph[0] ? run(&r, false, NULL) : NULL;
    *exit_status = r.exit_status ? r.exit_status : EXIT_USER;
    if (!graph[1])
        return false;
    if (graph[0]->training)
        classes_align(graph[1], graph[0]);
    for (int i = 0; i < 2; i++) {
        graph[i]->after = passes[r.last].name;
        graph[i]->accumulate = o->accumulate;
        graph_print(graph[i], &text[i]);
    }
    bool differs = strcmp(after_head(&text[0]), after_head(&text[1])) != 0;
    for (int i = 0; i <= differs; i++)
        text_put(t, text[i].s, text[i].n);
    text_free(&text[0]);
    text_free(&text[1]);
    return true;
}
