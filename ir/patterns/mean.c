// The means pass: subtracts means that are exact where all elements are equal. A sum rounds, so the
// mean of equal elements is another number than they are; a norm then divides the difference, of
// 3e-5 at values of 300, by √ε. The mean of what it is off by is small and corrects it:
//
//     a = Σx · 1/n;  e = Σ(a - x) · 1/n;  x - (a - e)
//
// For equal elements, a - x is exact and the same everywhere, and a - e rounds to x, in any order
// of the sums and with any number of ranks that share them.
#include "ir/patterns/match.h"

// Are means along the axes statistics of a batch, one for each channel? These are left as they are:
// a second sum is another pass over memory, and another exchange where ranks share the batch.
static bool is_of_batch(const Attr *axes, int rank)
{
    return axes->n > 0 && axes->v[0] == 0 && axes->n < rank;
}

static bool match_centred(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    const Node *spread = n->op == &op_sub ? made_by(m, n->in[1], &op_broadcast) : NULL;
    const Attr *axes;
    ValueId of, mean;

    if (!spread || !is_mean(m, spread->in[0], &of, &axes) || of != n->in[0] ||
        !is_spread(m, n->in[1], axes, &mean) || is_of_batch(axes, value_of(m->g, of)->rank))
        return false;
    ValueId x = now(m, of), off = make_sub(g, now(m, n->in[1]), x);
    ValueId error = make_stop_gradient(g, make_mean(g, off, axes->n, axes->v));
    ValueId exact = make_compensate(g, now(m, mean), error);
    return replace(m, n, make_sub(g, x, broadcast_over(g, exact, x, axes->n, axes->v)));
}

bool means(Graph *g, Diag *d) { return patterns_apply(g, (Pattern *[]){match_centred}, 1, d); }
