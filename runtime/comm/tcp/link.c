// Messages. Each pair of ranks has a connection for each tag, made when they first talk: the higher
// rank calls. On a connection, messages follow each other as they were sent, each after its length;
// a message is read only once its receiver asks for it, straight to where it belongs.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"

#define CALL_SECONDS 0.05      // between calls of a rank that didn't answer
enum { POLLS_PER_LOOK = 64 };  // polls of messages between two looks at who has come

// ---- links ----

static RtLink *link_of(RtTcp *s, int peer, int tag) { return &s->link[2 * peer + tag]; }

// Links that have something to do are listed once.
static void list(RtTcp *s, RtLink *l)
{
    if (!l->is_listed)
        s->listed[s->n_listed++] = (int)(l - s->link);
    l->is_listed = true;
}

static void call(RtTcp *s, RtLink *l, int number)
{
    int peer = number / 2;
    int fd = rt_connect(&s->peer[peer].listener);
    RtHello hello = rt_hello(RT_LINK + number % 2, s->rank, s->ranks, s->key);

    l->next_call = rt_seconds() + CALL_SECONDS;
    if (fd < 0)
        return;
    l->call = rt_alloc(1, sizeof *l->call);
    *l->call = rt_handshake_call(fd, s->number, &s->secret, &hello, INFINITY);
}

// A call that breaks is made again: the other rank may have had too many incoming ones.
static void step_call(RtLink *l)
{
    RtHandshakeState state = rt_handshake_step(l->call);

    if (state == RT_HANDSHAKE_GOES_ON)
        return;
    if (state == RT_HANDSHAKE_ENDED && l->call->answer.kind == RT_WELCOME)
        l->fd = l->call->fd;
    else
        rt_handshake_close(l->call);
    free(l->call);
    l->call = NULL;
}

static void open_link(RtTcp *s, RtLink *l)
{
    int number = (int)(l - s->link);

    if (l->call)
        step_call(l);
    else if (s->rank > number / 2 && rt_seconds() > l->next_call)
        call(s, l, number);
}

// ---- messages ----

// The next free number. Numbers are freed mostly in the order in which they were taken.
static int free_number(RtTcp *s)
{
    do
        s->last = (s->last + 1) % s->n_messages;
    while (s->message[s->last].is_taken);
    return s->last;
}

static void append(RtTcp *s, RtQueue *q, int message)
{
    if (q->first < 0)
        q->first = message;
    else
        s->message[q->last].next = message;
    q->last = message;
}

int rt_link_post(RtTcp *s, int peer, int tag, char *data, int64_t bytes, bool is_send)
{
    RtLink *l = link_of(s, peer, tag);
    int i = free_number(s);

    s->message[i] = (RtMessage){.data = data,
                                .bytes = bytes,
                                .header = is_send ? bytes : 0,
                                .link = 2 * peer + tag,
                                .next = -1,
                                .is_taken = true};
    append(s, is_send ? &l->sends : &l->receives, i);
    list(s, l);
    return i;
}

// Sets `piece` to the rest of a message, at most two pieces, and returns their number.
static int pieces(RtMessage *m, struct iovec piece[2])
{
    int64_t header = (int64_t)sizeof m->header;
    int n = 0;

    if (m->done < header)
        piece[n++] = (struct iovec){(char *)&m->header + m->done, (size_t)(header - m->done)};
    int64_t at = m->done < header ? 0 : m->done - header;
    if (at < m->bytes)
        piece[n++] = (struct iovec){m->data + at, (size_t)(m->bytes - at)};
    return n;
}

// Returns false if the link broke.
static bool move(RtTcp *s, RtLink *l, RtQueue *q, bool is_send)
{
    while (q->first >= 0) {
        RtMessage *m = &s->message[q->first];
        struct iovec piece[2];
        struct msghdr message = {.msg_iov = piece, .msg_iovlen = (size_t)pieces(m, piece)};
        ssize_t n = is_send ? sendmsg(l->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT)
                            : recvmsg(l->fd, &message, MSG_DONTWAIT);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        m->done += n;
        bool has_header = m->done >= (int64_t)sizeof m->header;
        if (n == 0 || (!is_send && has_header && m->header != m->bytes))
            return false;
        if (m->done < m->bytes + (int64_t)sizeof m->header)
            continue;
        m->is_done = true;
        q->first = m->next;
    }
    return true;
}

static bool is_idle(const RtLink *l)
{
    return !l->call && l->sends.first < 0 && l->receives.first < 0;
}

void rt_link_progress(RtTcp *s)
{
    for (int i = 0; i < s->n_listed; i++) {
        RtLink *l = &s->link[s->listed[i]];

        if (l->fd < 0)
            open_link(s, l);
        if (l->fd >= 0 && !l->is_broken)
            l->is_broken = !move(s, l, &l->sends, true) || !move(s, l, &l->receives, false);
        l->is_listed = !is_idle(l) && !l->is_broken;
        if (!l->is_listed)
            s->listed[i--] = s->listed[--s->n_listed];
    }
    if (s->polls++ % POLLS_PER_LOOK == 0)
        rt_link_look(s);
}

// ---- who has come ----

static void begin_link(RtTcp *s, RtHandshake *t)
{
    RtLink *l = link_of(s, t->hello.rank, t->hello.kind - RT_LINK);

    if (t->hello.rank <= s->rank || l->fd >= 0 || !rt_handshake_answer(t, RT_WELCOME))
        return;
    l->fd = t->fd;
    t->fd = -1;
}

// A rank of this job, which knows its key, has said hello.
static void hear(RtTcp *s, RtHandshake *t)
{
    const RtHello *h = &t->hello;

    if (h->rank < 0 || h->rank >= s->ranks || h->rank == s->rank || h->key != s->key ||
        !rt_handshake_is_trusted(t))
        return;
    if (h->kind == RT_LINK || h->kind == RT_LINK + 1)
        begin_link(s, t);
    else if (h->kind == RT_WARN)
        s->warning[h->rank] = h->warning;
    else if (h->kind == RT_END)
        s->is_ended = true;
}

void rt_link_accept(RtTcp *s)
{
    for (int fd; (fd = rt_accept(s->listener)) >= 0;) {
        RtHandshake *oldest = &s->incoming[0];
        for (int i = 0; i < RT_MAX_INCOMING && oldest->fd >= 0; i++)
            if (s->incoming[i].fd < 0 || s->incoming[i].deadline < oldest->deadline)
                oldest = &s->incoming[i];
        rt_handshake_close(oldest);
        *oldest =
            rt_handshake_accept(fd, s->number, &s->secret, rt_seconds() + RT_HANDSHAKE_SECONDS);
    }
}

RtHandshake *rt_link_next_hello(RtTcp *s, int *i)
{
    while (*i < RT_MAX_INCOMING) {
        RtHandshake *t = &s->incoming[(*i)++];
        RtHandshakeState state = t->fd < 0 ? RT_HANDSHAKE_GOES_ON : rt_handshake_step(t);
        if (state == RT_HANDSHAKE_ENDED)
            return t;
        if (state == RT_HANDSHAKE_BROKE)
            rt_handshake_close(t);
    }
    return NULL;
}

void rt_link_look(RtTcp *s)
{
    RtHandshake *t;

    rt_link_accept(s);
    for (int i = 0; (t = rt_link_next_hello(s, &i));) {
        hear(s, t);
        rt_handshake_close(t);
    }
    for (int r = 0; s->outgoing && r < s->ranks; r++) {
        t = &s->outgoing[r];
        if (t->fd >= 0 && rt_handshake_step(t) != RT_HANDSHAKE_GOES_ON)
            rt_handshake_close(t);
    }
}

// ---- calls of all other ranks ----

void rt_link_tell(RtTcp *s, const RtHello *hello)
{
    if (!s->outgoing) {
        s->outgoing = rt_alloc((size_t)s->ranks, sizeof *s->outgoing);
        for (int r = 0; r < s->ranks; r++)
            s->outgoing[r].fd = -1;
    }
    for (int r = 0; r < s->ranks; r++) {
        rt_handshake_close(&s->outgoing[r]);
        if (r != s->rank)
            s->outgoing[r] =
                rt_handshake_call(rt_connect(&s->peer[r].listener), s->number, &s->secret, hello,
                                  rt_seconds() + RT_HANDSHAKE_SECONDS);
    }
}

bool rt_link_is_telling(const RtTcp *s)
{
    for (int r = 0; s->outgoing && r < s->ranks; r++)
        if (s->outgoing[r].fd >= 0)
            return true;
    return false;
}
