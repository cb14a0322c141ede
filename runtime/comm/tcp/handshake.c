// The handshake of a connection. The side that accepted it greets with a nonce; the caller says who
// it is and proves, with a code of the nonce and its words, that it knows the secret; the answer
// proves the same of the other one. Whoever only listens or repeats what it heard proves nothing.
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"

static const char magic[8] = "shardcc1";

void rt_draw_bytes(void *to, size_t n)
{
    if (getrandom(to, n, 0) != (ssize_t)n) {
        fprintf(stderr, "error: the system gives no random bytes\n");
        exit(1);
    }
}

// ---- codes ----

// HMAC-SHA-256 (RFC 2104) of two texts. Zeros without a secret.
static void code(const RtSecret *secret, const void *nonce, const void *text, size_t bytes,
                 uint8_t to[RT_MAC_BYTES])
{
    uint8_t both[RT_NONCE_BYTES + sizeof(RtHello)];
    unsigned n = RT_MAC_BYTES;

    memset(to, 0, RT_MAC_BYTES);
    if (!secret->bytes)
        return;
    memcpy(both, nonce, RT_NONCE_BYTES);
    memcpy(both + RT_NONCE_BYTES, text, bytes);
    HMAC(EVP_sha256(), secret->text, (int)secret->bytes, both, RT_NONCE_BYTES + bytes, to, &n);
}

static bool is_code(const RtSecret *secret, const void *nonce, const void *text, size_t bytes,
                    const uint8_t mac[RT_MAC_BYTES])
{
    uint8_t own[RT_MAC_BYTES];

    code(secret, nonce, text, bytes, own);
    return CRYPTO_memcmp(own, mac, RT_MAC_BYTES) == 0;
}

bool rt_handshake_is_trusted(const RtHandshake *t)
{
    return t->hello.has_secret == (t->secret->bytes != 0) &&
           is_code(t->secret, t->greeting.nonce, &t->hello, offsetof(RtHello, mac), t->hello.mac);
}

// ---- handshakes ----

RtHello rt_hello(RtCallKind kind, int rank, int ranks, uint64_t key)
{
    RtHello h;

    memset(&h, 0, sizeof h);  // with what lies between fields, which travels too
    memcpy(h.magic, magic, sizeof magic);
    h.kind = kind;
    h.rank = rank;
    h.ranks = ranks;
    h.key = key;
    rt_draw_bytes(h.nonce, sizeof h.nonce);
    return h;
}

RtHandshake rt_handshake_accept(int fd, uint64_t job, const RtSecret *secret, double deadline)
{
    RtHandshake t = {.fd = fd, .job = job, .secret = secret, .deadline = deadline};

    memcpy(t.greeting.magic, magic, sizeof magic);
    t.greeting.job = job;
    rt_draw_bytes(t.greeting.nonce, sizeof t.greeting.nonce);
    return t;
}

RtHandshake rt_handshake_call(int fd, uint64_t job, const RtSecret *secret, const RtHello *hello,
                              double deadline)
{
    RtHandshake t = {.fd = fd,
                     .is_caller = true,
                     .job = job,
                     .secret = secret,
                     .deadline = deadline,
                     .hello = *hello};

    t.hello.has_secret = secret->bytes != 0;
    return t;
}

void rt_handshake_close(RtHandshake *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

static bool must_wait(int fd)
{
    return errno == EAGAIN || errno == EINTR ||
           (errno == ENOTCONN && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 0) == 0);
}

static RtHandshakeState say(RtHandshake *t, const void *message, size_t bytes)
{
    while (t->done < bytes) {
        ssize_t n = send(t->fd, (const char *)message + t->done, bytes - t->done, MSG_NOSIGNAL);
        if (n < 0)
            return must_wait(t->fd) ? RT_HANDSHAKE_GOES_ON : RT_HANDSHAKE_BROKE;
        t->done += (size_t)n;
    }
    t->done = 0;
    t->words++;
    return RT_HANDSHAKE_ENDED;
}

static RtHandshakeState hear(RtHandshake *t, void *message, size_t bytes)
{
    while (t->done < bytes) {
        ssize_t n = recv(t->fd, (char *)message + t->done, bytes - t->done, 0);
        if (n <= 0)
            return n < 0 && must_wait(t->fd) ? RT_HANDSHAKE_GOES_ON : RT_HANDSHAKE_BROKE;
        t->done += (size_t)n;
    }
    t->done = 0;
    t->words++;
    return memcmp(message, magic, sizeof magic) == 0 ? RT_HANDSHAKE_ENDED : RT_HANDSHAKE_BROKE;
}

static RtHandshakeState step_accepted(RtHandshake *t)
{
    RtHandshakeState state =
        t->words == 0 ? say(t, &t->greeting, sizeof t->greeting) : RT_HANDSHAKE_ENDED;

    return state == RT_HANDSHAKE_ENDED ? hear(t, &t->hello, sizeof t->hello) : state;
}

static RtHandshakeState hear_greeting(RtHandshake *t)
{
    RtHandshakeState state = hear(t, &t->greeting, sizeof t->greeting);

    if (state != RT_HANDSHAKE_ENDED)
        return state;
    code(t->secret, t->greeting.nonce, &t->hello, offsetof(RtHello, mac), t->hello.mac);
    return t->greeting.job == t->job ? RT_HANDSHAKE_ENDED : RT_HANDSHAKE_BROKE;
}

static RtHandshakeState step_caller(RtHandshake *t)
{
    RtHandshakeState state = t->words == 0 ? hear_greeting(t) : RT_HANDSHAKE_ENDED;

    if (state == RT_HANDSHAKE_ENDED && t->words == 1)
        state = say(t, &t->hello, sizeof t->hello);
    if (state == RT_HANDSHAKE_ENDED)
        state = hear(t, &t->answer, sizeof t->answer);
    if (state != RT_HANDSHAKE_ENDED || t->answer.kind == RT_JOB_ENDS)
        return state;
    bool is_known =
        is_code(t->secret, t->hello.nonce, &t->answer, offsetof(RtAnswer, mac), t->answer.mac);
    return is_known ? RT_HANDSHAKE_ENDED : RT_HANDSHAKE_BROKE;
}

RtHandshakeState rt_handshake_step(RtHandshake *t)
{
    RtHandshakeState state = t->is_caller ? step_caller(t) : step_accepted(t);

    return state == RT_HANDSHAKE_GOES_ON && rt_seconds() > t->deadline ? RT_HANDSHAKE_BROKE : state;
}

bool rt_handshake_answer(RtHandshake *t, RtAnswerKind kind)
{
    memset(&t->answer, 0, sizeof t->answer);
    memcpy(t->answer.magic, magic, sizeof magic);
    t->answer.kind = kind;
    code(t->secret, t->hello.nonce, &t->answer, offsetof(RtAnswer, mac), t->answer.mac);
    return say(t, &t->answer, sizeof t->answer) == RT_HANDSHAKE_ENDED;
}

bool rt_tcp_is_near(const RtTcpPeer *a, const RtTcpPeer *b)
{
    return a->boot && a->boot == b->boot && a->pid_namespace &&
           a->pid_namespace == b->pid_namespace && a->net_namespace == b->net_namespace;
}
