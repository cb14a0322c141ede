// Records the functions of a program as CUDA's graphs, which start hundreds of kernels in one call.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/cuda.h"

typedef struct RtCudaGraph {
    RtPart part;
    cudaGraphExec_t exec;  // NULL: it has run once and isn't recorded yet
    void *followed;        // the follower's record of it
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

static void record(Rt *rt, RtCudaGraph *g)
{
    static const char what[] = "a graph";
    const RtCudaFollower *f = &rt_cuda_of(rt)->follower;
    cudaStream_t stream = rt_cuda_of(rt)->stream;
    cudaGraph_t graph;

    if (f->begin)
        g->followed = f->begin(f->state);
    rt_cuda_must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what);
    g->part(rt, rt->arena);
    rt_cuda_must(cudaStreamEndCapture(stream, &graph), what);
    rt_cuda_must(cudaGraphInstantiate(&g->exec, graph, 0), what);
    rt_cuda_must(cudaGraphDestroy(graph), what);
    if (f->end)
        f->end(f->state);
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
    if (!g->exec)
        record(rt, g);
    if (c->follower.replay)
        c->follower.replay(c->follower.state, g->followed);
    rt_cuda_must(cudaGraphLaunch(g->exec, c->stream), "a graph");
}

void rt_cuda_graphs_free(RtCuda *c)
{
    for (RtCudaGraph *g = c->graph, *next; g; g = next) {
        next = g->next;
        if (g->exec)
            cudaGraphExecDestroy(g->exec);
        free(g);
    }
    c->graph = NULL;
}
