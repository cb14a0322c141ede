// Files that are written through a buffer and around the page cache: random parts, in order, from
// memory that lies in its blocks as in the file or not. The file must have all bytes.
#include "runtime/rt_file.h"
#include "tests/runtime/small.h"

enum { BYTES = 5 << 20, GUARD = 0x5a };

static char *aligned(size_t bytes)
{
    char *p = aligned_alloc(RT_OUT_BLOCK, bytes);

    assert_non_null(p);
    return p;
}

// The next part: short ones, those around the limits, and long ones.
static int64_t draw_part(void)
{
    static const int64_t limits[] = {RT_OUT_BLOCK, RT_OUT_LONG - RT_OUT_BLOCK, RT_OUT_LONG,
                                     RT_OUT_GATHERED};

    if (rand() % 2)
        return 1 + rand() % 300;
    return limits[rand() % 4] - 2 + rand() % 5 + rand() % 3 * 100000;
}

static void write_parts(RtOut *o, const char *x, bool lies_as_in_file)
{
    char *memory = aligned(BYTES + 2 * RT_OUT_BLOCK);

    for (int64_t at = 0, n; at < BYTES; at += n) {
        int64_t from = lies_as_in_file && rand() % 4 ? at % RT_OUT_BLOCK : rand() % RT_OUT_BLOCK;
        n = draw_part();
        n = n < BYTES - at ? n : BYTES - at;
        memcpy(memory + from, x + at, (size_t)n);
        rt_out_write_at(o, at, memory + from, (size_t)n);
        memset(memory + from, GUARD, (size_t)n);  // the bytes may change afterwards
    }
    free(memory);
}

static void has_all_bytes(void **state)
{
    enum { ROUNDS = 20 };
    char *x = malloc(BYTES), *buffer = aligned(RT_OUT_GATHERED);

    srand(3);
    for (int i = 0; i < BYTES; i++)
        x[i] = (char)rand();
    for (int round = 0; round < ROUNDS; round++) {
        RtOut o;
        RtFileError e;
        RtMap m;
        assert_true(rt_out_open(&o, "out", &e));
        rt_out_gather(&o, buffer);
        write_parts(&o, x, round % 2);
        assert_true(rt_out_commit(&o, &e));
        assert_true(rt_map(&m, "out", &e));
        assert_true(m.size == BYTES && !memcmp(m.data, x, BYTES));
        rt_unmap(&m);
    }
    free(x);
    free(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_all_bytes)};

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
