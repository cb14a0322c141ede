// Checks that the loss of a step is the sum of those of its micro-batches, and makes it so where
// that needs a factor or the sum of a count. The batch as a whole is asked what its loss depends
// on, because in a micro-batch of one sample nothing can be told.
#include <math.h>

#include "ir/passes/train/samples.h"
#include "ir/passes/train/training.h"

typedef struct Micro {
    Graph *g;
    const Graph *whole;  // with all samples in one batch; `g` itself if there is no such graph
    Samples samples;     // of `whole`
    Arena *arena;
    int accumulate;
    Diag *d;
    ValueId sum, count;  // of `whole`: see find_tail
} Micro;

static void set_output(Graph *g, OutputRole role, ValueId v)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == role)
            g->outputs[i].value = v;
}

static bool is_bad(const Reads *r) { return r->mixed || r->by_position; }

// Reports that `v` reads several samples.
static bool refuse(const Micro *m, ValueId v)
{
    const Graph *w = m->whole;
    const Reads *r = &m->samples.of[v];
    const Node *n = &w->nodes[r->mixed ? r->mixed : r->by_position];
    bool ok = node_error(
        w, n, m->d, "--accumulate: here the loss %s, so micro-batches would train another loss",
        r->mixed ? "reads several samples other than as a sum over samples"
                 : "depends on the positions of samples in the batch");

    for (int i = 0; i < n->n_in; i++) {
        NodeId summed = n->in[i] ? m->samples.of[n->in[i]].summed : 0;
        const Source *s = summed ? w->nodes[summed].source : NULL;
        if (s && s->name && *s->name) {
            diag_note(m->d, "samples are added up in  %s%s%s", s->name,
                      s->scope && *s->scope ? "  " : "", s->scope ? s->scope : "");
            break;
        }
    }
    return ok;
}

// ---- how terms are scaled ----

// The factor by which an elementwise node changes its only operand that isn't a number. Sets *at to
// that operand; -1: it isn't linear in it alone.
static double factor_of(const Graph *g, const Node *n, const Rule *r, int *at)
{
    double x[3] = {0};
    int one = -1;

    *at = -1;
    if (n->n_in > 2 || (n->n_in == 2 && !n->op->scalar))
        return 1;
    for (int i = 0; i < n->n_in; i++)
        if (!value_splat(g, n->in[i], &x[i])) {
            if (one >= 0)
                return 1;
            one = i;
        }
    bool is_alone = n->n_in == 1 && (r->joint & 1);
    if (one < 0 || !(is_alone || r->single >> one & 1))
        return 1;
    *at = one;
    x[one] = 1;
    return n->op->scalar ? n->op->scalar(n, x) : 1;
}

// Goes from v to what it is a multiple of, or the sum of all elements of; *c gets the factor.
static ValueId strip(Arena *a, const Graph *g, ValueId v, double *c)
{
    for (Rule r; value_of(g, v)->producer;) {
        const Node *n = producer(g, v);
        int at = -1;
        node_rule(a, g, n, &r);
        if (n->op->is_elementwise) {
            *c *= factor_of(g, n, &r, &at);
        } else if (n->n_in == 1 && n->n_out == 1 && r.joint == 1) {
            int64_t from = value_count(in(g, n, 0)), to = value_count(out(g, n));
            if (n->op->is_sum || (n->op->view && to >= from)) {
                at = 0;
                *c *= n->op->view ? (double)to / (double)from : 1;
            }
        }
        if (at < 0)
            break;
        v = n->in[at];
    }
    return v;
}

static bool is_sum_of_two(Arena *a, const Graph *g, ValueId v)
{
    if (!value_of(g, v)->producer || producer(g, v)->n_in != 2)
        return false;
    Rule r;
    node_rule(a, g, producer(g, v), &r);
    return producer(g, v)->op->is_elementwise && r.joint == 3;
}

// The factors of all terms of v, a sum in which `u` is the same with a micro-batch's size: of terms
// with samples times `sums`, of others times `others`. Sets *factor to that of the first term.
// Returns false if another one differs.
static bool find_factor(const Micro *m, ValueId u, ValueId v, double sums, double others,
                        double *factor)
{
    double of_u = 1, of_v = 1, x;

    u = strip(m->arena, m->g, u, &of_u);
    v = strip(m->arena, m->whole, v, &of_v);
    sums *= of_v / of_u;
    others *= of_v / of_u;
    if (is_sum_of_two(m->arena, m->g, u) && is_sum_of_two(m->arena, m->whole, v) &&
        producer(m->g, u)->op == producer(m->whole, v)->op)
        return find_factor(m, producer(m->g, u)->in[0], producer(m->whole, v)->in[0], sums, others,
                           factor) &&
               find_factor(m, producer(m->g, u)->in[1], producer(m->whole, v)->in[1], sums, others,
                           factor);
    if (value_splat(m->whole, v, &x) && x == 0)
        return true;
    double is = reads_nothing(&m->samples.of[v]) ? others : sums;
    if (*factor == 0)
        *factor = is;
    return fabs(is - *factor) <= 1e-5 * fabs(*factor);
}

// u times the factor that makes the sum over micro-batches what `v` is for the whole batch; 0 after
// an error. In the end u is divided: of the batch by `of_whole`, of a micro-batch by `of_micro`, of
// which all are added up, unless the count isn't a number.
static ValueId scaled_to(Micro *m, ValueId u, ValueId v, double of_whole, double of_micro)
{
    double factor = 0, k = m->accumulate;

    if (m->whole == m->g)
        return u;
    if (!find_factor(m, u, v, k * of_micro / of_whole, of_micro / of_whole, &factor)) {
        node_error(m->whole, producer(m->whole, v), m->d,
                   "--accumulate: some terms of the loss are sums over the batch and others means "
                   "or no samples' at all, so micro-batches would weigh them differently");
        return 0;
    }
    if (factor == 0 || fabs(factor - 1) <= 1e-5)
        return u;
    double whole = rint(factor);
    factor = fabs(factor - whole) <= 1e-5 * fabs(factor) ? whole : factor;
    return make_mul(m->g, u, scalar_like(m->g, u, factor));
}

// ---- means whose count depends on the samples ----

static bool is_known(const Graph *g, ValueId v)
{
    if (!value_of(g, v)->producer)
        return value_of(g, v)->kind == VALUE_CONSTANT;
    const Node *n = producer(g, v);
    bool is = n->n_out == 1;
    for (int i = 0; i < n->n_in && is; i++)
        is = n->in[i] && is_known(g, n->in[i]);
    return is;
}

// The loss may be t(sum, count), linear in a sum over samples, where count is another one that no
// parameter changes. Finds both. Returns false if v isn't of that form; *has_sum: it depends on the
// sum.
static bool find_tail(Micro *m, ValueId v, bool *has_sum)
{
    const Graph *w = m->whole;
    const Reads *r = &m->samples.of[v];
    ValueId *is = r->has_weight ? &m->sum : &m->count;

    *has_sum = false;
    if (reads_nothing(r))
        return is_known(w, v);
    if (reads_sum(r)) {
        *has_sum = r->has_weight;
        bool is_fine = (!*is || *is == v) && value_count(value_of(w, v)) == 1;
        *is = v;
        return is_fine;
    }
    if (r->stride || !value_of(w, v)->producer)
        return false;
    const Node *n = producer(w, v);
    Rule rule;
    node_rule(m->arena, w, n, &rule);
    if (n->n_out != 1)
        return false;
    for (int i = 0; i < n->n_in; i++) {
        bool has;
        if (!n->in[i] || !find_tail(m, n->in[i], &has) || (has && *has_sum))
            return false;
        bool is_alone = n->n_in == 1 && (rule.joint & 1);
        if (has && !is_alone && !(i < 64 && rule.single >> i & 1))
            return false;
        *has_sum |= has;
    }
    return true;
}

// The value of the micro-batch's graph that corresponds to `of`, a value below v in the whole
// graph, if u corresponds to v; 0: there is none.
static ValueId find_same(const Micro *m, ValueId u, ValueId v, ValueId of)
{
    if (v == of)
        return u;
    if (!value_of(m->whole, v)->producer || !value_of(m->g, u)->producer ||
        reads_nothing(&m->samples.of[v]) || reads_sum(&m->samples.of[v]))
        return 0;
    const Node *n = producer(m->whole, v), *same = producer(m->g, u);
    if (n->op != same->op || n->n_in != same->n_in)
        return 0;
    for (int i = 0; i < n->n_in; i++) {
        ValueId found = find_same(m, same->in[i], n->in[i], of);
        if (found)
            return found;
    }
    return 0;
}

// t(1, count): a copy of the whole batch's nodes from there on.
static ValueId copy_tail(Micro *m, ValueId v, ValueId count)
{
    const Value *x = value_of(m->whole, v);

    if (v == m->count)
        return count;
    if (v == m->sum)
        return make_broadcast(m->g, graph_scalar(m->g, x->dtype, 1), x->rank, x->dim, NULL);
    if (!x->producer)
        return graph_constant(m->g, x->dtype, x->rank, x->dim, x->data);
    const Node *n = producer(m->whole, v);
    ValueId *in = arena_array(m->arena, ValueId, n->n_in);
    for (int i = 0; i < n->n_in; i++)
        in[i] = copy_tail(m, n->in[i], count);
    return graph_node(m->g, n->op, n->n_in, in, n->attr);
}

static ValueId as_number(Graph *g, ValueId v)
{
    return make_cast(g, value_of(g, v)->rank ? make_reshape(g, v, 0, NULL) : v, F32);
}

// Makes the sum and the count the outputs that micro-batches add up, and t(1, count) the factor of
// the sum.
static bool split_mean(Micro *m, ValueId u, ValueId v)
{
    Graph *g = m->g;
    bool has_sum;

    if (!find_tail(m, v, &has_sum) || !has_sum || !m->count)
        return refuse(m, v);
    ValueId sum = find_same(m, u, v, m->sum), count = find_same(m, u, v, m->count);
    if (!sum || !count)
        return refuse(m, v);
    const Node *n = producer(g, u);
    g->source = n->source;
    sum = scaled_to(m, sum, m->sum, m->accumulate, 1);
    count = sum ? scaled_to(m, count, m->count, m->accumulate, 1) : 0;
    if (!count)
        return false;
    Value like = *value_of(g, count);
    ValueId total = graph_value(g, VALUE_ZERO, LOSS_COUNT_TOTAL, F32, 0, NULL);
    total =
        make_cast(g, like.rank ? make_reshape(g, total, like.rank, like.dim) : total, like.dtype);
    ValueId factor = copy_tail(m, v, total);
    if (!factor)
        return false;
    set_output(g, OUTPUT_LOSS_SUM, as_number(g, sum));
    set_output(g, OUTPUT_LOSS_COUNT, as_number(g, count));
    graph_output(g, "factor", as_number(g, factor), OUTPUT_LOSS_FACTOR);
    return true;
}

// ---- the pass ----

static bool run(Micro *m)
{
    ValueId u = output_of_role(m->g, OUTPUT_LOSS_SUM),
            v = output_of_role(m->whole, OUTPUT_LOSS_SUM);
    ValueId of_u = output_of_role(m->g, OUTPUT_LOSS_COUNT);
    ValueId of_v = output_of_role(m->whole, OUTPUT_LOSS_COUNT);
    double micro = 1, whole = m->accumulate;
    const Reads *r = &m->samples.of[v];
    bool is_number = value_splat(m->whole, of_v, &whole) && value_splat(m->g, of_u, &micro);
    bool is_plain = is_number && whole == 1;  // the model makes one number

    if (is_bad(&m->samples.of[of_v]))
        return refuse(m, of_v);
    if (r->mixed && !r->by_position && is_plain)
        return split_mean(m, u, v);
    if (is_bad(r))
        return refuse(m, v);
    if (is_plain && m->whole == m->g && m->accumulate > 1 && !reads_nothing(r))
        diag_warn(m->d,
                  "--accumulate: the loss is taken for a mean over the batch: the graph's text "
                  "doesn't say how it changes with the batch's size");
    // A count that isn't a number is the whole one once all micro-batches are added up.
    ValueId scaled = scaled_to(m, u, v, whole, is_number ? micro : 1);
    if (scaled)
        set_output(m->g, OUTPUT_LOSS_SUM, scaled);
    return scaled;
}

bool micro_batches(Graph *g, const Graph *whole, int accumulate, Diag *d)
{
    Arena *a = arena_new();
    Micro m = {.g = g,
               .whole = whole ? whole : g,
               .samples = samples_read(a, whole ? whole : g),
               .arena = a,
               .accumulate = accumulate,
               .d = d};

    g->diag = d;
    g->phase = FORWARD;
    g->block = (Block){0};
    bool ok = run(&m);
    g->source = NULL;
    arena_free(a);
    return ok;
}
