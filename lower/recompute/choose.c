// Reads what the user wants to run again, and makes a policy of it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lower/recompute/policies.h"

typedef struct Choosing {
    Arena *a;
    const Graph *g;
    int *layers;     // by class: the first ones, which keep the least; [0]: 1 if the other nodes do
    bool *is_named;  // by class
    Diag *d;
} Choosing;

// ---- texts ----

static bool say_classes(const Choosing *c, const char *name, int n)
{
    Text all = {0};

    for (int32_t k = 1; k < c->g->n_classes; k++)
        text_printf(&all, "%s'%s' (%d layers)", k > 1 ? ", " : "", class_key(c->a, c->g, k),
                    c->g->classes[k].length);
    diag_error(c->d, "--recompute: there is no repeated block '%.*s'; %s %s", n, name,
               all.n ? "there are" : "the model has none", all.n ? all.s : "");
    text_free(&all);
    return false;
}

// Reads CLASS=N, of n letters.
static bool read_layers(Choosing *c, const char *s, int n)
{
    const char *end = s + n, *equals = end;
    int32_t k = 1;

    while (*--equals != '=')
        ;
    int length = (int)(equals - s);
    while (k < c->g->n_classes && (strncmp(class_key(c->a, c->g, k), s, (size_t)length) ||
                                   class_key(c->a, c->g, k)[length]))
        k++;
    if (k == c->g->n_classes)
        return say_classes(c, s, length);
    errno = 0;
    long layers = strtol(equals + 1, NULL, 10);
    if (errno || layers > c->g->classes[k].length || c->is_named[k]) {
        diag_error(c->d,
                   c->is_named[k] ? "--recompute: '%.*s' is given twice"
                                  : "--recompute: '%.*s': the block has %d layers",
                   c->is_named[k] ? length : n, s, c->g->classes[k].length);
        return false;
    }
    c->layers[k] = (int)layers;
    c->is_named[k] = true;
    return true;
}

static void take_all(Choosing *c)
{
    c->layers[0] = 1;
    for (int32_t k = 1; k < c->g->n_classes; k++)
        if (!c->is_named[k])
            c->layers[k] = c->g->classes[k].length;
}

static bool read_text(Choosing *c, const char *s)
{
    while (*s) {
        int n = (int)strcspn(s, ",");
        if (n == 4 && !strncmp(s, "full", 4))
            take_all(c);
        else if (!(n == 4 && !strncmp(s, "none", 4)) && !read_layers(c, s, n))
            return false;
        s += n + (s[n] == ',');
    }
    return true;
}

// ---- the policy ----

bool recompute_choose(Arena *a, const Graph *g, RecomputeRule rule, const char *const *text,
                      int n_texts, const Target *t, RecomputePolicy *to, Diag *d)
{
    Choosing c = {.a = a,
                  .g = g,
                  .layers = arena_array(a, int, g->n_classes),
                  .is_named = arena_array(a, bool, g->n_classes),
                  .d = d};
    KeepRun *run = arena_array(a, KeepRun, g->n_classes);

    *to = (RecomputePolicy){.rule = rule, .run = run};
    for (int i = 0; i < n_texts; i++)
        if (!read_text(&c, text[i]))
            return false;
    const ClassPolicies *classes = n_texts ? recompute_policies(a, g, t, NULL, d) : NULL;
    if (n_texts && !classes)
        return false;
    for (int32_t k = 0; k < g->n_classes && n_texts; k++) {
        const LayerPolicy *least = &classes[k].policy[classes[k].n_policies - 1];
        if (c.layers[k] && (k || least->n_again))
            run[to->n_runs++] = (KeepRun){.cls = k,
                                          .n_layers = k ? c.layers[k] : 0,
                                          .again = least->again,
                                          .n_again = least->n_again};
    }
    return true;
}
