// What a group reads from beyond the caches, called for ahead, and what it writes past them,
// through an array.
#include "generator/far.h"

enum { NEAR = 1 << 20 };  // bytes that the cache of one core holds

static const Value *value_at(const Body *b, int k)
{
    return value_of(b->g->s->g, b->it->operands[k].value);
}

static bool has_lines(const Body *b, int k)
{
    int last = b->w->rank - 1;

    return last >= 0 && b->w->rows >= last && b->w->stride[k][last] == 1;
}

// Does operand k take more than the cache of a core, what is repeated counted once?
static bool is_large(const Body *b, int k)
{
    int64_t bytes = dtype_size(value_at(b, k)->dtype);

    for (int d = 0; d < b->w->rank; d++)
        bytes *= b->w->stride[k][d] ? b->w->dim[d] : 1;
    return bytes > NEAR;
}

void find_far(Body *b)
{
    const Item *it = b->it;
    const Walk *w = b->w;

    b->is_far = arena_array(b->g->arena, bool, it->n_in + it->n_out);
    b->is_cold = arena_array(b->g->arena, bool, it->n_in);
    for (int k = 0; k < it->n_in; k++)
        b->is_cold[k] = has_lines(b, k) && !w->turned[k] && is_large(b, k);
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &b->g->s->g->nodes[it->nodes[i]];
        int k = it->n_in + output_of(it, n->out[0]);
        if (k < it->n_in || !n->op->expr || is_number_of_row(b->g->s->g, it, n) ||
            it->stage[i] < it->n_stages - 1 || !has_lines(b, k) ||
            value_bytes(value_at(b, k)) <= RT_FAR)
            continue;
        bool is_line = w->dim[w->rank - 1] * dtype_size(value_at(b, k)->dtype) % 64 == 0;
        b->is_far[k] = is_line && !group_updates(b->g->p, b->g->s, it, k - it->n_in);
    }
}

static bool is_dear_turn(const Body *b)
{
    for (int i = 0; i < b->it->n_nodes; i++)
        if (b->is_asked[i] && b->g->s->g->nodes[b->it->nodes[i]].op->flops >= DEAR)
            return true;
    return false;
}

bool has_slow(const Body *b)
{
    for (int k = 0; k < b->it->n_in; k++)
        if (b->is_cold[k] && is_used(b, k))
            return is_dear_turn(b);
    return false;
}

bool has_far(const Body *b)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (b->is_far[k] && is_used(b, k))
            return true;
    return false;
}

// Calls for n elements of each cold input, AHEAD behind those `from`.
static void print_ahead(Body *b, int indent, const char *from, int64_t n)
{
    Text line = {0};

    for (int k = 0; k < b->it->n_in; k++)
        if (b->is_cold[k] && is_used(b, k))
            text_printf(&line, "%srt_prefetch(x%d%s + %d, %" PRId64 ")", line.n ? ", " : "", k,
                        from, AHEAD, n * dtype_size(value_at(b, k)->dtype));
    if (line.n)
        print_wrapped(&b->text, indent, arena_string(b->g->arena, "%s;", line.s));
    text_free(&line);
}

void print_calls(Body *b, int indent)
{
    if (has_slow(b))
        print_ahead(b, indent, " + b", RT_LINE);
    for (int k = 0; k < b->it->n_in; k++)
        b->is_cold[k] &= !is_used(b, k);
}

void print_row_calls(Body *b, int indent)
{
    int64_t n = b->w->rank ? b->w->dim[b->w->rank - 1] : 1;
    bool has_turned = false;

    for (int k = 0; k < b->it->n_in; k++)
        has_turned |= b->w->turned[k] && is_used(b, k);
    if (has_turned && n <= LONG)
        print_ahead(b, indent, "", n);
}

void print_far(Body *b)
{
    int64_t n = b->w->rank ? b->w->dim[b->w->rank - 1] : 1;

    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (b->is_far[k])
            text_printf(&b->text, "    %s f%d[%" PRId64 "];\n", operand_type(b, k), k - b->it->n_in,
                        n > LONG ? RUN : n);
}

void print_puts(Body *b, int indent, const char *from, const char *n)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (b->is_far[k] && is_used(b, k)) {
            int i = k - b->it->n_in, size = dtype_size(value_at(b, k)->dtype);
            text_printf(&b->text, "%*srt_put_far(y%d%s, f%d, %d * %s);\n", indent, "", i, from, i,
                        size, n);
        }
}
