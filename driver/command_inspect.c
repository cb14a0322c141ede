// shardcc inspect: prints a plan, and what a run of it measured, as tables for people, from their
// files alone.
#include <stdlib.h>
#include <string.h>

#include "driver/internal.h"
#include "report/report.h"

typedef struct Request {
    const char *input, *values, *explain, *run;
    int block;  // 0: none
} Request;

#define AT(field) offsetof(Request, field)

static const OptionDef options[] = {
    {"--values", "GLOB", &option_text, AT(values),
     "show values by their names (* any text, ? any letter)"},
    {"--explain", "NAME", &option_text, AT(explain),
     "explain why this value has its spec, and what that costs"},
    {"--block", "N", &option_count, AT(block), "show the nodes of the N-th repeated block",
     .max = 1 << 20},
    {"--run", "FILE.jsonl", &option_text, AT(run),
     "show what a run measured, the --log of a trainer with --profile, next to what was predicted; "
     "without a plan, of any program"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc inspect FILE.plan.json [--values GLOB] [--explain NAME] [--block N]\n"
    "shardcc inspect [FILE.plan.json] --run FILE.jsonl\n\n"
    "Shows a plan: the time of a step, the memory, the specs of parameters, and the collectives.\n"
    "docs/plan.md explains the tables.\n\n",
    options,
    COUNT(options),
    "plan",
    1,
    AT(input)};

// ---- cells ----

// Returns a title like "model.layers (x32)".
static char *block_title(Arena *a, const PlanFile *f, int block)
{
    return arena_string(a, "%s (x%d)", block_name(a, f, block), f->block[block - 1].layers);
}

// Returns an entry's name without the prefix of its block, like "model.layers.0.".
static const char *short_name(const PlanFile *f, const PlanEntry *e)
{
    const char *prefix = e->block ? f->block[e->block - 1].name : "";
    size_t n = strlen(prefix), digits;

    if (!n || strncmp(e->name, prefix, n) || e->name[n] != '.')
        return e->name;
    digits = strspn(e->name + n + 1, "0123456789");
    return digits && e->name[n + 1 + digits] == '.' ? e->name + n + digits + 2 : e->name;
}

static char *next_text(Arena *a, const PlanEntry *e)
{
    char *pin = strcmp(e->spec, e->solved) ? arena_string(a, ", pinned: %s was best", e->solved)
                : e->pin                   ? ", pinned"
                                           : "";

    if (!e->next)
        return arena_string(a, "none%s", pin);
    return arena_string(a, "%s %s%s%s", e->next, e->next_seconds < 0 ? "" : "+",
                        time_text(a, e->next_seconds), pin);
}

// Returns the storage spec of a parameter's optimizer states; NULL if it is the parameter's own.
static const char *states_of(const PlanFile *f, const PlanEntry *e)
{
    size_t n = strlen(e->name);

    for (int i = 0; i < f->n_values; i++) {
        const PlanEntry *s = &f->value[i];
        if (!strcmp(s->kind, "state") && !strncmp(s->name, e->name, n) && s->name[n] == '.' &&
            strcmp(s->spec, e->spec))
            return s->spec;
    }
    return NULL;
}

// ---- tables ----

static bool is_parameter(const PlanEntry *e)
{
    return !strcmp(e->kind, "parameter") || !strcmp(e->kind, "buffer");
}

static void parameters_of(Arena *a, const PlanFile *f, int block)
{
    Columns c = {.arena = a, .n_columns = 6};

    for (int i = 0; i < f->n_values; i++) {
        const PlanEntry *e = &f->value[i];
        if (!is_parameter(e) || e->block != block)
            continue;
        if (!c.n_texts)
            columns_add_row(
                &c, (const char *[]){block ? block_title(a, f, block) : "outside blocks", "shape",
                                     "storage spec", "states", "compute spec", "next best"});
        columns_add_row(&c, (const char *[]){short_name(f, e), e->type, e->spec, states_of(f, e),
                                             e->read, next_text(a, e)});
    }
    if (c.n_texts)
        printf("\n");
    columns_print(&c);
}

// The sum of a step's collectives with the same kind, axis and phase.
typedef struct Sent {
    const PlanCollective *of;
    int64_t times;
    double bytes, seconds;
} Sent;

static int by_seconds(const void *x, const void *y)
{
    const Sent *a = x, *b = y;

    return a->seconds < b->seconds ? 1 : a->seconds > b->seconds ? -1 : 0;
}

static int add_up(const PlanFile *f, Sent *t)
{
    int n = 0;

    for (int i = 0; i < f->n_collectives; i++) {
        const PlanCollective *c = &f->collective[i];
        int k = 0;
        while (k < n && (strcmp(t[k].of->kind, c->kind) || strcmp(t[k].of->axis, c->axis) ||
                         strcmp(t[k].of->phase, c->phase)))
            k++;
        n += k == n;
        t[k].of = t[k].of ? t[k].of : c;
        bool is_sent = !c->bucket || !i || f->collective[i - 1].bucket != c->bucket;
        t[k].times += is_sent ? c->times : 0;
        t[k].bytes += (double)c->times * (double)c->bytes;
        t[k].seconds += c->seconds;
    }
    qsort(t, (size_t)n, sizeof *t, by_seconds);
    return n;
}

static void traffic(Arena *a, const PlanFile *f)
{
    Columns c = {.arena = a, .n_columns = 6};
    Sent *t = arena_array(a, Sent, f->n_collectives);
    int n = add_up(f, t);

    if (!n)
        return;
    columns_add_row(
        &c, (const char *[]){"collective", "axis", "phase", "calls", "input of a rank", "time"});
    for (int i = 0; i < n; i++)
        columns_add_row(&c,
                        (const char *[]){t[i].of->kind, t[i].of->axis, t[i].of->phase,
                                         arena_string(a, "%" PRId64, t[i].times),
                                         bytes_text(a, t[i].bytes), time_text(a, t[i].seconds)});
    printf("\n");
    columns_print(&c);
}

static void values(Arena *a, const PlanFile *f, const char *glob)
{
    Columns c = {.arena = a, .n_columns = 8};

    columns_add_row(&c, (const char *[]){"value", "kind", "shape", "storage spec", "compute spec",
                                         "bytes", "collectives", "next best"});
    for (int i = 0; i < f->n_values; i++) {
        const PlanEntry *e = &f->value[i];
        if (glob_match(glob, e->name))
            columns_add_row(&c, (const char *[]){e->name, e->kind, e->type, e->spec, e->read,
                                                 e->bytes ? bytes_text(a, (double)e->bytes) : "",
                                                 e->seconds > 0 ? time_text(a, e->seconds) : "",
                                                 next_text(a, e)});
    }
    columns_print(&c);
}

static void nodes(Arena *a, const PlanFile *f, int block)
{
    Columns c = {.arena = a, .n_columns = 7};

    columns_add_row(&c, (const char *[]){block_title(a, f, block), "operator", "rule", "phase",
                                         "strategy", "time", "next best"});
    for (int i = 0; i < f->n_nodes; i++) {
        const PlanEntry *e = &f->node[i];
        if (e->block == block)
            columns_add_row(&c,
                            (const char *[]){short_name(f, e), e->kind, e->type, e->phase, e->spec,
                                             e->seconds > 0 ? time_text(a, e->seconds) : "",
                                             next_text(a, e)});
    }
    columns_print(&c);
}

// ---- the command ----

static bool show(Arena *a, const Request *r, const PlanFile *f, Diag *d)
{
    if (r->block > f->n_blocks) {
        diag_error(d, "--block %d: the plan has %d repeated block%s", r->block, f->n_blocks,
                   f->n_blocks == 1 ? "" : "s");
        return false;
    }
    if (r->values)
        values(a, f, r->values);
    if (r->block)
        nodes(a, f, r->block);
    if (r->explain && !explain(a, f, r->explain, d))
        return false;
    if (r->values || r->block || r->explain)
        return true;
    plan_head(a, base_name(r->input), f);
    for (int i = 1; i <= f->n_blocks; i++)
        parameters_of(a, f, i);
    parameters_of(a, f, 0);
    traffic(a, f);
    return true;
}

static bool show_files(Arena *a, const Request *r)
{
    Diag d = {.file = r->input ? base_name(r->input) : NULL};
    PlanFile f;

    if (r->input && !plan_file_open(a, r->input, &f, &d))
        return false;
    return r->run ? run_show(a, r->run, r->input ? &f : NULL) : show(a, r, &f, &d);
}

int inspect(Arena *a, int argc, char **argv)
{
    Request r = {0};
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status))
        return status;
    const char *other = r.values    ? "--values"
                        : r.explain ? "--explain"
                        : r.block   ? "--block"
                                    : NULL;
    if (!r.input && !r.run)
        complain(&status, "no plan given; --help tells more");
    else if (r.run && other)
        complain(&status, "%s and --run: one at a time", other);
    return status ? status : show_files(a, &r) ? 0 : EXIT_USER;
}
