// Prints items as statements, and loop bodies as functions.
#include <stdlib.h>
#include <string.h>

#include "generator/target_text.h"

enum { LABEL_ROOM = 60 };  // columns of a comment

static void print_sizes(Text *t, const char *name, int n, char *const *size)
{
    text_printf(t, ".%s = {", name);
    for (int i = 0; i < n; i++)
        text_printf(t, "%s%s", i ? ", " : "", size[i]);
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

// Merges dims that are one in both operands: dims[k] has those of loop k, last[k] is the last one.
static int merge_copy(const Item *it, uint32_t *dims, int *last)
{
    const Operand *x = &it->operands[0], *y = &it->operands[1];
    int n = 0;

    for (int i = 0; i < it->rank; i++) {
        if (it->dim[i] == 1)
            continue;
        bool merge = n && x->stride[last[n - 1]] == x->stride[i] * it->dim[i] &&
                     y->stride[last[n - 1]] == y->stride[i] * it->dim[i];
        if (!merge)
            dims[n++] = 0;
        dims[n - 1] |= 1u << i;
        last[n - 1] = i;
    }
    return n;
}

static void generate_copy(Gen *g, const Item *it, Text *t, int indent)
{
    uint32_t dims[MAX_RANK];
    int last[MAX_RANK], rank = merge_copy(it, dims, last);
    char *dim[MAX_RANK], *from[MAX_RANK], *to[MAX_RANK];
    Text call = {0};

    text_printf(&call, "rt_copy(rt, &(RtCopy){.bytes = %s, .rank = %d",
                sizeof_text(g, it->operands[0].value, "1"), rank);
    for (int i = 0; i < rank; i++) {
        dim[i] = item_count_text(g, it, dims[i], 1);
        from[i] = stride_text(g, it, &it->operands[0], last[i]);
        to[i] = stride_text(g, it, &it->operands[1], last[i]);
    }
    if (rank) {
        text_printf(&call, ", ");
        print_sizes(&call, "dim", rank, dim);
        text_printf(&call, ", ");
        print_sizes(&call, "x_stride", rank, from);
        text_printf(&call, ", ");
        print_sizes(&call, "y_stride", rank, to);
    }
    const char *source = address_text(g, &it->operands[0]);
    text_printf(&call, "}, %s, %s);", address_text(g, &it->operands[1]), source);
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
}

static void generate_fill(Gen *g, const Item *it, Text *t, int indent)
{
    const Value *v = value_of(g->s->g, it->operands[0].value);
    Text call = {0};

    text_printf(&call, "rt_fill(rt, %s, %s, %s, ", dtype_rt(v->dtype),
                address_text(g, &it->operands[0]),
                count_text(g, it->operands[0].value, (1u << v->rank) - 1, 1));
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
    char *size[MAX_RANK], *stride[MAX_RANK];
    Text call = {0};

    for (int i = 0; i < it->rank; i++) {
        size[i] = item_count_text(g, it, 1u << i, 1);
        stride[i] = stride_text(g, it, o, i);
    }
    text_printf(&call, "rt_pad(rt, &(RtPad){.type = %s, .op = %s, .rank = %d, .dim = %d, ",
                dtype_rt(v->dtype), ops[it->pad.op], it->rank, it->pad.axis);
    print_sizes(&call, "size", it->rank, size);
    text_printf(&call, ", ");
    print_sizes(&call, "stride", it->rank, stride);
    text_printf(&call, "}, &rt->shard[%d], %s);", node_shard(g, it->nodes[0], it->pad.factor),
                address_text(g, o));
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
                                address_text(g, o)),
                   parameter_label(g, it));
}

// ---- functions ----

static void generate_item(Gen *g, const Item *it, Text *t, int indent)
{
    switch (it->kind) {
    case ITEM_GROUP:
        g->target->print_group(g, it, t, indent);
        break;
    case ITEM_KERNEL:
        g->target->print_kernel(g, it, t, indent);
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

static const char *class_name(Gen *g, int cls)
{
    const char *path = g->s->g->classes[cls].name;
    const char *name = lower_identifier(g, path ? path : "");

    return *name ? name : "block";
}

// Do two classes have that name?
static bool is_twice(Gen *g, const char *name)
{
    int n = 0;

    for (int i = 1; i < g->s->g->n_classes; i++)
        n += !strcmp(name, class_name(g, i));
    return n > 1;
}

// "h_forward_layer". Functions of fused groups end otherwise.
static const char *body_name(Gen *g, const Item *loop, Timing timing, int skew)
{
    const char *phase = timing == TIMING_PREPARE   ? "prepare"
                        : timing == TIMING_REDUCE  ? "reduce"
                        : loop->phase == UPDATE    ? "update"
                        : loop->phase == BACKWARD  ? "backward"
                        : timing == TIMING_FORWARD ? "predict"
                                                   : "forward";

    const char *name = arena_string(g->arena, "%s_%s_layer", class_name(g, loop->cls), phase);
    if (is_twice(g, class_name(g, loop->cls)))
        name = arena_string(g->arena, "%s%d", name, loop->cls);
    if (loop->loop.again)
        name = arena_string(g->arena, "%s_again%d", name, loop->loop.again);
    if (loop->loop.fission_part)
        name = arena_string(g->arena, "%s_part%d", name, loop->loop.fission_part);
    if (skew)
        name = arena_string(g->arena, "%s_skew%d", name, skew);
    int known = map_get(&g->functions, name);
    map_set(&g->functions, name, known + 1);
    return known ? arena_string(g->arena, "%s_%d", name, known + 1) : name;
}

// A loop that is printed, and how many loops are around it.
typedef struct PrintedLoop {
    const Item *it;
    int begin, depth;
    Timing timing;
} PrintedLoop;

static void generate_range(Gen *g, const PrintedLoop *around, int begin, int end, int skew, Text *t,
                           int indent);

// Prints the indices of n loops, from the innermost outwards.
static void print_indices(const Gen *g, int n, const char *before, Text *t)
{
    for (int k = 0; k < n; k++)
        text_printf(t, "%s%s", before, loop_index(g, k));
}

// Sets the number that replaces {} in the calls of a body. A body with loops has none: theirs set
// others.
static void print_layer(const Gen *g, const Item *loop, const char *body, Text *t)
{
    int64_t first, step;

    if (!loop->cls)
        return;
    if (!class_layers(g, loop->cls, &first, &step) || strstr(body, "    for ("))
        text_printf(t, "    rt->layer = -1;\n");
    else if (step != 1)
        text_printf(t, "    rt->layer = %" PRId64 " %c %" PRId64 " * layer;\n", first,
                    step < 0 ? '-' : '+', step < 0 ? -step : step);
    else if (first)
        text_printf(t, "    rt->layer = %" PRId64 " + layer;\n", first);
    else
        text_printf(t, "    rt->layer = layer;\n");
}

// Prints one iteration's items of that skew as a function. Returns how many indices it takes: those
// of the loops around it only if it needs them.
static int generate_body(Gen *g, const PrintedLoop *p, int skew, const char *name, bool has_last)
{
    const Item *loop = p->it;
    const BlockClass *c = &g->s->g->classes[loop->cls];
    Node label = {.source = &(Source){.name = c->name ? c->name : "", .scope = ""}};
    Text items = {0}, body = {0};

    generate_range(g, p, p->begin + 1, loop->loop.end, skew, &items, 4);
    print_layer(g, loop, items.s ? items.s : "", &body);
    text_put(&body, items.s ? items.s : "", items.n);
    text_free(&items);
    const char *text = body.s ? body.s : "";
    int n = strstr(text, "outer") ? p->depth + 1 : 1;
    text_printf(g->bodies, "// %s.{}, %d times", node_label(g, &label, 60),
                loop_length(g->s->g, loop));
    if (loop->loop.fission_part)
        text_printf(g->bodies, ", split from the loop before");
    if (skew)
        text_printf(g->bodies, ", %d iteration%s later", skew, skew > 1 ? "s" : "");
    text_printf(g->bodies, "\nstatic void %s(Rt *rt, char *m", name);
    print_indices(g, n, ", int64_t ", g->bodies);
    text_printf(g->bodies, "%s)\n{\n", has_last ? ", bool is_last" : "");
    for (int k = 0; k < n; k++)
        if (!strstr(text, loop_index(g, k)))
            text_printf(g->bodies, "    (void)%s;\n", loop_index(g, k));
    text_put(g->bodies, text, body.n);
    text_printf(g->bodies, "}\n\n");
    text_free(&body);
    return n;
}

// The index of a loop where it is printed: the loop around it has `layer`.
static const char *own_index(const PrintedLoop *p) { return p->depth ? "layer2" : "layer"; }

// "LAYERS + 1", the loop's length and more.
static const char *length_text(Gen *g, const PrintedLoop *p, int more)
{
    const Item *loop = p->it;
    int length = loop_length(g->s->g, loop);

    if (!loop->cls || loop->loop.length)
        return arena_string(g->arena, "%d", length + more);
    const char *s = layers_text(g, loop->cls);
    return more ? arena_string(g->arena, "%s %c %d", s, more < 0 ? '-' : '+', abs(more)) : s;
}

// The iteration that the loop begins with is 0 but in a part of a class: "layer * 4".
static const char *begin_text(const Gen *g, const PrintedLoop *p)
{
    bool is_part = p->depth && p->it->loop.length && p->it->cls;

    return is_part ? arena_string(g->arena, "layer * %d", p->it->loop.length) : "0";
}

static const char *sum_text(const Gen *g, const char *a, const char *b)
{
    bool is_zero = !strcmp(a, "0");

    return is_zero ? b : !strcmp(b, "0") ? a : arena_string(g->arena, "%s + %s", a, b);
}

static void print_for(Gen *g, const PrintedLoop *p, Text *t, int indent)
{
    int skew = p->it->loop.skew;
    const char *i = own_index(p), *begin = begin_text(g, p);

    if (p->it->loop.is_reverse)
        text_printf(t, "%*sfor (int64_t %s = %s; %s >= %s; %s--)", indent, "", i,
                    sum_text(g, begin, length_text(g, p, -1)), i,
                    skew ? arena_string(g->arena, "%s - %d", begin, skew) : begin, i);
    else
        text_printf(t, "%*sfor (int64_t %s = %s; %s < %s; %s++)", indent, "", i, begin, i,
                    sum_text(g, begin, length_text(g, p, skew)), i);
}

// Prints the condition that an item of that skew runs: its own iteration is in the loop.
static void print_condition(Gen *g, const PrintedLoop *p, int skew, Text *t, int indent)
{
    bool is_reverse = p->it->loop.is_reverse;
    bool has_before = skew > 0, has_after = skew < p->it->loop.skew;
    const char *i = own_index(p);

    text_printf(t, "%*sif (", indent, "");
    if (is_reverse && has_before)
        text_printf(t, "%s < %s%s", i, length_text(g, p, -skew), has_after ? " && " : "");
    if (is_reverse && has_after)
        text_printf(t, "%s >= %d", i, -skew);
    if (!is_reverse && has_before)
        text_printf(t, "%s >= %d%s", i, skew, has_after ? " && " : "");
    if (!is_reverse && has_after)
        text_printf(t, "%s < %s", i, length_text(g, p, skew));
    text_printf(t, ")\n");
}

// Calls a body with so many indices.
static void print_body_call(const Gen *g, const PrintedLoop *p, int skew, const char *name, int n,
                            Text *t, int indent)
{
    text_printf(t, "%*s%s(rt, m, %s", indent, "", name, own_index(p));
    if (skew)
        text_printf(t, " %c %d", p->it->loop.is_reverse ? '+' : '-', skew);
    print_indices(g, n - 1, ", ", t);
    text_printf(t, ");\n");
}

// Prints a loop over one iteration's items. They are in a function of their own, one for each skew,
// unless the loop only copies, or runs other loops, and is in none.
static void generate_loop(Gen *g, const PrintedLoop *p, Text *t, int indent)
{
    int skews = p->it->loop.skew;

    print_for(g, p, t, indent);
    if (!p->it->region && !p->depth) {
        text_printf(t, " {\n");
        generate_range(g, p, p->begin + 1, p->it->loop.end, 0, t, indent + 4);
        text_printf(t, "%*s}\n", indent, "");
        return;
    }
    text_printf(t, skews ? " {\n" : "\n");
    for (int skew = 0; skew <= skews; skew++) {
        const char *name = body_name(g, p->it, p->timing, skew);
        int n = generate_body(g, p, skew, name, false);
        if (skews)
            print_condition(g, p, skew, t, indent + 4);
        print_body_call(g, p, skew, name, n, t, skews ? indent + 8 : indent + 4);
    }
    if (skews)
        text_printf(t, "%*s}\n", indent, "");
}

// Prints the items [begin, end) of that skew, with the loops among them.
static void generate_range(Gen *g, const PrintedLoop *around, int begin, int end, int skew, Text *t,
                           int indent)
{
    for (int i = begin; i < end; i++) {
        const Item *it = &g->s->items[i];
        const PrintedLoop loop = {it, i, around->it ? around->depth + 1 : 0, around->timing};
        if (it->kind == ITEM_LOOP) {
            generate_loop(g, &loop, t, indent);
            i = it->loop.end;
        } else if (it->skew == skew && it->is_once) {
            text_printf(t, "%*sif (is_last) {\n", indent, "");
            generate_item(g, it, t, indent + 4);
            text_printf(t, "%*s}\n", indent, "");
        } else if (it->skew == skew) {
            generate_item(g, it, t, indent);
        }
    }
}

const char *generate_loop_body(Gen *g, int loop, Timing timing, bool has_last)
{
    const Item *it = &g->s->items[loop];
    const char *name = body_name(g, it, timing, 0);

    generate_body(g, &(PrintedLoop){it, loop, 0, timing}, 0, name, has_last);
    return name;
}

void generate_statements(Gen *g, int begin, int end, Timing timing, Text *t)
{
    generate_range(g, &(PrintedLoop){.timing = timing}, begin, end, 0, t, 4);
}
