// Prints the text form of a program: its graphs, what their values and nodes hold of whole ones,
// its buffers and its tables of tensors.
#include "lower/text/text.h"

// ---- graphs ----

// The value that lowering copied to make `copy`.
static ValueId copied_value(const Set *s, ValueId copy)
{
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_COPY && s->items[i].operands[1].base == copy)
            return s->items[i].operands[0].value;
    return 0;
}

static void print_copies(const Printer *r)
{
    for (ValueId v = 1; v < r->s->g->n_values; v++) {
        const Value *x = value_of(r->s->g, v);
        if (x->producer || x->kind != VALUE_ACTIVATION)
            continue;
        text_printf(r->t, "copy");
        print_value_name(r, v);
        text_printf(r->t, " of");
        print_value_name(r, copied_value(r->s, v));
        text_printf(r->t, "\n");
    }
}

// ---- ranks ----

static void print_strategies(const Printer *r, const char **whole)
{
    const Sharded *s = r->s->sharded;
    const Spec none = spec_replicated();
    Arena *a = arena_new();

    for (NodeId n = 1; n < s->whole->n_nodes; n++) {
        const Node *x = &s->whole->nodes[n];
        Text t = {0};
        Rule rule;
        if (spec_equal(&s->plan->strategy[n], &none))
            continue;
        node_rule(a, s->whole, x, &rule);
        strategy_print(&rule, &s->plan->mesh, &s->plan->strategy[n], &t);
        text_printf(r->t, "strategy ");
        text_name(r->t, whole[x->out[0]]);
        text_printf(r->t, " ");
        text_quote(r->t, t.s);
        text_printf(r->t, "\n");
        text_free(&t);
    }
    arena_free(a);
}

static void print_shards(const Printer *r, const char **whole)
{
    const Sharded *s = r->s->sharded;

    for (ValueId v = 1; v < s->n_values; v++) {
        const ShardedValue *x = &s->value[v];
        Text t = {0};
        if (!x->of)
            continue;
        spec_print(&s->plan->mesh, value_of(s->whole, x->of), &x->spec, &t);
        text_printf(r->t, "shard");
        print_value_name(r, v);
        text_printf(r->t, " of ");
        text_name(r->t, whole[x->of]);
        text_printf(r->t, " ");
        text_quote(r->t, t.s);
        text_printf(r->t, "\n");
        text_free(&t);
    }
}

NodeId default_source(const Sharded *s, NodeId n)
{
    return value_of(s->whole, s->value[s->g->nodes[n].out[0]].of)->producer;
}

// Prints what a node of a split graph does, unless it computes a shard of the node that makes what
// its result holds.
static void print_sharded_nodes(const Printer *r, const char **whole)
{
    const Sharded *s = r->s->sharded;

    for (NodeId n = 1; n < s->n_nodes; n++) {
        const ShardedNode *x = &s->node[n];
        bool is_exchange = !x->of && (x->kind || x->bytes || x->picoseconds || x->n_joined);
        if (x->of == default_source(s, n) && !is_exchange)
            continue;
        text_printf(r->t, x->of ? "node" : is_exchange ? "exchange" : "pack");
        print_value_name(r, s->g->nodes[n].out[0]);
        if (x->of) {
            text_printf(r->t, " of ");
            text_name(r->t, whole[s->whole->nodes[x->of].out[0]]);
        } else if (is_exchange) {
            text_printf(r->t, " %s bytes %" PRId64 " picoseconds %" PRId64, reshard_names[x->kind],
                        x->bytes, x->picoseconds);
            if (x->n_joined)
                text_printf(r->t, " joined %d", x->n_joined);
        }
        text_printf(r->t, "\n");
    }
}

static void print_set(const Printer *r)
{
    const Sharded *s = r->s->sharded;
    Arena *a = arena_new();

    text_printf(r->t, "%s\n", set_names[r->s - r->p->set]);
    if (s)
        graph_print(s->whole, r->t);
    graph_print(r->s->g, r->t);
    if (s) {
        const char **whole = graph_names(a, s->whole);
        print_strategies(r, whole);
        print_shards(r, whole);
        print_sharded_nodes(r, whole);
    }
    print_copies(r);
    arena_free(a);
}

// ---- buffers ----

// Prints the offset of value v in its buffer, which all its instances share.
static void print_storage(const Printer *r, ValueId v)
{
    const Storage *st = &r->s->storage[v];

    print_value_name(r, v);
    if (st->offset)
        text_printf(r->t, "+%" PRId64, st->offset);
    if (st->step)
        text_printf(r->t, " step %" PRId64, st->step);
    if (st->ring)
        text_printf(r->t, " ring %d", st->ring);
    if (st->row)
        text_printf(r->t, " row %" PRId64, st->row);
    if (st->instance)
        text_printf(r->t, " instance %d", st->instance);
}

// Prints the values of a set that lie in buffer i, each block value once. The one that the buffer
// was made for is the first.
static void print_values(const Printer *r, int i)
{
    const Buffer *b = &r->p->buffers[i];
    bool is_of_set = &r->p->set[b->set] == r->s;
    const char *before = is_of_set ? NULL : set_names[r->s - r->p->set];

    if (is_of_set && b->value)
        print_storage(r, b->value);
    for (ValueId v = 1; v < r->s->g->n_values; v++) {
        Block block = value_block(r->s->g, v);
        if (r->s->storage[v].buffer != i || block.iter || (is_of_set && v == b->value))
            continue;
        if (before)
            text_printf(r->t, " %s", before);
        before = NULL;
        print_storage(r, v);
    }
}

// Prints the offset of a buffer, the items between which it is live, and the values in it.
static void print_buffer(const Printer *r, int i)
{
    const Program *p = r->p;
    const Buffer *b = &p->buffers[i];
    Text *t = r->t;

    text_printf(t, "buffer %d %s @%" PRId64 " %" PRId64 " %s", r->number[i],
                buffer_kind_names[b->kind], b->offset, b->bytes, set_names[b->set]);
    if (b->kind != BUFFER_PERSISTENT && b->first >= 0)
        text_printf(t, " live %d to %d", b->first, b->last);
    if (b->n_instances > 1)
        text_printf(t, " x %" PRId64, b->n_instances);
    if (b->pool)
        text_printf(t, " pool %s", pool_names[b->pool]);
    if (b->pool && b->pool != POOL_KEPT)
        text_printf(t, " stage %d%s", b->stage,
                    b->stage_step > 0   ? " up"
                    : b->stage_step < 0 ? " down"
                                        : "");
    if (b->slots.bytes)
        text_printf(t, " slots %" PRId64, b->slots.bytes);
    if (b->slots.taken)
        text_printf(t, " taken %d", b->slots.taken - 1);
    if (b->slots.freed)
        text_printf(t, " freed %d", b->slots.freed - 1);
    if (b->value)
        text_printf(t, ":");
    for (int k = 0; k < N_SETS; k++)
        if (b->value && p->set[(b->set + k) % N_SETS].g)
            print_values(r - b->set + (b->set + k) % N_SETS, i);
    text_printf(t, "\n");
}

// ---- tensors ----

static void print_tensors(const Printer *r, const TensorTable *table)
{
    for (int i = 0; i < table->n; i++) {
        const TensorEntry *e = &table->entry[i];
        const Printer *of = r + e->set;
        text_printf(r->t, "tensor %s %s", set_names[e->set], tensor_role_names[e->role]);
        for (int k = 0; k < e->n; k++) {
            if (e->role >= RT_OUTPUT) {
                text_printf(r->t, " ");
                text_quote(r->t, e->name[k]);
            }
            print_value_name(of, e->value[k]);
        }
        text_printf(r->t, "%s\n", e->is_for_loss ? " loss" : "");
    }
}

// Numbers the buffers that are in use. Those that have been merged into others have no bytes.
static int *number_buffers(Arena *a, const Program *p)
{
    int *number = arena_array(a, int, p->n_buffers), n = 0;

    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].bytes)
            number[i] = ++n;
    return number;
}

// ---- the whole ----

static void print_head(const Program *p, Text *t)
{
    text_printf(t, "program ");
    target_print(p->target, t);
    text_printf(t, " arena %" PRId64 " bound %" PRId64, p->arena_bytes, p->bound);
    if (p->accumulate > 1)
        text_printf(t, " accumulate %d", p->accumulate);
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].sharded) {
            Text mesh = {0};
            mesh_print(&p->set[i].sharded->plan->mesh, &mesh);
            text_printf(t, " mesh ");
            text_quote(t, mesh.s);
            text_free(&mesh);
            break;
        }
    if (p->plan_hash)
        text_printf(t, " plan \"%016" PRIx64 "\"", p->plan_hash);
    text_printf(t, "\n");
}

void program_print(const Program *p, Text *t)
{
    Printer r[N_SETS];
    Arena *a = arena_new();
    int *number = number_buffers(a, p);

    print_head(p, t);
    for (int i = 0; i < N_SETS; i++) {
        const Graph *g = p->set[i].g;
        r[i] = (Printer){p, &p->set[i], g ? graph_names(a, g) : NULL, number, t};
        if (g)
            print_set(&r[i]);
    }
    for (int i = 1; i < p->n_buffers; i++)
        if (number[i])
            print_buffer(&r[p->buffers[i].set], i);
    print_tensors(r, &p->tensors);
    for (int i = 0; i < N_SETS; i++)
        print_tensors(r, &p->set[i].tensors);
    for (int i = 0; i < N_SETS; i++)
        for (int k = 0; k < p->set[i].n_functions; k++)
            print_function(&r[i], &p->set[i].functions[k]);
    arena_free(a);
}
