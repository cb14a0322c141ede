// Prints statements, each with what it is of: a module, or an optimizer and its parameter.
#include <string.h>

#include "generator/internal.h"

enum { LABEL_WIDTH = 64, NUMBER_WIDTH = 8 };  // columns of what RT_AT says, and of a number

// "1.93e10": three digits, in the shortest form that C reads.
static char *short_number(Gen *g, double x)
{
    char *s = arena_string(g->arena, "%.3g", x), *e = strchr(s, 'e');

    if (!e)
        return s;
    const char *digits = e + 1 + strspn(e + 1, "+-0");
    return arena_string(g->arena, "%.*se%s%s", (int)(e - s), s, e[1] == '-' ? "-" : "", digits);
}

char *item_label(const Gen *g, const Item *it, int width)
{
    const Value *v = value_of(g->s->g, it->operands[0].value);
    const Node made = {.source = &(Source){.name = v->name, .scope = ""}, .block = v->block};
    const Node *n = item_node(g->s->g, it);

    return node_label(g, n ? n : &made, width);
}

// The value that the item makes, moves or fills.
static const Value *result_of(const Gen *g, const Item *it)
{
    const Graph *graph = g->s->g;

    return it->n_nodes ? out(graph, &graph->nodes[it->nodes[it->n_nodes - 1]])
                       : value_of(graph, it->operands[0].value);
}

// "h.{}.mlp.act: add mul ... f32[4,16]", in `width` columns if possible.
static char *call_text(Gen *g, const Item *it, int width)
{
    Text t = {0}, type = {0};

    print_type(result_of(g, it), &type);
    int left = width - (int)type.n - 12;  // with the last operator
    const char *label = item_label(g, it, left < 16 ? 16 : left > 40 ? 40 : left);
    width -= (int)type.n + 6;  // with " ..." and a space
    text_printf(&t, "%s%s", label, *label ? ": " : "");
    if (item_slot(it))
        text_printf(&t, it->kind == ITEM_WAIT ? "wait for " : "start ");
    if (!it->n_nodes)
        text_printf(&t, it->kind == ITEM_COPY ? "copy " : "fill ");
    for (int i = 0; i < it->n_nodes; i++) {
        const char *name = g->s->g->nodes[it->nodes[i]].op->name;
        if (i && (int)(t.n + strlen(name)) > width) {
            text_printf(&t, "... ");
            break;
        }
        text_printf(&t, "%s ", name);
    }
    char *s = arena_string(g->arena, "%s%s", t.s, type.s);
    text_free(&t);
    text_free(&type);
    return s;
}

void print_statement(Gen *g, const Item *it, Text *t, int indent, const char *call)
{
    const Work *w = &it->work;
    char *numbers =
        arena_string(g->arena, ".flops = %s, .reads = %s, .writes = %s", short_number(g, w->flops),
                     short_number(g, w->read), short_number(g, w->written));

    if (g->o->cluster)
        numbers =
            arena_string(g->arena, "%s, .seconds = %s", numbers,
                         short_number(g, exchange_seconds(g, it) + work_seconds(g->o->cluster, w)));
    const char *comment = exchange_comment(g, it);
    if (comment)
        print_wrapped(t, indent, comment);
    const char *what = call_text(g, it, LABEL_WIDTH);
    // The number of lines doesn't depend on that of layers: all numbers count as long ones.
    int n = indent + (int)strlen("RT_AT(rt, \"\", .flops = , .reads = , .writes = );") +
            (int)strlen(what) + 3 * NUMBER_WIDTH +
            (g->o->cluster ? (int)strlen(", .seconds = ") + NUMBER_WIDTH : 0);
    text_printf(t, "%*sRT_AT(rt, \"%s\",", indent, "", what);
    if (n > COLUMNS)
        text_printf(t, "\n%*s", indent + 3, "");
    text_printf(t, " %s);\n", numbers);
    print_wrapped(t, indent, call);
}

void print_labelled(Text *t, int indent, const char *call, const char *label)
{
    Text lines = {0};

    print_wrapped(&lines, indent, call);
    const char *last = lines.s + lines.n - 1;  // after the last line
    while (last > lines.s && last[-1] != '\n')
        last--;
    size_t length = lines.n - 1 - (size_t)(last - lines.s);
    if (length + strlen("  // ") + strlen(label) <= COLUMNS) {
        text_put(t, lines.s, lines.n - 1);
        text_printf(t, "  // %s\n", label);
    } else {
        text_printf(t, "%*s// %s\n%s", indent, "", label, lines.s);
    }
    text_free(&lines);
}
