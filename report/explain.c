// Explains why a value has its spec, in words and numbers.
#include <string.h>

#include "report/report.h"

static const PlanEntry *find(const PlanEntry *e, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(e[i].name, name))
            return &e[i];
    return NULL;
}

static bool unknown(Arena *a, const PlanFile *f, const char *name, Diag *d)
{
    const char **names = arena_array(a, const char *, f->n_values);

    for (int i = 0; i < f->n_values; i++)
        names[i] = f->value[i].name;
    const char *nearest = nearest_name(name, names, f->n_values);
    diag_error(d,
               nearest ? "no value is named '%s' (did you mean '%s'?)" : "no value is named '%s'",
               name, nearest);
    return false;
}

static void print_node(Arena *a, const char *what, const PlanEntry *n)
{
    printf("  %-12s  %s: %s %s, %s, strategy %s, %s a step\n", what, n->name, n->kind, n->type,
           n->phase, n->spec, time_text(a, n->seconds));
}

static void print_collectives(Arena *a, const PlanFile *f, const char *what, const char *name)
{
    for (int i = 0; i < f->n_collectives; i++) {
        const PlanCollective *c = &f->collective[i];
        if (strcmp(c->value, name))
            continue;
        printf("  %-12s  %s along %s in %s", what, c->kind, c->axis, c->phase);
        if (c->before)
            printf(", before %s", c->before);
        printf("%s: %" PRId64 " x %s, %s a step\n", c->bucket ? ", in a bucket" : "", c->times,
               bytes_text(a, (double)c->bytes), time_text(a, c->seconds));
    }
}

// Prints the specs and collectives of a parameter's gradient and of its new value.
static void print_others(Arena *a, const PlanFile *f, const char *name)
{
    for (int i = 0; i < f->n_values; i++) {
        const PlanEntry *e = &f->value[i];
        bool is_gradient = e->gradient && !strcmp(e->gradient, name);
        if (!is_gradient && (!e->over || strcmp(e->over, name)))
            continue;
        printf("  %-12s  %s: %s\n", is_gradient ? "gradient" : "update", e->name, e->spec);
        print_collectives(a, f, "", e->name);
    }
}

static void print_why(Arena *a, const char *what, const PlanEntry *e)
{
    if (strcmp(e->spec, e->solved))
        printf("  %-12s  %s is pinned; the search chose %s\n", what, e->spec, e->solved);
    else if (e->pin)
        printf("  %-12s  %s is pinned\n", what, e->spec);
    printf("  %-12s  %s: with all else fixed, ", what, e->spec);
    if (!e->next)
        printf("no other choice fits\n");
    else if (e->next_seconds > 0)
        printf("the next best is %s, at most %s a step slower\n", e->next,
               time_text(a, e->next_seconds));
    else
        printf("%s takes %s\n", e->next,
               e->next_seconds < 0 ? arena_string(a, "at least %s a step less without overlap",
                                                  time_text(a, -e->next_seconds))
                                   : "no longer");
}

bool explain(Arena *a, const PlanFile *f, const char *name, Diag *d)
{
    const PlanEntry *e = find(f->value, f->n_values, name);
    const PlanEntry *maker = find(f->node, f->n_nodes, name);

    if (!e)
        return unknown(a, f, name, d);
    printf("%s: %s %s", e->name, e->kind, e->type);
    if (e->block)
        printf(", the same in all %d layers of %s", f->block[e->block - 1].layers,
               block_name(a, f, e->block));
    printf("\n  %-12s  %s", "storage spec", e->spec);
    if (e->bytes)
        printf(", %s a rank%s", bytes_text(a, (double)e->bytes), e->block ? " and layer" : "");
    printf("\n  %-12s  %s\n", "compute spec", e->read ? e->read : "the storage spec");
    if (maker)
        print_node(a, "made by", maker);
    for (int i = 0; i < f->n_nodes; i++)
        for (int k = 0; k < f->node[i].n_reads; k++)
            if (!strcmp(f->node[i].reads[k], name)) {
                print_node(a, "read by", &f->node[i]);
                break;
            }
    print_collectives(a, f, "collective", name);
    print_others(a, f, name);
    print_why(a, "storage spec", e);
    if (maker)
        print_why(a, "strategy", maker);
    return true;
}
