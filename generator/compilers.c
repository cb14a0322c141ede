// Runs the compilers that make a trainer. They get an argument vector, and never go through a
// shell.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/compilers.h"

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

static bool spawn(const Staging *s, const Compiler *c, char *const argv[], int *status, Diag *d)
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
        diag_error(d, "cannot run the %s '%s': %s; %s names another", c->what, argv[0],
                   strerror(error), c->option);
    return !error;
}

bool compiler_run(const Staging *s, const Compiler *c, char *const argv[], Diag *d)
{
    int status;

    if (!spawn(s, c, argv, &status, d))
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status)) {
        diag_error(d, "the %s '%s' was stopped: %s", c->what, argv[0], strsignal(WTERMSIG(status)));
        return false;
    }
    diag_error(d, "the %s '%s' failed, so nothing was written", c->what, argv[0]);
    diag_note(d, "it needs %s", c->needs);
    return false;
}

bool compiler_made(const Compiler *c, const char *program, const char *path, int mode,
                   const char *what, Diag *d)
{
    struct stat s;

    if (!lstat(path, &s) && S_ISREG(s.st_mode) && s.st_size > 0 && !access(path, mode))
        return true;
    diag_error(d, "the %s '%s' made no %s, so nothing was written", c->what, program, what);
    return false;
}
