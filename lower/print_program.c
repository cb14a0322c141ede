// Prints the text form of a program.
#include "lower/lower.h"

static void print_address(const Address *a, Text *t)
{
    text_printf(t, "@%" PRId64, a->at);
    if (a->ring)
        text_printf(t, "+%" PRId64 "*((layer+%d)%%%d)", a->step, a->shift, a->ring);
    else if (a->step)
        text_printf(t, "+%" PRId64 "*layer", a->step);
}

static void print_operand(const Program *p, const Set *s, const Operand *o, Text *t)
{
    if (!o->base) {
        text_printf(t, " _");
        return;
    }
    Address a = operand_address(p, s, o);
    const Value *v = value_of(s->g, o->value);

    text_printf(t, " ");
    value_print_type(v, t);
    if (!operand_is_dense(o, v->rank, v->dim)) {
        text_printf(t, "/");
        for (int i = 0; i < v->rank; i++)
            text_printf(t, "%s%" PRId64, i ? "," : "", o->stride[i]);
    }
    print_address(&a, t);
    if (o->rank_slice.slice)
        text_printf(t, "+%" PRId64 "*shard", o->rank_slice.stride * dtype_size(v->dtype));
}

static void print_nodes(const Set *s, const Item *it, Text *t)
{
    for (int i = 0; i < it->n_nodes; i++)
        text_printf(t, "%s%s", i ? "," : " ", s->g->nodes[it->nodes[i]].op->name);
}

static void print_item(const Program *p, const Set *s, const Item *it, Text *t)
{
    static const char *const names[] = {"group", "kernel",   "copy", "fill", "loop",
                                        "end",   "gradient", "pad",  "wait", "none"};

    if (it->kind == ITEM_NONE)
        return;
    text_printf(t, "%s%s", it->region && it->kind != ITEM_LOOP && it->kind != ITEM_END ? "  " : "",
                it->kind == ITEM_KERNEL && it->slot ? "start" : names[it->kind]);
    if (it->slot)
        text_printf(t, " %d", it->slot - 1);
    if (it->n_slots > 1)
        text_printf(t, "+layer%%%d", it->n_slots);
    if (it->skew)
        text_printf(t, " skew %d", it->skew);
    if (it->fission_part)
        text_printf(t, " part %d", it->fission_part);
    if (it->kind == ITEM_LOOP)
        text_printf(t, " class %d x %d%s", it->cls, s->g->classes[it->cls].length,
                    it->is_reverse ? " reverse" : "");
    print_nodes(s, it, t);
    for (int i = 0; i < it->n_in + it->n_out; i++) {
        if (i == it->n_in)
            text_printf(t, " ->");
        print_operand(p, s, &it->operands[i], t);
    }
    if (it->kind == ITEM_KERNEL)
        text_printf(t, " %s", it->kernel.args.s);
    text_printf(t, "\n");
}

void program_print(const Program *p, Text *t)
{
    static const char *const sets[] = {"train", "predict"}, *const parts[] = {"micro", "reduce",
                                                                              "update"};

    text_printf(t, "program arena %" PRId64 " bound %" PRId64 "\n", p->arena_bytes, p->bound);
    for (int i = 0; i < N_SETS; i++) {
        const Set *s = &p->set[i];
        for (int part = 0; s->g && part < N_PARTS; part++) {
            text_printf(t, "%s %s\n", sets[i], parts[part]);
            for (int k = s->part[part]; k < s->part[part + 1]; k++)
                print_item(p, s, &s->items[k], t);
        }
    }
}
