// Tests --check-arena on a model whose buffers share bytes, without a mistake and with one of each
// kind.
#include "runtime/rt_cpu.h"
#include "tests/runtime/small.h"

// Offsets of buffers, each followed by 64 free bytes. C reuses the bytes of A. The workspace SPACE
// of a kernel shares its bytes with nothing.
enum {
    SUM = 0,
    COUNT = 128,
    SPACE = 256,
    X = 384,
    A = 512,
    B = 640,
    C = 512,
    W = 768,
    BYTES = 896
};

typedef enum Fault { NONE, WRITE, READ_AFTER, READ_PAST, SCRATCH, READ_SCRATCH, KEPT, SKIP } Fault;
static Fault fault;
static bool is_skewed;  // the loop's second statement runs an iteration later
static int ends;  // 1: the last two statements are a loop of one iteration, with begin and end

static const RtTensor tensors[] = {
    {RT_PARAMETER, RT_F32, "sum", .at = SUM},
    {RT_PARAMETER, RT_F32, "count", .at = COUNT},
    {RT_PARAMETER, RT_F32, "w", .rank = 1, .dim = {16}, .at = W},
};
static const RtTensor own[] = {
    {RT_INPUT, RT_F32, "x", .rank = 2, .dim = {LB, LD}, .at = X},
    {RT_LOSS_SUM, RT_F32, "loss", .at = SUM},
    {RT_LOSS_COUNT, RT_F32, "count", .at = COUNT},
};

typedef struct Move {
    char *from, *to;
} Move;

static void add(const void *operands, int64_t first, int64_t last)
{
    const Move *p = operands;

    for (int64_t i = first; i < last; i++)
        *F(p->to, 0) += F(p->from, 0)[i];
}

static void copy(const void *operands, int64_t first, int64_t last)
{
    const Move *p = operands;

    for (int64_t i = first; i < last; i++)
        F(p->to, 0)[i] = F(p->from, 0)[i];
}

// Copies, and also writes one byte after the end.
static void spill(const void *operands, int64_t first, int64_t last)
{
    const Move *p = operands;

    copy(operands, first, last);
    p->to[64] = 1;
}

#define ROWS(f, from, to)                                                                          \
    (RT_AT(rt, #f " " #from " " #to, 0, 0),                                                        \
     rt_rows(rt, f, &(Move){m + (from), m + (to)}, LB * LD, 1))

static void statements(Rt *rt, char *m)
{
    RT_AT(rt, "fill SUM", 0, 0);
    rt_fill(rt, RT_F32, m + SUM, 1, 0);
    RT_AT(rt, "fill COUNT", 0, 0);
    rt_fill(rt, RT_F32, m + COUNT, 1, LB);
    ROWS(copy, X, A);
    for (int layer = 0; layer < 2 + is_skewed; layer++) {
        if (fault == WRITE && layer == 1)
            ROWS(spill, A, B);
        else if (layer < 2)
            ROWS(copy, A, B);
        if (layer >= is_skewed)
            ROWS(add, B, SUM);
    }
    if (fault == SCRATCH)
        ROWS(spill, X, SPACE);
    else if (fault == KEPT)
        ROWS(spill, X, W);
    else
        ROWS(copy, X, fault == READ_SCRATCH ? SPACE : C);
    if (fault == SKIP)
        return;
    ROWS(add, fault == READ_AFTER ? B : fault == READ_SCRATCH ? SPACE : C, SUM);
    if (fault == READ_PAST)
        *F(m, SUM) += *F(m, C + 64);
}

static void live_ranges(Rt *rt)
{
    const RtLiveRange range[] = {{"X", X, 64, 0, 9 + 2 * ends},
                                 {"A", A, 64, 2, 6},
                                 {"B", B, 64, 4 - is_skewed, 5 + is_skewed},
                                 {"C", C, 64, 7 + ends, 8 + ends},
                                 {"SPACE", SPACE, 64, 7 + ends, 7 + ends},
                                 {0}};
    const RtLoop loop[] = {{3, 6, 2 + is_skewed, {is_skewed ? 5 : 0}}, {7, 10, ends}, {0}};

    rt_live_ranges(rt, RT_TRAINING, range, loop);
    rt_live_ranges(rt, RT_FORWARD, range, loop);
}

static void nothing(Rt *rt, char *m) {}

static const RtModel model = {
    .device = &rt_cpu,
    .name = "shared",
    .arena_bytes = BYTES,
    .accumulate = 1,
    .init_std = 1,
    .redzone = 64,
    .live_ranges = live_ranges,
    .tensors = tensors,
    .n_tensors = N(tensors),
    .train = own,
    .n_train = N(own),
    .predict = own,
    .n_predict = N(own),
    .micro = statements,
    .reduce = nothing,
    .update = nothing,
    .forward = statements,
};

static const struct {
    Fault fault;
    const char *says;
} cases[] = {
    {NONE, ""},
    {WRITE, "spill A B wrote past the end of B"},
    {READ_AFTER, "loss depends on bytes outside the live range or the bounds of B"},
    {READ_PAST, "loss depends on bytes outside the live range or the bounds of C"},
    {SCRATCH, "spill X SPACE wrote past the end of SPACE"},
    {READ_SCRATCH, "loss depends on bytes outside the live range or the bounds of SPACE"},
    {KEPT, "spill X W wrote past the end of w"},
    {SKIP, "8 statements were run, expected 9"},
};

static void find_mistakes(void)
{
    static const char *const does[] = {"--data data --steps 2", "--eval-data data"};

    write_linear("data", 24);
    for (int i = 0; i < N(cases); i++)
        for (int k = 0; k < N(does); k++) {
            char args[80], expected[200];
            fault = cases[i].fault;
            snprintf(args, sizeof args, "%s --quiet", does[k]);
            Said s = run_trainer(&model, args);
            assert_int_equal(s.status, 0);
            snprintf(args, sizeof args, "%s --quiet --check-arena", does[k]);
            s = run_trainer(&model, args);
            const char *says =
                ends && fault == SKIP ? "9 statements were run, expected 11" : cases[i].says;
            snprintf(expected, sizeof expected, "shared: error: arena: %s\n", says);
            assert_int_equal(s.status, fault != NONE);
            assert_string_equal(s.err, fault == NONE ? "" : expected);
        }
}

static void finds_mistakes(void **state)
{
    find_mistakes();
    is_skewed = true;
    find_mistakes();
    is_skewed = false;
    ends = 1;
    find_mistakes();
    ends = 0;
}

// Mistakes in a model that has no table of live ranges.
static void touch_zone(Rt *rt, char *m)
{
    linear_micro(rt, m);
    if (*I(m, L_INDEX) == 1)
        m[L_ZONE + 5] = 0;
}

static void read_stale(Rt *rt, char *m)
{
    linear_micro(rt, m);
    if (*I(m, L_INDEX) == 0)
        *F(m, L_NORM + 8) = 0;  // belongs to no buffer; overwritten by the next step
    *F(m, L_SUM) += *F(m, L_NORM + 8);
}

static void checks_between_steps(void **state)
{
    RtModel m = linear;

    write_linear("data", 24);
    m.micro = touch_zone;
    Said s = run_trainer(&m, "--data data --steps 3 --quiet");
    assert_int_equal(s.status, 0);
    s = run_trainer(&m, "--data data --steps 3 --quiet --check-arena");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "linear: error: arena: something wrote past the end of micro\n");
    m.micro = read_stale;
    s = run_trainer(&m, "--data data --steps 3 --quiet --check-arena");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "linear: error: arena: sum depends on bytes outside all buffers\n");
}

// A buffer that is written before the first micro-batch is there for the next one, unless its live
// range has ended.
static int shared_until;

static void share(Rt *rt, char *m) { ROWS(copy, W, A); }

static void read_shared(Rt *rt, char *m)
{
    RT_AT(rt, "fill COUNT", 0, 0);
    rt_fill(rt, RT_F32, m + COUNT, 1, LB);
    RT_AT(rt, "fill SUM", 0, 0);
    rt_fill(rt, RT_F32, m + SUM, 1, 0);
    ROWS(copy, A, B);
    ROWS(add, B, SUM);
}

static void shared_live_ranges(Rt *rt)
{
    const RtLiveRange range[] = {
        {"X", X, 64, 0, 5}, {"A", A, 64, 0, shared_until}, {"B", B, 64, 3, 4}, {0}};

    rt_live_ranges(rt, RT_TRAINING, range, &(RtLoop){0});
}

static void shares_between_micro_batches(void **state)
{
    RtModel m = model;

    m.accumulate = 2;
    m.live_ranges = shared_live_ranges;
    m.prepare = share;
    m.micro = read_shared;
    write_linear("data", 24);
    for (shared_until = 3; shared_until <= 5; shared_until += 2) {
        Said s = run_trainer(&m, "--data data --steps 2 --quiet --check-arena");
        assert_int_equal(s.status, shared_until < 5);
        assert_string_equal(s.err, shared_until < 5 ? "shared: error: arena: loss depends on bytes "
                                                      "outside the live range or the bounds of A\n"
                                                    : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_mistakes),
        cmocka_unit_test(checks_between_steps),
        cmocka_unit_test(shares_between_micro_batches),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
