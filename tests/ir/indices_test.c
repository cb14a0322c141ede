// Tests which indices are checked as the program runs. Each case has the lines of a graph, the
// names of the outputs that the pass adds with the dims that they belong to, and what they are for
// the graph's inputs: f is -2, -1.5 … 2 along its dim, others count from 0.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

#define NUMBER(name, x)                                                                            \
    "  constant %" name "0 i64[] = " x "\n  %" name " i64[9] = broadcast(%" name                   \
    "0) shape=[9] dims=[]\n"
#define GATHER(index) "  %y f32[9] = gather(%t, %" index ")\n"
#define FLOAT(name, x)                                                                             \
    "  constant %" name "0 f32[] = " x "\n  %" name " f32[9] = broadcast(%" name                   \
    "0) shape=[9] dims=[]\n"

static const struct {
    const char *what, *lines, *checks;
} cases[] = {
    {"the trainer checks inputs", GATHER("i"), ""},
    {"any float", "  %c i64[9] = cast(%f) to=i64\n" GATHER("c"), "gather 5: -2"},
    {"indices of the largest",
     "  %v f32[5,9], %k i64[5,9] = top_k(%u) axis=0 k=5\n"
     "  %y f32[5,9] = gather(%t, %k)\n",
     ""},
    {"the index of the largest", "  %k i64[9] = arg_max(%u) axis=0\n" GATHER("k"), ""},
    {"the index of the largest of more",
     "  %k i64[5] = arg_max(%u) axis=1\n"
     "  %y f32[5] = gather(%t, %k)\n",
     "gather 5: 8"},
    {"remainders",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER("n", "5") "  %m i64[9] = mod(%c, %n)\n" GATHER("m"),
     "gather 5: -2"},
    {"absolute remainders",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER(
         "n", "5") "  %m i64[9] = mod(%c, %n)\n  %a i64[9] = abs(%m)\n" GATHER("a"),
     ""},
    {"bounded below and above",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER("n", "4")
         NUMBER("z", "0") "  %m i64[9] = max(%c, %z)\n  %a i64[9] = min(%m, %n)\n" GATHER("a"),
     ""},
    {"bounded one too high",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER("n", "5")
         NUMBER("z", "0") "  %m i64[9] = max(%c, %z)\n  %a i64[9] = min(%m, %n)\n" GATHER("a"),
     "gather 5: 0"},
    {"rounded floats of a bound",
     FLOAT("l", "0") FLOAT("h", "4.5") "  %m f32[9] = max(%f, %l)\n  %a f32[9] = min(%m, %h)\n  %c "
                                       "i64[9] = cast(%a) to=i64\n" GATHER("c"),
     ""},
    {"negative ones count from the end",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER("n", "5")
         NUMBER("z", "0") "  %low bool[9] = lt(%c, %z)\n  %e i64[9] = add(%c, %n)\n"
                          "  %x i64[9] = select(%low, %e, %c)\n" GATHER("x"),
     "gather 5: 0"},
    {"bounded, then counted from the end",
     "  %c i64[9] = cast(%f) to=i64\n" NUMBER("n", "5") NUMBER("z", "0") NUMBER("l", "-5")
         NUMBER("h", "4") "  %m i64[9] = max(%c, %l)\n  %a i64[9] = min(%m, %h)\n"
                          "  %low bool[9] = lt(%a, %z)\n  %e i64[9] = add(%a, %n)\n"
                          "  %x i64[9] = select(%low, %e, %a)\n" GATHER("x"),
     ""},
    {"counted",
     "  %p i64[9] = iota() shape=[9] axis=0 dtype=i64\n" NUMBER(
         "n", "2") "  %h i64[9] = div(%p, %n)\n" GATHER("h"),
     ""},
    {"counted too far", "  %p i64[9] = iota() shape=[9] axis=0 dtype=i64\n" GATHER("p"),
     "gather 5: 8"},
    {"sums of truth values",
     "  %b bool[9] = lt(%f, %f)\n  %c i64[9] = cast(%b) to=i64\n"
     "  %s i64[9] = cumsum(%c) axis=0 exclusive=1 reverse=0\n"
     "  %y f32[9] = gather(%big, %s)\n",
     ""},
    {"sums along a dim",
     "  %p i64[9,3] = iota() shape=[9,3] axis=1 dtype=i64\n"
     "  %s i64[9] = reduce_sum(%p) axes=[1]\n" GATHER("s"),
     "gather 5: 0"},
    {"sums along a dim that can't be too large",
     "  %p i64[9,3] = iota() shape=[9,3] axis=1 dtype=i64\n"
     "  %s i64[9] = reduce_sum(%p) axes=[1]\n"
     "  %y f32[9] = gather(%big, %s)\n",
     ""},
    {"products and differences",
     "  %p i64[9] = iota() shape=[9] axis=0 dtype=i64\n" NUMBER("n", "-2")
         NUMBER("k", "1") "  %m i64[9] = mul(%p, %n)\n  %d i64[9] = sub(%k, %m)\n"
                          "  %y f32[9] = gather(%big, %d)\n",
     "gather 10: 17"},
    {"wrapped numbers",
     "  %p i8[9] = iota() shape=[9] axis=0 dtype=i8\n"
     "  constant %n0 i8[] = 100\n  %n i8[9] = broadcast(%n0) shape=[9] dims=[]\n"
     "  %m i8[9] = mul(%p, %n)\n  %c i64[9] = cast(%m) to=i64\n"
     "  %y f32[9] = gather(%big, %c)\n",
     "gather 10: -112"},
    {"parts of known ones",
     "  constant %k i64[4] = [0,1,2,9]\n"
     "  %s i64[2] = slice(%k) start=[0] size=[2] stride=[1]\n  %y f32[2] = gather(%t, %s)\n",
     "gather 5: 0"},
    {"puts", "  %c i64[9] = cast(%f) to=i64\n  %y f32[2] = scatter(%f, %c) n=2 reduction=\"add\"\n",
     "scatter 2: 2"},
    {"equal layers",
     "  %c i64[9] = cast(%f) to=i64\n"
     "  %y0 f32[9] = gather(%t, %c) from \"n1\" \"h.0\"\n"
     "  %y1 f32[9] = gather(%t, %c) from \"n2\" \"h.1\"\n"
     "  %y f32[9] = add(%y0, %y1)\n",
     "h.*/n* 5: -2"},
    {"another dim, and a single node",
     "  %c i64[9] = cast(%f) to=i64\n"
     "  %y0 f32[9] = gather(%t, %c) from \"n1\" \"h.0\"\n"
     "  %y1 f32[9] = gather(%big, %c) from \"n2\" \"h.1\"\n"
     "  %y f32[9] = add(%y0, %y1)\n",
     "h.0/n1 5: -2; h.1/n2 10: -2"},
};

static void fill(Tensor *t, const char *name)
{
    for (int64_t k = 0; k < tensor_count(t); k++)
        if (t->f)
            t->f[k] = name[0] == 'f' ? (double)(k - 4) / 2 : (double)k;
        else
            t->i[k] = k - 4;
}

// Prints the added outputs: "name bound: index".
static void print_checks(Arena *a, const Graph *g, Text *t)
{
    Tensor *x = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *y = value_of(g, v);
        if (y->producer)
            continue;
        x[v] =
            y->kind == VALUE_CONSTANT ? tensor_of(a, y) : tensor_new(a, y->dtype, y->rank, y->dim);
        if (y->kind != VALUE_CONSTANT)
            fill(&x[v], y->name);
    }
    graph_eval(a, g, x);
    for (int i = 0; i < g->n_outputs; i++) {
        const Output *o = &g->outputs[i];
        if (o->role != OUTPUT_BAD_INDEX)
            continue;
        int64_t worst = x[o->value].i[0];
        text_printf(t, "%s%s %d: %d", t->n ? "; " : "", o->name, (int)o->bound,
                    (int)(worst % 2 ? worst / 2 : -(worst / 2)));
    }
}

static void checks(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0}, t = {0}, found = {0};
        Diag d = {.file = "case", .to = &said};
        text_printf(&t,
                    "graph \"g\" {\n  input %%i i64[9]\n  input %%f f32[9]\n  input %%u f32[5,9]\n"
                    "  parameter %%t f32[5]\n  parameter %%big f32[10]\n%s"
                    "  output model \"y\" %%y\n}\n",
                    cases[i].lines);
        Graph *g = graph_parse(a, t.s, t.n, &d);
        if (!g || !indices_check(g, &d) || !graph_verify(g, &d))
            fail_msg("%s: %s\n%s", cases[i].what, said.s, t.s);
        print_checks(a, g, &found);
        if (strcmp(found.s ? found.s : "", cases[i].checks))
            fail_msg("%s: '%s', expected '%s'", cases[i].what, found.s, cases[i].checks);
        text_free(&t);
        text_free(&said);
        text_free(&found);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(checks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
