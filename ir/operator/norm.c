// Recognises the values whose roots are norms and standard deviations. At 0 their gradient is 0, as
// PyTorch defines it, and not the root's, which is infinite.
#include "ir/operator/operator.h"

enum { DEPTH = 8 };  // nodes between the powers and the root that are looked through

// The input of n if n moves or sums elements or scales them by a positive number, else 0.
static ValueId passed(const Graph *g, const Node *n)
{
    double factor;

    if (n->op == &op_reduce_sum || n->op == &op_cast || (n->op->view && n->n_in == 1))
        return n->in[0];
    if ((n->op == &op_mul || n->op == &op_div) && value_splat(g, n->in[1], &factor))
        return factor > 0 ? n->in[0] : 0;
    return n->op == &op_mul && value_splat(g, n->in[0], &factor) && factor > 0 ? n->in[1] : 0;
}

static bool is_square(const Node *n) { return n->op == &op_mul && n->in[0] == n->in[1]; }

// Is n's output x · x, x · x · x of a size x, or |x|^p with p > 1?
static bool is_power(const Graph *g, const Node *n)
{
    double p;

    if (n->op == &op_mul && producer(g, n->in[1])->op == &op_abs) {
        const Node *square = producer(g, n->in[0]);
        return is_square(n) || (is_square(square) && square->in[0] == n->in[1]);
    }
    if (n->op != &op_pow)
        return is_square(n);
    return value_splat(g, n->in[1], &p) && p > 1 &&
           (producer(g, n->in[0])->op == &op_abs || p == 2);
}

static bool is_norm_power(const Graph *g, ValueId v, int depth)
{
    const Node *n = producer(g, v);

    if (!depth || !value_of(g, v)->producer)
        return false;
    if (is_power(g, n))
        return true;
    ValueId from = passed(g, n);
    if (from)
        return is_norm_power(g, from, depth - 1);
    return n->op == &op_mul && is_norm_power(g, n->in[0], depth - 1) &&
           is_norm_power(g, n->in[1], depth - 1);
}

bool value_is_norm_power(const Graph *g, ValueId v) { return is_norm_power(g, v, DEPTH); }
