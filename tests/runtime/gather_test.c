// Files written around the page cache: two processes write random parts of a file, which then has
// the bytes of both. Several file systems are tried: some have no such writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/rt_file.h"

enum { BYTES = 3 * RT_OUT_GATHERED + 1000, PROCESSES = 2 };

static _Alignas(RT_OUT_BLOCK) char buffer[PROCESSES][RT_OUT_GATHERED];
static char wanted[BYTES], found[BYTES + 1];

// The length of the next part: of some bytes, of some blocks, or longer than the buffer.
static int length(int left)
{
    static const int most[] = {100, 5 * RT_OUT_BLOCK, 2 * RT_OUT_GATHERED};
    int n = 1 + rand() % most[rand() % 3];

    return n < left ? n : left;
}

static void write_parts(RtOut o[PROCESSES])
{
    for (int at = 0, n; at < BYTES; at += n) {
        n = length(BYTES - at);
        rt_out_write_at(&o[rand() % PROCESSES], at, wanted + at, (size_t)n);
    }
}

static void write_file(const char *path)
{
    RtOut o[PROCESSES];
    RtFileError e;

    for (int i = 0; i < PROCESSES; i++) {
        assert_true(i ? rt_out_join(&o[i], path, getpid(), &e) : rt_out_open(&o[i], path, &e));
        rt_out_gather(&o[i], buffer[i]);
    }
    write_parts(o);
    for (int i = PROCESSES - 1; i >= 0; i--)
        assert_true(rt_out_finish(&o[i], &e));
    assert_true(rt_out_rename(&o[0], &e));
}

static void gathers_parts(void **state)
{
    static const char *const folder[] = {".", "/tmp", "/dev/shm"};
    enum { ROUNDS = 20 };
    char path[100];

    srand(11);
    for (int i = 0; i < BYTES; i++)
        wanted[i] = (char)rand();
    for (int round = 0; round < ROUNDS * 3; round++) {
        if (access(folder[round % 3], W_OK) != 0)
            continue;
        snprintf(path, sizeof path, "%s/shardcc_gather_%d", folder[round % 3], (int)getpid());
        write_file(path);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fread(found, 1, sizeof found, f), BYTES);
        fclose(f);
        assert_memory_equal(found, wanted, BYTES);
        unlink(path);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(gathers_parts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
