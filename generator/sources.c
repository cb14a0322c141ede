// Writes a folder of sources: the program's text, the parts of the runtime that it needs, and a
// Makefile.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/compilers.h"
#include "generator/kernel_files.h"

typedef struct Sources {
    Staging *s;
    const Program *p;
    const char *runtime;  // the folder they are copied from
    const TargetText *target;
    const char *transport;  // its folder; NULL: the program has one rank
    Map done;               // by path in it: files already copied
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

// Copies all files of the runtime that a text includes.
static bool copy_included(Sources *x, const char *text, size_t n)
{
    const char *end = text + n;
    bool ok = true;

    for (const char *line = text; ok && line && line < end;) {
        char *header = included(x->s->arena, line, end);
        ok = !header || copy_header(x, header);
        line = memchr(line, '\n', (size_t)(end - line));
        line += line != NULL;
    }
    return ok;
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
    const char *text = (const char *)f.data;
    bool ok =
        out_write(staging_file(x->s, arena_string(a, "runtime/%s", name)), text, f.size, x->d) &&
        copy_included(x, text, f.size);
    file_unmap(&f);
    return ok;
}

// The folders of the runtime that every program needs whole, "" for the runtime's own. The
// target's folder has the kernels.
static const char *const folders[] = {"", "core", "shared", "comm", "trainer"};

// The folder that programs of several ranks need in addition to their transport's.
static const char exchange[] = "exchange";

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

static bool make_folder(Sources *x, const char *folder)
{
    return staging_folder(x->s, path_in(x->s->arena, "runtime", folder), x->d);
}

static bool make_folders(Sources *x)
{
    bool ok = true;

    for (int i = 0; ok && i < COUNT(folders); i++)
        ok = make_folder(x, folders[i]);
    return ok && make_folder(x, x->target->folder) &&
           (!x->transport || (make_folder(x, exchange) && make_folder(x, x->transport)));
}

// Copies all files except the kernels.
static bool copy_trainer(Sources *x)
{
    bool ok = true;

    for (int i = 0; ok && i < COUNT(folders); i++)
        ok = copy_folder(x, folders[i]);
    return ok && (!x->transport || (copy_folder(x, exchange) && copy_folder(x, x->transport)));
}

// Copies the target's files that the program needs, and the kernels' text of the same name.
static bool copy_kernels(Sources *x)
{
    Words files = kernel_files(x->s->arena, x->target, x->p, x->transport);
    const char *ending = x->p->target->kernels_ending;
    bool ok = true;

    for (int i = 0; ok && i < files.n; i++) {
        char *path = path_in(x->s->arena, x->target->folder, files.word[i]);
        char *kernels = ending ? arena_string(x->s->arena, "%s.%s", path, ending) : NULL;
        bool has_kernels = kernels && !access(path_in(x->s->arena, x->runtime, kernels), F_OK);
        ok = copy(x, arena_string(x->s->arena, "%s.c", path)) && (!has_kernels || copy(x, kernels));
    }
    return ok;
}

// Marks a folder whose files shardcc made, and which it may replace.
static const char mark[] = "# Made by shardcc, as all beside it.";

static const char makefile[] = "%s\n"
                               "# Needs a C compiler%s%s.\n"
                               "CC %s\n"
                               "MARCH ?= %s\n"
                               "%s"
                               "CFLAGS = -march=$(MARCH) %s-D_GNU_SOURCE\n"
                               "SOURCES =%s\n\n"
                               "%s: $(SOURCES:.c=.o)\n"
                               "\t$(CC) $(CFLAGS) -o $@ $^%s%s%s -lpthread -lm%s%s\n\n"
                               "%s"
                               "%%.o: %%.c\n"
                               "\t$(CC) $(CFLAGS) %s-I. -Iruntime -c -o $@ $<\n\n"
                               "clean:\n"
                               "\trm -f %s $(SOURCES:.c=.o)%s\n";

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *or_nothing(const char *s) { return s ? s : ""; }

static void print_makefile(const Sources *x, const BuildOptions *o, const Text *sources, Text *t)
{
    const TargetText *target = x->target;
    bool has_library = map_get(&x->done, target->library.file);
    const char *needs = o->transport ? o->transport->needs : NULL;
    const char *cc = o->transport ? o->transport->cc : NULL;
    const char *links = o->transport && !cc ? or_nothing(o->transport->library) : "";
    Text flags = {0}, rule = {0};

    for (const char *const *flag = target->flags; *flag; flag++)
        text_printf(&flags, "%s ", *flag);
    if (target->make.print_rule)
        target->make.print_rule(o, &rule);
    const char *library = arena_string(x->s->arena, ", %s and %s (%s)", target->extension,
                                       target->library.name, target->library.source);
    text_printf(t, makefile, mark,
                has_library ? library : arena_string(x->s->arena, " and %s", target->extension),
                needs ? arena_string(x->s->arena, "; %s", needs) : "",
                cc ? arena_string(x->s->arena, "= %s", cc) : "?= cc", o->march,
                or_nothing(target->make.variables), flags.s, sources->s, o->name,
                or_nothing(target->make.link_flags), has_library ? " " : "",
                has_library ? target->library.flag : "", *links ? " " : "", links,
                or_nothing(rule.s), or_nothing(target->make.flags), o->name,
                or_nothing(target->make.made));
    text_free(&flags);
    text_free(&rule);
}

static bool write_makefile(Sources *x, const BuildOptions *o)
{
    Text sources = {0}, make = {0};

    qsort(x->s->name, (size_t)x->s->n, sizeof *x->s->name, by_name);  // folders before their files
    for (int i = 0; i < x->s->n; i++)
        if (ends_in(x->s->name[i], ".c"))
            text_printf(&sources, " \\\n    %s", x->s->name[i]);
    print_makefile(x, o, &sources, &make);
    bool ok = out_write(staging_file(x->s, "Makefile"), make.s, make.n, x->d);
    text_free(&sources);
    text_free(&make);
    return ok;
}

static bool has_mark(const Staging *s)
{
    File f;
    bool ok = file_map(arena_string(s->arena, "%s/Makefile", s->target), &f, NULL) &&
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
        const char *path = arena_string(s->arena, "%s/%s", s->target, s->name[i]);
        if (ends_in(path, "/") || access(path, F_OK))
            continue;
        diag_error(d, "cannot write '%s': the file there wasn't made by shardcc", path);
        return false;
    }
    return true;
}

bool build_folder(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                  Diag *d)
{
    Sources x = {.s = s,
                 .p = p,
                 .runtime = path_in(s->arena, o->runtime, "runtime"),
                 .target = target_text(p->target),
                 .transport =
                     o->transport ? arena_string(s->arena, "comm/%s", o->transport->name) : NULL,
                 .done.arena = s->arena,
                 .d = d};

    return write_texts(s, p, t, o, d) && make_folders(&x) && copy_included(&x, t->c.s, t->c.n) &&
           copy_included(&x, t->kernels.s, t->kernels.n) && copy_trainer(&x) && copy_kernels(&x) &&
           write_makefile(&x, o) && spares_files(s, d);
}
