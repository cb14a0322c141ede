// Finds what each fused group reads and writes, once all readers of its values are known.
#include <string.h>

#include "lower/internal.h"

bool node_is_row_scalar(const Graph *g, const Item *it, const Node *n)
{
    int rank = out(g, n)->rank;

    return it->group.has_rows && n->op->expr && rank == it->group.row_rank && rank != it->rank;
}

int group_maker(const Graph *g, const Item *it, ValueId v)
{
    for (; value_of(g, v)->producer; v = producer(g, v)->in[0]) {
        for (int i = 0; i < it->n_nodes; i++)
            if (it->nodes[i] == value_of(g, v)->producer)
                return i;
        if (!producer(g, v)->op->view)
            break;
    }
    return -1;
}

typedef struct Groups {
    Lowering *l;
    int *mark;      // by NodeId: 1 + the last group that has the node
    bool *is_read;  // by ValueId of iteration 0: read by some item or from outside
    int cap_nodes;
} Groups;

static bool operand_equal(const Operand *a, const Operand *b)
{
    return a->base == b->base && a->is_instance == b->is_instance && a->delta == b->delta &&
           a->offset == b->offset && !memcmp(a->step, b->step, sizeof a->step) &&
           a->loop == b->loop && a->rank_slice.slice == b->rank_slice.slice &&
           !memcmp(a->stride, b->stride, sizeof a->stride);
}

// Adds a node to the group, after the inlined nodes that it reads.
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
    NodeId *root = it->nodes;
    int n = it->n_nodes;

    it->nodes = NULL;
    it->n_nodes = gr->cap_nodes = 0;
    for (int k = 0; k < n; k++)
        expand_node(gr, it, root[k], item);
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

// Is input k of the node one number, the same in all iterations? Then it is a literal in the text.
static bool is_literal(const Lowering *l, int region, NodeId n, int k)
{
    int length = region ? l->g->classes[l->regions[region].cls].length : 1;
    double first, c;

    if (!value_splat(l->g, l->g->nodes[n].in[k], &first))
        return false;
    for (int i = 0; i < length && region; i++) {
        NodeId instance = node_instance(l, n, i);
        if (!value_splat(l->g, l->g->nodes[instance].in[k], &c) || memcmp(&c, &first, sizeof c))
            return false;
    }
    return true;
}

// Does the group itself make the value, as an element or as a row scalar?
static bool is_made_in_group(const Groups *gr, const Item *it, ValueId v, int item)
{
    const Lowering *l = gr->l;
    ValueId b = l->view[v].base;
    NodeId from = value_of(l->g, b)->producer;

    return from && gr->mark[from] == 1 + item &&
           (b == v || (it->group.has_rows && value_of(l->g, v)->rank == it->rank &&
                       is_row_broadcast(l, v, it->group.row_rank)));
}

static void find_inputs(Groups *gr, Item *it, int item)
{
    const Lowering *l = gr->l;
    const Graph *g = l->g;
    int cap = 0, cap_source = 0, n = 0;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &g->nodes[it->nodes[i]];
        for (int k = 0; k < x->n_in; k++) {
            int *source = arena_push(l->p->arena, it->group.source, n, cap_source);
            if (is_made_in_group(gr, it, x->in[k], item)) {
                *source = SOURCE_NODE;
            } else if (is_literal(l, it->region, it->nodes[i], k)) {
                *source = SOURCE_SPLAT;
            } else {
                Operand o = input_operand(l, it->region, it->nodes[i], k);
                *source = find_operand(gr, it, &o, &cap);
            }
        }
    }
}

static bool is_sum_or_row_scalar(const Lowering *l, const Item *it, const Node *n)
{
    return n->op->is_sum || node_is_row_scalar(l->g, it, n);
}

// Moves a node that overwrites a value that the group reads to the last pass over the row. A row
// scalar that reads such a row scalar moves too.
static void delay_updates(Groups *gr, Item *it)
{
    const Lowering *l = gr->l;
    const int *source = it->group.source;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &l->g->nodes[it->nodes[i]];
        bool is_row_scalar = node_is_row_scalar(l->g, it, x);
        int *pass = &it->group.pass[i];
        for (int k = 0; k < x->n_in; k++, source++) {
            if (!is_row_scalar || *source != SOURCE_NODE)
                continue;
            int from = it->group.pass[group_maker(l->g, it, x->in[k])];
            *pass = from > *pass ? from : *pass;
        }
        if (!x->op->is_sum && l->carried_in[x->out[0]])
            *pass = it->group.n_passes - 1;
    }
}

// Finds each node's row pass: see Group.pass.
static void find_passes(Groups *gr, Item *it)
{
    const Lowering *l = gr->l;
    const int *source = it->group.source;

    it->group.n_passes = 1;
    it->group.pass = arena_array(l->p->arena, int, it->n_nodes);
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &l->g->nodes[it->nodes[i]];
        bool is_row_scalar = node_is_row_scalar(l->g, it, x);
        int pass = is_row_scalar ? -1 : 0;
        for (int k = 0; k < x->n_in; k++, source++) {
            if (*source != SOURCE_NODE)
                continue;
            int maker = group_maker(l->g, it, x->in[k]), from = it->group.pass[maker];
            from += !is_row_scalar && is_sum_or_row_scalar(l, it, &l->g->nodes[it->nodes[maker]]);
            pass = from > pass ? from : pass;
        }
        it->group.pass[i] = pass;
        it->group.n_passes = pass >= it->group.n_passes ? pass + 1 : it->group.n_passes;
    }
    delay_updates(gr, it);
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
        if (gr->is_read[value_instance(l, l->view[v].base, 0)] && !is_inlined(l, v))
            ops[it->n_in + it->n_out++] = output_operand(l, it->region, it->nodes[i], 0);
    }
}

static int64_t workspace_of_sums(const Lowering *l, const Item *it)
{
    Kernel k = {.def = kernel_find("sums")};

    if (!it->group.has_columns)
        return 0;
    k.params.sums = column_sums(l->g, it);
    return target_workspace(l->o->target, &k);
}

void finish_groups(Lowering *l)
{
    const Graph *g = l->g;
    Set *s = l->s;
    Groups gr = {.l = l};

    gr.mark = arena_array(l->p->arena, int, g->n_nodes);
    gr.is_read = arena_array(l->p->arena, bool, l->cap_values);
    for (int i = 0; i < g->n_outputs; i++)
        gr.is_read[value_instance(l, g->outputs[i].value, 0)] = true;
    for (int i = 0; i < g->n_carries; i++)
        gr.is_read[value_instance(l, g->carries[i].out, 0)] = true;
    for (int i = 0; i < s->n_items; i++) {
        Item *it = &s->items[i];
        if (it->kind == ITEM_GROUP) {
            expand(&gr, it, i);
            find_inputs(&gr, it, i);
            find_passes(&gr, it);
            it->group.workspace = workspace_of_sums(l, it);
        }
        for (int k = 0; k < it->n_in; k++)
            gr.is_read[value_instance(l, it->operands[k].base, 0)] = true;
    }
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_GROUP)
            find_outputs(&gr, &s->items[i]);
}
