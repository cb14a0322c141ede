// Prints the call of a fused group, and its function around the loops of group_body.c.
#include <string.h>

#include "generator/cpu/group.h"
#include "generator/cpu/group_body.h"
#include "generator/cpu/stream.h"

// Numbers the variables of sums. Column sums are parts of one array.
static void number_sums(Body *b)
{
    int64_t width = b->w->rank ? b->w->dim[b->w->rank - 1] : 1, column = 0;
    int n = 0;

    b->sum = arena_array(b->g->arena, int, b->it->n_nodes);
    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *x = &b->g->s->g->nodes[b->it->nodes[i]];
        const char **expr = &b->expr[b->it->nodes[i]];
        if (b->it->group.is_column_sum[i]) {
            *expr = arena_string(b->g->arena, column ? "s[%" PRId64 " + i]" : "s[i]", column);
            column += width;
        } else if (x->op->is_sum) {
            *expr = arena_string(b->g->arena, "s%d", n);
            b->sum[i] = n++;
        }
    }
}

// The function's number. Groups whose functions have the same text share one.
static int function_of(Gen *g, const Body *b)
{
    char *text = arena_copy(g->arena, b->text.s, b->text.n);
    int number = map_get(&g->functions, text);

    if (number)
        return number;
    map_set(&g->functions, text, ++g->n_groups);
    text_printf(g->group_names[b->it->group.has_columns], ", rows%d", g->n_groups);
    text_printf(g->groups,
                "static void rows%d(char *const *p, int64_t first, int64_t last%s)\n{\n%s}\n\n",
                g->n_groups, b->it->group.has_columns ? ", float *s" : "", text);
    return g->n_groups;
}

// Finds the places to pass and returns how many. A buffer that is updated in place is passed once;
// places that coincide by chance are passed twice, as that needs no function of its own.
static int find_slots(Body *b, const char **place)
{
    const Gen *g = b->g;
    int n = 0;

    for (int k = 0; k < b->it->n_in + b->it->n_out; k++) {
        if (is_column_output(g, b->it, k))
            continue;
        const char *s = place_text(b->g, &b->it->operands[k]);
        int32_t buffer = b->it->operands[k].address.buffer;
        int i = g->p->buffers[buffer].kind == BUFFER_PERSISTENT ? 0 : n;
        while (i < n && strcmp(place[i], s))
            i++;
        place[i] = s;
        n += i == n;
        b->slot[k] = i;
    }
    return n;
}

// Declares the shards and the layer that the body uses. They are passed after the places.
static void print_passed(Body *b, int n_places)
{
    Text body = b->text;

    b->text = (Text){0};
    for (int k = 0; k < b->n_shards; k++) {
        const char *first = arena_string(b->g->arena, "o%d", k);
        const char *extent = arena_string(b->g->arena, "e%d", k);
        if (has_word(body.s, first))
            text_printf(&b->text, "    const int64_t %s = ((const RtShard *)p[%d])->offset;\n",
                        first, n_places + k);
        if (has_word(body.s, extent))
            text_printf(&b->text, "    const int64_t %s = ((const RtShard *)p[%d])->extent;\n",
                        extent, n_places + k);
    }
    if (b->uses_layer)
        text_printf(&b->text, "    const int64_t layer = *(const int64_t *)p[%d];\n",
                    n_places + b->n_shards);
    text_put(&b->text, body.s, body.n);
    text_free(&body);
}

// Prints the places of the column sums, in the function's order.
static void print_sum_places(Gen *g, const Body *b, Text *t)
{
    bool is_first = true;

    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[b->it->nodes[i]];
        if (!b->it->group.is_column_sum[i])
            continue;
        int k = b->it->n_in + output_of(b->it, n->out[0]);
        text_printf(t, "%s%s", is_first ? "" : ", ", place_text(g, &b->it->operands[k]));
        is_first = false;
    }
}

// The call: the places, then the number of rows or, for column sums, their shape and places.
static char *call_text(Gen *g, const Body *b, int n_places, const char *const *place)
{
    const Item *it = b->it;
    const Walk *w = b->w;
    int64_t rows = 1, elements = 1;
    Text t = {0};

    for (int d = 0; d < w->rank; d++) {
        rows *= d < w->rows ? w->dim[d] : 1;
        elements *= w->dim[d];
    }
    text_printf(&t, "%s(%s, rows%d, (char *[]){", it->group.has_columns ? "rt_sums" : "rt_rows",
                rank_text(g, it), function_of(g, b));
    for (int k = 0; k < n_places; k++)
        text_printf(&t, "%s%s", k ? ", " : "", place[k]);
    for (int k = 0; k < b->n_shards; k++)
        text_printf(&t, "%s(char *)&rt->shard[%d]", n_places + k ? ", " : "", b->shard[k]);
    text_printf(&t, "%s}, ", b->uses_layer ? ", (char *)&layer" : "");
    if (it->group.has_columns) {
        RtSums s = it->group.sums;
        text_printf(&t,
                    "&(RtSums){.outer = %" PRId64 ", .rows = %" PRId64 ", .width = %" PRId64
                    ", .n = %" PRId64 ", .work = %" PRId64 "}, (char *[]){",
                    s.outer, s.rows, s.width, s.n, s.work);
        print_sum_places(g, b, &t);
        text_printf(&t, "});");
    } else {
        text_printf(&t, "%" PRId64 ", %" PRId64 ");", rows, elements * it->n_nodes);
    }
    char *call = arena_copy(g->arena, t.s, t.n);
    text_free(&t);
    return call;
}

void print_group(Gen *g, const Item *it, Text *t, int indent)
{
    Walk w = make_walk(g, it);
    Body b = {.g = g, .it = it, .w = &w};

    b.expr = g->expr;
    b.uses = arena_array(g->arena, int, it->n_nodes);
    b.is_selected = arena_array(g->arena, bool, it->n_nodes);
    b.is_named = arena_array(g->arena, bool, it->n_in + it->n_out);
    find_streamed(&b);
    find_kept(&b);
    number_sums(&b);
    b.slot = arena_array(g->arena, int, it->n_in + it->n_out);
    const char **place = arena_array(g->arena, const char *, it->n_in + it->n_out);
    int n_places = find_slots(&b, place);
    print_body(&b);
    print_passed(&b, n_places);
    print_statement(g, it, t, indent, call_text(g, &b, n_places, place));
    for (int i = 0; i < it->n_nodes; i++)
        g->expr[it->nodes[i]] = NULL;
    text_free(&b.text);
}
