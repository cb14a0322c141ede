// All ranks must run the same program with the same options and data: else some would wait for
// others in vain, or replicas would differ without a word.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/rt_checksum.h"
#include "runtime/trainer/run.h"

// ---- a difference ----

// The lowest rank whose x isn't that of rank 0; 0 if there is none. All ranks call it.
static int first_other(const RtRun *run, int64_t x)
{
    RtComm *c = run->rt.comm;
    int ranks = rt_comm_ranks(c);
    int64_t zero = rt_comm_max(c, run->rank ? INT64_MIN : x);
    int64_t most = rt_comm_max(c, x == zero ? 0 : ranks - run->rank);

    return most ? ranks - (int)most : 0;
}

// Rank 0 says what that rank and it itself have. All ranks call it, and get false.
static bool differs(const RtRun *run, const char *what, int rank, const char *own)
{
    char text[256] = "", other[256] = "";

    rt_printable(text, sizeof text, own);
    memcpy(other, text, sizeof text);
    rt_comm_collect(run->rt.comm, rank, other, sizeof other);
    other[sizeof other - 1] = 0;
    if (run->rank == 0)
        rt_error(run->model, "%s: rank 0 has %s, rank %d %s", what, text, rank, other);
    return false;
}

// ---- the program ----

static uint32_t sum_of(const char *text)
{
    RtChecksum sum = {0};

    rt_checksum_add(&sum, 0, text, strlen(text));
    return sum.sum;
}

static bool is_same_program(const RtRun *run)
{
    const RtModel *m = run->model;
    char identity[32];

    snprintf(identity, sizeof identity, "text %016llx", (unsigned long long)m->identity);
    const struct {
        const char *what, *text;
    } parts[] = {{"options of the program", m->options}, {"plan", m->plan}, {"program", identity}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *text = parts[i].text ? parts[i].text : "none";
        int rank = first_other(run, sum_of(text));
        if (rank)
            return differs(run, parts[i].what, rank, text);
    }
    return true;
}

// ---- its options ----

// Word number i of "constant|linear|cosine".
static void print_word(const char *words, int64_t i, char *to, size_t capacity)
{
    for (; i > 0; i--)
        words += strcspn(words, "|") + 1;
    snprintf(to, capacity, "%.*s", (int)strcspn(words, "|"), words);
}

static void print_number(double v, char *to, size_t capacity)
{
    if (isnan(v))
        snprintf(to, capacity, "none");
    else
        snprintf(to, capacity, "%.15g", v);
}

// An option's value as text; of those that ranks may have of their own, whether it is given.
static void print_value(const RtOptions *o, const RtOption *x, char *to, size_t capacity)
{
    const void *field = (const char *)o + x->at;
    int64_t whole = x->kind == RT_WHOLE || x->kind == RT_WORD ? *(const int64_t *)field : 0;
    const char *text = x->kind == RT_TEXT ? *(const char *const *)field : NULL;
    const RtPeriod *period = field;

    if (x->kind == RT_REAL || x->kind == RT_TIME)
        print_number(*(const double *)field, to, capacity);
    else if (x->kind == RT_PERIOD && period->steps)
        snprintf(to, capacity, "%lld", (long long)period->steps);
    else if (x->kind == RT_PERIOD)
        snprintf(to, capacity, "%.15gs", period->seconds);
    else if (x->kind == RT_FLAG)
        snprintf(to, capacity, "%s", *(const bool *)field ? "it" : "none");
    else if (x->kind == RT_TEXT)
        snprintf(to, capacity, "%s", !text ? "none" : x->is_own ? "one" : text);
    else if (whole < 0)
        snprintf(to, capacity, "none");
    else if (x->kind == RT_WORD)
        print_word(x->value, whole, to, capacity);
    else
        snprintf(to, capacity, "%lld", (long long)whole);
}

// Prints option i, in the order of rt_options and then of the tensors, some of which are
// hyper-parameters. Returns false if it is none, or if ranks may have different values.
static bool print_option(const RtRun *run, int i, char *name, size_t name_capacity, char *to,
                         size_t capacity)
{
    const RtModel *m = run->model;

    if (i < rt_n_options) {
        const RtOption *x = &rt_options[i];
        snprintf(name, name_capacity, "%s", x->name);
        print_value(&run->o, x, to, capacity);
        return !x->is_own || x->kind == RT_TEXT;
    }
    const RtTensor *t = &m->tensors[i - rt_n_options];
    if (!rt_is_option(t))
        return false;
    rt_option_name(t, name, name_capacity);
    print_number(run->o.hyper[i - rt_n_options], to, capacity);
    return true;
}

static bool are_same_options(const RtRun *run)
{
    int n = rt_n_options + run->model->n_tensors;
    char name[64], value[4200];
    RtChecksum sum = {0};
    int64_t at = 0;

    for (int i = 0; i < n; i++)
        if (print_option(run, i, name, sizeof name, value, sizeof value)) {
            rt_checksum_add(&sum, at, value, strlen(value));
            at += (int64_t)strlen(value) + 1;
        }
    if (!first_other(run, sum.sum))
        return true;
    for (int i = 0; i < n; i++) {
        if (!print_option(run, i, name, sizeof name, value, sizeof value))
            continue;
        int rank = first_other(run, sum_of(value));
        if (rank)
            return differs(run, name, rank, value);
    }
    return true;
}

bool rt_is_same_run(const RtRun *run)
{
    return rt_comm_ranks(run->rt.comm) == 1 || (is_same_program(run) && are_same_options(run));
}

// ---- its data ----

static bool is_same_data(const RtRun *run, const char *option, const RtData *d)
{
    char text[64];
    int rank = first_other(run, d->samples);

    snprintf(text, sizeof text, "%lld samples", (long long)d->samples);
    if (rank)
        return differs(run, option, rank, text);
    rank = first_other(run, d->sum);
    snprintf(text, sizeof text, "samples of checksum %08x", d->sum);
    return !rank || differs(run, option, rank, text);
}

bool rt_is_same_data(const RtRun *run, const RtInputs *x)
{
    return rt_comm_ranks(run->rt.comm) == 1 ||
           (is_same_data(run, "--data", &x->train) && is_same_data(run, "--eval-data", &x->eval) &&
            is_same_data(run, "--predict", &x->predict));
}
