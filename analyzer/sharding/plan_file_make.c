// Makes the entries of a plan's file from a plan.
#include <string.h>

#include "analyzer/sharding/plan_file.h"

const char *const phase_names[] = {"forward", "backward", "update"};

typedef struct Maker {
    const Graph *g;
    const Plan *p;
    const Cluster *cluster;
    Arena *a;
    const char **name;  // by ValueId
    ValueId *entry;
    Traffic traffic;
    ValueId *over;          // by ValueId: the value that it overwrites
    const char **gradient;  // by ValueId: the parameter whose gradient it is
    int64_t *times;         // by first tied node: how often all of them run in a step
} Maker;

char *printable_text(Arena *a, const char *s)
{
    Text t = {0};

    text_quote(&t, s);
    char *plain = arena_copy(a, t.s + 1, t.n - 2);
    text_free(&t);
    return plain;
}

static char *text_taken(Arena *a, Text *t)
{
    char *s = arena_copy(a, t->s ? t->s : "", t->n);

    text_free(t);
    return s;
}

static bool is_entry(const Graph *g, ValueId v) { return !value_block(g, v).iter; }

ValueId *plan_file_entries(Arena *a, const Graph *g)
{
    ValueId *entry = arena_array(a, ValueId, g->n_values);
    // By first tied value: the entry of values without a producer.
    ValueId *kept = arena_array(a, ValueId, g->n_values);
    TiedValues tied = tied_find(a, g);

    for (ValueId v = 1; v < g->n_values; v++)
        if (is_entry(g, v) && !value_of(g, v)->producer)
            kept[tied.value[v]] = v;
    for (ValueId v = 1; v < g->n_values; v++) {
        NodeId n = value_of(g, v)->producer;
        int i = 0;
        while (n && g->nodes[n].out[i] != v)
            i++;
        entry[v] = is_entry(g, v) ? v : n ? g->nodes[tied.node[n]].out[i] : kept[tied.value[v]];
    }
    return entry;
}

int plan_file_values(Arena *a, const Graph *g, ValueId **value)
{
    int n = 0;

    *value = arena_array(a, ValueId, g->n_values);
    for (ValueId v = 1; v < g->n_values; v++)
        if (is_entry(g, v))
            (*value)[n++] = v;
    return n;
}

int plan_file_nodes(Arena *a, const Graph *g, NodeId **node)
{
    int n = 0;

    *node = arena_array(a, NodeId, g->n_nodes);
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (!g->nodes[i].block.iter)
            (*node)[n++] = i;
    return n;
}

static uint64_t hash_text(Text *t)
{
    uint64_t hash = hash_bytes(t->s, t->n, 0);

    text_free(t);
    return hash;
}

uint64_t graph_hash(const Graph *g)
{
    Text t = {0};

    graph_print(g, &t);
    return hash_text(&t);
}

// Plans have exchange_memory themselves, the kind of device has no part in prices, and the rates of
// attention in halves have none in plans of f32, so plans that were made for a cluster before it
// had them are still plans for it.
uint64_t cluster_hash(const Cluster *c)
{
    Text t = {0};

    cluster_print(c, CLUSTER_VERSION_2, &t);
    return hash_text(&t);
}

static void hash_keep(const PlanFile *f, Text *t)
{
    for (int i = 0; i < f->n_keep; i++) {
        text_printf(t, "keep %d %d %s:", f->keep[i].first, f->keep[i].layers, f->keep[i].cls);
        for (int k = 0; k < f->keep[i].n_again; k++)
            text_printf(t, " %s", f->keep[i].again[k]);
        text_printf(t, "\n");
    }
}

static void hash_entries(const PlanEntry *e, int n, Text *t)
{
    for (int i = 0; i < n; i++) {
        text_printf(t, "%s %s", e[i].name, e[i].spec);
        for (int k = 0; k < 3; k++)
            text_printf(t, ", %s", e[i].compute_spec[k] ? e[i].compute_spec[k] : e[i].spec);
        text_printf(t, "\n");
    }
}

uint64_t plan_file_hash(const PlanFile *f)
{
    Text t = {0};

    text_printf(&t, "%" PRIx64 " %" PRIx64 " %s %d %d %s\n", f->model_hash, f->cluster_hash,
                f->target ? f->target : "", f->threads, f->ranks, f->recompute);
    for (int i = 0; i < f->n_axes; i++)
        text_printf(&t, "%s=%d\n", f->axis[i].name, f->axis[i].size);
    hash_keep(f, &t);
    hash_entries(f->value, f->n_values, &t);
    hash_entries(f->node, f->n_nodes, &t);
    return hash_text(&t);
}

// ---- values ----

static const char *type_of(const Maker *m, ValueId v)
{
    Value x = *value_of(m->g, v);
    Text t = {0};

    if (x.own_rank >= 0) {
        x.rank = x.own_rank;
        memcpy(x.dim, x.own_dim, sizeof x.dim);
    }
    value_print_type(&x, &t);
    return text_taken(m->a, &t);
}

static const char *spec_of(const Maker *m, ValueId v, const Spec *s)
{
    Text t = {0};

    spec_print(&m->p->mesh, value_of(m->g, v), s, &t);
    return text_taken(m->a, &t);
}

// By 3 · ValueId + phase: the specs in which readers of that phase need the value, each spec once.
// NULL if all of them need its storage spec.
static const char **find_reads(const Maker *m)
{
    const Graph *g = m->g;
    const char **read = arena_array(m->a, const char *, 3 * (size_t)g->n_values);
    Arena *a = arena_new();

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        Rule r;
        node_rule(a, g, x, &r);
        for (int i = 0; i < x->n_in; i++) {
            int at = 3 * x->in[i] + (int)x->phase;
            Spec s = strategy_spec(&r, &m->p->strategy[n], i);
            if (!x->in[i] || !is_entry(g, x->in[i]) ||
                spec_equal(&s, &m->p->storage_spec[x->in[i]]))
                continue;
            const char *text = spec_of(m, x->in[i], &s);
            if (!read[at])
                read[at] = text;
            else if (!strstr(read[at], text))
                read[at] = arena_string(m->a, "%s %s", read[at], text);
        }
    }
    arena_free(a);
    return read;
}

// "fwd+bwd [-,tp], upd [dp,tp]"
static const char *read_text(const Maker *m, const char *const read[3])
{
    static const char *const names[] = {"fwd", "bwd", "upd"};
    Text t = {0};

    for (int k = 0; k < 3; k++) {
        if (!read[k] || (k && read[k - 1] && !strcmp(read[k], read[k - 1])))
            continue;
        text_printf(&t, "%s%s", t.n ? ", " : "", names[k]);
        for (int l = k + 1; l < 3 && read[l] && !strcmp(read[k], read[l]); l++)
            text_printf(&t, "+%s", names[l]);
        text_printf(&t, " %s", read[k]);
    }
    return t.n ? text_taken(m->a, &t) : NULL;
}

static void make_values(const Maker *m, PlanFile *f)
{
    const Graph *g = m->g;
    const char **read = find_reads(m);
    ValueId *value;

    f->n_values = plan_file_values(m->a, g, &value);
    f->value = arena_array(m->a, PlanEntry, f->n_values);
    for (int i = 0; i < f->n_values; i++) {
        ValueId v = value[i];
        bool is_kept = m->traffic.is_stored[v] && m->traffic.base[v] == v && !m->over[v];
        const char *spec = spec_of(m, v, &m->p->storage_spec[v]);
        f->value[i] = (PlanEntry){
            .name = printable_text(m->a, m->name[v]),
            .kind = value_kind_names[value_of(g, v)->kind],
            .type = type_of(m, v),
            .block = value_block(g, v).cls,
            .spec = spec,
            .solved = spec,
            .over = m->over[v] ? printable_text(m->a, m->name[m->entry[m->over[v]]]) : NULL,
            .gradient = m->gradient[v] ? printable_text(m->a, m->gradient[v]) : NULL,
            .read = read_text(m, read + (size_t)3 * (size_t)v),
            .bytes = is_kept ? spec_bytes(&m->p->mesh, &m->p->storage_spec[v], value_of(g, v)) : 0};
        for (int k = 0; k < 3 && m->p->compute_spec; k++)
            if (!spec_equal(&m->p->compute_spec[3 * v + k], &m->p->storage_spec[v]))
                f->value[i].compute_spec[k] = spec_of(m, v, &m->p->compute_spec[3 * v + k]);
    }
}

// ---- nodes ----

static void make_node(const Maker *m, NodeId n, PlanEntry *e)
{
    const Node *x = &m->g->nodes[n];
    const Strategy *s = &m->p->strategy[n];
    Text rule = {0}, strategy = {0};
    Rule r;

    node_rule(m->a, m->g, x, &r);
    Work whole = node_work(m->g, x);
    Work w = shard_work(m->g, x, &whole, &m->traffic, &r, &m->p->mesh, s);
    rule_print(&r, &rule);
    strategy_print(&r, &m->p->mesh, s, &strategy);
    *e = (PlanEntry){.name = printable_text(m->a, m->name[x->out[0]]),
                     .kind = x->op->name,
                     .type = text_taken(m->a, &rule),
                     .phase = phase_names[x->phase],
                     .block = x->block.cls,
                     .spec = text_taken(m->a, &strategy),
                     .seconds = (double)m->times[n] * shard_seconds(m->cluster, &w)};
    e->solved = e->spec;
    e->reads = arena_array(m->a, const char *, x->n_in);
    for (int i = 0; i < x->n_in; i++)
        if (x->in[i])
            e->reads[e->n_reads++] = printable_text(m->a, m->name[m->entry[x->in[i]]]);
    if (x->source && x->source->scope && *x->source->scope)
        e->module = printable_text(m->a, x->source->scope);
}

static void make_nodes(const Maker *m, PlanFile *f)
{
    NodeId *node;

    f->n_nodes = plan_file_nodes(m->a, m->g, &node);
    f->node = arena_array(m->a, PlanEntry, f->n_nodes);
    for (int i = 0; i < f->n_nodes; i++)
        make_node(m, node[i], &f->node[i]);
}

// ---- the whole ----

static void make_axes(const Maker *m, PlanFile *f)
{
    const Mesh *mesh = &m->p->mesh;

    f->n_axes = mesh->n_axes;
    f->axis = arena_array(m->a, PlanAxis, mesh->n_axes);
    for (int i = 0; i < mesh->n_axes; i++)
        f->axis[i] = (PlanAxis){mesh->name[i], mesh->size[i], mesh_link(m->cluster, mesh, i)};
    f->ranks = mesh_ranks(mesh);
}

static void make_blocks(const Maker *m, PlanFile *f)
{
    const Graph *g = m->g;

    f->n_blocks = g->n_classes ? g->n_classes - 1 : 0;
    f->block = arena_array(m->a, PlanBlock, f->n_blocks);
    for (int i = 0; i < f->n_blocks; i++) {
        const BlockClass *c = &g->classes[i + 1];
        f->block[i] = (PlanBlock){printable_text(m->a, c->name ? c->name : ""), c->length};
    }
}

void plan_file_make(Arena *a, PlanFile *f, const Graph *g, const Cluster *c, const Plan *p,
                    int accumulate)
{
    Maker m = {.g = g,
               .p = p,
               .cluster = c,
               .a = a,
               .name = graph_names(a, g),
               .entry = plan_file_entries(a, g),
               .traffic = traffic_find(a, g),
               .over = arena_array(a, ValueId, g->n_values),
               .gradient = arena_array(a, const char *, g->n_values),
               .times = arena_array(a, int64_t, g->n_nodes)};

    TiedValues tied = tied_find(a, g);
    const int64_t *times = node_times(a, g, accumulate);

    for (int i = 0; i < g->n_carries; i++)
        m.over[g->carries[i].out] = g->carries[i].in;
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            m.gradient[g->outputs[i].value] = g->outputs[i].name;
    for (NodeId n = 1; n < g->n_nodes; n++)
        m.times[tied.node[n]] += times[n];
    *f =
        (PlanFile){.cluster_hash = cluster_hash(c), .recompute = recompute_name(p->recompute.rule)};
    f->recompute_solved = f->recompute;
    make_axes(&m, f);
    make_blocks(&m, f);
    make_values(&m, f);
    make_nodes(&m, f);
}
