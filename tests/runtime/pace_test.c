// The rate at which a checkpoint is written during the steps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/core/core.h"
#include "runtime/trainer/pace.h"

enum { MB = 1000000, GB = 1000 * MB };

// After what happens the limit is `rate`.
typedef struct Event {
    enum { END, BEGIN, FREE, BESIDE } kind;  // of a checkpoint, or of a step
    double seconds;                          // of the step, or to the next checkpoint
    int64_t bytes;                           // of the checkpoint, or written in the step
    int64_t rate;
} Event;

static const struct {
    const char *what;
    Event event[8];
} cases[] = {
    {"steps as fast as others have no limit",
     {{FREE, 1, 0, 0}, {BEGIN, 20, GB, 0}, {BESIDE, 1, 500 * MB, 0}, {BESIDE, 1.01, 500 * MB, 0}}},
    {"no step is known", {{BEGIN, 20, GB, 0}, {BESIDE, 9, 500 * MB, 0}}},
    {"half of what was written, then more",
     {{FREE, 1, 0, 0},
      {BEGIN, 20, GB, 0},
      {BESIDE, 2, 600 * MB, 150 * MB},
      {BESIDE, 1, 150 * MB, 187500000},
      {BESIDE, 0.5, 50 * MB, 234375000}}},
    {"nothing was written", {{FREE, 1, 0, 0}, {BEGIN, 20, GB, 0}, {BESIDE, 2, 0, 0}}},
    {"it ends in half of the time to the next one",
     {{FREE, 1, 0, 0}, {BEGIN, 20, GB, 0}, {BESIDE, 2, 300 * MB, 100 * MB + 1}}},
    {"a limit that nothing comes near doesn't grow",
     {{FREE, 1, 0, 0},
      {BEGIN, 20, GB, 0},
      {BESIDE, 2, 600 * MB, 150 * MB},
      {BESIDE, 1, 75 * MB, 150 * MB}}},
    {"the next one begins with it, or higher",
     {{FREE, 1, 0, 0},
      {BEGIN, 20, GB, 0},
      {BESIDE, 2, 600 * MB, 150 * MB},
      {FREE, 1, 0, 150 * MB},
      {BEGIN, 20, GB, 150 * MB},
      {BEGIN, 4, GB, 500 * MB + 1}}},
    {"steps are compared with the mean of those before",
     {{FREE, 1, 0, 0},
      {FREE, 1.8, 0, 0},
      {BEGIN, 20, GB, 0},
      {BESIDE, 1.12, 448 * MB, 0},
      {BESIDE, 1.13, 452 * MB, 200 * MB}}},
};

static void of_cases(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RtPace p = {0};
        for (const Event *e = cases[i].event; e->kind; e++) {
            if (e->kind == BEGIN) {
                rt_pace_begin(&p, e->bytes, e->seconds);
            } else {
                rt_pace_due(&p, e->bytes, 0);
                rt_pace_step(&p, e->seconds, e->kind == BESIDE);
            }
            if (atomic_load(&p.rate) != e->rate)
                fail_msg("%s, event %d: %lld bytes a second, expected %lld", cases[i].what,
                         (int)(e - cases[i].event), atomic_load(&p.rate), (long long)e->rate);
        }
    }
}

// The writer waits for as long as its bytes take at that rate, and makes up for a late return.
static void of_writes(void **state)
{
    RtPace p = {0};

    rt_pace_begin(&p, GB, 100);
    assert_true(rt_pace_due(&p, MB, 50) <= 50);
    atomic_store(&p.rate, 100 * MB);
    assert_float_equal(rt_pace_due(&p, 10 * MB, 60), 60.05, 1e-9);
    assert_float_equal(rt_pace_due(&p, 10 * MB, 60.05), 60.15, 1e-9);
    assert_float_equal(rt_pace_due(&p, 10 * MB, 60.18), 60.25, 1e-9);
    assert_float_equal(rt_pace_due(&p, 10 * MB, 70), 70.05, 1e-9);
    assert_int_equal(atomic_load(&p.written), 41 * MB);
}

// One that is waited for doesn't wait, though its rate is a byte in a second.
static void of_hurry(void **state)
{
    RtPace p = {0};

    rt_pace_begin(&p, GB, 1e18);
    atomic_store(&p.rate, 1);
    rt_pace_hurry(&p);
    rt_pace_wait(&p, GB);
    assert_true(p.due > rt_seconds() + GB / 2);
    rt_pace_begin(&p, GB, 1e18);
    assert_false(atomic_load(&p.hurries));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_cases), cmocka_unit_test(of_writes),
                                       cmocka_unit_test(of_hurry)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
