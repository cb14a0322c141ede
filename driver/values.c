// Checks the values of options, each alone, before the model is read.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "driver/internal.h"
#include "solver/plan/plan.h"

bool has_safe_letters(const char *s)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";

    return !s[strspn(s, safe)];
}

bool check_march(const char *s, int *status)
{
    return (*s && has_safe_letters(s)) ||
           complain(status, "--march: '%s' is not the name of a CPU", s);
}

bool check_gpus(const char *s, int *status)
{
    const char *p = s;

    while (!strncmp(p, "sm_", 3)) {
        size_t n = strspn(p + 3, "0123456789");
        p += 3 + n;
        if (n < 2 || n > 3)
            break;
        if (!*p)
            return true;
        if (*p++ != ',')
            break;
    }
    return complain(status, "--gpu: '%s' is not a list of GPUs as sm_80,sm_90", s);
}

static bool has_form(bool (*check)(const char *, Diag *), const char *s, int *status)
{
    Diag d = {.file = "shardcc"};

    if (check(s, &d))
        return true;
    *status = EXIT_OPTION;
    return false;
}

bool check_loss(const char *s, int *status) { return has_form(loss_check, s, status); }

bool check_loss_scale(const char *s, int *status) { return has_form(loss_scale_check, s, status); }

bool check_optimizer(const char *s, int *status) { return has_form(optimizer_check, s, status); }

bool check_launcher(const char *s, int *status)
{
    static const char *const names[] = {"auto", "mpirun", "srun", "ssh", "none"};

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i]))
            return true;
    return complain(status, "--launcher: '%s' is not one of auto, mpirun, srun, ssh, none", s);
}

enum { MAX_BOUND = 1 << 30 };  // elements of a dim

// Is it NAME=N or, with up to `most` numbers, NAME=N,N,…? The name may contain an equals sign.
static bool is_binding(const char *s, int most)
{
    const char *at = strrchr(s, '=');
    int64_t n;

    if (!at || at == s)
        return false;
    for (int i = 0; i < most; i++) {
        if (!read_whole(at + 1, &at, MAX_BOUND, &n))
            return false;
        if (!*at)
            return true;
        if (*at != ',')
            return false;
    }
    return false;
}

bool check_bind(const char *s, int *status)
{
    return is_binding(s, 1) || complain(status, "--bind: '%s' is not of the form DIM=N", s);
}

bool range_read(Arena *a, const char *s, DimRange *to)
{
    const char *at = strrchr(s, '='), *end;

    if (!at || at == s || !read_whole(at + 1, &end, MAX_BOUND, &to->first) ||
        strncmp(end, "..", 2) || !read_whole(end + 2, &end, MAX_BOUND, &to->last) || *end ||
        to->first < 1 || to->last < to->first)
        return false;
    to->dim = arena_copy(a, s, (size_t)(at - s));
    return true;
}

static bool is_range(const char *s)
{
    Arena *a = arena_new();
    DimRange r;
    bool is = range_read(a, s, &r);

    arena_free(a);
    return is;
}

bool check_bind_or_range(const char *s, int *status)
{
    return is_binding(s, 1) || is_range(s) ||
           complain(status, "--bind: '%s' is not of the form DIM=N, or DIM=A..B with 1 <= A <= B",
                    s);
}

bool check_shape(const char *s, int *status)
{
    return is_binding(s, MAX_RANK) ||
           complain(status, "--shape: '%s' is not of the form INPUT=N,N", s);
}

bool check_padding(const char *s, int *status)
{
    return is_binding(s, 1) ||
           complain(status, "--padding-index: '%s' is not of the form GLOB=K", s);
}

bool check_tie(const char *s, int *status)
{
    const char *equals = strchr(s, '=');

    return (equals && equals > s && equals[1]) ||
           complain(status, "--tie: '%s' is not of the form A=B", s);
}

bool check_pin(const char *s, int *status)
{
    const char *equals = strrchr(s, '=');

    return (equals && equals > s && equals[1]) ||
           complain(status, "--pin: '%s' is not of the form GLOB=SPEC", s);
}

static bool is_mesh(const char *s, Diag *d)
{
    Arena *a = arena_new();
    Mesh m;
    bool ok = mesh_read(a, s, &m, d);

    arena_free(a);
    return ok;
}

bool check_mesh(const char *s, int *status) { return has_form(is_mesh, s, status); }

static bool is_preset(const char *s, Diag *d)
{
    Preset p;

    return preset_parse(s, &p, d);
}

bool check_preset(const char *s, int *status) { return has_form(is_preset, s, status); }

bool check_pass(const char *s, int *status)
{
    Text all = {0};

    if (pass_find(s) >= 0)
        return true;
    for (int i = 0; pass_name(i); i++)
        text_printf(&all, "%s%s", i ? ", " : "", pass_name(i));
    complain(status, "--dump-after: '%s' is not one of %s", s, all.s);
    text_free(&all);
    return false;
}

// Reads BLOCK=N, of n letters.
static bool is_layers(const char *s, int n)
{
    int digits = 0;

    while (digits < n && s[n - 1 - digits] >= '0' && s[n - 1 - digits] <= '9')
        digits++;
    return digits && n > digits + 1 && s[n - 1 - digits] == '=';
}

bool check_recompute(const char *s, int *status)
{
    const char *part = s;
    bool has_all = false;

    if (!strcmp(s, "chain"))
        return true;
    for (;;) {
        int n = (int)strcspn(part, ",");
        bool is_all = n == 4 && (!strncmp(part, "none", 4) || !strncmp(part, "full", 4));
        if (!is_all && !is_layers(part, n))
            return complain(status, "--recompute: '%.*s' is not none, full, chain or BLOCK=N", n,
                            part);
        if (is_all && has_all)
            return complain(status, "--recompute: '%s': only one of none and full can be given", s);
        has_all |= is_all;
        if (!part[n])
            return true;
        part += n + 1;
    }
}
