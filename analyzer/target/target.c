// Asks the tables of a target.
#include "analyzer/target/target.h"

#include <string.h>

#define TARGET(name, text) &target_##name,
const Target *const target_table[] = {
#include "analyzer/target/targets.def"
    NULL};

const Target *target_of_devices(bool are_gpus)
{
    for (int i = 0; are_gpus && target_table[i]; i++)
        if (target_table[i]->gpus)
            return target_table[i];
    return target_default();
}

const Target *target_find(const char *name)
{
    for (int i = 0; target_table[i]; i++)
        if (!strcmp(target_table[i]->name, name))
            return target_table[i];
    return NULL;
}

char *target_names(Arena *a)
{
    char *names = arena_string(a, "%s", target_table[0]->name);

    for (int i = 1; target_table[i]; i++)
        names = arena_string(a, "%s, %s", names, target_table[i]->name);
    return names;
}

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

int target_row_bytes(const Target *t, const Node *n)
{
    const TargetKernel *kernel = find(t, n->op->name);

    return kernel ? kernel->row_bytes : 0;
}

void target_print(const Target *t, Text *to)
{
    text_printf(to, "%s threads %d", t->name, t->threads);
}

bool target_read(Lexer *l, const Target *t, Target *to)
{
    int64_t threads;

    if (!lexer_word(l, t->name) || !lexer_word(l, "threads") || !lexer_int(l, &threads))
        return false;
    if (threads < 1 || threads > t->threads)
        return lexer_error(l, "%" PRId64 " threads, expected between 1 and %d", threads,
                           t->threads);
    *to = *t;
    to->threads = (int)threads;
    return true;
}
