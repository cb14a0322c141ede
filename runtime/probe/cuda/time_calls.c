// Times calls on a GPU with events. A step of a trainer is a graph of kernels, so calls are
// repeated inside of a graph, as often as a sample takes to be much longer than the events.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

enum { SAMPLES = 5, MAX_TIMES = 200, BLOCK = 256 };
static const double PATIENCE = 1e-3;  // seconds of a sample, at least

static void repeat(Rt *rt, char *m)
{
    const Probe *p = (const Probe *)(const void *)rt;

    for (int i = 0; i < p->times; i++)
        p->call(rt, p->operand);
}

static double run_seconds(Rt *rt)
{
    RtMark from = {0}, to = {0};

    rt->device->mark(rt, &from);
    rt->device->run(rt, repeat);
    rt->device->mark(rt, &to);
    rt->device->synchronise(rt);
    double seconds = rt->device->seconds_between(&from, &to);
    rt->device->free_mark(&from);
    rt->device->free_mark(&to);
    return seconds;
}

// A function runs directly the first time, and is recorded the second time. Once forgotten it is
// new.
static void forget(Probe *p) { rt_cuda_graphs_free(rt_cuda_of(&p->rt)); }

// Runs it once, which loads kernels and chooses algorithms.
static void begin(Probe *p, ProbeCall *call, const void *operand)
{
    p->call = call;
    p->operand = operand;
    p->times = 1;
    forget(p);
    run_seconds(&p->rt);
}

double call_seconds(Probe *p, ProbeCall *call, const void *operand)
{
    double sample[SAMPLES];

    begin(p, call, operand);
    forget(p);
    double times = PATIENCE / run_seconds(&p->rt);
    p->times = times < 1 ? 1 : times < MAX_TIMES ? (int)times : MAX_TIMES;
    run_seconds(&p->rt);
    for (int i = 0; i < SAMPLES; i++)
        sample[i] = run_seconds(&p->rt) / p->times;
    forget(p);
    double seconds = median(sample, SAMPLES);
    return seconds > 1e-9 ? seconds : 1e-9;
}

double bare_seconds(Probe *p, ProbeCall *call, const void *operand)
{
    double all = call_seconds(p, call, operand), work = all - p->launch;

    return work > all / 2 ? work : all / 2;
}

double run_seconds_of(Probe *p, ProbeCall *call, const void *operand, int runs)
{
    double run[MAX_RUNS];

    begin(p, call, operand);
    run_seconds(&p->rt);
    for (int i = 0; i < runs; i++)
        run[i] = run_seconds(&p->rt);
    forget(p);
    return median(run, runs);
}

void run_twice(Probe *p, ProbeCall *call, const void *operand, void (*between)(void *context),
               void *context)
{
    begin(p, call, operand);
    between(context);
    run_seconds(&p->rt);
    forget(p);
}

bool has_time(const Probe *p, double seconds)
{
    return seconds <= p->longest && rt_seconds() + (SAMPLES + 3) * seconds < p->end;
}

void *gpu_memory(int64_t bytes)
{
    void *p = NULL;

    rt_cuda_must(cudaMalloc(&p, (size_t)bytes), "memory to measure with");
    return p;
}

void *drawn_memory(Probe *p, RtType type, int64_t count)
{
    struct {
        void *y;
        int64_t count;
    } operands = {gpu_memory(count * rt_type_bytes(type)), count};

    const char *kernel = type == RT_F64    ? "probe_draw_f64"
                         : type == RT_BF16 ? "probe_draw_bf16"
                         : type == RT_F16  ? "probe_draw_f16"
                                           : "probe_draw_f32";

    rt_launch(&p->rt, kernel, rt_ceil_div(count, BLOCK), BLOCK, &operands, sizeof operands);
    return operands.y;
}

void rate_add(Rate *r, double x)
{
    if (r->n < ROUNDS)
        r->round[r->n++] = x;
}

double rate_of(const Rate *r)
{
    Rate sorted = *r;

    return r->n ? median(sorted.round, r->n) : 0;
}
