// shardcc diff: prints where two plans differ.
#include <string.h>

#include "driver/internal.h"
#include "report/report.h"

typedef struct Request {
    const char *input[2];
} Request;

static const OptionDef options[] = {{"--help", NULL, &option_help, 0, "print this text"}};

static const Command command = {
    "shardcc diff A.plan.json B.plan.json\n\n"
    "Compares two plans: their costs, their memory, the specs of values and the strategies of\n"
    "nodes.\n\n",
    options,
    COUNT(options),
    "plan",
    2,
    offsetof(Request, input),
    "0 the plans are the same, 3 they differ, 2 wrong options, 1 any other error"};

enum { EXIT_DIFFER = 3 };

// ---- rows ----

static void add(Columns *c, const char *what, const char *a, const char *b)
{
    columns_add(c, what);
    columns_add(c, a);
    columns_add(c, b);
}

static char *mesh_text(Arena *a, const PlanFile *f)
{
    Text t = {0};

    for (int i = 0; i < f->n_axes; i++)
        text_printf(&t, "%s%s=%d", i ? "," : "", f->axis[i].name, f->axis[i].size);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

static const char *target_text(const PlanFile *f)
{
    return f->target ? f->target : target_default()->name;
}

static const char *threads_text(Arena *a, const PlanFile *f)
{
    return f->threads ? arena_string(a, "%d", f->threads) : "all";
}

// Adds a row for each entry of the lists of what runs again.
static void add_keeps(Arena *a, Columns *c, const PlanFile *x, const PlanFile *y)
{
    for (int i = 0; i < x->n_keep || i < y->n_keep; i++)
        add(c, i ? "" : "again", i < x->n_keep ? plan_keep_text(a, &x->keep[i]) : "-",
            i < y->n_keep ? plan_keep_text(a, &y->keep[i]) : "-");
}

static void totals(Arena *a, Columns *c, const PlanFile *x, const PlanFile *y)
{
    add(c, "mesh", mesh_text(a, x), mesh_text(a, y));
    add(c, "recompute", x->recompute, y->recompute);
    add_keeps(a, c, x, y);
    add(c, "step", time_text(a, x->seconds), time_text(a, y->seconds));
    if (x->simulated > 0 && y->simulated > 0)
        add(c, "simulated", time_text(a, x->simulated), time_text(a, y->simulated));
    add(c, "compute", time_text(a, x->compute), time_text(a, y->compute));
    add(c, "communication", time_text(a, x->communication), time_text(a, y->communication));
    add(c, "bound", time_text(a, x->bound), time_text(a, y->bound));
    if (x->target || y->target)
        add(c, "target", target_text(x), target_text(y));
    if (x->threads || y->threads)
        add(c, "threads", threads_text(a, x), threads_text(a, y));
    add(c, "memory", bytes_text(a, (double)x->bytes), bytes_text(a, (double)y->bytes));
    for (int i = 0; i < x->n_memory_parts; i++)
        for (int k = 0; k < y->n_memory_parts; k++)
            if (!strcmp(x->memory_part[i].kind, y->memory_part[k].kind))
                add(c, x->memory_part[i].kind, bytes_text(a, (double)x->memory_part[i].bytes),
                    bytes_text(a, (double)y->memory_part[k].bytes));
}

static char *entry_text(Arena *a, const PlanEntry *e)
{
    Text t = {0};

    if (!e)
        return "-- missing --";
    text_printf(&t, "%s", e->spec);
    for (int k = 0; k < 3; k++)
        if (e->compute_spec[k])
            text_printf(&t, ", %s %s", phase_names[k], e->compute_spec[k]);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

// Adds a row for each entry that differs between two lists, or is only in one. Returns how many.
static int entries(Arena *a, Columns *c, const PlanEntry *x, int n, const PlanEntry *y, int m)
{
    Map at = {.arena = a}, seen = {.arena = a};
    int differ = 0;

    for (int i = 0; i < m; i++)
        map_set(&at, y[i].name, i + 1);
    for (int i = 0; i < n; i++) {
        int k = map_get(&at, x[i].name);
        const char *one = entry_text(a, &x[i]), *other = entry_text(a, k ? &y[k - 1] : NULL);
        map_set(&seen, x[i].name, 1);
        if (strcmp(one, other)) {
            add(c, x[i].name, one, other);
            differ++;
        }
    }
    for (int i = 0; i < m; i++)
        if (!map_get(&seen, y[i].name)) {
            add(c, y[i].name, entry_text(a, NULL), entry_text(a, &y[i]));
            differ++;
        }
    return differ;
}

// ---- the command ----

static int show(Arena *a, const Request *r, const PlanFile *x, const PlanFile *y)
{
    Columns c = {.arena = a, .n_columns = 3};

    add(&c, "", base_name(r->input[0]), base_name(r->input[1]));
    totals(a, &c, x, y);
    add(&c, "", "", "");
    add(&c, "values", "", "");
    int n = entries(a, &c, x->value, x->n_values, y->value, y->n_values);
    add(&c, "", "", "");
    add(&c, "nodes", "", "");
    n += entries(a, &c, x->node, x->n_nodes, y->node, y->n_nodes);
    columns_print(&c);
    printf("\n");
    if (x->model_hash != y->model_hash)
        printf("the plans are for different graphs\n");
    printf("%d of %d values and nodes differ\n", n, x->n_values + x->n_nodes);
    bool is_same = !n && x->model_hash == y->model_hash && !strcmp(x->recompute, y->recompute) &&
                   plan_keeps_equal(a, x->keep, x->n_keep, y->keep, y->n_keep);
    return is_same ? 0 : EXIT_DIFFER;
}

int diff(Arena *a, int argc, char **argv)
{
    PlanFile f[2];
    Request r = {{NULL}};
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status))
        return status;
    if (!r.input[1]) {
        complain(&status, "expected two plans, found %s; --help tells more",
                 r.input[0] ? "one" : "none");
        return status;
    }
    for (int i = 0; i < 2; i++) {
        Diag d = {.file = base_name(r.input[i])};
        if (!plan_file_open(a, r.input[i], &f[i], &d))
            return EXIT_USER;
    }
    return show(a, &r, &f[0], &f[1]);
}
