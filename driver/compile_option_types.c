// The types of options that compilations and plans alone have.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"
#include "driver/internal.h"

static bool read_init(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    char *end;
    size_t n = strlen(s);
    double *std = field;

    if (strncmp(s, "normal(", 7) == 0 && n > 8 && s[n - 1] == ')') {
        *std = strtod(s + 7, &end);
        if (end == s + n - 1 && isfinite(*std) && *std > 0)
            return true;
    }
    return complain(status, "--init: '%s' is not normal(STD) with STD > 0", s);
}

static void put_init(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    double std = *(const double *)field;

    if (std > 0)
        option_put(a, o, arena_string(a, "normal(%.9g)", std), to);
}

static bool read_emit(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    static const char *const names[] = {"ir", "program", "c", "source"};
    static const Emit what[] = {EMIT_IR, EMIT_PROGRAM, EMIT_C, EMIT_SOURCE};
    Options *to = (void *)((char *)field - o->offset);
    const char *kernels = "";

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i])) {
            to->emit = what[i];
            return true;
        }
    for (int i = 0; target_table[i]; i++) {
        const char *ending = target_table[i]->kernels_ending;
        if (ending && !strcmp(s, ending)) {
            to->emit = EMIT_KERNELS;
            to->emit_target = target_table[i];
            return true;
        }
        if (ending)
            kernels = arena_string(a, "%s%s, ", kernels, ending);
    }
    return complain(status, "--emit: '%s' is not one of ir, program, c, %ssource", s, kernels);
}

static bool read_target(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    *(const Target **)field = target_find(s);
    return target_find(s) ||
           complain(status, "--target: '%s' is not one of %s", s, target_names(a));
}

static void put_target(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const Target *t = *(const Target *const *)field;

    if (t && t != target_default())
        option_put(a, o, t->name, to);
}

static bool read_transport(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    const RtTransportRow *row = rt_transport_table;
    char *names = arena_string(a, "%s", row->name);

    *(const RtTransportRow **)field = rt_transport_find(s);
    if (rt_transport_find(s))
        return true;
    while ((++row)->name)
        names = arena_string(a, "%s, %s", names, row->name);
    return complain(status, "--transport: '%s' is not one of %s", s, names);
}

static void put_transport(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    const RtTransportRow *row = *(const RtTransportRow *const *)field;

    if (row && row != rt_transport_table)
        option_put(a, o, row->name, to);
}

// Reads 8, or 8,6,4: falling numbers, of which the first is the field.
static bool read_ranks(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    Options *to = (void *)((char *)field - o->offset);
    int64_t x, before = (int64_t)o->max + 1;
    const char *at = s;
    int n = 0;

    while (n < MAX_RANK_COUNTS && read_whole(at, &at, o->max, &x) && x > 0 && x < before &&
           (!*at || *at == ',')) {
        *(n ? &to->fewer[n - 1] : &to->request.ranks) = (int)x;
        to->n_fewer = n++;
        if (!*at++)
            return true;
        before = x;
    }
    return complain(status,
                    "--ranks: '%s' is not a whole number from 1 to %d, or up to %d of them that "
                    "fall, as 8,6,4",
                    s, o->max, MAX_RANK_COUNTS);
}

static void put_ranks(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    option_count.words(a, o, field, to);
}

static bool read_version(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    printf("shardcc %s\n", SHARDCC_VERSION);
    *status = 0;
    return false;
}

static bool read_by(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    static const char *const names[] = {"block", "operator", "time"};
    static const ProfileBy by[] = {PROFILE_BY_BLOCK, PROFILE_BY_OPERATOR, PROFILE_BY_TIME};

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i])) {
            *(ProfileBy *)field = by[i];
            return true;
        }
    return complain(status, "--by: '%s' is not one of block, operator, time", s);
}

static bool read_precision(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    DType t = dtype_find(s);

    *(DType *)field = t;
    return t == F32 || dtype_is_half(t) ||
           complain(status, "--precision: '%s' is not one of f32, bf16, f16", s);
}

static bool read_reduce(Arena *a, const OptionDef *o, const char *s, void *field, int *status)
{
    DType t = dtype_find(s);

    *(DType *)field = t;
    return t == F32 || t == BF16 || complain(status, "--reduce: '%s' is not one of f32, bf16", s);
}

static void put_precision(Arena *a, const OptionDef *o, const void *field, Strings *to)
{
    DType t = *(const DType *)field;

    if (dtype_is_half(t))
        option_put(a, o, dtype_name(t), to);
}

const OptionType option_init = {read_init, put_init, sizeof(double)},
                 option_precision = {read_precision, put_precision, sizeof(DType)},
                 option_reduce = {read_reduce, put_precision, sizeof(DType)},
                 option_emit = {.read = read_emit, .size = sizeof(Emit)},
                 option_by = {.read = read_by, .size = sizeof(ProfileBy)},
                 option_ranks = {read_ranks, put_ranks, sizeof(int)},
                 option_target = {read_target, put_target, sizeof(const Target *)},
                 option_transport = {read_transport, put_transport, sizeof(const RtTransportRow *)},
                 option_version = {.read = read_version};
