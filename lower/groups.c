// What the fused groups read and write, once it is known what else reads their values.
#include <string.h>

#include "lower/internal.h"

typedef struct Groups {
    Lowering *l;
    int *mark;      // by NodeId: 1 + the last item that the node was put into
    bool *is_read;  // by ValueId of iteration 0: read by some item, or from outside
    int cap_nodes;
} Groups;

static bool operand_equal(const Operand *a, const Operand *b)
{
    return a->base == b->base && a->is_twin == b->is_twin && a->delta == b->delta &&
           a->offset == b->offset && a->step == b->step &&
           !memcmp(a->stride, b->stride, sizeof a->stride);
}

// The group's nodes, those that it makes again put in before their first use.
static void expand_node(Groups *gr, Item *it, NodeId n, int item)
{
    const Lowering *l = gr->l;
    const Node *x = &l->g->nodes[n];

    if (gr->mark[n] == 1 + item)
        return;
    gr->mark[n] = 1 + item;
    for (int k = 0; k < x->n_in; k++) {
        ValueId b = l->view[x->in[k]].base;
        if (b == x->in[k] && is_inlined(l, b))
            expand_node(gr, it, value_of(l->g, b)->producer, item);
    }
    *arena_push(l->p->arena, it->nodes, it->n_nodes, gr->cap_nodes) = n;
}

static void expand(Groups *gr, Item *it, int item)
{
    NodeId *own = it->nodes;
    int n = it->n_nodes;

    it->nodes = NULL;
    it->n_nodes = gr->cap_nodes = 0;
    for (int k = 0; k < n; k++)
        expand_node(gr, it, own[k], item);
}

static int find_operand(Groups *gr, Item *it, const Operand *o, int *cap)
{
    int j = 0;

    while (j < it->n_in && !operand_equal(&it->operands[j], o))
        j++;
    if (j == it->n_in)
        *arena_push(gr->l->p->arena, it->operands, it->n_in, *cap) = *o;
    return j;
}

static void find_inputs(Groups *gr, Item *it, int item)
{
    const Lowering *l = gr->l;
    const Graph *g = l->g;
    int cap = 0, cap_source = 0, n = 0;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &g->nodes[it->nodes[i]];
        for (int k = 0; k < x->n_in; k++) {
            ValueId b = l->view[x->in[k]].base;
            NodeId from = value_of(g, b)->producer;
            int *source = arena_push(l->p->arena, it->source, n, cap_source);
            double c;
            if (b == x->in[k] && from && gr->mark[from] == 1 + item) {
                *source = SOURCE_NODE;
            } else if (value_splat(g, x->in[k], &c)) {
                *source = SOURCE_SPLAT;
            } else {
                Operand o = input_operand(l, it->region, it->nodes[i], k);
                *source = find_operand(gr, it, &o, &cap);
            }
        }
    }
}

static void find_outputs(Groups *gr, Item *it)
{
    const Lowering *l = gr->l;
    Operand *ops = arena_array(l->p->arena, Operand, it->n_in + it->n_nodes);

    if (it->n_in)
        memcpy(ops, it->operands, sizeof *ops * (size_t)it->n_in);
    it->operands = ops;
    for (int i = 0; i < it->n_nodes; i++) {
        ValueId v = l->g->nodes[it->nodes[i]].out[0];
        if (gr->is_read[twin_value(l, l->view[v].base, 0)] && !is_inlined(l, v))
            ops[it->n_in + it->n_out++] = output_operand(l, it->region, it->nodes[i], 0);
    }
}

void finish_groups(Lowering *l)
{
    const Graph *g = l->g;
    Set *s = l->s;
    Groups gr = {.l = l};

    gr.mark = arena_array(l->p->arena, int, g->n_nodes);
    gr.is_read = arena_array(l->p->arena, bool, l->cap_values);
    for (int i = 0; i < g->n_outputs; i++)
        gr.is_read[twin_value(l, g->outputs[i].value, 0)] = true;
    for (int i = 0; i < g->n_carries; i++)
        gr.is_read[twin_value(l, g->carries[i].out, 0)] = true;
    for (int i = 0; i < s->n_items; i++) {
        Item *it = &s->items[i];
        if (it->kind == ITEM_GROUP) {
            expand(&gr, it, i);
            find_inputs(&gr, it, i);
        }
        for (int k = 0; k < it->n_in; k++)
            gr.is_read[twin_value(l, it->operands[k].base, 0)] = true;
    }
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_GROUP)
            find_outputs(&gr, &s->items[i]);
}
