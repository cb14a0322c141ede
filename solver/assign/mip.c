// Starts engines and talks to them: the client's side of their sockets.
#include "solver/assign/mip.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct Engine {
    pid_t pid;
    int fd;
    bool is_dead;
    int n_columns, n_rows;
    const Deadline *deadline;
    Diag *d;
    Text got;
};

static void process_end(Engine *e)
{
    if (e->pid <= 0)
        return;
    kill(e->pid, SIGKILL);
    while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    e->pid = 0;
    e->is_dead = true;
}

// Spawns a program whose standard input is one end of a socket. Its output goes to /dev/null.
static int spawn(const char *path, Engine *e)
{
    int end[2];
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)(uintptr_t)path, NULL};

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end))
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, end[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&e->pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(end[1]);
    if (error)
        close(end[0]);
    e->fd = end[0];
    return error;
}

Engine *engine_start(const char *programs, const char *name, const Deadline *w, Diag *d)
{
    Engine *e = calloc(1, sizeof *e);
    Text path = {0};

    text_printf(&path, "%s/shardcc-%s", programs, name);
    int error = e ? spawn(path.s, e) : ENOMEM;
    if (error) {
        diag_warn(d, "cannot run '%s', a part of shardcc: %s", path.s, strerror(error));
        free(e);
        e = NULL;
    } else {
        e->deadline = w;
        e->d = d;
    }
    text_free(&path);
    return e;
}

void engine_end(Engine *e)
{
    if (!e)
        return;
    process_end(e);
    close(e->fd);
    text_free(&e->got);
    free(e);
}

// Ends an engine that has died or must stop at the deadline.
static void lost(Engine *e)
{
    if (!e->is_dead && deadline_check(e->deadline) == STOP_DONE)
        diag_warn(e->d, "an engine of linear programs died; the search goes on without it");
    process_end(e);
}

static void ask(Engine *e, WireKind kind, Text *body)
{
    if (!e->is_dead && !wire_send(e->fd, kind, body))
        lost(e);
    text_free(body);
}

void engine_clear(Engine *e)
{
    Text t = {0};

    if (!e)
        return;
    ask(e, WIRE_CLEAR, &t);
    e->n_columns = e->n_rows = 0;
}

void engine_columns(Engine *e, const Lines *columns)
{
    Text t = {0};

    wire_put_lines(&t, columns);
    ask(e, WIRE_COLUMNS, &t);
    e->n_columns += columns->n;
}

void engine_rows(Engine *e, const Lines *rows)
{
    Text t = {0};

    wire_put_lines(&t, rows);
    ask(e, WIRE_ROWS, &t);
    e->n_rows += rows->n;
}

void engine_bounds(Engine *e, int n, const int *column, const double *low, const double *high)
{
    Text t = {0};
    int64_t count = n;

    text_put(&t, (const char *)&count, sizeof count);
    for (int i = 0; i < n; i++) {
        double line[3] = {column[i], low[i], high[i]};
        text_put(&t, (const char *)line, sizeof line);
    }
    ask(e, WIRE_BOUNDS, &t);
}

// Receives a message and returns its kind; 0: the engine is gone.
static int receive(Engine *e)
{
    bool goes_on = !e->is_dead && deadline_check(e->deadline) == STOP_DONE;
    int kind = goes_on ? wire_receive(e->fd, &e->got, e->deadline) : 0;

    if (!kind)
        lost(e);
    return kind;
}

static MipStatus gone(const Engine *e)
{
    return deadline_check(e->deadline) != STOP_DONE ? MIP_STOPPED : MIP_FAILED;
}

Relaxed engine_relax(Engine *e, int64_t iterations)
{
    Text t = {0};
    Relaxed r = {0};
    int64_t head[2];
    size_t at = 0;

    text_put(&t, (const char *)&iterations, sizeof iterations);
    ask(e, WIRE_RELAX, &t);
    if (receive(e) != WIRE_RELAXED) {
        r.status = gone(e);
        return r;
    }
    memcpy(head, wire_take(&e->got, &at, sizeof head), sizeof head);
    r.status = (MipStatus)head[0];
    r.iterations = head[1];
    memcpy(&r.objective, wire_take(&e->got, &at, sizeof r.objective), sizeof r.objective);
    r.x = (double *)wire_take(&e->got, &at, (size_t)e->n_columns * sizeof *r.x);
    r.dual = (double *)wire_take(&e->got, &at, (size_t)e->n_rows * sizeof *r.dual);
    return r;
}

// Keeps a point of the search if it is the best, and gives it to the listener.
static void point_take(Engine *e, Branched *b, MipListener l)
{
    size_t at = 0, n = (size_t)e->n_columns;
    double objective;

    memcpy(&objective, wire_take(&e->got, &at, sizeof objective), sizeof objective);
    const double *x = wire_take(&e->got, &at, n * sizeof *x);
    if (b->x && objective >= b->objective)
        return;
    if (!b->x)
        b->x = malloc((n + 1) * sizeof *x);
    if (!b->x)
        lack_of_memory();
    memcpy(b->x, x, n * sizeof *x);
    b->objective = objective;
    if (l.point)
        l.point(l.to, objective, b->x);
}

Branched engine_branch(Engine *e, double cutoff, double gap, int64_t nodes, MipListener l)
{
    Text t = {0};
    Branched b = {.bound = -MIP_FREE};
    double head[2] = {cutoff, gap};
    int kind;

    text_put(&t, (const char *)head, sizeof head);
    text_put(&t, (const char *)&nodes, sizeof nodes);
    ask(e, WIRE_BRANCH, &t);
    while ((kind = receive(e)) == WIRE_POINT || kind == WIRE_BOUND) {
        double bound;
        if (kind == WIRE_POINT) {
            point_take(e, &b, l);
            continue;
        }
        memcpy(&bound, e->got.s, sizeof bound);
        b.bound = bound > b.bound ? bound : b.bound;
        if (l.bound)
            l.bound(l.to, b.bound);
    }
    if (kind == WIRE_BRANCHED) {
        int64_t status;
        memcpy(&status, e->got.s, sizeof status);
        memcpy(&b.bound, e->got.s + sizeof status, sizeof b.bound);
        b.status = (MipStatus)status;
    } else {
        b.status = gone(e);
    }
    return b;
}
