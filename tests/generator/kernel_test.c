// Tests generated programs for each operator against the operator's own eval: kernels, fused
// groups, views, copies. A graph of many nodes of one operator, of sizes 0, 1, odd and large, is
// lowered, generated, compiled and run as in a trainer, and its outputs are compared. `kernel_test
// NAME [SEED]` tests one operator, with a seed on other numbers.
#include "tests/generator/operator_graph.h"
#include "tests/sanitized.h"

static void check_program(Test *t, const OpDef *op, const char *dir)
{
    Arena *a = arena_new();
    Loaded p = load_program(dir, op->name);
    Tensor *values = eval_values(a, &t->cases);
    char *arena = run_program(&t->cases, p.model, values, 2);

    check_outputs(t, p.model, arena, values);
    free(arena);
    arena_free(a);
    dlclose(p.handle);
}

static const char *asked_name;
static uint64_t asked_seed;

enum { EACH = IS_SANITIZED ? 3 : 1 };  // operator is tried

static bool is_tried_here(int i)
{
    return is_tried(op_table[i], asked_name) && (asked_name || i % EACH == 0);
}

static void kernels_are_eval(void **state)
{
    char dir[] = "/tmp/kernel_test.XXXXXX";
    Test t[OPS] = {0};
    Diag d = {.file = "kernels.def"};

    assert_non_null(mkdtemp(dir));
    for (int i = 0; op_table[i]; i++) {
        assert_true(i < OPS);
        if (!is_tried_here(i))
            continue;
        make_graph(&t[i], op_table[i], VOLUME, asked_seed, &d);
        write_program(&t[i].cases, op_table[i]->name, dir, &d);
    }
    compile_all(dir, "-O1");
    for (int i = 0; op_table[i]; i++) {
        if (!is_tried_here(i))
            continue;
        check_program(&t[i], op_table[i], dir);
        arena_free(t[i].cases.arena);
        remove_program(dir, op_table[i]->name);
    }
    rmdir(dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_eval)};

    asked_name = argc > 1 ? argv[1] : NULL;
    asked_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
