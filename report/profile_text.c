// Prints a profile as tables for people.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"

// The sum of the statements that have these texts.
typedef struct Sum {
    const char *name, *phase;
    int statements;
    int64_t runs;
    StatementWork work;
} Sum;

static char *flops_text(Arena *a, double n)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    int u = 0;

    for (; n >= 1000 && u < COUNT(units) - 1; u++)
        n /= 1000;
    return arena_string(a, u ? "%.3g %sFLOP" : "%.0f %sFLOP", n, units[u]);
}

static char *percent_text(Arena *a, double part, double whole)
{
    return arena_string(a, "%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

// ---- work ----

static void add_work(Sum *to, const StatementWork *w, int64_t runs)
{
    to->statements++;
    to->runs += runs;
    to->work.flops += w->flops;
    to->work.read += w->read;
    to->work.written += w->written;
    to->work.sent += w->sent;
    to->work.seconds += w->seconds;
}

// The operators of an item in at most 40 columns. Kernels are told by their operator.
static const char *operators_title(const Profile *f, const Item *it)
{
    enum { COLUMNS = 40 };
    const char *s = profile_operators(f, it);
    int n = (int)strlen(s);

    if (n <= COLUMNS)
        return s;
    for (n = COLUMNS - 4; n > 0 && s[n] != ' ';)
        n--;
    return arena_string(f->arena, "%.*s ...", n, s);
}

static int find_sum(const Sum *sum, int n, const char *name, const char *phase)
{
    int i = 0;

    while (i < n && (strcmp(sum[i].name, name) || strcmp(sum[i].phase, phase)))
        i++;
    return i;
}

// Adds up the statements by name and phase, in the order of their first one.
static int add_up(const Profile *f, ProfileBy by, Sum *sum, Sum *total)
{
    int n = 0;

    for (int i = 0; i < f->s->n_items; i++) {
        const Item *it = &f->s->items[i];
        if (!f->times[i])
            continue;
        const char *name = by == PROFILE_BY_BLOCK ? profile_block(f, it) : operators_title(f, it);
        const char *phase = profile_phase(f, it);
        int k = find_sum(sum, n, name, phase);
        n += k == n;
        sum[k].name = name;
        sum[k].phase = phase;
        StatementWork w = profile_work(f, i);
        add_work(&sum[k], &w, f->times[i]);
        add_work(total, &w, f->times[i]);
    }
    return n;
}

// Sorts by seconds or, where there are none, by flops; then by bytes.
static int by_work(const void *x, const void *y)
{
    const StatementWork *a = &((const Sum *)x)->work, *b = &((const Sum *)y)->work;
    double more[] = {b->seconds - a->seconds, b->flops - a->flops,
                     b->read + b->written - a->read - a->written};

    for (int i = 0; i < COUNT(more); i++)
        if (more[i] < 0 || more[i] > 0)
            return more[i] < 0 ? -1 : 1;
    const Sum *one = x, *other = y;
    int order = strcmp(one->name, other->name);
    return order ? order : strcmp(one->phase, other->phase);
}

static void add_sum(Columns *c, const Profile *f, const Sum *x, const Sum *total)
{
    Arena *a = f->arena;
    bool has_time = f->cluster;
    double part = has_time ? x->work.seconds : x->work.flops;
    double whole = has_time ? total->work.seconds : total->work.flops;

    columns_add_row(c, (const char *[]){x->name, x->phase, arena_string(a, "%d", x->statements),
                                        arena_string(a, "%" PRId64, x->runs),
                                        flops_text(a, x->work.flops), bytes_text(a, x->work.read),
                                        bytes_text(a, x->work.written),
                                        x->work.sent > 0 ? bytes_text(a, x->work.sent) : "-",
                                        has_time ? time_text(a, x->work.seconds) : "-",
                                        percent_text(a, part, whole)});
}

static void print_work(const Profile *f, ProfileBy by)
{
    Columns c = {.arena = f->arena, .n_columns = 10};
    Sum *sum = arena_array(f->arena, Sum, f->s->n_items + 1), total = {.name = "all"};
    int n = add_up(f, by, sum, &total);

    if (by == PROFILE_BY_OPERATOR)
        qsort(sum, (size_t)n, sizeof *sum, by_work);
    columns_add_row(&c, (const char *[]){by == PROFILE_BY_BLOCK ? "block" : "operators", "phase",
                                         "statements", "runs", "flops", "read", "written", "sent",
                                         "time", f->cluster ? "of the time" : "of the flops"});
    for (int i = 0; i < n; i++)
        add_sum(&c, f, &sum[i], &total);
    add_sum(&c, f, &total, &total);
    columns_print(&c);
}

static void print_step(const Profile *f)
{
    Arena *a = f->arena;

    if (!f->cluster)
        return;
    Simulated x = program_simulate(f->p, (int)(f->s - f->p->set), f->cluster);
    double exposed = fmax(0, x.seconds - x.compute);  // rounding of sums may make it negative
    printf("%-13s %s = compute %s + exposed communication %s (%s hidden)\n", "simulated",
           time_text(a, x.seconds), time_text(a, x.compute), time_text(a, exposed),
           time_text(a, fmax(0, x.communication - exposed)));
}

void profile_print(const Profile *f, ProfileBy by)
{
    print_step(f);
    printf("\n");
    if (by == PROFILE_BY_TIME)
        profile_print_memory(f);
    else
        print_work(f, by);
}
