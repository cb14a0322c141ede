// The communicator: who the other ranks are, and what they agree on.
#include "runtime/comm/comm.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/rt_transport.h"

// ---- the ranks that were started ----

// The number in the first of these environment variables that is set; -1: none is.
static int first_set(const char *const *name)
{
    for (; *name; name++)
        if (getenv(*name))
            return atoi(getenv(*name));
    return -1;
}

// By what launchers have set before the process starts its transport. A program without a transport
// looks for the launchers of all.
bool rt_launched(const RtModel *m, const RtJob *job, int *ranks, int *rank)
{
    *ranks = *rank = -1;
    if (m->transport && m->transport->launched)
        return m->transport->launched(m, job, ranks, rank);
    for (const RtTransportRow *row = rt_transport_table; row->name; row++) {
        if (m->transport && strcmp(row->name, m->transport->name) != 0)
            continue;
        *ranks = *ranks < 0 ? first_set(row->counts) : *ranks;
        *rank = *rank < 0 ? first_set(row->numbers) : *rank;
    }
    // Some launchers set the number alone: the transport will count.
    if (*ranks < 0)
        *ranks = m->transport && *rank >= 0 ? rt_mesh_ranks(&m->mesh) : 1;
    *rank = *rank < 0 ? 0 : *rank;
    return true;
}

// "4 ranks (dp=2, tp=2)"
static void print_mesh(const RtMesh *m, char *to, size_t capacity)
{
    size_t n = (size_t)snprintf(to, capacity, "%d ranks", rt_mesh_ranks(m));

    for (int a = 0; a < m->n_axes && n < capacity; a++)
        n += (size_t)snprintf(to + n, capacity - n, "%s%s=%d", a ? ", " : " (", m->name[a],
                              m->size[a]);
    if (m->n_axes && n < capacity)
        snprintf(to + n, capacity - n, ")");
}

// Rank 0 prints the error. The others wait a second, because the launcher ends the job when any
// rank ends.
static bool check_count(const RtModel *m, int rank, int started)
{
    char mesh[160];

    if (started == rt_mesh_ranks(&m->mesh))
        return true;
    print_mesh(&m->mesh, mesh, sizeof mesh);
    if (rank) {
        sleep(1);
        return false;
    }
    if (!m->transport)
        return rt_error(
            m, "%d ranks were started, but the program has one: compile it with --ranks", started);
    const char *launcher = m->transport->launcher;
    return rt_error(m, "%d rank%s started, but the program has %s: %s%s %d", started,
                    started > 1 ? "s were" : " was", mesh, launcher ? launcher : "",
                    launcher ? " -n" : "--spawn", rt_mesh_ranks(&m->mesh));
}

// ---- groups ----

// How many ranks along an axis are on this host. This requires consecutive ranks that begin at a
// multiple of their number; otherwise it returns 1.
static int intra_host_count(const RtComm *c, const RtGroup *all)
{
    int n = 0, first = -1;

    for (int i = 0; i < all->n; i++)
        if (c->window[rt_peer(c, all, i)]) {
            first = first < 0 ? i : first;
            n++;
        }
    bool is_row = all->n % n == 0 && first % n == 0;
    for (int i = first; i < first + n && is_row; i++)
        is_row = c->window[rt_peer(c, all, i)] != NULL;
    return is_row ? n : 1;
}

// Groups must be equal on all ranks. If hosts differ, all ranks along the axis send messages.
static void find_groups(RtComm *c)
{
    const RtMesh *m = &c->model->mesh;

    for (int a = 0; a < m->n_axes; a++) {
        RtGroup all = {a, m->size[a], rt_mesh_coordinate(m, a, c->rank), rt_mesh_stride(m, a)};
        int n = intra_host_count(c, &all);

        if (rt_comm_max(c, n) != -rt_comm_max(c, -n))
            n = 1;
        c->intra_host[a] = (RtGroup){a, n, all.me % n, all.stride};
        c->inter_host[a] = (RtGroup){a, all.n / n, all.me / n, all.stride * n};
    }
}

// Warns if the launcher binds ranks to fewer CPUs than there are: by default mpirun binds each rank
// to one core.
static void advise(const RtComm *c)
{
    cpu_set_t own, launcher;
    int here = 0;

    if (c->rank || !c->transport->unbind || sched_getaffinity(0, sizeof own, &own) ||
        sched_getaffinity(getppid(), sizeof launcher, &launcher))
        return;
    for (int r = 0; r < c->ranks; r++)
        here += c->window[r] != NULL;
    int all = CPU_COUNT(&launcher);
    if (CPU_COUNT(&own) * here < all)
        fprintf(stderr, "%s: %s binds each rank to %d of %d CPUs: %s is faster\n", c->model->name,
                c->transport->launcher, CPU_COUNT(&own), all, c->transport->unbind);
}

bool rt_comm_open(RtComm **comm, const RtModel *m, const RtJob *job)
{
    int ranks, rank;

    *comm = NULL;
    if (!rt_launched(m, job, &ranks, &rank) || !check_count(m, rank, ranks))
        return false;
    if (!m->transport)
        return true;
    RtComm *c = rt_alloc(1, sizeof *c);
    *c = (RtComm){.transport = m->transport, .model = m, .job = *job, .timeout = job->timeout};
    if (!rt_watchdog_open(&c->watchdog, m, job, rank)) {
        free(c);
        return false;
    }
    rt_watchdog_wait(c->watchdog, c->transport->starting);
    if (!c->transport->open(c) || !check_count(m, c->rank, c->ranks)) {
        rt_comm_close(c);
        return false;
    }
    rt_watchdog_wait(c->watchdog, NULL);
    c->warning = rt_alloc((size_t)c->ranks, sizeof *c->warning);
    for (int r = 0; r < c->ranks; r++)
        c->warning[r].peer = -1;
    rt_last_calls_open(c, RT_LAST_CALLS);
    c->pending = rt_alloc((size_t)RT_MAX_PENDING(c), sizeof *c->pending);
    c->source = rt_alloc((size_t)c->ranks, sizeof *c->source);
    c->window_state = rt_alloc(1, sizeof *c->window_state);
    rt_watchdog_peers(c);
    find_groups(c);
    advise(c);
    *comm = c;
    return true;
}

void rt_comm_close(RtComm *c)
{
    if (!c)
        return;
    rt_watchdog_wait(c->watchdog, c->transport->ending);
    c->transport->close(c);
    rt_watchdog_close(c->watchdog);
    free(c->warning);
    rt_last_calls_close(c);
    free(c->pending);
    free(c->source);
    free(c->window_state);
    free(c);
}

int rt_comm_rank(const RtComm *c) { return c ? c->rank : 0; }
int rt_comm_ranks(const RtComm *c) { return c ? c->ranks : 1; }

int rt_comm_rank_of_host(const RtComm *c)
{
    int n = 0;

    for (int r = 0; c && r < c->rank; r++)
        n += c->window[r] != NULL;
    return n;
}

const char *rt_comm_axis(const RtComm *c, int axis) { return c->model->mesh.name[axis]; }

// ---- between all ranks ----

static void begin(RtComm *c, const char *kind)
{
    rt_comm_thread_sync(c, -1);
    c->kind = kind;
    c->at = (RtCallName){0};
    c->axis = NULL;
    c->call_bytes = 0;
    rt_last_calls_add(c);
}

// After round k each rank knows the maximum of the 2^k ranks up to itself (Hensgen, Finkel and
// Manber, "Two algorithms for barrier synchronization", 1988).
int64_t rt_comm_max(RtComm *c, int64_t x)
{
    if (!c)
        return x;
    double start = rt_seconds();
    begin(c, "agreement");
    for (int step = 1; step < c->ranks; step *= 2) {
        int to = (c->rank + step) % c->ranks, from = (c->rank + c->ranks - step) % c->ranks;
        int64_t other;

        RtPending sent = rt_send(c, to, &x, sizeof x);
        rt_await(c, rt_receive(c, from, &other, sizeof other));
        rt_await(c, sent);
        x = other > x ? other : x;
    }
    c->seconds += rt_seconds() - start;
    return x;
}

double rt_comm_seconds(const RtComm *c) { return c ? c->seconds : 0; }

void rt_comm_collect(RtComm *c, int from, void *data, int64_t bytes)
{
    if (!c || from == 0 || (c->rank != 0 && c->rank != from))
        return;
    begin(c, "collection of results");
    for (int64_t at = 0; at < bytes; at += RT_MAX_MESSAGE_BYTES) {
        int64_t n = bytes - at < RT_MAX_MESSAGE_BYTES ? bytes - at : RT_MAX_MESSAGE_BYTES;
        char *part = (char *)data + at;
        rt_await(c, c->rank == from ? rt_send(c, 0, part, n) : rt_receive(c, from, part, n));
    }
}

void rt_comm_fail(RtComm *c)
{
    if (!c)
        return;
    rt_note("on rank %d of %d: the job ends", c->rank, c->ranks);
    rt_watchdog_lose(c->watchdog);
    rt_end_job(c);
}

void rt_comm_file(RtComm *c, const char *path)
{
    if (c)
        rt_watchdog_file(c->watchdog, path);
}

void rt_comm_at(RtComm *c, const char *what, int64_t layer)
{
    if (c)
        c->at = (RtCallName){what, layer};
}

// ---- what was sent ----

const char *rt_exchange_name(RtExchangeKind kind)
{
    static const char *const name[] = {"all_gather", "all_reduce", "all_to_all", "reduce_scatter",
                                       "permute"};

    return name[kind];
}

int64_t rt_comm_bytes(const RtComm *c, RtExchangeKind kind, int axis)
{
    return c ? c->bytes[kind][axis] + (c->second ? c->second->bytes[kind][axis] : 0) : 0;
}
