// --plan: makes the command line agree with the options that the plan was made for.
#include <string.h>

#include "analyzer/sharding/plan_file.h"
#include "driver/internal.h"

// The values of all uses of an option, one after the other.
static const char *values_of(Arena *a, const Strings *words, const char *name)
{
    Text t = {0};

    for (int i = 0; i < words->n; i++) {
        bool has_value = i + 1 < words->n && words->s[i + 1][0] != '-';
        if (!strcmp(words->s[i], name))
            text_printf(&t, " %s", has_value ? words->s[i + 1] : name);
    }
    char *s = arena_copy(a, t.n ? t.s + 1 : "", t.n ? t.n - 1 : 0);
    text_free(&t);
    return s;
}

static bool differs(const char *name, const char *given, const char *plan, int *status)
{
    if (*plan)
        return complain(status, "%s: the plan was made for '%s', not '%s'", name, plan, given);
    return complain(status, "%s: the plan was made without this option", name);
}

// Checks that an option that is given has the same value in the plan.
static bool check_words(Arena *a, const Strings *given, const Strings *plan, int *status)
{
    for (int i = 0; i < given->n; i++) {
        const char *name = given->s[i];
        const char *one = values_of(a, given, name), *other = values_of(a, plan, name);
        if (!strncmp(name, "--", 2) && strcmp(one, other))
            return differs(name, one, other, status);
    }
    return true;
}

static bool check_number(const char *name, int64_t given, int64_t plan, int *status)
{
    return !given || given == plan ||
           complain(status, "%s: the plan was made for %" PRId64 ", not %" PRId64, name, plan,
                    given);
}

static bool check_threads(int given, int plan, int *status)
{
    if (plan < 0 || plan > RT_MAX_THREADS)
        return complain(status, "--plan: it is for %d threads, but at most %d are possible", plan,
                        RT_MAX_THREADS);
    if (given && !plan)
        return differs("--threads", "", "", status);
    return check_number("--threads", given, plan, status);
}

// The plan's target is known, and that of --target, if it is given.
static bool check_target_of(const PlanFile *f, const Options *o, int *status)
{
    const char *target = f->target ? f->target : target_default()->name;

    if (!target_find(target))
        return complain(status, "--plan: '%.100s' is not a target", target);
    return !o->request.target || !strcmp(o->request.target->name, target) ||
           differs("--target", o->request.target->name, target, status);
}

// The plan's precision is that of --precision, if it is given.
static bool check_precision_of(const PlanFile *f, const Options *o, int *status)
{
    DType plan = f->precision ? dtype_find(f->precision) : F32, given = o->request.precision;

    if (plan != F32 && !dtype_is_half(plan))
        return complain(status, "--plan: '%.100s' is not a precision", f->precision);
    return !given || given == plan ||
           differs("--precision", dtype_name(given), dtype_name(plan), status);
}

static char *mesh_of(Arena *a, const PlanFile *f)
{
    Mesh m = {.n_axes = f->n_axes};
    Text t = {0};

    for (int i = 0; i < f->n_axes; i++) {
        m.name[i] = f->axis[i].name;
        m.size[i] = f->axis[i].size;
    }
    mesh_print(&m, &t);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

// Checks that each word is an option that determines the graph, or the value of one.
static bool check_names(const PlanFile *f, int *status)
{
    for (int i = 0; i < f->n_options; i++) {
        const OptionDef *o = option_of_graph(f->option[i]);
        if (!o)
            return complain(status, "--plan: '%.100s' is not an option of a plan", f->option[i]);
        i += o->value != NULL;
    }
    return true;
}

static bool read_words(Arena *a, const PlanFile *f, Options *o, Strings *words, int *status)
{
    if (!check_names(f, status) || !options_of_words(a, f->option, f->n_options, o, status))
        return false;
    *words = options_words(a, o);
    return true;
}

static void take_options(Options *o, const Options *of, const PlanFile *f)
{
    options_copy_graph(o, of);
    o->request.ranks = f->ranks;
    o->request.memory = f->memory;
    o->request.threads = f->threads;
    o->request.target = f->target ? target_find(f->target) : target_default();
    o->request.rule = recompute_rule(f->recompute);
    o->request.plan_keeps = f;
    o->cluster = o->cluster ? o->cluster : f->cluster;
}

bool plan_options_take(Arena *a, Options *o, int *status)
{
    Diag d = {.file = base_name(o->request.plan)};
    Strings words, given;
    PlanFile *f = arena_array(a, PlanFile, 1);
    Options of;

    if (o->request.recompute.n)
        return complain(status, "--recompute: a plan's file says itself what runs again");
    if (!plan_file_open(a, o->request.plan, f, &d)) {
        *status = EXIT_USER;
        return false;
    }
    const char *mesh = mesh_of(a, f);
    if (!read_words(a, f, &of, &words, status) || !check_precision_of(f, o, status))
        return false;
    o->request.precision = of.request.precision;
    given = options_words(a, o);
    if (!check_words(a, &given, &words, status) ||
        !check_number("--ranks", o->request.ranks, f->ranks, status) ||
        !check_number("--memory", o->request.memory, f->memory, status) ||
        !check_target_of(f, o, status) || !check_threads(o->request.threads, f->threads, status))
        return false;
    if (o->request.mesh && strcmp(o->request.mesh, mesh))
        return differs("--mesh", o->request.mesh, mesh, status);
    o->request.mesh = mesh;
    take_options(o, &of, f);
    return true;
}
