// A double of CUDA's runtime, whose kernels run on the tests' GPU: devices, memory, streams,
// events.
#include "tests/cuda/cudart.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/cuda/cudart_internal.h"
#include "tests/cuda/memory.h"

namespace cudart
{

// The calls below change it; for programs it can be set in the environment, as in CUDART_ORDER=1.
static long environment(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text ? atol(text) : otherwise;
}

static State from_environment()
{
    State s;

    s.order = (unsigned)environment("CUDART_ORDER", 0);
    s.is_lazy = environment("CUDART_LAZY", 0);
    s.devices = (int)environment("CUDART_DEVICES", s.devices);
    s.memory = (size_t)environment("CUDART_MEMORY", (long)s.memory);
    s.driver = (int)environment("CUDART_DRIVER", s.driver);
    s.is_foreign = environment("CUDART_FOREIGN", 0);
    s.freezes = environment("CUDART_FREEZES", 0);
    s.launches_left = environment("CUDART_LAUNCHES", -1);
    return s;
}

State state = from_environment();
std::recursive_mutex mutex;

cudaError_t give(cudaError_t e)
{
    state.last_error = e ? e : state.last_error;
    return e;
}

void check_handle(const void *x, const char *call)
{
    if (state.is_in_host_function)
        gpu::fail(gpu::NOWHERE, "%s: a function that a stream calls uses CUDA", call);
    if (!x)
        gpu::fail(gpu::NOWHERE, "%s: the default stream, or no object", call);
    if (!state.objects.count(x))
        gpu::fail(gpu::NOWHERE, "%s: the object has been destroyed", call);
}

static double seconds()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + state.delay;
}

void carry_out(const NodeRef &node)
{
    std::vector<NodeRef> stack{node};

    while (!stack.empty()) {
        NodeRef n = stack.back(), needed;
        // The node before it in its stream comes first, or, in odd orders, those of other streams.
        for (const auto &m : n->after)
            if (!m->is_done && (!needed || state.order % 2 == 0))
                needed = m;
        if (needed) {
            stack.push_back(needed);
            continue;
        }
        stack.pop_back();
        if (n->is_done)
            continue;
        if (n->work)
            n->work();
        n->work = nullptr;
        n->is_done = true;
        n->done_at = seconds();
        n->after.clear();
    }
}

NodeRef enqueue(CUstream_st *s, std::function<void()> work, std::vector<NodeRef> others)
{
    NodeRef node = std::make_shared<Node>();

    node->work = std::move(work);
    node->graph = s->graph;
    if (s->last)
        others.push_back(s->last);
    node->after = std::move(others);
    s->last = node;
    if (s->graph)
        s->graph->nodes.push_back(node);
    else if (!state.is_lazy)
        carry_out(node);
    return node;
}

// Waits for a node; NULL is done.
static cudaError_t wait_for(const NodeRef &node)
{
    if (node && node->graph)
        return give(cudaErrorStreamCaptureUnsupported);
    if (node)
        carry_out(node);
    return cudaSuccess;
}

static void check_kind(const void *p, bool is_device, const char *what)
{
    cudart::Kind k = cudart::kind_of(p);

    if (is_device != (k == cudart::DEVICE))
        gpu::fail(gpu::NOWHERE, "%s is %s device memory", what, is_device ? "no" : "");
    if (k == cudart::PAGEABLE)
        gpu::fail(gpu::NOWHERE, "%s of an asynchronous copy isn't pinned", what);
}

static void copy_now(void *to, const void *from, size_t bytes)
{
    cudart::Open open;

    cudart::check_copy(to, from, bytes);
    memcpy(to, from, bytes);
}

}  // namespace cudart

using namespace cudart;

void cudart_order(unsigned order, bool is_lazy)
{
    state.order = order;
    state.is_lazy = is_lazy;
}

void cudart_machine(int devices, size_t bytes)
{
    state.devices = devices;
    state.memory = bytes;
}

void cudart_driver(int version) { state.driver = version; }

long cudart_launches(const char *kernel)
{
    const gpu::Entry *e = gpu::find(kernel);

    return e ? e->launches : 0;
}

int cudart_count_unlaunched(const char *begin)
{
    int n = 0;

    for (const gpu::Entry *e = gpu::first_entry(); e; e = e->next) {
        if (strncmp(e->name, begin, strlen(begin)) || e->launches)
            continue;
        printf("# %s was never launched\n", e->name);
        n++;
    }
    return n;
}

long cudart_matmuls(void) { return state.matmuls; }

int cudart_objects(void) { return (int)state.objects.size() + cudart::allocations(); }

void cudart_open_memory(bool is_open)
{
    static std::unique_ptr<cudart::Open> open;

    open = is_open ? std::make_unique<cudart::Open>() : nullptr;
}

// ---- errors and devices ----

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess                 ? "cudaSuccess"
           : error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : error == cudaErrorSymbolNotFound   ? "cudaErrorSymbolNotFound"
           : error == cudaErrorNoDevice         ? "cudaErrorNoDevice"
           : error == cudaErrorLaunchFailure    ? "cudaErrorLaunchFailure"
                                                : "cudaErrorOther";
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess                 ? "no error"
           : error == cudaErrorMemoryAllocation ? "out of memory"
           : error == cudaErrorSymbolNotFound   ? "named symbol not found"
           : error == cudaErrorNoDevice         ? "no CUDA-capable device is detected"
           : error == cudaErrorLaunchFailure    ? "unspecified launch failure"
                                                : "another error";
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = state.last_error;

    state.last_error = cudaSuccess;
    return e;
}

cudaError_t cudaPeekAtLastError(void) { return state.last_error; }

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = state.driver;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = state.devices;
    return give(state.devices ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int d)
{
    if (d < 0 || d >= state.devices)
        return give(cudaErrorInvalidDevice);
    state.device = d;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *d)
{
    *d = state.device;
    return cudaSuccess;
}

// No GPU of this machine.
cudaError_t cudaDeviceGetPCIBusId(char *id, int capacity, int d)
{
    snprintf(id, (size_t)capacity, "FFFF:FF:%02X.0", d);
    return give(d >= 0 && d < state.devices ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int d)
{
    if (d < 0 || d >= state.devices)
        return give(cudaErrorInvalidDevice);
    *prop = {"tests' GPU", {{(char)d}}, state.memory, 9, 0, 132};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int d)
{
    cudaDeviceProp prop;
    cudaError_t e = cudaGetDeviceProperties(&prop, d);

    if (!e)
        *value = attr == cudaDevAttrMultiProcessorCount      ? prop.multiProcessorCount
                 : attr == cudaDevAttrComputeCapabilityMajor ? prop.major
                                                             : prop.minor;
    return e;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    LOCKED;
    *total = state.memory;
    *available = state.memory - cudart::device_bytes();
    return cudaSuccess;
}

// ---- memory ----

static cudaError_t allocate(void **p, size_t bytes, bool is_device)
{
    LOCKED;
    *p = nullptr;
    if (state.is_frozen)
        gpu::fail(gpu::NOWHERE, "%zu bytes are allocated after the first steps", bytes);
    if (is_device && bytes > state.memory - cudart::device_bytes())
        return give(cudaErrorMemoryAllocation);
    *p = cudart::allocate(bytes, is_device);
    return give(*p ? cudaSuccess : cudaErrorMemoryAllocation);
}

static cudaError_t release(void *p, bool is_device)
{
    LOCKED;
    return give(!p || give_back(p, is_device) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMalloc(void **p, size_t bytes) { return allocate(p, bytes, true); }
cudaError_t cudaFree(void *p) { return release(p, true); }
cudaError_t cudaMallocHost(void **p, size_t bytes) { return allocate(p, bytes, false); }
cudaError_t cudaFreeHost(void *p) { return release(p, false); }

// Whole pages, each once.
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    LOCKED;
    if ((uintptr_t)p % 4096 || bytes % 4096 || flags != cudaHostRegisterMapped ||
        !state.objects.insert(p).second)
        return give(cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *p)
{
    LOCKED;
    return give(state.objects.erase(p) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    LOCKED;
    *device = host;
    return give(state.objects.count(host) ? cudaSuccess : cudaErrorInvalidValue);
}

// Waits for no stream: streams of trainers are non-blocking.
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind)
{
    LOCKED;
    copy_now(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    check_kind(to, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
               "the destination");
    check_kind(from, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
               "the source");
    cudart::check_copy(to, from, bytes);
    enqueue(stream, [=] { copy_now(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    check_kind(to, true, "the destination");
    cudart::check_range("a fill", to, bytes);
    enqueue(stream, [=] {
        cudart::Open open;
        cudart::check_range("a fill", to, bytes);
        memset(to, byte, bytes);
    });
    return cudaSuccess;
}

// ---- streams and events ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    LOCKED;
    *stream = made(new CUstream_st{});
    state.streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    if (stream->last && !stream->last->is_done)
        gpu::fail(gpu::NOWHERE, "cudaStreamDestroy: nobody has waited for the stream's work");
    state.streams.erase(stream);
    return destroy(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    return stream->graph ? give(cudaErrorStreamCaptureUnsupported) : wait_for(stream->last);
}

// The function may call nothing of CUDA.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
    LOCKED;
    HANDLE(stream);
    enqueue(stream, [=] {
        begin_exchange("a function", 0);
        fault_in_exchange("hang");
        state.is_in_host_function = true;
        fn(data);
        state.is_in_host_function = false;
    });
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    return !stream->last || stream->last->is_done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    LOCKED;
    for (CUstream_st *s : state.streams)
        if (cudaError_t e = cudaStreamSynchronize(s))
            return e;
    return cudaSuccess;
}

// A stream that waits for a captured event is captured too.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    LOCKED;
    HANDLE(stream);
    HANDLE(event);
    if (!event->node)
        return cudaSuccess;
    CUgraph_st *g = event->node->graph;
    if (g && (!state.objects.count(g) || !g->origin))
        return give(cudaErrorStreamCaptureUnsupported);
    if (g && !stream->graph) {
        stream->graph = g;
        stream->before = std::move(stream->last);
        stream->last = nullptr;
    }
    if (g != stream->graph)
        return give(cudaErrorStreamCaptureUnsupported);
    enqueue(stream, nullptr, {event->node});
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    LOCKED;
    *event = made(new CUevent_st{nullptr, !(flags & cudaEventDisableTiming)});
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    LOCKED;
    return destroy(event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    LOCKED;
    HANDLE(stream);
    HANDLE(event);
    event->node = enqueue(stream, nullptr);
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    LOCKED;
    HANDLE(event);
    return wait_for(event->node);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    LOCKED;
    HANDLE(event);
    return !event->node || event->node->is_done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    LOCKED;
    HANDLE(begin);
    HANDLE(end);
    if (!begin->has_time || !end->has_time || !begin->node || !end->node)
        return give(cudaErrorInvalidResourceHandle);
    if (!begin->node->is_done || !end->node->is_done)
        return cudaErrorNotReady;
    *ms = (float)(1e3 * (end->node->done_at - begin->node->done_at));
    return cudaSuccess;
}
