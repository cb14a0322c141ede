// The names of the passes, and when they run.
#include <string.h>

#include "compile/internal.h"

static const struct {
    const char *name;
    unsigned needs;
} passes[] = {
#define GRAPH_PASS(name, needs, text) {#name, needs},
#define PLAN_PASS(name, text) {#name},
#include "compile/passes.def"
};

const char *pass_name(int pass) { return pass < COUNT(passes) ? passes[pass].name : NULL; }

int pass_find(const char *name)
{
    int i = COUNT(passes) - 1;

    while (i >= 0 && strcmp(name, passes[i].name))
        i--;
    return i;
}

unsigned pass_needs(int pass) { return passes[pass].needs; }

bool pass_needs_loss(const char *name) { return pass_needs(pass_find(name)) & LOSS; }

bool has_loss(const Graph *g) { return output_of_role(g, OUTPUT_LOSS_SUM); }
