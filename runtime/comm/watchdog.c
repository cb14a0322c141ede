// The watchdog: a second thread of each rank that checks periodically what the rank can't see while
// it waits inside a library. It ends the rank if the library waits for other ranks for longer than
// --timeout, or if the launcher is gone. Once a rank of this host is gone it removes the temporary
// output file, and says who is gone: not every launcher ends the other ranks then.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

#define LOOK_SECONDS 0.2  // between two checks
#define STAGGER_SECONDS                                                                            \
    1.2  // between ranks that print the timeout, to let the launcher end the job first
#define SETTLE_SECONDS 0.8  // in which GPUs come to a rank that is gone
enum { LAUNCHER_S = 2 };    // seconds that the launcher may take to end the job

struct RtWatchdog {
    const RtModel *model;
    double timeout;
    pid_t launcher;        // 0: this rank may outlive the process that started it
    int rank;              // this rank's number, according to the launcher
    const RtComm *comm;    // NULL: the other ranks of this host aren't watched
    const char *waiting;   // the library call that waits; NULL: none
    double since, looked;  // the wait's begin; the last look at the clock
    const char *file;      // to be removed if the job ends early; NULL: none
    RtTicker ticker;       // its lock protects what changes here
};

// ---- the watchdog's thread ----

// The file may be made only later, by rank 0, so its name is kept.
static void remove_file(const RtWatchdog *w)
{
    if (w->file)
        unlink(w->file);
}

static bool is_gone(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

// The socket that makes this process the only one of its host that prints an error of several.
static int speaker = -1;

bool rt_is_speaker(const char *error)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "shardcc-%s", error);
    speaker = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return bind(speaker, (struct sockaddr *)&name, sizeof name) == 0 || errno != EADDRINUSE;
}

// Is this rank the first of its launcher to print the timeout?
static bool is_first(const RtWatchdog *w)
{
    char error[32];

    snprintf(error, sizeof error, "timeout-%d", (int)w->launcher);
    return rt_is_speaker(error);
}

static void end_wait(RtWatchdog *w)
{
    remove_file(w);
    if (!is_first(w)) {
        sleep(LAUNCHER_S + 1);  // until the launcher ends the job
        _exit(1);
    }
    rt_error(w->model,
             "%s took more than %g s: a rank is missing, stuck or cut off, or runs another program",
             w->waiting, w->timeout);
    fflush(stderr);
    rt_end_launcher(w->model->transport, LAUNCHER_S);
    _exit(1);
}

// A rank of this host that is gone without having said that it ends the job; -1: none.
static int gone_rank(const RtComm *c)
{
    RtProcess own = rt_process();

    for (int r = 0; r < c->ranks; r++) {
        const RtSharedWindow *b = c->window[r];
        if (b && r != c->rank && own.pid_namespace &&
            b->process.pid_namespace == own.pid_namespace && is_gone(b->process.id))
            return r;
    }
    return -1;
}

// Waits until the devices of the ranks that are left have come to the collective that can't end.
static void let_devices_settle(const RtComm *c)
{
    int64_t before = -1, now;

    for (double end = rt_seconds() + SETTLE_SECONDS; rt_seconds() < end; before = now) {
        now = rt_progress_here(c);
        if (now == before)
            return;
        usleep((useconds_t)(1e6 * LOOK_SECONDS));
    }
}

static void say_gone(const RtComm *c, int gone)
{
    const RtComm *counting = rt_counting_comm(c);

    if (counting)
        let_devices_settle(counting);
    rt_gone_say(counting ? counting : c, gone);
}

// The launcher soon ends the other ranks, or not at all. The first one that is left says who is
// gone, unless that one has said why.
static void end_without(RtWatchdog *w, int gone)
{
    const RtComm *c = w->comm;
    int first = 0;

    remove_file(w);
    while (!c->window[first] || is_gone(c->window[first]->process.id))
        first++;
    if (first != c->rank || atomic_load(&c->window[gone]->ends)) {
        usleep((useconds_t)(1e6 * STAGGER_SECONDS));  // until it is said
        _exit(1);
    }
    atomic_store(&c->window[c->rank]->ends, true);
    say_gone(c, gone);
    fflush(stderr);
    rt_end_launcher(w->model->transport, LAUNCHER_S);
    _exit(1);
}

static bool look(const RtComm *comm)
{
    RtComm c = *comm;  // a rank's own thread changes its fields, of which `look` needs the state

    return c.transport->look(&c);
}

static void check_job(void *watchdog)
{
    RtWatchdog *w = watchdog;
    bool is_over = w->launcher && getppid() != w->launcher;
    if (is_over || (w->comm && w->model->transport->look && !look(w->comm))) {
        remove_file(w);
        _exit(1);
    }
    int gone = w->comm ? gone_rank(w->comm) : -1;
    if (gone >= 0)
        end_without(w, gone);
    int order = w->rank < 2 ? w->rank : 2;
    double now = rt_seconds();
    w->since += rt_stopped_seconds(w->timeout, w->looked, now);
    w->looked = now;
    if (w->waiting && now - w->since > w->timeout + STAGGER_SECONDS * order)
        end_wait(w);
}

// ---- the rank's own thread ----

bool rt_watchdog_open(RtWatchdog **watchdog, const RtModel *m, const RtJob *job, int rank)
{
    RtWatchdog *w = rt_alloc(1, sizeof *w);

    // A rank that was started by hand goes on when its terminal closes.
    *w = (RtWatchdog){.model = m,
                      .timeout = job->timeout,
                      .launcher = job->size && !job->is_spawned ? 0 : getppid(),
                      .rank = rank};
    *watchdog = w;
    if (rt_ticker_open(&w->ticker, LOOK_SECONDS, check_job, w)) {
        if (job->is_spawned)
            prctl(PR_SET_PDEATHSIG, 0);  // from now on the watchdog ends it, and removes the file
        return true;
    }
    free(w);
    *watchdog = NULL;
    return rt_error(m, "cannot start the watchdog thread");
}

void rt_watchdog_close(RtWatchdog *w)
{
    if (!w)
        return;
    rt_ticker_close(&w->ticker);
    free(w);
}

void rt_watchdog_wait(RtWatchdog *w, const char *what)
{
    pthread_mutex_lock(&w->ticker.lock);
    w->waiting = what;
    w->since = rt_seconds();
    w->comm = what ? NULL : w->comm;
    pthread_mutex_unlock(&w->ticker.lock);
}

RtProcess rt_process(void) { return (RtProcess){getpid(), rt_namespace("pid")}; }

void rt_watchdog_peers(const RtComm *c)
{
    RtWatchdog *w = c->watchdog;

    pthread_mutex_lock(&w->ticker.lock);
    w->comm = c;
    pthread_mutex_unlock(&w->ticker.lock);
}

void rt_watchdog_file(RtWatchdog *w, const char *path)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->ticker.lock);
    w->file = path;
    pthread_mutex_unlock(&w->ticker.lock);
}

void rt_watchdog_lose(RtWatchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->ticker.lock);
    if (w->comm)
        atomic_store(&w->comm->window[w->comm->rank]->ends, true);
    remove_file(w);
    pthread_mutex_unlock(&w->ticker.lock);
}

// If the link to a host is gone, the MPI library and mpirun both try for minutes to tell that
// host's ranks about the end. A separate process makes sure that both end soon.
void rt_end_launcher(const RtTransport *t, unsigned seconds)
{
    pid_t launcher = getppid();

    alarm(seconds);
    if (!t->lingers || !getenv(t->lingers) || fork() != 0)
        return;
    setsid();
    for (int fd = 0; fd < 1024; fd++)
        if (fd != speaker)
            close(fd);
    sleep(seconds);
    kill(launcher, SIGKILL);  // SIGTERM makes Open MPI 4.1 crash noisily here
    _exit(0);
}
