// Prints the statements of fused groups' kernels: which elements a thread has, and the passes over
// them.
#include <string.h>

#include "generator/cuda/kernel_body.h"
#include "generator/cuda/moves.h"
#include "runtime/rt_cuda_workspace.h"

static const Node *node_of(const Body *b, int i) { return &b->g->s->g->nodes[b->it->nodes[i]]; }

// ---- parts of the text ----

// A body is printed before the declarations in front of it, which depend on it: as a text of its
// own. Returns the text so far.
static Text begin_body(Body *b)
{
    Text before = b->text;

    b->text = (Text){0};
    return before;
}

// Continues the text before. Returns the body, which the caller appends.
static Text end_body(Body *b, Text before)
{
    Text body = b->text;

    b->text = before;
    return body;
}

static void append_body(Body *b, Text *body)
{
    text_put(&b->text, body->s ? body->s : "", body->n);
    text_free(body);
}

static bool names(const Text *body, const char *name) { return body->s && has_word(body->s, name); }

// ---- which elements ----

// Prints those of "i0", "i1" … of the dims [from, to) of number `e` that the body names. `unit`
// elements of the last dim follow them.
static void print_indices(Body *b, const Text *body, const char *e, int from, int to, int64_t unit,
                          int indent)
{
    const Walk *w = b->w;
    int64_t below = unit;

    for (int d = to - 1; d >= from; d--) {
        int64_t size = w->dim[d] ? w->dim[d] : 1;
        const char *name = arena_string(b->g->arena, "i%d", d);
        if (names(body, name)) {
            text_printf(&b->text, "%*sconst int64_t %s = %s", indent, "", name, e);
            if (below > 1)
                text_printf(&b->text, " / %" PRId64, below);
            if (d > from)
                text_printf(&b->text, " %% %" PRId64, size);
            text_printf(&b->text, ";\n");
        }
        below *= size;
    }
}

// The type of indices inside of a row: expressions of the graph take 64 bits.
static const char *index_type(const Body *b) { return b->w->has_index ? "int64_t" : "int"; }

// Prints the thread's elements of a group without rows.
static void print_flat_index(Body *b, const Text *body)
{
    const Walk *w = b->w;
    int width = threads_of(b)->width, last = w->rank - 1;
    int64_t n = w->rank ? w->dim[last] : 1, all = 1;

    for (int d = 0; d < w->rank; d++)
        all *= w->dim[d];
    if (w->rank < 2) {
        text_printf(&b->text,
                    width > 1 ? "    const int64_t i = %d * rt_thread();\n\n"
                              : "    const int64_t i = rt_thread();\n\n",
                    width);
        if (n % width == 0)  // else each access tests its elements
            text_printf(&b->text, "    if (i >= %" PRId64 ")\n        return;\n", n);
        return;
    }
    text_printf(&b->text, "    const %s e = %srt_thread();\n\n",
                all > INT32_MAX ? "int64_t" : "int", all > INT32_MAX ? "" : "(int)");
    text_printf(&b->text, "    if (e >= %" PRId64 ")\n        return;\n", all / width);
    int64_t parts = n / width ? n / width : 1;
    print_indices(b, body, "e", 0, last, parts, 4);
    if (!names(body, "i"))
        return;
    text_printf(&b->text, "    const %s i = e %% %" PRId64, index_type(b), parts);
    if (width > 1)
        text_printf(&b->text, " * %d", width);
    text_printf(&b->text, ";\n");
}

// Prints the row of the thread's block or warp.
static void print_row_index(Body *b, const Text *body)
{
    const Walk *w = b->w;
    bool is_warp = threads_of(b)->share == SHARE_WARP;
    const char *name = w->rows == 1 ? "i0" : "r";
    int64_t rows = 1;

    for (int d = 0; d < w->rows; d++)
        rows *= w->dim[d];
    if (is_warp) {
        text_printf(&b->text, "    const int64_t %s = rt_thread() / RT_WARP;\n\n", name);
        text_printf(&b->text, "    if (%s >= %" PRId64 ")\n        return;\n", name, rows);
    } else if (w->rows) {
        text_printf(&b->text, "    const int64_t %s = blockIdx.x;\n", name);
    }
    if (w->rows > 1)
        print_indices(b, body, "r", 0, w->rows, 1, 4);
}

// The number of the thread among those of its row.
static const char *lane_text(const Body *b)
{
    return threads_of(b)->share == SHARE_WARP ? "(int)threadIdx.x % RT_WARP" : "(int)threadIdx.x";
}

// ---- passes ----

// Does what is selected have elements?
static bool has_elements(const Body *b)
{
    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->is_selected[i])
            return true;
    return false;
}

// Prints the statements of the selected elements, once for each that the thread has together. The
// loop's body is in braces if it is longer than a line.
static void print_elements(Body *b, int indent)
{
    const Threads *x = threads_of(b);
    int width = x->width;
    const char *end = "";

    if (x->share != SHARE_ELEMENTS && x->count % width)
        end = arena_string(b->g->arena, " && i + j < %" PRId64, x->count);
    print_takes(b, indent);
    Text before = begin_body(b);
    print_element(b, indent + (width > 1 ? 4 : 0));
    Text body = end_body(b, before);
    bool is_line = body.n && memchr(body.s, '\n', body.n) == body.s + body.n - 1;
    if (width > 1)
        text_printf(&b->text, "%*sRT_UNROLL for (int j = 0; j < %d%s; j++)%s\n", indent, "", width,
                    end, is_line ? "" : " {");
    append_body(b, &body);
    if (width > 1 && !is_line)
        text_printf(&b->text, "%*s}\n", indent, "");
    print_gives(b, indent);
}

// The name of the thread's index in a row: "e", or "i" if the row is one dim.
static const char *row_index(const Body *b) { return b->w->rank - b->w->rows > 1 ? "e" : "i"; }

static const char *row_index_type(const Body *b)
{
    return *row_index(b) == 'e' ? "int" : index_type(b);
}

// "4 * number": the first element of the thread with that number in the row.
static const char *element_text(const Body *b, const char *number)
{
    int width = threads_of(b)->width;

    if (width == 1)
        return number;
    return arena_string(b->g->arena, strpbrk(number, "+%") ? "%d * (%s)" : "%d * %s", width,
                        number);
}

// Prints the indices along the dims of a row.
static void print_inner_indices(Body *b, const Text *body, int indent)
{
    const Walk *w = b->w;
    int64_t last = w->dim[w->rank - 1] ? w->dim[w->rank - 1] : 1;

    if (*row_index(b) != 'e')
        return;
    print_indices(b, body, "e", w->rows, w->rank - 1, last, indent);
    if (names(body, "i"))
        text_printf(&b->text, "%*sconst %s i = e %% %" PRId64 ";\n", indent, "", index_type(b),
                    last);
}

// Prints the start of the loop over the thread's elements of a row. A thread with one iteration has
// its index already. The iterations over elements in registers are unrolled.
static void print_row_loop(Body *b, const Text *body)
{
    const Threads *x = threads_of(b);
    const char *e = row_index(b), *type = row_index_type(b), *lane = lane_text(b);

    if (x->turns < 2) {
        text_printf(&b->text, "    if (%s < %" PRId64 ") {\n", e, x->count);
        return;
    }
    if (!x->has_registers) {
        text_printf(&b->text, "    for (%s %s = %s; %s < %" PRId64 "; %s += %" PRId64 ") {\n", type,
                    e, element_text(b, lane), e, x->count, e, (int64_t)x->threads * x->width);
        print_inner_indices(b, body, 8);
        return;
    }
    text_printf(&b->text, "    RT_UNROLL for (int t = 0; t < %d; t++) {\n", x->turns);
    const char *number = arena_string(b->g->arena, "t * %d + %s", x->threads, lane);
    text_printf(&b->text, "        const %s %s = %s;\n", type, e, element_text(b, number));
    print_inner_indices(b, body, 8);
    text_printf(&b->text, "        if (%s >= %" PRId64 ")\n            break;\n", e, x->count);
}

// Prints the thread's index in a row that it goes over once.
static void print_first_index(Body *b, const Text *body)
{
    text_printf(&b->text, "    const %s %s = %s;\n", row_index_type(b), row_index(b),
                element_text(b, lane_text(b)));
    print_inner_indices(b, body, 4);
}

// Adds up the sums of the pass over all threads of the row.
static void print_joins(Body *b)
{
    for (int i = 0; i < b->it->n_nodes; i++) {
        const char *name = b->expr[b->it->nodes[i]];
        if (!is_sum_of(b, i, b->pass))
            continue;
        if (threads_of(b)->share == SHARE_WARP)
            text_printf(&b->text, "    %s = rt_warp_sum(%s);\n", name, name);
        else
            text_printf(&b->text, "    %s = rt_block_sum(%s, room_%s);\n", name, name,
                        dtype_name(out(b->g->s->g, node_of(b, i))->dtype));
    }
}

// Prints one pass over the row, then the row scalars that follow from it.
static void print_pass(Body *b, int pass)
{
    if (pass >= 0) {
        select_pass(b, pass, false);
        if (has_elements(b)) {
            Text before = begin_body(b);
            print_elements(b, 8);
            Text body = end_body(b, before);
            print_row_loop(b, &body);
            append_body(b, &body);
            text_printf(&b->text, "    }\n");
        }
        print_joins(b);
    }
    select_pass(b, pass, true);
    print_element(b, 4);
}

// ---- results of rows ----

// Appends the stores of the row's sums to those of its row scalars.
static void print_sum_stores(Body *b)
{
    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = node_of(b, i);
        int k = output_of(b->it, n->out[0]);
        if (!n->op->is_sum || b->it->group.is_column_sum[i] || k < 0)
            continue;
        text_printf(b->row_stores, "    ");
        print_row_result(b, b->it->n_in + k, b->row_stores);
        text_printf(b->row_stores, " = s%d;\n", b->sum[i]);
    }
}

// One thread stores the results of a row. All others have read what the results overwrite before.
static void print_row_stores(Body *b)
{
    bool is_warp = threads_of(b)->share == SHARE_WARP, is_in_place = false;
    const Text *stores = b->row_stores;

    for (int k = 0; k < b->it->n_out; k++)
        is_in_place |= b->is_row_result[b->it->n_in + k] && b->it->group.is_in_place[k];
    if (!stores->n)
        return;
    if (is_in_place)
        text_printf(&b->text, is_warp ? "    __syncwarp();\n" : "    __syncthreads();\n");
    text_printf(&b->text, "    if (threadIdx.x%s == 0) {\n", is_warp ? " % RT_WARP" : "");
    for (const char *s = stores->s; *s;) {
        size_t n = strcspn(s, "\n") + 1;
        text_printf(&b->text, "    ");
        text_put(&b->text, s, n);
        s += n;
    }
    text_printf(&b->text, "    }\n");
}

// ---- the kernels ----

// Declares the sums of rows, and shared memory for those of each type.
static void print_sums(Body *b)
{
    const Graph *g = b->g->s->g;

    for (DType t = DT_NONE; t < N_DTYPES; t++) {
        Text line = {0};
        for (int i = 0; i < b->it->n_nodes; i++)
            if (node_of(b, i)->op->is_sum && !b->it->group.is_column_sum[i] &&
                out(g, node_of(b, i))->dtype == t)
                text_printf(&line, "%s s%d = 0", line.n ? "," : dtype_c_type(t), b->sum[i]);
        if (line.n && threads_of(b)->share == SHARE_BLOCK)
            text_printf(&b->text, "    __shared__ Shared<%s[RT_WARP]> room_%s;\n", dtype_c_type(t),
                        dtype_name(t));
        if (line.n)
            print_wrapped(&b->text, 4, arena_string(b->g->arena, "%s;", line.s));
        text_free(&line);
    }
}

static void print_rows(Body *b)
{
    Text stores = {0};

    b->row_stores = &stores;
    Text before = begin_body(b);
    print_numbers(b);
    print_sums(b);
    print_registers(b);
    for (int pass = b->it->group.has_rows ? -1 : 0; pass < b->it->group.n_passes; pass++)
        print_pass(b, pass);
    print_sum_stores(b);
    print_row_stores(b);
    Text body = end_body(b, before);
    print_row_index(b, &body);
    if (threads_of(b)->turns < 2)
        print_first_index(b, &body);
    append_body(b, &body);
    text_free(&stores);
    b->row_stores = NULL;
}

static void print_flat(Body *b)
{
    Text before = begin_body(b);
    print_numbers(b);
    select_pass(b, 0, false);
    print_elements(b, 4);
    Text body = end_body(b, before);
    print_flat_index(b, &body);
    append_body(b, &body);
}

// ---- sums of columns ----

// Names the sums' variables, and counts them.
static int name_column_sums(Body *b)
{
    int n = 0;

    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->it->group.is_column_sum[i])
            b->expr[b->it->nodes[i]] =
                arena_string(b->g->arena, "c%d[%s]", n++, threads_of(b)->width > 1 ? "j" : "0");
    return n;
}

// Reads what is the same in all rows.
static void print_column_inputs(Body *b)
{
    int64_t width = threads_of(b)->count;
    bool has_inputs = false;

    for (int k = 0; k < b->it->n_in; k++)
        has_inputs |= threads_of(b)->is_register[k];
    if (!has_inputs)
        return;
    print_registers(b);
    text_printf(&b->text, "    if (i < %" PRId64 ") {\n", width);
    print_kept_takes(b, 8);
    text_printf(&b->text, "    }\n");
}

static void print_columns(Body *b)
{
    const Walk *w = b->w;
    const Threads *x = threads_of(b);
    const char *row = w->rows == 1 ? "i0" : "r";
    int n = name_column_sums(b), lanes = x->columns / x->width;

    text_printf(&b->text, "    __shared__ Shared<double[256 / %d][%d]> room;\n", lanes, lanes);
    text_printf(
        &b->text, "    const RtColumns<%d> at(%" PRId64 ", %" PRId64 ", %d, %" PRId64 ");\n", lanes,
        b->it->group.sums.rows, x->count, x->width, rt_cuda_sums_chunks(&b->it->group.sums));
    text_printf(&b->text, "    const %s i = at.column;\n", index_type(b));
    for (int k = 0; k < n; k++)
        text_printf(&b->text, "%s c%d[%d] = {0}%s", k ? "," : "    double", k, x->width,
                    k == n - 1 ? ";\n" : "");
    print_column_inputs(b);
    text_printf(&b->text,
                "\n    for (int64_t %s = at.first; i < %" PRId64
                " && %s < at.last; %s += at.LINES) {\n",
                row, x->count, row, row);
    Text before = begin_body(b);
    print_numbers(b);
    select_pass(b, 0, false);
    print_elements(b, 8);
    Text body = end_body(b, before);
    if (w->rows > 1)
        print_indices(b, &body, "r", 0, w->rows, 1, 8);
    append_body(b, &body);
    text_printf(&b->text, "    }\n");
    for (int k = 0; k < n; k++)
        text_printf(&b->text,
                    "    rt_store_sums(at, c%d, partial + (at.part * %d + %d) * %" PRId64
                    ", %" PRId64 ", room);\n",
                    k, n, k, x->count, x->count);
}

void print_kernel_body(Body *b)
{
    if (threads_of(b)->share == SHARE_ELEMENTS)
        print_flat(b);
    else if (threads_of(b)->share == SHARE_COLUMNS)
        print_columns(b);
    else
        print_rows(b);
}
