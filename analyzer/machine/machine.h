// The work of a node, the rates of a machine, and the time that this work takes there.
#ifndef SHARDCC_MACHINE_H
#define SHARDCC_MACHINE_H

#include "ir/ir.h"

// ---- work ----

// The work of one call of a kernel or fused group.
typedef struct Work {
    double flops;
    // Bytes that memory moves; each operand counts once. A cache holds whole lines, so bytes that
    // are written without having been read are fetched first. They count in both fields.
    double read, written;
    DType type;
    // If is_product: the work is `batch` products of an m by k and a k by n matrix.
    bool is_product, is_attention, is_attention_grad;
    double batch, m, n, k;
} Work;

double node_flops(const Graph *g, const Node *n);
// The bytes of operand i (inputs, then outputs) that the node touches. Of an indexed table it
// touches only the rows that are taken.
double node_bytes(const Graph *g, const Node *n, int i);
// Gives flops, type and product of the node. The caller adds `read` and `written`.
Work node_work(const Graph *g, const Node *n);

// ---- clusters ----

// The flop/s of `batch` matrix products of m by k and k by n; batch 0: of any number of them.
typedef struct GemmRate {
    DType type;
    double m, n, k, flops, batch;
} GemmRate;

// A level of links. It joins every `devices` consecutive devices, which are groups of the level
// below (single devices at the first level). A message of n bytes takes alpha + beta · n.
typedef struct Link {
    const char *name;
    int devices;         // how many devices a group of this level has in all
    int shared_by;       // how many consecutive devices share one link
    double alpha, beta;  // s, s/byte of one message alone on the link
    double overhead;     // s/byte of a message during which the device can't compute
} Link;

// Bytes of a device that communicators take, which exchanges between GPUs need: all of them
// together, and each one.
typedef struct ExchangeMemory {
    double base, communicator;
} ExchangeMemory;

// flop/s of attention and of its gradient; 0: that of products, and that of attention.
typedef struct AttentionRate {
    double forward, grad;
} AttentionRate;

// A kind of machine with measured rates (`shardcc detect`). All devices are alike.
typedef struct Cluster {
    int devices_per_host;
    bool is_gpu;    // devices are GPUs: a plan for it is one for their target
    int threads;    // of a device, when its rates were measured
    double memory;  // bytes of a device
    ExchangeMemory exchange_memory;
    double bandwidth;       // bytes/s that its memory moves, reads and writes together
    double read_bandwidth;  // bytes/s of its memory when it only reads
    double launch;          // seconds of overhead per call
    double vector;          // elementwise flop/s
    AttentionRate attention, half_attention;  // of f32, and of f16 and bf16
    GemmRate *gemm;
    int n_gemm;
    Link *link;  // fastest first; `devices` of each is a multiple of the previous link's
    int n_links;
} Cluster;

// The text form: JSON, see docs/cluster.md. The text is not trusted. Returns false after an error.
bool cluster_parse(Arena *a, const char *text, size_t n, Cluster *c, Diag *d);
bool cluster_read(Arena *a, const char *path, Cluster *c, Diag *d);
// Version 2 has no exchange_memory. Both versions can be read.
enum { CLUSTER_VERSION_2 = 2, CLUSTER_VERSION = 3 };
void cluster_print(const Cluster *c, int version, Text *t);

// Opens the cluster that `--cluster` names: "local" (this machine, shared by `ranks` ranks),
// "a100xN", "h100xN", "h200xN", "b200xN", or else a file. Returns false after an error.
bool cluster_open(Arena *a, const char *name, int ranks, Cluster *c, Diag *d);
int cluster_devices(const Cluster *c);
double cluster_peak(const Cluster *c);  // flop/s: the best rate of products in f32; 0: unknown

// The default machine, used where none is named: it makes ten f32 operations of a product in the
// time that it takes to move a byte, and one other operation.
extern const Cluster cluster_assumed;

// Message times that the probe of a running job measured. A message from rank r to rank s takes
// alpha[r · ranks + s] + beta[r · ranks + s] · bytes.
typedef struct Messages {
    int ranks, tries;
    double *alpha, *beta;
    // By try · ranks + stride, where every rank exchanges messages with the rank `stride` ahead.
    // times: the message's time over its time alone. overhead: seconds per byte that
    // computation is delayed. 0: unknown.
    double *times, *overhead;
} Messages;

// Fits the levels of links to the measured messages; there are at least two ranks. The fit is right
// if the levels differ by a factor of 2, messages are off by 15 % at most, and fewer than half of
// the tries are outliers. Returns the number of levels.
int links_fit(Arena *a, const Messages *m, Link **link);

// ---- cost ----

// max(flops / flop rate, read / read bandwidth, (read + written) / bandwidth) + launch. A product
// has the rate of the nearest measured size, whose batch counts only where it was measured.
double work_seconds(const Cluster *c, const Work *w);
// The same of a shard_work. A node that writes nothing to memory is part of another call, and pays
// no launch.
double shard_seconds(const Cluster *c, const Work *w);

// For the work of shards: the same as node_bytes, for a node with that rule.
double accessed_bytes(const Graph *g, const Node *n, const Rule *r, int i);
bool operand_has_factor(const Rule *r, int operand, int f);  // is it a dim of the operand?

#endif
