// shardcc plan: how a training step is best spread over the ranks of a cluster.
#include <string.h>
#include <unistd.h>

#include "driver/passes.h"
#include "driver/plan_make.h"
#include "driver/plan_text.h"
#include "driver/spread.h"

enum { EXIT_INFEASIBLE = 4, EXIT_NOTHING = 5 };

typedef struct Job {
    Arena *a;
    const Options *o;
    const char *path;  // of the plan
    Cluster cluster;
    int ranks;
    int64_t memory;
    const Mesh *mesh;
    int n_meshes;
    Graph *g;
    PlanOptions wish;
    Diag *d;
} Job;

static bool open_cluster(Job *j)
{
    Diag d = {.file = base_name(j->o->cluster)};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int ranks = j->o->ranks ? j->o->ranks : cores > 0 ? (int)cores : 1;

    if (!cluster_open(j->a, j->o->cluster, ranks, &j->cluster, &d))
        return false;
    j->ranks = j->o->ranks ? j->o->ranks : cluster_devices(&j->cluster);
    j->memory = j->o->memory ? j->o->memory : (int64_t)j->cluster.memory;
    if (j->ranks < 2)
        diag_error(&d, "a plan is of 2 ranks or more, not of %d", j->ranks);
    return j->ranks >= 2;
}

static bool find_meshes(Job *j)
{
    Diag d = {.file = "shardcc"};

    j->n_meshes = spread_meshes(j->a, j->o, &j->cluster, j->ranks, &j->mesh, &d);
    return j->n_meshes;
}

static bool read_graph(Job *j)
{
    Weights w = {0};
    bool dumped = false;

    j->g = passes_run(j->a, j->o, true, &w, j->d, &dumped);
    if (j->g && !j->g->n_carries)
        diag_error(j->d, "a plan is of a training step: --loss and --optimizer say of which");
    return j->g && j->g->n_carries;
}

static bool search(Job *j, Planned *to)
{
    j->wish = spread_options(j->a, j->o, &j->cluster);
    return spread_wishes(j->a, j->o, j->g, j->mesh, &j->wish, j->d) &&
           plan_search(j->g, &j->cluster, j->mesh, j->n_meshes, &j->wish, to, j->a, j->d);
}

// ---- what is said ----

static int say_infeasible(const Job *j, const Planned *p)
{
    PlanFile f = {.ranks = j->ranks};
    Text what = {0};

    if (p->answer.outcome == OUTCOME_NOTHING) {
        diag_error(j->d, "no plan was found in time");
        return EXIT_NOTHING;
    }
    plan_make_memory(&f, j->g, p, j->a);
    diag_error(j->d,
               "no plan of %d ranks fits %s a rank: the least that was found takes %" PRId64
               " bytes (%s), none less than %s",
               j->ranks, bytes_text(j->a, (double)j->memory), f.bytes,
               bytes_text(j->a, (double)f.bytes), bytes_text(j->a, (double)p->answer.least_bound));
    plan_holders(j->a, &f, &what);
    diag_note(j->d, "most is held in %s", what.s);
    text_free(&what);
    return EXIT_INFEASIBLE;
}

// Words of the command line that a file can't hold.
static bool check_words(const Job *j, const Strings *words)
{
    for (int i = 0; i < words->n; i++)
        for (const char *s = words->s[i]; *s; s++)
            if (*s < ' ' || *s > '~') {
                diag_error(j->d, "'%s': a plan's file has printable ASCII only", words->s[i]);
                return false;
            }
    return true;
}

static bool write_plan(const Job *j, const PlanFile *f)
{
    Text t = {0};
    PlanPins pins;
    PlanFile copy;
    Plan p;

    plan_file_print(f, &t);
    // What is written can be read: names and texts of any model come through.
    bool ok = plan_file_parse(j->a, t.s, t.n, &copy, j->d) &&
              plan_file_read(&copy, j->g, &j->cluster, &p, &pins, j->a, j->d) &&
              out_write(j->path, t.s, t.n, j->d);
    text_free(&t);
    return ok;
}

static void mark_pins(const Job *j, PlanFile *f)
{
    ValueId *value;
    NodeId *node;
    Alike alike = alike_find(j->g, j->a);

    plan_file_values(j->g, j->a, &value);
    plan_file_nodes(j->g, j->a, &node);
    for (int i = 0; i < j->wish.n_pins; i++) {
        const Pin *p = &j->wish.pin[i];
        for (int k = 0; k < f->n_values; k++)
            f->value[k].pin |= p->kind == PIN_REST && alike.value[value[k]] == p->id;
        for (int k = 0; k < f->n_nodes; k++)
            f->node[k].pin |= p->kind == PIN_STRATEGY && node[k] == p->id;
    }
}

static int finish(const Job *j, const Planned *p)
{
    Strings words = options_words(j->a, j->o);
    PlanFile f;

    if (!check_words(j, &words) ||
        !plan_make(&f, j->g, &j->cluster, p, j->o->accumulate, j->a, j->d))
        return EXIT_USER;
    f.model = printable_text(j->a, base_name(j->o->input));
    f.cluster = printable_text(j->a, base_name(j->o->cluster));
    f.option = words.s;
    f.n_options = words.n;
    f.memory = j->memory;
    f.preset = j->o->preset;
    mark_pins(j, &f);
    if (!write_plan(j, &f))
        return EXIT_USER;
    plan_head(j->a, base_name(j->path), &f);
    return 0;
}

int plan_command(Arena *a, int argc, char **argv)
{
    Options o;
    int status = 0;
    Planned p;

    if (!plan_options_read(a, argc, argv, &o, &status))
        return status;
    Diag d = {.file = base_name(o.input)};
    const char *path = o.output ? o.output : arena_string(a, "%s.plan.json", output_path(a, &o));
    Job j = {.a = a, .o = &o, .path = path, .d = &d};
    if (!output_check_file(a, path, o.input, "model", &d) || !open_cluster(&j) ||
        !find_meshes(&j) || !read_graph(&j) || !search(&j, &p))
        return EXIT_USER;
    return is_found(p.answer.outcome) ? finish(&j, &p) : say_infeasible(&j, &p);
}
