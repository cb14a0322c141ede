// Makes a plan from its file. Names must be those of the graph, and texts valid specs.
#include <string.h>

#include "analyzer/sharding/plan_file.h"

typedef struct PlanReading {
    const PlanFile *f;
    const Graph *g;
    Plan *p;
    PlanPins *pins;
    const char **name;  // by ValueId
    Arena *a;
    Diag *d;
} PlanReading;

bool plan_file_check(const PlanFile *f, const Graph *g, const Cluster *c, Diag *d)
{
    uint64_t graph = graph_hash(g), cluster = cluster_hash(c);

    if (f->model_hash != graph)
        diag_error(d,
                   "model_hash is %016" PRIx64 ", expected %016" PRIx64
                   ": the plan was made for another model or by another version of shardcc",
                   f->model_hash, graph);
    if (f->cluster_hash != cluster)
        diag_error(d,
                   "cluster_hash is %016" PRIx64 ", expected %016" PRIx64
                   ": the plan was made for another cluster",
                   f->cluster_hash, cluster);
    return f->model_hash == graph && f->cluster_hash == cluster;
}

// Makes the mesh from the names and sizes of the file, and the links of the cluster.
static bool read_mesh(const PlanReading *x, const Cluster *c)
{
    Mesh named = {.n_axes = x->f->n_axes};
    Text t = {0};

    for (int a = 0; a < named.n_axes; a++) {
        named.name[a] = x->f->axis[a].name;
        named.size[a] = x->f->axis[a].size;
    }
    mesh_print(&named, &t);
    bool ok = mesh_parse(x->a, c, x->f->ranks, t.s, &x->p->mesh, x->d);
    text_free(&t);
    if (ok && x->p->mesh.n_axes != named.n_axes)
        diag_error(x->d, "mesh: expected axis names of letters, digits and '_'");
    return ok && x->p->mesh.n_axes == named.n_axes;
}

static bool check_count(const PlanReading *x, const char *list, int found, int expected)
{
    if (found != expected)
        diag_error(x->d, "%s has %d entries, expected %d as in the graph", list, found, expected);
    return found == expected;
}

static bool check_name(const PlanReading *x, const char *list, int i, const char *found, ValueId v)
{
    const char *expected = printable_text(x->a, x->name[v]);
    bool ok = !strcmp(found, expected);

    if (!ok)
        diag_error(x->d, "%s[%d].name is '%.100s', expected '%.100s' as in the graph", list, i,
                   found, expected);
    return ok;
}

static bool is_pin(const PlanEntry *e) { return e->pin || strcmp(e->spec, e->solved) != 0; }

// Adds a note to an error in an entry, with the entry's name.
static bool in_entry(const PlanReading *x, const char *list, int i, const PlanEntry *e, bool ok)
{
    if (!ok)
        diag_note(x->d, "in  %s[%d], '%.100s'", list, i, e->name);
    return ok;
}

static bool read_value(const PlanReading *x, const PlanEntry *e, ValueId v)
{
    const Mesh *m = &x->p->mesh;
    bool ok = spec_parse(m, value_of(x->g, v), e->spec, &x->p->storage_spec[v], x->d);

    for (int k = 0; k < 3 && ok; k++)
        ok = spec_parse(m, value_of(x->g, v), e->compute_spec[k] ? e->compute_spec[k] : e->spec,
                        &x->p->compute_spec[3 * v + k], x->d);
    return ok;
}

static bool read_values(const PlanReading *x)
{
    ValueId *value;
    int n = plan_file_values(x->a, x->g, &value);
    bool ok = check_count(x, "values", x->f->n_values, n);

    x->pins->value = arena_array(x->a, ValueId, n);
    for (int i = 0; i < n && ok; i++) {
        const PlanEntry *e = &x->f->value[i];
        ValueId v = value[i];
        ok = check_name(x, "values", i, e->name, v) &&
             in_entry(x, "values", i, e, read_value(x, e, v));
        if (is_pin(e))
            x->pins->value[x->pins->n_values++] = v;
    }
    return ok;
}

static bool read_nodes(const PlanReading *x)
{
    NodeId *node;
    int n = plan_file_nodes(x->a, x->g, &node);
    bool ok = check_count(x, "nodes", x->f->n_nodes, n);
    Rule r;

    x->pins->node = arena_array(x->a, NodeId, n);
    for (int i = 0; i < n && ok; i++) {
        const PlanEntry *e = &x->f->node[i];
        NodeId k = node[i];
        node_rule(x->a, x->g, &x->g->nodes[k], &r);
        ok = check_name(x, "nodes", i, e->name, x->g->nodes[k].out[0]) &&
             in_entry(x, "nodes", i, e,
                      strategy_parse(&r, &x->p->mesh, e->spec, &x->p->strategy[k], x->d));
        if (is_pin(e))
            x->pins->node[x->pins->n_nodes++] = k;
    }
    return ok;
}

// Copies specs and strategies from entries to the tied values and nodes.
static void copy_to_tied(const PlanReading *x)
{
    const Graph *g = x->g;
    Plan *p = x->p;
    ValueId *entry = plan_file_entries(x->a, g);
    TiedValues tied = tied_find(x->a, g);

    for (ValueId v = 1; v < g->n_values; v++) {
        p->storage_spec[v] = p->storage_spec[entry[v]];
        for (int k = 0; k < 3; k++)
            p->compute_spec[3 * v + k] = p->compute_spec[3 * entry[v] + k];
    }
    for (NodeId n = 1; n < g->n_nodes; n++)
        p->strategy[n] = p->strategy[tied.node[n]];
}

bool plan_file_read(Arena *a, const PlanFile *f, const Graph *g, const Cluster *c, Plan *p,
                    PlanPins *pins, Diag *d)
{
    const PlanReading x = {f, g, p, pins, graph_names(a, g), a, d};

    *pins = (PlanPins){0};
    *p = (Plan){.storage_spec = arena_array(a, Spec, g->n_values),
                .compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values),
                .strategy = arena_array(a, Strategy, g->n_nodes),
                .recompute = {.rule = recompute_rule(f->recompute_solved)}};
    if (!read_mesh(&x, c) || !read_values(&x) || !read_nodes(&x))
        return false;
    copy_to_tied(&x);
    return pins->n_values || pins->n_nodes || plan_check(g, p, d);
}
