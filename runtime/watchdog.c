// The watchdog: a thread beside each rank that looks now and then at what nobody can see who waits
// inside a library. It ends the rank where the library waits for longer than --timeout for others,
// or where the launcher is gone. It removes the file that is being written once a rank of this host
// is gone: the launcher soon kills the others, too.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/internal.h"
#include "runtime/transport.h"

#define LOOK_SECONDS 0.2  // seconds between two looks
#define STAGGER_SECONDS                                                                            \
    1.5  // until the next rank says the same, if the launcher hasn't ended it by then
enum { LAUNCHER_S = 3 };  // that a launcher may take to end the job

struct RtWatchdog {
    const RtModel *model;
    double timeout;
    pid_t launcher;
    int place;    // of this rank, as the launcher says
    pid_t *peer;  // the other ranks of this host
    int n_peers;
    const char *waiting;  // for whom or what, in a library; NULL: it isn't
    double since;
    const char *file;  // to be removed if the job is lost; NULL: none
    bool is_closing;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

// ---- its thread ----

static void remove_file(RtWatchdog *w)
{
    if (w->file)
        unlink(w->file);
    w->file = NULL;
}

static bool is_gone(pid_t process) { return kill(process, 0) != 0 && errno == ESRCH; }

static void end_wait(RtWatchdog *w)
{
    remove_file(w);
    rt_error(w->model,
             "%s took more than %g s: a rank is missing, stuck or cut off, or runs another program",
             w->waiting, w->timeout);
    fflush(stderr);
    rt_end_launcher(LAUNCHER_S);
    _exit(1);
}

static void check_job(RtWatchdog *w)
{
    if (getppid() != w->launcher) {
        remove_file(w);
        _exit(1);
    }
    for (int i = 0; i < w->n_peers && w->file; i++)
        if (is_gone(w->peer[i]))
            remove_file(w);
    int order = w->place < 2 ? w->place : 2;
    if (w->waiting && rt_seconds() - w->since > w->timeout + STAGGER_SECONDS * order)
        end_wait(w);
}

static void *watch(void *watchdog)
{
    RtWatchdog *w = watchdog;

    pthread_mutex_lock(&w->lock);
    while (!w->is_closing) {
        struct timespec t;

        check_job(w);
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += (long)(1e9 * LOOK_SECONDS);
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->changed, &w->lock, &t);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

// ---- the rank's own thread ----

bool rt_watchdog_open(RtWatchdog **watchdog, const RtModel *m, double timeout, int place)
{
    RtWatchdog *w = rt_alloc(1, sizeof *w);

    *w = (RtWatchdog){.model = m, .timeout = timeout, .launcher = getppid(), .place = place};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    *watchdog = w;
    if (!pthread_create(&w->thread, NULL, watch, w))
        return true;
    free(w);
    *watchdog = NULL;
    return rt_error(m, "no thread can be made to watch over the other ranks");
}

void rt_watchdog_close(RtWatchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->peer);
    free(w);
}

void rt_watchdog_wait(RtWatchdog *w, const char *what)
{
    pthread_mutex_lock(&w->lock);
    w->waiting = what;
    w->since = rt_seconds();
    w->n_peers = what ? 0 : w->n_peers;
    pthread_mutex_unlock(&w->lock);
}

RtProcess rt_process(void)
{
    struct stat st;

    return (RtProcess){getpid(), stat("/proc/self/ns/pid", &st) == 0 ? (int64_t)st.st_ino : 0};
}

void rt_watchdog_peers(RtComm *c)
{
    RtWatchdog *w = c->watchdog;
    RtProcess own = rt_process();

    pthread_mutex_lock(&w->lock);
    w->peer = rt_alloc((size_t)c->ranks, sizeof *w->peer);
    for (int r = 0; r < c->ranks; r++)
        if (c->window[r] && r != c->rank && own.pid_namespace &&
            c->window[r]->process.pid_namespace == own.pid_namespace)
            w->peer[w->n_peers++] = c->window[r]->process.id;
    pthread_mutex_unlock(&w->lock);
}

void rt_watchdog_file(RtWatchdog *w, const char *path)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->file = path;
    pthread_mutex_unlock(&w->lock);
}

void rt_watchdog_lose(RtWatchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    remove_file(w);
    pthread_mutex_unlock(&w->lock);
}

// Where the link to a host is gone, the library tries for minutes to tell that host's ranks that
// all is over, and so does mpirun. A process of its own sees to it that both end soon.
void rt_end_launcher(unsigned seconds)
{
    pid_t launcher = getppid();

    alarm(seconds);
    if (!getenv("OMPI_COMM_WORLD_SIZE") || fork() != 0)
        return;
    setsid();
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    sleep(seconds);
    kill(launcher, SIGKILL);  // on SIGTERM Open MPI 4.1 breaks down here, loudly
    _exit(0);
}
