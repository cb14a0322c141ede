// Prints the table of local buffers with their places and live ranges. --check-arena compares a run
// with it.
#include <string.h>

#include "generator/internal.h"

static const char *const set_names[N_SETS] = {"TRAINING", "FORWARD"};

// For each item, the number of statements before it. Needless items are no statements. Items that
// show a gradient or fill padding belong to the statement before them.
static int *count_statements(const Gen *g)
{
    const Set *s = g->s;
    int *before = arena_array(g->arena, int, s->n_items + 1);

    for (int i = 0; i < s->n_items; i++)
        before[i + 1] =
            before[i] + (s->items[i].kind != ITEM_NONE && s->items[i].kind != ITEM_PAD &&
                         s->items[i].kind != ITEM_GRADIENT);
    return before;
}

// Adds a word to a macro, which may continue on the next line.
static void add_word(Text *t, int *column, const char *word)
{
    int n = (int)strlen(word) + 1;

    if (*column + n > COLUMNS - 2) {
        text_printf(t, " \\\n   ");
        *column = 3;
    }
    text_printf(t, " %s", word);
    *column += n;
}

static void print_live_ranges(Gen *g, const int *before)
{
    const Set *s = g->s;
    int column = COLUMNS;

    text_printf(g->live_ranges, "#define %s(B)", set_names[g->set]);
    for (int i = 1; i < g->p->n_buffers; i++) {
        const Buffer *b = &g->p->buffers[i];
        if (b->kind == BUFFER_PERSISTENT || b->set != g->set || b->first < 0)
            continue;
        int last = b->last < s->n_items ? before[b->last + 1] - 1 : before[s->n_items];
        add_word(g->live_ranges, &column,
                 arena_string(g->arena, "B(%s, %" PRId64 ", %" PRId64 ", %d, %d)",
                              place_name(g, i, 0), b->offset, b->bytes - REDZONE, before[b->first],
                              last));
    }
    text_printf(g->live_ranges, "\n");
}

static void print_loops(const Gen *g, const int *before)
{
    Text call = {0};

    text_printf(&call, "rt_live_ranges(rt, RT_%s, (RtLiveRange[]){%s(LIVE){0}}, (RtLoop[]){",
                set_names[g->set], set_names[g->set]);
    for (int i = 0; i < g->s->n_items; i++) {
        const Item *it = &g->s->items[i];
        if (it->kind != ITEM_LOOP)
            continue;
        text_printf(&call, "{%d, %d, %d, {", before[i], before[it->loop.end],
                    g->s->g->classes[it->cls].length + it->loop.skew);
        for (int k = i + 1, skew = 0; k < it->loop.end; k++)
            for (; skew < g->s->items[k].skew; skew++)
                text_printf(&call, skew ? ", %d" : "%d", before[k]);
        text_printf(&call, it->loop.skew ? "}}, " : "0}}, ");
    }
    text_printf(&call, "{0}});");
    print_wrapped(g->tables, 4, call.s);
    text_free(&call);
}

void generate_live_ranges(Gen *g)
{
    text_printf(g->live_ranges,
                "// Buffers of a step and of forward: name, offset, bytes, first and last "
                "statement of the live\n// range. Begins and ends of loops count as statements. "
                "--check-arena uses the table.\n");
    text_printf(g->tables, "static void live_ranges(Rt *rt)\n{\n");
    for (g->set = 0; g->set < N_SETS; g->set++) {
        g->s = &g->p->set[g->set];
        if (!g->s->g)
            continue;
        const int *before = count_statements(g);
        print_live_ranges(g, before);
        print_loops(g, before);
    }
    text_printf(g->tables, "}\n\n");
    text_printf(g->live_ranges, "#define PLACE(name, at, ...) static const int64_t name = at;\n"
                                "#define LIVE(name, at, ...) {#name, name, __VA_ARGS__},\n");
    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            text_printf(g->live_ranges, "%s(PLACE)\n", set_names[i]);
}
