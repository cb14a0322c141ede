// Makes scatter add its rows onto a kernel's result instead of adding two tables, as in the
// gradient of a table that an embedding and a head share. It saves a table of zeros and one sum.
#include "ir/operator/operator.h"

// The index of a sum's input that a scatter makes, if a kernel makes the other one; -1: none.
static int scattered(const Graph *g, const Node *sum, const int *readers)
{
    if (sum->op != &op_add || readers[sum->in[0]] != 1 || readers[sum->in[1]] != 1)
        return -1;
    for (int k = 0; k < 2; k++) {
        const Node *scatter = producer(g, sum->in[k]), *other = producer(g, sum->in[1 - k]);
        if (scatter->op == &op_scatter && !scatter->in[SCATTER_ONTO] && other->op &&
            other->op->kernel && is_same_block(scatter->block, sum->block) &&
            scatter->phase == sum->phase)
            return k;
    }
    return -1;
}

bool scatter_onto(Graph *g, Diag *d)
{
    const int *readers = graph_count_uses(g->arena, g);
    Rewrite r = rewrite_begin(g);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        int k = scattered(g, n, readers);
        if (k < 0) {
            if (!rewrite_copy(&r, i, d))
                return false;
            continue;
        }
        const Node *scatter = producer(g, n->in[k]);
        rewrite_at(&r, value_of(g, n->in[k])->producer);
        rewrite_put(&r, n->out[0],
                    make_scatter(r.to, r.map[scatter->in[0]], r.map[scatter->in[1]],
                                 r.map[n->in[1 - k]], "add", (int)scatter->attr[GATHER_AXIS].i,
                                 (int)scatter->attr[GATHER_BATCH].i, scatter->attr[SCATTER_N].i));
    }
    bool ok = rewrite_end(&r, d);
    graph_number_blocks(g);
    return ok;
}
