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

// ---- meshes and specs ----

enum { MAX_AXES = 4 };

// The ranks as a grid: rank r has coordinate r / (product of the sizes after axis a) % size[a] along
// axis a. Axes stand from slow links to fast ones. A message of n bytes along axis a takes
// alpha[a] + beta[a] · n.
typedef struct Mesh {
    int n_axes;
    int size[MAX_AXES];
    const char *name[MAX_AXES];  // letters, digits and '_'; x0, x1 … unless the user named them
    double alpha[MAX_AXES];      // s
    double beta[MAX_AXES];       // s/byte
} Mesh;

// What a mesh axis does to a value where it doesn't split one of its dims.
enum { SPEC_WHOLE = -1, SPEC_SUM = -2, SPEC_MAX = -3, SPEC_MIN = -4 };

// How a value lies on a mesh: for each axis the dim (refined) that it splits, or SPEC_…: every rank
// along it has the whole, or a part, and the value is the sum (max, min) of them. Where axes
// share a dim, level 0 is the outermost; of all others the level is 0. Chunks nest: c = ceil(n / p),
// then ceil(c / q); a rank's extent is what is left of the dim, maybe 0. Specs are equal where
// their bytes are; axes that the mesh lacks are SPEC_WHOLE.
typedef struct Spec {
    int8_t at[MAX_AXES];
    int8_t level[MAX_AXES];
} Spec;

// ---- cost ----

// max(flops / flop rate, read / reading, (read + written) / bandwidth) + launch. The rate of a
// product is that of the nearest size that was measured.
double work_seconds(const Cluster *c, const Work *w);

#endif
