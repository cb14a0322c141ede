// Finds the toolkit of CUDA, and compiles kernels with it. The host code of kernels is compiled
// with each program, as it needs the toolkit's header.
#include "generator/cuda/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/compilers.h"

// ---- the toolkit ----

typedef struct Toolkit {
    const char *folder, *nvcc;
} Toolkit;

static bool is_toolkit(Arena *a, const char *folder, Toolkit *to)
{
    *to = (Toolkit){folder, arena_string(a, "%s/bin/nvcc", folder)};
    return !access(to->nvcc, X_OK);
}

// The folder whose bin/nvcc a search along PATH finds; NULL: there is none.
static const char *folder_in_path(Arena *a)
{
    const char *path = getenv("PATH");

    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        char *real = realpath(arena_string(a, "%.*s/nvcc", (int)n, p), NULL);
        if (real && !access(real, X_OK)) {
            char *bin = strrchr(real, '/');
            char *folder = arena_string(a, "%.*s/..", (int)(bin - real), real);
            free(real);
            return folder;
        }
        free(real);
        p += n + (p[n] == ':');
    }
    return NULL;
}

static bool find_toolkit(Arena *a, const BuildOptions *o, Toolkit *to, Diag *d)
{
    const char *in_path = folder_in_path(a);
    const char *installed = arena_string(a, "%s/../../.cuda", o->runtime);

    if (o->cuda) {
        if (is_toolkit(a, o->cuda, to))
            return true;
        diag_error(d, "--cuda: '%s' has no bin/nvcc that can be run", o->cuda);
        return false;
    }
    if ((in_path && is_toolkit(a, in_path, to)) || is_toolkit(a, "/usr/local/cuda", to) ||
        is_toolkit(a, installed, to))
        return true;
    diag_error(d, "there is no nvcc in PATH, nor a toolkit in /usr/local/cuda");
    diag_note(d, "--cuda names the toolkit's folder; ./setup.sh --cuda installs CUDA's compiler");
    return false;
}

// ---- arguments ----

// Code for each GPU, and PTX of the last one, which newer ones compile when the program starts.
static void add_gpus(Arena *a, const char *gpus, Words *to)
{
    for (const char *p = gpus; *p;) {
        size_t n = strcspn(p, ",");
        char *number = arena_copy(a, p + strlen("sm_"), n - strlen("sm_"));
        p += n + (p[n] == ',');
        words_add(a, to, arena_string(a, "-gencode=arch=compute_%s,code=sm_%s", number, number));
        if (!*p)
            words_add(a, to,
                      arena_string(a, "-gencode=arch=compute_%s,code=compute_%s", number, number));
    }
}

// Without multiply-adds of nvcc's choice elements have the bits that they have on a CPU.
static Words nvcc_flags(Arena *a, const BuildOptions *o)
{
    Words to = {0};

    words_add(a, &to, "-std=c++17");
    words_add(a, &to, "-O3");
    words_add(a, &to, "--fmad=false");
    // All processors: architectures are compiled side by side, and the functions of one.
    words_add(a, &to, "--threads=0");
    words_add(a, &to, "--split-compile=0");
    add_gpus(a, o->gpus, &to);
    words_add(a, &to, "-fatbin");
    return to;
}

static bool compile_kernels(Staging *s, const char *path, const BuildOptions *o, const Toolkit *kit,
                            Diag *d)
{
    static const Compiler nvcc = {"CUDA compiler", "--cuda", "g++ and CUDA 13"};
    Arena *a = s->arena;
    const char *image = arena_string(a, "%s/%s", s->folder, IMAGE);
    Words flags = nvcc_flags(a, o), to = {0};

    words_add(a, &to, kit->nvcc);
    for (int i = 0; i < flags.n; i++)
        words_add(a, &to, flags.word[i]);
    words_add(a, &to, arena_string(a, "-I%s", o->runtime));
    words_add(a, &to, "-o");
    words_add(a, &to, image);
    words_add(a, &to, path);
    words_add(a, &to, NULL);
    return compiler_run(s, &nvcc, (char *const *)to.word, d) &&
           compiler_made(&nvcc, kit->nvcc, image, R_OK, "fat binary", d);
}

// Tells the program where the toolkit is, as a string of C: its libraries are opened at start.
static const char *folder_definition(Arena *a, const char *folder)
{
    char *path = realpath(folder, NULL);
    Text t = {0};

    text_printf(&t, "-DRT_CUDA_FOLDER=\"");
    for (const char *p = path ? path : folder; *p; p++)
        text_printf(&t, "%s%c", strchr("\"\\", *p) ? "\\" : "", *p);
    text_printf(&t, "\"");
    char *definition = arena_copy(a, t.s, t.n);
    text_free(&t);
    free(path);
    return definition;
}

bool build_kernels(Staging *s, const TargetText *t, const char *path, const Words *files,
                   const BuildOptions *o, Words *to, Diag *d)
{
    Arena *a = s->arena;
    Toolkit kit;

    if (!find_toolkit(a, o, &kit, d) || !compile_kernels(s, path, o, &kit, d))
        return false;
    words_add(a, to, "-D_GNU_SOURCE");
    words_add(a, to, arena_string(a, "-I%s", s->folder));
    words_add(a, to, arena_string(a, "-I%s", o->runtime));
    words_add(a, to, arena_string(a, "-I%s/include", kit.folder));
    words_add(a, to, folder_definition(a, kit.folder));
    for (int i = 0; i < files->n; i++)
        words_add(a, to,
                  arena_string(a, "%s/runtime/%s/%s.c", o->runtime, t->folder, files->word[i]));
    words_add(a, to, arena_string(a, "-L%s/lib64", kit.folder));
    words_add(a, to, arena_string(a, "-L%s/lib", kit.folder));
    return true;
}

void print_make_rule(const BuildOptions *o, Text *t)
{
    Arena *a = arena_new();
    Words flags = nvcc_flags(a, o);

    text_printf(t, "%s.o: %s\n\n%s: %s.cu\n\t$(CUDA)/bin/nvcc", o->name, IMAGE, IMAGE, o->name);
    for (int i = 0; i < flags.n; i++)
        text_printf(t, " %s", flags.word[i]);
    text_printf(t, " -I. -o $@ $<\n\n");
    arena_free(a);
}
