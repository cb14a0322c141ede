// Splits a graph into one text for all ranks: each node works on its shard, and collectives between
// nodes reshard values from their storage spec to the spec that a node needs. Cf. GSPMD (Xu et al.
// 2021), section 4.
#include <assert.h>
#include <string.h>

#include "ir/build.h"
#include "lower/internal.h"

// A converted value, for all who read it in one phase and iteration. Readers in a block share it if
// they do in every iteration: inputs that are the same value in their iteration must also be so in
// the first, second and last iteration.
typedef struct Conversion {
    struct Conversion *next;
    Spec spec;
    Phase phase;
    Block block;
    InputSources sources;
    ValueId value;
} Conversion;

typedef struct Partition {
    const Graph *from;
    const Plan *plan;
    Sharded *to;
    Arena *arena, *scratch;
    Resharder *reshard[2];     // [1]: of values that join buckets
    bool *is_bucketed;         // by ValueId of `from`
    TiedValues tied;           // of `from`
    ValueId *stored;           // by ValueId of `from`: its shard in the storage spec
    Conversion **conversions;  // by ValueId of `from`: its shards in other specs
} Partition;

// ---- appending ----

static Graph *graph_of(Partition *p) { return p->to->g; }

void sharded_note_value(Arena *a, Sharded *s, ValueId v, ShardedValue known)
{
    assert(v == s->n_values);
    *arena_push(a, s->value, s->n_values, s->cap_values) = known;
}

void sharded_note_node(Arena *a, Sharded *s, NodeId n, ShardedNode known)
{
    assert(n == s->n_nodes);
    *arena_push(a, s->node, s->n_nodes, s->cap_nodes) = known;
}

static void note_value(Partition *p, ValueId v, ValueId of, const Spec *spec)
{
    sharded_note_value(p->arena, p->to, v, (ShardedValue){of, *spec});
}

static void note_node(Partition *p, NodeId n, NodeId of, const Rule *r)
{
    int64_t *size = arena_array(p->arena, int64_t, r->n_factors);

    memcpy(size, r->size, (size_t)r->n_factors * sizeof *size);
    sharded_note_node(p->arena, p->to, n, (ShardedNode){of, r->n_factors, size});
}

// ---- conversions ----

static const char *const reductions[] = {"sum", "max", "min"};

const char *reduction_name(int at) { return reductions[SPEC_SUM - at]; }

// The node of a reshard step from `x`, which holds `of`.
static ValueId make_reshard_step(Partition *p, ValueId x, const Value *of, const ReshardStep *s)
{
    const Mesh *m = &p->plan->mesh;
    Ranks r = {1, {s->axis}, {m->size[s->axis]}};
    Graph *g = graph_of(p);
    int from = s->from_dim, to = s->to_dim;
    int64_t size = from >= 0 ? spec_chunk(m, &s->after, from, of->dim[from]) : 0;

    switch (s->kind) {
    case RESHARD_ALL_GATHER:
        return make_all_gather(g, x, &r, from, size);
    case RESHARD_SLICE:
        return make_shard(g, x, &r, to);
    case RESHARD_ALL_TO_ALL:
        return make_all_to_all(g, x, &r, from, to, size);
    case RESHARD_ALL_REDUCE:
        return make_all_reduce(g, x, &r, reduction_name(from));
    case RESHARD_REDUCE_SCATTER:
        return make_reduce_scatter(g, x, &r, to, reduction_name(from));
    case RESHARD_MASK:
        return make_keep_one(g, x, &r, reduction_name(to));
    default:
        r = (Ranks){2, {s->axis, s->other}, {m->size[s->axis], m->size[s->other]}};
        return make_permute(g, x, &r);
    }
}

// Reshards `x` to the spec `to` along the path that is fastest for values like `like`, one of
// `from`, in the graph's current phase and block.
static ValueId reshard_value(Partition *p, ValueId x, const Spec *to, ValueId like)
{
    ShardedValue known = p->to->value[x];
    const Value *of = value_of(p->from, known.of);
    const ReshardPath *path;

    if (spec_equal(&known.spec, to))
        return x;
    Resharder *l = p->reshard[p->is_bucketed[like]];
    reshard_paths(l, of, known.spec, *to, &path);
    ReshardStep *step = arena_array(p->arena, ReshardStep, path->n_steps);
    reshard_path_steps(l, of, known.spec, *to, path, step);
    for (int i = 0; i < path->n_steps; i++, step++) {
        x = make_reshard_step(p, x, of, step);
        assert(x);
        note_value(p, x, known.of, &step->after);
        sharded_note_node(p->arena, p->to, value_of(graph_of(p), x)->producer,
                          (ShardedNode){.kind = step->kind,
                                        .bytes = step->bytes,
                                        .planned_picoseconds = step->picoseconds,
                                        .picoseconds = step->picoseconds + step->bucket_saving});
    }
    return x;
}

// ---- operands ----

static ValueId find_conversion(const Partition *p, ValueId v, const Conversion *like)
{
    for (const Conversion *c = p->conversions[v]; c; c = c->next)
        if (spec_equal(&c->spec, &like->spec) && c->phase == like->phase &&
            is_same_block(c->block, like->block) &&
            !memcmp(&c->sources, &like->sources, sizeof c->sources))
            return c->value;
    return 0;
}

// Value `v`, stored as `x`, in the spec that `like` says. Makes the conversion unless it was made
// before, as for the value `source`. If `x` has that spec it stays: other readers may have a copy
// that was resharded back to it.
static ValueId converted(Partition *p, ValueId v, ValueId x, const Conversion *like, ValueId source)
{
    if (spec_equal(&p->to->value[x].spec, &like->spec))
        return x;
    ValueId found = find_conversion(p, v, like);
    Conversion *c;

    if (found)
        return found;
    c = arena_array(p->scratch, Conversion, 1);
    *c = *like;
    graph_of(p)->phase = like->phase;
    graph_of(p)->block = like->block;
    c->value = reshard_value(p, x, &like->spec, source);
    c->next = p->conversions[v];
    p->conversions[v] = c;
    return c->value;
}

// Input i of a node in the spec `need`, through the compute spec of its phase. A value that all
// iterations of a block read is converted once, outside of the block. A value from outside that
// only the first (or last) iteration reads is first resharded to the storage spec of the value that
// the others read, so that iterations stay alike.
static ValueId operand(Partition *p, NodeId id, int i, const Spec *need)
{
    const Node *n = &p->from->nodes[id];
    ValueId v = n->in[i], source = tied_input_value(p->from, &p->tied, id, i), x = p->stored[v];
    InputSources sources = tied_input_sources(p->from, &p->tied, id, i);
    Conversion like = {.phase = n->phase, .spec = p->plan->storage_spec[source]};

    if (!sources_are_equal(sources)) {
        x = converted(p, v, x, &like, v);
        like.block = n->block;
        like.sources = sources;
    }
    if (p->plan->compute_spec)
        like.spec = p->plan->compute_spec[3 * source + (int)n->phase];
    x = converted(p, v, x, &like, source);
    like.spec = *need;
    return converted(p, v, x, &like, source);
}

// ---- nodes ----

void localise_node(Arena *a, const Node *n, const Rule *r, const Mesh *m, const Strategy *s,
                   Attr *attr)
{
    int64_t size[MAX_FACTORS];

    memcpy(attr, n->attr, sizeof n->attr);
    for (int f = 0; f < r->n_factors; f++)
        size[f] = spec_chunk(m, s, f, r->size[f]);
    if (n->op->localise)
        n->op->localise(a, n, r, size, attr);
}

// Does the node round parts to halves, for ranks to add them up, where there are no parts? Or does
// it widen what wasn't rounded?
static bool is_needless(const Partition *p, NodeId id, const Rule *r, const ValueId *inputs)
{
    const Node *n = &p->from->nodes[id];
    Spec made = strategy_spec(r, &p->plan->strategy[id], n->n_in);

    if (n->n_in != 1 || !n->op->is_elementwise)
        return false;
    DType from = in(p->from, n, 0)->dtype, to = out(p->from, n)->dtype;
    if (dtype_is_half(to))
        return from == F32 && r->joint && spec_partial(&made) != SPEC_SUM;
    return dtype_is_half(from) && to == value_of(p->to->g, inputs[0])->dtype;
}

// Stores an output of a node, which is `x` in the spec that the node makes.
static void store(Partition *p, ValueId v, ValueId x)
{
    p->stored[v] = reshard_value(p, x, &p->plan->storage_spec[v], v);
}

static void add_node(Partition *p, NodeId id)
{
    const Node *n = &p->from->nodes[id];
    const Strategy *s = &p->plan->strategy[id];
    Graph *g = graph_of(p);
    ValueId *inputs = arena_array(p->scratch, ValueId, n->n_in);
    Attr attr[MAX_ATTRS];
    Rule r;

    node_rule(p->scratch, p->from, n, &r);
    g->source = n->source;
    for (int i = 0; i < n->n_in; i++) {
        Spec need = strategy_spec(&r, s, i);
        inputs[i] = n->in[i] ? operand(p, id, i, &need) : 0;
    }
    g->phase = n->phase;
    g->block = n->block;
    if (is_needless(p, id, &r, inputs)) {
        store(p, n->out[0], inputs[0]);
        return;
    }
    localise_node(p->scratch, n, &r, &p->plan->mesh, s, attr);
    ValueId first = graph_node(g, n->op, n->n_in, inputs, attr);
    assert(first);
    note_node(p, value_of(g, first)->producer, id, &r);
    for (int i = 0; i < n->n_out; i++) {
        Spec made = strategy_spec(&r, s, n->n_in + i);
        note_value(p, graph_output_of(g, first, i), n->out[i], &made);
    }
    for (int i = 0; i < n->n_out; i++) {
        store(p, n->out[i], graph_output_of(g, first, i));
        value_edit(g, p->stored[n->out[i]])->name = value_of(p->from, n->out[i])->name;
    }
}

// ---- values and outputs ----

// Adds a value without producer. Its own shape is the whole one's, which a shard doesn't have.
static void add_value(Partition *p, ValueId id)
{
    const Value *x = value_of(p->from, id);
    Value shard = *x;
    bool is_split = false;

    for (int i = 0; i < x->rank; i++) {
        shard.dim[i] = spec_chunk(&p->plan->mesh, &p->plan->storage_spec[id], i, x->dim[i]);
        is_split |= shard.dim[i] != x->dim[i];
    }
    if (is_split)
        shard.own_rank = -1;
    ValueId v = graph_value(graph_of(p), x->kind, x->name, x->dtype, x->rank, shard.dim);
    *value_edit(graph_of(p), v) = shard;
    note_value(p, v, id, &p->plan->storage_spec[id]);
    p->stored[id] = v;
}

void sharded_add_outputs(Sharded *s, const Graph *from, const ValueId *map)
{
    for (int i = 0; i < from->n_outputs; i++)
        graph_output_like(s->g, &from->outputs[i], map[from->outputs[i].value]);
    for (int i = 0; i < from->n_carries; i++)
        graph_carry(s->g, map[from->carries[i].in], map[from->carries[i].out],
                    from->carries[i].scope);
}

Sharded *sharded_new(Arena *a, const Graph *whole, const Plan *plan, Diag *d)
{
    Sharded *s = arena_array(a, Sharded, 1);

    s->whole = whole;
    s->plan = plan;
    s->g = graph_new(a, whole->name);
    s->g->training = whole->training;
    s->g->diag = d;
    for (int i = 1; i < whole->n_classes; i++)
        *arena_push(a, s->g->classes, s->g->n_classes, s->g->cap_classes) = whole->classes[i];
    *arena_push(a, s->value, s->n_values, s->cap_values) = (ShardedValue){0};
    *arena_push(a, s->node, s->n_nodes, s->cap_nodes) = (ShardedNode){0};
    return s;
}

Sharded *partition(Arena *a, const Graph *g, const Plan *plan, Diag *d)
{
    if (!plan_check(g, plan, d))
        return NULL;
    Arena *scratch = arena_new();
    Partition p = {.from = g,
                   .plan = plan,
                   .to = sharded_new(a, g, plan, d),
                   .arena = a,
                   .scratch = scratch,
                   .reshard = {resharder_new(scratch, &plan->mesh),
                               resharder_new_bucketed(scratch, &plan->mesh)},
                   .tied = tied_find(scratch, g),
                   .stored = arena_array(scratch, ValueId, g->n_values),
                   .conversions = arena_array(scratch, Conversion *, g->n_values)};

    for (int i = 0; i < COUNT(p.reshard); i++)
        resharder_count(p.reshard[i], g->budget);
    p.is_bucketed = values_bucketed(scratch, g, &p.tied);
    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            add_value(&p, v);
    for (NodeId n = 1; n < g->n_nodes; n++)
        add_node(&p, n);
    sharded_add_outputs(p.to, g, p.stored);
    graph_number_blocks(p.to->g);
    arena_free(scratch);
    return p.to;
}

// ---- shards of ranks ----

void sharded_dims(const Sharded *s, ValueId v, int rank, int64_t *dim)
{
    const ShardedValue *x = &s->value[v];
    const Value *of = x->of ? value_of(s->whole, x->of) : value_of(s->g, v);
    int64_t offset;

    for (int i = 0; i < of->rank; i++)
        spec_shard(&s->plan->mesh, &x->spec, i, of->dim[i], rank, &offset, &dim[i]);
}

static bool find_split(const Spec *s, int dim, int64_t whole, RtCut *c)
{
    *c = (RtCut){.whole = whole};
    c->n_axes = spec_axes(s, dim, c->axis);
    return c->n_axes > 0;
}

bool node_split(const Sharded *s, NodeId n, int factor, RtCut *c)
{
    const ShardedNode *x = &s->node[n];

    return x->of && find_split(&s->plan->strategy[x->of], factor, x->size[factor], c);
}

bool value_split(const Sharded *s, ValueId v, int dim, RtCut *c)
{
    const ShardedValue *x = &s->value[v];

    return x->of && find_split(&x->spec, dim, value_of(s->whole, x->of)->dim[dim], c);
}

bool split_is_uneven(const Mesh *m, const RtCut *c)
{
    int64_t shards = 1;

    for (int i = 0; i < c->n_axes; i++)
        shards *= m->size[c->axis[i]];
    return c->whole % shards != 0;
}

static bool has_work(const Sharded *s, NodeId n, int rank)
{
    const ShardedNode *x = &s->node[n];
    int64_t offset, extent = x->of != 0;

    for (int f = 0; f < x->n_factors && extent; f++)
        spec_shard(&s->plan->mesh, &s->plan->strategy[x->of], f, x->size[f], rank, &offset,
                   &extent);
    return extent;
}

int sharded_idle(const Sharded *s)
{
    int ranks = mesh_ranks(&s->plan->mesh), idle = 0;

    for (int rank = 0; rank < ranks; rank++) {
        bool works = false;
        for (NodeId n = 1; n < s->n_nodes && !works; n++)
            works = s->g->nodes[n].op->is_product && has_work(s, n, rank);
        idle += !works;
    }
    return idle < ranks ? idle : 0;
}

void sharded_node(const Sharded *s, NodeId n, int rank, NodeShard *p)
{
    const ShardedNode *x = &s->node[n];
    int64_t extent;

    for (int f = 0; f < x->n_factors; f++) {
        p->whole[f] = x->size[f];
        spec_shard(&s->plan->mesh, &s->plan->strategy[x->of], f, x->size[f], rank, &p->offset[f],
                   &extent);
    }
}
