// Prints the table of local buffers with their live ranges. --check-arena compares a run with it.
#include <string.h>

#include "generator/internal.h"

// The function that runs an item as one of its calls; NULL: it runs in its iteration.
static const Function *calling_function(const Set *s, int item)
{
    for (int i = 0; i < s->n_functions; i++)
        if (s->functions[i].calls && item >= s->functions[i].begin && item < s->functions[i].end)
            return &s->functions[i];
    return NULL;
}

// For each item, the number of statements before it. Needless items are no statements. Items that
// show a gradient or fill padding belong to the statement before them. All calls of a function are
// one statement.
static int *count_statements(const Gen *g)
{
    const Set *s = g->s;
    int *before = arena_array(g->arena, int, s->n_items + 1);

    for (int i = 0; i < s->n_items; i++) {
        const Function *f = calling_function(s, i);
        before[i + 1] =
            before[i] + (f ? i == f->begin
                           : s->items[i].kind != ITEM_NONE && s->items[i].kind != ITEM_PAD &&
                                 s->items[i].kind != ITEM_GRADIENT);
    }
    return before;
}

// ", .taken = 87, .takes_down = true": the loop that takes or frees slots.
static const char *slots_text(const Gen *g, int loop, const char *what, const char *down,
                              const int *before)
{
    if (!loop)
        return "";
    const Loop *l = &g->s->items[loop - 1].loop;
    return arena_string(g->arena, ", .%s = %d%s%s%s", what, before[l->end],
                        l->is_reverse ? ", ." : "", l->is_reverse ? down : "",
                        l->is_reverse ? " = true" : "");
}

// "12288, 3, 87" or, with slots, "12288, 3, 87, .slot = 4096, .freed = 87, .frees_down = true".
static const char *range_text(const Gen *g, const Buffer *b, const int *before)
{
    int last = b->last < g->s->n_items ? before[b->last + 1] - 1 : before[g->s->n_items];
    char *s =
        arena_string(g->arena, "%" PRId64 ", %d, %d", b->bytes - REDZONE, before[b->first], last);

    if (!b->slots.bytes)
        return s;
    return arena_string(g->arena, "%s, .slot = %" PRId64 "%s%s", s, b->slots.bytes,
                        slots_text(g, b->slots.taken, "taken", "takes_down", before),
                        slots_text(g, b->slots.freed, "freed", "frees_down", before));
}

static bool is_printed(const Gen *g, const Buffer *b)
{
    return b->kind != BUFFER_PERSISTENT && b->set == g->set && b->first >= 0;
}

// Prints the buffers without slots.
static void print_buffers(Gen *g, const int *before)
{
    List l = {.t = g->live_ranges, .column = COLUMNS, .indent = 8, .between = "", .end = ""};

    for (int i = 1; i < g->p->n_buffers; i++) {
        const Buffer *b = &g->p->buffers[i];
        if (!is_printed(g, b) || b->slots.bytes)
            continue;
        const NamedOffset *at = use_buffer(g, i);
        list_add(&l, bytes_room(b->bytes, at->step),
                 arena_string(g->arena, "%s(%s, %s),", at->step ? "STACK" : "LIVE", at->name,
                              range_text(g, b, before)));
    }
}

// Prints the buffers with slots, the end of the list, and the loops.
static void print_loops(Gen *g, const int *before)
{
    Text t = {0};

    for (int i = 1; i < g->p->n_buffers; i++) {
        const Buffer *b = &g->p->buffers[i];
        if (!is_printed(g, b) || !b->slots.bytes)
            continue;
        const NamedOffset *at = use_buffer(g, i);
        text_printf(&t, "{\"%s\", %s%s, %s}, ", at->name, at->name, at->step ? ".first" : "",
                    range_text(g, b, before));
    }
    text_printf(&t, "{0}}, (RtLoop[]){");
    for (int i = 0; i < g->s->n_items; i++) {
        const Item *it = &g->s->items[i];
        if (it->kind != ITEM_LOOP || calling_function(g->s, i))
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
    static const char *const set_names[N_SETS] = {"TRAINING", "FORWARD"};
    Text *t = g->live_ranges;

    text_printf(t,
                "// Buffers of a step and of forward: name, bytes, first and last statement of the "
                "live range. Begins\n// and ends of loops count as statements. --check-arena "
                "uses the table.\n"
                "#define LIVE(name, ...) {#name, name, __VA_ARGS__, .slot = 0}\n"
                "#define STACK(name, ...) {#name, name.first, __VA_ARGS__, .slot = 0}\n"
                "static void live_ranges(Rt *rt)\n{\n");
    for (g->set = 0; g->set < N_SETS; g->set++) {
        g->s = &g->p->set[g->set];
        if (!g->s->g)
            continue;
        const int *before = count_statements(g);
        text_printf(t, "    rt_live_ranges(rt, RT_%s, (RtLiveRange[]){", set_names[g->set]);
        print_buffers(g, before);
        text_printf(t, "\n");
        print_loops(g, before);
    }
    text_printf(t, "}\n\n");
}
