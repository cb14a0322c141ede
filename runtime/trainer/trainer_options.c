// The trainer's command line: the table's options, and one for each hyper-parameter of the model.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/rt_transport.h"
#include "runtime/trainer/trainer_options.h"

bool rt_is_option(const RtTensor *t)
{
    static const char *const own[] = {"step", "step_index", "seed", "micro"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], t->name) == 0)
            return false;
    return t->role == RT_HYPER;
}

void rt_option_name(const RtTensor *t, char *to, size_t capacity)
{
    snprintf(to, capacity, "--%s", t->name);
    for (char *c = to; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

// ---- values ----

static bool set_whole(const RtModel *m, const RtOption *x, const char *text, int64_t *to)
{
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && v >= x->least && v <= x->most) {
        *to = v;
        return true;
    }
    if (x->most < RT_MAX_STEPS)
        return rt_error(m, "%s: '%s' is not a whole number from %lld to %lld", x->name, text,
                        (long long)x->least, (long long)x->most);
    return rt_error(m, "%s: '%s' is not a whole number of at least %lld", x->name, text,
                    (long long)x->least);
}

static bool set_real(const RtModel *m, const char *name, const char *text, double *to)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v))
        return rt_error(m, "%s: '%s' is not a number", name, text);
    *to = v;
    return true;
}

// "90s", "10min" or "2h", and "500" as steps.
static bool read_period(const RtOption *x, const char *text, RtPeriod *to)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"", 0}, {"s", 1}, {"min", 60}, {"h", 3600}};
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].name) == 0 && !errno && v >= x->least &&
            v <= x->most) {
            *to = units[i].seconds ? (RtPeriod){0, (double)v * units[i].seconds} : (RtPeriod){v, 0};
            return true;
        }
    return false;
}

static bool set_period(const RtModel *m, const RtOption *x, const char *text, RtPeriod *to)
{
    return read_period(x, text, to) ||
           rt_error(m,
                    "%s: '%s' is neither a number of steps, as 500, nor a time, as 90s, 10min "
                    "or 2h",
                    x->name, text);
}

static bool set_time(const RtModel *m, const RtOption *x, const char *text, double *to)
{
    RtPeriod p;

    if (!read_period(x, text, &p) || p.steps)
        return rt_error(m, "%s: '%s' is not a time, as 90s, 10min or 2h", x->name, text);
    *to = p.seconds;
    return true;
}

// Sets *to to the index of `text` among the words of x->value, as in "constant|linear|cosine".
static bool set_word(const RtModel *m, const RtOption *x, const char *text, int64_t *to)
{
    enum { WORDS = 4, CAPACITY = 16 };
    char words[WORDS][CAPACITY];
    const char *names[WORDS];
    int n = 0;

    for (const char *at = x->value; *at && n < WORDS; n++) {
        int length = (int)strcspn(at, "|");

        snprintf(words[n], CAPACITY, "%.*s", length, at);
        names[n] = words[n];
        if (strcmp(words[n], text) == 0) {
            *to = n;
            return true;
        }
        at += length + (at[length] == '|');
    }
    const char *suggestion = rt_nearest(text, names, n);
    if (suggestion)
        return rt_error(m, "%s: '%s' is not one of %s (did you mean '%s'?)", x->name, text,
                        x->value, suggestion);
    return rt_error(m, "%s: '%s' is not one of %s", x->name, text, x->value);
}

static bool set_option(const RtModel *m, RtOptions *o, const RtOption *x, const char *text)
{
    void *field = (char *)o + x->at;

    switch (x->kind) {
    case RT_FLAG:
        *(bool *)field = true;
        return true;
    case RT_TEXT:
        *(const char **)field = text;
        return true;
    case RT_WHOLE:
        return set_whole(m, x, text, field);
    case RT_WORD:
        return set_word(m, x, text, field);
    case RT_PERIOD:
        return set_period(m, x, text, field);
    case RT_TIME:
        return set_time(m, x, text, field);
    case RT_REAL:
        return set_real(m, x->name, text, field) &&
               (*(double *)field >= 0 || rt_error(m, "%s: '%s' is less than 0", x->name, text));
    }
    return false;
}

// ---- names ----

static bool unknown(const RtModel *m, const char *name)
{
    enum { CAPACITY = 48 };
    const char **names = rt_alloc((size_t)(rt_n_options + m->n_tensors), sizeof *names);
    char(*hyper)[CAPACITY] = rt_alloc((size_t)m->n_tensors, CAPACITY);
    int n = 0;

    for (int i = 0; i < rt_n_options; i++)
        if (rt_has_option(m, &rt_options[i]))
            names[n++] = rt_options[i].name;
    for (int i = 0; i < m->n_tensors; i++)
        if (rt_is_option(&m->tensors[i])) {
            rt_option_name(&m->tensors[i], hyper[i], CAPACITY);
            names[n++] = hyper[i];
        }
    const char *suggestion = rt_nearest(name, names, n);
    if (name[0] != '-')
        rt_error(m, "unexpected argument '%s'", name);
    else if (suggestion)
        rt_error(m, "unknown option '%s' (did you mean '%s'?)", name, suggestion);
    else
        rt_error(m, "unknown option '%s'; --help lists them", name);
    free(names);
    free(hyper);
    return false;
}

// The option of that name; else sets *hyper to the index of the hyper-parameter in the model's
// tensors.
static const RtOption *find_option(const RtModel *m, const char *name, int *hyper)
{
    *hyper = -1;
    for (int i = 0; i < rt_n_options; i++)
        if (strcmp(rt_options[i].name, name) == 0)
            return &rt_options[i];
    for (int i = 0; i < m->n_tensors; i++) {
        char own[64];

        if (!rt_is_option(&m->tensors[i]))
            continue;
        rt_option_name(&m->tensors[i], own, sizeof own);
        if (strcmp(own, name) == 0)
            *hyper = i;
    }
    return NULL;
}

static bool refuse(const RtModel *m, const char *name, unsigned of)
{
    if ((of == RT_CAN_SPAWN || of == RT_CAN_FOLLOW) && m->transport)
        return rt_error(m,
                        "%s: the ranks of this program talk by %s and need %s: --transport tcp "
                        "compiles one whose ranks start without it",
                        name, m->transport->name, m->transport->launcher);
    bool is_of_ranks = of == RT_CAN_SPAWN || (of == RT_CAN_EXCHANGE && !m->transport);
    if (is_of_ranks)
        return rt_error(m, "%s: this program has one rank: compile it with --ranks", name);
    return rt_error(m, "%s: this program is for a %s, which doesn't have it", name,
                    m->device->kind);
}

// Reads argv[*i], "--name value" or "--name=value".
static bool parse_one(RtOptions *o, const RtModel *m, int argc, char **argv, int *i)
{
    char name[64];
    const char *arg = argv[*i], *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    int hyper;

    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - arg : 63), arg);
    const RtOption *x = find_option(m, name, &hyper);
    if (!x && hyper < 0)
        return unknown(m, name);
    if (x && !rt_has_option(m, x))
        return refuse(m, name, x->of);
    bool is_flag = x && x->kind == RT_FLAG;
    if (is_flag && equals)
        return rt_error(m, "%s takes no value", name);
    const char *text = equals ? equals + 1 : NULL;
    if (!is_flag && !equals) {
        if (*i + 1 >= argc)
            return rt_error(m, "%s needs a value", name);
        text = argv[++*i];
    }
    return x ? set_option(m, o, x, text) : set_real(m, name, text, &o->hyper[hyper]);
}

// ---- options that need others ----

// The options if none is given.
static const RtOptions absent = {.steps = -1,
                                 .temperature = 1,
                                 .gpu = -1,
                                 .collectives = -1,
                                 .token_choice = -1,
                                 .documents = -1,
                                 .document_end = -1,
                                 .on_spike = -1,
                                 .save_dtype = -1,
                                 .rank = -1,
                                 .timeout = 60};

static bool is_given(const RtOptions *o, const RtOption *x)
{
    static const size_t size[] = {
        [RT_FLAG] = sizeof(bool),     [RT_TEXT] = sizeof(const char *),
        [RT_WHOLE] = sizeof(int64_t), [RT_REAL] = sizeof(double),
        [RT_WORD] = sizeof(int64_t),  [RT_PERIOD] = sizeof(RtPeriod),
        [RT_TIME] = sizeof(double),
    };

    return memcmp((const char *)o + x->at, (const char *)&absent + x->at, size[x->kind]) != 0;
}

// Is one of the options given that `names` lists, with " or " between them?
static bool is_any_given(const RtOptions *o, const char *names)
{
    static const char between[] = " or ";

    while (names) {
        const char *end = strstr(names, between);
        size_t n = end ? (size_t)(end - names) : strlen(names);

        for (int i = 0; i < rt_n_options; i++)
            if (strlen(rt_options[i].name) == n && strncmp(rt_options[i].name, names, n) == 0 &&
                is_given(o, &rt_options[i]))
                return true;
        names = end ? end + strlen(between) : NULL;
    }
    return false;
}

static bool check_needs(const RtOptions *o, const RtModel *m)
{
    for (int i = 0; i < rt_n_options; i++)
        for (int k = 0; k < RT_MAX_NEEDS && rt_options[i].needs[k]; k++)
            if (is_given(o, &rt_options[i]) && !is_any_given(o, rt_options[i].needs[k]))
                return rt_error(m, "%s needs %s", rt_options[i].name, rt_options[i].needs[k]);
    return true;
}

static bool check_spike(const RtOptions *o, const RtModel *m)
{
    if (o->on_spike == RT_ROLLBACK && !o->checkpoint)
        return rt_error(m, "--on-spike rollback needs --checkpoint");
    if (o->max_rollbacks && o->on_spike != RT_ROLLBACK)
        return rt_error(m, "--max-rollbacks needs --on-spike rollback");
    return o->spike == 0 || o->spike > 1 || rt_error(m, "--spike: %g is not above 1", o->spike);
}

static bool check_documents(const RtOptions *o, const RtModel *m)
{
    if (o->documents < 0)
        return true;
    if (m->vocabulary > 0 && o->document_end >= m->vocabulary)
        return rt_error(m, "--document-end: %lld is no token of the model: 0 to %lld",
                        (long long)o->document_end, (long long)m->vocabulary - 1);
    return o->documents > 0 || m->ignores ||
           rt_error(m, "--documents packed: this program's loss ignores no label, as "
                       "cross_entropy does; cut needs none");
}

static bool check_options(const RtOptions *o, const RtModel *m)
{
    bool has_lr = false;

    for (int i = 0; i < m->n_tensors; i++)
        has_lr |= m->tensors[i].role == RT_HYPER && strcmp(m->tensors[i].name, "lr") == 0;
    if (!o->data && !o->eval_data && !o->predict && !o->generate)
        return rt_error(m, "nothing to do: give --data, --eval-data, --predict or --generate; "
                           "--help lists all options");
    if (!check_needs(o, m) || !check_spike(o, m) || !check_documents(o, m))
        return false;
    if ((o->schedule || o->warmup) && !has_lr)
        return rt_error(m, "%s: the model has no learning rate",
                        o->schedule ? "--schedule" : "--warmup");
    if (o->tune && m->transport)
        return rt_error(m, "--tune: this program has several ranks, which would choose different "
                           "algorithms, and so round differently");
    return true;
}

bool rt_options_read(RtOptions *o, const RtModel *m, int argc, char **argv)
{
    *o = absent;
    o->hyper = rt_alloc((size_t)m->n_tensors, sizeof *o->hyper);
    for (int i = 0; i < m->n_tensors; i++)
        o->hyper[i] = NAN;
    for (int i = 1; i < argc; i++)
        if (!parse_one(o, m, argc, argv, &i))
            return false;
    return true;
}

int rt_options_parse(RtOptions *o, const RtModel *m, int argc, char **argv)
{
    if (!rt_options_read(o, m, argc, argv))
        return 2;
    if (!o->help && !o->info && !(rt_options_check_job(o, m) && check_options(o, m)))
        return 2;
    o->token_bytes = o->token_choice < 0 ? 0 : 1 << o->token_choice;
    o->keep = o->keep ? o->keep : 2;
    o->max_rollbacks = o->max_rollbacks ? o->max_rollbacks : 3;
    if (o->save_gradients && o->steps < 0 && !o->epochs)
        o->steps = 1;
    return 0;
}

void rt_options_free(RtOptions *o)
{
    free(o->hyper);
    o->hyper = NULL;
}
