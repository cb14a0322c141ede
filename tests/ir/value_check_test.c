// Tests the check that a pass leaves what a graph computes: graphs before and after a pass that is
// right or wrong on purpose. A wrong one must be found, with the words in `says`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/values/values.h"

#define SOFTMAX(s)                                                                                 \
    "%m f32[2,4] = reduce_max(" s ") axes=[2]\n"                                                   \
    "%ms f32[2,4,4] = broadcast(%m) shape=[2,4,4] dims=[0,1]\n"                                    \
    "%d f32[2,4,4] = sub(" s ", %ms)\n"                                                            \
    "%e f32[2,4,4] = exp(%d)\n"                                                                    \
    "%z f32[2,4] = reduce_sum(%e) axes=[2]\n"                                                      \
    "%zs f32[2,4,4] = broadcast(%z) shape=[2,4,4] dims=[0,1]\n"                                    \
    "%p f32[2,4,4] = div(%e, %zs)\n"

#define SCORES                                                                                     \
    "input %x f32[2,4,3]\n"                                                                        \
    "parameter %w f32[3,3]\n"                                                                      \
    "%k f32[2,4,3] = dot(%x, %w) eq=\"bsc,cd->bsd\"\n"                                             \
    "%s f32[2,4,4] = dot(%x, %k) eq=\"bse,bte->bst\"\n"

// Scores masked by an input that shows keys, and a number elsewhere.
#define MASKED(number)                                                                             \
    "input %keep bool[2,4]\n" SCORES "constant %low f32[] = " number "\n"                          \
    "%lows f32[2,4,4] = broadcast(%low) shape=[2,4,4]\n"                                           \
    "%keeps bool[2,4,4] = broadcast(%keep) shape=[2,4,4] dims=[0,2]\n"                             \
    "%a f32[2,4,4] = select(%keeps, %s, %lows)\n"

#define ADDED                                                                                      \
    "input %mask f32[2,4]\n" SCORES                                                                \
    "%masks f32[2,4,4] = broadcast(%mask) shape=[2,4,4] dims=[0,2]\n"                              \
    "%a f32[2,4,4] = add(%s, %masks)\n"

#define VALUES(p) "%y f32[2,4,3] = dot(" p ", %x) eq=\"bst,bte->bse\"\noutput model \"y\" %y\n"

// The same with zeros where a row has no key.
#define ZERO_WITHOUT_KEY                                                                           \
    "constant %none f32[] = 0\n"                                                                   \
    "%nones f32[2,4,4] = broadcast(%none) shape=[2,4,4]\n"                                         \
    "constant %edge f32[] = -5000\n"                                                               \
    "%edges f32[2,4,4] = broadcast(%edge) shape=[2,4,4]\n"                                         \
    "%hidden bool[2,4,4] = lt(%ms, %edges)\n"                                                      \
    "%q f32[2,4,4] = select(%hidden, %nones, %p)\n"

#define NORM(eps)                                                                                  \
    "input %x f32[3,4]\n"                                                                          \
    "constant %part f32[] = 0.25\n"                                                                \
    "%parts f32[3] = broadcast(%part) shape=[3]\n"                                                 \
    "%xx f32[3,4] = mul(%x, %x)\n"                                                                 \
    "%sum f32[3] = reduce_sum(%xx) axes=[1]\n"                                                     \
    "%mean f32[3] = mul(%sum, %parts)\n"                                                           \
    "constant %eps f32[] = " eps "\n"                                                              \
    "%epss f32[3] = broadcast(%eps) shape=[3]\n"                                                   \
    "%v f32[3] = add(%mean, %epss)\n"                                                              \
    "%r f32[3] = sqrt(%v)\n"                                                                       \
    "%rs f32[3,4] = broadcast(%r) shape=[3,4] dims=[0]\n"                                          \
    "%y f32[3,4] = div(%x, %rs)\n"                                                                 \
    "output model \"y\" %y\n"

#define UNARY(body) "input %x f32[3,4]\n" body "output model \"y\" %y\n"

#define LOSS                                                                                       \
    "input %x f32[4,3]\n"                                                                          \
    "parameter %w f32[3,2]\n"                                                                      \
    "constant %n f32[] = 8\n"                                                                      \
    "%h f32[4,2] = dot(%x, %w) eq=\"mk,kn->mn\"\n"                                                 \
    "%t f32[4,2] = tanh(%h)\n"                                                                     \
    "%tt f32[4,2] = mul(%t, %t)\n"                                                                 \
    "%loss f32[] = reduce_sum(%tt) axes=[0,1]\n"                                                   \
    "output loss_sum \"loss\" %loss\n"                                                             \
    "output loss_count \"count\" %n\n"

// The gradient of LOSS: 2 t (1 - t²) / 8, times `factor`.
#define GRADIENT(factor)                                                                           \
    LOSS "constant %f f32[] = " factor "\n"                                                        \
         "%fs f32[4,2] = broadcast(%f) shape=[4,2]\n"                                              \
         "%ttt f32[4,2] = mul(%tt, %t)\n"                                                          \
         "%u f32[4,2] = sub(%t, %ttt)\n"                                                           \
         "%du f32[4,2] = mul(%u, %fs)\n"                                                           \
         "%dw f32[3,2] = dot(%x, %du) eq=\"mk,mn->kn\" backward\n"                                 \
         "output gradient \"w\" %dw\n"

static const struct {
    const char *what, *before, *after, *says;  // says: NULL: the pass is right
} cases[] = {
    {"the same graph", MASKED("-inf") SOFTMAX("%a") VALUES("%p"),
     MASKED("-inf") SOFTMAX("%a") VALUES("%p"), NULL},
    {"a row without a key: a mean becomes zeros", MASKED("-1e+09") SOFTMAX("%a") VALUES("%p"),
     MASKED("-1e+09") SOFTMAX("%a") ZERO_WITHOUT_KEY VALUES("%q"),
     "with masks of 0 and 1 that hide whole rows, output 'y' is another one: element 0"},
    {"the same with NaN", MASKED("-inf") SOFTMAX("%a") VALUES("%p"),
     MASKED("-inf") SOFTMAX("%a") ZERO_WITHOUT_KEY VALUES("%q"),
     "with masks of 0 and 1 that hide whole rows, output 'y' is another one: element 0"},
    {"the same with an added mask", ADDED SOFTMAX("%a") VALUES("%p"),
     ADDED SOFTMAX("%a") ZERO_WITHOUT_KEY VALUES("%q"),
     "with masks that hide whole rows by -inf, output 'y' is another one: element 0 was nan, is 0"},
    // In f32, scores plus -1e9 are all equal.
    {"a row without a key is a mean over all, as in f32",
     "input %keep bool[2,4]\n" SCORES "constant %one f32[] = 1\n"
     "%ones f32[2,4,4] = broadcast(%one) shape=[2,4,4]\n"
     "constant %low f32[] = -1e+09\n"
     "%lows f32[2,4,4] = broadcast(%low) shape=[2,4,4]\n"
     "%keeps bool[2,4,4] = broadcast(%keep) shape=[2,4,4] dims=[0,2]\n"
     "%shown f32[2,4,4] = cast(%keeps) to=f32\n"
     "%hidden f32[2,4,4] = sub(%ones, %shown)\n"
     "%masks f32[2,4,4] = mul(%hidden, %lows)\n"
     "%a f32[2,4,4] = add(%s, %masks)\n" SOFTMAX("%a") VALUES("%p"),
     MASKED("-1e+09") SOFTMAX("%a") VALUES("%p"), NULL},
    {"eps of a norm", NORM("1e-05"), NORM("1e-06"), "after the pass 'wrong', with ordinary data"},
    {"an equal norm", NORM("1e-05"), NORM("1e-05"), NULL},
    {"two roundings of f32 become one",
     UNARY("constant %a f32[] = 0.1\nconstant %b f32[] = 0.3\n"
           "%as f32[3,4] = broadcast(%a) shape=[3,4]\n%bs f32[3,4] = broadcast(%b) shape=[3,4]\n"
           "%xa f32[3,4] = mul(%x, %as)\n%y f32[3,4] = mul(%xa, %bs)\n"),
     UNARY("constant %c f32[] = 0.03\n%cs f32[3,4] = broadcast(%c) shape=[3,4]\n"
           "%y f32[3,4] = mul(%x, %cs)\n"),
     NULL},
    {"a constant of another value",
     UNARY("constant %a f32[] = 0.1\n%as f32[3,4] = broadcast(%a) shape=[3,4]\n"
           "%y f32[3,4] = mul(%x, %as)\n"),
     UNARY("constant %a f32[] = 0.100001\n%as f32[3,4] = broadcast(%a) shape=[3,4]\n"
           "%y f32[3,4] = mul(%x, %as)\n"),
     "with ordinary data, output 'y' is another one"},
    {"a number for 0 alone", UNARY("%y f32[3,4] = sign(%x)\n"),
     UNARY("constant %o f32[] = 1\nconstant %z f32[] = 0\nconstant %m f32[] = -1\n"
           "%os f32[3,4] = broadcast(%o) shape=[3,4]\n%zs f32[3,4] = broadcast(%z) shape=[3,4]\n"
           "%ms f32[3,4] = broadcast(%m) shape=[3,4]\n%lt bool[3,4] = lt(%x, %zs)\n"
           "%y f32[3,4] = select(%lt, %ms, %os)\n"),
     "with zeros, output 'y' is another one: element 0 was 0, is 1"},
    {"large numbers alone: exp without its maximum",
     UNARY("%t f32[3,4] = tanh(%x)\n%y f32[3,4] = add(%x, %t)\n"),
     UNARY("constant %c f32[] = 200\n%cs f32[3,4] = broadcast(%c) shape=[3,4]\n"
           "%t f32[3,4] = tanh(%x)\n%z f32[3,4] = add(%x, %t)\n%y f32[3,4] = min(%z, %cs)\n"),
     "with data × 300, output 'y' is another one"},
    {"which value differs first",
     UNARY("%u f32[3,4] = exp(%x)\n%v f32[3,4] = sin(%u)\n%y f32[3,4] = tanh(%v)\n"),
     UNARY("%u f32[3,4] = exp(%x)\n%v f32[3,4] = cos(%u)\n%y f32[3,4] = tanh(%v)\n"),
     "the first value that differs is 'v', of a node cos"},
    {"a gradient", LOSS, GRADIENT("0.25"), NULL},
    {"a wrong gradient", LOSS, GRADIENT("0.26"), "gradient of 'w' is another one"},
    {"a lost gradient", GRADIENT("0.25"), GRADIENT("0"), "gradient of 'w' is another one"},
    {"a wrong loss", LOSS,
     "input %x f32[4,3]\nparameter %w f32[3,2]\nconstant %n f32[] = 8\n"
     "%h f32[4,2] = dot(%x, %w) eq=\"mk,kn->mn\"\n%t f32[4,2] = tanh(%h)\n"
     "%loss f32[] = reduce_sum(%t) axes=[0,1]\noutput loss_sum \"loss\" %loss\n"
     "output loss_count \"count\" %n\n",
     "output 'loss' is another one"},
};

static Graph *parse(Arena *a, const char *body, Diag *d)
{
    const char *s = arena_string(a, "graph \"g\" training {\n%s}\n", body);
    Graph *g = graph_parse(a, s, strlen(s), d);

    if (!g || !graph_verify(g, d))
        fail_msg("%s", s);
    return g;
}

static void differences_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag quiet = {0}, d = {.to = &said};
        Graph *before = parse(a, cases[i].before, &quiet),
              *after = parse(a, cases[i].after, &quiet);
        ValueCheck *c = value_check_new(a, 1, 0);
        assert_true(value_check(c, before, "first", &d));
        bool ok = value_check(c, after, "wrong", &d);
        value_check_end(c);
        const char *says = cases[i].says;
        if (ok != !says || (says && !strstr(said.n ? said.s : "", says)))
            fail_msg("%s: %s", cases[i].what, said.n ? said.s : "nothing is said");
        text_free(&said);
        arena_free(a);
    }
}

// Autodiff is right here, though differences of the loss or its accumulators look otherwise.
static const struct {
    const char *what, *body;
    int accumulate;
} right[] = {
    {"sums of scores and a mask, which don't move",
     SCORES
     "constant %low f32[] = -1e+30\n"
     "%lows f32[2,4,4] = broadcast(%low) shape=[2,4,4]\n"
     "%a f32[2,4,4] = add(%s, %lows)\n" SOFTMAX(
         "%a") "%o f32[2,4,3] = dot(%p, %x) eq=\"bst,bte->bse\"\n%oo f32[2,4,3] = mul(%o, %o)\n"
               "constant %n f32[] = 24\n%loss f32[] = reduce_sum(%oo) axes=[0,1,2]\n"
               "output loss_sum \"loss\" %loss\noutput loss_count \"count\" %n\n",
     1},
    {"two micro-batches, and nothing to train",
     "input %x f32[4,3]\nconstant %n f32[] = 12\n%loss f32[] = reduce_sum(%x) axes=[0,1]\n"
     "output loss_sum \"loss\" %loss\noutput loss_count \"count\" %n\n",
     2},
    {"two micro-batches", LOSS, 2},
};

static void gradients_are_right(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(right); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.to = &said};
        Graph *g = parse(a, right[i].body, &d);
        ValueCheck *c = value_check_new(a, right[i].accumulate, 0);
        bool ok = value_check(c, g, "first", &d) && autodiff(g, right[i].accumulate, &d) &&
                  value_check(c, g, "autodiff", &d);
        value_check_end(c);
        if (!ok || said.n)
            fail_msg("%s: %s", right[i].what, said.n ? said.s : "");
        text_free(&said);
        arena_free(a);
    }
}

// A graph that takes too long isn't evaluated, with a word that says so once.
static void large_graphs_are_left_out(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag quiet = {0}, d = {.to = &said};
    Graph *g = parse(a,
                     "input %x f32[1000,1000]\nparameter %w f32[1000,1000]\n"
                     "%y f32[1000,1000] = dot(%x, %w) eq=\"mk,kn->mn\"\noutput model \"y\" %y\n",
                     &quiet);
    ValueCheck *c = value_check_new(a, 1, 0);

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_true(value_check(c, g, "fold", &d));
    value_check_end(c);
    assert_string_equal(
        said.s, "warning: --verify checks the graph's form alone: to evaluate it takes 1e+09 "
                "operations on elements, more than 5e+08; smaller dims, by --bind or --shape, take "
                "less\n");
    text_free(&said);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(differences_are_found),
                                       cmocka_unit_test(gradients_are_right),
                                       cmocka_unit_test(large_graphs_are_left_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
