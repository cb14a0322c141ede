// Cluster files: what is read is printed again; what is wrong, and in which words. And the time of
// work on a cluster.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyzer.h"

static const char good[] =
    "{\n  \"version\": 1,\n  \"devices_per_host\": 1,\n  \"device\": {\n"
    "    \"threads\": 2,\n    \"memory\": 16000000000,\n    \"bandwidth\": 20000000000,\n"
    "    \"reading\": 16000000000,\n    \"launch\": 5e-06,\n    \"vector\": 30000000000,\n    \"gemm\": [\n"
    "      {\"m\": 32, \"n\": 32, \"k\": 32, \"flops\": 50000000000, \"type\": \"f32\"},\n"
    "      {\"m\": 1024, \"n\": 1024, \"k\": 1024, \"flops\": 200000000000, \"type\": \"f32\"},\n"
    "      {\"m\": 256, \"n\": 256, \"k\": 256, \"flops\": 1000000000, \"type\": \"f64\"}\n"
    "    ]\n  }\n}\n";

static void read_and_printed(void **state)
{
    Arena *a = arena_new();
    Cluster c;
    Text t = {0};

    assert_true(cluster_parse(a, good, strlen(good), &c, NULL));
    cluster_print(&c, &t);
    assert_string_equal(t.s, good);
    text_free(&t);
    arena_free(a);
}

// The good text with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    {"{", "", "not JSON: byte 12"},
    {"{", "{} {", "not JSON: byte 3"},
    {"{", "7", "not JSON: byte 4"},
    {good, "7", "the whole must be an object"},
    {"\"threads\": 2,", "\"threads\": 2 2,", "not JSON: byte 74"},
    {"\"version\": 1", "\"version\": 2", "version must be 1: shardcc detect makes such files"},
    {"\"version\": 1", "\"version\": \"1\"", "version must be 1: shardcc detect makes such files"},
    {"\"version\"", "\"vision\"", "version is missing"},
    {"\"devices_per_host\": 1", "\"devices_per_host\": 0",
     "devices_per_host must be a whole number from 1 to 1024"},
    {"\"threads\": 2", "\"threads\": 2.5", "device.threads must be a whole number from 1 to 4096"},
    {"\"threads\": 2", "\"threads\": 1e300",
     "device.threads must be a whole number from 1 to 4096"},
    {"20000000000", "0", "device.bandwidth must be a number from 1 to 1e+18"},
    {"20000000000", "1e999", "device.bandwidth must be a number from 1 to 1e+18"},
    {"5e-06", "-1", "device.launch must be a number from 0 to 1"},
    {"5e-06", "[]", "device.launch must be a number from 0 to 1"},
    {"\"vector\"", "\"victor\"", "device.vector is missing"},
    {"\"device\": {", "\"device\": 3, \"d\": {", "device must be an object"},
    {"\"gemm\": [", "\"gemm\": [], \"g\": [", "device.gemm must be a list of 1 to 4096 objects"},
    {"\"gemm\": [", "\"gemm\": [7,", "device.gemm[0] must be an object"},
    {"\"m\": 1024", "\"m\": null", "device.gemm[1].m must be a number from 1 to 1e+09"},
    {"\"f64\"", "\"i64\"", "device.gemm[2].type must be f32, f64, f16 or bf16"},
    {"\"f64\"", "64", "device.gemm[2].type must be f32, f64, f16 or bf16"},
};

static void refused(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        const char *at = strstr(good, cases[i].from);
        char *text = arena_string(a, "%.*s%s%s", (int)(at - good), good, cases[i].to,
                                  at + strlen(cases[i].from));
        Text said = {0};
        Diag d = {.file = "c.json", .to = &said};
        Cluster c;

        assert_false(cluster_parse(a, text, strlen(text), &c, &d));
        assert_string_equal(said.s, arena_string(a, "c.json: error: %s\n", cases[i].message));
        text_free(&said);
        arena_free(a);
    }
}

static void times_of_work(void **state)
{
    static const struct {
        Work work;
        double seconds;
    } works[] = {
        {{.flops = 3e10, .type = F32}, 1},    // as fast as its arithmetic
        {{.flops = 3e8, .read = 2e9, .written = 2e9}, 0.2},  // as memory moves all
        {{.flops = 3e8, .read = 3.2e9}, 0.2},                // as it is read
        {{.flops = 2e11,
          .type = F32,
          .is_product = true,
          .batch = 1,
          .m = 900,
          .n = 2000,
          .k = 500},
         1},
        {{.flops = 5e10, .type = F32, .is_product = true, .batch = 9, .m = 1, .n = 64, .k = 64}, 1},
        {{.flops = 1e9, .type = F64, .is_product = true, .batch = 1, .m = 9, .n = 9, .k = 9}, 1},
        {{.flops = 3e10, .type = BF16, .is_product = true, .batch = 1, .m = 9, .n = 9, .k = 9}, 1},
    };
    Arena *a = arena_new();
    Cluster c;

    assert_true(cluster_parse(a, good, strlen(good), &c, NULL));
    for (int i = 0; i < COUNT(works); i++)
        assert_true(fabs(work_seconds(&c, &works[i].work) - works[i].seconds - 5e-6) < 1e-12);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_and_printed),
                                       cmocka_unit_test(refused), cmocka_unit_test(times_of_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
