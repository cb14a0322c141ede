// The rendezvous: all ranks join rank 0, which then tells each of them where the others are.
#include "runtime/comm/tcp/rendezvous.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/core.h"

#define TABLE_SECONDS 3.0  // longer than rank 0's own deadline, so that rank 0 says who is missing
enum { HOLD_MILLISECONDS = 500 };

// ---- messages ----

// Ranks of one host may find the same mistake: one of them says it, and stays until the others have
// looked.
__attribute__((format(printf, 2, 3))) static void say_once(const RtRendezvous *x, const char *fmt,
                                                           ...)
{
    char error[32], text[512];
    va_list args;

    snprintf(error, sizeof error, "start-%016llx", (unsigned long long)x->s->number);
    if (!rt_is_speaker(error))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rt_error(x->c->model, "%s", text);
    fflush(stderr);
    usleep(HOLD_MILLISECONDS * 1000);
}

// ---- who this rank is ----

static bool describe(RtRendezvous *x)
{
    RtProcess own = rt_process();

    memset(&x->self, 0, sizeof x->self);
    x->self.boot = rt_boot_number();
    x->self.process = own.id;
    x->self.pid_namespace = own.pid_namespace;
    x->self.net_namespace = rt_namespace("net");
    return rt_tcp_window_open(x->c, &x->self);
}

static bool find_rank_0(RtRendezvous *x)
{
    const char *why;

    if (x->job->is_local) {
        x->at[0] = rt_address_of_name(x->job->name);
        x->n_at = 1;
        return true;
    }
    x->n_at = rt_address_find(x->job->name, x->job->port, x->at, RT_MAX_ADDRESSES, &why);
    if (x->n_at)
        return true;
    say_once(x, "the address of rank 0, '%s', isn't found: %s", x->job->name, why);
    return false;
}

static bool check_interface(const RtRendezvous *x)
{
    const char *name = x->c->job.interface;
    RtAddress found;

    return !name || x->job->is_local ||
           rt_address_of_interface(x->c->model, name, x->at[0].at.ss_family, &found);
}

// ---- the other ranks ----

static void wait_for(int fd, short events)
{
    poll(&(struct pollfd){.fd = fd, .events = events}, 1, RT_RENDEZVOUS_POLL);
}

// One call of rank 0. Returns the connection; -1: nobody answered; -2: after a message, or after
// rank 0 has said that the job ends.
static int call_once(RtRendezvous *x, const RtAddress *at)
{
    double deadline = rt_seconds() + RT_HANDSHAKE_SECONDS;
    int fd = rt_connect(at), error = 0;
    socklen_t n = sizeof error;

    if (fd < 0)
        return -1;
    wait_for(fd, POLLOUT);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error) {
        close(fd);
        return -1;
    }
    if (!rt_rendezvous_listen(x, at) || !rt_rendezvous_set_address(x, fd)) {
        close(fd);
        return -2;
    }
    RtHello hello = rt_hello(RT_JOIN, x->s->rank, x->s->ranks, rt_rendezvous_program(x->c->model));
    hello.self = x->self;
    RtHandshake t = rt_handshake_call(fd, x->s->number, &x->s->secret, &hello, deadline);
    RtHandshakeState state;
    while ((state = rt_handshake_step(&t)) == RT_HANDSHAKE_GOES_ON)
        wait_for(fd, POLLIN);
    if (state == RT_HANDSHAKE_ENDED && t.answer.kind == RT_WELCOME)
        return fd;
    close(fd);
    return state == RT_HANDSHAKE_ENDED ? -2 : -1;
}

static int call_rank_0(RtRendezvous *x)
{
    char endpoint[300];

    for (int i = 0;; i++) {
        RtAddress at = x->at[i % x->n_at];
        rt_address_set_port(&at, x->job->port + i / x->n_at % x->job->n_ports);
        int fd = call_once(x, &at);
        if (fd != -1)
            return fd;
        if (rt_seconds() > x->deadline)
            break;
        usleep(RT_RENDEZVOUS_POLL * 1000);
    }
    rt_rendezvous_print_endpoint(x, endpoint, sizeof endpoint);
    say_once(x, "rank 0 isn't there %s: no answer within %g s", endpoint, x->c->timeout);
    return -2;
}

// Returns false after a message, except if rank 0 has said why the job ends.
static bool follow_table(RtRendezvous *x, int fd)
{
    RtTcp *s = x->s;
    double deadline = rt_seconds() + x->c->timeout + TABLE_SECONDS;
    RtRendezvousTable table;
    char byte = 0;

    bool ok = rt_rendezvous_transfer(fd, &table, sizeof table, false, deadline);
    if (ok && table.kind != RT_WELCOME)
        return false;
    ok = ok &&
         rt_rendezvous_transfer(fd, s->peer, sizeof *s->peer * (size_t)s->ranks, false, deadline);
    for (int r = 0; r < s->ranks && ok; r++)
        ok = rt_address_is_valid(&s->peer[r].listener);
    if (ok) {
        s->key = table.key;
        rt_tcp_windows_share(x->c, s->peer);
    }
    ok = ok && rt_rendezvous_transfer(fd, &byte, 1, true, deadline) &&
         rt_rendezvous_transfer(fd, &byte, 1, false, deadline);
    if (!ok)
        say_once(x, "rank 0 has ended while the ranks started");
    return ok;
}

static bool follow(RtRendezvous *x)
{
    int fd = call_rank_0(x);
    bool ok = fd >= 0 && follow_table(x, fd);

    if (fd >= 0)
        close(fd);
    return ok;
}

bool rt_tcp_rendezvous(RtComm *c, RtTcp *s, const RtTcpJob *job)
{
    RtRendezvous x = {.c = c, .s = s, .job = job, .deadline = rt_seconds() + c->timeout};
    bool ok = describe(&x) && find_rank_0(&x) && check_interface(&x) &&
              (s->rank ? follow(&x) : rt_rendezvous_lead(&x));

    if (x.self.window >= 0)
        close(x.self.window);
    return ok;
}
