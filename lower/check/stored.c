// Checks that what program_finish stored is what the items say: generators read it alone.
#include <string.h>

#include "lower/check/check.h"

void check_stored_addresses(Check *c)
{
    const Item *it = c->it;

    for (int k = 0; k < it->n_in + it->n_out; k++) {
        const Operand *o = &it->operands[k];
        Address a = o->base ? operand_address(c->p, c->s, o) : (Address){0};
        if (!address_equal(&a, &o->address))
            check_fail(c, NULL, "operand %d is at %" PRId64 ", but should be at %" PRId64, k,
                       o->address.at, a.at);
    }
}

void check_stored_group(Check *c)
{
    const Item *it = c->it;
    const Group *gr = &it->group;
    RtSums sums = gr->has_columns ? column_sums(c->g, it) : (RtSums){0};
    int axis[MAX_RANK] = {0};

    layout_axes(it->rank, gr->is_channels_last, axis);
    if (memcmp(axis, gr->axis, sizeof axis) || memcmp(&sums, &gr->sums, sizeof sums))
        check_fail(c, NULL, "the group is walked in another order than its dims say");
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &c->g->nodes[it->nodes[i]];
        if (gr->is_row_scalar[i] != node_is_row_scalar(c->g, it, n) ||
            gr->is_column_sum[i] != is_column_sum(it, n))
            check_fail(c, n, "it is counted among other nodes of its group than it belongs to");
    }
    for (int k = 0; k < it->n_out; k++)
        if (gr->is_in_place[k] != group_updates_in_place(c->p, c->s, it, k))
            check_fail(c, NULL, "result %d is %swritten over an input", k,
                       gr->is_in_place[k] ? "not " : "");
}

static bool same_split(const DimSplit *has, bool is_cut, const RtCut *want)
{
    return (has && has->cut.n_axes) == is_cut &&
           (!is_cut || (has->cut.whole == want->whole && has->cut.n_axes == want->n_axes &&
                        !memcmp(has->cut.axis, want->axis, sizeof(int) * (size_t)want->n_axes)));
}

static bool same_splits(const Check *c, NodeId n)
{
    const DimSplit *has = c->s->node_split[n];
    const Sharded *s = c->s->sharded;
    RtCut cut;

    for (int f = 0; f < s->node[n].n_factors; f++) {
        bool is_cut = node_split(s, n, f, &cut);
        if (!same_split(has ? &has[f] : NULL, is_cut, &cut) ||
            (is_cut && has[f].is_uneven != split_is_uneven(&s->plan->mesh, &cut)))
            return false;
    }
    return true;
}

static bool same_value_splits(const Check *c, ValueId v)
{
    const DimSplit *has = c->s->value_split[v];
    const Sharded *s = c->s->sharded;
    int rank = s->value[v].of ? value_of(s->whole, s->value[v].of)->rank : 0;
    RtCut cut;

    for (int i = 0; i < rank; i++) {
        bool is_cut = value_split(s, v, i, &cut);
        if (!same_split(has ? &has[i] : NULL, is_cut, &cut))
            return false;
    }
    return true;
}

void check_stored_set(Check *c)
{
    const Sharded *s = c->s->sharded;

    for (ValueId v = 1; v < c->g->n_values; v++) {
        Address a = {0};
        value_address(c->p, c->s, v, &a);
        if (!address_equal(&a, &c->s->address[v]))
            check_fail(c, NULL, "a value is at %" PRId64 ", but should be at %" PRId64,
                       c->s->address[v].at, a.at);
    }
    for (NodeId n = 1; s && n < s->n_nodes; n++)
        if (!same_splits(c, n))
            check_fail(c, &c->g->nodes[n], "it is split over other axes than the plan says");
    for (ValueId v = 1; s && v < s->n_values; v++)
        if (!same_value_splits(c, v))
            check_fail(c, NULL, "a value is split over other axes than its spec says");
}
