// Stores in a finished program what its readers ask of it: addresses, work, splits over ranks and
// how groups are walked. A generator needs nothing else of lower/.
#include "lower/internal.h"

// ---- splits over ranks ----

static DimSplit split_of(const Sharded *s, bool is_cut, const RtCut *c)
{
    return is_cut ? (DimSplit){*c, split_is_uneven(&s->plan->mesh, c)} : (DimSplit){0};
}

static DimSplit *split_value(Arena *a, const Sharded *s, ValueId v)
{
    int rank = s->value[v].of ? value_of(s->whole, s->value[v].of)->rank : 0;
    DimSplit *to = rank ? arena_array(a, DimSplit, rank) : NULL;
    RtCut c;

    for (int i = 0; i < rank; i++)
        to[i] = split_of(s, value_split(s, v, i, &c), &c);
    return to;
}

static DimSplit *split_node(Arena *a, const Sharded *s, NodeId n)
{
    int factors = s->node[n].of ? s->node[n].n_factors : 0;
    DimSplit *to = factors ? arena_array(a, DimSplit, factors) : NULL;
    RtCut c;

    for (int f = 0; f < factors; f++)
        to[f] = split_of(s, node_split(s, n, f, &c), &c);
    return to;
}

static void store_splits(Arena *a, Set *s)
{
    s->value_split = arena_array(a, DimSplit *, s->g->n_values);
    s->node_split = arena_array(a, DimSplit *, s->g->n_nodes);
    for (ValueId v = 1; s->sharded && v < s->sharded->n_values; v++)
        s->value_split[v] = split_value(a, s->sharded, v);
    for (NodeId n = 1; s->sharded && n < s->sharded->n_nodes; n++)
        s->node_split[n] = split_node(a, s->sharded, n);
}

// ---- items ----

static int count_inputs(const Graph *g, const Item *it)
{
    int n = 0;

    for (int i = 0; i < it->n_nodes; i++)
        n += g->nodes[it->nodes[i]].n_in;
    return n;
}

static void finish_group(const Program *p, const Set *s, Item *it)
{
    const Graph *g = s->g;
    Group *to = &it->group;
    int n = 0;

    layout_axes(it->rank, to->is_channels_last, to->axis);
    to->is_row_scalar = arena_array(p->arena, bool, it->n_nodes);
    to->is_column_sum = arena_array(p->arena, bool, it->n_nodes);
    to->is_in_place = arena_array(p->arena, bool, it->n_out);
    to->maker = arena_array(p->arena, int, count_inputs(g, it));
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *x = &g->nodes[it->nodes[i]];
        to->is_row_scalar[i] = node_is_row_scalar(g, it, x);
        to->is_column_sum[i] = is_column_sum(it, x);
        for (int k = 0; k < x->n_in; k++, n++)
            to->maker[n] = to->source[n] == SOURCE_NODE ? group_maker(g, it, x->in[k]) : -1;
    }
    for (int k = 0; k < it->n_out; k++)
        to->is_in_place[k] = group_updates_in_place(p, s, it, k);
    if (to->has_columns)
        to->sums = column_sums(g, it);
}

static void finish_item(const Program *p, const Set *s, Item *it)
{
    for (int k = 0; k < it->n_in + it->n_out; k++)
        if (it->operands[k].base)
            it->operands[k].address = operand_address(p, s, &it->operands[k]);
    if (it->kind == ITEM_GROUP)
        finish_group(p, s, it);
    it->work = item_work(p, s, it);
}

// ---- sets ----

// Counts the work of forward parts in calls before their last one.
static double count_again(const Set *s, const Function *f)
{
    ItemWalk w = item_walk_function(s, f);
    double sum = 0;

    while (f->calls && item_walk_next(&w)) {
        const Call *c = &f->calls->call[w.call];
        bool is_again = !c->is_last && !f->calls->part[c->part].is_backward;
        for (int i = 0; is_again && i < s->items[w.item].n_nodes; i++) {
            const Node *n = &s->g->nodes[s->items[w.item].nodes[i]];
            sum += n->op->is_product ? node_flops(s->g, n) : 0;
        }
    }
    return sum;
}

// Counts the work of all ranks together.
static double count_flops(const Program *p, const Set *s)
{
    const Graph *g = s->sharded ? s->sharded->whole : s->g;
    double sum = 0;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        double flops = n->op->is_product ? node_flops(g, n) : 0;
        sum += n->phase == UPDATE ? flops : flops * p->accumulate;
    }
    for (int i = 0; i < s->n_functions; i++)
        sum += p->accumulate * count_again(s, &s->functions[i]);
    return sum;
}

void program_finish(Program *p)
{
    for (int i = 0; i < N_SETS; i++) {
        Set *s = &p->set[i];
        if (!s->g)
            continue;
        s->address = arena_array(p->arena, Address, s->g->n_values);
        for (ValueId v = 1; v < s->g->n_values; v++)
            value_address(p, s, v, &s->address[v]);
        store_splits(p->arena, s);
        s->flops = count_flops(p, s);
        for (int k = 0; k < s->n_items; k++)
            finish_item(p, s, &s->items[k]);
    }
}
