// Checks fused groups: each node's inputs, from memory, from the group itself or from the text, and
// which values are overwritten.
#include <limits.h>
#include <string.h>

#include "lower/check/check.h"

typedef struct GroupCheck {
    Check *c;
    const Item *it;
    int *source_of;   // by node: where its sources begin
    int *ready_pass;  // by node: the first pass in which its element can be computed
    int axis[MAX_RANK];
    const Footprint *f;  // of operands
} GroupCheck;

static const Node *node_at(const GroupCheck *gr, int i)
{
    return &gr->c->g->nodes[gr->it->nodes[i]];
}

// Is it a row scalar: elementwise over row scalars, or a sum over a row?
static bool is_of_row(const GroupCheck *gr, int i)
{
    const Node *n = node_at(gr, i);
    return n->op->is_sum ? !is_column_sum(gr->it, n) : node_is_row_scalar(gr->c->g, gr->it, n);
}

static bool is_sum_of_row(const GroupCheck *gr, int i)
{
    return node_at(gr, i)->op->is_sum && is_of_row(gr, i);
}

static bool same_dims(int rank, const int64_t *a, const int64_t *b)
{
    return !memcmp(a, b, sizeof(int64_t) * (size_t)rank);
}

// Does the node have the dims that the group walks?
static void check_dims(const GroupCheck *gr, int i)
{
    const Item *it = gr->it;
    const Node *n = node_at(gr, i);
    const Value *v = n->op->is_sum ? in(gr->c->g, n, 0) : out(gr->c->g, n);
    int rank = n->op->is_sum || !is_of_row(gr, i) ? it->rank : it->group.row_rank;

    if (v->rank != rank || !same_dims(rank, v->dim, it->dim))
        check_fail(gr->c, n, "its dims aren't those that the group walks");
    if (is_sum_of_row(gr, i)) {
        bool is_trailing = it->group.has_rows && n->attr[0].n == it->rank - it->group.row_rank;
        for (int k = 0; is_trailing && k < n->attr[0].n; k++)
            is_trailing = n->attr[0].v[k] >= it->group.row_rank;
        if (!is_trailing)
            check_fail(gr->c, n, "it doesn't sum over the group's rows");
    }
}

// ---- inputs ----

static int find_made(const GroupCheck *gr, ValueId v)
{
    const Graph *g = gr->c->g;

    for (; value_of(g, v)->producer; v = producer(g, v)->in[0]) {
        for (int i = 0; i < gr->it->n_nodes; i++)
            if (gr->it->nodes[i] == value_of(g, v)->producer)
                return i;
        if (!producer(g, v)->op->view)
            break;
    }
    return -1;
}

// Has node `from` been computed when node i needs it?
static void check_pass(const GroupCheck *gr, int i, int from)
{
    const Node *n = node_at(gr, i);
    const int *pass = gr->it->group.pass;
    int after = !is_of_row(gr, i) || n->op->is_sum ? is_of_row(gr, from) : 0;

    if (from >= i)
        check_fail(gr->c, n, "it comes before what it reads");
    else if (is_column_sum(gr->it, node_at(gr, from)))
        check_fail(gr->c, n, "it reads a sum of columns, which isn't there before the group ends");
    else if (pass[i] < gr->ready_pass[from] + after)
        check_fail(gr->c, n, "it runs in pass %d, but what it reads is there after pass %d",
                   pass[i], gr->ready_pass[from] + after - 1);
}

// Finds ready_pass. A row scalar is ready after its pass. An element that is written in a later
// pass, because it overwrites a value that the group reads, is computed in earlier passes too.
static void find_ready_pass(GroupCheck *gr, int i)
{
    const Node *n = node_at(gr, i);

    gr->ready_pass[i] = is_of_row(gr, i) ? gr->it->group.pass[i] : 0;
    for (int k = 0; k < n->n_in && !is_of_row(gr, i); k++) {
        int from = gr->it->group.source[gr->source_of[i] + k] == SOURCE_NODE
                       ? find_made(gr, n->in[k])
                       : -1;
        int ready_pass = from < 0 || from >= i ? 0 : gr->ready_pass[from] + is_of_row(gr, from);
        gr->ready_pass[i] = ready_pass > gr->ready_pass[i] ? ready_pass : gr->ready_pass[i];
    }
}

// Checks input k, which the group itself makes: as an element, or as a row scalar.
static void check_group_input(const GroupCheck *gr, int i, int k)
{
    Check *c = gr->c;
    const Node *n = node_at(gr, i), *now = check_node(c, gr->it->nodes[i]);
    int from = find_made(gr, n->in[k]), at = 0;

    if (from < 0) {
        check_fail(c, n, "input %d isn't made in the group", k);
        return;
    }
    if (gr->it->group.maker[gr->source_of[i] + k] != from)
        check_fail(c, n, "input %d is taken from another node of the group", k);
    check_pass(gr, i, from);
    const Node *maker = check_node(c, gr->it->nodes[from]);
    if (!now || !maker || now->in[k] == maker->out[0])
        return;
    const Value *x = value_of(c->g, now->in[k]), *y = value_of(c->g, maker->out[0]);
    Footprint f = {.rank = x->rank};
    int64_t index[MAX_RANK], dense[MAX_RANK];
    memcpy(f.dim, x->dim, sizeof f.dim);
    dense_strides(x->rank, x->dim, dense);
    while (sample_next(&f, &at, index)) {
        Element want = {.kind = ELEMENT_VALUE, .value = now->in[k]};
        Element has = {.kind = ELEMENT_VALUE, .value = maker->out[0]};
        for (int d = 0; d < x->rank; d++)
            want.index += index[d] * dense[d];
        for (int d = 0; d < y->rank && d < x->rank; d++)
            has.index = has.index * y->dim[d] + index[d];
        want = element_origin(c->g, c->s->sharded, c->rank, want);
        has = element_origin(c->g, c->s->sharded, c->rank, has);
        if (element_equal(&want, &has))
            continue;
        check_fail(c, n, "input %d is taken from another node of the group", k);
        return;
    }
}

static void check_literal(const GroupCheck *gr, int i, int k)
{
    const Check *c = gr->c;
    const Node *n = node_at(gr, i), *now = check_node(gr->c, gr->it->nodes[i]);
    double printed, x;

    if (!value_splat(c->g, n->in[k], &printed))
        check_fail(gr->c, n, "input %d is no number", k);
    else if (now && (!value_splat(c->g, now->in[k], &x) || memcmp(&x, &printed, sizeof x)))
        check_fail(gr->c, n, "input %d is %.9g in the text, but %.9g here", k, printed, x);
}

static void check_inputs(const GroupCheck *gr, int i)
{
    Check *c = gr->c;
    const Node *n = node_at(gr, i), *now = check_node(c, gr->it->nodes[i]);

    for (int k = 0; now && k < n->n_in; k++) {
        int source = gr->it->group.source[gr->source_of[i] + k];
        if (source == SOURCE_NODE) {
            check_group_input(gr, i, k);
        } else if (source == SOURCE_SPLAT) {
            check_literal(gr, i, k);
        } else if (source < 0 || source >= gr->it->n_in) {
            check_fail(c, n, "input %d has no source", k);
        } else if (c->is_read) {
            const Value *v = in(c->g, n, k);
            Footprint f = check_box(c, &gr->it->operands[source], v->rank, v->dim);
            check_holds(c, n, &f, now->in[k]);
        }
    }
}

// ---- outputs ----

static int maker_of(const GroupCheck *gr, const Operand *o)
{
    for (int i = 0; i < gr->it->n_nodes; i++)
        if (node_at(gr, i)->out[0] == o->value)
            return i;
    return -1;
}

// Column sums must lie densely, in the order of the walk.
static void check_columns(const GroupCheck *gr, int i, const Footprint *f)
{
    const Item *it = gr->it;
    const Node *n = node_at(gr, i);
    int64_t step = f->size;

    for (int a = it->rank - 1; a >= 0; a--) {
        int axis = gr->axis[a], at = axis;
        bool is_left = a == it->rank - 1 || a < it->group.column_rank, is_summed = false;
        for (int k = 0; k < n->attr[0].n; k++) {
            at -= n->attr[0].v[k] < axis;
            is_summed |= n->attr[0].v[k] == axis;
        }
        if (is_summed == is_left) {
            check_fail(gr->c, n, "it doesn't sum over the columns that the group adds up");
            return;
        }
        if (is_left && it->dim[axis] > 1 && f->stride[at] != step)
            check_fail(gr->c, n, "its sums lie in another order than the group adds them up in");
        step *= is_left ? it->dim[axis] : 1;
    }
}

// Does each step of the walk write `to` where it reads `f`? A row scalar has one address for the
// whole row.
static bool same_address_in_walk(const Footprint *f, const Footprint *to)
{
    if (f->at != to->at || f->size != to->size)
        return false;
    for (int i = 0; i < to->rank; i++) {
        int64_t stride = i < f->rank ? f->stride[i] : -1;
        if (to->dim[i] > 1 && stride != to->stride[i])
            return false;
    }
    return true;
}

// When node i is read and written. Pass p over a row has time 2 p, the row scalars after it time 2
// p + 1. A later pass computes an element again if no earlier one stored it, so operands are read
// until the last pass. The sums of a row are written after all passes.
static int read_time(const GroupCheck *gr, int i)
{
    if (is_of_row(gr, i) && !node_at(gr, i)->op->is_sum)
        return 2 * gr->it->group.pass[i] + 1;
    return 2 * (gr->it->group.n_passes - 1);
}

static int write_time(const GroupCheck *gr, int i)
{
    return is_sum_of_row(gr, i) ? INT_MAX : 2 * gr->it->group.pass[i] + is_of_row(gr, i);
}

// Node i may overwrite operand k only if each element has been read by then, in its own step.
static void check_over(const GroupCheck *gr, int i, const Footprint *to)
{
    const Item *it = gr->it;

    for (int r = 0; r < it->n_nodes; r++) {
        const Node *n = node_at(gr, r);
        for (int k = 0; k < n->n_in; k++) {
            int source = it->group.source[gr->source_of[r] + k];
            if (source < 0 || source >= it->n_in)
                continue;
            const Value *v = in(gr->c->g, n, k);
            Footprint f = check_box(gr->c, &it->operands[source], v->rank, v->dim);
            if (!footprints_intersect(&f, to))
                continue;
            bool is_read_after = read_time(gr, r) > write_time(gr, i);
            if (!same_address_in_walk(&f, to) || is_read_after || is_column_sum(it, node_at(gr, i)))
                check_fail(gr->c, node_at(gr, i),
                           "its result is written over what the group reads");
        }
    }
}

static void check_outputs(const GroupCheck *gr)
{
    Check *c = gr->c;
    const Item *it = gr->it;

    for (int k = it->n_in; k < it->n_in + it->n_out; k++) {
        const Operand *o = &it->operands[k];
        int i = maker_of(gr, o);
        if (i < 0) {
            check_fail(c, NULL, "a group writes what it doesn't make");
            continue;
        }
        if (c->is_first && is_column_sum(it, node_at(gr, i)))
            check_columns(gr, i, &gr->f[k]);
        if (c->is_read)
            check_over(gr, i, &gr->f[k]);
        for (int j = it->n_in; j < k; j++)
            if (maker_of(gr, &it->operands[j]) >= 0 && footprints_intersect(&gr->f[j], &gr->f[k]))
                check_fail(c, node_at(gr, i), "its result is written over another one");
    }
    for (int k = it->n_in; k < it->n_in + it->n_out; k++) {
        int i = maker_of(gr, &it->operands[k]);
        const Node *now = i < 0 ? NULL : check_node(c, it->nodes[i]);
        if (now)
            shadow_put(c->shadow, &gr->f[k], now->out[0]);
    }
}

void check_group(Check *c, const Footprint *f)
{
    const Item *it = c->it;
    GroupCheck gr = {.c = c, .it = it, .f = f};
    Arena *a = arena_new();
    int n = 0;

    gr.source_of = arena_array(a, int, it->n_nodes);
    gr.ready_pass = arena_array(a, int, it->n_nodes);
    layout_axes(it->rank, it->group.is_channels_last, gr.axis);
    for (int i = 0; i < it->n_nodes; i++) {
        gr.source_of[i] = n;
        n += node_at(&gr, i)->n_in;
        find_ready_pass(&gr, i);
    }
    for (int i = 0; i < it->n_nodes; i++) {
        if (c->is_first)
            check_dims(&gr, i);
        if (c->is_read)
            check_inputs(&gr, i);
    }
    check_outputs(&gr);
    arena_free(a);
}
