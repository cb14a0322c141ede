// Finds cheap choices by local search. Trees of nodes move together at prices of bytes (Lagrangian
// heuristics: with prices too low too much is held, with prices too high too much is paid). Then
// the times that are too full are repaired, and moves that fit improve the rest.
#include <math.h>
#include <string.h>

#include "solver/assign/search.h"

Search *search_new(Arena *a, const FloatProblem *f, uint64_t seed)
{
    const Problem *p = f->p;
    Search *s = arena_array(a, Search, 1);

    s->f = f;
    s->choice = arena_array(a, int, p->n_nodes);
    s->given = arena_array(a, double, p->first[p->n_nodes]);
    s->profile = profile_new(a, f->n_slots);
    s->limit = p->limit;
    s->price = arena_array(a, double, f->n_slots);
    s->sum = arena_array(a, double, f->n_slots + 1);
    s->byte_cost = arena_array(a, double, p->first[p->n_nodes]);
    s->arena = a;
    s->random = seed;
    s->tree = tree_new(a, f);
    return s;
}

static const double RELAX_VISITS = 3;  // visits of each node in search_relax
// The most that a price rises in a round, as the exponent of its factor; and the first price of a
// time, as a part of the cost per limit.
static const double MAX_PRICE_RAISE = 0.2, FIRST_PRICE_SHARE = 0.01;
static const double MIN_IMPROVEMENT = 1e-5;         // as a part of the cost
static const int64_t MIN_PATIENCE_WORK = 20000000;  // work without an improvement before moving on,
enum { PATIENCE_PER_PAIR = 16 };                    // plus this much for each pair of alternatives

typedef struct LocalSearch {
    Search *s;
    double *price, *live_bytes;  // by slot: prices of a byte, and the bytes held
    bool is_found;
    int *best;
    Wide cost;
    double about;      // `cost` as a double
    int64_t patience;  // work without an improvement before moving on
    Listener l;
} LocalSearch;

// Keeps the choice if it is the cheapest so far.
static void record(LocalSearch *h)
{
    const Search *s = h->s;
    const Problem *p = s->f->p;

    if (profile_peak(&s->profile) > s->limit || (h->is_found && s->cost >= h->about))
        return;
    ChoicePrice now = problem_price(p, s->choice);
    if (now.is_forbidden || (h->is_found && now.cost >= h->cost))
        return;
    h->is_found = true;
    h->cost = now.cost;
    h->about = (double)now.cost;
    memcpy(h->best, s->choice, (size_t)p->n_nodes * sizeof *h->best);
    listener_tell(&h->l, h->best, h->cost);
    if (h->l.enough && h->cost <= *h->l.enough)
        h->s->work_limit = 0;
}

static const double price_scales[] = {0, 0.25, 0.5, 1, 1, 2, 4};

static double random_scale(Search *s)
{
    return price_scales[search_random(s, COUNT(price_scales))];
}

// Improves around the nodes that changed since the mark.
static void improve_changed(Search *s, int rounds)
{
    for (int j = 0; j < rounds && s->n_undo; j++) {
        int node = s->undo[search_random(s, (uint64_t)s->n_undo)].node;
        search_tree(s, (TreeMove){node, 2 << search_random(s, 7), random_scale(s), -1, true});
    }
    for (int j = 0, n = s->n_undo; j < n; j++)
        search_improve_node(s, s->undo[j].node);
}

bool search_kick(Search *s)
{
    double before = s->cost;
    int root = search_node(s), n = n_alternatives(s->f->p, root);
    int forced = search_random(s, 2) ? (int)search_random(s, (uint64_t)n) : -1;
    TreeMove b = {root, 1 << search_random(s, 8), random_scale(s), forced, false};

    search_mark(s);
    search_tree(s, b);
    bool fits = search_repair(s);
    if (fits)
        improve_changed(s, 4);
    bool is_good = fits && s->cost <= before;
    if (!is_good)
        search_undo(s);
    s->is_marked = false;
    return is_good && s->cost < before;
}

// Should the search go on? It does for `patience` work after each clear improvement.
static bool is_worth(LocalSearch *h, double *before, int64_t *until)
{
    const Search *s = h->s;

    if (s->cost < *before - MIN_IMPROVEMENT * fabs(*before)) {
        *before = s->cost;
        *until = s->work + h->patience;
    }
    return s->work < *until && search_goes_on(s);
}

// Improves by moves that fit: first by trees from random nodes, then by kicks, which cost more
// work.
static void improve(LocalSearch *h)
{
    Search *s = h->s;
    double before = s->cost;
    int64_t until = s->work + h->patience;

    search_descend(s);
    while (is_worth(h, &before, &until))
        search_tree(
            s, (TreeMove){search_node(s), 2 << search_random(s, 10), random_scale(s), -1, true});
    record(h);
    until = s->work + h->patience;
    while (is_worth(h, &before, &until))
        search_kick(s);
    record(h);
}

// Adapts the prices: raises them where too much is held, lowers them where memory is left.
static void adapt(LocalSearch *h)
{
    Search *s = h->s;
    const FloatProblem *f = s->f;
    double limit = s->limit > 0 ? (double)s->limit : 1;

    float_problem_live_bytes(f, s->choice, h->live_bytes);
    for (int t = 0; t < f->n_slots; t++) {
        double over = h->live_bytes[t] / limit - 1;
        h->price[t] *= exp(over < MAX_PRICE_RAISE ? over : MAX_PRICE_RAISE);
    }
    int fullest = profile_fullest(&s->profile);
    if (profile_peak(&s->profile) > s->limit && h->price[fullest] <= 0)
        h->price[fullest] = FIRST_PRICE_SHARE * fabs(s->cost) / limit;
    search_price(s, h->price);
}

static LocalSearch *local_search_new(Arena *a, const Problem *p, const Dual *dual, uint64_t seed)
{
    LocalSearch *h = arena_array(a, LocalSearch, 1);
    FloatProblem *f = float_problem_new(a, p);

    h->s = search_new(a, f, seed);
    h->price = arena_array(a, double, f->n_slots);
    h->live_bytes = arena_array(a, double, f->n_slots);
    h->best = arena_array(a, int, p->n_nodes);
    h->patience = MIN_PATIENCE_WORK;
    for (int e = 0; e < p->n_edges; e++)
        h->patience += PATIENCE_PER_PAIR * edge_pairs(p, e);
    if (dual)
        search_dual_prices(f, dual, h->price);
    search_price(h->s, h->price);
    return h;
}

bool search(const Problem *p, const Dual *dual, bool is_start, int *choice, Wide *cost,
            uint64_t seed, int64_t work, const Deadline *w, Listener l)
{
    if (!p->n_nodes) {
        *cost = 0;
        return p->limit >= 0;
    }
    Arena *a = arena_new();
    LocalSearch *h = local_search_new(a, p, dual, seed);
    Search *s = h->s;

    s->work_limit = work;
    s->deadline = w;
    h->l = l;
    if (!is_start)
        search_round_dual(s, dual ? dual : &(Dual){0}, choice);
    search_start(s, choice);
    record(h);
    do {
        if (!is_start)
            search_relax(s, RELAX_VISITS, 1);
        is_start = false;
        adapt(h);
        search_repair(s);
        record(h);
        improve(h);
    } while (search_goes_on(s));
    bool is_found = h->is_found;
    *cost = h->cost;
    if (is_found)
        memcpy(choice, h->best, (size_t)p->n_nodes * sizeof *choice);
    arena_free(a);
    return is_found;
}
