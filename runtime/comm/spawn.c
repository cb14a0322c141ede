// Starts the ranks of a job on this host, and ends them together.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/comm/comm.h"
#include "runtime/core/core.h"

#define END_SECONDS 3.0  // that ranks may take to end, and to say why, once one has failed
enum { KILLED = 128 };   // the status of a rank that a signal ended, with the signal's number

typedef struct Spawned {
    const RtModel *model;
    int n, running;
    pid_t *rank;     // in their order; 0: it has ended
    int status;      // of the rank that failed first; 0: none has
    int first;       // and its index; -1: it isn't a rank's
    double failed;   // when it did
    bool is_killed;  // the others didn't end by themselves
    bool follows_stdin;
} Spawned;

static const int handed_on[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};
enum { HANDED_ON = sizeof handed_on / sizeof *handed_on };

// SIGCHLD and the signals that ranks are to get. They wait until they are asked for.
static sigset_t awaited_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (int i = 0; i < HANDED_ON; i++)
        sigaddset(&set, handed_on[i]);
    return set;
}

static void send_all(const Spawned *s, int signal)
{
    for (int r = 0; r < s->n; r++)
        if (s->rank[r])
            kill(s->rank[r], signal);
}

static void note_end(Spawned *s, pid_t process, int ended)
{
    int status = WIFSIGNALED(ended) ? KILLED + WTERMSIG(ended) : WEXITSTATUS(ended);

    for (int r = 0; r < s->n; r++) {
        if (s->rank[r] != process)
            continue;
        s->rank[r] = 0;
        s->running--;
        if (status && !s->status) {
            s->status = status;
            s->first = r;
            s->failed = rt_seconds();
        }
    }
}

static void collect(Spawned *s)
{
    int ended;

    for (pid_t p; (p = waitpid(-1, &ended, WNOHANG)) > 0;)
        note_end(s, p, ended);
}

// The other end of stdin is gone, so these ranks are to end: as after SIGHUP, but soon.
static void lose_stdin(Spawned *s)
{
    s->follows_stdin = false;
    send_all(s, SIGTERM);
    if (s->status)
        return;
    s->status = KILLED + SIGHUP;
    s->first = -1;
    s->failed = rt_seconds();
}

// Hands on the signals whose numbers have come.
static void follow_stdin(Spawned *s)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char number;

    while (s->follows_stdin && poll(&in, 1, 0) > 0) {
        ssize_t n = read(STDIN_FILENO, &number, 1);
        if (n == 0 || (n < 0 && errno != EINTR))
            lose_stdin(s);
        for (int i = 0; i < HANDED_ON && n > 0; i++)
            if (handed_on[i] == number)
                send_all(s, number);
    }
}

static void wait_for_all(Spawned *s, const sigset_t *signals)
{
    while (s->running) {
        int signal = sigtimedwait(signals, NULL, &(struct timespec){.tv_nsec = 100000000});
        if (signal > 0 && signal != SIGCHLD)
            send_all(s, signal);
        follow_stdin(s);
        collect(s);
        if (s->status && s->running && rt_seconds() - s->failed > END_SECONDS) {
            s->is_killed = true;
            send_all(s, SIGKILL);
        }
    }
}

// In the new process. It dies with its parent until the watchdog looks after that.
static void become_rank(const sigset_t *before, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);  // so that a terminal's Ctrl-C reaches it once, through its parent
    sigprocmask(SIG_SETMASK, before, NULL);
}

// Returns the index of the rank that this process became; -1: it is still the one that called.
static int start_ranks(Spawned *s, const sigset_t *before)
{
    pid_t parent = getpid();

    for (int r = 0; r < s->n; r++) {
        pid_t p = fork();
        if (p == 0) {
            become_rank(before, parent);
            return r;
        }
        if (p < 0) {
            rt_error(s->model, "--spawn: %d of %d ranks can't be started: %s", s->n - r, s->n,
                     strerror(errno));
            s->status = 1;
            s->first = -1;
            send_all(s, SIGKILL);
            return -1;
        }
        s->rank[r] = p;
        s->running++;
    }
    return -1;
}

bool rt_spawn(const RtModel *m, int n, RtJob *job, int *status)
{
    Spawned s = {.model = m,
                 .n = n,
                 .rank = rt_alloc((size_t)n, sizeof(pid_t)),
                 .follows_stdin = job->follows_stdin};
    sigset_t signals = awaited_signals(), before;

    if (!*job->host)
        snprintf(job->name, sizeof job->name, "shardcc spawn %d %lld", (int)getpid(),
                 (long long)time(NULL));
    fflush(NULL);
    sigprocmask(SIG_BLOCK, &signals, &before);
    int rank = start_ranks(&s, &before);
    if (rank < 0) {
        wait_for_all(&s, &signals);
        if (s.is_killed && s.status > KILLED && s.first >= 0)
            rt_error(m, "rank %d was ended by signal %d (%s)", job->rank + s.first,
                     s.status - KILLED, strsignal(s.status - KILLED));
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    free(s.rank);
    *status = s.status;
    job->rank += rank;
    job->size = job->size ? job->size : n;
    job->is_spawned = true;
    return rank >= 0;
}
