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

// The function's body, which reads its operands from *p.
static char *function_text(Body *b, GroupCall *call)
{
    b->own = arena_array(b->g->arena, CpuLoops, 1);
    find_transposed(b);
    find_streamed(b);
    find_kept(b, MAX_KEPT);
    name_column_sums(b);
    print_body(b);
    char *text = arena_copy(b->g->arena, b->text.s, b->text.n);
    text_free(&b->text);
    find_used_shards(b, call, text);
    return text;
}

static int64_t least_size(const Body *b)
{
    return last_node(b)->phase == UPDATE ? MIN_UPDATE_SIZE : MIN_SIZE;
}

static const GroupText text = {&cpu_elements, function_text, least_size};

void make_functions(Gen *g) { make_calls(g, &text); }

// Declares p, and the numbers of the operands. Stores of integers might change those in *p.
static void print_operands(const GroupFunction *f, Text *t)
{
    Text line = {0};

    if (f->n_operands)
        text_printf(t, "    const struct %s *p = operands;\n", f->name);
    else
        text_printf(t, "    (void)operands;\n");
    for (int i = f->n_pointers; i < f->n_operands; i++)
        text_printf(&line, "%s %s = p->%s", line.n ? "," : "const int64_t", f->operand_name[i],
                    f->operand_name[i]);
    if (line.n) {
        text_printf(&line, ";");
        print_wrapped(t, 4, line.s);
    }
    text_free(&line);
}

static void print_function(Gen *g, const GroupFunction *f, Text *t)
{
    print_function_head(g, f, t);
    print_wrapped(t, 0,
                  arena_string(g->arena,
                               "static void %s(const void *operands, int64_t first, int64_t "
                               "last%s)",
                               f->name, f->has_columns ? ", float *s" : ""));
    text_printf(t, "{\n");
    print_operands(f, t);
    text_printf(t, "%s}\n\n", sized_text_fill(g->arena, &f->text));
}

void finish_functions(Gen *g)
{
    finish_calls(g);
    for (int i = 0; i < g->n_groups; i++)
        print_function(g, &g->function[i], g->groups);
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

// The call: the number of rows or the shape of column sums, then the operands.
void print_group(Gen *g, const Item *it, Text *to, int indent)
{
    const GroupCall *c = call_of(g, it);
    const char *name = g->function[c->function].name;
    Text t = {0};

    if (it->group.has_columns) {
        text_printf(&t, "RT_SUMS(%s, %s, ", rank_text(g, it), name);
        print_sums_shape(g, it, &t);
        text_printf(&t, ", %" PRId64 ", (", it->group.sums.work);
        print_sum_addresses(g, it, &t);
        text_printf(&t, "), ");
    } else {
        text_printf(&t, "RT_ROWS(%s, %s, ", rank_text(g, it), name);
        print_rows(g, it, c->rows, &t);
        text_printf(&t, ", ");
    }
    print_call_arguments(g, it, &t);
    text_printf(&t, ");");
    print_statement(g, it, to, indent, t.s);
    text_free(&t);
}
