// Tests that a program's collectives go to the table of its device, or else of its transport.
#include "runtime/collectives.h"

#include "runtime/comm/transport.h"
#include "runtime/device.h"
#include "tests/runtime/kernels.h"

// The calls so far, a letter for each.
static char calls[64];

static void note(char c) { calls[strlen(calls)] = c; }

#define ENTRY(name, letter)                                                                        \
    static void name(Rt *rt, const RtExchange *p, void *y, const void *x) { note(letter); }
ENTRY(gather, 'g')
ENTRY(reduce, 'r')
ENTRY(to_all, 'a')
ENTRY(keep, 'k')
ENTRY(permute, 'p')
ENTRY(scatter, 's')
ENTRY(shard, 'h')

static bool open_beside(Rt *rt, const RtModel *m, bool overlaps)
{
    note(overlaps ? 'O' : 'o');
    return overlaps;
}

static void close_all(Rt *rt, bool is_clean) { note('c'); }

static void start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x)
{
    note((char)('0' + slot));
    f(rt, p, y, x);
}

static void wait(Rt *rt, int slot) { note('w'); }

#define REST                                                                                       \
    .close = close_all, .all_reduce = reduce, .all_to_all = to_all, .keep_one = keep,              \
    .permute = permute, .reduce_scatter = scatter, .shard = shard, .start = start, .wait = wait
static const RtCollectives of_device = {.open = open_beside, .all_gather = gather, REST};
static const RtCollectives of_transport = {.open = open_beside, .all_gather = shard, REST};

static void call_all(Rt *rt)
{
    static RtCollective *const all[] = {rt_all_gather, rt_all_reduce, rt_all_to_all,
                                        rt_keep_one,   rt_permute,    rt_reduce_scatter,
                                        rt_shard};

    for (int i = 0; i < 7; i++)
        all[i](rt, NULL, NULL, NULL);
    rt_start(rt, 3, rt_permute, NULL, NULL, NULL);
    rt_wait(rt, 3);
}

static void go_to_their_entries(void **state)
{
    const RtTransport transport = {.collectives = &of_transport};
    RtComm comm = {.transport = &transport};

    for (int is_device = 0; is_device < 2; is_device++) {
        const RtModel m = {.transport = &transport, .collectives = is_device ? &of_device : NULL};
        Rt rt = {.comm = &comm};
        memset(calls, 0, sizeof calls);
        assert_true(rt_collectives_open(&rt, &m, true));
        call_all(&rt);
        rt_collectives_close(&rt, true);
        assert_string_equal(calls, is_device ? "Ograkpsh3pwc" : "Ohrakpsh3pwc");
        assert_false(rt_collectives_open(&rt, &m, false));
    }
}

// A program of one rank has no collectives, and opens and closes none.
static void one_rank_has_none(void **state)
{
    Rt rt = {0};

    memset(calls, 0, sizeof calls);
    assert_true(rt_collectives_open(&rt, &(RtModel){.collectives = &of_device}, true));
    assert_null(rt.collectives);
    rt_collectives_close(&rt, true);
    assert_string_equal(calls, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(go_to_their_entries),
        cmocka_unit_test(one_rank_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
