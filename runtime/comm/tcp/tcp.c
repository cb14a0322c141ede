// The transport of TCP: its table. All calls hold the lock, as the watchdog looks too.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"
#include "runtime/exchange/message_collectives.h"

#define END_SECONDS 1.0  // for telling the other ranks that the job ends
enum { END_S = 3 };      // after which a rank that ends the job is killed

// ---- start and end ----

static bool tcp_launched(const RtModel *m, const RtJob *options, int *ranks, int *rank)
{
    RtTcpJob job;

    if (!rt_tcp_job(m, options, &job))
        return false;
    *ranks = job.ranks;
    *rank = job.rank;
    return true;
}

static bool read_secret(const RtModel *m, RtSecret *to)
{
    const char *text = getenv("SHARDCC_SECRET");

    *to = (RtSecret){text, text ? strlen(text) : 0};
    return !text || to->bytes >= RT_MIN_SECRET_BYTES ||
           rt_error(m, "SHARDCC_SECRET has %zu bytes; at least %d are needed", to->bytes,
                    RT_MIN_SECRET_BYTES);
}

static RtTcp *new_state(RtComm *c, const RtTcpJob *job)
{
    RtTcp *s = rt_alloc(1, sizeof *s);

    *s = (RtTcp){.rank = job->rank,
                 .ranks = job->ranks,
                 .number = job->number,
                 .listener = -1,
                 .n_messages = 2 * RT_MAX_PENDING(c)};
    pthread_mutex_init(&s->lock, NULL);
    s->peer = rt_alloc((size_t)s->ranks, sizeof *s->peer);
    s->link = rt_alloc(2 * (size_t)s->ranks, sizeof *s->link);
    s->listed = rt_alloc(2 * (size_t)s->ranks, sizeof *s->listed);
    s->message = rt_alloc((size_t)s->n_messages, sizeof *s->message);
    s->warning = rt_alloc((size_t)s->ranks, sizeof *s->warning);
    for (int r = 0; r < s->ranks; r++)
        s->warning[r].peer = -1;
    for (int i = 0; i < 2 * s->ranks; i++)
        s->link[i] = (RtLink){.fd = -1, .sends = {-1, -1}, .receives = {-1, -1}};
    for (int i = 0; i < RT_MAX_INCOMING; i++)
        s->incoming[i].fd = -1;
    return s;
}

static bool tcp_open(RtComm *c)
{
    RtTcpJob job;

    if (!rt_tcp_job(c->model, &c->job, &job))
        return false;
    c->rank = job.rank;
    c->ranks = job.ranks;
    // A rank whose number is too high joins, too: rank 0 says what is wrong.
    int n = c->rank < c->ranks ? c->ranks : c->rank + 1;
    c->window = rt_alloc((size_t)n, sizeof *c->window);
    RtTcp *s = c->state = new_state(c, &job);
    return read_secret(c->model, &s->secret) && rt_tcp_rendezvous(c, s, &job);
}

static void close_links(RtTcp *s)
{
    for (int i = 0; i < 2 * s->ranks; i++) {
        if (s->link[i].fd >= 0)
            close(s->link[i].fd);
        if (s->link[i].call)
            rt_handshake_close(s->link[i].call);
        free(s->link[i].call);
    }
    for (int i = 0; i < RT_MAX_INCOMING; i++)
        rt_handshake_close(&s->incoming[i]);
    for (int r = 0; s->outgoing && r < s->ranks; r++)
        rt_handshake_close(&s->outgoing[r]);
    if (s->listener >= 0)
        close(s->listener);
}

static void tcp_close(RtComm *c)
{
    RtTcp *s = c->state;

    if (!s)
        return;
    if (c->warning)  // it was opened: no rank goes before all have come
        rt_comm_max(c, 0);
    close_links(s);
    rt_tcp_windows_close(c);
    pthread_mutex_destroy(&s->lock);
    free(c->window);
    free(s->peer);
    free(s->link);
    free(s->listed);
    free(s->message);
    free(s->warning);
    free(s->outgoing);
    free(s);
}

// ---- messages ----

static int post(RtComm *c, int peer, char *data, int64_t bytes, bool is_send)
{
    RtTcp *s = c->state;

    pthread_mutex_lock(&s->lock);
    int i = rt_link_post(s, peer, c->tag, data, bytes, is_send);
    rt_link_progress(s);
    pthread_mutex_unlock(&s->lock);
    return i;
}

static int tcp_send(RtComm *c, int to, const void *data, int64_t bytes)
{
    return post(c, to, (char *)(uintptr_t)data, bytes, true);
}

static int tcp_receive(RtComm *c, int from, void *data, int64_t bytes)
{
    return post(c, from, data, bytes, false);
}

// A link to a rank of this host breaks when it is gone, which the watchdog sees and says better.
static int state_of(RtComm *c, RtMessage *m)
{
    const RtTcp *s = c->state;

    if (m->is_done) {
        m->is_taken = false;
        return 1;
    }
    return s->link[m->link].is_broken && !c->window[m->link / 2] ? -1 : 0;
}

static int tcp_test(RtComm *c, int message)
{
    RtTcp *s = c->state;
    RtMessage *m = &s->message[message];

    pthread_mutex_lock(&s->lock);
    if (!m->is_done)
        rt_link_progress(s);
    int state = state_of(c, m);
    pthread_mutex_unlock(&s->lock);
    return state;
}

// ---- failures ----

static void tcp_warn(RtComm *c, const RtWarning *w)
{
    RtTcp *s = c->state;
    RtHello hello = rt_hello(RT_WARN, s->rank, s->ranks, s->key);

    hello.warning = *w;
    pthread_mutex_lock(&s->lock);
    rt_link_tell(s, &hello);
    pthread_mutex_unlock(&s->lock);
}

static int tcp_warned(RtComm *c, RtWarning *w)
{
    RtTcp *s = c->state;
    int found = -1;

    pthread_mutex_lock(&s->lock);
    rt_link_look(s);
    for (int r = 0; r < s->ranks && found < 0; r++)
        if (s->warning[r].peer >= 0) {
            *w = s->warning[r];
            s->warning[r].peer = -1;
            found = r;
        }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static bool tcp_look(RtComm *c)
{
    RtTcp *s = c->state;

    pthread_mutex_lock(&s->lock);
    rt_link_look(s);
    bool goes_on = !s->is_ended;
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

static void tcp_address(const RtComm *c, char *to, size_t capacity)
{
    const RtTcp *s = c->state;

    rt_address_print_interface(&s->peer[s->rank].listener, to, capacity);
}

static void tcp_end(RtComm *c)
{
    RtTcp *s = c->state;
    RtHello hello = rt_hello(RT_END, s->rank, s->ranks, s->key);

    fflush(NULL);
    alarm(END_S);
    pthread_mutex_lock(&s->lock);
    rt_link_tell(s, &hello);
    for (double end = rt_seconds() + END_SECONDS; rt_link_is_telling(s) && rt_seconds() < end;) {
        rt_link_look(s);
        usleep(1000);
    }
    _exit(1);
}

const RtTransport rt_tcp = {
    .name = "tcp",
    .ending = "the end of the ranks",
    .launched = tcp_launched,
    .open = tcp_open,
    .close = tcp_close,
    .send = tcp_send,
    .receive = tcp_receive,
    .test = tcp_test,
    .warn = tcp_warn,
    .warned = tcp_warned,
    .look = tcp_look,
    .address = tcp_address,
    .end = tcp_end,
    .collectives = &rt_message_collectives,
};
