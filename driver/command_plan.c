// shardcc plan: finds a plan of a training step for the ranks of a cluster.
#include <string.h>
#include <unistd.h>

#include "compile/fit/plan_chain.h"
#include "driver/internal.h"
#include "driver/suggest.h"
#include "report/report.h"

typedef struct Job {
    Arena *a;
    Options o;
    const char *path;  // path of the plan's file
    Compiled made;
    Diag *d;
} Job;

static bool find_cluster(Job *j)
{
    Diag d = {.file = base_name(j->o.cluster)};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int *ranks = &j->o.request.ranks;

    if (!open_cluster(j->a, &j->o, *ranks ? *ranks : cores > 0 ? (int)cores : 1))
        return false;
    *ranks = *ranks ? *ranks : cluster_devices(j->o.request.cluster);
    if (!j->o.request.target)
        j->o.request.target = target_of_devices(j->o.request.cluster->is_gpu);
    if (*ranks < 2 && (!j->o.chain || j->o.output))
        diag_error(&d, "a plan needs at least 2 ranks, found %d", *ranks);
    return !d.errors;
}

static CompileStatus read_graphs(Job *j)
{
    CompileStatus status = compile_graphs(j->a, &j->o.request, &j->made, j->d);

    if (status || j->made.train)
        return status;
    diag_error(j->d, "a plan needs a training step: give --loss and --optimizer");
    return COMPILE_WRONG;
}

// ---- output ----

// Checks that a plan's file can hold the words of the command line.
static bool check_words(const Job *j, const Strings *words)
{
    for (int i = 0; i < words->n; i++)
        for (const char *s = words->s[i]; *s; s++)
            if (*s < ' ' || *s > '~') {
                diag_error(j->d, "'%s': a plan file can hold printable ASCII only", words->s[i]);
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
    // Reading the text back must succeed: names and texts of any model must survive.
    bool ok =
        plan_file_parse(j->a, t.s, t.n, &copy, j->d) && copy.model_hash == f->model_hash &&
        copy.cluster_hash == f->cluster_hash &&
        plan_file_read(j->a, &copy, j->made.plan.made.g, j->o.request.cluster, &p, &pins, j->d) &&
        out_write(j->path, t.s, t.n, j->d);
    text_free(&t);
    return ok;
}

static void mark_pins(const Job *j, PlanFile *f)
{
    ValueId *value;
    NodeId *node;
    TiedValues tied = tied_find(j->a, j->made.plan.made.g);

    plan_file_values(j->a, j->made.plan.made.g, &value);
    plan_file_nodes(j->a, j->made.plan.made.g, &node);
    for (int i = 0; i < j->made.plan.options.n_pins; i++) {
        const Pin *p = &j->made.plan.options.pin[i];
        for (int k = 0; k < f->n_values; k++)
            f->value[k].pin |= p->kind == PIN_STORAGE && tied.value[value[k]] == p->id;
        for (int k = 0; k < f->n_nodes; k++)
            f->node[k].pin |= p->kind == PIN_STRATEGY && node[k] == p->id;
    }
}

static int finish(const Job *j)
{
    Strings words = options_words(j->a, &j->o);
    PlanFile f;

    if (!check_words(j, &words))
        return EXIT_USER;
    compile_plan_file(j->a, &j->o.request, &j->made, &f);
    plan_make(j->a, &f, &j->made.plan);
    f.model = printable_text(j->a, base_name(j->o.request.input));
    f.cluster = printable_text(j->a, base_name(j->o.cluster));
    f.option = words.s;
    f.n_options = words.n;
    mark_pins(j, &f);
    if (!write_plan(j, &f))
        return EXIT_USER;
    plan_head(j->a, base_name(j->path), &f);
    if (j->o.is_accumulate_chosen)
        report_accumulate(j->o.request.accumulate);
    return 0;
}

// ---- the chain ----

// Says how much of a step the best schedule of the chain would save within the memory.
static void report_schedule(const Job *j, const PlanChain *x, int64_t memory, double step)
{
    int64_t available = memory - x->other_bytes;
    ChainTable *t = available > 0 ? chain_solve(j->a, &x->problem, available, 0) : NULL;
    double none = 0;

    for (int i = 0; i < x->problem.n_stages; i++)
        none += x->problem.stage[i].policy[0].forward_time +
                x->problem.stage[i].policy[0].backward_time;
    if (!t || chain_least(t) > available) {
        printf("; no schedule of them fits in %s\n", bytes_text(j->a, (double)memory));
        return;
    }
    double best = j->o.request.accumulate * (chain_time(t, available) - none),
           saved = step - x->step - best;
    printf("; within %s their best schedule takes %.3g s for what runs again, %.1f %% of a step "
           "less than the plan\n",
           bytes_text(j->a, (double)memory), best, saved > 0 ? 100 * saved / step : 0);
}

// Writes the chain of the program, which is that of a plan unless there is one rank.
static int write_chain(const Job *j)
{
    const CompileRequest *r = &j->o.request;
    const PlanRequest p = compile_plan_request(j->a, r, &j->made);
    bool is_planned = r->ranks > 1;
    int64_t memory = r->memory ? r->memory : is_planned ? j->made.plan.options.memory : 0;
    PlanChain x;
    Text t = {0};

    if (!plan_chain_find(j->a, &p, r->cluster, j->made.train, j->made.predict,
                         is_planned ? &j->made.plan : NULL, &x, j->d))
        return EXIT_USER;
    chain_print_problem(&x.problem, &t);
    bool ok = out_write(j->o.chain, t.s, t.n, j->d);
    text_free(&t);
    if (!ok)
        return EXIT_USER;
    printf("%-13s %d stages, others hold %" PRId64 " bytes (%s)", base_name(j->o.chain),
           x.problem.n_stages, x.other_bytes, bytes_text(j->a, (double)x.other_bytes));
    if (memory)
        report_schedule(j, &x, memory,
                        program_simulate(j->made.program, SET_TRAIN, r->cluster).seconds);
    else
        printf("\n");
    return 0;
}

static int plan_model(Job *j)
{
    const CompileRequest *r = &j->o.request;

    int wrong = 0;

    if (!output_check_file(j->a, &j->o, j->path, j->d) || !open_weights(j->a, &j->o, j->d) ||
        !find_cluster(j))
        return EXIT_USER;
    if (!check_target(j->a, &j->o, &wrong))
        return wrong;
    if (!open_model(j->a, &j->o, j->d) || !complete_request(j->a, &j->o, j->d))
        return EXIT_USER;
    CompileStatus status = read_graphs(j);
    if (!status)
        status = compile_program(j->a, r, &j->made, j->d);
    if (status == COMPILE_INFEASIBLE && r->ranks > 1)
        suggest_options(&j->o, &j->made, j->d);
    if (status)
        return exit_status_of(status);
    // One rank needs no plan, but has a chain.
    int exit_status = r->ranks > 1 ? finish(j) : 0;
    return exit_status || !j->o.chain ? exit_status : write_chain(j);
}

int plan_command(Arena *a, int argc, char **argv)
{
    Job j = {.a = a};
    int status = 0;

    if (!plan_options_read(a, argc, argv, &j.o, &status))
        return status;
    Diag d = {.file = base_name(j.o.request.input)};
    j.path = j.o.output ? j.o.output : arena_string(a, "%s.plan.json", output_path(a, &j.o));
    j.d = &d;
    status = plan_model(&j);
    weight_file_close(j.o.weight_file);
    model_close(j.o.model_file);
    return status;
}
