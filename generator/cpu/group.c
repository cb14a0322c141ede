// Prints the functions of fused groups around the loops of group_body.c, and their calls.
#include <string.h>

#include "generator/cpu/group.h"
#include "generator/cpu/group_body.h"
#include "generator/cpu/stream.h"
#include "generator/group/function.h"
#include "generator/group/group.h"

enum { MAX_KEPT = 8192 };  // elements of a row that is kept, as its array is on the stack
// The least size that a function is passed instead of knowing it. Updates and norms take the time
// of memory. With 64 for all functions a MobileNet step took 6 % longer.
enum { MIN_SIZE = 512, MIN_UPDATE_SIZE = 64 };

// ---- functions ----

// Names the column sums, which are parts of one array.
static void name_column_sums(Body *b)
{
    int64_t width = b->w->rank ? b->w->dim[b->w->rank - 1] : 1, column = 0;

    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->it->group.is_column_sum[i]) {
            b->expr[b->it->nodes[i]] =
                arena_string(b->g->arena, column ? "s[%" PRId64 " + i]" : "s[i]", column);
            column += width;
        }
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

// The function's text from its parameters on.
static char *function_text(Body *b, GroupCall *call)
{
    b->own = arena_array(b->g->arena, CpuLoops, 1);
    find_transposed(b);
    find_streamed(b);
    find_kept(b, MAX_KEPT);
    name_column_sums(b);
    print_body(b);
    print_passed(b, call->n_places);
    char *text =
        arena_string(b->g->arena, "(char *const *p, int64_t first, int64_t last%s)\n{\n%s}",
                     b->it->group.has_columns ? ", float *s" : "", b->text.s);
    text_free(&b->text);
    return text;
}

static int64_t least_size(const Body *b)
{
    return last_node(b)->phase == UPDATE ? MIN_UPDATE_SIZE : MIN_SIZE;
}

static int name_arguments(const Body *b, GroupCall *call, const char **name)
{
    int n = call->n_places;

    for (int k = 0; k < b->n_shards; k++)
        name[n++] = arena_string(b->g->arena, "shard%d", k);
    if (b->uses_layer)
        name[n++] = "index";
    name[n++] = "sizes";
    return n;
}

// The places that the function is passed, the shards and the layer.
static Arguments arguments_of(Gen *g, const Item *it, const GroupCall *c)
{
    Arguments x = {.text = arena_array(g->arena, const char *, c->n_places + c->n_shards + 2)};

    for (int k = 0; k < c->n_places; k++)
        x.text[x.n++] = place_text(g, &it->operands[c->place[k]]);
    for (int k = 0; k < c->n_shards; k++)
        x.text[x.n++] = arena_string(g->arena, "(char *)&rt->shard[%d]", c->shard[k]);
    if (c->uses_layer)
        x.text[x.n++] = "(char *)&layer";
    const char *sizes = sized_text_argument(g->arena, &g->function[c->function].text, c->variant);
    if (sizes)
        x.text[x.n++] = sizes;
    return x;
}

static const GroupText text = {&cpu_elements, function_text, least_size, arguments_of,
                               name_arguments};

void make_functions(Gen *g) { make_calls(g, &text); }

void finish_functions(Gen *g)
{
    finish_calls(g, &text);
    for (int i = 0; i < g->n_groups; i++) {
        const GroupFunction *f = &g->function[i];
        print_function_head(g, f, g->groups);
        text_printf(g->groups, "static void %s%s\n\n", f->name,
                    sized_text_fill(g->arena, &f->text, f->sizes_at));
    }
}

// ---- calls ----

// Prints the number of rows, and the work of each.
static void print_rows(Gen *g, const Item *it, int64_t rows, Text *t)
{
    int n = 0;

    for (int64_t left = rows; left > 1; n++)
        left /= it->dim[it->group.axis[n]];
    print_row_count(g, it, rows, t);
    text_printf(t, ", %s", walk_count_text(g, it, n, it->rank, it->n_nodes));
}

// The call: the number of rows or the shape of column sums, then the places.
void print_group(Gen *g, const Item *it, Text *to, int indent)
{
    const GroupCall *c = call_of(g, it);
    const char *name = g->function[c->function].name;
    Arguments x = arguments_of(g, it, c);
    Text t = {0};

    if (it->group.has_columns) {
        text_printf(&t, "RT_SUMS(%s, %s, ", rank_text(g, it), name);
        print_sums_shape(g, it, &t);
        text_printf(&t, ", %" PRId64 ", (", it->group.sums.work);
        print_sum_places(g, it, &t);
        text_printf(&t, "), ");
        print_arguments(g, c->function, &x, &t);
        text_printf(&t, ");");
    } else {
        text_printf(&t, "RT_ROWS(%s, %s, ", rank_text(g, it), name);
        print_rows(g, it, c->rows, &t);
        text_printf(&t, ", ");
        print_arguments(g, c->function, &x, &t);
        text_printf(&t, ");");
    }
    print_statement(g, it, to, indent, t.s);
    text_free(&t);
}
