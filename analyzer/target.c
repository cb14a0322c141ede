// Asks the tables of a target.
#include "analyzer/target.h"

#include <string.h>

static const TargetKernel *find(const Target *t, const char *name)
{
    for (int i = 0; i < t->n_kernels; i++)
        if (!strcmp(t->kernel[i].name, name))
            return &t->kernel[i];
    return NULL;
}

bool target_takes(const Target *t, const Graph *g, const Node *n, const Kernel *k, Diag *d)
{
    const TargetKernel *kernel = find(t, k->def->name);

    if (!kernel)
        return node_error(g, n, d, "the target %s has no kernel %s", t->name, k->def->name);
    if (kernel->takes && !kernel->takes(k))
        return node_error(g, n, d, "the target %s computes it with operands of %s only", t->name,
                          kernel->types);
    return true;
}

int64_t target_workspace(const Target *t, const Kernel *k)
{
    const TargetKernel *kernel = k->def ? find(t, k->def->name) : NULL;

    return kernel && kernel->workspace ? kernel->workspace(k, t->threads) : 0;
}

uint64_t target_channels_last(const Target *t, const Node *n)
{
    const TargetKernel *kernel = find(t, n->op->name);

    return kernel ? kernel->channels_last : 0;
}
