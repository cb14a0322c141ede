// Starts the processes of a run, hands on their texts and signals, and ends them together.
#include "launch/launch_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_UP_SECONDS 6.0  // for what has been hung up; trainers take 3 to end their ranks
#define LOOK_SECONDS 0.1     // between two looks at what has ended
enum { MAX_TEXT = 1 << 20, NO_PROGRAM = 127, ENDS = 3 };

double launch_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- a process ----

// The ends of its streams: [0] is shardcc's, [1] its own; -1: it has shardcc's.
typedef struct Streams {
    int in[2], out[2], said[2];
} Streams;

// In the new process. A failure goes through the pipe, which closes if all is well.
static void become(char *const *words, const Streams *s, pid_t parent, int report)
{
    const int own[] = {s->in[1], s->out[1], s->said[1]};
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(NO_PROGRAM);
    setpgid(0, 0);
    for (int i = 0; i < COUNT(own); i++)
        if (own[i] >= 0)
            dup2(own[i], i);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(words[0], words);
    int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(NO_PROGRAM);
}

// Returns its id; -errno after an error.
static pid_t start(char *const *words, const Streams *s)
{
    pid_t parent = getpid();
    int fd[2], error = 0;

    if (pipe2(fd, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(words, s, parent, fd[1]);
    error = pid < 0 ? errno : 0;
    close(fd[1]);
    if (pid > 0 && read(fd[0], &error, sizeof error) > 0)
        waitpid(pid, NULL, 0);
    close(fd[0]);
    return error ? -error : pid;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

// Opens the streams that are wanted. Returns false, and errno says why there are none.
static bool open_streams(Streams *s, bool has_input, bool reads_output, bool reads_errors)
{
    *s = (Streams){{-1, -1}, {-1, -1}, {-1, -1}};
    return (!has_input || !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->in)) &&
           (!reads_output || !pipe2(s->out, O_CLOEXEC)) &&
           (!reads_errors || !pipe2(s->said, O_CLOEXEC));
}

static pid_t start_process(const LaunchCommand *c, bool reads_output, bool reads_errors,
                           LaunchProcess *p)
{
    Streams s;
    bool ok = open_streams(&s, c->input, reads_output, reads_errors);

    p->id = ok ? start(c->words, &s) : -errno;
    int *const fd[] = {s.in, s.out, s.said};
    for (int i = 0; i < ENDS; i++) {
        close_end(&fd[i][1]);
        if (fd[i][0] >= 0)
            fcntl(fd[i][0], F_SETFL, O_NONBLOCK);
    }
    p->in = s.in[0];
    p->out = s.out[0];
    p->said = s.said[0];
    if (c->input)
        text_put(&p->input, c->input, strlen(c->input));
    return p->id;
}

// ---- a group ----

bool launch_group_start(Arena *a, const Launch *l, bool reads_output, bool reads_errors,
                        double grace, LaunchGroup *g, Diag *d)
{
    *g = (LaunchGroup){.process = arena_array(a, LaunchProcess, l->n),
                       .fd = arena_array(a, struct pollfd, ENDS * l->n + 1),
                       .failed = -1,
                       .grace = grace};
    for (int i = 0; i < l->n; i++) {
        LaunchProcess *p = &g->process[g->n++];
        pid_t id = start_process(&l->command[i], reads_output, reads_errors, p);
        g->running += id > 0;
        if (id > 0)
            continue;
        p->id = 0;
        diag_error(d, "cannot run '%s': %s", l->command[i].words[0], strerror(-id));
        for (launch_group_hang_up(g); g->running;)
            launch_group_wait(g, -1, LOOK_SECONDS);
        launch_group_free(g);
        return false;
    }
    return true;
}

// A socket of a process that has ended raises no signal.
static void write_input(LaunchProcess *p)
{
    ssize_t n = p->in < 0 || !p->input.n ? 0 : send(p->in, p->input.s, p->input.n, MSG_NOSIGNAL);

    if (n > 0) {
        p->input.n -= (size_t)n;
        memmove(p->input.s, p->input.s + n, p->input.n);
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close_end(&p->in);
    }
}

// Reads more than a pipe holds, but not for as long as a process writes.
static void read_stream(int *fd, Text *to)
{
    enum { READS = 64 };
    char buffer[4096];
    ssize_t n = 1;

    for (int i = 0; i < READS && *fd >= 0 && n > 0; i++) {
        n = read(*fd, buffer, sizeof buffer);
        if (n > 0 && to->n < MAX_TEXT)
            text_put(to, buffer, (size_t)n);
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_end(fd);
}

// Has it ended? Then what it has said last is read.
static void look_at(LaunchGroup *g, LaunchProcess *p)
{
    int ended;
    bool is_over = p->id > 0 && waitpid(p->id, &ended, WNOHANG) == p->id;

    write_input(p);
    read_stream(&p->out, &p->output);
    read_stream(&p->said, &p->errors);
    if (!is_over)
        return;
    p->id = 0;
    p->status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    g->running--;
    close_end(&p->in);
    close_end(&p->out);
    close_end(&p->said);
    if (!p->status || g->status)
        return;
    g->status = p->status;
    g->failed = (int)(p - g->process);
    g->deadline = launch_seconds() + (p->status == LAUNCH_SSH_FAILED ? 0 : g->grace);
}

void launch_group_wait(LaunchGroup *g, int also, double seconds)
{
    struct pollfd *fd = g->fd;
    int n = 0;

    fd[n++] = (struct pollfd){.fd = also, .events = POLLIN};
    for (int i = 0; i < g->n; i++) {
        const LaunchProcess *p = &g->process[i];
        if (p->input.n)
            fd[n++] = (struct pollfd){.fd = p->in, .events = POLLOUT};
        fd[n++] = (struct pollfd){.fd = p->out, .events = POLLIN};
        fd[n++] = (struct pollfd){.fd = p->said, .events = POLLIN};
    }
    poll(fd, (nfds_t)n, (int)(1000 * (seconds < LOOK_SECONDS ? seconds : LOOK_SECONDS)) + 1);
    for (int i = 0; i < g->n; i++)
        look_at(g, &g->process[i]);
    if (!g->running || !g->deadline || launch_seconds() < g->deadline)
        return;
    if (!g->is_hung_up) {
        launch_group_hang_up(g);
        return;
    }
    for (int i = 0; i < g->n; i++)
        if (g->process[i].id > 0)
            kill(g->process[i].id, SIGKILL);
}

void launch_group_signal(LaunchGroup *g, int signal)
{
    for (int i = 0; i < g->n; i++) {
        LaunchProcess *p = &g->process[i];
        if (p->in >= 0)
            text_put(&p->input, (const char[]){(char)signal}, 1);
        else if (p->id > 0)
            kill(p->id, signal);
    }
}

void launch_group_hang_up(LaunchGroup *g)
{
    for (int i = 0; i < g->n; i++)
        close_end(&g->process[i].in);
    g->is_hung_up = true;
    g->deadline = launch_seconds() + HANG_UP_SECONDS;
}

void launch_group_free(LaunchGroup *g)
{
    for (int i = 0; i < g->n; i++) {
        text_free(&g->process[i].input);
        text_free(&g->process[i].output);
        text_free(&g->process[i].errors);
    }
    g->n = 0;
}
