// The steps of solve() that an engine does, in one process.
#include <math.h>

#include "solver/assign/relax.h"
#include "solver/assign/solve_state.h"

// The most branch-and-bound nodes of one call of an engine.
enum { MAX_BRANCH_NODES = 1000000 };

static Model *model_start(Arena *a, SolveState *c)
{
    if (!c->engine)
        c->engine = engine_start(c->o->programs, c->o->engine, &c->deadline, c->d);
    return c->engine ? model_new(a, reduced_problem(c), c->engine, &c->dual) : NULL;
}

// An engine that died or gave up isn't asked again: the search goes on without.
static void model_end(SolveState *c, MipStatus status)
{
    c->has_engine &= status != MIP_FAILED;
    engine_clear(c->engine);
}

void bound_by_relaxing(SolveState *c)
{
    const Problem *p = reduced_problem(c);
    Arena *a = arena_new();
    const double *x;
    int *choice = arena_array(a, int, p->n_nodes);
    Dual dual;
    double began = phase_begin(c);

    Model *m = model_start(a, c);
    MipStatus status = m ? model_relax(c->arena, m, &x, &dual) : MIP_FAILED;
    phase_end(c, PHASE_RELAX, began);
    if (status == MIP_INFEASIBLE) {
        c->answer->is_branched = true;  // the bound rests on the engine
        c->is_empty = !c->answer->choice;
        if (c->answer->choice)
            bound_raise(c, c->answer->cost - c->offset);
    }
    if (status == MIP_OPTIMAL) {
        take_dual_bound(c, &dual);
        model_round(m, x, choice);
        solve_found_choice(c, choice, problem_price(p, choice).cost);
    }
    model_end(c, status);
    arena_free(a);
}

// Branches by an engine. Its bound is off by its tolerances, which may leave a gap.
void branch_by_engine(SolveState *c)
{
    Arena *a = arena_new();
    Answer *answer = c->answer;
    Wide bound = answer->bound - c->offset;
    Wide cutoff = answer->choice ? answer->cost - c->offset : NO_CUTOFF;

    double began = phase_begin(c);
    Model *m = model_start(a, c);
    MipStatus status =
        m ? model_branch(m, cutoff, MAX_BRANCH_NODES, (Listener){solve_found_choice, c}, &bound)
          : MIP_FAILED;
    c->is_empty = status == MIP_INFEASIBLE && !answer->choice;
    answer->is_branched |= bound + c->offset > answer->bound;
    if (answer->choice)
        bound_raise(c, bound);
    model_end(c, status);
    arena_free(a);
    phase_end(c, PHASE_BRANCH, began);
}
