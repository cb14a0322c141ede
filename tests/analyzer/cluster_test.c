// Tests cluster files: those that are read print as the same text, also in version 2, and wrong
// ones are refused with the right message. Also tests the predicted time of work on a cluster.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sharding/sharding.h"

static const char good[] =
    "{\n  \"version\": 3,\n  \"devices_per_host\": 8,\n  \"links\": [\n"
    "    {\"devices\": 4, \"shared_by\": 1, \"alpha\": 1e-06, \"beta\": 1e-11, \"name\": "
    "\"fast\"},\n"
    "    {\"devices\": 8, \"shared_by\": 2, \"alpha\": 2e-06, \"beta\": 5e-11, \"name\": "
    "\"bus\"},\n"
    "    {\"devices\": 48, \"shared_by\": 8, \"alpha\": 3e-05, \"beta\": 1e-09, \"overhead\": "
    "2e-10, \"name\": \"wire\"}\n"
    "  ],\n  \"device\": {\n"
    "    \"threads\": 2,\n    \"memory\": 16000000000,\n    \"bandwidth\": 20000000000,\n"
    "    \"reading\": 16000000000,\n    \"launch\": 5e-06,\n    \"vector\": 30000000000,\n"
    "    \"attention\": 10000000000,\n"
    "    \"exchange_memory\": {\"base\": 1000000000, \"communicator\": 50000000.5},\n"
    "    \"gemm\": [\n"
    "      {\"m\": 32, \"n\": 32, \"k\": 32, \"flops\": 50000000000, \"type\": \"f32\"},\n"
    "      {\"m\": 1024, \"n\": 1024, \"k\": 1024, \"flops\": 200000000000, \"type\": \"f32\"},\n"
    "      {\"m\": 256, \"n\": 256, \"k\": 256, \"flops\": 1000000000, \"type\": \"f64\"}\n"
    "    ]\n  }\n}\n";

// As shardcc detect writes it of GPUs: products have batches, attention a rate each direction.
static const char of_gpu[] = "{\n"
                             "  \"version\": 3,\n"
                             "  \"devices_per_host\": 1,\n"
                             "  \"links\": [],\n"
                             "  \"device\": {\n"
                             "    \"is_gpu\": true,\n"
                             "    \"threads\": 1,\n"
                             "    \"memory\": 80000000000,\n"
                             "    \"bandwidth\": 2000000000000,\n"
                             "    \"reading\": 2000000000000,\n"
                             "    \"launch\": 2e-06,\n"
                             "    \"vector\": 10000000000000,\n"
                             "    \"attention\": 8000000000000,\n"
                             "    \"attention_grad\": 4000000000000,\n"
                             "    \"exchange_memory\": {\"base\": 1000, \"communicator\": 10},\n"
                             "    \"gemm\": [\n"
                             "      {\"m\": 512, \"n\": 512, \"k\": 512, \"flops\": "
                             "10000000000000, \"batch\": 1, \"type\": \"f32\"},\n"
                             "      {\"m\": 512, \"n\": 512, \"k\": 512, \"flops\": "
                             "40000000000000, \"batch\": 64, \"type\": \"f32\"},\n"
                             "      {\"m\": 512, \"n\": 512, \"k\": 32768, \"flops\": "
                             "20000000000000, \"batch\": 1, \"type\": \"f32\"}\n"
                             "    ]\n"
                             "  }\n"
                             "}\n";

// Returns `text` with its first `from` replaced by `to`.
static char *replaced(Arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    return arena_string(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void read_and_printed(void **state)
{
    static const char *const texts[] = {good, of_gpu};

    for (int i = 0; i < COUNT(texts); i++) {
        Arena *a = arena_new();
        Cluster c;
        Text t = {0};

        assert_true(cluster_parse(a, texts[i], strlen(texts[i]), &c, NULL));
        assert_int_equal(c.is_gpu, texts[i] == of_gpu);
        cluster_print(&c, CLUSTER_VERSION, &t);
        assert_string_equal(t.s, texts[i]);
        text_free(&t);
        arena_free(a);
    }
}

// A file of version 2 has no exchange_memory: there is none.
static void read_version_2(void **state)
{
    Arena *a = arena_new();
    const char *old = replaced(a, good, "\"version\": 3", "\"version\": 2");
    Text t = {0}, now = {0};
    Cluster c;

    old = replaced(
        a, old, "    \"exchange_memory\": {\"base\": 1000000000, \"communicator\": 50000000.5},\n",
        "");
    assert_true(cluster_parse(a, old, strlen(old), &c, NULL));
    assert_true(c.exchange_memory.base == 0 && c.exchange_memory.communicator == 0);
    cluster_print(&c, CLUSTER_VERSION_2, &t);
    assert_string_equal(t.s, old);
    cluster_print(&c, CLUSTER_VERSION, &now);
    assert_string_equal(now.s, replaced(a, good, "1000000000, \"communicator\": 50000000.5",
                                        "0, \"communicator\": 0"));
    text_free(&t);
    text_free(&now);
    arena_free(a);
}

// Each case is the good text with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    {"{", "", "not JSON: byte 12: found ':'"},
    {"{", "{} {", "not JSON: byte 3: found '{'"},
    {"{", "7", "not JSON: byte 4: found '\"version\":'"},
    {good, "7", "the top level must be an object"},
    {"\"threads\": 2,", "\"threads\": 2 2,", "not JSON: byte 359: found '2,'"},
    {"\"version\": 3", "\"version\": 4", "version must be 3, as shardcc detect writes it, or 2"},
    {"\"version\": 3", "\"version\": \"3\"",
     "version must be 3, as shardcc detect writes it, or 2"},
    {"\"version\": 3", "\"version\": 1",
     "version 1 has no links: make the file again with shardcc detect, or add "
     "\"links\": [] and set version 2"},
    {"\"version\"", "\"vision\"", "version is missing"},
    {"\"devices_per_host\": 8", "\"devices_per_host\": 0",
     "devices_per_host must be a whole number from 1 to 1024"},
    {"\"devices_per_host\": 8", "\"devices_per_host\": 32",
     "devices_per_host must divide 48, the number of devices"},
    {"\"links\"", "\"lynx\"", "links is missing"},
    {"\"links\": [", "\"links\": 3, \"l\": [", "links must be a list of 0 to 8 objects"},
    {"\"links\": [", "\"links\": [7,", "links[0] must be an object"},
    {"\"links\": [", "\"links\": [1,1,1,1,1,1,1,1,1], \"l\": [",
     "links must be a list of 0 to 8 objects"},
    {"\"devices\": 4", "\"devices\": 1",
     "links[0].devices must be a whole number from 2 to 1048576"},
    {"\"devices\": 4", "\"devices\": 8",
     "links[1].devices must be a larger multiple of 8, the devices of the level below"},
    {"\"devices\": 48", "\"devices\": 12",
     "links[2].devices must be a larger multiple of 8, the devices of the level below"},
    {"\"shared_by\": 2", "\"shared_by\": 0",
     "links[1].shared_by must be a whole number from 1 to 1048576"},
    {"\"alpha\": 3e-05", "\"alpha\": -1", "links[2].alpha must be a number from 0 to 1"},
    {"\"beta\": 1e-09", "\"beta\": 2", "links[2].beta must be a number from 0 to 1"},
    {"2e-10", "true", "links[2].overhead must be a number from 0 to 1"},
    {"\"bus\"", "7", "links[1].name must have 1 to 40 printable ASCII characters except \" and \\"},
    {"\"bus\"", "\"\\n\"",
     "links[1].name must have 1 to 40 printable ASCII characters except \" and \\"},
    {"\"bus\"", "\"a bus of more than forty letters, it seems\"",
     "links[1].name must have 1 to 40 printable ASCII characters except \" and \\"},
    {"\"threads\": 2", "\"threads\": 2.5", "device.threads must be a whole number from 1 to 4096"},
    {"\"threads\": 2", "\"threads\": 1e300",
     "device.threads must be a whole number from 1 to 4096"},
    {"20000000000", "0", "device.bandwidth must be a number from 1 to 1e+18"},
    {"20000000000", "1e999", "device.bandwidth must be a number from 1 to 1e+18"},
    {"5e-06", "-1", "device.launch must be a number from 0 to 1"},
    {"5e-06", "[]", "device.launch must be a number from 0 to 1"},
    {"\"vector\"", "\"victor\"", "device.vector is missing"},
    {"10000000000,", "0,", "device.attention must be a number from 1 to 1e+21"},
    {"\"exchange_memory\"", "\"exchange\"", "device.exchange_memory is missing"},
    {"\"exchange_memory\": {", "\"exchange_memory\": 3, \"e\": {",
     "device.exchange_memory must be an object"},
    {"1000000000,", "-1,", "device.exchange_memory.base must be a number from 0 to 1e+18"},
    {", \"communicator\": 50000000.5", "", "device.exchange_memory.communicator is missing"},
    {"50000000.5", "1e19", "device.exchange_memory.communicator must be a number from 0 to 1e+18"},
    {"\"device\": {", "\"device\": 3, \"d\": {", "device must be an object"},
    {"\"gemm\": [", "\"gemm\": [], \"g\": [", "device.gemm must be a list of 1 to 4096 objects"},
    {"\"gemm\": [", "\"gemm\": [7,", "device.gemm[0] must be an object"},
    {"\"m\": 1024", "\"m\": null", "device.gemm[1].m must be a number from 1 to 1000000000"},
    {"\"f64\"", "\"i64\"", "device.gemm[2].type must be f32, f64, f16 or bf16"},
    {"\"f64\"", "64", "device.gemm[2].type must be f32, f64, f16 or bf16"},
    {"{\"m\": 1024", "{\"batch\": 0, \"m\": 1024",
     "device.gemm[1].batch must be a number from 1 to 1000000000"},
    {"\"threads\": 2", "\"is_gpu\": \"no\", \"threads\": 2", "device.is_gpu must be true or false"},
    {"\"threads\": 2", "\"is_gpu\": 1, \"threads\": 2", "device.is_gpu must be true or false"},
    {"\"threads\": 2", "\"attention_grad\": -1, \"threads\": 2",
     "device.attention_grad must be a number from 1 to 1e+21"},
};

static void refused(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        char *text = replaced(a, good, cases[i].from, cases[i].to);
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
        {{.flops = 3e10, .type = F32}, 1},                   // bound by arithmetic
        {{.flops = 3e8, .read = 2e9, .written = 2e9}, 0.2},  // bound by all memory traffic
        {{.flops = 3e8, .read = 3.2e9}, 0.2},                // bound by reads
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
        {{.flops = 5e10, .type = BF16, .is_product = true, .batch = 9, .m = 1, .n = 64, .k = 64},
         1},
        {{.flops = 1e10, .type = F32, .is_product = true, .is_attention = true}, 1},
        {{.flops = 1e9,
          .type = F64,
          .is_product = true,
          .is_attention = true,
          .batch = 1,
          .m = 9,
          .n = 9,
          .k = 9},
         1},
    };
    Arena *a = arena_new();
    Cluster c;

    assert_true(cluster_parse(a, good, strlen(good), &c, NULL));
    for (int i = 0; i < COUNT(works); i++)
        assert_true(fabs(work_seconds(&c, &works[i].work) - works[i].seconds - 5e-6) < 1e-12);
    arena_free(a);
}

static void times_on_gpu(void **state)
{
    static const struct {
        Work work;
        double seconds;
    } works[] = {
        {{.flops = 8e12, .type = F32, .is_product = true, .is_attention = true}, 1},
        {{.flops = 4e12,
          .type = F32,
          .is_product = true,
          .is_attention = true,
          .is_attention_grad = true},
         1},
        // Batched, deep, and neither of them.
        {{.flops = 4e13, .type = F32, .is_product = true, .batch = 96, .m = 128, .n = 64, .k = 128},
         1},
        {{.flops = 2e13, .type = F32, .is_product = true, .batch = 1, .m = 768, .n = 768, .k = 1e5},
         1},
        {{.flops = 1e13, .type = F32, .is_product = true, .batch = 2, .m = 768, .n = 768, .k = 768},
         1},
    };
    Arena *a = arena_new();
    Cluster c;

    assert_true(cluster_parse(a, of_gpu, strlen(of_gpu), &c, NULL));
    for (int i = 0; i < COUNT(works); i++)
        assert_true(fabs(work_seconds(&c, &works[i].work) - works[i].seconds - 2e-6) < 1e-9);
    arena_free(a);
}

// Measured messages instead of links: two hosts with two ranks and one wire each.
static const char measured[] =
    "\"messages\": {\"ranks\": 4, \"tries\": 3,\n"
    "\"alpha\": [0,1e-6,3e-5,3e-5, 1e-6,0,3e-5,3e-5, 3e-5,3e-5,0,1e-6, 3e-5,3e-5,1e-6,0],\n"
    "\"beta\": [0,1e-10,1e-8,1e-8, 1e-10,0,1e-8,1e-8, 1e-8,1e-8,0,1e-10, 1e-8,1e-8,1e-10,0],\n"
    "\"times\": [0,1.1,2.3,0, 0,2.5,4,0, 0,1,1.8,0],\n"
    "\"overhead\": [0,0,3e-9,0, 0,0,2e-9,0, 0,1e-10,9e-9,0]}, \"l\"";

static const char found[] = "  \"links\": [\n"
                            "    {\"devices\": 2, \"shared_by\": 1, \"alpha\": 1e-06, \"beta\": "
                            "1e-10, \"name\": \"links of 2\"},\n"
                            "    {\"devices\": 4, \"shared_by\": 2, \"alpha\": 3e-05, \"beta\": "
                            "1e-08, \"overhead\": 3e-09, \"name\": \"links of 4\"}\n"
                            "  ],\n";

static const struct {
    const char *from, *to, *message;  // edit of the measured text; NULL: no edit
} measurements[] = {
    {"", "", NULL},
    {"{", "3, \"m\": {", "messages must be an object"},
    {"4", "1", "messages.ranks must be a whole number from 2 to 128"},
    {"4", "3", "messages.alpha must be a list of 9 numbers from 0 to 1"},
    {"\"alpha\"", "\"alfa\"", "messages.alpha is missing"},
    {"1e-10", "-1", "messages.beta must be a list of 16 numbers from 0 to 1"},
    {"3,\n", "0,\n", "messages.tries must be a whole number from 1 to 9"},
    {"1.1", "\"?\"", "messages.times must be a list of 12 numbers from 0 to 1000000"},
    {"0,1.1", "0", "messages.times must be a list of 12 numbers from 0 to 1000000"},
    {"9e-9", "9", "messages.overhead must be a list of 12 numbers from 0 to 1"},
    {"[0,0,3e-9,0, 0,0,2e-9,0, 0,1e-10,9e-9,0]", "{\"a\": 0}",
     "messages.overhead must be a list of 12 numbers from 0 to 1"},
};

static void links_of_messages(void **state)
{
    for (int i = 0; i < COUNT(measurements); i++) {
        Arena *a = arena_new();
        const char *messages = replaced(a, measured, measurements[i].from, measurements[i].to);
        const char *text = replaced(a, good, "\"devices_per_host\": 8", "\"devices_per_host\": 2");
        Text said = {0}, t = {0};
        Diag d = {.file = "c", .to = &said};
        Cluster c;

        text = replaced(a, text, "\"links\"", messages);
        assert_int_equal(cluster_parse(a, text, strlen(text), &c, &d), !measurements[i].message);
        if (measurements[i].message) {
            assert_string_equal(said.s, arena_string(a, "c: error: %s\n", measurements[i].message));
        } else {
            cluster_print(&c, CLUSTER_VERSION, &t);
            assert_non_null(strstr(t.s, found));
        }
        text_free(&said);
        text_free(&t);
        arena_free(a);
    }
}

static const struct {
    const char *name;
    int ranks, devices, per_host, n_links;
    const char *message;  // NULL: the cluster is known
} known[] = {
    {"local", 1, 1, 1, 0, NULL},
    {"local", 6, 6, 6, 1, NULL},
    {"a100x1", 1, 1, 1, 0, NULL},
    {"a100x4", 4, 4, 4, 1, NULL},
    {"h100x8", 8, 8, 8, 1, NULL},
    {"h100x1024", 64, 1024, 8, 2, NULL},
    {"h200x8", 8, 8, 8, 1, NULL},
    {"b200x16", 16, 16, 8, 2, NULL},
    {"h100x0", 1, 0, 0, 0, "expected 1 to 7 devices, or a multiple of 8 up to 65536"},
    {"h100x12", 1, 0, 0, 0, "expected 1 to 7 devices, or a multiple of 8 up to 65536"},
    {"h100x99999999999999999999", 1, 0, 0, 0,
     "expected 1 to 7 devices, or a multiple of 8 up to 65536"},
    {"h100x8.json", 1, 0, 0, 0, "cannot read 'h100x8.json': No such file or directory"},
};

// Every known cluster prints as a file that reads back as the same cluster.
static void without_file(void **state)
{
    for (int i = 0; i < COUNT(known); i++) {
        Arena *a = arena_new();
        Text said = {0}, t = {0}, again = {0};
        Diag d = {.file = "c", .to = &said};
        Cluster c, copy;

        assert_int_equal(cluster_open(a, known[i].name, known[i].ranks, &c, &d), !known[i].message);
        if (known[i].message) {
            assert_string_equal(said.s, arena_string(a, "c: error: %s\n", known[i].message));
        } else {
            assert_int_equal(cluster_devices(&c), known[i].devices);
            assert_int_equal(c.devices_per_host, known[i].per_host);
            assert_int_equal(c.n_links, known[i].n_links);
            assert_true((c.exchange_memory.base > 0) == c.is_gpu);
            cluster_print(&c, CLUSTER_VERSION, &t);
            assert_true(cluster_parse(a, t.s, t.n, &copy, &d));
            cluster_print(&copy, CLUSTER_VERSION, &again);
            assert_string_equal(again.s, t.s);
        }
        text_free(&said);
        text_free(&t);
        text_free(&again);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_printed), cmocka_unit_test(read_version_2),
        cmocka_unit_test(refused),          cmocka_unit_test(times_of_work),
        cmocka_unit_test(times_on_gpu),     cmocka_unit_test(links_of_messages),
        cmocka_unit_test(without_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
