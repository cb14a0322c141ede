// An engine of GLPK for linear and mixed-integer programs.
#include <glpk.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engines/engine.h"

static glp_prob *problem;
static double *x, *dual;  // of the last solution

static glp_prob *model(void)
{
    if (!problem) {
        glp_term_out(GLP_OFF);
        problem = glp_create_prob();
        glp_set_obj_dir(problem, GLP_MIN);
    }
    return problem;
}

void library_clear(void)
{
    if (problem)
        glp_delete_prob(problem);
    problem = NULL;
}

static void *memory(void *old, size_t count, size_t size)
{
    void *p = realloc(old, count * size + 1);

    if (!p)
        abort();
    return p;
}

// GLPK's type of a pair of bounds.
static int bound_type(double low, double high)
{
    if (low <= -MIP_FREE)
        return high >= MIP_FREE ? GLP_FR : GLP_UP;
    if (high >= MIP_FREE)
        return GLP_LO;
    return low == high ? GLP_FX : GLP_DB;
}

// Sets the entries of rows or columns. GLPK counts from 1 and ignores index 0 of both arrays.
static void lines_put(const Lines *l, int at,
                      void (*set)(glp_prob *, int, int, const int *, const double *))
{
    int *index = NULL;
    double *value = NULL;

    for (int i = 0; i < l->n; i++) {
        int n = l->first[i + 1] - l->first[i];
        index = memory(index, (size_t)n + 1, sizeof *index);
        value = memory(value, (size_t)n + 1, sizeof *value);
        for (int j = 0; j < n; j++) {
            index[j + 1] = l->index[l->first[i] + j] + 1;
            value[j + 1] = l->value[l->first[i] + j];
        }
        set(problem, at + i, n, index, value);
    }
    free(index);
    free(value);
}

void library_columns(const Lines *c)
{
    int at = c->n ? glp_add_cols(model(), c->n) : 0;

    for (int i = 0; i < c->n; i++) {
        glp_set_col_bnds(problem, at + i, bound_type(c->low[i], c->high[i]), c->low[i], c->high[i]);
        glp_set_obj_coef(problem, at + i, c->cost[i]);
        glp_set_col_kind(problem, at + i, c->is_whole[i] ? GLP_IV : GLP_CV);
    }
    lines_put(c, at, glp_set_mat_col);
}

void library_rows(const Lines *r)
{
    int at = r->n ? glp_add_rows(model(), r->n) : 0;

    for (int i = 0; i < r->n; i++)
        glp_set_row_bnds(problem, at + i, bound_type(r->low[i], r->high[i]), r->low[i], r->high[i]);
    lines_put(r, at, glp_set_mat_row);
}

void library_bounds(int column, double low, double high)
{
    glp_set_col_bnds(model(), column + 1, bound_type(low, high), low, high);
}

static void solution_keep(void)
{
    int n = glp_get_num_cols(problem), m = glp_get_num_rows(problem);

    x = memory(x, (size_t)n, sizeof *x);
    dual = memory(dual, (size_t)m, sizeof *dual);
    for (int j = 0; j < n; j++)
        x[j] = glp_get_col_prim(problem, j + 1);
    for (int i = 0; i < m; i++)
        dual[i] = glp_get_row_dual(problem, i + 1);
}

Relaxed library_relax(int64_t iterations)
{
    glp_smcp how;
    Relaxed r = {.status = MIP_FAILED};
    int before = glp_get_it_cnt(model());

    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = GLP_DUALP;
    how.it_lim = (int)fmin((double)iterations, INT32_MAX);
    int error = glp_simplex(problem, &how), got = glp_get_status(problem);
    // From the basis that the last changes left, GLPK may fail or wrongly find no solution.
    if ((error && error != GLP_EITLIM) || got == GLP_NOFEAS || got == GLP_INFEAS) {
        glp_std_basis(problem);
        how.meth = GLP_PRIMAL;
        error = glp_simplex(problem, &how);
        got = glp_get_status(problem);
    }
    if (!error && got == GLP_OPT)
        r.status = MIP_OPTIMAL;
    else if (!error && got == GLP_NOFEAS)
        r.status = MIP_INFEASIBLE;
    else if (error == GLP_EITLIM)
        r.status = MIP_LIMIT;
    solution_keep();
    r.iterations = glp_get_it_cnt(problem) - before;
    r.objective = glp_get_obj_val(problem);
    r.x = x;
    r.dual = dual;
    return r;
}

typedef struct Search {
    int64_t nodes;
    double bound;
    bool is_over;
} Search;

static void on_event(glp_tree *t, void *of)
{
    Search *s = of;
    int reason = glp_ios_reason(t), n = glp_get_num_cols(problem), best = glp_ios_best_node(t);
    int total;

    if (reason == GLP_IBINGO) {
        x = memory(x, (size_t)n, sizeof *x);
        for (int j = 0; j < n; j++)
            x[j] = glp_get_col_prim(problem, j + 1);
        engine_point(glp_get_obj_val(problem), x, n);
    }
    if (best && glp_ios_node_bound(t, best) > s->bound) {
        s->bound = glp_ios_node_bound(t, best);
        engine_bound(s->bound);
    }
    glp_ios_tree_size(t, NULL, NULL, &total);
    if (reason == GLP_ISELECT && total >= s->nodes) {
        s->is_over = true;
        glp_ios_terminate(t);
    }
}

// Adds the cutoff as a row, which library_branch deletes after branching.
static void cutoff_put(double cutoff)
{
    int n = glp_get_num_cols(problem), row = glp_add_rows(problem, 1);
    int *index = memory(NULL, (size_t)n + 1, sizeof *index);
    double *cost = memory(NULL, (size_t)n + 1, sizeof *cost);

    for (int j = 1; j <= n; j++) {
        index[j] = j;
        cost[j] = glp_get_obj_coef(problem, j);
    }
    glp_set_mat_row(problem, row, n, index, cost);
    glp_set_row_bnds(problem, row, GLP_UP, 0, cutoff);
    free(index);
    free(cost);
}

// Reports the best point, as GLPK doesn't call the callback for every point.
static void say_best(void)
{
    size_t n = (size_t)glp_get_num_cols(problem);

    x = memory(x, n, sizeof *x);
    for (size_t j = 0; j < n; j++)
        x[j] = glp_mip_col_val(problem, (int)j + 1);
    engine_point(glp_mip_obj_val(problem), x, (int)n);
}

Branched library_branch(double cutoff, double gap, int64_t nodes)
{
    Search s = {.nodes = nodes, .bound = -MIP_FREE};
    Branched b = {MIP_FAILED, -MIP_FREE, 0, NULL};
    glp_iocp how;

    if (cutoff < MIP_FREE)
        cutoff_put(cutoff);
    glp_std_basis(model());
    glp_init_iocp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.cb_func = on_event;
    how.cb_info = &s;
    Relaxed root = library_relax(INT32_MAX);
    b.status = root.status;
    b.bound = root.objective;
    if (root.status == MIP_OPTIMAL) {
        int error = glp_intopt(problem, &how);
        int got = glp_mip_status(problem);
        if (got == GLP_OPT || got == GLP_FEAS)
            say_best();
        if (!error && !s.is_over && (got == GLP_OPT || got == GLP_NOFEAS)) {
            b.status = got == GLP_OPT ? MIP_OPTIMAL : MIP_INFEASIBLE;
            b.bound = got == GLP_OPT ? glp_mip_obj_val(problem) : cutoff;
        } else {
            b.status = s.is_over ? MIP_LIMIT : MIP_FAILED;
            b.bound = fmax(b.bound, s.bound);
        }
    }
    if (cutoff < MIP_FREE) {
        int row[2] = {0, glp_get_num_rows(problem)};
        glp_del_rows(problem, 1, row);
    }
    return b;
}
