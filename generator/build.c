// From C text to a program: the C compiler is run with an argument vector, never through a shell.
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/generator.h"

// Of generated and kernel code alike; see Numbers in docs/design.md.
#define FLAGS                                                                                      \
    "-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fopenmp"

static bool run(char *const argv[], Diag *d)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        diag_error(d, "can't run the C compiler %s: %s", argv[0], strerror(errno));
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        diag_error(d, "can't run the C compiler %s: is it installed?", argv[0]);
    else
        diag_error(d, "the C compiler %s failed on the generated text", argv[0]);
    return false;
}

bool build_program(const char *c_path, const char *path, const BuildOptions *o, Diag *d)
{
    Arena *a = arena_new();
    char *temp = arena_string(a, "%s.%ld.tmp", path, (long)getpid());
    char *include = arena_string(a, "-I%s", o->runtime);
    char *library = arena_string(a, "%s/libshardrt.a", o->runtime);
    char *march = arena_string(a, "-march=%s", o->march);
    const char *argv[] = {o->cc,  FLAGS,   march,    include,     "-o",  temp,
                          c_path, library, "-ldnnl", "-lpthread", "-lm", NULL};
    bool ok = run((char *const *)argv, d);

    if (ok && rename(temp, path)) {
        diag_error(d, "can't write %s: %s", path, strerror(errno));
        ok = false;
    }
    if (!ok)
        unlink(temp);
    arena_free(a);
    return ok;
}

// ---- a folder of sources ----

static bool write_text(const char *path, const char *s, size_t n, Diag *d)
{
    OutFile f;

    if (!out_open(&f, path, d))
        return false;
    if (fwrite(s, 1, n, f.f) == n)
        return out_commit(&f, d);
    diag_error(d, "can't write %s: %s", path, strerror(errno));
    out_cancel(&f);
    return false;
}

static bool copy_file(const char *from, const char *to, Diag *d)
{
    File f;

    if (!file_map(from, &f, d))
        return false;
    bool ok = write_text(to, (const char *)f.data, f.size, d);
    file_unmap(&f);
    return ok;
}

static bool make_folder(const char *path, Diag *d)
{
    if (!mkdir(path, 0777) || errno == EEXIST)
        return true;
    diag_error(d, "can't make the folder %s: %s", path, strerror(errno));
    return false;
}

static bool is_source(const char *name)
{
    size_t n = strlen(name);
    return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'c' || name[n - 1] == 'h');
}

static bool copy_sources(Arena *a, const char *from, const char *to, Diag *d)
{
    DIR *dir = opendir(from);
    bool ok = make_folder(to, d);

    if (!dir) {
        diag_error(d, "can't read the runtime's sources in %s: %s", from, strerror(errno));
        return false;
    }
    for (struct dirent *e; ok && (e = readdir(dir));)
        if (is_source(e->d_name))
            ok = copy_file(arena_string(a, "%s/%s", from, e->d_name),
                           arena_string(a, "%s/%s", to, e->d_name), d);
    closedir(dir);
    return ok;
}

static const char makefile[] =
    "# Needs a C compiler, OpenMP and oneDNN (Debian: libdnnl-dev).\n"
    "CC ?= cc\n"
    "MARCH ?= %s\n"
    "CFLAGS = -std=c11 -O3 -march=$(MARCH) -ffp-contract=off -fno-math-errno \\\n"
    "         -fno-trapping-math -fopenmp -D_GNU_SOURCE\n"
    "SOURCES = %s.c $(wildcard runtime/*.c runtime/cpu/*.c)\n\n"
    "%s: $(SOURCES:.c=.o)\n"
    "\t$(CC) $(CFLAGS) -o $@ $^ -ldnnl -lpthread -lm\n\n"
    "%%.o: %%.c\n"
    "\t$(CC) $(CFLAGS) -I. -Iruntime -c -o $@ $<\n\n"
    "clean:\n"
    "\trm -f %s $(SOURCES:.c=.o)\n";

bool build_folder(const char *folder, const char *name, const Text *c, const BuildOptions *o,
                  Diag *d)
{
    Arena *a = arena_new();
    Text make = {0};

    text_printf(&make, makefile, o->march, name, name, name);
    bool ok = make_folder(folder, d) &&
              write_text(arena_string(a, "%s/%s.c", folder, name), c->s, c->n, d) &&
              write_text(arena_string(a, "%s/Makefile", folder), make.s, make.n, d) &&
              copy_sources(a, o->runtime, arena_string(a, "%s/runtime", folder), d) &&
              copy_sources(a, arena_string(a, "%s/cpu", o->runtime),
                           arena_string(a, "%s/runtime/cpu", folder), d);
    text_free(&make);
    arena_free(a);
    return ok;
}
