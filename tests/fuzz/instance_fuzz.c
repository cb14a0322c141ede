// Fuzzes instance files: any bytes are refused with one message, or give a problem that keeps its
// invariants.
#include <stdlib.h>

#include "solver/assign/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void look(Arena *a, const Problem *p)
{
    Dual dual = {.shift = 3};
    int n = 0;

    for (int i = 0; i < p->n_nodes; i++)
        promise(n_alternatives(p, i) > 0);
    for (int k = 0; p->n_nodes && k < p->first[p->n_nodes]; k++) {
        promise(p->cost[k] <= COST_FORBIDDEN && p->cost[k] > -COST_FORBIDDEN);
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
            promise(p->live[u].first >= 0 && p->live[u].first < p->live[u].last &&
                    p->live[u].bytes > 0);
    }
    for (int e = 0; e < p->n_edges; e++) {
        promise(p->edge[e].a != p->edge[e].b);
        n += n_alternatives(p, p->edge[e].a) + n_alternatives(p, p->edge[e].b);
    }
    dual.message = arena_array(a, int64_t, n);
    ChoicePrice price = problem_price(p, arena_array(a, int, p->n_nodes));
    promise(price.is_forbidden || dual_bound(p, &dual) <= price.cost);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    Problem p;

    bool ok = problem_parse(a, (File){data, size}, &p, &d);
    promise(d.errors == !ok);
    if (ok)
        look(a, &p);
    text_free(&messages);
    arena_free(a);
    return 0;
}
