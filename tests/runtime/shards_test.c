// Shards of safetensors: indices that are read, and those that are refused and in which words.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/rt_file.h"

static char folder[] = "/tmp/shards_test.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(in_folder(name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void write_tensor(const char *file, const char *name, float value)
{
    RtStored t = {.name = name, .dtype = "F32", .rank = 1, .dim = {1}, .bytes = 4};
    int64_t n;
    char *header = rt_safe_header(&t, 1, &n), data[1024];

    assert_non_null(header);
    memcpy(data, header, (size_t)n);
    memcpy(data + n, &value, sizeof value);
    write_file(file, data, (size_t)n + sizeof value);
    free(header);
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    write_tensor("one.safetensors", "b", 1);
    write_tensor("two.safetensors", "a", 2);
    write_tensor("again.safetensors", "a", 3);
    write_file("cut.safetensors", "short", 5);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {
        "one.safetensors", "two.safetensors",   "again.safetensors",           "cut.safetensors",
        "x.json",          "model.safetensors", "model.safetensors.index.json"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

#define MAP(...) "{\"weight_map\": {" __VA_ARGS__ "}}"
static const char GOOD[] = "{\"metadata\": {\"total_size\": 8, \"x\": [1, {\"y\": \"\\\"}\"}]},\n"
                           "\"weight_map\": {\"b\": \"one.safetensors\",\n"
                           "\"a\": \"two.safetensors\", \"c\": \"one.safetensors\"}}\n";

static void reads(void **state)
{
    RtShards s;
    RtFileError e;
    float x;

    write_file("x.json", GOOD, sizeof GOOD - 1);
    assert_true(rt_shards_open(&s, in_folder("x.json"), &e));
    assert_int_equal(s.n_files, 2);
    assert_int_equal(s.n, 2);
    assert_null(rt_shards_tensor(&s, "c"));
    memcpy(&x, rt_shards_tensor(&s, "a")->data, sizeof x);
    assert_true(x == 2);
    memcpy(&x, rt_shards_tensor(&s, "b")->data, sizeof x);
    assert_true(x == 1);
    assert_true(rt_shards_check(&s, &e));
    rt_shards_close(&s);
}

static void finds(void **state)
{
    RtShards s;
    RtFileError e;

    assert_false(rt_shards_open(&s, folder, &e));
    assert_string_equal(e.text, "a folder that has neither model.safetensors nor "
                                "model.safetensors.index.json");
    write_tensor("model.safetensors", "m", 1);
    assert_true(rt_shards_open(&s, folder, &e));
    assert_non_null(rt_shards_tensor(&s, "m"));
    rt_shards_close(&s);
    write_file("model.safetensors.index.json", GOOD, sizeof GOOD - 1);
    assert_true(rt_shards_open(&s, folder, &e));
    assert_null(rt_shards_tensor(&s, "m"));
    rt_shards_close(&s);
}

static const struct {
    const char *text, *error;
} bad[] = {
    {"", "malformed index"},
    {"{}", "malformed index"},
    {"[]", "malformed index"},
    {"{\"x\": 1}", "it has no weight_map"},
    {"{\"weight_map\": 1}", "malformed index"},
    {MAP("\"a\": 1"), "malformed index"},
    {MAP("\"a\": \"two.safetensors\","), "malformed index"},
    {MAP("\"a\": \"two.safetensors\"") " x", "malformed index"},
    {"{\"x\": \"\\", "malformed index"},
    {"{\"x\": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}", "malformed index"},
    {MAP("\"a\": \"../two.safetensors\""),
     "its shard '../two.safetensors' isn't a name of a file in its folder"},
    {MAP("\"a\": \"/etc/passwd\""), "its shard '/etc/passwd' isn't a name of a file in its folder"},
    {MAP("\"a\": \"..\""), "its shard '..' isn't a name of a file in its folder"},
    {MAP("\"a\": \"\""), "its shard '' isn't a name of a file in its folder"},
    {MAP("\"a\": \"none.safetensors\""), "its shard 'none.safetensors': No such file or directory"},
    {MAP("\"a\": \"cut.safetensors\""),
     "its shard 'cut.safetensors': safetensors: 5 bytes are too few"},
    {MAP("\"a\": \"two.safetensors\", \"b\": \"again.safetensors\""),
     "tensor 'a' is in two shards"},
};

static void refuses(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        RtShards s;
        RtFileError e;
        write_file("x.json", bad[i].text, strlen(bad[i].text));
        assert_false(rt_shards_open(&s, in_folder("x.json"), &e));
        assert_string_equal(e.text, bad[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(finds),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
