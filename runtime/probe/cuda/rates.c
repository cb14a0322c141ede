// Measures what a GPU can do except products: memory, starts of kernels, elementwise arithmetic,
// and attention. Sizes grow until a call is large enough, or takes as long as it may; the last one
// counts.
#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

enum { BLOCK = 256, EACH = 4 };  // threads; elements that a thread has together
enum { FIRST_FLOATS = 1 << 14, MAX_FLOATS = 1 << 28 };

// ---- memory ----

typedef struct Stream {
    float *y, *sums;
    int64_t n;
} Stream;

static void update(Rt *rt, const void *operand)
{
    const Stream *s = operand;
    struct {
        float *y;
        int64_t n;
    } operands = {s->y, s->n};

    rt_launch(rt, "probe_update", rt_ceil_div(s->n, EACH * BLOCK), BLOCK, &operands,
              sizeof operands);
}

// Blocks that read a stream, each thread several times.
static int64_t readers(int64_t n)
{
    return rt_least(4 * RT_CUDA_BLOCKS, rt_ceil_div(n, 4 * EACH * BLOCK));
}

static void sum(Rt *rt, const void *operand)
{
    const Stream *s = operand;
    struct {
        float *sums, *y;
        int64_t n;
    } operands = {s->sums, s->y, s->n};

    rt_launch(rt, "probe_sum", readers(s->n), BLOCK, &operands, sizeof operands);
}

// Gives bytes/s that are moved, and that are only read. No cache holds the last stream, where there
// is memory and time for it.
static void measure_memory(Probe *p, double *bandwidth, double *reading)
{
    double seconds = 0;

    for (int64_t n = FIRST_FLOATS; n <= MAX_FLOATS && n <= p->memory / 16; n *= 4) {
        if (seconds > 0 && !has_time(p, 4 * seconds))
            break;
        Stream s = {drawn_memory(p, RT_F32, n), gpu_memory(readers(n) * BLOCK * 4), n};
        double bytes = (double)n * sizeof(float);
        seconds = bare_seconds(p, update, &s);
        *bandwidth = 2 * bytes / seconds;
        *reading = bytes / bare_seconds(p, sum, &s);
        rt_cuda_must(cudaFree(s.y), "memory");
        rt_cuda_must(cudaFree(s.sums), "memory");
    }
}

// ---- starts and arithmetic ----

// A fused group that does nothing, in as many blocks as there are multiprocessors.
static void nothing(Rt *rt, const void *blocks)
{
    static const int64_t unused;

    rt_launch(rt, "probe_nothing", *(const int64_t *)blocks, BLOCK, &unused, sizeof unused);
}

static double launch_seconds(Probe *p)
{
    int processors = 0;

    rt_cuda_must(
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, p->rt.gpu.number),
        "the GPU");
    int64_t blocks = processors;
    return call_seconds(p, nothing, &blocks);
}

// As probe_chain: 8 multiplications and additions of an element, CHAIN_TURNS times.
enum { CHAIN_FLOPS = 16, CHAIN_TURNS = 64 };

void gpu_chain(Rt *rt, const void *operand)
{
    const Chain *c = operand;
    struct {
        float *y;
        int64_t turns;
    } operands = {c->y, CHAIN_TURNS};

    rt_launch(rt, "probe_chain", c->blocks, BLOCK, &operands, sizeof operands);
}

int64_t chain_bytes(int64_t blocks) { return blocks * BLOCK * EACH * (int64_t)sizeof(float); }

static double vector_rate(Probe *p)
{
    double seconds = 0, rate = 0;

    for (int64_t blocks = 2; blocks <= 64 * RT_CUDA_BLOCKS; blocks *= 4) {
        if (seconds > 0 && !has_time(p, 4 * seconds))
            break;
        int64_t elements = blocks * BLOCK * EACH;
        Chain c = {drawn_memory(p, RT_F32, elements), blocks};
        seconds = bare_seconds(p, gpu_chain, &c);
        rate = (double)CHAIN_FLOPS * CHAIN_TURNS * (double)elements / seconds;
        p->chains = seconds < 2e-3 || !p->chains ? blocks : p->chains;
        rt_cuda_must(cudaFree(c.y), "memory");
    }
    return rate;
}

// ---- attention ----

static void measure_attention(Probe *p, RtType type, double *forward, double *grad)
{
    static const struct {
        int64_t heads, tokens;
    } sizes[] = {{1, 64}, {4, 64}, {4, 128}, {8, 256}, {32, 256}, {32, 512}, {64, 1024}};
    double per_flop = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t heads = sizes[i].heads, tokens = sizes[i].tokens;
        double flops = heads_flops(heads, tokens);
        if (per_flop > 0 && !has_time(p, 4 * flops * per_flop))
            break;
        // Maxima and sums are made before they are read.
        void *memory =
            drawn_memory(p, type, heads_bytes(type, heads, tokens) / rt_type_bytes(type));
        Heads h = heads_at(memory, type, heads, tokens);
        p->rt.workspace = gpu_memory(rt_cuda_attention_workspace(&h.p) + 1);
        *forward = 2 * flops / bare_seconds(p, attend, &h);
        double seconds = bare_seconds(p, attend_grad, &h);
        per_flop = seconds / (4 * flops);
        *grad = 1 / per_flop;
        rt_cuda_must(cudaFree(p->rt.workspace), "memory");
        rt_cuda_must(cudaFree(memory), "memory");
    }
}

void measure_rates(Probe *p, Rates *r)
{
    double one = 0, other = 0;

    rate_add(&r->launch, launch_seconds(p));
    p->launch = rate_of(&r->launch);
    measure_memory(p, &one, &other);
    rate_add(&r->bandwidth, one);
    rate_add(&r->reading, other);
    rate_add(&r->vector, vector_rate(p));
    measure_attention(p, RT_F32, &one, &other);
    rate_add(&r->attention, one);
    rate_add(&r->attention_grad, other);
    measure_attention(p, RT_BF16, &one, &other);
    rate_add(&r->half_attention, one);
    rate_add(&r->half_attention_grad, other);
}
