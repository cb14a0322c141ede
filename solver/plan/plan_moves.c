// Lists the moves of a plan: each of its decisions may become another while all else stays.
#include <stdlib.h>
#include <string.h>

#include "solver/plan/build_problem.h"

// A move, and by which it is sorted among those of its rank.
typedef struct SortedMove {
    PlanMove move;
    double cost_of_byte;
    int at;  // in the list before it is sorted
} SortedMove;

static int compare_moves(const void *x, const void *y)
{
    const SortedMove *a = x, *b = y;

    if (a->move.rank != b->move.rank)
        return a->move.rank - b->move.rank;
    if (a->cost_of_byte != b->cost_of_byte)
        return a->cost_of_byte < b->cost_of_byte ? -1 : 1;
    return a->at - b->at;
}

static int64_t differing_bytes(const Graph *g, const Mesh *m, ValueId v, const Spec *a,
                               const Spec *b)
{
    return llabs(spec_bytes(m, a, value_of(g, v)) - spec_bytes(m, b, value_of(g, v)));
}

// The bytes by which the shards differ that two alternatives of a variable hold, read or make.
static int64_t changed_bytes(const PlanProblem *q, const Graph *g, const Mesh *m, int variable,
                             int from, int to)
{
    const Variable *v = &q->variable[variable];
    int64_t bytes = 0;

    if (v->kind != VARIABLE_NODE)
        return differing_bytes(g, m, v->id, &v->spec[from], &v->spec[to]);
    const Node *n = &g->nodes[v->id];
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        Spec a = strategy_spec(&q->rule[v->id], &v->spec[from], i),
             b = strategy_spec(&q->rule[v->id], &v->spec[to], i);
        if (nth_operand(n, i))
            bytes += differing_bytes(g, m, nth_operand(n, i), &a, &b);
    }
    return bytes;
}

// How many other alternatives of the variable that are kept cost less than this one.
static int rank_of(const PlanProblem *q, int variable, int chosen, int k, const int64_t *more,
                   const bool *keep)
{
    int first = q->problem.first[variable], rank = 0;

    for (int l = 0; l < q->variable[variable].n; l++) {
        int64_t less = more[first + k] - more[first + l];
        rank += l != chosen && keep[first + l] && (less > 0 || (!less && l < k));
    }
    return rank;
}

static Pin pin_of(const Variable *v, int k)
{
    static const PinKind kind[] = {
        [VARIABLE_NODE] = PIN_STRATEGY,
        [VARIABLE_STORAGE] = PIN_STORAGE,
        [VARIABLE_COMPUTE] = PIN_COMPUTE,
    };

    return (Pin){.kind = kind[v->kind], .id = v->id, .phase = v->phase, .spec = v->spec[k]};
}

static int list_moves(const PlanProblem *q, const Graph *g, const Planned *x, const bool *keep,
                      const int64_t *more, SortedMove *to)
{
    int n = 0;

    for (int i = 0; i < q->n_variables; i++)
        for (int k = 0, chosen = x->answer.choice[i]; k < q->variable[i].n; k++) {
            int at = q->problem.first[i] + k;
            if (k == chosen || !keep[at] || more[at] >= COST_FORBIDDEN / 2)
                continue;
            int64_t bytes = changed_bytes(q, g, &x->plan.mesh, i, chosen, k);
            to[n] = (SortedMove){.cost_of_byte = (double)more[at] / (double)(bytes + 1), .at = n};
            to[n++].move = (PlanMove){pin_of(&q->variable[i], k),
                                      rank_of(q, i, chosen, k, more, keep), more[at] * q->unit};
        }
    return n;
}

void plan_moves(Arena *a, const PlanProblem *q, const Graph *g, const PlanOptions *o, Planned *to,
                Diag *d)
{
    Arena *scratch = arena_new();
    int n = q->problem.first[q->problem.n_nodes];
    bool *keep = arena_array(scratch, bool, n);
    SortedMove *all = arena_array(scratch, SortedMove, n);
    PlanOptions user = *o;

    user.n_pins = o->n_user_pins;
    memset(keep, true, (size_t)n * sizeof *keep);
    n = 0;
    if (pins_apply(q, g, &to->plan.mesh, &user, keep, d))
        n = list_moves(q, g, to, keep, choice_changes(scratch, &q->problem, to->answer.choice),
                       all);
    if (n)
        qsort(all, (size_t)n, sizeof *all, compare_moves);
    to->move = arena_array(a, PlanMove, n);
    to->n_moves = n;
    for (int i = 0; i < n; i++)
        to->move[i] = all[i].move;
    arena_free(scratch);
}
