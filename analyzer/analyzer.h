// Facts about graphs and machines, never choices: what a node's work is, what a cluster can do, and
// how long the one takes on the other.
#ifndef SHARDCC_ANALYZER_H
#define SHARDCC_ANALYZER_H

#include "ir/ir.h"

// ---- work ----

// What one call of a kernel or fused group does.
typedef struct Work {
    double flops;
    // Bytes that memory moves, each operand's once. What is written without having been read is
    // fetched first, and counts as both: a cache holds whole lines.
    double read, written;
    DType type;
    // Where is_product: it amounts to `batch` products of matrices m by k and k by n.
    bool is_product;
    double batch, m, n, k;
} Work;

double node_flops(const Graph *g, const Node *n);
// The bytes of operand i (inputs, then outputs) that the node touches: of an indexed table only the
// rows that are taken.
double node_bytes(const Graph *g, const Node *n, int i);
// flops, type and product of the node; read and written are the caller's to add.
Work node_work(const Graph *g, const Node *n);

// ---- clusters ----

// The flop/s of a product of that size.
typedef struct GemmRate {
    DType type;
    double m, n, k, flops;
} GemmRate;

// A kind of machine, its numbers measured (`shardcc detect`). All devices are alike.
typedef struct Cluster {
    int devices_per_host;
    int threads;       // of a device, with which its rates were measured
    double memory;     // bytes of a device
    double bandwidth;  // bytes/s that its memory moves, read and written together …
    double reading;    // … and those read alone
    double launch;     // seconds that a call takes before it does anything
    double vector;     // elementwise flop/s
    GemmRate *gemm;
    int n_gemm;
} Cluster;

// The text form: JSON, see docs/cluster.md. Untrusted; false after an error.
bool cluster_parse(Arena *a, const char *text, size_t n, Cluster *c, Diag *d);
bool cluster_read(Arena *a, const char *path, Cluster *c, Diag *d);
void cluster_print(const Cluster *c, Text *t);

// ---- cost ----

// max(flops / flop rate, read / reading, (read + written) / bandwidth) + launch. The rate of a
// product is that of the nearest size that was measured.
double work_seconds(const Cluster *c, const Work *w);

#endif
