// Prints how a thread's elements come from memory and go there. Its elements of operand k are an
// array: a0, a1 … of inputs, r0, r1 … of results. Those of a whole row have a dim for the
// iterations.
#include "generator/cuda/moves.h"
#include "generator/cuda/kernel_body.h"

const char *pointer_name(const Body *b, int k)
{
    bool is_input_number = k < b->it->n_in && threads_of(b)->is_number[k];

    return is_input_number ? arena_string(b->g->arena, "%s_at", b->name[k]) : b->name[k];
}

// ---- names of elements ----

// "a0" or "r0".
static const char *array_name(const Body *b, int k)
{
    bool is_in = k < b->it->n_in;

    return arena_string(b->g->arena, is_in ? "a%d" : "r%d", is_in ? k : k - b->it->n_in);
}

// "a0", or "a0[t]" of a whole row.
static const char *elements_name(const Body *b, int k)
{
    const char *name = array_name(b, k);

    return threads_of(b)->is_register[k] && threads_of(b)->turns > 1
               ? arena_string(b->g->arena, "%s[t]", name)
               : name;
}

static const char *element_index(const Body *b) { return threads_of(b)->width > 1 ? "j" : "0"; }

static void print_operand(const Body *b, int k, Text *t)
{
    if (k < b->it->n_in && (threads_of(b)->is_number[k] || b->of_row))
        text_printf(t, "%s", b->name[k]);
    else
        text_printf(t, "%s[%s]", elements_name(b, k), element_index(b));
}

static void print_kept(const Body *b, int i, Text *t)
{
    text_printf(t, threads_of(b)->turns > 1 ? "k%d[t][%s]" : "k%d[%s]", i, element_index(b));
}

static void print_sum(const Body *b, int i, Text *t)
{
    text_printf(t, "%s", b->expr[b->it->nodes[i]]);
}

static const char *last_index(const Body *b) { return threads_of(b)->width > 1 ? "i + j" : "i"; }

const ElementText cuda_elements = {print_operand, print_kept, print_sum, last_index};

// ---- declarations ----

// The dims before the last with which the offset of a number moves.
static int number_dims(const Body *b)
{
    const Threads *x = threads_of(b);
    bool has_rows = x->share == SHARE_WARP || x->share == SHARE_BLOCK;

    return has_rows ? b->w->rows : b->w->rank ? b->w->rank - 1 : 0;
}

void print_numbers(Body *b)
{
    bool *used = arena_array(b->g->arena, bool, b->it->n_in + 1);
    int indent = threads_of(b)->share == SHARE_COLUMNS ? 8 : 4;

    for (int pass = -1; pass < b->it->group.n_passes; pass++)
        for (int of_row = pass < 0; of_row < 2; of_row++) {
            select_pass(b, pass, of_row);
            for (int k = 0; k < b->it->n_in; k++)
                used[k] |= threads_of(b)->is_number[k] && is_used(b, k);
        }
    for (int k = 0; k < b->it->n_in; k++) {
        const char *at = index_text(b, k, number_dims(b));
        if (used[k])
            text_printf(&b->text, "%*sconst %s %s = %s[%s];\n", indent, "", operand_type(b, k),
                        b->name[k], pointer_name(b, k), *at ? at + 3 : "0");
    }
}

// Declares the arrays of operands that are wanted, those of one type in a line.
static void print_arrays(Body *b, const bool *is_wanted, const char *dims, int indent)
{
    int n = b->it->n_in + b->it->n_out;

    for (DType type = DT_NONE; type < N_DTYPES; type++) {
        Text line = {0};
        for (int k = 0; k < n; k++) {
            DType t = value_of(b->g->s->g, b->it->operands[k].value)->dtype;
            if (is_wanted[k] && t == type)
                text_printf(&line, "%s %s%s", line.n ? "," : dtype_c_type(t), array_name(b, k),
                            dims);
        }
        if (line.n)
            print_wrapped(&b->text, indent, arena_string(b->g->arena, "%s;", line.s));
        text_free(&line);
    }
}

void print_registers(Body *b)
{
    const Threads *x = threads_of(b);
    const char *dims = x->turns > 1 ? arena_string(b->g->arena, "[%d][%d]", x->turns, x->width)
                                    : arena_string(b->g->arena, "[%d]", x->width);
    Text line = {0};

    print_arrays(b, x->is_register, dims, 4);
    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->is_kept[i])
            text_printf(&line, "%s k%d%s", line.n ? "," : "float", i, dims);
    if (line.n)
        print_wrapped(&b->text, 4, arena_string(b->g->arena, "%s;", line.s));
    text_free(&line);
}

// ---- moves ----

// Prints rt_take or rt_give of operand k's elements.
static void print_move(Body *b, int k, bool is_give, int indent)
{
    const Walk *w = b->w;
    const Threads *x = threads_of(b);
    int64_t n = w->rank ? w->dim[w->rank - 1] : 1;
    const char *call =
        arena_string(b->g->arena, "%s(%s, %s%s, i", is_give ? "rt_give" : "rt_take",
                     elements_name(b, k), b->name[k], index_text(b, k, w->rank ? w->rank - 1 : 0));

    if (!x->is_vector[k])
        call =
            arena_string(b->g->arena, "%s(%s, %s%s, i, %" PRId64 ", %" PRId64,
                         is_give ? "rt_give_each" : "rt_take_each", elements_name(b, k), b->name[k],
                         index_text(b, k, w->rank ? w->rank - 1 : 0), n, last_stride(b, k));
    else if (x->width > 1 && n % x->width)
        call = arena_string(b->g->arena, "%s, %" PRId64, call, n);
    print_wrapped(&b->text, indent, arena_string(b->g->arena, "%s);", call));
}

static bool is_vector_operand(const Body *b, int k)
{
    return !(k < b->it->n_in && threads_of(b)->is_number[k]) && is_used(b, k);
}

void print_takes(Body *b, int indent)
{
    const Threads *x = threads_of(b);
    int n = b->it->n_in + b->it->n_out;
    bool *is_local = arena_array(b->g->arena, bool, n);

    for (int k = 0; k < n; k++)
        is_local[k] =
            !x->is_register[k] && is_vector_operand(b, k) && !is_column_output(b->g, b->it, k);
    print_arrays(b, is_local, arena_string(b->g->arena, "[%d]", x->width), indent);
    for (int k = 0; k < n; k++) {
        bool is_made_here = k >= b->it->n_in && is_made(b, k);
        if (!is_vector_operand(b, k) || is_made_here || is_column_output(b->g, b->it, k) ||
            (x->is_register[k] && (b->is_named[k] || k >= b->it->n_in)))
            continue;
        print_move(b, k, false, indent);
        b->is_named[k] = true;
    }
}

void print_kept_takes(Body *b, int indent)
{
    for (int k = 0; k < b->it->n_in; k++)
        if (threads_of(b)->is_register[k]) {
            print_move(b, k, false, indent);
            b->is_named[k] = true;
        }
}

void print_gives(Body *b, int indent)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (is_used(b, k) && is_made(b, k) && !is_column_output(b->g, b->it, k))
            print_move(b, k, true, indent);
}
