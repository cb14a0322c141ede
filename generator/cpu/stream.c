// Prints prefetches of a group's inputs that must come from memory, and stores of streamed results,
// through an array and past the caches.
#include "generator/cpu/stream.h"
#include "runtime/rt_cpu.h"

enum { CORE_CACHE_BYTES = 1 << 20 };  // bytes of one core's own cache

static const Value *value_at(const Body *b, int k)
{
    return value_of(b->g->s->g, b->it->operands[k].value);
}

static bool has_lines(const Body *b, int k)
{
    int last = b->w->rank - 1;

    return last >= 0 && b->w->rows >= last && b->w->stride[k][last] == 1;
}

// Is operand k larger than a core's cache? Elements that are repeated count once.
static bool is_large(const Body *b, int k)
{
    int64_t bytes = dtype_size(value_at(b, k)->dtype);

    for (int d = 0; d < b->w->rank; d++)
        bytes *= b->w->stride[k][d] ? b->w->dim[d] : 1;
    return bytes > CORE_CACHE_BYTES;
}

void find_transposed(Body *b)
{
    enum { MAX_COLUMNS = 4096 };  // columns: the transposed rows are on the stack
    Walk *w = b->w;
    int last = w->rank - 1;
    int64_t *transposed = arena_array(b->g->arena, int64_t, b->it->n_in + b->it->n_out + 1);

    loops_of(b)->transposed = transposed;
    for (int k = 0; k < b->it->n_in && last > 0 && w->rows == last; k++) {
        int64_t *stride = w->stride[k];
        if (stride[last - 1] != 1 || stride[last] < RT_TRANSPOSE_ROWS ||
            value_at(b, k)->dtype != F32 || w->dim[last] < RT_TRANSPOSE_ROWS ||
            w->dim[last] > MAX_COLUMNS || w->dim[last - 1] < RT_TRANSPOSE_ROWS)
            continue;
        transposed[k] = stride[last];
        stride[last] = 1;
    }
}

void find_streamed(Body *b)
{
    CpuLoops *l = loops_of(b);
    const Item *it = b->it;
    const Walk *w = b->w;

    l->is_streamed = arena_array(b->g->arena, bool, it->n_in + it->n_out);
    l->is_prefetched = arena_array(b->g->arena, bool, it->n_in);
    for (int k = 0; k < it->n_in; k++)
        loops_of(b)->is_prefetched[k] = has_lines(b, k) && !l->transposed[k] && is_large(b, k);
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &b->g->s->g->nodes[it->nodes[i]];
        int k = it->n_in + output_of(it, n->out[0]);
        if (k < it->n_in || !n->op->expr || it->group.is_row_scalar[i] ||
            it->group.pass[i] < it->group.n_passes - 1 || !has_lines(b, k) ||
            value_bytes(value_at(b, k)) <= RT_STREAM_BYTES)
            continue;
        bool is_line = w->dim[w->rank - 1] * dtype_size(value_at(b, k)->dtype) % 64 == 0;
        loops_of(b)->is_streamed[k] = is_line && !it->group.is_in_place[k - it->n_in];
    }
}

static bool is_costly_pass(const Body *b)
{
    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->is_selected[i] && b->g->s->g->nodes[b->it->nodes[i]].op->flops >= COSTLY_FLOPS)
            return true;
    return false;
}

bool needs_prefetch(const Body *b)
{
    for (int k = 0; k < b->it->n_in; k++)
        if (loops_of(b)->is_prefetched[k] && is_used(b, k))
            return is_costly_pass(b);
    return false;
}

bool has_streamed(const Body *b)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (loops_of(b)->is_streamed[k] && is_used(b, k))
            return true;
    return false;
}

// Prints `macro` for each prefetched input: "RT_PREFETCH(x0, b), RT_PREFETCH(x1, b);".
static void print_prefetch_of(Body *b, int indent, const char *macro, const char *argument)
{
    Text line = {0};

    for (int k = 0; k < b->it->n_in; k++)
        if (loops_of(b)->is_prefetched[k] && is_used(b, k))
            text_printf(&line, "%s%s(%s, %s)", line.n ? ", " : "", macro, b->name[k], argument);
    if (line.n)
        print_wrapped(&b->text, indent, arena_string(b->g->arena, "%s;", line.s));
    text_free(&line);
}

void print_prefetch(Body *b, int indent)
{
    if (needs_prefetch(b))
        print_prefetch_of(b, indent, "RT_PREFETCH", "b");
    for (int k = 0; k < b->it->n_in; k++)
        loops_of(b)->is_prefetched[k] &= !is_used(b, k);
}

void print_row_prefetch(Body *b, int indent)
{
    int64_t n = b->w->rank ? b->w->dim[b->w->rank - 1] : 1;
    bool has_transposed = false;

    for (int k = 0; k < b->it->n_in; k++)
        has_transposed |= loops_of(b)->transposed[k] && is_used(b, k);
    if (has_transposed && n <= LONG_ROW_ELEMENTS)
        print_prefetch_of(b, indent, "RT_PREFETCH_ROW", arena_string(b->g->arena, "%" PRId64, n));
}

void print_stream_buffers(Body *b)
{
    int64_t n = b->w->rank ? b->w->dim[b->w->rank - 1] : 1;

    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (loops_of(b)->is_streamed[k])
            text_printf(&b->text, "    %s f%d[%" PRId64 "];\n", operand_type(b, k), k - b->it->n_in,
                        n > LONG_ROW_ELEMENTS ? RT_RUN_ELEMENTS : n);
}

void print_stream_stores(Body *b, int indent, const char *from, const char *n)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (loops_of(b)->is_streamed[k] && is_used(b, k))
            text_printf(&b->text, "%*sRT_STREAM(%s, %s, f%d, %s);\n", indent, "", b->name[k], from,
                        k - b->it->n_in, n);
}
