// Shared by the files of CUDA's double. Work is a graph of nodes: a stream is a chain of them, an
// event is one of them, a captured graph is a copy of some.
#ifndef SHARDCC_TESTS_CUDA_CUDART_INTERNAL_H
#define SHARDCC_TESTS_CUDA_CUDART_INTERNAL_H

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/cuda/gpu.h"
#include "tests/cuda/include/cuda_runtime_api.h"

struct Node {
    std::function<void()> work;  // none: it only joins others
    std::vector<std::shared_ptr<Node>> after;
    bool is_done;
    double done_at;     // seconds
    CUgraph_st *graph;  // which captures it; NULL: none
};
using NodeRef = std::shared_ptr<Node>;

struct CUstream_st {
    NodeRef last;       // NULL: nothing has been started
    CUgraph_st *graph;  // which captures it; NULL: none
    NodeRef before;     // the last one before the capture
};
struct CUevent_st {
    NodeRef node;
    bool has_time;
};
struct CUgraph_st {
    CUstream_st *origin;         // NULL: the capture has ended
    std::vector<NodeRef> nodes;  // each after those that it needs
};

namespace cudart
{

struct State {
    std::set<const void *> objects;  // handles in use
    std::set<CUstream_st *> streams;
    unsigned order = 0;  // of blocks and threads
    bool is_lazy = false;
    int devices = 1, device = 0;
    size_t memory = (size_t)1 << 30;
    int driver = CUDART_VERSION;
    bool is_foreign = false;  // kernels aren't for this GPU
    long launches_left = -1;  // until one fails; negative: none does
    bool freezes = false;     // once a graph is launched again, nothing may be allocated
    bool is_frozen = false;   // one has been
    long matmuls = 0;         // calls of cuBLASLt's double
    double delay = 0;         // seconds that work has taken in addition to the clock's
    bool is_in_host_function = false;
    cudaError_t last_error = cudaSuccess;
};
extern State state;
extern std::recursive_mutex mutex;

// Notes an error for cudaGetLastError, and returns it.
cudaError_t give(cudaError_t e);
// Ends with a message if the handle isn't in use.
void check_handle(const void *x, const char *call);
// Carries out a node and all that it needs.
void carry_out(const NodeRef &node);
// Adds a node to a stream, after what is there and after `others`.
NodeRef enqueue(CUstream_st *s, std::function<void()> work, std::vector<NodeRef> others = {});

// An exchange between ranks begins. CUDART_FAULT may end or stop the process here.
void begin_exchange(const char *call, size_t bytes);
// A fault of that kind, "hang" or "error", never returns.
void fault_in_exchange(const char *kind);
extern std::atomic<bool> exchange_has_failed;  // NCCL says so then

template <class T> T *made(T *x)
{
    state.objects.insert(x);
    return x;
}

template <class T> cudaError_t destroy(T *x)
{
    if (!state.objects.erase(x))
        return give(cudaErrorInvalidResourceHandle);
    delete x;
    return cudaSuccess;
}

#define LOCKED std::lock_guard<std::recursive_mutex> lock(mutex)
#define HANDLE(x) check_handle(x, __func__)

}  // namespace cudart

#endif
