// Messages between the solver and an engine: a head of kind and size, then the body. Both sides
// come from one build and run on one machine, so numbers travel as they lie in memory.
#include "solver/assign/mip.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct Head {
    int64_t kind, size;
} Head;

static bool write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t put = send(fd, s, n, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        s += put;
        n -= (size_t)put;
    }
    return true;
}

bool wire_send(int fd, WireKind kind, const Text *body)
{
    Head head = {kind, (int64_t)body->n};

    return write_all(fd, (const char *)&head, sizeof head) && write_all(fd, body->s, body->n);
}

// Reads n bytes, and checks the deadline every 20 ms, which is often enough for a user.
static bool read_all(int fd, char *s, size_t n, const Deadline *stop)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    while (n) {
        if (stop && poll(&ready, 1, 20) <= 0) {
            if (deadline_check(stop) != STOP_DONE)
                return false;
            continue;
        }
        ssize_t got = read(fd, s, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        s += got;
        n -= (size_t)got;
    }
    return true;
}

int wire_receive(int fd, Text *body, const Deadline *stop)
{
    Head head;

    if (!read_all(fd, (char *)&head, sizeof head, stop) || head.size < 0)
        return 0;
    text_free(body);
    body->s = malloc((size_t)head.size + 1);
    if (!body->s)
        return 0;
    body->cap = (size_t)head.size + 1;
    body->n = (size_t)head.size;
    return read_all(fd, body->s, body->n, stop) ? (int)head.kind : 0;
}

static void put(Text *t, const void *x, size_t size)
{
    if (size)
        text_put(t, x, size);
}

void wire_put_lines(Text *t, const Lines *l)
{
    size_t n = (size_t)l->n, entries = n ? (size_t)l->first[n] : 0;
    int64_t head[3] = {l->n, (int64_t)entries, l->cost != NULL};

    put(t, head, sizeof head);
    put(t, l->low, n * sizeof *l->low);
    put(t, l->high, n * sizeof *l->high);
    put(t, l->value, entries * sizeof *l->value);
    if (l->cost)
        put(t, l->cost, n * sizeof *l->cost);
    put(t, l->first, (n + 1) * sizeof *l->first);
    put(t, l->index, entries * sizeof *l->index);
    if (l->cost)
        put(t, l->is_whole, n);
}

const void *wire_take(const Text *t, size_t *at, size_t size)
{
    if (size > t->n - *at)
        abort();  // not a valid message
    const void *x = t->s + *at;
    *at += size;
    return x;
}

Lines wire_take_lines(const Text *t, size_t *at)
{
    int64_t head[3];
    Lines l = {0};

    memcpy(head, wire_take(t, at, sizeof head), sizeof head);
    size_t n = (size_t)head[0], entries = (size_t)head[1];
    l.n = (int)n;
    l.low = (double *)wire_take(t, at, n * sizeof *l.low);
    l.high = (double *)wire_take(t, at, n * sizeof *l.high);
    l.value = (double *)wire_take(t, at, entries * sizeof *l.value);
    if (head[2])
        l.cost = (double *)wire_take(t, at, n * sizeof *l.cost);
    l.first = (int *)wire_take(t, at, (n + 1) * sizeof *l.first);
    l.index = (int *)wire_take(t, at, entries * sizeof *l.index);
    if (head[2])
        l.is_whole = (char *)wire_take(t, at, n);
    return l;
}
