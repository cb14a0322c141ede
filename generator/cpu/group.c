// Prints the calls of fused groups. Their functions are made before, around the loops of
// group_body.c: groups of the same text share one, whose name is of all of them.
#include <string.h>

#include "generator/cpu/group.h"
#include "generator/cpu/group_arguments.h"
#include "generator/cpu/group_body.h"
#include "generator/cpu/group_function.h"
#include "generator/cpu/operand_name.h"
#include "generator/cpu/stream.h"

// How a group calls its function.
struct GroupCall {
    int function;                   // its number
    int *place, n_places;           // operands whose places are passed
    int shard[MAX_RANK], n_shards;  // indices into rt->shard
    bool uses_layer;
    int variant;  // of the function's sizes
    int64_t rows;
};

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

// ---- places ----

static bool is_same_place(const Operand *x, const Operand *y)
{
    return address_equal(&x->address, &y->address) && x->rank_slice.slice == y->rank_slice.slice &&
           x->rank_slice.whole == y->rank_slice.whole;
}

// Finds the operands whose places are passed. A buffer that is updated in place is passed once;
// places that coincide by chance are passed twice, as that needs no function of its own.
static void find_slots(Body *b, GroupCall *call)
{
    const Operand *o = b->it->operands;
    int n_operands = b->it->n_in + b->it->n_out;

    b->slot = arena_array(b->g->arena, int, n_operands);
    call->place = arena_array(b->g->arena, int, n_operands);
    for (int k = 0; k < n_operands; k++) {
        if (is_column_output(b->g, b->it, k))
            continue;
        bool is_persistent = b->g->p->buffers[o[k].address.buffer].kind == BUFFER_PERSISTENT;
        int i = is_persistent ? 0 : call->n_places;
        while (i < call->n_places && !is_same_place(&o[call->place[i]], &o[k]))
            i++;
        call->place[i] = k;
        call->n_places += i == call->n_places;
        b->slot[k] = i;
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

// ---- functions ----

// The function's text from its parameters on.
static char *function_text(Body *b, GroupCall *call)
{
    find_streamed(b);
    find_kept(b);
    number_sums(b);
    find_slots(b, call);
    name_operands(b);
    print_body(b);
    print_passed(b, call->n_places);
    char *text =
        arena_string(b->g->arena, "(char *const *p, int64_t first, int64_t last%s)\n{\n%s}",
                     b->it->group.has_columns ? ", float *s" : "", b->text.s);
    text_free(&b->text);
    return text;
}

// Names the function's arguments after the first operand of each place.
static void name_arguments(const Body *b, const GroupCall *call)
{
    int n = call->n_places + b->n_shards + b->uses_layer;
    const char **name = arena_array(b->g->arena, const char *, n + 1);

    for (int k = b->it->n_in + b->it->n_out - 1; k >= 0; k--)
        if (!is_column_output(b->g, b->it, k))
            name[b->slot[k]] = b->name[k];
    for (int k = 0; k < b->n_shards; k++)
        name[call->n_places + k] = arena_string(b->g->arena, "shard%d", k);
    if (b->uses_layer)
        name[call->n_places + b->n_shards] = "index";
    name[n] = "sizes";
    b->g->function[call->function].sizes_at = n;
    b->g->function[call->function].argument_name = name;
}

static GroupCall *make_call(Gen *g, const Item *it)
{
    Walk w = make_walk(g, it);
    GroupCall *call = arena_array(g->arena, GroupCall, 1);
    Body b = {.g = g, .it = it, .w = &w, .expr = g->expr};

    b.uses = arena_array(g->arena, int, it->n_nodes);
    b.is_selected = arena_array(g->arena, bool, it->n_nodes);
    b.is_named = arena_array(g->arena, bool, it->n_in + it->n_out);
    b.is_row_result = arena_array(g->arena, bool, it->n_in + it->n_out);
    call->function = add_function(&b, function_text(&b, call), &call->variant);
    name_arguments(&b, call);
    call->n_shards = b.n_shards;
    memcpy(call->shard, b.shard, sizeof b.shard);
    call->uses_layer = b.uses_layer;
    call->rows = 1;
    for (int d = 0; d < w.rows; d++)
        call->rows *= w.dim[d];
    for (int i = 0; i < it->n_nodes; i++)
        g->expr[it->nodes[i]] = NULL;
    return call;
}

void make_functions(Gen *g)
{
    g->group_call[g->set] = arena_array(g->arena, GroupCall *, g->s->n_items);
    for (int i = 0; i < g->s->n_items; i++)
        if (g->s->items[i].kind == ITEM_GROUP)
            g->group_call[g->set][i] = make_call(g, &g->s->items[i]);
}

// ---- calls ----

// Prints the places of the column sums, in the function's order.
static void print_sum_places(Gen *g, const Item *it, Text *t)
{
    bool is_first = true;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[it->nodes[i]];
        if (!it->group.is_column_sum[i])
            continue;
        int k = it->n_in + output_of(it, n->out[0]);
        text_printf(t, "%s%s", is_first ? "" : ", ", place_text(g, &it->operands[k]));
        is_first = false;
    }
}

// Prints the shape of column sums, and the work of each element.
static void print_sums(Gen *g, const Item *it, Text *t)
{
    RtSums s = it->group.sums;
    int outer = it->group.column_rank;

    text_printf(t, "%s, ", walk_count_text(g, it, 0, outer, 1));
    text_printf(t, "%s, ", walk_count_text(g, it, outer, it->rank - 1, 1));
    text_printf(t, "%s, ", walk_count_text(g, it, it->rank - 1, it->rank, 1));
    text_printf(t, "%" PRId64 ", ", s.work);
}

// Prints the number of rows, and the work of each.
static void print_rows(Gen *g, const Item *it, int64_t rows, Text *t)
{
    int n = 0;

    for (int64_t left = rows; left > 1; n++)
        left /= it->dim[it->group.axis[n]];
    text_printf(t, "%s, ", walk_count_text(g, it, 0, n, 1));
    text_printf(t, "%s", walk_count_text(g, it, n, it->rank, it->n_nodes));
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

void finish_functions(Gen *g)
{
    for (g->set = 0; g->set < N_SETS; g->set++) {
        g->s = &g->p->set[g->set];
        for (int i = 0; g->s->g && i < g->s->n_items; i++) {
            const GroupCall *c = g->group_call[g->set][i];
            if (!c)
                continue;
            Arguments x = arguments_of(g, &g->s->items[i], c);
            note_arguments(g, c->function, &x);
        }
    }
    print_functions(g);
    print_argument_macros(g);
}

// The call: the number of rows or the shape of column sums, then the places.
void print_group(Gen *g, const Item *it, Text *to, int indent)
{
    const GroupCall *c = g->group_call[g->set][it - g->s->items];
    const char *name = g->function[c->function].name;
    Arguments x = arguments_of(g, it, c);
    Text t = {0};

    if (it->group.has_columns) {
        text_printf(&t, "RT_SUMS(%s, %s, ", rank_text(g, it), name);
        print_sums(g, it, &t);
        text_printf(&t, "(");
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
