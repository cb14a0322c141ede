// Certificates, in rounds that anyone can check. A round reduces the problem, finds a dual of what
// remains, and excludes alternatives and pairs that cost too much from the next round. It doesn't
// use the solver's other methods, dominance and branching.
#include <string.h>

#include "solver/assign/relax.h"

enum { CERTIFY_EFFORT = 1000 };  // work per alternative and pair in one round

typedef struct Certify {
    const Problem *p;
    int64_t *cost;  // by alternative; forbidden where excluded
    Edge *edge;     // p's edges, then those that exclude pairs
    int n_edges, cap_edges;
    Wide best;  // cost of the answer's choice
    const SolveOptions *o;
    const Deadline *deadline;
    bool has_engine;
    Engine *engine;  // NULL: none was asked yet
    Dual prices;     // dual of the last round
    Certificate *to;
    int cap, best_round;
    Arena *arena;
} Certify;

// Appends a round to the certificate. Its arrays belong to the arena.
static void round_keep(Certify *c, const Replay *replay, const Presolved *left, const Dual *dual)
{
    Arena *a = c->arena;
    Round *r = arena_push(a, c->to->round, c->to->n_rounds, c->cap);
    const int *ids;

    *r = (Round){.n_steps = replay->n, .dual = *dual};
    r->step = arena_array(a, Reduction, replay->n);
    if (replay->n)
        memcpy(r->step, replay->step, (size_t)replay->n * sizeof *r->step);
    if (!left)
        return;
    const Problem *q = &left->problem;
    r->n_edges = q->n_edges;
    r->edge = arena_array(a, Ends, q->n_edges);
    for (int e = 0; e < q->n_edges; e++)
        r->edge[e] = (Ends){presolve_origin(left, q->edge[e].a, &ids),
                            presolve_origin(left, q->edge[e].b, &ids), edge_messages(q, e)};
}

static bool is_enough(const Certify *c, Wide bound)
{
    return answer_gap(c->best, bound) <= c->o->gap;
}

// Finds the best dual by ascent and, if the problem is small enough, by the linear program; returns
// its bound.
static Wide bound_find(Certify *c, const Presolved *left, Dual *dual)
{
    const Problem *q = &left->problem;
    Wide bound = ascent(c->arena, q, false, dual, CERTIFY_EFFORT * problem_size(q), c->deadline);
    const double *x;

    if (!c->has_engine || problem_pairs(q) > MAX_RELAX_PAIRS || is_enough(c, bound + left->offset))
        return bound;
    Arena *own = arena_new();
    Dual better;
    if (!c->engine)
        c->engine = engine_start(c->o->programs, c->o->engine, c->deadline, NULL);
    c->has_engine = c->engine && model_relax(c->arena, model_new(own, q, c->engine, dual), &x,
                                             &better) == MIP_OPTIMAL;
    if (c->has_engine && dual_bound(q, &better) > bound) {
        *dual = better;
        bound = dual_bound(q, dual);
    }
    engine_clear(c->engine);
    arena_free(own);
    return bound;
}

// Excludes the marked pairs of a remaining edge by adding an edge that forbids them. False: none is
// marked.
static bool pairs_exclude(Certify *c, const Presolved *left, const Edge *e, const bool *pair)
{
    const Problem *p = c->p, *q = &left->problem;
    const int *of_a, *of_b;
    int a = presolve_origin(left, e->a, &of_a), b = presolve_origin(left, e->b, &of_b);
    int n = n_alternatives(q, e->a), m = n_alternatives(q, e->b);
    int64_t *cost = NULL;

    for (int k = 0; k < n; k++)
        for (int l = 0; l < m; l++) {
            if (!*pair++)
                continue;
            if (!cost)
                cost = arena_array(c->arena, int64_t,
                                   (size_t)n_alternatives(p, a) * (size_t)n_alternatives(p, b));
            cost[(size_t)of_a[k] * (size_t)n_alternatives(p, b) + (size_t)of_b[l]] = COST_FORBIDDEN;
        }
    if (cost)
        *arena_push(c->arena, c->edge, c->n_edges, c->cap_edges) = (Edge){a, b, cost};
    return cost;
}

// Excludes the alternatives and pairs that the dual rules out. True if there were any.
static bool rule_out(Certify *c, const Presolved *left, const Dual *dual)
{
    const Problem *q = &left->problem;
    Arena *own = arena_new();
    bool *mark = arena_array(own, bool, q->n_nodes ? q->first[q->n_nodes] : 0);
    bool *pair = arena_array(own, bool, problem_pairs(q)), any = false;
    const int *id;

    slack_mark(q, dual, c->best - left->offset, mark, pair);
    for (int i = 0; i < q->n_nodes; i++)
        for (int k = 0; k < n_alternatives(q, i); k++)
            if (mark[q->first[i] + k]) {
                int node = presolve_origin(left, i, &id);
                c->cost[c->p->first[node] + id[k]] = COST_FORBIDDEN;
                any = true;
            }
    for (int e = 0; e < q->n_edges; e++) {
        any |= pairs_exclude(c, left, &q->edge[e], pair);
        pair += edge_pairs(q, e);
    }
    arena_free(own);
    return any;
}

// p without the exclusions. Its arrays are p's and the arena's.
static Problem left_over(Arena *a, const Certify *c)
{
    Problem q = *c->p;

    q.cost = c->cost;
    q.n_edges = c->n_edges;
    q.edge = arena_array(a, Edge, c->n_edges);
    if (c->n_edges)
        memcpy(q.edge, c->edge, (size_t)c->n_edges * sizeof *q.edge);
    problem_join_edges(a, &q, NULL);
    return q;
}

// Runs one round. False when another would gain nothing.
static bool round_run(Certify *c)
{
    Arena *own = arena_new();
    Problem q = left_over(own, c);
    Replay replay;
    Presolved left;
    Dual dual = c->prices;
    Wide bound;

    dual.message = NULL;
    if (!presolve_plain(own, &q, &replay, &left)) {
        round_keep(c, &replay, NULL, &(Dual){0});
        c->to->bound = c->best;
        c->best_round = c->to->n_rounds - 1;
        arena_free(own);
        return false;
    }
    bound = bound_find(c, &left, &dual) + left.offset;
    round_keep(c, &replay, &left, &dual);
    bound = bound < c->best ? bound : c->best;
    if (c->to->n_rounds == 1 || bound > c->to->bound) {
        c->to->bound = bound;
        c->best_round = c->to->n_rounds - 1;
    }
    c->prices = dual;
    bool goes_on = !is_enough(c, bound) && rule_out(c, &left, &dual);
    arena_free(own);
    return goes_on;
}

void certify(Arena *a, const Problem *p, const SolveOptions *o, Wide cost, const Dual *prices,
             bool has_engine, const Deadline *w, Certificate *to)
{
    int n = p->n_nodes ? p->first[p->n_nodes] : 0;
    Certify c = {.p = p,
                 .cost = arena_array(a, int64_t, n),
                 .best = cost,
                 .o = o,
                 .deadline = w,
                 .has_engine = has_engine,
                 .prices = *prices,
                 .to = to,
                 .arena = a};

    *to = (Certificate){0};
    if (n)
        memcpy(c.cost, p->cost, (size_t)n * sizeof *c.cost);
    for (int e = 0; e < p->n_edges; e++)
        *arena_push(a, c.edge, c.n_edges, c.cap_edges) = p->edge[e];
    while (round_run(&c) && to->n_rounds < PROOF_ROUNDS && deadline_check(w) == STOP_DONE)
        ;
    engine_end(c.engine);
    to->n_rounds = c.best_round + 1;
}
