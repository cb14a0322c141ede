// Tells those who follow a program's calls which one comes next.
#include "runtime/device.h"
#include "runtime/trainer/run_report.h"
#include "runtime/trainer/watch.h"

void rt_call(Rt *rt, const RtCall *call)
{
    if (rt->watch)
        rt_watch_call(rt->watch, call->what);
    if (rt->profile)
        rt_profile_call(rt->profile, call);
    rt_comm_at(rt->comm, call->what, rt->layer);
}

void rt_runs_begin(Rt *rt) { rt_watch_runs_begin(rt->watch); }

void rt_runs_end(Rt *rt) { rt_watch_runs_end(rt->watch); }
