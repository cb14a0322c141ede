// Prints what a run measured, next to what was predicted.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/run_file.h"

// The sum of calls that have one name.
typedef struct Sum {
    const char *name, *axis;
    int64_t calls;
    double predicted, measured;
    double sent, seconds, waits;  // of collectives: `seconds` are the rank's own
} Sum;

// ---- names ----

// The operators of a call: "h.{}.mlp: add mul ... f32[4,16]" gives "add mul ...".
static const char *operators_of(Arena *a, const RunCall *c)
{
    const char *scope = strstr(c->what, ": "), *begin = scope ? scope + 2 : c->what;
    const char *type = strrchr(begin, ' ');

    return arena_string(a, "%.*s", (int)(type ? type - begin : (int)strlen(begin)), begin);
}

static const char *block_of(Arena *a, const RunCall *c)
{
    (void)a;
    return c->block ? c->block : "outside blocks";
}

// The collective that a call carries out, starts or waits for.
static const char *collective_of(Arena *a, const RunCall *c)
{
    const char *s = operators_of(a, c), *last = strrchr(s, ' ');

    return last ? last + 1 : s;
}

// ---- sums ----

typedef struct Sums {
    Sum *sum;
    int n;
    Map number;  // by name and axis: that of the sum, from 1
} Sums;

static Sums sums_new(Arena *a, const RunFile *f)
{
    return (Sums){.sum = arena_array(a, Sum, f->n_calls), .number.arena = a};
}

static Sum *find(Sums *s, const char *name, const char *axis)
{
    const char *key = arena_string(s->number.arena, "%s %s", name, axis);
    int i = map_get(&s->number, key);

    if (i)
        return &s->sum[i - 1];
    s->sum[s->n] = (Sum){.name = name, .axis = axis};
    map_set(&s->number, key, ++s->n);
    return &s->sum[s->n - 1];
}

static double miss_of(const Sum *x) { return x->measured - x->predicted; }

// The largest misses first; without predictions, the longest.
static int by_miss(const void *x, const void *y)
{
    const Sum *a = x, *b = y;
    double more = fabs(miss_of(b)) - fabs(miss_of(a));

    return more > 0 ? 1 : more < 0 ? -1 : strcmp(a->name, b->name);
}

static Sums add_up(Arena *a, const RunFile *f, const char *(*name)(Arena *, const RunCall *))
{
    Sums s = sums_new(a, f);

    for (int i = 0; i < f->n_calls; i++) {
        const RunCall *c = &f->call[i];
        Sum *to = find(&s, name(a, c), "");
        to->calls += c->calls;
        to->predicted += c->predicted;
        to->measured += c->seconds;
    }
    qsort(s.sum, (size_t)s.n, sizeof *s.sum, by_miss);
    return s;
}

// A rank's own time is that of the call, or of the start and the wait. Ranks that come early wait
// for the last one, which is the fastest then.
static Sums add_up_collectives(Arena *a, const RunFile *f)
{
    Sums s = sums_new(a, f);

    for (int i = 0; i < f->n_calls; i++) {
        const RunCall *c = &f->call[i];
        if (!c->axis)
            continue;
        Sum *to = find(&s, collective_of(a, c), c->axis);
        to->calls += c->sent > 0 ? c->calls : 0;
        to->predicted += c->predicted_exchange;
        to->measured += c->exchange;
        to->sent += c->sent;
        to->seconds += c->seconds;
        to->waits += c->seconds - c->fastest;
    }
    qsort(s.sum, (size_t)s.n, sizeof *s.sum, by_miss);
    return s;
}

static Sum total_of(const Sum *sum, int n, const char *name)
{
    Sum all = {.name = name, .axis = ""};

    for (int i = 0; i < n; i++) {
        all.calls += sum[i].calls;
        all.predicted += sum[i].predicted;
        all.measured += sum[i].measured;
        all.sent += sum[i].sent;
        all.seconds += sum[i].seconds;
        all.waits += sum[i].waits;
    }
    return all;
}

// ---- cells ----

// A program that was compiled without a cluster predicts nothing.
static bool is_predicted(const RunFile *f)
{
    for (int i = 0; i < f->n_calls; i++)
        if (f->call[i].predicted > 0)
            return true;
    return false;
}

static const char *predicted_text(Arena *a, const RunFile *f, const Sum *x)
{
    return is_predicted(f) ? time_text(a, x->predicted) : "-";
}

static const char *miss_text(Arena *a, const RunFile *f, const Sum *x)
{
    return is_predicted(f)
               ? arena_string(a, "%s%s", miss_of(x) > 0 ? "+" : "", time_text(a, miss_of(x)))
               : "-";
}

static const char *ratio_text(Arena *a, double measured, double predicted)
{
    double ratio = predicted > 0 ? measured / predicted : 0;

    return predicted > 0 ? arena_string(a, "%.*f", ratio < 100 ? 2 : 0, ratio) : "-";
}

static const char *share_text(Arena *a, double seconds, const RunFile *f)
{
    return arena_string(a, "%.1f %%", f->seconds > 0 ? 100 * seconds / f->seconds : 0);
}

// ---- tables ----

enum { MAX_ROWS = 30 };  // of a table; the last one is the sum of others

static void add_row(Columns *c, const RunFile *f, const Sum *x)
{
    Arena *a = c->arena;

    columns_add_row(c,
                    (const char *[]){x->name, arena_string(a, "%" PRId64, x->calls),
                                     predicted_text(a, f, x), time_text(a, x->measured),
                                     miss_text(a, f, x), ratio_text(a, x->measured, x->predicted),
                                     share_text(a, x->measured, f)});
}

static void add_collective(Columns *c, const RunFile *f, const Sum *x)
{
    Arena *a = c->arena;

    columns_add_row(c, (const char *[]){x->name, x->axis, arena_string(a, "%" PRId64, x->calls),
                                        bytes_text(a, x->sent), predicted_text(a, f, x),
                                        time_text(a, x->measured), miss_text(a, f, x),
                                        ratio_text(a, x->measured, x->predicted),
                                        time_text(a, x->seconds), share_text(a, x->seconds, f),
                                        time_text(a, x->waits)});
}

// Adds the first sums, those that are left as one, and all together.
static void add_rows(Columns *c, const RunFile *f, const Sums *s, const char *all,
                     void (*add)(Columns *, const RunFile *, const Sum *))
{
    const Sum *sum = s->sum;
    int n = s->n, shown = n > MAX_ROWS ? MAX_ROWS - 1 : n;
    Sum left = total_of(sum + shown, n - shown, arena_string(c->arena, "%d others", n - shown));
    Sum total = total_of(sum, n, all);

    for (int i = 0; i < shown; i++)
        add(c, f, &sum[i]);
    if (shown < n)
        add(c, f, &left);
    add(c, f, &total);
    printf("\n");
    columns_print(c);
}

static void print_sums(Arena *a, const RunFile *f, const char *title,
                       const char *(*name)(Arena *, const RunCall *))
{
    Columns c = {.arena = a, .n_columns = 7};
    Sums s = add_up(a, f, name);

    columns_add_row(&c, (const char *[]){title, "calls", "predicted", "measured", "miss", "ratio",
                                         "of the step"});
    add_rows(&c, f, &s, "all calls", add_row);
}

static void print_collectives(Arena *a, const RunFile *f)
{
    Columns c = {.arena = a, .n_columns = 11};
    Sums s = add_up_collectives(a, f);

    if (!s.n)
        return;
    columns_add_row(&c, (const char *[]){"collective", "axis", "calls", "input of a rank",
                                         "predicted", "measured", "miss", "ratio", "exposed",
                                         "of the step", "waits"});
    add_rows(&c, f, &s, "all collectives", add_collective);
}

// ---- the head ----

static void print_step(Arena *a, const RunFile *f, const PlanFile *p)
{
    double predicted = p ? p->simulated > 0 ? p->simulated : p->seconds : 0, calls = 0, sum = 0;

    for (int i = 0; i < f->n_calls; i++) {
        calls += f->call[i].seconds;
        sum += f->call[i].predicted;
    }
    printf("%-9s %s measured", "step", time_text(a, f->seconds));
    if (predicted > 0)
        printf(", %s predicted, ratio %s", time_text(a, predicted),
               ratio_text(a, f->seconds, predicted));
    printf("\n%-9s %s measured", "calls", time_text(a, calls));
    if (sum > 0)
        printf(", %s predicted, ratio %s", time_text(a, sum), ratio_text(a, calls, sum));
    else
        printf("; a program that was compiled with --cluster has predictions");
    printf("; %s of the step outside of them\n", time_text(a, fmax(0, f->seconds - calls)));
}

void run_print(Arena *a, const char *name, const RunFile *f, const PlanFile *p)
{
    printf("%s   %s: %s; mean of %d step%s\n", name, f->program, f->plan, f->steps,
           f->steps == 1 ? "" : "s");
    print_step(a, f, p);
    print_sums(a, f, "block", block_of);
    print_sums(a, f, "operators", operators_of);
    print_collectives(a, f);
}

bool run_show(Arena *a, const char *log, const PlanFile *p)
{
    Diag d = {.file = base_name(log)};
    RunFile f;

    if (!run_file_open(a, log, &f, &d) || (p && !run_file_check(a, &f, p, &d)))
        return false;
    run_print(a, base_name(log), &f, p);
    return true;
}
