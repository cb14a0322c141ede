// Collects checks that stop a run. Those of equal layers, whose names differ by numbers, are one.
#include <ctype.h>
#include <string.h>

#include "ir/build.h"

static const char *pattern_of(Arena *a, const char *name)
{
    char *s = arena_string(a, "%s", name), *to = s;

    for (const char *from = name; *from; from++)
        if (!isdigit((unsigned char)*from))
            *to++ = *from;
        else if (to == s || to[-1] != '*')
            *to++ = '*';
    *to = 0;
    return s;
}

ValueId *checks_worst(Checks *c, Graph *g, const char *name, OutputRole role, int64_t bound)
{
    const char *pattern = pattern_of(g->arena, name);
    RunCheck *found = NULL;

    for (int i = 0; i < c->n && !found; i++)
        if (c->check[i].role == role && c->check[i].bound == bound &&
            !strcmp(c->check[i].pattern, pattern))
            found = &c->check[i];
    if (!found) {
        found = arena_push(g->arena, c->check, c->n, c->cap);
        *found = (RunCheck){.name = name, .pattern = pattern, .role = role, .bound = bound};
        found->worst = graph_scalar(g, I64, 0);
    }
    found->n++;
    return &found->worst;
}

void checks_give(const Checks *c, Graph *g)
{
    for (int i = 0; i < c->n; i++) {
        const RunCheck *x = &c->check[i];
        graph_output(g, x->n > 1 ? x->pattern : x->name, x->worst, x->role);
        g->outputs[g->n_outputs - 1].bound = x->bound;
    }
}
