// Tests the text of programs: those of tests/fuzz/program print as themselves and pass the check,
// and each mistake in them is found, by the reader or by the check.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "tests/lower/plans.h"

#define LINE "line"      // a layer
#define LAYERS "layers"  // a layer and a loop over two
#define RANKS "ranks"    // the same on two ranks
#define HALVES                                                                                     \
    "halves"  // two products of halves on two ranks, whose weights are gathered once a step
#define AGAIN "again"    // a loop over four layers, of which the products are made again
#define NESTED "nested"  // the same in segments of two layers, which run again and then backward

// The first `from` following `after` becomes `to`.
static const struct {
    const char *file, *after, *from, *to, *message;
} cases[] = {
    // the head
    {LINE, "", "program", "graph", "line 1: 'program' expected, not 'graph'"},
    {LINE, "", "cpu", "gpu", "line 1: 'cpu' expected, not 'gpu'"},
    {LINE, "", "threads 64", "threads 65", "line 1: 65 threads, expected between 1 and 64"},
    {LINE, "", "arena 8000", "arena 8064", "line 1: arena 8000 expected, not 8064"},
    {LINE, "", "bound 8000", "bound 7936", "line 1: bound 8000 expected, not 7936"},
    {LINE, "", "bound 8000", "bound 8000 accumulate 1", "line 1: 1 isn't between 2 and 1048576"},
    {LINE, "", "bound 8000", "bound 8000 mesh \"2x\"", "2x"},
    {LINE, "", "\ntrain", "\ntest", "'train' or 'predict' expected, not 'test'"},
    {LINE, "", "f32[4,6]", "f32[4,7]", "dim 'k' differs: 7 and 6"},
    {RANKS, "", " mesh \"dp=2\"", "", "'train' or 'predict' expected, not 'graph'"},
    {RANKS, "", "dp=2", "dp=3", "axis 0 has other ranks than that of the mesh"},
    {RANKS, "", "dp=2", "tp=2", "the mesh has no such axis"},
    // what a split graph holds
    {RANKS, "", "strategy %a1 \"m:dp\"", "strategy %a1 \"q:dp\"", "the rule has no such factor"},
    {RANKS, "", "strategy %a1", "strategy %q", "'%q' is not defined in the whole graph"},
    {RANKS, "", "strategy %a1", "strategy %w0", "no node makes 'w0' as its first result"},
    {RANKS, "\nshard ", "of %x", "of %w0", "'x' hasn't the dims of such a shard"},
    {RANKS, "\nshard ", "of %x", "of %q", "'%q' is not defined in the whole graph"},
    {RANKS, "\nshard ", "[dp,-]", "[dp,dp]", "occurs"},
    {RANKS, "", "exchange %v24 all_reduce", "exchange %v24 slice", "all_reduce is no slice"},
    {RANKS, "", "exchange %v24 all_reduce", "exchange %v24 send", "a collective expected"},
    {RANKS, "", "exchange %v24 all_reduce bytes 4", "exchange %v24 all_reduce bytes -4",
     "-4 isn't"},
    {RANKS, "", "\nexchange %v24", "\npack %v24\nexchange %v24",
     "the node of 'v24' is there twice"},
    // buffers
    {LINE, "", "buffer 2 ", "buffer 3 ", "3 isn't between 2 and 2"},
    {LINE, "buffer 1 ", "local", "global", "a kind of buffer expected, not 'global'"},
    {LINE, "buffer 4 persistent ", "@192", "@256", "'@192' expected, not '@256'"},
    {LINE, "buffer 1 local @", "7040", "7041", "begins and ends at multiples of 64 bytes"},
    {LINE, "buffer 1 local @7040 ", "192", "191", "begins and ends at multiples of 64 bytes"},
    {LINE, "buffer 1 local @7040 ", "192", "64", "'x' doesn't fit into the buffer"},
    {LINE, "buffer 1 local ", "@7040", "@640", "buffer 1 lies over persistent ones"},
    {LINE, "buffer 1 ", ": %x", ": %x+64", "'x' doesn't fit into the buffer"},
    {LINE, "buffer 1 ", ": %x", ": %x %w", "'w' is in a buffer already"},
    {LINE, "buffer 1 ", ": %x", ": %q", "'%q' is not defined"},
    {LINE, "buffer 1 ", ": %x", "", "':' expected, not the line's end"},
    {LINE, "buffer 1 ", "train", "test", "'train' or 'predict' expected"},
    {LINE, "buffer 1 ", "0 to 9", "9 to 0", "0 isn't between 9 and"},
    {LINE, "buffer 1 ", "0 to 9", "1 to 9", "buffer 1 isn't live where item 0 uses it"},
    {LINE, "buffer 1 ", "0 to 9", "0 to 8", "buffer 1 isn't live where item 9 uses it"},
    {LINE, "buffer 1 ", "0 to 9", "0 to 99", "buffer 1 is live until item 99, of 13"},
    {LINE, "buffer 21 ", "0 to 0", "1 to 1", "buffer 21 isn't live where item 0 uses it"},
    {LINE, "buffer 3 persistent @0 192 train: %w %v38", " predict %w", "", "'w' is in no"},
    {LAYERS, "buffer 4 ", "step 192", "step 256", "'w1' doesn't fit into the buffer"},
    {LAYERS, "buffer 4 ", "predict %w1 step 192 %w2+192 step 192", "predict %w2 step 192 %w1+192",
     "'@448' expected, not '@256'"},
    {LAYERS, "buffer 4 ", "%w1", "%w2", "'w2' isn't of the first iteration"},
    {LAYERS, "buffer 16 ", "ring 2", "ring 1", "1 isn't between 2 and"},
    // tables of tensors
    {LINE, "", "tensor train parameter", "tensor train parameters", "a role of tensors expected"},
    {LINE, "", "tensor train parameter", "tensor both parameter", "'train' or 'predict' expected"},
    {LINE, "", "parameter %w\ntensor", "parameter\ntensor", "a %name expected"},
    {LINE, "", "tensor train parameter %w", "tensor train parameter %q", "'%q' is not defined"},
    {LINE, "", "train gradient \"w\" %v24", "train gradient %v24", "a quoted text expected"},
    {LINE, "", "tensor train parameter %w\n", "", "parameter 'w' is in 0 entries of the tables"},
    {LINE, "", "parameter %w\ntensor", "parameter %b\ntensor",
     "parameter 'b' is in 2 entries of the tables"},
    {LINE, "", "parameter %w\ntensor", "buffer %w\ntensor", "'w' is another kind of value"},
    {LINE, "", "hyper %lr\n", "hyper %lr loss\n", "the line's end expected, not 'loss'"},
    {LINE, "", "tensor train input %x", "tensor train input %x %t", "is another kind of value"},
    {LINE, "", "tensor train input %x\n", "", "input 'x' is in 0 entries of the tables"},
    {LINE, "", "tensor train input %x", "tensor train input %x loss", "is not for the loss alone"},
    {LINE, "", "tensor predict input %t loss", "tensor predict input %t", "is for the loss alone"},
    {LINE, "", "train gradient \"w\" %v24", "train gradient \"w\" %v23", "'w' is no such output"},
    {LINE, "", "train gradient \"w\" %v24", "train gradient \"v\" %v24", "'v' is no such output"},
    {LINE, "", "tensor predict output \"y\" %y\n", "", "output 'y' is in 0 entries of the tables"},
    {LAYERS, "", "parameter %w1 %w2", "parameter %w2 %w1", "has a layer of another value"},
    {LAYERS, "", "parameter %w1 %w2", "parameter %w1", "parameter 'w2' is in 0 entries"},
    {LAYERS, "", "parameter %w1 %w2", "parameter %w1 %w2 %w2", "other layers than its block"},
    {LAYERS, "", " %v44 \"w2\" %v36\n", " %v44\ntensor train gradient \"w2\" %v36\n",
     "the gradient is shown as another layer's than its entry"},
    {LAYERS, "", "output \"y3\" %y3\n", "output \"y3\" %y3 \"y3\" %y3\n", "'y3' has layers"},
    {LAYERS, "tensor train gradient \"w1\"", "\n", " loss\n",
     "the line's end expected, not 'loss'"},
    // items
    {LINE, "train micro\n", "   0 ", "   1 ", "1 isn't between 0 and 0"},
    {LINE, "", "train micro", "train forward", "a function's name expected, not 'forward'"},
    {LINE, "", "train micro", "train macro", "a function's name expected, not 'macro'"},
    {LINE, "", "predict forward", "train micro", "function micro is defined twice"},
    {LINE, "   0 ", "kernel", "colonel", "a kind of item expected, not 'colonel'"},
    {LINE, "   0 kernel ", "dot", "conv", "its first result is no result of such a conv"},
    {LINE, "   0 kernel ", "workspace 21", "workspace 20", "buffer 20 is no workspace"},
    {LINE, "   0 kernel ", "workspace 21 ", "", "it needs a workspace of 6144 bytes"},
    {LINE, "   0 kernel ", "%x f32[4,6]@7040", "%x f32[4,6]@7044", "'@7040' expected, not '@7044"},
    {LINE, "   0 kernel ", "%x f32[4,6]@7040", "%x f32[4,7]@7040", "'f32[4,6]' expected, not 'f32"},
    {LINE, "   0 kernel ", "%x f32[4,6]@7040", "_", "operand 0 isn't like that of its node"},
    {LINE, "   0 kernel ", "%x f32[4,6]@", "%x f32[4,6]/1,4@", "'dot{.m = 4, .n = 5"},
    {LINE, "   0 kernel ", "%x f32[4,6]@", "%x[layer] f32[4,6]@", "there is no loop 'layer' here"},
    {LINE, "   0 kernel ", "%x f32[4,6]@", "%x f32[4,6]/288230376151711744,4@",
     "'x' reaches too far"},
    {LINE, "   0 kernel ", ".k = 6", ".k = 5", "expected, not 'dot{.m = 4, .n = 5, .k = 5"},
    {LINE, "   1 group ", "[4,5]", "[4,6]", "its dims aren't those that the group walks"},
    {LINE, "   1 group ", "rows 0", "rows 1", "it doesn't sum over the group's rows"},
    {LINE, "   1 group ", "rows 0", "rows 3", "3 isn't between 0 and 2"},
    {LINE, "   1 group ", "rows 0", "channels_last columns 3", "3 isn't between 0 and 1"},
    {LINE, "   1 group ", "{add", "{sub", "the node is add, which can't be sub of a group"},
    {LINE, "   1 group ", "add %y(0, 1)", "dot %xw(0, 1)", "dot, which can't be dot of a group"},
    {LINE, "   1 group ", "(0, 1)", "(0, 9)", "the group reads no operand 9"},
    {LINE, "   1 group ", "(0, 1)", "(1, 0)", "it reads"},
    {LINE, "   1 group ", "(0, 1)", "(0)", "',' expected, not ')'"},
    {LINE, "   1 group ", "sub %v13(%y,", "sub %v13(%xw,", "'%y' expected, not '%xw'"},
    {LINE, "   2 group ", "=20", "=21", "isn't this number"},
    {LINE, "   5 gradient ", "%v23 f32[5]@3456", "%b f32[5]@192", "no node makes this gradient"},
    {LINE, "   5 ", "gradient %v23 f32[5]@3456", "none", "is shown 0 times"},
    {LINE, "", "\n  10 gradient %v24 f32[6,5]@7232", "\n  10 end", "no loop ends here"},
    {LAYERS, "", "loop class 1", "loop class 2", "2 isn't between 1 and 1"},
    {LAYERS, "loop class 1 x ", "2", "3", "3 isn't between 2 and 2"},
    {LAYERS, "   7 ", "end", "loop class 1 x 2", "a loop over class 1 is around it already"},
    {LAYERS, "  24 ", "end", "none", "the loop doesn't end"},
    {LAYERS, "   4 loop class 1 x 2", "", " skew 1", "the last item's skew is 0, but that of the"},
    {LAYERS, "   5   kernel dot", "", " skew 1", "1 isn't between 1 and 0"},
    {LAYERS, "   5   kernel ", "[layer-1]", "[layer-2]", "-2 isn't between -1 and 1"},
    {LAYERS, "   5   kernel ", "[layer-1] f32[4,6]@7424", "[layer] f32[4,6]@7552", "it reads"},
    {LAYERS, "  13 loop class 1 x 2 backward ", "reverse", "", "it reads"},
    {LAYERS, "  23   copy [1] ", "in %v56[layer]", "in %v56[layer]+1",
     "'@9540+64*layer' expected, not '@9536+64*layer"},
    // loops in loops
    {NESTED, "  11 loop x ", "2", "3", "3 x 2 iterations, but the class has 4"},
    {NESTED, "  11 loop x ", "2", "1", "it reads"},
    {NESTED, "  11 loop x ", "2", "32769", "32769 isn't between 1 and 32768"},
    {NESTED, "  12   loop class 1 x ", "2 backward again 1", "4\n  13 loop x 32768",
     "loops of more than 32768 iterations together"},
    {NESTED, "  11 loop x 2", " reverse", "", "it reads"},
    {NESTED, "  11 loop ", "x 2", "class 1 x 4", "a loop over class 1 is around it already"},
    {NESTED, "  11 loop x 2 reverse", "", " skew 1", "1 isn't between 1 and 0"},
    {NESTED, "  12   loop class 1 x ", "2", "1", "it reads"},
    {NESTED, "  12   loop class 1 x ", "2", "4", "it reads"},
    {NESTED, "  12   loop class 1 x 2 backward again 1", "", " reverse skew 1",
     "1 isn't between 1"},
    {NESTED, "  16   loop class 1 x 2 backward", " reverse", "", "it reads"},
    {NESTED, "", "ring 2", "ring 3", "doesn't fit into the buffer"},
    {NESTED, "", ": %ra2 step 128 ring 2", ": %ra2", "'shard' expected, not '('"},
    {NESTED, "  13     kernel ", "%y2[layer-1]", "%y2[outer-1]", "'y2' has no instance here"},
    {NESTED, "  13     kernel ", "%y2[layer-1]", "%y2[outer2]", "there is no loop 'outer2' here"},
    {NESTED, "  13     kernel ", "%y2[layer-1]", "%y2 in %y2[layer-1]+24*outer",
     "'@8768+128*layer+96*outer' expected"},
    // what all micro-batches share
    {HALVES, "", "train prepare", "train reduced", "function micro must come before reduced"},
    {HALVES, "", "\ntrain micro\n", "\n", "all micro-batches, but depends on more than parameters"},
    {HALVES, "buffer 13 ", "live 2 to 20", "live 2 to 11",
     "buffer 13 isn't live where the next micro-batch uses it"},
    {HALVES, "buffer 38 ", "row 8", "row 6", "6 isn't between 7 and 12"},
    {HALVES, "buffer 38 ", "row 8", "row 12", "'a2' doesn't fit into the buffer"},
    {RANKS, "   9 start ", "2", "-1", "-1 isn't between 0 and"},
    {RANKS, "  34 wait ", "3", "4", "slot 4 is waited for, but nothing is running in it"},
    {RANKS, "  17   start 0+layer mod ", "2", "1", "1 isn't between 2 and"},
};

static Text read_file(Arena *a, const char *name)
{
    Text t = {0};
    File f;

    assert_true(file_map(arena_string(a, "tests/fuzz/program/%s.program", name), &f, NULL));
    text_put(&t, (const char *)f.data, f.size);
    file_unmap(&f);
    return t;
}

static void test_same(void **state)
{
    static const char *const files[] = {LINE, LAYERS, RANKS, HALVES, AGAIN, NESTED};

    (void)state;
    for (int i = 0; i < COUNT(files); i++) {
        Arena *a = arena_new();
        Text text = read_file(a, files[i]), again = {0};
        Diag d = {.file = files[i]};
        Program *p = program_parse(a, text.s, text.n, &target_cpu, &d);
        assert_true(p && program_check(p, &d));
        program_print(p, &again);
        assert_string_equal(text.s, again.s);
        text_free(&text);
        text_free(&again);
        arena_free(a);
    }
}

static double seconds_of(const char *name)
{
    const Cluster c = slow_machine();
    Arena *a = arena_new();
    Text text = read_file(a, name);
    Program *p = program_parse(a, text.s, text.n, &target_cpu, &(Diag){.file = name});
    double seconds = p ? program_simulate(p, SET_TRAIN, &c).seconds : 0;

    text_free(&text);
    arena_free(a);
    return seconds;
}

// Loops in loops run their items as often.
static void test_simulation(void **state)
{
    double again = seconds_of(AGAIN), nested = seconds_of(NESTED);

    (void)state;
    assert_true(again > 0 && fabs(again - nested) < 1e-9 * again);
}

static void change(int i, const Text *text, Text *to)
{
    const char *after = strstr(text->s, cases[i].after);
    const char *at = after ? strstr(after + strlen(cases[i].after), cases[i].from) : NULL;

    if (!at)
        fail_msg("case %d: '%s' isn't in the text", i, after ? cases[i].from : cases[i].after);
    text_put(to, text->s, (size_t)(at - text->s));
    text_printf(to, "%s%s", cases[i].to, at + strlen(cases[i].from));
}

static void test_mistakes(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text text = read_file(a, cases[i].file), changed = {0}, said = {0};
        Diag d = {.file = "case", .to = &said};
        change(i, &text, &changed);
        Program *p = program_parse(a, changed.s, changed.n, &target_cpu, &d);
        if (p && program_check(p, &d))
            fail_msg("case %d: '%s' passes", i, cases[i].to);
        if (!strstr(said.s, cases[i].message))
            fail_msg("case %d: %s, not %s", i, said.s, cases[i].message);
        text_free(&text);
        text_free(&changed);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_simulation),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
