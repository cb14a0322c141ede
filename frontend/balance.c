// Warns of buffers that are added to the scores from which TopK selects, as DeepSeek's routers have
// one (e_score_correction_bias): frameworks move it as they train, so that experts are chosen
// equally often. No gradient does that, so here it stays as it is.
#include "frontend/internal.h"

enum { MAX_STEPS = 8 };  // nodes between the sum and TopK

// v seen through views.
static ValueId beneath(const Graph *g, ValueId v)
{
    while (producer(g, v)->op && producer(g, v)->op->view)
        v = producer(g, v)->in[0];
    return v;
}

// The buffer that is added to v, perhaps where a condition holds; 0: none.
static ValueId added_buffer(Import *x, ValueId v, int steps)
{
    const Graph *g = x->g;
    const Node *n = producer(g, v = beneath(g, v));
    ValueId found = 0;
    Rule r;

    if (!steps || !n->op || !n->op->is_elementwise)
        return 0;
    node_rule(x->scratch, g, n, &r);
    for (int i = 0; i < n->n_in && !found; i++) {
        ValueId term = r.joint >> i & 1 ? beneath(g, n->in[i]) : 0;
        bool is_buffer = term && value_of(g, term)->kind == VALUE_BUFFER;
        found = is_buffer ? term : term ? added_buffer(x, term, steps - 1) : 0;
    }
    return found;
}

void balance_note(Import *x, ValueId scores)
{
    ValueId v = added_buffer(x, scores, MAX_STEPS);
    const char *name = v ? value_of(x->g, v)->name : NULL;

    if (!name || map_get(&x->balances, name))
        return;
    map_set(&x->balances, name, 1);
    if (!x->n_balances++)
        x->balance = name;
}

void balance_warn(const Import *x)
{
    if (x->n_balances)
        diag_warn(x->diag,
                  "buffers (%d, the first is '%.200s') are added to the scores that TopK selects "
                  "by: a framework may move them as it trains, here they stay as they are",
                  x->n_balances, x->balance);
}
