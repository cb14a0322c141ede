// Compiles a program's texts to a trainer.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "generator/compilers.h"
#include "generator/kernel_files.h"

static Compiler c_compiler(Arena *a, const TargetText *t, const BuildOptions *o)
{
    const char *transport = o->transport ? o->transport->needs : NULL;
    const char *needs = arena_string(a, "%s and %s (%s)%s%s; --emit c shows the text", t->extension,
                                     t->library.name, t->library.source, transport ? " and " : "",
                                     transport ? transport : "");

    return (Compiler){"C compiler", "--cc", needs};
}

// The C compiler's arguments. `more`: those that the target adds.
static char *const *arguments(Arena *a, const TargetText *t, const BuildOptions *o,
                              const char *c_path, const Words *more, const char *path)
{
    Words to = {0};
    const char *last[] = {
        arena_string(a, "-L%s", o->runtime),
        o->transport ? arena_string(a, "-lshardrt_%s", o->transport->name) : NULL,
        t->archive ? arena_string(a, "-l%s", t->archive) : NULL,
        "-lshardrt",
        t->library.flag,
        "-lpthread",
        "-lm",
        o->transport ? o->transport->library : NULL,
    };

    words_add(a, &to, o->cc);
    for (const char *const *flag = t->flags; *flag; flag++)
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

bool write_texts(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                 Diag *d)
{
    const char *ending = p->target->kernels_ending;

    return write_text(s, o, "c", &t->c, d) && (!ending || write_text(s, o, ending, &t->kernels, d));
}

// Is a library of the runtime there?
static bool has_archive(Arena *a, const BuildOptions *o, const char *name, Diag *d)
{
    char *archive = arena_string(a, "%s/lib%s.a", o->runtime, name);

    if (!access(archive, R_OK))
        return true;
    diag_error(d, "cannot find '%s', a part of shardcc: %s", archive, strerror(errno));
    return false;
}

// Are the libraries there that a program is linked with?
static bool has_archives(Arena *a, const TargetText *target, const BuildOptions *o, Diag *d)
{
    return has_archive(a, o, target->archive ? target->archive : "shardrt", d) &&
           (!o->transport ||
            has_archive(a, o, arena_string(a, "shardrt_%s", o->transport->name), d));
}

static bool compile_c(Staging *s, const TargetText *target, const BuildOptions *o,
                      const char *c_path, const Words *more, Diag *d)
{
    const char *path = staging_file(s, o->name);
    Compiler c = c_compiler(s->arena, target, o);

    return compiler_run(s, &c, arguments(s->arena, target, o, c_path, more, path), d) &&
           compiler_made(&c, o->cc, path, X_OK, "program", d);
}

bool build_program(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                   Diag *d)
{
    Arena *a = s->arena;
    const TargetText *target = target_text(p->target);
    const char *text = arena_string(a, "%s/%s.%s", s->folder, o->name, p->target->kernels_ending);
    Words files = kernel_files(a, target, p, o->transport), more = {0};

    if (!has_archives(a, target, o, d) || !write_texts(s, p, t, o, d) ||
        (target->build_kernels && !target->build_kernels(s, target, text, &files, o, &more, d)))
        return false;
    return compile_c(s, target, o, arena_string(a, "%s/%s.c", s->folder, o->name), &more, d);
}

bool has_probe(const Target *target) { return target_text(target)->probe.sources; }

bool build_probe(Staging *s, const Target *target, const BuildOptions *o, Diag *d)
{
    Arena *a = s->arena;
    const TargetText *t = target_text(target);
    const char *const *source = t->probe.sources;
    const char *text = arena_string(a, "%s/runtime/%s", o->runtime, t->probe.kernels);
    Words files = probe_files(a, t), more = {0};

    words_add(a, &more, arena_string(a, "-DTRANSPORT=rt_%s", o->transport->name));
    words_add(a, &more, arena_string(a, "-DGPUS=\"%s\"", o->gpus));
    for (int i = 1; source[i]; i++)
        words_add(a, &more, arena_string(a, "%s/runtime/%s", o->runtime, source[i]));
    return has_archives(a, t, o, d) && t->build_kernels(s, t, text, &files, o, &more, d) &&
           compile_c(s, t, o, arena_string(a, "%s/runtime/%s", o->runtime, *source), &more, d);
}
