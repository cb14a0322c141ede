// Tests the files of chains and schedules: what is read, which files are refused and in which
// words, and how a schedule is printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solver/chain/chain.h"

static const char good[] =
    "{\"input\": 100, \"stages\": [\n"
    "  {\"name\": \"embed\", \"output\": 50, \"forward_scratch\": 3, \"backward_scratch\": 0,\n"
    "   \"forward_time\": 1.5, \"keep\": [\n"
    "    {\"saved\": 200, \"forward_time\": 1.5, \"backward_time\": 3},\n"
    "    {\"saved\": 60, \"forward_time\": 1.75, \"backward_time\": 4}]},\n"
    "  {\"name\": \"loss \\\"ce\\\"\", \"output\": 8, \"forward_scratch\": 0, "
    "\"backward_scratch\": 70,\n"
    "   \"forward_time\": 0, \"keep\": [\n"
    "    {\"saved\": 0, \"forward_time\": 0, \"backward_time\": 0.1}]}]}\n";

static void read_whole(void **state)
{
    Arena *a = arena_new();
    ChainProblem p;

    assert_true(chain_parse(a, good, strlen(good), &p, NULL));
    assert_true(p.input == 100 && p.n_stages == 2);
    const ChainStage *s = p.stage;
    assert_string_equal(s[0].name, "embed");
    assert_true(s[0].output == 50 && s[0].forward_scratch == 3 && s[0].backward_scratch == 0);
    assert_true(s[0].forward_time == 1.5 && s[0].n_policies == 2);
    assert_true(s[0].policy[1].saved == 60 && s[0].policy[1].forward_time == 1.75);
    assert_true(s[0].policy[1].backward_time == 4 && s[1].n_policies == 1);
    assert_string_equal(s[1].name, "loss \"ce\"");
    arena_free(a);
}

#define SIZE "a whole number from 0 to 9007199254740992"
#define TIME "a number from 0 to 1e+18"

// Each case is the good text with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    {good, "", "not JSON: byte 0"},
    {good, "[]", "the top level must be an object, found a list"},
    {good, "{}", "input is missing"},
    {"\"input\": 100", "\"input\": NaN", "not JSON: byte 10: found 'NaN,'"},
    {"\"input\": 100", "\"input\": -1", "input must be " SIZE ", found -1"},
    {"\"input\": 100", "\"input\": 1e999", "input must be " SIZE ", found inf"},
    {"\"input\": 100", "\"version\": 1, \"input\": 100", "version is unknown"},
    {good, "{\"input\": 1}", "stages is missing"},
    {good, "{\"input\": 1, \"stages\": 1}", "stages must be a list, found 1"},
    {good, "{\"input\": 1, \"stages\": []}", "stages must have 1 to 1024 stages, found 0"},
    {good, "{\"input\": 1, \"stages\": [1]}", "stages[0] must be an object, found 1"},
    {"\"name\": \"embed\"", "\"name\": 7",
     "stages[0].name must be a text of printable ASCII, found 7"},
    {"\"embed\"", "\"loss \\\"ce\\\"\"", "stages[1].name is 'loss \"ce\"', as stages[0].name is"},
    {"\"output\": 50, ", "", "stages[0].output is missing"},
    {"\"output\": 50", "\"output\": 50, \"output\": 50", "stages[0].output occurs twice"},
    {"\"output\": 50", "\"outptu\": 50", "stages[0].outptu is unknown"},
    {"\"output\": 8", "\"output\": 8.5", "stages[1].output must be " SIZE ", found 8.5"},
    {"\"output\": 8", "\"output\": \"8\"", "stages[1].output must be " SIZE ", found '8'"},
    {"\"output\": 8", "\"output\": 9223372036854775808",
     "stages[1].output must be " SIZE ", found 9.223372036854776e+18"},
    {"\"output\": 50", "\"output\": 61",
     "stages[0].keep[1].saved must hold the output of 'embed', 61 bytes, found 60"},
    {"\"forward_scratch\": 3", "\"forward_scratch\": -3",
     "stages[0].forward_scratch must be " SIZE ", found -3"},
    {"\"backward_scratch\": 70", "\"backward_scratch\": 9007199254740992",
     "stages[1].output and the other sizes up to 'loss \"ce\"' sum to more than 9007199254740992"},
    {"\"forward_time\": 1.5,", "\"forward_time\": -1,",
     "stages[0].forward_time must be " TIME ", found -1"},
    {"\"forward_time\": 1.5,", "\"forward_time\": \"NaN\",",
     "stages[0].forward_time must be " TIME ", found 'NaN'"},
    {"\"keep\": [\n    {\"saved\": 0, \"forward_time\": 0, \"backward_time\": 0.1}]",
     "\"keep\": []", "stages[1].keep must have 1 to 256 policies for 'loss \"ce\"', found 0"},
    {"\"saved\": 60", "\"saved\": 1e16", "stages[0].keep[1].saved must be " SIZE ", found 1e+16"},
    {"\"backward_time\": 4", "\"backward_time\": 1e19",
     "stages[0].keep[1].backward_time must be " TIME ", found 1e+19"},
    {"\"backward_time\": 4", "\"backward_time\": null",
     "stages[0].keep[1].backward_time must be " TIME ", found null"},
    {", \"backward_time\": 0.1", "", "stages[1].keep[0].backward_time is missing"},
    {"{\"saved\": 60, \"forward_time\": 1.75, \"backward_time\": 4}", "[4]",
     "stages[0].keep[1] must be an object, found a list"},
};

static char *replaced(Arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    assert_non_null(at);
    return arena_string(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void refuse(Arena *a, const char *text, const char *message)
{
    Text said = {0};
    Diag d = {.file = "c", .to = &said};
    ChainProblem p;

    assert_false(chain_parse(a, text, strlen(text), &p, &d));
    assert_string_equal(said.s, arena_string(a, "c: error: %s\n", message));
    text_free(&said);
}

static void refused(void **state)
{
    Arena *a = arena_new();

    for (int i = 0; i < COUNT(cases); i++)
        refuse(a, replaced(a, good, cases[i].from, cases[i].to), cases[i].message);
    arena_free(a);
}

// Lists that are too long.
static void many(void **state)
{
    Arena *a = arena_new();
    Text t = {0};

    text_printf(&t, "{\"input\": 1, \"stages\": [");
    for (int i = 0; i < 1025; i++)
        text_printf(&t,
                    "%s{\"name\": \"%d\", \"output\": 0, \"forward_scratch\": 0, "
                    "\"backward_scratch\": 0, \"forward_time\": 0, \"keep\": []}",
                    i ? "," : "", i);
    text_printf(&t, "]}");
    refuse(a, t.s, "stages must have 1 to 1024 stages, found 1025");
    t.n = 0;
    text_printf(&t, "\"keep\": [");
    for (int i = 0; i < 257; i++)
        text_printf(&t, "%s{\"saved\": 50, \"forward_time\": 0, \"backward_time\": 0}",
                    i ? "," : "");
    text_printf(&t, ", ");
    refuse(a, replaced(a, good, "\"keep\": [", t.s),
           "stages[0].keep must have 1 to 256 policies for 'embed', found 259");
    text_free(&t);
    arena_free(a);
}

static void printed(void **state)
{
    Arena *a = arena_new();
    ChainProblem p;
    ChainSchedule s = {0};
    Text t = {0};

    assert_true(chain_parse(a, good, strlen(good), &p, NULL));
    assert_true(chain_schedule(a, chain_solve(a, &p, 1000, 0), 230, &s));
    chain_print(&p, &s, &t);
    assert_string_equal(t.s,
                        "{\n  \"total_time\": 5.85,\n  \"peak\": 230,\n  \"operations\": [\n"
                        "    {\"op\": \"save\", \"stage\": \"embed\", \"keep\": 1},\n"
                        "    {\"op\": \"save\", \"stage\": \"loss \\\"ce\\\"\", \"keep\": 0},\n"
                        "    {\"op\": \"backward\", \"stage\": \"loss \\\"ce\\\"\"},\n"
                        "    {\"op\": \"backward\", \"stage\": \"embed\"}\n  ]\n}\n");
    text_free(&t);
    arena_free(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_whole),
        cmocka_unit_test(refused),
        cmocka_unit_test(many),
        cmocka_unit_test(printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
