// Prints addresses in the arena as the text's functions use them.
#include <stdlib.h>
#include <string.h>

#include "generator/sizes.h"

const char *rank_text(Gen *g, const Item *it)
{
    if (!it->workspace_buffer)
        return "rt";
    g->has_workspace = true;
    const Buffer *b = &g->p->buffers[it->workspace_buffer];
    const char *at = use_buffer(g, it->workspace_buffer)->name;
    if (b->pool)
        at = arena_string(g->arena, "%s + %s", at,
                          slot_address(g, b->pool, b->stage, b->stage_step));
    return arena_string(g->arena, "WITH(%s)", at);
}

static const char *in_brackets(const Gen *g, const char *s)
{
    return strchr(s, ' ') ? arena_string(g->arena, "(%s)", s) : s;
}

static int element_bytes(const Gen *g, const Operand *o)
{
    return dtype_size(value_of(g->s->g, o->base)->dtype);
}

// The bytes from one instance of a value to the next: those of its dims, if nothing is rounded up.
static const char *step_text(Gen *g, const Operand *o, int64_t bytes)
{
    const Value *base = value_of(g->s->g, o->base);
    uint32_t all = (1u << base->rank) - 1;

    if (value_bytes(base) != bytes)
        return arena_string(g->arena, "%" PRId64, bytes);
    return in_brackets(g, sizeof_text(g, o->base, count_text(g, o->base, all, 1)));
}

// Is a stride of a view one of its base, whose elements lie in the order of its dims? Then *from is
// the dim of the base after which its elements are counted.
static bool find_stride(const Value *base, int64_t stride, int *from)
{
    int64_t n = 1;

    for (int i = base->rank - 1; i >= 0; i--) {
        *from = i + 1;
        if (n == stride)
            return true;
        n *= base->dim[i];
    }
    return !stride;
}

char *stride_text(Gen *g, const Item *it, const Operand *o, int i)
{
    const Value *base = value_of(g->s->g, o->base);
    int64_t stride = o->stride[i];
    uint32_t all = (1u << base->rank) - 1, inner;
    int from;

    if (stride > 1 && find_inner(it->rank, it->dim, o->stride, i, &inner))
        return item_count_text(g, it, inner, 1);
    if (stride > 1 && find_stride(base, stride, &from))
        return count_text(g, o->base, all & ~((1u << from) - 1), 1);
    return arena_string(g->arena, "%" PRId64, stride);
}

// The bytes from the start of a value to the start of its view. If the view begins some steps along
// one dim, they are named after the dims that follow it.
static const char *offset_text(Gen *g, const Operand *o, int64_t bytes)
{
    const Value *base = value_of(g->s->g, o->base), *view = value_of(g->s->g, o->value);
    int64_t n = bytes / element_bytes(g, o), inner = 1;
    int from;
    bool is_ordered = true;

    for (int i = 0; i < view->rank; i++)
        is_ordered &= find_stride(base, o->stride[i], &from);
    for (int i = base->rank - 1; is_ordered && i >= 0; i--) {
        int64_t next = inner * base->dim[i];
        if (n % next) {
            bool is_one_dim = n < next && n % inner == 0;
            uint32_t behind = ((1u << base->rank) - 1) & ~((2u << i) - 1);
            if (is_one_dim)
                return sizeof_text(g, o->base, count_text(g, o->base, behind, n / inner));
            break;
        }
        inner = next;
    }
    return bytes % element_bytes(g, o)
               ? arena_string(g->arena, "%" PRId64, bytes)
               : sizeof_text(g, o->base, arena_string(g->arena, "%" PRId64, n));
}

// The instance that a loop with that index currently has: "layer % 2".
static const char *turn_text(const Gen *g, const Movement *m, const char *index)
{
    if (m->ring && m->shift)
        return arena_string(g->arena, "(%s + %d) %% %d", index, m->shift, m->ring);
    return m->ring ? arena_string(g->arena, "%s %% %d", index, m->ring) : index;
}

// " + layer * (4 * C)".
static char *movement_text(Gen *g, const Operand *o, const Movement *m, const char *index)
{
    return arena_string(g->arena, " %s %s * %s", m->step < 0 ? "-" : "+", turn_text(g, m, index),
                        step_text(g, o, llabs(m->step)));
}

// The instance of a stack: "layer - 1", "(layer + 1) % 2" or, outside of its loop, "LAYERS - 1".
static const char *instance_text(Gen *g, const Operand *o, int64_t before)
{
    const Movement *m = &o->address.move[0];
    int cls = value_block(g->s->g, o->base).cls;

    if (m->step && before)
        return arena_string(g->arena, "%s %c %" PRId64, loop_index(g, 0), before < 0 ? '-' : '+',
                            before < 0 ? -before : before);
    if (m->step)
        return turn_text(g, m, loop_index(g, 0));
    if (before && cls && before == g->s->g->classes[cls].length - 1)
        return arena_string(g->arena, "%s - 1", layers_text(g, cls));
    return arena_string(g->arena, "%" PRId64, before);
}

static const NamedOffset *offset_of(Gen *g, const Operand *o)
{
    const Address *a = &o->address;

    return use_offset(g, a->buffer, a->first - g->p->buffers[a->buffer].offset, o->base);
}

const char *operand_name(Gen *g, const Operand *o) { return offset_of(g, o)->name; }

char *address_text(Gen *g, const Operand *o)
{
    const Address *a = &o->address;
    const Movement *inner = &a->move[0];
    const NamedOffset *p = offset_of(g, o);
    int64_t distance = a->at - a->first, before = 0;
    bool is_stack = p->step && !a->pool && (!inner->step || inner->step == p->step);
    const char *own = o->rank_slice.slice ? own_text(g, o) : "";
    char *s;

    if (is_stack && !inner->ring && distance % p->step == 0) {
        before = distance / p->step;
        distance = 0;
    }
    g->has_addresses = true;
    g->has_stacks |= is_stack;
    if (is_stack)
        s = arena_string(g->arena, "OF(%s, %s)%s", p->name, instance_text(g, o, before), own);
    else
        s = arena_string(g->arena, "%s%s%s", p->name, p->step ? ".first" : "", own);
    if (a->pool)
        s = arena_string(g->arena, "%s + %s", s, slot_address(g, a->pool, a->stage, a->stage_step));
    if (distance)
        s = arena_string(g->arena, "%s %s %s", s, distance < 0 ? "-" : "+",
                         offset_text(g, o, llabs(distance)));
    for (int k = MAX_LOOPS - 1; k >= is_stack; k--)
        if (a->move[k].step)
            s = arena_string(g->arena, "%s%s", s,
                             movement_text(g, o, &a->move[k], loop_index(g, k)));
    return arena_string(g->arena, "AT(%s)", s);
}
