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

// The fields of an RT_AT, and the columns by which each is shorter than it may be.
enum { MAX_FIELDS = 9 };
typedef struct Fields {
    const char *text[MAX_FIELDS];
    int spare[MAX_FIELDS], n;
} Fields;

static void add_field(Fields *f, const char *text, int spare)
{
    f->text[f->n] = text;
    f->spare[f->n++] = spare > 0 ? spare : 0;
}

// All numbers count as long ones: the number of lines doesn't depend on that of layers.
static void add_number(Gen *g, Fields *f, const char *name, double x)
{
    const char *number = short_number(g, x);

    add_field(f, arena_string(g->arena, ".%s = %s", name, number),
              NUMBER_WIDTH - (int)strlen(number));
}

// Those of a collective, and of a wait for one.
static void add_exchange(Gen *g, const Item *it, Fields *f)
{
    const ExchangeCall x = exchange_call(g, it);

    if (!x.axes)
        return;
    add_field(f, arena_string(g->arena, ".axis = \"%s\"", x.axes), 0);
    if (it->kind == ITEM_WAIT)
        return;
    add_number(g, f, "sent", x.bytes);
    if (g->o->cluster)
        add_number(g, f, "exchange", x.seconds);
}

static Fields fields_of(Gen *g, const Item *it)
{
    Fields f = {.n = 0};

    if (it->region && it->cls && g->set == SET_TRAIN)  // others are copies, of all layers together
        add_field(&f, arena_string(g->arena, ".block = %d", (int)it->cls), 0);
    add_number(g, &f, "flops", it->work.flops);
    add_number(g, &f, "reads", it->work.read);
    add_number(g, &f, "writes", it->work.written);
    if (g->o->cluster)
        add_number(g, &f, "seconds",
                   exchange_seconds(g, it) + work_seconds(g->o->cluster, &it->work));
    add_exchange(g, it, &f);
    return f;
}

// The fields are on the line of `what`, or all on others.
static void print_at(const char *what, Fields f, Text *t, int indent)
{
    size_t start = t->n;

    text_printf(t, "%*sRT_AT(rt, \"%s\"", indent, "", what);
    int column = (int)(t->n - start), end = column;
    f.spare[f.n - 1]++;  // the end of the call is longer than a comma
    for (int i = 0; i < f.n; i++)
        end += (int)strlen(f.text[i]) + 2 + f.spare[i];
    List l = {.t = t,
              .column = end > COLUMNS ? COLUMNS : column,
              .indent = indent + 4,
              .between = ",",
              .end = "",
              .n = 1};
    for (int i = 0; i < f.n; i++)
        list_add(&l, f.spare[i], f.text[i]);
    text_printf(t, ");\n");
}

void print_statement(Gen *g, const Item *it, Text *t, int indent, const char *call)
{
    const char *comment = exchange_comment(g, it);

    if (comment)
        print_wrapped(t, indent, comment);
    print_at(call_text(g, it, LABEL_WIDTH), fields_of(g, it), t, indent);
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
