// Imports and verifies the committed models, for training and for prediction, for one batch and
// for micro-batches. SHARDCC_MODELS names another folder of models. tests/e2e compares their
// numbers with PyTorch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"

static void import(const char *path, bool training)
{
    static const char *const bind[] = {"batch=6"};
    Arena *a = arena_new();
    Text t = {0};
    Diag d = {.file = path, .to = &t};
    ModelFile *m = model_open(a, path, &d);
    ImportOptions o = {.model = m, .accumulate = 1, .training = training};
    Weights w;
    if (!m)
        fail_msg("%s", t.s);
    Graph *g = frontend_import(a, &o, &w, &d);

    if (!g && strstr(t.s, "is not bound")) {  // models exported with --dynamic-batch
        d.errors = 0;
        o.bind = bind;
        o.n_bind = 1;
        o.accumulate = 3;
        g = frontend_import(a, &o, &w, &d);
    }
    if (!g || !graph_verify(g, &d))
        fail_msg("%s", t.s);
    assert_true(g->n_nodes > 1 && g->n_outputs == 1 && w.n > 0);
    model_close(m);
    text_free(&t);
    arena_free(a);
}

static void test_models(void **state)
{
    const char *folder = getenv("SHARDCC_MODELS") ? getenv("SHARDCC_MODELS") : "models/tiny";
    DIR *dir = opendir(folder);
    int n = 0;

    if (!dir) {
        print_message("no folder %s\n", folder);
        skip();
    }
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        char path[1024];
        if (!dot || strcmp(dot, ".onnx"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        import(path, false);
        import(path, true);
        n++;
    }
    closedir(dir);
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
