// Reports the price of a plan, and the best alternative to each of its decisions.
#include "solver/plan/build_problem.h"

// ---- memory ----

// The bytes held by time. most[l][t] is the largest of the 2^l times from t on, so the largest of
// any range is that of two entries.
enum { MAX_TABLE_LEVELS = 32 };

typedef struct Profile {
    int n;
    int64_t *most[MAX_TABLE_LEVELS];
} Profile;

static Profile profile_of(Arena *a, const Problem *p, const int *choice)
{
    Profile f = {0};

    for (int u = 0; u < p->first_live[p->first[p->n_nodes]]; u++)
        f.n = p->live[u].last > f.n ? p->live[u].last : f.n;
    f.most[0] = arena_array(a, int64_t, f.n + 1);
    for (int i = 0; i < p->n_nodes; i++)
        for (int k = p->first[i] + choice[i], u = p->first_live[k]; u < p->first_live[k + 1]; u++) {
            f.most[0][p->live[u].first] += p->live[u].bytes;
            f.most[0][p->live[u].last] -= p->live[u].bytes;
        }
    for (int t = 1; t < f.n; t++)
        f.most[0][t] += f.most[0][t - 1];
    for (int l = 1; 1 << l <= f.n; l++) {
        f.most[l] = arena_array(a, int64_t, f.n);
        for (int t = 0; t + (1 << l) <= f.n; t++) {
            int64_t x = f.most[l - 1][t], y = f.most[l - 1][t + (1 << (l - 1))];
            f.most[l][t] = x > y ? x : y;
        }
    }
    return f;
}

static int64_t most_between(const Profile *f, int first, int last)
{
    int l = 0;

    while (2 << l <= last - first)
        l++;
    int64_t x = f->most[l][first], y = f->most[l][last - (1 << l)];
    return x > y ? x : y;
}

static int64_t live_bytes_at(const Problem *p, int k, int time)
{
    for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
        if (p->live[u].first <= time && time < p->live[u].last)
            return p->live[u].bytes;
    return 0;
}

// Would the choice still fit with alternative k instead of `chosen`, which holds bytes over the
// same spans?
static bool fits(const Problem *p, const Profile *f, int k, int chosen)
{
    for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++) {
        const LiveBytes *x = &p->live[u];
        int64_t others = most_between(f, x->first, x->last) - live_bytes_at(p, chosen, x->first);
        if (others + x->bytes > p->limit && x->bytes > live_bytes_at(p, chosen, x->first))
            return false;
    }
    return true;
}

// ---- costs ----

int64_t *choice_changes(Arena *a, const Problem *p, const int *choice)
{
    int64_t *more = arena_array(a, int64_t, p->first[p->n_nodes]);

    for (int i = 0; i < p->n_nodes; i++)
        for (int k = p->first[i]; k < p->first[i + 1]; k++)
            more[k] = p->cost[k] - p->cost[p->first[i] + choice[i]];
    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++) {
        int x = choice[e->a], y = choice[e->b];
        int64_t now = edge_cost(p, e, x, y);
        for (int k = 0; k < n_alternatives(p, e->a); k++)
            more[p->first[e->a] + k] += edge_cost(p, e, k, y) - now;
        for (int l = 0; l < n_alternatives(p, e->b); l++)
            more[p->first[e->b] + l] += edge_cost(p, e, x, l) - now;
    }
    return more;
}

static BestAlternative find_best_alternative(const PlanProblem *q, int i, int chosen,
                                             const int64_t *more, const Profile *f)
{
    const Problem *p = &q->problem;
    BestAlternative next = {0};

    for (int k = 0; k < q->variable[i].n; k++) {
        int at = p->first[i] + k;
        if (k == chosen || (next.is_there && more[at] >= next.cost) ||
            !fits(p, f, at, p->first[i] + chosen))
            continue;
        next = (BestAlternative){true, q->variable[i].spec[k], more[at]};
    }
    return next;
}

static void find_best_alternatives(Arena *a, Arena *scratch, const PlanProblem *q, const Graph *g,
                                   Planned *to)
{
    const int *choice = to->answer.choice;
    Profile f = profile_of(scratch, &q->problem, choice);
    int64_t *more = choice_changes(scratch, &q->problem, choice);
    BestAlternative *next = arena_array(scratch, BestAlternative, q->n_variables);

    for (int i = 0; i < q->n_variables; i++)
        next[i] = find_best_alternative(q, i, choice[i], more, &f);
    for (int i = 0; i < q->n_variables; i++)
        next[i].cost *= q->unit;
    to->next_storage_spec = arena_array(a, BestAlternative, g->n_values);
    to->next_compute_spec = arena_array(a, BestAlternative, 3 * (size_t)g->n_values);
    to->strategy = arena_array(a, BestAlternative, g->n_nodes);
    for (ValueId v = 1; v < g->n_values; v++) {
        to->next_storage_spec[v] = next[q->of_value[q->tied.value[v]]];
        for (int phase = 0; phase < 3; phase++) {
            int live = q->of_compute_spec[3 * q->tied.value[v] + phase];
            if (live >= 0)
                to->next_compute_spec[3 * v + phase] = next[live];
        }
    }
    for (NodeId n = 1; n < g->n_nodes; n++)
        to->strategy[n] = next[q->of_node[q->tied.node[n]]];
}

void choice_price(const PlanProblem *q, const int *choice, int64_t *compute, int64_t *communication)
{
    const Problem *p = &q->problem;

    *compute = *communication = 0;
    for (int i = 0; i < p->n_nodes; i++)
        *compute += p->cost[p->first[i] + choice[i]];
    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++)
        *communication += edge_cost(p, e, choice[e->a], choice[e->b]);
    *compute *= q->unit;
    *communication *= q->unit;
}

void plan_report(Arena *a, const PlanProblem *q, const Graph *g, Planned *to)
{
    Arena *scratch = arena_new();

    choice_price(q, to->answer.choice, &to->compute, &to->communication);
    find_best_alternatives(a, scratch, q, g, to);
    arena_free(scratch);
}
