// What a group writes that no cache holds until it is read again: through an array, past the
// caches.
#include "generator/far.h"

static const Value *result_of(const Body *b, int k)
{
    return value_of(b->g->s->g, b->it->operands[k].value);
}

void find_far(Body *b)
{
    const Item *it = b->it;
    const Walk *w = b->w;
    int last = w->rank - 1;

    b->is_far = arena_array(b->g->arena, bool, it->n_in + it->n_out);
    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &b->g->s->g->nodes[it->nodes[i]];
        int k = it->n_in + output_of(it, n->out[0]);
        if (k < it->n_in || !n->op->expr || is_number_of_row(b->g->s->g, it, n) ||
            it->stage[i] < it->n_stages - 1 || last < 0 || w->rows < last ||
            w->stride[k][last] != 1 || value_bytes(result_of(b, k)) <= RT_FAR)
            continue;
        bool is_line = w->dim[last] * dtype_size(result_of(b, k)->dtype) % 64 == 0;
        b->is_far[k] = is_line && !group_updates(b->g->p, b->g->s, it, k - it->n_in);
    }
}

bool has_far(const Body *b)
{
    for (int k = b->it->n_in; k < b->it->n_in + b->it->n_out; k++)
        if (b->is_far[k] && is_used(b, k))
            return true;
    return false;
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
            int i = k - b->it->n_in, size = dtype_size(result_of(b, k)->dtype);
            text_printf(&b->text, "%*srt_put_far(y%d%s, f%d, %d * %s);\n", indent, "", i, from, i,
                        size, n);
        }
}
