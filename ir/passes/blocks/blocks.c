// Finds repeated blocks: periodic runs in the canonical order of the nodes, those that save most
// nodes first. Hashes of nodes suggest the runs; block_matches checks the origin of every input.
#include "ir/passes/blocks/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "ir/classes.h"

// ---- the queue of runs ----

static int saving(const Run *r) { return ((r->end - r->begin) / r->period - 1) * r->period; }

static bool is_better(const Run *a, const Run *b)
{
    if (a->is_postponed != b->is_postponed)
        return b->is_postponed;
    if (saving(a) != saving(b))
        return saving(a) > saving(b);
    return a->begin != b->begin ? a->begin < b->begin : a->period < b->period;
}

static void queue_put(Finder *f, Run r)
{
    int i = f->n_heap;

    if (r.end - r.begin < 2 * r.period)
        return;
    arena_push(f->arena, f->heap, f->n_heap, f->cap_heap);
    for (; i > 0 && is_better(&r, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = r;
}

static Run queue_take(Finder *f)
{
    Run best = f->heap[0], last = f->heap[--f->n_heap];
    int i = 0;

    for (int c = 1; c < f->n_heap; i = c, c = 2 * i + 1) {
        if (c + 1 < f->n_heap && is_better(&f->heap[c + 1], &f->heap[c]))
            c++;
        if (is_better(&last, &f->heap[c]))
            break;
        f->heap[i] = f->heap[c];
    }
    f->heap[i] = last;
    return best;
}

// ---- names ----

static bool is_boundary(char c) { return c == '.' || c == '/'; }

// The longest common prefix of the scopes of all nodes that ends at a boundary.
static const char *common_scope(const Finder *f, int begin, int end)
{
    const char *scope = NULL;
    int n = 0;

    for (int i = begin; i < end; i++) {
        const Node *x = &f->g->nodes[f->order[i]];
        const char *other = x->source ? x->source->scope : NULL;
        if (!other || !other[0])
            continue;
        if (!scope) {
            scope = other;
            n = (int)strlen(other);
        }
        int same = 0;
        while (same < n && other[same] == scope[same])
            same++;
        bool whole =
            (same == n || is_boundary(scope[same])) && (!other[same] || is_boundary(other[same]));
        while (!whole && same > 0 && !is_boundary(scope[same - 1]))
            same--;
        n = same;
    }
    while (n > 0 && is_boundary(scope[n - 1]))
        n--;
    return arena_copy(f->g->arena, scope ? scope : "", (size_t)n);
}

// ---- labelling ----

static void put_class(Finder *f, const Series *s, int n_iter)
{
    int begin = s->begin + s->first * s->period;
    const char *name = common_scope(f, begin, begin + n_iter * s->period);

    for (int i = 0; i < n_iter * s->period; i++)
        f->block[begin + i] = (Block){f->n_found, i / s->period, i % s->period};
    *arena_push(f->arena, f->found, f->n_found, f->cap_found) =
        (Found){name, begin, s->period, n_iter};
    if (f->grows)
        block_grow_back(f, f->n_found - 1);
}

// How many iterations of a series, from s->first on, are isomorphic; at least 1.
static int count_alike(const Finder *f, Series *s, int n_iter)
{
    int n = 1;

    s->is_chained = false;
    while (s->first + n < n_iter && block_matches(f, s, s->first + n - 1))
        n++;
    return n;
}

// How many iterations of a run would be in classes if the iterations began at `begin`.
static int count_taken(const Finder *f, const Run *r, int begin)
{
    Series s = {.begin = begin, .period = r->period};
    int n_iter = (r->end - begin) / r->period, taken = 0;

    for (int n; s.first + 1 < n_iter; s.first += n) {
        n = count_alike(f, &s, n_iter);
        if (n == 1 || !block_is_worth(f, &s))
            continue;
        Found c = {NULL, begin + s.first * r->period, r->period, n};
        taken += n + block_has_before(f, &c);
    }
    return taken;
}

// Makes classes of the iterations of a run, each as long as iterations are isomorphic.
static void take_run(Finder *f, const Run *r)
{
    enum { MAX_OFFSETS = 8 };
    int offset[MAX_OFFSETS], n_offsets = block_rotations(f, r, offset, MAX_OFFSETS), best = 0,
                             taken = 0;

    for (int i = 0; i < n_offsets && n_offsets > 1; i++) {
        int n = count_taken(f, r, r->begin + offset[i]);
        if (n > taken) {
            best = i;
            taken = n;
        }
    }
    Series s = {.begin = r->begin + offset[best], .period = r->period};
    int n_iter = (r->end - s.begin) / r->period;
    for (int n; s.first + 1 < n_iter; s.first += n) {
        n = count_alike(f, &s, n_iter);
        if (n > 1 && block_is_worth(f, &s))
            put_class(f, &s, n);
    }
}

// Is a run free of other classes? If not, puts its free parts back into the queue.
static bool is_free(Finder *f, const Run *r)
{
    int begin = r->begin;
    bool all = true;

    for (int i = r->begin; i < r->end; i++)
        all &= f->block[i].cls == 0;
    for (int i = r->begin; !all && i <= r->end; i++) {
        if (i < r->end && !f->block[i].cls)
            continue;
        queue_put(f, (Run){begin, i, r->period, false});
        begin = i + 1;
    }
    return all;
}

// Do runs with a shorter period save more nodes within this run? Then they come first, because
// classes don't nest: a run of two layers is dropped for the many time steps in each layer.
static bool is_outdone(const Finder *f, const Run *r)
{
    int *saved = arena_array(f->arena, int, r->period);  // by period

    for (int i = 0; i < f->n_heap; i++) {
        Run q = f->heap[i];
        q.begin = q.begin > r->begin ? q.begin : r->begin;
        q.end = q.end < r->end ? q.end : r->end;
        if (q.period >= r->period || q.end - q.begin < 2 * q.period)
            continue;
        saved[q.period] += saving(&q);
        if (saved[q.period] > saving(r))
            return true;
    }
    return false;
}

static void find_classes(Finder *f)
{
    enum { NEAR = 2, FAR = 8 };
    const Graph *g = f->g;
    uint64_t *s[3], *by_node[] = {f->hash, cone_hashes(f->arena, g, f->hash, NEAR),
                                  cone_hashes(f->arena, g, f->hash, FAR)};
    int n_runs;

    for (int k = 0; k < 3; k++) {
        s[k] = arena_array(f->arena, uint64_t, f->n);
        for (int i = 0; i < f->n; i++)
            s[k][i] = by_node[k][f->order[i]];
    }
    const uint64_t *hint[] = {s[1], s[2]};
    Run *runs = find_runs(f->arena, s[0], f->n, hint, 2, &n_runs);
    for (int i = 0; i < n_runs; i++)
        queue_put(f, runs[i]);
    while (f->n_heap) {
        Run r = queue_take(f);
        if (!r.is_postponed && is_outdone(f, &r)) {
            r.is_postponed = true;  // it is tried again, in case the shorter runs are no classes
            queue_put(f, r);
        } else if (is_free(f, &r))
            take_run(f, &r);
    }
}

// Sorts and renumbers the classes by their begin.
static void sort_classes(Finder *f)
{
    int32_t *to = arena_array(f->arena, int32_t, f->n_found), n = 1;
    Found *old = arena_array(f->arena, Found, f->n_found);

    memcpy(old, f->found, (size_t)f->n_found * sizeof *old);
    for (int i = 0; i < f->n; i++) {
        int32_t *cls = &f->block[i].cls;
        if (*cls && !to[*cls]) {
            f->found[n] = old[*cls];
            to[*cls] = n++;
        }
        *cls = to[*cls];
    }
}

// ---- the graph in its new order ----

// Labels values without a producer that one iteration alone reads, if the adjacent iteration reads
// another such value at the same position.
static void label_values(const Finder *f, Rewrite *r)
{
    const Graph *g = f->g;

    for (int i = 0; i < f->n; i++) {
        Block b = f->block[i];
        const Node *n = &g->nodes[f->order[i]];
        for (int k = 0; b.cls && k < n->n_in; k++) {
            const Readers *readers = &f->readers[n->in[k]];
            const Found *c = &f->found[b.cls];
            Block last = f->block[readers->last - 1];
            if (value_of(g, n->in[k])->producer || readers->first != i + 1 || last.cls != b.cls ||
                last.iter != b.iter)
                continue;
            int instance = b.iter + 1 < c->n_iter ? i + c->period : i - c->period;
            ValueId other = g->nodes[f->order[instance]].in[k];
            if (other != n->in[k] && !value_of(g, other)->producer)
                value_edit(r->to, r->map[n->in[k]])->block = b;
        }
    }
}

// Clears the numbers that an earlier pass gave to random nodes: they would make instances differ.
static void clear_random(Graph *g)
{
    int site;

    for (NodeId i = 1; i < g->n_nodes; i++)
        if ((site = node_site(&g->nodes[i])))
            g->nodes[i].attr[site].i = g->nodes[i].attr[site + 1].i = 0;
}

// Sets the site of a node that draws random numbers, one per position of a class, and its layer,
// the iteration.
static void number_random(Graph *g, NodeId i, int *n_sites, int *site)
{
    Node *n = &g->nodes[i];
    int at = node_site(n);

    if (!at)
        return;
    if (n->block.iter == 0)
        *site = (*n_sites)++;
    n->attr[at].i = *site;
    n->attr[at + 1].i = n->block.iter;
}

typedef struct SourceKey {
    int64_t key;
    ValueId value;
} SourceKey;

static int compare_sources(const void *a, const void *b)
{
    const SourceKey *x = a, *y = b;

    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->value - y->value;
}

// The sort key of a value without a producer. Inputs, states and the like come first, in their old
// order; parameters, buffers and constants follow in the order of their first readers.
static int64_t source_key(const Finder *f, ValueId v)
{
    ValueKind k = value_of(f->g, v)->kind;
    bool is_ordered = k == VALUE_PARAMETER || k == VALUE_BUFFER || k == VALUE_CONSTANT;
    const Readers *r = &f->readers[v];

    return !is_ordered ? -1 : r->first ? (int64_t)r->first * INT32_MAX + r->slot : INT64_MAX;
}

static void order_sources(const Finder *f, Rewrite *r)
{
    Graph *to = r->to;
    SourceKey *s = arena_array(f->arena, SourceKey, to->n_values);
    Value *old = arena_array(f->arena, Value, to->n_values);
    int n = 0;

    for (ValueId v = 1; v < f->g->n_values; v++)
        if (r->map[v])
            s[n++] = (SourceKey){source_key(f, v), v};
    qsort(s, (size_t)n, sizeof *s, compare_sources);
    memcpy(old, to->values, sizeof *old * (size_t)to->n_values);
    for (int i = 0; i < n; i++) {
        to->values[1 + i] = old[r->map[s[i].value]];
        r->map[s[i].value] = 1 + i;
    }
}

static bool reorder(const Finder *f, Graph *g, Diag *d)
{
    Rewrite r = rewrite_begin(g);
    int *site = arena_array(f->arena, int, f->n + 1), n_sites = 0;

    order_sources(f, &r);
    r.to->n_classes = 1;
    for (int c = 1; c < f->n_found; c++)
        *arena_push(g->arena, r.to->classes, r.to->n_classes, r.to->cap_classes) =
            (BlockClass){f->found[c].name, f->found[c].n_iter};
    for (int i = 0; i < f->n; i++) {
        NodeId made = rewrite_copy(&r, f->order[i], d);
        Block b = f->block[i];
        if (!made)
            return false;
        r.to->nodes[made].block = b;
        number_random(r.to, made, &n_sites, &site[b.cls ? f->found[b.cls].begin + b.pos : i]);
    }
    label_values(f, &r);
    return rewrite_end(&r, d);
}

// ---- the pass ----

// Does the node that overwrites a carried value come after all its readers?
static bool carries_hold(const Finder *f)
{
    const Graph *g = f->g;

    for (int i = 0; i < g->n_carries; i++) {
        NodeId writer = value_of(g, g->carries[i].out)->producer;
        if (writer && f->readers[g->carries[i].in].last > f->position[writer] + 1)
            return false;
    }
    return true;
}

static Finder finder_new(const Graph *g, bool grows)
{
    Finder f = {.g = g, .arena = arena_new(), .grows = grows};

    f.order = canonical_order(f.arena, g, &f.n);
    f.hash = node_hashes(f.arena, g);
    f.position = arena_array(f.arena, int, g->n_nodes);
    f.readers = arena_array(f.arena, Readers, g->n_values);
    f.last_reader = arena_array(f.arena, int, g->n_values);
    f.stand_in = arena_array(f.arena, ValueId, g->n_values);
    f.block = arena_array(f.arena, Block, f.n + 1);
    for (int i = 0; i < f.n; i++)
        f.position[f.order[i]] = i;
    block_find_readers(&f);
    arena_push(f.arena, f.found, f.n_found, f.cap_found);
    return f;
}

bool blocks(Graph *g, Diag *d)
{
    for (int32_t c = 1; c < g->n_classes; c++)
        class_drop(g, c);
    class_compact(g);
    graph_prune(g);
    clear_random(g);
    Finder f = finder_new(g, true);
    find_classes(&f);
    block_grow_out(&f);
    if (!carries_hold(&f)) {  // growing moved a reader after an overwriting node: begin again
        arena_free(f.arena);
        f = finder_new(g, false);
        find_classes(&f);
    }
    sort_classes(&f);
    bool ok = reorder(&f, g, d);
    arena_free(f.arena);
    if (!ok)
        return false;
    graph_number_blocks(g);
    class_drop_unlike(g, "differ", d);
    return true;
}
