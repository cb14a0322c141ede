// Writes a folder of sources: the program's text, the parts of the runtime that it needs, and a
// Makefile.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/target_text.h"

typedef struct Sources {
    Staging *s;
    const char *runtime;  // the folder they are copied from
    const TargetText *target;
    Map done;  // by path in it: files already copied
    Diag *d;
} Sources;

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && !strcmp(name + n - k, end);
}

// The path after "runtime/" in a line `#include "runtime/…"` at `at`; NULL if it is no such line.
static char *included(Arena *a, const char *at, const char *end)
{
    static const char begin[] = "#include \"runtime/";
    const size_t n = sizeof begin - 1;
    const char *quote;

    if ((size_t)(end - at) < n || memcmp(at, begin, n))
        return NULL;
    quote = memchr(at + n, '"', (size_t)(end - at) - n);
    return quote ? arena_copy(a, at + n, (size_t)(quote - at) - n) : NULL;
}

static bool copy(Sources *x, const char *name);

// Copies a header and, if there is one, the .c of its name, which defines what it declares.
static bool copy_header(Sources *x, const char *name)
{
    char *c = arena_string(x->s->arena, "%.*s.c", (int)strlen(name) - 2, name);
    bool has_c = !access(arena_string(x->s->arena, "%s/%s", x->runtime, c), F_OK);

    return copy(x, name) && (!has_c || copy(x, c));
}

// Copies a file of the runtime and the headers that it includes.
static bool copy(Sources *x, const char *name)
{
    Arena *a = x->s->arena;
    File f;

    if (map_get(&x->done, name))
        return true;
    map_set(&x->done, name, 1);
    if (!file_map(arena_string(a, "%s/%s", x->runtime, name), &f, x->d))
        return false;
    const char *text = (const char *)f.data, *end = text + f.size;
    bool ok =
        out_write(staging_file(x->s, arena_string(a, "runtime/%s", name)), text, f.size, x->d);
    for (const char *line = text; ok && line && line < end;) {
        char *header = included(a, line, end);
        ok = !header || copy_header(x, header);
        line = memchr(line, '\n', (size_t)(end - line));
        line += line != NULL;
    }
    file_unmap(&f);
    return ok;
}

// The folders of the runtime that every program needs whole, "" for the runtime's own. The
// target's folder has the kernels.
static const char *const folders[] = {"", "core", "shared", "comm", "trainer"};

// Either part may be empty.
static char *path_in(Arena *a, const char *folder, const char *name)
{
    return arena_string(a, "%s%s%s", folder, *folder && *name ? "/" : "", name);
}

static bool copy_folder(Sources *x, const char *folder)
{
    Arena *a = x->s->arena;
    char *path = path_in(a, x->runtime, folder);
    DIR *dir = opendir(path);
    bool ok = dir;

    if (!dir)
        diag_error(x->d, "cannot find '%s', a part of shardcc: %s", path, strerror(errno));
    for (struct dirent *e; ok && (e = readdir(dir));)
        if (ends_in(e->d_name, ".c") || ends_in(e->d_name, ".h"))
            ok = copy(x, path_in(a, folder, e->d_name));
    if (dir)
        closedir(dir);
    return ok;
}

static bool make_folders(Sources *x, bool has_ranks)
{
    bool ok = true;

    for (int i = 0; ok && i < COUNT(folders); i++)
        ok = staging_folder(x->s, path_in(x->s->arena, "runtime", folders[i]), x->d);
    return ok && staging_folder(x->s, path_in(x->s->arena, "runtime", x->target->folder), x->d) &&
           (!has_ranks || staging_folder(x->s, "runtime/comm/mpi", x->d));
}

// Copies all files except the kernels.
static bool copy_trainer(Sources *x, bool has_ranks)
{
    bool ok = true;

    for (int i = 0; ok && i < COUNT(folders); i++)
        ok = copy_folder(x, folders[i]);
    return ok && (!has_ranks || copy(x, "comm/mpi/mpi.c"));
}

// Copies a file of the target's kernels.
static bool copy_kernel(Sources *x, const char *name)
{
    return copy(x, arena_string(x->s->arena, "%s/%s.c", x->target->folder, name));
}

static bool copy_listed(Sources *x, const char *const *name)
{
    bool ok = true;

    for (; ok && *name; name++)
        ok = copy_kernel(x, *name);
    return ok;
}

// Copies the kernels that the program calls.
static bool copy_kernels(Sources *x, const Program *p)
{
    bool ok = true;

    for (int k = 0; k < N_SETS; k++)
        for (int i = 0; ok && i < p->set[k].n_items; i++) {
            const Item *it = &p->set[k].items[i];
            if (it->kind == ITEM_GROUP && it->group.has_columns)
                ok = copy_kernel(x, "sums");
            if (ok && it->kind == ITEM_PAD)
                ok = copy_kernel(x, "pad");
            if (ok && it->kind == ITEM_KERNEL)
                ok = copy_kernel(x, it->call.kernel.def->name);
        }
    return ok;
}

// Marks a folder whose files shardcc made, and which it may replace.
static const char mark[] = "# Made by shardcc, as all beside it.";

static const char makefile[] = "%s\n"
                               "# Needs a C compiler%s%s.\n"
                               "CC %s\n"
                               "MARCH ?= %s\n"
                               "CFLAGS = -march=$(MARCH) %s-D_GNU_SOURCE\n"
                               "SOURCES =%s\n\n"
                               "%s: $(SOURCES:.c=.o)\n"
                               "\t$(CC) $(CFLAGS) -o $@ $^%s%s -lpthread -lm\n\n"
                               "%%.o: %%.c\n"
                               "\t$(CC) $(CFLAGS) -I. -Iruntime -c -o $@ $<\n\n"
                               "clean:\n"
                               "\trm -f %s $(SOURCES:.c=.o)\n";

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool write_makefile(Sources *x, const BuildOptions *o)
{
    const TargetText *target = o->target;
    bool has_library = map_get(&x->done, target->library.file);
    Text sources = {0}, make = {0}, flags = {0};

    qsort(x->s->name, (size_t)x->s->n, sizeof *x->s->name, by_name);  // folders before their files
    for (int i = 0; i < x->s->n; i++)
        if (ends_in(x->s->name[i], ".c"))
            text_printf(&sources, " \\\n    %s", x->s->name[i]);
    for (const char *const *flag = target->flags; *flag; flag++)
        text_printf(&flags, "%s ", *flag);
    const char *library = arena_string(x->s->arena, ", %s and %s (Debian: %s)", target->extension,
                                       target->library.name, target->library.package);
    text_printf(&make, makefile, mark,
                has_library ? library : arena_string(x->s->arena, " and %s", target->extension),
                o->has_ranks ? "; MPI (Debian: libopenmpi-dev)" : "",
                o->has_ranks ? "= mpicc" : "?= cc", o->march, flags.s, sources.s, o->name,
                has_library ? " " : "", has_library ? target->library.flag : "", o->name);
    bool ok = out_write(staging_file(x->s, "Makefile"), make.s, make.n, x->d);
    text_free(&sources);
    text_free(&make);
    text_free(&flags);
    return ok;
}

static bool has_mark(const Staging *s)
{
    File f;
    bool ok = file_map(arena_string(s->arena, "%s/Makefile", s->place), &f, NULL) &&
              f.size > sizeof mark && !memcmp(f.data, mark, sizeof mark - 1);

    file_unmap(&f);
    return ok;
}

// Checks that no file of the user is replaced: a folder without the mark must not have files of
// these names.
static bool spares_files(const Staging *s, Diag *d)
{
    bool is_ours = has_mark(s);

    for (int i = 0; i < s->n && !is_ours; i++) {
        const char *path = arena_string(s->arena, "%s/%s", s->place, s->name[i]);
        if (ends_in(path, "/") || access(path, F_OK))
            continue;
        diag_error(d, "cannot write '%s': the file there wasn't made by shardcc", path);
        return false;
    }
    return true;
}

bool build_folder(Staging *s, const Program *p, const Text *c, const BuildOptions *o, Diag *d)
{
    Sources x = {.s = s,
                 .runtime = path_in(s->arena, o->runtime, "runtime"),
                 .target = o->target,
                 .done.arena = s->arena,
                 .d = d};

    return out_write(staging_file(s, arena_string(s->arena, "%s.c", o->name)), c->s, c->n, d) &&
           make_folders(&x, o->has_ranks) && copy_trainer(&x, o->has_ranks) &&
           copy_listed(&x, o->target->files) && copy_kernels(&x, p) &&
           (!o->has_ranks || copy_listed(&x, o->target->collectives)) && write_makefile(&x, o) &&
           spares_files(s, d);
}
