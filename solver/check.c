// Holds the file of an answer against its instance. It recomputes everything in code of its own and
// shares with the solver only what reads files: an error of the solver must not hide itself.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "solver/internal.h"

typedef struct Check {
    const Problem *p;
    const Stored *s;
    Arena *a;
    Diag *d;
} Check;

static bool wrong(const Check *c, const char *fmt, ...) PRINTF(2, 3);

static bool wrong(const Check *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_verror(c->d, fmt, args);
    va_end(args);
    return false;
}

// What the file says must be what was found.
static bool same(const Check *c, const char *name, Wide said, Wide found)
{
    char x[WIDE_DIGITS], y[WIDE_DIGITS];

    return said == found || wrong(c, "'%s' is %s, but it comes to %s", name, wide_text(said, x),
                                  wide_text(found, y));
}

static bool is_word(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(s, *words))
            return true;
    return false;
}

// ---- which answer, of which instance ----

static bool check_head(const Check *c)
{
    static const char *const outcomes[] = {"proved", "found", "infeasible", NULL};
    static const char *const stops[] = {"done", "work", "time", "asked", NULL};
    const Stored *s = c->s;
    const char *name = c->p->name ? c->p->name : "";
    char hash[17];

    snprintf(hash, sizeof hash, "%016" PRIx64, c->p->hash);
    if (strcmp(s->hash, hash))
        return wrong(c, "it answers another instance: hash '%s', expected '%s'", s->hash, hash);
    if (strcmp(s->instance, name))
        return wrong(c, "'instance' is '%s', expected '%s'", s->instance, name);
    if (!is_word(s->outcome, outcomes))
        return wrong(c, "'outcome' is '%s'", s->outcome);
    if (!is_word(s->stop, stops))
        return wrong(c, "'stop' is '%s'", s->stop);
    return s->seed >= 0 || wrong(c, "'seed' is below 0");
}

// The last line but one holds the hash of all before it.
static bool check_sum(const Check *c, File file)
{
    char tail[64];
    int n = snprintf(tail, sizeof tail, "  \"checksum\": \"%s\"\n}\n", c->s->checksum);

    if (n >= COUNT(tail) || file.size < (size_t)n ||
        memcmp(file.data + file.size - (size_t)n, tail, (size_t)n))
        return wrong(c, "the file doesn't end in its checksum");
    char expected[17];
    snprintf(expected, sizeof expected, "%016" PRIx64,
             hash_bytes(file.data, file.size - (size_t)n, 0));
    return !strcmp(c->s->checksum, expected) ||
           wrong(c, "the checksum is %s, but that of the text is %s", c->s->checksum, expected);
}

// ---- the choice ----

static bool check_choice(const Check *c)
{
    const Problem *p = c->p;

    if (c->s->choice.n_x != p->n_nodes)
        return wrong(c, "'choice' has %d nodes, the instance %d", c->s->choice.n_x, p->n_nodes);
    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = c->s->choice.x[i];
        if (k < 0 || k >= p->first[i + 1] - p->first[i])
            return wrong(c, "node %d: alternative %" PRId64 " isn't there", i, k);
        if (p->cost[p->first[i] + k] >= COST_FORBIDDEN)
            return wrong(c, "node %d: alternative %" PRId64 " is forbidden", i, k);
    }
    for (int e = 0; e < p->n_edges; e++) {
        int a = p->edge[e].a, b = p->edge[e].b, n = p->first[b + 1] - p->first[b];
        if (p->edge[e].cost[c->s->choice.x[a] * n + c->s->choice.x[b]] >= COST_FORBIDDEN)
            return wrong(c, "nodes %d and %d: what is chosen is forbidden", a, b);
    }
    return true;
}

static Wide choice_cost(const Check *c)
{
    const Problem *p = c->p;
    Wide cost = 0;

    for (int i = 0; i < p->n_nodes; i++)
        cost += p->cost[p->first[i] + c->s->choice.x[i]];
    for (int e = 0; e < p->n_edges; e++) {
        int a = p->edge[e].a, b = p->edge[e].b, n = p->first[b + 1] - p->first[b];
        cost += p->edge[e].cost[c->s->choice.x[a] * n + c->s->choice.x[b]];
    }
    return cost;
}

// Bytes held at one time, node by node.
static Wide bytes_at(const Check *c, Wide time)
{
    const Problem *p = c->p;
    Wide bytes = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = p->first[i] + c->s->choice.x[i];
        for (int u = p->first_use[k]; u < p->first_use[k + 1]; u++)
            if (p->use[u].first <= time && time < p->use[u].last)
                bytes += p->use[u].bytes;
    }
    return bytes;
}

typedef struct Moment {
    int time;
    int64_t bytes;
} Moment;

static int compare_moments(const void *x, const void *y)
{
    int i = ((const Moment *)x)->time, j = ((const Moment *)y)->time;
    return i < j ? -1 : i > j;
}

// What begins is added in order of time, after what has ended by then is taken off.
static Wide choice_peak(const Check *c)
{
    const Problem *p = c->p;
    int n = 0, ended = 0;
    int most = p->n_nodes ? p->first_use[p->first[p->n_nodes]] : 0;
    Moment *begin = arena_array(c->a, Moment, most), *end = arena_array(c->a, Moment, most);
    Wide bytes = 0, peak = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = p->first[i] + c->s->choice.x[i];
        for (int u = p->first_use[k]; u < p->first_use[k + 1]; u++, n++) {
            begin[n] = (Moment){p->use[u].first, p->use[u].bytes};
            end[n] = (Moment){p->use[u].last, p->use[u].bytes};
        }
    }
    qsort(begin, (size_t)n, sizeof *begin, compare_moments);
    qsort(end, (size_t)n, sizeof *end, compare_moments);
    for (int i = 0; i < n; i++) {
        for (; end[ended].time <= begin[i].time; ended++)
            bytes -= end[ended].bytes;
        bytes += begin[i].bytes;
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

// ---- the duals ----

// With these sums below 2^62 no term of the bound leaves 128 bits: usages sum to less than 2^63,
// costs of 2^60 are shifted by 40 at most and there are less than 2^26 of them.
static bool check_prices(const Check *c)
{
    const Lists *times = &c->s->times, *prices = &c->s->prices;
    Wide sum = 0;

    if (times->n_x != prices->n_x)
        return wrong(c, "the duals have %d times, but %d prices", times->n_x, prices->n_x);
    for (int t = 0; t < times->n_x; t++) {
        if (times->x[t] < 0 || times->x[t] > INT_MAX || (t && times->x[t] <= times->x[t - 1]))
            return wrong(c, "the times of the duals don't ascend at %" PRId64, times->x[t]);
        if (prices->x[t] <= 0)
            return wrong(c, "a price of the duals is %" PRId64, prices->x[t]);
        sum += prices->x[t];
    }
    return sum < (Wide)1 << 62 || wrong(c, "the prices of the duals sum to 2^62 or more");
}

static bool check_duals(const Check *c)
{
    const Problem *p = c->p;
    const Lists *m = &c->s->messages;

    if (c->s->shift < 0 || c->s->shift > 40)
        return wrong(c, "the shift of the duals isn't from 0 to 40");
    if (m->n != p->n_edges)
        return wrong(c, "the duals have messages of %d edges, the instance has %d", m->n,
                     p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        int a = p->edge[e].a, b = p->edge[e].b;
        int expected = p->first[a + 1] - p->first[a] + p->first[b + 1] - p->first[b];
        if (list_size(m, e) != expected)
            return wrong(c, "edge %d has %d messages, expected %d", e, list_size(m, e), expected);
    }
    return check_prices(c);
}

// The sum of the prices from `first` to before `last`, times bytes.
static Wide rent(const Check *c, const Wide *before, const Use *u)
{
    const Lists *times = &c->s->times;
    int at[2];

    for (int i = 0; i < 2; i++) {
        int64_t time = i ? u->last : u->first;
        int from = 0, to = times->n_x;
        while (from < to) {
            int middle = from + (to - from) / 2;
            if (times->x[middle] >= time)
                to = middle;
            else
                from = middle + 1;
        }
        at[i] = from;
    }
    return (before[at[1]] - before[at[0]]) * u->bytes;
}

// The edges' part of the bound; received[k] becomes the sum of what alternative k is sent.
static bool edges_part(const Check *c, Wide *received, Wide *sum)
{
    const Problem *p = c->p;
    const Wide unit = (Wide)1 << c->s->shift;

    for (int e = 0; e < p->n_edges; e++) {
        const int64_t *to_a = list_at(&c->s->messages, e), *cost = p->edge[e].cost;
        int a = p->first[p->edge[e].a], b = p->first[p->edge[e].b];
        int n = p->first[p->edge[e].a + 1] - a, m = p->first[p->edge[e].b + 1] - b;
        const int64_t *to_b = to_a + n;
        bool is_any = false;
        Wide least = 0;
        for (int k = 0; k < n; k++)
            for (int l = 0; l < m; l++) {
                if (cost[k * m + l] >= COST_FORBIDDEN)
                    continue;
                Wide x = unit * cost[k * m + l] + to_a[k] + to_b[l];
                least = is_any && least < x ? least : x;
                is_any = true;
            }
        for (int k = 0; k < n; k++)
            received[a + k] += to_a[k];
        for (int l = 0; l < m; l++)
            received[b + l] += to_b[l];
        if (!is_any)
            return wrong(c, "edge %d forbids everything", e);
        *sum += least;
    }
    return true;
}

static Wide nodes_part(const Check *c, const Wide *received, const Wide *before)
{
    const Problem *p = c->p;
    const Wide unit = (Wide)1 << c->s->shift;
    Wide sum = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        bool is_any = false;
        Wide least = 0;
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            if (p->cost[k] >= COST_FORBIDDEN)
                continue;
            Wide x = unit * p->cost[k] - received[k];
            for (int u = p->first_use[k]; u < p->first_use[k + 1]; u++)
                x += rent(c, before, &p->use[u]);
            least = is_any && least < x ? least : x;
            is_any = true;
        }
        sum += least;  // the choice has shown that one is allowed
    }
    return sum;
}

static bool certify(const Check *c, Wide *bound)
{
    const Problem *p = c->p;
    int n = c->s->times.n_x;
    Wide *received = arena_array(c->a, Wide, p->n_nodes ? p->first[p->n_nodes] : 0);
    Wide *before = arena_array(c->a, Wide, n + 1), sum = 0;

    if (!check_duals(c) || !edges_part(c, received, &sum))
        return false;
    for (int t = 0; t < n; t++)
        before[t + 1] = before[t] + c->s->prices.x[t];
    sum += nodes_part(c, received, before) - before[n] * p->limit;
    Wide unit = (Wide)1 << c->s->shift;
    *bound = sum / unit + (sum % unit > 0);  // rounded up, as costs are whole
    return true;
}

// ---- the whole ----

static bool check_gap(const Check *c)
{
    const Stored *s = c->s;
    Wide size = s->cost < 0 ? -s->cost : s->cost;
    double gap = (double)(s->cost - s->bound) / (double)(size < 1 ? 1 : size);
    char text[64];

    snprintf(text, sizeof text, "%.17g", gap);
    if (strcmp(s->gap, text))
        return wrong(c, "'gap' is %s, but it comes to %s", s->gap, text);
    bool is_proved = gap <= strtod(s->gap_wanted, NULL);
    return is_proved == !strcmp(s->outcome, "proved") ||
           wrong(c, "'outcome' is '%s', but the gap is %s and wanted is %s", s->outcome, s->gap,
                 s->gap_wanted);
}

static bool check_bound(const Check *c)
{
    static const char *const words[] = {"duals", "presolve", "branching", NULL};
    const Stored *s = c->s;
    Wide certified;

    if (!certify(c, &certified) || !same(c, "certified", s->certified, certified))
        return false;
    if (s->certified > s->bound)
        return wrong(c, "'certified' is above 'bound'");
    if (s->bound > s->cost)
        return wrong(c, "'bound' is above 'cost'");
    if (!is_word(s->bound_by, words))
        return wrong(c, "'bound_by' is '%s'", s->bound_by);
    if (!strcmp(s->bound_by, "duals") && s->bound != s->certified)
        return wrong(c, "'bound' is said to come from the duals, but isn't 'certified'");
    return check_gap(c);
}

static bool check_found(const Check *c)
{
    const Stored *s = c->s;
    Wide peak;

    if (!check_choice(c) || !same(c, "cost", s->cost, choice_cost(c)))
        return false;
    peak = choice_peak(c);
    if (peak > c->p->limit)
        return wrong(c, "the choice holds more bytes than the limit");
    return same(c, "peak", s->peak, peak) &&
           (peak == 0 || same(c, "peak", s->peak, bytes_at(c, s->at))) && check_bound(c);
}

static bool check_infeasible(const Check *c)
{
    const Stored *s = c->s;

    if (s->least_bound <= c->p->limit)
        return wrong(c, "'least_bound' isn't above the limit of %" PRId64, c->p->limit);
    if (!s->choice.n)
        return true;
    if (s->least < s->least_bound)
        return wrong(c, "'least' is below 'least_bound'");
    return check_choice(c) && same(c, "least", s->least, choice_peak(c)) &&
           same(c, "least", s->least, bytes_at(c, s->at));
}

bool stored_check(File file, const Problem *p, Text *said, Diag *d)
{
    Stored s;
    Arena *a = arena_new();
    Check c = {p, &s, a, d};
    char cost[WIDE_DIGITS], bound[WIDE_DIGITS], certified[WIDE_DIGITS];

    bool ok = stored_read(file, &s, a, d) && check_sum(&c, file) && check_head(&c) &&
              (s.is_infeasible ? check_infeasible(&c) : check_found(&c));
    if (ok && s.is_infeasible)
        text_printf(said, "infeasible, least bound %s", wide_text(s.least_bound, bound));
    else if (ok)
        text_printf(said, "%s, cost %s, bound %s (by %s), certified %s", s.outcome,
                    wide_text(s.cost, cost), wide_text(s.bound, bound), s.bound_by,
                    wide_text(s.certified, certified));
    arena_free(a);
    return ok;
}

bool answer_check(const char *path, const Problem *p, Text *said, Diag *d)
{
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool ok = stored_check(f, p, said, d);
    file_unmap(&f);
    return ok;
}
