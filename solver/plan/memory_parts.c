// Finds what a program's arena holds when most of it is in use.
#include "solver/plan/memory_parts.h"

const char *const memory_kind_names[N_MEMORY_KINDS] = {
    "parameters",  "optimizer", "accumulators", "gradients", "saved",
    "activations", "copies",    "constants",    "workspace", "gaps"};

// ---- categories ----

// Is the value a copy that a kernel needs or one in another spec than its storage spec, or does it
// only carry a bucket? A program that was read from a text doesn't know storage specs. There the
// results of collectives are copies.
static bool is_copy(const Set *s, ValueId v)
{
    const Sharded *x = s->sharded;
    bool is_added = !value_of(s->g, v)->producer;

    if (!x || is_added)
        return is_added;
    if (!x->value[v].of)
        return true;
    if (!x->plan->storage_spec)
        return producer(s->g, v)->op->exchange;
    return !spec_equal(&x->value[v].spec, &x->plan->storage_spec[x->value[v].of]);
}

static MemoryKind kind_of_value(const Set *s, ValueId v)
{
    switch (value_of(s->g, v)->kind) {
    case VALUE_PARAMETER:
    case VALUE_BUFFER:
        return MEMORY_PARAMETERS;
    case VALUE_STATE:
        return MEMORY_OPTIMIZER;
    case VALUE_ZERO:
        return MEMORY_ACCUMULATORS;
    case VALUE_CONSTANT:
    case VALUE_HYPER:
        return MEMORY_CONSTANTS;
    case VALUE_ACTIVATION:
        return is_copy(s, v) ? MEMORY_COPIES : MEMORY_ACTIVATIONS;
    default:
        return MEMORY_ACTIVATIONS;
    }
}

// Puts the buffer of a value into another category, if it holds activations of no special kind.
static void refine_kind(const Set *s, ValueId v, MemoryKind to, MemoryKind *kind)
{
    int32_t b = s->storage[v].buffer;

    if (b && kind[b] == MEMORY_ACTIVATIONS)
        kind[b] = to;
}

// Gradients are outputs and, with several micro-batches, what is added to accumulators.
static void find_gradients(const Set *s, MemoryKind *kind)
{
    const Graph *g = s->g;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            refine_kind(s, g->outputs[i].value, MEMORY_GRADIENTS, kind);
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        const Node *n = producer(g, c->out);
        if (value_of(g, c->in)->kind != VALUE_ZERO || n->phase != BACKWARD)
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (value_of(g, n->in[k])->producer && producer(g, n->in[k])->phase == BACKWARD)
                refine_kind(s, n->in[k], MEMORY_GRADIENTS, kind);
    }
}

bool item_is_backward(const Set *s, const Item *it)
{
    if (it->region)
        return it->phase == BACKWARD;
    for (int i = 0; i < it->n_nodes; i++)
        if (s->g->nodes[it->nodes[i]].phase == BACKWARD)
            return true;
    return false;
}

static void find_saved(const Set *s, MemoryKind *kind)
{
    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; item_is_backward(s, &s->items[i]) && k < s->items[i].n_in; k++) {
            ValueId v = s->items[i].operands[k].base;
            if (value_of(s->g, v)->producer && producer(s->g, v)->phase == FORWARD)
                refine_kind(s, v, MEMORY_SAVED, kind);
        }
}

MemoryKind *memory_kinds(const Program *p, Arena *a)
{
    MemoryKind *kind = arena_array(a, MemoryKind, p->n_buffers);

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        kind[i] = b->kind == BUFFER_WORKSPACE ? MEMORY_WORKSPACE
                                              : kind_of_value(&p->set[b->set], b->value);
    }
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].g) {
            find_gradients(&p->set[i], kind);
            find_saved(&p->set[i], kind);
        }
    return kind;
}

// ---- moments ----

MemoryMoment *memory_moments(const Program *p, int set, const MemoryKind *kind, Arena *a)
{
    int n = p->set[set].n_items;
    MemoryMoment *m = arena_array(a, MemoryMoment, n + 2);  // first as changes of bytes

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        bool is_persistent = b->kind == BUFFER_PERSISTENT;
        if (!is_persistent && (b->set != set || b->first < 0))
            continue;
        m[is_persistent ? 0 : b->first].bytes[kind[i]] += b->bytes;
        m[is_persistent ? n + 1 : b->last + 1].bytes[kind[i]] -= b->bytes;
    }
    for (int i = 0; i <= n; i++) {
        int64_t used = 0;
        m[i].set = set;
        m[i].item = i;
        for (int k = 0; k < MEMORY_GAPS; k++) {
            m[i].bytes[k] += i ? m[i - 1].bytes[k] : 0;
            used += m[i].bytes[k];
        }
        m[i].bytes[MEMORY_GAPS] = p->arena_bytes - used;
    }
    return m;
}

MemoryMoment memory_peak(const Program *p, const MemoryKind *kind, Arena *a)
{
    MemoryMoment peak = {.bytes[MEMORY_GAPS] = INT64_MAX};

    for (int i = 0; i < N_SETS; i++) {
        const MemoryMoment *m = p->set[i].g ? memory_moments(p, i, kind, a) : NULL;
        int n = m ? p->set[i].n_items : -1;
        for (int k = 0; k <= n; k++)
            if ((k == n || item_is_statement(&p->set[i].items[k])) &&
                m[k].bytes[MEMORY_GAPS] < peak.bytes[MEMORY_GAPS])
                peak = m[k];
    }
    return peak;
}

const char *memory_place(const Set *s, int item, Arena *a)
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
    MemoryMoment m = memory_peak(p, memory_kinds(p, a), a);

    f->bytes = p->arena_bytes;
    f->n_memory_parts = N_MEMORY_KINDS;
    f->memory_part = arena_array(a, PlanMemoryPart, N_MEMORY_KINDS);
    for (int i = 0; i < N_MEMORY_KINDS; i++)
        f->memory_part[i] = (PlanMemoryPart){memory_kind_names[i], m.bytes[i]};
    f->fullest = memory_place(&p->set[m.set], m.item, a);
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
