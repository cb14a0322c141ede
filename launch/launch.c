// Starts other programs.
#include "launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- to read what they print ----

// Signals that would end shardcc, and are blocked, end the program that it waits for.
static void pass_on(pid_t pid)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t waiting;

    sigpending(&waiting);
    for (int i = 0; i < COUNT(signals); i++)
        if (sigismember(&waiting, signals[i]))
            kill(pid, signals[i]);
}

// Takes at most 1 MiB; the rest is read and dropped, so that the program doesn't wait.
static void read_all(pid_t pid, int fd, Text *t)
{
    enum { MAX_OUTPUT = 1 << 20, MS = 200 };  // bytes; between two looks for signals
    struct pollfd from = {.fd = fd, .events = POLLIN};
    char buffer[4096];

    for (;;) {
        int ready = poll(&from, 1, MS);
        pass_on(pid);
        if (ready <= 0)
            continue;
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
        if (n > 0 && t->n < MAX_OUTPUT)
            text_put(t, buffer, (size_t)n);
    }
}

// Starts it with a pipe for its stdout, and sets *fd to its end. Returns errno.
static int spawn(char *const *argv, int *fd, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    int pipe[2] = {-1, -1};

    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    int error = pipe2(pipe, O_CLOEXEC) ? errno : 0;
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    error = error ? error : posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    close(pipe[1]);
    *fd = pipe[0];
    return error;
}

bool launch_read(char *const *argv, Text *t, int *status, Diag *d)
{
    int fd, ended = 0;
    pid_t pid;
    int error = spawn(argv, &fd, &pid);

    if (!error)
        read_all(pid, fd, t);
    close(fd);
    while (!error && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (error)
        diag_error(d, "cannot run '%s': %s", argv[0], strerror(error));
    return !error;
}

// ---- their children ----

// Does a process run whose number the file has? Zombies don't. One whose state can't be read, as
// its name has a bracket, counts as running.
static bool any_runs(FILE *children)
{
    char path[64];
    int child;

    while (fscanf(children, "%d", &child) == 1) {
        char state = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", child);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        (void)!fscanf(f, "%*d (%*[^)]) %c", &state);
        fclose(f);
        if (state != 'Z')
            return true;
    }
    return false;
}

bool launch_has_children(pid_t process)
{
    char path[64], file[384];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    if (!threads)
        return true;
    for (struct dirent *e; !found && (e = readdir(threads));) {
        snprintf(file, sizeof file, "%s/%s/children", path, e->d_name);
        FILE *f = *e->d_name == '.' ? NULL : fopen(file, "re");
        found = f ? any_runs(f) : *e->d_name != '.';
        if (f)
            fclose(f);
    }
    closedir(threads);
    return found;
}
