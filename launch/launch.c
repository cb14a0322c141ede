// Starts other programs.
#include "launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- to read what they print ----

// Takes at most 1 MiB; the rest is read and dropped, so that the program doesn't wait.
static void read_all(int fd, Text *t)
{
    enum { MAX_OUTPUT = 1 << 20 };
    char buffer[4096];

    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0 && t->n < MAX_OUTPUT)
            text_put(t, buffer, (size_t)n);
}

bool launch_read(char *const *argv, Text *t, int *status, Diag *d)
{
    posix_spawn_file_actions_t actions;
    int fd[2] = {-1, -1}, ended = 0;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    int error = pipe2(fd, O_CLOEXEC) ? errno : 0;
    posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
    error = error ? error : posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fd[1]);
    if (!error)
        read_all(fd[0], t);
    close(fd[0]);
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
