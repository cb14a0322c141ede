// Finds what a program's arena holds when most of it is in use.
#include "compile/fit/memory_parts.h"
#include "ir/facts.h"

const char *const memory_kind_names[N_MEMORY_KINDS] = {
    "parameters",  "half copies", "optimizer", "accumulators", "gradients", "saved",
    "activations", "copies",      "constants", "workspace",    "gaps"};

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

// By ValueId of the set's whole graph: is it a parameter in halves?
static bool *find_half_copies(Arena *a, const Set *s)
{
    const Graph *g = s->sharded ? s->sharded->whole : s->g;
    const bool *serves = graph_half_copies(a, g, NULL);
    bool *is_half = arena_array(a, bool, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        is_half[v] = serves[value_of(g, v)->producer] && dtype_is_half(value_of(g, v)->dtype);
    return is_half;
}

static MemoryKind kind_of_made(const Set *s, const bool *is_half, ValueId v)
{
    if (is_copy(s, v))
        return MEMORY_COPIES;
    return is_half[s->sharded ? s->sharded->value[v].of : v] ? MEMORY_HALF_COPIES
                                                             : MEMORY_ACTIVATIONS;
}

static MemoryKind kind_of_value(const Set *s, const bool *is_half, ValueId v)
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
        return kind_of_made(s, is_half, v);
    default:
        return MEMORY_ACTIVATIONS;
    }
}

// All that has one category: a buffer, or the bytes of a value in each slot of a buffer.
typedef struct Part {
    int32_t buffer;
    int64_t at, bytes;
    MemoryKind kind;
} Part;

typedef struct Parts {
    const Program *p;
    bool *is_half[N_SETS];  // of find_half_copies
    Part *part;             // first the buffers by their numbers, then the values in slots
    int n, cap;
} Parts;

// The part in which the value lies; NULL: it has no bytes.
static Part *part_of(Parts *x, const Set *s, ValueId v)
{
    const Storage *st = &s->storage[v];
    int64_t slot = x->p->buffers[st->buffer].slots.bytes;

    if (!slot)
        return st->buffer ? &x->part[st->buffer] : NULL;
    for (int i = x->p->n_buffers; i < x->n; i++)
        if (x->part[i].buffer == st->buffer && x->part[i].at == st->offset % slot)
            return &x->part[i];
    return NULL;
}

static void add_parts_of_slots(Arena *a, Parts *x)
{
    for (int k = 0; k < N_SETS; k++) {
        const Set *s = &x->p->set[k];
        for (ValueId v = 1; s->g && v < s->g->n_values; v++) {
            const Storage *st = &s->storage[v];
            int64_t slot = x->p->buffers[st->buffer].slots.bytes;
            if (slot && st->step && !part_of(x, s, v))
                *arena_push(a, x->part, x->n, x->cap) =
                    (Part){.buffer = st->buffer,
                           .at = st->offset % slot,
                           .bytes = instance_bytes(stored_bytes(s, v)),
                           .kind = kind_of_value(s, x->is_half[k], v)};
        }
    }
}

// Puts the bytes of a value into another category, if they are activations of no special kind.
static void refine_kind(Parts *x, const Set *s, ValueId v, MemoryKind to)
{
    Part *part = part_of(x, s, v);

    if (part && part->kind == MEMORY_ACTIVATIONS)
        part->kind = to;
}

// Gradients are outputs and, with several micro-batches, what is added to accumulators.
static void find_gradients(Parts *x, const Set *s)
{
    const Graph *g = s->g;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            refine_kind(x, s, g->outputs[i].value, MEMORY_GRADIENTS);
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        const Node *n = producer(g, c->out);
        if (value_of(g, c->in)->kind != VALUE_ZERO || n->phase != BACKWARD)
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (value_of(g, n->in[k])->producer && producer(g, n->in[k])->phase == BACKWARD)
                refine_kind(x, s, n->in[k], MEMORY_GRADIENTS);
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

static void find_saved(Parts *x, const Set *s)
{
    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; item_is_backward(s, &s->items[i]) && k < s->items[i].n_in; k++) {
            ValueId v = s->items[i].operands[k].base;
            if (value_of(s->g, v)->producer && producer(s->g, v)->phase == FORWARD)
                refine_kind(x, s, v, MEMORY_SAVED);
        }
}

static Parts find_parts(Arena *a, const Program *p)
{
    Parts x = {.p = p};

    for (int i = 0; i < N_SETS; i++)
        x.is_half[i] = p->set[i].g ? find_half_copies(a, &p->set[i]) : NULL;
    arena_push(a, x.part, x.n, x.cap);
    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        *arena_push(a, x.part, x.n, x.cap) =
            (Part){.buffer = i,
                   .kind = b->kind == BUFFER_WORKSPACE ? MEMORY_WORKSPACE
                           : b->kind == BUFFER_POOLS
                               ? MEMORY_SAVED
                               : kind_of_value(&p->set[b->set], x.is_half[b->set], b->value)};
    }
    add_parts_of_slots(a, &x);
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].g) {
            find_gradients(&x, &p->set[i]);
            find_saved(&x, &p->set[i]);
        }
    return x;
}

MemoryKinds memory_kinds(Arena *a, const Program *p)
{
    Parts x = find_parts(a, p);
    MemoryKinds k = {.of_buffer = arena_array(a, MemoryKind, p->n_buffers),
                     .of_slot = arena_alloc(a, (size_t)p->n_buffers, sizeof *k.of_slot),
                     .n_values = arena_array(a, int, p->n_buffers)};

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        const Part *own = b->slots.bytes ? part_of(&x, &p->set[b->set], b->value) : &x.part[i];
        k.of_buffer[i] = own->kind;
    }
    for (int i = p->n_buffers; i < x.n; i++) {
        k.of_slot[x.part[i].buffer][x.part[i].kind] += x.part[i].bytes;
        k.n_values[x.part[i].buffer]++;
    }
    return k;
}

// The bytes at the ends of the slots count as those of the buffer's own category.
void memory_kinds_add(const Program *p, const MemoryKinds *k, int32_t buffer, int64_t bytes,
                      int64_t *to)
{
    const Buffer *b = &p->buffers[buffer];
    int64_t slot = b->slots.bytes, all = slot * buffer_slots(&p->set[b->set], b);
    int64_t n = slot ? (bytes - (b->bytes - all)) / slot : 0;

    for (int i = 0; i < N_MEMORY_KINDS; i++) {
        to[i] += n * k->of_slot[buffer][i];
        bytes -= n * k->of_slot[buffer][i];
    }
    to[k->of_buffer[buffer]] += bytes;
}

// ---- moments ----

static int64_t memory_used(const MemoryMoment *m)
{
    int64_t used = 0;

    for (int k = 0; k < MEMORY_GAPS; k++)
        used += m->bytes[k];
    return used;
}

static void add_bytes(const Program *p, const MemoryKinds *kinds, int32_t buffer, MemoryMoment *m)
{
    int64_t bytes = buffer_bytes_at(p, &p->buffers[buffer], m->set, m->item, m->edge);

    if (bytes)
        memory_kinds_add(p, kinds, buffer, bytes, m->bytes);
}

// Adds the buffers that are in use as a whole, by what changes from item to item.
static void add_whole(const Program *p, int set, const MemoryKinds *kinds, MemoryMoment *m)
{
    int n = p->set[set].n_items;

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        bool is_persistent = b->kind == BUFFER_PERSISTENT;
        if ((!is_persistent && (b->set != set || b->first < 0)) || b->slots.bytes)
            continue;
        m[is_persistent ? 0 : b->first].bytes[kinds->of_buffer[i]] += b->bytes;
        m[is_persistent ? n + 1 : b->last + 1].bytes[kinds->of_buffer[i]] -= b->bytes;
    }
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < MEMORY_GAPS; k++)
            m[i].bytes[k] += m[i - 1].bytes[k];
}

// Adds the buffers with slots in the iteration in which they take more.
static void add_slots(const Program *p, const MemoryKinds *kinds, MemoryMoment *m)
{
    MemoryMoment last = *m;

    last.edge = LAST_ITERATION;
    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].slots.bytes) {
            add_bytes(p, kinds, i, m);
            add_bytes(p, kinds, i, &last);
        }
    if (memory_used(&last) > memory_used(m))
        *m = last;
}

MemoryMoment *memory_moments(Arena *a, const Program *p, int set, const MemoryKinds *kinds)
{
    int n = p->set[set].n_items;
    MemoryMoment *m = arena_array(a, MemoryMoment, n + 2);  // first as changes of bytes

    add_whole(p, set, kinds, m);
    for (int i = 0; i <= n; i++) {
        m[i].set = set;
        m[i].item = i;
        add_slots(p, kinds, &m[i]);
        m[i].bytes[MEMORY_GAPS] = p->arena_bytes - memory_used(&m[i]);
    }
    return m;
}

MemoryMoment memory_peak(Arena *a, const Program *p, const MemoryKinds *kinds)
{
    MemoryMoment peak = {.bytes[MEMORY_GAPS] = INT64_MAX};

    for (int i = 0; i < N_SETS; i++) {
        const MemoryMoment *m = p->set[i].g ? memory_moments(a, p, i, kinds) : NULL;
        int n = m ? p->set[i].n_items : -1;
        for (int k = 0; k <= n; k++)
            if ((k == n || item_is_statement(&p->set[i].items[k])) &&
                m[k].bytes[MEMORY_GAPS] < peak.bytes[MEMORY_GAPS])
                peak = m[k];
    }
    return peak;
}

const char *memory_where(Arena *a, const Set *s, int item)
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

void plan_make_memory(Arena *a, PlanFile *f, const Program *p)
{
    MemoryKinds kinds = memory_kinds(a, p);
    MemoryMoment m = memory_peak(a, p, &kinds);

    f->bytes = p->arena_bytes;
    f->n_memory_parts = N_MEMORY_KINDS;
    f->memory_part = arena_array(a, PlanMemoryPart, N_MEMORY_KINDS);
    for (int i = 0; i < N_MEMORY_KINDS; i++)
        f->memory_part[i] = (PlanMemoryPart){memory_kind_names[i], m.bytes[i]};
    f->fullest = memory_where(a, &p->set[m.set], m.item);
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
