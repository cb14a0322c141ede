// Makes the calls of fused groups. Groups of the same text share a function, whose name is of all
// of them.
#include <string.h>

#include "generator/group/function.h"
#include "generator/group/group.h"
#include "generator/group/operand_name.h"

// Numbers the variables of the rows' sums.
static void number_sums(Body *b)
{
    int n = 0;

    b->sum = arena_array(b->g->arena, int, b->it->n_nodes);
    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *x = &b->g->s->g->nodes[b->it->nodes[i]];
        if (!x->op->is_sum || b->it->group.is_column_sum[i])
            continue;
        b->expr[b->it->nodes[i]] = arena_string(b->g->arena, "s%d", n);
        b->sum[i] = n++;
    }
}

// ---- pointers ----

static bool is_same_address(const Operand *x, const Operand *y)
{
    return address_equal(&x->address, &y->address) && x->rank_slice.slice == y->rank_slice.slice &&
           x->rank_slice.whole == y->rank_slice.whole;
}

// Finds the operands whose addresses are passed. A buffer that is updated in place is passed once;
// addresses that coincide by chance are passed twice, as that needs no function of its own.
static void find_slots(Body *b, GroupCall *call)
{
    const Operand *o = b->it->operands;
    int n_operands = b->it->n_in + b->it->n_out;

    b->slot = arena_array(b->g->arena, int, n_operands);
    call->pointer = arena_array(b->g->arena, int, n_operands);
    for (int k = 0; k < n_operands; k++) {
        if (is_column_output(b->g, b->it, k))
            continue;
        bool is_persistent = b->g->p->buffers[o[k].address.buffer].kind == BUFFER_PERSISTENT;
        int i = is_persistent ? 0 : call->n_pointers;
        while (i < call->n_pointers && !is_same_address(&o[call->pointer[i]], &o[k]))
            i++;
        call->pointer[i] = k;
        call->n_pointers += i == call->n_pointers;
        b->slot[k] = i;
    }
}

bool is_written(const Body *b, int slot)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (b->slot[k] == slot && !is_column_output(b->g, b->it, k))
            return true;
    return false;
}

// "const float *x0, *weight; float *y0;": the pointers that are passed, each called after its first
// operand.
static const char *pointers_text(const Body *b, const GroupCall *call)
{
    const char *s = "", *before = "";

    for (int i = 0; i < call->n_pointers; i++) {
        int k = first_at_slot(b, i);
        const char *type =
            arena_string(b->g->arena, "%s%s", is_written(b, i) ? "" : "const ", operand_type(b, k));
        if (!strcmp(type, before))
            s = arena_string(b->g->arena, "%s, *%s", s, b->name[k]);
        else
            s = arena_string(b->g->arena, "%s%s%s *%s", s, i ? "; " : "", type, b->name[k]);
        before = type;
    }
    return call->n_pointers ? arena_string(b->g->arena, "%s;", s) : "";
}

// ---- numbers ----

const char *shard_name(const Body *b, char letter, int k)
{
    return arena_string(b->g->arena, "%c%d", letter, k);
}

void find_used_shards(const Body *b, GroupCall *call, const char *body)
{
    for (int k = 0; k < b->n_shards; k++) {
        call->uses_offset[k] = has_word(body, shard_name(b, 'o', k));
        call->uses_extent[k] = has_word(body, shard_name(b, 'e', k));
    }
}

// A size that a function is passed. That of the group's last dims is called after them.
static const char *passed_size(Gen *g, const Item *it, int64_t size)
{
    int64_t n = 1;

    for (int i = it->rank - 1; i >= 0 && n < size; i--) {
        n *= it->dim[it->group.axis[i]];
        if (n == size)
            return walk_count_text(g, it, i, it->rank, 1);
    }
    return arena_string(g->arena, "%" PRId64, size);
}

// The addresses that the function is passed, and the numbers: shards, the layer, sizes.
static Arguments arguments_of(Gen *g, const Item *it, const GroupCall *c)
{
    const SizedText *sized = &g->function[c->function].text;
    int64_t *size = arena_array(g->arena, int64_t, sized->n_holes + 1);
    int n = sized_text_parameters(sized, c->variant, size);
    Arguments x = {0};

    x.text = arena_array(g->arena, const char *, c->n_pointers + 2 * c->n_shards + n + 1);
    for (int k = 0; k < c->n_pointers; k++)
        x.text[x.n++] = address_text(g, &it->operands[c->pointer[k]]);
    for (int k = 0; k < c->n_shards; k++) {
        if (c->uses_offset[k])
            x.text[x.n++] = arena_string(g->arena, "rt->shard[%d].offset", c->shard[k]);
        if (c->uses_extent[k])
            x.text[x.n++] = arena_string(g->arena, "rt->shard[%d].extent", c->shard[k]);
    }
    if (c->uses_layer)
        x.text[x.n++] = "layer";
    for (int i = 0; i < n; i++)
        x.text[x.n++] = passed_size(g, it, size[i]);
    return x;
}

// ---- functions ----

// Names the function's operands in their order: as many as arguments_of gives, and more if the
// sizes n0, n1 … turn out to be equal.
static void name_arguments(const Body *b, const GroupCall *call)
{
    GroupFunction *f = &b->g->function[call->function];
    int n = call->n_pointers + 2 * b->n_shards + 1 + f->text.n_holes;
    const char **name = arena_array(b->g->arena, const char *, n);

    f->operand_name = name;
    f->n_pointers = call->n_pointers;
    for (int i = 0; i < call->n_pointers; i++)
        *name++ = b->name[first_at_slot(b, i)];
    for (int k = 0; k < b->n_shards; k++) {
        if (call->uses_offset[k])
            *name++ = shard_name(b, 'o', k);
        if (call->uses_extent[k])
            *name++ = shard_name(b, 'e', k);
    }
    if (b->uses_layer)
        *name++ = "layer";
    for (int i = 0; i < f->text.n_holes; i++)
        *name++ = arena_string(b->g->arena, "n%d", i);
}

static GroupCall *make_call(Gen *g, const Item *it, const GroupText *t)
{
    Walk w = make_walk(g, it);
    GroupCall *call = arena_array(g->arena, GroupCall, 1);
    Body b = {.g = g, .it = it, .w = &w, .expr = g->expr, .names = t->names};

    b.uses = arena_array(g->arena, int, it->n_nodes);
    b.is_selected = arena_array(g->arena, bool, it->n_nodes);
    b.is_named = arena_array(g->arena, bool, it->n_in + it->n_out);
    b.is_row_result = arena_array(g->arena, bool, it->n_in + it->n_out);
    number_sums(&b);
    find_slots(&b, call);
    name_operands(&b);
    const char *text = t->function(&b, call);
    call->function =
        add_function(&b, pointers_text(&b, call), text, t->least_size(&b), &call->variant);
    call->n_shards = b.n_shards;
    memcpy(call->shard, b.shard, sizeof b.shard);
    call->uses_layer = b.uses_layer;
    name_arguments(&b, call);
    call->rows = 1;
    for (int d = 0; d < w.rows; d++)
        call->rows *= w.dim[d];
    for (int i = 0; i < it->n_nodes; i++)
        g->expr[it->nodes[i]] = NULL;
    return call;
}

void make_calls(Gen *g, const GroupText *t)
{
    g->group_call[g->set] = arena_array(g->arena, GroupCall *, g->s->n_items);
    for (int i = 0; i < g->s->n_items; i++)
        if (g->s->items[i].kind == ITEM_GROUP)
            g->group_call[g->set][i] = make_call(g, &g->s->items[i], t);
}

GroupCall *call_of(const Gen *g, const Item *it) { return g->group_call[g->set][it - g->s->items]; }

void finish_calls(Gen *g)
{
    for (g->set = 0; g->set < N_SETS; g->set++) {
        g->s = &g->p->set[g->set];
        for (int i = 0; g->s->g && i < g->s->n_items; i++) {
            const Item *it = &g->s->items[i];
            if (it->kind != ITEM_GROUP)
                continue;
            Arguments x = arguments_of(g, it, call_of(g, it));
            note_arguments(g, call_of(g, it)->function, &x);
        }
    }
    name_functions(g);
    print_structs(g);
    print_argument_macros(g);
}

// ---- calls ----

void print_call_arguments(Gen *g, const Item *it, Text *t)
{
    Arguments x = arguments_of(g, it, call_of(g, it));

    print_arguments(g, call_of(g, it)->function, &x, t);
}

void print_row_count(Gen *g, const Item *it, int64_t rows, Text *t)
{
    int n = 0;

    for (int64_t left = rows; left > 1; n++)
        left /= it->dim[it->group.axis[n]];
    text_printf(t, "%s", rows ? walk_count_text(g, it, 0, n, 1) : "0");
}

void print_sums_shape(Gen *g, const Item *it, Text *t)
{
    int outer = it->group.column_rank;

    text_printf(t, "%s, ", walk_count_text(g, it, 0, outer, 1));
    text_printf(t, "%s, ", walk_count_text(g, it, outer, it->rank - 1, 1));
    text_printf(t, "%s", walk_count_text(g, it, it->rank - 1, it->rank, 1));
}

void print_sum_addresses(Gen *g, const Item *it, Text *t)
{
    bool is_first = true;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[it->nodes[i]];
        if (!it->group.is_column_sum[i])
            continue;
        int k = it->n_in + output_of(it, n->out[0]);
        text_printf(t, "%s%s", is_first ? "" : ", ", address_text(g, &it->operands[k]));
        is_first = false;
    }
}
