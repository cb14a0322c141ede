// Prints the loops of a fused group's function: over its rows, over a row's elements in each pass.
#include <string.h>

#include "generator/cpu/group_body.h"
#include "generator/cpu/stream.h"
#include "runtime/rt_cpu.h"

// ---- elements ----

static void print_operand(const Body *b, int k, Text *t)
{
    int64_t stride = b->w->rank ? b->w->stride[k][b->w->rank - 1] : 0;
    bool is_in = k < b->it->n_in;

    if (loops_of(b)->is_streamed[k])
        text_printf(t, loops_of(b)->is_run ? "f%d[i - c]" : "f%d[i]", k - b->it->n_in);
    else if (is_in && (stride == 0 || b->of_row))
        text_printf(t, "%s", b->name[k]);
    else if (stride == 0)
        text_printf(t, "%s[0]", b->name[k]);
    else if (stride == 1)
        text_printf(t, "%s[i]", b->name[k]);
    else
        text_printf(t, "%s[i * %" PRId64 "]", b->name[k], stride);
}

static void print_kept(const Body *b, int i, Text *t) { text_printf(t, "k%d[i]", i); }

static void print_sum(const Body *b, int i, Text *t)
{
    if (loops_of(b)->is_line && !b->it->group.is_column_sum[i])
        text_printf(t, "u%d[i - b]", b->sum[i]);
    else
        text_printf(t, "%s", b->expr[b->it->nodes[i]]);
}

static const char *last_index(const Body *b) { return "i"; }

const ElementText cpu_elements = {print_operand, print_kept, print_sum, last_index};

// ---- declarations ----

// "p->x0": the pointer to operand k among the function's operands.
static const char *operand_pointer(const Body *b, int k)
{
    int first = first_at_slot(b, b->slot[k]);
    const char *type = operand_type(b, k);
    const char *cast =
        strcmp(operand_type(b, first), type) ? arena_string(b->g->arena, "(%s *)", type) : "";

    return arena_string(b->g->arena, "%sp->%s", cast, b->name[first]);
}

// Transposes some rows of operand k.
static void print_transpose(Body *b, int k, int indent)
{
    const Walk *w = b->w;
    const char *at = index_text(b, k, w->rank - 2), *row = w->rows == 1 ? "i0" : "r";
    int d = w->rank - 2;
    int64_t columns = w->dim[w->rank - 1];

    print_wrapped(&b->text, indent,
                  arena_string(b->g->arena,
                               "rt_transpose_rows(t%d, %s%s, %" PRId64
                               ", i%d, %s == first, %" PRId64 ", %" PRId64 ");",
                               k, operand_pointer(b, k), at, loops_of(b)->transposed[k], d, row,
                               w->dim[d], columns));
    text_printf(&b->text, "%*sconst float *%s = t%d + i%d %% RT_TRANSPOSE_ROWS * %" PRId64 ";\n",
                indent, "", b->name[k], k, d, columns);
}

// How operands are declared: each is a number, or a pointer.
typedef enum Declared { AS_NOTHING, AS_NUMBER, AS_POINTER } Declared;

// The declarator of operand k, at its element along the dims [0, n): "x0 = p->x0[i0]" or
// "*x0 = p->x0 + i0 * 768".
static const char *declarator(const Body *b, int k, Declared as, int n)
{
    const char *pointer = operand_pointer(b, k), *at = index_text(b, k, n);

    if (as == AS_NUMBER)
        return arena_string(b->g->arena, *pointer == '(' ? "%s = (%s)[%s]" : "%s = %s[%s]",
                            b->name[k], pointer, *at ? at + 3 : "0");
    return arena_string(b->g->arena, "*%s = %s%s", b->name[k], pointer, at);
}

// Declares operands, of which as[] says how, at their elements along the dims [0, n). Those that
// are declared alike are in one statement.
static void print_declarations(Body *b, Declared *as, int n, int indent)
{
    int n_in = b->it->n_in, n_operands = n_in + b->it->n_out;

    for (int first = 0; first < n_operands; first++) {
        Declared kind = as[first];
        const char *type = operand_type(b, first);
        Text line = {0};
        for (int k = first; kind && k < n_operands; k++) {
            bool is_alike =
                as[k] == kind && (k < n_in) == (first < n_in) && !strcmp(operand_type(b, k), type);
            if (!is_alike)
                continue;
            text_printf(&line, "%s%s", line.n ? ", " : "", declarator(b, k, kind, n));
            as[k] = AS_NOTHING;
        }
        if (line.n)
            print_wrapped(
                &b->text, indent,
                arena_string(b->g->arena, "%s%s %s;", first < n_in ? "const " : "", type, line.s));
        text_free(&line);
    }
}

// Declares the pointers of the operands in use, or their numbers where they are constant along a
// row. If a row is one loop, they are declared once for all its passes.
static void print_pointers(Body *b, int indent)
{
    const Walk *w = b->w;
    Declared *as = arena_array(b->g->arena, Declared, b->it->n_in + b->it->n_out);

    for (int k = 0; k < b->it->n_in + b->it->n_out; k++) {
        bool is_number = k < b->it->n_in && (!w->rank || w->stride[k][w->rank - 1] == 0);
        if (!is_used(b, k) || b->is_named[k])
            continue;
        b->is_named[k] = w->rank - 1 <= w->rows;
        if (loops_of(b)->transposed[k])
            print_transpose(b, k, indent);
        else
            as[k] = is_number ? AS_NUMBER : AS_POINTER;
    }
    print_declarations(b, as, w->rank - 1, indent);
}

// Declares the inputs of row scalars that are not declared yet.
static void print_row_inputs(Body *b)
{
    Declared *as = arena_array(b->g->arena, Declared, b->it->n_in + b->it->n_out);

    for (int k = 0; k < b->it->n_in; k++)
        if (is_used(b, k) && !b->is_named[k]) {
            as[k] = AS_NUMBER;
            b->is_named[k] = true;
        }
    print_declarations(b, as, b->w->rows, 8);
}

// Prints the row's index along each dim that `body` uses. A dim of size 0 counts as 1: without rows
// no index is used.
static void print_indices(Body *b, const char *body)
{
    const Walk *w = b->w;
    int64_t below = 1;
    Text line = {0};

    for (int d = w->rows - 1; w->rows > 1 && d >= 0; d--) {
        int64_t size = w->dim[d] ? w->dim[d] : 1;
        const char *name = arena_string(b->g->arena, "i%d", d);
        if (has_word(body, name)) {
            text_printf(&line, "%s %s = r", line.n ? "," : "const int64_t", name);
            if (below > 1)
                text_printf(&line, " / %" PRId64, below);
            if (d)
                text_printf(&line, " %% %" PRId64, size);
        }
        below *= size;
    }
    if (line.n)
        print_wrapped(&b->text, 8, arena_string(b->g->arena, "%s;", line.s));
    text_free(&line);
}

// ---- loops ----

// Prints for each sum of floats of this pass `first` or `next`, with its number for %d; then `end`.
static void print_each_sum(Body *b, int indent, const char *first, const char *next,
                           const char *end)
{
    const Graph *g = b->g->s->g;
    Text line = {0};

    for (int i = 0; i < b->it->n_nodes; i++)
        if (is_sum_of(b, i, b->pass) && out(g, &g->nodes[b->it->nodes[i]])->dtype == F32)
            text_printf(&line, line.n ? next : first, b->sum[i], b->sum[i]);
    text_printf(&line, "%s", end);
    print_wrapped(&b->text, indent, line.s);
    text_free(&line);
}

// Prints a loop's body after its head. It is in braces if it is longer than a line.
static void print_loop_body(Body *b, int indent)
{
    Text before = b->text, body;

    b->text = (Text){0};
    print_element(b, indent + 4);
    body = b->text;
    b->text = before;
    bool is_line = body.n && memchr(body.s, '\n', body.n) == body.s + body.n - 1;
    text_printf(&b->text, is_line ? "\n" : " {\n");
    text_put(&b->text, body.s, body.n);
    if (!is_line)
        text_printf(&b->text, "%*s}\n", indent, "");
    text_free(&body);
}

// Prints the loop over elements [from, to) of the last dim.
static void print_loop(Body *b, int indent, const char *from, const char *to)
{
    bool has_sum = false;

    text_printf(&b->text, "%*sRT_SIMD", indent, "");
    for (int i = 0; i < b->it->n_nodes; i++)
        if (is_sum_of(b, i, b->pass)) {
            text_printf(&b->text, "%ss%d", has_sum ? ", " : "_SUM(", b->sum[i]);
            has_sum = true;
        }
    text_printf(&b->text, "%s for (int64_t i = %s; i < %s; i++)", has_sum ? ")" : "", from, to);
    print_loop_body(b, indent);
}

static bool has_float_sum(const Body *b)
{
    const Graph *g = b->g->s->g;

    for (int i = 0; i < b->it->n_nodes; i++)
        if (is_sum_of(b, i, b->pass) && out(g, &g->nodes[b->it->nodes[i]])->dtype == F32)
            return true;
    return false;
}

// Prints the end of a loop over lines: the loop over a line's lanes, which is whole vectors.
static void print_line(Body *b, int indent)
{
    text_printf(&b->text, "%*sRT_SIMD for (int64_t l = 0; l < RT_LINE; l++) {\n", indent, "");
    text_printf(&b->text, "%*sconst int64_t i = b + l;\n", indent + 4, "");
    print_element(b, indent + 4);
    text_printf(&b->text, "%*s}\n%*s}\n", indent, "", indent - 4, "");
}

// Sums in the lanes of a line that aren't of f32: declares them or, at the end, adds them up.
static void print_other_sums(Body *b, int indent, bool is_end)
{
    for (int i = 0; i < b->it->n_nodes; i++) {
        DType t = out(b->g->s->g, &b->g->s->g->nodes[b->it->nodes[i]])->dtype;
        if (!is_sum_of(b, i, b->pass) || t == F32)
            continue;
        if (is_end)
            text_printf(&b->text, "%*sfor (int l = 0; l < RT_LINE; l++)\n%*ss%d += u%d[l];\n",
                        indent, "", indent + 4, "", b->sum[i], b->sum[i]);
        else
            text_printf(&b->text, "%*s%s u%d[RT_LINE] = {0};\n", indent, "", dtype_c_type(t),
                        b->sum[i]);
    }
}

// Prints a loop that prefetches line by line. Evenly spaced prefetches keep memory busy; those of a
// whole run would wait for each other. Each lane has its own sums; those of floats go on in double.
static void print_lines(Body *b, int indent, const char *from, const char *to, bool is_whole)
{
    if (has_float_sum(b))
        print_each_sum(b, indent, "float u%d[RT_LINE] = {0}", ", u%d[RT_LINE] = {0}", ";");
    print_other_sums(b, indent, false);
    const char *head = is_whole
                           ? "%*sfor (int64_t b = %s;%*s b < %s; b += RT_LINE) {\n"
                           : "%*sint64_t b = %s;\n%*sfor (; b + RT_LINE <= %s; b += RT_LINE) {\n";
    text_printf(&b->text, head, indent, "", from, is_whole ? 0 : indent, "", to);
    print_prefetch(b, indent + 4);
    loops_of(b)->is_line = true;
    print_line(b, indent + 4);
    if (!is_whole) {
        text_printf(&b->text, "%*sRT_SIMD for (int64_t i = b; i < %s; i++)", indent, "", to);
        print_loop_body(b, indent);
    }
    loops_of(b)->is_line = false;
    if (has_float_sum(b))
        print_each_sum(b, indent, "rt_add_lanes(w%d, u%d);", " rt_add_lanes(w%d, u%d);", "");
    print_other_sums(b, indent, true);
}

// Prints the loop in runs of RT_RUN_ELEMENTS. Each run is summed in float and those sums are added
// in double. Then the run's streamed results are stored. `is_whole`: runs are whole lines.
static void print_runs(Body *b, int indent, const char *from, const char *to, bool is_whole)
{
    bool has_prefetch = needs_prefetch(b), has_sum = has_float_sum(b) && !has_prefetch;

    if (has_prefetch && !has_streamed(b) && !has_float_sum(b)) {
        print_lines(b, indent, from, to, is_whole);
        return;
    }
    text_printf(&b->text, "%*sRT_RUNS(c, end, %s, %s) {\n", indent, "", from, to);
    if (has_sum)
        print_each_sum(b, indent + 4, "s%d = ", "s%d = ", "0;");
    loops_of(b)->is_run = true;
    if (has_prefetch) {
        print_lines(b, indent + 4, "c", "end", is_whole);
    } else {
        print_prefetch(b, indent + 4);
        print_loop(b, indent + 4, "c", "end");
    }
    loops_of(b)->is_run = false;
    print_stream_stores(b, indent + 4, "c", "end - c");
    if (has_sum)
        print_each_sum(b, indent + 4, "w%d += (double)s%d;", " w%d += (double)s%d;", "");
    text_printf(&b->text, "%*s}\n", indent, "");
}

// Prints the loop over the last dim, inside of the loops over a row's other dims. Floats of long
// rows are summed in runs, as rt_reduce does.
static void print_inner(Body *b, int indent)
{
    int64_t n = b->w->dim[b->w->rank - 1];
    bool has_sum = has_float_sum(b), has_prefetch = needs_prefetch(b);
    char length[24];

    print_pointers(b, indent);
    snprintf(length, sizeof length, "%" PRId64, n);
    if (n <= LONG_ROW_ELEMENTS || !(has_sum || has_prefetch || has_streamed(b))) {
        print_row_prefetch(b, indent);
        print_loop(b, indent, "0", length);
        print_stream_stores(b, indent, "0", length);
        return;
    }
    if (has_sum && has_prefetch)
        print_each_sum(b, indent, "double w%d[RT_LINE] = {(double)s%d}",
                       ", w%d[RT_LINE] = {(double)s%d}", ";");
    else if (has_sum)
        print_each_sum(b, indent, "double w%d = (double)s%d", ", w%d = (double)s%d", ";");
    print_runs(b, indent, "0", length, n % RT_LINE == 0);
    if (has_sum && has_prefetch)
        print_each_sum(b, indent, "s%d = (float)rt_total(w%d);", " s%d = (float)rt_total(w%d);",
                       "");
    else if (has_sum)
        print_each_sum(b, indent, "s%d = (float)w%d;", " s%d = (float)w%d;", "");
}

static void print_flat(Body *b)
{
    select_pass(b, 0, false);
    print_pointers(b, 4);
    print_stream_buffers(b);
    if (needs_prefetch(b) || has_streamed(b))
        print_runs(b, 4, "first", "last", false);
    else
        print_loop(b, 4, "first", "last");
}

// Prints one pass over the row, then the row scalars that follow from it.
static void print_pass(Body *b, int pass)
{
    const Walk *w = b->w;
    int indent = 8;

    if (pass >= 0) {
        select_pass(b, pass, false);
        for (int d = w->rows; d < w->rank - 1; d++, indent += 4)
            text_printf(&b->text, "%*sfor (int64_t i%d = 0; i%d < %" PRId64 "; i%d++) {\n", indent,
                        "", d, d, w->dim[d], d);
        print_inner(b, indent);
        for (int d = w->rows; d < w->rank - 1; d++)
            text_printf(&b->text, "%*s}\n", indent -= 4, "");
    }
    select_pass(b, pass, true);
    print_row_inputs(b);
    print_element(b, 8);
}

// Declares the variables of the row's sums, those of one type in a line.
static void print_sums(Body *b)
{
    const Graph *g = b->g->s->g;

    for (DType t = DT_NONE; t < N_DTYPES; t++) {
        Text line = {0};
        for (int i = 0; i < b->it->n_nodes; i++) {
            const Node *n = &g->nodes[b->it->nodes[i]];
            if (n->op->is_sum && !b->it->group.is_column_sum[i] && out(g, n)->dtype == t)
                text_printf(&line, "%s s%d = 0", line.n ? "," : dtype_c_type(t), b->sum[i]);
        }
        if (line.n) {
            text_printf(&line, ";");
            print_wrapped(&b->text, 8, line.s);
        }
        text_free(&line);
    }
}

// Prints all passes over a row and the stores of its sums.
static void print_row(Body *b)
{
    const Graph *g = b->g->s->g;
    const Item *it = b->it;

    print_sums(b);
    for (int pass = it->group.has_rows ? -1 : 0; pass < it->group.n_passes; pass++)
        print_pass(b, pass);
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->nodes[it->nodes[i]];
        int k = output_of(it, n->out[0]);
        if (!n->op->is_sum || it->group.is_column_sum[i] || k < 0)
            continue;
        text_printf(&b->text, "        ");
        print_row_result(b, it->n_in + k, &b->text);
        text_printf(&b->text, " = s%d;\n", b->sum[i]);
    }
}

// Declares the pointers of stored row scalars, those of one type in a line.
static void print_row_results(Body *b)
{
    for (DType type = DT_NONE; type < N_DTYPES; type++) {
        Text line = {0};
        for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++) {
            const Value *v = value_of(b->g->s->g, b->it->operands[k].value);
            if (b->is_row_result[k] && v->dtype == type)
                text_printf(&line, "%s *%s = %s", line.n ? "," : dtype_c_type(type), b->name[k],
                            operand_pointer(b, k));
        }
        if (line.n)
            print_wrapped(&b->text, 4, arena_string(b->g->arena, "%s;", line.s));
        text_free(&line);
    }
}

static void print_rows(Body *b)
{
    const char *r = b->w->rows == 1 ? "i0" : "r";
    Text before = b->text;

    b->text = (Text){0};
    print_row(b);
    Text row = b->text;
    b->text = before;
    for (int k = 0; k < b->it->n_in; k++)
        if (loops_of(b)->transposed[k])
            text_printf(&b->text, "    float t%d[RT_TRANSPOSE_ROWS * %" PRId64 "];\n", k,
                        b->w->dim[b->w->rank - 1]);
    print_stream_buffers(b);
    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->is_kept[i])
            text_printf(&b->text, "    float k%d[%" PRId64 "];\n", i, b->w->dim[b->w->rank - 1]);
    print_row_results(b);
    text_printf(&b->text, "    for (int64_t %s = first; %s < last; %s++) {\n", r, r, r);
    print_indices(b, row.s);
    text_printf(&b->text, "%s    }\n", row.s);
    text_free(&row);
}

void print_body(Body *b)
{
    if (b->w->rank < 2 && !b->it->group.has_rows && !b->it->group.has_columns)
        print_flat(b);
    else
        print_rows(b);
}
