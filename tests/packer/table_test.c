// Tests reading files of buffers, and the messages about wrong ones.
#include <string.h>

#include "tests/packer/random.h"

static bool parse(Arena *a, const char *text, BufferTable *t, Text *said)
{
    Diag d = {.file = "f", .to = said};
    bool ok = buffer_table_parse(a, (File){(const uint8_t *)text, strlen(text)}, t, &d);

    assert_int_equal(d.errors, !ok);  // one message for each error
    return ok;
}

// Files, and the same with the offsets 5, 6 …
static const struct {
    const char *text, *packed;
} good[] = {
    {"id,lower,upper,size\n", "id,lower,upper,size,offset\n"},
    {"id,lower,upper,size", "id,lower,upper,size,offset\n"},
    {"id,lower,upper,size\nb1,0,3,4\n", "id,lower,upper,size,offset\nb1,0,3,4,5\n"},
    {"id,lower,upper,size\r\nb1,0,3,4\r\nb 2,1,2,7",
     "id,lower,upper,size,offset\nb1,0,3,4,5\nb 2,1,2,7,6\n"},
    {"size,upper,id,lower\n4,3,b1,0\n", "size,upper,id,lower,offset\n4,3,b1,0,5\n"},
    {"id,lower,upper,size\nx,00,9223372036854775807,4611686018427387903\n",
     "id,lower,upper,size,offset\nx,00,9223372036854775807,4611686018427387903,5\n"},
};

static void files_are_kept(void **state)
{
    static const int64_t offset[] = {5, 6};

    for (int i = 0; i < COUNT(good); i++) {
        Arena *a = arena_new();
        BufferTable t;
        Text text = {0};
        assert_true(parse(a, good[i].text, &t, NULL));
        assert_true(t.n <= COUNT(offset));
        buffer_table_print(&t, offset, &text);
        assert_string_equal(text.s, good[i].packed);
        text_free(&text);
        arena_free(a);
    }
}

static void columns_may_stand_in_any_order(void **state)
{
    Arena *a = arena_new();
    BufferTable t;

    assert_true(parse(a, "size,upper,id,lower\n4,3,b1,1\n", &t, NULL));
    assert_int_equal(t.n, 1);
    assert_true(t.buffer[0].lower == 1 && t.buffer[0].upper == 3 && t.buffer[0].bytes == 4);
    arena_free(a);
}

#define HEAD "id,lower,upper,size\n"

static const struct {
    const char *text, *message;
} wrong[] = {
    // the head
    {"", "line 1: there is no column 'id'"},
    {"\n", "line 1: column '' is none of id, lower, upper, size"},
    {"0,0,3,4\n", "line 1: column '0' is none of id, lower, upper, size"},
    {"id,lower,upper\nb,0,3\n", "line 1: there is no column 'size'"},
    {"id,lower,upper,bytes\n", "line 1: column 'bytes' is none of id, lower, upper, size"},
    {"id,lower,upper,size,gaps\n", "line 1: there are 5 columns, expected id, lower, upper, size"},
    {"id,lower,upper,id\n", "line 1: column 'id' is there twice"},
    {"ID,lower,upper,size\n", "line 1: column 'ID' is none of id, lower, upper, size"},
    // rows
    {HEAD "b,0,3\n", "line 2: there are 3 cells, expected 4"},
    {HEAD "b,0,3,4,5\n", "line 2: there are 5 cells, expected 4"},
    {HEAD "\nb,0,3,4\n", "line 2: there are 1 cells, expected 4"},
    {HEAD ",0,3,4\n", "line 2: the id is empty"},
    {HEAD "b,0,3,4\nc,0,3,4\nb,5,6,7\n", "line 4: id 'b' is also in line 2"},
    // numbers
    {HEAD "b,,3,4\n", "line 2: lower is '', expected a whole number of at least 0"},
    {HEAD "b,-1,3,4\n", "line 2: lower is '-1', expected a whole number of at least 0"},
    {HEAD "b,0, 3,4\n", "line 2: upper is ' 3', expected a whole number of at least 0"},
    {HEAD "b,0,3,4.5\n", "line 2: size is '4.5', expected a whole number of at least 1"},
    {HEAD "b,0,3,1e3\n", "line 2: size is '1e3', expected a whole number of at least 1"},
    {HEAD "b,0,3,-4\n", "line 2: size is '-4', expected a whole number of at least 1"},
    {HEAD "b,0,3,0\n", "line 2: size is 0, expected at least 1"},
    {HEAD "b,0,3,9223372036854775808\n",
     "line 2: size is 9223372036854775808, expected less than 2^63"},
    {HEAD "b,0,99999999999999999999,1\n",
     "line 2: upper is 99999999999999999999, expected less than 2^63"},
    {HEAD "b,5,3,4\n", "line 2: upper is 3, expected more than lower, 5"},
    {HEAD "b,3,3,4\n", "line 2: upper is 3, expected more than lower, 3"},
    // sums
    {HEAD "b,0,3,9223372036854775807\n", "line 2: the sum of the sizes is 2^62 or more"},
    {HEAD "b,0,3,4611686018427387903\nc,5,6,1\n", "line 3: the sum of the sizes is 2^62 or more"},
};

static void wrong_ones_are_refused(void **state)
{
    for (int i = 0; i < COUNT(wrong); i++) {
        Arena *a = arena_new();
        BufferTable t;
        Text said = {0};
        assert_false(parse(a, wrong[i].text, &t, &said));
        assert_string_equal(said.s, arena_string(a, "f: error: %s\n", wrong[i].message));
        text_free(&said);
        arena_free(a);
    }
}

static void bytes_are_refused(void **state)
{
    static const char text[] = HEAD "b\0c,0,3,4\n";
    Arena *a = arena_new();
    BufferTable t;
    Text said = {0};
    Diag d = {.file = "f", .to = &said};

    assert_false(buffer_table_parse(a, (File){(const uint8_t *)text, sizeof text - 1}, &t, &d));
    assert_string_equal(said.s, "f: error: it has a byte 0, expected text\n");
    text_free(&said);
    arena_free(a);
}

static void many_rows(void **state)
{
    for (int more = 0; more < 2; more++) {
        Arena *a = arena_new();
        BufferTable t;
        Text text = {0}, said = {0};
        text_printf(&text, HEAD);
        for (int i = 0; i < MAX_BUFFERS + more; i++)
            text_printf(&text, "%d,%d,%d,1\n", i, i, i + 1);
        assert_int_equal(parse(a, text.s, &t, &said), !more);
        if (more)
            assert_string_equal(said.s,
                                "f: error: line 65538: there are more than 65536 buffers\n");
        text_free(&text);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_kept),
        cmocka_unit_test(columns_may_stand_in_any_order),
        cmocka_unit_test(wrong_ones_are_refused),
        cmocka_unit_test(bytes_are_refused),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
