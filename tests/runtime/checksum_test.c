// CRC-32C: known sums, and sums of files of which several processes know parts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/rt_checksum.h"

static uint32_t sum_of(const void *p, size_t n)
{
    RtChecksum c = {0};

    rt_checksum_add(&c, 0, p, n);
    return rt_checksum_whole(rt_checksum_parts(&c, (int64_t)n), (int64_t)n);
}

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
static void known_sums(void **state)
{
    uint8_t x[32] = {0}, ones[32], rising[32], falling[32];

    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 32; i++) {
        rising[i] = (uint8_t)i;
        falling[i] = (uint8_t)(31 - i);
    }
    assert_int_equal(sum_of(x, sizeof x), 0x8a9136aa);
    assert_int_equal(sum_of(ones, sizeof ones), 0x62a8ab43);
    assert_int_equal(sum_of(rising, sizeof rising), 0x46dd794e);
    assert_int_equal(sum_of(falling, sizeof falling), 0x113fdb5c);
    assert_int_equal(sum_of("123456789", 9), 0xe3069283);
    assert_int_equal(sum_of("", 0), 0);
}

// Three processes know random parts of a file, in runs that lie equally far apart or not.
static void sums_of_parts(void **state)
{
    enum { BYTES = 5000, PROCESSES = 3, ROUNDS = 300 };
    static uint8_t x[BYTES];

    srand(7);
    for (int i = 0; i < BYTES; i++)
        x[i] = (uint8_t)rand();
    for (int round = 0; round < ROUNDS; round++) {
        static RtChecksum c[PROCESSES];
        int size = rand() % BYTES, run = 1 + rand() % 100;
        uint32_t sum = 0;
        memset(c, 0, sizeof c);
        for (int at = 0, n; at < size; at += n) {
            n = round % 2 ? run : 1 + rand() % 100;
            n = n < size - at ? n : size - at;
            rt_checksum_add(&c[round % 2 ? at / run % PROCESSES : rand() % PROCESSES], at, x + at,
                            (size_t)n);
        }
        for (int i = 0; i < PROCESSES; i++)
            sum ^= rt_checksum_parts(&c[i], size);
        assert_int_equal(rt_checksum_whole(sum, size), sum_of(x, (size_t)size));
    }
}

// Long parts take three lanes at a time; short ones don't.
static void sums_of_long_parts(void **state)
{
    enum { BYTES = 100000, SHORT = 4000, ROUNDS = 40 };
    static uint8_t x[BYTES];

    srand(8);
    for (int i = 0; i < BYTES; i++)
        x[i] = (uint8_t)rand();
    for (int round = 0; round < ROUNDS; round++) {
        RtChecksum c = {0};
        size_t size = (size_t)(BYTES - 9 - rand() % 70000), from = (size_t)rand() % 9, n;
        for (size_t at = 0; at < size; at += n) {
            n = size - at < SHORT ? size - at : SHORT;
            rt_checksum_add(&c, (int64_t)at, x + from + at, n);
        }
        uint32_t sum = rt_checksum_whole(rt_checksum_parts(&c, (int64_t)size), (int64_t)size);
        assert_int_equal(sum, sum_of(x + from, size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sums),
        cmocka_unit_test(sums_of_parts),
        cmocka_unit_test(sums_of_long_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
