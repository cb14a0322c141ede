// Tests the reader of trainers' logs: what it reads, which line it refuses and why, and whose log
// it is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "report/run_file.h"

#define STEP "{\"step\": 1, \"loss\": 2.5, \"grad_norm\": null}\n"
#define HEAD                                                                                       \
    "{\"profile\": \"m\", \"identity\": \"00000000000000ab\", \"plan_hash\": "                     \
    "\"0123456789abcdef\", \"plan\": \"2 ranks as dp=2\", \"device\": \"cpu\", \"ranks\": 2, "     \
    "\"steps\": 3, \"seconds\": 0.25, \"calls\": 2}\n"
#define DOT                                                                                        \
    "{\"call\": \"h.{}.fc: dot f32[4]\", \"part\": \"micro\", \"block\": \"h\", \"layer\": 3, "    \
    "\"calls\": 4, \"seconds\": 0.1, \"least_seconds\": 0.05, \"fastest_rank_seconds\": 0.09, "    \
    "\"slowest_rank_seconds\": 0.11, \"predicted_seconds\": 0.2, \"flops\": 8, \"read_bytes\": "   \
    "16, \"written_bytes\": 4}\n"
#define SUM                                                                                        \
    "{\"call\": \"all_reduce f32[]\", \"part\": \"reduce\", \"calls\": 1, \"seconds\": 0.01, "     \
    "\"least_seconds\": 0.01, \"flops\": 0, \"read_bytes\": 8, \"written_bytes\": 4, "             \
    "\"axis\": \"dp\", \"sent_bytes\": 4, \"exchange_seconds\": 0.009}\n"

static const char good[] = STEP HEAD DOT SUM;

static void read_all(void **state)
{
    Arena *a = arena_new();
    Diag d = {.file = "log"};
    RunFile f;

    assert_true(run_file_parse(a, good, strlen(good), &f, &d));
    assert_string_equal(f.program, "m");
    assert_true(f.identity == 0xab && f.plan_hash == 0x0123456789abcdef && f.ranks == 2);
    assert_true(f.steps == 3 && f.seconds == 0.25 && f.n_calls == 2);
    const RunCall *c = f.call;
    assert_string_equal(c[0].block, "h");
    assert_true(c[0].layer == 3 && c[0].calls == 4 && c[0].predicted == 0.2 && !c[0].axis);
    assert_true(c[0].seconds == 0.1 && c[0].fastest == 0.09 && c[0].slowest == 0.11);
    assert_string_equal(c[1].axis, "dp");
    assert_true(c[1].sent == 4 && c[1].exchange == 0.009 && !c[1].block && !c[1].predicted);
    arena_free(a);
}

// A run that went on has written a second profile; a last line may lack its end.
static void reads_the_last(void **state)
{
    static const char text[] = HEAD DOT SUM STEP
        "{\"profile\": \"n\", \"identity\": \"00000000000000ab\", \"plan\": \"\", \"device\": "
        "\"cuda\", \"ranks\": 1, \"steps\": 1, \"seconds\": 1, \"calls\": 0}";
    Arena *a = arena_new();
    Diag d = {.file = "log"};
    RunFile f;

    assert_true(run_file_parse(a, text, strlen(text), &f, &d));
    assert_string_equal(f.program, "n");
    assert_true(f.n_calls == 0 && f.plan_hash == 0 && f.ranks == 1);
    arena_free(a);
}

// Each case is the good text with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    {HEAD DOT SUM, "",
     "log: error: it has no calls: a run with --profile --log FILE writes them "
     "at its end"},
    {good, "",
     "log: error: it has no calls: a run with --profile --log FILE writes them at its "
     "end"},
    {SUM, "", "log: error: it ends after 1 of 2 calls: the log was cut short"},
    {SUM, "{\"call\": \"all_re", "log: line 4: error: not JSON: byte 10: found 'all_re'"},
    {SUM, SUM SUM, "log: line 5: error: call is number 3 of a profile with 2 calls"},
    {HEAD, "", "log: line 2: error: call is number 1 of a profile with 0 calls"},
    {HEAD, "7\n", "log: line 2: error: must be an object"},
    {HEAD, "\n", "log: line 2: error: not JSON: byte 0"},
    {STEP, "{\"step\": nan}\n", "log: line 1: error: not JSON: byte 9: found 'nan}'"},
    {"\"ranks\": 2", "\"ranks\": -2",
     "log: line 2: error: ranks must be a whole number from 0 to 4194304, found -2"},
    {"\"ranks\": 2", "\"rank\": 2", "log: line 2: error: rank is unknown"},
    {"\"ranks\": 2, ", "", "log: line 2: error: ranks is missing"},
    {"00000000000000ab", "ab",
     "log: line 2: error: identity must be a text of 16 digits 0 to f, found 'ab'"},
    {"\"seconds\": 0.1,", "\"seconds\": -0.1,",
     "log: line 3: error: seconds must be a number from 0 to 1e+18, found -0.1"},
    {"\"calls\": 4", "\"calls\": 4, \"calls\": 4", "log: line 3: error: calls occurs twice"},
    {"\"flops\": 8, ", "", "log: line 3: error: flops is missing"},
    {"h.{}.fc", "h\\u0007",
     "log: line 3: error: call must be a text of printable ASCII, found 'h\\x07: dot f32[4]'"},
};

static void refused(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "log", .to = &said};
        const char *at = strstr(good, cases[i].from);
        RunFile f;

        assert_non_null(at);
        char *text = arena_string(a, "%.*s%s%s", (int)(at - good), good, cases[i].to,
                                  at + strlen(cases[i].from));
        assert_false(run_file_parse(a, text, strlen(text), &f, &d));
        assert_string_equal(said.s, arena_string(a, "%s\n", cases[i].message));
        assert_int_equal(d.errors, 1);
        text_free(&said);
        arena_free(a);
    }
}

static void a_long_line(void **state)
{
    static char text[(1 << 16) + 2];
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "log", .to = &said};
    RunFile f;

    memset(text, ' ', sizeof text);
    assert_false(run_file_parse(a, text, sizeof text, &f, &d));
    assert_string_equal(said.s, "log: line 1: error: 65538 bytes are too many for a line\n");
    text_free(&said);
    arena_free(a);
}

// The plan of a log is known by the hash of what is in its file.
static void belongs_to_its_plan(void **state)
{
    PlanAxis axis = {.name = "dp", .size = 2};
    PlanEntry value = {.name = "w", .spec = "[dp]", .solved = "[dp]"};
    PlanFile p = {.ranks = 2, .axis = &axis, .n_axes = 1, .value = &value, .n_values = 1};
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "log", .to = &said};
    RunFile f = {.program = "m", .plan = "2 ranks as dp=2", .plan_hash = plan_file_hash(&p)};

    assert_true(run_file_check(a, &f, &p, &d));
    value.solved = "[-]";
    p.seconds = 7;
    assert_true(run_file_check(a, &f, &p, &d));
    value.spec = "[-]";
    assert_false(run_file_check(a, &f, &p, &d));
    assert_non_null(strstr(said.s, "log: error: it is of another program: 'm' with plan "));
    assert_non_null(strstr(said.s, " (2 ranks as dp=2), expected plan "));
    f = (RunFile){.program = "m", .plan = "1 rank"};
    assert_false(run_file_check(a, &f, &p, &d));
    assert_non_null(strstr(said.s, "'m' with no plan (1 rank), expected plan "));
    text_free(&said);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_all),
        cmocka_unit_test(reads_the_last),
        cmocka_unit_test(refused),
        cmocka_unit_test(a_long_line),
        cmocka_unit_test(belongs_to_its_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
