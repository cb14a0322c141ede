// Reads the command lines of compilations, plans and profiles.
#include "compile/compile.h"
#include "driver/internal.h"

// Completes the request. Work that isn't fused with its readers would write what it makes again to
// memory.
static void complete(Options *o)
{
    o->request.written = &o->written;
    o->request.rule = o->request.no_fuse ? RECOMPUTE_NONE : RECOMPUTE_MIN_CUT;
}

// Without --plan and --target, programs are for the default target.
static bool take_plan(Arena *a, Options *o, int *status)
{
    if (o->request.plan && !plan_options_take(a, o, status))
        return false;
    if (!o->request.target)
        o->request.target = target_default();
    return true;
}

bool options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.request.accumulate = 1, .march = "native", .cc = "cc"};
    if (!command_read(a, &compile_options, argc, argv, o, status))
        return false;
    complete(o);
    return check_fewer(o, status) && take_plan(a, o, status) &&
           check_together(a, &compile_options, o, status);
}

bool plan_options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.request.accumulate = 1, .cluster = "local"};
    if (!command_read(a, &plan_options, argc, argv, o, status))
        return false;
    complete(o);
    if (o->request.input && request_is(&o->request, ".program"))
        return complain(status, "'%s': a program has its plan already", o->request.input);
    return check_graph(a, &plan_options, o, status);
}

bool profile_options_read(Arena *a, int argc, char **argv, Options *o, int *status)
{
    *o = (Options){.request.accumulate = 1, .march = "native", .emit = EMIT_PROGRAM};
    if (!command_read(a, &profile_options, argc, argv, o, status))
        return false;
    complete(o);
    return take_plan(a, o, status) && check_together(a, &profile_options, o, status) &&
           range_take(a, o, status);
}
