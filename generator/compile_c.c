// Compiles C text to a program. It runs the C compiler with an argument vector, never through a
// shell.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/generator.h"

#define RT_FLAG(flag) flag,

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

static bool run(const Staging *s, char *const argv[], bool has_ranks, Diag *d)
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
    diag_note(d, has_ranks ? "it needs OpenMP, oneDNN and MPI (Debian: gcc, libdnnl-dev, "
                             "libopenmpi-dev); --emit c shows the text"
                           : "it needs OpenMP and oneDNN (Debian: gcc, libdnnl-dev); --emit c "
                             "shows the text");
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

bool build_program(Staging *s, const Text *c, const BuildOptions *o, Diag *d)
{
    Arena *a = s->arena;
    char *include = arena_string(a, "-I%s", o->runtime);
    char *library = arena_string(a, "%s/libshardrt.a", o->runtime);
    const char *ranks = o->has_ranks ? arena_string(a, "%s/libshardrt_mpi.a", o->runtime) : library;
    const char *mpi = o->has_ranks ? "-lmpi" : NULL;
    char *march = arena_string(a, "-march=%s", o->march);
    const char *c_path = staging_file(s, arena_string(a, "%s.c", o->name));
    const char *path = staging_file(s, o->name);
    const char *argv[] = {o->cc,
#include "runtime/rt_flags.def"
                          march,   include,  "-o",        path,  c_path, ranks,
                          library, "-ldnnl", "-lpthread", "-lm", mpi,    NULL};

    if (access(library, R_OK)) {
        diag_error(d, "cannot find '%s', a part of shardcc: %s", library, strerror(errno));
        return false;
    }
    return out_write(c_path, c->s, c->n, d) && run(s, (char *const *)argv, o->has_ranks, d) &&
           is_program(path, o->cc, d);
}
