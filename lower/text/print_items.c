// Prints the items of a program, and their operands.
#include <string.h>

#include "lower/text/text.h"

// ---- operands ----

void print_address(const Address *a, Text *t)
{
    text_printf(t, "@%" PRId64, a->at);
    for (int k = 0; k < MAX_LOOPS; k++) {
        const Movement *m = &a->move[k];
        if (m->ring)
            text_printf(t, "+%" PRId64 "*((%s+%d)%%%d)", m->step, loop_names[k], m->shift, m->ring);
        else if (m->step)
            text_printf(t, "+%" PRId64 "*%s", m->step, loop_names[k]);
    }
    if (a->pool)
        text_printf(t, "+%s(%d%s)", pool_names[a->pool], a->stage,
                    a->stage_step > 0   ? "+layer"
                    : a->stage_step < 0 ? "-layer"
                                        : "");
}

// Prints which instance of its base the operand is: [layer-1], or [-1] outside of a loop over it.
static void print_instance(const Operand *o, Text *t)
{
    if (o->is_instance && o->delta)
        text_printf(t, "[%s%+d]", loop_names[o->loop], o->delta);
    else if (o->is_instance)
        text_printf(t, "[%s]", loop_names[o->loop]);
    else if (o->delta)
        text_printf(t, "[%d]", o->delta);
}

// Prints the base that the operand is a view of: " in %b[layer]+12+4*layer", in elements.
static void print_base(const Printer *r, const Operand *o)
{
    static const int64_t none[MAX_LOOPS];

    if (o->base == o->value && !o->offset && !memcmp(o->step, none, sizeof none)) {
        print_instance(o, r->t);
        return;
    }
    text_printf(r->t, " in");
    print_value_name(r, o->base);
    print_instance(o, r->t);
    if (o->offset)
        text_printf(r->t, "+%" PRId64, o->offset);
    for (int k = 0; k < MAX_LOOPS; k++)
        if (o->step[k])
            text_printf(r->t, "+%" PRId64 "*%s", o->step[k], loop_names[k]);
}

// Prints strides over the `rank` dims, unless they are dense.
static void print_strides(const int64_t *stride, int rank, const int64_t *dim, Text *t)
{
    int64_t dense[MAX_RANK];

    dense_strides(rank, dim, dense);
    if (!memcmp(stride, dense, sizeof *dense * (size_t)rank))
        return;
    text_printf(t, "/");
    for (int i = 0; i < rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", stride[i]);
}

static void print_operand(const Printer *r, const Item *it, const Operand *o)
{
    const RankSlice *slice = &o->rank_slice;
    Text *t = r->t;

    if (!o->base) {
        text_printf(t, " _");
        return;
    }
    const Value *v = value_of(r->s->g, o->value);
    bool is_copy = it->kind == ITEM_COPY;

    print_value_name(r, o->value);
    print_base(r, o);
    text_printf(t, " ");
    value_print_type(v, t);
    print_strides(o->stride, is_copy ? it->rank : v->rank, is_copy ? it->dim : v->dim, t);
    print_address(&o->address, t);
    if (!slice->slice)
        return;
    text_printf(t, "+%" PRId64 "*shard(", slice->stride * dtype_size(v->dtype));
    text_name(t, r->name[slice->slice]);
    text_printf(t, ",");
    print_value_name(r, slice->whole);
    text_printf(t, ", %d)", slice->dim);
}

static void print_operands(const Printer *r, const Item *it)
{
    for (int k = 0; k < it->n_in + it->n_out; k++) {
        if (k == it->n_in)
            text_printf(r->t, " ->");
        print_operand(r, it, &it->operands[k]);
    }
}

// ---- items ----

static void print_dims(int rank, const int64_t *dim, Text *t)
{
    text_printf(t, " [");
    for (int i = 0; i < rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", dim[i]);
    text_printf(t, "]");
}

// Prints where an input of a group's node comes from: the number of an operand, the name of a value
// that the group makes, or a number that is the same everywhere.
static void print_source(const Printer *r, const Node *n, int k, int source)
{
    double x = 0;

    if (source >= 0) {
        text_printf(r->t, "%d", source);
    } else if (source == SOURCE_NODE) {
        text_name(r->t, r->name[n->in[k]]);
    } else {
        value_splat(r->s->g, n->in[k], &x);
        text_printf(r->t, "=");
        text_number(r->t, x);
    }
}

// Prints a group: the dims that it walks, and its nodes, with the sources of their inputs.
static void print_group(const Printer *r, const Item *it)
{
    const Group *gr = &it->group;
    const int *source = gr->source;
    Text *t = r->t;

    print_dims(it->rank, it->dim, t);
    if (gr->is_channels_last)
        text_printf(t, " channels_last");
    if (gr->has_rows)
        text_printf(t, " rows %d", gr->row_rank);
    if (gr->has_columns)
        text_printf(t, " columns %d", gr->column_rank);
    text_printf(t, " {");
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &r->s->g->nodes[it->nodes[i]];
        text_printf(t, i ? ", %s" : "%s", n->op->name);
        print_value_name(r, n->out[0]);
        text_printf(t, "(");
        for (int k = 0; k < n->n_in; k++) {
            text_printf(t, k ? ", " : "");
            print_source(r, n, k, *source++);
        }
        text_printf(t, ")");
        if (gr->pass[i])
            text_printf(t, " pass %d", gr->pass[i]);
    }
    text_printf(t, "}");
}

static void print_slot(const KernelCall *call, Text *t)
{
    text_printf(t, " %d", call->slot - 1);
    if (call->n_slots > 1)
        text_printf(t, "+layer mod %d", call->n_slots);
}

static void print_loop(const Printer *r, const Item *it)
{
    Text *t = r->t;

    if (it->cls && !it->region)
        text_printf(t, " of copies");
    if (it->cls)
        text_printf(t, " class %d", it->cls);
    text_printf(t, " x %d", loop_length(r->s->g, it));
    if (it->phase)
        text_printf(t, " %s", phase_words[it->phase]);
    if (it->loop.again)
        text_printf(t, " again %d", it->loop.again);
    if (it->loop.is_reverse)
        text_printf(t, " reverse");
    if (it->loop.fission_part)
        text_printf(t, " part %d", it->loop.fission_part);
    if (it->loop.skew)
        text_printf(t, " skew %d", it->loop.skew);
}

static void print_pad(const Printer *r, const Item *it)
{
    print_value_name(r, r->s->g->nodes[it->nodes[0]].out[0]);
    text_printf(r->t, " factor %d axis %d:", it->pad.factor, it->pad.axis);
}

// Prints what only items of that kind have, before the operands.
static void print_kind(const Printer *r, const Item *it)
{
    switch (it->kind) {
    case ITEM_GROUP:
        print_group(r, it);
        break;
    case ITEM_KERNEL:
    case ITEM_WAIT:
        if (it->call.slot)
            print_slot(&it->call, r->t);
        text_printf(r->t, " %s", r->s->g->nodes[it->nodes[0]].op->name);
        break;
    case ITEM_COPY:
        print_dims(it->rank, it->dim, r->t);
        break;
    case ITEM_FILL:
        text_printf(r->t, " ");
        text_number(r->t, it->fill.value);
        break;
    case ITEM_LOOP:
        print_loop(r, it);
        break;
    case ITEM_PAD:
        print_pad(r, it);
        break;
    case ITEM_END:
    case ITEM_GRADIENT:
    case ITEM_NONE:
        break;
    }
}

static void print_item(const Printer *r, int i, int depth)
{
    const Item *it = &r->s->items[i];
    bool is_start = it->kind == ITEM_KERNEL && it->call.slot;
    Text *t = r->t;

    text_printf(t, "%4d %*s%s", i, 2 * depth, "", is_start ? "start" : item_kind_names[it->kind]);
    if (it->kind != ITEM_NONE) {
        print_kind(r, it);
        if (it->skew)
            text_printf(t, " skew %d", it->skew);
        if (it->is_once)
            text_printf(t, " once");
        if (it->workspace_buffer)
            text_printf(t, " workspace %d", r->number[it->workspace_buffer]);
        print_operands(r, it);
        if (it->kind == ITEM_KERNEL) {
            text_printf(t, " ");
            kernel_print_text(&it->call.kernel, t);
        }
    }
    text_printf(t, "\n");
}

void print_function(const Printer *r, const Function *f)
{
    int depth = 0;  // of loops

    text_printf(r->t, "%s %s\n", set_names[r->s - r->p->set], f->name);
    for (int i = f->begin; i < f->end; i++) {
        ItemKind kind = r->s->items[i].kind;
        depth -= kind == ITEM_END;
        print_item(r, i, depth);
        depth += kind == ITEM_LOOP;
    }
    if (f->calls)
        print_calls(r, f->calls);
}
