// The work of one compilation, counted by stage, and the most that each stage may do (budget.def).
// Work is counted, not timed, so that the same input gives the same count. A stage that passes its
// bound is a bug of shardcc: some walk or search grows faster than its input.
#ifndef SHARDCC_BUDGET_H
#define SHARDCC_BUDGET_H

#include <stdatomic.h>

#include "base/base.h"

typedef enum BudgetStage {
#define BUDGET(stage, unit, per_size, base, by_ranks) BUDGET_##stage,
#include "base/budget.def"
#undef BUDGET
    N_BUDGETS
} BudgetStage;

typedef struct Budget {
    _Atomic int64_t count[N_BUDGETS], bound[N_BUDGETS];
    int64_t meshes;  // (1 + log2 ranks)²
} Budget;

// The budget of a compilation for so many ranks. It allows nothing yet.
Budget *budget_new(Arena *a, int ranks);

// Allows a stage the work for one more input of this size. A NULL budget counts nothing.
void budget_allow(Budget *b, BudgetStage s, int64_t size);

// Counts work. False if the stage has passed its bound: then it is to end, and budget_check says
// so. Threads may count concurrently.
bool budget_add(Budget *b, BudgetStage s, int64_t n);

bool budget_is_passed(const Budget *b, BudgetStage s);

// The part of its bound that a stage has used, and the stage's name.
double budget_share(const Budget *b, BudgetStage s);
const char *budget_stage_name(BudgetStage s);

// False, after an error, if a stage has passed its bound.
bool budget_check(const Budget *b, Diag *d);

#endif
