// Tests that a trainer allocates no memory after its first step: not for data, evaluation, log,
// nor saving. The sanitizers have an allocator of their own; with them the test only runs.
#include <fcntl.h>

#include "tests/runtime/small.h"

static int taken, at_first;  // allocations: so far; up to the end of the first step

#ifdef __SANITIZE_ADDRESS__
enum { MIN_CALLS = 0 };
#else
enum { MIN_CALLS = 10 };  // shows that allocations are counted
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    taken++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    taken++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    taken++;
    return __libc_realloc(p, n);
}
#endif

static void note_first(Rt *rt, char *m)
{
    bigram_update(rt, m);
    at_first = at_first ? at_first : taken;
}

static void takes_nothing(void **state)
{
    RtModel m = bigram;
    char text[400];
    char *args[] = {"bigram",      "--data",           "text.bin",
                    "--eval-data", "text.bin",         "--eval-every",
                    "3",           "--steps",          "50",
                    "--save",      "w.safetensors",    "--log",
                    "log.jsonl",   "--save-gradients", "g.safetensors"};

    memset(text, 'x', sizeof text);
    write_file("text.bin", text, sizeof text);
    m.update = note_first;
    int messages = dup(STDERR_FILENO), file = creat("err", 0666);
    dup2(file, STDERR_FILENO);
    int status = rt_main(&m, N(args), args), in_all = taken;
    dup2(messages, STDERR_FILENO);
    close(messages);
    close(file);
    assert_int_equal(status, 0);
    assert_true(at_first >= MIN_CALLS);
    assert_int_equal(in_all, at_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_nothing)};

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
