// Enters a compilation with a graph's text, which says after which pass it was printed.
#include "compile/internal.h"

// Makes the forward-only graph of a text that has none.
static void make_forward_only(const Run *r, int entry)
{
    if ((r->g->training || r->q->loss) && has_training_mode(r->g))
        diag_warn(r->d, "predictions are made as in training, with dropout and batch statistics: "
                        "the graph's text holds no other form of the model");
    if (entry >= PASS_autodiff || r->g->n_carries)
        drop_training_only(r->g);
}

// Finds the last pass that a text's graph has passed. -1 after an error.
static int find_entry(const Graph *g, Diag *d)
{
    int entry = g->after ? pass_find(g->after) : g->n_carries ? PASS_optimizer : PASS_import;

    if (entry < 0)
        diag_error(d, "the graph is after '%s', which is no pass", g->after);
    if (entry != PASS_partition)
        return entry;
    diag_error(d, "a graph that is split over ranks is only to be read: the text of an earlier "
                  "pass can be compiled");
    return -1;
}

// Returns an option that belongs to a pass that the graph has passed; NULL if none is given.
static const char *find_past_option(const CompileRequest *q, int entry)
{
    bool is_trained = entry >= PASS_optimizer;

    return q->loss && entry >= PASS_loss                            ? "--loss"
           : q->optimizer && is_trained                             ? "--optimizer"
           : q->clip_norm > 0 && is_trained                         ? "--clip-norm"
           : dtype_is_half(q->reduce) && entry >= PASS_reduce       ? "--reduce"
           : q->loss_scale && entry >= PASS_scale                   ? "--loss-scale"
           : q->no_decay.n && is_trained                            ? "--no-decay"
           : dtype_is_half(q->precision) && entry >= PASS_precision ? "--precision"
           : q->recompute.n && entry >= PASS_recompute              ? "--recompute"
                                                                    : NULL;
}

// Do the options fit a text's graph whose last pass was `entry`?
static bool check_entry(const Run *r, const Graph *g, int entry)
{
    const CompileRequest *q = r->q;
    const char *past = find_past_option(q, entry);
    int accumulate = g->accumulate ? g->accumulate : 1;
    bool trains = q->loss || has_loss(g) || entry >= PASS_optimizer;

    if (entry > r->last)
        diag_error(r->d, "%s: the graph is after %s already",
                   r->dump ? arena_string(r->a, "--dump-after %s", r->dump) : "--emit ir",
                   pass_name(entry));
    else if (past)
        diag_error(r->d, "%s doesn't apply: the graph is after %s already", past, pass_name(entry));
    else if (!trains && request_of_training(q, r->dump))
        diag_error(r->d, "%s needs --loss: the graph has none", request_of_training(q, r->dump));
    else if (trains && entry < PASS_optimizer && r->last >= PASS_optimizer && !q->optimizer)
        diag_error(r->d, "the graph has a loss, which needs --optimizer");
    else if (accumulate != q->accumulate && (g->accumulate || entry >= PASS_autodiff))
        diag_error(r->d, "--accumulate is %d, but the graph is of %d micro-batch%s a step",
                   q->accumulate, accumulate, accumulate > 1 ? "es" : "");
    else
        return true;
    return false;
}

static bool read_text(Run *r)
{
    File f;

    if (!file_map(r->q->input, &f, r->d))
        return false;
    r->text[0] = graph_parse_two(r->a, (const char *)f.data, f.size, &r->text[1], r->d);
    file_unmap(&f);
    return r->text[0] && graph_verify(r->text[0], r->d) &&
           (!r->text[1] || graph_verify(r->text[1], r->d));
}

int enter_text(Run *r)
{
    if (!r->text[0] && !read_text(r))
        return -1;
    bool is_second = !r->is_training && r->text[1];
    int entry = find_entry(r->text[0], r->d);
    if (entry < 0 || !check_entry(r, r->text[0], entry))
        return -1;
    r->g = graph_clone(r->a, r->text[is_second]);
    if (is_second)
        entry = find_entry(r->g, r->d);
    else if (!r->is_training)
        make_forward_only(r, entry);
    r->g->training = r->is_training;
    return entry;
}
