// CUDA's double: kernels and their launches, captured graphs.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "tests/cuda/cudart_internal.h"
#include "tests/cuda/memory.h"

struct CUgraphExec_st {
    std::vector<NodeRef> nodes;
    long launches = 0;
};
struct CUkern_st {
    gpu::Entry *entry;
};
struct CUlib_st {
    std::vector<CUkern_st *> kernels;
};

using namespace cudart;

// ---- libraries and launches ----

// Loads a shared library of kernels that lies in memory: tests/cuda/nvcc.in makes them. Other code
// represents kernels that the program has already.
static void load_kernels(const void *code)
{
    const auto *elf = static_cast<const Elf64_Ehdr *>(code);
    char path[64];

    if (memcmp(code, ELFMAG, SELFMAG))
        return;
    size_t bytes = elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
    int fd = memfd_create("kernels", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, code, bytes) != (ssize_t)bytes || !dlopen(path, RTLD_NOW))
        gpu::fail(gpu::NOWHERE, "cudaLibraryLoadData: %s", fd < 0 ? "no memory" : dlerror());
    close(fd);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *,
                                void **, unsigned, enum cudaLibraryOption *, void **, unsigned)
{
    LOCKED;
    if (!code)
        return give(cudaErrorInvalidValue);
    if (state.is_foreign)
        return give(cudaErrorNoKernelImageForDevice);
    load_kernels(code);
    *library = made(new CUlib_st);
    return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    LOCKED;
    HANDLE(library);
    for (CUkern_st *k : library->kernels)
        destroy(k);
    return destroy(library);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    LOCKED;
    HANDLE(library);
    gpu::Entry *e = gpu::find(name);
    if (!e)
        return give(cudaErrorSymbolNotFound);
    *kernel = made(new CUkern_st{e});
    library->kernels.push_back(*kernel);
    return cudaSuccess;
}

// A launch with a copy of its arguments.
struct Launch {
    gpu::Entry *entry;
    gpu::Dim grid, block;
    size_t shared;
    std::vector<std::vector<unsigned char>> args;

    Launch(gpu::Entry *e, const cudaLaunchConfig_t &c, void **from)
        : entry(e), grid{c.gridDim.x, c.gridDim.y, c.gridDim.z}, block{c.blockDim.x, c.blockDim.y,
                                                                       c.blockDim.z},
          shared(c.dynamicSmemBytes)
    {
        for (int i = 0; i < e->n_args; i++) {
            auto *bytes = static_cast<unsigned char *>(from[i]);
            args.emplace_back(bytes, bytes + e->bytes[i]);
        }
    }
    void run()
    {
        std::vector<void *> at;
        Open open;

        for (auto &bytes : args)
            at.push_back(bytes.data());
        gpu::launch(*entry, grid, block, shared, at.data(), state.order);
    }
};

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    LOCKED;
    HANDLE(kernel);
    HANDLE(config->stream);
    if (!state.launches_left)
        return give(cudaErrorLaunchFailure);
    state.launches_left -= state.launches_left > 0;
    auto launch =
        std::make_shared<Launch>(static_cast<const CUkern_st *>(kernel)->entry, *config, args);

    enqueue(config->stream, [=] { launch->run(); });
    return cudaSuccess;
}

// ---- graphs ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    LOCKED;
    HANDLE(stream);
    if (stream->graph)
        return give(cudaErrorStreamCaptureUnsupported);
    stream->before = std::move(stream->last);
    stream->last = nullptr;
    stream->graph = made(new CUgraph_st{stream, {}});
    return cudaSuccess;
}

// Is `node` among those that `last` needs?
static bool is_needed(const NodeRef &last, const NodeRef &node)
{
    std::set<Node *> seen;
    std::vector<NodeRef> stack{last};

    while (!stack.empty()) {
        NodeRef n = stack.back();
        stack.pop_back();
        if (n == node)
            return true;
        if (n && seen.insert(n.get()).second)
            stack.insert(stack.end(), n->after.begin(), n->after.end());
    }
    return false;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    LOCKED;
    HANDLE(stream);
    CUgraph_st *g = stream->graph;
    bool is_joined = true;

    if (!g || g->origin != stream)
        return give(cudaErrorStreamCaptureUnmatched);
    for (CUstream_st *s : state.streams)
        if (s->graph == g)
            is_joined &= is_needed(stream->last, s->last);
    for (CUstream_st *s : state.streams)
        if (s->graph == g) {
            s->graph = nullptr;
            s->last = std::move(s->before);
        }
    g->origin = nullptr;
    *graph = is_joined ? g : nullptr;
    if (is_joined)
        return cudaSuccess;
    destroy(g);
    return give(cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    LOCKED;
    HANDLE(graph);
    *exec = made(new CUgraphExec_st{graph->nodes});
    return cudaSuccess;
}

// Each launch has nodes of its own. A lazy device carries them out in another order than that in
// which they were captured, where they don't need each other.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    LOCKED;
    HANDLE(exec);
    HANDLE(stream);
    std::map<Node *, NodeRef> copy;
    std::vector<NodeRef> all;

    if (stream->graph)
        return give(cudaErrorStreamCaptureUnsupported);
    state.is_frozen = state.freezes && exec->launches++ > 0;
    NodeRef first = enqueue(stream, nullptr);
    for (const NodeRef &n : exec->nodes) {
        NodeRef c = std::make_shared<Node>();
        c->work = n->work;
        c->after.push_back(first);
        for (const NodeRef &m : n->after)
            c->after.push_back(copy.at(m.get()));
        copy[n.get()] = c;
        all.push_back(c);
        if (!state.is_lazy)
            carry_out(c);
    }
    enqueue(stream, nullptr, all);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    LOCKED;
    return destroy(graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    LOCKED;
    return destroy(exec);
}
