// Shared by the files of the probe of GPUs: how long calls take, what a GPU can do, what links
// between GPUs can, and how fast collectives are.
#ifndef RT_GPU_PROBE_H
#define RT_GPU_PROBE_H

#include "runtime/cuda/cuda.h"
#include "runtime/exchange/exchange.h"
#include "runtime/probe/probe.h"
#include "runtime/rt_cuda.h"

// Something that puts kernels into the GPU's stream.
typedef void ProbeCall(Rt *rt, const void *operand);

typedef struct Probe {
    Rt rt;  // first, because the recorded function gets it
    Ranks *ranks;
    double end;      // by rt_seconds: by when the rates are to be measured
    double longest;  // seconds that a call may take
    double launch;   // seconds that a kernel takes to start inside of a graph
    int64_t memory;  // bytes of the GPU
    int64_t chains;  // blocks of a gpu_chain of two milliseconds at most, if there is one
    // The recorded function repeats this.
    ProbeCall *call;
    const void *operand;
    int times;
} Probe;

// ---- how long calls take: time_calls.c ----

// Seconds of a call where a graph repeats it: the median of some runs.
double call_seconds(Probe *p, ProbeCall *call, const void *operand);
// The same without the time that a call takes to start; but half of the time at least.
double bare_seconds(Probe *p, ProbeCall *call, const void *operand);
// Seconds of a call in a graph of its own, the median of `runs` runs, and of two before. For calls
// of several ranks, which all run equally often.
enum { MAX_RUNS = 9 };
double run_seconds_of(Probe *p, ProbeCall *call, const void *operand, int runs);
// Runs a call directly, calls `between`, and runs it again, in a graph of its own. Both runs have
// ended when it goes on.
void run_twice(Probe *p, ProbeCall *call, const void *operand, void (*between)(void *context),
               void *context);
// Is there time to measure a call that takes so long?
bool has_time(const Probe *p, double seconds);
// Memory of the GPU; ends the program with a message if there is none. cudaFree frees it.
void *gpu_memory(int64_t bytes);
// The same, with random numbers of a type: zeros would take less power, and so less time.
void *drawn_memory(Probe *p, RtType type, int64_t count);

// A number that is measured in several rounds, of which the median counts.
enum { ROUNDS = 3 };
typedef struct Rate {
    double round[ROUNDS];
    int n;  // of the rounds so far; 0: it was never measured
} Rate;
void rate_add(Rate *r, double x);
double rate_of(const Rate *r);

// ---- what a GPU can do: rates.c, products.c ----

typedef struct Rates {
    Rate bandwidth, reading, launch, vector, attention, attention_grad;
    Rate half_attention, half_attention_grad;  // of bf16
} Rates;
void measure_rates(Probe *p, Rates *r);

// Multiplications and additions in registers, which take `blocks` blocks.
typedef struct Chain {
    float *y;
    int64_t blocks;
} Chain;
ProbeCall gpu_chain;
int64_t chain_bytes(int64_t blocks);

// A product of the table, and its flop/s.
typedef struct Product {
    RtType type;
    int64_t batch, m, n, k;
    Rate rate;
} Product;
// All products, in the order of their work. Sets *n to their number. The caller frees them.
Product *products_new(int *n);
// Measures those for which there is time.
void measure_products(Probe *p, Product *product, int n);

// ---- links between GPUs: gpu_links.c ----

enum { GPU_LARGE = 1 << 26 };  // bytes of the largest message
// Prints the times of messages, as ranks_measure does, by the collectives of the ranks.
void measure_gpu_links(Probe *p);

// ---- collectives: collective_rates.c, plain_nccl.c ----

typedef struct CollectiveSizes {
    int64_t least, most;  // bytes: the first one, and those that are 4, 16, … times as many
} CollectiveSizes;
// RtModel.exchange_bytes for these sizes: pinned memory of exchanges through the host.
int64_t collectives_pinned(CollectiveSizes sizes);
// Measures each collective, as a trainer calls it and as a plain call of NCCL. Rank 0 prints a line
// of JSON about the ranks, and one for each collective and size. On a mesh of two axes these are
// permutes between them, else collectives of all ranks. One rank has the plain calls alone, on a
// communicator of its own. Returns false after a message if it finds no NCCL.
bool measure_collectives(Probe *p, CollectiveSizes sizes);

// A collective of `count` f32, split over all ranks. `partners`: of a permute.
typedef struct PlainCall {
    RtExchangeKind kind;
    int64_t count;
    RtPartners partners;
    float *x, *y;
    int times;
} PlainCall;
// NCCL, with a communicator of all ranks. NULL: the ranks exchange by other means.
typedef struct Plain Plain;
Plain *plain_open(Probe *p);
// Puts the calls into the stream that NCCL's calls of this program go to.
void plain_put(Rt *rt, const Plain *plain, const PlainCall *c);
void plain_close(Plain *plain);

#endif
