// Computes the work of nodes, and the time that the work takes.
#include <math.h>

#include "analyzer/machine/machine.h"

double node_flops(const Graph *g, const Node *n)
{
    double flops = n->op->flops;
    Rule r = {0};

    if (n->op->work)
        return n->op->work(g, n);
    if (flops == 0)
        return 0;
    Arena *a = arena_new();
    node_rule(a, g, n, &r);
    for (int k = 0; k < r.n_factors; k++)
        flops *= (double)r.size[k];
    arena_free(a);
    return flops;
}

// ---- bytes ----

// Does a node touch only some rows of operand `i`, because a dim of it is indexed?
static bool is_table(const Graph *g, const Node *n, const Rule *r, int i)
{
    const Value *v = value_of(g, n->in[i]);

    for (int k = 0; k < v->rank; k++)
        if (r->kind[r->dim[i][k]] == FACTOR_MASKED)
            return true;
    return false;
}

double accessed_bytes(const Graph *g, const Node *n, const Rule *r, int i)
{
    ValueId id = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
    double bytes = id ? (double)value_bytes(value_of(g, id)) : 0, of_rows = 0;

    if (id && i < n->n_in && is_table(g, n, r, i))
        of_rows = (double)value_bytes(out(g, n));
    return of_rows > 0 && of_rows < bytes ? of_rows : bytes;
}

double node_bytes(const Graph *g, const Node *n, int i)
{
    Arena *a = arena_new();
    Rule r = {0};

    node_rule(a, g, n, &r);
    double bytes = accessed_bytes(g, n, &r, i);
    arena_free(a);
    return bytes;
}

// ---- products ----

bool operand_has_factor(const Rule *r, int operand, int f)
{
    for (int i = 0; i < MAX_RANK; i++)
        if (r->dim[operand][i] == f)
            return true;
    return false;
}

// A factor belongs to m if only the first operand has it, to n if only the second operand and the
// result have it, and to batch if all three have it. k is what remains of the flops: the factors
// that are summed over.
static void find_product(const Graph *g, const Node *n, Work *w)
{
    Rule r = {0};
    Arena *a = arena_new();

    w->batch = w->m = w->n = 1;
    node_rule(a, g, n, &r);
    for (int f = 0; f < r.n_factors; f++) {
        bool in_a = operand_has_factor(&r, 0, f), in_b = operand_has_factor(&r, 1, f);
        bool in_y = operand_has_factor(&r, n->n_in, f);
        double size = (double)r.size[f];
        if (in_a && in_b)
            w->batch *= in_y ? size : 1;
        else if (in_a)
            w->m *= size;
        else if (in_b && in_y)
            w->n *= size;
    }
    double sums = w->flops / (2 * w->batch * w->m * w->n);
    w->k = sums > 1 ? sums : 1;
    arena_free(a);
}

Work node_work(const Graph *g, const Node *n)
{
    Work w = {.flops = node_flops(g, n), .type = out(g, n)->dtype};

    w.is_product = n->op->is_product;
    w.type = w.is_product ? in(g, n, 0)->dtype : w.type;
    w.is_attention = n->op->is_attention;
    w.is_attention_grad = n->op->is_attention_grad;
    if (w.is_product)
        find_product(g, n, &w);
    return w;
}

// ---- time ----

// The distance of two sizes: the sum of their ratios' logarithms.
static double distance(const GemmRate *r, const Work *w)
{
    double of_one = fabs(log(r->m / w->m)) + fabs(log(r->n / w->n)) + fabs(log(r->k / w->k));

    return r->batch > 0 ? of_one + fabs(log(r->batch / w->batch)) : of_one;
}

// The rate of attention, or of its gradient; 0: it has none of its own.
static double attention_rate(const AttentionRate *r, const Work *w)
{
    return w->is_attention_grad && r->grad > 0 ? r->grad : w->is_attention ? r->forward : 0;
}

// The rate of products of a type; 0: there is none.
static double product_rate(const Cluster *c, const Work *w, DType type)
{
    const GemmRate *best = NULL;

    for (int i = 0; i < c->n_gemm; i++) {
        const GemmRate *r = &c->gemm[i];
        if (r->type == type && (!best || distance(r, w) < distance(best, w)))
            best = r;
    }
    return best ? best->flops : 0;
}

// Halves without a rate of their own are widened, and have that of f32.
static double flop_rate(const Cluster *c, const Work *w)
{
    bool is_half = dtype_is_half(w->type);

    if (!w->is_product)
        return c->vector;
    double rate = is_half          ? attention_rate(&c->half_attention, w)
                  : w->type == F32 ? attention_rate(&c->attention, w)
                                   : 0;
    if (rate <= 0)
        rate = product_rate(c, w, w->type);
    if (rate <= 0 && is_half)
        rate = attention_rate(&c->attention, w);
    if (rate <= 0 && is_half)
        rate = product_rate(c, w, F32);
    return rate > 0 ? rate : c->vector;
}

double work_seconds(const Cluster *c, const Work *w)
{
    double by_memory = fmax(w->read / c->read_bandwidth, (w->read + w->written) / c->bandwidth);

    return fmax(w->flops / flop_rate(c, w), by_memory) + c->launch;
}

double shard_seconds(const Cluster *c, const Work *w)
{
    double seconds = work_seconds(c, w);

    return w->written > 0 ? seconds : seconds - c->launch;
}
