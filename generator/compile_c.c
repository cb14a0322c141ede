// Compiles C text to a program. It runs the C compiler with an argument vector, never through a
// shell.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/target_text.h"

// Waits for the compiler. A signal that arrives meanwhile is passed on to it, and is raised here
// again when the compiler has ended.
static int wait_for(pid_t pid, const sigset_t *blocked, int *status)
{
    int asked = 0, signal;
    pid_t ended;
    sigset_t set = *blocked;

    sigaddset(&set, SIGCHLD);
    while (!(ended = waitpid(pid, status, WNOHANG))) {
        if (sigwait(&set, &signal) || signal == SIGCHLD)
            continue;
        asked = signal;
        kill(pid, signal);
    }
    if (asked)
        raise(asked);
    return ended < 0 ? errno : 0;
}

static bool spawn(const Staging *s, char *const argv[], int *status, Diag *d)
{
    posix_spawnattr_t attr;
    sigset_t defaults, child;
    pid_t pid;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGXFSZ);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    posix_spawnattr_setsigmask(&attr, &s->hold.before);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawnp(&pid, argv[0], NULL, &attr, argv, environ);
    if (!error)
        error = wait_for(pid, &s->hold.blocked, status);
    posix_spawnattr_destroy(&attr);
    if (error)
        diag_error(d, "cannot run the C compiler '%s': %s; --cc names another", argv[0],
                   strerror(error));
    return !error;
}

static bool run(const Staging *s, char *const argv[], const BuildOptions *o, Diag *d)
{
    int status;

    if (!spawn(s, argv, &status, d))
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status)) {
        diag_error(d, "the C compiler '%s' was stopped: %s", argv[0], strsignal(WTERMSIG(status)));
        return false;
    }
    diag_error(d, "the C compiler '%s' failed, so nothing was written", argv[0]);
    diag_note(d, "it needs %s and %s (Debian: gcc, %s)%s; --emit c shows the text",
              o->target->extension, o->target->library.name, o->target->library.package,
              o->has_ranks ? " and MPI (Debian: libopenmpi-dev)" : "");
    return false;
}

// Checks that a compiler that reports success has made a program.
static bool is_program(const char *path, const char *cc, Diag *d)
{
    struct stat s;

    if (!lstat(path, &s) && S_ISREG(s.st_mode) && s.st_size > 0 && !access(path, X_OK))
        return true;
    diag_error(d, "the C compiler '%s' made no program, so nothing was written", cc);
    return false;
}

// The compiler's arguments.
static char *const *arguments(Arena *a, const BuildOptions *o, const char *c_path, const char *path)
{
    const char **argv = NULL;
    int n = 0, cap = 0;
    const char *last[] = {
        arena_string(a, "-march=%s", o->march),
        arena_string(a, "-I%s/runtime", o->runtime),
        "-o",
        path,
        c_path,
        arena_string(a, "-L%s", o->runtime),
        o->has_ranks ? "-lshardrt_mpi" : NULL,
        arena_string(a, "-lshardrt_%s", o->target->folder),
        "-lshardrt",
        o->target->library.flag,
        "-lpthread",
        "-lm",
        o->has_ranks ? "-lmpi" : NULL,
    };

    *arena_push(a, argv, n, cap) = o->cc;
    for (const char *const *flag = o->target->flags; *flag; flag++)
        *arena_push(a, argv, n, cap) = *flag;
    for (int i = 0; i < COUNT(last); i++)
        if (last[i])
            *arena_push(a, argv, n, cap) = last[i];
    *arena_push(a, argv, n, cap) = NULL;
    return (char *const *)argv;
}

bool build_program(Staging *s, const Text *c, const BuildOptions *o, Diag *d)
{
    Arena *a = s->arena;
    char *library = arena_string(a, "%s/libshardrt_%s.a", o->runtime, o->target->folder);
    const char *c_path = staging_file(s, arena_string(a, "%s.c", o->name));
    const char *path = staging_file(s, o->name);

    if (access(library, R_OK)) {
        diag_error(d, "cannot find '%s', a part of shardcc: %s", library, strerror(errno));
        return false;
    }
    return out_write(c_path, c->s, c->n, d) && run(s, arguments(a, o, c_path, path), o, d) &&
           is_program(path, o->cc, d);
}
