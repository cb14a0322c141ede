// Starts other programs.
#include "launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- to read what they print ----

// Takes at most 1 MiB; the rest is read and dropped, so that the program doesn't wait. False: the
// end has come.
static bool read_some(int fd, Text *t)
{
    enum { MAX_OUTPUT = 1 << 20 };
    char buffer[4096];
    ssize_t n = read(fd, buffer, sizeof buffer);

    if (n > 0 && t->n < MAX_OUTPUT)
        text_put(t, buffer, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

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

// Reads both until they end. Negative ones don't count.
static void read_all(pid_t pid, const int fd[2], Text *const to[2])
{
    enum { MS = 200 };  // between two looks for signals
    struct pollfd from[2] = {{.fd = fd[0], .events = POLLIN}, {.fd = fd[1], .events = POLLIN}};

    while (from[0].fd >= 0 || from[1].fd >= 0) {
        int ready = poll(from, 2, MS);
        pass_on(pid);
        if (ready <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (from[i].fd >= 0 && from[i].revents && !read_some(from[i].fd, to[i]))
                from[i].fd = -1;
    }
}

// Starts it with pipes for its stdout and, if `has_errors`, its stderr, and sets `fd` to their
// ends. Returns errno.
static int spawn(char *const *argv, bool has_errors, int fd[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    int pipes[2][2] = {{-1, -1}, {-1, -1}};

    posix_spawn_file_actions_init(&actions);
    int error =
        pipe2(pipes[0], O_CLOEXEC) || (has_errors && pipe2(pipes[1], O_CLOEXEC)) ? errno : 0;
    for (int i = 0; i < 2; i++)
        if (pipes[i][1] >= 0)
            posix_spawn_file_actions_adddup2(&actions, pipes[i][1],
                                             i ? STDERR_FILENO : STDOUT_FILENO);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    error = error ? error : posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++) {
        if (pipes[i][1] >= 0)
            close(pipes[i][1]);
        fd[i] = pipes[i][0];
    }
    return error;
}

bool launch_read(char *const *argv, Text *t, Text *errors, int *status, Diag *d)
{
    int fd[2], ended = 0;
    pid_t pid;
    int error = spawn(argv, errors, fd, &pid);

    if (!error)
        read_all(pid, fd, (Text *const[]){t, errors});
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    while (!error && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (error)
        diag_error(d, "cannot run '%s': %s", argv[0], strerror(error));
    return !error;
}

// ---- to run processes next to shardcc ----

// In the new process. A failure goes through the pipe, which closes if all is well.
static void become(char *const *argv, int report, int said)
{
    sigset_t none;

    sigemptyset(&none);
    if (said >= 0)
        dup2(said, STDERR_FILENO);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], argv);
    int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}

// Starts it with that stderr. Returns its id; -errno after an error.
static pid_t start(char *const *argv, int said)
{
    int fd[2], error = 0;

    if (pipe2(fd, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(argv, fd[1], said);
    error = pid < 0 ? errno : 0;
    close(fd[1]);
    if (pid > 0 && read(fd[0], &error, sizeof error) > 0)
        waitpid(pid, NULL, 0);
    close(fd[0]);
    return error ? -error : pid;
}

pid_t launch_start(char *const *argv, int *said, Diag *d)
{
    int fd[2] = {-1, -1};
    pid_t pid = said && pipe2(fd, O_CLOEXEC) ? -errno : start(argv, fd[1]);

    if (said) {
        close(fd[1]);
        fcntl(fd[0], F_SETFL, O_NONBLOCK);
        *said = fd[0];
    }
    if (pid > 0)
        return pid;
    diag_error(d, "cannot run '%s': %s", argv[0], strerror(-pid));
    return -1;
}

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

// ---- hosts ----

enum { MAX_HOSTS = 4096, MAX_SLOTS = 4096 };

// "node7 slots=8", without its comment. An empty line is no host.
static bool read_host(Arena *a, char *line, int number, Hosts *to, int *cap, Diag *d)
{
    static const char blank[] = " \t\r";
    char *rest = NULL, *end = NULL, *name = strtok_r(line, blank, &rest);
    char *slots = name ? strtok_r(NULL, blank, &rest) : NULL;
    Host h = {.name = name};

    if (!name)
        return true;
    size_t n = strlen(name);
    if (strspn(name, HOST_LETTERS) != n || *name == '-') {
        diag_error(d, "line %d: '%s' is not the name of a host", number, name);
        return false;
    }
    for (int i = 0; i < to->n; i++)
        if (!strcmp(to->host[i].name, name)) {
            diag_error(d, "line %d: '%s' is there twice; slots=N says how many ranks it takes",
                       number, name);
            return false;
        }
    if (slots) {
        long v = strncmp(slots, "slots=", 6) ? 0 : strtol(slots + 6, &end, 10);
        if (v < 1 || v > MAX_SLOTS || *end || strtok_r(NULL, blank, &rest)) {
            diag_error(d, "line %d: expected a host and slots=N, N from 1 to %d", number,
                       MAX_SLOTS);
            return false;
        }
        h.slots = (int)v;
    }
    if (to->n == MAX_HOSTS) {
        diag_error(d, "more than %d hosts", MAX_HOSTS);
        return false;
    }
    *arena_push(a, to->host, to->n, *cap) = h;
    return true;
}

bool hosts_read(Arena *a, const char *path, Hosts *to, Diag *d)
{
    enum { MAX_BYTES = 1 << 20 };
    Diag in_file = {.file = path, .to = d->to};
    int cap = 0, number = 0;
    File f;

    *to = (Hosts){0};
    if (!file_map(path, &f, d))
        return false;
    char *at = arena_copy(a, (const char *)f.data, f.size < MAX_BYTES ? f.size : MAX_BYTES);
    file_unmap(&f);
    bool ok = true;
    while (ok && *at) {
        char *line = at, *end = strchrnul(at, '\n');
        at = *end ? end + 1 : end;
        *end = 0;
        *strchrnul(line, '#') = 0;
        ok = read_host(a, line, ++number, to, &cap, &in_file);
    }
    if (ok && !to->n) {
        diag_error(&in_file, "no host is in it");
        ok = false;
    }
    return ok;
}

// ---- launchers ----

static void add(Arena *a, Strings *to, const char *word)
{
    *arena_push(a, to->s, to->n, to->cap) = word;
}

static bool is_in_path(const char *name)
{
    char path[4096];

    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        int n = (int)strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", n, at, name) < (int)sizeof path &&
            access(path, X_OK) == 0)
            return true;
        at += n;
    }
    return false;
}

// "a:2,b:2" for mpirun, "a,b" for srun.
static const char *host_list(Arena *a, const Hosts *h, bool has_slots)
{
    Text t = {0};

    for (int i = 0; i < h->n; i++) {
        text_printf(&t, "%s%s", i ? "," : "", h->host[i].name);
        if (has_slots && h->host[i].slots)
            text_printf(&t, ":%d", h->host[i].slots);
    }
    const char *list = arena_copy(a, t.s, t.n);
    text_free(&t);
    return list;
}

static bool add_mpirun(Arena *a, int ranks, const Hosts *hosts, Strings *to, Diag *d)
{
    char *const version[] = {"mpirun", "--version", NULL};
    Text said = {0};
    int status;

    if (!launch_read(version, &said, NULL, &status, d))
        return false;
    bool is_open_mpi = said.s && strstr(said.s, "Open MPI");
    text_free(&said);
    // Else Open MPI's ranks get a core each, and are spread over sockets.
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    setenv("OMPI_MCA_rmaps_base_mapping_policy", "slot", 0);
    add(a, to, "mpirun");
    add(a, to, "-n");
    add(a, to, arena_string(a, "%d", ranks));
    if (hosts->n) {
        add(a, to, is_open_mpi ? "--host" : "-hosts");
        add(a, to, host_list(a, hosts, true));
    }
    return true;
}

// The slots of each host; 0: they differ, or aren't said.
static int common_slots(const Hosts *h)
{
    for (int i = 1; i < h->n; i++)
        if (h->host[i].slots != h->host->slots)
            return 0;
    return h->n ? h->host->slots : 0;
}

static void add_srun(Arena *a, int ranks, const Hosts *hosts, Strings *to)
{
    int slots = common_slots(hosts);

    add(a, to, "srun");
    add(a, to, "--kill-on-bad-exit=1");
    add(a, to, arena_string(a, "--ntasks=%d", ranks));
    if (slots)
        add(a, to, arena_string(a, "--ntasks-per-node=%d", slots));
    if (hosts->n)
        add(a, to, arena_string(a, "--nodelist=%s", host_list(a, hosts, false)));
}

bool launch_words(Arena *a, const char *launcher, int ranks, bool can_spawn, const Hosts *hosts,
                  char *const *program, Strings *to, Diag *d)
{
    bool needs_launcher = hosts->n || (ranks > 1 && !can_spawn);

    if (!strcmp(launcher, "auto"))
        launcher = getenv("SLURM_JOB_ID") && is_in_path("srun") ? "srun"
                   : needs_launcher                             ? "mpirun"
                                                                : "none";
    bool spawns = !strcmp(launcher, "none") && ranks > 1 && can_spawn;
    if (!strcmp(launcher, "srun"))
        add_srun(a, ranks, hosts, to);
    else if (!strcmp(launcher, "mpirun") && !add_mpirun(a, ranks, hosts, to, d))
        return false;
    for (; *program; program++)
        add(a, to, *program);
    if (spawns) {
        add(a, to, "--spawn");
        add(a, to, arena_string(a, "%d", ranks));
    }
    add(a, to, NULL);
    return true;
}
