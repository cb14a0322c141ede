// Finds what a program's arena holds when most of it is in use.
#include <stdlib.h>

#include "solver/plan/fit_memory.h"

typedef enum MemoryKind {
    MEMORY_PARAMETERS,   // with buffers
    MEMORY_OPTIMIZER,    // the optimizer's states
    MEMORY_GRADIENTS,    // with their sums over micro-batches
    MEMORY_ACTIVATIONS,  // all other stored values
    MEMORY_COPIES,       // of values, in other specs than their storage specs
    MEMORY_WORKSPACE,
    MEMORY_GAPS,  // holes between buffers
    N_MEMORY_KINDS
} MemoryKind;

typedef struct Memory {
    const Program *p;
    bool **is_gradient;  // by set and ValueId
    int64_t bytes_of_kind[N_MEMORY_KINDS];
} Memory;

// Is the value a copy, whose spec isn't the storage spec, or that a kernel needs?
static bool is_copy(const Set *s, ValueId v)
{
    const Sharded *x = s->sharded;

    return v >= x->n_values ||
           !spec_equal(&x->value[v].spec, &x->plan->storage_spec[x->value[v].of]);
}

static MemoryKind memory_kind_of(const Memory *m, const Buffer *b)
{
    const Set *s = &m->p->set[b->set];

    if (b->kind == BUFFER_WORKSPACE)
        return MEMORY_WORKSPACE;
    switch (buffer_value(m->p, b)->kind) {
    case VALUE_PARAMETER:
    case VALUE_BUFFER:
        return MEMORY_PARAMETERS;
    case VALUE_STATE:
        return MEMORY_OPTIMIZER;
    case VALUE_ZERO:
        return MEMORY_GRADIENTS;
    default:
        return is_copy(s, b->value)               ? MEMORY_COPIES
               : m->is_gradient[b->set][b->value] ? MEMORY_GRADIENTS
                                                  : MEMORY_ACTIVATIONS;
    }
}

static bool **find_gradients(const Program *p, Arena *a)
{
    bool **is = arena_array(a, bool *, N_SETS);

    for (int k = 0; k < N_SETS; k++) {
        const Graph *g = p->set[k].g;
        is[k] = arena_array(a, bool, g ? g->n_values : 0);
        for (int i = 0; g && i < g->n_outputs; i++)
            is[k][g->outputs[i].value] |= g->outputs[i].role == OUTPUT_GRADIENT;
    }
    return is;
}

// The place of the first node at or after an item, like "backward of h.31".
static const char *place_of(const Set *s, int item, Arena *a)
{
    while (item < s->n_items && !s->items[item].n_nodes)
        item++;
    if (item >= s->n_items)
        return NULL;
    const Node *n = &s->g->nodes[s->items[item].nodes[0]];
    const char *scope = n->source && n->source->scope ? n->source->scope : "";
    return arena_string(a, "%s%s%s", s->g->training ? phase_names[n->phase] : "prediction",
                        *scope ? " of " : "", printable_text(a, scope));
}

void plan_make_memory(PlanFile *f, const Program *p, Arena *a)
{
    static const char *const kinds[N_MEMORY_KINDS] = {
        "parameters", "optimizer", "gradients", "activations", "copies", "workspace", "gaps"};
    Memory m = {.p = p, .is_gradient = find_gradients(p, a)};
    int set = SET_PREDICT, item = 0, other = 0;
    int64_t most = program_peak_bytes(p, SET_PREDICT, NULL, &item);

    if (p->set[SET_TRAIN].g && program_peak_bytes(p, SET_TRAIN, NULL, &other) >= most) {
        set = SET_TRAIN;
        item = other;
    }
    f->bytes = m.bytes_of_kind[MEMORY_GAPS] = p->arena_bytes;
    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        bool is_live = buffer_is_live(b, set, item);
        m.bytes_of_kind[memory_kind_of(&m, b)] += is_live ? b->bytes : 0;
        m.bytes_of_kind[MEMORY_GAPS] -= is_live ? b->bytes : 0;
    }
    f->n_memory_parts = N_MEMORY_KINDS;
    f->memory_part = arena_array(a, PlanMemoryPart, N_MEMORY_KINDS);
    for (int i = 0; i < N_MEMORY_KINDS; i++)
        f->memory_part[i] = (PlanMemoryPart){kinds[i], m.bytes_of_kind[i]};
    f->fullest = place_of(&p->set[set], item, a);
}

void print_memory_parts(Arena *a, const PlanFile *f, Text *t)
{
    const char *before = "";

    text_printf(t, "%s: ", f->fullest ? f->fullest : "the step");
    for (int i = 0; i < f->n_memory_parts; i++)
        if (f->memory_part[i].bytes) {
            text_printf(t, "%s%s %s", before, f->memory_part[i].kind,
                        bytes_text(a, (double)f->memory_part[i].bytes));
            before = ", ";
        }
}
