// Joins small collectives into buckets: collectives of one kind along one axis that can run at one
// position become one, which carries all their values side by side and pays the latency once. Cf.
// the gradient buckets of Li et al., "PyTorch Distributed: Experiences on Accelerating Data
// Parallel Training", 2020.
//
// A reduction can run later, up to its first reader, and so can the gather of its result. Any other
// gather can run sooner, once its input is made. None of them leaves its segment. Collectives that
// can run at one position don't depend on each other. Iterations have equal buckets.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "lower/internal.h"

enum { KEYS = 7 };

// A collective that may join others with the same key.
typedef struct Candidate {
    int key[KEYS];
    NodeId node;
    NodeId ready, end;  // it can run after `ready` and before `end`
} Candidate;

typedef struct Bucket {
    struct Bucket *next;  // of buckets that run at the same position
    const Candidate **candidate;
    int n;
} Bucket;

typedef struct Bucketing {
    const Sharded *from;
    Sharded *to;
    Arena *arena, *scratch;
    Candidate *candidate;
    int n_candidates, cap_candidates;
    Bucket **before;    // by NodeId: the buckets that run before it
    Bucket **of;        // by NodeId: the bucket that it is in
    bool *is_made;      // by NodeId
    Segment **segment;  // by NodeId
    // by the first node of a segment: the segment's nodes before this one are made
    NodeId *next;
    NodeId *stack;  // nodes being made, each needed by the one before it
    int n_stack, cap_stack;
    ValueId *map;  // by ValueId of `from`
} Bucketing;

// ---- candidates ----

static int axis_of(const Node *n) { return (int)n->attr[0].v[0]; }

// The reduction of a collective: SPEC_SUM, SPEC_MAX or SPEC_MIN; 0: the node isn't a reduction.
static int reduction_at(const Sharded *s, NodeId id)
{
    const Node *n = &s->g->nodes[id];
    int at = n->op && n->op->exchange ? s->value[n->in[0]].spec.at[axis_of(n)] : 0;

    return at < SPEC_REPLICATED ? at : 0;
}

// Is each rank's shard of equal size? Padding of a shorter shard couldn't be told from the value
// joined after it.
static bool is_even(const Sharded *s, ValueId v)
{
    RtCut c;

    for (int i = 0; i < value_of(s->g, v)->rank; i++)
        if (value_split(s, v, i, &c) && split_is_uneven(&s->plan->mesh, &c))
            return false;
    return true;
}

// Is the large value `p` small ones, one after the other?
static bool is_row_of(const Value *large, const Value *small, int p)
{
    int dim = 0;

    while (dim < large->rank && large->dim[dim] == small->dim[dim] && large->dim[dim] == 1)
        dim++;
    return value_count(large) == p * value_count(small) && dim < large->rank &&
           large->dim[dim] == p * small->dim[dim];
}

static double share_of(const Sharded *s, NodeId n)
{
    return bucket_share(&s->plan->mesh, s->node[n].kind, axis_of(&s->g->nodes[n]),
                        s->node[n].bytes);
}

static bool can_join(const Sharded *s, NodeId n)
{
    const Node *x = &s->g->nodes[n];
    const ShardedNode *known = &s->node[n];
    const Value *from = in(s->g, x, 0), *to = out(s->g, x);
    int axis = axis_of(x), p = s->plan->mesh.size[axis];

    if (share_of(s, n) >= 1 || !value_count(from) || !is_even(s, x->in[0]) ||
        !is_even(s, x->out[0]))
        return false;
    if (known->kind == RESHARD_ALL_GATHER)
        return is_row_of(to, from, p);
    return known->kind == RESHARD_ALL_REDUCE || is_row_of(from, to, p);
}

// By ValueId, the first reader in the segment that makes it. A value that another segment reads
// must be made when that segment begins.
static NodeId *find_readers(Arena *a, const Graph *g, Segment **segment)
{
    NodeId *reader = arena_array(a, NodeId, g->n_values);

    for (NodeId i = g->n_nodes - 1; i > 0; i--)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            ValueId v = g->nodes[i].in[k];
            NodeId made = value_of(g, v)->producer;
            bool is_other_segment =
                segment[i] && segment[i] != segment[made] && segment[i]->first > made;
            NodeId at = is_other_segment ? segment[i]->first : i;
            if ((!segment[made] || segment[made] == segment[i]) && (!reader[v] || at < reader[v]))
                reader[v] = at;
        }
    return reader;
}

static void find_candidates(Bucketing *b)
{
    const Graph *g = b->from->g;
    Segment **segment = b->segment;
    const bool *is_once = sharded_half_copies(b->scratch, b->from);
    NodeId *reader = find_readers(b->scratch, g, segment);
    bool *can_sink = arena_array(b->scratch, bool, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op->exchange || !can_join(b->from, i))
            continue;
        NodeId made = in(g, n, 0)->producer, read = reader[n->out[0]];
        bool is_in_segment = !segment[i] || segment[i] == segment[made];
        Candidate m = {{(int)b->from->node[i].kind, axis_of(n), reduction_at(b->from, i),
                        (int)in(g, n, 0)->dtype, (int)n->phase, segment[i] ? segment[i]->first : 0,
                        is_once[i]},
                       .node = i,
                       .ready = i,
                       .end = read         ? read
                              : segment[i] ? segment[i]->last + 1
                                           : g->n_nodes};
        can_sink[i] = reduction_at(b->from, i) || (is_in_segment && can_sink[made]);
        if (!can_sink[i]) {
            m.ready = is_in_segment ? made : 0;
            m.end = i;
        }
        *arena_push(b->scratch, b->candidate, b->n_candidates, b->cap_candidates) = m;
    }
}

// ---- buckets ----

static int compare_keys(const Candidate *a, const Candidate *b)
{
    return memcmp(a->key, b->key, sizeof a->key);
}

static int compare_candidates(const void *x, const void *y)
{
    const Candidate *a = x, *b = y;
    int by_key = compare_keys(a, b);

    if (by_key)
        return by_key;
    return a->ready != b->ready ? (a->ready > b->ready) - (a->ready < b->ready)
                                : (a->node > b->node) - (a->node < b->node);
}

// Adds a bucket. It runs when the last of its inputs is made, but not before the first of its
// collectives would have run alone.
static void add_bucket(Bucketing *b, const Candidate **candidate, int n)
{
    Bucket *k = arena_array(b->scratch, Bucket, 1);
    NodeId first = candidate[0]->node, ready = candidate[n - 1]->ready;

    for (int i = 0; i < n; i++) {
        first = candidate[i]->node < first ? candidate[i]->node : first;
        b->of[candidate[i]->node] = k;
    }
    NodeId at = first > ready ? first : ready + 1;
    *k = (Bucket){b->before[at], arena_array(b->scratch, const Candidate *, n), n};
    memcpy(k->candidate, candidate, (size_t)n * sizeof *candidate);
    b->before[at] = k;
}

// Fills buckets with candidates of one key, sorted by `ready`. A bucket takes those that are ready
// before the earliest `end`, until it is full. The others go into later buckets.
static void fill_buckets(Bucketing *b, const Candidate **candidate, int n)
{
    const Candidate **taken = arena_array(b->scratch, const Candidate *, n);

    while (n) {
        NodeId end = candidate[0]->end;
        double full = 0;
        int n_taken = 0, n_left = 0;
        for (int i = 1; i < n; i++)
            end = candidate[i]->end < end ? candidate[i]->end : end;
        for (int i = 0; i < n; i++) {
            if (candidate[i]->ready >= end || full >= 1) {
                candidate[n_left++] = candidate[i];
                continue;
            }
            taken[n_taken++] = candidate[i];
            full += share_of(b->from, candidate[i]->node);
        }
        if (n_taken > 1)
            add_bucket(b, taken, n_taken);
        n = n_left;
    }
}

static void find_buckets(Bucketing *b)
{
    const Candidate **same_key = arena_array(b->scratch, const Candidate *, b->n_candidates);

    if (b->n_candidates)
        qsort(b->candidate, (size_t)b->n_candidates, sizeof *b->candidate, compare_candidates);
    for (int i = 0, n; i < b->n_candidates; i += n) {
        for (n = 0;
             i + n < b->n_candidates && !compare_keys(&b->candidate[i], &b->candidate[i + n]); n++)
            same_key[n] = &b->candidate[i + n];
        fill_buckets(b, same_key, n);
    }
}

// ---- the new graph ----

// Makes `v` the new graph's value for `old`.
static void map_value(Bucketing *b, ValueId old, ValueId v)
{
    const Value *x = value_of(b->from->g, old);
    Value *y = value_edit(b->to->g, v);

    y->name = x->name;
    y->own_rank = x->own_rank;
    memcpy(y->own_dim, x->own_dim, sizeof y->own_dim);
    sharded_note_value(b->arena, b->to, v, b->from->value[old]);
    b->map[old] = v;
}

static void copy_node(Bucketing *b, NodeId id)
{
    const Node *n = &b->from->g->nodes[id];
    ValueId *inputs = arena_array(b->scratch, ValueId, n->n_in);
    Graph *g = b->to->g;

    for (int i = 0; i < n->n_in; i++)
        inputs[i] = b->map[n->in[i]];
    g->phase = n->phase;
    g->block = n->block;
    g->source = n->source;
    ValueId first = graph_node(g, n->op, n->n_in, inputs, n->attr);
    assert(first);
    sharded_note_node(b->arena, b->to, value_of(g, first)->producer, b->from->node[id]);
    for (int i = 0; i < n->n_out; i++)
        map_value(b, n->out[i], graph_output_of(g, first, i));
}

// Notes a value that the whole graph doesn't have. It has the same size on every rank.
static ValueId noted(Bucketing *b, ValueId v)
{
    assert(v);
    sharded_note_value(b->arena, b->to, v, (ShardedValue){.spec = spec_replicated()});
    sharded_note_node(b->arena, b->to, value_of(b->to->g, v)->producer, (ShardedNode){0});
    return v;
}

// Joins the inputs of a bucket's collectives side by side, as `n_rows` rows of shards.
static ValueId make_joined(Bucketing *b, const Bucket *k, int n_rows)
{
    Graph *g = b->to->g;
    ValueId *part = arena_array(b->scratch, ValueId, k->n);

    for (int i = 0; i < k->n; i++) {
        ValueId x = b->from->g->nodes[k->candidate[i]->node].in[0];
        int64_t count = value_count(value_of(b->from->g, x));
        part[i] = noted(b, make_reshape(g, b->map[x], 2, (int64_t[]){n_rows, count / n_rows}));
    }
    return noted(b, make_concat(g, k->n, part, 1));
}

static ValueId make_exchange(Bucketing *b, const Candidate *m, ValueId x)
{
    Graph *g = b->to->g;
    int axis = axis_of(&b->from->g->nodes[m->node]), p = b->from->plan->mesh.size[axis];
    Ranks r = {1, {axis}, {p}};
    ReshardKind kind = b->from->node[m->node].kind;
    int reduction = reduction_at(b->from, m->node);

    if (kind == RESHARD_ALL_GATHER)
        return noted(b, make_all_gather(g, x, &r, 0, p));
    if (kind == RESHARD_REDUCE_SCATTER)
        return noted(b, make_reduce_scatter(g, x, &r, 0, reduction_name(reduction)));
    return noted(b, make_all_reduce(g, x, &r, reduction_name(reduction)));
}

// Notes the bytes and the predicted time of a bucket's collective.
static void note_exchange(Bucketing *b, const Bucket *k, ValueId x, ValueId y)
{
    const Mesh *m = &b->from->plan->mesh;
    const Node *first = &b->from->g->nodes[k->candidate[0]->node];
    ShardedNode *to = &b->to->node[value_of(b->to->g, y)->producer];
    ShardedNode *joined = arena_array(b->arena, ShardedNode, k->n);

    to->kind = b->from->node[k->candidate[0]->node].kind;
    to->n_joined = k->n;
    to->joined = joined;
    for (int i = 0; i < k->n; i++) {
        NodeId n = k->candidate[i]->node;
        joined[i] = b->from->node[n];
        joined[i].of = b->from->value[b->from->g->nodes[n].in[0]].of;
        to->bytes += joined[i].bytes;
    }
    to->picoseconds = reshard_step_picoseconds(m, to->kind, 1U << axis_of(first), (double)to->bytes,
                                               (double)value_bytes(value_of(b->to->g, x)),
                                               (double)value_bytes(value_of(b->to->g, y)));
}

static void make_bucket(Bucketing *b, const Bucket *k)
{
    const Node *first = &b->from->g->nodes[k->candidate[0]->node];
    ReshardKind kind = b->from->node[k->candidate[0]->node].kind;
    int p = b->from->plan->mesh.size[axis_of(first)];
    Graph *g = b->to->g;
    int64_t start[2] = {0}, stride[2] = {1, 1};

    g->phase = first->phase;
    g->block = first->block;
    g->source = first->source;
    ValueId x = make_joined(b, k, kind == RESHARD_REDUCE_SCATTER ? p : 1);
    ValueId y = make_exchange(b, k->candidate[0], x);
    note_exchange(b, k, x, y);
    int64_t n_rows = value_of(g, y)->dim[0];
    for (int i = 0; i < k->n; i++) {
        ValueId old = b->from->g->nodes[k->candidate[i]->node].out[0];
        const Value *of = value_of(b->from->g, old);
        int64_t size[2] = {n_rows, value_count(of) / n_rows};
        ValueId part = noted(b, make_slice(g, y, start, size, stride));
        start[1] += size[1];
        ValueId v = make_reshape(g, part, of->rank, of->dim);
        sharded_note_node(b->arena, b->to, value_of(g, v)->producer, (ShardedNode){0});
        map_value(b, old, v);
    }
}

// ---- order ----

static NodeId unmade_input(const Bucketing *b, NodeId n)
{
    const Graph *g = b->from->g;
    const Node *x = &g->nodes[n];

    for (int i = 0; i < x->n_in; i++)
        if (!b->is_made[value_of(g, x->in[i])->producer])
            return value_of(g, x->in[i])->producer;
    return 0;
}

// The next node or bucket to make among those that the segment makes up to `from`. So all
// iterations make theirs in the same order.
static NodeId first_of_segment(Bucketing *b, NodeId from)
{
    const Segment *segment = b->segment[from];

    if (!segment)
        return from;
    NodeId *n = &b->next[segment->first];
    for (*n = *n ? *n : segment->first; *n <= from; ++*n) {
        for (const Bucket *k = b->before[*n]; k; k = k->next) {
            NodeId first = k->candidate[0]->node;
            if (b->segment[first] == segment && !b->is_made[first])
                return first;
        }
        if (b->segment[*n] == segment && !b->of[*n] && !b->is_made[*n])
            return *n;
    }
    return from;
}

// A node that must be made before node n, or before the nodes joined with it; 0: none.
static NodeId unmade_before(Bucketing *b, NodeId n)
{
    const Bucket *k = b->of[n];
    NodeId from = k ? 0 : unmade_input(b, n);

    for (int i = 0; k && i < k->n && !from; i++)
        from = unmade_input(b, k->candidate[i]->node);
    return from && b->segment[from] != b->segment[n] ? first_of_segment(b, from) : from;
}

// Makes a node, or its bucket, after the nodes that must come before it. Some of these come later
// in the old graph: conversions outside of a loop are where its first iteration reads them.
static void make_node(Bucketing *b, NodeId n)
{
    *arena_push(b->scratch, b->stack, b->n_stack, b->cap_stack) = n;
    while (b->n_stack) {
        NodeId top = b->stack[b->n_stack - 1], from = unmade_before(b, top);
        const Bucket *k = b->of[top];
        assert(b->n_stack < b->from->g->n_nodes);
        if (from && !b->is_made[top]) {
            *arena_push(b->scratch, b->stack, b->n_stack, b->cap_stack) = from;
            continue;
        }
        b->n_stack--;
        if (b->is_made[top])
            continue;
        for (int i = 0; k && i < k->n; i++)
            b->is_made[k->candidate[i]->node] = true;
        b->is_made[top] = true;
        if (k)
            make_bucket(b, k);
        else
            copy_node(b, top);
    }
}

static void add_values(Bucketing *b)
{
    const Graph *g = b->from->g;

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer)
            continue;
        ValueId to = graph_value(b->to->g, x->kind, x->name, x->dtype, x->rank, x->dim);
        *value_edit(b->to->g, to) = *x;
        map_value(b, v, to);
    }
}

Sharded *bucket(Arena *a, const Sharded *s)
{
    Arena *scratch = arena_new();
    const Graph *g = s->g;
    Bucketing b = {.from = s,
                   .to = sharded_new(a, s->whole, s->plan, g->diag),
                   .arena = a,
                   .scratch = scratch,
                   .before = arena_array(scratch, Bucket *, g->n_nodes + 1),
                   .of = arena_array(scratch, Bucket *, g->n_nodes),
                   .is_made = arena_array(scratch, bool, g->n_nodes),
                   .segment = segments_find(scratch, g),
                   .next = arena_array(scratch, NodeId, g->n_nodes),
                   .map = arena_array(scratch, ValueId, g->n_values)};

    b.is_made[0] = true;  // id 0 is no node and needs no making
    find_candidates(&b);
    find_buckets(&b);
    add_values(&b);
    for (NodeId n = 1; n <= g->n_nodes; n++) {
        for (const Bucket *k = b.before[n]; k; k = k->next)
            make_node(&b, k->candidate[0]->node);
        if (n < g->n_nodes && !b.of[n])
            make_node(&b, n);
    }
    sharded_add_outputs(b.to, g, b.map);
    graph_number_blocks(b.to->g);
    arena_free(scratch);
    return b.to;
}
