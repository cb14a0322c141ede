// The lowest possible peak. All allowed costs become 0. An added node either holds some peak's
// bytes all the time, or holds none at a cost of that many. Then a bound of the cost is a bound of
// the peak.
#include <string.h>

#include "solver/assign/search.h"

// Work per alternative and pair after which a search without progress stops.
enum { MAX_STALLED_EFFORT = 5 };

// Sets all allowed costs to 0. Neighbouring edges that shared a matrix still do.
static void forget_costs(Arena *a, const Problem *p, Problem *q)
{
    int n = p->first[p->n_nodes];

    q->cost = arena_array(a, int64_t, n + 2);
    q->edge = arena_array(a, Edge, p->n_edges);
    for (int k = 0; k < n; k++)
        q->cost[k] = is_forbidden(p->cost[k]) ? COST_FORBIDDEN : 0;
    for (int e = 0; e < p->n_edges; e++) {
        const Edge *d = &p->edge[e];
        q->edge[e] = *d;
        if (e && d->cost == d[-1].cost) {
            q->edge[e].cost = q->edge[e - 1].cost;
            continue;
        }
        int64_t n_pairs = edge_pairs(p, e);
        int64_t *cost = arena_array(a, int64_t, n_pairs);
        for (int64_t i = 0; i < n_pairs; i++)
            cost[i] = is_forbidden(d->cost[i]) ? COST_FORBIDDEN : 0;
        q->edge[e].cost = cost;
    }
}

// Adds a node to q that holds `peak` bytes all the time at no cost, or none at a cost of `peak`.
static void add_slack_node(Arena *a, Problem *q, int64_t peak)
{
    int n = q->n_nodes, k = q->first[n], n_live = q->first_live[k], last = 0;
    int *first = arena_array(a, int, n + 2), *first_live = arena_array(a, int, k + 3);
    LiveBytes *live = arena_array(a, LiveBytes, n_live + 1);

    memcpy(first, q->first, (size_t)(n + 1) * sizeof *first);
    memcpy(first_live, q->first_live, (size_t)(k + 1) * sizeof *first_live);
    for (int u = 0; u < n_live; u++) {
        live[u] = q->live[u];
        last = live[u].last > last ? live[u].last : last;
    }
    live[n_live] = (LiveBytes){0, last ? last : 1, peak};
    first[n + 1] = k + 2;
    first_live[k + 1] = first_live[k + 2] = n_live + 1;
    q->cost[k] = 0;
    q->cost[k + 1] = peak;
    q->n_nodes = n + 1;
    q->first = first;
    q->first_live = first_live;
    q->live = live;
    q->limit = peak;
}

// More bytes than any choice holds.
static int64_t sum_of_largest(const Problem *p)
{
    int64_t sum = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t most = 0;
        for (int u = p->first_live[p->first[i]]; u < p->first_live[p->first[i + 1]]; u++)
            most = p->live[u].bytes > most ? p->live[u].bytes : most;
        if (!add_size(sum, most, &sum))
            return INT64_MAX;
    }
    return sum + (sum < INT64_MAX);
}

// Searches for lower and lower peaks at prices of bytes. Each round raises the price of the fullest
// time.
static void search_low_peaks(const Problem *q, const Dual *dual, LowestPeak *least, int *choice,
                             uint64_t seed, int64_t work, const Deadline *w)
{
    Arena *a = arena_new();
    FloatProblem *f = float_problem_new(a, q);
    Search *s = search_new(a, f, seed);
    double *price = arena_array(a, double, f->n_slots), total = 0;
    double all = (double)sum_of_largest(q);
    int *start = arena_array(a, int, q->n_nodes);

    s->work_limit = work;
    s->deadline = w;
    search_dual_prices(f, dual, price);
    for (int t = 0; t < f->n_slots; t++)
        total += price[t];
    // Prices are scaled so that all bytes together cost less than one forbidden cost.
    for (int t = 0; t < f->n_slots; t++)
        price[t] = total > 0 ? price[t] / total / all : 1.0 / f->n_slots / all;
    search_price(s, price);
    search_round_dual(s, &(Dual){0}, start);
    search_start(s, start);
    do {
        search_relax(s, 3, 1);
        search_repair(s);
        ChoicePrice now = problem_price(q, s->choice);
        if (!now.is_forbidden && (!least->is_found || now.peak < least->peak)) {
            *least = (LowestPeak){
                .bound = least->bound, .is_found = true, .peak = now.peak, .at = now.at};
            memcpy(choice, s->choice, (size_t)q->n_nodes * sizeof *choice);
        }
        if (!f->n_slots)
            break;
        price[profile_fullest(&s->profile)] += 0.1 / all;
        search_price(s, price);
    } while (search_goes_on(s));
    arena_free(a);
}

LowestPeak lowest_peak(const Problem *p, int *choice, uint64_t seed, int64_t work,
                       const Deadline *w)
{
    Arena *a = arena_new();
    Problem q = *p, r;
    Dual dual = {0};
    LowestPeak least = {.bound = INT64_MIN};

    forget_costs(a, p, &q);
    q.limit = 0;
    // Small problems need little work. A large share of the work that finds no lower peak, with a
    // bound far below, ends the loop.
    for (int64_t part = 100000; part <= work; part *= 8) {
        int64_t before = least.is_found ? least.peak : INT64_MAX;
        search_low_peaks(&q, &dual, &least, choice, seed++, part / 2, w);
        r = q;
        add_slack_node(a, &r, least.is_found ? least.peak : sum_of_largest(p));
        Wide bound = ascent(a, &r, false, &dual, part / 2, w);
        if (bound > least.bound)
            least.bound = bound > INT64_MAX ? INT64_MAX : (int64_t)bound;
        if (least.bound == INT64_MAX || (least.is_found && least.peak <= least.bound))
            break;
        if (part > MAX_STALLED_EFFORT * problem_size(p) && least.is_found && least.peak == before &&
            least.bound < least.peak / 2)
            break;
    }
    arena_free(a);
    return least;
}
