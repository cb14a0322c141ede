// Rank 0's side of the rendezvous. Connections of others than ranks are closed without a word, and
// can't hold up anybody.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm/tcp/rendezvous.h"
#include "runtime/core/core.h"

#define LINGER_SECONDS 1.0  // that rank 0 stays, after a mistake, for ranks that come later

// "ranks 1, 3"
static void print_missing(const RtRendezvous *x, char *to, size_t capacity)
{
    size_t n = 0;
    int many = 0;

    for (int r = 1; r < x->s->ranks; r++)
        many += x->joined[r] < 0;
    for (int r = 1; r < x->s->ranks && n < capacity; r++)
        if (x->joined[r] < 0)
            n += (size_t)snprintf(to + n, capacity - n, "%s%d",
                                  n          ? ", "
                                  : many > 1 ? "s "
                                             : " ",
                                  r);
}

// ---- the listener ----

static bool open_listener(RtRendezvous *x)
{
    for (int i = 0; i < x->job->n_ports && x->s->listener < 0; i++) {
        RtAddress at = rt_address_any(&x->at[0]);
        rt_address_set_port(&at, x->job->port + i);
        x->s->listener = rt_listen(&at);
    }
    if (x->s->listener >= 0)
        return true;
    if (x->job->is_local)
        return rt_error(x->c->model, "another rank 0 of this job is on this host already: %s",
                        strerror(errno));
    return rt_error(x->c->model, "rank 0 can't listen at port %d: %s", x->job->port,
                    strerror(errno));
}

// Says what is wrong with a rank that wants to join, and returns false; true: nothing is.
static bool check_join(const RtRendezvous *x, const RtHandshake *t)
{
    const RtHello *h = &t->hello;
    const RtModel *m = x->c->model;
    char from[128];

    RtAddress other = rt_other_address(t->fd);
    rt_address_print(&other, from, sizeof from);
    if (h->has_secret != (x->s->secret.bytes != 0))
        return rt_error(m, "rank %d (%s) has %s SHARDCC_SECRET, rank 0 has %s", h->rank, from,
                        h->has_secret ? "a" : "no", h->has_secret ? "none" : "one");
    if (!rt_handshake_is_trusted(t))
        return rt_error(m, "rank %d (%s) has another SHARDCC_SECRET than rank 0", h->rank, from);
    if (h->key != rt_rendezvous_program(m))
        return rt_error(m, "rank %d (%s) runs another program than rank 0, or another plan of it",
                        h->rank, from);
    if (h->ranks != x->s->ranks || h->rank < 0 || h->rank >= x->s->ranks)
        return rt_error(m, "a process (%s) says that it is rank %d of %d, but the job has %d ranks",
                        from, h->rank, h->ranks, x->s->ranks);
    if (h->rank == 0 || x->joined[h->rank] >= 0)
        return rt_error(m, "two processes say that they are rank %d: the second is %lld (%s)",
                        h->rank, (long long)h->self.process, from);
    return rt_address_is_valid(&h->self.listener) ||
           rt_error(m, "rank %d (%s) listens nowhere", h->rank, from);
}

// A rank that wasn't answered in time comes again.
static void forget_earlier(const RtRendezvous *x, const RtHello *h)
{
    const RtTcpPeer *known = x->s->peer;

    if (h->rank <= 0 || h->rank >= x->s->ranks || x->joined[h->rank] < 0)
        return;
    known += h->rank;
    if (known->process == h->self.process && known->window == h->self.window &&
        known->boot == h->self.boot) {
        close(x->joined[h->rank]);
        x->joined[h->rank] = -1;
    }
}

// Lets a rank join that has said hello; others are closed without a word. Returns false after a
// message if it can't join: its connection stays, to be told that the job ends.
static bool take_join(RtRendezvous *x, RtHandshake *t)
{
    if (t->hello.kind == RT_JOIN) {
        forget_earlier(x, &t->hello);
        if (!check_join(x, t))
            return false;
        if (rt_handshake_answer(t, RT_WELCOME)) {
            x->s->peer[t->hello.rank] = t->hello.self;
            x->joined[t->hello.rank] = t->fd;
            t->fd = -1;
        }
    }
    rt_handshake_close(t);
    return true;
}

// A rank that has joined says nothing; its connection closes if it ends.
static bool check_joined(const RtRendezvous *x)
{
    char byte;

    for (int r = 1; r < x->s->ranks; r++)
        if (x->joined[r] >= 0 && recv(x->joined[r], &byte, 1, 0) == 0)
            return rt_error(x->c->model, "rank %d has ended before all ranks were there", r);
    return true;
}

static bool is_complete(const RtRendezvous *x)
{
    for (int r = 1; r < x->s->ranks; r++)
        if (x->joined[r] < 0)
            return false;
    return true;
}

static void wait_for_incoming(const RtTcp *s)
{
    struct pollfd p[RT_MAX_INCOMING + 1] = {{.fd = s->listener, .events = POLLIN}};

    for (int i = 0; i < RT_MAX_INCOMING; i++)
        p[i + 1] = (struct pollfd){.fd = s->incoming[i].fd, .events = POLLIN};
    poll(p, RT_MAX_INCOMING + 1, RT_RENDEZVOUS_POLL);
}

static bool receive_ranks(RtRendezvous *x)
{
    RtTcp *s = x->s;
    char missing[256] = "", endpoint[300];

    while (!is_complete(x)) {
        if (rt_seconds() > x->deadline) {
            print_missing(x, missing, sizeof missing);
            rt_rendezvous_print_endpoint(x, endpoint, sizeof endpoint);
            return rt_error(x->c->model, "rank%s of %d didn't come to rank 0 %s within %g s",
                            missing, s->ranks, endpoint, x->c->timeout);
        }
        wait_for_incoming(s);
        rt_link_accept(s);
        RtHandshake *t;
        for (int i = 0; (t = rt_link_next_hello(s, &i));)
            if (!take_join(x, t))
                return false;
        if (!check_joined(x))
            return false;
    }
    return true;
}

// Ranks on rank 0's host have told the address by which they reached it, which may be one that
// other hosts can't: then they get the one by which the others reach this host.
static void set_outer_addresses(RtRendezvous *x)
{
    RtTcpPeer *peer = x->s->peer;
    RtAddress outer = {.n = 0};

    for (int r = 1; r < x->s->ranks && !outer.n; r++) {
        RtAddress own = rt_own_address(x->joined[r]), other = rt_other_address(x->joined[r]);
        if (!rt_address_is_local(&other) && !rt_tcp_is_near(&peer[r], &x->self))
            outer = own;
    }
    for (int r = 0; r < x->s->ranks && outer.n; r++)
        if (rt_address_is_local(&peer[r].listener)) {
            int port = rt_address_port(&peer[r].listener);
            peer[r].listener = outer;
            rt_address_set_port(&peer[r].listener, port);
        }
}

// Sends the table, and lets all ranks go on together: each has then opened the others' windows.
static bool send_table(RtRendezvous *x)
{
    RtTcp *s = x->s;
    RtRendezvousTable table = {RT_WELCOME, s->key};
    int gone = 0;
    char byte = 0;

    for (int r = 1; r < s->ranks && !gone; r++)
        if (!rt_rendezvous_transfer(x->joined[r], &table, sizeof table, true, x->deadline) ||
            !rt_rendezvous_transfer(x->joined[r], s->peer, sizeof *s->peer * (size_t)s->ranks, true,
                                    x->deadline))
            gone = r;
    if (!gone)
        rt_tcp_windows_share(x->c, s->peer);
    for (int r = 1; r < s->ranks && !gone; r++)
        gone = rt_rendezvous_transfer(x->joined[r], &byte, 1, false, x->deadline) ? 0 : r;
    for (int r = 1; r < s->ranks && !gone; r++)
        gone = rt_rendezvous_transfer(x->joined[r], &byte, 1, true, x->deadline) ? 0 : r;
    return !gone || rt_error(x->c->model, "rank %d has ended while the ranks started", gone);
}

static void send_off(RtHandshake *t)
{
    rt_handshake_answer(t, RT_JOB_ENDS);
    rt_handshake_close(t);
}

// Tells the ranks that the job ends, also those that come only now: else they would look for rank 0
// and miss it. The connection of a rank that was refused is still among the incoming ones.
static void dismiss(RtRendezvous *x)
{
    RtRendezvousTable table = {RT_JOB_ENDS, 0};

    fflush(stderr);
    for (int i = 0; i < RT_MAX_INCOMING; i++)
        if (x->s->incoming[i].fd >= 0 && x->s->incoming[i].words > 1)
            send_off(&x->s->incoming[i]);
    for (int r = 1; r < x->s->ranks; r++)
        if (x->joined[r] >= 0)
            rt_rendezvous_transfer(x->joined[r], &table, sizeof table, true,
                                   rt_seconds() + RT_HANDSHAKE_SECONDS);
    for (double end = rt_seconds() + LINGER_SECONDS; rt_seconds() < end && !is_complete(x);) {
        wait_for_incoming(x->s);
        rt_link_accept(x->s);
        RtHandshake *t;
        for (int i = 0; (t = rt_link_next_hello(x->s, &i));)
            send_off(t);
    }
}

// All have come: the port that everybody knows is closed, for one that the ranks are told.
static bool change_listener(RtRendezvous *x)
{
    RtTcp *s = x->s;
    int first = -1;

    for (int r = 1; r < s->ranks && first < 0; r++)
        first = x->joined[r];
    for (int i = 0; i < RT_MAX_INCOMING; i++)
        rt_handshake_close(&s->incoming[i]);
    close(s->listener);
    s->listener = -1;
    if (!rt_rendezvous_listen(x, &x->at[0]) || !rt_rendezvous_set_address(x, first))
        return false;
    s->peer[0] = x->self;
    set_outer_addresses(x);
    return true;
}

bool rt_rendezvous_lead(RtRendezvous *x)
{
    RtTcp *s = x->s;

    if (!open_listener(x))
        return false;
    x->joined = rt_alloc((size_t)s->ranks, sizeof *x->joined);
    for (int r = 0; r < s->ranks; r++)
        x->joined[r] = -1;
    rt_draw_bytes(&s->key, sizeof s->key);
    bool ok = receive_ranks(x) && change_listener(x);
    x->deadline = rt_seconds() + x->c->timeout;
    ok = ok && send_table(x);
    if (!ok)
        dismiss(x);
    for (int r = 1; r < s->ranks; r++)
        if (x->joined[r] >= 0)
            close(x->joined[r]);
    free(x->joined);
    return ok;
}
