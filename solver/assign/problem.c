// The price of a choice and the bound of a dual, by a problem's definition.
#include <stdlib.h>
#include <string.h>

#include "solver/assign/internal.h"

// ---- numbers ----

const char *wide_text(Wide x, char text[WIDE_DIGITS])
{
    char digits[WIDE_DIGITS] = "", *c = digits + WIDE_DIGITS - 1;

    for (Wide left_digits = x; left_digits || !*c; left_digits /= 10) {
        int digit = (int)(left_digits % 10);
        *--c = (char)('0' + (digit < 0 ? -digit : digit));
    }
    if (x < 0)
        *--c = '-';
    return strcpy(text, c);
}

// ---- choices ----

// Bytes that are added at a time, or freed if negative.
typedef struct Change {
    int time;
    int64_t bytes;
} Change;

static int compare_changes(const void *x, const void *y)
{
    const Change *p = x, *q = y;
    return p->time < q->time ? -1 : p->time > q->time;
}

// Finds the largest sum of bytes, after all changes of a time.
static void find_peak(Change *change, int n, ChoicePrice *price)
{
    int64_t bytes = 0;

    qsort(change, (size_t)n, sizeof *change, compare_changes);
    for (int i = 0; i < n; i++) {
        bytes += change[i].bytes;
        bool is_last = i + 1 == n || change[i + 1].time != change[i].time;
        if (is_last && bytes > price->peak) {
            price->peak = bytes;
            price->at = change[i].time;
        }
    }
}

ChoicePrice problem_price(const Problem *p, const int *choice)
{
    ChoicePrice price = {0};
    int n = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int k = p->first[i] + choice[i];
        price.is_forbidden |= is_forbidden(p->cost[k]);
        price.cost += p->cost[k];
        n += 2 * (p->first_live[k + 1] - p->first_live[k]);
    }
    for (int e = 0; e < p->n_edges; e++) {
        int64_t cost = edge_cost(p, &p->edge[e], choice[p->edge[e].a], choice[p->edge[e].b]);
        price.is_forbidden |= is_forbidden(cost);
        price.cost += cost;
    }
    Arena *scratch = arena_new();
    Change *change = arena_array(scratch, Change, n), *c = change;
    for (int i = 0; i < p->n_nodes; i++) {
        int k = p->first[i] + choice[i];
        for (const LiveBytes *u = p->live + p->first_live[k]; u < p->live + p->first_live[k + 1];
             u++) {
            *c++ = (Change){u->first, u->bytes};
            *c++ = (Change){u->last, -u->bytes};
        }
    }
    find_peak(change, n, &price);
    arena_free(scratch);
    if (price.is_forbidden)
        price.cost = 0;
    return price;
}

// ---- duals ----

// The sum of the prices at times before `time`. sum[i] is the sum of the first i prices.
static Wide price_before(const Dual *dual, const Wide *sum, int time)
{
    int low = 0, high = dual->n_times;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (dual->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return sum[low];
}

// Adds the least term of each node to the bound. False where every alternative of a node is
// forbidden.
static bool add_nodes(const Problem *p, const Dual *dual, const Wide *sum, const Wide *received,
                      Wide *bound)
{
    for (int i = 0; i < p->n_nodes; i++) {
        Wide least = WIDE_MAX;
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            Wide term = ((Wide)p->cost[k] * ((Wide)1 << dual->shift)) - received[k];
            for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
                term += p->live[u].bytes * (price_before(dual, sum, p->live[u].last) -
                                            price_before(dual, sum, p->live[u].first));
            if (!is_forbidden(p->cost[k]) && term < least)
                least = term;
        }
        if (least == WIDE_MAX)
            return false;
        *bound += least;
    }
    return true;
}

// Costs and messages of fewer bits than these can be summed in 64 bits.
enum { COST_BITS = 60, MESSAGE_BITS = 61 };

static Wide edge_least_wide(const int64_t *cost, int n, int m, const int64_t *message, int shift)
{
    Wide least = WIDE_MAX;

    for (int k = 0; k < n; k++)
        for (int l = 0; l < m; l++) {
            int64_t x = cost[k * m + l];
            Wide term = (Wide)x * ((Wide)1 << shift) + message[k] + message[n + l];
            if (!is_forbidden(x) && term < least)
                least = term;
        }
    return least;
}

// The least term of an edge, in 64 bits where that is enough. `row` has capacity 2 · m.
static Wide edge_least(const int64_t *cost, int n, int m, const int64_t *message, int shift,
                       int64_t *row)
{
    int64_t *least = row, *bits = row + m, best = INT64_MAX, of_costs = 0, of_messages = 0;

    for (int l = 0; l < m; l++) {
        least[l] = INT64_MAX;
        bits[l] = 0;
    }
    for (int k = 0; k < n; k++)
        shifted_row(cost + k * m, m, shift, message[k], least, bits);
    for (int l = 0; l < m; l++)
        of_costs |= bits[l];
    for (int i = 0; i < n + m; i++)
        of_messages |= magnitude(message[i]);
    if (of_costs >> (COST_BITS - shift) || of_messages >> MESSAGE_BITS)
        return edge_least_wide(cost, n, m, message, shift);
    for (int l = 0; l < m; l++)
        if (least[l] < INT64_MAX && least[l] + message[n + l] < best)
            best = least[l] + message[n + l];
    return best < INT64_MAX ? best : WIDE_MAX;
}

// Adds the least term of each edge to the bound, and sums the messages to each alternative. False
// where every pair of an edge is forbidden.
static bool add_edges(const Problem *p, const Dual *dual, Wide *received, int64_t *row, Wide *bound)
{
    const int64_t *message = dual->message;

    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++) {
        int n = n_alternatives(p, e->a), m = n_alternatives(p, e->b);
        Wide least = edge_least(e->cost, n, m, message, dual->shift, row);
        for (int k = 0; k < n; k++)
            received[p->first[e->a] + k] += message[k];
        for (int l = 0; l < m; l++)
            received[p->first[e->b] + l] += message[n + l];
        if (least == WIDE_MAX)
            return false;
        *bound += least;
        message += n + m;
    }
    return true;
}

Dual dual_prices(Arena *a, const Dual *d)
{
    Dual to = {.shift = d->shift, .n_times = d->n_times};

    to.time = arena_array(a, int, d->n_times);
    to.price = arena_array(a, int64_t, d->n_times);
    for (int t = 0; t < d->n_times; t++) {
        to.time[t] = d->time[t];
        to.price[t] = d->price[t];
    }
    return to;
}

Wide dual_bound(const Problem *p, const Dual *dual)
{
    Arena *scratch = arena_new();
    Wide *sum = arena_array(scratch, Wide, dual->n_times + 1);
    Wide *received = arena_array(scratch, Wide, p->n_nodes ? p->first[p->n_nodes] : 0);
    Wide bound = 0;
    int widest = 0;

    for (int i = 0; i < p->n_nodes; i++)
        widest = n_alternatives(p, i) > widest ? n_alternatives(p, i) : widest;
    int64_t *row = arena_array(scratch, int64_t, 2 * (size_t)widest);
    for (int i = 0; i < dual->n_times; i++)
        sum[i + 1] = sum[i] + dual->price[i];
    bool is_finite =
        add_edges(p, dual, received, row, &bound) && add_nodes(p, dual, sum, received, &bound);
    bound -= p->limit * sum[dual->n_times];
    arena_free(scratch);
    // An arithmetic shift rounds down; with two negations it rounds up.
    return is_finite ? -(-bound >> dual->shift) : WIDE_MAX;
}
