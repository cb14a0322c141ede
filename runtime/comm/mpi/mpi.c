// The transport of MPI: messages and shared memory.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/exchange/message_collectives.h"

enum { WARNING, DATA };  // MPI tags; a message with our tag t has DATA + t
enum { WINDOW_ALIGN = _Alignof(RtSharedWindow) };

typedef struct Mpi {
    MPI_Comm world;
    MPI_Win windows;
    MPI_Request *message;
    int n_messages, last;  // last: the number that was returned last
    RtWarning warning;     // the message of warn
} Mpi;

// ---- start ----

// Aligns the window by hand, because processes may map it at different offsets of a page.
static RtSharedWindow *window_in(void *base)
{
    return (RtSharedWindow *)(((uintptr_t)base + WINDOW_ALIGN - 1) / WINDOW_ALIGN * WINDOW_ALIGN);
}

// The lowest rank prints the error and ends the others; higher ranks wait a little longer.
static void fail_windows(RtComm *c)
{
    usleep((useconds_t)c->rank * 20000);
    rt_error(
        c->model,
        "no space for %zu KiB of shared memory for each rank of a host: df /dev/shm, ulimit -f",
        sizeof(RtSharedWindow) >> 10);
    rt_comm_fail(c);
}

// Sets c->window to the shared windows of this host's ranks.
static bool share_windows(RtComm *c, Mpi *s)
{
    MPI_Comm host;
    MPI_Group world_group, host_group;
    void *base;

    MPI_Comm_split_type(s->world, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &host);
    int error = MPI_Win_allocate_shared(sizeof(RtSharedWindow) + WINDOW_ALIGN, 1, MPI_INFO_NULL,
                                        host, &base, &s->windows);
    if (error != MPI_SUCCESS || !rt_clear_shared(window_in(base), sizeof(RtSharedWindow))) {
        fail_windows(c);
        return false;
    }
    window_in(base)->process = rt_process();
    MPI_Comm_group(s->world, &world_group);
    MPI_Comm_group(host, &host_group);
    for (int r = 0; r < c->ranks; r++) {
        int in_host, unit;
        MPI_Aint bytes;

        MPI_Group_translate_ranks(world_group, 1, &r, host_group, &in_host);
        if (in_host == MPI_UNDEFINED)
            continue;
        MPI_Win_shared_query(s->windows, in_host, &bytes, &unit, &base);
        c->window[r] = window_in(base);
    }
    MPI_Barrier(host);
    MPI_Group_free(&world_group);
    MPI_Group_free(&host_group);
    MPI_Comm_free(&host);
    return true;
}

static bool mpi_open(RtComm *c)
{
    int level;
    Mpi *s = rt_alloc(1, sizeof *s);

    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED)
        return rt_error(c->model,
                        "this MPI lets only one thread call it (it gives thread level %d, "
                        "MPI_THREAD_SERIALIZED is needed)",
                        level);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->world);
    MPI_Comm_set_errhandler(s->world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->world, &c->rank);
    MPI_Comm_size(s->world, &c->ranks);
    c->state = s;
    c->window = rt_alloc((size_t)c->ranks, sizeof *c->window);
    s->n_messages = 2 * RT_MAX_PENDING(c);
    s->message = rt_alloc((size_t)s->n_messages, sizeof(MPI_Request));
    for (int i = 0; i < s->n_messages; i++)
        s->message[i] = MPI_REQUEST_NULL;
    return share_windows(c, s);
}

static void mpi_close(RtComm *c)
{
    Mpi *s = c->state;

    MPI_Win_free(&s->windows);
    MPI_Comm_free(&s->world);
    MPI_Finalize();
    free(s->message);
    free(s);
    free(c->window);
}

// ---- messages ----

// The next free number. Numbers are freed mostly in the order in which they were taken.
static int free_number(Mpi *s)
{
    do
        s->last = (s->last + 1) % s->n_messages;
    while (s->message[s->last] != MPI_REQUEST_NULL);
    return s->last;
}

static int mpi_send(RtComm *c, int to, const void *data, int64_t bytes)
{
    Mpi *s = c->state;
    int i = free_number(s);

    int error = MPI_Isend(data, (int)bytes, MPI_BYTE, to, DATA + c->tag, s->world, &s->message[i]);
    return error == MPI_SUCCESS ? i : -1;
}

static int mpi_receive(RtComm *c, int from, void *data, int64_t bytes)
{
    Mpi *s = c->state;
    int i = free_number(s);

    int error =
        MPI_Irecv(data, (int)bytes, MPI_BYTE, from, DATA + c->tag, s->world, &s->message[i]);
    return error == MPI_SUCCESS ? i : -1;
}

static int mpi_test(RtComm *c, int message)
{
    Mpi *s = c->state;
    int done = 0;

    if (message < 0 || MPI_Test(&s->message[message], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    return done;
}

// ---- failures ----

static void mpi_warn(RtComm *c, const RtWarning *w)
{
    Mpi *s = c->state;
    MPI_Request sent;

    s->warning = *w;
    for (int r = 0; r < c->ranks; r++)
        if (r != c->rank && MPI_Isend(&s->warning, sizeof s->warning, MPI_BYTE, r, WARNING,
                                      s->world, &sent) == MPI_SUCCESS)
            MPI_Request_free(&sent);
}

static int mpi_warned(RtComm *c, RtWarning *w)
{
    Mpi *s = c->state;
    MPI_Status status;
    int is_there = 0;

    if (MPI_Iprobe(MPI_ANY_SOURCE, WARNING, s->world, &is_there, &status) != MPI_SUCCESS ||
        !is_there)
        return -1;
    MPI_Recv(w, sizeof *w, MPI_BYTE, status.MPI_SOURCE, WARNING, s->world, MPI_STATUS_IGNORE);
    return status.MPI_SOURCE;
}

static void mpi_end(RtComm *c)
{
    fflush(NULL);
    rt_end_launcher(c->transport, 2);
    MPI_Abort(((Mpi *)c->state)->world, 1);
}

const RtTransport rt_mpi = {
    .name = "mpi",
    .launcher = "mpirun",
    .unbind = "--bind-to none",
    .lingers = "OMPI_COMM_WORLD_SIZE",
    .starting = "MPI's start",
    .ending = "MPI's end",
    .open = mpi_open,
    .close = mpi_close,
    .send = mpi_send,
    .receive = mpi_receive,
    .test = mpi_test,
    .warn = mpi_warn,
    .warned = mpi_warned,
    .end = mpi_end,
    .collectives = &rt_message_collectives,
};
