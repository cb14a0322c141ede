// Recomputation in a plan's file: runs of layers and their kernels, by name.
#include <string.h>

#include "analyzer/sharding/plan_file.h"

int plan_keep_make(Arena *a, const Graph *g, const RecomputePolicy *p, PlanKeep **keep)
{
    const char **name = graph_names(a, g);

    *keep = arena_array(a, PlanKeep, p->n_runs);
    for (int i = 0; i < p->n_runs; i++) {
        const KeepRun *r = &p->run[i];
        const char **again = arena_array(a, const char *, r->n_again);
        for (int k = 0; k < r->n_again; k++)
            again[k] = printable_text(a, name[g->nodes[r->again[k]].out[0]]);
        (*keep)[i] = (PlanKeep){r->cls ? printable_text(a, class_key(a, g, r->cls)) : "", r->first,
                                r->n_layers, again, r->n_again};
    }
    return p->n_runs;
}

char *plan_keep_text(Arena *a, const PlanKeep *keep)
{
    Text t = {0};

    if (*keep->cls)
        text_printf(&t, "%s %d to %d:", keep->cls, keep->first, keep->first + keep->layers - 1);
    else
        text_printf(&t, "outside of blocks:");
    for (int i = 0; i < keep->n_again; i++)
        text_printf(&t, "%s %s", i ? "," : "", keep->again[i]);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

bool plan_keeps_equal(Arena *a, const PlanKeep *x, int n, const PlanKeep *y, int m)
{
    for (int i = 0; i < n && n == m; i++)
        if (strcmp(plan_keep_text(a, &x[i]), plan_keep_text(a, &y[i])))
            return false;
    return n == m;
}

typedef struct KeepReading {
    const Graph *g;
    const PlanKeep *entry;
    const char *list;
    int i;  // of the entry
    const char **name;
    Arena *a;
    Diag *d;
} KeepReading;

static bool wrong(const KeepReading *k, const char *member, const char *found, const char *expected)
{
    diag_error(k->d, "%s[%d].%s: '%.100s' %s", k->list, k->i, member, found, expected);
    return false;
}

// The node with this name in the first layer of the entry's class; 0: there is none.
static NodeId find_node(const KeepReading *k, int32_t cls, const char *name)
{
    const Graph *g = k->g;

    for (NodeId n = 1; n < g->n_nodes; n++)
        if (g->nodes[n].block.cls == cls && !g->nodes[n].block.iter &&
            !strcmp(k->name[g->nodes[n].out[0]], name))
            return n;
    return 0;
}

// Sets run->again, in ascending order.
static bool read_again(const KeepReading *k, KeepRun *run)
{
    const PlanKeep *e = k->entry;
    bool *is_again = arena_array(k->a, bool, k->g->n_nodes);
    NodeId *again = arena_array(k->a, NodeId, e->n_again);

    for (int i = 0; i < e->n_again; i++) {
        NodeId n = find_node(k, run->cls, e->again[i]);
        if (!n)
            return wrong(k, "again", e->again[i],
                         run->cls ? "is no node of the block's first layer"
                                  : "is no node outside of blocks");
        if (rerun_problem(k->g, n))
            return wrong(k, "again", e->again[i],
                         arena_string(k->a, "can't run again: it %s", rerun_problem(k->g, n)));
        if (is_again[n])
            return wrong(k, "again", e->again[i], "is there twice");
        is_again[n] = true;
    }
    for (NodeId n = 1; n < k->g->n_nodes; n++)
        if (is_again[n])
            again[run->n_again++] = n;
    run->again = again;
    return true;
}

static bool read_layers(const KeepReading *k, KeepRun *run)
{
    const PlanKeep *e = k->entry;

    while (
        *e->cls && run->cls < k->g->n_classes &&
        (!run->cls || strcmp(printable_text(k->a, class_key(k->a, k->g, run->cls)), e->cls) != 0))
        run->cls++;
    if (run->cls == k->g->n_classes)
        return wrong(k, "class", e->cls, "is no repeated block of the model");
    int length = run->cls ? k->g->classes[run->cls].length : 0;
    if (e->first > length || e->layers > length - e->first || (run->cls && !e->layers)) {
        diag_error(k->d, "%s[%d]: %d layers from %d on, but '%.100s' has %d", k->list, k->i,
                   e->layers, e->first, e->cls, length);
        return false;
    }
    run->first = e->first;
    run->n_layers = e->layers;
    return true;
}

// Inserts a run where it belongs, by class and first layer.
static void insert_run(KeepRun *all, int n, const KeepRun *run)
{
    while (n && (all[n - 1].cls > run->cls ||
                 (all[n - 1].cls == run->cls && all[n - 1].first > run->first))) {
        all[n] = all[n - 1];
        n--;
    }
    all[n] = *run;
}

static bool overlap(const KeepRun *x, const KeepRun *y)
{
    return x->cls == y->cls &&
           (!x->cls || (x->first < y->first + y->n_layers && y->first < x->first + x->n_layers));
}

bool plan_keep_read(Arena *a, const PlanKeep *keep, int n, const char *list, const Graph *g,
                    RecomputePolicy *to, Diag *d)
{
    KeepReading k = {
        .g = g, .list = list, .name = arena_array(a, const char *, g->n_values), .a = a, .d = d};
    const char **name = graph_names(a, g);
    KeepRun *all = arena_array(a, KeepRun, n);

    for (ValueId v = 1; v < g->n_values && n; v++)
        k.name[v] = printable_text(a, name[v]);
    for (k.i = 0; k.i < n; k.i++) {
        KeepRun run = {0};
        k.entry = &keep[k.i];
        if (!read_layers(&k, &run) || !read_again(&k, &run))
            return false;
        for (int i = 0; i < k.i; i++)
            if (overlap(&all[i], &run))
                return wrong(&k, "class", k.entry->cls, "has layers that are in two entries");
        insert_run(all, k.i, &run);
    }
    to->run = all;
    to->n_runs = n;
    return true;
}
