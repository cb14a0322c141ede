// Lists the files of a target's runtime that a program needs.
#include <string.h>

#include "generator/kernel_files.h"

static void add(Arena *a, Words *to, const char *name)
{
    for (int i = 0; i < to->n; i++)
        if (!strcmp(to->word[i], name))
            return;
    words_add(a, to, name);
}

static void add_all(Arena *a, Words *to, const char *const *name)
{
    for (; *name; name++)
        add(a, to, *name);
}

static const char *file_of(const TargetText *t, const char *kernel)
{
    for (const KernelFile *f = t->shared_files; f && f->kernel; f++)
        if (!strcmp(f->kernel, kernel))
            return f->file;
    return kernel;
}

Words kernel_files(Arena *a, const TargetText *t, const Program *p, bool has_ranks)
{
    Words to = {0};

    add_all(a, &to, t->files);
    for (int k = 0; k < N_SETS; k++)
        for (int i = 0; i < p->set[k].n_items; i++) {
            const Item *it = &p->set[k].items[i];
            if (it->kind == ITEM_GROUP && it->group.has_columns)
                add(a, &to, file_of(t, "sums"));
            if (it->kind == ITEM_PAD)
                add(a, &to, file_of(t, "pad"));
            if (it->kind == ITEM_KERNEL && !p->set[k].g->nodes[it->nodes[0]].op->exchange)
                add(a, &to, file_of(t, it->call.kernel.def->name));
        }
    if (has_ranks && t->collectives.table)
        add_all(a, &to, t->collectives.files);
    return to;
}

Words probe_files(Arena *a, const TargetText *t)
{
    Words to = {0};

    add_all(a, &to, t->files);
    add_all(a, &to, t->probe.files);
    add_all(a, &to, t->collectives.files);
    return to;
}
