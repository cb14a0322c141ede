// Tests arenas, text, messages, names, numbers and files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

// ---- arena ----

static void test_arena(void **state)
{
    (void)state;
    Arena *a = arena_new();
    static const size_t sizes[] = {0, 1, 16, 17, 1000, 16384, 131071, 131072, 1 << 20, 3};

    for (int i = 0; i < 2000; i++) {
        size_t n = sizes[i % COUNT(sizes)];
        char *p = arena_alloc(a, n, 1);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(p[k], 0);
        memset(p, 1, n);
        if (i % 10 == 8)
            arena_drop(a, p, n, 1);
    }
    assert_string_equal(arena_string(a, "%s-%d", "x", 7), "x-7");
    assert_string_equal(arena_copy(a, "abc", 2), "ab");
    arena_free(a);
    arena_free(NULL);
}

static void test_grow(void **state)
{
    (void)state;
    Arena *a = arena_new();
    int *x = NULL, n = 0, cap = 0;

    for (int i = 0; i < 200000; i++)
        *arena_push(a, x, n, cap) = i;
    for (int i = 0; i < n; i++)
        assert_int_equal(x[i], i);
    arena_free(a);
}

// ---- text and messages ----

static const struct {
    const char *s, *quoted;
} quotes[] = {
    {"", "\"\""},
    {"plain.name_1", "\"plain.name_1\""},
    {"a\"b\\c", "\"a\\\"b\\\\c\""},
    {"\n\x7f\xc3\xa9", "\"\\x0a\\x7f\\xc3\\xa9\""},
};

static void test_text(void **state)
{
    (void)state;
    Text t = {0};

    for (int i = 0; i < COUNT(quotes); i++) {
        t.n = 0;
        text_quote(&t, quotes[i].s);
        assert_string_equal(t.s, quotes[i].quoted);
    }
    text_free(&t);
    for (int i = 0; i < 1000; i++)
        text_printf(&t, "%03d,", i);
    assert_int_equal(t.n, 4000);
    assert_memory_equal(t.s + 3996, "999,", 5);
    text_free(&t);
}

static void test_messages(void **state)
{
    (void)state;
    Text t = {0};
    Diag d = {.file = "m.onnx", .to = &t};

    diag_error(&d, "node '%s' is %d", "a\x1b[2J\nb", 7);
    diag_note(&d, "in %d", 0);
    diag_warn(&d, "w");
    assert_string_equal(t.s, "m.onnx: error: node 'a\\x1b[2J\\x0ab' is 7\n"
                             "  in 0\n"
                             "m.onnx: warning: w\n");
    assert_int_equal(d.errors, 1);
    t.n = 0;
    for (int i = 0; i < 2 * MAX_ERRORS; i++) {
        diag_error(&d, "e");
        diag_note(&d, "n");
    }
    assert_int_equal(d.errors, 2 * MAX_ERRORS + 1);
    assert_int_equal(t.n, (MAX_ERRORS - 1) * strlen("m.onnx: error: e\n  n\n"));
    diag_error(NULL, "nobody listens");
    text_free(&t);
}

// ---- names ----

static void test_map(void **state)
{
    (void)state;
    Map m = {.arena = arena_new()};

    assert_int_equal(map_get(&m, "x"), 0);
    for (int i = 1; i <= 5000; i++)
        map_set(&m, arena_string(m.arena, "name %d", i), i);
    map_set(&m, "name 17", -17);
    assert_int_equal(m.n, 5000);
    for (int i = 1; i <= 5000; i++)
        assert_int_equal(map_get(&m, arena_string(m.arena, "name %d", i)), i == 17 ? -17 : i);
    assert_int_equal(map_get(&m, "name 5001"), 0);
    assert_int_equal(map_get(&m, ""), 0);
    arena_free(m.arena);
}

static const struct {
    const char *word, *nearest;
} near[] = {
    {"adamw", "adamw"},
    {"adma", "adam"},
    {"adamW", "adamw"},
    {"ADAM", "adam"},
    {"Weight_Decay", "weight_decay"},
    {"momentun", "momentum"},
    {"lr", "lr"},
    {"rl", "lr"},
    {"zebra", NULL},
    {"", NULL},
    {"weight-decay", "weight_decay"},
    {"a_word_that_is_longer_than_any_of_the_names_which_one_could_have_meant_here", NULL},
};

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"adam", "adamw", "lr", "momentum", "weight_decay"};

    for (int i = 0; i < COUNT(near); i++) {
        const char *found = nearest_name(near[i].word, names, COUNT(names));
        if (near[i].nearest)
            assert_string_equal(found, near[i].nearest);
        else
            assert_null(found);
    }
}

static const struct {
    const char *glob, *name;
    bool matches;
} globs[] = {
    {"*", "", true},
    {"", "", true},
    {"", "a", false},
    {"a*c", "abc", true},
    {"a*c", "ac", true},
    {"a*c", "acb", false},
    {"?", "a", true},
    {"?", "", false},
    {"*.bias", "h.0.bias", true},
    {"h.*.w", "h.w", false},
    {"*a*b", "xaaxbab", true},
    {"h.?.w", "h.10.w", false},
    {"**x", "x", true},
    {"a", "A", false},
};

static void test_glob(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(globs); i++)
        assert_int_equal(glob_match(globs[i].glob, globs[i].name), globs[i].matches);
}

// ---- numbers ----

static void test_numbers(void **state)
{
    (void)state;
    int64_t x;

    assert_true(mul_size(INT64_MAX, 1, &x) && x == INT64_MAX);
    assert_false(mul_size((int64_t)1 << 32, (int64_t)1 << 31, &x));
    assert_true(add_size(INT64_MAX, -1, &x) && x == INT64_MAX - 1);
    assert_false(add_size(INT64_MAX, 1, &x));
    assert_true(hash_bytes("ab", 2, 0) != hash_bytes("ba", 2, 0));
    assert_true(hash_bytes("ab", 2, 0) != hash_bytes("ab", 2, 1));
}

// ---- files ----

static int in_folder(void **state)
{
    char *folder = strdup("/tmp/base_test.XXXXXX");

    *state = folder;
    return !folder || !mkdtemp(folder) || chdir(folder);
}

static int leave_folder(void **state)
{
    int failed = chdir("/") || rmdir(*state);

    free(*state);
    return failed;
}

static void write_text(const char *path, const char *s)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(s, f);
    fclose(f);
}

static void check_content(const char *path, const char *s)
{
    File f;

    assert_true(file_map(path, &f, NULL));
    assert_int_equal(f.size, strlen(s));
    assert_memory_equal(f.data, s, f.size);
    file_unmap(&f);
    assert_null(f.data);
}

static void test_map_file(void **state)
{
    (void)state;
    Text t = {0};
    Diag d = {.to = &t};
    File f;

    write_text("a", "hello");
    write_text("empty", "");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    check_content("a", "hello");
    check_content("empty", "");
    assert_false(file_map("none", &f, &d));
    assert_false(file_map(".", &f, &d));
    assert_false(file_map("fifo", &f, &d));
    assert_string_equal(t.s, "error: cannot read 'none': No such file or directory\n"
                             "error: cannot read '.': not a regular file\n"
                             "error: cannot read 'fifo': not a regular file\n");
    text_free(&t);
    unlink("a");
    unlink("empty");
    unlink("fifo");
}

static void test_out_file(void **state)
{
    (void)state;
    Text t = {0};
    Diag d = {.to = &t};
    OutFile o;

    write_text("out", "old");
    assert_true(out_open(&o, "out", &d));
    fputs("half of the new", o.f);
    check_content("out", "old");  // the old file stays until the new one is complete
    out_cancel(&o);
    out_cancel(&o);
    check_content("out", "old");
    assert_true(out_open(&o, "out", &d));
    fputs("new", o.f);
    assert_true(out_commit(&o, &d));
    check_content("out", "new");
    assert_false(out_open(&o, "none/out", &d));
    assert_string_equal(t.s, "error: cannot write 'none/out': No such file or directory\n");
    t.n = 0;
    // Only a file is replaced by a file; a link stays a link.
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_false(out_open(&o, "folder", &d));
    assert_false(out_open(&o, "/dev/null", &d));
    assert_string_equal(t.s, "error: cannot write 'folder': not a regular file\n"
                             "error: cannot write '/dev/null': not a regular file\n");
    assert_int_equal(symlink("out", "link"), 0);
    assert_true(out_write("link", "by a link", 9, &d));
    check_content("out", "by a link");
    assert_int_equal(unlink("link"), 0);
    text_free(&t);
    unlink("out");
    rmdir("folder");
}

// On a full device the error is that of the write, and the old file stays.
static void test_out_full(void **state)
{
    (void)state;
    Text t = {0};
    Diag d = {.to = &t};
    OutFile o;

    write_text("out", "old");
    assert_true(out_open(&o, "out", &d));
    FILE *full = freopen("/dev/full", "w", o.f);
    if (!full)
        skip();
    fputs("new", o.f);
    assert_false(out_commit(&o, &d));
    assert_string_equal(t.s, "error: cannot write 'out': No space left on device\n");
    check_content("out", "old");
    text_free(&t);
    unlink("out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_glob),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test_setup_teardown(test_map_file, in_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_out_file, in_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_out_full, in_folder, leave_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
