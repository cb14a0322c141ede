// Runs the passes over a graph, in their one order.
#include <assert.h>
#include <string.h>

#include "driver/passes.h"
#include "lower/lower.h"

typedef struct Run {
    Arena *a;
    const Options *o;
    OptimizerOptions optimizer;
    Graph *g;
    Diag *d;
} Run;

static bool run_fold(Run *r) { return fold(r->g, r->d); }
static bool run_loss(Run *r) { return loss_add(r->g, r->o->loss, r->d); }
static bool run_patterns(Run *r) { return r->o->no_fuse || patterns(r->g, r->d); }
static bool run_refine(Run *r) { return refine(r->g, r->d); }
static bool run_blocks(Run *r) { return blocks(r->g, r->d); }
static bool run_autodiff(Run *r) { return autodiff(r->g, r->o->accumulate, r->d); }
static bool run_clip(Run *r) { return clip_add(r->g, &r->optimizer, r->d); }
static bool run_optimizer(Run *r) { return optimizer_add(r->g, &r->optimizer, r->d); }

// Drops the model's own outputs, because a training step returns only the loss; so they needn't
// outlive their last reader. --emit ir keeps them, because predictions are made from its text too.
static bool run_outputs(Run *r)
{
    Graph *g = r->g;
    int n = 0;

    for (int i = 0; i < g->n_outputs && r->o->emit != EMIT_IR; i++)
        if (g->outputs[i].role != OUTPUT_MODEL)
            g->outputs[n++] = g->outputs[i];
    g->n_outputs = r->o->emit != EMIT_IR ? n : g->n_outputs;
    return true;
}

// The first pass of lowering. --emit ir prints the graph before it.
static bool run_recompute(Run *r)
{
    return r->o->no_fuse || r->o->emit == EMIT_IR || recompute(r->g, r->d);
}

// Nodes that write onto another value can't be sharded: the partial sums of several ranks must stay
// separate. So with several ranks the pass doesn't run.
static bool run_onto(Run *r)
{
    return r->o->no_fuse || r->o->emit == EMIT_IR || r->o->ranks > 1 || scatter_onto(r->g, r->d);
}

static const struct {
    const char *name;
    bool (*run)(Run *r);  // NULL: import, and partition, which the driver runs itself
    bool needs_loss, needs_training;
} passes[] = {
    {"import", NULL, false, false},
    {"fold", run_fold, false, false},
    {"loss", run_loss, true, false},
    {"patterns", run_patterns, false, false},
    {"refine", run_refine, false, false},
    {"simplify", run_fold, false, false},  // refining leaves nodes that aren't needed
    {"blocks", run_blocks, false, false},
    {"autodiff", run_autodiff, true, true},
    {"clip", run_clip, true, true},
    {"optimizer", run_optimizer, true, true},
    {"outputs", run_outputs, true, true},
    {"recompute", run_recompute, true, true},
    {"onto", run_onto, true, true},
    {"partition", NULL, false, false},
};

const char *const *pass_names(int *n)
{
    static const char *const names[] = {
        "import",   "fold", "loss",      "patterns", "refine",    "simplify", "blocks",
        "autodiff", "clip", "optimizer", "outputs",  "recompute", "onto",     "partition"};
    static_assert(COUNT(names) == COUNT(passes), "one name for each pass");
    *n = COUNT(names);
    return names;
}

bool pass_needs_loss(const char *name)
{
    for (int i = 0; i < COUNT(passes); i++)
        if (!strcmp(name, passes[i].name))
            return passes[i].needs_loss;
    return false;
}

bool dumps_split(const Options *o) { return o->dump_after && !strcmp(o->dump_after, "partition"); }

// ---- input ----

bool input_is_ir(const Options *o)
{
    size_t n = strlen(o->input);
    return n > 3 && !strcmp(o->input + n - 3, ".ir");
}

static Graph *read_ir(Run *r, bool training)
{
    File f;

    if (!file_map(r->o->input, &f, r->d))
        return NULL;
    Graph *g = graph_parse(r->a, (const char *)f.data, f.size, r->d);
    file_unmap(&f);
    if (!g || !graph_verify(g, r->d))
        return NULL;
    if (g->n_carries && r->o->loss) {
        diag_error(r->d, "the graph has its updates already: --loss and --optimizer don't apply");
        return NULL;
    }
    g->training = training;
    return g;
}

// Does the model behave differently in training, by batch statistics or dropout?
static bool has_training_mode(const Graph *g)
{
    for (int i = 0; i < g->n_carries; i++)
        if (value_of(g, g->carries[i].in)->kind == VALUE_BUFFER)
            return true;
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; g->nodes[i].phase == FORWARD && k < g->nodes[i].n_in; k++)
            if (in(g, &g->nodes[i], k)->kind == VALUE_HYPER)  // seed of random numbers
                return true;
    return false;
}

// Reduces a graph with gradients and updates to its forward-only part: the nodes that the model's
// own outputs need.
static void drop_training_only(Graph *g, Diag *d)
{
    int n = 0;

    if (has_training_mode(g))
        diag_warn(d, "predictions are made as in training, with dropout and batch statistics: the "
                     "graph's text holds no other form of the model");
    for (int i = 0; i < g->n_outputs; i++) {
        OutputRole role = g->outputs[i].role;
        if (role != OUTPUT_GRADIENT && role != OUTPUT_GRAD_NORM)
            g->outputs[n++] = g->outputs[i];
    }
    g->n_outputs = n;
    g->n_carries = 0;
    g->training = false;
    graph_prune(g);
    graph_number_blocks(g);
}

static Graph *import(Run *r, bool training, Weights *w)
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
                       .only_predicts = !training && !o->loss,
                       .freeze = o->freeze.s,
                       .n_freeze = o->freeze.n,
                       .padding = o->padding.s,
                       .n_padding = o->padding.n};

    return input_is_ir(o) ? read_ir(r, training) : frontend_import(r->a, &i, w, r->d);
}

// Checks that no file of the model's weights is about to be overwritten.
static bool spares_weights(const Run *r, const Weights *w)
{
    const char *model = r->o->input;
    bool ok = true;

    for (int i = 0; w && i < w->n_files && ok; i++)
        ok = output_spares(
            &r->o->written,
            arena_string(r->a, "%.*s%s", (int)(base_name(model) - model), model, w->file[i]),
            "a file of the model's weights", r->d);
    return ok;
}

// ---- running ----

// Prints the graph if --dump-after names this pass. The run ends there.
static bool dump(const Run *r, const char *name, bool *dumped)
{
    Text t = {0};

    if (!r->o->dump_after || strcmp(r->o->dump_after, name))
        return false;
    graph_print(r->g, &t);
    *dumped = output_text(r->o, &t, r->d);
    text_free(&t);
    return true;
}

// Runs all passes except import. With --dump-after, graph_verify runs after each pass. Otherwise it
// runs only at the end, because verifying after each takes a tenth of the compile time.
static bool run_all(Run *r, bool training, bool *dumped)
{
    const Options *o = r->o;

    for (int i = 1; i < COUNT(passes); i++) {
        if (!passes[i].run || (passes[i].needs_loss && !o->loss) ||
            (passes[i].needs_training && !training))
            continue;
        if (!passes[i].run(r) || r->d->errors || (o->dump_after && !graph_verify(r->g, r->d)))
            return false;
        if (dump(r, passes[i].name, dumped))
            return false;
    }
    return graph_verify(r->g, r->d);
}

Graph *passes_run(Arena *a, const Options *o, bool training, Weights *w, Diag *d, bool *dumped)
{
    Run r = {.a = a, .o = o, .d = d};

    r.optimizer = (OptimizerOptions){.text = o->optimizer,
                                     .clip_norm = o->clip_norm,
                                     .no_decay = o->no_decay.s,
                                     .n_no_decay = o->no_decay.n};
    r.g = import(&r, training, w);
    if (!r.g || !spares_weights(&r, w) || dump(&r, "import", dumped))
        return NULL;
    r.g->diag = d;
    if (r.g->n_carries && input_is_ir(o)) {
        if (o->dump_after && !dumps_split(o)) {
            diag_error(d, "--dump-after: the graph has its updates already, no such pass follows");
            return NULL;
        }
        if (!training)
            drop_training_only(r.g, d);
        return (!training || (run_outputs(&r) && run_recompute(&r))) && graph_verify(r.g, d) ? r.g
                                                                                             : NULL;
    }
    return run_all(&r, training, dumped) ? r.g : NULL;
}
