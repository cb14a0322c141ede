// Finds which values lie in memory, and when, before a plan splits the graph: the rows of a plan's
// memory. It reads them off the program of one rank. So plans count all that lowering does: groups
// that store nothing, updates in place, stacks and rings of loops.
#include <stdio.h>
#include <string.h>

#include "lower/internal.h"

enum { MAX_PARTS = 5 };  // of a buffer: a loop that takes its slots and one that frees them

// Finds the item that does each node's work. All iterations of a block have the same items.
static void find_items(Arena *a, const Graph *g, const Set *s, LiveRanges *to)
{
    ClassTable *table = class_tables(a, g);

    for (NodeId n = 0; n < g->n_nodes; n++)
        to->item[n] = -1;
    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; k < s->items[i].n_nodes; k++) {
            NodeId n = s->items[i].nodes[k];
            Block b = g->nodes[n].block;
            int64_t step = b.cls ? table[b.cls].n_nodes : 0;
            for (int j = 0; j < (b.cls ? g->classes[b.cls].length : 1); j++)
                to->item[b.cls ? table[b.cls].nodes[j * step + b.pos] : n] = i;
        }
}

// Maps each value to the one it counts as. Copies that kernels want are not in the graph; they
// count as the values that they copy.
static ValueId *find_sources(Arena *a, const Graph *copy, int n_values, const Set *s)
{
    ValueId *source = arena_array(a, ValueId, copy->n_values);

    for (ValueId v = 0; v < n_values; v++)
        source[v] = v;
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_COPY && s->items[i].operands[1].base >= n_values)
            source[s->items[i].operands[1].base] = s->items[i].operands[0].value;
    return source;
}

// ---- slots ----

static int64_t live_bytes(const Program *p, int item, LoopEdge edge)
{
    int64_t bytes = 0;

    for (int i = 1; i < p->n_buffers; i++)
        bytes += buffer_bytes_at(p, &p->buffers[i], SET_TRAIN, item, edge);
    return bytes;
}

// Gives by item the iteration of its loop in which more bytes are in use: rows count that one. So
// they count no more than the program needs, if plans make the other iteration the larger one.
static LoopEdge *find_edges(Arena *a, const Program *p)
{
    const Set *s = &p->set[SET_TRAIN];
    LoopEdge *edge = arena_array(a, LoopEdge, s->n_items + 1);

    for (int i = 0; i < s->n_items; i++) {
        int64_t most[N_LOOP_EDGES] = {0};
        if (s->items[i].kind != ITEM_LOOP)
            continue;
        int end = s->items[i].loop.end;
        for (int k = i; k <= end; k++)
            for (LoopEdge t = FIRST_ITERATION; t < N_LOOP_EDGES; t++) {
                int64_t bytes = live_bytes(p, k, t);
                most[t] = bytes > most[t] ? bytes : most[t];
            }
        for (int k = i; k <= end; k++)
            edge[k] =
                most[LAST_ITERATION] > most[FIRST_ITERATION] ? LAST_ITERATION : FIRST_ITERATION;
    }
    return edge;
}

// Adds the range `all` of a buffer with slots in parts, each with as many slots as are in use.
static void add_parts(const Program *p, const Buffer *b, const LoopEdge *edge, const LiveRange *all,
                      LiveRanges *to)
{
    LiveRange part = *all;

    for (int i = all->first; i <= all->last; i++) {
        int64_t used = buffer_bytes_at(p, b, SET_TRAIN, i, edge[i]);
        int64_t n = i < all->last ? b->n_instances - (b->bytes - used) / b->slots.bytes : 0;
        if (i > all->first && n == part.n_instances)
            continue;
        part.last = i;
        if (part.last > part.first)
            to->range[to->n++] = part;
        part.first = i;
        part.n_instances = n;
    }
}

// ---- ranges ----

static bool has_slots(const Program *p)
{
    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].slots.bytes)
            return true;
    return false;
}

// A value that is written over another one takes bytes only from where that one ends: none if that
// is an accumulator.
static void find_ranges(const Program *p, const Buffer *before, const ValueId *source,
                        LiveRanges *to)
{
    const Set *s = &p->set[SET_TRAIN];
    const LoopEdge *edge = has_slots(p) ? find_edges(p->arena, p) : NULL;

    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &before[i];
        bool is_local = b->kind == BUFFER_LOCAL;
        LiveRange x = {source[b->value], b->n_instances, 0, to->n_items};
        if (is_local && p->buffers[s->storage[b->value].buffer].kind == BUFFER_PERSISTENT)
            continue;
        if (is_local) {
            x.first = b->first + !p->buffers[i].bytes;
            x.last = b->last + 1 < to->n_items ? b->last + 1 : to->n_items;
        }
        if (p->buffers[i].slots.bytes)
            add_parts(p, &p->buffers[i], edge, &x, to);
        else if (b->first >= 0 || !is_local)
            to->range[to->n++] = x;
    }
}

// Repeats errors alone. Warnings are reported when the real program is lowered.
static void repeat_errors(const Text *said, int errors, Diag *d)
{
    if (!d)
        return;
    d->errors += errors;
    if (d->to)
        text_put(d->to, said->s, said->n);
    else
        fwrite(said->s, 1, said->n, stderr);
}

bool live_ranges_find(Arena *a, const Graph *g, const Target *t, int accumulate, LiveRanges *to,
                      Diag *d)
{
    const LowerOptions o = {.target = t, .fuse = true, .accumulate = accumulate};
    Arena *own = arena_new();
    Text said = {0};
    Diag quiet = {.file = d ? d->file : "", .to = &said};
    Graph *copy = graph_clone(own, g);
    Program *p = program_new(own, t, accumulate);
    const Set *s = &p->set[SET_TRAIN];
    bool ok = lower_set(p, SET_TRAIN, copy, &o, &quiet);

    if (ok) {
        Buffer *before = arena_array(own, Buffer, p->n_buffers);
        memcpy(before, p->buffers, (size_t)p->n_buffers * sizeof *before);
        lower_in_place(p, &p->set[SET_TRAIN], NULL);
        lower_find_slots(p, SET_TRAIN);
        *to = (LiveRanges){.range = arena_array(a, LiveRange, MAX_PARTS * p->n_buffers),
                           .n_items = s->n_items,
                           .item = arena_array(a, int, g->n_nodes)};
        find_items(own, copy, s, to);
        find_ranges(p, before, find_sources(own, copy, g->n_values, s), to);
    } else {
        repeat_errors(&said, quiet.errors, d);
    }
    text_free(&said);
    arena_free(own);
    return ok;
}
