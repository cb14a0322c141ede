// Budgets: counts the work of stages, and compares it with their bounds.
#include "base/budget.h"

static const struct {
    const char *name, *unit;
    int64_t per_size, base;
    bool by_ranks;
} stages[] = {
#define BUDGET(stage, unit, per_size, base, by_ranks) {#stage, unit, per_size, base, by_ranks},
#include "base/budget.def"
#undef BUDGET
};

static int64_t log2_up(int n)
{
    int64_t log = 0;

    while ((INT64_C(1) << log) < n)
        log++;
    return log;
}

Budget *budget_new(Arena *a, int ranks)
{
    Budget *b = arena_array(a, Budget, 1);

    b->meshes = (1 + log2_up(ranks)) * (1 + log2_up(ranks));
    return b;
}

void budget_allow(Budget *b, BudgetStage s, int64_t size)
{
    if (b)
        atomic_fetch_add(&b->bound[s], (stages[s].per_size * size + stages[s].base) *
                                           (stages[s].by_ranks ? b->meshes : 1));
}

bool budget_add(Budget *b, BudgetStage s, int64_t n)
{
    return !b || atomic_fetch_add(&b->count[s], n) + n <= atomic_load(&b->bound[s]);
}

bool budget_is_passed(const Budget *b, BudgetStage s)
{
    return b && atomic_load(&b->count[s]) > atomic_load(&b->bound[s]);
}

double budget_share(const Budget *b, BudgetStage s)
{
    int64_t bound = atomic_load(&b->bound[s]);

    return bound ? (double)atomic_load(&b->count[s]) / (double)bound : 0;
}

const char *budget_stage_name(BudgetStage s) { return stages[s].name; }

bool budget_check(const Budget *b, Diag *d)
{
    for (BudgetStage s = 0; s < N_BUDGETS; s++) {
        if (!budget_is_passed(b, s))
            continue;
        diag_error(
            d, "stage '%s' passed its bound: found %" PRId64 " %s, expected at most %" PRId64,
            stages[s].name, atomic_load(&b->count[s]), stages[s].unit, atomic_load(&b->bound[s]));
        diag_note(d, "this is a bug in shardcc, not in the model");
        return false;
    }
    return true;
}
