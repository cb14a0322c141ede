// Measures this machine with the kernels that trainers call, and prints the result as JSON for
// shardcc detect. The fastest of several calls counts, because other processes on the machine only
// slow calls down. If a launcher started the program, all ranks measure and rank 0 prints.
//
//   probe [THREADS]             everything
//   probe spawn RANKS THREADS   everything, on ranks of this machine that it starts; threads 0: all
//   probe THREADS M N K …       the flop/s of these products of f32
//   probe check …               what hosts have: probe_check.c
//   probe THREADS memory        the bytes/s of memory: copying, reading alone, and c = a + b
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"
#include "runtime/rt_cpu.h"
#include "runtime/rt_workspace.h"

// Minimal number of calls of each measurement and minimal seconds, in each of ROUNDS rounds.
enum { CALLS = 3, ROUNDS = 4 };
static const double PATIENCE = 0.005;

// Elements of an array that exceeds all caches: 256 MiB or twice the largest cache, but at most an
// eighth of the memory.
static int64_t stream_length(void)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    double bytes = fmax(256 << 20, 2.0 * (double)sysconf(_SC_LEVEL3_CACHE_SIZE));

    return (int64_t)fmin(bytes, memory / 8) / (int64_t)sizeof(float);
}

// Allocates zeroed memory in huge pages, as the arena is: small pages are slower.
static void *take(size_t bytes)
{
    const size_t page = (size_t)1 << 21, whole = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, whole);

    if (!p) {
        fprintf(stderr, "no memory to measure with: %zu MiB\n", bytes >> 20);
        exit(1);
    }
    madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

static double least_seconds(Rt *rt, void (*call)(Rt *rt, const void *p), const void *p)
{
    double begin = rt_seconds(), best = 1e30;

    for (int i = 0; i <= CALLS || rt_seconds() - begin < PATIENCE; i++) {
        double start = rt_seconds();
        call(rt, p);
        double seconds = rt_seconds() - start;
        best = i && seconds < best ? seconds : best;  // the first call warms up
    }
    return best;
}

// ---- products ----

// c = a b with a: m by k and b: k by n.
typedef struct Product {
    char *y, *a, *b;
} Product;

static void multiply(Rt *rt, const void *p)
{
    const Product *x = p;

    rt_dot(rt, 0, x->y, x->a, x->b);
}

static double gemm_rate(Rt *rt, RtType type, int64_t m, int64_t n, int64_t k)
{
    RtDot p = product_of(type, 1, m, n, k);
    size_t each = (size_t)rt_type_bytes(type);
    void *kernel = NULL;
    Product x = {take((size_t)(m * n) * each), take((size_t)(m * k) * each),
                 take((size_t)(k * n) * each)};

    rt->kernel = &kernel;
    rt->workspace = take((size_t)rt_dot_workspace(&p, rt->threads) + 64);
    rt_dot_init(rt, 0, &p);
    double seconds = least_seconds(rt, multiply, &x);
    rt_kernels_free(rt, 1);
    free(rt->workspace);
    free(x.y);
    free(x.a);
    free(x.b);
    return 2.0 * (double)m * (double)n * (double)k / seconds;
}

static const struct {
    RtType type;
    const char *name;
    int n, size[4];
} tables[] = {{RT_F32, "f32", 4, {32, 128, 512, 2048}},
              {RT_F64, "f64", 2, {32, 256}},
              {RT_BF16, "bf16", 3, {128, 512, 2048}},
              {RT_F16, "f16", 2, {128, 1024}}};

enum { TABLES = sizeof tables / sizeof *tables };
enum { PRODUCTS = 4 * 4 * 4 + 2 * 2 * 2 + 3 * 3 * 3 + 2 * 2 * 2 };

static void measure_products(Rt *rt, double rate[PRODUCTS])
{
    for (int t = 0; t < TABLES; t++) {
        const int *size = tables[t].size, n = tables[t].n;
        for (int i = 0; i < n * n * n; i++, rate++) {
            double r =
                gemm_rate(rt, tables[t].type, size[i / (n * n)], size[i / n % n], size[i % n]);
            *rate = fmax(*rate, r);
        }
    }
}

static void print_products(const double rate[PRODUCTS])
{
    const char *comma = "";

    for (int t = 0; t < TABLES; t++) {
        const int *size = tables[t].size, n = tables[t].n;
        for (int i = 0; i < n * n * n; i++, comma = ",\n")
            printf("%s{\"type\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, \"flops\": %.4g}", comma,
                   tables[t].name, size[i / (n * n)], size[i / n % n], size[i % n], *rate++);
    }
}

// ---- attention ----

enum { TOKENS = 256, HEADS = 8 };

// Gives the rates of attention and of its gradient, which takes what attention has made.
static void measure_attention(Rt *rt, RtType type, double *forward, double *grad)
{
    int64_t heads = (int64_t)HEADS * rt->threads;
    void *memory = take((size_t)heads_bytes(type, heads, TOKENS));
    Heads h = heads_at(memory, type, heads, TOKENS);
    double flops = heads_flops(heads, TOKENS);

    rt->workspace = take((size_t)rt_attention_workspace(&h.p, rt->threads));
    *forward = fmax(*forward, 2 * flops / least_seconds(rt, attend, &h));
    *grad = fmax(*grad, 4 * flops / least_seconds(rt, attend_grad, &h));
    free(rt->workspace);
    free(memory);
}

// ---- loops ----

// The operands of a loop.
typedef struct Vectors {
    const float *a, *b;
    float *y;
} Vectors;

// Memory moves most bytes if reads and writes are balanced. It updates in place, because a store to
// a line that isn't cached would read the line first.
static void update(const void *operands, int64_t first, int64_t last)
{
    float *y = ((const Vectors *)operands)->y;

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y[i] = y[i] * 0.5f + 1;
}

static void sum(const void *operands, int64_t first, int64_t last)
{
    float *y = ((const Vectors *)operands)->y, s = 0;

    RT_SIMD_SUM(s)
    for (int64_t i = first; i < last; i++)
        s += y[i];
    y[first] = s;
}

// The mix of reads and writes of most fused groups. The lines of y are read before they are
// written.
static void add(const void *operands, int64_t first, int64_t last)
{
    const Vectors *v = operands;
    const float *a = v->a, *b = v->b;
    float *y = v->y;

    RT_SIMD
    for (int64_t i = first; i < last; i++)
        y[i] = a[i] + b[i];
}

// Eight dependent multiplications and additions per element, in the caches: each thread has its own
// vector, and its rows update the vector one after the other.
enum { CHAIN = 16, VECTOR = 1 << 13, ROWS = 256 };

static void chain(const void *operands, int64_t first, int64_t last)
{
    float *y = ((const Vectors *)operands)->y + first / ROWS * VECTOR;

    for (int64_t r = first; r < last; r++) {
        RT_SIMD
        for (int64_t i = 0; i < VECTOR; i++) {
            float v = y[i];
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            v = v * 0.5f + 1;
            y[i] = v;
        }
    }
}

static void nothing(const void *operands, int64_t first, int64_t last)
{
    (void)operands;
    (void)first;
    (void)last;
}

typedef struct Loop {
    RtRows *rows;
    Vectors vectors;
    int64_t n;
} Loop;

static void loop(Rt *rt, const void *p)
{
    const int64_t much = 1 << 20;  // operations of a row: makes all threads take part
    const Loop *x = p;

    rt_rows(rt, x->rows, &x->vectors, x->n, much);
}

typedef struct Rates {
    double bandwidth, reading, launch, vector, attention, attention_grad;
    double half_attention, half_attention_grad;  // of bf16
    double product[PRODUCTS];
} Rates;

static void measure_memory(Rt *rt, Rates *r)
{
    const int64_t n = stream_length();
    const double bytes = (double)n * sizeof(float);
    Vectors v = {.y = take((size_t)n * sizeof(float))};

    r->bandwidth = fmax(r->bandwidth, 2 * bytes / least_seconds(rt, loop, &(Loop){update, v, n}));
    r->reading = fmax(r->reading, bytes / least_seconds(rt, loop, &(Loop){sum, v, n}));
    free(v.y);
}

static double adding_rate(Rt *rt)
{
    const int64_t n = stream_length() / 4;
    float *all = take((size_t)(4 * n) * sizeof(float));
    double seconds = least_seconds(rt, loop, &(Loop){add, {all, all + n, all + 2 * n}, n});

    free(all);
    return 4.0 * 4 * (double)n / seconds;
}

static void measure(Rt *rt, Rates *r)
{
    int64_t rows = ROWS * rt->threads;
    Vectors v = {.y = take((size_t)rt->threads * VECTOR * sizeof(float))};

    measure_memory(rt, r);
    r->launch = fmin(r->launch, least_seconds(rt, loop, &(Loop){nothing, v, rt->threads}));
    double seconds = least_seconds(rt, loop, &(Loop){chain, v, rows});
    r->vector = fmax(r->vector, (double)CHAIN * VECTOR * (double)rows / seconds);
    free(v.y);
    measure_attention(rt, RT_F32, &r->attention, &r->attention_grad);
    measure_attention(rt, RT_BF16, &r->half_attention, &r->half_attention_grad);
    measure_products(rt, r->product);
}

// Prints a line with the flop/s of each product M N K, or the memory's rates.
static int print_rates(Rt *rt, int n, char **size)
{
    if (n == 1 && !strcmp(size[0], "memory")) {
        Rates r = {0};
        double adding = 0;
        for (int i = 0; i < ROUNDS; i++) {
            measure_memory(rt, &r);
            adding = fmax(adding, adding_rate(rt));
        }
        printf("%.4g %.4g %.4g\n", r.bandwidth, r.reading, adding);
    }
    for (int i = 0; i + 2 < n; i += 3)
        printf("%.4g\n",
               gemm_rate(rt, RT_F32, atoll(size[i]), atoll(size[i + 1]), atoll(size[i + 2])));
    return fflush(stdout) != 0;
}

// The threads of a rank: the cores that it may use, shared with the other ranks of its host.
static int threads_of(const Ranks *ranks, int asked)
{
    int all = omp_get_max_threads(), n = all;

    if (all == sysconf(_SC_NPROCESSORS_ONLN))  // the rank isn't bound to some of the cores
        n = all / ranks->per_host;
    n = asked ? asked : n;
    return n < 1 ? 1 : n > RT_MAX_THREADS ? RT_MAX_THREADS : n;
}

// If there are fewer cores than threads of all ranks, the fastest call may have had a core to
// itself. Scales the rates to a thread's share of a core.
static void share_cores(const Ranks *ranks, int threads, Rates *r)
{
    double share = (double)sysconf(_SC_NPROCESSORS_ONLN) / (ranks->per_machine * threads);

    share = fmin(share, 1);
    r->vector *= share;
    r->attention *= share;
    r->attention_grad *= share;
    r->half_attention *= share;
    r->half_attention_grad *= share;
    r->launch /= share;
    for (int i = 0; i < PRODUCTS; i++)
        r->product[i] *= share;
}

static void print_device(const Rt *rt, const Rates *r, int per_host)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);

    printf("\"device\": {\n");
    printf("\"threads\": %d, \"memory\": %.15g, \"bandwidth\": %.4g, \"reading\": %.4g,\n",
           rt->threads, floor(memory / per_host), r->bandwidth, r->reading);
    printf("\"launch\": %.4g, \"vector\": %.4g, \"attention\": %.4g, \"attention_grad\": %.4g,\n",
           r->launch, r->vector, r->attention, r->attention_grad);
    printf("\"half_attention\": %.4g, \"half_attention_grad\": %.4g,\n", r->half_attention,
           r->half_attention_grad);
    printf("\"gemm\": [");
    print_products(r->product);
    printf("],\n\"exchange_memory\": {\"base\": 0, \"communicator\": 0}}}\n");
}

// The computation that overlaps messages stays in the caches, as most of a product does.
static void measure_links(const Ranks *ranks, Rt *rt)
{
    Vectors v = {.y = take((size_t)rt->threads * VECTOR * sizeof(float))};

    ranks_measure(ranks, &(Meanwhile){loop, rt, &(Loop){chain, v, ROWS * rt->threads}});
    free(v.y);
}

// Measures on `spawn` ranks that it starts, or, if that is 0, on those of a launcher.
static int measure_all(int spawn, int threads)
{
    RtModel model = {.name = "probe", .transport = &TRANSPORT};
    Ranks ranks;

    ranks_begin(&ranks, &model, spawn);
    Rt rt = {.threads = threads_of(&ranks, threads)};
    Rates r = {.launch = 1};

    omp_set_num_threads(rt.threads);
    for (int i = 0; i < ROUNDS; i++) {
        ranks_wait(&ranks);  // all ranks of a host measure at the same time, as they compute at the
                             // same time
        measure(&rt, &r);
    }
    share_cores(&ranks, rt.threads, &r);
    if (!ranks.rank)
        printf("{\"version\": 3, \"devices_per_host\": %d, ", ranks.per_host);
    if (ranks.n > 1)
        measure_links(&ranks, &rt);
    else
        printf("\"links\": [], ");
    if (!ranks.rank)
        print_device(&rt, &r, ranks.per_host);
    else if (!ranks.is_spawned)
        printf("null\n");
    ranks_end(&ranks);
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 + PROBE_CHECK_WORDS && !strcmp(argv[1], "check"))
        return probe_check(argc - 2, argv + 2);
    rt_limit_spinning(argv);
    int threads = argc > 1 ? atoi(argv[1]) : 0;
    if (argc == 4 && !strcmp(argv[1], "spawn"))
        return measure_all(atoi(argv[2]), atoi(argv[3]));
    if (argc <= 2)
        return measure_all(0, threads);
    Rt rt = {.threads = threads_of(&(Ranks){.n = 1, .per_host = 1}, threads)};
    omp_set_num_threads(rt.threads);
    return print_rates(&rt, argc - 2, argv + 2);
}
