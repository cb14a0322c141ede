// Prints the kernels of fused groups around the statements of kernel_body.c, and their launches.
#include <string.h>

#include "generator/cuda/group.h"
#include "generator/cuda/kernel_body.h"
#include "generator/cuda/runtime_kernels.h"
#include "generator/group/function.h"

// The least size that a kernel of contiguous elements is passed instead of knowing it. Other
// kernels divide by sizes, and know them.
enum { MIN_SIZE = 64 };

// ---- parameters ----

// Declares the operands whose pointer is passed for another one too.
static void print_aliases(const Body *b, const GroupCall *call, const char *body, Text *t)
{
    for (int k = 0; k < b->it->n_in + b->it->n_out; k++) {
        const char *name = pointer_name(b, k), *type = operand_type(b, k);
        if (is_column_output(b->g, b->it, k) || call->pointer[b->slot[k]] == k ||
            !has_word(body, name))
            continue;
        int first = call->pointer[b->slot[k]];
        const char *cast =
            strcmp(operand_type(b, first), type) ? arena_string(b->g->arena, "(%s *)", type) : "";
        text_printf(t, "    %s%s *%s = %s%s;\n", k < b->it->n_in ? "const " : "", type, name, cast,
                    pointer_name(b, first));
    }
}

static bool is_shared_by_block(const Body *b)
{
    return threads_of(b)->share == SHARE_BLOCK || threads_of(b)->share == SHARE_COLUMNS;
}

// How many blocks a multiprocessor must hold: their threads may have 128 registers each, or half as
// many in larger blocks.
static int bounded_blocks(int threads)
{
    enum { THREADS = 512 };

    return threads > THREADS ? 1 : THREADS / threads;
}

// "a block has a row[256, 2](const float *x0, float *y0, int64_t layer)": the form, the threads of
// a block, how many blocks a multiprocessor must hold, and the parameters.
static void print_parameters(const Body *b, const GroupCall *call, Text *t)
{
    bool has_columns = b->it->group.has_columns;
    const char *before = "";

    // Without that bound ptxas spills registers for the sake of more blocks.
    const char *blocks = is_shared_by_block(b)
                             ? arena_string(b->g->arena, ", %d", bounded_blocks(call->threads))
                             : "";
    text_printf(t, "%s[%d%s](%s", form_of(threads_of(b)), call->threads, blocks,
                has_columns ? "double *partial" : "");
    before = has_columns ? ", " : "";
    for (int i = 0; i < call->n_pointers; i++) {
        int k = call->pointer[i];
        text_printf(t, "%s%s%s *%s", before, is_written(b, i) ? "" : "const ", operand_type(b, k),
                    pointer_name(b, k));
        before = ", ";
    }
    for (int k = 0; k < b->n_shards; k++) {
        if (call->uses_offset[k])
            text_printf(t, ", int64_t %s", shard_name(b, 'o', k));
        if (call->uses_extent[k])
            text_printf(t, ", int64_t %s", shard_name(b, 'e', k));
    }
    text_printf(t, "%s)\n{\n", b->uses_layer ? ", int64_t layer" : "");
}

// ---- kernels ----

// The name that the line declares as an index; NULL: it declares none.
static const char *declared_index(Arena *a, const char *line)
{
    static const char *const begins[] = {"const int ", "const int64_t "};

    line += strspn(line, " ");
    for (int i = 0; i < COUNT(begins); i++) {
        size_t n = strlen(begins[i]);
        if (!strncmp(line, begins[i], n))
            return arena_copy(a, line + n, strcspn(line + n, " "));
    }
    return NULL;
}

// Removes indices that are declared and not used, from the end on, as one may be made of others.
static void remove_unused(Arena *a, char *text)
{
    for (char *line = text + strlen(text); line > text;) {
        line--;
        while (line > text && line[-1] != '\n')
            line--;
        const char *name = declared_index(a, line);
        char *end = strchr(line, '\n');
        if (name && !has_word(end, name))
            memmove(line, end + 1, strlen(end));
    }
}

static char *function_text(Body *b, GroupCall *call)
{
    Text t = {0};

    share_out(b);
    print_kernel_body(b);
    char *body = arena_copy(b->g->arena, b->text.s, b->text.n);
    remove_unused(b->g->arena, body);
    text_free(&b->text);
    const Threads *x = threads_of(b);
    call->threads = x->share == SHARE_BLOCK ? x->threads : BLOCK;
    call->each = x->share == SHARE_ELEMENTS ? BLOCK * x->width
                 : x->share == SHARE_WARP   ? BLOCK / WARP
                                            : 1;
    call->is_flat = x->share == SHARE_ELEMENTS;
    find_used_shards(b, call, body);
    print_parameters(b, call, &t);
    print_aliases(b, call, body, &t);
    text_printf(&t, "%s}", body);
    char *text = arena_copy(b->g->arena, t.s, t.n);
    text_free(&t);
    return text;
}

static int64_t least_size(const Body *b)
{
    return threads_of(b)->share == SHARE_ELEMENTS && b->w->rank < 2 ? MIN_SIZE : INT64_MAX;
}

static const GroupText text = {&cuda_elements, function_text, least_size};

void make_kernels(Gen *g) { make_calls(g, &text); }

static void print_kernel_text(Gen *g, const GroupFunction *f)
{
    Text head = {0};
    char *s = sized_text_fill(g->arena, &f->text);
    int64_t *size = arena_array(g->arena, int64_t, f->text.n_holes + 1);
    int n = sized_text_parameters(&f->text, 0, size);
    const char *begin = strchr(s, '['), *end = strchr(begin, ']');
    size_t length = strcspn(end, "\n");

    text_printf(&head, "%s%.*s", f->name, (int)length - 2, end + 1);
    for (int i = 0; i < n; i++)
        text_printf(&head, ", int64_t n%d", i);
    text_printf(&head, ")");
    print_function_head(g, f, g->groups);
    text_printf(g->groups, "// %.*s\nextern \"C\" __global__ void __launch_bounds__(%.*s)\n",
                (int)(begin - s), s, (int)(end - begin) - 1, begin + 1);
    print_wrapped(g->groups, 0, head.s);
    text_printf(g->groups, "%s\nRT_ENTRY(%s);\n\n", end + length + 1, f->name);
    text_free(&head);
}

void finish_kernels(Gen *g)
{
    finish_calls(g);
    print_variants(g, g->groups);
    for (int i = 0; i < g->n_groups; i++)
        print_kernel_text(g, &g->function[i]);
    print_includes(g, g->groups);
}

// ---- launches ----

// Prints the blocks of a launch.
static void print_blocks(Gen *g, const Item *it, const GroupCall *c, Text *t)
{
    if (!c->is_flat && c->rows == 1) {
        text_printf(t, "1");
        return;
    }
    if (c->each > 1)
        text_printf(t, "RT_BLOCKS(");
    if (c->is_flat)
        text_printf(t, "%s", walk_count_text(g, it, 0, it->rank, 1));
    else
        print_row_count(g, it, c->rows, t);
    if (c->each > 1)
        text_printf(t, ", %d)", c->each);
}

void print_launch(Gen *g, const Item *it, Text *to, int indent)
{
    const GroupCall *c = call_of(g, it);
    const char *name = g->function[c->function].name;
    Text t = {0};

    text_printf(&t, it->group.has_columns ? "RT_LAUNCH_SUMS(%s, %s, " : "RT_LAUNCH(%s, %s, ",
                rank_text(g, it), name);
    if (it->group.has_columns) {
        print_sums_shape(g, it, &t);
        text_printf(&t, ", (");
        print_sum_addresses(g, it, &t);
        text_printf(&t, "), ");
    } else {
        print_blocks(g, it, c, &t);
        text_printf(&t, ", %d, ", c->threads);
    }
    print_call_arguments(g, it, &t);
    text_printf(&t, ");");
    print_statement(g, it, to, indent, t.s);
    text_free(&t);
}
