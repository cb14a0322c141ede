// Tests the handshake of connections by TCP: two ends that know the secret trust each other, and
// nobody else does, whatever bytes come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"

#define SECONDS 60.0  // more than any handshake here takes
enum { JOB = 77, NOISES = 10000 };
static const RtSecret secret = {"a secret of many bytes", 22},
                      other = {"another secret, as long", 23}, none = {NULL, 0};

typedef struct Ends {
    RtHandshake caller, server;
    RtHandshakeState called, accepted;
} Ends;

static void open_pair(int fd[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
}

// Lets both ends go on until nothing moves. The server answers a hello that it trusts.
static Ends handshake(uint64_t job, const RtSecret *of_caller, const RtSecret *of_door)
{
    RtHello hello = rt_hello(RT_JOIN, 3, 4, 5);
    Ends e = {.called = RT_HANDSHAKE_GOES_ON, .accepted = RT_HANDSHAKE_GOES_ON};
    double deadline = rt_seconds() + SECONDS;
    int fd[2];

    open_pair(fd);
    e.caller = rt_handshake_call(fd[0], job, of_caller, &hello, deadline);
    e.server = rt_handshake_accept(fd[1], JOB, of_door, deadline);
    for (int i = 0; i < 10; i++) {
        if (e.called == RT_HANDSHAKE_GOES_ON)
            e.called = rt_handshake_step(&e.caller);
        if (e.accepted != RT_HANDSHAKE_GOES_ON)
            continue;
        e.accepted = rt_handshake_step(&e.server);
        if (e.accepted == RT_HANDSHAKE_ENDED)
            assert_true(rt_handshake_answer(&e.server, RT_WELCOME));
    }
    rt_handshake_close(&e.caller);
    rt_handshake_close(&e.server);
    return e;
}

static void trusts_who_knows_the_secret(void **state)
{
    static const struct {
        const RtSecret *caller, *server;
        bool is_trusted;  // by both
    } cases[] = {{&none, &none, true},
                 {&secret, &secret, true},
                 {&secret, &other, false},
                 {&secret, &none, false},
                 {&none, &secret, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Ends e = handshake(JOB, cases[i].caller, cases[i].server);
        assert_int_equal(e.accepted, RT_HANDSHAKE_ENDED);
        assert_int_equal(rt_handshake_is_trusted(&e.server), cases[i].is_trusted);
        assert_int_equal(e.server.hello.rank, 3);
        assert_int_equal(e.called, cases[i].is_trusted ? RT_HANDSHAKE_ENDED : RT_HANDSHAKE_BROKE);
    }
    assert_int_equal(handshake(JOB + 1, &none, &none).called, RT_HANDSHAKE_BROKE);
}

// The server's state after these bytes, which then end. Its hello is in `t`.
static RtHandshakeState hear(RtHandshake *t, const RtSecret *s, const void *bytes, size_t n)
{
    RtHandshakeState last;
    int fd[2];

    open_pair(fd);
    *t = rt_handshake_accept(fd[1], JOB, s, rt_seconds() + SECONDS);
    last = rt_handshake_step(t);
    assert_int_equal(last, RT_HANDSHAKE_GOES_ON);
    assert_int_equal(send(fd[0], bytes, n, MSG_NOSIGNAL), n);
    close(fd[0]);
    last = rt_handshake_step(t);
    rt_handshake_close(t);
    return last;
}

static void trusts_no_old_words(void **state)
{
    Ends e = handshake(JOB, &secret, &secret);
    RtHandshake t;

    assert_true(rt_handshake_is_trusted(&e.server));
    assert_int_equal(hear(&t, &secret, &e.server.hello, sizeof e.server.hello), RT_HANDSHAKE_ENDED);
    assert_false(rt_handshake_is_trusted(&t));
}

static void gives_up_who_is_silent(void **state)
{
    int fd[2];

    open_pair(fd);
    RtHandshake t = rt_handshake_accept(fd[1], JOB, &none, rt_seconds() - 1);
    assert_int_equal(rt_handshake_step(&t), RT_HANDSHAKE_BROKE);
    rt_handshake_close(&t);
    close(fd[0]);
}

// Random bytes, or the words of a rank, cut or with some bytes that are others.
static size_t draw_noise(const RtHello *known, char *to, size_t capacity)
{
    size_t n = (size_t)rand() % capacity;

    if (rand() % 4 == 0) {
        rt_draw_bytes(to, n);
        return n;
    }
    memcpy(to, known, sizeof *known);
    for (int i = rand() % 4; i >= 0; i--)
        to[(size_t)rand() % sizeof *known] ^= (char)(1 + rand() % 255);
    return rand() % 4 == 0 && n < sizeof *known ? n : sizeof *known;
}

static void trusts_no_noise(void **state)
{
    const int noises = *state ? *(const int *)*state : NOISES;
    Ends e = handshake(JOB, &secret, &secret);
    char noise[2 * sizeof(RtHello)];
    RtHandshake t;

    srand(1);
    for (int i = 0; i < noises; i++) {
        size_t n = draw_noise(&e.server.hello, noise, sizeof noise);
        if (hear(&t, &secret, noise, n) == RT_HANDSHAKE_ENDED)
            assert_false(rt_handshake_is_trusted(&t));
    }
}

int main(int argc, char **argv)
{
    int noises = argc > 1 ? atoi(argv[1]) : NOISES;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusts_who_knows_the_secret),
        cmocka_unit_test(trusts_no_old_words),
        cmocka_unit_test(gives_up_who_is_silent),
        cmocka_unit_test_prestate(trusts_no_noise, &noises),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
