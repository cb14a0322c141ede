// Files of --tune: which are read, which are refused and in which words.
#include "runtime/rt_tune.h"
#include "tests/runtime/small.h"

#define HEAD "shardcc tune 1\ngpu tests' GPU, sm_90\ncublaslt 130002\ntf32 no\n"

static const struct {
    const char *file, *says;  // '~' in the file is a NUL; NULL: it is read
} files[] = {
    {HEAD "end 0\n", NULL},
    {HEAD "algorithm 0 of a\nalgorithm 15 of b = c\nend 2\n", NULL},
    {"shardcc tune 1\ngpu g\ncublaslt 0\ntf32 yes\nend 0\n", NULL},
    // Cut short.
    {"", "it is cut short in line 1"},
    {"shardcc tune 1", "it is cut short in line 1"},
    {"shardcc tune 1\ngpu", "it is cut short in line 2"},
    {HEAD, "it is cut short in line 5"},
    {HEAD "algorithm 0 of a\nalgorithm 1 of b\n", "it is cut short in line 7"},
    {HEAD "algorithm 0 of a\nend 1", "it is cut short in line 6"},
    {HEAD "algorithm 0 of a\nend 2\n", "line 6 isn't as --tune writes it: 'end 2'"},
    // Another version of the format, or another file.
    {"shardcc tune 2\n", "it begins with 'shardcc tune 2', not with 'shardcc tune 1'"},
    {"\n", "it begins with '', not with 'shardcc tune 1'"},
    {"shardcc\x1b tune\n", "it begins with 'shardcc\\x1b tune', not with 'shardcc tune 1'"},
    // The head.
    {"shardcc tune 1\ngpu \n", "line 2 isn't as --tune writes it: 'gpu '"},
    {"shardcc tune 1\ncublaslt 1\n", "line 2 isn't as --tune writes it: 'cublaslt 1'"},
    {"shardcc tune 1\ngpu g\ncublaslt x\n", "line 3 isn't as --tune writes it: 'cublaslt x'"},
    {"shardcc tune 1\ngpu g\ncublaslt 1x\n", "line 3 isn't as --tune writes it: 'cublaslt 1x'"},
    {"shardcc tune 1\ngpu g\ncublaslt 100000000\n",
     "line 3 isn't as --tune writes it: 'cublaslt 100000000'"},
    {"shardcc tune 1\ngpu g\ncublaslt 99999999999999999999\n",
     "line 3 isn't as --tune writes it: 'cublaslt 99999999999999999999'"},
    {"shardcc tune 1\ngpu g\ncublaslt 1\ntf32 maybe\n",
     "line 4 isn't as --tune writes it: 'tf32 maybe'"},
    // Products.
    {HEAD "algorithm 16 of a\n", "line 5 isn't as --tune writes it: 'algorithm 16 of a'"},
    {HEAD "algorithm -1 of a\n", "line 5 isn't as --tune writes it: 'algorithm -1 of a'"},
    {HEAD "algorithm of a\n", "line 5 isn't as --tune writes it: 'algorithm of a'"},
    {HEAD "algorithm 1 of \n", "line 5 isn't as --tune writes it: 'algorithm 1 of '"},
    {HEAD "algorithm 1 of a~b\n", "line 5 is no text, or too long"},
    {HEAD "other\n", "line 5 isn't as --tune writes it: 'other'"},
    {HEAD "end\n", "line 5 isn't as --tune writes it: 'end'"},
    {HEAD "end 0 \n", "line 5 isn't as --tune writes it: 'end 0 '"},
    {HEAD "end 0\n\n", "it goes on after its end in line 5"},
};

// Parses text with '~' for NUL, from memory that ends with it.
static bool parse(RtTune *t, const char *text, RtFileError *e)
{
    size_t n = strlen(text);
    uint8_t *bytes = malloc(n);

    for (size_t i = 0; i < n; i++)
        bytes[i] = text[i] == '~' ? 0 : (uint8_t)text[i];
    bool is_read = rt_tune_parse(t, bytes, n, e);
    free(bytes);
    return is_read;
}

static void reads(void **state)
{
    for (int i = 0; i < N(files); i++) {
        RtFileError e = {""};
        RtTune t;
        size_t bytes;

        bool is_read = parse(&t, files[i].file, &e);
        assert_string_equal(e.text, files[i].says ? files[i].says : "");
        assert_int_equal(is_read, !files[i].says);
        if (!is_read)
            continue;
        char *text = rt_tune_print(&t, &bytes);
        assert_int_equal(bytes, strlen(files[i].file));
        assert_memory_equal(text, files[i].file, bytes);
        free(text);
        rt_tune_free(&t);
    }
}

// Names that are longer than a line may be, and more products than a file may have.
static void bounds(void **state)
{
    char line[RT_TUNE_TEXT + 400], *text = malloc(RT_TUNE_PRODUCTS * 32 + 400), *to = text;
    RtFileError e;
    RtTune t;

    for (int n = RT_TUNE_TEXT - 1; n < RT_TUNE_TEXT + 200; n += 50) {
        snprintf(line, sizeof line, HEAD "algorithm 1 of %0*d\nend 1\n", n, 0);
        bool is_read = parse(&t, line, &e);
        assert_int_equal(is_read, n < RT_TUNE_TEXT);
        if (is_read)
            rt_tune_free(&t);
    }
    to += sprintf(to, HEAD);
    for (int i = 0; i <= RT_TUNE_PRODUCTS; i++)
        to += sprintf(to, "algorithm 1 of %d\n", i);
    assert_false(parse(&t, text, &e));
    assert_string_equal(e.text, "it has more than 4096 products, or memory ran out");
    free(text);
}

static void finds(void **state)
{
    RtTune t = {0};

    for (int i = 0; i < 100; i++) {
        char product[16];
        snprintf(product, sizeof product, "p%d", i);
        assert_true(rt_tune_add(&t, product, i % RT_TUNE_ALGORITHMS));
    }
    assert_int_equal(rt_tune_find(&t, "p37")->algorithm, 5);
    assert_null(rt_tune_find(&t, "p100"));
    rt_tune_free(&t);
}

static const struct {
    RtTune file;
    const char *says;
} machines[] = {
    {{.gpu = "g", .library = 130002}, ""},
    {{.gpu = "h", .library = 130002}, "it is for another GPU, h; this is g"},
    {{.gpu = "g", .library = 130001}, "it is for cuBLASLt 130001; this is 130002"},
    {{.gpu = "g", .library = 130002, .has_tf32 = true}, "it was made with --tf32"},
};

static void matches(void **state)
{
    for (int i = 0; i < N(machines); i++) {
        RtFileError e = {""};
        assert_int_equal(rt_tune_match(&machines[i].file, &machines[0].file, &e), i == 0);
        assert_string_equal(e.text, machines[i].says);
    }
}

static void writes(void **state)
{
    RtTune t = {.gpu = "g", .library = 1}, again;
    RtFileError e;

    assert_true(rt_tune_add(&t, "p", 2));
    assert_true(rt_tune_write(&t, "a.tune", &e));
    assert_true(rt_tune_read(&again, "a.tune", &e));
    assert_int_equal(rt_tune_find(&again, "p")->algorithm, 2);
    rt_tune_free(&again);
    assert_false(rt_tune_write(&t, "nowhere/a.tune", &e));
    assert_string_equal(e.text, "No such file or directory");
    assert_false(rt_tune_read(&again, "nowhere/a.tune", &e));
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_false(rt_tune_read(&again, "folder", &e));
    assert_string_equal(e.text, "not a regular file");
    rt_tune_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(bounds),
                                       cmocka_unit_test(finds), cmocka_unit_test(matches),
                                       cmocka_unit_test(writes)};

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
