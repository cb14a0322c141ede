// Clusters that need no file.
//
// The rates of GPUs are those of the data sheets ("NVIDIA A100 Tensor Core GPU", 2021, 80 GB SXM;
// "NVIDIA H100 Tensor Core GPU", 2023, SXM5; "NVIDIA H200 Tensor Core GPU", 2024, SXM; "NVIDIA HGX
// B200", 2025, an eighth of what its eight GPUs have; dense, without sparsity) times the share that
// programs are assumed to reach. Attention in halves reaches 50 to 73 % of the A100's peak (Dao,
// "FlashAttention-2", 2023) and, without instructions that newer GPUs alone have, 35 % of the
// H100's (Shah et al., "FlashAttention-3", 2024). The links between hosts are those of DGX A100,
// DGX H100, DGX H200 and DGX B200: one adapter per GPU. docs/cluster.md lists the assumptions.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/machine/machine.h"

static const GemmRate assumed_rate = {F32, 512, 512, 512, 2e11};
const Cluster cluster_assumed = {.memory = 1e12,
                                 .bandwidth = 2e10,
                                 .read_bandwidth = 2e10,
                                 .launch = 1e-6,
                                 .vector = 2e10,
                                 .gemm = (GemmRate *)&assumed_rate,
                                 .n_gemm = 1};

// Assumed shares of the published rates: of memory, of elementwise arithmetic, of links.
static const double MEMORY_SHARE = 0.85, VECTOR_SHARE = 0.7, LINK_SHARE = 0.85;

// Assumed shares of the published rate of matrix products, by the size of m, n and k.
static const struct {
    double size, share;
} products[] = {{256, 0.1}, {1024, 0.5}, {4096, 0.7}};

typedef struct Gpu {
    const char *name;
    double memory, bandwidth, vector;
    double half, single, twice;     // flop/s of products of 16, 32, 64 bits
    double attention_share;         // of `half`, that attention reaches
    double intra_host, inter_host;  // bytes/s that a device sends
    const char *intra_host_name, *inter_host_name;
} Gpu;

static const Gpu gpus[] = {
    {"a100x", 80e9, 2.039e12, 19.5e12, 312e12, 19.5e12, 19.5e12, 0.5, 300e9, 25e9, "NVLink",
     "200 Gbit/s InfiniBand"},
    {"h100x", 80e9, 3.35e12, 67e12, 989.4e12, 67e12, 67e12, 0.35, 450e9, 50e9, "NVLink",
     "400 Gbit/s InfiniBand"},
    {"h200x", 141e9, 4.8e12, 67e12, 989.4e12, 67e12, 67e12, 0.35, 450e9, 50e9, "NVLink",
     "400 Gbit/s InfiniBand"},
    {"b200x", 180e9, 8e12, 75e12, 2250e12, 75e12, 37e12, 0.35, 900e9, 50e9, "NVLink",
     "400 Gbit/s InfiniBand"},
};

// Bytes of a GPU that NCCL may take. Its buffers grow with the number of GPUs, so both are
// generous.
static const ExchangeMemory of_nccl = {1 << 30, 256 << 20};

enum { PER_HOST = 8, MAX_GPUS = 1 << 16 };

static void add_products(Arena *a, Cluster *c, DType type, double peak)
{
    int cap = c->n_gemm;

    for (int i = 0; i < COUNT(products); i++) {
        double n = products[i].size;
        *arena_push(a, c->gemm, c->n_gemm, cap) =
            (GemmRate){type, n, n, n, products[i].share * peak};
    }
}

static Link link_of(const char *name, int devices, double alpha, double rate)
{
    return (Link){name, devices, 1, alpha, 1 / (LINK_SHARE * rate)};
}

static Cluster gpu_cluster(Arena *a, const Gpu *g, int n)
{
    Cluster c = {.devices_per_host = n < PER_HOST ? n : PER_HOST,
                 .is_gpu = true,
                 .threads = 1,
                 .memory = g->memory,
                 .exchange_memory = of_nccl,
                 .bandwidth = MEMORY_SHARE * g->bandwidth,
                 .read_bandwidth = MEMORY_SHARE * g->bandwidth,
                 .launch = 3e-6,
                 .vector = VECTOR_SHARE * g->vector,
                 .half_attention = {g->attention_share * g->half, 0},
                 .link = arena_array(a, Link, 2)};

    add_products(a, &c, F32, g->single);
    add_products(a, &c, F64, g->twice);
    add_products(a, &c, F16, g->half);
    add_products(a, &c, BF16, g->half);
    if (n > 1)
        c.link[c.n_links++] = link_of(g->intra_host_name, c.devices_per_host, 3e-6, g->intra_host);
    if (n > PER_HOST)
        c.link[c.n_links++] = link_of(g->inter_host_name, n, 8e-6, g->inter_host);
    return c;
}

// A cluster of ranks with one core each on this machine, which exchange messages through memory.
// The rates are round numbers of a current server. All messages share the one memory. Alpha is
// large because ranks wait for one another longer than for a message.
static Cluster local_cluster(Arena *a, int ranks)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    Cluster c = {.devices_per_host = ranks,
                 .threads = 1,
                 .memory = floor(memory / ranks),
                 .bandwidth = 2e10,
                 .read_bandwidth = 1.5e10,
                 .launch = 1e-6,
                 .vector = 5e10,
                 .attention = {6e10, 0},
                 .link = arena_array(a, Link, 1)};

    // A core reaches its full rate with small products already.
    c.gemm = arena_array(a, GemmRate, 2);
    c.gemm[c.n_gemm++] = (GemmRate){F32, 512, 512, 512, 1.8e11};
    c.gemm[c.n_gemm++] = (GemmRate){F64, 512, 512, 512, 9e10};
    if (ranks > 1)
        c.link[c.n_links++] = (Link){"shared memory", ranks, ranks, 3e-5, 4e-11};
    return c;
}

bool cluster_open(Arena *a, const char *name, int ranks, Cluster *c, Diag *d)
{
    if (!strcmp(name, "local")) {
        *c = local_cluster(a, ranks);
        return true;
    }
    for (int i = 0; i < COUNT(gpus); i++) {
        size_t n = strlen(gpus[i].name);
        if (strncmp(name, gpus[i].name, n) || strspn(name + n, "0123456789") != strlen(name + n))
            continue;
        long count = strtol(name + n, NULL, 10);
        if (count < 1 || count > MAX_GPUS || (count > PER_HOST && count % PER_HOST)) {
            diag_error(d, "expected 1 to 7 devices, or a multiple of %d up to %d", PER_HOST,
                       MAX_GPUS);
            return false;
        }
        *c = gpu_cluster(a, &gpus[i], (int)count);
        return true;
    }
    return cluster_read(a, name, c, d);
}
