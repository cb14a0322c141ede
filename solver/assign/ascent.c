// Lower bounds by sequential tree-reweighted message passing (TRW-S: Kolmogorov, "Convergent
// tree-reweighted message passing for energy minimization", PAMI 2006). Sweeps move costs from
// edges to nodes and on to other edges. No step lowers the bound.
#include "solver/assign/ascent.h"

static int n_of(const Ascent *s, int node) { return n_alternatives(s->f->p, node); }

double *ascent_message(const Ascent *s, int node, HalfEdge l)
{
    return s->message + s->first_message[l.edge] + (l.is_a ? 0 : n_of(s, l.other));
}

static bool is_before(int node, int other, bool is_forward)
{
    return is_forward ? other < node : other > node;
}

// Chooses the cheapest alternative of node i: by the edges' costs to nodes that were chosen before,
// by the messages of the others.
static int choose(const Ascent *s, int i, bool is_forward, double *cost)
{
    const FloatProblem *f = s->f;
    int n = n_of(s, i), best = 0;

    row_sum(f->cost + f->p->first[i], s->byte_cost + f->p->first[i], n, cost);
    for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++) {
        HalfEdge l = f->half_edge[j];
        if (is_before(i, l.other, is_forward))
            float_problem_add_row(f, i, l, s->choice[l.other], 1, cost);
        else
            row_add(ascent_message(s, i, l), n, cost);
    }
    for (int k = 1; k < n; k++)
        best = cost[k] < cost[best] ? k : best;
    return best;
}

double ascent_gather(const Ascent *s, int i, double *into)
{
    const FloatProblem *f = s->f;
    int n = n_of(s, i);

    row_sum(f->cost + f->p->first[i], s->byte_cost + f->p->first[i], n, into);
    for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++)
        row_add(ascent_message(s, i, f->half_edge[j]), n, into);
    return row_least(into, n);
}

double ascent_share(const Ascent *s, int i, bool is_forward, int *n_ahead)
{
    const FloatProblem *f = s->f;
    int n = f->first_half_edge[i + 1] - f->first_half_edge[i], n_before = 0;

    for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++)
        n_before += is_before(i, f->half_edge[j].other, is_forward);
    *n_ahead = n - n_before;
    int most = *n_ahead > n_before ? *n_ahead : n_before;
    return most ? 1.0 / most : 0;
}

// Sends the edge its part of the costs that node i gathered, less the message that the edge itself
// gave.
static void pass_on(Ascent *s, int i, HalfEdge l, const double *part)
{
    const FloatProblem *f = s->f;
    HalfEdge back = {.edge = l.edge, .other = i, .is_a = !l.is_a};
    int n = n_of(s, i);

    row_less(part, ascent_message(s, i, l), n, s->from);
    float_problem_pass(f, i, l, s->from, ascent_message(s, l.other, back));
    s->work += (int64_t)n * n_of(s, l.other);
}

// The bound that edges carry from earlier nodes to node i.
static double edge_bounds_to(const Ascent *s, int i, bool is_forward)
{
    const FloatProblem *f = s->f;
    double sum = 0;

    for (int j = f->first_half_edge[i]; j < f->first_half_edge[i + 1]; j++)
        if (is_before(i, f->half_edge[j].other, is_forward))
            sum += s->edge_bound[f->half_edge[j].other];
    return sum;
}

// At each node of the sweep the bound is the sum of three parts: what nodes keep, what edges carry
// from earlier nodes to later ones, and the least cost that the current node gathers. If that least
// cost is replaced by the cost of another alternative, the sum is a bound of all choices with that
// alternative.
void ascent_sweep(Ascent *s, bool is_forward)
{
    const FloatProblem *f = s->f;
    int n = f->p->n_nodes, n_ahead;

    s->bound = 0;
    for (int t = 0; t < f->n_slots; t++)
        s->bound -= s->price[t] * (double)f->p->limit;
    for (int i = 0; i < n; i++)
        s->bound += s->node_bound[i];
    for (int j = 0; j < n; j++) {
        int i = is_forward ? j : n - 1 - j;
        if (s->chooses)
            s->choice[i] = choose(s, i, is_forward, s->from);
        double least = ascent_gather(s, i, s->into);
        double part = ascent_share(s, i, is_forward, &n_ahead);
        s->bound -= s->node_bound[i] + edge_bounds_to(s, i, is_forward);
        for (int k = 0; k < n_of(s, i) && s->lower; k++)
            s->lower[f->p->first[i] + k] = s->bound + s->into[k];
        s->bound += least;
        s->edge_bound[i] = part * least;
        s->node_bound[i] = least - n_ahead * s->edge_bound[i];
        row_scale(part, n_of(s, i), s->into);
        for (int h = f->first_half_edge[i]; h < f->first_half_edge[i + 1]; h++)
            if (!is_before(i, f->half_edge[h].other, is_forward))
                pass_on(s, i, f->half_edge[h], s->into);
        s->work += 4 * n_of(s, i);
    }
}

void ascent_update_byte_costs(Ascent *s)
{
    float_problem_byte_costs(s->f, s->price, s->sum, s->byte_cost);
}

Ascent *ascent_new(Arena *a, const FloatProblem *f)
{
    const Problem *p = f->p;
    Ascent *s = arena_array(a, Ascent, 1);

    s->f = f;
    s->chooses = true;
    s->first_message = arena_array(a, int64_t, p->n_edges + 1);
    for (int e = 0; e < p->n_edges; e++)
        s->first_message[e + 1] = s->first_message[e] + edge_messages(p, e);
    s->message = arena_array(a, double, s->first_message[p->n_edges]);
    s->best_message = arena_array(a, double, s->first_message[p->n_edges]);
    s->price = arena_array(a, double, f->n_slots);
    s->best_price = arena_array(a, double, f->n_slots);
    s->sum = arena_array(a, double, f->n_slots + 1);
    s->live_bytes = arena_array(a, double, f->n_slots);
    s->mean = arena_array(a, double, f->n_slots);
    s->is_priced = arena_array(a, bool, f->n_slots);
    s->byte_cost = arena_array(a, double, p->first[p->n_nodes]);
    s->into = arena_array(a, double, f->max_alternatives);
    s->from = arena_array(a, double, f->max_alternatives);
    s->taken = arena_array(a, double, p->first[p->n_nodes]);
    s->node_bound = arena_array(a, double, p->n_nodes);
    s->edge_bound = arena_array(a, double, p->n_nodes);
    s->choice = arena_array(a, int, p->n_nodes);
    return s;
}
