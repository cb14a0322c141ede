// Records the functions of a program as CUDA's graphs, which start hundreds of kernels in one call.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/collectives.h"

typedef struct RtCudaGraph {
    RtPart part;
    cudaGraphExec_t exec;  // NULL: it has run once and isn't recorded yet
    RtCudaCalls calls;     // its collectives, if the GPU counts them
    struct RtCudaGraph *next;
} RtCudaGraph;

static RtCudaGraph *find(const RtCuda *c, RtPart part)
{
    RtCudaGraph *g = c->graph;

    while (g && g->part != part)
        g = g->next;
    return g;
}

static void note(RtCuda *c, RtPart part)
{
    RtCudaGraph *g = rt_alloc(1, sizeof *g);

    *g = (RtCudaGraph){.part = part, .next = c->graph};
    c->graph = g;
}

static RtCudaProgress *progress_of(const RtCuda *c)
{
    return c->exchanges ? c->exchanges->progress : NULL;
}

static cudaGraphExec_t record(Rt *rt, RtPart part)
{
    static const char what[] = "a graph";
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    rt_cuda_must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what);
    part(rt, rt->arena);
    rt_cuda_must(cudaStreamEndCapture(stream, &graph), what);
    rt_cuda_must(cudaGraphInstantiate(&exec, graph, 0), what);
    rt_cuda_must(cudaGraphDestroy(graph), what);
    return exec;
}

void rt_cuda_run(Rt *rt, RtPart part)
{
    RtCuda *c = rt_cuda_of(rt);
    RtCudaGraph *g = find(c, part);

    if (!rt->gpu.has_graphs || rt->profile || rt->gradients || !g) {
        part(rt, rt->arena);
        if (!g)
            note(c, part);
        return;
    }
    RtCudaProgress *progress = progress_of(c);
    if (progress && !g->exec)
        rt_cuda_progress_record(progress, &g->calls);
    if (!g->exec)
        g->exec = record(rt, part);
    if (progress) {
        rt_cuda_progress_record(progress, NULL);
        rt_cuda_progress_replay(progress, &g->calls);
    }
    rt_cuda_must(cudaGraphLaunch(g->exec, c->stream), "a graph");
}

void rt_cuda_graphs_free(RtCuda *c)
{
    for (RtCudaGraph *g = c->graph, *next; g; g = next) {
        next = g->next;
        if (g->exec)
            cudaGraphExecDestroy(g->exec);
        free(g->calls.call);
        free(g);
    }
    c->graph = NULL;
}
