// Compiles a program's texts to a trainer.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "generator/compilers.h"

static Compiler c_compiler(Arena *a, const BuildOptions *o)
{
    const char *needs =
        arena_string(a, "%s and %s (%s)%s; --emit c shows the text", o->target->extension,
                     o->target->library.name, o->target->library.source,
                     o->has_ranks ? " and MPI (Debian: libopenmpi-dev)" : "");

    return (Compiler){"C compiler", "--cc", needs};
}

// The C compiler's arguments. `more`: those that the target adds.
static char *const *arguments(Arena *a, const BuildOptions *o, const char *c_path,
                              const Words *more, const char *path)
{
    const char *archive = o->target->archive;
    Words to = {0};
    const char *last[] = {
        arena_string(a, "-L%s", o->runtime),
        o->has_ranks ? "-lshardrt_mpi" : NULL,
        archive ? arena_string(a, "-l%s", archive) : NULL,
        "-lshardrt",
        o->target->library.flag,
        "-lpthread",
        "-lm",
        o->has_ranks ? "-lmpi" : NULL,
    };

    words_add(a, &to, o->cc);
    for (const char *const *flag = o->target->flags; *flag; flag++)
        words_add(a, &to, *flag);
    words_add(a, &to, arena_string(a, "-march=%s", o->march));
    words_add(a, &to, arena_string(a, "-I%s/runtime", o->runtime));
    words_add(a, &to, "-o");
    words_add(a, &to, path);
    words_add(a, &to, c_path);
    for (int i = 0; i < more->n; i++)
        words_add(a, &to, more->word[i]);
    for (int i = 0; i < COUNT(last); i++)
        if (last[i])
            words_add(a, &to, last[i]);
    words_add(a, &to, NULL);
    return (char *const *)to.word;
}

static bool write_text(Staging *s, const BuildOptions *o, const char *ending, const Text *t,
                       Diag *d)
{
    return out_write(staging_file(s, arena_string(s->arena, "%s.%s", o->name, ending)), t->s, t->n,
                     d);
}

bool write_texts(Staging *s, const ProgramTexts *t, const BuildOptions *o, Diag *d)
{
    return write_text(s, o, "c", &t->c, d) &&
           (!o->target->kernels_head || write_text(s, o, "cu", &t->kernels, d));
}

bool build_program(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                   Diag *d)
{
    Arena *a = s->arena;
    const char *name = o->target->archive ? o->target->archive : "shardrt";
    char *archive = arena_string(a, "%s/lib%s.a", o->runtime, name);
    const char *path = staging_file(s, o->name);
    Compiler c = c_compiler(a, o);
    Words more = {0};

    if (access(archive, R_OK)) {
        diag_error(d, "cannot find '%s', a part of shardcc: %s", archive, strerror(errno));
        return false;
    }
    if (!write_texts(s, t, o, d) ||
        (o->target->build_kernels && !o->target->build_kernels(s, p, o, &more, d)))
        return false;
    const char *c_path = arena_string(a, "%s/%s.c", s->folder, o->name);
    return compiler_run(s, &c, arguments(a, o, c_path, &more, path), d) &&
           compiler_made(&c, o->cc, path, X_OK, "program", d);
}
