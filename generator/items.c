// Prints the functions of one set: one per loop body, and those that call them in order.
#include <string.h>

#include "generator/target_text.h"

enum { LABEL_ROOM = 60 };  // columns of a comment

static void print_dims(Text *t, const char *name, int rank, const int64_t *dim)
{
    text_printf(t, ".%s = {", name);
    for (int i = 0; i < rank; i++)
        text_printf(t, "%s%" PRId64, i ? ", " : "", dim[i]);
    text_printf(t, "}");
}

// ---- waits ----

const char *slot_text(Gen *g, const Item *it)
{
    if (it->call.n_slots == 1)
        return arena_string(g->arena, "%d", it->call.slot - 1);
    return arena_string(g->arena, "%d + layer %% %d", it->call.slot - 1, it->call.n_slots);
}

static void generate_wait(Gen *g, const Item *it, Text *t, int indent)
{
    print_statement(g, it, t, indent, arena_string(g->arena, "rt_wait(rt, %s);", slot_text(g, it)));
}

// ---- copies ----

static void merge_copy(const Item *it, int *rank, int64_t *dim, int64_t *from, int64_t *to)
{
    const Operand *x = &it->operands[0], *y = &it->operands[1];
    int n = 0;

    for (int i = 0; i < it->rank; i++) {
        if (it->dim[i] == 1)
            continue;
        bool merge =
            n && from[n - 1] == x->stride[i] * it->dim[i] && to[n - 1] == y->stride[i] * it->dim[i];
        if (!merge)
            dim[n++] = 1;
        dim[n - 1] *= it->dim[i];
        from[n - 1] = x->stride[i];
        to[n - 1] = y->stride[i];
    }
    *rank = n;
}

static void generate_copy(Gen *g, const Item *it, Text *t, int indent)
{
    int64_t dim[MAX_RANK], from[MAX_RANK], to[MAX_RANK];
    int size = dtype_size(value_of(g->s->g, it->operands[0].value)->dtype), rank;
    Text call = {0};

    merge_copy(it, &rank, dim, from, to);
    text_printf(&call, "rt_copy(rt, &(RtCopy){.bytes = %d, .rank = %d", size, rank);
    if (rank) {
        text_printf(&call, ", ");
        print_dims(&call, "dim", rank, dim);
        text_printf(&call, ", ");
        print_dims(&call, "x_stride", rank, from);
        text_printf(&call, ", ");
        print_dims(&call, "y_stride", rank, to);
    }
    const char *from_place = place_text(g, &it->operands[0]);
    text_printf(&call, "}, %s, %s);", place_text(g, &it->operands[1]), from_place);
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
}

static void generate_fill(Gen *g, const Item *it, Text *t, int indent)
{
    const Value *v = value_of(g->s->g, it->operands[0].value);
    Text call = {0};

    text_printf(&call, "rt_fill(rt, %s, %s, %" PRId64 ", ", dtype_rt(v->dtype),
                place_text(g, &it->operands[0]), value_count(v));
    print_number(&call, F64, it->fill.value);
    text_printf(&call, ");");
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
}

// ---- padding ----

static void generate_pad(Gen *g, const Item *it, Text *t, int indent)
{
    static const char *const ops[] = {
        [RT_SUM] = "RT_SUM", [RT_MAX] = "RT_MAX", [RT_MIN] = "RT_MIN"};
    const Operand *o = &it->operands[0];
    const Value *v = value_of(g->s->g, o->value);
    Text call = {0};

    text_printf(&call, "rt_pad(rt, &(RtPad){.type = %s, .op = %s, .rank = %d, .dim = %d, ",
                dtype_rt(v->dtype), ops[it->pad.op], it->rank, it->pad.axis);
    print_dims(&call, "size", it->rank, it->dim);
    text_printf(&call, ", ");
    print_dims(&call, "stride", it->rank, o->stride);
    text_printf(&call, "}, &rt->shard[%d], %s);", node_shard(g, it->nodes[0], it->pad.factor),
                place_text(g, o));
    print_labelled(t, indent, call.s, item_label(g, it, LABEL_ROOM));
    text_free(&call);
}

// ---- gradients ----

// The name of the parameter whose gradient the item shows.
static const char *parameter_label(const Gen *g, const Item *it)
{
    const Graph *graph = g->s->g;
    ValueId v = it->operands[0].value;
    Source from = {.name = "", .scope = ""};
    const Node label = {.source = &from, .block.cls = it->region ? it->cls : 0};

    for (int i = 0; i < graph->n_outputs; i++)
        if (graph->outputs[i].role == OUTPUT_GRADIENT && graph->outputs[i].value == v)
            from.name = graph->outputs[i].name;
    return node_label(g, &label, LABEL_ROOM);
}

static void generate_gradient(Gen *g, const Item *it, Text *t, int indent)
{
    const Operand *o = &it->operands[0];

    print_labelled(t, indent,
                   arena_string(g->arena, "rt_gradient(rt, %d, %s, %s);",
                                gradient_number(g, o->value), it->region ? "layer" : "0",
                                place_text(g, o)),
                   parameter_label(g, it));
}

// ---- functions ----

static void generate_item(Gen *g, const Item *it, Text *t, int indent)
{
    switch (it->kind) {
    case ITEM_GROUP:
        g->o->target->print_group(g, it, t, indent);
        break;
    case ITEM_KERNEL:
        g->o->target->print_kernel(g, it, t, indent);
        break;
    case ITEM_COPY:
        generate_copy(g, it, t, indent);
        break;
    case ITEM_FILL:
        generate_fill(g, it, t, indent);
        break;
    case ITEM_GRADIENT:
        generate_gradient(g, it, t, indent);
        break;
    case ITEM_PAD:
        generate_pad(g, it, t, indent);
        break;
    case ITEM_WAIT:
        generate_wait(g, it, t, indent);
        break;
    case ITEM_LOOP:
    case ITEM_END:
    case ITEM_NONE:
        break;
    }
}

static const char *body_name(Gen *g, const Item *loop, Timing timing, int skew)
{
    const char *phase = timing == TIMING_REDUCE    ? "reduce"
                        : loop->phase == UPDATE    ? "update"
                        : loop->phase == BACKWARD  ? "backward"
                        : timing == TIMING_FORWARD ? "predict"
                                                   : "forward";

    const char *name = arena_string(g->arena, "block%d_%s", loop->cls, phase);
    if (loop->loop.again)
        name = arena_string(g->arena, "%s_again%d", name, loop->loop.again);
    if (loop->loop.fission_part)
        name = arena_string(g->arena, "%s_part%d", name, loop->loop.fission_part);
    if (skew)
        name = arena_string(g->arena, "%s_skew%d", name, skew);
    return name;
}

// Prints one iteration's items of that skew as a function.
static void generate_body(Gen *g, int begin, int skew, const char *name)
{
    const Item *loop = &g->s->items[begin];
    const BlockClass *c = &g->s->g->classes[loop->cls];
    Node label = {.source = &(Source){.name = c->name ? c->name : "", .scope = ""}};
    Text body = {0};

    for (int i = begin + 1; i < loop->loop.end; i++)
        if (g->s->items[i].skew == skew)
            generate_item(g, &g->s->items[i], &body, 4);
    text_printf(g->bodies, "// %s.{}, %d times", node_label(g, &label, 60), c->length);
    if (loop->loop.fission_part)
        text_printf(g->bodies, ", split from the loop before");
    if (skew)
        text_printf(g->bodies, ", %d iteration%s later", skew, skew > 1 ? "s" : "");
    text_printf(g->bodies, "\nstatic void %s(Rt *rt, char *m, int64_t layer)\n{\n", name);
    if (!strstr(body.s ? body.s : "", "layer"))
        text_printf(g->bodies, "    (void)layer;\n");
    text_put(g->bodies, body.s ? body.s : "", body.n);
    text_printf(g->bodies, "}\n\n");
    text_free(&body);
}

static void print_for(Gen *g, const Item *loop, Text *t)
{
    int length = g->s->g->classes[loop->cls].length;

    if (loop->loop.is_reverse)
        text_printf(t, "    for (int64_t layer = %d; layer >= %d; layer--)", length - 1,
                    -loop->loop.skew);
    else
        text_printf(t, "    for (int64_t layer = 0; layer < %d; layer++)",
                    length + loop->loop.skew);
}

// Prints the call of a skewed body, for an earlier iteration, if that exists.
static void print_skewed(const Gen *g, const Item *loop, int skew, const char *name, Text *t)
{
    int length = g->s->g->classes[loop->cls].length;
    bool has_before = skew > 0, has_after = skew < loop->loop.skew;

    text_printf(t, "        if (");
    if (loop->loop.is_reverse && has_before)
        text_printf(t, "layer < %d%s", length - skew, has_after ? " && " : "");
    if (loop->loop.is_reverse && has_after)
        text_printf(t, "layer >= %d", -skew);
    if (!loop->loop.is_reverse && has_before)
        text_printf(t, "layer >= %d%s", skew, has_after ? " && " : "");
    if (!loop->loop.is_reverse && has_after)
        text_printf(t, "layer < %d", length + skew);
    text_printf(t, ")\n            %s(rt, m, layer", name);
    if (skew)
        text_printf(t, " %c %d", loop->loop.is_reverse ? '+' : '-', skew);
    text_printf(t, ");\n");
}

// Prints a loop over one iteration's items. They are in a function of their own, one for each skew,
// unless the loop only copies.
static void generate_loop(Gen *g, int begin, Timing timing, Text *t)
{
    const Item *loop = &g->s->items[begin];

    print_for(g, loop, t);
    if (!loop->region) {
        text_printf(t, " {\n");
        for (int i = begin + 1; i < loop->loop.end; i++)
            generate_item(g, &g->s->items[i], t, 8);
        text_printf(t, "    }\n");
        return;
    }
    text_printf(t, loop->loop.skew ? " {\n" : "\n");
    for (int skew = 0; skew <= loop->loop.skew; skew++) {
        const char *name = body_name(g, loop, timing, skew);
        if (loop->loop.skew)
            print_skewed(g, loop, skew, name, t);
        else
            text_printf(t, "        %s(rt, m, layer);\n", name);
        generate_body(g, begin, skew, name);
    }
    if (loop->loop.skew)
        text_printf(t, "    }\n");
}

static void generate_function(Gen *g, const Function *f)
{
    Text t = {0};
    const Set *s = g->s;

    for (int i = f->begin; i < f->end; i++) {
        if (s->items[i].kind == ITEM_LOOP) {
            generate_loop(g, i, f->timing, &t);
            i = s->items[i].loop.end;
        } else {
            generate_item(g, &s->items[i], &t, 4);
        }
    }
    text_printf(g->bodies, "static void %s(Rt *rt, char *m)\n{\n", f->name);
    if (!t.n)
        text_printf(g->bodies, "    (void)rt;\n    (void)m;\n");
    text_put(g->bodies, t.s ? t.s : "", t.n);
    text_printf(g->bodies, "}\n\n");
    text_free(&t);
}

void generate_items(Gen *g)
{
    for (int i = 0; i < g->s->n_functions; i++)
        generate_function(g, &g->s->functions[i]);
}
