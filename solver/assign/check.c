// Checks the file of an answer against its instance. It recomputes everything in code of its own,
// and shares with the solver only the code that reads files: an error of the solver must not hide
// itself.
#include <stdlib.h>
#include <string.h>

#include "solver/assign/check.h"

typedef struct Check {
    const Problem *p;
    const Stored *s;
    Arena *a;
    Diag *d;
} Check;

// Checks that a number of the file equals the recomputed one.
static bool same(const Check *c, const char *name, Wide said, Wide found)
{
    char x[WIDE_DIGITS], y[WIDE_DIGITS];

    return said == found || answer_wrong(c->d, "'%s' is %s, but must be %s", name,
                                         wide_text(said, x), wide_text(found, y));
}

static bool is_word(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(s, *words))
            return true;
    return false;
}

// ---- the head ----

static bool check_head(const Check *c)
{
    static const char *const outcomes[] = {"proved", "found", "infeasible", NULL};
    static const char *const stops[] = {"done", "work", "time", "asked", NULL};
    const Stored *s = c->s;
    const char *name = c->p->name ? c->p->name : "";
    char hash[17];

    snprintf(hash, sizeof hash, "%016" PRIx64, c->p->hash);
    if (strcmp(s->hash, hash))
        return answer_wrong(c->d, "it answers another instance: hash '%s', expected '%s'", s->hash,
                            hash);
    if (strcmp(s->instance, name))
        return answer_wrong(c->d, "'instance' is '%s', expected '%s'", s->instance, name);
    if (!is_word(s->outcome, outcomes))
        return answer_wrong(c->d, "'outcome' is '%s', expected proved, found or infeasible",
                            s->outcome);
    if (!is_word(s->stop, stops))
        return answer_wrong(c->d, "'stop' is '%s', expected done, work, time or asked", s->stop);
    return s->seed >= 0 || answer_wrong(c->d, "'seed' is below 0");
}

// The second to last line holds the hash of the text before it.
static bool check_sum(const Check *c, File file)
{
    char tail[64];
    int n = snprintf(tail, sizeof tail, "  \"checksum\": \"%s\"\n}\n", c->s->checksum);

    if (n >= COUNT(tail) || file.size < (size_t)n ||
        memcmp(file.data + file.size - (size_t)n, tail, (size_t)n))
        return answer_wrong(c->d, "the file doesn't end in its checksum");
    char expected[17];
    snprintf(expected, sizeof expected, "%016" PRIx64,
             hash_bytes(file.data, file.size - (size_t)n, 0));
    return !strcmp(c->s->checksum, expected) ||
           answer_wrong(c->d, "the checksum is %s, but that of the text is %s", c->s->checksum,
                        expected);
}

// ---- the choice ----

static bool check_choice(const Check *c)
{
    const Problem *p = c->p;

    if (c->s->choice.n_x != p->n_nodes)
        return answer_wrong(c->d, "'choice' has %d nodes, the instance %d", c->s->choice.n_x,
                            p->n_nodes);
    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = c->s->choice.x[i];
        if (k < 0 || k >= p->first[i + 1] - p->first[i])
            return answer_wrong(c->d, "node %d has no alternative %" PRId64, i, k);
        if (p->cost[p->first[i] + k] >= COST_FORBIDDEN)
            return answer_wrong(c->d, "node %d: alternative %" PRId64 " is forbidden", i, k);
    }
    for (int e = 0; e < p->n_edges; e++) {
        int a = p->edge[e].a, b = p->edge[e].b, n = p->first[b + 1] - p->first[b];
        if (p->edge[e].cost[c->s->choice.x[a] * n + c->s->choice.x[b]] >= COST_FORBIDDEN)
            return answer_wrong(c->d, "nodes %d and %d: their choice is forbidden", a, b);
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

// The bytes that the choice holds at one time.
static Wide bytes_at(const Check *c, Wide time)
{
    const Problem *p = c->p;
    Wide bytes = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = p->first[i] + c->s->choice.x[i];
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++)
            if (p->live[u].first <= time && time < p->live[u].last)
                bytes += p->live[u].bytes;
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

// Visits the moments at which bytes begin to be held, in order of time. Bytes that have ended by
// then are subtracted first.
static Wide choice_peak(const Check *c)
{
    const Problem *p = c->p;
    int n = 0, ended = 0;
    int most = p->n_nodes ? p->first_live[p->first[p->n_nodes]] : 0;
    Moment *begin = arena_array(c->a, Moment, most), *end = arena_array(c->a, Moment, most);
    Wide bytes = 0, peak = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t k = p->first[i] + c->s->choice.x[i];
        for (int u = p->first_live[k]; u < p->first_live[k + 1]; u++, n++) {
            begin[n] = (Moment){p->live[u].first, p->live[u].bytes};
            end[n] = (Moment){p->live[u].last, p->live[u].bytes};
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

// ---- answers ----

static bool check_gap(const Check *c)
{
    const Stored *s = c->s;
    Wide size = s->cost < 0 ? -s->cost : s->cost;
    double gap = (double)(s->cost - s->bound) / (double)(size < 1 ? 1 : size);
    char text[64];

    snprintf(text, sizeof text, "%.17g", gap);
    if (strcmp(s->gap, text))
        return answer_wrong(c->d, "'gap' is %s, but must be %s", s->gap, text);
    bool is_proved = gap <= strtod(s->gap_wanted, NULL);
    return is_proved == !strcmp(s->outcome, "proved") ||
           answer_wrong(c->d, "'outcome' is '%s', but the gap is %s and the gap wanted is %s",
                        s->outcome, s->gap, s->gap_wanted);
}

static bool check_bound(const Check *c)
{
    static const char *const words[] = {"duals", "presolve", "branching", NULL};
    const Stored *s = c->s;
    Wide certified;

    if (!stored_bound(c->p, s, s->cost, &certified, c->d) ||
        !same(c, "certified", s->certified, certified))
        return false;
    if (s->certified > s->bound)
        return answer_wrong(c->d, "'certified' is above 'bound'");
    if (s->bound > s->cost)
        return answer_wrong(c->d, "'bound' is above 'cost'");
    if (!is_word(s->bound_by, words))
        return answer_wrong(c->d, "'bound_by' is '%s', expected duals, presolve or branching",
                            s->bound_by);
    if (!strcmp(s->bound_by, "duals") && s->bound != s->certified)
        return answer_wrong(c->d, "'bound' is said to come from the duals, but isn't 'certified'");
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
        return answer_wrong(c->d, "the choice needs more bytes than the limit");
    return same(c, "peak", s->peak, peak) &&
           (peak == 0 || same(c, "peak", s->peak, bytes_at(c, s->at))) && check_bound(c);
}

static bool check_infeasible(const Check *c)
{
    const Stored *s = c->s;

    if (s->least_bound <= c->p->limit)
        return answer_wrong(c->d, "'least_bound' isn't above the limit of %" PRId64, c->p->limit);
    if (!s->choice.n)
        return true;
    if (s->least < s->least_bound)
        return answer_wrong(c->d, "'least' is below 'least_bound'");
    return check_choice(c) && same(c, "least", s->least, choice_peak(c)) &&
           same(c, "least", s->least, bytes_at(c, s->at));
}

bool stored_check(File file, const Problem *p, Text *said, Diag *d)
{
    Stored s;
    Arena *a = arena_new();
    Check c = {p, &s, a, d};
    char cost[WIDE_DIGITS], bound[WIDE_DIGITS], certified[WIDE_DIGITS];

    bool ok = stored_read(a, file, &s, d) && check_sum(&c, file) && check_head(&c) &&
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
