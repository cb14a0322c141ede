// An engine of Clp for linear programs and Cbc for mixed-integer ones, by their C interfaces.
#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engines/engine.h"

static Clp_Simplex *clp;
static bool is_solved, has_new_rows;
static char *whole;  // by column

static Clp_Simplex *model(void)
{
    if (!clp) {
        clp = Clp_newModel();
        Clp_setLogLevel(clp, 0);
    }
    return clp;
}

void library_clear(void)
{
    if (clp)
        Clp_deleteModel(clp);
    clp = NULL;
    is_solved = has_new_rows = false;
}

void library_columns(const Lines *c)
{
    int n = Clp_numberColumns(model());

    Clp_addColumns(clp, c->n, c->low, c->high, c->cost, c->first, c->index, c->value);
    whole = realloc(whole, (size_t)(n + c->n) + 1);
    if (!whole)
        abort();
    memcpy(whole + n, c->is_whole, (size_t)c->n);
}

void library_rows(const Lines *r)
{
    Clp_addRows(model(), r->n, r->low, r->high, r->first, r->index, r->value);
    has_new_rows = true;
}

void library_bounds(int column, double low, double high)
{
    Clp_columnLower(model())[column] = low;
    Clp_columnUpper(clp)[column] = high;
    has_new_rows = true;
}

static MipStatus status(void)
{
    if (Clp_isProvenOptimal(clp))
        return MIP_OPTIMAL;
    if (Clp_isProvenPrimalInfeasible(clp))
        return MIP_INFEASIBLE;
    return Clp_isIterationLimitReached(clp) ? MIP_LIMIT : MIP_FAILED;
}

// New rows or bounds leave the basis dual feasible, new columns leave it primal feasible.
Relaxed library_relax(int64_t iterations)
{
    int before = Clp_numberIterations(model());

    Clp_setMaximumIterations(clp, (int)fmin((double)iterations + before, 2e9));
    if (!is_solved)
        Clp_initialSolve(clp);
    else if (has_new_rows)
        Clp_dual(clp, 0);
    else
        Clp_primal(clp, 0);
    is_solved = true;
    has_new_rows = false;
    return (Relaxed){status(), Clp_numberIterations(clp) - before, Clp_objectiveValue(clp),
                     Clp_primalColumnSolution(clp), Clp_dualRowSolution(clp)};
}

// Makes a Cbc model of Clp's. Clp's matrix has gaps where rows were added; Cbc's may not have any.
static Cbc_Model *branching(void)
{
    int n = Clp_numberColumns(model()), m = Clp_numberRows(clp), to = 0;
    const CoinBigIndex *start = Clp_getVectorStarts(clp);
    const int *length = Clp_getVectorLengths(clp), *index = Clp_getIndices(clp);
    const double *value = Clp_getElements(clp);
    int *first = malloc(((size_t)n + 1) * sizeof *first), *row;
    double *entry;
    Cbc_Model *cbc = Cbc_newModel();

    for (int j = 0; j < n; j++)
        to += length[j];
    row = malloc(((size_t)to + 1) * sizeof *row);
    entry = malloc(((size_t)to + 1) * sizeof *entry);
    if (!first || !row || !entry)
        abort();
    for (int j = to = 0; j < n; j++) {
        first[j] = to;
        memcpy(row + to, index + start[j], (size_t)length[j] * sizeof *row);
        memcpy(entry + to, value + start[j], (size_t)length[j] * sizeof *entry);
        to += length[j];
    }
    first[n] = to;
    Cbc_loadProblem(cbc, n, m, first, row, entry, Clp_columnLower(clp), Clp_columnUpper(clp),
                    Clp_objective(clp), Clp_rowLower(clp), Clp_rowUpper(clp));
    for (int j = 0; j < n; j++)
        if (whole[j])
            Cbc_setInteger(cbc, j);
    free(first);
    free(row);
    free(entry);
    return cbc;
}

// Cbc's messages with the bound so far: 10 after some nodes, 1 at the end. Their doubles are the
// best solution and the best possible.
enum { CBC_STATUS = 10 };

static COINLINKAGE_CB void on_event(Cbc_Model *m, int number, int n_doubles, const double *x,
                                    int n_ints, const int *i, int n_strings, char **s)
{
    if (number == CBC_STATUS && n_doubles >= 2)
        engine_bound(x[1]);
}

Branched library_branch(double cutoff, double gap, int64_t nodes)
{
    Cbc_Model *cbc = branching();
    Branched b = {MIP_FAILED, -MIP_FREE, 0, NULL};

    Cbc_registerCallBack(cbc, on_event);
    Cbc_setParameter(cbc, "log", "1");
    Cbc_setAllowableGap(cbc, gap);
    Cbc_setAllowableFractionGap(cbc, 0);
    Cbc_setMaximumNodes(cbc, (int)(nodes < INT32_MAX ? nodes : INT32_MAX));
    if (cutoff < MIP_FREE)
        Cbc_setCutoff(cbc, cutoff);
    Cbc_solve(cbc);
    b.bound = Cbc_getBestPossibleObjValue(cbc);
    if (Cbc_bestSolution(cbc))
        engine_point(Cbc_getObjValue(cbc), Cbc_bestSolution(cbc), Cbc_getNumCols(cbc));
    if (Cbc_isProvenOptimal(cbc))
        b.status = MIP_OPTIMAL;
    else if (Cbc_isProvenInfeasible(cbc))
        b = (Branched){MIP_INFEASIBLE, cutoff, 0, NULL};
    else if (Cbc_status(cbc) == 1)
        b.status = MIP_LIMIT;
    Cbc_deleteModel(cbc);
    return b;
}
