// Tests packings: small ones against every order, random ones without a gap, large ones, and what
// capacities and limits do.
#include "tests/packer/random.h"

enum { MAX_TRIED = 12, SMALL = 8000 };

// Packs buffers in every order, each on all before it that are live with it, and pinned ones at
// their offsets. Some order gives the least bytes.
typedef struct Orders {
    const LiveBuffer *b;
    int n;
    int64_t bound;           // fewer is impossible
    int64_t end[MAX_TRIED];  // 0: not packed
    int64_t best;
} Orders;

static void try_all(Orders *o, int packed, int64_t bytes)
{
    if (bytes >= o->best || o->best == o->bound)
        return;
    if (packed == o->n) {
        o->best = bytes;
        return;
    }
    for (int i = 0; i < o->n; i++) {
        if (o->end[i])
            continue;
        int64_t at = 0;
        for (int j = 0; j < o->n; j++)
            if (o->end[j] > at && o->b[i].lower < o->b[j].upper && o->b[j].lower < o->b[i].upper)
                at = o->end[j];
        if (o->b[i].is_pinned && at > o->b[i].offset)
            continue;
        at = o->b[i].is_pinned ? o->b[i].offset : at;
        o->end[i] = at + o->b[i].bytes;
        try_all(o, packed + 1, o->end[i] > bytes ? o->end[i] : bytes);
        o->end[i] = 0;
    }
}

static int64_t least_bytes(const LiveBuffer *b, int n)
{
    Orders o = {.b = b, .n = n, .bound = pack_bound(b, n), .best = INT64_MAX};

    try_all(&o, 0, 0);
    return o.best;
}

// Adds a buffer at each time, so that as many bytes are live at every time. Returns how many
// buffers there are then.
static int fill_up(LiveBuffer *b, int n, int times)
{
    int64_t most = pack_bound(b, n);
    int begin = n;

    for (int t = 0; t < times; t++) {
        int64_t live = 0;
        for (int i = 0; i < begin; i++)
            live += b[i].lower <= t && t < b[i].upper ? b[i].bytes : 0;
        if (live < most)
            b[n++] = (LiveBuffer){t, t + 1, most - live};
    }
    return n;
}

static void small_ones_are_optimal(void **state)
{
    int above_bound = 0;

    for (int i = 0; i < SMALL; i++) {
        uint64_t r = seed_random((uint64_t)i);
        Arena *a = arena_new();
        LiveBuffer b[MAX_TRIED];
        bool is_full = i % 2;
        int times = is_full ? 6 : 2 + (int)below(&r, 7);
        int n = is_full ? 5 : (int)below(&r, 8);
        int64_t unit = 1 + below(&r, 2) * 63;
        random_buffers(b, n, times, is_full ? 3 : 6, unit, &r);
        if (is_full)
            n = fill_up(b, n, times);
        int64_t best = least_bytes(b, n);
        Packing x = pack(a, b, n, &(PackOptions){0});
        check_packing(b, n, &x);
        assert_int_equal(x.bytes, best);
        assert_int_equal(x.bound, best);  // proved
        above_bound += best > pack_bound(b, n);

        x = pack(a, b, n, &(PackOptions){.capacity = best});
        check_packing(b, n, &x);
        assert_true(x.bytes <= best);
        if (best > 1) {
            x = pack(a, b, n, &(PackOptions){.capacity = best - 1});
            check_packing(b, n, &x);
            assert_true(x.bytes >= best && x.bound == best);
        }
        arena_free(a);
    }
    assert_true(above_bound > 30);  // the search has something to prove
}

// Pins some buffers where another packing has them, which may be a bad one.
static void pinned_ones_stay(void **state)
{
    int above_best = 0;

    for (int i = 0; i < SMALL; i++) {
        uint64_t r = seed_random((uint64_t)i);
        Arena *a = arena_new();
        LiveBuffer b[7];
        int n = 1 + (int)below(&r, COUNT(b));
        random_buffers(b, n, 2 + (int)below(&r, 7), 6, 64, &r);
        int64_t free = least_bytes(b, n), waste = 64 * below(&r, 3);
        Packing x = pack(a, b, n, &(PackOptions){.capacity = i % 2 ? INT64_MAX / 4 : 0});
        for (int k = 0; k < n; k++) {
            b[k].is_pinned = below(&r, 2);
            b[k].offset = x.offset[k] + waste;
        }
        int64_t best = least_bytes(b, n);
        x = pack(a, b, n, &(PackOptions){0});
        check_packing(b, n, &x);
        for (int k = 0; k < n; k++)
            assert_true(!b[k].is_pinned || x.offset[k] == b[k].offset);
        assert_int_equal(x.bytes, best);
        assert_int_equal(x.bound, best);
        above_best += best > free;
        arena_free(a);
    }
    assert_true(above_best > 1000);
}

// Instances without a gap: how many buffers, and how many seeds.
static const struct {
    int n, seeds;
} perfect[] = {{20, 100}, {50, 50}, {100, 20}, {200, 5}};

static void perfect_ones_are_found(void **state)
{
    for (int k = 0; k < COUNT(perfect); k++)
        for (int seed = 0; seed < perfect[k].seeds; seed++) {
            uint64_t r = seed_random((uint64_t)(1000 * k + seed));
            Arena *a = arena_new();
            LiveBuffer *b = arena_array(a, LiveBuffer, perfect[k].n);
            int64_t bytes = 1 << 10;
            int n = perfect_buffers(b, perfect[k].n, 1 << 14, bytes, 64, &r);
            const PackOptions o = {.capacity = 64 * bytes, .effort = INT64_C(1) << 32};
            assert_int_equal(pack_bound(b, n), 64 * bytes);
            Packing x = pack(a, b, n, &o);
            check_packing(b, n, &x);
            assert_int_equal(x.bytes, 64 * bytes);
            arena_free(a);
        }
}

// Offsets are multiples of what all bytes are multiples of, and the same twice.
static void offsets_are_aligned_and_repeated(void **state)
{
    for (int i = 0; i < 20; i++) {
        uint64_t r = seed_random((uint64_t)i);
        Arena *a = arena_new();
        LiveBuffer b[60];
        random_buffers(b, COUNT(b), 40, 1000, 64, &r);
        const PackOptions o = {.effort = 1 << 22};
        Packing x = pack(a, b, COUNT(b), &o), y = pack(a, b, COUNT(b), &o);
        check_packing(b, COUNT(b), &x);
        assert_memory_equal(x.offset, y.offset, sizeof *x.offset * COUNT(b));
        for (int k = 0; k < COUNT(b); k++)
            assert_int_equal(x.offset[k] % 64, 0);
        arena_free(a);
    }
}

// Without much work there is still a packing, of many buffers too.
static void large_ones_are_packed(void **state)
{
    static const int64_t efforts[] = {1, 1 << 20, 1 << 26};

    for (int i = 0; i < COUNT(efforts); i++) {
        uint64_t r = seed_random(7);
        Arena *a = arena_new();
        LiveBuffer *b = arena_array(a, LiveBuffer, 5000);
        random_buffers(b, 5000, 100000, 1 << 20, 1, &r);
        Packing x = pack(a, b, 5000, &(PackOptions){.effort = efforts[i]});
        check_packing(b, 5000, &x);
        assert_int_equal(x.bound, pack_bound(b, 5000));
        arena_free(a);
    }
}

static void a_time_limit_ends_it(void **state)
{
    uint64_t r = seed_random(3);
    Arena *a = arena_new();
    LiveBuffer *b = arena_array(a, LiveBuffer, 500);
    int n = perfect_buffers(b, 500, 1 << 20, 1 << 16, 64, &r);
    Packing x = pack(a, b, n, &(PackOptions){.time_limit = 0.2});

    check_packing(b, n, &x);
    arena_free(a);
}

// Sums just below the limit, and times at the ends of their range.
static void large_numbers(void **state)
{
    Arena *a = arena_new();
    int64_t half = INT64_C(1) << 61;
    const LiveBuffer b[] = {{0, INT64_MAX, half - 1}, {0, 1, half / 2}, {5, INT64_MAX, half / 2}};
    Packing x = pack(a, b, COUNT(b), &(PackOptions){0});

    check_packing(b, COUNT(b), &x);
    assert_int_equal(x.bytes, half - 1 + half / 2);
    x = pack(a, b, 0, &(PackOptions){0});
    assert_int_equal(x.bytes + x.bound, 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_are_optimal),
        cmocka_unit_test(pinned_ones_stay),
        cmocka_unit_test(perfect_ones_are_found),
        cmocka_unit_test(offsets_are_aligned_and_repeated),
        cmocka_unit_test(large_ones_are_packed),
        cmocka_unit_test(a_time_limit_ends_it),
        cmocka_unit_test(large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
