// Prints the text form of a program.
#include "lower/internal.h"

static const char *const set_names[N_SETS] = {"train", "predict"};

typedef struct Printer {
    const Program *p;
    const Set *s;
    const char **name;  // by ValueId of the set's graph
    Text *t;
} Printer;

static void print_address(const Address *a, Text *t)
{
    text_printf(t, "@%" PRId64, a->at);
    if (a->ring)
        text_printf(t, "+%" PRId64 "*((layer+%d)%%%d)", a->step, a->shift, a->ring);
    else if (a->step)
        text_printf(t, "+%" PRId64 "*layer", a->step);
}

static void print_operand(const Printer *r, const Operand *o)
{
    Text *t = r->t;

    if (!o->base) {
        text_printf(t, " _");
        return;
    }
    const Value *v = value_of(r->s->g, o->value);

    text_printf(t, " ");
    text_name(t, r->name[o->value]);
    text_printf(t, " ");
    value_print_type(v, t);
    if (!operand_is_dense(o, v->rank, v->dim)) {
        text_printf(t, "/");
        for (int i = 0; i < v->rank; i++)
            text_printf(t, "%s%" PRId64, i ? "," : "", o->stride[i]);
    }
    print_address(&o->address, t);
    if (o->rank_slice.slice)
        text_printf(t, "+%" PRId64 "*shard", o->rank_slice.stride * dtype_size(v->dtype));
}

static void print_nodes(const Printer *r, const Item *it)
{
    for (int i = 0; i < it->n_nodes; i++)
        text_printf(r->t, "%s%s", i ? "," : " ", r->s->g->nodes[it->nodes[i]].op->name);
}

static void print_item(const Printer *r, int i, bool is_inside)
{
    static const char *const names[] = {"group", "kernel",   "copy", "fill", "loop",
                                        "end",   "gradient", "pad",  "wait", "none"};
    const Item *it = &r->s->items[i];
    Text *t = r->t;

    if (it->kind == ITEM_NONE)
        return;
    text_printf(t, "%4d %s%s", i, is_inside ? "  " : "",
                it->kind == ITEM_KERNEL && it->call.slot ? "start" : names[it->kind]);
    if (item_slot(it))
        text_printf(t, " %d", it->call.slot - 1);
    if (item_slot(it) && it->call.n_slots > 1)
        text_printf(t, "+layer%%%d", it->call.n_slots);
    int skew = it->kind == ITEM_LOOP ? it->loop.skew : it->skew;
    if (skew)
        text_printf(t, " skew %d", skew);
    if (it->kind == ITEM_LOOP && it->loop.fission_part)
        text_printf(t, " part %d", it->loop.fission_part);
    if (it->kind == ITEM_LOOP)
        text_printf(t, " class %d x %d%s", it->cls, r->s->g->classes[it->cls].length,
                    it->loop.is_reverse ? " reverse" : "");
    print_nodes(r, it);
    for (int k = 0; k < it->n_in + it->n_out; k++) {
        if (k == it->n_in)
            text_printf(t, " ->");
        print_operand(r, &it->operands[k]);
    }
    if (it->kind == ITEM_KERNEL) {
        text_printf(t, " ");
        kernel_print_text(&it->call.kernel, t);
    }
    text_printf(t, "\n");
}

static void print_items(const Printer *r, const Function *f)
{
    bool is_inside = false;  // a loop

    for (int i = f->begin; i < f->end; i++) {
        ItemKind kind = r->s->items[i].kind;
        is_inside &= kind != ITEM_END;
        print_item(r, i, is_inside);
        is_inside |= kind == ITEM_LOOP;
    }
}

// Prints the place of a buffer, the items between which it is live, and the value that it was made
// for.
static void print_buffer(const Printer *r, const Buffer *b)
{
    static const char *const kinds[] = {"local", "persistent", "workspace"};
    Text *t = r->t;

    text_printf(t, "buffer %s @%" PRId64 " %" PRId64, kinds[b->kind], b->offset, b->bytes);
    if (b->kind != BUFFER_PERSISTENT)
        text_printf(t, " %s %d..%d", set_names[b->set], b->first, b->last);
    if (b->value) {
        text_printf(t, " ");
        text_name(t, r->name[b->value]);
    }
    if (b->n_instances > 1)
        text_printf(t, " x %" PRId64, b->n_instances);
    text_printf(t, "\n");
}

void program_print(const Program *p, Text *t)
{
    Printer r[N_SETS];
    Arena *a = arena_new();

    for (int i = 0; i < N_SETS; i++)
        r[i] = (Printer){p, &p->set[i], p->set[i].g ? graph_names(p->set[i].g, a) : NULL, t};
    text_printf(t, "program arena %" PRId64 " bound %" PRId64 "\n", p->arena_bytes, p->bound);
    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].bytes)
            print_buffer(&r[p->buffers[i].set], &p->buffers[i]);
    for (int i = 0; i < N_SETS; i++)
        for (int k = 0; k < p->set[i].n_functions; k++) {
            text_printf(t, "%s %s\n", set_names[i], p->set[i].functions[k].name);
            print_items(&r[i], &p->set[i].functions[k]);
        }
    arena_free(a);
}
