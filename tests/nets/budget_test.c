// Tests that the work of compilations keeps to its bounds (base/budget.def): of models on several
// numbers of ranks, with and without a limit of memory, and of random nets. It prints the largest
// share of each stage. A share near 1, or far below the others', calls for a look at the formula.
//
//     budget_test [--long] [--nets N] [--seed S] [MODEL.onnx ...]
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/driver.h"
#include "tests/nets/hunt.h"
#include "tests/sanitized.h"

#define SLOW "tests/e2e/slow.json"
#define SMALL "models/tiny/mlp.onnx"
#define CLASSES "cross_entropy(logits, labels)"

typedef struct Case {
    const char *model, *loss, *bind;
} Case;

static const Case cases[] = {
    {"models/demo_gpt.onnx", CLASSES, "batch=8"},
    {"models/tiny/bert.onnx", CLASSES},
    {"models/tiny/cnn.onnx", CLASSES},
    {"models/tiny/encoder.onnx", CLASSES},
    {"models/tiny/gpt2.onnx", CLASSES},
    {"models/tiny/gpt_dropout.onnx", CLASSES},
    {"models/tiny/llama.onnx", CLASSES},
    {"models/tiny/lstm.onnx", CLASSES},
    {"models/tiny/mixer.onnx", CLASSES},
    {"models/tiny/mlp.onnx", CLASSES},
    {"models/tiny/mobilenet.onnx", CLASSES},
    {"models/tiny/nanogpt.onnx", CLASSES},
    {"models/tiny/opt.onnx", CLASSES},
    {"models/tiny/qwen3.onnx", CLASSES},
    {"models/tiny/regress.onnx", "mse(logits, labels)"},
    {"models/tiny/resnet.onnx", CLASSES},
    {"models/tiny/vit.onnx", CLASSES},
};

// One of so many models of the table is in the suite, and so many nets.
enum { SAMPLE = IS_SANITIZED ? 16 : 2, NETS = IS_SANITIZED ? 1 : 4 };

static struct {
    int nets;
    uint64_t seed;
    char **model;
    int n_models;
    bool is_long;
} asked = {NETS, 1, NULL, 0, false};

typedef struct Largest {
    double share;
    char of[96];
} Largest;

// ---- one compilation ----

typedef struct Compilation {
    Arena *a;
    Text said;
    Compiled made;
    bool has_graphs;
    int status;  // what shardcc would exit with
} Compilation;

// Compiles a model, on several ranks for a slow cluster. No memory: as much as it likes.
static Compilation compile_file(const char *file, const char *const *more, int n_more, int ranks,
                                int64_t memory)
{
    Compilation x = {.a = arena_new()};
    Diag d = {.file = base_name(file), .to = &x.said};
    const char *argv[32] = {"shardcc", file, "--emit", "c"};
    int n = 4;
    Options o;

    memcpy(argv + n, more, (size_t)n_more * sizeof *more);
    n += n_more;
    if (ranks > 1) {
        const char *const split[] = {"--ranks", arena_string(x.a, "%d", ranks), "--cluster", SLOW};
        memcpy(argv + n, split, sizeof split);
        n += COUNT(split);
    }
    if (memory) {
        argv[n++] = "--memory";
        argv[n++] = arena_string(x.a, "%" PRId64, memory);
    }
    assert_true(options_read(x.a, n, (char **)argv, &o, &x.status));
    assert_true(open_model(x.a, &o, &d) && complete_request(x.a, &o, &d));
    CompileStatus status = compile_graphs(x.a, &o.request, &x.made, &d);
    x.has_graphs = !status;
    x.status = exit_status_of(status ? status : compile_program(x.a, &o.request, &x.made, &d));
    return x;
}

static void compilation_free(Compilation *x)
{
    text_free(&x->said);
    arena_free(x->a);
}

// The bytes of its program's arena; 0: there is none.
static int64_t compile_counted(const char *file, const char *const *more, int n_more, int ranks,
                               int64_t memory, Largest *to)
{
    Compilation x = compile_file(file, more, n_more, ranks, memory);
    int64_t bytes = x.made.program ? x.made.program->arena_bytes : 0;

    if (!x.has_graphs || x.status == EXIT_INTERNAL)
        fail_msg("%s: %s", file, x.said.n ? x.said.s : "no graph");
    for (BudgetStage s = 0; s < N_BUDGETS; s++)
        if (budget_share(x.made.budget, s) > to[s].share) {
            to[s].share = budget_share(x.made.budget, s);
            snprintf(to[s].of, sizeof to[s].of, "%s, %d ranks%s", base_name(file), ranks,
                     memory ? ", memory" : "");
        }
    compilation_free(&x);
    return bytes;
}

// On 1, 2 and 4 ranks, and with a little less memory than that takes. Within a memory, 4 ranks take
// long.
static void compile_all_plans(const char *file, const char *const *more, int n_more, Largest *to)
{
    for (int ranks = 1; ranks <= 4; ranks *= 2) {
        int64_t bytes = compile_counted(file, more, n_more, ranks, 0, to);
        if (bytes && (ranks < 4 || asked.is_long))
            compile_counted(file, more, n_more, ranks, bytes - bytes / 16, to);
    }
}

static void print_largest(const Largest *of)
{
    for (BudgetStage s = 0; s < N_BUDGETS; s++)
        print_message("%-9s %.3f of its bound at most: %s\n", budget_stage_name(s), of[s].share,
                      of[s].of);
}

// ---- tests ----

static void models_keep_to_bounds(void **state)
{
    Largest largest[N_BUDGETS] = {0};
    int n = asked.n_models ? asked.n_models : COUNT(cases);

    for (int i = 0; i < n; i += asked.is_long || asked.n_models ? 1 : SAMPLE) {
        const char *model = asked.n_models ? asked.model[i] : cases[i].model;
        const char *more[] = {"--loss",      asked.n_models ? CLASSES : cases[i].loss,
                              "--optimizer", "adamw",
                              "--bind",      asked.n_models ? NULL : cases[i].bind};
        compile_all_plans(model, more, more[5] ? 6 : 4, largest);
    }
    print_largest(largest);
}

// Writes the text of a net's graph.
static void write_net(const Recipe *r, const char *path)
{
    Arena *a = arena_new();
    Diag d = {.file = "net"};
    Text t = {0};
    Graph *g = net_graph(a, r, true, &d);

    assert_non_null(g);
    g->after = "import";
    graph_print(g, &t);
    assert_true(out_write(path, t.s, t.n, &d));
    text_free(&t);
    arena_free(a);
}

static void nets_keep_to_bounds(void **state)
{
    Largest largest[N_BUDGETS] = {0};
    char dir[] = "/tmp/budget.XXXXXX", path[64];

    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < asked.nets; i++) {
        Recipe r = recipe_draw(asked.seed * UINT64_C(1000000007) + (uint64_t)i);
        const char *more[] = {"--loss", recipe_loss(&r), "--optimizer", recipe_optimizer(&r)};
        snprintf(path, sizeof path, "%s/net%d.ir", dir, i);
        write_net(&r, path);
        compile_all_plans(path, more, COUNT(more), largest);
        unlink(path);
    }
    rmdir(dir);
    print_largest(largest);
}

// The error that a stage beyond its bound is.
static void passed_bounds_are_told(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "model.onnx", .to = &said};
    Budget *b = budget_new(a, 1);

    budget_allow(b, BUDGET_problems, 100);
    assert_true(budget_add(NULL, BUDGET_problems, INT64_MAX));
    assert_true(budget_add(b, BUDGET_problems, 50) && budget_check(b, &d));
    assert_false(budget_add(b, BUDGET_problems, 1) || budget_check(b, &d));
    assert_string_equal(said.s, "model.onnx: error: stage 'problems' passed its bound: found 51 "
                                "assignment problems of plans, expected at most 50\n"
                                "  this is a bug in shardcc, not in the model\n");
    budget_allow(b, BUDGET_problems, 1);
    assert_true(budget_check(b, &d));
    // Four times the ranks: (1 + 2)² times the problems.
    b = budget_new(a, 4);
    budget_allow(b, BUDGET_problems, 100);
    assert_true(budget_add(b, BUDGET_problems, 9 * 50));
    text_free(&said);
    arena_free(a);
}

// The stage whose inputs allow it nothing; N_BUDGETS: none.
static BudgetStage starved = N_BUDGETS;

void __real_budget_allow(Budget *b, BudgetStage s, int64_t size);
void __wrap_budget_allow(Budget *b, BudgetStage s, int64_t size);

void __wrap_budget_allow(Budget *b, BudgetStage s, int64_t size)
{
    if (s != starved)
        __real_budget_allow(b, s, size);
}

// All stages count their work, and a stage that passes its bound ends as an error of ours.
static void stages_end_at_bounds(void **state)
{
    const char *const more[] = {"--loss", CLASSES, "--optimizer", "adamw"};
    Compilation whole = compile_file(SMALL, more, COUNT(more), 2, 0);
    int64_t bytes = whole.made.program->arena_bytes;

    for (BudgetStage s = 0; s < N_BUDGETS; s++) {
        starved = s;
        Compilation x = compile_file(SMALL, more, COUNT(more), 2, bytes - bytes / 16);
        starved = N_BUDGETS;
        char *told = arena_string(x.a, "error: stage '%s' passed its bound", budget_stage_name(s));
        if (x.status != EXIT_INTERNAL || !x.said.s || !strstr(x.said.s, told))
            fail_msg("'%s': status %d, said: %s", budget_stage_name(s), x.status, x.said.s);
        compilation_free(&x);
    }
    compilation_free(&whole);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passed_bounds_are_told), cmocka_unit_test(stages_end_at_bounds),
        cmocka_unit_test(models_keep_to_bounds), cmocka_unit_test(nets_keep_to_bounds)};
    int i = 1;

    for (; i < argc && !strncmp(argv[i], "--", 2); i++)
        if (!strcmp(argv[i], "--long"))
            asked.is_long = true;
        else if (!strcmp(argv[i], "--nets") && i + 1 < argc)
            asked.nets = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            asked.seed = strtoull(argv[++i], NULL, 10);
        else
            return 2;
    asked.model = argv + i;
    asked.n_models = argc - i;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
