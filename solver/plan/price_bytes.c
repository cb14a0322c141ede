// Adds a price of bytes to the costs of a plan's problem, instead of a limit.
#include <math.h>

#include "solver/plan/build_problem.h"

static int last_forward_loop(const Builder *b)
{
    int last = -1;

    for (NodeId i = 1; i < b->g->n_nodes; i++) {
        const Node *n = &b->g->nodes[i];
        if (n->block.cls && n->phase == FORWARD && b->live_ranges->item[i] > last)
            last = b->live_ranges->item[i];
    }
    return last;
}

// The bytes of the activations that a node reads and writes.
static double touched_bytes(const Graph *g, const Node *n)
{
    double bytes = 0;

    for (int i = 0; i < n->n_in + n->n_out; i++) {
        const Value *v = value_of(g, nth_operand(n, i));
        bytes += v->kind == VALUE_ACTIVATION ? (double)value_bytes(v) : 0;
    }
    return bytes;
}

// The item of the forward node after all forward loops that touches the most bytes, or of the last
// one. The forward part doesn't depend on what runs again, so nor does the node.
static int largest_forward_item(const Builder *b)
{
    int after = last_forward_loop(b), item = after;
    double most = -1;

    for (NodeId i = 1; i < b->g->n_nodes; i++) {
        const Node *n = &b->g->nodes[i];
        if (n->phase != FORWARD || b->live_ranges->item[i] <= after)
            continue;
        double bytes = touched_bytes(b->g, n);
        if (bytes > most) {
            most = bytes;
            item = b->live_ranges->item[i];
        }
    }
    return item;
}

static int first_backward_item(const Builder *b)
{
    int first = b->live_ranges->n_items;

    for (NodeId i = 1; i < b->g->n_nodes; i++) {
        int item = b->live_ranges->item[i];
        if (b->g->nodes[i].phase == BACKWARD && item >= 0 && item < first)
            first = item;
    }
    return first;
}

void plan_price_bytes(const Builder *b)
{
    Problem *p = &b->q->problem;
    const BytePrice *price = &b->o->byte_price;
    int at = price->at == AT_FIRST_BACKWARD ? first_backward_item(b) : largest_forward_item(b);

    for (int k = 0; k < p->first[p->n_nodes]; k++) {
        double bytes = 0;
        for (int i = p->first_live[k]; i < p->first_live[k + 1]; i++)
            if (p->live[i].first <= at && at < p->live[i].last)
                bytes += (double)p->live[i].bytes;
        double more = floor(bytes * price->picoseconds);
        if (p->cost[k] < COST_FORBIDDEN)
            p->cost[k] += more < (double)(COST_FORBIDDEN / 2) ? (int64_t)more : 0;
    }
}
