// A double of NCCL between processes: what they exchange goes through memory that they share. Its
// calls run on the double of CUDA's runtime, in the streams' order. It ends with a message where
// NCCL would leave the result undefined, or wait for ever: another call, size, type or operation on
// two ranks, calls in two streams, sends outside of a group, buffers that are no device memory.
// NCCL_DOUBLE_VERSION is the version that it says it is.
#include "tests/cuda/nccl_job.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/rt_half.h"
#include "tests/cuda/memory.h"

using namespace cudart;
using namespace nccl;

namespace
{

// ---- collectives ----

size_t width_of(int type)
{
    switch (type) {
    case RT_NCCL_INT8:
    case RT_NCCL_UINT8:
        return 1;
    case RT_NCCL_FLOAT16:
    case RT_NCCL_BFLOAT16:
        return 2;
    case RT_NCCL_INT32:
    case RT_NCCL_UINT32:
    case RT_NCCL_FLOAT32:
        return 4;
    case RT_NCCL_INT64:
    case RT_NCCL_FLOAT64:
        return 8;
    default:
        fail("NCCL: type %d", type);
    }
}

float value(RtF16 x) { return rt_from_f16(x); }
float value(RtBf16 x) { return rt_from_bf16(x); }
template <class T> T value(T x) { return x; }
void put(RtF16 &y, float x) { y = rt_to_f16(x); }
void put(RtBf16 &y, float x) { y = rt_to_bf16(x); }
template <class T> void put(T &y, T x) { y = x; }

// Halves are combined in f32, and rounded after each term.
template <class T> void combine_as(int op, T *y, const T *x, size_t n)
{
    typedef decltype(value(T())) V;

    for (size_t i = 0; i < n; i++) {
        V a = value(y[i]), b = value(x[i]);
        put(y[i], op == RT_NCCL_SUM   ? (V)(a + b)
                  : op == RT_NCCL_MAX ? (b > a ? b : a)
                                      : (b < a ? b : a));
    }
}

void combine(const Said &s, void *y, const void *x, size_t n)
{
#define CASE(type, T)                                                                              \
    case type:                                                                                     \
        combine_as(s.op, static_cast<T *>(y), static_cast<const T *>(x), n);                       \
        break
    switch (s.type) {
        CASE(RT_NCCL_INT8, int8_t);
        CASE(RT_NCCL_UINT8, uint8_t);
        CASE(RT_NCCL_INT32, int32_t);
        CASE(RT_NCCL_UINT32, uint32_t);
        CASE(RT_NCCL_INT64, int64_t);
        CASE(RT_NCCL_FLOAT16, RtF16);
        CASE(RT_NCCL_BFLOAT16, RtBf16);
        CASE(RT_NCCL_FLOAT32, float);
        CASE(RT_NCCL_FLOAT64, double);
    }
#undef CASE
}

void end_exchange()
{
    fault_in_exchange("hang");
    fault_in_exchange("error");
}

void compare(const RtNcclComm *c, const Said &own)
{
    for (int r = 0; r < c->ranks; r++) {
        const Said &s = c->group().said[r];
        if (strcmp(s.call, own.call) || s.count != own.count || s.type != own.type ||
            s.op != own.op)
            fail(
                "NCCL: rank %d calls %s of %zu elements of type %d, op %d; rank %d calls %s of %zu "
                "of type %d, op %d",
                c->rank, own.call, own.count, own.type, own.op, r, s.call, s.count, s.type, s.op);
    }
}

// Carries out a collective, in chunks of bytes: each rank shows `shown` rows of a chunk, `between`
// bytes apart, and takes from what all have shown.
template <class Take>
void run(RtNcclComm *c, const Said &s, const unsigned char *x, size_t shown, size_t between,
         Take take)
{
    Open open;
    size_t bytes = s.count * width_of(s.type), most = CHUNK / shown / 8 * 8;
    bool is_warm = c->calls++ > 0;

    if (is_warm)
        begin_exchange(s.call, bytes * shown);
    c->group().said[c->rank] = s;
    barrier(c);
    compare(c, s);
    for (size_t at = 0; at < bytes; at += most) {
        size_t n = std::min(most, bytes - at);
        for (size_t i = 0; i < shown; i++)
            memcpy(c->group().data[c->rank] + i * n, x + i * between + at, n);
        barrier(c);
        take(at, n);
        barrier(c);
    }
    barrier(c);
    if (is_warm)
        end_exchange();
}

// ---- sends ----

struct Message {
    RtNcclComm *c;
    unsigned char *at;
    size_t bytes, done;
    int peer;
    bool sends;
};

// Moves a chunk, if the other rank is ready for it.
void step(Message &m)
{
    Group &g = m.c->group();
    Mail &mail = m.sends ? g.mail[m.c->rank][m.peer] : g.mail[m.peer][m.c->rank];

    if (m.done == m.bytes || (mail.written > mail.read) == m.sends)
        return;
    size_t n = std::min((size_t)MAIL, m.bytes - m.done);
    if (m.sends) {
        mail.total = m.bytes;
        memcpy(mail.bytes, m.at + m.done, n);
        mail.written++;
    } else {
        if (mail.total != m.bytes)
            fail("NCCL: rank %d sends %zu bytes, rank %d receives %zu", m.peer, mail.total,
                 m.c->rank, m.bytes);
        memcpy(m.at + m.done, mail.bytes, n);
        mail.read++;
    }
    m.done += n;
}

void exchange(std::vector<Message> messages)
{
    Open open;

    begin_exchange("ncclGroup", messages[0].bytes);
    int looks = 0;
    for (size_t left = 1, before = 0; left; before = left) {
        left = 0;
        for (auto &m : messages) {
            step(m);
            left += m.bytes - m.done;
        }
        looks = left == before ? looks + 1 : 0;
        between_looks(looks);
    }
    end_exchange();
}

// ---- checks of calls ----

cudaStream_t only_stream;
int depth;  // of groups
std::vector<Message> grouped;
cudaStream_t grouped_stream;

void check_call(RtNcclComm *c, cudaStream_t stream, const char *call)
{
    check_handle(c, call);
    check_handle(stream, call);
    if (c->state != RtNcclComm::READY)
        fail("%s: the communicator isn't ready", call);
    if (only_stream && state.objects.count(only_stream) && stream != only_stream)
        fail("%s: NCCL's calls of one rank are in two streams", call);
    only_stream = stream;
}

void check_buffer(const void *p, size_t bytes, const char *call)
{
    if (bytes && kind_of(p) != DEVICE)
        fail("%s: a buffer is no device memory", call);
    check_range(call, p, bytes);
}

Said said(const char *call, size_t count, int type, int op)
{
    Said s = {};

    snprintf(s.call, sizeof s.call, "%s", call);
    s.count = count;
    s.type = type;
    s.op = op;
    return s;
}

// A call may go on for a while after it has returned, as the first one of a communicator does.
int begun(RtNcclComm *c)
{
    bool is_first = !c->has_called;

    c->has_called = true;
    return is_first && !depth ? RT_NCCL_IN_PROGRESS : RT_NCCL_SUCCESS;
}

int add_message(void *at, size_t count, int type, int peer, RtNcclComm *c, cudaStream_t stream,
                bool sends)
{
    const char *call = sends ? "ncclSend" : "ncclRecv";

    check_call(c, stream, call);
    if (!depth)
        fail("%s: outside of a group", call);
    if (peer < 0 || peer >= c->ranks)
        fail("%s: peer %d of %d ranks", call, peer, c->ranks);
    size_t bytes = count * width_of(type);
    check_buffer(at, bytes, call);
    grouped.push_back({c, static_cast<unsigned char *>(at), bytes, 0, peer, sends});
    grouped_stream = stream;
    return begun(c);
}

}  // namespace

#define DOUBLE_OF(name)                                                                            \
    static_assert(std::is_same_v<decltype(&name), decltype(RtNccl::name)>, #name)

extern "C" {

int ncclGetVersion(int *version)
{
    const char *text = getenv("NCCL_DOUBLE_VERSION");

    *version = text ? atoi(text) : 22809;
    return RT_NCCL_SUCCESS;
}

const char *ncclGetErrorString(int status) { return status ? "NCCL's double failed" : "no error"; }

const char *ncclGetLastError(RtNcclComm *) { return exchange_has_failed ? "a link is down" : ""; }

// The id says whose memory it is. It stays open as long as that process lives.
int ncclGetUniqueId(RtNcclId *id)
{
    int where[2] = {getpid(), memfd_create("nccl", MFD_CLOEXEC)};
    const char *wanted = getenv("NCCL_DOUBLE_SOCKET_IFNAME"), *name = getenv("NCCL_SOCKET_IFNAME");

    if (wanted && strcmp(wanted, name ? name : ""))
        fail("ncclGetUniqueId: NCCL_SOCKET_IFNAME is %s", name ? name : "not set");
    if (where[1] < 0 || ftruncate(where[1], sizeof(Job)))
        fail("ncclGetUniqueId: no memory");
    memset(id, 0, sizeof *id);
    memcpy(id, where, sizeof where);
    return RT_NCCL_SUCCESS;
}

int ncclCommInitRankConfig(RtNcclComm **c, int ranks, RtNcclId id, int rank, RtNcclConfig *config)
{
    LOCKED;
    int where[2];

    if (config->size != sizeof *config || config->magic != 0xcafebeef || config->blocking)
        fail("ncclCommInitRankConfig: the configuration is wrong");
    if (ranks < 1 || ranks > RANKS || rank < 0 || rank >= ranks)
        fail("ncclCommInitRankConfig: rank %d of %d", rank, ranks);
    memcpy(where, &id, sizeof where);
    Job *job = job_of(where[0], where[1]);
    if (!job)
        fail("ncclCommInitRankConfig: no such id");
    int none = 0;
    job->groups.compare_exchange_strong(none, 1);
    *c = comm_new(job, 0);
    (*c)->rank = rank;
    (*c)->ranks = ranks;
    join(*c);
    return RT_NCCL_IN_PROGRESS;
}

int ncclCommSplit(RtNcclComm *c, int color, int key, RtNcclComm **to, RtNcclConfig *)
{
    LOCKED;
    HANDLE(c);
    if (!is_ready(c))
        fail("ncclCommSplit: the communicator isn't ready");
    int number = c->splits++;
    auto &split = c->group().split[number % SPLITS];
    *to = c->child = comm_new(c->job, group_of_split(c->job, c->number, number, color));
    c->color = split.color[c->rank] = color;
    split.key[c->rank] = key;
    split.posted++;
    c->state = RtNcclComm::SPLITS_OFF;
    (*to)->state = RtNcclComm::JOINS;
    (*to)->ranks = -1;
    return RT_NCCL_IN_PROGRESS;
}

// A thread of its own calls it too, also while a call waits for other ranks.
int ncclCommGetAsyncError(RtNcclComm *c, int *status)
{
    *status = exchange_has_failed ? RT_NCCL_UNHANDLED_CUDA_ERROR
              : is_ready(c)       ? RT_NCCL_SUCCESS
                                  : RT_NCCL_IN_PROGRESS;
    return RT_NCCL_SUCCESS;
}

int ncclCommFinalize(RtNcclComm *c)
{
    LOCKED;
    HANDLE(c);
    if (c->state != RtNcclComm::READY)
        fail("ncclCommFinalize: the communicator isn't ready");
    c->state = RtNcclComm::ENDS;
    c->group().ended++;
    return RT_NCCL_IN_PROGRESS;
}

static int destroy_comm(RtNcclComm *c)
{
    cudaFree(c->taken);
    destroy(c);
    return RT_NCCL_SUCCESS;
}

int ncclCommDestroy(RtNcclComm *c)
{
    LOCKED;
    HANDLE(c);
    if (c->state != RtNcclComm::ENDS || !is_ready(c))
        fail("ncclCommDestroy: before all ranks have finalized the communicator");
    return destroy_comm(c);
}

// Frees nothing if a call on this communicator still waits for other ranks.
int ncclCommAbort(RtNcclComm *c)
{
    std::unique_lock<std::recursive_mutex> lock(mutex, std::try_to_lock);

    return lock ? destroy_comm(c) : RT_NCCL_SUCCESS;
}

int ncclGroupStart(void)
{
    LOCKED;
    depth++;
    return RT_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
    LOCKED;
    if (!depth)
        fail("ncclGroupEnd: no group has begun");
    if (!--depth && !grouped.empty()) {
        enqueue(grouped_stream, [messages = std::move(grouped)] { exchange(messages); });
        grouped.clear();
    }
    return RT_NCCL_SUCCESS;
}

int ncclAllReduce(const void *x, void *y, size_t count, int type, int op, RtNcclComm *c,
                  cudaStream_t stream)
{
    LOCKED;
    size_t width = width_of(type);
    Said s = said("ncclAllReduce", count, type, op);

    check_call(c, stream, __func__);
    check_buffer(x, count * width, __func__);
    check_buffer(y, count * width, __func__);
    enqueue(stream, [=] {
        run(c, s, static_cast<const unsigned char *>(x), 1, 0, [=](size_t at, size_t n) {
            unsigned char *to = static_cast<unsigned char *>(y) + at;
            memcpy(to, c->group().data[0], n);
            for (int r = 1; r < c->ranks; r++)
                combine(s, to, c->group().data[r], n / width);
        });
    });
    return begun(c);
}

int ncclReduceScatter(const void *x, void *y, size_t count, int type, int op, RtNcclComm *c,
                      cudaStream_t stream)
{
    LOCKED;
    size_t width = width_of(type), ranks = (size_t)c->ranks, own = (size_t)c->rank;
    Said s = said("ncclReduceScatter", count, type, op);

    check_call(c, stream, __func__);
    check_buffer(x, ranks * count * width, __func__);
    check_buffer(y, count * width, __func__);
    enqueue(stream, [=] {
        run(c, s, static_cast<const unsigned char *>(x), ranks, count * width,
            [=](size_t at, size_t n) {
                unsigned char *to = static_cast<unsigned char *>(y) + at;
                memcpy(to, c->group().data[0] + own * n, n);
                for (int r = 1; r < c->ranks; r++)
                    combine(s, to, c->group().data[r] + own * n, n / width);
            });
    });
    return begun(c);
}

int ncclAllGather(const void *x, void *y, size_t count, int type, RtNcclComm *c,
                  cudaStream_t stream)
{
    LOCKED;
    size_t bytes = count * width_of(type);
    Said s = said("ncclAllGather", count, type, 0);

    check_call(c, stream, __func__);
    check_buffer(x, bytes, __func__);
    check_buffer(y, (size_t)c->ranks * bytes, __func__);
    enqueue(stream, [=] {
        run(c, s, static_cast<const unsigned char *>(x), 1, 0, [=](size_t at, size_t n) {
            for (int r = 0; r < c->ranks; r++)
                memcpy(static_cast<unsigned char *>(y) + (size_t)r * bytes + at, c->group().data[r],
                       n);
        });
    });
    return begun(c);
}

int ncclSend(const void *x, size_t count, int type, int peer, RtNcclComm *c, cudaStream_t stream)
{
    LOCKED;
    return add_message(const_cast<void *>(x), count, type, peer, c, stream, true);
}

int ncclRecv(void *y, size_t count, int type, int peer, RtNcclComm *c, cudaStream_t stream)
{
    LOCKED;
    return add_message(y, count, type, peer, c, stream, false);
}

}  // extern "C"

DOUBLE_OF(ncclGetVersion);
DOUBLE_OF(ncclGetErrorString);
DOUBLE_OF(ncclGetLastError);
DOUBLE_OF(ncclGetUniqueId);
DOUBLE_OF(ncclCommInitRankConfig);
DOUBLE_OF(ncclCommSplit);
DOUBLE_OF(ncclCommGetAsyncError);
DOUBLE_OF(ncclCommFinalize);
DOUBLE_OF(ncclCommDestroy);
DOUBLE_OF(ncclCommAbort);
DOUBLE_OF(ncclGroupStart);
DOUBLE_OF(ncclGroupEnd);
DOUBLE_OF(ncclAllReduce);
DOUBLE_OF(ncclReduceScatter);
DOUBLE_OF(ncclAllGather);
DOUBLE_OF(ncclSend);
DOUBLE_OF(ncclRecv);
