// Prints the table of local buffers with their live ranges. --check-arena compares a run with it.
#include <string.h>

#include "generator/internal.h"

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

bool buffer_is_listed(const Program *p, int buffer)
{
    const Buffer *b = &p->buffers[buffer];

    return b->kind != BUFFER_PERSISTENT && b->first >= 0;
}

// "12288, 3, 87".
static const char *range_text(const Gen *g, const Buffer *b, const int *before)
{
    int last = b->last < g->s->n_items ? before[b->last + 1] - 1 : before[g->s->n_items];

    return arena_string(g->arena, "%" PRId64 ", %d, %d", b->bytes - REDZONE, before[b->first],
                        last);
}

static void list_buffer(Gen *g, List *l, int buffer, const int *before)
{
    const Buffer *b = &g->p->buffers[buffer];
    const PlaceName *place = use_place(g, buffer, 0);
    const char *range = range_text(g, b, before);
    int room = list_room(place->at, place->step, b->bytes);

    if (place->step)
        list_add(l, room,
                 arena_string(g->arena, "STACK(%s, %" PRId64 ", %" PRId64 ", %s)", place->name,
                              place->at, place->step, range));
    else
        list_add(
            l, room,
            arena_string(g->arena, "VALUE(%s, %" PRId64 ", %s)", place->name, place->at, range));
}

static const char *const set_names[N_SETS] = {"TRAINING", "FORWARD"};

void generate_buffers(Gen *g, Text *t)
{
    text_printf(t,
                "// Buffers: place, of stacks the bytes between two, size, first and last "
                "statement of the live\n// range. Begins and ends of loops count as statements.\n");
    for (g->set = 0; g->set < N_SETS; g->set++) {
        List l = {.t = t, .column = COLUMNS, .indent = 4, .between = "", .end = " \\"};
        g->s = &g->p->set[g->set];
        if (!g->s->g)
            continue;
        const int *before = count_statements(g);
        text_printf(t, "#define %s_BUFFERS(VALUE, STACK)", set_names[g->set]);
        for (int i = 1; i < g->p->n_buffers; i++)
            if (buffer_is_listed(g->p, i) && g->p->buffers[i].set == g->set)
                list_buffer(g, &l, i, before);
        text_printf(t, "\n%s_BUFFERS(RT_DECLARE_VALUE, RT_DECLARE_STACK)\n", set_names[g->set]);
    }
}

// Prints the end of the list of buffers, and the loops.
static void print_loops(Gen *g, const int *before)
{
    Text t = {0};

    text_printf(&t, "{0}}, (RtLoop[]){");
    for (int i = 0; i < g->s->n_items; i++) {
        const Item *it = &g->s->items[i];
        if (it->kind != ITEM_LOOP)
            continue;
        text_printf(&t, "{%d, %d, %d, {", before[i], before[it->loop.end],
                    loop_length(g->s->g, it) + it->loop.skew);
        for (int k = i + 1, skew = 0; k < it->loop.end; k++)
            for (; skew < g->s->items[k].skew; skew++)
                text_printf(&t, skew ? ", %d" : "%d", before[k]);
        text_printf(&t, it->loop.skew ? "}}, " : "0}}, ");
    }
    text_printf(&t, "{0}});");
    print_wrapped(g->live_ranges, 8, t.s);
    text_free(&t);
}

void generate_live_ranges(Gen *g)
{
    Text *t = g->live_ranges;

    text_printf(t, "// The buffers' live ranges, for --check-arena.\n"
                   "static void live_ranges(Rt *rt)\n{\n");
    for (g->set = 0; g->set < N_SETS; g->set++) {
        g->s = &g->p->set[g->set];
        if (!g->s->g)
            continue;
        const int *before = count_statements(g);
        text_printf(t,
                    "    rt_live_ranges(rt, RT_%s, (RtLiveRange[]){\n        "
                    "%s_BUFFERS(RT_LIVE_VALUE, RT_LIVE_STACK)",
                    set_names[g->set], set_names[g->set]);
        text_printf(t, "\n");
        print_loops(g, before);
    }
    text_printf(t, "}\n\n");
}
